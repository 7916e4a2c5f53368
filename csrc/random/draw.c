/* Exact draws: the C functions behind a Generator's methods, element by element in C order.
 *
 * Relies on: walk, dists.def, check_params. Relied on by: vm, bind. */
#include "random/draw.h"

#include <math.h>
#include <string.h>

#include "random/params.h"
#include "random/walk.h"

/* What the step functions need besides the parameters. */
typedef struct Source {
    BitGen *bitgen;
    void *function; /* the running NumPy's, of the type that the step names */
    BinomialMemo *memo;
    int64_t n_categories, category_stride;
    bool has_negative; /* a categorical's probabilities, so that their running sum may fall */
} Source;

/* Draws n elements to out; parameter i of element j is at params[i] + j * strides[i]. */
typedef void (*Step)(const Source *source, const char *const *params, const int64_t *strides, char *out, int64_t n);

#define PARAM(type, i) (*(const type *)(const void *)(params[i] + j * strides[i]))

/* A step function: `type` of the result, `signature` of NumPy's function, `call` of it for element j. */
#define STEP(NAME, type, signature, call)                                                                                          \
    static void step_##NAME(const Source *source, const char *const *params, const int64_t *strides, char *out, int64_t n) \
    {                                                                                                                      \
        type(*function) signature = (type(*) signature)source->function;                                                   \
        type *to = (type *)(void *)out;                                                                                    \
                                                                                                                           \
        for (int64_t j = 0; j < n; j++) {                                                                                  \
            to[j] = call;                                                                                                  \
        }                                                                                                                  \
    }

STEP(D_D, double, (BitGen *, double), function(source->bitgen, PARAM(double, 0)))
STEP(D_DD, double, (BitGen *, double, double), function(source->bitgen, PARAM(double, 0), PARAM(double, 1)))
STEP(L_D, int64_t, (BitGen *, double), function(source->bitgen, PARAM(double, 0)))
/* low and the range */
STEP(UNIFORM, double, (BitGen *, double, double), function(source->bitgen, PARAM(double, 0), PARAM(double, 1) - PARAM(double, 0)))
/* p, n and what was remembered of the last p and n */
STEP(BINOMIAL, int64_t, (BitGen *, double, int64_t, void *), function(source->bitgen, PARAM(double, 1), PARAM(int64_t, 0), source->memo))
STEP(BERNOULLI, int64_t, (BitGen *, double, int64_t, void *), function(source->bitgen, PARAM(double, 0), 1, source->memo))
STEP(HALFNORMAL, double, (BitGen *), fabs(function(source->bitgen)) * PARAM(double, 1) + PARAM(double, 0))

/* Offset, range, mask (only for the masked method, which a Generator does not use); unsigned and wrapping. */
static void step_INTEGERS(const Source *source, const char *const *params, const int64_t *strides, char *out, int64_t n)
{
    uint64_t (*function)(BitGen *, uint64_t, uint64_t, uint64_t, bool)
        = (uint64_t(*)(BitGen *, uint64_t, uint64_t, uint64_t, bool))source->function;
    int64_t *to = (int64_t *)(void *)out;

    for (int64_t j = 0; j < n; j++) {
        uint64_t low = PARAM(uint64_t, 0), high = PARAM(uint64_t, 1);

        to[j] = (int64_t)function(source->bitgen, low, high - 1 - low, 0, false);
    }
}

static double category_at(const Source *source, const char *row, int64_t i)
{
    return *(const double *)(const void *)(row + i * source->category_stride);
}

/* Running sum of the first n + 1 probabilities, from the first on. */
static double sum_up_to(const Source *source, const char *row, int64_t n)
{
    double sum = category_at(source, row, 0);

    for (int64_t i = 1; i <= n; i++) {
        sum += category_at(source, row, i);
    }
    return sum;
}

/* What bisection finds in running sums that may fall: as np.searchsorted goes, halves from the middle. */
static int64_t bisect_category(const Source *source, const char *row, double u)
{
    int64_t low = 0, high = source->n_categories;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (sum_up_to(source, row, middle) < u) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The first running sum that is not below u: with sums that do not fall (NaN at the end counts as high) that is
 * np.searchsorted(np.cumsum(p), u). */
static int64_t find_category(const Source *source, const char *row, double u)
{
    double sum = 0.0;

    for (int64_t i = 0; i < source->n_categories; i++) {
        sum += category_at(source, row, i);
        if (!(sum < u)) {
            return i;
        }
    }
    return source->n_categories;
}

/* One uniform number for each element, by the generator's own next_double. */
static void step_CATEGORICAL(const Source *source, const char *const *params, const int64_t *strides, char *out, int64_t n)
{
    int64_t *to = (int64_t *)(void *)out;

    for (int64_t j = 0; j < n; j++) {
        const char *row = params[0] + j * strides[0];
        double u = source->bitgen->next_double(source->bitgen->state);

        to[j] = source->has_negative ? bisect_category(source, row, u) : find_category(source, row, u);
    }
}

static const Step steps[N_DISTS] = {
#define DIST(NAME, name, source, kinds, ndim_supp, dtype, params, step, ...) step_##step,
#include "random/dists.def"
#undef DIST
};

int draw_one(const Dists *dists, int dist, Stream *stream, char *dst, const char *const *params, Status *status)
{
    static const int64_t strides[DRAW_MAX_PARAMS] = {0};
    Source source;

    if (params_check_scalars(dist, params, status) < 0) {
        return -1;
    }
    source.bitgen = stream->bitgen;
    source.function = dists->functions[dist][0];
    source.memo = &stream->binomial;
    steps[dist](&source, params, strides, dst, 1);
    return 0;
}

static bool has_negative(const Array *p)
{
    const int skip = 0;
    Walk walk;
    int64_t n;

    walk_init(&walk, p->ndim, p->shape, 1, p, &skip);
    while ((n = walk_piece(&walk, INT64_MAX)) > 0) {
        for (int64_t j = 0; j < n; j++) {
            if (*(const double *)(const void *)(walk.at[0] + j * walk_strides(&walk)[0]) < 0.0) {
                return true;
            }
        }
        walk_advance(&walk, n);
    }
    return false;
}

/* Work of one element in units of some nanoseconds, more for what walks a vector. */
static int64_t find_cost(const Source *source) { return 1 + source->n_categories / 16; }

int draw_fill(const Dists *dists, int dist, Stream *stream, const Array *dst, const Array *params, DrawPoll poll, Status *status)
{
    Source source = {.bitgen = stream->bitgen, .function = dists->functions[dist][0], .memo = &stream->binomial};
    int skip[DRAW_MAX_PARAMS] = {0};
    char *out = dst->data;
    Walk walk;
    int64_t n, limit;

    if (draw_check(dist, array_size(dst), params, poll, status) < 0) {
        return -1;
    }
    for (int i = 0; i < dist_n_params(dist); i++) {
        skip[i] = dist_param_ndim(dist, i);
        if (skip[i] == 1) {
            source.n_categories = params[i].shape[params[i].ndim - 1];
            source.category_stride = params[i].strides[params[i].ndim - 1];
            source.has_negative = has_negative(&params[i]);
        }
    }
    walk_init(&walk, dst->ndim, dst->shape, dist_n_params(dist), params, skip);
    limit = 1 + POLL_ELEMENTS / find_cost(&source);
    for (int64_t asked = limit; (n = walk_piece(&walk, limit)) > 0; asked -= n) {
        if (asked <= 0) {
            if (params_poll(poll, status) < 0) {
                return -1;
            }
            asked = limit;
        }
        steps[dist](&source, walk.at, walk_strides(&walk), out, n);
        out += n * 8; /* float64 and int64 alike */
        walk_advance(&walk, n);
    }
    return 0;
}
