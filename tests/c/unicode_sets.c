/*
 * Prints sets of code points for tests/exact/test_unicode_classes.py. Each line of standard input asks:
 *
 *   property NAME    the set of \p{NAME}         fold NAME    the same and what is equal but for case
 *   perl LETTER      the set of \d, \s or \w     equal HEX    what is equal to a code point but for case
 *
 * The answer is a line of ranges FIRST-LAST in hexadecimal, or "refused".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unicode/unicode.h"

static tik_status answer(const char *question, const char *operand, tik_unicode_ranges *set)
{
    tik_status status = TIK_OK;
    if (strcmp(question, "perl") == 0)
        return tik_unicode_perl(operand[0], set, NULL);
    if (strcmp(question, "equal") == 0) {
        uint32_t equal[TIK_UNICODE_FOLD_MAX];
        size_t count = tik_unicode_fold((uint32_t)strtoul(operand, NULL, 16), equal);
        for (size_t i = 0; i < count && status == TIK_OK; i++)
            status = tik_unicode_ranges_add(set, equal[i], equal[i], NULL);
        return status;
    }
    status = tik_unicode_property(operand, strlen(operand), set, NULL);
    if (status == TIK_OK && strcmp(question, "fold") == 0)
        status = tik_unicode_ranges_fold(set, NULL);
    return status;
}

int main(void)
{
    char line[1024];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        char *space = strchr(line, ' ');
        if (!space)
            return 2;
        *space = '\0';
        tik_unicode_ranges set = {0};
        tik_status status = answer(line, space + 1, &set);
        if (status == TIK_ERROR_PATTERN)
            fputs("refused", stdout);
        else if (status != TIK_OK)
            return 2;
        for (size_t i = 0; i < set.count; i++)
            printf("%s%X-%X", i > 0 ? " " : "", (unsigned)set.items[i].first, (unsigned)set.items[i].last);
        putchar('\n');
        tik_unicode_ranges_free(&set);
    }
    return 0;
}
