/*
 * What the reference changes in a tree before it runs it, and what can be told of each node.
 *
 * The rewriting is meant to save the reference backtracking, but some of it changes what a pattern
 * matches: x+y?x+ becomes x+(?:yx+)?, which takes a single x too. Since the ids depend on it, it is done
 * here the same way. (The reference also moves a last look-ahead and \K; those keep the meaning.)
 */
#include <string.h>

#include "split/dialect_tree.h"

static bool is_repeat(const syntax_node *node, size_t least, size_t most)
{
    return node->kind == NODE_REPEAT && node->greedy && node->least == least && node->most == most;
}

/* x? x* x+, greedy */
static bool is_simple_repeat(const syntax_node *node)
{
    return is_repeat(node, 0, 1) || is_repeat(node, 0, REPEAT_UNBOUNDED) || is_repeat(node, 1, REPEAT_UNBOUNDED);
}

/* x* x+, greedy */
static bool is_open_repeat(const syntax_node *node)
{
    return is_repeat(node, 0, REPEAT_UNBOUNDED) || is_repeat(node, 1, REPEAT_UNBOUNDED);
}

/* The same tree: what the reference compares, which is not where it was written. */
static bool same(const syntax_node *a, const syntax_node *b)
{
    if (a->kind != b->kind || a->count != b->count)
        return false;
    bool equal = true;
    switch (a->kind) {
    case NODE_LITERAL:
        equal = a->code_point == b->code_point && a->fold == b->fold;
        break;
    case NODE_CLASS:
        equal = a->fold == b->fold && a->text.length == b->text.length &&
                memcmp(a->text.data, b->text.data, a->text.length) == 0;
        break;
    case NODE_ANY:
        equal = a->line_end == b->line_end && a->crlf == b->crlf;
        break;
    case NODE_ASSERTION: {
        bool ends_lines = a->assertion == ASSERT_LINE_START || a->assertion == ASSERT_LINE_END ||
                          a->assertion == ASSERT_TEXT_END_NEWLINES;
        equal = a->assertion == b->assertion && (!ends_lines || a->crlf == b->crlf);
        break;
    }
    case NODE_REPEAT:
        equal = a->least == b->least && a->most == b->most && a->greedy == b->greedy;
        break;
    case NODE_LOOK:
        equal = a->look == b->look;
        break;
    case NODE_REFERENCE:
        equal = a->number == b->number;
        break;
    default:
        break;
    }
    for (size_t i = 0; equal && i < a->count; i++)
        equal = same(a->items[i], b->items[i]);
    return equal;
}

/*
 * (?:x+)* and the like, also with a capturing group between: one repeat, unless both are optional one
 * that takes any number.
 */
static void join_repeats(syntax_node *outer)
{
    for (size_t i = 0; i < outer->count; i++)
        join_repeats(outer->items[i]);
    if (!is_simple_repeat(outer))
        return;
    syntax_node *child = outer->items[0];
    syntax_node *inner = child->kind == NODE_GROUP ? child->items[0] : child;
    if (!is_simple_repeat(inner))
        return;
    bool at_least_one = outer->least == 1 && inner->least == 1;
    inner->most = outer->most == 1 && inner->most == 1 ? 1 : REPEAT_UNBOUNDED;
    inner->least = at_least_one;
    /* The child, which has the joined repeat in it or is it, takes the place of the outer one. */
    syntax_node *made_before = outer->made_before;
    syntax_node swapped = *outer;
    *outer = *child;
    outer->made_before = made_before;
    swapped.made_before = child->made_before;
    *child = swapped;
}

static syntax_node *repeat(syntax_tree *tree, syntax_node *child, size_t least, size_t most, bool greedy)
{
    syntax_node *made = tik_tree_node(tree, NODE_REPEAT, child->offset);
    if (!made || !tik_tree_append(tree, made, child))
        return NULL;
    made->least = least;
    made->most = most;
    made->greedy = greedy;
    return made;
}

static syntax_node *pair(syntax_tree *tree, syntax_node *first, syntax_node *second)
{
    syntax_node *made = tik_tree_node(tree, NODE_CONCAT, first->offset);
    return made && tik_tree_append(tree, made, first) && tik_tree_append(tree, made, second) ? made : NULL;
}

/* x+ y{0,n} x+ → x+ (?:y{1,n} x+)?; if only the last x must be there, (?:x* y{1,n})? x+ */
static bool rewrite_triplets(syntax_tree *tree, syntax_node *row)
{
    for (size_t i = 0; i + 2 < row->count; i++) {
        syntax_node *left = row->items[i], *middle = row->items[i + 1], *right = row->items[i + 2];
        if (!is_open_repeat(left) || !is_open_repeat(right) || middle->kind != NODE_REPEAT || middle->least != 0 ||
            middle->most == 0 || !same(left->items[0], right->items[0]))
            continue;
        bool keeps_right = left->least < right->least;
        syntax_node *some = repeat(tree, middle->items[0], 1, middle->most, middle->greedy);
        syntax_node *both = some ? pair(tree, keeps_right ? left : some, keeps_right ? some : right) : NULL;
        syntax_node *optional = both ? repeat(tree, both, 0, 1, true) : NULL;
        if (!optional)
            return false;
        row->items[i] = keeps_right ? optional : left;
        row->items[i + 1] = keeps_right ? right : optional;
        memmove(&row->items[i + 2], &row->items[i + 3], (row->count - i - 3) * sizeof *row->items);
        row->count--;
        i++;
    }
    return true;
}

/* (?:x+ (?:y x+)?)+ → x+ (?:y x+)* */
static bool rewrite_repeated(syntax_tree *tree, syntax_node *outer)
{
    if (!is_open_repeat(outer))
        return true;
    syntax_node *row = outer->items[0];
    if (row->kind != NODE_CONCAT || row->count != 2 || !is_open_repeat(row->items[0]) ||
        !is_repeat(row->items[1], 0, 1))
        return true;
    syntax_node *left = row->items[0], *tail = row->items[1]->items[0];
    if (tail->kind != NODE_CONCAT || tail->count != 2 || !is_open_repeat(tail->items[1]) ||
        !same(left->items[0], tail->items[1]->items[0]))
        return true;
    syntax_node *tails = repeat(tree, tail, 0, REPEAT_UNBOUNDED, true);
    syntax_node *core = tails ? pair(tree, left, tails) : NULL;
    if (!core)
        return false;
    if (outer->least == 0) {
        outer->items[0] = core;
        outer->most = 1;
    } else {
        outer->kind = NODE_CONCAT;
        outer->items[0] = core->items[0];
        return tik_tree_append(tree, outer, core->items[1]);
    }
    return true;
}

static bool rewrite_ambiguous(syntax_tree *tree, syntax_node *node)
{
    for (size_t i = 0; i < node->count; i++) {
        if (!rewrite_ambiguous(tree, node->items[i]))
            return false;
    }
    if (node->kind == NODE_CONCAT)
        return rewrite_triplets(tree, node);
    return node->kind != NODE_REPEAT || rewrite_repeated(tree, node);
}

bool tik_tree_rewrite(syntax_tree *tree)
{
    join_repeats(tree->root);
    return rewrite_ambiguous(tree, tree->root);
}

/* ---- Measures -------------------------------------------------------------------------------- */

static size_t add_sizes(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

static size_t times(size_t size, size_t count)
{
    return count && size > SIZE_MAX / count ? SIZE_MAX : size * count;
}

static void measure_row(syntax_node *row)
{
    row->size = 0;
    row->size_is_fixed = true;
    for (size_t i = 0; i < row->count; i++) {
        /* What comes before \K is no part of the match. */
        if (row->items[i]->kind == NODE_KEEP)
            row->size = 0;
        row->size = add_sizes(row->size, row->items[i]->size);
        row->size_is_fixed &= row->items[i]->size_is_fixed;
    }
}

static void measure_choice(syntax_node *choice)
{
    choice->size = choice->items[0]->size;
    choice->size_is_fixed = true;
    for (size_t i = 0; i < choice->count; i++) {
        const syntax_node *item = choice->items[i];
        choice->size_is_fixed &= item->size_is_fixed && item->size == choice->size;
        if (item->size < choice->size)
            choice->size = item->size;
    }
}

bool tik_tree_measure(syntax_tree *tree, syntax_node *node)
{
    for (size_t i = 0; i < node->count; i++) {
        if (!tik_tree_measure(tree, node->items[i]))
            return false;
        node->is_fancy |= node->items[i]->is_fancy;
    }
    switch (node->kind) {
    case NODE_LITERAL:
    case NODE_ANY:
        node->size = 1;
        node->size_is_fixed = true;
        break;
    case NODE_CLASS:
        node->size = 1;
        node->size_is_fixed = true;
        return node->set.count || tik_tree_class_set(tree, node);
    case NODE_CONCAT:
        measure_row(node);
        break;
    case NODE_ALTERNATION:
        measure_choice(node);
        break;
    case NODE_GROUP:
        node->size = node->items[0]->size;
        node->size_is_fixed = node->items[0]->size_is_fixed;
        node->is_fancy |= tree->groups[node->number - 1].is_referenced;
        tree->groups[node->number - 1].node = node;
        break;
    case NODE_ATOMIC:
        node->size = node->items[0]->size;
        node->size_is_fixed = node->items[0]->size_is_fixed;
        node->is_fancy = true;
        break;
    case NODE_REPEAT:
        /* The reference's two engines do not agree with each other on when such a repeat ends. */
        if (node->most == REPEAT_UNBOUNDED && node->items[0]->size == 0)
            return tik_tree_cannot(tree, node->offset, "an endless repeat of what can match the empty string");
        node->size = times(node->items[0]->size, node->least);
        node->size_is_fixed = node->items[0]->size_is_fixed && node->least == node->most;
        break;
    case NODE_REFERENCE: {
        const syntax_node *referenced = tree->groups[node->number - 1].node;
        node->size = referenced->size;
        node->size_is_fixed = referenced->size_is_fixed;
        node->is_fancy = true;
        break;
    }
    case NODE_NEWLINE:
        node->size = 1;
        node->is_fancy = true;
        break;
    case NODE_ASSERTION:
        node->size_is_fixed = true;
        node->is_fancy = node->assertion != ASSERT_TEXT_START && node->assertion != ASSERT_TEXT_END &&
                         node->assertion != ASSERT_LINE_START && node->assertion != ASSERT_LINE_END;
        break;
    case NODE_EMPTY:
        node->size_is_fixed = true;
        break;
    default:
        node->size_is_fixed = true;
        node->is_fancy = true;
        break;
    }
    return true;
}
