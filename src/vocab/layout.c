/* From a list of ranks to lookup tables. The order of the steps: bytes and pieces first, then, asking
 * these, the merges of every token. */
#include <stdlib.h>

#include "vocab/layout.h"
#include "vocab/tables.h"
#include "vocab/vocab.h"

/* The least power of two that is at least `least`, as an exponent. */
static uint32_t power_for(uint64_t least)
{
    uint32_t power = 4;
    while (UINT64_C(1) << power < least)
        power++;
    return power;
}

static size_t place(table_header *header, enum table_section which, uint64_t elements, uint64_t width)
{
    uint64_t offset = (header->size + TABLES_ALIGNMENT - 1) / TABLES_ALIGNMENT * TABLES_ALIGNMENT;
    header->sections[which] = (table_place){offset, elements, width};
    header->size = offset + elements * width;
    return (size_t)header->size;
}

static void *writable(void *tables, enum table_section which)
{
    return (uint8_t *)tables + ((table_header *)tables)->sections[which].offset;
}

static void add_piece(const tik_vocab *vocab, uint32_t *slots, uint32_t index)
{
    uint64_t hash = tik_hash(vocab->bytes + vocab->starts[index], tik_vocab_length(vocab, index));
    uint32_t mask = (UINT32_C(1) << (64 - vocab->piece_shift)) - 1;
    uint32_t slot = (uint32_t)(hash >> vocab->piece_shift);
    while (slots[slot])
        slot = (slot + 1) & mask;
    slots[slot] = (uint32_t)(hash & 0x7FF) << 21 | (index + 1);
}

static void add_pair(const tik_vocab *vocab, uint64_t *buckets, uint32_t left, uint32_t right, uint32_t merged)
{
    size_t mask = ((size_t)TIK_BUCKET << (64 - vocab->pair_shift)) - 1;
    size_t slot = (size_t)tik_vocab_bucket(vocab, left, right) * TIK_BUCKET;
    while (buckets[slot])
        slot = (slot + 1) & mask;
    buckets[slot] = (uint64_t)left << 42 | (uint64_t)right << 21 | (merged + 1);
}

static bool bytes_before(const void *context, uint32_t a, uint32_t b)
{
    const tik_vocab *vocab = context;
    size_t a_length = tik_vocab_length(vocab, a);
    size_t b_length = tik_vocab_length(vocab, b);
    int order = memcmp(vocab->bytes + vocab->starts[a], vocab->bytes + vocab->starts[b],
                       a_length < b_length ? a_length : b_length);
    return order ? order < 0 : a_length < b_length;
}

static tik_status fill(const tik_ranks *ranks, void *tables, tik_vocab *vocab, tik_error *error)
{
    uint8_t *bytes = writable(tables, SECTION_BYTES);
    uint32_t *starts = writable(tables, SECTION_STARTS);
    uint32_t *rank_of = writable(tables, SECTION_RANKS);
    uint32_t *pieces = writable(tables, SECTION_PIECES);
    uint64_t *pairs = writable(tables, SECTION_PAIRS);
    uint32_t *byte_index = writable(tables, SECTION_BYTE_INDEX);
    uint32_t *byte_pairs = writable(tables, SECTION_BYTE_PAIRS);
    uint32_t *sorted = writable(tables, SECTION_SORTED);

    uint32_t at = 0;
    for (uint32_t i = 0; i < vocab->count; i++) {
        const tik_token *token = &ranks->tokens[i];
        starts[i] = at;
        rank_of[i] = token->rank;
        memcpy(bytes + at, token->bytes, token->length);
        at += (uint32_t)token->length;
    }
    starts[vocab->count] = at;
    for (uint32_t i = 0; i < vocab->count; i++)
        add_piece(vocab, pieces, i);
    for (uint32_t b = 0; b < 256; b++) {
        uint8_t byte = (uint8_t)b;
        byte_index[b] = tik_vocab_find(vocab, &byte, 1);
    }
    for (uint32_t b = 0; b < 65536; b++) {
        uint8_t both[2] = {(uint8_t)(b >> 8), (uint8_t)b};
        byte_pairs[b] = tik_vocab_find(vocab, both, 2);
    }

    for (uint32_t i = 0; i < vocab->count; i++)
        sorted[i] = i;
    tik_sort(sorted, vocab->count, bytes_before, vocab);

    uint32_t *lefts = malloc(((size_t)vocab->count + 1) * sizeof *lefts);
    if (!lefts)
        return tik_fail_memory(error, vocab->count * sizeof *lefts);
    tik_merge_memory memory = {0};
    tik_status status = TIK_OK;
    for (uint32_t i = 0; i < vocab->count && status == TIK_OK; i++) {
        size_t length = tik_vocab_length(vocab, i);
        uint32_t right = TIK_NONE;
        lefts[i] = TIK_NONE;
        if (length > 1)
            status = tik_last_pair(vocab, i, &memory, &lefts[i], &right, error);
        if (lefts[i] != TIK_NONE)
            add_pair(vocab, pairs, lefts[i], right, i);
    }
    tik_merge_memory_free(&memory);
    if (status == TIK_OK)
        status = tik_find_solid(vocab, lefts, writable(tables, SECTION_SOLID_2), writable(tables, SECTION_SOLID_3),
                                error);
    free(lefts);
    return status;
}

tik_status tik_vocab_layout(const tik_ranks *ranks, void **tables, size_t *size, tik_error *error)
{
    uint64_t total = 0;
    uint64_t longest = 0;
    if (ranks->count > TIK_VOCAB_LIMIT)
        return tik_fail(error, TIK_ERROR_LIMIT, "a vocabulary of %zu tokens is too large: the limit is %u",
                        ranks->count, (unsigned)TIK_VOCAB_LIMIT);
    for (size_t i = 0; i < ranks->count; i++) {
        total += ranks->tokens[i].length;
        if (ranks->tokens[i].length > longest)
            longest = ranks->tokens[i].length;
    }
    if (total > UINT32_MAX - TIK_VOCAB_PADDING)
        return tik_fail(error, TIK_ERROR_LIMIT, "the tokens have %llu bytes together: the limit is 4 GiB",
                        (unsigned long long)total);

    _Static_assert(TIK_BUCKET == 1 << 3, "the buckets are an eighth of the slots");
    uint32_t count = (uint32_t)ranks->count;
    /* Half full at most: a miss then ends after two or three slots. */
    uint32_t power = power_for((uint64_t)count * 2 + 1);
    table_header header = {
        .magic = TABLES_MAGIC,
        .count = count,
        .largest_rank = count ? ranks->tokens[count - 1].rank : 0,
        .longest = (uint32_t)longest,
        .dense = count && ranks->tokens[count - 1].rank == count - 1,
        .piece_shift = 64 - power,
        .pair_shift = 64 - (power - 3),
        .size = sizeof(table_header),
    };
    place(&header, SECTION_BYTES, total + TIK_VOCAB_PADDING, 1);
    place(&header, SECTION_STARTS, (uint64_t)count + 1, 4);
    place(&header, SECTION_RANKS, count, 4);
    place(&header, SECTION_PIECES, UINT64_C(1) << power, 4);
    place(&header, SECTION_PAIRS, UINT64_C(1) << power, 8);
    place(&header, SECTION_BYTE_INDEX, 256, 4);
    place(&header, SECTION_BYTE_PAIRS, 65536, 4);
    place(&header, SECTION_SORTED, count, 4);
    place(&header, SECTION_SOLID_2, 0x800, 4);
    size_t bytes = place(&header, SECTION_SOLID_3, 0x10000, 4);
    size_t rounded = (bytes + TABLES_ALIGNMENT - 1) / TABLES_ALIGNMENT * TABLES_ALIGNMENT;
    header.size = rounded;

    void *laid = aligned_alloc(TABLES_ALIGNMENT, rounded);
    if (!laid)
        return tik_fail_memory(error, rounded);
    memset(laid, 0, rounded);
    memcpy(laid, &header, sizeof header);
    tik_vocab vocab;
    tik_status status = tik_vocab_attach(laid, rounded, &vocab, error);
    if (status == TIK_OK)
        status = fill(ranks, laid, &vocab, error);
    if (status != TIK_OK) {
        free(laid);
        return status;
    }
    *tables = laid;
    *size = rounded;
    return TIK_OK;
}

static void swap_elements(uint8_t *at, uint64_t elements, uint64_t width)
{
    for (uint64_t i = 0; i < elements; i++, at += width)
        for (uint64_t a = 0, b = width - 1; a < b; a++, b--) {
            uint8_t byte = at[a];
            at[a] = at[b];
            at[b] = byte;
        }
}

void tik_vocab_swap(void *tables)
{
    table_header header;
    memcpy(&header, tables, sizeof header);
    for (int i = 0; i < SECTION_COUNT; i++)
        swap_elements((uint8_t *)tables + header.sections[i].offset, header.sections[i].elements,
                      header.sections[i].width);
    swap_elements(tables, offsetof(table_header, size) / 4, 4);
    swap_elements((uint8_t *)tables + offsetof(table_header, size), 1 + 3 * SECTION_COUNT, 8);
}
