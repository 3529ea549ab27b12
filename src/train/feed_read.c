/* Giving out chunks: reading, cutting, and the chain of links where nothing can be cut. */
#include <stdlib.h>
#include <string.h>

#include "train/feed_parts.h"

/* The longest prefix of an unfinished character. */
#define PARTIAL 3

/* A cut is sought in so much of a chunk, at its end: the sixteenth part. */
#define CUT_PART 16

void tik_feed_failed(shared_reader *reader, const text_chunk *chunk, tik_status status, const tik_error *error)
{
    if (reader->status == TIK_OK || chunk->unit < reader->failed_unit) {
        reader->status = status;
        reader->failed_unit = chunk->unit;
        reader->feed->refused = chunk->refused;
        reader->error = *error;
    }
    reader->stop = true;
    pthread_cond_broadcast(&reader->link_ended);
}

size_t tik_feed_unfinished(const char *bytes, size_t length)
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
    size_t rest = ends ? 0 : tik_feed_unfinished(reader->partial.data, reader->partial.length);
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

/* The next slice, if there is none at hand. */
static tik_status next_slice(shared_reader *reader, tik_error *error)
{
    if (reader->slice.length || reader->slice_ends_text)
        return TIK_OK;
    return reader->source(reader->context, &reader->slice, &reader->slice_ends_text, &reader->done, error);
}

/* Takes at most `most` bytes of the slice at hand, and the end of the text if it comes then. */
static tik_status take_slice(shared_reader *reader, text_chunk *chunk, size_t most, tik_error *error)
{
    size_t take = most < reader->slice.length ? most : reader->slice.length;
    bool ends = reader->slice_ends_text && take == reader->slice.length;
    if ((take || ends) && !reader->in_text) {
        reader->in_text = true;
        reader->text++;
    }
    tik_status status;
    if (reader->feed->replace_invalid)
        status = append_replaced(reader, &chunk->bytes, reader->slice.data, take, false, error);
    else
        status = tik_bytes_append(&chunk->bytes, reader->slice.data, take, error);
    if (status != TIK_OK)
        return status;
    reader->slice.data += take;
    reader->slice.length -= take;
    reader->feed->bytes += take;
    reader->budget -= take < reader->budget ? take : reader->budget;
    if (!ends)
        return TIK_OK;
    reader->slice_ends_text = false;
    return end_text(reader, chunk, error);
}

/* Reads until the chunk has `size` bytes or the source is done; with `one_text`, until the text ends. */
static tik_status read_more(shared_reader *reader, text_chunk *chunk, size_t size, bool one_text, tik_error *error)
{
    tik_status status = TIK_OK;
    while (status == TIK_OK && chunk->bytes.length < size && !reader->done && !(one_text && !reader->in_text)) {
        status = next_slice(reader, error);
        if (status != TIK_OK)
            return status;
        if (reader->done)
            return reader->in_text ? end_text(reader, chunk, error) : TIK_OK;
        status = take_slice(reader, chunk, size - chunk->bytes.length, error);
    }
    return status;
}

/* Where the last text of the chunk begins. */
static size_t open_start(const text_chunk *chunk)
{
    return chunk->text_count ? chunk->text_ends[chunk->text_count - 1] : 0;
}

/* Where the open text at the end of the chunk can be cut; 0: nowhere near its end, or nobody knows. */
static size_t find_cut(const shared_reader *reader, const text_chunk *chunk)
{
    size_t start = open_start(chunk);
    size_t length = chunk->bytes.length - start;
    const uint8_t *text = (const uint8_t *)chunk->bytes.data + start;
    size_t reach = reader->chunk / CUT_PART;
    size_t low = length > reach ? length - reach : 0;
    while (low && !tik_utf8_is_start(text[low]))
        low--;
    /* What is not UTF-8 is found when the chunk is split; here it only ends the search. */
    size_t valid = low + tik_utf8_valid_prefix(text + low, length - low);
    size_t cut = valid > low ? tik_split_cut(reader->feed->splitter, text, valid, low, valid) : 0;
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

/* The open text at the end of the chunk will go out in links: takes it out again. */
static tik_status begin_chain(shared_reader *reader, text_chunk *chunk, tik_error *error)
{
    size_t start = open_start(chunk);
    reader->chain = true;
    reader->link_begin = 0;
    reader->offset = 0;
    reader->carry.length = 0;
    tik_status status = tik_bytes_append(&reader->carry, chunk->bytes.data + start, chunk->bytes.length - start,
                                         error);
    chunk->bytes.length = start;
    return status;
}

/* Keeps what the next link needs: what is behind `end`, and context before it. */
static tik_status end_link(shared_reader *reader, text_chunk *chunk, tik_error *error)
{
    size_t end = chunk->bytes.length - reader->chunk / TIK_FEED_OVERLAP_PART;
    while (!tik_utf8_is_start((uint8_t)chunk->bytes.data[end]) && end > chunk->begin + 1)
        end--;
    size_t kept = end > TIK_FEED_CONTEXT ? end - TIK_FEED_CONTEXT : 0;
    while (kept && !tik_utf8_is_start((uint8_t)chunk->bytes.data[kept]))
        kept--;
    chunk->end = end;
    reader->offset = chunk->offset + kept;
    reader->link_begin = end - kept;
    return tik_bytes_append(&reader->carry, chunk->bytes.data + kept, chunk->bytes.length - kept, error);
}

static tik_status next_link(shared_reader *reader, text_chunk *chunk, tik_error *error)
{
    chunk->link = true;
    chunk->link_number = reader->links++;
    chunk->first_text = reader->text - 1;
    chunk->offset = reader->offset;
    chunk->begin = reader->link_begin;
    chunk->first = reader->offset == 0 && chunk->begin == 0;
    chunk->text_count = 0;
    size_t size = chunk->begin + TIK_FEED_LINK_CHUNKS * reader->chunk + reader->chunk / TIK_FEED_OVERLAP_PART;
    tik_status status = read_more(reader, chunk, size, true, error);
    chunk->last = !reader->in_text;
    chunk->end = chunk->bytes.length;
    if (chunk->last)
        reader->chain = false;
    return status == TIK_OK && !chunk->last ? end_link(reader, chunk, error) : status;
}

tik_status tik_feed_next_chunk(shared_reader *reader, text_chunk *chunk, tik_error *error)
{
    chunk->bytes.length = 0;
    chunk->text_count = 0;
    chunk->link = false;
    chunk->unit = reader->feed->units++;
    chunk->first_text = reader->in_text ? reader->text - 1 : reader->text;
    chunk->offset = reader->in_text ? reader->offset : 0;
    tik_status status = report(reader, error);
    if (status == TIK_OK)
        status = tik_bytes_append(&chunk->bytes, reader->carry.data, reader->carry.length, error);
    reader->carry.length = 0;
    for (size_t size = reader->chunk; status == TIK_OK && !reader->chain; size *= 2) {
        status = read_more(reader, chunk, size, false, error);
        if (status != TIK_OK || !reader->in_text)
            return status;
        size_t cut = reader->cuts ? find_cut(reader, chunk) : 0;
        if (cut)
            return cut_chunk(reader, chunk, cut, error);
        if (!reader->cuts) {
            status = begin_chain(reader, chunk, error);
            if (status != TIK_OK || chunk->text_count)
                return status;
            status = tik_bytes_append(&chunk->bytes, reader->carry.data, reader->carry.length, error);
            reader->carry.length = 0;
        }
    }
    return status == TIK_OK ? next_link(reader, chunk, error) : status;
}

bool tik_feed_is_work_left(const shared_reader *reader)
{
    bool paused = reader->feed->max_pieces && reader->budget == 0;
    return !reader->stop && !paused && !(reader->done && reader->carry.length == 0 && !reader->in_text);
}
