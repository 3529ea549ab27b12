/* Looking up encodings and models by name, and the nearest names to one that there is not. */
#include <stdio.h>
#include <string.h>

#include "registry/registry.h"

#define NAME_LIMIT 64 /* longer names are not worth a guess */

/* Optimal string alignment distance (insert, delete, replace, swap), each letter's case apart. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][NAME_LIMIT + 1];
    size_t n = strlen(a);
    size_t m = strlen(b);
    if (n > NAME_LIMIT || m > NAME_LIMIT)
        return NAME_LIMIT;
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && above2[j - 2] + 1 < best)
                best = above2[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[n % 3][m];
}

/* How far a candidate is; one that contains the name, or begins it, is near. */
static size_t closeness(const char *name, const char *candidate)
{
    size_t apart = distance(name, candidate);
    if (name[0] && (strstr(candidate, name) || strstr(name, candidate)))
        return apart < 2 ? apart : 2;
    return apart;
}

void tik_suggest(tik_error *error, const char *name, const char *(*next)(void *context, size_t index), void *context)
{
    enum { MOST = 3 };
    const char *best[MOST] = {0};
    size_t best_distance[MOST];
    size_t found = 0;
    if (!error)
        return;
    size_t allowed = strlen(name) / 3 + 1;
    const char *candidate;
    for (size_t i = 0; (candidate = next(context, i)) != NULL; i++) {
        size_t apart = closeness(name, candidate);
        if (apart > allowed)
            continue;
        size_t at = found < MOST ? found++ : MOST;
        while (at > 0 && best_distance[at - 1] > apart) {
            if (at < MOST) {
                best[at] = best[at - 1];
                best_distance[at] = best_distance[at - 1];
            }
            at--;
        }
        if (at < MOST) {
            best[at] = candidate;
            best_distance[at] = apart;
        }
    }
    size_t used = strlen(error->message);
    for (size_t i = 0; i < found && used < sizeof error->message; i++) {
        const char *before = i == 0 ? "; did you mean " : i + 1 == found ? " or " : ", ";
        int wrote = snprintf(error->message + used, sizeof error->message - used, "%s%s%s", before, best[i],
                             i + 1 == found ? "?" : "");
        if (wrote < 0)
            break;
        used += (size_t)wrote;
    }
}

const char *tik_encoding_at(size_t index)
{
    return index < tik_public_manifest_count ? tik_public_manifests[index].name : NULL;
}

static const char *encoding_name(void *context, size_t index)
{
    (void)context;
    return tik_encoding_at(index);
}

tik_status tik_registry_find(const char *name, const tik_manifest **manifest, tik_error *error)
{
    for (size_t i = 0; i < tik_public_manifest_count; i++)
        if (strcmp(tik_public_manifests[i].name, name) == 0) {
            *manifest = &tik_public_manifests[i];
            return TIK_OK;
        }
    const char *encoding;
    if (tik_encoding_for_model(name, &encoding, NULL) == TIK_OK)
        return tik_fail(error, TIK_ERROR_NAME,
                        "no encoding is named '%.100s': that is a model, and its encoding is %s", name, encoding);
    tik_fail(error, TIK_ERROR_NAME, "no encoding is named '%.100s'", name);
    size_t said = error ? strlen(error->message) : 0;
    tik_suggest(error, name, encoding_name, NULL);
    if (!error || error->message[said])
        return TIK_ERROR_NAME;
    for (size_t i = 0; i < tik_public_manifest_count && said < sizeof error->message; i++) {
        int wrote = snprintf(error->message + said, sizeof error->message - said, "%s%s", i ? ", " : "; there are ",
                             tik_public_manifests[i].name);
        said += wrote > 0 ? (size_t)wrote : 0;
    }
    return TIK_ERROR_NAME;
}

bool tik_model_at(size_t index, tik_model_name *model)
{
    if (index >= tik_model_name_count)
        return false;
    *model = tik_model_names[index];
    return true;
}

static const char *model_name(void *context, size_t index)
{
    (void)context;
    return index < tik_model_name_count ? tik_model_names[index].name : NULL;
}

tik_status tik_encoding_for_model(const char *model, const char **encoding, tik_error *error)
{
    for (size_t i = 0; i < tik_model_name_count; i++) {
        const tik_model_name *entry = &tik_model_names[i];
        if (entry->is_prefix ? strncmp(model, entry->name, strlen(entry->name)) == 0
                             : strcmp(model, entry->name) == 0) {
            *encoding = entry->encoding;
            return TIK_OK;
        }
    }
    for (size_t i = 0; i < tik_public_manifest_count; i++)
        if (strcmp(tik_public_manifests[i].name, model) == 0)
            return tik_fail(error, TIK_ERROR_NAME, "no model is named '%.100s': that is an encoding", model);
    tik_fail(error, TIK_ERROR_NAME, "the encoding of model '%.100s' is not known: name the encoding itself", model);
    tik_suggest(error, model, model_name, NULL);
    return TIK_ERROR_NAME;
}
