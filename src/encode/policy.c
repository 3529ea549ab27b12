/* Options → what they mean for an encoding: which special tokens count, which are refused. */
#include <stdlib.h>

#include "encode/encode.h"

tik_status tik_fail_special(tik_error *error, const tik_special *special, size_t offset)
{
    return tik_fail_at(error, TIK_ERROR_SPECIAL, TIK_NOWHERE, offset,
                       "the text has the special token '%.*s' at byte %zu: allow it, or have it taken as ordinary text",
                       (int)(special->length < 200 ? special->length : 200), special->text, offset);
}

tik_status tik_fail_utf8(tik_error *error, uint8_t byte, size_t offset)
{
    return tik_fail_at(error, TIK_ERROR_UTF8, TIK_NOWHERE, offset,
                       "the text is not UTF-8: byte 0x%02X at offset %zu; convert it, or have bad bytes replaced",
                       byte, offset);
}

/* A bool for each special token, true for the listed ones. Names that are none match nothing. */
static tik_status mark(const tik_encoding *encoding, const char *const *names, size_t count, bool **marks,
                       tik_error *error)
{
    size_t size = encoding->specials.count ? encoding->specials.count : 1;
    *marks = calloc(size, sizeof **marks);
    if (!*marks)
        return tik_fail_memory(error, size);
    for (size_t i = 0; i < count; i++) {
        size_t index = tik_specials_lookup(&encoding->specials, names[i], strlen(names[i]));
        if (index < encoding->specials.count)
            (*marks)[index] = true;
    }
    return TIK_OK;
}

/* The caller's list of what is refused, which need not be special tokens of the encoding. */
static tik_status forbid(tik_policy *policy, const tik_options *options, tik_error *error)
{
    size_t count = 0;
    policy->own_list = malloc(options->disallowed_count * sizeof *policy->own_list);
    if (!policy->own_list)
        return tik_fail_memory(error, options->disallowed_count * sizeof *policy->own_list);
    for (size_t i = 0; i < options->disallowed_count; i++) {
        const char *name = options->disallowed_list[i];
        size_t same = 0;
        while (same < count && strcmp(policy->own_list[same].text, name) != 0)
            same++;
        if (!name[0])
            return tik_fail(error, TIK_ERROR_ARGUMENT, "the list of disallowed special tokens has an empty name");
        if (same == count)
            policy->own_list[count++] = (tik_special){name, strlen(name), 0};
    }
    policy->forbidden = &policy->own_forbidden;
    policy->any_disallowed = count > 0;
    return tik_specials_init(&policy->own_forbidden, policy->own_list, count, error);
}

static tik_status fill(tik_policy *policy, const tik_encoding *encoding, const tik_options *options, tik_error *error)
{
    tik_status status = TIK_OK;
    policy->any_allowed = options->allowed != TIK_SET_NONE && encoding->specials.count > 0;
    if (options->allowed == TIK_SET_LISTED)
        status = mark(encoding, options->allowed_list, options->allowed_count, &policy->allowed, error);
    if (status != TIK_OK)
        return status;
    policy->forbidden = &encoding->specials;
    if (options->disallowed == TIK_SET_LISTED && options->disallowed_count > 0)
        return forbid(policy, options, error);
    if (options->disallowed != TIK_SET_ALL || options->allowed == TIK_SET_ALL)
        return TIK_OK;
    policy->any_disallowed = encoding->specials.count > 0;
    if (options->allowed == TIK_SET_LISTED) {
        status = mark(encoding, options->allowed_list, options->allowed_count, &policy->disallowed, error);
        for (size_t i = 0; status == TIK_OK && i < encoding->specials.count; i++)
            policy->disallowed[i] = !policy->disallowed[i];
    }
    return status;
}

tik_status tik_policy_init(tik_policy *policy, const tik_encoding *encoding, const tik_options *options,
                           tik_error *error)
{
    static const tik_options defaults = TIK_OPTIONS_INIT;
    if (!options)
        options = &defaults;
    *policy = (tik_policy){0};
    if (options->size != sizeof *options)
        return tik_fail(error, TIK_ERROR_ARGUMENT,
                        "tik_options has size %zu, not %zu: begin with TIK_OPTIONS_INIT, of this library's tik.h",
                        options->size, sizeof *options);
    if ((unsigned)options->allowed > TIK_SET_LISTED || (unsigned)options->disallowed > TIK_SET_LISTED)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "tik_options: allowed and disallowed must be a tik_set");
    policy->replace_invalid = options->replace_invalid;
    policy->threads = options->threads;
    policy->limit = options->limit ? options->limit : SIZE_MAX;
    tik_status status = fill(policy, encoding, options, error);
    if (status != TIK_OK)
        tik_policy_free(policy);
    return status;
}

void tik_policy_free(tik_policy *policy)
{
    free(policy->allowed);
    free(policy->disallowed);
    free(policy->own_list);
    free(policy->own_names);
    tik_specials_free(&policy->own_forbidden);
    *policy = (tik_policy){0};
}

tik_status tik_policy_keep(tik_policy *policy, tik_error *error)
{
    size_t bytes = 0;
    for (size_t i = 0; i < policy->own_forbidden.count; i++)
        bytes += policy->own_list[i].length;
    if (bytes == 0)
        return TIK_OK;
    char *at = policy->own_names = malloc(bytes);
    if (!at)
        return tik_fail_memory(error, bytes);
    for (size_t i = 0; i < policy->own_forbidden.count; i++) {
        policy->own_list[i].text = memcpy(at, policy->own_list[i].text, policy->own_list[i].length);
        at += policy->own_list[i].length;
    }
    return TIK_OK;
}

tik_status tik_policy_check(const tik_policy *policy, const uint8_t *text, size_t length, tik_error *error)
{
    size_t at;
    size_t index;
    if (!policy->any_disallowed ||
        !tik_specials_find(policy->forbidden, policy->disallowed, text, length, 0, &at, &index))
        return TIK_OK;
    return tik_fail_special(error, &policy->forbidden->list[index], at);
}
