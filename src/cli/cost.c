/* tik cost: tokens times price, before the call. All amounts are exact until they are rounded for reading. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { OUTPUT = 'o', CALLS = 'n', PRICE = 'p', CACHED = CLI_OWN, TOKENS, WORDS };

static const cli_option options[] = {
    {'m', "model", "MODEL", "what it would cost with this model; can be repeated"},
    {OUTPUT, "output", "N|N%", "tokens of the answer: a number, or a share of the input; 0 if not given"},
    {CACHED, "cached", "N", "so many tokens of the input are read from the service's cache"},
    {CALLS, "calls", "N", "the call is made so often; 1 if not given"},
    {WORDS, "words", "N", "the text is a sample: estimate the cost of N words like it"},
    {TOKENS, "tokens", "N", "the input has N tokens: no text is read"},
    {PRICE, "price", "INPUT[,OUTPUT[,CACHED]]", "prices of a million tokens, instead of a list's"},
    CLI_OPTION_PRICES,
    {'e', "encoding", "ENCODING", "count in this encoding, whatever the model"},
    {CLI_MANIFEST, "manifest", "FILE", "count in the encoding that this manifest file describes"},
    CLI_OPTION_JSON,
    CLI_OPTIONS_FILES,
    CLI_OPTIONS_TEXT,
    CLI_OPTION_QUIET,
    CLI_OPTIONS_END,
};

static const cli_example examples[] = {
    {"tik cost -m gpt-4o prompt.txt", "What does it cost to send this prompt once?"},
    {"tik cost -m gpt-4o -m gpt-4o-mini --output 500 --calls 400 prompt.txt",
     "Two models side by side, for 400 calls with answers of 500 tokens."},
    {"tik cost --price 0.50 --calls 400 prompt.txt", "At half a unit of some currency per million tokens."},
    {"tik cost -m gpt-4 --words 12000 --output 1000 page.txt",
     "A text of 12,000 words, of which one page is at hand: its cost, and into how many calls it must be parted."},
    {NULL, NULL},
};

#define MOST_TOKENS INT64_MAX /* what JSON's integers can hold */

/* What the options of this call ask for. */
typedef struct cost_wish {
    tik_usage usage;
    uint64_t output_percent; /* of the input */
    bool has_output;
    bool has_tokens; /* usage.input is given */
    uint64_t words;  /* 0: the text is no sample */
    bool has_rates;
    tik_rates rates;
} cost_wish;

/* What was counted in one encoding. */
typedef struct cost_counter {
    tik_encoding *encoding;
    tik_stream *stream;
    uint64_t tokens;
} cost_counter;

/* One model, or none if only a price is given. */
typedef struct cost_row {
    const char *model; /* NULL: none */
    tik_model_info info;
    size_t counter; /* its encoding's */
    tik_usage usage;
    tik_cost cost;
    bool has_fit;
    size_t parts; /* that the input must be cut into to fit the window; 0: no answer fits */
} cost_row;

typedef struct cost_work {
    cli_call *call;
    const cost_wish *wish;
    cost_row *rows;
    size_t row_count;
    cost_counter *counters; /* room for one a row */
    size_t counter_count;
    size_t texts;
    uint64_t words;
    bool within_word;
} cost_work;

/* ---- Options ------------------------------------------------------------------------------- */

static bool take_number(cli_call *call, uint64_t least, uint64_t *number)
{
    size_t value;
    if (!cli_number(call, (size_t)least, (size_t)MOST_TOKENS, &value))
        return false;
    *number = value;
    return true;
}

static bool take_output(cli_call *call, cost_wish *wish)
{
    enum { MOST_PERCENT = 1000000 };
    size_t length = strlen(call->argument);
    wish->has_output = true;
    if (length == 0 || call->argument[length - 1] != '%')
        return take_number(call, 0, &wish->usage.output);
    size_t percent;
    call->argument[length - 1] = '\0';
    if (!cli_number(call, 0, MOST_PERCENT, &percent))
        return false;
    wish->output_percent = percent;
    return true;
}

/* INPUT[,OUTPUT[,CACHED]] */
static bool take_price(cli_call *call, cost_wish *wish)
{
    tik_amount amounts[3];
    size_t count = 0;
    tik_error error;
    for (char *at = call->argument, *comma; at; at = comma ? comma + 1 : NULL) {
        comma = strchr(at, ',');
        if (comma)
            *comma = '\0';
        if (count == 3) {
            cli_say("cost: --price takes at most three prices: of input, output, cached input");
            return false;
        }
        if (tik_amount_parse(at, &amounts[count++], &error) != TIK_OK) {
            cli_say("cost: --price: %s", error.message);
            return false;
        }
    }
    wish->has_rates = true;
    wish->rates = (tik_rates){.input = amounts[0], .has_output = count > 1, .has_cached = count > 2};
    if (count > 1)
        wish->rates.output = amounts[1];
    if (count > 2)
        wish->rates.cached = amounts[2];
    return true;
}

static bool take_option(cli_call *call, int option, cost_wish *wish)
{
    switch (option) {
    case OUTPUT:
        return take_output(call, wish);
    case CACHED:
        return take_number(call, 0, &wish->usage.cached);
    case CALLS:
        return take_number(call, 1, &wish->usage.calls);
    case PRICE:
        return take_price(call, wish);
    case WORDS:
        return take_number(call, 1, &wish->words);
    case TOKENS:
        wish->has_tokens = true;
        return take_number(call, 0, &wish->usage.input);
    default:
        return false;
    }
}

static bool take_options(cli_call *call, cost_wish *wish)
{
    for (int option; (option = cli_next_option(call)) != CLI_NO_MORE_OPTIONS;)
        if (!take_option(call, option, wish))
            return false;
    if (call->models.length == 0 && !wish->has_rates) {
        cli_say("cost: name a model with -m, or give a price with --price; tik models lists the models");
        return false;
    }
    if (call->encodings.length + (call->manifest ? 1 : 0) > 1) {
        cli_say("cost: give one of --encoding and --manifest, once");
        return false;
    }
    if (wish->has_tokens && (wish->words || call->operand_count > 0)) {
        cli_say("cost: --tokens says how long the input is: it goes with neither files nor --words");
        return false;
    }
    return true;
}

/* ---- Models and their encodings ------------------------------------------------------------ */

/* What the list says of a row's model, and the prices of the command line before it. */
static bool look_up(const cost_work *work, const tik_prices *prices, cost_row *row)
{
    tik_error error;
    row->info = (tik_model_info)TIK_MODEL_INFO_INIT;
    tik_status status = row->model ? tik_prices_find(prices, row->model, &row->info, &error) : TIK_OK;
    if (status != TIK_OK && !work->wish->has_rates) {
        cli_say("%s", error.message);
    } else if (status == TIK_OK && !row->info.has_rates && !work->wish->has_rates) {
        cli_say("no price of model '%s' is known", row->model);
        status = TIK_ERROR_NAME;
    } else if (work->wish->has_rates) {
        row->info.has_rates = true;
        row->info.rates = work->wish->rates;
        row->info.long_above = 0;
        row->info.currency = row->info.source = row->info.date = row->info.since = NULL;
        status = TIK_OK;
    }
    if (status == TIK_OK)
        return true;
    cli_say("give its price with --price INPUT[,OUTPUT[,CACHED]], of a million tokens, or a list with --prices FILE");
    return false;
}

/* Opens the encoding to count a row's input in. NULL with a message otherwise. */
static tik_encoding *open_for(cli_call *call, const cost_row *row)
{
    tik_encoding *encoding = NULL;
    tik_error error;
    tik_status status;
    const char *name = row->info.encoding;
    if (call->manifest)
        status = tik_open_manifest(call->manifest, &encoding, &error);
    else if (call->encodings.length > 0)
        status = tik_open(call->encodings.data[0], &encoding, &error);
    else if (!row->model)
        status = tik_open(CLI_DEFAULT_ENCODING, &encoding, &error);
    else
        status = name ? tik_open(name, &encoding, &error) : tik_open_model(row->model, &encoding, &error);
    if (status == TIK_OK) {
        if (cli_specials_known(call, encoding))
            return encoding;
        tik_close(encoding);
        return NULL;
    }
    cli_say("%s", error.message);
    if (status == TIK_ERROR_NAME && row->model)
        cli_say("name the encoding to count in with -e ENCODING");
    return NULL;
}

/* Gives a row its counter: one for all that count alike. */
static bool find_counter(cost_work *work, cost_row *row)
{
    tik_encoding *encoding = open_for(work->call, row);
    if (!encoding)
        return false;
    size_t i = 0;
    while (i < work->counter_count && strcmp(tik_name(work->counters[i].encoding), tik_name(encoding)) != 0)
        i++;
    row->counter = i;
    if (i < work->counter_count) {
        tik_close(encoding);
        return true;
    }
    cost_counter *counter = &work->counters[work->counter_count++];
    counter->encoding = encoding;
    tik_error error;
    if (tik_stream_new(encoding, &work->call->options, &counter->stream, &error) == TIK_OK)
        return true;
    cli_say("%s", error.message);
    return false;
}

static bool prepare(cost_work *work, const tik_prices *prices)
{
    for (size_t i = 0; i < work->row_count; i++) {
        cost_row *row = &work->rows[i];
        row->model = work->call->models.length > 0 ? work->call->models.data[i] : NULL;
        if (!look_up(work, prices, row) || (!work->wish->has_tokens && !find_counter(work, row)))
            return false;
    }
    return true;
}

/* ---- Counting ------------------------------------------------------------------------------ */

/* Words as wc counts them: parted by the white space of ASCII. */
static void count_words(cost_work *work, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        bool is_space = text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r');
        work->words += !is_space && !work->within_word;
        work->within_word = !is_space;
    }
}

static bool count_source(cost_work *work, cli_source *source, tik_error *error)
{
    const char *slice;
    size_t length;
    while (cli_source_next(source, &slice, &length)) {
        count_words(work, slice, length);
        for (size_t i = 0; i < work->counter_count; i++)
            if (tik_stream_feed(work->counters[i].stream, slice, length, NULL, error) != TIK_OK)
                return false;
    }
    for (size_t i = 0; !source->failed && i < work->counter_count; i++) {
        cost_counter *counter = &work->counters[i];
        if (tik_stream_finish(counter->stream, NULL, error) != TIK_OK)
            return false;
        counter->tokens += tik_stream_count(counter->stream);
    }
    work->within_word = false;
    return !source->failed;
}

/* The cost of less than all would mislead: any fault ends it. */
static bool count_files(cost_work *work)
{
    cli_names names = {0};
    bool good = cli_inputs(work->call, &names) && work->call->status == CLI_DONE;
    if (good)
        cli_progress_begin(work->call, "counting", cli_sizes(&names), false);
    for (size_t i = 0; good && i < names.length; i++) {
        cli_source source;
        tik_error error;
        good = cli_source_open(&source, names.data[i]);
        bool is_text = !(good && work->call->recursive && source.whole && cli_looks_binary(source.data, source.length));
        if (!good || (is_text && !count_source(work, &source, &error))) {
            cli_blame(work->call, names.data[i], "%s", source.failed ? source.reason : error.message);
            good = false;
        }
        work->texts += good && is_text;
        cli_source_close(&source);
    }
    cli_progress_end();
    cli_inputs_free(&names);
    return good;
}

/* ---- Computing ----------------------------------------------------------------------------- */

/* a * b / c, rounded up; false if that is too large. */
static bool scale(uint64_t a, uint64_t b, uint64_t c, uint64_t *result)
{
    if (b && a > UINT64_MAX / b)
        return false;
    *result = a * b / c + (a * b % c != 0);
    return *result <= MOST_TOKENS;
}

/* The tokens that a row's call uses. */
static bool find_usage(const cost_work *work, cost_row *row)
{
    const cost_wish *wish = work->wish;
    row->usage = wish->usage;
    if (!wish->has_tokens)
        row->usage.input = work->counters[row->counter].tokens;
    if (wish->words && work->words == 0) {
        cli_say("cost: --words: the sample has no words");
        return false;
    }
    if ((wish->words && !scale(row->usage.input, wish->words, work->words, &row->usage.input)) ||
        (wish->output_percent && !scale(row->usage.input, wish->output_percent, 100, &row->usage.output))) {
        cli_say("cost: more tokens than can be counted");
        return false;
    }
    return true;
}

static bool compute(cost_work *work)
{
    for (size_t i = 0; i < work->row_count; i++) {
        cost_row *row = &work->rows[i];
        tik_error error;
        row->cost = (tik_cost)TIK_COST_INIT;
        if (!find_usage(work, row))
            return false;
        if (tik_cost_of(&row->info, &row->usage, &row->cost, &error) != TIK_OK) {
            cli_say("cost: %s", error.message);
            return false;
        }
        row->has_fit = row->info.window > 0;
        if (row->has_fit && tik_window_parts((size_t)row->usage.input, row->info.window, (size_t)row->usage.output,
                                             &row->parts, NULL) != TIK_OK)
            row->parts = 0;
        else if (row->has_fit && row->parts == 0)
            row->parts = 1; /* an empty text */
    }
    return true;
}

/* ---- Output -------------------------------------------------------------------------------- */

/* For reading: two decimals from one unit on, below that three digits that are not zero. */
static void readable(tik_amount amount, char text[TIK_AMOUNT_TEXT])
{
    enum { DIGITS = 3, MOST = 12 };
    unsigned decimals = 2;
    if (amount.whole == 0 && amount.parts > 0) {
        decimals = MOST;
        for (uint64_t rest = amount.parts; rest >= 10; rest /= 10)
            decimals--; /* the place of the first digit */
        decimals = decimals + DIGITS - 1 < MOST ? decimals + DIGITS - 1 : MOST;
    }
    size_t length = tik_amount_text(amount, decimals, text);
    while (decimals > 2 && text[length - 1] == '0') {
        text[--length] = '\0';
        decimals--;
    }
}

static void out_fit(const cost_row *row)
{
    if (!row->has_fit)
        cli_out_text("not known");
    else if (row->parts == 1)
        cli_out_printf("%zu: fits", row->info.window);
    else if (row->parts == 0)
        cli_out_printf("%zu: too small", row->info.window);
    else
        cli_out_printf("%zu: %zu parts", row->info.window, row->parts);
}

static void out_table(const cost_work *work, const tik_model_info *priced)
{
    int width = (int)strlen("MODEL");
    for (size_t i = 0; i < work->row_count; i++)
        if (work->rows[i].model && (int)strlen(work->rows[i].model) > width)
            width = (int)strlen(work->rows[i].model);
    char heading[32];
    snprintf(heading, sizeof heading, "COST%s%.16s", priced->currency ? " " : "", priced->currency ? priced->currency : "");
    cli_out_printf("%-*s %8s %7s %7s %11s  WINDOW\n", width, "MODEL", "INPUT", "CACHED", "OUTPUT", heading);
    for (size_t i = 0; i < work->row_count; i++) {
        const cost_row *row = &work->rows[i];
        char cost[TIK_AMOUNT_TEXT];
        readable(row->cost.total, cost);
        cli_out_printf("%-*s %8llu %7llu %7llu %11s  ", width, row->model ? row->model : "-",
                       (unsigned long long)row->usage.input, (unsigned long long)row->usage.cached,
                       (unsigned long long)row->usage.output, cost);
        out_fit(row);
        cli_out_char('\n');
    }
}

static void out_notes(const cost_work *work, const tik_model_info *priced)
{
    const cost_wish *wish = work->wish;
    bool is_long = false;
    for (size_t i = 0; i < work->row_count; i++)
        is_long |= work->rows[i].cost.is_long;
    if (wish->usage.calls > 1)
        cli_out_printf("The cost is that of %llu calls with so many tokens each.\n",
                       (unsigned long long)wish->usage.calls);
    if (wish->words)
        cli_out_printf("Estimated for %llu words from %llu.\n", (unsigned long long)wish->words,
                       (unsigned long long)work->words);
    if (is_long)
        cli_out_text("An input so long is charged at higher prices.\n");
    if (!wish->has_output)
        cli_out_text("Of the input alone: --output N adds the answer.\n");
    if (wish->has_rates) {
        cli_out_text("Prices: as given.\n");
        return;
    }
    char age[160];
    cli_price_age(priced, age, sizeof age);
    cli_out_printf("Prices: %s.\n", age);
}

static json_t *json_amount(tik_amount amount)
{
    char text[TIK_AMOUNT_TEXT];
    tik_amount_text(amount, TIK_AMOUNT_EXACT, text);
    return json_string(text);
}

static json_t *json_row(const cost_work *work, const cost_row *row)
{
    const char *encoding = work->wish->has_tokens ? NULL : tik_name(work->counters[row->counter].encoding);
    const tik_cost *cost = &row->cost;
    json_t *value = json_pack(
        "{s:s?, s:s?, s:s?, s:I, s:I, s:I, s:{s:o, s:o, s:o, s:o}, s:b, s:s?}", "model", row->model, "listed_as",
        row->info.name, "encoding", encoding, "input", (json_int_t)row->usage.input, "cached",
        (json_int_t)row->usage.cached, "output", (json_int_t)row->usage.output, "cost", "input",
        json_amount(cost->input), "cached", json_amount(cost->cached), "output", json_amount(cost->output), "total",
        json_amount(cost->total), "long", cost->is_long, "prices_since", row->info.since);
    json_object_set_new(value, "window", row->info.window ? json_integer((json_int_t)row->info.window) : json_null());
    json_object_set_new(value, "fits", row->has_fit ? json_boolean(row->parts == 1) : json_null());
    json_object_set_new(value, "parts", row->has_fit && row->parts ? json_integer((json_int_t)row->parts) : json_null());
    return value;
}

static void out_json(const cost_work *work, const tik_model_info *priced)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < work->row_count; i++)
        json_array_append_new(rows, json_row(work, &work->rows[i]));
    json_t *prices = work->wish->has_rates
                         ? json_null()
                         : json_pack("{s:s?, s:s?, s:s?}", "source", priced->source, "date", priced->date, "currency",
                                     priced->currency);
    cli_out_json_document(json_pack("{s:o, s:I, s:b, s:o}", "prices", prices, "calls",
                                    (json_int_t)work->wish->usage.calls, "estimated", work->wish->words > 0, "models",
                                    rows));
}

static void report(const cost_work *work)
{
    const tik_model_info *priced = &work->rows[0].info; /* all are of one list */
    if (work->call->json) {
        out_json(work, priced);
        return;
    }
    out_table(work, priced);
    out_notes(work, priced);
}

static int run(cli_call *call)
{
    cost_wish wish = {.usage = TIK_USAGE_INIT};
    tik_prices *prices = NULL;
    int status = CLI_WRONG;
    if (!take_options(call, &wish) || !cli_open_prices(call, &prices))
        return CLI_WRONG;
    cost_work work = {.call = call, .wish = &wish, .row_count = call->models.length ? call->models.length : 1};
    work.rows = calloc(work.row_count, sizeof *work.rows);
    work.counters = calloc(work.row_count, sizeof *work.counters);
    if (!work.rows || !work.counters) {
        cli_no_memory();
    } else if (prepare(&work, prices) && (wish.has_tokens || count_files(&work)) && compute(&work)) {
        report(&work);
        status = CLI_DONE;
    }
    for (size_t i = 0; i < work.counter_count; i++) {
        tik_stream_free(work.counters[i].stream);
        tik_close(work.counters[i].encoding);
    }
    free(work.counters);
    free(work.rows);
    tik_prices_close(prices);
    return status;
}

const cli_command cli_cost = {
    .name = "cost",
    .operands = "[FILE]...",
    .summary = "What a call would cost: tokens times price",
    .description =
        "Counts the tokens of files or standard input, together the input of one call, and multiplies by the price of "
        "each model. Beside the cost stands whether input and answer fit the model's window, or into how many calls "
        "the input must be parted so that each part fits beside an answer. What a chat request adds to its texts, tik "
        "chat counts.\n\n"
        "Amounts are exact and rounded for reading only, to the nearest and a half upwards; --json has them in full. "
        "The built-in prices have a date, and the output says how old they are. If any file can't be read there is no "
        "result, and the status is 2.",
    .options = options,
    .examples = examples,
    .run = run,
};
