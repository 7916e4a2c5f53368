/* scan_save_mem (position 1.61): loops keep only the steps that are read.
 *
 *     before   Subtensor{int64}(Subtensor{int64:}(for(100, IncSubtensor{Set;:int64:}(AllocEmpty(101), x0, 1)).0, 1), -1)
 *     after    the same with AllocEmpty(2): one row for the past, one for the last step
 *
 * An output is shortened when all its clients read it from the end: out[-k], out[-k:], and for a state with L rows of past also
 * out[L:][-k] and out[L:][-k:], k a constant. Its buffer gets min(n_steps + L, k + L) rows, a path min(n_steps, k); the
 * loop uses them as a ring. The clients stay as they are: counted from the end, the rows that they read are the same, and where there
 * are fewer than k steps, the buffer is as long as it would have been, so that lengths and IndexErrors are too.
 *
 * A state of a known number of steps n whose clients read no row of its past loses these rows alone, and the views behind them:
 *
 *     before   Subtensor{int64:}(for(100, IncSubtensor{Set;:int64:}(AllocEmpty(101), x0, 1)).0, 1)
 *     after    for(100, IncSubtensor{Set;:int64:}(AllocEmpty(100), x0, 1)).0
 *
 * As a ring, such a buffer ends with the last n rows (the program needs not turn it: lower/lower_past.c).
 * An output without clients (scan_prune kept it for others' sake) counts as read with k = 1.
 *
 * It runs after the bodies have settled (prune, push-out) and before merge and folding run again, which turn the new
 * lengths into numbers; before the in-place passes, which make the buffers the loop's own.
 *
 * Relies on: scan_edit, shape. Relied on by: the driver. */
#include "rewrite/scan_edit.h"
#include "rewrite/shape.h"

#define REASON "scan_save_mem"

/* ---- how far back an output is read ---- */

/* What one Subtensor's first index does to an axis whose end is all that may be read. */
typedef enum Reading { READING_OTHER, READING_END, READING_FROM } Reading;

/* READING_END: the last *k rows at most; READING_FROM: all rows from *k on; -1 with an exception. */
static int read_first_index(GraphState *state, PyObject *node, Py_ssize_t *k)
{
    IndexReader reader = {.node = node, .i_input = 1};
    IndexEntry entry;
    Py_ssize_t step = 1;
    int result = index_reader_next(&reader, &entry);
    if (result == 0) result = READING_OTHER;
    else if (result > 0 && entry.start == NULL) result = READING_OTHER;
    else if (result > 0) {
        int known = rewrite_constant_int(state, entry.start, k);
        if (known > 0 && entry.step != NULL) known = rewrite_constant_int(state, entry.step, &step);
        if (known < 0) result = -1;
        else if (known == 0 || entry.stop != NULL || step < 1) result = READING_OTHER;
        else if (*k < 0) {
            *k = -*k;
            result = READING_END;
        } else {
            result = entry.is_slice && step == 1 && PyTuple_GET_SIZE(reader.idx_list) == 1 ? READING_FROM : READING_OTHER;
        }
    }
    index_reader_clear(&reader);
    return result;
}

/* How a client reads the variable, with *rows as for read_first_index and *client the node; -1 with an exception. */
static int read_client(GraphState *state, PyObject *entry, PyObject **client, Py_ssize_t *rows)
{
    *client = PyTuple_GET_ITEM(entry, 0);
    if (PyUnicode_Check(*client) || PyLong_AsSsize_t(PyTuple_GET_ITEM(entry, 1)) != 0) return READING_OTHER;
    int kind = rewrite_kind(state, *client);
    if (kind != OP_SUBTENSOR) return kind < 0 ? -1 : READING_OTHER;
    return read_first_index(state, *client, rows);
}

/* 1 when all clients read the variable from its end, with *k the farthest; 0; or -1. A view out[past:] is looked through. */
static int reads_end(FunctionGraph *graph, GraphState *state, PyObject *variable, Py_ssize_t past, Py_ssize_t *k)
{
    PyObject *clients = graph_peek_clients(graph, variable), *client;
    for (Py_ssize_t i = 0; clients != NULL && i < PyList_GET_SIZE(clients); i++) {
        Py_ssize_t rows = 0;
        int reading = read_client(state, PyList_GET_ITEM(clients, i), &client, &rows);
        if (reading < 0) return -1;
        if (reading == READING_OTHER) return 0;
        if (reading == READING_FROM) {
            if (past == 0 || rows != past) return 0;
            int inner = reads_end(graph, state, node_output(client, 0), 0, k);
            if (inner <= 0) return inner;
        } else if (rows > *k) {
            *k = rows;
        }
    }
    return 1;
}

/* 1 when no client reads the past of a state with n steps: each reads out[past:], or one of the last n rows from the end; 0; or -1.
 * `views` gets the outputs of the former. */
static int reads_behind(FunctionGraph *graph, GraphState *state, PyObject *variable, Py_ssize_t past, Py_ssize_t n, PyObject *views)
{
    PyObject *clients = graph_peek_clients(graph, variable), *client;
    for (Py_ssize_t i = 0; clients != NULL && i < PyList_GET_SIZE(clients); i++) {
        Py_ssize_t rows = 0;
        int reading = read_client(state, PyList_GET_ITEM(clients, i), &client, &rows);
        if (reading < 0) return -1;
        if (reading == READING_END && rows <= n) continue;
        if (reading != READING_FROM || rows != past) return 0;
        int same = PyObject_RichCompareBool(variable_type(node_output(client, 0)), variable_type(variable), Py_EQ);
        if (same <= 0) return same;
        if (PyList_Append(views, node_output(client, 0)) < 0) return -1;
    }
    return clients != NULL && PyList_GET_SIZE(views) > 0;
}

/* ---- shorter buffers ---- */

/* Owned: min(length, rows); NULL without an exception when the length is no longer than that, or with one. */
static PyObject *shorter_length_new(GraphState *state, PyObject *length, Py_ssize_t rows)
{
    Py_ssize_t value;
    int known = rewrite_constant_int(state, length, &value);
    if (known < 0 || (known > 0 && value <= rows)) return NULL;
    if (known > 0) return rewrite_make_int(variable_type(length), rows);
    PyObject *tensor = PyImport_ImportModule("pyscan.tensor");
    PyObject *shorter = tensor == NULL ? NULL : PyObject_CallMethod(tensor, "minimum", "On", length, rows);
    Py_XDECREF(tensor);
    return shorter;
}

/* Owned: the node again with one input changed. */
static PyObject *with_input_new(PyObject *node, Py_ssize_t i_input, PyObject *variable)
{
    PyObject *made = NULL, *inputs = PyList_GetSlice(as_apply(node)->inputs, 0, node_n_inputs(node));
    if (inputs != NULL && PyList_SetItem(inputs, i_input, Py_NewRef(variable)) == 0) made = rewrite_make_node(as_apply(node)->op, inputs, node);
    Py_XDECREF(inputs);
    return made;
}

/* 1 or 0, or -1: the variable is a fresh buffer whose first rows are set: IncSubtensor{Set;:L}(AllocEmpty(rows, ...),
 * initial). */
static int is_state_buffer(GraphState *state, PyObject *variable)
{
    int made = rewrite_is_made_by(state, variable, OP_INC_SUBTENSOR);
    if (made <= 0) return made;
    PyObject *node = variable_owner(variable);
    made = rewrite_flag(as_apply(node)->op, "set_instead_of_inc");
    if (made > 0) made = rewrite_is_made_by(state, node_input(node, 0), OP_ALLOC_EMPTY);
    if (made <= 0) return made;
    IndexReader reader = {.node = node, .i_input = 2};
    IndexEntry entry;
    int result = index_reader_next(&reader, &entry);
    if (result > 0) {
        bool is_head = entry.is_slice && entry.start == NULL && entry.stop != NULL && entry.step == NULL;
        result = is_head && PyTuple_GET_SIZE(reader.idx_list) == 1;
    }
    index_reader_clear(&reader);
    return result;
}

/* Owned: the state's buffer with that many rows at most; NULL without an exception when nothing changes, or with one. */
static PyObject *shorter_state_new(GraphState *state, PyObject *buffer, Py_ssize_t rows)
{
    PyObject *result = NULL, *length = NULL, *empty = NULL, *filled = NULL;
    if (is_state_buffer(state, buffer) <= 0) return NULL;
    PyObject *fill = variable_owner(buffer), *allocation = variable_owner(node_input(fill, 0));
    if (node_n_inputs(allocation) == 0) return NULL;
    if ((length = shorter_length_new(state, node_input(allocation, 0), rows)) == NULL) return NULL;
    if ((empty = with_input_new(allocation, 0, length)) == NULL) goto done;
    if ((filled = with_input_new(fill, 0, node_output(empty, 0))) == NULL) goto done;
    result = Py_NewRef(node_output(filled, 0));
done:
    Py_XDECREF(filled);
    Py_XDECREF(empty);
    Py_DECREF(length);
    return result;
}

/* ---- the pass ---- */

/* 1 when the state's buffer is known to have that many rows, else 0; or -1. */
static int has_rows(GraphState *state, PyObject *buffer, Py_ssize_t rows)
{
    Py_ssize_t length;
    int found = is_state_buffer(state, buffer);
    if (found <= 0) return found;
    PyObject *allocation = variable_owner(node_input(variable_owner(buffer), 0));
    if (node_n_inputs(allocation) == 0) return 0;
    found = rewrite_constant_int(state, node_input(allocation, 0), &length);
    return found > 0 ? length == rows : found;
}

/* Takes the rows of the past from a state's buffer: 1 when the list of new inputs was changed, and the views out[past:] that the new
 * output stands for were added as pairs (view, number of the output); 0; or -1. */
static int drop_past(FunctionGraph *graph, GraphState *state, PyObject *node, const ScanLayout *layout, Py_ssize_t output, PyObject *inputs, PyObject *pairs)
{
    Py_ssize_t n, past = layout->past[output], i_input = scan_outer_input_of_output(layout, output);
    PyObject *old = node_input(node, i_input), *views = NULL, *shorter = NULL;
    int result = rewrite_constant_int(state, node_input(node, 0), &n);
    if (result > 0) result = past > 0 && n >= past && n <= PTRDIFF_MAX - past ? has_rows(state, old, n + past) : 0;
    if (result <= 0) return result;
    result = (views = PyList_New(0)) == NULL ? -1 : reads_behind(graph, state, node_output(node, output), past, n, views);
    if (result > 0 && (shorter = shorter_state_new(state, old, n)) == NULL) result = PyErr_Occurred() ? -1 : 0;
    for (Py_ssize_t i = 0; result > 0 && i < PyList_GET_SIZE(views); i++) {
        PyObject *pair = Py_BuildValue("(On)", PyList_GET_ITEM(views, i), output);
        if (pair == NULL || PyList_Append(pairs, pair) < 0) result = -1;
        Py_XDECREF(pair);
    }
    if (result > 0 && PyList_SetItem(inputs, i_input, Py_NewRef(shorter)) < 0) result = -1;
    Py_XDECREF(shorter);
    Py_XDECREF(views);
    return result;
}

/* Shortens one output: 1 when the list of new inputs was changed, 0, or -1. */
static int shorten_output(FunctionGraph *graph, GraphState *state, PyObject *node, const ScanLayout *layout, Py_ssize_t output, PyObject *inputs, PyObject *pairs)
{
    bool is_recurrent = output < layout->n_recurrent;
    Py_ssize_t past = is_recurrent ? layout->past[output] : 0, k = 1, i_input = scan_outer_input_of_output(layout, output);
    int readable = reads_end(graph, state, node_output(node, output), past, &k);
    if (readable == 0 && is_recurrent && !layout->as_while) return drop_past(graph, state, node, layout, output, inputs, pairs);
    if (readable <= 0 || k > PTRDIFF_MAX - past) return readable < 0 ? -1 : 0;
    PyObject *old = node_input(node, i_input);
    PyObject *shorter = is_recurrent ? shorter_state_new(state, old, k + past) : shorter_length_new(state, old, k);
    if (shorter == NULL) return PyErr_Occurred() ? -1 : 0;
    return PyList_SetItem(inputs, i_input, shorter) < 0 ? -1 : 1;
}

/* Puts the new node in place of the old one, and its outputs in place of the views (pairs of a view and an output's number): 1, 0 or -1. */
static int replace_shortened(FunctionGraph *graph, PyObject *node, PyObject *new_node, PyObject *views)
{
    PyObject *pairs = PyList_New(0);
    int result = pairs == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; result == 0 && i < node_n_outputs(node); i++)
        if (graph_count_clients(graph, node_output(node, i)) > 0) result = rewrite_add_pair(pairs, node_output(node, i), node_output(new_node, i));
    for (Py_ssize_t i = 0; result == 0 && i < PyList_GET_SIZE(views); i++) {
        PyObject *view = PyTuple_GET_ITEM(PyList_GET_ITEM(views, i), 0);
        PyObject *output = node_output(new_node, PyLong_AsSsize_t(PyTuple_GET_ITEM(PyList_GET_ITEM(views, i), 1)));
        if (((Variable *)output)->name == Py_None) Py_SETREF(((Variable *)output)->name, Py_NewRef(((Variable *)view)->name));
        result = rewrite_add_pair(pairs, view, output);
    }
    if (result == 0) result = rewrite_replace_all(graph, pairs, REASON);
    Py_XDECREF(pairs);
    return result;
}

/* The number of outputs shortened, or -1. */
static Py_ssize_t shorten_node(FunctionGraph *graph, RewriteContext *context, PyObject *node)
{
    ScanLayout layout = {0};
    PyObject *inputs = NULL, *views = NULL, *made = NULL;
    Py_ssize_t n_changes = -1;
    if (scan_layout_init(&layout, node) < 0) goto done;
    if ((views = PyList_New(0)) == NULL || (inputs = PyList_GetSlice(as_apply(node)->inputs, 0, node_n_inputs(node))) == NULL) goto done;
    n_changes = 0;
    for (Py_ssize_t k = layout.n_mit_mot; n_changes >= 0 && k < layout.n_recurrent + layout.n_nit_sot; k++) {
        int done = shorten_output(graph, context->state, node, &layout, k, inputs, views);
        n_changes = done < 0 ? -1 : n_changes + done;
    }
    if (n_changes <= 0) goto done;
    made = rewrite_make_node(as_apply(node)->op, inputs, node);
    int replaced = made == NULL ? -1 : replace_shortened(graph, node, made, views);
    if (replaced <= 0) n_changes = replaced;
done:
    Py_XDECREF(made);
    Py_XDECREF(views);
    Py_XDECREF(inputs);
    scan_layout_clear(&layout);
    return n_changes;
}

Py_ssize_t rewrite_scan_save_memory(FunctionGraph *graph, RewriteContext *context)
{
    PyObject *scans = scan_nodes_new(graph, context->state);
    Py_ssize_t n_changes = scans == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; n_changes >= 0 && i < PyList_GET_SIZE(scans); i++) {
        PyObject *node = PyList_GET_ITEM(scans, i);
        int present = rewrite_has_node(graph, node);
        Py_ssize_t done = present > 0 ? shorten_node(graph, context, node) : present;
        n_changes = done < 0 ? -1 : n_changes + done;
    }
    Py_XDECREF(scans);
    return n_changes;
}
