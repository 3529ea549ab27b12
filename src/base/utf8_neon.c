/* UTF-8 validation with NEON, 16 bytes at a time. */
#include <string.h>

#include "base/utf8_versions.h"

#if TIK_HAVE_NEON
#include <arm_neon.h>

#define VECTOR_NAME tik_utf8_valid_prefix_neon
#define VECTOR_TARGET
#define VECTOR_SIZE 16

typedef uint8x16_t vector;

#define vector_load vld1q_u8
#define vector_table vld1q_u8
#define vector_repeat vdupq_n_u8
#define vector_and vandq_u8
#define vector_or vorrq_u8
#define vector_xor veorq_u8
#define vector_high(a) vshrq_n_u8(a, 4)
#define vector_look_up vqtbl1q_u8
#define vector_minus vqsubq_u8
#define vector_before(a, previous, n) vextq_u8(previous, a, 16 - (n))
#define vector_is_zero(a) (vmaxvq_u32(vreinterpretq_u32_u8(a)) == 0)
#define vector_is_ascii(a) (vmaxvq_u8(a) < 0x80)

static inline vector vector_load_part(const uint8_t *bytes, size_t count)
{
    uint8_t part[VECTOR_SIZE] = {0};
    memcpy(part, bytes, count);
    return vector_load(part);
}

#include "base/utf8_vector.h"
#else
typedef int tik_utf8_neon_is_empty;
#endif
