/* Folds for CPUs with AVX2 (levels.def); an empty file elsewhere.
 *
 * Relies on: fold_level.inc. Relied on by: fold.c. */
#include "math/level.h"

#ifdef MATH_X86_LEVELS
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif

#define FOLD_TABLE folds_avx2
#define COLUMNS_TABLE columns_avx2
#define WIDE_TABLE wide_folds_avx2
#define WIDE_COLUMNS_TABLE wide_columns_avx2
#define LEVEL_COMPLEX_ROWS(ROW)
#include "math/fold_level.inc"

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
