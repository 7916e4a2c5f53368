/* Products of vectors and matrices.
 *
 * Each element is the sum over k in the order 0, 1, 2, ... of a[k] * b[k], multiplied and added separately. Products of
 * more than OWN_PRODUCTS terms go to the host, if it takes them; where in memory the factors lie has no say in that, for the
 * host's sums differ in the last bits. With four rows and two columns of reals it takes OWN_REAL_PRODUCTS: measured, a call of
 * the host costs 1.4 us, and 32 by 64 by 64 terms take 6 us there and 7 here.
 * Relies on: frame.h. Relied on by: vm.c. */
#include <stdalign.h>
#include <stddef.h>
#include <string.h>

#include "vm/frame.h"
#include "vm/odometer.h"

enum { OWN_PRODUCTS = 32768, OWN_REAL_PRODUCTS = 262144 };

/* a is m by k, b is k by n, out is m by n; strides in bytes, of rows and of columns. */
typedef struct Product {
    int64_t m, n, k;
    const char *a, *b;
    char *out;
    int64_t a_strides[2], b_strides[2];
    int64_t out_step; /* from row to row; a row is contiguous */
} Product;

typedef struct Complex64 { float re, im; } Complex64;
typedef struct Complex128 { double re, im; } Complex128;

#define AT(T, base, offset) (*(T *)(void *)((char *)(base) + (offset)))
#define MULTIPLY_WHOLE(T, a, b) ((T)((uint64_t)(a) * (uint64_t)(b)))
#define ADD_WHOLE(T, a, b) ((T)((uint64_t)(a) + (uint64_t)(b)))
#define MULTIPLY_BOOL(T, a, b) ((T)(((a) != 0) & ((b) != 0)))
#define ADD_BOOL(T, a, b) ((T)((a) | (b)))
#define MULTIPLY_REAL(T, a, b) ((a) * (b))
#define ADD_REAL(T, a, b) ((a) + (b))
#define MULTIPLY_COMPLEX(T, a, b) ((T){(a).re * (b).re - (a).im * (b).im, (a).re * (b).im + (a).im * (b).re})
#define ADD_COMPLEX(T, a, b) ((T){(a).re + (b).re, (a).im + (b).im})

/* One row of the result. With several columns all of them grow together, so that the inner loop has no chain; with one,
 * its sum stays in a register. k is at least 1. */
#define DEFINE_ROW(TYPE, T, MULTIPLY, ADD)                                                                          \
    static void dot_row_##TYPE(const Product *p, const char *a, char *out)                                          \
    {                                                                                                               \
        const int64_t a_step = p->a_strides[1], b_step = p->b_strides[0], b_next = p->b_strides[1];                 \
        if (p->n == 1) {                                                                                            \
            const char *b = p->b;                                                                                   \
            T sum = MULTIPLY(T, AT(const T, a, 0), AT(const T, b, 0));                                              \
            for (int64_t k = 1; k < p->k; k++) {                                                                    \
                const T term = MULTIPLY(T, AT(const T, a, k * a_step), AT(const T, b, k * b_step));                 \
                sum = ADD(T, sum, term);                                                                            \
            }                                                                                                       \
            AT(T, out, 0) = sum;                                                                                    \
            return;                                                                                                 \
        }                                                                                                           \
        for (int64_t k = 0; k < p->k; k++) {                                                                        \
            const T x = AT(const T, a, k * a_step);                                                                 \
            const char *b = p->b + k * b_step;                                                                      \
            T *row = (T *)(void *)out;                                                                              \
            if (k == 0) {                                                                                           \
                for (int64_t j = 0; j < p->n; j++) {                                                                \
                    row[j] = MULTIPLY(T, x, AT(const T, b, j * b_next));                                            \
                }                                                                                                   \
            } else if (b_next == (int64_t)sizeof(T)) {                                                              \
                const T *adjacent = (const T *)(const void *)b;                                                     \
                for (int64_t j = 0; j < p->n; j++) {                                                                \
                    const T term = MULTIPLY(T, x, adjacent[j]);                                                     \
                    row[j] = ADD(T, row[j], term);                                                                  \
                }                                                                                                   \
            } else {                                                                                                \
                for (int64_t j = 0; j < p->n; j++) {                                                                \
                    const T term = MULTIPLY(T, x, AT(const T, b, j * b_next));                                      \
                    row[j] = ADD(T, row[j], term);                                                                  \
                }                                                                                                   \
            }                                                                                                       \
        }                                                                                                           \
    }

/* Four elements of a product with one column: four sums that do not wait for each other, each in its own order. */
#define DEFINE_FOUR(TYPE, T, MULTIPLY, ADD)                                                                         \
    static void dot_four_##TYPE(const Product *p, const char *a, char *out)                                         \
    {                                                                                                               \
        const int64_t a_row = p->a_strides[0], a_step = p->a_strides[1];                                            \
        T sum[4];                                                                                                   \
        for (int i = 0; i < 4; i++) {                                                                               \
            sum[i] = MULTIPLY(T, AT(const T, a, i * a_row), AT(const T, p->b, 0));                                  \
        }                                                                                                           \
        for (int64_t k = 1; k < p->k; k++) {                                                                        \
            const T x = AT(const T, p->b, k * p->b_strides[0]);                                                     \
            for (int i = 0; i < 4; i++) {                                                                           \
                const T term = MULTIPLY(T, AT(const T, a, i * a_row + k * a_step), x);                              \
                sum[i] = ADD(T, sum[i], term);                                                                      \
            }                                                                                                       \
        }                                                                                                           \
        for (int i = 0; i < 4; i++) {                                                                               \
            AT(T, out, i * p->out_step) = sum[i];                                                                   \
        }                                                                                                           \
    }

#define DOT_ROWS(ROW)                                           \
    ROW(BOOL, uint8_t, MULTIPLY_BOOL, ADD_BOOL)                 \
    ROW(INT8, int8_t, MULTIPLY_WHOLE, ADD_WHOLE)                \
    ROW(INT16, int16_t, MULTIPLY_WHOLE, ADD_WHOLE)              \
    ROW(INT32, int32_t, MULTIPLY_WHOLE, ADD_WHOLE)              \
    ROW(INT64, int64_t, MULTIPLY_WHOLE, ADD_WHOLE)              \
    ROW(UINT8, uint8_t, MULTIPLY_WHOLE, ADD_WHOLE)              \
    ROW(UINT16, uint16_t, MULTIPLY_WHOLE, ADD_WHOLE)            \
    ROW(UINT32, uint32_t, MULTIPLY_WHOLE, ADD_WHOLE)            \
    ROW(UINT64, uint64_t, MULTIPLY_WHOLE, ADD_WHOLE)            \
    ROW(FLOAT32, float, MULTIPLY_REAL, ADD_REAL)                \
    ROW(FLOAT64, double, MULTIPLY_REAL, ADD_REAL)               \
    ROW(COMPLEX64, Complex64, MULTIPLY_COMPLEX, ADD_COMPLEX)    \
    ROW(COMPLEX128, Complex128, MULTIPLY_COMPLEX, ADD_COMPLEX)
DOT_ROWS(DEFINE_ROW)
DOT_ROWS(DEFINE_FOUR)

typedef void (*RowKernel)(const Product *product, const char *a, char *out);
#define ROW_ENTRY(TYPE, T, MULTIPLY, ADD) [DTYPE_##TYPE] = dot_row_##TYPE,
static const RowKernel row_kernels[N_DTYPES] = {DOT_ROWS(ROW_ENTRY)};
#define FOUR_ENTRY(TYPE, T, MULTIPLY, ADD) [DTYPE_##TYPE] = dot_four_##TYPE,
static const RowKernel four_kernels[N_DTYPES] = {DOT_ROWS(FOUR_ENTRY)};

/* ---- reals by vectors ---- */

/* Columns that are not adjacent are copied in panels: this many terms by this many bytes of columns. */
enum { PANEL_TERMS = 256, PANEL_BYTES = 2 * MATH_PRODUCT_PAD };

static int spend_product(const ProductRows *rows, Run *run) { return run_spend(run, rows->m * rows->n * rows->k / 8 + 8); }

/* In pieces of rows, of about OWN_REAL_PRODUCTS terms. */
static int multiply_pieces(ProductKernel kernel, ProductRows rows, Run *run)
{
    const int64_t m = rows.m, terms = rows.n * rows.k;
    const int64_t most = terms < OWN_REAL_PRODUCTS / 4 ? OWN_REAL_PRODUCTS / terms / 4 * 4 : 4;

    for (int64_t done = 0; done < m; done += rows.m) {
        rows.m = m - done < most ? m - done : most;
        kernel(&rows);
        if (spend_product(&rows, run) < 0) {
            return -1;
        }
        rows.a += rows.m * rows.a_row;
        rows.out += rows.m * rows.out_row;
    }
    return 0;
}

/* Rows of n_columns elements side by side, and zeros up to the end of n_bytes. */
static void copy_columns(const Product *p, int64_t item_bytes, int64_t first, int64_t n_terms, int64_t column, int64_t n_columns,
                         char *to, int64_t n_bytes)
{
    const char *from = p->b + first * p->b_strides[0] + column * p->b_strides[1];

    for (int64_t k = 0; k < n_terms; k++, from += p->b_strides[0], to += n_bytes) {
        for (int64_t j = 0; j < n_columns; j++) {
            memcpy(to + j * item_bytes, from + j * p->b_strides[1], (size_t)item_bytes);
        }
        memset(to + n_columns * item_bytes, 0, (size_t)(n_bytes - n_columns * item_bytes));
    }
}

static int multiply_panels(ProductKernel kernel, ProductRows rows, const Product *p, int64_t item_bytes, Run *run)
{
    alignas(MATH_PRODUCT_PAD) char panel[PANEL_TERMS * PANEL_BYTES];
    const int64_t width = PANEL_BYTES / item_bytes;

    rows.b = panel;
    rows.is_padded = true;
    for (int64_t column = 0; column < p->n; column += width) {
        rows.n = p->n - column < width ? p->n - column : width;
        rows.b_row = rows.n * item_bytes <= MATH_PRODUCT_PAD ? MATH_PRODUCT_PAD : PANEL_BYTES;
        rows.out = p->out + column * item_bytes;
        for (int64_t first = 0; first < p->k; first += PANEL_TERMS) {
            rows.k = p->k - first < PANEL_TERMS ? p->k - first : PANEL_TERMS;
            rows.a = p->a + first * rows.a_step;
            rows.goes_on = first > 0;
            copy_columns(p, item_bytes, first, rows.k, column, rows.n, panel, rows.b_row);
            if (multiply_pieces(kernel, rows, run) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

/* 1 when there is nothing to gain: a single column of a matrix whose columns are not adjacent, few columns, few rows. */
static int multiply_by_vectors(const Product *p, DType dtype, Run *run)
{
    const ProductKernel kernel = math_product(dtype);
    const int64_t item_bytes = dtype_bytes(dtype);
    ProductRows rows = {.m = p->m, .n = p->n, .k = p->k, .a = p->a, .b = p->b, .out = p->out, .out_row = p->out_step,
                        .a_row = p->a_strides[0], .a_step = p->a_strides[1], .b_row = p->b_strides[0]};

    if (kernel == NULL || p->m * p->n < 4) {
        return 1;
    }
    if (p->n == 1) { /* the column as one row, times the matrix turned round */
        if (p->a_strides[0] != item_bytes || p->m * item_bytes < MATH_PRODUCT_PAD || p->out_step != item_bytes) {
            return 1;
        }
        rows.m = 1;
        rows.n = p->m;
        rows.a = p->b;
        rows.a_step = p->b_strides[0];
        rows.b = p->a;
        rows.b_row = p->a_strides[1];
        return multiply_pieces(kernel, rows, run);
    }
    if (p->b_strides[1] == item_bytes && p->n * item_bytes >= MATH_PRODUCT_PAD) {
        return multiply_pieces(kernel, rows, run);
    }
    return p->m < 4 ? 1 : multiply_panels(kernel, rows, p, item_bytes, run);
}

/* ---- the product ---- */

static int multiply_own(const Product *product, DType dtype, Run *run)
{
    int result;

    if (product->m == 0 || product->n == 0) {
        return 0;
    }
    if (product->k == 0) {
        memset(product->out, 0, (size_t)(product->m * product->n * dtype_bytes(dtype)));
        return run_spend(run, product->m * product->n);
    }
    if ((result = multiply_by_vectors(product, dtype, run)) <= 0) {
        return result;
    }
    for (int64_t i = 0, n_rows = 1; i < product->m; i += n_rows) {
        const char *a = product->a + i * product->a_strides[0];
        char *out = product->out + i * product->out_step;

        n_rows = product->n == 1 && product->m - i >= 4 ? 4 : 1;
        (n_rows == 4 ? four_kernels : row_kernels)[dtype](product, a, out);
        if (run_spend(run, n_rows * product->n * product->k + 8) < 0) {
            return -1;
        }
    }
    return 0;
}

static int refuse_shapes(const Array *a, const Array *b, Run *run)
{
    Status *status = run->status;
    int axis_b = b->ndim == 2 ? 0 : b->ndim - 1;

    status_fail_shapes(status, STATUS_DOT_SHAPE, a->ndim, a->shape, b->ndim, b->shape);
    status->a = a->shape[a->ndim - 1];
    status->b = b->shape[axis_b];
    status->c = a->ndim - 1;
    status->d = axis_b;
    return -1;
}

/* Whether the product has few terms; the lengths may be too large to multiply. */
static bool is_small(const Product *product, DType dtype)
{
    const bool is_real = dtype == DTYPE_FLOAT32 || dtype == DTYPE_FLOAT64;
    const int64_t most = is_real && product->m >= 4 && product->n > 1 ? OWN_REAL_PRODUCTS : OWN_PRODUCTS;

    return product->m == 0 || product->n == 0 || product->k == 0
        || (product->m <= most && product->n <= most && product->k <= most && product->m * product->n <= most / product->k);
}

/* The product of two arrays whose lengths fit. */
static Product describe(const Array *a, const Array *b)
{
    Product product = {.m = 1, .n = 1, .k = a->shape[a->ndim - 1], .a = a->data, .b = b->data};

    if (a->ndim == 2) {
        product.m = a->shape[0];
        product.a_strides[0] = a->strides[0];
    }
    if (b->ndim == 2) {
        product.n = b->shape[1];
        product.b_strides[1] = b->strides[1];
    }
    product.a_strides[1] = a->strides[a->ndim - 1];
    product.b_strides[0] = b->strides[0];
    return product;
}

static int multiply_by_host(Array *dst, const Array *a, const Array *b, Run *run)
{
    return run->host->product(run->host->self, dst, a, b, run->status) < 0 ? -1 : run_check(run);
}

static bool is_for_host(const Product *product, DType dtype, const Run *run) { return run->host->product != NULL && !is_small(product, dtype); }

/* ---- factors that do not change ---- */

/* Of few terms: else nothing is packed. */
static int multiply_packed(const Product *p, const Packed *packed, Run *run)
{
    ProductRows rows = {.m = p->m, .n = p->n, .k = p->k, .a = p->a, .a_row = p->a_strides[0], .a_step = p->a_strides[1],
                        .b = packed->rows, .b_row = packed->row_bytes, .out = p->out, .out_row = p->out_step, .is_padded = true};

    if (packed->is_left) {
        rows.m = 1;
        rows.n = p->m;
        rows.a = p->b;
        rows.a_step = p->b_strides[0];
    }
    packed->kernel(&rows);
    return spend_product(&rows, run);
}

/* The right factor as it is to be copied; of a vector's left factor, that factor turned round. */
static Product describe_factor(const Array *factor, bool is_left)
{
    int rows = is_left ? 1 : 0;

    return (Product){.k = factor->shape[rows], .n = factor->shape[1 - rows], .b = factor->data,
                     .b_strides = {factor->strides[rows], factor->strides[1 - rows]}};
}

bool dot_is_own(const Array *a, const Array *b)
{
    const Product product = describe(a, b);

    return is_small(&product, a->dtype);
}

void dot_pack(Packed *packed, const Frame *frame, const Step *step, Run *run)
{
    const Array *a = frame->arrays[step->src[0]], *b = frame->arrays[step->src[1]], *factor = packed->is_left ? a : b;
    const Product whole = describe(a, b), part = describe_factor(factor, packed->is_left);
    const int64_t item_bytes = dtype_bytes(a->dtype), used = part.n * item_bytes;
    int64_t n_bytes = (used + MATH_PRODUCT_PAD - 1) / MATH_PRODUCT_PAD * MATH_PRODUCT_PAD;
    bool is_there = part.b_strides[1] == item_bytes && used >= MATH_PRODUCT_PAD;

    packed->rows = NULL;
    packed->kernel = math_product(a->dtype);
    if (packed->kernel == NULL || is_there || part.n < 4 || part.k == 0 || !is_small(&whole, a->dtype)) {
        return;
    }
    n_bytes += n_bytes % 512 == 0 ? MATH_PRODUCT_PAD : 0; /* rows that far apart share lines of the cache */
    if (packed->memory == NULL || packed->memory->n_bytes < (size_t)(n_bytes * part.k + MATH_PRODUCT_PAD)) {
        buffer_unref(packed->memory);
        packed->memory = buffer_new((size_t)(n_bytes * part.k + MATH_PRODUCT_PAD));
        run->counters->allocations++;
        if (packed->memory == NULL) {
            return;
        }
    }
    packed->rows = packed->memory->data + (MATH_PRODUCT_PAD - (int64_t)((uintptr_t)packed->memory->data % MATH_PRODUCT_PAD));
    packed->row_bytes = n_bytes;
    copy_columns(&part, item_bytes, 0, part.k, 0, part.n, packed->rows, n_bytes);
}

/* ---- many steps ---- */

/* All steps' factors that are not the same in each, as one matrix; false when they do not lie like one. */
static bool join_rows(const Array *rows, int64_t stride, int64_t n, Array *all)
{
    *all = *rows;
    all->ndim = 2;
    all->shape[1] = rows->shape[rows->ndim - 1];
    all->strides[1] = rows->strides[rows->ndim - 1];
    all->shape[0] = rows->ndim == 2 ? n * rows->shape[0] : n;
    all->strides[0] = rows->ndim == 2 && rows->shape[0] > 1 ? rows->strides[0] : stride;
    return rows->ndim == 1 || rows->shape[0] * all->strides[0] == stride;
}

/* The factors of one product that is those of n steps, if there is one. A vector's left factor is turned round. */
static bool join_steps(const Array *a, int64_t a_stride, const Array *b, int64_t b_stride, int64_t n, Array *left, Array *right)
{
    if (b_stride == 0) {
        *right = *b;
        return join_rows(a, a_stride, n, left);
    }
    if (a_stride != 0 || b->ndim != 1) {
        return false;
    }
    *right = *a;
    for (int i = 0; i < a->ndim; i++) {
        right->shape[i] = a->shape[a->ndim - 1 - i];
        right->strides[i] = a->strides[a->ndim - 1 - i];
    }
    return join_rows(b, b_stride, n, left);
}

int dot_steps(const Array *dst, const Array *a, int64_t a_stride, const Array *b, int64_t b_stride, int64_t n, Run *run)
{
    const int64_t out_bytes = array_size(dst) * dtype_bytes(dst->dtype);
    Array left, right, out = *dst;
    Product product = describe(a, b);
    bool is_host = is_for_host(&product, dst->dtype, run);

    if ((!is_host || run->host->batches_products) && join_steps(a, a_stride, b, b_stride, n, &left, &right)) {
        product = describe(&left, &right);
        product.out = dst->data;
        product.out_step = product.n * dtype_bytes(dst->dtype);
        if (!is_host) {
            return multiply_own(&product, dst->dtype, run);
        }
        out.ndim = right.ndim;
        out.shape[0] = product.m;
        out.shape[1] = product.n;
        array_set_contiguous_strides(&out);
        return multiply_by_host(&out, &left, &right, run);
    }
    left = *a;
    right = *b;
    array_set_contiguous_strides(&out);
    for (int64_t i = 0; i < n; i++) {
        product = describe(&left, &right);
        product.out = out.data;
        product.out_step = product.n * dtype_bytes(dst->dtype);
        if ((is_host ? multiply_by_host(&out, &left, &right, run) : multiply_own(&product, dst->dtype, run)) < 0) {
            return -1;
        }
        left.data += a_stride;
        right.data += b_stride;
        out.data += out_bytes;
    }
    return 0;
}

int run_dot(Frame *frame, const Step *step, Run *run)
{
    const Array *a = frame->arrays[step->src[0]], *b = frame->arrays[step->src[1]];
    const Packed *packed = step->packed;
    Array view, *dst;
    int64_t shape[2];
    int ndim = 0;
    Product product = describe(a, b);

    if (product.k != b->shape[0]) {
        return refuse_shapes(a, b, run);
    }
    if (a->ndim == 2) {
        shape[ndim++] = product.m;
    }
    if (b->ndim == 2) {
        shape[ndim++] = product.n;
    }
    dst = frame_result(frame, step->dst[0], shape, &view, run);
    if (dst == NULL) {
        return -1;
    }
    product.out = dst->data;
    product.out_step = product.n * dtype_bytes(dst->dtype);
    if (packed != NULL && packed->rows != NULL && product.m > 0) {
        return multiply_packed(&product, packed, run);
    }
    return is_for_host(&product, dst->dtype, run) ? multiply_by_host(dst, a, b, run) : multiply_own(&product, dst->dtype, run);
}

static void show_matrix(const Array *stack, Array *matrix)
{
    *matrix = *stack;
    matrix->ndim = 2;
    for (int i = 0; i < 2; i++) {
        matrix->shape[i] = stack->shape[stack->ndim - 2 + i];
        matrix->strides[i] = stack->strides[stack->ndim - 2 + i];
    }
}

/* The leading axes of the stacks' products, which are refused if they do not broadcast (or, if strict, differ). */
static int join_stacks(const Array *a, const Array *b, bool is_strict, int n_lead, int64_t *shape, Run *run)
{
    for (int i = 0; i < n_lead; i++) {
        int in_a = i - n_lead + a->ndim - 2, in_b = i - n_lead + b->ndim - 2;
        int64_t m = in_a < 0 ? 1 : a->shape[in_a], n = in_b < 0 ? 1 : b->shape[in_b];

        if (m != n && (is_strict || (m != 1 && n != 1))) {
            return status_fail_shapes(run->status, is_strict ? STATUS_BATCH_SIZES : STATUS_STACK_SHAPES, a->ndim, a->shape, b->ndim, b->shape);
        }
        shape[i] = m == 1 ? n : m;
    }
    return 0;
}

int run_matmul(Frame *frame, const Step *step, Run *run)
{
    const Array *a = frame->arrays[step->src[0]], *b = frame->arrays[step->src[1]], *dst = frame->arrays[step->dst[0]];
    int n_lead = dst->ndim - 2, moved;
    int64_t shape[ARRAY_MAX_NDIM];
    Odometer odometer = {.ndim = n_lead, .shape = shape};
    Array left, right, out;

    show_matrix(a, &left);
    show_matrix(b, &right);
    if (join_stacks(a, b, instr_aux(frame->program, step->instr)[0] != 0, n_lead, shape, run) < 0) {
        return -1;
    }
    if (left.shape[1] != right.shape[0]) {
        return refuse_shapes(a, b, run);
    }
    shape[n_lead] = left.shape[0];
    shape[n_lead + 1] = right.shape[1];
    if (frame_shape_array(frame, step->dst[0], shape, run->status) < 0) {
        return -1;
    }
    if (array_size(dst) == 0) {
        return 0;
    }
    show_matrix(dst, &out);
    do {
        left.data = odometer_at(&odometer, a, a->ndim - 2);
        right.data = odometer_at(&odometer, b, b->ndim - 2);
        out.data = odometer_at(&odometer, dst, n_lead);
        if (dot_steps(&out, &left, 0, &right, 0, 1, run) < 0) {
            return -1;
        }
    } while (odometer_next(&odometer, &moved));
    return 0;
}
