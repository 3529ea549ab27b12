/* Messages: one line on standard error, in one write, so that those of several threads don't mix. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

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
    line[length++] = '\n';
    cli_progress_erase();
    /* If standard error is gone there is nobody to tell. */
    ssize_t ignored = write(STDERR_FILENO, line, length);
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
    return strcmp(name, "-") == 0 ? "standard input" : name;
}
