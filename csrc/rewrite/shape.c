/* What is known of lengths before a run. See shape.h.
 *
 * Relies on: graph, ops. Relied on by: safe.c, fold.c, scan_prune.c. */
#include "rewrite/shape.h"

#include <stdint.h>

/* A chain of operations that keep a length is followed for so many nodes: passes stay linear in the graph's size. */
#define MAX_HOPS 64

bool rewrite_same_length(const Length *a, const Length *b)
{
    if (a->is_known || b->is_known) return a->is_known && b->is_known && a->value == b->value;
    return a->variable == b->variable && a->axis == b->axis;
}

/* ---- indices ---- */

/* Lent: the next index input, or NULL with an exception. */
static PyObject *take_input(IndexReader *reader)
{
    if (reader->i_input >= node_n_inputs(reader->node)) {
        PyErr_Format(PyExc_ValueError, "%R has fewer inputs than its idx_list says.", reader->node);
        return NULL;
    }
    return node_input(reader->node, reader->i_input++);
}

int index_reader_next(IndexReader *reader, IndexEntry *entry)
{
    *entry = (IndexEntry){0};
    if (reader->idx_list == NULL) {
        PyObject *list = PyObject_GetAttrString(as_apply(reader->node)->op, "idx_list");
        reader->idx_list = list == NULL ? NULL : PySequence_Tuple(list);
        Py_XDECREF(list);
        if (reader->idx_list == NULL) return -1;
    }
    if (reader->i_entry >= PyTuple_GET_SIZE(reader->idx_list)) return 0;
    PyObject *item = PyTuple_GET_ITEM(reader->idx_list, reader->i_entry++);
    entry->is_slice = PyTuple_Check(item);
    if (!entry->is_slice) return (entry->start = take_input(reader)) == NULL ? -1 : 1;
    PyObject **parts[] = {&entry->start, &entry->stop, &entry->step};
    for (Py_ssize_t i = 0; i < 3 && i < PyTuple_GET_SIZE(item); i++) {
        int given = PyObject_IsTrue(PyTuple_GET_ITEM(item, i));
        if (given < 0) return -1;
        if (given && (*parts[i] = take_input(reader)) == NULL) return -1;
    }
    return 1;
}

void index_reader_clear(IndexReader *reader) { Py_CLEAR(reader->idx_list); }

/* 1 when the part is absent (*value stays) or a constant; 0; or -1. */
static int read_part(GraphState *state, PyObject *part, Py_ssize_t *value)
{
    return part == NULL ? 1 : rewrite_constant_int(state, part, value);
}

int rewrite_slice_length(GraphState *state, const IndexEntry *entry, const Length *axis, Py_ssize_t *length)
{
    Py_ssize_t step = 1, start, stop;
    int known = read_part(state, entry->step, &step);
    if (known <= 0 || step == 0) return known < 0 ? -1 : 0;
    start = step > 0 ? 0 : PTRDIFF_MAX;
    stop = step > 0 ? PTRDIFF_MAX : PTRDIFF_MIN;
    if (!axis->is_known) return 0;
    if ((known = read_part(state, entry->start, &start)) <= 0) return known;
    if ((known = read_part(state, entry->stop, &stop)) <= 0) return known;
    *length = PySlice_AdjustIndices(axis->value, &start, &stop, step);
    return 1;
}

/* ---- lengths ---- */

/* The hops: one step back along the operations that keep a length. 1: go on with *variable and *axis; 0: this is the
 * source; 2: *length says it; -1: an exception. */


static int hop_dimshuffle(GraphState *state, PyObject **variable, Py_ssize_t *axis, Length *length)
{
    PyObject *node = variable_owner(*variable);
    PyObject *order = PyObject_GetAttrString(as_apply(node)->op, "new_order");
    PyObject *item = order == NULL ? NULL : PySequence_GetItem(order, *axis);
    int result = -1;
    if (item != NULL && PyUnicode_Check(item)) {
        *length = (Length){.is_known = true, .value = 1};
        result = 2;
    } else if (item != NULL) {
        Py_ssize_t source = PyNumber_AsSsize_t(item, PyExc_OverflowError);
        if (source != -1 || !PyErr_Occurred()) {
            *variable = node_input(node, 0);
            *axis = source;
            result = 1;
        }
    }
    Py_XDECREF(item);
    Py_XDECREF(order);
    return result;
}

/* Goes on to the only operand whose length there is not 1 by its type. */
static int hop_elemwise(GraphState *state, PyObject **variable, Py_ssize_t *axis, Length *length)
{
    PyObject *node = variable_owner(*variable), *other = NULL;
    for (Py_ssize_t i = 0; i < node_n_inputs(node); i++) {
        Py_ssize_t size = 0;
        int known = rewrite_static_length(state, node_input(node, i), *axis, &size);
        if (known < 0) return -1;
        if (known && size == 1) continue;
        if (other != NULL && other != node_input(node, i)) return 0;
        other = node_input(node, i);
    }
    if (other == NULL) return 0;
    *variable = other;
    return 1;
}

/* 1 and where to go on, when the index is a constant: the length is an entry of Shape(x), or Shape_i of x; 0; -1. */
static int hop_length_value(GraphState *state, PyObject *value, PyObject **variable, Py_ssize_t *axis)
{
    PyObject *node;
    int kind;
    do {
        if (!graph_is_computed(value)) return 0;
        node = variable_owner(value);
        if ((kind = rewrite_kind(state, node)) < 0) return -1;
        value = node_input(node, 0);
    } while (kind == OP_SCALAR_FROM_TENSOR || kind == OP_TENSOR_FROM_SCALAR);
    if (kind == OP_SHAPE_I) {
        int found = rewrite_attribute_int(as_apply(node)->op, "i", axis);
        if (found > 0) *variable = node_input(node, 0);
        return found;
    }
    if (kind != OP_SUBTENSOR || node_n_inputs(node) != 2) return 0;
    int is_shape = rewrite_is_made_by(state, node_input(node, 0), OP_SHAPE);
    if (is_shape <= 0) return is_shape;
    Py_ssize_t index = 0;
    int known = rewrite_constant_int(state, node_input(node, 1), &index);
    if (known <= 0 || index < 0) return known < 0 ? -1 : 0;
    *variable = node_input(variable_owner(node_input(node, 0)), 0);
    *axis = index;
    return 1;
}

/* Alloc and AllocEmpty: the length is an input of the node. */
static int hop_alloc(GraphState *state, PyObject **variable, Py_ssize_t *axis, Length *length, Py_ssize_t first)
{
    PyObject *node = variable_owner(*variable);
    if (first + *axis >= node_n_inputs(node)) return 0;
    PyObject *value = node_input(node, first + *axis);
    int known = rewrite_constant_int(state, value, &length->value);
    if (known != 0) {
        length->is_known = true;
        return known < 0 ? -1 : 2;
    }
    int found = hop_length_value(state, value, variable, axis);
    if (found != 0) return found;
    *length = (Length){.variable = value, .axis = -1};
    return 2;
}

static int hop(GraphState *state, PyObject **variable, Py_ssize_t *axis, Length *length)
{
    if (!graph_is_computed(*variable)) return 0;
    int kind = rewrite_kind(state, variable_owner(*variable));
    switch (kind) {
    case -1: return -1;
    case OP_DIMSHUFFLE: return hop_dimshuffle(state, variable, axis, length);
    case OP_ELEMWISE: return hop_elemwise(state, variable, axis, length);
    case OP_ALLOC: return hop_alloc(state, variable, axis, length, 1);
    case OP_ALLOC_EMPTY: return hop_alloc(state, variable, axis, length, 0);
    case OP_UNBROADCAST:
    case OP_DEEP_COPY:
    case OP_VIEW:
    case OP_INC_SUBTENSOR:
    case OP_ADVANCED_INC_SUBTENSOR1: *variable = node_input(variable_owner(*variable), 0); return 1;
    default: return 0;
    }
}

int rewrite_length(GraphState *state, PyObject *variable, Py_ssize_t axis, Length *length)
{
    for (int i = 0; i < MAX_HOPS; i++) {
        *length = (Length){.variable = variable, .axis = axis};
        int known = rewrite_static_length(state, variable, axis, &length->value);
        length->is_known = known > 0;
        if (known != 0) return known < 0 ? -1 : 0;
        int next = hop(state, &variable, &axis, length);
        if (next < 0) return -1;
        if (next != 1) return 0;
    }
    *length = (Length){.variable = variable, .axis = axis};
    return 0;
}
