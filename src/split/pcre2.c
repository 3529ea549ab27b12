/*
 * The PCRE2 engine: runs any pattern of the dialect, and is the definition of what a piece is.
 *
 * JIT code runs on a stack of its own that grows with the match; where even that is too small the
 * interpreter takes over, which keeps its backtracking points on the heap. Both are bounded by a match
 * limit that grows with the text. A match that reaches a first limit is left to the engine that remembers where
 * it failed (backtrack.c); only what that can't run either goes on here up to the last limit, so that a pattern
 * that backtracks without end is reported, not run.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "split/backtrack.h"
#include "split/dialect.h"
#include "split/pcre2.h"
#include "split/split.h"

/*
 * The JIT stack: how much there is at first, to what it may grow, and by how much that limit is raised for a
 * match that needs more. The limits are address space, not memory, until a match uses them; the last
 * suffices for groups repeated 100 million times.
 */
#define STACK_FIRST ((size_t)32 * 1024)
#define STACK_LIMIT ((size_t)1024 * 1024)
#define STACK_RAISE 16
#define STACK_LAST (SIZE_MAX > UINT32_MAX ? (size_t)STACK_LIMIT << 12 : (size_t)STACK_LIMIT << 8)

/* What the interpreter may take for its backtracking points, in KiB. */
#define HEAP_LIMIT (8u * 1024 * 1024)

/* Backtracking steps allowed in one match: so many at least, and so many for each byte of the text. */
#define STEPS_LEAST 100000000u
#define STEPS_PER_BYTE 64u

/* The first limit: a match that takes more is most likely one that takes exponential time. */
#define FIRST_STEPS_LEAST 500000u
#define FIRST_STEPS_PER_BYTE 16u

/* After such a match, the other engine runs so many more, for the next ones are like it. */
#define MATCHES_BY_BACKTRACKER 1000

/* ASCII is looked for in steps of this many bytes; shorter stretches are not worth a program of their own. */
#define ASCII_STEP ((size_t)4096)
#define ASCII_LEAST ((size_t)16)

/* Pieces of this length or more don't fit a 31-bit end. */
#define END_LIMIT ((size_t)TIK_SPLIT_DROPPED)

/*
 * Two programs of one pattern. On ASCII, which most texts are for long stretches, classes are bit maps and
 * characters bytes: that runs several times as fast as the program for all texts, whose classes must look
 * properties up even to say no to an ASCII character.
 */
typedef struct pattern_program {
    pcre2_code *code;
    bool jit;
} pattern_program;

struct tik_matcher {
    char *pattern; /* as it was given */
    size_t length;
    pattern_program full;
    pattern_program ascii;
    size_t behind;         /* see tik_translation */
    bool depends_on_start;
};

struct tik_matcher_state {
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    size_t stack_limit;
    uint32_t first_steps, last_steps; /* the limits for the text that is split */
    size_t found[2];                  /* the match */
    tik_backtracker *backtracker;     /* once it was needed */
    bool backtracker_refused;         /* it can't run the pattern */
    unsigned by_backtracker;          /* so many of the next matches are left to it */
    bool only_backtracker;            /* all, for the tests */
};

/*
 * Without start optimizations: a split pattern matches nearly everywhere, so they find little to skip, and
 * those of the JIT compiler of PCRE2 10.42 miss matches ((?>s+?)b in "ssb").
 */
static tik_status compile(const tik_bytes *text, uint32_t options, pattern_program *program, tik_error *error)
{
    int code = 0;
    PCRE2_SIZE offset = 0;
    options |= PCRE2_DOTALL | PCRE2_NO_START_OPTIMIZE;
    program->code = pcre2_compile((PCRE2_SPTR)text->data, text->length, options, &code, &offset, NULL);
    if (!program->code) {
        if (code == PCRE2_ERROR_HEAP_FAILED)
            return tik_fail(error, TIK_ERROR_MEMORY, "no memory to compile the split pattern");
        char reason[256];
        pcre2_get_error_message(code, (PCRE2_UCHAR *)reason, sizeof reason);
        return tik_fail(error, TIK_ERROR_PATTERN, "split pattern: PCRE2 can't run it: %s", reason);
    }
    program->jit = pcre2_jit_compile(program->code, PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD) == 0;
    return TIK_OK;
}

tik_status tik_matcher_new(const char *pattern, size_t length, tik_matcher **out, tik_error *error)
{
    tik_matcher *matcher = calloc(1, sizeof *matcher);
    if (!matcher || !(matcher->pattern = malloc(length + 1))) {
        free(matcher);
        return tik_fail_memory(error, length + sizeof *matcher);
    }
    memcpy(matcher->pattern, pattern, length);
    matcher->length = length;
    char unicode[64];
    pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, unicode);
    tik_translation translation;
    tik_status status = tik_dialect_translate(pattern, length, unicode, &translation, error);
    if (!status) {
        matcher->behind = translation.behind;
        matcher->depends_on_start = translation.depends_on_start;
        status = compile(&translation.pattern, PCRE2_UTF | PCRE2_NO_UTF_CHECK, &matcher->full, error);
        if (!status)
            status = compile(&translation.ascii, 0, &matcher->ascii, error);
        tik_bytes_free(&translation.pattern);
        tik_bytes_free(&translation.ascii);
    }
    if (status)
        tik_matcher_free(matcher);
    else
        *out = matcher;
    return status;
}

void tik_matcher_free(tik_matcher *matcher)
{
    if (!matcher)
        return;
    pcre2_code_free(matcher->full.code);
    pcre2_code_free(matcher->ascii.code);
    free(matcher->pattern);
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
    const bool jit = matcher->full.jit || matcher->ascii.jit;
    if (jit)
        state->stack = pcre2_jit_stack_create(STACK_FIRST, STACK_LIMIT, NULL);
    if (!state->data || !state->context || (jit && !state->stack)) {
        tik_matcher_state_free(state);
        return tik_fail_memory(error, STACK_FIRST);
    }
    const char *forced = getenv("TIK_SPLIT");
    state->only_backtracker = forced && strcmp(forced, "backtrack") == 0;
    state->by_backtracker = state->only_backtracker;
    state->stack_limit = STACK_LIMIT;
    if (state->stack)
        pcre2_jit_stack_assign(state->context, NULL, state->stack);
    pcre2_set_depth_limit(state->context, UINT32_MAX);
    pcre2_set_heap_limit(state->context, HEAP_LIMIT);
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
    tik_backtracker_free(state->backtracker);
    free(state);
}

static uint32_t limit_for(size_t length, uint32_t least, uint32_t per_byte)
{
    if (length <= least / per_byte)
        return least;
    return length < UINT32_MAX / per_byte ? (uint32_t)length * per_byte : UINT32_MAX;
}

/* Puts a larger JIT stack in the place of the one there is. False if it is at its last, or there is no room. */
static bool raise_stack(tik_matcher_state *state)
{
    if (state->stack_limit >= STACK_LAST)
        return false;
    pcre2_jit_stack *larger = pcre2_jit_stack_create(STACK_FIRST, state->stack_limit * STACK_RAISE, NULL);
    if (!larger)
        return false;
    pcre2_jit_stack_free(state->stack);
    state->stack = larger;
    state->stack_limit *= STACK_RAISE;
    pcre2_jit_stack_assign(state->context, NULL, larger);
    return true;
}

/* One match at or after `from`: PCRE2's return value. It is in the match data. */
static int run_program(const pattern_program *program, tik_matcher_state *state, const uint8_t *text, size_t length,
                       size_t from, uint32_t options)
{
    while (program->jit) {
        int found = pcre2_jit_match(program->code, text, length, from, options, state->data, state->context);
        if (found != PCRE2_ERROR_JIT_STACKLIMIT)
            return found;
        if (!raise_stack(state))
            break;
    }
    options |= PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT;
    return pcre2_match(program->code, text, length, from, options, state->data, state->context);
}

/* A text being matched, and how much of it ahead of the last match is known to be ASCII. */
typedef struct subject_text {
    const uint8_t *text;
    size_t length;
    bool more;
    size_t ascii_end; /* of the stretch that is known, from the last match on */
    bool ascii_stops; /* the character there is not ASCII, or the text ends there */
} subject_text;

/* Looks for the end of the ASCII stretch, at most `most` bytes on. */
static void extend_ascii(subject_text *s, size_t most)
{
    size_t at = s->ascii_end, stop = s->length - at < most ? s->length : at + most;
    for (uint64_t eight; stop - at >= sizeof eight; at += sizeof eight) {
        memcpy(&eight, s->text + at, sizeof eight);
        if (eight & 0x8080808080808080u)
            break;
    }
    while (at < stop && s->text[at] < 0x80)
        at++;
    s->ascii_end = at;
    s->ascii_stops = at < stop || at == s->length;
}

/* True if all that a match from `from` on can look back at is ASCII. */
static bool is_ascii_behind(const tik_matcher *matcher, const subject_text *s, size_t from)
{
    size_t first = from > matcher->behind ? from - matcher->behind : 0;
    while (first < from && s->text[first] < 0x80)
        first++;
    return first == from;
}

/*
 * The next match from `from` on, in ASCII if it lies in ASCII with all that decides about it. A match that
 * would look beyond what is known to be ASCII is reported by PCRE2 as partial.
 */
static int match_by_pcre2(const tik_matcher *matcher, tik_matcher_state *state, subject_text *s, size_t from)
{
    if (s->ascii_end < from) {
        s->ascii_end = from;
        s->ascii_stops = false;
    }
    for (size_t step = ASCII_STEP; is_ascii_behind(matcher, s, from); step *= 2) {
        if (!s->ascii_stops && s->ascii_end - from < step)
            extend_ascii(s, step);
        if (s->ascii_end - from < ASCII_LEAST && s->ascii_end < s->length)
            break;
        bool is_rest = s->ascii_end == s->length;
        int found = run_program(&matcher->ascii, state, s->text, s->ascii_end, from,
                                is_rest && !s->more ? 0 : PCRE2_PARTIAL_HARD);
        if (is_rest || (found != PCRE2_ERROR_PARTIAL && found != PCRE2_ERROR_NOMATCH))
            return found;
        if (s->ascii_stops)
            break;
    }
    return run_program(&matcher->full, state, s->text, s->length, from, s->more ? PCRE2_PARTIAL_HARD : 0);
}

/* The same by the other engine. PCRE2_ERROR_MATCHLIMIT: it can't run the pattern, or it gave up too. */
static int match_by_backtracker(const tik_matcher *matcher, tik_matcher_state *state, const subject_text *s,
                                size_t from)
{
    if (!state->backtracker && !state->backtracker_refused)
        state->backtracker_refused =
            tik_backtracker_new(matcher->pattern, matcher->length, &state->backtracker, NULL) == TIK_ERROR_PATTERN;
    if (!state->backtracker)
        return PCRE2_ERROR_MATCHLIMIT;
    switch (tik_backtracker_match(state->backtracker, s->text, s->length, from, s->more, state->found)) {
    case TIK_BACKTRACK_FOUND:
        return 1;
    case TIK_BACKTRACK_NONE:
        return PCRE2_ERROR_NOMATCH;
    case TIK_BACKTRACK_PARTIAL:
        return PCRE2_ERROR_PARTIAL;
    default:
        return PCRE2_ERROR_MATCHLIMIT;
    }
}

/* The next match from `from` on, in state->found; PCRE2's return value. */
static int match(const tik_matcher *matcher, tik_matcher_state *state, subject_text *s, size_t from)
{
    int code = PCRE2_ERROR_MATCHLIMIT;
    const uint32_t limits[] = { state->first_steps, state->last_steps };
    for (size_t i = 0; i < 2 && code == PCRE2_ERROR_MATCHLIMIT; i++) {
        if (i == 1 || state->by_backtracker == 0) {
            pcre2_set_match_limit(state->context, limits[i]);
            code = match_by_pcre2(matcher, state, s, from);
            if (code >= 0)
                memcpy(state->found, pcre2_get_ovector_pointer(state->data), sizeof state->found);
            if (code != PCRE2_ERROR_MATCHLIMIT || i == 1)
                return code;
            state->by_backtracker = MATCHES_BY_BACKTRACKER;
        }
        code = match_by_backtracker(matcher, state, s, from);
        if (code == PCRE2_ERROR_MATCHLIMIT)
            state->by_backtracker = 0;
        else if (!state->only_backtracker)
            state->by_backtracker--;
    }
    return code;
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
    subject_text subject = { text, length, more, from, false };
    state->first_steps = limit_for(length, FIRST_STEPS_LEAST, FIRST_STEPS_PER_BYTE);
    state->last_steps = limit_for(length, STEPS_LEAST, STEPS_PER_BYTE);
    /* A match can add two ends: the bytes that it leaves out and itself. */
    while (run.end < length && run.count + 2 <= capacity && fits(&run, run.end)) {
        int code = match(matcher, state, &subject, run.end);
        if (code == PCRE2_ERROR_PARTIAL || (code == PCRE2_ERROR_NOMATCH && more && matcher->depends_on_start))
            break;
        size_t first = length, last = length; /* of the match */
        if (code >= 0) {
            first = state->found[0];
            last = state->found[1];
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
    return (matcher->behind + 1) * CHARACTER_MOST;
}
