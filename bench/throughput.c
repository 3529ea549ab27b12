/*
 * throughput: how fast texts become ids. The file is cut in documents of 64 KiB (at line ends, so that
 * no character is cut); then, each round with a fresh encoder:
 *
 *     first    the first 8 MB of documents
 *     steady   the next 8 MB, documents not met before
 *     count    these once more, through another encoder that met the first 8 MB, counting only
 *
 * Prints MB/s (10^6 bytes a second), the best of the rounds, and a checksum of the ids: FNV-1a over all
 * ids as little-endian words, to be compared with the reference's by bench/peers.
 *
 * usage: throughput [-r ROUNDS] [-m MEGABYTES] ENCODING FILE…
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tik.h"

enum { DOCUMENT = 65536, DOCUMENTS_MOST = 1 << 16 };

/* Time that this thread had the processor: a shared machine's other work does not count. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "throughput: %s: %s\n", what, why);
    exit(2);
}

static char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        stop(path, "cannot be read");
    long size = ftell(file);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size)
        stop(path, "cannot be read");
    fclose(file);
    *length = (size_t)size;
    return text;
}

/* The documents of text[from, to): each ends behind a line end, or between characters. */
static size_t cut(const char *text, size_t from, size_t to, tik_text *documents)
{
    size_t count = 0;
    while (from < to && count < DOCUMENTS_MOST) {
        size_t end = to - from > DOCUMENT ? from + DOCUMENT : to;
        if (end < to) {
            size_t line = end;
            while (line > from && text[line - 1] != '\n')
                line--;
            if (line > from)
                end = line;
            else
                while (((unsigned char)text[end] & 0xC0) == 0x80)
                    end--;
        }
        documents[count++] = (tik_text){text + from, end - from};
        from = end;
    }
    return count;
}

/* Encodes the documents; adds their ids to the checksum afterwards, outside the time. */
static double run(tik_encoder *encoder, const tik_text *documents, size_t count, bool store, tik_ids *ids,
                  size_t *total)
{
    static const tik_options ordinary = TIK_OPTIONS_ORDINARY;
    tik_error error;
    double start = now();
    *total = 0;
    ids->length = 0;
    for (size_t i = 0; i < count; i++) {
        tik_status status;
        size_t n = 0;
        if (store)
            status = tik_encoder_encode(encoder, documents[i].data, documents[i].length, &ordinary, ids, &error);
        else
            status = tik_encoder_count(encoder, documents[i].data, documents[i].length, &ordinary, &n, &error);
        if (status != TIK_OK)
            stop("encode", error.message);
        *total += n;
    }
    if (store)
        *total = ids->length;
    return now() - start;
}

static uint64_t checksum(const tik_ids *ids)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < ids->length; i++)
        for (int shift = 0; shift < 32; shift += 8)
            hash = (hash ^ (ids->data[i] >> shift & 0xFF)) * UINT64_C(0x100000001B3);
    return hash;
}

static size_t bytes_of(const tik_text *documents, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += documents[i].length;
    return bytes;
}

int main(int argc, char **argv)
{
    int rounds = 5;
    size_t megabytes = 8;
    for (int option; (option = getopt(argc, argv, "r:m:")) != -1;)
        if (option == 'r')
            rounds = atoi(optarg);
        else if (option == 'm')
            megabytes = (size_t)atoi(optarg);
        else
            return 2;
    if (argc - optind < 2 || rounds < 1)
        stop("usage", "throughput [-r ROUNDS] [-m MEGABYTES] ENCODING FILE...");
    tik_error error;
    tik_encoding *encoding;
    if (tik_open(argv[optind], &encoding, &error) != TIK_OK)
        stop(argv[optind], error.message);
    tik_text *documents = malloc(2 * DOCUMENTS_MOST * sizeof *documents);
    if (!documents)
        stop("documents", "no memory");
    printf("engine %s\n", tik_engine(encoding));
    for (int f = optind + 1; f < argc; f++) {
        size_t length;
        char *text = read_file(argv[f], &length);
        size_t part = megabytes * 1000000 < length / 2 ? megabytes * 1000000 : length / 2;
        while (part > 0 && text[part - 1] != '\n')
            part--;
        size_t end = part * 2;
        while (end > part && text[end - 1] != '\n')
            end--;
        tik_text *second = documents + DOCUMENTS_MOST;
        size_t counts[2] = {cut(text, 0, part, documents), cut(text, part, end, second)};
        double mb[2] = {(double)bytes_of(documents, counts[0]) / 1e6, (double)bytes_of(second, counts[1]) / 1e6};
        double best[3] = {1e9, 1e9, 1e9};
        size_t tokens[3] = {0};
        uint64_t sums[2] = {0};
        for (int r = 0; r < rounds; r++) {
            tik_encoder *encoder;
            tik_ids ids = TIK_IDS_INIT;
            double took[3];
            if (tik_encoder_new(encoding, &encoder, &error) != TIK_OK)
                stop(argv[optind], error.message);
            took[0] = run(encoder, documents, counts[0], true, &ids, &tokens[0]);
            sums[0] = checksum(&ids);
            took[1] = run(encoder, second, counts[1], true, &ids, &tokens[1]);
            sums[1] = checksum(&ids);
            tik_encoder_free(encoder);
            if (tik_encoder_new(encoding, &encoder, &error) != TIK_OK)
                stop(argv[optind], error.message);
            run(encoder, documents, counts[0], false, &ids, &tokens[2]);
            took[2] = run(encoder, second, counts[1], false, &ids, &tokens[2]);
            if (tokens[2] != tokens[1])
                stop(argv[f], "count and encode differ");
            tik_encoder_free(encoder);
            tik_ids_free(&ids);
            for (int i = 0; i < 3; i++)
                if (took[i] < best[i])
                    best[i] = took[i];
        }
        printf("%-24s first %7.1f  steady %7.1f  count %7.1f MB/s  tokens %zu %zu  %016" PRIx64 " %016" PRIx64 "\n",
               strrchr(argv[f], '/') ? strrchr(argv[f], '/') + 1 : argv[f], mb[0] / best[0], mb[1] / best[1],
               mb[1] / best[2], tokens[0], tokens[1], sums[0], sums[1]);
        fflush(stdout);
        free(text);
    }
    free(documents);
    tik_close(encoding);
    return 0;
}
