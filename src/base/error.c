/* Errors: one place that fills a tik_error. */
#include <stdarg.h>
#include <stdio.h>

#include "base/base.h"

TIK_PRINTF(5, 0)
static tik_status fill(tik_error *error, tik_status status, size_t line, size_t offset, const char *format,
                       va_list arguments)
{
    if (error) {
        error->status = status;
        error->line = line;
        error->offset = offset;
        vsnprintf(error->message, sizeof error->message, format, arguments);
        /* A name in it may have any bytes; the message is one line that does nothing to a terminal. */
        for (char *c = error->message; *c; c++) {
            if ((unsigned char)*c < ' ' || *c == 0x7F)
                *c = '?';
        }
    }
    return status;
}

tik_status tik_fail(tik_error *error, tik_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, TIK_NOWHERE, TIK_NOWHERE, format, arguments);
    va_end(arguments);
    return status;
}

tik_status tik_fail_at(tik_error *error, tik_status status, size_t line, size_t offset, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, line, offset, format, arguments);
    va_end(arguments);
    return status;
}

tik_status tik_fail_memory(tik_error *error, size_t bytes)
{
    return tik_fail(error, TIK_ERROR_MEMORY, "no memory: %zu more bytes were needed", bytes);
}

const char *tik_status_text(tik_status status)
{
    static const char *const texts[] = {
        "done",
        "no memory",
        "wrong argument",
        "unknown name",
        "not UTF-8",
        "disallowed special token",
        "unknown id",
        "malformed file",
        "unusable split pattern",
        "input or output failed",
        "download failed",
        "wrong SHA-256",
        "offline",
        "too large",
        "cancelled",
        "not in this build",
    };
    size_t index = (size_t)status;
    return index < sizeof texts / sizeof texts[0] ? texts[index] : "unknown status";
}
