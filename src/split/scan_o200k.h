/*
 * Boundaries of the o200k pattern:
 *
 *     [^\r\n\p{L}\p{N}]?[UPPER]*[LOWER]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
 *     |[^\r\n\p{L}\p{N}]?[UPPER]+[LOWER]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
 *     |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
 *
 * UPPER is Lu, Lt, Lm, Lo, M; LOWER is Ll, Lm, Lo, M. So letters without case and marks, "caseless" below,
 * are in both, and a mark may also be punctuation.
 */
#ifndef TIK_SCAN_O200K_H
#define TIK_SCAN_O200K_H

#include "split/scan_block.h"
#include "split/scan_plain.h"

/*
 * The capitals at which a new word starts right after another. Words are UPPER* LOWER+: after a lower-case
 * letter, and what is caseless after it (the "tail"), a capital starts a new word. Caseless letters before
 * any lower-case one may be UPPER; then the word takes a run of capitals after them if something of LOWER
 * follows the run, and else gives the run back.
 */
TIK_INLINE uint64_t tik_inner_capitals(const tik_block *block, const tik_block *next, uint64_t caseless,
                                       tik_carry *carry, uint64_t *trouble)
{
    uint64_t after_lower = tik_after(block->lower, carry->lower);
    uint64_t found = block->upper & after_lower;
    uint64_t after_caseless = tik_after(caseless, carry->caseless);
    if (TIK_LIKELY(!(caseless | carry->caseless))) {
        carry->tail = 0;
        return found;
    }
    uint64_t tail = tik_flood(caseless, caseless & (after_lower | carry->tail));
    found |= block->upper & tik_after(tail, carry->tail);
    carry->tail = tail >> 63;
    /* Runs of capitals after UPPER without case, and where they end. */
    uint64_t starts = block->upper & after_caseless & ~found;
    uint64_t sum = block->upper + starts, lower = block->lower | caseless;
    for (uint64_t ends = sum & ~block->upper & ~lower; ends; ends &= ends - 1)
        found |= tik_bit(tik_highest(starts & ((ends & -ends) - 1)));
    if (TIK_UNLIKELY(sum < starts)) { /* the last one reaches the end of the block */
        uint64_t beyond = ~next->upper, last = tik_bit(tik_highest(starts));
        if (!beyond)
            *trouble |= last;
        else if (!(beyond & -beyond & (next->lower | next->caseless | next->mark)))
            found |= last;
    }
    return found;
}

/*
 * Contractions belong to the word before them and end it: what `found` has in them goes, and gets their
 * end. `candidates` are apostrophes right after a word. One right after a contraction is another's only if
 * the first is none, and characters that are not ASCII may count the word's halves differently: both
 * rare, both trouble.
 */
TIK_INLINE uint64_t tik_contractions_o200k(uint64_t found, uint64_t candidates, tik_carry *carry, const uint8_t *text,
                                           size_t length, size_t at, uint64_t *trouble)
{
    for (uint64_t rest = candidates; rest; rest &= rest - 1) {
        int position = tik_lowest(rest);
        size_t start = at + (size_t)position;
        size_t size = tik_contraction(text, length, start, true);
        if (!size)
            continue;
        if (start + size < length && (text[start + size] == '\'' || text[start + size] >= 0x80)) {
            *trouble |= tik_bit(position);
            break;
        }
        uint64_t inside = tik_bit((int)size) - 1, past = inside + 1;
        found = (found & ~(inside << position)) | past << position;
        if (position + (int)size >= TIK_BLOCK) {
            carry->clear = inside >> 1 >> (TIK_BLOCK - 1 - position);
            carry->set = past >> 1 >> (TIK_BLOCK - 1 - position);
        }
    }
    return found;
}

TIK_INLINE uint64_t tik_boundaries_o200k(const tik_block *block, const tik_block *next, tik_carry *carry,
                                         const uint8_t *text, size_t length, size_t at, uint64_t *trouble)
{
    uint64_t cased = block->upper | block->lower;
    uint64_t letter = cased | block->caseless;
    uint64_t other = block->valid & ~(letter | block->number | block->space | block->mark);
    uint64_t after_blank = tik_after(block->blank, carry->blank);

    /* [\r\n/]* after punctuation. */
    uint64_t newline_or_slash = block->newline | block->slash;
    uint64_t seeds = (block->newline & tik_after(other, carry->other)) | (newline_or_slash & carry->swallowed);
    uint64_t swallowed = tik_flood(newline_or_slash, seeds);
    other &= ~swallowed;

    /*
     * A mark right after punctuation is part of it if that is two characters or more, or one after a
     * blank; else the punctuation is the one character before a word that the mark starts.
     */
    uint64_t after_other = tik_after(other, carry->other);
    uint64_t sign_run = tik_flood(other | block->mark, (other & block->start & (after_other | after_blank)) |
                                                           ((other | block->mark) & carry->sign_run));
    uint64_t sign_mark = block->mark & sign_run;
    uint64_t caseless = block->caseless | (block->mark & ~sign_run);
    uint64_t word = cased | caseless;
    uint64_t sign = other | sign_mark;
    /* A newline after such a mark belongs to the punctuation: too late to count it in above. */
    *trouble |= tik_after(sign_mark, carry->sign_run & ~carry->other) & block->newline;

    /* Punctuation; it starts a piece unless a blank before it did, or it continues. */
    uint64_t signs = sign & ~tik_after(sign, carry->sign) & ~after_blank;

    /* White space that does not belong to punctuation. */
    uint64_t space = block->space & ~swallowed;
    uint64_t loose = block->newline & space;
    uint64_t found = space & ~tik_after(space, carry->space);
    found |= tik_last_spaces(block, next) & ~block->newline;
    found |= tik_after_last_newlines(block, next, space & ~block->newline & tik_after(loose, carry->loose), false,
                                     trouble);

    /* Words; white space and a single sign before one belong to it. */
    uint64_t after_word = tik_after(word, carry->letter);
    uint64_t prefixes = tik_prefixes(block, signs, carry->prefix) | (block->space & ~block->newline);
    found |= word & ~after_word & ~tik_after(prefixes, carry->prefix);
    found |= tik_inner_capitals(block, next, caseless, carry, trouble);

    found |= signs | tik_number_groups(block, carry);
    found = (found & ~carry->clear) | carry->set;
    carry->set = carry->clear = 0;
    found = tik_contractions_o200k(found, block->apostrophe & signs & after_word, carry, text, length, at, trouble);

    carry->letter = word >> 63;
    carry->lower = block->lower >> 63;
    carry->caseless = caseless >> 63;
    carry->other = other >> 63;
    carry->sign = sign >> 63;
    carry->sign_run = sign_run >> 63;
    carry->space = space >> 63;
    carry->blank = block->blank >> 63;
    carry->swallowed = swallowed >> 63;
    carry->loose = loose >> 63;
    carry->prefix = prefixes >> 63;
    return found;
}

#endif
