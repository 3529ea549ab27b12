/*
 * One large text on several threads: it is cut where a cut is certain, or at special tokens, and the parts
 * go the way of a batch.
 *
 * A part begins and ends at a special token or, within a stretch of ordinary text, where every match of the
 * pattern ends and nothing before matters to what follows. So the pieces of the parts, each split by
 * itself, are those of the whole. Special tokens are found in the whole first: a cut within a stretch
 * between two of them makes and breaks none.
 */
#include <stdlib.h>

#include "encode/batch.h"

/* A part has about this many bytes: enough that encoding it costs more than handing it out. */
#define PART ((size_t)1 << 18)

/* A text is cut if it has so many parts: starting a thread must be worth it. */
#define PARTS_LEAST 4

bool tik_is_parallel(const tik_encoding *encoding, const tik_policy *policy, size_t length)
{
    return policy->threads > 1 && length >= PARTS_LEAST * PART && policy->limit == SIZE_MAX && !encoding->drops;
}

typedef struct cutting {
    const tik_splitter *splitter;
    const uint8_t *text;
    tik_text *parts;
    size_t count;
    size_t capacity;
    size_t from; /* where the next part begins */
} cutting;

static tik_status add_part(cutting *c, size_t to, tik_error *error)
{
    void *parts = c->parts;
    if (to == c->from)
        return TIK_OK;
    tik_status status = tik_grow(&parts, &c->capacity, c->count + 1, sizeof *c->parts, error);
    c->parts = parts;
    if (status != TIK_OK)
        return status;
    c->parts[c->count++] = (tik_text){(const char *)c->text + c->from, to - c->from};
    c->from = to;
    return TIK_OK;
}

/* The last certain boundary of the stretch text[start, end) in (low, high]; 0 if there is none. */
static size_t last_cut(const cutting *c, size_t start, size_t end, size_t low, size_t high)
{
    size_t cut = low < high ? tik_split_cut(c->splitter, c->text + start, end - start, low - start, high - start) : 0;
    return cut ? start + cut : 0;
}

/* Cuts parts off while two or more of them lie before `end`, the end of the stretch. */
static tik_status cut_stretch(cutting *c, size_t start, size_t end, tik_error *error)
{
    tik_status status = TIK_OK;
    while (status == TIK_OK && end - c->from >= 2 * PART) {
        size_t low = c->from > start ? c->from : start;
        size_t cut = 0;
        /* Where there is none within a part, it gets longer. */
        for (size_t reach = PART; cut == 0; reach *= 2) {
            size_t high = end - c->from > reach ? c->from + reach : end - 1;
            cut = last_cut(c, start, end, low, high);
            if (high == end - 1)
                break;
        }
        if (cut == 0)
            break;
        status = add_part(c, cut, error);
    }
    return status;
}

/*
 * Cuts text[0, length): special tokens that begin before `settled` end stretches. With `more`, `c->from`
 * is left at the end of the last part.
 */
static tik_status cut_parts(cutting *c, const tik_encoding *encoding, const tik_policy *policy, size_t length,
                            size_t settled, bool more, tik_error *error)
{
    const tik_specials *specials = &encoding->specials;
    for (size_t start = 0;;) {
        size_t at = settled;
        size_t index = 0;
        bool found = policy->any_allowed &&
                     tik_specials_find(specials, policy->allowed, c->text, length, start, &at, &index) && at < settled;
        size_t end = found ? at : settled;
        tik_status status = cut_stretch(c, start, end, error);
        if (status == TIK_OK && !found) {
            size_t low = c->from > start ? c->from : start;
            size_t cut = more ? last_cut(c, start, end, low, end) : end;
            return add_part(c, cut ? cut : low, error);
        }
        if (status != TIK_OK)
            return status;
        start = at + specials->list[index].length;
        if (start - c->from >= PART)
            status = add_part(c, start, error);
        if (status != TIK_OK)
            return status;
        if (settled < start)
            settled = start;
    }
}

static tik_status encode_parts(const cutting *c, const tik_encoding *encoding, const tik_policy *policy,
                               tik_sink *sink, tik_error *error)
{
    /* What is checked for the whole; and a part that could not be cut must not come here again. */
    tik_policy plain = *policy;
    plain.any_disallowed = false;
    plain.replace_invalid = false;
    plain.threads = 1;
    plain.limit = SIZE_MAX;
    unsigned threads = tik_threads_for(policy->threads, c->count);
    size_t failed;
    if (sink->ids) {
        size_t before = sink->ids->length;
        tik_status status = tik_batch(encoding, &plain, threads, c->parts, c->count, NULL, sink->ids, NULL, &failed,
                                      error);
        sink->count += sink->ids->length - before;
        return status;
    }
    size_t *counts = malloc((c->count ? c->count : 1) * sizeof *counts);
    if (!counts)
        return tik_fail_memory(error, c->count * sizeof *counts);
    tik_status status = tik_batch(encoding, &plain, threads, c->parts, c->count, counts, NULL, NULL, &failed, error);
    for (size_t i = 0; i < c->count && status == TIK_OK; i++)
        sink->count += counts[i];
    free(counts);
    return status;
}

static tik_status parallel(const tik_encoding *encoding, const tik_policy *policy, const uint8_t *text, size_t length,
                           size_t settled, bool more, tik_sink *sink, size_t *done, tik_error *error)
{
    cutting c = {.splitter = encoding->splitter, .text = text};
    tik_status status = cut_parts(&c, encoding, policy, length, settled, more, error);
    if (status == TIK_OK)
        status = encode_parts(&c, encoding, policy, sink, error);
    *done = c.from;
    free(c.parts);
    return status;
}

tik_status tik_parallel_text(const tik_encoding *encoding, const tik_policy *policy, const uint8_t *text,
                             size_t length, tik_sink *sink, tik_error *error)
{
    size_t done;
    return parallel(encoding, policy, text, length, length, false, sink, &done, error);
}

tik_status tik_parallel_beginning(const tik_encoding *encoding, const tik_policy *policy, const uint8_t *text,
                                  size_t length, size_t settled, tik_sink *sink, size_t *done, tik_error *error)
{
    return parallel(encoding, policy, text, length, settled, true, sink, done, error);
}
