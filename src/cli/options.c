/* Options: getopt_long over a subcommand's table, with messages of our own; the common options' meaning. */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { MOST_OPTIONS = 64, MOST_THREADS = 1024 };

bool cli_names_add(cli_names *names, char *name)
{
    if (names->length == names->capacity) {
        size_t capacity = names->capacity ? 2 * names->capacity : 8;
        if (capacity > SIZE_MAX / sizeof *names->data)
            return false;
        char **data = realloc(names->data, capacity * sizeof *data);
        if (!data)
            return false;
        names->data = data;
        names->capacity = capacity;
    }
    names->data[names->length++] = name;
    return true;
}

void cli_names_free(cli_names *names)
{
    free(names->data);
    *names = (cli_names){0};
}

static const cli_option *find_option(const cli_option *options, int id)
{
    for (const cli_option *option = options; option->name; option++)
        if (option->id == id)
            return option;
    return NULL;
}

static void hint(const cli_call *call)
{
    cli_say("see tik %s --help", call->command->name);
}

/* getopt_long has refused an option: says which and why. */
static void refuse(cli_call *call, int code, const char *word)
{
    const char *command = call->command->name;
    const cli_option *known = find_option(call->command->options, optopt);
    if (code == ':' && known)
        cli_say("%s: --%s needs an argument: %s", command, known->name, known->argument);
    else if (known && strncmp(word, "--", 2) == 0)
        cli_say("%s: --%s takes no argument", command, known->name);
    else if (strncmp(word, "--", 2) == 0)
        cli_say("%s: no option %s, or more than one begins so", command, word);
    else
        cli_say("%s: no option -%c", command, optopt);
    hint(call);
}

static void refuse_value(const cli_call *call, const char *format, ...) CLI_PRINTF(2, 3);

/* Says what is wrong with call->argument, an option's or the subcommand's own. */
static void refuse_value(const cli_call *call, const char *format, ...)
{
    char fault[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault, sizeof fault, format, arguments);
    va_end(arguments);
    cli_say("%s: %s%s%s'%s' %s", call->command->name, call->option ? "--" : "", call->option ? call->option : "",
            call->option ? ": " : "", call->argument, fault);
    hint(call);
}

bool cli_number(cli_call *call, size_t least, size_t most, size_t *number)
{
    const char *text = call->argument;
    size_t value = 0;
    bool good = *text != '\0';
    for (const char *c = text; good && *c; c++) {
        good = *c >= '0' && *c <= '9' && value <= SIZE_MAX / 10 && 10 * value <= SIZE_MAX - (size_t)(*c - '0');
        if (good)
            value = 10 * value + (size_t)(*c - '0');
    }
    if (good && value >= least && value <= most) {
        *number = value;
        return true;
    }
    refuse_value(call, "is not a whole number from %zu to %zu", least, most);
    return false;
}

int cli_choice(cli_call *call, const char *const *choices)
{
    char known[256] = "";
    size_t used = 0;
    for (int i = 0; choices[i]; i++) {
        if (strcmp(call->argument, choices[i]) == 0)
            return i;
        int written = snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", choices[i]);
        if (written > 0 && (size_t)written < sizeof known - used)
            used += (size_t)written;
    }
    refuse_value(call, "is none of %s", known);
    return -1;
}

/* text, reject, all, or names parted by commas, which stay in the argument's own memory. */
static bool take_special(cli_call *call, char *argument)
{
    tik_options *options = &call->options;
    if (strcmp(argument, "text") == 0 || strcmp(argument, "reject") == 0) {
        options->allowed = TIK_SET_NONE;
        options->disallowed = *argument == 't' ? TIK_SET_NONE : TIK_SET_ALL;
        return true;
    }
    options->disallowed = TIK_SET_NONE;
    if (strcmp(argument, "all") == 0) {
        options->allowed = TIK_SET_ALL;
        return true;
    }
    options->allowed = TIK_SET_LISTED;
    for (char *name = argument; name;) {
        char *comma = strchr(name, ',');
        if (comma)
            *comma = '\0';
        if (!cli_names_add(&call->specials, name)) {
            cli_no_memory();
            return false;
        }
        name = comma ? comma + 1 : NULL;
    }
    options->allowed_list = (const char *const *)call->specials.data;
    options->allowed_count = call->specials.length;
    return true;
}

static bool take_invalid(cli_call *call)
{
    static const char *const choices[] = {"reject", "replace", NULL};
    int choice = cli_choice(call, choices);
    call->options.replace_invalid = choice == 1;
    return choice >= 0;
}

/* Named in the order of tik_boundary. */
static bool take_at(cli_call *call)
{
    static const char *const choices[] = {"character", "word", "sentence", "line", "paragraph", NULL};
    int choice = cli_choice(call, choices);
    call->cut.at = (tik_boundary)(choice < 0 ? 0 : choice);
    return choice >= 0;
}

static bool take_threads(cli_call *call)
{
    size_t threads;
    if (!cli_number(call, 1, MOST_THREADS, &threads))
        return false;
    call->options.threads = (unsigned)threads;
    return true;
}

static bool take_name(cli_names *names, char *name)
{
    if (cli_names_add(names, name))
        return true;
    cli_no_memory();
    return false;
}

/* Takes a common option: 1 done, 0 not a common one, -1 refused with a message. */
static int take_common(cli_call *call, int id)
{
    bool good = true;
    switch (id) {
    case 'h':
        cli_help(call->command);
        cli_out_flush();
        exit(CLI_DONE);
    case 'e':
        good = take_name(&call->encodings, call->argument);
        break;
    case 'm':
        call->model = call->argument;
        good = take_name(&call->models, call->argument);
        break;
    case CLI_MANIFEST:
        call->manifest = call->argument;
        break;
    case CLI_PRICES:
        call->prices = call->argument;
        break;
    case CLI_JSON:
        call->json = true;
        break;
    case CLI_SPECIAL:
        good = take_special(call, call->argument);
        break;
    case CLI_INVALID:
        good = take_invalid(call);
        break;
    case 'j':
        good = take_threads(call);
        break;
    case 'r':
        call->recursive = true;
        break;
    case CLI_INCLUDE:
        good = take_name(&call->include, call->argument);
        break;
    case CLI_EXCLUDE:
        good = take_name(&call->exclude, call->argument);
        break;
    case CLI_AT:
        good = take_at(call);
        break;
    case CLI_GRAPHEMES:
        call->cut.graphemes = true;
        break;
    case 'q':
        call->quiet = true;
        break;
    case CLI_FILES0_FROM:
        call->files0_from = call->argument;
        break;
    default:
        return 0;
    }
    return good ? 1 : -1;
}

int cli_next_option(cli_call *call)
{
    char letters[2 * MOST_OPTIONS + 2];
    struct option longs[MOST_OPTIONS + 1];
    char *letter = letters;
    size_t count = 0;
    *letter++ = ':'; /* a missing argument is told apart, and getopt prints nothing */
    for (const cli_option *option = call->command->options; option->name && count < MOST_OPTIONS; option++) {
        longs[count++] = (struct option){option->name, option->argument ? required_argument : no_argument, NULL,
                                         option->id};
        if (option->id < CLI_MANIFEST) {
            *letter++ = (char)option->id;
            if (option->argument)
                *letter++ = ':';
        }
    }
    *letter = '\0';
    longs[count] = (struct option){0};

    for (;;) {
        int before = optind;
        int id = getopt_long(call->argc, call->argv, letters, longs, NULL);
        if (id == -1) {
            call->option = NULL;
            call->operands = call->argv + optind;
            call->operand_count = (size_t)(call->argc - optind);
            return CLI_NO_MORE_OPTIONS;
        }
        if (id == '?' || id == ':') {
            refuse(call, id, call->argv[before < optind ? optind - 1 : before]);
            return CLI_BAD_OPTION;
        }
        call->argument = optarg;
        call->option = find_option(call->command->options, id)->name;
        int taken = take_common(call, id);
        if (taken < 0)
            return CLI_BAD_OPTION;
        if (taken == 0)
            return id;
    }
}

bool cli_only_common_options(cli_call *call)
{
    return cli_next_option(call) == CLI_NO_MORE_OPTIONS;
}

static bool has_special(const tik_encoding *encoding, const char *name)
{
    tik_special special;
    for (size_t i = 0; tik_special_at(encoding, i, &special, NULL) == TIK_OK; i++)
        if (special.length == strlen(name) && memcmp(special.text, name, special.length) == 0)
            return true;
    return false;
}

bool cli_specials_known(const cli_call *call, const tik_encoding *encoding)
{
    for (size_t i = 0; i < call->specials.length; i++)
        if (!has_special(encoding, call->specials.data[i])) {
            cli_say("%s: --special: %s has no special token '%s'", call->command->name, tik_name(encoding),
                    call->specials.data[i]);
            hint(call);
            return false;
        }
    return true;
}

tik_encoding *cli_open_encoding(cli_call *call)
{
    size_t given = call->encodings.length + call->models.length + (call->manifest ? 1 : 0);
    if (given > 1) {
        cli_say("%s: give one of --encoding, --model and --manifest, once", call->command->name);
        return NULL;
    }
    tik_encoding *encoding = NULL;
    tik_error error;
    tik_status status;
    if (call->model)
        status = tik_open_model(call->model, &encoding, &error);
    else if (call->manifest)
        status = tik_open_manifest(call->manifest, &encoding, &error);
    else
        status = tik_open(call->encodings.length ? call->encodings.data[0] : CLI_DEFAULT_ENCODING, &encoding, &error);
    if (status != TIK_OK) {
        cli_say("%s", error.message);
        return NULL;
    }
    if (cli_specials_known(call, encoding))
        return encoding;
    tik_close(encoding);
    return NULL;
}
