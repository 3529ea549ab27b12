/* Of many.c: merging many pieces, taking turns, once for each instruction set. */
#ifndef TIK_MANY_H
#define TIK_MANY_H

#include "merge/merge.h"

/* Pieces of more than TIK_MEMO_SHORT bytes that are merged at once: what they need fits a first-level cache. */
#define TIK_LEARN_WIDE 32

/* tik_learn, for one instruction set. */
typedef void tik_learn_function(const tik_vocab *vocab, tik_unknown *pieces, size_t count, uint32_t *ids);
tik_learn_function tik_learn_portable;
tik_learn_function tik_learn_avx2;
tik_learn_function tik_learn_avx512;

#endif
