/* Hashes and base64 by libcrypto. */
#include "fetch/codec.h"

#include <openssl/err.h>
#include <openssl/evp.h>

static tik_status digest(const EVP_MD *kind, const void *data, size_t length, char *hex, tik_error *error)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char value[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (!EVP_Digest(data, length, value, &size, kind, NULL)) {
        /* Either the algorithm is not there, and libcrypto says so when asked for it, or memory lacked. */
        ERR_set_mark();
        EVP_MD *found = EVP_MD_fetch(NULL, EVP_MD_get0_name(kind), NULL);
        bool is_unknown = !found && ERR_GET_REASON(ERR_peek_last_error()) == ERR_R_UNSUPPORTED;
        ERR_pop_to_mark();
        EVP_MD_free(found);
        if (is_unknown)
            return tik_fail(error, TIK_ERROR_MISSING,
                            "libcrypto cannot compute the hash: is a restricted provider set?");
        return tik_fail(error, TIK_ERROR_MEMORY, "no memory to compute a hash");
    }
    for (unsigned i = 0; i < size; i++) {
        hex[2 * i] = digits[value[i] >> 4];
        hex[2 * i + 1] = digits[value[i] & 15];
    }
    hex[2 * size] = 0;
    return TIK_OK;
}

tik_status tik_codec_sha256(const void *data, size_t length, char hex[65], tik_error *error)
{
    return digest(EVP_sha256(), data, length, hex, error);
}

tik_status tik_codec_sha1(const void *data, size_t length, char hex[41], tik_error *error)
{
    return digest(EVP_sha1(), data, length, hex, error);
}

/* The value of a base64 digit, 64 for any other byte. */
static unsigned digit_value(char digit)
{
    if (digit >= 'A' && digit <= 'Z')
        return (unsigned)(digit - 'A');
    if (digit >= 'a' && digit <= 'z')
        return (unsigned)(digit - 'a') + 26;
    if (digit >= '0' && digit <= '9')
        return (unsigned)(digit - '0') + 52;
    return digit == '+' ? 62 : digit == '/' ? 63 : 64;
}

bool tik_codec_base64_decode(const char *text, size_t length, tik_bytes *out)
{
    /* EVP_DecodeBlock skips white space and takes '=' and unused bits as they come: check them here. */
    if (length % 4 != 0 || length > INT32_MAX)
        return false;
    if (length == 0)
        return true;
    size_t padding = (text[length - 1] == '=') + (size_t)(text[length - 1] == '=' && text[length - 2] == '=');
    for (size_t i = 0; i < length - padding; i++)
        if (digit_value(text[i]) == 64)
            return false;
    unsigned last = digit_value(text[length - padding - 1]);
    if ((padding == 1 && last & 3) || (padding == 2 && last & 15))
        return false;

    size_t size = length / 4 * 3;
    void *array = out->data;
    tik_status status = tik_grow(&array, &out->capacity, out->length + size, 1, NULL);
    out->data = array;
    if (status != TIK_OK ||
        EVP_DecodeBlock((unsigned char *)out->data + out->length, (const unsigned char *)text, (int)length) !=
            (int)size)
        return false;
    out->length += size - padding;
    return true;
}

bool tik_codec_base64_encode(const void *data, size_t length, tik_bytes *out)
{
    if (length > INT32_MAX / 2)
        return false;
    size_t size = (length + 2) / 3 * 4;
    void *array = out->data;
    tik_status status = tik_grow(&array, &out->capacity, out->length + size + 1, 1, NULL);
    out->data = array;
    if (status != TIK_OK ||
        EVP_EncodeBlock((unsigned char *)out->data + out->length, data, (int)length) != (int)size)
        return false;
    out->length += size;
    return true;
}
