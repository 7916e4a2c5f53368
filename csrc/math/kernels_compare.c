/* Comparing, choosing and copying real numbers of all kinds.
 *
 * Relies on: kernels.h. Relied on by: math.c. */
#include <math.h>

#include "math/kernels.h"

/* Any real type: IS_NAN and IS_INF are macros of a. */
#define REAL_ROWS(UNARY, BINARY, TERNARY, CHOICE, COPY, TYPE, T)    \
    BINARY(EQ, TYPE, T, uint8_t, (uint8_t)(a == b))                 \
    BINARY(NEQ, TYPE, T, uint8_t, (uint8_t)(a != b))                \
    BINARY(LT, TYPE, T, uint8_t, (uint8_t)(a < b))                  \
    BINARY(LE, TYPE, T, uint8_t, (uint8_t)(a <= b))                 \
    BINARY(GT, TYPE, T, uint8_t, (uint8_t)(a > b))                  \
    BINARY(GE, TYPE, T, uint8_t, (uint8_t)(a >= b))                 \
    TERNARY(CLIP, TYPE, T, T, a < b ? b : a > c ? c : a)            \
    CHOICE(SWITCH, TYPE, uint8_t, T, a != 0 ? b : c)                \
    COPY(SECOND, TYPE, T, T, b)                                     \
    UNARY(IDENTITY, TYPE, T, T, a)                                  \
    UNARY(REAL, TYPE, T, T, a)                                      \
    UNARY(CONJ, TYPE, T, T, a)

#define WHOLE_ROWS(UNARY, BINARY, TERNARY, CHOICE, COPY, TYPE, T)   \
    REAL_ROWS(UNARY, BINARY, TERNARY, CHOICE, COPY, TYPE, T)        \
    BINARY(MAXIMUM, TYPE, T, T, a >= b ? a : b)                     \
    BINARY(MINIMUM, TYPE, T, T, a <= b ? a : b)                     \
    UNARY(ISNAN, TYPE, T, uint8_t, (uint8_t)((void)a, 0))           \
    UNARY(ISINF, TYPE, T, uint8_t, (uint8_t)((void)a, 0))           \
    UNARY(IMAG, TYPE, T, T, (T)((void)a, 0))

/* The larger or smaller of two, where NaN wins. */
#define FLOAT_ROWS(UNARY, BINARY, TERNARY, CHOICE, COPY, TYPE, T)   \
    REAL_ROWS(UNARY, BINARY, TERNARY, CHOICE, COPY, TYPE, T)        \
    BINARY(MAXIMUM, TYPE, T, T, a >= b || a != a ? a : b)           \
    BINARY(MINIMUM, TYPE, T, T, a <= b || a != a ? a : b)           \
    UNARY(ISNAN, TYPE, T, uint8_t, (uint8_t)(a != a))               \
    UNARY(ISINF, TYPE, T, uint8_t, (uint8_t)(isinf(a) != 0))        \
    UNARY(IMAG, TYPE, T, T, (T)((void)a, 0))

#define DEFINE_WHOLE(TYPE, T, WIDE) WHOLE_ROWS(DEFINE1, DEFINE2, DEFINE3, DEFINE3_FIRST, DEFINE_SECOND, TYPE, T)
#define DEFINE_FLOAT(TYPE, T, SUFFIX) FLOAT_ROWS(DEFINE1, DEFINE2, DEFINE3, DEFINE3_FIRST, DEFINE_SECOND, TYPE, T)
DEFINE_WHOLE(BOOL, uint8_t, )
FOR_SIGNED(DEFINE_WHOLE)
FOR_UNSIGNED(DEFINE_WHOLE)
FOR_REAL(DEFINE_FLOAT)

#define WHOLE_ENTRIES(TYPE, T, WIDE) WHOLE_ROWS(ENTRY, ENTRY, ENTRY, ENTRY, ENTRY, TYPE, T)
#define FLOAT_ENTRIES(TYPE, T, SUFFIX) FLOAT_ROWS(ENTRY, ENTRY, ENTRY, ENTRY, ENTRY, TYPE, T)
const MapKernel kernels_compare[N_SCALARS][N_DTYPES] = {
    WHOLE_ENTRIES(BOOL, uint8_t, ) FOR_SIGNED(WHOLE_ENTRIES) FOR_UNSIGNED(WHOLE_ENTRIES) FOR_REAL(FLOAT_ENTRIES)
};
