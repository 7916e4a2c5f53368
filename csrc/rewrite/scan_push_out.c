/* scan_push_out (position 0.05): nodes of a loop that are the same in every step and cannot fail move in front of it.
 *
 *     before   for{cpu,scan_fn}(10, state h, a)      body: h * exp(a)
 *     after    for{cpu,scan_fn}(10, state h, exp(a)) body: h * b
 *
 * A node moves when it depends on non-sequences (one at least: what depends on constants alone is folded where it is) and
 * when neither it nor anything that it depends on in the body can fail, since a loop of no steps would not have run it
 * (safe.c). Draws never move, whatever safe.c says of them; nor do loops, users' Ops, and allocations, which the body may write
 * into. What depends on the step alone but may fail is left to the program, which runs it once, before step 0, if there is a step.
 *
 * It runs after scan_prune, which has put constants into the body and joined equal non-sequences; scan_save_mem comes
 * after it. *
 * Relies on: scan_edit, safe, merge.c. Relied on by: the driver. */
#include "rewrite/safe.h"
#include "rewrite/scan_edit.h"

#define REASON "scan_push_out"

typedef struct Push {
    FunctionGraph *graph;
    RewriteContext *context;
    PyObject *node;         /* the Scan node */
    FunctionGraph *body;    /* owned: a merged copy */
    Safe inner;
    ScanLayout layout;
    PyObject *outer_of;     /* owned dict: variable of the body -> variable outside, for non-sequences and the results of moved nodes */
    PyObject *dependent;    /* owned set of moved nodes that depend on a non-sequence */
    PyObject *computed;     /* owned set of those of them that do more than view one */
    PyObject *new_inputs;   /* owned list: the non-sequences that the body gains */
    PyObject *new_outers;   /* owned list: what they are outside */
} Push;

/* ---- which nodes move ---- */

/* Lent: the variable outside that stands for one of the body, or NULL (with an exception on an error). */
static PyObject *peek_outer(Push *push, PyObject *variable)
{
    if (rewrite_is_constant(push->context->state, variable)) return variable;
    return PyDict_GetItemWithError(push->outer_of, variable);
}

/* 1 or 0, or -1. */
static int can_move(Push *push, PyObject *node)
{
    for (Py_ssize_t i = 0; i < node_n_inputs(node); i++) {
        if (peek_outer(push, node_input(node, i)) == NULL) return PyErr_Occurred() ? -1 : 0;
    }
    switch (rewrite_kind(push->context->state, node)) {
    case -1: return -1;
    case OP_RANDOM:
    case OP_SCAN:
    case OP_USER:
    case OP_ALLOC:
    case OP_MAKE_SLICE: /* indexing in the body reads its parts */
    case OP_ALLOC_EMPTY: return 0;
    default: return safe_node(&push->inner, node);
    }
}

/* Notes what kind of a moved node it is: what depends on constants alone is moved for its readers' sake only, and stays
 * inside as well; so does what is no more than a view of a non-sequence. */
static int classify(Push *push, PyObject *node)
{
    int views = rewrite_flag(as_apply(node)->op, "view_map"), computing = views < 0 ? -1 : !views, dependent = 0;
    for (Py_ssize_t i = 0; computing >= 0 && i < node_n_inputs(node); i++) {
        PyObject *variable = node_input(node, i), *owner = variable_owner(variable);
        int is_dependent = owner == Py_None ? !rewrite_is_constant(push->context->state, variable) : PySet_Contains(push->dependent, owner);
        int is_computed = owner == Py_None ? 0 : PySet_Contains(push->computed, owner);
        if (is_dependent < 0 || is_computed < 0) return -1;
        dependent |= is_dependent;
        computing |= is_computed;
    }
    if (computing < 0 || (dependent && PySet_Add(push->dependent, node) < 0)) return -1;
    return computing && dependent ? PySet_Add(push->computed, node) : 0;
}

/* Makes the node outside, and notes its results. */
static int move_node(Push *push, PyObject *node)
{
    int result = -1;
    PyObject *made = NULL, *inputs = PyList_New(0);
    for (Py_ssize_t i = 0; inputs != NULL && i < node_n_inputs(node); i++) {
        PyObject *outer = peek_outer(push, node_input(node, i));
        if (outer == NULL || PyList_Append(inputs, outer) < 0) goto done;
    }
    if (inputs != NULL) made = rewrite_make_node(as_apply(node)->op, inputs, node);
    if (made == NULL) goto done;
    for (Py_ssize_t i = 0; i < node_n_outputs(node); i++) {
        if (PyDict_SetItem(push->outer_of, node_output(node, i), node_output(made, i)) < 0) goto done;
    }
    result = classify(push, node);
done:
    Py_XDECREF(made);
    Py_XDECREF(inputs);
    return result;
}

static int start_with_non_seqs(Push *push)
{
    for (Py_ssize_t i = push->layout.inner_non_seqs; i < push->layout.n_inner_inputs; i++) {
        PyObject *outer = node_input(push->node, scan_outer_input_of_inner(&push->layout, i));
        if (PyDict_SetItem(push->outer_of, PyList_GET_ITEM(push->body->inputs, i), outer) < 0) return -1;
    }
    return 0;
}

/* ---- what the body reads of them ---- */

/* 1 or 0, or -1: a node that stays, or an output of the body, reads the variable. */
static int is_read_inside(Push *push, PyObject *variable)
{
    PyObject *clients = graph_peek_clients(push->body, variable);
    for (Py_ssize_t i = 0; clients != NULL && i < PyList_GET_SIZE(clients); i++) {
        PyObject *client = PyTuple_GET_ITEM(PyList_GET_ITEM(clients, i), 0);
        if (PyUnicode_Check(client)) return 1;
        int moved = PyDict_Contains(push->outer_of, node_output(client, 0));
        if (moved <= 0) return moved < 0 ? -1 : 1;
    }
    return 0;
}

/* The result of a moved node becomes a non-sequence. */
static int add_non_seq(Push *push, PyObject *variable)
{
    int result = -1;
    PyObject *input = PyObject_CallMethod(variable_type(variable), "make_variable", NULL), *done = NULL;
    if (input == NULL) return -1;
    if ((done = PyObject_CallMethod((PyObject *)push->body, "add_input", "O", input)) == NULL) goto done;
    if (PyList_Append(push->new_inputs, input) < 0) goto done;
    if (PyList_Append(push->new_outers, PyDict_GetItem(push->outer_of, variable)) < 0) goto done;
    result = rewrite_replace(push->body, variable, input, REASON) < 0 ? -1 : 0;
done:
    Py_XDECREF(done);
    Py_DECREF(input);
    return result;
}

/* Appends to `read` the results of a moved node that become non-sequences. */
static int collect_results(Push *push, PyObject *node, PyObject *read)
{
    int moved = PySet_Contains(push->computed, node);
    for (Py_ssize_t k = 0; moved > 0 && k < node_n_outputs(node); k++) {
        int is_read = is_read_inside(push, node_output(node, k));
        if (is_read < 0 || (is_read && PyList_Append(read, node_output(node, k)) < 0)) return -1;
    }
    return moved < 0 ? -1 : 0;
}

/* Moves what can move. The nodes of the body are looked at first, and edited afterwards: the list of nodes stays good. */
static int push_nodes(Push *push)
{
    PyObject *order = graph_toposort(push->body), *read = PyList_New(0);
    int result = order == NULL || read == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; result == 0 && i < PyList_GET_SIZE(order); i++) {
        int moves = can_move(push, PyList_GET_ITEM(order, i));
        result = moves <= 0 ? moves : move_node(push, PyList_GET_ITEM(order, i));
    }
    for (Py_ssize_t i = 0; result == 0 && i < PyList_GET_SIZE(order); i++) result = collect_results(push, PyList_GET_ITEM(order, i), read);
    for (Py_ssize_t i = 0; result == 0 && i < PyList_GET_SIZE(read); i++) result = add_non_seq(push, PyList_GET_ITEM(read, i));
    Py_XDECREF(read);
    Py_XDECREF(order);
    return result;
}

/* ---- the new loop ---- */

/* Whether the body reads the inner input; a non-sequence that only moved nodes read goes (outside, they read what it was). */
static bool keeps_input(Push *push, Py_ssize_t i)
{
    return i < push->layout.inner_non_seqs || graph_count_clients(push->body, PyList_GET_ITEM(push->body->inputs, i)) > 0;
}

/* Owned: what is kept of the inner (or the outer) inputs, then the new ones. */
static PyObject *inputs_new(Push *push, bool outer)
{
    const ScanLayout *layout = &push->layout;
    PyObject *list = outer ? as_apply(push->node)->inputs : push->body->inputs;
    Py_ssize_t n_before = outer ? layout->outer_non_seqs : layout->inner_non_seqs;
    PyObject *result = PyList_GetSlice(list, 0, n_before);
    for (Py_ssize_t i = 0; result != NULL && i < layout->n_non_seqs; i++) {
        bool keep = keeps_input(push, layout->inner_non_seqs + i);
        if (keep && PyList_Append(result, PyList_GET_ITEM(list, n_before + i)) < 0) Py_CLEAR(result);
    }
    PyObject *more = outer ? push->new_outers : push->new_inputs;
    Py_ssize_t end = result == NULL ? 0 : PyList_GET_SIZE(result);
    if (result != NULL && PyList_SetSlice(result, end, end, more) < 0) Py_CLEAR(result);
    return result;
}

/* Owned: the new op. */
static PyObject *pushed_op_new(Push *push, PyObject *inner_inputs)
{
    PyObject *op = as_apply(push->node)->op, *info = PyObject_GetAttrString(op, "info"), *new_info = NULL, *result = NULL;
    PyObject *changes = Py_BuildValue("{sn}", "n_non_seqs", PyList_GET_SIZE(inner_inputs) - push->layout.inner_non_seqs);
    if (info != NULL && changes != NULL) new_info = scan_info_replace(info, changes);
    if (new_info != NULL) result = scan_op_rebuild(op, new_info, inner_inputs, push->body->outputs);
    Py_XDECREF(new_info);
    Py_XDECREF(changes);
    Py_XDECREF(info);
    return result;
}

/* 1 when the loop was replaced, 0, or -1. */
static int replace_loop(Push *push)
{
    PyObject *inner_inputs = inputs_new(push, false), *inputs = inner_inputs == NULL ? NULL : inputs_new(push, true);
    PyObject *op = inputs == NULL ? NULL : pushed_op_new(push, inner_inputs);
    PyObject *made = op == NULL ? NULL : rewrite_make_node(op, inputs, push->node);
    int result = made == NULL ? -1 : rewrite_replace_node(push->graph, push->node, made, REASON);
    Py_XDECREF(made);
    Py_XDECREF(op);
    Py_XDECREF(inputs);
    Py_XDECREF(inner_inputs);
    return result;
}

/* ---- the pass ---- */

static int push_body(Push *push)
{
    if ((push->body = scan_body_new(push->node, push->context)) == NULL) return -1;
    if (safe_init(&push->inner, push->body, push->context->state) < 0) return -1;
    if ((push->outer_of = PyDict_New()) == NULL || (push->computed = PySet_New(NULL)) == NULL) return -1;
    if ((push->dependent = PySet_New(NULL)) == NULL || (push->new_inputs = PyList_New(0)) == NULL) return -1;
    if ((push->new_outers = PyList_New(0)) == NULL || start_with_non_seqs(push) < 0) return -1;
    if (push_nodes(push) < 0) return -1;
    return PyList_GET_SIZE(push->new_inputs) == 0 ? 0 : replace_loop(push);
}

/* The number of nodes moved, or -1. */
static Py_ssize_t push_node(Push *push)
{
    Py_ssize_t result = scan_layout_init(&push->layout, push->node);
    if (result == 0 && !push->layout.has_mit_mot && push->layout.n_non_seqs > 0) {
        result = push_body(push);
        if (result > 0) result = PySet_GET_SIZE(push->computed);
    }
    Py_XDECREF(push->new_outers);
    Py_XDECREF(push->new_inputs);
    Py_XDECREF(push->computed);
    Py_XDECREF(push->dependent);
    Py_XDECREF(push->outer_of);
    safe_clear(&push->inner);
    Py_XDECREF((PyObject *)push->body);
    scan_layout_clear(&push->layout);
    return result;
}

Py_ssize_t rewrite_scan_push_out(FunctionGraph *graph, RewriteContext *context)
{
    PyObject *scans = scan_nodes_new(graph, context->state);
    Py_ssize_t n_changes = scans == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; n_changes >= 0 && i < PyList_GET_SIZE(scans); i++) {
        Push push = {.graph = graph, .context = context, .node = PyList_GET_ITEM(scans, i)};
        int present = rewrite_has_node(graph, push.node);
        Py_ssize_t done = present > 0 ? push_node(&push) : present;
        n_changes = done < 0 ? -1 : n_changes + done;
    }
    Py_XDECREF(scans);
    return n_changes;
}
