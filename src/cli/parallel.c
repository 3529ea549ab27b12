/* Several threads over a list of jobs. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "cli.h"

typedef struct jobs {
    atomic_size_t next;
    atomic_size_t workers; /* numbers given out */
    size_t count;
    void (*work)(void *context, size_t worker, size_t index);
    void *context;
} jobs;

static void *run(void *argument)
{
    jobs *all = argument;
    size_t worker = atomic_fetch_add(&all->workers, 1);
    for (size_t index; (index = atomic_fetch_add(&all->next, 1)) < all->count;)
        all->work(all->context, worker, index);
    return NULL;
}

size_t cli_workers(size_t count, unsigned threads)
{
    size_t wanted = threads ? threads : 1;
    if (threads == TIK_ALL_THREADS) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        wanted = cores > 0 ? (size_t)cores : 1;
    }
    if (wanted > CLI_MOST_WORKERS)
        wanted = CLI_MOST_WORKERS;
    if (wanted > count)
        wanted = count;
    return wanted ? wanted : 1;
}

void cli_parallel(size_t count, unsigned threads, void (*work)(void *context, size_t worker, size_t index),
                  void *context)
{
    jobs all = {.count = count, .work = work, .context = context};
    pthread_t workers[CLI_MOST_WORKERS];
    size_t started = 0;
    size_t wanted = cli_workers(count, threads);
    /* A thread that can't be started is no fault: the others do its part. */
    while (started + 1 < wanted && pthread_create(&workers[started], NULL, run, &all) == 0)
        started++;
    run(&all);
    for (size_t i = 0; i < started; i++)
        pthread_join(workers[i], NULL);
}
