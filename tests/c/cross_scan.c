/*
 * The cases of scan_cases.h without a test framework, for tools/check-machines.
 */
#include <stdio.h>

#include "scan_cases.h"

int main(void)
{
    printf("fastest here: %s\n", tik_scanner_best(TIK_SCAN_O200K)->name);
    bool good = scan_all_short_texts() && scan_random_texts(2000) && scan_all_code_points() && scan_resumed(300) &&
                scan_unfinished(20) && scan_cuts(20000) && scan_long_runs();
    printf("%s after %zu comparisons\n", good ? "all the same" : "a difference", scan_compared);
    return good ? 0 : 1;
}
