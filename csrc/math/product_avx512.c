/* Rows of products for CPUs with AVX-512 (levels.def); an empty file elsewhere.
 *
 * Relies on: product_level.inc. Relied on by: product.c. */
#include "math/level.h"

#ifdef MATH_X86_LEVELS
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl")
#endif

#define LEVEL_TABLE products_avx512
#define LEVEL_BYTES 64
#include "math/product_level.inc"

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
