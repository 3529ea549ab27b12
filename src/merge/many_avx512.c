/* The steps of turns.h with AVX-512: 16 keys, or a whole bucket, at a time. */
#include "base/cpu.h"
#include "merge/many.h"

#if TIK_HAVE_X86

#include <immintrin.h>

TIK_TARGET_AVX512 static inline void set_key(uint32_t *keys, size_t groups, uint32_t place, uint32_t key)
{
    uint32_t *group = groups == 1 ? keys : keys + (place & ~15u);
    __m512i changed = _mm512_mask_set1_epi32(_mm512_load_si512(group), (__mmask16)(1u << (place & 15)), (int)key);
    _mm512_store_si512(group, changed);
}

TIK_TARGET_AVX512 static inline uint32_t least_key(const uint32_t *keys, size_t groups)
{
    __m512i all = _mm512_load_si512(keys);
    for (size_t group = 1; group < groups; group++)
        all = _mm512_min_epu32(all, _mm512_load_si512(keys + 16 * group));
    __m256i eight = _mm256_min_epu32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
    __m128i four = _mm_min_epu32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    four = _mm_min_epu32(four, _mm_shuffle_epi32(four, 0x4E));
    four = _mm_min_epu32(four, _mm_shuffle_epi32(four, 0xB1));
    return (uint32_t)_mm_cvtsi128_si32(four);
}

TIK_TARGET_AVX512 static inline uint64_t pair_entry(const uint64_t *entries, uint64_t key)
{
    __m512i bucket = _mm512_load_si512(entries);
    __mmask8 equal = _mm512_cmpeq_epi64_mask(_mm512_srli_epi64(bucket, 21), _mm512_set1_epi64((long long)key));
    __m512i found = _mm512_maskz_compress_epi64(equal, bucket);
    return (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(found));
}

#define TURNS_TARGET TIK_TARGET_AVX512
#define TURNS_LEARN tik_learn_avx512
#include "merge/turns.h"

#endif
