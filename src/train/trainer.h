/* Of train/ alone: what makes a tik_trainer. trainer.c learns, save.c writes and reads files. */
#ifndef TIK_TRAIN_TRAINER_H
#define TIK_TRAIN_TRAINER_H

#include "split/split.h"
#include "train/feed.h"
#include "train/train.h"

struct tik_trainer {
    char *name;
    char *pattern;
    size_t pattern_length;
    tik_rules rules;
    char **specials;
    size_t special_count;
    tik_encoding *start; /* NULL: the bytes */
    tik_train_callback callback;
    void *context;

    tik_splitter *splitter;
    tik_feed feed;
    tik_lexicon lexicon;
    tik_learner *learner; /* NULL until the first run */
    size_t distinct;      /* pieces */
    uint64_t alone;       /* pieces that were one symbol at the beginning: they never have a pair */
    bool exhausted;

    tik_merge *merges;
    size_t merge_count;
    size_t merge_capacity;
};

/* Readies the learner; no texts can be added any more. */
tik_status tik_trainer_begin(tik_trainer *trainer, size_t bytes, size_t pieces, tik_error *error);

/* Adds a piece to the learner, as the symbols of the vocabulary that training starts from. */
tik_status tik_trainer_piece(tik_trainer *trainer, const uint8_t *bytes, size_t length, uint64_t weight,
                             tik_ids *symbols, tik_error *error);

/* Room for one more merge. */
tik_status tik_trainer_reserve_merge(tik_trainer *trainer, tik_error *error);

/*
 * The special tokens of the result: those of the start, with their ids, then the trainer's own, after the
 * last token. `*specials` is to be freed; the texts belong to the trainer.
 */
tik_status tik_trainer_specials(const tik_trainer *trainer, tik_special **specials, size_t *count, tik_error *error);

/* The tokens in order of id; to be freed. The bytes are the lexicon's. */
tik_token *tik_trainer_tokens(const tik_trainer *trainer);

#endif
