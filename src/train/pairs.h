/*
 * The pairs of adjacent symbols: for each, how often it occurs and the places where it may.
 */
#ifndef TIK_TRAIN_PAIRS_H
#define TIK_TRAIN_PAIRS_H

#include "base/base.h"

#define TIK_PAIR_FEW 2

/* 32 bytes: half a cache line. Most pairs are rare, and have their places here. */
typedef struct tik_pair {
    uint64_t key;   /* left id << 32 | right id; TIK_PAIR_FREE */
    uint64_t count; /* occurrences now, weighted; 0: the pair is gone */
    union {
        uint32_t *many; /* in the memory of the table */
        uint32_t few[TIK_PAIR_FEW];
    } places;          /* ascending; the pair may have gone from some */
    uint32_t used;     /* places */
    uint32_t capacity; /* TIK_PAIR_FEW or less: they are in `few` */
} tik_pair;

#define TIK_PAIR_FREE UINT64_MAX

typedef struct tik_pairs {
    tik_pair *slots; /* 1 << bits of them */
    unsigned bits;
    size_t filled; /* slots, those of pairs that are gone too */
    void *blocks;  /* memory for places; the first word of a block is the block before */
    uint32_t *free_places;
    size_t free_count;
    uint32_t **spare; /* stretches given back, at least SPARE_LEAST long, and how long */
    size_t *spare_counts;
    size_t spare_used;
    size_t spare_capacity;
    size_t spare_counts_capacity;
} tik_pairs;
#define TIK_PAIRS_INIT { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

static inline uint64_t tik_pair_key(uint32_t left, uint32_t right)
{
    return (uint64_t)left << 32 | right;
}

static inline size_t tik_pairs_slot(const tik_pairs *pairs, uint64_t key)
{
    return (size_t)((key ^ key >> 29) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - pairs->bits));
}

void tik_pairs_free(tik_pairs *pairs);

/* Makes room for `more` pairs: until as many were added, pointers to pairs stay valid. */
tik_status tik_pairs_reserve(tik_pairs *pairs, size_t more, tik_error *error);

/* NULL if the pair was never added. */
static inline tik_pair *tik_pairs_find(const tik_pairs *pairs, uint64_t key)
{
    size_t mask = ((size_t)1 << pairs->bits) - 1;
    for (size_t at = tik_pairs_slot(pairs, key);; at = (at + 1) & mask) {
        if (pairs->slots[at].key == key)
            return &pairs->slots[at];
        if (pairs->slots[at].key == TIK_PAIR_FREE)
            return NULL;
    }
}

/* The pair, added if it is new; there is room (tik_pairs_reserve). */
tik_pair *tik_pairs_add(tik_pairs *pairs, uint64_t key);

/* Makes room for `more` places behind those that the pair has. */
tik_status tik_pairs_extend(tik_pairs *pairs, tik_pair *pair, size_t more, tik_error *error);

/* Takes the first `count` places from the list, which has more. */
void tik_pair_forget(tik_pair *pair, uint32_t count);

/* Gives `count` places that belonged to a pair back for others. */
void tik_pairs_give_back(tik_pairs *pairs, uint32_t *places, size_t count);

static inline uint32_t *tik_pair_places(tik_pair *pair)
{
    return pair->capacity <= TIK_PAIR_FEW ? pair->places.few : pair->places.many;
}

#endif
