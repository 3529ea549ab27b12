/*
 * unicode: what Unicode 16.0 says of a code point, from tables of our own, so that no answer depends
 * on the version of a library that happens to be installed.
 *
 * The tables (table_*.c) are written by tools/unicode/generate and committed.
 */
#ifndef TIK_UNICODE_H
#define TIK_UNICODE_H

#include "base/base.h"

/* The version of Unicode that the tables are of. */
#define TIK_UNICODE_VERSION "16.0.0"

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

typedef struct {
    uint32_t first;
    uint32_t last; /* included */
} tik_unicode_range;

/*
 * A set of code points: `count` ranges, ascending, neither overlapping nor touching. All zero is the
 * empty set. It never has surrogates in it, which no UTF-8 text has either. A function that fails (out
 * of memory) leaves its set as it was, unless it says otherwise; an `other` may not be the set itself.
 */
typedef struct {
    tik_unicode_range *items;
    size_t count;
    size_t capacity;
} tik_unicode_ranges;

void tik_unicode_ranges_free(tik_unicode_ranges *set); /* the set is empty afterwards */
bool tik_unicode_ranges_contain(const tik_unicode_ranges *set, uint32_t code_point);

/* Adds first..last (first <= last <= 0x10FFFF). On failure some of it may be in. Cheapest in ascending order. */
tik_status tik_unicode_ranges_add(tik_unicode_ranges *set, uint32_t first, uint32_t last, tik_error *error);

/* Set algebra, in time proportional to the ranges of both: in either, in both, only in the first, in just one. */
tik_status tik_unicode_ranges_unite(tik_unicode_ranges *set, const tik_unicode_ranges *other, tik_error *error);
tik_status tik_unicode_ranges_intersect(tik_unicode_ranges *set, const tik_unicode_ranges *other, tik_error *error);
tik_status tik_unicode_ranges_subtract(tik_unicode_ranges *set, const tik_unicode_ranges *other, tik_error *error);
tik_status tik_unicode_ranges_differ(tik_unicode_ranges *set, const tik_unicode_ranges *other, tik_error *error);
tik_status tik_unicode_ranges_negate(tik_unicode_ranges *set, tik_error *error);

/* Adds all that simple case folding makes equal to a member: k, K and U+212A for one of them. */
tik_status tik_unicode_ranges_fold(tik_unicode_ranges *set, tik_error *error);

/*
 * Adds the set that \p{NAME} means in the reference's dialect. `name` is what stands between the braces:
 * a general category or a group of them (Lu, Letter, LC, Any, Assigned, ASCII), a script (Greek), a binary
 * property (Alphabetic, Emoji), or PROPERTY=VALUE with : or != for = (gc, sc, scx, age, gcb, wb, sb under
 * any of their names). Case, spaces, underscores, hyphens and a leading "is" do not matter.
 * Names are as the crate regex-syntax 0.8.11 knows them; what the crate before it rewrites (word, ^L, Cs…)
 * is not in them. TIK_ERROR_PATTERN: it does not know the name.
 */
tik_status tik_unicode_property(const char *name, size_t length, tik_unicode_ranges *set, tik_error *error);

/* Adds the set of \d (Nd), \s (White_Space) or \w: `letter` is 'd', 's' or 'w'. */
tik_status tik_unicode_perl(char letter, tik_unicode_ranges *set, tik_error *error);

/* The code points equal to `code_point` by simple case folding, itself left out; returns how many, at most 3. */
#define TIK_UNICODE_FOLD_MAX 3
size_t tik_unicode_fold(uint32_t code_point, uint32_t equal[TIK_UNICODE_FOLD_MAX]);

/*
 * Where the grapheme cluster (what a reader takes for one character; extended, UAX #29) that starts at
 * `at` ends. `text` is valid UTF-8, `at` a boundary of clusters, as 0 and every result are. Gives `length` if
 * `at` is not below it. Time is proportional to the cluster.
 */
size_t tik_grapheme_next(const uint8_t *text, size_t length, size_t at);

/*
 * Whether `at`, where a character of the valid UTF-8 `text` begins, is between two clusters; true at both
 * ends. Reads back no farther than a conjunct, an emoji sequence or a run of flags goes.
 */
bool tik_grapheme_is_boundary(const uint8_t *text, size_t length, size_t at);

#endif
