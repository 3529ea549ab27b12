/*
 * base: what every folder of the library leans on: errors with a message, growable arrays, UTF-8.
 * Nothing here knows of tokens.
 */
#ifndef TIK_BASE_H
#define TIK_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tik.h"

#if defined(__GNUC__)
#define TIK_PRINTF(string, first) __attribute__((format(printf, string, first)))
#define TIK_LIKELY(x) __builtin_expect(!!(x), 1)
#define TIK_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define TIK_INLINE static inline __attribute__((always_inline)) /* compiled anew for each instruction set */
#else
#define TIK_PRINTF(string, first)
#define TIK_LIKELY(x) (x)
#define TIK_UNLIKELY(x) (x)
#define TIK_INLINE static inline
#endif

/* Value of tik_error.line and tik_error.offset where there is none. */
#define TIK_NOWHERE SIZE_MAX

/* Fills `error` (which may be NULL) and returns `status`. The message says what, where, what to do. */
tik_status tik_fail(tik_error *error, tik_status status, const char *format, ...) TIK_PRINTF(3, 4);

/* The same with a place: `line` from 1, `offset` in bytes from 0, TIK_NOWHERE for none. */
tik_status tik_fail_at(tik_error *error, tik_status status, size_t line, size_t offset,
                       const char *format, ...) TIK_PRINTF(5, 6);

/* Out of memory while asking for `bytes`. */
tik_status tik_fail_memory(tik_error *error, size_t bytes);

/*
 * Grows `*array`, of `*capacity` elements of `size` bytes, to at least `need` elements (doubling).
 * On failure the array is as it was and TIK_ERROR_MEMORY is returned.
 */
tik_status tik_grow(void **array, size_t *capacity, size_t need, size_t size, tik_error *error);

/* Appends to a tik_bytes (see tik.h). On failure it is as it was. */
tik_status tik_bytes_append(tik_bytes *bytes, const void *data, size_t length, tik_error *error);

/* Room for `more` elements in a growable result. */
tik_status tik_reserve_ids(tik_ids *ids, size_t more, tik_error *error);
tik_status tik_reserve_bytes(tik_bytes *bytes, size_t more, tik_error *error);
tik_status tik_reserve_sizes(tik_sizes *sizes, size_t more, tik_error *error);

/* Appends formatted text. */
tik_status tik_bytes_printf(tik_bytes *bytes, tik_error *error, const char *format, ...) TIK_PRINTF(3, 4);

/* Sorts places by what they stand for: `less(context, a, b)` tells whether a comes before b. In place. */
typedef bool tik_less(const void *context, uint32_t a, uint32_t b);
void tik_sort(uint32_t *order, size_t count, tik_less *less, const void *context);

/* Length of the longest prefix of `text` that is valid UTF-8 (Unicode 16.0, table 3-7); `length` if all. */
size_t tik_utf8_valid_prefix(const uint8_t *text, size_t length);

/*
 * Appends `text` to `out`, each maximal ill-formed subpart replaced by U+FFFD, as Python's
 * bytes.decode("utf-8", errors="replace") does.
 */
tik_status tik_utf8_replace(const uint8_t *text, size_t length, tik_bytes *out, tik_error *error);

/*
 * For a text that comes in slices into `buffer`, which is valid up to `*valid`: replaces what is bad after it, in
 * the buffer, and moves `*valid` on. If there is `more` to come, an unfinished character at the end waits.
 */
tik_status tik_utf8_repair(tik_bytes *buffer, size_t *valid, bool more, tik_error *error);

/* Length in bytes of the ill-formed sequence at the start of `text` (1 to 3): what one U+FFFD stands for. */
size_t tik_utf8_bad_length(const uint8_t *text, size_t length);

/* Whether the 1 to 3 bytes, the last of a text, may become a character when more come. */
bool tik_utf8_may_finish(const uint8_t *text, size_t length);

/* True for a byte that starts a character (not 10xxxxxx). */
static inline bool tik_utf8_is_start(uint8_t byte)
{
    return (byte & 0xC0) != 0x80;
}

/* The code point at `text`, which is valid UTF-8; `*length` becomes its length in bytes (1 to 4). */
static inline uint32_t tik_utf8_decode(const uint8_t *text, size_t *length)
{
    uint32_t lead = text[0];
    if (lead < 0x80) {
        *length = 1;
        return lead;
    }
    if (lead < 0xE0) {
        *length = 2;
        return (lead & 0x1F) << 6 | (text[1] & 0x3Fu);
    }
    if (lead < 0xF0) {
        *length = 3;
        return (lead & 0x0F) << 12 | (text[1] & 0x3Fu) << 6 | (text[2] & 0x3Fu);
    }
    *length = 4;
    return (lead & 0x07) << 18 | (text[1] & 0x3Fu) << 12 | (text[2] & 0x3Fu) << 6 | (text[3] & 0x3Fu);
}

/* Writes `code_point` as UTF-8 (1 to 4 bytes) and returns how many. */
size_t tik_utf8_encode(uint32_t code_point, uint8_t out[4]);

#endif
