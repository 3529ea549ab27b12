/*
 * Progress: on a terminal one line on standard error, written over and over while long work goes on, and
 * erased before anything else is written and at the end, however that comes.
 */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

#define FIRST_AFTER 1.0 /* seconds; what is done sooner needs no line */
#define EACH 0.1

static const char erase[] = "\r\033[K";

static struct {
    atomic_bool on;
    atomic_bool drawn;
    atomic_size_t done; /* bytes */
    uint64_t total;     /* bytes; 0 if not known */
    const char *what;
    struct timespec begun;
    struct timespec last;
    pthread_mutex_t lock; /* of drawing and erasing */
} line = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void put(const char *text, size_t length)
{
    ssize_t ignored = write(STDERR_FILENO, text, length);
    (void)ignored;
}

double cli_seconds_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

/* Killed: the terminal is left clean, and the signal does what it does. */
static void on_signal(int number)
{
    atomic_store(&line.on, false);
    if (atomic_load(&line.drawn))
        put(erase, sizeof erase - 1);
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action;
        /* A subcommand's own handler, or that the signal is ignored, stays. */
        if (sigaction(numbers[i], NULL, &action) != 0 || action.sa_handler != SIG_DFL)
            continue;
        action = (struct sigaction){.sa_handler = on_signal};
        sigaction(numbers[i], &action, NULL);
    }
}

uint64_t cli_sizes(const cli_names *names)
{
    uint64_t total = 0;
    if (!isatty(STDERR_FILENO)) /* nobody sees it, and asking for many files takes time */
        return 0;
    for (size_t i = 0; i < names->length; i++) {
        struct stat status;
        bool standard = names->data[i][0] == '-' && names->data[i][1] == '\0';
        int failed = standard ? fstat(STDIN_FILENO, &status) : stat(names->data[i], &status);
        if (failed || S_ISDIR(status.st_mode))
            continue;
        if (!S_ISREG(status.st_mode))
            return 0;
        total += (uint64_t)status.st_size;
    }
    return total;
}

void cli_progress_begin(const cli_call *call, const char *what, uint64_t total, bool writes)
{
    if (call->quiet || !isatty(STDERR_FILENO) || (writes && isatty(STDOUT_FILENO)))
        return;
    line.what = what;
    line.total = total;
    atomic_store(&line.done, 0);
    clock_gettime(CLOCK_MONOTONIC, &line.begun);
    line.last = line.begun;
    catch_signals();
    atomic_store(&line.on, true);
}

bool cli_progress_is_on(void)
{
    return atomic_load_explicit(&line.on, memory_order_relaxed);
}

static void draw(const char *format, va_list arguments) CLI_PRINTF(1, 0);

/* Called with the lock held. */
static void draw(const char *format, va_list arguments)
{
    enum { COLUMNS = 79 };
    char text[sizeof erase + COLUMNS] = "\r\033[K";
    size_t start = sizeof erase - 1;
    int written = vsnprintf(text + start, COLUMNS + 1, format, arguments);
    if (written < 0)
        return;
    /* Before the write: a signal in between erases it. */
    atomic_store(&line.drawn, true);
    put(text, start + (written > COLUMNS ? COLUMNS : (size_t)written));
}

void cli_progress_line(const char *format, ...)
{
    if (!cli_progress_is_on() || pthread_mutex_trylock(&line.lock) != 0)
        return;
    if (cli_seconds_since(&line.begun) >= FIRST_AFTER && cli_seconds_since(&line.last) >= EACH) {
        va_list arguments;
        va_start(arguments, format);
        draw(format, arguments);
        va_end(arguments);
        clock_gettime(CLOCK_MONOTONIC, &line.last);
    }
    pthread_mutex_unlock(&line.lock);
}

void cli_progress_add(size_t bytes)
{
    if (!cli_progress_is_on())
        return;
    double done = (double)(atomic_fetch_add(&line.done, bytes) + bytes);
    double total = (double)line.total;
    double speed = done / (cli_seconds_since(&line.begun) + 1e-9);
    if (total >= done)
        cli_progress_line("%s: %.1f of %.1f MB, %.1f MB/s, %.0f s left", line.what, done / 1e6, total / 1e6,
                          speed / 1e6, (total - done) / speed);
    else
        cli_progress_line("%s: %.1f MB, %.1f MB/s", line.what, done / 1e6, speed / 1e6);
}

void cli_progress_erase(void)
{
    if (!atomic_load_explicit(&line.drawn, memory_order_relaxed))
        return;
    pthread_mutex_lock(&line.lock);
    if (atomic_exchange(&line.drawn, false))
        put(erase, sizeof erase - 1);
    pthread_mutex_unlock(&line.lock);
}

void cli_progress_end(void)
{
    atomic_store(&line.on, false);
    cli_progress_erase();
}
