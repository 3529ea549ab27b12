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
    return tik_least_key(keys, 2 * groups);
}

#define pair_entry tik_vocab_entry
#define TURNS_TARGET
#define TURNS_LEARN tik_learn_portable
#include "merge/turns.h"

void tik_learn(const tik_vocab *vocab, tik_unknown *pieces, size_t count, uint32_t *ids)
{
#if TIK_HAVE_X86
    if (tik_cpu() & TIK_CPU_AVX512) {
        tik_learn_avx512(vocab, pieces, count, ids);
        return;
    }
    if (tik_cpu() & TIK_CPU_AVX2) {
        tik_learn_avx2(vocab, pieces, count, ids);
        return;
    }
#endif
    tik_learn_portable(vocab, pieces, count, ids);
}
