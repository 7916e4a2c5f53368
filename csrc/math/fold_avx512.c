/* Folds for CPUs with AVX-512 (levels.def); an empty file elsewhere.
 *
 * Relies on: fold_level.inc. Relied on by: fold.c. */
#include "math/level.h"

#ifdef MATH_X86_LEVELS
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#endif

#define FOLD_TABLE folds_avx512
#define COLUMNS_TABLE columns_avx512
#define WIDE_TABLE wide_folds_avx512
#define WIDE_COLUMNS_TABLE wide_columns_avx512
#define LEVEL_COMPLEX_ROWS(ROW)
#include "math/fold_level.inc"

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
