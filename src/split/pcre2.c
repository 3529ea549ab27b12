/*
 * The PCRE2 engine: runs any pattern of the dialect, and is the definition of what a piece is.
 *
 * JIT code runs on a stack of its own that grows with the match; where even that is too small the
 * interpreter takes over, which keeps its backtracking points on the heap. Both are bounded by a match
 * limit that grows with the text, so that a pattern that backtracks without end is reported, not run.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

#include "split/dialect.h"
#include "split/pcre2.h"
#include "split/split.h"

/* The JIT stack: most matches need less than the first; the second is address space, used as a match grows. */
#define STACK_FIRST ((size_t)32 * 1024)
#define STACK_LIMIT ((size_t)256 * 1024 * 1024)

/* Backtracking steps allowed in one match: so many at least, and so many for each byte of the text. */
#define STEPS_LEAST 10000000u
#define STEPS_PER_BYTE 64u

/* Pieces of this length or more don't fit a 31-bit end. */
#define END_LIMIT ((size_t)TIK_SPLIT_DROPPED)

struct tik_matcher {
    pcre2_code *code;
    bool jit;
    bool depends_on_start; /* see tik_translation */
};

struct tik_matcher_state {
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    uint32_t steps; /* the match limit set in `context` */
};

tik_status tik_matcher_new(const char *pattern, size_t length, tik_matcher **out, tik_error *error)
{
    tik_matcher *matcher = calloc(1, sizeof *matcher);
    if (!matcher)
        return tik_fail_memory(error, sizeof *matcher);
    char unicode[64];
    pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, unicode);
    tik_translation translation;
    tik_status status = tik_dialect_translate(pattern, length, unicode, &translation, error);
    if (status) {
        free(matcher);
        return status;
    }
    int code = 0;
    PCRE2_SIZE offset = 0;
    uint32_t options = PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_DOTALL;
    matcher->depends_on_start = translation.depends_on_start;
    matcher->code = pcre2_compile((PCRE2_SPTR)translation.pattern.data, translation.pattern.length, options, &code,
                                  &offset, NULL);
    tik_bytes_free(&translation.pattern);
    if (!matcher->code) {
        char reason[256];
        pcre2_get_error_message(code, (PCRE2_UCHAR *)reason, sizeof reason);
        free(matcher);
        return tik_fail(error, TIK_ERROR_PATTERN, "split pattern: PCRE2 can't run it: %s", reason);
    }
    int jit = pcre2_jit_compile(matcher->code, PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
    matcher->jit = jit == 0;
    *out = matcher;
    return TIK_OK;
}

void tik_matcher_free(tik_matcher *matcher)
{
    if (!matcher)
        return;
    pcre2_code_free(matcher->code);
    free(matcher);
}

tik_status tik_matcher_state_new(const tik_matcher *matcher, tik_matcher_state **out, tik_error *error)
{
    tik_matcher_state *state = calloc(1, sizeof *state);
    if (!state)
        return tik_fail_memory(error, sizeof *state);
    /* Only the whole match is asked for, so room for one pair suffices whatever groups there are. */
    state->data = pcre2_match_data_create(1, NULL);
    state->context = pcre2_match_context_create(NULL);
    if (matcher->jit)
        state->stack = pcre2_jit_stack_create(STACK_FIRST, STACK_LIMIT, NULL);
    if (!state->data || !state->context || (matcher->jit && !state->stack)) {
        tik_matcher_state_free(state);
        return tik_fail_memory(error, STACK_FIRST);
    }
    if (state->stack)
        pcre2_jit_stack_assign(state->context, NULL, state->stack);
    pcre2_set_depth_limit(state->context, UINT32_MAX);
    pcre2_set_heap_limit(state->context, UINT32_MAX);
    *out = state;
    return TIK_OK;
}

void tik_matcher_state_free(tik_matcher_state *state)
{
    if (!state)
        return;
    pcre2_match_data_free(state->data);
    pcre2_match_context_free(state->context);
    pcre2_jit_stack_free(state->stack);
    free(state);
}

static void set_limit(tik_matcher_state *state, size_t length)
{
    uint32_t steps = STEPS_LEAST;
    if (length > STEPS_LEAST / STEPS_PER_BYTE)
        steps = length < UINT32_MAX / STEPS_PER_BYTE ? (uint32_t)length * STEPS_PER_BYTE : UINT32_MAX;
    if (steps != state->steps) {
        pcre2_set_match_limit(state->context, steps);
        state->steps = steps;
    }
}

/* One match at or after `from`: PCRE2's return value. */
static int match(const tik_matcher *matcher, tik_matcher_state *state, const uint8_t *text, size_t length,
                 size_t from, uint32_t options)
{
    if (matcher->jit) {
        int found = pcre2_jit_match(matcher->code, text, length, from, options, state->data, state->context);
        if (found != PCRE2_ERROR_JIT_STACKLIMIT)
            return found;
    }
    options |= PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT;
    return pcre2_match(matcher->code, text, length, from, options, state->data, state->context);
}

static tik_status gave_up(int code, size_t at, tik_error *error)
{
    switch (code) {
    case PCRE2_ERROR_NOMEMORY:
    case PCRE2_ERROR_HEAPLIMIT:
        return tik_fail_at(error, TIK_ERROR_MEMORY, TIK_NOWHERE, at,
                           "the split pattern needs more memory than there is for the piece at byte %zu", at);
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
        return tik_fail_at(error, TIK_ERROR_PATTERN, TIK_NOWHERE, at,
                           "the split pattern backtracks without end on the text at byte %zu; "
                           "write its repeats so that each text can match in one way only", at);
    default: {
        char reason[256];
        pcre2_get_error_message(code, (PCRE2_UCHAR *)reason, sizeof reason);
        return tik_fail_at(error, TIK_ERROR_PATTERN, TIK_NOWHERE, at,
                           "the split pattern failed on the text at byte %zu: %s", at, reason);
    }
    }
}

static tik_status matched_nothing(size_t at, tik_error *error)
{
    return tik_fail_at(error, TIK_ERROR_PATTERN, TIK_NOWHERE, at,
                       "the split pattern matched the empty string at byte %zu of the text", at);
}

/* What tik_matcher_next has given so far. */
typedef struct pieces {
    uint32_t *ends;
    size_t count;
    size_t from; /* ends are relative to it */
    size_t end;  /* the last one, absolute */
} pieces;

/* False for an end that can't be told relative to `from` beside others. */
static bool fits(const pieces *run, size_t end)
{
    return end - run->from < END_LIMIT;
}

static void add(pieces *run, size_t end, uint32_t flag)
{
    run->ends[run->count++] = (fits(run, end) ? (uint32_t)(end - run->from) : 0) | flag;
    run->end = end;
}

tik_status tik_matcher_next(const tik_matcher *matcher, tik_matcher_state *state, const uint8_t *text,
                            size_t length, size_t from, bool more, uint32_t *ends, size_t capacity,
                            size_t *count, size_t *end, tik_error *error)
{
    tik_status status = TIK_OK;
    pieces run = { ends, 0, from, from };
    const uint32_t options = more ? PCRE2_PARTIAL_HARD : 0;
    set_limit(state, length);
    const PCRE2_SIZE *found = pcre2_get_ovector_pointer(state->data);
    /* A match can add two ends: the bytes that it leaves out and itself. */
    while (run.end < length && run.count + 2 <= capacity && fits(&run, run.end)) {
        int code = match(matcher, state, text, length, run.end, options);
        if (code == PCRE2_ERROR_PARTIAL || (code == PCRE2_ERROR_NOMATCH && more && matcher->depends_on_start))
            break;
        size_t first = length, last = length; /* of the match */
        if (code >= 0) {
            first = found[0];
            last = found[1];
            if (last <= first || first < run.end) {
                status = matched_nothing(first, error);
                break;
            }
        } else if (code != PCRE2_ERROR_NOMATCH) {
            status = gave_up(code, run.end, error);
            break;
        }
        if (!fits(&run, last) && run.count)
            break;
        if (first > run.end)
            add(&run, first, TIK_SPLIT_DROPPED);
        if (last > first && (run.count == 0 || fits(&run, last)))
            add(&run, last, 0);
    }
    *count = run.count;
    *end = run.end;
    return status;
}

size_t tik_matcher_lookbehind(const tik_matcher *matcher)
{
    enum { CHARACTER_MOST = 4 }; /* bytes of UTF-8 */
    uint32_t characters = 0;
    pcre2_pattern_info(matcher->code, PCRE2_INFO_MAXLOOKBEHIND, &characters);
    return ((size_t)characters + 1) * CHARACTER_MOST;
}
