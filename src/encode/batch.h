/* Of encode/ alone: one large text on several threads. */
#ifndef TIK_ENCODE_BATCH_H
#define TIK_ENCODE_BATCH_H

#include "encode/encode.h"

/* Whether a text of that length is to be encoded by tik_parallel_text. */
bool tik_is_parallel(const tik_encoding *encoding, const tik_policy *policy, size_t length);

/* Encodes a valid text of which no special token counts, on policy->threads threads. */
tik_status tik_parallel_text(const tik_encoding *encoding, const tik_policy *policy, const uint8_t *text,
                             size_t length, tik_sink *sink, tik_error *error);

#endif
