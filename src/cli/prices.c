/* Price lists in the command: opening the one that is asked for, saying how old one is. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli.h"

enum { SECONDS_OF_A_DAY = 86400 };

bool cli_open_prices(cli_call *call, tik_prices **prices)
{
    tik_error error;
    *prices = NULL;
    if (!call->prices || tik_prices_open(call->prices, prices, &error) == TIK_OK)
        return true;
    cli_say("%s", error.message);
    return false;
}

/* Days from the beginning of 1970 to a day of the Gregorian calendar. */
static long long days_since_1970(int year, int month, int day)
{
    /* Years begin in March, so that a leap day is the last. */
    long long y = month > 2 ? year : year - 1;
    long long m = month > 2 ? month - 3 : month + 9;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

void cli_price_age(const tik_model_info *info, char *text, size_t room)
{
    int year, month, day;
    const char *source = info->source ? info->source : "source not known";
    if (!info->date || sscanf(info->date, "%4d-%2d-%2d", &year, &month, &day) != 3) {
        snprintf(text, room, "%s, date not known", source);
        return;
    }
    long long age = (long long)time(NULL) / SECONDS_OF_A_DAY - days_since_1970(year, month, day);
    if (age < 0)
        snprintf(text, room, "%s, %s", source, info->date);
    else
        snprintf(text, room, "%s, %s (%lld day%s old)", source, info->date, age, age == 1 ? "" : "s");
}
