/* Tells the features of a graph what happens to it.
 *
 * A feature of this package is called through its hooks; any other object, an instance of a Python subclass, or one
 * with attributes of its own, is called by the name of the event, and skipped when it has no such attribute. Every
 * feature hears every event, in the order of attaching, also when one before it failed: otherwise they would disagree
 * about the graph. Only validate stops at the first exception, since that is a veto. Relies on: state. Relied on by:
 * edit, journal, order. */
#include "graph/internal.h"

/* Lent: the hooks, when they are all that the feature does. */
static const FeatureHooks *hooks_peek(GraphState *state, PyObject *object)
{
    if (!PyObject_TypeCheck(object, state->Feature)) return NULL;
    Feature *feature = (Feature *)object;
    return feature->dict && PyDict_GET_SIZE(feature->dict) ? NULL : feature->hooks;
}

/* Owned: the result; NULL without an exception when the feature has no such attribute. */
static PyObject *call_by_name(PyObject *feature, const char *name, PyObject *args, PyObject *kwargs)
{
    PyObject *method;
    if (graph_lookup_attr(feature, name, &method) <= 0) return NULL;
    PyObject *result = PyObject_Call(method, args, kwargs);
    Py_DECREF(method);
    return result;
}

/* 0 or -1. Steals args; NULL args keep the exception that is set. */
static int tell_by_name(PyObject *feature, const char *name, PyObject *stolen_args, PyObject *kwargs)
{
    PyObject *result = stolen_args ? call_by_name(feature, name, stolen_args, kwargs) : NULL;
    Py_XDECREF(stolen_args);
    if (!result) return PyErr_Occurred() ? -1 : 0;
    Py_DECREF(result);
    return 0;
}

static int finish(PyObject *first_error)
{
    graph_error_give(first_error);
    return first_error ? -1 : 0;
}

static void release(PyObject **object) { Py_CLEAR(*object); }

/* Runs the body for each feature, which is held for the time; the list may change meanwhile. */
#define FOR_EACH_FEATURE(graph, feature)                                                                       \
    for (Py_ssize_t i_feature = 0; i_feature < PyList_GET_SIZE((graph)->features); i_feature++)                \
        for (PyObject *feature = Py_NewRef(PyList_GET_ITEM((graph)->features, i_feature)); feature; release(&feature))

int notify_import(FunctionGraph *graph, PyObject *node, PyObject *reason)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    PyObject *error = NULL;
    if (!state) return -1;
    if (tag_note(state, &as_apply(node)->tag, "imported_by", reason) < 0) keep_first_error(&error);
    FOR_EACH_FEATURE(graph, feature)
    {
        const FeatureHooks *hooks = hooks_peek(state, feature);
        int status = 0;
        if (!hooks) status = tell_by_name(feature, "on_import", PyTuple_Pack(3, graph, node, reason), NULL);
        else if (hooks->on_import) status = hooks->on_import(feature, graph, node, reason);
        if (status < 0) keep_first_error(&error);
    }
    return finish(error);
}

int notify_prune(FunctionGraph *graph, PyObject *node, PyObject *reason)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    PyObject *error = NULL;
    if (!state) return -1;
    if (tag_note(state, &as_apply(node)->tag, "removed_by", reason) < 0) keep_first_error(&error);
    FOR_EACH_FEATURE(graph, feature)
    {
        const FeatureHooks *hooks = hooks_peek(state, feature);
        int status = 0;
        if (!hooks) status = tell_by_name(feature, "on_prune", PyTuple_Pack(3, graph, node, reason), NULL);
        else if (hooks->on_prune) status = hooks->on_prune(feature, graph, node, reason);
        if (status < 0) keep_first_error(&error);
    }
    return finish(error);
}

int notify_change(FunctionGraph *graph, PyObject *node, Py_ssize_t i, PyObject *variable, PyObject *new_variable, PyObject *reason)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    PyObject *error = NULL;
    if (!state) return -1;
    FOR_EACH_FEATURE(graph, feature)
    {
        const FeatureHooks *hooks = hooks_peek(state, feature);
        int status = 0;
        if (!hooks) {
            PyObject *kwargs = Py_BuildValue("{sO}", "reason", reason);
            status = kwargs ? tell_by_name(feature, "on_change_input", Py_BuildValue("(OOnOO)", graph, node, i, variable, new_variable), kwargs) : -1;
            Py_XDECREF(kwargs);
        } else if (hooks->on_change_input) {
            status = hooks->on_change_input(feature, graph, node, i, variable, new_variable, reason);
        }
        if (status < 0) keep_first_error(&error);
    }
    return finish(error);
}

int graph_validate(FunctionGraph *graph)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    int status = state ? 0 : -1;
    FOR_EACH_FEATURE(graph, feature)
    {
        const FeatureHooks *hooks = status == 0 ? hooks_peek(state, feature) : NULL;
        if (status < 0) continue;
        if (!hooks) status = tell_by_name(feature, "validate", PyTuple_Pack(1, graph), NULL);
        else if (hooks->validate) status = hooks->validate(feature, graph);
    }
    return status;
}

/* Adds the rules that a Python feature returned to the others. */
static int merge_rules(PyObject *rules, PyObject *theirs, PyObject *feature)
{
    if (!PyDict_Check(theirs)) {
        PyErr_Format(PyExc_TypeError, "Non-deterministic return value from %R.orderings. Nondeterministic object is %S", feature, theirs);
        return -1;
    }
    PyObject *node, *before;
    for (Py_ssize_t at = 0; PyDict_Next(theirs, &at, &node, &before);) {
        if (PyAnySet_Check(before)) {
            PyErr_SetString(PyExc_TypeError, "prereqs must be a type with a deterministic iteration order, or toposort  will be non-deterministic.");
            return -1;
        }
        PyObject *list = PyDict_GetItemWithError(rules, node), *more = list || !PyErr_Occurred() ? PySequence_List(before) : NULL;
        int status = -1;
        if (more && list) status = PyList_SetSlice(list, PyList_GET_SIZE(list), PyList_GET_SIZE(list), more);
        else if (more) status = PyDict_SetItem(rules, node, more);
        Py_XDECREF(more);
        if (status < 0) return -1;
    }
    return 0;
}

PyObject *notify_orderings(FunctionGraph *graph)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    PyObject *rules = state ? PyDict_New() : NULL;
    if (!rules) return NULL;
    PyObject *args = PyTuple_Pack(1, graph);
    int status = args ? 0 : -1;
    FOR_EACH_FEATURE(graph, feature)
    {
        if (status < 0) continue;
        const FeatureHooks *hooks = hooks_peek(state, feature);
        if (hooks) {
            if (hooks->orderings) status = hooks->orderings(feature, graph, rules);
            continue;
        }
        PyObject *theirs = call_by_name(feature, "orderings", args, NULL);
        if (theirs) status = merge_rules(rules, theirs, feature);
        else if (PyErr_Occurred()) status = -1;
        Py_XDECREF(theirs);
    }
    Py_XDECREF(args);
    if (status < 0) Py_CLEAR(rules);
    return rules;
}

PyObject *notify_call(FunctionGraph *graph, const char *name, PyObject *args, PyObject *kwargs, bool collect)
{
    PyObject *results = collect ? PyDict_New() : Py_NewRef(Py_None);
    int status = results ? 0 : -1;
    FOR_EACH_FEATURE(graph, feature)
    {
        if (status < 0) continue;
        PyObject *result = call_by_name(feature, name, args, kwargs);
        if (result && collect) status = PyDict_SetItem(results, feature, result);
        else if (!result && PyErr_Occurred()) status = -1;
        Py_XDECREF(result);
    }
    if (status < 0) Py_CLEAR(results);
    return results;
}
