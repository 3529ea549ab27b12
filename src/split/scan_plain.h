/*
 * The plain scanners, one piece at a time. See scan.h for their place among the others.
 */
#ifndef TIK_SCAN_PLAIN_H
#define TIK_SCAN_PLAIN_H

#include "split/scan.h"

/*
 * The end of the piece that starts at `at` < `length`, a boundary. With `more`, text may follow after
 * `length`: if the end could then be another, `at` is returned.
 */
typedef size_t tik_scan_piece(const uint8_t *text, size_t length, size_t at, bool more);

tik_scan_piece tik_scan_piece_r50k;
tik_scan_piece tik_scan_piece_cl100k;
tik_scan_piece tik_scan_piece_o200k;

/*
 * '(?:[sdmt]|ll|ve|re) for the apostrophe at `at`, in either case if `fold`: its length in bytes, 0 if what
 * follows makes none. The long s, U+017F, is an s in another case; no other character outside ASCII
 * folds to one of these letters.
 */
static inline size_t tik_contraction(const uint8_t *text, size_t length, size_t at, bool fold)
{
    if (length - at < 2)
        return 0;
    uint8_t bit = fold ? 0x20 : 0, first = text[at + 1] | bit, second = length - at > 2 ? text[at + 2] : 0;
    switch (first) {
    case 's':
    case 'd':
    case 'm':
    case 't':
        return 2;
    case 'l':
        return (second | bit) == 'l' ? 3 : 0;
    case 'v':
    case 'r':
        return (second | bit) == 'e' ? 3 : 0;
    default:
        return fold && text[at + 1] == 0xC5 && second == 0xBF ? 3 : 0;
    }
}

/* Ends are 31 bits wide: from here on a piece is reported alone (see tik_split_next). */
#define TIK_SCAN_FAR ((size_t)1 << 31)

/* tik_scan_next by repeated calls of `piece`. */
void tik_scan_next_by_piece(tik_scan_piece *piece, const uint8_t *text, size_t length, size_t from, bool more,
                            uint32_t *ends, size_t capacity, size_t *count, size_t *end);

#endif
