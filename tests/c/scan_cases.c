/*
 * See scan_cases.h.
 */
#include "scan_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

scan_other_engine *scan_other;
size_t scan_compared;

/* Characters that the patterns or the scanners tell apart; the first ones go into the longer texts. */
static const char *const alphabet[] = {
    "a", "B", " ", "\n", "'", "s", "1", "!",
    "\u4F60",     /* Lo */
    "\u0301",     /* M */
    "/",
    "\u3000",     /* space of three bytes */
    "l", "\r",
    "\u00A0",     /* space of two bytes */
    "\u01C5",     /* Lt */
    "\u02B0",     /* Lm */
    "\u00C9", "\u00E9",
    "\u017F",     /* s in (?i:s) */
    "\u00BD",     /* No */
    "\u2167",     /* Nl */
    "\u0663",     /* Nd of two bytes */
    "\U0001D7D9", /* Nd of four bytes */
    "\U0001F680",
    "\uFE0F",     /* M */
    "\t", "\0", "\u2019", "\u20AC", "t", "r", "e", "v", "m", "d", "S", "L", "E",
    "\xC2\x85",   /* U+0085, a space */
    "\u212A",     /* Lu, k in (?i:k) */
    "\U00020000", /* Lo of four bytes */
    "\U00010400", /* Lu */
    "\U00010428", /* Ll */
    "\U000E0100", /* M */
    "\u2028",     /* a space that no pattern takes for a newline */
    "\u180E",     /* no space since Unicode 6.3, but in some versions of PCRE2 */
    "\u0903",     /* Mc */
    "_",
};
#define LETTERS (sizeof alphabet / sizeof *alphabet)

static size_t letter_length(size_t letter)
{
    size_t length = strlen(alphabet[letter]);
    return length ? length : 1;
}

static size_t add_letter(uint8_t *text, size_t length, size_t letter)
{
    memcpy(text + length, alphabet[letter], letter_length(letter));
    return length + letter_length(letter);
}

static uint64_t seed = 88172645463325252;

static size_t random_below(size_t limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (size_t)(seed >> 11) % limit;
}

static void *room(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return memory;
}

/* Ends of pieces, absolute. */
typedef struct end_list {
    size_t *ends, count, capacity;
} end_list;

static void reserve(end_list *list, size_t count)
{
    if (list->capacity >= count)
        return;
    free(list->ends);
    list->ends = room(count * sizeof *list->ends);
    list->capacity = count;
}

static void print_text(const uint8_t *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        fprintf(stderr, text[i] >= 0x20 && text[i] < 0x7F ? "%c" : "\\x%02x", (unsigned)text[i]);
    fputc('\n', stderr);
}

static bool same(const char *engine, const uint8_t *text, size_t length, const end_list *expected, const end_list *found)
{
    scan_compared++;
    size_t common = expected->count < found->count ? expected->count : found->count;
    if (expected->count == found->count &&
        (!common || !memcmp(expected->ends, found->ends, common * sizeof *found->ends)))
        return true;
    size_t i = 0;
    while (i < common && expected->ends[i] == found->ends[i])
        i++;
    size_t start = i ? expected->ends[i - 1] : 0;
    fprintf(stderr, "%s: of %zu bytes, piece %zu from %zu should end at %zu, and ends at %zu:\n", engine, length, i,
            start, i < expected->count ? expected->ends[i] : 0, i < found->count ? found->ends[i] : 0);
    print_text(text + start, length - start < 200 ? length - start : 200);
    if (length < 400)
        print_text(text, length);
    return false;
}

/* The pieces of a text by a scanner, `capacity` at a time; with `more` as many as it gives. */
static bool split(const tik_scanner *scanner, const uint8_t *text, size_t length, bool more, size_t capacity, end_list *out)
{
    static uint32_t ends[4096];
    reserve(out, length);
    out->count = 0;
    for (size_t from = 0, end, count; from < length; from = end) {
        scanner->next(text, length, from, more, ends, capacity, &count, &end);
        if (count == 0 && more && end == from)
            break;
        if (count == 0 || count > capacity || end != from + ends[count - 1] || end > length) {
            fprintf(stderr, "%s: %zu ends up to %zu from %zu\n", scanner->name, count, end, from);
            print_text(text, length < 400 ? length : 400);
            return false;
        }
        for (size_t i = 0; i < count; i++)
            out->ends[out->count++] = from + ends[i];
    }
    return true;
}

static void split_naively(naive_pattern pattern, const uint8_t *text, size_t length, end_list *out)
{
    reserve(out, length);
    out->count = naive_split(pattern, text, length, out->ends);
}

static end_list expected, found, rest;

static bool check(const uint8_t *text, size_t length)
{
    for (int pattern = 0; pattern < NAIVE_PATTERNS; pattern++) {
        split_naively((naive_pattern)pattern, text, length, &expected);
        if (scan_other) {
            reserve(&found, length);
            found.count = scan_other((naive_pattern)pattern, text, length, found.ends);
            if (!same("the other engine", text, length, &expected, &found))
                return false;
        }
        for (int way = 0; way < TIK_SCAN_WAYS; way++) {
            const tik_scanner *scanner = tik_scanner_get((tik_scan_pattern)pattern, (tik_scan_way)way);
            if (scanner && (!split(scanner, text, length, false, 512, &found) ||
                            !same(scanner->name, text, length, &expected, &found)))
                return false;
        }
    }
    return true;
}

/*
 * Every text of `characters` characters over the first `letters` of the alphabet: alone, and behind and
 * before so much else that it lies across the end of a block.
 */
static bool check_all_texts(size_t characters, size_t letters)
{
    size_t total = 1;
    for (size_t i = 0; i < characters; i++)
        total *= letters;
    for (size_t number = 0; number < total; number++) {
        uint8_t core[32], text[256];
        size_t length = 0;
        for (size_t i = 0, digits = number; i < characters; i++, digits /= letters)
            length = add_letter(core, length, digits % letters);
        if (!check(core, length))
            return false;
        size_t before = 64 - random_below(length + 2), after = random_below(2) * 80;
        memset(text, "x.x1"[number % 4], before);
        memcpy(text + before, core, length);
        memset(text + before + length, number % 5 ? 'y' : ' ', after);
        scan_other_engine *other = scan_other;
        scan_other = NULL;
        bool good = check(text, before + length + after);
        scan_other = other;
        if (!good)
            return false;
    }
    return true;
}

bool scan_all_short_texts(size_t longest)
{
    static const size_t letters[] = { 0, LETTERS, LETTERS, LETTERS, 16, 9, 6 };
    for (size_t characters = 1; characters <= longest; characters++) {
        if (!check_all_texts(characters, letters[characters]))
            return false;
    }
    return true;
}

/* Runs, long ones too, and mixtures of some characters. */
static size_t random_text(uint8_t *text, size_t limit)
{
    size_t length = 0, letters = 2 + random_below(LETTERS - 2), first = random_below(LETTERS);
    size_t longest = random_below(8) ? 3 : 200;
    for (;;) {
        size_t letter = (first + random_below(letters)) % LETTERS;
        for (size_t repeat = 1 + (random_below(3) ? 0 : random_below(longest)); repeat; repeat--) {
            if (length + letter_length(letter) > limit)
                return length;
            length = add_letter(text, length, letter);
        }
    }
}

/* The same in memory of exactly its length, so that a sanitizer sees a byte read beyond it. */
static uint8_t *new_random_text(size_t limit, size_t *length)
{
    uint8_t *draft = room(limit);
    *length = random_text(draft, limit);
    uint8_t *text = room(*length);
    memcpy(text, draft, *length);
    free(draft);
    return text;
}

bool scan_random_texts(size_t rounds)
{
    bool good = true;
    for (size_t round = 0; good && round < rounds; round++) {
        size_t length;
        uint8_t *text = new_random_text(1 + random_below(round % 10 ? 300 : 4096), &length);
        good = check(text, length);
        free(text);
    }
    return good;
}

bool scan_all_code_points(void)
{
    static const char *const contexts[] = { "a?b", "A?B", "1?1", " ?x", "  ?X", "\n?\n", "!?!", "!!?a", "'?",
                                            "x'?", "\u4F60?Z", "??" };
    uint8_t text[4096];
    size_t length = 0;
    for (uint32_t point = 0; point < 0x110000; point++) {
        if (point >= 0xD800 && point < 0xE000)
            continue;
        for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++) {
            for (const char *c = contexts[i]; *c; c++) {
                if (*c == '?')
                    length += tik_utf8_encode(point, text + length);
                else
                    text[length++] = (uint8_t)*c;
            }
        }
        text[length++] = (uint8_t)"x 1\n!s'/"[point % 8];
        if (length > sizeof text - 256 || point == 0x10FFFF) {
            if (!check(text, length))
                return false;
            length = 0;
        }
    }
    return true;
}

bool scan_resumed(size_t rounds)
{
    bool good = true;
    for (size_t round = 0; good && round < rounds; round++) {
        size_t length, capacity = 64 + round % 140;
        uint8_t *text = new_random_text(2000, &length);
        for (int pattern = 0; good && pattern < NAIVE_PATTERNS; pattern++) {
            split_naively((naive_pattern)pattern, text, length, &expected);
            for (int way = 0; good && way < TIK_SCAN_WAYS; way++) {
                const tik_scanner *scanner = tik_scanner_get((tik_scan_pattern)pattern, (tik_scan_way)way);
                if (scanner)
                    good = split(scanner, text, length, false, capacity, &found) &&
                           same(scanner->name, text, length, &expected, &found);
            }
        }
        free(text);
    }
    return good;
}

/*
 * What is given of an unfinished text must be the beginning of the pieces of any text that starts so: of
 * this one, and of the part itself. All ways give the same.
 */
static bool check_unfinished(naive_pattern pattern, const uint8_t *text, size_t length, size_t part)
{
    const tik_scanner *plain = tik_scanner_get((tik_scan_pattern)pattern, TIK_SCAN_PLAIN);
    split_naively(pattern, text, length, &expected);
    if (!split(plain, text, part, true, 512, &rest))
        return false;
    expected.count = rest.count < expected.count ? rest.count : expected.count;
    if (!same("unfinished", text, part, &expected, &rest))
        return false;
    split_naively(pattern, text, part, &expected);
    expected.count = rest.count < expected.count ? rest.count : expected.count;
    if (!same("unfinished, then finished", text, part, &expected, &rest))
        return false;
    for (int way = TIK_SCAN_PLAIN + 1; way < TIK_SCAN_WAYS; way++) {
        const tik_scanner *scanner = tik_scanner_get((tik_scan_pattern)pattern, (tik_scan_way)way);
        if (scanner && (!split(scanner, text, part, true, 100, &found) ||
                        !same(scanner->name, text, part, &rest, &found)))
            return false;
    }
    return true;
}

bool scan_unfinished(size_t rounds)
{
    bool good = true;
    for (size_t round = 0; good && round < rounds; round++) {
        size_t length;
        uint8_t *text = new_random_text(400, &length);
        for (size_t part = 0; good && part < length; part++) {
            for (int pattern = 0; good && tik_utf8_is_start(text[part]) && pattern < NAIVE_PATTERNS; pattern++)
                good = check_unfinished((naive_pattern)pattern, text, length, part);
        }
        free(text);
    }
    return good;
}

bool scan_cuts(size_t rounds)
{
    bool good = true;
    for (size_t round = 0; good && round < rounds; round++) {
        size_t length;
        uint8_t *text = new_random_text(60, &length);
        size_t low = random_below(length + 1), high = low + random_below(length + 1 - low);
        size_t cut = tik_scan_cut(text, length, low, high);
        for (int pattern = 0; good && cut && pattern < NAIVE_PATTERNS; pattern++) {
            split_naively((naive_pattern)pattern, text, length, &expected);
            split_naively((naive_pattern)pattern, text, cut, &found);
            reserve(&rest, length);
            rest.count = 0;
            for (size_t i = 0; i < found.count; i++)
                rest.ends[rest.count++] = found.ends[i];
            split_naively((naive_pattern)pattern, text + cut, length - cut, &found);
            for (size_t i = 0; i < found.count; i++)
                rest.ends[rest.count++] = cut + found.ends[i];
            good = cut > low && cut <= high && same("two halves", text, length, &expected, &rest);
        }
        free(text);
    }
    return good;
}

/* The naive splitter may be too slow for these: the plain one, held equal to it above, stands in. */
bool scan_long_runs(void)
{
    static const char *const repeated[] = { "\n ", " \n", "\u4F60A", "\u4F60AA", "A\u0301", "'s", "a's", "!\n/", "\r\n",
                                            "\u0301", "\u2764\uFE0F", "1\u0663", " !", " a" };
    enum { SIZE = 1 << 20, KINDS = LETTERS + sizeof repeated / sizeof *repeated };
    uint8_t *text = room(SIZE);
    bool good = true;
    for (size_t kind = 0; good && kind < KINDS; kind++) {
        for (size_t tail = 0; good && tail < 4; tail++) {
            const char *unit = kind < LETTERS ? alphabet[kind] : repeated[kind - LETTERS];
            size_t unit_length = *unit ? strlen(unit) : 1;
            size_t length = 0;
            text[length++] = (uint8_t)"\nA!x"[tail];
            while (length + unit_length <= SIZE - 200)
                memcpy(text + length, unit, unit_length), length += unit_length;
            text[length++] = (uint8_t)"x\n!b"[tail];
            for (int pattern = 0; good && pattern < NAIVE_PATTERNS; pattern++) {
                for (int way = 0; good && way < TIK_SCAN_WAYS; way++) {
                    const tik_scanner *scanner = tik_scanner_get((tik_scan_pattern)pattern, (tik_scan_way)way);
                    if (scanner)
                        good = split(scanner, text, length, false, 512, way ? &found : &expected) &&
                               (!way || same(scanner->name, text, length, &expected, &found));
                }
            }
        }
    }
    free(text);
    return good;
}
