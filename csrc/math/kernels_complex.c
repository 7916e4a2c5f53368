/* Complex arithmetic, written out as NumPy's formulas are known, and elementary functions by the C library.
 *
 * Relies on: kernels.h, libm. Relied on by: math.c. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "math/kernels.h"

/* A pair has the layout of C's complex number of the same precision (C11 6.2.5). */
#define DEFINE_HELPERS(TYPE, T, C, CT, S)                                                   \
    static inline C make##S(T re, T im) { return (C){re, im}; }                             \
    static inline CT to_c##S(C a)                                                           \
    {                                                                                       \
        CT z;                                                                               \
        memcpy(&z, &a, sizeof z);                                                           \
        return z;                                                                           \
    }                                                                                       \
    static inline C from_c##S(CT z)                                                         \
    {                                                                                       \
        C a;                                                                                \
        memcpy(&a, &z, sizeof a);                                                           \
        return a;                                                                           \
    }                                                                                       \
    static inline C multiply##S(C a, C b) { return make##S(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re); } \
    /* Smith's method: scaled by the larger part of the divisor, so that its square cannot overflow. */ \
    static inline C divide##S(C a, C b)                                                     \
    {                                                                                       \
        T large = fabs##S(b.re), small = fabs##S(b.im), ratio, scale;                       \
        if (large >= small) {                                                               \
            if (large == 0 && small == 0) {                                                 \
                return make##S(a.re / large, a.im / large);                                 \
            }                                                                               \
            ratio = b.im / b.re;                                                            \
            scale = 1 / (b.re + b.im * ratio);                                              \
            return make##S((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale);   \
        }                                                                                   \
        ratio = b.re / b.im;                                                                \
        scale = 1 / (b.im + b.re * ratio);                                                  \
        return make##S((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale);       \
    }                                                                                       \
    static inline C power##S(C a, C b)                                                      \
    {                                                                                       \
        if (b.im == 0 && b.re == 2) {                                                       \
            return multiply##S(a, a);                                                       \
        }                                                                                   \
        if (b.im == 0 && b.re == 0) {                                                       \
            return make##S(1, 0);                                                           \
        }                                                                                   \
        if (a.re == 0 && a.im == 0) {                                                       \
            return b.re > 0 ? make##S(0, 0) : make##S((T)NAN, (T)NAN);                      \
        }                                                                                   \
        return from_c##S(cpow##S(to_c##S(a), to_c##S(b)));                                  \
    }

#define COMPLEX_ROWS(UNARY, BINARY, CHOICE, COPY, TYPE, T, C, S)                            \
    BINARY(ADD, TYPE, C, C, make##S(a.re + b.re, a.im + b.im))                              \
    BINARY(SUB, TYPE, C, C, make##S(a.re - b.re, a.im - b.im))                              \
    BINARY(MUL, TYPE, C, C, multiply##S(a, b))                                              \
    BINARY(TRUE_DIVIDE, TYPE, C, C, divide##S(a, b))                                        \
    BINARY(POW, TYPE, C, C, power##S(a, b))                                                 \
    BINARY(EQ, TYPE, C, uint8_t, (uint8_t)(a.re == b.re && a.im == b.im))                   \
    BINARY(NEQ, TYPE, C, uint8_t, (uint8_t)(a.re != b.re || a.im != b.im))                  \
    UNARY(NEG, TYPE, C, C, make##S(-a.re, -a.im))                                           \
    UNARY(ABS, TYPE, C, T, hypot##S(a.re, a.im))                                            \
    CHOICE(SWITCH, TYPE, uint8_t, C, a != 0 ? b : c)                                        \
    COPY(SECOND, TYPE, C, C, b)                                                             \
    UNARY(IDENTITY, TYPE, C, C, a)                                                          \
    UNARY(EXP, TYPE, C, C, from_c##S(cexp##S(to_c##S(a))))                                  \
    UNARY(LOG, TYPE, C, C, from_c##S(clog##S(to_c##S(a))))                                  \
    UNARY(SQRT, TYPE, C, C, from_c##S(csqrt##S(to_c##S(a))))                                \
    UNARY(SQUARE, TYPE, C, C, multiply##S(a, a))                                            \
    UNARY(RECIPROCAL, TYPE, C, C, divide##S(make##S(1, 0), a))                              \
    UNARY(SIN, TYPE, C, C, from_c##S(csin##S(to_c##S(a))))                                  \
    UNARY(COS, TYPE, C, C, from_c##S(ccos##S(to_c##S(a))))                                  \
    UNARY(TAN, TYPE, C, C, from_c##S(ctan##S(to_c##S(a))))                                  \
    UNARY(TANH, TYPE, C, C, from_c##S(ctanh##S(to_c##S(a))))                                \
    UNARY(ISNAN, TYPE, C, uint8_t, (uint8_t)(a.re != a.re || a.im != a.im))                 \
    UNARY(ISINF, TYPE, C, uint8_t, (uint8_t)(isinf(a.re) || isinf(a.im)))                   \
    UNARY(REAL, TYPE, C, T, a.re)                                                           \
    UNARY(IMAG, TYPE, C, T, a.im)                                                           \
    UNARY(CONJ, TYPE, C, C, make##S(a.re, -a.im))                                           \
    UNARY(ANGLE, TYPE, C, T, atan2##S(a.im, a.re))

DEFINE_HELPERS(COMPLEX64, float, Complex64, float _Complex, f)
DEFINE_HELPERS(COMPLEX128, double, Complex128, double _Complex, )
COMPLEX_ROWS(DEFINE1_CALL, DEFINE2_CALL, DEFINE3_FIRST, DEFINE_SECOND, COMPLEX64, float, Complex64, f)
COMPLEX_ROWS(DEFINE1_CALL, DEFINE2_CALL, DEFINE3_FIRST, DEFINE_SECOND, COMPLEX128, double, Complex128, )

const MapKernel kernels_complex[N_SCALARS][N_DTYPES] = {
    COMPLEX_ROWS(ENTRY, ENTRY, ENTRY, ENTRY, COMPLEX64, float, Complex64, f)
    COMPLEX_ROWS(ENTRY, ENTRY, ENTRY, ENTRY, COMPLEX128, double, Complex128, )
};
