/* Vectors of normals with a matrix of covariances, as a Generator's multivariate_normal makes them: standard normals times a
 * factor of the matrix, plus the mean.
 *
 * The factor is the host's to find (by NumPy's own decomposition, which takes longer than all else), and is remembered with
 * the matrix it belongs to. The product is taken by the loop of the running NumPy's matmul, with the shapes and the layout
 * that NumPy gives it: which sums it rounds how is known to its library of matrix products alone.
 * Relies on: walk, fast, mem. Relied on by: draw.c, vm (which keeps the factors). */
#include <string.h>

#include "base/mem.h"
#include "random/fast.h"
#include "random/params.h"
#include "random/steps.h"
#include "random/walk.h"

typedef double (*DrawNormal)(BitGen *);

/* Workspace of up to so many bytes is kept for the next draw. */
enum { KEPT_BYTES = 1 << 16 };

struct Factor {
    int64_t n;
    double *cov, *factor; /* n by n, each; the factor is not valid when is_known is false */
    bool is_known;
    double *work;
    size_t work_bytes;
};

void factor_free(Factor *factor)
{
    if (factor != NULL) {
        mem_free(factor->cov);
        mem_free(factor->factor);
        mem_free(factor->work);
        mem_free(factor);
    }
}

bool factor_is_big(const Factor *factor) { return factor->n * factor->n > KEPT_BYTES; }

/* Room for matrices of that size in *kept, of which nothing is known then. */
static Factor *make_factor(Factor **kept, int64_t n, Status *status)
{
    Factor *factor = *kept;
    size_t length = (size_t)n, n_items;

    if (factor != NULL && factor->n == n) {
        return factor;
    }
    factor_free(factor);
    *kept = factor = mem_calloc(1, sizeof *factor);
    if (factor != NULL && mem_mul(length, length, &n_items) == 0) {
        factor->n = n;
        factor->cov = mem_calloc(n_items, sizeof(double));
        factor->factor = mem_calloc(n_items, sizeof(double));
    }
    if (factor == NULL || factor->cov == NULL || factor->factor == NULL) {
        factor_free(factor);
        *kept = NULL;
        (void)status_fail(status, STATUS_NO_MEMORY);
        return NULL;
    }
    return factor;
}

static int make_work(Factor *factor, int64_t n_rows, Status *status)
{
    size_t n_bytes;

    if (mem_mul((size_t)n_rows, (size_t)factor->n * sizeof(double), &n_bytes) < 0) {
        return status_fail(status, STATUS_NO_MEMORY);
    }
    if (n_bytes <= factor->work_bytes) {
        return 0;
    }
    mem_free(factor->work);
    factor->work = mem_alloc(n_bytes);
    factor->work_bytes = factor->work == NULL ? 0 : n_bytes;
    return factor->work == NULL ? status_fail(status, STATUS_NO_MEMORY) : 0;
}

static void drop_big_work(Factor *factor)
{
    if (factor->work_bytes > KEPT_BYTES) {
        mem_free(factor->work);
        factor->work = NULL;
        factor->work_bytes = 0;
    }
}

/* A matrix somewhere, n by n. */
typedef struct Matrix {
    const char *data;
    int64_t row_stride, stride;
} Matrix;

/* Copies the matrix; whether it is, bit for bit, what was there before. */
static bool copy_matrix(double *to, int64_t n, const Matrix *matrix)
{
    bool same = true;

    for (int64_t i = 0; i < n; i++, to += n) {
        const char *row = matrix->data + i * matrix->row_stride;

        if (matrix->stride == (int64_t)sizeof(double)) {
            if (memcmp(to, row, (size_t)n * sizeof(double)) != 0) {
                memcpy(to, row, (size_t)n * sizeof(double));
                same = false;
            }
            continue;
        }
        for (int64_t j = 0; j < n; j++) {
            same = same && memcmp(to + j, row + j * matrix->stride, sizeof(double)) == 0;
            memcpy(to + j, row + j * matrix->stride, sizeof(double));
        }
    }
    return same;
}

/* Makes *kept the factor of the matrix. */
static int find_factor(Factor *factor, const Matrix *matrix, DrawPoll poll, Status *status)
{
    bool is_lasting = true;

    if (copy_matrix(factor->cov, factor->n, matrix) && factor->is_known) {
        return 0;
    }
    factor->is_known = false;
    if (poll.factor(poll.self, factor->n, factor->cov, factor->factor, &is_lasting, status) < 0) {
        return -1;
    }
    factor->is_known = is_lasting;
    return 0;
}

/* Standard normals in order, as filled by NumPy's function or by what equals it. */
static int draw_standard(const Dists *dists, Stream *stream, double *out, int64_t n, DrawPoll poll, Status *status)
{
    static const double zero = 0.0, one = 1.0;
    const char *const params[DRAW_MAX_PARAMS] = {(const char *)&zero, (const char *)&one, (const char *)&one, (const char *)&one};
    DrawNormal draw = (DrawNormal)dists->functions[DIST_MULTIVARIATE_NORMAL][0];
    bool is_native = dists_have_for(dists, stream, DIST_NORMAL);

    for (int64_t start = 0; start < n; start += POLL_ELEMENTS) {
        int64_t count = n - start < POLL_ELEMENTS ? n - start : POLL_ELEMENTS;

        if (start > 0 && params_poll(poll, status) < 0) {
            return -1;
        }
        if (is_native && count > 4) {
            if (draw_many(dists, DIST_NORMAL, stream, (char *)(out + start), count, params, status) < 0) {
                return -1;
            }
            continue;
        }
        for (int64_t i = 0; i < count; i++) {
            out[start + i] = draw(stream->bitgen);
        }
    }
    return 0;
}

/* product = normals times the factor's transpose, n_rows rows at once. */
static void multiply(const NumpyLoop *of, const Factor *factor, int64_t n_rows, double *product)
{
    const intptr_t n = (intptr_t)factor->n, item = sizeof(double), row = n * item;
    char *args[3] = {(char *)factor->work, (char *)factor->factor, (char *)product};
    const intptr_t dimensions[4] = {1, (intptr_t)n_rows, n, n};
    const intptr_t steps[9] = {0, 0, 0, row, item, item, row, row, item};

    of->loop(args, dimensions, steps, of->data);
}

/* n_rows vectors of one mean from the factor, to `out`. */
static int draw_rows(const Dists *dists, Stream *stream, Factor *factor, const char *mean, int64_t mean_stride, int64_t n_rows, double *out,
                     DrawPoll poll, Status *status)
{
    if (n_rows == 0) {
        return 0;
    }
    if (make_work(factor, n_rows, status) < 0 || draw_standard(dists, stream, factor->work, n_rows * factor->n, poll, status) < 0) {
        return -1;
    }
    multiply(dists->functions[DIST_MULTIVARIATE_NORMAL][1], factor, n_rows, out);
    for (int64_t i = 0; i < n_rows; i++, out += factor->n) {
        for (int64_t j = 0; j < factor->n; j++) {
            out[j] = *(const double *)(const void *)(mean + j * mean_stride) + out[j];
        }
    }
    return 0;
}

/* A vector for each index of the batch, each a product of its own. */
static int draw_batch(const Dists *dists, Stream *stream, Factor *factor, const Array *dst, const Array *params, DrawPoll poll, Status *status)
{
    const Array *mean = &params[0], *cov = &params[1];
    const int skip[2] = {1, 2};
    double *out = (double *)(void *)dst->data;
    int64_t n, limit = 1 + POLL_ELEMENTS / (factor->n + 16);
    Matrix matrix = {.row_stride = cov->strides[cov->ndim - 2], .stride = cov->strides[cov->ndim - 1]};
    Walk walk;

    walk_init(&walk, dst->ndim - 1, dst->shape, 2, params, skip);
    while ((n = walk_piece(&walk, limit)) > 0) {
        const int64_t *strides = walk_strides(&walk);

        for (int64_t j = 0; j < n; j++, out += factor->n) {
            matrix.data = walk.at[1] + j * strides[1];
            if (((j == 0 || strides[1] != 0) && find_factor(factor, &matrix, poll, status) < 0)
                || draw_rows(dists, stream, factor, walk.at[0] + j * strides[0], mean->strides[mean->ndim - 1], 1, out, poll, status) < 0) {
                return -1;
            }
        }
        walk_advance(&walk, n);
        if (n == limit && params_poll(poll, status) < 0) {
            return -1;
        }
    }
    return 0;
}

int draw_normals(const Dists *dists, Stream *stream, const Array *dst, const Array *params, DrawPoll poll, Status *status)
{
    const Array *mean = &params[0], *cov = &params[1];
    int64_t n = mean->shape[mean->ndim - 1];
    bool is_square = cov->shape[cov->ndim - 2] == n && cov->shape[cov->ndim - 1] == n;
    Factor *factor;
    int result;

    if (poll.factor == NULL || poll.factors == NULL || n == 0 || !is_square) {
        return DRAW_BY_METHOD; /* which knows what to say */
    }
    factor = make_factor(poll.factors, n, status);
    if (factor == NULL) {
        return -1;
    }
    if (mean->ndim == 1 && cov->ndim == 2) {
        const Matrix matrix = {cov->data, cov->strides[0], cov->strides[1]};

        result = find_factor(factor, &matrix, poll, status);
        if (result == 0) {
            result = draw_rows(dists, stream, factor, mean->data, mean->strides[0], array_size(dst) / n, (double *)(void *)dst->data, poll, status);
        }
    } else {
        result = draw_batch(dists, stream, factor, dst, params, poll, status);
    }
    drop_big_work(factor);
    return result;
}
