/*
 * Of feed alone: what its threads share, and what each has in hand. feed_read.c gives out chunks,
 * feed_count.c splits and counts them, feed.c starts the threads and joins their tables.
 *
 * What threads share is behind one lock. Chunks are given out in order and numbered; everything that
 * depends on order (first appearance, which error is reported) goes by that number, so that the number of
 * threads changes nothing.
 *
 * A text whose pattern has no known cuts goes out as a chain of links: each thread splits its link from
 * where it begins, be that inside a piece or not, keeping the ends. Where the pieces of the link before
 * really end is handed on along the chain: from there a few pieces are split again, until they end where a
 * kept one ends; from that place on both are the same, since what a pattern matches at a place depends on
 * nothing but the text.
 */
#ifndef TIK_TRAIN_FEED_PARTS_H
#define TIK_TRAIN_FEED_PARTS_H

#include <pthread.h>

#include "train/feed.h"

/* How much a thread takes at once, in bytes; tests take less. */
#define TIK_FEED_CHUNK ((size_t)1 << 20)

/* A link is so many chunks long, and is given with so much of what follows: a quarter of a chunk. */
#define TIK_FEED_LINK_CHUNKS 4
#define TIK_FEED_OVERLAP_PART 4

/* Look-behind sees at most so many bytes before a piece (PCRE2: 65535 characters). */
#define TIK_FEED_CONTEXT ((size_t)1 << 18)

/* With a bound on the pieces, the threads' tables are looked at each time so many chunks were read. */
#define TIK_FEED_ROUND_CHUNKS 32

/*
 * What a thread has in hand: texts that are complete (or cut), each ending where text_ends says; or one
 * link of a text without cuts.
 */
typedef struct text_chunk {
    tik_bytes bytes;
    size_t *text_ends;
    size_t text_count;
    size_t text_capacity;
    uint32_t unit;       /* its number */
    uint64_t first_text; /* number of the first text in it, from 0 */
    uint64_t offset;     /* of its first byte in that text */
    uint64_t refused;    /* the text that was not UTF-8 */

    bool link;
    uint64_t link_number;
    size_t begin; /* what is before is context, of the link before */
    size_t end;   /* what is behind is of the next link */
    bool first;   /* the text begins with it */
    bool last;    /* the text ends with it */
} text_chunk;

/* What one link hands to the next: where its pieces end, and the bytes behind that, if the next has not all. */
typedef struct link_end {
    uint64_t number; /* of the link that it is for */
    uint64_t place;  /* in the text; a piece ends there */
    tik_bytes tail;  /* text up to where the next link begins */
    uint64_t tail_offset;
    size_t tried;    /* so long was the text in which no piece was found to end */
} link_end;

typedef struct shared_reader {
    tik_feed *feed;
    tik_train_source source;
    void *context;
    size_t chunk; /* bytes */
    bool cuts;    /* the pattern has known cuts */
    pthread_mutex_t lock;
    tik_text slice; /* what is left of the slice at hand */
    bool slice_ends_text;
    bool in_text;       /* a text has begun and not ended */
    bool done;          /* the source has no more */
    tik_bytes carry;    /* of the text at hand: read, not given out, and if it is a chain, context before that */
    tik_bytes partial;  /* an unfinished character that waits for its end before it is replaced */
    uint64_t text;      /* number of the text at hand, from 1 */
    uint64_t offset;    /* of the carry's first byte in it */
    bool chain;         /* the text at hand goes out in links */
    size_t link_begin;  /* where in the carry the next one begins */
    uint64_t links;     /* given out */
    link_end link_end;
    pthread_cond_t link_ended;
    uint64_t budget; /* bytes to be read before the next look at the tables */
    bool stop;
    tik_status status; /* the failure of the lowest unit */
    uint32_t failed_unit;
    tik_error error;
} shared_reader;

typedef struct feed_worker {
    shared_reader *reader;
    tik_table *table;
    tik_table own;
    text_chunk chunk;
    tik_split_state *state;
    uint32_t *ends; /* of a link's pieces, from its beginning; as tik_split_next gives them */
    size_t end_count;
    size_t end_capacity;
    uint64_t pieces;
    uint64_t dropped;
} feed_worker;

/* True while there is something to give out. With the lock, as all that follows. */
bool tik_feed_is_work_left(const shared_reader *reader);

/* Gives out the next chunk. */
tik_status tik_feed_next_chunk(shared_reader *reader, text_chunk *chunk, tik_error *error);

/* Keeps the failure of the earliest chunk, and stops. */
void tik_feed_failed(shared_reader *reader, const text_chunk *chunk, tik_status status, const tik_error *error);

/* How many bytes at the end are the beginning of a character that is not complete. */
size_t tik_feed_unfinished(const char *bytes, size_t length);

/* A thread's work: chunk after chunk. Without the lock. */
void tik_feed_work(feed_worker *worker);

#endif
