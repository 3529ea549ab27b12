/*
 * The patterns of the public encodings, each read off its text code point by code point. A function
 * below follows its pattern alternative by alternative, so that it can be checked by eye; every other
 * scanner is tested against these.
 *
 * The reference's engine tries alternatives in order and repetitions greedily; where a repetition may
 * have to give characters back, the comment at that place says why what is done here is the same.
 */
#include "split/scan_plain.h"

#include "unicode/unicode.h"

/* After the last character. A member of no set, so that it ends every repetition. */
#define CLASS_END (TIK_CLASS_LO + 1)

/* Sets of classes. */
#define SET(class) (1u << (class))
#define SPACES SET(TIK_CLASS_SPACE)
#define NUMBERS SET(TIK_CLASS_N)
#define LETTERS \
    (SET(TIK_CLASS_LU) | SET(TIK_CLASS_LT) | SET(TIK_CLASS_LL) | SET(TIK_CLASS_LM) | SET(TIK_CLASS_LO))
#define UPPER (SET(TIK_CLASS_LU) | SET(TIK_CLASS_LT) | SET(TIK_CLASS_LM) | SET(TIK_CLASS_LO) | SET(TIK_CLASS_M))
#define LOWER (SET(TIK_CLASS_LL) | SET(TIK_CLASS_LM) | SET(TIK_CLASS_LO) | SET(TIK_CLASS_M))
#define OTHERS (SET(TIK_CLASS_OTHER) | SET(TIK_CLASS_M)) /* [^\s\p{L}\p{N}] */

typedef struct scanned {
    const uint8_t *text;
    size_t length;
    bool met_end; /* something depended on the text ending at `length` */
} scanned;

static bool in(unsigned class, unsigned set)
{
    return set >> class & 1;
}

/* The class of the character at `at`; `*next` is where the one after it starts. */
static unsigned class_at(scanned *view, size_t at, size_t *next)
{
    if (at >= view->length) {
        view->met_end = true;
        *next = at;
        return CLASS_END;
    }
    size_t bytes;
    uint32_t code_point = tik_utf8_decode(view->text + at, &bytes);
    *next = at + bytes;
    return tik_unicode_class(code_point);
}

static bool is_in(scanned *view, size_t at, unsigned set)
{
    size_t next;
    return in(class_at(view, at, &next), set);
}

/* [set]* from `at`, at most `most` characters: where it ends. */
static size_t skip_at_most(scanned *view, size_t at, unsigned set, size_t most)
{
    size_t next;
    while (most-- && in(class_at(view, at, &next), set))
        at = next;
    return at;
}

static size_t skip(scanned *view, size_t at, unsigned set)
{
    return skip_at_most(view, at, set, SIZE_MAX);
}

/* A byte, 0 at the end; a zero byte of the text is none of those that are asked for. */
static uint8_t byte_at(scanned *view, size_t at)
{
    if (at < view->length)
        return view->text[at];
    view->met_end = true;
    return 0;
}

static bool is_newline(uint8_t byte)
{
    return byte == '\n' || byte == '\r';
}

/* [\r\n]*, or [\r\n/]* */
static size_t skip_newlines(scanned *view, size_t at, bool slashes)
{
    for (;; at++) {
        uint8_t byte = byte_at(view, at);
        if (!is_newline(byte) && !(slashes && byte == '/'))
            return at;
    }
}

/* Where a contraction at `at` ends; `at` if there is none. */
static size_t contraction(scanned *view, size_t at, bool fold)
{
    if (byte_at(view, at) != '\'')
        return at;
    if (view->length - at < 3)
        view->met_end = true;
    return at + tik_contraction(view->text, view->length, at, fold);
}

/* A run of white space. */
typedef struct space_run {
    size_t last;     /* where its last character starts */
    size_t newlines; /* after its last \r or \n; where the run starts if it has none */
    size_t end;
    bool final; /* the text ends with it */
} space_run;

static space_run white_space(scanned *view, size_t at)
{
    space_run run = { at, at, at, false };
    size_t next;
    for (;;) {
        unsigned class = class_at(view, run.end, &next);
        if (class != TIK_CLASS_SPACE) {
            run.final = class == CLASS_END;
            return run;
        }
        run.last = run.end;
        if (is_newline(view->text[run.end]))
            run.newlines = next;
        run.end = next;
    }
}

/* What is left of the alternatives for a run of white space after those for newlines: \s+(?!\S)|\s */
static size_t blanks(const space_run *run, size_t at)
{
    if (run->final || run->last == at)
        return run->end;
    return run->last;
}

/* '(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s */
static size_t r50k(scanned *view, size_t at)
{
    size_t end = contraction(view, at, false);
    if (end > at)
        return end;

    size_t next, start = at + (view->text[at] == ' ');
    unsigned class = class_at(view, start, &next);
    if (in(class, LETTERS))
        return skip(view, next, LETTERS);
    if (in(class, NUMBERS))
        return skip(view, next, NUMBERS);
    if (in(class, OTHERS))
        return skip(view, next, OTHERS);

    space_run run = white_space(view, at);
    return blanks(&run, at);
}

/*
 * '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]
 * |\s+(?!\S)|\s
 */
static size_t cl100k(scanned *view, size_t at)
{
    size_t end = contraction(view, at, true);
    if (end > at)
        return end;

    size_t next;
    unsigned class = class_at(view, at, &next);
    if (in(class, LETTERS))
        return skip(view, next, LETTERS);
    if (in(class, NUMBERS))
        return skip_at_most(view, next, NUMBERS, 2);
    if (!is_newline(view->text[at]) && is_in(view, next, LETTERS))
        return skip(view, next, LETTERS);

    size_t start = at + (view->text[at] == ' ');
    end = skip(view, start, OTHERS);
    if (end > start)
        return skip_newlines(view, end, false);

    space_run run = white_space(view, at);
    if (run.final)
        return run.end;
    if (run.newlines > at) /* \s* takes the whole run and gives back up to the last newline */
        return run.newlines;
    return blanks(&run, at);
}

/*
 * [UPPER]*[LOWER]+ at `at`: its end, or `at`. UPPER* takes all it can; if no lower-case letter follows,
 * it gives back up to the last character that is in LOWER too, and that one alone is LOWER+.
 */
static size_t capitalised(scanned *view, size_t at)
{
    size_t next, end = at, given_back = at;
    unsigned class;
    while (in(class = class_at(view, end, &next), UPPER)) {
        end = next;
        if (in(class, LOWER))
            given_back = next;
    }
    return class == TIK_CLASS_LL ? skip(view, next, LOWER) : given_back;
}

/* [UPPER]+[LOWER]* at `at`: its end, or `at`. */
static size_t capitals(scanned *view, size_t at)
{
    size_t end = skip(view, at, UPPER);
    return end == at ? at : skip(view, end, LOWER);
}

/* The first two alternatives of o200k without the contraction: the end, or `at`. */
static size_t word(scanned *view, size_t at)
{
    size_t next, end;
    unsigned class = class_at(view, at, &next);
    bool prefix = !in(class, LETTERS | NUMBERS) && !is_newline(view->text[at]);
    if (prefix && (end = capitalised(view, next)) > next)
        return end;
    if ((end = capitalised(view, at)) > at)
        return end;
    if (prefix && (end = capitals(view, next)) > next)
        return end;
    return capitals(view, at);
}

/*
 * [^\r\n\p{L}\p{N}]?[UPPER]*[LOWER]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
 * |[^\r\n\p{L}\p{N}]?[UPPER]+[LOWER]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
 * |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
 */
static size_t o200k(scanned *view, size_t at)
{
    size_t end = word(view, at);
    if (end > at)
        return contraction(view, end, true);

    end = skip_at_most(view, at, NUMBERS, 3);
    if (end > at)
        return end;

    size_t start = at + (view->text[at] == ' ');
    end = skip(view, start, OTHERS);
    if (end > start)
        return skip_newlines(view, end, true);

    space_run run = white_space(view, at);
    if (run.newlines > at)
        return run.newlines;
    return blanks(&run, at);
}

size_t tik_scan_piece_r50k(const uint8_t *text, size_t length, size_t at, bool more)
{
    scanned view = { text, length, false };
    size_t end = r50k(&view, at);
    return more && view.met_end ? at : end;
}

size_t tik_scan_piece_cl100k(const uint8_t *text, size_t length, size_t at, bool more)
{
    scanned view = { text, length, false };
    size_t end = cl100k(&view, at);
    return more && view.met_end ? at : end;
}

size_t tik_scan_piece_o200k(const uint8_t *text, size_t length, size_t at, bool more)
{
    scanned view = { text, length, false };
    size_t end = o200k(&view, at);
    return more && view.met_end ? at : end;
}

void tik_scan_next_by_piece(tik_scan_piece *piece, const uint8_t *text, size_t length, size_t from, bool more,
                            uint32_t *ends, size_t capacity, size_t *count, size_t *end)
{
    size_t written = 0, at = from;
    while (written < capacity && at < length) {
        size_t next = piece(text, length, at, more);
        if (next == at)
            break;
        if (next - from >= TIK_SCAN_FAR) {
            if (!written) {
                ends[written++] = next - at >= TIK_SCAN_FAR ? 0 : (uint32_t)(next - at);
                at = next;
            }
            break;
        }
        ends[written++] = (uint32_t)(next - from);
        at = next;
    }
    *count = written;
    *end = at;
}
