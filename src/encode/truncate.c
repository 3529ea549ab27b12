/* Truncating a text to a number of tokens: see cutter.c for how the place is found. */
#include "encode/cut.h"
#include "unicode/unicode.h"

static tik_status keep_end(tik_cutter *cutter, const uint8_t *text, size_t length, size_t limit, size_t *start,
                           size_t *tokens, tik_error *error)
{
    tik_status status = tik_cutter_end(cutter, text, length, limit, start, tokens, error);
    if (status != TIK_OK || *start < length)
        return status;
    size_t last = length;
    do
        last = tik_character_before(text, last);
    while (last > 0 && cutter->graphemes && !tik_grapheme_is_boundary(text, length, last));
    size_t needed;
    status = tik_count_with(cutter->encoding, (const char *)text + last, length - last, &cutter->options, &needed,
                            error);
    if (status != TIK_OK)
        return status;
    return tik_fail_at(error, TIK_ERROR_LIMIT, TIK_NOWHERE, last,
                       "a limit of %zu is too small: the last character (%zu bytes) takes %zu; allow at least %zu",
                       limit, length - last, needed, needed);
}

tik_status tik_truncate(const tik_encoding *encoding, const char *text, size_t length, size_t limit, tik_end keep,
                        const tik_cut_options *options, size_t *start, size_t *end, size_t *tokens, tik_error *error)
{
    const uint8_t *bytes = (const uint8_t *)text;
    tik_cutter cutter;
    size_t from = keep == TIK_KEEP_END ? length : 0;
    size_t to = from;
    size_t count = 0;
    if (keep != TIK_KEEP_BEGINNING && keep != TIK_KEEP_END)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "a text has no end %d: keep the beginning or the end", (int)keep);
    tik_status status = tik_cutter_init(&cutter, encoding, options, error);
    if (status == TIK_OK && limit > 0 && length > 0) {
        if (keep == TIK_KEEP_END) {
            status = keep_end(&cutter, bytes, length, limit, &from, &count, error);
        } else {
            tik_counted counted = {0};
            status = tik_cutter_beginning(&cutter, bytes, length, true, limit, &counted, &to, &count, error);
        }
    }
    tik_cutter_free(&cutter);
    if (status != TIK_OK)
        return status;
    *start = from;
    *end = to;
    *tokens = count;
    return TIK_OK;
}
