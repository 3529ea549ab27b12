/*
 * Training against its definition: learn.c must make the merges of plain.c, one by one, with the same
 * counts, on random pieces of every kind, with both tie rules and every other rule.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "train/train.h"

/* A small generator with a seed: the same texts on every machine. */
static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 16) % limit);
}

/* What random pieces are made of. */
typedef struct corpus_recipe {
    const char *name;
    uint32_t pieces;
    uint32_t length;   /* longest piece */
    uint32_t letters;  /* different bytes */
    uint32_t weight;   /* largest */
    uint32_t runs;     /* one byte in so many is repeated rather than drawn; 0 never */
    size_t merges;
    uint64_t min_count;
    size_t max_length;
} corpus_recipe;

static const corpus_recipe recipes[] = {
    {"words", 60, 9, 5, 50, 0, 120, 0, 0},
    {"two letters, many ties", 40, 12, 2, 3, 0, 100, 0, 0},
    {"one letter", 12, 40, 1, 4, 0, 60, 0, 0},
    {"runs", 30, 60, 3, 5, 2, 200, 0, 0},
    {"weight one", 50, 10, 4, 1, 3, 300, 0, 0},
    {"one long piece", 1, 3000, 4, 1, 4, 250, 0, 0},
    {"until no pair is left", 8, 12, 3, 9, 2, 100000, 0, 0},
    {"at least 5", 80, 8, 3, 4, 0, 100000, 5, 0},
    {"at most 3 bytes", 60, 20, 3, 7, 2, 100000, 0, 3},
    {"pieces of a byte or two", 30, 2, 3, 9, 0, 50, 0, 0},
    {"heavy", 20, 8, 3, 4000000000u, 0, 40, 0, 0},
    {"all bytes", 60, 30, 256, 20, 5, 150, 0, 0},
};

typedef struct piece_corpus {
    tik_piece pieces[100];
    uint32_t symbols[8000];
    size_t count;
} piece_corpus;

/* Random pieces; with `units` above 256, symbols too that stand for several bytes. */
static void draw(const corpus_recipe *recipe, piece_corpus *corpus, uint32_t units)
{
    size_t used = 0;
    corpus->count = recipe->pieces;
    for (size_t p = 0; p < corpus->count; p++) {
        tik_piece *piece = &corpus->pieces[p];
        piece->symbols = corpus->symbols + used;
        piece->count = 1 + below(recipe->length);
        piece->weight = 1 + below(recipe->weight);
        for (size_t i = 0; i < piece->count; i++) {
            bool repeat = i && recipe->runs && below(recipe->runs) == 0;
            bool unit = units > 256 && below(3) == 0;
            uint32_t letter = recipe->letters == 256 ? below(256) : 'a' + below(recipe->letters);
            uint32_t symbol = unit ? 256 + below(units - 256) : letter;
            piece->symbols[i] = repeat ? piece->symbols[i - 1] : symbol;
        }
        used += piece->count;
        assert_true(used <= sizeof corpus->symbols / sizeof *corpus->symbols);
    }
}

/* Every merge of the fast version is that of the plain one. */
static void compare(const tik_rules *rules, piece_corpus *corpus, tik_lexicon *fast, tik_lexicon *plain, size_t merges)
{
    tik_learner *learner;
    tik_merge *expected = NULL;
    size_t count = 0;
    size_t capacity = 0;
    assert_int_equal(tik_learner_new(rules, fast, &learner, NULL), TIK_OK);
    for (size_t p = 0; p < corpus->count; p++)
        assert_int_equal(tik_learner_add(learner, corpus->pieces[p].symbols, corpus->pieces[p].count,
                                         corpus->pieces[p].weight, NULL),
                         TIK_OK);
    assert_int_equal(tik_learner_start(learner, NULL), TIK_OK);
    size_t size = plain->count + merges;
    assert_int_equal(tik_learn_plain(rules, plain, corpus->pieces, corpus->count, size, &expected, &count, &capacity,
                                     NULL),
                     TIK_OK);
    for (size_t i = 0; i < count; i++) {
        tik_merge merge;
        bool done;
        assert_int_equal(tik_learner_step(learner, &merge, &done, NULL), TIK_OK);
        assert_false(done);
        assert_int_equal(merge.left, expected[i].left);
        assert_int_equal(merge.right, expected[i].right);
        assert_int_equal(merge.id, expected[i].id);
        assert_int_equal(merge.count, expected[i].count);
        assert_int_equal(merge.joined, expected[i].joined);
    }
    uint64_t tokens = 0;
    for (size_t p = 0; p < corpus->count; p++)
        tokens += corpus->pieces[p].count * corpus->pieces[p].weight;
    assert_int_equal(tik_learner_tokens(learner), tokens);
    if (plain->count < size) {
        tik_merge merge;
        bool done;
        assert_int_equal(tik_learner_step(learner, &merge, &done, NULL), TIK_OK);
        assert_true(done);
    }
    free(expected);
    tik_learner_free(learner);
}

static void test_fast_is_plain(void **unused)
{
    (void)unused;
    static piece_corpus corpus;
    for (size_t r = 0; r < sizeof recipes / sizeof *recipes; r++) {
        for (unsigned round = 0; round < 16; round++) {
            tik_rules rules = {round % 2 ? TIK_TIES_FIRST : TIK_TIES_LOWEST, recipes[r].min_count,
                               recipes[r].max_length};
            tik_lexicon fast;
            tik_lexicon plain;
            state = r * 1000 + round + 1;
            draw(&recipes[r], &corpus, 0);
            assert_int_equal(tik_lexicon_init(&fast, false, NULL), TIK_OK);
            assert_int_equal(tik_lexicon_init(&plain, false, NULL), TIK_OK);
            compare(&rules, &corpus, &fast, &plain, recipes[r].merges);
            tik_lexicon_free(&fast);
            tik_lexicon_free(&plain);
        }
    }
}

/* A vocabulary to start from, whose tokens can be spelt by other pairs too: merges join old symbols. */
static void test_fast_is_plain_from_a_start(void **unused)
{
    static const char *const units[] = {"ab", "abc", "cab", "aa", "aaaa", "bcab", "ca", "bab"};
    const uint32_t unit_count = sizeof units / sizeof *units;
    static piece_corpus corpus;
    (void)unused;
    for (size_t r = 0; r < sizeof recipes / sizeof *recipes; r++) {
        for (unsigned round = 0; round < 16; round++) {
            tik_rules rules = {round % 2 ? TIK_TIES_FIRST : TIK_TIES_LOWEST, recipes[r].min_count,
                               recipes[r].max_length};
            tik_lexicon lexicons[2];
            for (size_t i = 0; i < 2; i++) {
                assert_int_equal(tik_lexicon_init(&lexicons[i], false, NULL), TIK_OK);
                for (uint32_t u = 0; u < unit_count; u++)
                    assert_int_equal(tik_lexicon_add(&lexicons[i], units[u], strlen(units[u]), 256 + u, NULL), TIK_OK);
            }
            state = r * 1000 + round + 1;
            draw(&recipes[r], &corpus, 256 + unit_count);
            compare(&rules, &corpus, &lexicons[0], &lexicons[1], recipes[r].merges);
            tik_lexicon_free(&lexicons[0]);
            tik_lexicon_free(&lexicons[1]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fast_is_plain),
        cmocka_unit_test(test_fast_is_plain_from_a_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
