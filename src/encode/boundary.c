/* What kind of place a position in a text is: the end of a paragraph, line, sentence, word. */
#include <string.h>

#include "encode/cut.h"
#include "unicode/unicode.h"

size_t tik_character_before(const uint8_t *text, size_t at)
{
    do
        at--;
    while (at > 0 && !tik_utf8_is_start(text[at]));
    return at;
}

static uint32_t point_at(const uint8_t *text, size_t at)
{
    size_t bytes;
    return tik_utf8_decode(text + at, &bytes);
}

static bool is_space(uint32_t point)
{
    return tik_unicode_class(point) == TIK_CLASS_SPACE;
}

/* True after a line's end; \r\n is one. */
static bool ends_line(const uint8_t *text, size_t at)
{
    return text[at - 1] == '\n' || (text[at - 1] == '\r' && text[at] != '\n');
}

/* True if the line that ends at `at` has nothing but blanks in it. */
static bool ends_empty_line(const uint8_t *text, size_t at)
{
    size_t from = at - 1;
    if (text[from] == '\n' && from > 0 && text[from - 1] == '\r')
        from--;
    while (from > 0 && (text[from - 1] == ' ' || text[from - 1] == '\t'))
        from--;
    return from == 0 || text[from - 1] == '\n' || text[from - 1] == '\r';
}

/* True if the line that begins at `at` has nothing but blanks in it, as far as the text goes. */
static bool begins_empty_line(const uint8_t *text, size_t length, size_t at)
{
    while (at < length && (text[at] == ' ' || text[at] == '\t'))
        at++;
    return at == length || text[at] == '\n' || text[at] == '\r';
}

/* Marks that end sentences. Those of the second list are not followed by a space. */
static bool is_stop(uint32_t point)
{
    static const uint32_t stops[] = {'.', '!', '?', 0x203D, 0x2026, 0x061F, 0x06D4, 0x0964, 0x0965, 0x0589, 0x1362};
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++)
        if (point == stops[i])
            return true;
    return false;
}

static bool is_wide_stop(uint32_t point)
{
    return point == 0x3002 || point == 0xFF01 || point == 0xFF0E || point == 0xFF1F || point == 0xFF61;
}

static bool is_closing(uint32_t point)
{
    static const uint32_t closing[] = {'"',    '\'',   ')',    ']',    '}',    0x00BB, 0x2019, 0x201D,
                                       0x203A, 0x300D, 0x300F, 0x3011, 0x300B, 0xFF09, 0xFF3D};
    for (size_t i = 0; i < sizeof closing / sizeof closing[0]; i++)
        if (point == closing[i])
            return true;
    return false;
}

static bool ends_sentence(const uint8_t *text, size_t at)
{
    uint32_t after = point_at(text, at);
    if (is_closing(after))
        return false;
    size_t last = tik_character_before(text, at);
    while (last > 0 && is_closing(point_at(text, last)))
        last = tik_character_before(text, last);
    uint32_t mark = point_at(text, last);
    if (is_wide_stop(mark))
        return !is_wide_stop(after);
    return is_stop(mark) && is_space(after);
}

tik_boundary tik_boundary_at(const uint8_t *text, size_t length, size_t at)
{
    if (ends_line(text, at))
        return ends_empty_line(text, at) && !begins_empty_line(text, length, at) ? TIK_AT_PARAGRAPH : TIK_AT_LINE;
    if (ends_sentence(text, at))
        return TIK_AT_SENTENCE;
    bool word = is_space(point_at(text, at)) && !is_space(point_at(text, tik_character_before(text, at)));
    return word ? TIK_AT_WORD : TIK_AT_CHARACTER;
}
