/* cache: the folder of rank files. Of the fetch module alone. */
#ifndef TIK_FETCH_CACHE_H
#define TIK_FETCH_CACHE_H

#include "base/base.h"

/* Where the file of an address lies; zeroed is none. */
typedef struct cache_place {
    tik_bytes folder; /* zero-terminated, as are the others */
    tik_bytes path;   /* the file */
    int lock;         /* descriptor of the lock file that is held, -1 if none is */
    tik_bytes lock_path;
} cache_place;

/* Finds the place; nothing is created. TIK_ERROR_IO: there is no cache, `error` says why. */
tik_status cache_find(cache_place *place, const char *url, tik_error *error);
void cache_free(cache_place *place);

typedef enum cache_state { CACHE_NONE, CACHE_RIGHT, CACHE_WRONG } cache_state;

/*
 * Reads the file and checks it: appended to `data` for CACHE_RIGHT only. A file that can't be opened is
 * CACHE_NONE; one that is no regular file, too large or unreadable is wrong like any other.
 */
tik_status cache_read(const cache_place *place, const char *sha256, size_t limit, cache_state *state,
                      tik_bytes *data, tik_error *error);

/*
 * Creates the folder if need be and waits until no one else fetches this file. After CACHE_PATIENCE
 * seconds it goes on without a lock: two downloads do no harm. TIK_ERROR_IO: the folder can't be
 * written; TIK_ERROR_CANCELLED.
 */
tik_status cache_lock(cache_place *place, tik_progress *progress, void *context, tik_error *error);
void cache_unlock(cache_place *place);

/* Removes what killed processes left half-written of this file. */
void cache_clean(const cache_place *place);

void cache_remove(const cache_place *place);

/* Writes the file under another name and renames it when it is safely on the disk. TIK_ERROR_IO. */
tik_status cache_store(const cache_place *place, const tik_bytes *data, size_t from, tik_error *error);

#endif
