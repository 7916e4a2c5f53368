/* Rows of products for CPUs with AVX2 (levels.def); an empty file elsewhere.
 *
 * Relies on: product_level.inc. Relied on by: product.c. */
#include "math/level.h"

#ifdef MATH_X86_LEVELS
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif

#define LEVEL_TABLE products_avx2
#define LEVEL_BYTES 32
#include "math/product_level.inc"

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
