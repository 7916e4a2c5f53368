/* What the in-place passes share. See inplace.h.
 *
 * Relies on: common, scan_edit. Relied on by: inplace_subtensor.c, scan_inplace.c, inplace_random.c. */
#include "rewrite/inplace.h"

#include "rewrite/scan_edit.h"

/* ---- in-place Ops ---- */

static PyObject *op_from_props_new(PyObject *op)
{
    PyObject *props = PyObject_CallMethod(op, "_props_dict", NULL), *keywords = NULL, *arguments = NULL, *result = NULL;
    if (props != NULL) keywords = PyDict_New();
    if (keywords != NULL && PyDict_Update(keywords, props) == 0 && PyDict_SetItemString(keywords, "inplace", Py_True) == 0) {
        arguments = PyTuple_New(0);
    }
    if (arguments != NULL) result = PyObject_Call((PyObject *)Py_TYPE(op), arguments, keywords);
    Py_XDECREF(arguments);
    Py_XDECREF(keywords);
    Py_XDECREF(props);
    return result;
}

/* Owned: the Op that does the same and overwrites its input: op.in_place(), or the class called with the Op's
 * _props_dict() and inplace=True. */
static PyObject *op_in_place_new(PyObject *op)
{
    PyObject *method = PyObject_GetAttrString(op, "in_place");
    if (method == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return NULL;
        PyErr_Clear();
        return op_from_props_new(op);
    }
    PyObject *result = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    return result;
}

/* ---- heirs ---- */

/* Pushes the states that a node makes `variable` of: a loop carries each on by itself, any other node reads all its own. */
static int push_origins(GraphState *state, PyObject *variable, PyObject *stack)
{
    PyObject *node = variable_owner(variable);
    int kind = rewrite_kind(state, node);
    if (kind < 0) return -1;
    if (kind == OP_SCAN) {
        ScanLayout layout = {0};
        Py_ssize_t output = PyLong_AsSsize_t(((Variable *)variable)->index);
        int result = scan_layout_init(&layout, node);
        if (result == 0) result = PyList_Append(stack, node_input(node, scan_outer_input_of_output(&layout, output)));
        scan_layout_clear(&layout);
        return result;
    }
    for (Py_ssize_t i = 0; i < node_n_inputs(node); i++) {
        int is_generator = rewrite_is_generator(node_input(node, i));
        if (is_generator < 0 || (is_generator && PyList_Append(stack, node_input(node, i)) < 0)) return -1;
    }
    return 0;
}

/* Adds to the set the chain of states that leads to a variable. */
static int add_chain(GraphState *state, PyObject *set, PyObject *variable)
{
    PyObject *stack = PyList_New(0);
    int result = rewrite_is_generator(variable);
    if (result > 0) result = stack == NULL ? -1 : PyList_Append(stack, variable);
    while (result == 0 && stack != NULL && PyList_GET_SIZE(stack) > 0) {
        Py_ssize_t last = PyList_GET_SIZE(stack) - 1;
        PyObject *next = Py_NewRef(PyList_GET_ITEM(stack, last));
        result = PyList_SetSlice(stack, last, last + 1, NULL);
        int seen = result < 0 ? -1 : PySet_Contains(set, next);
        if (seen < 0 || (seen == 0 && PySet_Add(set, next) < 0)) result = -1;
        if (result == 0 && seen == 0 && graph_is_computed(next)) result = push_origins(state, next, stack);
        Py_DECREF(next);
    }
    Py_XDECREF(stack);
    return result < 0 ? -1 : 0;
}

int heirs_init(Heirs *heirs, FunctionGraph *graph, GraphState *state)
{
    bool has_updates = PyDict_Check(graph->update_mapping) && PyDict_GET_SIZE(graph->update_mapping) > 0;
    heirs->of_updates = PySet_New(NULL);
    heirs->of_outputs = PySet_New(NULL);
    if (heirs->of_updates == NULL || heirs->of_outputs == NULL) return -1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(graph->outputs); i++) {
        PyObject *position = PyLong_FromSsize_t(i);
        int is_update = position == NULL ? -1 : has_updates ? PyDict_Contains(graph->update_mapping, position) : 0;
        Py_XDECREF(position);
        if (is_update < 0) return -1;
        PyObject *set = is_update ? heirs->of_updates : heirs->of_outputs;
        if (add_chain(state, set, PyList_GET_ITEM(graph->outputs, i)) < 0) return -1;
    }
    return 0;
}

void heirs_clear(Heirs *heirs)
{
    Py_CLEAR(heirs->of_updates);
    Py_CLEAR(heirs->of_outputs);
}

int heirs_is_first(const Heirs *heirs, PyObject *state_variable, PyObject *next_state)
{
    PyObject *const sets[] = {heirs->of_updates, heirs->of_outputs};
    for (int i = 0; i < 2; i++) {
        int is_heir = PySet_Contains(sets[i], next_state);
        if (is_heir != 0) return is_heir;
        int has_heir = PySet_Contains(sets[i], state_variable);
        if (has_heir != 0) return has_heir < 0 ? -1 : 0;
    }
    return 1;
}

int heirs_follow(Heirs *heirs, PyObject *node, PyObject *new_node)
{
    PyObject *const sets[] = {heirs->of_updates, heirs->of_outputs};
    for (Py_ssize_t k = 0; k < node_n_outputs(node); k++) {
        for (int i = 0; i < 2; i++) {
            int found = PySet_Contains(sets[i], node_output(node, k));
            if (found < 0 || (found && PySet_Add(sets[i], node_output(new_node, k)) < 0)) return -1;
        }
    }
    return 0;
}

/* ---- trying ---- */

/* 1 or 0, or -1: whether the outputs of two nodes are of the same types, one by one. */
static int has_same_types(PyObject *node, PyObject *made)
{
    int same = node_n_outputs(node) == node_n_outputs(made);
    for (Py_ssize_t i = 0; same > 0 && i < node_n_outputs(node); i++) {
        same = PyObject_RichCompareBool(((Variable *)node_output(node, i))->type, ((Variable *)node_output(made, i))->type, Py_EQ);
    }
    return same;
}

/* The same node with another Op. Where make_node would now choose other types (floatX has changed since), the outputs
 * keep theirs. */
static PyObject *node_with_op(PyObject *node, PyObject *op)
{
    PyObject *made = rewrite_make_node(op, as_apply(node)->inputs, node);
    int same = made == NULL ? -1 : has_same_types(node, made);
    if (same > 0) return made;
    Py_CLEAR(made);
    if (same == 0 && (made = PyObject_CallMethod(node, "clone", NULL)) != NULL) Py_SETREF(as_apply(made)->op, Py_NewRef(op));
    return made;
}

int inplace_try_node(FunctionGraph *graph, PyObject *node, Heirs *heirs, const char *reason)
{
    PyObject *op = op_in_place_new(as_apply(node)->op);
    PyObject *made = op == NULL ? NULL : node_with_op(node, op);
    int result = made == NULL ? -1 : rewrite_replace_node(graph, node, made, reason);
    if (result > 0 && heirs != NULL && heirs_follow(heirs, node, made) < 0) result = -1;
    Py_XDECREF(made);
    Py_XDECREF(op);
    return result;
}
