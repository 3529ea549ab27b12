/*
 * The scanners: every way of each pattern against the naive splitter and PCRE2.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "scan_cases.h"
#include "split/pcre2.h"

static tik_matcher *matchers[NAIVE_PATTERNS];
static tik_matcher_state *states[NAIVE_PATTERNS];

static size_t split_by_pcre2(naive_pattern pattern, const uint8_t *text, size_t length, size_t *ends)
{
    uint32_t some[512];
    size_t total = 0, count;
    for (size_t from = 0, end; from < length; from = end) {
        assert_int_equal(tik_matcher_next(matchers[pattern], states[pattern], text, length, from, false, some, 512,
                                          &count, &end, NULL),
                         TIK_OK);
        for (size_t i = 0; i < count; i++)
            ends[total++] = from + some[i];
    }
    return total;
}

static void test_all_short_texts(void **state)
{
    (void)state;
    assert_true(scan_all_short_texts(6));
}

static void test_random_texts(void **state)
{
    (void)state;
    assert_true(scan_random_texts(6000));
}

static void test_all_code_points(void **state)
{
    (void)state;
    scan_other = NULL; /* tests/c/test_split.c compares these with PCRE2 */
    assert_true(scan_all_code_points());
    scan_other = split_by_pcre2;
}

static void test_resumed(void **state)
{
    (void)state;
    assert_true(scan_resumed(1000));
}

static void test_unfinished(void **state)
{
    (void)state;
    assert_true(scan_unfinished(100));
}

static void test_cuts(void **state)
{
    (void)state;
    assert_true(scan_cuts(100000));
}

static void test_long_runs(void **state)
{
    (void)state;
    assert_true(scan_long_runs());
}

static int setup(void **state)
{
    (void)state;
    for (int pattern = 0; pattern < NAIVE_PATTERNS; pattern++) {
        tik_error error;
        const char *text = naive_pattern_text[pattern];
        if (tik_matcher_new(text, strlen(text), &matchers[pattern], &error) ||
            tik_matcher_state_new(matchers[pattern], &states[pattern], &error)) {
            print_error("%s\n", error.message);
            return -1;
        }
    }
    scan_other = split_by_pcre2;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int pattern = 0; pattern < NAIVE_PATTERNS; pattern++) {
        tik_matcher_state_free(states[pattern]);
        tik_matcher_free(matchers[pattern]);
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_short_texts), cmocka_unit_test(test_random_texts),
        cmocka_unit_test(test_all_code_points), cmocka_unit_test(test_resumed),
        cmocka_unit_test(test_unfinished),      cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_long_runs),
    };
    return cmocka_run_group_tests_name("scan", tests, setup, teardown);
}
