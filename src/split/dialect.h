/*
 * dialect: patterns are written in the regex dialect of the reference (Rust's fancy-regex 0.19.0 over
 * regex-syntax 0.8.11, Unicode 16.0); here they become patterns of PCRE2 that mean the same. The text of
 * the result leaves nothing to PCRE2's own options and little to its Unicode version: every class is a
 * set of code points of our own tables, every assertion is written out, case folding is done.
 *
 *   dialect_parse.c    text → tree, as the reference's parser reads it
 *   dialect_class.c    one class → set of code points
 *   dialect_rewrite.c  what the reference changes in the tree, and what is known of each node
 *   dialect_emit.c     tree → text for PCRE2
 *   dialect_set.c      set of code points → a class that PCRE2 runs fast
 */
#ifndef TIK_SPLIT_DIALECT_H
#define TIK_SPLIT_DIALECT_H

#include "base/base.h"

typedef struct tik_translation {
    tik_bytes pattern; /* for PCRE2, with PCRE2_UTF and PCRE2_DOTALL; release both with tik_bytes_free */
    tik_bytes ascii;   /* what is left of it on a text of ASCII alone: with PCRE2_DOTALL, without PCRE2_UTF */
    size_t behind;     /* how many characters before a match's beginning it can look at */
    bool depends_on_start; /* \G or \K is in it: a match is not the same from another place to start */
} tik_translation;

/*
 * Translates `pattern` (`length` bytes). `unicode` is the version of PCRE2's own tables, as it reports it
 * ("14.0.0"). TIK_ERROR_PATTERN with the byte offset and the reason: it is no pattern of the dialect, it
 * can match the empty string, or PCRE2 can't be made to do what the reference does.
 */
tik_status tik_dialect_translate(const char *pattern, size_t length, const char *unicode,
                                 tik_translation *translation, tik_error *error);

#endif
