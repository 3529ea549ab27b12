/*
 * vectors: tests/vectors/vectors.jsonl in memory, for the test programs. TIK_SOURCE (the environment)
 * says where the source tree is. Anything wrong with the file ends the program: no test has a meaning then.
 */
#ifndef TIK_TEST_VECTORS_H
#define TIK_TEST_VECTORS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tik.h"

/* An encoding gives the ids of the one it is based on where a vector does not name it. Bases come first. */
static const struct {
    const char *name;
    const char *base;
} vector_encodings[] = {
    {"r50k_base", NULL},        {"gpt2", "r50k_base"},    {"p50k_base", "r50k_base"},
    {"p50k_edit", "p50k_base"}, {"cl100k_base", NULL},    {"o200k_base", NULL},
    {"o200k_harmony", "o200k_base"},
};
#define VECTOR_ENCODINGS (sizeof vector_encodings / sizeof vector_encodings[0])

/* What a cmocka test is given as its state: a name in memory that is not const, as cmocka wants it. */
#define VECTOR_TEST(test, encoding) {#test ": " encoding, test, NULL, NULL, (char[]){encoding}}
#define VECTOR_TEST_VOCABULARIES(test)                                                                                \
    VECTOR_TEST(test, "r50k_base"), VECTOR_TEST(test, "p50k_base"), VECTOR_TEST(test, "cl100k_base"),                 \
        VECTOR_TEST(test, "o200k_base")
#define VECTOR_TEST_ENCODINGS(test)                                                                                   \
    VECTOR_TEST_VOCABULARIES(test), VECTOR_TEST(test, "gpt2"), VECTOR_TEST(test, "p50k_edit"),                        \
        VECTOR_TEST(test, "o200k_harmony")

/* The encoding of that name; the test fails if it can't be opened. */
static inline tik_encoding *vectors_open(const char *name)
{
    tik_encoding *encoding = NULL;
    tik_error error;
    if (tik_open(name, &encoding, &error) != TIK_OK)
        fail_msg("%s: %s", name, error.message);
    return encoding;
}

static inline void vectors_die(const char *path, size_t line, const char *why)
{
    fprintf(stderr, "%s:%zu: %s\n", path, line, why);
    exit(2);
}

/* The lines of a JSON Lines file under tests/vectors, as an array that the caller releases. */
static inline json_t *vectors_read(const char *name)
{
    char path[4096];
    const char *source = getenv("TIK_SOURCE");
    snprintf(path, sizeof path, "%s/tests/vectors/%s", source ? source : ".", name);
    FILE *file = fopen(path, "rb");
    json_t *rows = json_array();
    if (!file || !rows)
        vectors_die(path, 0, "cannot be read (is TIK_SOURCE the source tree?)");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    while ((length = getline(&line, &capacity, file)) > 0) {
        json_error_t error;
        json_t *row = json_loadb(line, (size_t)length, JSON_ALLOW_NUL, &error);
        if (!row || json_array_append_new(rows, row) != 0)
            vectors_die(path, json_array_size(rows) + 1, error.text);
    }
    free(line);
    fclose(file);
    if (json_array_size(rows) == 0)
        vectors_die(path, 0, "is empty");
    return rows;
}

/* The text of a row; *length in bytes, zero bytes included. */
static inline const char *vectors_text(const json_t *row, size_t *length)
{
    const json_t *text = json_object_get(row, "text");
    *length = json_string_length(text);
    return json_string_value(text);
}

/* The ids that vector `row` has for an encoding, a JSON array. */
static inline const json_t *vectors_ids(const json_t *row, const char *encoding)
{
    const json_t *all = json_object_get(row, "ids");
    const json_t *ids = json_object_get(all, encoding);
    for (size_t i = VECTOR_ENCODINGS; !ids && i-- > 0;)
        if (strcmp(vector_encodings[i].name, encoding) == 0 && vector_encodings[i].base)
            ids = vectors_ids(row, vector_encodings[i].base);
    if (!ids)
        vectors_die("tests/vectors", 0, "a vector without ids");
    return ids;
}

static inline uint32_t vectors_id(const json_t *ids, size_t index)
{
    return (uint32_t)json_integer_value(json_array_get(ids, index));
}

#endif
