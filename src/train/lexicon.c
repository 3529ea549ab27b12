/* The tokens known so far: their bytes by id, and their ids by bytes. */
#include <stdlib.h>
#include <string.h>

#include "train/train.h"

tik_status tik_lexicon_init(tik_lexicon *lexicon, bool empty, tik_error *error)
{
    memset(lexicon, 0, sizeof *lexicon);
    tik_status status = TIK_OK;
    for (uint32_t byte = 0; !empty && byte < 256 && status == TIK_OK; byte++) {
        uint8_t bytes = (uint8_t)byte;
        status = tik_lexicon_add(lexicon, &bytes, 1, byte, error);
    }
    if (status != TIK_OK)
        tik_lexicon_free(lexicon);
    return status;
}

void tik_lexicon_free(tik_lexicon *lexicon)
{
    tik_bytes_free(&lexicon->bytes);
    free(lexicon->starts);
    free(lexicon->lengths);
    tik_table_free(&lexicon->by_bytes);
    memset(lexicon, 0, sizeof *lexicon);
}

/* Makes room for ids up to `id`; the new ones have no token. */
static tik_status reserve(tik_lexicon *lexicon, uint32_t id, tik_error *error)
{
    size_t need = (size_t)id + 1;
    if (need <= lexicon->capacity)
        return TIK_OK;
    size_t before = lexicon->capacity;
    size_t capacity = before;
    void *starts = lexicon->starts;
    tik_status status = tik_grow(&starts, &capacity, need, sizeof *lexicon->starts, error);
    lexicon->starts = starts;
    if (status != TIK_OK)
        return status;
    void *lengths = lexicon->lengths;
    size_t second = before;
    status = tik_grow(&lengths, &second, need, sizeof *lexicon->lengths, error);
    lexicon->lengths = lengths;
    if (status != TIK_OK)
        return status;
    memset(lexicon->lengths + before, 0, (second - before) * sizeof *lexicon->lengths);
    lexicon->capacity = second;
    return TIK_OK;
}

/* Gives the id to the bytes, unless they have one already: then `*id` becomes that, and `*known` is true. */
static tik_status add(tik_lexicon *lexicon, const uint8_t *bytes, size_t length, uint32_t *id, bool *known,
                      tik_error *error)
{
    tik_table_entry *entry;
    size_t before = lexicon->by_bytes.count;
    tik_status status = reserve(lexicon, *id, error);
    if (status == TIK_OK)
        status = tik_table_add(&lexicon->by_bytes, bytes, length, 0, &entry, error);
    if (status != TIK_OK)
        return status;
    *known = lexicon->by_bytes.count == before;
    if (*known) {
        *id = (uint32_t)entry->value;
        return TIK_OK;
    }
    entry->value = *id;
    lexicon->starts[*id] = lexicon->bytes.length;
    status = tik_bytes_append(&lexicon->bytes, bytes, length, error);
    if (status != TIK_OK)
        return status;
    lexicon->lengths[*id] = (uint32_t)length;
    lexicon->count++;
    if (*id >= lexicon->limit)
        lexicon->limit = (size_t)*id + 1;
    return TIK_OK;
}

tik_status tik_lexicon_add(tik_lexicon *lexicon, const void *bytes, size_t length, uint32_t id, tik_error *error)
{
    uint32_t given = id;
    bool known = false;
    if (id < lexicon->capacity && lexicon->lengths[id])
        return tik_fail(error, TIK_ERROR_FORMAT, "two tokens have the id %u", id);
    if (length == 0)
        return tik_fail(error, TIK_ERROR_FORMAT, "the token %u has no bytes", id);
    tik_status status = add(lexicon, bytes, length, &given, &known, error);
    if (status == TIK_OK && known)
        return tik_fail(error, TIK_ERROR_FORMAT, "the tokens %u and %u have the same bytes", given, id);
    return status;
}

tik_status tik_lexicon_join(tik_lexicon *lexicon, uint32_t left, uint32_t right, uint32_t *id, bool *joined,
                            tik_error *error)
{
    size_t left_length = lexicon->lengths[left];
    size_t length = left_length + lexicon->lengths[right];
    if (length > UINT32_MAX || lexicon->limit > INT32_MAX)
        return tik_fail(error, TIK_ERROR_LIMIT, "a token of %zu bytes, or an id above 2^31 - 1", length);
    uint8_t *bytes = malloc(length);
    if (!bytes)
        return tik_fail_memory(error, length);
    memcpy(bytes, tik_lexicon_bytes(lexicon, left), left_length);
    memcpy(bytes + left_length, tik_lexicon_bytes(lexicon, right), length - left_length);
    *id = (uint32_t)lexicon->limit;
    tik_status status = add(lexicon, bytes, length, id, joined, error);
    free(bytes);
    return status;
}
