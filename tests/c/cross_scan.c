/*
 * The cases of scan_cases.h without a test framework, for tools/check-machines.
 */
#include <stdio.h>

#include "scan_cases.h"

int main(void)
{
    printf("fastest here: %s\n", tik_scanner_best(TIK_SCAN_O200K)->name);
    bool good = scan_all_short_texts(2) && scan_random_texts(1000) && scan_all_code_points() && scan_resumed(100) &&
                scan_unfinished(10) && scan_cuts(5000) && scan_long_runs();
    printf("%s after %zu comparisons\n", good ? "all the same" : "a difference", scan_compared);
    return good ? 0 : 1;
}
