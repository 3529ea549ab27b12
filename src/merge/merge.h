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

/* Pieces of up to so many bytes are remembered; short ones lie in the entry itself. */
#define TIK_MEMO_LONGEST 255
#define TIK_MEMO_SHORT 16

/* Ids that an entry of a short piece holds itself; of one with more, ids[0] is their place in `spill`. */
#define TIK_MEMO_IDS 3

/*
 * A short piece: `low` and `high` are its bytes, padded with zeros. A longer one: `low` is its hash,
 * `high` 0, ids[0] the place in `spill` of its bytes (padded to whole words of 4), its ids behind them.
 */
typedef struct tik_memo_entry {
    uint64_t low;
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

/* Where a long piece's ids lie in the spill, behind its bytes. */
static inline size_t tik_memo_words(size_t length)
{
    return (length + 3) / 4;
}

/* The entry of a piece, NULL if the memo has it not. `piece` is read for a long one only. */
static inline const tik_memo_entry *tik_memo_find(const tik_memo *memo, uint64_t low, uint64_t high, uint64_t hash,
                                                  const uint8_t *piece, size_t length)
{
    const tik_memo_entry *set = memo->entries + (hash >> memo->shift) * TIK_MEMO_WAYS;
    for (int way = 0; way < TIK_MEMO_WAYS; way++)
        if (set[way].low == low && set[way].high == high && set[way].length == length &&
            (TIK_LIKELY(length <= TIK_MEMO_SHORT) || memcmp(memo->spill + set[way].ids[0], piece, length) == 0))
            return &set[way];
    return NULL;
}

/*
 * The ids of a piece of 1 to TIK_MEMO_SHORT bytes that the memo has not: looked up or merged, remembered,
 * written to `ids` (room for as many as bytes). Returns how many. Lack of memory only keeps the memo from
 * growing.
 */
size_t tik_memo_learn(tik_memo *memo, uint64_t low, uint64_t high, size_t length, uint64_t hash, uint32_t *ids);

/* The same for TIK_MEMO_SHORT + 1 to TIK_MEMO_LONGEST bytes; `hash` is tik_hash of them. */
size_t tik_memo_learn_long(tik_memo *memo, const uint8_t *piece, size_t length, uint64_t hash, uint32_t *ids);

#endif
