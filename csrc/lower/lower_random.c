/* Random variables: draws of the distributions in dists.def; others call back.
 *
 * Relies on: build, random (the table). Relied on by: lower.c. */
#include "lower/build.h"

#include "random/stream.h"

/* Whether a parameter is one that the draw does not take: of too low a rank (Aesara takes that where a size is given), or
 * no number. *found is left alone otherwise. */
static int look_at_param(Builder *builder, PyObject *variable, int dist, int i, bool *found)
{
    Value value;

    if (build_describe(builder, variable, &value) < 0) return -1;
    switch (dist_param_kind(dist, i)) {
    case 'o':
        *found |= value.value_class == VALUE_ARRAY ? value.ndim != 1 : value.value_class != VALUE_OBJECT;
        return 0;
    case 'b':
        *found |= value.value_class != VALUE_SCALAR;
        return 0;
    default:
        *found |= value.value_class > VALUE_ARRAY || value.ndim < dist_param_ndim(dist, i);
        return 0;
    }
}

static int has_odd_param(Builder *builder, PyObject *node, int dist, bool *found)
{
    *found = false;
    for (int i = 0; i < dist_n_node_params(dist); i++)
        if (look_at_param(builder, node_input(node, 3 + i), dist, i, found) < 0) return -1;
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
    *dist = number < 0 || node_n_inputs(node) != 3 + dist_n_node_params(number) || node_n_outputs(node) != 2 ? N_DISTS : number;
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
static int read_head(Builder *builder, PyObject *node, int dist, Numbers *src, int64_t *has_size)
{
    int32_t rng = build_value(builder, node_input(node, 0)), size;
    int is_empty = rng < 0 ? -1 : !dist_takes_size(dist) || size_is_empty(node_input(node, 1));

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

/* How many positions an array has along its first axis; as many as it says itself, when it is an integer. */
static int32_t count_positions(Builder *builder, PyObject *variable)
{
    int32_t array = build_value(builder, variable), length;
    const int64_t axis = 0;

    if (array < 0) return -1;
    if (build_peek(builder, array)->ndim == 0) return build_length(builder, variable);
    length = build_temporary(builder, DTYPE_INT64, 0);
    return length < 0 || build_emit1(builder, I_SHAPE_AT, length, 1, &array, 1, &axis) < 0 ? -1 : length;
}

/* A vector that may be None; float32 is not widened, since NumPy's checks depend on it. */
static int32_t read_optional(Builder *builder, PyObject *variable)
{
    Value value;

    if (build_describe(builder, variable, &value) < 0) return -1;
    if (value.value_class == VALUE_OBJECT) return build_integer(builder, 0);
    return value.dtype == DTYPE_FLOAT32 ? build_value(builder, variable) : build_value_as(builder, variable, DTYPE_FLOAT64);
}

static int32_t read_param(Builder *builder, PyObject *variable, int dist, int i)
{
    switch (dist_param_kind(dist, i)) {
    case 'n':
        return count_positions(builder, variable);
    case 'o':
        return read_optional(builder, variable);
    default:
        return build_value_as(builder, variable, dist_param_dtype(dist, i));
    }
}

/* Whether float32 holds all values of a dtype: SciPy's and NumPy's functions then compute in it. */
static bool fits_single(DType dtype)
{
    return dtype_kind(dtype) == 'f' || dtype == DTYPE_BOOL ? dtype_bytes(dtype) <= 4 : dtype_bytes(dtype) <= 2;
}

/* Whether the node's vector is of float32. */
static int32_t read_width(Builder *builder, PyObject *node, int dist)
{
    Value value;
    int i = 0;

    while (dist_param_kind(dist, i) != 'v') {
        i++;
    }
    if (build_describe(builder, node_input(node, 3 + i), &value) < 0) return -1;
    return build_integer(builder, value.dtype == DTYPE_FLOAT32);
}

/* The draw's `single`, by the dtypes of the node's parameters; integers alone are divided as doubles. */
static int32_t read_rounding(Builder *builder, PyObject *node, int dist)
{
    int n = dist_rounding(dist) == 'r' ? 2 : 1;
    bool fits = true, has_float = n == 1;

    if (dist_rounding(dist) == 'w') return read_width(builder, node, dist);
    for (int i = 0; i < n; i++) {
        Value value;
        if (build_describe(builder, node_input(node, 3 + i), &value) < 0) return -1;
        fits = fits && fits_single((DType)value.dtype);
        has_float = has_float || dtype_kind((DType)value.dtype) == 'f';
    }
    return build_integer(builder, fits && has_float);
}

static int read_params(Builder *builder, PyObject *node, int dist, Numbers *src)
{
    for (int i = 0; i < dist_n_params(dist); i++) {
        int32_t number = i < dist_n_node_params(dist) ? read_param(builder, node_input(node, 3 + i), dist, i) : read_rounding(builder, node, dist);
        if (number < 0 || numbers_add(src, number) < 0) return -1;
    }
    return 0;
}

/* Emits source -> the node's output: a cast, or a copy where the dtype is the same. */
static int put_as_output(Builder *builder, PyObject *node, int32_t source)
{
    int32_t output = source < 0 ? -1 : build_result(builder, node_output(node, 1));

    if (output < 0) return -1;
    return build_emit1(builder, build_peek(builder, source)->dtype == build_peek(builder, output)->dtype ? I_COPY : I_CAST, output, 1, &source, 0, NULL);
}

/* Brings what stands in an array at the positions drawn into the node's output. */
static int take_positions(Builder *builder, PyObject *node, int32_t positions)
{
    int32_t src[2] = {build_value(builder, node_input(node, 3)), positions}, taken;
    const int64_t entry = SLICE_INDEX;
    int ndim = build_peek(builder, positions)->ndim;
    Value array, drawn;

    if (src[0] < 0 || build_describe(builder, node_output(node, 1), &drawn) < 0) return -1;
    array = *build_peek(builder, src[0]);
    if (ndim > 0 && array.dtype == drawn.dtype) {
        taken = build_result(builder, node_output(node, 1));
        return taken < 0 ? -1 : build_emit1(builder, I_TAKE, taken, 2, src, 0, NULL);
    }
    taken = build_temporary(builder, (DType)array.dtype, ndim + array.ndim - 1);
    if (taken < 0 || build_emit1(builder, ndim > 0 ? I_TAKE : I_SLICE, taken, 2, src, ndim == 0, &entry) < 0) return -1;
    return put_as_output(builder, node, taken); /* a row by position is a view; draws are fresh memory to those who write in place */
}

/* A place for what is drawn: the node's output, or a temporary value from which that is made (see put_drawn). */
static int32_t add_drawn(Builder *builder, PyObject *node, int dist)
{
    DType dtype = dist_result_kind(dist) == 'd' ? DTYPE_FLOAT64 : DTYPE_INT64;
    Value drawn, first;

    if (build_describe(builder, node_output(node, 1), &drawn) < 0 || build_describe(builder, node_input(node, 3), &first) < 0) return -1;
    if (dist_param_kind(dist, 0) == 'n' && first.ndim > 0) return build_temporary(builder, dtype, drawn.ndim - (first.ndim - 1));
    return drawn.dtype == dtype ? build_result(builder, node_output(node, 1)) : build_temporary(builder, dtype, drawn.ndim);
}

static int put_drawn(Builder *builder, PyObject *node, int dist, int32_t drawn)
{
    Value first, output;

    if (build_describe(builder, node_input(node, 3), &first) < 0 || build_describe(builder, node_output(node, 1), &output) < 0) return -1;
    if (dist_param_kind(dist, 0) == 'n' && first.ndim > 0) return take_positions(builder, node, drawn);
    return build_peek(builder, drawn)->dtype == output.dtype ? 0 : put_as_output(builder, node, drawn);
}

int lower_random(Builder *builder, PyObject *node)
{
    Numbers src = {0};
    int64_t has_size;
    bool inplace, is_odd;
    int dist, result = -1;
    int32_t dst[2];
    DType dtype;

    if (find_dist(node, &dist) < 0) return -1;
    if (dist == N_DISTS) return 1;
    if (has_odd_param(builder, node, dist, &is_odd) < 0) return -1;
    if (is_odd) return 1;
    if (build_read_bool(node_op(node), "inplace", &inplace) < 0) return -1;
    if (read_head(builder, node, dist, &src, &has_size) < 0 || read_params(builder, node, dist, &src) < 0) goto done;
    dst[0] = build_result(builder, node_output(node, 0));
    dst[1] = dst[0] < 0 ? -1 : add_drawn(builder, node, dist);
    if (dst[1] < 0) goto done;
    dtype = (DType)build_peek(builder, dst[1])->dtype;
    result = build_emit(builder, (Emit){.opcode = I_DRAW, .fn = dist, .dtype = dtype, .flags = inplace ? INSTR_INPLACE : 0, .n_dst = 2, .dst = dst,
                                        .n_src = src.n, .src = src.items, .n_aux = 1, .aux = &has_size});
    if (result == 0) result = put_drawn(builder, node, dist, dst[1]);
done:
    numbers_clear(&src);
    return result;
}
