/*
 * Merging a piece of any length in linear time.
 *
 * What it rests on. Call two tokens x y *steady* if merging their bytes together gives x y again. A
 * sequence of tokens, each of which comes out of its own bytes, is what merging gives for the bytes of
 * all if and only if all its neighbours are steady. For if merging the whole ever crossed an end of a
 * token, look at the first time: it joins an end of x with a beginning of its neighbour y. Until then no
 * merge has crossed an end, so the merges within x y were, in order, those of merging x y alone (each
 * step takes the lowest rank, then the leftmost, of all pairs, hence of the pairs within x y); then
 * merging x y alone would cross there too, and they would not be steady. The other direction is the same
 * argument. No property of the ranks is used.
 *
 * So a long piece is merged in windows: the last tokens so far are taken back, their bytes and the next
 * window's are merged together, and what comes out is joined on if it is steady with the token before;
 * if not, more is taken back. And where a text repeats, tokens that repeat may be repeated: no new
 * neighbours arise.
 */
#include "merge/merge.h"

/* Bytes that come new in a window. Shorter windows search shorter arrays, longer ones repeat less. */
#define WINDOW 96

/* Tokens taken back for the next window. */
#define BACK 2

/* A repeating text is looked for in pieces of at least this many bytes, with a period of at most... */
#define REPEAT_LEAST 4096
#define PERIOD_MOST 16

/* Whether merging the bytes of both gives the two again. `at` is where the second begins. */
static bool is_steady(const tik_vocab *vocab, const uint8_t *piece, size_t at, uint32_t left, uint32_t right)
{
    uint32_t out[TIK_MERGE_SHORT];
    size_t before = tik_vocab_length(vocab, left);
    size_t after = tik_vocab_length(vocab, right);
    if (before + after > TIK_MERGE_SHORT)
        return false;
    return tik_merge_short(vocab, piece + at - before, before + after, out) == 2 && out[0] == left &&
           out[1] == right;
}

/* A vocabulary with tokens too long for a window: the whole by the definition's own heap. */
static tik_status merge_in_one(const tik_vocab *vocab, const uint8_t *piece, size_t length, tik_ids *out,
                               tik_error *error)
{
    tik_status status = tik_reserve_ids(out, length, error);
    if (status != TIK_OK)
        return status;
    size_t count = 0;
    status = tik_vocab_merge(vocab, piece, length, out->data + out->length, &count, error);
    out->length += count;
    return status;
}

/* Merges piece[0, length), appending to `out`, window by window. */
static tik_status merge_windows(const tik_vocab *vocab, const uint8_t *piece, size_t length, tik_ids *out,
                                tik_error *error)
{
    size_t first = out->length;
    size_t done = 0; /* bytes that `out` covers */
    while (done < length) {
        size_t end = length - done < WINDOW + WINDOW / 2 ? length : done + WINDOW;
        size_t back = BACK;
        for (;;) {
            /* Take `back` tokens back: the window begins at `start`, `kept` tokens stay. */
            size_t kept = out->length;
            size_t start = done;
            for (size_t i = 0; i < back && kept > first; i++)
                start -= tik_vocab_length(vocab, out->data[--kept]);
            if (end - start > TIK_MERGE_SHORT) {
                out->length = first;
                return merge_in_one(vocab, piece, length, out, error);
            }
            uint32_t merged[TIK_MERGE_SHORT];
            size_t count = tik_merge_short(vocab, piece + start, end - start, merged);
            if (kept > first && merged[0] != out->data[kept] &&
                !is_steady(vocab, piece, start, out->data[kept - 1], merged[0])) {
                back *= 2;
                continue;
            }
            out->length = kept;
            tik_status status = tik_reserve_ids(out, count, error);
            if (status != TIK_OK)
                return status;
            memcpy(out->data + kept, merged, count * sizeof *merged);
            out->length = kept + count;
            break;
        }
        done = end;
    }
    return TIK_OK;
}

/* The least period of the piece up to PERIOD_MOST bytes, 0 if it has none. */
static size_t period_of(const uint8_t *piece, size_t length)
{
    for (size_t period = 1; period <= PERIOD_MOST; period++)
        if (memcmp(piece, piece + period, 64) == 0 && memcmp(piece, piece + period, length - period) == 0)
            return period;
    return 0;
}

/*
 * A piece that repeats: a beginning of it is merged; where in that a run of tokens follows on itself,
 * more of the same is put in, so many that the whole length comes out. `*done` tells whether it could.
 */
static tik_status merge_repeating(const tik_vocab *vocab, const uint8_t *piece, size_t length, size_t period,
                                  tik_ids *out, bool *done, tik_error *error)
{
    size_t first = out->length;
    size_t sample = REPEAT_LEAST / 2;
    *done = false;
    for (int attempt = 0; attempt < 2; attempt++) {
        out->length = first;
        tik_status status = merge_windows(vocab, piece, sample, out, error);
        if (status != TIK_OK)
            return status;
        /* The shortest run of tokens, from the middle on, that is there twice in a row and fits the period. */
        const uint32_t *tokens = out->data + first;
        size_t count = out->length - first;
        size_t middle = count / 2;
        size_t run = 0;
        size_t bytes = 0;
        while (run == 0 || bytes % period != 0 ||
               memcmp(tokens + middle, tokens + middle + run, run * sizeof *tokens) != 0) {
            if (middle + 2 * (run + 1) > count) {
                out->length = first;
                return TIK_OK;
            }
            bytes += tik_vocab_length(vocab, tokens[middle + run++]);
        }
        size_t missing = length - sample;
        if (missing % bytes != 0) {
            sample += missing % bytes;
            continue;
        }
        size_t more = missing / bytes * run;
        status = tik_reserve_ids(out, more, error);
        if (status != TIK_OK)
            return status;
        uint32_t *at = out->data + first + middle;
        memmove(at + more, at, (count - middle) * sizeof *at);
        for (size_t filled = 0; filled < more; filled += run)
            memcpy(at + filled, at + more, run * sizeof *at);
        out->length += more;
        *done = true;
        return TIK_OK;
    }
    out->length = first;
    return TIK_OK;
}

tik_status tik_merge_long(const tik_vocab *vocab, const uint8_t *piece, size_t length, tik_ids *out,
                          tik_error *error)
{
    size_t before = out->length;
    tik_status status;
    if (length >= REPEAT_LEAST) {
        size_t period = period_of(piece, length);
        bool done = false;
        if (period) {
            status = merge_repeating(vocab, piece, length, period, out, &done, error);
            if (status != TIK_OK || done)
                return status;
        }
    }
    status = merge_windows(vocab, piece, length, out, error);
    if (status != TIK_OK)
        out->length = before;
    return status;
}
