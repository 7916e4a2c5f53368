/* History, Validator and ReplaceValidate: edits that can be undone, and edits that are undone when a feature objects.
 *
 * The work is graph/journal.c's; a feature only lends its names to the graph. Relies on: feature, graph. Relied on by:
 * every FunctionGraph, which has a ReplaceValidate. */
#include "features/internal.h"

/* Lent: the class's own static functions find the state by the graph that they are given. */
static FunctionGraph *graph_argument(PyObject *object)
{
    GraphState *state = graph_state_of(object);
    if (state && PyObject_TypeCheck(object, state->FunctionGraph)) return (FunctionGraph *)object;
    PyErr_Format(PyExc_TypeError, "expected a FunctionGraph, got %R", object);
    return NULL;
}

#define NONE_OR_ERROR(status) ((status) < 0 ? NULL : Py_NewRef(Py_None))

/* --- History --- */

static const FeatureHooks history_hooks = {0}; /* the graph itself keeps the journal */
FEATURE_WRAPPERS(history)

static int history_attach_to(PyObject *self, FunctionGraph *graph)
{
    static const char text[] = "History feature is already present or in conflict with another plugin.";
    if (refuse_second(graph, "checkpoint", text) < 0 || refuse_second(graph, "revert", text) < 0) return -1;
    if (graph_journal_start(graph) < 0 || graph_lend_method(graph, self, "checkpoint", "checkpoint") < 0) return -1;
    return graph_lend_method(graph, self, "revert", "revert");
}

static int history_detach_from(FunctionGraph *graph)
{
    graph_journal_stop(graph);
    return graph_drop_attr(graph, "checkpoint") < 0 ? -1 : graph_drop_attr(graph, "revert");
}

static PyObject *history_attach(PyObject *self, PyObject *object)
{
    FunctionGraph *graph = need_graph(self, object);
    return graph ? NONE_OR_ERROR(history_attach_to(self, graph)) : NULL;
}

static PyObject *history_detach(PyObject *self, PyObject *object)
{
    FunctionGraph *graph = need_graph(self, object);
    return graph ? NONE_OR_ERROR(history_detach_from(graph)) : NULL;
}

static PyObject *history_checkpoint(PyObject *unused, PyObject *object)
{
    FunctionGraph *graph = graph_argument(object);
    long long number = graph ? graph_checkpoint(graph) : -1;
    return number < 0 ? NULL : PyLong_FromLongLong(number);
}

static PyObject *history_revert(PyObject *unused, PyObject *args)
{
    PyObject *object;
    long long checkpoint;
    if (!PyArg_ParseTuple(args, "OL:revert", &object, &checkpoint)) return NULL;
    FunctionGraph *graph = graph_argument(object);
    return graph ? NONE_OR_ERROR(graph_revert(graph, checkpoint)) : NULL;
}

/* A new one of the same class: it belongs to one graph. */
static PyObject *fresh_clone(PyObject *self, PyObject *unused) { return PyObject_CallNoArgs((PyObject *)Py_TYPE(self)); }

static PyMethodDef history_methods[] = {
    {"on_attach", history_attach, METH_O, "on_attach($self, fgraph, /)\n--\n\nGives the graph checkpoint() and revert()."},
    {"on_detach", history_detach, METH_O, "on_detach($self, fgraph, /)\n--\n\nTakes them away."},
    FEATURE_EVENTS(history),
    {"checkpoint", history_checkpoint, METH_O | METH_STATIC, "checkpoint(fgraph, /)\n--\n\nA number for the graph as it is now; what was noted before is dropped."},
    {"revert", history_revert, METH_VARARGS | METH_STATIC, "revert(fgraph, checkpoint, /)\n--\n\nUndo every change since the checkpoint."},
    {"clone", fresh_clone, METH_NOARGS, "clone($self, /)\n--\n\nA new one for a copy of the graph."},
    {NULL, NULL, 0, NULL},
};

/* --- Validator --- */

static const FeatureHooks validator_hooks = {0};
FEATURE_WRAPPERS(validator)

static int validator_attach_to(PyObject *self, FunctionGraph *graph)
{
    if (refuse_second(graph, "validate", "Validator feature is already present or in conflict with another plugin.") < 0) return -1;
    if (graph_lend_method(graph, self, "validate_", "validate") < 0) return -1;
    return graph_lend_method(graph, self, "consistent_", "consistent");
}

static int validator_detach_from(FunctionGraph *graph)
{
    return graph_drop_attr(graph, "validate") < 0 ? -1 : graph_drop_attr(graph, "consistent");
}

static PyObject *validator_attach(PyObject *self, PyObject *object)
{
    FunctionGraph *graph = need_graph(self, object);
    return graph ? NONE_OR_ERROR(validator_attach_to(self, graph)) : NULL;
}

static PyObject *validator_detach(PyObject *self, PyObject *object)
{
    FunctionGraph *graph = need_graph(self, object);
    return graph ? NONE_OR_ERROR(validator_detach_from(graph)) : NULL;
}

static PyObject *validator_validate_graph(PyObject *unused, PyObject *object)
{
    FunctionGraph *graph = graph_argument(object);
    return graph ? NONE_OR_ERROR(graph_validate(graph)) : NULL;
}

static PyObject *validator_consistent(PyObject *unused, PyObject *object)
{
    FunctionGraph *graph = graph_argument(object);
    if (!graph) return NULL;
    if (graph_validate(graph) == 0) Py_RETURN_TRUE;
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return NULL;
    PyErr_Clear();
    Py_RETURN_FALSE;
}

static PyMethodDef validator_methods[] = {
    {"on_attach", validator_attach, METH_O, "on_attach($self, fgraph, /)\n--\n\nGives the graph validate() and consistent()."},
    {"on_detach", validator_detach, METH_O, "on_detach($self, fgraph, /)\n--\n\nTakes them away."},
    FEATURE_EVENTS(validator),
    {"validate_", validator_validate_graph, METH_O | METH_STATIC, "validate_(fgraph, /)\n--\n\nAsk every feature; the first objection is raised."},
    {"consistent_", validator_consistent, METH_O | METH_STATIC, "consistent_(fgraph, /)\n--\n\nWhether no feature objects."},
    {NULL, NULL, 0, NULL},
};

/* --- ReplaceValidate --- */

/* A node that replace_all_validate_remove took out has come back, unless an edit is just being undone. */
static int replace_on_import(PyObject *self, FunctionGraph *graph, PyObject *node, PyObject *reason)
{
    if (!graph->removed_nodes || graph->is_reverting) return 0;
    int has = PySet_Contains(graph->removed_nodes, node);
    if (has > 0) graph->has_reintroduced = true;
    return has < 0 ? -1 : 0;
}

static int replace_validate_hook(PyObject *self, FunctionGraph *graph)
{
    if (!graph->has_reintroduced) return 0;
    PyObject *both = PyNumber_And(graph->removed_nodes, graph->apply_nodes);
    if (!both) return -1;
    bool is_there = PySet_GET_SIZE(both) > 0;
    Py_DECREF(both);
    graph->has_reintroduced = is_there; /* gone again when the edit was undone */
    if (!is_there) return 0;
    GraphState *state = graph_state_of((PyObject *)graph);
    if (state) PyErr_SetString(state->InconsistencyError, "Trying to reintroduce a removed node");
    return -1;
}

static const FeatureHooks replace_hooks = {.on_import = replace_on_import, .validate = replace_validate_hook};
FEATURE_WRAPPERS(replace)

static const char *const replace_names[] = {"replace_validate", "replace_all_validate", "replace_all_validate_remove"};

static int replace_attach_to(PyObject *self, FunctionGraph *graph)
{
    for (size_t i = 0; i < sizeof replace_names / sizeof *replace_names; i++)
        if (refuse_second(graph, replace_names[i], "ReplaceValidate feature is already present or in conflict with another plugin.") < 0) return -1;
    if (history_attach_to(self, graph) < 0 || validator_attach_to(self, graph) < 0) return -1;
    for (size_t i = 0; i < sizeof replace_names / sizeof *replace_names; i++)
        if (graph_lend_method(graph, self, replace_names[i], replace_names[i]) < 0) return -1;
    if (!graph->removed_nodes && !(graph->removed_nodes = PySet_New(NULL))) return -1;
    return 0;
}

static PyObject *replace_attach(PyObject *self, PyObject *object)
{
    FunctionGraph *graph = need_graph(self, object);
    return graph ? NONE_OR_ERROR(replace_attach_to(self, graph)) : NULL;
}

static PyObject *replace_detach(PyObject *self, PyObject *object)
{
    FunctionGraph *graph = need_graph(self, object);
    if (!graph || history_detach_from(graph) < 0 || validator_detach_from(graph) < 0) return NULL;
    for (size_t i = 0; i < sizeof replace_names / sizeof *replace_names; i++)
        if (graph_drop_attr(graph, replace_names[i]) < 0) return NULL;
    Py_CLEAR(graph->removed_nodes);
    graph->has_reintroduced = false;
    Py_RETURN_NONE;
}

/* Replaces; the checkpoint's number, or -1. */
static long long replace_pairs(FunctionGraph *graph, PyObject *pairs, PyObject *reason, PyObject *verbose, int import_missing)
{
    bool vetoed;
    int aloud = verbose == Py_None ? 0 : PyObject_IsTrue(verbose);
    if (aloud < 0 || graph_replace_all(graph, pairs, reason, aloud, import_missing, &vetoed) < 0) return -1;
    return graph->n_checkpoints;
}

static PyObject *replace_one(PyObject *unused, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"fgraph", "r", "new_r", "reason", "verbose", "import_missing", NULL};
    PyObject *object, *old, *new_variable, *reason = Py_None, *verbose = Py_None;
    int import_missing = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|OOp:replace_validate", keywords, &object, &old, &new_variable, &reason, &verbose, &import_missing)) return NULL;
    FunctionGraph *graph = graph_argument(object);
    PyObject *pairs = graph ? Py_BuildValue("[(OO)]", old, new_variable) : NULL;
    long long checkpoint = pairs ? replace_pairs(graph, pairs, reason, verbose, import_missing) : -1;
    Py_XDECREF(pairs);
    return checkpoint < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *replace_all(PyObject *unused, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"fgraph", "replacements", "reason", "verbose", "import_missing", NULL};
    PyObject *object, *pairs, *reason = Py_None, *verbose = Py_None;
    int import_missing = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OOp:replace_all_validate", keywords, &object, &pairs, &reason, &verbose, &import_missing)) return NULL;
    FunctionGraph *graph = graph_argument(object);
    long long checkpoint = graph ? replace_pairs(graph, pairs, reason, verbose, import_missing) : -1;
    return checkpoint < 0 ? NULL : PyLong_FromLongLong(checkpoint);
}

/* 1, 0 or -1: whether one of the objects is in the graph. */
static int has_any(FunctionGraph *graph, PyObject *objects)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(objects); i++) {
        int has = PySet_Contains(graph->apply_nodes, PyList_GET_ITEM(objects, i));
        if (has == 0) has = PySet_Contains(graph->variables, PyList_GET_ITEM(objects, i));
        if (has) return has;
    }
    return 0;
}

/* Undoes the replacement that did not remove what it promised to, and raises. */
static void refuse_leftovers(FunctionGraph *graph, long long checkpoint, PyObject *pairs, PyObject *reason, int warn)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    if (!state || graph_revert(graph, checkpoint) < 0) return;
    if (warn) {
        PyObject *text = PyUnicode_FromFormat("An optimization wanted to replace a Variable in the graph, but the replacement for it doesn't remove it. "
                                              "We disabled the optimization.%S: %S", reason, pairs);
        const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
        int status = utf8 ? PyErr_WarnEx(PyExc_UserWarning, utf8, 1) : -1;
        Py_XDECREF(text);
        if (status < 0) return;
    }
    PyErr_SetNone(state->ReplacementDidNotRemoveError);
}

static PyObject *replace_all_remove(PyObject *unused, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"fgraph", "replacements", "remove", "reason", "warn", "verbose", "import_missing", NULL};
    PyObject *object, *pairs, *remove, *reason = Py_None, *verbose = Py_None, *result = NULL;
    int warn = 1, import_missing = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|OpOp:replace_all_validate_remove", keywords, &object, &pairs, &remove, &reason, &warn, &verbose, &import_missing))
        return NULL;
    FunctionGraph *graph = graph_argument(object);
    PyObject *list = graph ? PySequence_List(remove) : NULL, *kept = list ? PySequence_List(pairs) : NULL;
    long long checkpoint = kept ? replace_pairs(graph, kept, reason, verbose, import_missing) : -1;
    int left = checkpoint < 0 ? -1 : has_any(graph, list);
    if (left > 0) refuse_leftovers(graph, checkpoint, kept, reason, warn);
    for (Py_ssize_t i = 0; left == 0 && graph->removed_nodes && i < PyList_GET_SIZE(list); i++)
        left = PySet_Add(graph->removed_nodes, PyList_GET_ITEM(list, i));
    if (left == 0) result = Py_NewRef(Py_None);
    Py_XDECREF(kept);
    Py_XDECREF(list);
    return result;
}

static PyMethodDef replace_methods[] = {
    {"on_attach", replace_attach, METH_O, "on_attach($self, fgraph, /)\n--\n\nGives the graph the names of History and Validator, and replace_validate and its kin."},
    {"on_detach", replace_detach, METH_O, "on_detach($self, fgraph, /)\n--\n\nTakes them away."},
    FEATURE_EVENTS(replace),
    {"checkpoint", history_checkpoint, METH_O | METH_STATIC, "checkpoint(fgraph, /)\n--\n\nA number for the graph as it is now; what was noted before is dropped."},
    {"revert", history_revert, METH_VARARGS | METH_STATIC, "revert(fgraph, checkpoint, /)\n--\n\nUndo every change since the checkpoint."},
    {"validate_", validator_validate_graph, METH_O | METH_STATIC, "validate_(fgraph, /)\n--\n\nAsk every feature; the first objection is raised."},
    {"consistent_", validator_consistent, METH_O | METH_STATIC, "consistent_(fgraph, /)\n--\n\nWhether no feature objects."},
    {"replace_validate", WITH_KEYWORDS(replace_one) | METH_STATIC,
     "replace_validate(fgraph, r, new_r, reason=None, verbose=None, import_missing=False)\n--\n\nReplace and validate; a failure undoes the replacement and is raised."},
    {"replace_all_validate", WITH_KEYWORDS(replace_all) | METH_STATIC,
     "replace_all_validate(fgraph, replacements, reason=None, verbose=None, import_missing=False)\n--\n\n"
     "Replace all pairs and validate once; returns the checkpoint before. A failure undoes all and is raised."},
    {"replace_all_validate_remove", WITH_KEYWORDS(replace_all_remove) | METH_STATIC,
     "replace_all_validate_remove(fgraph, replacements, remove, reason=None, warn=True, verbose=None, import_missing=False)\n--\n\n"
     "replace_all_validate, undone with ReplacementDidNotRemoveError when something of `remove` is left in the graph."},
    {"clone", fresh_clone, METH_NOARGS, "clone($self, /)\n--\n\nA new one for a copy of the graph."},
    {NULL, NULL, 0, NULL},
};

int history_exec(PyObject *module, GraphState *state)
{
    PyTypeObject *history = feature_add_type(module, "pyscan._core.History", "History()\n--\n\nLets a graph undo its changes: checkpoint() and revert(n).", state->Feature,
                                             history_new, NULL, history_methods);
    PyTypeObject *validator = history ? feature_add_type(module, "pyscan._core.Validator", "Validator()\n--\n\nLets a graph ask its features: validate() and consistent().",
                                                         state->Feature, validator_new, NULL, validator_methods)
                                      : NULL;
    PyObject *bases = validator ? PyTuple_Pack(2, history, validator) : NULL;
    if (bases)
        state->ReplaceValidate = feature_add_type(module, "pyscan._core.ReplaceValidate",
                                                  "ReplaceValidate()\n--\n\nHistory and Validator, and replacements that are undone when a feature objects.",
                                                  (PyTypeObject *)bases, replace_new, NULL, replace_methods);
    Py_XDECREF(bases);
    Py_XDECREF(validator);
    Py_XDECREF(history);
    return state->ReplaceValidate ? 0 : -1;
}
