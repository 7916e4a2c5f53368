/* Measures the elementary functions against libquadmath: the largest error of each, in units in the last place of the exact
 * value, over all doubles and dense where they are used most; that a block, elements apart, and one element give the same
 * bits on every level of CPU that is here; that results do not leave the range and sign that the exact ones have.
 *
 *   ulp POINTS [FUNCTION...]     a line for each function; exits with 1 if any is off by LIMIT or more
 *
 * Relies on: the room math without math.c; GNU's quadmath.h. Relied on by: test_elementary.py. */
#include <quadmath.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/elementary.h"
#include "math/kernels.h"

#define LIMIT 0.8
#define FLOAT_LIMIT 0.501
enum { N = 1024 };
typedef __float128 Quad;

/* What libquadmath lacks. */
static Quad sigmoidq(Quad x) { return 1 / (1 + expq(-x)); }
static Quad softplusq(Quad x) { return x > 0 ? x + log1pq(expq(-x)) : log1pq(expq(x)); }
static Quad log1mexpq(Quad x) { return x > -0.69Q ? logq(-expm1q(x)) : log1pq(-expq(x)); }
#define arcsinhq asinhq
#define arccoshq acoshq
#define arctanhq atanhq

typedef struct Function {
    const char *name;
    int scalar;
    Quad (*exact)(Quad);
    double low, high, bottom, top; /* where it is used most; what its results lie between */
} Function;

/* The rows of elementary.def, with the two ranges. */
#define RANGE_exp -20, 20, 0, INFINITY
#define RANGE_exp2 -20, 20, 0, INFINITY
#define RANGE_expm1 -3, 3, -1, INFINITY
#define RANGE_log 0, 4, -INFINITY, INFINITY
#define RANGE_log2 0, 4, -INFINITY, INFINITY
#define RANGE_log10 0, 4, -INFINITY, INFINITY
#define RANGE_log1p -1, 3, -INFINITY, INFINITY
#define RANGE_sin -10, 10, -1, 1
#define RANGE_cos -10, 10, -1, 1
#define RANGE_tanh -3, 3, -1, 1
#define RANGE_sinh -3, 3, -INFINITY, INFINITY
#define RANGE_cosh -3, 3, 1, INFINITY
#define RANGE_arcsinh -3, 3, -INFINITY, INFINITY
#define RANGE_arccosh 1, 4, 0, INFINITY
#define RANGE_arctanh -1, 1, -INFINITY, INFINITY
#define RANGE_sigmoid -10, 10, 0, 1
#define RANGE_softplus -10, 10, 0, INFINITY
#define RANGE_log1mexp -4, 0, -INFINITY, 0
static const Function functions[] = {
#define ELEMENTARY(NAME, name, doc) {#name, SCALAR_##NAME, name##q, RANGE_##name},
#include "math/elementary.def"
#undef ELEMENTARY
};
enum { N_FUNCTIONS = sizeof functions / sizeof functions[0] };

static const MapKernel (*const tables[])[N_DTYPES] = {
#define LEVEL(NAME, name, doc) elementary_##name,
#include "math/levels.def"
#undef LEVEL
};

static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t next_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static double next_uniform(void) { return (double)(next_bits() >> 11) * 0x1p-53; }

/* In turn: all doubles alike; all exponents around 1; the range of most use; a thousand times that range; near 1 and -1. */
static double next_argument(const Function *f)
{
    double x = f->low + (f->high - f->low) * next_uniform();

    switch (next_bits() >> 8 & 7) {
    case 0:
        return from_bits(next_bits());
    case 1:
        return ldexp(next_uniform() + 0.5, (int)(next_bits() >> 9 & 127) - 64) * (next_bits() >> 63 ? 1 : -1);
    case 2:
        return 1000 * x;
    case 3:
        return (next_bits() >> 63 ? 1 : -1) * (1 + ldexp(next_uniform() - 0.5, -(int)(next_bits() >> 9 & 63)));
    case 4:
        return (double)((int64_t)(next_bits() >> 40) - (1 << 23)) * 1.5707963267948966 * (1 + 0x1p-52 * (double)((int)(next_bits() >> 62) - 1));
    default:
        return x;
    }
}

/* How far y is from the exact value, in units in the last place of a number with so many bits and that least exponent.
 * What overflows must be infinite: `rounded` is the exact value as a number of y's type. */
static double error_of(double y, Quad exact, double rounded, int bits, int least)
{
    Quad distance = fabsq((Quad)y - exact);
    int exponent;

    if (isnanq(exact)) {
        return isnan(y) ? 0 : INFINITY;
    }
    if (isinf(rounded)) {
        return y == rounded ? 0 : INFINITY;
    }
    (void)frexpq(exact, &exponent);
    return (double)ldexpq(distance, bits - (exponent < least ? least : exponent));
}

typedef struct Found {
    double error, at, float_error; /* the largest error, its argument; of single precision */
    int64_t n_different, n_outside;
} Found;

static void check_point(const Function *f, double x, double y, Found *found)
{
    Quad exact = f->exact(x);
    double error = error_of(y, exact, (double)exact, DBL_MANT_DIG, DBL_MIN_EXP);

    if (!(error <= found->error)) {
        found->error = error;
        found->at = x;
    }
    found->n_outside += !isnan(y) && !(y >= f->bottom && y <= f->top);
    found->n_outside += !isnan(y) && y != 0 && (signbit(y) != 0) != (signbitq(exact) != 0);
}

/* In single precision: the error, and a block's bits against one element's. */
static void check_floats(const Function *f, const double *x, int64_t n, Found *found)
{
    static float in[N], out[N], one;

    for (int64_t i = 0; i < n; i++) {
        in[i] = (float)x[i];
    }
    for (int level = 0; level < N_LEVELS; level++) {
        MapKernel kernel = tables[level][f->scalar][DTYPE_FLOAT32];
        if (!level_is_here(level)) {
            continue;
        }
        kernel(n, (char *[]){(char *)in, (char *)out}, (const int64_t[]){4, 4});
        for (int64_t i = 0; i < n; i++) {
            kernel(1, (char *[]){(char *)&in[i], (char *)&one}, (const int64_t[]){4, 4});
            found->n_different += memcmp(&one, &out[i], sizeof one) != 0;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        Quad exact = f->exact((Quad)in[i]);
        double error = error_of((double)out[i], exact, (double)(float)exact, FLT_MANT_DIG, FLT_MIN_EXP);
        found->float_error = error <= found->float_error ? found->float_error : error;
    }
}

/* Blocks of all lengths and elements apart, on every level, against the least level's single elements. */
static void check_block(const Function *f, const double *x, const double *y, int64_t n, Found *found)
{
    static double apart[2 * N], in[2 * N], out[N];
    const int64_t near[2] = {8, 8}, wide[2] = {16, 16};

    for (int level = 0; level < N_LEVELS; level++) {
        MapKernel kernel = tables[level][f->scalar][DTYPE_FLOAT64];
        if (!level_is_here(level)) {
            continue;
        }
        kernel(n, (char *[]){(char *)x, (char *)out}, near);
        found->n_different += memcmp(out, y, (size_t)n * 8) != 0;
        memcpy(out, x, (size_t)n * 8);
        kernel(n, (char *[]){(char *)out, (char *)out}, near);
        found->n_different += memcmp(out, y, (size_t)n * 8) != 0;
        for (int64_t i = 0; i < n; i++) {
            in[2 * i] = x[i];
        }
        kernel(n, (char *[]){(char *)in, (char *)apart}, wide);
        for (int64_t i = 0; i < n; i++) {
            kernel(1, (char *[]){(char *)&x[i], (char *)out}, near);
            found->n_different += bits_of(out[0]) != bits_of(y[i]) || bits_of(apart[2 * i]) != bits_of(y[i]);
        }
    }
}

static int measure(const Function *f, int64_t n_points)
{
    static double x[N], y[N];
    Found found = {0};

    for (int64_t done = 0; done < n_points; done += N) {
        int64_t n = done % (3 * N) == 0 ? N : 1 + (int64_t)(next_bits() % N);
        for (int64_t i = 0; i < n; i++) {
            x[i] = next_argument(f);
            elementary_baseline[f->scalar][DTYPE_FLOAT64](1, (char *[]){(char *)&x[i], (char *)&y[i]}, (const int64_t[]){8, 8});
            check_point(f, x[i], y[i], &found);
        }
        check_block(f, x, y, n, &found);
        if (done % (8 * N) == 0) {
            check_floats(f, x, n, &found);
        }
    }
    printf("%-9s %.4f at %-24a float %.4f  %lld different, %lld outside\n", f->name, found.error, found.at, found.float_error,
           (long long)found.n_different, (long long)found.n_outside);
    return found.error < LIMIT && found.float_error < FLOAT_LIMIT && found.n_different == 0 && found.n_outside == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    int failed = 0;

    for (int i = 0; i < N_FUNCTIONS; i++) {
        int wanted = argc < 3;
        for (int j = 2; j < argc; j++) {
            wanted |= strcmp(argv[j], functions[i].name) == 0;
        }
        if (wanted) {
            failed |= measure(&functions[i], argc > 1 ? atoll(argv[1]) : 100000);
        }
    }
    return failed;
}
