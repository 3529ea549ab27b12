/*
 * The hash table of byte strings: open addressing, linear probing, at most three quarters full.
 *
 * Counting is done in batches: the slots of a batch are all asked for before the first is looked at, so
 * that the waits for memory overlap.
 */
#include <stdlib.h>
#include <string.h>

#include "split/split.h"
#include "train/table.h"

#define FIRST_BITS 10
#define BATCH 64
#define BLOCK_BYTES ((size_t)1 << 18)

/* The last byte of a key: 1 to 15 for a string in the entry, this for one in a block. */
#define LONG_TAG UINT64_C(0xFF)

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LAST_BYTE_SHIFT 0
#else
#define LAST_BYTE_SHIFT 56
#endif

typedef struct key {
    uint64_t word[2];
} key;

/* Odd constants with bits well spread, from the fractions of the golden ratio and of pi. */
static uint64_t mix(uint64_t first, uint64_t second)
{
    uint64_t hash = first * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ hash >> 32) + second;
    hash *= UINT64_C(0x243F6A8885A308D3);
    hash ^= hash >> 29;
    return hash * UINT64_C(0x9E3779B97F4A7C15);
}

static uint64_t hash_long(const uint8_t *bytes, size_t length)
{
    uint64_t hash = length;
    uint64_t word[2];
    for (; length >= sizeof word; bytes += sizeof word, length -= sizeof word) {
        memcpy(word, bytes, sizeof word);
        hash = mix(hash ^ word[0], word[1]);
    }
    memset(word, 0, sizeof word);
    memcpy(word, bytes, length);
    return mix(hash ^ word[0], word[1]);
}

/* The key of a string of 1 to 15 bytes; 16 bytes can be read. */
static key short_key(const uint8_t *bytes, size_t length)
{
    static const uint8_t keep[32] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    key mask;
    key result;
    memcpy(&mask, keep + 16 - length, sizeof mask);
    memcpy(&result, bytes, sizeof result);
    result.word[0] &= mask.word[0];
    result.word[1] = (result.word[1] & mask.word[1]) | (uint64_t)length << LAST_BYTE_SHIFT;
    return result;
}

static bool is_long(const tik_table_entry *entry)
{
    return (entry->key[1] >> LAST_BYTE_SHIFT & 0xFF) == LONG_TAG;
}

/* The second word of a long key: its tag, its length, and what fits of its hash. */
static uint64_t long_word(size_t length, uint64_t hash)
{
#if LAST_BYTE_SHIFT == 56
    return LONG_TAG << 56 | (hash >> 40) << 32 | (uint64_t)length;
#else
    return (uint64_t)length << 32 | (hash >> 40) << 8 | LONG_TAG;
#endif
}

static size_t long_length(const tik_table_entry *entry)
{
#if LAST_BYTE_SHIFT == 56
    return (size_t)(entry->key[1] & 0xFFFFFFFFu);
#else
    return (size_t)(entry->key[1] >> 32);
#endif
}

static const uint8_t *long_bytes(const tik_table_entry *entry)
{
    return (const uint8_t *)(uintptr_t)entry->key[0];
}

const uint8_t *tik_table_bytes(const tik_table_entry *entry, size_t *length)
{
    if (is_long(entry)) {
        *length = long_length(entry);
        return long_bytes(entry);
    }
    *length = (size_t)(entry->key[1] >> LAST_BYTE_SHIFT & 0xFF);
    return (const uint8_t *)entry->key;
}

static size_t slot(const tik_table *table, uint64_t hash)
{
    return (size_t)(hash >> (64 - table->bits));
}

static uint64_t entry_hash(const tik_table_entry *entry)
{
    if (is_long(entry))
        return hash_long(long_bytes(entry), long_length(entry));
    return mix(entry->key[0], entry->key[1]);
}

/* Makes room for `more` strings. */
static tik_status reserve(tik_table *table, size_t more, tik_error *error)
{
    size_t size = tik_table_size(table);
    if (more > UINT32_MAX - table->count)
        return tik_fail(error, TIK_ERROR_LIMIT, "more than %u different pieces: train on less text, or with a limit",
                        UINT32_MAX);
    if (table->count + more <= size / 4 * 3)
        return TIK_OK;
    unsigned bits = table->bits ? table->bits : FIRST_BITS;
    while (((size_t)1 << bits) / 4 * 3 < table->count + more)
        bits++;
    tik_table grown = *table;
    grown.bits = bits;
    grown.entries = calloc((size_t)1 << bits, sizeof *grown.entries);
    if (!grown.entries)
        return tik_fail_memory(error, sizeof *grown.entries << bits);
    for (size_t i = 0; i < size; i++) {
        if (!tik_table_used(&table->entries[i]))
            continue;
        size_t at = slot(&grown, entry_hash(&table->entries[i]));
        while (tik_table_used(&grown.entries[at]))
            at = (at + 1) & (((size_t)1 << bits) - 1);
        grown.entries[at] = table->entries[i];
    }
    free(table->entries);
    *table = grown;
    return TIK_OK;
}

void tik_table_free(tik_table *table)
{
    for (void *block = table->blocks; block;) {
        void *before;
        memcpy(&before, block, sizeof before);
        free(block);
        block = before;
    }
    free(table->entries);
    *table = (tik_table)TIK_TABLE_INIT;
}

/* Copies a long string into a block. NULL: no memory. */
static const uint8_t *keep_long(tik_table *table, const uint8_t *bytes, size_t length)
{
    if (length > table->block_left) {
        size_t size = length > BLOCK_BYTES / 4 ? length : BLOCK_BYTES;
        char *block = malloc(sizeof(void *) + size);
        if (!block)
            return NULL;
        memcpy(block, &table->blocks, sizeof table->blocks);
        table->blocks = block;
        table->block_bytes += size;
        table->block_left = size;
    }
    /* A block is filled from its end, so that what is left of it is all there is to remember. */
    table->block_left -= length;
    uint8_t *copy = (uint8_t *)table->blocks + sizeof(void *) + table->block_left;
    memcpy(copy, bytes, length);
    return copy;
}

/* The entry of a short key, added if it is new; there is room. */
static tik_table_entry *find_short(tik_table *table, key wanted, uint64_t hash, uint32_t unit)
{
    size_t mask = tik_table_size(table) - 1;
    for (size_t at = slot(table, hash);; at = (at + 1) & mask) {
        tik_table_entry *entry = &table->entries[at];
        if (entry->key[0] == wanted.word[0] && entry->key[1] == wanted.word[1])
            return entry;
        if (!tik_table_used(entry)) {
            entry->key[0] = wanted.word[0];
            entry->key[1] = wanted.word[1];
            entry->order = (uint32_t)table->count++;
            entry->unit = unit;
            return entry;
        }
    }
}

/* The same for a long string; NULL: no memory. */
static tik_table_entry *find_long(tik_table *table, const uint8_t *bytes, size_t length, uint32_t unit)
{
    uint64_t hash = hash_long(bytes, length);
    uint64_t word = long_word(length, hash);
    size_t mask = tik_table_size(table) - 1;
    for (size_t at = slot(table, hash);; at = (at + 1) & mask) {
        tik_table_entry *entry = &table->entries[at];
        if (entry->key[1] == word && memcmp(long_bytes(entry), bytes, length) == 0)
            return entry;
        if (!tik_table_used(entry)) {
            const uint8_t *copy = keep_long(table, bytes, length);
            if (!copy)
                return NULL;
            entry->key[0] = (uint64_t)(uintptr_t)copy;
            entry->key[1] = word;
            entry->order = (uint32_t)table->count++;
            entry->unit = unit;
            return entry;
        }
    }
}

static tik_status check_length(size_t length, tik_error *error)
{
    if (length > UINT32_MAX)
        return tik_fail(error, TIK_ERROR_LIMIT, "a piece of %zu bytes: at most %u can be trained on", length,
                        UINT32_MAX);
    return TIK_OK;
}

tik_status tik_table_add(tik_table *table, const uint8_t *bytes, size_t length, uint32_t unit,
                         tik_table_entry **entry, tik_error *error)
{
    tik_status status = check_length(length, error);
    if (status == TIK_OK)
        status = reserve(table, 1, error);
    if (status != TIK_OK)
        return status;
    if (length <= TIK_TABLE_SHORT) {
        uint8_t padded[TIK_TABLE_PADDING] = {0};
        memcpy(padded, bytes, length);
        key wanted = short_key(padded, length);
        *entry = find_short(table, wanted, mix(wanted.word[0], wanted.word[1]), unit);
    } else {
        *entry = find_long(table, bytes, length, unit);
        if (!*entry)
            return tik_fail_memory(error, length);
    }
    return TIK_OK;
}

static tik_status count_batch(tik_table *table, const uint8_t *text, uint32_t start, const uint32_t *ends,
                              size_t count, uint32_t unit, size_t *dropped, tik_error *error)
{
    key keys[BATCH];
    uint64_t hashes[BATCH];
    uint32_t from = start;
    tik_status status = reserve(table, count, error);
    if (status != TIK_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        uint32_t end = ends[i] & ~TIK_SPLIT_DROPPED;
        uint32_t length = end - from;
        if (length <= TIK_TABLE_SHORT) {
            keys[i] = short_key(text + from, length);
            hashes[i] = mix(keys[i].word[0], keys[i].word[1]);
            __builtin_prefetch(&table->entries[slot(table, hashes[i])], 1);
        }
        from = end;
    }
    from = start;
    for (size_t i = 0; i < count; i++) {
        uint32_t end = ends[i] & ~TIK_SPLIT_DROPPED;
        uint32_t length = end - from;
        if (ends[i] & TIK_SPLIT_DROPPED) {
            *dropped += length;
        } else if (length <= TIK_TABLE_SHORT) {
            find_short(table, keys[i], hashes[i], unit)->value++;
        } else {
            tik_table_entry *entry = find_long(table, text + from, length, unit);
            if (!entry)
                return tik_fail_memory(error, length);
            entry->value++;
        }
        from = end;
    }
    return TIK_OK;
}

tik_status tik_table_count(tik_table *table, const uint8_t *text, uint32_t start, const uint32_t *ends, size_t count,
                           uint32_t unit, size_t *dropped, tik_error *error)
{
    for (size_t i = 0; i < count; i += BATCH) {
        size_t batch = count - i < BATCH ? count - i : BATCH;
        tik_status status = count_batch(table, text, start, ends + i, batch, unit, dropped, error);
        if (status != TIK_OK)
            return status;
        start = ends[i + batch - 1] & ~TIK_SPLIT_DROPPED;
    }
    return TIK_OK;
}
