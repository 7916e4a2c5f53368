/* Whether the graph with its destroyers can still be ordered, asked anew after each edit at the cost of the edit.
 *
 * Each node has a label, a float, such that whatever must run before a node has a lower one: the owners of its inputs and,
 * for a destroyer, all other readers of what it overwrites. After an edit only nodes that were touched can break this. A
 * touched node is put between its neighbours; where these leave no room, the nodes behind it that are in the way move
 * behind its last predecessor (a forward search bounded by the labels, after Pearce and Kelly). Meeting a predecessor on
 * the way is a cycle. When the floats between two labels run out, all labels are made anew.
 * Relies on: destroy_state, graph's order. Relied on by: destroy.c. */
#include <math.h>

#include "features/destroy.h"

/* --- neighbours --- */

static int append_owner(PyObject *list, PyObject *variable)
{
    PyObject *owner = ((Variable *)variable)->owner;
    return owner == Py_None ? 0 : PyList_Append(list, owner);
}

/* Owned: what must run before the node. */
static PyObject *predecessors(FunctionGraph *graph, GraphState *state, PyObject *node)
{
    DestroyState *destroy = destroy_state(graph);
    PyObject *inputs = ((Apply *)node)->inputs, *list = NULL;
    int is_destroyer = PyDict_Contains(destroy->destroyers, node);
    if (is_destroyer >= 0) list = is_destroyer ? destroy_other_readers(graph, state, node) : PyList_New(0);
    for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(inputs); i++)
        if (append_owner(list, PyList_GET_ITEM(inputs, i)) < 0) Py_CLEAR(list);
    return list;
}

static int append_readers(FunctionGraph *graph, GraphState *state, PyObject *list, PyObject *variable)
{
    PyObject *clients = graph_peek_clients(graph, variable);
    for (Py_ssize_t k = 0; clients && k < PyList_GET_SIZE(clients); k++) {
        PyObject *client = PyList_GET_ITEM(clients, k), *reader = PyTuple_Check(client) && PyTuple_GET_SIZE(client) ? PyTuple_GET_ITEM(client, 0) : NULL;
        if (reader && PyObject_TypeCheck(reader, state->Apply) && PyList_Append(list, reader) < 0) return -1;
    }
    return 0;
}

/* The destroyers of what the node reads come after it. */
static int append_destroyers(DestroyState *destroy, PyObject *list, PyObject *node, PyObject *variable)
{
    PyObject *root = destroy_root(destroy, variable), *nodes = root ? destroy_destroyers(destroy, root) : NULL;
    if (!nodes) return PyErr_Occurred() ? -1 : 0;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(nodes); k++)
        if (PyList_GET_ITEM(nodes, k) != node && PyList_Append(list, PyList_GET_ITEM(nodes, k)) < 0) return -1;
    return 0;
}

/* Owned: what must run after the node. */
static PyObject *successors(FunctionGraph *graph, GraphState *state, PyObject *node)
{
    PyObject *list = PyList_New(0), *outputs = ((Apply *)node)->outputs, *inputs = ((Apply *)node)->inputs;
    int status = list ? 0 : -1;
    for (Py_ssize_t o = 0; status == 0 && o < PyList_GET_SIZE(outputs); o++) status = append_readers(graph, state, list, PyList_GET_ITEM(outputs, o));
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(inputs); i++)
        status = append_destroyers(destroy_state(graph), list, node, PyList_GET_ITEM(inputs, i));
    if (status < 0) Py_CLEAR(list);
    return list;
}

/* --- labels --- */

/* 1, 0 (none yet) or -1. */
static int get_label(DestroyState *destroy, PyObject *node, double *label)
{
    PyObject *value = PyDict_GetItemWithError(destroy->labels, node);
    if (!value) return PyErr_Occurred() ? -1 : 0;
    *label = PyFloat_AS_DOUBLE(value);
    return 1;
}

static int set_label(DestroyState *destroy, PyObject *node, double label)
{
    PyObject *value = PyFloat_FromDouble(label);
    int status = value ? PyDict_SetItem(destroy->labels, node, value) : -1;
    Py_XDECREF(value);
    return status;
}

/* The highest (or lowest) label among the nodes; +-infinity when none has one. -1 on an exception. */
static int extreme_label(DestroyState *destroy, PyObject *nodes, bool highest, double *extreme)
{
    *extreme = highest ? -INFINITY : INFINITY;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(nodes); k++) {
        double label;
        int has = get_label(destroy, PyList_GET_ITEM(nodes, k), &label);
        if (has < 0) return -1;
        if (has && (highest ? label > *extreme : label < *extreme)) *extreme = label;
    }
    return 0;
}

static int raise_cycle(GraphState *state)
{
    PyErr_SetString(state->InconsistencyError, "Dependency graph contains cycles");
    return -1;
}

/* Owned: each destroyer's other readers, as graph_order takes rules. */
static PyObject *all_rules(FunctionGraph *graph, GraphState *state)
{
    DestroyState *destroy = destroy_state(graph);
    PyObject *rules = PyDict_New(), *nodes = rules ? PyDict_Keys(destroy->destroyers) : NULL;
    int status = nodes ? 0 : -1;
    for (Py_ssize_t k = 0; status == 0 && k < PyList_GET_SIZE(nodes); k++) {
        PyObject *readers = destroy_other_readers(graph, state, PyList_GET_ITEM(nodes, k));
        status = readers ? PyDict_SetItem(rules, PyList_GET_ITEM(nodes, k), readers) : -1;
        Py_XDECREF(readers);
    }
    Py_XDECREF(nodes);
    if (status < 0) Py_CLEAR(rules);
    return rules;
}

/* Gives every node a new label; -1 when there is a cycle (then the labels stay). */
static int label_all(FunctionGraph *graph, GraphState *state)
{
    DestroyState *destroy = destroy_state(graph);
    PyObject *rules = all_rules(graph, state), *order = rules ? graph_order(state, graph->inputs, graph->outputs, rules) : NULL;
    Py_XDECREF(rules);
    if (!order) {
        if (!rules || !PyErr_ExceptionMatches(PyExc_ValueError)) return -1;
        PyErr_Clear();
        return raise_cycle(state);
    }
    int status = 0;
    PyDict_Clear(destroy->labels);
    for (Py_ssize_t k = 0; status == 0 && k < PyList_GET_SIZE(order); k++) status = set_label(destroy, PyList_GET_ITEM(order, k), (double)k);
    Py_DECREF(order);
    return status;
}

/* --- one touched node --- */

/* The nodes that must move behind `limit`: the node and what comes after it with a label of at most that. */
typedef struct Region {
    PyObject *nodes; /* owned list, in the order found */
    PyObject *seen;  /* owned set */
    double above;    /* the lowest label behind `limit` that one of them must stay below */
} Region;

/* 0; 1 when a predecessor of the first node is in the region, which is a cycle; or -1. */
static int region_find(FunctionGraph *graph, GraphState *state, Region *region, PyObject *node, PyObject *before, double limit)
{
    DestroyState *destroy = destroy_state(graph);
    if (PyList_Append(region->nodes, node) < 0 || PySet_Add(region->seen, node) < 0) return -1;
    for (Py_ssize_t next = 0; next < PyList_GET_SIZE(region->nodes); next++) {
        PyObject *after = successors(graph, state, PyList_GET_ITEM(region->nodes, next));
        int status = after ? 0 : -1;
        for (Py_ssize_t k = 0; status == 0 && k < PyList_GET_SIZE(after); k++) {
            PyObject *successor = PyList_GET_ITEM(after, k);
            double label;
            int has = get_label(destroy, successor, &label);
            if (successor == node) status = 1;
            else if (has < 0) status = -1;
            else if (has && label > limit) region->above = fmin(region->above, label);
            else if (has) {
                int known = PySet_Contains(region->seen, successor);
                status = known < 0 ? -1 : 0;
                if (known == 0 && (PySet_Add(region->seen, successor) < 0 || PyList_Append(region->nodes, successor) < 0)) status = -1;
            }
        }
        Py_XDECREF(after);
        if (status) return status;
    }
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(before); k++) {
        int is_cycle = PySet_Contains(region->seen, PyList_GET_ITEM(before, k));
        if (is_cycle) return is_cycle;
    }
    return 0;
}

typedef struct Moved {
    double label;
    PyObject *node;
} Moved;

static int by_label(const void *a, const void *b)
{
    double x = ((const Moved *)a)->label, y = ((const Moved *)b)->label;
    return (x > y) - (x < y);
}

/* Puts the region's nodes behind the limit, in the order of their labels, the touched node first. 1 when the floats do
 * not suffice. */
static int region_place(DestroyState *destroy, const Region *region, double limit)
{
    size_t n = (size_t)PyList_GET_SIZE(region->nodes);
    Moved *moved = mem_calloc(n, sizeof *moved);
    double step = isinf(region->above) ? 1.0 : (region->above - limit) / (double)(n + 1), last = limit;
    int status = 0;
    if (!moved) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t k = 0; status == 0 && k < n; k++) {
        moved[k] = (Moved){-INFINITY, PyList_GET_ITEM(region->nodes, (Py_ssize_t)k)};
        if (k && get_label(destroy, moved[k].node, &moved[k].label) < 0) status = -1;
    }
    if (status == 0) qsort(moved, n, sizeof *moved, by_label);
    for (size_t k = 0; status == 0 && k < n; k++) {
        double label = limit + step * (double)(k + 1);
        if (!(label > last && label < region->above)) status = 1;
        else status = set_label(destroy, moved[k].node, last = label);
    }
    mem_free(moved);
    return status;
}

/* The node's neighbours leave no room for it. 0, 1 when the labels must be made anew, or -1. */
static int make_room(FunctionGraph *graph, GraphState *state, PyObject *node, PyObject *before, double limit)
{
    Region region = {PyList_New(0), PySet_New(NULL), INFINITY};
    int status = region.nodes && region.seen ? region_find(graph, state, &region, node, before, limit) : -1;
    if (status > 0) status = raise_cycle(state);
    else if (status == 0) status = region_place(destroy_state(graph), &region, limit);
    Py_XDECREF(region.seen);
    Py_XDECREF(region.nodes);
    return status;
}

/* 0, 1 when the labels must be made anew, or -1. */
static int place_node(FunctionGraph *graph, GraphState *state, PyObject *node)
{
    DestroyState *destroy = destroy_state(graph);
    PyObject *before = predecessors(graph, state, node), *after = before ? successors(graph, state, node) : NULL;
    double low, high, label;
    int status = -1, has = after ? get_label(destroy, node, &label) : -1;
    if (has < 0 || extreme_label(destroy, before, true, &low) < 0 || extreme_label(destroy, after, false, &high) < 0) goto done;
    if (has && low < label && label < high) {
        status = 0;
    } else if (low < high) {
        label = isinf(low) ? (isinf(high) ? 0.0 : high - 1.0) : isinf(high) ? low + 1.0 : low + (high - low) / 2;
        status = low < label && label < high ? set_label(destroy, node, label) : 1;
    } else {
        status = make_room(graph, state, node, before, low);
    }
done:
    Py_XDECREF(after);
    Py_XDECREF(before);
    return status;
}

/* A root that got a destroyer or a view: its destroyers wait for readers that were not touched. */
static int touch_destroyers(DestroyState *destroy)
{
    PyObject *roots = PyDict_Keys(destroy->fresh);
    int status = roots ? 0 : -1;
    for (Py_ssize_t k = 0; status == 0 && k < PyList_GET_SIZE(roots); k++) {
        PyObject *nodes = destroy_destroyers(destroy, PyList_GET_ITEM(roots, k));
        if (!nodes && PyErr_Occurred()) status = -1;
        for (Py_ssize_t j = 0; status == 0 && nodes && j < PyList_GET_SIZE(nodes); j++)
            status = PyDict_SetItem(destroy->touched, PyList_GET_ITEM(nodes, j), Py_True);
    }
    Py_XDECREF(roots);
    return status;
}

static int place_touched(FunctionGraph *graph, GraphState *state)
{
    DestroyState *destroy = destroy_state(graph);
    PyObject *nodes = touch_destroyers(destroy) == 0 ? PyDict_Keys(destroy->touched) : NULL;
    int status = nodes ? 0 : -1;
    for (Py_ssize_t k = 0; status == 0 && k < PyList_GET_SIZE(nodes); k++) status = place_node(graph, state, PyList_GET_ITEM(nodes, k));
    Py_XDECREF(nodes);
    return status;
}

#ifdef PYSCAN_TEST_BUILD
enum { MAX_CHECKED_NODES = 5000 }; /* a check takes the time of the graph: those of long chains would never end */

/* The whole graph must say the same as the part that was looked at, unless one of the two found no memory. */
static int check_whole(FunctionGraph *graph, GraphState *state, int status)
{
    if (PySet_GET_SIZE(graph->apply_nodes) > MAX_CHECKED_NODES) return status;
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_MemoryError)) return status;
    PyObject *error = graph_error_take(), *rules = all_rules(graph, state), *order = rules ? graph_order(state, graph->inputs, graph->outputs, rules) : NULL;
    bool has_cycle = rules && !order, said_cycle = status < 0;
    Py_XDECREF(order);
    Py_XDECREF(rules);
    if (!rules || (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_MemoryError))) {
        Py_XDECREF(error);
        return -1;
    }
    PyErr_Clear();
    if (has_cycle == said_cycle) {
        graph_error_give(error);
        return status;
    }
    Py_XDECREF(error);
    PyErr_Format(PyExc_AssertionError, "the incremental cycle check says %d, the whole one %d", said_cycle, has_cycle);
    return -1;
}
#else
static int check_whole(FunctionGraph *graph, GraphState *state, int status) { return status; }
#endif

int destroy_order_update(FunctionGraph *graph, GraphState *state)
{
    DestroyState *destroy = destroy_state(graph);
    int status = PyDict_GET_SIZE(destroy->labels) ? place_touched(graph, state) : 1;
    if (status > 0) status = label_all(graph, state);
    return check_whole(graph, state, status);
}
