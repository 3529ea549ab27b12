/*
 * Block masks with NEON (64-bit ARM): classes of ASCII by one table look-up for each 16 bytes; other
 * characters one by one.
 */
#include "base/cpu.h"

#if TIK_HAVE_NEON

#include <arm_neon.h>

#include "split/scan_block.h"
#include "split/scan_classes.h"

#define BYTE(bits) (bits),

static const uint8_t ascii_bits[128] = { TIK_ASCII_BITS(BYTE) };

/* 64 bytes. */
typedef struct quad {
    uint8x16_t part[4];
} quad;

TIK_INLINE quad load_quad(const uint8_t *bytes)
{
    return (quad){ { vld1q_u8(bytes), vld1q_u8(bytes + 16), vld1q_u8(bytes + 32), vld1q_u8(bytes + 48) } };
}

/* One bit for each byte, of bytes that are 0 or 0xFF. */
TIK_INLINE uint64_t to_mask(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
    static const uint8_t weights[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
    uint8x16_t weight = vld1q_u8(weights);
    uint8x16_t ab = vpaddq_u8(vandq_u8(a, weight), vandq_u8(b, weight));
    uint8x16_t cd = vpaddq_u8(vandq_u8(c, weight), vandq_u8(d, weight));
    uint8x16_t abcd = vpaddq_u8(ab, cd);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(abcd, abcd)), 0);
}

/* Bytes that have any bit of `bits`. */
TIK_INLINE uint64_t test(quad bytes, uint8_t bits)
{
    uint8x16_t all = vdupq_n_u8(bits);
    return to_mask(vtstq_u8(bytes.part[0], all), vtstq_u8(bytes.part[1], all), vtstq_u8(bytes.part[2], all),
                   vtstq_u8(bytes.part[3], all));
}

/* 0xFF for each byte in `first` that starts a character of the ranges of TIK_LO_FROM; second bytes in `second`. */
TIK_INLINE uint8x16_t in_lo_ranges(uint8x16_t first, uint8x16_t second)
{
    static const uint8_t lo_from[16] = TIK_LO_FROM, lo_to[16] = TIK_LO_TO;
    uint8x16_t row = veorq_u8(first, vdupq_n_u8(0xE0)); /* of other bytes 16 or more: from 0xFF to 0 */
    return vandq_u8(vcgeq_u8(second, vqtbx1q_u8(vdupq_n_u8(0xFF), vld1q_u8(lo_from), row)),
                    vcleq_u8(second, vqtbl1q_u8(vld1q_u8(lo_to), row)));
}

TIK_INLINE void load(const uint8_t *text, size_t length, size_t at, tik_block *block, uint8_t *spill)
{
    uint8_t rest[TIK_BLOCK + 1];
    const uint8_t *from = text + at;
    uint64_t valid = ~(uint64_t)0;
    if (TIK_UNLIKELY(length - at <= TIK_BLOCK)) { /* one byte more is read below */
        size_t size = length - at;
        memset(rest, 0, sizeof rest);
        memcpy(rest, text + at, size);
        from = rest;
        valid = size == TIK_BLOCK ? valid : ((uint64_t)1 << size) - 1;
    }
    quad bytes = load_quad(from);
    uint8x16x4_t low = { { vld1q_u8(ascii_bits), vld1q_u8(ascii_bits + 16), vld1q_u8(ascii_bits + 32),
                           vld1q_u8(ascii_bits + 48) } };
    uint8x16x4_t high = { { vld1q_u8(ascii_bits + 64), vld1q_u8(ascii_bits + 80), vld1q_u8(ascii_bits + 96),
                            vld1q_u8(ascii_bits + 112) } };
    quad classes;
    for (int i = 0; i < 4; i++) /* an index of 64 or more finds 0, or with vqtbx leaves what there is */
        classes.part[i] = vqtbx4q_u8(vqtbl4q_u8(low, bytes.part[i]), high, veorq_u8(bytes.part[i], vdupq_n_u8(64)));

    block->valid = valid;
    block->start = valid;
    block->wide = 0;
    uint64_t all_lo = 0;
    uint8x16_t any = vorrq_u8(vorrq_u8(bytes.part[0], bytes.part[1]), vorrq_u8(bytes.part[2], bytes.part[3]));
    if (vmaxvq_u8(any) >= 0x80) {
        uint64_t non_ascii = test(bytes, 0x80);
        uint64_t start = ~(non_ascii & ~test(bytes, 0x40));
        quad second = load_quad(from + 1), lo_bytes;
        for (int i = 0; i < 4; i++)
            lo_bytes.part[i] = in_lo_ranges(bytes.part[i], second.part[i]);
        uint64_t lo = to_mask(lo_bytes.part[0], lo_bytes.part[1], lo_bytes.part[2], lo_bytes.part[3]);
        uint8_t bits[TIK_BLOCK + 4];
        tik_fill_classes(text + at, start & non_ascii & ~lo, spill, bits);
        *spill = lo >> 62 ? TIK_BIT_CASELESS : *spill;
        all_lo = tik_all_three(lo);
        quad others = load_quad(bits);
        for (int i = 0; i < 4; i++)
            classes.part[i] = vbslq_u8(vcgeq_u8(bytes.part[i], vdupq_n_u8(0x80)), others.part[i], classes.part[i]);
        block->start &= start;
        block->wide = non_ascii;
    }
    uint64_t sign_a = test(classes, TIK_BIT_SIGN_A) & ~all_lo, sign_b = test(classes, TIK_BIT_SIGN_B) & ~all_lo;
    block->upper = test(classes, TIK_BIT_UPPER) & ~all_lo;
    block->lower = test(classes, TIK_BIT_LOWER) & ~all_lo;
    block->caseless = test(classes, TIK_BIT_CASELESS) | all_lo;
    block->mark = test(classes, TIK_BIT_MARK) & ~all_lo;
    block->number = test(classes, TIK_BIT_NUMBER) & ~all_lo;
    block->space = test(classes, TIK_BIT_SPACE) & ~all_lo;
    block->newline = sign_a & block->space;
    block->slash = sign_a & ~block->space;
    block->blank = sign_b & block->space;
    block->apostrophe = sign_b & ~block->space;
}

#define SCAN_TARGET
#define SCAN_MEMORY uint8_t
#define SCAN_BEGIN(spill) (*(spill) = 0)
#define SCAN_LOAD load
#define SCAN_WRITE tik_write_ends
#define SCAN_NAME(pattern) neon_##pattern
#define SCAN_TABLE tik_scan_neon
#define SCAN_WAY "neon"
#include "split/scan_driver.h"

#endif
