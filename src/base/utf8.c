/* UTF-8: validity as Unicode 16.0 defines it (table 3-7), and Python's way of replacing what is not. */
#include <string.h>

#include "base/utf8_versions.h"

#define HIGH_BITS UINT64_C(0x8080808080808080) /* of eight bytes: none set, all are ASCII */

/*
 * The length of the well-formed sequence at `text`, or, negated, of the maximal subpart of an ill-formed
 * one. The second byte's range depends on the first (no overlong forms, surrogates, or values past
 * U+10FFFF); later bytes are 80..BF.
 */
static int sequence(const uint8_t *text, size_t length)
{
    uint8_t lead = text[0];
    uint8_t low = 0x80;
    uint8_t high = 0xBF;
    size_t need;
    if (lead < 0x80)
        return 1;
    if (lead >= 0xC2 && lead <= 0xDF)
        need = 2;
    else if (lead >= 0xE0 && lead <= 0xEF) {
        need = 3;
        if (lead == 0xE0)
            low = 0xA0;
        else if (lead == 0xED)
            high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        need = 4;
        if (lead == 0xF0)
            low = 0x90;
        else if (lead == 0xF4)
            high = 0x8F;
    } else
        return -1;
    for (size_t i = 1; i < need; i++) {
        if (i >= length || text[i] < low || text[i] > high)
            return -(int)i;
        low = 0x80;
        high = 0xBF;
    }
    return (int)need;
}

size_t tik_utf8_valid_prefix_portable(const uint8_t *text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        uint64_t word;
        while (length - at >= sizeof word) {
            memcpy(&word, text + at, sizeof word);
            if (word & HIGH_BITS)
                break;
            at += sizeof word;
        }
        if (at >= length)
            break;
        int step = sequence(text + at, length - at);
        if (step < 0)
            return at;
        at += (size_t)step;
    }
    return at;
}

/* Whether 8 to 32 bytes are ASCII, by words that overlap. */
static inline bool short_is_ascii(const uint8_t *text, size_t length)
{
    uint64_t words[4];
    size_t last = length - sizeof *words;
    memcpy(&words[0], text, sizeof *words);
    memcpy(&words[1], text + (last < 8 ? last : 8), sizeof *words);
    memcpy(&words[2], text + (last < 16 ? last : 16), sizeof *words);
    memcpy(&words[3], text + last, sizeof *words);
    return !((words[0] | words[1] | words[2] | words[3]) & HIGH_BITS);
}

size_t tik_utf8_valid_prefix(const uint8_t *text, size_t length)
{
    if (length >= 8 && length <= 32 && short_is_ascii(text, length))
        return length;
    unsigned cpu = tik_cpu();
#if TIK_HAVE_X86
    if (cpu & TIK_CPU_AVX512)
        return tik_utf8_valid_prefix_avx512(text, length);
    if (cpu & TIK_CPU_AVX2)
        return tik_utf8_valid_prefix_avx2(text, length);
#elif TIK_HAVE_NEON
    if (cpu & TIK_CPU_NEON)
        return tik_utf8_valid_prefix_neon(text, length);
#endif
    (void)cpu;
    return tik_utf8_valid_prefix_portable(text, length);
}

size_t tik_utf8_bad_length(const uint8_t *text, size_t length)
{
    int step = sequence(text, length);
    return step < 0 ? (size_t)-step : 0;
}

bool tik_utf8_may_finish(const uint8_t *text, size_t length)
{
    size_t need = text[0] < 0xC2 || text[0] > 0xF4 ? 0 : text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3 : 4;
    return length < need && tik_utf8_bad_length(text, length) == length;
}

tik_status tik_utf8_replace(const uint8_t *text, size_t length, tik_bytes *out, tik_error *error)
{
    while (length > 0) {
        size_t good = tik_utf8_valid_prefix(text, length);
        tik_status status = tik_bytes_append(out, text, good, error);
        if (status != TIK_OK || good == length)
            return status;
        status = tik_bytes_append(out, "\xEF\xBF\xBD", 3, error);
        if (status != TIK_OK)
            return status;
        good += tik_utf8_bad_length(text + good, length - good);
        text += good;
        length -= good;
    }
    return TIK_OK;
}

tik_status tik_utf8_repair(tik_bytes *buffer, size_t *valid, bool more, tik_error *error)
{
    const uint8_t *text = (const uint8_t *)buffer->data;
    size_t length = buffer->length;
    size_t waits = 0;
    for (size_t back = more ? 1 : 4; back < 4 && back <= length - *valid; back++)
        if (tik_utf8_may_finish(text + length - back, back)) {
            waits = back;
            break;
        }
    tik_bytes good = TIK_BYTES_INIT;
    tik_status status = tik_utf8_replace(text + *valid, length - waits - *valid, &good, error);
    size_t replaced = good.length;
    if (status == TIK_OK)
        status = tik_bytes_append(&good, text + length - waits, waits, error);
    if (status == TIK_OK) {
        buffer->length = *valid;
        status = tik_bytes_append(buffer, good.data, good.length, error);
        *valid += replaced;
    }
    tik_bytes_free(&good);
    return status;
}

tik_status tik_replace_invalid(const char *text, size_t length, tik_bytes *bytes, tik_error *error)
{
    size_t before = bytes->length;
    tik_status status = tik_utf8_replace((const uint8_t *)text, length, bytes, error);
    if (status != TIK_OK)
        bytes->length = before;
    return status;
}

size_t tik_utf8_encode(uint32_t code_point, uint8_t out[4])
{
    if (code_point < 0x80) {
        out[0] = (uint8_t)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = (uint8_t)(0xC0 | code_point >> 6);
        out[1] = (uint8_t)(0x80 | (code_point & 0x3F));
        return 2;
    }
    if (code_point < 0x10000) {
        out[0] = (uint8_t)(0xE0 | code_point >> 12);
        out[1] = (uint8_t)(0x80 | (code_point >> 6 & 0x3F));
        out[2] = (uint8_t)(0x80 | (code_point & 0x3F));
        return 3;
    }
    out[0] = (uint8_t)(0xF0 | code_point >> 18);
    out[1] = (uint8_t)(0x80 | (code_point >> 12 & 0x3F));
    out[2] = (uint8_t)(0x80 | (code_point >> 6 & 0x3F));
    out[3] = (uint8_t)(0x80 | (code_point & 0x3F));
    return 4;
}
