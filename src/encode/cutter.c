/*
 * The longest beginning or end of a text that has at most N tokens.
 *
 * Beginning: the text is encoded window by window; each ends in a certain boundary, where the counts add
 * up. In the window with the N-th token, let `low` be the last certain boundary not after that token's end
 * and `high` the first one after it: up to `high` there are more than N tokens, so all candidates lie
 * between the two, and counting from `low` is enough. Where no boundary is certain (a long piece, a
 * pattern that PCRE2 runs), candidates are taken from a stretch behind the N-th token, and counted from
 * the beginning or, if that is far, from a token some way back. Whatever is found is at last counted as
 * a text by itself, and shortened until it is right. The end of a text is found in the same way, mirrored.
 */
#include <stdlib.h>
#include <string.h>

#include "encode/cut.h"
#include "unicode/unicode.h"

enum {
    TOKEN_BYTES = 6,      /* of a first window, for each token that is wanted; prose has 4 to 5 */
    WINDOW_LEAST = 512,
    WINDOW_MOST = 1 << 16,
    FAR = 2048,           /* bytes behind the N-th token that make it independent of the window's end */
    NEAR = 2048,          /* candidates are counted from so far back, and all tried in a part as long, */
    NEAR_TOKENS = 16,     /* else from so many tokens back */
    REACH = 128,          /* in a longer one without a certain boundary, so far behind the N-th token */
    STEPS = 64            /* a part that is still too long is shortened by characters so often, then faster */
};

tik_status tik_cutter_init(tik_cutter *cutter, const tik_encoding *encoding, const tik_cut_options *options,
                           tik_error *error)
{
    *cutter = (tik_cutter){.encoding = encoding, .options = TIK_OPTIONS_ORDINARY};
    if (options) {
        if (options->size != sizeof *options)
            return tik_fail(error, TIK_ERROR_ARGUMENT, "tik_cut_options: its size is %zu, not %zu as here",
                            options->size, sizeof *options);
        if (options->at < TIK_AT_CHARACTER || options->at > TIK_AT_PARAGRAPH)
            return tik_fail(error, TIK_ERROR_ARGUMENT, "tik_cut_options: there is no boundary %d", (int)options->at);
        cutter->at = options->at;
        cutter->graphemes = options->graphemes;
    }
    if (options && options->special) {
        cutter->options = *options->special;
        cutter->options.replace_invalid = false;
        cutter->options.threads = 0;
        cutter->options.limit = 0;
    }
    cutter->certain = cutter->options.allowed == TIK_SET_NONE && cutter->options.disallowed == TIK_SET_NONE;
    return TIK_OK;
}

void tik_cutter_free(tik_cutter *cutter)
{
    tik_ids_free(&cutter->ids);
    tik_sizes_free(&cutter->offsets);
}

static tik_status count(tik_cutter *cutter, const uint8_t *text, size_t length, size_t *tokens, tik_error *error)
{
    return tik_count_with(cutter->encoding, (const char *)text, length, &cutter->options, tokens, error);
}

/* Encodes text[from, to) into cutter->ids, with their places in the text. */
static tik_status encode_window(tik_cutter *cutter, const uint8_t *text, size_t from, size_t to, tik_error *error)
{
    cutter->ids.length = 0;
    cutter->offsets.length = 0;
    tik_status status = tik_encode_offsets(cutter->encoding, (const char *)text + from, to - from, &cutter->options,
                                           &cutter->ids, &cutter->offsets, error);
    if (status == TIK_ERROR_UTF8 && error)
        return tik_fail_utf8(error, text[from + error->offset], from + error->offset);
    for (size_t i = 0; i < cutter->offsets.length; i++)
        cutter->offsets.data[i] += from;
    return status;
}

/* How many of the window's tokens begin before `at`. */
static size_t tokens_before(const tik_cutter *cutter, size_t at)
{
    size_t low = 0;
    for (size_t high = cutter->offsets.length; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (cutter->offsets.data[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The last certain boundary in (low, high], 0 if there is none. */
static size_t last_cut(const tik_cutter *cutter, const uint8_t *text, size_t length, size_t low, size_t high)
{
    return cutter->certain && low < high ? tik_split_cut(cutter->encoding->splitter, text, length, low, high) : 0;
}

/* A certain boundary in (low, high] that is near `low`: the first or one soon after it; 0 if there is none. */
static size_t early_cut(const tik_cutter *cutter, const uint8_t *text, size_t length, size_t low, size_t high)
{
    enum { FIRST_STEP = 8 };
    for (size_t step = FIRST_STEP; low < high; step *= 2) {
        size_t to = high - low > step ? low + step : high;
        size_t cut = last_cut(cutter, text, length, low, to);
        if (cut || to == high)
            return cut;
    }
    return 0;
}

static size_t character_start(const uint8_t *text, size_t at)
{
    while (at > 0 && !tik_utf8_is_start(text[at]))
        at--;
    return at;
}

static size_t character_after(const uint8_t *text, size_t length, size_t at)
{
    do
        at++;
    while (at < length && !tik_utf8_is_start(text[at]));
    return at;
}

/* True if the text may be cut at `at` (0 < at < length, between characters), if the numbers of tokens allow it. */
static bool may_cut(const tik_cutter *cutter, const uint8_t *text, size_t length, size_t at)
{
    if (cutter->graphemes && !tik_grapheme_is_boundary(text, length, at))
        return false;
    if (cutter->options.allowed == TIK_SET_NONE)
        return true;
    size_t index = tokens_before(cutter, at);
    const char *bytes;
    size_t token_length;
    return index == 0 || !tik_is_special(cutter->encoding, cutter->ids.data[index - 1]) ||
           tik_token_bytes(cutter->encoding, cutter->ids.data[index - 1], &bytes, &token_length, NULL) != TIK_OK ||
           cutter->offsets.data[index - 1] + token_length <= at;
}

static size_t window_size(size_t tokens)
{
    size_t size = tokens < WINDOW_MOST / TOKEN_BYTES ? tokens * TOKEN_BYTES : WINDOW_MOST;
    return size < WINDOW_LEAST ? WINDOW_LEAST : size;
}

/* ---- The beginning ------------------------------------------------------------------------- */

/* Where the N-th token lies, and what lies around it. */
typedef struct place {
    bool found;
    bool whole;  /* the whole text has no more than N tokens: `low` is its end, `before` its tokens */
    size_t low;  /* candidates are counted from here: so many tokens are before it, if it is certain */
    size_t before;
    size_t high; /* candidates are less than this */
    bool guessed; /* they are not all there are, or their numbers of tokens are not certain */
} place;

/* The window is text[counted->at, to), and the N-th token ends at `middle`. Looks for low and high. */
static bool surround(const tik_cutter *cutter, const uint8_t *text, size_t length, size_t to, bool is_end,
                     const tik_counted *counted, size_t middle, place *found)
{
    found->low = last_cut(cutter, text, length, counted->at, middle);
    if (!found->low)
        found->low = counted->at;
    found->high = early_cut(cutter, text, length, middle, to < length ? to : length - 1);
    if (!found->high) {
        if (!is_end && to - middle < FAR)
            return false;
        found->high = to;
        if (to - found->low > NEAR && to - middle > REACH) {
            found->high = character_start(text, middle + REACH);
            found->guessed = true;
        }
    }
    if (middle - found->low > NEAR) {
        found->guessed = true;
        size_t index = tokens_before(cutter, middle);
        index = index > NEAR_TOKENS ? index - NEAR_TOKENS : 0;
        while (index > 0 && !tik_utf8_is_start(text[cutter->offsets.data[index]]))
            index--;
        found->low = cutter->offsets.data[index];
    }
    found->before = counted->tokens + tokens_before(cutter, found->low);
    found->found = true;
    return true;
}

/* Encodes from the last certain boundary on until the N-th token is there, or the text given is used up. */
static tik_status find_place(tik_cutter *cutter, const uint8_t *text, size_t length, bool complete, size_t limit,
                             tik_counted *counted, place *found, tik_error *error)
{
    *found = (place){0};
    for (size_t size = window_size(limit - counted->tokens);;) {
        size_t to = length - counted->at > size ? character_start(text, counted->at + size) : length;
        tik_status status = encode_window(cutter, text, counted->at, to, error);
        if (status != TIK_OK)
            return status;
        const bool is_end = complete && to == length;
        const size_t left = limit - counted->tokens;
        if (is_end && cutter->ids.length <= left) {
            *found = (place){.found = true, .whole = true, .low = length};
            found->before = counted->tokens + cutter->ids.length;
            return TIK_OK;
        }
        if (cutter->ids.length > left &&
            surround(cutter, text, length, to, is_end, counted, cutter->offsets.data[left], found))
            return TIK_OK;
        size_t cut = last_cut(cutter, text, length, counted->at, to < length ? to : length - 1);
        size_t tokens = cut ? tokens_before(cutter, cut) : 0;
        if (cut && tokens <= left) {
            *counted = (tik_counted){cut, counted->tokens + tokens};
            if (to == length && !complete)
                return TIK_OK;
            continue;
        }
        if (to == length)
            return TIK_OK;
        size = size > SIZE_MAX / 2 ? SIZE_MAX : 2 * size;
    }
}

/*
 * The longest text[0, end), end <= *end, of at most `limit` tokens when counted from its beginning and
 * cut at a place of that kind. *end becomes 0 if there is none. Goes faster in the end if it was `guessed`.
 */
static tik_status shorten(tik_cutter *cutter, const uint8_t *text, size_t length, size_t limit, tik_boundary at,
                          bool guessed, size_t *end, size_t *tokens, tik_error *error)
{
    size_t to = *end;
    for (size_t tries = 0; to > 0;) {
        if (to == length || ((at == TIK_AT_CHARACTER || tik_boundary_at(text, length, to) >= at) &&
                             may_cut(cutter, text, length, to))) {
            tik_status status = count(cutter, text, to, tokens, error);
            if (status != TIK_OK)
                return status;
            if (*tokens <= limit)
                break;
            if (++tries > STEPS && guessed)
                to = character_start(text, to - to / STEPS);
        }
        if (to > 0)
            to = tik_character_before(text, to);
    }
    *end = to;
    return TIK_OK;
}

/* The last candidate that seems right, counted from found->low. */
static tik_status try_candidates(tik_cutter *cutter, const uint8_t *text, size_t length, size_t limit,
                                 const place *found, size_t *end, tik_error *error)
{
    size_t to = found->high;
    while (to > found->low) {
        to = tik_character_before(text, to);
        if (to <= found->low)
            break;
        if (!may_cut(cutter, text, length, to))
            continue;
        size_t tokens;
        tik_status status = count(cutter, text + found->low, to - found->low, &tokens, error);
        if (status != TIK_OK)
            return status;
        if (found->before + tokens <= limit) {
            *end = to;
            return TIK_OK;
        }
    }
    *end = found->low;
    return TIK_OK;
}

/* No beginning fits: says how many tokens the first character has. */
static tik_status refuse(tik_cutter *cutter, const uint8_t *text, size_t length, size_t limit, tik_error *error)
{
    size_t to = character_after(text, length, 0);
    while (to < length && !may_cut(cutter, text, length, to))
        to = character_after(text, length, to);
    size_t tokens;
    tik_status status = count(cutter, text, to, &tokens, error);
    if (status != TIK_OK)
        return status;
    return tik_fail_at(error, TIK_ERROR_LIMIT, TIK_NOWHERE, 0,
                       "a limit of %zu is too small: what must not be cut (%zu bytes) takes %zu; allow at least %zu",
                       limit, to, tokens, tokens);
}

tik_status tik_cutter_beginning(tik_cutter *cutter, const uint8_t *text, size_t length, bool complete, size_t limit,
                                tik_counted *counted, size_t *end, size_t *tokens, tik_error *error)
{
    place found;
    tik_status status = find_place(cutter, text, length, complete, limit, counted, &found, error);
    if (status != TIK_OK)
        return status;
    *end = found.found ? found.low : TIK_CUT_UNKNOWN;
    *tokens = found.before;
    if (!found.found || found.whole)
        return TIK_OK;
    size_t longest = 0;
    status = try_candidates(cutter, text, length, limit, &found, &longest, error);
    for (int at = (int)cutter->at; status == TIK_OK; at--) {
        *end = longest;
        status = shorten(cutter, text, length, limit, (tik_boundary)at, found.guessed, end, tokens, error);
        if (*end > 0 || at == TIK_AT_CHARACTER)
            break;
    }
    if (status == TIK_OK && *end == 0)
        return refuse(cutter, text, length, limit, error);
    return status;
}

/* ---- The end ------------------------------------------------------------------------------- */

/* The part of the text after `from` that was encoded: so many tokens. */
typedef struct place_from_end {
    size_t low;  /* candidates are more than this, */
    size_t high; /* are counted up to here, */
    size_t after; /* and so many tokens follow */
    bool guessed;
} place_from_end;

/* The N-th token from the end begins at `middle` in the window text[from, to). */
static bool surround_end(const tik_cutter *cutter, const uint8_t *text, size_t length, size_t from, size_t to,
                         size_t middle, size_t after, place_from_end *found)
{
    found->high = early_cut(cutter, text, length, middle > 0 ? middle - 1 : 0, to < length ? to : length - 1);
    if (!found->high)
        found->high = to;
    found->low = last_cut(cutter, text, length, from, middle > 0 ? middle - 1 : 0);
    if (!found->low) {
        if (from > 0 && middle - from < FAR)
            return false;
        found->low = from;
        if (found->high - from > NEAR && middle - from > REACH) {
            found->low = character_start(text, middle - REACH);
            found->guessed = true;
        }
    }
    if (found->high - middle > NEAR) {
        found->guessed = true;
        size_t index = tokens_before(cutter, middle) + NEAR_TOKENS;
        while (index < cutter->offsets.length && !tik_utf8_is_start(text[cutter->offsets.data[index]]))
            index++;
        found->high = index < cutter->offsets.length ? cutter->offsets.data[index] : to;
    }
    found->after = after + cutter->offsets.length - tokens_before(cutter, found->high);
    return true;
}

/* The longest text[start, length), start >= *start, at a place of that kind; `length` if there is none. */
static tik_status shorten_end(tik_cutter *cutter, const uint8_t *text, size_t length, size_t limit, tik_boundary at,
                              bool guessed, size_t *start, size_t *tokens, tik_error *error)
{
    size_t from = *start;
    for (size_t tries = 0; from < length;) {
        if (from == 0 || ((at == TIK_AT_CHARACTER || tik_boundary_at(text, length, from) >= at) &&
                          may_cut(cutter, text, length, from))) {
            tik_status status = count(cutter, text + from, length - from, tokens, error);
            if (status != TIK_OK)
                return status;
            if (*tokens <= limit)
                break;
            if (++tries > STEPS && guessed)
                from = character_start(text, from + (length - from) / STEPS);
        }
        from = character_after(text, length, from);
    }
    *start = from;
    return TIK_OK;
}

static tik_status try_candidates_end(tik_cutter *cutter, const uint8_t *text, size_t length, size_t limit,
                                     const place_from_end *found, size_t *start, tik_error *error)
{
    for (size_t from = found->low ? character_after(text, length, found->low) : 0; from < found->high;
         from = character_after(text, length, from)) {
        size_t tokens;
        if (from > 0 && !may_cut(cutter, text, length, from))
            continue;
        tik_status status = count(cutter, text + from, found->high - from, &tokens, error);
        if (status != TIK_OK)
            return status;
        if (found->after + tokens <= limit) {
            *start = from;
            return TIK_OK;
        }
    }
    *start = found->high;
    return TIK_OK;
}

/* Encodes from the end backwards until the N-th token from there is found; `*whole` if there are not so many. */
static tik_status find_place_end(tik_cutter *cutter, const uint8_t *text, size_t length, size_t limit,
                                 place_from_end *found, bool *whole, tik_error *error)
{
    size_t to = length;
    size_t after = 0;
    *whole = false;
    for (size_t size = window_size(limit);;) {
        size_t from = to > size ? character_start(text, to - size) : 0;
        tik_status status = encode_window(cutter, text, from, to, error);
        if (status != TIK_OK)
            return status;
        const size_t left = limit - after;
        if (cutter->ids.length <= left && from == 0) {
            *whole = true;
            return TIK_OK;
        }
        if (cutter->ids.length > left) {
            size_t index = cutter->ids.length - left;
            size_t middle = index < cutter->offsets.length ? cutter->offsets.data[index] : to;
            if (surround_end(cutter, text, length, from, to, middle, after, found))
                return TIK_OK;
        }
        size_t cut = early_cut(cutter, text, length, from, to < length ? to : length - 1);
        size_t tokens = cut ? cutter->ids.length - tokens_before(cutter, cut) : 0;
        if (cut && cut < to && tokens <= left) {
            to = cut;
            after += tokens;
        } else {
            size = size > SIZE_MAX / 2 ? SIZE_MAX : 2 * size;
        }
    }
}

tik_status tik_cutter_end(tik_cutter *cutter, const uint8_t *text, size_t length, size_t limit, size_t *start,
                          size_t *tokens, tik_error *error)
{
    place_from_end found = {0};
    bool whole;
    size_t longest = 0;
    tik_status status = find_place_end(cutter, text, length, limit, &found, &whole, error);
    if (status == TIK_OK && !whole)
        status = try_candidates_end(cutter, text, length, limit, &found, &longest, error);
    if (status != TIK_OK)
        return status;
    /* may_cut looks at the window's tokens only where special tokens are taken; see tik_cutter.certain. */
    for (int at = whole ? TIK_AT_CHARACTER : (int)cutter->at; status == TIK_OK; at--) {
        *start = longest;
        status = shorten_end(cutter, text, length, limit, (tik_boundary)at, found.guessed, start, tokens, error);
        if (*start < length || at == TIK_AT_CHARACTER)
            break;
    }
    if (status == TIK_OK && *start == length)
        *tokens = 0;
    return status;
}
