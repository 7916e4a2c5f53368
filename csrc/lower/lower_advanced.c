/* Advanced indexing: index arrays and masks, with slices and new axes between them.
 *
 * Masks become the indices of their true elements, slices their bounds; one gather or scatter does the rest. An index that
 * is no value of the graph (a slice that is given as an argument) leaves the node a call-back.
 * Relies on: build. Relied on by: lower.c. */
#include "lower/build.h"

/* Lent: the node that makes the slice, or NULL. */
static PyObject *find_slice_node(PyObject *variable)
{
    PyObject *owner = ((Variable *)variable)->owner;

    if (owner == NULL || owner == Py_None) return NULL;
    return build_is_kind(owner, OP_MAKE_SLICE) > 0 ? owner : NULL;
}

/* Lent: the value of a constant, or NULL. */
static PyObject *find_data(PyObject *variable)
{
    return PyObject_TypeCheck(variable, graph_state_of(variable)->Constant) ? ((Constant *)variable)->data : NULL;
}

/* 1 if the index can be read here, else 0. */
static int can_read(Builder *builder, PyObject *variable)
{
    PyObject *data = find_data(variable);
    Value value;

    if (build_describe(builder, variable, &value) < 0) return -1;
    if (value.value_class == VALUE_SCALAR) return value.dtype != DTYPE_BOOL;
    if (value.value_class == VALUE_ARRAY) return 1;
    if (data != NULL) return data == Py_None || PySlice_Check(data);
    return find_slice_node(variable) != NULL;
}

static int can_read_all(Builder *builder, PyObject *node, Py_ssize_t first)
{
    Value value;
    int n_axes = 0;

    if (build_describe(builder, node_input(node, 0), &value) < 0) return -1;
    for (Py_ssize_t i = first; i < node_n_inputs(node); i++) {
        int readable = can_read(builder, node_input(node, i));
        if (readable != 1) return readable;
    }
    for (Py_ssize_t i = first; i < node_n_inputs(node); i++) {
        Value index;
        if (build_describe(builder, node_input(node, i), &index) < 0) return -1;
        n_axes += index.value_class == VALUE_ARRAY && index.dtype == DTYPE_BOOL ? index.ndim : 1;
    }
    return value.value_class == VALUE_ARRAY && n_axes + value.ndim <= ARRAY_MAX_NDIM;
}

/* The index of a node as entries and sources. */
typedef struct Index {
    int64_t entries[ARRAY_MAX_NDIM];
    int n, n_axes; /* entries; and how many axes of the tensor they use */
    Numbers *src;
} Index;

static int add_bound(Builder *builder, Index *index, PyObject *data, PyObject *variable, int64_t bit)
{
    int32_t number;

    if (data == Py_None) return 0;
    if (variable != NULL) {
        number = build_length(builder, variable);
    } else {
        PyObject *integer = PyNumber_Index(data);
        long long value = integer == NULL ? -1 : PyLong_AsLongLong(integer);
        Py_XDECREF(integer);
        if (value == -1 && PyErr_Occurred()) return -1;
        number = build_integer(builder, value);
    }
    index->entries[index->n] |= bit;
    return number < 0 ? -1 : numbers_add(index->src, number);
}

static int add_slice(Builder *builder, Index *index, PyObject *variable)
{
    static const int64_t bits[3] = {SLICE_START, SLICE_STOP, SLICE_STEP};
    PyObject *data = find_data(variable), *node = data == NULL ? find_slice_node(variable) : NULL;
    int result = 0;

    index->entries[index->n] = SLICE_RANGE;
    for (int i = 0; result == 0 && i < 3; i++) {
        if (node != NULL) {
            result = add_bound(builder, index, find_data(node_input(node, i)), node_input(node, i), bits[i]);
        } else {
            PySliceObject *slice = (PySliceObject *)data;
            result = add_bound(builder, index, i == 0 ? slice->start : i == 1 ? slice->stop : slice->step, NULL, bits[i]);
        }
    }
    index->n++;
    index->n_axes++;
    return result;
}

/* A mask as the indices of its true elements, one vector an axis. */
static int add_mask(Builder *builder, Index *index, PyObject *variable, int32_t x)
{
    int32_t src[2] = {build_value(builder, variable), x}, dst[ARRAY_MAX_NDIM];
    int64_t axis = index->n_axes;
    int ndim;

    if (src[0] < 0) return -1;
    ndim = build_peek(builder, src[0])->ndim;
    if (index->n_axes + ndim > build_peek(builder, x)->ndim) return build_refuse(builder, PyExc_IndexError, "too many indices for array");
    for (int i = 0; i < ndim; i++) {
        dst[i] = build_temporary(builder, DTYPE_INT64, 1);
        if (dst[i] < 0 || numbers_add(index->src, dst[i]) < 0) return -1;
        index->entries[index->n++] = SLICE_ARRAY;
    }
    index->n_axes += ndim;
    return build_emit(builder, (Emit){.opcode = I_NONZERO, .n_dst = ndim, .dst = dst, .n_src = 2, .src = src, .n_aux = 1, .aux = &axis});
}

/* Adds the sources of the whole index to `src`. */
static int read_index(Builder *builder, PyObject *node, Py_ssize_t first, int32_t x, Index *index)
{
    for (Py_ssize_t i = first; i < node_n_inputs(node); i++) {
        PyObject *variable = node_input(node, i);
        Value value;
        int32_t number;

        if (build_describe(builder, variable, &value) < 0) return -1;
        if (value.value_class > VALUE_ARRAY && find_data(variable) == Py_None) {
            index->entries[index->n++] = SLICE_NEW;
        } else if (value.value_class > VALUE_ARRAY) {
            if (add_slice(builder, index, variable) < 0) return -1;
        } else if (value.dtype == DTYPE_BOOL) {
            if (add_mask(builder, index, variable, x) < 0) return -1;
        } else {
            number = build_value_as(builder, variable, DTYPE_INT64);
            if (number < 0 || numbers_add(index->src, number) < 0) return -1;
            index->entries[index->n++] = SLICE_ARRAY;
            index->n_axes++;
        }
    }
    if (index->n_axes > build_peek(builder, x)->ndim) return build_refuse(builder, PyExc_IndexError, "too many indices for array");
    return 0;
}

int lower_advanced_subtensor(Builder *builder, PyObject *node)
{
    Numbers src = {0};
    Index index = {.src = &src};
    int32_t dst, x;
    int result = can_read_all(builder, node, 1);

    if (result != 1) return result < 0 ? -1 : 1;
    result = -1;
    x = build_value(builder, node_input(node, 0));
    if (x < 0 || numbers_add(&src, x) < 0 || read_index(builder, node, 1, x, &index) < 0) goto done;
    dst = build_result(builder, node_output(node, 0));
    if (dst >= 0) result = build_emit1(builder, I_GATHER, dst, src.n, src.items, index.n, index.entries);
done:
    numbers_clear(&src);
    return result;
}

/* The value to write, where repeated places are to count once: what is there, and the value added. */
static int32_t add_once(Builder *builder, int32_t x, int32_t y, int ndim, const Numbers *sources, const Index *index)
{
    DType dtype = (DType)build_peek(builder, x)->dtype;
    int32_t src[2] = {build_temporary(builder, dtype, ndim), y}, sum = build_temporary(builder, dtype, ndim);
    Numbers gathered = {0};
    int result = src[0] < 0 || sum < 0 ? -1 : numbers_add(&gathered, x);

    for (int32_t i = 2; result == 0 && i < sources->n; i++) result = numbers_add(&gathered, sources->items[i]);
    if (result == 0) result = build_emit1(builder, I_GATHER, src[0], gathered.n, gathered.items, index->n, index->entries);
    if (result == 0) result = build_emit(builder, (Emit){.opcode = I_MAP, .fn = SCALAR_ADD, .dtype = dtype, .n_dst = 1, .dst = &sum, .n_src = 2, .src = src});
    numbers_clear(&gathered);
    return result < 0 ? -1 : sum;
}

/* The rank of what the entries choose. */
static int chosen_ndim(Builder *builder, const Numbers *src, const Index *index)
{
    int ndim = build_peek(builder, src->items[0])->ndim - index->n_axes, joint = 0;
    int32_t next = 2;

    for (int i = 0; i < index->n; i++) {
        if (index->entries[i] == SLICE_ARRAY) {
            int own = build_peek(builder, src->items[next++])->ndim;
            joint = own > joint ? own : joint;
        } else {
            for (int64_t bit = SLICE_START; bit <= SLICE_STEP; bit *= 2) next += index->entries[i] != SLICE_NEW && (index->entries[i] & bit) != 0;
            ndim++;
        }
    }
    return ndim + joint;
}

int lower_advanced_inc_subtensor(Builder *builder, PyObject *node)
{
    Numbers src = {0};
    Index index = {.src = &src};
    int32_t dst, x, y;
    uint8_t flags;
    bool is_once;
    int fn, ndim, result = can_read_all(builder, node, 2);

    if (result != 1) return result < 0 ? -1 : 1;
    result = -1;
    x = build_value(builder, node_input(node, 0));
    if (x < 0 || lower_read_write(node_op(node), &fn, &flags) < 0 || build_read_bool(node_op(node), "ignore_duplicates", &is_once) < 0) return -1;
    y = build_value_as(builder, node_input(node, 1), (DType)build_peek(builder, x)->dtype);
    if (y < 0 || numbers_add(&src, x) < 0 || numbers_add(&src, y) < 0 || read_index(builder, node, 2, x, &index) < 0) goto done;
    ndim = chosen_ndim(builder, &src, &index);
    if (build_peek(builder, y)->ndim > ndim) {
        build_refuse(builder, PyExc_TypeError, "Trying to increment a %d-dimensional subtensor with a %d-dimensional value.", ndim, (int)build_peek(builder, y)->ndim);
        goto done;
    }
    if (fn == WRITE_ADD && is_once) {
        fn = WRITE_SET;
        src.items[1] = add_once(builder, x, y, ndim, &src, &index);
        if (src.items[1] < 0) goto done;
    }
    dst = build_result(builder, node_output(node, 0));
    if (dst < 0) goto done;
    result = build_emit(builder, (Emit){.opcode = I_SCATTER, .fn = fn, .dtype = (DType)build_peek(builder, x)->dtype, .flags = flags, .n_dst = 1,
                                        .dst = &dst, .n_src = src.n, .src = src.items, .n_aux = index.n, .aux = index.entries});
done:
    numbers_clear(&src);
    return result;
}

int lower_make_slice(Builder *builder, PyObject *Py_UNUSED(node)) { return build_defer(builder); }

int lower_nonzero(Builder *builder, PyObject *node)
{
    int32_t src = build_value(builder, node_input(node, 0)), dst[ARRAY_MAX_NDIM], n = (int32_t)node_n_outputs(node);

    if (src < 0) return -1;
    if (n != build_peek(builder, src)->ndim || n == 0) return 1;
    for (int32_t i = 0; i < n; i++) {
        dst[i] = build_result(builder, node_output(node, i));
        if (dst[i] < 0) return -1;
    }
    return build_emit(builder, (Emit){.opcode = I_NONZERO, .n_dst = n, .dst = dst, .n_src = 1, .src = &src});
}
