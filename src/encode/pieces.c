/*
 * Pieces to ids: each looked up in the memo; those that it has not, learned, many at a time; those that are
 * too long for it, merged at once.
 *
 * Pieces are gone through twice in small blocks: first their bytes are loaded, hashed, and the memo's lines
 * asked for; then, when these have come, the entries are read. An entry's ids are all written and the place
 * moved on by their number, so that the common case has no branch on how many.
 */
#include "encode/pieces.h"

#include "base/cpu.h"

#if TIK_HAVE_X86
#include <immintrin.h>
#endif

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

tik_status tik_encoder_pieces_long(tik_encoder *encoder, const uint8_t *piece, size_t length, tik_sink *sink,
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
tik_status tik_encoder_pieces_settle(tik_encoder *encoder, tik_sink *sink, tik_error *error)
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

static inline bool is_full(const tik_waiting *waiting)
{
    return waiting->piece_count == TIK_LEARN_MOST || waiting->hole_count == TIK_HOLES;
}

/*
 * Leaves a hole for the ids of a piece of at most TIK_LEARN_LONGEST bytes that the memo has not, or has an entry of
 * but no ids yet; `at` is how many ids come before. There must be room. False if its entry is another piece's.
 */
static inline bool leave_hole(tik_encoder *encoder, const tik_memo_entry *entry, const tik_memo_key *key, size_t set,
                              const uint8_t *piece, size_t length, size_t at)
{
    tik_waiting *waiting = &encoder->waiting;
    size_t number = waiting->piece_count;
    if (entry == NULL) {
        tik_memo_expect(&encoder->memo, set, key, (uint32_t)number);
        waiting->pieces[number] = (tik_unknown){.key = *key, .piece = piece, .length = (uint32_t)length};
        waiting->piece_count++;
    } else {
        number = entry->count & ~TIK_MEMO_EXPECTED;
        if (!(entry->count & TIK_MEMO_EXPECTED) ||
            (length > TIK_MEMO_SHORT && memcmp(waiting->pieces[number].piece, piece, length) != 0))
            return false;
    }
    waiting->at[waiting->hole_count] = at;
    waiting->piece[waiting->hole_count++] = (uint8_t)number;
    return true;
}

/* A piece that is worked out at once: too long to wait, or one whose entry is another's of the same hash. */
static tik_status other_piece(tik_encoder *encoder, const tik_memo_entry *entry, const tik_memo_key *key, size_t set,
                              const uint8_t *piece, size_t length, tik_sink *sink, tik_error *error)
{
    uint32_t scratch[TIK_MEMO_LONGEST];
    if (length > TIK_MEMO_LONGEST)
        return tik_encoder_pieces_long(encoder, piece, length, sink, error);
    uint32_t *out = sink->ids ? sink->ids->data + sink->ids->length : scratch;
    size_t count = tik_memo_work_out(&encoder->memo, piece, length, out);
    if (entry == NULL)
        tik_memo_put(&encoder->memo, set, key, piece, out, count);
    if (sink->ids)
        sink->ids->length += count;
    sink->count += count;
    return TIK_OK;
}

/* ---- The common case ----------------------------------------------------------------------- */

/* The key of a piece of more than TIK_MEMO_SHORT bytes: one that no entry has if it is not remembered. */
static tik_memo_key long_key(const uint8_t *piece, size_t length)
{
    static const tik_memo_key no_key = {0, (uint64_t)TIK_MEMO_NEVER << 56};
    return length <= TIK_MEMO_LONGEST ? tik_memo_long_key(piece, length) : no_key;
}

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

/* The key of a piece of at most TIK_MEMO_SHORT bytes, of which `room` may be read. */
static inline tik_memo_key short_key(const uint8_t *piece, size_t length, size_t room)
{
    uint64_t low;
    uint64_t high;
    if (TIK_LIKELY(room >= 16)) {
        low = tik_load64(piece) & keep[length][0];
        high = tik_load64(piece + 8) & keep[length][1];
    } else
        tik_load_short(piece, length, &low, &high);
    return tik_memo_short_key(low, high, length);
}

/* Pieces between asking for memory and using it. */
#define BLOCK 128

/* A block of pieces on their way through the memo. */
typedef struct passage {
    _Alignas(64) tik_memo_key keys[BLOCK];
    _Alignas(32) uint64_t sets[BLOCK]; /* where each would be; asked for */
} passage;

typedef size_t find_sets_function(const tik_memo *memo, passage *p, const uint8_t *text, size_t room, size_t start,
                                  const uint32_t *ends, size_t count);

/* The key of each piece, and where it would be; asks for the memory there. Returns the bytes of those too long. */
TIK_INLINE size_t find_sets(const tik_memo *memo, passage *p, const uint8_t *text, size_t room, size_t start,
                            const uint32_t *ends, size_t count)
{
    const tik_memo fixed = *memo; /* nothing that is written here is part of it */
    size_t too_long = 0;
    size_t at = start;
    for (size_t i = 0; i < count; i++) {
        size_t length = ends[i] - at;
        p->keys[i] = TIK_LIKELY(length <= TIK_MEMO_SHORT) ? short_key(text + at, length, room - at)
                                                          : long_key(text + at, length);
        p->sets[i] = tik_memo_set(&fixed, &p->keys[i]);
        __builtin_prefetch(tik_memo_at(&fixed, p->sets[i]));
        if (TIK_UNLIKELY(length > TIK_MEMO_LONGEST))
            too_long += length;
        at = ends[i];
    }
    return too_long;
}

#if TIK_HAVE_X86
/* The same: a piece is loaded without looking beyond it, and four keys are hashed at once. */
TIK_TARGET_AVX512 static size_t find_sets_avx512(const tik_memo *memo, passage *p, const uint8_t *text, size_t room,
                                                 size_t start, const uint32_t *ends, size_t count)
{
    (void)room;
    _Alignas(16) static const uint8_t lengths[TIK_MEMO_SHORT + 1][16] = {
        [1][15] = 1,   [2][15] = 2,   [3][15] = 3,   [4][15] = 4,   [5][15] = 5,
        [6][15] = 6,   [7][15] = 7,   [8][15] = 8,   [9][15] = 9,   [10][15] = 10,
        [11][15] = 11, [12][15] = 12, [13][15] = 13, [14][15] = 14, [15][15] = 15,
    };
    size_t too_long = 0;
    size_t at = start;
    for (size_t i = 0; i < count; i++) {
        size_t length = ends[i] - at;
        if (TIK_LIKELY(length <= TIK_MEMO_SHORT)) {
            __m128i bytes = _mm_maskz_loadu_epi8((__mmask16)_bzhi_u32(0xFFFF, (unsigned)length), text + at);
            __m128i top = _mm_load_si128((const __m128i *)(const void *)lengths[length]);
            _mm_store_si128((__m128i *)(void *)&p->keys[i], _mm_or_si128(bytes, top));
        } else {
            p->keys[i] = long_key(text + at, length);
            if (length > TIK_MEMO_LONGEST)
                too_long += length;
        }
        at = ends[i];
    }
    const __m512i factors = _mm512_broadcast_i32x4(_mm_set_epi64x((long long)TIK_HASH_B, (long long)TIK_HASH_A));
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 0, 2, 4, 6);
    const __m512i line = _mm512_set1_epi64(-TIK_MEMO_SET);
    for (size_t i = 0; i < count; i += 4) {
        __m512i products = _mm512_mullo_epi64(_mm512_load_si512(&p->keys[i]), factors);
        __m512i hashes = _mm512_xor_si512(products, _mm512_shuffle_epi32(products, 0x4E));
        __m512i sets = _mm512_and_si512(_mm512_srl_epi64(hashes, _mm_cvtsi32_si128((int)memo->shift)), line);
        sets = _mm512_permutexvar_epi64(even, sets);
        _mm256_store_si256((__m256i *)(void *)&p->sets[i], _mm512_castsi512_si256(sets));
    }
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(tik_memo_at(memo, p->sets[i]));
    return too_long;
}
#endif

/* At most BLOCK pieces; `store` is a constant at each call. */
TIK_INLINE tik_status block(tik_encoder *encoder, const uint8_t *text, size_t room, size_t start,
                            const uint32_t *ends, size_t count, bool store, find_sets_function *find, tik_sink *sink,
                            tik_error *error)
{
    passage p;
    tik_memo *memo = &encoder->memo;
    tik_memo_make_room(memo);
    /* Ids: at most one a byte of what is remembered; and an entry's are written whole. */
    size_t most = ends[count - 1] - start + TIK_MEMO_IDS;
    most -= find(memo, &p, text, room, start, ends, count);
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
        size_t at = i ? ends[i - 1] : start;
        size_t length = ends[i] - at;
        if (entry != NULL && entry->count & TIK_MEMO_SPILLED &&
            (length <= TIK_MEMO_SHORT || tik_memo_is(memo, entry, text + at))) {
            size_t got = entry->count - TIK_MEMO_SPILLED;
            if (store)
                memcpy(out + total, tik_memo_spilled(memo, entry), got * sizeof *out);
            total += got;
            continue;
        }
        bool waits = length <= TIK_LEARN_LONGEST && leave_hole(encoder, entry, &p.keys[i], p.sets[i], text + at,
                                                               length, (store ? sink->ids->length : 0) + total);
        if (waits && TIK_LIKELY(!is_full(&encoder->waiting)))
            continue;
        if (store)
            sink->ids->length += total;
        sink->count += total;
        total = 0;
        tik_status status = waits
                                ? tik_encoder_pieces_settle(encoder, sink, error)
                                : other_piece(encoder, entry, &p.keys[i], p.sets[i], text + at, length, sink, error);
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

TIK_INLINE tik_status blocks(tik_encoder *encoder, const uint8_t *text, size_t room, size_t start,
                             const uint32_t *ends, size_t count, find_sets_function *find, tik_sink *sink,
                             tik_error *error)
{
    for (size_t i = 0; i < count; i += BLOCK) {
        size_t some = count - i < BLOCK ? count - i : BLOCK;
        tik_status status = sink->ids ? block(encoder, text, room, start, ends + i, some, true, find, sink, error)
                                      : block(encoder, text, room, start, ends + i, some, false, find, sink, error);
        if (status != TIK_OK)
            return status;
        start = ends[i + some - 1];
    }
    return TIK_OK;
}

#if TIK_HAVE_X86
/* The same code; the compiler's shifts, multiplications and comparisons are the newer machines'. */
TIK_TARGET_AVX512 static tik_status blocks_avx512(tik_encoder *encoder, const uint8_t *text, size_t room,
                                                  size_t start, const uint32_t *ends, size_t count, tik_sink *sink,
                                                  tik_error *error)
{
    return blocks(encoder, text, room, start, ends, count, find_sets_avx512, sink, error);
}

TIK_TARGET_AVX2 static tik_status blocks_avx2(tik_encoder *encoder, const uint8_t *text, size_t room, size_t start,
                                              const uint32_t *ends, size_t count, tik_sink *sink, tik_error *error)
{
    return blocks(encoder, text, room, start, ends, count, find_sets, sink, error);
}
#endif

tik_status tik_encoder_pieces(tik_encoder *encoder, const uint8_t *text, size_t room, size_t start,
                              const uint32_t *ends, size_t count, tik_sink *sink, tik_error *error)
{
#if TIK_HAVE_X86
    if (tik_cpu() & TIK_CPU_AVX512)
        return blocks_avx512(encoder, text, room, start, ends, count, sink, error);
    if (tik_cpu() & TIK_CPU_AVX2)
        return blocks_avx2(encoder, text, room, start, ends, count, sink, error);
#endif
    return blocks(encoder, text, room, start, ends, count, find_sets, sink, error);
}
