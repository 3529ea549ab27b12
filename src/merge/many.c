/*
 * Learning many short pieces at once. What one piece costs is waiting: each merge looks two pairs up in
 * a table that is larger than the nearest caches, and what it finds decides the next merge. So the pieces
 * take turns: each, on its turn, reads what it asked for on the last one, does a merge, and asks for what
 * the next needs. The steps of one piece are those of short.c.
 */
#include "base/cpu.h"
#include "merge/merge.h"

#define PLACES 16 /* at most TIK_MEMO_SHORT bytes, and their end */
#define PLACE_BITS 4
#define NO_KEY UINT32_MAX

_Static_assert(TIK_MEMO_SHORT < PLACES, "the end of a piece needs a place");

typedef struct job {
    uint32_t keys[PLACES];   /* as in short.c: what the part here and the next one make, and the place */
    uint32_t tokens[PLACES]; /* of the part that begins here */
    uint32_t begins;         /* a bit for each place where a part begins, and one for the end */
    uint32_t length;
    uint32_t asked_left;     /* place whose pair is being looked up, PLACES for none */
    uint32_t asked_right;
    uint32_t left_slot;      /* where the lookup begins */
    uint32_t right_slot;
    uint32_t whole;          /* the token that the piece may be, TIK_NONE for none */
    tik_memo_key key;
} job;

static inline void bytes_of(const tik_memo_key *key, size_t length, uint8_t bytes[16])
{
    uint64_t words[2] = {key->low, key->high & (UINT64_MAX >> 8)};
    (void)length;
    for (size_t i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(words[0] >> 8 * i);
        bytes[8 + i] = (uint8_t)(words[1] >> 8 * i);
    }
}

static inline uint32_t next_begin(uint32_t begins, uint32_t place)
{
    return (uint32_t)__builtin_ctz(begins & ~((2u << place) - 1));
}

static inline uint32_t begin_before(uint32_t begins, uint32_t place)
{
    return 31 - (uint32_t)__builtin_clz(begins & ((1u << place) - 1));
}

static inline uint32_t ask(const tik_vocab *vocab, uint32_t left, uint32_t right)
{
    uint32_t slot = (uint32_t)(tik_hash_pair(left, right) >> vocab->pair_shift);
    __builtin_prefetch(vocab->pair_slots + slot);
    return slot;
}

static inline void begin(job *j, const tik_vocab *vocab)
{
    uint8_t bytes[16];
    bytes_of(&j->key, j->length, bytes);
    for (uint32_t i = 0; i < PLACES; i++)
        j->keys[i] = NO_KEY;
    for (uint32_t i = 0; i < j->length; i++)
        j->tokens[i] = vocab->byte_index[bytes[i]];
    for (uint32_t i = 0; i + 1 < j->length; i++) {
        uint32_t merged = vocab->byte_pairs[bytes[i] << 8 | bytes[i + 1]];
        j->keys[i] = merged == TIK_NONE ? NO_KEY : merged << PLACE_BITS | i;
    }
    j->begins = (2u << j->length) - 1;
    j->asked_left = j->asked_right = PLACES;
}

static inline __attribute__((always_inline)) uint32_t least_key(const uint32_t *keys)
{
    uint32_t least[PLACES / 2];
    for (size_t lane = 0; lane < PLACES / 2; lane++)
        least[lane] = keys[lane] < keys[lane + PLACES / 2] ? keys[lane] : keys[lane + PLACES / 2];
    for (size_t half = PLACES / 4; half > 0; half /= 2)
        for (size_t lane = 0; lane < half; lane++)
            least[lane] = least[lane + half] < least[lane] ? least[lane + half] : least[lane];
    return least[0];
}

/* What the part at `place` and the next one make. */
static inline uint32_t answer(const job *j, const tik_vocab *vocab, uint32_t place, uint32_t slot)
{
    uint32_t merged = tik_vocab_pair_from(vocab, j->tokens[place], j->tokens[next_begin(j->begins, place)], slot);
    return merged == TIK_NONE ? NO_KEY : merged << PLACE_BITS | place;
}

/* One turn; false when nothing merges any more. */
static inline __attribute__((always_inline)) bool turn(job *j, const tik_vocab *vocab)
{
    if (j->asked_left != PLACES)
        j->keys[j->asked_left] = answer(j, vocab, j->asked_left, j->left_slot);
    if (j->asked_right != PLACES)
        j->keys[j->asked_right] = answer(j, vocab, j->asked_right, j->right_slot);
    uint32_t least = least_key(j->keys);
    if (least == NO_KEY)
        return false;
    uint32_t place = least & (PLACES - 1);
    uint32_t merged = least >> PLACE_BITS;
    uint32_t gone = next_begin(j->begins, place);
    j->begins &= ~(1u << gone);
    j->tokens[place] = merged;
    j->keys[gone] = NO_KEY;
    j->keys[place] = NO_KEY;
    j->asked_left = j->asked_right = PLACES;
    uint32_t after = next_begin(j->begins, place);
    if (after < j->length) {
        j->asked_right = place;
        j->right_slot = ask(vocab, merged, j->tokens[after]);
    }
    if (place > 0) {
        uint32_t before = begin_before(j->begins, place);
        j->asked_left = before;
        j->left_slot = ask(vocab, j->tokens[before], merged);
    }
    return true;
}

static void finish(tik_memo *memo, const job *j)
{
    uint32_t ids[PLACES];
    size_t count = 0;
    if (j->whole != TIK_NONE)
        ids[count++] = j->whole;
    else
        for (uint32_t i = 0; i < j->length; i = next_begin(j->begins, i))
            ids[count++] = j->tokens[i];
    if (!memo->vocab->dense)
        for (size_t i = 0; i < count; i++)
            ids[i] = memo->vocab->ranks[ids[i]];
    tik_memo_put(memo, &j->key, NULL, ids, count);
}

/* Which of the jobs are tokens: each step for all, so that their memory comes at the same time. */
static void look_up(const tik_vocab *vocab, job *jobs, size_t count)
{
    uint64_t hashes[TIK_LEARN_MOST];
    for (size_t i = 0; i < count; i++) {
        hashes[i] = tik_hash_short(jobs[i].key.low, jobs[i].key.high & (UINT64_MAX >> 8), jobs[i].length);
        __builtin_prefetch(vocab->piece_slots + (hashes[i] >> vocab->piece_shift));
    }
    for (size_t i = 0; i < count; i++) {
        jobs[i].whole = tik_vocab_candidate(vocab, hashes[i]);
        if (jobs[i].whole != TIK_NONE)
            __builtin_prefetch(vocab->starts + jobs[i].whole);
    }
    for (size_t i = 0; i < count; i++)
        if (jobs[i].whole != TIK_NONE)
            __builtin_prefetch(vocab->bytes + vocab->starts[jobs[i].whole]);
    for (size_t i = 0; i < count; i++)
        if (jobs[i].whole != TIK_NONE) {
            uint8_t bytes[16];
            bytes_of(&jobs[i].key, jobs[i].length, bytes);
            jobs[i].whole = tik_vocab_find_hashed(vocab, bytes, jobs[i].length, hashes[i]);
        }
}

static inline __attribute__((always_inline)) void run(tik_memo *memo, job *jobs, size_t count)
{
    const tik_vocab *vocab = memo->vocab;
    uint8_t active[TIK_LEARN_MOST];
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (jobs[i].whole != TIK_NONE)
            finish(memo, &jobs[i]);
        else {
            begin(&jobs[i], vocab);
            active[left++] = (uint8_t)i;
        }
    while (left > 0)
        for (size_t i = 0; i < left;)
            if (turn(&jobs[active[i]], vocab))
                i++;
            else {
                finish(memo, &jobs[active[i]]);
                active[i] = active[--left];
            }
}

#if TIK_HAVE_X86
TIK_TARGET_AVX2 static void run_avx2(tik_memo *memo, job *jobs, size_t count)
{
    run(memo, jobs, count);
}
#endif

void tik_memo_learn_many(tik_memo *memo, const tik_memo_key *keys, size_t count)
{
    job jobs[TIK_LEARN_MOST];
    for (size_t i = 0; i < count; i++) {
        jobs[i].key = keys[i];
        jobs[i].length = (uint32_t)tik_memo_length(&keys[i]);
    }
    look_up(memo->vocab, jobs, count);
#if TIK_HAVE_X86
    if (tik_cpu() & TIK_CPU_AVX2) {
        run_avx2(memo, jobs, count);
        return;
    }
#endif
    run(memo, jobs, count);
}
