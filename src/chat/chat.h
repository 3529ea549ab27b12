/*
 * chat: the tokens of a chat request, given as JSON. The request is read once; then either the published
 * rules count it (rules.c) or it is rendered in the harmony format (harmony.c). Of the library it uses
 * nothing but tik.h.
 */
#ifndef TIK_CHAT_H
#define TIK_CHAT_H

#include <jansson.h>

#include "base/base.h"

#define TIK_CHAT_NO_MESSAGE SIZE_MAX

struct tik_chat {
    json_t *request;      /* the strings of the parts lie in it */
    const json_t *fields; /* the request as an object; NULL if it is just messages */
    const json_t *messages;
    char *model;
    tik_encoding *encoding;
    tik_encoder *encoder;
    const char *rules;
    bool is_rendered; /* `ids` are the request */
    size_t tokens;
    tik_ids ids;
    const char *date;
    tik_chat_part *parts;
    size_t part_count;
    size_t part_capacity;
    tik_chat_note *notes; /* each text is an allocation of its own */
    size_t note_count;
    size_t note_capacity;
};

/* ---- What both ways share ------------------------------------------------------------------ */

tik_status tik_chat_add_part(tik_chat *chat, const tik_chat_part *part, tik_error *error);
tik_status tik_chat_add_note(tik_chat *chat, tik_chat_note_kind kind, size_t message, tik_error *error,
                             const char *format, ...) TIK_PRINTF(5, 6);

/* Notes what in a text looks like a special token. */
tik_status tik_chat_look(tik_chat *chat, size_t message, const char *text, size_t length, tik_error *error);

/* A fault of message `index` of the request. */
tik_status tik_chat_wrong(size_t index, tik_error *error, const char *what);

/* Member `field` of an object if it is a string of at least one byte, else NULL. */
const char *tik_chat_text(const json_t *object, const char *field);

/* The function that an entry of "tools" or "functions" defines; NULL if it is a tool of another kind. */
const json_t *tik_chat_function(const json_t *entry);

/* The tools of a request: "tools", or the older "functions"; NULL if there are none. */
const json_t *tik_chat_definitions(const tik_chat *chat);

/* Whether a function is among them. */
bool tik_chat_has_functions(const tik_chat *chat);

/* Called with each text of a message. */
typedef tik_status tik_chat_take(void *context, const char *text, size_t length, tik_error *error);

/*
 * Hands on the texts of the content of message `index`, and notes what in it is no text. TIK_ERROR_FORMAT
 * if it is no content.
 */
tik_status tik_chat_content(tik_chat *chat, size_t index, const json_t *content, tik_chat_take *take, void *context,
                            tik_error *error);

/* Notes the members of a request that may add tokens, in a way that is not published. */
tik_status tik_chat_note_fields(tik_chat *chat, tik_error *error);

/* Notes the members of message `index` that are not among `known` (NULL-terminated). */
tik_status tik_chat_note_members(tik_chat *chat, size_t index, const json_t *message, const char *const *known,
                                 tik_error *error);

/* ---- The two ways -------------------------------------------------------------------------- */

/* Counts by the published rules of that name; `tik_chat_rules_for` gives it. */
tik_status tik_chat_count(tik_chat *chat, tik_error *error);

/*
 * The name of the rules for a model (which may be NULL) and its encoding; `*is_published` says whether they are
 * published for just that model. NULL for what is no chat model.
 */
const char *tik_chat_rules_for(const char *model, const char *encoding, bool *is_published);

/* Renders in the harmony format. */
tik_status tik_chat_render(tik_chat *chat, tik_error *error);

/* ---- Text that harmony makes of JSON ------------------------------------------------------- */

/* Appends a JSON schema as a type of TypeScript, continuation lines indented by so many spaces. */
tik_status tik_chat_typescript(const json_t *schema, size_t indent, tik_bytes *out, tik_error *error);

/* Appends a JSON value in its shortest form. */
tik_status tik_chat_value(const json_t *value, tik_bytes *out, tik_error *error);

#endif
