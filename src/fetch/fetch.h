/*
 * fetch: what needs libcurl or libcrypto: downloads, the cache of rank files, hashes, base64.
 *
 * It is a module of its own (libtik-fetch), loaded by tik_fetch() when a download or a check is really
 * needed: loading the two libraries costs more than counting a short text. What follows is the table of
 * functions that the module gives.
 */
#ifndef TIK_FETCH_H
#define TIK_FETCH_H

#include "base/base.h"

/* A rank file that is wanted. */
typedef struct tik_fetch_request {
    const char *name;   /* for messages, as "o200k_base" */
    const char *url;    /* https:// (http:// only to a loopback address) */
    const char *sha256; /* 64 lower-case hex digits, or NULL: no check is possible */
    size_t size_limit;  /* bytes; a larger body is refused; 0 for the default */
    bool refresh;       /* do not take it from the cache */
} tik_fetch_request;

typedef struct tik_fetch_api {
    unsigned version; /* TIK_FETCH_VERSION of its build */

    /* SHA-256 and SHA-1 in lower-case hex, zero-terminated. */
    tik_status (*sha256)(const void *data, size_t length, char hex[65], tik_error *error);
    tik_status (*sha1)(const void *data, size_t length, char hex[41], tik_error *error);

    /* Appends the bytes of strict base64 (RFC 4648: padded, nothing else in it); false if it is not. */
    bool (*base64_decode)(const char *text, size_t length, tik_bytes *out);
    bool (*base64_encode)(const void *data, size_t length, tik_bytes *out);

    /*
     * The cache folder, and the name that the file of `url` has there (the SHA-1 of the address, as the
     * reference names it); appended to `path`, zero-terminated. TIK_ERROR_IO if no folder can be found.
     */
    tik_status (*cache_path)(const char *url, tik_bytes *path, tik_error *error);

    /*
     * The file: from the cache if it is there and right, else downloaded into the cache and checked.
     * Appended to `data`. A file whose SHA-256 is wrong is never used and never left in the cache.
     * TIK_ERROR_HASH, TIK_ERROR_NETWORK, TIK_ERROR_OFFLINE, TIK_ERROR_IO, TIK_ERROR_LIMIT.
     */
    tik_status (*obtain)(const tik_fetch_request *request, tik_bytes *data, tik_error *error);
} tik_fetch_api;

#define TIK_FETCH_VERSION 1

/* The module's table; loads it on the first call (thread-safe). NULL: it can't be loaded, `error` says why. */
const tik_fetch_api *tik_fetch(tik_error *error);

#endif
