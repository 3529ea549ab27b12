/*
 * For instruction sets without a fast way to look up many code points at once: the characters beyond
 * ASCII of a block one by one.
 */
#ifndef TIK_SCAN_CLASSES_H
#define TIK_SCAN_CLASSES_H

#include <string.h>

#include "split/scan_block.h"
#include "unicode/unicode.h"

/*
 * For first bytes E0, E1, … EF: the range of second bytes in which all characters are Lo, so that most of
 * Han and Hangul needs no look-up: U+4E00 to U+9FFF and U+AC00 to U+D77F.
 */
#define TIK_LO_FROM                                                                                         \
    {                                                                                                       \
        0xFF, 0xFF, 0xFF, 0xFF, 0xB8, 0x80, 0x80, 0x80, 0x80, 0x80, 0xB0, 0x80, 0x80, 0x80, 0xFF, 0xFF      \
    }
#define TIK_LO_TO                                                                                           \
    {                                                                                                       \
        0, 0, 0, 0, 0xBF, 0xBF, 0xBF, 0xBF, 0xBF, 0xBF, 0xBF, 0xBF, 0xBF, 0x9D, 0, 0                        \
    }

/* All bytes of the characters of three bytes that start at `leads`. */
TIK_INLINE uint64_t tik_all_three(uint64_t leads)
{
    return leads | leads << 1 | leads << 2;
}

#define TIK_FOUR_TIMES(bits) (bits) * 0x01010101u,

/*
 * Writes the class bits of each byte beyond ASCII of text[at, at + 64) to `bits`; `leads` are the first
 * bytes of characters among them. Other bytes of `bits` get anything.
 */
TIK_INLINE void tik_fill_classes(const uint8_t *text, uint64_t leads, uint8_t *spill, uint8_t bits[TIK_BLOCK + 4])
{
    static const uint32_t class_bits[] = { TIK_CLASS_BITS(TIK_FOUR_TIMES) };
    uint32_t four = *spill * 0x01010101u;
    memcpy(bits, &four, 4);
    for (; leads; leads &= leads - 1) {
        int position = tik_lowest(leads);
        const uint8_t *byte = text + position;
        uint32_t lead = byte[0], point = (lead & 0x1F) << 6 | (byte[1] & 0x3Fu);
        if (lead >= 0xE0) {
            point = (point & 0x3FF) << 6 | (byte[2] & 0x3Fu);
            if (lead >= 0xF0)
                point = ((lead & 7) << 18 | (byte[1] & 0x3Fu) << 12 | (byte[2] & 0x3Fu) << 6) | (byte[3] & 0x3Fu);
        }
        memcpy(bits + position, &class_bits[tik_unicode_class(point)], 4);
    }
    *spill = bits[TIK_BLOCK - 1];
}

/* Writes offset plus the position of each bit of `mask` to `ends`; returns how many there are. */
TIK_INLINE size_t tik_write_ends(uint32_t *ends, uint64_t mask, uint32_t offset)
{
    int count = __builtin_popcountll(mask), i = 0;
    for (; i + 4 <= count; i += 4) {
        for (int k = 0; k < 4; k++, mask &= mask - 1)
            ends[i + k] = offset + (uint32_t)tik_lowest(mask);
    }
    for (; mask; mask &= mask - 1)
        ends[i++] = offset + (uint32_t)tik_lowest(mask);
    return (size_t)count;
}

#endif
