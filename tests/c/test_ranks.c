/*
 * Reading and writing rank files: every fault with its line and byte offset, the published files there and
 * back, and mutated files, which must be refused or read, never crash (run under the sanitizers as well).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fetch/fetch.h"
#include "vocab/ranks.h"

static const tik_fetch_api *api;

/* The 256 single bytes with ranks 0 to 255, each line ended by `ending`. */
static void append_bytes(tik_bytes *text, const char *ending)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        uint8_t one = (uint8_t)byte;
        assert_true(api->base64_encode(&one, 1, text));
        assert_int_equal(tik_bytes_printf(text, NULL, " %u%s", byte, ending), TIK_OK);
    }
}

static tik_status parse(const char *text, size_t length, tik_ranks *ranks, tik_error *error)
{
    /* An exact copy, so that a read past the end is seen by the sanitizer. */
    char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    tik_status status = tik_ranks_parse(copy, length, "x.tiktoken", api->base64_decode, ranks, error);
    free(copy);
    return status;
}

/* A line of `AAAA NNN\n`, so that offsets in the tables below can be told from its length. */
#define OK_LINE "YWI= 256\n" /* ab */
#define OK_LENGTH 9

/* What follows the 256 single bytes, where it is wrong (line from 1, byte from 0, both from there), why. */
static const struct {
    const char *text;
    size_t line, offset;
    const char *reason;
} faults[] = {
    {"\n", 1, 0, "empty line"},
    {"\r\n", 1, 0, "empty line"},
    {OK_LINE "\n", 2, OK_LENGTH, "empty line"},
    {OK_LINE "\r\nYWM= 257\n", 2, OK_LENGTH, "empty line"},
    {OK_LINE "YWM=", 2, OK_LENGTH + 4, "rank is missing"},
    {OK_LINE "YWM=\n", 2, OK_LENGTH + 4, "rank is missing"},
    {OK_LINE "YW", 2, OK_LENGTH + 2, "rank is missing"},
    {OK_LINE "YWM= ", 2, OK_LENGTH + 5, "rank is missing"},
    {OK_LINE "YWM= \n", 2, OK_LENGTH + 5, "rank is missing"},
    {OK_LINE "YWM= \r\n", 2, OK_LENGTH + 5, "rank is missing"},
    {OK_LINE " 257\n", 2, OK_LENGTH, "token is empty"},
    {OK_LINE "YWM 257\n", 2, OK_LENGTH, "not base64"},
    {OK_LINE "YWN 257\n", 2, OK_LENGTH, "not base64"},
    {OK_LINE "YW== 257\n", 2, OK_LENGTH, "not base64"},  /* an unused bit is set: "YQ==" is right */
    {OK_LINE "YWN= 257\n", 2, OK_LENGTH, "not base64"},  /* and here: "YWM=" */
    {OK_LINE "Y=M= 257\n", 2, OK_LENGTH, "not base64"},
    {OK_LINE "==== 257\n", 2, OK_LENGTH, "not base64"},
    {OK_LINE "Y=== 257\n", 2, OK_LENGTH, "not base64"},
    {OK_LINE "YWM=YWM= 257\n", 2, OK_LENGTH, "not base64"},
    {OK_LINE "YW-_ 257\n", 2, OK_LENGTH, "not base64"},
    {OK_LINE "\xC3\xA9YW 257\n", 2, OK_LENGTH, "not base64"},
    {OK_LINE "\tYWM= 257\n", 2, OK_LENGTH, "not base64"},
    {OK_LINE "YWM=\t257\n", 2, OK_LENGTH + 8, "rank is missing"},
    {OK_LINE "YWM=  257\n", 2, OK_LENGTH + 5, "not a decimal number"},
    {OK_LINE "YWM= +257\n", 2, OK_LENGTH + 5, "not a decimal number"},
    {OK_LINE "YWM= -1\n", 2, OK_LENGTH + 5, "not a decimal number"},
    {OK_LINE "YWM= x\n", 2, OK_LENGTH + 5, "not a decimal number"},
    {OK_LINE "YWM= \r257\n", 2, OK_LENGTH + 5, "not a decimal number"},
    {OK_LINE "YWM= 0257\n", 2, OK_LENGTH + 5, "leading zero"},
    {OK_LINE "YWM= 00\n", 2, OK_LENGTH + 5, "leading zero"},
    {OK_LINE "YWM= 2147483648\n", 2, OK_LENGTH + 5, "2147483647 is the largest"},
    {OK_LINE "YWM= 4294967296\n", 2, OK_LENGTH + 5, "2147483647 is the largest"},
    {OK_LINE "YWM= 18446744073709551617\n", 2, OK_LENGTH + 5, "2147483647 is the largest"},
    {OK_LINE "YWM= 257 \n", 2, OK_LENGTH + 8, "behind the rank"},
    {OK_LINE "YWM= 257 1\n", 2, OK_LENGTH + 8, "behind the rank"},
    {OK_LINE "YWM= 257\r\r\n", 2, OK_LENGTH + 8, "behind the rank"},
    {OK_LINE "YWM= 257\r", 2, OK_LENGTH + 8, "behind the rank"},
    {OK_LINE "YWM= 25x\n", 2, OK_LENGTH + 7, "behind the rank"},
    {OK_LINE "YWM= 256\n", 2, OK_LENGTH, "same rank stands twice, first on line 257"},
    {"YWM= 7\n" OK_LINE, 1, 0, "same rank stands twice, first on line 8"},
    {OK_LINE "YWI= 257\n", 2, OK_LENGTH, "same token stands twice, first on line 257"},
    {"YWI= 300\n" OK_LINE, 2, OK_LENGTH, "same token stands twice, first on line 257"},
    {OK_LINE "YQ== 257\n", 2, OK_LENGTH, "same token stands twice, first on line 98"},
};

static void test_faults(void **state)
{
    (void)state;
    tik_bytes text = TIK_BYTES_INIT;
    append_bytes(&text, "\n");
    size_t before = text.length;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        tik_ranks ranks = {0};
        tik_error error;
        text.length = before;
        tik_bytes_append(&text, faults[i].text, strlen(faults[i].text), NULL);
        tik_status status = parse(text.data, text.length, &ranks, &error);
        if (status != TIK_ERROR_FORMAT || error.line != 256 + faults[i].line ||
            error.offset != before + faults[i].offset || !strstr(error.message, faults[i].reason) ||
            !strstr(error.message, "x.tiktoken: line "))
            fail_msg("fault %zu (%s): status %d, line %zu, offset %zu: %s", i, faults[i].text, status,
                     error.line - 256, error.offset - before, status == TIK_OK ? "" : error.message);
        assert_null(ranks.tokens);
    }
    tik_bytes_free(&text);
}

static void test_no_place(void **state)
{
    (void)state;
    tik_ranks ranks = {0};
    tik_error error;
    assert_int_equal(parse("", 0, &ranks, &error), TIK_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "empty"));
    for (unsigned missing = 0; missing < 256; missing++) {
        tik_bytes text = TIK_BYTES_INIT;
        char name[8];
        for (unsigned byte = 0; byte < 256; byte++) {
            uint8_t one = (uint8_t)byte;
            if (byte != missing && api->base64_encode(&one, 1, &text))
                tik_bytes_printf(&text, NULL, " %u\n", byte);
        }
        assert_int_equal(parse(text.data, text.length, &ranks, &error), TIK_ERROR_FORMAT);
        snprintf(name, sizeof name, "0x%02X", missing);
        assert_non_null(strstr(error.message, name));
        tik_bytes_free(&text);
    }
}

/* Line ends, a last line without one, ranks in any order, the largest rank. */
static void test_accepted(void **state)
{
    (void)state;
    static const struct {
        const char *ending, *rest;
        size_t count;
        uint32_t last;
    } files[] = {
        {"\n", "", 256, 255},
        {"\r\n", "", 256, 255},
        {"\n", OK_LINE, 257, 256},
        {"\n", "YWI= 256", 257, 256},
        {"\r\n", "YWI= 256", 257, 256},
        {"\r\n", "YWI= 256\r\n", 257, 256},
        {"\n", "YWI= 256\r\nYWM= 257\n", 258, 257},
        {"\n", "YWI= 2147483647\nYWM= 256\n", 258, 2147483647},
        {"\n", "YWI= 1000\nYWM= 500\nYWJj 700\n", 259, 1000},
        {"\n", "//79+A== 300\n", 257, 300},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        tik_bytes text = TIK_BYTES_INIT;
        tik_ranks ranks = {0};
        tik_error error;
        append_bytes(&text, files[i].ending);
        tik_bytes_append(&text, files[i].rest, strlen(files[i].rest), NULL);
        if (parse(text.data, text.length, &ranks, &error) != TIK_OK)
            fail_msg("file %zu: %s", i, error.message);
        assert_int_equal(ranks.count, files[i].count);
        assert_int_equal(ranks.tokens[ranks.count - 1].rank, files[i].last);
        for (size_t k = 1; k < ranks.count; k++)
            assert_true(ranks.tokens[k - 1].rank < ranks.tokens[k].rank);
        for (unsigned byte = 0; byte < 256; byte++) {
            assert_int_equal(ranks.tokens[byte].length, 1);
            assert_int_equal((uint8_t)ranks.tokens[byte].bytes[0], byte);
        }
        tik_ranks_free(&ranks);
        tik_bytes_free(&text);
    }
}

/* Cut anywhere, a file is read or refused; where it is read, it is the same list, shorter. */
static void test_cut_short(void **state)
{
    (void)state;
    tik_bytes text = TIK_BYTES_INIT;
    append_bytes(&text, "\r\n");
    size_t before = text.length;
    tik_bytes_append(&text, "YWI= 256\r\nYWJjZA== 257\r\n", 24, NULL);
    for (size_t length = 0; length < text.length; length++) {
        tik_ranks ranks = {0};
        tik_error error;
        tik_status status = parse(text.data, length, &ranks, &error);
        /* Without its last \n a line ends with \r; without its last digits a rank is another's. */
        bool may_be_read = length + 2 == before || length == before || length == before + 8 ||
                           length == before + 10 || length == before + 22;
        if ((status == TIK_OK) != may_be_read)
            fail_msg("cut to %zu of %zu: %s", length, before, status == TIK_OK ? "read" : error.message);
        tik_ranks_free(&ranks);
    }
    tik_bytes_free(&text);
}

static void test_copy(void **state)
{
    (void)state;
    static char bytes[256];
    tik_token tokens[258];
    for (unsigned i = 0; i < 256; i++) {
        bytes[i] = (char)i;
        tokens[i] = (tik_token){bytes + i, 1, 300 - i};
    }
    static const struct {
        tik_token extra;
        const char *reason; /* NULL: accepted */
    } cases[] = {
        {{"ab", 2, 1000}, NULL},
        {{"ab", 0, 1000}, "empty"},
        {{"ab", 2, UINT32_C(0x80000000)}, "2147483647"},
        {{"ab", 2, 300}, "same rank"},
        {{"a", 1, 1000}, "same token"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tik_ranks ranks = {0};
        tik_error error;
        tokens[256] = cases[i].extra;
        tik_status status = tik_ranks_copy(tokens, 257, &ranks, &error);
        assert_int_equal(status, cases[i].reason ? TIK_ERROR_FORMAT : TIK_OK);
        if (cases[i].reason)
            assert_non_null(strstr(error.message, cases[i].reason));
        else
            assert_int_equal(ranks.tokens[256].rank, 1000);
        tik_ranks_free(&ranks);
    }
}

static void read_published(const char *name, tik_bytes *text)
{
    char path[1024];
    const char *source = getenv("TIK_SOURCE");
    snprintf(path, sizeof path, "%s/vocab/%s", source ? source : ".", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char block[65536];
    for (size_t got; (got = fread(block, 1, sizeof block, file)) > 0;)
        assert_int_equal(tik_bytes_append(text, block, got, NULL), TIK_OK);
    fclose(file);
}

static void test_published(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t count;
    } files[] = {
        {"r50k_base.tiktoken", 50256},
        {"p50k_base.tiktoken", 50280},
        {"cl100k_base.tiktoken", 100256},
        {"o200k_base.tiktoken", 199998},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        tik_bytes text = TIK_BYTES_INIT;
        tik_bytes again = TIK_BYTES_INIT;
        tik_ranks ranks = {0};
        tik_error error;
        read_published(files[i].name, &text);
        if (parse(text.data, text.length, &ranks, &error) != TIK_OK)
            fail_msg("%s", error.message);
        assert_int_equal(ranks.count, files[i].count);
        assert_int_equal(tik_ranks_write(&ranks, api->base64_encode, &again, &error), TIK_OK);
        assert_int_equal(again.length, text.length);
        assert_memory_equal(again.data, text.data, text.length);
        tik_ranks_free(&ranks);
        tik_bytes_free(&again);
        tik_bytes_free(&text);
    }
}

/* A file with a few bytes changed, removed or doubled: what is read can be written and read again. */
static void test_mutated(void **state)
{
    (void)state;
    enum { ROUNDS = 4000 };
    static const char likely[] = "\n\r =0129AZaz+/\t\x80";
    tik_bytes text = TIK_BYTES_INIT;
    append_bytes(&text, "\n");
    tik_bytes_append(&text, "YWI= 256\nYWJj 2147483647\n", 25, NULL);
    char *changed = malloc(text.length + 16);
    assert_non_null(changed);
    uint32_t seed = 1;
    size_t read = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t length = text.length;
        memcpy(changed, text.data, length);
        for (unsigned change = 0; change <= round % 3; change++) {
            seed = seed * UINT32_C(1664525) + UINT32_C(1013904223);
            size_t at = (seed >> 8) % length;
            char byte = likely[(seed >> 4) % (sizeof likely - 1)];
            switch (seed >> 30) {
            case 0: /* removed */
                memmove(changed + at, changed + at + 1, --length - at);
                break;
            case 1: /* put in */
                memmove(changed + at + 1, changed + at, length++ - at);
                changed[at] = byte;
                break;
            default:
                changed[at] = byte;
            }
        }
        tik_ranks ranks = {0};
        tik_ranks second = {0};
        tik_error error;
        if (parse(changed, length, &ranks, &error) == TIK_OK) {
            tik_bytes again = TIK_BYTES_INIT;
            read++;
            assert_int_equal(tik_ranks_write(&ranks, api->base64_encode, &again, &error), TIK_OK);
            assert_int_equal(parse(again.data, again.length, &second, &error), TIK_OK);
            assert_int_equal(second.count, ranks.count);
            tik_ranks_free(&second);
            tik_ranks_free(&ranks);
            tik_bytes_free(&again);
        } else {
            assert_int_equal(error.status, TIK_ERROR_FORMAT);
            assert_true(error.message[0] != 0);
        }
    }
    assert_in_range(read, 1, ROUNDS - 1);
    free(changed);
    tik_bytes_free(&text);
}

/* Hashes and base64 against the values of FIPS 180 and RFC 4648. */
static void test_codec(void **state)
{
    (void)state;
    static const struct {
        const char *text, *base64;
    } pairs[] = {
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
    };
    char hex[65];
    assert_int_equal(api->sha256("abc", 3, hex, NULL), TIK_OK);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_int_equal(api->sha1("abc", 3, hex, NULL), TIK_OK);
    assert_string_equal(hex, "a9993e364706816aba3e25717850c26c9cd0d89d");
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        tik_bytes bytes = TIK_BYTES_INIT;
        assert_true(api->base64_encode(pairs[i].text, strlen(pairs[i].text), &bytes));
        assert_int_equal(bytes.length, strlen(pairs[i].base64));
        assert_memory_equal(bytes.data, pairs[i].base64, bytes.length);
        bytes.length = 0;
        assert_true(api->base64_decode(pairs[i].base64, strlen(pairs[i].base64), &bytes));
        assert_int_equal(bytes.length, strlen(pairs[i].text));
        assert_memory_equal(bytes.data, pairs[i].text, bytes.length);
        tik_bytes_free(&bytes);
    }
}

int main(void)
{
    tik_error error;
    api = tik_fetch(&error);
    if (!api) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codec),    cmocka_unit_test(test_faults), cmocka_unit_test(test_no_place),
        cmocka_unit_test(test_accepted), cmocka_unit_test(test_cut_short), cmocka_unit_test(test_copy),
        cmocka_unit_test(test_published), cmocka_unit_test(test_mutated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
