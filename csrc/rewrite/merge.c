/* merge (position 0, and again after the scan passes): equal computations and equal constants become one.
 *
 *     before   add(mul(x, 2), mul(x, 2))      two nodes `mul`, two constants 2
 *     after    add(mul, mul)                  one node, one constant
 *
 * It runs first, so that the two copies of a random variable that a scan's body holds (one for the draw, one for the
 * next state) are one node for every later pass; and it runs last before the in-place passes.
 *
 * One sweep in topological order: when a node is looked at, its inputs are merged already, so equal nodes have the very
 * same inputs. Nodes are found by (op, inputs) in a dict, with the op's own __eq__ and __hash__ (what they raise is raised
 * here); constants by type and the first bytes of their data, then graph_constants_equal.
 *
 * Never merged: nodes that overwrite an input (each overwrites its own); AllocEmpty (it stands for a buffer, not for a
 * value: its clients are going to write into it); DeepCopyOp (it is there to keep two things apart); loops that differ in anything, the
 * mode of their body included. What is written into two buffers of equal lengths is one value, so that the two copies of an
 * inner loop that a step holds (one for its path, one for its generators) become one; where two loops overwrite that value,
 * scan_make_inplace makes it once more.
 *
 * Relies on: graph. Relied on by: the driver; scan_prune.c and scan_push_out.c, which run it on a body. */
#include <stdint.h>

#include "rewrite/common.h"

#define REASON "merge"
/* Of larger constants only the beginning is hashed: the comparison looks at all of it. */
#define HASHED_BYTES 65536

typedef struct Merge {
    FunctionGraph *graph;
    GraphState *state;
    PyObject *nodes;     /* dict: (op, input, ...) -> Apply */
    PyObject *constants; /* dict: (type, hash of the data) -> list of different constants */
    PyObject *seen;      /* set of constants that were looked at */
    Py_ssize_t n_changes;
} Merge;

/* ---- constants ---- */

static uint64_t hash_bytes(uint64_t hash, const unsigned char *bytes, Py_ssize_t n_bytes)
{
    for (Py_ssize_t i = 0; i < n_bytes; i++) hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    return hash;
}

/* 1 and *hash when the data is a buffer (an array, a NumPy scalar); 0; or -1. */
static int hash_buffer(PyObject *data, uint64_t *hash)
{
    Py_buffer view;
    if (!PyObject_CheckBuffer(data)) return 0;
    if (PyObject_GetBuffer(data, &view, PyBUF_FULL_RO) < 0) {
        if (PyErr_ExceptionMatches(PyExc_MemoryError)) return -1;
        PyErr_Clear(); /* a dtype that has no buffer format */
        return 0;
    }
    *hash = hash_bytes(UINT64_C(14695981039346656037), (unsigned char *)view.shape, view.ndim * (Py_ssize_t)sizeof *view.shape);
    if (PyBuffer_IsContiguous(&view, 'C')) *hash = hash_bytes(*hash, view.buf, view.len < HASHED_BYTES ? view.len : HASHED_BYTES);
    PyBuffer_Release(&view);
    return 1;
}

/* Owned: the key under which equal constants meet; NULL without an exception for data that cannot be hashed. */
static PyObject *constant_key_new(PyObject *constant)
{
    PyObject *data = ((Constant *)constant)->data;
    uint64_t hash = 0;
    int is_buffer = hash_buffer(data, &hash);
    if (is_buffer < 0) return NULL;
    if (!is_buffer) {
        Py_hash_t own = PyObject_Hash(data);
        if (own == -1) {
            if (PyErr_ExceptionMatches(PyExc_TypeError)) PyErr_Clear();
            return NULL;
        }
        hash = (uint64_t)own;
    }
    return Py_BuildValue("(OK)", variable_type(constant), (unsigned long long)hash);
}

/* Owned: the constant that stands for all those equal to this one: an earlier one, or itself. */
static PyObject *representative_new(Merge *merge, PyObject *constant)
{
    PyObject *result = NULL, *key = constant_key_new(constant), *bucket = NULL;
    if (key == NULL) return PyErr_Occurred() ? NULL : Py_NewRef(constant);
    bucket = Py_XNewRef(PyDict_GetItemWithError(merge->constants, key));
    if (bucket == NULL) {
        if (PyErr_Occurred() || (bucket = PyList_New(0)) == NULL) goto done;
        if (PyDict_SetItem(merge->constants, key, bucket) < 0) goto done;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(bucket); i++) {
        PyObject *other = Py_NewRef(PyList_GET_ITEM(bucket, i));
        int equal = graph_constants_equal(other, constant);
        if (equal != 0) {
            result = equal < 0 ? NULL : Py_NewRef(other);
            /* the one that the user named stays */
            if (equal > 0 && ((Variable *)other)->name == Py_None && ((Variable *)constant)->name != Py_None) {
                Py_SETREF(result, PyList_SetItem(bucket, i, Py_NewRef(constant)) < 0 ? NULL : Py_NewRef(constant));
                if (result != NULL && rewrite_replace(merge->graph, other, constant, REASON) < 0) Py_CLEAR(result);
                if (result != NULL) merge->n_changes++;
            }
            Py_DECREF(other);
            goto done;
        }
        Py_DECREF(other);
    }
    if (PyList_Append(bucket, constant) == 0) result = Py_NewRef(constant);
done:
    Py_XDECREF(bucket);
    Py_XDECREF(key);
    return result;
}

static int merge_constant(Merge *merge, PyObject *constant)
{
    int seen = PySet_Contains(merge->seen, constant);
    if (seen != 0) return seen < 0 ? -1 : 0;
    if (PySet_Add(merge->seen, constant) < 0) return -1;
    PyObject *other = representative_new(merge, constant);
    if (other == NULL) return -1;
    int done = 0;
    if (other != constant) {
        done = rewrite_replace(merge->graph, constant, other, REASON);
        if (done > 0) merge->n_changes++;
    }
    Py_DECREF(other);
    return done < 0 ? -1 : 0;
}

/* Merges the constants among the variables of a list (the inputs of a node, the outputs of the graph). The replacement
 * edits this list, so each place is read anew; a constant lives in `seen`. */
static int merge_constants(Merge *merge, PyObject *variables)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(variables); i++) {
        PyObject *variable = PyList_GET_ITEM(variables, i);
        if (!rewrite_is_constant(merge->state, variable)) continue;
        Py_INCREF(variable);
        int result = merge_constant(merge, variable);
        Py_DECREF(variable);
        if (result < 0) return -1;
    }
    return 0;
}

/* ---- nodes ---- */

/* 1 or 0, or -1. */
static int can_merge(Merge *merge, PyObject *node)
{
    int kind = rewrite_kind(merge->state, node);
    if (kind < 0) return -1;
    if (kind == OP_ALLOC_EMPTY || kind == OP_DEEP_COPY) return 0;
    int destroys = rewrite_flag(as_apply(node)->op, "destroy_map");
    return destroys < 0 ? -1 : !destroys;
}

/* Owned: what stands for an input in the key: itself; for a buffer that is written to, (length, ..., op). */
static PyObject *key_item_new(Merge *merge, int kind, PyObject *node, Py_ssize_t i)
{
    PyObject *input = node_input(node, i);
    int is_buffer = i == 0 && kind == OP_INC_SUBTENSOR ? rewrite_is_made_by(merge->state, input, OP_ALLOC_EMPTY) : 0;
    if (is_buffer <= 0) return is_buffer < 0 ? NULL : Py_NewRef(input);
    PyObject *maker = variable_owner(input), *key = PyList_GetSlice(as_apply(maker)->inputs, 0, node_n_inputs(maker)), *result = NULL;
    if (key != NULL && PyList_Append(key, as_apply(maker)->op) == 0) result = PyList_AsTuple(key);
    Py_XDECREF(key);
    return result;
}

/* Owned: (op, input, ...); a loop adds the mode of its body, which its equality leaves out. */
static PyObject *node_key_new(Merge *merge, PyObject *node)
{
    Py_ssize_t n = node_n_inputs(node);
    int kind = rewrite_kind(merge->state, node);
    if (kind < 0) return NULL;
    PyObject *key = PyTuple_New(1 + n + (kind == OP_SCAN));
    if (key == NULL) return NULL;
    PyTuple_SET_ITEM(key, 0, Py_NewRef(as_apply(node)->op));
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = key_item_new(merge, kind, node, i);
        if (item == NULL) {
            Py_DECREF(key);
            return NULL;
        }
        PyTuple_SET_ITEM(key, 1 + i, item);
    }
    if (kind == OP_SCAN) {
        PyObject *mode = PyObject_GetAttrString(as_apply(node)->op, "mode");
        if (mode == NULL) {
            Py_DECREF(key);
            return NULL;
        }
        PyTuple_SET_ITEM(key, 1 + n, mode);
    }
    return key;
}

/* 1 or 0, or -1: equal nodes can still have declared different types for their results. */
static int have_equal_types(PyObject *a, PyObject *b)
{
    if (node_n_outputs(a) != node_n_outputs(b)) return 0;
    for (Py_ssize_t i = 0; i < node_n_outputs(a); i++) {
        int equal = PyObject_RichCompareBool(variable_type(node_output(a, i)), variable_type(node_output(b, i)), Py_EQ);
        if (equal <= 0) return equal;
    }
    return 1;
}

/* A name that the user gave to one of two equal results is kept. */
static void keep_names(PyObject *node, PyObject *other)
{
    for (Py_ssize_t i = 0; i < node_n_outputs(node); i++) {
        Variable *from = (Variable *)node_output(node, i), *to = (Variable *)node_output(other, i);
        if (to->name == Py_None && from->name != Py_None) Py_SETREF(to->name, Py_NewRef(from->name));
    }
}

static int merge_node(Merge *merge, PyObject *node)
{
    int allowed = can_merge(merge, node);
    if (allowed <= 0) return allowed;
    PyObject *key = node_key_new(merge, node);
    if (key == NULL) return -1;
    int result = -1;
    PyObject *other = Py_XNewRef(PyDict_GetItemWithError(merge->nodes, key));
    if (other == NULL) {
        if (!PyErr_Occurred()) result = PyDict_SetItem(merge->nodes, key, node);
        goto done;
    }
    result = have_equal_types(node, other);
    if (result > 0) result = rewrite_replace_node(merge->graph, node, other, REASON);
    if (result > 0) {
        keep_names(node, other);
        merge->n_changes++;
        result = 0;
    }
done:
    Py_XDECREF(other);
    Py_DECREF(key);
    return result;
}

static int merge_all(Merge *merge)
{
    PyObject *order = graph_toposort(merge->graph);
    int result = order == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyList_GET_SIZE(order); i++) {
        PyObject *node = PyList_GET_ITEM(order, i);
        int present = rewrite_has_node(merge->graph, node);
        if (present < 0) result = -1;
        if (present <= 0) continue;
        result = merge_constants(merge, as_apply(node)->inputs);
        if (result == 0) result = merge_node(merge, node);
    }
    if (result == 0) result = merge_constants(merge, merge->graph->outputs);
    Py_XDECREF(order);
    return result;
}

Py_ssize_t rewrite_merge(FunctionGraph *graph, RewriteContext *context)
{
    Merge merge = {.graph = graph, .state = context->state};
    Py_ssize_t result = -1;
    merge.nodes = PyDict_New();
    merge.constants = PyDict_New();
    merge.seen = PySet_New(NULL);
    if (merge.nodes != NULL && merge.constants != NULL && merge.seen != NULL && merge_all(&merge) == 0) result = merge.n_changes;
    Py_XDECREF(merge.seen);
    Py_XDECREF(merge.constants);
    Py_XDECREF(merge.nodes);
    return result;
}
