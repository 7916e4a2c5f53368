/* What libraries compute: special functions and linear algebra.
 *
 * The Op says which row of library.def it is; where the running libraries do not have it, the Op's `kind` is None and
 * it stays a call-back. Relies on: build. Relied on by: lower.c. */
#include "lower/build.h"

#include <string.h>

/* The row that an attribute names. */
static int read_library(Builder *builder, PyObject *object, const char *name, int *library)
{
    PyObject *attribute = PyObject_GetAttrString(object, name);
    const char *text = attribute == NULL ? NULL : PyUnicode_AsUTF8(attribute);

    *library = text == NULL ? -1 : library_from_name(text);
    if (text != NULL && *library < 0) build_refuse(builder, PyExc_ValueError, "there is no library function %R", attribute);
    Py_XDECREF(attribute);
    return *library < 0 ? -1 : 0;
}

enum { MAX_OUTPUTS = 4 };

int lower_apply(Builder *builder, int library, DType dtype, int64_t allows_failure, int32_t n_dst, const int32_t *dst, int32_t n_src, const int32_t *src)
{
    return build_emit(builder, (Emit){.opcode = I_APPLY, .fn = library, .dtype = dtype, .n_dst = n_dst, .dst = dst, .n_src = n_src, .src = src, .n_aux = 1,
                                      .aux = &allows_failure});
}

/* ---- special functions ---- */

/* The sources that `order` names: an input by its place, or, when negative, a constant by its opposite. */
static int read_order(Builder *builder, PyObject *node, PyObject *order, DType dtype, Numbers *src)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(order); i++) {
        long place = PyLong_AsLong(PyTuple_GET_ITEM(order, i));
        int32_t number;

        if (place == -1 && PyErr_Occurred()) return -1;
        if (place >= node_n_inputs(node)) return build_refuse(builder, PyExc_IndexError, "there is no input %ld", place);
        number = place < 0 ? build_cast(builder, build_integer(builder, -place), dtype) : build_value_as(builder, node_input(node, place), dtype);
        if (number < 0 || numbers_add(src, number) < 0) return -1;
    }
    return 0;
}

/* The result times a library's gamma of the first input. */
static int emit_product(Builder *builder, PyObject *node, DType dtype, int32_t dst, int32_t value)
{
    int32_t first = build_value_as(builder, node_input(node, 0), dtype), src[2] = {value, -1};

    if (first < 0 || (src[1] = build_temporary(builder, dtype, build_peek(builder, first)->ndim)) < 0) return -1;
    if (lower_apply(builder, LIBRARY_GAMMA, dtype, 0, 1, &src[1], 1, &first) < 0) return -1;
    return build_emit(builder, (Emit){.opcode = I_MAP, .fn = SCALAR_MUL, .dtype = dtype, .n_dst = 1, .dst = &dst, .n_src = 2, .src = src});
}

int lower_special(Builder *builder, PyObject *node)
{
    PyObject *scalar = PyObject_GetAttrString(node_op(node), "scalar_op"), *order = scalar == NULL ? NULL : PyObject_GetAttrString(scalar, "order");
    Numbers src = {0};
    int32_t dst, made;
    bool times_gamma;
    int library, result = -1;

    if (order == NULL || !PyTuple_Check(order) || read_library(builder, scalar, "library", &library) < 0 || build_read_bool(scalar, "times_gamma", &times_gamma) < 0) goto done;
    dst = build_result(builder, node_output(node, 0));
    if (dst < 0 || read_order(builder, node, order, (DType)build_peek(builder, dst)->dtype, &src) < 0) goto done;
    made = times_gamma ? build_temporary(builder, (DType)build_peek(builder, dst)->dtype, build_peek(builder, dst)->ndim) : dst;
    if (made < 0) goto done;
    result = lower_apply(builder, library, (DType)build_peek(builder, dst)->dtype, 0, 1, &made, src.n, src.items);
    if (result == 0 && times_gamma) result = emit_product(builder, node, (DType)build_peek(builder, dst)->dtype, dst, made);
done:
    Py_XDECREF(order);
    Py_XDECREF(scalar);
    numbers_clear(&src);
    return result;
}

/* ---- matrices ---- */

int lower_apply_double(Builder *builder, int library, int64_t allows_failure, int32_t n_dst, const int32_t *dst, int32_t n_src, const int32_t *src)
{
    DType dtype = dtype_promote((DType)build_peek(builder, src[0])->dtype, DTYPE_FLOAT64);
    int32_t wide_src[LIBRARY_MAX_OPERANDS], wide_dst[LIBRARY_MAX_OPERANDS];

    for (int32_t i = 0; i < n_src; i++) {
        wide_src[i] = build_cast(builder, src[i], library_dtype(library, i, dtype));
        if (wide_src[i] < 0) return -1;
    }
    for (int32_t i = 0; i < n_dst; i++) {
        DType declared = (DType)build_peek(builder, dst[i])->dtype, wide = library_dtype(library, n_src + i, dtype);
        wide_dst[i] = declared == wide ? dst[i] : build_temporary(builder, wide, build_peek(builder, dst[i])->ndim);
        if (wide_dst[i] < 0) return -1;
    }
    if (lower_apply(builder, library, dtype, allows_failure, n_dst, wide_dst, n_src, wide_src) < 0) return -1;
    for (int32_t i = 0; i < n_dst; i++) {
        if (wide_dst[i] != dst[i] && build_emit1(builder, I_CAST, dst[i], 1, &wide_dst[i], 0, NULL) < 0) return -1;
    }
    return 0;
}

/* The transpose of a matrix, or (is_conjugated) its adjoint, in `dst`. */
static int emit_transpose(Builder *builder, int32_t dst, int32_t src, bool is_conjugated)
{
    static const int64_t axes[2] = {1, 0};
    DType dtype = (DType)build_peek(builder, src)->dtype;
    int32_t turned = is_conjugated && dtype_kind(dtype) == 'c' ? build_temporary(builder, dtype, 2) : dst;

    if (turned < 0 || build_emit1(builder, I_TRANSPOSE, turned, 1, &src, 2, axes) < 0) return -1;
    return turned == dst ? 0 : build_emit(builder, (Emit){.opcode = I_MAP, .fn = SCALAR_CONJ, .dtype = dtype, .n_dst = 1, .dst = &dst, .n_src = 1, .src = &turned});
}

int lower_matrix(Builder *builder, PyObject *node)
{
    PyObject *op = node_op(node);
    int32_t src = build_value(builder, node_input(node, 0)), dst[MAX_OUTPUTS], n = (int32_t)node_n_outputs(node), made;
    bool is_adjoint, allows_failure;
    int library;

    if (src < 0 || n > MAX_OUTPUTS || read_library(builder, op, "library", &library) < 0 || build_read_bool(op, "is_adjoint", &is_adjoint) < 0
        || build_read_bool(op, "allows_failure", &allows_failure) < 0)
        return -1;
    for (int32_t i = 0; i < n; i++) {
        dst[i] = build_result(builder, node_output(node, i));
        if (dst[i] < 0) return -1;
    }
    if (!is_adjoint) return lower_apply_double(builder, library, allows_failure, n, dst, 1, &src);
    made = build_temporary(builder, (DType)build_peek(builder, src)->dtype, 2);
    if (made < 0 || lower_apply_double(builder, library, allows_failure, 1, &made, 1, &src) < 0) return -1;
    return emit_transpose(builder, dst[0], made, true);
}

/* The matrix of a system as it is to be read: a triangle, mirrored or not, and turned. */
static int32_t prepare_matrix(Builder *builder, PyObject *op, int32_t a)
{
    DType dtype = (DType)build_peek(builder, a)->dtype;
    int64_t triangle, turn;
    int32_t dst;

    if (build_read_int(op, "triangle", &triangle) < 0 || build_read_int(op, "turn", &turn) < 0) return -1;
    if (triangle >= 0) {
        dst = build_temporary(builder, dtype, 2);
        if (dst < 0 || build_emit(builder, (Emit){.opcode = I_TRIANGLE, .fn = (int32_t)triangle, .dtype = dtype, .n_dst = 1, .dst = &dst, .n_src = 1, .src = &a}) < 0) return -1;
        a = dst;
    }
    if (turn == 0) return a;
    dst = build_temporary(builder, dtype, 2);
    return dst < 0 || emit_transpose(builder, dst, a, turn == 2) < 0 ? -1 : dst;
}

int lower_solve(Builder *builder, PyObject *node)
{
    int32_t src[2], dst = build_result(builder, node_output(node, 0));
    DType dtype;

    if (dst < 0) return -1;
    dtype = (DType)build_peek(builder, dst)->dtype;
    src[0] = build_value_as(builder, node_input(node, 0), dtype);
    src[1] = build_value_as(builder, node_input(node, 1), dtype);
    if (src[0] < 0 || src[1] < 0 || (src[0] = prepare_matrix(builder, node_op(node), src[0])) < 0) return -1;
    return lower_apply_double(builder, build_peek(builder, src[1])->ndim == 1 ? LIBRARY_SOLVE1 : LIBRARY_SOLVE, 0, 1, &dst, 2, src);
}
