/*
 * cli: the command `tik`. This is what its subcommands share: the tables that describe them, the options
 * that mean the same everywhere, input, output, messages.
 *
 * A new subcommand is one file with one `const cli_command`, declared at the end of this header and named
 * in the table of main.c. Parsing, --help, the manual pages and the shells' completions are all made from
 * that one description. The command sees nothing of the library but tik.h.
 */
#ifndef TIK_CLI_H
#define TIK_CLI_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "tik.h"

/* Exit statuses, the same for every subcommand. */
enum {
    CLI_DONE = 0,
    CLI_NO = 1,   /* the answer is no: ids differ, a limit is exceeded */
    CLI_WRONG = 2 /* the call or the input is wrong */
};

#define CLI_DEFAULT_ENCODING "o200k_base"

/* ---- The description of a subcommand ------------------------------------------------------- */

typedef struct cli_option {
    int id;               /* the letter of its short form; without one, a number from CLI_OWN on */
    const char *name;     /* the long form, without the dashes; NULL ends a table */
    const char *argument; /* what its argument is called; NULL if it takes none */
    const char *help;     /* without a full stop; "A|B|C" in `argument` are the choices completion offers */
} cli_option;

/* Options without a letter: the common ones, and from CLI_OWN on each subcommand's own. */
enum {
    CLI_MANIFEST = 256,
    CLI_JSON,
    CLI_SPECIAL,
    CLI_INVALID,
    CLI_INCLUDE,
    CLI_EXCLUDE,
    CLI_FILES0_FROM,
    CLI_AT,
    CLI_GRAPHEMES,
    CLI_PRICES,
    CLI_OWN = 512
};

/* Rows that mean the same in every subcommand that has them. The frame takes them; see cli_call. */
#define CLI_OPTIONS_ENCODING                                                                                \
    {'e', "encoding", "ENCODING", "encoding by name; " CLI_DEFAULT_ENCODING " if none is given"},           \
        {'m', "model", "MODEL", "the encoding of this model"},                                              \
        {CLI_MANIFEST, "manifest", "FILE", "the encoding that this manifest file describes"}
#define CLI_OPTIONS_TEXT                                                                                    \
    CLI_OPTION_SPECIAL, CLI_OPTION_INVALID
#define CLI_OPTIONS_FILES                                                                                   \
    {'r', "recursive", NULL, "the files in folders, and in theirs; binary ones and .git are left out"},     \
        {CLI_INCLUDE, "include", "GLOB", "with -r, only files whose name or path matches; can be repeated"}, \
        {CLI_EXCLUDE, "exclude", "GLOB", "with -r, no file or folder that matches; can be repeated"},       \
        {CLI_FILES0_FROM, "files0-from", "FILE", "names of files, each ended by a zero byte, from FILE"}
#define CLI_OPTIONS_CUT                                                                                     \
    {CLI_AT, "at", "paragraph|line|sentence|word|character",                                                \
     "cut there if there is such a place, else at the next finer one; character if not given"},             \
        {CLI_GRAPHEMES, "graphemes", NULL, "never cut emoji sequences or letters from their combining marks"}
#define CLI_OPTION_SPECIAL                                                                                  \
    {CLI_SPECIAL, "special", "text|reject|all|NAME,...",                                                    \
     "special tokens written in the text: ordinary text (default), refused, all or the named ones taken"}
#define CLI_OPTION_INVALID                                                                                  \
    {CLI_INVALID, "invalid", "reject|replace", "bytes that are not UTF-8: refused (default) or U+FFFD"}
#define CLI_OPTION_PRICES {CLI_PRICES, "prices", "FILE", "windows and prices from this list (see docs/prices.md)"}
#define CLI_OPTION_JSON {CLI_JSON, "json", NULL, "the result as JSON"}
#define CLI_OPTION_QUIET {'q', "quiet", NULL, "no line on the terminal that tells how far long work is"}
#define CLI_OPTION_THREADS {'j', "threads", "N", "threads to use; all cores if not given"}
/* Ends every table. */
#define CLI_OPTIONS_END {'h', "help", NULL, "this help"}, {0, NULL, NULL, NULL}

typedef struct cli_example {
    const char *command; /* as typed; NULL ends the table */
    const char *what;
} cli_example;

typedef struct cli_call cli_call;

typedef struct cli_command {
    const char *name;
    const char *operands;    /* as in "[FILE]..." */
    const char *summary;     /* one line, without a full stop */
    const char *description; /* sentences; an empty line parts paragraphs */
    const cli_option *options;
    const cli_example *examples;
    int (*run)(cli_call *call); /* returns the exit status */
} cli_command;

/* ---- A call -------------------------------------------------------------------------------- */

/* A growing list of strings, which live elsewhere. */
typedef struct cli_names {
    char **data;
    size_t length;
    size_t capacity;
} cli_names;

/* Adds a string; false if there is no memory. */
bool cli_names_add(cli_names *names, char *name);
void cli_names_free(cli_names *names);

/* What the command line said. The frame fills the common part while cli_next_option runs. */
struct cli_call {
    const cli_command *command;
    int argc;
    char **argv;
    char *argument;     /* of the option that cli_next_option just returned */
    const char *option; /* its long name; NULL after the last */

    size_t operand_count; /* after the last option */
    char **operands;

    cli_names encodings; /* -e, in order: each occurrence */
    cli_names models;    /* -m, in order: each occurrence */
    const char *model;   /* the last of them */
    const char *manifest;
    bool json;
    tik_cut_options cut; /* --at, --graphemes; its `special` is `options` */
    tik_options options; /* ordinary text unless --special says otherwise; --invalid, -j are in it */
    cli_names specials;
    bool recursive;
    cli_names include;
    cli_names exclude;
    const char *files0_from;
    const char *prices;
    bool quiet;

    int status; /* the worst that a part of the work came to; cli_blame raises it */
};

enum { CLI_NO_MORE_OPTIONS = -1, CLI_BAD_OPTION = -2 };

/*
 * The id of the next option that is the subcommand's own, with call->argument; the common ones are taken
 * on the way. After CLI_NO_MORE_OPTIONS the operands are set. CLI_BAD_OPTION: the message is out, the
 * subcommand returns CLI_WRONG.
 */
int cli_next_option(cli_call *call);

/* For a subcommand without options of its own: takes the common ones. False: return CLI_WRONG. */
bool cli_only_common_options(cli_call *call);

/* Prints the help of a subcommand. */
void cli_help(const cli_command *command);

/* call->argument as a decimal number from `least` to `most`; false with a message otherwise. */
bool cli_number(cli_call *call, size_t least, size_t most, size_t *number);

/* call->argument as one of `choices` (NULL-terminated): its index; -1 with a message otherwise. */
int cli_choice(cli_call *call, const char *const *choices);

/* The library lets a list of special tokens name what there is not; typed, it is a mistake: false with a message. */
bool cli_specials_known(const cli_call *call, const tik_encoding *encoding);

/* Opens what -e, -m or --manifest name, or the default. NULL with a message otherwise. */
tik_encoding *cli_open_encoding(cli_call *call);

/*
 * The list that --prices names; NULL stands for the built-in one. False with a message otherwise. Release
 * with tik_prices_close.
 */
bool cli_open_prices(cli_call *call, tik_prices **prices);

/* "genai-prices 0.2.3, 2026-11-10 (21 days old)" into `text`: where prices come from and how old they are. */
void cli_price_age(const tik_model_info *info, char *text, size_t room);

/* ---- Messages: standard error, each line beginning with "tik: " ------------------------------ */

#if defined(__GNUC__)
#define CLI_PRINTF(string, first) __attribute__((format(printf, string, first)))
#else
#define CLI_PRINTF(string, first)
#endif

void cli_say(const char *format, ...) CLI_PRINTF(1, 2);

/* "tik: NAME: message"; the call's status becomes CLI_WRONG. NAME may be NULL; "-" is standard input. */
void cli_blame(cli_call *call, const char *name, const char *format, ...) CLI_PRINTF(3, 4);

/* Out of memory: says so and returns CLI_WRONG. */
int cli_no_memory(void);

/* The name as messages call it: "-" is "standard input". */
const char *cli_display_name(const char *name);

/* ---- Output: standard output, in large writes ---------------------------------------------- */

/*
 * A failed write ends the process with status 2: with a message, or quietly if the reader of a pipe has
 * gone. main flushes at the end.
 */
void cli_out(const void *bytes, size_t length);
void cli_out_text(const char *text);
void cli_out_char(char c);
void cli_out_number(uint64_t number);
void cli_out_printf(const char *format, ...) CLI_PRINTF(1, 2);
/* An id in decimal and a separator take at most so many bytes. */
enum { CLI_ID_ROOM = 11 };
/* Writes ids into memory, `separator` between them and, if `leading`, before the first; returns the end. */
char *cli_put_ids(char *to, const uint32_t *ids, size_t count, char separator, bool leading);
/* The same to standard output. */
void cli_out_ids(const uint32_t *ids, size_t count, char separator, bool leading);
void cli_out_flush(void);
/* Forgets what has not been written yet: the result turned out to be none. */
void cli_out_discard(void);

/* Bytes in double quotes: what cannot be seen or is not UTF-8 as \n, \t, \x80. */
void cli_out_quoted(const char *bytes, size_t length);
/* One step of it: what stands for the next character or byte, at most 4 bytes; returns how many it stands for. */
size_t cli_quote_next(const char *bytes, size_t length, char *to, size_t *written);

/* A value on one line and a newline; the value is released. NULL stands for lack of memory. */
void cli_out_json(json_t *value);
/* The same over several lines, for a result that is one document. */
void cli_out_json_document(json_t *value);
/* A JSON string; bytes that are not UTF-8 (in a file's name) become U+FFFD. */
json_t *cli_json_string(const char *bytes, size_t length);

/* ---- Input --------------------------------------------------------------------------------- */

/*
 * The files that the call is about, in order: its operands, those of --files0-from, and with -r the
 * contents of folders; "-" if nothing is given. Faults are reported and left out. False with a message if
 * there is no memory or the list itself cannot be read. The names are owned by `names`.
 */
bool cli_inputs(cli_call *call, cli_names *names);
void cli_inputs_free(cli_names *names);

/* An opened input. Regular files are whole at once, everything else comes in slices. */
typedef struct cli_source {
    const char *name;
    int descriptor;
    bool whole;       /* `data` is all of it */
    const char *data; /* whole: the text */
    size_t length;
    size_t given;    /* whole: how much cli_source_next gave out */
    char *buffer;    /* owned */
    void *map;       /* owned */
    size_t mapped;
    tik_bytes mended; /* owned */
    bool failed;     /* reading failed, and `reason` says why */
    char reason[96];
} cli_source;

/* The subcommand has -r, which a message may name. Set by the frame. */
extern bool cli_takes_folders;

/* False with `reason` if it cannot be opened or read. Safe to call from any thread. */
bool cli_source_open(cli_source *source, const char *name);

/*
 * The next slice, of at most 1 MiB; false at the end, or with `failed` and `reason`. A slice lives until
 * the next call.
 */
bool cli_source_next(cli_source *source, const char **slice, size_t *length);

/* The same with slices of `most` bytes, the last one apart; of a pipe too, which is waited for. */
bool cli_source_fill(cli_source *source, size_t most, const char **slice, size_t *length);
void cli_source_close(cli_source *source);

/* True for the name of a regular file of at most `most` bytes. */
bool cli_is_small_file(const char *name, size_t most);

/* True for a text that has a zero byte near its beginning, as git and grep tell binary files. */
bool cli_looks_binary(const char *data, size_t length);

/* All of an input in memory; false with the message out (cli_blame). Release with cli_source_close. */
bool cli_read_whole(cli_call *call, cli_source *source, const char *name);

/* The same, and with --invalid replace U+FFFD in the place of what is not UTF-8: places are then this text's. */
bool cli_read_text(cli_call *call, cli_source *source, const char *name);

/* ---- Progress (progress.c) ------------------------------------------------------------------ */

/* What the inputs have together, in bytes; 0 if a pipe or the like is among them, or if no line would be seen. */
uint64_t cli_sizes(const cli_names *names);

/*
 * Long work begins: if standard error is a terminal and there is no -q, a line there tells of it after a
 * second: "what: 12.0 of 34.0 MB, 5.6 MB/s, 4 s left". `total` in bytes, 0 if not known. `writes`: results come
 * all the while, so that they are progress enough where they go to a terminal. cli_source_next and
 * cli_progress_add tell how far it is; messages and results erase the line.
 */
void cli_progress_begin(const cli_call *call, const char *what, uint64_t total, bool writes);
bool cli_progress_is_on(void);

/* By the clock that nobody sets. */
double cli_seconds_since(const struct timespec *then);

/* So many bytes more are done. From any thread. */
void cli_progress_add(size_t bytes);

/* Another line in its place, for work that bytes don't measure; drawn only if it is time to. */
void cli_progress_line(const char *format, ...) CLI_PRINTF(1, 2);

/* Makes room for other output. */
void cli_progress_erase(void);
void cli_progress_end(void);

/* ---- Reading ids --------------------------------------------------------------------------- */

enum { CLI_IDS_PLAIN, CLI_IDS_JSON, CLI_IDS_U32LE };
extern const char *const cli_id_formats[]; /* their names, for cli_choice */

/* Takes ids out of slices. Begin with the first three fields set and the rest zero. */
typedef struct cli_id_reader {
    int format;
    bool (*take)(void *context, uint32_t id); /* false stops the reading, without a reason */
    void *context;
    size_t offset; /* bytes read */
    enum { CLI_IDS_OUTSIDE, CLI_IDS_OPENED, CLI_IDS_COMMA, CLI_IDS_NUMBER, CLI_IDS_AFTER } state;
    uint64_t value; /* of the number that is being read */
    char reason[160]; /* what was wrong and where, if something was */
} cli_id_reader;

/* False if something was refused: by `take`, or with a `reason`. */
bool cli_read_ids(cli_id_reader *reader, const char *slice, size_t length);
/* Says that the input is complete. */
bool cli_finish_ids(cli_id_reader *reader);

/* ---- Several threads ----------------------------------------------------------------------- */

/* The most threads that cli_parallel uses. */
enum { CLI_MOST_WORKERS = 256 };

/* What each thread gets of a text that is fed to a stream with several: see tik_stream. */
enum { CLI_LARGE = 2 << 20 };

/* How many threads `threads` stands for, with `count` things to do: at least 1. */
size_t cli_workers(size_t count, unsigned threads);

/*
 * Runs work(context, worker, index) for each index below `count`, once, on up to `threads` threads
 * (TIK_ALL_THREADS: all cores), this one among them, beginning in order; returns when all are done. The
 * workers' numbers begin at 0; each does one thing at a time.
 */
void cli_parallel(size_t count, unsigned threads, void (*work)(void *context, size_t worker, size_t index),
                  void *context);

/* ---- The subcommands, in the order of help --------------------------------------------------- */

extern const cli_command cli_count;
extern const cli_command cli_encode;
extern const cli_command cli_decode;
extern const cli_command cli_check;
extern const cli_command cli_diff;
extern const cli_command cli_show;
extern const cli_command cli_stats;
extern const cli_command cli_cost;
extern const cli_command cli_chat;
extern const cli_command cli_truncate;
extern const cli_command cli_chunk;
extern const cli_command cli_vocab;
extern const cli_command cli_models;
extern const cli_command cli_train;
extern const cli_command cli_explain;

#endif
