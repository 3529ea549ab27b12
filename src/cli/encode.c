/* tik encode: text to ids, streamed, so that memory stays bounded however long the text. */
#include "cli.h"

enum { FORMAT = 'f' };

static const cli_option options[] = {
    CLI_OPTIONS_ENCODING,
    {FORMAT, "format", "plain|json|u32le", "decimal with spaces (default), a JSON array, raw 32-bit ids"},
    {CLI_JSON, "json", NULL, "the same as --format json"},
    CLI_OPTIONS_FILES,
    CLI_OPTIONS_TEXT,
    CLI_OPTIONS_END,
};

static const cli_example examples[] = {
    {"printf 'hello world' | tik encode -e cl100k_base", "Prints 15339 1917."},
    {"tik encode --format json notes.txt", "A JSON array of ids."},
    {"tik encode --format u32le book.txt > book.ids", "Raw little-endian 32-bit ids, four bytes each."},
    {NULL, NULL},
};

static void out_u32le(const uint32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char bytes[4] = {(unsigned char)ids[i], (unsigned char)(ids[i] >> 8), (unsigned char)(ids[i] >> 16),
                                  (unsigned char)(ids[i] >> 24)};
        cli_out(bytes, sizeof bytes);
    }
}

/* Writes what has come and empties `ids`. */
static void out_ids(tik_ids *ids, int format, bool *begun)
{
    if (format == CLI_IDS_U32LE)
        out_u32le(ids->data, ids->length);
    else
        cli_out_ids(ids->data, ids->length, format == CLI_IDS_JSON ? ',' : ' ', *begun);
    *begun |= ids->length > 0;
    ids->length = 0;
}

static tik_status encode_source(tik_stream *stream, cli_source *source, int format, tik_ids *ids, tik_error *error)
{
    bool begun = false;
    if (format == CLI_IDS_JSON)
        cli_out_char('[');
    tik_status status = TIK_OK;
    const char *slice;
    size_t length;
    while (status == TIK_OK && cli_source_next(source, &slice, &length)) {
        status = tik_stream_feed(stream, slice, length, ids, error);
        if (status == TIK_OK)
            out_ids(ids, format, &begun);
    }
    if (status == TIK_OK && !source->failed)
        status = tik_stream_finish(stream, ids, error);
    if (status != TIK_OK)
        return status;
    out_ids(ids, format, &begun);
    if (format == CLI_IDS_JSON)
        cli_out_char(']');
    if (format != CLI_IDS_U32LE)
        cli_out_char('\n');
    return TIK_OK;
}

static void encode_input(cli_call *call, const tik_encoding *encoding, const char *name, int format, tik_ids *ids)
{
    tik_error error = {0};
    tik_stream *stream = NULL;
    cli_source source;
    if (!cli_source_open(&source, name)) {
        cli_blame(call, name, "%s", source.reason);
    } else if (call->recursive && source.whole && cli_looks_binary(source.data, source.length)) {
        cli_say("%s: binary, left out", name);
    } else if (tik_stream_new(encoding, &call->options, &stream, &error) != TIK_OK ||
               encode_source(stream, &source, format, ids, &error) != TIK_OK || source.failed) {
        cli_out_discard();
        cli_blame(call, name, "%s", source.failed ? source.reason : error.message);
    } else if (tik_stream_dropped(stream) > 0) {
        cli_say("%s: %zu bytes are covered by no piece of the pattern and left out", cli_display_name(name),
                tik_stream_dropped(stream));
    }
    cli_out_flush();
    tik_stream_free(stream);
    cli_source_close(&source);
}

static int encode_all(cli_call *call, int format)
{
    cli_names names = {0};
    int status = CLI_WRONG;
    tik_encoding *encoding = cli_open_encoding(call);
    if (encoding && cli_inputs(call, &names)) {
        tik_ids ids = TIK_IDS_INIT;
        for (size_t i = 0; i < names.length; i++)
            encode_input(call, encoding, names.data[i], format, &ids);
        tik_ids_free(&ids);
        status = CLI_DONE;
    }
    cli_inputs_free(&names);
    tik_close(encoding);
    return status;
}

static int run(cli_call *call)
{
    int format = CLI_IDS_PLAIN;
    for (int option; (option = cli_next_option(call)) != CLI_NO_MORE_OPTIONS;)
        if (option == CLI_BAD_OPTION || (format = cli_choice(call, cli_id_formats)) < 0)
            return CLI_WRONG;
    return encode_all(call, call->json ? CLI_IDS_JSON : format);
}

const cli_command cli_encode = {
    .name = "encode",
    .operands = "[FILE]...",
    .summary = "Text to token ids",
    .description = "Prints the ids of each text: in decimal with one space between and a newline at the end, as a "
                   "JSON array, or raw. Each file is a text of its own and gets a line of its own.",
    .options = options,
    .examples = examples,
    .run = run,
};
