/* The generated tables that only this folder reads. */
#ifndef TIK_UNICODE_TABLES_H
#define TIK_UNICODE_TABLES_H

#include "unicode/unicode.h"

/*
 * Sets of code points, one after another, as varints (7 bits a byte, low ones first, the high bit set but
 * in the last byte): for each range how many code points to skip, then how many to take, less one.
 * Set i is the bytes from starts[i] to starts[i + 1].
 */
extern const uint8_t tik_unicode_sets[];
extern const uint32_t tik_unicode_set_starts[];

/*
 * The names of sets, sorted. A name is NAME or PROPERTY=VALUE with PROPERTY one of gc, sc, scx, age, gcb, wb,
 * sb, perl. (Names in place, not pointed to: nothing to relocate when the library is loaded.)
 */
#define TIK_UNICODE_NAME_SIZE 32
typedef struct {
    char name[TIK_UNICODE_NAME_SIZE];
    uint16_t set;
} tik_unicode_name;
extern const tik_unicode_name tik_unicode_names[];
extern const size_t tik_unicode_name_count;

/* Code points in order, each with the next one that is equal to it but for case; the last has the first. */
typedef struct {
    uint32_t point;
    uint32_t next;
} tik_unicode_fold_pair;
extern const tik_unicode_fold_pair tik_unicode_folds[];
extern const size_t tik_unicode_fold_count;

#endif
