/* Unicode 16.0: classes, sets by name, set algebra, folding. tests/exact/ compares sets with the reference's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

static size_t size_of(const tik_unicode_ranges *set)
{
    size_t size = 0;
    for (size_t i = 0; i < set->count; i++)
        size += set->items[i].last - set->items[i].first + 1;
    return size;
}

/* Sizes counted in the tables of regex-syntax 0.8.11; SIZE_MAX where it refuses the name. */
static void test_properties(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t size;
    } cases[] = {
        {"L", 141028}, {"letter", 141028}, {"isL", 141028}, {"gc=L", 141028}, {"General Category : letter", 141028},
        {"gc!=L", 0x110000 - 2048 - 141028}, {"Lu", 1858}, {"LC", 4147}, {"cf", 170}, {"sc", 63}, {"Nd", 760},
        {"Any", 0x110000 - 2048}, {"ascii", 128}, {"C", 957236}, {"Greek", 518}, {"sc=Grek", 518},
        {"scx=Greek", 531}, {"GREEK", 518}, {"g-r_e e k", 518}, {"Han", 99030}, {"Alphabetic", 142759},
        {"emoji", 1431}, {"White_Space", 25}, {"space", 25}, {"wspace", 25}, {"age=1.1", 33979},
        {"age=V1_1", 33979}, {"gcb=Prepend", 28}, {"wb=Katakana", 331}, {"sb=ATerm", 4},
        {"", SIZE_MAX}, {"Grek=", SIZE_MAX}, {"Klingon", SIZE_MAX}, {"Cs", SIZE_MAX}, {"L&", SIZE_MAX},
        {"isc", SIZE_MAX}, {"InCB", SIZE_MAX}, {"blk=ASCII", SIZE_MAX}, {"perl=w", SIZE_MAX}, {"gc=", SIZE_MAX},
        {"=", SIZE_MAX}, {"!=", SIZE_MAX}, {"gc=L=", SIZE_MAX}, {"Alphabetic=yes", SIZE_MAX},
        {"OtherDefaultIgnorableCodePointAndThenSome", SIZE_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tik_unicode_ranges set = {0};
        tik_error error;
        tik_status status = tik_unicode_property(cases[i].name, strlen(cases[i].name), &set, &error);
        if (status != (cases[i].size == SIZE_MAX ? TIK_ERROR_PATTERN : TIK_OK) ||
            (status == TIK_OK && size_of(&set) != cases[i].size))
            fail_msg("'%s': status %d, %zu code points", cases[i].name, (int)status, size_of(&set));
        tik_unicode_ranges_free(&set);
    }
}

static void test_perl_classes(void **state)
{
    (void)state;
    static const struct {
        char letter;
        uint32_t point;
        bool member;
    } cases[] = {
        {'d', '7', true},    {'d', 0x0663, true}, {'d', 0xB2, false},  {'s', 0x85, true},   {'s', 0x180E, false},
        {'w', '_', true},    {'w', 0x200D, true}, {'w', 0x301, true},  {'w', 0xB2, false},  {'w', '-', false},
        {'w', 0x2160, true}, {'w', 0x24B6, true}, {'s', 0x200B, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tik_unicode_ranges set = {0};
        assert_int_equal(tik_unicode_perl(cases[i].letter, &set, NULL), TIK_OK);
        assert_int_equal(tik_unicode_ranges_contain(&set, cases[i].point), cases[i].member);
        tik_unicode_ranges_free(&set);
    }
    tik_unicode_ranges none = {0};
    assert_int_equal(tik_unicode_perl('h', &none, NULL), TIK_ERROR_ARGUMENT);
}

/* Every operation, each code point up to 63 against the same operation on 64-bit masks. */
static void test_algebra(void **state)
{
    (void)state;
    static const uint64_t masks[] = {
        0, 1, 0xF0F0, 0x8000000000000001, UINT64_MAX, 0x00FF00FF12345678, 0x5555555555555555};
    enum { MASKS = sizeof masks / sizeof *masks };
    for (size_t i = 0; i < (size_t)MASKS * MASKS * 5; i++) {
        uint64_t mask[2] = {masks[i % MASKS], masks[i / MASKS % MASKS]};
        tik_unicode_ranges set[2] = {{0}, {0}};
        for (size_t k = 0; k < 2; k++)
            for (uint32_t bit = 64; bit-- > 0;) /* the last first: an order that is not the set's own */
                if (mask[k] >> bit & 1)
                    assert_int_equal(tik_unicode_ranges_add(&set[k], bit, bit, NULL), TIK_OK);
        uint64_t expected = 0;
        tik_status status = TIK_OK;
        switch (i / ((size_t)MASKS * MASKS)) {
        case 0:
            expected = mask[0] | mask[1];
            status = tik_unicode_ranges_unite(&set[0], &set[1], NULL);
            break;
        case 1:
            expected = mask[0] & mask[1];
            status = tik_unicode_ranges_intersect(&set[0], &set[1], NULL);
            break;
        case 2:
            expected = mask[0] & ~mask[1];
            status = tik_unicode_ranges_subtract(&set[0], &set[1], NULL);
            break;
        case 3:
            expected = mask[0] ^ mask[1];
            status = tik_unicode_ranges_differ(&set[0], &set[1], NULL);
            break;
        default:
            expected = ~mask[0];
            status = tik_unicode_ranges_negate(&set[0], NULL);
        }
        assert_int_equal(status, TIK_OK);
        for (uint32_t bit = 0; bit < 64; bit++)
            assert_int_equal(tik_unicode_ranges_contain(&set[0], bit), expected >> bit & 1);
        for (size_t k = 1; k < set[0].count; k++)
            assert_true(set[0].items[k].first > set[0].items[k - 1].last + 1);
        tik_unicode_ranges_free(&set[0]);
        tik_unicode_ranges_free(&set[1]);
    }
}

/* Ranges added in a random order, against a plain array of members. */
static void test_adding(void **state)
{
    (void)state;
    enum { LIMIT = 300 };
    uint32_t random = 1;
    for (size_t round = 0; round < 200; round++) {
        bool member[LIMIT + 40] = {false};
        tik_unicode_ranges set = {0};
        for (size_t i = 0; i < round / 4 + 1; i++) {
            random = random * 1664525 + 1013904223;
            uint32_t first = (random >> 8) % LIMIT;
            uint32_t last = first + (random >> 24) % 40 * (uint32_t)(round % 2);
            assert_int_equal(tik_unicode_ranges_add(&set, first, last, NULL), TIK_OK);
            memset(member + first, true, last - first + 1);
        }
        for (uint32_t point = 0; point < LIMIT + 40; point++)
            assert_int_equal(tik_unicode_ranges_contain(&set, point), member[point]);
        for (size_t k = 1; k < set.count; k++)
            assert_true(set.items[k].first > set.items[k - 1].last + 1);
        tik_unicode_ranges_free(&set);
    }
}

static void test_surrogates_are_in_no_set(void **state)
{
    (void)state;
    tik_unicode_ranges set = {0};
    assert_int_equal(tik_unicode_ranges_add(&set, 0xD800, 0xDFFF, NULL), TIK_OK);
    assert_int_equal(set.count, 0);
    assert_int_equal(tik_unicode_ranges_add(&set, 0, 0x10FFFF, NULL), TIK_OK);
    assert_int_equal(set.count, 2);
    assert_int_equal(set.items[0].last, 0xD7FF);
    assert_int_equal(set.items[1].first, 0xE000);
    assert_int_equal(tik_unicode_ranges_negate(&set, NULL), TIK_OK);
    assert_int_equal(set.count, 0);
    tik_unicode_ranges_free(&set);
}

static void test_folding(void **state)
{
    (void)state;
    static const struct {
        uint32_t point;
        size_t count;
        uint32_t equal[TIK_UNICODE_FOLD_MAX];
    } cases[] = {
        {'k', 2, {0x212A, 'K'}}, {'s', 2, {0x17F, 'S'}},      {0xDF, 1, {0x1E9E}}, {'1', 0, {0}},
        {0x3C9, 2, {0x2126, 0x3A9}}, {0x345, 3, {0x399, 0x3B9, 0x1FBE}}, {0x130, 0, {0}},
        {0x10D6, 1, {0x1C96}},   {0x10FFFF, 0, {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t equal[TIK_UNICODE_FOLD_MAX];
        assert_int_equal(tik_unicode_fold(cases[i].point, equal), cases[i].count);
        assert_memory_equal(equal, cases[i].equal, cases[i].count * sizeof *equal);
    }
    tik_unicode_ranges set = {0};
    assert_int_equal(tik_unicode_ranges_add(&set, 'j', 'k', NULL), TIK_OK);
    assert_int_equal(tik_unicode_ranges_fold(&set, NULL), TIK_OK);
    static const tik_unicode_range expected[] = {{'J', 'K'}, {'j', 'k'}, {0x212A, 0x212A}};
    assert_int_equal(set.count, 3);
    assert_memory_equal(set.items, expected, sizeof expected);
    tik_unicode_ranges_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_class_sizes),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_perl_classes),
        cmocka_unit_test(test_algebra),
        cmocka_unit_test(test_adding),
        cmocka_unit_test(test_surrogates_are_in_no_set),
        cmocka_unit_test(test_folding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
