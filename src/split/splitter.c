/*
 * The door of split: which engine runs a pattern. Patterns of public encodings are known by their
 * exact text and served by static objects and scanners; all others are compiled for PCRE2.
 *
 * TIK_SPLIT=pcre2 in the environment gives the known patterns to PCRE2 too, TIK_SPLIT=backtrack all patterns to
 * the engine that PCRE2's hopeless texts are left to: the tests hold one engine against the other so.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "split/pcre2.h"
#include "split/scan.h"
#include "split/split.h"

/* Patterns as the reference package tiktoken 0.14.0 writes them. */
#define R50K "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s"
#define CL100K                                                                                              \
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+"    \
    "|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s"
#define O200K                                                                                               \
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"              \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"                                                                         \
    "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"             \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"                                                                         \
    "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

struct tik_splitter {
    const char *pattern;
    size_t length;
    tik_scan_pattern scan;          /* TIK_SCAN_PATTERNS if PCRE2 runs it */
    tik_matcher *own;               /* of a pattern that is not known */
    _Atomic(tik_matcher *) *shared; /* of a known one: compiled when it is first needed, kept for good */
};

struct tik_split_state {
    const tik_scanner *scanner; /* or, if NULL, the two below */
    const tik_matcher *matcher;
    tik_matcher_state *matching;
};

static _Atomic(tik_matcher *) compiled[TIK_SCAN_PATTERNS];

static tik_splitter scanned[TIK_SCAN_PATTERNS] = {
    [TIK_SCAN_R50K] = { R50K, sizeof R50K - 1, TIK_SCAN_R50K, NULL, NULL },
    [TIK_SCAN_CL100K] = { CL100K, sizeof CL100K - 1, TIK_SCAN_CL100K, NULL, NULL },
    [TIK_SCAN_O200K] = { O200K, sizeof O200K - 1, TIK_SCAN_O200K, NULL, NULL },
};

static tik_splitter matched[TIK_SCAN_PATTERNS] = {
    [TIK_SCAN_R50K] = { R50K, sizeof R50K - 1, TIK_SCAN_PATTERNS, NULL, &compiled[TIK_SCAN_R50K] },
    [TIK_SCAN_CL100K] = { CL100K, sizeof CL100K - 1, TIK_SCAN_PATTERNS, NULL, &compiled[TIK_SCAN_CL100K] },
    [TIK_SCAN_O200K] = { O200K, sizeof O200K - 1, TIK_SCAN_PATTERNS, NULL, &compiled[TIK_SCAN_O200K] },
};

static bool is_scanned(const tik_splitter *splitter)
{
    return splitter->scan != TIK_SCAN_PATTERNS;
}

static tik_splitter *find_known(const char *pattern, size_t length)
{
    const char *forced = getenv("TIK_SPLIT");
    tik_splitter *known = forced && (strcmp(forced, "pcre2") == 0 || strcmp(forced, "backtrack") == 0) ? matched : scanned;
    for (size_t i = 0; i < TIK_SCAN_PATTERNS; i++) {
        if (known[i].length == length && memcmp(known[i].pattern, pattern, length) == 0)
            return &known[i];
    }
    return NULL;
}

tik_status tik_splitter_new(const char *pattern, size_t length, tik_splitter **out, tik_error *error)
{
    tik_splitter *splitter = find_known(pattern, length);
    if (splitter) {
        *out = splitter;
        return TIK_OK;
    }
    tik_matcher *matcher = NULL;
    tik_status status = tik_matcher_new(pattern, length, &matcher, error);
    if (status)
        return status;
    splitter = calloc(1, sizeof *splitter);
    if (!splitter) {
        tik_matcher_free(matcher);
        return tik_fail_memory(error, sizeof *splitter);
    }
    splitter->scan = TIK_SCAN_PATTERNS;
    splitter->own = matcher;
    *out = splitter;
    return TIK_OK;
}

void tik_splitter_free(tik_splitter *splitter)
{
    if (!splitter || !splitter->own)
        return;
    tik_matcher_free(splitter->own);
    free(splitter);
}

const char *tik_splitter_engine(const tik_splitter *splitter)
{
    return is_scanned(splitter) ? tik_scanner_best(splitter->scan)->name : "pcre2";
}

/* The compiled pattern. Two threads may compile a known one at once: the second gives way. */
static tik_status get_matcher(const tik_splitter *splitter, const tik_matcher **out, tik_error *error)
{
    if (!splitter->shared) {
        *out = splitter->own;
        return TIK_OK;
    }
    tik_matcher *matcher = atomic_load_explicit(splitter->shared, memory_order_acquire);
    if (!matcher) {
        tik_status status = tik_matcher_new(splitter->pattern, splitter->length, &matcher, error);
        if (status)
            return status;
        tik_matcher *first = NULL;
        if (!atomic_compare_exchange_strong_explicit(splitter->shared, &first, matcher, memory_order_acq_rel,
                                                     memory_order_acquire)) {
            tik_matcher_free(matcher);
            matcher = first;
        }
    }
    *out = matcher;
    return TIK_OK;
}

tik_status tik_split_state_new(const tik_splitter *splitter, tik_split_state **out, tik_error *error)
{
    tik_split_state *state = calloc(1, sizeof *state);
    if (!state)
        return tik_fail_memory(error, sizeof *state);
    if (is_scanned(splitter)) {
        state->scanner = tik_scanner_best(splitter->scan);
        *out = state;
        return TIK_OK;
    }
    tik_status status = get_matcher(splitter, &state->matcher, error);
    if (!status)
        status = tik_matcher_state_new(state->matcher, &state->matching, error);
    if (status) {
        free(state);
        return status;
    }
    *out = state;
    return TIK_OK;
}

void tik_split_state_free(tik_split_state *state)
{
    if (!state)
        return;
    tik_matcher_state_free(state->matching);
    free(state);
}

tik_status tik_split_next(const tik_splitter *splitter, tik_split_state *state, const uint8_t *text,
                          size_t length, size_t from, bool more, uint32_t *ends, size_t capacity,
                          size_t *count, size_t *end, tik_error *error)
{
    (void)splitter;
    if (state->scanner) {
        state->scanner->next(text, length, from, more, ends, capacity, count, end);
        return TIK_OK;
    }
    return tik_matcher_next(state->matcher, state->matching, text, length, from, more, ends, capacity, count, end, error);
}

size_t tik_split_lookbehind(const tik_splitter *splitter)
{
    return splitter->own ? tik_matcher_lookbehind(splitter->own) : 0;
}

size_t tik_split_cut(const tik_splitter *splitter, const uint8_t *text, size_t length, size_t low, size_t high)
{
    return is_scanned(splitter) ? tik_scan_cut(text, length, low, high) : 0;
}
