/*
 * streams: a text fed in any slices has the ids of the whole text, and ids decoded as they come give the
 * text in whole characters. On the vectors: every cut position, one byte at a time, random slices.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tik.h"
#include "vectors.h"

static json_t *rows;

/* Texts up to this many bytes are cut at every position; longer ones at every 31st. */
#define CUT_EVERYWHERE 200
#define CUT_STEP 31

static uint32_t random_next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static void feed(tik_stream *stream, const char *slice, size_t length, tik_ids *ids)
{
    tik_error error;
    if (tik_stream_feed(stream, slice, length, ids, &error) != TIK_OK)
        fail_msg("tik_stream_feed: %s", error.message);
}

/* Ends the text, compares with what the whole text gives, empties `ids`. */
static void expect_whole(tik_stream *stream, tik_ids *ids, const json_t *wanted, const char *how, size_t row,
                         size_t where)
{
    tik_error error;
    if (tik_stream_finish(stream, ids, &error) != TIK_OK)
        fail_msg("tik_stream_finish: %s", error.message);
    size_t length = json_array_size(wanted);
    for (size_t i = 0; i < length && i < ids->length; i++)
        if (ids->data[i] != vectors_id(wanted, i))
            fail_msg("line %zu, %s %zu: id %zu is %u, the whole text has %u", row + 1, how, where, i, ids->data[i],
                     vectors_id(wanted, i));
    if (ids->length != length)
        fail_msg("line %zu, %s %zu: %zu ids, the whole text has %zu", row + 1, how, where, ids->length, length);
    ids->length = 0;
}

static void slices_give_the_ids_of_the_whole(void **state)
{
    const char *name = *state;
    tik_encoding *encoding = vectors_open(name);
    const tik_options ordinary = TIK_OPTIONS_ORDINARY;
    tik_stream *stream = NULL;
    assert_int_equal(tik_stream_new(encoding, &ordinary, &stream, NULL), TIK_OK);
    tik_ids ids = TIK_IDS_INIT;
    uint64_t seed = 7;
    size_t cuts = 0;
    for (size_t row = 0; row < json_array_size(rows); row++) {
        size_t length;
        const char *text = vectors_text(json_array_get(rows, row), &length);
        const json_t *wanted = vectors_ids(json_array_get(rows, row), name);
        for (size_t cut = 0; cut <= length; cut += length <= CUT_EVERYWHERE ? 1 : CUT_STEP, cuts++) {
            feed(stream, text, cut, &ids);
            feed(stream, text + cut, length - cut, &ids);
            expect_whole(stream, &ids, wanted, "cut at", row, cut);
        }
        for (size_t i = 0; i < length; i++) {
            feed(stream, text + i, 1, &ids);
            assert_true(tik_stream_pending(stream) <= i + 1);
            assert_int_equal(tik_stream_count(stream), ids.length);
        }
        expect_whole(stream, &ids, wanted, "byte by byte, of", row, length);
        for (size_t round = 0; round < 3; round++) {
            for (size_t at = 0, slice; at < length; at += slice) {
                slice = random_next(&seed) % (round * 20 + 5);
                slice = slice < length - at ? slice : length - at;
                feed(stream, text + at, slice, &ids);
            }
            expect_whole(stream, &ids, wanted, "random slices, round", row, round);
        }
    }
    print_message("%s: %zu cuts\n", name, cuts);
    tik_ids_free(&ids);
    tik_stream_free(stream);
    tik_close(encoding);
}

static void special_tokens_may_be_cut(void **state)
{
    (void)state;
    static const char text[] = "don't<|endoftext|> <|endoftext|>\n <|endo<|fim_prefix|>x<|endoftext|<|endofprompt|>  \r\n";
    const size_t length = sizeof text - 1;
    static const char *const fim[] = {"<|fim_prefix|>"};
    tik_options policies[] = {TIK_OPTIONS_ORDINARY, TIK_OPTIONS_INIT, TIK_OPTIONS_INIT};
    policies[1].allowed = TIK_SET_ALL;
    policies[2].allowed = TIK_SET_LISTED;
    policies[2].allowed_list = fim;
    policies[2].allowed_count = 1;
    policies[2].disallowed = TIK_SET_NONE;
    tik_encoding *encoding = vectors_open("cl100k_base");
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        tik_ids whole = TIK_IDS_INIT, ids = TIK_IDS_INIT;
        tik_stream *stream = NULL;
        assert_int_equal(tik_encode(encoding, text, length, &policies[i], &whole, NULL), TIK_OK);
        assert_int_equal(tik_stream_new(encoding, &policies[i], &stream, NULL), TIK_OK);
        for (size_t first = 0; first <= length; first++)
            for (size_t second = first; second <= length; second++) {
                ids.length = 0;
                feed(stream, text, first, &ids);
                feed(stream, text + first, second - first, &ids);
                feed(stream, text + second, length - second, &ids);
                assert_int_equal(tik_stream_finish(stream, &ids, NULL), TIK_OK);
                assert_int_equal(ids.length, whole.length);
                assert_memory_equal(ids.data, whole.data, whole.length * sizeof *whole.data);
            }
        tik_stream_free(stream);
        tik_ids_free(&whole);
        tik_ids_free(&ids);
    }

    /* A refused one is refused wherever it is cut, and the offset is that in the whole text. */
    const tik_options reject = TIK_OPTIONS_INIT;
    for (size_t cut = 0; cut <= length; cut++) {
        tik_stream *stream = NULL;
        tik_ids ids = TIK_IDS_INIT;
        tik_error error;
        assert_int_equal(tik_stream_new(encoding, &reject, &stream, NULL), TIK_OK);
        tik_status status = tik_stream_feed(stream, text, cut, &ids, &error);
        if (status == TIK_OK)
            status = tik_stream_feed(stream, text + cut, length - cut, &ids, &error);
        if (status == TIK_OK)
            status = tik_stream_finish(stream, &ids, &error);
        assert_int_equal(status, TIK_ERROR_SPECIAL);
        assert_int_equal(error.offset, 5);
        tik_ids_free(&ids);
        tik_stream_free(stream);
    }
    tik_close(encoding);
}

/* Bad UTF-8: refused with its offset in the whole text, or replaced as in the whole text. */
static void bad_bytes_may_be_cut(void **state)
{
    (void)state;
    static const char text[] = "caf\xC3\xA9 \xE2\x82 x\xF0\x9F\x9A\xF0\x9F\x9A\x80\xED\xA0\x80\xFF end\xE2";
    const size_t length = sizeof text - 1;
    tik_encoding *encoding = vectors_open("o200k_base");
    tik_options options = TIK_OPTIONS_ORDINARY;
    tik_error error;
    for (size_t cut = 0; cut <= length; cut++) {
        tik_stream *stream = NULL;
        tik_ids ids = TIK_IDS_INIT;
        assert_int_equal(tik_stream_new(encoding, &options, &stream, NULL), TIK_OK);
        tik_status status = tik_stream_feed(stream, text, cut, &ids, &error);
        if (status == TIK_OK)
            status = tik_stream_feed(stream, text + cut, length - cut, &ids, &error);
        if (status == TIK_OK)
            status = tik_stream_finish(stream, &ids, &error);
        assert_int_equal(status, TIK_ERROR_UTF8);
        assert_int_equal(error.offset, 6);
        tik_ids_free(&ids);
        tik_stream_free(stream);
    }
    options.replace_invalid = true;
    tik_ids whole = TIK_IDS_INIT, ids = TIK_IDS_INIT;
    assert_int_equal(tik_encode(encoding, text, length, &options, &whole, NULL), TIK_OK);
    tik_stream *stream = NULL;
    assert_int_equal(tik_stream_new(encoding, &options, &stream, NULL), TIK_OK);
    for (size_t first = 0; first <= length; first++)
        for (size_t second = first; second <= length; second++) {
            ids.length = 0;
            feed(stream, text, first, &ids);
            feed(stream, text + first, second - first, &ids);
            feed(stream, text + second, length - second, &ids);
            assert_int_equal(tik_stream_finish(stream, &ids, NULL), TIK_OK);
            assert_int_equal(ids.length, whole.length);
            assert_memory_equal(ids.data, whole.data, whole.length * sizeof *whole.data);
        }
    tik_stream_free(stream);
    tik_ids_free(&whole);
    tik_ids_free(&ids);
    tik_close(encoding);
}

/* How many bytes at the end of `text` are a character not complete yet. */
static size_t unfinished(const char *text, size_t length)
{
    for (size_t back = 1; back <= 3 && back <= length; back++) {
        unsigned char byte = (unsigned char)text[length - back];
        if (byte >= 0xC0)
            return byte >= 0xF0 ? (back < 4 ? back : 0) : byte >= 0xE0 ? (back < 3 ? back : 0) : back < 2 ? back : 0;
        if (byte < 0x80)
            return 0;
    }
    return 0;
}

static void a_decoder_gives_out_whole_characters(void **state)
{
    const char *name = *state;
    tik_encoding *encoding = vectors_open(name);
    tik_decoder *decoder = NULL;
    assert_int_equal(tik_decoder_new(encoding, TIK_DECODE_STRICT, &decoder, NULL), TIK_OK);
    tik_bytes out = TIK_BYTES_INIT;
    for (size_t row = 0; row < json_array_size(rows); row++) {
        size_t length, bytes = 0;
        const char *text = vectors_text(json_array_get(rows, row), &length);
        const json_t *ids = vectors_ids(json_array_get(rows, row), name);
        out.length = 0;
        for (size_t i = 0; i < json_array_size(ids); i++) {
            const uint32_t id = vectors_id(ids, i);
            const char *token;
            size_t token_length;
            tik_error error;
            assert_int_equal(tik_token_bytes(encoding, id, &token, &token_length, NULL), TIK_OK);
            bytes += token_length;
            if (tik_decoder_feed(decoder, &id, 1, &out, &error) != TIK_OK)
                fail_msg("line %zu, id %zu: %s", row + 1, i, error.message);
            assert_int_equal(out.length, bytes - unfinished(text, bytes));
        }
        assert_int_equal(tik_decoder_finish(decoder, &out, NULL), TIK_OK);
        assert_int_equal(out.length, length);
        if (length)
            assert_memory_equal(out.data, text, length);
    }
    tik_bytes_free(&out);
    tik_decoder_free(decoder);
    tik_close(encoding);
}

int main(void)
{
    rows = vectors_read("vectors.jsonl");
    const struct CMUnitTest tests[] = {
        VECTOR_TEST(slices_give_the_ids_of_the_whole, "r50k_base"),
        VECTOR_TEST(slices_give_the_ids_of_the_whole, "cl100k_base"),
        VECTOR_TEST(slices_give_the_ids_of_the_whole, "o200k_base"),
        cmocka_unit_test(special_tokens_may_be_cut),
        cmocka_unit_test(bad_bytes_may_be_cut),
        VECTOR_TEST_VOCABULARIES(a_decoder_gives_out_whole_characters),
    };
    int failed = cmocka_run_group_tests_name("streams", tests, NULL, NULL);
    json_decref(rows);
    return failed;
}
