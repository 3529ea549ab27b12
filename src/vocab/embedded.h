/* Of vocab/ alone: the tables that the build took in. The data is written by tools/embed.c. */
#ifndef TIK_VOCAB_EMBEDDED_H
#define TIK_VOCAB_EMBEDDED_H

#include <stddef.h>

typedef struct tik_embedded {
    const char *sha256; /* of the rank file */
    const unsigned char *tables;
    const unsigned char *end;
} tik_embedded;

extern const tik_embedded tik_embedded_files[];
extern const size_t tik_embedded_count;

#endif
