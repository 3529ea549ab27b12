/*
 * The memo: a table of sets of two entries, a cache line each. It begins small (a fresh encoder must not
 * touch megabytes to count one message), is made four times larger when half full, and at its largest
 * forgets the older entry of a set for a new one.
 */
#include "merge/merge.h"

#include <stdlib.h>

#define SETS_FIRST 256                     /* 16 KiB */
#define SETS_MOST (UINT32_C(1) << 17)      /* 8 MiB */
#define SPILL_MOST (UINT32_C(1) << 20)     /* ids, 4 MiB */
#define HUGE_PAGE (UINT32_C(1) << 21)

#ifdef __linux__
#include <sys/mman.h>
#endif

static tik_memo_entry *new_entries(size_t sets)
{
    size_t bytes = sets * TIK_MEMO_WAYS * sizeof(tik_memo_entry);
    size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : 64;
    tik_memo_entry *entries = aligned_alloc(alignment, bytes);
    if (!entries)
        return NULL;
#ifdef __linux__
    /* Asked for before the first touch; a refusal changes nothing but speed. */
    if (bytes >= HUGE_PAGE)
        (void)madvise(entries, bytes, MADV_HUGEPAGE);
#endif
    memset(entries, 0, bytes);
    return entries;
}

tik_status tik_memo_init(tik_memo *memo, const tik_vocab *vocab, tik_error *error)
{
    *memo = (tik_memo){.vocab = vocab, .sets = SETS_FIRST, .shift = 64 - 8};
    memo->entries = new_entries(SETS_FIRST);
    if (!memo->entries)
        return tik_fail_memory(error, SETS_FIRST * TIK_MEMO_WAYS * sizeof(tik_memo_entry));
    return TIK_OK;
}

void tik_memo_free(tik_memo *memo)
{
    free(memo->entries);
    free(memo->spill);
}

static void put(tik_memo *memo, const tik_memo_entry *entry, uint64_t hash)
{
    tik_memo_entry *set = memo->entries + (hash >> memo->shift) * TIK_MEMO_WAYS;
    if (set[0].length != 0)
        set[1] = set[0];
    set[0] = *entry;
    memo->used++;
}

static void grow(tik_memo *memo)
{
    size_t sets = memo->sets * 4 > SETS_MOST ? SETS_MOST : memo->sets * 4;
    tik_memo_entry *old = memo->entries;
    size_t old_count = memo->sets * TIK_MEMO_WAYS;
    tik_memo_entry *entries = new_entries(sets);
    if (!entries)
        return;
    memo->entries = entries;
    while (memo->sets < sets) {
        memo->sets *= 2;
        memo->shift--;
    }
    memo->used = 0;
    for (size_t i = 0; i < old_count; i++)
        if (old[i].length)
            put(memo, &old[i],
                old[i].length > TIK_MEMO_SHORT ? old[i].low
                                               : tik_hash_short(old[i].low, old[i].high, old[i].length));
    free(old);
}

static void forget(tik_memo *memo)
{
    memset(memo->entries, 0, memo->sets * TIK_MEMO_WAYS * sizeof *memo->entries);
    memo->used = 0;
    memo->spill_length = 0;
}

/* Takes room for `words` more words of 4 bytes in the spill; NULL if there is no memory for it. */
static uint32_t *spill_room(tik_memo *memo, size_t words)
{
    if (memo->spill_length + words > SPILL_MOST)
        forget(memo);
    void *spill = memo->spill;
    size_t need = memo->spill_length + words;
    tik_status status = tik_grow(&spill, &memo->spill_capacity, need, sizeof *memo->spill, NULL);
    memo->spill = spill;
    if (status != TIK_OK)
        return NULL;
    memo->spill_length = need;
    return memo->spill + need - words;
}

/* The token that the piece is, or what merging it gives; as ids. */
static size_t work_out(const tik_vocab *vocab, const uint8_t *piece, size_t length, uint64_t hash, uint32_t *ids)
{
    uint32_t whole = length <= vocab->longest ? tik_vocab_find_hashed(vocab, piece, length, hash) : TIK_NONE;
    size_t count = 1;
    if (whole != TIK_NONE)
        ids[0] = whole;
    else
        count = tik_merge_short(vocab, piece, length, ids);
    if (!vocab->dense)
        for (size_t i = 0; i < count; i++)
            ids[i] = vocab->ranks[ids[i]];
    return count;
}

static void make_place(tik_memo *memo)
{
    if (memo->used >= memo->sets && memo->sets < SETS_MOST)
        grow(memo);
}

size_t tik_memo_learn(tik_memo *memo, uint64_t low, uint64_t high, size_t length, uint64_t hash, uint32_t *ids)
{
    uint8_t piece[TIK_MEMO_SHORT];
    for (size_t i = 0; i < 8; i++) {
        piece[i] = (uint8_t)(low >> 8 * i);
        piece[8 + i] = (uint8_t)(high >> 8 * i);
    }
    size_t count = work_out(memo->vocab, piece, length, hash, ids);
    tik_memo_entry entry = {.low = low, .high = high, .length = (uint8_t)length, .count = (uint8_t)count};
    uint32_t *room = entry.ids;
    make_place(memo);
    if (count > TIK_MEMO_IDS) {
        room = spill_room(memo, count);
        if (!room)
            return count;
        entry.ids[0] = (uint32_t)(room - memo->spill);
    }
    memcpy(room, ids, count * sizeof *ids);
    put(memo, &entry, hash);
    return count;
}

size_t tik_memo_learn_long(tik_memo *memo, const uint8_t *piece, size_t length, uint64_t hash, uint32_t *ids)
{
    size_t count = work_out(memo->vocab, piece, length, hash, ids);
    make_place(memo);
    uint32_t *room = spill_room(memo, tik_memo_words(length) + count);
    if (!room)
        return count;
    memcpy(room, piece, length);
    memcpy(room + tik_memo_words(length), ids, count * sizeof *ids);
    tik_memo_entry entry = {.low = hash,
                            .ids = {(uint32_t)(room - memo->spill)},
                            .length = (uint8_t)length,
                            .count = (uint8_t)count};
    put(memo, &entry, hash);
    return count;
}
