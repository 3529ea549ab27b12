/*
 * registry: encodings and models by name. What an encoding is made of stands in a manifest (JSON, see
 * docs/manifest.md); those of vocab/ are compiled in, a user's own is read at run time, both into the
 * same struct.
 */
#ifndef TIK_REGISTRY_H
#define TIK_REGISTRY_H

#include "base/base.h"

typedef struct tik_manifest {
    const char *name;
    const char *pattern;
    size_t pattern_length;
    const char *rank_file; /* file name, sought beside the manifest */
    const char *sha256;    /* of the rank file, 64 lower-case hex digits; NULL if not given */
    const char *url;       /* NULL if not given */
    const tik_special *specials; /* in order of id */
    size_t special_count;
    size_t explicit_vocab_size; /* 0 if not given */
} tik_manifest;

/* The compiled-in manifests, in the order of the reference. */
extern const tik_manifest tik_public_manifests[];
extern const size_t tik_public_manifest_count;

/* The compiled-in model names: first the exact ones, then the prefixes, each in the reference's order. */
extern const tik_model_name tik_model_names[];
extern const size_t tik_model_name_count;

/* The public manifest of that name. TIK_ERROR_NAME with the nearest names. */
tik_status tik_registry_find(const char *name, const tik_manifest **manifest, tik_error *error);

/*
 * Reads a manifest from JSON text. `source` names it in messages. The result is one allocation: free it
 * with tik_manifest_free. TIK_ERROR_FORMAT with line and byte offset, TIK_ERROR_MEMORY.
 */
tik_status tik_manifest_parse(const char *json, size_t length, const char *source, tik_manifest **manifest,
                              tik_error *error);
void tik_manifest_free(tik_manifest *manifest);

/* A model of a list of prices. */
typedef struct tik_price_entry {
    const char *name;
    const char *const *names; /* others that mean the same */
    size_t name_count;
    const char *const *prefixes; /* of names that mean the same */
    size_t prefix_count;
    size_t window;
    bool has_rates;
    tik_rates rates;
    uint64_t long_above;
    tik_rates long_rates;
    const char *since;
} tik_price_entry;

struct tik_prices {
    const char *currency;
    const char *date;
    const char *source;
    const tik_price_entry *entries;
    size_t count;
    void *document;     /* the JSON value that the strings lie in; NULL for the compiled-in list */
    const char **names; /* of all entries; NULL for the compiled-in list */
};

/* The compiled-in list, vocab/prices.json. */
extern const tik_prices tik_public_prices;

/* Reads a list of prices from JSON text. `source` names it in messages. TIK_ERROR_FORMAT, TIK_ERROR_MEMORY. */
tik_status tik_prices_parse(const char *json, size_t length, const char *source, tik_prices **prices,
                            tik_error *error);

/* For qsort: special tokens in order of id; those that share an id in order of text. */
int tik_special_order(const void *a, const void *b);

/*
 * Appends to the error message up to three of `names` that are near `name`: ", did you mean a, b or c?".
 * `next(context, i)` gives name i, NULL at the end.
 */
void tik_suggest(tik_error *error, const char *name, const char *(*next)(void *context, size_t index), void *context);

#endif
