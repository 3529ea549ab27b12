/*
 * Which characters are solid, and between which neighbours: merging may begin with them whole.
 *
 * First, the character becomes whole. Take the first merge that joins a part of it with its surroundings.
 * It joins at the character's edge, so of the two parts of the token that it makes, the right one is a
 * beginning of the character and the left one ends with the byte before it, or the left one is an end of
 * the character and the right one begins with the byte behind it. Until then the character's own merges
 * went as they go by themselves; its next own merge can be done too. If that has the lower rank, the
 * joining merge is not done: so if each token that joins so, with that byte on the other side, has a higher
 * rank than the own merge that is next while such a part stands alone, the character becomes whole first.
 *
 * A character of bytes 1 2 3 that merges as (1 2) 3 has 1 alone before its first merge, 12 before its
 * second, 3 before both, 23 never; one that merges as 1 (2 3) the other way round.
 *
 * Second, nothing else comes of it if it is whole from the start. The pairs of its parts with the
 * surroundings that are not there any more are never merged, as just shown. The pairs of the whole
 * character that are there too early must not be merged before their time: while the character is not
 * whole, its next own merge can be done, so whatever is merged has no higher rank than the greater of its
 * own merges. Hence each token whose last merge has the whole character as a part must have a higher rank.
 * (In a vocabulary that was learned, it has: it came later.)
 *
 * The bytes on either side are told apart by class (vocab.h): a table entry has a bit for each class in
 * which there is a byte that spoils it.
 */
#include <stdlib.h>

#include "vocab/layout.h"

/* What joins at the edge of a character: the least token for each byte on the other side. */
typedef struct joins {
    uint32_t begin_1[256][TIK_SOLID_CLASSES]; /* its right part is this first byte of a character of more */
    uint32_t begin_2[65536][TIK_SOLID_CLASSES];
    uint32_t end_1[256][TIK_SOLID_CLASSES]; /* its left part is this last byte of a character */
    uint32_t end_2[65536][TIK_SOLID_CLASSES];
    uint32_t whole_2[0x800]; /* one of its parts is this character */
    uint32_t whole_3[0x10000];
} joins;

static uint32_t greater(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t code_of_2(const uint8_t *b)
{
    return (b[0] & 0x1Fu) << 6 | (b[1] & 0x3Fu);
}

static uint32_t code_of_3(const uint8_t *b)
{
    return (b[0] & 0x0Fu) << 12 | (b[1] & 0x3Fu) << 6 | (b[2] & 0x3Fu);
}

static bool is_character(const uint8_t *b, size_t length)
{
    return b[0] >= 0xC2 && length == (b[0] < 0xE0 ? 2u : 3u) && tik_utf8_valid_prefix(b, length) == length;
}

static void note(uint32_t least[TIK_SOLID_CLASSES], uint32_t classes, uint32_t index)
{
    for (uint32_t c = 0; c < TIK_SOLID_CLASSES; c++)
        if (classes >> c & 1 && index < least[c])
            least[c] = index;
}

static void note_whole(joins *found, const uint8_t *part, size_t length, uint32_t index)
{
    if (!is_character(part, length))
        return;
    uint32_t *least = length == 2 ? &found->whole_2[code_of_2(part)] : &found->whole_3[code_of_3(part)];
    if (index < *least)
        *least = index;
}

static void note_joins(const tik_vocab *vocab, uint32_t index, size_t left_length, joins *found)
{
    const uint8_t *left = vocab->bytes + vocab->starts[index];
    const uint8_t *right = left + left_length;
    size_t right_length = tik_vocab_length(vocab, index) - left_length;
    uint32_t before = tik_solid_before(right[-1]);
    uint32_t behind = tik_solid_behind(right[0]);
    note_whole(found, left, left_length, index);
    note_whole(found, right, right_length, index);
    if (right_length == 1 && right[0] >= 0xC2)
        note(found->begin_1[right[0]], before, index);
    if (right_length == 2 && right[0] >= 0xE0 && !tik_utf8_is_start(right[1]))
        note(found->begin_2[right[0] << 8 | right[1]], before, index);
    if (!tik_utf8_is_start(right[0]))
        return; /* the left part's end is no character's */
    if (left_length == 1 && !tik_utf8_is_start(left[0]))
        note(found->end_1[left[0]], behind, index);
    if (left_length == 2 && !tik_utf8_is_start(left[0]) && !tik_utf8_is_start(left[1]))
        note(found->end_2[left[0] << 8 | left[1]], behind, index);
}

/* The classes in which there is a token of no higher rank than `own`. */
static uint32_t spoilt(const uint32_t least[TIK_SOLID_CLASSES], uint32_t own)
{
    uint32_t classes = 0;
    for (uint32_t c = 0; c < TIK_SOLID_CLASSES; c++)
        classes |= (uint32_t)(least[c] <= own) << c;
    return classes;
}

/* The entry of a character that merges to `index`: the token and the classes of neighbours that spoil it. */
static uint32_t entry_of(const tik_vocab *vocab, const joins *found, uint32_t index, size_t left_length)
{
    const uint8_t *b = vocab->bytes + vocab->starts[index];
    if (tik_vocab_length(vocab, index) == 2) {
        if (found->whole_2[code_of_2(b)] <= index)
            return TIK_NONE;
        uint32_t classes = spoilt(found->begin_1[b[0]], index) | spoilt(found->end_1[b[1]], index);
        return classes << TIK_SOLID_SHIFT | index;
    }
    uint32_t first = tik_vocab_find(vocab, left_length == 2 ? b : b + 1, 2);
    uint32_t both = greater(first, index);
    if (found->whole_3[code_of_3(b)] <= both)
        return TIK_NONE;
    uint32_t classes;
    if (left_length == 2)
        classes = spoilt(found->begin_1[b[0]], first) | spoilt(found->begin_2[b[0] << 8 | b[1]], index) |
                  spoilt(found->end_1[b[2]], both);
    else
        classes = spoilt(found->end_1[b[2]], first) | spoilt(found->end_2[b[1] << 8 | b[2]], index) |
                  spoilt(found->begin_1[b[0]], both);
    return classes << TIK_SOLID_SHIFT | index;
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
        if (lefts[i] == TIK_NONE || !is_character(b, length))
            continue;
        uint32_t entry = entry_of(vocab, found, i, tik_vocab_length(vocab, lefts[i]));
        if (length == 2)
            solid_2[code_of_2(b)] = entry;
        else
            solid_3[code_of_3(b)] = entry;
    }
    free(found);
    return TIK_OK;
}
