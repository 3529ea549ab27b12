/*
 * Reading and counting. What threads share is behind one lock: the source, and the rest of the text at
 * hand that was read but not given out. Chunks are given out in order and numbered; everything that
 * depends on order (first appearance, which error is reported) goes by that number, so that the number of
 * threads changes nothing.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "train/feed.h"

/* A chunk ends when it is so long and a cut is found. */
#define CHUNK ((size_t)1 << 20)

/* How far from the end of a chunk a cut is sought, before more is read. */
#define CUT_REACH ((size_t)1 << 16)

/* Look-behind sees at most so many bytes before a piece (PCRE2: 65535 characters). */
#define CONTEXT ((size_t)1 << 18)

/* With a bound on the pieces, the threads' tables are looked at each time so much was read. */
#define ROUND ((uint64_t)1 << 25)

#define ENDS 4096

/* The longest prefix of an unfinished character. */
#define PARTIAL 3

/* A chunk in a thread's hands: the ends of its texts, and, if `open`, a last text that goes on. */
typedef struct text_chunk {
    tik_bytes bytes;
    size_t *text_ends;
    size_t text_count;
    size_t text_capacity;
    bool open;        /* what is behind the last of them is a text that goes on, and has no cut */
    size_t from;      /* where splitting begins: what is before is context */
    uint32_t unit;
    uint64_t first_text; /* number of the first text in it, from 1 */
    uint64_t offset;     /* of its first byte in that text */
    uint64_t refused;    /* the text that was not UTF-8, from 0 */
} text_chunk;

typedef struct shared_reader {
    tik_feed *feed;
    tik_train_source source;
    void *context;
    pthread_mutex_t lock;
    tik_text slice; /* what is left of the slice at hand */
    bool slice_ends_text;
    bool in_text;        /* a text has begun and not ended */
    bool done;           /* the source has no more */
    tik_bytes carry;     /* of the text at hand: read, not given out */
    tik_bytes partial;   /* an unfinished character that waits for its end before it is replaced */
    uint64_t text;       /* number of the text at hand */
    uint64_t offset;     /* of the first byte in it that was not given out */
    uint64_t budget;     /* bytes to be read before the next look at the tables */
    bool stop;
    tik_status status;   /* the failure of the lowest unit */
    uint32_t failed_unit;
    tik_error error;
} shared_reader;

typedef struct feed_worker {
    shared_reader *reader;
    tik_table *table;
    tik_table own;
    text_chunk chunk;
    uint64_t pieces;
    uint64_t dropped;
} feed_worker;

/* ---- Giving out chunks (all with the lock) ------------------------------------------------------- */

static void fail(shared_reader *reader, const text_chunk *chunk, tik_status status, const tik_error *error)
{
    if (reader->status == TIK_OK || chunk->unit < reader->failed_unit) {
        reader->status = status;
        reader->failed_unit = chunk->unit;
        reader->feed->refused = chunk->refused;
        reader->error = *error;
    }
    reader->stop = true;
}

/* How many bytes at the end are the beginning of a character that is not complete. */
static size_t unfinished(const char *bytes, size_t length)
{
    for (size_t back = 1; back <= PARTIAL && back <= length; back++) {
        uint8_t byte = (uint8_t)bytes[length - back];
        if (tik_utf8_is_start(byte)) {
            size_t need = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
            return need > back ? back : 0;
        }
    }
    return 0;
}

/* Appends a part of a text, with U+FFFD for what is not UTF-8. */
static tik_status append_replaced(shared_reader *reader, tik_bytes *out, const char *data, size_t length, bool ends,
                                  tik_error *error)
{
    tik_status status = tik_bytes_append(&reader->partial, data, length, error);
    if (status != TIK_OK)
        return status;
    size_t rest = ends ? 0 : unfinished(reader->partial.data, reader->partial.length);
    size_t whole = reader->partial.length - rest;
    status = tik_utf8_replace((const uint8_t *)reader->partial.data, whole, out, error);
    if (rest)
        memmove(reader->partial.data, reader->partial.data + whole, rest);
    reader->partial.length = rest;
    return status;
}

/* What the chunk has after its last text becomes a text. */
static tik_status close_text(text_chunk *chunk, tik_error *error)
{
    void *ends = chunk->text_ends;
    tik_status status = tik_grow(&ends, &chunk->text_capacity, chunk->text_count + 1, sizeof *chunk->text_ends,
                                 error);
    chunk->text_ends = ends;
    if (status == TIK_OK)
        chunk->text_ends[chunk->text_count++] = chunk->bytes.length;
    return status;
}

static tik_status end_text(shared_reader *reader, text_chunk *chunk, tik_error *error)
{
    tik_status status = TIK_OK;
    if (reader->feed->replace_invalid)
        status = append_replaced(reader, &chunk->bytes, "", 0, true, error);
    reader->in_text = false;
    return status == TIK_OK ? close_text(chunk, error) : status;
}

/* Reads until the chunk has `size` bytes or the source is done. */
static tik_status read_more(shared_reader *reader, text_chunk *chunk, size_t size, tik_error *error)
{
    tik_status status = TIK_OK;
    while (status == TIK_OK && chunk->bytes.length < size && !reader->done) {
        if (reader->slice.length == 0 && !reader->slice_ends_text) {
            status = reader->source(reader->context, &reader->slice, &reader->slice_ends_text, &reader->done, error);
            if (status != TIK_OK)
                break;
            if (reader->done)
                return reader->in_text ? end_text(reader, chunk, error) : TIK_OK;
        }
        size_t take = size - chunk->bytes.length;
        if (take > reader->slice.length)
            take = reader->slice.length;
        bool ends = reader->slice_ends_text && take == reader->slice.length;
        if ((take || ends) && !reader->in_text) {
            reader->in_text = true;
            reader->text++;
        }
        if (reader->feed->replace_invalid)
            status = append_replaced(reader, &chunk->bytes, reader->slice.data, take, false, error);
        else
            status = tik_bytes_append(&chunk->bytes, reader->slice.data, take, error);
        if (status != TIK_OK)
            break;
        reader->slice.data += take;
        reader->slice.length -= take;
        reader->feed->bytes += take;
        reader->budget -= take < reader->budget ? take : reader->budget;
        if (ends) {
            reader->slice_ends_text = false;
            status = end_text(reader, chunk, error);
        }
    }
    return status;
}

/* Where the last text of the chunk begins. */
static size_t open_start(const text_chunk *chunk)
{
    return chunk->text_count ? chunk->text_ends[chunk->text_count - 1] : 0;
}

/* Where the open text at the end of the chunk can be cut; 0: nowhere near its end, or nobody knows. */
static size_t find_cut(const tik_splitter *splitter, const text_chunk *chunk)
{
    size_t start = open_start(chunk);
    size_t length = chunk->bytes.length - start;
    const uint8_t *text = (const uint8_t *)chunk->bytes.data + start;
    size_t low = length > CUT_REACH ? length - CUT_REACH : 0;
    while (low && !tik_utf8_is_start(text[low]))
        low--;
    /* What is not UTF-8 is found when the chunk is split; here it only ends the search. */
    size_t valid = low + tik_utf8_valid_prefix(text + low, length - low);
    size_t cut = valid > low ? tik_split_cut(splitter, text, valid, low, valid) : 0;
    return cut ? start + cut : 0;
}

/* Takes what is behind the cut out of the chunk again. */
static tik_status cut_chunk(shared_reader *reader, text_chunk *chunk, size_t cut, tik_error *error)
{
    reader->carry.length = 0;
    tik_status status = tik_bytes_append(&reader->carry, chunk->bytes.data + cut, chunk->bytes.length - cut, error);
    if (status != TIK_OK)
        return status;
    size_t start = open_start(chunk);
    reader->offset = (chunk->text_count ? 0 : chunk->offset) + (cut - start);
    chunk->bytes.length = cut;
    return close_text(chunk, error);
}

/* Calls back; the lock keeps it to one thread at a time. */
static tik_status report(shared_reader *reader, tik_error *error)
{
    tik_feed *feed = reader->feed;
    tik_train_progress progress = {TIK_TRAIN_READING, feed->bytes, 0, 0};
    if (feed->callback && !feed->callback(feed->context, &progress))
        return tik_fail(error, TIK_ERROR_CANCELLED, "stopped while reading, after %llu bytes",
                        (unsigned long long)feed->bytes);
    return TIK_OK;
}

/* The next chunk: texts that are complete or cut; or, for the lack of a cut, the beginning of one. */
static tik_status next_chunk(shared_reader *reader, text_chunk *chunk, tik_error *error)
{
    chunk->bytes.length = 0;
    chunk->text_count = 0;
    chunk->from = 0;
    chunk->open = false;
    chunk->unit = reader->feed->units++;
    chunk->first_text = reader->in_text ? reader->text : reader->text + 1;
    chunk->offset = reader->in_text ? reader->offset : 0;
    tik_status status = report(reader, error);
    if (status == TIK_OK)
        status = tik_bytes_append(&chunk->bytes, reader->carry.data, reader->carry.length, error);
    reader->carry.length = 0;
    bool known = strcmp(tik_splitter_engine(reader->feed->splitter), "pcre2") != 0;
    for (size_t size = CHUNK; status == TIK_OK; size *= 2) {
        status = read_more(reader, chunk, size, error);
        if (status != TIK_OK || !reader->in_text || reader->done)
            break;
        if (!known) {
            chunk->open = true;
            break;
        }
        size_t cut = find_cut(reader->feed->splitter, chunk);
        if (cut)
            return cut_chunk(reader, chunk, cut, error);
    }
    return status;
}

/* ---- Counting ------------------------------------------------------------------------------------ */

static tik_status refuse_invalid(text_chunk *chunk, size_t text, size_t start, size_t at, tik_error *error)
{
    chunk->refused = chunk->first_text + text - 1;
    uint64_t offset = (text ? 0 : chunk->offset) + (at - start);
    return tik_fail_at(error, TIK_ERROR_UTF8, TIK_NOWHERE, (size_t)offset,
                       "text %llu is not UTF-8 at byte %llu: mend it, or have such bytes replaced",
                       (unsigned long long)(chunk->first_text + text), (unsigned long long)offset);
}

/* Splits bytes[from, end) of a text that begins at `start`; `*from` becomes where the next piece begins. */
static tik_status count_text(feed_worker *worker, tik_split_state *state, size_t start, size_t end, bool more,
                             size_t *from, tik_error *error)
{
    const tik_splitter *splitter = worker->reader->feed->splitter;
    const uint8_t *text = (const uint8_t *)worker->chunk.bytes.data + start;
    uint32_t ends[ENDS];
    tik_status status = TIK_OK;
    while (*from < end - start && status == TIK_OK) {
        size_t count;
        size_t next;
        size_t dropped = 0;
        status = tik_split_next(splitter, state, text, end - start, *from, more, ends, ENDS, &count, &next, error);
        if (status != TIK_OK || count == 0)
            break;
        if (count == 1 && (ends[0] & ~TIK_SPLIT_DROPPED) == 0) {
            if (!(ends[0] & TIK_SPLIT_DROPPED))
                return tik_fail(error, TIK_ERROR_LIMIT, "a piece of %zu bytes: at most 2^31 - 1 can be trained on",
                                next - *from);
            dropped = next - *from;
        } else {
            status = tik_table_count(worker->table, text + *from, ends, count, worker->chunk.unit, &dropped, error);
        }
        for (size_t i = 0; i < count; i++)
            worker->pieces += !(ends[i] & TIK_SPLIT_DROPPED);
        worker->dropped += dropped;
        *from = next;
    }
    return status;
}

/* Adds the padding that the table's loads need. */
static tik_status pad(tik_bytes *bytes, tik_error *error)
{
    static const uint8_t zeros[TIK_TABLE_PADDING];
    size_t length = bytes->length;
    tik_status status = tik_bytes_append(bytes, zeros, sizeof zeros, error);
    bytes->length = length;
    return status;
}

/* Everything in a chunk but the open text. */
static tik_status count_chunk(feed_worker *worker, tik_split_state *state, tik_error *error)
{
    text_chunk *chunk = &worker->chunk;
    tik_status status = pad(&chunk->bytes, error);
    size_t start = 0;
    for (size_t i = 0; i < chunk->text_count && status == TIK_OK; i++) {
        size_t length = chunk->text_ends[i] - start;
        size_t valid = tik_utf8_valid_prefix((const uint8_t *)chunk->bytes.data + start, length);
        if (valid < length)
            return refuse_invalid(chunk, i, start, start + valid, error);
        size_t from = chunk->from;
        chunk->from = 0;
        status = count_text(worker, state, start, chunk->text_ends[i], false, &from, error);
        start = chunk->text_ends[i];
    }
    return status;
}

/* Forgets what was split of the text that the chunk holds, but for what look-behind may see. */
static void drop_split(text_chunk *chunk)
{
    size_t gone = chunk->from > CONTEXT ? chunk->from - CONTEXT : 0;
    while (gone && !tik_utf8_is_start((uint8_t)chunk->bytes.data[gone]))
        gone--;
    memmove(chunk->bytes.data, chunk->bytes.data + gone, chunk->bytes.length - gone);
    chunk->bytes.length -= gone;
    chunk->from -= gone;
    chunk->offset += gone;
}

/* Splits the open text as far as is certain, and reads on; with the lock. */
static tik_status count_open_text(feed_worker *worker, tik_split_state *state, tik_error *error)
{
    text_chunk *chunk = &worker->chunk;
    shared_reader *reader = worker->reader;
    size_t start = open_start(chunk);
    memmove(chunk->bytes.data, chunk->bytes.data + start, chunk->bytes.length - start);
    chunk->bytes.length -= start;
    chunk->offset = chunk->text_count ? 0 : chunk->offset;
    chunk->first_text = reader->text;
    chunk->text_count = 0;
    tik_status status = TIK_OK;
    size_t size = CHUNK;
    while (status == TIK_OK && chunk->text_count == 0) {
        size_t end = chunk->bytes.length - unfinished(chunk->bytes.data, chunk->bytes.length);
        size_t before = chunk->from;
        size_t valid = before + tik_utf8_valid_prefix((const uint8_t *)chunk->bytes.data + before, end - before);
        if (valid < end)
            return refuse_invalid(chunk, 0, 0, valid, error);
        status = pad(&chunk->bytes, error);
        if (status == TIK_OK)
            status = count_text(worker, state, 0, end, true, &chunk->from, error);
        if (chunk->from == before)
            size *= 2; /* a piece longer than what was read: looking again must not become quadratic */
        drop_split(chunk);
        if (status == TIK_OK)
            status = report(reader, error);
        if (status == TIK_OK)
            status = read_more(reader, chunk, chunk->from + size, error);
    }
    chunk->open = reader->in_text;
    return status;
}

static tik_status work_chunk(feed_worker *worker, tik_split_state *state, tik_error *error)
{
    shared_reader *reader = worker->reader;
    tik_status status = next_chunk(reader, &worker->chunk, error);
    while (status == TIK_OK && worker->chunk.open) {
        status = count_chunk(worker, state, error);
        if (status == TIK_OK)
            status = count_open_text(worker, state, error);
    }
    if (status != TIK_OK)
        return status;
    pthread_mutex_unlock(&reader->lock);
    status = count_chunk(worker, state, error);
    pthread_mutex_lock(&reader->lock);
    return status;
}

static bool is_work_left(const shared_reader *reader)
{
    bool paused = reader->feed->max_pieces && reader->budget == 0;
    return !reader->stop && !paused && !(reader->done && reader->carry.length == 0);
}

static void *work(void *context)
{
    feed_worker *worker = context;
    shared_reader *reader = worker->reader;
    tik_split_state *state = NULL;
    tik_error error;
    tik_status status = tik_split_state_new(reader->feed->splitter, &state, &error);
    pthread_mutex_lock(&reader->lock);
    if (status != TIK_OK)
        fail(reader, &worker->chunk, status, &error);
    while (is_work_left(reader)) {
        status = work_chunk(worker, state, &error);
        if (status != TIK_OK)
            fail(reader, &worker->chunk, status, &error);
    }
    reader->feed->pieces += worker->pieces;
    reader->feed->dropped += worker->dropped;
    worker->pieces = 0;
    worker->dropped = 0;
    pthread_mutex_unlock(&reader->lock);
    tik_split_state_free(state);
    return NULL;
}

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
        status = tik_table_find(all, bytes, length, true, from->unit, &to, error);
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
        status = tik_table_find(&kept, bytes, length, true, entries[i].unit, &to, error);
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

/* Runs the workers until the source or the budget is used up. Threads that can't be had are done without. */
static void run_workers(feed_worker *workers, unsigned threads)
{
    pthread_t *ids = calloc(threads, sizeof *ids);
    unsigned started = 0;
    while (ids && started + 1 < threads && pthread_create(&ids[started], NULL, work, &workers[started + 1]) == 0)
        started++;
    work(&workers[0]);
    for (unsigned t = 0; t < started; t++)
        pthread_join(ids[t], NULL);
    free(ids);
}

static void free_chunk(text_chunk *chunk)
{
    tik_bytes_free(&chunk->bytes);
    free(chunk->text_ends);
}

tik_status tik_feed_take(tik_feed *feed, tik_train_source source, void *context, tik_error *error)
{
    shared_reader reader = {.feed = feed, .source = source, .context = context};
    feed_worker *workers = calloc(feed->threads, sizeof *workers);
    if (!workers)
        return tik_fail_memory(error, feed->threads * sizeof *workers);
    for (unsigned t = 0; t < feed->threads; t++) {
        workers[t].reader = &reader;
        workers[t].table = t ? &workers[t].own : &feed->table;
    }
    pthread_mutex_init(&reader.lock, NULL);
    bool done = false;
    while (!done && reader.status == TIK_OK) {
        reader.budget = ROUND;
        run_workers(workers, feed->threads);
        done = reader.done && reader.carry.length == 0;
        if (reader.status == TIK_OK)
            reader.status = settle(feed, workers, done, &reader.error);
    }
    pthread_mutex_destroy(&reader.lock);
    for (unsigned t = 0; t < feed->threads; t++) {
        tik_table_free(&workers[t].own);
        free_chunk(&workers[t].chunk);
    }
    free(workers);
    tik_bytes_free(&reader.carry);
    tik_bytes_free(&reader.partial);
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
