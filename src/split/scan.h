/*
 * scan: the scanners, hand-made splitters for the patterns of the public encodings. They give exactly
 * the pieces that the pattern gives, many times faster than a regex engine.
 *
 * How they are put together (each part in a file of its own):
 *
 *   scan_plain.c    each pattern read off code point by code point: short, the truth, and what the fast
 *                   way falls back to where 64 bytes are not enough to tell
 *   scan_block.h    64 bytes of text as one bit mask for each class of characters
 *   scan_portable.c, scan_avx2.c, scan_avx512.c, scan_neon.c
 *                   how an instruction set makes those masks and writes out set bits; knows no pattern
 *   scan_r50k.h, scan_cl100k.h, scan_o200k.h
 *                   how a pattern's boundaries follow from the masks; knows no instruction set
 *   scan_driver.h   walks the blocks: the loop that joins one of the former with one of the latter
 *   scan.c          picks the fastest that runs here
 */
#ifndef TIK_SCAN_H
#define TIK_SCAN_H

#include "base/base.h"

/* The patterns, named after the first encoding that used each. */
typedef enum tik_scan_pattern {
    TIK_SCAN_R50K, /* gpt2, r50k_base, p50k_base, p50k_edit */
    TIK_SCAN_CL100K,
    TIK_SCAN_O200K, /* o200k_base, o200k_harmony */
    TIK_SCAN_PATTERNS
} tik_scan_pattern;

/* How it is done. */
typedef enum tik_scan_way {
    TIK_SCAN_PLAIN,
    TIK_SCAN_PORTABLE,
    TIK_SCAN_AVX2,
    TIK_SCAN_AVX512,
    TIK_SCAN_NEON,
    TIK_SCAN_WAYS
} tik_scan_way;

/*
 * The next pieces of text[from, length), by the contract of tik_split_next (split.h): valid UTF-8, `from`
 * is 0 or an earlier end, at least 64 entries of capacity. It needs no memory and cannot fail.
 */
typedef void tik_scan_next(const uint8_t *text, size_t length, size_t from, bool more, uint32_t *ends,
                           size_t capacity, size_t *count, size_t *end);

typedef struct tik_scanner {
    tik_scan_next *next;
    const char *name; /* pattern and way, as "o200k/avx512" */
} tik_scanner;

/* The fastest scanner for `pattern` on this machine (see cpu.h on how to force another). */
const tik_scanner *tik_scanner_best(tik_scan_pattern pattern);

/* A given one; NULL if this machine or this build has it not. */
const tik_scanner *tik_scanner_get(tik_scan_pattern pattern, tik_scan_way way);

/* A place to cut a text, by the contract of tik_split_cut. It holds for all the patterns. */
size_t tik_scan_cut(const uint8_t *text, size_t length, size_t low, size_t high);

#endif
