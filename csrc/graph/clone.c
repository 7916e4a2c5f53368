/* Copies of graphs: clone, clone_get_equiv, and a FunctionGraph's own clone.
 *
 * One pass over the nodes in running order, so that depth is no limit. Relies on: order, apply, variable. Relied on by:
 * fgraph. */
#include "graph/internal.h"

/* Copies a leaf, or keeps it: constants are never copied. Nothing when memo has it. */
static int clone_leaf(GraphState *state, PyObject *leaf, PyObject *memo, bool copy)
{
    int has = PyDict_Contains(memo, leaf);
    if (has) return has < 0 ? -1 : 0;
    PyObject *new_leaf = copy && !is_constant(state, leaf) ? variable_clone_new(state, leaf) : Py_NewRef(leaf);
    int status = new_leaf ? PyDict_SetItem(memo, leaf, new_leaf) : -1;
    Py_XDECREF(new_leaf);
    return status;
}

/* 1, 0 or -1: whether all outputs have something in their place already, so that the node is not needed. */
static int is_replaced(PyObject *node, PyObject *memo)
{
    PyObject *outputs = as_apply(node)->outputs;
    int has = 1;
    for (Py_ssize_t i = 0; has > 0 && i < PyList_GET_SIZE(outputs); i++) has = PyDict_Contains(memo, PyList_GET_ITEM(outputs, i));
    return has;
}

/* Owned: what memo has for each input. */
static PyObject *new_inputs_of(GraphState *state, PyObject *node, PyObject *memo, bool copy_orphans)
{
    PyObject *inputs = as_apply(node)->inputs, *list = PyList_New(0);
    for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(inputs); i++) {
        PyObject *input = PyList_GET_ITEM(inputs, i);
        PyObject *new_input = clone_leaf(state, input, memo, copy_orphans) == 0 ? PyDict_GetItemWithError(memo, input) : NULL;
        if (new_input && !is_variable(state, new_input)) {
            PyErr_Format(PyExc_TypeError, "memo must map %R to a Variable, not %R", input, new_input);
            new_input = NULL;
        }
        if (!new_input || PyList_Append(list, new_input) < 0) Py_CLEAR(list);
    }
    return list;
}

/* An Op that was copied with its inner graph is copied once. Lent: the Op that memo has for this one, or NULL. */
static PyObject *cloned_op_peek(PyObject *memo, PyObject *op)
{
    PyObject *new_op = PyDict_GetItemWithError(memo, op);
    if (!new_op && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_TypeError)) PyErr_Clear(); /* an unhashable Op is not in there */
    return new_op;
}

static int note_node(PyObject *node, PyObject *new_node, PyObject *memo)
{
    PyObject *op = as_apply(node)->op, *new_op = as_apply(new_node)->op;
    if (PyDict_SetItem(memo, node, new_node) < 0) return -1;
    if (op != new_op && graph_set_default(memo, op, new_op) < 0) return -1;
    PyObject *outputs = as_apply(node)->outputs, *new_outputs = as_apply(new_node)->outputs;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(outputs) && i < PyList_GET_SIZE(new_outputs); i++)
        if (graph_set_default(memo, PyList_GET_ITEM(outputs, i), PyList_GET_ITEM(new_outputs, i)) < 0) return -1;
    return 0;
}

static int clone_node(GraphState *state, PyObject *node, PyObject *memo, CloneOptions options)
{
    PyObject *inputs = new_inputs_of(state, node, memo, options.copy_orphans);
    int replaced = inputs ? is_replaced(node, memo) : -1;
    PyObject *new_op = NULL, *new_node = NULL;
    int status = -1;
    if (replaced > 0) status = 0;
    if (replaced != 0) goto done;
    if (options.clone_inner_graphs && !(new_op = Py_XNewRef(cloned_op_peek(memo, as_apply(node)->op))) && PyErr_Occurred()) goto done;
    new_node = apply_clone_with_new_inputs(state, node, inputs, options.strict, options.clone_inner_graphs && !new_op);
    if (!new_node) goto done;
    if (new_op) Py_XSETREF(as_apply(new_node)->op, Py_NewRef(new_op));
    status = note_node(node, new_node, memo);
done:
    Py_XDECREF(new_node);
    Py_XDECREF(new_op);
    Py_XDECREF(inputs);
    return status;
}

int clone_into(GraphState *state, PyObject *inputs, PyObject *outputs, PyObject *memo, CloneOptions options)
{
    PyObject *order = NULL;
    int status = -1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs); i++)
        if (clone_leaf(state, PyList_GET_ITEM(inputs, i), memo, options.copy_inputs) < 0) goto done;
    if (!(order = graph_io_toposort(state, inputs, outputs))) goto done;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(order); i++)
        if (clone_node(state, PyList_GET_ITEM(order, i), memo, options) < 0) goto done;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(outputs); i++)
        if (clone_leaf(state, PyList_GET_ITEM(outputs, i), memo, options.copy_orphans || options.copy_inputs) < 0) goto done;
    status = 0;
done:
    Py_XDECREF(order);
    return status;
}

/* Owned: what memo has for each, as a list. */
static PyObject *look_up_all(PyObject *memo, PyObject *variables)
{
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(variables); i++) {
        PyObject *found = PyDict_GetItemWithError(memo, PyList_GET_ITEM(variables, i));
        if (!found && !PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, PyList_GET_ITEM(variables, i));
        if (!found || PyList_Append(list, found) < 0) Py_CLEAR(list);
    }
    return list;
}

/* --- FunctionGraph --- */

/* Owned: the feature as it belongs to the copy. */
static PyObject *clone_feature(GraphState *state, PyObject *object, PyObject *equiv)
{
    if (PyObject_TypeCheck(object, state->Feature)) {
        Feature *feature = (Feature *)object;
        if (feature->hooks && feature->hooks->clone) return feature->hooks->clone(object, equiv);
    }
    return PyObject_CallMethod(object, "clone", NULL);
}

static int clone_features(GraphState *state, FunctionGraph *graph, PyObject *copy, PyObject *equiv)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(graph->features); i++) {
        PyObject *feature = Py_NewRef(PyList_GET_ITEM(graph->features, i)), *new_feature = clone_feature(state, feature, equiv);
        PyObject *done = new_feature ? PyObject_CallMethod(copy, "attach_feature", "(O)", new_feature) : NULL;
        Py_XDECREF(new_feature);
        Py_DECREF(feature);
        if (!done) return -1;
        Py_DECREF(done);
    }
    return 0;
}

static PyObject *make_graph(GraphState *state, PyObject *inputs, PyObject *outputs, PyObject *update_mapping)
{
    PyObject *args = PyTuple_Pack(2, inputs, outputs);
    PyObject *kwargs = args ? Py_BuildValue("{sOsO}", "clone", Py_False, "update_mapping", update_mapping) : NULL;
    PyObject *copy = kwargs ? PyObject_Call((PyObject *)state->FunctionGraph, args, kwargs) : NULL;
    Py_XDECREF(kwargs);
    Py_XDECREF(args);
    return copy;
}

PyObject *graph_clone(FunctionGraph *graph, bool attach_features, PyObject **equiv)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    PyObject *memo = state ? PyDict_New() : NULL, *inputs = NULL, *outputs = NULL, *copy = NULL;
    CloneOptions options = {.copy_inputs = true, .copy_orphans = true, .strict = true};
    if (!memo || clone_into(state, graph->inputs, graph->outputs, memo, options) < 0) goto done;
    if (!(inputs = look_up_all(memo, graph->inputs)) || !(outputs = look_up_all(memo, graph->outputs))) goto done;
    copy = make_graph(state, inputs, outputs, graph->update_mapping);
    if (copy && attach_features && clone_features(state, graph, copy, memo) < 0) Py_CLEAR(copy);
    if (copy) Py_XSETREF(((FunctionGraph *)copy)->name, Py_NewRef(graph->name));
done:
    Py_XDECREF(outputs);
    Py_XDECREF(inputs);
    if (copy && equiv) *equiv = Py_NewRef(memo);
    Py_XDECREF(memo);
    return copy;
}

/* --- the Python functions --- */

/* Owned: the memo, filled. *ins and *outs are owned lists. */
static PyObject *clone_checked(GraphState *state, PyObject *inputs, PyObject *outputs, PyObject *memo, CloneOptions options, PyObject **ins, PyObject **outs)
{
    PyObject *result = NULL;
    if (memo != Py_None && !PyDict_Check(memo)) {
        PyErr_Format(PyExc_TypeError, "memo must be a dict, not %R", memo);
        return NULL;
    }
    *ins = variables_of(state, inputs, "inputs");
    *outs = *ins ? variables_of(state, outputs, "outputs") : NULL;
    if (*outs && (result = memo == Py_None ? PyDict_New() : Py_NewRef(memo)) && clone_into(state, *ins, *outs, result, options) < 0) Py_CLEAR(result);
    if (!result) {
        Py_CLEAR(*ins);
        Py_CLEAR(*outs);
    }
    return result;
}

static PyObject *py_clone(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"inputs", "outputs", "copy_inputs", "copy_orphans", "clone_inner_graphs", NULL};
    PyObject *inputs, *outputs, *copy_orphans = Py_None, *ins = NULL, *outs = NULL, *result = NULL;
    int copy_inputs = 1, inner = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|pOp:clone", keywords, &inputs, &outputs, &copy_inputs, &copy_orphans, &inner)) return NULL;
    int orphans = copy_orphans == Py_None ? copy_inputs : PyObject_IsTrue(copy_orphans);
    if (orphans < 0) return NULL;
    CloneOptions options = {.copy_inputs = copy_inputs, .copy_orphans = orphans, .clone_inner_graphs = inner, .strict = true};
    PyObject *memo = clone_checked(graph_state_of_module(module), inputs, outputs, Py_None, options, &ins, &outs);
    PyObject *new_ins = memo ? look_up_all(memo, ins) : NULL, *new_outs = new_ins ? look_up_all(memo, outs) : NULL;
    if (new_outs) result = PyTuple_Pack(2, new_ins, new_outs);
    Py_XDECREF(new_outs);
    Py_XDECREF(new_ins);
    Py_XDECREF(memo);
    Py_XDECREF(outs);
    Py_XDECREF(ins);
    return result;
}

static PyObject *py_clone_get_equiv(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"inputs", "outputs", "copy_inputs", "copy_orphans", "memo", "clone_inner_graphs", "strict", NULL};
    PyObject *inputs, *outputs, *memo = Py_None, *ins = NULL, *outs = NULL;
    int copy_inputs = 1, copy_orphans = 1, inner = 0, strict = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|ppOpp:clone_get_equiv", keywords, &inputs, &outputs, &copy_inputs, &copy_orphans, &memo, &inner, &strict))
        return NULL;
    CloneOptions options = {.copy_inputs = copy_inputs, .copy_orphans = copy_orphans, .clone_inner_graphs = inner, .strict = strict};
    PyObject *result = clone_checked(graph_state_of_module(module), inputs, outputs, memo, options, &ins, &outs);
    Py_XDECREF(outs);
    Py_XDECREF(ins);
    return result;
}

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
static PyMethodDef clone_functions[] = {
    {"clone", WITH_KEYWORDS(py_clone),
     "clone(inputs, outputs, copy_inputs=True, copy_orphans=None, clone_inner_graphs=False)\n--\n\n"
     "A copy of the graph between inputs and outputs, as (inputs, outputs). copy_orphans is copy_inputs unless given."},
    {"clone_get_equiv", WITH_KEYWORDS(py_clone_get_equiv),
     "clone_get_equiv(inputs, outputs, copy_inputs=True, copy_orphans=True, memo=None, clone_inner_graphs=False, strict=True)\n--\n\n"
     "Copy the graph between inputs and outputs; a dict that maps old variables, nodes and Ops to new ones.\n"
     "What memo maps already is not copied; it is the dict returned."},
    {NULL, NULL, 0, NULL},
};

int clone_exec(PyObject *module) { return PyModule_AddFunctions(module, clone_functions); }
