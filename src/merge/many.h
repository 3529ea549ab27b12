/* Of many.c: merging the pieces that `which` names, taking turns, once for each instruction set. */
#ifndef TIK_MANY_H
#define TIK_MANY_H

#include "merge/merge.h"

/* Pieces of more than TIK_MEMO_SHORT bytes that are merged at once: what they need fits a first-level cache. */
#define TIK_LEARN_WIDE 32

/*
 * At most TIK_LEARN_MOST pieces of at most TIK_MEMO_SHORT bytes or, if `wide`, at most TIK_LEARN_WIDE of at most
 * TIK_LEARN_LONGEST. Their indices are appended to ids[0, *used).
 */
typedef void tik_many(const tik_vocab *vocab, tik_unknown *pieces, const uint8_t *which, size_t count, bool wide,
                      uint32_t *ids, size_t *used);
tik_many tik_many_portable;
tik_many tik_many_avx2;
tik_many tik_many_avx512;

#endif
