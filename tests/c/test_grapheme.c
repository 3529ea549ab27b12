/* Grapheme clusters: Unicode's own test file for 16.0, and long runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unicode/unicode.h"

/* A line of the test file: code points in hexadecimal, ÷ where a cluster ends and × where none does. */
static void check_line(const char *line)
{
    uint8_t text[256];
    size_t length = 0;
    bool is_boundary[sizeof text] = {false};
    for (const char *at = line; *at && *at != '\n';) {
        if (*at == ' ')
            at++;
        else if (strncmp(at, "÷", 2) == 0) {
            is_boundary[length] = true;
            at += 2;
        } else if (strncmp(at, "×", 2) == 0)
            at += 2;
        else {
            char *end;
            length += tik_utf8_encode((uint32_t)strtoul(at, &end, 16), text + length);
            assert_true(end > at && length + 4 < sizeof text);
            at = end;
        }
    }
    assert_true(is_boundary[length]);
    for (size_t at = 0; at <= length; at++)
        if ((at == length || tik_utf8_is_start(text[at])) &&
            tik_grapheme_is_boundary(text, length, at) != (is_boundary[at] || at == 0))
            fail_msg("wrong at byte %zu, looked at by itself, of: %s", at, line);
    for (size_t at = 0; at < length;) {
        size_t next = tik_grapheme_next(text, length, at);
        for (size_t i = at + 1; i < next; i++)
            if (is_boundary[i])
                fail_msg("no boundary seen at byte %zu of: %s", i, line);
        if (next <= at || !is_boundary[next])
            fail_msg("a boundary seen at byte %zu of: %s", next, line);
        at = next;
    }
}

static void test_published(void **state)
{
    (void)state;
    const char *source = getenv("TIK_SOURCE");
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/data/GraphemeBreakTest-16.0.0.txt", source ? source : ".");
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("cannot open %s", path);
    char line[1024];
    size_t count = 0;
    while (fgets(line, sizeof line, file))
        if (line[0] != '#') {
            check_line(line);
            count++;
        }
    fclose(file);
    assert_int_equal(count, 1093);
}

/* What the published file has no line for. */
static void test_others(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "÷ 0041 ÷ 0042 ÷",
        "÷ 1F469 × 200D × 200D ÷ 1F469 ÷",
        "÷ 1F469 × 0308 × 200D × 1F469 × 200D × 1F467 ÷",
        "÷ 1F469 × 200D × 0308 ÷ 1F469 ÷",
        "÷ 1F1E6 × 1F1E7 ÷ 1F1E8 × 1F1E9 ÷ 1F1EA ÷",
        "÷ 0915 × 094D × 200C ÷ 0924 ÷",
        "÷ 0915 × 094D × 0903 ÷ 0924 ÷",
        "÷ 0600 × 1F1E6 × 1F1E7 ÷ 1F1E8 ÷",
        "÷ 1100 × 1160 × 11A8 ÷ 1100 ÷",
        "÷ 000D × 000A ÷ 0308 ÷",
        "÷ 000D ÷ 000D × 000A ÷",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        check_line(lines[i]);
}

/* Every place looked at by itself is what going through the text finds: one character of each class, in any order. */
static void test_places(void **state)
{
    (void)state;
    static const uint32_t points[] = {'a',    '\r',   '\n',   0x0001, 0x0600, 0x0903, 0x1100,  0x1160,  0x11A8,
                                      0xAC00, 0xAC01, 0x1F1E6, 0x1F469, 0x0915, 0x0308, 0x094D, 0x200C, 0x200D};
    enum { TEXTS = 100000, LONGEST = 12 };
    uint32_t seed = 1;
    for (size_t i = 0; i < TEXTS; i++) {
        uint8_t text[4 * LONGEST];
        size_t length = 0;
        for (size_t j = 0; j < LONGEST; j++) {
            seed = seed * 1664525 + 1013904223;
            /* Half of them from the last seven, which rules look back at. */
            size_t count = sizeof points / sizeof *points;
            size_t index = seed >> 31 ? count - 1 - (seed >> 16) % 7 : (seed >> 16) % count;
            length += tik_utf8_encode(points[index], text + length);
        }
        size_t next = 0;
        for (size_t at = 0; at <= length; at++) {
            bool expected = at == next;
            if (expected)
                next = tik_grapheme_next(text, length, at);
            if (at == length || tik_utf8_is_start(text[at]))
                assert_int_equal(tik_grapheme_is_boundary(text, length, at), expected);
        }
    }
}

static void test_ends(void **state)
{
    (void)state;
    const uint8_t text[] = "ab";
    assert_int_equal(tik_grapheme_next(text, 0, 0), 0);
    assert_int_equal(tik_grapheme_next(text, 2, 1), 2);
    assert_int_equal(tik_grapheme_next(text, 2, 2), 2);
    assert_int_equal(tik_grapheme_next(text, 2, SIZE_MAX), 2);
}

/* One cluster of a million characters, and as many clusters of one: both end. */
static void test_long(void **state)
{
    (void)state;
    enum { CHARACTERS = 1000000 };
    uint8_t *text = malloc(2 * (size_t)CHARACTERS);
    assert_non_null(text);
    for (size_t i = 0; i < CHARACTERS; i++)
        memcpy(text + 2 * i, "\xCC\x81", 2);
    assert_int_equal(tik_grapheme_next(text, 2 * (size_t)CHARACTERS, 0), 2 * (size_t)CHARACTERS);
    memset(text, 'a', CHARACTERS);
    size_t count = 0;
    for (size_t at = 0; at < CHARACTERS; at = tik_grapheme_next(text, CHARACTERS, at))
        count++;
    assert_int_equal(count, CHARACTERS);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
