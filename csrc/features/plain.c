/* The features that need no more than their hooks: NodeFinder, PreserveVariableAttributes, NoOutputFromInplace.
 *
 * Relies on: feature, graph. Relied on by: nothing in C. */
#include "features/internal.h"

#define NONE_OR_ERROR(status) ((status) < 0 ? NULL : Py_NewRef(Py_None))

/* --- NodeFinder: the graph's `_finder_ops_to_nodes` is a dict: Op -> dict of its nodes, so that one leaves at no cost --- */

static const char finder_table[] = "_finder_ops_to_nodes";

/* 1, 0 (an unhashable Op, or none yet) or -1. *nodes is lent by the table. */
static int finder_nodes(FunctionGraph *graph, PyObject *op, bool make, PyObject **nodes)
{
    PyObject *table, *fresh;
    *nodes = NULL;
    int found = graph_lookup_attr((PyObject *)graph, finder_table, &table);
    if (found <= 0) return found;
    *nodes = PyDict_GetItemWithError(table, op);
    if (!*nodes && !PyErr_Occurred() && make && (fresh = PyDict_New())) {
        if (PyDict_SetItem(table, op, fresh) == 0) *nodes = fresh;
        Py_DECREF(fresh);
    }
    Py_DECREF(table); /* the graph holds it */
    if (*nodes) return 1;
    if (!PyErr_Occurred()) return 0;
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
    PyErr_Clear();
    return 0;
}

static int finder_on_import(PyObject *self, FunctionGraph *graph, PyObject *node, PyObject *reason)
{
    PyObject *nodes;
    int found = finder_nodes(graph, ((Apply *)node)->op, true, &nodes);
    return found <= 0 ? found : PyDict_SetItem(nodes, node, Py_True);
}

static int finder_on_prune(PyObject *self, FunctionGraph *graph, PyObject *node, PyObject *reason)
{
    PyObject *nodes, *op = ((Apply *)node)->op;
    int found = finder_nodes(graph, op, false, &nodes), has = found > 0 ? PyDict_Contains(nodes, node) : found;
    if (has <= 0) return has;
    if (PyDict_DelItem(nodes, node) < 0) return -1;
    if (PyDict_GET_SIZE(nodes)) return 0;
    PyObject *table = PyObject_GetAttrString((PyObject *)graph, finder_table);
    int status = table ? PyDict_DelItem(table, op) : -1;
    Py_XDECREF(table);
    return status;
}

static const FeatureHooks finder_hooks = {.on_import = finder_on_import, .on_prune = finder_on_prune};
FEATURE_WRAPPERS(finder)

static PyObject *finder_query(PyObject *unused, PyObject *args)
{
    PyObject *graph, *op, *nodes;
    if (!PyArg_ParseTuple(args, "OO:get_nodes", &graph, &op)) return NULL;
    GraphState *state = graph_state_of(graph);
    if (!state) return NULL;
    int found = finder_nodes((FunctionGraph *)graph, op, false, &nodes);
    if (found < 0) return NULL;
    return found ? PyDict_Keys(nodes) : PyList_New(0);
}

static PyObject *finder_attach(PyObject *self, PyObject *object)
{
    FunctionGraph *graph = need_graph(self, object);
    if (!graph || refuse_second(graph, "get_nodes", "NodeFinder is already present") < 0) return NULL;
    PyObject *table = PyDict_New();
    int status = table ? PyObject_SetAttrString(object, finder_table, table) : -1;
    Py_XDECREF(table);
    if (status == 0) status = graph_lend_method(graph, self, "query", "get_nodes");
    return NONE_OR_ERROR(status < 0 ? status : tell_all_nodes(self, graph, "on_import", "Bookkeeper.on_attach"));
}

static PyObject *finder_detach(PyObject *self, PyObject *object)
{
    FunctionGraph *graph = need_graph(self, object);
    if (!graph || graph_drop_attr(graph, "get_nodes") < 0) return NULL;
    return NONE_OR_ERROR(graph_drop_attr(graph, finder_table));
}

static PyObject *fresh_clone(PyObject *self, PyObject *unused) { return PyObject_CallNoArgs((PyObject *)Py_TYPE(self)); }

static PyMethodDef finder_methods[] = {
    {"on_attach", finder_attach, METH_O, "on_attach($self, fgraph, /)\n--\n\nGives the graph get_nodes(op)."},
    {"on_detach", finder_detach, METH_O, "on_detach($self, fgraph, /)\n--\n\nTakes it away."},
    FEATURE_EVENTS(finder),
    {"query", finder_query, METH_VARARGS | METH_STATIC, "query(fgraph, op, /)\n--\n\nA list of the op's nodes in the graph."},
    {"clone", fresh_clone, METH_NOARGS, "clone($self, /)\n--\n\nA new one for a copy of the graph."},
    {NULL, NULL, 0, NULL},
};

/* --- PreserveVariableAttributes --- */

static int preserve_on_change(PyObject *self, FunctionGraph *graph, PyObject *node, Py_ssize_t i, PyObject *variable, PyObject *new_variable, PyObject *reason)
{
    Variable *old = (Variable *)variable, *fresh = (Variable *)new_variable;
    if (old->name != Py_None && fresh->name == Py_None) Py_SETREF(fresh->name, Py_NewRef(old->name));
    if (!old->tag) return 0;
    PyObject *flag, *theirs;
    int found = graph_lookup_attr(old->tag, "nan_guard_mode_check", &flag);
    if (found <= 0) return found;
    int status = PyObject_IsTrue(flag);
    if (status > 0) {
        PyObject *tag = PyObject_GetAttrString(new_variable, "tag");
        found = tag ? graph_lookup_attr(tag, "nan_guard_mode_check", &theirs) : -1;
        status = found < 0 ? -1 : 0;
        if (found == 0 || (found > 0 && theirs == Py_False)) status = PyObject_SetAttrString(tag, "nan_guard_mode_check", flag);
        if (found > 0) Py_DECREF(theirs);
        Py_XDECREF(tag);
    }
    Py_DECREF(flag);
    return status;
}

static const FeatureHooks preserve_hooks = {.on_change_input = preserve_on_change};
FEATURE_WRAPPERS(preserve)

static PyMethodDef preserve_methods[] = {FEATURE_EVENTS(preserve), {NULL, NULL, 0, NULL}};

/* --- NoOutputFromInplace: `value` is the tuple of output indices --- */

static int no_inplace_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"protected_out_ids", NULL};
    PyObject *ids;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:NoOutputFromInplace", keywords, &ids)) return -1;
    PyObject *tuple = PySequence_Tuple(ids);
    if (!tuple) return -1;
    Py_XSETREF(as_feature(self)->value, tuple);
    return 0;
}

/* 0, or -1: the output must not be what a node makes by overwriting something. */
static int check_output(GraphState *state, PyObject *output)
{
    PyObject *owner = ((Variable *)output)->owner;
    if (owner == Py_None) return 0;
    PyObject *map = PyObject_GetAttr(((Apply *)owner)->op, state->str_destroy_map);
    if (!map) return -1;
    int truth = PyObject_IsTrue(map), has = truth > 0 ? PySequence_Contains(map, ((Variable *)output)->index) : truth;
    Py_DECREF(map);
    if (has > 0)
        PyErr_Format(state->InconsistencyError,
                     "A function graph Feature has requested that outputs of the graph be prevented from being the result of in-place operations. "
                     "This has prevented the output %S from being computed by modifying another variable in-place.", output);
    return has ? -1 : 0;
}

static int no_inplace_validate_hook(PyObject *self, FunctionGraph *graph)
{
    PyObject *ids = as_feature(self)->value;
    if (!ids || !graph->destroy_state) return 0;
    GraphState *state = graph_state_of((PyObject *)graph);
    for (Py_ssize_t k = 0; state && k < PyTuple_GET_SIZE(ids); k++) {
        PyObject *output = PyObject_GetItem(graph->outputs, PyTuple_GET_ITEM(ids, k));
        int status = output ? check_output(state, output) : -1;
        Py_XDECREF(output);
        if (status < 0) return -1;
    }
    return state ? 0 : -1;
}

static const FeatureHooks no_inplace_hooks = {.validate = no_inplace_validate_hook};
FEATURE_WRAPPERS(no_inplace)

static PyObject *no_inplace_attach(PyObject *self, PyObject *object)
{
    FunctionGraph *graph = need_graph(self, object);
    if (!graph || refuse_second(graph, "_no_output_from_inplace", "InnerGraphWatcher is already attached to the graph.") < 0) return NULL;
    return NONE_OR_ERROR(PyObject_SetAttrString(object, "_no_output_from_inplace", self));
}

static PyObject *no_inplace_detach(PyObject *self, PyObject *object)
{
    FunctionGraph *graph = need_graph(self, object);
    return graph ? NONE_OR_ERROR(graph_drop_attr(graph, "_no_output_from_inplace")) : NULL;
}

static PyObject *no_inplace_ids(PyObject *self)
{
    PyObject *ids = as_feature(self)->value;
    return ids ? Py_NewRef(ids) : PyTuple_New(0);
}

static PyObject *no_inplace_clone(PyObject *self, PyObject *unused)
{
    PyObject *ids = no_inplace_ids(self), *clone = ids ? PyObject_CallOneArg((PyObject *)Py_TYPE(self), ids) : NULL;
    Py_XDECREF(ids);
    return clone;
}

static PyObject *get_no_inplace_ids(PyObject *self, void *closure) { return no_inplace_ids(self); }

static PyMethodDef no_inplace_methods[] = {
    {"on_attach", no_inplace_attach, METH_O, "on_attach($self, fgraph, /)\n--\n\nNotes the feature on the graph."},
    {"on_detach", no_inplace_detach, METH_O, "on_detach($self, fgraph, /)\n--\n\nTakes the note away."},
    FEATURE_EVENTS(no_inplace),
    {"clone", no_inplace_clone, METH_NOARGS, "clone($self, /)\n--\n\nOne with the same indices."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef no_inplace_ids_attr = {"protected_out_ids", get_no_inplace_ids, NULL, "the indices of the outputs", NULL};

static int add_attribute(PyTypeObject *type, PyGetSetDef *attribute)
{
    PyObject *descriptor = PyDescr_NewGetSet(type, attribute);
    int status = descriptor ? PyObject_SetAttrString((PyObject *)type, attribute->name, descriptor) : -1;
    Py_XDECREF(descriptor);
    return status;
}

int plain_exec(PyObject *module, GraphState *state)
{
    PyObject *bookkeeper = PyObject_GetAttrString(module, "Bookkeeper");
    PyTypeObject *finder = bookkeeper ? feature_add_type(module, "pyscan._core.NodeFinder", "NodeFinder()\n--\n\nLets a graph find the nodes of an Op: get_nodes(op).",
                                                         (PyTypeObject *)bookkeeper, finder_new, NULL, finder_methods)
                                      : NULL;
    PyTypeObject *preserve = finder ? feature_add_type(module, "pyscan._core.PreserveVariableAttributes",
                                                       "PreserveVariableAttributes()\n--\n\nA replacement without a name takes the old one's.", state->Feature,
                                                       preserve_new, NULL, preserve_methods)
                                    : NULL;
    PyTypeObject *no_inplace = preserve ? feature_add_type(module, "pyscan._core.NoOutputFromInplace",
                                                           "NoOutputFromInplace(protected_out_ids)\n--\n\nRefuses that these outputs are made by overwriting something.",
                                                           state->Feature, no_inplace_new, no_inplace_init, no_inplace_methods)
                                        : NULL;
    int status = no_inplace ? add_attribute(no_inplace, &no_inplace_ids_attr) : -1;
    Py_XDECREF(no_inplace);
    Py_XDECREF(preserve);
    Py_XDECREF(finder);
    Py_XDECREF(bookkeeper);
    return status;
}
