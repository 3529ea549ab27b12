/* Reading, checking and writing lists of ranks. */
#include "vocab/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "vocab/vocab.h"

/* A list under way: tokens whose bytes lie in `arena` at `offsets` until it stops moving. */
typedef struct builder {
    const char *source; /* the file's name and, at `text`, what is in it; NULL for a list in memory */
    const char *text;
    tik_error *error;
    tik_bytes arena;
    tik_token *tokens;
    size_t *offsets;
    size_t count;
    size_t capacity;
} builder;

static void builder_free(builder *b)
{
    tik_bytes_free(&b->arena);
    free(b->tokens);
    free(b->offsets);
}

/* The tokens in order of rank, as places in the list. */
static int by_rank(const void *a, const void *b)
{
    const tik_token *x = a;
    const tik_token *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The line, from 0, that a token came from: each line gave one, and the arena is in order of lines. */
static size_t line_of(const builder *b, const tik_token *token)
{
    size_t offset = (size_t)(token->bytes - b->arena.data);
    size_t low = 0;
    for (size_t high = b->count; high - low > 1;) {
        size_t middle = low + (high - low) / 2;
        if (b->offsets[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Two tokens that exclude each other; of a file, the place is the later line. */
static tik_status repeated(const builder *b, const char *what, const tik_token *one, const tik_token *other)
{
    if (!b->source)
        return tik_fail(b->error, TIK_ERROR_FORMAT, "%s: ranks %u and %u", what, (unsigned)one->rank,
                        (unsigned)other->rank);
    size_t first = line_of(b, one);
    size_t second = line_of(b, other);
    if (first > second) {
        size_t swap = first;
        first = second;
        second = swap;
    }
    const char *at = b->text; /* its lines have been read: there is no zero byte in them */
    for (size_t line = 0; line < second; line++)
        at = strchr(at, '\n') + 1;
    size_t offset = (size_t)(at - b->text);
    return tik_fail_at(b->error, TIK_ERROR_FORMAT, second + 1, offset,
                       "%.200s: line %zu, byte %zu: %s, first on line %zu", b->source, second + 1, offset, what,
                       first + 1);
}

/* No token may stand twice, and every byte must be one: a hash of the tokens tells both. */
static tik_status check_tokens(const builder *b, const tik_ranks *ranks)
{
    size_t slots = 512;
    while (slots < ranks->count * 2)
        slots *= 2;
    uint32_t *table = calloc(slots, sizeof *table);
    if (!table)
        return tik_fail_memory(b->error, slots * sizeof *table);
    bool has_byte[256] = {false};
    tik_status status = TIK_OK;
    for (size_t i = 0; i < ranks->count && status == TIK_OK; i++) {
        const tik_token *token = &ranks->tokens[i];
        const uint8_t *bytes = (const uint8_t *)token->bytes;
        if (token->length == 1)
            has_byte[bytes[0]] = true;
        size_t slot = tik_hash(bytes, token->length) & (slots - 1);
        for (; table[slot]; slot = (slot + 1) & (slots - 1)) {
            const tik_token *other = &ranks->tokens[table[slot] - 1];
            if (other->length == token->length && memcmp(other->bytes, bytes, token->length) == 0) {
                status = repeated(b, "the same token stands twice", other, token);
                break;
            }
        }
        table[slot] = (uint32_t)i + 1;
    }
    free(table);
    for (unsigned byte = 0; byte < 256 && status == TIK_OK; byte++)
        if (!has_byte[byte])
            status = tik_fail(b->error, TIK_ERROR_FORMAT,
                              "%.200s%sthe single byte 0x%02X is no token: every byte must be one, "
                              "or a text may have no ids",
                              b->source ? b->source : "", b->source ? ": " : "", byte);
    return status;
}

/* Sorts, checks, and hands the list over. */
static tik_status build(builder *b, tik_ranks *ranks)
{
    for (size_t i = 0; i < b->count; i++)
        b->tokens[i].bytes = b->arena.data + b->offsets[i];
    bool sorted = true;
    for (size_t i = 1; i < b->count && sorted; i++)
        sorted = b->tokens[i - 1].rank < b->tokens[i].rank;
    if (!sorted)
        qsort(b->tokens, b->count, sizeof *b->tokens, by_rank);
    for (size_t i = 1; i < b->count; i++)
        if (b->tokens[i - 1].rank == b->tokens[i].rank)
            return repeated(b, "the same rank stands twice", &b->tokens[i - 1], &b->tokens[i]);
    tik_ranks list = {b->tokens, b->count, b->arena.data};
    tik_status status = check_tokens(b, &list);
    if (status != TIK_OK)
        return status;
    *ranks = list;
    b->tokens = NULL;
    b->arena = (tik_bytes)TIK_BYTES_INIT;
    return TIK_OK;
}

static tik_status add(builder *b, size_t offset, size_t length, uint32_t rank)
{
    void *tokens = b->tokens;
    void *offsets = b->offsets;
    size_t capacity = b->capacity;
    tik_status status = tik_grow(&tokens, &capacity, b->count + 1, sizeof *b->tokens, b->error);
    b->tokens = tokens;
    if (status != TIK_OK)
        return status;
    status = tik_grow(&offsets, &b->capacity, b->count + 1, sizeof *b->offsets, b->error);
    b->offsets = offsets;
    if (status != TIK_OK)
        return status;
    b->offsets[b->count] = offset;
    b->tokens[b->count++] = (tik_token){NULL, length, rank};
    return TIK_OK;
}

static tik_status fault(const builder *b, size_t line, size_t offset, const char *reason)
{
    return tik_fail_at(b->error, TIK_ERROR_FORMAT, line, offset, "%.200s: line %zu, byte %zu: %s", b->source, line,
                       offset, reason);
}

/* One line, `text[at, end)` without its line end. */
static tik_status parse_line(builder *b, const char *text, size_t at, size_t end, size_t line,
                             tik_base64_decode *decode)
{
    const char *space = memchr(text + at, ' ', end - at);
    if (at == end)
        return fault(b, line, at, "an empty line: each has a token and its rank");
    if (!space)
        return fault(b, line, end, "the rank is missing: a token in base64, one space and its rank are expected");
    size_t gap = (size_t)(space - text);
    if (gap == at)
        return fault(b, line, at, "the token is empty");
    size_t offset = b->arena.length;
    /* Room first: then what is not decoded is not base64. */
    void *arena = b->arena.data;
    tik_status status = tik_grow(&arena, &b->arena.capacity, offset + (gap - at), 1, b->error);
    b->arena.data = arena;
    if (status != TIK_OK)
        return status;
    if (!decode(text + at, gap - at, &b->arena))
        return fault(b, line, at, "the token is not base64");
    size_t digit = gap + 1;
    uint64_t rank = 0;
    if (digit == end)
        return fault(b, line, digit, "the rank is missing after the space");
    for (; digit < end; digit++) {
        if (text[digit] < '0' || text[digit] > '9')
            return fault(b, line, digit,
                         digit == gap + 1 ? "the rank is not a decimal number" : "something stands behind the rank");
        if (digit > gap + 1 && rank == 0)
            return fault(b, line, gap + 1, "the rank has a leading zero");
        rank = rank * 10 + (uint64_t)(text[digit] - '0');
        if (rank > INT32_MAX)
            return fault(b, line, gap + 1, "the rank is too large: 2147483647 is the largest");
    }
    return add(b, offset, b->arena.length - offset, (uint32_t)rank);
}

tik_status tik_ranks_parse(const char *data, size_t length, const char *source, tik_base64_decode *decode,
                           tik_ranks *ranks, tik_error *error)
{
    builder b = {.source = source, .text = data, .error = error};
    tik_status status = TIK_OK;
    if (length == 0)
        status = tik_fail(error, TIK_ERROR_FORMAT, "%.200s: the file is empty", source);
    size_t line = 1;
    for (size_t at = 0; at < length && status == TIK_OK; line++) {
        const char *newline = memchr(data + at, '\n', length - at);
        size_t end = newline ? (size_t)(newline - data) : length;
        size_t next = newline ? end + 1 : length;
        if (newline && end > at && data[end - 1] == '\r')
            end--;
        status = parse_line(&b, data, at, end, line, decode);
        at = next;
    }
    if (status == TIK_OK)
        status = build(&b, ranks);
    builder_free(&b);
    return status;
}

tik_status tik_ranks_copy(const tik_token *tokens, size_t count, tik_ranks *ranks, tik_error *error)
{
    builder b = {.error = error};
    tik_status status = TIK_OK;
    for (size_t i = 0; i < count && status == TIK_OK; i++) {
        size_t offset = b.arena.length;
        if (tokens[i].length == 0)
            status = tik_fail(error, TIK_ERROR_FORMAT, "the token of rank %u is empty", (unsigned)tokens[i].rank);
        else if (tokens[i].rank > INT32_MAX)
            status = tik_fail(error, TIK_ERROR_FORMAT, "rank %u is too large: 2147483647 is the largest",
                              (unsigned)tokens[i].rank);
        else
            status = tik_bytes_append(&b.arena, tokens[i].bytes, tokens[i].length, error);
        if (status == TIK_OK)
            status = add(&b, offset, tokens[i].length, tokens[i].rank);
    }
    if (status == TIK_OK)
        status = build(&b, ranks);
    builder_free(&b);
    return status;
}

tik_status tik_ranks_write(const tik_ranks *ranks, tik_base64_encode *encode, tik_bytes *out, tik_error *error)
{
    for (size_t i = 0; i < ranks->count; i++) {
        const tik_token *token = &ranks->tokens[i];
        if (!encode(token->bytes, token->length, out))
            return tik_fail_memory(error, token->length);
        tik_status status = tik_bytes_printf(out, error, " %u\n", (unsigned)token->rank);
        if (status != TIK_OK)
            return status;
    }
    return TIK_OK;
}

void tik_ranks_free(tik_ranks *ranks)
{
    free(ranks->tokens);
    free(ranks->arena);
    *ranks = (tik_ranks){0};
}
