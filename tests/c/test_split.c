/*
 * split: the engine that runs the public patterns against the same patterns written by hand
 * (naive_split.c), on every short text over one member of each class and on random texts; what is given
 * of a text that goes on; pieces that no match covers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "naive_split.h"
#include "split/split.h"

enum { CAPACITY = 64, ALPHABET = 20, LONGEST = 4096 };

/* Members of the classes that the patterns tell apart, those that matter most in short texts first. */
static const uint32_t alphabet[ALPHABET] = {
    'a', 'B', ' ', '\n', '\'', 's', '1', '!', 0x301 /* mark */, 0x4E00 /* other letter */, 0xA0 /* space */,
    '\r', '/', 0x1C5 /* title case */, 0x2B0 /* modifier */, 'l', 0x17F /* folds to s */, 0x2028, 0x1F600, 0,
};

typedef struct engine {
    tik_splitter *splitter;
    tik_split_state *state;
} engine;

static engine engine_open(const char *pattern, size_t length)
{
    engine opened;
    tik_error error;
    if (tik_splitter_new(pattern, length, &opened.splitter, &error) ||
        tik_split_state_new(opened.splitter, &opened.state, &error))
        fail_msg("%s", error.message);
    return opened;
}

static void engine_close(engine opened)
{
    tik_split_state_free(opened.state);
    tik_splitter_free(opened.splitter);
}

/* All ends from `from` on, with TIK_SPLIT_DROPPED runs as they are. */
static size_t split(engine opened, const uint8_t *text, size_t length, bool more, size_t *ends)
{
    size_t total = 0, at = 0;
    while (at < length) {
        uint32_t some[CAPACITY];
        size_t count = 0, from = at;
        tik_error error;
        if (tik_split_next(opened.splitter, opened.state, text, length, from, more, some, CAPACITY, &count, &at, &error))
            fail_msg("%s", error.message);
        for (size_t i = 0; i < count; i++)
            ends[total++] = from + (some[i] & ~TIK_SPLIT_DROPPED);
        if (!count) {
            assert_true(more);
            break;
        }
        assert_int_equal(ends[total - 1], at);
    }
    return total;
}

static void print_text(const char *what, const uint8_t *text, size_t length, const size_t *ends, size_t count)
{
    fprintf(stderr, "%s:", what);
    for (size_t i = 0, at = 0; i < count; at = ends[i++]) {
        fprintf(stderr, " [");
        for (size_t k = at; k < ends[i] && k < length; k++)
            fprintf(stderr, text[k] >= ' ' && text[k] < 127 ? "%c" : "\\x%02X", text[k]);
        fprintf(stderr, "]");
    }
    fprintf(stderr, "\n");
}

static void compare(naive_pattern pattern, engine opened, const uint8_t *text, size_t length)
{
    static size_t want[LONGEST], got[LONGEST];
    size_t wanted = naive_split(pattern, text, length, want);
    size_t count = split(opened, text, length, false, got);
    if (count != wanted || memcmp(want, got, count * sizeof *want) != 0) {
        print_text("by hand", text, length, want, wanted);
        print_text("engine ", text, length, got, count);
        fail_msg("pattern %d: other pieces than by hand", (int)pattern);
    }
}

static size_t append(uint8_t *text, size_t length, uint32_t code_point)
{
    return length + tik_utf8_encode(code_point, text + length);
}

/* Every text of `size` characters over the first `members` of the alphabet. */
static void compare_all(naive_pattern pattern, engine opened, size_t members, size_t size)
{
    size_t digits[8] = { 0 };
    for (;;) {
        uint8_t text[8 * 4];
        size_t length = 0;
        for (size_t i = 0; i < size; i++)
            length = append(text, length, alphabet[digits[i]]);
        compare(pattern, opened, text, length);
        size_t place = 0;
        while (place < size && ++digits[place] == members)
            digits[place++] = 0;
        if (place == size)
            return;
    }
}

static engine open_public(size_t pattern)
{
    return engine_open(naive_pattern_text[pattern], strlen(naive_pattern_text[pattern]));
}

static void test_short_texts(void **state)
{
    (void)state;
    static const struct {
        size_t members, size;
    } sweeps[] = { { ALPHABET, 1 }, { ALPHABET, 2 }, { ALPHABET, 3 }, { 17, 4 }, { 10, 5 }, { 6, 6 } };
    for (size_t pattern = 0; pattern < NAIVE_PATTERNS; pattern++) {
        engine opened = open_public(pattern);
        for (size_t i = 0; i < sizeof sweeps / sizeof sweeps[0]; i++)
            compare_all((naive_pattern)pattern, opened, sweeps[i].members, sweeps[i].size);
        engine_close(opened);
    }
}

/* A plain generator, so that a failure can be run again: xorshift64*. */
static uint64_t random_state = 0x9E3779B97F4A7C15u;

static uint32_t random_below(uint32_t bound)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (uint32_t)((random_state * 0x2545F4914F6CDD1Du) >> 33) % bound;
}

static uint32_t random_code_point(void)
{
    switch (random_below(8)) {
    case 0: {
        uint32_t any = random_below(0x110000);
        return any >= 0xD800 && any <= 0xDFFF ? 0xFFFD : any;
    }
    case 1:
        return random_below(0x3000);
    case 2:
        return random_below(0x80);
    default:
        return alphabet[random_below(ALPHABET)];
    }
}

/* Characters come in runs, some long, as the patterns treat runs. */
static size_t random_text(uint8_t *text, size_t limit)
{
    size_t length = 0, characters = random_below(200);
    uint32_t code_point = random_code_point();
    for (size_t i = 0; i < characters && length + 4 <= limit; i++) {
        if (random_below(4))
            code_point = random_code_point();
        length = append(text, length, code_point);
    }
    return length;
}

static void test_random_texts(void **state)
{
    (void)state;
    for (size_t pattern = 0; pattern < NAIVE_PATTERNS; pattern++) {
        engine opened = open_public(pattern);
        for (int i = 0; i < 20000; i++) {
            uint8_t text[LONGEST];
            size_t length = random_text(text, sizeof text);
            compare((naive_pattern)pattern, opened, text, length);
        }
        engine_close(opened);
    }
}

/* The pieces given of a text that may go on are the first pieces of any text that it begins. */
static void test_text_goes_on(void **state)
{
    (void)state;
    static size_t whole[LONGEST], part[LONGEST];
    for (size_t pattern = 0; pattern < NAIVE_PATTERNS; pattern++) {
        engine opened = open_public(pattern);
        for (int i = 0; i < 2000; i++) {
            uint8_t text[256];
            size_t length = random_text(text, sizeof text);
            size_t all = split(opened, text, length, false, whole);
            for (size_t cut = 1; cut < length; cut++) {
                if (!tik_utf8_is_start(text[cut]))
                    continue;
                size_t given = split(opened, text, cut, true, part);
                assert_true(given <= all);
                assert_memory_equal(part, whole, given * sizeof *part);
            }
        }
        engine_close(opened);
    }
}

/* Something is given in the end: what is held back is bounded by the last pieces. */
static void test_text_goes_on_far(void **state)
{
    (void)state;
    const char *text = "one two three, four 12345 five.\n\nsix  seven eight";
    static size_t ends[LONGEST];
    for (size_t pattern = 0; pattern < NAIVE_PATTERNS; pattern++) {
        engine opened = open_public(pattern);
        size_t given = split(opened, (const uint8_t *)text, strlen(text), true, ends);
        assert_true(given > 0);
        assert_true(ends[given - 1] >= strlen("one two three, four 12345 five.\n\nsix "));
        engine_close(opened);
    }
}

static void test_dropped(void **state)
{
    (void)state;
    engine opened = engine_open("[a-z]+", 6);
    const char *text = "..ab--cd!";
    uint32_t ends[CAPACITY];
    size_t count, end;
    tik_error error;
    assert_int_equal(tik_split_next(opened.splitter, opened.state, (const uint8_t *)text, 9, 0, false, ends, CAPACITY,
                                    &count, &end, &error),
                     TIK_OK);
    static const uint32_t want[] = { 2 | TIK_SPLIT_DROPPED, 4, 6 | TIK_SPLIT_DROPPED, 8, 9 | TIK_SPLIT_DROPPED };
    assert_int_equal(count, 5);
    assert_int_equal(end, 9);
    assert_memory_equal(ends, want, sizeof want);
    engine_close(opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_texts),      cmocka_unit_test(test_random_texts),
        cmocka_unit_test(test_text_goes_on),     cmocka_unit_test(test_text_goes_on_far),
        cmocka_unit_test(test_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
