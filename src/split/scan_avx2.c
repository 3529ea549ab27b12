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

TIK_TARGET_AVX2 TIK_INLINE void load(const uint8_t *text, size_t length, size_t at, tik_block *block, uint8_t *spill)
{
    uint8_t rest[TIK_BLOCK];
    const uint8_t *from = text + at;
    uint64_t valid = ~(uint64_t)0;
    if (TIK_UNLIKELY(length - at < TIK_BLOCK)) {
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
        uint8_t bits[TIK_BLOCK + 4];
        tik_fill_classes(text + at, start & non_ascii, spill, bits);
        pair classes = load_pair(bits);
        block->start &= start;
        block->upper |= bit_of(classes, 0) & non_ascii;
        block->lower |= bit_of(classes, 1) & non_ascii;
        block->caseless = bit_of(classes, 2) & non_ascii;
        block->mark = bit_of(classes, 3) & non_ascii;
        block->number |= bit_of(classes, 4) & non_ascii;
        block->space |= bit_of(classes, 5) & non_ascii;
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
