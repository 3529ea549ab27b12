/* Finding a model in a list of windows and prices, the compiled-in one or a user's. */
#include <string.h>

#include "registry/registry.h"

static const tik_prices *list_of(const tik_prices *prices)
{
    return prices ? prices : &tik_public_prices;
}

/* Fills `info`, as far as its caller knows of it. `model` is the name that was asked for. */
static void fill(const tik_prices *prices, const tik_price_entry *entry, const char *model, tik_model_info *info)
{
    const char *encoding = NULL;
    if (tik_encoding_for_model(model, &encoding, NULL) != TIK_OK)
        tik_encoding_for_model(entry->name, &encoding, NULL);
    tik_model_info all = {
        .size = info->size,
        .name = entry->name,
        .encoding = encoding,
        .window = entry->window,
        .has_rates = entry->has_rates,
        .rates = entry->rates,
        .long_above = entry->long_above,
        .long_rates = entry->long_rates,
        .currency = prices->currency,
        .date = prices->date,
        .since = entry->since,
        .source = prices->source,
    };
    memcpy(info, &all, info->size < sizeof all ? info->size : sizeof all);
}

bool tik_prices_at(const tik_prices *prices, size_t index, tik_model_info *info)
{
    const tik_prices *list = list_of(prices);
    if (index >= list->count)
        return false;
    fill(list, &list->entries[index], list->entries[index].name, info);
    return true;
}

static bool has_name(const tik_price_entry *entry, const char *model)
{
    bool found = strcmp(entry->name, model) == 0;
    for (size_t i = 0; !found && i < entry->name_count; i++)
        found = strcmp(entry->names[i], model) == 0;
    return found;
}

/* Length of the longest of an entry's prefixes that the model's name begins with; 0 if there is none. */
static size_t prefix_length(const tik_price_entry *entry, const char *model)
{
    size_t longest = 0;
    for (size_t i = 0; i < entry->prefix_count; i++) {
        size_t length = strlen(entry->prefixes[i]);
        if (length > longest && strncmp(entry->prefixes[i], model, length) == 0)
            longest = length;
    }
    return longest;
}

static const char *entry_name(void *context, size_t index)
{
    const tik_prices *list = context;
    return index < list->count ? list->entries[index].name : NULL;
}

tik_status tik_prices_find(const tik_prices *prices, const char *model, tik_model_info *info, tik_error *error)
{
    const tik_prices *list = list_of(prices);
    const tik_price_entry *best = NULL;
    size_t best_length = 0;
    for (size_t i = 0; i < list->count; i++) {
        const tik_price_entry *entry = &list->entries[i];
        if (has_name(entry, model)) {
            best = entry;
            break;
        }
        size_t length = prefix_length(entry, model);
        if (length > best_length) {
            best = entry;
            best_length = length;
        }
    }
    if (!best) {
        tik_fail(error, TIK_ERROR_NAME, "neither window nor price of model '%.100s' is known", model);
        tik_suggest(error, model, entry_name, (void *)(uintptr_t)list);
        return TIK_ERROR_NAME;
    }
    fill(list, best, model, info);
    return TIK_OK;
}
