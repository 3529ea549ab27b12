/* UTF-8 validation: every version gives the first bad byte that the definition gives, wherever it lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8_versions.h"

typedef size_t validator(const uint8_t *text, size_t length);

static struct {
    const char *name;
    validator *run;
} versions[4];
static size_t version_count;

static void add_version(const char *name, validator *run)
{
    versions[version_count].name = name;
    versions[version_count++].run = run;
}

static int find_versions(void **state)
{
    (void)state;
    add_version("chosen", tik_utf8_valid_prefix);
    add_version("portable", tik_utf8_valid_prefix_portable);
    unsigned cpu = tik_cpu();
    (void)cpu; /* where there is one version only */
#if TIK_HAVE_X86
    if (cpu & TIK_CPU_AVX2)
        add_version("avx2", tik_utf8_valid_prefix_avx2);
    if (cpu & TIK_CPU_AVX512)
        add_version("avx512", tik_utf8_valid_prefix_avx512);
#elif TIK_HAVE_NEON
    if (cpu & TIK_CPU_NEON)
        add_version("neon", tik_utf8_valid_prefix_neon);
#endif
    for (size_t i = 0; i < version_count; i++)
        print_message("[          ] version: %s\n", versions[i].name);
    return 0;
}

/* The definition: table 3-7 of the Unicode Standard, a row for each kind of well-formed sequence. */
static size_t defined_prefix(const uint8_t *text, size_t length)
{
    static const struct {
        uint8_t first, last;    /* of the first byte */
        uint8_t second[2];      /* least and greatest second byte */
        uint8_t count;          /* bytes; those after the second are 80..BF */
    } rows[] = {
        {0x00, 0x7F, {0, 0}, 1},       {0xC2, 0xDF, {0x80, 0xBF}, 2}, {0xE0, 0xE0, {0xA0, 0xBF}, 3},
        {0xE1, 0xEC, {0x80, 0xBF}, 3}, {0xED, 0xED, {0x80, 0x9F}, 3}, {0xEE, 0xEF, {0x80, 0xBF}, 3},
        {0xF0, 0xF0, {0x90, 0xBF}, 4}, {0xF1, 0xF3, {0x80, 0xBF}, 4}, {0xF4, 0xF4, {0x80, 0x8F}, 4},
    };
    size_t at = 0;
    while (at < length) {
        size_t step = 0;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            if (text[at] < rows[i].first || text[at] > rows[i].last || length - at < rows[i].count)
                continue;
            bool right = rows[i].count == 1 ||
                         (text[at + 1] >= rows[i].second[0] && text[at + 1] <= rows[i].second[1]);
            for (size_t k = 2; k < rows[i].count; k++)
                right = right && text[at + k] >= 0x80 && text[at + k] <= 0xBF;
            if (right)
                step = rows[i].count;
        }
        if (step == 0)
            return at;
        at += step;
    }
    return at;
}

static void check(const uint8_t *text, size_t length, size_t expected)
{
    for (size_t i = 0; i < version_count; i++) {
        size_t found = versions[i].run(text, length);
        if (found != expected)
            fail_msg("%s: %zu bytes, the first bad one at %zu, found %zu", versions[i].name, length, expected, found);
    }
}

/* Bytes at which the rules change, and one within each kind. */
static const uint8_t edges[] = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0,
                                0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF7, 0xF8, 0xFF};
enum { EDGES = sizeof edges };

static void test_short_sequences(void **state)
{
    (void)state;
    check((const uint8_t *)"", 0, 0);
    uint8_t text[4];
    for (uint32_t n = 0; n < 0x10000; n++) {
        text[0] = (uint8_t)(n >> 8);
        text[1] = (uint8_t)n;
        check(text, 1, defined_prefix(text, 1));
        check(text, 2, defined_prefix(text, 2));
    }
    for (size_t n = 0; n < (size_t)EDGES * EDGES * EDGES * EDGES; n++) {
        text[0] = edges[n % EDGES];
        text[1] = edges[n / EDGES % EDGES];
        text[2] = edges[n / EDGES / EDGES % EDGES];
        text[3] = edges[n / EDGES / EDGES / EDGES];
        check(text, 3, defined_prefix(text, 3));
        check(text, 4, defined_prefix(text, 4));
    }
}

static void test_every_character(void **state)
{
    (void)state;
    uint8_t text[4];
    for (uint32_t point = 0; point <= 0x10FFFF; point++) {
        size_t length = tik_utf8_encode(point, text);
        check(text, length, point >= 0xD800 && point <= 0xDFFF ? 0 : length);
    }
}

/* Every pair and triple of edge bytes at every place around the ends of blocks, in texts of every length there. */
static void test_around_blocks(void **state)
{
    (void)state;
    uint8_t text[200];
    for (size_t at = 0; at < 140; at++) {
        for (size_t n = 0; n < (size_t)EDGES * EDGES * EDGES; n++) {
            if (at % 16 > 1 && at % 16 < 13 && n % 7 != at % 7)
                continue; /* away from the ends of blocks a seventh is enough */
            memset(text, 'x', sizeof text);
            text[at] = edges[n % EDGES];
            text[at + 1] = edges[n / EDGES % EDGES];
            text[at + 2] = edges[n / EDGES / EDGES];
            size_t length = at + 1 + n % 60;
            check(text, length, defined_prefix(text, length));
        }
    }
}

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % limit;
}

/* Long valid texts of every mix, then with one byte changed, at every alignment; exact in memory, so that a
 * memory checker sees a read past the end. */
static void test_long_texts(void **state)
{
    (void)state;
    static const uint32_t ranges[][2] = {
        {0, 0x7F}, {0x80, 0x7FF}, {0x800, 0xD7FF}, {0xE000, 0xFFFF}, {0x10000, 0x10FFFF}};
    for (size_t round = 0; round < 20000; round++) {
        uint8_t characters[1024];
        size_t length = 0;
        size_t limit = random_below(sizeof characters - 4);
        uint32_t kinds = 1 + random_below(31);
        while (length < limit) {
            uint32_t kind = random_below(5);
            if (kinds >> kind & 1) {
                uint32_t point = ranges[kind][0] + random_below(ranges[kind][1] - ranges[kind][0] + 1);
                length += tik_utf8_encode(point, characters + length);
            }
        }
        uint8_t *text = malloc(length + 1);
        assert_non_null(text);
        uint8_t *start = text + (round & 1);
        length -= length > 0 ? round & 1 : 0;
        memcpy(start, characters, length);
        check(start, length, defined_prefix(start, length));
        for (size_t k = 0; k < 8 && length > 0; k++) {
            size_t at = random_below((uint32_t)length);
            uint8_t kept = start[at];
            start[at] = k & 1 ? edges[random_below(EDGES)] : (uint8_t)random_below(256);
            check(start, length, defined_prefix(start, length));
            start[at] = kept;
        }
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_sequences),
        cmocka_unit_test(test_every_character),
        cmocka_unit_test(test_around_blocks),
        cmocka_unit_test(test_long_texts),
    };
    return cmocka_run_group_tests(tests, find_versions, NULL);
}
