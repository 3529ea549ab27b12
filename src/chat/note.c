/* The parts and notes of a request as they are collected, and texts that look like special tokens. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chat/chat.h"

enum { LONGEST_NOTE = 400, LONGEST_NAME = 40 };

tik_status tik_chat_add_part(tik_chat *chat, const tik_chat_part *part, tik_error *error)
{
    tik_status status = tik_grow((void **)&chat->parts, &chat->part_capacity, chat->part_count + 1, sizeof *chat->parts,
                                 error);
    if (status != TIK_OK)
        return status;
    chat->parts[chat->part_count++] = *part;
    chat->tokens += part->tokens;
    return TIK_OK;
}

tik_status tik_chat_add_note(tik_chat *chat, tik_chat_note_kind kind, size_t message, tik_error *error,
                             const char *format, ...)
{
    char text[LONGEST_NOTE];
    va_list arguments;
    tik_status status = tik_grow((void **)&chat->notes, &chat->note_capacity, chat->note_count + 1, sizeof *chat->notes,
                                 error);
    if (status != TIK_OK)
        return status;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char *copy = strdup(text);
    if (!copy)
        return tik_fail_memory(error, strlen(text) + 1);
    chat->notes[chat->note_count++] = (tik_chat_note){kind, message, copy};
    return TIK_OK;
}

/* Length of what looks like a special token at the beginning of a text: <|name|>. 0 if nothing does. */
static size_t special_length(const char *text, size_t length)
{
    size_t at = 2;
    if (length < 5 || text[0] != '<' || text[1] != '|')
        return 0;
    while (at < length && at < LONGEST_NAME &&
           ((text[at] >= 'a' && text[at] <= 'z') || (text[at] >= 'A' && text[at] <= 'Z') ||
            (text[at] >= '0' && text[at] <= '9') || text[at] == '_' || text[at] == '-'))
        at++;
    return at > 2 && at + 1 < length && text[at] == '|' && text[at + 1] == '>' ? at + 2 : 0;
}

tik_status tik_chat_look(tik_chat *chat, size_t message, const char *text, size_t length, tik_error *error)
{
    for (const char *at = text; (at = memchr(at, '<', (size_t)(text + length - at))) != NULL; at++) {
        size_t found = special_length(at, (size_t)(text + length - at));
        uint32_t id;
        if (!found)
            continue;
        bool is_special = tik_token_id(chat->encoding, at, found, &id, NULL) == TIK_OK &&
                          tik_is_special(chat->encoding, id);
        return tik_chat_add_note(chat, TIK_CHAT_SPECIAL_TEXT, message, error,
                                 "%.*s at byte %zu %s; it is counted as ordinary text", (int)found, at,
                                 (size_t)(at - text),
                                 is_special ? "is written like a special token of the encoding"
                                            : "looks like a special token");
    }
    return TIK_OK;
}
