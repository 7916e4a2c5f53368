/* Functions of real numbers by the C library's of the same precision, and division with a remainder. The gamma
 * functions and erfc, which C libraries compute with errors of some units in the last place, are of the next precision:
 * a `long double` has more bits than a double on most machines (where it has not, the errors are the library's).
 *
 * Relies on: kernels.h, libm. Relied on by: math.c. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* lgamma_r */
#endif
#include <math.h>

#include "math/kernels.h"

/* lgamma writes a global in most C libraries; lgamma_r does not. */
#ifdef _WIN32
#define lgamma_r(x, sign) lgamma(x)
#define lgammal_r(x, sign) lgammal(x)
#endif

static double precise_gamma(double x) { return (double)tgammal((long double)x); }
static double precise_gammaln(double x) { return (double)lgammal_r((long double)x, &(int){0}); }
static double precise_erfc(double x) { return (double)erfcl((long double)x); }
static float precise_gammaf(float x) { return (float)tgamma((double)x); }
static float precise_gammalnf(float x) { return (float)lgamma_r((double)x, &(int){0}); }
static float precise_erfcf(float x) { return (float)erfc((double)x); }

/* Division with Python's signs. What a remainder is to floor division follows NumPy: the quotient is the exact multiple
 * left after fmod, moved to the integer that it is next to. */
#define DEFINE_DIVISION(TYPE, T, S)                                         \
    static inline T floor_divide##S(T a, T b)                               \
    {                                                                       \
        T rest, quotient, whole;                                            \
        if (b == 0) {                                                       \
            return a / b;                                                   \
        }                                                                   \
        rest = fmod##S(a, b);                                               \
        quotient = (a - rest) / b;                                          \
        if (rest != 0 && (b < 0) != (rest < 0)) {                           \
            quotient -= 1;                                                  \
        }                                                                   \
        if (quotient == 0) {                                                \
            return copysign##S(0, a / b);                                   \
        }                                                                   \
        whole = floor##S(quotient);                                         \
        return quotient - whole > (T)0.5 ? whole + 1 : whole;               \
    }                                                                       \
    static inline T floor_remainder##S(T a, T b)                            \
    {                                                                       \
        T rest = fmod##S(a, b);                                             \
        if (b == 0) {                                                       \
            return rest;                                                    \
        }                                                                   \
        if (rest == 0) {                                                    \
            return copysign##S(0, b);                                       \
        }                                                                   \
        return (b < 0) != (rest < 0) ? rest + b : rest;                     \
    }

#define FLOAT_ROWS(CALL1, CALL2, TYPE, T, S)                            \
    CALL2(FLOOR_DIVIDE, TYPE, T, T, floor_divide##S(a, b))              \
    CALL2(MOD, TYPE, T, T, floor_remainder##S(a, b))                    \
    CALL2(POW, TYPE, T, T, b == 2 ? a * a : pow##S(a, b))               \
    CALL1(TAN, TYPE, T, T, tan##S(a))                                   \
    CALL1(ARCSIN, TYPE, T, T, asin##S(a))                               \
    CALL1(ARCCOS, TYPE, T, T, acos##S(a))                               \
    CALL1(ARCTAN, TYPE, T, T, atan##S(a))                               \
    CALL2(ARCTAN2, TYPE, T, T, atan2##S(a, b))                          \
    CALL1(CEIL, TYPE, T, T, ceil##S(a))                                 \
    CALL1(FLOOR, TYPE, T, T, floor##S(a))                               \
    CALL1(TRUNC, TYPE, T, T, trunc##S(a))                               \
    CALL1(ROUND, TYPE, T, T, rint##S(a))                                \
    CALL1(ROUND_AWAY, TYPE, T, T, round##S(a))                          \
    CALL1(GAMMA, TYPE, T, T, precise_gamma##S(a))                       \
    CALL1(GAMMALN, TYPE, T, T, precise_gammaln##S(a))                   \
    CALL1(ERF, TYPE, T, T, erf##S(a))                                   \
    CALL1(ERFC, TYPE, T, T, precise_erfc##S(a))                         \
    CALL1(ANGLE, TYPE, T, double, atan2(0, (double)a))

FOR_REAL(DEFINE_DIVISION)
#define DEFINE_FLOAT(TYPE, T, S) FLOAT_ROWS(DEFINE1_CALL, DEFINE2_CALL, TYPE, T, S)
FOR_REAL(DEFINE_FLOAT)

#define FLOAT_ENTRIES(TYPE, T, S) FLOAT_ROWS(ENTRY, ENTRY, TYPE, T, S)
const MapKernel kernels_float[N_SCALARS][N_DTYPES] = {FOR_REAL(FLOAT_ENTRIES)};
