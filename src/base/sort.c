/* Heapsort of 32-bit places with a context: C11's qsort has no room for one. */
#include "base/base.h"

static void sift(uint32_t *order, size_t at, size_t count, tik_less *less, const void *context)
{
    for (size_t child; (child = at * 2 + 1) < count; at = child) {
        if (child + 1 < count && less(context, order[child], order[child + 1]))
            child++;
        if (!less(context, order[at], order[child]))
            return;
        uint32_t swapped = order[at];
        order[at] = order[child];
        order[child] = swapped;
    }
}

void tik_sort(uint32_t *order, size_t count, tik_less *less, const void *context)
{
    for (size_t i = count / 2; i-- > 0;)
        sift(order, i, count, less, context);
    for (size_t end = count; end > 1; end--) {
        uint32_t swapped = order[0];
        order[0] = order[end - 1];
        order[end - 1] = swapped;
        sift(order, 0, end - 1, less, context);
    }
}
