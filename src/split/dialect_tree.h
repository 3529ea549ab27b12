/*
 * The tree of a pattern: what the files dialect_*.c hand to each other. Its shape is that of the
 * reference's own tree (one node for each character, no flattening), since the reference's rewriting
 * rules compare and match shapes.
 */
#ifndef TIK_SPLIT_DIALECT_TREE_H
#define TIK_SPLIT_DIALECT_TREE_H

#include "base/base.h"
#include "split/dialect.h"
#include "unicode/unicode.h"

typedef enum node_kind {
    NODE_EMPTY,
    NODE_LITERAL,   /* code_point, fold */
    NODE_CLASS,     /* text, fold, set */
    NODE_ANY,       /* line_end, crlf: which line ends it takes */
    NODE_ASSERTION, /* assertion, crlf */
    NODE_NEWLINE,   /* \R */
    NODE_CONCAT,
    NODE_ALTERNATION,
    NODE_GROUP,      /* a capturing one: number */
    NODE_REPEAT,     /* least, most, greedy */
    NODE_ATOMIC,
    NODE_LOOK,       /* look */
    NODE_REFERENCE,  /* number */
    NODE_KEEP,       /* \K */
    NODE_CONTINUE,   /* \G */
    NODE_FAIL        /* (*FAIL) */
} node_kind;

typedef enum assertion_kind {
    ASSERT_TEXT_START,
    ASSERT_TEXT_END,
    ASSERT_TEXT_END_NEWLINES, /* \Z */
    ASSERT_LINE_START,
    ASSERT_LINE_END,
    ASSERT_WORD_BOUNDARY,
    ASSERT_NOT_WORD_BOUNDARY,
    ASSERT_WORD_START,
    ASSERT_WORD_END,
    ASSERT_WORD_START_HALF,
    ASSERT_WORD_END_HALF
} assertion_kind;

typedef enum look_kind { LOOK_AHEAD, LOOK_AHEAD_NOT, LOOK_BEHIND, LOOK_BEHIND_NOT } look_kind;

#define REPEAT_UNBOUNDED SIZE_MAX

typedef struct syntax_node syntax_node;
struct syntax_node {
    node_kind kind;
    size_t offset; /* in the pattern, where it begins */
    syntax_node **items;
    size_t count;
    size_t capacity;
    uint32_t code_point;
    bool fold;
    bool line_end;
    bool crlf;
    bool greedy;
    assertion_kind assertion;
    look_kind look;
    size_t number;
    size_t least;
    size_t most;
    tik_bytes text;         /* a class as the reference hands it on, in brackets or an escape */
    tik_unicode_ranges set; /* what it stands for */
    /* Filled by tik_tree_measure. */
    size_t size;        /* characters that it takes at least */
    bool size_is_fixed; /* and at most */
    bool is_fancy;      /* the reference backtracks here itself; the rest it leaves to a plain engine */
    syntax_node *made_before;  /* all nodes, to free them */
};

typedef struct syntax_group {
    size_t name; /* offset of its name in the pattern, TIK_NOWHERE if it has none */
    size_t name_length;
    size_t offset; /* of its parenthesis */
    size_t end;    /* after the closing one */
    bool is_referenced;
    syntax_node *node;
} syntax_group;

typedef struct syntax_tree {
    const char *pattern;
    size_t length;
    syntax_node *root;
    syntax_node *made_last;
    syntax_group *groups; /* number n is groups[n - 1] */
    size_t group_count;
    size_t group_capacity;
    tik_status status; /* the first failure; functions then return NULL or false and do nothing more */
    tik_error *error;
} syntax_tree;

/* NULL on failure, as all that follow. */
syntax_node *tik_tree_node(syntax_tree *tree, node_kind kind, size_t offset);
bool tik_tree_append(syntax_tree *tree, syntax_node *parent, syntax_node *child);
void tik_tree_free(syntax_tree *tree);

/* Fails: the pattern is not one of the dialect, at `offset`. */
void *tik_tree_refuse(syntax_tree *tree, size_t offset, const char *format, ...) TIK_PRINTF(3, 4);

/* Fails: the reference knows this, but PCRE2 can't be made to do the same. */
void *tik_tree_cannot(syntax_tree *tree, size_t offset, const char *what);

/* Keeps the first failure of a function that reports by status; true for TIK_OK. */
bool tik_tree_check(syntax_tree *tree, tik_status status);

/*
 * dialect.c: all of it, from tree->pattern to a measured tree as it is run: the look-behinds have one length
 * in each branch, and what can't be run was refused.
 */
bool tik_tree_read(syntax_tree *tree);

/* dialect_parse.c: sets tree->root and the groups. */
bool tik_tree_parse(syntax_tree *tree);

/* dialect_class.c: the set of a NODE_CLASS from its text. */
bool tik_tree_class_set(syntax_tree *tree, syntax_node *class);

/* dialect_rewrite.c */
bool tik_tree_rewrite(syntax_tree *tree);
bool tik_tree_measure(syntax_tree *tree, syntax_node *node); /* after a change in it, again */

/* dialect_set.c: what PCRE2's own tables are good for, worked out once for a pattern. */
typedef struct set_writer set_writer;
tik_status tik_set_writer_new(const char *unicode, set_writer **out, tik_error *error);
void tik_set_writer_free(set_writer *writer);

/*
 * Writes `set` as one item (a class, a character or a dot); only its ASCII members, for PCRE2 without
 * PCRE2_UTF, if `writer` is NULL.
 */
tik_status tik_set_write(const set_writer *writer, const tik_unicode_ranges *set, tik_bytes *out, tik_error *error);

/* dialect_emit.c: `writer` as above; `facts` gets all but the texts. */
bool tik_tree_emit(syntax_tree *tree, const set_writer *writer, tik_bytes *out, tik_translation *facts);

#endif
