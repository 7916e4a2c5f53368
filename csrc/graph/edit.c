/* The steps of an edit: import what a new variable needs, give a reader another input, prune what nobody reads.
 *
 * Whatever can be refused is refused before anything is touched; after that only a listener can fail, and then the step
 * is carried through and its exception raised at the end, so that the journal can undo a whole step.
 * Relies on: clients, notify, order, journal. Relied on by: fgraph, remove, journal. */
#include "graph/internal.h"

/* --- inputs --- */

/* Makes the set of inputs anew when the list is not as long as it was then. */
static int refresh_input_set(FunctionGraph *graph)
{
    Py_ssize_t n = PyList_GET_SIZE(graph->inputs);
    if (n == graph->n_input_set) return 0;
    PyDict_Clear(graph->input_set);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(graph->inputs); i++)
        if (PyDict_SetItem(graph->input_set, PyList_GET_ITEM(graph->inputs, i), Py_True) < 0) return -1;
    graph->n_input_set = n;
    return 0;
}

int has_input(FunctionGraph *graph, PyObject *variable) { return refresh_input_set(graph) < 0 ? -1 : PyDict_Contains(graph->input_set, variable); }

int add_input(FunctionGraph *graph, PyObject *variable, bool check)
{
    int has = check ? has_input(graph, variable) : refresh_input_set(graph);
    if (has) return has < 0 ? -1 : 0;
    if (!clients_peek(graph, variable, true) || PyList_Append(graph->inputs, variable) < 0) return -1;
    if (PyDict_SetItem(graph->input_set, variable, Py_True) < 0) return -1;
    graph->n_input_set++;
    return 0;
}

/* --- import --- */

/* 1, 0 or -1: whether a leaf must be given and is not. */
static int is_undeclared(FunctionGraph *graph, GraphState *state, PyObject *variable)
{
    if (owner_peek(variable) || is_atomic(state, variable)) return 0;
    int has = has_input(graph, variable);
    return has < 0 ? -1 : !has;
}

static void raise_missing_for_node(GraphState *state, PyObject *node, Py_ssize_t i)
{
    PyObject *variable = PyList_GET_ITEM(as_apply(node)->inputs, i);
    for (Py_ssize_t j = 0; j < i; j++)
        if (PyList_GET_ITEM(as_apply(node)->inputs, j) == variable) i = j;
    raise_missing_input(state,
                        PyUnicode_FromFormat("Input %zd (%S) of the graph (indices start from 0), used to compute %S, was not provided and not "
                                             "given a value. Use the Aesara flag exception_verbosity='high', for more information on this error.",
                                             i, variable, node),
                        variable);
}

/* Adds the missing inputs of the nodes, or raises for the first. */
static int declare_inputs(FunctionGraph *graph, GraphState *state, PyObject *nodes, bool import_missing)
{
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(nodes); k++) {
        PyObject *inputs = as_apply(PyList_GET_ITEM(nodes, k))->inputs;
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs); i++) {
            int missing = is_undeclared(graph, state, PyList_GET_ITEM(inputs, i));
            if (missing == 0) continue;
            if (missing > 0 && !import_missing) raise_missing_for_node(state, PyList_GET_ITEM(nodes, k), i);
            if (missing < 0 || !import_missing || add_input(graph, PyList_GET_ITEM(inputs, i), true) < 0) return -1;
        }
    }
    return 0;
}

static int connect_node(FunctionGraph *graph, PyObject *node)
{
    PyObject *outputs = as_apply(node)->outputs, *inputs = as_apply(node)->inputs;
    if (PySet_Add(graph->apply_nodes, node) < 0) return -1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(outputs); i++)
        if (!clients_peek(graph, PyList_GET_ITEM(outputs, i), true) || PySet_Add(graph->variables, PyList_GET_ITEM(outputs, i)) < 0) return -1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs); i++) {
        PyObject *client = client_new(node, i);
        int status = client && PySet_Add(graph->variables, PyList_GET_ITEM(inputs, i)) == 0 ? clients_add(graph, PyList_GET_ITEM(inputs, i), client) : -1;
        Py_XDECREF(client);
        if (status < 0) return -1;
    }
    return 0;
}

int import_node(FunctionGraph *graph, PyObject *node, bool check, PyObject *reason, bool import_missing)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    PyObject *error = NULL, *nodes = state ? order_new_nodes(state, graph->variables, as_apply(node)->outputs) : NULL;
    int status = nodes ? 0 : -1;
    if (status == 0 && check) status = declare_inputs(graph, state, nodes, import_missing);
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(nodes); i++) {
        status = connect_node(graph, PyList_GET_ITEM(nodes, i));
        if (status == 0 && notify_import(graph, PyList_GET_ITEM(nodes, i), reason) < 0) keep_first_error(&error);
    }
    Py_XDECREF(nodes);
    if (status < 0 && error) Py_CLEAR(error); /* the later one is why it stopped */
    graph_error_give(error);
    return status < 0 ? -1 : (error ? 1 : 0);
}

/* 0: done. 1: done, and a listener raised. -1: nothing done. */
static int import_variable_step(FunctionGraph *graph, PyObject *variable, PyObject *reason, bool import_missing)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    if (!state) return -1;
    PyObject *owner = owner_peek(variable);
    int status = 0;
    if (owner) {
        int has = PySet_Contains(graph->apply_nodes, owner);
        if (has == 0) status = import_node(graph, owner, true, reason, import_missing);
        else if (has < 0) status = -1;
    } else {
        int missing = is_undeclared(graph, state, variable);
        if (missing > 0 && import_missing) status = add_input(graph, variable, true);
        else if (missing > 0) raise_missing_input(state, PyUnicode_FromFormat("Undeclared input: %S", variable), variable);
        if (missing < 0 || (missing > 0 && !import_missing)) status = -1;
    }
    if (status < 0) return -1;
    PyObject *error = graph_error_take();
    if (!clients_peek(graph, variable, true) || PySet_Add(graph->variables, variable) < 0) {
        Py_XDECREF(error);
        return -1;
    }
    graph_error_give(error);
    return status;
}

int import_variable(FunctionGraph *graph, PyObject *variable, PyObject *reason, bool import_missing)
{
    return import_variable_step(graph, variable, reason, import_missing) == 0 ? 0 : -1;
}

/* --- outputs --- */

int add_output(FunctionGraph *graph, PyObject *variable, PyObject *reason, bool import_missing)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    if (!state) return -1;
    int step = import_variable_step(graph, variable, reason, import_missing);
    if (step < 0) return -1;
    PyObject *error = graph_error_take(); /* a listener's, or NULL */
    PyObject *client = client_new(state->str_output, PyList_GET_SIZE(graph->outputs));
    int status = client && PyList_Append(graph->outputs, variable) == 0 ? clients_add(graph, variable, client) : -1;
    Py_XDECREF(client);
    if (status == 0 && error && remove_output(graph, PyList_GET_SIZE(graph->outputs) - 1, reason) < 0) keep_first_error(&error);
    if (status < 0) Py_CLEAR(error);
    graph_error_give(error);
    return status < 0 || error ? -1 : 0;
}

/* --- prune --- */

static int note_removal(PyObject *removals, PyObject *variable, PyObject *client, Py_ssize_t place)
{
    if (!removals) return 0;
    PyObject *note = Py_BuildValue("(OOn)", variable, client, place);
    int status = note ? PyList_Append(removals, note) : -1;
    Py_XDECREF(note);
    return status;
}

/* A leaf that nobody reads: an input stays in `inputs` and keeps its (empty) list. */
static int forget_leaf(FunctionGraph *graph, PyObject *variable)
{
    if (PySet_Discard(graph->variables, variable) < 0) return -1;
    int has = has_input(graph, variable);
    if (has < 0) return -1;
    return has ? 0 : clients_forget(graph, variable);
}

static bool is_unread(FunctionGraph *graph, PyObject *node)
{
    PyObject *outputs = as_apply(node)->outputs;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(outputs); i++)
        if (graph_count_clients(graph, PyList_GET_ITEM(outputs, i))) return false;
    return true;
}

/* Takes the node out and puts its arrows on the stack of those to remove. */
static int disconnect_node(FunctionGraph *graph, PyObject *node, PyObject *stack)
{
    PyObject *outputs = as_apply(node)->outputs, *inputs = as_apply(node)->inputs;
    if (PySet_Discard(graph->apply_nodes, node) < 0) return -1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(outputs); i++)
        if (PySet_Discard(graph->variables, PyList_GET_ITEM(outputs, i)) < 0 || clients_forget(graph, PyList_GET_ITEM(outputs, i)) < 0) return -1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs); i++) {
        PyObject *arrow = Py_BuildValue("(ON)", PyList_GET_ITEM(inputs, i), client_new(node, i));
        int status = arrow ? PyList_Append(stack, arrow) : -1;
        Py_XDECREF(arrow);
        if (status < 0) return -1;
    }
    return 0;
}

/* Removes one arrow; a node that becomes unread by it goes too, and its arrows come onto the stack. */
static int prune_step(FunctionGraph *graph, PyObject *arrow, PyObject *stack, PyObject *reason, PyObject *removals, PyObject **error)
{
    PyObject *variable = PyTuple_GET_ITEM(arrow, 0), *client = PyTuple_GET_ITEM(arrow, 1);
    Py_ssize_t place = 0;
    int dropped = clients_drop(graph, variable, client, &place);
    if (dropped < 0 || (dropped && note_removal(removals, variable, client, place) < 0)) return -1;
    if (graph_count_clients(graph, variable)) return 0;
    PyObject *node = owner_peek(variable);
    if (!node) return forget_leaf(graph, variable);
    int has = PySet_Contains(graph->apply_nodes, node);
    if (has <= 0 || !is_unread(graph, node)) return has < 0 ? -1 : 0;
    Py_INCREF(node);
    int status = disconnect_node(graph, node, stack);
    if (status == 0 && notify_prune(graph, node, reason) < 0) keep_first_error(error);
    Py_DECREF(node);
    return status;
}

int prune_client(FunctionGraph *graph, PyObject *variable, PyObject *client, PyObject *reason, PyObject *removals)
{
    PyObject *error = NULL, *stack = Py_BuildValue("[(OO)]", variable, client);
    int status = stack ? 0 : -1;
    while (status == 0 && PyList_GET_SIZE(stack)) {
        Py_ssize_t last = PyList_GET_SIZE(stack) - 1;
        PyObject *arrow = Py_NewRef(PyList_GET_ITEM(stack, last));
        status = PyList_SetSlice(stack, last, last + 1, NULL);
        if (status == 0) status = prune_step(graph, arrow, stack, reason, removals, &error);
        Py_DECREF(arrow);
    }
    Py_XDECREF(stack);
    if (status < 0 && error) Py_CLEAR(error);
    graph_error_give(error);
    return status < 0 ? -1 : (error ? 1 : 0);
}

/* --- change --- */

/* Lent: where the reader keeps its i-th input, as a list; NULL with an exception for what is no reader. */
static PyObject *reader_list(FunctionGraph *graph, GraphState *state, PyObject *node, Py_ssize_t i)
{
    PyObject *list = NULL;
    if (is_apply(state, node)) list = as_apply(node)->inputs;
    else if (PyUnicode_Check(node) && PyUnicode_Compare(node, state->str_output) == 0) list = graph->outputs;
    if (!list) {
        if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "expected an Apply or \"output\", got %R", node);
    } else if (i < 0 || i >= PyList_GET_SIZE(list)) {
        PyErr_Format(PyExc_IndexError, "%S has no input %zd", node, i);
        list = NULL;
    }
    return list;
}

static int check_types(PyObject *old, PyObject *new_variable)
{
    int fits = type_is_super(as_variable(old)->type, as_variable(new_variable)->type);
    if (fits == 0)
        PyErr_Format(PyExc_TypeError, "The type of the replacement (%S) must be compatible with the type of the original Variable (%S).",
                     as_variable(new_variable)->type, as_variable(old)->type);
    return fits > 0 ? 0 : -1;
}

/* The middle of a change: all is checked and imported; *error is a listener's exception so far. */
static int swap_input(FunctionGraph *graph, PyObject *list, PyObject *node, Py_ssize_t i, PyObject *old, PyObject *new_variable, PyObject *reason,
                      Py_ssize_t n_inputs, PyObject **error)
{
    int status = -1;
    PyObject *client = client_new(node, i), *removals = client ? PyList_New(0) : NULL;
    if (!removals || PyList_SetItem(list, i, Py_NewRef(new_variable)) < 0 || clients_add(graph, new_variable, client) < 0) goto done;
    status = prune_client(graph, old, client, reason, removals);
    if (status > 0) keep_first_error(error);
    if (status >= 0) status = journal_note(graph, node, i, old, reason, removals, n_inputs);
    if (status == 0 && notify_change(graph, node, i, old, new_variable, reason) < 0) keep_first_error(error);
done:
    Py_XDECREF(removals);
    Py_XDECREF(client);
    return status;
}

int change_input(FunctionGraph *graph, PyObject *node, Py_ssize_t i, PyObject *new_variable, PyObject *reason, bool import_missing, bool check)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    PyObject *list = state ? reader_list(graph, state, node, i) : NULL;
    if (!list) return -1;
    if (list == graph->outputs) node = state->str_output;
    PyObject *old = Py_NewRef(PyList_GET_ITEM(list, i)), *error = NULL;
    Py_ssize_t n_inputs = PyList_GET_SIZE(graph->inputs);
    int status = -1;
    Py_INCREF(list);
    if (check && old != new_variable && check_types(old, new_variable) < 0) goto done;
    if (old == new_variable) {
        status = 0;
        goto done;
    }
    status = import_variable_step(graph, new_variable, reason, import_missing);
    if (status > 0) keep_first_error(&error);
    if (status >= 0) status = swap_input(graph, list, node, i, old, new_variable, reason, n_inputs, &error);
    if (status < 0) Py_CLEAR(error);
    else if (error) status = 1;
    graph_error_give(error);
done:
    Py_DECREF(list);
    Py_DECREF(old);
    return status;
}
