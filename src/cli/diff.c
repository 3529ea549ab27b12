/* tik diff: where the tokens of two texts, or of one text in two encodings, part. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const cli_option options[] = {
    {'e', "encoding", "ENCODING", "encoding by name; two of them to compare encodings on one text"},
    {'m', "model", "MODEL", "the encoding of this model"},
    {CLI_MANIFEST, "manifest", "FILE", "the encoding that this manifest file describes"},
    CLI_OPTION_JSON,
    CLI_OPTIONS_TEXT,
    CLI_OPTIONS_END,
};

static const cli_example examples[] = {
    {"tik diff prompt-monday.txt prompt-tuesday.txt", "How much of a prompt a cache can use again."},
    {"tik diff -e cl100k_base -e o200k_base notes.txt", "Where two encodings begin to part a text differently."},
    {NULL, NULL},
};

enum { SHOWN = 4 }; /* tokens shown after the parting */

/* One side of the comparison. */
typedef struct diff_side {
    const char *name;
    tik_encoding *encoding;
    cli_source source;
    bool opened;
    tik_ids ids;
    tik_sizes offsets;
} diff_side;

/* Where a token begins; the end of the text after the last. */
static size_t offset_of(const diff_side *side, size_t index)
{
    return index < side->offsets.length ? side->offsets.data[index] : side->source.length;
}

static bool prepare(cli_call *call, diff_side *side)
{
    tik_error error;
    side->opened = cli_read_text(call, &side->source, side->name);
    if (!side->opened)
        return false;
    if (tik_encode_offsets(side->encoding, side->source.data, side->source.length, &call->options, &side->ids,
                           &side->offsets, &error) == TIK_OK)
        return true;
    cli_blame(call, side->name, "%s", error.message);
    return false;
}

static void release(diff_side *side)
{
    if (side->opened)
        cli_source_close(&side->source);
    tik_ids_free(&side->ids);
    tik_sizes_free(&side->offsets);
    tik_close(side->encoding);
}

/* Tokens that both sides begin with: the same ids, or in two encodings the same bytes. */
static size_t common(const diff_side *a, const diff_side *b, bool by_bytes)
{
    size_t both = a->ids.length < b->ids.length ? a->ids.length : b->ids.length;
    size_t index = 0;
    while (index < both && (by_bytes ? offset_of(a, index + 1) == offset_of(b, index + 1)
                                     : a->ids.data[index] == b->ids.data[index]))
        index++;
    return index;
}

static void out_side(const diff_side *side, const char *label, size_t index)
{
    cli_out_printf("%s:", label);
    if (index == side->ids.length)
        cli_out_text(" ends here");
    for (size_t i = index; i < side->ids.length && i < index + SHOWN; i++) {
        cli_out_printf(" %u ", (unsigned)side->ids.data[i]);
        cli_out_quoted(side->source.data + offset_of(side, i), offset_of(side, i + 1) - offset_of(side, i));
    }
    if (side->ids.length > index + SHOWN)
        cli_out_printf(" and %zu more", side->ids.length - index - SHOWN);
    cli_out_char('\n');
}

static json_t *side_json(const diff_side *side, size_t index)
{
    json_t *next = json_array();
    for (size_t i = index; i < side->ids.length && i < index + SHOWN; i++)
        json_array_append_new(next, json_integer(side->ids.data[i]));
    return json_pack("{s:o, s:s, s:I, s:I, s:o}", "file", cli_json_string(side->name, strlen(side->name)), "encoding",
                     tik_name(side->encoding), "tokens", (json_int_t)side->ids.length, "rest",
                     (json_int_t)(side->ids.length - index), "next", next);
}

static int compare(const cli_call *call, const diff_side *a, const diff_side *b, bool by_bytes)
{
    size_t index = common(a, b, by_bytes);
    size_t byte = offset_of(a, index);
    bool same = index == a->ids.length && index == b->ids.length;
    size_t line = 1;
    for (size_t i = 0; i < byte; i++)
        line += a->source.data[i] == '\n';
    if (call->json) {
        cli_out_json_document(json_pack("{s:b, s:I, s:I, s:I, s:[o, o]}", "same", same, "common_tokens",
                                        (json_int_t)index, "common_bytes", (json_int_t)byte, "line", (json_int_t)line,
                                        "sides", side_json(a, index), side_json(b, index)));
    } else if (same) {
        cli_out_printf("the same: %zu tokens, %zu bytes\n", index, byte);
    } else {
        cli_out_printf("common: %zu tokens, %zu bytes, up to line %zu\n", index, byte, line);
        out_side(a, by_bytes ? tik_name(a->encoding) : cli_display_name(a->name), index);
        out_side(b, by_bytes ? tik_name(b->encoding) : cli_display_name(b->name), index);
    }
    return same ? CLI_DONE : CLI_NO;
}

static bool open_sides(cli_call *call, diff_side *a, diff_side *b, bool by_bytes)
{
    cli_names names = call->encodings;
    if (call->operand_count != (by_bytes ? 1 : 2)) {
        cli_say(by_bytes ? "diff: two encodings are compared on one text"
                         : "diff: takes two texts, or one text and two encodings: -e A -e B");
        return false;
    }
    a->name = call->operands[0];
    b->name = call->operands[by_bytes ? 0 : 1];
    if (strcmp(a->name, "-") == 0 && strcmp(b->name, "-") == 0) {
        cli_say("diff: standard input can be read only once");
        return false;
    }
    if (!by_bytes) {
        a->encoding = cli_open_encoding(call);
        b->encoding = a->encoding ? tik_retain(a->encoding) : NULL;
        return a->encoding != NULL;
    }
    call->encodings = (cli_names){&names.data[0], 1, 1};
    a->encoding = cli_open_encoding(call);
    call->encodings = (cli_names){&names.data[1], 1, 1};
    b->encoding = a->encoding ? cli_open_encoding(call) : NULL;
    call->encodings = names;
    return b->encoding != NULL;
}

static int run(cli_call *call)
{
    diff_side a = {0};
    diff_side b = {0};
    int status = CLI_WRONG;
    if (!cli_only_common_options(call))
        return CLI_WRONG;
    bool by_bytes = call->encodings.length == 2;
    if (open_sides(call, &a, &b, by_bytes) && prepare(call, &a) && prepare(call, &b))
        status = compare(call, &a, &b, by_bytes);
    release(&a);
    release(&b);
    return status;
}

const cli_command cli_diff = {
    .name = "diff",
    .operands = "FILE [FILE]",
    .summary = "Where the tokens of two texts, or encodings, part",
    .description =
        "Shows how many tokens and bytes two texts have in common at their beginning, which is what a prompt cache "
        "can use again, and the tokens that follow in each. With two encodings and one text: how far both cut it at "
        "the same places. The status is 0 if all is the same, else 1.",
    .options = options,
    .examples = examples,
    .run = run,
};
