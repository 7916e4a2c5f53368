/* Who reads a variable: `clients` maps each to a plain list of (Apply or "output", i), which users read and may edit.
 *
 * Removal from a short list scans it and keeps its order. A long list has its entries' positions noted in
 * `client_positions` when something is first removed from it; a removal then moves the last entry into the gap, so that it
 * costs the same at any length. A note that no longer fits the list (somebody edited it) is thrown away and made anew.
 * Relies on: state. Relied on by: edit, remove, journal. */
#include "graph/internal.h"

enum { LONG_LIST = 64 };

PyObject *client_new(PyObject *node, Py_ssize_t i)
{
    PyObject *index = PyLong_FromSsize_t(i), *client = index ? PyTuple_Pack(2, node, index) : NULL;
    Py_XDECREF(index);
    return client;
}

PyObject *clients_peek(FunctionGraph *graph, PyObject *variable, bool make)
{
    PyObject *list = PyDict_GetItemWithError(graph->clients, variable);
    if (list && !PyList_Check(list)) {
        PyErr_Format(PyExc_TypeError, "the clients of %R must be a list, not %R", variable, list);
        return NULL;
    }
    if (list || PyErr_Occurred() || !make) return list;
    list = PyList_New(0);
    int status = list ? PyDict_SetItem(graph->clients, variable, list) : -1;
    Py_XDECREF(list); /* the dict holds it */
    return status < 0 ? NULL : list;
}

PyObject *graph_peek_clients(FunctionGraph *graph, PyObject *variable)
{
    PyObject *list = clients_peek(graph, variable, false);
    if (!list) PyErr_Clear();
    return list;
}

Py_ssize_t graph_count_clients(FunctionGraph *graph, PyObject *variable)
{
    PyObject *list = graph_peek_clients(graph, variable);
    return list ? PyList_GET_SIZE(list) : 0;
}

/* Lent: the noted positions, or NULL without an exception when there are none that fit the list. */
static PyObject *positions_peek(FunctionGraph *graph, PyObject *variable, PyObject *list)
{
    PyObject *positions = PyDict_GetItemWithError(graph->client_positions, variable);
    if (!positions || PyDict_GET_SIZE(positions) == PyList_GET_SIZE(list)) return positions;
    if (PyDict_DelItem(graph->client_positions, variable) < 0) return NULL;
    return NULL;
}

static int positions_note(PyObject *positions, PyObject *client, Py_ssize_t at)
{
    PyObject *number = PyLong_FromSsize_t(at);
    int status = number ? PyDict_SetItem(positions, client, number) : -1;
    Py_XDECREF(number);
    return status;
}

/* Lent: the positions of a long list, made anew. */
static PyObject *positions_make(FunctionGraph *graph, PyObject *variable, PyObject *list)
{
    PyObject *positions = PyDict_New();
    int status = positions ? 0 : -1;
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(list); i++) status = positions_note(positions, PyList_GET_ITEM(list, i), i);
    if (status == 0) status = PyDict_SetItem(graph->client_positions, variable, positions);
    Py_XDECREF(positions); /* the dict holds it */
    return status < 0 ? NULL : positions;
}

int clients_add(FunctionGraph *graph, PyObject *variable, PyObject *client)
{
    PyObject *list = clients_peek(graph, variable, true);
    if (!list) return -1;
    PyObject *positions = positions_peek(graph, variable, list);
    if (PyErr_Occurred() || PyList_Append(list, client) < 0) return -1;
    return positions ? positions_note(positions, client, PyList_GET_SIZE(list) - 1) : 0;
}

static bool same_client(PyObject *a, PyObject *b)
{
    if (a == b) return true;
    if (!PyTuple_Check(a) || PyTuple_GET_SIZE(a) != 2 || PyTuple_GET_ITEM(a, 0) != PyTuple_GET_ITEM(b, 0)) return false;
    PyObject *i = PyTuple_GET_ITEM(a, 1), *j = PyTuple_GET_ITEM(b, 1);
    return PyLong_Check(i) && PyLong_Check(j) && PyLong_AsSsize_t(i) == PyLong_AsSsize_t(j);
}

/* The entry's position, -1 when it is not there (then perhaps with an exception). */
static Py_ssize_t find_by_scan(PyObject *list, PyObject *client)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++)
        if (same_client(PyList_GET_ITEM(list, i), client)) return i;
    return -1;
}

static Py_ssize_t find_by_note(PyObject *positions, PyObject *list, PyObject *client)
{
    PyObject *number = PyDict_GetItemWithError(positions, client);
    if (!number) return -1;
    Py_ssize_t at = PyLong_AsSsize_t(number);
    return at >= 0 && at < PyList_GET_SIZE(list) && same_client(PyList_GET_ITEM(list, at), client) ? at : -1;
}

/* Takes entry `at` out by moving the last one there. */
static int drop_by_swap(PyObject *positions, PyObject *list, PyObject *client, Py_ssize_t at)
{
    Py_ssize_t last = PyList_GET_SIZE(list) - 1;
    if (at != last) {
        PyObject *moved = PyList_GET_ITEM(list, last);
        if (positions_note(positions, moved, at) < 0 || PyList_SetItem(list, at, Py_NewRef(moved)) < 0) return -1;
    }
    if (PyDict_DelItem(positions, client) < 0) return -1;
    return PyList_SetSlice(list, last, last + 1, NULL);
}

/* *place is the position when the order was kept, and -2 - position when the last entry was moved into the gap. */
int clients_drop(FunctionGraph *graph, PyObject *variable, PyObject *client, Py_ssize_t *place)
{
    PyObject *list = clients_peek(graph, variable, false);
    if (!list) return PyErr_Occurred() ? -1 : 0;
    Py_ssize_t n = PyList_GET_SIZE(list), at;
    PyObject *positions = positions_peek(graph, variable, list);
    if (PyErr_Occurred()) return -1;
    if (!positions && n < LONG_LIST) {
        if ((at = find_by_scan(list, client)) < 0) return 0;
        *place = at;
        return PyList_SetSlice(list, at, at + 1, NULL) < 0 ? -1 : 1;
    }
    if (!positions && !(positions = positions_make(graph, variable, list))) return -1;
    if ((at = find_by_note(positions, list, client)) < 0) {
        if (PyErr_Occurred()) return -1;
        if ((at = find_by_scan(list, client)) < 0) return 0; /* not there, or there in an edited list */
        if (!(positions = positions_make(graph, variable, list))) return -1;
        if (PyDict_GET_SIZE(positions) != n) { /* the same entry twice: no notes for such a list */
            if (PyDict_DelItem(graph->client_positions, variable) < 0) return -1;
            *place = at;
            return PyList_SetSlice(list, at, at + 1, NULL) < 0 ? -1 : 1;
        }
    }
    *place = -2 - at;
    if (drop_by_swap(positions, list, client, at) < 0) return -1;
    if (PyList_GET_SIZE(list) < LONG_LIST / 2 && PyDict_DelItem(graph->client_positions, variable) < 0) return -1;
    return 1;
}

int clients_put_back(FunctionGraph *graph, PyObject *variable, PyObject *client, Py_ssize_t place)
{
    PyObject *list = clients_peek(graph, variable, true);
    if (!list) return -1;
    Py_ssize_t n = PyList_GET_SIZE(list), at = place >= 0 ? place : -2 - place;
    if (at >= n) return clients_add(graph, variable, client);
    PyObject *positions = positions_peek(graph, variable, list);
    if (PyErr_Occurred()) return -1;
    if (place >= 0) { /* everything behind it moves, so the notes go */
        if (positions && PyDict_DelItem(graph->client_positions, variable) < 0) return -1;
        return PyList_Insert(list, at, client);
    }
    PyObject *moved = PyList_GET_ITEM(list, at);
    if (PyList_Append(list, moved) < 0) return -1;
    if (positions && (positions_note(positions, moved, n) < 0 || positions_note(positions, client, at) < 0)) return -1;
    return PyList_SetItem(list, at, Py_NewRef(client));
}

int clients_forget(FunctionGraph *graph, PyObject *variable)
{
    PyObject *tables[] = {graph->clients, graph->client_positions};
    for (size_t i = 0; i < 2; i++) {
        int has = PyDict_Contains(tables[i], variable);
        if (has < 0 || (has && PyDict_DelItem(tables[i], variable) < 0)) return -1;
    }
    return 0;
}
