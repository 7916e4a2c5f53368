/* constant_folding (position 0.01, and again after the scan passes): what depends on constants alone becomes a constant.
 *
 *     before   AllocEmpty(add(4, Subtensor{int64}(Shape(Unbroadcast{0}(InplaceDimShuffle{x}(x0))), 0)))
 *     after    AllocEmpty(5)
 *
 * It runs after merge, since a constant then stands once for all its equals, and again after scan_save_mem, whose
 * lengths it turns into numbers. Three rules, in one sweep in topological order:
 *   - Shape, Shape_i, and an entry of Shape, where the lengths are known;
 *   - an entry of MakeVector is that input, when the dtype is the same;
 *   - any other node whose inputs are constants is evaluated (context->evaluate).
 *
 * Nothing that a user can see may change. A node whose evaluation raises is left alone: the error belongs to the run. A
 * length that is known does not spare the computing of its tensor when that could fail. Not evaluated: random draws;
 * loops (their time belongs to the call); AllocEmpty, whose values are not defined; an Alloc that somebody is going to
 * write into; a user's Op, unless its class defines do_constant_folding and says yes (it may print or count); an Op whose
 * do_constant_folding says no; results above MAX_BYTES.
 *
 * Relies on: graph, safe, shape. Relied on by: the driver. */
#include "rewrite/safe.h"
#include "rewrite/shape.h"

#define REASON "constant_folding"
#define MAX_BYTES (1 << 20)

typedef struct Fold {
    FunctionGraph *graph;
    RewriteContext *context;
    Safe safe;
} Fold;

/* ---- which nodes are evaluated ---- */

/* 1 or 0, or -1: the class of the Op defines the method itself. */
static int defines_folding(Fold *fold, PyObject *op)
{
    PyObject *own = PyObject_GetAttrString((PyObject *)Py_TYPE(op), "do_constant_folding");
    PyObject *base = own == NULL ? NULL : PyObject_GetAttrString((PyObject *)fold->context->state->Op, "do_constant_folding");
    int result = base == NULL ? -1 : own != base;
    Py_XDECREF(base);
    Py_XDECREF(own);
    return result;
}

static int op_allows_folding(Fold *fold, PyObject *node)
{
    PyObject *answer = PyObject_CallMethod(as_apply(node)->op, "do_constant_folding", "OO", (PyObject *)fold->graph, node);
    int result = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return result;
}

/* 1 or 0, or -1: a client of the Alloc writes into it (or is a loop, whose state it may be): it stays a fresh buffer. */
static int is_written_into(Fold *fold, PyObject *node)
{
    PyObject *clients = graph_peek_clients(fold->graph, node_output(node, 0));
    for (Py_ssize_t i = 0; clients != NULL && i < PyList_GET_SIZE(clients); i++) {
        PyObject *client = PyTuple_GET_ITEM(PyList_GET_ITEM(clients, i), 0);
        if (PyUnicode_Check(client)) continue;
        int kind = rewrite_kind(fold->context->state, client);
        if (kind < 0) return -1;
        if (kind == OP_SCAN) return 1;
        bool writes = kind == OP_INC_SUBTENSOR || kind == OP_ADVANCED_INC_SUBTENSOR1 || kind == OP_ADVANCED_INC_SUBTENSOR;
        if (writes && node_input(client, 0) == node_output(node, 0)) return 1;
    }
    return 0;
}

/* 1 or 0, or -1: a range's items, counted before they are made. */
static int is_small_range(PyObject *node)
{
    double part[3] = {0.0, 0.0, 1.0};
    for (Py_ssize_t i = 0; i < 3 && i < node_n_inputs(node); i++) {
        part[i] = PyFloat_AsDouble(((Constant *)node_input(node, i))->data);
        if (part[i] == -1.0 && PyErr_Occurred()) {
            if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
            PyErr_Clear(); /* not a real number: not ours to judge */
            return 0;
        }
    }
    return (part[1] - part[0]) / part[2] <= (double)MAX_BYTES / DTYPE_MAX_BYTES;
}

/* 1 or 0, or -1: no result can be too large, judged by the inputs: no operation but those that are told lengths or
 * counts makes an axis longer than the longest of its inputs' (Join and Reshape give as many items as they take, Unique
 * no more). */
static int is_small(Fold *fold, PyObject *node, int kind)
{
    GraphState *state = fold->context->state;
    double n_items = 1.0;
    Py_ssize_t rank = rewrite_rank(node_output(node, 0)), length;
    if (rank == -2) return -1;
    if (kind == OP_ARANGE) return is_small_range(node);
    if (kind == OP_RESHAPE || kind == OP_JOIN || kind == OP_UNIQUE) return 1;
    if (kind == OP_REPEAT || kind == OP_ALLOC_DIAG || kind == OP_CHOOSE) return 0;
    int first_length = kind == OP_ALLOC || kind == OP_BROADCAST_TO ? 1 : kind == OP_BAND ? 0 : -1;
    for (Py_ssize_t axis = 0; axis < rank; axis++) {
        Py_ssize_t longest = 1;
        if (first_length >= 0) {
            if (rewrite_constant_int(state, node_input(node, first_length + axis), &longest) < 0) return -1;
        }
        for (Py_ssize_t i = 0; first_length < 0 && i < node_n_inputs(node); i++) {
            int known = rewrite_static_length(state, node_input(node, i), axis, &length);
            if (known < 0) return -1;
            if (known && length > longest) longest = length;
        }
        n_items *= (double)longest;
    }
    return n_items <= (double)MAX_BYTES / DTYPE_MAX_BYTES;
}

/* 1 or 0, or -1. */
static int can_evaluate(Fold *fold, PyObject *node)
{
    if (fold->context->evaluate == Py_None || node_n_inputs(node) == 0) return 0;
    for (Py_ssize_t i = 0; i < node_n_inputs(node); i++) {
        if (!rewrite_is_constant(fold->context->state, node_input(node, i))) return 0;
    }
    int kind = rewrite_kind(fold->context->state, node), allowed = 1;
    switch (kind) {
    case -1: return -1;
    case OP_RANDOM:
    case OP_SCAN:
    case OP_ALLOC_EMPTY: return 0;
    case OP_ALLOC: allowed = is_written_into(fold, node); break;
    case OP_USER: allowed = defines_folding(fold, as_apply(node)->op); break;
    default: break;
    }
    if (kind == OP_ALLOC && allowed >= 0) allowed = !allowed;
    if (allowed > 0) {
        int destroys = rewrite_flag(as_apply(node)->op, "destroy_map");
        allowed = destroys < 0 ? -1 : !destroys;
    }
    if (allowed > 0) allowed = is_small(fold, node, kind);
    return allowed <= 0 ? allowed : op_allows_folding(fold, node);
}

/* ---- evaluation ---- */

static bool is_above_limit(PyObject *data)
{
    Py_ssize_t n_bytes = 0;
    if (rewrite_attribute_int(data, "nbytes", &n_bytes) < 0) PyErr_Clear(); /* something without a size */
    return n_bytes > MAX_BYTES;
}

/* Owned: the values, NULL without an exception when the evaluation raised an error that belongs to the run, or NULL with one. */
static PyObject *evaluate_new(Fold *fold, PyObject *node)
{
    PyObject *values = PyObject_CallOneArg(fold->context->evaluate, node);
    if (values == NULL) {
        bool is_runs = PyErr_ExceptionMatches(PyExc_Exception) && !PyErr_ExceptionMatches(PyExc_MemoryError);
        if (is_runs) PyErr_Clear();
        return NULL;
    }
    Py_SETREF(values, PySequence_List(values));
    if (values != NULL && PyList_GET_SIZE(values) != node_n_outputs(node)) {
        PyErr_Format(PyExc_ValueError, "evaluate returned %zd values for the %zd outputs of %R.", PyList_GET_SIZE(values),
                     node_n_outputs(node), node);
        Py_CLEAR(values);
    }
    return values;
}

static int fold_evaluated(Fold *fold, PyObject *node)
{
    int result = -1;
    PyObject *pairs = NULL, *values = evaluate_new(fold, node);
    if (values == NULL) return PyErr_Occurred() ? -1 : 0;
    if ((pairs = PyList_New(0)) == NULL) goto done;
    for (Py_ssize_t i = 0; i < node_n_outputs(node); i++) {
        PyObject *output = node_output(node, i), *data = PyList_GET_ITEM(values, i);
        if (is_above_limit(data)) {
            result = 0;
            goto done;
        }
        if (graph_count_clients(fold->graph, output) == 0) continue;
        PyObject *constant = rewrite_make_constant(variable_type(output), data);
        int failed = constant == NULL || rewrite_add_pair(pairs, output, constant) < 0;
        Py_XDECREF(constant);
        if (failed) goto done;
    }
    result = rewrite_replace_all(fold->graph, pairs, REASON);
done:
    Py_XDECREF(pairs);
    Py_DECREF(values);
    return result;
}

/* ---- lengths ---- */

static int replace_by_int(Fold *fold, PyObject *output, Py_ssize_t value)
{
    PyObject *constant = rewrite_make_int(variable_type(output), value);
    int result = constant == NULL ? -1 : rewrite_replace(fold->graph, output, constant, REASON);
    Py_XDECREF(constant);
    return result;
}

static int fold_length(Fold *fold, PyObject *node, PyObject *tensor, Py_ssize_t axis)
{
    Length length;
    if (rewrite_length(fold->context->state, tensor, axis, &length) < 0) return -1;
    int allowed = length.is_known ? safe_value(&fold->safe, tensor) : 0;
    return allowed <= 0 ? allowed : replace_by_int(fold, node_output(node, 0), length.value);
}

static int fold_shape_i(Fold *fold, PyObject *node)
{
    Py_ssize_t axis;
    int found = rewrite_attribute_int(as_apply(node)->op, "i", &axis);
    return found <= 0 ? found : fold_length(fold, node, node_input(node, 0), axis);
}

static int fold_shape(Fold *fold, PyObject *node)
{
    PyObject *tensor = node_input(node, 0), *list = NULL, *numpy = NULL, *array = NULL, *constant = NULL;
    Py_ssize_t rank = rewrite_rank(tensor);
    int result = -1;
    if (rank < 0) return rank == -2 ? -1 : 0;
    if ((list = PyList_New(0)) == NULL) return -1;
    for (Py_ssize_t axis = 0; axis < rank; axis++) {
        Length length;
        if (rewrite_length(fold->context->state, tensor, axis, &length) < 0) goto done;
        if (!length.is_known) {
            result = 0;
            goto done;
        }
        PyObject *item = PyLong_FromSsize_t(length.value);
        int failed = item == NULL || PyList_Append(list, item) < 0;
        Py_XDECREF(item);
        if (failed) goto done;
    }
    if ((result = safe_value(&fold->safe, tensor)) <= 0) goto done;
    result = -1;
    if ((numpy = PyImport_ImportModule("numpy")) == NULL) goto done;
    if ((array = PyObject_CallMethod(numpy, "array", "Os", list, "int64")) == NULL) goto done;
    if ((constant = rewrite_make_constant(variable_type(node_output(node, 0)), array)) == NULL) goto done;
    result = rewrite_replace(fold->graph, node_output(node, 0), constant, REASON);
done:
    Py_XDECREF(constant);
    Py_XDECREF(array);
    Py_XDECREF(numpy);
    Py_XDECREF(list);
    return result;
}

/* Subtensor{int}(MakeVector(a, b), 1) is b, when a may be left out. */
static int fold_entry_of_vector(Fold *fold, PyObject *node, PyObject *vector, Py_ssize_t index)
{
    Py_ssize_t n = node_n_inputs(vector);
    if (index < 0) index += n;
    if (index < 0 || index >= n) return 0;
    PyObject *entry = node_input(vector, index);
    int allowed = PyObject_RichCompareBool(variable_type(entry), variable_type(node_output(node, 0)), Py_EQ);
    for (Py_ssize_t i = 0; allowed > 0 && i < n; i++) allowed = i == index ? 1 : safe_value(&fold->safe, node_input(vector, i));
    return allowed <= 0 ? allowed : rewrite_replace(fold->graph, node_output(node, 0), entry, REASON);
}

/* Subtensor with one constant index, of Shape or MakeVector. */
static int fold_subtensor(Fold *fold, PyObject *node)
{
    GraphState *state = fold->context->state;
    if (node_n_inputs(node) != 2 || !graph_is_computed(node_input(node, 0))) return 0;
    PyObject *source = variable_owner(node_input(node, 0));
    int kind = rewrite_kind(state, source);
    if (kind != OP_SHAPE && kind != OP_MAKE_VECTOR) return kind < 0 ? -1 : 0;
    IndexReader reader = {.node = node, .i_input = 1};
    IndexEntry entry;
    Py_ssize_t index = 0;
    int known = index_reader_next(&reader, &entry);
    if (known > 0) known = entry.is_slice ? 0 : rewrite_constant_int(state, entry.start, &index);
    index_reader_clear(&reader);
    if (known <= 0) return known;
    if (kind == OP_MAKE_VECTOR) return fold_entry_of_vector(fold, node, source, index);
    Py_ssize_t rank = rewrite_rank(node_input(source, 0));
    if (rank == -2) return -1;
    if (index < 0) index += rank;
    return index < 0 || index >= rank ? 0 : fold_length(fold, node, node_input(source, 0), index);
}

/* ---- the sweep ---- */

/* The number of changes, or -1. */
static int fold_node(Fold *fold, PyObject *node)
{
    int done = 0;
    switch (rewrite_kind(fold->context->state, node)) {
    case -1: return -1;
    case OP_SHAPE: done = fold_shape(fold, node); break;
    case OP_SHAPE_I: done = fold_shape_i(fold, node); break;
    case OP_SUBTENSOR: done = fold_subtensor(fold, node); break;
    default: break;
    }
    if (done != 0) return done;
    int allowed = can_evaluate(fold, node);
    return allowed <= 0 ? allowed : fold_evaluated(fold, node);
}

Py_ssize_t rewrite_fold(FunctionGraph *graph, RewriteContext *context)
{
    Fold fold = {.graph = graph, .context = context};
    Py_ssize_t n_changes = -1;
    PyObject *order = NULL;
    if (safe_init(&fold.safe, graph, context->state) < 0) goto done;
    if ((order = graph_toposort(graph)) == NULL) goto done;
    n_changes = 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(order); i++) {
        PyObject *node = PyList_GET_ITEM(order, i);
        int done = rewrite_has_node(graph, node);
        if (done > 0) done = fold_node(&fold, node);
        if (done < 0) {
            n_changes = -1;
            break;
        }
        n_changes += done;
    }
done:
    Py_XDECREF(order);
    safe_clear(&fold.safe);
    return n_changes;
}
