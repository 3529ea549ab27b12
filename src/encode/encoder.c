/*
 * The way of a text: what of it is special, what is left out, and pieces from the splitter, a batch at a
 * time, whose ids pieces.c finds.
 */
#include <stdlib.h>

#include "encode/batch.h"
#include "encode/encode.h"
#include "encode/pieces.h"

static tik_status drop(tik_encoder *encoder, size_t from, size_t to, tik_error *error)
{
    tik_status status = tik_reserve_sizes(&encoder->gaps, 2, error);
    if (status != TIK_OK)
        return status;
    encoder->gaps.data[encoder->gaps.length++] = from;
    encoder->gaps.data[encoder->gaps.length++] = to;
    encoder->dropped += to - from;
    return TIK_OK;
}

/* A batch in which some pieces are none: the runs between them, each by itself. */
static tik_status pieces_and_gaps(tik_encoder *encoder, const uint8_t *text, size_t room, uint32_t *ends,
                                  size_t count, size_t base, tik_sink *sink, tik_error *error)
{
    size_t start = 0;
    size_t first = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(ends[i] & TIK_SPLIT_DROPPED))
            continue;
        ends[i] &= ~TIK_SPLIT_DROPPED;
        tik_status status = tik_encoder_pieces(encoder, text, room, start, ends + first, i - first, sink, error);
        size_t from = i > first ? ends[i - 1] : start;
        if (status == TIK_OK)
            status = drop(encoder, base + from, base + ends[i], error);
        if (status != TIK_OK)
            return status;
        start = ends[i];
        first = i + 1;
    }
    return tik_encoder_pieces(encoder, text, room, start, ends + first, count - first, sink, error);
}

/* Notes the last piece of a batch. */
static void note_last(tik_encoder *encoder, const uint32_t *ends, size_t count, size_t from, size_t end)
{
    while (count > 0 && ends[count - 1] & TIK_SPLIT_DROPPED)
        if (--count > 0)
            end = from + (ends[count - 1] & ~TIK_SPLIT_DROPPED);
    if (count == 0)
        return;
    encoder->last_start = count > 1 ? from + (ends[count - 2] & ~TIK_SPLIT_DROPPED) : from;
    encoder->last_end = end;
}

static tik_status batches(tik_encoder *encoder, const uint8_t *text, size_t length, size_t from, bool more,
                          size_t base, tik_sink *sink, size_t *done, tik_error *error)
{
    const tik_encoding *encoding = encoder->encoding;
    uint32_t *ends = encoder->ends;
    *done = from;
    while (from < length && sink->count <= sink->limit) {
        size_t count;
        size_t end;
        tik_status status = tik_split_next(encoding->splitter, encoder->state, text, length, from, more, ends,
                                           TIK_ENDS, &count, &end, error);
        if (status != TIK_OK)
            return status;
        if (count == 0)
            break;
        note_last(encoder, ends, count, base + from, base + end);
        if (end - from >= TIK_SPLIT_DROPPED && count == 1) {
            if (ends[0] & TIK_SPLIT_DROPPED)
                status = drop(encoder, base + from, base + end, error);
            else
                status = tik_encoder_pieces_long(encoder, text + from, end - from, sink, error);
        } else if (encoding->drops)
            status = pieces_and_gaps(encoder, text + from, length - from, ends, count, base + from, sink, error);
        else
            status = tik_encoder_pieces(encoder, text + from, length - from, 0, ends, count, sink, error);
        if (status != TIK_OK)
            return status;
        *done = from = end;
    }
    return TIK_OK;
}

tik_status tik_encoder_stretch(tik_encoder *encoder, const uint8_t *text, size_t length, size_t from, bool more,
                               size_t base, tik_sink *sink, size_t *done, tik_error *error)
{
    tik_status status = batches(encoder, text, length, from, more, base, sink, done, error);
    tik_status settled = tik_encoder_pieces_settle(encoder, sink, status == TIK_OK ? error : NULL);
    return status == TIK_OK ? settled : status;
}

/* All of a valid text: special tokens that are allowed, and the stretches between them. */
static tik_status stretches(tik_encoder *encoder, const tik_policy *policy, const uint8_t *text, size_t length,
                            tik_sink *sink, tik_error *error)
{
    const tik_specials *specials = &encoder->encoding->specials;
    size_t start = 0;
    for (;;) {
        size_t at = length;
        size_t index = 0;
        size_t done;
        bool found = policy->any_allowed &&
                     tik_specials_find(specials, policy->allowed, text, length, start, &at, &index);
        tik_status status = tik_encoder_stretch(encoder, text + start, at - start, 0, false, start, sink, &done, error);
        if (status != TIK_OK || !found || sink->count > sink->limit)
            return status;
        if (sink->ids) {
            status = tik_reserve_ids(sink->ids, 1, error);
            if (status != TIK_OK)
                return status;
            sink->ids->data[sink->ids->length++] = specials->list[index].id;
        }
        sink->count++;
        encoder->last_start = encoder->last_end = 0;
        start = at + specials->list[index].length;
    }
}

tik_status tik_encoder_text(tik_encoder *encoder, const tik_policy *policy, const uint8_t *text, size_t length,
                            tik_sink *sink, tik_error *error)
{
    size_t before = sink->ids ? sink->ids->length : 0;
    encoder->gaps.length = 0;
    encoder->dropped = 0;
    encoder->last_start = encoder->last_end = 0;
    size_t valid = tik_utf8_valid_prefix(text, length);
    if (valid < length) {
        if (!policy->replace_invalid)
            return tik_fail_utf8(error, text[valid], valid);
        encoder->replaced.length = 0;
        tik_status status = tik_utf8_replace(text, length, &encoder->replaced, error);
        if (status != TIK_OK)
            return status;
        text = (const uint8_t *)encoder->replaced.data;
        length = encoder->replaced.length;
    }
    tik_status status = tik_policy_check(policy, text, length, error);
    if (status == TIK_OK)
        status = tik_is_parallel(encoder->encoding, policy, length)
                     ? tik_parallel_text(encoder->encoding, policy, text, length, sink, error)
                     : stretches(encoder, policy, text, length, sink, error);
    if (status != TIK_OK && sink->ids)
        sink->ids->length = before;
    return status;
}

/* ---- Making, lending ----------------------------------------------------------------------- */

tik_status tik_encoder_make(const tik_encoding *encoding, tik_encoder **out, tik_error *error)
{
    tik_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder)
        return tik_fail_memory(error, sizeof *encoder);
    encoder->encoding = encoding;
    tik_status status = tik_memo_init(&encoder->memo, &encoding->vocab, error);
    if (status == TIK_OK)
        status = tik_split_state_new(encoding->splitter, &encoder->state, error);
    if (status != TIK_OK) {
        tik_encoder_free(encoder);
        return status;
    }
    *out = encoder;
    return TIK_OK;
}

tik_status tik_encoder_new(const tik_encoding *encoding, tik_encoder **out, tik_error *error)
{
    tik_status status = tik_encoder_make(encoding, out, error);
    if (status == TIK_OK) {
        (*out)->holds = true;
        tik_retain((tik_encoding *)(uintptr_t)encoding);
    }
    return status;
}

void tik_encoder_free(tik_encoder *encoder)
{
    if (!encoder)
        return;
    tik_memo_free(&encoder->memo);
    tik_split_state_free(encoder->state);
    tik_ids_free(&encoder->scratch);
    tik_bytes_free(&encoder->replaced);
    tik_sizes_free(&encoder->gaps);
    if (encoder->holds)
        tik_close((tik_encoding *)(uintptr_t)encoder->encoding);
    free(encoder);
}

tik_status tik_encoder_borrow(const tik_encoding *encoding, tik_encoder **out, tik_error *error)
{
    tik_encoding *lender = (tik_encoding *)(uintptr_t)encoding;
    for (size_t i = 0; i < TIK_SPARES; i++) {
        if (!atomic_load_explicit(&lender->spares[i], memory_order_relaxed))
            continue;
        *out = atomic_exchange_explicit(&lender->spares[i], NULL, memory_order_acquire);
        if (*out)
            return TIK_OK;
    }
    return tik_encoder_make(encoding, out, error);
}

void tik_encoder_return(tik_encoder *encoder)
{
    tik_encoding *lender = (tik_encoding *)(uintptr_t)encoder->encoding;
    for (size_t i = 0; i < TIK_SPARES; i++) {
        tik_encoder *none = NULL;
        if (atomic_compare_exchange_strong_explicit(&lender->spares[i], &none, encoder, memory_order_release,
                                                    memory_order_relaxed))
            return;
    }
    tik_encoder_free(encoder);
}

size_t tik_encoder_dropped(const tik_encoder *encoder)
{
    return encoder->dropped;
}

/* ---- Entry points -------------------------------------------------------------------------- */

tik_status tik_encoder_encode(tik_encoder *encoder, const char *text, size_t length, const tik_options *options,
                              tik_ids *ids, tik_error *error)
{
    tik_policy policy;
    tik_sink sink = {.ids = ids, .limit = SIZE_MAX};
    tik_status status = tik_policy_init(&policy, encoder->encoding, options, error);
    if (status != TIK_OK)
        return status;
    status = tik_encoder_text(encoder, &policy, (const uint8_t *)text, length, &sink, error);
    tik_policy_free(&policy);
    return status;
}

tik_status tik_encoder_count(tik_encoder *encoder, const char *text, size_t length, const tik_options *options,
                             size_t *count, tik_error *error)
{
    tik_policy policy;
    tik_status status = tik_policy_init(&policy, encoder->encoding, options, error);
    if (status != TIK_OK)
        return status;
    tik_sink sink = {.limit = policy.limit};
    status = tik_encoder_text(encoder, &policy, (const uint8_t *)text, length, &sink, error);
    tik_policy_free(&policy);
    if (status == TIK_OK)
        *count = sink.count;
    return status;
}

tik_status tik_encode(const tik_encoding *encoding, const char *text, size_t length, const tik_options *options,
                      tik_ids *ids, tik_error *error)
{
    tik_encoder *encoder;
    tik_status status = tik_encoder_borrow(encoding, &encoder, error);
    if (status != TIK_OK)
        return status;
    status = tik_encoder_encode(encoder, text, length, options, ids, error);
    tik_encoder_return(encoder);
    return status;
}

static const tik_options ordinary = TIK_OPTIONS_ORDINARY;

tik_status tik_encode_ordinary(const tik_encoding *encoding, const char *text, size_t length, tik_ids *ids,
                               tik_error *error)
{
    return tik_encode(encoding, text, length, &ordinary, ids, error);
}

tik_status tik_count_with(const tik_encoding *encoding, const char *text, size_t length, const tik_options *options,
                          size_t *count, tik_error *error)
{
    tik_encoder *encoder;
    tik_status status = tik_encoder_borrow(encoding, &encoder, error);
    if (status != TIK_OK)
        return status;
    status = tik_encoder_count(encoder, text, length, options, count, error);
    tik_encoder_return(encoder);
    return status;
}

tik_status tik_count(const tik_encoding *encoding, const char *text, size_t length, size_t *count, tik_error *error)
{
    return tik_count_with(encoding, text, length, &ordinary, count, error);
}

tik_status tik_encode_piece(const tik_encoding *encoding, const char *bytes, size_t length, tik_ids *ids,
                            tik_error *error)
{
    tik_encoder *encoder;
    tik_status status = tik_encoder_borrow(encoding, &encoder, error);
    if (status != TIK_OK)
        return status;
    size_t before = ids->length;
    status = tik_encoder_piece(encoder, (const uint8_t *)bytes, length, ids, error);
    if (status != TIK_OK)
        ids->length = before;
    tik_encoder_return(encoder);
    return status;
}
