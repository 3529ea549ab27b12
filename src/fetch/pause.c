/* Waiting while the caller stays able to cancel. */
#include <time.h>

#include "fetch/download.h"

bool pause_for(unsigned milliseconds, tik_progress *progress, void *context, uint64_t done, uint64_t total)
{
    enum { STEP = 50 };
    for (;;) {
        if (progress && !progress(context, done, total))
            return false;
        if (milliseconds == 0)
            return true;
        unsigned step = milliseconds < STEP ? milliseconds : STEP;
        nanosleep(&(struct timespec){0, (long)step * 1000000}, NULL);
        milliseconds -= step;
    }
}
