/* Which folds there are: the rows that are made into kernels for each level of CPU, and into running folds.
 *
 * Relies on: kernels.h. Relied on by: fold.c, fold_level.inc. */
#ifndef PYSCAN_MATH_FOLD_H
#define PYSCAN_MATH_FOLD_H

#include "math/kernels.h"

#define SUM_WHOLE(T, a, b) ((T)((uint64_t)(a) + (uint64_t)(b)))
#define PRODUCT_WHOLE(T, a, b) ((T)((uint64_t)(a) * (uint64_t)(b)))
#define SUM_REAL(T, a, b) ((a) + (b))
#define PRODUCT_REAL(T, a, b) ((a) * (b))
#define SUM_COMPLEX(T, a, b) ((T){(a).re + (b).re, (a).im + (b).im})
#define PRODUCT_COMPLEX(T, a, b) ((T){(a).re * (b).re - (a).im * (b).im, (a).re * (b).im + (a).im * (b).re})
#define SUM_BOOL(T, a, b) ((T)(((a) | (b)) != 0))
#define PRODUCT_BOOL(T, a, b) ((T)(((a) != 0) & ((b) != 0)))
#define MAX_WHOLE(T, a, b) ((a) >= (b) ? (a) : (b))
#define MIN_WHOLE(T, a, b) ((a) <= (b) ? (a) : (b))
#define AND_WHOLE(T, a, b) ((T)((a) & (b)))
#define OR_WHOLE(T, a, b) ((T)((a) | (b)))
#define KEEP_LARGER(a, b) ((b) > (a) ? (b) : (a))
#define KEEP_SMALLER(a, b) ((b) < (a) ? (b) : (a))

#define WHOLE_ROWS(SUM, FREE, TYPE, T)  \
    SUM(ADD, TYPE, T, SUM_WHOLE)        \
    SUM(MUL, TYPE, T, PRODUCT_WHOLE)    \
    FREE(MAXIMUM, TYPE, T, MAX_WHOLE)   \
    FREE(MINIMUM, TYPE, T, MIN_WHOLE)   \
    FREE(AND, TYPE, T, AND_WHOLE)       \
    FREE(OR, TYPE, T, OR_WHOLE)
#define REAL_ROWS(ORDERED, EXTREME, TYPE, T)        \
    ORDERED(ADD, TYPE, T, SUM_REAL)                 \
    ORDERED(MUL, TYPE, T, PRODUCT_REAL)             \
    EXTREME(MAXIMUM, TYPE, T, KEEP_LARGER)          \
    EXTREME(MINIMUM, TYPE, T, KEEP_SMALLER)
#define BOOL_ROWS(FREE)                         \
    FREE(ADD, BOOL, uint8_t, SUM_BOOL)          \
    FREE(MUL, BOOL, uint8_t, PRODUCT_BOOL)      \
    FREE(MAXIMUM, BOOL, uint8_t, SUM_BOOL)      \
    FREE(MINIMUM, BOOL, uint8_t, PRODUCT_BOOL)  \
    FREE(AND, BOOL, uint8_t, PRODUCT_BOOL)      \
    FREE(OR, BOOL, uint8_t, SUM_BOOL)
#define COMPLEX_ROWS(ORDERED)                               \
    ORDERED(ADD, COMPLEX64, Complex64, SUM_COMPLEX)         \
    ORDERED(MUL, COMPLEX64, Complex64, PRODUCT_COMPLEX)     \
    ORDERED(ADD, COMPLEX128, Complex128, SUM_COMPLEX)       \
    ORDERED(MUL, COMPLEX128, Complex128, PRODUCT_COMPLEX)

/* Those of each level. */
#define LEVEL(NAME, name, doc)                                  \
    extern const FoldKernel folds_##name[N_SCALARS][N_DTYPES];  \
    extern const ColumnsKernel columns_##name[N_SCALARS][N_DTYPES]; \
    extern const FoldKernel wide_folds_##name[N_DTYPES];        \
    extern const ColumnsKernel wide_columns_##name[N_DTYPES];
#include "math/levels.def"
#undef LEVEL

#endif
