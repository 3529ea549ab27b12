/*
 * The split patterns of the public encodings written out by hand, code point by code point, slowly and
 * plainly: what the engines are compared with.
 */
#ifndef NAIVE_SPLIT_H
#define NAIVE_SPLIT_H

#include <stddef.h>
#include <stdint.h>

typedef enum naive_pattern { NAIVE_R50K, NAIVE_CL100K, NAIVE_O200K } naive_pattern;

enum { NAIVE_PATTERNS = 3 };

/* The text of the pattern, as the reference package tiktoken 0.14.0 has it; zero-terminated. */
extern const char *const naive_pattern_text[NAIVE_PATTERNS];

/* The length in bytes of the piece at the start of `text`, which is valid UTF-8; 0 only if length is 0. */
size_t naive_piece(naive_pattern pattern, const uint8_t *text, size_t length);

/* Writes the ends of all pieces of `text` (room for `length` of them); returns how many. */
size_t naive_split(naive_pattern pattern, const uint8_t *text, size_t length, size_t *ends);

#endif
