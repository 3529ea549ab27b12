/*
 * JSON values in their shortest form, as the harmony format writes the defaults of parameters: members in
 * their order, no spaces, characters beyond ASCII as they are, numbers with the fewest digits that give
 * the same number back.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chat/chat.h"

enum { MOST_DIGITS = 17, PLAIN_FROM = -5, PLAIN_TO = 16 };

static tik_status append(tik_bytes *out, const char *text, tik_error *error)
{
    return tik_bytes_append(out, text, strlen(text), error);
}

static tik_status append_string(const json_t *value, tik_bytes *out, tik_error *error)
{
    const char *text = json_string_value(value);
    size_t length = json_string_length(value);
    tik_status status = append(out, "\"", error);
    for (size_t i = 0; status == TIK_OK && i < length; i++) {
        static const char short_forms[] = "\bb\ff\nn\rr\tt\"\"\\\\";
        const char *found = text[i] ? strchr(short_forms, text[i]) : NULL;
        /* The first of each pair is the character, the second what stands for it. */
        while (found && (found - short_forms) % 2 != 0)
            found = strchr(found + 1, text[i]);
        if (found)
            status = tik_bytes_printf(out, error, "\\%c", found[1]);
        else if ((unsigned char)text[i] < 0x20)
            status = tik_bytes_printf(out, error, "\\u%04x", (unsigned)text[i]);
        else
            status = tik_bytes_append(out, text + i, 1, error);
    }
    return status == TIK_OK ? append(out, "\"", error) : status;
}

/* A number as decimal digits, and where its point lies: 0.DIGITS times 10^point. */
typedef struct decimal {
    char digits[MOST_DIGITS + 1];
    int count;
    int point;
} decimal;

/* The fewest digits that give the same number back. `number` is neither negative nor infinite. */
static decimal shortest(double number)
{
    char form[40];
    int precision = 1;
    do
        snprintf(form, sizeof form, "%.*e", precision - 1, number);
    while (strtod(form, NULL) != number && ++precision <= MOST_DIGITS);
    decimal result = {.count = 0};
    const char *at = form;
    for (; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9' && result.count < MOST_DIGITS)
            result.digits[result.count++] = *at;
    result.digits[result.count] = '\0';
    result.point = atoi(at + 1) + 1;
    return result;
}

/*
 * The number that the package's JSON parser makes of these digits: it rounds twice, first the digits as a
 * whole number, then their product with a power of ten, and so may miss by one in the last place.
 */
static double read_back(const decimal *written)
{
    enum { LARGEST_POWER = 308 };
    double number = (double)strtoull(written->digits, NULL, 10);
    int exponent = written->point - written->count;
    char power[16];
    if (exponent < -LARGEST_POWER) {
        number /= 1e308;
        exponent += LARGEST_POWER;
    }
    snprintf(power, sizeof power, "1e%d", exponent < 0 ? -exponent : exponent);
    number = exponent < 0 ? number / strtod(power, NULL) : number * strtod(power, NULL);
    return isfinite(number) ? number : DBL_MAX;
}

/* As 0.001, 1.5, 100.0; with an exponent below 10^-5 and from 10^16 on. */
static tik_status append_real(double number, tik_bytes *out, tik_error *error)
{
    tik_status status = signbit(number) ? append(out, "-", error) : TIK_OK;
    if (status != TIK_OK)
        return status;
    if (number == 0)
        return append(out, "0.0", error);
    decimal written = shortest(fabs(number));
    written = shortest(read_back(&written));
    const char *digits = written.digits;
    int count = written.count;
    int point = written.point;
    if (point > PLAIN_FROM && point <= 0)
        return tik_bytes_printf(out, error, "0.%.*s%s", -point, "0000", digits);
    if (point > 0 && point <= PLAIN_TO && count <= point)
        return tik_bytes_printf(out, error, "%s%.*s.0", digits, point - count, "0000000000000000");
    if (point > 0 && point <= PLAIN_TO)
        return tik_bytes_printf(out, error, "%.*s.%s", point, digits, digits + point);
    if (count == 1)
        return tik_bytes_printf(out, error, "%se%d", digits, point - 1);
    return tik_bytes_printf(out, error, "%c.%se%d", digits[0], digits + 1, point - 1);
}

static tik_status append_array(const json_t *value, tik_bytes *out, tik_error *error)
{
    size_t i;
    json_t *item;
    tik_status status = append(out, "[", error);
    json_array_foreach((json_t *)(uintptr_t)value, i, item)
    {
        if (status == TIK_OK && i > 0)
            status = append(out, ",", error);
        if (status == TIK_OK)
            status = tik_chat_value(item, out, error);
    }
    return status == TIK_OK ? append(out, "]", error) : status;
}

static tik_status append_object(const json_t *value, tik_bytes *out, tik_error *error)
{
    const char *key;
    json_t *member;
    bool first = true;
    tik_status status = append(out, "{", error);
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        json_t *name = json_string(key);
        if (!name)
            return tik_fail_memory(error, strlen(key));
        if (status == TIK_OK && !first)
            status = append(out, ",", error);
        if (status == TIK_OK)
            status = append_string(name, out, error);
        if (status == TIK_OK)
            status = append(out, ":", error);
        if (status == TIK_OK)
            status = tik_chat_value(member, out, error);
        json_decref(name);
        first = false;
    }
    return status == TIK_OK ? append(out, "}", error) : status;
}

tik_status tik_chat_value(const json_t *value, tik_bytes *out, tik_error *error)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return append_object(value, out, error);
    case JSON_ARRAY:
        return append_array(value, out, error);
    case JSON_STRING:
        return append_string(value, out, error);
    case JSON_INTEGER:
        return tik_bytes_printf(out, error, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    case JSON_REAL:
        return append_real(json_real_value(value), out, error);
    case JSON_TRUE:
        return append(out, "true", error);
    case JSON_FALSE:
        return append(out, "false", error);
    default:
        return append(out, "null", error);
    }
}
