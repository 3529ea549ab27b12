/* Of encode/ alone: work shared out to threads, and one large text on several of them. */
#ifndef TIK_ENCODE_BATCH_H
#define TIK_ENCODE_BATCH_H

#include "base/threads.h"
#include "encode/encode.h"

/* ---- Batches (batch.c) --------------------------------------------------------------------- */

/*
 * Counts (`counts` not NULL) or encodes on `threads` threads, each text by `policy`. The ids are appended
 * to `ids`, where each begins to `starts` (may be NULL). `*failed` is the text that failed, SIZE_MAX for none.
 */
tik_status tik_batch(const tik_encoding *encoding, const tik_policy *policy, unsigned threads,
                     const tik_text *texts, size_t count, size_t *counts, tik_ids *ids, tik_sizes *starts,
                     size_t *failed, tik_error *error);

/* ---- One large text (parallel.c) ----------------------------------------------------------- */

/* Whether a text of that length is to be encoded by tik_parallel_text. */
bool tik_is_parallel(const tik_encoding *encoding, const tik_policy *policy, size_t length);

/* Encodes a valid text that has no disallowed special token, on policy->threads threads. */
tik_status tik_parallel_text(const tik_encoding *encoding, const tik_policy *policy, const uint8_t *text,
                             size_t length, tik_sink *sink, tik_error *error);

/*
 * The same for the beginning of a text that goes on, from the beginning of a piece; special tokens that
 * begin before `settled` lie whole in it. `*done` becomes the place up to which it was encoded, a certain
 * boundary or the end of a special token: 0 if there is none.
 */
tik_status tik_parallel_beginning(const tik_encoding *encoding, const tik_policy *policy, const uint8_t *text,
                                  size_t length, size_t settled, tik_sink *sink, size_t *done, tik_error *error);

#endif
