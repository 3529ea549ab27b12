/* tik chat: the tokens of a chat request before it is sent, message by message. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

enum { IDS = CLI_OWN, DATE };

static const cli_option options[] = {
    {'m', "model", "MODEL", "as for this model, whatever the request names"},
    {'e', "encoding", "ENCODING", "count in this encoding, whatever the model"},
    {IDS, "ids", NULL, "the ids of the request in the harmony format of gpt-oss, as tik encode writes ids"},
    {DATE, "date", "YYYY-MM-DD", "what harmony's system message says is the current date; it says none if not given"},
    CLI_OPTION_JSON,
    CLI_OPTIONS_END,
};

static const cli_example examples[] = {
    {"tik chat request.json", "The request's tokens, message by message."},
    {"tik chat -m gpt-4 --json < messages.json", "An array of messages, counted for gpt-4."},
    {"tik chat -m gpt-oss-20b --ids request.json", "The very ids that a gpt-oss model gets."},
    {NULL, NULL},
};

static const char *const note_kinds[] = {"not counted", "assumed", "special"};
static const char *const note_names[] = {"not_counted", "assumed", "special_text"};
static const char *const part_names[] = {"message", "tools", "system", "reply"};

/* What the options of this call ask for. */
typedef struct chat_wish {
    bool ids;
    tik_chat_options options;
} chat_wish;

static bool is_date(const char *text)
{
    static const char form[] = "0000-00-00";
    size_t i = 0;
    while (form[i] && (form[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == '-'))
        i++;
    return !form[i] && !text[i];
}

static bool take_options(cli_call *call, chat_wish *wish)
{
    for (int option; (option = cli_next_option(call)) != CLI_NO_MORE_OPTIONS;) {
        if (option == CLI_BAD_OPTION)
            return false;
        wish->ids |= option == IDS;
        if (option != DATE)
            continue;
        wish->options.date = call->argument;
        if (!is_date(call->argument)) {
            cli_say("chat: '%s' is not a date, as 2026-11-30", call->argument);
            return false;
        }
    }
    if (call->operand_count > 1 || call->models.length > 1 || call->encodings.length > 1) {
        cli_say("chat: takes one request, one model, one encoding");
        return false;
    }
    if (wish->ids && call->json) {
        cli_say("chat: --json has the ids too: give one of --ids and --json");
        return false;
    }
    wish->options.model = call->model;
    wish->options.encoding = call->encodings.length > 0 ? call->encodings.data[0] : NULL;
    return true;
}

/* ---- For people ---------------------------------------------------------------------------- */

/* As much of a text as fits, on one line: control characters as spaces, no character cut. */
static void out_beginning(const char *text, size_t length, size_t room)
{
    size_t columns = 0;
    size_t end = 0;
    while (end < length && columns < room) {
        size_t next = end + 1;
        while (next < length && ((unsigned char)text[next] & 0xC0) == 0x80)
            next++;
        if ((unsigned char)text[end] < ' ' || text[end] == 0x7F)
            cli_out_char(' ');
        else
            cli_out(text + end, next - end);
        end = next;
        columns++;
    }
    if (end < length)
        cli_out_text("...");
}

/* Who wrote it, in at most `room` bytes. */
static void author(const tik_chat_part *part, char *text, size_t room)
{
    static const char *const others[] = {"", "functions", "", "reply begins"};
    if (part->role && part->name)
        snprintf(text, room, "%s %s", part->role, part->name);
    else
        snprintf(text, room, "%s", part->role ? part->role : others[part->kind]);
}

static void out_table(const tik_chat *chat)
{
    enum { AUTHOR = 24, TEXT = 38 };
    tik_chat_part part;
    cli_out_printf("%4s  %-*s %7s  TEXT\n", "", AUTHOR, "MESSAGE", "TOKENS");
    for (size_t i = 0; tik_chat_part_at(chat, i, &part); i++) {
        char who[AUTHOR + 1];
        char place[24] = "";
        author(&part, who, sizeof who);
        if (part.message != SIZE_MAX)
            snprintf(place, sizeof place, "%zu", part.message);
        cli_out_printf("%4s  %-*s %7zu", place, AUTHOR, who, part.tokens);
        if (part.text_length > 0) {
            cli_out_text("  ");
            out_beginning(part.text, part.text_length, TEXT - 3);
        }
        cli_out_char('\n');
    }
    const char *model = tik_chat_model(chat);
    cli_out_printf("%4s  %-*s %7zu  %s, %s%s\n", "", AUTHOR, "total", tik_chat_tokens(chat),
                   model ? model : "no model", tik_chat_encoding(chat),
                   strcmp(tik_chat_rules(chat), "harmony") == 0 ? ", harmony" : "");
}

/* Says what is special, on standard error: how many notes say that something is not counted. */
static size_t say_notes(const tik_chat *chat)
{
    size_t not_counted = 0;
    tik_chat_note note;
    for (size_t i = 0; tik_chat_note_at(chat, i, &note); i++) {
        not_counted += note.kind == TIK_CHAT_NOT_COUNTED;
        if (note.message != SIZE_MAX)
            cli_say("%s: message %zu: %s", note_kinds[note.kind], note.message, note.text);
        else
            cli_say("%s: %s", note_kinds[note.kind], note.text);
    }
    return not_counted;
}

/* ---- For programs -------------------------------------------------------------------------- */

static json_t *place(size_t message)
{
    return message == SIZE_MAX ? json_null() : json_integer((json_int_t)message);
}

static void out_json(const tik_chat *chat)
{
    json_t *parts = json_array();
    json_t *notes = json_array();
    tik_chat_part part;
    tik_chat_note note;
    bool is_complete = true;
    for (size_t i = 0; tik_chat_part_at(chat, i, &part); i++)
        json_array_append_new(parts, json_pack("{s:s, s:o, s:s?, s:s?, s:I, s:I}", "kind", part_names[part.kind],
                                               "message", place(part.message), "role", part.role, "name", part.name,
                                               "tokens", (json_int_t)part.tokens, "text_tokens",
                                               (json_int_t)part.text_tokens));
    for (size_t i = 0; tik_chat_note_at(chat, i, &note); i++) {
        is_complete &= note.kind != TIK_CHAT_NOT_COUNTED;
        json_array_append_new(notes, json_pack("{s:s, s:o, s:o}", "kind", note_names[note.kind], "message",
                                               place(note.message), "text",
                                               cli_json_string(note.text, strlen(note.text))));
    }
    json_t *document = json_pack("{s:s?, s:s, s:s, s:I, s:b, s:o, s:o}", "model", tik_chat_model(chat), "encoding",
                                 tik_chat_encoding(chat), "rules", tik_chat_rules(chat), "tokens",
                                 (json_int_t)tik_chat_tokens(chat), "complete", is_complete, "parts", parts, "notes",
                                 notes);
    size_t count;
    const uint32_t *ids = tik_chat_ids(chat, &count);
    if (ids) {
        json_t *list = json_array();
        for (size_t i = 0; i < count; i++)
            json_array_append_new(list, json_integer((json_int_t)ids[i]));
        json_object_set_new(document, "ids", list);
    }
    cli_out_json_document(document);
}

/* ---- The run ------------------------------------------------------------------------------- */

static int out_ids(const tik_chat *chat, size_t not_counted)
{
    size_t count;
    const uint32_t *ids = tik_chat_ids(chat, &count);
    if (!ids) {
        cli_say("chat: only the harmony format of gpt-oss gives ids: the rules of %s give a number", tik_chat_rules(chat));
        return CLI_WRONG;
    }
    if (not_counted > 0) {
        cli_say("chat: what is not counted can't be rendered: there are no ids of the whole request");
        return CLI_WRONG;
    }
    cli_out_ids(ids, count, ' ', false);
    cli_out_char('\n');
    return CLI_DONE;
}

static int report(cli_call *call, const chat_wish *wish, const tik_chat *chat)
{
    if (call->json) {
        out_json(chat);
        return CLI_DONE;
    }
    if (wish->ids)
        return out_ids(chat, say_notes(chat));
    out_table(chat);
    cli_out_flush();
    say_notes(chat);
    return CLI_DONE;
}

static int run(cli_call *call)
{
    chat_wish wish = {.options = TIK_CHAT_OPTIONS_INIT};
    cli_source source;
    if (!take_options(call, &wish))
        return CLI_WRONG;
    const char *name = call->operand_count > 0 ? call->operands[0] : "-";
    if (!cli_read_whole(call, &source, name))
        return CLI_WRONG;
    tik_chat *chat = NULL;
    tik_error error;
    int status = CLI_WRONG;
    if (tik_chat_read(source.data, source.length, &wish.options, &chat, &error) == TIK_OK)
        status = report(call, &wish, chat);
    else
        cli_blame(call, name, "%s%s", error.message, error.status == TIK_ERROR_ARGUMENT && !call->model ? " with -m" : "");
    tik_chat_free(chat);
    cli_source_close(&source);
    return status;
}

const cli_command cli_chat = {
    .name = "chat",
    .operands = "[FILE]",
    .summary = "Tokens of a chat request, message by message",
    .description =
        "Reads a request as it is sent to the API (JSON with model, messages, tools), or just an array of messages, "
        "and counts its tokens: for the gpt-3.5, gpt-4 and gpt-4o families by the rules that OpenAI has published, for "
        "gpt-oss by rendering it in the harmony format. A request for gpt-oss may also be a conversation with "
        "channels, as the package openai-harmony writes it.\n\n"
        "What no published rule covers, as images, sounds, files and reasoning, is never guessed: standard error says "
        "what is not counted, and what is counted by a rule that was published for something else. Text that looks "
        "like a special token is pointed out. In JSON these are the notes, and complete is false if something is not "
        "counted.",
    .options = options,
    .examples = examples,
    .run = run,
};
