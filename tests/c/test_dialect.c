/*
 * The dialect of patterns without the reference at hand: what patterns give, what is refused and where, any
 * bytes as a pattern, and an allocation that fails at every place where one can. (tests/exact holds the
 * dialect against the reference.)
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "split/dialect.h"
#include "split/split.h"
#include "unicode/unicode.h"

enum { CAPACITY = 64 };

/* ---- Allocations that fail ------------------------------------------------------------------- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

/* How many more allocations of the library succeed; SIZE_MAX for all. */
static size_t allocations_left = SIZE_MAX;

static bool may_allocate(void)
{
    if (allocations_left == SIZE_MAX)
        return true;
    if (allocations_left == 0)
        return false;
    allocations_left--;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return may_allocate() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return may_allocate() ? __real_calloc(count, size) : NULL;
}

void *__wrap_realloc(void *block, size_t size)
{
    return may_allocate() ? __real_realloc(block, size) : NULL;
}

/* ---------------------------------------------------------------------------------------------- */

typedef struct engine {
    tik_splitter *splitter;
    tik_split_state *state;
} engine;

static tik_status engine_open(engine *opened, const char *pattern, size_t length, tik_error *error)
{
    *opened = (engine){ NULL, NULL };
    tik_status status = tik_splitter_new(pattern, length, &opened->splitter, error);
    if (!status)
        status = tik_split_state_new(opened->splitter, &opened->state, error);
    if (status) {
        tik_splitter_free(opened->splitter);
        opened->splitter = NULL;
    }
    return status;
}

static void engine_close(engine *opened)
{
    tik_split_state_free(opened->state);
    tik_splitter_free(opened->splitter);
}

/* Writes the pieces of text[from, length) with a bar after each, dropped bytes in braces. */
static tik_status write_pieces(const engine *opened, const char *text, size_t from, char *out, tik_error *error)
{
    size_t length = strlen(text), at = from;
    *out = 0;
    while (at < length) {
        uint32_t ends[CAPACITY];
        size_t count, end, base = at;
        tik_status status = tik_split_next(opened->splitter, opened->state, (const uint8_t *)text, length, base, false,
                                           ends, CAPACITY, &count, &end, error);
        if (status)
            return status;
        for (size_t i = 0; i < count; i++) {
            size_t stop = base + (ends[i] & ~TIK_SPLIT_DROPPED);
            bool dropped = ends[i] & TIK_SPLIT_DROPPED;
            out += sprintf(out, dropped ? "{%.*s}" : "%.*s|", (int)(stop - at), text + at);
            at = stop;
        }
    }
    return TIK_OK;
}

static const struct {
    const char *pattern, *text, *pieces;
} pieces_cases[] = {
    /* \h is a hexadecimal digit, not a space. */
    { "\\h+|\\H", "be ef", "be| |ef|" },
    { "[\\w&&[^\\d]]+|\\O", "ab12c", "ab|1|2|c|" },
    { "[a-z--k]+|\\O", "akb", "a|k|b|" },
    { "[a-c~~b-d]+|\\O", "abcd", "a|b|c|d|" },
    { "[a[bc]]+|\\O", "abcd", "abc|d|" },
    { "[[:alpha:]]+|\\O", "a\xC3\xA9" "b", "a|\xC3\xA9|b|" },
    /* A word takes the zero width joiner, not a superscript. */
    { "\\w+|\\O", "a\xE2\x80\x8D" "b\xC2\xB2", "a\xE2\x80\x8D" "b|\xC2\xB2|" },
    /* U+180E has been no space since Unicode 6.3. */
    { "\\s+|\\S+", "\xE1\xA0\x8E \xC2\xA0", "\xE1\xA0\x8E| \xC2\xA0|" },
    { ".+|\\O", "a\r\xE2\x80\xA8\nb", "a\r\xE2\x80\xA8|\n|b|" },
    { "(?i:k)+|\\O", "kK\xE2\x84\xAA.", "kK\xE2\x84\xAA|.|" },
    { "(?i:\xC3\x9F)+|\\O", "\xC3\x9F\xE1\xBA\x9E", "\xC3\x9F\xE1\xBA\x9E|" },
    { "(?i:'s)|\\O", "'\xC5\xBF", "'\xC5\xBF|" },
    /* The dollar sign: only at the very end. */
    { "a$|\\O", "a\na\n", "a|\n|a|\n|" },
    { "\\w\\Z|\\W+|\\w", "ab\n\n", "a|b|\n\n|" },
    { "(?m)a+$|\\O", "aa\naa", "aa|\n|aa|" },
    { "\\b\\w+\\b|\\O", "ab \xC3\xA9" "c", "ab| |\xC3\xA9" "c|" },
    /* Unicode 15 and 16: letters to us whatever PCRE2 knows. */
    { "\\p{L}+|\\O", "a\xF0\xB1\x8D\x90\xE1\xB2\x89", "a\xF0\xB1\x8D\x90\xE1\xB2\x89|" },
    { "\\u0041|\\x{e9}|\\O", "A\xC3\xA9", "A|\xC3\xA9|" },
    { "(\\w)\\1|\\O", "aab", "aa|b|" },
    { "(?<q>.)(?P=q)|\\O", "aab", "aa|b|" },
    { "(?x) a b # two\n | \\O", "ab c", "ab| |c|" },
    { "((?i)a)b|\\O", "AB", "AB|" },
    { "(?:(?i)a)b|\\O", "ABAb", "A|B|Ab|" },
    { "\\w+-?\\w+|\\O", "a-b", "a-b|" },
    { "a{|\\O", "a{", "a{|" },
    { "(?>s+?)b|\\O", "ssb", "s|sb|" },
    { "(?<=\\s+)\\w+|\\O", "ab  cd", "a|b| | |cd|" },
    { "(?<=a|bb)c+|\\O", "acbbcbc", "a|c|b|b|c|b|c|" },
    { "[a-z]+", "..ab--", "{..}ab|{--}" },
    { "a\\Kb|c", "abc", "{a}b|c|" },
    { "\\Ga", "aaba", "a|a|{ba}" },
    { "a(*FAIL)|\\O", "a", "a|" },
    /* PCRE2 alone would take exponential time: the pieces are the reference's, which remembers where it was. */
    { "\\W|(?:\\w{2}1?|\\w+)+-", "xb_xb1bskysbsxbzzx1xb_xb1bskysbsxbzzx1xb_xb1bskysbsxbzzx1 zz-x",
      "{xb_xb1bskysbsxbzzx1xb_xb1bskysbsxbzzx1xb_xb1bskysbsxbzzx1} |zz-|{x}" },
    { "[^-]{2}(?:[^0-9-]+|\\PL+|\\p{Alphabetic}{1,2})*\\p{N}\\d",
      "yyxy\tA\t\n/.\t/'x_sx_sb.sb .Syyxy\tA\t\n/.\t/'x_sx_sb.sb .Syyxy\tA\t\n/.\t/'x_sx_sb.sb .S-abc",
      "{yyxy\tA\t\n/.\t/'x_sx_sb.sb .Syyxy\tA\t\n/.\t/'x_sx_sb.sb .Syyxy\tA\t\n/.\t/'x_sx_sb.sb .S-abc}" },
    { "(?>(?:a|aa)+c)|(?<!(?:x|y))(?=(?:a|aa)+b)a|[^a]", "xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
      "x|{a}a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|b|" },
    { "\\G(?:\\b|x)(?:a|aa)+\\Kc|[^a]", "aac", "{aa}c|" },
};

static void test_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pieces_cases / sizeof pieces_cases[0]; i++) {
        engine opened;
        tik_error error;
        char written[256];
        if (engine_open(&opened, pieces_cases[i].pattern, strlen(pieces_cases[i].pattern), &error) ||
            write_pieces(&opened, pieces_cases[i].text, 0, written, &error))
            fail_msg("%s: %s", pieces_cases[i].pattern, error.message);
        if (strcmp(written, pieces_cases[i].pieces) != 0)
            fail_msg("%s: %s, not %s", pieces_cases[i].pattern, written, pieces_cases[i].pieces);
        engine_close(&opened);
    }
}

/* What a match sees before the place where the search starts. */
static void test_text_before(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        size_t from;
        const char *pieces;
    } cases[] = {
        { "(?<=a)b|c", "abc", 1, "b|c|" },
        { "\\bb|c", "abc", 1, "{b}c|" },
        { "^b|c", "abc", 1, "{b}c|" },
        { "(?<=\xC3\xA9)bbbbbbbbbbbbbbbbbb|c", "\xC3\xA9" "bbbbbbbbbbbbbbbbbbc", 2, "bbbbbbbbbbbbbbbbbb|c|" },
        { "(?<!\xC3\xA9)bbbbbbbbbbbbbbbbbb|c", "\xC3\xA9" "bbbbbbbbbbbbbbbbbbc", 2, "{bbbbbbbbbbbbbbbbbb}c|" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        engine opened;
        tik_error error;
        char written[256];
        assert_int_equal(engine_open(&opened, cases[i].pattern, strlen(cases[i].pattern), &error), TIK_OK);
        assert_int_equal(write_pieces(&opened, cases[i].text, cases[i].from, written, &error), TIK_OK);
        assert_string_equal(written, cases[i].pieces);
        engine_close(&opened);
    }
}

static const struct {
    const char *pattern;
    size_t offset;
    const char *reason; /* words of the message */
} refused_cases[] = {
    { "a*", 0, "empty string" },
    { "", 0, "empty string" },
    { "a|b?", 0, "empty string" },
    { "(?=a)", 0, "empty string" },
    { "a\\K", 0, "empty string" },
    { "a\\X", 1, "no meaning" },
    { "\\p{L&}", 0, "no property" },
    { "(?|a)", 2, "no such group or flag" },
    { "(?(1)a)b", 0, "a condition" },
    { "a(b", 1, "not closed" },
    { "a)", 1, "closes nothing" },
    { "[a", 0, "not closed" },
    { "a**", 2, "repeated" },
    { "a\\", 1, "backslash" },
    { "[b-a]", 0, "before it begins" },
    { "[a-\\d]", 0, "from a character to a character" },
    { "\\x{D800}", 0, "no character" },
    { "(?<n>a)\\k<m>", 7, "no such group" },
    { "(?i)(a)\\1", 7, "ignores case" },
    { "(a\\1)", 2, "not closed before it" },
    { "(?=(a))\\1", 3, "look-around" },
    { "a(?<=bc?d)", 5, "several lengths" },
    { "(?:a?)+b|(?:a?|b)*c", 9, "endless repeat" },
    { "(\\Ka)", 1, "\\K within a group" },
    { "a{65536}", 0, "65535" },
    { "\xFF", 0, "UTF-8" },
    { "a(?#b", 1, "comment" },
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused_cases / sizeof refused_cases[0]; i++) {
        engine opened;
        tik_error error;
        const char *pattern = refused_cases[i].pattern;
        if (engine_open(&opened, pattern, strlen(pattern), &error) != TIK_ERROR_PATTERN)
            fail_msg("%s is not refused", pattern);
        if (error.offset != refused_cases[i].offset || !strstr(error.message, refused_cases[i].reason))
            fail_msg("%s: byte %zu: %s", pattern, error.offset, error.message);
    }
}

static void test_too_deep(void **state)
{
    (void)state;
    enum { DEEP = 5000 };
    static const char *const units[] = { "(", "(?:", "[", "(?=", "(?i:", "[^", "(?>" };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t unit = strlen(units[i]);
        char *pattern = malloc(DEEP * unit);
        assert_non_null(pattern);
        for (size_t k = 0; k < DEEP; k++)
            memcpy(pattern + k * unit, units[i], unit);
        engine opened;
        tik_error error;
        assert_int_equal(engine_open(&opened, pattern, DEEP * unit, &error), TIK_ERROR_PATTERN);
        free(pattern);
    }
}

/* A plain generator, so that a failure can be run again: xorshift64*. */
static uint64_t random_state = 0x2545F4914F6CDD1Du;

static uint32_t random_below(uint32_t bound)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (uint32_t)((random_state * 0x2545F4914F6CDD1Du) >> 33) % bound;
}

/* Pieces of syntax in any order: a pattern with pieces that cover the text, or a refusal within it. */
static void test_any_syntax(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "(", ")", "[", "]", "{", "}", "|", "*", "+", "?", "^", "$", ".", "-", "&&", "--", "~~", "\\", "(?", ":", "<",
        ">", "=", "!", "i", "x", "#", "a", "b", "k", "1", "2", ",", " ", "\n", "\\p{", "\\w", "\\b", "\\x", "\\u",
        "[:", ":]", "\\K", "\\G", "(?<", "(?<=", "(?:", "(?i)", "\xC3\xA9", "\xE4\xB8\x80", "\\R", "'", "\\k", "P",
    };
    const char *text = "ab k1\n-\xC3\xA9 \xE4\xB8\x80" "aaaa bbbb kkkk 1111\xC3\xA9";
    size_t taken = 0;
    for (size_t i = 0; i < 4000; i++) {
        char pattern[128];
        size_t length = 0;
        for (uint32_t count = 1 + random_below(12); count; count--) {
            const char *part = parts[random_below(sizeof parts / sizeof parts[0])];
            length += (size_t)sprintf(pattern + length, "%s", part);
        }
        engine opened;
        tik_error error;
        tik_status status = engine_open(&opened, pattern, length, &error);
        if (status) {
            assert_int_equal(status, TIK_ERROR_PATTERN);
            assert_true(error.offset <= length || error.offset == TIK_NOWHERE);
            continue;
        }
        char written[512];
        status = write_pieces(&opened, text, 0, written, &error);
        assert_true(status == TIK_OK || status == TIK_ERROR_PATTERN);
        engine_close(&opened);
        taken++;
    }
    assert_true(taken > 400);
}

/* Each allocation in turn fails: a status, and nothing kept. */
static void test_no_memory(void **state)
{
    (void)state;
    static const char *const patterns[] = {
        "(?i:ab|[k-m&&\\w])+(?<=\\s|bb)\\p{Greek}*|(\\w)\\1|\\b\\R|\\w+-?\\w+|[\\P{alnum}[:alpha:]]{2,}+",
        "(?<name>a)\\k<name>|(?<!x)\\h",
        "a\\q",
    };
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        for (size_t allowed = 0;; allowed++) {
            engine opened;
            tik_error error;
            allocations_left = allowed;
            tik_status status = engine_open(&opened, patterns[i], strlen(patterns[i]), &error);
            bool ran_out = allocations_left == 0;
            allocations_left = SIZE_MAX;
            if (!status)
                engine_close(&opened);
            if (status != TIK_ERROR_MEMORY) {
                assert_int_equal(status, i == 2 ? TIK_ERROR_PATTERN : TIK_OK);
                if (!ran_out)
                    break;
            }
        }
    }
}

/* The engine that remembers has no memory: then PCRE2 goes on, with the same pieces. */
static void test_no_memory_to_remember(void **state)
{
    (void)state;
    const char *before = getenv("TIK_SPLIT"), *pattern = "(?>(?:a|aa)+?)b|(?<=b)[c\\s]+|(?=a{2})a+|[^ab]";
    char saved[32] = "";
    if (before)
        snprintf(saved, sizeof saved, "%s", before);
    setenv("TIK_SPLIT", "backtrack", 1);
    for (size_t allowed = 0;; allowed++) {
        engine opened;
        tik_error error;
        char written[256];
        assert_int_equal(engine_open(&opened, pattern, strlen(pattern), &error), TIK_OK);
        allocations_left = allowed;
        tik_status status = write_pieces(&opened, "abc aaad", 0, written, &error);
        bool ran_out = allocations_left == 0;
        allocations_left = SIZE_MAX;
        assert_int_equal(status, TIK_OK);
        assert_string_equal(written, "ab|c |aaa|d|");
        engine_close(&opened);
        if (!ran_out)
            break;
    }
    unsetenv("TIK_SPLIT");
    if (before)
        setenv("TIK_SPLIT", saved, 1);
}

/* A pattern that tries more and more ways is stopped, and what came before holds. */
static void test_endless_backtracking(void **state)
{
    (void)state;
    engine opened;
    tik_error error;
    const char *pattern = "(a)(?:a|aa)+\\1c|[^a]"; /* with a back-reference, what failed can't be remembered */
    char text[128] = "xyz";
    memset(text + 3, 'a', 100);
    assert_int_equal(engine_open(&opened, pattern, strlen(pattern), &error), TIK_OK);
    uint32_t ends[CAPACITY];
    size_t count, end;
    assert_int_equal(tik_split_next(opened.splitter, opened.state, (const uint8_t *)text, 103, 0, false, ends, CAPACITY,
                                    &count, &end, &error),
                     TIK_ERROR_PATTERN);
    assert_int_equal(count, 3);
    assert_int_equal(end, 3);
    assert_int_equal(error.offset, 3);
    engine_close(&opened);
}

/* Groups repeated so often that the JIT stack must grow several times. */
static void test_long_piece_of_groups(void **state)
{
    (void)state;
    enum { LONG = 3000000 };
    static const char *const patterns[] = { "(?:a|b)+", "(?:\\p{L}|\\p{M})+", "(?:a|(\xC3\xA9))+", "\\w+" };
    char *text = malloc(LONG);
    assert_non_null(text);
    memset(text, 'a', LONG);
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        engine opened;
        tik_error error;
        uint32_t ends[CAPACITY];
        size_t count, end;
        assert_int_equal(engine_open(&opened, patterns[i], strlen(patterns[i]), &error), TIK_OK);
        assert_int_equal(tik_split_next(opened.splitter, opened.state, (const uint8_t *)text, LONG, 0, false, ends,
                                        CAPACITY, &count, &end, &error),
                         TIK_OK);
        assert_int_equal(count, 1);
        assert_int_equal(end, LONG);
        engine_close(&opened);
    }
    free(text);
}

/* Every character, in order, as UTF-8. */
static uint8_t *every_character(size_t *length)
{
    uint8_t *text = malloc((size_t)0x110000 * 4);
    assert_non_null(text);
    *length = 0;
    for (uint32_t c = 0; c < 0x110000; c++) {
        if (c < 0xD800 || c > 0xDFFF)
            *length += tik_utf8_encode(c, text + *length);
    }
    return text;
}

/* The next character that matches from `*at` on, UINT32_MAX for none; `*at` becomes its end. */
static uint32_t next_match(const pcre2_code *program, pcre2_match_data *data, const uint8_t *text, size_t length,
                           size_t *at)
{
    if (pcre2_match(program, text, length, *at, PCRE2_NO_UTF_CHECK, data, NULL) < 0)
        return UINT32_MAX;
    size_t start = pcre2_get_ovector_pointer(data)[0], bytes;
    uint32_t found = tik_utf8_decode(text + start, &bytes);
    *at = start + bytes;
    return found;
}

/* The characters that the translation of \p{name} takes: all of the set and no other. */
static void check_property(const char *name, const char *unicode, const uint8_t *text, size_t length)
{
    char pattern[64];
    tik_translation translation;
    tik_unicode_ranges set = { 0 };
    int code;
    PCRE2_SIZE offset;
    snprintf(pattern, sizeof pattern, "\\p{%s}", name);
    assert_int_equal(tik_dialect_translate(pattern, strlen(pattern), unicode, &translation, NULL), TIK_OK);
    assert_int_equal(tik_unicode_property(name, strlen(name), &set, NULL), TIK_OK);
    pcre2_code *program = pcre2_compile((PCRE2_SPTR)translation.pattern.data, translation.pattern.length,
                                        PCRE2_UTF | PCRE2_DOTALL, &code, &offset, NULL);
    assert_non_null(program);
    pcre2_jit_compile(program, PCRE2_JIT_COMPLETE);
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    size_t at = 0;
    for (size_t i = 0; i < set.count; i++) {
        for (uint32_t c = set.items[i].first; c <= set.items[i].last; c++) {
            uint32_t found = c < 0xD800 || c > 0xDFFF ? next_match(program, data, text, length, &at) : c;
            if (found != c)
                fail_msg("%s for Unicode %s: U+%04X where U+%04X is next", pattern, unicode, (unsigned)found, (unsigned)c);
        }
    }
    assert_int_equal(next_match(program, data, text, length, &at), UINT32_MAX);
    pcre2_match_data_free(data);
    pcre2_code_free(program);
    tik_unicode_ranges_free(&set);
    tik_bytes_free(&translation.pattern);
    tik_bytes_free(&translation.ascii);
}

/* A class means the same whether PCRE2's own tables are used or, for a version not known, are not. */
static void test_unicode_versions(void **state)
{
    (void)state;
    static const char *const names[] = { "L", "Lu", "Lo", "M", "Mn", "Mc", "N", "P", "S", "Alphabetic", "Cn", "Greek" };
    char unicode[64];
    size_t length;
    uint8_t *text = every_character(&length);
    pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, unicode);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        check_property(names[i], unicode, text, length);
        check_property(names[i], "99.0.0", text, length);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),     cmocka_unit_test(test_text_before),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_too_deep),
        cmocka_unit_test(test_any_syntax), cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_no_memory_to_remember),
        cmocka_unit_test(test_endless_backtracking), cmocka_unit_test(test_long_piece_of_groups),
        cmocka_unit_test(test_unicode_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
