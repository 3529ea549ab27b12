/* tik count: how many tokens. Files are counted on several threads, then reported in order, as wc does. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { LIMIT = 'l', PARTS = CLI_OWN, RESERVE, SORT };

static const cli_option options[] = {
    CLI_OPTIONS_ENCODING,
    {LIMIT, "limit", "N|window",
     "say no (status 1) to a text of more than N tokens, or than the window of MODEL, without reading the rest"},
    {RESERVE, "reserve", "N", "leave N tokens of the limit for the answer; without --limit, of the model's window"},
    {PARTS, "parts", NULL, "count to the end and say in how many parts the text fits the limit"},
    {SORT, "sort", "given|tokens|name", "order of the lines: as given (default), most tokens first, by name"},
    CLI_OPTION_JSON,
    CLI_OPTIONS_FILES,
    CLI_OPTIONS_TEXT,
    CLI_OPTION_THREADS,
    CLI_OPTION_QUIET,
    CLI_OPTIONS_END,
};

static const cli_example examples[] = {
    {"tik count README.md", "Tokens of a file in " CLI_DEFAULT_ENCODING "."},
    {"tik count -m gpt-4 < prompt.txt", "Tokens of standard input for a model: just the number."},
    {"tik count -r src --include '*.c' --sort tokens", "Every C file under src, the largest first."},
    {"tik count -m gpt-4o --reserve 1000 --parts book.txt",
     "Tokens, and how many calls they take if 1000 tokens of the window are left for each answer."},
    {"tik count --limit 8000 *.txt", "Which texts have more than 8000 tokens? Status 1 if any has."},
    {NULL, NULL},
};

enum { ORDER_GIVEN, ORDER_TOKENS, ORDER_NAME };

typedef struct count_result {
    const char *name;
    size_t place; /* among the inputs */
    size_t tokens;
    size_t dropped;
    enum { COUNTED, OVER, BINARY, FAILED } outcome;
    char *reason; /* owned; NULL stands for lack of memory */
} count_result;

typedef struct count_work {
    cli_call *call;
    const tik_encoding *encoding;
    tik_options options; /* of each text */
    count_result *results;
    tik_encoder *encoders[CLI_MOST_WORKERS]; /* of each worker, if there is more than one text */
} count_work;

static void set_failed(count_result *result, const char *reason)
{
    size_t size = strlen(reason) + 1;
    result->outcome = FAILED;
    result->reason = malloc(size);
    if (result->reason)
        memcpy(result->reason, reason, size);
}

/* Counts what comes in slices; a source that is whole can be counted so as well. */
static tik_status count_stream(const count_work *work, cli_source *source, count_result *result, tik_error *error)
{
    tik_stream *stream = NULL;
    tik_status status = tik_stream_new(work->encoding, &work->options, &stream, error);
    if (status != TIK_OK)
        return status;
    const char *slice;
    size_t length;
    const size_t limit = work->options.limit;
    const size_t threads = cli_workers(SIZE_MAX, work->options.threads);
    while (status == TIK_OK && (threads > 1 && !limit ? cli_source_fill(source, threads * CLI_LARGE, &slice, &length)
                                                      : cli_source_next(source, &slice, &length))) {
        status = tik_stream_feed(stream, slice, length, NULL, error);
        if (limit && tik_stream_count(stream) > limit)
            break;
    }
    if (status == TIK_OK && !(limit && tik_stream_count(stream) > limit))
        status = tik_stream_finish(stream, NULL, error);
    result->tokens = tik_stream_count(stream);
    result->dropped = tik_stream_dropped(stream);
    tik_stream_free(stream);
    return status;
}

/* A single text may be counted on all threads; of many, each is counted on one. */
static tik_status count_whole(count_work *work, size_t worker, const cli_source *source, size_t *tokens,
                              tik_error *error)
{
    if (work->options.threads != 1)
        return tik_count_with(work->encoding, source->data, source->length, &work->options, tokens, error);
    tik_encoder **encoder = &work->encoders[worker];
    tik_status status = *encoder ? TIK_OK : tik_encoder_new(work->encoding, encoder, error);
    return status == TIK_OK
               ? tik_encoder_count(*encoder, source->data, source->length, &work->options, tokens, error)
               : status;
}

static void count_source(count_work *work, size_t worker, cli_source *source, count_result *result)
{
    tik_error error;
    tik_status status;
    enum { WATCHED_FROM = 1 << 24 };
    bool watched = cli_progress_is_on() && source->length >= WATCHED_FROM;
    /* A user's own pattern may leave bytes out, which only the stream counts; and only it tells how far it is. */
    if (source->whole && !work->call->manifest && !watched) {
        status = count_whole(work, worker, source, &result->tokens, &error);
        cli_progress_add(source->length);
    } else {
        status = count_stream(work, source, result, &error);
    }
    const size_t limit = work->options.limit;
    if (source->failed || status != TIK_OK) {
        set_failed(result, source->failed ? source->reason : error.message);
    } else {
        result->outcome = limit && result->tokens > limit ? OVER : COUNTED;
    }
}

static void count_input(void *context, size_t worker, size_t index)
{
    count_work *work = context;
    count_result *result = &work->results[index];
    cli_source source;
    if (!cli_source_open(&source, result->name)) {
        set_failed(result, source.reason);
    } else if (work->call->recursive && source.whole && cli_looks_binary(source.data, source.length)) {
        result->outcome = BINARY;
    } else {
        count_source(work, worker, &source, result);
    }
    cli_source_close(&source);
}

static int by_place(const void *a, const void *b)
{
    size_t first = ((const count_result *)a)->place;
    size_t second = ((const count_result *)b)->place;
    return (first > second) - (first < second);
}

static int by_tokens(const void *a, const void *b)
{
    const count_result *first = a;
    const count_result *second = b;
    if (first->tokens != second->tokens)
        return first->tokens < second->tokens ? 1 : -1;
    return by_place(a, b);
}

static int by_name(const void *a, const void *b)
{
    int order = strcmp(((const count_result *)a)->name, ((const count_result *)b)->name);
    return order ? order : by_place(a, b);
}

static size_t parts_of(size_t tokens, size_t limit)
{
    return tokens / limit + (tokens % limit != 0);
}

/* What the results come to together. */
typedef struct count_total {
    size_t tokens; /* at least so many if `over` */
    size_t parts;
    size_t counted; /* texts */
    size_t over;    /* texts with more than the limit */
    size_t binary;
    const char *first_binary;
} count_total;

/* Says what went wrong, in the order of the inputs, and sums up what did not. */
static count_total sum(cli_call *call, const count_result *results, size_t count, size_t limit)
{
    count_total total = {0};
    for (size_t i = 0; i < count; i++) {
        const count_result *result = &results[i];
        if (result->outcome == FAILED) {
            cli_blame(call, result->name, "%s", result->reason ? result->reason : "no memory");
        } else if (result->outcome == BINARY) {
            if (total.binary++ == 0)
                total.first_binary = result->name;
        } else {
            total.counted++;
            total.over += result->outcome == OVER;
            total.tokens += result->outcome == OVER ? limit : result->tokens;
            total.parts += limit ? parts_of(result->tokens, limit) : 0;
        }
        if (result->dropped > 0)
            cli_say("%s: %zu bytes are covered by no piece of the pattern and left out",
                    cli_display_name(result->name), result->dropped);
    }
    if (total.binary == 1)
        cli_say("%s: binary, left out", total.first_binary);
    else if (total.binary > 1)
        cli_say("%s and %zu other binary files left out", total.first_binary, total.binary - 1);
    return total;
}

static bool is_shown(const count_result *result)
{
    return result->outcome == COUNTED || result->outcome == OVER;
}

static void out_line(bool over, size_t tokens, bool with_parts, size_t parts, const char *name)
{
    if (over)
        cli_out_char('>');
    cli_out_number(tokens);
    if (with_parts) {
        cli_out_char('\t');
        cli_out_number(parts);
    }
    if (name) {
        cli_out_char('\t');
        cli_out_text(name);
    }
    cli_out_char('\n');
}

static void out_table(const count_result *results, size_t count, const count_total *total, size_t limit,
                      bool with_parts, bool named)
{
    for (size_t i = 0; i < count; i++) {
        const count_result *result = &results[i];
        bool over = result->outcome == OVER && !with_parts;
        size_t parts = with_parts ? parts_of(result->tokens, limit) : 0;
        if (is_shown(result))
            out_line(over, over ? limit : result->tokens, with_parts, parts, named ? result->name : NULL);
    }
    if (count > 1)
        out_line(total->over > 0 && !with_parts, total->tokens, with_parts, total->parts, "total");
}

static void out_json(const tik_encoding *encoding, const count_result *results, size_t count,
                     const count_total *total, size_t limit, bool with_parts)
{
    json_t *files = json_array();
    for (size_t i = 0; i < count; i++) {
        const count_result *result = &results[i];
        if (!is_shown(result))
            continue;
        bool known = result->outcome == COUNTED || with_parts;
        json_t *file = json_pack("{s:o, s:o}", "name", cli_json_string(result->name, strlen(result->name)), "tokens",
                                 known ? json_integer((json_int_t)result->tokens) : json_null());
        if (limit)
            json_object_set_new(file, "fits", json_boolean(result->tokens <= limit));
        if (with_parts)
            json_object_set_new(file, "parts", json_integer((json_int_t)parts_of(result->tokens, limit)));
        json_array_append_new(files, file);
    }
    bool known = total->over == 0 || with_parts;
    json_t *document = json_pack("{s:s, s:o, s:o}", "encoding", tik_name(encoding), "files", files, "total",
                                 known ? json_integer((json_int_t)total->tokens) : json_null());
    if (limit)
        json_object_set_new(document, "limit", json_integer((json_int_t)limit));
    cli_out_json_document(document);
}

/* What the options of this call ask for. */
typedef struct count_wish {
    size_t limit; /* of tokens in a text, what is reserved taken off; 0 for none */
    size_t reserve;
    bool window; /* the limit is the model's window */
    bool parts;
    int order;
} count_wish;

static bool take_limit(cli_call *call, count_wish *wish)
{
    wish->window = strcmp(call->argument, "window") == 0;
    return wish->window || cli_number(call, 1, SIZE_MAX - 1, &wish->limit);
}

/* Finds the limit that the options come to. */
static bool settle_limit(cli_call *call, count_wish *wish)
{
    tik_model_info info = TIK_MODEL_INFO_INIT;
    tik_error error;
    if (wish->limit == 0 && (wish->window || wish->reserve > 0 || wish->parts)) {
        if (!call->model) {
            cli_say("count: say which limit: --limit N, or -m MODEL for its window");
            return false;
        }
        if (tik_prices_find(NULL, call->model, &info, &error) != TIK_OK) {
            cli_say("%s", error.message);
            return false;
        }
        if (info.window == 0) {
            cli_say("count: the window of %s is not known; give it by --limit N", call->model);
            return false;
        }
        wish->limit = info.window;
    }
    if (wish->reserve > 0 && wish->reserve >= wish->limit) {
        cli_say("count: --reserve %zu leaves nothing of %zu tokens", wish->reserve, wish->limit);
        return false;
    }
    wish->limit -= wish->reserve;
    return true;
}

static bool take_options(cli_call *call, count_wish *wish)
{
    static const char *const orders[] = {"given", "tokens", "name", NULL};
    for (int option; (option = cli_next_option(call)) != CLI_NO_MORE_OPTIONS;) {
        if (option == CLI_BAD_OPTION)
            return false;
        if (option == LIMIT && !take_limit(call, wish))
            return false;
        if (option == RESERVE && !cli_number(call, 0, SIZE_MAX - 1, &wish->reserve))
            return false;
        if (option == SORT && (wish->order = cli_choice(call, orders)) < 0)
            return false;
        wish->parts |= option == PARTS;
    }
    return settle_limit(call, wish);
}

static int report(cli_call *call, const count_work *work, const count_wish *wish, size_t count)
{
    count_total total = sum(call, work->results, count, wish->limit);
    if (count > 1 && wish->order != ORDER_GIVEN)
        qsort(work->results, count, sizeof *work->results, wish->order == ORDER_TOKENS ? by_tokens : by_name);
    bool named = call->operand_count > 0 || call->recursive || call->files0_from;
    if (call->json)
        out_json(work->encoding, work->results, count, &total, wish->limit, wish->parts);
    else
        out_table(work->results, count, &total, wish->limit, wish->parts, named);
    bool all_fit = total.over == 0;
    for (size_t i = 0; wish->parts && i < count; i++)
        all_fit &= !is_shown(&work->results[i]) || work->results[i].tokens <= wish->limit;
    return all_fit ? CLI_DONE : CLI_NO;
}

static int count_all(cli_call *call, const tik_encoding *encoding, const count_wish *wish, const cli_names *names)
{
    count_work work = {.call = call, .encoding = encoding, .options = call->options};
    work.options.limit = wish->parts ? 0 : wish->limit;
    if (names->length > 1)
        work.options.threads = 1; /* each thread has a text of its own */
    work.results = calloc(names->length ? names->length : 1, sizeof *work.results);
    if (!work.results)
        return cli_no_memory();
    for (size_t i = 0; i < names->length; i++) {
        work.results[i].name = names->data[i];
        work.results[i].place = i;
    }
    cli_progress_begin(call, "counting", cli_sizes(names), false);
    cli_parallel(names->length, call->options.threads, count_input, &work);
    cli_progress_end();
    int status = report(call, &work, wish, names->length);
    for (size_t i = 0; i < CLI_MOST_WORKERS; i++)
        tik_encoder_free(work.encoders[i]);
    for (size_t i = 0; i < names->length; i++)
        free(work.results[i].reason);
    free(work.results);
    return status;
}

static int run(cli_call *call)
{
    count_wish wish = {0};
    cli_names names = {0};
    int status = CLI_WRONG;
    if (!take_options(call, &wish))
        return CLI_WRONG;
    tik_encoding *encoding = cli_open_encoding(call);
    if (encoding && cli_inputs(call, &names))
        status = count_all(call, encoding, &wish, &names);
    cli_inputs_free(&names);
    tik_close(encoding);
    return status;
}

const cli_command cli_count = {
    .name = "count",
    .operands = "[FILE]...",
    .summary = "How many tokens files, folders or standard input have",
    .description =
        "Prints the number of tokens: for standard input the number alone, for files a line NUMBER<tab>NAME each, "
        "and for more than one a last line NUMBER<tab>total. A file that can't be read is reported, the others "
        "are counted, and the status is 2.\n\n"
        "With --limit N a text of more than N tokens is shown as >N and the status is 1; what follows the first "
        "N tokens is not read.",
    .options = options,
    .examples = examples,
    .run = run,
};
