/* Which instruction sets may be used: what the machine has, less what TIK_ISA leaves out. */
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"

_Atomic unsigned tik_cpu_flags;

static unsigned machine(void)
{
    unsigned flags = 0;
#if TIK_HAVE_X86
    /* These also ask whether the system saves the wide registers. */
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("popcnt")) {
        flags |= TIK_CPU_AVX2;
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
            __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2"))
            flags |= TIK_CPU_AVX512;
    }
#elif TIK_HAVE_NEON
    flags |= TIK_CPU_NEON;
#endif
    return flags;
}

unsigned tik_cpu_detect(void)
{
    static const struct {
        const char *name;
        unsigned allowed;
    } sets[] = {
        {"portable", 0},
        {"avx2", TIK_CPU_AVX2},
        {"avx512", TIK_CPU_AVX2 | TIK_CPU_AVX512},
        {"neon", TIK_CPU_NEON},
    };
    unsigned allowed = ~0u;
    const char *isa = getenv("TIK_ISA");
    for (size_t i = 0; isa && i < sizeof sets / sizeof *sets; i++)
        if (strcmp(isa, sets[i].name) == 0)
            allowed = sets[i].allowed;
    unsigned flags = (machine() & allowed) | TIK_CPU_KNOWN;
    atomic_store_explicit(&tik_cpu_flags, flags, memory_order_relaxed);
    return flags;
}
