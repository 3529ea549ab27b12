/*
 * split: text → pieces. A piece is what one match of an encoding's split pattern covers; merging
 * never crosses the end of a piece.
 *
 * Two engines give the same pieces: PCRE2 runs any pattern (and is the definition), the scanners
 * run the patterns of the public encodings. Patterns are written in the reference's regex dialect
 * with Unicode 16.0, whatever PCRE2 is installed; what can't be run as meant is refused.
 */
#ifndef TIK_SPLIT_H
#define TIK_SPLIT_H

#include "base/base.h"

typedef struct tik_splitter tik_splitter;         /* a pattern, ready to run; immutable, shared by threads */
typedef struct tik_split_state tik_split_state;   /* one thread's working memory for it */

/*
 * Readies `pattern` (UTF-8, `length` bytes). A pattern of a public encoding costs nothing: no
 * allocation, nothing compiled. Any other is translated and compiled at once:
 * TIK_ERROR_PATTERN (offset in the pattern, reason) if it is not a pattern of the dialect, can't be
 * run as the reference means it, or can match the empty string.
 */
tik_status tik_splitter_new(const char *pattern, size_t length, tik_splitter **out, tik_error *error);
void tik_splitter_free(tik_splitter *splitter);

/* The engine that runs it: "pcre2", or the scanner and its instruction set, as "o200k/avx512". */
const char *tik_splitter_engine(const tik_splitter *splitter);

tik_status tik_split_state_new(const tik_splitter *splitter, tik_split_state **out, tik_error *error);
void tik_split_state_free(tik_split_state *state);

/* Set in an end: the bytes before it are covered by no match; the reference drops them. */
#define TIK_SPLIT_DROPPED 0x80000000u

/*
 * The next pieces of text[from, length).
 *
 * text    valid UTF-8, all of it (look-behind sees what is before `from`). `from` is 0 or an end given
 *         by an earlier call.
 * more    false: the text ends at `length`. true: it may go on, and only pieces that are the same
 *         whatever follows are given (none: `*count` is 0, come again with more text).
 * ends    receives at most `capacity` (at least 64) ends, in bytes relative to `from`, ascending; the
 *         first piece starts at `from`, each other one at the end before it. An end with
 *         TIK_SPLIT_DROPPED set closes a run of bytes that is no piece.
 * count   how many ends were written. 0 only when from == length, or with `more`.
 * end     the absolute end of the last piece: where the next call starts.
 *
 * A piece of 2^31 bytes or more comes alone: *count is 1, its length is *end - from, ends[0] is 0
 * (or TIK_SPLIT_DROPPED).
 *
 * TIK_ERROR_PATTERN, TIK_ERROR_MEMORY: the matcher gave up (it says why); `*count` pieces before it hold.
 */
tik_status tik_split_next(const tik_splitter *splitter, tik_split_state *state, const uint8_t *text,
                          size_t length, size_t from, bool more, uint32_t *ends, size_t capacity,
                          size_t *count, size_t *end, tik_error *error);

/* How many bytes before a piece's beginning can matter to it (look-behind, word boundaries). 0 for the scanners. */
size_t tik_split_lookbehind(const tik_splitter *splitter);

/*
 * A place to cut a text in two that are split each by itself with the same pieces: the last position
 * p, low < p <= high, at which every match ends and the text before p does not matter to what comes
 * after it, whatever the rest of the text is. 0 if there is none or the pattern is not known well
 * enough to tell (any pattern run by PCRE2).
 */
size_t tik_split_cut(const tik_splitter *splitter, const uint8_t *text, size_t length, size_t low, size_t high);

#endif
