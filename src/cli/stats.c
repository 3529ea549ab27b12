/* tik stats: what texts are made of, side by side for files and encodings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { AGAINST = CLI_OWN, WINDOW, CSV };

static const cli_option options[] = {
    {'e', "encoding", "ENCODING", "encoding by name; can be repeated; " CLI_DEFAULT_ENCODING " if none is given"},
    {'m', "model", "MODEL", "the encoding of this model"},
    {CLI_MANIFEST, "manifest", "FILE", "the encoding that this manifest file describes"},
    {AGAINST, "against", "FILE", "also how many more tokens each text has than this one"},
    {WINDOW, "window", "N", "also how many words of each text fit in N tokens"},
    CLI_OPTION_JSON,
    {CSV, "csv", NULL, "the result as comma-separated values"},
    CLI_OPTIONS_FILES,
    CLI_OPTIONS_TEXT,
    CLI_OPTION_QUIET,
    CLI_OPTIONS_END,
};

static const cli_example examples[] = {
    {"tik stats -e cl100k_base -e o200k_base README.md", "One text in two encodings."},
    {"tik stats --against english.txt italian.txt", "What the same text costs in another language."},
    {"tik stats --window 7192 italian.txt", "How many words fit in a window of 8192 less 1000."},
    {NULL, NULL},
};

typedef struct text_size {
    size_t words; /* runs of anything but white space */
    size_t characters;
    size_t bytes;  /* measured so far: always whole characters */
    bool in_word;
} text_size;

typedef struct token_size {
    size_t tokens;
    size_t single; /* tokens of one byte */
} token_size;

typedef struct stats_run {
    cli_call *call;
    tik_encoding **encodings;
    size_t encoding_count;
    const char *against;
    token_size *base; /* of `against`, for each encoding */
    size_t window;
    bool csv;
    json_t *rows;
    size_t width; /* of the column of names; longer ones get a line of their own */
    size_t encoding_width;
} stats_run;

/* White_Space of Unicode 16.0. */
static bool is_space(uint32_t point)
{
    return (point >= 0x09 && point <= 0x0D) || point == 0x20 || point == 0x85 || point == 0xA0 || point == 0x1680 ||
           (point >= 0x2000 && point <= 0x200A) || point == 0x2028 || point == 0x2029 || point == 0x202F ||
           point == 0x205F || point == 0x3000;
}

/* Measures on until `end` is passed; what is not UTF-8 counts as characters of one byte. */
static void measure(text_size *size, const char *text, size_t length, size_t end)
{
    size_t i = size->bytes;
    while (i < end) {
        unsigned char lead = (unsigned char)text[i];
        size_t need = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        uint32_t point = need == 1 ? lead : lead & (0x7Fu >> need);
        for (size_t k = 1; k < need && i + k < length; k++)
            point = point << 6 | ((unsigned char)text[i + k] & 0x3Fu);
        bool space = is_space(point);
        size->words += !space && !size->in_word;
        size->characters++;
        size->in_word = !space;
        i += need;
    }
    size->bytes = i < length ? i : length;
}

/* Streams the text through an encoding, and measures it as well if `measured` is given. False with the message out. */
static bool tokenize(stats_run *run, const tik_encoding *encoding, const char *name, const char *text, size_t length,
                     token_size *size, text_size *measured)
{
    enum { SLICE = 1 << 20 };
    tik_error error;
    tik_stream *stream = NULL;
    tik_ids ids = TIK_IDS_INIT;
    tik_status status = tik_stream_new(encoding, &run->call->options, &stream, &error);
    *size = (token_size){0};
    for (size_t from = 0, done = 0; status == TIK_OK && !done;) {
        size_t slice = length - from < SLICE ? length - from : SLICE;
        done = slice == 0;
        status = done ? tik_stream_finish(stream, &ids, &error)
                      : tik_stream_feed(stream, text + from, slice, &ids, &error);
        from += slice;
        if (measured)
            measure(measured, text, length, from);
        cli_progress_add(slice);
        size->tokens += ids.length;
        for (size_t i = 0; i < ids.length; i++) {
            const char *bytes;
            size_t bytes_length;
            if (tik_token_bytes(encoding, ids.data[i], &bytes, &bytes_length, NULL) == TIK_OK)
                size->single += bytes_length == 1;
        }
        ids.length = 0;
    }
    if (status != TIK_OK)
        cli_blame(run->call, name, "%s", error.message);
    tik_stream_free(stream);
    tik_ids_free(&ids);
    return status == TIK_OK;
}

/* ---- Output -------------------------------------------------------------------------------- */

static double ratio(size_t a, size_t b)
{
    return b ? (double)a / (double)b : 0.0;
}

/* Words that fit in the window, by the text's own tokens per word. */
static size_t fitting(const stats_run *run, const text_size *text, const token_size *tokens)
{
    return tokens->tokens ? (size_t)((double)run->window * (double)text->words / (double)tokens->tokens) : 0;
}

static double overhead(const stats_run *run, size_t encoding, const token_size *tokens)
{
    return 100.0 * (ratio(tokens->tokens, run->base[encoding].tokens) - 1.0);
}

static void out_heading(const stats_run *run)
{
    if (run->csv) {
        cli_out_text("file,encoding,words,characters,bytes,tokens,bytes_per_token,tokens_per_word,single_byte_share");
        cli_out_text(run->against ? ",overhead_percent" : "");
        cli_out_text(run->window ? ",words_in_window" : "");
        cli_out_text("\n");
        return;
    }
    cli_out_printf("%-*s %-*s %7s %8s %8s %5s %6s %6s", (int)run->width, "file", (int)run->encoding_width, "encoding",
                   "words", "bytes", "tokens", "B/tok", "tok/wd", "1-byte");
    cli_out_text(run->against ? " against" : "");
    cli_out_text(run->window ? "  window" : "");
    cli_out_char('\n');
}

static void out_csv_name(const char *name)
{
    bool quoted = name[strcspn(name, ",\"\r\n")] != '\0';
    if (quoted)
        cli_out_char('"');
    for (; *name; name++) {
        if (*name == '"')
            cli_out_char('"');
        cli_out_char(*name);
    }
    if (quoted)
        cli_out_char('"');
}

static void out_csv(const stats_run *run, const char *name, size_t encoding, const text_size *text,
                    const token_size *tokens)
{
    out_csv_name(name);
    cli_out_printf(",%s,%zu,%zu,%zu,%zu,%.4f,%.4f,%.4f", tik_name(run->encodings[encoding]), text->words,
                   text->characters, text->bytes, tokens->tokens, ratio(text->bytes, tokens->tokens),
                   ratio(tokens->tokens, text->words), ratio(tokens->single, tokens->tokens));
    if (run->against)
        cli_out_printf(",%.2f", overhead(run, encoding, tokens));
    if (run->window)
        cli_out_printf(",%zu", fitting(run, text, tokens));
    cli_out_char('\n');
}

static void out_row(const stats_run *run, const char *name, size_t encoding, const text_size *text,
                    const token_size *tokens)
{
    if (strlen(name) > run->width) {
        cli_out_text(name);
        cli_out_char('\n');
        name = "";
    }
    cli_out_printf("%-*s %-*s %7zu %8zu %8zu %5.2f %6.2f %5.1f%%", (int)run->width, name, (int)run->encoding_width,
                   tik_name(run->encodings[encoding]), text->words, text->bytes, tokens->tokens,
                   ratio(text->bytes, tokens->tokens), ratio(tokens->tokens, text->words),
                   100.0 * ratio(tokens->single, tokens->tokens));
    if (run->against)
        cli_out_printf(" %+6.1f%%", overhead(run, encoding, tokens));
    if (run->window)
        cli_out_printf(" %7zu", fitting(run, text, tokens));
    cli_out_char('\n');
}

static void add_json(const stats_run *run, const char *name, size_t encoding, const text_size *text,
                     const token_size *tokens)
{
    json_t *row = json_pack(
        "{s:o, s:s, s:I, s:I, s:I, s:I, s:f, s:f, s:f}", "file", cli_json_string(name, strlen(name)), "encoding",
        tik_name(run->encodings[encoding]), "words", (json_int_t)text->words, "characters",
        (json_int_t)text->characters, "bytes", (json_int_t)text->bytes, "tokens", (json_int_t)tokens->tokens,
        "bytes_per_token", ratio(text->bytes, tokens->tokens), "tokens_per_word", ratio(tokens->tokens, text->words),
        "single_byte_share", ratio(tokens->single, tokens->tokens));
    if (run->against)
        json_object_set_new(row, "overhead_percent", json_real(overhead(run, encoding, tokens)));
    if (run->window)
        json_object_set_new(row, "words_in_window", json_integer((json_int_t)fitting(run, text, tokens)));
    json_array_append_new(run->rows, row);
}

/* ---- The command --------------------------------------------------------------------------- */

static void stats_of_file(stats_run *run, const char *name)
{
    cli_source source;
    if (!cli_read_whole(run->call, &source, name))
        return;
    if (run->call->recursive && cli_looks_binary(source.data, source.length)) {
        cli_say("%s: binary, left out", name);
        cli_source_close(&source);
        return;
    }
    text_size text = {0};
    for (size_t i = 0; i < run->encoding_count; i++) {
        token_size tokens;
        if (!tokenize(run, run->encodings[i], name, source.data, source.length, &tokens,
                      i == 0 ? &text : NULL))
            break;
        if (run->call->json)
            add_json(run, name, i, &text, &tokens);
        else if (run->csv)
            out_csv(run, name, i, &text, &tokens);
        else
            out_row(run, name, i, &text, &tokens);
    }
    cli_source_close(&source);
}

static bool measure_base(stats_run *run)
{
    cli_source source;
    if (!run->against)
        return true;
    run->base = calloc(run->encoding_count, sizeof *run->base);
    if (!run->base) {
        cli_no_memory();
        return false;
    }
    if (!cli_read_whole(run->call, &source, run->against))
        return false;
    bool good = true;
    for (size_t i = 0; i < run->encoding_count && good; i++)
        good = tokenize(run, run->encodings[i], run->against, source.data, source.length, &run->base[i],
                        NULL);
    if (good && source.length == 0) {
        cli_blame(run->call, run->against, "is empty; there is nothing to compare with");
        good = false;
    }
    cli_source_close(&source);
    return good;
}

/* One encoding for each -e, or the one that -m or --manifest names, or the default. */
static bool open_encodings(stats_run *run)
{
    cli_names names = run->call->encodings;
    run->encoding_count = names.length > 1 ? names.length : 1;
    run->encodings = calloc(run->encoding_count, sizeof(tik_encoding *));
    if (!run->encodings) {
        cli_no_memory();
        return false;
    }
    if (names.length < 2)
        return (run->encodings[0] = cli_open_encoding(run->call)) != NULL;
    for (size_t i = 0; i < names.length; i++) {
        run->call->encodings = (cli_names){&names.data[i], 1, 1};
        run->encodings[i] = cli_open_encoding(run->call);
        run->call->encodings = names;
        if (!run->encodings[i])
            return false;
    }
    return true;
}

static bool take_options(cli_call *call, stats_run *run)
{
    for (int option; (option = cli_next_option(call)) != CLI_NO_MORE_OPTIONS;) {
        if (option == CLI_BAD_OPTION || (option == WINDOW && !cli_number(call, 1, SIZE_MAX / 2, &run->window)))
            return false;
        run->csv |= option == CSV;
        if (option == AGAINST)
            run->against = call->argument;
    }
    if (run->csv && call->json)
        cli_say("stats: choose one of --json and --csv");
    return !(run->csv && call->json);
}

static void stats_of_files(stats_run *run, const cli_names *names)
{
    /* A line is to fit a terminal of 80 columns (with all columns and the longest encoding it just does). */
    enum { WIDTH = 79, NUMBERS = 47, AGAINST_WIDTH = 8, WINDOW_WIDTH = 8, NARROWEST = 4 };
    size_t taken = NUMBERS;
    if (run->against)
        taken += AGAINST_WIDTH;
    if (run->window)
        taken += WINDOW_WIDTH;
    run->encoding_width = strlen("encoding");
    for (size_t i = 0; i < run->encoding_count; i++)
        if (strlen(tik_name(run->encodings[i])) > run->encoding_width)
            run->encoding_width = strlen(tik_name(run->encodings[i]));
    taken += run->encoding_width;
    size_t widest = taken + NARROWEST < WIDTH ? WIDTH - taken : NARROWEST;
    run->width = NARROWEST;
    for (size_t i = 0; i < names->length; i++)
        if (strlen(names->data[i]) > run->width)
            run->width = strlen(names->data[i]) < widest ? strlen(names->data[i]) : widest;
    cli_progress_begin(run->call, "counting", cli_sizes(names) * run->encoding_count, false);
    if (run->call->json)
        run->rows = json_array();
    else
        out_heading(run);
    for (size_t i = 0; i < names->length; i++)
        stats_of_file(run, names->data[i]);
    if (run->call->json)
        cli_out_json_document(run->rows);
}

static int run(cli_call *call)
{
    stats_run run = {.call = call};
    cli_names names = {0};
    int status = CLI_WRONG;
    if (!take_options(call, &run))
        return CLI_WRONG;
    if (open_encodings(&run) && measure_base(&run) && cli_inputs(call, &names)) {
        stats_of_files(&run, &names);
        status = CLI_DONE;
    }
    for (size_t i = 0; i < run.encoding_count; i++)
        tik_close(run.encodings ? run.encodings[i] : NULL);
    free(run.encodings);
    free(run.base);
    cli_inputs_free(&names);
    return status;
}

const cli_command cli_stats = {
    .name = "stats",
    .operands = "[FILE]...",
    .summary = "Words, bytes and tokens of texts, side by side for encodings",
    .description =
        "For each file and encoding: words (parted by white space), bytes, tokens, bytes per token, tokens per word "
        "and the share of tokens that are a single byte (B/tok, tok/wd and 1-byte in the table). Tokens per word "
        "tell what a language costs; a large share of single bytes that the vocabulary hardly knows it.",
    .options = options,
    .examples = examples,
    .run = run,
};
