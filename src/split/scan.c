/*
 * Which scanner runs, and where a text may be cut.
 */
#include "split/scan.h"

#include "split/scan_plain.h"
#include "split/scan_ways.h"
#include "unicode/unicode.h"

#define PLAIN(pattern)                                                                                      \
    static void plain_##pattern(const uint8_t *text, size_t length, size_t from, bool more, uint32_t *ends, \
                                size_t capacity, size_t *count, size_t *end)                                \
    {                                                                                                       \
        tik_scan_next_by_piece(tik_scan_piece_##pattern, text, length, from, more, ends, capacity, count, end); \
    }

PLAIN(r50k)
PLAIN(cl100k)
PLAIN(o200k)

static const tik_scanner plain[TIK_SCAN_PATTERNS] = {
    { plain_r50k, "r50k/plain" },
    { plain_cl100k, "cl100k/plain" },
    { plain_o200k, "o200k/plain" },
};

static const tik_scanner *const ways[TIK_SCAN_WAYS] = {
    [TIK_SCAN_PLAIN] = plain,
    [TIK_SCAN_PORTABLE] = tik_scan_portable,
#if TIK_HAVE_X86
    [TIK_SCAN_AVX2] = tik_scan_avx2,
    [TIK_SCAN_AVX512] = tik_scan_avx512,
#endif
#if TIK_HAVE_NEON
    [TIK_SCAN_NEON] = tik_scan_neon,
#endif
};

/* Can this machine, and may this process (see cpu.h), go this way? */
static bool is_open(tik_scan_way way)
{
    static const unsigned needs[TIK_SCAN_WAYS] = {
        [TIK_SCAN_AVX2] = TIK_CPU_AVX2,
        [TIK_SCAN_AVX512] = TIK_CPU_AVX512,
        [TIK_SCAN_NEON] = TIK_CPU_NEON,
    };
    return (tik_cpu() & needs[way]) == needs[way];
}

const tik_scanner *tik_scanner_get(tik_scan_pattern pattern, tik_scan_way way)
{
    return ways[way] && is_open(way) ? &ways[way][pattern] : NULL;
}

const tik_scanner *tik_scanner_best(tik_scan_pattern pattern)
{
    int way = TIK_SCAN_WAYS - 1;
    while (way > TIK_SCAN_PLAIN && !tik_scanner_get(pattern, (tik_scan_way)way))
        way--;
    return &ways[way][pattern];
}

/* Where the character before `at` > 0 starts. */
static size_t step_back(const uint8_t *text, size_t at)
{
    do
        at--;
    while (!tik_utf8_is_start(text[at]));
    return at;
}

static uint8_t class_at(const uint8_t *text, size_t at)
{
    size_t bytes;
    return tik_unicode_class(tik_utf8_decode(text + at, &bytes));
}

/*
 * Between which two neighbours every one of the patterns has a boundary, whatever is around them:
 * before white space that follows anything else (a newline may belong to punctuation before it), before a
 * number that follows neither white space nor a number, between a number and a letter, and before
 * punctuation that follows a letter or number (a mark may belong to the word; an apostrophe may too).
 * What is before it ends with no white space, so that "the text ends here" makes no difference to it.
 */
static bool always_parts(uint8_t before, uint8_t after, uint8_t byte)
{
    bool word = before >= TIK_CLASS_N; /* a letter or number */
    switch (after) {
    case TIK_CLASS_SPACE:
        return word || (before != TIK_CLASS_SPACE && byte != '\n' && byte != '\r');
    case TIK_CLASS_M:
        return false;
    case TIK_CLASS_N:
        return before != TIK_CLASS_SPACE && before != TIK_CLASS_N;
    case TIK_CLASS_OTHER:
        return word && byte != '\'';
    default:
        return before == TIK_CLASS_N;
    }
}

size_t tik_scan_cut(const uint8_t *text, size_t length, size_t low, size_t high)
{
    if (!length)
        return 0;
    size_t at = high < length ? high : length - 1;
    while (at > low && !tik_utf8_is_start(text[at]))
        at--;
    if (at <= low)
        return 0;
    uint8_t after = class_at(text, at);
    while (at > low) {
        size_t previous = step_back(text, at);
        uint8_t before = class_at(text, previous);
        if (always_parts(before, after, text[at]))
            return at;
        after = before;
        at = previous;
    }
    return 0;
}
