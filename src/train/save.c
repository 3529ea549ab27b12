/*
 * What a trainer writes: the rank file and its manifest; and its state, to go on later without the texts.
 *
 * A state is a line of JSON (what the result depends on, and how much follows), the pairs merged so far,
 * the pieces, and the SHA-256 of all that in hex. Numbers are little-endian: 4 bytes for an id or a
 * length, 8 for a count.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fetch/fetch.h"
#include "train/trainer.h"
#include "vocab/ranks.h"

#define STATE_FORMAT "libtik training state 1"
#define SHA256_HEX 64

/* ---- Files ---------------------------------------------------------------------------------------- */

static tik_status io_failed(const char *what, const char *path, tik_error *error)
{
    return tik_fail(error, TIK_ERROR_IO, "cannot %s %s: %s", what, path, strerror(errno));
}

static bool write_all(int descriptor, const char *data, size_t length)
{
    while (length) {
        ssize_t written = write(descriptor, data, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        data += written;
        length -= (size_t)written;
    }
    return true;
}

/* Writes beside `path` and renames: the file is there whole or not at all. */
static tik_status write_file(const char *path, const tik_bytes *content, tik_error *error)
{
    tik_bytes beside = TIK_BYTES_INIT;
    tik_status status = tik_bytes_printf(&beside, error, "%s.%ld.part", path, (long)getpid());
    if (status != TIK_OK)
        return status;
    int descriptor = open(beside.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        status = io_failed("create", beside.data, error);
    } else {
        bool written = write_all(descriptor, content->data, content->length) && fsync(descriptor) == 0;
        if (!written)
            status = io_failed("write", beside.data, error);
        if (close(descriptor) != 0 && status == TIK_OK)
            status = io_failed("write", beside.data, error);
        if (status == TIK_OK && rename(beside.data, path) != 0)
            status = io_failed("rename to", path, error);
        if (status != TIK_OK)
            unlink(beside.data);
    }
    tik_bytes_free(&beside);
    return status;
}

static tik_status read_file(const char *path, tik_bytes *content, tik_error *error)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return io_failed("open", path, error);
    tik_status status = TIK_OK;
    ssize_t got = 1;
    while (status == TIK_OK && got != 0) {
        char buffer[1 << 16];
        got = read(descriptor, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            status = io_failed("read", path, error);
        else
            status = tik_bytes_append(content, buffer, (size_t)got, error);
    }
    close(descriptor);
    return status;
}

/* ---- Rank file and manifest ----------------------------------------------------------------------- */

tik_status tik_trainer_rank_file(const tik_trainer *trainer, tik_bytes *bytes, tik_error *error)
{
    const tik_fetch_api *api = tik_fetch(error);
    if (!api)
        return TIK_ERROR_MISSING;
    tik_token *tokens = tik_trainer_tokens(trainer);
    tik_ranks ranks;
    if (!tokens)
        return tik_fail_memory(error, trainer->lexicon.count * sizeof *tokens);
    tik_status status = tik_ranks_copy(tokens, trainer->lexicon.count, &ranks, error);
    free(tokens);
    if (status != TIK_OK)
        return status;
    status = tik_ranks_write(&ranks, api->base64_encode, bytes, error);
    tik_ranks_free(&ranks);
    return status;
}

static json_t *specials_object(const tik_special *specials, size_t count)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count && object; i++) {
        char *key = malloc(specials[i].length + 1);
        if (key) {
            memcpy(key, specials[i].text, specials[i].length);
            key[specials[i].length] = 0;
        }
        if (!key || json_object_set_new(object, key, json_integer(specials[i].id)) != 0) {
            json_decref(object);
            object = NULL;
        }
        free(key);
    }
    return object;
}

/* Appends JSON and a newline. The value is released. */
static tik_status append_json(json_t *value, size_t flags, tik_bytes *out, tik_error *error)
{
    char *text = value ? json_dumps(value, flags) : NULL;
    json_decref(value);
    if (!text)
        return tik_fail_memory(error, 0);
    tik_status status = tik_bytes_append(out, text, strlen(text), error);
    free(text);
    return status == TIK_OK ? tik_bytes_append(out, "\n", 1, error) : status;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static tik_status manifest(const tik_trainer *trainer, const char *rank_path, const char *sha256, tik_bytes *out,
                           tik_error *error)
{
    tik_special *specials;
    size_t count;
    tik_status status = tik_trainer_specials(trainer, &specials, &count, error);
    if (status != TIK_OK)
        return status;
    json_t *object = json_pack("{s:s, s:s%, s:s, s:s, s:o}", "name", trainer->name, "pattern", trainer->pattern,
                               trainer->pattern_length, "rank_file", file_name(rank_path), "sha256", sha256,
                               "special_tokens", specials_object(specials, count));
    free(specials);
    if (!object)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "cannot write the manifest: no memory, or the name %s is not UTF-8",
                        trainer->name);
    return append_json(object, JSON_INDENT(2), out, error);
}

tik_status tik_trainer_save(const tik_trainer *trainer, const char *rank_path, const char *manifest_path,
                            tik_error *error)
{
    char sha256[SHA256_HEX + 1];
    tik_bytes ranks = TIK_BYTES_INIT;
    tik_bytes description = TIK_BYTES_INIT;
    const tik_fetch_api *api = tik_fetch(error);
    if (!api)
        return TIK_ERROR_MISSING;
    tik_status status = tik_trainer_rank_file(trainer, &ranks, error);
    if (status == TIK_OK)
        status = api->sha256(ranks.data, ranks.length, sha256, error);
    if (status == TIK_OK && manifest_path)
        status = manifest(trainer, rank_path, sha256, &description, error);
    if (status == TIK_OK)
        status = write_file(rank_path, &ranks, error);
    if (status == TIK_OK && manifest_path)
        status = write_file(manifest_path, &description, error);
    tik_bytes_free(&ranks);
    tik_bytes_free(&description);
    return status;
}

/* ---- State ---------------------------------------------------------------------------------------- */

static tik_status append_number(tik_bytes *out, uint64_t number, size_t width, tik_error *error)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < width; i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
    return tik_bytes_append(out, bytes, width, error);
}

static uint64_t read_number(const char *at, size_t width)
{
    uint64_t number = 0;
    for (size_t i = 0; i < width; i++)
        number |= (uint64_t)(uint8_t)at[i] << 8 * i;
    return number;
}

/* What the result depends on; a state is of use only where this is the same. */
static json_t *conditions(const tik_trainer *trainer)
{
    return json_pack("{s:s%, s:i, s:I, s:I, s:s, s:I}", "pattern", trainer->pattern, trainer->pattern_length, "ties",
                     (int)trainer->rules.ties, "min_count", (json_int_t)trainer->rules.min_count, "max_token_length",
                     (json_int_t)trainer->rules.max_length, "start", trainer->start ? tik_name(trainer->start) : "",
                     "start_tokens", (json_int_t)(trainer->start ? tik_token_count(trainer->start) : 256));
}

static tik_status append_pieces(const tik_trainer *trainer, tik_bytes *out, size_t *count, tik_error *error)
{
    tik_status status = TIK_OK;
    size_t from = 0;
    *count = 0;
    for (;;) {
        size_t head = out->length;
        uint64_t weight = 0;
        status = append_number(out, 0, 8, error);
        if (status == TIK_OK)
            status = append_number(out, 0, 4, error);
        size_t start = out->length;
        if (status == TIK_OK)
            status = tik_learner_piece(trainer->learner, &from, out, &weight, error);
        if (status != TIK_OK)
            return status;
        if (weight == 0) {
            out->length = head;
            return TIK_OK;
        }
        size_t end = out->length;
        out->length = head;
        append_number(out, weight, 8, NULL);
        append_number(out, end - start, 4, NULL);
        out->length = end;
        ++*count;
    }
}

tik_status tik_trainer_save_state(const tik_trainer *trainer, const char *path, tik_error *error)
{
    const tik_fetch_api *api = tik_fetch(error);
    if (!api)
        return TIK_ERROR_MISSING;
    if (!trainer->learner)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "there is nothing to save before the first merge");
    tik_bytes body = TIK_BYTES_INIT;
    tik_bytes out = TIK_BYTES_INIT;
    size_t pieces = 0;
    tik_status status = TIK_OK;
    for (size_t i = 0; i < trainer->merge_count && status == TIK_OK; i++) {
        status = append_number(&body, trainer->merges[i].left, 4, error);
        if (status == TIK_OK)
            status = append_number(&body, trainer->merges[i].right, 4, error);
    }
    if (status == TIK_OK)
        status = append_pieces(trainer, &body, &pieces, error);
    if (status == TIK_OK)
        status = append_json(json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "format", STATE_FORMAT,
                                       "conditions", conditions(trainer), "merges", (json_int_t)trainer->merge_count,
                                       "pieces_with_pairs", (json_int_t)pieces, "distinct",
                                       (json_int_t)trainer->distinct, "alone", (json_int_t)trainer->alone, "bytes",
                                       (json_int_t)trainer->feed.bytes, "pieces", (json_int_t)trainer->feed.pieces,
                                       "dropped", (json_int_t)trainer->feed.dropped, "pruned",
                                       (json_int_t)trainer->feed.pruned),
                             JSON_COMPACT, &out, error);
    if (status == TIK_OK)
        status = tik_bytes_append(&out, body.data, body.length, error);
    tik_bytes_free(&body);
    char sha256[SHA256_HEX + 1];
    if (status == TIK_OK)
        status = api->sha256(out.data, out.length, sha256, error);
    if (status == TIK_OK)
        status = tik_bytes_append(&out, sha256, SHA256_HEX, error);
    if (status == TIK_OK)
        status = write_file(path, &out, error);
    tik_bytes_free(&out);
    return status;
}

/* The content of a state, checked as a whole; `*body` is where the line of JSON ends. */
static tik_status check_state(const char *path, const tik_bytes *state, json_t **head, size_t *body, tik_error *error)
{
    const tik_fetch_api *api = tik_fetch(error);
    if (!api)
        return TIK_ERROR_MISSING;
    char sha256[SHA256_HEX + 1];
    size_t length = state->length < SHA256_HEX ? 0 : state->length - SHA256_HEX;
    const char *newline = length ? memchr(state->data, '\n', length) : NULL;
    if (!newline)
        return tik_fail(error, TIK_ERROR_FORMAT, "%s is not a training state", path);
    tik_status status = api->sha256(state->data, length, sha256, error);
    if (status != TIK_OK)
        return status;
    if (memcmp(sha256, state->data + length, SHA256_HEX) != 0)
        return tik_fail(error, TIK_ERROR_FORMAT, "%s is not a training state, or is damaged: its SHA-256 is wrong",
                        path);
    *body = (size_t)(newline - state->data) + 1;
    *head = json_loadb(state->data, *body, JSON_ALLOW_NUL, NULL);
    const char *format = json_string_value(json_object_get(*head, "format"));
    if (!format || strcmp(format, STATE_FORMAT) != 0) {
        json_decref(*head);
        return tik_fail(error, TIK_ERROR_FORMAT, "%s is a training state of another version", path);
    }
    return TIK_OK;
}

static size_t head_number(const json_t *head, const char *key)
{
    json_int_t number = json_integer_value(json_object_get(head, key));
    return number > 0 ? (size_t)number : 0;
}

static tik_status load_pieces(tik_trainer *trainer, const json_t *head, const char *at, const char *end,
                              tik_error *error)
{
    tik_ids symbols = TIK_IDS_INIT;
    size_t pieces = head_number(head, "pieces_with_pairs");
    tik_status status = tik_trainer_begin(trainer, 0, 0, error);
    for (size_t i = 0; i < pieces && status == TIK_OK; i++) {
        if ((size_t)(end - at) < 12 || read_number(at + 8, 4) > (size_t)(end - at) - 12) {
            status = tik_fail(error, TIK_ERROR_FORMAT, "the training state ends within piece %zu", i);
            break;
        }
        size_t length = (size_t)read_number(at + 8, 4);
        status = tik_trainer_piece(trainer, (const uint8_t *)at + 12, length, read_number(at, 8), &symbols, error);
        at += 12 + length;
    }
    tik_ids_free(&symbols);
    /* Pieces of one symbol count among the tokens of the text, and have no pair. */
    const uint32_t any = 0;
    trainer->alone = head_number(head, "alone");
    if (status == TIK_OK)
        status = tik_learner_add(trainer->learner, &any, 1, trainer->alone, error);
    return status == TIK_OK ? tik_learner_start(trainer->learner, error) : status;
}

static tik_status repeat_merges(tik_trainer *trainer, const char *at, size_t count, tik_error *error)
{
    tik_status status = TIK_OK;
    for (size_t i = 0; i < count && status == TIK_OK; i++, at += 8) {
        status = tik_trainer_reserve_merge(trainer, error);
        if (status == TIK_OK)
            status = tik_learner_repeat(trainer->learner, (uint32_t)read_number(at, 4),
                                        (uint32_t)read_number(at + 4, 4), &trainer->merges[i], error);
        trainer->merge_count += status == TIK_OK;
    }
    return status;
}

static tik_status load(tik_trainer *trainer, const char *path, const tik_bytes *state, tik_error *error)
{
    json_t *head = NULL;
    size_t body = 0;
    tik_status status = check_state(path, state, &head, &body, error);
    if (status != TIK_OK)
        return status;
    json_t *wanted = conditions(trainer);
    size_t merges = head_number(head, "merges");
    const char *at = state->data + body;
    const char *end = state->data + state->length - SHA256_HEX;
    if (!wanted)
        status = tik_fail_memory(error, 0);
    else if (!json_equal(wanted, json_object_get(head, "conditions")))
        status = tik_fail(error, TIK_ERROR_ARGUMENT,
                          "%s was trained with another pattern, tie rule, bound or start: go on with the same options",
                          path);
    else if (merges > (size_t)(end - at) / 8)
        status = tik_fail(error, TIK_ERROR_FORMAT, "%s ends within its merges", path);
    else
        status = load_pieces(trainer, head, at + 8 * merges, end, error);
    if (status == TIK_OK) {
        trainer->distinct = head_number(head, "distinct");
        trainer->feed.bytes = head_number(head, "bytes");
        trainer->feed.pieces = head_number(head, "pieces");
        trainer->feed.dropped = head_number(head, "dropped");
        trainer->feed.pruned = head_number(head, "pruned");
        status = repeat_merges(trainer, at, merges, error);
    }
    json_decref(wanted);
    json_decref(head);
    return status;
}

tik_status tik_trainer_load_state(tik_trainer *trainer, const char *path, tik_error *error)
{
    if (trainer->learner || trainer->feed.bytes)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "a state can be loaded into a new trainer only");
    tik_bytes state = TIK_BYTES_INIT;
    tik_status status = read_file(path, &state, error);
    if (status == TIK_OK)
        status = load(trainer, path, &state, error);
    tik_bytes_free(&state);
    return status;
}
