/* Reading ids: plain decimal, JSON arrays, raw little-endian; in slices cut anywhere, strictly. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

const char *const cli_id_formats[] = {"plain", "json", "u32le", NULL};

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static bool refuse(cli_id_reader *reader, const char *what)
{
    snprintf(reader->reason, sizeof reader->reason, "byte %zu: %s", reader->offset, what);
    return false;
}

static bool refuse_byte(cli_id_reader *reader, char c, const char *wanted)
{
    char what[120];
    const char *hint = "";
    if (reader->format == CLI_IDS_PLAIN && c == '[')
        hint = " (--format json reads JSON)";
    if (c > ' ' && c < 0x7F)
        snprintf(what, sizeof what, "'%c' where %s is expected%s", c, wanted, hint);
    else
        snprintf(what, sizeof what, "byte 0x%02X where %s is expected", (unsigned)(unsigned char)c, wanted);
    return refuse(reader, what);
}

static bool end_number(cli_id_reader *reader)
{
    reader->state = CLI_IDS_AFTER;
    return reader->take(reader->context, (uint32_t)reader->value);
}

static bool digit(cli_id_reader *reader, char c)
{
    if (reader->state == CLI_IDS_NUMBER && reader->format == CLI_IDS_JSON && reader->value == 0)
        return refuse(reader, "a number in JSON does not begin with 0");
    if (reader->state != CLI_IDS_NUMBER)
        reader->value = 0;
    reader->state = CLI_IDS_NUMBER;
    reader->value = 10 * reader->value + (uint64_t)(c - '0');
    return reader->value <= UINT32_MAX || refuse(reader, "an id is less than 4294967296");
}

static bool plain(cli_id_reader *reader, char c)
{
    if (c >= '0' && c <= '9')
        return digit(reader, c);
    if (!is_space(c))
        return refuse_byte(reader, c, "a decimal id");
    if (reader->state == CLI_IDS_NUMBER)
        return end_number(reader);
    return true;
}

static bool json(cli_id_reader *reader, char c)
{
    switch (reader->state) {
    case CLI_IDS_OUTSIDE:
        if (c == '[')
            reader->state = CLI_IDS_OPENED;
        return c == '[' || is_space(c) || refuse_byte(reader, c, "[");
    case CLI_IDS_OPENED:
        if (c == ']')
            reader->state = CLI_IDS_OUTSIDE;
        if (c == ']' || is_space(c))
            return true;
        break;
    case CLI_IDS_COMMA:
        if (is_space(c))
            return true;
        break;
    case CLI_IDS_NUMBER:
        if (c >= '0' && c <= '9')
            return digit(reader, c);
        if (!end_number(reader))
            return false;
        return json(reader, c);
    case CLI_IDS_AFTER:
        if (c == ',')
            reader->state = CLI_IDS_COMMA;
        else if (c == ']')
            reader->state = CLI_IDS_OUTSIDE;
        return c == ',' || c == ']' || is_space(c) || refuse_byte(reader, c, "a comma or ]");
    }
    return c >= '0' && c <= '9' ? digit(reader, c) : refuse_byte(reader, c, "an id");
}

static bool raw(cli_id_reader *reader, char c)
{
    reader->value |= (uint64_t)(unsigned char)c << (8 * (reader->offset % 4));
    if (reader->offset % 4 < 3)
        return true;
    uint32_t id = (uint32_t)reader->value;
    reader->value = 0;
    return reader->take(reader->context, id);
}

bool cli_read_ids(cli_id_reader *reader, const char *slice, size_t length)
{
    bool (*step)(cli_id_reader *, char) = reader->format == CLI_IDS_PLAIN ? plain
                                          : reader->format == CLI_IDS_JSON ? json
                                                                           : raw;
    for (size_t i = 0; i < length; i++) {
        if (!step(reader, slice[i]))
            return false;
        reader->offset++;
    }
    return true;
}

bool cli_finish_ids(cli_id_reader *reader)
{
    if (reader->format == CLI_IDS_PLAIN)
        return reader->state != CLI_IDS_NUMBER || end_number(reader);
    if (reader->format == CLI_IDS_JSON)
        return reader->state == CLI_IDS_OUTSIDE || refuse(reader, "the JSON array is not ended by ]");
    return reader->offset % 4 == 0 || refuse(reader, "raw ids have four bytes each; the last is cut short");
}
