/*
 * cut: where a text can be cut, for truncating and chunking.
 *
 * The number of tokens does not grow evenly with the text ("tokeniz" may have more than "tokenization"),
 * so the longest part of at most N tokens is sought among all places near the N-th token. Certain
 * boundaries (tik_split_cut) keep that cheap: tokens on both sides of one simply add up.
 */
#ifndef TIK_CUT_H
#define TIK_CUT_H

#include "encode/encode.h"

/* ---- Places (boundary.c) ------------------------------------------------------------------- */

/* The most particular kind of place that `at` is, 0 < at < length; the text is UTF-8, `at` starts a character. */
tik_boundary tik_boundary_at(const uint8_t *text, size_t length, size_t at);

/* The start of the character before `at`, which is above 0. */
size_t tik_character_before(const uint8_t *text, size_t at);

/* ---- Parts of a text (cutter.c) ------------------------------------------------------------ */

typedef struct tik_cutter {
    const tik_encoding *encoding;
    tik_options options;
    bool certain; /* the pattern's certain boundaries may be used: no special token is looked for */
    tik_boundary at;
    bool graphemes;
    tik_ids ids; /* of the window last looked at */
    tik_sizes offsets;
} tik_cutter;

tik_status tik_cutter_init(tik_cutter *cutter, const tik_encoding *encoding, const tik_cut_options *options,
                           tik_error *error);
void tik_cutter_free(tik_cutter *cutter);

/* How far the beginning of a text has been counted: so many tokens up to `at`, a certain boundary. */
typedef struct tik_counted {
    size_t at;
    size_t tokens;
} tik_counted;

#define TIK_CUT_UNKNOWN SIZE_MAX

/*
 * The longest beginning of text[0, length) of at most `limit` (at least 1) tokens: `*end`, `*tokens`. The
 * text is UTF-8. If it is not `complete`, `*end` may be TIK_CUT_UNKNOWN: come again with more; `counted`
 * (zero at first) keeps what was found.
 */
tik_status tik_cutter_beginning(tik_cutter *cutter, const uint8_t *text, size_t length, bool complete, size_t limit,
                                tik_counted *counted, size_t *end, size_t *tokens, tik_error *error);

/* The longest end of text[0, length): `*start` is `length` if not even the last character fits. */
tik_status tik_cutter_end(tik_cutter *cutter, const uint8_t *text, size_t length, size_t limit, size_t *start,
                          size_t *tokens, tik_error *error);

#endif
