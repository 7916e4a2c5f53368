/* Taking nodes, inputs and outputs out of a graph, with all that depends on them.
 *
 * Everything is taken out first; the listeners hear of it afterwards, so that they see a whole graph.
 * Relies on: clients, edit, notify. Relied on by: fgraph, edit. */
#include "graph/internal.h"

/* --- outputs --- */

/* Drops the entry of a mapping and gives the other keys (or values) above `i` the next lower number. */
static PyObject *renumber(PyObject *mapping, Py_ssize_t i, bool by_key)
{
    PyObject *result = PyDict_New(), *key, *value;
    for (Py_ssize_t at = 0; result && PyDict_Next(mapping, &at, &key, &value);) {
        Py_ssize_t k = PyLong_AsSsize_t(key), v = PyLong_AsSsize_t(value), changed = by_key ? k : v;
        if (PyErr_Occurred()) Py_CLEAR(result);
        if (!result || changed == i) continue;
        PyObject *new_key = PyLong_FromSsize_t(k - (by_key && k > i)), *new_value = new_key ? PyLong_FromSsize_t(v - (!by_key && v > i)) : NULL;
        if (!new_value || PyDict_SetItem(result, new_key, new_value) < 0) Py_CLEAR(result);
        Py_XDECREF(new_key);
        Py_XDECREF(new_value);
    }
    return result;
}

/* Keeps both mappings true when output (or input) `i` goes. */
static int renumber_mappings(FunctionGraph *graph, Py_ssize_t i, bool of_outputs)
{
    PyObject *forward = renumber(graph->update_mapping, i, of_outputs), *inverse = forward ? renumber(graph->inv_update_mapping, i, !of_outputs) : NULL;
    if (!inverse) {
        Py_XDECREF(forward);
        return -1;
    }
    Py_SETREF(graph->update_mapping, forward);
    Py_SETREF(graph->inv_update_mapping, inverse);
    return 0;
}

/* Gives the client entry ("output", old) of the variable another number, in its place. */
static int renumber_client(FunctionGraph *graph, GraphState *state, PyObject *variable, Py_ssize_t old, Py_ssize_t new)
{
    PyObject *before = client_new(state->str_output, old), *after = before ? client_new(state->str_output, new) : NULL;
    Py_ssize_t place;
    int status = after ? clients_drop(graph, variable, before, &place) : -1;
    if (status > 0) status = clients_put_back(graph, variable, after, place);
    Py_XDECREF(after);
    Py_XDECREF(before);
    return status;
}

/* Takes output i off the list and numbers the others anew; its own entry in the client list has gone before. */
static int close_gap(FunctionGraph *graph, GraphState *state, Py_ssize_t i)
{
    if (PyList_SetSlice(graph->outputs, i, i + 1, NULL) < 0) return -1;
    for (Py_ssize_t k = i; k < PyList_GET_SIZE(graph->outputs); k++)
        if (renumber_client(graph, state, PyList_GET_ITEM(graph->outputs, k), k + 1, k) < 0) return -1;
    return renumber_mappings(graph, i, true);
}

static int check_index(PyObject *list, Py_ssize_t *i, const char *what)
{
    Py_ssize_t n = PyList_GET_SIZE(list);
    if (*i < 0) *i += n;
    if (*i >= 0 && *i < n) return 0;
    PyErr_Format(PyExc_IndexError, "the graph has %zd %s", n, what);
    return -1;
}

int remove_output(FunctionGraph *graph, Py_ssize_t i, PyObject *reason)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    if (!state || check_index(graph->outputs, &i, "outputs") < 0) return -1;
    PyObject *variable = Py_NewRef(PyList_GET_ITEM(graph->outputs, i)), *client = client_new(state->str_output, i);
    Py_ssize_t place;
    int status = client ? clients_drop(graph, variable, client, &place) : -1;
    if (status >= 0) status = close_gap(graph, state, i);
    /* The entry is gone, so that this only prunes what nobody reads now. */
    PyObject *nothing = status == 0 ? client_new(state->str_output, -1) : NULL;
    if (nothing) status = prune_client(graph, variable, nothing, reason, NULL);
    Py_XDECREF(nothing);
    Py_XDECREF(client);
    Py_DECREF(variable);
    return status == 0 ? 0 : -1;
}

/* --- nodes --- */

/* Owned: the nodes and all that depend on them, dependants first. */
static PyObject *dependants_of(FunctionGraph *graph, GraphState *state, PyObject *nodes)
{
    PtrMap seen = {0};
    PtrStack stack = {0};
    PyObject *found = PyList_New(0);
    int status = found ? 0 : -1;
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(nodes); i++) status = ptrstack_push(&stack, PyList_GET_ITEM(nodes, i));
    while (status == 0 && stack.n) {
        PyObject *node = stack.items[stack.n - 1];
        bool is_new;
        int64_t *mark = ptrmap_put(&seen, node, &is_new);
        if (!mark) status = -1;
        else if (!is_new) { /* all that depend on it have been found */
            stack.n--;
            if (*mark == 0) status = PyList_Append(found, node);
            *mark = 1;
        }
        PyObject *outputs = as_apply(node)->outputs;
        for (Py_ssize_t o = 0; status == 0 && is_new && o < PyList_GET_SIZE(outputs); o++) {
            PyObject *clients = graph_peek_clients(graph, PyList_GET_ITEM(outputs, o));
            for (Py_ssize_t k = 0; status == 0 && clients && k < PyList_GET_SIZE(clients); k++) {
                PyObject *client = PyList_GET_ITEM(clients, k), *reader = PyTuple_Check(client) && PyTuple_GET_SIZE(client) ? PyTuple_GET_ITEM(client, 0) : NULL;
                if (reader && is_apply(state, reader) && !ptrmap_has(&seen, reader)) status = ptrstack_push(&stack, reader);
            }
        }
    }
    ptrstack_clear(&stack);
    ptrmap_clear(&seen);
    if (status < 0) Py_CLEAR(found);
    return found;
}

/* Drops the outputs that the nodes make, from the last. */
static int drop_outputs_of(FunctionGraph *graph, GraphState *state, const PtrMap *doomed)
{
    for (Py_ssize_t i = PyList_GET_SIZE(graph->outputs); i-- > 0;) {
        PyObject *variable = PyList_GET_ITEM(graph->outputs, i), *owner = owner_peek(variable);
        if (!owner || !ptrmap_has(doomed, owner)) continue;
        PyObject *client = client_new(state->str_output, i);
        Py_ssize_t place;
        int status = client ? clients_drop(graph, variable, client, &place) : -1;
        if (status >= 0) status = close_gap(graph, state, i);
        Py_XDECREF(client);
        if (status < 0) return -1;
    }
    return 0;
}

static int forget_node(FunctionGraph *graph, PyObject *node)
{
    PyObject *outputs = as_apply(node)->outputs;
    if (PySet_Discard(graph->apply_nodes, node) < 0) return -1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(outputs); i++)
        if (PySet_Discard(graph->variables, PyList_GET_ITEM(outputs, i)) < 0 || clients_forget(graph, PyList_GET_ITEM(outputs, i)) < 0) return -1;
    return 0;
}

/* Takes the node's arrows away; what nobody reads then is pruned, with its callbacks. */
static int drop_arrows(FunctionGraph *graph, PyObject *node, const PtrMap *doomed, PyObject *reason, PyObject **error)
{
    PyObject *inputs = as_apply(node)->inputs;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs); i++) {
        PyObject *input = PyList_GET_ITEM(inputs, i), *owner = owner_peek(input);
        if (owner && ptrmap_has(doomed, owner)) continue;
        PyObject *client = client_new(node, i);
        int status = client ? prune_client(graph, input, client, reason, NULL) : -1;
        Py_XDECREF(client);
        if (status < 0) return -1;
        if (status > 0) keep_first_error(error);
    }
    return 0;
}

static int remove_nodes(FunctionGraph *graph, GraphState *state, PyObject *nodes, PyObject *reason)
{
    PtrMap doomed = {0};
    PyObject *error = NULL, *kept = NULL, *all = dependants_of(graph, state, nodes);
    int status = all ? ptrmap_put_all(&doomed, all, &kept) : -1;
    if (status == 0) status = drop_outputs_of(graph, state, &doomed);
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(all); i++) status = forget_node(graph, PyList_GET_ITEM(all, i));
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(all); i++) status = drop_arrows(graph, PyList_GET_ITEM(all, i), &doomed, reason, &error);
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(all); i++)
        if (notify_prune(graph, PyList_GET_ITEM(all, i), reason) < 0) keep_first_error(&error);
    ptrmap_clear(&doomed);
    Py_XDECREF(kept);
    Py_XDECREF(all);
    if (status < 0) Py_CLEAR(error);
    graph_error_give(error);
    return status < 0 || error ? -1 : 0;
}

int remove_node(FunctionGraph *graph, PyObject *node, PyObject *reason)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    int has = state ? PySet_Contains(graph->apply_nodes, node) : -1;
    if (has <= 0) return has;
    PyObject *nodes = Py_BuildValue("[O]", node);
    int status = nodes ? remove_nodes(graph, state, nodes, reason) : -1;
    Py_XDECREF(nodes);
    return status;
}

/* --- inputs --- */

/* Owned: the nodes that read the variable. *i_output is the first output that it is itself, or -1. */
static PyObject *readers_of(FunctionGraph *graph, GraphState *state, PyObject *variable)
{
    PyObject *nodes = PyList_New(0), *clients = graph_peek_clients(graph, variable);
    for (Py_ssize_t k = 0; nodes && clients && k < PyList_GET_SIZE(clients); k++) {
        PyObject *client = PyList_GET_ITEM(clients, k), *reader = PyTuple_Check(client) && PyTuple_GET_SIZE(client) ? PyTuple_GET_ITEM(client, 0) : NULL;
        if (reader && is_apply(state, reader) && PyList_Append(nodes, reader) < 0) Py_CLEAR(nodes);
    }
    return nodes;
}

int remove_input(FunctionGraph *graph, Py_ssize_t i, PyObject *reason)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    if (!state || check_index(graph->inputs, &i, "inputs") < 0) return -1;
    PyObject *variable = Py_NewRef(PyList_GET_ITEM(graph->inputs, i)), *nodes = NULL;
    int status = PyList_SetSlice(graph->inputs, i, i + 1, NULL);
    if (status == 0) status = renumber_mappings(graph, i, false);
    if (status == 0) status = (nodes = readers_of(graph, state, variable)) ? remove_nodes(graph, state, nodes, reason) : -1;
    for (Py_ssize_t k = PyList_GET_SIZE(graph->outputs); status == 0 && k-- > 0;)
        if (PyList_GET_ITEM(graph->outputs, k) == variable) status = remove_output(graph, k, reason);
    if (status == 0) status = PySet_Discard(graph->variables, variable) < 0 ? -1 : 0;
    int has = status == 0 ? has_input(graph, variable) : 1; /* it may have been there twice */
    if (has == 0) status = clients_forget(graph, variable);
    Py_XDECREF(nodes);
    Py_DECREF(variable);
    return status < 0 || has < 0 ? -1 : 0;
}
