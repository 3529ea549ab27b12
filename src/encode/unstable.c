/*
 * Texts that end in the middle: the ids that no continuation changes and the ways to go on; and raw
 * bytes, the end of which may be half a character.
 *
 * Both begin with the same question: how many of the last ids may still change? Those of the last piece,
 * and, if it begins with a token of white space, the tokens of white space before it, since such pieces
 * can flow together when more comes.
 */
#include <stdlib.h>

#include "encode/encode.h"
#include "unicode/unicode.h"

/* Whether the id is a token (no special one) of spaces, tabs and newlines only. */
static bool is_blank(const tik_vocab *vocab, uint32_t id)
{
    uint32_t index = tik_vocab_index(vocab, id);
    if (index == TIK_NONE)
        return false;
    for (size_t at = vocab->starts[index]; at < vocab->starts[index + 1]; at++)
        if (vocab->bytes[at] != ' ' && vocab->bytes[at] != '\n' && vocab->bytes[at] != '\t')
            return false;
    return true;
}

/* How many of the ids from `first` on, the ids of the encoder's last text, may still change. */
static tik_status unsettled(tik_encoder *encoder, const uint8_t *text, const tik_ids *ids, size_t first,
                            size_t *count, tik_error *error)
{
    const tik_vocab *vocab = &encoder->encoding->vocab;
    tik_ids *last = &encoder->scratch;
    last->length = 0;
    tik_status status = tik_encoder_piece(encoder, text + encoder->last_start,
                                          encoder->last_end - encoder->last_start, last, error);
    if (status != TIK_OK)
        return status;
    *count = last->length;
    if (*count > 0 && is_blank(vocab, ids->data[ids->length - *count]))
        while (*count < ids->length - first && is_blank(vocab, ids->data[ids->length - *count - 1]))
            ++*count;
    return TIK_OK;
}

tik_status tik_encode_bytes(const tik_encoding *encoding, const char *bytes, size_t length, tik_ids *ids,
                            tik_error *error)
{
    static const tik_options ordinary = TIK_OPTIONS_ORDINARY;
    const uint8_t *text = (const uint8_t *)bytes;
    size_t before = ids->length;
    size_t valid = tik_utf8_valid_prefix(text, length);
    tik_encoder *encoder;
    tik_bytes rest = TIK_BYTES_INIT;
    size_t count = 0;
    tik_status status = tik_encoder_borrow(encoding, &encoder, error);
    if (status != TIK_OK)
        return status;
    status = tik_encoder_encode(encoder, bytes, valid, &ordinary, ids, error);
    if (status == TIK_OK && valid < length) {
        status = unsettled(encoder, text, ids, before, &count, error);
        if (status == TIK_OK)
            status = tik_decode(encoding, ids->data + ids->length - count, count, TIK_DECODE_BYTES, &rest, error);
        if (status == TIK_OK)
            status = tik_bytes_append(&rest, text + valid, length - valid, error);
        if (status == TIK_OK) {
            ids->length -= count;
            status = tik_encoder_piece(encoder, (const uint8_t *)rest.data, rest.length, ids, error);
        }
    }
    tik_bytes_free(&rest);
    tik_encoder_return(encoder);
    if (status != TIK_OK)
        ids->length = before;
    return status;
}

/* ---- Completions --------------------------------------------------------------------------- */

/* The sequences found so far, with repetitions. */
typedef struct completions {
    tik_encoder *encoder;
    const uint8_t *open; /* the bytes that `stable` does not cover */
    size_t open_length;
    tik_ids ids;
    tik_sizes starts;
    tik_bytes trial; /* bytes being tried */
    tik_ids tried;   /* what they come to */
    tik_error *error;
} completions;

/* Takes the sequence made of all ids since the last one. */
static tik_status close_sequence(completions *c)
{
    tik_status status = tik_reserve_sizes(&c->starts, 1, c->error);
    if (status == TIK_OK)
        c->starts.data[c->starts.length++] = c->ids.length;
    return status;
}

static tik_status add_id(completions *c, uint32_t id)
{
    tik_status status = tik_reserve_ids(&c->ids, 1, c->error);
    if (status == TIK_OK)
        c->ids.data[c->ids.length++] = id;
    return status;
}

/* Appends what merging the bytes gives, without looking the whole up. */
static tik_status merge_only(completions *c, const uint8_t *bytes, size_t length, tik_ids *ids)
{
    const tik_vocab *vocab = &c->encoder->encoding->vocab;
    size_t before = ids->length;
    tik_status status = tik_merge_long(vocab, bytes, length, ids, c->error);
    for (size_t i = before; i < ids->length; i++)
        ids->data[i] = vocab->ranks[ids->data[i]];
    return status;
}

/* Encodes the trial and takes its ids until they cover the open bytes. */
static tik_status take_trial(completions *c)
{
    const tik_vocab *vocab = &c->encoder->encoding->vocab;
    const uint8_t *bytes = (const uint8_t *)c->trial.data;
    tik_status status;
    c->tried.length = 0;
    if (tik_utf8_valid_prefix(bytes, c->trial.length) == c->trial.length) {
        tik_sink sink = {.ids = &c->tried, .limit = SIZE_MAX};
        size_t done;
        status = tik_encoder_stretch(c->encoder, bytes, c->trial.length, 0, false, 0, &sink, &done, c->error);
    } else
        status = merge_only(c, bytes, c->trial.length, &c->tried);
    size_t covered = 0;
    for (size_t i = 0; i < c->tried.length && status == TIK_OK && covered < c->open_length; i++) {
        status = add_id(c, c->tried.data[i]);
        covered += tik_vocab_length(vocab, tik_vocab_index(vocab, c->tried.data[i]));
    }
    return status == TIK_OK ? close_sequence(c) : status;
}

/* The first place in the sorted tokens that is not before `bytes`. */
static size_t lower_bound(const tik_vocab *vocab, const uint8_t *bytes, size_t length)
{
    size_t low = 0;
    size_t high = vocab->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint32_t index = vocab->sorted[middle];
        size_t token_length = tik_vocab_length(vocab, index);
        int order = memcmp(vocab->bytes + vocab->starts[index], bytes, token_length < length ? token_length : length);
        if (order < 0 || (order == 0 && token_length < length))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Every token that begins with what follows the first `prefix` open bytes, put after those. */
static tik_status try_from(completions *c, size_t prefix)
{
    const tik_vocab *vocab = &c->encoder->encoding->vocab;
    const uint8_t *rest = c->open + prefix;
    size_t rest_length = c->open_length - prefix;
    tik_status status = TIK_OK;
    for (size_t at = lower_bound(vocab, rest, rest_length); at < vocab->count && status == TIK_OK; at++) {
        uint32_t index = vocab->sorted[at];
        const uint8_t *token = vocab->bytes + vocab->starts[index];
        size_t length = tik_vocab_length(vocab, index);
        if (length < rest_length || memcmp(token, rest, rest_length) != 0)
            break;
        if (prefix == 0) {
            status = add_id(c, vocab->ranks[index]);
            if (status == TIK_OK)
                status = close_sequence(c);
            continue;
        }
        c->trial.length = 0;
        status = tik_bytes_append(&c->trial, c->open, prefix, c->error);
        if (status == TIK_OK)
            status = tik_bytes_append(&c->trial, token, length, c->error);
        if (status == TIK_OK)
            status = take_trial(c);
    }
    return status;
}

/* Open bytes that end in white space may be split before it once something follows. */
static tik_status try_split(completions *c)
{
    size_t last = c->open_length - 1;
    size_t length;
    while (last > 0 && c->open_length - last < 4 && !tik_utf8_is_start(c->open[last]))
        last--;
    if (last == 0 || tik_utf8_valid_prefix(c->open + last, c->open_length - last) != c->open_length - last ||
        tik_unicode_class(tik_utf8_decode(c->open + last, &length)) != TIK_CLASS_SPACE ||
        last + length != c->open_length)
        return TIK_OK;
    tik_status status = merge_only(c, c->open, last, &c->ids);
    if (status == TIK_OK)
        status = merge_only(c, c->open + last, length, &c->ids);
    return status == TIK_OK ? close_sequence(c) : status;
}

static bool sequence_before(const void *context, uint32_t a, uint32_t b)
{
    const completions *c = context;
    size_t i = c->starts.data[a];
    size_t j = c->starts.data[b];
    for (; i < c->starts.data[a + 1] && j < c->starts.data[b + 1]; i++, j++)
        if (c->ids.data[i] != c->ids.data[j])
            return c->ids.data[i] < c->ids.data[j];
    return i == c->starts.data[a + 1] && j < c->starts.data[b + 1];
}

/* Gives the sequences out sorted, each once. */
static tik_status give_out(const completions *c, tik_ids *ids, tik_sizes *starts, tik_error *error)
{
    size_t count = c->starts.length - 1;
    if (count > UINT32_MAX)
        return tik_fail(error, TIK_ERROR_LIMIT, "too many completions: %zu", count);
    uint32_t *order = malloc((count + 1) * sizeof *order);
    if (!order)
        return tik_fail_memory(error, (count + 1) * sizeof *order);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    tik_sort(order, count, sequence_before, c);
    tik_status status = tik_reserve_ids(ids, c->ids.length, error);
    if (status == TIK_OK)
        status = tik_reserve_sizes(starts, count + 1, error);
    for (size_t i = 0; i < count && status == TIK_OK; i++) {
        size_t from = c->starts.data[order[i]];
        size_t length = c->starts.data[order[i] + 1] - from;
        if (i > 0 && !sequence_before(c, order[i - 1], order[i]))
            continue;
        starts->data[starts->length++] = ids->length;
        memcpy(ids->data + ids->length, c->ids.data + from, length * sizeof *ids->data);
        ids->length += length;
    }
    if (status == TIK_OK)
        starts->data[starts->length++] = ids->length;
    free(order);
    return status;
}

tik_status tik_encode_unstable(const tik_encoding *encoding, const char *text, size_t length,
                               const tik_options *options, tik_ids *stable, tik_ids *sequences, tik_sizes *starts,
                               tik_error *error)
{
    tik_bytes open = TIK_BYTES_INIT;
    completions c = {.error = error};
    size_t before[3] = {stable->length, sequences->length, starts->length};
    size_t count = 0;
    tik_options alone; /* the encoder must have met the last piece itself */
    if (options && options->size == sizeof alone) {
        alone = *options;
        alone.threads = 1;
        options = &alone;
    }
    tik_status status = tik_encoder_borrow(encoding, &c.encoder, error);
    if (status != TIK_OK)
        return status;
    status = tik_encoder_encode(c.encoder, text, length, options, stable, error);
    if (status == TIK_OK) {
        bool replaced = tik_utf8_valid_prefix((const uint8_t *)text, length) < length;
        const uint8_t *encoded = replaced ? (const uint8_t *)c.encoder->replaced.data : (const uint8_t *)text;
        status = unsettled(c.encoder, encoded, stable, before[0], &count, error);
    }
    if (status == TIK_OK)
        status = tik_decode(encoding, stable->data + stable->length - count, count, TIK_DECODE_BYTES, &open, error);
    if (status == TIK_OK)
        status = close_sequence(&c);
    if (status == TIK_OK) {
        stable->length -= count;
        c.open = (const uint8_t *)open.data;
        c.open_length = open.length;
    }
    for (size_t prefix = 0; prefix < open.length && status == TIK_OK; prefix++)
        status = try_from(&c, prefix);
    if (status == TIK_OK && open.length > 1)
        status = try_split(&c);
    if (status == TIK_OK)
        status = give_out(&c, sequences, starts, error);
    if (status != TIK_OK) {
        stable->length = before[0];
        sequences->length = before[1];
        starts->length = before[2];
    }
    tik_encoder_return(c.encoder);
    tik_ids_free(&c.ids);
    tik_ids_free(&c.tried);
    tik_sizes_free(&c.starts);
    tik_bytes_free(&c.trial);
    tik_bytes_free(&open);
    return status;
}
