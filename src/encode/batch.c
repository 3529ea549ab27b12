/*
 * Many texts on several threads. Workers take the next text in turn, each with an encoder and a buffer
 * of its own; the results are then laid end to end in order. A large text is cut where a cut is certain
 * and its parts go the same way.
 */
#include "encode/batch.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* A text is cut in parts of about this many bytes: enough that a part costs more than handing it out. */
#define PART ((size_t)1 << 20)

#define THREADS_MOST 256

/* Where the result of a text is. */
typedef struct place {
    unsigned worker;
    size_t start;
    size_t length;
} place;

typedef struct job {
    const tik_encoding *encoding;
    const tik_policy *policy;
    const tik_text *texts;
    size_t count;
    bool counting;
    place *places;
    atomic_size_t next;
    atomic_bool stop;
} job;

typedef struct worker {
    job *job;
    unsigned number;
    pthread_t thread;
    tik_ids ids;
    tik_status status;
    size_t failed; /* the text that failed */
    tik_error error;
} worker;

static void *work(void *argument)
{
    worker *me = argument;
    job *j = me->job;
    tik_encoder *encoder = NULL;
    me->failed = SIZE_MAX;
    me->status = tik_encoder_borrow(j->encoding, &encoder, &me->error);
    while (me->status == TIK_OK && !atomic_load_explicit(&j->stop, memory_order_relaxed)) {
        size_t text = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed);
        if (text >= j->count)
            break;
        tik_sink sink = {.ids = j->counting ? NULL : &me->ids, .limit = j->policy->limit};
        size_t start = me->ids.length;
        me->status = tik_encoder_text(encoder, j->policy, (const uint8_t *)j->texts[text].data,
                                      j->texts[text].length, &sink, &me->error);
        if (me->status != TIK_OK)
            me->failed = text;
        j->places[text] = (place){me->number, start, sink.count};
    }
    if (me->status != TIK_OK)
        atomic_store(&j->stop, true);
    if (encoder)
        tik_encoder_return(encoder);
    return NULL;
}

static unsigned threads_for(unsigned asked, size_t texts)
{
    size_t threads = asked;
    if (asked == TIK_ALL_THREADS) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        threads = cores > 0 ? (size_t)cores : 1;
    }
    if (threads > texts)
        threads = texts;
    if (threads > THREADS_MOST)
        threads = THREADS_MOST;
    return threads ? (unsigned)threads : 1;
}

/* Runs the job. The failure that is reported is that of the first text among those that failed. */
static tik_status run(job *j, worker *workers, unsigned threads, size_t *failed, tik_error *error)
{
    unsigned started = 1;
    workers[0] = (worker){.job = j};
    for (; started < threads; started++) {
        workers[started] = (worker){.job = j, .number = started};
        if (pthread_create(&workers[started].thread, NULL, work, &workers[started]) != 0)
            break; /* fewer threads do the same work */
    }
    work(&workers[0]);
    worker *first = NULL;
    for (unsigned i = 0; i < started; i++) {
        if (i > 0)
            pthread_join(workers[i].thread, NULL);
        if (workers[i].status != TIK_OK && (!first || workers[i].failed < first->failed))
            first = &workers[i];
    }
    for (unsigned i = started; i < threads; i++)
        workers[i] = (worker){.job = j};
    if (!first)
        return TIK_OK;
    *failed = first->failed;
    if (error)
        *error = first->error;
    return first->status;
}

/* Lays the workers' ids end to end. */
static tik_status gather(const job *j, const worker *workers, tik_ids *ids, tik_sizes *starts, tik_error *error)
{
    size_t total = 0;
    for (size_t i = 0; i < j->count; i++)
        total += j->places[i].length;
    tik_status status = tik_reserve_ids(ids, total, error);
    if (status == TIK_OK && starts)
        status = tik_reserve_sizes(starts, j->count + 1, error);
    if (status != TIK_OK)
        return status;
    for (size_t i = 0; i < j->count; i++) {
        const place *from = &j->places[i];
        if (starts)
            starts->data[starts->length++] = ids->length;
        if (from->length)
            memcpy(ids->data + ids->length, workers[from->worker].ids.data + from->start,
                   from->length * sizeof *ids->data);
        ids->length += from->length;
    }
    if (starts)
        starts->data[starts->length++] = ids->length;
    return TIK_OK;
}

/*
 * Counts (`counts` not NULL) or encodes on `threads` threads; `policy->threads` is for the inside of a text.
 * `*failed` is the text that failed, SIZE_MAX for none.
 */
static tik_status batch(const tik_encoding *encoding, const tik_policy *policy, unsigned threads,
                        const tik_text *texts, size_t count, size_t *counts, tik_ids *ids, tik_sizes *starts,
                        size_t *failed, tik_error *error)
{
    job j = {.encoding = encoding, .policy = policy, .texts = texts, .count = count, .counting = ids == NULL};
    *failed = SIZE_MAX;
    j.places = calloc(count ? count : 1, sizeof *j.places);
    worker *workers = calloc(threads, sizeof *workers);
    tik_status status = TIK_OK;
    if (!j.places || !workers)
        status = tik_fail_memory(error, count * sizeof *j.places);
    else
        status = run(&j, workers, threads, failed, error);
    if (status == TIK_OK && j.counting)
        for (size_t i = 0; i < count; i++)
            counts[i] = j.places[i].length;
    else if (status == TIK_OK)
        status = gather(&j, workers, ids, starts, error);
    for (unsigned i = 0; workers && i < threads; i++)
        tik_ids_free(&workers[i].ids);
    free(workers);
    free(j.places);
    return status;
}

/* The threads for a batch: either its texts go side by side or, if there is but one, its parts do. */
static unsigned share_out(tik_policy *policy, size_t count)
{
    unsigned threads = threads_for(policy->threads, count);
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
    status = batch(encoding, &policy, threads, texts, count, NULL, ids, starts, &failed, error);
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
    status = batch(encoding, &policy, threads, texts, count, counts, NULL, NULL, &failed, error);
    if (status != TIK_OK)
        name_text(error, failed);
    tik_policy_free(&policy);
    return status;
}

bool tik_is_parallel(const tik_encoding *encoding, const tik_policy *policy, size_t length)
{
    return policy->threads > 1 && length >= 2 * PART && !policy->any_allowed && policy->limit == SIZE_MAX &&
           !encoding->drops;
}

tik_status tik_parallel_text(const tik_encoding *encoding, const tik_policy *policy, const uint8_t *text,
                             size_t length, tik_sink *sink, tik_error *error)
{
    tik_text *parts = malloc((length / PART + 1) * sizeof *parts);
    if (!parts)
        return tik_fail_memory(error, (length / PART + 1) * sizeof *parts);
    size_t count = 0;
    for (size_t from = 0; from < length;) {
        size_t to = length;
        if (length - from >= 2 * PART) {
            to = tik_split_cut(encoding->splitter, text, length, from, from + PART);
            if (to == 0) /* none within this part: it gets longer */
                for (size_t reach = 2 * PART; to == 0; reach *= 2)
                    to = reach >= length - from ? length
                                                : tik_split_cut(encoding->splitter, text, length, from, from + reach);
        }
        parts[count++] = (tik_text){(const char *)text + from, to - from};
        from = to;
    }
    /* A part that could not be cut is one piece: it must not come here again. */
    tik_policy plain = {.threads = 1, .limit = SIZE_MAX};
    unsigned threads = threads_for(policy->threads, count);
    size_t failed = SIZE_MAX;
    tik_status status;
    if (sink->ids) {
        size_t before = sink->ids->length;
        status = batch(encoding, &plain, threads, parts, count, NULL, sink->ids, NULL, &failed, error);
        sink->count += sink->ids->length - before;
    } else {
        size_t *counts = malloc(count * sizeof *counts);
        status = counts ? batch(encoding, &plain, threads, parts, count, counts, NULL, NULL, &failed, error)
                        : tik_fail_memory(error, count * sizeof *counts);
        for (size_t i = 0; i < count && status == TIK_OK; i++)
            sink->count += counts[i];
        free(counts);
    }
    free(parts);
    return status;
}

/* ---- Decoding ------------------------------------------------------------------------------ */

tik_status tik_decode_batch(const tik_encoding *encoding, const uint32_t *ids, const size_t *id_starts, size_t count,
                            tik_decoding mode, unsigned threads, tik_bytes *bytes, tik_sizes *starts,
                            tik_error *error)
{
    size_t before = bytes->length;
    size_t before_starts = starts->length;
    (void)threads; /* decoding runs at the speed of memory on one thread */
    tik_status status = tik_reserve_sizes(starts, count + 1, error);
    if (status != TIK_OK)
        return status;
    for (size_t i = 0; i < count && status == TIK_OK; i++) {
        starts->data[starts->length++] = bytes->length;
        if (id_starts[i + 1] < id_starts[i])
            status = tik_fail(error, TIK_ERROR_ARGUMENT, "the list ends before it begins: starts must not fall");
        else
            status = tik_decode(encoding, ids + id_starts[i], id_starts[i + 1] - id_starts[i], mode, bytes, error);
        if (status != TIK_OK)
            name_text(error, i);
    }
    if (status != TIK_OK) {
        bytes->length = before;
        starts->length = before_starts;
        return status;
    }
    starts->data[starts->length++] = bytes->length;
    return TIK_OK;
}
