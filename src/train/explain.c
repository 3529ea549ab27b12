/* tik_explain: the merges of one piece in the order in which they are made, by the definition. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* The work grows with the square of the length. */
#define MOST_BYTES ((size_t)1 << 14)

typedef struct part {
    size_t start;
    uint32_t id;
    uint32_t joined; /* the token that this part and the next make; NO_TOKEN */
} part;

#define NO_TOKEN UINT32_MAX

static uint32_t token_at(const tik_encoding *encoding, const char *piece, size_t start, size_t end)
{
    uint32_t id;
    if (tik_token_id(encoding, piece + start, end - start, &id, NULL) != TIK_OK || tik_is_special(encoding, id))
        return NO_TOKEN;
    return id;
}

/* Sets what part i and the next make; parts[count].start is the end of the piece. */
static void look(const tik_encoding *encoding, const char *piece, part *parts, size_t count, size_t i)
{
    parts[i].joined = i + 1 < count ? token_at(encoding, piece, parts[i].start, parts[i + 2].start) : NO_TOKEN;
}

tik_status tik_explain(const tik_encoding *encoding, const char *piece, size_t length, tik_step *steps,
                       size_t capacity, size_t *count, tik_error *error)
{
    if (length > MOST_BYTES)
        return tik_fail(error, TIK_ERROR_LIMIT, "a piece of %zu bytes: at most %zu are explained", length, MOST_BYTES);
    part *parts = calloc(length + 2, sizeof *parts);
    if (!parts)
        return tik_fail_memory(error, (length + 2) * sizeof *parts);
    size_t left = length;
    *count = 0;
    for (size_t i = 0; i <= length; i++)
        parts[i].start = i;
    for (size_t i = 0; i < length; i++) {
        parts[i].id = token_at(encoding, piece, i, i + 1);
        look(encoding, piece, parts, left, i);
    }
    for (;;) {
        size_t best = 0;
        for (size_t i = 1; i < left; i++)
            if (parts[i].joined < parts[best].joined)
                best = i;
        if (left < 2 || parts[best].joined == NO_TOKEN)
            break;
        if (*count < capacity)
            steps[*count] = (tik_step){parts[best].start, parts[best + 1].start, parts[best + 2].start,
                                       parts[best].id, parts[best + 1].id, parts[best].joined};
        ++*count;
        parts[best].id = parts[best].joined;
        memmove(parts + best + 1, parts + best + 2, (left - best - 1) * sizeof *parts);
        left--;
        look(encoding, piece, parts, left, best);
        if (best)
            look(encoding, piece, parts, left, best - 1);
    }
    free(parts);
    return TIK_OK;
}
