/* tik decode: ids to text. Reads strictly what tik encode prints, in any of its formats. */
#include "cli.h"

enum { FORMAT = 'f' };

static const cli_option options[] = {
    CLI_OPTIONS_ENCODING,
    {FORMAT, "format", "plain|json|u32le", "what the ids are in; plain decimal if not given"},
    CLI_OPTION_QUIET,
    CLI_OPTIONS_END,
};

static const cli_example examples[] = {
    {"echo 15339 1917 | tik decode -e cl100k_base", "Prints hello world, and no newline."},
    {"tik encode < notes.txt | tik decode | cmp - notes.txt", "The bytes come back as they were."},
    {NULL, NULL},
};

/* Ids are decoded in lots, so that memory stays bounded. */
enum { LOT = 1 << 16 };

typedef struct decode_lot {
    cli_call *call;
    const tik_encoding *encoding;
    const char *name; /* of the input */
    size_t before;    /* ids in earlier lots */
    size_t length;
    uint32_t ids[LOT];
    tik_bytes text;
} decode_lot;

static bool decode_now(decode_lot *lot)
{
    tik_error error;
    lot->text.length = 0;
    if (tik_decode(lot->encoding, lot->ids, lot->length, TIK_DECODE_BYTES, &lot->text, &error) != TIK_OK) {
        if (error.status == TIK_ERROR_ID && error.offset < lot->length)
            cli_blame(lot->call, lot->name, "id %u (number %zu of the ids) is no token of %s",
                      (unsigned)lot->ids[error.offset], lot->before + error.offset + 1, tik_name(lot->encoding));
        else
            cli_blame(lot->call, lot->name, "%s", error.message);
        return false;
    }
    cli_out(lot->text.data, lot->text.length);
    lot->before += lot->length;
    lot->length = 0;
    return true;
}

static bool take_id(void *context, uint32_t id)
{
    decode_lot *lot = context;
    lot->ids[lot->length++] = id;
    return lot->length < LOT || decode_now(lot);
}

static bool decode_source(decode_lot *lot, cli_source *source, int format)
{
    cli_id_reader reader = {.format = format, .take = take_id, .context = lot};
    const char *slice;
    size_t length;
    while (cli_source_next(source, &slice, &length))
        if (!cli_read_ids(&reader, slice, length))
            break;
    if (source->failed)
        cli_blame(lot->call, lot->name, "%s", source->reason);
    else if (lot->call->status == CLI_DONE && !reader.reason[0] && cli_finish_ids(&reader))
        return decode_now(lot);
    if (reader.reason[0])
        cli_blame(lot->call, lot->name, "%s", reader.reason);
    return false;
}

static int decode_all(cli_call *call, const tik_encoding *encoding, int format)
{
    static decode_lot lot;
    cli_names names = {0};
    if (!cli_inputs(call, &names))
        return CLI_WRONG;
    cli_progress_begin(call, "decoding", cli_sizes(&names), true);
    for (size_t i = 0; i < names.length; i++) {
        cli_source source;
        lot.call = call;
        lot.encoding = encoding;
        lot.name = names.data[i];
        lot.before = lot.length = 0;
        if (!cli_source_open(&source, names.data[i]))
            cli_blame(call, names.data[i], "%s", source.reason);
        else if (!decode_source(&lot, &source, format))
            cli_out_discard();
        cli_out_flush();
        cli_source_close(&source);
    }
    tik_bytes_free(&lot.text);
    cli_inputs_free(&names);
    return CLI_DONE;
}

static int run(cli_call *call)
{
    int format = CLI_IDS_PLAIN;
    for (int option; (option = cli_next_option(call)) != CLI_NO_MORE_OPTIONS;)
        if (option == CLI_BAD_OPTION || (format = cli_choice(call, cli_id_formats)) < 0)
            return CLI_WRONG;
    tik_encoding *encoding = cli_open_encoding(call);
    int status = encoding ? decode_all(call, encoding, format) : CLI_WRONG;
    tik_close(encoding);
    return status;
}

const cli_command cli_decode = {
    .name = "decode",
    .operands = "[FILE]...",
    .summary = "Token ids to text",
    .description = "Writes the bytes of the ids, and nothing else: ids that end within a character give bytes that "
                   "do. Anything in the input that is not an id is refused with its place.",
    .options = options,
    .examples = examples,
    .run = run,
};
