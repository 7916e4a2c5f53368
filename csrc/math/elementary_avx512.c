/* The elementary functions and arithmetic for CPUs with AVX-512 (levels.def); an empty file elsewhere.
 *
 * Relies on: elementary_level.inc, arithmetic_level.inc. Relied on by: math.c. */
#include "math/level.h"

#ifdef MATH_X86_LEVELS
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#endif

#define LEVEL_TABLE elementary_avx512
#include "math/elementary_level.inc"

#define ARITHMETIC_TABLE arithmetic_avx512
#define REPEAT_TABLE repeat_avx512
#include "math/arithmetic_level.inc"

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
