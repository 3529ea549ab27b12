/*
 * Memory that cannot be had: each allocation of each scenario is refused in turn, once by itself and once
 * with all that follow it. The outcome must be TIK_ERROR_MEMORY, or success where the library can do
 * without; never a crash, a leak, or a result half made.
 *
 * This program's own malloc takes the place of the C library's, for libtik and PCRE2 alike; it needs
 * glibc, and no sanitizer in its way.
 */
#include <jansson.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <openssl/crypto.h>

#include "tik.h"

/* ---- The allocator ------------------------------------------------------------------------- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *block, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
void free(void *block);

static atomic_long live;              /* blocks not freed yet */
static atomic_long asked;             /* allocations since the count began */
static atomic_long refuse = LONG_MAX; /* the first allocation that is refused, from 0 */
static atomic_bool from_there_on;     /* and all after it */

static bool is_refused(void)
{
    long number = atomic_fetch_add(&asked, 1);
    long first = atomic_load(&refuse);
    return number == first || (number > first && atomic_load(&from_there_on));
}

static void *counted(void *block)
{
    if (block)
        atomic_fetch_add(&live, 1);
    return block;
}

void *malloc(size_t size)
{
    return is_refused() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return is_refused() ? NULL : counted(__libc_calloc(count, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return is_refused() ? NULL : counted(__libc_memalign(alignment, size));
}

void *realloc(void *block, size_t size)
{
    if (is_refused())
        return NULL;
    void *grown = __libc_realloc(block, size);
    return block ? grown : counted(grown);
}

void free(void *block)
{
    if (block)
        atomic_fetch_sub(&live, 1);
    __libc_free(block);
}

/*
 * Jansson's allocations are not refused: without memory it calls a text malformed, or drops characters of
 * a string, which no caller can see.
 */
static void *malloc_for_jansson(size_t size)
{
    return counted(__libc_malloc(size));
}

/* libcrypto's are refused but not counted: it keeps what it says about its own failures. */
static void *malloc_for_crypto(size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return is_refused() ? NULL : __libc_malloc(size);
}

static void *realloc_for_crypto(void *block, size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return is_refused() ? NULL : __libc_realloc(block, size);
}

static void free_for_crypto(void *block, const char *file, int line)
{
    (void)file;
    (void)line;
    __libc_free(block);
}

/* ---- What the scenarios work on ------------------------------------------------------------ */

enum { BYTES = 256, LONG_TEXT = 40000 };

static char byte_texts[BYTES];
static tik_token tokens[BYTES + 3];
static const tik_special specials[] = {{"<|endoftext|>", 13, 300}, {"<|end|>", 7, 301}};
static tik_definition definition;
static char long_text[LONG_TEXT]; /* one piece of random letters, then words and specials */
static char ranks_path[4096];
static char manifest_path[4096];
static char prices_path[4096];

static tik_encoding *encoding; /* cl100k_base, opened anew for each run: it keeps an encoder for the next call */

static void write_file(const char *name, const char *data, size_t length, char path[4096])
{
    const char *folder = getenv("TMPDIR");
    assert_true(snprintf(path, 4096, "%s/tik-test-memory-%ld-%s", folder ? folder : "/tmp", (long)getpid(), name) > 0);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* A rank file of the single bytes and a manifest beside it. */
static void write_vocabulary(void)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char ranks[BYTES * 10];
    size_t length = 0;
    for (unsigned byte = 0; byte < BYTES; byte++)
        length += (size_t)sprintf(ranks + length, "%c%c== %u\n", digits[byte >> 2], digits[(byte & 3) << 4], byte);
    write_file("ranks", ranks, length, ranks_path);
    char manifest[8192];
    int written = snprintf(manifest, sizeof manifest,
                           "{\"name\": \"toy\", \"pattern\": \"[a-z]+|[^a-z]\", \"rank_file\": \"%s\",\n"
                           " \"special_tokens\": {\"<|a|>\": 256, \"<|b|>\": 257}}\n",
                           strrchr(ranks_path, '/') + 1);
    write_file("manifest", manifest, (size_t)written, manifest_path);
    static const char list[] = "{\"currency\": \"EUR\", \"models\": [{\"name\": \"a\", \"names\": [\"b\"], \"prefixes\": "
                               "[\"ab-\"], \"price\": {\"input\": \"0.50\"}}]}";
    write_file("prices", list, sizeof list - 1, prices_path);
}

static void prepare(void)
{
    for (size_t i = 0; i < BYTES; i++) {
        byte_texts[i] = (char)i;
        tokens[i] = (tik_token){&byte_texts[i], 1, (uint32_t)i};
    }
    tokens[BYTES] = (tik_token){"th", 2, 256};
    tokens[BYTES + 1] = (tik_token){"the", 3, 257};
    tokens[BYTES + 2] = (tik_token){" the", 4, 258};
    definition = (tik_definition){.size = sizeof definition, .name = "toy", .pattern = "[a-z]+| ?[^a-z]|\\p{N}+",
                                  .pattern_length = 22, .tokens = tokens, .token_count = BYTES + 3,
                                  .specials = specials, .special_count = 2};
    uint32_t seed = 1;
    for (size_t i = 0; i < LONG_TEXT; i++) {
        seed = seed * 1664525 + 1013904223;
        long_text[i] = i < LONG_TEXT / 2 ? (char)('a' + (seed >> 16) % 26) : " the end\xC3\xA9 <|endoftext|>"[i % 24];
    }
    write_vocabulary();
}

/* ---- The scenarios: each frees all it made; on failure its results must be untouched --------- */

static tik_status open_by_name(tik_error *error)
{
    tik_encoding *opened = NULL;
    tik_status status = tik_open_model("gpt-4o", &opened, error);
    assert_int_equal(status == TIK_OK, opened != NULL);
    tik_close(opened);
    return status;
}

static tik_status open_unknown_name(tik_error *error)
{
    tik_encoding *opened = NULL;
    tik_status status = tik_open("o200k_bass", &opened, error);
    assert_null(opened);
    return status == TIK_ERROR_NAME ? TIK_OK : status;
}

static tik_status open_definition(tik_error *error)
{
    tik_encoding *opened = NULL;
    tik_ids ids = TIK_IDS_INIT;
    tik_status status = tik_open_definition(&definition, &opened, error);
    assert_int_equal(status == TIK_OK, opened != NULL);
    if (status == TIK_OK)
        status = tik_encode_ordinary(opened, "the end of the story", 20, &ids, error);
    assert_int_equal(ids.length > 0, status == TIK_OK);
    if (status == TIK_OK)
        assert_int_equal(ids.data[0], 257);
    tik_ids_free(&ids);
    tik_close(opened);
    return status;
}

static tik_status open_manifest(tik_error *error)
{
    tik_encoding *opened = NULL;
    tik_status status = tik_open_manifest(manifest_path, &opened, error);
    assert_int_equal(status == TIK_OK, opened != NULL);
    tik_close(opened);
    return status;
}

static tik_status encode(tik_error *error)
{
    tik_options options = TIK_OPTIONS_INIT;
    options.allowed = TIK_SET_ALL;
    tik_encoder *encoder = NULL;
    tik_ids ids = TIK_IDS_INIT;
    tik_status status = tik_encoder_new(encoding, &encoder, error);
    if (status == TIK_OK)
        status = tik_encoder_encode(encoder, long_text, LONG_TEXT, &options, &ids, error);
    assert_int_equal(ids.length > 0, status == TIK_OK);
    tik_encoder_free(encoder);
    tik_ids_free(&ids);
    return status;
}

static tik_status encode_invalid(tik_error *error)
{
    static const char *const allowed[] = {"<|endoftext|>"};
    tik_options options = TIK_OPTIONS_INIT;
    options.allowed = TIK_SET_LISTED;
    options.allowed_list = allowed;
    options.allowed_count = 1;
    options.replace_invalid = true;
    tik_ids ids = TIK_IDS_INIT;
    size_t count = SIZE_MAX;
    tik_status status = tik_encode(encoding, "bad \xFF <|endoftext|>\xC3", 20, &options, &ids, error);
    assert_int_equal(ids.length > 0, status == TIK_OK);
    if (status == TIK_OK)
        status = tik_count_with(encoding, "bad \xFF <|endoftext|>\xC3", 20, &options, &count, error);
    assert_int_equal(count != SIZE_MAX, status == TIK_OK);
    tik_ids_free(&ids);
    return status;
}

static tik_status raw_bytes(tik_error *error)
{
    tik_ids ids = TIK_IDS_INIT;
    tik_status status = tik_encode_bytes(encoding, "some words \xE2\x82", 13, &ids, error);
    assert_int_equal(ids.length > 0, status == TIK_OK);
    if (status == TIK_OK)
        status = tik_encode_piece(encoding, long_text, LONG_TEXT / 2, &ids, error);
    tik_ids_free(&ids);
    return status;
}

static tik_status offsets_and_pieces(tik_error *error)
{
    tik_options options = TIK_OPTIONS_ORDINARY;
    tik_ids ids = TIK_IDS_INIT;
    tik_sizes offsets = TIK_SIZES_INIT;
    tik_sizes ends = TIK_SIZES_INIT;
    tik_status status = tik_encode_offsets(encoding, "na\xC3\xAFve cases", 12, &options, &ids, &offsets, error);
    assert_int_equal(offsets.length, ids.length);
    assert_int_equal(ids.length > 0, status == TIK_OK);
    if (status == TIK_OK)
        status = tik_pieces(encoding, long_text, LONG_TEXT, &ends, error);
    assert_int_equal(ends.length > 0, status == TIK_OK);
    tik_ids_free(&ids);
    tik_sizes_free(&offsets);
    tik_sizes_free(&ends);
    return status;
}

static tik_status unstable(tik_error *error)
{
    tik_ids stable = TIK_IDS_INIT;
    tik_ids completions = TIK_IDS_INIT;
    tik_sizes starts = TIK_SIZES_INIT;
    tik_options options = TIK_OPTIONS_ORDINARY;
    tik_status status = tik_encode_unstable(encoding, "hello fanta", 11, &options, &stable, &completions, &starts, error);
    assert_int_equal(starts.length > 0, status == TIK_OK);
    assert_int_equal(stable.length > 0, status == TIK_OK);
    tik_ids_free(&stable);
    tik_ids_free(&completions);
    tik_sizes_free(&starts);
    return status;
}

static tik_status batch(tik_error *error)
{
    const tik_text texts[] = {{"one", 3}, {long_text, LONG_TEXT / 4}, {"", 0}, {"two words", 9}};
    tik_options options = TIK_OPTIONS_ORDINARY;
    options.threads = 2;
    tik_ids ids = TIK_IDS_INIT;
    tik_sizes starts = TIK_SIZES_INIT;
    size_t counts[4];
    tik_status status = tik_encode_batch(encoding, texts, 4, &options, &ids, &starts, error);
    assert_int_equal(starts.length, status == TIK_OK ? 5 : 0);
    assert_int_equal(ids.length > 0, status == TIK_OK);
    if (status == TIK_OK)
        status = tik_count_batch(encoding, texts, 4, &options, counts, error);
    tik_ids_free(&ids);
    tik_sizes_free(&starts);
    return status;
}

static tik_status stream(tik_error *error)
{
    tik_options options = TIK_OPTIONS_INIT;
    options.allowed = TIK_SET_ALL;
    tik_stream *stream = NULL;
    tik_ids ids = TIK_IDS_INIT;
    tik_status status = tik_stream_new(encoding, &options, &stream, error);
    for (size_t at = 0; status == TIK_OK && at < LONG_TEXT; at += 8000)
        status = tik_stream_feed(stream, long_text + at, 8000, &ids, error);
    if (status == TIK_OK)
        status = tik_stream_finish(stream, &ids, error);
    tik_stream_free(stream);
    tik_ids_free(&ids);
    return status;
}

static tik_status decode(tik_error *error)
{
    static const uint32_t ids[] = {3404, 2065, 374, 7155, 936, 59958, 100257};
    enum { COUNT = sizeof ids / sizeof ids[0] };
    static const size_t id_starts[] = {0, 3, 4, COUNT};
    tik_bytes bytes = TIK_BYTES_INIT;
    tik_bytes many = TIK_BYTES_INIT;
    tik_bytes text = TIK_BYTES_INIT;
    tik_sizes starts = TIK_SIZES_INIT;
    tik_sizes offsets = TIK_SIZES_INIT;
    tik_decoder *decoder = NULL;
    tik_status status = tik_decode(encoding, ids, COUNT, TIK_DECODE_REPLACE, &bytes, error);
    assert_int_equal(bytes.length > 0, status == TIK_OK);
    if (status == TIK_OK)
        status = tik_decode_batch(encoding, ids, id_starts, 3, TIK_DECODE_STRICT, 2, &many, &starts, error);
    assert_int_equal(starts.length, status == TIK_OK ? 4 : 0);
    if (status == TIK_OK)
        status = tik_decode_offsets(encoding, ids, COUNT, &text, &offsets, error);
    assert_int_equal(offsets.length, status == TIK_OK ? COUNT : 0);
    if (status == TIK_OK)
        status = tik_decoder_new(encoding, TIK_DECODE_IGNORE, &decoder, error);
    if (status == TIK_OK)
        status = tik_decoder_feed(decoder, ids, COUNT, &text, error);
    if (status == TIK_OK)
        status = tik_decoder_finish(decoder, &text, error);
    tik_decoder_free(decoder);
    tik_bytes_free(&bytes);
    tik_bytes_free(&many);
    tik_bytes_free(&text);
    tik_sizes_free(&starts);
    tik_sizes_free(&offsets);
    return status;
}

static tik_status tokens_by_bytes(tik_error *error)
{
    tik_ids ids = TIK_IDS_INIT;
    tik_status status = tik_tokens_sorted(encoding, &ids, error);
    assert_int_equal(ids.length, status == TIK_OK ? 100256 : 0);
    tik_ids_free(&ids);
    return status;
}

static tik_status cut(tik_error *error)
{
    size_t start = 0;
    size_t end = 0;
    size_t count = 0;
    tik_chunker *chunker = NULL;
    tik_chunk chunk;
    bool found = true;
    tik_status status = tik_truncate(encoding, long_text + LONG_TEXT / 2, 2000, 50, TIK_KEEP_END, NULL, &start, &end,
                                     &count, error);
    assert_int_equal(end > start, status == TIK_OK);
    if (status == TIK_OK)
        status = tik_chunker_new(encoding, 40, 5, NULL, &chunker, error);
    if (status == TIK_OK)
        status = tik_chunker_feed(chunker, long_text + LONG_TEXT / 2, 2000, error);
    if (status == TIK_OK)
        status = tik_chunker_finish(chunker, error);
    while (status == TIK_OK && found)
        status = tik_chunker_next(chunker, &chunk, &found, error);
    tik_chunker_free(chunker);
    return status;
}

static tik_status train(tik_error *error)
{
    const tik_text text = {"low low low lower lowest new newer newest wide wider widest", 59};
    tik_train_options options = TIK_TRAIN_OPTIONS_INIT;
    tik_trainer *trainer = NULL;
    tik_encoding *learned = NULL;
    tik_ids ids = TIK_IDS_INIT;
    options.threads = 1;
    tik_status status = tik_trainer_new(&options, &trainer, error);
    if (status == TIK_OK)
        status = tik_trainer_add(trainer, &text, 1, error);
    if (status == TIK_OK)
        status = tik_trainer_run(trainer, 264, error);
    if (status == TIK_OK)
        status = tik_trainer_encoding(trainer, &learned, error);
    if (status == TIK_OK)
        status = tik_encode_ordinary(learned, "slowest", 7, &ids, error);
    assert_int_equal(ids.length > 0, status == TIK_OK);
    tik_ids_free(&ids);
    tik_close(learned);
    tik_trainer_free(trainer);
    return status;
}

static tik_status price_list(tik_error *error)
{
    tik_prices *prices = NULL;
    tik_model_info info = TIK_MODEL_INFO_INIT;
    tik_status status = tik_prices_open(prices_path, &prices, error);
    if (status == TIK_OK)
        status = tik_prices_find(prices, "ab-c", &info, error);
    tik_prices_close(prices);
    return status;
}

static tik_status chat_for(const char *model, tik_error *error)
{
    static const char request[] =
        "{\"messages\": [{\"role\": \"system\", \"content\": \"Be brief <|end|>\"},"
        "{\"role\": \"user\", \"name\": \"ann\", \"content\": [{\"type\": \"text\", \"text\": \"a\"},"
        "{\"type\": \"image_url\"}]},"
        "{\"role\": \"assistant\", \"tool_calls\": [{\"id\": \"1\", \"type\": \"function\", \"function\":"
        "{\"name\": \"f\", \"arguments\": \"{}\"}}]},"
        "{\"role\": \"tool\", \"tool_call_id\": \"1\", \"content\": \"b\"}],"
        "\"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"f\", \"description\": \"g\", \"parameters\":"
        "{\"type\": \"object\", \"required\": [\"x\"], \"properties\": {\"x\": {\"type\": [\"string\", \"null\"],"
        "\"default\": {\"a\": [1.5, \"n\"]}}, \"y\": {\"oneOf\": [{\"type\": \"string\", \"enum\": [\"u\"]}]}}}}}]}";
    tik_chat_options options = TIK_CHAT_OPTIONS_INIT;
    tik_chat *chat = NULL;
    options.model = model;
    tik_status status = tik_chat_read(request, sizeof request - 1, &options, &chat, error);
    assert_int_equal(chat != NULL, status == TIK_OK);
    tik_chat_free(chat);
    return status;
}

static tik_status chat_by_rules(tik_error *error)
{
    return chat_for("gpt-4o", error);
}

static tik_status chat_in_harmony(tik_error *error)
{
    return chat_for("gpt-oss-20b", error);
}

/* ---- The runs ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    tik_status (*run)(tik_error *error);
} scenarios[] = {
    {"open by name", open_by_name},
    {"open an unknown name", open_unknown_name},
    {"open a definition", open_definition},
    {"open a manifest", open_manifest},
    {"encode", encode},
    {"encode with bad UTF-8 replaced", encode_invalid},
    {"raw bytes", raw_bytes},
    {"offsets and pieces", offsets_and_pieces},
    {"unstable completions", unstable},
    {"batch", batch},
    {"stream", stream},
    {"decode", decode},
    {"tokens sorted", tokens_by_bytes},
    {"truncate and chunk", cut},
    {"train", train},
    {"price list", price_list},
    {"chat by the published rules", chat_by_rules},
    {"chat in the harmony format", chat_in_harmony},
};
enum { SCENARIOS = sizeof scenarios / sizeof scenarios[0] };

static tik_status run_refusing(size_t scenario, long first, bool all_after, tik_error *error)
{
    assert_int_equal(tik_open("cl100k_base", &encoding, NULL), TIK_OK);
    atomic_store(&from_there_on, all_after);
    atomic_store(&asked, 0);
    atomic_store(&refuse, first);
    tik_status status = scenarios[scenario].run(error);
    atomic_store(&refuse, LONG_MAX);
    tik_close(encoding);
    return status;
}

static void each_allocation_fails_in_turn(void **state)
{
    size_t scenario = *(const size_t *)*state;
    tik_error error = {TIK_OK, 0, 0, ""};
    /* The first run makes what is made once in a process: compiled patterns, the module for rank files. */
    if (run_refusing(scenario, LONG_MAX, false, &error) != TIK_OK)
        fail_msg("%s: %s", scenarios[scenario].name, error.message);
    for (int all_after = 0; all_after < 2; all_after++) {
        long refused = 0;
        for (;; refused++) {
            long before = atomic_load(&live);
            tik_status status = run_refusing(scenario, refused, all_after != 0, &error);
            if (atomic_load(&asked) <= refused) {
                assert_int_equal(status, TIK_OK);
                break;
            }
            if (status != TIK_OK && status != TIK_ERROR_MEMORY)
                fail_msg("%s, allocation %ld: %s: %s", scenarios[scenario].name, refused, tik_status_text(status),
                         error.message);
            if (status == TIK_ERROR_MEMORY)
                assert_int_equal(error.status, TIK_ERROR_MEMORY);
            long leaked = atomic_load(&live) - before;
            if (leaked > 0)
                fail_msg("%s, allocation %ld: %ld blocks are not freed", scenarios[scenario].name, refused, leaked);
        }
    }
}

static int set_up(void **state)
{
    (void)state;
    json_set_alloc_funcs(malloc_for_jansson, free);
    assert_int_equal(CRYPTO_set_mem_functions(malloc_for_crypto, realloc_for_crypto, free_for_crypto), 1);
    prepare();
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    remove(ranks_path);
    remove(manifest_path);
    remove(prices_path);
    return 0;
}

int main(void)
{
    static size_t numbers[SCENARIOS];
    struct CMUnitTest tests[SCENARIOS];
    for (size_t i = 0; i < SCENARIOS; i++) {
        numbers[i] = i;
        tests[i] = (struct CMUnitTest){.name = scenarios[i].name, .test_func = each_allocation_fails_in_turn,
                                       .initial_state = &numbers[i]};
    }
    return cmocka_run_group_tests_name("memory", tests, set_up, clean_up);
}
