/* Finding the kernels of folds; running folds; looking for the largest.
 *
 * Relies on: fold.h, the levels' tables. Relied on by: vm (reductions). */
#include "math/fold.h"

#include <stddef.h>

/* The kernels of one level. */
typedef struct FoldTables {
    const FoldKernel (*folds)[N_DTYPES];
    const ColumnsKernel (*columns)[N_DTYPES];
    const FoldKernel *wide_folds;
    const ColumnsKernel *wide_columns;
} FoldTables;

/* Of a type: complex numbers have those of the baseline on every level. */
static const FoldTables *find_tables(int compute)
{
    static const FoldTables tables[] = {
#define LEVEL(NAME, name, doc) {folds_##name, columns_##name, wide_folds_##name, wide_columns_##name},
#include "math/levels.def"
#undef LEVEL
    };
    return &tables[dtype_kind((DType)compute) == 'c' ? LEVEL_BASELINE : level_get()];
}

FoldKernel math_fold(int scalar, int compute) { return find_tables(compute)->folds[scalar][compute]; }

ColumnsKernel math_fold_columns(int scalar, int compute) { return find_tables(compute)->columns[scalar][compute]; }

static bool is_wide(int scalar, int source, int compute)
{
    return scalar == SCALAR_ADD && (source == DTYPE_FLOAT32 ? compute == DTYPE_FLOAT64 : compute == DTYPE_INT64 || compute == DTYPE_UINT64);
}

FoldKernel math_fold_wide(int scalar, int source, int compute)
{
    return is_wide(scalar, source, compute) ? find_tables(compute)->wide_folds[source] : NULL;
}

ColumnsKernel math_fold_wide_columns(int scalar, int source, int compute)
{
    return is_wide(scalar, source, compute) ? find_tables(compute)->wide_columns[source] : NULL;
}

bool math_fold_is_free(int scalar, int compute)
{
    const char kind = dtype_kind((DType)compute);

    return (scalar != SCALAR_ADD && scalar != SCALAR_MUL) || (kind != 'f' && kind != 'c');
}

/* ---- running folds: of sums and products, and of all that there is for BOOL ---- */

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
#define NO_RUNNING(...)
#define DEFINE_WHOLE_RUNNING(TYPE, T, WIDE) WHOLE_ROWS(DEFINE_RUNNING, NO_RUNNING, TYPE, T)
#define DEFINE_REAL_RUNNING(TYPE, T, S) REAL_ROWS(DEFINE_RUNNING, NO_RUNNING, TYPE, T)
FOR_SIGNED(DEFINE_WHOLE_RUNNING)
FOR_UNSIGNED(DEFINE_WHOLE_RUNNING)
FOR_REAL(DEFINE_REAL_RUNNING)
BOOL_ROWS(DEFINE_RUNNING)
COMPLEX_ROWS(DEFINE_RUNNING)

#define RUNNING_ENTRY(NAME, TYPE, ...) [SCALAR_##NAME][DTYPE_##TYPE] = running_##NAME##_##TYPE,
#define WHOLE_RUNNING(TYPE, T, WIDE) WHOLE_ROWS(RUNNING_ENTRY, NO_RUNNING, TYPE, T)
#define REAL_RUNNING(TYPE, T, S) REAL_ROWS(RUNNING_ENTRY, NO_RUNNING, TYPE, T)
static const RunningKernel runnings[N_SCALARS][N_DTYPES] = {
    FOR_SIGNED(WHOLE_RUNNING) FOR_UNSIGNED(WHOLE_RUNNING) FOR_REAL(REAL_RUNNING) BOOL_ROWS(RUNNING_ENTRY)
    COMPLEX_ROWS(RUNNING_ENTRY)
};

RunningKernel math_running(int scalar, int compute) { return runnings[scalar][compute]; }

/* ---- the largest ---- */

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
