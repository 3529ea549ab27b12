/* Loading the fetch module, once, when it is first needed. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fetch/fetch.h"

#ifdef __APPLE__
#define MODULE "libtik-fetch.dylib"
#else
#define MODULE "libtik-fetch.so"
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const tik_fetch_api *loaded;
static char reason[300] = "libtik-fetch was not found";

/* The module at `path`, if it is there and of this version. */
static const tik_fetch_api *try_path(const char *path)
{
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module) {
        const char *why = dlerror();
        snprintf(reason, sizeof reason, "%s", why ? why : path);
        return NULL;
    }
    const tik_fetch_api *const *api = dlsym(module, "tik_fetch_module");
    if (api && *api && (*api)->version == TIK_FETCH_VERSION)
        return *api;
    snprintf(reason, sizeof reason, "%s is of another version", path);
    dlclose(module);
    return NULL;
}

/* Beside the library or the program that this code is in, or in tik/ there. */
static const tik_fetch_api *try_beside(void)
{
    static const char *const places[] = {"", "tik/", "../fetch/", "fetch/", "src/fetch/", "../src/fetch/"};
    Dl_info here;
    char path[4096];
    if (!dladdr((void *)(uintptr_t)&once, &here) || !here.dli_fname)
        return NULL;
    const char *slash = strrchr(here.dli_fname, '/');
    int folder = slash ? (int)(slash - here.dli_fname) : 0;
    for (size_t i = 0; slash && i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, sizeof path, "%.*s/%s" MODULE, folder, here.dli_fname, places[i]);
        const tik_fetch_api *api = try_path(path);
        if (api)
            return api;
    }
    return NULL;
}

static void load(void)
{
    const char *given = getenv("TIK_FETCH_MODULE");
    if (given) {
        loaded = try_path(given);
        return;
    }
    loaded = try_beside();
    if (!loaded)
        loaded = try_path(TIK_MODULE_FOLDER "/" MODULE);
}

const tik_fetch_api *tik_fetch(tik_error *error)
{
    pthread_once(&once, load);
    if (!loaded)
        tik_fail(error, TIK_ERROR_MISSING,
                 "the part of libtik that reads rank files (libtik-fetch) cannot be loaded: %s; install it, or set "
                 "TIK_FETCH_MODULE to where it is",
                 reason);
    return loaded;
}
