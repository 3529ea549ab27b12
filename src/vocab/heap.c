/*
 * Merging by the definition (whether two neighbours merge is asked by their bytes), with a heap of the
 * pairs that can merge: any length in n log n. An entry whose pair is no longer there (a part has grown
 * or gone) is passed over when it comes up.
 */
#include <stdlib.h>

#include "vocab/layout.h"

typedef struct part {
    uint32_t end;      /* where the part that starts here ends, 0 if no part starts here */
    uint32_t previous; /* where the part before it starts */
    uint32_t merged;   /* what it and the next part make, TIK_NONE for nothing */
} part;

/* Rank above, position below: the least is the lowest rank, then the leftmost. */
typedef uint64_t entry;

typedef struct merging {
    const tik_vocab *vocab;
    const uint8_t *bytes;
    uint32_t length;
    part *parts;
    entry *heap;
    size_t heap_length;
} merging;

static void push(merging *m, entry value)
{
    size_t at = m->heap_length++;
    while (at > 0 && m->heap[(at - 1) / 2] > value) {
        m->heap[at] = m->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    m->heap[at] = value;
}

static entry pop(merging *m)
{
    entry least = m->heap[0];
    entry last = m->heap[--m->heap_length];
    size_t at = 0;
    for (;;) {
        size_t child = at * 2 + 1;
        if (child >= m->heap_length)
            break;
        if (child + 1 < m->heap_length && m->heap[child + 1] < m->heap[child])
            child++;
        if (m->heap[child] >= last)
            break;
        m->heap[at] = m->heap[child];
        at = child;
    }
    m->heap[at] = last;
    return least;
}

/* Looks up what the part at `start` and the next one make, and notes it. */
static void look(merging *m, uint32_t start)
{
    part *here = &m->parts[start];
    here->merged = TIK_NONE;
    if (here->end >= m->length)
        return;
    uint32_t end = m->parts[here->end].end;
    here->merged = tik_vocab_find(m->vocab, m->bytes + start, end - start);
    if (here->merged != TIK_NONE)
        push(m, (entry)here->merged << 32 | start);
}

/*
 * Merges until nothing merges, or until the next merge would make one part of two; returns how many
 * parts there are. m->parts and m->heap have room for m->length and three times as many.
 */
static uint32_t run(merging *m, bool stop_at_two)
{
    for (uint32_t i = 0; i < m->length; i++)
        m->parts[i] = (part){i + 1, i - 1, TIK_NONE};
    for (uint32_t i = 0; i + 1 < m->length; i++)
        look(m, i);
    uint32_t parts = m->length;
    while (m->heap_length > 0) {
        entry least = pop(m);
        uint32_t start = (uint32_t)least;
        part *here = &m->parts[start];
        if (here->end == 0 || here->merged != least >> 32)
            continue;
        if (parts == 2 && stop_at_two)
            break;
        uint32_t gone = here->end;
        here->end = m->parts[gone].end;
        m->parts[gone].end = 0;
        if (here->end < m->length)
            m->parts[here->end].previous = start;
        parts--;
        look(m, start);
        if (start > 0)
            look(m, here->previous);
    }
    return parts;
}

/* Room for merging `length` bytes: each of fewer than `length` merges adds two entries to as many. */
static tik_status make_room(merging *m, tik_merge_memory *memory, tik_error *error)
{
    tik_status status = tik_grow(&memory->parts, &memory->part_capacity, m->length, sizeof(part), error);
    if (status == TIK_OK)
        status = tik_grow(&memory->heap, &memory->heap_capacity, (size_t)m->length * 3, sizeof(entry), error);
    m->parts = memory->parts;
    m->heap = memory->heap;
    return status;
}

tik_status tik_last_pair(const tik_vocab *vocab, uint32_t index, tik_merge_memory *memory, uint32_t *left,
                         uint32_t *right, tik_error *error)
{
    merging m = {
        .vocab = vocab,
        .bytes = vocab->bytes + vocab->starts[index],
        .length = (uint32_t)tik_vocab_length(vocab, index),
    };
    *left = *right = TIK_NONE;
    tik_status status = make_room(&m, memory, error);
    if (status != TIK_OK || run(&m, true) != 2)
        return status;
    uint32_t end = m.parts[0].end;
    *left = tik_vocab_find(vocab, m.bytes, end);
    *right = tik_vocab_find(vocab, m.bytes + end, m.length - end);
    return TIK_OK;
}

tik_status tik_vocab_merge(const tik_vocab *vocab, const uint8_t *piece, size_t length, uint32_t *out, size_t *count,
                           tik_error *error)
{
    if (length > UINT32_MAX - 1)
        return tik_fail(error, TIK_ERROR_LIMIT,
                        "a piece of %zu bytes is too long for a vocabulary with tokens of %u bytes", length,
                        (unsigned)vocab->longest);
    merging m = {.vocab = vocab, .bytes = piece, .length = (uint32_t)length};
    tik_merge_memory memory = {0};
    tik_status status = make_room(&m, &memory, error);
    if (status == TIK_OK) {
        run(&m, false);
        *count = 0;
        for (uint32_t i = 0; i < m.length; i = m.parts[i].end)
            out[(*count)++] = tik_vocab_find(vocab, piece + i, m.parts[i].end - i);
    }
    tik_merge_memory_free(&memory);
    return status;
}

void tik_merge_memory_free(tik_merge_memory *memory)
{
    free(memory->parts);
    free(memory->heap);
}
