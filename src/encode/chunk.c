/*
 * Chunks of a text that comes in slices. The buffer begins where the next chunk begins; each chunk is the
 * longest beginning of it that fits (cutter.c).
 */
#include <stdlib.h>
#include <string.h>

#include "encode/cut.h"

struct tik_chunker {
    tik_encoding *encoding; /* a reference */
    tik_cutter cutter;
    size_t limit;
    size_t overlap;
    tik_bytes text;        /* what has come, from `begin` on still wanted */
    size_t begin;          /* in `text`: where the next chunk begins */
    size_t valid;          /* in `text`: up to here it is UTF-8 */
    size_t covered;        /* in `text`: what is before is in some chunk already */
    size_t before;         /* bytes of the whole text before `text` */
    size_t characters;     /* characters of the whole text before `begin` */
    size_t tried;          /* length of `valid` when the last try to find a chunk wanted more; 0: none */
    tik_counted counted;   /* from `begin` on */
    bool replace; /* bad UTF-8 by U+FFFD */
    bool complete;
};

tik_status tik_chunker_new(const tik_encoding *encoding, size_t limit, size_t overlap,
                           const tik_cut_options *options, tik_chunker **chunker, tik_error *error)
{
    if (limit == 0)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "chunks of 0 tokens cannot be made; ask for at least 1");
    if (overlap >= limit)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "an overlap of %zu tokens leaves nothing new in chunks of %zu",
                        overlap, limit);
    tik_chunker *made = calloc(1, sizeof *made);
    if (!made)
        return tik_fail_memory(error, sizeof *made);
    made->limit = limit;
    made->overlap = overlap;
    made->encoding = tik_retain((tik_encoding *)(uintptr_t)encoding);
    tik_status status = tik_cutter_init(&made->cutter, encoding, options, error);
    if (status != TIK_OK) {
        tik_chunker_free(made);
        return status;
    }
    made->replace = options && options->special && options->special->replace_invalid;
    *chunker = made;
    return TIK_OK;
}

void tik_chunker_free(tik_chunker *chunker)
{
    if (!chunker)
        return;
    tik_cutter_free(&chunker->cutter);
    tik_close(chunker->encoding);
    tik_bytes_free(&chunker->text);
    free(chunker);
}

/* Forgets what no later chunk needs, once that is most of the buffer. */
static void drop_done(tik_chunker *chunker)
{
    size_t done = chunker->begin;
    if (done == 0 || done < chunker->text.length - done)
        return;
    memmove(chunker->text.data, chunker->text.data + done, chunker->text.length - done);
    chunker->text.length -= done;
    chunker->valid -= done;
    chunker->covered = chunker->covered > done ? chunker->covered - done : 0;
    chunker->before += done;
    chunker->begin = 0;
}

/* Checks what has come since. A last character may still be incomplete. */
static tik_status validate(tik_chunker *chunker, tik_error *error)
{
    const uint8_t *rest = (const uint8_t *)chunker->text.data + chunker->valid;
    size_t length = chunker->text.length - chunker->valid;
    size_t good = tik_utf8_valid_prefix(rest, length);
    chunker->valid += good;
    if (good == length)
        return TIK_OK;
    bool may_go_on = !chunker->complete && tik_utf8_bad_length(rest + good, length - good) == length - good;
    if (may_go_on)
        return TIK_OK;
    if (chunker->replace)
        return tik_utf8_repair(&chunker->text, &chunker->valid, !chunker->complete, error);
    return tik_fail_utf8(error, rest[good], chunker->before + chunker->valid);
}

tik_status tik_chunker_feed(tik_chunker *chunker, const char *slice, size_t length, tik_error *error)
{
    if (chunker->complete)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "the text was said to be complete; make a chunker for the next");
    if (length == 0)
        return TIK_OK;
    drop_done(chunker);
    tik_status status = tik_bytes_append(&chunker->text, slice, length, error);
    return status == TIK_OK ? validate(chunker, error) : status;
}

tik_status tik_chunker_finish(tik_chunker *chunker, tik_error *error)
{
    chunker->complete = true;
    chunker->tried = 0;
    return chunker->text.length > 0 ? validate(chunker, error) : TIK_OK;
}

static size_t count_characters(const char *text, size_t length)
{
    size_t characters = 0;
    for (size_t i = 0; i < length; i++)
        characters += tik_utf8_is_start((uint8_t)text[i]);
    return characters;
}

/* Where the chunk after text[begin, end) begins: before its end by the overlap, if new text fits in then. */
static tik_status next_begin(tik_chunker *chunker, size_t end, size_t *begin, tik_error *error)
{
    *begin = end;
    if (chunker->overlap == 0 || (chunker->complete && end == chunker->valid))
        return TIK_OK;
    size_t start;
    size_t tokens;
    tik_status status = tik_cutter_end(&chunker->cutter, (const uint8_t *)chunker->text.data + chunker->begin,
                                       end - chunker->begin, chunker->overlap, &start, &tokens, error);
    if (status == TIK_OK && start > 0)
        *begin = chunker->begin + start;
    return status;
}

/*
 * The end of the chunk that begins at `begin`, past what is covered already. If the overlap leaves no room
 * for a new character, it is given up.
 */
static tik_status find_end(tik_chunker *chunker, size_t *end, size_t *tokens, tik_error *error)
{
    for (;;) {
        const uint8_t *text = (const uint8_t *)chunker->text.data + chunker->begin;
        tik_status status = tik_cutter_beginning(&chunker->cutter, text, chunker->valid - chunker->begin,
                                                 chunker->complete, chunker->limit, &chunker->counted, end, tokens,
                                                 error);
        if (status == TIK_ERROR_LIMIT && error)
            error->offset = chunker->before + chunker->begin;
        if (status != TIK_OK || *end == TIK_CUT_UNKNOWN)
            return status;
        *end += chunker->begin;
        if (*end > chunker->covered)
            return TIK_OK;
        chunker->characters += count_characters(chunker->text.data + chunker->begin,
                                                chunker->covered - chunker->begin);
        chunker->begin = chunker->covered;
        chunker->counted = (tik_counted){0};
    }
}

tik_status tik_chunker_next(tik_chunker *chunker, tik_chunk *chunk, bool *found, tik_error *error)
{
    /* A try costs as much as encoding what is there: wait until there is half as much again. */
    size_t there = chunker->valid - chunker->begin;
    *found = false;
    if (there == 0 || (chunker->tried > 0 && there < chunker->tried + chunker->tried / 2))
        return TIK_OK;
    size_t end;
    size_t tokens;
    tik_status status = find_end(chunker, &end, &tokens, error);
    if (status != TIK_OK)
        return status;
    chunker->tried = end == TIK_CUT_UNKNOWN ? there : 0;
    if (end == TIK_CUT_UNKNOWN)
        return TIK_OK;
    size_t begin;
    status = next_begin(chunker, end, &begin, error);
    if (status != TIK_OK)
        return status;
    const char *text = chunker->text.data + chunker->begin;
    *chunk = (tik_chunk){
        .text = text,
        .length = end - chunker->begin,
        .tokens = tokens,
        .start = chunker->before + chunker->begin,
        .end = chunker->before + end,
        .start_character = chunker->characters,
        .end_character = chunker->characters + count_characters(text, end - chunker->begin),
    };
    chunker->characters += count_characters(text, begin - chunker->begin);
    chunker->begin = begin;
    chunker->covered = end;
    chunker->counted = (tik_counted){0};
    *found = true;
    return TIK_OK;
}
