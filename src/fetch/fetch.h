/*
 * fetch: what needs libcurl or libcrypto: downloads, the cache of rank files, hashes, base64.
 *
 * It is a module of its own (libtik-fetch), loaded by tik_fetch() when a download or a check is really
 * needed: loading the two libraries costs more than counting a short text. What follows is the table of
 * functions that the module gives. All of them may be called by several threads at once.
 *
 * What the environment decides, read at every call:
 *
 *     TIK_CACHE_DIR, else TIKTOKEN_CACHE_DIR, else DATA_GYM_CACHE_DIR
 *                         the cache folder; set but empty: no cache
 *     XDG_CACHE_HOME      else the folder `tik` in it, or in ~/.cache (macOS: ~/Library/Caches)
 *     TIK_OFFLINE         set, and neither empty nor 0: the network is not used
 *     TIK_FETCH_TIMEOUT   seconds for connecting and for a stalled transfer, instead of 15 and 30; the
 *                         pauses between attempts change in proportion
 *     https_proxy, no_proxy, …               as libcurl reads them
 *     CURL_CA_BUNDLE, else SSL_CERT_FILE, SSL_CERT_DIR
 *                         trusted certificates, instead of the system's
 *     TIK_FETCH_MODULE    the module's file, for tests
 */
#ifndef TIK_FETCH_H
#define TIK_FETCH_H

#include "base/base.h"

/* A rank file that is wanted. */
typedef struct tik_fetch_request {
    const char *name;   /* for messages, as "o200k_base" */
    const char *url;    /* https:// (http:// only to a loopback address) */
    const char *sha256; /* 64 lower-case hex digits */
    size_t size_limit;  /* bytes; a larger body is refused; 0 for TIK_FETCH_LIMIT */
    bool refresh;       /* do not take it from the cache */

    /* Called now and then with `context` while it takes time, NULL if not wanted; false cancels. */
    tik_progress *progress;
    void *context;

    /*
     * If not NULL, receives whether the file is in the cache at the end: its status is TIK_OK, else what
     * kept it from being stored. That alone is no failure of `obtain`.
     */
    tik_error *stored;
} tik_fetch_request;

/* The default of size_limit: more than what 2^21 tokens take, the most that a vocabulary may have. */
#define TIK_FETCH_LIMIT ((size_t)64 << 20)

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
     * reference names it); appended to `path`, zero-terminated (the zero is not counted). TIK_ERROR_IO if
     * the environment switches the cache off or no folder can be found.
     */
    tik_status (*cache_path)(const char *url, tik_bytes *path, tik_error *error);

    /*
     * The file: from the cache if it is there and right, else downloaded, checked, and stored in the
     * cache. Appended to `data`. A file whose SHA-256 is wrong is never used and never left in the cache.
     * Where the cache can't be written the file is used all the same. Of several processes or threads
     * that want it, one downloads and the others wait. TIK_ERROR_HASH, TIK_ERROR_NETWORK,
     * TIK_ERROR_OFFLINE, TIK_ERROR_LIMIT, TIK_ERROR_CANCELLED, TIK_ERROR_MISSING (a build without
     * downloads), TIK_ERROR_ARGUMENT (an address that may not be used).
     */
    tik_status (*obtain)(const tik_fetch_request *request, tik_bytes *data, tik_error *error);
} tik_fetch_api;

/* Counts up with every change of the table. */
#define TIK_FETCH_VERSION 2

/* The module's table; loads it on the first call (thread-safe). NULL: it can't be loaded, `error` says why. */
const tik_fetch_api *tik_fetch(tik_error *error);

#endif
