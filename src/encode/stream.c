/*
 * Texts that come in slices. The bytes taken in lie in a buffer until their ids are certain:
 *
 *     [ context | being split | not looked at: half a character, half a special token ]
 *       ^ segment  ^ from        ^ settled
 *
 * A piece, a character or a special token that may go on waits for more. When a stretch has given no
 * piece, it is looked at again only when it has doubled, so that a piece of any length costs linear time.
 *
 * With several threads some parts of a slice are gathered, each checked as it comes in, and then encoded at once.
 */
#include <stdlib.h>

#include "encode/batch.h"

/* A slice is taken in parts, so that the buffer need not hold all of it. */
#define PART ((size_t)1 << 18)

/* So many are gathered for each thread. */
#define PARTS_FOR_A_THREAD 8

struct tik_stream {
    tik_encoder *encoder;
    tik_policy policy;
    tik_bytes buffer;
    size_t segment;  /* in the buffer: look-behind sees nothing before it */
    size_t from;     /* where the next piece begins */
    size_t valid;    /* up to here the buffer is known to be UTF-8 */
    size_t searched; /* up to here no disallowed special token begins */
    size_t base;     /* bytes of the text before the buffer (after replacing) */
    size_t taken;    /* bytes of the text taken in, before replacing */
    size_t retry;    /* look at the stretch again when it is this long */
    size_t gather;   /* encode when so much has come in, or at the end of a slice */
    size_t count;
    bool failed;
};

tik_status tik_stream_new(const tik_encoding *encoding, const tik_options *options, tik_stream **out,
                          tik_error *error)
{
    tik_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return tik_fail_memory(error, sizeof *stream);
    tik_status status = tik_encoder_new(encoding, &stream->encoder, error);
    if (status == TIK_OK)
        status = tik_policy_init(&stream->policy, encoding, options, error);
    if (status == TIK_OK)
        status = tik_policy_keep(&stream->policy, error);
    stream->policy.limit = SIZE_MAX; /* it is the caller who stops */
    stream->policy.threads = tik_threads_for(stream->policy.threads, SIZE_MAX);
    stream->gather = stream->policy.threads > 1 ? stream->policy.threads * PARTS_FOR_A_THREAD * PART : 0;
    if (status != TIK_OK) {
        tik_stream_free(stream);
        return status;
    }
    *out = stream;
    return TIK_OK;
}

void tik_stream_free(tik_stream *stream)
{
    if (!stream)
        return;
    tik_policy_free(&stream->policy);
    tik_encoder_free(stream->encoder);
    tik_bytes_free(&stream->buffer);
    free(stream);
}

static uint8_t *text_of(tik_stream *stream)
{
    return (uint8_t *)stream->buffer.data;
}

/* Moves `valid` on: what is bad is refused or replaced; half a character at the end waits if there is more. */
static tik_status validate(tik_stream *stream, bool more, tik_error *error)
{
    size_t length = stream->buffer.length;
    stream->valid += tik_utf8_valid_prefix(text_of(stream) + stream->valid, length - stream->valid);
    if (stream->valid == length || (more && tik_utf8_may_finish(text_of(stream) + stream->valid, length - stream->valid)))
        return TIK_OK;
    if (!stream->policy.replace_invalid)
        return tik_fail_utf8(error, text_of(stream)[stream->valid], stream->taken - (length - stream->valid));
    return tik_utf8_repair(&stream->buffer, &stream->valid, more, error);
}

/* Up to where special tokens are decided: all that begin before it are whole. */
static size_t settle(const tik_stream *stream, const uint8_t *text, bool more)
{
    const tik_policy *policy = &stream->policy;
    size_t first = stream->from;
    size_t settled = stream->valid;
    if (more && policy->any_allowed)
        settled = first + tik_specials_unfinished(&stream->encoder->encoding->specials, text + first, settled - first);
    return policy->any_disallowed && stream->searched < settled ? stream->searched : settled;
}

/* Refuses a disallowed special token that begins before what may still become one. */
static tik_status search(tik_stream *stream, bool more, tik_error *error)
{
    const tik_policy *policy = &stream->policy;
    const uint8_t *text = text_of(stream);
    size_t first = stream->searched;
    size_t decided = stream->valid;
    if (!policy->any_disallowed)
        return TIK_OK;
    if (more)
        decided = first + tik_specials_unfinished(policy->forbidden, text + first, decided - first);
    size_t at;
    size_t index;
    if (tik_specials_find(policy->forbidden, policy->disallowed, text, stream->valid, first, &at, &index) &&
        at < decided)
        return tik_fail_special(error, &policy->forbidden->list[index], stream->base + at);
    if (decided > first)
        stream->searched = decided;
    return TIK_OK;
}

/* Checks what has come in. Of several faults the first is reported, however the text is sliced. */
static tik_status check(tik_stream *stream, bool more, tik_error *error)
{
    tik_status status = validate(stream, more, error);
    if (status == TIK_OK || status == TIK_ERROR_UTF8) {
        tik_status found = search(stream, status == TIK_OK && more, error);
        status = found == TIK_OK ? status : found;
    }
    return status;
}

/* Drops what is done, but for what look-behind may ask for, when it is half of the buffer. */
static void compact(tik_stream *stream)
{
    size_t behind = tik_split_lookbehind(stream->encoder->encoding->splitter);
    size_t gone = stream->from > behind ? stream->from - behind : 0;
    if (gone < stream->segment)
        gone = stream->segment;
    if (gone < stream->buffer.length / 2 || gone == 0)
        return;
    memmove(stream->buffer.data, stream->buffer.data + gone, stream->buffer.length - gone);
    stream->buffer.length -= gone;
    stream->base += gone;
    stream->segment = stream->segment > gone ? stream->segment - gone : 0;
    stream->from -= gone;
    stream->valid -= gone;
    stream->searched = stream->searched > gone ? stream->searched - gone : 0;
}

/* Encodes from `from` to `end` of the buffer. */
static tik_status stretch(tik_stream *stream, size_t end, bool more, tik_sink *sink, tik_error *error)
{
    size_t done;
    size_t segment = stream->segment;
    tik_status status = tik_encoder_stretch(stream->encoder, text_of(stream) + segment, end - segment,
                                            stream->from - segment, more, stream->base + segment, sink, &done, error);
    if (status != TIK_OK)
        return status;
    stream->retry = segment + done == stream->from ? (stream->valid - stream->from) * 2 : 0;
    stream->from = segment + done;
    return TIK_OK;
}

/* Encodes the most of what the buffer has on several threads, if that is worth it. */
static tik_status side_by_side(tik_stream *stream, size_t settled, tik_sink *sink, tik_error *error)
{
    const tik_encoding *encoding = stream->encoder->encoding;
    if (settled < stream->from || !tik_is_parallel(encoding, &stream->policy, settled - stream->from) ||
        tik_split_lookbehind(encoding->splitter) > 0)
        return TIK_OK;
    size_t done;
    tik_status status = tik_parallel_beginning(encoding, &stream->policy, text_of(stream) + stream->from,
                                               stream->valid - stream->from, settled - stream->from, sink, &done, error);
    if (status == TIK_OK && done > 0) {
        stream->segment = stream->from += done;
        stream->retry = 0;
    }
    return status;
}

/* Encodes what is certain of what the buffer has. */
static tik_status process(tik_stream *stream, bool more, tik_sink *sink, tik_error *error)
{
    const tik_specials *specials = &stream->encoder->encoding->specials;
    const tik_policy *policy = &stream->policy;
    if (more && stream->valid - stream->from < stream->retry)
        return TIK_OK;
    size_t settled = settle(stream, text_of(stream), more);
    tik_status status = side_by_side(stream, settled, sink, error);
    if (status != TIK_OK)
        return status;
    if (settled < stream->from)
        settled = stream->from;
    while (policy->any_allowed) {
        size_t at;
        size_t index;
        if (!tik_specials_find(specials, policy->allowed, text_of(stream), stream->valid, stream->from, &at, &index) ||
            at >= settled)
            break;
        status = stretch(stream, at, false, sink, error);
        if (status == TIK_OK && sink->ids)
            status = tik_reserve_ids(sink->ids, 1, error);
        if (status != TIK_OK)
            return status;
        if (sink->ids)
            sink->ids->data[sink->ids->length++] = specials->list[index].id;
        sink->count++;
        /* A special token ends a stretch: what comes after it does not look behind it. */
        stream->segment = stream->from = at + specials->list[index].length;
        stream->retry = 0;
        if (settled < stream->from)
            settled = stream->from;
    }
    if (settled > stream->from)
        status = stretch(stream, settled, more, sink, error);
    if (status == TIK_OK)
        compact(stream);
    return status;
}

static tik_status run(tik_stream *stream, const char *slice, size_t length, bool more, tik_ids *ids, tik_error *error)
{
    size_t before = ids ? ids->length : 0;
    tik_sink sink = {.ids = ids, .limit = SIZE_MAX};
    if (stream->failed)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "the stream has failed before: begin a new one");
    tik_status status = TIK_OK;
    size_t gathered = 0;
    do {
        size_t part = length < PART ? length : PART;
        status = tik_bytes_append(&stream->buffer, slice, part, error);
        slice += part;
        length -= part;
        stream->taken += part;
        gathered += part;
        bool goes_on = more || length > 0;
        if (status == TIK_OK)
            status = check(stream, goes_on, error);
        if (status == TIK_OK && (length == 0 || gathered >= stream->gather)) {
            status = process(stream, goes_on, &sink, error);
            gathered = 0;
        }
    } while (length > 0 && status == TIK_OK);
    stream->count += sink.count;
    stream->failed = status != TIK_OK;
    if (status != TIK_OK && ids)
        ids->length = before;
    return status;
}

/* A new text begins: what was said of the last one is forgotten. */
static void begin(tik_stream *stream)
{
    if (stream->taken > 0 || stream->buffer.length > 0)
        return;
    stream->count = 0;
    stream->encoder->dropped = 0;
    stream->encoder->gaps.length = 0;
}

tik_status tik_stream_feed(tik_stream *stream, const char *slice, size_t length, tik_ids *ids, tik_error *error)
{
    begin(stream);
    return length == 0 ? TIK_OK : run(stream, slice, length, true, ids, error);
}

tik_status tik_stream_finish(tik_stream *stream, tik_ids *ids, tik_error *error)
{
    begin(stream);
    tik_status status = stream->taken == 0 ? TIK_OK : run(stream, "", 0, false, ids, error);
    stream->buffer.length = 0;
    stream->segment = stream->from = stream->valid = stream->searched = stream->base = stream->taken = stream->retry = 0;
    stream->failed = false;
    return status;
}

size_t tik_stream_count(const tik_stream *stream)
{
    return stream->count;
}

size_t tik_stream_pending(const tik_stream *stream)
{
    return stream->buffer.length - stream->from;
}

size_t tik_stream_dropped(const tik_stream *stream)
{
    return stream->encoder->dropped;
}
