/* Reading a chat request, choosing how it is counted, and giving out what it came to. */
#include <stdlib.h>
#include <string.h>

#include "chat/chat.h"

const char *tik_chat_text(const json_t *object, const char *field)
{
    const char *text = json_string_value(json_object_get(object, field));
    return text && *text ? text : NULL;
}

tik_status tik_chat_wrong(size_t index, tik_error *error, const char *what)
{
    return tik_fail(error, TIK_ERROR_FORMAT, "messages[%zu] %s", index, what);
}

const json_t *tik_chat_function(const json_t *entry)
{
    const json_t *function = json_object_get(entry, "function");
    const char *type = tik_chat_text(entry, "type");
    if (type && strcmp(type, "function") != 0)
        return NULL;
    return json_is_object(function) ? function : entry;
}

const json_t *tik_chat_definitions(const tik_chat *chat)
{
    const json_t *tools = json_object_get(chat->fields, "tools");
    if (!json_is_array(tools))
        tools = json_object_get(chat->fields, "functions");
    return json_is_array(tools) && json_array_size(tools) > 0 ? tools : NULL;
}

bool tik_chat_has_functions(const tik_chat *chat)
{
    size_t i;
    json_t *entry;
    json_array_foreach((json_t *)(uintptr_t)tik_chat_definitions(chat), i, entry)
        if (tik_chat_function(entry))
            return true;
    return false;
}

/* ---- Content ------------------------------------------------------------------------------- */

static bool is_text_type(const char *type)
{
    return strcmp(type, "text") == 0 || strcmp(type, "input_text") == 0 || strcmp(type, "output_text") == 0;
}

/* What a part of content is called in a note. */
static const char *kind_of(const char *type)
{
    static const struct {
        const char *type, *kind;
    } kinds[] = {
        {"image_url", "an image"},   {"input_image", "an image"}, {"input_audio", "a sound"}, {"audio", "a sound"},
        {"file", "a file"},          {"input_file", "a file"},    {"video_url", "a video"},   {"refusal", "a refusal"},
        {"reasoning", "reasoning"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].type, type) == 0)
            return kinds[i].kind;
    return "a part of unknown type";
}

static tik_status take_text(tik_chat *chat, size_t index, const json_t *text, tik_chat_take *take, void *context,
                            tik_error *error)
{
    const char *bytes = json_string_value(text);
    size_t length = json_string_length(text);
    tik_status status = tik_chat_look(chat, index, bytes, length, error);
    return status == TIK_OK ? take(context, bytes, length, error) : status;
}

tik_status tik_chat_content(tik_chat *chat, size_t index, const json_t *content, tik_chat_take *take, void *context,
                            tik_error *error)
{
    size_t i;
    json_t *part;
    size_t texts = 0;
    tik_status status = TIK_OK;
    if (!content || json_is_null(content))
        return TIK_OK;
    if (json_is_string(content))
        return take_text(chat, index, content, take, context, error);
    if (!json_is_array(content))
        return tik_chat_wrong(index, error, "has content that is neither a string nor an array of parts");
    json_array_foreach((json_t *)(uintptr_t)content, i, part)
    {
        const char *type = tik_chat_text(part, "type");
        const json_t *text = json_object_get(part, "text");
        if (!type)
            return tik_chat_wrong(index, error, "has a part of content without \"type\"");
        if (!is_text_type(type))
            status = tik_chat_add_note(chat, TIK_CHAT_NOT_COUNTED, index, error, "content[%zu], %s (%.60s)", i,
                                       kind_of(type), type);
        else if (!json_is_string(text))
            return tik_chat_wrong(index, error, "has a text part of content without \"text\"");
        else
            status = take_text(chat, index, text, take, context, error);
        texts += is_text_type(type);
        if (status != TIK_OK)
            return status;
    }
    if (texts > 1 && !chat->is_rendered)
        return tik_chat_add_note(chat, TIK_CHAT_ASSUMED, index, error,
                                 "its %zu text parts are counted one by one: how they are joined is not published", texts);
    return TIK_OK;
}

/* ---- What is not counted ------------------------------------------------------------------- */

tik_status tik_chat_note_members(tik_chat *chat, size_t index, const json_t *message, const char *const *known,
                                 tik_error *error)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)message, key, value)
    {
        size_t i = 0;
        while (known[i] && strcmp(known[i], key) != 0)
            i++;
        if (known[i] || json_is_null(value))
            continue;
        tik_status status = tik_chat_add_note(chat, TIK_CHAT_NOT_COUNTED, index, error, "\"%.60s\"", key);
        if (status != TIK_OK)
            return status;
    }
    return TIK_OK;
}

/* A choice that forces one function, or several: it is told to the model in tokens. */
static bool forces_a_tool(const json_t *choice)
{
    const char *word = json_string_value(choice);
    if (word)
        return strcmp(word, "auto") != 0 && strcmp(word, "none") != 0;
    return json_is_object(choice);
}

tik_status tik_chat_note_fields(tik_chat *chat, tik_error *error)
{
    static const char *const adding[] = {"audio", "prediction", "web_search_options", "instructions"};
    tik_status status = TIK_OK;
    const char *format = tik_chat_text(json_object_get(chat->fields, "response_format"), "type");
    if (format && strcmp(format, "text") != 0)
        status = tik_chat_add_note(chat, TIK_CHAT_NOT_COUNTED, TIK_CHAT_NO_MESSAGE, error, "\"response_format\" (%.60s)",
                                   format);
    static const char *const choices[] = {"tool_choice", "function_call"};
    for (size_t i = 0; status == TIK_OK && i < sizeof choices / sizeof choices[0]; i++)
        if (forces_a_tool(json_object_get(chat->fields, choices[i])))
            status = tik_chat_add_note(chat, TIK_CHAT_NOT_COUNTED, TIK_CHAT_NO_MESSAGE, error,
                                       "\"%s\", which forces a function", choices[i]);
    for (size_t i = 0; status == TIK_OK && i < sizeof adding / sizeof adding[0]; i++) {
        const json_t *value = json_object_get(chat->fields, adding[i]);
        if (value && !json_is_null(value))
            status = tik_chat_add_note(chat, TIK_CHAT_NOT_COUNTED, TIK_CHAT_NO_MESSAGE, error, "\"%s\"", adding[i]);
    }
    size_t i;
    json_t *entry;
    json_array_foreach((json_t *)(uintptr_t)tik_chat_definitions(chat), i, entry)
        if (status == TIK_OK && !tik_chat_function(entry))
            status = tik_chat_add_note(chat, TIK_CHAT_NOT_COUNTED, TIK_CHAT_NO_MESSAGE, error,
                                       "tools[%zu], a tool of type %.60s", i, tik_chat_text(entry, "type"));
    return status;
}

/* ---- Reading ------------------------------------------------------------------------------- */

static tik_status parse(tik_chat *chat, const char *json, size_t length, tik_error *error)
{
    json_error_t fault;
    chat->request = json_loadb(json, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &fault);
    if (!chat->request && json_error_code(&fault) == json_error_out_of_memory)
        return tik_fail_memory(error, length);
    if (!chat->request)
        return tik_fail_at(error, TIK_ERROR_FORMAT, fault.line > 0 ? (size_t)fault.line : TIK_NOWHERE,
                           fault.position >= 0 ? (size_t)fault.position : TIK_NOWHERE, "the request, line %d: %.160s",
                           fault.line, fault.text);
    chat->fields = json_is_object(chat->request) ? chat->request : NULL;
    chat->messages = chat->fields ? json_object_get(chat->fields, "messages") : chat->request;
    if (!json_is_array(chat->messages))
        return tik_fail(error, TIK_ERROR_FORMAT, "the request has no \"messages\": it must be an object that has them, "
                                                 "or an array of messages");
    size_t i;
    json_t *message;
    json_array_foreach((json_t *)(uintptr_t)chat->messages, i, message)
    {
        if (!json_is_object(message))
            return tik_chat_wrong(i, error, "is no object");
        if (!tik_chat_text(message, "role"))
            return tik_chat_wrong(i, error, "has no \"role\"");
    }
    return TIK_OK;
}

/* Opens the encoding and chooses the rules. */
static tik_status choose(tik_chat *chat, const tik_chat_options *options, bool *is_published, tik_error *error)
{
    const char *model = options->model ? options->model : tik_chat_text(chat->fields, "model");
    if (!model && !options->encoding)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "the request names no model: name one");
    if (model && !(chat->model = strdup(model)))
        return tik_fail_memory(error, strlen(model));
    tik_status status = options->encoding ? tik_open(options->encoding, &chat->encoding, error)
                                          : tik_open_model(model, &chat->encoding, error);
    if (status != TIK_OK)
        return status;
    chat->rules = tik_chat_rules_for(model, tik_name(chat->encoding), is_published);
    if (!chat->rules)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "%.100s takes no chat requests", model ? model : options->encoding);
    chat->is_rendered = strcmp(chat->rules, "harmony") == 0;
    return tik_encoder_new(chat->encoding, &chat->encoder, error);
}

static tik_status read_request(tik_chat *chat, const char *json, size_t length, const tik_chat_options *options,
                               tik_error *error)
{
    bool is_published = false;
    tik_status status = parse(chat, json, length, error);
    if (status == TIK_OK)
        status = choose(chat, options, &is_published, error);
    if (status == TIK_OK && !is_published)
        status = tik_chat_add_note(chat, TIK_CHAT_ASSUMED, TIK_CHAT_NO_MESSAGE, error,
                                   "for %.100s no counting rules are published: those of %s are used",
                                   chat->model ? chat->model : "this encoding", chat->rules);
    if (status == TIK_OK)
        status = chat->is_rendered ? tik_chat_render(chat, error) : tik_chat_count(chat, error);
    return status == TIK_OK ? tik_chat_note_fields(chat, error) : status;
}

tik_status tik_chat_read(const char *json, size_t length, const tik_chat_options *options, tik_chat **chat,
                         tik_error *error)
{
    static const tik_chat_options defaults = TIK_CHAT_OPTIONS_INIT;
    const tik_chat_options *wanted = options ? options : &defaults;
    if (wanted->size != sizeof *wanted)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "tik_chat_options: its size is %zu, not %zu as here", wanted->size,
                        sizeof *wanted);
    tik_chat *made = calloc(1, sizeof *made);
    if (!made)
        return tik_fail_memory(error, sizeof *made);
    made->date = wanted->date;
    tik_status status = read_request(made, json, length, wanted, error);
    if (status != TIK_OK) {
        tik_chat_free(made);
        return status;
    }
    *chat = made;
    return TIK_OK;
}

void tik_chat_free(tik_chat *chat)
{
    if (!chat)
        return;
    for (size_t i = 0; i < chat->note_count; i++)
        free((char *)(uintptr_t)chat->notes[i].text);
    free(chat->notes);
    free(chat->parts);
    tik_ids_free(&chat->ids);
    tik_encoder_free(chat->encoder);
    tik_close(chat->encoding);
    free(chat->model);
    json_decref(chat->request);
    free(chat);
}

/* ---- Giving out ---------------------------------------------------------------------------- */

size_t tik_chat_tokens(const tik_chat *chat)
{
    return chat->tokens;
}

const char *tik_chat_model(const tik_chat *chat)
{
    return chat->model;
}

const char *tik_chat_encoding(const tik_chat *chat)
{
    return tik_name(chat->encoding);
}

const char *tik_chat_rules(const tik_chat *chat)
{
    return chat->rules;
}

const uint32_t *tik_chat_ids(const tik_chat *chat, size_t *count)
{
    *count = chat->ids.length;
    return chat->is_rendered ? chat->ids.data : NULL;
}

bool tik_chat_part_at(const tik_chat *chat, size_t index, tik_chat_part *part)
{
    if (index >= chat->part_count)
        return false;
    *part = chat->parts[index];
    return true;
}

bool tik_chat_note_at(const tik_chat *chat, size_t index, tik_chat_note *note)
{
    if (index >= chat->note_count)
        return false;
    *note = chat->notes[index];
    return true;
}
