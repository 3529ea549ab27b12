/* Starting the threads, joining their tables, and putting the pieces in order. */
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "train/feed_parts.h"

/* ---- Joining the tables -------------------------------------------------------------------------- */

static bool appears_first(const tik_table_entry *first, const tik_table_entry *second)
{
    return first->unit != second->unit ? first->unit < second->unit : first->order < second->order;
}

/* Adds a thread's table to that of all, and empties it. */
static tik_status join_table(tik_table *all, tik_table *own, tik_error *error)
{
    tik_status status = TIK_OK;
    for (size_t i = 0; i < tik_table_size(own) && status == TIK_OK; i++) {
        const tik_table_entry *from = &own->entries[i];
        if (!tik_table_used(from))
            continue;
        tik_table_entry *to;
        size_t length;
        const uint8_t *bytes = tik_table_bytes(from, &length);
        status = tik_table_add(all, bytes, length, from->unit, &to, error);
        if (status != TIK_OK)
            break;
        if (to->value == 0 || appears_first(from, to)) {
            to->unit = from->unit;
            to->order = from->order;
        }
        to->value += from->value;
    }
    tik_table_free(own);
    return status;
}

/* The most frequent first; among equals, the one that appeared first. */
static int by_count(const void *first, const void *second)
{
    const tik_table_entry *a = first;
    const tik_table_entry *b = second;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return appears_first(a, b) ? -1 : appears_first(b, a);
}

static int by_appearance(const void *first, const void *second)
{
    return appears_first(first, second) ? -1 : appears_first(second, first);
}

/* Keeps the most frequent pieces, three quarters of what is allowed, so that it is not to be done at once again. */
static tik_status prune(tik_feed *feed, tik_error *error)
{
    size_t count = feed->table.count;
    size_t keep = feed->max_pieces - feed->max_pieces / 4;
    tik_table_entry *entries = tik_feed_sort(feed, TIK_FEED_BY_COUNT_AND_APPEARANCE);
    tik_table kept = TIK_TABLE_INIT;
    tik_status status = TIK_OK;
    for (size_t i = 0; i < count && status == TIK_OK; i++) {
        if (i >= keep) {
            feed->pruned += entries[i].value;
            continue;
        }
        tik_table_entry *to;
        size_t length;
        const uint8_t *bytes = tik_table_bytes(&entries[i], &length);
        status = tik_table_add(&kept, bytes, length, entries[i].unit, &to, error);
        if (status == TIK_OK) {
            to->value = entries[i].value;
            to->order = entries[i].order;
        }
    }
    tik_table_free(&feed->table);
    feed->table = kept;
    return status;
}

/* Joins the tables if all pieces must be known, or there may be too many; then sees whether there are. */
static tik_status settle(tik_feed *feed, feed_worker *workers, bool done, tik_error *error)
{
    size_t most = feed->table.count;
    for (unsigned t = 1; t < feed->threads; t++)
        most += workers[t].own.count;
    if (!done && most <= feed->max_pieces)
        return TIK_OK;
    tik_status status = TIK_OK;
    for (unsigned t = 1; t < feed->threads && status == TIK_OK; t++)
        status = join_table(&feed->table, &workers[t].own, error);
    if (status != TIK_OK || feed->max_pieces == 0 || feed->table.count <= feed->max_pieces)
        return status;
    if (feed->prune)
        return prune(feed, error);
    return tik_fail(error, TIK_ERROR_LIMIT,
                    "%zu different pieces after %llu bytes, and at most %zu are allowed: raise the limit, have the "
                    "rarest dropped, or use a pattern that makes fewer",
                    feed->table.count, (unsigned long long)feed->bytes, feed->max_pieces);
}

/* One worker, until the source or the budget is used up. */
static void work(void *workers, unsigned number)
{
    tik_feed_work((feed_worker *)workers + number);
}

static void free_chunk(text_chunk *chunk)
{
    tik_bytes_free(&chunk->bytes);
    free(chunk->text_ends);
}

tik_status tik_feed_take(tik_feed *feed, tik_train_source source, void *context, tik_error *error)
{
    shared_reader reader = {
        .feed = feed,
        .source = source,
        .context = context,
        .chunk = feed->chunk ? feed->chunk : TIK_FEED_CHUNK,
        .cuts = strcmp(tik_splitter_engine(feed->splitter), "pcre2") != 0,
    };
    feed_worker *workers = calloc(feed->threads, sizeof *workers);
    if (!workers)
        return tik_fail_memory(error, feed->threads * sizeof *workers);
    for (unsigned t = 0; t < feed->threads; t++) {
        workers[t].reader = &reader;
        workers[t].table = t ? &workers[t].own : &feed->table;
    }
    pthread_mutex_init(&reader.lock, NULL);
    pthread_cond_init(&reader.link_ended, NULL);
    bool done = false;
    while (!done && reader.status == TIK_OK) {
        reader.budget = TIK_FEED_ROUND_CHUNKS * (uint64_t)reader.chunk;
        tik_run_threads(feed->threads, work, workers);
        done = reader.done && reader.carry.length == 0;
        if (reader.status == TIK_OK)
            reader.status = settle(feed, workers, done, &reader.error);
    }
    pthread_cond_destroy(&reader.link_ended);
    pthread_mutex_destroy(&reader.lock);
    for (unsigned t = 0; t < feed->threads; t++) {
        tik_table_free(&workers[t].own);
        free_chunk(&workers[t].chunk);
        free(workers[t].ends);
    }
    free(workers);
    tik_bytes_free(&reader.carry);
    tik_bytes_free(&reader.partial);
    tik_bytes_free(&reader.link_end.tail);
    if (reader.status != TIK_OK && error)
        *error = reader.error;
    return reader.status;
}

void tik_feed_free(tik_feed *feed)
{
    tik_table_free(&feed->table);
}

/* ---- Sorting ------------------------------------------------------------------------------------- */

/* Counts from here on share a bucket. */
#define BUCKETS ((size_t)1 << 16)

static size_t bucket_of(const tik_table_entry *entry, tik_feed_order order)
{
    if (order == TIK_FEED_BY_APPEARANCE)
        return entry->unit < BUCKETS ? entry->unit : BUCKETS - 1;
    return entry->value < BUCKETS ? BUCKETS - 1 - (size_t)entry->value : 0;
}

/*
 * In place: first into buckets, each entry swapped to where its bucket is being filled; then each bucket
 * by comparing, if it may hold entries that differ.
 */
tik_table_entry *tik_feed_sort(tik_feed *feed, tik_feed_order order)
{
    int (*compare)(const void *, const void *) = order == TIK_FEED_BY_APPEARANCE ? by_appearance : by_count;
    tik_table_entry *entries = feed->table.entries;
    size_t count = feed->table.count;
    for (size_t i = 0, used = 0; used < count; i++)
        if (tik_table_used(&entries[i]))
            entries[used++] = entries[i];
    size_t *starts = calloc(BUCKETS + 1, sizeof *starts);
    size_t *fills = malloc(BUCKETS * sizeof *fills);
    if (!starts || !fills) {
        if (count)
            qsort(entries, count, sizeof *entries, compare);
        free(starts);
        free(fills);
        return entries;
    }
    for (size_t i = 0; i < count; i++)
        starts[bucket_of(&entries[i], order) + 1]++;
    for (size_t b = 0; b < BUCKETS; b++)
        starts[b + 1] += starts[b];
    memcpy(fills, starts, BUCKETS * sizeof *fills);
    for (size_t b = 0; b < BUCKETS; b++) {
        while (fills[b] < starts[b + 1]) {
            size_t to = bucket_of(&entries[fills[b]], order);
            tik_table_entry moved = entries[fills[b]];
            entries[fills[b]] = entries[fills[to]];
            entries[fills[to]++] = moved;
        }
    }
    size_t mixed = order == TIK_FEED_BY_COUNT ? 1 : BUCKETS;
    for (size_t b = 0; b < mixed; b++)
        if (starts[b + 1] - starts[b] > 1)
            qsort(entries + starts[b], starts[b + 1] - starts[b], sizeof *entries, compare);
    free(starts);
    free(fills);
    return entries;
}
