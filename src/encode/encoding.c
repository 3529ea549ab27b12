/* Opening encodings, and what they say of themselves. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "encode/encode.h"
#include "fetch/fetch.h"

/* ---- Making -------------------------------------------------------------------------------- */

/*
 * A special token must not have the id or the bytes of a token. Two may share an id, as <|endofprompt|> and
 * <|reserved_200018|> of o200k_harmony do; the id's bytes are those of the first in order of text.
 */
static tik_status check_specials(const tik_encoding *encoding, tik_error *error)
{
    const tik_specials *specials = &encoding->specials;
    for (size_t i = 0; i < specials->count; i++) {
        const tik_special *special = &specials->list[i];
        int shown = (int)(special->length < 100 ? special->length : 100);
        if (special->length == 0)
            return tik_fail(error, TIK_ERROR_FORMAT, "the special token of id %u is empty", (unsigned)special->id);
        if (special->id > INT32_MAX)
            return tik_fail(error, TIK_ERROR_FORMAT, "the id of the special token '%.*s' is past 2147483647", shown,
                            special->text);
        if (tik_vocab_index(&encoding->vocab, special->id) != TIK_NONE)
            return tik_fail(error, TIK_ERROR_FORMAT,
                            "the id %u of the special token '%.*s' is that of a token in the rank file",
                            (unsigned)special->id, shown, special->text);
        if (tik_vocab_find(&encoding->vocab, (const uint8_t *)special->text, special->length) != TIK_NONE)
            return tik_fail(error, TIK_ERROR_FORMAT, "the special token '%.*s' is a token of the rank file too", shown,
                            special->text);
    }
    return TIK_OK;
}

static tik_status check_size(const tik_encoding *encoding, size_t size, tik_error *error)
{
    size_t total = (size_t)encoding->vocab.count + encoding->specials.count;
    if (size == 0 || (total == size && encoding->largest_id == size - 1))
        return TIK_OK;
    return tik_fail(error, TIK_ERROR_FORMAT,
                    "the vocabulary has %zu tokens and special tokens and the largest id %u, but its size is given "
                    "as %zu",
                    total, (unsigned)encoding->largest_id, size);
}

static tik_status assemble(tik_encoding *encoding, const tik_manifest *data, const void *tables, size_t size,
                           tik_error *error)
{
    tik_status status = tik_vocab_attach(tables, size, &encoding->vocab, error);
    if (status != TIK_OK)
        return status;
    status = tik_specials_init(&encoding->specials, data->specials, data->special_count, error);
    if (status != TIK_OK)
        return status;
    encoding->largest_id = encoding->vocab.largest_rank;
    if (data->special_count && data->specials[data->special_count - 1].id > encoding->largest_id)
        encoding->largest_id = data->specials[data->special_count - 1].id;
    status = check_specials(encoding, error);
    if (status == TIK_OK)
        status = check_size(encoding, data->explicit_vocab_size, error);
    if (status == TIK_OK)
        status = tik_splitter_new(data->pattern, data->pattern_length, &encoding->splitter, error);
    if (status == TIK_OK)
        encoding->drops = strcmp(tik_splitter_engine(encoding->splitter), "pcre2") == 0;
    return status;
}

tik_status tik_encoding_make(const tik_manifest *data, const void *tables, size_t size, void *own_tables,
                             tik_manifest *own_manifest, tik_encoding **out, tik_error *error)
{
    tik_encoding *encoding = calloc(1, sizeof *encoding);
    if (!encoding)
        return tik_fail_memory(error, sizeof *encoding);
    atomic_init(&encoding->references, 1);
    for (size_t i = 0; i < TIK_SPARES; i++)
        atomic_init(&encoding->spares[i], NULL);
    encoding->name = data->name;
    encoding->pattern = data->pattern;
    encoding->pattern_length = data->pattern_length;
    tik_status status = assemble(encoding, data, tables, size, error);
    if (status != TIK_OK) {
        tik_close(encoding);
        return status;
    }
    encoding->tables = own_tables;
    encoding->manifest = own_manifest;
    *out = encoding;
    return TIK_OK;
}

tik_encoding *tik_retain(tik_encoding *encoding)
{
    atomic_fetch_add_explicit(&encoding->references, 1, memory_order_relaxed);
    return encoding;
}

void tik_close(tik_encoding *encoding)
{
    if (!encoding || atomic_fetch_sub_explicit(&encoding->references, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < TIK_SPARES; i++)
        tik_encoder_free(atomic_load_explicit(&encoding->spares[i], memory_order_acquire));
    tik_splitter_free(encoding->splitter);
    tik_specials_free(&encoding->specials);
    tik_manifest_free(encoding->manifest);
    free(encoding->tables);
    free(encoding);
}

/* ---- Rank files ---------------------------------------------------------------------------- */

tik_status tik_read_file(const char *path, tik_bytes *data, tik_error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return tik_fail(error, TIK_ERROR_IO, "%.300s: %s", path, strerror(errno));
    tik_status status = TIK_OK;
    size_t before = data->length;
    for (;;) {
        void *array = data->data;
        status = tik_grow(&array, &data->capacity, data->length + 65536, 1, error);
        data->data = array;
        if (status != TIK_OK)
            break;
        ssize_t got = read(file, data->data + data->length, data->capacity - data->length);
        if (got == 0)
            break;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            status = tik_fail(error, TIK_ERROR_IO, "%.300s: %s", path, strerror(errno));
            break;
        }
        data->length += (size_t)got;
    }
    close(file);
    if (status != TIK_OK)
        data->length = before;
    return status;
}

/* The rank file's bytes: beside the manifest (`beside`, NULL for none), else cached or downloaded. */
static tik_status find_ranks(const tik_manifest *data, const char *beside, tik_bytes *file, tik_error *error)
{
    const tik_fetch_api *api = tik_fetch(error);
    if (!api)
        return TIK_ERROR_MISSING;
    if (beside && access(beside, F_OK) == 0) {
        char hex[65];
        tik_status status = tik_read_file(beside, file, error);
        if (status != TIK_OK || !data->sha256)
            return status;
        status = api->sha256(file->data, file->length, hex, error);
        if (status == TIK_OK && strcmp(hex, data->sha256) != 0)
            status = tik_fail(error, TIK_ERROR_HASH,
                              "%.200s: its SHA-256 is %s, the manifest says %s: get the file again, or mend the "
                              "manifest",
                              beside, hex, data->sha256);
        return status;
    }
    if (!data->url)
        return tik_fail(error, TIK_ERROR_IO, "%.200s: there is no such rank file, and the manifest gives no url",
                        beside ? beside : data->rank_file);
    tik_fetch_request request = {.name = data->name, .url = data->url, .sha256 = data->sha256};
    return api->obtain(&request, file, error);
}

/* Reads, lays out and makes an encoding; takes `own` over on success. */
static tik_status open_ranks(const tik_manifest *data, const char *beside, tik_manifest *own, tik_encoding **out,
                             tik_error *error)
{
    tik_bytes file = TIK_BYTES_INIT;
    tik_ranks ranks = {0};
    void *tables = NULL;
    size_t size = 0;
    tik_status status = find_ranks(data, beside, &file, error);
    if (status == TIK_OK)
        status = tik_ranks_parse(file.data, file.length, beside ? beside : data->rank_file,
                                 tik_fetch(NULL)->base64_decode, &ranks, error);
    tik_bytes_free(&file);
    if (status == TIK_OK)
        status = tik_vocab_layout(&ranks, &tables, &size, error);
    tik_ranks_free(&ranks);
    if (status == TIK_OK)
        status = tik_encoding_make(data, tables, size, tables, own, out, error);
    if (status != TIK_OK)
        free(tables);
    return status;
}

/* ---- Opening ------------------------------------------------------------------------------- */

tik_status tik_open(const char *name, tik_encoding **encoding, tik_error *error)
{
    const tik_manifest *data;
    const void *tables;
    size_t size;
    tik_status status = tik_registry_find(name, &data, error);
    if (status != TIK_OK)
        return status;
    if (tik_vocab_embedded(data->sha256, &tables, &size))
        return tik_encoding_make(data, tables, size, NULL, NULL, encoding, error);
    return open_ranks(data, NULL, NULL, encoding, error);
}

tik_status tik_open_model(const char *model, tik_encoding **encoding, tik_error *error)
{
    const char *name;
    tik_status status = tik_encoding_for_model(model, &name, error);
    return status == TIK_OK ? tik_open(name, encoding, error) : status;
}

/* The pattern's fault is in that file. */
static void name_manifest(tik_error *error, const char *path)
{
    char message[sizeof error->message];
    memcpy(message, error->message, sizeof message);
    tik_fail_at(error, error->status, error->line, error->offset, "%.200s: %s", path, message);
}

tik_status tik_open_manifest(const char *path, tik_encoding **encoding, tik_error *error)
{
    tik_bytes json = TIK_BYTES_INIT;
    tik_bytes beside = TIK_BYTES_INIT;
    tik_manifest *manifest = NULL;
    const void *tables;
    size_t size;
    tik_status status = tik_read_file(path, &json, error);
    if (status == TIK_OK)
        status = tik_manifest_parse(json.data, json.length, path, &manifest, error);
    tik_bytes_free(&json);
    if (status != TIK_OK)
        return status;

    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    status = tik_bytes_printf(&beside, error, "%.*s%s%c", folder, path, manifest->rank_file, 0);
    if (status == TIK_OK) {
        if (manifest->sha256 && access(beside.data, F_OK) != 0 && tik_vocab_embedded(manifest->sha256, &tables, &size))
            status = tik_encoding_make(manifest, tables, size, NULL, manifest, encoding, error);
        else
            status = open_ranks(manifest, beside.data, manifest, encoding, error);
        if (status == TIK_ERROR_PATTERN && error)
            name_manifest(error, path);
    }
    if (status != TIK_OK)
        tik_manifest_free(manifest);
    tik_bytes_free(&beside);
    return status;
}

/* The caller's definition as a manifest, in one allocation as tik_manifest_free expects. */
static tik_status copy_definition(const tik_definition *definition, tik_manifest **out, tik_error *error)
{
    size_t count = definition->special_count;
    size_t bytes = strlen(definition->name) + definition->pattern_length + 2;
    for (size_t i = 0; i < count; i++)
        bytes += definition->specials[i].length + 1;
    size_t total = sizeof(tik_manifest) + count * sizeof(tik_special) + bytes;
    tik_manifest *manifest = malloc(total);
    if (!manifest)
        return tik_fail_memory(error, total);
    tik_special *list = (tik_special *)(manifest + 1);
    char *at = (char *)(list + count);
    *manifest = (tik_manifest){.specials = list,
                               .special_count = count,
                               .explicit_vocab_size = definition->explicit_vocab_size,
                               .pattern_length = definition->pattern_length};
    manifest->name = strcpy(at, definition->name);
    at += strlen(definition->name) + 1;
    manifest->pattern = memcpy(at, definition->pattern, definition->pattern_length);
    at += definition->pattern_length;
    *at++ = 0;
    for (size_t i = 0; i < count; i++) {
        const tik_special *special = &definition->specials[i];
        list[i] = (tik_special){memcpy(at, special->text, special->length), special->length, special->id};
        at += special->length;
        *at++ = 0;
    }
    if (count)
        qsort(list, count, sizeof *list, tik_special_order);
    *out = manifest;
    return TIK_OK;
}

tik_status tik_open_definition(const tik_definition *definition, tik_encoding **encoding, tik_error *error)
{
    if (definition->size != sizeof *definition)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "tik_definition has size %zu, not %zu", definition->size,
                        sizeof *definition);
    if (!definition->name || !definition->pattern)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "tik_definition needs a name and a pattern");
    /* No memory holds so many: the counts are wrong, and nothing is read. */
    if (definition->token_count > PTRDIFF_MAX / sizeof *definition->tokens ||
        definition->special_count > PTRDIFF_MAX / sizeof *definition->specials)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "tik_definition: %zu tokens and %zu special tokens are more than "
                        "memory can hold", definition->token_count, definition->special_count);
    tik_manifest *manifest = NULL;
    tik_ranks ranks = {0};
    void *tables = NULL;
    size_t size;
    tik_status status = tik_ranks_copy(definition->tokens, definition->token_count, &ranks, error);
    if (status == TIK_OK)
        status = tik_vocab_layout(&ranks, &tables, &size, error);
    tik_ranks_free(&ranks);
    if (status == TIK_OK)
        status = copy_definition(definition, &manifest, error);
    if (status == TIK_OK)
        status = tik_encoding_make(manifest, tables, size, tables, manifest, encoding, error);
    if (status != TIK_OK) {
        tik_manifest_free(manifest);
        free(tables);
    }
    return status;
}

/* ---- What it is ---------------------------------------------------------------------------- */

const char *tik_name(const tik_encoding *encoding)
{
    return encoding->name;
}

const char *tik_pattern(const tik_encoding *encoding, size_t *length)
{
    if (length)
        *length = encoding->pattern_length;
    return encoding->pattern;
}

const char *tik_engine(const tik_encoding *encoding)
{
    return tik_splitter_engine(encoding->splitter);
}

uint32_t tik_largest_id(const tik_encoding *encoding)
{
    return encoding->largest_id;
}

size_t tik_vocab_size(const tik_encoding *encoding)
{
    return (size_t)encoding->largest_id + 1;
}

size_t tik_token_count(const tik_encoding *encoding)
{
    return encoding->vocab.count;
}

size_t tik_special_count(const tik_encoding *encoding)
{
    return encoding->specials.count;
}

tik_status tik_special_at(const tik_encoding *encoding, size_t index, tik_special *special, tik_error *error)
{
    if (index >= encoding->specials.count)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "there is no special token %zu: %s has %zu", index, encoding->name,
                        encoding->specials.count);
    *special = encoding->specials.list[index];
    return TIK_OK;
}

/* The place of the special token with that id, the count of special tokens if there is none. */
static size_t special_of_id(const tik_encoding *encoding, uint32_t id)
{
    size_t low = 0;
    size_t high = encoding->specials.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (encoding->specials.list[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < encoding->specials.count && encoding->specials.list[low].id == id;
    return found ? low : encoding->specials.count;
}

tik_status tik_end_of_text(const tik_encoding *encoding, uint32_t *id, tik_error *error)
{
    size_t index = tik_specials_lookup(&encoding->specials, "<|endoftext|>", 13);
    if (index == encoding->specials.count)
        return tik_fail(error, TIK_ERROR_NAME, "%s has no special token <|endoftext|>", encoding->name);
    *id = encoding->specials.list[index].id;
    return TIK_OK;
}

bool tik_is_special(const tik_encoding *encoding, uint32_t id)
{
    return special_of_id(encoding, id) < encoding->specials.count;
}

tik_status tik_token_bytes(const tik_encoding *encoding, uint32_t id, const char **bytes, size_t *length,
                           tik_error *error)
{
    uint32_t index = tik_vocab_index(&encoding->vocab, id);
    if (index != TIK_NONE) {
        *bytes = (const char *)encoding->vocab.bytes + encoding->vocab.starts[index];
        *length = tik_vocab_length(&encoding->vocab, index);
        return TIK_OK;
    }
    size_t special = special_of_id(encoding, id);
    if (special == encoding->specials.count)
        return tik_fail(error, TIK_ERROR_ID, "%s has no token of id %u: its largest id is %u", encoding->name,
                        (unsigned)id, (unsigned)encoding->largest_id);
    *bytes = encoding->specials.list[special].text;
    *length = encoding->specials.list[special].length;
    return TIK_OK;
}

tik_status tik_token_id(const tik_encoding *encoding, const char *bytes, size_t length, uint32_t *id,
                        tik_error *error)
{
    if (length == 0)
        return tik_fail(error, TIK_ERROR_NAME, "%s has no token of no bytes", encoding->name);
    uint32_t index = tik_vocab_find(&encoding->vocab, (const uint8_t *)bytes, length);
    if (index != TIK_NONE) {
        *id = encoding->vocab.ranks[index];
        return TIK_OK;
    }
    size_t special = tik_specials_lookup(&encoding->specials, bytes, length);
    if (special == encoding->specials.count)
        return tik_fail(error, TIK_ERROR_NAME, "%s has no token of these %zu bytes", encoding->name, length);
    *id = encoding->specials.list[special].id;
    return TIK_OK;
}

tik_status tik_tokens_sorted(const tik_encoding *encoding, tik_ids *ids, tik_error *error)
{
    const tik_vocab *vocab = &encoding->vocab;
    tik_status status = tik_reserve_ids(ids, vocab->count, error);
    if (status != TIK_OK)
        return status;
    for (uint32_t i = 0; i < vocab->count; i++)
        ids->data[ids->length++] = vocab->ranks[vocab->sorted[i]];
    return TIK_OK;
}
