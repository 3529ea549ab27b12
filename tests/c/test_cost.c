/* Exact money: amounts read, written, added, multiplied; what calls cost; windows; lists of prices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "registry/registry.h"

#define PARTS UINT64_C(1000000000000)

static void test_parse(void **state)
{
    static const struct {
        const char *text;
        tik_status status;
        tik_amount amount;
    } cases[] = {
        {"0", TIK_OK, {0, 0}},
        {"0.50", TIK_OK, {0, PARTS / 2}},
        {"12", TIK_OK, {12, 0}},
        {"007.5", TIK_OK, {7, PARTS / 2}},
        {"0.000000000001", TIK_OK, {0, 1}},
        {"18446744073709551615.999999999999", TIK_OK, {UINT64_MAX, PARTS - 1}},
        {"18446744073709551616", TIK_ERROR_LIMIT, {0, 0}},
        {"99999999999999999999999999", TIK_ERROR_LIMIT, {0, 0}},
        {"0.0000000000001", TIK_ERROR_LIMIT, {0, 0}},
        {"", TIK_ERROR_ARGUMENT, {0, 0}},
        {".5", TIK_ERROR_ARGUMENT, {0, 0}},
        {"5.", TIK_ERROR_ARGUMENT, {0, 0}},
        {"-1", TIK_ERROR_ARGUMENT, {0, 0}},
        {"+1", TIK_ERROR_ARGUMENT, {0, 0}},
        {" 1", TIK_ERROR_ARGUMENT, {0, 0}},
        {"1e3", TIK_ERROR_ARGUMENT, {0, 0}},
        {"1,5", TIK_ERROR_ARGUMENT, {0, 0}},
        {"1.2.3", TIK_ERROR_ARGUMENT, {0, 0}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tik_amount amount = {1, 1};
        tik_error error;
        tik_status status = tik_amount_parse(cases[i].text, &amount, &error);
        if (status != cases[i].status)
            fail_msg("'%s' gave %s", cases[i].text, tik_status_text(status));
        tik_amount expected = status == TIK_OK ? cases[i].amount : (tik_amount){1, 1};
        assert_int_equal(amount.whole, expected.whole);
        assert_int_equal(amount.parts, expected.parts);
    }
}

static void test_text(void **state)
{
    static const struct {
        tik_amount amount;
        unsigned decimals;
        const char *text;
    } cases[] = {
        {{0, 0}, TIK_AMOUNT_EXACT, "0.00"},
        {{3, 731200000000}, TIK_AMOUNT_EXACT, "3.7312"},
        {{3, 731200000000}, 2, "3.73"},
        {{3, 735000000000}, 2, "3.74"},
        {{3, 734999999999}, 2, "3.73"},
        {{0, 1}, TIK_AMOUNT_EXACT, "0.000000000001"},
        {{0, 1}, 12, "0.000000000001"},
        {{0, 1}, 2, "0.00"},
        {{9, 999999999999}, 2, "10.00"},
        {{9, 999999999999}, 12, "9.999999999999"},
        {{9, 500000000000}, 0, "10"},
        {{9, 499999999999}, 0, "9"},
        {{UINT64_MAX, 999999999999}, TIK_AMOUNT_EXACT, "18446744073709551615.999999999999"},
        {{UINT64_MAX, 999999999999}, 2, "18446744073709551616.00"},
        {{UINT64_MAX, 999999999999}, 0, "18446744073709551616"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[TIK_AMOUNT_TEXT];
        size_t length = tik_amount_text(cases[i].amount, cases[i].decimals, text);
        assert_string_equal(text, cases[i].text);
        assert_int_equal(length, strlen(text));
    }
}

static void test_arithmetic(void **state)
{
    static const struct {
        const char *amount;
        uint64_t count;
        const char *product; /* NULL: too large */
    } products[] = {
        {"0.000000000001", UINT64_MAX, "18446744.073709551615"},
        {"0.999999999999", UINT64_MAX, "18446744073691104870.926290448385"},
        {"1", UINT64_MAX, "18446744073709551615.00"},
        {"1.000000000001", UINT64_MAX, NULL},
        {"2", UINT64_MAX / 2 + 1, NULL},
        {"18446744073709551615.999999999999", 1, "18446744073709551615.999999999999"},
        {"18446744073709551615.999999999999", 0, "0.00"},
        {"0.10", 3, "0.30"},
        {"1234567.890123456789", 1000003, "1234571593827.127159370367"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        tik_amount amount;
        tik_amount product;
        char text[TIK_AMOUNT_TEXT];
        assert_int_equal(tik_amount_parse(products[i].amount, &amount, NULL), TIK_OK);
        tik_status status = tik_amount_times(amount, products[i].count, &product, NULL);
        if (!products[i].product) {
            assert_int_equal(status, TIK_ERROR_LIMIT);
            continue;
        }
        assert_int_equal(status, TIK_OK);
        tik_amount_text(product, TIK_AMOUNT_EXACT, text);
        assert_string_equal(text, products[i].product);
    }
    tik_amount sum;
    assert_int_equal(tik_amount_add((tik_amount){1, PARTS - 1}, (tik_amount){2, 1}, &sum, NULL), TIK_OK);
    assert_true(sum.whole == 4 && sum.parts == 0);
    assert_int_equal(tik_amount_add((tik_amount){UINT64_MAX, PARTS - 1}, (tik_amount){0, 1}, &sum, NULL),
                     TIK_ERROR_LIMIT);
    assert_int_equal(tik_amount_add((tik_amount){UINT64_MAX, 0}, (tik_amount){1, 0}, &sum, NULL), TIK_ERROR_LIMIT);
}

static tik_model_info with_rates(const char *input, const char *cached, const char *output)
{
    tik_model_info info = TIK_MODEL_INFO_INIT;
    info.name = "m";
    info.has_rates = true;
    assert_int_equal(tik_amount_parse(input, &info.rates.input, NULL), TIK_OK);
    info.rates.has_cached = cached && tik_amount_parse(cached, &info.rates.cached, NULL) == TIK_OK;
    info.rates.has_output = output && tik_amount_parse(output, &info.rates.output, NULL) == TIK_OK;
    return info;
}

static void test_cost(void **state)
{
    static const struct {
        const char *input, *cached, *output; /* rates */
        uint64_t tokens, from_cache, answer, calls;
        tik_status status;
        const char *total;
    } cases[] = {
        /* 12,000 words at 199 tokens for 128 words, and at 152 for 133; 400 times at 0.50 per million */
        {"0.50", NULL, NULL, 18657, 0, 0, 400, TIK_OK, "3.7314"},
        {"0.50", NULL, NULL, 13715, 0, 0, 400, TIK_OK, "2.743"},
        {"2.5", "1.25", "10", 1000, 400, 50, 1, TIK_OK, "0.0025"},
        {"2.5", NULL, "10", 1000, 400, 50, 1, TIK_OK, "0.003"},
        {"0.000001", NULL, NULL, 1, 0, 0, 1, TIK_OK, "0.000000000001"},
        {"0.1", NULL, "0.2", 3, 0, 3, 1000000, TIK_OK, "0.90"},
        {"1", NULL, "1", 5, 0, 5, 0, TIK_OK, "0.00"},
        {"1", NULL, NULL, 5, 6, 0, 1, TIK_ERROR_ARGUMENT, NULL},
        {"1", NULL, NULL, 5, 0, 1, 1, TIK_ERROR_NAME, NULL},
        {"0.0000001", NULL, NULL, 5, 0, 0, 1, TIK_ERROR_LIMIT, NULL},
        {"1", NULL, NULL, UINT64_MAX, 0, 0, 1, TIK_OK, "18446744073709.551615"},
        {"1", NULL, NULL, UINT64_MAX, 0, 0, UINT64_MAX, TIK_ERROR_LIMIT, NULL},
        {"18446744073709551615", NULL, NULL, 1, 0, 0, 1, TIK_ERROR_LIMIT, NULL},
        {"18446744073709", NULL, NULL, 1000000, 0, 0, 1, TIK_OK, "18446744073709.00"},
        {"18446744073709", NULL, NULL, UINT64_MAX, 0, 0, 1, TIK_ERROR_LIMIT, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tik_model_info info = with_rates(cases[i].input, cases[i].cached, cases[i].output);
        tik_usage usage = TIK_USAGE_INIT;
        usage.input = cases[i].tokens;
        usage.cached = cases[i].from_cache;
        usage.output = cases[i].answer;
        usage.calls = cases[i].calls;
        tik_cost cost = TIK_COST_INIT;
        tik_status status = tik_cost_of(&info, &usage, &cost, NULL);
        if (status != cases[i].status)
            fail_msg("case %zu gave %s", i, tik_status_text(status));
        if (status != TIK_OK)
            continue;
        char text[TIK_AMOUNT_TEXT];
        tik_amount_text(cost.total, TIK_AMOUNT_EXACT, text);
        assert_string_equal(text, cases[i].total);
    }
    tik_model_info none = TIK_MODEL_INFO_INIT;
    tik_usage usage = TIK_USAGE_INIT;
    tik_cost cost = TIK_COST_INIT;
    assert_int_equal(tik_cost_of(&none, &usage, &cost, NULL), TIK_ERROR_NAME);
}

/* The higher rates hold for the whole of an input that is longer, not at the bound itself. */
static void test_long_input(void **state)
{
    (void)state;
    tik_model_info info = with_rates("1", "0.5", "10");
    info.long_above = 1000;
    info.long_rates = with_rates("2", "1", "15").rates;
    tik_usage usage = TIK_USAGE_INIT;
    usage.input = 1000;
    usage.output = 100;
    tik_cost cost = TIK_COST_INIT;
    char text[TIK_AMOUNT_TEXT];
    assert_int_equal(tik_cost_of(&info, &usage, &cost, NULL), TIK_OK);
    assert_false(cost.is_long);
    tik_amount_text(cost.total, TIK_AMOUNT_EXACT, text);
    assert_string_equal(text, "0.002");
    usage.input = 1001;
    assert_int_equal(tik_cost_of(&info, &usage, &cost, NULL), TIK_OK);
    assert_true(cost.is_long);
    tik_amount_text(cost.total, TIK_AMOUNT_EXACT, text);
    assert_string_equal(text, "0.003502");
}

static void test_window(void **state)
{
    static const struct {
        size_t tokens, window, reserve;
        tik_status status;
        size_t parts;
    } cases[] = {
        {18657, 8192, 1000, TIK_OK, 3}, /* the same 12,000 words in a window of 8,192 less 1,000 */
        {13715, 8192, 1000, TIK_OK, 2},
        {7192, 8192, 1000, TIK_OK, 1},
        {7193, 8192, 1000, TIK_OK, 2},
        {0, 8192, 1000, TIK_OK, 0},
        {SIZE_MAX, SIZE_MAX, 0, TIK_OK, 1},
        {SIZE_MAX, 1, 0, TIK_OK, SIZE_MAX},
        {5, 1000, 1000, TIK_ERROR_LIMIT, 0},
        {5, 0, 0, TIK_ERROR_LIMIT, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t parts = 0;
        assert_int_equal(tik_window_parts(cases[i].tokens, cases[i].window, cases[i].reserve, &parts, NULL),
                         cases[i].status);
        assert_int_equal(parts, cases[i].parts);
    }
}

static void test_built_in(void **state)
{
    static const struct {
        const char *model, *name, *encoding;
        size_t window;
    } cases[] = {
        {"gpt-4o", "gpt-4o", "o200k_base", 128000},
        {"gpt-4o-2024-11-20", "gpt-4o", "o200k_base", 128000},
        {"gpt-4o-2024-05-13", "gpt-4o-2024-05-13", "o200k_base", 128000},
        {"gpt-4", "gpt-4", "cl100k_base", 8192},
        {"ft:gpt-4o-mini-2024-07-18:acme", "ft:gpt-4o-mini", "o200k_base", 0},
        {"gpt-oss-20b", "gpt-oss-20b", "o200k_harmony", 131072},
        {"gpt-6-sol", "gpt-6-sol", NULL, 1050000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tik_model_info info = TIK_MODEL_INFO_INIT;
        assert_int_equal(tik_prices_find(NULL, cases[i].model, &info, NULL), TIK_OK);
        assert_string_equal(info.name, cases[i].name);
        assert_int_equal(info.window, cases[i].window);
        if (cases[i].encoding)
            assert_string_equal(info.encoding, cases[i].encoding);
        else
            assert_null(info.encoding);
        assert_true(info.has_rates && info.date && info.source && info.currency);
    }
    tik_model_info info = TIK_MODEL_INFO_INIT;
    tik_error error;
    assert_int_equal(tik_prices_find(NULL, "gpt-4p", &info, &error), TIK_ERROR_NAME);
    assert_non_null(strstr(error.message, "gpt-4o"));
    size_t count = 0;
    while (tik_prices_at(NULL, count, &info))
        count++;
    assert_true(count > 50);
}

/* What is wrong with a list is said with the model and the field. */
static void test_lists(void **state)
{
    static const struct {
        const char *json;
        const char *fault; /* in the message; NULL: it is right */
    } cases[] = {
        {"{\"currency\": \"EUR\", \"models\": []}", NULL},
        {"{\"currency\": \"EUR\", \"models\": [{\"name\": \"a\", \"window\": 5}]}", NULL},
        {"{\"currency\": \"EUR\", \"date\": \"2026-11-10\", \"source\": \"me\", \"models\": [{\"name\": \"a\", \"names\": "
         "[\"b\"], \"prefixes\": [\"c-\"], \"price\": {\"input\": \"1\", \"cached\": \"0.1\", \"output\": \"2\"}}]}",
         NULL},
        {"", "line"},
        {"[]", "\"models\""},
        {"{\"models\": []}", "\"currency\""},
        {"{\"currency\": 5, \"models\": []}", "\"currency\""},
        {"{\"currency\": \"EUR\", \"date\": \"10.11.2026\", \"models\": []}", "\"date\""},
        {"{\"currency\": \"EUR\", \"colour\": 1, \"models\": []}", "\"colour\""},
        {"{\"currency\": \"EUR\", \"models\": [7]}", "\"models\""},
        {"{\"currency\": \"EUR\", \"models\": [{}]}", "\"name\""},
        {"{\"currency\": \"EUR\", \"models\": [{\"name\": \"a\", \"prise\": {}}]}", "model a: \"prise\""},
        {"{\"currency\": \"EUR\", \"models\": [{\"name\": \"a\", \"price\": {}}]}", "model a: \"input\""},
        {"{\"currency\": \"EUR\", \"models\": [{\"name\": \"a\", \"price\": 5}]}", "model a"},
        {"{\"currency\": \"EUR\", \"models\": [{\"name\": \"a\", \"price\": {\"input\": 0.5}}]}", "in quotes"},
        {"{\"currency\": \"EUR\", \"models\": [{\"name\": \"a\", \"price\": {\"input\": \"0.0000001\"}}]}", "6 decimals"},
        {"{\"currency\": \"EUR\", \"models\": [{\"name\": \"a\", \"price\": {\"input\": \"1\", \"above\": 5}}]}", "\"above\""},
        {"{\"currency\": \"EUR\", \"models\": [{\"name\": \"a\", \"long\": {\"above\": 5, \"input\": \"1\"}}]}", "\"long\""},
        {"{\"currency\": \"EUR\", \"models\": [{\"name\": \"a\", \"price\": {\"input\": \"1\"}, \"long\": {\"input\": \"1\"}}]}",
         "\"above\""},
        {"{\"currency\": \"EUR\", \"models\": [{\"name\": \"a\", \"window\": 0}]}", "\"window\""},
        {"{\"currency\": \"EUR\", \"models\": [{\"name\": \"a\", \"names\": \"b\"}]}", "\"names\""},
        {"{\"currency\": \"EUR\", \"models\": [{\"name\": \"a\", \"prefixes\": [\"\"]}]}", "\"prefixes\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tik_prices *prices = NULL;
        tik_error error;
        tik_status status = tik_prices_parse(cases[i].json, strlen(cases[i].json), "list.json", &prices, &error);
        if (status != (cases[i].fault ? TIK_ERROR_FORMAT : TIK_OK))
            fail_msg("%s gave %s", cases[i].json, tik_status_text(status));
        if (cases[i].fault && (!strstr(error.message, cases[i].fault) || !strstr(error.message, "list.json")))
            fail_msg("%s gave: %s", cases[i].json, error.message);
        tik_prices_close(prices);
    }
}

/* The longest prefix decides, and a whole name before any. */
static void test_prefixes(void **state)
{
    static const char json[] = "{\"currency\": \"EUR\", \"models\": ["
                               "{\"name\": \"short\", \"prefixes\": [\"ab\"]}, {\"name\": \"long\", \"prefixes\": "
                               "[\"abc\"]}, {\"name\": \"whole\", \"names\": [\"abcd\"]}]}";
    static const struct {
        const char *model, *name;
    } cases[] = {{"abx", "short"}, {"abcx", "long"}, {"abcd", "whole"}, {"whole", "whole"}, {"ab", "short"}, {"a", NULL}};
    (void)state;
    tik_prices *prices = NULL;
    assert_int_equal(tik_prices_parse(json, sizeof json - 1, "list", &prices, NULL), TIK_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tik_model_info info = TIK_MODEL_INFO_INIT;
        tik_status status = tik_prices_find(prices, cases[i].model, &info, NULL);
        assert_int_equal(status, cases[i].name ? TIK_OK : TIK_ERROR_NAME);
        if (cases[i].name)
            assert_string_equal(info.name, cases[i].name);
    }
    tik_prices_close(prices);
    assert_int_equal(tik_prices_open("/nonexistent/prices.json", &prices, NULL), TIK_ERROR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),    cmocka_unit_test(test_text),       cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_cost),     cmocka_unit_test(test_long_input), cmocka_unit_test(test_window),
        cmocka_unit_test(test_built_in), cmocka_unit_test(test_lists),      cmocka_unit_test(test_prefixes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
