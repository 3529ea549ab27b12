/* Messages: one line on standard error, in one write, so that those of several threads don't mix. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* A name may hold line ends and what a terminal obeys: such bytes as \xNN. Returns the length, at most `room`. */
static size_t make_visible(char *to, size_t room, const char *from, size_t length)
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)from[i];
        bool plain = c >= ' ' && c != 0x7F;
        if (used + (plain ? 1 : 4) > room)
            break;
        if (plain)
            to[used++] = (char)c;
        else
            used += (size_t)sprintf(to + used, "\\x%02x", c);
    }
    return used;
}

static void say(const char *name, const char *format, va_list arguments) CLI_PRINTF(2, 0);

static void say(const char *name, const char *format, va_list arguments)
{
    char line[2048] = "tik: ";
    size_t length = strlen(line);
    const size_t room = sizeof line - 1; /* the newline always fits */
    if (name) {
        int written = snprintf(line + length, room - length, "%s: ", name);
        if (written > 0)
            length += (size_t)written < room - length ? (size_t)written : room - length - 1;
    }
    int written = vsnprintf(line + length, room - length, format, arguments);
    if (written > 0)
        length += (size_t)written < room - length ? (size_t)written : room - length - 1;
    char shown[sizeof line + 1]; /* sprintf ends each byte that it writes with a zero */
    length = make_visible(shown, room, line, length);
    shown[length++] = '\n';
    cli_progress_erase();
    /* If standard error is gone there is nobody to tell. */
    ssize_t ignored = write(STDERR_FILENO, shown, length);
    (void)ignored;
}

void cli_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(NULL, format, arguments);
    va_end(arguments);
}

void cli_blame(cli_call *call, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(name ? cli_display_name(name) : NULL, format, arguments);
    va_end(arguments);
    call->status = CLI_WRONG;
}

int cli_no_memory(void)
{
    cli_say("no memory");
    return CLI_WRONG;
}

const char *cli_display_name(const char *name)
{
    return strcmp(name, "-") == 0 ? "standard input" : *name ? name : "''";
}
