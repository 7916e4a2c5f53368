/* Walks from outputs towards inputs, and their Python functions. All keep their own stack, so that depth is no limit.
 *
 * The orders are those that Aesara's users know: depth first for ancestors, breadth first for what lies between.
 * Relies on: ptrmap. Relied on by: order, clone, verify, print. */
#include "graph/internal.h"

PyObject *variables_of(GraphState *state, PyObject *iterable, const char *what)
{
    if (is_variable(state, iterable)) {
        PyErr_Format(PyExc_TypeError, "%s must be a sequence of Variables, not one Variable: %R", what, iterable);
        return NULL;
    }
    PyObject *list = PySequence_List(iterable);
    if (!list) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) PyErr_Format(PyExc_TypeError, "%s must be a sequence of Variables, not %R", what, iterable);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        if (is_variable(state, PyList_GET_ITEM(list, i))) continue;
        PyErr_Format(PyExc_TypeError, "%s must hold Variables; item %zd is %R", what, i, PyList_GET_ITEM(list, i));
        Py_DECREF(list);
        return NULL;
    }
    return list;
}

static int push_reversed(PtrStack *queue, PyObject *list)
{
    for (Py_ssize_t i = PyList_GET_SIZE(list); i-- > 0;)
        if (ptrstack_push(queue, PyList_GET_ITEM(list, i)) < 0) return -1;
    return 0;
}

/* Owned: every variable met, once. Breadth first takes the queue from the front and goes on to the owner's other
 * outputs as well; depth first takes it from the back. Does not go above a blocker. */
static PyObject *walk(PyObject *starts, const PtrMap *blockers, bool breadth_first)
{
    PtrMap seen = {0};
    PtrStack queue = {0};
    PyObject *found = PyList_New(0);
    int status = found ? 0 : -1;
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(starts); i++) status = ptrstack_push(&queue, PyList_GET_ITEM(starts, i));
    for (size_t front = 0; status == 0 && front < queue.n;) {
        PyObject *variable = breadth_first ? queue.items[front++] : queue.items[--queue.n];
        bool is_new;
        if (!ptrmap_put(&seen, variable, &is_new)) status = -1;
        else if (is_new) {
            PyObject *owner = owner_peek(variable);
            status = PyList_Append(found, variable);
            if (status == 0 && owner && !ptrmap_has(blockers, variable)) {
                if (breadth_first) status = push_reversed(&queue, as_apply(owner)->outputs);
                if (status == 0) status = push_reversed(&queue, as_apply(owner)->inputs);
            }
        }
    }
    ptrstack_clear(&queue);
    ptrmap_clear(&seen);
    if (status < 0) Py_CLEAR(found);
    return found;
}

static PyObject *walk_checked(GraphState *state, PyObject *starts, PyObject *blockers, bool breadth_first)
{
    PtrMap map = {0};
    PyObject *kept = NULL, *list = variables_of(state, starts, "the outputs"), *found = NULL;
    if (list && (!blockers || blockers == Py_None || ptrmap_put_all(&map, blockers, &kept) == 0)) found = walk(list, &map, breadth_first);
    ptrmap_clear(&map);
    Py_XDECREF(kept);
    Py_XDECREF(list);
    return found;
}

PyObject *walk_ancestors(GraphState *state, PyObject *starts, PyObject *blockers) { return walk_checked(state, starts, blockers, false); }

PyObject *walk_between(GraphState *state, PyObject *inputs, PyObject *outputs) { return walk_checked(state, outputs, inputs, true); }

PyObject *walk_applys(GraphState *state, PyObject *inputs, PyObject *outputs)
{
    PtrMap blockers = {0}, seen = {0};
    PyObject *kept = NULL, *nodes = NULL, *variables = walk_between(state, inputs, outputs);
    if (!variables || ptrmap_put_all(&blockers, inputs, &kept) < 0 || !(nodes = PyList_New(0))) goto done;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(variables); i++) {
        PyObject *variable = PyList_GET_ITEM(variables, i), *owner = owner_peek(variable);
        bool is_new;
        if (!owner || ptrmap_has(&blockers, variable)) continue;
        if (!ptrmap_put(&seen, owner, &is_new) || (is_new && PyList_Append(nodes, owner) < 0)) {
            Py_CLEAR(nodes);
            goto done;
        }
    }
done:
    ptrmap_clear(&seen);
    ptrmap_clear(&blockers);
    Py_XDECREF(kept);
    Py_XDECREF(variables);
    return nodes;
}

/* --- the Python functions: each gives an iterator --- */

static PyObject *iterator_steal(PyObject *stolen_list)
{
    PyObject *iterator = stolen_list ? PyObject_GetIter(stolen_list) : NULL;
    Py_XDECREF(stolen_list);
    return iterator;
}

/* Owned: the leaves of the list, without those of `except` (may be NULL). */
static PyObject *leaves_steal(PyObject *stolen_variables, PyObject *except)
{
    PtrMap map = {0};
    PyObject *kept = NULL, *leaves = stolen_variables ? PyList_New(0) : NULL;
    if (leaves && except && ptrmap_put_all(&map, except, &kept) < 0) Py_CLEAR(leaves);
    for (Py_ssize_t i = 0; leaves && i < PyList_GET_SIZE(stolen_variables); i++) {
        PyObject *variable = PyList_GET_ITEM(stolen_variables, i);
        if (!owner_peek(variable) && !ptrmap_has(&map, variable) && PyList_Append(leaves, variable) < 0) Py_CLEAR(leaves);
    }
    ptrmap_clear(&map);
    Py_XDECREF(kept);
    Py_XDECREF(stolen_variables);
    return leaves;
}

static char *graphs_keywords[] = {"graphs", "blockers", NULL};
static char *between_keywords[] = {"ins", "outs", NULL};

static PyObject *py_ancestors(PyObject *module, PyObject *args, PyObject *kwargs)
{
    PyObject *graphs, *blockers = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:ancestors", graphs_keywords, &graphs, &blockers)) return NULL;
    return iterator_steal(walk_ancestors(graph_state_of_module(module), graphs, blockers));
}

static PyObject *py_graph_inputs(PyObject *module, PyObject *args, PyObject *kwargs)
{
    PyObject *graphs, *blockers = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:graph_inputs", graphs_keywords, &graphs, &blockers)) return NULL;
    return iterator_steal(leaves_steal(walk_ancestors(graph_state_of_module(module), graphs, blockers), NULL));
}

static PyObject *py_vars_between(PyObject *module, PyObject *args, PyObject *kwargs)
{
    PyObject *ins, *outs;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:vars_between", between_keywords, &ins, &outs)) return NULL;
    return iterator_steal(walk_between(graph_state_of_module(module), ins, outs));
}

static PyObject *py_orphans_between(PyObject *module, PyObject *args, PyObject *kwargs)
{
    PyObject *ins, *outs;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:orphans_between", between_keywords, &ins, &outs)) return NULL;
    return iterator_steal(leaves_steal(walk_between(graph_state_of_module(module), ins, outs), ins));
}

static PyObject *py_applys_between(PyObject *module, PyObject *args, PyObject *kwargs)
{
    PyObject *ins, *outs;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:applys_between", between_keywords, &ins, &outs)) return NULL;
    return iterator_steal(walk_applys(graph_state_of_module(module), ins, outs));
}

static PyObject *py_io_toposort(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"inputs", "outputs", "orderings", NULL};
    PyObject *inputs, *outputs, *rules = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O:io_toposort", keywords, &inputs, &outputs, &rules)) return NULL;
    GraphState *state = graph_state_of_module(module);
    if (rules == Py_None || (PyDict_Check(rules) && PyDict_GET_SIZE(rules) == 0)) return graph_io_toposort(state, inputs, outputs);
    return graph_order(state, inputs, outputs, rules);
}

/* Whether f_node is computed from, or is, l_apply's ancestors: a search that marks nodes as it goes. */
static PyObject *py_is_in_ancestors(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"l_apply", "f_node", NULL};
    PyObject *last, *sought;
    GraphState *state = graph_state_of_module(module);
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O:is_in_ancestors", keywords, state->Apply, &last, &sought)) return NULL;
    PtrMap seen = {0};
    PtrStack stack = {0};
    int status = ptrstack_push(&stack, last);
    bool is_found = false;
    while (status == 0 && !is_found && stack.n) {
        PyObject *node = stack.items[--stack.n];
        bool is_new;
        if (!ptrmap_put(&seen, node, &is_new)) status = -1;
        else if (node == sought) is_found = true;
        for (Py_ssize_t i = 0; status == 0 && is_new && !is_found && i < PyList_GET_SIZE(as_apply(node)->inputs); i++) {
            PyObject *owner = owner_peek(PyList_GET_ITEM(as_apply(node)->inputs, i));
            if (owner) status = ptrstack_push(&stack, owner);
        }
    }
    ptrstack_clear(&stack);
    ptrmap_clear(&seen);
    return status < 0 ? NULL : PyBool_FromLong(is_found);
}

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
static PyMethodDef walk_functions[] = {
    {"ancestors", WITH_KEYWORDS(py_ancestors),
     "ancestors(graphs, blockers=None)\n--\n\nIterate over the variables that contribute to the graphs, these included, depth first."},
    {"graph_inputs", WITH_KEYWORDS(py_graph_inputs), "graph_inputs(graphs, blockers=None)\n--\n\nIterate over the leaves above the graphs, depth first."},
    {"vars_between", WITH_KEYWORDS(py_vars_between), "vars_between(ins, outs)\n--\n\nIterate over the variables between ins and outs, both included."},
    {"orphans_between", WITH_KEYWORDS(py_orphans_between), "orphans_between(ins, outs)\n--\n\nIterate over the leaves that outs need and ins lack."},
    {"applys_between", WITH_KEYWORDS(py_applys_between), "applys_between(ins, outs)\n--\n\nIterate over the nodes between ins and outs."},
    {"io_toposort", WITH_KEYWORDS(py_io_toposort),
     "io_toposort(inputs, outputs, orderings=None)\n--\n\nThe nodes between inputs and outputs in an order in which they can run, as a list.\n"
     "orderings maps a node to the nodes that must run before it."},
    {"is_in_ancestors", WITH_KEYWORDS(py_is_in_ancestors),
     "is_in_ancestors(l_apply, f_node)\n--\n\nWhether f_node is l_apply or one of the nodes that it depends on."},
    {NULL, NULL, 0, NULL},
};

int walk_exec(PyObject *module) { return PyModule_AddFunctions(module, walk_functions); }
