/* tik models: which encoding a model has. */
#include "cli.h"

static const cli_option options[] = {
    CLI_OPTION_JSON,
    CLI_OPTIONS_END,
};

static const cli_example examples[] = {
    {"tik models", "MODEL<tab>ENCODING a line; gpt-4o-* stands for all names that begin with gpt-4o-."},
    {NULL, NULL},
};

static void out_json(void)
{
    json_t *models = json_array();
    tik_model_name model;
    for (size_t i = 0; tik_model_at(i, &model); i++)
        json_array_append_new(models, json_pack("{s:s, s:s, s:b}", "name", model.name, "encoding", model.encoding,
                                                "prefix", model.is_prefix));
    cli_out_json_document(models);
}

static int run(cli_call *call)
{
    if (!cli_only_common_options(call))
        return CLI_WRONG;
    if (call->operand_count > 0) {
        cli_say("models: takes no names; it lists all");
        return CLI_WRONG;
    }
    tik_model_name model;
    if (call->json)
        out_json();
    else
        for (size_t i = 0; tik_model_at(i, &model); i++)
            cli_out_printf("%s%s\t%s\n", model.name, model.is_prefix ? "*" : "", model.encoding);
    return CLI_DONE;
}

const cli_command cli_models = {
    .name = "models",
    .operands = "",
    .summary = "Which encoding each model has",
    .description = "Lists the models whose encoding is known. A name that ends with * is a prefix: every model whose "
                   "name begins so has that encoding, unless it is listed itself.",
    .options = options,
    .examples = examples,
    .run = run,
};
