/* tik vocab: the rank files behind the encodings: list, where, fetch, verify. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { REFRESH = CLI_OWN };

static const cli_option options[] = {
    {CLI_MANIFEST, "manifest", "FILE", "the rank file of the encoding that this manifest file describes"},
    {REFRESH, "refresh", NULL, "fetch: download even what is in the cache"},
    CLI_OPTION_JSON,
    CLI_OPTION_QUIET,
    CLI_OPTIONS_END,
};

static const cli_example examples[] = {
    {"tik vocab list", "ENCODING<tab>embedded|beside|cached|absent<tab>RANK FILE a line."},
    {"tik vocab where cl100k_base", "The path of its rank file, or the word embedded."},
    {"tik vocab fetch cl100k_base", "Puts its rank file into the cache and prints ENCODING<tab>PATH."},
    {"tik vocab verify", "Checks every rank file that is here."},
    {NULL, NULL},
};

/* A call's options, read. */
typedef struct vocab_call {
    cli_call *call;
    bool refresh;
    bool named; /* the files were asked for by name */
    json_t *list;
} vocab_call;

typedef void verb(vocab_call *v, const tik_vocab_file *file);

static const char *const place_names[] = {"embedded", "beside", "cached", "absent"};

static void no(vocab_call *v)
{
    if (v->call->status < CLI_NO)
        v->call->status = CLI_NO;
}

/* A failure in a message; the status is CLI_WRONG, or CLI_NO if the file is not what it should be. */
static void refuse(vocab_call *v, const tik_vocab_file *file, const tik_error *error)
{
    const char *name = tik_vocab_file_encoding(file);
    if (error->status == TIK_ERROR_HASH || error->status == TIK_ERROR_FORMAT) {
        cli_say("%s: %s", name, error->message);
        no(v);
    } else {
        cli_blame(v->call, name, "%s", error->message);
    }
}

/* Where the file is; false with the message out. */
static bool find(vocab_call *v, const tik_vocab_file *file, tik_vocab_place *place, tik_bytes *path)
{
    tik_error error;
    if (tik_vocab_file_where(file, place, path, &error) == TIK_OK)
        return true;
    refuse(v, file, &error);
    return false;
}

static void list(vocab_call *v, const tik_vocab_file *file)
{
    tik_bytes path = TIK_BYTES_INIT;
    tik_vocab_place place;
    bool found = find(v, file, &place, &path);
    if (found && v->call->json)
        json_array_append_new(v->list, json_pack("{s:s, s:s, s:o*, s:s, s:s*, s:s*}", "encoding",
                                                 tik_vocab_file_encoding(file), "place", place_names[place], "path",
                                                 path.length ? cli_json_string(path.data, path.length) : NULL,
                                                 "rank_file", tik_vocab_file_name(file), "sha256",
                                                 tik_vocab_file_sha256(file), "url", tik_vocab_file_url(file)));
    else if (found)
        cli_out_printf("%s\t%s\t%s\n", tik_vocab_file_encoding(file), place_names[place], tik_vocab_file_name(file));
    tik_bytes_free(&path);
}

static void where(vocab_call *v, const tik_vocab_file *file)
{
    if (v->call->json) {
        list(v, file);
        return;
    }
    tik_bytes path = TIK_BYTES_INIT;
    tik_vocab_place place;
    bool found = find(v, file, &place, &path);
    if (found && place == TIK_VOCAB_ABSENT) {
        cli_say("%s: the rank file is not here; tik vocab fetch gets it%s%s", tik_vocab_file_encoding(file),
                path.length ? " to " : "", path.length ? path.data : "");
        no(v);
    } else if (found) {
        cli_out_printf("%s\n", place == TIK_VOCAB_EMBEDDED ? place_names[place] : path.data);
    }
    tik_bytes_free(&path);
}

/* A line on the terminal that is written over. */
typedef struct bar {
    const char *name;
    bool shown;
} bar;

static bool draw(void *context, uint64_t done, uint64_t total)
{
    enum { WIDTH = 30, KIB = 1024 };
    bar *b = context;
    char blocks[WIDTH + 1];
    size_t full = total ? (size_t)((double)done / (double)total * WIDTH) : 0;
    if (full > WIDTH)
        full = WIDTH;
    memset(blocks, '.', WIDTH);
    memset(blocks, '#', full);
    blocks[WIDTH] = '\0';
    if (total)
        fprintf(stderr, "\r%s [%s] %llu of %llu KiB\033[K", b->name, blocks, (unsigned long long)(done / KIB),
                (unsigned long long)(total / KIB));
    else
        fprintf(stderr, "\r%s: %s\033[K", b->name, done ? "downloading" : "waiting");
    b->shown = true;
    return true;
}

static void fetch(vocab_call *v, const tik_vocab_file *file)
{
    tik_error error;
    bar b = {tik_vocab_file_encoding(file), false};
    tik_bytes path = TIK_BYTES_INIT;
    tik_status status =
        tik_vocab_file_fetch(file, v->refresh, isatty(STDERR_FILENO) && !v->call->quiet ? draw : NULL, &b, &path,
                             &error);
    if (b.shown)
        fputs("\r\033[K", stderr);
    if (status != TIK_OK)
        cli_blame(v->call, b.name, "%s", error.message);
    else if (v->call->json)
        json_array_append_new(v->list, json_pack("{s:s, s:o}", "encoding", b.name, "path",
                                                 cli_json_string(path.data, path.length)));
    else
        cli_out_printf("%s\t%s\n", b.name, path.data);
    tik_bytes_free(&path);
}

static void verify(vocab_call *v, const tik_vocab_file *file)
{
    tik_error error;
    tik_bytes path = TIK_BYTES_INIT;
    tik_vocab_place place;
    bool found = find(v, file, &place, &path);
    tik_bytes_free(&path);
    if (!found || (place == TIK_VOCAB_ABSENT && !v->named))
        return;
    if (tik_vocab_file_verify(file, &error) == TIK_OK)
        list(v, file);
    else
        refuse(v, file, &error);
}

/* Does it with the files that are named, or with those of all public encodings. */
static void with_files(vocab_call *v, verb *run, char **names, size_t count)
{
    cli_call *call = v->call;
    bool by_manifest = call->manifest && count == 0;
    v->named = by_manifest || count > 0;
    for (size_t i = 0;; i++) {
        tik_error error;
        tik_vocab_file *file = NULL;
        tik_status status;
        const char *name = v->named ? (i < count ? names[i] : NULL) : tik_encoding_at(i);
        if (by_manifest ? i > 0 : !name)
            break;
        if (by_manifest)
            status = tik_vocab_file_open_manifest(call->manifest, &file, &error);
        else
            status = tik_vocab_file_open(name, &file, &error);
        if (status != TIK_OK) {
            cli_blame(call, NULL, "%s", error.message);
            continue;
        }
        run(v, file);
        tik_vocab_file_close(file);
    }
}

static int run(cli_call *call)
{
    static const char *const verb_names[] = {"list", "where", "fetch", "verify", NULL};
    static verb *const verbs[] = {list, where, fetch, verify};
    vocab_call v = {.call = call};
    int option;
    while ((option = cli_next_option(call)) >= 0)
        v.refresh = option == REFRESH || v.refresh;
    if (option == CLI_BAD_OPTION)
        return CLI_WRONG;
    if (call->operand_count == 0) {
        cli_say("vocab: list, where, fetch or verify? see tik vocab --help");
        return CLI_WRONG;
    }
    call->argument = call->operands[0];
    int choice = cli_choice(call, verb_names);
    if (choice < 0)
        return CLI_WRONG;
    if (call->manifest && call->operand_count > 1) {
        cli_say("vocab: give the names of encodings or --manifest, not both");
        return CLI_WRONG;
    }
    if (call->json)
        v.list = json_array();
    with_files(&v, verbs[choice], call->operands + 1, call->operand_count - 1);
    if (call->json)
        cli_out_json_document(v.list);
    return CLI_DONE;
}

const cli_command cli_vocab = {
    .name = "vocab",
    .operands = "list|where|fetch|verify [ENCODING]...",
    .summary = "The rank files behind the encodings: where they are, fetch, verify",
    .description =
        "An encoding's rank file is embedded in the library, or lies beside the manifest, or in the cache, or is "
        "downloaded from its published address when it is needed. Without a name all public encodings are meant. "
        "\n\n"
        "list tells for each which of these holds. where prints the path, or embedded; exit status 1 if the file is "
        "not here. fetch downloads it into the cache unless a right one is there. verify checks the SHA-256 and the "
        "form of what is here, embedded or not; exit status 1 if something is wrong. "
        "\n\n"
        "The cache is the folder $TIK_CACHE_DIR, else $TIKTOKEN_CACHE_DIR, else $DATA_GYM_CACHE_DIR (tiktoken's own), "
        "else tik in $XDG_CACHE_HOME or ~/.cache; a variable set to nothing switches it off. TIK_OFFLINE=1 forbids "
        "the network. TIK_FETCH_TIMEOUT is the patience with a server in seconds. Proxies are taken from "
        "https_proxy and no_proxy, certificates from CURL_CA_BUNDLE, SSL_CERT_FILE and SSL_CERT_DIR.",
    .options = options,
    .examples = examples,
    .run = run,
};
