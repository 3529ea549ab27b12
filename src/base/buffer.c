/* Growable arrays: doubling, with every size checked before it can wrap. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

tik_status tik_grow(void **array, size_t *capacity, size_t need, size_t size, tik_error *error)
{
    if (need <= *capacity)
        return TIK_OK;
    size_t wanted = *capacity ? *capacity : 16;
    while (wanted < need) {
        if (wanted > SIZE_MAX / 2) {
            wanted = need;
            break;
        }
        wanted *= 2;
    }
    if (wanted > SIZE_MAX / size)
        return tik_fail_memory(error, SIZE_MAX);
    void *grown = realloc(*array, wanted * size);
    if (!grown)
        return tik_fail_memory(error, (wanted - *capacity) * size);
    *array = grown;
    *capacity = wanted;
    return TIK_OK;
}

tik_status tik_bytes_append(tik_bytes *bytes, const void *data, size_t length, tik_error *error)
{
    if (length > SIZE_MAX - bytes->length)
        return tik_fail_memory(error, length);
    if (length == 0)
        return TIK_OK;
    void *array = bytes->data;
    tik_status status = tik_grow(&array, &bytes->capacity, bytes->length + length, 1, error);
    bytes->data = array;
    if (status != TIK_OK)
        return status;
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
    return TIK_OK;
}

tik_status tik_bytes_printf(tik_bytes *bytes, tik_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "cannot format a message");
    void *array = bytes->data;
    tik_status status = tik_grow(&array, &bytes->capacity, bytes->length + (size_t)length + 1, 1, error);
    bytes->data = array;
    if (status != TIK_OK)
        return status;
    va_start(arguments, format);
    vsnprintf(bytes->data + bytes->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    bytes->length += (size_t)length;
    return TIK_OK;
}

tik_status tik_reserve_ids(tik_ids *ids, size_t more, tik_error *error)
{
    void *data = ids->data;
    if (more > SIZE_MAX - ids->length)
        return tik_fail_memory(error, SIZE_MAX);
    tik_status status = tik_grow(&data, &ids->capacity, ids->length + more, sizeof *ids->data, error);
    ids->data = data;
    return status;
}

tik_status tik_reserve_bytes(tik_bytes *bytes, size_t more, tik_error *error)
{
    void *data = bytes->data;
    if (more > SIZE_MAX - bytes->length)
        return tik_fail_memory(error, SIZE_MAX);
    tik_status status = tik_grow(&data, &bytes->capacity, bytes->length + more, 1, error);
    bytes->data = data;
    return status;
}

tik_status tik_reserve_sizes(tik_sizes *sizes, size_t more, tik_error *error)
{
    void *data = sizes->data;
    if (more > SIZE_MAX - sizes->length)
        return tik_fail_memory(error, SIZE_MAX);
    tik_status status = tik_grow(&data, &sizes->capacity, sizes->length + more, sizeof *sizes->data, error);
    sizes->data = data;
    return status;
}

void tik_ids_free(tik_ids *ids)
{
    free(ids->data);
    *ids = (tik_ids)TIK_IDS_INIT;
}

void tik_bytes_free(tik_bytes *bytes)
{
    free(bytes->data);
    *bytes = (tik_bytes)TIK_BYTES_INIT;
}

void tik_sizes_free(tik_sizes *sizes)
{
    free(sizes->data);
    *sizes = (tik_sizes)TIK_SIZES_INIT;
}
