/*
 * The PCRE2 engine: any pattern of the dialect, translated and compiled.
 */
#ifndef TIK_SPLIT_PCRE2_H
#define TIK_SPLIT_PCRE2_H

#include "base/base.h"

typedef struct tik_matcher tik_matcher;             /* a compiled pattern; immutable */
typedef struct tik_matcher_state tik_matcher_state; /* one thread's match data and JIT stack */

/* Translates and compiles. TIK_ERROR_PATTERN, TIK_ERROR_MEMORY. */
tik_status tik_matcher_new(const char *pattern, size_t length, tik_matcher **out, tik_error *error);
void tik_matcher_free(tik_matcher *matcher);

tik_status tik_matcher_state_new(const tik_matcher *matcher, tik_matcher_state **out, tik_error *error);
void tik_matcher_state_free(tik_matcher_state *state);

/* As tik_split_next. */
tik_status tik_matcher_next(const tik_matcher *matcher, tik_matcher_state *state, const uint8_t *text,
                            size_t length, size_t from, bool more, uint32_t *ends, size_t capacity,
                            size_t *count, size_t *end, tik_error *error);

/* How many bytes before a match's beginning can matter to it, at most; never 0, for the start of a text is one. */
size_t tik_matcher_lookbehind(const tik_matcher *matcher);

#endif
