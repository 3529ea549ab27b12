/* Finding the embedded tables of a rank file. */
#include "vocab/embedded.h"

#include "vocab/vocab.h"

bool tik_vocab_embedded(const char *sha256, const void **tables, size_t *size)
{
    for (size_t i = 0; i < tik_embedded_count; i++)
        if (strcmp(tik_embedded_files[i].sha256, sha256) == 0) {
            *tables = tik_embedded_files[i].tables;
            *size = (size_t)(tik_embedded_files[i].end - tik_embedded_files[i].tables);
            return true;
        }
    return false;
}
