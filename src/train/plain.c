/*
 * Training as it is defined, on a page; learn.c does the same faster and must always agree.
 *
 * Again and again: count every adjacent pair of symbols, weighted by how often its piece occurs; take the
 * most frequent; replace it everywhere by one symbol, left to right without overlap. The new symbol is the
 * token whose bytes are the pair's, if there is one already (two pairs can spell the same bytes), else a
 * new token. Among equals: the smallest left id then right id, or the pair met first in the pieces.
 */
#include <stdlib.h>

#include "train/train.h"

typedef struct pair_count {
    uint32_t left;
    uint32_t right;
    uint64_t count;
    size_t met; /* order of meeting */
} pair_count;

static int by_pair(const void *first, const void *second)
{
    const pair_count *a = first;
    const pair_count *b = second;
    if (a->left != b->left)
        return a->left < b->left ? -1 : 1;
    if (a->right != b->right)
        return a->right < b->right ? -1 : 1;
    return a->met < b->met ? -1 : a->met > b->met;
}

/* The pair to merge, in pairs[0]; false if there is none. Sorting brings equal pairs together, lowest first. */
static bool best_pair(const tik_rules *rules, const tik_lexicon *lexicon, pair_count *pairs, size_t count)
{
    pair_count best = {0, 0, 0, 0};
    qsort(pairs, count, sizeof *pairs, by_pair);
    for (size_t i = 0, next; i < count; i = next) {
        pair_count sum = pairs[i];
        for (next = i + 1; next < count && pairs[next].left == sum.left && pairs[next].right == sum.right; next++)
            sum.count += pairs[next].count;
        size_t length = (size_t)lexicon->lengths[sum.left] + lexicon->lengths[sum.right];
        if (sum.count < rules->min_count || (rules->max_length && length > rules->max_length))
            continue;
        if (sum.count > best.count ||
            (sum.count == best.count && rules->ties == TIK_TIES_FIRST && sum.met < best.met))
            best = sum;
    }
    pairs[0] = best;
    return best.count > 0;
}

static void replace(tik_piece *piece, uint32_t left, uint32_t right, uint32_t id)
{
    size_t kept = 0;
    for (size_t i = 0; i < piece->count; i++) {
        bool found = i + 1 < piece->count && piece->symbols[i] == left && piece->symbols[i + 1] == right;
        piece->symbols[kept++] = found ? id : piece->symbols[i];
        i += found;
    }
    piece->count = kept;
}

tik_status tik_learn_plain(const tik_rules *rules, tik_lexicon *lexicon, tik_piece *pieces, size_t piece_count,
                           size_t size, tik_merge **merges, size_t *count, size_t *capacity, tik_error *error)
{
    size_t total = 1;
    for (size_t p = 0; p < piece_count; p++)
        total += pieces[p].count;
    pair_count *pairs = calloc(total, sizeof *pairs);
    if (!pairs)
        return tik_fail_memory(error, total * sizeof *pairs);
    tik_status status = TIK_OK;
    while (status == TIK_OK && lexicon->count < size) {
        size_t met = 0;
        for (size_t p = 0; p < piece_count; p++)
            for (size_t i = 0; i + 1 < pieces[p].count; i++, met++)
                pairs[met] = (pair_count){pieces[p].symbols[i], pieces[p].symbols[i + 1], pieces[p].weight, met};
        if (!best_pair(rules, lexicon, pairs, met))
            break;
        void *array = *merges;
        status = tik_grow(&array, capacity, *count + 1, sizeof **merges, error);
        *merges = array;
        if (status != TIK_OK)
            break;
        tik_merge *merge = &(*merges)[*count];
        *merge = (tik_merge){pairs[0].left, pairs[0].right, 0, false, pairs[0].count};
        status = tik_lexicon_join(lexicon, merge->left, merge->right, &merge->id, &merge->joined, error);
        for (size_t p = 0; status == TIK_OK && p < piece_count; p++)
            replace(&pieces[p], merge->left, merge->right, merge->id);
        *count += status == TIK_OK;
    }
    free(pairs);
    return status;
}
