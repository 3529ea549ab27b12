/* A user's program, C11 and C++ at once: prints the ids of its arguments, or what went wrong. */
#include <stdio.h>
#include <string.h>

#include <tik.h>

int main(int argc, char **argv)
{
    tik_encoding *encoding = NULL;
    tik_error error;
    tik_ids ids = TIK_IDS_INIT;
    int i;
    size_t k;
    if (argc < 2 || tik_open(argv[1], &encoding, &error) != TIK_OK) {
        fprintf(stderr, "%s: %s\n", argc < 2 ? "usage" : tik_status_text(error.status), error.message);
        return 2;
    }
    for (i = 2; i < argc; i++)
        if (tik_encode_ordinary(encoding, argv[i], strlen(argv[i]), &ids, &error) != TIK_OK) {
            fprintf(stderr, "%s\n", error.message);
            return 2;
        }
    printf("%s", tik_version());
    for (k = 0; k < ids.length; k++)
        printf(" %lu", (unsigned long)ids.data[k]);
    printf("\n");
    tik_ids_free(&ids);
    tik_close(encoding);
    return 0;
}
