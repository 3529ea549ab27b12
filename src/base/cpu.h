/*
 * cpu: which instruction sets beyond the baseline this machine has, for code with a version of itself
 * for each. A version lives in a file of its own, its functions marked with the TIK_TARGET_… below, and
 * compiles to nothing where the architecture is another; the portable version is the truth.
 *
 * The environment variable TIK_ISA = portable, avx2, avx512 or neon leaves out what is wider (tests run
 * every version so). A set that the machine has not is never claimed.
 */
#ifndef TIK_CPU_H
#define TIK_CPU_H

#include <stdatomic.h>

#include "base/base.h"

#define TIK_CPU_AVX2 1u   /* with BMI1, BMI2, POPCNT */
#define TIK_CPU_AVX512 2u /* F, BW, DQ, VL, VBMI, VBMI2; TIK_CPU_AVX2 is set too */
#define TIK_CPU_NEON 4u   /* any 64-bit ARM */
#define TIK_CPU_KNOWN 8u  /* the machine was asked */

#if defined(__x86_64__) && defined(__GNUC__)
#define TIK_HAVE_X86 1
#define TIK_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define TIK_TARGET_AVX512 \
    __attribute__((target("avx2,bmi,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")))
#else
#define TIK_HAVE_X86 0
#endif

#if defined(__aarch64__) && defined(__ARM_NEON)
#define TIK_HAVE_NEON 1
#else
#define TIK_HAVE_NEON 0
#endif

/* Asks the machine and the environment, and remembers. Any thread may come first: all find the same. */
unsigned tik_cpu_detect(void);

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif
extern _Atomic unsigned tik_cpu_flags; /* 0 until asked; read it through tik_cpu() */
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

/* The TIK_CPU_… that may be used. */
static inline unsigned tik_cpu(void)
{
    unsigned flags = atomic_load_explicit(&tik_cpu_flags, memory_order_relaxed);
    return TIK_LIKELY(flags) ? flags : tik_cpu_detect();
}

#endif
