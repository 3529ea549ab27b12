/* Splitting chunks and counting their pieces; and how the links of a chain come to agree. */
#include <stdlib.h>
#include <string.h>

#include "train/feed_parts.h"

/* How many ends are taken at once; how many when a link's true beginning is sought. */
#define ENDS 4096
#define FEW_ENDS 64

static tik_status refuse_invalid(text_chunk *chunk, size_t text, uint64_t offset, tik_error *error)
{
    chunk->refused = chunk->first_text + text;
    return tik_fail_at(error, TIK_ERROR_UTF8, TIK_NOWHERE, (size_t)offset,
                       "text %llu is not UTF-8 at byte %llu: mend it, or have such bytes replaced",
                       (unsigned long long)chunk->refused + 1, (unsigned long long)offset);
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

/* Counts pieces whose ends are relative to `text`; the first begins at `start`. */
static tik_status count_ends(feed_worker *worker, const uint8_t *text, uint32_t start, const uint32_t *ends,
                             size_t count, tik_error *error)
{
    size_t dropped = 0;
    tik_status status = tik_table_count(worker->table, text, start, ends, count, worker->chunk.unit, &dropped, error);
    for (size_t i = 0; i < count; i++)
        worker->pieces += !(ends[i] & TIK_SPLIT_DROPPED);
    worker->dropped += dropped;
    return status;
}

/* A piece that came alone because its end is no 31-bit number; bytes that no piece covers may do that. */
static tik_status take_giant(feed_worker *worker, uint32_t end, size_t length, tik_error *error)
{
    if (!(end & TIK_SPLIT_DROPPED))
        return tik_fail(error, TIK_ERROR_LIMIT, "a piece of %zu bytes: at most 2^31 - 1 can be trained on", length);
    worker->dropped += length;
    return TIK_OK;
}

static bool is_giant(const uint32_t *ends, size_t count)
{
    return count == 1 && (ends[0] & ~TIK_SPLIT_DROPPED) == 0;
}

static tik_status count_text(feed_worker *worker, const uint8_t *text, size_t length, tik_error *error)
{
    const tik_splitter *splitter = worker->reader->feed->splitter;
    uint32_t ends[ENDS];
    tik_status status = TIK_OK;
    for (size_t from = 0; from < length && status == TIK_OK;) {
        size_t count;
        size_t next;
        status = tik_split_next(splitter, worker->state, text, length, from, false, ends, ENDS, &count, &next, error);
        if (status != TIK_OK)
            break;
        if (is_giant(ends, count))
            status = take_giant(worker, ends[0], next - from, error);
        else
            status = count_ends(worker, text + from, 0, ends, count, error);
        from = next;
    }
    return status;
}

static tik_status count_texts(feed_worker *worker, tik_error *error)
{
    text_chunk *chunk = &worker->chunk;
    tik_status status = pad(&chunk->bytes, error);
    size_t start = 0;
    for (size_t i = 0; i < chunk->text_count && status == TIK_OK; i++) {
        const uint8_t *text = (const uint8_t *)chunk->bytes.data + start;
        size_t length = chunk->text_ends[i] - start;
        size_t valid = tik_utf8_valid_prefix(text, length);
        if (valid < length)
            return refuse_invalid(chunk, i, (i ? 0 : chunk->offset) + valid, error);
        status = count_text(worker, text, length, error);
        start = chunk->text_ends[i];
    }
    return status;
}

/* ---- Links ------------------------------------------------------------------------------------------ */

/* So much of the link's bytes can be split: characters at the end of what was read may be incomplete. */
static size_t whole_length(const text_chunk *chunk)
{
    size_t length = chunk->bytes.length;
    return chunk->last ? length : length - tik_feed_unfinished(chunk->bytes.data, length);
}

/* Splits the link from where it begins until a piece ends at or behind its end; keeps the ends. */
static tik_status split_link(feed_worker *worker, tik_error *error)
{
    const text_chunk *chunk = &worker->chunk;
    const uint8_t *text = (const uint8_t *)chunk->bytes.data;
    size_t length = whole_length(chunk);
    size_t from = chunk->begin;
    worker->end_count = 0;
    if (length - chunk->begin >= TIK_SPLIT_DROPPED)
        return tik_fail(error, TIK_ERROR_LIMIT, "a piece of %zu bytes or more: at most 2^31 - 1 can be trained on",
                        length - chunk->begin);
    while (from < chunk->end) {
        void *array = worker->ends;
        tik_status status = tik_grow(&array, &worker->end_capacity, worker->end_count + ENDS, sizeof *worker->ends,
                                     error);
        worker->ends = array;
        if (status != TIK_OK)
            return status;
        uint32_t *ends = worker->ends + worker->end_count;
        size_t count;
        size_t next;
        status = tik_split_next(worker->reader->feed->splitter, worker->state, text, length, from, !chunk->last, ends,
                                ENDS, &count, &next, error);
        if (status != TIK_OK)
            return status;
        if (count == 0)
            break;
        for (size_t i = 0; i < count; i++)
            ends[i] += (uint32_t)(from - chunk->begin);
        worker->end_count += count;
        from = next;
    }
    /* Of the pieces behind the link's end, only the first is its own. */
    while (worker->end_count > 1 &&
           chunk->begin + (worker->ends[worker->end_count - 2] & ~TIK_SPLIT_DROPPED) >= chunk->end)
        worker->end_count--;
    return TIK_OK;
}

/* Where kept piece `i` ends, in the chunk. */
static size_t kept_end(const feed_worker *worker, size_t i)
{
    return worker->chunk.begin + (worker->ends[i] & ~TIK_SPLIT_DROPPED);
}

/*
 * Splits and counts from `*place`, where a piece really ends, until one ends where a kept one does, or
 * behind all of them. `*kept` becomes the number of kept pieces that end at or before `*place`.
 */
static tik_status agree(feed_worker *worker, size_t *place, size_t *kept, tik_error *error)
{
    const text_chunk *chunk = &worker->chunk;
    const uint8_t *text = (const uint8_t *)chunk->bytes.data;
    size_t length = whole_length(chunk);
    *kept = 0;
    for (;;) {
        while (*kept < worker->end_count && kept_end(worker, *kept) <= *place)
            ++*kept;
        if (*place == chunk->begin || (*kept && kept_end(worker, *kept - 1) == *place))
            return TIK_OK;
        if (*place >= chunk->end)
            break;
        uint32_t ends[FEW_ENDS];
        size_t count;
        size_t next;
        tik_status status = tik_split_next(worker->reader->feed->splitter, worker->state, text, length, *place,
                                           !chunk->last, ends, FEW_ENDS, &count, &next, error);
        if (status != TIK_OK)
            return status;
        if (count == 0)
            break;
        /* One piece at a time: the next may be where they agree. */
        next = *place + (ends[0] & ~TIK_SPLIT_DROPPED);
        status = count_ends(worker, text + *place, 0, ends, 1, error);
        if (status != TIK_OK)
            return status;
        *place = next;
    }
    *kept = worker->end_count; /* none of them holds */
    return TIK_OK;
}

/* Waits for what the link before hands on; false if the work was stopped. With the lock. */
static bool wait_for_turn(shared_reader *reader, const text_chunk *chunk)
{
    while (reader->link_end.number != chunk->link_number && !reader->stop)
        pthread_cond_wait(&reader->link_ended, &reader->lock);
    return !reader->stop;
}

/* Hands on where the pieces of this link end, at `place` of the chunk. With the lock. */
static tik_status hand_on(shared_reader *reader, const text_chunk *chunk, size_t place, size_t tried, tik_error *error)
{
    link_end *end = &reader->link_end;
    tik_status status = TIK_OK;
    end->tail.length = 0;
    if (place < chunk->end) {
        size_t from = place > TIK_FEED_CONTEXT ? place - TIK_FEED_CONTEXT : 0;
        while (from && !tik_utf8_is_start((uint8_t)chunk->bytes.data[from]))
            from--;
        end->tail_offset = chunk->offset + from;
        status = tik_bytes_append(&end->tail, chunk->bytes.data + from, chunk->end - from, error);
    }
    end->place = chunk->offset + place;
    end->tried = tried;
    end->number = chunk->link_number + 1;
    pthread_cond_broadcast(&reader->link_ended);
    return status;
}

/* Puts the tail of the link before in front of this one. */
static tik_status put_before(text_chunk *chunk, const link_end *before, tik_error *error)
{
    tik_bytes whole = TIK_BYTES_INIT;
    tik_status status = tik_bytes_append(&whole, before->tail.data, before->tail.length, error);
    if (status == TIK_OK)
        status = tik_bytes_append(&whole, chunk->bytes.data + chunk->begin, chunk->bytes.length - chunk->begin, error);
    if (status == TIK_OK)
        status = pad(&whole, error);
    if (status != TIK_OK) {
        tik_bytes_free(&whole);
        return status;
    }
    chunk->end = chunk->end - chunk->begin + before->tail.length;
    chunk->begin = (size_t)(before->place - before->tail_offset);
    chunk->offset = before->tail_offset;
    tik_bytes_free(&chunk->bytes);
    chunk->bytes = whole;
    return TIK_OK;
}

/*
 * The link's turn, with the lock: finds where its pieces really begin, and hands on where they end. What
 * is then left to count are the kept pieces from `*kept` on, the first beginning at `*place`.
 */
static tik_status take_turn(feed_worker *worker, size_t *place, size_t *kept, tik_error *error)
{
    text_chunk *chunk = &worker->chunk;
    shared_reader *reader = worker->reader;
    const link_end *before = &reader->link_end;
    size_t tried = 0;
    tik_status status = TIK_OK;
    if (!chunk->first && before->tail.length > 0) {
        status = put_before(chunk, before, error);
        if (status != TIK_OK)
            return status;
        *place = chunk->begin;
        worker->end_count = 0;
        /* A piece longer than links: trying when there is twice as much text tries each byte twice on average. */
        if (!chunk->last && chunk->end - chunk->begin < 2 * before->tried)
            tried = before->tried;
        else
            status = split_link(worker, error);
    } else {
        *place = chunk->first ? chunk->begin : (size_t)(before->place - chunk->offset);
    }
    if (status == TIK_OK)
        status = agree(worker, place, kept, error);
    if (status != TIK_OK)
        return status;
    size_t end = worker->end_count > *kept ? kept_end(worker, worker->end_count - 1) : *place;
    if (tried == 0 && end < chunk->end)
        tried = chunk->end - end;
    return hand_on(reader, chunk, end, tried, error);
}

static tik_status count_link(feed_worker *worker, tik_error *error)
{
    text_chunk *chunk = &worker->chunk;
    shared_reader *reader = worker->reader;
    size_t length = whole_length(chunk);
    size_t valid = tik_utf8_valid_prefix((const uint8_t *)chunk->bytes.data, length);
    if (valid < length)
        return refuse_invalid(chunk, 0, chunk->offset + valid, error);
    size_t place = 0;
    size_t kept = 0;
    tik_status status = pad(&chunk->bytes, error);
    if (status == TIK_OK)
        status = split_link(worker, error);
    if (status != TIK_OK)
        return status;
    pthread_mutex_lock(&reader->lock);
    bool turn = wait_for_turn(reader, chunk);
    if (turn)
        status = take_turn(worker, &place, &kept, error);
    pthread_mutex_unlock(&reader->lock);
    if (!turn || status != TIK_OK)
        return status;
    return count_ends(worker, (const uint8_t *)chunk->bytes.data + chunk->begin, (uint32_t)(place - chunk->begin),
                      worker->ends + kept, worker->end_count - kept, error);
}

void tik_feed_work(feed_worker *worker)
{
    shared_reader *reader = worker->reader;
    tik_error error;
    tik_status status = tik_split_state_new(reader->feed->splitter, &worker->state, &error);
    pthread_mutex_lock(&reader->lock);
    if (status != TIK_OK)
        tik_feed_failed(reader, &worker->chunk, status, &error);
    while (tik_feed_is_work_left(reader)) {
        status = tik_feed_next_chunk(reader, &worker->chunk, &error);
        pthread_mutex_unlock(&reader->lock);
        if (status == TIK_OK)
            status = worker->chunk.link ? count_link(worker, &error) : count_texts(worker, &error);
        pthread_mutex_lock(&reader->lock);
        if (status != TIK_OK)
            tik_feed_failed(reader, &worker->chunk, status, &error);
    }
    reader->feed->pieces += worker->pieces;
    reader->feed->dropped += worker->dropped;
    worker->pieces = 0;
    worker->dropped = 0;
    pthread_mutex_unlock(&reader->lock);
    tik_split_state_free(worker->state);
    worker->state = NULL;
}
