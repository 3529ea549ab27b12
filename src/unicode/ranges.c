/* Sets of code points as sorted ranges: one sweep over two sets does every operation of set algebra. */
#include <stdlib.h>
#include <string.h>

#include "unicode/unicode.h"

#define LAST_CODE_POINT 0x10FFFFu
#define SURROGATE_FIRST 0xD800u
#define SURROGATE_LAST 0xDFFFu

void tik_unicode_ranges_free(tik_unicode_ranges *set)
{
    free(set->items);
    *set = (tik_unicode_ranges){0};
}

/* The index of the first range that ends at `code_point` or later; `count` if none does. */
static size_t range_from(const tik_unicode_ranges *set, uint32_t code_point)
{
    size_t low = 0;
    size_t high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->items[middle].last < code_point)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool tik_unicode_ranges_contain(const tik_unicode_ranges *set, uint32_t code_point)
{
    size_t index = range_from(set, code_point);
    return index < set->count && set->items[index].first <= code_point;
}

/* Appends a range that starts no earlier than the last one did. */
static tik_status append(tik_unicode_ranges *set, uint32_t first, uint32_t last, tik_error *error)
{
    if (set->count > 0 && first <= set->items[set->count - 1].last + 1) {
        if (set->items[set->count - 1].last < last)
            set->items[set->count - 1].last = last;
        return TIK_OK;
    }
    void *items = set->items;
    tik_status status = tik_grow(&items, &set->capacity, set->count + 1, sizeof *set->items, error);
    set->items = items;
    if (status == TIK_OK)
        set->items[set->count++] = (tik_unicode_range){first, last};
    return status;
}

/*
 * Sets `set` to the code points for which `keep` has the bit (1 if in `set`) + (2 if in `other`) set:
 * walks over the places where membership in either changes.
 */
static tik_status combine(tik_unicode_ranges *set, const tik_unicode_ranges *other, unsigned keep, tik_error *error)
{
    tik_unicode_ranges result = {0};
    size_t left = 0; /* an even number is the start of range left / 2, an odd one its end */
    size_t right = 0;
    uint32_t at = 0;
    while (at <= LAST_CODE_POINT) {
        uint32_t next = LAST_CODE_POINT + 1;
        if (left / 2 < set->count) {
            const tik_unicode_range *range = &set->items[left / 2];
            uint32_t change = left % 2 ? range->last + 1 : range->first;
            if (change == at) {
                left++;
                continue;
            }
            next = change;
        }
        if (right / 2 < other->count) {
            const tik_unicode_range *range = &other->items[right / 2];
            uint32_t change = right % 2 ? range->last + 1 : range->first;
            if (change == at) {
                right++;
                continue;
            }
            if (change < next)
                next = change;
        }
        if (keep >> (left % 2 + right % 2 * 2) & 1) {
            tik_status status = append(&result, at, next - 1, error);
            if (status != TIK_OK) {
                tik_unicode_ranges_free(&result);
                return status;
            }
        }
        at = next;
    }
    tik_unicode_ranges_free(set);
    *set = result;
    return TIK_OK;
}

tik_status tik_unicode_ranges_unite(tik_unicode_ranges *set, const tik_unicode_ranges *other, tik_error *error)
{
    return combine(set, other, 0xE, error);
}

tik_status tik_unicode_ranges_intersect(tik_unicode_ranges *set, const tik_unicode_ranges *other, tik_error *error)
{
    return combine(set, other, 0x8, error);
}

tik_status tik_unicode_ranges_subtract(tik_unicode_ranges *set, const tik_unicode_ranges *other, tik_error *error)
{
    return combine(set, other, 0x2, error);
}

tik_status tik_unicode_ranges_differ(tik_unicode_ranges *set, const tik_unicode_ranges *other, tik_error *error)
{
    return combine(set, other, 0x6, error);
}

tik_status tik_unicode_ranges_negate(tik_unicode_ranges *set, tik_error *error)
{
    tik_unicode_range surrogates = {SURROGATE_FIRST, SURROGATE_LAST};
    tik_unicode_ranges left_out = {&surrogates, 1, 1};
    return combine(set, &left_out, 0x1, error);
}

/* Adds a range without surrogates in its place, and takes into it what it overlaps or touches. */
static tik_status insert(tik_unicode_ranges *set, uint32_t first, uint32_t last, tik_error *error)
{
    size_t from = range_from(set, first > 0 ? first - 1 : 0);
    size_t to = from; /* past the ranges that become part of the new one */
    for (; to < set->count && set->items[to].first <= last + 1; to++) {
        if (set->items[to].first < first)
            first = set->items[to].first;
        if (set->items[to].last > last)
            last = set->items[to].last;
    }
    if (to == from) {
        void *items = set->items;
        tik_status status = tik_grow(&items, &set->capacity, set->count + 1, sizeof *set->items, error);
        set->items = items;
        if (status != TIK_OK)
            return status;
    }
    if (to < set->count)
        memmove(set->items + from + 1, set->items + to, (set->count - to) * sizeof *set->items);
    set->count = set->count + 1 - (to - from);
    set->items[from] = (tik_unicode_range){first, last};
    return TIK_OK;
}

tik_status tik_unicode_ranges_add(tik_unicode_ranges *set, uint32_t first, uint32_t last, tik_error *error)
{
    tik_status status = TIK_OK;
    if (first < SURROGATE_FIRST)
        status = insert(set, first, last < SURROGATE_FIRST ? last : SURROGATE_FIRST - 1, error);
    if (status == TIK_OK && last > SURROGATE_LAST)
        status = insert(set, first > SURROGATE_LAST ? first : SURROGATE_LAST + 1, last, error);
    return status;
}
