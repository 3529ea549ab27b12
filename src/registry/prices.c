/*
 * Lists of windows and prices: reading one from JSON (the build does it for vocab/prices.json, the
 * library for a user's own file, see docs/prices.md), and finding a model in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "registry/registry.h"

enum { DATE_LENGTH = 10, LARGEST_FILE = 64 << 20 };
static const char date_form[] = "0000-00-00";

typedef struct reader {
    const char *source;
    const char *model; /* where we are; NULL outside the models */
    tik_error *error;
} reader;

static tik_status wrong(const reader *r, const char *field, const char *what)
{
    if (r->model)
        return tik_fail(r->error, TIK_ERROR_FORMAT, "%.160s: model %.60s: \"%.60s\" %s", r->source, r->model, field,
                        what);
    return tik_fail(r->error, TIK_ERROR_FORMAT, "%.160s: \"%.60s\" %s", r->source, field, what);
}

/* Refuses members that are not in `known` (NULL-terminated), so that a misspelt one is noticed. */
static tik_status check_members(const reader *r, const json_t *object, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        size_t i = 0;
        while (known[i] && strcmp(known[i], key) != 0)
            i++;
        if (!known[i])
            return wrong(r, key, "is not a field of a price list");
    }
    return TIK_OK;
}

/* An optional string. */
static tik_status take_text(const reader *r, const json_t *object, const char *field, const char **text)
{
    const json_t *value = json_object_get(object, field);
    if (value && !json_is_string(value))
        return wrong(r, field, "must be a string");
    *text = json_string_value(value);
    return TIK_OK;
}

static tik_status take_date(const reader *r, const json_t *object, const char *field, const char **date)
{
    tik_status status = take_text(r, object, field, date);
    if (status != TIK_OK || !*date)
        return status;
    bool good = strlen(*date) == DATE_LENGTH;
    for (size_t i = 0; good && i < DATE_LENGTH; i++) {
        char c = (*date)[i];
        good = date_form[i] == '-' ? c == '-' : c >= '0' && c <= '9';
    }
    return good ? TIK_OK : wrong(r, field, "must be a date, as 2026-11-10");
}

/* An optional number of tokens, at least 1. */
static tik_status take_tokens(const reader *r, const json_t *object, const char *field, uint64_t *tokens)
{
    const json_t *value = json_object_get(object, field);
    if (!value)
        return TIK_OK;
    if (!json_is_integer(value) || json_integer_value(value) < 1)
        return wrong(r, field, "must be a whole number from 1 on");
    *tokens = (uint64_t)json_integer_value(value);
    return TIK_OK;
}

/* An optional price. */
static tik_status take_price(const reader *r, const json_t *object, const char *field, tik_amount *price, bool *found)
{
    const json_t *value = json_object_get(object, field);
    *found = value != NULL;
    if (!value)
        return TIK_OK;
    if (!json_is_string(value) || tik_amount_parse(json_string_value(value), price, NULL) != TIK_OK ||
        price->parts % 1000000 != 0)
        return wrong(r, field, "must be a decimal number of at most 6 decimals in quotes, as \"0.50\"");
    return TIK_OK;
}

static tik_status take_rates(const reader *r, const json_t *object, const char *const *known, tik_rates *rates)
{
    bool has_input;
    if (!json_is_object(object))
        return wrong(r, known[0], "belongs into an object of prices");
    tik_status status = check_members(r, object, known);
    if (status == TIK_OK)
        status = take_price(r, object, "input", &rates->input, &has_input);
    if (status == TIK_OK && !has_input)
        status = wrong(r, "input", "is missing: a price needs it");
    if (status == TIK_OK)
        status = take_price(r, object, "cached", &rates->cached, &rates->has_cached);
    if (status == TIK_OK)
        status = take_price(r, object, "output", &rates->output, &rates->has_output);
    return status;
}

/* An optional array of strings; `*names` points where they are put and is moved on. */
static tik_status take_names(const reader *r, const json_t *object, const char *field, const char ***names,
                             const char *const **list, size_t *count)
{
    const json_t *value = json_object_get(object, field);
    if (value && !json_is_array(value))
        return wrong(r, field, "must be an array of names");
    *list = *names;
    *count = json_array_size(value);
    for (size_t i = 0; i < *count; i++) {
        const char *name = json_string_value(json_array_get(value, i));
        if (!name || !*name)
            return wrong(r, field, "must be an array of names");
        *(*names)++ = name;
    }
    return TIK_OK;
}

static tik_status take_model(reader *r, const json_t *object, const char ***names, tik_price_entry *entry)
{
    static const char *const known[] = {"name",  "names", "prefixes", "window", "price",
                                        "long", "since", "comment",  NULL};
    static const char *const price_fields[] = {"input", "cached", "output", NULL};
    static const char *const long_fields[] = {"above", "input", "cached", "output", NULL};
    uint64_t window = 0;
    r->model = NULL;
    if (!json_is_object(object))
        return wrong(r, "models", "must be an array of objects");
    tik_status status = take_text(r, object, "name", &entry->name);
    if (status == TIK_OK && (!entry->name || !*entry->name))
        status = wrong(r, "name", "is missing: a model needs it");
    if (status != TIK_OK)
        return status;
    r->model = entry->name;
    status = check_members(r, object, known);
    if (status == TIK_OK)
        status = take_names(r, object, "names", names, &entry->names, &entry->name_count);
    if (status == TIK_OK)
        status = take_names(r, object, "prefixes", names, &entry->prefixes, &entry->prefix_count);
    if (status == TIK_OK)
        status = take_tokens(r, object, "window", &window);
    if (status == TIK_OK)
        status = take_date(r, object, "since", &entry->since);
    const json_t *price = json_object_get(object, "price");
    if (status == TIK_OK && price)
        status = take_rates(r, price, price_fields, &entry->rates);
    entry->has_rates = price != NULL;
    entry->window = (size_t)window;
    const json_t *longer = json_object_get(object, "long");
    if (status != TIK_OK || !longer)
        return status;
    status = take_rates(r, longer, long_fields, &entry->long_rates);
    if (status == TIK_OK)
        status = take_tokens(r, longer, "above", &entry->long_above);
    if (status == TIK_OK && (!entry->has_rates || !entry->long_above))
        status = wrong(r, "long", "needs \"above\", and a \"price\" beside it");
    return status;
}

static tik_status build(reader *r, json_t *root, tik_prices *prices, tik_price_entry *entries)
{
    static const char *const known[] = {"currency", "date", "source", "models", "url", "license", "comment", NULL};
    tik_status status = check_members(r, root, known);
    if (status == TIK_OK)
        status = take_text(r, root, "currency", &prices->currency);
    if (status == TIK_OK && !prices->currency)
        status = wrong(r, "currency", "is missing: a price list needs it");
    if (status == TIK_OK)
        status = take_text(r, root, "source", &prices->source);
    if (status == TIK_OK)
        status = take_date(r, root, "date", &prices->date);
    const json_t *models = json_object_get(root, "models");
    const char **names = prices->names;
    for (size_t i = 0; status == TIK_OK && i < prices->count; i++)
        status = take_model(r, json_array_get(models, i), &names, &entries[i]);
    return status;
}

/* How many names of entries there are at most. */
static size_t count_names(const json_t *models)
{
    size_t count = 0;
    size_t i;
    json_t *model;
    json_array_foreach((json_t *)(uintptr_t)models, i, model)
        count += json_array_size(json_object_get(model, "names")) + json_array_size(json_object_get(model, "prefixes"));
    return count;
}

static tik_status allocate(json_t *root, tik_prices **prices, tik_error *error)
{
    const json_t *models = json_object_get(root, "models");
    size_t count = json_array_size(models);
    size_t name_count = count_names(models);
    tik_prices *made = calloc(1, sizeof *made);
    tik_price_entry *entries = calloc(count + 1, sizeof *entries);
    const char **names = calloc(name_count + 1, sizeof *names);
    if (!made || !entries || !names) {
        free(made);
        free(entries);
        free(names);
        return tik_fail_memory(error, sizeof *made + (count + 1) * sizeof *entries);
    }
    *made = (tik_prices){.entries = entries, .count = count, .document = json_incref(root), .names = names};
    *prices = made;
    return TIK_OK;
}

tik_status tik_prices_parse(const char *json, size_t length, const char *source, tik_prices **prices, tik_error *error)
{
    json_error_t fault;
    json_t *root = json_loadb(json, length, JSON_REJECT_DUPLICATES, &fault);
    if (!root) {
        if (json_error_code(&fault) == json_error_out_of_memory)
            return tik_fail_memory(error, length);
        return tik_fail_at(error, TIK_ERROR_FORMAT, fault.line > 0 ? (size_t)fault.line : TIK_NOWHERE,
                           fault.position >= 0 ? (size_t)fault.position : TIK_NOWHERE, "%.160s: line %d: %.160s", source,
                           fault.line, fault.text);
    }
    reader r = {source, NULL, error};
    tik_prices *made = NULL;
    tik_status status;
    if (!json_is_object(root) || !json_is_array(json_object_get(root, "models")))
        status = wrong(&r, "models", "is missing: a price list is a JSON object with an array of that name");
    else
        status = allocate(root, &made, error);
    if (status == TIK_OK)
        status = build(&r, root, made, (tik_price_entry *)(uintptr_t)made->entries);
    json_decref(root);
    if (status != TIK_OK) {
        tik_prices_close(made);
        return status;
    }
    *prices = made;
    return TIK_OK;
}

void tik_prices_close(tik_prices *prices)
{
    if (!prices)
        return;
    json_decref(prices->document);
    free((void *)(uintptr_t)prices->entries);
    free(prices->names);
    free(prices);
}

tik_status tik_prices_open(const char *path, tik_prices **prices, tik_error *error)
{
    char block[16384];
    tik_bytes data = TIK_BYTES_INIT;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return tik_fail(error, TIK_ERROR_IO, "%.200s: %s", path, strerror(errno));
    tik_status status = TIK_OK;
    ssize_t got;
    while (status == TIK_OK && (got = read(file, block, sizeof block)) != 0) {
        if (got < 0 && errno != EINTR)
            status = tik_fail(error, TIK_ERROR_IO, "%.200s: %s", path, strerror(errno));
        else if (got > 0)
            status = tik_bytes_append(&data, block, (size_t)got, error);
        if (data.length > LARGEST_FILE)
            status = tik_fail(error, TIK_ERROR_LIMIT, "%.200s: a price list has at most %d MiB", path,
                              (int)(LARGEST_FILE >> 20));
    }
    close(file);
    if (status == TIK_OK)
        status = tik_prices_parse(data.data ? data.data : "", data.length, path, prices, error);
    tik_bytes_free(&data);
    return status;
}
