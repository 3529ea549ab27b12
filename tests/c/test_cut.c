/*
 * Truncating and chunking. On short texts what is found is compared with the longest of all parts; on
 * longer ones, what is promised is checked: the limit, characters, clusters, joined chunks, any slices.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "encode/cut.h"
#include "unicode/unicode.h"

static const char *const encodings[] = {"r50k_base", "cl100k_base", "o200k_base"};
enum { ENCODINGS = sizeof encodings / sizeof encodings[0] };

/* What random texts are put together from: things that split, merge and cluster in different ways. */
static const char *const parts[] = {
    "a", "to", "ken", "ization", " the", " ", "  ", "\n", "\n\n", "\r\n", "\t", "'s", "'", "'ll", "1", "2024", ".", "!",
    ", ", "é", "e\u0301", "ß", "你", "好世界", "。", "日本語", "한국어", "🚀", "👩‍👩‍👧", "🇮🇹", "ÿ", "\u00A0", "\u2028",
    "B", "XYZ", "camelCase", "((", "\"", "==", "https://", "\u0915\u094D\u0937\u093F",
};
enum { PARTS = sizeof parts / sizeof parts[0] };

static uint32_t seed = 1;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static size_t random_text(char *text, size_t room, size_t wanted)
{
    size_t length = 0;
    for (size_t i = 0; i < wanted; i++) {
        const char *part = parts[draw(PARTS)];
        if (length + strlen(part) > room)
            break;
        memcpy(text + length, part, strlen(part));
        length += strlen(part);
    }
    return length;
}

static size_t count(const tik_encoding *encoding, const char *text, size_t length)
{
    size_t tokens;
    assert_int_equal(tik_count(encoding, text, length, &tokens, NULL), TIK_OK);
    return tokens;
}

static bool is_place(const char *text, size_t length, size_t at, bool graphemes)
{
    const uint8_t *bytes = (const uint8_t *)text;
    if (at == 0 || at == length)
        return true;
    if (!tik_utf8_is_start(bytes[at]))
        return false;
    size_t from = 0;
    while (graphemes && from < at)
        from = tik_grapheme_next(bytes, length, from);
    return !graphemes || from == at;
}

static bool is_kind(const char *text, size_t length, size_t at, const tik_cut_options *options, int kind)
{
    return is_place(text, length, at, options->graphemes) &&
           (at == 0 || at == length || kind == TIK_AT_CHARACTER ||
            (int)tik_boundary_at((const uint8_t *)text, length, at) >= kind);
}

/* Every part is counted: the longest at a place of the kind wanted, or of the next finer one that has any. */
static size_t longest_beginning(const tik_encoding *encoding, const char *text, size_t length, size_t limit,
                                const tik_cut_options *options)
{
    size_t end = 0;
    for (int kind = (int)options->at; kind >= 0 && end == 0; kind--) {
        end = length;
        while (!is_kind(text, length, end, options, kind) || count(encoding, text, end) > limit)
            end--;
    }
    return end;
}

static size_t longest_end(const tik_encoding *encoding, const char *text, size_t length, size_t limit,
                          const tik_cut_options *options)
{
    size_t start = length;
    for (int kind = (int)options->at; kind >= 0 && start == length; kind--) {
        start = 0;
        while (!is_kind(text, length, start, options, kind) || count(encoding, text + start, length - start) > limit)
            start++;
    }
    return start;
}

static void check_truncation(const tik_encoding *encoding, const char *text, size_t length, size_t limit,
                             const tik_cut_options *options)
{
    size_t start = 0;
    size_t end = 0;
    size_t tokens = 0;
    size_t wanted = longest_beginning(encoding, text, length, limit, options);
    tik_status status =
        tik_truncate(encoding, text, length, limit, TIK_KEEP_BEGINNING, options, &start, &end, &tokens, NULL);
    assert_int_equal(status, wanted == 0 && length > 0 ? TIK_ERROR_LIMIT : TIK_OK);
    assert_int_equal(end, wanted);
    assert_int_equal(tokens, count(encoding, text, end));

    start = end = length;
    tokens = 0;
    wanted = longest_end(encoding, text, length, limit, options);
    status = tik_truncate(encoding, text, length, limit, TIK_KEEP_END, options, &start, &end, &tokens, NULL);
    assert_int_equal(status, wanted == length && length > 0 ? TIK_ERROR_LIMIT : TIK_OK);
    assert_int_equal(start, wanted);
    assert_int_equal(tokens, count(encoding, text + start, length - start));
}

static void test_longest(void **state)
{
    (void)state;
    enum { TEXTS = 150, ROOM = 300 };
    char text[ROOM];
    for (size_t e = 0; e < ENCODINGS; e++) {
        tik_encoding *encoding;
        assert_int_equal(tik_open(encodings[e], &encoding, NULL), TIK_OK);
        for (size_t i = 0; i < TEXTS; i++) {
            size_t length = random_text(text, ROOM, 1 + draw(30));
            tik_cut_options options = TIK_CUT_OPTIONS_INIT;
            options.at = (tik_boundary)(i % 5);
            options.graphemes = i % 3 == 0;
            check_truncation(encoding, text, length, 1 + draw(20), &options);
        }
        tik_close(encoding);
    }
}

/*
 * An encoding of the 256 bytes and some random tokens, which may be long, so that a longer text often has fewer
 * tokens.
 */
static tik_encoding *tiny_encoding(const char *pattern, const char *const *units, size_t unit_count)
{
    enum { TOKENS = 300, TOKEN_ROOM = 700 };
    static char bytes[TOKENS][TOKEN_ROOM];
    static tik_token tokens[TOKENS];
    size_t made = 0;
    for (; made < 256; made++) {
        bytes[made][0] = (char)made;
        tokens[made] = (tik_token){bytes[made], 1, (uint32_t)made};
    }
    for (size_t tries = 0; made < TOKENS && tries < 10 * TOKENS; tries++) {
        size_t length = 0;
        for (size_t wanted = 2 + draw(draw(4) ? 6 : 300); wanted && length + 8 < TOKEN_ROOM; wanted--) {
            const char *unit = units[draw((uint32_t)unit_count)];
            memcpy(bytes[made] + length, unit, strlen(unit));
            length += strlen(unit);
        }
        bool is_new = true;
        for (size_t i = 0; i < made; i++)
            is_new = is_new && (tokens[i].length != length || memcmp(bytes[i], bytes[made], length) != 0);
        if (!is_new)
            continue;
        tokens[made] = (tik_token){bytes[made], length, (uint32_t)made};
        made++;
    }
    tik_definition definition = {sizeof definition, "tiny", pattern, strlen(pattern), tokens, made, NULL, 0, 0};
    tik_encoding *encoding;
    tik_error error;
    if (tik_open_definition(&definition, &encoding, &error))
        fail_msg("%s", error.message);
    return encoding;
}

/* Random ranks, under a pattern that a scanner runs and others; pieces of one letter are as long as the text. */
static void test_longest_of_tiny_encodings(void **state)
{
    (void)state;
    enum { ENCODINGS_OF_EACH = 6, TEXTS = 6, ROOM = 1600, UNITS = 6 };
    static const char *const units[][UNITS] = {
        {"a", "b", "ab", "a", "a", "b"}, {"a", "b", " ", "\n", ". ", "a"}, {"a", "a", "a", "a", "a", "a"},
        {"é", "e\u0301", "a", " ", "!", "\n\n"}, {" ", "  ", "a", " ", " ", " "}, {"🚀", "好", "a", "。", "1", " "},
    };
    tik_encoding *public_encoding;
    assert_int_equal(tik_open("cl100k_base", &public_encoding, NULL), TIK_OK);
    const char *patterns[] = {tik_pattern(public_encoding, NULL), "\\w+|\\W+", "(?s:.+)", "[ab]{1,40}|(?<=a)\\s|\\O"};
    static char text[ROOM];
    for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++) {
        for (size_t e = 0; e < ENCODINGS_OF_EACH; e++) {
            const char *const *some = units[e % (sizeof units / sizeof units[0])];
            tik_encoding *encoding = tiny_encoding(patterns[p], some, UNITS);
            for (size_t i = 0; i < TEXTS; i++) {
                size_t length = 0;
                for (size_t wanted = 1 + draw(i % 4 ? 120 : 400); wanted && length + 8 < ROOM; wanted--) {
                    const char *unit = some[draw(UNITS)];
                    memcpy(text + length, unit, strlen(unit));
                    length += strlen(unit);
                }
                tik_cut_options options = TIK_CUT_OPTIONS_INIT;
                options.at = (tik_boundary)draw(5);
                options.graphemes = draw(2);
                check_truncation(encoding, text, length, 1 + draw(draw(2) ? 6 : 100), &options);
            }
            tik_close(encoding);
        }
    }
    tik_close(public_encoding);
}

/* Feeds a text in random slices and checks every chunk. */
static void check_chunks(const tik_encoding *encoding, const char *text, size_t length, size_t limit, size_t overlap,
                         const tik_cut_options *options)
{
    tik_chunker *chunker;
    tik_error error;
    size_t covered = 0;
    size_t last_start = 0;
    assert_int_equal(tik_chunker_new(encoding, limit, overlap, options, &chunker, &error), TIK_OK);
    for (size_t fed = 0, more = 1; more;) {
        size_t slice = 1 + draw(draw(4) ? 50 : 5000);
        more = fed < length;
        if (slice > length - fed)
            slice = length - fed;
        if (more)
            assert_int_equal(tik_chunker_feed(chunker, text + fed, slice, &error), TIK_OK);
        else
            assert_int_equal(tik_chunker_finish(chunker, &error), TIK_OK);
        fed += slice;
        for (;;) {
            tik_chunk chunk;
            bool found;
            tik_status status = tik_chunker_next(chunker, &chunk, &found, &error);
            if (status == TIK_ERROR_LIMIT) {
                tik_chunker_free(chunker);
                return;
            }
            assert_int_equal(status, TIK_OK);
            if (!found)
                break;
            assert_true(chunk.start <= covered && chunk.end > covered);
            assert_true(overlap > 0 || chunk.start == covered);
            assert_true(covered == 0 || chunk.start > last_start);
            assert_true(count(encoding, text + chunk.start, covered - chunk.start) <= overlap);
            assert_int_equal(chunk.length, chunk.end - chunk.start);
            assert_memory_equal(chunk.text, text + chunk.start, chunk.length);
            assert_int_equal(chunk.tokens, count(encoding, chunk.text, chunk.length));
            assert_true(chunk.tokens <= limit);
            assert_true(is_place(text, length, chunk.end, options && options->graphemes));
            size_t characters = 0;
            for (size_t i = 0; i < chunk.end; i++)
                characters += tik_utf8_is_start((uint8_t)text[i]);
            assert_int_equal(chunk.end_character, characters);
            covered = chunk.end;
            last_start = chunk.start;
        }
    }
    assert_int_equal(covered, length);
    tik_chunker_free(chunker);
}

static void test_chunks(void **state)
{
    (void)state;
    enum { TEXTS = 50, ROOM = 6000 };
    char *text = malloc(ROOM);
    assert_non_null(text);
    for (size_t e = 0; e < ENCODINGS; e++) {
        tik_encoding *encoding;
        assert_int_equal(tik_open(encodings[e], &encoding, NULL), TIK_OK);
        for (size_t i = 0; i < TEXTS; i++) {
            tik_cut_options options = TIK_CUT_OPTIONS_INIT;
            options.at = (tik_boundary)draw(5);
            options.graphemes = draw(2);
            size_t length = random_text(text, ROOM, draw(i % 20 ? 200 : 2000));
            size_t limit = 1 + draw(draw(2) ? 20 : 500);
            check_chunks(encoding, text, length, limit, draw(2) ? draw((uint32_t)limit) : 0, &options);
        }
        tik_close(encoding);
    }
    free(text);
}

/* Texts without a certain boundary. */
static void test_long_pieces(void **state)
{
    (void)state;
    enum { LENGTH = 6000 };
    static const char *const units[] = {"a", " ", "ab", "\n", "=", "é", "你好", "xK9", "🚀"};
    tik_encoding *encoding;
    char *text = malloc(LENGTH);
    assert_non_null(text);
    assert_int_equal(tik_open("o200k_base", &encoding, NULL), TIK_OK);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t unit = strlen(units[i]);
        size_t length = LENGTH / unit * unit;
        for (size_t k = 0; k < length; k += unit)
            memcpy(text + k, units[i], unit);
        check_chunks(encoding, text, length, 100, 0, NULL);
        check_chunks(encoding, text, length, 7, 3, NULL);
        check_chunks(encoding, text, length, 2000, 1000, NULL);
    }
    for (size_t k = 0; k < LENGTH; k++)
        text[k] = (char)('a' + draw(26));
    check_chunks(encoding, text, LENGTH, 100, 10, NULL);
    tik_close(encoding);
    free(text);
}

/* Text | marks where it is best cut, by kind. */
static void test_boundaries(void **state)
{
    (void)state;
    static const struct {
        const char *before;
        const char *after;
        tik_boundary kind;
    } rows[] = {
        {"one", " two", TIK_AT_WORD},
        {"one ", "two", TIK_AT_CHARACTER},
        {"on", "e", TIK_AT_CHARACTER},
        {"One.", " Two", TIK_AT_SENTENCE},
        {"One.)\"", " Two", TIK_AT_SENTENCE},
        {"One.", ") Two", TIK_AT_CHARACTER},
        {"3.", "14", TIK_AT_CHARACTER},
        {"好。", "你", TIK_AT_SENTENCE},
        {"好！", "」你", TIK_AT_CHARACTER},
        {"好！」", "你", TIK_AT_SENTENCE},
        {"是？", "！你", TIK_AT_CHARACTER},
        {"one\n", "two", TIK_AT_LINE},
        {"one\r", "\ntwo", TIK_AT_CHARACTER},
        {"one\r\n", "two", TIK_AT_LINE},
        {"one\n\n", "two", TIK_AT_PARAGRAPH},
        {"one\n", "\ntwo", TIK_AT_LINE},
        {"one\n\n", "\ntwo", TIK_AT_LINE},
        {"one\r\n\r\n", "two", TIK_AT_PARAGRAPH},
        {"one\n \t\n", "two", TIK_AT_PARAGRAPH},
        {"one\n\n", " \n two", TIK_AT_LINE},
        {"\n", "two", TIK_AT_PARAGRAPH},
        {"one\xC2\xA0", "two", TIK_AT_CHARACTER},
        {"one", "\xC2\xA0two", TIK_AT_WORD},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[64];
        size_t at = strlen(rows[i].before);
        size_t length = at + strlen(rows[i].after);
        memcpy(text, rows[i].before, at);
        memcpy(text + at, rows[i].after, length - at);
        if (tik_boundary_at((const uint8_t *)text, length, at) != rows[i].kind)
            fail_msg("row %zu: kind %d", i, (int)tik_boundary_at((const uint8_t *)text, length, at));
    }
}

static void test_errors(void **state)
{
    (void)state;
    tik_encoding *encoding;
    tik_chunker *chunker = NULL;
    tik_error error;
    tik_chunk chunk;
    bool found;
    size_t start, end, tokens;
    assert_int_equal(tik_open("cl100k_base", &encoding, NULL), TIK_OK);

    assert_int_equal(tik_chunker_new(encoding, 0, 0, NULL, &chunker, &error), TIK_ERROR_ARGUMENT);
    assert_int_equal(tik_chunker_new(encoding, 5, 5, NULL, &chunker, &error), TIK_ERROR_ARGUMENT);
    assert_null(chunker);

    /* A bad byte is told by its place in the whole text, wherever the slices are cut. */
    static const struct {
        const char *slices[3];
        size_t offset;
    } bad[] = {{{"ab", "c\xFF", "d"}, 3}, {{"ab\xE4", "\xBD", "d"}, 2}, {{"ab\xE4", "\xBD", ""}, 2}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tik_status status = TIK_OK;
        assert_int_equal(tik_chunker_new(encoding, 5, 0, NULL, &chunker, &error), TIK_OK);
        for (size_t k = 0; k < 3 && status == TIK_OK; k++)
            status = tik_chunker_feed(chunker, bad[i].slices[k], strlen(bad[i].slices[k]), &error);
        if (status == TIK_OK)
            status = tik_chunker_finish(chunker, &error);
        assert_int_equal(status, TIK_ERROR_UTF8);
        assert_int_equal(error.offset, bad[i].offset);
        tik_chunker_free(chunker);
    }

    /* A rocket takes three tokens: two are too few, and the message names three. */
    assert_int_equal(tik_chunker_new(encoding, 2, 0, NULL, &chunker, &error), TIK_OK);
    assert_int_equal(tik_chunker_feed(chunker, "a🚀", 5, &error), TIK_OK);
    assert_int_equal(tik_chunker_finish(chunker, &error), TIK_OK);
    assert_int_equal(tik_chunker_next(chunker, &chunk, &found, &error), TIK_OK);
    assert_true(found);
    assert_int_equal(tik_chunker_next(chunker, &chunk, &found, &error), TIK_ERROR_LIMIT);
    assert_int_equal(error.offset, 1);
    assert_non_null(strstr(error.message, "at least 3"));
    tik_chunker_free(chunker);

    assert_int_equal(tik_truncate(encoding, "é\xFF", 3, 9, TIK_KEEP_BEGINNING, NULL, &start, &end, &tokens, &error),
                     TIK_ERROR_UTF8);
    assert_int_equal(error.offset, 2);
    assert_int_equal(tik_truncate(encoding, "ab", 2, 0, TIK_KEEP_BEGINNING, NULL, &start, &end, &tokens, &error),
                     TIK_OK);
    assert_int_equal(end, 0);
    tik_close(encoding);
}

/* Special tokens that are taken count as one and are not cut. */
static void test_special(void **state)
{
    (void)state;
    static const char text[] = "one<|endoftext|>two<|endoftext|>three";
    tik_options special = TIK_OPTIONS_ORDINARY;
    tik_cut_options options = TIK_CUT_OPTIONS_INIT;
    tik_encoding *encoding;
    tik_error error;
    size_t start, end, tokens;
    special.allowed = TIK_SET_ALL;
    options.special = &special;
    assert_int_equal(tik_open("cl100k_base", &encoding, NULL), TIK_OK);
    assert_int_equal(tik_truncate(encoding, text, strlen(text), 2, TIK_KEEP_BEGINNING, &options, &start, &end,
                                  &tokens, &error),
                     TIK_OK);
    assert_int_equal(end, strlen("one<|endoftext|>"));
    assert_int_equal(tik_truncate(encoding, text, strlen(text), 2, TIK_KEEP_END, &options, &start, &end, &tokens,
                                  &error),
                     TIK_OK);
    assert_int_equal(start, strlen(text) - strlen("<|endoftext|>three"));
    special.allowed = TIK_SET_NONE;
    special.disallowed = TIK_SET_ALL;
    assert_int_equal(tik_truncate(encoding, text, strlen(text), 2, TIK_KEEP_BEGINNING, &options, &start, &end,
                                  &tokens, &error),
                     TIK_ERROR_SPECIAL);
    tik_close(encoding);
}

/* A chunker replaces what is not UTF-8 if it is asked to, in slices of any size. */
static void test_replaced(void **state)
{
    (void)state;
    static const char text[] = "a\xFF\xE2\x82z\xF0\x9F\x9A\x80\xC3";
    static const char good[] = "a\uFFFD\uFFFDz\U0001F680\uFFFD";
    tik_options special = TIK_OPTIONS_ORDINARY;
    tik_cut_options options = TIK_CUT_OPTIONS_INIT;
    tik_encoding *encoding;
    special.replace_invalid = true;
    options.special = &special;
    assert_int_equal(tik_open("cl100k_base", &encoding, NULL), TIK_OK);
    for (size_t step = 1; step <= sizeof text; step++) {
        tik_chunker *chunker;
        tik_chunk chunk;
        bool found = true;
        size_t end = 0;
        assert_int_equal(tik_chunker_new(encoding, 3, 0, &options, &chunker, NULL), TIK_OK);
        for (size_t at = 0; at < sizeof text - 1; at += step) {
            size_t length = sizeof text - 1 - at < step ? sizeof text - 1 - at : step;
            assert_int_equal(tik_chunker_feed(chunker, text + at, length, NULL), TIK_OK);
        }
        assert_int_equal(tik_chunker_finish(chunker, NULL), TIK_OK);
        while (tik_chunker_next(chunker, &chunk, &found, NULL) == TIK_OK && found) {
            assert_int_equal(chunk.start, end);
            end = chunk.end;
            assert_memory_equal(chunk.text, good + chunk.start, chunk.length);
        }
        assert_int_equal(end, sizeof good - 1);
        tik_chunker_free(chunker);
    }
    tik_bytes bytes = TIK_BYTES_INIT;
    assert_int_equal(tik_replace_invalid(text, sizeof text - 1, &bytes, NULL), TIK_OK);
    assert_int_equal(bytes.length, sizeof good - 1);
    assert_memory_equal(bytes.data, good, bytes.length);
    tik_bytes_free(&bytes);
    tik_close(encoding);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_longest),     cmocka_unit_test(test_chunks), cmocka_unit_test(test_long_pieces),
        cmocka_unit_test(test_boundaries),  cmocka_unit_test(test_errors), cmocka_unit_test(test_special),
        cmocka_unit_test(test_replaced),   cmocka_unit_test(test_longest_of_tiny_encodings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
