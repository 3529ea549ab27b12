/*
 * A hash table from byte strings to numbers: pieces with how often they occur, tokens with their ids.
 *
 * A string of up to 15 bytes lies in its entry, with its length: two words to compare, nothing to follow.
 * Longer ones lie in blocks that the table owns.
 */
#ifndef TIK_TRAIN_TABLE_H
#define TIK_TRAIN_TABLE_H

#include "base/base.h"

#define TIK_TABLE_SHORT 15

typedef struct tik_table_entry {
    uint64_t key[2]; /* the bytes and, in the last, the length; or a pointer, and length and hash; 0 0 if free */
    uint64_t value;
    uint32_t order; /* how many strings the table had before this one */
    uint32_t unit;  /* what the caller said when it was added */
} tik_table_entry;

typedef struct tik_table {
    tik_table_entry *entries; /* 1 << bits of them */
    unsigned bits;
    size_t count;
    void *blocks; /* the long strings; the first word of a block is the block before */
    size_t block_left;
    size_t block_bytes; /* of all blocks */
} tik_table;
#define TIK_TABLE_INIT { 0, 0, 0, 0, 0, 0 }

/* How many readable bytes must follow the start of a string, whatever its length: it is loaded at once. */
#define TIK_TABLE_PADDING 16

void tik_table_free(tik_table *table);

/*
 * The entry of a string, with value 0 if it is new. `*entry` is valid until the next addition. No byte past
 * `length` is read. TIK_ERROR_LIMIT: 2^32 - 1 strings, each below 4 GiB.
 */
tik_status tik_table_add(tik_table *table, const uint8_t *bytes, size_t length, uint32_t unit,
                         tik_table_entry **entry, tik_error *error);

/*
 * Counts pieces: the first begins at `start`, and `count` ends, relative to `text`, are as tik_split_next
 * gives them; those with
 * TIK_SPLIT_DROPPED left out and their bytes added to `*dropped`. TIK_TABLE_PADDING bytes follow the text.
 */
tik_status tik_table_count(tik_table *table, const uint8_t *text, uint32_t start, const uint32_t *ends, size_t count,
                           uint32_t unit, size_t *dropped, tik_error *error);

/* The bytes of an entry, in the entry itself or in a block. */
const uint8_t *tik_table_bytes(const tik_table_entry *entry, size_t *length);

static inline bool tik_table_used(const tik_table_entry *entry)
{
    return entry->key[1] != 0;
}

static inline size_t tik_table_size(const tik_table *table)
{
    return table->entries ? (size_t)1 << table->bits : 0;
}

#endif
