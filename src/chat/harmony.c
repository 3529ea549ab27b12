/*
 * The harmony format of gpt-oss: a request as messages of
 *
 *     <|start|>AUTHOR to=RECIPIENT<|channel|>CHANNEL TYPE<|message|>TEXT<|end|>
 *
 * The form is that of OpenAI's description and of the package openai-harmony 0.0.8. Each stretch between
 * two marks is encoded by itself, in the same stretches as there, so that the ids are the same.
 *
 * A request of the chat API has no channels: its instructions go into a developer message, functions
 * are defined there, calls go to the commentary channel, answers to the final one, and a system message
 * is put first. A conversation that has channels already is taken as it is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chat/chat.h"

#define IDENTITY "You are ChatGPT, a large language model trained by OpenAI."
#define KNOWLEDGE_CUTOFF "2024-06"
#define JSON_TYPE "<|constrain|>json"
static const char constrain[] = "<|constrain|>";

/* How the text of a message comes about. */
typedef enum message_form {
    FORM_AS_IS,        /* the content as it is */
    FORM_INSTRUCTIONS, /* the content as a developer's instructions, and the functions if `has_tools` */
    FORM_ARGUMENTS,    /* `text`: arguments of a function */
    FORM_SYSTEM        /* the system message that is put first */
} message_form;

typedef struct harmony_message {
    size_t index; /* of the request's message; TIK_CHAT_NO_MESSAGE for none */
    message_form form;
    const char *role;
    const char *name;
    const char *recipient;
    const char *channel;
    const char *content_type;
    const json_t *content;
    const json_t *text;
    bool has_tools;
    const char *shown_name; /* in the request's own memory */
    char *owned;            /* a name or recipient that was put together */
} harmony_message;

typedef struct renderer {
    tik_chat *chat;
    harmony_message *messages;
    size_t count;
    size_t capacity;
    bool has_functions;
    json_t *called;     /* the names of the functions called so far, by the ids of the calls */
    tik_bytes text;     /* what is put together before it is encoded */
    size_t sections;    /* begun in it */
    size_t lines;       /* of its first section */
} renderer;

/* ---- Ids ----------------------------------------------------------------------------------- */

static tik_status put_mark(renderer *r, const char *mark, tik_error *error)
{
    uint32_t id;
    tik_status status = tik_token_id(r->chat->encoding, mark, strlen(mark), &id, error);
    if (status == TIK_OK)
        status = tik_grow((void **)&r->chat->ids.data, &r->chat->ids.capacity, r->chat->ids.length + 1, sizeof id, error);
    if (status == TIK_OK)
        r->chat->ids.data[r->chat->ids.length++] = id;
    return status;
}

static tik_status put_bytes(void *context, const char *text, size_t length, tik_error *error)
{
    static const tik_options ordinary = TIK_OPTIONS_ORDINARY;
    renderer *r = context;
    return tik_encoder_encode(r->chat->encoder, text, length, &ordinary, &r->chat->ids, error);
}

static tik_status put_text(renderer *r, const char *text, tik_error *error)
{
    return put_bytes(r, text, strlen(text), error);
}

/* Begins to put a text together. */
static void begin_text(renderer *r)
{
    r->text.length = 0;
    r->sections = 0;
    r->lines = 0;
}

/* Encodes what has been put together. */
static tik_status put_collected(renderer *r, tik_error *error)
{
    return put_bytes(r, r->text.data ? r->text.data : "", r->text.length, error);
}

/* ---- Sections of system and developer messages --------------------------------------------- */

static tik_status add(renderer *r, const char *text, tik_error *error)
{
    return tik_bytes_append(&r->text, text, strlen(text), error);
}

/* Begins a section: an empty line parts it from the one before. */
static tik_status add_section(renderer *r, const char *text, tik_error *error)
{
    tik_status status = r->sections++ > 0 ? add(r, "\n\n", error) : TIK_OK;
    return status == TIK_OK ? add(r, text, error) : status;
}

/* Each line of a text behind `before`, each ended; a line's end at the text's end begins no further line. */
static tik_status add_lines(renderer *r, const char *before, const json_t *text, tik_error *error)
{
    const char *at = json_string_value(text);
    const char *end = at ? at + json_string_length(text) : NULL;
    tik_status status = TIK_OK;
    while (status == TIK_OK && at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline ? newline : end) - at);
        size_t shown = newline && length > 0 && at[length - 1] == '\r' ? length - 1 : length;
        status = add(r, "\n", error);
        if (status == TIK_OK)
            status = add(r, before, error);
        if (status == TIK_OK)
            status = tik_bytes_append(&r->text, at, shown, error);
        at += length + 1;
    }
    return status;
}

static tik_status add_function(renderer *r, const json_t *function, tik_error *error)
{
    const char *name = tik_chat_text(function, "name");
    const json_t *parameters = json_object_get(function, "parameters");
    if (!name)
        return tik_fail(error, TIK_ERROR_FORMAT, "\"tools\": a function has no \"name\"");
    tik_status status = add_lines(r, "// ", json_object_get(function, "description"), error);
    if (status == TIK_OK)
        status = tik_bytes_printf(&r->text, error, "\ntype %s = (", name);
    if (status == TIK_OK && parameters && !json_is_null(parameters)) {
        status = add(r, "_: ", error);
        if (status == TIK_OK)
            status = tik_chat_typescript(parameters, 0, &r->text, error);
    }
    return status == TIK_OK ? add(r, ") => any;\n", error) : status;
}

/* "## NAME" and what belongs to it. `entries` are functions, or tools of the API. */
static tik_status add_namespace(renderer *r, const char *name, const json_t *description, const json_t *entries,
                                tik_error *error)
{
    size_t i;
    json_t *entry;
    bool has_functions = json_array_size(entries) > 0;
    tik_status status = add_section(r, "## ", error);
    if (status == TIK_OK)
        status = tik_bytes_printf(&r->text, error, "%s\n", name);
    if (status == TIK_OK)
        status = add_lines(r, has_functions ? "// " : "", description, error);
    if (status == TIK_OK && has_functions)
        status = tik_bytes_printf(&r->text, error, "\nnamespace %s {\n", name);
    json_array_foreach((json_t *)(uintptr_t)entries, i, entry)
    {
        const json_t *function = tik_chat_function(entry);
        if (status == TIK_OK && function)
            status = add_function(r, function, error);
    }
    if (status == TIK_OK && has_functions)
        status = tik_bytes_printf(&r->text, error, "\n} // namespace %s", name);
    return status;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Several namespaces, in the order of their keys. */
static tik_status add_namespaces(renderer *r, const json_t *tools, tik_error *error)
{
    size_t count = json_object_size(tools);
    size_t i = 0;
    if (count == 0)
        return TIK_OK;
    const char **keys = calloc(count, sizeof *keys);
    if (!keys)
        return tik_fail_memory(error, count * sizeof *keys);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)tools, key, value)
        keys[i++] = key;
    qsort(keys, count, sizeof *keys, by_text);
    tik_status status = add_section(r, "# Tools", error);
    for (i = 0; status == TIK_OK && i < count; i++) {
        const json_t *space = json_object_get(tools, keys[i]);
        const char *name = tik_chat_text(space, "name");
        status = add_namespace(r, name ? name : keys[i], json_object_get(space, "description"),
                               json_object_get(space, "tools"), error);
    }
    free(keys);
    return status;
}

/* One line of the first section of a system message. */
static tik_status add_line(renderer *r, const char *before, const char *text, tik_error *error)
{
    if (!text)
        return TIK_OK;
    r->sections = 1;
    return tik_bytes_printf(&r->text, error, "%s%s%s", r->lines++ > 0 ? "\n" : "", before, text);
}

static tik_status add_channels(renderer *r, const json_t *channels, bool is_required, tik_error *error)
{
    size_t i;
    json_t *channel;
    tik_status status = add_section(r, "# Valid channels: ", error);
    json_array_foreach((json_t *)(uintptr_t)channels, i, channel)
    {
        const char *name = json_string_value(channel);
        if (status == TIK_OK)
            status = tik_bytes_printf(&r->text, error, "%s%s", i > 0 ? ", " : "", name ? name : "");
    }
    if (status == TIK_OK)
        status = add(r, is_required ? ". Channel must be included for every message." : ".", error);
    if (status == TIK_OK && r->has_functions)
        status = add(r, "\nCalls to these tools must go to the commentary channel: 'functions'.", error);
    return status;
}

/* The content of a system message as the package openai-harmony writes it. */
static tik_status add_system_content(renderer *r, size_t index, const json_t *content, tik_error *error)
{
    static const char *const efforts[][2] = {{"Low", "low"}, {"Medium", "medium"}, {"High", "high"}};
    const char *effort = tik_chat_text(content, "reasoning_effort");
    const json_t *config = json_object_get(content, "channel_config");
    const json_t *channels = json_object_get(config, "valid_channels");
    tik_status status = add_line(r, "", json_string_value(json_object_get(content, "model_identity")), error);
    if (status == TIK_OK)
        status = add_line(r, "Knowledge cutoff: ", json_string_value(json_object_get(content, "knowledge_cutoff")), error);
    if (status == TIK_OK)
        status = add_line(r, "Current date: ", json_string_value(json_object_get(content, "conversation_start_date")),
                          error);
    if (status == TIK_OK && effort) {
        size_t i = 0;
        while (i < 3 && strcmp(efforts[i][0], effort) != 0)
            i++;
        if (i == 3)
            return tik_chat_wrong(index, error, "has a \"reasoning_effort\" that is none of Low, Medium, High");
        status = add_section(r, "Reasoning: ", error);
        if (status == TIK_OK)
            status = add(r, efforts[i][1], error);
    }
    if (status == TIK_OK)
        status = add_namespaces(r, json_object_get(content, "tools"), error);
    if (status == TIK_OK && json_array_size(channels) > 0)
        status = add_channels(r, channels, json_is_true(json_object_get(config, "channel_required")), error);
    return status;
}

static tik_status add_developer_content(renderer *r, const json_t *content, tik_error *error)
{
    const json_t *instructions = json_object_get(content, "instructions");
    tik_status status = TIK_OK;
    if (json_is_string(instructions)) {
        status = add_section(r, "# Instructions\n\n", error);
        if (status == TIK_OK)
            status = tik_bytes_append(&r->text, json_string_value(instructions), json_string_length(instructions), error);
    }
    return status == TIK_OK ? add_namespaces(r, json_object_get(content, "tools"), error) : status;
}

/* The system message that is put first. */
static tik_status add_own_system(renderer *r, tik_error *error)
{
    const char *effort = tik_chat_text(r->chat->fields, "reasoning_effort");
    json_t *channels = json_pack("[s,s,s]", "analysis", "commentary", "final");
    if (!channels)
        return tik_fail_memory(error, 0);
    tik_status status = TIK_OK;
    if (effort && strcmp(effort, "low") != 0 && strcmp(effort, "medium") != 0 && strcmp(effort, "high") != 0)
        status = tik_fail(error, TIK_ERROR_FORMAT, "\"reasoning_effort\" must be low, medium or high: %.60s is none", effort);
    if (status == TIK_OK)
        status = add_line(r, "", IDENTITY, error);
    if (status == TIK_OK)
        status = add_line(r, "Knowledge cutoff: ", KNOWLEDGE_CUTOFF, error);
    if (status == TIK_OK)
        status = add_line(r, "Current date: ", r->chat->date, error);
    if (status == TIK_OK)
        status = add_section(r, "Reasoning: ", error);
    if (status == TIK_OK)
        status = add(r, effort ? effort : "medium", error);
    if (status == TIK_OK)
        status = add_channels(r, channels, true, error);
    json_decref(channels);
    return status;
}

/* ---- One message --------------------------------------------------------------------------- */

static tik_status put_header(renderer *r, const harmony_message *message, tik_error *error)
{
    bool is_tool = strcmp(message->role, "tool") == 0;
    tik_status status = put_text(r, is_tool ? message->name : message->role, error);
    if (status == TIK_OK && message->name && !is_tool) {
        begin_text(r);
        status = tik_bytes_printf(&r->text, error, ":%s", message->name);
        if (status == TIK_OK)
            status = put_collected(r, error);
    }
    if (status == TIK_OK && message->recipient && strcmp(message->recipient, "all") != 0) {
        begin_text(r);
        status = tik_bytes_printf(&r->text, error, " to=%s", message->recipient);
        if (status == TIK_OK)
            status = put_collected(r, error);
    }
    if (status == TIK_OK && message->channel) {
        status = put_mark(r, "<|channel|>", error);
        if (status == TIK_OK)
            status = put_text(r, message->channel, error);
    }
    return status;
}

/* " json", or with a mark before it that is no text. */
static tik_status put_content_type(renderer *r, const char *type, tik_error *error)
{
    if (strncmp(type, constrain, sizeof constrain - 1) != 0) {
        begin_text(r);
        tik_status status = tik_bytes_printf(&r->text, error, " %s", type);
        return status == TIK_OK ? put_collected(r, error) : status;
    }
    tik_status status = put_text(r, " ", error);
    if (status == TIK_OK)
        status = put_mark(r, constrain, error);
    return status == TIK_OK ? put_text(r, type + sizeof constrain - 1, error) : status;
}

/* A conversation's content: texts, and the two kinds that are put together. */
static tik_status put_conversation_content(renderer *r, const harmony_message *message, tik_error *error)
{
    size_t i;
    json_t *part;
    if (!json_is_array(message->content))
        return tik_chat_content(r->chat, message->index, message->content, put_bytes, r, error);
    json_array_foreach((json_t *)(uintptr_t)message->content, i, part)
    {
        const char *type = tik_chat_text(part, "type");
        tik_status status;
        begin_text(r);
        if (type && strcmp(type, "system_content") == 0 && strcmp(message->role, "system") == 0) {
            status = add_system_content(r, message->index, part, error);
        } else if (type && strcmp(type, "developer_content") == 0 && strcmp(message->role, "developer") == 0) {
            status = add_developer_content(r, part, error);
        } else {
            json_t *alone = json_pack("[O]", part);
            if (!alone)
                return tik_fail_memory(error, 0);
            status = tik_chat_content(r->chat, message->index, alone, put_bytes, r, error);
            json_decref(alone);
        }
        if (status == TIK_OK && r->text.length > 0)
            status = put_collected(r, error);
        if (status != TIK_OK)
            return status;
    }
    return TIK_OK;
}

static tik_status collect(void *context, const char *text, size_t length, tik_error *error)
{
    renderer *r = context;
    return tik_bytes_append(&r->text, text, length, error);
}

static tik_status put_instructions(renderer *r, const harmony_message *message, tik_error *error)
{
    tik_status status = TIK_OK;
    if (message->content && !json_is_null(message->content)) {
        status = add_section(r, "# Instructions\n\n", error);
        if (status == TIK_OK)
            status = tik_chat_content(r->chat, message->index, message->content, collect, r, error);
    }
    if (status == TIK_OK && message->has_tools) {
        status = add_section(r, "# Tools", error);
        if (status == TIK_OK)
            status = add_namespace(r, "functions", NULL, tik_chat_definitions(r->chat), error);
    }
    return status == TIK_OK ? put_collected(r, error) : status;
}

static tik_status put_body(renderer *r, const harmony_message *message, tik_error *error)
{
    begin_text(r);
    switch (message->form) {
    case FORM_INSTRUCTIONS:
        return put_instructions(r, message, error);
    case FORM_ARGUMENTS: {
        tik_status status = tik_chat_look(r->chat, message->index, json_string_value(message->text),
                                          json_string_length(message->text), error);
        if (status != TIK_OK)
            return status;
        return put_bytes(r, json_string_value(message->text), json_string_length(message->text), error);
    }
    case FORM_SYSTEM: {
        tik_status status = add_own_system(r, error);
        return status == TIK_OK ? put_collected(r, error) : status;
    }
    default:
        return put_conversation_content(r, message, error);
    }
}

static tik_status put_message(renderer *r, const harmony_message *message, tik_error *error)
{
    size_t start = r->chat->ids.length;
    bool is_call = strcmp(message->role, "assistant") == 0 && message->recipient;
    tik_status status = put_mark(r, "<|start|>", error);
    if (status == TIK_OK)
        status = put_header(r, message, error);
    if (status == TIK_OK && message->content_type)
        status = put_content_type(r, message->content_type, error);
    if (status == TIK_OK)
        status = put_mark(r, "<|message|>", error);
    size_t body = r->chat->ids.length;
    if (status == TIK_OK)
        status = put_body(r, message, error);
    size_t end = r->chat->ids.length;
    if (status == TIK_OK)
        status = put_mark(r, is_call ? "<|call|>" : "<|end|>", error);
    if (status != TIK_OK)
        return status;
    const json_t *content = json_is_array(message->content) ? json_object_get(json_array_get(message->content, 0), "text")
                                                            : message->content;
    const json_t *text = message->text ? message->text : content;
    const tik_chat_part part = {
        .kind = message->index == TIK_CHAT_NO_MESSAGE ? TIK_CHAT_SYSTEM : TIK_CHAT_MESSAGE,
        .message = message->index,
        .role = message->role,
        .name = message->shown_name,
        .text = json_string_value(text),
        .text_length = json_string_length(text),
        .tokens = r->chat->ids.length - start,
        .text_tokens = end - body,
    };
    return tik_chat_add_part(r->chat, &part, error);
}

/* ---- The messages of a request ------------------------------------------------------------- */

/* One more message; it is valid until the next call. NULL if there is no memory. */
static harmony_message *next_message(renderer *r, size_t index, message_form form, const char *role, tik_error *error)
{
    if (tik_grow((void **)&r->messages, &r->capacity, r->count + 1, sizeof *r->messages, error) != TIK_OK)
        return NULL;
    harmony_message *message = &r->messages[r->count++];
    *message = (harmony_message){.index = index, .form = form, .role = role};
    return message;
}

/* "functions.NAME", owned by the message; NULL if there is no memory. */
static char *function_path(harmony_message *message, const char *name, tik_error *error)
{
    static const char space[] = "functions.";
    const char *before = strncmp(name, space, sizeof space - 1) == 0 ? "" : space;
    size_t size = sizeof space + strlen(name);
    message->owned = malloc(size);
    message->shown_name = name;
    if (message->owned)
        snprintf(message->owned, size, "%s%s", before, name);
    else
        tik_fail_memory(error, size);
    return message->owned;
}

/* Whether the request is a conversation with channels, as the package openai-harmony writes one. */
static bool is_conversation(const tik_chat *chat)
{
    size_t i, k;
    json_t *message;
    json_t *part;
    json_array_foreach((json_t *)(uintptr_t)chat->messages, i, message)
    {
        if (tik_chat_text(message, "channel") || tik_chat_text(message, "recipient"))
            return true;
        json_array_foreach(json_object_get(message, "content"), k, part)
        {
            const char *type = tik_chat_text(part, "type");
            if (type && (strcmp(type, "system_content") == 0 || strcmp(type, "developer_content") == 0))
                return true;
        }
    }
    return false;
}

static tik_status plan_conversation(renderer *r, tik_error *error)
{
    static const char *const roles[] = {"system", "developer", "user", "assistant", "tool"};
    static const char *const known[] = {"role", "name", "content", "channel", "recipient", "content_type", NULL};
    size_t i;
    json_t *source;
    json_array_foreach((json_t *)(uintptr_t)r->chat->messages, i, source)
    {
        size_t role = 0;
        harmony_message *message = next_message(r, i, FORM_AS_IS, tik_chat_text(source, "role"), error);
        if (!message)
            return TIK_ERROR_MEMORY;
        while (role < sizeof roles / sizeof roles[0] && strcmp(roles[role], message->role) != 0)
            role++;
        if (role == sizeof roles / sizeof roles[0])
            return tik_chat_wrong(i, error, "has a \"role\" that harmony does not know");
        message->name = message->shown_name = json_string_value(json_object_get(source, "name"));
        message->recipient = json_string_value(json_object_get(source, "recipient"));
        message->channel = json_string_value(json_object_get(source, "channel"));
        message->content_type = json_string_value(json_object_get(source, "content_type"));
        message->content = json_object_get(source, "content");
        if (strcmp(message->role, "tool") == 0 && !message->name)
            return tik_chat_wrong(i, error, "is a tool's and has no \"name\"");
        tik_status status = tik_chat_note_members(r->chat, i, source, known, error);
        if (status != TIK_OK)
            return status;
        size_t k;
        json_t *part;
        json_array_foreach((json_t *)(uintptr_t)message->content, k, part)
        {
            const json_t *functions = json_object_get(json_object_get(part, "tools"), "functions");
            const char *type = tik_chat_text(part, "type");
            r->has_functions |= type && strcmp(type, "developer_content") == 0 &&
                                json_array_size(json_object_get(functions, "tools")) > 0;
        }
    }
    return TIK_OK;
}

/* A call of a function: its own message, to the function, in the commentary channel. */
static tik_status plan_call(renderer *r, size_t index, const json_t *function, tik_error *error)
{
    const char *name = tik_chat_text(function, "name");
    const json_t *arguments = json_object_get(function, "arguments");
    if (!name || !json_is_string(arguments))
        return tik_chat_wrong(index, error, "calls a function without \"name\" or \"arguments\"");
    harmony_message *message = next_message(r, index, FORM_ARGUMENTS, "assistant", error);
    if (!message)
        return TIK_ERROR_MEMORY;
    message->recipient = function_path(message, name, error);
    message->channel = "commentary";
    message->content_type = JSON_TYPE;
    message->text = arguments;
    return message->recipient ? TIK_OK : TIK_ERROR_MEMORY;
}

static bool has_text(const json_t *content)
{
    return json_string_length(content) > 0 || json_array_size(content) > 0;
}

/* What an assistant says, an answer or a preamble to calls, then its calls. */
static tik_status plan_assistant(renderer *r, size_t index, const json_t *source, tik_error *error)
{
    static const char *const known[] = {"role", "content", "tool_calls", "function_call", "name", NULL};
    const json_t *content = json_object_get(source, "content");
    const json_t *calls = json_object_get(source, "tool_calls");
    const json_t *old = json_object_get(source, "function_call");
    bool has_calls = json_array_size(calls) > 0 || json_is_object(old);
    tik_status status = tik_chat_note_members(r->chat, index, source, known, error);
    if (status == TIK_OK && (has_text(content) || !has_calls)) {
        harmony_message *message = next_message(r, index, FORM_AS_IS, "assistant", error);
        if (!message)
            return TIK_ERROR_MEMORY;
        message->content = content;
        message->name = message->shown_name = tik_chat_text(source, "name");
        message->channel = has_calls ? "commentary" : "final";
    }
    if (status == TIK_OK && json_is_object(old))
        status = plan_call(r, index, old, error);
    size_t i;
    json_t *call;
    json_array_foreach((json_t *)(uintptr_t)calls, i, call)
    {
        const json_t *function = json_is_object(call) ? tik_chat_function(call) : NULL;
        const char *id = tik_chat_text(call, "id");
        if (status == TIK_OK && function)
            status = plan_call(r, index, function, error);
        if (status == TIK_OK && function && id && json_object_set(r->called, id, json_object_get(function, "name")) != 0)
            status = tik_fail_memory(error, strlen(id));
        if (status == TIK_OK && !function)
            status = tik_chat_add_note(r->chat, TIK_CHAT_NOT_COUNTED, index, error, "tool_calls[%zu], no function's", i);
    }
    return status;
}

/* What a function gave back. */
static tik_status plan_result(renderer *r, size_t index, const json_t *source, tik_error *error)
{
    static const char *const known[] = {"role", "content", "tool_call_id", "name", NULL};
    const char *id = tik_chat_text(source, "tool_call_id");
    const char *name = id ? tik_chat_text(r->called, id) : NULL;
    if (!name)
        name = tik_chat_text(source, "name");
    if (!name)
        return tik_chat_wrong(index, error, "is a tool's, but has neither the \"tool_call_id\" of a call before it nor "
                                            "a \"name\"");
    harmony_message *message = next_message(r, index, FORM_AS_IS, "tool", error);
    if (!message)
        return TIK_ERROR_MEMORY;
    message->name = function_path(message, name, error);
    message->recipient = "assistant";
    message->channel = "commentary";
    message->content = json_object_get(source, "content");
    return message->name ? tik_chat_note_members(r->chat, index, source, known, error) : TIK_ERROR_MEMORY;
}

static tik_status plan_message(renderer *r, size_t index, const json_t *source, bool *tools_wanted, tik_error *error)
{
    static const char *const known[] = {"role", "content", "name", NULL};
    const char *role = tik_chat_text(source, "role");
    if (strcmp(role, "assistant") == 0)
        return plan_assistant(r, index, source, error);
    if (strcmp(role, "tool") == 0 || strcmp(role, "function") == 0)
        return plan_result(r, index, source, error);
    bool is_user = strcmp(role, "user") == 0;
    if (!is_user && strcmp(role, "system") != 0 && strcmp(role, "developer") != 0)
        return tik_chat_wrong(index, error, "has a \"role\" that harmony does not know");
    harmony_message *message = is_user ? next_message(r, index, FORM_AS_IS, "user", error)
                                       : next_message(r, index, FORM_INSTRUCTIONS, "developer", error);
    if (!message)
        return TIK_ERROR_MEMORY;
    message->name = message->shown_name = tik_chat_text(source, "name");
    message->content = json_object_get(source, "content");
    if (!is_user) {
        message->has_tools = *tools_wanted;
        *tools_wanted = false;
    }
    return tik_chat_note_members(r->chat, index, source, known, error);
}

/* True if the request has instructions, so that functions are defined beside the first of them. */
static bool has_instructions(const tik_chat *chat)
{
    size_t i;
    json_t *message;
    json_array_foreach((json_t *)(uintptr_t)chat->messages, i, message)
    {
        const char *role = tik_chat_text(message, "role");
        if (strcmp(role, "system") == 0 || strcmp(role, "developer") == 0)
            return true;
    }
    return false;
}

static tik_status plan_request(renderer *r, tik_error *error)
{
    bool tools_wanted = tik_chat_has_functions(r->chat);
    r->has_functions = tools_wanted;
    if (!next_message(r, TIK_CHAT_NO_MESSAGE, FORM_SYSTEM, "system", error))
        return TIK_ERROR_MEMORY;
    if (tools_wanted && !has_instructions(r->chat)) {
        harmony_message *message = next_message(r, TIK_CHAT_NO_MESSAGE, FORM_INSTRUCTIONS, "developer", error);
        if (!message)
            return TIK_ERROR_MEMORY;
        message->has_tools = true;
        tools_wanted = false;
    }
    size_t i;
    json_t *source;
    tik_status status = TIK_OK;
    json_array_foreach((json_t *)(uintptr_t)r->chat->messages, i, source)
        if (status == TIK_OK)
            status = plan_message(r, i, source, &tools_wanted, error);
    return status;
}

static bool is_in(const harmony_message *message, const char *channel)
{
    return message->channel && strcmp(message->channel, channel) == 0;
}

/*
 * How many messages stand before the first final answer, if the assistant spoke last in the final channel:
 * among them, reasoning is not told again. Else 0.
 */
static size_t told_from(const renderer *r)
{
    size_t last = r->count;
    while (last > 0 && strcmp(r->messages[last - 1].role, "assistant") != 0)
        last--;
    if (last == 0 || !is_in(&r->messages[last - 1], "final"))
        return 0;
    size_t first = 0;
    while (!is_in(&r->messages[first], "final"))
        first++;
    return first;
}

static tik_status render(renderer *r, tik_error *error)
{
    bool as_it_is = is_conversation(r->chat);
    tik_status status = as_it_is ? plan_conversation(r, error) : plan_request(r, error);
    size_t from = status == TIK_OK ? told_from(r) : 0;
    for (size_t i = 0; status == TIK_OK && i < r->count; i++)
        if (i >= from || !is_in(&r->messages[i], "analysis"))
            status = put_message(r, &r->messages[i], error);
    size_t start = r->chat->ids.length;
    if (status == TIK_OK)
        status = put_mark(r, "<|start|>", error);
    if (status == TIK_OK)
        status = put_text(r, "assistant", error);
    const tik_chat_part reply = {
        .kind = TIK_CHAT_REPLY, .message = TIK_CHAT_NO_MESSAGE, .tokens = r->chat->ids.length - start};
    if (status == TIK_OK)
        status = tik_chat_add_part(r->chat, &reply, error);
    if (status == TIK_OK && as_it_is && tik_chat_definitions(r->chat))
        status = tik_chat_add_note(r->chat, TIK_CHAT_NOT_COUNTED, TIK_CHAT_NO_MESSAGE, error,
                                   "\"tools\": a conversation with channels defines them in its developer message");
    return status;
}

tik_status tik_chat_render(tik_chat *chat, tik_error *error)
{
    renderer r = {.chat = chat, .called = json_object()};
    tik_status status = r.called ? render(&r, error) : tik_fail_memory(error, 0);
    for (size_t i = 0; i < r.count; i++)
        free(r.messages[i].owned);
    free(r.messages);
    json_decref(r.called);
    tik_bytes_free(&r.text);
    return status;
}
