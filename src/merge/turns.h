/*
 * The turns of many.c. Included once for each instruction set, by a file that defines before
 *
 *     TURNS_TARGET          the attribute of functions that use it
 *     TURNS_LEARN           the name of what is defined here: tik_learn, for one instruction set
 *     set_key, least_key    one key written; the least of 16 or 64: see many.c for the plain ones
 *     pair_entry            as tik_vocab_entry
 *
 * Places are counted from 1. At place 0 and at the end there is a part that makes no pair with any other,
 * so that the first and the last part need no case of their own. `groups` is a constant at each call: a
 * piece has 16 places for each.
 */

/* What follows is the same for all that include this: a piece on its way. */
typedef struct job {
    uint64_t begins;       /* a bit for each place where a part begins */
    uint64_t asked;        /* at the beginning: places whose pair is being looked up; their bucket is the key */
    uint32_t place;        /* of the part that the last turn made; its pairs are being looked up */
    uint32_t left_bucket;  /* of it and the part before */
    uint32_t right_bucket; /* of it and the part behind */
    uint32_t unknown;      /* which of the pieces it is */
} job;

#define NO_TOKEN 0x1FFFFFu

TIK_INLINE uint32_t place_bits(size_t groups)
{
    return groups == 1 ? 4 : 6;
}

/* This and greater: nothing. */
TIK_INLINE uint32_t no_key(size_t groups)
{
    return TIK_NONE << place_bits(groups);
}

TIK_INLINE uint32_t next_begin(uint64_t begins, uint32_t place)
{
    return (uint32_t)__builtin_ctzll(begins & ~((UINT64_C(2) << place) - 1));
}

TIK_INLINE uint32_t begin_before(uint64_t begins, uint32_t place)
{
    return 63 ^ (uint32_t)__builtin_clzll(begins & ((UINT64_C(1) << place) - 1));
}

TIK_INLINE uint32_t ask(const tik_vocab *vocab, uint32_t left, uint32_t right)
{
    uint32_t bucket = tik_vocab_bucket(vocab, left, right);
    __builtin_prefetch(vocab->pair_buckets + (size_t)bucket * TIK_BUCKET);
    return bucket;
}

TURNS_TARGET TIK_INLINE uint32_t pair_in(const tik_vocab *vocab, uint32_t left, uint32_t right, uint32_t bucket)
{
    return tik_vocab_pair_by(vocab, left, right, bucket, pair_entry);
}

/* Does the least merge and asks for the pairs of what it made; false if nothing merges. */
TURNS_TARGET TIK_INLINE bool merge_least(job *j, uint32_t *keys, uint32_t *tokens, size_t groups,
                                         const tik_vocab *vocab)
{
    uint32_t least = least_key(keys, groups);
    if (least >= no_key(groups))
        return false;
    uint32_t place = least & ((1u << place_bits(groups)) - 1);
    uint32_t merged = least >> place_bits(groups);
    uint32_t gone = next_begin(j->begins, place);
    j->begins &= ~(UINT64_C(1) << gone);
    tokens[place] = merged;
    set_key(keys, groups, gone, no_key(groups));
    j->place = place;
    j->right_bucket = ask(vocab, merged, tokens[next_begin(j->begins, place)]);
    j->left_bucket = ask(vocab, tokens[begin_before(j->begins, place)], merged);
    return true;
}

/* Reads what was asked for. */
TURNS_TARGET TIK_INLINE void read_pairs(const job *j, uint32_t *keys, const uint32_t *tokens, size_t groups,
                                        const tik_vocab *vocab)
{
    uint32_t place = j->place;
    uint32_t before = begin_before(j->begins, place);
    uint32_t after = next_begin(j->begins, place);
    uint32_t token = tokens[place];
    uint32_t right = pair_in(vocab, token, tokens[after], j->right_bucket);
    uint32_t left = pair_in(vocab, tokens[before], token, j->left_bucket);
    set_key(keys, groups, place, right << place_bits(groups) | place);
    set_key(keys, groups, before, left << place_bits(groups) | before);
}

/* A piece of ASCII, at most 15 bytes: every step is done for all places, so that no branch depends on its length. */
TIK_INLINE void begin_ascii(job *j, uint32_t *keys, uint32_t *tokens, const tik_unknown *piece,
                            const tik_vocab *vocab)
{
    uint8_t bytes[16];
    tik_store64(bytes, piece->key.low);
    tik_store64(bytes + 8, piece->key.high);
    bytes[15] = 0;
    keys[0] = no_key(1);
    tokens[0] = NO_TOKEN;
    for (uint32_t i = 0; i < TIK_MEMO_SHORT; i++) {
        uint32_t merged = vocab->byte_pairs[bytes[i] << 8 | bytes[i + 1]];
        tokens[i + 1] = vocab->byte_index[bytes[i]];
        keys[i + 1] = (i + 1 < piece->length ? merged << place_bits(1) : no_key(1)) | (i + 1);
    }
    tokens[piece->length + 1] = NO_TOKEN;
    j->begins = (UINT64_C(4) << piece->length) - 1;
    j->asked = 0;
}

/* Any piece: solid characters begin whole. Asks for the pairs that are not of two bytes. */
TIK_INLINE void begin(job *j, uint32_t *keys, uint32_t *tokens, size_t groups, const tik_unknown *piece,
                      const tik_vocab *vocab)
{
    const uint8_t *bytes = piece->piece;
    size_t length = piece->length;
    for (size_t i = 0; i < 16 * groups; i++)
        keys[i] = no_key(groups);
    tokens[0] = tokens[length + 1] = NO_TOKEN;
    j->begins = 1 | UINT64_C(2) << length;
    j->asked = 0;
    uint32_t last = 0; /* place of the part before; none yet */
    for (size_t i = 0; i < length;) {
        size_t size;
        uint32_t token = tik_vocab_first(vocab, bytes, length, i, &size);
        uint32_t place = (uint32_t)i + 1;
        j->begins |= UINT64_C(1) << place;
        tokens[place] = token;
        if (last != 0) {
            if (size == 1 && place - last == 1)
                keys[last] = vocab->byte_pairs[bytes[i - 1] << 8 | bytes[i]] << place_bits(groups) | last;
            else {
                keys[last] = ask(vocab, tokens[last], token);
                j->asked |= UINT64_C(1) << last;
            }
        }
        last = place;
        i += size;
    }
}

/* Reads the pairs that were asked for at the beginning. */
TURNS_TARGET TIK_INLINE void answer(job *j, uint32_t *keys, const uint32_t *tokens, size_t groups,
                                    const tik_vocab *vocab)
{
    for (uint64_t asked = j->asked; asked != 0; asked &= asked - 1) {
        uint32_t place = (uint32_t)__builtin_ctzll(asked);
        uint32_t merged = pair_in(vocab, tokens[place], tokens[next_begin(j->begins, place)], keys[place]);
        keys[place] = merged << place_bits(groups) | place;
    }
}

/* The keys and the tokens of job i. */
#define KEYS(i) (all_keys + (i)*16 * groups)
#define TOKENS(i) (all_tokens + (i) * (16 * groups + 1))

TIK_INLINE void finish(const job *j, const uint32_t *tokens, tik_unknown *pieces, uint32_t *ids, size_t *used)
{
    tik_unknown *piece = &pieces[j->unknown];
    piece->first = (uint32_t)*used;
    for (uint32_t place = 1; place <= piece->length; place = next_begin(j->begins, place))
        ids[(*used)++] = tokens[place];
    piece->count = (uint32_t)*used - piece->first;
}

/* The pieces that `which` names, at most TIK_LEARN_MOST, of 64 places TIK_LEARN_WIDE. Appends their ids. */
TURNS_TARGET TIK_INLINE void run(const tik_vocab *vocab, tik_unknown *pieces, const uint8_t *which, size_t count,
                                 size_t groups, uint32_t *ids, size_t *used)
{
    job jobs[TIK_LEARN_MOST];
    _Alignas(64) uint32_t all_keys[TIK_LEARN_WIDE * 64];
    uint32_t all_tokens[TIK_LEARN_WIDE * 65];
    uint8_t active[TIK_LEARN_MOST];
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        const tik_unknown *piece = &pieces[which[i]];
        jobs[i].unknown = which[i];
        if (groups == 1 && ((piece->key.low | piece->key.high << 8) & UINT64_C(0x8080808080808080)) == 0)
            begin_ascii(&jobs[i], KEYS(i), TOKENS(i), piece, vocab);
        else
            begin(&jobs[i], KEYS(i), TOKENS(i), groups, piece, vocab);
    }
    for (size_t i = 0; i < count; i++)
        answer(&jobs[i], KEYS(i), TOKENS(i), groups, vocab);
    for (size_t i = 0; i < count; i++)
        if (merge_least(&jobs[i], KEYS(i), TOKENS(i), groups, vocab))
            active[left++] = (uint8_t)i;
        else
            finish(&jobs[i], TOKENS(i), pieces, ids, used);
    /* Two short steps for all instead of one long one: more of them overlap. */
    while (left > 0) {
        for (size_t k = 0; k < left; k++)
            read_pairs(&jobs[active[k]], KEYS(active[k]), TOKENS(active[k]), groups, vocab);
        size_t still = 0;
        for (size_t k = 0; k < left; k++) {
            size_t i = active[k];
            if (merge_least(&jobs[i], KEYS(i), TOKENS(i), groups, vocab))
                active[still++] = (uint8_t)i;
            else
                finish(&jobs[i], TOKENS(i), pieces, ids, used);
        }
        left = still;
    }
}

/* Apart from each other: compiled into one function, they would share its registers. */
TURNS_TARGET static __attribute__((noinline)) void run_short(const tik_vocab *vocab, tik_unknown *pieces,
                                                             const uint8_t *which, size_t count, uint32_t *ids,
                                                             size_t *used)
{
    run(vocab, pieces, which, count, 1, ids, used);
}

TURNS_TARGET static __attribute__((noinline)) void
run_wide(const tik_vocab *vocab, tik_unknown *pieces, const uint8_t *which, size_t count, uint32_t *ids, size_t *used)
{
    for (size_t i = 0; i < count; i += TIK_LEARN_WIDE)
        run(vocab, pieces, which + i, count - i < TIK_LEARN_WIDE ? count - i : TIK_LEARN_WIDE, 4, ids, used);
}

/* Which of the pieces are tokens: each step for all, so that their memory comes at the same time. */
TIK_INLINE void look_up(const tik_vocab *vocab, const tik_unknown *pieces, size_t count, uint32_t *whole)
{
    uint64_t hashes[TIK_LEARN_MOST];
    for (size_t i = 0; i < count; i++) {
        const tik_memo_key *key = &pieces[i].key;
        hashes[i] = pieces[i].length > TIK_MEMO_SHORT
                        ? key->low
                        : tik_hash_short(key->low, key->high & (UINT64_MAX >> 8), pieces[i].length);
        __builtin_prefetch(vocab->piece_slots + (hashes[i] >> vocab->piece_shift));
    }
    for (size_t i = 0; i < count; i++) {
        whole[i] = tik_vocab_candidate(vocab, hashes[i]);
        if (whole[i] != TIK_NONE)
            __builtin_prefetch(vocab->starts + whole[i]);
    }
    for (size_t i = 0; i < count; i++)
        if (whole[i] != TIK_NONE)
            __builtin_prefetch(vocab->bytes + vocab->starts[whole[i]]);
    for (size_t i = 0; i < count; i++)
        if (whole[i] != TIK_NONE)
            whole[i] = tik_vocab_find_hashed(vocab, pieces[i].piece, pieces[i].length, hashes[i]);
}

TURNS_TARGET void TURNS_LEARN(const tik_vocab *vocab, tik_unknown *pieces, size_t count, uint32_t *ids)
{
    uint32_t whole[TIK_LEARN_MOST];
    uint8_t which[2][TIK_LEARN_MOST]; /* of those to be merged: short ones and wide ones */
    size_t some[2] = {0, 0};
    size_t used = 0;
    look_up(vocab, pieces, count, whole);
    for (size_t i = 0; i < count; i++) {
        bool wide = pieces[i].length > TIK_MEMO_SHORT;
        if (whole[i] != TIK_NONE) {
            pieces[i].first = (uint32_t)used;
            pieces[i].count = 1;
            ids[used++] = whole[i];
        } else
            which[wide][some[wide]++] = (uint8_t)i;
    }
    run_short(vocab, pieces, which[0], some[0], ids, &used);
    run_wide(vocab, pieces, which[1], some[1], ids, &used);
    if (!vocab->dense)
        for (size_t i = 0; i < used; i++)
            ids[i] = vocab->ranks[ids[i]];
}
