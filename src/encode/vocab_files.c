/* The rank file behind an encoding: where it is, getting it, checking it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "encode/encode.h"
#include "fetch/fetch.h"
#include "vocab/ranks.h"

struct tik_vocab_file {
    const tik_manifest *manifest;
    tik_manifest *own; /* the same if it was read from a file, else NULL */
    tik_bytes beside;  /* where the rank file would lie beside the manifest; empty if it has no file */
};

/* ---- Opening ------------------------------------------------------------------------------- */

static tik_status make(tik_vocab_file **file, tik_error *error)
{
    *file = calloc(1, sizeof **file);
    return *file ? TIK_OK : tik_fail_memory(error, sizeof **file);
}

tik_status tik_vocab_file_open(const char *encoding, tik_vocab_file **file, tik_error *error)
{
    const tik_manifest *manifest;
    tik_vocab_file *made;
    tik_status status = tik_registry_find(encoding, &manifest, error);
    if (status == TIK_OK)
        status = make(&made, error);
    if (status != TIK_OK)
        return status;
    made->manifest = manifest;
    *file = made;
    return TIK_OK;
}

tik_status tik_vocab_file_open_manifest(const char *path, tik_vocab_file **file, tik_error *error)
{
    tik_bytes json = TIK_BYTES_INIT;
    tik_vocab_file *made;
    tik_status status = make(&made, error);
    if (status != TIK_OK)
        return status;
    status = tik_read_file(path, &json, error);
    if (status == TIK_OK)
        status = tik_manifest_parse(json.data, json.length, path, &made->own, error);
    tik_bytes_free(&json);
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    if (status == TIK_OK)
        status = tik_bytes_printf(&made->beside, error, "%.*s%s", folder, path, made->own->rank_file);
    if (status != TIK_OK) {
        tik_vocab_file_close(made);
        return status;
    }
    made->manifest = made->own;
    *file = made;
    return TIK_OK;
}

void tik_vocab_file_close(tik_vocab_file *file)
{
    if (!file)
        return;
    tik_manifest_free(file->own);
    tik_bytes_free(&file->beside);
    free(file);
}

const char *tik_vocab_file_encoding(const tik_vocab_file *file)
{
    return file->manifest->name;
}

const char *tik_vocab_file_name(const tik_vocab_file *file)
{
    return file->manifest->rank_file;
}

const char *tik_vocab_file_sha256(const tik_vocab_file *file)
{
    return file->manifest->sha256;
}

const char *tik_vocab_file_url(const tik_vocab_file *file)
{
    return file->manifest->url;
}

/* ---- Where it is --------------------------------------------------------------------------- */

tik_status tik_vocab_file_where(const tik_vocab_file *file, tik_vocab_place *place, tik_bytes *path,
                                tik_error *error)
{
    const tik_manifest *manifest = file->manifest;
    const void *tables;
    size_t size;
    size_t from = path->length;
    if (file->beside.length && access(file->beside.data, F_OK) == 0) {
        *place = TIK_VOCAB_BESIDE;
        return tik_bytes_printf(path, error, "%s", file->beside.data);
    }
    *place = TIK_VOCAB_EMBEDDED;
    if (manifest->sha256 && tik_vocab_embedded(manifest->sha256, &tables, &size))
        return tik_bytes_printf(path, error, "%s", "");
    *place = TIK_VOCAB_ABSENT;
    if (!manifest->url)
        return tik_bytes_printf(path, error, "%s", "");
    const tik_fetch_api *api = tik_fetch(error);
    if (!api)
        return TIK_ERROR_MISSING;
    tik_status status = api->cache_path(manifest->url, path, error);
    if (status == TIK_ERROR_IO) /* there is no cache */
        return tik_bytes_printf(path, error, "%s", "");
    if (status == TIK_OK && access(path->data + from, F_OK) == 0)
        *place = TIK_VOCAB_CACHED;
    return status;
}

/* ---- Getting and checking it --------------------------------------------------------------- */

tik_status tik_vocab_file_fetch(const tik_vocab_file *file, bool refresh, tik_progress *progress, void *context,
                                tik_bytes *path, tik_error *error)
{
    const tik_manifest *manifest = file->manifest;
    if (!manifest->url)
        return tik_fail(error, TIK_ERROR_MISSING, "%.100s: the manifest gives no url to fetch %.200s from",
                        manifest->name, manifest->rank_file);
    const tik_fetch_api *api = tik_fetch(error);
    if (!api)
        return TIK_ERROR_MISSING;
    tik_bytes data = TIK_BYTES_INIT;
    tik_error stored;
    tik_fetch_request request = {.name = manifest->name, .url = manifest->url, .sha256 = manifest->sha256,
                                 .refresh = refresh, .progress = progress, .context = context, .stored = &stored};
    tik_status status = api->obtain(&request, &data, error);
    tik_bytes_free(&data);
    if (status == TIK_OK && stored.status != TIK_OK)
        return tik_fail(error, stored.status, "%.490s", stored.message);
    return status == TIK_OK && path ? api->cache_path(manifest->url, path, error) : status;
}

/* The bytes of the rank file whose tables are embedded, appended. */
static tik_status write_embedded(const tik_manifest *manifest, const tik_fetch_api *api, tik_bytes *data,
                                 tik_error *error)
{
    const void *tables;
    size_t size;
    tik_vocab vocab;
    if (!tik_vocab_embedded(manifest->sha256, &tables, &size))
        return tik_fail(error, TIK_ERROR_MISSING, "%.100s is not embedded", manifest->rank_file);
    tik_status status = tik_vocab_attach(tables, size, &vocab, error);
    if (status != TIK_OK)
        return status;
    tik_token *tokens = calloc(vocab.count, sizeof *tokens);
    if (!tokens)
        return tik_fail_memory(error, vocab.count * sizeof *tokens);
    for (uint32_t i = 0; i < vocab.count; i++)
        tokens[i] = (tik_token){(const char *)vocab.bytes + vocab.starts[i], tik_vocab_length(&vocab, i),
                                vocab.ranks[i]};
    tik_ranks ranks = {.tokens = tokens, .count = vocab.count};
    status = tik_ranks_write(&ranks, api->base64_encode, data, error);
    free(tokens);
    return status;
}

/* Checks `data`, the file as it is at `where`. */
static tik_status check(const tik_manifest *manifest, const tik_fetch_api *api, const tik_bytes *data,
                        const char *where, tik_error *error)
{
    char hex[65];
    tik_ranks ranks = {0};
    tik_status status = api->sha256(data->data, data->length, hex, error);
    if (status == TIK_OK && manifest->sha256 && strcmp(hex, manifest->sha256) != 0)
        status = tik_fail(error, TIK_ERROR_HASH, "%.240s: its SHA-256 is %s, not %s; get the file again", where, hex,
                          manifest->sha256);
    if (status == TIK_OK)
        status = tik_ranks_parse(data->data, data->length, where, api->base64_decode, &ranks, error);
    tik_ranks_free(&ranks);
    return status;
}

tik_status tik_vocab_file_verify(const tik_vocab_file *file, tik_error *error)
{
    const tik_manifest *manifest = file->manifest;
    tik_bytes path = TIK_BYTES_INIT;
    tik_bytes data = TIK_BYTES_INIT;
    tik_vocab_place place;
    const tik_fetch_api *api = tik_fetch(error);
    if (!api)
        return TIK_ERROR_MISSING;
    tik_status status = tik_vocab_file_where(file, &place, &path, error);
    if (status == TIK_OK && place == TIK_VOCAB_ABSENT)
        status = tik_fail(error, TIK_ERROR_MISSING, "%.100s: the rank file %.200s is not here: fetch it first",
                          manifest->name, manifest->rank_file);
    if (status == TIK_OK)
        status = place == TIK_VOCAB_EMBEDDED ? write_embedded(manifest, api, &data, error)
                                             : tik_read_file(path.data, &data, error);
    if (status == TIK_OK)
        status = check(manifest, api, &data, place == TIK_VOCAB_EMBEDDED ? "embedded" : path.data, error);
    tik_bytes_free(&data);
    tik_bytes_free(&path);
    return status;
}
