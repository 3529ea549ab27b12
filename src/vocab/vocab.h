/*
 * vocab: a vocabulary's lookup tables, in one form: position-independent, read-only bytes. One function
 * lays them out from a list of ranks; the build runs it over vocab/ and embeds the result, so that
 * opening an embedded vocabulary is taking a pointer; a rank file met at run time goes the same way.
 *
 * Inside, a token is known by its index: its place in the order of ranks, from 0. Lower index = lower
 * rank = merged earlier. Where the ranks have no gaps, index and rank are the same number.
 */
#ifndef TIK_VOCAB_H
#define TIK_VOCAB_H

#include <string.h>

#include "base/base.h"
#include "vocab/ranks.h"

/* No token. */
#define TIK_NONE UINT32_MAX

/* Most tokens that a vocabulary may have: an index fits 21 bits with one value to spare. */
#define TIK_VOCAB_LIMIT ((UINT32_C(1) << 21) - 2)

/* Entries of a bucket of pairs: a cache line. */
#define TIK_BUCKET 8

/* The padding behind `bytes`: so much may be read past the end of any token. */
#define TIK_VOCAB_PADDING 32

typedef struct tik_vocab {
    uint32_t count;              /* tokens */
    uint32_t largest_rank;
    uint32_t longest;            /* bytes of the longest token */
    bool dense;                  /* index and rank are the same number */
    uint32_t piece_shift;        /* 64 - log2(slots of piece_slots) */
    uint32_t pair_shift;         /* 64 - log2(buckets of pair_buckets) */
    const uint8_t *bytes;        /* the tokens' bytes, in order of index */
    const uint32_t *starts;      /* [count + 1]: where each begins in `bytes` */
    const uint32_t *ranks;       /* [count]: index → rank */
    const uint32_t *piece_slots; /* open addressing: 0 or tag << 21 | index + 1 */
    const uint64_t *pair_buckets; /* TIK_BUCKET entries each: 0 or left << 42 | right << 21 | merged + 1 */
    const uint32_t *byte_index;  /* [256]: the token of one byte */
    const uint32_t *byte_pairs;  /* [65536]: what bytes a and b merge to, at a << 8 | b; TIK_NONE */
    const uint32_t *sorted;      /* [count]: indices in order of bytes */
    const uint32_t *solid_2;     /* [0x800]: code point → token and classes (see tik_vocab_solid); TIK_NONE */
    const uint32_t *solid_3;     /* [0x10000] */
} tik_vocab;

/*
 * Lays out the tables of `ranks` (in order of rank) into one allocation, `*tables`, to be freed with
 * free(). TIK_ERROR_LIMIT for more than TIK_VOCAB_LIMIT tokens or 4 GiB of bytes; TIK_ERROR_MEMORY.
 */
tik_status tik_vocab_layout(const tik_ranks *ranks, void **tables, size_t *size, tik_error *error);

/* Reads laid-out tables in place; they must outlive `vocab` and be aligned to 64 bytes. */
tik_status tik_vocab_attach(const void *tables, size_t size, tik_vocab *vocab, tik_error *error);

/* Turns the byte order of laid-out tables round, for a build for a machine of the other kind. */
void tik_vocab_swap(void *tables);

/* The tables of an embedded rank file, by the SHA-256 of the file. False if it is not embedded. */
bool tik_vocab_embedded(const char *sha256, const void **tables, size_t *size);

/* ---- Lookups ------------------------------------------------------------------------------- */

/* Eight bytes as a little-endian number, whatever the machine: hashes are then the same everywhere. */
static inline uint64_t tik_load64(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline void tik_store64(uint8_t *at, uint64_t word)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(at, &word, sizeof word);
}

/* Odd constants with well-spread bits: the fractional parts of the square roots of 2 and 3, made odd. */
#define TIK_HASH_A UINT64_C(0x6A09E667F3BCC909)
#define TIK_HASH_B UINT64_C(0xBB67AE8584CAA73B)

/* The hash of a piece of at most 16 bytes, given as two words padded with zeros. Its top bits are best. */
static inline uint64_t tik_hash_short(uint64_t low, uint64_t high, size_t length)
{
    uint64_t mixed = (low ^ (uint64_t)length << 56) * TIK_HASH_A;
    mixed ^= mixed >> 32;
    mixed = (mixed + high) * TIK_HASH_B;
    return mixed ^ mixed >> 29;
}

/* The hash of any piece; the same as tik_hash_short for a short one. */
uint64_t tik_hash(const uint8_t *piece, size_t length);

/* The first min(length, 16) bytes at `piece`, padded with zeros; reads nothing beyond them. */
static inline void tik_load_short(const uint8_t *piece, size_t length, uint64_t *low, uint64_t *high)
{
    uint8_t padded[16] = {0};
    memcpy(padded, piece, length < 16 ? length : 16);
    *low = tik_load64(padded);
    *high = tik_load64(padded + 8);
}

static inline size_t tik_vocab_length(const tik_vocab *vocab, uint32_t index)
{
    return vocab->starts[index + 1] - vocab->starts[index];
}

/* The first token that has the hash's tag where the hash points to, TIK_NONE if there is none: not checked. */
static inline uint32_t tik_vocab_candidate(const tik_vocab *vocab, uint64_t hash)
{
    uint32_t mask = (UINT32_C(1) << (64 - vocab->piece_shift)) - 1;
    uint32_t tag = (uint32_t)(hash & 0x7FF);
    for (uint32_t slot = (uint32_t)(hash >> vocab->piece_shift);; slot = (slot + 1) & mask) {
        uint32_t entry = vocab->piece_slots[slot];
        if (entry == 0)
            return TIK_NONE;
        if (entry >> 21 == tag)
            return (entry & 0x1FFFFF) - 1;
    }
}

/* The token whose bytes these are, TIK_NONE if there is none; `hash` is tik_hash of them. */
static inline uint32_t tik_vocab_find_hashed(const tik_vocab *vocab, const uint8_t *piece, size_t length,
                                             uint64_t hash)
{
    uint32_t mask = (UINT32_C(1) << (64 - vocab->piece_shift)) - 1;
    uint32_t tag = (uint32_t)(hash & 0x7FF);
    for (uint32_t slot = (uint32_t)(hash >> vocab->piece_shift);; slot = (slot + 1) & mask) {
        uint32_t entry = vocab->piece_slots[slot];
        if (entry == 0)
            return TIK_NONE;
        if (entry >> 21 == tag) {
            uint32_t index = (entry & 0x1FFFFF) - 1;
            if (tik_vocab_length(vocab, index) == length &&
                memcmp(vocab->bytes + vocab->starts[index], piece, length) == 0)
                return index;
        }
    }
}

static inline uint32_t tik_vocab_find(const tik_vocab *vocab, const uint8_t *piece, size_t length)
{
    if (length > vocab->longest)
        return TIK_NONE;
    return tik_vocab_find_hashed(vocab, piece, length, tik_hash(piece, length));
}

static inline uint64_t tik_hash_pair(uint32_t left, uint32_t right)
{
    return left * TIK_HASH_A + right * TIK_HASH_B;
}

/*
 * What `left` and `right` merge to when they come to stand side by side, TIK_NONE if to nothing.
 *
 * The definition asks whether the bytes of both together are a token. This table holds one pair for each
 * token, the last two parts of the token's own merging, and that is enough: as long as no merge has
 * crossed the ends of a stretch of bytes, the merges within it are, in order, those of the stretch by
 * itself (each step takes the lowest rank, then the leftmost, of all pairs, hence of the stretch's). So
 * when two parts that make up a token stand side by side, they are a state of the token's own merging
 * with two parts, and there is only one such state.
 *
 * `bucket` is where the pair's hash points to, so that it can be asked for beforehand. All entries of a
 * bucket, a cache line, are compared, without a branch; a full one goes on in the next. 0x1FFFFF is no
 * token: it makes no pair. `entry_of` is a constant: tik_vocab_entry, or one written for an instruction set.
 */
TIK_INLINE uint32_t tik_vocab_pair_by(const tik_vocab *vocab, uint32_t left, uint32_t right, uint32_t bucket,
                                      uint64_t (*entry_of)(const uint64_t *entries, uint64_t key))
{
    uint64_t key = (uint64_t)left << 21 | right;
    for (;;) {
        const uint64_t *entries = vocab->pair_buckets + (size_t)bucket * TIK_BUCKET;
        uint64_t found = entry_of(entries, key);
        /* One condition, nearly never true: whether there is a pair is as good as random. */
        if (TIK_LIKELY(!((found == 0) & (entries[TIK_BUCKET - 1] != 0))))
            return (uint32_t)(found & 0x1FFFFF) - 1; /* TIK_NONE if none was found */
        bucket = (bucket + 1) & ((UINT32_C(1) << (64 - vocab->pair_shift)) - 1);
    }
}

/* The entry of a bucket whose upper bits are the key, 0 if there is none: for tik_vocab_pair_by, on any machine. */
TIK_INLINE uint64_t tik_vocab_entry(const uint64_t *entries, uint64_t key)
{
    typedef uint64_t four __attribute__((vector_size(32)));
    typedef uint64_t two __attribute__((vector_size(16)));
    four a;
    four b;
    memcpy(&a, entries, sizeof a);
    memcpy(&b, entries + 4, sizeof b);
    four hits = (a & (four)(a >> 21 == key)) | (b & (four)(b >> 21 == key));
    two halves = __builtin_shufflevector(hits, hits, 0, 1) | __builtin_shufflevector(hits, hits, 2, 3);
    return halves[0] | halves[1];
}

TIK_INLINE uint32_t tik_vocab_pair_in(const tik_vocab *vocab, uint32_t left, uint32_t right, uint32_t bucket)
{
    return tik_vocab_pair_by(vocab, left, right, bucket, tik_vocab_entry);
}

static inline uint32_t tik_vocab_bucket(const tik_vocab *vocab, uint32_t left, uint32_t right)
{
    return (uint32_t)(tik_hash_pair(left, right) >> vocab->pair_shift);
}

static inline uint32_t tik_vocab_pair(const tik_vocab *vocab, uint32_t left, uint32_t right)
{
    return tik_vocab_pair_in(vocab, left, right, tik_vocab_bucket(vocab, left, right));
}

/*
 * Classes of the bytes that may stand beside a character. Before it: space, four kinds of continuation
 * bytes, all others. Behind it: the first bytes of two-byte characters, of scripts from U+0800, of Chinese,
 * of Korean, all others (ASCII and kana among them). The other kinds join to a character's bytes rarely,
 * these often; any division would be right.
 */
#define TIK_SOLID_CLASSES 11
#define TIK_SOLID_SHIFT 21 /* a solid character's entry: classes that spoil it << 21 | token */

static inline uint32_t tik_solid_before(uint8_t byte)
{
    if ((byte & 0xC0) == 0x80)
        return 4u << (byte >> 2 & 3);
    return byte == ' ' ? 1 : 2;
}

static inline uint32_t tik_solid_behind(uint8_t byte)
{
    /* By the upper half from 0xC0 on, and for 0xE0 to 0xEF by the lower one. */
    static const uint8_t leads[16] = {8, 8, 6, 6, 9, 9, 9, 9, 9, 9, 10, 10, 10, 10, 6, 6};
    if (byte < 0xC0 || byte >= 0xF0)
        return 1u << 6;
    return 1u << (byte < 0xE0 ? 7 : leads[byte & 15]);
}

/*
 * The token of the character of two or three bytes that begins at text[at], if merging can begin with the
 * whole character instead of its bytes; TIK_NONE if it can't. `*size` becomes the character's bytes.
 *
 * A character is solid between its neighbours if its bytes merge to a token before any part of them can
 * merge with what surrounds it, and if its being whole early changes nothing: solid.c tells how that is
 * known. In a piece, only what lies in the piece is beside it.
 */
static inline uint32_t tik_vocab_solid(const tik_vocab *vocab, const uint8_t *text, size_t length, size_t at,
                                       size_t *size)
{
    const uint8_t *b = text + at;
    size_t room = length - at;
    uint32_t entry;
    if (b[0] < 0xC2 || b[0] > 0xEF || room < 2 || tik_utf8_is_start(b[1]))
        return TIK_NONE;
    if (b[0] < 0xE0) {
        *size = 2;
        entry = vocab->solid_2[(b[0] & 0x1Fu) << 6 | (b[1] & 0x3Fu)];
    } else {
        *size = 3;
        if (room < 3 || tik_utf8_is_start(b[2]))
            return TIK_NONE;
        entry = vocab->solid_3[(b[0] & 0x0Fu) << 12 | (b[1] & 0x3Fu) << 6 | (b[2] & 0x3Fu)];
    }
    uint32_t beside = at > 0 ? tik_solid_before(b[-1]) : 0;
    if (room > *size) {
        if (!tik_utf8_is_start(b[*size]))
            return TIK_NONE;
        beside |= tik_solid_behind(b[*size]);
    }
    if (entry == TIK_NONE || entry >> TIK_SOLID_SHIFT & beside)
        return TIK_NONE;
    return entry & ((UINT32_C(1) << TIK_SOLID_SHIFT) - 1);
}

/* The token that merging begins with at text[at], of `*size` bytes: a solid character, else one byte. */
static inline uint32_t tik_vocab_first(const tik_vocab *vocab, const uint8_t *text, size_t length, size_t at,
                                       size_t *size)
{
    uint32_t token = text[at] < 0x80 ? TIK_NONE : tik_vocab_solid(vocab, text, length, at, size);
    if (token != TIK_NONE)
        return token;
    *size = 1;
    return vocab->byte_index[text[at]];
}

/*
 * Merges a piece by the definition, with a heap, asking the bytes: n log n, for any vocabulary. Writes at
 * most `length` indices to `out`. TIK_ERROR_LIMIT for 4 GiB or more; TIK_ERROR_MEMORY.
 */
tik_status tik_vocab_merge(const tik_vocab *vocab, const uint8_t *piece, size_t length, uint32_t *out, size_t *count,
                           tik_error *error);

/* The index of a rank, TIK_NONE if no token has it. */
uint32_t tik_vocab_index(const tik_vocab *vocab, uint32_t rank);

#endif
