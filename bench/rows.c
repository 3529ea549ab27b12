/*
 * rows: what throughput does not measure, a line each; bench/rows runs it and makes a table of it.
 *
 * usage: rows ENCODING FILE           opening (time, private memory), calls on short texts, decoding, threads
 *        rows ENCODING FILE messages  each line of FILE is a text: calls, and a batch
 *        rows ENCODING FILE whole     FILE in memory, counted, on one thread and on two
 *        rows ENCODING FILE hard      hard inputs of 1 MB and of 100 MB; FILE is not looked at
 *        rows ENCODING FOLDER inputs  writes these of 1 MB to FOLDER, in their order: 0.txt, 1.txt, ...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tik.h"

enum { MEGABYTE = 1000000, ROUNDS = 5 };

static double clock_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double cpu(void)
{
    return clock_of(CLOCK_THREAD_CPUTIME_ID);
}

static double wall(void)
{
    return clock_of(CLOCK_MONOTONIC);
}

static tik_error error;

static void must(tik_status status)
{
    if (status != TIK_OK) {
        fprintf(stderr, "rows: %s\n", error.message);
        exit(2);
    }
}

static char *reserve(size_t length)
{
    char *text = malloc(length + 1);
    if (!text) {
        fprintf(stderr, "rows: no memory\n");
        exit(2);
    }
    return text;
}

/* Private dirty memory of this process, in KiB; 0 where the system does not tell. */
static long private_kib(void)
{
    char line[256];
    long total = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file)) {
        long kib;
        if (sscanf(line, "Private_Dirty: %ld", &kib) == 1)
            total += kib;
    }
    if (file)
        fclose(file);
    return total;
}

static void measure_open(const char *name)
{
    double best = 1e9;
    long before = private_kib();
    tik_encoding *first;
    double start = cpu();
    must(tik_open(name, &first, &error));
    double cold = cpu() - start;
    long after = private_kib();
    for (int i = 0; i < 100; i++) {
        tik_encoding *encoding;
        start = cpu();
        must(tik_open(name, &encoding, &error));
        double took = cpu() - start;
        best = took < best ? took : best;
        tik_close(encoding);
    }
    tik_close(first);
    printf("open: first %.1f us, again %.2f us, private memory %ld KiB\n", cold * 1e6, best * 1e6, after - before);
}

static void measure_short(const tik_encoding *encoding, const char *text, size_t length)
{
    static const size_t sizes[] = {20, 200, 2000};
    static const tik_options ordinary = TIK_OPTIONS_ORDINARY;
    tik_encoder *encoder;
    tik_ids ids = TIK_IDS_INIT;
    must(tik_encoder_new(encoding, &encoder, &error));
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        double best = 1e9;
        for (int r = 0; r < ROUNDS; r++) {
            size_t calls = 0;
            double start = cpu();
            for (size_t at = 0; at + sizes[s] + 4 < length && calls < 20000; calls++) {
                size_t end = at + sizes[s];
                while (((unsigned char)text[end] & 0xC0) == 0x80)
                    end++;
                ids.length = 0;
                must(tik_encoder_encode(encoder, text + at, end - at, &ordinary, &ids, &error));
                at = end;
            }
            double took = (cpu() - start) / (double)calls;
            best = took < best ? took : best;
        }
        printf("short: %zu bytes %.0f ns a call, %.2f million calls a second\n", sizes[s], best * 1e9, 1e-6 / best);
    }
    tik_ids_free(&ids);
    tik_encoder_free(encoder);
}

static void measure_decode(const tik_encoding *encoding, const char *text, size_t length)
{
    tik_ids ids = TIK_IDS_INIT;
    tik_bytes bytes = TIK_BYTES_INIT;
    double best = 1e9;
    must(tik_encode_ordinary(encoding, text, length, &ids, &error));
    for (int r = 0; r < ROUNDS; r++) {
        bytes.length = 0;
        double start = cpu();
        must(tik_decode(encoding, ids.data, ids.length, TIK_DECODE_BYTES, &bytes, &error));
        double took = cpu() - start;
        best = took < best ? took : best;
    }
    if (bytes.length != length || memcmp(bytes.data, text, length) != 0) {
        fprintf(stderr, "rows: decoding does not give the text back\n");
        exit(1);
    }
    printf("decode: %.0f MB/s\n", (double)length / 1e6 / best);
    tik_ids_free(&ids);
    tik_bytes_free(&bytes);
}

static void measure_threads(const tik_encoding *encoding, const char *text, size_t length)
{
    double best[2] = {1e9, 1e9};
    for (int r = 0; r < ROUNDS; r++)
        for (unsigned threads = 1; threads <= 2; threads++) {
            tik_options options = TIK_OPTIONS_ORDINARY;
            tik_ids ids = TIK_IDS_INIT;
            options.threads = threads;
            double start = wall();
            must(tik_encode(encoding, text, length, &options, &ids, &error));
            double took = wall() - start;
            best[threads - 1] = took < best[threads - 1] ? took : best[threads - 1];
            tik_ids_free(&ids);
        }
    printf("threads: one %.0f MB/s, two %.0f MB/s (of wall time), ratio %.2f\n", (double)length / 1e6 / best[0],
           (double)length / 1e6 / best[1], best[0] / best[1]);
}

/* ---- Hard inputs --------------------------------------------------------------------------- */

static unsigned long long seed = 1;

static unsigned random_below(unsigned limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 20) % limit;
}

/* Writes one unit of the input at `at`; returns its bytes. */
typedef size_t unit(char *at);

static size_t put(char *at, const char *bytes)
{
    size_t length = strlen(bytes);
    memcpy(at, bytes, length);
    return length;
}

static size_t put_three(char *at, unsigned code_point)
{
    at[0] = (char)(0xE0 | code_point >> 12);
    at[1] = (char)(0x80 | (code_point >> 6 & 0x3F));
    at[2] = (char)(0x80 | (code_point & 0x3F));
    return 3;
}

static size_t one_of(char *at, const char *letters)
{
    *at = letters[random_below((unsigned)strlen(letters))];
    return 1;
}

static size_t unit_a(char *at)
{
    return put(at, "a");
}

static size_t unit_space(char *at)
{
    return put(at, " ");
}

static size_t unit_newline(char *at)
{
    return put(at, "\n");
}

static size_t unit_caret(char *at)
{
    return put(at, "^");
}

static size_t unit_lower(char *at)
{
    return one_of(at, "abcdefghijklmnopqrstuvwxyz");
}

static size_t unit_letter(char *at)
{
    return one_of(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

static size_t unit_han(char *at)
{
    return put_three(at, 0x4E00 + random_below(0x51A6));
}

static size_t unit_emoji(char *at)
{
    at[0] = (char)0xF0;
    at[1] = (char)0x9F;
    at[2] = (char)(0x98 + random_below(3));
    at[3] = (char)(0x80 + random_below(64));
    return 4;
}

static size_t unit_digit(char *at)
{
    return one_of(at, "0123456789");
}

static size_t unit_accent(char *at)
{
    return put(at, "e\xCC\x81");
}

static size_t unit_base64(char *at)
{
    return one_of(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
}


static const struct {
    const char *name;
    unit *unit;
} inputs[] = {
    {"a x n", unit_a}, {"space x n", unit_space}, {"newline x n", unit_newline}, {"^ x n", unit_caret},
    {"random a-z", unit_lower}, {"random A-Za-z", unit_letter}, {"random Han", unit_han}, {"emoji", unit_emoji},
    {"digits", unit_digit}, {"e + acute x n", unit_accent}, {"base64-like", unit_base64},
};

static size_t make_input(size_t index, char *text, size_t wanted)
{
    size_t length = 0;
    seed = 20261201;
    while (length < wanted)
        length += inputs[index].unit(text + length);
    return length;
}

static void write_inputs(const char *folder)
{
    char *text = reserve(MEGABYTE + 8);
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        char path[4096];
        size_t length = make_input(i, text, MEGABYTE);
        snprintf(path, sizeof path, "%s/%zu.txt", folder, i);
        FILE *file = fopen(path, "wb");
        if (!file || fwrite(text, 1, length, file) != length || fclose(file) != 0) {
            fprintf(stderr, "rows: %s: cannot be written\n", path);
            exit(2);
        }
    }
    free(text);
}

static void measure_hard(const tik_encoding *encoding)
{
    char *text = reserve(100 * (size_t)MEGABYTE + 8);
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        double rates[2];
        for (int large = 0; large < 2; large++) {
            size_t wanted = (size_t)MEGABYTE * (large ? 100 : 1);
            size_t length = make_input(i, text, wanted);
            double best = 1e9;
            for (int r = 0; r < (large ? 2 : ROUNDS); r++) {
                static const tik_options ordinary = TIK_OPTIONS_ORDINARY;
                tik_encoder *encoder;
                tik_ids ids = TIK_IDS_INIT;
                tik_bytes bytes = TIK_BYTES_INIT;
                must(tik_encoder_new(encoding, &encoder, &error));
                double start = cpu();
                must(tik_encoder_encode(encoder, text, length, &ordinary, &ids, &error));
                double took = cpu() - start;
                best = took < best ? took : best;
                must(tik_decode(encoding, ids.data, ids.length, TIK_DECODE_BYTES, &bytes, &error));
                if (bytes.length != length || memcmp(bytes.data, text, length) != 0) {
                    fprintf(stderr, "rows: %s does not come back\n", inputs[i].name);
                    exit(1);
                }
                tik_bytes_free(&bytes);
                tik_ids_free(&ids);
                tik_encoder_free(encoder);
            }
            rates[large] = (double)length / 1e6 / best;
        }
        printf("hard: %-14s %7.1f MB/s at 1 MB, %7.1f MB/s at 100 MB\n", inputs[i].name, rates[0], rates[1]);
        fflush(stdout);
    }
    free(text);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static char *read_file(const char *path, size_t most, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "rows: %s: cannot be read\n", path);
        exit(2);
    }
    size_t size = (size_t)ftell(file);
    rewind(file);
    size = size < most ? size : most;
    char *text = reserve(size);
    *length = fread(text, 1, size, file);
    fclose(file);
    return text;
}

static void measure_messages(const tik_encoding *encoding, const char *text, size_t length)
{
    enum { MOST = 100000 };
    static tik_text texts[MOST];
    static const tik_options ordinary = TIK_OPTIONS_ORDINARY;
    size_t count = 0;
    double best[2] = {1e9, 1e9};
    tik_encoder *encoder;
    for (size_t at = 0, end; at < length && count < MOST; at = end + 1) {
        const char *line = memchr(text + at, '\n', length - at);
        end = line ? (size_t)(line - text) : length;
        texts[count++] = (tik_text){text + at, end - at};
    }
    must(tik_encoder_new(encoding, &encoder, &error));
    for (int r = 0; r < ROUNDS; r++) {
        tik_ids ids = TIK_IDS_INIT;
        tik_sizes starts = TIK_SIZES_INIT;
        double start = cpu();
        for (size_t i = 0; i < count; i++) {
            ids.length = 0;
            must(tik_encoder_encode(encoder, texts[i].data, texts[i].length, &ordinary, &ids, &error));
        }
        double took = cpu() - start;
        best[0] = took < best[0] ? took : best[0];
        ids.length = 0;
        start = cpu();
        must(tik_encode_batch(encoding, texts, count, &ordinary, &ids, &starts, &error));
        took = cpu() - start;
        best[1] = took < best[1] ? took : best[1];
        tik_ids_free(&ids);
        tik_sizes_free(&starts);
    }
    printf("messages: %zu, %.0f ns a call, %.0f ns each in a batch\n", count, best[0] / (double)count * 1e9,
           best[1] / (double)count * 1e9);
    tik_encoder_free(encoder);
}

static void measure_whole(const tik_encoding *encoding, const char *text, size_t length)
{
    for (unsigned threads = 1; threads <= 2; threads++) {
        double best[2] = {1e9, 1e9};
        size_t count = 0;
        for (int r = 0; r < 2; r++) {
            tik_options options = TIK_OPTIONS_ORDINARY;
            options.threads = threads;
            options.replace_invalid = true;
            double start[2] = {wall(), clock_of(CLOCK_PROCESS_CPUTIME_ID)};
            must(tik_count_with(encoding, text, length, &options, &count, &error));
            double took[2] = {wall() - start[0], clock_of(CLOCK_PROCESS_CPUTIME_ID) - start[1]};
            for (int i = 0; i < 2; i++)
                best[i] = took[i] < best[i] ? took[i] : best[i];
        }
        printf("whole: %zu bytes, %zu tokens, %u threads: %.3f s, %.3f s of processor time\n", length, count, threads,
               best[0], best[1]);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 3 ? argv[3] : "rows";
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: rows ENCODING FILE [messages|whole|hard|inputs]\n");
        return 2;
    }
    if (strcmp(mode, "inputs") == 0) {
        write_inputs(argv[2]);
        return 0;
    }
    tik_encoding *encoding;
    if (strcmp(mode, "rows") == 0)
        measure_open(argv[1]);
    must(tik_open(argv[1], &encoding, &error));
    if (strcmp(mode, "hard") == 0) {
        measure_hard(encoding);
    } else {
        size_t length;
        char *text = read_file(argv[2], strcmp(mode, "rows") == 0 ? 16 * (size_t)MEGABYTE : SIZE_MAX, &length);
        while (strcmp(mode, "rows") == 0 && length > 0 && text[length - 1] != '\n')
            length--;
        if (strcmp(mode, "messages") == 0) {
            measure_messages(encoding, text, length);
        } else if (strcmp(mode, "whole") == 0) {
            measure_whole(encoding, text, length);
        } else {
            measure_short(encoding, text, length);
            measure_decode(encoding, text, length);
            measure_threads(encoding, text, length);
        }
        free(text);
    }
    tik_close(encoding);
    return 0;
}
