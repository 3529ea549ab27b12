/*
 * Merging a short piece without memory traffic. Each place where a part begins has a key, what the part
 * and the next one make and the place itself; the least key is the lowest rank and, among equals, the
 * leftmost. Places where no part begins any more have the greatest key, so that the search for the least
 * is one pass over a plain array of whole vectors, which compilers turn into vector instructions: the
 * same code is compiled once for any machine and once for AVX2. Solid characters (vocab.h) begin whole.
 */
#include "base/cpu.h"
#include "merge/merge.h"

#define PLACE_BITS 11
#define NO_KEY (TIK_NONE << PLACE_BITS) /* this and greater: nothing */
#define LANES 8 /* keys looked at in one step */

static inline uint32_t make_key(uint32_t merged, size_t place)
{
    return merged << PLACE_BITS | (uint32_t)place;
}

TIK_INLINE size_t merge(const tik_vocab *vocab, const uint8_t *piece, size_t length, uint32_t *out)
{
    uint32_t keys[TIK_MERGE_SHORT + LANES];
    uint32_t tokens[TIK_MERGE_SHORT];
    uint16_t next[TIK_MERGE_SHORT];
    uint16_t previous[TIK_MERGE_SHORT + 1];
    size_t vectors = (length + LANES - 1) / LANES;

    for (size_t i = 0; i < vectors * LANES; i++)
        keys[i] = NO_KEY;
    size_t last = length; /* where the part before begins; none yet */
    for (size_t i = 0; i < length;) {
        size_t bytes;
        uint32_t token = tik_vocab_first(vocab, piece, length, i, &bytes);
        tokens[i] = token;
        next[i] = (uint16_t)(i + bytes);
        previous[i + bytes] = (uint16_t)i;
        if (last < length) {
            bool single = bytes == 1 && i - last == 1;
            keys[last] = make_key(single ? vocab->byte_pairs[piece[last] << 8 | piece[i]]
                                         : tik_vocab_pair(vocab, tokens[last], token),
                                  last);
        }
        last = i;
        i += bytes;
    }
    uint32_t least;
    while ((least = tik_least_key(keys, vectors)) < NO_KEY) {
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

#if TIK_HAVE_X86
TIK_TARGET_AVX2 static size_t merge_avx2(const tik_vocab *vocab, const uint8_t *piece, size_t length, uint32_t *out)
{
    return merge(vocab, piece, length, out);
}
#endif

size_t tik_merge_short(const tik_vocab *vocab, const uint8_t *piece, size_t length, uint32_t *out)
{
#if TIK_HAVE_X86
    if (tik_cpu() & TIK_CPU_AVX2)
        return merge_avx2(vocab, piece, length, out);
#endif
    return merge(vocab, piece, length, out);
}
