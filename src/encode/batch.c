/*
 * Many texts on several threads, and many lists of ids. Workers take the next in turn, each with an encoder
 * and a buffer of its own; then the results are laid end to end in order, by all of them again, since fresh
 * memory costs most where it is first written. One thread alone writes where the results belong at once.
 */
#include "encode/batch.h"

#include <stdlib.h>

/* Results are moved in so many shares for each thread. */
#define SHARES 8

/* Where the result of a text is. Ids or bytes. */
typedef struct place {
    unsigned worker;
    size_t start;  /* in the worker's buffer */
    size_t length;
    size_t to;     /* in the common one */
} place;

typedef struct worker {
    tik_ids ids;
    tik_bytes bytes;
    tik_status status;
    size_t failed; /* the text that failed */
    tik_error error;
} worker;

typedef struct job {
    const tik_encoding *encoding;
    size_t count;

    /* Encoding and counting. */
    const tik_policy *policy;
    const tik_text *texts;
    bool counting;

    /* Decoding. */
    const uint32_t *ids;
    const size_t *id_starts;
    tik_decoding mode;

    worker *workers;
    place *places;
    atomic_size_t next;
    atomic_bool stop;
    char *target; /* results are moved here */
    size_t size;  /* of one id, or one byte */
    size_t share; /* texts moved at a time */
} job;

/* ---- One thread's part ---------------------------------------------------------------------- */

static bool take(job *j, size_t step, size_t *first)
{
    if (atomic_load_explicit(&j->stop, memory_order_relaxed))
        return false;
    *first = atomic_fetch_add_explicit(&j->next, step, memory_order_relaxed);
    return *first < j->count;
}

static void fail(job *j, worker *me, size_t text, tik_status status)
{
    me->status = status;
    me->failed = text;
    atomic_store_explicit(&j->stop, true, memory_order_relaxed);
}

static tik_status encode_one(tik_encoder *encoder, const job *j, size_t text, tik_ids *ids, size_t *length,
                             tik_error *error)
{
    tik_sink sink = {.ids = ids, .limit = j->policy->limit};
    tik_status status = tik_encoder_text(encoder, j->policy, (const uint8_t *)j->texts[text].data,
                                         j->texts[text].length, &sink, error);
    *length = sink.count;
    return status;
}

static tik_status decode_one(const job *j, size_t list, tik_bytes *bytes, tik_error *error)
{
    size_t first = j->id_starts[list];
    size_t end = j->id_starts[list + 1];
    if (end < first)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "the list ends before it begins: starts must not fall");
    return tik_decode(j->encoding, j->ids + first, end - first, j->mode, bytes, error);
}

static void encode_some(void *context, unsigned number)
{
    job *j = context;
    worker *me = &j->workers[number];
    tik_encoder *encoder = NULL;
    size_t text;
    tik_status status = tik_encoder_borrow(j->encoding, &encoder, &me->error);
    if (status != TIK_OK) {
        fail(j, me, SIZE_MAX, status);
        return;
    }
    while (take(j, 1, &text)) {
        size_t start = me->ids.length;
        size_t length;
        status = encode_one(encoder, j, text, j->counting ? NULL : &me->ids, &length, &me->error);
        if (status != TIK_OK) {
            fail(j, me, text, status);
            break;
        }
        j->places[text] = (place){number, start, length, 0};
    }
    tik_encoder_return(encoder);
}

static void decode_some(void *context, unsigned number)
{
    job *j = context;
    worker *me = &j->workers[number];
    size_t list;
    while (take(j, 1, &list)) {
        size_t start = me->bytes.length;
        tik_status status = decode_one(j, list, &me->bytes, &me->error);
        if (status != TIK_OK) {
            fail(j, me, list, status);
            break;
        }
        j->places[list] = (place){number, start, me->bytes.length - start, 0};
    }
}

static void move_some(void *context, unsigned number)
{
    job *j = context;
    (void)number;
    for (size_t first; take(j, j->share, &first);)
        for (size_t i = first; i < first + j->share && i < j->count; i++) {
            const place *from = &j->places[i];
            const worker *by = &j->workers[from->worker];
            const char *results = j->size == 1 ? by->bytes.data : (const char *)by->ids.data;
            if (from->length)
                memcpy(j->target + from->to * j->size, results + from->start * j->size, from->length * j->size);
        }
}

/* ---- All of them ---------------------------------------------------------------------------- */

static tik_status begin(job *j, unsigned threads, tik_error *error)
{
    j->workers = calloc(threads, sizeof *j->workers);
    j->places = calloc(j->count ? j->count : 1, sizeof *j->places);
    return j->workers && j->places ? TIK_OK : tik_fail_memory(error, j->count * sizeof *j->places);
}

static void end(job *j, unsigned threads)
{
    for (unsigned i = 0; j->workers && i < threads; i++) {
        tik_ids_free(&j->workers[i].ids);
        tik_bytes_free(&j->workers[i].bytes);
    }
    free(j->workers);
    free(j->places);
}

/* Runs the job. The failure that is reported is that of the first text among those that failed. */
static tik_status run(job *j, unsigned threads, void (*work)(void *, unsigned), size_t *failed, tik_error *error)
{
    const worker *first = NULL;
    tik_run_threads(threads, work, j);
    for (unsigned i = 0; i < threads; i++)
        if (j->workers[i].status != TIK_OK && (!first || j->workers[i].failed < first->failed))
            first = &j->workers[i];
    if (!first)
        return TIK_OK;
    *failed = first->failed;
    if (error)
        *error = first->error;
    return first->status;
}

/* Says where each result goes, from `to` on; returns the end of the last. `starts` has room for them. */
static size_t lay_out(job *j, size_t to, tik_sizes *starts)
{
    for (size_t i = 0; i < j->count; i++) {
        j->places[i].to = to;
        if (starts)
            starts->data[starts->length++] = to;
        to += j->places[i].length;
    }
    if (starts)
        starts->data[starts->length++] = to;
    return to;
}

static void move_all(job *j, unsigned threads, void *target, size_t size)
{
    j->target = target;
    j->size = size;
    j->share = j->count / ((size_t)threads * SHARES) + 1;
    atomic_store(&j->next, 0);
    tik_run_threads(threads, move_some, j);
}

static size_t total_length(const job *j)
{
    size_t total = 0;
    for (size_t i = 0; i < j->count; i++)
        total += j->places[i].length;
    return total;
}

/* On this thread alone. */
static tik_status encode_in_turn(const job *j, size_t *counts, tik_ids *ids, tik_sizes *starts, size_t *failed,
                                 tik_error *error)
{
    tik_encoder *encoder;
    tik_status status = tik_encoder_borrow(j->encoding, &encoder, error);
    if (status != TIK_OK)
        return status;
    size_t before = ids ? ids->length : 0;
    size_t before_starts = starts ? starts->length : 0;
    for (size_t i = 0; i < j->count && status == TIK_OK; i++) {
        size_t length;
        if (starts)
            starts->data[starts->length++] = ids->length;
        status = encode_one(encoder, j, i, ids, &length, error);
        if (status != TIK_OK)
            *failed = i;
        else if (counts)
            counts[i] = length;
    }
    tik_encoder_return(encoder);
    if (status == TIK_OK && starts)
        starts->data[starts->length++] = ids->length;
    if (status != TIK_OK && ids)
        ids->length = before;
    if (status != TIK_OK && starts)
        starts->length = before_starts;
    return status;
}

tik_status tik_batch(const tik_encoding *encoding, const tik_policy *policy, unsigned threads,
                     const tik_text *texts, size_t count, size_t *counts, tik_ids *ids, tik_sizes *starts,
                     size_t *failed, tik_error *error)
{
    job j = {.encoding = encoding, .policy = policy, .texts = texts, .count = count, .counting = counts != NULL};
    *failed = SIZE_MAX;
    if (count > PTRDIFF_MAX / sizeof *texts) /* no memory holds so many: nothing is read */
        return tik_fail_memory(error, SIZE_MAX);
    tik_status status = starts ? tik_reserve_sizes(starts, count + 1, error) : TIK_OK;
    if (status != TIK_OK)
        return status;
    if (count == 0 || threads == 1)
        return encode_in_turn(&j, counts, ids, starts, failed, error);
    status = begin(&j, threads, error);
    if (status == TIK_OK)
        status = run(&j, threads, encode_some, failed, error);
    if (status == TIK_OK && counts)
        for (size_t i = 0; i < count; i++)
            counts[i] = j.places[i].length;
    else if (status == TIK_OK)
        status = tik_reserve_ids(ids, total_length(&j), error);
    if (status == TIK_OK && !counts) {
        ids->length = lay_out(&j, ids->length, starts);
        move_all(&j, threads, ids->data, sizeof *ids->data);
    }
    end(&j, threads);
    return status;
}

/* The threads for a batch: either its texts go side by side or, if there is but one, its parts do. */
static unsigned share_out(tik_policy *policy, size_t count)
{
    unsigned threads = tik_threads_for(policy->threads, count);
    if (threads > 1)
        policy->threads = 1;
    return threads;
}

/* Puts the number of the text before the message. */
static void name_text(tik_error *error, size_t text)
{
    char message[sizeof error->message];
    if (!error || text == SIZE_MAX)
        return;
    memcpy(message, error->message, sizeof message);
    tik_fail_at(error, error->status, error->line, error->offset, "text %zu: %.480s", text, message);
}

tik_status tik_encode_batch(const tik_encoding *encoding, const tik_text *texts, size_t count,
                            const tik_options *options, tik_ids *ids, tik_sizes *starts, tik_error *error)
{
    tik_policy policy;
    size_t failed = SIZE_MAX;
    tik_status status = tik_policy_init(&policy, encoding, options, error);
    if (status != TIK_OK)
        return status;
    policy.limit = SIZE_MAX;
    unsigned threads = share_out(&policy, count);
    status = tik_batch(encoding, &policy, threads, texts, count, NULL, ids, starts, &failed, error);
    if (status != TIK_OK)
        name_text(error, failed);
    tik_policy_free(&policy);
    return status;
}

tik_status tik_count_batch(const tik_encoding *encoding, const tik_text *texts, size_t count,
                           const tik_options *options, size_t *counts, tik_error *error)
{
    tik_policy policy;
    size_t failed = SIZE_MAX;
    tik_status status = tik_policy_init(&policy, encoding, options, error);
    if (status != TIK_OK)
        return status;
    unsigned threads = share_out(&policy, count);
    status = tik_batch(encoding, &policy, threads, texts, count, counts, NULL, NULL, &failed, error);
    if (status != TIK_OK)
        name_text(error, failed);
    tik_policy_free(&policy);
    return status;
}

/* ---- Decoding ------------------------------------------------------------------------------ */

/* On this thread alone. */
static tik_status decode_in_turn(const job *j, tik_bytes *bytes, tik_sizes *starts, size_t *failed, tik_error *error)
{
    size_t before = bytes->length;
    size_t before_starts = starts->length;
    tik_status status = TIK_OK;
    for (size_t i = 0; i < j->count && status == TIK_OK; i++) {
        starts->data[starts->length++] = bytes->length;
        status = decode_one(j, i, bytes, error);
        if (status != TIK_OK)
            *failed = i;
    }
    if (status == TIK_OK) {
        starts->data[starts->length++] = bytes->length;
    } else {
        bytes->length = before;
        starts->length = before_starts;
    }
    return status;
}

static tik_status decode_side_by_side(job *j, unsigned threads, tik_bytes *bytes, tik_sizes *starts, size_t *failed,
                                      tik_error *error)
{
    tik_status status = begin(j, threads, error);
    if (status == TIK_OK)
        status = run(j, threads, decode_some, failed, error);
    if (status == TIK_OK)
        status = tik_reserve_bytes(bytes, total_length(j), error);
    if (status == TIK_OK) {
        bytes->length = lay_out(j, bytes->length, starts);
        move_all(j, threads, bytes->data, 1);
    }
    end(j, threads);
    return status;
}

tik_status tik_decode_batch(const tik_encoding *encoding, const uint32_t *ids, const size_t *id_starts, size_t count,
                            tik_decoding mode, unsigned threads, tik_bytes *bytes, tik_sizes *starts,
                            tik_error *error)
{
    job j = {.encoding = encoding, .ids = ids, .id_starts = id_starts, .count = count, .mode = mode};
    size_t failed = SIZE_MAX;
    if (count >= PTRDIFF_MAX / sizeof *id_starts)
        return tik_fail_memory(error, SIZE_MAX);
    tik_status status = tik_reserve_sizes(starts, count + 1, error);
    if (status != TIK_OK)
        return status;
    threads = tik_threads_for(threads, count);
    if (threads == 1)
        status = decode_in_turn(&j, bytes, starts, &failed, error);
    else
        status = decode_side_by_side(&j, threads, bytes, starts, &failed, error);
    if (status != TIK_OK)
        name_text(error, failed);
    return status;
}
