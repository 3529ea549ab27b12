/*
 * Block masks with AVX2: classes of ASCII by comparison, 32 bytes at once; other characters one by one.
 */
#include "base/cpu.h"

#if TIK_HAVE_X86

#include <immintrin.h>

#include "split/scan_block.h"
#include "split/scan_classes.h"

/* 64 bytes. */
typedef struct pair {
    __m256i low, high;
} pair;

TIK_TARGET_AVX2 TIK_INLINE uint64_t top_bits(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

TIK_TARGET_AVX2 TIK_INLINE uint64_t equal(pair bytes, char value)
{
    __m256i all = _mm256_set1_epi8(value);
    return top_bits(_mm256_cmpeq_epi8(bytes.low, all), _mm256_cmpeq_epi8(bytes.high, all));
}

/* Bytes from `first` to `last`, both below 0x7F. */
TIK_TARGET_AVX2 TIK_INLINE uint64_t between(pair bytes, char first, char last)
{
    __m256i below = _mm256_set1_epi8((char)(first - 1)), above = _mm256_set1_epi8((char)(last + 1));
    return top_bits(_mm256_and_si256(_mm256_cmpgt_epi8(bytes.low, below), _mm256_cmpgt_epi8(above, bytes.low)),
                    _mm256_and_si256(_mm256_cmpgt_epi8(bytes.high, below), _mm256_cmpgt_epi8(above, bytes.high)));
}

/* Bit `bit` of each byte. */
TIK_TARGET_AVX2 TIK_INLINE uint64_t bit_of(pair bytes, int bit)
{
    return top_bits(_mm256_slli_epi16(bytes.low, 7 - bit), _mm256_slli_epi16(bytes.high, 7 - bit));
}

TIK_TARGET_AVX2 TIK_INLINE pair load_pair(const uint8_t *bytes)
{
    return (pair){ _mm256_loadu_si256((const __m256i *)bytes), _mm256_loadu_si256((const __m256i *)(bytes + 32)) };
}

/* 0xFF for each byte in `first` that starts a character of the ranges of TIK_LO_FROM; second bytes in `second`. */
TIK_TARGET_AVX2 TIK_INLINE __m256i in_lo_ranges(__m256i first, __m256i second)
{
    static const uint8_t lo_from[16] = TIK_LO_FROM, lo_to[16] = TIK_LO_TO;
    __m256i from = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)lo_from));
    __m256i to = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)lo_to));
    __m256i row = _mm256_and_si256(first, _mm256_set1_epi8(0x0F));
    __m256i of_three = _mm256_cmpeq_epi8(_mm256_andnot_si256(row, first), _mm256_set1_epi8((char)0xE0));
    __m256i clamped = _mm256_min_epu8(_mm256_max_epu8(second, _mm256_shuffle_epi8(from, row)),
                                      _mm256_shuffle_epi8(to, row));
    return _mm256_and_si256(of_three, _mm256_cmpeq_epi8(clamped, second));
}

TIK_TARGET_AVX2 TIK_INLINE void load(const uint8_t *text, size_t length, size_t at, tik_block *block, uint8_t *spill)
{
    uint8_t rest[TIK_BLOCK + 1];
    const uint8_t *from = text + at;
    uint64_t valid = ~(uint64_t)0;
    if (TIK_UNLIKELY(length - at <= TIK_BLOCK)) { /* one byte more is read below */
        size_t size = length - at;
        memset(rest, 0, sizeof rest);
        memcpy(rest, text + at, size);
        from = rest;
        valid = _bzhi_u64(valid, (unsigned)size);
    }
    pair bytes = load_pair(from);
    block->valid = valid;
    block->start = valid;
    block->upper = between(bytes, 'A', 'Z');
    block->lower = between(bytes, 'a', 'z');
    block->number = between(bytes, '0', '9');
    block->newline = equal(bytes, '\n') | equal(bytes, '\r');
    block->blank = equal(bytes, ' ');
    block->space = block->blank | between(bytes, '\t', '\r');
    block->slash = equal(bytes, '/');
    block->apostrophe = equal(bytes, '\'');
    block->caseless = block->mark = 0;

    uint64_t non_ascii = top_bits(bytes.low, bytes.high);
    block->wide = non_ascii;
    if (non_ascii) {
        uint64_t start = ~(non_ascii & ~bit_of(bytes, 6));
        pair second = load_pair(from + 1);
        uint64_t lo = top_bits(in_lo_ranges(bytes.low, second.low), in_lo_ranges(bytes.high, second.high));
        uint8_t bits[TIK_BLOCK + 4];
        tik_fill_classes(text + at, start & non_ascii & ~lo, spill, bits);
        pair classes = load_pair(bits);
        block->start &= start;
        uint64_t all_lo = tik_all_three(lo), looked_up = non_ascii & ~all_lo;
        *spill = lo >> 62 ? TIK_BIT_CASELESS : *spill;
        block->upper |= bit_of(classes, 0) & looked_up;
        block->lower |= bit_of(classes, 1) & looked_up;
        block->caseless = (bit_of(classes, 2) & looked_up) | all_lo;
        block->mark = bit_of(classes, 3) & looked_up;
        block->number |= bit_of(classes, 4) & looked_up;
        block->space |= bit_of(classes, 5) & looked_up;
    }
}

TIK_TARGET_AVX2 TIK_INLINE size_t write_ends(uint32_t *ends, uint64_t mask, uint32_t offset)
{
    int count = __builtin_popcountll(mask);
    /* Written in eights: what is too much is overwritten by the next. */
    for (int i = 0; i < 16 || TIK_UNLIKELY(i < count); i += 8) {
        for (int k = 0; k < 8; k++, mask &= mask - 1)
            ends[i + k] = offset + (uint32_t)_tzcnt_u64(mask);
    }
    return (size_t)count;
}

#define SCAN_TARGET TIK_TARGET_AVX2
#define SCAN_MEMORY uint8_t
#define SCAN_BEGIN(spill) (*(spill) = 0)
#define SCAN_LOAD load
#define SCAN_WRITE write_ends
#define SCAN_NAME(pattern) avx2_##pattern
#define SCAN_TABLE tik_scan_avx2
#define SCAN_WAY "avx2"
#include "split/scan_driver.h"

#endif
