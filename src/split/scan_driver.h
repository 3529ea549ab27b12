/*
 * The loop of the scanners: block after block, masks by an instruction set, boundaries by a pattern.
 *
 * The file of an instruction set includes this after it has defined
 *
 *   SCAN_TARGET  the attribute that allows its instructions (may be empty)
 *   SCAN_LOAD    void (const uint8_t *text, size_t length, size_t at, tik_block *block, SCAN_MEMORY *memory):
 *                the masks of the 64 bytes from `at` < length on
 *   SCAN_MEMORY  the type of what SCAN_LOAD keeps from one block to the next
 *   SCAN_BEGIN   void (SCAN_MEMORY *memory): its first value; the next block starts with a whole character
 *   SCAN_WRITE   size_t (uint32_t *ends, uint64_t mask, uint32_t offset): for each bit of mask, ascending,
 *                offset plus its position is written to ends (room for 64), and their number returned
 *   SCAN_NAME    SCAN_NAME(pattern): the name of the function for a pattern
 *   SCAN_TABLE   the name of the table of scanners, declared in scan_ways.h
 *   SCAN_WAY     the way's name in scanners' names
 */
#include "split/scan_cl100k.h"
#include "split/scan_o200k.h"
#include "split/scan_plain.h"
#include "split/scan_r50k.h"
#include "split/scan_ways.h"

SCAN_TARGET TIK_INLINE uint64_t find(tik_scan_pattern pattern, const tik_block *block, const tik_block *next,
                                     tik_carry *carry, const uint8_t *text, size_t length, size_t at, uint64_t *trouble)
{
    switch (pattern) {
    case TIK_SCAN_R50K:
        return tik_boundaries_r50k(block, next, carry, text, length, at);
    case TIK_SCAN_CL100K:
        return tik_boundaries_cl100k(block, next, carry, text, length, at, trouble);
    default:
        return tik_boundaries_o200k(block, next, carry, text, length, at, trouble);
    }
}

/*
 * A full block of ASCII with ASCII on both sides is so frequent that it has its own copy of the algebra,
 * which the compiler simplifies by what such a block has not: marks, letters without case, second bytes.
 */
SCAN_TARGET TIK_INLINE uint64_t find_boundaries(tik_scan_pattern pattern, const tik_block *block, const tik_block *next,
                                                tik_carry *carry, const uint8_t *text, size_t length, size_t at,
                                                uint64_t *trouble)
{
    if (TIK_LIKELY(!(block->wide | carry->wide | (next->wide & 1) | ~block->valid))) {
        tik_block ascii = *block, ascii_next = *next;
        ascii.valid = ascii.start = ~(uint64_t)0;
        ascii.wide = ascii.caseless = ascii.mark = 0;
        ascii_next.start = ascii_next.valid; /* only asked for what goes on after the block's last byte */
        carry->caseless = carry->tail = 0;
        uint64_t found = find(pattern, &ascii, &ascii_next, carry, text, length, at, trouble);
        carry->sign_run = 0; /* only asked for by a mark right after the block */
        return found;
    }
    uint64_t found = find(pattern, block, next, carry, text, length, at, trouble);
    carry->wide = block->wide >> 63;
    return found;
}

/*
 * Every end of a piece is a fresh start: nothing before it matters. So the walk may begin at any, and
 * where the algebra finds trouble, it stops, single pieces are scanned plainly until they are past the
 * place, and it begins anew there.
 */
SCAN_TARGET TIK_INLINE void walk(tik_scan_pattern pattern, tik_scan_piece *piece, const uint8_t *text, size_t length,
                                 size_t from, bool more, uint32_t *ends, size_t capacity, size_t *count, size_t *end)
{
    if (from >= length) {
        *count = 0;
        *end = from;
        return;
    }
    /* Blocks are taken while they and the next are full, or the text ends with them. */
    size_t ahead = more ? 2 * TIK_BLOCK : 1;
    size_t far = length - from < TIK_SCAN_FAR - 2 * TIK_BLOCK ? length : from + TIK_SCAN_FAR - 2 * TIK_BLOCK;
    size_t written = 0, last = from, at;
    uint64_t trouble;
    SCAN_MEMORY memory;
    SCAN_BEGIN(&memory);
    do {
        at = last;
        trouble = 0;
        uint64_t inner = ~(uint64_t)1; /* the first byte starts the piece whose end is sought */
        tik_carry carry = { 0 };
        tik_block block, next;
        SCAN_LOAD(text, length, at, &block, &memory);
        while (at < far && length - at >= ahead && capacity - written >= TIK_BLOCK) {
            if (TIK_LIKELY(length - at > TIK_BLOCK))
                SCAN_LOAD(text, length, at + TIK_BLOCK, &next, &memory);
            else
                next = (tik_block){ 0 };
            uint64_t found = find_boundaries(pattern, &block, &next, &carry, text, length, at, &trouble);
            found &= block.valid & inner;
            if (TIK_UNLIKELY(trouble)) {
                found &= (trouble & -trouble) - 1;
                written += SCAN_WRITE(ends + written, found, (uint32_t)(at - from));
                break;
            }
            written += SCAN_WRITE(ends + written, found, (uint32_t)(at - from));
            inner = ~(uint64_t)0;
            block = next;
            at += TIK_BLOCK;
        }
        if (written)
            last = from + ends[written - 1];
        if (TIK_UNLIKELY(trouble)) {
            size_t place = at + (size_t)tik_lowest(trouble);
            while (last <= place && written < capacity) {
                size_t next_end = piece(text, length, last, more);
                if (next_end == last || next_end - from >= TIK_SCAN_FAR)
                    break;
                last = next_end;
                ends[written++] = (uint32_t)(last - from);
            }
            trouble = last > place;
        }
    } while (trouble && last < length);

    if (!written && (more || at < length)) { /* a long piece, or the end of a text that goes on */
        tik_scan_next_by_piece(piece, text, length, from, more, ends, capacity, count, end);
        return;
    }
    if (!more && at >= length && last < length && written < capacity) {
        last = length;
        ends[written++] = (uint32_t)(last - from);
    }
    while (more && length - at < ahead && last < length && written < capacity) {
        size_t next_end = piece(text, length, last, true);
        if (next_end == last || next_end - from >= TIK_SCAN_FAR)
            break;
        last = next_end;
        ends[written++] = (uint32_t)(last - from);
    }
    *count = written;
    *end = last;
}

#define SCAN_PATTERN(pattern, id)                                                                             \
    SCAN_TARGET static void SCAN_NAME(pattern)(const uint8_t *text, size_t length, size_t from, bool more,    \
                                               uint32_t *ends, size_t capacity, size_t *count, size_t *end)   \
    {                                                                                                         \
        walk(id, tik_scan_piece_##pattern, text, length, from, more, ends, capacity, count, end);             \
    }

SCAN_PATTERN(r50k, TIK_SCAN_R50K)
SCAN_PATTERN(cl100k, TIK_SCAN_CL100K)
SCAN_PATTERN(o200k, TIK_SCAN_O200K)

const tik_scanner SCAN_TABLE[TIK_SCAN_PATTERNS] = {
    { SCAN_NAME(r50k), "r50k/" SCAN_WAY },
    { SCAN_NAME(cl100k), "cl100k/" SCAN_WAY },
    { SCAN_NAME(o200k), "o200k/" SCAN_WAY },
};
