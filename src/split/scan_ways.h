/*
 * The tables of scanners of each way, one for each pattern. A file that its architecture cannot run
 * compiles to nothing.
 */
#ifndef TIK_SCAN_WAYS_H
#define TIK_SCAN_WAYS_H

#include "base/cpu.h"
#include "split/scan.h"

extern const tik_scanner tik_scan_portable[TIK_SCAN_PATTERNS];
#if TIK_HAVE_X86
extern const tik_scanner tik_scan_avx2[TIK_SCAN_PATTERNS];
extern const tik_scanner tik_scan_avx512[TIK_SCAN_PATTERNS];
#endif
#if TIK_HAVE_NEON
extern const tik_scanner tik_scan_neon[TIK_SCAN_PATTERNS];
#endif

#endif
