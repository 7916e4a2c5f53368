/* Splitting, sorting, searching, repeating, diagonals, choosing, and products of stacks of matrices.
 *
 * Relies on: build. Relied on by: lower.c. */
#include "base/names.h"
#include "lower/build.h"

int lower_sort(Builder *builder, PyObject *node)
{
    int32_t src[2], dst;
    bool is_places;
    Value value;

    if (build_describe(builder, node_input(node, 0), &value) < 0 || build_read_bool(node_op(node), "is_places", &is_places) < 0) return -1;
    if (value.value_class != VALUE_ARRAY) return 1;
    src[0] = build_value(builder, node_input(node, 0));
    src[1] = src[0] < 0 ? -1 : build_length(builder, node_input(node, 1));
    dst = src[1] < 0 ? -1 : build_result(builder, node_output(node, 0));
    if (dst < 0) return -1;
    return build_emit(builder, (Emit){.opcode = I_SORT, .fn = is_places ? SORT_PLACES : SORT_KEYS, .n_dst = 1, .dst = &dst, .n_src = 2, .src = src});
}

int lower_split(Builder *builder, PyObject *node)
{
    Numbers dst = {0};
    int32_t src[3];
    int result = -1;
    Value value;

    if (build_describe(builder, node_input(node, 0), &value) < 0) return -1;
    if (value.value_class != VALUE_ARRAY) return 1;
    src[0] = build_value(builder, node_input(node, 0));
    src[1] = src[0] < 0 ? -1 : build_length(builder, node_input(node, 1));
    src[2] = src[1] < 0 ? -1 : build_value_as(builder, node_input(node, 2), DTYPE_INT64);
    if (src[2] < 0) return -1;
    for (Py_ssize_t i = 0; i < node_n_outputs(node); i++) {
        int32_t number = build_result(builder, node_output(node, i));
        if (number < 0 || numbers_add(&dst, number) < 0) goto done;
    }
    result = build_emit(builder, (Emit){.opcode = I_SPLIT, .n_dst = dst.n, .dst = dst.items, .n_src = 3, .src = src});
done:
    numbers_clear(&dst);
    return result;
}

int lower_searchsorted(Builder *builder, PyObject *node)
{
    int32_t src[2], dst;
    bool is_right;
    Value sorted, values;
    DType dtype;

    if (build_read_bool(node_op(node), "is_right", &is_right) < 0 || build_describe(builder, node_input(node, 0), &sorted) < 0
        || build_describe(builder, node_input(node, 1), &values) < 0)
        return -1;
    if (sorted.ndim != 1) return 1;
    dtype = dtype_promote((DType)sorted.dtype, (DType)values.dtype);
    src[0] = build_value_as(builder, node_input(node, 0), dtype);
    src[1] = src[0] < 0 ? -1 : build_value_as(builder, node_input(node, 1), dtype);
    if (src[1] < 0) return -1;
    if (node_n_inputs(node) > 2) { /* the order in which the vector is sorted */
        int32_t rows[2] = {src[0], build_value_as(builder, node_input(node, 2), DTYPE_INT64)};
        src[0] = rows[1] < 0 ? -1 : build_temporary(builder, dtype, 1);
        if (src[0] < 0 || build_emit1(builder, I_TAKE, src[0], 2, rows, 0, NULL) < 0) return -1;
    }
    dst = build_result(builder, node_output(node, 0));
    if (dst < 0) return -1;
    return build_emit(builder, (Emit){.opcode = I_SEARCH, .fn = is_right ? SEARCH_RIGHT : SEARCH_LEFT, .n_dst = 1, .dst = &dst, .n_src = 2, .src = src});
}

/* The value as a vector. */
static int32_t flatten(Builder *builder, int32_t x)
{
    int32_t all = build_integer(builder, -1), src[2] = {x, all < 0 ? -1 : build_temporary(builder, DTYPE_INT64, 1)}, dst;

    if (src[1] < 0 || build_emit1(builder, I_PACK, src[1], 1, &all, 0, NULL) < 0) return -1;
    dst = build_temporary(builder, (DType)build_peek(builder, x)->dtype, 1);
    return dst < 0 || build_emit1(builder, I_RESHAPE, dst, 2, src, 0, NULL) < 0 ? -1 : dst;
}

int lower_unique(Builder *builder, PyObject *node)
{
    static const char *const names[] = {"return_index", "return_inverse", "return_counts"};
    int64_t axes[ARRAY_MAX_NDIM];
    int32_t x = build_value(builder, node_input(node, 0)), dst[4], fn = 0;
    int n;

    if (x < 0 || build_read_axes(builder, node_op(node), "axis", build_peek(builder, x)->ndim, axes, &n) < 0) return -1;
    if (n < 0) {
        x = flatten(builder, x);
        axes[0] = 0;
    }
    for (int i = 0; i < 3; i++) {
        bool is_wanted;
        if (build_read_bool(node_op(node), names[i], &is_wanted) < 0) return -1;
        fn |= is_wanted ? UNIQUE_FIRST << i : 0;
    }
    for (Py_ssize_t i = 0; i < node_n_outputs(node) && i < 4; i++) {
        dst[i] = build_result(builder, node_output(node, i));
        if (dst[i] < 0) return -1;
    }
    if (x < 0) return -1;
    return build_emit(builder, (Emit){.opcode = I_UNIQUE, .fn = fn, .n_dst = (int32_t)node_n_outputs(node), .dst = dst, .n_src = 1, .src = &x, .n_aux = 1, .aux = axes});
}

int lower_repeat(Builder *builder, PyObject *node)
{
    int64_t axes[ARRAY_MAX_NDIM], entries[ARRAY_MAX_NDIM];
    int32_t x = build_value(builder, node_input(node, 0)), counts[2], rows, src[2], dst;
    Value value;
    int n;

    if (x < 0 || build_describe(builder, node_input(node, 1), &value) < 0) return -1;
    if (value.ndim != 1) return 1;
    if (build_read_axes(builder, node_op(node), "axis", build_peek(builder, x)->ndim, axes, &n) < 0) return -1;
    if (n < 0) {
        x = flatten(builder, x);
        axes[0] = 0;
    }
    counts[0] = x < 0 ? -1 : build_value_as(builder, node_input(node, 1), DTYPE_INT64);
    counts[1] = counts[0] < 0 ? -1 : build_temporary(builder, DTYPE_INT64, 0);
    rows = counts[1] < 0 ? -1 : build_temporary(builder, DTYPE_INT64, 1);
    if (rows < 0 || build_emit1(builder, I_SHAPE_AT, counts[1], 1, &x, 1, axes) < 0 || build_emit1(builder, I_EXPAND, rows, 2, counts, 0, NULL) < 0) return -1;
    for (int64_t i = 0; i < axes[0]; i++) entries[i] = SLICE_RANGE;
    entries[axes[0]] = SLICE_ARRAY;
    src[0] = x;
    src[1] = rows;
    dst = build_result(builder, node_output(node, 0));
    return dst < 0 ? -1 : build_emit1(builder, I_GATHER, dst, 2, src, (int32_t)axes[0] + 1, entries);
}

int lower_band(Builder *builder, PyObject *node)
{
    int32_t src[3], dst;
    bool is_triangle;

    if (build_read_bool(node_op(node), "is_triangle", &is_triangle) < 0) return -1;
    for (int i = 0; i < 3; i++) {
        src[i] = build_length(builder, node_input(node, i));
        if (src[i] < 0) return -1;
    }
    dst = build_result(builder, node_output(node, 0));
    if (dst < 0) return -1;
    return build_emit(builder, (Emit){.opcode = I_BAND, .fn = is_triangle ? BAND_TRIANGLE : BAND_DIAGONAL, .n_dst = 1, .dst = &dst, .n_src = 3, .src = src});
}

int lower_diagonal(Builder *builder, PyObject *node)
{
    static const char *const names[3] = {"offset", "axis1", "axis2"};
    int64_t aux[3];
    int32_t src = build_value(builder, node_input(node, 0)), dst;
    int makes = build_is_kind(node, OP_ALLOC_DIAG), ndim;

    if (src < 0 || makes < 0) return -1;
    ndim = build_peek(builder, src)->ndim + (makes ? 1 : 0);
    for (int i = 0; i < 3; i++) {
        if (build_read_int(node_op(node), names[i], &aux[i]) < 0) return -1;
        aux[i] += i > 0 && aux[i] < 0 ? ndim : 0;
        if (i > 0 && (aux[i] < 0 || aux[i] >= ndim)) return 1;
    }
    if (aux[1] == aux[2]) return 1; /* NumPy says what is wrong */
    dst = build_result(builder, node_output(node, 0));
    if (dst < 0) return -1;
    return build_emit(builder, (Emit){.opcode = I_DIAGONAL, .fn = makes ? DIAGONAL_MAKE : DIAGONAL_TAKE, .n_dst = 1, .dst = &dst, .n_src = 1, .src = &src, .n_aux = 3,
                                      .aux = aux});
}

/* ---- products of stacks ---- */

/* A factor with a further axis (`at`: its place) of length 1 where it is a vector of the stack. */
static int32_t read_factor(Builder *builder, PyObject *variable, DType dtype, int vector_ndim, int at)
{
    int32_t src = build_value_as(builder, variable, dtype), dst;
    int64_t axes[ARRAY_MAX_NDIM];
    int ndim;

    if (src < 0) return -1;
    ndim = build_peek(builder, src)->ndim;
    if (ndim != vector_ndim) return src;
    at = at < 0 ? ndim : at;
    for (int i = 0, next = 0; i <= ndim; i++) axes[i] = i == at ? -1 : next++;
    dst = build_temporary(builder, dtype, ndim + 1);
    return dst < 0 || build_emit1(builder, I_TRANSPOSE, dst, 1, &src, ndim + 1, axes) < 0 ? -1 : dst;
}

int lower_matmul(Builder *builder, PyObject *node)
{
    int32_t src[2], dst = build_result(builder, node_output(node, 0)), made;
    int64_t is_strict, axes[ARRAY_MAX_NDIM];
    int batched = build_is_kind(node, OP_BATCHED_DOT), vector_ndim = batched > 0 ? 2 : 1, ndim, left, right, n = 0;
    Value value[2];
    DType dtype;

    if (dst < 0 || batched < 0 || build_describe(builder, node_input(node, 0), &value[0]) < 0 || build_describe(builder, node_input(node, 1), &value[1]) < 0) return -1;
    is_strict = batched;
    dtype = (DType)build_peek(builder, dst)->dtype;
    left = value[0].ndim == vector_ndim;
    right = value[1].ndim == vector_ndim;
    src[0] = read_factor(builder, node_input(node, 0), dtype, vector_ndim, vector_ndim - 1);
    src[1] = src[0] < 0 ? -1 : read_factor(builder, node_input(node, 1), dtype, vector_ndim, -1);
    if (src[1] < 0) return -1;
    ndim = build_peek(builder, dst)->ndim + left + right;
    made = left || right ? build_temporary(builder, dtype, ndim) : dst;
    if (made < 0 || build_emit(builder, (Emit){.opcode = I_MATMUL, .dtype = dtype, .n_dst = 1, .dst = &made, .n_src = 2, .src = src, .n_aux = 1, .aux = &is_strict}) < 0) return -1;
    if (made == dst) return 0;
    for (int i = 0; i < ndim; i++) {
        if (!(left && i == ndim - 2) && !(right && i == ndim - 1)) axes[n++] = i;
    }
    return build_emit1(builder, I_TRANSPOSE, dst, 1, &made, n, axes);
}

/* ---- choosing ---- */

static int read_mode(Builder *builder, PyObject *op, int32_t *mode)
{
    static const char *const names[N_CHOOSE] = {[CHOOSE_RAISE] = "raise", [CHOOSE_WRAP] = "wrap", [CHOOSE_CLIP] = "clip"};
    PyObject *attribute = PyObject_GetAttrString(op, "mode");
    const char *text = attribute == NULL ? NULL : PyUnicode_AsUTF8(attribute);

    *mode = text == NULL ? -1 : names_find(text, names, N_CHOOSE, sizeof names[0]);
    if (text != NULL && *mode < 0) build_refuse(builder, PyExc_ValueError, "there is no mode %R", attribute);
    Py_XDECREF(attribute);
    return *mode < 0 ? -1 : 0;
}

int lower_choose(Builder *builder, PyObject *node)
{
    int32_t src[2], dst, mode;

    if (read_mode(builder, node_op(node), &mode) < 0) return -1;
    src[0] = build_value_as(builder, node_input(node, 0), DTYPE_INT64);
    src[1] = src[0] < 0 ? -1 : build_value(builder, node_input(node, 1));
    dst = src[1] < 0 ? -1 : build_result(builder, node_output(node, 0));
    if (dst < 0) return -1;
    return build_emit(builder, (Emit){.opcode = I_CHOOSE, .fn = mode, .n_dst = 1, .dst = &dst, .n_src = 2, .src = src});
}
