/* UTF-8 validation with AVX2, 32 bytes at a time. */
#include <string.h>

#include "base/utf8_versions.h"

#if TIK_HAVE_X86
#include <immintrin.h>

#define VECTOR_NAME tik_utf8_valid_prefix_avx2
#define VECTOR_TARGET TIK_TARGET_AVX2
#define VECTOR_SIZE 32
#define INLINE static inline TIK_TARGET_AVX2

typedef __m256i vector;

INLINE vector vector_load(const uint8_t *bytes)
{
    return _mm256_loadu_si256((const void *)bytes);
}

INLINE vector vector_load_part(const uint8_t *bytes, size_t count)
{
    uint8_t part[VECTOR_SIZE] = {0};
    memcpy(part, bytes, count);
    return vector_load(part);
}

INLINE vector vector_table(const uint8_t *bytes)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)bytes));
}

INLINE vector vector_repeat(uint8_t byte)
{
    return _mm256_set1_epi8((char)byte);
}

INLINE vector vector_and(vector a, vector b)
{
    return _mm256_and_si256(a, b);
}

INLINE vector vector_or(vector a, vector b)
{
    return _mm256_or_si256(a, b);
}

INLINE vector vector_xor(vector a, vector b)
{
    return _mm256_xor_si256(a, b);
}

INLINE vector vector_high(vector a)
{
    return _mm256_and_si256(_mm256_srli_epi16(a, 4), _mm256_set1_epi8(0x0F));
}

INLINE vector vector_look_up(vector table, vector a)
{
    return _mm256_shuffle_epi8(table, a);
}

INLINE vector vector_minus(vector a, vector b)
{
    return _mm256_subs_epu8(a, b);
}

/* A macro, since the shift must be a constant also where nothing is optimized. */
#define vector_before(a, previous, n) _mm256_alignr_epi8(a, _mm256_permute2x128_si256(previous, a, 0x21), 16 - (n))

INLINE bool vector_is_zero(vector a)
{
    return _mm256_testz_si256(a, a);
}

INLINE bool vector_is_ascii(vector a)
{
    return _mm256_movemask_epi8(a) == 0;
}

#include "base/utf8_vector.h"
#else
typedef int tik_utf8_avx2_is_empty;
#endif
