/* download: one file from an address. Of the fetch module alone. */
#ifndef TIK_FETCH_DOWNLOAD_H
#define TIK_FETCH_DOWNLOAD_H

#include "fetch/fetch.h"

/*
 * Appends the body to `data`; on failure it is as it was. `path`, which may be NULL, is where a file got
 * in another way could be put, for messages. TIK_ERROR_NETWORK, TIK_ERROR_LIMIT, TIK_ERROR_CANCELLED,
 * TIK_ERROR_ARGUMENT, TIK_ERROR_MISSING.
 */
tik_status download(const tik_fetch_request *request, const char *path, tik_bytes *data, tik_error *error);

/* Sleeps for `milliseconds`, calling `progress` on the way; false if it said stop. */
bool pause_for(unsigned milliseconds, tik_progress *progress, void *context, uint64_t done, uint64_t total);

#endif
