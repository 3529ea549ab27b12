/* Of vocab/ alone: how a token comes out of its own bytes. */
#ifndef TIK_VOCAB_LAYOUT_H
#define TIK_VOCAB_LAYOUT_H

#include "vocab/vocab.h"

/* Working memory of merging by the heap, kept from token to token; zeroed is empty. */
typedef struct tik_merge_memory {
    void *parts;
    size_t part_capacity;
    void *heap;
    size_t heap_capacity;
} tik_merge_memory;

/*
 * Merges the bytes of token `index` by the definition (whether two neighbours merge is asked by their
 * bytes). If they come to two parts that merge to the token, `*left` and `*right` are these parts, else
 * both are TIK_NONE. Needs bytes, starts and piece_slots of `vocab`, not its pairs. n log n.
 */
tik_status tik_last_pair(const tik_vocab *vocab, uint32_t index, tik_merge_memory *memory, uint32_t *left,
                         uint32_t *right, tik_error *error);
void tik_merge_memory_free(tik_merge_memory *memory);

/*
 * Fills solid_2[0x800] and solid_3[0x10000] (see tik_vocab_solid). Needs all other tables of `vocab`.
 * `lefts` has the left part of each token's last merge, TIK_NONE where it has none.
 */
tik_status tik_find_solid(const tik_vocab *vocab, const uint32_t *lefts, uint32_t *solid_2, uint32_t *solid_3,
                      tik_error *error);

#endif
