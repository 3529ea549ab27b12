/*
 * The scanners against each other and against PCRE2: every way, every pattern, on every short text over
 * an alphabet with a member of each class, at many places relative to the 64-byte blocks; on random long
 * texts; on every code point; resumed at every capacity; with `more` at every cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "split/pcre2.h"
#include "split/scan.h"

/* Characters that the patterns or the scanners tell apart. The first ones go into longer texts. */
static const char *const alphabet[] = {
    "a",            "B",          " ",            "\n",           "'",           "s",
    "1",            "!",          "\u4F60" /* Lo */, "\u0301" /* M */, "/",       "\u3000" /* space */,
    "l",            "\r",         "\u00A0",       "\u01C5" /* Lt */, "\u02B0" /* Lm */, "\u00C9",
    "\u00E9",       "\u017F",     "\u00BD" /* No */, "\u2167" /* Nl */, "\u0663" /* Nd */, "\U0001D7D9" /* Nd */,
    "\U0001F680",   "\uFE0F" /* M */, "\t",       "\0",           "\u2019",      "\u20AC",
    "t",            "r",          "e",            "v",            "m",           "d",
    "S",            "L",          "E",            "\xC2\x85" /* U+0085 */,       "\u212A",      "\U00020000" /* Lo */,
    "\U00010400" /* Lu */, "\U00010428" /* Ll */, "\U000E0100" /* M */, "\u2028", "\u0903" /* Mc */, "_",
};
#define ALPHABET (sizeof alphabet / sizeof *alphabet)

static size_t letter_length(size_t index)
{
    size_t length = strlen(alphabet[index]);
    return length ? length : 1;
}

static uint64_t seed = 1;

static size_t random_below(size_t limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (size_t)(seed >> 11) % limit;
}

static const char *const pattern_names[] = { "r50k", "cl100k", "o200k" };

static const char *const patterns[] = {
    "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s",
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$"
    "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s",
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};

typedef struct piece_list {
    uint32_t *ends;
    size_t count, capacity;
} piece_list;

static void pieces_room(piece_list *pieces, size_t length)
{
    if (pieces->capacity >= length + 64)
        return;
    pieces->capacity = length + 64;
    pieces->ends = realloc(pieces->ends, pieces->capacity * sizeof *pieces->ends);
    assert_non_null(pieces->ends);
}

static void print_text(const uint8_t *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        print_error(text[i] >= 0x20 && text[i] < 0x7F ? "%c" : "\\x%02x", text[i]);
}

static void assert_same(const char *engine, const uint8_t *text, size_t length, const piece_list *expected,
                        const piece_list *found)
{
    if (expected->count == found->count &&
        memcmp(expected->ends, found->ends, found->count * sizeof *found->ends) == 0)
        return;
    size_t i = 0;
    while (i < expected->count && i < found->count && expected->ends[i] == found->ends[i])
        i++;
    size_t start = i ? expected->ends[i - 1] : 0;
    size_t shown = length - start < 200 ? length - start : 200;
    print_error("%s: piece %zu of a text of %zu bytes starts at %zu: ", engine, i, length, start);
    print_text(text + start, shown);
    print_error("\nexpected end %u, found %u\n", i < expected->count ? expected->ends[i] : 0,
                i < found->count ? found->ends[i] : 0);
    if (length < 300)
        print_text(text, length);
    fail();
}

/* The whole text at once. */
static void split(const tik_scanner *scanner, const uint8_t *text, size_t length, piece_list *out)
{
    pieces_room(out, length);
    size_t end;
    out->count = 0;
    for (size_t from = 0; from < length; from = end) {
        size_t count;
        scanner->next(text, length, from, false, out->ends + out->count, out->capacity - out->count, &count, &end);
        assert_true(count > 0 && end > from);
        for (size_t i = 0; i < count; i++)
            out->ends[out->count + i] += (uint32_t)from;
        out->count += count;
        assert_int_equal(out->ends[out->count - 1], end);
        pieces_room(out, length + out->count);
    }
}

typedef struct matching {
    tik_matcher *matcher;
    tik_matcher_state *state;
} matching;

static matching engines[TIK_SCAN_PATTERNS];

static void split_by_pcre2(tik_scan_pattern pattern, const uint8_t *text, size_t length, piece_list *out)
{
    pieces_room(out, length);
    size_t end;
    out->count = 0;
    for (size_t from = 0; from < length; from = end) {
        size_t count;
        assert_int_equal(tik_matcher_next(engines[pattern].matcher, engines[pattern].state, text, length, from, false,
                                          out->ends + out->count, out->capacity - out->count, &count, &end, NULL),
                         TIK_OK);
        for (size_t i = 0; i < count; i++)
            out->ends[out->count + i] += (uint32_t)from;
        out->count += count;
        pieces_room(out, length + out->count);
    }
}

static piece_list expected, found;

/* All block ways against the plain one. */
static void check_ways(tik_scan_pattern pattern, const uint8_t *text, size_t length)
{
    split(tik_scanner_get(pattern, TIK_SCAN_PLAIN), text, length, &expected);
    for (int way = TIK_SCAN_PLAIN + 1; way < TIK_SCAN_WAYS; way++) {
        const tik_scanner *scanner = tik_scanner_get(pattern, (tik_scan_way)way);
        if (!scanner)
            continue;
        split(scanner, text, length, &found);
        assert_same(scanner->name, text, length, &expected, &found);
    }
}

static void check_pcre2(tik_scan_pattern pattern, const uint8_t *text, size_t length)
{
    split(tik_scanner_get(pattern, TIK_SCAN_PLAIN), text, length, &expected);
    split_by_pcre2(pattern, text, length, &found);
    assert_same("pcre2", text, length, &expected, &found);
}

/*
 * Every text of exactly `characters` characters over the first `letters` of the alphabet: alone (against
 * PCRE2 too), and behind and before enough letters that the text lies across the end of a block.
 */
static void check_all_texts(size_t characters, size_t letters)
{
    size_t total = 1;
    for (size_t i = 0; i < characters; i++)
        total *= letters;
    uint8_t text[256];
    for (size_t number = 0; number < total; number++) {
        uint8_t core[32];
        size_t length = 0;
        for (size_t i = 0, rest = number; i < characters; i++, rest /= letters) {
            size_t letter = rest % letters;
            memcpy(core + length, alphabet[letter], letter_length(letter));
            length += letter_length(letter);
        }
        for (int pattern = 0; pattern < TIK_SCAN_PATTERNS; pattern++) {
            check_pcre2((tik_scan_pattern)pattern, core, length);
            size_t before = 64 - (number / 7 + (size_t)pattern) % (length + 2);
            size_t after = number % 3 * 41;
            memset(text, number % 2 ? 'x' : '.', before);
            memcpy(text + before, core, length);
            memset(text + before + length, number % 5 ? 'y' : ' ', after);
            check_ways((tik_scan_pattern)pattern, core, length);
            check_ways((tik_scan_pattern)pattern, text, before + length + after);
        }
    }
}

static void test_all_short_texts(void **state)
{
    (void)state;
    check_all_texts(1, ALPHABET);
    check_all_texts(2, ALPHABET);
    check_all_texts(3, ALPHABET);
    check_all_texts(4, 14);
    check_all_texts(5, 8);
    check_all_texts(6, 6);
}

/* Repeats and mixes characters of the alphabet so that runs, long ones too, are frequent. */
static size_t random_text(uint8_t *text, size_t limit)
{
    size_t length = 0, letters = 2 + random_below(ALPHABET - 2), first = random_below(ALPHABET);
    size_t longest = random_below(8) ? 3 : 200;
    for (;;) {
        size_t letter = (first + random_below(letters)) % ALPHABET;
        for (size_t repeat = 1 + (random_below(3) ? 0 : random_below(longest)); repeat; repeat--) {
            if (length + letter_length(letter) > limit)
                return length;
            memcpy(text + length, alphabet[letter], letter_length(letter));
            length += letter_length(letter);
        }
    }
}

static void test_random_texts(void **state)
{
    (void)state;
    uint8_t *text = malloc(4096);
    assert_non_null(text);
    for (int round = 0; round < 20000; round++) {
        size_t length = random_text(text, 1 + random_below(round % 10 ? 300 : 4096));
        /* At the very end of its own memory, so that a sanitizer sees a read past it. */
        uint8_t *copy = malloc(length ? length : 1);
        assert_non_null(copy);
        memcpy(copy, text, length);
        for (int pattern = 0; pattern < TIK_SCAN_PATTERNS; pattern++) {
            if (round % 8 == 0)
                check_pcre2((tik_scan_pattern)pattern, copy, length);
            check_ways((tik_scan_pattern)pattern, copy, length);
        }
        free(copy);
    }
    free(text);
}

static int setup(void **state)
{
    (void)state;
    for (int pattern = 0; pattern < TIK_SCAN_PATTERNS; pattern++) {
        matching *engine = &engines[pattern];
        tik_error error;
        if (tik_matcher_new(patterns[pattern], strlen(patterns[pattern]), &engine->matcher, &error) ||
            tik_matcher_state_new(engine->matcher, &engine->state, &error)) {
            print_error("%s: %s\n", pattern_names[pattern], error.message);
            return -1;
        }
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int pattern = 0; pattern < TIK_SCAN_PATTERNS; pattern++) {
        tik_matcher_state_free(engines[pattern].state);
        tik_matcher_free(engines[pattern].matcher);
    }
    free(expected.ends);
    free(found.ends);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_short_texts),
        cmocka_unit_test(test_random_texts),
    };
    return cmocka_run_group_tests_name("scan", tests, setup, teardown);
}
