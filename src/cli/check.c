/*
 * tik check: holds the ids of texts to a file of published ids. A case is a text with the ids it should
 * have; the file is one case in any format of tik encode, or JSON Lines with many.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

enum { FORMAT = 'f', IDS = CLI_OWN, UPDATE, REPORT };

static const cli_option options[] = {
    {IDS, "ids", "FILE", "the ids that the text should have, or JSON Lines of texts and ids; must be given"},
    {FORMAT, "format", "plain|json|u32le|jsonl", "what FILE is in; found out if not given"},
    {UPDATE, "update", NULL, "write FILE anew with the ids that the texts have now"},
    {REPORT, "report", "tap|junit", "print a report of every case for a CI system"},
    CLI_OPTIONS_ENCODING,
    CLI_OPTIONS_TEXT,
    CLI_OPTIONS_END,
};

static const cli_example examples[] = {
    {"tik encode -e cl100k_base prompt.txt > prompt.ids", "Keep the ids of a text beside it."},
    {"tik check -e cl100k_base --ids prompt.ids prompt.txt", "Quiet and status 0 as long as the ids are the same."},
    {"tik check -m gpt-4o --ids cases.jsonl --report junit > report.xml",
     "Many cases, each line {\"text\": ..., \"ids\": [...]}, and a report for CI."},
    {NULL, NULL},
};

enum { PLAIN = CLI_IDS_PLAIN, JSON = CLI_IDS_JSON, U32LE = CLI_IDS_U32LE, JSONL };
enum { QUIET, TAP, JUNIT };
enum { SHOWN_CASES = 10, NAME_ROOM = 300, DETAIL_ROOM = 2000, SHOWN_BYTES = 40 };

typedef struct check_run {
    cli_call *call;
    const tik_encoding *encoding;
    const char *file;
    int format;
    int report;
    bool update;
    size_t cases;
    size_t different;
    tik_ids expected;
    tik_ids found;
    tik_sizes offsets;
} check_run;

/* ---- Showing a difference ------------------------------------------------------------------ */

typedef struct detail {
    char text[DETAIL_ROOM];
    size_t length;
} detail;

static void add(detail *to, const char *bytes, size_t length)
{
    if (length < sizeof to->text - to->length) {
        memcpy(to->text + to->length, bytes, length);
        to->length += length;
    }
    to->text[to->length] = '\0';
}

static void add_text(detail *to, const char *text)
{
    add(to, text, strlen(text));
}

static void add_number(detail *to, size_t number)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%zu", number);
    add_text(to, digits);
}

static void add_quoted(detail *to, const char *bytes, size_t length)
{
    add_text(to, "\"");
    for (size_t i = 0; i < length;) {
        char shown[4];
        size_t written;
        i += cli_quote_next(bytes + i, length - i, shown, &written);
        add(to, shown, written);
    }
    add_text(to, "\"");
}

static void add_id(detail *to, const check_run *run, const char *what, const tik_ids *ids, size_t index)
{
    const char *bytes;
    size_t length;
    add_text(to, what);
    if (index >= ids->length) {
        add_text(to, "no more ids");
    } else {
        add_number(to, ids->data[index]);
        add_text(to, " ");
        if (tik_token_bytes(run->encoding, ids->data[index], &bytes, &length, NULL) == TIK_OK)
            add_quoted(to, bytes, length < 2 * SHOWN_BYTES ? length : 2 * SHOWN_BYTES);
        else
            add_text(to, "(no such token)");
    }
    add_text(to, "\n");
}

/* The first place where expected and found ids part; false if they don't. */
static bool first_difference(const check_run *run, size_t *index)
{
    const tik_ids *expected = &run->expected;
    const tik_ids *found = &run->found;
    size_t both = expected->length < found->length ? expected->length : found->length;
    *index = 0;
    while (*index < both && expected->data[*index] == found->data[*index])
        ++*index;
    return *index < both || expected->length != found->length;
}

static void describe(const check_run *run, const char *text, size_t length, size_t index, detail *to)
{
    size_t byte = index < run->offsets.length ? run->offsets.data[index] : length;
    size_t line = 1;
    for (size_t i = 0; i < byte; i++)
        line += text[i] == '\n';
    size_t from = byte > SHOWN_BYTES ? byte - SHOWN_BYTES : 0;
    while (from > 0 && ((unsigned char)text[from] & 0xC0) == 0x80)
        from--;
    size_t after = length - byte < SHOWN_BYTES ? length - byte : SHOWN_BYTES;
    add_text(to, "ids differ at token ");
    add_number(to, index);
    add_text(to, ", byte ");
    add_number(to, byte);
    add_text(to, ", line ");
    add_number(to, line);
    add_text(to, " (tokens and bytes from 0)\n");
    add_id(to, run, "expected ", &run->expected, index);
    add_id(to, run, "found    ", &run->found, index);
    add_text(to, "after    ");
    add_quoted(to, text + from, byte - from);
    add_text(to, "\nbefore   ");
    add_quoted(to, text + byte, after);
    add_text(to, "\nexpected ");
    add_number(to, run->expected.length);
    add_text(to, " ids, found ");
    add_number(to, run->found.length);
    add_text(to, "\n");
}

static void out_indented(const char *text, const char *indent)
{
    while (*text) {
        size_t line = strcspn(text, "\n");
        cli_out_text(indent);
        cli_out(text, line);
        cli_out_char('\n');
        text += line + (text[line] == '\n');
    }
}

static void out_xml(const char *text)
{
    for (; *text; text++) {
        const char *entity = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;"
                           : *text == '"' ? "&quot;" : NULL;
        if (entity)
            cli_out_text(entity);
        else
            cli_out_char(*text);
    }
}

/* Reports one case; `what` is NULL if it is as it should be. */
static void report_case(check_run *run, const char *name, const detail *what)
{
    run->cases++;
    run->different += what != NULL;
    if (run->report == TAP) {
        cli_out_printf("%s %zu - %s\n", what ? "not ok" : "ok", run->cases, name);
        if (what)
            out_indented(what->text, "# ");
    } else if (run->report == JUNIT) {
        cli_out_text("  <testcase classname=\"tik check\" name=\"");
        out_xml(name);
        cli_out_text(what ? "\">\n    <failure message=\"ids differ\">" : "\"/>\n");
        if (what) {
            out_xml(what->text);
            cli_out_text("</failure>\n  </testcase>\n");
        }
    } else if (what && run->different <= SHOWN_CASES) {
        cli_out_printf("%s: ", name);
        size_t first = strcspn(what->text, "\n") + 1;
        cli_out(what->text, first);
        out_indented(what->text + first, "  ");
    }
}

/* ---- One case ------------------------------------------------------------------------------ */

/* Encodes the text; run->expected has what its ids should be. False: not encodable, the message is out. */
static bool check_case(check_run *run, const char *name, const char *text, size_t length)
{
    tik_error error;
    size_t index;
    run->found.length = run->offsets.length = 0;
    if (tik_encode_offsets(run->encoding, text, length, &run->call->options, &run->found, &run->offsets, &error) !=
        TIK_OK) {
        cli_blame(run->call, name, "%s", error.message);
        return false;
    }
    if (run->update)
        return true;
    if (first_difference(run, &index)) {
        static detail what;
        what.length = 0;
        describe(run, text, length, index, &what);
        report_case(run, name, &what);
    } else {
        report_case(run, name, NULL);
    }
    return true;
}

static bool append_id(void *context, uint32_t id)
{
    tik_ids *ids = context;
    if (ids->length == ids->capacity) {
        size_t capacity = ids->capacity ? 2 * ids->capacity : 1024;
        uint32_t *data = capacity <= SIZE_MAX / sizeof *data ? realloc(ids->data, capacity * sizeof *data) : NULL;
        if (!data)
            return false;
        ids->data = data;
        ids->capacity = capacity;
    }
    ids->data[ids->length++] = id;
    return true;
}

/* ---- The file of ids ----------------------------------------------------------------------- */

/* Raw ids have a zero as their fourth byte, which no text has; JSON shows by its first character. */
static int guess_format(const char *data, size_t length)
{
    if (length >= 4 && length % 4 == 0 && data[3] == '\0')
        return U32LE;
    size_t at = 0;
    while (at < length && (data[at] == ' ' || data[at] == '\n' || data[at] == '\r' || data[at] == '\t'))
        at++;
    if (at < length && data[at] == '{')
        return JSONL;
    return at < length && data[at] == '[' ? JSON : PLAIN;
}

static bool read_expected(check_run *run, const cli_source *file)
{
    cli_id_reader reader = {.format = run->format, .take = append_id, .context = &run->expected};
    if (cli_read_ids(&reader, file->data, file->length) && cli_finish_ids(&reader))
        return true;
    cli_blame(run->call, run->file, "%s", reader.reason[0] ? reader.reason : "no memory");
    return false;
}

/* Puts what has been written to the open temporary file in the place of run->file. */
static bool put_in_place(check_run *run, FILE *stream, const char *temporary)
{
    bool good = fflush(stream) == 0 && !ferror(stream);
    good = fclose(stream) == 0 && good;
    if (good && rename(temporary, run->file) == 0)
        return true;
    cli_blame(run->call, run->file, "cannot be written: %s", strerror(errno));
    unlink(temporary);
    return false;
}

/* Gives the new file the permissions of the one that it replaces, or those of any new file. */
static void set_mode(const check_run *run, int descriptor)
{
    struct stat old;
    mode_t mode;
    if (stat(run->file, &old) == 0) {
        mode = old.st_mode & 0777;
    } else {
        mode_t mask = umask(0);
        umask(mask);
        mode = 0666 & ~mask;
    }
    /* Where it can't be done the file is merely more private. */
    int ignored = fchmod(descriptor, mode);
    (void)ignored;
}

/* Opens a new file beside run->file; its name is to be freed. */
static FILE *open_beside(check_run *run, char **temporary)
{
    static const char ending[] = ".XXXXXX";
    size_t length = strlen(run->file);
    *temporary = malloc(length + sizeof ending);
    if (!*temporary) {
        cli_no_memory();
        return NULL;
    }
    memcpy(*temporary, run->file, length);
    memcpy(*temporary + length, ending, sizeof ending);
    int descriptor = mkstemp(*temporary);
    FILE *stream = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (stream) {
        set_mode(run, descriptor);
    } else {
        cli_blame(run->call, run->file, "cannot be written: %s", strerror(errno));
        if (descriptor >= 0)
            close(descriptor);
        free(*temporary);
    }
    return stream;
}

static void write_ids(FILE *stream, const tik_ids *ids, int format)
{
    if (format == JSON)
        putc('[', stream);
    for (size_t i = 0; i < ids->length; i++) {
        uint32_t id = ids->data[i];
        if (format == U32LE)
            for (unsigned shift = 0; shift < 32; shift += 8)
                putc((int)(id >> shift & 0xFF), stream);
        else
            fprintf(stream, "%s%u", i == 0 ? "" : format == JSON ? "," : " ", (unsigned)id);
    }
    fputs(format == JSON ? "]\n" : format == PLAIN ? "\n" : "", stream);
}

static void update_ids(check_run *run)
{
    char *temporary;
    FILE *stream = open_beside(run, &temporary);
    if (!stream)
        return;
    write_ids(stream, &run->found, run->format);
    put_in_place(run, stream, temporary);
    free(temporary);
}

/* ---- JSON Lines ---------------------------------------------------------------------------- */

static bool read_json_ids(check_run *run, const json_t *ids)
{
    size_t index;
    json_t *value;
    run->expected.length = 0;
    json_array_foreach(ids, index, value) {
        json_int_t id = json_is_integer(value) ? json_integer_value(value) : -1;
        if (id < 0 || id > (json_int_t)UINT32_MAX || !append_id(&run->expected, (uint32_t)id))
            return false;
    }
    return json_is_array(ids) || run->update;
}

static bool write_case(check_run *run, json_t *object, FILE *stream)
{
    json_t *ids = json_array();
    for (size_t i = 0; i < run->found.length; i++)
        json_array_append_new(ids, json_integer(run->found.data[i]));
    return json_object_set_new(object, "ids", ids) == 0 && json_dumpf(object, stream, JSON_COMPACT) == 0 &&
           putc('\n', stream) != EOF;
}

static bool check_line(check_run *run, const char *line, size_t length, size_t number, FILE *stream)
{
    char name[NAME_ROOM];
    json_error_t json_error;
    snprintf(name, sizeof name, "%s:%zu", cli_display_name(run->file), number);
    json_t *object = json_loadb(line, length, JSON_ALLOW_NUL, &json_error);
    const json_t *text = json_object_get(object, "text");
    bool good = false;
    if (!object)
        cli_blame(run->call, name, "no JSON: column %d: %s", json_error.column, json_error.text);
    else if (!json_is_string(text) || !read_json_ids(run, json_object_get(object, "ids")))
        cli_blame(run->call, name, "a line must be {\"text\": STRING, \"ids\": [ID, ...]}");
    else
        good = check_case(run, name, json_string_value(text), json_string_length(text));
    if (good && stream)
        good = write_case(run, object, stream);
    json_decref(object);
    return good;
}

static bool is_blank(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
            return false;
    return true;
}

static void check_lines(check_run *run, const cli_source *file)
{
    char *temporary = NULL;
    FILE *stream = run->update ? open_beside(run, &temporary) : NULL;
    bool good = true;
    size_t number = 0;
    if (run->update && !stream)
        return;
    for (size_t from = 0; from < file->length;) {
        const char *line = file->data + from;
        const char *end = memchr(line, '\n', file->length - from);
        size_t length = end ? (size_t)(end - line) : file->length - from;
        number++;
        if (!is_blank(line, length))
            good &= check_line(run, line, length, number, stream);
        from += length + 1;
    }
    if (!stream)
        return;
    if (good) {
        put_in_place(run, stream, temporary);
    } else {
        cli_say("%s is left as it is", run->file);
        fclose(stream);
        unlink(temporary);
    }
    free(temporary);
}

/* ---- The command --------------------------------------------------------------------------- */

static void begin_report(const check_run *run)
{
    if (run->report == TAP)
        cli_out_text("TAP version 13\n");
    else if (run->report == JUNIT)
        cli_out_text("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"tik check\">\n");
}

static void end_report(const check_run *run)
{
    if (run->report == TAP)
        cli_out_printf("1..%zu\n", run->cases);
    else if (run->report == JUNIT)
        cli_out_text("</testsuite>\n");
    else if (run->different > 0 && run->cases > 1)
        cli_out_printf("%zu of %zu cases differ\n", run->different, run->cases);
}

static void check_text(check_run *run, const cli_source *file)
{
    cli_source text;
    const char *name = run->call->operand_count > 0 ? run->call->operands[0] : "-";
    if (file && !run->update && !read_expected(run, file))
        return;
    if (!cli_read_whole(run->call, &text, name))
        return;
    if (check_case(run, cli_display_name(name), text.data, text.length) && run->update)
        update_ids(run);
    cli_source_close(&text);
}

static int check_file(check_run *run)
{
    cli_source file;
    bool is_new = run->update && strcmp(run->file, "-") != 0 && access(run->file, F_OK) != 0;
    if (!is_new && !cli_read_whole(run->call, &file, run->file))
        return CLI_WRONG;
    if (run->format < 0)
        run->format = is_new ? PLAIN : guess_format(file.data, file.length);
    begin_report(run);
    if (run->format != JSONL)
        check_text(run, is_new ? NULL : &file);
    else if (is_new || run->call->operand_count > 0)
        cli_blame(run->call, run->file, "JSON Lines bring their own texts; leave the text out");
    else
        check_lines(run, &file);
    end_report(run);
    if (!is_new)
        cli_source_close(&file);
    return run->different > 0 ? CLI_NO : CLI_DONE;
}

static bool take_options(cli_call *call, check_run *run)
{
    static const char *const formats[] = {"plain", "json", "u32le", "jsonl", NULL};
    static const char *const reports[] = {"tap", "junit", NULL};
    for (int option; (option = cli_next_option(call)) != CLI_NO_MORE_OPTIONS;) {
        if (option == CLI_BAD_OPTION || (option == FORMAT && (run->format = cli_choice(call, formats)) < 0))
            return false;
        if (option == REPORT && (run->report = cli_choice(call, reports) + TAP) < TAP)
            return false;
        run->update |= option == UPDATE;
        if (option == IDS)
            run->file = call->argument;
    }
    if (!run->file)
        cli_say("check: say which file has the ids: --ids FILE");
    else if (call->operand_count > 1)
        cli_say("check: takes one text; for many, use JSON Lines");
    else if (run->update && (run->report != QUIET || strcmp(run->file, "-") == 0))
        cli_say("check: --update writes a file and reports nothing");
    else
        return true;
    return false;
}

static int run(cli_call *call)
{
    check_run run = {.call = call, .format = -1};
    if (!take_options(call, &run))
        return CLI_WRONG;
    tik_encoding *encoding = cli_open_encoding(call);
    if (!encoding)
        return CLI_WRONG;
    run.encoding = encoding;
    int status = check_file(&run);
    tik_ids_free(&run.expected);
    tik_ids_free(&run.found);
    tik_sizes_free(&run.offsets);
    tik_close(encoding);
    return status;
}

const cli_command cli_check = {
    .name = "check",
    .operands = "[TEXT]",
    .summary = "Do texts still have the ids they had?",
    .description =
        "Encodes TEXT (standard input if not given) and compares with the ids in FILE. If they are the same, prints "
        "nothing; if not, the status is 1 and the first difference is shown: its token, byte and line, the ids "
        "expected and found with their bytes, and the text around it.\n\n"
        "FILE is in any format of tik encode, or JSON Lines, each an object with text and ids (other members are "
        "left alone): then no TEXT is given, and the first ten differences are shown.",
    .options = options,
    .examples = examples,
    .run = run,
};
