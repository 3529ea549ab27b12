/*
 * Boundaries of the cl100k pattern:
 *
 *     '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$
 *     |\s*[\r\n]|\s+(?!\S)|\s
 *
 * A word is a run of letters with one character before it that is no letter, number or newline and starts
 * a piece. Newlines right after punctuation belong to it; a run of white space ends with its last
 * newline, and gives its last character to what follows.
 */
#ifndef TIK_SCAN_CL100K_H
#define TIK_SCAN_CL100K_H

#include "split/scan_block.h"
#include "split/scan_plain.h"

TIK_INLINE uint64_t tik_boundaries_cl100k(const tik_block *block, const tik_block *next, tik_carry *carry,
                                          const uint8_t *text, size_t length, size_t at, uint64_t *trouble)
{
    uint64_t letter = block->upper | block->lower | block->caseless;
    uint64_t other = block->valid & ~(letter | block->number | block->space);

    /* Punctuation; it starts a piece unless a blank before it did. */
    uint64_t after_other = tik_after(other, carry->other);
    uint64_t signs = other & ~after_other & ~tik_after(block->blank, carry->blank);

    /* White space that is not newlines after punctuation. */
    uint64_t swallowed = tik_flood(block->newline, block->newline & (after_other | carry->swallowed));
    uint64_t space = block->space & ~swallowed;
    uint64_t loose = block->newline & space;
    uint64_t spaces = space & ~tik_after(space, carry->space);
    spaces |= tik_last_spaces(block, next) & ~block->newline;
    spaces |= tik_after_last_newlines(block, next, space & ~block->newline & tik_after(loose, carry->loose), true,
                                      trouble);

    /* Words; white space and a single sign before one belong to it. */
    uint64_t prefixes = tik_prefixes(block, signs, carry->prefix) | (block->space & ~block->newline);
    uint64_t words = letter & ~tik_after(letter, carry->letter) & ~tik_after(prefixes, carry->prefix);

    uint64_t found = signs | spaces | words | tik_number_groups(block, carry) | carry->set;
    carry->set = 0;

    for (uint64_t rest = block->apostrophe & signs; rest; rest &= rest - 1) {
        int position = tik_lowest(rest);
        size_t size = tik_contraction(text, length, at + (size_t)position, true);
        if (!size)
            continue;
        int end = position + (int)size;
        if (end < TIK_BLOCK)
            found |= tik_bit(end);
        else
            carry->set = tik_bit(end - TIK_BLOCK);
    }

    carry->letter = letter >> 63;
    carry->other = other >> 63;
    carry->space = space >> 63;
    carry->blank = block->blank >> 63;
    carry->swallowed = swallowed >> 63;
    carry->loose = loose >> 63;
    carry->prefix = prefixes >> 63;
    return found;
}

#endif
