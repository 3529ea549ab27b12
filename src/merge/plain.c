/*
 * The definition of merging, as short as it can be said. Whether two neighbours merge is asked by the
 * bytes of both together; the rank of a pair is the index of the token that these bytes are.
 */
#include <stdlib.h>

#include "merge/merge.h"

tik_status tik_merge_plain(const tik_vocab *vocab, const uint8_t *piece, size_t length, tik_ids *out,
                           tik_error *error)
{
    size_t *starts = malloc((length + 1) * sizeof *starts); /* of the parts; then the end */
    if (!starts)
        return tik_fail_memory(error, (length + 1) * sizeof *starts);
    for (size_t i = 0; i <= length; i++)
        starts[i] = i;
    size_t parts = length;
    for (;;) {
        uint32_t lowest = TIK_NONE;
        size_t where = 0;
        for (size_t i = 0; i + 2 <= parts; i++) {
            uint32_t rank = tik_vocab_find(vocab, piece + starts[i], starts[i + 2] - starts[i]);
            if (rank < lowest) {
                lowest = rank;
                where = i;
            }
        }
        if (lowest == TIK_NONE)
            break;
        for (size_t i = where + 1; i < parts; i++)
            starts[i] = starts[i + 1];
        parts--;
    }
    void *ids = out->data;
    tik_status status = tik_grow(&ids, &out->capacity, out->length + parts, sizeof *out->data, error);
    out->data = ids;
    for (size_t i = 0; status == TIK_OK && i < parts; i++)
        out->data[out->length++] = tik_vocab_find(vocab, piece + starts[i], starts[i + 1] - starts[i]);
    free(starts);
    return status;
}
