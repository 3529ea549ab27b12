/*
 * Boundaries of the r50k pattern:
 *
 *     '(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s
 *
 * A piece is a run of letters, of numbers, or of anything else that is no space, with one U+0020 before it.
 * A run of white space gives its last character to what follows: as part of it (U+0020) or by itself.
 */
#ifndef TIK_SCAN_R50K_H
#define TIK_SCAN_R50K_H

#include "split/scan_block.h"
#include "split/scan_plain.h"

TIK_INLINE uint64_t tik_boundaries_r50k(const tik_block *block, const tik_block *next, tik_carry *carry,
                                        const uint8_t *text, size_t length, size_t at)
{
    uint64_t letter = block->upper | block->lower | block->caseless;
    uint64_t other = block->valid & ~(letter | block->number | block->space);
    uint64_t after_blank = tik_after(block->blank, carry->blank);

    uint64_t words = letter & ~tik_after(letter, carry->letter);
    uint64_t numbers = block->number & ~tik_after(block->number, carry->number);
    uint64_t signs = other & ~tik_after(other, carry->other);
    uint64_t spaces = block->space & ~tik_after(block->space, carry->space);
    uint64_t found = ((words | numbers | signs) & ~after_blank) | spaces | tik_last_spaces(block, next);
    found = (found & ~carry->clear) | carry->set;
    carry->set = carry->clear = 0;

    for (uint64_t rest = block->apostrophe & signs & ~after_blank; rest; rest &= rest - 1) {
        int position = tik_lowest(rest);
        size_t size = tik_contraction(text, length, at + (size_t)position, false);
        if (!size)
            continue;
        uint64_t inside = tik_bit((int)size) - 2, past = tik_bit((int)size);
        found = (found & ~(inside << position)) | past << position;
        if (position + (int)size >= TIK_BLOCK) {
            carry->clear = inside >> 1 >> (TIK_BLOCK - 1 - position);
            carry->set = past >> 1 >> (TIK_BLOCK - 1 - position);
        }
    }

    carry->letter = letter >> 63;
    carry->number = block->number >> 63;
    carry->other = other >> 63;
    carry->space = block->space >> 63;
    carry->blank = block->blank >> 63;
    return found;
}

#endif
