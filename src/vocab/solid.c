/*
 * Which characters are solid: merging may begin with them whole.
 *
 * Take the first merge that joins a part of a character with its surroundings. It joins at the character's
 * edge, so of the two parts of the token that it makes, the right one is a beginning of the character or
 * the left one is an end of it. Until then the character's own merges went as they go by themselves; its
 * next own merge can be done too. If that has the lower rank, the joining merge is not done: so if each
 * token that joins so has a higher rank than the own merge that is next while such a part stands alone,
 * the character becomes whole first.
 *
 * A character of bytes 1 2 3 that merges as (1 2) 3 has 1 alone before its first merge, 12 before its
 * second, 3 before both, 23 never; one that merges as 1 (2 3) the other way round.
 */
#include <stdlib.h>

#include "vocab/layout.h"

/* The least token that joins at the edge of a character a part of these bytes. */
typedef struct joins {
    uint32_t begin_1[256]; /* its right part is this first byte of a character of more */
    uint32_t begin_2[65536];
    uint32_t end_1[256]; /* its left part is this last byte of a character */
    uint32_t end_2[65536];
} joins;

static void note(uint32_t *least, uint32_t index)
{
    if (index < *least)
        *least = index;
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t greater(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void note_joins(const tik_vocab *vocab, uint32_t index, size_t left_length, joins *found)
{
    const uint8_t *left = vocab->bytes + vocab->starts[index];
    const uint8_t *right = left + left_length;
    size_t right_length = tik_vocab_length(vocab, index) - left_length;
    if (right_length == 1 && right[0] >= 0xC2)
        note(&found->begin_1[right[0]], index);
    if (right_length == 2 && right[0] >= 0xE0 && !tik_utf8_is_start(right[1]))
        note(&found->begin_2[right[0] << 8 | right[1]], index);
    if (!tik_utf8_is_start(right[0]))
        return; /* the left part's end is no character's */
    if (left_length == 1 && !tik_utf8_is_start(left[0]))
        note(&found->end_1[left[0]], index);
    if (left_length == 2 && !tik_utf8_is_start(left[0]) && !tik_utf8_is_start(left[1]))
        note(&found->end_2[left[0] << 8 | left[1]], index);
}

static bool is_solid(const tik_vocab *vocab, const joins *found, uint32_t index, size_t left_length)
{
    const uint8_t *b = vocab->bytes + vocab->starts[index];
    size_t length = tik_vocab_length(vocab, index);
    if (length == 2)
        return lesser(found->begin_1[b[0]], found->end_1[b[1]]) > index;
    uint32_t begin_1 = found->begin_1[b[0]];
    uint32_t end_1 = found->end_1[b[2]];
    if (left_length == 2) {
        uint32_t first = tik_vocab_find(vocab, b, 2);
        return begin_1 > first && found->begin_2[b[0] << 8 | b[1]] > index && end_1 > greater(first, index);
    }
    uint32_t first = tik_vocab_find(vocab, b + 1, 2);
    return end_1 > first && found->end_2[b[1] << 8 | b[2]] > index && begin_1 > greater(first, index);
}

tik_status tik_find_solid(const tik_vocab *vocab, const uint32_t *lefts, uint32_t *solid_2, uint32_t *solid_3,
                      tik_error *error)
{
    joins *found = malloc(sizeof *found);
    if (!found)
        return tik_fail_memory(error, sizeof *found);
    memset(found, 0xFF, sizeof *found); /* TIK_NONE everywhere */
    memset(solid_2, 0xFF, 0x800 * sizeof *solid_2);
    memset(solid_3, 0xFF, 0x10000 * sizeof *solid_3);
    for (uint32_t i = 0; i < vocab->count; i++)
        if (lefts[i] != TIK_NONE)
            note_joins(vocab, i, tik_vocab_length(vocab, lefts[i]), found);
    for (uint32_t i = 0; i < vocab->count; i++) {
        const uint8_t *b = vocab->bytes + vocab->starts[i];
        size_t length = tik_vocab_length(vocab, i);
        bool is_character = b[0] >= 0xC2 && length == (b[0] < 0xE0 ? 2u : 3u) && tik_utf8_valid_prefix(b, length) == length;
        if (!is_character || lefts[i] == TIK_NONE || !is_solid(vocab, found, i, tik_vocab_length(vocab, lefts[i])))
            continue;
        if (length == 2)
            solid_2[(b[0] & 0x1Fu) << 6 | (b[1] & 0x3Fu)] = i;
        else
            solid_3[(b[0] & 0x0Fu) << 12 | (b[1] & 0x3Fu) << 6 | (b[2] & 0x3Fu)] = i;
    }
    free(found);
    return TIK_OK;
}
