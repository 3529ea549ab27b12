/* The versions of tik_utf8_valid_prefix: all give the same answer. Tests run each; the rest of the library
 * calls tik_utf8_valid_prefix, which picks one. */
#ifndef TIK_UTF8_VERSIONS_H
#define TIK_UTF8_VERSIONS_H

#include "base/cpu.h"

size_t tik_utf8_valid_prefix_portable(const uint8_t *text, size_t length); /* the truth */
#if TIK_HAVE_X86
size_t tik_utf8_valid_prefix_avx2(const uint8_t *text, size_t length);
size_t tik_utf8_valid_prefix_avx512(const uint8_t *text, size_t length);
#endif
#if TIK_HAVE_NEON
size_t tik_utf8_valid_prefix_neon(const uint8_t *text, size_t length);
#endif

#endif
