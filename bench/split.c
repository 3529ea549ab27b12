/*
 * How fast texts are split into pieces: MB/s and ns a piece of every scanner that runs here, for each file
 * given. Splitting only: the ends go into a small buffer that is used again and again.
 *
 *     bench/split [-s SECONDS] [-p PATTERN] [-w WAY] [-d BYTES] FILE...
 *
 * -d cuts the file into texts of about that size (1 MiB if not given), at certain boundaries; of each the
 * best time counts. Pin it to a core: taskset -c 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "split/scan.h"

#define ENDS 512

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static uint8_t *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    uint8_t *text = NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        long size = ftell(file);
        rewind(file);
        if (size > 0 && (text = malloc((size_t)size)) != NULL)
            *length = fread(text, 1, (size_t)size, file);
    }
    fclose(file);
    return text;
}

static size_t split(const tik_scanner *scanner, const uint8_t *text, size_t length)
{
    uint32_t ends[ENDS];
    size_t pieces = 0, count;
    for (size_t from = 0; from < length; pieces += count)
        scanner->next(text, length, from, false, ends, ENDS, &count, &from);
    return pieces;
}

int main(int argc, char **argv)
{
    double seconds = 0.3;
    const char *pattern = "", *way = "";
    size_t text_size = 1 << 20, capacity = 0;
    double *times = NULL;
    for (int option; (option = getopt(argc, argv, "s:p:w:d:")) != -1;) {
        if (option == 's')
            seconds = atof(optarg);
        else if (option == 'p')
            pattern = optarg;
        else if (option == 'w')
            way = optarg;
        else if (option == 'd')
            text_size = strtoul(optarg, NULL, 10);
        else
            return 2;
    }
    printf("%-28s %-18s %8s %9s %7s\n", "file", "scanner", "MB/s", "ns/piece", "B/piece");
    for (int i = optind; i < argc; i++) {
        size_t length = 0;
        uint8_t *text = read_file(argv[i], &length);
        if (!text) {
            fprintf(stderr, "%s: cannot be read\n", argv[i]);
            return 2;
        }
        const char *slash = strrchr(argv[i], '/');
        for (int p = 0; p < TIK_SCAN_PATTERNS; p++) {
            for (int w = 0; w < TIK_SCAN_WAYS; w++) {
                const tik_scanner *scanner = tik_scanner_get((tik_scan_pattern)p, (tik_scan_way)w);
                if (!scanner || !strstr(scanner->name, pattern) || !strstr(scanner->name, way))
                    continue;
                double stop = now() + seconds, best = 0;
                size_t pieces = 0, texts = 0;
                do {
                    texts = pieces = 0;
                    for (size_t from = 0, to; from < length; from = to) {
                        to = length - from > text_size ? tik_scan_cut(text, length, from, from + text_size) : length;
                        to = to ? to : length;
                        double start = now();
                        pieces += split(scanner, text + from, to - from);
                        double time = now() - start;
                        if (texts == capacity) {
                            capacity = capacity ? 2 * capacity : 1024;
                            times = realloc(times, capacity * sizeof *times);
                            if (!times)
                                return 2;
                        }
                        times[texts] = best > 0 && times[texts] < time ? times[texts] : time;
                        texts++;
                    }
                    best = 1;
                } while (now() < stop);
                best = 0;
                for (size_t text_number = 0; text_number < texts; text_number++)
                    best += times[text_number];
                printf("%-28s %-18s %8.0f %9.2f %7.2f\n", slash ? slash + 1 : argv[i], scanner->name,
                       (double)length / best * 1e-6, best / (double)pieces * 1e9, (double)length / (double)pieces);
                fflush(stdout);
            }
        }
        free(text);
    }
    free(times);
    return 0;
}
