/*
 * Block masks with 64-bit integers alone, for any machine of either byte order.
 *
 * Eight bytes at a time become eight lanes of eight bits, one lane for each class bit: a table has each
 * byte's class bits spread to the lowest bit of their lanes, and byte i adds its entry shifted by i.
 */
#include <string.h>

#include "split/scan_block.h"
#include "split/scan_classes.h"
#include "unicode/unicode.h"

#define LANE(bits, bit) ((uint64_t)((bits) >> (bit) & 1) << (8 * (bit)))
#define SPREAD(bits)                                                                                      \
    (LANE(bits, 0) | LANE(bits, 1) | LANE(bits, 2) | LANE(bits, 3) | LANE(bits, 4) | LANE(bits, 5) |      \
     LANE(bits, 6) | LANE(bits, 7)),
#define PLAIN(bits) (bits),

static const uint64_t spread_ascii[128] = { TIK_ASCII_BITS(SPREAD) };
static const uint8_t class_bits[] = { TIK_CLASS_BITS(PLAIN) };

static uint64_t spread(uint8_t bits)
{
    return ((bits & 0x7Fu) * (uint64_t)0x0002040810204081 & 0x0001010101010101) | (uint64_t)(bits >> 7) << 56;
}

/* Eight by eight bytes, rows to columns. */
static void transpose(uint64_t rows[8])
{
    for (int half = 4; half; half /= 2) {
        uint64_t keep = half == 4 ? 0x00000000FFFFFFFF : half == 2 ? 0x0000FFFF0000FFFF : 0x00FF00FF00FF00FF;
        for (int i = 0; i < 8; i++) {
            if (i & half)
                continue;
            uint64_t low = rows[i], high = rows[i + half];
            rows[i] = (low & keep) | (high & keep) << (8 * half);
            rows[i + half] = (low >> (8 * half) & keep) | (high & ~keep);
        }
    }
}

static void load(const uint8_t *text, size_t length, size_t at, tik_block *block, uint8_t *spill)
{
    size_t size = length - at < TIK_BLOCK ? length - at : TIK_BLOCK;
    uint64_t rows[9] = { 0 }; /* the last one is for what goes beyond the block */
    uint64_t start = 0, wide = 0;
    size_t i = 0;
    while (i < size && !tik_utf8_is_start(text[at + i])) {
        rows[0] |= spread(*spill) << i;
        wide |= (uint64_t)1 << i;
        i++;
    }
    while (i < size) {
        if (i % 8 == 0 && size - i >= 8) {
            uint64_t eight;
            memcpy(&eight, text + at + i, 8);
            if (!(eight & 0x8080808080808080)) {
                const uint8_t *byte = text + at + i;
                rows[i / 8] = spread_ascii[byte[0]] | spread_ascii[byte[1]] << 1 | spread_ascii[byte[2]] << 2 |
                              spread_ascii[byte[3]] << 3 | spread_ascii[byte[4]] << 4 | spread_ascii[byte[5]] << 5 |
                              spread_ascii[byte[6]] << 6 | spread_ascii[byte[7]] << 7;
                start |= (uint64_t)0xFF << i;
                i += 8;
                continue;
            }
        }
        start |= (uint64_t)1 << i;
        if (text[at + i] < 0x80) {
            rows[i / 8] |= spread_ascii[text[at + i]] << (i % 8);
            i++;
            continue;
        }
        size_t bytes;
        uint8_t bits = class_bits[tik_unicode_class(tik_utf8_decode(text + at + i, &bytes))];
        uint64_t lanes = spread(bits);
        wide |= (((uint64_t)1 << bytes) - 1) << i;
        for (; bytes; bytes--, i++)
            rows[i / 8] |= lanes << (i % 8);
        *spill = bits;
    }
    transpose(rows);
    block->valid = size == TIK_BLOCK ? ~(uint64_t)0 : ((uint64_t)1 << size) - 1;
    block->start = start;
    block->wide = wide;
    block->upper = rows[0];
    block->lower = rows[1];
    block->caseless = rows[2];
    block->mark = rows[3];
    block->number = rows[4];
    block->space = rows[5];
    block->newline = rows[6] & rows[5];
    block->slash = rows[6] & ~rows[5];
    block->blank = rows[7] & rows[5];
    block->apostrophe = rows[7] & ~rows[5];
}

#define SCAN_TARGET
#define SCAN_MEMORY uint8_t
#define SCAN_BEGIN(spill) (*(spill) = 0)
#define SCAN_LOAD load
#define SCAN_WRITE tik_write_ends
#define SCAN_NAME(pattern) portable_##pattern
#define SCAN_TABLE tik_scan_portable
#define SCAN_WAY "portable"
#include "split/scan_driver.h"
