/*
 * The table of pairs: open addressing, linear probing. A pair that is gone keeps its slot until the table
 * is made anew. Places come from blocks by moving a pointer; long lists that are used up are given back.
 */
#include <stdlib.h>
#include <string.h>

#include "train/pairs.h"

#define FIRST_BITS 12
#define BLOCK_PLACES ((size_t)1 << 18)
#define SPARE_LEAST 1024

void tik_pairs_free(tik_pairs *pairs)
{
    for (void *block = pairs->blocks; block;) {
        void *before;
        memcpy(&before, block, sizeof before);
        free(block);
        block = before;
    }
    free(pairs->slots);
    free(pairs->spare);
    free(pairs->spare_counts);
    *pairs = (tik_pairs)TIK_PAIRS_INIT;
}

static tik_pair *free_slot(const tik_pairs *pairs, uint64_t key)
{
    size_t mask = ((size_t)1 << pairs->bits) - 1;
    size_t at = tik_pairs_slot(pairs, key);
    while (pairs->slots[at].key != TIK_PAIR_FREE)
        at = (at + 1) & mask;
    return &pairs->slots[at];
}

tik_status tik_pairs_reserve(tik_pairs *pairs, size_t more, tik_error *error)
{
    size_t size = pairs->slots ? (size_t)1 << pairs->bits : 0;
    if (pairs->filled + more <= size / 4 * 3)
        return TIK_OK;
    size_t live = 0;
    for (size_t i = 0; i < size; i++)
        live += pairs->slots[i].key != TIK_PAIR_FREE && pairs->slots[i].count;
    tik_pairs grown = *pairs;
    grown.bits = FIRST_BITS;
    while (((size_t)1 << grown.bits) / 8 * 5 < live + more)
        grown.bits++;
    grown.filled = live;
    grown.slots = malloc(sizeof *grown.slots << grown.bits);
    if (!grown.slots)
        return tik_fail_memory(error, sizeof *grown.slots << grown.bits);
    memset(grown.slots, 0xFF, sizeof *grown.slots << grown.bits);
    for (size_t i = 0; i < size; i++)
        if (pairs->slots[i].key != TIK_PAIR_FREE && pairs->slots[i].count)
            *free_slot(&grown, pairs->slots[i].key) = pairs->slots[i];
    free(pairs->slots);
    *pairs = grown;
    return TIK_OK;
}

tik_pair *tik_pairs_add(tik_pairs *pairs, uint64_t key)
{
    tik_pair *pair = tik_pairs_find(pairs, key);
    if (pair)
        return pair;
    pair = free_slot(pairs, key);
    memset(pair, 0, sizeof *pair);
    pair->key = key;
    pairs->filled++;
    return pair;
}

/* A stretch of `count` places, from the current one, else from one given back, else from a new block. */
static uint32_t *take(tik_pairs *pairs, size_t count, tik_error *error)
{
    if (count > pairs->free_count && pairs->spare_used && pairs->spare_counts[pairs->spare_used - 1] >= count) {
        pairs->spare_used--;
        pairs->free_places = pairs->spare[pairs->spare_used];
        pairs->free_count = pairs->spare_counts[pairs->spare_used];
    }
    if (count > pairs->free_count) {
        size_t size = count > BLOCK_PLACES ? count : BLOCK_PLACES;
        char *block = malloc(sizeof(void *) + size * sizeof(uint32_t));
        if (!block) {
            tik_fail_memory(error, size * sizeof(uint32_t));
            return NULL;
        }
        memcpy(block, &pairs->blocks, sizeof pairs->blocks);
        pairs->blocks = block;
        pairs->free_places = (uint32_t *)(void *)(block + sizeof(void *));
        pairs->free_count = size;
    }
    uint32_t *places = pairs->free_places;
    pairs->free_places += count;
    pairs->free_count -= count;
    return places;
}

tik_status tik_pairs_extend(tik_pairs *pairs, tik_pair *pair, size_t more, tik_error *error)
{
    size_t need = pair->used + more;
    if (need <= pair->capacity)
        return TIK_OK;
    if (need <= TIK_PAIR_FEW) {
        pair->capacity = TIK_PAIR_FEW;
        return TIK_OK;
    }
    uint32_t *places = take(pairs, need, error);
    if (!places)
        return TIK_ERROR_MEMORY;
    memcpy(places, tik_pair_places(pair), pair->used * sizeof *places);
    pair->places.many = places;
    pair->capacity = (uint32_t)need;
    return TIK_OK;
}

void tik_pair_forget(tik_pair *pair, uint32_t count)
{
    uint32_t *places = tik_pair_places(pair);
    pair->used -= count;
    if (pair->capacity > TIK_PAIR_FEW && pair->capacity - count > TIK_PAIR_FEW) {
        pair->places.many += count;
        pair->capacity -= count;
        return;
    }
    /* So few remain that they must lie in the pair itself. */
    uint32_t few[TIK_PAIR_FEW];
    memcpy(few, places + count, pair->used * sizeof *few);
    memcpy(pair->places.few, few, pair->used * sizeof *few);
    pair->capacity = TIK_PAIR_FEW;
}

void tik_pairs_give_back(tik_pairs *pairs, uint32_t *places, size_t count)
{
    if (count < SPARE_LEAST)
        return;
    /* Without memory to remember the stretch it stays unused until the table is freed: no harm. */
    void *spare = pairs->spare;
    tik_status status = tik_grow(&spare, &pairs->spare_capacity, pairs->spare_used + 1, sizeof *pairs->spare, NULL);
    pairs->spare = spare;
    if (status != TIK_OK)
        return;
    void *counts = pairs->spare_counts;
    status = tik_grow(&counts, &pairs->spare_counts_capacity, pairs->spare_used + 1, sizeof *pairs->spare_counts,
                      NULL);
    pairs->spare_counts = counts;
    if (status != TIK_OK)
        return;
    pairs->spare[pairs->spare_used] = places;
    pairs->spare_counts[pairs->spare_used] = count;
    pairs->spare_used++;
}
