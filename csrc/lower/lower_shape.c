/* Shapes and layout: views, allocation, joining, ranges, checks.
 *
 * Relies on: build. Relied on by: lower.c. */
#include "lower/build.h"

#include <string.h>

/* One source, one destination, nothing else. */
static int emit_plain(Builder *builder, PyObject *node, Opcode opcode, int32_t n_aux, const int64_t *aux)
{
    int32_t src = build_value(builder, node_input(node, 0)), dst;

    if (src < 0) return -1;
    dst = build_result(builder, node_output(node, 0));
    return dst < 0 ? -1 : build_emit1(builder, opcode, dst, 1, &src, n_aux, aux);
}

/* The output is the input by another name: no instruction. */
int lower_alias(Builder *builder, PyObject *node)
{
    int32_t src = build_value(builder, node_input(node, 0));

    return src < 0 ? -1 : build_bind(builder, node_output(node, 0), src);
}

/* Objects are handed on as they are: programs do not know what a copy of one would be. */
int lower_copy(Builder *builder, PyObject *node)
{
    int32_t src = build_value(builder, node_input(node, 0));

    if (src < 0) return -1;
    if (build_peek(builder, src)->value_class == VALUE_OBJECT) return lower_alias(builder, node);
    return emit_plain(builder, node, I_COPY, 0, NULL);
}

/* ---- dimshuffle ---- */

/* new_order as axis numbers, -1 for 'x'; *n is its length, or -1 when there is no native form. */
static int read_order(Builder *builder, PyObject *op, int ndim, int64_t *order, int *n)
{
    PyObject *attribute = PyObject_GetAttrString(op, "new_order"), *items = NULL;
    int result = -1;

    if (attribute == NULL) return -1;
    items = PySequence_Tuple(attribute);
    if (items == NULL) goto done;
    if (PyTuple_GET_SIZE(items) > ARRAY_MAX_NDIM) {
        build_refuse(builder, PyExc_NotImplementedError, "%zd dimensions; at most %d are supported", PyTuple_GET_SIZE(items), ARRAY_MAX_NDIM);
        goto done;
    }
    *n = (int)PyTuple_GET_SIZE(items);
    for (int i = 0; i < *n; i++) {
        PyObject *item = PyTuple_GET_ITEM(items, i);
        order[i] = PyUnicode_Check(item) ? -1 : PyLong_AsLongLong(item);
        if (order[i] == -1 && PyErr_Occurred()) goto done;
        if (order[i] >= ndim || order[i] < -1) {
            build_refuse(builder, PyExc_ValueError, "axis %lld is out of bounds for %d dimensions", (long long)order[i], ndim);
            goto done;
        }
    }
    result = 0;
done:
    Py_XDECREF(items);
    Py_DECREF(attribute);
    return result;
}

static bool keeps_axes(const int64_t *order, int n, int ndim)
{
    for (int i = 0; i < n; i++)
        if (order[i] != i) return false;
    return n == ndim;
}

int lower_dimshuffle_now(Builder *builder, PyObject *node)
{
    int64_t order[ARRAY_MAX_NDIM];
    int n;
    int32_t src = build_value(builder, node_input(node, 0));

    if (src < 0 || read_order(builder, node_op(node), build_peek(builder, src)->ndim, order, &n) < 0) return -1;
    if (keeps_axes(order, n, build_peek(builder, src)->ndim)) return lower_alias(builder, node);
    return emit_plain(builder, node, I_TRANSPOSE, n, order);
}

/* Whether the order only puts new axes before all of the old ones, as broadcasting does by itself. */
static bool adds_leading_axes(const int64_t *order, int n, int ndim)
{
    for (int i = 0; i < n; i++)
        if (order[i] != (i < n - ndim ? -1 : i - (n - ndim))) return false;
    return n > ndim;
}

int lower_dimshuffle(Builder *builder, PyObject *node)
{
    int64_t order[ARRAY_MAX_NDIM];
    int n;
    Value value;

    if (build_describe(builder, node_input(node, 0), &value) < 0 || read_order(builder, node_op(node), value.ndim, order, &n) < 0) return -1;
    return adds_leading_axes(order, n, value.ndim) ? build_defer(builder) : lower_dimshuffle_now(builder, node);
}

/* ---- shapes ---- */

int lower_reshape(Builder *builder, PyObject *node)
{
    int32_t src[2], dst;

    src[0] = build_value(builder, node_input(node, 0));
    src[1] = src[0] < 0 ? -1 : build_value_as(builder, node_input(node, 1), DTYPE_INT64);
    if (src[1] < 0) return -1;
    if (build_peek(builder, src[1])->ndim != 1) return build_refuse(builder, PyExc_TypeError, "the new shape must be a vector");
    dst = build_result(builder, node_output(node, 0));
    return dst < 0 ? -1 : build_emit1(builder, I_RESHAPE, dst, 2, src, 0, NULL);
}

int lower_shape(Builder *builder, PyObject *node) { return emit_plain(builder, node, I_SHAPE, 0, NULL); }

int lower_shape_i(Builder *builder, PyObject *node)
{
    int64_t axis;

    if (build_read_int(node_op(node), "i", &axis) < 0) return -1;
    return emit_plain(builder, node, I_SHAPE_AT, 1, &axis);
}

int lower_alloc(Builder *builder, PyObject *node)
{
    Numbers src = {0};
    int32_t dst = build_result(builder, node_output(node, 0)), value;
    int result = -1;

    value = dst < 0 ? -1 : build_value_as(builder, node_input(node, 0), (DType)build_peek(builder, dst)->dtype);
    if (value < 0) goto done;
    if (node_n_inputs(node) == 1) {
        result = build_emit1(builder, I_COPY, dst, 1, &value, 0, NULL);
        goto done;
    }
    if (numbers_add(&src, value) < 0 || build_lengths(builder, node, 1, &src) < 0) goto done;
    result = build_emit1(builder, I_FILL, dst, src.n, src.items, 0, NULL);
done:
    numbers_clear(&src);
    return result;
}

int lower_alloc_empty(Builder *builder, PyObject *node)
{
    Numbers src = {0};
    int32_t dst = build_result(builder, node_output(node, 0));
    int64_t past = dst < 0 ? -1 : lower_find_past(builder, node), length;
    int result = past < 0 ? -1 : build_lengths(builder, node, 0, &src);

    if (result == 0 && past > 0) {
        result = build_read_constant(node_input(node, 0), &length) < 0 || (src.items[0] = build_integer(builder, length + past)) < 0 ? -1 : 0;
    }
    if (result == 0) result = build_emit1(builder, I_EMPTY, dst, src.n, src.items, 0, NULL);
    numbers_clear(&src);
    return result;
}

/* The node's inputs from `first` on, cast to one dtype. */
static int read_parts(Builder *builder, PyObject *node, Py_ssize_t first, DType dtype, Numbers *src)
{
    for (Py_ssize_t i = first; i < node_n_inputs(node); i++) {
        int32_t number = build_value_as(builder, node_input(node, i), dtype);
        if (number < 0 || numbers_add(src, number) < 0) return -1;
    }
    return 0;
}

int lower_make_vector(Builder *builder, PyObject *node)
{
    Numbers src = {0};
    int32_t dst = build_result(builder, node_output(node, 0));
    int result = dst < 0 ? -1 : read_parts(builder, node, 0, (DType)build_peek(builder, dst)->dtype, &src);

    if (result == 0) result = build_emit1(builder, I_PACK, dst, src.n, src.items, 0, NULL);
    numbers_clear(&src);
    return result;
}

/* 1 with the axis of a Join, counted from 0, if it is a constant and there is such an axis; 0 if the instruction has to look. */
static int read_join_axis(PyObject *variable, int ndim, int64_t *axis)
{
    int is_known = build_read_constant(variable, axis);

    if (is_known <= 0) return is_known;
    if (*axis < 0) *axis += ndim;
    return *axis >= 0 && *axis < ndim;
}

int lower_join(Builder *builder, PyObject *node)
{
    Numbers src = {0};
    int64_t axis;
    int32_t dst = build_result(builder, node_output(node, 0)), number;
    int is_known = dst < 0 ? -1 : read_join_axis(node_input(node, 0), build_peek(builder, dst)->ndim, &axis), result = -1;

    if (is_known < 0) return -1;
    if (!is_known && ((number = build_length(builder, node_input(node, 0))) < 0 || numbers_add(&src, number) < 0)) goto done;
    if (read_parts(builder, node, 1, (DType)build_peek(builder, dst)->dtype, &src) == 0) result = build_emit1(builder, I_JOIN, dst, src.n, src.items, is_known, &axis);
done:
    numbers_clear(&src);
    return result;
}

/* Bounds are compared in the type that holds all three, then the numbers are cast, as NumPy does. */
int lower_arange(Builder *builder, PyObject *node)
{
    int32_t src[3], dst, made;
    DType dtype = DTYPE_BOOL;
    Value value;

    for (int i = 0; i < 4; i++) { /* the three inputs, and what is declared */
        if (build_describe(builder, i < 3 ? node_input(node, i) : node_output(node, 0), &value) < 0) return -1;
        dtype = dtype_promote(dtype, (DType)value.dtype);
    }
    dtype = dtype_kind(dtype) == 'f' ? DTYPE_FLOAT64 : DTYPE_INT64;
    for (int i = 0; i < 3; i++) {
        src[i] = build_value_as(builder, node_input(node, i), dtype);
        if (src[i] < 0) return -1;
    }
    dst = build_result(builder, node_output(node, 0));
    if (dst < 0) return -1;
    made = build_peek(builder, dst)->dtype == dtype ? dst : build_temporary(builder, dtype, 1);
    if (made < 0 || build_emit1(builder, I_ARANGE, made, 3, src, 0, NULL) < 0) return -1;
    return made == dst ? 0 : build_emit1(builder, I_CAST, dst, 1, &made, 0, NULL);
}

/* ---- checks ---- */

int lower_specify_shape(Builder *builder, PyObject *node)
{
    Numbers src = {0};
    int64_t given[ARRAY_MAX_NDIM] = {0};
    int32_t dst = -1, n = (int32_t)node_n_inputs(node) - 1, number = build_value(builder, node_input(node, 0));
    int result = -1;

    if (number < 0 || numbers_add(&src, number) < 0) goto done;
    if (n > ARRAY_MAX_NDIM || n != build_peek(builder, number)->ndim) {
        build_refuse(builder, PyExc_ValueError, "%d lengths are given for %d dimensions", (int)n, (int)build_peek(builder, number)->ndim);
        goto done;
    }
    for (int32_t i = 0; i < n; i++) {
        PyObject *length = node_input(node, i + 1);
        Value value;
        if (build_describe(builder, length, &value) < 0) goto done;
        given[i] = value.value_class <= VALUE_ARRAY;
        if (!given[i]) continue;
        number = build_length(builder, length);
        if (number < 0 || numbers_add(&src, number) < 0) goto done;
    }
    if (n == 0) {
        result = lower_alias(builder, node);
        goto done;
    }
    dst = build_result(builder, node_output(node, 0));
    if (dst >= 0) result = build_emit1(builder, I_CHECK_SHAPE, dst, src.n, src.items, n, given);
done:
    numbers_clear(&src);
    return result;
}

/* The message of an assertion as a text of the program. */
static int read_message(Builder *builder, PyObject *op, int64_t *text)
{
    PyObject *message = PyObject_GetAttrString(op, "msg"), *string;
    const char *utf8;
    Status status;

    status_clear(&status);
    string = message == NULL ? NULL : PyObject_Str(message);
    Py_XDECREF(message);
    utf8 = string == NULL ? NULL : PyUnicode_AsUTF8(string);
    *text = utf8 == NULL ? -1 : program_add_text(builder->program, utf8, &status);
    Py_XDECREF(string);
    if (utf8 == NULL) return -1;
    return *text < 0 ? build_raise(&status) : 0;
}

int lower_assert(Builder *builder, PyObject *node)
{
    Numbers src = {0};
    int64_t text;
    int32_t dst, number = build_value(builder, node_input(node, 0));
    int result = -1;

    if (number < 0 || numbers_add(&src, number) < 0 || read_message(builder, node_op(node), &text) < 0) goto done;
    if (read_parts(builder, node, 1, DTYPE_BOOL, &src) < 0) goto done;
    for (int32_t i = 1; i < src.n; i++) {
        if (build_peek(builder, src.items[i])->ndim == 0) continue;
        build_refuse(builder, PyExc_TypeError, "condition %S is not a scalar", node_input(node, i));
        goto done;
    }
    dst = build_result(builder, node_output(node, 0));
    if (dst >= 0) result = build_emit1(builder, I_ASSERT, dst, src.n, src.items, 1, &text);
done:
    numbers_clear(&src);
    return result;
}
