/*
 * unicode: what Unicode 16.0 says of a code point, from tables of our own, so that no answer depends
 * on the version of a library that happens to be installed.
 *
 * The tables (table_*.c) are written by tools/unicode/generate and committed.
 */
#ifndef TIK_UNICODE_H
#define TIK_UNICODE_H

#include "base/base.h"

/* Hidden also where they are used, so that the inline functions reach the tables without the GOT. */
#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

/*
 * The classes that the split patterns of the public encodings tell apart. No code point is in two:
 * White_Space (25 code points) has no letters, marks or numbers in it.
 */
enum {
    TIK_CLASS_OTHER, /* none of the below: punctuation, symbols, controls, unassigned… */
    TIK_CLASS_SPACE, /* White_Space: \s */
    TIK_CLASS_M,     /* Mn, Mc, Me */
    TIK_CLASS_N,     /* Nd, Nl, No */
    TIK_CLASS_LU,
    TIK_CLASS_LT,
    TIK_CLASS_LL,
    TIK_CLASS_LM,
    TIK_CLASS_LO
};

/* Blocks of 128 code points; the index tells which of the distinct blocks each is. */
#define TIK_UNICODE_CLASS_BITS 7
extern const uint8_t tik_unicode_class_index[];
extern const uint8_t tik_unicode_class_blocks[];

/* The class (TIK_CLASS_…) of `code_point`, which is at most 0x10FFFF. */
static inline uint8_t tik_unicode_class(uint32_t code_point)
{
    uint32_t block = tik_unicode_class_index[code_point >> TIK_UNICODE_CLASS_BITS];
    return tik_unicode_class_blocks[block << TIK_UNICODE_CLASS_BITS |
                                    (code_point & ((1u << TIK_UNICODE_CLASS_BITS) - 1))];
}

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
