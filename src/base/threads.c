#include "base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define THREADS_MOST 256

unsigned tik_threads_for(unsigned asked, size_t things)
{
    size_t threads = asked;
    if (asked == TIK_ALL_THREADS) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        threads = cores > 0 ? (size_t)cores : 1;
    }
    if (threads > things)
        threads = things;
    if (threads > THREADS_MOST)
        threads = THREADS_MOST;
    return threads ? (unsigned)threads : 1;
}

typedef struct team {
    void (*work)(void *context, unsigned number);
    void *context;
    atomic_uint next;
} team;

static void *join_in(void *argument)
{
    team *all = argument;
    all->work(all->context, atomic_fetch_add_explicit(&all->next, 1, memory_order_relaxed));
    return NULL;
}

void tik_run_threads(unsigned threads, void (*work)(void *context, unsigned number), void *context)
{
    team all = {.work = work, .context = context};
    pthread_t others[THREADS_MOST];
    unsigned started = 0;
    while (started + 1 < threads && pthread_create(&others[started], NULL, join_in, &all) == 0)
        started++;
    join_in(&all);
    for (unsigned i = 0; i < started; i++)
        pthread_join(others[i], NULL);
}
