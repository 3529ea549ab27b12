/* tik models: encoding, window and prices of each model. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const cli_option options[] = {
    CLI_OPTION_PRICES,
    CLI_OPTION_JSON,
    CLI_OPTIONS_END,
};

static const cli_example examples[] = {
    {"tik models", "All of them; gpt-4o-* stands for all names that begin with gpt-4o-."},
    {"tik models gpt-4o gpt-4.1-mini", "What is known of these two."},
    {NULL, NULL},
};

enum { NAME_WIDTH = 29 }; /* the longest name of an encoding's model, for a line of 79 columns */

/* What is known of a model, or of all whose names begin so. */
typedef struct model_row {
    const char *name;
    bool is_prefix;
    const char *encoding; /* NULL: not known */
    tik_model_info info;  /* without a name: neither window nor price is known */
} model_row;

typedef struct model_table {
    model_row *rows;
    size_t count;
    size_t capacity;
} model_table;

static bool add(model_table *table, const tik_prices *prices, const char *name, bool is_prefix, const char *encoding)
{
    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? 2 * table->capacity : 64;
        model_row *rows = realloc(table->rows, capacity * sizeof *rows);
        if (!rows)
            return false;
        table->rows = rows;
        table->capacity = capacity;
    }
    model_row *row = &table->rows[table->count++];
    *row = (model_row){name, is_prefix, encoding, TIK_MODEL_INFO_INIT};
    if (!is_prefix && tik_prices_find(prices, name, &row->info, NULL) == TIK_OK && !encoding)
        row->encoding = row->info.encoding;
    return true;
}

static bool is_there(const model_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (!table->rows[i].is_prefix && strcmp(table->rows[i].name, name) == 0)
            return true;
    return false;
}

/* The reference's names in its order, then those that only the price list has. */
static bool add_all(model_table *table, const tik_prices *prices)
{
    tik_model_name model;
    tik_model_info info = TIK_MODEL_INFO_INIT;
    for (size_t i = 0; tik_model_at(i, &model); i++)
        if (!add(table, prices, model.name, model.is_prefix, model.encoding))
            return false;
    for (size_t i = 0; tik_prices_at(prices, i, &info); i++)
        if (!is_there(table, info.name) && !add(table, prices, info.name, false, info.encoding))
            return false;
    return true;
}

/* The models that the call names. One of which nothing is known is reported. */
static bool add_named(cli_call *call, model_table *table, const tik_prices *prices)
{
    for (size_t i = 0; i < call->operand_count; i++) {
        const char *name = call->operands[i];
        const char *encoding = NULL;
        tik_error error;
        tik_model_info info = TIK_MODEL_INFO_INIT;
        bool known = tik_encoding_for_model(name, &encoding, &error) == TIK_OK;
        if (!known && tik_prices_find(prices, name, &info, NULL) != TIK_OK)
            cli_blame(call, NULL, "%s", error.message);
        else if (!add(table, prices, name, false, encoding))
            return false;
    }
    return true;
}

/* A price as it is printed, in `text`; "-" if there is none. */
static const char *price_text(bool known, tik_amount price, char text[TIK_AMOUNT_TEXT])
{
    if (!known)
        return "-";
    tik_amount_text(price, TIK_AMOUNT_EXACT, text);
    return text;
}

/* Aligned on a terminal, parted by tabs for programs. */
static void out_row(const model_row *row, bool aligned)
{
    char window[TIK_AMOUNT_TEXT] = "-";
    char prices[3][TIK_AMOUNT_TEXT];
    const tik_model_info *info = &row->info;
    const tik_rates *rates = &info->rates;
    if (info->window)
        tik_amount_text((tik_amount){info->window, 0}, 0, window);
    const char *input = price_text(info->has_rates, rates->input, prices[0]);
    const char *cached = price_text(rates->has_cached, rates->cached, prices[1]);
    const char *output = price_text(rates->has_output, rates->output, prices[2]);
    const char *encoding = row->encoding ? row->encoding : "-";
    const char *star = row->is_prefix ? "*" : "";
    if (aligned) {
        size_t length = strlen(row->name);
        cli_out_printf("%s%-*s %-13s %8s %8s %6s %8s\n", row->name, length < NAME_WIDTH ? (int)(NAME_WIDTH - length) : 0,
                       star, encoding, window, input, cached, output);
    } else {
        cli_out_printf("%s%s\t%s\t%s\t%s\t%s\t%s\n", row->name, star, encoding, window, input, cached, output);
    }
}

static void out_table(const model_table *table)
{
    bool aligned = isatty(STDOUT_FILENO);
    const tik_model_info *priced = NULL;
    if (aligned)
        cli_out_printf("%-*s %-13s %8s %8s %6s %8s\n", NAME_WIDTH, "MODEL", "ENCODING", "WINDOW", "INPUT", "CACHED", "OUTPUT");
    for (size_t i = 0; i < table->count; i++) {
        out_row(&table->rows[i], aligned);
        if (table->rows[i].info.has_rates)
            priced = &table->rows[i].info;
    }
    if (priced) {
        char age[160];
        cli_price_age(priced, age, sizeof age);
        cli_out_flush();
        cli_say("%s per million tokens: %s", priced->currency, age);
    }
}

static json_t *json_price(bool known, tik_amount price)
{
    char text[TIK_AMOUNT_TEXT];
    return known ? json_string(price_text(known, price, text)) : json_null();
}

static json_t *json_rates(const tik_rates *rates)
{
    return json_pack("{s:o, s:o, s:o}", "input", json_price(true, rates->input), "cached",
                     json_price(rates->has_cached, rates->cached), "output",
                     json_price(rates->has_output, rates->output));
}

static void out_json(const model_table *table)
{
    json_t *models = json_array();
    for (size_t i = 0; i < table->count; i++) {
        const model_row *row = &table->rows[i];
        const tik_model_info *info = &row->info;
        json_t *model = json_pack("{s:s, s:s?, s:b}", "name", row->name, "encoding", row->encoding, "prefix",
                                  row->is_prefix);
        if (info->window)
            json_object_set_new(model, "window", json_integer((json_int_t)info->window));
        if (info->has_rates)
            json_object_set_new(model, "price", json_rates(&info->rates));
        if (info->long_above) {
            json_t *rates = json_rates(&info->long_rates);
            json_object_set_new(rates, "above", json_integer((json_int_t)info->long_above));
            json_object_set_new(model, "long", rates);
        }
        if (info->has_rates)
            json_object_update_new(model, json_pack("{s:s?, s:s?, s:s?, s:s?}", "currency", info->currency, "date",
                                                    info->date, "since", info->since, "source", info->source));
        json_array_append_new(models, model);
    }
    cli_out_json_document(models);
}

static int run(cli_call *call)
{
    tik_prices *prices = NULL;
    model_table table = {0};
    if (!cli_only_common_options(call) || !cli_open_prices(call, &prices))
        return CLI_WRONG;
    int status = CLI_DONE;
    if (!(call->operand_count > 0 ? add_named(call, &table, prices) : add_all(&table, prices)))
        status = cli_no_memory();
    else if (call->json)
        out_json(&table);
    else
        out_table(&table);
    free(table.rows);
    tik_prices_close(prices);
    return status;
}

const cli_command cli_models = {
    .name = "models",
    .operands = "[MODEL]...",
    .summary = "Encoding, context window and prices of each model",
    .description =
        "Lists what is known of models: encoding, window in tokens, prices of a million tokens of input, cached input "
        "and output. A name that ends with * is a prefix: every model whose name begins so has that encoding, unless "
        "it is listed itself. A dash stands for what is not known. In a pipe a line is MODEL<tab>ENCODING<tab>WINDOW"
        "<tab>INPUT<tab>CACHED<tab>OUTPUT; how old the prices are is said on standard error.",
    .options = options,
    .examples = examples,
    .run = run,
};
