/* Exact decimal money: whole units and parts of 10^-12, with every overflow caught. */
#include <stdio.h>
#include <string.h>

#include "registry/registry.h"

#define MILLION UINT64_C(1000000)
#define PARTS UINT64_C(1000000000000) /* of a unit */

enum { DECIMALS = 12, LEAST_DECIMALS = 2, PRICE_DECIMALS = 6 };

static tik_status too_large(tik_error *error)
{
    return tik_fail(error, TIK_ERROR_LIMIT, "an amount of more than 2^64 - 1 units of a currency: too large");
}

tik_status tik_amount_parse(const char *text, tik_amount *amount, tik_error *error)
{
    tik_amount value = {0, 0};
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (value.whole > (UINT64_MAX - digit) / 10)
            return too_large(error);
        value.whole = 10 * value.whole + digit;
    }
    bool good = at > text;
    size_t decimals = 0;
    if (*at == '.') {
        for (at++; *at >= '0' && *at <= '9'; at++, decimals++)
            if (decimals < DECIMALS)
                value.parts = 10 * value.parts + (uint64_t)(*at - '0');
        good = good && decimals > 0;
    }
    if (!good || *at)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "'%.60s' is not an amount: it must be digits, as 12 or 0.50", text);
    if (decimals > DECIMALS)
        return tik_fail(error, TIK_ERROR_LIMIT, "'%.60s' has more than %d decimals", text, (int)DECIMALS);
    for (; decimals < DECIMALS; decimals++)
        value.parts *= 10;
    *amount = value;
    return TIK_OK;
}

size_t tik_amount_text(tik_amount amount, unsigned decimals, char text[TIK_AMOUNT_TEXT])
{
    if (decimals == TIK_AMOUNT_EXACT) {
        uint64_t rest = amount.parts;
        for (decimals = DECIMALS; decimals > LEAST_DECIMALS && rest % 10 == 0; decimals--)
            rest /= 10;
    }
    if (decimals > DECIMALS)
        decimals = DECIMALS;
    uint64_t unit = 1; /* the last digit's, in parts */
    for (unsigned i = decimals; i < DECIMALS; i++)
        unit *= 10;
    uint64_t digits = (amount.parts + unit / 2) / unit;
    uint64_t whole = amount.whole;
    const char *carried = "";
    if (digits == PARTS / unit) {
        digits = 0;
        if (whole == UINT64_MAX) /* 2^64 is no uint64_t: its last digit is written by itself */
            carried = "6";
        whole = *carried ? whole / 10 : whole + 1;
    }
    int length = decimals ? snprintf(text, TIK_AMOUNT_TEXT, "%llu%s.%0*llu", (unsigned long long)whole, carried,
                                     (int)decimals, (unsigned long long)digits)
                          : snprintf(text, TIK_AMOUNT_TEXT, "%llu%s", (unsigned long long)whole, carried);
    return (size_t)length;
}

tik_status tik_amount_add(tik_amount a, tik_amount b, tik_amount *sum, tik_error *error)
{
    uint64_t parts = a.parts + b.parts;
    uint64_t carry = parts >= PARTS;
    if (b.whole > UINT64_MAX - a.whole || carry > UINT64_MAX - a.whole - b.whole)
        return too_large(error);
    *sum = (tik_amount){a.whole + b.whole + carry, parts - carry * PARTS};
    return TIK_OK;
}

/*
 * parts * count, as an amount. Both are taken apart at a million, so that no product of two halves but
 * the highest can pass 2^64.
 */
static tik_status parts_times(uint64_t parts, uint64_t count, tik_amount *product, tik_error *error)
{
    uint64_t high = parts / MILLION;
    uint64_t low = parts % MILLION;
    uint64_t count_high = count / MILLION;
    uint64_t count_low = count % MILLION;
    if (high && count_high > UINT64_MAX / high)
        return too_large(error);
    tik_amount sum = {high * count_high, low * count_low};
    const uint64_t middle[] = {high * count_low, low * count_high}; /* in millions of parts */
    for (size_t i = 0; i < 2; i++) {
        tik_amount term = {middle[i] / MILLION, middle[i] % MILLION * MILLION};
        tik_status status = tik_amount_add(sum, term, &sum, error);
        if (status != TIK_OK)
            return status;
    }
    *product = sum;
    return TIK_OK;
}

tik_status tik_amount_times(tik_amount amount, uint64_t count, tik_amount *product, tik_error *error)
{
    if (count && amount.whole > UINT64_MAX / count)
        return too_large(error);
    tik_amount whole = {amount.whole * count, 0};
    tik_amount parts = {0, 0};
    tik_status status = parts_times(amount.parts, count, &parts, error);
    if (status != TIK_OK)
        return status;
    return tik_amount_add(whole, parts, product, error);
}

/* A millionth of an amount is exact if it has no more than 6 decimals. */
static tik_status per_token(tik_amount price, uint64_t *parts, tik_error *error)
{
    if (price.parts % MILLION != 0) {
        char text[TIK_AMOUNT_TEXT];
        tik_amount_text(price, TIK_AMOUNT_EXACT, text);
        return tik_fail(error, TIK_ERROR_LIMIT, "%s per million tokens: a price has at most %d decimals", text,
                        (int)PRICE_DECIMALS);
    }
    uint64_t low = price.parts / MILLION;
    if (price.whole > (UINT64_MAX - low) / MILLION)
        return too_large(error);
    *parts = price.whole * MILLION + low;
    return TIK_OK;
}

/* All calls' tokens of one kind at their price. */
static tik_status charge(tik_amount price, uint64_t tokens, uint64_t calls, tik_amount *amount, tik_error *error)
{
    uint64_t parts = 0;
    tik_amount one = {0, 0};
    tik_status status = per_token(price, &parts, error);
    if (status == TIK_OK)
        status = parts_times(parts, tokens, &one, error);
    return status == TIK_OK ? tik_amount_times(one, calls, amount, error) : status;
}

tik_status tik_cost_of(const tik_model_info *info, const tik_usage *usage, tik_cost *cost, tik_error *error)
{
    if (usage->size != sizeof *usage)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "tik_usage: its size is %zu, not %zu as here", usage->size,
                        sizeof *usage);
    if (info->size != sizeof *info)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "tik_model_info: its size is %zu, not %zu as here", info->size,
                        sizeof *info);
    const char *name = info->name ? info->name : "the model";
    if (!info->has_rates)
        return tik_fail(error, TIK_ERROR_NAME, "no price of %.100s is known: give one", name);
    if (usage->cached > usage->input)
        return tik_fail(error, TIK_ERROR_ARGUMENT, "%llu cached tokens, but only %llu of input",
                        (unsigned long long)usage->cached, (unsigned long long)usage->input);
    tik_cost result = TIK_COST_INIT;
    result.is_long = info->long_above && usage->input > info->long_above;
    const tik_rates *rates = result.is_long ? &info->long_rates : &info->rates;
    if (usage->output && !rates->has_output)
        return tik_fail(error, TIK_ERROR_NAME, "no price of %.100s for output is known: give one", name);
    tik_status status = charge(rates->input, usage->input - usage->cached, usage->calls, &result.input, error);
    if (status == TIK_OK)
        status = charge(rates->has_cached ? rates->cached : rates->input, usage->cached, usage->calls, &result.cached,
                        error);
    if (status == TIK_OK && rates->has_output)
        status = charge(rates->output, usage->output, usage->calls, &result.output, error);
    if (status == TIK_OK)
        status = tik_amount_add(result.input, result.cached, &result.total, error);
    if (status == TIK_OK)
        status = tik_amount_add(result.total, result.output, &result.total, error);
    if (status != TIK_OK)
        return status;
    size_t wanted = cost->size < sizeof result ? cost->size : sizeof result;
    result.size = cost->size;
    memcpy(cost, &result, wanted);
    return TIK_OK;
}

tik_status tik_window_parts(size_t tokens, size_t window, size_t reserve, size_t *parts, tik_error *error)
{
    if (reserve >= window)
        return tik_fail(error, TIK_ERROR_LIMIT, "a window of %zu tokens less %zu for the answer leaves no room", window,
                        reserve);
    size_t room = window - reserve;
    *parts = tokens / room + (tokens % room != 0);
    return TIK_OK;
}
