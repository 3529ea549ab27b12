/* Where tokens and pieces lie in a text. */
#include "encode/encode.h"

/* The ids cover the text but for its gaps, each with the bytes of its token. */
static tik_status locate(const tik_encoder *encoder, const tik_ids *ids, size_t first, tik_sizes *offsets,
                         tik_error *error)
{
    const tik_sizes *gaps = &encoder->gaps;
    size_t gap = 0;
    size_t at = 0;
    tik_status status = tik_reserve_sizes(offsets, ids->length - first, error);
    for (size_t i = first; i < ids->length && status == TIK_OK; i++) {
        const char *bytes;
        size_t length;
        for (; gap < gaps->length && gaps->data[gap] == at; gap += 2)
            at = gaps->data[gap + 1];
        status = tik_token_bytes(encoder->encoding, ids->data[i], &bytes, &length, error);
        if (status == TIK_OK) {
            offsets->data[offsets->length++] = at;
            at += length;
        }
    }
    return status;
}

tik_status tik_encode_offsets(const tik_encoding *encoding, const char *text, size_t length,
                              const tik_options *options, tik_ids *ids, tik_sizes *offsets, tik_error *error)
{
    tik_encoder *encoder;
    size_t before = ids->length;
    size_t before_offsets = offsets->length;
    tik_status status = tik_encoder_borrow(encoding, &encoder, error);
    if (status != TIK_OK)
        return status;
    status = tik_encoder_encode(encoder, text, length, options, ids, error);
    if (status == TIK_OK)
        status = locate(encoder, ids, before, offsets, error);
    tik_encoder_return(encoder);
    if (status != TIK_OK) {
        ids->length = before;
        offsets->length = before_offsets;
    }
    return status;
}

tik_status tik_offsets_in_characters(const char *text, size_t length, tik_sizes *offsets, tik_error *error)
{
    const uint8_t *bytes = (const uint8_t *)text;
    size_t at = 0;
    size_t characters = 0; /* begun before `at` */
    for (size_t i = 0; i < offsets->length; i++)
        if (offsets->data[i] > length || (i > 0 && offsets->data[i] < offsets->data[i - 1]))
            return tik_fail(error, TIK_ERROR_ARGUMENT, "offset %zu (number %zu) is past the text or out of order",
                            offsets->data[i], i);
    for (size_t i = 0; i < offsets->length; i++) {
        for (; at < offsets->data[i]; at++)
            characters += tik_utf8_is_start(bytes[at]);
        bool inside = at < length && !tik_utf8_is_start(bytes[at]) && characters > 0;
        offsets->data[i] = characters - inside;
    }
    return TIK_OK;
}

tik_status tik_pieces(const tik_encoding *encoding, const char *text, size_t length, tik_sizes *ends,
                      tik_error *error)
{
    tik_encoder *encoder;
    const uint8_t *bytes = (const uint8_t *)text;
    size_t before = ends->length;
    size_t valid = tik_utf8_valid_prefix(bytes, length);
    if (valid < length)
        return tik_fail_utf8(error, bytes[valid], valid);
    tik_status status = tik_encoder_borrow(encoding, &encoder, error);
    if (status != TIK_OK)
        return status;
    for (size_t from = 0; from < length && status == TIK_OK;) {
        size_t count;
        size_t end;
        status = tik_split_next(encoding->splitter, encoder->state, bytes, length, from, false, encoder->ends,
                                TIK_ENDS, &count, &end, error);
        if (status == TIK_OK)
            status = tik_reserve_sizes(ends, count, error);
        if (status != TIK_OK)
            break;
        for (size_t i = 0; i + 1 < count; i++)
            ends->data[ends->length++] = from + (encoder->ends[i] & ~TIK_SPLIT_DROPPED);
        if (count > 0)
            ends->data[ends->length++] = end;
        from = end;
    }
    tik_encoder_return(encoder);
    if (status != TIK_OK)
        ends->length = before;
    return status;
}
