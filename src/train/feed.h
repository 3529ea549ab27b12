/*
 * feed: texts → pieces with how often they occur, on several threads, in bounded memory.
 *
 * Texts come in slices from a source. Each thread takes a chunk of about a megabyte, splits it, and counts
 * in a table of its own; the tables are joined at the end. A long text is cut where its pieces are the
 * same for both parts (tik_split_cut). Where no such place is known, it goes out in links of a chain (see
 * feed_parts.h).
 */
#ifndef TIK_TRAIN_FEED_H
#define TIK_TRAIN_FEED_H

#include "split/split.h"
#include "train/table.h"

typedef struct tik_feed {
    const tik_splitter *splitter;
    unsigned threads;
    size_t max_pieces; /* 0 for no bound */
    bool prune;        /* beyond it: drop the rarest, or refuse */
    bool replace_invalid;
    size_t chunk; /* bytes that a thread takes at once; 0 for what is best */
    tik_train_callback callback;
    void *context;

    /* What was counted. An entry's `unit` and `order` rise with first appearance, compared in that order. */
    tik_table table;
    uint32_t units;
    uint64_t bytes;
    uint64_t pieces;
    uint64_t dropped; /* bytes that no piece covers */
    uint64_t pruned;  /* pieces */
    uint64_t refused; /* after TIK_ERROR_UTF8: which text of the source it was, from 0 */
} tik_feed;

/* Counts the pieces of all texts of `source`. On failure the feed can only be freed. */
tik_status tik_feed_take(tik_feed *feed, tik_train_source source, void *context, tik_error *error);

typedef enum tik_feed_order {
    TIK_FEED_BY_APPEARANCE,
    TIK_FEED_BY_COUNT, /* the most frequent first, equal ones in any order */
    TIK_FEED_BY_COUNT_AND_APPEARANCE
} tik_feed_order;

/*
 * Moves the entries to the front of the table, which is no table any more, in the order asked for.
 * Returns them, feed->table.count. Cannot fail.
 */
tik_table_entry *tik_feed_sort(tik_feed *feed, tik_feed_order order);

void tik_feed_free(tik_feed *feed);

#endif
