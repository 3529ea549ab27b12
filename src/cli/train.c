/*
 * tik train: learn a vocabulary from texts. The rank file is written at the end, beside and renamed, so
 * that whatever happens before leaves nothing under its name.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

enum {
    SIZE = 'n',
    OUTPUT = 'o',
    PATTERN = 'p',
    NAME = CLI_OWN,
    TIES,
    SPECIAL,
    MIN_COUNT,
    MAX_TOKEN_LENGTH,
    MAX_PIECES,
    PRUNE,
    EXTEND,
    TRACE,
    REPORT,
    LONGEST,
    SAVE_EVERY,
    CONTINUE
};

static const cli_option options[] = {
    {SIZE, "size", "N", "tokens to come to, the 256 bytes among them, special tokens not"},
    {PATTERN, "pattern", "NAME|REGEX", "how texts are split: as a public encoding does (o200k_base), or a pattern"},
    {TIES, "ties", "lowest|first",
     "of equally frequent pairs the one with the lowest ids (default), or the one met first in the text"},
    {OUTPUT, "output", "FILE", "the rank file; its manifest goes beside it, as .json; - for standard output"},
    {NAME, "name", "NAME", "the name of the encoding; that of the file if none is given"},
    {SPECIAL, "special", "TEXT", "a special token, with an id after the last token; can be repeated"},
    {EXTEND, "extend", "NAME|MANIFEST", "begin with the tokens of an encoding instead of the bytes"},
    {MIN_COUNT, "min-count", "N", "stop when no pair occurs N times"},
    {MAX_TOKEN_LENGTH, "max-token-length", "N", "make no token of more than N bytes"},
    {MAX_PIECES, "max-pieces", "N", "keep at most N different pieces in memory; refuse a text that has more"},
    {PRUNE, "prune", NULL, "with --max-pieces, drop the rarest pieces instead"},
    {TRACE, "trace", NULL, "print each merge with its count"},
    {REPORT, "report", "N,N,...", "print the bytes per token of the texts at these sizes"},
    {LONGEST, "longest", "N", "print the N longest tokens learned"},
    {SAVE_EVERY, "save-every", "N", "write FILE.state every N tokens, to go on later"},
    {CONTINUE, "continue", NULL, "go on from FILE.state, with the same options and without the texts"},
    CLI_OPTION_JSON,
    CLI_OPTIONS_FILES,
    CLI_OPTION_INVALID,
    CLI_OPTION_THREADS,
    CLI_OPTION_QUIET,
    CLI_OPTIONS_END,
};

static const cli_example examples[] = {
    {"tik train -n 32768 -o mine.tiktoken corpus/*.txt", "Learns 32768 tokens; writes mine.tiktoken and mine.json."},
    {"tik encode --manifest mine.json notes.txt", "Encodes with them."},
    {"tik train -n 300 --pattern '\\w+|\\W+' --trace < poem.txt", "Shows how merges are found, one by one."},
    {"tik train --report 512,1024,2048,4096 book.txt", "How many bytes a token has on average at each size."},
    {"tik train -n 1000 --ties first -o - < text | wc -l", "Rank file to standard output."},
    {NULL, NULL},
};

typedef struct train_wish {
    tik_train_options train;
    size_t size;
    const char *output;
    const char *extend;
    cli_names specials;
    size_t *report;
    size_t report_count;
    size_t longest;
    size_t save_every;
    bool trace;
    bool go_on;
    char *name;     /* owned: the encoding's, from that of the file */
    char *manifest; /* owned */
    char *state;    /* owned */
} train_wish;

static bool no_memory(void)
{
    cli_no_memory();
    return false;
}

/* ---- Options -------------------------------------------------------------------------------------- */

static int by_size(const void *first, const void *second)
{
    size_t a = *(const size_t *)first;
    size_t b = *(const size_t *)second;
    return a < b ? -1 : a > b;
}

/* "256,512,1024": sorted, so that one run passes all of them. */
static bool take_report(cli_call *call, train_wish *wish)
{
    char *whole = call->argument;
    free(wish->report);
    wish->report = calloc(strlen(whole) + 1, sizeof *wish->report);
    wish->report_count = 0;
    if (!wish->report)
        return no_memory();
    for (char *number = whole; number;) {
        char *comma = strchr(number, ',');
        if (comma)
            *comma = 0;
        call->argument = number;
        if (!cli_number(call, 256, INT32_MAX, &wish->report[wish->report_count++]))
            return false;
        number = comma ? comma + 1 : NULL;
    }
    qsort(wish->report, wish->report_count, sizeof *wish->report, by_size);
    return true;
}

static bool take_option(cli_call *call, int option, train_wish *wish)
{
    static const char *const ties[] = {"lowest", "first", NULL};
    size_t number = 0;
    int choice;
    switch (option) {
    case SIZE:
        return cli_number(call, 256, INT32_MAX, &wish->size);
    case PATTERN:
        wish->train.pattern = call->argument;
        return true;
    case TIES:
        choice = cli_choice(call, ties);
        wish->train.ties = choice == 1 ? TIK_TIES_FIRST : TIK_TIES_LOWEST;
        return choice >= 0;
    case OUTPUT:
        wish->output = call->argument;
        return true;
    case NAME:
        wish->train.name = call->argument;
        return true;
    case SPECIAL:
        return cli_names_add(&wish->specials, call->argument) || no_memory();
    case EXTEND:
        wish->extend = call->argument;
        return true;
    case MIN_COUNT:
        if (!cli_number(call, 1, SIZE_MAX - 1, &number))
            return false;
        wish->train.min_count = number;
        return true;
    case MAX_TOKEN_LENGTH:
        return cli_number(call, 1, INT32_MAX, &wish->train.max_token_length);
    case MAX_PIECES:
        return cli_number(call, 1, INT32_MAX, &wish->train.max_pieces);
    case PRUNE:
        wish->train.prune_pieces = true;
        return true;
    case TRACE:
        wish->trace = true;
        return true;
    case REPORT:
        return take_report(call, wish);
    case LONGEST:
        return cli_number(call, 1, INT32_MAX, &wish->longest);
    case SAVE_EVERY:
        return cli_number(call, 1, INT32_MAX, &wish->save_every);
    case CONTINUE:
        wish->go_on = true;
        return true;
    default:
        return false;
    }
}

/* The sentence that says what is wrong with the options together; NULL if nothing. */
static const char *fault(const cli_call *call, const train_wish *wish)
{
    bool to_file = wish->output && strcmp(wish->output, "-") != 0;
    if (wish->size == 0)
        return "-n SIZE or --report is needed";
    if (!wish->output && !wish->trace && !wish->report_count && !wish->longest)
        return "-o FILE is needed (- for standard output), or --trace, --report or --longest";
    if (wish->output && !to_file && (wish->trace || wish->report_count || wish->longest))
        return "standard output is taken by the rank file: -o FILE";
    if ((wish->save_every || wish->go_on) && !to_file)
        return "--save-every and --continue need -o FILE";
    if (wish->go_on && call->operand_count)
        return "--continue needs no texts: FILE.state has their pieces";
    if (wish->train.prune_pieces && !wish->train.max_pieces)
        return "--prune needs --max-pieces";
    return NULL;
}

static char *joined(const char *first, size_t length, const char *second)
{
    size_t rest = strlen(second);
    char *text = malloc(length + rest + 1);
    if (text) {
        memcpy(text, first, length);
        memcpy(text + length, second, rest + 1);
    }
    return text;
}

/* What the name of the output says of other names: mine.tiktoken, mine.json, mine.tiktoken.state, mine. */
static bool derive_names(train_wish *wish)
{
    if (!wish->output || strcmp(wish->output, "-") == 0)
        return true;
    static const char extension[] = ".tiktoken";
    size_t length = strlen(wish->output);
    size_t stem = length;
    if (length > sizeof extension - 1 && strcmp(wish->output + length - (sizeof extension - 1), extension) == 0)
        stem -= sizeof extension - 1;
    const char *slash = strrchr(wish->output, '/');
    size_t folder = slash ? (size_t)(slash - wish->output) + 1 : 0;
    wish->manifest = joined(wish->output, stem, ".json");
    wish->state = joined(wish->output, length, ".state");
    wish->name = joined(wish->output + folder, stem - folder, "");
    if (!wish->train.name)
        wish->train.name = wish->name;
    return (wish->manifest && wish->state && wish->name) || no_memory();
}

static bool take_options(cli_call *call, train_wish *wish)
{
    for (int option; (option = cli_next_option(call)) != CLI_NO_MORE_OPTIONS;)
        if (option == CLI_BAD_OPTION || !take_option(call, option, wish))
            return false;
    if (wish->report_count && wish->size == 0)
        wish->size = wish->report[wish->report_count - 1];
    const char *wrong = fault(call, wish);
    if (wrong) {
        cli_say("train: %s", wrong);
        return false;
    }
    wish->train.replace_invalid = call->options.replace_invalid;
    wish->train.threads = call->options.threads ? call->options.threads : TIK_ALL_THREADS;
    wish->train.specials = (const char *const *)wish->specials.data;
    wish->train.special_count = wish->specials.length;
    return derive_names(wish);
}

/* ---- Progress and interruption -------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

/* When merging began, which tells how long it will take. */
typedef struct train_progress {
    struct timespec merging_since;
    size_t merging_from;
    uint64_t read; /* bytes told so far */
} train_progress;

static bool show_progress(void *context, const tik_train_progress *state)
{
    train_progress *progress = context;
    if (!cli_progress_is_on() || interrupted)
        return !interrupted;
    if (state->phase == TIK_TRAIN_READING) {
        cli_progress_add((size_t)(state->bytes - progress->read));
        progress->read = state->bytes;
        return true;
    }
    if (progress->merging_from == 0) {
        clock_gettime(CLOCK_MONOTONIC, &progress->merging_since);
        progress->merging_from = state->tokens;
    }
    size_t made = state->tokens - progress->merging_from;
    double each = made ? cli_seconds_since(&progress->merging_since) / (double)made : 0;
    cli_progress_line("merging: %zu of %zu tokens, %.0f s left", state->tokens, state->tokens_wanted,
                      each * (double)(state->tokens_wanted - state->tokens));
    return true;
}

/* ---- Output --------------------------------------------------------------------------------------- */

static void out_token(const tik_trainer *trainer, uint32_t id)
{
    const char *bytes;
    size_t length;
    if (tik_trainer_token(trainer, id, &bytes, &length, NULL) == TIK_OK)
        cli_out_quoted(bytes, length);
}

static json_t *json_token(const tik_trainer *trainer, uint32_t id)
{
    const char *bytes;
    size_t length;
    if (tik_trainer_token(trainer, id, &bytes, &length, NULL) != TIK_OK)
        return json_null();
    return cli_json_string(bytes, length);
}

static void out_merge(const cli_call *call, const tik_trainer *trainer, const tik_merge *merge)
{
    if (call->json) {
        cli_out_json(json_pack("{s:I, s:I, s:I, s:I, s:o}", "id", (json_int_t)merge->id, "left",
                               (json_int_t)merge->left, "right", (json_int_t)merge->right, "count",
                               (json_int_t)merge->count, "token", json_token(trainer, merge->id)));
        return;
    }
    cli_out_printf("%6u  %10llu ×  ", merge->id, (unsigned long long)merge->count);
    out_token(trainer, merge->left);
    cli_out_text(" + ");
    out_token(trainer, merge->right);
    cli_out_text(" → ");
    out_token(trainer, merge->id);
    cli_out_char('\n');
}

static void out_report_line(const cli_call *call, const tik_trainer *trainer, bool first)
{
    tik_train_state state;
    tik_trainer_state(trainer, &state);
    double covered = (double)(state.bytes - state.dropped);
    double each = state.text_tokens ? covered / (double)state.text_tokens : 0;
    if (call->json) {
        cli_out_json(json_pack("{s:I, s:I, s:I, s:f}", "size", (json_int_t)state.tokens, "bytes",
                               (json_int_t)state.bytes, "tokens", (json_int_t)state.text_tokens, "bytes_per_token",
                               each));
        return;
    }
    if (first)
        cli_out_printf("%10s  %15s  %15s\n", "size", "tokens", "bytes per token");
    cli_out_printf("%10zu  %15llu  %15.3f\n", state.tokens, (unsigned long long)state.text_tokens, each);
}

/* One of the tokens that were learned. */
typedef struct learned {
    size_t length;
    uint32_t id;
} learned;

static int by_length(const void *first, const void *second)
{
    const learned *a = first;
    const learned *b = second;
    if (a->length != b->length)
        return a->length > b->length ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static int out_longest(const cli_call *call, const tik_trainer *trainer, size_t wanted)
{
    const tik_merge *merges;
    size_t count = tik_trainer_merges(trainer, &merges);
    learned *list = calloc(count + 1, sizeof *list);
    if (!list)
        return cli_no_memory();
    for (size_t i = 0; i < count; i++) {
        const char *bytes;
        list[i].id = merges[i].id;
        tik_trainer_token(trainer, list[i].id, &bytes, &list[i].length, NULL);
    }
    qsort(list, count, sizeof *list, by_length);
    for (size_t i = 0; i < count && i < wanted; i++) {
        if (call->json) {
            cli_out_json(json_pack("{s:I, s:I, s:o}", "id", (json_int_t)list[i].id, "length",
                                   (json_int_t)list[i].length, "token", json_token(trainer, list[i].id)));
            continue;
        }
        cli_out_printf("%6u  %6zu  ", list[i].id, list[i].length);
        out_token(trainer, list[i].id);
        cli_out_char('\n');
    }
    free(list);
    return CLI_DONE;
}

/* ---- The work ------------------------------------------------------------------------------------- */

static int failed(cli_call *call, const tik_error *error)
{
    cli_blame(call, "train", "%s", error->message);
    return CLI_WRONG;
}

/* The next size at which something is to be done. */
static size_t next_stop(const train_wish *wish, size_t tokens, size_t next_report)
{
    size_t stop = wish->size;
    if (wish->save_every && tokens + wish->save_every - tokens % wish->save_every < stop)
        stop = tokens + wish->save_every - tokens % wish->save_every;
    if (wish->trace && tokens + 1 < stop)
        stop = tokens + 1;
    if (next_report < wish->report_count && wish->report[next_report] < stop)
        stop = wish->report[next_report];
    return stop;
}

/* Learns, with what is to be printed and saved on the way. */
static int learn(cli_call *call, const train_wish *wish, tik_trainer *trainer)
{
    tik_error error;
    tik_train_state state;
    size_t reported = 0;
    const tik_merge *merges;
    size_t shown = tik_trainer_merges(trainer, &merges);
    tik_trainer_state(trainer, &state);
    do {
        if (tik_trainer_run(trainer, next_stop(wish, state.tokens, reported), &error) != TIK_OK) {
            tik_error saving;
            if (error.status == TIK_ERROR_CANCELLED && wish->save_every && tik_trainer_merges(trainer, &merges) &&
                tik_trainer_save_state(trainer, wish->state, &saving) == TIK_OK) {
                cli_say("go on later with --continue: %s", wish->state);
            }
            return failed(call, &error);
        }
        tik_trainer_state(trainer, &state);
        size_t made = tik_trainer_merges(trainer, &merges);
        for (; wish->trace && shown < made; shown++)
            out_merge(call, trainer, &merges[shown]);
        while (reported < wish->report_count && (wish->report[reported] <= state.tokens || state.exhausted)) {
            out_report_line(call, trainer, reported++ == 0);
            cli_out_flush();
        }
        if (wish->save_every && state.tokens % wish->save_every == 0 && state.tokens < wish->size &&
            tik_trainer_save_state(trainer, wish->state, &error) != TIK_OK)
            return failed(call, &error);
    } while (state.tokens < wish->size && !state.exhausted);
    return CLI_DONE;
}

static int save(cli_call *call, const train_wish *wish, tik_trainer *trainer)
{
    tik_error error;
    if (!wish->output)
        return CLI_DONE;
    if (!wish->manifest) {
        tik_bytes bytes = TIK_BYTES_INIT;
        tik_status status = tik_trainer_rank_file(trainer, &bytes, &error);
        cli_out(bytes.data, bytes.length);
        tik_bytes_free(&bytes);
        return status == TIK_OK ? CLI_DONE : failed(call, &error);
    }
    if (tik_trainer_save(trainer, wish->output, wish->manifest, &error) != TIK_OK)
        return failed(call, &error);
    if (wish->save_every || wish->go_on)
        unlink(wish->state);
    return CLI_DONE;
}

/* What a reader of the result should know, on standard error. */
static void say_notes(const train_wish *wish, const tik_trainer *trainer)
{
    tik_train_state state;
    tik_trainer_state(trainer, &state);
    if (state.pruned)
        cli_say("%llu pieces of %llu were dropped for --max-pieces: the rarest at the time",
                (unsigned long long)state.pruned, (unsigned long long)state.pieces);
    if (state.dropped)
        cli_say("%llu bytes are covered by no piece of the pattern and left out", (unsigned long long)state.dropped);
    if (state.exhausted)
        cli_say("no pair is left: %zu tokens instead of %zu", state.tokens, wish->size);
    if (wish->manifest)
        cli_say("%zu tokens from %llu bytes, %llu pieces, %zu different: %s and %s", state.tokens,
                (unsigned long long)state.bytes, (unsigned long long)state.pieces, state.distinct, wish->output,
                wish->manifest);
}

static int train(cli_call *call, const train_wish *wish, tik_trainer *trainer)
{
    tik_error error;
    cli_names names = {0};
    tik_status status;
    if (wish->go_on) {
        cli_progress_begin(call, "merging", 0, false);
        status = tik_trainer_load_state(trainer, wish->state, &error);
    } else {
        if (!cli_inputs(call, &names) || call->status != CLI_DONE) {
            cli_inputs_free(&names);
            return CLI_WRONG;
        }
        cli_progress_begin(call, "reading", cli_sizes(&names), false);
        status = tik_trainer_add_files(trainer, (const char *const *)names.data, names.length, &error);
        cli_inputs_free(&names);
    }
    if (status != TIK_OK)
        return failed(call, &error);
    int result = learn(call, wish, trainer);
    if (result == CLI_DONE && wish->longest)
        result = out_longest(call, trainer, wish->longest);
    if (result == CLI_DONE)
        result = save(call, wish, trainer);
    if (result == CLI_DONE)
        say_notes(wish, trainer);
    return result;
}

/* A name without a slash or a dot is an encoding's, anything else a manifest's. */
static tik_status open_start(const char *name, tik_encoding **encoding, tik_error *error)
{
    return strpbrk(name, "./") ? tik_open_manifest(name, encoding, error) : tik_open(name, encoding, error);
}

static int run(cli_call *call)
{
    train_wish wish = {.train = TIK_TRAIN_OPTIONS_INIT};
    train_progress progress = {0};
    tik_trainer *trainer = NULL;
    tik_encoding *start = NULL;
    tik_error error;
    int status = CLI_WRONG;
    if (take_options(call, &wish)) {
        struct sigaction action = {.sa_handler = interrupt};
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        wish.train.callback = show_progress;
        wish.train.context = &progress;
        if (wish.extend && open_start(wish.extend, &start, &error) != TIK_OK) {
            cli_blame(call, wish.extend, "%s", error.message);
        } else {
            wish.train.start = start;
            if (tik_trainer_new(&wish.train, &trainer, &error) == TIK_OK)
                status = train(call, &wish, trainer);
            else
                failed(call, &error);
        }
    }
    tik_trainer_free(trainer);
    tik_close(start);
    cli_names_free(&wish.specials);
    free(wish.report);
    free(wish.name);
    free(wish.manifest);
    free(wish.state);
    return status;
}

const cli_command cli_train = {
    .name = "train",
    .operands = "[FILE]...",
    .summary = "Learn a byte-level BPE vocabulary from texts",
    .description =
        "Splits the texts into pieces and learns merges: the most frequent pair of neighbouring symbols, counted "
        "in all pieces, becomes the next token, again and again, until there are N. The bytes are the tokens 0 to "
        "255. Each file is a text of its own; the result does not depend on the number of threads.\n\n"
        "FILE is a rank file, as other tools read it, and the manifest beside it is what --manifest takes in every "
        "other subcommand. With --extend the new tokens follow those of an encoding, and the texts are split by "
        "--pattern all the same.\n\n"
        "Interrupted, the command leaves no file under its final name; with --save-every it can go on later, from "
        "FILE.state.",
    .options = options,
    .examples = examples,
    .run = run,
};
