/*
 * Special tokens: a sorted list that is narrowed byte by byte at each place where one may begin. Places
 * are found by the byte that all begin with, where there is one (the public encodings' begin with "<|").
 */
#include <stdlib.h>

#include "encode/encode.h"

static int compare(const tik_special *a, const tik_special *b)
{
    size_t common = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->text, b->text, common);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static const tik_special *nth(const tik_specials *specials, size_t place)
{
    return &specials->list[specials->by_text[place]];
}

static bool comes_before(const void *list, uint32_t a, uint32_t b)
{
    const tik_special *specials = list;
    return compare(&specials[a], &specials[b]) < 0;
}

tik_status tik_specials_init(tik_specials *specials, const tik_special *list, size_t count, tik_error *error)
{
    *specials = (tik_specials){.list = list, .count = count};
    if (count == 0)
        return TIK_OK;
    if (count > UINT32_MAX)
        return tik_fail(error, TIK_ERROR_LIMIT, "%zu special tokens are too many", count);
    specials->by_text = malloc(count * sizeof *specials->by_text);
    if (!specials->by_text)
        return tik_fail_memory(error, count * sizeof *specials->by_text);
    for (size_t i = 0; i < count; i++)
        specials->by_text[i] = (uint32_t)i;
    tik_sort(specials->by_text, count, comes_before, list);
    for (size_t i = 1; i < count; i++) {
        const tik_special *a = nth(specials, i - 1);
        if (compare(a, nth(specials, i)) == 0) {
            tik_specials_free(specials);
            return tik_fail(error, TIK_ERROR_FORMAT, "the special token '%.*s' stands twice",
                            (int)(a->length < 100 ? a->length : 100), a->text);
        }
    }
    const tik_special *first = nth(specials, 0);
    const tik_special *last = nth(specials, count - 1);
    while (specials->common < first->length && specials->common < last->length &&
           first->text[specials->common] == last->text[specials->common])
        specials->common++;
    return TIK_OK;
}

void tik_specials_free(tik_specials *specials)
{
    free(specials->by_text);
    specials->by_text = NULL;
    specials->count = 0;
}

size_t tik_specials_lookup(const tik_specials *specials, const char *text, size_t length)
{
    tik_special wanted = {text, length, 0};
    size_t low = 0;
    size_t high = specials->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(nth(specials, middle), &wanted);
        if (order == 0)
            return specials->by_text[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return specials->count;
}

/* The first place in [low, high) whose byte at `depth` is at least `byte`; all have more than `depth` bytes. */
static size_t lower(const tik_specials *specials, size_t low, size_t high, size_t depth, unsigned byte)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uint8_t)nth(specials, middle)->text[depth] < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Walks down from `text[at]`: the longest wanted special token there, and whether the text ended on the way. */
static bool match(const tik_specials *specials, const bool *wanted, const uint8_t *text, size_t length, size_t at,
                  size_t *index, bool *unfinished)
{
    size_t low = 0;
    size_t high = specials->count;
    size_t depth = 0;
    bool found = false;
    *unfinished = false;
    while (low < high) {
        /* All in [low, high) begin with text[at, at + depth). The shortest comes first. */
        const tik_special *first = nth(specials, low);
        if (first->length == depth) {
            if (!wanted || wanted[specials->by_text[low]]) {
                *index = specials->by_text[low];
                found = true;
            }
            low++;
            continue;
        }
        if (at + depth == length) {
            *unfinished = true;
            break;
        }
        low = lower(specials, low, high, depth, text[at + depth]);
        high = lower(specials, low, high, depth, text[at + depth] + 1u);
        depth++;
    }
    return found;
}

/* The next place at or after `from` where a special token may begin; `length` if there is none. */
static size_t candidate(const tik_specials *specials, const uint8_t *text, size_t length, size_t from)
{
    if (specials->common == 0)
        return from;
    const uint8_t *common = (const uint8_t *)nth(specials, 0)->text;
    while (from < length) {
        const uint8_t *at = memchr(text + from, common[0], length - from);
        if (!at)
            return length;
        size_t rest = length - (size_t)(at - text);
        if (memcmp(at, common, rest < specials->common ? rest : specials->common) == 0)
            return (size_t)(at - text);
        from = (size_t)(at - text) + 1;
    }
    return length;
}

bool tik_specials_find(const tik_specials *specials, const bool *wanted, const uint8_t *text, size_t length,
                       size_t from, size_t *at, size_t *index)
{
    bool unfinished;
    if (specials->count == 0)
        return false;
    for (; (from = candidate(specials, text, length, from)) < length; from++)
        if (match(specials, wanted, text, length, from, index, &unfinished)) {
            *at = from;
            return true;
        }
    return false;
}

size_t tik_specials_unfinished(const tik_specials *specials, const uint8_t *text, size_t length)
{
    size_t index;
    size_t longest = 0;
    bool unfinished;
    for (size_t i = 0; i < specials->count; i++)
        if (specials->list[i].length > longest)
            longest = specials->list[i].length;
    size_t from = length > longest ? length - longest : 0;
    if (specials->count == 0)
        return length;
    for (; (from = candidate(specials, text, length, from)) < length; from++) {
        match(specials, NULL, text, length, from, &index, &unfinished);
        if (unfinished)
            return from;
    }
    return length;
}
