/* Ids → bytes, and bytes → text as Python's error handlers do it. */
#include <stdlib.h>

#include "encode/encode.h"

/* Tokens are copied in blocks of this many bytes; longer ones take more blocks. */
#define COPY 16
_Static_assert(COPY <= TIK_VOCAB_PADDING, "a block may be read at the end of any token");

static tik_status unknown(const tik_encoding *encoding, uint32_t id, size_t at, tik_error *error)
{
    return tik_fail_at(error, TIK_ERROR_ID, TIK_NOWHERE, at,
                       "%s has no token of id %u (number %zu of the ids, from 0): its largest id is %u",
                       encoding->name, (unsigned)id, at, (unsigned)encoding->largest_id);
}

/* Appends the bytes of the ids. */
static tik_status append_bytes(const tik_encoding *encoding, const uint32_t *ids, size_t count, tik_bytes *bytes,
                               tik_error *error)
{
    const tik_vocab *vocab = &encoding->vocab;
    for (size_t i = 0; i < count; i++) {
        uint32_t index = vocab->dense && ids[i] < vocab->count ? ids[i] : tik_vocab_index(vocab, ids[i]);
        tik_status status;
        if (TIK_LIKELY(index != TIK_NONE)) {
            size_t length = tik_vocab_length(vocab, index);
            const uint8_t *token = vocab->bytes + vocab->starts[index];
            if (TIK_UNLIKELY(bytes->capacity - bytes->length < length + COPY)) {
                status = tik_reserve_bytes(bytes, length + COPY, error);
                if (status != TIK_OK)
                    return status;
            }
            char *out = bytes->data + bytes->length;
            memcpy(out, token, COPY);
            if (TIK_UNLIKELY(length > COPY))
                memcpy(out + COPY, token + COPY, length - COPY);
            bytes->length += length;
            continue;
        }
        const char *text;
        size_t length;
        if (tik_token_bytes(encoding, ids[i], &text, &length, NULL) != TIK_OK)
            return unknown(encoding, ids[i], i, error);
        status = tik_bytes_append(bytes, text, length, error);
        if (status != TIK_OK)
            return status;
    }
    return TIK_OK;
}

/* Makes the text from `start` on what `mode` asks for. */
static tik_status make_text(tik_bytes *bytes, size_t start, tik_decoding mode, tik_error *error)
{
    uint8_t *text = (uint8_t *)bytes->data + start;
    size_t length = bytes->length - start;
    size_t valid = mode == TIK_DECODE_BYTES ? length : tik_utf8_valid_prefix(text, length);
    if (valid == length)
        return TIK_OK;
    if (mode == TIK_DECODE_STRICT)
        return tik_fail_at(error, TIK_ERROR_UTF8, TIK_NOWHERE, valid,
                           "the decoded bytes are not UTF-8: byte 0x%02X at offset %zu", text[valid], valid);
    tik_bytes good = TIK_BYTES_INIT;
    tik_status status = TIK_OK;
    if (mode == TIK_DECODE_REPLACE)
        status = tik_utf8_replace(text, length, &good, error);
    else
        for (size_t at = 0; at < length && status == TIK_OK;) {
            size_t some = tik_utf8_valid_prefix(text + at, length - at);
            status = tik_bytes_append(&good, text + at, some, error);
            at += some;
            at += at < length ? tik_utf8_bad_length(text + at, length - at) : 0;
        }
    if (status == TIK_OK) {
        bytes->length = start;
        status = tik_bytes_append(bytes, good.data, good.length, error);
    }
    tik_bytes_free(&good);
    return status;
}

static tik_status check_mode(tik_decoding mode, tik_error *error)
{
    return (unsigned)mode <= TIK_DECODE_IGNORE
               ? TIK_OK
               : tik_fail(error, TIK_ERROR_ARGUMENT, "%d is no way of decoding: see tik_decoding", (int)mode);
}

tik_status tik_decode(const tik_encoding *encoding, const uint32_t *ids, size_t count, tik_decoding mode,
                      tik_bytes *bytes, tik_error *error)
{
    size_t before = bytes->length;
    tik_status status = check_mode(mode, error);
    if (status == TIK_OK)
        status = append_bytes(encoding, ids, count, bytes, error);
    if (status == TIK_OK)
        status = make_text(bytes, before, mode, error);
    if (status != TIK_OK)
        bytes->length = before;
    return status;
}

tik_status tik_decode_offsets(const tik_encoding *encoding, const uint32_t *ids, size_t count, tik_bytes *text,
                              tik_sizes *offsets, tik_error *error)
{
    size_t before = text->length;
    size_t before_offsets = offsets->length;
    tik_status status = tik_decode(encoding, ids, count, TIK_DECODE_STRICT, text, error);
    if (status == TIK_OK)
        status = tik_reserve_sizes(offsets, count, error);
    size_t characters = 0;
    for (size_t i = 0; i < count && status == TIK_OK; i++) {
        const char *bytes;
        size_t length;
        status = tik_token_bytes(encoding, ids[i], &bytes, &length, error);
        if (status != TIK_OK)
            break;
        bool begins_inside = !tik_utf8_is_start((uint8_t)bytes[0]) && characters > 0;
        offsets->data[offsets->length++] = characters - begins_inside;
        for (size_t b = 0; b < length; b++)
            characters += tik_utf8_is_start((uint8_t)bytes[b]);
    }
    if (status != TIK_OK) {
        text->length = before;
        offsets->length = before_offsets;
    }
    return status;
}

/* ---- Streaming ----------------------------------------------------------------------------- */

struct tik_decoder {
    const tik_encoding *encoding;
    tik_decoding mode;
    tik_bytes held; /* the beginning of a character that is not finished */
    size_t position; /* ids taken in */
};

tik_status tik_decoder_new(const tik_encoding *encoding, tik_decoding mode, tik_decoder **out, tik_error *error)
{
    tik_status status = check_mode(mode, error);
    if (status != TIK_OK)
        return status;
    tik_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder)
        return tik_fail_memory(error, sizeof *decoder);
    decoder->encoding = tik_retain((tik_encoding *)(uintptr_t)encoding);
    decoder->mode = mode;
    *out = decoder;
    return TIK_OK;
}

void tik_decoder_free(tik_decoder *decoder)
{
    if (!decoder)
        return;
    tik_bytes_free(&decoder->held);
    tik_close((tik_encoding *)(uintptr_t)decoder->encoding);
    free(decoder);
}

tik_status tik_decoder_feed(tik_decoder *decoder, const uint32_t *ids, size_t count, tik_bytes *text,
                            tik_error *error)
{
    size_t before = text->length;
    tik_status status = tik_bytes_append(text, decoder->held.data, decoder->held.length, error);
    if (status == TIK_OK)
        status = append_bytes(decoder->encoding, ids, count, text, error);
    if (status == TIK_ERROR_ID && error)
        error->offset += decoder->position;
    if (status != TIK_OK) {
        text->length = before;
        return status;
    }
    /* What could be the beginning of a character waits: up to three bytes. */
    size_t held = 0;
    if (decoder->mode != TIK_DECODE_BYTES) {
        const uint8_t *bytes = (const uint8_t *)text->data + before;
        size_t length = text->length - before;
        for (size_t back = 1; back <= 3 && back <= length; back++)
            if (tik_utf8_may_finish(bytes + length - back, back)) {
                held = back;
                break;
            }
    }
    uint8_t waiting[4];
    if (held)
        memcpy(waiting, text->data + text->length - held, held);
    text->length -= held;
    status = make_text(text, before, decoder->mode, error);
    if (status == TIK_OK) {
        decoder->held.length = 0;
        status = tik_bytes_append(&decoder->held, waiting, held, error);
    }
    if (status != TIK_OK)
        text->length = before;
    else
        decoder->position += count;
    return status;
}

tik_status tik_decoder_finish(tik_decoder *decoder, tik_bytes *text, tik_error *error)
{
    size_t before = text->length;
    tik_status status = tik_bytes_append(text, decoder->held.data, decoder->held.length, error);
    if (status == TIK_OK)
        status = make_text(text, before, decoder->mode, error);
    if (status != TIK_OK)
        text->length = before;
    decoder->held.length = 0;
    decoder->position = 0;
    return status;
}
