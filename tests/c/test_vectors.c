/*
 * vectors: every text of tests/vectors through every way in and out of the library gives the ids and
 * bytes of the reference, for all seven encodings. The environment chooses the engine (TIK_SPLIT, TIK_ISA).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tik.h"
#include "vectors.h"

static json_t *rows;

/* One difference tells more than a thousand: where, what was wanted, what came. */
static void expect_ids(const char *encoding, const char *what, size_t row, const json_t *wanted, const uint32_t *ids,
                       size_t count)
{
    size_t length = json_array_size(wanted);
    for (size_t i = 0; i < length && i < count; i++)
        if (ids[i] != vectors_id(wanted, i))
            fail_msg("%s, %s, line %zu: id %zu is %u, the reference has %u", encoding, what, row + 1, i, ids[i],
                     vectors_id(wanted, i));
    if (length != count)
        fail_msg("%s, %s, line %zu: %zu ids, the reference has %zu", encoding, what, row + 1, count, length);
}

static void expect_ok(const char *encoding, const char *what, size_t row, tik_status status, const tik_error *error)
{
    if (status != TIK_OK)
        fail_msg("%s, %s, line %zu: %s", encoding, what, row + 1, error->message);
}

static void texts_have_the_ids_of_the_reference(void **state)
{
    const char *name = *state;
    tik_encoding *encoding = vectors_open(name);
    tik_error error;
    tik_encoder *encoder = NULL;
    assert_int_equal(tik_encoder_new(encoding, &encoder, &error), TIK_OK);
    const tik_options ordinary = TIK_OPTIONS_ORDINARY;
    print_message("%s by %s\n", name, tik_engine(encoding));

    size_t tokens = 0;
    for (size_t row = 0; row < json_array_size(rows); row++) {
        size_t length, count;
        const char *text = vectors_text(json_array_get(rows, row), &length);
        const json_t *wanted = vectors_ids(json_array_get(rows, row), name);
        tik_ids ids = TIK_IDS_INIT;
        expect_ok(name, "tik_encode", row, tik_encode(encoding, text, length, &ordinary, &ids, &error), &error);
        expect_ids(name, "tik_encode", row, wanted, ids.data, ids.length);

        size_t before = ids.length;
        expect_ok(name, "tik_encode_ordinary", row, tik_encode_ordinary(encoding, text, length, &ids, &error), &error);
        expect_ids(name, "tik_encode_ordinary", row, wanted, ids.length ? ids.data + before : NULL,
                   ids.length - before);

        before = ids.length;
        expect_ok(name, "tik_encoder_encode", row,
                  tik_encoder_encode(encoder, text, length, &ordinary, &ids, &error), &error);
        expect_ids(name, "tik_encoder_encode", row, wanted, ids.length ? ids.data + before : NULL,
                   ids.length - before);

        before = ids.length;
        expect_ok(name, "tik_encode_bytes", row, tik_encode_bytes(encoding, text, length, &ids, &error), &error);
        expect_ids(name, "tik_encode_bytes", row, wanted, ids.length ? ids.data + before : NULL, ids.length - before);

        expect_ok(name, "tik_count", row, tik_count(encoding, text, length, &count, &error), &error);
        assert_int_equal(count, json_array_size(wanted));
        expect_ok(name, "tik_encoder_count", row,
                  tik_encoder_count(encoder, text, length, &ordinary, &count, &error), &error);
        assert_int_equal(count, json_array_size(wanted));

        tik_bytes bytes = TIK_BYTES_INIT;
        expect_ok(name, "tik_decode", row,
                  tik_decode(encoding, ids.data, json_array_size(wanted), TIK_DECODE_STRICT, &bytes, &error), &error);
        assert_int_equal(bytes.length, length);
        if (length)
            assert_memory_equal(bytes.data, text, length);
        tokens += json_array_size(wanted);
        tik_bytes_free(&bytes);
        tik_ids_free(&ids);
    }
    print_message("%s: %zu texts, %zu tokens\n", name, json_array_size(rows), tokens);
    tik_encoder_free(encoder);
    tik_close(encoding);
}

static void a_batch_has_the_ids_of_its_texts(void **state)
{
    const char *name = *state;
    tik_encoding *encoding = vectors_open(name);
    size_t count = json_array_size(rows);
    tik_text *texts = calloc(count, sizeof *texts);
    size_t *counts = calloc(count, sizeof *counts);
    assert_non_null(texts);
    assert_non_null(counts);
    for (size_t row = 0; row < count; row++)
        texts[row].data = vectors_text(json_array_get(rows, row), &texts[row].length);

    tik_error error;
    static const unsigned thread_counts[] = {1, 3, TIK_ALL_THREADS};
    for (size_t i = 0; i < sizeof thread_counts / sizeof thread_counts[0]; i++) {
        tik_options options = TIK_OPTIONS_ORDINARY;
        options.threads = thread_counts[i];
        tik_ids ids = TIK_IDS_INIT;
        tik_sizes starts = TIK_SIZES_INIT;
        expect_ok(name, "tik_encode_batch", 0,
                  tik_encode_batch(encoding, texts, count, &options, &ids, &starts, &error), &error);
        expect_ok(name, "tik_count_batch", 0, tik_count_batch(encoding, texts, count, &options, counts, &error),
                  &error);
        assert_int_equal(starts.length, count + 1);
        for (size_t row = 0; row < count; row++) {
            const json_t *wanted = vectors_ids(json_array_get(rows, row), name);
            expect_ids(name, "tik_encode_batch", row, wanted, ids.data + starts.data[row],
                       starts.data[row + 1] - starts.data[row]);
            assert_int_equal(counts[row], json_array_size(wanted));
        }
        tik_ids_free(&ids);
        tik_sizes_free(&starts);
    }
    free(counts);
    free(texts);
    tik_close(encoding);
}

/* No texts, no lists, no bytes, and a list that ends before it begins: a status, and nothing is read. */
static void batches_of_nothing(void **state)
{
    (void)state;
    static const uint32_t one[] = {1};
    static const size_t falling[] = {0, 1, 0};
    tik_encoding *encoding = vectors_open("cl100k_base");
    tik_ids ids = TIK_IDS_INIT;
    tik_sizes starts = TIK_SIZES_INIT;
    tik_bytes bytes = TIK_BYTES_INIT;
    uint32_t id;
    const struct {
        tik_status status;
        tik_status expected;
    } calls[] = {
        {tik_count_batch(encoding, NULL, 0, NULL, NULL, NULL), TIK_OK},
        {tik_encode_batch(encoding, NULL, 0, NULL, &ids, &starts, NULL), TIK_OK},
        {tik_decode_batch(encoding, one, falling, 2, TIK_DECODE_BYTES, 1, &bytes, &starts, NULL), TIK_ERROR_ARGUMENT},
        {tik_token_id(encoding, NULL, 0, &id, NULL), TIK_ERROR_NAME},
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        assert_int_equal(calls[i].status, calls[i].expected);
    assert_int_equal(ids.length, 0);
    assert_int_equal(starts.length, 1);
    assert_int_equal(bytes.length, 0);
    tik_ids_free(&ids);
    tik_sizes_free(&starts);
    tik_bytes_free(&bytes);
    tik_close(encoding);
}

/* Pieces longer than the parts into which threads cut a text, alone, in a text, and in a batch. */
static void long_pieces_have_the_same_ids_on_threads(void **state)
{
    (void)state;
    static const size_t lengths[] = {(size_t)3 << 20, (size_t)9 << 20};
    tik_encoding *encoding = vectors_open("o200k_base");
    tik_options options = TIK_OPTIONS_ORDINARY;
    tik_error error;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        size_t length = lengths[i] + 8;
        char *text = malloc(length);
        assert_non_null(text);
        memset(text, 'a', length);
        memcpy(text, "a b, c. ", 8);
        tik_text texts[] = {{text, length}, {text, 100}, {text + 8, length - 8}};
        size_t counts[3], alone[3];
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(tik_count(encoding, texts[k].data, texts[k].length, &alone[k], &error), TIK_OK);
            options.threads = 4;
            assert_int_equal(tik_count_with(encoding, texts[k].data, texts[k].length, &options, &counts[k], &error),
                             TIK_OK);
            assert_int_equal(counts[k], alone[k]);
        }
        for (size_t count = 1; count <= 3; count++) {
            assert_int_equal(tik_count_batch(encoding, texts, count, &options, counts, &error), TIK_OK);
            for (size_t k = 0; k < count; k++)
                assert_int_equal(counts[k], alone[k]);
        }
        free(text);
    }
    tik_close(encoding);
}

/* "all" or a list of names becomes a policy; *names is the caller's to free. */
static tik_set policy(const json_t *value, const char ***names, size_t *count)
{
    *names = NULL;
    *count = json_is_array(value) ? json_array_size(value) : 0;
    if (json_is_string(value))
        return TIK_SET_ALL;
    if (*count == 0)
        return TIK_SET_NONE;
    *names = calloc(*count, sizeof **names);
    assert_non_null(*names);
    for (size_t i = 0; i < *count; i++)
        (*names)[i] = json_string_value(json_array_get(value, i));
    return TIK_SET_LISTED;
}

static void special_tokens_follow_the_policy(void **state)
{
    (void)state;
    json_t *specials = vectors_read("specials.jsonl");
    tik_encoding *encoding = NULL;
    for (size_t i = 0; i < json_array_size(specials); i++) {
        const json_t *row = json_array_get(specials, i);
        const char *name = json_string_value(json_object_get(row, "encoding"));
        if (!encoding || strcmp(tik_name(encoding), name) != 0) {
            tik_close(encoding);
            encoding = vectors_open(name);
        }
        size_t length;
        const char *text = vectors_text(row, &length);
        const char **allowed, **disallowed;
        tik_options options = TIK_OPTIONS_INIT;
        options.allowed = policy(json_object_get(row, "allowed"), &allowed, &options.allowed_count);
        options.disallowed = policy(json_object_get(row, "disallowed"), &disallowed, &options.disallowed_count);
        options.allowed_list = allowed;
        options.disallowed_list = disallowed;

        tik_ids ids = TIK_IDS_INIT;
        tik_error error;
        size_t count = 0;
        tik_status status = tik_encode(encoding, text, length, &options, &ids, &error);
        tik_status count_status = tik_count_with(encoding, text, length, &options, &count, NULL);
        const json_t *refused = json_object_get(row, "refused");
        if (refused) {
            if (status != TIK_ERROR_SPECIAL || count_status != TIK_ERROR_SPECIAL)
                fail_msg("specials.jsonl:%zu: the reference refuses %s, here: %s", i + 1, json_string_value(refused),
                         tik_status_text(status));
            assert_int_equal(error.offset, json_integer_value(json_object_get(row, "offset")));
            assert_non_null(strstr(error.message, json_string_value(refused)));
            assert_int_equal(ids.length, 0);
        } else {
            expect_ok(name, "specials.jsonl", i, status, &error);
            expect_ids(name, "specials.jsonl", i, json_object_get(row, "ids"), ids.data, ids.length);
            assert_int_equal(count_status, TIK_OK);
            assert_int_equal(count, ids.length);
        }
        tik_ids_free(&ids);
        free((void *)allowed);
        free((void *)disallowed);
    }
    tik_close(encoding);
    json_decref(specials);
}

static void published_values_hold(void **state)
{
    (void)state;
    char path[4096];
    const char *source = getenv("TIK_SOURCE");
    snprintf(path, sizeof path, "%s/tests/vectors/published.json", source ? source : ".");
    json_error_t json_error;
    json_t *published = json_load_file(path, 0, &json_error);
    assert_non_null(published);
    assert_true(json_array_size(published) > 0);
    for (size_t i = 0; i < json_array_size(published); i++) {
        const json_t *row = json_array_get(published, i);
        const char *name = json_string_value(json_object_get(row, "encoding"));
        const char *special = json_string_value(json_object_get(row, "special"));
        tik_options options = TIK_OPTIONS_INIT;
        if (strcmp(special, "all") == 0)
            options.allowed = TIK_SET_ALL;
        else if (strcmp(special, "text") == 0)
            options.disallowed = TIK_SET_NONE;
        size_t length;
        const char *text = vectors_text(row, &length);
        tik_encoding *encoding = vectors_open(name);
        tik_ids ids = TIK_IDS_INIT;
        tik_error error;
        tik_status status = tik_encode(encoding, text, length, &options, &ids, &error);
        if (json_object_get(row, "refused")) {
            assert_int_equal(status, TIK_ERROR_SPECIAL);
        } else {
            expect_ok(name, "published.json", i, status, &error);
            if (json_object_get(row, "ids"))
                expect_ids(name, "published.json", i, json_object_get(row, "ids"), ids.data, ids.length);
            else
                assert_int_equal(ids.length, json_integer_value(json_object_get(row, "count")));
        }
        tik_ids_free(&ids);
        tik_close(encoding);
    }
    json_decref(published);
}

int main(void)
{
    rows = vectors_read("vectors.jsonl");
    const struct CMUnitTest tests[] = {
        VECTOR_TEST_ENCODINGS(texts_have_the_ids_of_the_reference),
        VECTOR_TEST_ENCODINGS(a_batch_has_the_ids_of_its_texts),
        cmocka_unit_test(batches_of_nothing),
        cmocka_unit_test(long_pieces_have_the_same_ids_on_threads),
        cmocka_unit_test(special_tokens_follow_the_policy),
        cmocka_unit_test(published_values_hold),
    };
    int failed = cmocka_run_group_tests_name("vectors", tests, NULL, NULL);
    json_decref(rows);
    return failed;
}
