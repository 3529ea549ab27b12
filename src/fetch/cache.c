/*
 * The cache folder: files under the SHA-1 of their address, as the reference names them, so that either
 * program uses what the other has fetched. A file gets its final name only when it is complete, right and
 * on the disk. Beside it there may be, for a short while,
 *
 *     SHA1.tik.lock               held (flock) by whoever fetches the file; removed at the end
 *     SHA1.tik-PID-NUMBER.tmp     being written, held as well: one that no one holds was left behind
 */
#include "fetch/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fetch/codec.h"
#include "fetch/download.h"

#define CACHE_PATIENCE 600 /* seconds */
#define LOCK_SUFFIX ".tik.lock"
#define TEMPORARY_INFIX ".tik-"
#define TEMPORARY_SUFFIX ".tmp"

/* ---- Where it is --------------------------------------------------------------------------- */

/* Appends the folder. XDG says that a relative XDG_CACHE_HOME is to be ignored. */
static tik_status find_folder(tik_bytes *folder, tik_error *error)
{
    static const char *const names[] = {"TIK_CACHE_DIR", "TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (!value)
            continue;
        if (!value[0])
            return tik_fail(error, TIK_ERROR_IO, "the cache is switched off: %s is set to nothing", names[i]);
        return tik_bytes_printf(folder, error, "%s", value);
    }
    const char *xdg = getenv("XDG_CACHE_HOME");
    if (xdg && xdg[0] == '/')
        return tik_bytes_printf(folder, error, "%s/tik", xdg);
    const char *home = getenv("HOME");
    if (!home || home[0] != '/')
        return tik_fail(error, TIK_ERROR_IO,
                        "there is no folder for the cache: set TIK_CACHE_DIR to one (HOME is not set)");
#ifdef __APPLE__
    return tik_bytes_printf(folder, error, "%s/Library/Caches/tik", home);
#else
    return tik_bytes_printf(folder, error, "%s/.cache/tik", home);
#endif
}

tik_status cache_find(cache_place *place, const char *url, tik_error *error)
{
    char name[41];
    *place = (cache_place){.lock = -1};
    tik_status status = find_folder(&place->folder, error);
    if (status == TIK_OK)
        status = tik_codec_sha1(url, strlen(url), name, error);
    if (status == TIK_OK)
        status = tik_bytes_printf(&place->path, error, "%s/%s", place->folder.data, name);
    if (status == TIK_OK)
        status = tik_bytes_printf(&place->lock_path, error, "%s" LOCK_SUFFIX, place->path.data);
    if (status != TIK_OK)
        cache_free(place);
    return status;
}

void cache_free(cache_place *place)
{
    cache_unlock(place);
    tik_bytes_free(&place->folder);
    tik_bytes_free(&place->path);
    tik_bytes_free(&place->lock_path);
}

/* ---- Reading ------------------------------------------------------------------------------- */

/* Appends the open regular file; `*whole` becomes false if it is larger than `limit` or can't be read. */
static tik_status read_all(int file, size_t limit, bool *whole, tik_bytes *data, tik_error *error)
{
    struct stat about;
    *whole = false;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size < 0 ||
        (uint64_t)about.st_size > limit)
        return TIK_OK;
    /* One byte more than the file has, so that the end is met without growing. */
    size_t room = (size_t)about.st_size + 1;
    for (size_t got = 0;;) {
        void *array = data->data;
        tik_status status = tik_grow(&array, &data->capacity, data->length + room, 1, error);
        data->data = array;
        if (status != TIK_OK)
            return status;
        ssize_t count = read(file, data->data + data->length, room);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return TIK_OK;
        if (count == 0)
            break;
        got += (size_t)count;
        if (got > limit)
            return TIK_OK;
        data->length += (size_t)count;
    }
    *whole = true;
    return TIK_OK;
}

tik_status cache_read(const cache_place *place, const char *sha256, size_t limit, cache_state *state,
                      tik_bytes *data, tik_error *error)
{
    size_t from = data->length;
    char hex[65];
    bool whole;
    *state = CACHE_NONE;
    /* Not to wait for the other end if the name is a pipe's. */
    int file = open(place->path.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return TIK_OK;
    tik_status status = read_all(file, limit, &whole, data, error);
    close(file);
    if (status == TIK_OK && whole)
        status = tik_codec_sha256(data->data + from, data->length - from, hex, error);
    if (status == TIK_OK)
        *state = whole && strcmp(hex, sha256) == 0 ? CACHE_RIGHT : CACHE_WRONG;
    if (*state != CACHE_RIGHT)
        data->length = from;
    return status;
}

void cache_remove(const cache_place *place)
{
    unlink(place->path.data);
}

/* ---- Writing ------------------------------------------------------------------------------- */

/* Says why the system refused; `errno` is the reason. */
static tik_status refused(tik_error *error, const char *what, const char *path)
{
    int reason = errno;
    char text[128] = "";
    const char *advice = "set TIK_CACHE_DIR to a folder that can be written";
    if (reason == ENOSPC || reason == EDQUOT || reason == EFBIG)
        advice = "make room there, or set TIK_CACHE_DIR to another folder";
    if (strerror_r(reason, text, sizeof text) != 0)
        snprintf(text, sizeof text, "error %d", reason);
    return tik_fail(error, TIK_ERROR_IO, "%s %.240s: %s; %s", what, path, text, advice);
}

/* Creates `folder` and those above it that are missing. */
static tik_status make_folder(const tik_bytes *folder, tik_error *error)
{
    char *path = folder->data;
    tik_status status = TIK_OK;
    for (size_t i = 1; i <= folder->length && status == TIK_OK; i++) {
        if (i < folder->length && path[i] != '/')
            continue;
        char kept = path[i];
        path[i] = 0;
        struct stat about;
        /* One above may be refused for reasons that do not matter (a read-only disk): only the last counts. */
        if (mkdir(path, 0777) != 0 && errno != EEXIST && i == folder->length)
            status = refused(error, "cannot create the cache folder", path);
        else if (i == folder->length && stat(path, &about) == 0 && !S_ISDIR(about.st_mode)) {
            errno = ENOTDIR;
            status = refused(error, "cannot use the cache folder", path);
        }
        path[i] = kept;
    }
    return status;
}

/* Whether the open lock file still has its name: the one before us removed it if it fetched the file. */
static bool has_name(int file, const char *path)
{
    struct stat opened;
    struct stat named;
    return fstat(file, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

tik_status cache_lock(cache_place *place, tik_progress *progress, void *context, tik_error *error)
{
    enum { STEP = 50 };
    const char *path = place->lock_path.data;
    tik_status status = make_folder(&place->folder, error);
    if (status != TIK_OK)
        return status;
    for (unsigned waited = 0; waited < CACHE_PATIENCE * 1000u;) {
        int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (file < 0)
            return refused(error, "cannot write in the cache:", path);
        bool locked = false;
        while (!(locked = flock(file, LOCK_EX | LOCK_NB) == 0) && (errno == EWOULDBLOCK || errno == EINTR) &&
               waited < CACHE_PATIENCE * 1000u) {
            if (!pause_for(STEP, progress, context, 0, 0)) {
                close(file);
                return tik_fail(error, TIK_ERROR_CANCELLED, "cancelled while another process was fetching the file");
            }
            waited += STEP;
        }
        if (locked && has_name(file, path)) {
            place->lock = file;
            return TIK_OK;
        }
        close(file);
        if (!locked) /* a file system without locks, or no patience left */
            return TIK_OK;
    }
    return TIK_OK;
}

void cache_unlock(cache_place *place)
{
    if (place->lock < 0)
        return;
    unlink(place->lock_path.data);
    close(place->lock);
    place->lock = -1;
}

void cache_clean(const cache_place *place)
{
    const char *name = strrchr(place->path.data, '/') + 1;
    size_t length = strlen(name);
    DIR *folder = opendir(place->folder.data);
    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const char *end = entry->d_name + strlen(entry->d_name);
        if (strncmp(entry->d_name, name, length) != 0 ||
            strncmp(entry->d_name + length, TEMPORARY_INFIX, strlen(TEMPORARY_INFIX)) != 0 ||
            strcmp(end - strlen(TEMPORARY_SUFFIX), TEMPORARY_SUFFIX) != 0)
            continue;
        int file = openat(dirfd(folder), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (file < 0)
            continue;
        if (flock(file, LOCK_EX | LOCK_NB) == 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
        close(file);
    }
    closedir(folder);
}

static bool write_all(int file, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t wrote = write(file, data, length);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return false;
        data += wrote;
        length -= (size_t)wrote;
    }
    return true;
}

/* Creates a file that there was not. */
static int create_temporary(const cache_place *place, tik_bytes *path, tik_error *error)
{
    static atomic_uint number;
    for (;;) {
        path->length = 0;
        if (tik_bytes_printf(path, error, "%s" TEMPORARY_INFIX "%ld-%u" TEMPORARY_SUFFIX, place->path.data,
                             (long)getpid(), atomic_fetch_add(&number, 1)) != TIK_OK)
            return -1;
        int file = open(path->data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0)
            return file;
        if (errno != EEXIST) {
            refused(error, "cannot write in the cache:", path->data);
            return -1;
        }
    }
}

tik_status cache_store(const cache_place *place, const tik_bytes *data, size_t from, tik_error *error)
{
    tik_bytes path = TIK_BYTES_INIT;
    int file = create_temporary(place, &path, error);
    if (file < 0) {
        tik_bytes_free(&path);
        return TIK_ERROR_IO;
    }
    flock(file, LOCK_EX | LOCK_NB);
    tik_status status = TIK_OK;
    if (!write_all(file, data->data + from, data->length - from) || fsync(file) != 0 ||
        rename(path.data, place->path.data) != 0) {
        status = refused(error, "cannot write in the cache:", path.data);
        unlink(path.data);
    }
    close(file);
    if (status == TIK_OK) {
        /* The new name is on the disk when the folder is. */
        int folder = open(place->folder.data, O_RDONLY | O_CLOEXEC);
        if (folder >= 0) {
            fsync(folder);
            close(folder);
        }
    }
    tik_bytes_free(&path);
    return status;
}
