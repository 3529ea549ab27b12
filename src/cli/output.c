/*
 * Output: one buffer before standard output. Ids are written two decimal digits at a time, since printf
 * would take longer than encoding.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum {
    CAPACITY = 1 << 16, /* what a pipe takes at once */
    NUMBER_ROOM = 21    /* digits of 2^64 and a separator */
};

static char buffer[CAPACITY];
static size_t used;

static void write_all(const char *bytes, size_t length)
{
    cli_progress_erase();
    while (length > 0) {
        ssize_t written = write(STDOUT_FILENO, bytes, length);
        if (written < 0) {
            if (errno == EINTR)
                continue;
            if (errno != EPIPE)
                cli_say("cannot write the result: %s", strerror(errno));
            _exit(CLI_WRONG);
        }
        bytes += written;
        length -= (size_t)written;
    }
}

void cli_out_flush(void)
{
    size_t length = used;
    used = 0;
    write_all(buffer, length);
}

void cli_out_discard(void)
{
    used = 0;
}

void cli_out(const void *bytes, size_t length)
{
    if (length == 0)
        return;
    if (length > CAPACITY - used) {
        cli_out_flush();
        if (length >= CAPACITY) {
            write_all(bytes, length);
            return;
        }
    }
    memcpy(buffer + used, bytes, length);
    used += length;
}

void cli_out_text(const char *text)
{
    cli_out(text, strlen(text));
}

void cli_out_char(char c)
{
    if (used == CAPACITY)
        cli_out_flush();
    buffer[used++] = c;
}

void cli_out_number(uint64_t number)
{
    char digits[NUMBER_ROOM];
    size_t start = sizeof digits;
    do {
        digits[--start] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    cli_out(digits + start, sizeof digits - start);
}

void cli_out_printf(const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    if ((size_t)length < sizeof line) {
        cli_out(line, (size_t)length);
        return;
    }
    char *large = malloc((size_t)length + 1);
    if (!large) {
        cli_no_memory();
        _exit(CLI_WRONG);
    }
    va_start(arguments, format);
    vsnprintf(large, (size_t)length + 1, format, arguments);
    va_end(arguments);
    cli_out(large, (size_t)length);
    free(large);
}

static const char pairs[201] = "0001020304050607080910111213141516171819"
                               "2021222324252627282930313233343536373839"
                               "4041424344454647484950515253545556575859"
                               "6061626364656667686970717273747576777879"
                               "8081828384858687888990919293949596979899";

/* Writes `id` in decimal at `to` and returns the end. */
static char *write_id(char *to, uint32_t id)
{
    char digits[10];
    size_t start = sizeof digits;
    while (id >= 100) {
        start -= 2;
        memcpy(digits + start, pairs + 2 * (id % 100), 2);
        id /= 100;
    }
    if (id >= 10) {
        start -= 2;
        memcpy(digits + start, pairs + 2 * id, 2);
    } else {
        digits[--start] = (char)('0' + id);
    }
    memcpy(to, digits + start, sizeof digits - start);
    return to + (sizeof digits - start);
}

char *cli_put_ids(char *to, const uint32_t *ids, size_t count, char separator, bool leading)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0 || leading)
            *to++ = separator;
        to = write_id(to, ids[i]);
    }
    return to;
}

void cli_out_ids(const uint32_t *ids, size_t count, char separator, bool leading)
{
    for (size_t done = 0; done < count;) {
        if (CAPACITY - used < CLI_ID_ROOM)
            cli_out_flush();
        size_t some = (CAPACITY - used) / CLI_ID_ROOM;
        if (some > count - done)
            some = count - done;
        used = (size_t)(cli_put_ids(buffer + used, ids + done, some, separator, leading || done > 0) - buffer);
        done += some;
    }
}

static int dump(const char *bytes, size_t length, void *unused)
{
    (void)unused;
    cli_out(bytes, length);
    return 0;
}

static void out_json(json_t *value, size_t flags)
{
    if (!value || json_dump_callback(value, dump, NULL, flags | JSON_ENCODE_ANY) != 0) {
        cli_no_memory();
        _exit(CLI_WRONG);
    }
    cli_out_char('\n');
    json_decref(value);
}

void cli_out_json(json_t *value)
{
    out_json(value, JSON_COMPACT);
}

void cli_out_json_document(json_t *value)
{
    out_json(value, JSON_INDENT(2));
}

/* The length of the UTF-8 character at `text`, 0 if there is none. */
static size_t character(const unsigned char *text, size_t length)
{
    static const struct {
        unsigned char first, last, low, high, length;
    } forms[] = {
        {0x00, 0x7F, 0x00, 0xFF, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (text[0] < forms[i].first || text[0] > forms[i].last)
            continue;
        size_t need = forms[i].length;
        if (need > length || (need > 1 && (text[1] < forms[i].low || text[1] > forms[i].high)))
            return 0;
        for (size_t k = 2; k < need; k++)
            if ((text[k] & 0xC0) != 0x80)
                return 0;
        return need;
    }
    return 0;
}

json_t *cli_json_string(const char *bytes, size_t length)
{
    json_t *string = json_stringn(bytes, length);
    if (string || length > SIZE_MAX / 3)
        return string;
    char *clean = malloc(length * 3 + 1);
    if (!clean)
        return NULL;
    size_t to = 0;
    for (size_t from = 0; from < length;) {
        size_t step = character((const unsigned char *)bytes + from, length - from);
        if (step) {
            memcpy(clean + to, bytes + from, step);
            to += step;
            from += step;
        } else {
            memcpy(clean + to, "\xEF\xBF\xBD", 3);
            to += 3;
            from++;
        }
    }
    string = json_stringn_nocheck(clean, to);
    free(clean);
    return string;
}
