/*
 * Reading a manifest. Everything that the struct points to lies in the one allocation behind it, so that
 * a manifest is freed, or dropped half-read, in one step.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "registry/registry.h"

typedef struct reader {
    const char *source;
    tik_error *error;
} reader;

static tik_status wrong(const reader *r, const char *field, const char *what)
{
    return tik_fail(r->error, TIK_ERROR_FORMAT, "%.200s: \"%.60s\" %s", r->source, field, what);
}

/* The string member `field`, NULL if absent. `*status` changes on a fault. */
static const char *text_member(const reader *r, const json_t *object, const char *field, bool required,
                               tik_status *status)
{
    const json_t *value = json_object_get(object, field);
    if (*status != TIK_OK)
        return NULL;
    if (!value) {
        if (required)
            *status = wrong(r, field, "is missing: a manifest needs it");
        return NULL;
    }
    if (!json_is_string(value)) {
        *status = wrong(r, field, "must be a string");
        return NULL;
    }
    if (strcmp(field, "pattern") != 0 && strlen(json_string_value(value)) != json_string_length(value)) {
        *status = wrong(r, field, "must not contain a zero byte");
        return NULL;
    }
    return json_string_value(value);
}

static bool is_sha256(const char *text)
{
    return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

/* A file name only: a manifest must not point elsewhere on the disk. */
static bool is_file_name(const char *text)
{
    return text[0] && !strchr(text, '/') && strcmp(text, ".") != 0 && strcmp(text, "..") != 0;
}

int tik_special_order(const void *a, const void *b)
{
    const tik_special *x = a;
    const tik_special *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    size_t common = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->text, y->text, common);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

static char *put(char **arena, const char *text, size_t length)
{
    char *at = *arena;
    memcpy(at, text, length);
    at[length] = 0;
    *arena += length + 1;
    return at;
}

static tik_status build(const reader *r, const json_t *root, tik_manifest **out)
{
    tik_status status = TIK_OK;
    if (!json_is_object(root))
        return tik_fail(r->error, TIK_ERROR_FORMAT, "%.200s: a manifest is a JSON object", r->source);
    static const char *const known[] = {"name", "pattern", "rank_file", "sha256", "url", "special_tokens",
                                        "explicit_vocab_size", "comment"};
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)root, key, value)
    {
        size_t i = 0;
        while (i < sizeof known / sizeof known[0] && strcmp(known[i], key) != 0)
            i++;
        if (i == sizeof known / sizeof known[0])
            return wrong(r, key, "is not a field of a manifest");
    }
    const char *name = text_member(r, root, "name", true, &status);
    const char *pattern = text_member(r, root, "pattern", true, &status);
    const char *rank_file = text_member(r, root, "rank_file", true, &status);
    const char *sha256 = text_member(r, root, "sha256", false, &status);
    const char *url = text_member(r, root, "url", false, &status);
    if (status != TIK_OK)
        return status;
    if (!name[0])
        return wrong(r, "name", "is empty");
    if (!is_file_name(rank_file))
        return wrong(r, "rank_file", "must be a file name, without a folder");
    if (sha256 && !is_sha256(sha256))
        return wrong(r, "sha256", "must be 64 lower-case hexadecimal digits");
    if (url && !sha256)
        return wrong(r, "sha256", "is missing: what is downloaded from \"url\" must be checked");

    json_int_t explicit_size = 0;
    const json_t *size = json_object_get(root, "explicit_vocab_size");
    if (size) {
        explicit_size = json_is_integer(size) ? json_integer_value(size) : 0;
        if (explicit_size < 1 || explicit_size > INT64_C(0x80000000))
            return wrong(r, "explicit_vocab_size", "must be a number from 1 to 2147483648");
    }

    const json_t *specials = json_object_get(root, "special_tokens");
    if (specials && !json_is_object(specials))
        return wrong(r, "special_tokens", "must be an object of texts and their ids");
    size_t count = json_object_size(specials);
    size_t pattern_length = json_string_length(json_object_get(root, "pattern"));
    size_t bytes = strlen(name) + pattern_length + strlen(rank_file) + (sha256 ? 65 : 0) +
                   (url ? strlen(url) + 1 : 0) + 3;
    const char *text;
    json_object_foreach((json_t *)(uintptr_t)specials, text, value)
    {
        if (!text[0])
            return wrong(r, "special_tokens", "has an empty text");
        if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > INT32_MAX)
            return wrong(r, text, "must have an id from 0 to 2147483647");
        bytes += strlen(text) + 1;
    }

    size_t total = sizeof(tik_manifest) + count * sizeof(tik_special) + bytes;
    tik_manifest *manifest = malloc(total);
    if (!manifest)
        return tik_fail_memory(r->error, total);
    tik_special *list = (tik_special *)(manifest + 1);
    char *arena = (char *)(list + count);
    *manifest = (tik_manifest){
        .name = put(&arena, name, strlen(name)),
        .pattern = put(&arena, pattern, pattern_length),
        .pattern_length = pattern_length,
        .rank_file = put(&arena, rank_file, strlen(rank_file)),
        .sha256 = sha256 ? put(&arena, sha256, 64) : NULL,
        .url = url ? put(&arena, url, strlen(url)) : NULL,
        .specials = list,
        .special_count = count,
        .explicit_vocab_size = (size_t)explicit_size,
    };
    size_t i = 0;
    json_object_foreach((json_t *)(uintptr_t)specials, text, value)
    {
        size_t length = strlen(text);
        list[i++] = (tik_special){put(&arena, text, length), length, (uint32_t)json_integer_value(value)};
    }
    if (count)
        qsort(list, count, sizeof *list, tik_special_order);
    *out = manifest;
    return TIK_OK;
}

tik_status tik_manifest_parse(const char *json, size_t length, const char *source, tik_manifest **manifest,
                              tik_error *error)
{
    json_error_t fault;
    json_t *root = json_loadb(json, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &fault);
    if (!root) {
        /* Jansson names no fault at all when it cannot get its first buffer. */
        if (json_error_code(&fault) == json_error_out_of_memory || !fault.text[0])
            return tik_fail_memory(error, length);
        size_t line = fault.line > 0 ? (size_t)fault.line : TIK_NOWHERE;
        size_t offset = fault.position >= 0 ? (size_t)fault.position : TIK_NOWHERE;
        return tik_fail_at(error, TIK_ERROR_FORMAT, line, offset, "%.200s: line %d: %.160s", source, fault.line,
                           fault.text);
    }
    reader r = {source, error};
    tik_status status = build(&r, root, manifest);
    json_decref(root);
    return status;
}

void tik_manifest_free(tik_manifest *manifest)
{
    free(manifest);
}
