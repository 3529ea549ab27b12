/*
 * 64 bytes of text as bit masks, and the bit algebra that the patterns share.
 *
 * In a mask bit i stands for byte i of the block. A character's class is set on all of its bytes, so
 * that a run of characters of one class is a run of bits whatever their lengths; the bits of a pattern's
 * boundaries are on first bytes only, which `start` marks.
 */
#ifndef TIK_SCAN_BLOCK_H
#define TIK_SCAN_BLOCK_H

#include "base/base.h"

#define TIK_BLOCK 64

typedef struct tik_block {
    uint64_t valid; /* bytes of the text; those past its end have no class */
    uint64_t start; /* first bytes of characters */
    uint64_t wide;  /* bytes of characters beyond ASCII */
    uint64_t upper; /* Lu, Lt */
    uint64_t lower; /* Ll */
    uint64_t caseless; /* Lm, Lo */
    uint64_t mark;
    uint64_t number;
    uint64_t space; /* White_Space, the next two among them */
    uint64_t newline; /* \r, \n */
    uint64_t blank;   /* U+0020 */
    uint64_t slash;
    uint64_t apostrophe;
} tik_block;

/*
 * The same for one byte: a bit for each class. The last two are shared: \r, \n and / have SIGN_A, U+0020
 * and ' have SIGN_B, and SPACE tells them apart.
 */
enum {
    TIK_BIT_UPPER = 1,
    TIK_BIT_LOWER = 2,
    TIK_BIT_CASELESS = 4,
    TIK_BIT_MARK = 8,
    TIK_BIT_NUMBER = 16,
    TIK_BIT_SPACE = 32,
    TIK_BIT_SIGN_A = 64,
    TIK_BIT_SIGN_B = 128
};

/* The bits of characters below 0x80, from X(bits) for each. */
#define TIK_ASCII_FOUR(X, bits) X(bits) X(bits) X(bits) X(bits)
#define TIK_ASCII_CONTROLS(X)                                                                         \
    TIK_ASCII_FOUR(X, 0) TIK_ASCII_FOUR(X, 0) X(0) X(TIK_BIT_SPACE) X(TIK_BIT_SPACE | TIK_BIT_SIGN_A) \
    X(TIK_BIT_SPACE) X(TIK_BIT_SPACE) X(TIK_BIT_SPACE | TIK_BIT_SIGN_A) X(0) X(0)                     \
    TIK_ASCII_FOUR(X, 0) TIK_ASCII_FOUR(X, 0) TIK_ASCII_FOUR(X, 0) TIK_ASCII_FOUR(X, 0)
#define TIK_ASCII_SIGNS_AND_DIGITS(X)                                                           \
    X(TIK_BIT_SPACE | TIK_BIT_SIGN_B) X(0) X(0) X(0) X(0) X(0) X(0) X(TIK_BIT_SIGN_B)           \
    TIK_ASCII_FOUR(X, 0) X(0) X(0) X(0) X(TIK_BIT_SIGN_A)                                       \
    TIK_ASCII_FOUR(X, TIK_BIT_NUMBER) TIK_ASCII_FOUR(X, TIK_BIT_NUMBER) X(TIK_BIT_NUMBER)       \
    X(TIK_BIT_NUMBER) X(0) X(0) TIK_ASCII_FOUR(X, 0)
#define TIK_ASCII_LETTERS(X, bits)                                                              \
    X(0) X(bits) X(bits) X(bits) TIK_ASCII_FOUR(X, bits) TIK_ASCII_FOUR(X, bits)                \
    TIK_ASCII_FOUR(X, bits) TIK_ASCII_FOUR(X, bits) TIK_ASCII_FOUR(X, bits)                     \
    X(bits) X(bits) X(bits) X(0) X(0) X(0) X(0) X(0)
#define TIK_ASCII_BITS(X)                                                                       \
    TIK_ASCII_CONTROLS(X) TIK_ASCII_SIGNS_AND_DIGITS(X) TIK_ASCII_LETTERS(X, TIK_BIT_UPPER)     \
    TIK_ASCII_LETTERS(X, TIK_BIT_LOWER)

/* The bits of the classes of unicode.h, TIK_CLASS_OTHER first. */
#define TIK_CLASS_BITS(X)                                                                       \
    X(0) X(TIK_BIT_SPACE) X(TIK_BIT_MARK) X(TIK_BIT_NUMBER) X(TIK_BIT_UPPER) X(TIK_BIT_UPPER)   \
    X(TIK_BIT_LOWER) X(TIK_BIT_CASELESS) X(TIK_BIT_CASELESS)

/*
 * What a block needs to know of the text before it. 1 or 0 for the byte before the block, unless said
 * otherwise; all 0 at a boundary. Each pattern uses what it needs.
 */
typedef struct tik_carry {
    uint64_t letter, lower, number, other, space, blank; /* as the pattern's file names them */
    uint64_t caseless;  /* a letter without case, or a mark, in a word */
    uint64_t tail;      /* such a one after a lower-case letter */
    uint64_t sign;      /* punctuation, marks in it among it */
    uint64_t sign_run;  /* punctuation after which a mark is punctuation */
    uint64_t prefix;    /* what may belong to a word right after it */
    uint64_t swallowed; /* a newline or slash that belongs to punctuation before it */
    uint64_t loose;     /* a newline that does not */
    uint64_t set;       /* a mask for the block: boundaries known already */
    uint64_t clear;     /* a mask: what looks like a boundary and is none */
    uint64_t wide;      /* a byte of a character beyond ASCII */
    unsigned digits;    /* after a number: 1 to 3, how many are in its group by now */
} tik_carry;

/* Bytes that come right after one of `mask`; `carry` (0 or 1) tells of the byte before the block. */
TIK_INLINE uint64_t tik_after(uint64_t mask, uint64_t carry)
{
    return mask + mask + carry; /* one instruction, which a shift and an "or" would not be */
}

/* Bytes that come `steps` before one of `mask`. */
TIK_INLINE uint64_t tik_before(uint64_t mask, uint64_t next, int steps)
{
    return mask >> steps | next << (TIK_BLOCK - steps);
}

/* From each of `seeds`, which are in `set`, on to the end of its run in `set`. */
TIK_INLINE uint64_t tik_flood(uint64_t set, uint64_t seeds)
{
    return set & (~(set + seeds) | seeds);
}

/* 0 for an empty mask is not allowed in the next three. */
TIK_INLINE int tik_lowest(uint64_t mask)
{
    return __builtin_ctzll(mask);
}

TIK_INLINE int tik_highest(uint64_t mask)
{
    return TIK_BLOCK - 1 - __builtin_clzll(mask);
}

TIK_INLINE uint64_t tik_bit(int position)
{
    return (uint64_t)1 << position;
}

/*
 * The last character of each run of white space that something follows: with the rule \s+(?!\S) it
 * starts a piece.
 */
TIK_INLINE uint64_t tik_last_spaces(const tik_block *block, const tik_block *next)
{
    uint64_t ink = block->valid & ~block->space, next_ink = next->valid & ~next->space;
    uint64_t last = block->space & tik_before(ink, next_ink, 1);
    uint64_t more = block->valid & ~block->start, next_more = next->valid & ~next->start;
    uint64_t second = block->space & tik_before(more, next_more, 1);
    if (TIK_UNLIKELY(second)) { /* white space of two or three bytes */
        last |= second & tik_before(ink, next_ink, 2);
        last |= second & tik_before(more, next_more, 2) & tik_before(ink, next_ink, 3);
    }
    return last & block->start;
}

/*
 * Where numbers are cut into groups of three characters. Groups are counted from the start of the run.
 */
TIK_INLINE uint64_t tik_number_groups(const tik_block *block, tik_carry *carry)
{
    uint64_t number = block->number;
    uint64_t groups = number & ~tik_after(number, carry->number);
    unsigned digits = carry->digits;
    if (TIK_LIKELY(!(number & ~block->start))) {
        /* One byte each: from every group on to the one three bytes later, if the run goes on till there. */
        uint64_t third = number & number << 1 & number << 2 & number << 3;
        uint64_t seeds = groups;
        if (carry->number & number) {
            uint64_t through = tik_bit((int)(4 - digits)) - 1;
            if ((number & through) == through)
                seeds |= groups |= tik_bit((int)(3 - digits));
        }
        for (seeds = seeds << 3 & third; seeds; seeds = seeds << 3 & third)
            groups |= seeds;
        if (number >> 63)
            digits = (unsigned)(TIK_BLOCK - tik_highest(groups));
    } else {
        uint64_t first = groups;
        for (uint64_t rest = number & block->start; rest; rest &= rest - 1) {
            uint64_t bit = rest & -rest;
            digits = first & bit || digits == 3 ? 1 : digits + 1;
            if (digits == 1)
                groups |= bit;
        }
    }
    carry->number = number >> 63;
    carry->digits = digits;
    return groups;
}

/*
 * Of the punctuation that starts a piece, `fresh` (first bytes), all bytes of the character: what comes
 * right after these has that one character before it.
 */
TIK_INLINE uint64_t tik_prefixes(const tik_block *block, uint64_t fresh, uint64_t carry)
{
    uint64_t more = block->valid & ~block->start;
    return fresh | tik_flood(more, tik_after(fresh, carry) & more);
}

/*
 * Blanks after a newline, where \s*[\r\n]+ may end: `first` has the first blank after each such newline.
 * Removed from it are those whose run of blanks ends with another newline, so that the piece goes on
 * (or, if `at_end`, with the text: there \s++$ takes all). A run that reaches beyond the next block is
 * reported in `*trouble`.
 */
TIK_INLINE uint64_t tik_after_last_newlines(const tik_block *block, const tik_block *next, uint64_t first, bool at_end,
                                            uint64_t *trouble)
{
    uint64_t blanks = block->space & ~block->newline, kept = first, sum = blanks + first;
    uint64_t goes_on = block->newline | (at_end ? ~block->valid : 0);
    for (uint64_t ends = sum & ~blanks & goes_on; TIK_UNLIKELY(ends); ends &= ends - 1)
        kept &= ~tik_bit(tik_highest(first & ((ends & -ends) - 1)));

    /* If the last run reaches the end of the block: where it ends in the next. */
    uint64_t beyond = ~(next->space & ~next->newline);
    uint64_t next_goes_on = next->newline | (at_end ? ~next->valid : 0);
    if (TIK_UNLIKELY((sum < blanks) & (!beyond | !!(beyond & -beyond & next_goes_on)))) {
        uint64_t last = tik_bit(tik_highest(first));
        kept &= ~last;
        *trouble |= beyond ? 0 : last;
    }
    return kept;
}

#endif
