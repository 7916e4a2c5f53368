/* The data behind DestroyHandler: roots, views and destroyers, updated by each event at the cost of the event.
 *
 * An Op's maps are read once, when its node is imported: the node keeps what it was imported with.
 * Relies on: destroy.h. Relied on by: destroy.c, destroy_order.c, supervisor.c. */
#include "features/destroy.h"

/* --- the object --- */

static PyObject **state_member(DestroyState *destroy, size_t i)
{
    PyObject **members[] = {&destroy->maps, &destroy->destroyers, &destroy->root_of, &destroy->views, &destroy->destroyer_of,
                            &destroy->crowded, &destroy->touched, &destroy->fresh, &destroy->unsupervised, &destroy->labels};
    return i < sizeof members / sizeof *members ? members[i] : NULL;
}

static int state_traverse(PyObject *self, visitproc visit, void *arg)
{
    PyObject **member;
    Py_VISIT(Py_TYPE(self));
    for (size_t i = 0; (member = state_member((DestroyState *)self, i)); i++) Py_VISIT(*member);
    return 0;
}

static int state_clear(PyObject *self)
{
    PyObject **member;
    for (size_t i = 0; (member = state_member((DestroyState *)self, i)); i++) Py_CLEAR(*member);
    return 0;
}

static void state_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    (void)state_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyType_Slot state_slots[] = {
    {Py_tp_doc, "What a DestroyHandler knows of its graph."},
    {Py_tp_dealloc, state_dealloc},
    {Py_tp_traverse, state_traverse},
    {Py_tp_clear, state_clear},
    {0, NULL},
};
static PyType_Spec state_spec = {"pyscan._core.DestroyState", sizeof(DestroyState), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, state_slots};

int destroy_state_exec(PyObject *module, GraphState *state)
{
    state->DestroyState = (PyTypeObject *)PyType_FromModuleAndSpec(module, &state_spec, NULL);
    return state->DestroyState ? 0 : -1;
}

PyObject *destroy_state_new(GraphState *state)
{
    DestroyState *destroy = (DestroyState *)state->DestroyState->tp_alloc(state->DestroyState, 0);
    PyObject **member;
    if (!destroy) return NULL;
    destroy->n_protected = destroy->n_outputs = -1;
    for (size_t i = 0; (member = state_member(destroy, i)); i++)
        if (!(*member = PyDict_New())) {
            Py_DECREF(destroy);
            return NULL;
        }
    return (PyObject *)destroy;
}

/* --- small steps --- */

static int mark(PyObject *dict, PyObject *key) { return PyDict_SetItem(dict, key, Py_True); }

/* Takes a key away that may not be there. */
static int unmark(PyObject *dict, PyObject *key)
{
    int has = PyDict_Contains(dict, key);
    return has <= 0 ? has : PyDict_DelItem(dict, key);
}

PyObject *destroy_root(DestroyState *destroy, PyObject *variable)
{
    PyObject *root = PyDict_GetItemWithError(destroy->root_of, variable);
    return root || PyErr_Occurred() ? root : variable;
}

PyObject *destroy_destroyers(DestroyState *destroy, PyObject *root) { return PyDict_GetItemWithError(destroy->destroyer_of, root); }

static int mark_fresh(DestroyState *destroy, PyObject *root) { return mark(destroy->fresh, root) < 0 ? -1 : mark(destroy->unsupervised, root); }

/* Lent: the dict or list that the table has for the key, made when there is none. */
static PyObject *entry_of(PyObject *table, PyObject *key, PyObject *(*make)(void))
{
    PyObject *entry = PyDict_GetItemWithError(table, key);
    if (entry || PyErr_Occurred()) return entry;
    entry = make();
    int status = entry ? PyDict_SetItem(table, key, entry) : -1;
    Py_XDECREF(entry); /* the table holds it */
    return status < 0 ? NULL : entry;
}

static PyObject *make_list(void) { return PyList_New(0); }

static int add_destroyer(DestroyState *destroy, PyObject *root, PyObject *node)
{
    PyObject *nodes = entry_of(destroy->destroyer_of, root, make_list);
    if (!nodes || PyList_Append(nodes, node) < 0) return -1;
    if (PyList_GET_SIZE(nodes) > 1 && mark(destroy->crowded, root) < 0) return -1;
    return mark_fresh(destroy, root);
}

static int drop_destroyer(DestroyState *destroy, PyObject *root, PyObject *node)
{
    PyObject *nodes = destroy_destroyers(destroy, root);
    if (!nodes) return PyErr_Occurred() ? -1 : 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(nodes); i++) {
        if (PyList_GET_ITEM(nodes, i) != node) continue;
        if (PyList_SetSlice(nodes, i, i + 1, NULL) < 0) return -1;
        break;
    }
    Py_ssize_t n = PyList_GET_SIZE(nodes);
    if (n < 2 && unmark(destroy->crowded, root) < 0) return -1;
    return n ? 0 : PyDict_DelItem(destroy->destroyer_of, root);
}

/* Appends what shows one variable directly and was not seen yet. */
static int append_views(DestroyState *destroy, PyObject *variable, PyObject *impact, PyObject *seen)
{
    PyObject *shown = PyDict_GetItemWithError(destroy->views, variable), *view, *unused;
    if (!shown) return PyErr_Occurred() ? -1 : 0;
    for (Py_ssize_t at = 0; PyDict_Next(shown, &at, &view, &unused);) {
        int known = PySet_Contains(seen, view);
        if (known < 0 || (!known && (PySet_Add(seen, view) < 0 || PyList_Append(impact, view) < 0))) return -1;
    }
    return 0;
}

/* An edit may for a time have made a circle of views, so each is followed once. */
PyObject *destroy_impact(DestroyState *destroy, PyObject *root)
{
    PyObject *impact = PyList_New(0);
    int has_views = PyDict_Contains(destroy->views, root);
    PyObject *seen = has_views > 0 ? PySet_New(NULL) : NULL;
    int status = impact && has_views >= 0 && (seen || !has_views) ? 0 : -1;
    if (status == 0 && seen) status = PySet_Add(seen, root) < 0 ? -1 : append_views(destroy, root, impact, seen);
    for (Py_ssize_t next = 0; status == 0 && next < PyList_GET_SIZE(impact); next++) status = append_views(destroy, PyList_GET_ITEM(impact, next), impact, seen);
    if (status == 0) status = PyList_Append(impact, root);
    Py_XDECREF(seen);
    if (status < 0) Py_CLEAR(impact);
    return impact;
}

/* --- an Op's maps --- */

/* 0 or -1: the pairs (output, input) of a map {output: [input]}, appended to the list. */
static int read_map(PyObject *op, PyObject *name, PyObject *node, PyObject *pairs)
{
    PyObject *map = PyObject_GetAttr(op, name), *key, *value;
    if (!map) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
        PyErr_Clear();
        return 0;
    }
    int status = 0;
    if (map != Py_None && !PyDict_Check(map)) {
        PyErr_Format(PyExc_TypeError, "%U of %S must be a dict, not %R", name, op, map);
        status = -1;
    }
    for (Py_ssize_t at = 0; status == 0 && map != Py_None && PyDict_Next(map, &at, &key, &value);) {
        PyObject *inputs = PySequence_List(value);
        Py_ssize_t o = inputs ? PyLong_AsSsize_t(key) : -1, i = -1;
        if (inputs && PyList_GET_SIZE(inputs) > 1) PyErr_Format(PyExc_NotImplementedError, "%U of %S: an output over several inputs", name, op);
        else if (inputs && PyList_GET_SIZE(inputs) == 1) i = PyLong_AsSsize_t(PyList_GET_ITEM(inputs, 0));
        bool is_empty = inputs && PyList_GET_SIZE(inputs) == 0;
        Py_XDECREF(inputs);
        if (PyErr_Occurred()) status = -1;
        else if (is_empty) continue;
        else if (o < 0 || i < 0 || o >= PyList_GET_SIZE(((Apply *)node)->outputs) || i >= PyList_GET_SIZE(((Apply *)node)->inputs)) {
            PyErr_Format(PyExc_ValueError, "%U of %S names an output or input that the node lacks: %R", name, op, map);
            status = -1;
        } else {
            PyObject *pair = Py_BuildValue("(nn)", o, i);
            status = pair ? PyList_Append(pairs, pair) : -1;
            Py_XDECREF(pair);
        }
    }
    Py_DECREF(map);
    return status;
}

static Py_ssize_t pair_item(PyObject *pairs, Py_ssize_t k, Py_ssize_t side) { return PyLong_AsSsize_t(PyTuple_GET_ITEM(PyList_GET_ITEM(pairs, k), side)); }

/* --- views --- */

static int link_view(DestroyState *destroy, PyObject *shown, PyObject *view)
{
    PyObject *root = destroy_root(destroy, shown), *entry = root ? entry_of(destroy->views, shown, PyDict_New) : NULL;
    if (!entry || mark(entry, view) < 0 || PyDict_SetItem(destroy->root_of, view, root) < 0) return -1;
    int is_destroyed = PyDict_Contains(destroy->destroyer_of, root);
    return is_destroyed <= 0 ? is_destroyed : mark_fresh(destroy, root);
}

static int unlink_view(DestroyState *destroy, PyObject *shown, PyObject *view)
{
    PyObject *entry = PyDict_GetItemWithError(destroy->views, shown);
    if (!entry) return PyErr_Occurred() ? -1 : 0;
    if (unmark(entry, view) < 0) return -1;
    return PyDict_GET_SIZE(entry) ? 0 : PyDict_DelItem(destroy->views, shown);
}

/* Gives the nodes that overwrite the old root the roots that their inputs have now. */
static int move_destroyers(DestroyState *destroy, PyObject *old_root)
{
    PyObject *nodes = destroy_destroyers(destroy, old_root), *copy = nodes ? PyList_GetSlice(nodes, 0, PyList_GET_SIZE(nodes)) : NULL;
    int status = nodes ? (copy ? 0 : -1) : (PyErr_Occurred() ? -1 : 0);
    for (Py_ssize_t k = 0; status == 0 && copy && k < PyList_GET_SIZE(copy); k++) {
        PyObject *node = PyList_GET_ITEM(copy, k), *record = PyDict_GetItemWithError(destroy->maps, node);
        if (!record) continue;
        PyObject *pairs = PyTuple_GET_ITEM(record, 0), *roots = PyTuple_GET_ITEM(record, 2);
        for (Py_ssize_t j = 0; status == 0 && j < PyList_GET_SIZE(pairs); j++) {
            PyObject *root = destroy_root(destroy, PyList_GET_ITEM(((Apply *)node)->inputs, pair_item(pairs, j, 1)));
            if (!root) status = -1;
            else if (root != PyList_GET_ITEM(roots, j)) {
                status = drop_destroyer(destroy, PyList_GET_ITEM(roots, j), node);
                if (status == 0) status = add_destroyer(destroy, root, node);
                if (status == 0) status = PyList_SetItem(roots, j, Py_NewRef(root));
            }
        }
    }
    Py_XDECREF(copy);
    return status;
}

/* The view and all that show it get another root. */
static int move_views(DestroyState *destroy, PyObject *view, PyObject *new_root)
{
    PyObject *old_root = Py_XNewRef(destroy_root(destroy, view)), *below = old_root ? destroy_impact(destroy, view) : NULL;
    int status = below ? 0 : -1;
    for (Py_ssize_t k = 0; status == 0 && k < PyList_GET_SIZE(below); k++) status = PyDict_SetItem(destroy->root_of, PyList_GET_ITEM(below, k), new_root);
    if (status == 0) status = move_destroyers(destroy, old_root);
    if (status == 0) {
        int is_destroyed = PyDict_Contains(destroy->destroyer_of, new_root);
        status = is_destroyed > 0 ? mark_fresh(destroy, new_root) : is_destroyed;
    }
    Py_XDECREF(below);
    Py_XDECREF(old_root);
    return status;
}

/* --- events --- */

/* Owned: the record of a node with maps; None when it has none. */
static PyObject *read_record(GraphState *state, PyObject *node)
{
    PyObject *destroyed = PyList_New(0), *viewed = PyList_New(0), *roots = PyList_New(0), *record = NULL, *op = ((Apply *)node)->op;
    if (destroyed && viewed && roots && read_map(op, state->str_destroy_map, node, destroyed) == 0 && read_map(op, state->str_view_map, node, viewed) == 0)
        record = PyList_GET_SIZE(destroyed) || PyList_GET_SIZE(viewed) ? PyTuple_Pack(3, destroyed, viewed, roots) : Py_NewRef(Py_None);
    Py_XDECREF(roots);
    Py_XDECREF(viewed);
    Py_XDECREF(destroyed);
    return record;
}

static int note_record(DestroyState *destroy, PyObject *node, PyObject *record)
{
    PyObject *destroyed = PyTuple_GET_ITEM(record, 0), *viewed = PyTuple_GET_ITEM(record, 1), *roots = PyTuple_GET_ITEM(record, 2);
    Apply *apply = (Apply *)node;
    if (PyDict_SetItem(destroy->maps, node, record) < 0) return -1;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(viewed); k++)
        if (link_view(destroy, PyList_GET_ITEM(apply->inputs, pair_item(viewed, k, 1)), PyList_GET_ITEM(apply->outputs, pair_item(viewed, k, 0))) < 0) return -1;
    if (PyList_GET_SIZE(destroyed) && mark(destroy->destroyers, node) < 0) return -1;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(destroyed); k++) {
        PyObject *root = destroy_root(destroy, PyList_GET_ITEM(apply->inputs, pair_item(destroyed, k, 1)));
        if (!root || PyList_Append(roots, root) < 0 || add_destroyer(destroy, root, node) < 0) return -1;
    }
    return 0;
}

/* Without labels there is no order to keep, and nothing to check again. */
static int touch(DestroyState *destroy, PyObject *node) { return PyDict_GET_SIZE(destroy->labels) ? mark(destroy->touched, node) : 0; }

int destroy_note_import(DestroyState *destroy, GraphState *state, PyObject *node)
{
    PyObject *record = read_record(state, node);
    if (!record) return -1;
    int status = touch(destroy, node);
    if (status == 0 && record != Py_None) status = note_record(destroy, node, record);
    Py_DECREF(record);
    return status;
}

int destroy_note_prune(DestroyState *destroy, PyObject *node)
{
    Apply *apply = (Apply *)node;
    if (unmark(destroy->touched, node) < 0 || unmark(destroy->labels, node) < 0) return -1;
    PyObject *record = Py_XNewRef(PyDict_GetItemWithError(destroy->maps, node));
    if (!record) return PyErr_Occurred() ? -1 : 0;
    PyObject *viewed = PyTuple_GET_ITEM(record, 1), *roots = PyTuple_GET_ITEM(record, 2);
    int status = unmark(destroy->destroyers, node);
    for (Py_ssize_t k = 0; status == 0 && k < PyList_GET_SIZE(roots); k++) status = drop_destroyer(destroy, PyList_GET_ITEM(roots, k), node);
    for (Py_ssize_t k = 0; status == 0 && k < PyList_GET_SIZE(viewed); k++) {
        PyObject *view = PyList_GET_ITEM(apply->outputs, pair_item(viewed, k, 0));
        status = unlink_view(destroy, PyList_GET_ITEM(apply->inputs, pair_item(viewed, k, 1)), view);
        if (status == 0) status = unmark(destroy->root_of, view);
    }
    if (status == 0) status = PyDict_DelItem(destroy->maps, node);
    Py_DECREF(record);
    return status;
}

int destroy_note_change(DestroyState *destroy, PyObject *node, Py_ssize_t i, PyObject *old, PyObject *new_variable)
{
    if (touch(destroy, node) < 0) return -1;
    PyObject *record = PyDict_GetItemWithError(destroy->maps, node);
    if (!record) return PyErr_Occurred() ? -1 : 0;
    PyObject *destroyed = PyTuple_GET_ITEM(record, 0), *viewed = PyTuple_GET_ITEM(record, 1), *roots = PyTuple_GET_ITEM(record, 2);
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(viewed); k++) {
        if (pair_item(viewed, k, 1) != i) continue;
        PyObject *view = PyList_GET_ITEM(((Apply *)node)->outputs, pair_item(viewed, k, 0)), *entry = entry_of(destroy->views, new_variable, PyDict_New);
        if (!entry || mark(entry, view) < 0 || unlink_view(destroy, old, view) < 0) return -1;
        PyObject *root = destroy_root(destroy, new_variable);
        if (!root || move_views(destroy, view, root) < 0) return -1;
    }
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(destroyed) && k < PyList_GET_SIZE(roots); k++) {
        if (pair_item(destroyed, k, 1) != i) continue;
        PyObject *root = destroy_root(destroy, new_variable);
        if (!root || drop_destroyer(destroy, PyList_GET_ITEM(roots, k), node) < 0 || add_destroyer(destroy, root, node) < 0) return -1;
        if (PyList_SetItem(roots, k, Py_NewRef(root)) < 0) return -1;
    }
    return 0;
}

int destroy_note_output(DestroyState *destroy, PyObject *new_variable)
{
    PyObject *root = destroy_root(destroy, new_variable);
    return root ? mark(destroy->unsupervised, root) : -1;
}

/* --- questions --- */

int destroy_check_crowded(DestroyState *destroy, GraphState *state)
{
    PyObject *root, *unused;
    Py_ssize_t at = 0;
    if (!PyDict_Next(destroy->crowded, &at, &root, &unused)) return 0;
    PyErr_Format(state->InconsistencyError, "Multiple destroyers of %S", root);
    return -1;
}

/* Adds the nodes that read one variable to the dict. */
static int add_readers(FunctionGraph *graph, GraphState *state, PyObject *variable, PyObject *readers)
{
    PyObject *clients = graph_peek_clients(graph, variable);
    for (Py_ssize_t k = 0; clients && k < PyList_GET_SIZE(clients); k++) {
        PyObject *client = PyList_GET_ITEM(clients, k), *reader = PyTuple_Check(client) && PyTuple_GET_SIZE(client) ? PyTuple_GET_ITEM(client, 0) : NULL;
        if (reader && PyObject_TypeCheck(reader, state->Apply) && mark(readers, reader) < 0) return -1;
    }
    return 0;
}

PyObject *destroy_other_readers(FunctionGraph *graph, GraphState *state, PyObject *node)
{
    DestroyState *destroy = destroy_state(graph);
    PyObject *record = PyDict_GetItemWithError(destroy->maps, node), *readers = PyDict_New(), *list = NULL;
    int status = readers && !PyErr_Occurred() ? 0 : -1;
    PyObject *roots = status == 0 && record ? PyTuple_GET_ITEM(record, 2) : NULL;
    for (Py_ssize_t j = 0; status == 0 && roots && j < PyList_GET_SIZE(roots); j++) {
        PyObject *impact = destroy_impact(destroy, PyList_GET_ITEM(roots, j));
        status = impact ? 0 : -1;
        for (Py_ssize_t k = 0; status == 0 && k < PyList_GET_SIZE(impact); k++) status = add_readers(graph, state, PyList_GET_ITEM(impact, k), readers);
        Py_XDECREF(impact);
    }
    if (status == 0) status = unmark(readers, node);
    if (status == 0) list = PyDict_Keys(readers);
    Py_XDECREF(readers);
    return list;
}
