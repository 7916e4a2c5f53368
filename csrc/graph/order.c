/* Orders in which nodes can run.
 *
 * Two searches, as in Aesara, whose orders differ: without rules a depth-first one that computes inputs from the last to
 * the first; with rules (node -> nodes that must run before it) one that starts at the leaves and takes what is ready
 * first come, first served. Both are linear in the edges and refuse a cycle. Relies on: ptrmap, walk, notify. */
#include "graph/internal.h"

enum { NODE_EXPANDED = 1, NODE_DONE = 2 };

static void raise_cycle(void) { PyErr_SetString(PyExc_ValueError, "graph contains cycles"); }

/* The search's state: `known` holds the variables that need no node, `nodes` the mark of each node met. */
typedef struct Search {
    PtrMap known, nodes;
    PyObject *known_set; /* borrowed set of known Variables, or NULL */
    PtrStack stack;
    PyObject *order; /* owned list */
} Search;

static void search_clear(Search *search)
{
    ptrmap_clear(&search->known);
    ptrmap_clear(&search->nodes);
    ptrstack_clear(&search->stack);
}

/* 1, 0 or -1: whether the variable can be read without running a node any more. */
static int is_ready(const Search *search, PyObject *variable)
{
    PyObject *owner = owner_peek(variable);
    if (!owner || ptrmap_has(&search->known, variable)) return 1;
    const int64_t *mark = ptrmap_find(&search->nodes, owner);
    if (mark && *mark == NODE_DONE) return 1;
    return search->known_set ? PySet_Contains(search->known_set, variable) : 0;
}

/* 1, 0 or -1: whether the node has run: its first output is known. */
static int is_done(const Search *search, PyObject *node)
{
    const int64_t *mark = ptrmap_find(&search->nodes, node);
    if (mark && *mark == NODE_DONE) return 1;
    PyObject *outputs = as_apply(node)->outputs;
    if (PyList_GET_SIZE(outputs) == 0) return 0;
    PyObject *first = PyList_GET_ITEM(outputs, 0);
    if (ptrmap_has(&search->known, first)) return 1;
    return search->known_set ? PySet_Contains(search->known_set, first) : 0;
}

/* Pushes the owners of the inputs in their order; 1 when every input was ready (then nothing is pushed), 0, or -1. */
static int push_unready(Search *search, PyObject *node)
{
    PyObject *inputs = as_apply(node)->inputs;
    int all_ready = 1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs) && all_ready > 0; i++) all_ready = is_ready(search, PyList_GET_ITEM(inputs, i));
    if (all_ready) return all_ready;
    if (ptrstack_push(&search->stack, node) < 0) return -1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs); i++) {
        PyObject *owner = owner_peek(PyList_GET_ITEM(inputs, i));
        if (owner && ptrstack_push(&search->stack, owner) < 0) return -1;
    }
    return 0;
}

/* Takes one node from the stack: done, or put back under the nodes that it waits for. A node that waits a second
 * time waits for itself: between its two turns all that was above it on the stack has run. */
static int search_step(Search *search)
{
    PyObject *node = search->stack.items[--search->stack.n];
    int done = is_done(search, node);
    if (done) return done < 0 ? -1 : 0;
    int64_t *mark = ptrmap_put(&search->nodes, node, NULL);
    if (!mark) return -1;
    bool was_expanded = *mark == NODE_EXPANDED;
    *mark = NODE_EXPANDED;
    int ready = push_unready(search, node);
    if (ready < 0) return -1;
    if (ready) {
        *mark = NODE_DONE; /* push_unready puts nothing into the map, so the place is still the node's */
        return PyList_Append(search->order, node);
    }
    if (!was_expanded) return 0;
    raise_cycle();
    return -1;
}

static PyObject *search_run(Search *search, PyObject *outputs)
{
    int status = (search->order = PyList_New(0)) ? 0 : -1;
    for (Py_ssize_t i = PyList_GET_SIZE(outputs); status == 0 && i-- > 0;) {
        PyObject *owner = owner_peek(PyList_GET_ITEM(outputs, i));
        if (owner) status = ptrstack_push(&search->stack, owner);
    }
    while (status == 0 && search->stack.n) status = search_step(search);
    if (status < 0) Py_CLEAR(search->order);
    PyObject *order = search->order;
    search_clear(search);
    return order;
}

PyObject *graph_io_toposort(GraphState *state, PyObject *inputs, PyObject *outputs)
{
    Search search = {0};
    PyObject *kept = NULL, *order = NULL, *list = variables_of(state, outputs, "outputs");
    if (list && ptrmap_put_all(&search.known, inputs, &kept) == 0) order = search_run(&search, list);
    else search_clear(&search);
    Py_XDECREF(list);
    Py_XDECREF(kept);
    return order;
}

PyObject *order_new_nodes(GraphState *state, PyObject *known, PyObject *outputs)
{
    Search search = {.known_set = known};
    return search_run(&search, outputs);
}

/* --- with rules --- */

/* One entry for each variable and node that the outputs need. */
typedef struct Item {
    PyObject *object;   /* borrowed */
    PyObject *needs;    /* owned list of borrowed-alive objects */
    size_t first_user;  /* head of the list of users in `links`, or 0; links are numbered from 1 */
    size_t last_user;
    Py_ssize_t n_waiting;
} Item;

typedef struct Link {
    size_t user, next;
} Link;

typedef struct RuleSearch {
    GraphState *state;
    PtrMap inputs, numbers; /* numbers: object -> 1 + index of its item */
    PyObject *rules, *kept;
    Item *items;
    size_t n_items, items_capacity;
    Link *links;
    size_t n_links, links_capacity;
    size_t *ready;
    size_t n_ready, ready_capacity;
} RuleSearch;

static int grow(void **array, size_t *capacity, size_t n, size_t item_bytes)
{
    if (n < *capacity) return 0;
    size_t bigger = *capacity ? *capacity * 2 : 64;
    void *moved = mem_resize(*array, bigger, item_bytes);
    if (!moved) {
        PyErr_NoMemory();
        return -1;
    }
    *array = moved;
    *capacity = bigger;
    return 0;
}

static void rules_clear(RuleSearch *search)
{
    for (size_t i = 0; i < search->n_items; i++) Py_XDECREF(search->items[i].needs);
    mem_free(search->items);
    mem_free(search->links);
    mem_free(search->ready);
    ptrmap_clear(&search->inputs);
    ptrmap_clear(&search->numbers);
    Py_XDECREF(search->kept);
}

/* Owned: what must be there before the object: a variable's owner, a node's inputs, and what the rules add. */
static PyObject *needs_of(RuleSearch *search, PyObject *object)
{
    PyObject *needs = PyList_New(0);
    if (!needs || ptrmap_has(&search->inputs, object)) return needs;
    int status = 0;
    if (is_variable(search->state, object)) {
        PyObject *owner = owner_peek(object);
        if (owner) status = PyList_Append(needs, owner);
    } else {
        Py_ssize_t end = PyList_GET_SIZE(needs);
        status = PyList_SetSlice(needs, end, end, as_apply(object)->inputs);
    }
    PyObject *rule = status == 0 ? PyObject_GetItem(search->rules, object) : NULL;
    if (rule) {
        PyObject *more = PySequence_List(rule);
        status = more ? PyList_SetSlice(needs, PyList_GET_SIZE(needs), PyList_GET_SIZE(needs), more) : -1;
        Py_XDECREF(more);
        Py_DECREF(rule);
    } else if (status == 0) {
        if (PyErr_ExceptionMatches(PyExc_KeyError)) PyErr_Clear();
        else status = -1;
    }
    if (status < 0) Py_CLEAR(needs);
    return needs;
}

/* Finds all that the outputs need, depth first, the last output first. */
static int rules_collect(RuleSearch *search, PyObject *outputs)
{
    PtrStack stack = {0};
    int status = 0;
    for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(outputs); i++) status = ptrstack_push(&stack, PyList_GET_ITEM(outputs, i));
    while (status == 0 && stack.n) {
        PyObject *object = stack.items[--stack.n];
        bool is_new;
        int64_t *number = ptrmap_put(&search->numbers, object, &is_new);
        if (!number) status = -1;
        if (status < 0 || !is_new) continue;
        if (!is_variable(search->state, object) && !is_apply(search->state, object)) {
            PyErr_Format(PyExc_TypeError, "an ordering must name Apply nodes, not %R", object);
            status = -1;
            continue;
        }
        *number = (int64_t)search->n_items + 1;
        status = grow((void **)&search->items, &search->items_capacity, search->n_items, sizeof(Item));
        PyObject *needs = status == 0 ? needs_of(search, object) : NULL;
        if (!needs) {
            status = -1;
            continue;
        }
        search->items[search->n_items++] = (Item){.object = object, .needs = needs};
        for (Py_ssize_t i = 0; status == 0 && i < PyList_GET_SIZE(needs); i++) status = ptrstack_push(&stack, PyList_GET_ITEM(needs, i));
    }
    ptrstack_clear(&stack);
    return status;
}

static size_t number_of(const RuleSearch *search, PyObject *object) { return (size_t)(*ptrmap_find(&search->numbers, object) - 1); }

/* Notes user as one that waits for item; a need that a user names several times is one link. */
static int rules_link(RuleSearch *search, size_t item, size_t user)
{
    Item *needed = &search->items[item];
    if (needed->last_user && search->links[needed->last_user - 1].user == user) return 0;
    if (grow((void **)&search->links, &search->links_capacity, search->n_links, sizeof(Link)) < 0) return -1;
    search->links[search->n_links++] = (Link){.user = user};
    if (needed->last_user) search->links[needed->last_user - 1].next = search->n_links;
    else needed->first_user = search->n_links;
    needed->last_user = search->n_links;
    search->items[user].n_waiting++;
    return 0;
}

static int rules_push_ready(RuleSearch *search, size_t item)
{
    if (grow((void **)&search->ready, &search->ready_capacity, search->n_ready, sizeof(size_t)) < 0) return -1;
    search->ready[search->n_ready++] = item;
    return 0;
}

static int rules_connect(RuleSearch *search)
{
    for (size_t user = 0; user < search->n_items; user++) {
        PyObject *needs = search->items[user].needs;
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(needs); i++)
            if (rules_link(search, number_of(search, PyList_GET_ITEM(needs, i)), user) < 0) return -1;
        if (PyList_GET_SIZE(needs) == 0 && rules_push_ready(search, user) < 0) return -1;
    }
    return 0;
}

/* Owned: the nodes in order. */
static PyObject *rules_place(RuleSearch *search)
{
    PyObject *order = PyList_New(0);
    if (!order) return NULL;
    for (size_t front = 0; front < search->n_ready; front++) {
        Item *item = &search->items[search->ready[front]];
        if (is_apply(search->state, item->object) && PyList_Append(order, item->object) < 0) goto fail;
        for (size_t link = item->first_user; link; link = search->links[link - 1].next) {
            size_t user = search->links[link - 1].user;
            if (--search->items[user].n_waiting == 0 && rules_push_ready(search, user) < 0) goto fail;
        }
    }
    if (search->n_ready == search->n_items) return order;
    raise_cycle();
fail:
    Py_DECREF(order);
    return NULL;
}

PyObject *graph_order(GraphState *state, PyObject *inputs, PyObject *outputs, PyObject *rules)
{
    RuleSearch search = {.state = state, .rules = rules};
    PyObject *order = NULL, *list = variables_of(state, outputs, "outputs");
    if (list && ptrmap_put_all(&search.inputs, inputs, &search.kept) == 0 && rules_collect(&search, list) == 0 && rules_connect(&search) == 0)
        order = rules_place(&search);
    rules_clear(&search);
    Py_XDECREF(list);
    return order;
}

PyObject *graph_toposort(FunctionGraph *graph)
{
    if (PySet_GET_SIZE(graph->apply_nodes) < 2) return PySequence_List(graph->apply_nodes);
    GraphState *state = graph_state_of((PyObject *)graph);
    PyObject *rules = state ? notify_orderings(graph) : NULL, *order = NULL;
    if (!rules) return NULL;
    if (PyDict_GET_SIZE(rules)) order = graph_order(state, graph->inputs, graph->outputs, rules);
    else order = graph_io_toposort(state, graph->inputs, graph->outputs);
    Py_DECREF(rules);
    return order;
}
