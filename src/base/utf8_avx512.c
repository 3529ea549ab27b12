/* UTF-8 validation with AVX-512, 64 bytes at a time. */
#include "base/utf8_versions.h"

#if TIK_HAVE_X86
#include <immintrin.h>

#define VECTOR_NAME tik_utf8_valid_prefix_avx512
#define VECTOR_TARGET TIK_TARGET_AVX512
#define VECTOR_SIZE 64
#define INLINE static inline TIK_TARGET_AVX512

typedef __m512i vector;

INLINE vector vector_load(const uint8_t *bytes)
{
    return _mm512_loadu_si512(bytes);
}

INLINE vector vector_load_part(const uint8_t *bytes, size_t count)
{
    return _mm512_maskz_loadu_epi8(_bzhi_u64(UINT64_MAX, (unsigned)count), bytes);
}

INLINE vector vector_table(const uint8_t *bytes)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)bytes));
}

INLINE vector vector_repeat(uint8_t byte)
{
    return _mm512_set1_epi8((char)byte);
}

INLINE vector vector_and(vector a, vector b)
{
    return _mm512_and_si512(a, b);
}

INLINE vector vector_or(vector a, vector b)
{
    return _mm512_or_si512(a, b);
}

INLINE vector vector_xor(vector a, vector b)
{
    return _mm512_xor_si512(a, b);
}

INLINE vector vector_high(vector a)
{
    return _mm512_and_si512(_mm512_srli_epi16(a, 4), _mm512_set1_epi8(0x0F));
}

INLINE vector vector_look_up(vector table, vector a)
{
    return _mm512_shuffle_epi8(table, a);
}

INLINE vector vector_minus(vector a, vector b)
{
    return _mm512_subs_epu8(a, b);
}

/* Macros, since the shifts must be constants also where nothing is optimized. */
#define QUARTER_BEFORE(a, previous) _mm512_alignr_epi32(a, previous, 12)
#define vector_before(a, previous, n) _mm512_alignr_epi8(a, QUARTER_BEFORE(a, previous), 16 - (n))

INLINE bool vector_is_zero(vector a)
{
    return _mm512_test_epi8_mask(a, a) == 0;
}

INLINE bool vector_is_ascii(vector a)
{
    return _mm512_movepi8_mask(a) == 0;
}

#include "base/utf8_vector.h"
#else
typedef int tik_utf8_avx512_is_empty;
#endif
