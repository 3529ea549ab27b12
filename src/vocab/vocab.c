/* Reading laid-out tables, and the lookups too long for the header. */
#include "vocab/vocab.h"

#include "vocab/tables.h"

uint64_t tik_hash(const uint8_t *piece, size_t length)
{
    uint64_t low;
    uint64_t high;
    if (length <= 16) {
        tik_load_short(piece, length, &low, &high);
        return tik_hash_short(low, high, length);
    }
    uint64_t hash = length;
    size_t at = 0;
    for (; at + 16 <= length; at += 16)
        hash = tik_hash_short(tik_load64(piece + at) ^ hash, tik_load64(piece + at + 8), 16);
    if (at < length) {
        tik_load_short(piece + at, length - at, &low, &high);
        hash = tik_hash_short(low ^ hash, high, length - at);
    }
    return hash;
}

static const void *section(const table_header *header, enum table_section which)
{
    return (const uint8_t *)header + header->sections[which].offset;
}

tik_status tik_vocab_attach(const void *tables, size_t size, tik_vocab *vocab, tik_error *error)
{
    const table_header *header = tables;
    if (size < sizeof *header || header->magic != TABLES_MAGIC || header->size != size)
        return tik_fail(error, TIK_ERROR_FORMAT, "the vocabulary's tables are of another version: build again");
    *vocab = (tik_vocab){
        .count = header->count,
        .largest_rank = header->largest_rank,
        .longest = header->longest,
        .dense = header->dense != 0,
        .piece_shift = header->piece_shift,
        .pair_shift = header->pair_shift,
        .bytes = section(header, SECTION_BYTES),
        .starts = section(header, SECTION_STARTS),
        .ranks = section(header, SECTION_RANKS),
        .piece_slots = section(header, SECTION_PIECES),
        .pair_buckets = section(header, SECTION_PAIRS),
        .byte_index = section(header, SECTION_BYTE_INDEX),
        .byte_pairs = section(header, SECTION_BYTE_PAIRS),
        .sorted = section(header, SECTION_SORTED),
        .solid_2 = section(header, SECTION_SOLID_2),
        .solid_3 = section(header, SECTION_SOLID_3),
    };
    return TIK_OK;
}

uint32_t tik_vocab_index(const tik_vocab *vocab, uint32_t rank)
{
    if (rank > vocab->largest_rank)
        return TIK_NONE;
    if (vocab->dense)
        return rank;
    /* Ranks ascend, and index <= rank: the token is at most at its rank. */
    uint32_t low = 0;
    uint32_t high = rank < vocab->count ? rank + 1 : vocab->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (vocab->ranks[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < vocab->count && vocab->ranks[low] == rank ? low : TIK_NONE;
}
