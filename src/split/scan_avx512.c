/*
 * Block masks with AVX-512 (VBMI, VBMI2).
 *
 * ASCII: one table look-up for 64 bytes, then one test for each class bit. Other characters: their code
 * points are gathered to the front, sixteen at a time are looked up in the Unicode tables, and the class
 * bits are spread back over the bytes of each character.
 */
#include "base/cpu.h"

#if TIK_HAVE_X86

#include <immintrin.h>

#include "split/scan_block.h"
#include "unicode/unicode.h"

#define BYTE(bits) (bits),

static const uint8_t ascii_bits[128] __attribute__((aligned(64))) = { TIK_ASCII_BITS(BYTE) };
static const uint8_t class_bits[16] __attribute__((aligned(16))) = { TIK_CLASS_BITS(BYTE) };

/* 0, 1, … 63 */
TIK_TARGET_AVX512 TIK_INLINE __m512i positions(void)
{
    const __m128i low = _mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_set_epi64(0x3F3E3D3C3B3A3938, 0x3736353433323130, 0x2F2E2D2C2B2A2928, 0x2726252423222120,
                            0x1F1E1D1C1B1A1918, 0x1716151413121110, _mm_extract_epi64(low, 1),
                            _mm_extract_epi64(low, 0));
}

/* Element i of the bytes at `table`, whose size is a multiple of four. */
TIK_TARGET_AVX512 TIK_INLINE __m512i gather_bytes(__mmask16 lanes, __m512i index, const uint8_t *table)
{
    const __m512i three = _mm512_set1_epi32(3);
    __m512i words = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), lanes, _mm512_andnot_si512(three, index), table, 1);
    __m512i shift = _mm512_slli_epi32(_mm512_and_si512(index, three), 3);
    return _mm512_and_si512(_mm512_srlv_epi32(words, shift), _mm512_set1_epi32(0xFF));
}

/* The class bits of up to sixteen characters, given their bytes: byte k of character i is element i of bk. */
TIK_TARGET_AVX512 TIK_INLINE __m128i look_up(int count, __m128i b0, __m128i b1, __m128i b2, __m128i b3)
{
    const __m512i low6 = _mm512_set1_epi32(0x3F);
    __mmask16 lanes = (__mmask16)_bzhi_u32(0xFFFF, (unsigned)count);
    __m512i lead = _mm512_cvtepu8_epi32(b0);
    __m512i second = _mm512_and_si512(_mm512_cvtepu8_epi32(b1), low6);
    __m512i third = _mm512_and_si512(_mm512_cvtepu8_epi32(b2), low6);
    __m512i two = _mm512_or_si512(_mm512_slli_epi32(_mm512_and_si512(lead, _mm512_set1_epi32(0x1F)), 6), second);
    __m512i three = _mm512_or_si512(_mm512_slli_epi32(_mm512_and_si512(two, _mm512_set1_epi32(0x3FF)), 6), third);
    __m512i point = _mm512_mask_mov_epi32(two, _mm512_cmpge_epu32_mask(lead, _mm512_set1_epi32(0xE0)), three);
    __mmask16 long_lanes = _mm512_cmpge_epu32_mask(lead, _mm512_set1_epi32(0xF0));
    if (long_lanes) {
        __m512i fourth = _mm512_and_si512(_mm512_cvtepu8_epi32(b3), low6);
        __m512i four = _mm512_or_si512(_mm512_slli_epi32(_mm512_or_si512(_mm512_slli_epi32(two, 6), third), 6), fourth);
        point = _mm512_mask_and_epi32(point, long_lanes, four, _mm512_set1_epi32(0x1FFFFF));
    }
    __m512i block = gather_bytes(lanes, _mm512_srli_epi32(point, TIK_UNICODE_CLASS_BITS), tik_unicode_class_index);
    __m512i place = _mm512_or_si512(_mm512_slli_epi32(block, TIK_UNICODE_CLASS_BITS),
                                    _mm512_and_si512(point, _mm512_set1_epi32((1 << TIK_UNICODE_CLASS_BITS) - 1)));
    __m128i classes = _mm512_cvtepi32_epi8(gather_bytes(lanes, place, tik_unicode_class_blocks));
    return _mm_shuffle_epi8(_mm_load_si128((const __m128i *)class_bits), classes);
}

/* As loading 64 bytes at `at`, zeros past the end of the text. */
TIK_TARGET_AVX512 TIK_INLINE __m512i load_bytes(const uint8_t *text, size_t length, size_t at)
{
    if (TIK_LIKELY(at < length && length - at >= TIK_BLOCK))
        return _mm512_loadu_si512(text + at);
    size_t size = at < length ? length - at : 0;
    return _mm512_maskz_loadu_epi8(_bzhi_u64(~(uint64_t)0, (unsigned)size), text + (size ? at : 0));
}

/* The class bits of each byte, given those of ASCII. */
TIK_TARGET_AVX512 TIK_INLINE __m512i add_non_ascii(const uint8_t *text, size_t length, size_t at, __m512i bytes,
                                                   uint64_t start, uint64_t non_ascii, __m512i bits, uint8_t *spill)
{
    uint64_t leads = start & non_ascii;
    int count = __builtin_popcountll(leads);
    __m512i b0 = _mm512_maskz_compress_epi8(leads, bytes);
    __m512i b1 = _mm512_maskz_compress_epi8(leads, load_bytes(text, length, at + 1));
    __m512i b2 = _mm512_maskz_compress_epi8(leads, load_bytes(text, length, at + 2));
    __m512i b3 = _mm512_maskz_compress_epi8(leads, load_bytes(text, length, at + 3));
    __m128i found = look_up(count < 16 ? count : 16, _mm512_castsi512_si128(b0), _mm512_castsi512_si128(b1),
                            _mm512_castsi512_si128(b2), _mm512_castsi512_si128(b3));
    __m256i all = _mm256_castsi128_si256(found);
    if (count > 16)
        all = _mm256_inserti128_si256(all,
                                      look_up(count - 16, _mm512_extracti32x4_epi32(b0, 1),
                                              _mm512_extracti32x4_epi32(b1, 1), _mm512_extracti32x4_epi32(b2, 1),
                                              _mm512_extracti32x4_epi32(b3, 1)),
                                      1);
    __m512i of_leads = _mm512_maskz_expand_epi8(leads, _mm512_castsi256_si512(all));
    bits = _mm512_mask_mov_epi8(bits, leads, of_leads);

    /* A byte that goes on takes what the byte before it has: once for each byte after the first. */
    const __m512i before = _mm512_sub_epi8(positions(), _mm512_set1_epi8(1));
    uint64_t more = non_ascii & ~start;
    uint64_t first = more & ~(more << 1);
    bits = _mm512_mask_set1_epi8(bits, more & 1, (char)*spill);
    bits = _mm512_mask_permutexvar_epi8(bits, more & ~(uint64_t)1, before, bits);
    uint64_t second = more & ~first & ~(uint64_t)1;
    bits = _mm512_mask_permutexvar_epi8(bits, second, before, bits);
    uint64_t third = second & (second << 1);
    if (third)
        bits = _mm512_mask_permutexvar_epi8(bits, third, before, bits);
    *spill = (uint8_t)_mm_extract_epi8(_mm512_extracti32x4_epi32(bits, 3), 15);
    return bits;
}

TIK_TARGET_AVX512 TIK_INLINE void load(const uint8_t *text, size_t length, size_t at, tik_block *block, uint8_t *spill)
{
    __m512i bytes = load_bytes(text, length, at);
    uint64_t valid = TIK_LIKELY(at < length && length - at >= TIK_BLOCK)
                         ? ~(uint64_t)0
                         : _bzhi_u64(~(uint64_t)0, (unsigned)(at < length ? length - at : 0));
    uint64_t non_ascii = _mm512_movepi8_mask(bytes);
    __m512i bits = _mm512_permutex2var_epi8(_mm512_load_si512(ascii_bits), bytes, _mm512_load_si512(ascii_bits + 64));
    uint64_t start = valid;
    if (non_ascii) {
        start &= _mm512_cmpgt_epi8_mask(bytes, _mm512_set1_epi8((char)0xBF));
        bits = add_non_ascii(text, length, at, bytes, start, non_ascii, bits, spill);
    }
    uint64_t space = _mm512_test_epi8_mask(bits, _mm512_set1_epi8(TIK_BIT_SPACE)) & valid;
    uint64_t sign_a = _mm512_test_epi8_mask(bits, _mm512_set1_epi8(TIK_BIT_SIGN_A)) & valid;
    uint64_t sign_b = _mm512_test_epi8_mask(bits, _mm512_set1_epi8((char)TIK_BIT_SIGN_B)) & valid;
    block->valid = valid;
    block->start = start;
    block->wide = non_ascii;
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
#define SCAN_LOAD load
#define SCAN_WRITE write_ends
#define SCAN_NAME(pattern) avx512_##pattern
#define SCAN_TABLE tik_scan_avx512
#define SCAN_WAY "avx512"
#include "split/scan_driver.h"

#endif
