/*
 * Counting pieces: whatever the slices, the chunks and the number of threads, the pieces are those of each
 * text split as a whole, with the same counts and the same order of first appearance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "registry/registry.h"
#include "train/feed.h"

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 16) % limit);
}

/* Patterns of every kind: with known cuts, without, with look-behind, with bytes left out, with giant pieces. */
static const char *const patterns[] = {
    "gpt2",
    "cl100k_base",
    "o200k_base",
    " ?\\w+| ?[^\\s\\w]+|\\s+",
    "\\w+",
    "[\\s\\S]+",
    "a+|[^a]{1,7}",
    "(?<=b)a+|(?<!b)a|[^a]+",
    "(?<=^|\\n)[a-z]+|\\S|\\s",
    "ab|abab|[\\s\\S]",
    "[^\\n]*\\n|[^\\n]+",
    "\\n\\n[\\s\\S]{0,90}|[\\s\\S]",
};
#define PATTERNS (sizeof patterns / sizeof *patterns)

static tik_splitter *splitter_of(const char *pattern)
{
    tik_splitter *splitter;
    const tik_manifest *manifest;
    if (tik_registry_find(pattern, &manifest, NULL) == TIK_OK)
        pattern = manifest->pattern;
    assert_int_equal(tik_splitter_new(pattern, strlen(pattern), &splitter, NULL), TIK_OK);
    return splitter;
}

/* ---- Texts ---------------------------------------------------------------------------------------- */

#define TEXTS 6
#define LONGEST 6000

typedef struct text_source {
    char *texts[TEXTS];
    size_t lengths[TEXTS];
    size_t count;
    size_t text; /* the next slice is of this one */
    size_t at;
    uint32_t slice; /* its longest length */
    bool broken;    /* a failure at the end */
} text_source;

static void draw_texts(text_source *source, unsigned kind)
{
    static const char *const atoms[] = {"a", "b",    "a",  "b",     " ",  "\n",   "ab", "word", " the",
                                        "é", "日本", "🚀", "12345", "'s", "\n\n", "."};
    source->count = 1 + below(TEXTS);
    for (size_t t = 0; t < source->count; t++) {
        size_t wanted = below(kind == 2 ? 20 : LONGEST - 30);
        size_t length = 0;
        source->texts[t] = malloc(LONGEST);
        assert_non_null(source->texts[t]);
        while (length < wanted) {
            /* The last kind is one letter for long. */
            const char *atom = kind == 1 && below(500) ? "a" : atoms[below(sizeof atoms / sizeof *atoms)];
            memcpy(source->texts[t] + length, atom, strlen(atom));
            length += strlen(atom);
        }
        source->lengths[t] = length;
    }
}

static void free_texts(text_source *source)
{
    for (size_t t = 0; t < source->count; t++)
        free(source->texts[t]);
}

static tik_status next_slice(void *context, tik_text *slice, bool *text_ends, bool *done, tik_error *error)
{
    text_source *source = context;
    *done = source->text == source->count;
    if (*done && source->broken) {
        error->status = TIK_ERROR_IO;
        return TIK_ERROR_IO;
    }
    if (*done)
        return TIK_OK;
    size_t left = source->lengths[source->text] - source->at;
    size_t length = 1 + below(source->slice);
    if (length > left)
        length = left;
    *slice = (tik_text){source->texts[source->text] + source->at, length};
    source->at += length;
    /* The end comes with the last slice, or by itself. */
    *text_ends = length == left && (left == 0 || below(2));
    if (*text_ends) {
        source->text++;
        source->at = 0;
    }
    return TIK_OK;
}

/* ---- What is expected ----------------------------------------------------------------------------- */

static void split_whole(const text_source *source, const tik_splitter *splitter, tik_feed *expected)
{
    tik_split_state *work;
    assert_int_equal(tik_split_state_new(splitter, &work, NULL), TIK_OK);
    for (size_t t = 0; t < source->count; t++) {
        size_t from = 0;
        while (from < source->lengths[t]) {
            uint32_t ends[64];
            size_t count;
            size_t end;
            assert_int_equal(tik_split_next(splitter, work, (const uint8_t *)source->texts[t], source->lengths[t], from,
                                            false, ends, 64, &count, &end, NULL),
                             TIK_OK);
            size_t start = from;
            for (size_t i = 0; i < count; i++) {
                size_t next = from + (ends[i] & ~TIK_SPLIT_DROPPED);
                tik_table_entry *entry;
                if (ends[i] & TIK_SPLIT_DROPPED) {
                    expected->dropped += next - start;
                } else {
                    assert_int_equal(tik_table_add(&expected->table, (const uint8_t *)source->texts[t] + start,
                                                    next - start, 0, &entry, NULL),
                                     TIK_OK);
                    entry->value++;
                    expected->pieces++;
                }
                start = next;
            }
            from = end;
        }
        expected->bytes += source->lengths[t];
    }
    tik_split_state_free(work);
}

static void compare(tik_feed *feed, tik_feed *expected)
{
    assert_int_equal(feed->bytes, expected->bytes);
    assert_int_equal(feed->dropped, expected->dropped);
    assert_int_equal(feed->pieces, expected->pieces);
    assert_int_equal(feed->table.count, expected->table.count);
    const tik_table_entry *found = tik_feed_sort(feed, TIK_FEED_BY_APPEARANCE);
    const tik_table_entry *wanted = expected->table.entries;
    for (size_t i = 0; i < feed->table.count; i++) {
        size_t lengths[2];
        const uint8_t *bytes[2] = {tik_table_bytes(&found[i], &lengths[0]), tik_table_bytes(&wanted[i], &lengths[1])};
        assert_int_equal(lengths[0], lengths[1]);
        assert_memory_equal(bytes[0], bytes[1], lengths[0]);
        assert_int_equal(found[i].value, wanted[i].value);
    }
}

static void test_any_slices_and_threads(void **unused)
{
    (void)unused;
    for (size_t p = 0; p < PATTERNS; p++) {
        tik_splitter *splitter = splitter_of(patterns[p]);
        for (unsigned round = 0; round < 45; round++) {
            text_source source = {.slice = round % 5 ? 1 + 40 * (round % 7) : 5000};
            state = 1000 * p + round + 1;
            draw_texts(&source, round % 3);
            tik_feed expected = {0};
            split_whole(&source, splitter, &expected);
            tik_feed_sort(&expected, TIK_FEED_BY_APPEARANCE);
            tik_feed feed = {.splitter = splitter, .threads = 1 + round % 4, .chunk = 32 + below(700)};
            assert_int_equal(tik_feed_take(&feed, next_slice, &source, NULL), TIK_OK);
            compare(&feed, &expected);
            tik_feed_free(&feed);
            tik_feed_free(&expected);
            free_texts(&source);
        }
        tik_splitter_free(splitter);
    }
}

/* ---- Failures and bounds -------------------------------------------------------------------------- */

typedef struct bad_text {
    const char *pattern;
    const char *text;
    size_t length;
    size_t offset; /* of the first bad byte */
    const char *replaced;
} bad_text;

static const bad_text bad_texts[] = {
    {"gpt2", "a\xFF", 2, 1, "a\xEF\xBF\xBD"},
    {"gpt2", "\xC3", 1, 0, "\xEF\xBF\xBD"},
    {"\\w+|\\W+", "abc \xE6\x97", 6, 4, "abc \xEF\xBF\xBD"},
    {"\\w+|\\W+", "\x80xyz", 4, 0, "\xEF\xBF\xBDxyz"},
    {"o200k_base", "\xED\xA0\x80.", 4, 0, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD."},
};

/* The bad text lies behind `before` good bytes, in slices of one to three bytes. */
static void test_invalid(void **unused)
{
    static const size_t befores[] = {0, 1, 31, 32, 33, 100, 1000};
    (void)unused;
    for (size_t i = 0; i < sizeof bad_texts / sizeof *bad_texts; i++) {
        for (size_t b = 0; b < sizeof befores / sizeof *befores; b++) {
            const bad_text *bad = &bad_texts[i];
            tik_splitter *splitter = splitter_of(bad->pattern);
            text_source source = {.count = 2, .slice = 3};
            source.texts[0] = malloc(LONGEST);
            source.texts[1] = malloc(LONGEST);
            memcpy(source.texts[0], "good", 4);
            source.lengths[0] = 4;
            for (size_t k = 0; k < befores[b]; k++)
                source.texts[1][k] = k % 5 ? 'x' : ' ';
            memcpy(source.texts[1] + befores[b], bad->text, bad->length);
            source.lengths[1] = befores[b] + bad->length;
            state = 7;
            tik_feed feed = {.splitter = splitter, .threads = 2, .chunk = 32};
            tik_error error;
            assert_int_equal(tik_feed_take(&feed, next_slice, &source, &error), TIK_ERROR_UTF8);
            assert_int_equal(error.offset, befores[b] + bad->offset);
            assert_int_equal(feed.refused, 1);
            tik_feed_free(&feed);

            source.text = source.at = 0;
            feed = (tik_feed){.splitter = splitter, .threads = 2, .chunk = 32, .replace_invalid = true};
            assert_int_equal(tik_feed_take(&feed, next_slice, &source, &error), TIK_OK);
            memcpy(source.texts[1] + befores[b], bad->replaced, strlen(bad->replaced));
            size_t bytes = 4 + source.lengths[1];
            source.lengths[1] = befores[b] + strlen(bad->replaced);
            tik_feed expected = {0};
            split_whole(&source, splitter, &expected);
            expected.bytes = bytes;
            tik_feed_sort(&expected, TIK_FEED_BY_APPEARANCE);
            compare(&feed, &expected);
            tik_feed_free(&feed);
            tik_feed_free(&expected);
            free_texts(&source);
            tik_splitter_free(splitter);
        }
    }
}

static bool stop_at(void *context, const tik_train_progress *progress)
{
    return progress->bytes < *(const uint64_t *)context;
}

static void test_failing_source_and_cancel(void **unused)
{
    (void)unused;
    for (size_t p = 0; p < PATTERNS; p++) {
        tik_splitter *splitter = splitter_of(patterns[p]);
        for (unsigned threads = 1; threads < 4; threads++) {
            text_source source = {.slice = 100, .broken = true};
            state = p + 1;
            draw_texts(&source, 0);
            tik_feed feed = {.splitter = splitter, .threads = threads, .chunk = 200};
            assert_int_equal(tik_feed_take(&feed, next_slice, &source, &(tik_error){0}), TIK_ERROR_IO);
            tik_feed_free(&feed);
            uint64_t limit = 700;
            source.text = source.at = 0;
            source.broken = false;
            feed = (tik_feed){.splitter = splitter, .threads = threads, .chunk = 200};
            feed.callback = stop_at;
            feed.context = &limit;
            tik_status status = tik_feed_take(&feed, next_slice, &source, NULL);
            assert_true(status == TIK_ERROR_CANCELLED || feed.bytes < limit + 1200);
            tik_feed_free(&feed);
            free_texts(&source);
        }
        tik_splitter_free(splitter);
    }
}

/* Pruning depends on the text alone, not on the threads. */
static void test_bounds(void **unused)
{
    (void)unused;
    tik_splitter *splitter = splitter_of("a+|[^a]{1,7}");
    uint64_t pruned = 0;
    size_t kept = 0;
    for (unsigned threads = 1; threads < 5; threads++) {
        text_source source = {.slice = 5000};
        state = 99;
        draw_texts(&source, 0);
        tik_feed feed = {.splitter = splitter, .threads = threads, .chunk = 40, .max_pieces = 50};
        assert_int_equal(tik_feed_take(&feed, next_slice, &source, NULL), TIK_ERROR_LIMIT);
        tik_feed_free(&feed);
        source.text = source.at = 0;
        state = 99;
        feed = (tik_feed){.splitter = splitter, .threads = threads, .chunk = 40, .max_pieces = 50, .prune = true};
        assert_int_equal(tik_feed_take(&feed, next_slice, &source, NULL), TIK_OK);
        assert_true(feed.table.count <= 50);
        assert_true(feed.pruned > 0);
        if (threads > 1) {
            assert_int_equal(feed.pruned, pruned);
            assert_int_equal(feed.table.count, kept);
        }
        pruned = feed.pruned;
        kept = feed.table.count;
        tik_feed_free(&feed);
        free_texts(&source);
    }
    tik_splitter_free(splitter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_slices_and_threads),
        cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_failing_source_and_cancel),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
