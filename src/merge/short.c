/*
 * Merging a short piece without memory traffic. Each place where a part begins has a key, what the part
 * and the next one make and the place itself; the least key is the lowest rank and, among equals, the
 * leftmost. Places where no part begins any more have the greatest key, so that the search for the least
 * is one pass over a plain array, which compilers turn into vector instructions.
 */
#include "merge/merge.h"

#define PLACE_BITS 11
#define NO_KEY UINT32_MAX

static inline uint32_t make_key(uint32_t merged, size_t place)
{
    return merged == TIK_NONE ? NO_KEY : merged << PLACE_BITS | (uint32_t)place;
}

static inline uint32_t least_key(const uint32_t *keys, size_t count)
{
    uint32_t least = NO_KEY;
    for (size_t i = 0; i < count; i++)
        least = keys[i] < least ? keys[i] : least;
    return least;
}

size_t tik_merge_short(const tik_vocab *vocab, const uint8_t *piece, size_t length, uint32_t *out)
{
    uint32_t keys[TIK_MERGE_SHORT];
    uint32_t tokens[TIK_MERGE_SHORT];
    uint16_t next[TIK_MERGE_SHORT];
    uint16_t previous[TIK_MERGE_SHORT + 1];

    for (size_t i = 0; i < length; i++) {
        tokens[i] = vocab->byte_index[piece[i]];
        next[i] = (uint16_t)(i + 1);
        previous[i + 1] = (uint16_t)i;
        keys[i] = i + 1 < length ? make_key(vocab->byte_pairs[piece[i] << 8 | piece[i + 1]], i) : NO_KEY;
    }
    uint32_t least;
    while ((least = least_key(keys, length)) != NO_KEY) {
        size_t place = least & ((1u << PLACE_BITS) - 1);
        size_t gone = next[place];
        size_t after = next[gone];
        uint32_t merged = least >> PLACE_BITS;
        tokens[place] = merged;
        next[place] = (uint16_t)after;
        previous[after] = (uint16_t)place;
        keys[gone] = NO_KEY;
        keys[place] = after < length ? make_key(tik_vocab_pair(vocab, merged, tokens[after]), place) : NO_KEY;
        if (place > 0) {
            size_t before = previous[place];
            keys[before] = make_key(tik_vocab_pair(vocab, tokens[before], merged), before);
        }
    }
    size_t count = 0;
    for (size_t i = 0; i < length; i = next[i])
        out[count++] = tokens[i];
    return count;
}
