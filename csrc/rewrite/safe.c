/* Which nodes cannot fail at run time, whatever values come: the one predicate of the passes that drop nodes or move them.
 *
 * Rewriting must not make an error appear or go. So a node is dropped, or moved out of a loop that may have no step, only if it
 * is one of these (running out of memory aside):
 *   - the rows of ops.def that never raise;
 *   - elementwise: no integer division, and lengths that agree by type or by construction (or are 1 by type);
 *   - sums and products; maximum and minimum over lengths known to be positive; cumulative sums;
 *   - slices with a step that is not 0; an index that is constant and within a known length; writing there a value that fits;
 *   - Alloc and AllocEmpty of lengths that cannot be negative;
 *   - a matrix product of lengths that agree; a range of constants;
 *   - a few draws, whose parameters are constants in the domain.
 * A user's Op, a loop and everything else may fail.
 *
 * Relies on: shape. Relied on by: fold.c, scan_prune.c, scan_push_out.c. */
#include "rewrite/safe.h"

#include "rewrite/shape.h"

/* n_steps + L is two nodes deep, a shape's entry two more. */
#define MAX_DEPTH 8

/* ---- lengths that agree ---- */

static int rank_of(PyObject *variable, Py_ssize_t *rank)
{
    *rank = rewrite_rank(variable);
    return *rank == -2 ? -1 : *rank >= 0;
}

/* All inputs have the output's rank: on each axis the lengths that are not 1 by type must be equal. */
static int safe_elemwise_shapes(Safe *safe, PyObject *node)
{
    Py_ssize_t rank;
    int found = rank_of(node_output(node, 0), &rank);
    if (found <= 0) return found;
    for (Py_ssize_t axis = 0; axis < rank; axis++) {
        Length first = {0}, length;
        bool has_first = false;
        for (Py_ssize_t i = 0; i < node_n_inputs(node); i++) {
            if (rewrite_length(safe->state, node_input(node, i), axis, &length) < 0) return -1;
            if (length.is_known && length.value == 1) continue;
            if (has_first && !rewrite_same_length(&first, &length)) return 0;
            first = length;
            has_first = true;
        }
    }
    return 1;
}

static int dtype_of(PyObject *variable, DType *dtype)
{
    PyObject *name = PyObject_GetAttrString(variable_type(variable), "dtype");
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8(name);
    int row = text == NULL ? -1 : dtype_from_name(text);
    bool failed = text == NULL;
    Py_XDECREF(name);
    if (failed) return -1;
    if (row < 0) return 0;
    *dtype = (DType)row;
    return 1;
}

/* 1 or 0, or -1: no value of the elements can make the operation fail. */
static int safe_scalar(PyObject *node, const char *name)
{
    enum { MAX_INPUTS = 32 };
    DType in[MAX_INPUTS], compute, out;
    int scalar = scalar_from_name(name);
    Py_ssize_t n = node_n_inputs(node);
    if (scalar < 0 || n > MAX_INPUTS) return 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        int found = dtype_of(node_input(node, i), &in[i]);
        if (found <= 0) return found;
    }
    if (scalar_types(scalar, (int)n, in, &compute, &out) < 0) return 0;
    return !scalar_can_raise(scalar, compute);
}

static int safe_elemwise(Safe *safe, PyObject *node)
{
    PyObject *scalar_op = PyObject_GetAttrString(as_apply(node)->op, "scalar_op"), *name = NULL;
    if (scalar_op == NULL) return -1;
    int result = rewrite_attribute_is(scalar_op, "kind", "cast");
    if (result == 0) {
        name = PyObject_GetAttrString(scalar_op, "name");
        if (name == NULL) {
            result = -1;
        } else if (PyUnicode_Check(name)) {
            const char *text = PyUnicode_AsUTF8(name);
            result = text == NULL ? -1 : safe_scalar(node, text);
        }
    }
    Py_XDECREF(name);
    Py_DECREF(scalar_op);
    return result <= 0 ? result : safe_elemwise_shapes(safe, node);
}

/* ---- reductions, products ---- */

/* 1 or 0, or -1: an axis among the reduced ones (axis None: all) whose length is known not to be 0, or not known. */
static int safe_reduced_axes(Safe *safe, PyObject *node, PyObject *axes)
{
    Py_ssize_t rank;
    int found = rank_of(node_input(node, 0), &rank);
    if (found <= 0) return found;
    for (Py_ssize_t axis = 0; axis < rank; axis++) {
        if (axes != Py_None) {
            PyObject *number = PyLong_FromSsize_t(axis);
            int reduced = number == NULL ? -1 : PySequence_Contains(axes, number);
            Py_XDECREF(number);
            if (reduced < 0) return -1;
            if (!reduced) continue;
        }
        Length length;
        if (rewrite_length(safe->state, node_input(node, 0), axis, &length) < 0) return -1;
        if (!length.is_known || length.value == 0) return 0;
    }
    return 1;
}

static int safe_extremum(Safe *safe, PyObject *node)
{
    PyObject *axes = PyObject_GetAttrString(as_apply(node)->op, "axis");
    int result = axes == NULL ? -1 : (axes == Py_None || PySequence_Check(axes)) ? safe_reduced_axes(safe, node, axes) : 0;
    Py_XDECREF(axes);
    return result;
}

static int safe_reduction(Safe *safe, PyObject *node)
{
    static const char *const total[] = {"add", "mul", "and", "or"};
    for (size_t i = 0; i < sizeof total / sizeof total[0]; i++) {
        int same = rewrite_attribute_is(as_apply(node)->op, "reduce_name", total[i]);
        if (same != 0) return same;
    }
    return safe_extremum(safe, node);
}

static int safe_dot(Safe *safe, PyObject *node)
{
    Py_ssize_t rank_a, rank_b;
    int found = rank_of(node_input(node, 0), &rank_a);
    if (found > 0) found = rank_of(node_input(node, 1), &rank_b);
    if (found <= 0 || rank_a == 0 || rank_b == 0) return found < 0 ? -1 : 0;
    Length a, b;
    if (rewrite_length(safe->state, node_input(node, 0), rank_a - 1, &a) < 0) return -1;
    if (rewrite_length(safe->state, node_input(node, 1), rank_b == 1 ? 0 : rank_b - 2, &b) < 0) return -1;
    return rewrite_same_length(&a, &b);
}

/* ---- indices ---- */

/* 1 or 0, or -1: the entry cannot fail on an axis of that length. */
static int safe_entry(Safe *safe, const IndexEntry *entry, const Length *axis)
{
    Py_ssize_t value;
    if (entry->is_slice) {
        if (entry->step == NULL) return 1;
        int known = rewrite_constant_int(safe->state, entry->step, &value);
        return known <= 0 ? known : value != 0;
    }
    int known = rewrite_constant_int(safe->state, entry->start, &value);
    if (known <= 0 || !axis->is_known) return known < 0 ? -1 : 0;
    return value >= -axis->value && value < axis->value;
}

/* 1 or 0, or -1: the value's axis (counted from the last) fits a place of that length; `length` is NULL when it is not known. */
static int safe_written_axis(Safe *safe, PyObject *value, Py_ssize_t axis, const Length *place)
{
    Length length;
    if (axis < 0) return 1;
    if (rewrite_length(safe->state, value, axis, &length) < 0) return -1;
    if (length.is_known && length.value == 1) return 1;
    return place != NULL && rewrite_same_length(&length, place);
}

enum { MAX_RANK = ARRAY_MAX_NDIM };

/* Reads the indices of a Subtensor or IncSubtensor; 1 when none can fail, with the lengths of the place that they select
 * (has[k] false: not known); 0; or -1. */
static int safe_indices(Safe *safe, PyObject *node, Py_ssize_t first, Length *places, bool *has, Py_ssize_t *n_places)
{
    IndexReader reader = {.node = node, .i_input = first};
    IndexEntry entry;
    Py_ssize_t rank, axis = 0;
    int more, result = rank_of(node_input(node, 0), &rank);
    *n_places = 0;
    if (result > 0 && rank > MAX_RANK) result = 0;
    while (result > 0 && axis < rank) {
        Length length;
        if ((more = index_reader_next(&reader, &entry)) < 0 || rewrite_length(safe->state, node_input(node, 0), axis++, &length) < 0) {
            result = -1;
            break;
        }
        if (more == 0) entry = (IndexEntry){.is_slice = true};
        result = safe_entry(safe, &entry, &length);
        if (!entry.is_slice) continue;
        bool is_whole = entry.start == NULL && entry.stop == NULL && entry.step == NULL;
        Py_ssize_t selected = 0;
        int known = is_whole ? 1 : rewrite_slice_length(safe->state, &entry, &length, &selected);
        if (known < 0) result = -1;
        has[*n_places] = known > 0;
        places[(*n_places)++] = is_whole ? length : (Length){.is_known = true, .value = selected};
    }
    index_reader_clear(&reader);
    return result;
}

static int safe_subtensor(Safe *safe, PyObject *node)
{
    Length places[MAX_RANK];
    bool has[MAX_RANK];
    Py_ssize_t n_places;
    return safe_indices(safe, node, 1, places, has, &n_places);
}

static int safe_inc_subtensor(Safe *safe, PyObject *node)
{
    Length places[MAX_RANK];
    bool has[MAX_RANK];
    Py_ssize_t n_places, rank;
    int result = safe_indices(safe, node, 2, places, has, &n_places);
    if (result > 0) result = rank_of(node_input(node, 1), &rank);
    if (result <= 0 || rank > n_places) return result < 0 ? -1 : 0;
    for (Py_ssize_t i = 0; result > 0 && i < n_places; i++) {
        result = safe_written_axis(safe, node_input(node, 1), i - (n_places - rank), has[i] ? &places[i] : NULL);
    }
    return result;
}

/* ---- allocations ---- */

static int is_length(Safe *safe, PyObject *variable, int depth);

/* 1 or 0, or -1: the node's value cannot be negative. */
static int is_length_node(Safe *safe, PyObject *node, int depth)
{
    static const char *const keep[] = {"add", "mul", "scalar_maximum", "scalar_minimum"};
    int kind = rewrite_kind(safe->state, node);
    if (kind < 0) return -1;
    if (kind == OP_SHAPE || kind == OP_SHAPE_I) return 1;
    bool passes_on = kind == OP_DIMSHUFFLE || kind == OP_SCALAR_FROM_TENSOR || kind == OP_TENSOR_FROM_SCALAR || kind == OP_SUBTENSOR;
    if (passes_on) return is_length(safe, node_input(node, 0), depth - 1);
    if (kind != OP_ELEMWISE) return 0;
    PyObject *scalar_op = PyObject_GetAttrString(as_apply(node)->op, "scalar_op");
    int keeps = scalar_op == NULL ? -1 : rewrite_attribute_is(scalar_op, "kind", "cast");
    for (size_t i = 0; keeps == 0 && i < sizeof keep / sizeof keep[0]; i++) keeps = rewrite_attribute_is(scalar_op, "name", keep[i]);
    Py_XDECREF(scalar_op);
    for (Py_ssize_t i = 0; keeps > 0 && i < node_n_inputs(node); i++) keeps = is_length(safe, node_input(node, i), depth - 1);
    return keeps;
}

/* 1 or 0, or -1: the variable's value is a length: it cannot be negative. */
static int is_length(Safe *safe, PyObject *variable, int depth)
{
    Py_ssize_t value;
    int known = rewrite_constant_int(safe->state, variable, &value);
    if (known != 0) return known < 0 ? -1 : value >= 0;
    int is_number = PySet_Contains(safe->step_numbers, variable);
    if (is_number != 0) return is_number;
    if (depth == 0 || !graph_is_computed(variable)) return 0;
    return is_length_node(safe, variable_owner(variable), depth);
}

static int safe_lengths(Safe *safe, PyObject *node, Py_ssize_t first)
{
    int result = 1;
    for (Py_ssize_t i = first; result > 0 && i < node_n_inputs(node); i++) result = is_length(safe, node_input(node, i), MAX_DEPTH);
    return result;
}

static int safe_alloc(Safe *safe, PyObject *node)
{
    Py_ssize_t rank;
    int result = safe_lengths(safe, node, 1);
    if (result > 0) result = rank_of(node_input(node, 0), &rank);
    for (Py_ssize_t axis = 0; result > 0 && axis < rank; axis++) result = safe_written_axis(safe, node_input(node, 0), axis, NULL);
    return result;
}

static int safe_arange(Safe *safe, PyObject *node)
{
    Py_ssize_t value = 0;
    int known = 1;
    for (Py_ssize_t i = 0; known > 0 && i < node_n_inputs(node); i++) known = rewrite_constant_int(safe->state, node_input(node, i), &value);
    return known <= 0 ? known : value != 0;
}

/* ---- draws ---- */

/* 1 and *value for a constant number; 0; or -1. */
static int constant_number(Safe *safe, PyObject *variable, double *value)
{
    if (!rewrite_is_constant(safe->state, variable)) return 0;
    Py_ssize_t rank = rewrite_rank(variable);
    if (rank != 0) return rank == -2 ? -1 : 0;
    *value = PyFloat_AsDouble(((Constant *)variable)->data);
    if (*value != -1.0 || !PyErr_Occurred()) return 1;
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
    PyErr_Clear();
    return 0;
}

/* 1 or 0, or -1: a constant vector of lengths none of which is negative. */
static int is_constant_size(Safe *safe, PyObject *size)
{
    if (!rewrite_is_constant(safe->state, size)) return 0;
    PyObject *items = PySequence_Fast(((Constant *)size)->data, "a size is a vector");
    int result = items == NULL ? -1 : 1;
    for (Py_ssize_t i = 0; result > 0 && i < PySequence_Fast_GET_SIZE(items); i++) {
        Py_ssize_t value = PyNumber_AsSsize_t(PySequence_Fast_GET_ITEM(items, i), PyExc_OverflowError);
        result = value == -1 && PyErr_Occurred() ? -1 : value >= 0;
    }
    Py_XDECREF(items);
    return result;
}

/* Draws of a fixed size whose two parameters at most are constant numbers in the domain. */
static int safe_random(Safe *safe, PyObject *node)
{
    enum { FIRST_PARAMETER = 3 };
    PyObject *op = as_apply(node)->op;
    double p[2] = {0.0, 0.0};
    Py_ssize_t n = node_n_inputs(node) - FIRST_PARAMETER;
    if (n < 1 || n > 2) return 0;
    int fixed = is_constant_size(safe, node_input(node, 1));
    if (fixed <= 0) return fixed;
    for (Py_ssize_t i = 0; i < n; i++) {
        int known = constant_number(safe, node_input(node, FIRST_PARAMETER + i), &p[i]);
        if (known <= 0) return known;
    }
    int same = rewrite_attribute_is(op, "name", "normal");
    if (same != 0) return same < 0 ? -1 : p[1] > 0.0;
    if ((same = rewrite_attribute_is(op, "name", "exponential")) != 0) return same < 0 ? -1 : p[0] > 0.0;
    if ((same = rewrite_attribute_is(op, "name", "uniform")) != 0) return same < 0 ? -1 : p[1] >= p[0] && p[1] - p[0] < 1e300;
    return 0;
}

/* ---- the predicate ---- */

int safe_node(Safe *safe, PyObject *node)
{
    int kind = rewrite_kind(safe->state, node);
    switch (kind) {
    case -1: return -1;
    case OP_USER: return 0;
    case OP_ELEMWISE: return safe_elemwise(safe, node);
    case OP_DIMSHUFFLE: return 1; /* an axis is only dropped when its type says 1 */
    case OP_CAREDUCE: return safe_reduction(safe, node);
    case OP_MAX_AND_ARGMAX: return safe_extremum(safe, node);
    case OP_CUMOP: return 1;
    case OP_DOT: return safe_dot(safe, node);
    case OP_SUBTENSOR: return safe_subtensor(safe, node);
    case OP_INC_SUBTENSOR: return safe_inc_subtensor(safe, node);
    case OP_ALLOC: return safe_alloc(safe, node);
    case OP_ALLOC_EMPTY: return safe_lengths(safe, node, 0);
    case OP_ARANGE: return safe_arange(safe, node);
    case OP_RANDOM: return safe_random(safe, node);
    default: return !op_can_raise(kind);
    }
}

int safe_init(Safe *safe, FunctionGraph *graph, GraphState *state)
{
    *safe = (Safe){.state = state};
    safe->known = PyDict_New();
    safe->computed = PySet_New(NULL);
    safe->step_numbers = PySet_New(NULL);
    if (safe->known == NULL || safe->computed == NULL || safe->step_numbers == NULL) return -1;
    PyObject *nodes = PySequence_List(graph->apply_nodes);
    int result = nodes == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyList_GET_SIZE(nodes); i++) {
        PyObject *node = PyList_GET_ITEM(nodes, i);
        int kind = rewrite_kind(state, node);
        if (kind == OP_SCAN && node_n_inputs(node) > 0) result = PySet_Add(safe->step_numbers, node_input(node, 0));
        if (kind < 0) result = -1;
    }
    Py_XDECREF(nodes);
    return result;
}

void safe_clear(Safe *safe)
{
    Py_CLEAR(safe->known);
    Py_CLEAR(safe->computed);
    Py_CLEAR(safe->step_numbers);
}

/* 1 or 0 when it is known, 2 when it is not, or -1. */
static int lookup(Safe *safe, PyObject *node)
{
    int computed = PySet_Contains(safe->computed, node);
    if (computed != 0) return computed;
    PyObject *known = PyDict_GetItemWithError(safe->known, node);
    if (known == NULL) return PyErr_Occurred() ? -1 : 2;
    return known == Py_True;
}

/* Decides a node whose inputs' nodes are decided, or pushes those that are not: 1 when it is decided, 0, or -1. */
static int decide(Safe *safe, PyObject *node, PyObject *stack)
{
    bool pushed = false, all_safe = true;
    for (Py_ssize_t i = 0; i < node_n_inputs(node); i++) {
        PyObject *owner = variable_owner(node_input(node, i));
        if (owner == Py_None) continue;
        int known = lookup(safe, owner);
        if (known < 0) return -1;
        if (known == 0) all_safe = false;
        if (known == 2) {
            if (PyList_Append(stack, owner) < 0) return -1;
            pushed = true;
        }
    }
    if (pushed) return 0;
    int result = all_safe ? safe_node(safe, node) : 0;
    if (result < 0 || PyDict_SetItem(safe->known, node, result ? Py_True : Py_False) < 0) return -1;
    return 1;
}

int safe_value(Safe *safe, PyObject *variable)
{
    if (!graph_is_computed(variable)) return 1;
    PyObject *target = variable_owner(variable);
    PyObject *stack = PyList_New(0);
    int result = stack == NULL || PyList_Append(stack, target) < 0 ? -1 : 0;
    while (result == 0 && PyList_GET_SIZE(stack) > 0) {
        Py_ssize_t last = PyList_GET_SIZE(stack) - 1;
        PyObject *node = PyList_GET_ITEM(stack, last);
        int known = lookup(safe, node);
        if (known == 2) known = decide(safe, node, stack);
        else if (known >= 0) known = 1;
        if (known < 0 || (known == 1 && PyList_SetSlice(stack, last, last + 1, NULL) < 0)) result = -1;
    }
    Py_XDECREF(stack);
    return result < 0 ? -1 : lookup(safe, target);
}
