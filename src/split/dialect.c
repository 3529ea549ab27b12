/* The way of a pattern through the files dialect_*.c, and what they share: nodes and failures. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "split/dialect.h"
#include "split/dialect_tree.h"

syntax_node *tik_tree_node(syntax_tree *tree, node_kind kind, size_t offset)
{
    if (tree->status)
        return NULL;
    syntax_node *made = calloc(1, sizeof *made);
    if (!made) {
        tree->status = tik_fail_memory(tree->error, sizeof *made);
        return NULL;
    }
    made->kind = kind;
    made->offset = offset;
    made->made_before = tree->made_last;
    tree->made_last = made;
    return made;
}

bool tik_tree_append(syntax_tree *tree, syntax_node *parent, syntax_node *child)
{
    if (!tik_tree_check(tree, tik_grow((void **)&parent->items, &parent->capacity, parent->count + 1,
                                   sizeof *parent->items, tree->error)))
        return false;
    parent->items[parent->count++] = child;
    return true;
}

void tik_tree_free(syntax_tree *tree)
{
    for (syntax_node *made = tree->made_last; made;) {
        syntax_node *before = made->made_before;
        tik_bytes_free(&made->text);
        tik_unicode_ranges_free(&made->set);
        free(made->items);
        free(made);
        made = before;
    }
    free(tree->groups);
}

void *tik_tree_refuse(syntax_tree *tree, size_t offset, const char *format, ...)
{
    if (tree->status)
        return NULL;
    char reason[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    tree->status = tik_fail_at(tree->error, TIK_ERROR_PATTERN, TIK_NOWHERE, offset,
                               "split pattern, byte %zu: %s", offset, reason);
    return NULL;
}

void *tik_tree_cannot(syntax_tree *tree, size_t offset, const char *what)
{
    return tik_tree_refuse(tree, offset,
                           "%s can't be run here as the reference runs it; write the pattern without it", what);
}

bool tik_tree_check(syntax_tree *tree, tik_status status)
{
    if (!tree->status)
        tree->status = status;
    return tree->status == TIK_OK;
}

/* As far as the text for PCRE2, which is written after it. */
static bool read_pattern(syntax_tree *tree)
{
    size_t valid = tik_utf8_valid_prefix((const uint8_t *)tree->pattern, tree->length);
    if (valid < tree->length)
        return tik_tree_refuse(tree, valid, "not UTF-8");
    if (!tik_tree_parse(tree) || !tik_tree_rewrite(tree) || !tik_tree_measure(tree, tree->root))
        return false;
    if (tree->root->size == 0)
        return tik_tree_refuse(tree, 0, "it can match the empty string, which is no piece");
    return true;
}

/* Writing the text is what gives the look-behinds their lengths. */
bool tik_tree_read(syntax_tree *tree)
{
    tik_bytes written = TIK_BYTES_INIT;
    tik_translation facts = { TIK_BYTES_INIT, TIK_BYTES_INIT, 0, false };
    bool done = read_pattern(tree) && tik_tree_emit(tree, NULL, &written, &facts);
    tik_bytes_free(&written);
    return done;
}

static void emit_both(syntax_tree *tree, const char *unicode, tik_translation *made)
{
    set_writer *writer = NULL;
    if (tik_tree_check(tree, tik_set_writer_new(unicode, &writer, tree->error)) &&
        tik_tree_emit(tree, writer, &made->pattern, made))
        tik_tree_emit(tree, NULL, &made->ascii, made);
    tik_set_writer_free(writer);
}

tik_status tik_dialect_translate(const char *pattern, size_t length, const char *unicode,
                                 tik_translation *translation, tik_error *error)
{
    syntax_tree tree = { .pattern = pattern, .length = length, .error = error };
    tik_translation made = { TIK_BYTES_INIT, TIK_BYTES_INIT, 0, false };
    if (read_pattern(&tree))
        emit_both(&tree, unicode, &made);
    if (tree.status) {
        tik_bytes_free(&made.pattern);
        tik_bytes_free(&made.ascii);
    } else {
        *translation = made;
    }
    tik_tree_free(&tree);
    return tree.status;
}
