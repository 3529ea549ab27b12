/* The form of laid-out tables: a header, then sections, each aligned to 64 bytes. Of vocab/ alone. */
#ifndef TIK_VOCAB_TABLES_H
#define TIK_VOCAB_TABLES_H

#include <stdint.h>

#define TABLES_MAGIC UINT32_C(0x314B4954) /* "TIK1", read on a machine of the same byte order */
#define TABLES_ALIGNMENT 64

enum table_section {
    SECTION_BYTES,
    SECTION_STARTS,
    SECTION_RANKS,
    SECTION_PIECES,
    SECTION_PAIRS,
    SECTION_BYTE_INDEX,
    SECTION_BYTE_PAIRS,
    SECTION_SORTED,
    SECTION_SOLID_2,
    SECTION_SOLID_3,
    SECTION_COUNT
};

typedef struct table_place {
    uint64_t offset;   /* from the beginning of the header, bytes */
    uint64_t elements;
    uint64_t width;    /* bytes of an element: 1, 4 or 8 */
} table_place;

typedef struct table_header {
    uint32_t magic;
    uint32_t count;
    uint32_t largest_rank;
    uint32_t longest;
    uint32_t dense;
    uint32_t piece_shift;
    uint32_t pair_shift;
    uint32_t reserved;
    uint64_t size; /* of header and sections */
    table_place sections[SECTION_COUNT];
} table_header;

#endif
