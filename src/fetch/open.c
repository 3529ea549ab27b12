/*
 * Loading the module libtik-fetch, which lies where the library or the program was built or installed.
 * The file is loaded as code: of those that are found beside the program, one that belongs to another
 * user is passed over, and a program that runs with more rights than its caller looks only where it was
 * installed.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* dladdr */
#endif
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fetch/fetch.h"

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

/* From the folder of the library or of the program that the library is linked into, in order. */
static const char *const relative_folders[] = {
    "fetch",               /* the library, where it was built */
    "src/fetch",           /* the command, where it was built */
    "tik",                 /* the library, installed */
    "../" TIK_LIBDIR_NAME "/tik", /* a program, installed */
};

typedef struct search {
    const tik_fetch_api *api;
    char reason[256]; /* why the last file that was there could not be used */
} search;

/* Loads one file; leaves the reason if it is there and can't be used. */
static void try_file(search *s, const char *path)
{
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module) {
        const char *why = dlerror();
        snprintf(s->reason, sizeof s->reason, "%.250s", why ? why : path);
        return;
    }
    const tik_fetch_api *api = dlsym(module, "tik_fetch_module");
    if (api && api->version == TIK_FETCH_VERSION) {
        s->api = api; /* stays loaded */
        return;
    }
    snprintf(s->reason, sizeof s->reason, "%.200s is of another version", path);
    dlclose(module);
}

/* The file that this code lies in, symbolic links resolved. False if it can't be told. */
static bool find_self(char path[PATH_MAX])
{
    Dl_info info;
    if (dladdr(relative_folders, &info) && info.dli_fname && info.dli_fname[0] == '/')
        return realpath(info.dli_fname, path) != NULL;
    /* A program is named as it was called. */
    return realpath("/proc/self/exe", path) != NULL;
}

static void try_relative(search *s)
{
    char self[PATH_MAX];
    char path[PATH_MAX + 128];
    struct stat owner;
    struct stat about;
    if (!find_self(self) || stat(self, &owner) != 0)
        return;
    *strrchr(self, '/') = 0;
    for (size_t i = 0; i < sizeof relative_folders / sizeof relative_folders[0] && !s->api; i++) {
        snprintf(path, sizeof path, "%s/%s/" TIK_FETCH_MODULE_NAME, self, relative_folders[i]);
        if (stat(path, &about) == 0 &&
            (about.st_uid == 0 || about.st_uid == geteuid() || about.st_uid == owner.st_uid))
            try_file(s, path);
    }
}

static tik_status find(search *s, tik_error *error)
{
    static const char installed[] = TIK_FETCH_MODULE_FOLDER "/" TIK_FETCH_MODULE_NAME;
    bool is_callers = geteuid() == getuid() && getegid() == getgid();
    const char *named = is_callers ? getenv("TIK_FETCH_MODULE") : NULL;
    struct stat about;
    if (named && named[0]) {
        try_file(s, named);
    } else {
        if (is_callers)
            try_relative(s);
        if (!s->api && stat(installed, &about) == 0)
            try_file(s, installed);
    }
    if (s->api)
        return TIK_OK;
    if (s->reason[0])
        return tik_fail(error, TIK_ERROR_MISSING,
                        "the part of libtik that checks and downloads files cannot be loaded: %.220s; install "
                        "libtik and what it needs (libcurl, libcrypto) again",
                        s->reason);
    return tik_fail(error, TIK_ERROR_MISSING,
                    "the part of libtik that checks and downloads files is missing: " TIK_FETCH_MODULE_NAME
                    " is sought in the folder tik beside libtik and as %.200s; install libtik again",
                    installed);
}

const tik_fetch_api *tik_fetch(tik_error *error)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static const tik_fetch_api *loaded;
    pthread_mutex_lock(&mutex);
    const tik_fetch_api *api = loaded;
    if (!api) {
        search s = {0};
        if (find(&s, error) == TIK_OK)
            api = loaded = s.api;
    }
    pthread_mutex_unlock(&mutex);
    return api;
}
