/* main: the table of subcommands, and what is said about them: --help, --version, --describe. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* One line per subcommand, in the order of help. */
static const cli_command *const commands[] = {
    &cli_count,
    &cli_encode,
    &cli_decode,
    &cli_show,
    &cli_stats,
    &cli_cost,
    &cli_chat,
    &cli_truncate,
    &cli_chunk,
    &cli_check,
    &cli_diff,
    &cli_vocab,
    &cli_models,
    &cli_train,
    &cli_explain,
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* Help is laid out for a terminal of 80 columns. */
enum { WIDTH = 79, INDENT = 4 };

/* Writes `text` broken at spaces, each line beginning at `indent`; an empty line parts paragraphs. */
static void out_wrapped(const char *text, size_t indent)
{
    size_t column = 0;
    while (*text) {
        size_t word = strcspn(text, " \n");
        if (column > 0 && column + 1 + word > WIDTH) {
            cli_out_char('\n');
            column = 0;
        }
        if (column > 0) {
            cli_out_char(' ');
            column++;
        }
        for (; column < indent; column++)
            cli_out_char(' ');
        cli_out(text, word);
        column += word;
        text += word;
        if (*text == '\n') {
            cli_out_text("\n\n");
            column = 0;
        }
        text += strspn(text, " \n");
    }
    cli_out_char('\n');
}

static void out_option(const cli_option *option)
{
    if (option->id < CLI_MANIFEST)
        cli_out_printf("  -%c, --%s", option->id, option->name);
    else
        cli_out_printf("      --%s", option->name);
    if (option->argument)
        cli_out_printf(" %s", option->argument);
    cli_out_char('\n');
    out_wrapped(option->help, 2 * INDENT + 2);
}

void cli_help(const cli_command *command)
{
    cli_out_printf("Usage: tik %s [OPTION]...%s%s\n", command->name, *command->operands ? " " : "",
                   command->operands);
    size_t last = strlen(command->summary) - 1;
    cli_out_printf("%s%s\n\n", command->summary, command->summary[last] == '?' ? "" : ".");
    out_wrapped(command->description, 0);
    cli_out_text("\nOptions:\n");
    for (const cli_option *option = command->options; option->name; option++)
        out_option(option);
    if (command->examples && command->examples->command)
        cli_out_text("\nExamples:\n");
    for (const cli_example *example = command->examples; example && example->command; example++) {
        cli_out_printf("  %s\n", example->command);
        out_wrapped(example->what, 2 * INDENT + 2);
    }
}

static void help(void)
{
    cli_out_text("Usage: tik COMMAND [OPTION]... [FILE]...\n"
                 "Counts, encodes and decodes tokens exactly as tiktoken does.\n\n"
                 "Commands:\n");
    for (size_t i = 0; i < COMMANDS; i++)
        cli_out_printf("  %-10s%s\n", commands[i]->name, commands[i]->summary);
    cli_out_text("\n"
                 "tik COMMAND --help says more. Without a file, or for -, standard input is read.\n"
                 "The encoding is " CLI_DEFAULT_ENCODING " unless -e ENCODING or -m MODEL says otherwise.\n"
                 "Exit status: 0 done; 1 the answer is no; 2 the call or the input is wrong.\n"
                 "tik --version tells the versions of tik and of what it is made of.\n");
}

/* One more than the number of single-character edits that it takes from `a` to `b`, for short names. */
static size_t edits(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    size_t row[LONGEST + 1];
    size_t columns = strlen(b);
    if (columns > LONGEST || strlen(a) > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= columns; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < columns; j++) {
            size_t best = diagonal + (a[i] != b[j]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j + 1] + 1 < best)
                best = row[j + 1] + 1;
            diagonal = row[j + 1];
            row[j + 1] = best;
        }
    }
    return row[columns];
}

static const cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int refuse_command(const char *name)
{
    const cli_command *nearest = commands[0];
    for (size_t i = 1; i < COMMANDS; i++)
        if (edits(name, commands[i]->name) < edits(name, nearest->name))
            nearest = commands[i];
    if (edits(name, nearest->name) <= 2)
        cli_say("no command '%s'; did you mean %s? tik --help lists them", name, nearest->name);
    else
        cli_say("no command '%s'; tik --help lists them", name);
    return CLI_WRONG;
}

static json_t *describe_options(const cli_option *options)
{
    json_t *list = json_array();
    for (const cli_option *option = options; option->name; option++) {
        char letter[2] = {option->id < CLI_MANIFEST ? (char)option->id : '\0', '\0'};
        json_array_append_new(list, json_pack("{s:s, s:s, s:s?, s:s}", "name", option->name, "letter", letter,
                                              "argument", option->argument, "help", option->help));
    }
    return list;
}

/* Everything that --help says, as JSON: the manual pages and completions are made from it. */
static int describe(void)
{
    json_t *list = json_array();
    for (size_t i = 0; i < COMMANDS; i++) {
        const cli_command *command = commands[i];
        json_t *examples = json_array();
        for (const cli_example *example = command->examples; example && example->command; example++)
            json_array_append_new(examples,
                                  json_pack("{s:s, s:s}", "command", example->command, "what", example->what));
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "name", command->name, "operands",
                                              command->operands, "summary", command->summary, "description",
                                              command->description, "options", describe_options(command->options),
                                              "examples", examples));
    }
    cli_out_json_document(json_pack("{s:s, s:o}", "version", tik_version(), "commands", list));
    return CLI_DONE;
}

/*
 * The library takes no notice of a word that it doesn't know in the variables that choose its engines, since a
 * program that links it must go on. Typed for the command it is a mistake, and the wrong engine would be measured.
 */
static bool check_environment(void)
{
    static const struct {
        const char *variable;
        const char *words[5];
    } known[] = {
        {"TIK_ISA", {"portable", "avx2", "avx512", "neon"}},
        {"TIK_SPLIT", {"pcre2", "backtrack"}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *value = getenv(known[i].variable);
        const char *const *word = known[i].words;
        if (!value || !*value)
            continue;
        while (*word && strcmp(*word, value) != 0)
            word++;
        if (*word)
            continue;
        cli_say("the environment has %s=%s, which is none of %s, %s%s; unset it to have the engine chosen",
                known[i].variable, value, known[i].words[0], known[i].words[1], i == 0 ? ", avx512, neon" : "");
        return false;
    }
    return true;
}

static int run_command(int argc, char **argv)
{
    const cli_command *command = find_command(argv[0]);
    if (!command)
        return refuse_command(argv[0]);
    if (!check_environment())
        return CLI_WRONG;
    for (const cli_option *option = command->options; option->name; option++)
        cli_takes_folders |= option->id == 'r';
    cli_call call = {.command = command, .argc = argc, .argv = argv};
    call.options = (tik_options)TIK_OPTIONS_ORDINARY;
    call.cut = (tik_cut_options)TIK_CUT_OPTIONS_INIT;
    call.cut.special = &call.options;
    call.options.threads = TIK_ALL_THREADS;
    int status = command->run(&call);
    cli_progress_end();
    cli_names_free(&call.encodings);
    cli_names_free(&call.models);
    cli_names_free(&call.specials);
    cli_names_free(&call.include);
    cli_names_free(&call.exclude);
    return status > call.status ? status : call.status;
}

/*
 * A file that is opened gets the lowest free descriptor: with a standard one closed (<&-, >&-, 2>&-), it would be
 * taken for it, and messages could land in a result. So they are filled, each the wrong way round: reading
 * standard input or writing to the others still fails.
 */
static bool hold_standard_descriptors(void)
{
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0 &&
            open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) != descriptor)
            return false;
    return true;
}

int main(int argc, char **argv)
{
    int status = CLI_DONE;
    const char *first = argc > 1 ? argv[1] : "";
    if (!hold_standard_descriptors()) {
        cli_say("/dev/null, which stands in for a standard stream that is closed, can't be opened");
        status = CLI_WRONG;
    } else if (argc < 2) {
        cli_say("no command is given; tik --help lists them");
        status = CLI_WRONG;
    } else if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0) {
        const cli_command *command = argc > 2 ? find_command(argv[2]) : NULL;
        if (argc > 2 && !command)
            status = refuse_command(argv[2]);
        else if (command)
            cli_help(command);
        else
            help();
    } else if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        out_wrapped(tik_version_details(), 0);
    } else if (strcmp(first, "--describe") == 0) {
        status = describe();
    } else {
        status = run_command(argc - 1, argv + 1);
    }
    cli_out_flush();
    return status;
}
