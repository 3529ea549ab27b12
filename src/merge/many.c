/*
 * Learning many short pieces at once. What one piece costs is waiting: each merge looks two pairs up in
 * a table that is larger than the nearest caches, and what it finds decides the next merge. So the pieces
 * take turns: each, on its turn, reads what it asked for on the last one, does a merge, and asks for what
 * the next needs. The steps of one piece are those of short.c.
 */
#include "base/cpu.h"
#include "merge/merge.h"

/*
 * Places are counted from 1. At place 0 and at the end there is a part that makes no pair with any other,
 * so that the first and the last part need no case of their own.
 */
#define PLACES 17 /* TIK_MEMO_SHORT bytes, a part before and one behind */
#define KEYS 16   /* keys at places 1 to 15, and no key at 0: whole vectors */
#define PLACE_BITS 4
#define NO_KEY (TIK_NONE << PLACE_BITS) /* this and greater: nothing */
#define NO_TOKEN 0x1FFFFFu

_Static_assert(TIK_MEMO_SHORT + 2 == PLACES, "a piece has its places, and one on each side");

typedef struct job {
    uint32_t keys[KEYS];     /* as in short.c: what the part here and the next one make, and the place */
    uint32_t tokens[PLACES]; /* of the part that begins here */
    uint32_t begins;         /* a bit for each place where a part begins */
    uint32_t place;          /* of the part that the last turn made; its pairs are being looked up */
    uint32_t left_bucket;    /* of it and the part before */
    uint32_t right_bucket;   /* of it and the part behind */
    uint32_t length;
    uint32_t whole;          /* the token that the piece may be, TIK_NONE for none */
    tik_memo_key key;
} job;

static inline void bytes_of(const tik_memo_key *key, uint8_t bytes[16])
{
    tik_store64(bytes, key->low);
    tik_store64(bytes + 8, key->high);
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
    uint32_t bucket = tik_vocab_bucket(vocab, left, right);
    __builtin_prefetch(vocab->pair_buckets + (size_t)bucket * TIK_BUCKET);
    return bucket;
}

static inline __attribute__((always_inline)) uint32_t least_key(const uint32_t *keys)
{
    uint32_t least[KEYS / 2];
    for (size_t lane = 0; lane < KEYS / 2; lane++)
        least[lane] = keys[lane] < keys[lane + KEYS / 2] ? keys[lane] : keys[lane + KEYS / 2];
    for (size_t half = KEYS / 4; half > 0; half /= 2)
        for (size_t lane = 0; lane < half; lane++)
            least[lane] = least[lane + half] < least[lane] ? least[lane + half] : least[lane];
    return least[0];
}

/* Does the least merge and asks for the pairs of what it made; false if nothing merges. */
static inline __attribute__((always_inline)) bool merge_least(job *j, const tik_vocab *vocab)
{
    uint32_t least = least_key(j->keys);
    if (least >= NO_KEY)
        return false;
    uint32_t place = least & (KEYS - 1);
    uint32_t merged = least >> PLACE_BITS;
    uint32_t gone = next_begin(j->begins, place);
    j->begins &= ~(1u << gone);
    j->tokens[place] = merged;
    j->keys[gone] = NO_KEY;
    j->place = place;
    j->right_bucket = ask(vocab, merged, j->tokens[next_begin(j->begins, place)]);
    j->left_bucket = ask(vocab, j->tokens[begin_before(j->begins, place)], merged);
    return true;
}

/* One turn: reads what was asked for, and merges. */
static inline __attribute__((always_inline)) bool turn(job *j, const tik_vocab *vocab)
{
    uint32_t place = j->place;
    uint32_t before = begin_before(j->begins, place);
    uint32_t after = next_begin(j->begins, place);
    uint32_t token = j->tokens[place];
    uint32_t right = tik_vocab_pair_in(vocab, token, j->tokens[after], j->right_bucket);
    uint32_t left = tik_vocab_pair_in(vocab, j->tokens[before], token, j->left_bucket);
    j->keys[place] = right << PLACE_BITS | place;
    j->keys[before] = left << PLACE_BITS | before;
    return merge_least(j, vocab);
}

static inline __attribute__((always_inline)) bool begin(job *j, const tik_vocab *vocab)
{
    uint8_t bytes[16];
    bytes_of(&j->key, bytes);
    uint32_t length = j->length;
    for (uint32_t i = 0; i < KEYS; i++)
        j->keys[i] = NO_KEY;
    j->tokens[0] = j->tokens[length + 1] = NO_TOKEN;
    uint32_t begins = 1 | 2u << length;
    uint32_t last = 0; /* place of the part before; none yet */
    for (uint32_t i = 0; i < length;) {
        size_t size = 1;
        uint32_t token = bytes[i] < 0x80 ? TIK_NONE : tik_vocab_solid(vocab, bytes, length, i, &size);
        if (token == TIK_NONE) {
            token = vocab->byte_index[bytes[i]];
            size = 1;
        }
        uint32_t place = i + 1;
        begins |= 1u << place;
        j->tokens[place] = token;
        if (last != 0) {
            bool single = size == 1 && place - last == 1;
            uint32_t merged = single ? vocab->byte_pairs[bytes[last - 1] << 8 | bytes[i]]
                                     : tik_vocab_pair(vocab, j->tokens[last], token);
            j->keys[last] = merged << PLACE_BITS | last;
        }
        last = place;
        i += (uint32_t)size;
    }
    j->begins = begins;
    return merge_least(j, vocab);
}

static void finish(tik_memo *memo, const job *j)
{
    uint32_t ids[TIK_MEMO_SHORT];
    size_t count = 0;
    if (j->whole != TIK_NONE)
        ids[count++] = j->whole;
    else
        for (uint32_t i = 1; i <= j->length; i = next_begin(j->begins, i))
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
            bytes_of(&jobs[i].key, bytes);
            jobs[i].whole = tik_vocab_find_hashed(vocab, bytes, jobs[i].length, hashes[i]);
        }
}

static inline __attribute__((always_inline)) void run(tik_memo *memo, job *jobs, size_t count)
{
    const tik_vocab *vocab = memo->vocab;
    uint8_t active[TIK_LEARN_MOST];
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (jobs[i].whole != TIK_NONE || !begin(&jobs[i], vocab))
            finish(memo, &jobs[i]);
        else
            active[left++] = (uint8_t)i;
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
