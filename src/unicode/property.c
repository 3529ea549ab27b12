/*
 * Sets of code points by name, as the reference's regex engine understands names (the Rust crate
 * regex-syntax 0.8.11): UAX #44's loose matching, and its own choice of properties.
 */
#include <string.h>

#include "unicode/tables.h"

/*
 * Writes `name` without what does not matter: case, spaces, underscores, hyphens, bytes that are not
 * ASCII, a leading "is". Returns false if it is longer than any name there is.
 */
static bool normalize(const char *name, size_t length, char out[TIK_UNICODE_NAME_SIZE])
{
    size_t count = 0;
    bool is = length >= 2 && (name[0] | 0x20) == 'i' && (name[1] | 0x20) == 's';
    for (size_t i = is ? 2 : 0; i < length; i++) {
        char c = name[i];
        if (c == ' ' || c == '_' || c == '-' || (unsigned char)c >= 0x80)
            continue;
        if (count == TIK_UNICODE_NAME_SIZE - 1)
            return false;
        out[count++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    out[count] = '\0';
    if (is && strcmp(out, "c") == 0) /* "isc" is a property's own name, not category C with "is" before it */
        strcpy(out, "isc");
    return true;
}

/* The short name of a property that takes a value, or NULL. `name` is normalized. */
static const char *valued_property(const char *name)
{
    static const struct {
        char name[24];
        char key[4];
    } properties[] = {
        {"gc", "gc"},   {"generalcategory", "gc"},        {"sc", "sc"}, {"script", "sc"},
        {"scx", "scx"}, {"scriptextensions", "scx"},      {"age", "age"},
        {"gcb", "gcb"}, {"graphemeclusterbreak", "gcb"},  {"wb", "wb"}, {"wordbreak", "wb"},
        {"sb", "sb"},   {"sentencebreak", "sb"},
    };
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
        if (strcmp(name, properties[i].name) == 0)
            return properties[i].key;
    return NULL;
}

/* The number of the set called `key`, or -1. */
static int set_number(const char *key)
{
    size_t low = 0;
    size_t high = tik_unicode_name_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(tik_unicode_names[middle].name, key);
        if (order == 0)
            return tik_unicode_names[middle].set;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static uint32_t varint(const uint8_t **at)
{
    uint32_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = *(*at)++;
        value |= (uint32_t)(byte & 0x7F) << shift;
        shift += 7;
    } while (byte & 0x80);
    return value;
}

/* Adds set `number`, or what is not in it, to `set`. */
static tik_status add_set(int number, bool negated, tik_unicode_ranges *set, tik_error *error)
{
    tik_unicode_ranges found = {0};
    const uint8_t *at = tik_unicode_sets + tik_unicode_set_starts[number];
    const uint8_t *end = tik_unicode_sets + tik_unicode_set_starts[number + 1];
    tik_status status = TIK_OK;
    uint32_t after = 0;
    while (at < end && status == TIK_OK) {
        uint32_t first = after + varint(&at);
        uint32_t last = first + varint(&at);
        status = tik_unicode_ranges_add(&found, first, last, error);
        after = last + 1;
    }
    if (status == TIK_OK && negated)
        status = tik_unicode_ranges_negate(&found, error);
    if (status == TIK_OK)
        status = tik_unicode_ranges_unite(set, &found, error);
    tik_unicode_ranges_free(&found);
    return status;
}

/* Where the sign between property and value starts, and how long it is; `length` if there is none. */
static size_t find_sign(const char *name, size_t length, size_t *sign)
{
    *sign = 2;
    for (size_t i = 0; i + 1 < length; i++)
        if (name[i] == '!' && name[i + 1] == '=')
            return i;
    *sign = 1;
    for (const char *c = ":="; *c; c++) {
        const char *found = length ? memchr(name, *c, length) : NULL;
        if (found)
            return (size_t)(found - name);
    }
    return length;
}

static tik_status unknown(const char *name, size_t length, const char *what, tik_error *error)
{
    size_t shown = length < 60 ? length : 60;
    return tik_fail(error, TIK_ERROR_PATTERN, "no Unicode %s is called '%.*s'%s; see Unicode 16.0, UAX #44", what,
                    (int)shown, name, shown < length ? "..." : "");
}

tik_status tik_unicode_property(const char *name, size_t length, tik_unicode_ranges *set, tik_error *error)
{
    char left[TIK_UNICODE_NAME_SIZE];
    size_t sign;
    size_t split = find_sign(name, length, &sign);
    if (split == length) {
        int number = normalize(name, length, left) && !strchr(left, '=') ? set_number(left) : -1;
        return number < 0 ? unknown(name, length, "category, script or binary property", error)
                          : add_set(number, false, set, error);
    }
    const char *value = name + split + sign;
    size_t value_length = length - split - sign;
    const char *property = normalize(name, split, left) ? valued_property(left) : NULL;
    if (!property)
        return unknown(name, split, "property with values", error);
    char right[TIK_UNICODE_NAME_SIZE];
    char key[sizeof "scx=" + TIK_UNICODE_NAME_SIZE];
    int number = -1;
    if (normalize(value, value_length, right)) {
        strcpy(key, property);
        strcat(key, "=");
        strcat(key, right);
        number = set_number(key);
    }
    return number < 0 ? unknown(value, value_length, "value of that property", error)
                      : add_set(number, sign == 2, set, error);
}

tik_status tik_unicode_perl(char letter, tik_unicode_ranges *set, tik_error *error)
{
    char key[] = {'p', 'e', 'r', 'l', '=', letter, '\0'};
    int number = set_number(key);
    return number < 0 ? tik_fail(error, TIK_ERROR_ARGUMENT, "there is no class \\%c", letter)
                      : add_set(number, false, set, error);
}
