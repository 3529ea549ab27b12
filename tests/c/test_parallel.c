/*
 * parallel: one text on several threads, whole or as a stream, has the ids that it has on one, and the same
 * faults; batches decoded on several threads give the same bytes. The texts are larger than the parts in
 * which threads take them: the vectors' texts in turn, with special tokens between and within, stretches
 * that can't be cut, and bytes that are not UTF-8.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tik.h"
#include "vectors.h"

enum { SIZE = 3 << 19 }; /* of a text; it is cut from 1 MiB on */

static const unsigned thread_counts[] = {2, 5};
#define THREAD_COUNTS (sizeof thread_counts / sizeof thread_counts[0])

static tik_bytes vector_texts; /* in turn */

static void append(tik_bytes *to, const char *bytes, size_t length)
{
    if (length == 0)
        return; /* there may be no memory yet to copy nothing to */
    if (to->capacity - to->length < length) {
        to->capacity = 2 * (to->length + length);
        to->data = realloc(to->data, to->capacity);
        assert_non_null(to->data);
    }
    memcpy(to->data + to->length, bytes, length);
    to->length += length;
}

static void append_text(tik_bytes *to, const char *text)
{
    append(to, text, strlen(text));
}

/* `size` bytes of the vectors' texts, from where the last call ended, `between` after about every `step` bytes. */
static void append_vectors(tik_bytes *to, size_t size, size_t step, const char *between)
{
    static size_t at;
    while (size > 0) {
        size_t some = step < size ? step : size;
        size_t end = at + some < vector_texts.length ? at + some : vector_texts.length;
        while (end < vector_texts.length && ((unsigned char)vector_texts.data[end] & 0xC0) == 0x80)
            end++;
        append(to, vector_texts.data + at, end - at);
        append_text(to, between);
        size -= size > end - at ? end - at : size;
        at = end == vector_texts.length ? 0 : end;
    }
}

static void append_run(tik_bytes *to, const char *unit, size_t size)
{
    for (size_t i = 0; i < size; i += strlen(unit))
        append_text(to, unit);
}

/* The texts: what they are for, and how they are made. */
static void make_mixed(tik_bytes *to)
{
    append_vectors(to, SIZE, SIZE, "");
}

static void make_specials_everywhere(tik_bytes *to)
{
    append_vectors(to, SIZE, 700, "<|endoftext|>");
}

static void make_specials_far_apart(tik_bytes *to)
{
    append_vectors(to, SIZE, (size_t)900 << 10, "<|endoftext|><|endoftext|>");
}

static void make_specials_in_long_pieces(tik_bytes *to)
{
    for (int i = 0; i < 3; i++) {
        append_run(to, "a", (size_t)700 << 10);
        append_text(to, "<|endoftext|>");
    }
    append_text(to, "<|endoftex");
}

static void make_long_pieces(tik_bytes *to)
{
    append_text(to, "a b, c. ");
    append_run(to, "a", SIZE);
    append_vectors(to, SIZE, SIZE, "");
    append_run(to, " ", (size_t)1 << 20);
    append_run(to, "\xE4\xB8\xAD", (size_t)1 << 20);
    append_run(to, "\n", (size_t)1 << 20);
}

static void make_one_piece(tik_bytes *to)
{
    append_run(to, "x", SIZE);
}

static void make_beginnings_of_specials(tik_bytes *to)
{
    append_vectors(to, SIZE, 300, "<|endoftext|");
}

static const struct {
    const char *what;
    void (*make)(tik_bytes *to);
} texts[] = {
    {"mixed", make_mixed},
    {"specials everywhere", make_specials_everywhere},
    {"specials far apart", make_specials_far_apart},
    {"specials in long pieces", make_specials_in_long_pieces},
    {"long pieces", make_long_pieces},
    {"one piece", make_one_piece},
    {"beginnings of specials", make_beginnings_of_specials},
};

static void expect_same(const char *what, const char *how, unsigned threads, const tik_ids *got, const tik_ids *wanted)
{
    for (size_t i = 0; i < got->length && i < wanted->length; i++)
        if (got->data[i] != wanted->data[i])
            fail_msg("%s, %s, %u threads: id %zu is %u, one thread has %u", what, how, threads, i, got->data[i],
                     wanted->data[i]);
    if (got->length != wanted->length)
        fail_msg("%s, %s, %u threads: %zu ids, one thread has %zu", what, how, threads, got->length, wanted->length);
}

/* The text as a stream in slices of that size; `ids` may be NULL. Returns the number of ids. */
static size_t stream(const tik_encoding *encoding, const tik_options *options, const tik_bytes *text, size_t slice,
                     tik_ids *ids)
{
    tik_stream *stream = NULL;
    tik_error error;
    tik_status status = tik_stream_new(encoding, options, &stream, &error);
    for (size_t at = 0; status == TIK_OK && at < text->length; at += slice)
        status = tik_stream_feed(stream, text->data + at, text->length - at < slice ? text->length - at : slice, ids,
                                 &error);
    if (status == TIK_OK)
        status = tik_stream_finish(stream, ids, &error);
    if (status != TIK_OK)
        fail_msg("stream: %s", error.message);
    size_t count = tik_stream_count(stream);
    tik_stream_free(stream);
    return count;
}

static void all_ways(const tik_encoding *encoding, tik_options options, const tik_bytes *text, const char *what)
{
    static const size_t slices[] = {SIZE * 8, 1200007};
    tik_error error;
    tik_ids wanted = TIK_IDS_INIT;
    tik_ids ids = TIK_IDS_INIT;
    options.threads = 1;
    assert_int_equal(tik_encode(encoding, text->data, text->length, &options, &wanted, &error), TIK_OK);
    for (size_t i = 0; i < THREAD_COUNTS; i++) {
        size_t count;
        options.threads = thread_counts[i];
        ids.length = 0;
        assert_int_equal(tik_encode(encoding, text->data, text->length, &options, &ids, &error), TIK_OK);
        expect_same(what, "whole", options.threads, &ids, &wanted);
        assert_int_equal(tik_count_with(encoding, text->data, text->length, &options, &count, &error), TIK_OK);
        assert_int_equal(count, wanted.length);
        for (size_t s = 0; s < sizeof slices / sizeof slices[0]; s++) {
            ids.length = 0;
            stream(encoding, &options, text, slices[s], &ids);
            expect_same(what, "stream", options.threads, &ids, &wanted);
        }
        assert_int_equal(stream(encoding, &options, text, slices[0], NULL), wanted.length);
    }
    tik_ids_free(&ids);
    tik_ids_free(&wanted);
}

static void threads_give_the_same_ids(void **state)
{
    tik_encoding *encoding = vectors_open(*state);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tik_bytes text = TIK_BYTES_INIT;
        texts[i].make(&text);
        tik_options options = TIK_OPTIONS_ORDINARY;
        all_ways(encoding, options, &text, texts[i].what);
        options.allowed = TIK_SET_ALL;
        all_ways(encoding, options, &text, texts[i].what);
        tik_bytes_free(&text);
    }
    tik_close(encoding);
}

static void threads_replace_what_is_not_utf8(void **state)
{
    tik_encoding *encoding = vectors_open(*state);
    tik_options options = TIK_OPTIONS_ORDINARY;
    options.replace_invalid = true;
    options.allowed = TIK_SET_ALL;
    tik_bytes text = TIK_BYTES_INIT;
    append_vectors(&text, SIZE, 5000, "\xFF<|endoftext|>\xE4\xB8");
    all_ways(encoding, options, &text, "bytes that are not UTF-8");
    tik_bytes_free(&text);
    tik_close(encoding);
}

/* The fault that a stream reports: the first in the text, however it is sliced. */
static void threads_find_the_same_faults(void **state)
{
    (void)state;
    static const struct {
        size_t bad;     /* here a byte that is not UTF-8, or nowhere */
        size_t special; /* here a disallowed special token, or nowhere */
        tik_status status;
        size_t offset;
    } cases[] = {
        {SIZE_MAX, 1400000, TIK_ERROR_SPECIAL, 1400000},
        {1450000, SIZE_MAX, TIK_ERROR_UTF8, 1450000},
        {1450000, 1449000, TIK_ERROR_SPECIAL, 1449000},
        {1450000, 1450100, TIK_ERROR_UTF8, 1450000},
        {100, 1500000, TIK_ERROR_UTF8, 100},
        {SIZE - 1, 13, TIK_ERROR_SPECIAL, 13},
        {SIZE - 1, SIZE_MAX, TIK_ERROR_UTF8, SIZE - 1},
    };
    static const size_t slices[] = {SIZE, 1200007, 65536};
    tik_encoding *encoding = vectors_open("cl100k_base");
    tik_bytes text = TIK_BYTES_INIT;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        text.length = 0;
        append_run(&text, "All work and no play. ", SIZE);
        text.length = SIZE;
        if (cases[i].special != SIZE_MAX)
            memcpy(text.data + cases[i].special, "<|endoftext|>", 13);
        if (cases[i].bad != SIZE_MAX)
            text.data[cases[i].bad] = (char)0xE4;
        for (size_t s = 0; s < sizeof slices / sizeof slices[0]; s++)
            for (unsigned threads = 1; threads <= 3; threads++) {
                tik_options options = TIK_OPTIONS_INIT;
                tik_error error;
                tik_stream *stream = NULL;
                tik_ids ids = TIK_IDS_INIT;
                options.threads = threads;
                assert_int_equal(tik_stream_new(encoding, &options, &stream, NULL), TIK_OK);
                tik_status status = TIK_OK;
                for (size_t at = 0; status == TIK_OK && at < SIZE; at += slices[s])
                    status = tik_stream_feed(stream, text.data + at, SIZE - at < slices[s] ? SIZE - at : slices[s],
                                             &ids, &error);
                if (status == TIK_OK)
                    status = tik_stream_finish(stream, &ids, &error);
                if (status != cases[i].status || error.offset != cases[i].offset)
                    fail_msg("case %zu, slices of %zu, %u threads: %s", i, slices[s], threads,
                             status == TIK_OK ? "no fault" : error.message);
                tik_ids_free(&ids);
                tik_stream_free(stream);
            }
    }
    tik_bytes_free(&text);
    tik_close(encoding);
}

/* The completions of a large text are those of one thread, which needs the text's last piece. */
static void completions_are_the_same(void **state)
{
    (void)state;
    tik_encoding *encoding = vectors_open("cl100k_base");
    tik_bytes text = TIK_BYTES_INIT;
    append_run(&text, "All work and no play. ", SIZE);
    append_text(&text, " fanta");
    tik_ids stable[2] = {TIK_IDS_INIT, TIK_IDS_INIT};
    tik_ids completions[2] = {TIK_IDS_INIT, TIK_IDS_INIT};
    tik_sizes starts = TIK_SIZES_INIT;
    for (unsigned i = 0; i < 2; i++) {
        tik_options options = TIK_OPTIONS_ORDINARY;
        options.threads = 1 + i;
        assert_int_equal(tik_encode_unstable(encoding, text.data, text.length, &options, &stable[i], &completions[i],
                                             &starts, NULL),
                         TIK_OK);
    }
    expect_same("unstable", "stable", 2, &stable[1], &stable[0]);
    expect_same("unstable", "completions", 2, &completions[1], &completions[0]);
    for (int i = 0; i < 2; i++) {
        tik_ids_free(&stable[i]);
        tik_ids_free(&completions[i]);
    }
    tik_sizes_free(&starts);
    tik_bytes_free(&text);
    tik_close(encoding);
}

static void decoding_on_threads_is_the_same(void **state)
{
    (void)state;
    enum { LISTS = 1000 };
    tik_encoding *encoding = vectors_open("o200k_base");
    tik_bytes text = TIK_BYTES_INIT;
    tik_ids ids = TIK_IDS_INIT;
    size_t id_starts[LISTS + 1];
    append_vectors(&text, SIZE, SIZE, "");
    assert_int_equal(tik_encode_ordinary(encoding, text.data, text.length, &ids, NULL), TIK_OK);
    /* Lists of uneven lengths, some empty; their ends fall within characters too. */
    for (size_t i = 0; i <= LISTS; i++)
        id_starts[i] = i % 7 == 3 ? id_starts[i - 1] : ids.length * i / LISTS;
    for (tik_decoding mode = TIK_DECODE_BYTES; mode <= TIK_DECODE_IGNORE; mode = (tik_decoding)(mode + 1)) {
        tik_bytes wanted = TIK_BYTES_INIT;
        tik_sizes wanted_starts = TIK_SIZES_INIT;
        tik_error wanted_error = {TIK_OK, 0, 0, ""};
        tik_status wanted_status =
            tik_decode_batch(encoding, ids.data, id_starts, LISTS, mode, 1, &wanted, &wanted_starts, &wanted_error);
        for (size_t i = 0; i < THREAD_COUNTS; i++) {
            tik_bytes bytes = TIK_BYTES_INIT;
            tik_sizes starts = TIK_SIZES_INIT;
            tik_error error = {TIK_OK, 0, 0, ""};
            append_text(&bytes, "before");
            assert_int_equal(tik_decode_batch(encoding, ids.data, id_starts, LISTS, mode, thread_counts[i], &bytes,
                                              &starts, &error),
                             wanted_status);
            assert_string_equal(error.message, wanted_error.message);
            assert_int_equal(bytes.length, 6 + wanted.length);
            assert_int_equal(starts.length, wanted_starts.length);
            if (wanted.length > 0)
                assert_memory_equal(bytes.data + 6, wanted.data, wanted.length);
            for (size_t k = 0; k < starts.length; k++)
                assert_int_equal(starts.data[k], 6 + wanted_starts.data[k]);
            tik_bytes_free(&bytes);
            tik_sizes_free(&starts);
        }
        if (mode == TIK_DECODE_BYTES) {
            assert_int_equal(wanted.length, text.length);
            assert_memory_equal(wanted.data, text.data, text.length);
        }
        tik_bytes_free(&wanted);
        tik_sizes_free(&wanted_starts);
    }
    tik_ids_free(&ids);
    tik_bytes_free(&text);
    tik_close(encoding);
}

/* Of several lists that can't be decoded, the first is named. */
static void the_first_bad_list_is_named(void **state)
{
    (void)state;
    enum { LISTS = 300 };
    uint32_t ids[LISTS];
    size_t id_starts[LISTS + 1];
    tik_encoding *encoding = vectors_open("cl100k_base");
    for (size_t i = 0; i < LISTS; i++) {
        ids[i] = i == 97 || i == 98 || i == 250 ? 4000000000u : 1000;
        id_starts[i] = i;
    }
    id_starts[LISTS] = LISTS;
    for (unsigned threads = 1; threads <= 4; threads++) {
        tik_bytes bytes = TIK_BYTES_INIT;
        tik_sizes starts = TIK_SIZES_INIT;
        tik_error error;
        assert_int_equal(tik_decode_batch(encoding, ids, id_starts, LISTS, TIK_DECODE_BYTES, threads, &bytes, &starts,
                                          &error),
                         TIK_ERROR_ID);
        assert_non_null(strstr(error.message, "text 97: "));
        assert_int_equal(bytes.length, 0);
        assert_int_equal(starts.length, 0);
        tik_bytes_free(&bytes);
        tik_sizes_free(&starts);
    }
    tik_close(encoding);
}

int main(void)
{
    json_t *rows = vectors_read("vectors.jsonl");
    for (size_t row = 0; row < json_array_size(rows); row++) {
        size_t length;
        const char *text = vectors_text(json_array_get(rows, row), &length);
        append(&vector_texts, text, length);
    }
    json_decref(rows);
    const struct CMUnitTest tests[] = {
        VECTOR_TEST(threads_give_the_same_ids, "r50k_base"),
        VECTOR_TEST(threads_give_the_same_ids, "cl100k_base"),
        VECTOR_TEST(threads_give_the_same_ids, "o200k_base"),
        VECTOR_TEST(threads_replace_what_is_not_utf8, "r50k_base"),
        VECTOR_TEST(threads_replace_what_is_not_utf8, "o200k_base"),
        cmocka_unit_test(threads_find_the_same_faults),
        cmocka_unit_test(completions_are_the_same),
        cmocka_unit_test(decoding_on_threads_is_the_same),
        cmocka_unit_test(the_first_bad_list_is_named),
    };
    int failed = cmocka_run_group_tests_name("parallel", tests, NULL, NULL);
    tik_bytes_free(&vector_texts);
    return failed;
}
