/*
 * The embedded tables against the rank files they were made from, token by token. The files are read here
 * by a few lines of their own, so that a fault shared by the library's reader would show.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "registry/registry.h"
#include "vocab/vocab.h"

static char *read_file(const char *name, size_t *length)
{
    char path[4096];
    const char *source = getenv("TIK_SOURCE");
    assert_true(snprintf(path, sizeof path, "%s/vocab/%s", source ? source : ".", name) < (int)sizeof path);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    assert_true(size > 0);
    rewind(file);
    char *data = malloc((size_t)size);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, (size_t)size, file), size);
    fclose(file);
    *length = (size_t)size;
    return data;
}

/* The bytes of one base64 word, which ends at a space; `*text` moves past it. */
static size_t read_base64(const char **text, const char *end, uint8_t *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = 0;
    uint32_t bits = 0;
    unsigned held = 0;
    for (; *text < end && **text != ' '; (*text)++) {
        if (**text == '=')
            continue;
        const char *digit = strchr(digits, **text);
        assert_non_null(digit);
        bits = bits << 6 | (uint32_t)(digit - digits);
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[length++] = (uint8_t)(bits >> held);
        }
    }
    return length;
}

static void attach(const tik_manifest *manifest, tik_vocab *vocab)
{
    const void *tables;
    size_t size;
    tik_error error;
    if (!tik_vocab_embedded(manifest->sha256, &tables, &size))
        skip();
    assert_int_equal((uintptr_t)tables % 64, 0);
    if (tik_vocab_attach(tables, size, vocab, &error) != TIK_OK)
        fail_msg("%s", error.message);
}

static void tables_equal_the_rank_file(void **state)
{
    const tik_manifest *manifest = *state;
    tik_vocab vocab;
    attach(manifest, &vocab);
    size_t length;
    char *data = read_file(manifest->rank_file, &length);
    const char *at = data;
    const char *end = data + length;
    uint8_t *bytes = malloc(length);
    assert_non_null(bytes);
    size_t lines = 0;
    size_t total = 0;
    size_t longest = 0;
    uint32_t largest = 0;
    while (at < end) {
        size_t size = read_base64(&at, end, bytes);
        uint32_t rank = 0;
        for (at++; at < end && *at != '\n'; at++)
            rank = rank * 10 + (uint32_t)(*at - '0');
        at++;
        uint32_t index = tik_vocab_find(&vocab, bytes, size);
        if (index == TIK_NONE || vocab.ranks[index] != rank)
            fail_msg("%s, line %zu: the tables have not this token with this rank", manifest->rank_file, lines + 1);
        assert_int_equal(tik_vocab_index(&vocab, rank), index);
        assert_int_equal(tik_vocab_length(&vocab, index), size);
        assert_memory_equal(vocab.bytes + vocab.starts[index], bytes, size);
        if (size == 1)
            assert_int_equal(vocab.byte_index[bytes[0]], index);
        lines++;
        total += size;
        longest = size > longest ? size : longest;
        largest = rank > largest ? rank : largest;
    }
    assert_int_equal(vocab.count, lines);
    assert_int_equal(vocab.starts[vocab.count], total);
    assert_int_equal(vocab.longest, longest);
    assert_int_equal(vocab.largest_rank, largest);
    assert_int_equal(vocab.dense, largest + 1 == lines);
    free(bytes);
    free(data);
}

/* Bytes that are no token are not found: each token with a byte more, unless that is another token. */
static void what_is_no_token_is_not_found(void **state)
{
    const tik_manifest *manifest = *state;
    tik_vocab vocab;
    attach(manifest, &vocab);
    uint8_t *longer = malloc(vocab.longest + (size_t)1);
    assert_non_null(longer);
    for (uint32_t index = 0; index < vocab.count; index++) {
        size_t size = tik_vocab_length(&vocab, index);
        memcpy(longer, vocab.bytes + vocab.starts[index], size);
        for (unsigned byte = 0; byte < 256; byte += 37) {
            longer[size] = (uint8_t)byte;
            uint32_t found = tik_vocab_find(&vocab, longer, size + 1);
            if (found != TIK_NONE) {
                assert_int_equal(tik_vocab_length(&vocab, found), size + 1);
                assert_memory_equal(vocab.bytes + vocab.starts[found], longer, size + 1);
            }
        }
    }
    free(longer);
    assert_int_equal(tik_vocab_index(&vocab, vocab.largest_rank + 1), TIK_NONE);
    assert_int_equal(tik_vocab_index(&vocab, UINT32_MAX), TIK_NONE);
}

int main(void)
{
    enum { CHECKS = 2 };
    static const struct {
        const char *name;
        CMUnitTestFunction run;
    } checks[CHECKS] = {
        {"tables equal the rank file", tables_equal_the_rank_file},
        {"what is no token is not found", what_is_no_token_is_not_found},
    };
    size_t count = tik_public_manifest_count * CHECKS;
    struct CMUnitTest *tests = calloc(count, sizeof *tests);
    char(*names)[96] = calloc(count, sizeof *names);
    if (!tests || !names)
        return 1;
    for (size_t i = 0; i < count; i++) {
        const tik_manifest *manifest = &tik_public_manifests[i / CHECKS];
        snprintf(names[i], sizeof names[i], "%s: %s", manifest->name, checks[i % CHECKS].name);
        tests[i] = (struct CMUnitTest){.name = names[i], .test_func = checks[i % CHECKS].run,
                                       .initial_state = (void *)(uintptr_t)manifest};
    }
    int failed = _cmocka_run_group_tests("embedded", tests, count, NULL, NULL);
    free(names);
    free(tests);
    return failed;
}
