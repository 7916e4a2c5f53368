/* Feature, the base of all listeners, and Bookkeeper; how a built-in feature's hooks become Python methods.
 *
 * Relies on: graph. Relied on by: the other files of this room. */
#include <stddef.h>

#include "features/internal.h"

/* --- instances --- */

PyObject *feature_new(PyTypeObject *type, const FeatureHooks *hooks)
{
    Feature *self = as_feature(type->tp_alloc(type, 0));
    if (!self) return NULL;
    /* Only a class made with the module itself has one; a subclass made in Python may override callbacks. */
    if (PyType_GetModule(type)) self->hooks = hooks;
    else PyErr_Clear();
    return (PyObject *)self;
}

static int feature_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(as_feature(self)->value);
    Py_VISIT(as_feature(self)->dict);
    return 0;
}

static int feature_clear(PyObject *self)
{
    Py_CLEAR(as_feature(self)->value);
    Py_CLEAR(as_feature(self)->dict);
    return 0;
}

static void feature_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (as_feature(self)->weakrefs) PyObject_ClearWeakRefs(self);
    (void)feature_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

/* --- what the other files use --- */

/* 1, 0 or -1: whether the graph has the attribute. */
static int has_attr(FunctionGraph *graph, const char *name)
{
    PyObject *value;
    int found = graph_lookup_attr((PyObject *)graph, name, &value);
    Py_XDECREF(value);
    return found;
}

int refuse_second(FunctionGraph *graph, const char *attribute, const char *text)
{
    int has = has_attr(graph, attribute);
    if (has <= 0) return has;
    GraphState *state = graph_state_of((PyObject *)graph);
    if (state) PyErr_SetString(state->AlreadyThere, text);
    return -1;
}

int graph_lend_method(FunctionGraph *graph, PyObject *feature, const char *function, const char *name)
{
    PyObject *callable = PyObject_GetAttrString(feature, function), *method = callable ? PyMethod_New(callable, (PyObject *)graph) : NULL;
    int status = method ? PyObject_SetAttrString((PyObject *)graph, name, method) : -1;
    Py_XDECREF(method);
    Py_XDECREF(callable);
    return status;
}

int graph_drop_attr(FunctionGraph *graph, const char *name)
{
    if (PyObject_SetAttrString((PyObject *)graph, name, NULL) == 0) return 0;
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
    PyErr_Clear();
    return 0;
}

FunctionGraph *need_graph(PyObject *self, PyObject *object)
{
    GraphState *state = graph_state_of(self);
    if (state && PyObject_TypeCheck(object, state->FunctionGraph)) return (FunctionGraph *)object;
    if (state) PyErr_Format(PyExc_TypeError, "expected a FunctionGraph, got %R", object);
    return NULL;
}

int tell_all_nodes(PyObject *feature, FunctionGraph *graph, const char *event, const char *reason)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    PyObject *nodes = state ? graph_io_toposort(state, graph->inputs, graph->outputs) : NULL;
    int status = nodes ? 0 : -1;
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(nodes); i++) {
        PyObject *done = PyObject_CallMethod(feature, event, "OOs", graph, PyList_GET_ITEM(nodes, i), reason);
        status = done ? 0 : -1;
        Py_XDECREF(done);
    }
    Py_XDECREF(nodes);
    return status;
}

/* --- hooks as methods --- */

#define NONE_OR_ERROR(status) ((status) < 0 ? NULL : Py_NewRef(Py_None))

/* Parses (fgraph, node, reason). */
static int parse_node_event(PyObject *self, PyObject *args, PyObject *kwargs, FunctionGraph **graph, PyObject **node, PyObject **reason)
{
    static char *keywords[] = {"fgraph", "node", "reason", NULL};
    PyObject *object;
    *reason = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O", keywords, &object, node, reason) || !(*graph = need_graph(self, object))) return -1;
    GraphState *state = graph_state_of(self);
    if (PyObject_TypeCheck(*node, state->Apply)) return 0;
    PyErr_Format(PyExc_TypeError, "expected an Apply, got %R", *node);
    return -1;
}

PyObject *feature_py_import(PyObject *self, PyObject *args, PyObject *kwargs, const FeatureHooks *hooks)
{
    FunctionGraph *graph;
    PyObject *node, *reason;
    if (parse_node_event(self, args, kwargs, &graph, &node, &reason) < 0) return NULL;
    return NONE_OR_ERROR(hooks->on_import ? hooks->on_import(self, graph, node, reason) : 0);
}

PyObject *feature_py_prune(PyObject *self, PyObject *args, PyObject *kwargs, const FeatureHooks *hooks)
{
    FunctionGraph *graph;
    PyObject *node, *reason;
    if (parse_node_event(self, args, kwargs, &graph, &node, &reason) < 0) return NULL;
    return NONE_OR_ERROR(hooks->on_prune ? hooks->on_prune(self, graph, node, reason) : 0);
}

PyObject *feature_py_change(PyObject *self, PyObject *args, PyObject *kwargs, const FeatureHooks *hooks)
{
    static char *keywords[] = {"fgraph", "node", "i", "var", "new_var", "reason", NULL};
    GraphState *state = graph_state_of(self);
    PyObject *object, *node, *variable, *new_variable, *reason = Py_None;
    FunctionGraph *graph;
    Py_ssize_t i;
    if (!state || !PyArg_ParseTupleAndKeywords(args, kwargs, "OOnO!O!|O:on_change_input", keywords, &object, &node, &i, state->Variable, &variable,
                                               state->Variable, &new_variable, &reason) ||
        !(graph = need_graph(self, object)))
        return NULL;
    if (!PyObject_TypeCheck(node, state->Apply) && !PyUnicode_Check(node)) {
        PyErr_Format(PyExc_TypeError, "expected an Apply or \"output\", got %R", node);
        return NULL;
    }
    return NONE_OR_ERROR(hooks->on_change_input ? hooks->on_change_input(self, graph, node, i, variable, new_variable, reason) : 0);
}

static FunctionGraph *parse_graph(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"fgraph", "ordered", NULL};
    PyObject *object, *ordered = Py_True; /* our answer is ordered always */
    return PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", keywords, &object, &ordered) ? need_graph(self, object) : NULL;
}

PyObject *feature_py_validate(PyObject *self, PyObject *args, PyObject *kwargs, const FeatureHooks *hooks)
{
    FunctionGraph *graph = parse_graph(self, args, kwargs);
    if (!graph) return NULL;
    int status = hooks->validate ? hooks->validate(self, graph) : 0;
    return status < 0 ? NULL : Py_NewRef(Py_True);
}

PyObject *feature_py_orderings(PyObject *self, PyObject *args, PyObject *kwargs, const FeatureHooks *hooks)
{
    FunctionGraph *graph = parse_graph(self, args, kwargs);
    PyObject *rules = graph ? PyDict_New() : NULL;
    if (rules && hooks->orderings && hooks->orderings(self, graph, rules) < 0) Py_CLEAR(rules);
    return rules;
}

/* --- Feature --- */

static const FeatureHooks feature_hooks = {0};

static PyObject *feature_make(PyTypeObject *type, PyObject *args, PyObject *kwargs) { return feature_new(type, &feature_hooks); }

static PyObject *feature_import(PyObject *self, PyObject *args, PyObject *kwargs) { return feature_py_import(self, args, kwargs, &feature_hooks); }
static PyObject *feature_prune(PyObject *self, PyObject *args, PyObject *kwargs) { return feature_py_prune(self, args, kwargs, &feature_hooks); }
static PyObject *feature_change(PyObject *self, PyObject *args, PyObject *kwargs) { return feature_py_change(self, args, kwargs, &feature_hooks); }
static PyObject *feature_orderings(PyObject *self, PyObject *args, PyObject *kwargs) { return feature_py_orderings(self, args, kwargs, &feature_hooks); }
static PyObject *feature_validate(PyObject *self, PyObject *args, PyObject *kwargs) { return feature_py_validate(self, args, kwargs, &feature_hooks); }

static PyObject *feature_nothing(PyObject *self, PyObject *graph) { return need_graph(self, graph) ? Py_NewRef(Py_None) : NULL; }

static PyObject *feature_clone(PyObject *self, PyObject *unused) { return Py_NewRef(self); }

static PyObject *feature_reduce(PyObject *self, PyObject *unused)
{
    Feature *feature = as_feature(self);
    PyObject *copyreg = PyImport_ImportModule("copyreg"), *function = copyreg ? PyObject_GetAttrString(copyreg, "__newobj__") : NULL, *result = NULL;
    if (function)
        result = Py_BuildValue("O(O){sOsO}", function, Py_TYPE(self), "value", feature->value ? feature->value : Py_None, "attributes",
                               feature->dict ? feature->dict : Py_None);
    Py_XDECREF(function);
    Py_XDECREF(copyreg);
    return result;
}

static PyObject *feature_setstate(PyObject *self, PyObject *values)
{
    if (!PyDict_Check(values)) {
        PyErr_Format(PyExc_TypeError, "a Feature's state is a dict, not %R", values);
        return NULL;
    }
    PyObject *value, *attributes;
    if (graph_find_item(values, "value", &value) < 0 || graph_find_item(values, "attributes", &attributes) < 0) return NULL;
    if (value && value != Py_None) Py_XSETREF(as_feature(self)->value, Py_NewRef(value));
    if (attributes && attributes != Py_None) {
        PyObject *dict = PyObject_GenericGetDict(self, NULL);
        int status = dict ? PyDict_Update(dict, attributes) : -1;
        Py_XDECREF(dict);
        if (status < 0) return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef feature_methods[] = {
    {"on_attach", feature_nothing, METH_O, "on_attach($self, fgraph, /)\n--\n\nThe feature is being attached; AlreadyThere drops it silently."},
    {"on_detach", feature_nothing, METH_O, "on_detach($self, fgraph, /)\n--\n\nThe feature has been detached."},
    FEATURE_EVENTS(feature),
    {"clone", feature_clone, METH_NOARGS, "clone($self, /)\n--\n\nThe feature for a copy of the graph; here, the same."},
    {"__reduce_ex__", feature_reduce, METH_O, NULL},
    {"__setstate__", feature_setstate, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef feature_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(Feature, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Feature, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyGetSetDef feature_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot feature_slots[] = {
    {Py_tp_doc, "Feature()\n--\n\nA listener on a FunctionGraph. A subclass overrides the callbacks that it wants, and validate(fgraph) to veto an edit."},
    {Py_tp_new, feature_make},
    {Py_tp_dealloc, feature_dealloc},
    {Py_tp_traverse, feature_traverse},
    {Py_tp_clear, feature_clear},
    {Py_tp_methods, feature_methods},
    {Py_tp_members, feature_members},
    {Py_tp_getset, feature_getset},
    {0, NULL},
};
static PyType_Spec feature_spec = {"pyscan._core.Feature", sizeof(Feature), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, feature_slots};

PyTypeObject *feature_add_type(PyObject *module, const char *name, const char *doc, PyTypeObject *base, newfunc make, initproc init, PyMethodDef *methods)
{
    PyType_Slot slots[] = {{Py_tp_doc, (void *)(uintptr_t)doc}, {Py_tp_new, (void *)make}, {Py_tp_methods, methods}, {init ? Py_tp_init : 0, (void *)init}, {0, NULL}};
    PyType_Spec spec = {name, sizeof(Feature), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, (PyObject *)base);
    if (type && PyModule_AddType(module, type) < 0) Py_CLEAR(type);
    return type;
}

/* --- Bookkeeper --- */

static PyObject *bookkeeper_attach(PyObject *self, PyObject *object)
{
    FunctionGraph *graph = need_graph(self, object);
    return graph ? NONE_OR_ERROR(tell_all_nodes(self, graph, "on_import", "Bookkeeper.on_attach")) : NULL;
}

static PyObject *bookkeeper_detach(PyObject *self, PyObject *object)
{
    FunctionGraph *graph = need_graph(self, object);
    return graph ? NONE_OR_ERROR(tell_all_nodes(self, graph, "on_prune", "Bookkeeper.detach")) : NULL;
}

static PyMethodDef bookkeeper_methods[] = {
    {"on_attach", bookkeeper_attach, METH_O, "on_attach($self, fgraph, /)\n--\n\non_import for every node that is there."},
    {"on_detach", bookkeeper_detach, METH_O, "on_detach($self, fgraph, /)\n--\n\non_prune for every node that is there."},
    {NULL, NULL, 0, NULL},
};

int features_module_exec(PyObject *module, GraphState *state)
{
    state->Feature = (PyTypeObject *)PyType_FromModuleAndSpec(module, &feature_spec, NULL);
    if (!state->Feature || PyModule_AddType(module, state->Feature) < 0) return -1;
    PyTypeObject *bookkeeper = feature_add_type(module, "pyscan._core.Bookkeeper", "Bookkeeper()\n--\n\nA feature that is told of the nodes that were there before it.",
                                                state->Feature, feature_make, NULL, bookkeeper_methods);
    if (!bookkeeper) return -1;
    Py_DECREF(bookkeeper); /* the module holds it */
    if (history_exec(module, state) < 0 || plain_exec(module, state) < 0) return -1;
    return destroy_exec(module, state) < 0 ? -1 : supervisor_exec(module, state);
}
