/* FunctionGraph.check_integrity: what a graph notes about itself against what a walk finds.
 *
 * Relies on: walk, clients. Relied on by: fgraph, and by rewrite after each pass in test builds. */
#include "graph/internal.h"

/* 1 when the set holds just the list's items; else 0 with the sentence raised that names the difference. */
static int check_cached(PyObject *cached, PyObject *found, const char *what)
{
    PyObject *set = PySet_New(found), *missing = NULL, *excess = NULL;
    int equal = set ? PyObject_RichCompareBool(cached, set, Py_EQ) : -1;
    if (equal == 0) {
        missing = PyNumber_Subtract(set, cached);
        excess = missing ? PyNumber_Subtract(cached, set) : NULL;
        if (excess) PyErr_Format(PyExc_Exception, "The following %s are inappropriately cached:\nmissing: %S\nin excess: %S", what, missing, excess);
    }
    Py_XDECREF(excess);
    Py_XDECREF(missing);
    Py_XDECREF(set);
    return equal > 0 ? 0 : -1;
}

/* Each input of a node must list the node as a client. Short lists are searched, long ones by a set made once. */
static int check_node(FunctionGraph *graph, PyObject *node, PyObject *long_lists)
{
    enum { LONG_LIST = 64 };
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(as_apply(node)->inputs); i++) {
        PyObject *variable = PyList_GET_ITEM(as_apply(node)->inputs, i), *clients = clients_peek(graph, variable, false);
        if (!clients && PyErr_Occurred()) return -1;
        PyObject *client = client_new(node, i), *where = clients;
        if (!client) return -1;
        if (clients && PyList_GET_SIZE(clients) >= LONG_LIST && !(where = PyDict_GetItemWithError(long_lists, variable))) {
            where = PyErr_Occurred() ? NULL : PySet_New(clients);
            int stored = where ? PyDict_SetItem(long_lists, variable, where) : -1;
            Py_XDECREF(where); /* the dict holds it */
            if (stored < 0) goto fail;
        }
        int has = where ? PySequence_Contains(where, client) : 0;
        if (has == 0) PyErr_Format(PyExc_Exception, "Inconsistent clients list %R in %R", client, clients ? clients : Py_None);
        if (has <= 0) goto fail;
        Py_DECREF(client);
        continue;
    fail:
        Py_DECREF(client);
        return -1;
    }
    return 0;
}

/* The entry (reader, i) must name a place where the variable stands. */
static int check_client(FunctionGraph *graph, GraphState *state, PyObject *variable, PyObject *client)
{
    PyObject *reader;
    Py_ssize_t i;
    if (!PyTuple_Check(client) || !PyArg_ParseTuple(client, "On:client", &reader, &i)) {
        if (!PyErr_Occurred()) PyErr_Format(PyExc_Exception, "Inconsistent clients list: %R, %R", variable, client);
        return -1;
    }
    bool is_node = is_apply(state, reader);
    if (is_node) {
        int has = PySet_Contains(graph->apply_nodes, reader);
        if (has == 0) PyErr_Format(PyExc_Exception, "Client not in FunctionGraph: %S, %R", variable, client);
        if (has <= 0) return -1;
    }
    PyObject *list = is_node ? as_apply(reader)->inputs : graph->outputs;
    PyObject *there = i >= 0 && i < PyList_GET_SIZE(list) ? PyList_GET_ITEM(list, i) : NULL;
    if (there == variable) return 0;
    PyErr_Format(PyExc_Exception, "Inconsistent clients list: %S, %S", variable, there ? there : Py_None);
    return -1;
}

static int check_variable(FunctionGraph *graph, GraphState *state, PyObject *variable)
{
    if (!owner_peek(variable) && !is_atomic(state, variable)) {
        int has = has_input(graph, variable);
        if (has == 0) PyErr_Format(PyExc_Exception, "Undeclared input: %S", variable);
        if (has <= 0) return -1;
    }
    PyObject *clients = clients_peek(graph, variable, false);
    if (!clients && !PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, variable);
    if (!clients) return -1;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(clients); k++)
        if (check_client(graph, state, variable, PyList_GET_ITEM(clients, k)) < 0) return -1;
    return 0;
}

/* An output must be listed as a client of its variable. */
static int check_output(FunctionGraph *graph, GraphState *state, Py_ssize_t i)
{
    PyObject *variable = PyList_GET_ITEM(graph->outputs, i), *clients = clients_peek(graph, variable, false);
    PyObject *client = PyErr_Occurred() ? NULL : client_new(state->str_output, i);
    int has = client ? (clients ? PySequence_Contains(clients, client) : 0) : -1;
    if (has == 0) PyErr_Format(PyExc_Exception, "Inconsistent clients list %R in %R", client, clients ? clients : Py_None);
    Py_XDECREF(client);
    return has > 0 ? 0 : -1;
}

int graph_check_integrity(FunctionGraph *graph)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    PyObject *nodes = NULL, *variables = NULL, *long_lists = NULL;
    int status = -1;
    graph->n_input_set = -1; /* the list may have been edited: note its items anew */
    if (!state || !(nodes = walk_applys(state, graph->inputs, graph->outputs)) || check_cached(graph->apply_nodes, nodes, "nodes") < 0) goto done;
    if (!(long_lists = PyDict_New())) goto done;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(nodes); i++)
        if (check_node(graph, PyList_GET_ITEM(nodes, i), long_lists) < 0) goto done;
    if (!(variables = walk_between(state, graph->inputs, graph->outputs)) || check_cached(graph->variables, variables, "variables") < 0) goto done;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(variables); i++)
        if (check_variable(graph, state, PyList_GET_ITEM(variables, i)) < 0) goto done;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(graph->outputs); i++)
        if (check_output(graph, state, i) < 0) goto done;
    status = 0;
done:
    Py_XDECREF(variables);
    Py_XDECREF(long_lists);
    Py_XDECREF(nodes);
    return status;
}
