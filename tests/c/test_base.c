/* base: UTF-8 validity and replacement against a table of Python's answers, growable arrays, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

/* `replaced` is what Python 3's bytes.decode("utf-8", errors="replace") gives, as UTF-8. */
static const struct {
    const char *text;
    size_t length;
    size_t valid; /* bytes before the first bad one */
    const char *replaced;
} utf8_cases[] = {
    {"", 0, 0, ""},
    {"abc", 3, 3, "abc"},
    {"a long ASCII text of 32 bytes....", 33, 33, "a long ASCII text of 32 bytes...."},
    {"caf\xC3\xA9", 5, 5, "caf\xC3\xA9"},
    {"\xF0\x9F\x9A\x80", 4, 4, "\xF0\x9F\x9A\x80"},
    {"\xF4\x8F\xBF\xBF", 4, 4, "\xF4\x8F\xBF\xBF"},
    {"\xEF\xBF\xBE", 3, 3, "\xEF\xBF\xBE"},
    {"\x80", 1, 0, "\xEF\xBF\xBD"},
    {"ab\xFFz", 4, 2, "ab\xEF\xBF\xBDz"},
    {"\xC0\x80", 2, 0, "\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"\xC3", 1, 0, "\xEF\xBF\xBD"},
    {"\xC3(", 2, 0, "\xEF\xBF\xBD("},
    {"\xE0\x80\x80", 3, 0, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"\xE2\x82", 2, 0, "\xEF\xBF\xBD"},
    {"\xE2\x82x", 3, 0, "\xEF\xBF\xBDx"},
    {"\xED\xA0\x80", 3, 0, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"\xF0\x9F\x9A", 3, 0, "\xEF\xBF\xBD"},
    {"\xF0\x9F\x9A\xF0\x9F\x9A\x80", 7, 0, "\xEF\xBF\xBD\xF0\x9F\x9A\x80"},
    {"\xF0\x80\x80\x80", 4, 0, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"\xF4\x90\x80\x80", 4, 0, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"\xF5\x80\x80\x80", 4, 0, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"12345678\xE2\x82\xAC" "12345678\x80", 20, 19, "12345678\xE2\x82\xAC" "12345678\xEF\xBF\xBD"},
};

static void utf8_is_judged_as_python_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof utf8_cases / sizeof utf8_cases[0]; i++) {
        const uint8_t *text = (const uint8_t *)utf8_cases[i].text;
        size_t length = utf8_cases[i].length;
        assert_int_equal(tik_utf8_valid_prefix(text, length), utf8_cases[i].valid);
        tik_bytes out = TIK_BYTES_INIT;
        assert_int_equal(tik_utf8_replace(text, length, &out, NULL), TIK_OK);
        assert_int_equal(out.length, strlen(utf8_cases[i].replaced));
        if (out.length)
            assert_memory_equal(out.data, utf8_cases[i].replaced, out.length);
        tik_bytes_free(&out);
    }
}

static void every_code_point_goes_round(void **state)
{
    (void)state;
    for (uint32_t code_point = 0; code_point <= 0x10FFFF; code_point++) {
        if (code_point >= 0xD800 && code_point <= 0xDFFF)
            continue;
        uint8_t bytes[4];
        size_t length = tik_utf8_encode(code_point, bytes);
        size_t read;
        assert_int_equal(tik_utf8_valid_prefix(bytes, length), length);
        assert_int_equal(tik_utf8_decode(bytes, &read), code_point);
        assert_int_equal(read, length);
    }
}

static void arrays_refuse_sizes_that_would_wrap(void **state)
{
    (void)state;
    void *array = NULL;
    size_t capacity = 0;
    tik_error error;
    assert_int_equal(tik_grow(&array, &capacity, SIZE_MAX / 4, 8, &error), TIK_ERROR_MEMORY);
    assert_null(array);
    assert_int_equal(capacity, 0);
    assert_int_equal(error.status, TIK_ERROR_MEMORY);

    tik_bytes bytes = TIK_BYTES_INIT;
    assert_int_equal(tik_bytes_append(&bytes, "abc", 3, &error), TIK_OK);
    assert_int_equal(tik_bytes_append(&bytes, "x", SIZE_MAX - 1, &error), TIK_ERROR_MEMORY);
    assert_int_equal(bytes.length, 3);
    assert_memory_equal(bytes.data, "abc", 3);
    tik_bytes_free(&bytes);
    assert_null(bytes.data);
}

static void errors_carry_place_and_words(void **state)
{
    (void)state;
    tik_error error;
    assert_int_equal(tik_fail_at(&error, TIK_ERROR_FORMAT, 7, 42, "line %d", 7), TIK_ERROR_FORMAT);
    assert_int_equal(error.status, TIK_ERROR_FORMAT);
    assert_int_equal(error.line, 7);
    assert_int_equal(error.offset, 42);
    assert_string_equal(error.message, "line 7");
    assert_int_equal(tik_fail(NULL, TIK_ERROR_IO, "nobody listens"), TIK_ERROR_IO);

    for (int status = TIK_OK; status <= TIK_ERROR_MISSING; status++) {
        const char *text = tik_status_text((tik_status)status);
        assert_string_not_equal(text, "unknown status");
        for (int other = TIK_OK; other < status; other++)
            assert_string_not_equal(text, tik_status_text((tik_status)other));
    }
    assert_string_equal(tik_status_text((tik_status)(TIK_ERROR_MISSING + 1)), "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_is_judged_as_python_does),
        cmocka_unit_test(every_code_point_goes_round),
        cmocka_unit_test(arrays_refuse_sizes_that_would_wrap),
        cmocka_unit_test(errors_carry_place_and_words),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
