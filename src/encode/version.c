/* Versions: of the library, of what it is made of, and of the vocabularies in it. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdatomic.h>
#include <stdio.h>

#include "registry/registry.h"
#include "unicode/unicode.h"
#include "vocab/vocab.h"

const char *tik_version(void)
{
    return TIK_VERSION;
}

const char *tik_version_details(void)
{
    /* Written by the first caller; others write the same bytes to a buffer of their own until then. */
    static char text[1024];
    static atomic_int state; /* 0 none, 1 being written, 2 written */
    static _Thread_local char mine[1024];
    int none = 0;
    if (atomic_load(&state) == 2)
        return text;
    char *out = atomic_compare_exchange_strong(&state, &none, 1) ? text : mine;
    char pcre2[64] = "unknown";
    pcre2_config(PCRE2_CONFIG_VERSION, pcre2);
    int used = snprintf(out, sizeof text, "libtik %s, PCRE2 %s, Unicode %s, embedded:", TIK_VERSION, pcre2,
                        TIK_UNICODE_VERSION);
    bool any = false;
    for (size_t i = 0; i < tik_public_manifest_count && used > 0 && (size_t)used < sizeof text; i++) {
        const void *tables;
        size_t size;
        if (!tik_vocab_embedded(tik_public_manifests[i].sha256, &tables, &size))
            continue;
        used += snprintf(out + used, sizeof text - (size_t)used, " %s", tik_public_manifests[i].name);
        any = true;
    }
    if (!any && used > 0 && (size_t)used < sizeof text)
        snprintf(out + used, sizeof text - (size_t)used, " none");
    if (out == text)
        atomic_store(&state, 2);
    return out;
}
