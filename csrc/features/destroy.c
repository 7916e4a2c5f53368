/* DestroyHandler: no variable is read after a node has overwritten its memory.
 *
 * The rules: one destroyer a root; no constant and nothing tagged indestructible is overwritten; a destroyer reads what it
 * overwrites by one input only, unless its Op tolerates more; every other reader can run before it.
 * Relies on: destroy_state, destroy_order. Relied on by: supervisor, rewrite. */
#include "features/destroy.h"

#define NONE_OR_ERROR(status) ((status) < 0 ? NULL : Py_NewRef(Py_None))

/* --- the rules for one root --- */

/* 1, 0 or -1. */
static int is_indestructible(GraphState *state, PyObject *variable)
{
    if (PyObject_TypeCheck(variable, state->Constant)) return 1;
    PyObject *tag = ((Variable *)variable)->tag, *flag;
    int found = tag ? graph_lookup_attr(tag, "indestructible", &flag) : 0;
    if (found <= 0) return found;
    found = PyObject_IsTrue(flag);
    Py_DECREF(flag);
    return found;
}

/* Appends what must not be overwritten among the root and all that shows it; the root comes first, as the search met it. */
static int find_indestructible(DestroyState *destroy, GraphState *state, PyObject *root, PyObject *refused)
{
    PyObject *impact = destroy_impact(destroy, root);
    int status = impact ? PyList_Insert(impact, 0, root) : -1;
    for (Py_ssize_t k = 0; status == 0 && k < PyList_GET_SIZE(impact) - 1; k++) {
        int refuses = is_indestructible(state, PyList_GET_ITEM(impact, k));
        status = refuses > 0 ? PyList_Append(refused, PyList_GET_ITEM(impact, k)) : refuses;
    }
    Py_XDECREF(impact);
    return status;
}

/* The roots of the list that have a destroyer. */
static int check_destructible(DestroyState *destroy, GraphState *state, PyObject *roots)
{
    PyObject *refused = PyList_New(0);
    int status = refused ? 0 : -1;
    for (Py_ssize_t k = 0; status == 0 && k < PyList_GET_SIZE(roots); k++) {
        if (destroy_destroyers(destroy, PyList_GET_ITEM(roots, k))) status = find_indestructible(destroy, state, PyList_GET_ITEM(roots, k), refused);
        else if (PyErr_Occurred()) status = -1;
    }
    if (status == 0 && PyList_GET_SIZE(refused)) {
        PyErr_Format(state->InconsistencyError, "Attempting to destroy indestructible variables: %R", refused);
        status = -1;
    }
    Py_XDECREF(refused);
    return status;
}

/* 1, 0 or -1: whether the Op's list of pairs (destroyed index, other index) has the pair. */
static int tolerates(PyObject *op, const char *name, Py_ssize_t destroyed, Py_ssize_t other)
{
    PyObject *pairs;
    int found = graph_lookup_attr(op, name, &pairs);
    if (found <= 0) return found;
    PyObject *pair = Py_BuildValue("(nn)", destroyed, other), *list = pair ? PySequence_List(pairs) : NULL;
    found = list ? 0 : -1;
    for (Py_ssize_t k = 0; found == 0 && k < PyList_GET_SIZE(list); k++) {
        PyObject *item = PySequence_Tuple(PyList_GET_ITEM(list, k));
        found = item ? PyObject_RichCompareBool(item, pair, Py_EQ) : -1;
        Py_XDECREF(item);
    }
    Py_XDECREF(list);
    Py_XDECREF(pair);
    Py_DECREF(pairs);
    return found;
}

/* 1, 0 or -1: whether the destroyer may read the root by this other input. */
static int may_read(PyObject *node, Py_ssize_t destroyed, Py_ssize_t other)
{
    PyObject *op = ((Apply *)node)->op, *inputs = ((Apply *)node)->inputs;
    int may = tolerates(op, "destroyhandler_tolerate_aliased", destroyed, other);
    if (may || PyList_GET_ITEM(inputs, other) != PyList_GET_ITEM(inputs, destroyed)) return may;
    return tolerates(op, "destroyhandler_tolerate_same", destroyed, other);
}

static int check_aliasing_of(DestroyState *destroy, GraphState *state, PyObject *node, Py_ssize_t destroyed)
{
    PyObject *inputs = ((Apply *)node)->inputs, *root = destroy_root(destroy, PyList_GET_ITEM(inputs, destroyed));
    for (Py_ssize_t i = 0; root && i < PyList_GET_SIZE(inputs); i++) {
        PyObject *other = destroy_root(destroy, PyList_GET_ITEM(inputs, i));
        if (!other) return -1;
        if (i == destroyed || other != root) continue;
        int may = may_read(node, destroyed, i);
        if (may == 0) PyErr_Format(state->InconsistencyError, "Input aliasing: %S (%zd, %zd)", node, destroyed, i);
        if (may <= 0) return -1;
    }
    return root ? 0 : -1;
}

/* 1, 0 or -1: whether the node reads a root that it overwrites by another input as well. One look at each input. */
static int reads_twice(DestroyState *destroy, PyObject *node, PyObject *pairs, PyObject *roots)
{
    PyObject *inputs = ((Apply *)node)->inputs, *where = PyDict_New();
    int found = where ? 0 : -1;
    for (Py_ssize_t k = 0; found == 0 && k < PyList_GET_SIZE(roots); k++)
        found = PyDict_SetItem(where, PyList_GET_ITEM(roots, k), PyTuple_GET_ITEM(PyList_GET_ITEM(pairs, k), 1));
    for (Py_ssize_t i = 0; found == 0 && i < PyList_GET_SIZE(inputs); i++) {
        PyObject *root = destroy_root(destroy, PyList_GET_ITEM(inputs, i)), *destroyed = root ? PyDict_GetItemWithError(where, root) : NULL;
        if (destroyed) found = PyLong_AsSsize_t(destroyed) != i;
        else if (PyErr_Occurred()) found = -1;
    }
    Py_XDECREF(where);
    return found;
}

static int check_aliasing(DestroyState *destroy, GraphState *state, PyObject *node)
{
    PyObject *record = PyDict_GetItemWithError(destroy->maps, node);
    if (!record) return PyErr_Occurred() ? -1 : 0;
    PyObject *pairs = PyTuple_GET_ITEM(record, 0);
    int twice = reads_twice(destroy, node, pairs, PyTuple_GET_ITEM(record, 2));
    if (twice <= 0) return twice;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(pairs); k++)
        if (check_aliasing_of(destroy, state, node, PyLong_AsSsize_t(PyTuple_GET_ITEM(PyList_GET_ITEM(pairs, k), 1))) < 0) return -1;
    return 0;
}

/* --- the hooks --- */

static int handler_on_import(PyObject *self, FunctionGraph *graph, PyObject *node, PyObject *reason)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    if (!state || !graph->destroy_state) return state ? 0 : -1;
    return destroy_note_import(destroy_state(graph), state, node);
}

static int handler_on_prune(PyObject *self, FunctionGraph *graph, PyObject *node, PyObject *reason)
{
    return graph->destroy_state ? destroy_note_prune(destroy_state(graph), node) : 0;
}

static int handler_on_change(PyObject *self, FunctionGraph *graph, PyObject *node, Py_ssize_t i, PyObject *variable, PyObject *new_variable, PyObject *reason)
{
    if (!graph->destroy_state) return 0;
    if (PyUnicode_Check(node)) return destroy_note_output(destroy_state(graph), new_variable);
    return destroy_note_change(destroy_state(graph), node, i, variable, new_variable);
}

/* Adds the destroyers of the roots to the dict, each once. */
static int add_destroyers(DestroyState *destroy, PyObject *roots, PyObject *nodes)
{
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(roots); k++) {
        PyObject *found = destroy_destroyers(destroy, PyList_GET_ITEM(roots, k));
        if (!found && PyErr_Occurred()) return -1;
        for (Py_ssize_t j = 0; found && j < PyList_GET_SIZE(found); j++)
            if (PyDict_SetItem(nodes, PyList_GET_ITEM(found, j), Py_True) < 0) return -1;
    }
    return 0;
}

/* Checks the keys of `roots` that have a destroyer, and the destroyers among the keys of `nodes`. */
static int check_rules(DestroyState *destroy, GraphState *state, PyObject *roots, PyObject *nodes)
{
    PyObject *root_list = PyDict_Keys(roots), *asked = root_list ? PyDict_New() : NULL, *node_list = NULL;
    int status = asked ? destroy_check_crowded(destroy, state) : -1;
    if (status == 0) status = check_destructible(destroy, state, root_list);
    if (status == 0) status = add_destroyers(destroy, root_list, asked);
    if (status == 0) status = PyDict_Update(asked, nodes);
    if (status == 0 && !(node_list = PyDict_Keys(asked))) status = -1;
    for (Py_ssize_t k = 0; status == 0 && k < PyList_GET_SIZE(node_list); k++) status = check_aliasing(destroy, state, PyList_GET_ITEM(node_list, k));
    Py_XDECREF(node_list);
    Py_XDECREF(asked);
    Py_XDECREF(root_list);
    return status;
}

static int handler_validate_hook(PyObject *self, FunctionGraph *graph)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    DestroyState *destroy = destroy_state(graph);
    if (!state || !destroy) return state ? 0 : -1;
    if (PyDict_GET_SIZE(destroy->destroyers) &&
        (check_rules(destroy, state, destroy->fresh, destroy->touched) < 0 || destroy_order_update(graph, state) < 0))
        return -1;
    PyDict_Clear(destroy->fresh);
    PyDict_Clear(destroy->touched);
    return 0;
}

static int handler_orderings_hook(PyObject *self, FunctionGraph *graph, PyObject *rules)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    DestroyState *destroy = destroy_state(graph);
    if (!state || !destroy) return state ? 0 : -1;
    if (check_rules(destroy, state, destroy->destroyer_of, destroy->destroyers) < 0) return -1;
    PyObject *nodes = PyDict_Keys(destroy->destroyers);
    int status = nodes ? 0 : -1;
    for (Py_ssize_t k = 0; status == 0 && k < PyList_GET_SIZE(nodes); k++) {
        PyObject *node = PyList_GET_ITEM(nodes, k), *readers = destroy_other_readers(graph, state, node), *there;
        status = readers ? 0 : -1;
        if (readers && PyList_GET_SIZE(readers)) {
            there = PyDict_GetItemWithError(rules, node);
            if (there) status = PyList_SetSlice(there, PyList_GET_SIZE(there), PyList_GET_SIZE(there), readers);
            else status = PyErr_Occurred() ? -1 : PyDict_SetItem(rules, node, readers);
        }
        Py_XDECREF(readers);
    }
    Py_XDECREF(nodes);
    return status;
}

static const FeatureHooks handler_hooks = {.on_import = handler_on_import,
                                           .on_prune = handler_on_prune,
                                           .on_change_input = handler_on_change,
                                           .validate = handler_validate_hook,
                                           .orderings = handler_orderings_hook};
FEATURE_WRAPPERS(handler)

/* --- the class; `value` is (do_imports_on_attach, algo) --- */

static int handler_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"do_imports_on_attach", "algo", NULL};
    PyObject *imports = Py_True, *algo = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:DestroyHandler", keywords, &imports, &algo)) return -1;
    PyObject *value = PyTuple_Pack(2, imports, algo);
    if (!value) return -1;
    Py_XSETREF(as_feature(self)->value, value);
    return 0;
}

static PyObject *handler_option(PyObject *self, Py_ssize_t i)
{
    PyObject *value = as_feature(self)->value;
    return value && PyTuple_Check(value) ? PyTuple_GET_ITEM(value, i) : i ? Py_None : Py_True;
}

static int handler_detach_from(FunctionGraph *graph)
{
    Py_CLEAR(graph->destroy_state);
    if (graph_drop_attr(graph, "destroyers") < 0 || graph_drop_attr(graph, "has_destroyers") < 0) return -1;
    return graph_drop_attr(graph, "destroy_handler");
}

static int handler_attach_to(PyObject *self, FunctionGraph *graph, GraphState *state)
{
    if (refuse_second(graph, "destroy_handler", "DestroyHandler feature is already present") < 0) return -1;
    PyObject *fresh = destroy_state_new(state);
    if (!fresh) return -1;
    Py_XSETREF(graph->destroy_state, fresh);
    int imports = PyObject_IsTrue(handler_option(self, 0));
    int status = imports < 0 ? -1 : PyObject_SetAttrString((PyObject *)graph, "destroy_handler", self);
    if (status == 0) status = graph_lend_method(graph, self, "destroyers_of", "destroyers");
    if (status == 0) status = graph_lend_method(graph, self, "has_destroyers_of", "has_destroyers");
    if (status == 0 && imports) status = tell_all_nodes(self, graph, "on_import", "Bookkeeper.on_attach");
    if (status == 0) return 0;
    PyObject *error = graph_error_take();
    if (handler_detach_from(graph) < 0) PyErr_Clear(); /* the first failure is the one to tell of */
    graph_error_give(error);
    return -1;
}

static PyObject *handler_attach(PyObject *self, PyObject *object)
{
    FunctionGraph *graph = need_graph(self, object);
    return graph ? NONE_OR_ERROR(handler_attach_to(self, graph, graph_state_of(self))) : NULL;
}

static PyObject *handler_detach(PyObject *self, PyObject *object)
{
    FunctionGraph *graph = need_graph(self, object);
    return graph ? NONE_OR_ERROR(handler_detach_from(graph)) : NULL;
}

static PyObject *handler_clone(PyObject *self, PyObject *unused)
{
    return PyObject_CallFunctionObjArgs((PyObject *)Py_TYPE(self), handler_option(self, 0), handler_option(self, 1), NULL);
}

/* Lent: the graph that the arguments begin with, with a state; NULL with an exception. */
static FunctionGraph *handled_graph(PyObject *object)
{
    GraphState *state = graph_state_of(object);
    if (!state) return NULL;
    if (!PyObject_TypeCheck(object, state->FunctionGraph) || !((FunctionGraph *)object)->destroy_state) {
        PyErr_Format(PyExc_TypeError, "expected a FunctionGraph with a DestroyHandler, got %R", object);
        return NULL;
    }
    return (FunctionGraph *)object;
}

PyObject *features_peek_destroyer(FunctionGraph *graph, PyObject *variable)
{
    DestroyState *destroy = destroy_state(graph);
    PyObject *root = destroy ? destroy_root(destroy, variable) : NULL, *nodes = root ? destroy_destroyers(destroy, root) : NULL;
    if (nodes && PyList_GET_SIZE(nodes)) return PyList_GET_ITEM(nodes, 0);
    PyErr_Clear();
    return NULL;
}

bool features_has_destroy_handler(FunctionGraph *graph) { return graph->destroy_state != NULL; }

static PyObject *handler_destroyers_of(PyObject *unused, PyObject *args)
{
    PyObject *object, *variable;
    if (!PyArg_ParseTuple(args, "OO:destroyers", &object, &variable)) return NULL;
    FunctionGraph *graph = handled_graph(object);
    if (!graph || destroy_check_crowded(destroy_state(graph), graph_state_of(object)) < 0) return NULL;
    PyObject *node = features_peek_destroyer(graph, variable);
    return node ? Py_BuildValue("[O]", node) : PyList_New(0);
}

static PyObject *handler_has_destroyers_of(PyObject *unused, PyObject *args)
{
    PyObject *object, *variables, *list;
    if (!PyArg_ParseTuple(args, "OO:has_destroyers", &object, &variables)) return NULL;
    FunctionGraph *graph = handled_graph(object);
    if (!graph || destroy_check_crowded(destroy_state(graph), graph_state_of(object)) < 0 || !(list = PySequence_List(variables))) return NULL;
    bool has = false;
    for (Py_ssize_t k = 0; !has && k < PyList_GET_SIZE(list); k++) has = features_peek_destroyer(graph, PyList_GET_ITEM(list, k)) != NULL;
    Py_DECREF(list);
    return PyBool_FromLong(has);
}

static PyMethodDef handler_methods[] = {
    {"on_attach", handler_attach, METH_O, "on_attach($self, fgraph, /)\n--\n\nGives the graph destroyers(v) and has_destroyers(variables)."},
    {"on_detach", handler_detach, METH_O, "on_detach($self, fgraph, /)\n--\n\nTakes them away."},
    FEATURE_EVENTS(handler),
    {"destroyers_of", handler_destroyers_of, METH_VARARGS | METH_STATIC,
     "destroyers_of(fgraph, var, /)\n--\n\nA list with the node that overwrites the variable's memory, or an empty one."},
    {"has_destroyers_of", handler_has_destroyers_of, METH_VARARGS | METH_STATIC,
     "has_destroyers_of(fgraph, variables, /)\n--\n\nWhether a node overwrites the memory of one of the variables."},
    {"clone", handler_clone, METH_NOARGS, "clone($self, /)\n--\n\nA new one with the same options."},
    {NULL, NULL, 0, NULL},
};

int destroy_exec(PyObject *module, GraphState *state)
{
    if (destroy_state_exec(module, state) < 0) return -1;
    PyObject *bookkeeper = PyObject_GetAttrString(module, "Bookkeeper");
    if (!bookkeeper) return -1;
    state->DestroyHandler = feature_add_type(module, "pyscan._core.DestroyHandler",
                                             "DestroyHandler(do_imports_on_attach=True, algo=None)\n--\n\n"
                                             "Refuses graphs in which something would be read after it was overwritten, and orders readers before destroyers.\n"
                                             "There is one way to look for cycles; algo is kept and not used.",
                                             (PyTypeObject *)bookkeeper, handler_new, handler_init, handler_methods);
    Py_DECREF(bookkeeper);
    return state->DestroyHandler ? 0 : -1;
}
