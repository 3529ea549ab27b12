/* tik chunk: texts cut into parts of at most N tokens, streamed. */
#include <string.h>

#include "cli.h"

enum { TOKENS = 'n', NUL = '0', FORMAT = 'f', OVERLAP = CLI_OWN };

static const cli_option options[] = {
    {TOKENS, "tokens", "N", "at most N tokens in a chunk; must be given"},
    {OVERLAP, "overlap", "K", "begin each chunk with up to K tokens of the one before it"},
    CLI_OPTIONS_CUT,
    {FORMAT, "format", "plain|jsonl", "chunks as they are, a newline after each (default), or JSON Lines"},
    {NUL, "null", NULL, "plain chunks with a zero byte between them instead of newlines"},
    {CLI_JSON, "json", NULL, "the same as --format jsonl"},
    CLI_OPTIONS_ENCODING,
    CLI_OPTIONS_TEXT,
    CLI_OPTIONS_FILES,
    CLI_OPTION_QUIET,
    CLI_OPTIONS_END,
};

static const cli_example examples[] = {
    {"tik chunk -n 512 --overlap 64 --format jsonl book.txt > chunks.jsonl",
     "One JSON object a line: text, tokens, start and end in bytes, and in characters."},
    {"tik chunk -n 8000 --at paragraph -0 notes.md | xargs -0 -n 1 ./summarize",
     "Each chunk, cut between paragraphs, as an argument."},
    {NULL, NULL},
};

enum { PLAIN, JSONL };

typedef struct chunk_wish {
    size_t tokens;
    size_t overlap;
    int format;
    bool nul;
    bool named; /* more than one file: each chunk says which */
    size_t written;
} chunk_wish;

static void out_chunk(chunk_wish *wish, const tik_chunk *chunk, const char *name)
{
    if (wish->format == JSONL) {
        json_t *object = json_pack(
            "{s:o, s:I, s:I, s:I, s:I, s:I}", "text", cli_json_string(chunk->text, chunk->length), "tokens",
            (json_int_t)chunk->tokens, "start", (json_int_t)chunk->start, "end", (json_int_t)chunk->end,
            "start_character", (json_int_t)chunk->start_character, "end_character", (json_int_t)chunk->end_character);
        if (wish->named && object)
            json_object_set_new(object, "file", cli_json_string(name, strlen(name)));
        cli_out_json(object);
    } else {
        if (wish->nul && wish->written > 0)
            cli_out_char('\0');
        cli_out(chunk->text, chunk->length);
        if (!wish->nul)
            cli_out_char('\n');
    }
    wish->written++;
}

/* Writes the chunks that are certain by now. */
static tik_status out_chunks(tik_chunker *chunker, chunk_wish *wish, const char *name, tik_error *error)
{
    for (;;) {
        tik_chunk chunk;
        bool found;
        tik_status status = tik_chunker_next(chunker, &chunk, &found, error);
        if (status != TIK_OK || !found)
            return status;
        out_chunk(wish, &chunk, name);
    }
}

static tik_status chunk_source(tik_chunker *chunker, cli_source *source, chunk_wish *wish, tik_error *error)
{
    tik_status status = TIK_OK;
    const char *slice;
    size_t length;
    while (status == TIK_OK && cli_source_next(source, &slice, &length)) {
        status = tik_chunker_feed(chunker, slice, length, error);
        if (status == TIK_OK)
            status = out_chunks(chunker, wish, source->name, error);
    }
    if (status == TIK_OK && !source->failed)
        status = tik_chunker_finish(chunker, error);
    if (status == TIK_OK && !source->failed)
        status = out_chunks(chunker, wish, source->name, error);
    return status;
}

static void chunk_input(cli_call *call, const tik_encoding *encoding, chunk_wish *wish, const char *name)
{
    tik_error error;
    tik_chunker *chunker = NULL;
    cli_source source;
    if (!cli_source_open(&source, name))
        cli_blame(call, name, "%s", source.reason);
    else if (call->recursive && source.whole && cli_looks_binary(source.data, source.length))
        cli_say("%s: binary, left out", name);
    else if (tik_chunker_new(encoding, wish->tokens, wish->overlap, &call->cut, &chunker, &error) != TIK_OK ||
             chunk_source(chunker, &source, wish, &error) != TIK_OK)
        cli_blame(call, name, "%s", error.message);
    else if (source.failed)
        cli_blame(call, name, "%s", source.reason);
    tik_chunker_free(chunker);
    cli_source_close(&source);
}

static bool take_options(cli_call *call, chunk_wish *wish)
{
    static const char *const formats[] = {"plain", "jsonl", NULL};
    for (int option; (option = cli_next_option(call)) != CLI_NO_MORE_OPTIONS;) {
        if (option == CLI_BAD_OPTION || (option == TOKENS && !cli_number(call, 1, SIZE_MAX, &wish->tokens)) ||
            (option == OVERLAP && !cli_number(call, 0, SIZE_MAX, &wish->overlap)) ||
            (option == FORMAT && (wish->format = cli_choice(call, formats)) < 0))
            return false;
        wish->nul |= option == NUL;
    }
    if (call->json)
        wish->format = JSONL;
    if (wish->tokens == 0)
        cli_say("chunk: say how many tokens a chunk may have: -n N");
    else if (wish->overlap >= wish->tokens)
        cli_say("chunk: --overlap must be less than -n: %zu tokens of %zu leave nothing new", wish->overlap,
                wish->tokens);
    else if (wish->nul && wish->format == JSONL)
        cli_say("chunk: -0 is for plain chunks, not for JSON Lines");
    else
        return true;
    return false;
}

static int run(cli_call *call)
{
    chunk_wish wish = {0};
    cli_names names = {0};
    if (!take_options(call, &wish))
        return CLI_WRONG;
    int status = CLI_WRONG;
    tik_encoding *encoding = cli_open_encoding(call);
    if (encoding && cli_inputs(call, &names)) {
        wish.named = names.length > 1;
        cli_progress_begin(call, "chunking", cli_sizes(&names), true);
        for (size_t i = 0; i < names.length; i++)
            chunk_input(call, encoding, &wish, names.data[i]);
        status = CLI_DONE;
    }
    cli_inputs_free(&names);
    tik_close(encoding);
    return status;
}

const cli_command cli_chunk = {
    .name = "chunk",
    .operands = "[FILE]...",
    .summary = "A text cut into parts of at most N tokens",
    .description = "Cuts texts of any length into chunks in bounded memory. No chunk has more than N tokens when it "
                   "is encoded by itself, and no character is cut; without --overlap the chunks joined are the text. If "
                   "one character takes more than N tokens, says how many; the status is then 2.\n\n"
                   "With --format jsonl each chunk is an object with text, tokens, start, end (byte offsets), "
                   "start_character and end_character; with more than one file, also file.",
    .options = options,
    .examples = examples,
    .run = run,
};
