/* tik truncate: the longest beginning or end of a text that has at most N tokens. */
#include <string.h>

#include "cli.h"

enum { TOKENS = 'n', FROM = CLI_OWN };

static const cli_option options[] = {
    {TOKENS, "tokens", "N", "keep at most N tokens; must be given"},
    {FROM, "from", "start|end", "keep the beginning (default) or the end"},
    CLI_OPTIONS_CUT,
    CLI_OPTIONS_ENCODING,
    CLI_OPTIONS_TEXT,
    {CLI_JSON, "json", NULL, "text, tokens, start and end (byte offsets) as JSON"},
    CLI_OPTIONS_END,
};

static const cli_example examples[] = {
    {"tik truncate -n 1000 report.txt", "The first 1000 tokens, never ending within a character."},
    {"tail -f log | tik truncate -n 500", "Reads no more than it takes."},
    {"tik truncate -n 4000 --from end --at line chat.log", "The last lines that fit in 4000 tokens."},
    {NULL, NULL},
};

typedef struct truncate_wish {
    size_t tokens;
    bool given;
    tik_end keep;
} truncate_wish;

static void out_part(const cli_call *call, const char *text, size_t start, size_t end, size_t tokens)
{
    if (call->json)
        cli_out_json(json_pack("{s:o, s:I, s:I, s:I}", "text", cli_json_string(text, end - start), "tokens",
                               (json_int_t)tokens, "start", (json_int_t)start, "end", (json_int_t)end));
    else
        cli_out(text, end - start);
}

/* The beginning is the first chunk: nothing after it is read. */
static tik_status keep_beginning(const cli_call *call, const tik_encoding *encoding, size_t limit,
                                 cli_source *source, tik_error *error)
{
    tik_chunker *chunker = NULL;
    tik_chunk chunk = {.text = ""};
    bool found = false;
    const char *slice;
    size_t length;
    tik_status status = tik_chunker_new(encoding, limit, 0, &call->cut, &chunker, error);
    while (status == TIK_OK && !found && cli_source_next(source, &slice, &length)) {
        status = tik_chunker_feed(chunker, slice, length, error);
        if (status == TIK_OK)
            status = tik_chunker_next(chunker, &chunk, &found, error);
    }
    if (status == TIK_OK && !found && !source->failed)
        status = tik_chunker_finish(chunker, error);
    if (status == TIK_OK && !found && !source->failed)
        status = tik_chunker_next(chunker, &chunk, &found, error);
    if (status == TIK_OK && !source->failed)
        out_part(call, chunk.text, chunk.start, chunk.end, chunk.tokens);
    tik_chunker_free(chunker);
    return status;
}

static tik_status keep_end(const cli_call *call, const tik_encoding *encoding, size_t limit, const cli_source *source,
                           tik_error *error)
{
    size_t start;
    size_t end;
    size_t tokens;
    tik_status status = tik_truncate(encoding, source->data, source->length, limit, TIK_KEEP_END, &call->cut, &start,
                                     &end, &tokens, error);
    if (status == TIK_OK)
        out_part(call, source->data + start, start, end, tokens);
    return status;
}

static void truncate_input(cli_call *call, const tik_encoding *encoding, const truncate_wish *wish, const char *name)
{
    cli_source source;
    tik_error error;
    tik_status status = TIK_OK;
    if (wish->keep == TIK_KEEP_END) {
        if (!cli_read_text(call, &source, name))
            return;
        status = keep_end(call, encoding, wish->tokens, &source, &error);
    } else if (!cli_source_open(&source, name)) {
        cli_blame(call, name, "%s", source.reason);
    } else if (wish->tokens == 0) {
        out_part(call, "", 0, 0, 0);
    } else {
        status = keep_beginning(call, encoding, wish->tokens, &source, &error);
        if (source.failed)
            cli_blame(call, name, "%s", source.reason);
    }
    if (status != TIK_OK)
        cli_blame(call, name, "%s", error.message);
    cli_out_flush();
    cli_source_close(&source);
}

static int run(cli_call *call)
{
    static const char *const ends[] = {"start", "end", NULL};
    truncate_wish wish = {0};
    for (int option; (option = cli_next_option(call)) != CLI_NO_MORE_OPTIONS;) {
        int keep = 0;
        if (option == CLI_BAD_OPTION || (option == TOKENS && !cli_number(call, 0, SIZE_MAX, &wish.tokens)) ||
            (option == FROM && (keep = cli_choice(call, ends)) < 0))
            return CLI_WRONG;
        wish.given |= option == TOKENS;
        if (option == FROM)
            wish.keep = (tik_end)keep;
    }
    if (!wish.given || call->operand_count > 1) {
        cli_say(wish.given ? "truncate: takes one file" : "truncate: say how many tokens to keep: -n N");
        return CLI_WRONG;
    }
    tik_encoding *encoding = cli_open_encoding(call);
    if (!encoding)
        return CLI_WRONG;
    truncate_input(call, encoding, &wish, call->operand_count > 0 ? call->operands[0] : "-");
    tik_close(encoding);
    return CLI_DONE;
}

const cli_command cli_truncate = {
    .name = "truncate",
    .operands = "[FILE]",
    .summary = "The longest part of a text that has at most N tokens",
    .description = "Writes the longest beginning of the text (or end, with --from end) that ends between two "
                   "characters and has at most N tokens when it is encoded by itself, byte for byte. If not even one "
                   "character fits, says how many tokens it takes; the status is then 2.",
    .options = options,
    .examples = examples,
    .run = run,
};
