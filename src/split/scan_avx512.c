/*
 * Block masks with AVX-512 (VBMI, VBMI2).
 *
 * ASCII: one table look-up for 64 bytes, then one test for each class bit. Other characters: one look-up
 * in the Unicode tables for each group of 64 code points that occurs.
 */
#include "base/cpu.h"

#if TIK_HAVE_X86

#include <immintrin.h>

#include "split/scan_block.h"
#include "split/scan_classes.h"

#define BYTE(bits) (bits),

static const uint8_t ascii_bits[128] __attribute__((aligned(64))) = { TIK_ASCII_BITS(BYTE) };
static const uint8_t class_bits[16] __attribute__((aligned(16))) = { TIK_CLASS_BITS(BYTE) };

/* 0, 1, … 63 */
TIK_TARGET_AVX512 TIK_INLINE __m512i positions(void)
{
    return _mm512_set_epi64(0x3F3E3D3C3B3A3938, 0x3736353433323130, 0x2F2E2D2C2B2A2928, 0x2726252423222120,
                            0x1F1E1D1C1B1A1918, 0x1716151413121110, 0x0F0E0D0C0B0A0908, 0x0706050403020100);
}

/* As loading 64 bytes at `at`, zeros past the end of the text. */
TIK_TARGET_AVX512 TIK_INLINE __m512i load_bytes(const uint8_t *text, size_t length, size_t at)
{
    if (TIK_LIKELY(at < length && length - at >= TIK_BLOCK))
        return _mm512_loadu_si512(text + at);
    size_t size = at < length ? length - at : 0;
    return _mm512_maskz_loadu_epi8(_bzhi_u64(~(uint64_t)0, (unsigned)size), text + (size ? at : 0));
}

/*
 * A page: 64 code points that differ in the last byte of their UTF-8 only, so that the classes of all
 * characters of a page in a block are one permutation of its table by those last bytes. Texts use few pages;
 * the last ones met are kept.
 */
enum { PAGES = 4 };

typedef struct page_list {
    __m512i first[PAGES], second[PAGES]; /* the bytes before the last, 64 times each */
    const uint8_t *classes[PAGES];
    unsigned next; /* the one to give up */
} page_list;

typedef struct page_memory {
    page_list of_two, of_three; /* characters of two and three bytes */
    bool ready;             /* the pages are something */
    uint8_t spill;          /* the class of a character that goes on in the next block */
} page_memory;

TIK_INLINE void begin(page_memory *memory)
{
    memory->ready = false;
    memory->spill = 0;
}

TIK_TARGET_AVX512 static void clear(page_list *pages)
{
    for (int i = 0; i < PAGES; i++) {
        pages->first[i] = pages->second[i] = _mm512_setzero_si512();
        pages->classes[i] = tik_unicode_class_blocks;
    }
    pages->next = 0;
}

/* The classes of the 64 code points from `point` on. */
TIK_INLINE const uint8_t *page_of(uint32_t point)
{
    uint32_t block = tik_unicode_class_index[point >> TIK_UNICODE_CLASS_BITS];
    return tik_unicode_class_blocks + (block << TIK_UNICODE_CLASS_BITS | (point & 64));
}

TIK_TARGET_AVX512 TIK_INLINE __m512i pick(__m512i classes, uint64_t which, __m512i last, const uint8_t *page)
{
    return _mm512_mask_permutexvar_epi8(classes, which, last, _mm512_loadu_si512(page));
}

/* A page that is not among those kept takes the place of one. */
TIK_TARGET_AVX512 TIK_INLINE unsigned keep(page_list *pages, uint8_t first, uint8_t second, uint32_t point)
{
    unsigned place = pages->next;
    pages->next = (place + 1) % PAGES;
    pages->first[place] = _mm512_set1_epi8((char)first);
    pages->second[place] = _mm512_set1_epi8((char)second);
    pages->classes[place] = page_of(point);
    return place;
}

/* At the first bytes of characters of two bytes, `leads`: their classes. */
TIK_TARGET_AVX512 TIK_INLINE __m512i classes_of_two(page_list *pages, uint64_t leads, __m512i b0, __m512i b1,
                                                    const uint8_t *text)
{
    __m512i classes = _mm512_setzero_si512();
    uint64_t known = 0;
    for (int i = 0; i < PAGES; i++) {
        uint64_t here = _mm512_cmpeq_epi8_mask(b0, pages->first[i]);
        classes = pick(classes, here, b1, pages->classes[i]);
        known |= here;
    }
    for (uint64_t rest = leads & ~known; TIK_UNLIKELY(rest);) {
        uint8_t first = text[tik_lowest(rest)];
        unsigned i = keep(pages, first, 0, (uint32_t)(first & 0x1F) << 6);
        uint64_t here = _mm512_cmpeq_epi8_mask(b0, pages->first[i]);
        classes = pick(classes, here, b1, pages->classes[i]);
        rest &= ~here;
    }
    return classes;
}

/* The same for characters of three bytes, added to `classes`. */
TIK_TARGET_AVX512 TIK_INLINE __m512i classes_of_three(page_list *pages, uint64_t leads, __m512i classes, __m512i b0,
                                                      __m512i b1, __m512i b2, const uint8_t *text)
{
    static const uint8_t lo_from[16] = TIK_LO_FROM, lo_to[16] = TIK_LO_TO;
    const __m512i from = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)lo_from));
    const __m512i to = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)lo_to));
    __m512i row = _mm512_and_si512(b0, _mm512_set1_epi8(0x0F));
    uint64_t known = _mm512_mask_cmpge_epu8_mask(_mm512_mask_cmple_epu8_mask(leads, b1, _mm512_shuffle_epi8(to, row)),
                                                 b1, _mm512_shuffle_epi8(from, row));
    classes = _mm512_mask_mov_epi8(classes, known, _mm512_set1_epi8(TIK_CLASS_LO));
    for (int i = 0; i < PAGES; i++) {
        uint64_t here = _mm512_mask_cmpeq_epi8_mask(_mm512_cmpeq_epi8_mask(b0, pages->first[i]), b1, pages->second[i]);
        classes = pick(classes, here, b2, pages->classes[i]);
        known |= here;
    }
    for (uint64_t rest = leads & ~known; TIK_UNLIKELY(rest);) {
        const uint8_t *byte = text + tik_lowest(rest);
        unsigned i = keep(pages, byte[0], byte[1], (byte[0] & 0x0Fu) << 12 | (byte[1] & 0x3Fu) << 6);
        uint64_t here = _mm512_mask_cmpeq_epi8_mask(_mm512_cmpeq_epi8_mask(b0, pages->first[i]), b1, pages->second[i]);
        classes = pick(classes, here, b2, pages->classes[i]);
        rest &= ~here;
    }
    return classes;
}

/* The same for characters of four bytes, of which no pages are kept. */
TIK_TARGET_AVX512 TIK_INLINE __m512i classes_of_four(uint64_t leads, __m512i classes, __m512i b0, __m512i b1, __m512i b2,
                                                     __m512i b3, const uint8_t *text)
{
    for (uint64_t rest = leads; rest;) {
        const uint8_t *byte = text + tik_lowest(rest);
        uint64_t here = _mm512_mask_cmpeq_epi8_mask(rest, b0, _mm512_set1_epi8((char)byte[0]));
        here = _mm512_mask_cmpeq_epi8_mask(here, b1, _mm512_set1_epi8((char)byte[1]));
        here = _mm512_mask_cmpeq_epi8_mask(here, b2, _mm512_set1_epi8((char)byte[2]));
        uint32_t point = (byte[0] & 7u) << 18 | (byte[1] & 0x3Fu) << 12 | (byte[2] & 0x3Fu) << 6;
        classes = pick(classes, here, b3, page_of(point));
        rest &= ~here;
    }
    return classes;
}

/* The class bits of each byte, given those of ASCII. */
TIK_TARGET_AVX512 TIK_INLINE __m512i add_wide(const uint8_t *text, size_t length, size_t at, __m512i b0, uint64_t start,
                                              uint64_t wide, __m512i bits, page_memory *memory)
{
    uint64_t leads = start & wide, more = wide & ~start;
    __m512i b1 = load_bytes(text, length, at + 1);
    uint64_t of_two = leads & _mm512_cmplt_epu8_mask(b0, _mm512_set1_epi8((char)0xE0));
    __m512i classes = _mm512_setzero_si512();
    if (TIK_UNLIKELY(!memory->ready)) {
        clear(&memory->of_two);
        clear(&memory->of_three);
        memory->ready = true;
    }
    if (of_two)
        classes = classes_of_two(&memory->of_two, of_two, b0, b1, text + at);
    if (of_two != leads) {
        __m512i b2 = load_bytes(text, length, at + 2);
        uint64_t of_four = leads & _mm512_cmpge_epu8_mask(b0, _mm512_set1_epi8((char)0xF0));
        classes = classes_of_three(&memory->of_three, leads & ~of_two & ~of_four, classes, b0, b1, b2, text + at);
        if (of_four)
            classes = classes_of_four(of_four, classes, b0, b1, b2, load_bytes(text, length, at + 3), text + at);
    }
    const __m512i to_bits = _mm512_broadcast_i32x4(_mm_load_si128((const __m128i *)class_bits));
    bits = _mm512_mask_shuffle_epi8(bits, leads, to_bits, classes);

    /* A byte that goes on takes what the byte before it has: once for each byte after the first. */
    const __m512i before = _mm512_sub_epi8(positions(), _mm512_set1_epi8(1));
    uint64_t carried = more & 1, second = more & ~carried, third = second & (more << 1);
    bits = _mm512_mask_set1_epi8(bits, carried, (char)memory->spill);
    bits = _mm512_mask_permutexvar_epi8(bits, second, before, bits);
    if (third) {
        bits = _mm512_mask_permutexvar_epi8(bits, third, before, bits);
        bits = _mm512_mask_permutexvar_epi8(bits, third & (third << 1), before, bits);
    }
    memory->spill = (uint8_t)_mm_extract_epi8(_mm512_extracti32x4_epi32(bits, 3), 15);
    return bits;
}

TIK_TARGET_AVX512 TIK_INLINE void load(const uint8_t *text, size_t length, size_t at, tik_block *block, page_memory *memory)
{
    __m512i bytes = load_bytes(text, length, at);
    uint64_t valid = ~(uint64_t)0;
    if (TIK_UNLIKELY(length - at < TIK_BLOCK))
        valid = _bzhi_u64(valid, (unsigned)(length - at));
    uint64_t wide = _mm512_movepi8_mask(bytes);
    __m512i bits = _mm512_permutex2var_epi8(_mm512_load_si512(ascii_bits), bytes, _mm512_load_si512(ascii_bits + 64));
    uint64_t start = valid;
    if (wide) {
        start &= _mm512_cmpgt_epi8_mask(bytes, _mm512_set1_epi8((char)0xBF));
        bits = add_wide(text, length, at, bytes, start, wide, bits, memory);
    }
    uint64_t space = _mm512_test_epi8_mask(bits, _mm512_set1_epi8(TIK_BIT_SPACE)) & valid;
    uint64_t sign_a = _mm512_test_epi8_mask(bits, _mm512_set1_epi8(TIK_BIT_SIGN_A)) & valid;
    uint64_t sign_b = _mm512_test_epi8_mask(bits, _mm512_set1_epi8((char)TIK_BIT_SIGN_B)) & valid;
    block->valid = valid;
    block->start = start;
    block->wide = wide;
    block->upper = _mm512_test_epi8_mask(bits, _mm512_set1_epi8(TIK_BIT_UPPER));
    block->lower = _mm512_test_epi8_mask(bits, _mm512_set1_epi8(TIK_BIT_LOWER));
    block->caseless = _mm512_test_epi8_mask(bits, _mm512_set1_epi8(TIK_BIT_CASELESS));
    block->mark = _mm512_test_epi8_mask(bits, _mm512_set1_epi8(TIK_BIT_MARK));
    block->number = _mm512_test_epi8_mask(bits, _mm512_set1_epi8(TIK_BIT_NUMBER));
    block->space = space;
    block->newline = sign_a & space;
    block->slash = sign_a & ~space;
    block->blank = sign_b & space;
    block->apostrophe = sign_b & ~space;
}

/* The next 16 of the positions in `places` plus `base`. */
TIK_TARGET_AVX512 TIK_INLINE void write_16(uint32_t *ends, __m128i places, __m512i base)
{
    _mm512_storeu_si512(ends, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(places)));
}

TIK_TARGET_AVX512 TIK_INLINE size_t write_ends(uint32_t *ends, uint64_t mask, uint32_t offset)
{
    int count = __builtin_popcountll(mask);
    __m512i places = _mm512_maskz_compress_epi8(mask, positions());
    __m512i base = _mm512_set1_epi32((int)offset);
    /* Rarely are there more than 32; whether there are more than 16 is not worth a guess. */
    write_16(ends, _mm512_castsi512_si128(places), base);
    write_16(ends + 16, _mm512_extracti32x4_epi32(places, 1), base);
    if (TIK_UNLIKELY(count > 32)) {
        write_16(ends + 32, _mm512_extracti32x4_epi32(places, 2), base);
        write_16(ends + 48, _mm512_extracti32x4_epi32(places, 3), base);
    }
    return (size_t)count;
}

#define SCAN_TARGET TIK_TARGET_AVX512
#define SCAN_MEMORY page_memory
#define SCAN_BEGIN begin
#define SCAN_LOAD load
#define SCAN_WRITE write_ends
#define SCAN_NAME(pattern) avx512_##pattern
#define SCAN_TABLE tik_scan_avx512
#define SCAN_WAY "avx512"
#include "split/scan_driver.h"

#endif
