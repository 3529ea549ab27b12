/* The module's table, and the way of a file: cache, lock, cache again, download, check, store. */
#include <stdlib.h>
#include <string.h>

#include "fetch/cache.h"
#include "fetch/codec.h"
#include "fetch/download.h"
#include "fetch/fetch.h"

static bool is_offline(void)
{
    const char *value = getenv("TIK_OFFLINE");
    return value && value[0] && strcmp(value, "0") != 0;
}

static tik_status fail_offline(const tik_fetch_request *request, const char *path, tik_error *error)
{
    if (path)
        return tik_fail(error, TIK_ERROR_OFFLINE,
                        "the rank file of %.60s is needed and TIK_OFFLINE forbids the network: unset it, or put "
                        "the file of %.120s at %.180s",
                        request->name, request->url, path);
    return tik_fail(error, TIK_ERROR_OFFLINE,
                    "the rank file of %.60s is needed and TIK_OFFLINE forbids the network: unset it, or set "
                    "TIK_CACHE_DIR to a folder that has the file of %.120s",
                    request->name, request->url);
}

/* Downloads and checks; `data` is as it was on failure. */
static tik_status download_right(const tik_fetch_request *request, const char *path, tik_bytes *data,
                                 tik_error *error)
{
    char hex[65];
    size_t from = data->length;
    if (is_offline())
        return fail_offline(request, path, error);
    tik_status status = download(request, path, data, error);
    if (status == TIK_OK)
        status = tik_codec_sha256(data->data + from, data->length - from, hex, error);
    if (status == TIK_OK && strcmp(hex, request->sha256) != 0)
        status = tik_fail(error, TIK_ERROR_HASH,
                          "what %.160s sent (%zu bytes) is not the rank file of %.60s: its SHA-256 is %s, not %s; "
                          "nothing was stored; try again, and ask whether a proxy changes downloads",
                          request->url, data->length - from, request->name, hex, request->sha256);
    if (status != TIK_OK)
        data->length = from;
    return status;
}

/* With the lock: the file may have come meanwhile; a wrong one goes. */
static tik_status obtain_locked(const tik_fetch_request *request, cache_place *place, tik_bytes *data,
                                tik_error *error)
{
    cache_state state = CACHE_NONE;
    size_t from = data->length;
    tik_status status = TIK_OK;
    cache_clean(place);
    if (!request->refresh) {
        status = cache_read(place, request->sha256, request->size_limit, &state, data, error);
        if (status != TIK_OK || state == CACHE_RIGHT)
            return status;
    }
    if (state == CACHE_WRONG)
        cache_remove(place);
    status = download_right(request, place->path.data, data, error);
    if (status == TIK_OK)
        cache_store(place, data, from, request->stored);
    return status;
}

static tik_status obtain_cached(const tik_fetch_request *request, cache_place *place, tik_bytes *data,
                                tik_error *error)
{
    cache_state state = CACHE_NONE;
    tik_status status = TIK_OK;
    if (!request->refresh)
        status = cache_read(place, request->sha256, request->size_limit, &state, data, error);
    if (status != TIK_OK || state == CACHE_RIGHT)
        return status;
    if (state == CACHE_NONE && is_offline())
        return fail_offline(request, place->path.data, error);
    status = cache_lock(place, request->progress, request->context, request->stored);
    if (status == TIK_OK) {
        status = obtain_locked(request, place, data, error);
        cache_unlock(place);
        return status;
    }
    if (status != TIK_ERROR_IO)
        return tik_fail(error, status, "%s", request->stored->message);
    if (state == CACHE_WRONG)
        cache_remove(place);
    return download_right(request, place->path.data, data, error);
}

static tik_status obtain(const tik_fetch_request *wanted, tik_bytes *data, tik_error *error)
{
    tik_fetch_request request = *wanted;
    tik_error stored;
    if (!request.stored)
        request.stored = &stored;
    *request.stored = (tik_error){.line = TIK_NOWHERE, .offset = TIK_NOWHERE};
    if (request.size_limit == 0)
        request.size_limit = TIK_FETCH_LIMIT;
    cache_place place;
    tik_status status = cache_find(&place, request.url, request.stored);
    if (status == TIK_ERROR_IO)
        return download_right(&request, NULL, data, error);
    if (status != TIK_OK)
        return tik_fail(error, status, "%s", request.stored->message);
    status = obtain_cached(&request, &place, data, error);
    cache_free(&place);
    return status;
}

static tik_status cache_path(const char *url, tik_bytes *path, tik_error *error)
{
    cache_place place;
    tik_status status = cache_find(&place, url, error);
    if (status != TIK_OK)
        return status;
    status = tik_bytes_printf(path, error, "%s", place.path.data);
    cache_free(&place);
    return status;
}

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const tik_fetch_api tik_fetch_module;

const tik_fetch_api tik_fetch_module = {
    .version = TIK_FETCH_VERSION,
    .sha256 = tik_codec_sha256,
    .sha1 = tik_codec_sha1,
    .base64_decode = tik_codec_base64_decode,
    .base64_encode = tik_codec_base64_encode,
    .cache_path = cache_path,
    .obtain = obtain,
};
