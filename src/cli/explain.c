/* tik explain: the merges of each piece of a text, one after the other, as they are drawn by hand. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const cli_option options[] = {
    CLI_OPTIONS_ENCODING,
    CLI_OPTION_JSON,
    CLI_OPTIONS_END,
};

static const cli_example examples[] = {
    {"tik explain -e cl100k_base unhappiness", "The merges of a word, with their ranks."},
    {"tik explain 'Hello, world!'", "Each piece by itself."},
    {"tik explain --json strawberry", "The same for programs."},
    {NULL, NULL},
};

/* A piece and what is known of it. */
typedef struct explained {
    const tik_encoding *encoding;
    const char *bytes;
    size_t length;
    tik_step *steps;
    size_t count;
    tik_ids ids; /* what the piece is encoded as */
    bool *cuts;  /* by byte: a part begins there, after the merges shown so far */
} explained;

static void out_parts(const explained *piece)
{
    for (size_t start = 0; start < piece->length;) {
        size_t end = start + 1;
        while (end < piece->length && !piece->cuts[end])
            end++;
        if (start)
            cli_out_char(' ');
        cli_out_quoted(piece->bytes + start, end - start);
        start = end;
    }
    cli_out_char('\n');
}

static void out_piece(const explained *piece)
{
    memset(piece->cuts, true, piece->length);
    cli_out_text("        ");
    out_parts(piece);
    for (size_t i = 0; i < piece->count; i++) {
        cli_out_printf("%7u ", piece->steps[i].id);
        piece->cuts[piece->steps[i].split] = false;
        out_parts(piece);
    }
    cli_out_text("    ids ");
    cli_out_ids(piece->ids.data, piece->ids.length, ' ', false);
    bool whole = piece->count == 0 ? piece->length == 1 : piece->steps[piece->count - 1].end == piece->length &&
                                                              piece->steps[piece->count - 1].start == 0;
    if (piece->ids.length == 1 && !whole)
        cli_out_text(" (the whole piece is a token, which its merges do not come to)");
    cli_out_text("\n");
}

static json_t *json_step(const explained *piece, const tik_step *step)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "id", (json_int_t)step->id, "left",
                     (json_int_t)step->left, "right", (json_int_t)step->right, "start", (json_int_t)step->start,
                     "split", (json_int_t)step->split, "end", (json_int_t)step->end, "left_text",
                     cli_json_string(piece->bytes + step->start, step->split - step->start), "right_text",
                     cli_json_string(piece->bytes + step->split, step->end - step->split));
}

static void out_piece_json(const explained *piece)
{
    json_t *steps = json_array();
    json_t *ids = json_array();
    for (size_t i = 0; i < piece->count; i++)
        json_array_append_new(steps, json_step(piece, &piece->steps[i]));
    for (size_t i = 0; i < piece->ids.length; i++)
        json_array_append_new(ids, json_integer((json_int_t)piece->ids.data[i]));
    cli_out_json(json_pack("{s:s, s:o, s:o, s:o}", "encoding", tik_name(piece->encoding), "piece",
                           cli_json_string(piece->bytes, piece->length), "steps", steps, "ids", ids));
}

static tik_status explain_piece(cli_call *call, const tik_encoding *encoding, const char *bytes, size_t length,
                                tik_error *error)
{
    explained piece = {encoding, bytes, length, calloc(length + 1, sizeof(tik_step)), 0, TIK_IDS_INIT,
                       calloc(length + 1, sizeof(bool))};
    tik_status status = TIK_ERROR_MEMORY;
    if (!piece.steps || !piece.cuts)
        cli_no_memory();
    else
        status = tik_explain(encoding, bytes, length, piece.steps, length, &piece.count, error);
    if (status == TIK_OK)
        status = tik_encode_piece(encoding, bytes, length, &piece.ids, error);
    if (status == TIK_OK && call->json)
        out_piece_json(&piece);
    else if (status == TIK_OK)
        out_piece(&piece);
    tik_ids_free(&piece.ids);
    free(piece.steps);
    free(piece.cuts);
    return status;
}

static bool explain_text(cli_call *call, const tik_encoding *encoding, const char *text, size_t length)
{
    tik_error error = {.message = "no memory"};
    tik_sizes ends = TIK_SIZES_INIT;
    tik_status status = tik_pieces(encoding, text, length, &ends, &error);
    for (size_t i = 0; i < ends.length && status == TIK_OK; i++) {
        size_t start = i ? ends.data[i - 1] : 0;
        if (i && !call->json)
            cli_out_char('\n');
        status = explain_piece(call, encoding, text + start, ends.data[i] - start, &error);
    }
    tik_sizes_free(&ends);
    if (status != TIK_OK)
        cli_blame(call, NULL, "%s", error.message);
    return status == TIK_OK;
}

/* The text is on the command line, or comes from standard input. */
static bool explain_all(cli_call *call, const tik_encoding *encoding)
{
    bool standard = call->operand_count == 0 || (call->operand_count == 1 && strcmp(call->operands[0], "-") == 0);
    bool good = true;
    if (standard) {
        cli_source source;
        good = cli_read_whole(call, &source, "-") && explain_text(call, encoding, source.data, source.length);
        cli_source_close(&source);
    }
    for (size_t i = 0; !standard && i < call->operand_count && good; i++) {
        if (i && !call->json)
            cli_out_char('\n');
        good = explain_text(call, encoding, call->operands[i], strlen(call->operands[i]));
    }
    return good;
}

static int run(cli_call *call)
{
    if (!cli_only_common_options(call))
        return CLI_WRONG;
    tik_encoding *encoding = cli_open_encoding(call);
    bool good = encoding && explain_all(call, encoding);
    tik_close(encoding);
    return good ? CLI_DONE : CLI_WRONG;
}

const cli_command cli_explain = {
    .name = "explain",
    .operands = "[TEXT]...",
    .summary = "How pieces are merged, step by step",
    .description =
        "Splits TEXT (or standard input) into pieces and shows each as its bytes first, then after every merge, with "
        "the rank of the token that it made: always the lowest rank of all neighbours that can be merged, the "
        "leftmost of equal ones. The last line has the ids. Each TEXT is a text of its own.",
    .options = options,
    .examples = examples,
    .run = run,
};
