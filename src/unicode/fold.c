/* Simple case folding: code points that are equal but for case form rings in a sorted table. */
#include <stdlib.h>

#include "unicode/tables.h"

/* The index of the first pair whose point is not below `code_point`. */
static size_t pair_from(uint32_t code_point)
{
    size_t low = 0;
    size_t high = tik_unicode_fold_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tik_unicode_folds[middle].point < code_point)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t tik_unicode_fold(uint32_t code_point, uint32_t equal[TIK_UNICODE_FOLD_MAX])
{
    size_t count = 0;
    size_t pair = pair_from(code_point);
    if (pair == tik_unicode_fold_count || tik_unicode_folds[pair].point != code_point)
        return 0;
    for (uint32_t next = tik_unicode_folds[pair].next; next != code_point && count < TIK_UNICODE_FOLD_MAX;
         next = tik_unicode_folds[pair_from(next)].next)
        equal[count++] = next;
    return count;
}

static int by_value(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Each member's ring brings at most TIK_UNICODE_FOLD_MAX others; sorted first, they are added at the end. */
tik_status tik_unicode_ranges_fold(tik_unicode_ranges *set, tik_error *error)
{
    size_t size = tik_unicode_fold_count * TIK_UNICODE_FOLD_MAX * sizeof(uint32_t);
    uint32_t *equal = malloc(size);
    if (!equal)
        return tik_fail_memory(error, size);
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        size_t pair = pair_from(set->items[i].first);
        for (; pair < tik_unicode_fold_count && tik_unicode_folds[pair].point <= set->items[i].last; pair++)
            count += tik_unicode_fold(tik_unicode_folds[pair].point, equal + count);
    }
    qsort(equal, count, sizeof *equal, by_value);
    tik_unicode_ranges others = {0};
    tik_status status = TIK_OK;
    for (size_t i = 0; i < count && status == TIK_OK; i++)
        status = tik_unicode_ranges_add(&others, equal[i], equal[i], error);
    if (status == TIK_OK)
        status = tik_unicode_ranges_unite(set, &others, error);
    tik_unicode_ranges_free(&others);
    free(equal);
    return status;
}
