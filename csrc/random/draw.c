/* Exact draws: the C functions behind a Generator's methods, element by element in C order.
 *
 * Relies on: walk, dists.def, check_params, steps. Relied on by: vm, bind. */
#include "random/draw.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "random/fast.h"
#include "random/formulas.h"
#include "random/params.h"
#include "random/steps.h"
#include "random/walk.h"

#define PARAM(type, i) (*(const type *)(const void *)params[i])

static bool are_still(const int64_t *strides)
{
    bool is_still = true;

    for (int i = 0; i < DRAW_MAX_PARAMS; i++) {
        is_still &= strides[i] == 0;
    }
    return is_still;
}

/* Parameters that stand still, from where a loop reads them at once: no call of a function can change these. */
static inline void hold_numbers(const char **at, uint64_t *held)
{
    for (int i = 0; i < DRAW_MAX_PARAMS; i++) {
        memcpy(&held[i], at[i], sizeof held[i]);
        at[i] = (const char *)&held[i];
    }
}
static inline void hold_nothing(const char **at, uint64_t *held) { (void)at, (void)held; }

/* The loop and the single draw of a step, from its element function. Addresses that do not move are not computed again. */
#define STEP_FROM_ELEMENT(NAME, type, hold)                                                                                      \
    static int step_##NAME(const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n)    \
    {                                                                                                                        \
        type *to = (type *)(void *)out;                                                                                      \
        const DrawSource from = *source; /* which no store can change */                                                     \
        const char *at[DRAW_MAX_PARAMS] = {params[0], params[1], params[2], params[3]};                                      \
                                                                                                                             \
        if (n == 1) {                                                                                                        \
            to[0] = element_##NAME(source, params);                                                                          \
            return 0;                                                                                                        \
        }                                                                                                                    \
        if (are_still(strides)) {                                                                                            \
            uint64_t held[DRAW_MAX_PARAMS];                                                                                  \
                                                                                                                             \
            hold_##hold(at, held);                                                                                           \
            for (int64_t j = 0; j < n; j++) {                                                                                \
                to[j] = element_##NAME(&from, at);                                                                           \
            }                                                                                                                \
            return 0;                                                                                                        \
        }                                                                                                                    \
        for (int64_t j = 0; j < n; j++) {                                                                                    \
            for (int i = 0; i < DRAW_MAX_PARAMS; i++) {                                                                      \
                at[i] = params[i] + j * strides[i];                                                                          \
            }                                                                                                                \
            to[j] = element_##NAME(&from, at);                                                                               \
        }                                                                                                                    \
        return 0;                                                                                                            \
    }                                                                                                                        \
                                                                                                                             \
    static inline void one_step_##NAME(const DrawSource *source, const char *const *params, char *out)                           \
    {                                                                                                                        \
        *(type *)(void *)out = element_##NAME(source, params);                                                               \
    }

/* A step function: `type` of the result, `signature` of NumPy's function, `call` of it for the element's parameters. */
#define STEP(NAME, type, signature, call)                                                                                    \
    static inline type element_##NAME(const DrawSource *source, const char *const *params)                                       \
    {                                                                                                                        \
        type(*function) signature = (type(*) signature)source->function;                                                     \
                                                                                                                             \
        return call;                                                                                                         \
    }                                                                                                                        \
    STEP_FROM_ELEMENT(NAME, type, numbers)

STEP(D_D, double, (BitGen *, double), function(source->bitgen, PARAM(double, 0)))
STEP(D_DD, double, (BitGen *, double, double), function(source->bitgen, PARAM(double, 0), PARAM(double, 1)))
STEP(D_DDD, double, (BitGen *, double, double, double), function(source->bitgen, PARAM(double, 0), PARAM(double, 1), PARAM(double, 2)))
STEP(L_D, int64_t, (BitGen *, double), function(source->bitgen, PARAM(double, 0)))
STEP(L_DD, int64_t, (BitGen *, double, double), function(source->bitgen, PARAM(double, 0), PARAM(double, 1)))
STEP(L_LLL, int64_t, (BitGen *, int64_t, int64_t, int64_t), function(source->bitgen, PARAM(int64_t, 0), PARAM(int64_t, 1), PARAM(int64_t, 2)))
/* low and the range */
STEP(UNIFORM, double, (BitGen *, double, double), function(source->bitgen, PARAM(double, 0), PARAM(double, 1) - PARAM(double, 0)))
/* offset, range, mask (only for the masked method, which a Generator does not use); unsigned and wrapping */
STEP(INTEGERS, int64_t, (BitGen *, uint64_t, uint64_t, uint64_t, bool),
     function(source->bitgen, PARAM(uint64_t, 0), PARAM(uint64_t, 1) - 1 - PARAM(uint64_t, 0), 0, false))
/* p, n and what was remembered of the last p and n */
STEP(BINOMIAL, int64_t, (BitGen *, double, int64_t, void *), function(source->bitgen, PARAM(double, 1), PARAM(int64_t, 0), source->memo))
STEP(BERNOULLI, int64_t, (BitGen *, double, int64_t, void *), function(source->bitgen, PARAM(double, 0), 1, source->memo))
STEP(HALFNORMAL, double, (BitGen *), fabs(function(source->bitgen)) * PARAM(double, 1) + PARAM(double, 0))
/* degrees of freedom */
STEP(T, double, (BitGen *, double), function(source->bitgen, PARAM(double, 0)) * PARAM(double, 2) + PARAM(double, 1))

/* n, and the shapes of the beta that gives p; of an array the betas come first (draw_fill) */
static inline double element_BETAS(const DrawSource *source, const char *const *params)
{
    double (*beta)(BitGen *, double, double) = (double (*)(BitGen *, double, double))source->function;

    return beta(source->bitgen, PARAM(double, 1), PARAM(double, 2));
}

static inline int64_t draw_binomial(const DrawSource *source, double p, const char *const *params)
{
    int64_t (*binomial)(BitGen *, double, int64_t, void *) = (int64_t (*)(BitGen *, double, int64_t, void *))source->function2;

    return binomial(source->bitgen, p, PARAM(int64_t, 0), source->memo);
}

static inline int64_t element_BETA_BINOMIAL(const DrawSource *source, const char *const *params)
{
    return draw_binomial(source, element_BETAS(source, params), params);
}
STEP_FROM_ELEMENT(BETA_BINOMIAL, int64_t, numbers)

/* The probabilities, to where the draws will be. */
static int step_BETAS(const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        const char *const at[3] = {params[0], params[1] + j * strides[1], params[2] + j * strides[2]};
        double p = element_BETAS(source, at);

        memcpy(out + j * (int64_t)sizeof p, &p, sizeof p);
    }
    return 0;
}

static int step_BINOMIALS(const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        const char *const at[1] = {params[0] + j * strides[0]};
        char *here = out + j * (int64_t)sizeof(double);
        double p;
        int64_t drawn;

        memcpy(&p, here, sizeof p);
        drawn = draw_binomial(source, p, at);
        memcpy(here, &drawn, sizeof drawn);
    }
    return 0;
}

static double category_at(const DrawSource *source, const char *row, int64_t i)
{
    return *(const double *)(const void *)(row + i * source->category_stride);
}

/* Running sum of the first n + 1 probabilities, from the first on. */
static double sum_up_to(const DrawSource *source, const char *row, int64_t n)
{
    double sum = category_at(source, row, 0);

    for (int64_t i = 1; i <= n; i++) {
        sum += category_at(source, row, i);
    }
    return sum;
}

/* What bisection finds in running sums that may fall: as np.searchsorted goes, halves from the middle. */
static int64_t bisect_category(const DrawSource *source, const char *row, double u)
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
static int64_t find_category(const DrawSource *source, const char *row, double u)
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

static int64_t choose_category(const DrawSource *source, const char *row, double u)
{
    return source->has_negative ? bisect_category(source, row, u) : find_category(source, row, u);
}

/* One uniform number for each element, by the generator's own next_double. */
static int64_t element_CATEGORICAL(const DrawSource *source, const char *const *params)
{
    return choose_category(source, params[0], source->bitgen->next_double(source->bitgen->state));
}
STEP_FROM_ELEMENT(CATEGORICAL, int64_t, nothing)

/* The loop and the single draw of a formula (formulas.h). */
#define STEP_FROM_FORMULA(NAME)                                                                                              \
    static int step_##NAME (const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n)\
    {                                                                                                                        \
        formula_##NAME(source, params, strides, out, n);                                                                     \
        return 0;                                                                                                            \
    }                                                                                                                        \
                                                                                                                             \
    static inline void one_step_##NAME(const DrawSource *source, const char *const *params, char *out)                       \
    {                                                                                                                        \
        one_of_formula(formula_##NAME, source, params, out);                                                                 \
    }

/* Single draws come with the addresses of the row's parameters alone. */
static void one_of_formula(DrawFormula formula, const DrawSource *source, const char *const *params, char *out)
{
    static const int64_t strides[DRAW_MAX_PARAMS] = {0};

    formula(source, params, strides, out, 1);
}

STEP_FROM_FORMULA(CAUCHY)
STEP_FROM_FORMULA(HALFCAUCHY)
STEP_FROM_FORMULA(GUMBEL)
STEP_FROM_FORMULA(PARETO)
STEP_FROM_FORMULA(TRUNCEXPON)
STEP_FROM_FORMULA(GENGAMMA)
STEP_FROM_FORMULA(INVGAMMA)

/* Rows that are not drawn element by element: by the generator's method (dists_have says so), by positions.c or
 * normals.c, as vectors. */
#define NO_ELEMENT(NAME)                                                                                                     \
    static inline void one_step_##NAME(const DrawSource *source, const char *const *params, char *out)                           \
    {                                                                                                                        \
        (void)source, (void)params, (void)out;                                                                               \
    }
NO_ELEMENT(METHOD)
NO_ELEMENT(POSITIONS)
NO_ELEMENT(PERMUTATION)
NO_ELEMENT(NORMALS)
NO_ELEMENT(DIRICHLET)
NO_ELEMENT(MULTINOMIAL)
#define step_METHOD NULL
#define step_POSITIONS NULL
#define step_PERMUTATION NULL
#define step_NORMALS NULL

static const DrawStep steps[N_DISTS] = {
#define DIST(NAME, name, source, kinds, ndim_supp, dtype, params, step, ...) step_##step,
#include "random/dists.def"
#undef DIST
};

/* Whether a scalar parameter is good at first sight: above 0 (or 1, where that is asked) and not above 1 (probabilities)
 * or 10^18, which every check of that letter allows. Kind and check are constants where this is inlined. */
static inline bool is_plain(char kind, char check, const char *at)
{
    double x;

    if (check == '.' || check == '\0') {
        return true;
    }
    x = kind == 'l' ? (double)*(const int64_t *)(const void *)at : *(const double *)(const void *)at;
    return x > (check == '1' ? 1.0 : 0.0) && x <= (check == 'p' || check == 'q' ? 1.0 : 1e18);
}

/* The same for how parameters stand to each other: a finite range above 0, a low below its high. Other rules are for params.c. */
static inline bool is_plain_together(Checker checker, const char *const *params)
{
    switch (checker) {
    case CHECKER_RANGE: {
        double range = PARAM(double, 1) - PARAM(double, 0);

        return range > 0.0 && range <= DBL_MAX;
    }
    case CHECKER_BOUNDS:
        return PARAM(int64_t, 0) < PARAM(int64_t, 1);
    case CHECKER_BETAS:
        return PARAM(double, 1) <= DBL_MAX;
    default:
        return checker != CHECKER_TRIANGLE && checker != CHECKER_URN && checker != CHECKER_RATE && checker != CHECKER_RATIO;
    }
}

/* In test builds, after a draw: a word too many, or the lowest bit of its first number changed. */
#ifdef PYSCAN_TEST_BUILD
static void spoil(const Dists *dists, int dist, int form, Stream *stream, char *first)
{
    Spoil how = dists->spoilt[dist];

    if ((how & form) == 0 || first == NULL) {
        return;
    }
    if (how & SPOIL_WORD) {
        (void)stream->bitgen->next_uint64(stream->bitgen->state);
    }
    if (how & SPOIL_VALUE) {
        *first ^= 1;
    }
}
#define SPOIL(dists, dist, form, stream, first) spoil(dists, dist, form, stream, first)
#else
#define SPOIL(dists, dist, form, stream, first) ((void)0)
#endif

#define IS_PLAIN(kinds, checks, i) (sizeof(checks) <= (i) + 1 || is_plain(kinds[(i) % sizeof(kinds)], checks[(i) % sizeof(checks)], params[i]))

/* A function for each distribution: what is constant in its row costs nothing in the step loop. Parameters that are not
 * plain take the long way through params.c. */
#define DIST(NAME, name, source, kinds, ndim_supp, dtype, params_text, step, symbol, symbol2, checker, checks, ...)          \
    static int one_##NAME(const Dists *dists, Stream *stream, char *dst, const char *const *params, Status *status)          \
    {                                                                                                                        \
        const DrawSource from = {.bitgen = stream->bitgen, .function = dists->functions[DIST_##NAME][0], .function2 = dists->functions[DIST_##NAME][1], .memo = &stream->binomial};\
        bool is_plain_here = is_plain_together(CHECKER_##checker, params) && IS_PLAIN(kinds, checks, 0)                          \
            && IS_PLAIN(kinds, checks, 1) && IS_PLAIN(kinds, checks, 2) && IS_PLAIN(kinds, checks, 3);                       \
                                                                                                                             \
        if (!is_plain_here && params_check_scalars(DIST_##NAME, params, status) < 0) {                                       \
            return -1;                                                                                                       \
        }                                                                                                                    \
        one_step_##step(&from, params, dst);                                                                                 \
        SPOIL(dists, DIST_##NAME, SPOIL_SINGLE, stream, dst);                                                                \
        return 0;                                                                                                            \
    }
#include "random/dists.def"
#undef DIST

typedef int (*DrawOne)(const Dists *dists, Stream *stream, char *dst, const char *const *params, Status *status);

static const DrawOne ones[N_DISTS] = {
#define DIST(NAME, ...) one_##NAME,
#include "random/dists.def"
#undef DIST
};

int draw_one(const Dists *dists, int dist, Stream *stream, char *dst, const char *const *params, Status *status)
{
    return ones[dist](dists, stream, dst, params, status);
}

static const int64_t no_strides[DRAW_MAX_PARAMS] = {0};

/* n draws from parameters that do not move and were checked. */
static int draw_same(const Dists *dists, int dist, const Stream *stream, const DrawSource *source, const char *const *params, char *out, int64_t n)
{
    FastFill fast = fast_fill(dists, dist, stream);

    if (fast != NULL && fast(dists->fast, stream->kind, source, steps[dist], params, out, n)) {
        return 0;
    }
    return steps[dist](source, params, no_strides, out, n);
}

/* The same where they may move. */
static int draw_piece(const Dists *dists, int dist, const Stream *stream, const DrawSource *source, const Walk *walk, char *out, int64_t n)
{
    const int64_t *strides = walk_strides(walk);

    if (memcmp(strides, no_strides, sizeof no_strides) == 0) {
        return draw_same(dists, dist, stream, source, walk->at, out, n);
    }
    return steps[dist](source, walk->at, strides, out, n);
}

int draw_many(const Dists *dists, int dist, Stream *stream, char *dst, int64_t n, const char *const *params, Status *status)
{
    const DrawSource source = {.bitgen = stream->bitgen, .function = dists->functions[dist][0], .function2 = dists->functions[dist][1], .memo = &stream->binomial};
    const char *at[DRAW_MAX_PARAMS];

    if (n == 0) {
        return 0;
    }
    if (params_check_scalars(dist, params, status) < 0) {
        return -1;
    }
    for (int i = 0; i < DRAW_MAX_PARAMS; i++) {
        at[i] = params[i < dist_n_params(dist) ? i : 0];
    }
    return draw_same(dists, dist, stream, &source, at, dst, n);
}

static bool has_negative_along(const char *at, int64_t stride, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        if (*(const double *)(const void *)(at + j * stride) < 0.0) {
            return true;
        }
    }
    return false;
}

static bool has_negative(const Array *p)
{
    const int skip = 0;
    Walk walk;
    int64_t n;

    walk_init(&walk, p->ndim, p->shape, 1, p, &skip);
    while ((n = walk_piece(&walk, INT64_MAX)) > 0) {
        if (has_negative_along(walk.at[0], walk_strides(&walk)[0], n)) {
            return true;
        }
        walk_advance(&walk, n);
    }
    return false;
}

/* Work of one draw in units of some nanoseconds, more for what walks a vector, or is one. */
static int64_t find_cost(const DrawSource *source, int ndim_supp) { return 1 + (ndim_supp > 0 ? source->n_categories : source->n_categories / 16); }

/* Of an array, all elements take the first step before any takes the second. */
static const DrawStep passes[N_DISTS][2] = {[DIST_BETA_BINOMIAL] = {step_BETAS, step_BINOMIALS}};

bool draw_is_in_order(int dist) { return passes[dist][0] == NULL; }

/* Draws all elements, or takes them through one step of several. */
static int fill_in_pass(const Dists *dists, int dist, Stream *stream, const DrawSource *source, DrawStep step, const Array *dst, const Array *params, const int *skip)
{
    int ndim_supp = dist_ndim_supp(dist);
    int64_t n, limit = 1 + POLL_ELEMENTS / find_cost(source, ndim_supp);
    int64_t n_bytes = ndim_supp > 0 ? 8 * source->n_categories : 8; /* of one draw: float64 and int64 alike */
    char *out = dst->data;
    Walk walk;

    walk_init(&walk, dst->ndim - ndim_supp, dst->shape, dist_n_params(dist), params, skip);
    for (int64_t asked = limit; (n = walk_piece(&walk, limit)) > 0; asked -= n) {
        if (asked <= 0) {
            if (params_poll(source->poll, source->status) < 0) {
                return -1;
            }
            asked = limit;
        }
        if ((step != NULL ? step(source, walk.at, walk_strides(&walk), out, n) : draw_piece(dists, dist, stream, source, &walk, out, n)) < 0) {
            return -1;
        }
        out += n * n_bytes;
        walk_advance(&walk, n);
    }
    return 0;
}

static int fill(const Dists *dists, int dist, Stream *stream, const Array *dst, const Array *params, DrawPoll poll, Status *status)
{
    DrawSource source = {.bitgen = stream->bitgen, .function = dists->functions[dist][0], .function2 = dists->functions[dist][1],
                     .memo = &stream->binomial, .poll = poll, .status = status};
    int skip[DRAW_MAX_PARAMS] = {0}, ndim_supp = dist_ndim_supp(dist), n_passes = draw_is_in_order(dist) ? 1 : 2;

    if (draw_check(dist, dst, params, poll, status) < 0) {
        return -1;
    }
    for (int i = 0; i < dist_n_params(dist); i++) {
        skip[i] = dist_param_ndim(dist, i);
        if (skip[i] == 1) {
            source.n_categories = params[i].shape[params[i].ndim - 1];
            source.category_stride = params[i].strides[params[i].ndim - 1];
            source.has_negative = ndim_supp == 0 && has_negative(&params[i]);
        }
    }
    for (int i = 0; i < n_passes; i++) {
        if (fill_in_pass(dists, dist, stream, &source, passes[dist][i], dst, params, skip) < 0) {
            return -1;
        }
    }
    return 0;
}

int64_t draw_find_category(const Array *p, double u)
{
    DrawSource source = {.n_categories = p->shape[0], .category_stride = p->strides[0]};

    source.has_negative = has_negative_along(p->data, p->strides[0], p->shape[0]);
    return choose_category(&source, p->data, u);
}

void draw_category(const Dists *dists, Stream *stream, const Array *p, char *dst)
{
    int64_t drawn = draw_find_category(p, stream->bitgen->next_double(stream->bitgen->state));

    memcpy(dst, &drawn, sizeof drawn);
    SPOIL(dists, DIST_CATEGORICAL, SPOIL_FILLED, stream, dst);
}

static int fill_somehow(const Dists *dists, int dist, Stream *stream, const Array *dst, const Array *params, DrawPoll poll, Status *status)
{
    if (dist == DIST_MULTIVARIATE_NORMAL) {
        return draw_normals(dists, stream, dst, params, poll, status);
    }
    return dist_has_batches(dist) ? fill(dists, dist, stream, dst, params, poll, status)
                                  : draw_positions(dists, dist, stream, dst, params, poll, status);
}

int draw_fill(const Dists *dists, int dist, Stream *stream, const Array *dst, const Array *params, DrawPoll poll, Status *status)
{
    int result = fill_somehow(dists, dist, stream, dst, params, poll, status);

    if (result == 0) {
        SPOIL(dists, dist, SPOIL_FILLED, stream, array_size(dst) == 0 ? NULL : dst->data);
    }
    return result;
}
