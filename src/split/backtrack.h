/*
 * The second engine for a pattern: backtracks as PCRE2 does, but remembers where it failed, so that it never
 * tries the same part of the pattern at the same place of the text twice. Without look-around and atomic groups
 * its time is that of the pattern times the text; each of these, begun anew at every place, may square it.
 *
 * It is slower than PCRE2 and takes memory for what it remembers: it is for the texts on which PCRE2 gives up.
 */
#ifndef TIK_SPLIT_BACKTRACK_H
#define TIK_SPLIT_BACKTRACK_H

#include "base/base.h"

typedef struct tik_backtracker tik_backtracker; /* one thread's: a pattern and what is remembered of a text */

/*
 * TIK_ERROR_PATTERN: it can't run this pattern: there is a back-reference in it (what matches then depends on
 * more than the place), or its repeats written out are too long.
 */
tik_status tik_backtracker_new(const char *pattern, size_t length, tik_backtracker **out, tik_error *error);
void tik_backtracker_free(tik_backtracker *backtracker);

typedef enum tik_backtrack_result {
    TIK_BACKTRACK_FOUND,
    TIK_BACKTRACK_NONE,
    TIK_BACKTRACK_PARTIAL, /* it depends on text that is still to come */
    TIK_BACKTRACK_GAVE_UP, /* too many steps, or no memory */
} tik_backtrack_result;

/* The first match at or after `from`, in valid UTF-8; `more` if the text goes on after `length`. */
tik_backtrack_result tik_backtracker_match(tik_backtracker *backtracker, const uint8_t *text, size_t length,
                                           size_t from, bool more, size_t found[2]);

#endif
