/*
 * Text → tree. The rules are those of the reference's parser, odd ones included: flags set in a capturing
 * group stay set after it, an escaped character is not folded, a brace that opens no repeat is a brace.
 * What the reference knows and PCRE2 can't be made to do is refused where it is met.
 */
#include <stdlib.h>
#include <string.h>

#include "split/dialect_tree.h"

/* The reference refuses groups nested deeper; it bounds the recursion here too. */
#define DEEPEST 64

typedef struct flag_set {
    bool fold;        /* i */
    bool lines;       /* m */
    bool line_end;    /* s: the dot takes line feeds */
    bool crlf;        /* R */
    bool swap_greedy; /* U */
    bool spaced;      /* x */
} flag_set;

typedef struct group_name {
    const char *text; /* NULL for a reference by number */
    size_t length;
} group_name;

/* A reference whose group is found when all groups are known. */
typedef struct pending {
    syntax_node *node;
    group_name name;
} pending;

typedef struct parser {
    syntax_tree *tree;
    const char *text;
    size_t length;
    size_t at;
    flag_set flags;
    pending *pendings;
    size_t pending_count;
    size_t pending_capacity;
} parser;

static syntax_node *parse_alternatives(parser *p, size_t depth);
static syntax_node *parse_escape(parser *p, bool in_class);

static bool failed(const parser *p)
{
    return p->tree->status != TIK_OK;
}

static bool at_end(const parser *p)
{
    return p->at >= p->length;
}

/* The byte at `at`; 0 past the end, which is no byte of syntax. */
static char byte_at(const parser *p, size_t at)
{
    return at < p->length ? p->text[at] : 0;
}

static bool looking_at(const parser *p, const char *text)
{
    size_t length = strlen(text);
    return p->length - p->at >= length && memcmp(p->text + p->at, text, length) == 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static uint32_t character_at(const parser *p, size_t at, size_t *bytes)
{
    return tik_utf8_decode((const uint8_t *)p->text + at, bytes);
}

/* The first byte after white space and comments from `at` on; with x, `#` comments and spaces too. */
static size_t after_space(parser *p, size_t at)
{
    while (at < p->length) {
        char c = p->text[at];
        if (p->flags.spaced && c == '#') {
            const char *end = memchr(p->text + at, '\n', p->length - at);
            if (!end)
                return p->length;
            at = (size_t)(end - p->text) + 1;
        } else if (p->flags.spaced && (c == ' ' || c == '\r' || c == '\n' || c == '\t')) {
            at++;
        } else if (c == '(' && byte_at(p, at + 1) == '?' && byte_at(p, at + 2) == '#') {
            size_t open = at;
            for (at += 3; at < p->length && p->text[at] != ')';)
                at += p->text[at] == '\\' ? 2 : 1;
            if (at >= p->length) {
                tik_tree_refuse(p->tree, open, "this comment is not closed; write (?#…)");
                return p->length;
            }
            at++;
        } else {
            break;
        }
    }
    return at;
}

static void skip_space(parser *p)
{
    p->at = after_space(p, p->at);
}

/* Reads decimal digits at `*at`. False if there are none or too many. */
static bool read_number(const parser *p, size_t *at, size_t *value)
{
    size_t number = 0, from = *at;
    while (is_digit(byte_at(p, *at))) {
        size_t digit = (size_t)(p->text[*at] - '0');
        if (number > (SIZE_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
        ++*at;
    }
    *value = number;
    return *at > from;
}

static syntax_node *literal(parser *p, size_t offset, uint32_t code_point, bool fold)
{
    syntax_node *made = tik_tree_node(p->tree, NODE_LITERAL, offset);
    if (made) {
        made->code_point = code_point;
        made->fold = fold;
    }
    return made;
}

static syntax_node *assertion_node(parser *p, size_t offset, assertion_kind kind)
{
    syntax_node *made = tik_tree_node(p->tree, NODE_ASSERTION, offset);
    if (made) {
        made->assertion = kind;
        made->crlf = p->flags.crlf;
    }
    return made;
}

static syntax_node *any_node(parser *p, size_t offset, bool line_end, bool crlf)
{
    syntax_node *made = tik_tree_node(p->tree, NODE_ANY, offset);
    if (made) {
        made->line_end = line_end;
        made->crlf = crlf;
    }
    return made;
}

/* A node that hands `text` to the reference's class parser. */
static syntax_node *class_node(parser *p, size_t offset, const char *text, size_t length, bool fold)
{
    syntax_node *made = tik_tree_node(p->tree, NODE_CLASS, offset);
    if (!made || !tik_tree_check(p->tree, tik_bytes_append(&made->text, text, length, p->tree->error)))
        return NULL;
    made->fold = fold;
    return made;
}

static syntax_node *wrap(parser *p, node_kind kind, size_t offset, syntax_node *child)
{
    syntax_node *made = child ? tik_tree_node(p->tree, kind, offset) : NULL;
    return made && tik_tree_append(p->tree, made, child) ? made : NULL;
}

/* ---- Escapes --------------------------------------------------------------------------------- */

/* \xHH, \uHHHH, \UHHHHHHHH or braces after the letter: p->at is after the letter. */
static syntax_node *parse_hex(parser *p, size_t offset, size_t digits)
{
    skip_space(p);
    uint32_t value = 0;
    size_t count = 0, at = p->at;
    while (count < digits && hex_value(byte_at(p, at + count)) >= 0)
        count++;
    if (count == digits) {
        for (size_t i = 0; i < digits; i++)
            value = value << 4 | (uint32_t)hex_value(p->text[at + i]);
        p->at = at + digits;
    } else if (byte_at(p, at) == '{') {
        count = 0;
        for (at = after_space(p, at + 1); count < 8 && hex_value(byte_at(p, at)) >= 0; count++) {
            value = value << 4 | (uint32_t)hex_value(p->text[at]);
            at = after_space(p, at + 1);
        }
        if (!count || byte_at(p, at) != '}')
            return tik_tree_refuse(p->tree, offset, "one to eight hexadecimal digits and } must follow here");
        p->at = at + 1;
    } else {
        return tik_tree_refuse(p->tree, offset,
                               "%zu hexadecimal digits, or some in braces, must follow here", digits);
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return tik_tree_refuse(p->tree, offset, "there is no character of that number");
    return literal(p, offset, value, p->flags.fold);
}

/*
 * Names that the reference replaces before its class parser sees them: they come from another engine. In
 * a class the brackets of a positive replacement are left out.
 */
static const struct {
    const char *name;
    const char *inner;    /* NULL: `positive` and `negative` as they are */
    const char *positive;
    const char *negative;
} replaced_properties[] = {
    { "alnum", "\\p{alpha}\\p{digit}", NULL, NULL },
    { "blank", "\\p{Zs}\\x09", NULL, NULL },
    { "cntrl", "\\x00-\\x1F\\x7F-\\x9F", NULL, NULL },
    { "word", NULL, "\\w", "\\W" },
    { "graph", NULL, "[^\\p{White_Space}\\p{C}]", "[\\p{White_Space}\\p{C}]" },
    { "print", NULL, "[^\\p{C}\\t\\n\\v\\f\\r]", "[\\p{C}\\t\\n\\v\\f\\r]" },
    { "cs", NULL, "\\P{any}", "\\p{any}" },
};

static bool same_name(const char *text, size_t length, const char *lower)
{
    if (strlen(lower) != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != lower[i])
            return false;
    }
    return true;
}

/* \p and \P: p->at is after the letter, which is not the last byte. */
static syntax_node *parse_property(parser *p, size_t offset, bool in_class)
{
    size_t bytes;
    character_at(p, p->at, &bytes);
    if (p->text[p->at] != '{') {
        p->at += bytes;
        return class_node(p, offset, p->text + offset, p->at - offset, p->flags.fold);
    }
    const char *close = memchr(p->text + p->at, '}', p->length - p->at);
    if (!close)
        return tik_tree_refuse(p->tree, offset, "the name of this property is not closed; write \\p{Name}");
    const char *text = p->text + p->at + 1;
    size_t length = (size_t)(close - text);
    bool negated = p->text[offset + 1] == 'P';
    p->at = (size_t)(close - p->text) + 1;
    if (length && text[0] == '^') {
        negated = !negated;
        text++;
        length--;
    }
    syntax_node *made = class_node(p, offset, "", 0, p->flags.fold);
    if (!made)
        return NULL;
    tik_status status = TIK_OK;
    for (size_t i = 0; i < sizeof replaced_properties / sizeof replaced_properties[0]; i++) {
        if (!same_name(text, length, replaced_properties[i].name))
            continue;
        if (!replaced_properties[i].inner)
            status = tik_bytes_printf(&made->text, p->tree->error, "%s",
                                      negated ? replaced_properties[i].negative : replaced_properties[i].positive);
        else if (in_class && !negated)
            status = tik_bytes_printf(&made->text, p->tree->error, "%s", replaced_properties[i].inner);
        else
            status = tik_bytes_printf(&made->text, p->tree->error, "[%s%s]", negated ? "^" : "",
                                      replaced_properties[i].inner);
        return tik_tree_check(p->tree, status) ? made : NULL;
    }
    status = tik_bytes_printf(&made->text, p->tree->error, "\\%c{", negated ? 'P' : 'p');
    if (!status)
        status = tik_bytes_append(&made->text, text, length, p->tree->error);
    if (!status)
        status = tik_bytes_append(&made->text, "}", 1, p->tree->error);
    return tik_tree_check(p->tree, status) ? made : NULL;
}

/* \b{start} and its kin, p->at at the brace. */
static syntax_node *parse_named_boundary(parser *p, size_t offset)
{
    static const struct {
        const char *name;
        assertion_kind kind;
    } boundaries[] = {
        { "start", ASSERT_WORD_START },
        { "end", ASSERT_WORD_END },
        { "start-half", ASSERT_WORD_START_HALF },
        { "end-half", ASSERT_WORD_END_HALF },
    };
    char content[16];
    size_t length = 0, at = after_space(p, p->at + 1);
    while (at < p->length && p->text[at] != '}' && length < sizeof content) {
        content[length++] = p->text[at];
        at = after_space(p, at + 1);
    }
    if (byte_at(p, at) == '}' && p->text[offset + 1] == 'b') {
        for (size_t i = 0; i < sizeof boundaries / sizeof boundaries[0]; i++) {
            if (strlen(boundaries[i].name) == length && memcmp(content, boundaries[i].name, length) == 0) {
                p->at = at + 1;
                return assertion_node(p, offset, boundaries[i].kind);
            }
        }
    }
    return tik_tree_refuse(p->tree, offset, "\\b{…} knows start, end, start-half and end-half, \\B{…} nothing");
}

static syntax_node *add_pending(parser *p, size_t offset, size_t number, group_name by_name)
{
    if (p->flags.fold)
        return tik_tree_cannot(p->tree, offset, "a back-reference that ignores case");
    syntax_node *made = tik_tree_node(p->tree, NODE_REFERENCE, offset);
    if (!made || !tik_tree_check(p->tree, tik_grow((void **)&p->pendings, &p->pending_capacity, p->pending_count + 1,
                                               sizeof *p->pendings, p->tree->error)))
        return NULL;
    made->number = number;
    p->pendings[p->pending_count++] = (pending){ made, by_name };
    return made;
}

/* A group's name or number up to `close`, p->at where it begins: \k<name>, \k<-1>, (?P=name). */
static syntax_node *parse_reference(parser *p, size_t offset, char close)
{
    size_t at = p->at;
    while (at < p->length && (is_digit(p->text[at]) || is_letter(p->text[at]) || p->text[at] == '_' ||
                              ((unsigned char)p->text[at]) >= 0x80))
        at++;
    group_name id = { p->text + p->at, at - p->at };
    if (id.length && byte_at(p, at) == close) {
        size_t digits = p->at, number;
        p->at = at + 1;
        if (read_number(p, &digits, &number) && digits == at)
            return add_pending(p, offset, number, (group_name){ NULL, 0 });
        return add_pending(p, offset, 0, id);
    }
    char sign = byte_at(p, at);
    size_t number;
    if (close != ')' && (sign == '+' || sign == '-')) {
        at++;
        if (read_number(p, &at, &number) && byte_at(p, at) == close) {
            if (id.length)
                return tik_tree_cannot(p->tree, offset, "a back-reference with a level of recursion");
            p->at = at + 1;
            if (sign == '-' && number && number <= p->tree->group_count)
                return add_pending(p, offset, p->tree->group_count - number + 1, (group_name){ NULL, 0 });
            return tik_tree_refuse(p->tree, offset,
                                   "no group is closed before this back-reference as far as it says");
        }
    }
    return tik_tree_refuse(p->tree, offset, "the name of a group is expected here");
}

static syntax_node *parse_escaped_letter(parser *p, size_t offset, char letter)
{
    static const struct {
        char letter;
        char code;
    } controls[] = {
        { 'a', 0x07 }, { 'b', 0x08 }, { 'f', 0x0C }, { 'n', '\n' }, { 'r', '\r' }, { 't', '\t' }, { 'v', 0x0B },
        { 'e', 0x1B },
    };
    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++) {
        if (controls[i].letter == letter)
            return literal(p, offset, (uint32_t)controls[i].code, false);
    }
    /* These are assertions outside of a class, and letters in one. */
    if (!strchr("kAzBKGR", letter))
        return tik_tree_refuse(p->tree, offset, "\\%c has no meaning", letter);
    return literal(p, offset, (uint32_t)letter, false);
}

/* Escapes that stand for no single character; NULL without a failure if `letter` is none of them. */
static syntax_node *parse_assertion_escape(parser *p, size_t offset, char letter)
{
    switch (letter) {
    case 'k': {
        char open = byte_at(p, p->at);
        if (open != '<' && open != '\'')
            return tik_tree_refuse(p->tree, offset, "the name of a group is expected here: \\k<name>");
        p->at++;
        return parse_reference(p, offset, open == '<' ? '>' : '\'');
    }
    case 'A':
        return assertion_node(p, offset, ASSERT_TEXT_START);
    case 'z':
        return assertion_node(p, offset, ASSERT_TEXT_END);
    case 'Z':
        return assertion_node(p, offset, ASSERT_TEXT_END_NEWLINES);
    case 'b':
    case 'B': {
        size_t brace = after_space(p, p->at);
        if (byte_at(p, brace) == '{') {
            char next = byte_at(p, after_space(p, brace + 1));
            if (!is_digit(next) && next != ',') {
                p->at = brace;
                return parse_named_boundary(p, offset);
            }
        }
        return assertion_node(p, offset, letter == 'b' ? ASSERT_WORD_BOUNDARY : ASSERT_NOT_WORD_BOUNDARY);
    }
    case '<':
        return assertion_node(p, offset, ASSERT_WORD_START);
    case '>':
        return assertion_node(p, offset, ASSERT_WORD_END);
    case 'K':
        return tik_tree_node(p->tree, NODE_KEEP, offset);
    case 'G':
        return tik_tree_node(p->tree, NODE_CONTINUE, offset);
    case 'R':
        return tik_tree_node(p->tree, NODE_NEWLINE, offset);
    case 'O':
        return any_node(p, offset, true, true);
    case 'N':
        return any_node(p, offset, false, false);
    case 'g':
        return tik_tree_cannot(p->tree, offset, "the call of a group");
    default:
        return NULL;
    }
}

/* p->at is at the backslash. */
static syntax_node *parse_escape(parser *p, bool in_class)
{
    size_t offset = p->at, bytes;
    if (offset + 1 >= p->length)
        return tik_tree_refuse(p->tree, offset, "a backslash at the end escapes nothing");
    uint32_t character = character_at(p, offset + 1, &bytes);
    char letter = bytes == 1 ? (char)character : 0;
    p->at = offset + 1 + bytes;
    if (is_digit(letter)) {
        size_t number;
        p->at = offset + 1;
        if (in_class)
            return tik_tree_refuse(p->tree, offset,
                                   "a class has no back-references; write \\x for a character's number");
        if (!read_number(p, &p->at, &number))
            return tik_tree_refuse(p->tree, offset, "there is no group of that number");
        return add_pending(p, offset, number, (group_name){ NULL, 0 });
    }
    if (!in_class) {
        syntax_node *made = letter ? parse_assertion_escape(p, offset, letter) : NULL;
        if (made || failed(p))
            return made;
    }
    switch (letter) {
    case 'd':
    case 'D':
    case 's':
    case 'S':
    case 'w':
    case 'W':
        return class_node(p, offset, p->text + offset, 2, p->flags.fold);
    case 'h':
        return class_node(p, offset, "[0-9A-Fa-f]", 11, false);
    case 'H':
        return class_node(p, offset, "[^0-9A-Fa-f]", 12, false);
    case 'x':
        return parse_hex(p, offset, 2);
    case 'u':
        return parse_hex(p, offset, 4);
    case 'U':
        return parse_hex(p, offset, 8);
    case 'p':
    case 'P':
        if (!at_end(p))
            return parse_property(p, offset, in_class);
        break;
    default:
        break;
    }
    if (letter && is_letter(letter))
        return parse_escaped_letter(p, offset, letter);
    return literal(p, offset, character, false);
}

/* ---- Classes --------------------------------------------------------------------------------- */

static bool append(parser *p, syntax_node *class, const char *text, size_t length)
{
    return tik_tree_check(p->tree, tik_bytes_append(&class->text, text, length, p->tree->error));
}

static bool contains(const tik_bytes *bytes, const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i + length <= bytes->length; i++) {
        if (memcmp(bytes->data + i, text, length) == 0)
            return true;
    }
    return false;
}

/* An escape in a class: `class` gets what stands for it in the reference's class syntax. */
static bool parse_class_escape(parser *p, syntax_node *class, bool *seen_negated)
{
    size_t offset = p->at;
    syntax_node *item = parse_escape(p, true);
    if (!item)
        return false;
    if (item->kind == NODE_LITERAL) {
        uint8_t bytes[4];
        size_t length = tik_utf8_encode(item->code_point, bytes);
        if (length == 1 && strchr("\\.+*?()|[]{}^$#&-~", (char)bytes[0]) && bytes[0] && !append(p, class, "\\", 1))
            return false;
        return append(p, class, (const char *)bytes, length);
    }
    if (item->kind != NODE_CLASS) {
        tik_tree_refuse(p->tree, offset, "this is no character or class, which is what may stand in a class");
        return false;
    }
    /* From the second replaced and negated property on, the reference intersects. */
    if (item->text.length > 1 && memcmp(item->text.data, "[^", 2) == 0 &&
        (contains(&item->text, "\\p{") || contains(&item->text, "\\P{") || contains(&item->text, "[:"))) {
        if (*seen_negated && !append(p, class, "&&", 2))
            return false;
        *seen_negated = true;
    }
    return append(p, class, item->text.data, item->text.length);
}

/* Takes over an opening bracket with what may follow it: a caret, and a closing bracket as a character. */
static bool open_class(parser *p, syntax_node *class)
{
    size_t from = p->at++;
    if (byte_at(p, p->at) == '^')
        p->at++;
    if (byte_at(p, p->at) == ']')
        p->at++;
    return append(p, class, p->text + from, p->at - from);
}

/* p->at is at the bracket. */
static syntax_node *parse_class(parser *p)
{
    size_t offset = p->at, nesting = 1;
    syntax_node *class = class_node(p, offset, "", 0, p->flags.fold);
    bool seen_negated = false;
    if (!class || !open_class(p, class))
        return NULL;
    while (nesting) {
        if (at_end(p))
            return tik_tree_refuse(p->tree, offset, "this class is not closed; write ] after it");
        char c = p->text[p->at];
        if (c == '\\') {
            if (!parse_class_escape(p, class, &seen_negated))
                return NULL;
        } else if (c == '[') {
            nesting++;
            if (!open_class(p, class))
                return NULL;
        } else {
            nesting -= c == ']';
            if (!append(p, class, &c, 1))
                return NULL;
            p->at++;
        }
    }
    return class;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static bool expect_close(parser *p, size_t open)
{
    skip_space(p);
    if (failed(p))
        return false;
    if (byte_at(p, p->at) != ')') {
        tik_tree_refuse(p->tree, open, "this parenthesis is not closed");
        return false;
    }
    p->at++;
    return true;
}

static void set_flag(flag_set *flags, char letter, bool value)
{
    switch (letter) {
    case 'i':
        flags->fold = value;
        break;
    case 'm':
        flags->lines = value;
        break;
    case 's':
        flags->line_end = value;
        break;
    case 'R':
        flags->crlf = value;
        break;
    case 'U':
        flags->swap_greedy = value;
        break;
    default:
        flags->spaced = value;
        break;
    }
}

/* (?flags) and (?flags:…): p->at is after the question mark. */
static syntax_node *parse_flags(parser *p, size_t open, size_t depth)
{
    const flag_set before = p->flags;
    const size_t start = p->at;
    bool negative = false;
    for (;; p->at++) {
        skip_space(p);
        if (failed(p))
            return NULL;
        if (at_end(p))
            return tik_tree_refuse(p->tree, open, "this parenthesis is not closed");
        char c = p->text[p->at];
        if (c == ')' || c == ':') {
            if ((c == ')' && p->at == start) || (negative && p->at == start + 1))
                return tik_tree_refuse(p->tree, open, "no flag is given here");
            p->at++;
            if (c == ')')
                return tik_tree_node(p->tree, NODE_EMPTY, open);
            syntax_node *child = parse_alternatives(p, depth);
            if (!child)
                return NULL;
            if (byte_at(p, p->at) != ')')
                return tik_tree_refuse(p->tree, open, "this parenthesis is not closed");
            p->at++;
            p->flags = before;
            return child;
        }
        if (c == 'u' && !negative)
            continue;
        if (c == '-' && !negative)
            negative = true;
        else if (strchr("imsRUx", c) && c)
            set_flag(&p->flags, c, !negative);
        else
            return tik_tree_refuse(p->tree, p->at,
                               "no such group or flag: flags are i, m, s, R, U, x (u is always on), groups (…), "
                               "(?:…), (?<name>…), (?=…), (?!…), (?<=…), (?<!…), (?>…)");
    }
}

/* A capturing group, p->at where its content begins. */
static syntax_node *parse_capture(parser *p, size_t open, group_name named, size_t depth)
{
    syntax_tree *tree = p->tree;
    if (!tik_tree_check(tree, tik_grow((void **)&tree->groups, &tree->group_capacity, tree->group_count + 1,
                                   sizeof *tree->groups, tree->error)))
        return NULL;
    size_t index = tree->group_count++;
    tree->groups[index] = (syntax_group){ .name = named.text ? (size_t)(named.text - p->text) : TIK_NOWHERE,
                                   .name_length = named.length,
                                   .offset = open };
    syntax_node *child = parse_alternatives(p, depth);
    if (!child || !expect_close(p, open))
        return NULL;
    syntax_node *made = wrap(p, NODE_GROUP, open, child);
    if (made)
        made->number = index + 1;
    tree->groups[index].end = p->at;
    return made;
}

/* A name up to `close`, p->at where it begins; any other character may stand in it. */
static bool parse_name(parser *p, size_t open, char close, group_name *named)
{
    const char *end = memchr(p->text + p->at, close, p->length - p->at);
    if (!end || end == p->text + p->at || (size_t)(end - p->text) + 1 >= p->length) {
        tik_tree_refuse(p->tree, open, "the name of this group is empty or not closed");
        return false;
    }
    *named = (group_name){ p->text + p->at, (size_t)(end - p->text) - p->at };
    p->at = (size_t)(end - p->text) + 1;
    return true;
}

/* p->at is at the parenthesis. */
static syntax_node *parse_group(parser *p, size_t depth)
{
    static const struct {
        const char *prefix;
        node_kind kind;
        look_kind look;
    } kinds[] = {
        { "?=", NODE_LOOK, LOOK_AHEAD },
        { "?!", NODE_LOOK, LOOK_AHEAD_NOT },
        { "?<=", NODE_LOOK, LOOK_BEHIND },
        { "?<!", NODE_LOOK, LOOK_BEHIND_NOT },
        { "?>", NODE_ATOMIC, LOOK_AHEAD },
    };
    static const struct {
        const char *prefix;
        const char *what;
    } not_run[] = {
        { "?~", "an absent operator" },
        { "?(", "a condition" },
        { "?P>", "the call of a group" },
    };
    static const struct {
        const char *prefix;
        char close;
    } named[] = { { "?<", '>' }, { "?'", '\'' }, { "?P<", '>' } };
    size_t open = p->at++;
    if (++depth >= DEEPEST)
        return tik_tree_refuse(p->tree, open, "groups are nested deeper than %d", DEEPEST - 1);
    skip_space(p);
    if (failed(p))
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!looking_at(p, kinds[i].prefix))
            continue;
        p->at += strlen(kinds[i].prefix);
        syntax_node *child = parse_alternatives(p, depth);
        if (!child || !expect_close(p, open))
            return NULL;
        syntax_node *made = wrap(p, kinds[i].kind, open, child);
        if (made)
            made->look = kinds[i].look;
        return made;
    }
    for (size_t i = 0; i < sizeof not_run / sizeof not_run[0]; i++) {
        if (looking_at(p, not_run[i].prefix))
            return tik_tree_cannot(p->tree, open, not_run[i].what);
    }
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (!looking_at(p, named[i].prefix))
            continue;
        group_name text;
        p->at += strlen(named[i].prefix);
        return parse_name(p, open, named[i].close, &text) ? parse_capture(p, open, text, depth) : NULL;
    }
    if (looking_at(p, "?P=")) {
        p->at += 3;
        return parse_reference(p, open, ')');
    }
    if (looking_at(p, "*FAIL)") || looking_at(p, "*F)")) {
        p->at += looking_at(p, "*F)") ? 3 : 6;
        return tik_tree_node(p->tree, NODE_FAIL, open);
    }
    if (byte_at(p, p->at) == '*')
        return tik_tree_refuse(p->tree, open, "of the backtracking verbs only (*FAIL) is known");
    if (byte_at(p, p->at) == '?') {
        p->at++;
        return parse_flags(p, open, depth);
    }
    return parse_capture(p, open, (group_name){ NULL, 0 }, depth);
}

/* ---- Pieces, branches, alternatives ---------------------------------------------------------- */

static syntax_node *parse_atom(parser *p, size_t depth)
{
    skip_space(p);
    size_t offset = p->at;
    if (failed(p))
        return NULL;
    if (at_end(p))
        return tik_tree_node(p->tree, NODE_EMPTY, offset);
    switch (p->text[offset]) {
    case '.':
        p->at++;
        return any_node(p, offset, p->flags.line_end, p->flags.crlf);
    case '^':
        p->at++;
        return assertion_node(p, offset, p->flags.lines ? ASSERT_LINE_START : ASSERT_TEXT_START);
    case '$':
        p->at++;
        return assertion_node(p, offset, p->flags.lines ? ASSERT_LINE_END : ASSERT_TEXT_END);
    case '(':
        return parse_group(p, depth);
    case '\\':
        return parse_escape(p, false);
    case '[':
        return parse_class(p);
    case '+':
    case '*':
    case '?':
    case '|':
    case ')':
        return tik_tree_node(p->tree, NODE_EMPTY, offset);
    default: {
        size_t bytes;
        uint32_t character = character_at(p, offset, &bytes);
        p->at += bytes;
        return literal(p, offset, character, p->flags.fold);
    }
    }
}

static bool is_repeatable(const syntax_node *node)
{
    switch (node->kind) {
    case NODE_LOOK:
    case NODE_EMPTY:
    case NODE_KEEP:
    case NODE_CONTINUE:
    case NODE_FAIL:
        return false;
    default:
        return true;
    }
}

/* {n}, {n,}, {n,m}, {,m} at `*at`; false if it is none, and then the brace is a character. */
static bool read_braces(parser *p, size_t *at, size_t *least, size_t *most)
{
    size_t here = after_space(p, *at + 1);
    *least = 0;
    if (byte_at(p, here) != ',' && !read_number(p, &here, least))
        return false;
    here = after_space(p, here);
    if (byte_at(p, here) == ',') {
        here = after_space(p, here + 1);
        if (!read_number(p, &here, most))
            *most = REPEAT_UNBOUNDED;
        here = after_space(p, here);
    } else {
        *most = *least;
    }
    if (byte_at(p, here) != '}')
        return false;
    *at = here + 1;
    return true;
}

static syntax_node *parse_piece(parser *p, size_t depth)
{
    size_t begin = after_space(p, p->at);
    syntax_node *child = parse_atom(p, depth);
    if (!child)
        return NULL;
    skip_space(p);
    if (failed(p))
        return NULL;
    size_t offset = p->at, least = 0, most = REPEAT_UNBOUNDED;
    switch (byte_at(p, p->at)) {
    case '?':
        most = 1;
        p->at++;
        break;
    case '*':
        p->at++;
        break;
    case '+':
        least = 1;
        p->at++;
        break;
    case '{':
        if (read_braces(p, &p->at, &least, &most))
            break;
        return failed(p) ? NULL : child;
    default:
        return child;
    }
    if (!is_repeatable(child))
        return tik_tree_refuse(p->tree, offset, "there is nothing before this that can be repeated");
    if (least > most)
        return tik_tree_refuse(p->tree, offset, "the repeat's least number is above its most");
    skip_space(p);
    bool greedy = byte_at(p, p->at) != '?';
    p->at += !greedy;
    syntax_node *made = wrap(p, NODE_REPEAT, begin, child);
    if (!made)
        return NULL;
    made->least = least;
    made->most = most;
    made->greedy = greedy != p->flags.swap_greedy;
    if (byte_at(p, p->at) != '+')
        return made;
    p->at++;
    return wrap(p, NODE_ATOMIC, begin, made);
}

/* What came of a list of nodes: nothing, the only one, or all of them in a row. */
static syntax_node *parse_branch(parser *p, size_t depth)
{
    syntax_node *row = tik_tree_node(p->tree, NODE_CONCAT, p->at);
    while (row && !at_end(p)) {
        size_t before = p->at;
        syntax_node *piece = parse_piece(p, depth);
        if (!piece)
            return NULL;
        if (p->at == before)
            break;
        if (piece->kind != NODE_EMPTY && !tik_tree_append(p->tree, row, piece))
            return NULL;
    }
    if (!row || row->count > 1)
        return row;
    return row->count ? row->items[0] : tik_tree_node(p->tree, NODE_EMPTY, row->offset);
}

static syntax_node *parse_alternatives(parser *p, size_t depth)
{
    size_t offset = p->at;
    syntax_node *child = parse_branch(p, depth);
    if (!child)
        return NULL;
    skip_space(p);
    if (failed(p) || byte_at(p, p->at) != '|')
        return failed(p) ? NULL : child;
    syntax_node *choice = wrap(p, NODE_ALTERNATION, offset, child);
    while (choice && byte_at(p, p->at) == '|') {
        p->at++;
        child = parse_branch(p, depth);
        if (!child || !tik_tree_append(p->tree, choice, child))
            return NULL;
        skip_space(p);
        if (failed(p))
            return NULL;
    }
    return choice;
}

/* ---- References ------------------------------------------------------------------------------ */

/* The number of the group of that name; the last one if there are several. 0 for none. */
static size_t find_group(const syntax_tree *tree, group_name named)
{
    for (size_t i = tree->group_count; i > 0; i--) {
        const syntax_group *group = &tree->groups[i - 1];
        if (group->name != TIK_NOWHERE && group->name_length == named.length &&
            memcmp(tree->pattern + group->name, named.text, named.length) == 0)
            return i;
    }
    return 0;
}

static bool resolve(parser *p)
{
    for (size_t i = 0; i < p->pending_count; i++) {
        syntax_node *reference = p->pendings[i].node;
        if (p->pendings[i].name.text)
            reference->number = find_group(p->tree, p->pendings[i].name);
        if (reference->number < 1 || reference->number > p->tree->group_count) {
            tik_tree_refuse(p->tree, reference->offset, "there is no such group");
            return false;
        }
        syntax_group *group = &p->tree->groups[reference->number - 1];
        if (group->end > reference->offset) {
            tik_tree_cannot(p->tree, reference->offset, "a reference to a group that is not closed before it");
            return false;
        }
        group->is_referenced = true;
    }
    return true;
}

bool tik_tree_parse(syntax_tree *tree)
{
    parser p = { .tree = tree, .text = tree->pattern, .length = tree->length };
    tree->root = parse_alternatives(&p, 0);
    if (tree->root && !at_end(&p))
        tik_tree_refuse(tree, p.at, "this parenthesis closes nothing");
    bool done = !failed(&p) && resolve(&p);
    free(p.pendings);
    return done;
}
