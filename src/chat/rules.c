/*
 * The published counting rules, from OpenAI's cookbook, "How to count tokens with tiktoken", sections 6
 * and 7 (messages; definitions of functions). They tell a number of tokens, not the tokens themselves.
 */
#include <string.h>

#include "chat/chat.h"

enum { REPLY = 3 /* what primes the answer */ };

typedef struct counting_rules {
    const char *name;
    int message;      /* for each message, beside the tokens of its texts */
    int author;       /* for each name */
    int function;     /* for each function */
    int properties;   /* for a function with parameters */
    int property;     /* for each parameter */
    int choices;      /* for a parameter with choices */
    int choice;       /* for each of them */
    int functions_end;
} counting_rules;

static const counting_rules all_rules[] = {
    {"gpt-3.5-turbo-0301", 4, -1, 10, 3, 3, -3, 3, 12}, /* a name takes the place of the role there */
    {"gpt-4", 3, 1, 10, 3, 3, -3, 3, 12},
    {"gpt-4o", 3, 1, 7, 3, 3, -3, 3, 12},
};

static bool begins(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

const char *tik_chat_rules_for(const char *model, const char *encoding, bool *is_published)
{
    /* Names that begin so; the first that fits decides. */
    static const struct {
        const char *prefix, *rules;
    } families[] = {
        {"gpt-3.5-turbo-instruct", NULL},
        {"gpt-3.5-turbo-0301", "gpt-3.5-turbo-0301"},
        {"gpt-3.5-turbo", "gpt-4"},
        {"gpt-35-turbo", "gpt-4"},
        {"gpt-4o", "gpt-4o"},
        {"chatgpt-4o", "gpt-4o"},
        {"gpt-4-", "gpt-4"},
        {"gpt-oss", "harmony"},
        {"text-", NULL},
        {"davinci-002", NULL},
        {"babbage-002", NULL},
    };
    /* For other models: by their encoding. */
    static const struct {
        const char *encoding, *rules;
    } others[] = {{"cl100k_base", "gpt-4"}, {"o200k_base", "gpt-4o"}, {"o200k_harmony", "harmony"}};
    *is_published = true;
    const char *name = model ? begins(model, "ft:") ? model + 3 : model : "";
    if (strcmp(name, "gpt-4") == 0)
        return "gpt-4";
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (begins(name, families[i].prefix))
            return families[i].rules;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(encoding, others[i].encoding) == 0) {
            *is_published = strcmp(others[i].rules, "harmony") == 0; /* the encoding has no other use */
            return others[i].rules;
        }
    return NULL;
}

/* What counts the texts of one part. */
typedef struct text_counter {
    tik_chat *chat;
    tik_chat_part *part;
} text_counter;

static tik_status count_text(void *context, const char *text, size_t length, tik_error *error)
{
    static const tik_options ordinary = TIK_OPTIONS_ORDINARY;
    text_counter *counter = context;
    size_t tokens;
    tik_status status = tik_encoder_count(counter->chat->encoder, text, length, &ordinary, &tokens, error);
    if (status != TIK_OK)
        return status;
    counter->part->text_tokens += tokens;
    return TIK_OK;
}

static tik_status count_string(text_counter *counter, const char *text, tik_error *error)
{
    return text ? count_text(counter, text, strlen(text), error) : TIK_OK;
}

/* ---- Messages ------------------------------------------------------------------------------ */

/* The function that a message calls, and with what: their texts, since no rule for their form is published. */
static tik_status count_call(text_counter *counter, const json_t *function, tik_error *error)
{
    const json_t *arguments = json_object_get(function, "arguments");
    tik_status status = count_string(counter, tik_chat_text(function, "name"), error);
    if (!counter->part->name)
        counter->part->name = tik_chat_text(function, "name");
    if (status == TIK_OK && json_is_string(arguments))
        status = count_text(counter, json_string_value(arguments), json_string_length(arguments), error);
    return status;
}

static tik_status count_calls(text_counter *counter, size_t index, const json_t *message, tik_error *error)
{
    size_t i;
    json_t *call;
    const json_t *calls = json_object_get(message, "tool_calls");
    const json_t *old = json_object_get(message, "function_call");
    tik_status status = json_is_object(old) ? count_call(counter, old, error) : TIK_OK;
    json_array_foreach((json_t *)(uintptr_t)calls, i, call)
    {
        const json_t *function = json_is_object(call) ? tik_chat_function(call) : NULL;
        if (status == TIK_OK && function)
            status = count_call(counter, function, error);
    }
    if (status != TIK_OK || (!json_is_object(old) && json_array_size(calls) == 0))
        return status;
    return tik_chat_add_note(counter->chat, TIK_CHAT_NOT_COUNTED, index, error,
                             "the form of its function calls: their names and arguments alone are counted");
}

/* The first text of a message, for those who look at the parts. */
static void show_text(tik_chat_part *part, const json_t *content)
{
    const json_t *text = json_is_string(content) ? content : json_object_get(json_array_get(content, 0), "text");
    if (!json_is_string(text))
        return;
    part->text = json_string_value(text);
    part->text_length = json_string_length(text);
}

static tik_status count_message(tik_chat *chat, const counting_rules *rules, size_t index, const json_t *message,
                                tik_error *error)
{
    static const char *const known[] = {"role", "content", "name", "tool_calls", "function_call", NULL};
    const json_t *content = json_object_get(message, "content");
    tik_chat_part part = {
        .kind = TIK_CHAT_MESSAGE,
        .message = index,
        .role = tik_chat_text(message, "role"),
        .name = tik_chat_text(message, "name"),
    };
    text_counter counter = {chat, &part};
    size_t form = (size_t)rules->message;
    tik_status status = count_string(&counter, part.role, error);
    if (status == TIK_OK && part.name) {
        form = (size_t)(rules->message + rules->author);
        status = count_string(&counter, part.name, error);
    }
    show_text(&part, content);
    if (status == TIK_OK)
        status = tik_chat_content(chat, index, content, count_text, &counter, error);
    if (status == TIK_OK)
        status = count_calls(&counter, index, message, error);
    if (status == TIK_OK)
        status = tik_chat_note_members(chat, index, message, known, error);
    part.tokens = part.text_tokens + form;
    return status == TIK_OK ? tik_chat_add_part(chat, &part, error) : status;
}

/* ---- Definitions of functions -------------------------------------------------------------- */

/* Counts texts joined by colons; the last, a description, without its full stop. */
static tik_status count_line(text_counter *counter, const char *const *texts, size_t count, tik_error *error)
{
    tik_bytes line = TIK_BYTES_INIT;
    tik_status status = TIK_OK;
    for (size_t i = 0; status == TIK_OK && i < count; i++) {
        const char *text = texts[i] ? texts[i] : "";
        size_t length = strlen(text);
        if (i + 1 == count && length > 0 && text[length - 1] == '.')
            length--;
        if (i > 0)
            status = tik_bytes_append(&line, ":", 1, error);
        if (status == TIK_OK)
            status = tik_bytes_append(&line, text, length, error);
    }
    if (status == TIK_OK)
        status = count_text(counter, line.data ? line.data : "", line.length, error);
    tik_bytes_free(&line);
    return status;
}

/* Counts a parameter; `*is_covered` becomes false if the rules don't speak of all that it has. */
static tik_status count_property(text_counter *counter, const counting_rules *rules, const char *name,
                                 const json_t *property, long *form, bool *is_covered, tik_error *error)
{
    static const char *const spoken_of[] = {"type", "description", "enum"};
    const char *const line[] = {name, tik_chat_text(property, "type"), tik_chat_text(property, "description")};
    const json_t *choices = json_object_get(property, "enum");
    size_t members = 0;
    for (size_t i = 0; i < sizeof spoken_of / sizeof spoken_of[0]; i++)
        members += json_object_get(property, spoken_of[i]) != NULL;
    *is_covered &= line[1] && line[2] && members == json_object_size(property);
    *form += rules->property;
    tik_status status = count_line(counter, line, 3, error);
    if (!json_is_array(choices))
        return status;
    size_t i;
    json_t *choice;
    *form += rules->choices;
    json_array_foreach((json_t *)(uintptr_t)choices, i, choice)
    {
        *form += rules->choice;
        *is_covered &= json_is_string(choice);
        if (status == TIK_OK && json_is_string(choice))
            status = count_text(counter, json_string_value(choice), json_string_length(choice), error);
    }
    return status;
}

static tik_status count_function(text_counter *counter, const counting_rules *rules, const json_t *function, long *form,
                                 tik_error *error)
{
    const char *const line[] = {tik_chat_text(function, "name"), tik_chat_text(function, "description")};
    const json_t *properties = json_object_get(json_object_get(function, "parameters"), "properties");
    bool is_covered = line[1] != NULL;
    if (!line[0])
        return tik_fail(error, TIK_ERROR_FORMAT, "\"tools\": a function has no \"name\"");
    *form += rules->function;
    tik_status status = count_line(counter, line, 2, error);
    if (json_object_size(properties) > 0)
        *form += rules->properties;
    const char *name;
    json_t *property;
    json_object_foreach((json_t *)(uintptr_t)properties, name, property)
        if (status == TIK_OK)
            status = count_property(counter, rules, name, property, form, &is_covered, error);
    if (status != TIK_OK || is_covered)
        return status;
    return tik_chat_add_note(counter->chat, TIK_CHAT_NOT_COUNTED, TIK_CHAT_NO_MESSAGE, error,
                             "of function %.60s what the rules do not speak of: they know descriptions, types and "
                             "choices of parameters, not nested ones, defaults or bounds",
                             line[0]);
}

static tik_status count_functions(tik_chat *chat, const counting_rules *rules, tik_error *error)
{
    size_t i;
    json_t *entry;
    const json_t *definitions = tik_chat_definitions(chat);
    tik_chat_part part = {.kind = TIK_CHAT_TOOLS, .message = TIK_CHAT_NO_MESSAGE};
    text_counter counter = {chat, &part};
    tik_status status = TIK_OK;
    long form = rules->functions_end;
    if (!tik_chat_has_functions(chat))
        return TIK_OK;
    json_array_foreach((json_t *)(uintptr_t)definitions, i, entry)
    {
        const json_t *function = tik_chat_function(entry);
        if (status == TIK_OK && function)
            status = count_function(&counter, rules, function, &form, error);
    }
    part.tokens = part.text_tokens + (size_t)form;
    return status == TIK_OK ? tik_chat_add_part(chat, &part, error) : status;
}

tik_status tik_chat_count(tik_chat *chat, tik_error *error)
{
    const counting_rules *rules = all_rules;
    while (strcmp(rules->name, chat->rules) != 0)
        rules++;
    size_t i;
    json_t *message;
    tik_status status = TIK_OK;
    json_array_foreach((json_t *)(uintptr_t)chat->messages, i, message)
        if (status == TIK_OK)
            status = count_message(chat, rules, i, message, error);
    if (status == TIK_OK)
        status = count_functions(chat, rules, error);
    const tik_chat_part reply = {.kind = TIK_CHAT_REPLY, .message = TIK_CHAT_NO_MESSAGE, .tokens = REPLY};
    return status == TIK_OK ? tik_chat_add_part(chat, &reply, error) : status;
}
