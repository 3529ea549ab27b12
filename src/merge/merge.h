/*
 * merge: piece → ids. A piece that is a token is that token; any other is merged: of all neighbours
 * that together are a token, those of the lowest rank first, the leftmost first among equals, until
 * there are none.
 *
 * tik_merge_plain is the definition on a page; the others give the same, faster:
 *
 *     short.c     up to TIK_MERGE_SHORT bytes, in arrays on the stack
 *     long.c      any length in linear time, in overlapping windows; repeating text at memory speed
 *     many.c      many short pieces at once, taking turns (turns.h, for each instruction set)
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

/* The least of 8 * `eights` keys: a pass over whole vectors, which compilers turn into vector instructions. */
TIK_INLINE uint32_t tik_least_key(const uint32_t *keys, size_t eights)
{
    enum { LANES = 8 };
    uint32_t least[LANES];
    for (size_t lane = 0; lane < LANES; lane++)
        least[lane] = keys[lane];
    for (size_t i = 1; i < eights; i++)
        for (size_t lane = 0; lane < LANES; lane++) {
            uint32_t key = keys[i * LANES + lane];
            least[lane] = key < least[lane] ? key : least[lane];
        }
    for (size_t half = LANES / 2; half > 0; half /= 2)
        for (size_t lane = 0; lane < half; lane++)
            least[lane] = least[lane + half] < least[lane] ? least[lane + half] : least[lane];
    return least[0];
}

/* ---- The memo ------------------------------------------------------------------------------ */

/* Pieces of up to so many bytes are remembered; short ones lie in the entry itself. */
#define TIK_MEMO_LONGEST TIK_MERGE_SHORT
#define TIK_MEMO_SHORT 15

/* Ids that an entry of a short piece holds itself; of one with more, ids[0] is their place in `spill`. */
#define TIK_MEMO_IDS 3

/*
 * What a piece is known by. Short: all its bytes (`low`, and `high` below the top byte) and its length
 * (the top byte). Longer: its hash (`low`), its length (`high` below the top byte), TIK_MEMO_LONG on top.
 */
typedef struct tik_memo_key {
    uint64_t low;
    uint64_t high;
} tik_memo_key;

#define TIK_MEMO_LONG 0x80u
#define TIK_MEMO_NEVER 0xFFu /* on top of the key of a piece that is not remembered */

/*
 * Of a longer piece ids[0] is the place in `spill` of its bytes (padded to whole words of 4), its ids
 * behind them. A free entry has the key 0.
 */
typedef struct tik_memo_entry {
    tik_memo_key key;
    uint32_t ids[TIK_MEMO_IDS];
    uint32_t count; /* ids; TIK_MEMO_SPILLED more if they lie in the spill */
} tik_memo_entry;

#define TIK_MEMO_SPILLED 0x10000u
#define TIK_MEMO_EXPECTED 0x20000u /* and a number of the caller's: what the piece comes to is not known yet */

#define TIK_MEMO_WAYS 2 /* entries of a set: one cache line */
#define TIK_MEMO_SET 64 /* its bytes */

/* Pieces met and the ids they came to. Grows with use up to a bound, then forgets; one thread's. */
typedef struct tik_memo {
    const tik_vocab *vocab;
    tik_memo_entry *entries;
    unsigned shift; /* of a hash, to where its set lies: 64 - log2(bytes of the entries) */
    size_t sets;
    size_t used;
    uint32_t *spill;
    size_t spill_length;
    size_t spill_capacity;
} tik_memo;

tik_status tik_memo_init(tik_memo *memo, const tik_vocab *vocab, tik_error *error);
void tik_memo_free(tik_memo *memo);

static inline tik_memo_key tik_memo_short_key(uint64_t low, uint64_t high, size_t length)
{
    return (tik_memo_key){low, high | (uint64_t)length << 56};
}

static inline tik_memo_key tik_memo_long_key(const uint8_t *piece, size_t length)
{
    return (tik_memo_key){tik_hash(piece, length), (uint64_t)TIK_MEMO_LONG << 56 | length};
}

static inline size_t tik_memo_length(const tik_memo_key *key)
{
    size_t top = (size_t)(key->high >> 56);
    return top == TIK_MEMO_LONG ? (size_t)(key->high & 0xFFFFFF) : top;
}

/* Where the set of a piece lies, bytes after the first. */
static inline size_t tik_memo_set(const tik_memo *memo, const tik_memo_key *key)
{
    return (size_t)((key->low * TIK_HASH_A ^ key->high * TIK_HASH_B) >> memo->shift) & ~(size_t)(TIK_MEMO_SET - 1);
}

static inline tik_memo_entry *tik_memo_at(const tik_memo *memo, size_t set)
{
    return (tik_memo_entry *)(void *)((uint8_t *)memo->entries + set);
}

/*
 * The entry of the key in the set that lies at `set`, NULL if there is none. Which of the two it is, no
 * branch can guess.
 */
TIK_INLINE const tik_memo_entry *tik_memo_find(const tik_memo *memo, size_t set, const tik_memo_key *key)
{
    const tik_memo_entry *entry = tik_memo_at(memo, set);
    entry += ((entry->key.low ^ key->low) | (entry->key.high ^ key->high)) != 0;
    return ((entry->key.low ^ key->low) | (entry->key.high ^ key->high)) == 0 ? entry : NULL;
}

/* The ids of a spilled entry. */
static inline const uint32_t *tik_memo_spilled(const tik_memo *memo, const tik_memo_entry *entry)
{
    size_t length = tik_memo_length(&entry->key);
    return memo->spill + entry->ids[0] + (length > TIK_MEMO_SHORT ? (length + 3) / 4 : 0);
}

/* Whether the entry of a longer piece is really that piece's: equal hashes are no proof. */
static inline bool tik_memo_is(const tik_memo *memo, const tik_memo_entry *entry, const uint8_t *piece)
{
    return memcmp(memo->spill + entry->ids[0], piece, tik_memo_length(&entry->key)) == 0;
}

/*
 * The ids of a piece of 1 to TIK_MEMO_LONGEST bytes, looked up or merged, written to `ids` (room for as
 * many as bytes). Returns how many.
 */
size_t tik_memo_work_out(const tik_memo *memo, const uint8_t *piece, size_t length, uint32_t *ids);

/*
 * Remembers what a piece comes to that the memo has not; `set` is where its key belongs. Lack of memory only
 * keeps it from being remembered.
 */
void tik_memo_put(tik_memo *memo, size_t set, const tik_memo_key *key, const uint8_t *piece, const uint32_t *ids,
                  size_t count);

/*
 * For pieces that are learned together: makes an entry for one that the memo has not, with a number below
 * 0x10000 by which the caller knows it if it is met again before it is known; and gives the entry its ids, if
 * it is still there.
 */
void tik_memo_expect(tik_memo *memo, size_t set, const tik_memo_key *key, uint32_t number);
void tik_memo_fill(tik_memo *memo, const tik_memo_key *key, const uint8_t *piece, const uint32_t *ids, size_t count);

/* Grows if it is time to: sets are others afterwards. Lack of memory only keeps the memo as it is. */
void tik_memo_make_room(tik_memo *memo);

/* ---- Merging many at once ------------------------------------------------------------------ */

#define TIK_LEARN_MOST 64    /* pieces */
#define TIK_LEARN_LONGEST 62 /* bytes of each */

/* A piece, and what it comes to. */
typedef struct tik_unknown {
    tik_memo_key key;
    const uint8_t *piece;
    uint32_t length;
    uint32_t first; /* its ids are ids[first, first + count) */
    uint32_t count;
} tik_unknown;

/* Looks up or merges the pieces. `ids` has room for TIK_LEARN_MOST * TIK_LEARN_LONGEST. */
void tik_learn(const tik_vocab *vocab, tik_unknown *pieces, size_t count, uint32_t *ids);

#endif
