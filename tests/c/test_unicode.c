/* Unicode 16.0: classes. Sets are compared in full with the reference's in tests/exact/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unicode/unicode.h"

/* Members of each class, counted in the tables of the Rust crate regex-syntax 0.8.11. */
static void test_class_sizes(void **state)
{
    (void)state;
    static const size_t expected[] = {
        [TIK_CLASS_SPACE] = 25, [TIK_CLASS_M] = 2501, [TIK_CLASS_N] = 1911, [TIK_CLASS_LU] = 1858,
        [TIK_CLASS_LT] = 31,    [TIK_CLASS_LL] = 2258, [TIK_CLASS_LM] = 404, [TIK_CLASS_LO] = 136477,
    };
    size_t found[TIK_CLASS_LO + 1] = {0};
    for (uint32_t point = 0; point <= 0x10FFFF; point++)
        found[tik_unicode_class(point)]++;
    for (size_t i = TIK_CLASS_SPACE; i <= TIK_CLASS_LO; i++)
        assert_int_equal(found[i], expected[i]);
}

static void test_classes(void **state)
{
    (void)state;
    static const struct {
        uint32_t point;
        uint8_t class;
    } cases[] = {
        {0, TIK_CLASS_OTHER},        {'\t', TIK_CLASS_SPACE},    {'\n', TIK_CLASS_SPACE},
        {0x1C, TIK_CLASS_OTHER},     {' ', TIK_CLASS_SPACE},     {'0', TIK_CLASS_N},
        {'A', TIK_CLASS_LU},         {'z', TIK_CLASS_LL},        {'\'', TIK_CLASS_OTHER},
        {0x85, TIK_CLASS_SPACE},     {0xA0, TIK_CLASS_SPACE},    {0xAA, TIK_CLASS_LO},
        {0xB2, TIK_CLASS_N},         {0x17F, TIK_CLASS_LL},      {0x1C5, TIK_CLASS_LT},
        {0x2B0, TIK_CLASS_LM},       {0x301, TIK_CLASS_M},       {0x180E, TIK_CLASS_OTHER},
        {0x1C89, TIK_CLASS_LU},      {0x200B, TIK_CLASS_OTHER},  {0x200D, TIK_CLASS_OTHER},
        {0x2028, TIK_CLASS_SPACE},   {0x3000, TIK_CLASS_SPACE},  {0x4E00, TIK_CLASS_LO},
        {0xFEFF, TIK_CLASS_OTHER},   {0x1F600, TIK_CLASS_OTHER}, {0x2EBF0, TIK_CLASS_LO},
        {0xE0100, TIK_CLASS_M},      {0x10FFFF, TIK_CLASS_OTHER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(tik_unicode_class(cases[i].point), cases[i].class);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_class_sizes),
        cmocka_unit_test(test_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
