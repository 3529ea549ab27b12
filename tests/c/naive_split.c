/*
 * A piece is found as a regular expression engine would: the alternatives of the pattern one after the
 * other, the first that matches wins; each written as "how far does it reach from here, 0 for no match".
 * Every pattern matches at every place (the last alternatives take a white space, the one before any
 * other character that is no letter or number), so pieces follow each other without gaps.
 */
#include "naive_split.h"

#include <stdbool.h>

#include "base/base.h"
#include "unicode/unicode.h"

const char *const naive_pattern_text[NAIVE_PATTERNS] = {
    "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s",

    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$"
    "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s",

    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};

/* A text and how long it is. Positions in it are byte offsets at the start of a character. */
typedef struct view {
    const uint8_t *text;
    size_t length;
} view;

typedef bool in_class(uint32_t code_point);

static bool is_space(uint32_t c)
{
    return tik_unicode_class(c) == TIK_CLASS_SPACE;
}

static bool is_letter(uint32_t c)
{
    uint8_t class = tik_unicode_class(c);
    return class == TIK_CLASS_LU || class == TIK_CLASS_LT || class == TIK_CLASS_LL || class == TIK_CLASS_LM ||
           class == TIK_CLASS_LO;
}

static bool is_number(uint32_t c)
{
    return tik_unicode_class(c) == TIK_CLASS_N;
}

/* Letters that may open a word in o200k, and those that may close it. */
static bool is_upper(uint32_t c)
{
    uint8_t class = tik_unicode_class(c);
    return class == TIK_CLASS_LU || class == TIK_CLASS_LT || class == TIK_CLASS_LM || class == TIK_CLASS_LO ||
           class == TIK_CLASS_M;
}

static bool is_lower(uint32_t c)
{
    uint8_t class = tik_unicode_class(c);
    return class == TIK_CLASS_LL || class == TIK_CLASS_LM || class == TIK_CLASS_LO || class == TIK_CLASS_M;
}

/* [^\s\p{L}\p{N}] */
static bool is_symbol(uint32_t c)
{
    return !is_space(c) && !is_letter(c) && !is_number(c);
}

/* [^\r\n\p{L}\p{N}] */
static bool is_prefix(uint32_t c)
{
    return c != '\r' && c != '\n' && !is_letter(c) && !is_number(c);
}

static bool is_blank(uint32_t c)
{
    return c == ' ';
}

static bool is_line_end(uint32_t c)
{
    return c == '\r' || c == '\n';
}

static bool is_line_end_or_slash(uint32_t c)
{
    return is_line_end(c) || c == '/';
}

/* Where the character at `at` ends if it is in the class, else `at`. */
static size_t one(view v, size_t at, in_class *class)
{
    if (at >= v.length)
        return at;
    size_t bytes;
    uint32_t c = tik_utf8_decode(v.text + at, &bytes);
    return class(c) ? at + bytes : at;
}

/* Where the run of at most `most` characters of the class ends. */
static size_t run(view v, size_t at, in_class *class, size_t most)
{
    for (size_t i = 0; i < most; i++) {
        size_t next = one(v, at, class);
        if (next == at)
            break;
        at = next;
    }
    return at;
}

static size_t previous(view v, size_t at)
{
    do
        at--;
    while (!tik_utf8_is_start(v.text[at]));
    return at;
}

/* True if the letter `letter` stands at `at`; with `fold`, in any form that simple case folding makes equal. */
static bool is_at(view v, size_t at, char letter, bool fold, size_t *end)
{
    if (at >= v.length)
        return false;
    size_t bytes;
    uint32_t c = tik_utf8_decode(v.text + at, &bytes);
    *end = at + bytes;
    if (c == (uint32_t)letter)
        return true;
    /* U+017F, the long s, folds to s. */
    return fold && (c == (uint32_t)letter - 'a' + 'A' || (letter == 's' && c == 0x17F));
}

/* Where an apostrophe and one of s d m t ll ve re ends, else `at`. No ending is the start of another. */
static size_t contraction(view v, size_t at, bool fold)
{
    static const char *const endings[] = { "s", "d", "m", "t", "ll", "ve", "re" };
    if (at >= v.length || v.text[at] != '\'')
        return at;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t end = at + 1;
        const char *letter = endings[i];
        while (*letter && is_at(v, end, *letter, fold, &end))
            letter++;
        if (!*letter)
            return end;
    }
    return at;
}

/* X?Y+ where no character is in both: an optional character and a run, else `at`. */
static size_t optional_then_run(view v, size_t at, in_class *optional, in_class *class)
{
    size_t first = one(v, at, optional);
    size_t end = run(v, first, class, SIZE_MAX);
    return end > first ? end : at;
}

/* \s++$ */
static size_t space_to_end(view v, size_t at)
{
    size_t end = run(v, at, is_space, SIZE_MAX);
    return end == v.length ? end : at;
}

/* \s+(?!\S): all of a run that ends the text, all but the last character of another. */
static size_t space_before_space(view v, size_t at)
{
    size_t end = run(v, at, is_space, SIZE_MAX);
    return end == v.length || end == at ? end : previous(v, end);
}

/* \s*[\r\n]: a run of space up to its last line end. */
static size_t space_to_line_end(view v, size_t at)
{
    size_t end = run(v, at, is_space, SIZE_MAX);
    while (end > at && !is_line_end(v.text[end - 1]))
        end = previous(v, end);
    return end;
}

static size_t r50k(view v)
{
    size_t end = contraction(v, 0, false);
    if (!end)
        end = optional_then_run(v, 0, is_blank, is_letter);
    if (!end)
        end = optional_then_run(v, 0, is_blank, is_number);
    if (!end)
        end = optional_then_run(v, 0, is_blank, is_symbol);
    if (!end)
        end = space_to_end(v, 0);
    if (!end)
        end = space_before_space(v, 0);
    if (!end)
        end = one(v, 0, is_space);
    return end;
}

static size_t cl100k(view v)
{
    size_t end = contraction(v, 0, true);
    if (!end)
        end = optional_then_run(v, 0, is_prefix, is_letter);
    if (!end)
        end = run(v, 0, is_number, 3);
    if (!end) {
        end = optional_then_run(v, 0, is_blank, is_symbol);
        if (end)
            end = run(v, end, is_line_end, SIZE_MAX);
    }
    if (!end)
        end = space_to_end(v, 0);
    if (!end)
        end = space_to_line_end(v, 0);
    if (!end)
        end = space_before_space(v, 0);
    if (!end)
        end = one(v, 0, is_space);
    return end;
}

/*
 * [upper]*[lower]+ from `at`. Modifier letters, other letters and marks are in both classes, so the first
 * repeat gives back what the second needs: from the end of the upper run towards `at`, the first place
 * where a lower character stands.
 */
static size_t upper_then_lower(view v, size_t at)
{
    size_t turn = run(v, at, is_upper, SIZE_MAX);
    for (;;) {
        size_t end = run(v, turn, is_lower, SIZE_MAX);
        if (end > turn)
            return end;
        if (turn == at)
            return at;
        turn = previous(v, turn);
    }
}

/* [upper]+[lower]* */
static size_t upper_or_more(view v, size_t at)
{
    size_t turn = run(v, at, is_upper, SIZE_MAX);
    return turn > at ? run(v, turn, is_lower, SIZE_MAX) : at;
}

/* A word form with one character before it if that helps, without it otherwise, and a contraction after it. */
static size_t word(view v, size_t (*form)(view, size_t))
{
    size_t first = one(v, 0, is_prefix);
    size_t end = form(v, first);
    if (end == first) {
        /* The optional character is given back; a mark can be part of the word itself. */
        first = 0;
        end = form(v, 0);
    }
    return end > first ? contraction(v, end, true) : 0;
}

static size_t o200k(view v)
{
    size_t end = word(v, upper_then_lower);
    if (!end)
        end = word(v, upper_or_more);
    if (!end)
        end = run(v, 0, is_number, 3);
    if (!end) {
        end = optional_then_run(v, 0, is_blank, is_symbol);
        if (end)
            end = run(v, end, is_line_end_or_slash, SIZE_MAX);
    }
    if (!end)
        end = space_to_line_end(v, 0);
    if (!end)
        end = space_before_space(v, 0);
    if (!end)
        end = run(v, 0, is_space, SIZE_MAX);
    return end;
}

size_t naive_piece(naive_pattern pattern, const uint8_t *text, size_t length)
{
    view v = { text, length };
    switch (pattern) {
    case NAIVE_R50K:
        return r50k(v);
    case NAIVE_CL100K:
        return cl100k(v);
    default:
        return o200k(v);
    }
}

size_t naive_split(naive_pattern pattern, const uint8_t *text, size_t length, size_t *ends)
{
    size_t count = 0;
    for (size_t at = 0; at < length;) {
        at += naive_piece(pattern, text + at, length - at);
        ends[count++] = at;
    }
    return count;
}
