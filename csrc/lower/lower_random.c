/* Random variables: draws of the distributions in dists.def; others call back.
 *
 * Relies on: build, random (the table). Relied on by: lower.c. */
#include "lower/build.h"

#include "random/stream.h"

/* Whether a parameter has too low a rank for one draw; a size given, Aesara takes that. */
static int is_too_low(Builder *builder, PyObject *node, int dist, bool *found)
{
    Value value;

    *found = false;
    for (int i = 0; i < dist_n_params(dist); i++) {
        if (build_describe(builder, node_input(node, 3 + i), &value) < 0) return -1;
        *found |= value.ndim < dist_node_ndim(dist, i);
    }
    return 0;
}

/* The distribution's number; N_DISTS when it has no row or was given other parameters than the row has. */
static int find_dist(PyObject *node, int *dist)
{
    PyObject *name = PyObject_GetAttrString(node_op(node), "name");
    const char *text = name != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    int number = text == NULL ? -1 : dist_from_name(text);

    Py_XDECREF(name);
    if (PyErr_Occurred()) return -1;
    *dist = number < 0 || node_n_inputs(node) != 3 + dist_n_params(number) || node_n_outputs(node) != 2 ? N_DISTS : number;
    return 0;
}

/* 1 if the size input says nothing: a vector of length 0, constant or by its type. */
static int size_is_empty(PyObject *size)
{
    bool is_constant = PyObject_TypeCheck(size, graph_state_of(size)->Constant);
    PyObject *shape = PyObject_GetAttrString(is_constant ? ((Constant *)size)->data : ((Variable *)size)->type, "shape");
    PyObject *length = shape != NULL && PyTuple_Check(shape) && PyTuple_GET_SIZE(shape) == 1 ? PyTuple_GET_ITEM(shape, 0) : NULL;
    int result = shape == NULL ? -1 : length != NULL && PyLong_Check(length) && PyLong_AsSsize_t(length) == 0;

    Py_XDECREF(shape);
    return result;
}

/* Generator and size. */
static int read_head(Builder *builder, PyObject *node, Numbers *src, int64_t *has_size)
{
    int32_t rng = build_value(builder, node_input(node, 0)), size;
    int is_empty = rng < 0 ? -1 : size_is_empty(node_input(node, 1));

    if (is_empty < 0) return -1;
    if (build_peek(builder, rng)->value_class != VALUE_STREAM) return build_refuse(builder, PyExc_TypeError, "%S is not a generator", node_input(node, 0));
    if (numbers_add(src, rng) < 0) return -1;
    *has_size = !is_empty;
    if (is_empty) return 0;
    size = build_value_as(builder, node_input(node, 1), DTYPE_INT64);
    if (size < 0) return -1;
    if (build_peek(builder, size)->ndim != 1) return build_refuse(builder, PyExc_TypeError, "the size must be a vector of integers");
    return numbers_add(src, size);
}

static int read_params(Builder *builder, PyObject *node, int dist, Numbers *src)
{
    for (int i = 0; i < dist_n_params(dist); i++) {
        int32_t number = build_value_as(builder, node_input(node, 3 + i), dist_param_dtype(dist, i));
        if (number < 0 || numbers_add(src, number) < 0) return -1;
    }
    return 0;
}

int lower_random(Builder *builder, PyObject *node)
{
    Numbers src = {0};
    int64_t has_size;
    bool inplace, too_low;
    int dist, result = -1;
    int32_t dst[2], drawn;
    DType dtype;
    Value value;

    if (find_dist(node, &dist) < 0) return -1;
    if (dist == N_DISTS) return 1;
    if (is_too_low(builder, node, dist, &too_low) < 0) return -1;
    if (too_low) return 1;
    if (build_read_bool(node_op(node), "inplace", &inplace) < 0) return -1;
    if (read_head(builder, node, &src, &has_size) < 0 || read_params(builder, node, dist, &src) < 0) goto done;
    dst[0] = build_result(builder, node_output(node, 0));
    drawn = dst[0] < 0 ? -1 : build_result(builder, node_output(node, 1));
    if (drawn < 0) goto done;
    value = *build_peek(builder, drawn);
    dtype = dist_result_kind(dist) == 'd' ? DTYPE_FLOAT64 : DTYPE_INT64;
    dst[1] = value.dtype == dtype ? drawn : build_temporary(builder, dtype, value.ndim);
    if (dst[1] < 0) goto done;
    result = build_emit(builder, (Emit){.opcode = I_DRAW, .fn = dist, .dtype = dtype, .flags = inplace ? INSTR_INPLACE : 0, .n_dst = 2, .dst = dst,
                                        .n_src = src.n, .src = src.items, .n_aux = 1, .aux = &has_size});
    if (result == 0 && dst[1] != drawn) result = build_emit1(builder, I_CAST, drawn, 1, &dst[1], 0, NULL);
done:
    numbers_clear(&src);
    return result;
}
