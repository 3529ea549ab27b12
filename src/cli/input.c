/* Input: files and standard input, whole where that is cheap, in slices where it is not. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

enum {
    SLICE = 1 << 20,       /* largest slice given out */
    PIPE_SLICE = 1 << 16,  /* what a pipe holds */
    MAPPED_FROM = 1 << 20, /* smaller files cost less read than mapped */
    BINARY_PREFIX = 8000   /* where a zero byte makes a file binary, as git has it */
};

bool cli_takes_folders;

/* A mapped file that another process cuts short would end this one by a bare signal. */
static void on_bus_error(int number)
{
    static const char message[] = "tik: a file became shorter while it was being read\n";
    (void)number;
    ssize_t ignored = write(STDERR_FILENO, message, sizeof message - 1);
    (void)ignored;
    _exit(CLI_WRONG);
}

static bool fail(cli_source *source, const char *reason)
{
    source->failed = true;
    snprintf(source->reason, sizeof source->reason, "%s", reason);
    return false;
}

static bool fail_errno(cli_source *source)
{
    return fail(source, strerror(errno));
}

/* Reads once, as much as there is up to `room`; -1 with a reason on failure. */
static ssize_t read_some(cli_source *source, char *to, size_t room)
{
    ssize_t got;
    do
        got = read(source->descriptor, to, room);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        fail_errno(source);
    return got;
}

static bool map(cli_source *source, size_t size)
{
    struct sigaction action = {.sa_handler = on_bus_error};
    sigaction(SIGBUS, &action, NULL);
    void *address = mmap(NULL, size, PROT_READ, MAP_PRIVATE, source->descriptor, 0);
    if (address == MAP_FAILED)
        return false;
    source->map = address;
    source->mapped = size;
    source->data = address;
    source->length = size;
    source->whole = true;
    return true;
}

/* Reads a file of about `size` bytes from here to its end. A file may grow meanwhile; what is read is the text. */
static bool read_all(cli_source *source, size_t size)
{
    size_t capacity = size + 1;
    source->buffer = malloc(capacity);
    if (!source->buffer)
        return fail(source, "no memory");
    for (;;) {
        ssize_t got = read_some(source, source->buffer + source->length, capacity - source->length);
        if (got < 0)
            return false;
        source->length += (size_t)got;
        if (got == 0)
            break;
        if (source->length == capacity) {
            if (capacity > SIZE_MAX / 2)
                return fail(source, "too large for this machine's memory");
            char *grown = realloc(source->buffer, 2 * capacity);
            if (!grown)
                return fail(source, "no memory");
            source->buffer = grown;
            capacity *= 2;
        }
    }
    source->data = source->buffer;
    source->whole = true;
    return true;
}

bool cli_is_small_file(const char *name, size_t most)
{
    struct stat status;
    return strcmp(name, "-") != 0 && stat(name, &status) == 0 && S_ISREG(status.st_mode) &&
           (uintmax_t)status.st_size <= most;
}

bool cli_source_open(cli_source *source, const char *name)
{
    *source = (cli_source){.name = name, .descriptor = STDIN_FILENO};
    if (strcmp(name, "-") != 0) {
        source->descriptor = open(name, O_RDONLY | O_CLOEXEC);
        if (source->descriptor < 0)
            return fail_errno(source);
    }
    struct stat status;
    if (fstat(source->descriptor, &status) != 0)
        return fail_errno(source);
    if (S_ISDIR(status.st_mode))
        return fail(source, cli_takes_folders ? "is a folder; -r takes the files in it" : "is a folder, not a file");
    /* Files of no size are those that the kernel makes up while they are read. */
    if (!S_ISREG(status.st_mode) || status.st_size <= 0)
        return true;
    off_t position = source->descriptor == STDIN_FILENO ? lseek(source->descriptor, 0, SEEK_CUR) : 0;
    if (position != 0)
        return true;
    if ((uintmax_t)status.st_size > SIZE_MAX / 2)
        return fail(source, "too large for this machine's memory");
    if (status.st_size >= MAPPED_FROM && map(source, (size_t)status.st_size))
        return true;
    return read_all(source, (size_t)status.st_size);
}

static bool next_of_whole(cli_source *source, size_t most, const char **slice, size_t *length)
{
    *slice = source->data + source->given;
    *length = source->length - source->given < most ? source->length - source->given : most;
    source->given += *length;
    cli_progress_add(*length);
    return *length > 0;
}

/* `source` always gets a buffer of the same size. */
static bool has_buffer(cli_source *source, size_t size)
{
    if (!source->buffer)
        source->buffer = malloc(size);
    return source->buffer || fail(source, "no memory");
}

bool cli_source_next(cli_source *source, const char **slice, size_t *length)
{
    if (source->whole)
        return next_of_whole(source, SLICE, slice, length);
    if (!has_buffer(source, PIPE_SLICE))
        return false;
    ssize_t got = read_some(source, source->buffer, PIPE_SLICE);
    *slice = source->buffer;
    *length = got > 0 ? (size_t)got : 0;
    cli_progress_add(*length);
    return got > 0;
}

bool cli_source_fill(cli_source *source, size_t most, const char **slice, size_t *length)
{
    if (source->whole)
        return next_of_whole(source, most, slice, length);
    if (!has_buffer(source, most))
        return false;
    *slice = source->buffer;
    for (*length = 0; *length < most;) {
        ssize_t got = read_some(source, source->buffer + *length, most - *length);
        if (got < 0)
            return false;
        if (got == 0)
            break;
        *length += (size_t)got;
        cli_progress_add((size_t)got);
    }
    return *length > 0;
}

void cli_source_close(cli_source *source)
{
    free(source->buffer);
    tik_bytes_free(&source->mended);
    if (source->map)
        munmap(source->map, source->mapped);
    if (source->descriptor > STDIN_FILENO)
        close(source->descriptor);
    *source = (cli_source){.descriptor = -1};
}

bool cli_read_whole(cli_call *call, cli_source *source, const char *name)
{
    if (cli_source_open(source, name) && (source->whole || read_all(source, PIPE_SLICE)))
        return true;
    cli_blame(call, name, "%s", source->reason);
    cli_source_close(source);
    return false;
}

bool cli_read_text(cli_call *call, cli_source *source, const char *name)
{
    if (!cli_read_whole(call, source, name))
        return false;
    if (!call->options.replace_invalid)
        return true;
    tik_error error;
    if (tik_replace_invalid(source->data, source->length, &source->mended, &error) == TIK_OK) {
        source->data = source->mended.data ? source->mended.data : "";
        source->length = source->mended.length;
        return true;
    }
    cli_blame(call, name, "%s", error.message);
    cli_source_close(source);
    return false;
}

bool cli_looks_binary(const char *data, size_t length)
{
    return length > 0 && memchr(data, '\0', length < BINARY_PREFIX ? length : BINARY_PREFIX) != NULL;
}
