/*
 * merge: piece → ids. A piece that is a token is that token; any other is merged: of all neighbours
 * that together are a token, those of the lowest rank first, the leftmost first among equals, until
 * there are none.
 *
 * tik_merge_plain is the definition on a page; the others give the same, faster:
 *
 *     short.c     up to TIK_MERGE_SHORT bytes, in arrays on the stack
 *     long.c      any length in linear time, in overlapping windows; repeating text at memory speed
 *     memo.c      what pieces came to, remembered
 */
#ifndef TIK_MERGE_H
#define TIK_MERGE_H

#include "base/base.h"
#include "vocab/vocab.h"

/* The longest piece that tik_merge_short takes, bytes. Its keys hold a token (21 bits) and a place (11). */
#define TIK_MERGE_SHORT 1024

/* Merges by the definition; appends indices to `out`. Quadratic: for tests, and to be read. */
tik_status tik_merge_plain(const tik_vocab *vocab, const uint8_t *piece, size_t length, tik_ids *out,
                           tik_error *error);

/* Merges 1 to TIK_MERGE_SHORT bytes; writes at most `length` indices to `out`, returns how many. */
size_t tik_merge_short(const tik_vocab *vocab, const uint8_t *piece, size_t length, uint32_t *out);

/* Merges any piece; appends indices to `out`. */
tik_status tik_merge_long(const tik_vocab *vocab, const uint8_t *piece, size_t length, tik_ids *out,
                          tik_error *error);

/* ---- The memo ------------------------------------------------------------------------------ */

/* Pieces of up to so many bytes are remembered. */
#define TIK_MEMO_BYTES 16

/* Ids that an entry holds itself; of a piece with more, ids[0] is the place in `spill`. */
#define TIK_MEMO_IDS 3

typedef struct tik_memo_entry {
    uint64_t low; /* the piece's bytes, padded with zeros */
    uint64_t high;
    uint32_t ids[TIK_MEMO_IDS];
    uint8_t length; /* bytes of the piece; 0: the entry is free */
    uint8_t count;  /* ids */
    uint16_t unused;
} tik_memo_entry;

#define TIK_MEMO_WAYS 2 /* entries of a set: one cache line */

/* Pieces met and the ids they came to. Grows with use up to a bound, then forgets; one thread's. */
typedef struct tik_memo {
    const tik_vocab *vocab;
    tik_memo_entry *entries;
    unsigned shift; /* 64 - log2(sets) */
    size_t sets;
    size_t used;
    uint32_t *spill;
    size_t spill_length;
    size_t spill_capacity;
} tik_memo;

tik_status tik_memo_init(tik_memo *memo, const tik_vocab *vocab, tik_error *error);
void tik_memo_free(tik_memo *memo);

/*
 * The ids of a piece of 1 to TIK_MEMO_BYTES bytes that the memo has not: looked up or merged, remembered,
 * written to `ids` (room for 16). Returns how many. Lack of memory only keeps the memo from growing.
 */
size_t tik_memo_learn(tik_memo *memo, uint64_t low, uint64_t high, size_t length, uint64_t hash, uint32_t *ids);

#endif
