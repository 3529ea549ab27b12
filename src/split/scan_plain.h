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

/* Ends are 31 bits wide: from here on a piece is reported alone (see tik_split_next). */
#define TIK_SCAN_FAR ((size_t)1 << 31)

/* tik_scan_next by repeated calls of `piece`. */
void tik_scan_next_by_piece(tik_scan_piece *piece, const uint8_t *text, size_t length, size_t from, bool more,
                            uint32_t *ends, size_t capacity, size_t *count, size_t *end);

#endif
