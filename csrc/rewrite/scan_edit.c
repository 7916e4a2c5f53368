/* Loops as the passes see them. See scan_edit.h.
 *
 * Relies on: common. Relied on by: scan_prune.c, scan_push_out.c, scan_save_memory.c, scan_inplace.c. */
#include "rewrite/scan_edit.h"

#include "base/mem.h"

/* ---- the layout ---- */

static int read_count(PyObject *info, const char *name, Py_ssize_t *count)
{
    int found = rewrite_attribute_int(info, name, count);
    if (found == 0) PyErr_Format(PyExc_AttributeError, "%R has no number '%s'.", info, name);
    return found > 0 ? 0 : -1;
}

/* Owned: the attribute as a tuple of tuples of taps. */
static PyObject *taps_new(PyObject *info, const char *name)
{
    PyObject *value = PyObject_GetAttrString(info, name), *tuple = NULL;
    if (value != NULL) tuple = PySequence_Tuple(value);
    Py_XDECREF(value);
    return tuple;
}

/* How many taps one state has, and the largest step back among them. */
static int read_taps(PyObject *taps, Py_ssize_t *n_taps, Py_ssize_t *past)
{
    PyObject *items = PySequence_Tuple(taps);
    if (items == NULL) return -1;
    *n_taps = PyTuple_GET_SIZE(items);
    *past = 0;
    for (Py_ssize_t i = 0; i < *n_taps; i++) {
        Py_ssize_t tap = PyNumber_AsSsize_t(PyTuple_GET_ITEM(items, i), PyExc_OverflowError);
        if (tap == -1 && PyErr_Occurred()) break;
        if (-tap > *past) *past = -tap;
    }
    Py_DECREF(items);
    return PyErr_Occurred() ? -1 : 0;
}

static int count_taps(PyObject *states, Py_ssize_t *total)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(states); i++) {
        Py_ssize_t n_taps, past;
        if (read_taps(PyTuple_GET_ITEM(states, i), &n_taps, &past) < 0) return -1;
        *total += n_taps;
    }
    return 0;
}

/* Fills the tables for the states of one kind; *i_inner and *i_output run on. */
static int fill_taps(ScanLayout *layout, PyObject *states, Py_ssize_t *i_inner, Py_ssize_t *i_output)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(states); i++, (*i_output)++) {
        Py_ssize_t n_taps;
        if (read_taps(PyTuple_GET_ITEM(states, i), &n_taps, &layout->past[*i_output]) < 0) return -1;
        for (Py_ssize_t k = 0; k < n_taps; k++) layout->output_of_inner[(*i_inner)++] = *i_output;
    }
    return 0;
}

static int fill_tables(ScanLayout *layout, PyObject *const states[3])
{
    Py_ssize_t i_inner = 0, i_output = 0;
    layout->output_of_inner = mem_calloc((size_t)layout->n_inner_inputs + 1, sizeof *layout->output_of_inner);
    layout->past = mem_calloc((size_t)layout->n_recurrent + 1, sizeof *layout->past);
    if (layout->output_of_inner == NULL || layout->past == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (; i_inner < layout->n_seqs; i_inner++) layout->output_of_inner[i_inner] = -1;
    for (int kind = 0; kind < 3; kind++) {
        if (fill_taps(layout, states[kind], &i_inner, &i_output) < 0) return -1;
    }
    layout->inner_shared = i_inner;
    for (Py_ssize_t i = 0; i < layout->n_shared; i++) layout->output_of_inner[i_inner++] = layout->n_recurrent + layout->n_nit_sot + i;
    layout->inner_non_seqs = i_inner;
    for (; i_inner < layout->n_inner_inputs; i_inner++) layout->output_of_inner[i_inner] = -1;
    return 0;
}

static int read_info(ScanLayout *layout, PyObject *info, PyObject *states[3])
{
    Py_ssize_t n_taps = 0;
    if (read_count(info, "n_seqs", &layout->n_seqs) < 0 || read_count(info, "n_nit_sot", &layout->n_nit_sot) < 0 ||
        read_count(info, "n_shared_outs", &layout->n_shared) < 0 || read_count(info, "n_non_seqs", &layout->n_non_seqs) < 0) {
        return -1;
    }
    int as_while = rewrite_flag(info, "as_while");
    if (as_while < 0) return -1;
    layout->as_while = as_while;
    if ((states[0] = taps_new(info, "mit_mot_in_slices")) == NULL || (states[1] = taps_new(info, "mit_sot_in_slices")) == NULL ||
        (states[2] = taps_new(info, "sit_sot_in_slices")) == NULL) {
        return -1;
    }
    layout->n_mit_mot = PyTuple_GET_SIZE(states[0]);
    layout->n_mit_sot = PyTuple_GET_SIZE(states[1]);
    layout->n_sit_sot = PyTuple_GET_SIZE(states[2]);
    layout->has_mit_mot = layout->n_mit_mot > 0;
    layout->n_recurrent = layout->n_mit_mot + layout->n_mit_sot + layout->n_sit_sot;
    layout->n_outputs = layout->n_recurrent + layout->n_nit_sot + layout->n_shared;
    layout->outer_shared = 1 + layout->n_seqs + layout->n_recurrent;
    layout->outer_lengths = layout->outer_shared + layout->n_shared;
    layout->outer_non_seqs = layout->outer_lengths + layout->n_nit_sot;
    layout->n_outer_inputs = layout->outer_non_seqs + layout->n_non_seqs;
    for (int kind = 0; kind < 3; kind++) {
        if (count_taps(states[kind], &n_taps) < 0) return -1;
    }
    layout->n_inner_inputs = layout->n_seqs + n_taps + layout->n_shared + layout->n_non_seqs;
    return 0;
}

int scan_layout_init(ScanLayout *layout, PyObject *node)
{
    PyObject *states[3] = {NULL, NULL, NULL}, *info = PyObject_GetAttrString(as_apply(node)->op, "info");
    int result = -1;
    if (info == NULL || read_info(layout, info, states) < 0 || fill_tables(layout, states) < 0) goto done;
    if (layout->n_outer_inputs != node_n_inputs(node) || layout->n_outputs != node_n_outputs(node)) {
        PyErr_Format(PyExc_ValueError, "The inputs and outputs of %R do not match its ScanInfo.", as_apply(node)->op);
        goto done;
    }
    result = 0;
done:
    for (int kind = 0; kind < 3; kind++) Py_XDECREF(states[kind]);
    Py_XDECREF(info);
    return result;
}

void scan_layout_clear(ScanLayout *layout)
{
    mem_free(layout->output_of_inner);
    mem_free(layout->past);
    layout->output_of_inner = layout->past = NULL;
}

Py_ssize_t scan_outer_input_of_output(const ScanLayout *layout, Py_ssize_t output)
{
    if (output < layout->n_recurrent) return 1 + layout->n_seqs + output;
    output -= layout->n_recurrent;
    if (output < layout->n_nit_sot) return layout->outer_lengths + output;
    return layout->outer_shared + output - layout->n_nit_sot;
}

Py_ssize_t scan_outer_input_of_inner(const ScanLayout *layout, Py_ssize_t inner_input)
{
    if (inner_input < layout->n_seqs) return 1 + inner_input;
    if (inner_input >= layout->inner_non_seqs) return layout->outer_non_seqs + inner_input - layout->inner_non_seqs;
    return scan_outer_input_of_output(layout, layout->output_of_inner[inner_input]);
}

/* ---- bodies and rebuilt loops ---- */

FunctionGraph *scan_body_new(PyObject *node, RewriteContext *context)
{
    PyObject *raw = PyObject_GetAttrString(as_apply(node)->op, "fgraph"), *copy = NULL;
    if (raw == NULL) return NULL;
    if (!PyObject_TypeCheck(raw, context->state->FunctionGraph)) {
        PyErr_Format(PyExc_TypeError, "The fgraph of %R is not a FunctionGraph.", as_apply(node)->op);
    } else {
        copy = graph_clone((FunctionGraph *)raw, false, NULL);
    }
    Py_DECREF(raw);
    if (copy != NULL && rewrite_merge((FunctionGraph *)copy, context) < 0) Py_CLEAR(copy);
    return (FunctionGraph *)copy;
}

PyObject *scan_info_replace(PyObject *info, PyObject *changes)
{
    PyObject *replace = PyObject_GetAttrString(info, "__replace__"), *arguments = NULL, *result = NULL;
    if (replace != NULL) arguments = PyTuple_New(0);
    if (arguments != NULL) result = PyObject_Call(replace, arguments, changes);
    Py_XDECREF(arguments);
    Py_XDECREF(replace);
    return result;
}

PyObject *scan_op_rebuild(PyObject *op, PyObject *info, PyObject *inner_inputs, PyObject *inner_outputs)
{
    PyObject *method = PyObject_GetAttrString(op, "rebuild"), *arguments = NULL, *keywords = NULL, *result = NULL;
    if (method != NULL) arguments = PyTuple_New(0);
    if (arguments != NULL) {
        keywords = Py_BuildValue("{sOsOsO}", "info", info, "inner_inputs", inner_inputs, "inner_outputs", inner_outputs);
    }
    if (keywords != NULL) result = PyObject_Call(method, arguments, keywords);
    Py_XDECREF(keywords);
    Py_XDECREF(arguments);
    Py_XDECREF(method);
    return result;
}

PyObject *scan_nodes_new(FunctionGraph *graph, GraphState *state)
{
    PyObject *order = graph_toposort(graph), *scans = order == NULL ? NULL : PyList_New(0);
    for (Py_ssize_t i = 0; scans != NULL && i < PyList_GET_SIZE(order); i++) {
        PyObject *node = PyList_GET_ITEM(order, i);
        int kind = rewrite_kind(state, node);
        if (kind < 0 || (kind == OP_SCAN && PyList_Append(scans, node) < 0)) Py_CLEAR(scans);
    }
    Py_XDECREF(order);
    return scans;
}
