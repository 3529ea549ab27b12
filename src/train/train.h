/*
 * train: learn a byte-level BPE vocabulary from texts.
 *
 *     texts ──► pieces, each with how often it occurs ──► merges, the most frequent pair first
 *               feed.c, table.c                           learn.c (plain.c: the same on a page)
 *
 * The public interface is in tik.h (tik_trainer); trainer.c puts the parts together. This header is for
 * them and for their tests.
 */
#ifndef TIK_TRAIN_H
#define TIK_TRAIN_H

#include "base/base.h"
#include "train/table.h"

/* ---- Tokens: bytes by id, id by bytes --------------------------------------------------------- */

typedef struct tik_lexicon {
    tik_bytes bytes;    /* of all tokens, in order of their making */
    size_t *starts;     /* by id: where a token's bytes begin */
    uint32_t *lengths;  /* by id: how many they are; 0 where there is no token */
    size_t limit;       /* the id that the next new token gets; all others are below */
    size_t capacity;    /* of starts and lengths */
    size_t count;       /* tokens */
    tik_table by_bytes; /* value: the id */
} tik_lexicon;

/* Makes the lexicon of the 256 bytes, id = byte, or with `empty` one without tokens. */
tik_status tik_lexicon_init(tik_lexicon *lexicon, bool empty, tik_error *error);
void tik_lexicon_free(tik_lexicon *lexicon);

/* Adds a token. TIK_ERROR_FORMAT if its bytes or its id are another's. */
tik_status tik_lexicon_add(tik_lexicon *lexicon, const void *bytes, size_t length, uint32_t id, tik_error *error);

/* The id of the token whose bytes are those of `left` then `right`; a new token if there is none (`*joined` false). */
tik_status tik_lexicon_join(tik_lexicon *lexicon, uint32_t left, uint32_t right, uint32_t *id, bool *joined,
                            tik_error *error);

static inline const uint8_t *tik_lexicon_bytes(const tik_lexicon *lexicon, uint32_t id)
{
    return (const uint8_t *)lexicon->bytes.data + lexicon->starts[id];
}

/* ---- Merges ------------------------------------------------------------------------------------ */

typedef struct tik_rules {
    tik_ties ties;
    uint64_t min_count; /* a pair that occurs less often is not merged; 0 as 1 */
    size_t max_length;  /* bytes; a pair that would be longer is not merged; 0 for no bound */
} tik_rules;

/*
 * A learner holds pieces as sequences of symbols and makes one merge after the other. Pieces are added
 * first, in order of first appearance for TIK_TIES_FIRST, in any order for TIK_TIES_LOWEST (sorted by
 * weight is fastest); then tik_learner_start; then tik_learner_step until it is enough.
 */
typedef struct tik_learner tik_learner;

/* `lexicon` is the caller's, outlives the learner, and grows with every new token. */
tik_status tik_learner_new(const tik_rules *rules, tik_lexicon *lexicon, tik_learner **out, tik_error *error);
void tik_learner_free(tik_learner *learner);

/* A piece that occurs `weight` times. TIK_ERROR_LIMIT: all pieces together have less than 4 GiB. */
tik_status tik_learner_add(tik_learner *learner, const uint32_t *symbols, size_t count, uint64_t weight,
                           tik_error *error);

/* Makes room for pieces of `bytes` bytes in all, so that adding them wastes no memory. */
tik_status tik_learner_reserve(tik_learner *learner, size_t bytes, size_t pieces, tik_error *error);

tik_status tik_learner_start(tik_learner *learner, tik_error *error);

/* Makes the next merge; `*done` if no pair is left that the rules allow. */
tik_status tik_learner_step(tik_learner *learner, tik_merge *merge, bool *done, tik_error *error);

/* Makes a merge that was made before, of `left` and `right`, whatever the counts say. */
tik_status tik_learner_repeat(tik_learner *learner, uint32_t left, uint32_t right, tik_merge *merge,
                              tik_error *error);

/* Symbols in the pieces now, each weighted by its piece: the tokens of the texts. */
uint64_t tik_learner_tokens(const tik_learner *learner);

/*
 * The pieces with a pair, in the order in which they were added: `*from` is 0 for the first, and moves on.
 * Appends the bytes of one; `*weight` is 0 past the last.
 */
tik_status tik_learner_piece(const tik_learner *learner, size_t *from, tik_bytes *bytes, uint64_t *weight,
                             tik_error *error);

/*
 * The plain version: the same merges, found by counting every pair anew for each. Appends to `merges`
 * (growable: *count of *capacity) until the lexicon has `size` tokens or no pair is left.
 */
typedef struct tik_piece {
    uint32_t *symbols; /* merged in place */
    size_t count;
    uint64_t weight;
} tik_piece;

tik_status tik_learn_plain(const tik_rules *rules, tik_lexicon *lexicon, tik_piece *pieces, size_t piece_count,
                           size_t size, tik_merge **merges, size_t *count, size_t *capacity, tik_error *error);

#endif
