/* Bytes shown in double quotes: text as it is, what cannot be seen or is not UTF-8 as escapes. */
#include <string.h>

#include "cli.h"

/* The length of the character at `bytes` that can be shown as it is; 0 if it cannot. */
static size_t shown_length(const unsigned char *bytes, size_t length)
{
    unsigned char lead = bytes[0];
    if (lead < 0x80)
        return lead >= 0x20 && lead != 0x7F && lead != '"' && lead != '\\';
    size_t need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    uint32_t value = lead & (0x7Fu >> need);
    if (lead < 0xC2 || lead > 0xF4 || need > length)
        return 0;
    for (size_t i = 1; i < need; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (bytes[i] & 0x3Fu);
    }
    /* Overlong forms, surrogates and what is past Unicode are not characters; U+0080 to U+009F are controls. */
    static const uint32_t least[] = {0, 0, 0xA0, 0x800, 0x10000};
    return value >= least[need] && value <= 0x10FFFF && !(value >= 0xD800 && value <= 0xDFFF) ? need : 0;
}

/* Writes the escape of a byte and returns its length, at most 4. */
static size_t escape(unsigned char byte, char *to)
{
    static const char named[] = "\"\"\\\\\nn\tt\rr";
    static const char hex[] = "0123456789abcdef";
    to[0] = '\\';
    for (const char *name = named; *name; name += 2) {
        if (byte == (unsigned char)*name) {
            to[1] = name[1];
            return 2;
        }
    }
    to[1] = 'x';
    to[2] = hex[byte >> 4];
    to[3] = hex[byte & 15];
    return 4;
}

size_t cli_quote_next(const char *bytes, size_t length, char *to, size_t *written)
{
    size_t shown = shown_length((const unsigned char *)bytes, length);
    if (shown)
        memcpy(to, bytes, shown);
    *written = shown ? shown : escape((unsigned char)*bytes, to);
    return shown ? shown : 1;
}

void cli_out_quoted(const char *bytes, size_t length)
{
    char shown[4];
    size_t written;
    cli_out_char('"');
    for (size_t i = 0; i < length;) {
        i += cli_quote_next(bytes + i, length - i, shown, &written);
        cli_out(shown, written);
    }
    cli_out_char('"');
}
