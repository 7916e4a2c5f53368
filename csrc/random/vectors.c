/* Draws that are vectors: dirichlet and multinomial, composed of NumPy's gamma, beta and binomial draws.
 *
 * Relies on: walk, check_params. Relied on by: draw.c, params.c. */
#include "random/steps.h"

#include <string.h>

#include "random/params.h"
#include "random/walk.h"

typedef double (*DrawGamma)(BitGen *, double);
typedef double (*DrawBeta)(BitGen *, double, double);
typedef int64_t (*DrawBinomial)(BitGen *, double, int64_t, void *);

/* Concentrations that are all below this are drawn stick by stick: their gammas might all be 0. */
static const double small_alpha = 0.1;

static double entry(const DrawSource *source, const char *row, int64_t i) { return *(const double *)(const void *)(row + i * source->category_stride); }

static double entry_of(const Array *vectors, const char *row, int64_t i)
{
    return *(const double *)(const void *)(row + i * vectors->strides[vectors->ndim - 1]);
}

/* Now and then in a long vector: -1 to stop. */
static int poll_at(const DrawSource *source, int64_t i)
{
    return i % POLL_ELEMENTS == POLL_ELEMENTS - 1 ? params_poll(source->poll, source->status) : 0;
}

/* ---- dirichlet ---- */

static bool are_small(const DrawSource *source, const char *row)
{
    for (int64_t i = 0; i < source->n_categories; i++) {
        if (!(entry(source, row, i) < small_alpha)) {
            return false;
        }
    }
    return source->n_categories > 0;
}

/* Gammas, over their sum. */
static int draw_shares(const DrawSource *source, const char *row, double *out)
{
    DrawGamma draw = (DrawGamma)source->function;
    int64_t n = source->n_categories;
    double sum = 0.0, scale;

    for (int64_t i = 0; i < n; i++) {
        out[i] = draw(source->bitgen, entry(source, row, i));
        sum += out[i];
        if (poll_at(source, i) < 0) {
            return -1;
        }
    }
    scale = 1.0 / sum;
    for (int64_t i = 0; i < n; i++) {
        out[i] *= scale;
    }
    return 0;
}

/* A stick of length 1: a beta says how much of what is left goes to each share; the rest is the last one's. The sums of the
 * concentrations behind each, from the last on, stand in `out` until the share is drawn. */
static int break_stick(const DrawSource *source, const char *row, double *out)
{
    DrawBeta draw = (DrawBeta)source->function2;
    int64_t n = source->n_categories, i;
    double sum = 0.0, left = 1.0;

    for (i = n - 1; i >= 0; i--) {
        sum += entry(source, row, i);
        out[i] = sum;
    }
    if (sum == 0.0) {
        return 0; /* all shares are 0, as they stand */
    }
    for (i = 0; i < n - 1; i++) {
        double share = draw(source->bitgen, entry(source, row, i), out[i + 1]);
        bool is_last = out[i + 1] == 0.0;

        out[i] = left * share;
        left *= 1.0 - share;
        if (is_last) { /* nothing is left, and what follows is 0 as it stands */
            break;
        }
        if (poll_at(source, i) < 0) {
            return -1;
        }
    }
    out[n - 1] = left;
    return 0;
}

int step_DIRICHLET(const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n)
{
    double *to = (double *)(void *)out;

    for (int64_t j = 0; j < n; j++, to += source->n_categories) {
        const char *row = params[0] + j * strides[0];

        if ((are_small(source, row) ? break_stick(source, row, to) : draw_shares(source, row, to)) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- multinomial ---- */

/* The outcomes one after the other, each a binomial of the trials and the probability that are left. */
static int draw_counts(const DrawSource *source, int64_t trials, const char *row, int64_t *out)
{
    DrawBinomial draw = (DrawBinomial)source->function;
    int64_t n = source->n_categories;
    double left = 1.0;

    memset(out, 0, (size_t)n * sizeof *out);
    for (int64_t i = 0; i < n - 1; i++) {
        double p = entry(source, row, i);

        out[i] = draw(source->bitgen, p / left, trials, source->memo);
        trials -= out[i];
        if (trials <= 0) {
            return 0;
        }
        left -= p;
        if (poll_at(source, i) < 0) {
            return -1;
        }
    }
    if (trials > 0) {
        out[n - 1] = trials;
    }
    return 0;
}

int step_MULTINOMIAL(const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n)
{
    int64_t *to = (int64_t *)(void *)out;

    for (int64_t j = 0; j < n; j++, to += source->n_categories) {
        int64_t trials = *(const int64_t *)(const void *)(params[0] + j * strides[0]);

        if (draw_counts(source, trials, params[1] + j * strides[1], to) < 0) {
            return -1;
        }
    }
    return 0;
}

/* The sum of the first n entries, with the rounding errors made up for, as NumPy adds them up to compare with 1. */
static double sum_entries(const Array *vectors, const char *row, int64_t n)
{
    double sum = n > 0 ? entry_of(vectors, row, 0) : 0.0, error = 0.0;

    for (int64_t i = 1; i < n; i++) {
        double next = entry_of(vectors, row, i) - error, joined = sum + next;

        error = (joined - sum) - next;
        sum = joined;
    }
    return sum;
}

/* NumPy's words where the probabilities but for the last are too many. Of those in float32 it says more, when their own sum
 * is near 1. (It adds up as floats: the last bits of that sum decide nothing where the sum is not just at the limit.) */
static const char *describe_sum(const Array *p, const char *row, bool is_single)
{
    if (is_single && (float)sum_entries(p, row, p->shape[p->ndim - 1]) < 1.0001) {
        return "sum(pvals[:-1].astype(np.float64)) > 1.0. The pvals array is cast to 64-bit floating point prior to checking the sum. "
               "Precision changes when casting may cause problems even if the sum of the original pvals is valid.";
    }
    return "sum(pvals[:-1]) > 1.0";
}

/* What NumPy says of one draw's parameters, or NULL. */
static const char *find_fault(const Array *p, const char *trials, const char *row, bool is_single)
{
    int64_t n = p->shape[p->ndim - 1];

    if (n == 0) {
        return "pvals must have at least 1 dimension and the last dimension of pvals must be greater than 0.";
    }
    for (int64_t i = 0; i < n; i++) {
        if (!(entry_of(p, row, i) >= 0.0 && entry_of(p, row, i) <= 1.0)) {
            return "pvals < 0, pvals > 1 or pvals contains NaNs";
        }
    }
    if (sum_entries(p, row, n - 1) > 1.0 + 1e-12) {
        return describe_sum(p, row, is_single);
    }
    return *(const int64_t *)(const void *)trials < 0 ? "n < 0" : NULL;
}

/* The shape to which the batches of trials and probabilities, found to be compatible, broadcast. */
static int find_batch(const Array *params, int64_t *shape)
{
    int ndims[2] = {params[0].ndim, params[1].ndim - 1}, ndim = ndims[0] > ndims[1] ? ndims[0] : ndims[1];

    for (int axis = 0; axis < ndim; axis++) {
        shape[axis] = 1;
        for (int i = 0; i < 2; i++) {
            int own = axis - (ndim - ndims[i]);

            if (own >= 0 && params[i].shape[own] != 1) {
                shape[axis] = params[i].shape[own];
            }
        }
    }
    return ndim;
}

int vectors_check_outcomes(const Array *params, DrawPoll poll, Status *status)
{
    const int skip[2] = {0, 1};
    int64_t shape[ARRAY_MAX_NDIM], limit = 1 + POLL_ELEMENTS / (1 + params[1].shape[params[1].ndim - 1]), n;
    int ndim = find_batch(params, shape);
    bool is_single = *(const int64_t *)(const void *)params[2].data != 0;
    Walk walk;

    walk_init(&walk, ndim, shape, 2, params, skip);
    while ((n = walk_piece(&walk, limit)) > 0) {
        for (int64_t j = 0; j < n; j++) {
            const char *fault = find_fault(&params[1], walk.at[0] + j * walk_strides(&walk)[0], walk.at[1] + j * walk_strides(&walk)[1], is_single);

            if (fault != NULL) {
                return status_fail_text(status, STATUS_DOMAIN, fault);
            }
        }
        walk_advance(&walk, n);
        if (n == limit && params_poll(poll, status) < 0) {
            return -1;
        }
    }
    return 0;
}
