/* Checks of the parameters of distributions, as NumPy makes them and with its words.
 *
 * NumPy has two forms of each check, which differ in messages and sometimes in order: one for parameters that are all
 * scalars, one for arrays as soon as one of them is an array. Rows marked SCIPY, RATE, RATIO or BETAS are checked as scipy.stats
 * checks. Relies on: walk, dists.def. Relied on by: draw.c. */
#include "random/params.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "random/steps.h"
#include "random/walk.h"

typedef struct ParamsRow {
    const char *kinds;
    int n_params;
    Checker checker;
    const char *checks, *words;
} ParamsRow;

static const ParamsRow rows[N_DISTS] = {
#define DIST(NAME, name, source, kinds, ndim_supp, dtype, params, step, symbol, symbol2, checker, checks, words, ...) \
    {kinds, sizeof(kinds) - 1, CHECKER_##checker, checks, words},
#include "random/dists.def"
#undef DIST
};

#define DIST(NAME, name, source, kinds, ndim_supp, dtype, params, step, symbol, symbol2, checker, checks, ...) \
    _Static_assert(sizeof(kinds) == sizeof(checks) && sizeof(kinds) <= DRAW_MAX_PARAMS + 1, "checks of " name);
#include "random/dists.def"
#undef DIST

/* The largest rate that NumPy lets poisson take: the largest int64 less ten times its square root. */
static const double largest_rate = 9.223372006484771e18;

/* Whether single parameters are refused with scipy's message. */
static bool is_scipys(const ParamsRow *row)
{
    return row->checker == CHECKER_SCIPY || row->checker == CHECKER_RATE || row->checker == CHECKER_RATIO || row->checker == CHECKER_BETAS;
}

int params_poll(DrawPoll poll, Status *status)
{
    return poll.ask != NULL && poll.ask(poll.self) != 0 ? status_fail(status, STATUS_INTERRUPTED) : 0;
}

static double read_param(char kind, const char *at)
{
    return kind == 'l' ? (double)*(const int64_t *)(const void *)at : *(const double *)(const void *)at;
}

static bool is_refused(char check, double x)
{
    switch (check) {
    case '+':
        return signbit(x) && !isnan(x);
    case '>':
        return x <= 0.0;
    case '0':
        return x < 0.0;
    case 'p':
        return !(x >= 0.0 && x <= 1.0);
    case 'q':
        return !(x > 0.0 && x <= 1.0);
    case 'r':
        return !(x >= 0.0 && x <= largest_rate);
    case '1':
        return !(x > 1.0);
    case 'P':
        return !(x > 0.0);
    case 'N':
        return !(x >= 0.0);
    default:
        return false;
    }
}

/* ---- messages ---- */

static int refuse_as_scipy(const char *law, Status *status)
{
    char text[STATUS_TEXT_BYTES];

    (void)snprintf(text, sizeof text,
                   "Domain error in arguments. The `scale` parameter must be positive for all distributions, and many distributions have "
                   "restrictions on shape parameters. Please see the `scipy.stats.%s` documentation for details.",
                   law);
    return status_fail_text(status, STATUS_LAW, text);
}

/* The i-th of words that are separated by single spaces. */
static void find_word(const char *words, int i, char *word, size_t room)
{
    for (; i > 0 && *words != '\0'; words++) {
        i -= *words == ' ';
    }
    (void)snprintf(word, room, "%.*s", (int)strcspn(words, " "), words);
}

/* Says what NumPy says of parameter i; x is the value refused (of an array: NaN when any is beyond the largest rate). */
static int refuse(const ParamsRow *row, int i, double x, bool is_array, Status *status)
{
    char word[32], text[STATUS_TEXT_BYTES];
    const char *w = word;
    size_t n = sizeof text;

    if (is_scipys(row)) {
        return refuse_as_scipy(row->words, status);
    }
    find_word(row->words, i, word, sizeof word);
    switch (row->checks[i]) {
    case '+':
    case '0':
        (void)snprintf(text, n, "%s < 0", w);
        break;
    case '>':
        (void)snprintf(text, n, "%s <= 0", w);
        break;
    case 'p':
        (void)snprintf(text, n, "%s < 0, %s > 1 or %s %s", w, w, w, is_array ? "contains NaNs" : "is NaN");
        break;
    case 'q':
        (void)snprintf(text, n, "%s <= 0, %s > 1 or %s contains NaNs", w, w, w);
        break;
    case '1':
        (void)snprintf(text, n, "%s <= 1 or %s %s", w, w, is_array ? "contains NaNs" : "is NaN");
        break;
    default:
        if (is_array ? !(x <= largest_rate) : x > largest_rate) {
            (void)snprintf(text, n, "%s value too large", w);
        } else {
            (void)snprintf(text, n, "%s < 0 or %s %s", w, w, is_array ? "contains NaNs" : "is NaN");
        }
        break;
    }
    return status_fail_text(status, STATUS_DOMAIN, text);
}

static int refuse_range(bool is_finite, bool is_array, Status *status)
{
    if (is_finite) {
        return status_fail_text(status, STATUS_DOMAIN, "high - low < 0");
    }
    return status_fail_text(status, STATUS_OVERFLOW, is_array ? "Range exceeds valid bounds" : "high - low range exceeds valid bounds");
}

static int refuse_bounds(bool low_is_zero, Status *status)
{
    return status_fail_text(status, STATUS_DOMAIN, low_is_zero ? "high <= 0" : "low >= high");
}

/* ---- rules ---- */

/* How parameters must stand to each other: parameters that break it are refused with that text (NULL: scipy's), arrays
 * with one of their own where there is one. */
typedef struct Rule {
    const char *text, *array_text;
    bool (*is_broken)(const char *const *at);
    int n;
    int params[3];
} Rule;

/* Those of a checker, in NumPy's order, before or after the checks of single parameters. */
typedef struct Rules {
    bool come_after;
    int n;
    Rule rules[3];
} Rules;

/* NumPy takes no urn with more of one kind. */
static const int64_t largest_urn = 1000000000;

static double double_at(const char *at) { return *(const double *)(const void *)at; }

static int64_t integer_at(const char *at) { return *(const int64_t *)(const void *)at; }

static bool is_above(const char *const *at) { return double_at(at[0]) > double_at(at[1]); }

static bool is_equal(const char *const *at) { return double_at(at[0]) == double_at(at[1]); }

static bool is_large_urn(const char *const *at) { return integer_at(at[0]) >= largest_urn; }

/* The sum wraps, as NumPy's does. */
static bool is_overdrawn(const char *const *at)
{
    return (int64_t)((uint64_t)integer_at(at[0]) + (uint64_t)integer_at(at[1])) < integer_at(at[2]);
}

/* A rate that negative_binomial would hand to poisson, at most. */
static bool is_large_rate(const char *const *at)
{
    double n = double_at(at[0]), p = double_at(at[1]);

    return (1 - p) / p * (n + 10 * sqrt(n)) > largest_rate;
}

/* A shape alpha / p, rounded where that is told, that is not above 0; or no p to divide by. */
static bool is_bad_ratio(const char *const *at)
{
    double ratio = double_at(at[0]) / double_at(at[1]);

    return !((integer_at(at[2]) != 0 ? (double)(float)ratio : ratio) > 0.0) || double_at(at[1]) == 0.0;
}

/* The beta of an infinite first shape is NaN, which binomial refuses. */
static bool is_infinite(const char *const *at) { return isinf(double_at(at[0])); }

static const Rules all_rules[N_CHECKERS] = {
    [CHECKER_TRIANGLE] = {false, 3, {{"left > mode", NULL, is_above, 2, {0, 1}}, {"mode > right", NULL, is_above, 2, {1, 2}},
                                     {"left == right", NULL, is_equal, 2, {0, 2}}}},
    [CHECKER_URN] = {false, 3, {{"both ngood and nbad must be less than 1000000000", NULL, is_large_urn, 1, {0}},
                                {"both ngood and nbad must be less than 1000000000", NULL, is_large_urn, 1, {1}},
                                {"ngood + nbad < nsample", NULL, is_overdrawn, 3, {0, 1, 2}}}},
    [CHECKER_RATE] = {true, 1, {{"n too large or p too small, see Generator.negative_binomial Notes", NULL, is_large_rate, 2, {0, 1}}}},
    [CHECKER_RATIO] = {true, 1, {{NULL, NULL, is_bad_ratio, 3, {0, 1, 3}}}},
    [CHECKER_BETAS] = {true, 1, {{"p < 0, p > 1 or p is NaN", "p < 0, p > 1 or p contains NaNs", is_infinite, 1, {1}}}},
};

static int refuse_broken(const ParamsRow *row, const Rule *rule, bool is_array, Status *status)
{
    const char *text = is_array && rule->array_text != NULL ? rule->array_text : rule->text;

    return text == NULL ? refuse_as_scipy(row->words, status) : status_fail_text(status, STATUS_DOMAIN, text);
}

/* ---- scalars ---- */

static int check_scalar_rules(const ParamsRow *row, bool after, const char *const *params, Status *status)
{
    const Rules *rules = &all_rules[row->checker];

    for (int i = 0; rules->come_after == after && i < rules->n; i++) {
        const Rule *rule = &rules->rules[i];
        const char *at[3];

        for (int k = 0; k < rule->n; k++) {
            at[k] = params[rule->params[k]];
        }
        if (rule->is_broken(at)) {
            return refuse_broken(row, rule, false, status);
        }
    }
    return 0;
}

static int check_scalar(const ParamsRow *row, int i, const char *at, Status *status)
{
    double x;

    if (row->checks[i] == '.') {
        return 0;
    }
    x = read_param(row->kinds[i], at);
    return is_refused(row->checks[i], x) ? refuse(row, i, x, false, status) : 0;
}

static int check_scalar_range(const char *const *params, Status *status)
{
    double range = read_param('d', params[1]) - read_param('d', params[0]);

    return !isfinite(range) || signbit(range) ? refuse_range(isfinite(range), false, status) : 0;
}

static int check_scalar_bounds(const char *const *params, Status *status)
{
    int64_t low = *(const int64_t *)(const void *)params[0], high = *(const int64_t *)(const void *)params[1];

    return low >= high ? refuse_bounds(low == 0, status) : 0;
}

int params_check_scalars(int dist, const char *const *params, Status *status)
{
    const ParamsRow *row = &rows[dist];

    switch (row->checker) {
    case CHECKER_RANGE:
        return check_scalar_range(params, status);
    case CHECKER_BOUNDS:
        return check_scalar_bounds(params, status);
    case CHECKER_LAST_FIRST:
        for (int i = row->n_params - 1; i >= 0; i--) {
            if (check_scalar(row, i, params[i], status) < 0) {
                return -1;
            }
        }
        return 0;
    default:
        if (check_scalar_rules(row, false, params, status) < 0) {
            return -1;
        }
        for (int i = 0; i < row->n_params; i++) {
            if (check_scalar(row, i, params[i], status) < 0) {
                return -1;
            }
        }
        return check_scalar_rules(row, true, params, status);
    }
}

/* ---- arrays ---- */

/* Looks through the elements of one parameter. *found: whether one is refused; *worst: the value that decides the
 * message, one beyond the largest rate (or NaN) before others. */
static int look_through(char check, char kind, const Array *param, DrawPoll poll, bool *found, double *worst, Status *status)
{
    const int skip = 0;
    Walk walk;
    int64_t n;

    *found = false;
    walk_init(&walk, param->ndim, param->shape, 1, param, &skip);
    while ((n = walk_piece(&walk, POLL_ELEMENTS)) > 0) {
        for (int64_t j = 0; j < n; j++) {
            double x = read_param(kind, walk.at[0] + j * walk_strides(&walk)[0]);

            if (is_refused(check, x) && (!*found || !(x <= largest_rate))) {
                *found = true;
                *worst = x;
            }
        }
        walk_advance(&walk, n);
        if (n == POLL_ELEMENTS && params_poll(poll, status) < 0) {
            return -1;
        }
    }
    return 0;
}

static int check_array(const ParamsRow *row, int i, const Array *param, DrawPoll poll, Status *status)
{
    bool found = false;
    double worst = 0.0;

    if (row->checks[i] == '.') {
        return 0;
    }
    if (look_through(row->checks[i], row->kinds[i], param, poll, &found, &worst, status) < 0) {
        return -1;
    }
    return found ? refuse(row, i, worst, true, status) : 0;
}

/* The shape to which n arrays, found to be compatible, broadcast. */
static int find_shape(int n, const Array *params, int64_t *shape)
{
    int ndim = 0;

    for (int i = 0; i < n; i++) {
        ndim = params[i].ndim > ndim ? params[i].ndim : ndim;
    }
    for (int axis = 0; axis < ndim; axis++) {
        shape[axis] = 1;
        for (int i = 0; i < n; i++) {
            int own = axis - (ndim - params[i].ndim);

            if (own >= 0 && params[i].shape[own] != 1) {
                shape[axis] = params[i].shape[own];
            }
        }
    }
    return ndim;
}

/* For a pair of bounds: whether some range is infinite or NaN, some negative, some low not below its high. */
typedef struct Pairs {
    bool has_infinite, has_negative, has_empty;
} Pairs;

static void look_at_pair(Pairs *pairs, bool is_integer, const char *low_at, const char *high_at)
{
    if (is_integer) {
        pairs->has_empty |= *(const int64_t *)(const void *)low_at >= *(const int64_t *)(const void *)high_at;
    } else {
        double range = read_param('d', high_at) - read_param('d', low_at);

        pairs->has_infinite |= !isfinite(range);
        pairs->has_negative |= signbit(range) != 0;
    }
}

static int look_at_pairs(Pairs *pairs, bool is_integer, const Array *params, DrawPoll poll, Status *status)
{
    const int skip[2] = {0, 0};
    int64_t shape[ARRAY_MAX_NDIM], n;
    int ndim = find_shape(2, params, shape);
    Walk walk;

    walk_init(&walk, ndim, shape, 2, params, skip);
    while ((n = walk_piece(&walk, POLL_ELEMENTS)) > 0) {
        const int64_t *strides = walk_strides(&walk);

        for (int64_t j = 0; j < n; j++) {
            look_at_pair(pairs, is_integer, walk.at[0] + j * strides[0], walk.at[1] + j * strides[1]);
        }
        walk_advance(&walk, n);
        if (n == POLL_ELEMENTS && params_poll(poll, status) < 0) {
            return -1;
        }
    }
    return 0;
}

static bool is_all_zero(const Array *integers)
{
    const int skip = 0;
    Walk walk;
    int64_t n;

    walk_init(&walk, integers->ndim, integers->shape, 1, integers, &skip);
    while ((n = walk_piece(&walk, INT64_MAX)) > 0) {
        for (int64_t j = 0; j < n; j++) {
            if (*(const int64_t *)(const void *)(walk.at[0] + j * walk_strides(&walk)[0]) != 0) {
                return false;
            }
        }
        walk_advance(&walk, n);
    }
    return true;
}

static int check_array_pairs(const ParamsRow *row, const Array *params, DrawPoll poll, Status *status)
{
    bool is_integer = row->checker == CHECKER_BOUNDS;
    Pairs pairs = {false, false, false};

    if (look_at_pairs(&pairs, is_integer, params, poll, status) < 0) {
        return -1;
    }
    if (pairs.has_empty) {
        return refuse_bounds(is_all_zero(&params[0]), status);
    }
    return pairs.has_infinite || pairs.has_negative ? refuse_range(!pairs.has_infinite, true, status) : 0;
}

/* Looks whether any elements, of the arrays' common shape, break a rule. */
static int look_for_broken(const Rule *rule, const Array *params, DrawPoll poll, bool *found, Status *status)
{
    const int skip[3] = {0, 0, 0};
    int64_t shape[ARRAY_MAX_NDIM], n;
    int ndim = find_shape(rule->n, params, shape);
    const char *at[3] = {NULL};
    Walk walk;

    *found = false;
    walk_init(&walk, ndim, shape, rule->n, params, skip);
    while (!*found && (n = walk_piece(&walk, POLL_ELEMENTS)) > 0) {
        for (int64_t j = 0; j < n; j++) {
            for (int i = 0; i < rule->n; i++) {
                at[i] = walk.at[i] + j * walk_strides(&walk)[i];
            }
            *found |= rule->is_broken(at);
        }
        walk_advance(&walk, n);
        if (n == POLL_ELEMENTS && params_poll(poll, status) < 0) {
            return -1;
        }
    }
    return 0;
}

static int check_array_rules(const ParamsRow *row, bool after, const Array *params, DrawPoll poll, Status *status)
{
    const Rules *rules = &all_rules[row->checker];

    for (int i = 0; rules->come_after == after && i < rules->n; i++) {
        const Rule *rule = &rules->rules[i];
        Array operands[3];
        bool found;

        for (int k = 0; k < rule->n; k++) {
            operands[k] = params[rule->params[k]];
        }
        if (look_for_broken(rule, operands, poll, &found, status) < 0) {
            return -1;
        }
        if (found) {
            return refuse_broken(row, rule, true, status);
        }
    }
    return 0;
}

static int check_arrays(const ParamsRow *row, const Array *params, bool is_empty, DrawPoll poll, Status *status)
{
    if (row->checker == CHECKER_RANGE || row->checker == CHECKER_BOUNDS) {
        return check_array_pairs(row, params, poll, status);
    }
    for (int i = 0; is_scipys(row) && i < row->n_params; i++) {
        if (array_size(&params[i]) == 0) {
            return 0; /* scipy asks all elements of the parameters' common shape, of which there are none */
        }
    }
    if (check_array_rules(row, false, params, poll, status) < 0) {
        return -1;
    }
    for (int i = 0; i < row->n_params; i++) {
        int k = row->checker == CHECKER_LAST_FIRST ? row->n_params - 1 - i : i;

        if (check_array(row, k, &params[k], poll, status) < 0) {
            return -1;
        }
    }
    if (row->checker == CHECKER_BETAS && is_empty) {
        return 0; /* binomial is asked for nothing */
    }
    return check_array_rules(row, true, params, poll, status);
}

/* Whether the parameters are checked as arrays: those of laws whose second draw has an array of the first for a parameter
 * are, as soon as an array is asked for. */
static bool is_for_arrays(const ParamsRow *row, const Array *dst, const Array *params)
{
    int ndim = row->checker == CHECKER_BETAS ? dst->ndim : 0;

    for (int i = 0; i < row->n_params; i++) {
        ndim += params[i].ndim;
    }
    return ndim > 0;
}

int draw_check(int dist, const Array *dst, const Array *params, DrawPoll poll, Status *status)
{
    const ParamsRow *row = &rows[dist];
    const char *at[DRAW_MAX_PARAMS] = {NULL};
    bool is_batch = false, is_empty = array_size(dst) == 0;

    if (row->checker == CHECKER_BOUNDS && is_empty) {
        return 0; /* NumPy returns before it looks at the bounds */
    }
    for (int i = 0; i < row->n_params; i++) {
        at[i] = params[i].data;
        is_batch |= dist_batch_ndim(dist, i, params[i].ndim) > 0;
    }
    if (is_batch && is_empty && dist_ndim_supp(dist) > 0) {
        return 0; /* one call of NumPy's for each draw, of which there are none */
    }
    if (row->checker == CHECKER_OUTCOMES) {
        return vectors_check_outcomes(params, poll, status);
    }
    return is_for_arrays(row, dst, params) ? check_arrays(row, params, is_empty, poll, status) : params_check_scalars(dist, at, status);
}

int draw_check_law(int dist, const Array *params, DrawPoll poll, Status *status)
{
    const Array single = {.ndim = 0};

    if (!is_scipys(&rows[dist]) || draw_check(dist, &single, params, poll, status) == 0) {
        return 0;
    }
    if (status->code != STATUS_DOMAIN) {
        return -1;
    }
    status_clear(status); /* the method has its own words */
    return 0;
}
