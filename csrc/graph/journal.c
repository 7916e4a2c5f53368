/* The journal: how a change is undone, exactly.
 *
 * While a graph keeps a journal (a History is attached, or an edit is under way), each change of an input leaves a note:
 * (reader, i, old variable, reason, client entries removed with their places, number of inputs before). Undoing takes the
 * notes from the end: the old variable is put back, which re-imports what was pruned and prunes what was new; then the
 * client entries go back to their places, so that no order depends on a proposal that was refused.
 * Relies on: edit, clients, notify. Relied on by: fgraph, the features History and ReplaceValidate. */
#include "graph/internal.h"

int graph_journal_start(FunctionGraph *graph)
{
    if (!graph->journal) graph->journal = PyList_New(0);
    return graph->journal ? 0 : -1;
}

void graph_journal_stop(FunctionGraph *graph) { Py_CLEAR(graph->journal); }

int journal_note(FunctionGraph *graph, PyObject *node, Py_ssize_t i, PyObject *old, PyObject *reason, PyObject *removals, Py_ssize_t n_inputs)
{
    if (!graph->journal || graph->is_reverting) return 0;
    PyObject *text = PyObject_Str(reason), *note = text ? Py_BuildValue("(OnOOOn)", node, i, old, text, removals, n_inputs) : NULL;
    int status = note ? PyList_Append(graph->journal, note) : -1;
    Py_XDECREF(note);
    Py_XDECREF(text);
    return status;
}

/* The entries' lists are complete again but for their order: entries that had been removed stand at the end. */
static int restore_places(FunctionGraph *graph, PyObject *removals)
{
    PyObject *present = PyList_New(0);
    int status = present ? 0 : -1;
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(removals); i++) {
        PyObject *note = PyList_GET_ITEM(removals, i);
        Py_ssize_t place;
        int dropped = clients_drop(graph, PyTuple_GET_ITEM(note, 0), PyTuple_GET_ITEM(note, 1), &place);
        status = dropped > 0 ? PyList_Append(present, note) : dropped;
    }
    for (Py_ssize_t i = present ? PyList_GET_SIZE(present) : 0; status == 0 && i-- > 0;) {
        PyObject *note = PyList_GET_ITEM(present, i);
        status = clients_put_back(graph, PyTuple_GET_ITEM(note, 0), PyTuple_GET_ITEM(note, 1), PyLong_AsSsize_t(PyTuple_GET_ITEM(note, 2)));
    }
    Py_XDECREF(present);
    return status;
}

/* Inputs that import_missing added, unless somebody reads them after all. */
static int drop_added_inputs(FunctionGraph *graph, Py_ssize_t n_inputs)
{
    for (Py_ssize_t i; (i = PyList_GET_SIZE(graph->inputs) - 1) >= n_inputs;) {
        PyObject *variable = PyList_GET_ITEM(graph->inputs, i);
        if (graph_count_clients(graph, variable)) return 0;
        if (PySet_Discard(graph->variables, variable) < 0 || clients_forget(graph, variable) < 0) return -1;
        if (PyList_SetSlice(graph->inputs, i, i + 1, NULL) < 0) return -1;
    }
    return 0;
}

/* 0: undone. 1: undone, and a listener raised. -1: could not be undone. */
static int undo_note(FunctionGraph *graph, PyObject *note)
{
    PyObject *node, *old, *text, *removals;
    Py_ssize_t i, n_inputs;
    if (!PyArg_ParseTuple(note, "OnOOOn:journal", &node, &i, &old, &text, &removals, &n_inputs)) return -1;
    PyObject *reason = Py_BuildValue("(sO)", "Revert", text), *error = NULL;
    int status = reason ? change_input(graph, node, i, old, reason, false, false) : -1;
    Py_XDECREF(reason);
    if (status != 0) error = graph_error_take();
    if (status >= 0 && (restore_places(graph, removals) < 0 || drop_added_inputs(graph, n_inputs) < 0)) {
        keep_first_error(&error);
        status = -1;
    }
    graph_error_give(error);
    return status;
}

/* Undoes the journal's entries from the end until `length` are left. 0; 1 with a listener's first exception, all undone
 * all the same; -1 when not all could be undone. */
static int undo_until(FunctionGraph *graph, Py_ssize_t length)
{
    bool was_reverting = graph->is_reverting;
    PyObject *error = NULL, *journal = Py_XNewRef(graph->journal);
    int status = 0;
    graph->is_reverting = true;
    while (status >= 0 && journal && PyList_GET_SIZE(journal) > length) {
        Py_ssize_t last = PyList_GET_SIZE(journal) - 1;
        PyObject *note = Py_NewRef(PyList_GET_ITEM(journal, last));
        int undone = PyList_SetSlice(journal, last, last + 1, NULL) < 0 ? -1 : undo_note(graph, note);
        if (undone < 0) Py_CLEAR(error); /* a listener's complaint is nothing to that */
        if (undone) keep_first_error(&error);
        status = undone < 0 ? -1 : status | undone;
        Py_DECREF(note);
    }
    graph->is_reverting = was_reverting;
    Py_XDECREF(journal);
    graph_error_give(error);
    return status;
}

long long graph_checkpoint(FunctionGraph *graph)
{
    if (!graph->journal) {
        PyErr_SetString(PyExc_ValueError, "this FunctionGraph keeps no history; attach a History");
        return -1;
    }
    if (PyList_SetSlice(graph->journal, 0, PyList_GET_SIZE(graph->journal), NULL) < 0) return -1;
    return ++graph->n_checkpoints;
}

int graph_revert(FunctionGraph *graph, long long checkpoint)
{
    if (graph->journal && checkpoint == graph->n_checkpoints) return undo_until(graph, 0) ? -1 : 0;
    PyErr_Format(PyExc_ValueError, "cannot revert to checkpoint %lld: the history goes back to checkpoint %lld only", checkpoint, graph->n_checkpoints);
    return -1;
}

/* --- edits that are done wholly or not at all --- */

/* Where an edit began; `is_own` when the journal is kept for it alone. */
typedef struct Mark {
    Py_ssize_t length;
    bool is_own;
} Mark;

static int mark_begin(FunctionGraph *graph, Mark *mark)
{
    mark->is_own = graph->journal == NULL;
    if (graph_journal_start(graph) < 0) return -1;
    mark->length = PyList_GET_SIZE(graph->journal);
    graph->edit_depth++;
    return 0;
}

/* Undoes the edit and keeps the exception that is set; a listener's one on the way is reported as unraisable. -1 when the
 * edit could not be undone for want of memory: that is the exception then. */
static int mark_undo(FunctionGraph *graph, const Mark *mark)
{
    PyObject *error = graph_error_take();
    int status = undo_until(graph, mark->length);
    if (status < 0) {
        Py_XDECREF(error);
        return -1;
    }
    if (status > 0) PyErr_WriteUnraisable((PyObject *)graph);
    graph_error_give(error);
    return 0;
}

static void mark_end(FunctionGraph *graph, const Mark *mark)
{
    graph->edit_depth--;
    if (mark->is_own) graph_journal_stop(graph);
}

int change_input_or_undo(FunctionGraph *graph, PyObject *node, Py_ssize_t i, PyObject *new_variable, PyObject *reason, bool import_missing, bool check)
{
    Mark mark;
    if (mark_begin(graph, &mark) < 0) return -1;
    int status = change_input(graph, node, i, new_variable, reason, import_missing, check);
    if (status != 0) (void)mark_undo(graph, &mark); /* an exception is set in either case */
    mark_end(graph, &mark);
    return status == 0 ? 0 : -1;
}

static int replace_in_readers(FunctionGraph *graph, PyObject *variable, PyObject *new_variable, PyObject *reason, bool import_missing)
{
    PyObject *list = clients_peek(graph, variable, false), *readers = list ? PySequence_List(list) : NULL;
    if (!readers) return PyErr_Occurred() ? -1 : 0;
    int status = 0;
    for (Py_ssize_t k = 0; status == 0 && k < PyList_GET_SIZE(readers); k++) {
        PyObject *client = PyList_GET_ITEM(readers, k);
        if (!PyTuple_Check(client) || PyTuple_GET_SIZE(client) != 2) {
            PyErr_Format(PyExc_TypeError, "%R is not an entry of a client list", client);
            status = -1;
            break;
        }
        Py_ssize_t i = PyLong_AsSsize_t(PyTuple_GET_ITEM(client, 1));
        status = i == -1 && PyErr_Occurred() ? -1 : change_input(graph, PyTuple_GET_ITEM(client, 0), i, new_variable, reason, import_missing, true);
    }
    Py_DECREF(readers);
    return status;
}

static int replace_step(FunctionGraph *graph, GraphState *state, PyObject *variable, PyObject *new_variable, PyObject *reason, bool import_missing)
{
    if (!is_variable(state, variable)) {
        PyErr_Format(PyExc_TypeError, "cannot replace %R, which is not a Variable", variable);
        return -1;
    }
    PyObject *fitted = type_filter_variable(state, as_variable(variable)->type, new_variable, true);
    if (!fitted) return -1;
    int has = PySet_Contains(graph->variables, variable);
    int status = has > 0 ? replace_in_readers(graph, variable, fitted, reason, import_missing) : has;
    Py_DECREF(fitted);
    return status;
}

int graph_replace(FunctionGraph *graph, PyObject *variable, PyObject *new_variable, PyObject *reason, bool import_missing)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    Mark mark;
    if (!state || mark_begin(graph, &mark) < 0) return -1;
    int status = replace_step(graph, state, variable, new_variable, reason, import_missing);
    if (status != 0) (void)mark_undo(graph, &mark); /* an exception is set in either case */
    mark_end(graph, &mark);
    return status == 0 ? 0 : -1;
}

/* Owned: what was proposed in the place of the old variable, as it reads. */
static PyObject *proposal_text(GraphState *state, PyObject *pairs)
{
    if (PyList_GET_SIZE(pairs) == 0) return PyUnicode_FromString("");
    PyObject *proposed = PySequence_GetItem(PyList_GET_ITEM(pairs, 0), 1);
    if (!proposed) return NULL;
    PyObject *owner = is_variable(state, proposed) ? owner_peek(proposed) : NULL, *text = PyObject_Str(owner ? owner : proposed);
    Py_DECREF(proposed);
    return text;
}

/* Appends the veto that is the current exception, which stays set. 0, or -1 with another exception in its place. */
static int note_veto(FunctionGraph *graph, GraphState *state, PyObject *pairs, PyObject *reason)
{
    PyObject *error = graph_error_take();
    PyObject *proposed = proposal_text(state, pairs), *why = proposed ? PyObject_Str(error) : NULL, *text = why ? PyObject_Str(reason) : NULL;
    PyObject *veto = text ? PyTuple_Pack(3, text, proposed, why) : NULL;
    int status = veto ? PyList_Append(graph->vetoes, veto) : -1;
    Py_XDECREF(veto);
    Py_XDECREF(text);
    Py_XDECREF(why);
    Py_XDECREF(proposed);
    if (status < 0) Py_DECREF(error);
    else graph_error_give(error);
    return status;
}

/* Prints with the words of sys.stdout. */
static int say_steal(PyObject *stolen_line)
{
    PyObject *out = stolen_line ? PySys_GetObject("stdout") : NULL;
    int status = stolen_line ? 0 : -1;
    if (out && out != Py_None) {
        Py_INCREF(out);
        status = PyFile_WriteObject(stolen_line, out, Py_PRINT_RAW);
        if (status == 0) status = PyFile_WriteString("\n", out);
        Py_DECREF(out);
    }
    Py_XDECREF(stolen_line);
    return status;
}

int replace_say(GraphState *state, PyObject *reason, PyObject *variable, PyObject *new_variable)
{
    if (!is_variable(state, variable) || !is_variable(state, new_variable)) return 0;
    return say_steal(PyUnicode_FromFormat("rewriting: rewrite %S replaces %S of %S with %S of %S", reason, variable, as_variable(variable)->owner,
                                          new_variable, as_variable(new_variable)->owner));
}

static int say_refused(PyObject *variable, PyObject *reason)
{
    PyObject *error = graph_error_take();
    int status = say_steal(PyUnicode_FromFormat("rewriting: validate failed on node %S.\n Reason: %S, %S", variable, reason, error));
    if (status < 0) Py_XDECREF(error);
    else graph_error_give(error);
    return status;
}

/* Owned: the pairs as a list of tuples. */
static PyObject *pairs_of(PyObject *pairs)
{
    PyObject *list = PySequence_List(pairs);
    for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(list); i++) {
        PyObject *pair = PySequence_Tuple(PyList_GET_ITEM(list, i));
        if (pair && PyTuple_GET_SIZE(pair) != 2) {
            PyErr_Format(PyExc_ValueError, "replacements are pairs (old, new), not %R", pair);
            Py_CLEAR(pair);
        }
        if (!pair || PyList_SetItem(list, i, pair) < 0) Py_CLEAR(list);
    }
    return list;
}

int graph_replace_all(FunctionGraph *graph, PyObject *pairs, PyObject *reason, bool verbose, bool import_missing, bool *vetoed)
{
    GraphState *state = graph_state_of((PyObject *)graph);
    PyObject *list = state ? pairs_of(pairs) : NULL, *variable = Py_None;
    Mark mark;
    *vetoed = false;
    /* A new checkpoint, so that the journal does not grow with every edit; an edit inside another one needs the other's notes. */
    if (list && graph->journal && !graph->edit_depth && graph_checkpoint(graph) < 0) Py_CLEAR(list);
    if (!list || mark_begin(graph, &mark) < 0) {
        Py_XDECREF(list);
        return -1;
    }
    int status = 0;
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(list); i++) {
        variable = PyTuple_GET_ITEM(PyList_GET_ITEM(list, i), 0);
        status = replace_step(graph, state, variable, PyTuple_GET_ITEM(PyList_GET_ITEM(list, i), 1), reason, import_missing);
    }
    if (status == 0 && (status = graph_validate(graph)) < 0) {
        if (PyErr_ExceptionMatches(state->InconsistencyError)) *vetoed = note_veto(graph, state, list, reason) == 0;
        if (verbose && say_refused(variable, reason) < 0) *vetoed = false;
    }
    if (status != 0 && mark_undo(graph, &mark) < 0) *vetoed = false;
    mark_end(graph, &mark);
    if (status == 0 && verbose && PyList_GET_SIZE(list))
        status = replace_say(state, reason, variable, PyTuple_GET_ITEM(PyList_GET_ITEM(list, PyList_GET_SIZE(list) - 1), 1));
    Py_DECREF(list);
    return status == 0 ? 0 : -1;
}

int graph_replace_validate(FunctionGraph *graph, PyObject *pairs, PyObject *reason)
{
    bool vetoed;
    if (graph_replace_all(graph, pairs, reason, false, false, &vetoed) == 0) return 0;
    if (!vetoed) return -1;
    PyErr_Clear();
    return 1;
}
