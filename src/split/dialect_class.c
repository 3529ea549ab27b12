/*
 * One class → set of code points, by the rules of the reference's class parser (regex-syntax): nested
 * classes, && (both), -- (only the first), ~~ (one of them), all of one rank and read from the left;
 * [:name:] is ASCII only; case folding comes before negation and before each operation.
 */
#include <string.h>

#include "split/dialect_tree.h"

/* Classes nested deeper are refused; the reference's own limit, on other counts, is 250. */
#define DEEPEST_CLASS 100

typedef struct reader {
    syntax_tree *tree;
    const char *text; /* the class as the reference hands it on */
    size_t length;
    size_t at;
    size_t offset; /* in the pattern: where all failures are told */
    bool fold;
} reader;

/* A character or a class that stands in a class. */
typedef struct class_item {
    bool is_class;
    uint32_t code_point;
    tik_unicode_ranges set;
} class_item;

static bool check(reader *r, tik_status status)
{
    return tik_tree_check(r->tree, status);
}

static bool refuse(reader *r, const char *reason)
{
    tik_tree_refuse(r->tree, r->offset, "%s", reason);
    return false;
}

static char byte_at(const reader *r, size_t at)
{
    return at < r->length ? r->text[at] : 0;
}

static bool fold(reader *r, tik_unicode_ranges *set)
{
    return !r->fold || check(r, tik_unicode_ranges_fold(set, r->tree->error));
}

static bool fold_and_negate(reader *r, tik_unicode_ranges *set, bool negated)
{
    return fold(r, set) && (!negated || check(r, tik_unicode_ranges_negate(set, r->tree->error)));
}

/* \p and \P, r->at after the letter. */
static bool read_property(reader *r, bool negated, tik_unicode_ranges *set)
{
    const char *name = r->text + r->at;
    size_t length;
    if (byte_at(r, r->at) == '{') {
        const char *close = memchr(name, '}', r->length - r->at);
        if (!close)
            return refuse(r, "the name of a property is not closed");
        name++;
        length = (size_t)(close - name);
        r->at = (size_t)(close - r->text) + 1;
    } else {
        tik_utf8_decode((const uint8_t *)name, &length);
        r->at += length;
    }
    tik_error reason;
    tik_status status = tik_unicode_property(name, length, set, &reason);
    if (status == TIK_ERROR_PATTERN) {
        tik_tree_refuse(r->tree, r->offset, "there is no property \\p{%.*s}", length < 64 ? (int)length : 64, name);
        return false;
    }
    return check(r, status) && fold_and_negate(r, set, negated);
}

/* \xHH, in the texts that the parser put in; r->at after the x. */
static uint32_t read_hex(reader *r)
{
    uint32_t value = 0;
    for (size_t i = 0; i < 2; i++) {
        char c = byte_at(r, r->at++);
        value = value << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'A' + 10);
    }
    return value;
}

static bool read_escape(reader *r, class_item *item)
{
    char letter = byte_at(r, r->at + 1);
    r->at += 2;
    item->is_class = true;
    switch (letter) {
    case 'd':
    case 's':
    case 'w':
        return check(r, tik_unicode_perl(letter, &item->set, r->tree->error));
    case 'D':
    case 'S':
    case 'W':
        return check(r, tik_unicode_perl((char)(letter - 'A' + 'a'), &item->set, r->tree->error)) &&
               check(r, tik_unicode_ranges_negate(&item->set, r->tree->error));
    case 'p':
    case 'P':
        return read_property(r, letter == 'P', &item->set);
    default:
        break;
    }
    item->is_class = false;
    switch (letter) {
    case 'n':
        item->code_point = '\n';
        break;
    case 'r':
        item->code_point = '\r';
        break;
    case 't':
        item->code_point = '\t';
        break;
    case 'v':
        item->code_point = 0x0B;
        break;
    case 'f':
        item->code_point = 0x0C;
        break;
    case 'x':
        item->code_point = read_hex(r);
        break;
    default:
        item->code_point = (uint8_t)letter;
        break;
    }
    return true;
}

static bool read_item(reader *r, class_item *item)
{
    *item = (class_item){ 0 };
    if (byte_at(r, r->at) == '\\')
        return read_escape(r, item);
    size_t bytes;
    item->code_point = tik_utf8_decode((const uint8_t *)r->text + r->at, &bytes);
    r->at += bytes;
    return true;
}

static bool add_item(reader *r, const class_item *item, tik_unicode_ranges *set)
{
    if (item->is_class)
        return check(r, tik_unicode_ranges_unite(set, &item->set, r->tree->error));
    return check(r, tik_unicode_ranges_add(set, item->code_point, item->code_point, r->tree->error));
}

/* A character, a class escape or a range. */
static bool read_range(reader *r, tik_unicode_ranges *set)
{
    class_item first, last;
    bool done = read_item(r, &first);
    char next = byte_at(r, r->at + 1);
    if (done && (byte_at(r, r->at) != '-' || next == ']' || next == '-')) {
        done = add_item(r, &first, set);
    } else if (done && ++r->at < r->length) {
        done = read_item(r, &last);
        if (done && (first.is_class || last.is_class))
            done = refuse(r, "a range runs from a character to a character");
        else if (done && first.code_point > last.code_point)
            done = refuse(r, "a range in this class ends before it begins");
        else if (done)
            done = check(r, tik_unicode_ranges_add(set, first.code_point, last.code_point, r->tree->error));
        tik_unicode_ranges_free(&last.set);
    } else if (done) {
        done = refuse(r, "this class is not closed");
    }
    tik_unicode_ranges_free(&first.set);
    return done;
}

/* The ASCII classes, [:alpha:] and so on: up to three ranges each. */
static const struct {
    const char *name;
    struct {
        char first, last;
    } ranges[4];
} ascii_classes[] = {
    { "alnum", { { '0', '9' }, { 'A', 'Z' }, { 'a', 'z' } } },
    { "alpha", { { 'A', 'Z' }, { 'a', 'z' } } },
    { "ascii", { { 0x00, 0x7F } } },
    { "blank", { { '\t', '\t' }, { ' ', ' ' } } },
    { "cntrl", { { 0x00, 0x1F }, { 0x7F, 0x7F } } },
    { "digit", { { '0', '9' } } },
    { "graph", { { '!', '~' } } },
    { "lower", { { 'a', 'z' } } },
    { "print", { { ' ', '~' } } },
    { "punct", { { '!', '/' }, { ':', '@' }, { '[', '`' }, { '{', '~' } } },
    { "space", { { '\t', '\r' }, { ' ', ' ' } } },
    { "upper", { { 'A', 'Z' } } },
    { "word", { { '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' } } },
    { "xdigit", { { '0', '9' }, { 'A', 'F' }, { 'a', 'f' } } },
};

/*
 * [:name:] at r->at. `*found` tells if it is one; what only resembles one is a nested class of its
 * characters.
 */
static bool read_ascii_class(reader *r, tik_unicode_ranges *set, bool *found)
{
    *found = false;
    size_t at = r->at + 1;
    if (byte_at(r, at++) != ':')
        return true;
    bool negated = byte_at(r, at) == '^';
    at += negated;
    const char *name = r->text + at;
    const char *colon = at < r->length ? memchr(name, ':', r->length - at) : NULL;
    if (!colon || byte_at(r, (size_t)(colon - r->text) + 1) != ']')
        return true;
    size_t length = (size_t)(colon - name);
    for (size_t i = 0; i < sizeof ascii_classes / sizeof ascii_classes[0]; i++) {
        if (strlen(ascii_classes[i].name) != length || memcmp(ascii_classes[i].name, name, length) != 0)
            continue;
        *found = true;
        r->at = (size_t)(colon - r->text) + 2;
        tik_unicode_ranges class = { 0 };
        bool done = true;
        for (size_t k = 0; done && k < 4 && ascii_classes[i].ranges[k].last; k++)
            done = check(r, tik_unicode_ranges_add(&class, (uint8_t)ascii_classes[i].ranges[k].first,
                                                   (uint8_t)ascii_classes[i].ranges[k].last, r->tree->error));
        done = done && fold_and_negate(r, &class, negated) &&
               check(r, tik_unicode_ranges_unite(set, &class, r->tree->error));
        tik_unicode_ranges_free(&class);
        return done;
    }
    return true;
}

/* What stands before the next operator: '&', '-' or '~' for two of them, ']' for the end, 0 for no such thing. */
static char operator_at(const reader *r)
{
    char c = byte_at(r, r->at);
    return c == ']' || ((c == '&' || c == '-' || c == '~') && byte_at(r, r->at + 1) == c) ? c : 0;
}

/* left = left OPERATOR right; `pending` is the operator read before `right`, 0 for none. Empties `right`. */
static bool apply(reader *r, char pending, tik_unicode_ranges *left, tik_unicode_ranges *right)
{
    bool done = !pending || (fold(r, right) && fold(r, left));
    if (done && !pending)
        done = check(r, tik_unicode_ranges_unite(left, right, r->tree->error));
    else if (done && pending == '&')
        done = check(r, tik_unicode_ranges_intersect(left, right, r->tree->error));
    else if (done && pending == '-')
        done = check(r, tik_unicode_ranges_subtract(left, right, r->tree->error));
    else if (done)
        done = check(r, tik_unicode_ranges_differ(left, right, r->tree->error));
    tik_unicode_ranges_free(right);
    return done;
}

static bool read_class(reader *r, size_t depth, tik_unicode_ranges *set);

/* The items up to the next operator or the closing bracket. */
static bool read_union(reader *r, size_t depth, tik_unicode_ranges *set)
{
    while (!operator_at(r)) {
        if (r->at >= r->length)
            return refuse(r, "this class is not closed");
        bool is_ascii = false;
        if (r->text[r->at] == '[') {
            if (!read_ascii_class(r, set, &is_ascii) || (!is_ascii && !read_class(r, depth + 1, set)))
                return false;
        } else if (!read_range(r, set)) {
            return false;
        }
    }
    return true;
}

/* Adds to `set` the class whose opening bracket is at r->at. */
static bool read_class(reader *r, size_t depth, tik_unicode_ranges *set)
{
    if (depth > DEEPEST_CLASS)
        return refuse(r, "classes are nested too deep");
    r->at++;
    bool negated = byte_at(r, r->at) == '^';
    r->at += negated;
    tik_unicode_ranges all = { 0 }, part = { 0 };
    bool done = true, first = true;
    /* Hyphens here are characters, and so is a bracket if there are none. */
    for (; done && byte_at(r, r->at) == '-'; r->at++, first = false)
        done = check(r, tik_unicode_ranges_add(&part, '-', '-', r->tree->error));
    if (done && first && byte_at(r, r->at) == ']') {
        done = check(r, tik_unicode_ranges_add(&part, ']', ']', r->tree->error));
        r->at++;
    }
    char pending = 0;
    while (done) {
        done = read_union(r, depth, &part) && apply(r, pending, &all, &part);
        pending = done ? operator_at(r) : 0;
        r->at += pending == ']' ? 1 : 2;
        if (pending == ']')
            break;
    }
    done = done && fold_and_negate(r, &all, negated) &&
           check(r, tik_unicode_ranges_unite(set, &all, r->tree->error));
    tik_unicode_ranges_free(&part);
    tik_unicode_ranges_free(&all);
    return done;
}

bool tik_tree_class_set(syntax_tree *tree, syntax_node *class)
{
    reader r = { tree, class->text.data, class->text.length, 0, class->offset, class->fold };
    if (r.text[0] == '[')
        return read_class(&r, 0, &class->set) && (r.at == r.length || refuse(&r, "the brackets of this class do not pair; write \\[ for a bracket that is a character"));
    class_item item;
    bool done = read_item(&r, &item) && add_item(&r, &item, &class->set);
    tik_unicode_ranges_free(&item.set);
    return done;
}
