/* threads: several of them for one call. */
#ifndef TIK_THREADS_H
#define TIK_THREADS_H

#include "base/base.h"

/* How many threads `asked` (TIK_ALL_THREADS: all cores) stands for, with so many things to do: 1 to 256. */
unsigned tik_threads_for(unsigned asked, size_t things);

/*
 * Calls work(context, number) on up to `threads` threads, this one among them, each with a number of its
 * own below `threads`; returns when all are done. Fewer run if they can't be started: the work must be in
 * a queue that any of them can empty.
 */
void tik_run_threads(unsigned threads, void (*work)(void *context, unsigned number), void *context);

#endif
