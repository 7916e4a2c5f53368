/* What the kernels' files share: lists of types, the loops around an element's expression, and their tables.
 *
 * A file lists its operations once, as macro rows NAME(type...) : expression over a, b, c; the list is expanded twice,
 * into functions NAME_TYPE and into the file's table. Relies on: math.h. Relied on by: the files of this room. */
#ifndef PYSCAN_MATH_KERNELS_H
#define PYSCAN_MATH_KERNELS_H

#include <string.h>

#include "math/level.h"
#include "math/math.h"

/* X(type's enum, C type, unsigned type in which arithmetic wraps and is not promoted to int) */
#define FOR_SIGNED(X) X(INT8, int8_t, uint32_t) X(INT16, int16_t, uint32_t) X(INT32, int32_t, uint32_t) X(INT64, int64_t, uint64_t)
#define FOR_UNSIGNED(X) X(UINT8, uint8_t, uint32_t) X(UINT16, uint16_t, uint32_t) X(UINT32, uint32_t, uint32_t) X(UINT64, uint64_t, uint64_t)
/* X(type's enum, C type, suffix of the C library's functions) */
#define FOR_REAL(X) X(FLOAT32, float, f) X(FLOAT64, double, )

/* NumPy's complex numbers as pairs: products and quotients are written out, for C's own do more than NumPy's. */
typedef struct Complex64 { float re, im; } Complex64;
typedef struct Complex128 { double re, im; } Complex128;

/* The loops. Adjacent elements get a loop of their own, which compilers turn into vector instructions; a single element,
 * which is a scalar's instruction, gets by without looking at strides. Where the output is an input it is so element for
 * element, which a compiler cannot see for itself. */
#if defined(__clang__)
#define FOR_ADJACENT(i, n) _Pragma("clang loop vectorize(assume_safety)") for (int64_t i = 0; i < (n); i++)
#elif defined(__GNUC__)
#define FOR_ADJACENT(i, n) _Pragma("GCC ivdep") for (int64_t i = 0; i < (n); i++)
#else
#define FOR_ADJACENT(i, n) for (int64_t i = 0; i < (n); i++)
#endif

/* Elements that lie anywhere. */
#define EACH1(IN, OUT, EXPR)                                                                                       \
    for (int64_t i = 0; i < n; i++, pa += strides[0], po += strides[1]) {                                          \
        const IN a = *(const IN *)(const void *)pa;                                                                \
        *(OUT *)(void *)po = (EXPR);                                                                               \
    }
#define EACH2(IN, OUT, EXPR)                                                                                       \
    for (int64_t i = 0; i < n; i++, pa += strides[0], pb += strides[1], po += strides[2]) {                        \
        const IN a = *(const IN *)(const void *)pa, b = *(const IN *)(const void *)pb;                             \
        *(OUT *)(void *)po = (EXPR);                                                                               \
    }

#define DEFINE1(NAME, TYPE, IN, OUT, EXPR)                                                                         \
    static void NAME##_##TYPE(int64_t n, char *const *args, const int64_t *strides)                                \
    {                                                                                                              \
        const char *pa = args[0];                                                                                  \
        char *po = args[1];                                                                                        \
        if (n == 1) {                                                                                              \
            const IN a = *(const IN *)(const void *)pa;                                                            \
            *(OUT *)(void *)po = (EXPR);                                                                           \
            return;                                                                                                \
        }                                                                                                          \
        if (strides[0] == (int64_t)sizeof(IN) && strides[1] == (int64_t)sizeof(OUT)) {                             \
            FOR_ADJACENT(i, n) {                                                                                   \
                const IN a = ((const IN *)(const void *)pa)[i];                                                    \
                ((OUT *)(void *)po)[i] = (EXPR);                                                                   \
            }                                                                                                      \
            return;                                                                                                \
        }                                                                                                          \
        if (strides[0] == 0 && strides[1] == (int64_t)sizeof(OUT) && n > 0) {                                      \
            const IN a = *(const IN *)(const void *)pa;                                                            \
            const OUT same = (EXPR);                                                                               \
            FOR_ADJACENT(i, n) {                                                                                   \
                ((OUT *)(void *)po)[i] = same;                                                                     \
            }                                                                                                      \
            return;                                                                                                \
        }                                                                                                          \
        EACH1(IN, OUT, EXPR)                                                                                       \
    }

/* The same without the loop for adjacent elements: for functions that call the C library. */
#define DEFINE1_CALL(NAME, TYPE, IN, OUT, EXPR)                                                                    \
    static void NAME##_##TYPE(int64_t n, char *const *args, const int64_t *strides)                                \
    {                                                                                                              \
        const char *pa = args[0];                                                                                  \
        char *po = args[1];                                                                                        \
        EACH1(IN, OUT, EXPR)                                                                                       \
    }

#define DEFINE2(NAME, TYPE, IN, OUT, EXPR)                                                                         \
    static void NAME##_##TYPE(int64_t n, char *const *args, const int64_t *strides)                                \
    {                                                                                                              \
        const char *pa = args[0], *pb = args[1];                                                                   \
        char *po = args[2];                                                                                        \
        if (n == 1) {                                                                                              \
            const IN a = *(const IN *)(const void *)pa, b = *(const IN *)(const void *)pb;                         \
            *(OUT *)(void *)po = (EXPR);                                                                           \
            return;                                                                                                \
        }                                                                                                          \
        if (strides[0] == (int64_t)sizeof(IN) && strides[1] == (int64_t)sizeof(IN) && strides[2] == (int64_t)sizeof(OUT)) { \
            FOR_ADJACENT(i, n) {                                                                                   \
                const IN a = ((const IN *)(const void *)pa)[i], b = ((const IN *)(const void *)pb)[i];             \
                ((OUT *)(void *)po)[i] = (EXPR);                                                                   \
            }                                                                                                      \
            return;                                                                                                \
        }                                                                                                          \
        if (strides[0] == (int64_t)sizeof(IN) && strides[1] == 0 && strides[2] == (int64_t)sizeof(OUT) && n > 0) { \
            const IN b = *(const IN *)(const void *)pb;                                                            \
            FOR_ADJACENT(i, n) {                                                                                   \
                const IN a = ((const IN *)(const void *)pa)[i];                                                    \
                ((OUT *)(void *)po)[i] = (EXPR);                                                                   \
            }                                                                                                      \
            return;                                                                                                \
        }                                                                                                          \
        if (strides[0] == 0 && strides[1] == (int64_t)sizeof(IN) && strides[2] == (int64_t)sizeof(OUT) && n > 0) { \
            const IN a = *(const IN *)(const void *)pa;                                                            \
            FOR_ADJACENT(i, n) {                                                                                   \
                const IN b = ((const IN *)(const void *)pb)[i];                                                    \
                ((OUT *)(void *)po)[i] = (EXPR);                                                                   \
            }                                                                                                      \
            return;                                                                                                \
        }                                                                                                          \
        EACH2(IN, OUT, EXPR)                                                                                       \
    }

#define DEFINE2_CALL(NAME, TYPE, IN, OUT, EXPR)                                                                    \
    static void NAME##_##TYPE(int64_t n, char *const *args, const int64_t *strides)                                \
    {                                                                                                              \
        const char *pa = args[0], *pb = args[1];                                                                   \
        char *po = args[2];                                                                                        \
        EACH2(IN, OUT, EXPR)                                                                                       \
    }

/* FIRST is the type of a; b, c and the output are of IN. */
#define DEFINE3_FIRST(NAME, TYPE, FIRST, IN, EXPR)                                                                 \
    static void NAME##_##TYPE(int64_t n, char *const *args, const int64_t *strides)                                \
    {                                                                                                              \
        const char *pa = args[0], *pb = args[1], *pc = args[2];                                                    \
        char *po = args[3];                                                                                        \
        if (strides[0] == (int64_t)sizeof(FIRST) && strides[1] == (int64_t)sizeof(IN) && strides[2] == (int64_t)sizeof(IN)\
            && strides[3] == (int64_t)sizeof(IN)) {                                                                \
            FOR_ADJACENT(i, n) {                                                                                   \
                const FIRST a = ((const FIRST *)(const void *)pa)[i];                                              \
                const IN b = ((const IN *)(const void *)pb)[i], c = ((const IN *)(const void *)pc)[i];             \
                ((IN *)(void *)po)[i] = (EXPR);                                                                    \
            }                                                                                                      \
            return;                                                                                                \
        }                                                                                                          \
        for (int64_t i = 0; i < n; i++, pa += strides[0], pb += strides[1], pc += strides[2], po += strides[3]) {  \
            const FIRST a = *(const FIRST *)(const void *)pa;                                                      \
            const IN b = *(const IN *)(const void *)pb, c = *(const IN *)(const void *)pc;                         \
            *(IN *)(void *)po = (EXPR);                                                                            \
        }                                                                                                          \
    }
#define DEFINE3(NAME, TYPE, IN, OUT, EXPR) DEFINE3_FIRST(NAME, TYPE, IN, IN, EXPR)

/* Two inputs of which the first is not read. */
#define DEFINE_SECOND(NAME, TYPE, IN, OUT, EXPR)                                                                   \
    static void NAME##_##TYPE(int64_t n, char *const *args, const int64_t *strides)                                \
    {                                                                                                              \
        const char *pb = args[1];                                                                                  \
        char *po = args[2];                                                                                        \
        if ((strides[1] == 0 || strides[1] == (int64_t)sizeof(IN)) && strides[2] == (int64_t)sizeof(IN) && n > 0) {\
            const IN same = *(const IN *)(const void *)pb;                                                         \
            if (strides[1] != 0) {                                                                                 \
                memmove(po, pb, (size_t)n * sizeof(IN));                                                           \
                return;                                                                                            \
            }                                                                                                      \
            for (int64_t i = 0; i < n; i++) {                                                                      \
                ((IN *)(void *)po)[i] = same;                                                                      \
            }                                                                                                      \
            return;                                                                                                \
        }                                                                                                          \
        for (int64_t i = 0; i < n; i++, pb += strides[1], po += strides[2]) {                                      \
            const IN b = *(const IN *)(const void *)pb;                                                            \
            *(OUT *)(void *)po = (EXPR);                                                                           \
        }                                                                                                          \
    }

/* A row's entry in a file's table. */
#define ENTRY(NAME, TYPE, ...) [SCALAR_##NAME][DTYPE_##TYPE] = NAME##_##TYPE,

/* The tables; an entry that a file does not define is NULL there. */
extern const MapKernel kernels_integer[N_SCALARS][N_DTYPES];
extern const MapKernel kernels_compare[N_SCALARS][N_DTYPES];
extern const MapKernel kernels_float[N_SCALARS][N_DTYPES];
extern const MapKernel kernels_complex[N_SCALARS][N_DTYPES];

/* Those of elementary.def, and the arithmetic of adjacent reals: one table for each level of CPU. */
#define LEVEL(NAME, name, doc) extern const MapKernel elementary_##name[N_SCALARS][N_DTYPES], arithmetic_##name[N_SCALARS][N_DTYPES]; \
    extern const RepeatKernel repeat_##name[N_SCALARS][N_DTYPES];
#include "math/levels.def"
#undef LEVEL

#endif
