/*
 * encode: the entry points of tik.h. Of this folder alone: what an encoding and an encoder are, and the
 * steps that the entry points share.
 */
#ifndef TIK_ENCODE_H
#define TIK_ENCODE_H

#include <stdatomic.h>

#include "base/base.h"
#include "merge/merge.h"
#include "registry/registry.h"
#include "split/split.h"
#include "vocab/vocab.h"

/* ---- Special tokens ------------------------------------------------------------------------ */

/* A set of special tokens, ready to be found in a text. */
typedef struct tik_specials {
    const tik_special *list; /* in order of id */
    size_t count;
    uint32_t *by_text;       /* places in `list`, in order of text */
    size_t common;           /* bytes that all texts begin with */
} tik_specials;

/* Sorts; `list` must outlive it. TIK_ERROR_FORMAT for a text that stands twice. */
tik_status tik_specials_init(tik_specials *specials, const tik_special *list, size_t count, tik_error *error);
void tik_specials_free(tik_specials *specials);

/* The place in `list` of the special token of that text, count if there is none. */
size_t tik_specials_lookup(const tik_specials *specials, const char *text, size_t length);

/*
 * The first place at or after `from` where one of the special tokens begins; of several there, the
 * longest. `wanted`, if not NULL, has a bool for each place in `list`. False if there is none.
 */
bool tik_specials_find(const tik_specials *specials, const bool *wanted, const uint8_t *text, size_t length,
                       size_t from, size_t *at, size_t *index);

/*
 * The first place from which the rest of the text is a proper beginning of a special token: more text
 * could make it one. `length` if there is none.
 */
size_t tik_specials_unfinished(const tik_specials *specials, const uint8_t *text, size_t length);

/* ---- The encoding -------------------------------------------------------------------------- */

/* Encoders that are kept between calls; threads beyond that make and free one for each call. */
#define TIK_SPARES 16

struct tik_encoding {
    atomic_size_t references;
    const char *name;
    const char *pattern;
    size_t pattern_length;
    tik_vocab vocab;
    tik_specials specials;
    tik_splitter *splitter;
    uint32_t largest_id;
    bool drops;                      /* the pattern may leave text that no piece covers */
    _Atomic(tik_encoder *) spares[TIK_SPARES]; /* encoders for the short way and for batches, when not in use */
    void *tables;                    /* laid-out tables of our own, else NULL */
    tik_manifest *manifest;          /* of our own, else NULL: name, pattern, specials lie in it */
};

/* Makes an encoding of a manifest's data and tables; takes `tables` and `manifest` over on success. */
tik_status tik_encoding_make(const tik_manifest *data, const void *tables, size_t size, void *own_tables,
                             tik_manifest *own_manifest, tik_encoding **out, tik_error *error);

/* The whole file, appended. TIK_ERROR_IO with the system's reason. */
tik_status tik_read_file(const char *path, tik_bytes *data, tik_error *error);

/* ---- The encoder --------------------------------------------------------------------------- */

#define TIK_ENDS 512 /* pieces asked of the splitter at a time */

/* Places where ids are still to be put in, at most. */
#define TIK_HOLES 256

/* Pieces that are not known yet, and where their ids go: their number is made good many at a time. */
typedef struct tik_waiting {
    tik_unknown pieces[TIK_LEARN_MOST];
    size_t piece_count;
    size_t at[TIK_HOLES];     /* how many ids of the sink come before; in order */
    uint8_t piece[TIK_HOLES]; /* which of the pieces belongs there */
    size_t hole_count;
} tik_waiting;

struct tik_encoder {
    const tik_encoding *encoding;
    bool holds;              /* a reference to `encoding` */
    tik_split_state *state;
    tik_memo memo;
    tik_waiting waiting;
    tik_ids scratch;         /* ids of a piece that is only counted */
    tik_bytes replaced;      /* a text with its bad UTF-8 replaced */
    tik_sizes gaps;          /* of the last text: start and end of each run that no piece covers */
    size_t dropped;          /* their bytes */
    size_t last_start;       /* of the last text: where its last piece begins and ends; both 0 if it has */
    size_t last_end;         /* none, or if a special token is last */
    uint32_t ends[TIK_ENDS];
};

tik_status tik_encoder_make(const tik_encoding *encoding, tik_encoder **out, tik_error *error);

/* An encoder of the encoding's, for one call; give it back. */
tik_status tik_encoder_borrow(const tik_encoding *encoding, tik_encoder **out, tik_error *error);
void tik_encoder_return(tik_encoder *encoder);

/* Where the ids of a text go. */
typedef struct tik_sink {
    tik_ids *ids; /* NULL: only counted */
    size_t count; /* ids so far */
    size_t limit; /* stop after a batch that passes it; SIZE_MAX for none */
} tik_sink;

/*
 * Encodes text[from, length), which is valid UTF-8 and one stretch of ordinary text, from the beginning
 * of a piece. With `more` the text may go on: only certain pieces are encoded. `*done` becomes the end of
 * the last piece encoded. `base` is where the stretch lies in the whole text, for the gaps.
 */
tik_status tik_encoder_stretch(tik_encoder *encoder, const uint8_t *text, size_t length, size_t from, bool more,
                               size_t base, tik_sink *sink, size_t *done, tik_error *error);

/* Appends the ids of one piece of any bytes: looked up whole, else merged. */
tik_status tik_encoder_piece(tik_encoder *encoder, const uint8_t *piece, size_t length, tik_ids *ids,
                             tik_error *error);

/* ---- Policies ------------------------------------------------------------------------------ */

/* What options come to for an encoding. */
typedef struct tik_policy {
    bool any_allowed;
    bool *allowed;             /* per special token; NULL: all */
    bool any_disallowed;
    bool *disallowed;          /* per special token; NULL: all of `forbidden` */
    const tik_specials *forbidden;
    tik_specials own_forbidden; /* names of the caller's that are refused */
    tik_special *own_list;
    char *own_names;
    bool replace_invalid;
    unsigned threads;
    size_t limit;
} tik_policy;

/* Checks and reads options (NULL: the reference's defaults). */
tik_status tik_policy_init(tik_policy *policy, const tik_encoding *encoding, const tik_options *options,
                           tik_error *error);
void tik_policy_free(tik_policy *policy);

/* Copies the names that the policy still takes from the options, so that it may outlive them. */
tik_status tik_policy_keep(tik_policy *policy, tik_error *error);

/* TIK_ERROR_SPECIAL if the text has a disallowed special token. */
tik_status tik_policy_check(const tik_policy *policy, const uint8_t *text, size_t length, tik_error *error);

/* The error for a disallowed special token at `offset`. */
tik_status tik_fail_special(tik_error *error, const tik_special *special, size_t offset);

/* The error for a text that is not UTF-8 at `offset`. */
tik_status tik_fail_utf8(tik_error *error, uint8_t byte, size_t offset);

/* Encodes a whole text by a policy: validity, special tokens, stretches. On failure ids are as they were. */
tik_status tik_encoder_text(tik_encoder *encoder, const tik_policy *policy, const uint8_t *text, size_t length,
                            tik_sink *sink, tik_error *error);

#endif
