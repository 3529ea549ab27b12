/*
 * What the scanners are tested with: every way that runs here, every pattern, against the naive splitter.
 * Needs no test framework, so that the same cases run where there is none (tools/check-machines).
 */
#ifndef SCAN_CASES_H
#define SCAN_CASES_H

#include <stdbool.h>

#include "naive_split.h"
#include "split/scan.h"

/* One more engine to compare with on the texts that are short enough; its ends as naive_split gives them. */
typedef size_t scan_other_engine(naive_pattern pattern, const uint8_t *text, size_t length, size_t *ends);
extern scan_other_engine *scan_other;

/* Each prints the first difference and returns false if there is one. */
bool scan_all_short_texts(size_t longest); /* to 6 characters, of all classes, at many alignments */
bool scan_random_texts(size_t rounds);
bool scan_all_code_points(void);   /* between letters, numbers, spaces, newlines, signs, apostrophes */
bool scan_resumed(size_t rounds);  /* with every small capacity */
bool scan_unfinished(size_t rounds); /* `more`, cut everywhere */
bool scan_cuts(size_t rounds);     /* tik_scan_cut: the halves have the pieces of the whole */
bool scan_long_runs(void);         /* a megabyte of each character, and of pairs that leave much open */

/* How many texts were compared so far, each counted once for every way. */
extern size_t scan_compared;

#endif
