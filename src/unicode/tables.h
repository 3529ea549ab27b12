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

/*
 * What UAX #29 asks of a code point: its Grapheme_Cluster_Break, told further apart where rules GB9c
 * (Indic_Conjunct_Break) and GB11 (Extended_Pictographic) ask for more. Those that only add to what is
 * before them stand at the end.
 */
enum grapheme_class {
    GRAPHEME_OTHER,
    GRAPHEME_CR,
    GRAPHEME_LF,
    GRAPHEME_CONTROL,
    GRAPHEME_PREPEND,
    GRAPHEME_SPACING_MARK,
    GRAPHEME_L, /* Hangul: leading consonant, vowel, trailing consonant, syllables */
    GRAPHEME_V,
    GRAPHEME_T,
    GRAPHEME_LV,
    GRAPHEME_LVT,
    GRAPHEME_REGIONAL,
    GRAPHEME_PICTOGRAPH,
    GRAPHEME_CONSONANT,   /* of a script with conjuncts */
    GRAPHEME_EXTEND,      /* Extend, and InCB=Extend */
    GRAPHEME_LINKER,      /* Extend, and InCB=Linker */
    GRAPHEME_NON_JOINER,  /* Extend, and no InCB: U+200C */
    GRAPHEME_JOINER       /* ZWJ, and InCB=Extend: U+200D */
};

/* As for tik_unicode_class. */
#define TIK_GRAPHEME_BITS 7
extern const uint8_t tik_grapheme_index[];
extern const uint8_t tik_grapheme_blocks[];

#endif
