/*
 * The memo: a table of sets of two entries, a cache line each. It begins small (a fresh encoder must not
 * touch megabytes to count one message), is made four times larger when half full, and at its largest
 * forgets the older entry of a set for a new one.
 */
#include "merge/merge.h"

#include <stdlib.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

#define SETS_FIRST 256                     /* 16 KiB: 14 bits */
#define SETS_MOST (UINT32_C(1) << 17)      /* 8 MiB */
#define SPILL_MOST (UINT32_C(1) << 20)     /* ids, 4 MiB */
#define HUGE_PAGE (UINT32_C(1) << 21)

/*
 * Entries that are all zero, aligned to cache lines or, from the size of a huge page on, to these: then they are
 * pages of the system's own, which it clears as they are first touched. NULL if there is no memory.
 */
static tik_memo_entry *new_entries(size_t sets)
{
    size_t bytes = sets * TIK_MEMO_SET;
#ifdef __linux__
    if (bytes >= HUGE_PAGE) {
        uint8_t *pages = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED)
            return NULL;
        size_t before = -(uintptr_t)pages % HUGE_PAGE;
        if (before > 0)
            (void)munmap(pages, before);
        (void)munmap(pages + before + bytes, HUGE_PAGE - before);
        /* Asked for before the first touch; a refusal changes nothing but speed. */
        (void)madvise(pages + before, bytes, MADV_HUGEPAGE);
        return (tik_memo_entry *)(void *)(pages + before);
    }
#endif
    tik_memo_entry *entries = aligned_alloc(TIK_MEMO_SET, bytes);
    if (entries)
        memset(entries, 0, bytes);
    return entries;
}

static void free_entries(tik_memo_entry *entries, size_t sets)
{
#ifdef __linux__
    if (sets * TIK_MEMO_SET >= HUGE_PAGE) {
        (void)munmap(entries, sets * TIK_MEMO_SET);
        return;
    }
#endif
    (void)sets;
    free(entries);
}

tik_status tik_memo_init(tik_memo *memo, const tik_vocab *vocab, tik_error *error)
{
    *memo = (tik_memo){.vocab = vocab, .sets = SETS_FIRST, .shift = 64 - 14};
    memo->entries = new_entries(SETS_FIRST);
    if (!memo->entries)
        return tik_fail_memory(error, SETS_FIRST * TIK_MEMO_SET);
    return TIK_OK;
}

void tik_memo_free(tik_memo *memo)
{
    if (memo->entries)
        free_entries(memo->entries, memo->sets);
    free(memo->spill);
}

/* A new entry takes a free place of its set, else that of the older one. */
static void put(tik_memo *memo, size_t at, const tik_memo_entry *entry)
{
    tik_memo_entry *set = tik_memo_at(memo, at);
    memo->used++;
    if (set[0].key.high == 0)
        set[0] = *entry;
    else if (set[1].key.high == 0)
        set[1] = *entry;
    else {
        set[1] = set[0];
        set[0] = *entry;
    }
}

void tik_memo_make_room(tik_memo *memo)
{
    if (TIK_LIKELY(memo->used < memo->sets || memo->sets == SETS_MOST))
        return;
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
        if (old[i].key.high != 0)
            put(memo, tik_memo_set(memo, &old[i].key), &old[i]);
    free_entries(old, old_count / TIK_MEMO_WAYS);
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

size_t tik_memo_work_out(const tik_memo *memo, const uint8_t *piece, size_t length, uint32_t *ids)
{
    const tik_vocab *vocab = memo->vocab;
    uint32_t whole = tik_vocab_find(vocab, piece, length);
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

/* Gives an entry its ids; false if there is no memory for them. */
static bool fill(tik_memo *memo, tik_memo_entry *entry, const uint8_t *piece, const uint32_t *ids, size_t count)
{
    size_t length = tik_memo_length(&entry->key);
    entry->count = (uint32_t)count;
    if (length <= TIK_MEMO_SHORT && count <= TIK_MEMO_IDS) {
        for (size_t i = 0; i < count; i++)
            entry->ids[i] = ids[i];
        return true;
    }
    size_t words = length > TIK_MEMO_SHORT ? (length + 3) / 4 : 0;
    uint32_t *room = spill_room(memo, words + count);
    if (!room)
        return false;
    if (words)
        memcpy(room, piece, length);
    memcpy(room + words, ids, count * sizeof *ids);
    entry->ids[0] = (uint32_t)(room - memo->spill);
    entry->count |= TIK_MEMO_SPILLED;
    return true;
}

void tik_memo_expect(tik_memo *memo, size_t set, const tik_memo_key *key, uint32_t number)
{
    tik_memo_entry entry = {.key = *key, .count = TIK_MEMO_EXPECTED | number};
    put(memo, set, &entry);
}

void tik_memo_fill(tik_memo *memo, const tik_memo_key *key, const uint8_t *piece, const uint32_t *ids, size_t count)
{
    size_t set = tik_memo_set(memo, key);
    const tik_memo_entry *found = tik_memo_find(memo, set, key);
    if (!found || !(found->count & TIK_MEMO_EXPECTED))
        return;
    tik_memo_entry *entry = memo->entries + (found - memo->entries);
    if (!fill(memo, entry, piece, ids, count))
        memset(entry, 0, sizeof *entry);
}

void tik_memo_put(tik_memo *memo, size_t set, const tik_memo_key *key, const uint8_t *piece, const uint32_t *ids,
                  size_t count)
{
    tik_memo_expect(memo, set, key, 0);
    tik_memo_fill(memo, key, piece, ids, count);
}
