/* tik_trainer: texts in, merges out. What each part does is said in train.h and feed.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/threads.h"
#include "registry/registry.h"
#include "train/trainer.h"

#define DEFAULT_NAME "trained"
#define DEFAULT_PATTERN "o200k_base"

/* A file is read in slices that stay in the cache until they are copied. */
#define SLICE_BYTES ((size_t)1 << 17)

/* How long a read may wait for a pipe or a terminal before the caller is asked whether to go on. */
#define PATIENCE_MS 200

/* ---- Making a trainer ----------------------------------------------------------------------------- */

static char *copy_string(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return copy;
}

static bool looks_like_name(const char *pattern)
{
    size_t length = strspn(pattern, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    return pattern[length] == 0;
}

/* A pattern of letters and digits alone splits nothing: it is meant as a name. */
static tik_status take_pattern(tik_trainer *trainer, const char *pattern, tik_error *error)
{
    const tik_manifest *manifest = NULL;
    size_t length = strlen(pattern);
    if (looks_like_name(pattern)) {
        tik_status status = tik_registry_find(pattern, &manifest, error);
        if (status != TIK_OK)
            return status;
        pattern = manifest->pattern;
        length = manifest->pattern_length;
    }
    trainer->pattern = copy_string(pattern, length);
    trainer->pattern_length = length;
    if (!trainer->pattern)
        return tik_fail_memory(error, length);
    return tik_splitter_new(trainer->pattern, length, &trainer->splitter, error);
}

static tik_status take_specials(tik_trainer *trainer, const tik_train_options *options, tik_error *error)
{
    if (options->special_count == 0)
        return TIK_OK;
    trainer->specials = calloc(options->special_count, sizeof *trainer->specials);
    if (!trainer->specials)
        return tik_fail_memory(error, options->special_count * sizeof *trainer->specials);
    for (size_t i = 0; i < options->special_count; i++) {
        const char *text = options->specials[i];
        if (*text == 0)
            return tik_fail(error, TIK_ERROR_ARGUMENT, "a special token without text");
        if (tik_utf8_valid_prefix((const uint8_t *)text, strlen(text)) < strlen(text))
            return tik_fail(error, TIK_ERROR_UTF8, "the special token %s is not UTF-8", text);
        for (size_t k = 0; k < i; k++)
            if (strcmp(trainer->specials[k], text) == 0)
                return tik_fail(error, TIK_ERROR_ARGUMENT, "the special token %s is given twice", text);
        trainer->specials[i] = copy_string(text, strlen(text));
        if (!trainer->specials[i])
            return tik_fail_memory(error, strlen(text));
        trainer->special_count++;
    }
    return TIK_OK;
}

/* The vocabulary to start from: its tokens with their ids; what is learned comes after its largest. */
static tik_status take_start(tik_trainer *trainer, const tik_encoding *start, tik_error *error)
{
    tik_status status = tik_lexicon_init(&trainer->lexicon, start != NULL, error);
    if (!start || status != TIK_OK)
        return status;
    union {
        const tik_encoding *lent;
        tik_encoding *kept;
    } reference = {start};
    trainer->start = tik_retain(reference.kept);
    uint32_t largest = tik_largest_id(start);
    for (uint32_t id = 0; id <= largest && status == TIK_OK; id++) {
        const char *bytes;
        size_t length;
        if (tik_is_special(start, id) || tik_token_bytes(start, id, &bytes, &length, NULL) != TIK_OK)
            continue;
        status = tik_lexicon_add(&trainer->lexicon, bytes, length, id, error);
    }
    trainer->lexicon.limit = (size_t)largest + 1;
    return status;
}

static tik_status fill(tik_trainer *trainer, const tik_train_options *options, tik_error *error)
{
    const char *name = options->name ? options->name : DEFAULT_NAME;
    trainer->name = copy_string(name, strlen(name));
    if (!trainer->name)
        return tik_fail_memory(error, strlen(name));
    trainer->rules = (tik_rules){options->ties, options->min_count ? options->min_count : 1,
                                 options->max_token_length};
    trainer->callback = options->callback;
    trainer->context = options->context;
    tik_status status = take_pattern(trainer, options->pattern ? options->pattern : DEFAULT_PATTERN, error);
    if (status == TIK_OK)
        status = take_specials(trainer, options, error);
    if (status == TIK_OK)
        status = take_start(trainer, options->start, error);
    trainer->feed = (tik_feed){
        .splitter = trainer->splitter,
        .threads = tik_threads_for(options->threads, SIZE_MAX),
        .max_pieces = options->max_pieces,
        .prune = options->prune_pieces,
        .replace_invalid = options->replace_invalid,
        .callback = options->callback,
        .context = options->context,
    };
    return status;
}

tik_status tik_trainer_new(const tik_train_options *options, tik_trainer **out, tik_error *error)
{
    tik_train_options defaults = TIK_TRAIN_OPTIONS_INIT;
    if (!options)
        options = &defaults;
    if (options->size != sizeof *options)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "the size of the training options is %zu, not %zu", options->size,
                        sizeof *options);
    if (options->ties != TIK_TIES_LOWEST && options->ties != TIK_TIES_FIRST)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "no such rule for ties: %d", (int)options->ties);
    tik_trainer *trainer = calloc(1, sizeof *trainer);
    if (!trainer)
        return tik_fail_memory(error, sizeof *trainer);
    tik_status status = fill(trainer, options, error);
    if (status != TIK_OK) {
        tik_trainer_free(trainer);
        return status;
    }
    *out = trainer;
    return TIK_OK;
}

void tik_trainer_free(tik_trainer *trainer)
{
    if (!trainer)
        return;
    for (size_t i = 0; i < trainer->special_count; i++)
        free(trainer->specials[i]);
    free(trainer->specials);
    free(trainer->name);
    free(trainer->pattern);
    tik_close(trainer->start);
    tik_learner_free(trainer->learner);
    tik_lexicon_free(&trainer->lexicon);
    tik_feed_free(&trainer->feed);
    tik_splitter_free(trainer->splitter);
    free(trainer->merges);
    free(trainer);
}

/* ---- Texts ---------------------------------------------------------------------------------------- */

tik_status tik_trainer_add_source(tik_trainer *trainer, tik_train_source source, void *context, tik_error *error)
{
    if (trainer->learner)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "texts can be added before the first merge only");
    return tik_feed_take(&trainer->feed, source, context, error);
}

typedef struct text_list {
    const tik_text *texts;
    size_t count;
} text_list;

static tik_status next_text(void *context, tik_text *slice, bool *text_ends, bool *done, tik_error *error)
{
    text_list *list = context;
    (void)error;
    *done = list->count == 0;
    if (*done)
        return TIK_OK;
    *slice = *list->texts++;
    list->count--;
    *text_ends = true;
    return TIK_OK;
}

tik_status tik_trainer_add(tik_trainer *trainer, const tik_text *texts, size_t count, tik_error *error)
{
    text_list list = {texts, count};
    return tik_trainer_add_source(trainer, next_text, &list, error);
}

typedef struct file_list {
    const tik_trainer *trainer;
    const char *const *paths;
    size_t count;
    int descriptor; /* of the file at hand, -1 for none */
    char *buffer;
} file_list;

static tik_status file_failed(const char *what, const char *path, tik_error *error)
{
    return tik_fail(error, TIK_ERROR_IO, "cannot %s %s: %s", what, path, strerror(errno));
}

/* Waits until there is something to read, or an error that reading will tell. */
static tik_status wait_for_data(const file_list *files, tik_error *error)
{
    const tik_trainer *trainer = files->trainer;
    struct pollfd file = {files->descriptor, POLLIN, 0};
    int ready;
    while ((ready = poll(&file, 1, PATIENCE_MS)) == 0 || (ready < 0 && errno == EINTR)) {
        tik_train_progress progress = {TIK_TRAIN_READING, trainer->feed.bytes, 0, 0};
        if (trainer->callback && !trainer->callback(trainer->context, &progress))
            return tik_fail(error, TIK_ERROR_CANCELLED, "stopped while reading, after %llu bytes",
                            (unsigned long long)trainer->feed.bytes);
    }
    return TIK_OK;
}

static tik_status next_slice(void *context, tik_text *slice, bool *text_ends, bool *done, tik_error *error)
{
    file_list *files = context;
    *done = files->count == 0;
    if (*done)
        return TIK_OK;
    const char *path = files->paths[0];
    bool standard = strcmp(path, "-") == 0;
    if (files->descriptor < 0)
        files->descriptor = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (files->descriptor < 0)
        return file_failed("open", path, error);
    tik_status status = wait_for_data(files, error);
    if (status != TIK_OK)
        return status;
    ssize_t got;
    do
        got = read(files->descriptor, files->buffer, SLICE_BYTES);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return file_failed("read", path, error);
    *slice = (tik_text){files->buffer, (size_t)got};
    *text_ends = got == 0;
    if (got == 0) {
        if (!standard)
            close(files->descriptor);
        files->descriptor = -1;
        files->paths++;
        files->count--;
    }
    return TIK_OK;
}

tik_status tik_trainer_add_files(tik_trainer *trainer, const char *const *paths, size_t count, tik_error *error)
{
    file_list files = {trainer, paths, count, -1, malloc(SLICE_BYTES)};
    if (!files.buffer)
        return tik_fail_memory(error, SLICE_BYTES);
    tik_status status = tik_trainer_add_source(trainer, next_slice, &files, error);
    if (status == TIK_ERROR_UTF8 && error)
        tik_fail_at(error, status, TIK_NOWHERE, error->offset,
                    "%s is not UTF-8 at byte %zu: mend it, or have such bytes replaced", paths[trainer->feed.refused],
                    error->offset);
    if (files.descriptor > STDIN_FILENO)
        close(files.descriptor);
    free(files.buffer);
    return status;
}

/* ---- Learning ------------------------------------------------------------------------------------- */

tik_status tik_trainer_begin(tik_trainer *trainer, size_t bytes, size_t pieces, tik_error *error)
{
    tik_status status = tik_learner_new(&trainer->rules, &trainer->lexicon, &trainer->learner, error);
    return status == TIK_OK ? tik_learner_reserve(trainer->learner, bytes, pieces, error) : status;
}

tik_status tik_trainer_piece(tik_trainer *trainer, const uint8_t *bytes, size_t length, uint64_t weight,
                             tik_ids *symbols, tik_error *error)
{
    tik_status status = TIK_OK;
    symbols->length = 0;
    if (trainer->start) {
        status = tik_encode_piece(trainer->start, (const char *)bytes, length, symbols, error);
    } else {
        void *data = symbols->data;
        status = tik_grow(&data, &symbols->capacity, length, sizeof *symbols->data, error);
        symbols->data = data;
        if (status == TIK_OK)
            for (; symbols->length < length; symbols->length++)
                symbols->data[symbols->length] = bytes[symbols->length];
    }
    if (status != TIK_OK)
        return status;
    trainer->distinct++;
    trainer->alone += symbols->length == 1 ? weight : 0;
    return tik_learner_add(trainer->learner, symbols->data, symbols->length, weight, error);
}

/* Hands the pieces that were counted to the learner. */
static tik_status hand_over(tik_trainer *trainer, tik_error *error)
{
    tik_feed *feed = &trainer->feed;
    bool first = trainer->rules.ties == TIK_TIES_FIRST;
    size_t count = feed->table.count;
    const tik_table_entry *entries = tik_feed_sort(feed, first ? TIK_FEED_BY_APPEARANCE : TIK_FEED_BY_COUNT);
    size_t bytes = 0;
    size_t pairs = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length;
        tik_table_bytes(&entries[i], &length);
        bytes += length > 1 ? length : 0;
        pairs += length > 1;
    }
    tik_ids symbols = TIK_IDS_INIT;
    tik_status status = tik_trainer_begin(trainer, bytes, pairs, error);
    for (size_t i = 0; i < count && status == TIK_OK; i++) {
        size_t length;
        const uint8_t *piece = tik_table_bytes(&entries[i], &length);
        status = tik_trainer_piece(trainer, piece, length, entries[i].value, &symbols, error);
    }
    tik_ids_free(&symbols);
    tik_table_free(&feed->table);
    return status == TIK_OK ? tik_learner_start(trainer->learner, error) : status;
}

tik_status tik_trainer_reserve_merge(tik_trainer *trainer, tik_error *error)
{
    void *merges = trainer->merges;
    tik_status status = tik_grow(&merges, &trainer->merge_capacity, trainer->merge_count + 1, sizeof *trainer->merges,
                                 error);
    trainer->merges = merges;
    return status;
}

tik_status tik_trainer_run(tik_trainer *trainer, size_t tokens, tik_error *error)
{
    tik_status status = TIK_OK;
    if (tokens < trainer->lexicon.count)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "a vocabulary of %zu tokens is asked for, and there are %zu already",
                        tokens, trainer->lexicon.count);
    if (!trainer->learner)
        status = hand_over(trainer, error);
    while (status == TIK_OK && trainer->lexicon.count < tokens && !trainer->exhausted) {
        tik_train_progress progress = {TIK_TRAIN_MERGING, trainer->feed.bytes, trainer->lexicon.count, tokens};
        if (trainer->callback && !trainer->callback(trainer->context, &progress))
            return tik_fail(error, TIK_ERROR_CANCELLED, "stopped at %zu tokens of %zu", trainer->lexicon.count,
                            tokens);
        status = tik_trainer_reserve_merge(trainer, error);
        if (status != TIK_OK)
            break;
        status = tik_learner_step(trainer->learner, &trainer->merges[trainer->merge_count], &trainer->exhausted,
                                  error);
        trainer->merge_count += status == TIK_OK && !trainer->exhausted;
    }
    return status;
}

/* ---- What has come of it -------------------------------------------------------------------------- */

void tik_trainer_state(const tik_trainer *trainer, tik_train_state *state)
{
    *state = (tik_train_state){
        .bytes = trainer->feed.bytes,
        .pieces = trainer->feed.pieces,
        .distinct = trainer->learner ? trainer->distinct : trainer->feed.table.count,
        .dropped = trainer->feed.dropped,
        .pruned = trainer->feed.pruned,
        .tokens = trainer->lexicon.count,
        .text_tokens = trainer->learner ? tik_learner_tokens(trainer->learner) : 0,
        .exhausted = trainer->exhausted,
    };
}

size_t tik_trainer_merges(const tik_trainer *trainer, const tik_merge **merges)
{
    *merges = trainer->merges;
    return trainer->merge_count;
}

tik_status tik_trainer_token(const tik_trainer *trainer, uint32_t id, const char **bytes, size_t *length,
                             tik_error *error)
{
    if (id >= trainer->lexicon.limit || trainer->lexicon.lengths[id] == 0)
        return tik_fail(error, TIK_ERROR_ID, "no token has the id %u", id);
    *bytes = (const char *)tik_lexicon_bytes(&trainer->lexicon, id);
    *length = trainer->lexicon.lengths[id];
    return TIK_OK;
}

tik_status tik_trainer_specials(const tik_trainer *trainer, tik_special **specials, size_t *count, tik_error *error)
{
    size_t kept = trainer->start ? tik_special_count(trainer->start) : 0;
    tik_special *list = calloc(kept + trainer->special_count + 1, sizeof *list);
    if (!list)
        return tik_fail_memory(error, (kept + trainer->special_count + 1) * sizeof *list);
    tik_status status = TIK_OK;
    for (size_t i = 0; i < kept && status == TIK_OK; i++)
        status = tik_special_at(trainer->start, i, &list[i], error);
    for (size_t i = 0; i < trainer->special_count; i++) {
        const char *text = trainer->specials[i];
        list[kept + i] = (tik_special){text, strlen(text), (uint32_t)(trainer->lexicon.limit + i)};
    }
    if (status != TIK_OK) {
        free(list);
        return status;
    }
    *specials = list;
    *count = kept + trainer->special_count;
    return TIK_OK;
}

tik_token *tik_trainer_tokens(const tik_trainer *trainer)
{
    const tik_lexicon *lexicon = &trainer->lexicon;
    tik_token *tokens = calloc(lexicon->count + 1, sizeof *tokens);
    size_t count = 0;
    for (uint32_t id = 0; tokens && id < lexicon->limit && id < lexicon->capacity; id++)
        if (lexicon->lengths[id])
            tokens[count++] = (tik_token){(const char *)tik_lexicon_bytes(lexicon, id), lexicon->lengths[id], id};
    return tokens;
}

tik_status tik_trainer_encoding(const tik_trainer *trainer, tik_encoding **encoding, tik_error *error)
{
    tik_special *specials;
    size_t special_count;
    tik_token *tokens = tik_trainer_tokens(trainer);
    if (!tokens)
        return tik_fail_memory(error, trainer->lexicon.count * sizeof *tokens);
    tik_status status = tik_trainer_specials(trainer, &specials, &special_count, error);
    if (status == TIK_OK) {
        tik_definition definition = {
            .size = sizeof definition,
            .name = trainer->name,
            .pattern = trainer->pattern,
            .pattern_length = trainer->pattern_length,
            .tokens = tokens,
            .token_count = trainer->lexicon.count,
            .specials = specials,
            .special_count = special_count,
        };
        status = tik_open_definition(&definition, encoding, error);
        free(specials);
    }
    free(tokens);
    return status;
}
