/* The steps of turns.h with AVX2: 8 keys, or half a bucket, at a time. */
#include "base/cpu.h"
#include "merge/many.h"

#if TIK_HAVE_X86

#include <immintrin.h>

TIK_TARGET_AVX2 static inline void set_key(uint32_t *keys, size_t groups, uint32_t place, uint32_t key)
{
    (void)groups;
    __m256i *eight = (__m256i *)(void *)(keys + (place & ~7u));
    __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i here = _mm256_cmpeq_epi32(lanes, _mm256_set1_epi32((int)(place & 7)));
    _mm256_store_si256(eight, _mm256_blendv_epi8(_mm256_load_si256(eight), _mm256_set1_epi32((int)key), here));
}

TIK_TARGET_AVX2 static inline uint32_t least_key(const uint32_t *keys, size_t groups)
{
    const __m256i *all = (const __m256i *)(const void *)keys;
    __m256i eight = _mm256_min_epu32(_mm256_load_si256(all), _mm256_load_si256(all + 1));
    for (size_t i = 2; i < 2 * groups; i++)
        eight = _mm256_min_epu32(eight, _mm256_load_si256(all + i));
    __m128i four = _mm_min_epu32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    four = _mm_min_epu32(four, _mm_shuffle_epi32(four, 0x4E));
    four = _mm_min_epu32(four, _mm_shuffle_epi32(four, 0xB1));
    return (uint32_t)_mm_cvtsi128_si32(four);
}

TIK_TARGET_AVX2 static inline uint64_t pair_entry(const uint64_t *entries, uint64_t key)
{
    const __m256i *bucket = (const __m256i *)(const void *)entries;
    __m256i wanted = _mm256_set1_epi64x((long long)key);
    __m256i a = _mm256_load_si256(bucket);
    __m256i b = _mm256_load_si256(bucket + 1);
    a = _mm256_and_si256(a, _mm256_cmpeq_epi64(_mm256_srli_epi64(a, 21), wanted));
    b = _mm256_and_si256(b, _mm256_cmpeq_epi64(_mm256_srli_epi64(b, 21), wanted));
    a = _mm256_or_si256(a, b);
    __m128i two = _mm_or_si128(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    return (uint64_t)(_mm_cvtsi128_si64(two) | _mm_extract_epi64(two, 1));
}

#define TURNS_TARGET TIK_TARGET_AVX2
#define TURNS_LEARN tik_learn_avx2
#include "merge/turns.h"

#endif
