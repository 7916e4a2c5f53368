/* The elementary functions and arithmetic for CPUs with AVX2 (levels.def); an empty file elsewhere.
 *
 * Relies on: elementary_level.inc, arithmetic_level.inc. Relied on by: math.c. */
#include "math/level.h"

#ifdef MATH_X86_LEVELS
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif

#define LEVEL_TABLE elementary_avx2
#include "math/elementary_level.inc"

#define ARITHMETIC_TABLE arithmetic_avx2
#define REPEAT_TABLE repeat_avx2
#include "math/arithmetic_level.inc"

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
