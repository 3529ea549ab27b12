/*
 * Tree → text for PCRE2, which is compiled with PCRE2_UTF and PCRE2_DOTALL. Groups capture only where a
 * back-reference asks for it; assertions on lines and words are written as look-around over sets of our
 * own, since PCRE2's depend on how it was built.
 */
#include <stdlib.h>
#include <string.h>

#include "split/dialect_tree.h"

/* PCRE2 repeats no item more often. */
#define MOST_REPEATS 65535

typedef struct emitter {
    syntax_tree *tree;
    tik_bytes *out;
    const set_writer *writer; /* NULL for a text of ASCII */
    tik_bytes word;           /* \w as PCRE2 is to have it, once it was needed */
    size_t *captures;         /* PCRE2's number of each group of the tree, 0 if it captures nothing */
    size_t capture_count;
    size_t looks;  /* how many look-arounds are open */
    size_t behind; /* how far back the open look-behinds are, together */
    tik_translation *facts;
} emitter;

/* How tightly the text that comes next is bound. */
typedef enum binding_power { BIND_CHOICE, BIND_ROW, BIND_ITEM } binding_power;

static bool emit(emitter *e, syntax_node *node, binding_power binding);

static bool put(emitter *e, const char *text)
{
    return tik_tree_check(e->tree, tik_bytes_append(e->out, text, strlen(text), e->tree->error));
}

static bool put_number(emitter *e, const char *before, size_t number, const char *after)
{
    return tik_tree_check(e->tree, tik_bytes_printf(e->out, e->tree->error, "%s%zu%s", before, number, after));
}

static bool put_set(emitter *e, const tik_unicode_ranges *set)
{
    return tik_tree_check(e->tree, tik_set_write(e->writer, set, e->out, e->tree->error));
}

static bool emit_literal(emitter *e, const syntax_node *literal)
{
    tik_unicode_ranges set = { 0 };
    bool done = tik_tree_check(e->tree, tik_unicode_ranges_add(&set, literal->code_point, literal->code_point,
                                                           e->tree->error));
    if (done && literal->fold)
        done = tik_tree_check(e->tree, tik_unicode_ranges_fold(&set, e->tree->error));
    done = done && put_set(e, &set);
    tik_unicode_ranges_free(&set);
    return done;
}

/* Writes `text`, each W in it as the set of \w. */
static bool put_with_words(emitter *e, const char *text)
{
    if (!e->word.length) {
        tik_unicode_ranges set = { 0 };
        bool done = tik_tree_check(e->tree, tik_unicode_perl('w', &set, e->tree->error)) &&
                    tik_tree_check(e->tree, tik_set_write(e->writer, &set, &e->word, e->tree->error));
        tik_unicode_ranges_free(&set);
        if (!done)
            return false;
    }
    bool done = true;
    for (; *text && done; text++)
        done = tik_tree_check(e->tree, *text == 'W'
                                       ? tik_bytes_append(e->out, e->word.data, e->word.length, e->tree->error)
                                       : tik_bytes_append(e->out, text, 1, e->tree->error));
    return done;
}

/* Notes that the text `characters` before this place is looked at. */
static void look_back(emitter *e, size_t characters)
{
    if (e->behind + characters > e->facts->behind)
        e->facts->behind = e->behind + characters;
}

static bool emit_assertion(emitter *e, const syntax_node *node)
{
    if (node->assertion != ASSERT_TEXT_END && node->assertion != ASSERT_TEXT_END_NEWLINES)
        look_back(e, 1);
    bool crlf = node->crlf;
    switch (node->assertion) {
    case ASSERT_TEXT_START:
        return put(e, "\\A");
    case ASSERT_TEXT_END:
        return put(e, "\\z");
    case ASSERT_TEXT_END_NEWLINES:
        return put(e, crlf ? "(?=[\\x0A\\x0D]*+\\z)" : "(?=\\x0A*+\\z)");
    /* With R a line ends at \r\n, \r or \n, and never between the first two. */
    case ASSERT_LINE_START:
        return put(e, crlf ? "(?:(?<![^\\x0A])|(?<=\\x0D)(?!\\x0A))" : "(?<![^\\x0A])");
    case ASSERT_LINE_END:
        return put(e, crlf ? "(?:(?![^\\x0D])|(?=\\x0A)(?<!\\x0D))" : "(?![^\\x0A])");
    case ASSERT_WORD_BOUNDARY:
        return put_with_words(e, "(?:(?<=W)(?!W)|(?<!W)(?=W))");
    case ASSERT_NOT_WORD_BOUNDARY:
        return put_with_words(e, "(?:(?<=W)(?=W)|(?<!W)(?!W))");
    case ASSERT_WORD_START:
        return put_with_words(e, "(?<!W)(?=W)");
    case ASSERT_WORD_END:
        return put_with_words(e, "(?<=W)(?!W)");
    case ASSERT_WORD_START_HALF:
        return put_with_words(e, "(?<!W)");
    default:
        return put_with_words(e, "(?!W)");
    }
}

static bool emit_items(emitter *e, syntax_node *parent, binding_power inner, const char *between)
{
    for (size_t i = 0; i < parent->count; i++) {
        if ((i && !put(e, between)) || !emit(e, parent->items[i], inner))
            return false;
    }
    return true;
}

static bool emit_enclosed(emitter *e, const char *open, syntax_node *child)
{
    return put(e, open) && emit(e, child, BIND_CHOICE) && put(e, ")");
}

static bool emit_quantifier(emitter *e, const syntax_node *repeat, bool possessive)
{
    bool done;
    if (repeat->least == 0 && repeat->most == 1)
        done = put(e, "?");
    else if (repeat->most == REPEAT_UNBOUNDED && repeat->least <= 1)
        done = put(e, repeat->least ? "+" : "*");
    else
        done = put_number(e, "{", repeat->least, "") &&
               (repeat->least == repeat->most || put(e, ",")) &&
               (repeat->least == repeat->most || repeat->most == REPEAT_UNBOUNDED ||
                put_number(e, "", repeat->most, "")) &&
               put(e, "}");
    return done && (possessive ? put(e, "+") : repeat->greedy || put(e, "?"));
}

static bool emit_repeat(emitter *e, syntax_node *repeat, bool possessive)
{
    if (repeat->least > MOST_REPEATS || (repeat->most > MOST_REPEATS && repeat->most != REPEAT_UNBOUNDED))
        return tik_tree_cannot(e->tree, repeat->offset, "a repeat of more than 65535 times");
    return emit(e, repeat->items[0], BIND_ITEM) && emit_quantifier(e, repeat, possessive);
}

static bool emit_group(emitter *e, syntax_node *group)
{
    if (!e->tree->groups[group->number - 1].is_referenced)
        return emit_enclosed(e, "(?:", group->items[0]);
    /* The reference goes back into a look-around for another capture; PCRE2 does not. */
    if (e->looks)
        return tik_tree_cannot(e->tree, group->offset, "a back-reference to a group in a look-around");
    e->captures[group->number - 1] = ++e->capture_count;
    return emit_enclosed(e, "(", group->items[0]);
}

/* ---- Look-around ----------------------------------------------------------------------------- */

/*
 * What may be repeated at the beginning of a look-behind need be there the least number of times only:
 * with more of it, the same text ends with the least number too.
 */
static void trim_front(syntax_node *node)
{
    switch (node->kind) {
    case NODE_REPEAT:
        if (node->least == 0) {
            node->kind = NODE_EMPTY;
            node->count = 0;
        } else if (node->items[0]->size_is_fixed) {
            node->most = node->least;
        }
        break;
    case NODE_GROUP:
    case NODE_ALTERNATION:
        for (size_t i = 0; i < node->count; i++)
            trim_front(node->items[i]);
        break;
    case NODE_CONCAT:
        for (size_t i = 0; i < node->count; i++) {
            trim_front(node->items[i]);
            if (node->items[i]->kind != NODE_EMPTY)
                break;
        }
        break;
    default:
        break;
    }
}

/* A branch of a look-behind: PCRE2 must know how far back it begins. */
static bool emit_behind_branch(emitter *e, syntax_node *branch)
{
    if (!branch->size_is_fixed && !branch->is_fancy) {
        trim_front(branch);
        if (!tik_tree_measure(e->tree, branch))
            return false;
    }
    if (!branch->size_is_fixed)
        return tik_tree_cannot(e->tree, branch->offset, "a look-behind of several lengths");
    look_back(e, branch->size);
    e->behind += branch->size;
    bool done = emit(e, branch, BIND_ROW);
    e->behind -= branch->size;
    return done;
}

static bool emit_look(emitter *e, syntax_node *look)
{
    static const char *const opens[] = { "(?=", "(?!", "(?<=", "(?<!" };
    syntax_node *inner = look->items[0];
    e->looks++;
    bool done = put(e, opens[look->look]);
    if (look->look == LOOK_AHEAD || look->look == LOOK_AHEAD_NOT) {
        done = done && emit(e, inner, BIND_CHOICE);
    } else if (inner->kind == NODE_ALTERNATION) {
        for (size_t i = 0; i < inner->count && done; i++)
            done = (i == 0 || put(e, "|")) && emit_behind_branch(e, inner->items[i]);
    } else {
        done = done && emit_behind_branch(e, inner);
    }
    e->looks--;
    return done && put(e, ")");
}

/* ---------------------------------------------------------------------------------------------- */

static bool emit_any(emitter *e, const syntax_node *any)
{
    if (any->line_end)
        return put(e, ".");
    return put(e, any->crlf ? "[^\\x0A\\x0D]" : "[^\\x0A]");
}

static bool emit_bare(emitter *e, syntax_node *node)
{
    switch (node->kind) {
    case NODE_LITERAL:
        return emit_literal(e, node);
    case NODE_CLASS:
        return put_set(e, &node->set);
    case NODE_ANY:
        return emit_any(e, node);
    case NODE_ASSERTION:
        return emit_assertion(e, node);
    case NODE_NEWLINE:
        return put(e, e->writer ? "(?>\\x0D\\x0A|[\\x0A-\\x0D\\x85\\x{2028}\\x{2029}])" : "(?>\\x0D\\x0A|[\\x0A-\\x0D])");
    case NODE_CONCAT:
        return emit_items(e, node, BIND_ROW, "");
    case NODE_ALTERNATION:
        return emit_items(e, node, BIND_ROW, "|");
    case NODE_GROUP:
        return emit_group(e, node);
    case NODE_REPEAT:
        return emit_repeat(e, node, false);
    case NODE_ATOMIC:
        if (node->items[0]->kind == NODE_REPEAT && node->items[0]->greedy)
            return emit_repeat(e, node->items[0], true);
        return emit_enclosed(e, "(?>", node->items[0]);
    case NODE_LOOK:
        return emit_look(e, node);
    case NODE_REFERENCE:
        return put_number(e, "\\g{", e->captures[node->number - 1], "}");
    case NODE_CONTINUE:
        e->facts->depends_on_start = true;
        return put(e, "\\G");
    case NODE_FAIL:
        return put(e, "(?!)");
    case NODE_KEEP:
        return tik_tree_cannot(e->tree, node->offset, "\\K within a group");
    default:
        return true;
    }
}

/* True if a quantifier or a neighbour would bind to a part of what the node becomes. */
static bool needs_parentheses(const syntax_node *node, binding_power binding)
{
    switch (node->kind) {
    case NODE_ALTERNATION:
        return binding != BIND_CHOICE;
    case NODE_CONCAT:
    case NODE_REPEAT:
    case NODE_EMPTY:
    case NODE_ASSERTION:
        return binding == BIND_ITEM;
    case NODE_ATOMIC:
        return binding == BIND_ITEM && node->items[0]->kind == NODE_REPEAT;
    default:
        return false;
    }
}

static bool emit(emitter *e, syntax_node *node, binding_power binding)
{
    if (!needs_parentheses(node, binding))
        return emit_bare(e, node);
    return put(e, "(?:") && emit_bare(e, node) && put(e, ")");
}

/* A branch of the whole pattern: here alone \K may stand. */
static bool emit_branch(emitter *e, syntax_node *branch)
{
    size_t count = branch->kind == NODE_CONCAT ? branch->count : 1;
    for (size_t i = 0; i < count; i++) {
        syntax_node *item = branch->kind == NODE_CONCAT ? branch->items[i] : branch;
        if (item->kind == NODE_KEEP) {
            e->facts->depends_on_start = true;
            if (!put(e, "\\K"))
                return false;
        } else if (!emit(e, item, BIND_ROW)) {
            return false;
        }
    }
    return true;
}

bool tik_tree_emit(syntax_tree *tree, const set_writer *writer, tik_bytes *out, tik_translation *facts)
{
    emitter e = { .tree = tree, .out = out, .writer = writer, .facts = facts };
    size_t capacity = 0;
    bool done = tik_tree_check(tree, tik_grow((void **)&e.captures, &capacity, tree->group_count + 1,
                                              sizeof *e.captures, tree->error));
    if (done)
        memset(e.captures, 0, (tree->group_count + 1) * sizeof *e.captures);
    syntax_node *root = tree->root;
    size_t count = root->kind == NODE_ALTERNATION ? root->count : 1;
    for (size_t i = 0; i < count && done; i++)
        done = (i == 0 || put(&e, "|")) &&
               emit_branch(&e, root->kind == NODE_ALTERNATION ? root->items[i] : root);
    tik_bytes_free(&e.word);
    free(e.captures);
    return done;
}
