/*
 * The way of a text: pieces from the splitter, a batch at a time; each looked up in the memo; those that
 * it has not, learned; long ones merged.
 *
 * A batch is gone through twice in small blocks: first the pieces' bytes are loaded, hashed, and the
 * memo's lines asked for; then, when these have come, the entries are read. An entry's ids are all
 * written and the place moved on by their number, so that the common case has no branch on how many.
 */
#include <stdlib.h>

#include "base/cpu.h"
#include "encode/batch.h"
#include "encode/encode.h"

/* Pieces between asking for memory and using it. */
#define BLOCK 128

/* Masks that keep the first `length` bytes of two little-endian words. */
static const uint64_t keep[TIK_MEMO_SHORT + 1][2] = {
    {0, 0},
    {UINT64_C(0xFF), 0},
    {UINT64_C(0xFFFF), 0},
    {UINT64_C(0xFFFFFF), 0},
    {UINT64_C(0xFFFFFFFF), 0},
    {UINT64_C(0xFFFFFFFFFF), 0},
    {UINT64_C(0xFFFFFFFFFFFF), 0},
    {UINT64_C(0xFFFFFFFFFFFFFF), 0},
    {UINT64_MAX, 0},
    {UINT64_MAX, UINT64_C(0xFF)},
    {UINT64_MAX, UINT64_C(0xFFFF)},
    {UINT64_MAX, UINT64_C(0xFFFFFF)},
    {UINT64_MAX, UINT64_C(0xFFFFFFFF)},
    {UINT64_MAX, UINT64_C(0xFFFFFFFFFF)},
    {UINT64_MAX, UINT64_C(0xFFFFFFFFFFFF)},
    {UINT64_MAX, UINT64_C(0xFFFFFFFFFFFFFF)},
};

tik_status tik_encoder_piece(tik_encoder *encoder, const uint8_t *piece, size_t length, tik_ids *ids,
                             tik_error *error)
{
    const tik_vocab *vocab = &encoder->encoding->vocab;
    size_t before = ids->length;
    tik_status status = TIK_OK;
    if (length == 0)
        return TIK_OK;
    uint32_t whole = tik_vocab_find(vocab, piece, length);
    if (whole != TIK_NONE) {
        status = tik_reserve_ids(ids, 1, error);
        if (status == TIK_OK)
            ids->data[ids->length++] = whole;
    } else
        status = tik_merge_long(vocab, piece, length, ids, error);
    if (!vocab->dense)
        for (size_t i = before; i < ids->length; i++)
            ids->data[i] = vocab->ranks[ids->data[i]];
    return status;
}

/* A piece too long for the memo. */
static tik_status long_piece(tik_encoder *encoder, const uint8_t *piece, size_t length, tik_sink *sink,
                             tik_error *error)
{
    tik_ids *ids = sink->ids;
    if (!ids) {
        ids = &encoder->scratch;
        ids->length = 0;
    }
    size_t before = ids->length;
    tik_status status = tik_encoder_piece(encoder, piece, length, ids, error);
    sink->count += ids->length - before;
    return status;
}

/* The key of a piece that is too long to be remembered: no entry has it. */
static const tik_memo_key no_key = {0, (uint64_t)TIK_MEMO_NEVER << 56};

/* The key of a piece; `room` bytes may be read at it. */
static inline tik_memo_key key_of(const uint8_t *piece, size_t length, size_t room)
{
    if (TIK_UNLIKELY(length > TIK_MEMO_SHORT))
        return length <= TIK_MEMO_LONGEST ? tik_memo_long_key(piece, length) : no_key;
    if (TIK_LIKELY(room >= 16))
        return tik_memo_short_key(tik_load64(piece) & keep[length][0], tik_load64(piece + 8) & keep[length][1], length);
    uint64_t low;
    uint64_t high;
    tik_load_short(piece, length, &low, &high);
    return tik_memo_short_key(low, high, length);
}

/* A block of pieces on their way through the memo. */
typedef struct passage {
    tik_memo_key keys[BLOCK];
    uint32_t sets[BLOCK]; /* where each would be; asked for */
} passage;

/* The key of each piece, and where it would be; asks for the memory there. Returns the bytes of those too long. */
static inline __attribute__((always_inline)) size_t find_sets(const tik_memo *memo, passage *p, const uint8_t *text,
                                                              size_t room, size_t start, const uint32_t *ends,
                                                              size_t count)
{
    const tik_memo fixed = *memo; /* nothing that is written here is part of it */
    size_t too_long = 0;
    size_t at = start;
    for (size_t i = 0; i < count; i++) {
        size_t length = ends[i] - at;
        p->keys[i] = key_of(text + at, length, room - at);
        p->sets[i] = (uint32_t)tik_memo_set(&fixed, &p->keys[i]);
        __builtin_prefetch(fixed.entries + p->sets[i]);
        if (TIK_UNLIKELY(length > TIK_MEMO_LONGEST))
            too_long += length;
        at = ends[i];
    }
    return too_long;
}

/* ---- Pieces that are not known yet --------------------------------------------------------- */

/* Moves the sink's ids apart and puts in those of the pieces that waited, from the last on. */
static void fill_holes(const tik_waiting *waiting, const uint32_t *learned, tik_ids *ids, size_t more)
{
    uint32_t *to = ids->data + ids->length + more;
    size_t end = ids->length;
    for (size_t i = waiting->hole_count; i-- > 0;) {
        const tik_unknown *piece = &waiting->pieces[waiting->piece[i]];
        size_t between = end - waiting->at[i];
        to -= between;
        memmove(to, ids->data + waiting->at[i], between * sizeof *to);
        to -= piece->count;
        memcpy(to, learned + piece->first, piece->count * sizeof *to);
        end = waiting->at[i];
    }
    ids->length += more;
}

/* Learns the pieces that wait; their ids go to their places in the sink and, for later, to the memo. */
static tik_status settle(tik_encoder *encoder, tik_sink *sink, tik_error *error)
{
    tik_waiting *waiting = &encoder->waiting;
    uint32_t learned[TIK_LEARN_MOST * TIK_LEARN_LONGEST];
    if (waiting->piece_count == 0)
        return TIK_OK;
    tik_learn(&encoder->encoding->vocab, waiting->pieces, waiting->piece_count, learned);
    for (size_t i = 0; i < waiting->piece_count; i++) {
        const tik_unknown *piece = &waiting->pieces[i];
        tik_memo_fill(&encoder->memo, &piece->key, piece->piece, learned + piece->first, piece->count);
    }
    size_t more = 0;
    for (size_t i = 0; i < waiting->hole_count; i++)
        more += waiting->pieces[waiting->piece[i]].count;
    tik_status status = TIK_OK;
    if (sink->ids) {
        status = tik_reserve_ids(sink->ids, more, error);
        if (status == TIK_OK)
            fill_holes(waiting, learned, sink->ids, more);
    }
    sink->count += more;
    waiting->piece_count = waiting->hole_count = 0;
    return status;
}

/* Leaves a hole for the ids of a piece that waits. */
static void leave_hole(tik_encoder *encoder, uint32_t piece, const tik_sink *sink)
{
    tik_waiting *waiting = &encoder->waiting;
    waiting->at[waiting->hole_count] = sink->ids ? sink->ids->length : 0;
    waiting->piece[waiting->hole_count++] = (uint8_t)piece;
}

/*
 * A piece whose ids don't lie in an entry of the memo: not known, being learned, of many ids or many bytes.
 * The sink has room for as many ids as bytes if the piece is not longer than TIK_MEMO_LONGEST.
 */
static tik_status other_piece(tik_encoder *encoder, const tik_memo_key *key, size_t set, const uint8_t *piece,
                              size_t length, tik_sink *sink, tik_error *error)
{
    tik_memo *memo = &encoder->memo;
    tik_waiting *waiting = &encoder->waiting;
    uint32_t scratch[TIK_MEMO_LONGEST];
    uint32_t *out = sink->ids ? sink->ids->data + sink->ids->length : scratch;
    size_t count = 0;
    if (length > TIK_MEMO_LONGEST)
        return long_piece(encoder, piece, length, sink, error);
    const tik_memo_entry *entry = tik_memo_find(memo, set, key);
    if (entry == NULL && length <= TIK_LEARN_LONGEST) {
        leave_hole(encoder, (uint32_t)waiting->piece_count, sink);
        tik_memo_expect(memo, set, key, (uint32_t)waiting->piece_count);
        waiting->pieces[waiting->piece_count++] =
            (tik_unknown){.key = *key, .piece = piece, .length = (uint32_t)length};
    } else if (entry != NULL && entry->count & TIK_MEMO_EXPECTED) {
        uint32_t number = entry->count & ~TIK_MEMO_EXPECTED;
        if (length <= TIK_MEMO_SHORT || memcmp(waiting->pieces[number].piece, piece, length) == 0)
            leave_hole(encoder, number, sink);
        else /* another of the same hash */
            count = tik_memo_work_out(memo, piece, length, out);
    } else if (entry != NULL && (length <= TIK_MEMO_SHORT || tik_memo_is(memo, entry, piece))) {
        count = entry->count - TIK_MEMO_SPILLED;
        memcpy(out, tik_memo_spilled(memo, entry), count * sizeof *out);
    } else {
        count = tik_memo_work_out(memo, piece, length, out);
        if (entry == NULL)
            tik_memo_put(memo, set, key, piece, out, count);
    }
    if (sink->ids)
        sink->ids->length += count;
    sink->count += count;
    if (waiting->piece_count == TIK_LEARN_MOST || waiting->hole_count == TIK_HOLES)
        return settle(encoder, sink, error);
    return TIK_OK;
}

/*
 * The ids of consecutive pieces that end at ends[0 .. count) after `text`; the first begins at `start`.
 * `room` bytes may be read from `text` on. `store` is a constant at each call.
 */
static inline __attribute__((always_inline)) tik_status block(tik_encoder *encoder, const uint8_t *text, size_t room,
                                                              size_t start, const uint32_t *ends, size_t count,
                                                              bool store, tik_sink *sink, tik_error *error)
{
    passage p;
    tik_memo *memo = &encoder->memo;
    tik_memo_make_room(memo);
    /* Ids: at most one a byte of what is remembered; and an entry's are written whole. */
    size_t most = ends[count - 1] - start + TIK_MEMO_IDS;
    most -= find_sets(memo, &p, text, room, start, ends, count);
    if (store) {
        tik_status status = tik_reserve_ids(sink->ids, most, error);
        if (status != TIK_OK)
            return status;
    }
    uint32_t *out = store ? sink->ids->data + sink->ids->length : NULL;
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        const tik_memo_entry *entry = tik_memo_find(memo, p.sets[i], &p.keys[i]);
        if (TIK_LIKELY(entry != NULL && entry->count <= TIK_MEMO_IDS)) {
            if (store)
                memcpy(out + total, entry->ids, sizeof entry->ids);
            total += entry->count;
            continue;
        }
        if (store)
            sink->ids->length += total;
        sink->count += total;
        total = 0;
        size_t at = i ? ends[i - 1] : start;
        tik_status status =
            other_piece(encoder, &p.keys[i], p.sets[i], text + at, ends[i] - at, sink, error);
        if (status == TIK_OK && store)
            status = tik_reserve_ids(sink->ids, most, error);
        if (status != TIK_OK)
            return status;
        out = store ? sink->ids->data + sink->ids->length : NULL;
    }
    if (store)
        sink->ids->length += total;
    sink->count += total;
    return TIK_OK;
}

static inline __attribute__((always_inline)) tik_status blocks(tik_encoder *encoder, const uint8_t *text, size_t room,
                                                               size_t start, const uint32_t *ends, size_t count,
                                                               tik_sink *sink, tik_error *error)
{
    for (size_t i = 0; i < count; i += BLOCK) {
        size_t some = count - i < BLOCK ? count - i : BLOCK;
        tik_status status = sink->ids ? block(encoder, text, room, start, ends + i, some, true, sink, error)
                                      : block(encoder, text, room, start, ends + i, some, false, sink, error);
        if (status != TIK_OK)
            return status;
        start = ends[i + some - 1];
    }
    return TIK_OK;
}

#if TIK_HAVE_X86
/* The same code; the compiler's shifts, multiplications and comparisons are the newer machine's. */
TIK_TARGET_AVX2 static tik_status blocks_avx2(tik_encoder *encoder, const uint8_t *text, size_t room, size_t start,
                                              const uint32_t *ends, size_t count, tik_sink *sink, tik_error *error)
{
    return blocks(encoder, text, room, start, ends, count, sink, error);
}
#endif

/* The pieces of one batch, none of them dropped. */
static tik_status pieces(tik_encoder *encoder, const uint8_t *text, size_t room, size_t start, const uint32_t *ends,
                         size_t count, tik_sink *sink, tik_error *error)
{
#if TIK_HAVE_X86
    if (tik_cpu() & TIK_CPU_AVX2)
        return blocks_avx2(encoder, text, room, start, ends, count, sink, error);
#endif
    return blocks(encoder, text, room, start, ends, count, sink, error);
}

static tik_status drop(tik_encoder *encoder, size_t from, size_t to, tik_error *error)
{
    tik_status status = tik_reserve_sizes(&encoder->gaps, 2, error);
    if (status != TIK_OK)
        return status;
    encoder->gaps.data[encoder->gaps.length++] = from;
    encoder->gaps.data[encoder->gaps.length++] = to;
    encoder->dropped += to - from;
    return TIK_OK;
}

/* A batch in which some pieces are none: the runs between them, each by itself. */
static tik_status pieces_and_gaps(tik_encoder *encoder, const uint8_t *text, size_t room, uint32_t *ends,
                                  size_t count, size_t base, tik_sink *sink, tik_error *error)
{
    size_t start = 0;
    size_t first = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(ends[i] & TIK_SPLIT_DROPPED))
            continue;
        ends[i] &= ~TIK_SPLIT_DROPPED;
        tik_status status = pieces(encoder, text, room, start, ends + first, i - first, sink, error);
        size_t from = i > first ? ends[i - 1] : start;
        if (status == TIK_OK)
            status = drop(encoder, base + from, base + ends[i], error);
        if (status != TIK_OK)
            return status;
        start = ends[i];
        first = i + 1;
    }
    return pieces(encoder, text, room, start, ends + first, count - first, sink, error);
}

/* Notes the last piece of a batch. */
static void note_last(tik_encoder *encoder, const uint32_t *ends, size_t count, size_t from, size_t end)
{
    while (count > 0 && ends[count - 1] & TIK_SPLIT_DROPPED)
        if (--count > 0)
            end = from + (ends[count - 1] & ~TIK_SPLIT_DROPPED);
    if (count == 0)
        return;
    encoder->last_start = count > 1 ? from + (ends[count - 2] & ~TIK_SPLIT_DROPPED) : from;
    encoder->last_end = end;
}

static tik_status batches(tik_encoder *encoder, const uint8_t *text, size_t length, size_t from, bool more,
                          size_t base, tik_sink *sink, size_t *done, tik_error *error)
{
    const tik_encoding *encoding = encoder->encoding;
    uint32_t *ends = encoder->ends;
    *done = from;
    while (from < length && sink->count <= sink->limit) {
        size_t count;
        size_t end;
        tik_status status = tik_split_next(encoding->splitter, encoder->state, text, length, from, more, ends,
                                           TIK_ENDS, &count, &end, error);
        if (status != TIK_OK)
            return status;
        if (count == 0)
            break;
        note_last(encoder, ends, count, base + from, base + end);
        if (end - from >= TIK_SPLIT_DROPPED && count == 1) {
            if (ends[0] & TIK_SPLIT_DROPPED)
                status = drop(encoder, base + from, base + end, error);
            else
                status = long_piece(encoder, text + from, end - from, sink, error);
        } else if (encoding->drops)
            status = pieces_and_gaps(encoder, text + from, length - from, ends, count, base + from, sink, error);
        else
            status = pieces(encoder, text + from, length - from, 0, ends, count, sink, error);
        if (status != TIK_OK)
            return status;
        *done = from = end;
    }
    return TIK_OK;
}

tik_status tik_encoder_stretch(tik_encoder *encoder, const uint8_t *text, size_t length, size_t from, bool more,
                               size_t base, tik_sink *sink, size_t *done, tik_error *error)
{
    tik_status status = batches(encoder, text, length, from, more, base, sink, done, error);
    tik_status settled = settle(encoder, sink, status == TIK_OK ? error : NULL);
    return status == TIK_OK ? settled : status;
}

/* All of a valid text: special tokens that are allowed, and the stretches between them. */
static tik_status stretches(tik_encoder *encoder, const tik_policy *policy, const uint8_t *text, size_t length,
                            tik_sink *sink, tik_error *error)
{
    const tik_specials *specials = &encoder->encoding->specials;
    size_t start = 0;
    for (;;) {
        size_t at = length;
        size_t index = 0;
        size_t done;
        bool found = policy->any_allowed &&
                     tik_specials_find(specials, policy->allowed, text, length, start, &at, &index);
        tik_status status = tik_encoder_stretch(encoder, text + start, at - start, 0, false, start, sink, &done, error);
        if (status != TIK_OK || !found || sink->count > sink->limit)
            return status;
        if (sink->ids) {
            status = tik_reserve_ids(sink->ids, 1, error);
            if (status != TIK_OK)
                return status;
            sink->ids->data[sink->ids->length++] = specials->list[index].id;
        }
        sink->count++;
        encoder->last_start = encoder->last_end = 0;
        start = at + specials->list[index].length;
    }
}

tik_status tik_encoder_text(tik_encoder *encoder, const tik_policy *policy, const uint8_t *text, size_t length,
                            tik_sink *sink, tik_error *error)
{
    size_t before = sink->ids ? sink->ids->length : 0;
    encoder->gaps.length = 0;
    encoder->dropped = 0;
    encoder->last_start = encoder->last_end = 0;
    size_t valid = tik_utf8_valid_prefix(text, length);
    if (valid < length) {
        if (!policy->replace_invalid)
            return tik_fail_utf8(error, text[valid], valid);
        encoder->replaced.length = 0;
        tik_status status = tik_utf8_replace(text, length, &encoder->replaced, error);
        if (status != TIK_OK)
            return status;
        text = (const uint8_t *)encoder->replaced.data;
        length = encoder->replaced.length;
    }
    tik_status status = tik_policy_check(policy, text, length, error);
    if (status == TIK_OK)
        status = tik_is_parallel(encoder->encoding, policy, length)
                     ? tik_parallel_text(encoder->encoding, policy, text, length, sink, error)
                     : stretches(encoder, policy, text, length, sink, error);
    if (status != TIK_OK && sink->ids)
        sink->ids->length = before;
    return status;
}

/* ---- Making, lending ----------------------------------------------------------------------- */

tik_status tik_encoder_make(const tik_encoding *encoding, tik_encoder **out, tik_error *error)
{
    tik_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder)
        return tik_fail_memory(error, sizeof *encoder);
    encoder->encoding = encoding;
    tik_status status = tik_memo_init(&encoder->memo, &encoding->vocab, error);
    if (status == TIK_OK)
        status = tik_split_state_new(encoding->splitter, &encoder->state, error);
    if (status != TIK_OK) {
        tik_encoder_free(encoder);
        return status;
    }
    *out = encoder;
    return TIK_OK;
}

tik_status tik_encoder_new(const tik_encoding *encoding, tik_encoder **out, tik_error *error)
{
    tik_status status = tik_encoder_make(encoding, out, error);
    if (status == TIK_OK) {
        (*out)->holds = true;
        tik_retain((tik_encoding *)(uintptr_t)encoding);
    }
    return status;
}

void tik_encoder_free(tik_encoder *encoder)
{
    if (!encoder)
        return;
    tik_memo_free(&encoder->memo);
    tik_split_state_free(encoder->state);
    tik_ids_free(&encoder->scratch);
    tik_bytes_free(&encoder->replaced);
    tik_sizes_free(&encoder->gaps);
    if (encoder->holds)
        tik_close((tik_encoding *)(uintptr_t)encoder->encoding);
    free(encoder);
}

tik_status tik_encoder_borrow(const tik_encoding *encoding, tik_encoder **out, tik_error *error)
{
    tik_encoding *lender = (tik_encoding *)(uintptr_t)encoding;
    for (size_t i = 0; i < TIK_SPARES; i++) {
        if (!atomic_load_explicit(&lender->spares[i], memory_order_relaxed))
            continue;
        *out = atomic_exchange_explicit(&lender->spares[i], NULL, memory_order_acquire);
        if (*out)
            return TIK_OK;
    }
    return tik_encoder_make(encoding, out, error);
}

void tik_encoder_return(tik_encoder *encoder)
{
    tik_encoding *lender = (tik_encoding *)(uintptr_t)encoder->encoding;
    for (size_t i = 0; i < TIK_SPARES; i++) {
        tik_encoder *none = NULL;
        if (atomic_compare_exchange_strong_explicit(&lender->spares[i], &none, encoder, memory_order_release,
                                                    memory_order_relaxed))
            return;
    }
    tik_encoder_free(encoder);
}

size_t tik_encoder_dropped(const tik_encoder *encoder)
{
    return encoder->dropped;
}

/* ---- Entry points -------------------------------------------------------------------------- */

tik_status tik_encoder_encode(tik_encoder *encoder, const char *text, size_t length, const tik_options *options,
                              tik_ids *ids, tik_error *error)
{
    tik_policy policy;
    tik_sink sink = {.ids = ids, .limit = SIZE_MAX};
    tik_status status = tik_policy_init(&policy, encoder->encoding, options, error);
    if (status != TIK_OK)
        return status;
    status = tik_encoder_text(encoder, &policy, (const uint8_t *)text, length, &sink, error);
    tik_policy_free(&policy);
    return status;
}

tik_status tik_encoder_count(tik_encoder *encoder, const char *text, size_t length, const tik_options *options,
                             size_t *count, tik_error *error)
{
    tik_policy policy;
    tik_status status = tik_policy_init(&policy, encoder->encoding, options, error);
    if (status != TIK_OK)
        return status;
    tik_sink sink = {.limit = policy.limit};
    status = tik_encoder_text(encoder, &policy, (const uint8_t *)text, length, &sink, error);
    tik_policy_free(&policy);
    if (status == TIK_OK)
        *count = sink.count;
    return status;
}

tik_status tik_encode(const tik_encoding *encoding, const char *text, size_t length, const tik_options *options,
                      tik_ids *ids, tik_error *error)
{
    tik_encoder *encoder;
    tik_status status = tik_encoder_borrow(encoding, &encoder, error);
    if (status != TIK_OK)
        return status;
    status = tik_encoder_encode(encoder, text, length, options, ids, error);
    tik_encoder_return(encoder);
    return status;
}

static const tik_options ordinary = TIK_OPTIONS_ORDINARY;

tik_status tik_encode_ordinary(const tik_encoding *encoding, const char *text, size_t length, tik_ids *ids,
                               tik_error *error)
{
    return tik_encode(encoding, text, length, &ordinary, ids, error);
}

tik_status tik_count_with(const tik_encoding *encoding, const char *text, size_t length, const tik_options *options,
                          size_t *count, tik_error *error)
{
    tik_encoder *encoder;
    tik_status status = tik_encoder_borrow(encoding, &encoder, error);
    if (status != TIK_OK)
        return status;
    status = tik_encoder_count(encoder, text, length, options, count, error);
    tik_encoder_return(encoder);
    return status;
}

tik_status tik_count(const tik_encoding *encoding, const char *text, size_t length, size_t *count, tik_error *error)
{
    return tik_count_with(encoding, text, length, &ordinary, count, error);
}

tik_status tik_encode_piece(const tik_encoding *encoding, const char *bytes, size_t length, tik_ids *ids,
                            tik_error *error)
{
    tik_encoder *encoder;
    tik_status status = tik_encoder_borrow(encoding, &encoder, error);
    if (status != TIK_OK)
        return status;
    size_t before = ids->length;
    status = tik_encoder_piece(encoder, (const uint8_t *)bytes, length, ids, error);
    if (status != TIK_OK)
        ids->length = before;
    tik_encoder_return(encoder);
    return status;
}
