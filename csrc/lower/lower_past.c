/* Buffers without rows for the past of a state.
 *
 * scan_save_mem takes these rows from a buffer when nobody reads them (rewrite/scan_save_memory.c): the printed loop has
 * `AllocEmpty(n)` for n steps, and no `[past:]` behind it. As a ring of n rows it would overwrite the first of them in the last
 * steps, and have to be turned. So the program gives the buffer the rows that it lacks, and shows what lies behind them:
 *
 *     %1 = empty n + past;  %2 = set_slice [:past] %1, start;  loop: row0: %3 from %2, in place;  %4 = slice [past:] %3
 *
 * which is also the form that results of the caller's are made in (program/paths.c). Relies on: build. Relied on by:
 * lower_shape.c, lower_scan.c. */
#include "lower/build.h"

/* Lent: the one node that reads the variable, as its input *i_input; NULL when there are others, or it is an output. */
static PyObject *find_reader(const Builder *builder, PyObject *variable, Py_ssize_t *i_input)
{
    PyObject *clients = builder->graph == NULL ? NULL : graph_peek_clients(builder->graph, variable), *entry;

    if (clients == NULL || PyList_GET_SIZE(clients) != 1) return NULL;
    entry = PyList_GET_ITEM(clients, 0);
    *i_input = PyLong_AsSsize_t(PyTuple_GET_ITEM(entry, 1));
    return PyUnicode_Check(PyTuple_GET_ITEM(entry, 0)) ? NULL : PyTuple_GET_ITEM(entry, 0);
}

/* The most distant of one state's taps, as a number of rows; or -1. */
static int64_t find_farthest(PyObject *taps)
{
    int64_t past = 0;

    if (!PyTuple_Check(taps)) return 0; /* lower_scan.c refuses it */
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(taps); i++) {
        int64_t tap = PyLong_AsLongLong(PyTuple_GET_ITEM(taps, i));
        if (tap == -1 && PyErr_Occurred()) return -1;
        if (-tap > past) past = -tap;
    }
    return past;
}

/* The past rows of the state that starts from input i_input of a loop; 0: that input is no state's, or the loop may end early;
 * or -1. */
static int64_t read_past(PyObject *scan, Py_ssize_t i_input)
{
    PyObject *info = PyObject_GetAttrString(node_op(scan), "info"), *slices = info == NULL ? NULL : lower_read_taps(info);
    int64_t n_seqs, i_state, past = -1;
    bool may_end;

    if (slices != NULL && build_read_int(info, "n_seqs", &n_seqs) == 0 && build_read_bool(info, "as_while", &may_end) == 0) {
        i_state = i_input - 1 - n_seqs;
        past = may_end || i_state < 0 || i_state >= PyTuple_GET_SIZE(slices) ? 0 : find_farthest(PyTuple_GET_ITEM(slices, i_state));
    }
    Py_XDECREF(slices);
    Py_XDECREF(info);
    return past;
}

/* 1 if the node sets the first `past` rows of its first input, else 0; or -1. */
static int sets_head(PyObject *write, int64_t past)
{
    bool sets;
    int64_t stop;
    int result = build_read_bool(node_op(write), "set_instead_of_inc", &sets);
    PyObject *list = result < 0 || !sets || node_n_inputs(write) != 3 ? NULL : PyObject_GetAttrString(node_op(write), "idx_list"), *entry;

    if (list == NULL) return result < 0 || PyErr_Occurred() ? -1 : 0;
    entry = PyTuple_Check(list) && PyTuple_GET_SIZE(list) == 1 ? PyTuple_GET_ITEM(list, 0) : Py_None;
    if (PyTuple_Check(entry) && PyTuple_GET_SIZE(entry) == 3)
        result = PyObject_IsTrue(PyTuple_GET_ITEM(entry, 0)) == 0 && PyObject_IsTrue(PyTuple_GET_ITEM(entry, 1)) == 1 && PyObject_IsTrue(PyTuple_GET_ITEM(entry, 2)) == 0;
    Py_DECREF(list);
    if (result == 1) result = build_read_constant(node_input(write, 2), &stop);
    return result == 1 ? stop == past : result;
}

int64_t lower_find_past(Builder *builder, PyObject *node)
{
    Py_ssize_t i_write, i_scan;
    PyObject *write = node_n_inputs(node) == 0 ? NULL : find_reader(builder, node_output(node, 0), &i_write), *scan;
    int64_t past, length, n_steps;
    int found = write == NULL || i_write != 0 ? 0 : build_is_kind(write, OP_INC_SUBTENSOR);

    scan = found == 1 ? find_reader(builder, node_output(write, 0), &i_scan) : NULL;
    if (scan == NULL || (found = build_is_kind(scan, OP_SCAN)) != 1) return found < 0 ? -1 : 0;
    past = read_past(scan, i_scan);
    found = past <= 0 ? (int)past : sets_head(write, past);
    if (found == 1) found = build_read_constant(node_input(node, 0), &length);
    if (found == 1) found = build_read_constant(node_input(scan, 0), &n_steps);
    if (found != 1) return found;
    return length == n_steps && length >= past ? past : 0;
}
