/* tik show: the tokens of a text made visible, on a terminal or as one HTML page. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { IDS = 'i', HTML = CLI_OWN, COLOUR };

static const cli_option options[] = {
    {IDS, "ids", NULL, "the id after each token"},
    {HTML, "html", NULL, "one HTML page that needs nothing else; hovering over a token shows its id and bytes"},
    {COLOUR, "color", "auto|always|never", "colours; by itself only on a terminal, and not if NO_COLOR is set"},
    CLI_OPTIONS_ENCODING,
    CLI_OPTIONS_TEXT,
    CLI_OPTIONS_END,
};

static const cli_example examples[] = {
    {"tik show notes.txt", "The text with its tokens in colours."},
    {"echo 'Tokenization is cool' | tik show --ids -e cl100k_base", "With ids."},
    {"tik show --html notes.txt > notes.html", "A page for the browser."},
    {NULL, NULL},
};

enum { PLAIN, COLOURED, PAGE };

typedef struct show_text {
    const char *name;
    const tik_encoding *encoding;
    const char *data;
    size_t length;
    tik_ids ids;
    tik_sizes offsets;
    bool with_ids;
} show_text;

typedef struct slice {
    const char *bytes;
    size_t length;
} slice;

static slice token_at(const show_text *text, size_t index)
{
    size_t from = text->offsets.data[index];
    size_t to = index + 1 < text->offsets.length ? text->offsets.data[index + 1] : text->length;
    return (slice){text->data + from, to - from};
}

/*
 * Writes a token: what can be seen as it is, line ends as they are (after a sign on the terminal), anything
 * else, bytes of characters cut in two among them, as \xNN.
 */
static void out_visible(slice token, int style)
{
    for (size_t i = 0; i < token.length;) {
        char shown[4];
        size_t written;
        char c = token.bytes[i];
        size_t step = cli_quote_next(token.bytes + i, token.length - i, shown, &written);
        bool as_is = c == '\n' || c == '\t' || c == '"' || c == '\\';
        /* On the page a line's end is shown by the style sheet, so that copied text has no sign for it. */
        const char *entity = c == '<' ? "&lt;" : c == '&' ? "&amp;" : c == '\n' ? "<u></u>\n" : NULL;
        if (style == PAGE && entity)
            cli_out_text(entity);
        else if (as_is)
            cli_out_char(c);
        else
            cli_out(shown, written);
        i += step;
    }
}

/* ---- Terminal ------------------------------------------------------------------------------ */

/* Black on light colours, which can be read on any terminal. A line's end is outside them. */
static void out_coloured(const show_text *text)
{
    static const char *const colours[] = {"\033[30;48;5;153m", "\033[30;48;5;157m", "\033[30;48;5;223m",
                                          "\033[30;48;5;218m", "\033[30;48;5;189m"};
    for (size_t i = 0; i < text->ids.length; i++) {
        slice token = token_at(text, i);
        const char *colour = colours[i % (sizeof colours / sizeof colours[0])];
        while (token.length > 0) {
            const char *end = memchr(token.bytes, '\n', token.length);
            slice line = {token.bytes, end ? (size_t)(end - token.bytes) : token.length};
            cli_out_text(colour);
            out_visible(line, COLOURED);
            cli_out_text(end ? "\u21B5\033[0m\n" : "\033[0m");
            size_t taken = line.length + (end ? 1 : 0);
            token = (slice){token.bytes + taken, token.length - taken};
        }
        if (text->with_ids)
            cli_out_printf("\033[2m%u\033[0m ", (unsigned)text->ids.data[i]);
    }
    if (text->length > 0 && text->data[text->length - 1] != '\n')
        cli_out_char('\n');
}

static void out_plain(const show_text *text)
{
    for (size_t i = 0; i < text->ids.length; i++) {
        if (i > 0)
            cli_out_char('|');
        out_visible(token_at(text, i), PLAIN);
        if (text->with_ids)
            cli_out_printf("[%u]", (unsigned)text->ids.data[i]);
    }
    cli_out_char('\n');
}

/* ---- The page ------------------------------------------------------------------------------ */

static const char page_head[] =
    "<!DOCTYPE html>\n<html lang=\"und\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<style>\n"
    ":root{--a:#cfe3ff;--b:#d3f2d0;--c:#ffe6bd;--d:#fbd3e3;--e:#e2daff;--ink:#1a1a1a;--page:#fff;--dim:#555}\n"
    "@media (prefers-color-scheme:dark){:root{--a:#1d3f66;--b:#1f4d2b;--c:#5e4415;--d:#5c2740;--e:#3d3270;"
    "--ink:#eee;--page:#151515;--dim:#aaa}}\n"
    "body{margin:2rem auto;max-width:60rem;padding:0 1rem;background:var(--page);color:var(--ink);"
    "font:16px/1.6 system-ui,sans-serif}\n"
    "header{color:var(--dim);margin-bottom:1rem}\nheader b{color:var(--ink);font-size:1.5em}\n"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;font:15px/1.7 ui-monospace,monospace;margin:0}\n"
    "i{font-style:normal;border-radius:3px;padding:1px 0}\ni:hover{outline:2px solid var(--ink)}\n"
    "i:nth-child(5n+1){background:var(--a)}i:nth-child(5n+2){background:var(--b)}"
    "i:nth-child(5n+3){background:var(--c)}i:nth-child(5n+4){background:var(--d)}"
    "i:nth-child(5n){background:var(--e)}\n"
    "u{text-decoration:none;opacity:.4}u::before{content:\"\\21B5\"}\n"
    "small{color:var(--dim)}\n</style>\n<title>";

static void out_escaped(const char *text)
{
    slice all = {text, strlen(text)};
    out_visible(all, PAGE);
}

static size_t count_characters(const show_text *text)
{
    size_t characters = 0;
    for (size_t i = 0; i < text->length; i++)
        characters += ((unsigned char)text->data[i] & 0xC0) != 0x80;
    return characters;
}

static void out_token(const show_text *text, size_t index)
{
    slice token = token_at(text, index);
    cli_out_printf("<i title=\"%u:", (unsigned)text->ids.data[index]);
    enum { SHOWN = 64 }; /* bytes in the hint: a token of 100 spaces says enough with these */
    for (size_t i = 0; i < token.length && i < SHOWN; i++)
        cli_out_printf(" %02x", (unsigned)(unsigned char)token.bytes[i]);
    cli_out_text(token.length > SHOWN ? " ...\">" : "\">");
    out_visible(token, PAGE);
    cli_out_text("</i>");
    if (text->with_ids)
        cli_out_printf("<small>%u </small>", (unsigned)text->ids.data[index]);
}

static void out_page(const show_text *text)
{
    enum { GROUP = 1000 }; /* tokens in an element: browsers number the children of large ones slowly */
    cli_out_text(page_head);
    out_escaped(cli_display_name(text->name));
    cli_out_text("</title></head><body>\n<header><b>");
    cli_out_printf("%zu tokens</b> &middot; %zu characters &middot; %zu bytes &middot; %s &middot; ",
                   text->ids.length, count_characters(text), text->length, tik_name(text->encoding));
    out_escaped(cli_display_name(text->name));
    cli_out_text("</header>\n<pre>");
    for (size_t i = 0; i < text->ids.length; i++) {
        if (i % GROUP == 0)
            cli_out_text(i > 0 ? "</span><span>" : "<span>");
        out_token(text, i);
    }
    cli_out_text(text->ids.length > 0 ? "</span></pre>\n</body></html>\n" : "</pre>\n</body></html>\n");
}

/* ---- The command --------------------------------------------------------------------------- */

static void show(cli_call *call, const tik_encoding *encoding, const char *name, int style, bool with_ids)
{
    cli_source source;
    tik_error error;
    if (!cli_read_text(call, &source, name))
        return;
    show_text text = {name, encoding, source.data, source.length, TIK_IDS_INIT, TIK_SIZES_INIT, with_ids};
    if (tik_encode_offsets(encoding, text.data, text.length, &call->options, &text.ids, &text.offsets, &error) !=
             TIK_OK)
        cli_blame(call, name, "%s", error.message);
    else if (style == PAGE)
        out_page(&text);
    else if (style == COLOURED)
        out_coloured(&text);
    else
        out_plain(&text);
    tik_ids_free(&text.ids);
    tik_sizes_free(&text.offsets);
    cli_source_close(&source);
}

static bool wants_colour(int choice)
{
    enum { AUTO, ALWAYS };
    const char *no_color = getenv("NO_COLOR");
    return choice == ALWAYS || (choice == AUTO && isatty(STDOUT_FILENO) && !(no_color && *no_color));
}

static int run(cli_call *call)
{
    static const char *const choices[] = {"auto", "always", "never", NULL};
    bool with_ids = false;
    bool html = false;
    int colour = 0;
    for (int option; (option = cli_next_option(call)) != CLI_NO_MORE_OPTIONS;) {
        if (option == CLI_BAD_OPTION || (option == COLOUR && (colour = cli_choice(call, choices)) < 0))
            return CLI_WRONG;
        with_ids |= option == IDS;
        html |= option == HTML;
    }
    if (call->operand_count > 1) {
        cli_say("show: takes one file");
        return CLI_WRONG;
    }
    tik_encoding *encoding = cli_open_encoding(call);
    if (!encoding)
        return CLI_WRONG;
    show(call, encoding, call->operand_count > 0 ? call->operands[0] : "-",
         html ? PAGE : wants_colour(colour) ? COLOURED : PLAIN, with_ids);
    tik_close(encoding);
    return CLI_DONE;
}

const cli_command cli_show = {
    .name = "show",
    .operands = "[FILE]",
    .summary = "The tokens of a text in colours, or as an HTML page",
    .description = "Shows where the tokens of a text begin and end: in colours on a terminal, with | between them in "
                   "a pipe, or as an HTML page. Bytes that are no whole character are written as \\xNN.",
    .options = options,
    .examples = examples,
    .run = run,
};
