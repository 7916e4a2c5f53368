/* Folding a block of adjacent elements into one, in the documented order; columns of them; and running folds.
 *
 * Relies on: kernels.h. Relied on by: vm (reductions). */
#include "math/kernels.h"

/* Sums and products: eight accumulators, so that the order is one that vector instructions can follow. */
#define DEFINE_FOLD8(NAME, TYPE, T, COMBINE)                   \
    static void NAME##_##TYPE(int64_t n, const char *data, char *result)                        \
    {                                                                                           \
        const T *x = (const T *)(const void *)data;                                             \
        int64_t i = 8;                                                                          \
        T sum[8];                                                                               \
        if (n < 8) {                                                                            \
            sum[0] = x[0];                                                                      \
            i = 1;                                                                              \
        } else {                                                                                \
            for (int j = 0; j < 8; j++) {                                                       \
                sum[j] = x[j];                                                                  \
            }                                                                                   \
            for (; i + 8 <= n; i += 8) {                                                        \
                for (int j = 0; j < 8; j++) {                                                   \
                    sum[j] = COMBINE(T, sum[j], x[i + j]);                                      \
                }                                                                               \
            }                                                                                   \
            for (int width = 1; width < 8; width *= 2) {                                        \
                for (int j = 0; j < 8; j += 2 * width) {                                        \
                    sum[j] = COMBINE(T, sum[j], sum[j + width]);                                \
                }                                                                               \
            }                                                                                   \
        }                                                                                       \
        for (; i < n; i++) {                                                                    \
            sum[0] = COMBINE(T, sum[0], x[i]);                                                  \
        }                                                                                       \
        *(T *)(void *)result = sum[0];                                                          \
    }

/* The rest: from the first on. */
#define DEFINE_FOLD1(NAME, TYPE, T, COMBINE)                                                    \
    static void NAME##_##TYPE(int64_t n, const char *data, char *result)                        \
    {                                                                                           \
        const T *x = (const T *)(const void *)data;                                             \
        T best = x[0];                                                                          \
        for (int64_t i = 1; i < n; i++) {                                                       \
            best = COMBINE(T, best, x[i]);                                                      \
        }                                                                                       \
        *(T *)(void *)result = best;                                                            \
    }

#define SUM_WHOLE(T, a, b) ((T)((uint64_t)(a) + (uint64_t)(b)))
#define PRODUCT_WHOLE(T, a, b) ((T)((uint64_t)(a) * (uint64_t)(b)))
#define SUM_FLOAT(T, a, b) ((a) + (b))
#define PRODUCT_FLOAT(T, a, b) ((a) * (b))
#define SUM_COMPLEX(T, a, b) ((T){(a).re + (b).re, (a).im + (b).im})
#define PRODUCT_COMPLEX(T, a, b) ((T){(a).re * (b).re - (a).im * (b).im, (a).re * (b).im + (a).im * (b).re})
#define SUM_BOOL(T, a, b) ((T)(((a) | (b)) != 0))
#define PRODUCT_BOOL(T, a, b) ((T)(((a) != 0) & ((b) != 0)))
#define MAX_ANY(T, a, b) ((a) >= (b) || (a) != (a) ? (a) : (b))
#define MIN_ANY(T, a, b) ((a) <= (b) || (a) != (a) ? (a) : (b))
#define AND_WHOLE(T, a, b) ((T)((a) & (b)))
#define OR_WHOLE(T, a, b) ((T)((a) | (b)))

#define WHOLE_ROWS(FOLD8, FOLD1, TYPE, T)       \
    FOLD8(ADD, TYPE, T, SUM_WHOLE)                  \
    FOLD8(MUL, TYPE, T, PRODUCT_WHOLE)              \
    FOLD1(MAXIMUM, TYPE, T, MAX_ANY)            \
    FOLD1(MINIMUM, TYPE, T, MIN_ANY)            \
    FOLD1(AND, TYPE, T, AND_WHOLE)              \
    FOLD1(OR, TYPE, T, OR_WHOLE)
#define FLOAT_ROWS(FOLD8, FOLD1, TYPE, T)       \
    FOLD8(ADD, TYPE, T, SUM_FLOAT)                  \
    FOLD8(MUL, TYPE, T, PRODUCT_FLOAT)              \
    FOLD1(MAXIMUM, TYPE, T, MAX_ANY)            \
    FOLD1(MINIMUM, TYPE, T, MIN_ANY)
#define OTHER_ROWS(FOLD8, FOLD1)                \
    FOLD1(ADD, BOOL, uint8_t, SUM_BOOL)         \
    FOLD1(MUL, BOOL, uint8_t, PRODUCT_BOOL)         \
    FOLD1(MAXIMUM, BOOL, uint8_t, SUM_BOOL)     \
    FOLD1(MINIMUM, BOOL, uint8_t, PRODUCT_BOOL)     \
    FOLD1(AND, BOOL, uint8_t, PRODUCT_BOOL)         \
    FOLD1(OR, BOOL, uint8_t, SUM_BOOL)          \
    FOLD8(ADD, COMPLEX64, Complex64, SUM_COMPLEX) \
    FOLD8(MUL, COMPLEX64, Complex64, PRODUCT_COMPLEX) \
    FOLD8(ADD, COMPLEX128, Complex128, SUM_COMPLEX) \
    FOLD8(MUL, COMPLEX128, Complex128, PRODUCT_COMPLEX)

#define DEFINE_WHOLE(TYPE, T, WIDE) WHOLE_ROWS(DEFINE_FOLD8, DEFINE_FOLD1, TYPE, T)
#define DEFINE_FLOAT(TYPE, T, S) FLOAT_ROWS(DEFINE_FOLD8, DEFINE_FOLD1, TYPE, T)
FOR_SIGNED(DEFINE_WHOLE)
FOR_UNSIGNED(DEFINE_WHOLE)
FOR_REAL(DEFINE_FLOAT)
OTHER_ROWS(DEFINE_FOLD8, DEFINE_FOLD1)

#define WHOLE_ENTRIES(TYPE, T, WIDE) WHOLE_ROWS(ENTRY, ENTRY, TYPE, T)
#define FLOAT_ENTRIES(TYPE, T, S) FLOAT_ROWS(ENTRY, ENTRY, TYPE, T)
static const FoldKernel folds[N_SCALARS][N_DTYPES] = {
    FOR_SIGNED(WHOLE_ENTRIES) FOR_UNSIGNED(WHOLE_ENTRIES) FOR_REAL(FLOAT_ENTRIES) OTHER_ROWS(ENTRY, ENTRY)
};

/* Columns: what is one element above is a row of them here. */
#define ROW(T, i) ((const T *)(const void *)(data + (i) * stride))
#define DEFINE_COLUMNS8(NAME, TYPE, T, COMBINE)                                                 \
    static void columns_##NAME##_##TYPE(int64_t n, int64_t width, const char *data, int64_t stride, char *result) \
    {                                                                                           \
        T sum[8][MATH_COLUMNS_BYTES / sizeof(T)];                                               \
        int64_t i = n < 8 ? 1 : 8;                                                              \
        for (int64_t j = 0; j < i; j++) {                                                       \
            memcpy(sum[j], ROW(T, j), (size_t)width * sizeof(T));                               \
        }                                                                                       \
        for (; i + 32 <= n; i += 32) { /* four rows a pass over the sums */                     \
            for (int j = 0; j < 8; j++) {                                                       \
                const T *x = ROW(T, i + j), *y = ROW(T, i + j + 8), *z = ROW(T, i + j + 16), *w = ROW(T, i + j + 24); \
                for (int64_t c = 0; c < width; c++) {                                           \
                    const T two = COMBINE(T, COMBINE(T, sum[j][c], x[c]), y[c]);                \
                    sum[j][c] = COMBINE(T, COMBINE(T, two, z[c]), w[c]);                        \
                }                                                                               \
            }                                                                                   \
        }                                                                                       \
        for (; i + 8 <= n; i += 8) {                                                            \
            for (int j = 0; j < 8; j++) {                                                       \
                const T *x = ROW(T, i + j);                                                     \
                for (int64_t c = 0; c < width; c++) {                                           \
                    sum[j][c] = COMBINE(T, sum[j][c], x[c]);                                    \
                }                                                                               \
            }                                                                                   \
        }                                                                                       \
        for (int step = 1; n >= 8 && step < 8; step *= 2) {                                     \
            for (int j = 0; j < 8; j += 2 * step) {                                             \
                for (int64_t c = 0; c < width; c++) {                                           \
                    sum[j][c] = COMBINE(T, sum[j][c], sum[j + step][c]);                        \
                }                                                                               \
            }                                                                                   \
        }                                                                                       \
        for (; i < n; i++) {                                                                    \
            const T *x = ROW(T, i);                                                             \
            for (int64_t c = 0; c < width; c++) {                                               \
                sum[0][c] = COMBINE(T, sum[0][c], x[c]);                                        \
            }                                                                                   \
        }                                                                                       \
        memcpy(result, sum[0], (size_t)width * sizeof(T));                                      \
    }
#define DEFINE_COLUMNS1(NAME, TYPE, T, COMBINE)                                                 \
    static void columns_##NAME##_##TYPE(int64_t n, int64_t width, const char *data, int64_t stride, char *result) \
    {                                                                                           \
        T best[MATH_COLUMNS_BYTES / sizeof(T)];                                                 \
        memcpy(best, data, (size_t)width * sizeof(T));                                          \
        for (int64_t i = 1; i < n; i++) {                                                       \
            const T *x = ROW(T, i);                                                             \
            for (int64_t c = 0; c < width; c++) {                                               \
                best[c] = COMBINE(T, best[c], x[c]);                                            \
            }                                                                                   \
        }                                                                                       \
        memcpy(result, best, (size_t)width * sizeof(T));                                        \
    }
#define DEFINE_WHOLE_COLUMNS(TYPE, T, WIDE) WHOLE_ROWS(DEFINE_COLUMNS8, DEFINE_COLUMNS1, TYPE, T)
#define DEFINE_FLOAT_COLUMNS(TYPE, T, S) FLOAT_ROWS(DEFINE_COLUMNS8, DEFINE_COLUMNS1, TYPE, T)
FOR_SIGNED(DEFINE_WHOLE_COLUMNS)
FOR_UNSIGNED(DEFINE_WHOLE_COLUMNS)
FOR_REAL(DEFINE_FLOAT_COLUMNS)
OTHER_ROWS(DEFINE_COLUMNS8, DEFINE_COLUMNS1)

#define COLUMNS_ENTRY(NAME, TYPE, ...) [SCALAR_##NAME][DTYPE_##TYPE] = columns_##NAME##_##TYPE,
#define WHOLE_COLUMNS(TYPE, T, WIDE) WHOLE_ROWS(COLUMNS_ENTRY, COLUMNS_ENTRY, TYPE, T)
#define FLOAT_COLUMNS(TYPE, T, S) FLOAT_ROWS(COLUMNS_ENTRY, COLUMNS_ENTRY, TYPE, T)
static const ColumnsKernel columns[N_SCALARS][N_DTYPES] = {
    FOR_SIGNED(WHOLE_COLUMNS) FOR_UNSIGNED(WHOLE_COLUMNS) FOR_REAL(FLOAT_COLUMNS) OTHER_ROWS(COLUMNS_ENTRY, COLUMNS_ENTRY)
};

ColumnsKernel math_fold_columns(int scalar, int compute) { return columns[scalar][compute]; }

/* The running folds of the same operations. */
#define DEFINE_RUNNING(NAME, TYPE, T, COMBINE)                                                  \
    static void running_##NAME##_##TYPE(int64_t n, char *data, int64_t stride)                  \
    {                                                                                           \
        if (n < 1) {                                                                            \
            return;                                                                             \
        }                                                                                       \
        T sum = *(const T *)(const void *)data;                                                 \
        for (int64_t i = 1; i < n; i++) {                                                       \
            data += stride;                                                                     \
            sum = COMBINE(T, sum, *(const T *)(const void *)data);                              \
            *(T *)(void *)data = sum;                                                           \
        }                                                                                       \
    }
#define NO_RUNNING(NAME, TYPE, T, COMBINE)
#define DEFINE_WHOLE_RUNNING(TYPE, T, WIDE) WHOLE_ROWS(DEFINE_RUNNING, NO_RUNNING, TYPE, T)
#define DEFINE_FLOAT_RUNNING(TYPE, T, S) FLOAT_ROWS(DEFINE_RUNNING, NO_RUNNING, TYPE, T)
FOR_SIGNED(DEFINE_WHOLE_RUNNING)
FOR_UNSIGNED(DEFINE_WHOLE_RUNNING)
FOR_REAL(DEFINE_FLOAT_RUNNING)
OTHER_ROWS(DEFINE_RUNNING, DEFINE_RUNNING)

#define RUNNING_ENTRY(NAME, TYPE, ...) [SCALAR_##NAME][DTYPE_##TYPE] = running_##NAME##_##TYPE,
#define WHOLE_RUNNING(TYPE, T, WIDE) WHOLE_ROWS(RUNNING_ENTRY, NO_RUNNING, TYPE, T)
#define FLOAT_RUNNING(TYPE, T, S) FLOAT_ROWS(RUNNING_ENTRY, NO_RUNNING, TYPE, T)
static const RunningKernel runnings[N_SCALARS][N_DTYPES] = {
    FOR_SIGNED(WHOLE_RUNNING) FOR_UNSIGNED(WHOLE_RUNNING) FOR_REAL(FLOAT_RUNNING) OTHER_ROWS(RUNNING_ENTRY, RUNNING_ENTRY)
};

RunningKernel math_running(int scalar, int compute) { return runnings[scalar][compute]; }

FoldKernel math_fold(int scalar, int compute) { return folds[scalar][compute]; }

#define DEFINE_LARGEST(TYPE, T, OTHER)                                                                                      \
    static void largest_##TYPE(int64_t n, const char *data, int64_t stride, int64_t first, char *best, int64_t *index)      \
    {                                                                                                                       \
        T largest = *index < 0 ? (T)0 : *(const T *)(const void *)best;                                                     \
        for (int64_t i = 0; i < n; i++, data += stride) {                                                                   \
            const T x = *(const T *)(const void *)data;                                                                     \
            if (*index < 0 || x > largest || (x != x && largest == largest)) {                                              \
                largest = x;                                                                                                \
                *index = first + i;                                                                                         \
            }                                                                                                               \
        }                                                                                                                   \
        *(T *)(void *)best = largest;                                                                                       \
    }
DEFINE_LARGEST(BOOL, uint8_t, )
FOR_SIGNED(DEFINE_LARGEST)
FOR_UNSIGNED(DEFINE_LARGEST)
FOR_REAL(DEFINE_LARGEST)

#define LARGEST_ENTRY(TYPE, T, OTHER) [DTYPE_##TYPE] = largest_##TYPE,
static const LargestKernel largests[N_DTYPES] = {
    LARGEST_ENTRY(BOOL, uint8_t, ) FOR_SIGNED(LARGEST_ENTRY) FOR_UNSIGNED(LARGEST_ENTRY) FOR_REAL(LARGEST_ENTRY)
};

LargestKernel math_largest(int dtype) { return largests[dtype]; }
