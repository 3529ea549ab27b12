/* In place of download.c in a build without downloads. */
#include "fetch/download.h"

tik_status download(const tik_fetch_request *request, const char *path, tik_bytes *data, tik_error *error)
{
    (void)data;
    return tik_fail(error, TIK_ERROR_MISSING,
                    "the rank file of %.60s is needed and this build cannot download: put the file of %.120s at "
                    "%.180s, or build with -Ddownload=enabled",
                    request->name, request->url, path ? path : "its place in the cache (set TIK_CACHE_DIR)");
}
