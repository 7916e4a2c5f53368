/* Complex arithmetic, written out as NumPy's formulas are known, and elementary functions by the C library, or made of
 * its real ones where it has none of complex numbers.
 *
 * Relies on: kernels.h, libm. Relied on by: math.c. */
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "math/kernels.h"

#define LN2 0.69314718055994530942     /* the logarithm of 2, and what that lacks as a double */
#define LN2_REST 2.3190468138462995584e-17
#define LOG2_E 1.4426950408889634074
#define LOG10_E 0.43429448190325182765
#define LARGEST_MULTIPLIED 100         /* whole exponents up to this are multiplied out */

/* A pair has the layout of C's complex number of the same precision (C11 6.2.5). W is the next wider complex type, if any. */
#define DEFINE_HELPERS(T, C, CT, S, W, WS)                                                  \
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
    static inline C multiply##S(C a, C b) { return make##S(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re); }\
    /* Smith's method: scaled by the larger part of the divisor, so that its square cannot overflow. */\
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
    static inline C invert##S(C a)                                                          \
    {                                                                                       \
        T ratio, whole;                                                                     \
        if (fabs##S(a.im) <= fabs##S(a.re)) {                                               \
            ratio = a.im / a.re;                                                            \
            whole = a.re + a.im * ratio;                                                    \
            return make##S(1 / whole, -ratio / whole);                                      \
        }                                                                                   \
        ratio = a.re / a.im;                                                                \
        whole = a.im + a.re * ratio;                                                        \
        return make##S(ratio / whole, -1 / whole);                                          \
    }                                                                                       \
    /* By the real parts, then by the imaginary ones; a number with NaN is neither less nor more. */\
    static inline bool less##S(C a, C b)                                                    \
    {                                                                                       \
        return a.re < b.re ? a.im == a.im && b.im == b.im : a.re == b.re && a.im < b.im;    \
    }                                                                                       \
    static inline bool at_most##S(C a, C b)                                                 \
    {                                                                                       \
        return a.re < b.re ? a.im == a.im && b.im == b.im : a.re == b.re && a.im <= b.im;   \
    }                                                                                       \
    static inline bool is_nan##S(C a) { return a.re != a.re || a.im != a.im; }              \
    static inline W whole_power##S(W z, int n)                                              \
    {                                                                                       \
        W power;                                                                            \
        for (; (n & 1) == 0; n >>= 1) {                                                     \
            z *= z;                                                                         \
        }                                                                                   \
        power = z;                                                                          \
        while ((n >>= 1) != 0) {                                                            \
            z *= z;                                                                         \
            if (n & 1) {                                                                    \
                power *= z;                                                                 \
            }                                                                               \
        }                                                                                   \
        return power;                                                                       \
    }                                                                                       \
    /* In the wider type: an error in the logarithm grows with the exponent. Powers of whole numbers are exact. */ \
    static inline C power##S(C a, C b)                                                      \
    {                                                                                       \
        W z = (W)to_c##S(a);                                                                \
        if (b.im == 0 && (b.re == 0 || b.re == 1)) {                                        \
            return b.re == 0 ? make##S(1, 0) : a;                                           \
        }                                                                                   \
        if (b.im == 0 && b.re == 2) {                                                       \
            return multiply##S(a, a);                                                       \
        }                                                                                   \
        if (a.re == 0 && a.im == 0) {                                                       \
            return b.re > 0 ? make##S(0, 0) : make##S((T)NAN, (T)NAN);                      \
        }                                                                                   \
        if (b.im == 0 && fabs##S(b.re) <= LARGEST_MULTIPLIED && b.re == trunc##S(b.re)) {   \
            z = whole_power##S(z, abs((int)b.re));                                          \
            return from_c##S((CT)(b.re < 0 ? 1 / z : z));                                   \
        }                                                                                   \
        return from_c##S((CT)cpow##WS(z, (W)to_c##S(b)));                                   \
    }                                                                                       \
    static inline C scaled##S(C a, T factor) { return make##S(a.re * factor, a.im * factor); }\
    /* The angle is im ln 2 with what the product lacks; the whole part of re is an exact scale. */\
    static inline C exp2_c##S(C a)                                                          \
    {                                                                                       \
        if (a.im == 0) {                                                                    \
            return make##S(exp2##S(a.re), a.im);                                            \
        }                                                                                   \
        if (!isfinite(a.re) || !isfinite(a.im)) {                                           \
            return from_c##S(cexp##S(to_c##S(scaled##S(a, (T)LN2))));                       \
        }                                                                                   \
        T whole = trunc##S(a.re), size = exp2##S(a.re - whole), angle = a.im * (T)LN2;      \
        T rest = fma##S(a.im, (T)LN2, -angle) + a.im * (T)(LN2 - (T)LN2 + LN2_REST);        \
        T cosine = cos##S(angle) * cos##S(rest) - sin##S(angle) * sin##S(rest);             \
        T sine = sin##S(angle) * cos##S(rest) + cos##S(angle) * sin##S(rest);               \
        int scale = (int)fmax##S(fmin##S(whole, 5000), -5000);                              \
        return make##S(scalbn##S(size * cosine, scale), scalbn##S(size * sine, scale));     \
    }                                                                                       \
    /* exp(re) cos(im) - 1 = (exp(re) - 1) cos(im) - 2 sin(im / 2)^2; beyond exp(40), 1 is below the last place. */\
    static inline C expm1_c##S(C a)                                                         \
    {                                                                                       \
        if (!(fabs##S(a.re) < 40) || !isfinite(a.im)) {                                     \
            C e = from_c##S(cexp##S(to_c##S(a)));                                           \
            return make##S(e.re - 1, e.im);                                                 \
        }                                                                                   \
        T half = sin##S(a.im / 2);                                                          \
        return make##S(expm1##S(a.re) * cos##S(a.im) - 2 * half * half, exp##S(a.re) * sin##S(a.im));\
    }                                                                                       \
    /* Near 0, |1 + z|^2 - 1 without the 1, which would swallow z. */                       \
    static inline C log1p_c##S(C a)                                                         \
    {                                                                                       \
        if (fabs##S(a.re) < (T)0.5 && fabs##S(a.im) < (T)0.5) {                             \
            return make##S(log1p##S(a.re * (2 + a.re) + a.im * a.im) / 2, atan2##S(a.im, 1 + a.re));\
        }                                                                                   \
        return from_c##S(clog##S(to_c##S(make##S(1 + a.re, a.im))));                        \
    }                                                                                       \
    static inline C log1mexp_c##S(C a)                                                      \
    {                                                                                       \
        if (a.re > 40) {                                                                    \
            return make##S(a.re, atan2##S(-sin##S(a.im), -cos##S(a.im)));                   \
        }                                                                                   \
        if (a.re < -(T)LN2) {                                                               \
            return log1p_c##S(scaled##S(from_c##S(cexp##S(to_c##S(a))), -1));               \
        }                                                                                   \
        return from_c##S(clog##S(to_c##S(scaled##S(expm1_c##S(a), -1))));                   \
    }

#define COMPLEX_ROWS(UNARY, BINARY, CHOICE, COPY, TYPE, T, C, S)                            \
    BINARY(ADD, TYPE, C, C, make##S(a.re + b.re, a.im + b.im))                              \
    BINARY(SUB, TYPE, C, C, make##S(a.re - b.re, a.im - b.im))                              \
    BINARY(MUL, TYPE, C, C, multiply##S(a, b))                                              \
    BINARY(TRUE_DIVIDE, TYPE, C, C, divide##S(a, b))                                        \
    BINARY(POW, TYPE, C, C, power##S(a, b))                                                 \
    BINARY(EQ, TYPE, C, uint8_t, (uint8_t)(a.re == b.re && a.im == b.im))                   \
    BINARY(NEQ, TYPE, C, uint8_t, (uint8_t)(a.re != b.re || a.im != b.im))                  \
    BINARY(LT, TYPE, C, uint8_t, (uint8_t)less##S(a, b))                                    \
    BINARY(LE, TYPE, C, uint8_t, (uint8_t)at_most##S(a, b))                                 \
    BINARY(GT, TYPE, C, uint8_t, (uint8_t)less##S(b, a))                                    \
    BINARY(GE, TYPE, C, uint8_t, (uint8_t)at_most##S(b, a))                                 \
    BINARY(MAXIMUM, TYPE, C, C, is_nan##S(a) || at_most##S(b, a) ? a : b)                   \
    BINARY(MINIMUM, TYPE, C, C, is_nan##S(a) || at_most##S(a, b) ? a : b)                   \
    UNARY(NEG, TYPE, C, C, make##S(-a.re, -a.im))                                           \
    UNARY(ABS, TYPE, C, T, hypot##S(a.re, a.im))                                            \
    CHOICE(SWITCH, TYPE, uint8_t, C, a != 0 ? b : c)                                        \
    COPY(SECOND, TYPE, C, C, b)                                                             \
    UNARY(IDENTITY, TYPE, C, C, a)                                                          \
    UNARY(EXP, TYPE, C, C, from_c##S(cexp##S(to_c##S(a))))                                  \
    UNARY(EXP2, TYPE, C, C, exp2_c##S(a))                                                   \
    UNARY(EXPM1, TYPE, C, C, expm1_c##S(a))                                                 \
    UNARY(LOG, TYPE, C, C, from_c##S(clog##S(to_c##S(a))))                                  \
    UNARY(LOG2, TYPE, C, C, scaled##S(from_c##S(clog##S(to_c##S(a))), (T)LOG2_E))           \
    UNARY(LOG10, TYPE, C, C, scaled##S(from_c##S(clog##S(to_c##S(a))), (T)LOG10_E))         \
    UNARY(LOG1P, TYPE, C, C, log1p_c##S(a))                                                 \
    UNARY(LOG1MEXP, TYPE, C, C, log1mexp_c##S(a))                                           \
    UNARY(SQRT, TYPE, C, C, from_c##S(csqrt##S(to_c##S(a))))                                \
    UNARY(SQUARE, TYPE, C, C, multiply##S(a, a))                                            \
    UNARY(RECIPROCAL, TYPE, C, C, invert##S(a))                                             \
    UNARY(SIN, TYPE, C, C, from_c##S(csin##S(to_c##S(a))))                                  \
    UNARY(COS, TYPE, C, C, from_c##S(ccos##S(to_c##S(a))))                                  \
    UNARY(TAN, TYPE, C, C, from_c##S(ctan##S(to_c##S(a))))                                  \
    UNARY(ARCSIN, TYPE, C, C, from_c##S(casin##S(to_c##S(a))))                              \
    UNARY(ARCCOS, TYPE, C, C, from_c##S(cacos##S(to_c##S(a))))                              \
    UNARY(ARCTAN, TYPE, C, C, from_c##S(catan##S(to_c##S(a))))                              \
    UNARY(SINH, TYPE, C, C, from_c##S(csinh##S(to_c##S(a))))                                \
    UNARY(COSH, TYPE, C, C, from_c##S(ccosh##S(to_c##S(a))))                                \
    UNARY(TANH, TYPE, C, C, from_c##S(ctanh##S(to_c##S(a))))                                \
    UNARY(ARCSINH, TYPE, C, C, from_c##S(casinh##S(to_c##S(a))))                            \
    UNARY(ARCCOSH, TYPE, C, C, from_c##S(cacosh##S(to_c##S(a))))                            \
    UNARY(ARCTANH, TYPE, C, C, from_c##S(catanh##S(to_c##S(a))))                            \
    UNARY(ISNAN, TYPE, C, uint8_t, (uint8_t)is_nan##S(a))                                   \
    UNARY(ISINF, TYPE, C, uint8_t, (uint8_t)(isinf(a.re) || isinf(a.im)))                   \
    UNARY(REAL, TYPE, C, T, a.re)                                                           \
    UNARY(IMAG, TYPE, C, T, a.im)                                                           \
    UNARY(CONJ, TYPE, C, C, make##S(a.re, -a.im))                                           \
    UNARY(ANGLE, TYPE, C, double, atan2((double)a.im, (double)a.re))

/* Of two reals. */
#define PAIR_ROWS(BINARY, TYPE, T, C, S)                                                    \
    BINARY(COMPLEX, TYPE, T, C, make##S(a, b))                                              \
    BINARY(COMPLEX_FROM_POLAR, TYPE, T, C, make##S(a * cos##S(b), a * sin##S(b)))

DEFINE_HELPERS(float, Complex64, float _Complex, f, double _Complex, )
DEFINE_HELPERS(double, Complex128, double _Complex, , long double _Complex, l)
COMPLEX_ROWS(DEFINE1_CALL, DEFINE2_CALL, DEFINE3_FIRST, DEFINE_SECOND, COMPLEX64, float, Complex64, f)
COMPLEX_ROWS(DEFINE1_CALL, DEFINE2_CALL, DEFINE3_FIRST, DEFINE_SECOND, COMPLEX128, double, Complex128, )
PAIR_ROWS(DEFINE2_CALL, FLOAT32, float, Complex64, f)
PAIR_ROWS(DEFINE2_CALL, FLOAT64, double, Complex128, )

const MapKernel kernels_complex[N_SCALARS][N_DTYPES] = {
    COMPLEX_ROWS(ENTRY, ENTRY, ENTRY, ENTRY, COMPLEX64, float, Complex64, f)
    COMPLEX_ROWS(ENTRY, ENTRY, ENTRY, ENTRY, COMPLEX128, double, Complex128, )
    PAIR_ROWS(ENTRY, FLOAT32, float, Complex64, f)
    PAIR_ROWS(ENTRY, FLOAT64, double, Complex128, )
};
