/* Draws that are formulas over NumPy's numbers, block by block.
 *
 * Every formula equals the expression in its row of dists.def (`method`), bit for bit: sums and products in its order, and
 * functions by NumPy's own loops, which on some CPUs round otherwise than the C library does. A loop gives an element the same
 * bits alone and among others. Relies on: formulas.h. Relied on by: draw.c. */
#include "random/formulas.h"

#include <math.h>

/* Elements at a time, and the room for them: loops of NumPy 1.26 take buffers that touch for ones that overlap, and go the
 * slow way, which has other last bits. */
enum { BLOCK = 128, ROOM = BLOCK + 8 };

static const double pi = 3.141592653589793;

/* The parameters of a block of elements. */
typedef struct Params {
    const char *at[DRAW_MAX_PARAMS];
    const int64_t *strides;
} Params;

/* Draws up to BLOCK elements. */
typedef void (*Block)(const DrawSource *source, const Params *params, double *out, int64_t n);

static double param(const Params *params, int i, int64_t j)
{
    return *(const double *)(const void *)(params->at[i] + j * params->strides[i]);
}

static void in_blocks(Block block, int n_params, const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n)
{
    Params here = {.strides = strides};

    for (int64_t start = 0; start < n; start += BLOCK) {
        for (int i = 0; i < n_params; i++) {
            here.at[i] = params[i] + start * strides[i];
        }
        block(source, &here, (double *)(void *)out + start, n - start < BLOCK ? n - start : BLOCK);
    }
}

/* A row with that many parameters. */
#define FORMULA(NAME, n_params)                                                                                                    \
    void formula_##NAME(const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n)   \
    {                                                                                                                        \
        in_blocks(block_##NAME, n_params, source, params, strides, out, n);                                                  \
    }

/* rng.uniform() */
static double draw_uniform(const DrawSource *source) { return source->bitgen->next_double(source->bitgen->state); }

/* A ufunc of one argument. */
static void apply(const void *function, double *x, double *result, int64_t n)
{
    const NumpyLoop *of = function;
    char *args[2] = {(char *)x, (char *)result};
    const intptr_t dimensions[1] = {(intptr_t)n}, steps[2] = {sizeof(double), sizeof(double)};

    of->loop(args, dimensions, steps, of->data);
}

/* x to that power. Exponents for which NumPy's operator has a shortcut, where they are scalars, take it always here:
 * one element and many must be the same. */
static void raise_to(const void *power, double *x, double *exponent, double *result, int64_t n)
{
    const NumpyLoop *of = power;
    char *args[3] = {(char *)x, (char *)exponent, (char *)result};
    const intptr_t dimensions[1] = {(intptr_t)n}, steps[3] = {sizeof(double), sizeof(double), sizeof(double)};

    of->loop(args, dimensions, steps, of->data);
    for (int64_t j = 0; j < n; j++) {
        double e = exponent[j];

        result[j] = e == -1.0 ? 1.0 / x[j] : e == 0.5 ? sqrt(x[j]) : e == 2.0 ? x[j] * x[j] : result[j];
    }
}

static void scale_and_shift(const Params *params, int loc, int scale, double *out, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        out[j] = out[j] * param(params, scale, j) + param(params, loc, j);
    }
}

/* ---- loc and scale ---- */

static void block_CAUCHY(const DrawSource *source, const Params *params, double *out, int64_t n)
{
    double angles[ROOM];

    for (int64_t j = 0; j < n; j++) {
        angles[j] = pi * draw_uniform(source) - pi / 2;
    }
    apply(source->function, angles, out, n);
    scale_and_shift(params, 0, 1, out, n);
}
FORMULA(CAUCHY, 2)

static void block_HALFCAUCHY(const DrawSource *source, const Params *params, double *out, int64_t n)
{
    double angles[ROOM];

    for (int64_t j = 0; j < n; j++) {
        angles[j] = pi / 2 * draw_uniform(source);
    }
    apply(source->function, angles, out, n);
    scale_and_shift(params, 0, 1, out, n);
}
FORMULA(HALFCAUCHY, 2)

static void block_GUMBEL(const DrawSource *source, const Params *params, double *out, int64_t n)
{
    double x[ROOM], logs[ROOM];

    for (int64_t j = 0; j < n; j++) {
        x[j] = draw_uniform(source);
    }
    apply(source->function, x, logs, n);
    for (int64_t j = 0; j < n; j++) {
        x[j] = -logs[j];
    }
    apply(source->function, x, logs, n);
    for (int64_t j = 0; j < n; j++) {
        out[j] = -logs[j];
    }
    scale_and_shift(params, 0, 1, out, n);
}
FORMULA(GUMBEL, 2)

/* ---- shapes ---- */

/* b, scale */
static void block_PARETO(const DrawSource *source, const Params *params, double *out, int64_t n)
{
    double x[ROOM], exponents[ROOM];

    for (int64_t j = 0; j < n; j++) {
        x[j] = 1 - draw_uniform(source);
        exponents[j] = -1 / param(params, 0, j);
    }
    raise_to(source->function, x, exponents, out, n);
    for (int64_t j = 0; j < n; j++) {
        out[j] *= param(params, 1, j);
    }
}
FORMULA(PARETO, 2)

/* Rounds where the parameter i of the element, an int64, is not 0. */
static double round_if(const Params *params, int i, int64_t j, double x)
{
    int64_t is_single = *(const int64_t *)(const void *)(params->at[i] + j * params->strides[i]);

    return is_single != 0 ? (double)(float)x : x;
}

/* b, loc, scale, single */
static void block_TRUNCEXPON(const DrawSource *source, const Params *params, double *out, int64_t n)
{
    double x[ROOM], ends[ROOM];

    for (int64_t j = 0; j < n; j++) {
        x[j] = -param(params, 0, j);
    }
    apply(source->function2, x, ends, n);
    for (int64_t j = 0; j < n; j++) {
        x[j] = draw_uniform(source) * round_if(params, 3, j, ends[j]);
    }
    apply(source->function, x, ends, n);
    for (int64_t j = 0; j < n; j++) {
        out[j] = -ends[j];
    }
    scale_and_shift(params, 1, 2, out, n);
}
FORMULA(TRUNCEXPON, 4)

/* alpha, p, lambd, single */
static void block_GENGAMMA(const DrawSource *source, const Params *params, double *out, int64_t n)
{
    double (*standard_gamma)(BitGen *, double) = (double (*)(BitGen *, double))source->function;
    double x[ROOM], exponents[ROOM];

    for (int64_t j = 0; j < n; j++) {
        double p = param(params, 1, j);

        x[j] = standard_gamma(source->bitgen, round_if(params, 3, j, param(params, 0, j) / p));
        exponents[j] = 1 / p;
    }
    raise_to(source->function2, x, exponents, out, n);
    for (int64_t j = 0; j < n; j++) {
        out[j] *= param(params, 2, j);
    }
}
FORMULA(GENGAMMA, 4)

/* ---- SciPy's ---- */

/* shape, scale */
static void block_INVGAMMA(const DrawSource *source, const Params *params, double *out, int64_t n)
{
    double (*inverse)(double, double, int) = (double (*)(double, double, int))source->function;

    for (int64_t j = 0; j < n; j++) {
        out[j] = 1 / inverse(param(params, 0, j), draw_uniform(source), 0) * param(params, 1, j);
    }
}
FORMULA(INVGAMMA, 2)
