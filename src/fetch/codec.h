/*
 * codec: hashes and base64 by libcrypto. Of the fetch module and the build-time generator; the library
 * reaches them through tik_fetch().
 */
#ifndef TIK_FETCH_CODEC_H
#define TIK_FETCH_CODEC_H

#include "base/base.h"

/* SHA-256 and SHA-1 in lower-case hex, zero-terminated. */
tik_status tik_codec_sha256(const void *data, size_t length, char hex[65], tik_error *error);
tik_status tik_codec_sha1(const void *data, size_t length, char hex[41], tik_error *error);

/* Appends the bytes of strict base64 (RFC 4648: padded, nothing else in it); false if it is not. */
bool tik_codec_base64_decode(const char *text, size_t length, tik_bytes *out);
bool tik_codec_base64_encode(const void *data, size_t length, tik_bytes *out);

#endif
