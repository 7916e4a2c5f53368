/* FunctionGraph as a Python type: construction, attributes and methods; the work is done in the room's other files.
 *
 * Relies on: edit, remove, journal, notify, order, clone, verify, print. Relied on by: state. */
#include <stddef.h>

#include "graph/internal.h"

static FunctionGraph *as_graph(PyObject *object) { return (FunctionGraph *)object; }

/* --- life --- */

static int fgraph_traverse(PyObject *self, visitproc visit, void *arg)
{
    FunctionGraph *graph = as_graph(self);
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(graph->inputs);
    Py_VISIT(graph->outputs);
    Py_VISIT(graph->input_set);
    Py_VISIT(graph->apply_nodes);
    Py_VISIT(graph->variables);
    Py_VISIT(graph->clients);
    Py_VISIT(graph->client_positions);
    Py_VISIT(graph->features);
    Py_VISIT(graph->update_mapping);
    Py_VISIT(graph->inv_update_mapping);
    Py_VISIT(graph->journal);
    Py_VISIT(graph->removed_nodes);
    Py_VISIT(graph->destroy_state);
    Py_VISIT(graph->profile);
    Py_VISIT(graph->name);
    Py_VISIT(graph->vetoes);
    Py_VISIT(graph->dict);
    return 0;
}

static int fgraph_clear(PyObject *self)
{
    FunctionGraph *graph = as_graph(self);
    Py_CLEAR(graph->inputs);
    Py_CLEAR(graph->outputs);
    Py_CLEAR(graph->input_set);
    Py_CLEAR(graph->apply_nodes);
    Py_CLEAR(graph->variables);
    Py_CLEAR(graph->clients);
    Py_CLEAR(graph->client_positions);
    Py_CLEAR(graph->features);
    Py_CLEAR(graph->update_mapping);
    Py_CLEAR(graph->inv_update_mapping);
    Py_CLEAR(graph->journal);
    Py_CLEAR(graph->removed_nodes);
    Py_CLEAR(graph->destroy_state);
    Py_CLEAR(graph->profile);
    Py_CLEAR(graph->name);
    Py_CLEAR(graph->vetoes);
    Py_CLEAR(graph->dict);
    return 0;
}

static void fgraph_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (as_graph(self)->weakrefs) PyObject_ClearWeakRefs(self);
    (void)fgraph_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *fgraph_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    FunctionGraph *graph = as_graph(type->tp_alloc(type, 0));
    if (!graph) return NULL;
    PyObject **lists[] = {&graph->inputs, &graph->outputs, &graph->features, &graph->vetoes};
    PyObject **dicts[] = {&graph->input_set, &graph->clients, &graph->client_positions, &graph->update_mapping, &graph->inv_update_mapping};
    PyObject **sets[] = {&graph->apply_nodes, &graph->variables};
    bool is_whole = true;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) is_whole = (*lists[i] = PyList_New(0)) && is_whole;
    for (size_t i = 0; i < sizeof dicts / sizeof *dicts; i++) is_whole = (*dicts[i] = PyDict_New()) && is_whole;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) is_whole = (*sets[i] = PySet_New(NULL)) && is_whole;
    graph->profile = Py_NewRef(Py_None);
    graph->name = Py_NewRef(Py_None);
    if (!is_whole) Py_CLEAR(graph);
    return (PyObject *)graph;
}

/* --- construction --- */

static int set_update_mapping(FunctionGraph *graph, PyObject *mapping)
{
    PyObject *forward = PyDict_New(), *inverse = PyDict_New(), *key, *value;
    int status = forward && inverse ? 0 : -1;
    if (status == 0 && mapping && mapping != Py_None) status = PyDict_Update(forward, mapping);
    for (Py_ssize_t at = 0; status == 0 && PyDict_Next(forward, &at, &key, &value);) {
        if (PyLong_Check(key) && PyLong_Check(value)) status = PyDict_SetItem(inverse, value, key);
        else {
            PyErr_Format(PyExc_TypeError, "update_mapping maps output indices to input indices, not %R to %R", key, value);
            status = -1;
        }
    }
    if (status == 0) {
        Py_XSETREF(graph->update_mapping, Py_NewRef(forward));
        Py_XSETREF(graph->inv_update_mapping, Py_NewRef(inverse));
    }
    Py_XDECREF(inverse);
    Py_XDECREF(forward);
    return status;
}

/* 0 or -1: attaches the feature unless the same is there, or one like it says so. */
static int attach_feature(FunctionGraph *graph, GraphState *state, PyObject *feature)
{
    int has = PySequence_Contains(graph->features, feature);
    if (has) return has < 0 ? -1 : 0;
    PyObject *done = PyObject_CallMethod(feature, "on_attach", "(O)", graph);
    if (done) {
        Py_DECREF(done);
        return PyList_Append(graph->features, feature);
    }
    if (!PyErr_ExceptionMatches(state->AlreadyThere)) return -1;
    PyErr_Clear();
    return 0;
}

static int attach_first_features(FunctionGraph *graph, GraphState *state, PyObject *features)
{
    PyObject *list = features == Py_None ? PyList_New(0) : PySequence_List(features);
    int status = list ? 0 : -1;
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(list); i++) status = attach_feature(graph, state, PyList_GET_ITEM(list, i));
    Py_XDECREF(list);
    PyObject *own = status == 0 ? PyObject_CallNoArgs((PyObject *)state->ReplaceValidate) : NULL;
    status = own ? attach_feature(graph, state, own) : -1;
    Py_XDECREF(own);
    return status;
}

/* Owned: the leaves of the outputs that are no atomic variables. */
static PyObject *find_inputs(GraphState *state, PyObject *outputs)
{
    PyObject *variables = walk_ancestors(state, outputs, NULL), *inputs = variables ? PyList_New(0) : NULL;
    for (Py_ssize_t i = 0; inputs && i < PyList_GET_SIZE(variables); i++) {
        PyObject *variable = PyList_GET_ITEM(variables, i);
        if (!owner_peek(variable) && !is_atomic(state, variable) && PyList_Append(inputs, variable) < 0) Py_CLEAR(inputs);
    }
    Py_XDECREF(variables);
    return inputs;
}

static int replace_items(PyObject **list, PyObject *memo)
{
    PyObject *mapped = PyList_New(0);
    for (Py_ssize_t i = 0; mapped && i < PyList_GET_SIZE(*list); i++) {
        PyObject *item = PyDict_GetItemWithError(memo, PyList_GET_ITEM(*list, i));
        if (!item && !PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, PyList_GET_ITEM(*list, i));
        if (!item || PyList_Append(mapped, item) < 0) Py_CLEAR(mapped);
    }
    if (!mapped) return -1;
    Py_SETREF(*list, mapped);
    return 0;
}

static int check_owners(PyObject *inputs)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs); i++) {
        if (!owner_peek(PyList_GET_ITEM(inputs, i))) continue;
        PyErr_SetString(PyExc_ValueError, "One of the provided inputs is the output of an already existing node. "
                                          "If that is okay, either discard that input's owner or use graph.clone.");
        return -1;
    }
    return 0;
}

static int fill(FunctionGraph *graph, PyObject *inputs, PyObject *outputs)
{
    PyObject *reason = PyUnicode_FromString("init");
    int status = reason ? 0 : -1;
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(inputs); i++) status = add_input(graph, PyList_GET_ITEM(inputs, i), false);
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(outputs); i++) status = add_output(graph, PyList_GET_ITEM(outputs, i), reason, false);
    Py_XDECREF(reason);
    return status;
}

static int fgraph_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"inputs", "outputs", "features", "clone", "update_mapping", "copy_inputs", "copy_orphans", "memo", "clone_inner_graphs", "strict", NULL};
    PyObject *inputs = Py_None, *outputs = Py_None, *features = Py_None, *mapping = Py_None, *memo = Py_None, *ins = NULL, *outs = NULL;
    int clone = 1, copy_inputs = 1, copy_orphans = 1, inner = 0, strict = 1, status = -1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOpOppOpp:FunctionGraph", keywords, &inputs, &outputs, &features, &clone, &mapping, &copy_inputs, &copy_orphans,
                                     &memo, &inner, &strict))
        return -1;
    FunctionGraph *graph = as_graph(self);
    GraphState *state = graph_state_of(self);
    if (!state) return -1;
    if (PyList_GET_SIZE(graph->features)) {
        PyErr_SetString(PyExc_RuntimeError, "a FunctionGraph is constructed once");
        return -1;
    }
    if (outputs == Py_None) {
        PyErr_SetString(PyExc_ValueError, "No outputs specified");
        return -1;
    }
    memo = memo == Py_None ? PyDict_New() : Py_NewRef(memo);
    if (memo && !PyDict_Check(memo)) PyErr_Format(PyExc_TypeError, "memo must be a dict, not %R", memo);
    if (!memo || !PyDict_Check(memo) || !(outs = variables_of(state, outputs, "outputs"))) goto done;
    if (!(ins = inputs == Py_None ? find_inputs(state, outs) : variables_of(state, inputs, "inputs"))) goto done;
    CloneOptions options = {.copy_inputs = copy_inputs, .copy_orphans = copy_orphans, .clone_inner_graphs = inner, .strict = strict};
    if (clone && (clone_into(state, ins, outs, memo, options) < 0 || replace_items(&ins, memo) < 0 || replace_items(&outs, memo) < 0)) goto done;
    if (clone) /* a copied input that was an output of a node is a leaf now */
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(ins); i++)
            if (!is_variable(state, PyList_GET_ITEM(ins, i))) {
                PyErr_Format(PyExc_TypeError, "memo must map inputs to Variables, not to %R", PyList_GET_ITEM(ins, i));
                goto done;
            }
    if (attach_first_features(graph, state, features) < 0 || check_owners(ins) < 0 || fill(graph, ins, outs) < 0) goto done;
    status = set_update_mapping(graph, mapping);
done:
    Py_XDECREF(ins);
    Py_XDECREF(outs);
    Py_XDECREF(memo);
    return status;
}

/* --- methods --- */

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
#define NONE_OR_ERROR(status) ((status) < 0 ? NULL : Py_NewRef(Py_None))

/* Lent: the argument when it is a Variable, else TypeError. */
static PyObject *need_variable(PyObject *self, PyObject *object)
{
    GraphState *state = graph_state_of(self);
    if (state && is_variable(state, object)) return object;
    if (state) PyErr_Format(PyExc_TypeError, "expected a Variable, got %R", object);
    return NULL;
}

static PyObject *need_node(PyObject *self, PyObject *object)
{
    GraphState *state = graph_state_of(self);
    if (state && is_apply(state, object)) return object;
    if (state) PyErr_Format(PyExc_TypeError, "expected an Apply, got %R", object);
    return NULL;
}

static PyObject *m_add_input(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"var", "check", NULL};
    PyObject *variable;
    int check = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|p:add_input", keywords, &variable, &check) || !need_variable(self, variable)) return NULL;
    return NONE_OR_ERROR(add_input(as_graph(self), variable, check));
}

static PyObject *m_add_output(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"var", "reason", "import_missing", NULL};
    PyObject *variable, *reason = Py_None;
    int import_missing = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|Op:add_output", keywords, &variable, &reason, &import_missing) || !need_variable(self, variable)) return NULL;
    return NONE_OR_ERROR(add_output(as_graph(self), variable, reason, import_missing));
}

static PyObject *m_remove_input(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"input_idx", "reason", NULL};
    Py_ssize_t i;
    PyObject *reason = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "n|O:remove_input", keywords, &i, &reason)) return NULL;
    return NONE_OR_ERROR(remove_input(as_graph(self), i, reason));
}

static PyObject *m_remove_output(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"output_idx", "reason", NULL};
    Py_ssize_t i;
    PyObject *reason = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "n|O:remove_output", keywords, &i, &reason)) return NULL;
    return NONE_OR_ERROR(remove_output(as_graph(self), i, reason));
}

static PyObject *m_remove_node(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"node", "reason", NULL};
    PyObject *node, *reason = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:remove_node", keywords, &node, &reason) || !need_node(self, node)) return NULL;
    return NONE_OR_ERROR(remove_node(as_graph(self), node, reason));
}

static PyObject *m_import_var(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"var", "reason", "import_missing", NULL};
    PyObject *variable, *reason = Py_None;
    int import_missing = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|Op:import_var", keywords, &variable, &reason, &import_missing) || !need_variable(self, variable)) return NULL;
    return NONE_OR_ERROR(import_variable(as_graph(self), variable, reason, import_missing));
}

static PyObject *m_import_node(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"apply_node", "check", "reason", "import_missing", NULL};
    PyObject *node, *reason = Py_None;
    int check = 1, import_missing = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|pOp:import_node", keywords, &node, &check, &reason, &import_missing) || !need_node(self, node)) return NULL;
    return import_node(as_graph(self), node, check, reason, import_missing) == 0 ? Py_NewRef(Py_None) : NULL;
}

static PyObject *m_setup_var(PyObject *self, PyObject *variable)
{
    return need_variable(self, variable) && clients_peek(as_graph(self), variable, true) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *m_get_clients(PyObject *self, PyObject *variable)
{
    PyObject *list = clients_peek(as_graph(self), variable, false);
    if (!list && !PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, variable);
    return Py_XNewRef(list);
}

/* Owned: the entry as this room writes it, (Apply or "output", int). */
static PyObject *parse_client(PyObject *self, PyObject *object)
{
    GraphState *state = graph_state_of(self);
    PyObject *pair = state ? PySequence_Tuple(object) : NULL, *reader, *client = NULL;
    Py_ssize_t i;
    if (pair && PyArg_ParseTuple(pair, "On:client", &reader, &i)) {
        bool is_output = PyUnicode_Check(reader) && PyUnicode_Compare(reader, state->str_output) == 0;
        if (is_output || is_apply(state, reader)) client = client_new(is_output ? state->str_output : reader, i);
        else PyErr_SetString(PyExc_TypeError, "The first entry of `new_client` must be an `Apply` node or the string `\"output\"`");
    }
    Py_XDECREF(pair);
    return client;
}

static PyObject *m_add_client(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"var", "new_client", NULL};
    PyObject *variable, *pair;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:add_client", keywords, &variable, &pair)) return NULL;
    PyObject *client = parse_client(self, pair), *list = client ? m_get_clients(self, variable) : NULL;
    int status = list ? clients_add(as_graph(self), variable, client) : -1;
    Py_XDECREF(list);
    Py_XDECREF(client);
    return NONE_OR_ERROR(status);
}

static PyObject *m_remove_client(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"var", "client_to_remove", "reason", "remove_if_empty", NULL};
    PyObject *variable, *pair, *reason = Py_None;
    int remove_if_empty = 0; /* what is removed is forgotten in any case */
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|Op:remove_client", keywords, &variable, &pair, &reason, &remove_if_empty) || !need_variable(self, variable))
        return NULL;
    PyObject *client = parse_client(self, pair);
    int status = client ? prune_client(as_graph(self), variable, client, reason, NULL) : -1;
    Py_XDECREF(client);
    return status == 0 ? Py_NewRef(Py_None) : NULL;
}

static PyObject *m_change_node_input(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"node", "i", "new_var", "reason", "import_missing", "check", NULL};
    PyObject *node, *variable, *reason = Py_None;
    Py_ssize_t i;
    int import_missing = 0, check = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OnO|Opp:change_node_input", keywords, &node, &i, &variable, &reason, &import_missing, &check)) return NULL;
    if (!need_variable(self, variable)) return NULL;
    return NONE_OR_ERROR(change_input_or_undo(as_graph(self), node, i, variable, reason, import_missing, check));
}

static PyObject *m_replace(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"var", "new_var", "reason", "verbose", "import_missing", NULL};
    PyObject *variable, *new_variable, *reason = Py_None, *verbose = Py_None;
    int import_missing = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OOp:replace", keywords, &variable, &new_variable, &reason, &verbose, &import_missing)) return NULL;
    GraphState *state = graph_state_of(self);
    int aloud = verbose == Py_None ? 0 : PyObject_IsTrue(verbose);
    if (!state || aloud < 0 || (aloud && replace_say(state, reason, variable, new_variable) < 0)) return NULL;
    return NONE_OR_ERROR(graph_replace(as_graph(self), variable, new_variable, reason, import_missing));
}

static PyObject *m_replace_all(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *pairs, *iterator, *pair, *method;
    if (!PyArg_ParseTuple(args, "O:replace_all", &pairs) || !(iterator = PyObject_GetIter(pairs))) return NULL;
    method = PyObject_GetAttrString(self, "replace");
    int status = method ? 0 : -1;
    while (status == 0 && (pair = PyIter_Next(iterator))) {
        PyObject *both = PySequence_Tuple(pair), *done = both ? PyObject_Call(method, both, kwargs) : NULL;
        status = done ? 0 : -1;
        Py_XDECREF(done);
        Py_XDECREF(both);
        Py_DECREF(pair);
    }
    Py_XDECREF(method);
    Py_DECREF(iterator);
    return status < 0 || PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *m_toposort(PyObject *self, PyObject *unused) { return graph_toposort(as_graph(self)); }

static PyObject *m_orderings(PyObject *self, PyObject *unused) { return notify_orderings(as_graph(self)); }

static PyObject *m_check_integrity(PyObject *self, PyObject *unused) { return NONE_OR_ERROR(graph_check_integrity(as_graph(self))); }

static PyObject *m_clone_get_equiv(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"check_integrity", "attach_feature", NULL};
    int check = 1, attach = 1;
    PyObject *equiv = NULL, *copy;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|pp:clone_get_equiv", keywords, &check, &attach)) return NULL;
    copy = graph_clone(as_graph(self), attach, &equiv);
    if (copy && check && graph_check_integrity(as_graph(copy)) < 0) Py_CLEAR(copy);
    PyObject *result = copy ? PyTuple_Pack(2, copy, equiv) : NULL;
    Py_XDECREF(copy);
    Py_XDECREF(equiv);
    return result;
}

static PyObject *m_clone(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"check_integrity", NULL};
    int check = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:clone", keywords, &check)) return NULL;
    PyObject *copy = graph_clone(as_graph(self), true, NULL);
    if (copy && check && graph_check_integrity(as_graph(copy)) < 0) Py_CLEAR(copy);
    return copy;
}

static PyObject *m_attach_feature(PyObject *self, PyObject *feature)
{
    GraphState *state = graph_state_of(self);
    return state ? NONE_OR_ERROR(attach_feature(as_graph(self), state, feature)) : NULL;
}

static PyObject *m_remove_feature(PyObject *self, PyObject *feature)
{
    FunctionGraph *graph = as_graph(self);
    Py_ssize_t i = PySequence_Contains(graph->features, feature);
    if (i <= 0) return i < 0 ? NULL : Py_NewRef(Py_None);
    if ((i = PySequence_Index(graph->features, feature)) < 0 || PyList_SetSlice(graph->features, i, i + 1, NULL) < 0) return NULL;
    PyObject *done = PyObject_CallMethod(feature, "on_detach", "(O)", self);
    Py_XDECREF(done);
    return done ? Py_NewRef(Py_None) : NULL;
}

/* Owned: the arguments behind the event's name, with the graph in front when `with_graph`. *name is lent by args. */
static PyObject *callback_args(PyObject *self, PyObject *args, bool with_graph, const char **name)
{
    Py_ssize_t n = PyTuple_GET_SIZE(args);
    if (n < 1 || !PyUnicode_Check(PyTuple_GET_ITEM(args, 0))) {
        PyErr_SetString(PyExc_TypeError, "the first argument is the name of the callback");
        return NULL;
    }
    if (!(*name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(args, 0)))) return NULL;
    PyObject *rest = PyTuple_GetSlice(args, 1, n), *head, *all;
    if (!rest || !with_graph) return rest;
    head = PyTuple_Pack(1, self);
    all = head ? PySequence_Concat(head, rest) : NULL;
    Py_XDECREF(head);
    Py_DECREF(rest);
    return all;
}

static PyObject *m_execute_callbacks(PyObject *self, PyObject *args, PyObject *kwargs)
{
    const char *name;
    PyObject *all = callback_args(self, args, true, &name), *result = all ? notify_call(as_graph(self), name, all, kwargs, false) : NULL;
    Py_XDECREF(all);
    return result;
}

static PyObject *m_collect_callbacks(PyObject *self, PyObject *args)
{
    const char *name;
    PyObject *all = callback_args(self, args, false, &name), *result = all ? notify_call(as_graph(self), name, all, NULL, true) : NULL;
    Py_XDECREF(all);
    return result;
}

static PyObject *m_set_update_mapping(PyObject *self, PyObject *mapping) { return NONE_OR_ERROR(set_update_mapping(as_graph(self), mapping)); }

static int fgraph_contains(PyObject *self, PyObject *item)
{
    GraphState *state = graph_state_of(self);
    if (!state) return -1;
    if (is_variable(state, item)) return PySet_Contains(as_graph(self)->variables, item);
    if (is_apply(state, item)) return PySet_Contains(as_graph(self)->apply_nodes, item);
    PyErr_SetNone(PyExc_TypeError);
    return -1;
}

static PyObject *fgraph_repr(PyObject *self)
{
    GraphState *state = graph_state_of(self);
    PyObject *texts = state ? print_graph(state, as_graph(self)->inputs, as_graph(self)->outputs) : NULL, *separator, *joined = NULL, *result = NULL;
    if (texts && (separator = PyUnicode_FromString(", "))) {
        joined = PyUnicode_Join(separator, texts);
        Py_DECREF(separator);
    }
    if (joined) result = PyUnicode_FromFormat("FunctionGraph(%U)", joined);
    Py_XDECREF(joined);
    Py_XDECREF(texts);
    return result;
}

/* --- attributes --- */

static PyObject *get_member(PyObject *self, void *offset) { return Py_XNewRef(*(PyObject **)((char *)self + (size_t)offset)); }

/* A list, set or dict of the graph may be given another one of its kind. */
static int set_container(PyObject *self, PyObject *value, void *offset)
{
    PyObject **place = (PyObject **)((char *)self + (size_t)offset);
    if (!value || !PyObject_TypeCheck(value, Py_TYPE(*place))) {
        PyErr_Format(PyExc_TypeError, "expected a %.100s, got %R", Py_TYPE(*place)->tp_name, value ? value : Py_None);
        return -1;
    }
    as_graph(self)->n_input_set = -1;
    Py_XSETREF(*place, Py_NewRef(value));
    return 0;
}

static int set_update_mapping_attr(PyObject *self, PyObject *value, void *closure) { return set_update_mapping(as_graph(self), value); }

static int set_anything(PyObject *self, PyObject *value, void *offset)
{
    PyObject **place = (PyObject **)((char *)self + (size_t)offset);
    Py_XSETREF(*place, Py_NewRef(value ? value : Py_None));
    return 0;
}

/* NULL with AttributeError: what a feature keeps is there while the feature is. */
static PyObject *if_kept(PyObject *value, bool is_kept, const char *name)
{
    if (is_kept) return Py_XNewRef(value);
    PyErr_Format(PyExc_AttributeError, "this FunctionGraph has no feature that keeps %s", name);
    return NULL;
}

static PyObject *get_history(PyObject *self, void *closure) { return if_kept(as_graph(self)->journal, as_graph(self)->journal != NULL, "_history_history"); }

static PyObject *get_is_reverting(PyObject *self, void *closure)
{
    return if_kept(as_graph(self)->is_reverting ? Py_True : Py_False, as_graph(self)->journal != NULL, "_history_is_reverting");
}

static PyObject *get_removed_nodes(PyObject *self, void *closure)
{
    return if_kept(as_graph(self)->removed_nodes, as_graph(self)->removed_nodes != NULL, "_replace_nodes_removed");
}

static PyObject *get_validate_failed(PyObject *self, void *closure)
{
    return if_kept(as_graph(self)->has_reintroduced ? Py_True : Py_False, as_graph(self)->removed_nodes != NULL, "_replace_validate_failed");
}

#define OFFSET(member) ((void *)offsetof(FunctionGraph, member))
static PyGetSetDef fgraph_getset[] = {
    {"inputs", get_member, set_container, "list of the inputs", OFFSET(inputs)},
    {"outputs", get_member, set_container, "list of the outputs", OFFSET(outputs)},
    {"apply_nodes", get_member, set_container, "set of the nodes", OFFSET(apply_nodes)},
    {"variables", get_member, set_container, "set of the variables", OFFSET(variables)},
    {"clients", get_member, set_container, "dict: Variable -> list of (Apply or \"output\", index)", OFFSET(clients)},
    {"_features", get_member, set_container, "list of the features, in the order of attaching", OFFSET(features)},
    {"vetoes", get_member, set_container, "list of (reason, what was proposed, why it was refused), kept when a validation refused it", OFFSET(vetoes)},
    {"update_mapping", get_member, set_update_mapping_attr, "dict: output index -> index of the input that it replaces", OFFSET(update_mapping)},
    {"inv_update_mapping", get_member, NULL, "dict: input index -> output index", OFFSET(inv_update_mapping)},
    {"_history_history", get_history, NULL, "list of the changes that can be undone, while a History is attached", NULL},
    {"_history_is_reverting", get_is_reverting, NULL, "whether changes are being undone, while a History is attached", NULL},
    {"_replace_nodes_removed", get_removed_nodes, NULL, "set of the nodes that must not come back, while a ReplaceValidate is attached", NULL},
    {"_replace_validate_failed", get_validate_failed, NULL, "whether one of them has come back, while a ReplaceValidate is attached", NULL},
    {"profile", get_member, set_anything, "None, or what a profiler left", OFFSET(profile)},
    {"name", get_member, set_anything, "a str for listings, or None", OFFSET(name)},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef fgraph_methods[] = {
    {"add_input", WITH_KEYWORDS(m_add_input), "add_input($self, var, check=True)\n--\n\nAdd an input; nothing when it is one already."},
    {"add_output", WITH_KEYWORDS(m_add_output),
     "add_output($self, var, reason=None, import_missing=False)\n--\n\nAdd an output and import the nodes that it needs."},
    {"remove_input", WITH_KEYWORDS(m_remove_input),
     "remove_input($self, input_idx, reason=None)\n--\n\nDrop the input, every node that depends on it, and the outputs that did."},
    {"remove_output", WITH_KEYWORDS(m_remove_output), "remove_output($self, output_idx, reason=None)\n--\n\nDrop the output and the nodes that nobody reads then."},
    {"remove_node", WITH_KEYWORDS(m_remove_node), "remove_node($self, node, reason=None)\n--\n\nDrop the node, its dependants and their outputs."},
    {"import_var", WITH_KEYWORDS(m_import_var), "import_var($self, var, reason=None, import_missing=False)\n--\n\nImport a variable and what it needs."},
    {"import_node", WITH_KEYWORDS(m_import_node),
     "import_node($self, apply_node, check=True, reason=None, import_missing=False)\n--\n\nImport a node and what it needs."},
    {"setup_var", m_setup_var, METH_O, "setup_var($self, var, /)\n--\n\nGive the variable a client list."},
    {"get_clients", m_get_clients, METH_O, "get_clients($self, var, /)\n--\n\nThe list of (node or \"output\", index) that read the variable."},
    {"add_client", WITH_KEYWORDS(m_add_client), "add_client($self, var, new_client)\n--\n\nAdd an entry to the variable's client list."},
    {"remove_client", WITH_KEYWORDS(m_remove_client),
     "remove_client($self, var, client_to_remove, reason=None, remove_if_empty=False)\n--\n\nTake an entry away and prune what nobody reads then."},
    {"change_node_input", WITH_KEYWORDS(m_change_node_input),
     "change_node_input($self, node, i, new_var, reason=None, import_missing=False, check=True)\n--\n\n"
     "Give a node (or \"output\") another i-th input. A failure leaves the graph as it was."},
    {"replace", WITH_KEYWORDS(m_replace),
     "replace($self, var, new_var, reason=None, verbose=None, import_missing=False)\n--\n\n"
     "Put new_var where var is read. A variable that is not in the graph is none of its business. A failure leaves the graph as it was."},
    {"replace_all", WITH_KEYWORDS(m_replace_all), "replace_all($self, pairs, /, **kwargs)\n--\n\nreplace() for each (var, new_var) in turn."},
    {"toposort", m_toposort, METH_NOARGS, "toposort($self, /)\n--\n\nThe nodes in an order in which they can run, by the features' orderings too."},
    {"orderings", m_orderings, METH_NOARGS, "orderings($self, /)\n--\n\ndict: node -> list of nodes that must run before it, from all features."},
    {"check_integrity", m_check_integrity, METH_NOARGS, "check_integrity($self, /)\n--\n\nRaise when clients, nodes or variables do not agree with the graph."},
    {"clone", WITH_KEYWORDS(m_clone), "clone($self, check_integrity=True)\n--\n\nA copy, features included."},
    {"clone_get_equiv", WITH_KEYWORDS(m_clone_get_equiv),
     "clone_get_equiv($self, check_integrity=True, attach_feature=True)\n--\n\n(copy, dict old -> new)."},
    {"attach_feature", m_attach_feature, METH_O, "attach_feature($self, feature, /)\n--\n\nAttach a listener; silently nothing when it is there already."},
    {"remove_feature", m_remove_feature, METH_O, "remove_feature($self, feature, /)\n--\n\nDetach a listener; silently nothing when it is not there."},
    {"execute_callbacks", WITH_KEYWORDS(m_execute_callbacks),
     "execute_callbacks($self, name, /, *args, **kwargs)\n--\n\nCall feature.name(self, *args) on every feature that has it."},
    {"collect_callbacks", m_collect_callbacks, METH_VARARGS, "collect_callbacks($self, name, /, *args)\n--\n\ndict: feature -> feature.name(*args)."},
    {"set_update_mapping", m_set_update_mapping, METH_O, "set_update_mapping($self, update_mapping, /)\n--\n\nSay which outputs replace which inputs."},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef fgraph_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionGraph, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionGraph, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot fgraph_slots[] = {
    {Py_tp_doc, "FunctionGraph(inputs=None, outputs=None, features=None, clone=True, update_mapping=None, **clone_kwds)\n--\n\n"
                "A graph between inputs and outputs that can be edited, with listeners that may veto an edit."},
    {Py_tp_new, fgraph_new},
    {Py_tp_init, fgraph_init},
    {Py_tp_dealloc, fgraph_dealloc},
    {Py_tp_traverse, fgraph_traverse},
    {Py_tp_clear, fgraph_clear},
    {Py_tp_repr, fgraph_repr},
    {Py_sq_contains, fgraph_contains},
    {Py_tp_methods, fgraph_methods},
    {Py_tp_members, fgraph_members},
    {Py_tp_getset, fgraph_getset},
    {0, NULL},
};
static PyType_Spec fgraph_spec = {"pyscan._core.FunctionGraph", sizeof(FunctionGraph), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, fgraph_slots};

int fgraph_exec(PyObject *module, GraphState *state)
{
    state->FunctionGraph = graph_add_type(module, &fgraph_spec, NULL);
    return state->FunctionGraph ? 0 : -1;
}
