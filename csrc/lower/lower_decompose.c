/* Decompositions that take several instructions, each in the order of NumPy's own arithmetic, so that the bits are
 * NumPy's.
 *
 * A function of values returns the number of a new one, or -1 with an exception; a source of -1 is passed on, so that a
 * chain is asked once. Relies on: build. Relied on by: lower.c. */
#include "lower/build.h"

/* ---- values of values ---- */

static DType dtype_of(const Builder *builder, int32_t number) { return (DType)build_peek(builder, number)->dtype; }

static int32_t make(Builder *builder, Emit emit, DType dtype, int ndim)
{
    int32_t dst;

    for (int32_t i = 0; i < emit.n_src; i++)
        if (emit.src[i] < 0) return -1;
    dst = build_temporary(builder, dtype, ndim);
    emit.n_dst = 1;
    emit.dst = &dst;
    return dst < 0 || build_emit(builder, emit) < 0 ? -1 : dst;
}

/* An elementwise operation, whose sources but a condition are of the type that it computes in. */
static int32_t map(Builder *builder, int scalar, DType dtype, int32_t n_src, const int32_t *src)
{
    int ndim = 0;

    for (int32_t i = 0; i < n_src; i++) {
        if (src[i] < 0) return -1;
        if (build_peek(builder, src[i])->ndim > ndim) ndim = build_peek(builder, src[i])->ndim;
    }
    return make(builder, (Emit){.opcode = I_MAP, .fn = scalar, .dtype = dtype, .n_src = n_src, .src = src}, scalar_result(scalar, dtype), ndim);
}

static int32_t map1(Builder *builder, int scalar, int32_t x) { return x < 0 ? -1 : map(builder, scalar, dtype_of(builder, x), 1, &x); }

/* In the type of x, to which y is cast. */
static int32_t map2(Builder *builder, int scalar, int32_t x, int32_t y)
{
    int32_t src[2] = {x, x < 0 ? -1 : build_cast(builder, y, dtype_of(builder, x))};

    return x < 0 ? -1 : map(builder, scalar, dtype_of(builder, x), 2, src);
}

/* x where the condition is true, else y. */
static int32_t choose(Builder *builder, int32_t condition, int32_t x, int32_t y)
{
    int32_t src[3] = {condition, x, x < 0 ? -1 : build_cast(builder, y, dtype_of(builder, x))};

    return x < 0 ? -1 : map(builder, SCALAR_SWITCH, dtype_of(builder, x), 3, src);
}

static int32_t view(Builder *builder, int32_t x, int n, const int64_t *axes)
{
    return x < 0 ? -1 : make(builder, (Emit){.opcode = I_TRANSPOSE, .n_src = 1, .src = &x, .n_aux = n, .aux = axes}, dtype_of(builder, x), n);
}

static int32_t transpose(Builder *builder, int32_t x) { return view(builder, x, 2, (const int64_t[2]){1, 0}); }

static int32_t length(Builder *builder, int32_t x, int64_t axis)
{
    return make(builder, (Emit){.opcode = I_SHAPE_AT, .n_src = 1, .src = &x, .n_aux = 1, .aux = &axis}, DTYPE_INT64, 0);
}

/* The first `stop` along an axis. */
static int32_t first(Builder *builder, int32_t x, int64_t axis, int32_t stop)
{
    const int64_t entries[2] = {SLICE_RANGE | (axis == 0 ? SLICE_STOP : 0), SLICE_RANGE | SLICE_STOP};
    int32_t src[2] = {x, stop};

    return x < 0 ? -1 : make(builder, (Emit){.opcode = I_SLICE, .n_src = 2, .src = src, .n_aux = (int32_t)axis + 1, .aux = entries}, dtype_of(builder, x), build_peek(builder, x)->ndim);
}

/* Whether all elements are true. */
static int32_t all(Builder *builder, int32_t x)
{
    static const int64_t axes[2] = {0, 1};

    return x < 0 ? -1 : make(builder, (Emit){.opcode = I_REDUCE, .fn = REDUCE_AND, .dtype = DTYPE_BOOL, .n_src = 1, .src = &x, .n_aux = build_peek(builder, x)->ndim, .aux = axes}, DTYPE_BOOL, 0);
}

/* x, unless the condition is false: a LinAlgError of that text. */
static int32_t expect(Builder *builder, int32_t x, int32_t condition, const char *text)
{
    int32_t src[2] = {x, condition};
    int64_t number;
    Status status;

    if (x < 0 || condition < 0) return -1;
    status_clear(&status);
    number = program_add_text(builder->program, text, &status);
    if (number < 0) return build_raise(&status);
    return make(builder, (Emit){.opcode = I_ASSERT, .fn = ASSERT_LINALG, .n_src = 2, .src = src, .n_aux = 1, .aux = &number}, dtype_of(builder, x), build_peek(builder, x)->ndim);
}

/* Lets output i of the node be the value, in the output's type. */
static int finish(Builder *builder, PyObject *node, Py_ssize_t i, int32_t value)
{
    int32_t dst = value < 0 ? -1 : build_result(builder, node_output(node, i));

    if (dst < 0) return -1;
    return build_emit1(builder, dtype_of(builder, dst) == dtype_of(builder, value) ? I_ALIAS : I_CAST, dst, 1, &value, 0, NULL);
}

/* The node's input in double precision. */
static int32_t read_double(Builder *builder, PyObject *node, Py_ssize_t i)
{
    int32_t x = build_value(builder, node_input(node, i));

    return x < 0 ? -1 : build_cast(builder, x, dtype_promote(dtype_of(builder, x), DTYPE_FLOAT64));
}

/* ---- decompositions ---- */

int lower_qr(Builder *builder, PyObject *node)
{
    int32_t x = read_double(builder, node, 0), raw[2], src[2], dst, r, n_reflections;
    bool is_complete, is_raw;

    if (x < 0 || build_read_bool(node_op(node), "is_complete", &is_complete) < 0 || build_read_bool(node_op(node), "is_raw", &is_raw) < 0) return -1;
    raw[0] = build_temporary(builder, dtype_of(builder, x), 1);
    raw[1] = build_temporary(builder, dtype_of(builder, x), 2);
    if (raw[0] < 0 || raw[1] < 0 || lower_apply_double(builder, LIBRARY_QR_RAW, 0, 2, raw, 1, &x) < 0) return -1;
    if (is_raw) return finish(builder, node, 0, transpose(builder, raw[1])) < 0 ? -1 : finish(builder, node, 1, raw[0]);
    n_reflections = length(builder, raw[0], 0);
    r = is_complete ? raw[1] : first(builder, raw[1], 0, n_reflections);
    r = make(builder, (Emit){.opcode = I_TRIANGLE, .dtype = dtype_of(builder, x), .n_src = 1, .src = &r}, dtype_of(builder, x), 2);
    if (finish(builder, node, node_n_outputs(node) - 1, r) < 0) return -1;
    if (node_n_outputs(node) == 1) return 0;
    src[0] = is_complete ? first(builder, raw[1], 1, n_reflections) : raw[1]; /* of a wide matrix the columns that have reflections */
    src[1] = raw[0];
    dst = src[0] < 0 ? -1 : build_result(builder, node_output(node, 0));
    return dst < 0 ? -1 : lower_apply_double(builder, is_complete ? LIBRARY_QR_COMPLETE : LIBRARY_QR_REDUCED, 0, 1, &dst, 2, src);
}

int lower_eig(Builder *builder, PyObject *node)
{
    int32_t x = read_double(builder, node, 0), dst[2], zero = build_integer(builder, 0);
    DType complex_type;
    bool is_real;

    if (x < 0 || zero < 0) return -1;
    is_real = dtype_kind(dtype_of(builder, x)) == 'f';
    complex_type = dtype_promote(dtype_of(builder, x), DTYPE_COMPLEX64);
    x = expect(builder, x, all(builder, map2(builder, SCALAR_EQ, map2(builder, SCALAR_SUB, x, x), zero)), "Array must not contain infs or NaNs");
    dst[0] = x < 0 ? -1 : build_temporary(builder, complex_type, 1);
    dst[1] = dst[0] < 0 ? -1 : build_temporary(builder, complex_type, 2);
    if (dst[1] < 0 || lower_apply_double(builder, LIBRARY_EIG, 0, 2, dst, 1, &x) < 0) return -1;
    if (is_real) {
        dst[0] = expect(builder, dst[0], all(builder, map2(builder, SCALAR_EQ, map1(builder, SCALAR_IMAG, dst[0]), zero)),
                        "Eig: the matrix has complex eigenvalues; cast it to complex first");
        for (int i = 0; i < 2; i++) dst[i] = map1(builder, SCALAR_REAL, dst[i]);
    }
    return finish(builder, node, 0, dst[0]) < 0 ? -1 : finish(builder, node, 1, dst[1]);
}

/* ---- the pseudo-inverse ---- */

/* Singular values and vectors: x is left @ diag(values) @ right.T. */
typedef struct Singular {
    int32_t left, values, right;
} Singular;

static int find_singular(Builder *builder, int32_t x, Singular *found)
{
    DType dtype = dtype_of(builder, x);
    int32_t dst[3] = {build_temporary(builder, dtype, 2), build_temporary(builder, dtype_real(dtype), 1), build_temporary(builder, dtype, 2)};

    if (dst[0] < 0 || dst[1] < 0 || dst[2] < 0 || lower_apply_double(builder, LIBRARY_SVD_THIN, 0, 3, dst, 1, &x) < 0) return -1;
    *found = (Singular){dst[0], dst[1], transpose(builder, dst[2])};
    return found->right < 0 ? -1 : 0;
}

/* Of a Hermitian matrix, by its eigenvalues: the largest absolute ones come first, and their signs go to the vectors. */
static int find_singular_hermitian(Builder *builder, int32_t x, Singular *found)
{
    static const int64_t backwards[1] = {SLICE_RANGE | SLICE_STEP}, columns[2] = {SLICE_RANGE, SLICE_ARRAY};
    DType dtype = dtype_of(builder, x), real = dtype_real(dtype);
    int32_t dst[2] = {build_temporary(builder, real, 1), build_temporary(builder, dtype, 2)}, keys[2], order[2], taken[2];

    if (dst[0] < 0 || dst[1] < 0 || lower_apply_double(builder, LIBRARY_EIGH_LOWER, 0, 2, dst, 1, &x) < 0) return -1;
    keys[0] = map1(builder, SCALAR_ABS, dst[0]);
    keys[1] = build_integer(builder, 0);
    order[0] = make(builder, (Emit){.opcode = I_SORT, .fn = SORT_PLACES, .n_src = 2, .src = keys}, DTYPE_INT64, 1);
    order[1] = build_integer(builder, -1);
    taken[1] = make(builder, (Emit){.opcode = I_SLICE, .n_src = 2, .src = order, .n_aux = 1, .aux = backwards}, DTYPE_INT64, 1);
    taken[0] = dst[1];
    found->left = make(builder, (Emit){.opcode = I_GATHER, .n_src = 2, .src = taken, .n_aux = 2, .aux = columns}, dtype, 2);
    taken[0] = dst[0];
    dst[0] = make(builder, (Emit){.opcode = I_TAKE, .n_src = 2, .src = taken}, real, 1);
    found->values = map1(builder, SCALAR_ABS, dst[0]);
    found->right = map2(builder, SCALAR_MUL, found->left, map1(builder, SCALAR_SGN, dst[0]));
    if (dtype_kind(dtype) == 'c') found->right = map1(builder, SCALAR_CONJ, found->right);
    return found->left < 0 || found->values < 0 || found->right < 0 ? -1 : 0;
}

int lower_pinv(Builder *builder, PyObject *node)
{
    int32_t x = build_value(builder, node_input(node, 0)), one = build_integer(builder, 1), zero = build_integer(builder, 0), large[2], values, src[2], dst;
    Singular found;
    bool is_hermitian;
    DType dtype;

    if (x < 0 || one < 0 || zero < 0 || build_read_bool(node_op(node), "hermitian", &is_hermitian) < 0) return -1;
    dtype = dtype_of(builder, x);
    if (dtype_kind(dtype) == 'c') x = map1(builder, SCALAR_CONJ, x);
    if (x < 0 || (is_hermitian ? find_singular_hermitian(builder, x, &found) : find_singular(builder, x, &found)) < 0) return -1;
    large[0] = build_cast(builder, found.values, DTYPE_FLOAT64);
    large[1] = map2(builder, SCALAR_MUL, first(builder, large[0], 0, one), build_float(builder, 1e-15)); /* the first is the largest; there may be none */
    values = choose(builder, map2(builder, SCALAR_GT, large[0], large[1]), map2(builder, SCALAR_TRUE_DIVIDE, build_cast(builder, one, dtype_of(builder, found.values)), found.values), zero);
    src[0] = found.right;
    src[1] = transpose(builder, map2(builder, SCALAR_MUL, found.left, values));
    dst = src[1] < 0 ? -1 : build_result(builder, node_output(node, 0));
    return dst < 0 ? -1 : lower_apply(builder, LIBRARY_MATMUL, dtype, 0, 1, &dst, 2, src);
}

/* ---- least squares ---- */

/* The right sides as columns, of which LAPACK wants one at least: where there is none, one of zeros. */
static int32_t fill_columns(Builder *builder, int32_t b, int32_t n_rows, int32_t n_columns, int32_t zero)
{
    const int64_t axis = 1;
    int32_t fill[3] = {build_cast(builder, zero, dtype_of(builder, b)), n_rows, build_cast(builder, map2(builder, SCALAR_EQ, n_columns, zero), DTYPE_INT64)}, src[2] = {b};

    src[1] = make(builder, (Emit){.opcode = I_FILL, .n_src = 3, .src = fill}, dtype_of(builder, b), 2);
    return make(builder, (Emit){.opcode = I_JOIN, .n_src = 2, .src = src, .n_aux = 1, .aux = &axis}, dtype_of(builder, b), 2);
}

int lower_lstsq(Builder *builder, PyObject *node)
{
    static const int64_t column[2] = {0, -1}, only[2] = {SLICE_RANGE, SLICE_INDEX};
    int32_t src[3] = {build_value(builder, node_input(node, 0)), build_value(builder, node_input(node, 1)), 0};
    int32_t dst[4], zero = build_integer(builder, 0), n_rows, n_unknowns, n_columns, is_whole, x[2];
    DType dtype;
    bool is_vector;

    if (src[0] < 0 || src[1] < 0 || zero < 0) return -1;
    dtype = dtype_promote(dtype_promote(dtype_of(builder, src[0]), dtype_of(builder, src[1])), DTYPE_FLOAT64);
    is_vector = build_peek(builder, src[1])->ndim == 1;
    for (int i = 0; i < 2; i++) src[i] = build_cast(builder, src[i], dtype);
    n_rows = length(builder, src[0], 0);
    n_unknowns = length(builder, src[0], 1);
    if (is_vector) src[1] = view(builder, src[1], 2, column);
    src[1] = expect(builder, src[1], map2(builder, SCALAR_EQ, n_rows, length(builder, src[1], 0)), "Incompatible dimensions: the right sides must have as many rows as the matrix");
    n_columns = length(builder, src[1], 1);
    if (!is_vector && src[1] >= 0) src[1] = fill_columns(builder, src[1], n_rows, n_columns, zero);
    src[2] = build_value_as(builder, node_input(node, 2), DTYPE_FLOAT64);
    dst[0] = build_temporary(builder, dtype, 2);
    dst[1] = build_temporary(builder, dtype_real(dtype), 1);
    dst[2] = build_temporary(builder, DTYPE_INT32, 0);
    dst[3] = build_temporary(builder, dtype_real(dtype), 1);
    for (int i = 0; i < 4; i++)
        if (dst[i] < 0 || src[i % 3] < 0) return -1;
    if (lower_apply_double(builder, LIBRARY_LSTSQ, 0, 4, dst, 3, src) < 0) return -1;
    x[0] = choose(builder, map2(builder, SCALAR_GT, n_rows, zero), dst[0], zero); /* without rows nothing was written */
    x[1] = zero;
    x[0] = is_vector ? make(builder, (Emit){.opcode = I_SLICE, .n_src = 2, .src = x, .n_aux = 2, .aux = only}, dtype, 1) : first(builder, x[0], 1, n_columns);
    is_whole = map2(builder, SCALAR_AND, map2(builder, SCALAR_EQ, build_cast(builder, dst[2], DTYPE_INT64), n_unknowns), map2(builder, SCALAR_GT, n_rows, n_unknowns));
    dst[1] = first(builder, dst[1], 0, choose(builder, is_whole, n_columns, zero));
    dst[0] = x[0];
    for (int i = 0; i < 4; i++)
        if (finish(builder, node, i, dst[i]) < 0) return -1;
    return 0;
}
