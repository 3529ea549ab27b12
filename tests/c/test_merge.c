/*
 * Every way of merging against the definition (tik_merge_plain): short, long, the heap, many at once, the
 * memo. On random vocabularies too: few letters and small tables make ties, deep merges, merged tokens of
 * lower rank than their parts, and tokens that their own bytes do not merge to, all common. Some are over
 * characters of several bytes, cut anywhere: merging may begin with whole characters (solid.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "merge/merge.h"
#include "registry/registry.h"

static uint64_t state;

static uint32_t random_below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 11) % limit;
}

/* Characters of one to four bytes; neighbours in the list share first bytes or last ones. */
static const char *const characters[] = {"あ", "い", " ", "語", "é", "ш", "한", "及",
                                         "の", "и", "a", "щ", "\xF0\x9F\x98\x81", "\n"};

/* Random bytes: letters, or (wide) characters that begin at `skip` bytes within one and end where they end. */
static void fill_text(uint8_t *text, size_t length, uint32_t letters, bool wide, size_t skip)
{
    for (size_t i = 0; i < length;) {
        if (!wide) {
            text[i++] = (uint8_t)('a' + random_below(letters));
            continue;
        }
        const char *character = characters[random_below(letters)];
        size_t bytes = strlen(character);
        for (size_t b = skip < bytes ? skip : 0; b < bytes && i < length; b++)
            text[i++] = (uint8_t)character[b];
        skip = 0;
    }
}

/* A vocabulary of the 256 bytes and `extra` random strings over the first `letters` letters or characters. */
typedef struct made {
    tik_ranks ranks;
    void *tables;
    tik_vocab vocab;
} made;

static made make_vocab(size_t extra, uint32_t letters, size_t longest, bool shuffled, bool gaps, bool wide)
{
    size_t count = 256;
    tik_token *tokens = calloc(256 + extra, sizeof *tokens);
    char *arena = malloc(256 + extra * longest);
    assert_non_null(tokens);
    assert_non_null(arena);
    char *at = arena;
    for (unsigned byte = 0; byte < 256; byte++) {
        *at = (char)byte;
        tokens[byte] = (tik_token){at++, 1, byte};
    }
    for (size_t i = 0; i < extra; i++) {
        size_t length = 2 + random_below((uint32_t)longest - 1);
        fill_text((uint8_t *)at, length, letters, wide, random_below(3));
        size_t same = 256;
        while (same < count && (tokens[same].length != length || memcmp(tokens[same].bytes, at, length) != 0))
            same++;
        if (same < count)
            continue;
        tokens[count++] = (tik_token){at, length, 0};
        at += length;
    }
    for (size_t i = 0; i < count; i++)
        tokens[i].rank = (uint32_t)(gaps ? 3 * i + random_below(3) : i);
    if (shuffled)
        for (size_t i = count; i > 1; i--) {
            size_t j = random_below((uint32_t)i);
            uint32_t rank = tokens[i - 1].rank;
            tokens[i - 1].rank = tokens[j].rank;
            tokens[j].rank = rank;
        }
    made m;
    size_t size;
    tik_error error;
    if (tik_ranks_copy(tokens, count, &m.ranks, &error) != TIK_OK)
        fail_msg("%s", error.message);
    assert_int_equal(tik_vocab_layout(&m.ranks, &m.tables, &size, &error), TIK_OK);
    assert_int_equal(tik_vocab_attach(m.tables, size, &m.vocab, &error), TIK_OK);
    free(tokens);
    free(arena);
    return m;
}

static void free_vocab(made *m)
{
    tik_ranks_free(&m->ranks);
    free(m->tables);
}

static void expect_same(const char *way, const uint8_t *piece, size_t length, const tik_ids *wanted, const uint32_t *got,
                        size_t count)
{
    if (count == wanted->length && memcmp(got, wanted->data, count * sizeof *got) == 0)
        return;
    fail_msg("%s differs from the definition on '%.*s' (%zu bytes): %zu tokens, not %zu", way,
             (int)(length < 200 ? length : 200), (const char *)piece, length, count, wanted->length);
}

static tik_memo_key key_of(const uint8_t *piece, size_t length)
{
    uint64_t low;
    uint64_t high;
    if (length > TIK_MEMO_SHORT)
        return tik_memo_long_key(piece, length);
    tik_load_short(piece, length, &low, &high);
    return tik_memo_short_key(low, high, length);
}

/* The ids that the memo holds for a piece, which it learns if it has not. */
static size_t through_memo(tik_memo *memo, const uint8_t *piece, size_t length, uint32_t *ids)
{
    tik_memo_key key = key_of(piece, length);
    tik_memo_make_room(memo);
    size_t set = tik_memo_set(memo, &key);
    if (!tik_memo_find(memo, set, &key)) {
        size_t found = tik_memo_work_out(memo, piece, length, ids);
        tik_memo_put(memo, set, &key, piece, ids, found);
    }
    const tik_memo_entry *entry = tik_memo_find(memo, tik_memo_set(memo, &key), &key);
    assert_non_null(entry);
    size_t count = entry->count & (TIK_MEMO_SPILLED - 1);
    if (entry->count & TIK_MEMO_SPILLED) {
        assert_true(length <= TIK_MEMO_SHORT || tik_memo_is(memo, entry, piece));
        memcpy(ids, tik_memo_spilled(memo, entry), count * sizeof *ids);
    } else
        memcpy(ids, entry->ids, count * sizeof *ids);
    return count;
}

/* All ways on one piece. The memo looks the whole up first, and gives ranks. */
static void check(const tik_vocab *vocab, tik_memo *memo, const uint8_t *piece, size_t length)
{
    tik_ids wanted = TIK_IDS_INIT;
    tik_ids got = TIK_IDS_INIT;
    tik_error error;
    assert_int_equal(tik_merge_plain(vocab, piece, length, &wanted, &error), TIK_OK);
    if (length <= TIK_MERGE_SHORT) {
        uint32_t out[TIK_MERGE_SHORT];
        expect_same("short", piece, length, &wanted, out, tik_merge_short(vocab, piece, length, out));
    }
    assert_int_equal(tik_merge_long(vocab, piece, length, &got, &error), TIK_OK);
    expect_same("long", piece, length, &wanted, got.data, got.length);
    size_t count = 0;
    assert_int_equal(tik_vocab_merge(vocab, piece, length, got.data, &count, &error), TIK_OK);
    expect_same("heap", piece, length, &wanted, got.data, count);
    if (length <= TIK_MEMO_LONGEST) {
        uint32_t ids[TIK_MEMO_LONGEST];
        uint32_t whole = tik_vocab_find(vocab, piece, length);
        if (whole != TIK_NONE) {
            wanted.length = 1;
            wanted.data[0] = whole;
        }
        for (size_t i = 0; i < wanted.length; i++)
            wanted.data[i] = vocab->ranks[wanted.data[i]];
        count = through_memo(memo, piece, length, ids);
        expect_same("memo", piece, length, &wanted, ids, count);
        count = through_memo(memo, piece, length, ids);
        expect_same("memo, met before", piece, length, &wanted, ids, count);
    }
    tik_ids_free(&wanted);
    tik_ids_free(&got);
}

/* Pieces that are learned together, lengths mixed: each comes to what it comes to by the definition. */
typedef struct piece_pool {
    tik_unknown pieces[TIK_LEARN_MOST];
    uint8_t bytes[TIK_LEARN_MOST][TIK_LEARN_LONGEST];
    size_t count;
    size_t wanted; /* learned when so many are there */
} piece_pool;

static void learn(const tik_vocab *vocab, piece_pool *pool)
{
    uint32_t ids[TIK_LEARN_MOST * TIK_LEARN_LONGEST];
    tik_learn(vocab, pool->pieces, pool->count, ids);
    for (size_t i = 0; i < pool->count; i++) {
        const tik_unknown *piece = &pool->pieces[i];
        tik_ids wanted = TIK_IDS_INIT;
        uint32_t whole = tik_vocab_find(vocab, piece->piece, piece->length);
        assert_int_equal(tik_merge_plain(vocab, piece->piece, piece->length, &wanted, NULL), TIK_OK);
        if (whole != TIK_NONE) {
            wanted.length = 1;
            wanted.data[0] = whole;
        }
        for (size_t k = 0; k < wanted.length; k++)
            wanted.data[k] = vocab->ranks[wanted.data[k]];
        expect_same("many", piece->piece, piece->length, &wanted, ids + piece->first, piece->count);
        tik_ids_free(&wanted);
    }
    pool->count = 0;
    pool->wanted = 1 + random_below(TIK_LEARN_MOST);
}

static void add_to_pool(const tik_vocab *vocab, piece_pool *pool, const uint8_t *piece, size_t length)
{
    if (length > TIK_LEARN_LONGEST)
        length = TIK_LEARN_LONGEST - random_below(3);
    uint8_t *bytes = memcpy(pool->bytes[pool->count], piece, length);
    pool->pieces[pool->count++] =
        (tik_unknown){.key = key_of(bytes, length), .piece = bytes, .length = (uint32_t)length};
    if (pool->count >= pool->wanted)
        learn(vocab, pool);
}

/* Random vocabularies: extra tokens, letters, longest token, whether ranks are shuffled,
 * whether they have gaps, whether over characters of several bytes. */
static const struct {
    size_t extra;
    uint32_t letters;
    size_t longest;
    bool shuffled, gaps, wide;
} tables[] = {
    {3, 2, 3, false, false, false}, {10, 2, 4, false, false, false}, {10, 2, 4, true, false, false},
    {40, 2, 8, true, true, false}, {40, 3, 5, true, false, false}, {100, 3, 6, true, false, false},
    {100, 4, 4, false, true, false}, {300, 4, 9, true, false, false}, {500, 5, 6, true, true, false},
    {60, 2, 20, true, false, false}, {400, 6, 3, true, false, false}, {30, 1, 40, true, false, false},
    {200, 2, 300, true, true, false}, {5, 1, 700, true, false, false}, {20, 2, 3, true, false, true},
    {30, 3, 3, true, false, true}, {60, 3, 4, true, false, true}, {60, 5, 3, false, false, true},
    {120, 5, 4, true, true, true}, {200, 7, 3, true, false, true}, {300, 8, 4, true, false, true},
    {300, 9, 6, false, false, true}, {600, 14, 3, true, false, true}, {600, 14, 5, false, true, true},
};

static void test_random_tables(void **unused)
{
    (void)unused;
    state = 20261201;
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (int again = 0; again < 6; again++) {
            made m = make_vocab(tables[t].extra, tables[t].letters, tables[t].longest, tables[t].shuffled, tables[t].gaps,
                                tables[t].wide);
            tik_memo memo;
            assert_int_equal(tik_memo_init(&memo, &m.vocab, NULL), TIK_OK);
            piece_pool pool = {.wanted = TIK_LEARN_MOST};
            for (int texts = 0; texts < 400; texts++) {
                uint8_t piece[1500];
                size_t length = 1 + random_below(texts % 40 == 0 ? 1500 : texts % 4 == 0 ? 120 : 20);
                uint32_t letters = tables[t].letters + (texts % 7 == 0 && tables[t].letters < 14);
                size_t period = texts % 5 == 0 ? 1 + random_below(6) : length;
                fill_text(piece, length < period ? length : period, letters, tables[t].wide,
                          texts % 3 == 0 ? random_below(3) : 0);
                for (size_t i = period; i < length; i++)
                    piece[i] = piece[i - period];
                check(&m.vocab, &memo, piece, length);
                add_to_pool(&m.vocab, &pool, piece, length);
            }
            learn(&m.vocab, &pool);
            tik_memo_free(&memo);
            free_vocab(&m);
        }
}

/* Long repeating pieces take a way of their own: every period that it knows and more, many lengths. */
static void test_repeating(void **unused)
{
    (void)unused;
    state = 7;
    uint8_t *piece = malloc(6000);
    assert_non_null(piece);
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++) {
        made m = make_vocab(tables[t].extra, tables[t].letters, tables[t].longest, tables[t].shuffled, tables[t].gaps,
                                tables[t].wide);
        tik_memo memo;
        assert_int_equal(tik_memo_init(&memo, &m.vocab, NULL), TIK_OK);
        for (size_t period = 1; period <= 18; period += 1 + t % 3) {
            size_t length = 4096 + random_below(200);
            fill_text(piece, period, tables[t].letters, tables[t].wide, 0);
            for (size_t i = period; i < length; i++)
                piece[i] = piece[i - period];
            tik_ids wanted = TIK_IDS_INIT;
            uint32_t *heap = malloc(length * sizeof *heap);
            size_t count = 0;
            assert_non_null(heap);
            assert_int_equal(tik_merge_long(&m.vocab, piece, length, &wanted, NULL), TIK_OK);
            assert_int_equal(tik_vocab_merge(&m.vocab, piece, length, heap, &count, NULL), TIK_OK);
            expect_same("heap", piece, length, &wanted, heap, count);
            free(heap);
            tik_ids_free(&wanted);
        }
        tik_memo_free(&memo);
        free_vocab(&m);
    }
    free(piece);
}

/* The embedded vocabularies: random bytes, letters, and tokens strung together. */
static void test_embedded(void **unused)
{
    (void)unused;
    state = 11;
    for (size_t e = 0; e < tik_public_manifest_count; e++) {
        const void *tables_of;
        size_t size;
        tik_vocab vocab;
        tik_memo memo;
        if (!tik_vocab_embedded(tik_public_manifests[e].sha256, &tables_of, &size))
            continue;
        assert_int_equal(tik_vocab_attach(tables_of, size, &vocab, NULL), TIK_OK);
        assert_int_equal(tik_memo_init(&memo, &vocab, NULL), TIK_OK);
        piece_pool pool = {.wanted = TIK_LEARN_MOST};
        for (int texts = 0; texts < 6000; texts++) {
            uint8_t piece[600];
            size_t length = 0;
            size_t wanted = 1 + random_below(texts % 50 == 0 ? 500 : 30);
            while (length < wanted) {
                if (texts % 3 == 0)
                    piece[length++] = (uint8_t)random_below(256);
                else if (texts % 3 == 1)
                    piece[length++] = (uint8_t)('a' + random_below(26));
                else {
                    uint32_t token = random_below(vocab.count);
                    size_t more = tik_vocab_length(&vocab, token);
                    if (length + more > sizeof piece)
                        break;
                    memcpy(piece + length, vocab.bytes + vocab.starts[token], more);
                    length += more;
                }
            }
            if (length) {
                check(&vocab, &memo, piece, length);
                add_to_pool(&vocab, &pool, piece, length);
            }
        }
        learn(&vocab, &pool);
        tik_memo_free(&memo);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_tables),
        cmocka_unit_test(test_repeating),
        cmocka_unit_test(test_embedded),
    };
    return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
