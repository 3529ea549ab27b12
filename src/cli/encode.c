/*
 * tik encode: text to ids, streamed, so that memory stays bounded however long the text. A large text is
 * encoded on all threads, and its ids written out on all of them; small ones go side by side, some at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { FORMAT = 'f' };

enum {
    SHARE = 1 << 15,        /* ids that a thread writes into memory at a time */
    SHARES_FOR_A_THREAD = 4,
    SMALL = 1 << 20,        /* bytes: larger texts have all threads for themselves */
    FILES_FOR_A_THREAD = 8  /* small ones held in memory at a time */
};

static const cli_option options[] = {
    CLI_OPTIONS_ENCODING,
    {FORMAT, "format", "plain|json|u32le", "decimal with spaces (default), a JSON array, raw 32-bit ids"},
    {CLI_JSON, "json", NULL, "the same as --format json"},
    CLI_OPTIONS_FILES,
    CLI_OPTIONS_TEXT,
    CLI_OPTION_THREADS,
    CLI_OPTION_QUIET,
    CLI_OPTIONS_END,
};

static const cli_example examples[] = {
    {"printf 'hello world' | tik encode -e cl100k_base", "Prints 15339 1917."},
    {"tik encode --format json notes.txt", "A JSON array of ids."},
    {"tik encode --format u32le book.txt > book.ids", "Raw little-endian 32-bit ids, four bytes each."},
    {NULL, NULL},
};

/* ---- Ids to bytes ---------------------------------------------------------------------------- */

static size_t room_for(int format)
{
    return format == CLI_IDS_U32LE ? sizeof(uint32_t) : CLI_ID_ROOM;
}

/* Writes ids into memory; returns the end. `begun`: there are ids before them. */
static char *put_ids(char *to, const uint32_t *ids, size_t count, int format, bool begun)
{
    if (format != CLI_IDS_U32LE)
        return cli_put_ids(to, ids, count, format == CLI_IDS_JSON ? ',' : ' ', begun);
    for (size_t i = 0; i < count; i++, to += 4)
        for (int k = 0; k < 4; k++)
            to[k] = (char)(unsigned char)(ids[i] >> (8 * k));
    return to;
}

/* What comes before the first id and after the last. */
static const char *opening(int format)
{
    return format == CLI_IDS_JSON ? "[" : "";
}

static const char *closing(int format)
{
    return format == CLI_IDS_JSON ? "]\n" : format == CLI_IDS_PLAIN ? "\n" : "";
}

/* ---- A text with all threads ------------------------------------------------------------------- */

typedef struct encode_work {
    cli_call *call;
    const tik_encoding *encoding;
    int format;
    size_t threads;
    tik_ids ids;

    /* Ids that are written into memory by several threads, in shares. */
    const uint32_t *some;
    size_t some_count;
    bool begun;
    char *shares; /* room for threads * SHARES_FOR_A_THREAD */
    size_t lengths[CLI_MOST_WORKERS * SHARES_FOR_A_THREAD];

    /* Small files. */
    tik_options options; /* of each */
    struct encode_result *results;
    tik_stream *streams[CLI_MOST_WORKERS];
    tik_ids own_ids[CLI_MOST_WORKERS];
} encode_work;

static void put_share(void *context, size_t worker, size_t index)
{
    encode_work *work = context;
    (void)worker;
    char *start = work->shares + index * SHARE * CLI_ID_ROOM;
    size_t first = index * SHARE;
    size_t count = work->some_count - first < SHARE ? work->some_count - first : SHARE;
    work->lengths[index] = (size_t)(put_ids(start, work->some + first, count, work->format, work->begun || index > 0) - start);
}

/* Writes what has come and empties `ids`. */
static void out_ids(encode_work *work)
{
    const size_t most = work->threads * SHARES_FOR_A_THREAD * SHARE;
    for (size_t done = 0; done < work->ids.length; done += work->some_count) {
        size_t left = work->ids.length - done;
        work->some = work->ids.data + done;
        work->some_count = left < most ? left : most;
        size_t shares = (work->some_count + SHARE - 1) / SHARE;
        cli_parallel(shares, (unsigned)work->threads, put_share, work);
        for (size_t i = 0; i < shares; i++)
            cli_out(work->shares + i * SHARE * CLI_ID_ROOM, work->lengths[i]);
        work->begun = true;
    }
    work->ids.length = 0;
}

static tik_status encode_source(encode_work *work, tik_stream *stream, cli_source *source, tik_error *error)
{
    const size_t most = work->threads > 1 ? work->threads * CLI_LARGE : 0;
    tik_status status = TIK_OK;
    const char *slice;
    size_t length;
    work->begun = false;
    work->ids.length = 0;
    cli_out_text(opening(work->format));
    while (status == TIK_OK &&
           (most ? cli_source_fill(source, most, &slice, &length) : cli_source_next(source, &slice, &length))) {
        status = tik_stream_feed(stream, slice, length, &work->ids, error);
        if (status == TIK_OK)
            out_ids(work);
    }
    if (status == TIK_OK && !source->failed)
        status = tik_stream_finish(stream, &work->ids, error);
    if (status != TIK_OK)
        return status;
    out_ids(work);
    cli_out_text(closing(work->format));
    return TIK_OK;
}

static void say_dropped(const char *name, size_t dropped)
{
    if (dropped > 0)
        cli_say("%s: %zu bytes are covered by no piece of the pattern and left out", cli_display_name(name), dropped);
}

static void encode_input(encode_work *work, const char *name)
{
    cli_call *call = work->call;
    tik_error error = {0};
    tik_stream *stream = NULL;
    cli_source source;
    if (!cli_source_open(&source, name)) {
        cli_blame(call, name, "%s", source.reason);
    } else if (call->recursive && source.whole && cli_looks_binary(source.data, source.length)) {
        cli_say("%s: binary, left out", name);
    } else if (tik_stream_new(work->encoding, &call->options, &stream, &error) != TIK_OK ||
               encode_source(work, stream, &source, &error) != TIK_OK || source.failed) {
        cli_out_discard();
        cli_blame(call, name, "%s", source.failed ? source.reason : error.message);
    } else {
        say_dropped(name, tik_stream_dropped(stream));
    }
    cli_out_flush();
    tik_stream_free(stream);
    cli_source_close(&source);
}

/* ---- Small files side by side --------------------------------------------------------------------- */

typedef struct encode_result {
    const char *name;
    char *text; /* its ids as they are written out; owned */
    size_t length;
    size_t dropped;
    enum { LATER, ENCODED, BINARY, FAILED } outcome; /* LATER: not a small file */
    char reason[sizeof(((tik_error *)0)->message)];
} encode_result;

static void set_failed(encode_result *result, const char *reason)
{
    result->outcome = FAILED;
    memcpy(result->reason, reason, strlen(reason) + 1);
}

/* All ids of a text, with a stream that is kept for the next one. */
static tik_status encode_all_of(encode_work *work, size_t worker, cli_source *source, tik_ids *ids, tik_error *error)
{
    tik_stream **stream = &work->streams[worker];
    const char *slice;
    size_t length;
    tik_status status = *stream ? TIK_OK : tik_stream_new(work->encoding, &work->options, stream, error);
    while (status == TIK_OK && cli_source_next(source, &slice, &length))
        status = tik_stream_feed(*stream, slice, length, ids, error);
    if (status == TIK_OK)
        status = tik_stream_finish(*stream, ids, error);
    return status;
}

static void write_result(encode_result *result, const tik_ids *ids, int format)
{
    const char *before = opening(format);
    const char *after = closing(format);
    result->text = malloc(strlen(before) + ids->length * room_for(format) + strlen(after) + 1);
    if (!result->text) {
        set_failed(result, "no memory");
        return;
    }
    char *to = result->text;
    memcpy(to, before, strlen(before));
    to = put_ids(to + strlen(before), ids->data, ids->length, format, false);
    memcpy(to, after, strlen(after));
    result->length = (size_t)(to - result->text) + strlen(after);
    result->outcome = ENCODED;
}

static void encode_small(void *context, size_t worker, size_t index)
{
    encode_work *work = context;
    encode_result *result = &work->results[index];
    tik_ids *ids = &work->own_ids[worker];
    tik_error error;
    cli_source source;
    if (!cli_is_small_file(result->name, SMALL))
        return;
    ids->length = 0;
    if (!cli_source_open(&source, result->name)) {
        set_failed(result, source.reason);
    } else if (work->call->recursive && source.whole && cli_looks_binary(source.data, source.length)) {
        result->outcome = BINARY;
    } else if (encode_all_of(work, worker, &source, ids, &error) != TIK_OK || source.failed) {
        set_failed(result, source.failed ? source.reason : error.message);
        tik_stream_free(work->streams[worker]);
        work->streams[worker] = NULL;
    } else {
        result->dropped = tik_stream_dropped(work->streams[worker]);
        write_result(result, ids, work->format);
    }
    cli_source_close(&source);
}

static void out_result(encode_work *work, encode_result *result)
{
    switch (result->outcome) {
    case LATER:
        encode_input(work, result->name);
        break;
    case ENCODED:
        cli_out(result->text, result->length);
        say_dropped(result->name, result->dropped);
        break;
    case BINARY:
        cli_say("%s: binary, left out", result->name);
        break;
    case FAILED:
        cli_blame(work->call, result->name, "%s", result->reason);
        break;
    }
    cli_out_flush();
    free(result->text);
}

static int encode_group(encode_work *work, char **names, size_t count)
{
    work->results = calloc(count, sizeof *work->results);
    if (!work->results)
        return cli_no_memory();
    for (size_t i = 0; i < count; i++)
        work->results[i].name = names[i];
    if (work->threads > 1 && count > 1)
        cli_parallel(count, (unsigned)work->threads, encode_small, work);
    for (size_t i = 0; i < count; i++)
        out_result(work, &work->results[i]);
    free(work->results);
    return CLI_DONE;
}

static int encode_names(cli_call *call, const tik_encoding *encoding, int format, const cli_names *names)
{
    encode_work work = {.call = call, .encoding = encoding, .format = format, .options = call->options};
    int status = CLI_DONE;
    work.options.threads = 1;
    work.threads = cli_workers(SIZE_MAX, call->options.threads);
    work.shares = malloc(work.threads * SHARES_FOR_A_THREAD * SHARE * CLI_ID_ROOM);
    if (!work.shares)
        return cli_no_memory();
    const size_t most = work.threads * FILES_FOR_A_THREAD;
    for (size_t done = 0; status == CLI_DONE && done < names->length; done += most) {
        size_t left = names->length - done;
        status = encode_group(&work, names->data + done, left < most ? left : most);
    }
    for (size_t i = 0; i < CLI_MOST_WORKERS; i++) {
        tik_stream_free(work.streams[i]);
        tik_ids_free(&work.own_ids[i]);
    }
    tik_ids_free(&work.ids);
    free(work.shares);
    return status;
}

static int encode_all(cli_call *call, int format)
{
    cli_names names = {0};
    int status = CLI_WRONG;
    tik_encoding *encoding = cli_open_encoding(call);
    if (encoding && cli_inputs(call, &names)) {
        cli_progress_begin(call, "encoding", cli_sizes(&names), true);
        status = encode_names(call, encoding, format, &names);
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
