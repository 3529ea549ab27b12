/*
 * tik_trainer through its public interface: published examples, every way of giving texts, the result as
 * an encoding and as files, going on later, what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tik.h"

static tik_trainer *new_trainer(const tik_train_options *options)
{
    tik_trainer *trainer;
    tik_error error;
    if (tik_trainer_new(options, &trainer, &error) != TIK_OK)
        fail_msg("%s", error.message);
    return trainer;
}

static void add(tik_trainer *trainer, const char *text)
{
    tik_text one = {text, strlen(text)};
    assert_int_equal(tik_trainer_add(trainer, &one, 1, NULL), TIK_OK);
}

static void add_times(tik_trainer *trainer, const char *text, int times)
{
    for (; times; times--)
        add(trainer, text);
}

static void run(tik_trainer *trainer, size_t tokens)
{
    tik_error error;
    if (tik_trainer_run(trainer, tokens, &error) != TIK_OK)
        fail_msg("%s", error.message);
}

static const char *token_text(const tik_trainer *trainer, uint32_t id)
{
    static char text[100];
    const char *bytes;
    size_t length;
    assert_int_equal(tik_trainer_token(trainer, id, &bytes, &length, NULL), TIK_OK);
    assert_true(length < sizeof text);
    memcpy(text, bytes, length);
    text[length] = 0;
    return text;
}

/* The tokens of `text`, joined by bars. */
static void assert_tokens(const tik_encoding *encoding, const char *text, const char *expected)
{
    tik_ids ids = TIK_IDS_INIT;
    tik_bytes joined = TIK_BYTES_INIT;
    assert_int_equal(tik_encode_ordinary(encoding, text, strlen(text), &ids, NULL), TIK_OK);
    char shown[200] = "";
    for (size_t i = 0; i < ids.length; i++) {
        joined.length = 0;
        assert_int_equal(tik_decode(encoding, &ids.data[i], 1, TIK_DECODE_BYTES, &joined, NULL), TIK_OK);
        if (i)
            strcat(shown, "|");
        strncat(shown, joined.data, joined.length);
    }
    assert_string_equal(shown, expected);
    tik_ids_free(&ids);
    tik_bytes_free(&joined);
}

/* ---- Published examples ---------------------------------------------------------------------------- */

static void test_low_lowest(void **unused)
{
    static const char *const learned[] = {"lo",     "low",  "es",    "est",    "ne", "new",
                                          "lowest", "newe", "newer", "newest", "wi", "wid"};
    (void)unused;
    tik_train_options options = TIK_TRAIN_OPTIONS_INIT;
    options.pattern = "\\w+";
    options.ties = TIK_TIES_FIRST;
    tik_trainer *trainer = new_trainer(&options);
    add_times(trainer, "low", 20);
    add(trainer, "lowest newer newest widest");
    run(trainer, 256 + 12);
    for (uint32_t i = 0; i < 12; i++)
        assert_string_equal(token_text(trainer, 256 + i), learned[i]);
    tik_encoding *encoding;
    assert_int_equal(tik_trainer_encoding(trainer, &encoding, NULL), TIK_OK);
    assert_tokens(encoding, "slow", "s|low");
    assert_tokens(encoding, "wider", "wid|e|r");
    assert_tokens(encoding, "lowestprice", "lowest|p|r|i|c|e");
    tik_close(encoding);
    tik_trainer_free(trainer);
}

static void test_basso_casa(void **unused)
{
    static const struct {
        const char *token;
        uint64_t count;
    } expected[] = {{"as", 15}, {"ass", 10}, {"asso", 7}};
    (void)unused;
    for (int ties = TIK_TIES_LOWEST; ties <= TIK_TIES_FIRST; ties++) {
        tik_train_options options = TIK_TRAIN_OPTIONS_INIT;
        options.pattern = "\\w+";
        options.ties = (tik_ties)ties;
        tik_trainer *trainer = new_trainer(&options);
        add_times(trainer, "basso", 3);
        add_times(trainer, "bassa", 2);
        add_times(trainer, "sasso", 4);
        add_times(trainer, "sassi", 1);
        add_times(trainer, "casa", 5);
        run(trainer, 256 + 3);
        const tik_merge *merges;
        assert_int_equal(tik_trainer_merges(trainer, &merges), 3);
        for (size_t i = 0; i < 3; i++) {
            assert_string_equal(token_text(trainer, merges[i].id), expected[i].token);
            assert_int_equal(merges[i].count, expected[i].count);
            assert_int_equal(merges[i].id, 256 + i);
        }
        tik_encoding *encoding;
        assert_int_equal(tik_trainer_encoding(trainer, &encoding, NULL), TIK_OK);
        assert_tokens(encoding, "sasso", "s|asso");
        assert_tokens(encoding, "casa", "c|as|a");
        assert_tokens(encoding, "cassa", "c|ass|a");
        tik_close(encoding);
        tik_trainer_free(trainer);
    }
}

/* `aaa` with `aa` gives `aa a`, left to right. */
static void test_overlap(void **unused)
{
    (void)unused;
    tik_train_options options = TIK_TRAIN_OPTIONS_INIT;
    options.pattern = "\\w+";
    tik_trainer *trainer = new_trainer(&options);
    add(trainer, "aaa");
    run(trainer, 257);
    const tik_merge *merges;
    tik_train_state state;
    assert_int_equal(tik_trainer_merges(trainer, &merges), 1);
    assert_int_equal(merges[0].count, 2);
    tik_trainer_state(trainer, &state);
    assert_int_equal(state.text_tokens, 2);
    tik_encoding *encoding;
    assert_int_equal(tik_trainer_encoding(trainer, &encoding, NULL), TIK_OK);
    assert_tokens(encoding, "aaa", "aa|a");
    tik_close(encoding);
    tik_trainer_free(trainer);
}

/* ---- A text to learn from -------------------------------------------------------------------------- */

/* Words of a small language, the same on every machine. */
static char *make_text(size_t words, uint64_t seed)
{
    static const char *const parts[] = {"ba", "lo", "we", "st", "ni", "ra", "ck", "é", "日", "un", "ing"};
    char *text = malloc(words * 24 + 1);
    size_t length = 0;
    assert_non_null(text);
    for (size_t w = 0; w < words; w++) {
        for (size_t p = 0; p < 1 + w % 4; p++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            const char *part = parts[(seed >> 33) % 17 % (sizeof parts / sizeof *parts)];
            memcpy(text + length, part, strlen(part));
            length += strlen(part);
        }
        text[length++] = w % 11 ? ' ' : '\n';
    }
    text[length] = 0;
    return text;
}

/* The tokens that the trainer counts in its text are those that the encoding gives for it. */
static void assert_counts_text(const tik_trainer *trainer, const char *text)
{
    tik_encoding *encoding;
    tik_train_state state;
    tik_ids ids = TIK_IDS_INIT;
    tik_bytes bytes = TIK_BYTES_INIT;
    assert_int_equal(tik_trainer_encoding(trainer, &encoding, NULL), TIK_OK);
    assert_int_equal(tik_encode_ordinary(encoding, text, strlen(text), &ids, NULL), TIK_OK);
    tik_trainer_state(trainer, &state);
    assert_int_equal(ids.length, state.text_tokens);
    assert_int_equal(tik_decode(encoding, ids.data, ids.length, TIK_DECODE_BYTES, &bytes, NULL), TIK_OK);
    assert_int_equal(bytes.length, strlen(text));
    assert_memory_equal(bytes.data, text, bytes.length);
    tik_bytes_free(&bytes);
    tik_ids_free(&ids);
    tik_close(encoding);
}

static void test_counts_what_it_encodes(void **unused)
{
    static const char *const patterns[] = {"o200k_base", "cl100k_base", "gpt2", " ?\\w+|\\s+", "[\\s\\S]+", "\\S+|\\s"};
    char *text = make_text(3000, 5);
    (void)unused;
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        for (int ties = TIK_TIES_LOWEST; ties <= TIK_TIES_FIRST; ties++) {
            tik_train_options options = TIK_TRAIN_OPTIONS_INIT;
            options.pattern = patterns[p];
            options.ties = (tik_ties)ties;
            tik_trainer *trainer = new_trainer(&options);
            add(trainer, text);
            for (size_t size = 256; size < 700; size += 111) {
                run(trainer, size);
                assert_counts_text(trainer, text);
            }
            tik_trainer_free(trainer);
        }
    }
    free(text);
}

/* The merges of two trainers are the same. */
static void assert_same(const tik_trainer *first, const tik_trainer *second)
{
    const tik_merge *merges[2];
    tik_train_state states[2];
    size_t count = tik_trainer_merges(first, &merges[0]);
    assert_int_equal(tik_trainer_merges(second, &merges[1]), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(merges[0][i].left, merges[1][i].left);
        assert_int_equal(merges[0][i].right, merges[1][i].right);
        assert_int_equal(merges[0][i].id, merges[1][i].id);
        assert_int_equal(merges[0][i].count, merges[1][i].count);
    }
    tik_trainer_state(first, &states[0]);
    tik_trainer_state(second, &states[1]);
    assert_int_equal(states[0].bytes, states[1].bytes);
    assert_int_equal(states[0].pieces, states[1].pieces);
    assert_int_equal(states[0].distinct, states[1].distinct);
    assert_int_equal(states[0].dropped, states[1].dropped);
    assert_int_equal(states[0].tokens, states[1].tokens);
    assert_int_equal(states[0].text_tokens, states[1].text_tokens);
}

/* ---- Ways of giving texts -------------------------------------------------------------------------- */

typedef struct letter_source {
    const char *text;
    size_t at;
} letter_source;

/* One byte at a time. */
static tik_status next_letter(void *context, tik_text *slice, bool *text_ends, bool *done, tik_error *error)
{
    letter_source *source = context;
    (void)error;
    *done = source->text[source->at] == 0;
    *slice = (tik_text){source->text + source->at, *done ? 0 : 1};
    *text_ends = false;
    source->at += !*done;
    return TIK_OK;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void test_every_way_in(void **unused)
{
    (void)unused;
    char *text = make_text(2000, 8);
    char path[] = "/tmp/tik-train-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    write_file(path, text);
    tik_train_options options = TIK_TRAIN_OPTIONS_INIT;
    options.ties = TIK_TIES_FIRST;
    tik_trainer *trainers[4];
    for (unsigned i = 0; i < 4; i++) {
        options.threads = i + 1;
        trainers[i] = new_trainer(&options);
    }
    add(trainers[0], text);
    letter_source source = {text, 0};
    assert_int_equal(tik_trainer_add_source(trainers[1], next_letter, &source, NULL), TIK_OK);
    const char *paths[] = {path};
    assert_int_equal(tik_trainer_add_files(trainers[2], paths, 1, NULL), TIK_OK);
    /* In two texts, cut where no piece goes over. */
    size_t cut = (size_t)(strchr(text + strlen(text) / 2, '\n') - text) + 1;
    tik_text halves[] = {{text, cut}, {text + cut, strlen(text) - cut}};
    assert_int_equal(tik_trainer_add(trainers[3], halves, 2, NULL), TIK_OK);
    for (unsigned i = 0; i < 4; i++)
        run(trainers[i], 500);
    for (unsigned i = 1; i < 4; i++)
        assert_same(trainers[0], trainers[i]);
    for (unsigned i = 0; i < 4; i++)
        tik_trainer_free(trainers[i]);
    unlink(path);
    free(text);
}

/* ---- Results --------------------------------------------------------------------------------------- */

typedef struct result_files {
    char folder[40];
    char rank_file[80];
    char manifest[80];
    char state[80];
} result_files;

static void make_folder(result_files *files)
{
    strcpy(files->folder, "/tmp/tik-train-XXXXXX");
    assert_non_null(mkdtemp(files->folder));
    snprintf(files->rank_file, sizeof files->rank_file, "%s/mine.tiktoken", files->folder);
    snprintf(files->manifest, sizeof files->manifest, "%s/mine.json", files->folder);
    snprintf(files->state, sizeof files->state, "%s/mine.state", files->folder);
}

static void remove_folder(const result_files *files)
{
    unlink(files->rank_file);
    unlink(files->manifest);
    unlink(files->state);
    assert_int_equal(rmdir(files->folder), 0);
}

static void test_files_open_as_an_encoding(void **unused)
{
    static const char *const specials[] = {"<|end|>", "<|\"quoted\"|>"};
    (void)unused;
    result_files files;
    make_folder(&files);
    char *text = make_text(1000, 3);
    tik_train_options options = TIK_TRAIN_OPTIONS_INIT;
    options.name = "mine";
    options.pattern = " ?\\w+|[^\\w\"\\\\]|\\W";
    options.specials = specials;
    options.special_count = 2;
    tik_trainer *trainer = new_trainer(&options);
    add(trainer, text);
    run(trainer, 400);
    assert_int_equal(tik_trainer_save(trainer, files.rank_file, files.manifest, NULL), TIK_OK);
    tik_encoding *encoding;
    tik_error error;
    if (tik_open_manifest(files.manifest, &encoding, &error) != TIK_OK)
        fail_msg("%s", error.message);
    assert_string_equal(tik_name(encoding), "mine");
    assert_string_equal(tik_pattern(encoding, NULL), options.pattern);
    assert_int_equal(tik_token_count(encoding), 400);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t id;
        assert_int_equal(tik_token_id(encoding, specials[i], strlen(specials[i]), &id, NULL), TIK_OK);
        assert_int_equal(id, 400 + i);
        assert_true(tik_is_special(encoding, id));
    }
    tik_bytes ranks = TIK_BYTES_INIT;
    assert_int_equal(tik_trainer_rank_file(trainer, &ranks, NULL), TIK_OK);
    assert_memory_equal(ranks.data, "AA== 0\nAQ== 1\n", 14);
    tik_bytes_free(&ranks);
    tik_close(encoding);
    tik_trainer_free(trainer);
    free(text);
    remove_folder(&files);
}

static void test_going_on_later(void **unused)
{
    (void)unused;
    result_files files;
    make_folder(&files);
    char *text = make_text(3000, 21);
    static const size_t stops[] = {256, 257, 270, 411, 599};
    for (unsigned i = 0; i < 2 * sizeof stops / sizeof *stops; i++) {
        tik_train_options options = TIK_TRAIN_OPTIONS_INIT;
        options.pattern = "\\w+|\\n";
        options.ties = i % 2 ? TIK_TIES_FIRST : TIK_TIES_LOWEST;
        tik_trainer *through = new_trainer(&options);
        tik_trainer *part = new_trainer(&options);
        tik_trainer *later = new_trainer(&options);
        add(through, text);
        add(part, text);
        run(through, 600);
        run(part, stops[i / 2]);
        assert_int_equal(tik_trainer_save_state(part, files.state, NULL), TIK_OK);
        assert_int_equal(tik_trainer_load_state(later, files.state, NULL), TIK_OK);
        assert_same(part, later);
        run(later, 600);
        assert_same(through, later);
        assert_int_equal(tik_trainer_load_state(later, files.state, NULL), TIK_ERROR_ARGUMENT);
        options.min_count = 3;
        tik_trainer *other = new_trainer(&options);
        assert_int_equal(tik_trainer_load_state(other, files.state, NULL), TIK_ERROR_ARGUMENT);
        tik_trainer_free(other);
        tik_trainer_free(through);
        tik_trainer_free(part);
        tik_trainer_free(later);
    }
    free(text);
    remove_folder(&files);
}

/* A state that is damaged anywhere, or cut short, is refused. */
static void test_damaged_state(void **unused)
{
    (void)unused;
    result_files files;
    make_folder(&files);
    tik_train_options options = TIK_TRAIN_OPTIONS_INIT;
    tik_trainer *trainer = new_trainer(&options);
    add(trainer, "some words and some more words");
    run(trainer, 260);
    assert_int_equal(tik_trainer_save_state(trainer, files.state, NULL), TIK_OK);
    tik_trainer_free(trainer);
    FILE *file = fopen(files.state, "rb");
    assert_non_null(file);
    char content[4000];
    size_t length = fread(content, 1, sizeof content, file);
    fclose(file);
    assert_true(length > 100 && length < sizeof content);
    for (size_t i = 0; i <= length; i += 7) {
        for (int cut = 0; cut < 2; cut++) {
            file = fopen(files.state, "wb");
            assert_non_null(file);
            char kept = content[i];
            content[i] = (char)(content[i] ^ 0x20);
            fwrite(content, 1, cut ? i : length, file);
            content[i] = kept;
            fclose(file);
            trainer = new_trainer(&options);
            tik_status status = tik_trainer_load_state(trainer, files.state, NULL);
            assert_true(i == length ? !cut || status == TIK_OK : status == TIK_ERROR_FORMAT);
            tik_trainer_free(trainer);
        }
    }
    remove_folder(&files);
}

/* New tokens follow the largest id of the start; its tokens and special tokens stay what they are. */
static void test_extending(void **unused)
{
    (void)unused;
    char *text = make_text(2000, 34);
    tik_encoding *start;
    tik_encoding *extended;
    tik_train_state before;
    assert_int_equal(tik_open("r50k_base", &start, NULL), TIK_OK);
    tik_train_options options = TIK_TRAIN_OPTIONS_INIT;
    options.pattern = "r50k_base";
    options.start = start;
    tik_trainer *trainer = new_trainer(&options);
    add(trainer, text);
    run(trainer, tik_token_count(start));
    tik_trainer_state(trainer, &before);
    size_t count;
    assert_int_equal(tik_count(start, text, strlen(text), &count, NULL), TIK_OK);
    assert_int_equal(before.text_tokens, count);
    run(trainer, tik_token_count(start) + 100);
    const tik_merge *merges;
    tik_trainer_merges(trainer, &merges);
    assert_int_equal(merges[0].id, tik_largest_id(start) + 1);
    assert_counts_text(trainer, text);
    assert_int_equal(tik_trainer_encoding(trainer, &extended, NULL), TIK_OK);
    assert_int_equal(tik_token_count(extended), tik_token_count(start) + 100);
    uint32_t end;
    assert_int_equal(tik_end_of_text(extended, &end, NULL), TIK_OK);
    assert_int_equal(end, 50256);
    tik_close(extended);
    tik_close(start);
    tik_trainer_free(trainer);
    free(text);
}

/* ---- Bounds and refusals --------------------------------------------------------------------------- */

static void test_bounds(void **unused)
{
    (void)unused;
    char *text = make_text(500, 13);
    tik_train_options options = TIK_TRAIN_OPTIONS_INIT;
    options.min_count = 20;
    options.max_token_length = 4;
    tik_trainer *trainer = new_trainer(&options);
    tik_train_state state;
    const tik_merge *merges;
    add(trainer, text);
    run(trainer, 10000);
    tik_trainer_state(trainer, &state);
    assert_true(state.exhausted);
    size_t count = tik_trainer_merges(trainer, &merges);
    assert_int_equal(state.tokens, 256 + count);
    assert_true(count > 5);
    for (size_t i = 0; i < count; i++) {
        assert_true(merges[i].count >= 20);
        assert_true(strlen(token_text(trainer, merges[i].id)) <= 4);
    }
    tik_trainer_free(trainer);
    free(text);
}

static void test_nothing_to_learn_from(void **unused)
{
    static const char *const texts[] = {"", "a", "a b"};
    (void)unused;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tik_train_options options = TIK_TRAIN_OPTIONS_INIT;
        options.pattern = "\\w|\\s";
        tik_trainer *trainer = new_trainer(&options);
        tik_train_state state;
        add(trainer, texts[i]);
        run(trainer, 300);
        tik_trainer_state(trainer, &state);
        assert_true(state.exhausted);
        assert_int_equal(state.tokens, 256);
        assert_int_equal(state.text_tokens, strlen(texts[i]));
        tik_trainer_free(trainer);
    }
}

static bool stop_at_300(void *context, const tik_train_progress *progress)
{
    (void)context;
    return progress->phase == TIK_TRAIN_READING || progress->tokens < 300;
}

static void test_cancelling_keeps_what_was_made(void **unused)
{
    (void)unused;
    char *text = make_text(2000, 55);
    tik_train_options options = TIK_TRAIN_OPTIONS_INIT;
    options.callback = stop_at_300;
    tik_trainer *trainer = new_trainer(&options);
    add(trainer, text);
    assert_int_equal(tik_trainer_run(trainer, 400, NULL), TIK_ERROR_CANCELLED);
    tik_train_state state;
    tik_trainer_state(trainer, &state);
    assert_int_equal(state.tokens, 300);
    assert_counts_text(trainer, text);
    tik_trainer_free(trainer);
    free(text);
}

typedef struct refusal {
    const char *pattern;
    const char *special;
    tik_status status;
} refusal;

static void test_refusals(void **unused)
{
    static const refusal refusals[] = {
        {"o200k_bse", NULL, TIK_ERROR_NAME},
        {"(", NULL, TIK_ERROR_PATTERN},
        {"a*", NULL, TIK_ERROR_PATTERN},
        {NULL, "", TIK_ERROR_ARGUMENT},
        {NULL, "\xFF", TIK_ERROR_UTF8},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        tik_train_options options = TIK_TRAIN_OPTIONS_INIT;
        tik_trainer *trainer;
        tik_error error;
        options.pattern = refusals[i].pattern;
        options.specials = &refusals[i].special;
        options.special_count = refusals[i].special != NULL;
        assert_int_equal(tik_trainer_new(&options, &trainer, &error), refusals[i].status);
        assert_int_equal(error.status, refusals[i].status);
    }
    tik_train_options options = TIK_TRAIN_OPTIONS_INIT;
    tik_error error;
    tik_trainer *trainer = new_trainer(&options);
    const char *missing[] = {"/nonexistent/file"};
    assert_int_equal(tik_trainer_add_files(trainer, missing, 1, &error), TIK_ERROR_IO);
    assert_non_null(strstr(error.message, "/nonexistent/file"));
    tik_trainer_free(trainer);
    trainer = new_trainer(&options);
    assert_int_equal(tik_trainer_run(trainer, 255, NULL), TIK_ERROR_ARGUMENT);
    run(trainer, 256);
    assert_int_equal(tik_trainer_add(trainer, &(tik_text){"a", 1}, 1, NULL), TIK_ERROR_ARGUMENT);
    const char *bytes;
    size_t length;
    assert_int_equal(tik_trainer_token(trainer, 256, &bytes, &length, NULL), TIK_ERROR_ID);
    assert_int_equal(tik_trainer_save(trainer, "/nonexistent/a.tiktoken", NULL, &error), TIK_ERROR_IO);
    tik_trainer_free(trainer);
}

/* ---- Explaining ------------------------------------------------------------------------------------ */

/* The merges of a piece come to what the piece is encoded as, each the lowest and leftmost of its time. */
static void test_explain(void **unused)
{
    static const char *const pieces[] = {"a",      "Tokenization", " unhappiness", "aaaaaaa",
                                         "日本語", "zzqxzzqx",     " \n \n ",      "strawberry"};
    static const char *const names[] = {"r50k_base", "cl100k_base", "o200k_base"};
    (void)unused;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        tik_encoding *encoding;
        assert_int_equal(tik_open(names[n], &encoding, NULL), TIK_OK);
        for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
            size_t length = strlen(pieces[p]);
            tik_step steps[20];
            size_t count;
            assert_int_equal(tik_explain(encoding, pieces[p], length, steps, 20, &count, NULL), TIK_OK);
            tik_ids ids = TIK_IDS_INIT;
            assert_int_equal(tik_encode_piece(encoding, pieces[p], length, &ids, NULL), TIK_OK);
            assert_int_equal(ids.length, length - count);
            for (size_t i = 0; i < count; i++) {
                const char *bytes;
                size_t width;
                assert_true(steps[i].start < steps[i].split && steps[i].split < steps[i].end);
                assert_int_equal(tik_token_bytes(encoding, steps[i].id, &bytes, &width, NULL), TIK_OK);
                assert_int_equal(width, steps[i].end - steps[i].start);
                assert_memory_equal(bytes, pieces[p] + steps[i].start, width);
            }
            tik_ids_free(&ids);
        }
        tik_close(encoding);
    }
    tik_encoding *encoding;
    size_t count;
    assert_int_equal(tik_open("o200k_base", &encoding, NULL), TIK_OK);
    char *large = calloc(20000, 1);
    assert_int_equal(tik_explain(encoding, large, 20000, NULL, 0, &count, NULL), TIK_ERROR_LIMIT);
    free(large);
    tik_close(encoding);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_low_lowest),
        cmocka_unit_test(test_basso_casa),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_counts_what_it_encodes),
        cmocka_unit_test(test_every_way_in),
        cmocka_unit_test(test_files_open_as_an_encoding),
        cmocka_unit_test(test_going_on_later),
        cmocka_unit_test(test_damaged_state),
        cmocka_unit_test(test_extending),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_nothing_to_learn_from),
        cmocka_unit_test(test_cancelling_keeps_what_was_made),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_explain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
