/* Supervisor: no node overwrites a protected variable or an output.
 *
 * It asks again only about roots that got a destroyer, a view or an output since it last agreed; about everything when the
 * number of protected variables or outputs changed. Relies on: destroy_state. Relied on by: function, scan, through Python. */
#include "features/destroy.h"

#define NONE_OR_ERROR(status) ((status) < 0 ? NULL : Py_NewRef(Py_None))

static const char protected_set[] = "_supervisor_protected";

static int refuse(GraphState *state, PyObject *variable)
{
    PyErr_Format(state->InconsistencyError, "Trying to destroy a protected variable: %S", variable);
    return -1;
}

/* Every protected variable, then every output. */
static int check_all(FunctionGraph *graph, GraphState *state, PyObject *protected)
{
    PyObject *list = PySequence_List(protected);
    int status = list ? PyList_SetSlice(list, PyList_GET_SIZE(list), PyList_GET_SIZE(list), graph->outputs) : -1;
    for (Py_ssize_t k = 0; status == 0 && k < PyList_GET_SIZE(list); k++)
        if (features_peek_destroyer(graph, PyList_GET_ITEM(list, k))) status = refuse(state, PyList_GET_ITEM(list, k));
    Py_XDECREF(list);
    return status;
}

/* 1, 0 or -1. */
static int is_output(FunctionGraph *graph, GraphState *state, PyObject *variable)
{
    PyObject *clients = graph_peek_clients(graph, variable);
    for (Py_ssize_t k = 0; clients && k < PyList_GET_SIZE(clients); k++) {
        PyObject *client = PyList_GET_ITEM(clients, k);
        if (PyTuple_Check(client) && PyTuple_GET_SIZE(client) && PyTuple_GET_ITEM(client, 0) == state->str_output) return 1;
    }
    return 0;
}

/* One root that is overwritten: none that shows its memory may be protected, none may be an output. */
static int check_root(FunctionGraph *graph, GraphState *state, PyObject *protected, PyObject *root)
{
    PyObject *nodes = destroy_destroyers(destroy_state(graph), root);
    if (!nodes) return PyErr_Occurred() ? -1 : 0;
    PyObject *impact = destroy_impact(destroy_state(graph), root);
    int status = impact ? 0 : -1;
    for (Py_ssize_t k = 0; status == 0 && k < PyList_GET_SIZE(impact); k++) {
        int has = PySet_Contains(protected, PyList_GET_ITEM(impact, k));
        status = has > 0 ? refuse(state, PyList_GET_ITEM(impact, k)) : has;
    }
    for (Py_ssize_t k = 0; status == 0 && k < PyList_GET_SIZE(impact); k++)
        if (is_output(graph, state, PyList_GET_ITEM(impact, k))) status = refuse(state, PyList_GET_ITEM(impact, k));
    Py_XDECREF(impact);
    return status;
}

static int check_changed(FunctionGraph *graph, GraphState *state, PyObject *protected)
{
    PyObject *roots = PyDict_Keys(destroy_state(graph)->unsupervised);
    int status = roots ? 0 : -1;
    for (Py_ssize_t k = 0; status == 0 && k < PyList_GET_SIZE(roots); k++) status = check_root(graph, state, protected, PyList_GET_ITEM(roots, k));
    Py_XDECREF(roots);
    return status;
}

static int supervisor_validate_hook(PyObject *self, FunctionGraph *graph)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    DestroyState *destroy = destroy_state(graph);
    if (!state || !destroy) return state ? 0 : -1;
    if (destroy_check_crowded(destroy, state) < 0) return -1;
    PyObject *protected;
    int found = graph_lookup_attr((PyObject *)graph, protected_set, &protected);
    if (found <= 0) return found;
    if (!PyAnySet_Check(protected)) {
        PyErr_Format(PyExc_TypeError, "%s must be a set, not %R", protected_set, protected);
        Py_DECREF(protected);
        return -1;
    }
    Py_ssize_t n_protected = PySet_GET_SIZE(protected), n_outputs = PyList_GET_SIZE(graph->outputs);
    bool is_same = n_protected == destroy->n_protected && n_outputs == destroy->n_outputs;
    int status = is_same ? check_changed(graph, state, protected) : check_all(graph, state, protected);
    Py_DECREF(protected);
    if (status < 0) return -1;
    destroy->n_protected = n_protected;
    destroy->n_outputs = n_outputs;
    PyDict_Clear(destroy->unsupervised);
    return 0;
}

/* Owned: what stands for each protected variable in the copy. */
static PyObject *supervisor_clone_hook(PyObject *self, PyObject *equiv)
{
    PyObject *value = as_feature(self)->value, *list = value ? PySequence_List(value) : PyList_New(0), *copy = NULL;
    for (Py_ssize_t k = 0; list && k < PyList_GET_SIZE(list); k++) {
        PyObject *mapped = PyDict_GetItemWithError(equiv, PyList_GET_ITEM(list, k));
        if (!mapped && PyErr_Occurred()) Py_CLEAR(list);
        else if (mapped && PyList_SetItem(list, k, Py_NewRef(mapped)) < 0) Py_CLEAR(list);
    }
    if (list) copy = PyObject_CallOneArg((PyObject *)Py_TYPE(self), list);
    Py_XDECREF(list);
    return copy;
}

static const FeatureHooks supervisor_hooks = {.validate = supervisor_validate_hook, .clone = supervisor_clone_hook};
FEATURE_WRAPPERS(supervisor)

/* --- the class; `value` is the set that it was made with --- */

static int supervisor_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"protected", NULL};
    PyObject *protected;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Supervisor", keywords, &protected)) return -1;
    PyObject *set = PySet_New(protected);
    if (!set) return -1;
    Py_XSETREF(as_feature(self)->value, set);
    return 0;
}

/* Owned. */
static PyObject *supervisor_set(PyObject *self)
{
    PyObject *value = as_feature(self)->value;
    return PySet_New(value);
}

/* A second one adds what it protects to the first. */
static int supervisor_attach_to(PyObject *self, FunctionGraph *graph, GraphState *state)
{
    PyObject *there, *own = supervisor_set(self);
    int found = own ? graph_lookup_attr((PyObject *)graph, protected_set, &there) : -1, status = -1;
    if (found == 0) {
        status = PyObject_SetAttrString((PyObject *)graph, protected_set, own);
    } else if (found > 0) {
        PyObject *merged = PyObject_CallMethod(there, "update", "(O)", own);
        if (merged) PyErr_SetString(state->AlreadyThere, "Supervisor feature is already present");
        Py_XDECREF(merged);
        Py_DECREF(there);
    }
    Py_XDECREF(own);
    if (graph->destroy_state) destroy_state(graph)->n_protected = -1;
    return status;
}

static PyObject *supervisor_attach(PyObject *self, PyObject *object)
{
    FunctionGraph *graph = need_graph(self, object);
    return graph ? NONE_OR_ERROR(supervisor_attach_to(self, graph, graph_state_of(self))) : NULL;
}

static PyObject *supervisor_detach(PyObject *self, PyObject *object)
{
    FunctionGraph *graph = need_graph(self, object);
    return graph ? NONE_OR_ERROR(graph_drop_attr(graph, protected_set)) : NULL;
}

static PyObject *supervisor_clone(PyObject *self, PyObject *unused)
{
    PyObject *own = supervisor_set(self), *copy = own ? PyObject_CallOneArg((PyObject *)Py_TYPE(self), own) : NULL;
    Py_XDECREF(own);
    return copy;
}

static PyObject *get_initial(PyObject *self, void *closure)
{
    PyObject *value = as_feature(self)->value;
    return value ? Py_NewRef(value) : PySet_New(NULL);
}

static PyMethodDef supervisor_methods[] = {
    {"on_attach", supervisor_attach, METH_O, "on_attach($self, fgraph, /)\n--\n\nProtects its variables; a second Supervisor adds to the first."},
    {"on_detach", supervisor_detach, METH_O, "on_detach($self, fgraph, /)\n--\n\nNothing is protected any more."},
    FEATURE_EVENTS(supervisor),
    {"clone", supervisor_clone, METH_NOARGS, "clone($self, /)\n--\n\nOne for the same variables; FunctionGraph.clone gives it the copy's."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef initial_attr = {"initial_protected", get_initial, NULL, "the set of variables that it was made with", NULL};

int supervisor_exec(PyObject *module, GraphState *state)
{
    PyTypeObject *type = feature_add_type(module, "pyscan._core.Supervisor",
                                          "Supervisor(protected)\n--\n\nRefuses that a node overwrites a protected variable, or an output, or what shows its memory.",
                                          state->Feature, supervisor_new, supervisor_init, supervisor_methods);
    PyObject *descriptor = type ? PyDescr_NewGetSet(type, &initial_attr) : NULL;
    int status = descriptor ? PyObject_SetAttrString((PyObject *)type, initial_attr.name, descriptor) : -1;
    Py_XDECREF(descriptor);
    Py_XDECREF(type);
    return status;
}
