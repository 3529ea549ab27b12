/*
 * ranks: a vocabulary as a list of tokens and ranks, and its file form, `.tiktoken`: on each line the
 * base64 of a token's bytes, one space, its rank in decimal, and a line end.
 */
#ifndef TIK_RANKS_H
#define TIK_RANKS_H

#include "base/base.h"

/* In order of rank; the tokens' bytes lie in `arena`. */
typedef struct tik_ranks {
    tik_token *tokens;
    size_t count;
    char *arena;
} tik_ranks;

void tik_ranks_free(tik_ranks *ranks);

/* Appends the bytes of strict base64; false if it is not (see tik_fetch_api). */
typedef bool tik_base64_decode(const char *text, size_t length, tik_bytes *out);
typedef bool tik_base64_encode(const void *data, size_t length, tik_bytes *out);

/*
 * Reads a rank file. Lines end with \n or \r\n, the last one with or without. `source` names it in
 * messages. TIK_ERROR_FORMAT with line, byte offset and reason for: bad base64, a missing or malformed
 * rank, a rank of 2^31 or more, a repeated rank, a repeated token, an empty token or line, a missing
 * single byte, trailing rubbish, a file cut short.
 */
tik_status tik_ranks_parse(const char *data, size_t length, const char *source, tik_base64_decode *decode,
                           tik_ranks *ranks, tik_error *error);

/* Copies tokens given in any order, with the same checks, into `ranks`. TIK_ERROR_FORMAT. */
tik_status tik_ranks_copy(const tik_token *tokens, size_t count, tik_ranks *ranks, tik_error *error);

/* Appends the file form, byte for byte that of the published files. */
tik_status tik_ranks_write(const tik_ranks *ranks, tik_base64_encode *encode, tik_bytes *out, tik_error *error);

#endif
