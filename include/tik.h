/*
 * tik.h: the public interface of libtik, tiktoken's encodings, id for id, in C.
 *
 *     tik_encoding *enc = NULL;
 *     tik_error err;
 *     if (tik_open("o200k_base", &enc, &err) != TIK_OK) { fprintf(stderr, "%s\n", err.message); return 2; }
 *     size_t n;
 *     if (tik_count(enc, text, length, &n, &err) == TIK_OK) printf("%zu\n", n);
 *     tik_close(enc);
 *
 * What holds everywhere:
 *
 * - A text is UTF-8 with an explicit length in bytes; zero bytes are text. Sizes are size_t, ids uint32_t.
 * - Every function that can fail returns a tik_status and takes a `tik_error *`, which may be NULL; it
 *   is written on failure only. Outputs are untouched on failure unless said otherwise.
 * - No function prints, exits, aborts, or changes global state. Running out of memory is a status.
 * - A tik_encoding never changes: all threads may use one at once. A tik_encoder, tik_stream or
 *   tik_decoder belongs to one thread at a time.
 * - Strings that a function returns belong to the object they were asked of and live as long as it does.
 */
#ifndef TIK_H
#define TIK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(TIK_BUILD) && defined(__GNUC__)
#define TIK_API __attribute__((visibility("default")))
#else
#define TIK_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define TIK_VERSION_MAJOR 0
#define TIK_VERSION_MINOR 1
#define TIK_VERSION_PATCH 0
#define TIK_VERSION "0.1.0"

/* ---- Errors -------------------------------------------------------------------------------- */

typedef enum tik_status {
    TIK_OK = 0,
    TIK_ERROR_MEMORY = 1,     /* no memory */
    TIK_ERROR_ARGUMENT = 2,   /* the call is wrong: a value out of range, options that contradict */
    TIK_ERROR_NAME = 3,       /* no encoding, model or token of that name; the message has the nearest */
    TIK_ERROR_UTF8 = 4,       /* the text is not UTF-8; `offset` is the first bad byte */
    TIK_ERROR_SPECIAL = 5,    /* the text contains a disallowed special token at `offset` */
    TIK_ERROR_ID = 6,         /* no token has that id; `offset` is its index in the ids */
    TIK_ERROR_FORMAT = 7,     /* a file is not what it should be; `line` and `offset` say where */
    TIK_ERROR_PATTERN = 8,    /* a split pattern that can't be run as meant; `offset` is in the pattern */
    TIK_ERROR_IO = 9,         /* the system refused to read or write a file */
    TIK_ERROR_NETWORK = 10,   /* a download failed */
    TIK_ERROR_HASH = 11,      /* a file's SHA-256 is not the expected one */
    TIK_ERROR_OFFLINE = 12,   /* a download is needed and TIK_OFFLINE forbids it */
    TIK_ERROR_LIMIT = 13,     /* larger than can be handled; the message says the limit */
    TIK_ERROR_CANCELLED = 14, /* a callback of the caller said stop */
    TIK_ERROR_MISSING = 15    /* this build has not the part it takes (embedded vocabulary, downloads) */
} tik_status;

typedef struct tik_error {
    tik_status status;
    size_t line;       /* from 1; SIZE_MAX if no line is meant */
    size_t offset;     /* from 0, in bytes (in ids for TIK_ERROR_ID); SIZE_MAX if none is meant */
    char message[512]; /* what was wrong, where, what to do; one line, no newline at its end */
} tik_error;

/* The status in a few words, as "no memory". Never NULL. */
TIK_API const char *tik_status_text(tik_status status);

/* The version of the library, TIK_VERSION of its build. */
TIK_API const char *tik_version(void);

/* One line: versions of the library, PCRE2, Unicode, and the embedded vocabularies. */
TIK_API const char *tik_version_details(void);

/* ---- Growable results ---------------------------------------------------------------------- */

/* Ids, owned by the caller. Begin with TIK_IDS_INIT; functions append to it; release with tik_ids_free. */
typedef struct tik_ids {
    uint32_t *data;
    size_t length;
    size_t capacity;
} tik_ids;
#define TIK_IDS_INIT { 0, 0, 0 }
TIK_API void tik_ids_free(tik_ids *ids);

/* Bytes, in the same way. Not zero-terminated. */
typedef struct tik_bytes {
    char *data;
    size_t length;
    size_t capacity;
} tik_bytes;
#define TIK_BYTES_INIT { 0, 0, 0 }
TIK_API void tik_bytes_free(tik_bytes *bytes);

/*
 * Appends `text` with each bad sequence of UTF-8 replaced by U+FFFD, as Python's errors="replace" does: for
 * functions that take only UTF-8. TIK_ERROR_MEMORY.
 */
TIK_API tik_status tik_replace_invalid(const char *text, size_t length, tik_bytes *bytes, tik_error *error);

/* ---- Opening an encoding ------------------------------------------------------------------- */

typedef struct tik_encoding tik_encoding;

/*
 * Opens a public encoding by name: gpt2, r50k_base, p50k_base, p50k_edit, cl100k_base, o200k_base,
 * o200k_harmony. Embedded vocabularies cost a pointer; others are read from the cache or downloaded.
 * The caller owns one reference: tik_close. TIK_ERROR_NAME, TIK_ERROR_MEMORY, and what loading can give.
 */
TIK_API tik_status tik_open(const char *name, tik_encoding **encoding, tik_error *error);

/* Opens the encoding of a model, as "gpt-4o" or "gpt-4o-2024-05-13": exact names first, then prefixes. */
TIK_API tik_status tik_open_model(const char *model, tik_encoding **encoding, tik_error *error);

/*
 * Opens an encoding from a manifest file (JSON, see docs/manifest.md); its rank file is sought beside
 * it. TIK_ERROR_IO, TIK_ERROR_FORMAT, TIK_ERROR_PATTERN, TIK_ERROR_HASH.
 */
TIK_API tik_status tik_open_manifest(const char *path, tik_encoding **encoding, tik_error *error);

/* A mergeable token: bytes and rank. */
typedef struct tik_token {
    const char *bytes;
    size_t length; /* bytes, at least 1 */
    uint32_t rank; /* its id and its priority; at most 2^31 - 1 */
} tik_token;

/* A special token: a text that stands for one id. */
typedef struct tik_special {
    const char *text; /* UTF-8 */
    size_t length;    /* bytes, at least 1 */
    uint32_t id;      /* at most 2^31 - 1 */
} tik_special;

/* All that makes an encoding. Copied: nothing needs to outlive the call. */
typedef struct tik_definition {
    size_t size;      /* sizeof(tik_definition) */
    const char *name; /* zero-terminated */
    const char *pattern;
    size_t pattern_length;
    const tik_token *tokens; /* in any order; each single byte must be among them */
    size_t token_count;
    const tik_special *specials;
    size_t special_count;
    size_t explicit_vocab_size; /* 0, or what tokens and specials must come to, the largest id plus 1 */
} tik_definition;

/*
 * Opens an encoding from ranks, pattern and special tokens in memory. TIK_ERROR_FORMAT for a repeated
 * token or rank, a missing byte, a special token whose id or text is a token's or whose text stands twice
 * (two may share an id: decoding gives the first in order of text); TIK_ERROR_PATTERN.
 */
TIK_API tik_status tik_open_definition(const tik_definition *definition, tik_encoding **encoding, tik_error *error);

/* One more reference to `encoding`; returns it. */
TIK_API tik_encoding *tik_retain(tik_encoding *encoding);

/* Gives a reference back; the last one frees. NULL is allowed. */
TIK_API void tik_close(tik_encoding *encoding);

/* ---- What an encoding is ------------------------------------------------------------------- */

TIK_API const char *tik_name(const tik_encoding *encoding);

/* The split pattern as the reference writes it; `*length` (may be NULL) in bytes. */
TIK_API const char *tik_pattern(const tik_encoding *encoding, size_t *length);

/* How pieces are made and by what: "pcre2", or the scanner and its instruction set. */
TIK_API const char *tik_engine(const tik_encoding *encoding);

TIK_API uint32_t tik_largest_id(const tik_encoding *encoding);
TIK_API size_t tik_vocab_size(const tik_encoding *encoding);  /* largest id plus 1, as the reference's n_vocab */
TIK_API size_t tik_token_count(const tik_encoding *encoding); /* mergeable tokens: ids that exist, specials apart */
TIK_API size_t tik_special_count(const tik_encoding *encoding);

/* Special token `index`, in order of id. TIK_ERROR_ARGUMENT past the end. */
TIK_API tik_status tik_special_at(const tik_encoding *encoding, size_t index, tik_special *special, tik_error *error);

/* The id of <|endoftext|>. TIK_ERROR_NAME if the encoding has none. */
TIK_API tik_status tik_end_of_text(const tik_encoding *encoding, uint32_t *id, tik_error *error);

TIK_API bool tik_is_special(const tik_encoding *encoding, uint32_t id);

/* The bytes of a token or special token, in the encoding's own memory. TIK_ERROR_ID. */
TIK_API tik_status tik_token_bytes(const tik_encoding *encoding, uint32_t id, const char **bytes, size_t *length,
                                   tik_error *error);

/* The id whose bytes are exactly these: a token, else a special token. TIK_ERROR_NAME if there is none. */
TIK_API tik_status tik_token_id(const tik_encoding *encoding, const char *bytes, size_t length, uint32_t *id,
                                tik_error *error);

/* All mergeable tokens sorted by their bytes: `*count` ids, appended to `ids`. */
TIK_API tik_status tik_tokens_sorted(const tik_encoding *encoding, tik_ids *ids, tik_error *error);

/* ---- Options of encoding ------------------------------------------------------------------- */

/* What special tokens written in the text are. */
typedef enum tik_set {
    TIK_SET_NONE = 0,
    TIK_SET_ALL = 1,  /* every special token (for disallowed: every one that is not allowed) */
    TIK_SET_LISTED = 2
} tik_set;

typedef struct tik_options {
    size_t size;              /* sizeof(tik_options) */
    tik_set allowed;          /* these become their ids; where several begin at one place, the longest */
    tik_set disallowed;       /* these are refused with TIK_ERROR_SPECIAL; any other is ordinary text */
    const char *const *allowed_list; /* zero-terminated, for TIK_SET_LISTED; a name with a zero byte can't be listed */
    size_t allowed_count;
    const char *const *disallowed_list;
    size_t disallowed_count;
    bool replace_invalid;     /* bad UTF-8 becomes U+FFFD, as Python's errors="replace"; else refused */
    unsigned threads;         /* for batches, and texts and slices of 1 MiB and more: 0 or 1 one thread,
                                 TIK_ALL_THREADS all cores; the result is the same */
    size_t limit;             /* counting stops once it is known to be passed; 0 for no limit */
} tik_options;

/* The reference's defaults: nothing allowed, every special token refused, bad UTF-8 refused. */
#define TIK_OPTIONS_INIT { sizeof(tik_options), TIK_SET_NONE, TIK_SET_ALL, 0, 0, 0, 0, false, 0, 0 }

/* Ordinary text: special tokens in it are text like any other. */
#define TIK_OPTIONS_ORDINARY { sizeof(tik_options), TIK_SET_NONE, TIK_SET_NONE, 0, 0, 0, 0, false, 0, 0 }

#define TIK_ALL_THREADS 0xFFFFFFFFu

/* ---- Encoding and counting, the short way -------------------------------------------------- */

/*
 * Appends the ids of `text` to `ids`. `options` NULL means TIK_OPTIONS_INIT. The thread's own encoder is
 * kept for the next call. On failure `ids` is as it was.
 * A listed name that is no special token of the encoding is never found, as with the reference.
 * TIK_ERROR_UTF8, TIK_ERROR_SPECIAL, TIK_ERROR_ARGUMENT.
 */
TIK_API tik_status tik_encode(const tik_encoding *encoding, const char *text, size_t length,
                              const tik_options *options, tik_ids *ids, tik_error *error);

/* The same for ordinary text: TIK_OPTIONS_ORDINARY. */
TIK_API tik_status tik_encode_ordinary(const tik_encoding *encoding, const char *text, size_t length, tik_ids *ids,
                                       tik_error *error);

/* How many ids `text` has, as ordinary text: nothing is stored. */
TIK_API tik_status tik_count(const tik_encoding *encoding, const char *text, size_t length, size_t *count,
                             tik_error *error);

/*
 * The same with options. With `limit`, stops reading as soon as there are more: `*count` is then some
 * number above the limit, of the tokens seen.
 */
TIK_API tik_status tik_count_with(const tik_encoding *encoding, const char *text, size_t length,
                                  const tik_options *options, size_t *count, tik_error *error);

/*
 * Bytes that need not be UTF-8, as the reference's _encode_bytes: the valid beginning is split as text,
 * what follows its last stable piece is merged as one piece.
 */
TIK_API tik_status tik_encode_bytes(const tik_encoding *encoding, const char *bytes, size_t length, tik_ids *ids,
                                    tik_error *error);

/* One piece, not split: the whole of `bytes` is looked up, else merged. */
TIK_API tik_status tik_encode_piece(const tik_encoding *encoding, const char *bytes, size_t length, tik_ids *ids,
                                    tik_error *error);

/* ---- Encoding with an encoder of one's own ------------------------------------------------- */

/* One thread's working memory: buffers, and the pieces it has met, bounded. */
typedef struct tik_encoder tik_encoder;

/* The encoder holds a reference to `encoding`. */
TIK_API tik_status tik_encoder_new(const tik_encoding *encoding, tik_encoder **encoder, tik_error *error);
TIK_API void tik_encoder_free(tik_encoder *encoder);

/* As tik_encode and tik_count_with. */
TIK_API tik_status tik_encoder_encode(tik_encoder *encoder, const char *text, size_t length,
                                      const tik_options *options, tik_ids *ids, tik_error *error);
TIK_API tik_status tik_encoder_count(tik_encoder *encoder, const char *text, size_t length,
                                     const tik_options *options, size_t *count, tik_error *error);

/* Bytes of the last text that the pattern covered with no piece: the reference drops them without a word. */
TIK_API size_t tik_encoder_dropped(const tik_encoder *encoder);

/* ---- Offsets, pieces ----------------------------------------------------------------------- */

/*
 * Encodes and says where each token lies: `offsets` receives one start per id, appended, in bytes of the
 * text (`*offsets` is a tik_sizes). tik_offsets_in_characters turns them into characters in place, each
 * the first character that has bytes of the token.
 */
typedef struct tik_sizes {
    size_t *data;
    size_t length;
    size_t capacity;
} tik_sizes;
#define TIK_SIZES_INIT { 0, 0, 0 }
TIK_API void tik_sizes_free(tik_sizes *sizes);

TIK_API tik_status tik_encode_offsets(const tik_encoding *encoding, const char *text, size_t length,
                                      const tik_options *options, tik_ids *ids, tik_sizes *offsets, tik_error *error);
TIK_API tik_status tik_offsets_in_characters(const char *text, size_t length, tik_sizes *offsets, tik_error *error);

/* The pieces of an ordinary text: appends the end of each, in bytes. */
TIK_API tik_status tik_pieces(const tik_encoding *encoding, const char *text, size_t length, tik_sizes *ends,
                              tik_error *error);

/*
 * The ids of `text` as far as no continuation can change them, and the ways in which it may go on: each
 * completion a sequence of ids whose bytes begin with the bytes not covered by `stable`, as the
 * reference's encode_with_unstable. Completion k is completions[starts[k] .. starts[k+1]); `starts` gets
 * one entry more than there are completions, which are sorted.
 */
TIK_API tik_status tik_encode_unstable(const tik_encoding *encoding, const char *text, size_t length,
                                       const tik_options *options, tik_ids *stable, tik_ids *completions,
                                       tik_sizes *starts, tik_error *error);

/* ---- Many texts ---------------------------------------------------------------------------- */

typedef struct tik_text {
    const char *data;
    size_t length; /* bytes */
} tik_text;

/*
 * Encodes `count` texts on `options->threads` threads. The ids of all are appended to `ids` in order;
 * `starts` gets count + 1 positions in `ids`: text k is ids[starts[k] .. starts[k+1]).
 * On failure the error's message names the text; `ids` and `starts` are as they were.
 */
TIK_API tik_status tik_encode_batch(const tik_encoding *encoding, const tik_text *texts, size_t count,
                                    const tik_options *options, tik_ids *ids, tik_sizes *starts, tik_error *error);

/* counts[k] becomes the number of tokens of text k. */
TIK_API tik_status tik_count_batch(const tik_encoding *encoding, const tik_text *texts, size_t count,
                                   const tik_options *options, size_t *counts, tik_error *error);

/* ---- Streams ------------------------------------------------------------------------------- */

/*
 * A text that comes in slices, cut anywhere, inside characters too: the ids are those of the whole text.
 * Memory is bounded by the longest stretch without a certain boundary. With `threads` in the options, slices
 * of 1 MiB and more are encoded on several threads, 2 MiB for each at a time. The fault reported is the
 * first in the text, wherever the slices are cut.
 */
typedef struct tik_stream tik_stream;

TIK_API tik_status tik_stream_new(const tik_encoding *encoding, const tik_options *options, tik_stream **stream,
                                  tik_error *error);
TIK_API void tik_stream_free(tik_stream *stream);

/* Takes the next slice; appends the ids that are certain by now to `ids` (NULL to count only). */
TIK_API tik_status tik_stream_feed(tik_stream *stream, const char *slice, size_t length, tik_ids *ids,
                                   tik_error *error);

/* Says that the text is complete; appends the last ids. The stream is then ready for a new text. */
TIK_API tik_status tik_stream_finish(tik_stream *stream, tik_ids *ids, tik_error *error);

/* Ids given out since the text began. */
TIK_API size_t tik_stream_count(const tik_stream *stream);

/* Bytes taken in whose ids have not been given out. */
TIK_API size_t tik_stream_pending(const tik_stream *stream);

/* Bytes of the text so far that the pattern covered with no piece (see tik_encoder_dropped). */
TIK_API size_t tik_stream_dropped(const tik_stream *stream);

/* ---- Decoding ------------------------------------------------------------------------------ */

/* How bytes become text where they are not UTF-8, as Python's error handlers of the same names. */
typedef enum tik_decoding {
    TIK_DECODE_BYTES = 0, /* as they are */
    TIK_DECODE_STRICT = 1, /* TIK_ERROR_UTF8 */
    TIK_DECODE_REPLACE = 2,
    TIK_DECODE_IGNORE = 3
} tik_decoding;

/* Appends the bytes of `count` ids. TIK_ERROR_ID with the index of an id that there is not. */
TIK_API tik_status tik_decode(const tik_encoding *encoding, const uint32_t *ids, size_t count, tik_decoding mode,
                              tik_bytes *bytes, tik_error *error);

/*
 * Many at once, on `threads` threads (as in tik_options): the bytes of list k are bytes[starts[k] ..
 * starts[k+1]). ids and list k, and failures, as in tik_encode_batch.
 */
TIK_API tik_status tik_decode_batch(const tik_encoding *encoding, const uint32_t *ids, const size_t *id_starts,
                                    size_t count, tik_decoding mode, unsigned threads, tik_bytes *bytes,
                                    tik_sizes *starts, tik_error *error);

/*
 * Decodes strictly and gives the offset of each token in characters, as the reference's
 * decode_with_offsets: the first character that has bytes of the token.
 */
TIK_API tik_status tik_decode_offsets(const tik_encoding *encoding, const uint32_t *ids, size_t count,
                                      tik_bytes *text, tik_sizes *offsets, tik_error *error);

/* Decodes ids as they come, giving out whole characters only. */
typedef struct tik_decoder tik_decoder;

TIK_API tik_status tik_decoder_new(const tik_encoding *encoding, tik_decoding mode, tik_decoder **decoder,
                                   tik_error *error);
TIK_API void tik_decoder_free(tik_decoder *decoder);
TIK_API tik_status tik_decoder_feed(tik_decoder *decoder, const uint32_t *ids, size_t count, tik_bytes *text,
                                    tik_error *error);
TIK_API tik_status tik_decoder_finish(tik_decoder *decoder, tik_bytes *text, tik_error *error);

/* ---- Truncating and chunking --------------------------------------------------------------- */

/* Where a text is preferably cut. Each kind of place is also one of the kinds before it. */
typedef enum tik_boundary {
    TIK_AT_CHARACTER = 0,
    TIK_AT_WORD = 1,     /* before white space, or after a line's end */
    TIK_AT_SENTENCE = 2, /* after its full stop (or ! ? and those of other scripts) and closing quotes */
    TIK_AT_LINE = 3,     /* after a line's end */
    TIK_AT_PARAGRAPH = 4 /* after the empty lines that part it from the next */
} tik_boundary;

typedef struct tik_cut_options {
    size_t size;                /* sizeof(tik_cut_options) */
    tik_boundary at;            /* cut there, or at the next finer kind of place if there is none */
    bool graphemes;             /* never inside an extended grapheme cluster (Unicode 16.0) */
    const tik_options *special; /* the special tokens of the text; NULL: ordinary text. No token is cut.
                                   Of the other fields a chunker uses replace_invalid. */
} tik_cut_options;
#define TIK_CUT_OPTIONS_INIT { sizeof(tik_cut_options), TIK_AT_CHARACTER, false, 0 }

/* Which end of a text is kept. */
typedef enum tik_end { TIK_KEEP_BEGINNING = 0, TIK_KEEP_END = 1 } tik_end;

/*
 * The longest part of `text`, its beginning or its end, of at most `limit` tokens when encoded by itself,
 * cut between characters: `*start` (included) and `*end` (not), in bytes, and its number of tokens in
 * `*tokens`. `options` NULL means TIK_CUT_OPTIONS_INIT.
 * It is the longest of all for ordinary text under a public split pattern, unless it is cut in a piece of more
 * than 2048 bytes; and where special tokens are looked for, or another pattern splits, for texts up to 2048 bytes.
 * Beyond that it has no more tokens than allowed and is the longest of the parts tried, up to 128 bytes past the
 * last whole token: longer ones may exist.
 * TIK_ERROR_LIMIT if the text's first (or last) character alone has more tokens; the message says how
 * many. With a limit of 0 the part is empty.
 */
TIK_API tik_status tik_truncate(const tik_encoding *encoding, const char *text, size_t length, size_t limit,
                                tik_end keep, const tik_cut_options *options, size_t *start, size_t *end,
                                size_t *tokens, tik_error *error);

/* A part of a longer text. */
typedef struct tik_chunk {
    const char *text; /* lives until the chunker is next called */
    size_t length;    /* bytes */
    size_t tokens;    /* when encoded by itself */
    size_t start;     /* where it lies in the whole text, in bytes */
    size_t end;
    size_t start_character; /* the same in characters */
    size_t end_character;
} tik_chunk;

/*
 * Cuts a text that comes in slices into chunks, each as long as tik_truncate would make it. No chunk has
 * more than the limit of tokens when encoded by itself; without overlap the chunks joined are the text.
 * Memory is bounded by a chunk's size. One thread's.
 */
typedef struct tik_chunker tik_chunker;

/*
 * `limit` at least 1. `overlap`, less than `limit`: each chunk begins with the longest end of the one
 * before it that has at most so many tokens by itself, or a shorter one where nothing new would fit.
 */
TIK_API tik_status tik_chunker_new(const tik_encoding *encoding, size_t limit, size_t overlap,
                                   const tik_cut_options *options, tik_chunker **chunker, tik_error *error);
TIK_API void tik_chunker_free(tik_chunker *chunker);

/*
 * Takes the next slice, cut anywhere. TIK_ERROR_UTF8, TIK_ERROR_MEMORY. With replace_invalid bad UTF-8 becomes
 * U+FFFD, and offsets are those of the text with it.
 */
TIK_API tik_status tik_chunker_feed(tik_chunker *chunker, const char *slice, size_t length, tik_error *error);

/* Says that the text is complete. TIK_ERROR_UTF8 if it ends within a character. */
TIK_API tik_status tik_chunker_finish(tik_chunker *chunker, tik_error *error);

/*
 * The next chunk, if it is certain by now: `*found` is false if more must be fed first, and at the end.
 * TIK_ERROR_LIMIT as tik_truncate.
 */
TIK_API tik_status tik_chunker_next(tik_chunker *chunker, tik_chunk *chunk, bool *found, tik_error *error);

/* ---- Names: encodings and models ----------------------------------------------------------- */

/* The name of public encoding `index`, NULL past the last. */
TIK_API const char *tik_encoding_at(size_t index);

/* The encoding of a model by the reference's rules. TIK_ERROR_NAME with the nearest names. */
TIK_API tik_status tik_encoding_for_model(const char *model, const char **encoding, tik_error *error);

/* A model name that the reference maps exactly, or a prefix of names; in the reference's order. */
typedef struct tik_model_name {
    const char *name;
    const char *encoding;
    bool is_prefix;
} tik_model_name;

/* Entry `index`; false past the last. */
TIK_API bool tik_model_at(size_t index, tik_model_name *model);

/* ---- Vocabulary files ---------------------------------------------------------------------- */

/*
 * The rank file behind an encoding. Opening an encoding finds its rank file by itself; these functions
 * are for those who want to know where it is, to have it before it is needed, or to check it.
 */
typedef struct tik_vocab_file tik_vocab_file;

/* The rank file of a public encoding. TIK_ERROR_NAME, TIK_ERROR_MEMORY. */
TIK_API tik_status tik_vocab_file_open(const char *encoding, tik_vocab_file **file, tik_error *error);

/* That of the encoding in a manifest file. TIK_ERROR_IO, TIK_ERROR_FORMAT, TIK_ERROR_MEMORY. */
TIK_API tik_status tik_vocab_file_open_manifest(const char *path, tik_vocab_file **file, tik_error *error);

/* Frees it. NULL is allowed. */
TIK_API void tik_vocab_file_close(tik_vocab_file *file);

TIK_API const char *tik_vocab_file_encoding(const tik_vocab_file *file);
TIK_API const char *tik_vocab_file_name(const tik_vocab_file *file);   /* as "cl100k_base.tiktoken" */
TIK_API const char *tik_vocab_file_sha256(const tik_vocab_file *file); /* lower-case hex; NULL if not known */
TIK_API const char *tik_vocab_file_url(const tik_vocab_file *file);    /* NULL if it is not published */

/* Where opening the encoding takes the rank file from. */
typedef enum tik_vocab_place {
    TIK_VOCAB_EMBEDDED = 0, /* the library has it */
    TIK_VOCAB_BESIDE = 1,   /* it lies beside the manifest */
    TIK_VOCAB_CACHED = 2,   /* it is in the cache */
    TIK_VOCAB_ABSENT = 3    /* it would have to be downloaded */
} tik_vocab_place;

/*
 * Says where it is now. Appends its path to `path`, zero-terminated (the zero is not counted): nothing
 * if it is embedded; where it would be stored if it is absent, nothing if there is no cache. What is in
 * the file is not looked at. TIK_ERROR_MEMORY, TIK_ERROR_MISSING.
 */
TIK_API tik_status tik_vocab_file_where(const tik_vocab_file *file, tik_vocab_place *place, tik_bytes *path,
                                        tik_error *error);

/*
 * Called now and then while a file is downloaded: `done` bytes of `total` (0: not known) are there, both
 * 0 while it waits for a server or for another process. Returns false to cancel: TIK_ERROR_CANCELLED.
 */
typedef bool tik_progress(void *context, uint64_t done, uint64_t total);

/*
 * Puts the file into the cache, embedded or not, if a right one is not there; with `refresh`, downloads it
 * in any case. Appends its path there to `path`, zero-terminated (the zero is not counted). `progress`
 * and `path` may be NULL. TIK_ERROR_NETWORK, TIK_ERROR_OFFLINE, TIK_ERROR_HASH,
 * TIK_ERROR_LIMIT, TIK_ERROR_CANCELLED; TIK_ERROR_IO if the cache can't be written (then opening the
 * encoding would download the file each time); TIK_ERROR_MISSING if it is not published or this build
 * can't download.
 */
TIK_API tik_status tik_vocab_file_fetch(const tik_vocab_file *file, bool refresh, tik_progress *progress,
                                        void *context, tik_bytes *path, tik_error *error);

/*
 * Checks the file where it is: its SHA-256, if known, and its form. Of an embedded one the rank file is
 * written out anew and checked. Changes nothing. TIK_ERROR_HASH, TIK_ERROR_FORMAT, TIK_ERROR_IO;
 * TIK_ERROR_MISSING if it is absent.
 */
TIK_API tik_status tik_vocab_file_verify(const tik_vocab_file *file, tik_error *error);

/* ---- Learning a vocabulary ----------------------------------------------------------------- */

/*
 * Byte-level BPE training. Texts are split into pieces by a pattern; the first 256 symbols are the bytes;
 * then, again and again, the most frequent pair of adjacent symbols, weighted by how often its piece
 * occurs, becomes the next symbol, wherever it occurs, left to right without overlap. The result does not
 * depend on the number of threads.
 *
 *     tik_train_options options = TIK_TRAIN_OPTIONS_INIT;
 *     options.pattern = "o200k_base";
 *     tik_trainer *trainer;
 *     if (tik_trainer_new(&options, &trainer, &err) == TIK_OK &&
 *         tik_trainer_add_files(trainer, paths, count, &err) == TIK_OK &&
 *         tik_trainer_run(trainer, 32768, &err) == TIK_OK)
 *         tik_trainer_save(trainer, "mine.tiktoken", "mine.json", &err);
 *     tik_trainer_free(trainer);
 */
typedef struct tik_trainer tik_trainer;

/* Which of equally frequent pairs comes first. */
typedef enum tik_ties {
    TIK_TIES_LOWEST = 0, /* the smallest left id, then the smallest right id */
    TIK_TIES_FIRST = 1   /* the one met first in the different pieces, as they are then, in order of appearance */
} tik_ties;

typedef enum tik_train_phase {
    TIK_TRAIN_READING = 0,
    TIK_TRAIN_MERGING = 1
} tik_train_phase;

typedef struct tik_train_progress {
    tik_train_phase phase;
    uint64_t bytes;      /* of text taken in */
    size_t tokens;       /* in the vocabulary, and how many are wanted (0 while reading) */
    size_t tokens_wanted;
} tik_train_progress;

/* Called now and then, from one thread at a time. False stops: the call gives TIK_ERROR_CANCELLED. */
typedef bool (*tik_train_callback)(void *context, const tik_train_progress *progress);

typedef struct tik_train_options {
    size_t size;         /* sizeof(tik_train_options) */
    const char *name;    /* of the encoding learned; NULL for "trained" */
    const char *pattern; /* the name of a public encoding, for its pattern, or a pattern; NULL for o200k_base */
    tik_ties ties;
    uint64_t min_count;      /* stop when the best pair occurs less often; 0 as 1 */
    size_t max_token_length; /* bytes; pairs that would be longer are left alone; 0 for no bound */
    const char *const *specials; /* special tokens, zero-terminated; they get the ids after the last token */
    size_t special_count;
    const tik_encoding *start; /* a vocabulary to extend: pieces begin as its ids, new ids follow its largest */
    size_t max_pieces;   /* different pieces kept in memory; 0 for no bound */
    bool prune_pieces;   /* beyond max_pieces the rarest are dropped; else TIK_ERROR_LIMIT */
    bool replace_invalid; /* bad UTF-8 becomes U+FFFD; else TIK_ERROR_UTF8 */
    unsigned threads;    /* 0 or 1 one thread, TIK_ALL_THREADS all cores */
    tik_train_callback callback; /* may be NULL */
    void *context;
} tik_train_options;
#define TIK_TRAIN_OPTIONS_INIT { sizeof(tik_train_options), 0, 0, TIK_TIES_LOWEST, 0, 0, 0, 0, 0, 0, false, false, \
    TIK_ALL_THREADS, 0, 0 }

/* Everything is copied; `start` gets one more reference. TIK_ERROR_PATTERN, TIK_ERROR_ARGUMENT. */
TIK_API tik_status tik_trainer_new(const tik_train_options *options, tik_trainer **trainer, tik_error *error);
TIK_API void tik_trainer_free(tik_trainer *trainer);

/*
 * Takes texts in, before the first tik_trainer_run: only their pieces are kept, each once. After a
 * failure the trainer can only be freed. TIK_ERROR_UTF8, TIK_ERROR_LIMIT, TIK_ERROR_CANCELLED,
 * TIK_ERROR_ARGUMENT after a run.
 */
TIK_API tik_status tik_trainer_add(tik_trainer *trainer, const tik_text *texts, size_t count, tik_error *error);

/* Each file is a text; it is read in slices and may be larger than memory. "-" is standard input. TIK_ERROR_IO. */
TIK_API tik_status tik_trainer_add_files(tik_trainer *trainer, const char *const *paths, size_t count,
                                         tik_error *error);

/*
 * Takes texts from a callback, in slices cut anywhere. It sets `*slice` (valid until the next call) and
 * `*text_ends` if the text is complete with it, or `*done` if there was no slice left; it is called from
 * one thread at a time, not always the same. A status other than TIK_OK ends the reading and is returned.
 */
typedef tik_status (*tik_train_source)(void *context, tik_text *slice, bool *text_ends, bool *done,
                                       tik_error *error);
TIK_API tik_status tik_trainer_add_source(tik_trainer *trainer, tik_train_source source, void *context,
                                          tik_error *error);

/*
 * Learns until the vocabulary has `tokens` tokens, the bytes among them and special tokens apart, or no
 * pair is left. It can be called again with more. TIK_ERROR_CANCELLED: the merges made until then hold, and
 * it can be called again; after any other failure the trainer can only be freed.
 */
TIK_API tik_status tik_trainer_run(tik_trainer *trainer, size_t tokens, tik_error *error);

/* What a trainer has come to. */
typedef struct tik_train_state {
    uint64_t bytes;       /* of text */
    uint64_t pieces;      /* in the text */
    size_t distinct;      /* different pieces */
    uint64_t dropped;     /* bytes that no piece covers */
    uint64_t pruned;      /* pieces dropped for max_pieces, each as often as it was counted */
    size_t tokens;        /* in the vocabulary */
    uint64_t text_tokens; /* tokens of the text (of the pieces kept), in this vocabulary */
    bool exhausted;       /* no pair is left that the options allow */
} tik_train_state;

TIK_API void tik_trainer_state(const tik_trainer *trainer, tik_train_state *state);

/* One merge: the pair, how often it occurred, the token that it became. */
typedef struct tik_merge {
    uint32_t left;
    uint32_t right;
    uint32_t id;
    bool joined; /* the token was there before (it can be, in a vocabulary that is extended) */
    uint64_t count;
} tik_merge;

/* The merges made so far, in order; `*merges` is valid until the next run. */
TIK_API size_t tik_trainer_merges(const tik_trainer *trainer, const tik_merge **merges);

/* The bytes of a token, valid until the next run. TIK_ERROR_ID. */
TIK_API tik_status tik_trainer_token(const tik_trainer *trainer, uint32_t id, const char **bytes, size_t *length,
                                     tik_error *error);

/* The vocabulary learned so far as an encoding, ready to use. The caller owns it: tik_close. */
TIK_API tik_status tik_trainer_encoding(const tik_trainer *trainer, tik_encoding **encoding, tik_error *error);

/* Appends the rank file's bytes. */
TIK_API tik_status tik_trainer_rank_file(const tik_trainer *trainer, tik_bytes *bytes, tik_error *error);

/*
 * Writes the rank file, and the manifest that goes with it unless `manifest_path` is NULL; the two lie in
 * one folder. Written beside and renamed: no file is ever there in part. TIK_ERROR_IO.
 */
TIK_API tik_status tik_trainer_save(const tik_trainer *trainer, const char *rank_path, const char *manifest_path,
                                    tik_error *error);

/*
 * Writes what it takes to go on later without the texts: the pieces and the merges; and takes it in again,
 * into a trainer with the same options that has no texts. TIK_ERROR_IO, TIK_ERROR_FORMAT,
 * TIK_ERROR_ARGUMENT if the options that matter to the result differ.
 */
TIK_API tik_status tik_trainer_save_state(const tik_trainer *trainer, const char *path, tik_error *error);
TIK_API tik_status tik_trainer_load_state(tik_trainer *trainer, const char *path, tik_error *error);

/* ---- How a piece is merged ------------------------------------------------------------------ */

/* One merge in a piece: where the pair begins, and what became of it. */
typedef struct tik_step {
    size_t start; /* bytes */
    size_t split; /* where its right half begins */
    size_t end;
    uint32_t left;
    uint32_t right;
    uint32_t id; /* the rank: of all pairs that there were, the lowest; of equal ones, the leftmost */
} tik_step;

/*
 * The merges of one piece (not split) in the order in which they are made, at most `capacity` of them (a
 * piece of n bytes has less than n); `*count` is how many there were. A piece that is a token is encoded
 * as that token even if its merges come to something else. TIK_ERROR_LIMIT for a piece above 16 KiB.
 */
TIK_API tik_status tik_explain(const tik_encoding *encoding, const char *piece, size_t length, tik_step *steps,
                               size_t capacity, size_t *count, tik_error *error);

/* ---- Models: windows and prices ------------------------------------------------------------ */

/*
 * Money, exactly: whole units of a currency and parts of 10^-12. Prices and costs are never negative and
 * never pass through floating point.
 */
typedef struct tik_amount {
    uint64_t whole;
    uint64_t parts; /* less than 10^12 */
} tik_amount;

/* Reads decimal digits, with at most 12 after a point: "0.50". TIK_ERROR_ARGUMENT, TIK_ERROR_LIMIT. */
TIK_API tik_status tik_amount_parse(const char *text, tik_amount *amount, tik_error *error);

#define TIK_AMOUNT_TEXT 34u           /* bytes that any amount takes as text, its zero included */
#define TIK_AMOUNT_EXACT 0xFFFFFFFFu /* all decimals that are not zero, at least two */

/*
 * Writes an amount with `decimals` (at most 12) digits after the point, rounded to the nearest, a half
 * upwards; or exactly, with TIK_AMOUNT_EXACT. Zero-terminated. Returns its length in bytes.
 */
TIK_API size_t tik_amount_text(tik_amount amount, unsigned decimals, char text[TIK_AMOUNT_TEXT]);

/* TIK_ERROR_LIMIT if the result has more than 2^64 - 1 whole units, in both. */
TIK_API tik_status tik_amount_add(tik_amount a, tik_amount b, tik_amount *sum, tik_error *error);
TIK_API tik_status tik_amount_times(tik_amount amount, uint64_t count, tik_amount *product, tik_error *error);

/* What a million tokens cost. Prices have at most 6 decimals, so that each token's is an exact amount. */
typedef struct tik_rates {
    tik_amount input;
    tik_amount cached; /* of input tokens that the service reads from its cache */
    tik_amount output;
    bool has_cached; /* else they cost as much as other input */
    bool has_output; /* else there is none, as for embeddings */
} tik_rates;

/* What is known of a model. Strings live as long as the list that they come from. */
typedef struct tik_model_info {
    size_t size;          /* sizeof(tik_model_info), set by the caller */
    const char *name;     /* as the list has it: "gpt-4o" for "gpt-4o-2024-11-20" */
    const char *encoding; /* NULL if it is not known */
    size_t window;        /* tokens of input and answer together; 0 if not known */
    bool has_rates;
    tik_rates rates;
    uint64_t long_above;  /* an input of more tokens than this is charged at `long_rates`; 0: there are none */
    tik_rates long_rates;
    const char *currency; /* as "USD" */
    const char *date;     /* YYYY-MM-DD: when the prices were taken down; NULL if not known */
    const char *since;    /* since when they hold; NULL if not known */
    const char *source;   /* who says so; NULL if not known */
} tik_model_info;
#define TIK_MODEL_INFO_INIT                                                                                  \
    {                                                                                                        \
        sizeof(tik_model_info), 0, 0, 0, false, { { 0, 0 }, { 0, 0 }, { 0, 0 }, false, false }, 0,           \
        { { 0, 0 }, { 0, 0 }, { 0, 0 }, false, false }, 0, 0, 0, 0                                           \
    }

/* A list of models with windows and prices. NULL wherever one is taken means the built-in one. */
typedef struct tik_prices tik_prices;

/* Reads a list from a file (JSON, see docs/prices.md). TIK_ERROR_IO, TIK_ERROR_FORMAT, TIK_ERROR_MEMORY. */
TIK_API tik_status tik_prices_open(const char *path, tik_prices **prices, tik_error *error);

/* Frees it. NULL is allowed. */
TIK_API void tik_prices_close(tik_prices *prices);

/* Model `index` of a list; false past the last. */
TIK_API bool tik_prices_at(const tik_prices *prices, size_t index, tik_model_info *info);

/*
 * What a list says of a model: the one of exactly that name, else the one with the longest prefix of it.
 * TIK_ERROR_NAME with the nearest names.
 */
TIK_API tik_status tik_prices_find(const tik_prices *prices, const char *model, tik_model_info *info,
                                   tik_error *error);

/* What one call uses, and how often it is made. */
typedef struct tik_usage {
    size_t size;     /* sizeof(tik_usage) */
    uint64_t input;  /* tokens of input, the cached ones among them */
    uint64_t cached;
    uint64_t output;
    uint64_t calls;
} tik_usage;
#define TIK_USAGE_INIT { sizeof(tik_usage), 0, 0, 0, 1 }

/* What all calls together cost. The parts are exact, and so is their sum. */
typedef struct tik_cost {
    size_t size;      /* sizeof(tik_cost), set by the caller */
    tik_amount input; /* without the cached tokens */
    tik_amount cached;
    tik_amount output;
    tik_amount total;
    bool is_long; /* charged at the rates of long inputs */
} tik_cost;
#define TIK_COST_INIT { sizeof(tik_cost), { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, false }

/*
 * Tokens times rates times calls, without rounding. Of `info` the rates and `long_above` are used.
 * TIK_ERROR_NAME if it has none, or none of output and there is some; TIK_ERROR_ARGUMENT for more cached
 * tokens than input; TIK_ERROR_LIMIT for rates of more than 6 decimals, or a cost too large for an amount.
 */
TIK_API tik_status tik_cost_of(const tik_model_info *info, const tik_usage *usage, tik_cost *cost, tik_error *error);

/*
 * Into how many calls a text must be parted so that each, with `reserve` tokens for its answer, fits a
 * window. TIK_ERROR_LIMIT if the reserve leaves no room for a token.
 */
TIK_API tik_status tik_window_parts(size_t tokens, size_t window, size_t reserve, size_t *parts, tik_error *error);

/* ---- Chat requests ------------------------------------------------------------------------- */

/*
 * A chat request as it is sent to the API (JSON: "model", "messages", "tools", …), counted before it is
 * sent. For the gpt-3.5, gpt-4 and gpt-4o families that is done by the rules that OpenAI has published;
 * for gpt-oss the request is rendered in the harmony format, to the very ids that the model gets. What no
 * published rule covers is never guessed: it is in the notes.
 */
typedef struct tik_chat tik_chat;

typedef struct tik_chat_options {
    size_t size;          /* sizeof(tik_chat_options) */
    const char *model;    /* takes the place of the request's; NULL: the request's own */
    const char *encoding; /* takes the place of the model's; NULL: the model's own */
    const char *date;     /* harmony: what the system message says is the current date; NULL: nothing */
} tik_chat_options;
#define TIK_CHAT_OPTIONS_INIT { sizeof(tik_chat_options), 0, 0, 0 }

/*
 * Reads and counts a request; just an array of messages will do if `options` name the model. With
 * harmony it may also be a conversation as the package openai-harmony writes it. `options` may be NULL.
 * TIK_ERROR_FORMAT with the place; TIK_ERROR_ARGUMENT if no model is named, or one that takes no chat;
 * TIK_ERROR_NAME.
 */
TIK_API tik_status tik_chat_read(const char *json, size_t length, const tik_chat_options *options, tik_chat **chat,
                                 tik_error *error);

/* Frees it. NULL is allowed. */
TIK_API void tik_chat_free(tik_chat *chat);

/* The tokens of the request: at least so many, if a note says that something is not counted. */
TIK_API size_t tik_chat_tokens(const tik_chat *chat);

TIK_API const char *tik_chat_model(const tik_chat *chat);    /* NULL if only an encoding is named */
TIK_API const char *tik_chat_encoding(const tik_chat *chat); /* its name */
TIK_API const char *tik_chat_rules(const tik_chat *chat);    /* "gpt-3.5-turbo-0301", "gpt-4", "gpt-4o", "harmony" */

/* The ids of a request rendered in the harmony format; NULL for other rules, which give no ids. */
TIK_API const uint32_t *tik_chat_ids(const tik_chat *chat, size_t *count);

typedef enum tik_chat_kind {
    TIK_CHAT_MESSAGE = 0,
    TIK_CHAT_TOOLS = 1,  /* the definitions of functions, where they are no part of a message */
    TIK_CHAT_SYSTEM = 2, /* a message that the format puts before those of the request */
    TIK_CHAT_REPLY = 3   /* what begins the answer */
} tik_chat_kind;

/* What a part of the request comes to. Strings live as long as the tik_chat. */
typedef struct tik_chat_part {
    tik_chat_kind kind;
    size_t message;     /* its index in the request; SIZE_MAX for none */
    const char *role;   /* NULL for none */
    const char *name;   /* of its author, or the function that it calls; NULL for none */
    const char *text;   /* its first text, UTF-8; NULL for none */
    size_t text_length; /* bytes */
    size_t tokens;      /* all of them */
    size_t text_tokens; /* of its texts; the others are its form */
} tik_chat_part;

/* Part `index`, in the order of the request; false past the last. The tokens of all are the request's. */
TIK_API bool tik_chat_part_at(const tik_chat *chat, size_t index, tik_chat_part *part);

typedef enum tik_chat_note_kind {
    TIK_CHAT_NOT_COUNTED = 0, /* no rule for it is published */
    TIK_CHAT_ASSUMED = 1,     /* counted by a rule that is not published for just this */
    TIK_CHAT_SPECIAL_TEXT = 2 /* a text looks like a special token; it is counted as the text that it is */
} tik_chat_note_kind;

typedef struct tik_chat_note {
    tik_chat_note_kind kind;
    size_t message;   /* the index in the request of the message that it is about; SIZE_MAX for none */
    const char *text; /* one line: what and where */
} tik_chat_note;

/* Note `index`; false past the last. */
TIK_API bool tik_chat_note_at(const tik_chat *chat, size_t index, tik_chat_note *note);

#ifdef __cplusplus
}
#endif

#endif
