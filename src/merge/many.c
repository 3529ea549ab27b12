/*
 * Merging many pieces at once. What one piece costs is waiting: each merge looks two pairs up in a table
 * that is larger than the nearest caches, and what it finds decides the next merge. So the pieces take
 * turns: each, on its turn, reads what it asked for on the last one, does a merge, and asks for what the
 * next needs. The steps of one piece are those of short.c; turns.h has them, for every instruction set.
 */
#include "merge/many.h"

#include "base/cpu.h"

/* Writes the key of a place. */
static inline void set_key(uint32_t *keys, size_t groups, uint32_t place, uint32_t key)
{
    (void)groups;
    keys[place] = key;
}

static inline uint32_t least_key(const uint32_t *keys, size_t groups)
{
    enum { LANES = 16 };
    uint32_t least[LANES];
    for (size_t lane = 0; lane < LANES; lane++)
        least[lane] = keys[lane];
    for (size_t group = 1; group < groups; group++)
        for (size_t lane = 0; lane < LANES; lane++) {
            uint32_t key = keys[group * LANES + lane];
            least[lane] = key < least[lane] ? key : least[lane];
        }
    for (size_t half = LANES / 2; half > 0; half /= 2)
        for (size_t lane = 0; lane < half; lane++)
            least[lane] = least[lane + half] < least[lane] ? least[lane + half] : least[lane];
    return least[0];
}

/* The entry of a bucket whose upper bits are the key, 0 if there is none; without a branch. */
static inline uint64_t pair_entry(const uint64_t *entries, uint64_t key)
{
    uint64_t found = 0;
    for (size_t i = 0; i < TIK_BUCKET; i++)
        found |= entries[i] >> 21 == key ? entries[i] : 0;
    return found;
}

#define TURNS_TARGET
#define TURNS_RUN tik_many_portable
#include "merge/turns.h"

/* Which of the pieces are tokens: each step for all, so that their memory comes at the same time. */
static void look_up(const tik_vocab *vocab, const tik_unknown *pieces, size_t count, uint32_t *whole)
{
    uint64_t hashes[TIK_LEARN_MOST];
    for (size_t i = 0; i < count; i++) {
        const tik_memo_key *key = &pieces[i].key;
        hashes[i] = pieces[i].length > TIK_MEMO_SHORT
                        ? key->low
                        : tik_hash_short(key->low, key->high & (UINT64_MAX >> 8), pieces[i].length);
        __builtin_prefetch(vocab->piece_slots + (hashes[i] >> vocab->piece_shift));
    }
    for (size_t i = 0; i < count; i++) {
        whole[i] = tik_vocab_candidate(vocab, hashes[i]);
        if (whole[i] != TIK_NONE)
            __builtin_prefetch(vocab->starts + whole[i]);
    }
    for (size_t i = 0; i < count; i++)
        if (whole[i] != TIK_NONE)
            __builtin_prefetch(vocab->bytes + vocab->starts[whole[i]]);
    for (size_t i = 0; i < count; i++)
        if (whole[i] != TIK_NONE)
            whole[i] = tik_vocab_find_hashed(vocab, pieces[i].piece, pieces[i].length, hashes[i]);
}

static void merge(const tik_vocab *vocab, tik_unknown *pieces, const uint8_t *which, size_t count, bool wide,
                  uint32_t *ids, size_t *used)
{
#if TIK_HAVE_X86
    if (tik_cpu() & TIK_CPU_AVX512) {
        tik_many_avx512(vocab, pieces, which, count, wide, ids, used);
        return;
    }
    if (tik_cpu() & TIK_CPU_AVX2) {
        tik_many_avx2(vocab, pieces, which, count, wide, ids, used);
        return;
    }
#endif
    tik_many_portable(vocab, pieces, which, count, wide, ids, used);
}

void tik_learn(const tik_vocab *vocab, tik_unknown *pieces, size_t count, uint32_t *ids)
{
    uint32_t whole[TIK_LEARN_MOST];
    uint8_t which[2][TIK_LEARN_MOST]; /* of those to be merged: short ones and wide ones */
    size_t some[2] = {0, 0};
    size_t used = 0;
    look_up(vocab, pieces, count, whole);
    for (size_t i = 0; i < count; i++) {
        bool wide = pieces[i].length > TIK_MEMO_SHORT;
        if (whole[i] != TIK_NONE) {
            pieces[i].first = (uint32_t)used;
            pieces[i].count = 1;
            ids[used++] = whole[i];
        } else
            which[wide][some[wide]++] = (uint8_t)i;
        if (some[1] == TIK_LEARN_WIDE) {
            merge(vocab, pieces, which[1], some[1], true, ids, &used);
            some[1] = 0;
        }
    }
    for (int wide = 0; wide < 2; wide++)
        if (some[wide])
            merge(vocab, pieces, which[wide], some[wide], wide, ids, &used);
    if (!vocab->dense)
        for (size_t i = 0; i < used; i++)
            ids[i] = vocab->ranks[ids[i]];
}
