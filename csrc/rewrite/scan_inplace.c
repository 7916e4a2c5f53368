/* scan_make_inplace (position 75): loops overwrite their initial states and advance the generators that they carry.
 *
 *     before   for{cpu,scan_fn}(10, state, rng, ...)              destroy_map {}
 *     after    forall_inplace,cpu,scan_fn}(10, state, rng, ...)   destroy_map {0: [1], 1: [2]}
 *
 * The outer graph decides: an entry of the destroy map is proposed, and the Supervisor (is it a function's input that must
 * stay?) and the DestroyHandler (does somebody read it afterwards?) answer. For each loop all entries are proposed at once, then, if that was
 * refused, one by one. A loop whose generator is refused still draws in place inside; the program then takes one copy of it
 * before the first step.
 *
 * Loops go from last to first, but those whose new generator state is stored come before the others that read the same
 * state (heirs of inplace.h). Where the heir is a draw outside the loop, which random_make_inplace will look at, the loop does not
 * even propose to take the generator; this is noted as a veto.
 *
 * Two loops that start from the same buffer would each overwrite it: the second gets a buffer of its own, made by the same nodes.
 *
 * Relies on: scan_edit, inplace. Relied on by: the driver; random_make_inplace runs after it. */
#include "base/mem.h"
#include "rewrite/inplace.h"
#include "rewrite/scan_edit.h"

#define REASON "scan_make_inplace"

typedef struct InplaceLoop {
    FunctionGraph *graph;
    RewriteContext *context;
    Heirs *heirs;
    PyObject *node;      /* owned: the Scan node, or the one that replaced it */
    ScanLayout layout;
    bool *is_candidate;  /* owned: per output */
    PyObject *accepted;  /* owned: the destroy map so far */
} InplaceLoop;

/* The node stands for the loop from now on. */
static int become(InplaceLoop *loop, PyObject *node)
{
    if (heirs_follow(loop->heirs, loop->node, node) < 0) return -1;
    Py_SETREF(loop->node, Py_NewRef(node));
    return 0;
}

/* ---- buffers of one's own ---- */

/* 1 or 0, or -1: another loop overwrites the variable, or an earlier state of this loop is the same. */
static int is_taken(const InplaceLoop *loop, Py_ssize_t i_input)
{
    PyObject *variable = node_input(loop->node, i_input);
    for (Py_ssize_t i = 1 + loop->layout.n_seqs; i < i_input; i++) {
        if (node_input(loop->node, i) == variable) return 1;
    }
    PyObject *destroyer = features_peek_destroyer(loop->graph, variable);
    if (destroyer == NULL) return PyErr_Occurred() ? -1 : 0;
    return destroyer != loop->node;
}

/* Owned: the variable made once more: by a node like the one that makes it, over a fresh allocation where that
 * overwrites its own. NULL without an exception when it is not a buffer of this kind. */
static PyObject *remade_new(GraphState *state, PyObject *variable, bool may_fill)
{
    if (!graph_is_computed(variable)) return NULL;
    PyObject *node = variable_owner(variable), *inputs = NULL, *made = NULL, *result = NULL;
    int kind = rewrite_kind(state, node);
    if (kind != OP_ALLOC && kind != OP_ALLOC_EMPTY && !(kind == OP_INC_SUBTENSOR && may_fill)) return NULL;
    if ((inputs = PyList_GetSlice(as_apply(node)->inputs, 0, node_n_inputs(node))) == NULL) return NULL;
    if (kind == OP_INC_SUBTENSOR) {
        PyObject *base = remade_new(state, node_input(node, 0), false);
        if (base == NULL || PyList_SetItem(inputs, 0, base) < 0) goto done;
    }
    if ((made = rewrite_make_node(as_apply(node)->op, inputs, node)) == NULL) goto done;
    result = Py_NewRef(node_output(made, 0));
done:
    Py_XDECREF(made);
    Py_DECREF(inputs);
    return result;
}

/* Gives the loop its own buffers in place of those that are taken: 0, or -1. */
static int separate_states(InplaceLoop *loop)
{
    const ScanLayout *layout = &loop->layout;
    PyObject *inputs = PyList_GetSlice(as_apply(loop->node)->inputs, 0, layout->n_outer_inputs), *made = NULL;
    bool changed = false;
    int result = -1;
    if (inputs == NULL) return -1;
    for (Py_ssize_t k = 0; k < layout->n_recurrent; k++) {
        Py_ssize_t i_input = scan_outer_input_of_output(layout, k);
        int taken = is_taken(loop, i_input);
        if (taken < 0) goto done;
        if (!taken) continue;
        PyObject *own = remade_new(loop->context->state, node_input(loop->node, i_input), true);
        if (own == NULL && PyErr_Occurred()) goto done;
        if (own == NULL) continue;
        if (PyList_SetItem(inputs, i_input, own) < 0) goto done;
        changed = true;
    }
    result = 0;
    if (!changed) goto done;
    if ((made = rewrite_make_node(as_apply(loop->node)->op, inputs, loop->node)) == NULL) result = -1;
    if (result == 0) result = rewrite_replace_node(loop->graph, loop->node, made, REASON);
    if (result > 0) result = become(loop, made);
    result = result < 0 ? -1 : 0;
done:
    Py_XDECREF(made);
    Py_DECREF(inputs);
    return result;
}

/* ---- candidates ---- */

/* 1 or 0, or -1: a draw that is still to be looked at has a better claim to the state. */
static int waits_for_draw(const InplaceLoop *loop, PyObject *state_variable)
{
    PyObject *clients = graph_peek_clients(loop->graph, state_variable);
    for (Py_ssize_t i = 0; clients != NULL && i < PyList_GET_SIZE(clients); i++) {
        PyObject *client = PyTuple_GET_ITEM(PyList_GET_ITEM(clients, i), 0);
        if (PyUnicode_Check(client)) continue;
        int kind = rewrite_kind(loop->context->state, client);
        if (kind < 0) return -1;
        if (kind != OP_RANDOM) continue;
        int is_first = heirs_is_first(loop->heirs, state_variable, node_output(client, 0));
        if (is_first != 0) return is_first;
    }
    return 0;
}

static int note_veto(const InplaceLoop *loop)
{
    PyObject *text = PyObject_Str(loop->node), *veto = NULL;
    if (text != NULL) {
        veto = Py_BuildValue("(sOs)", REASON, text, "Another draw from this generator state is the one whose new state is stored: it advances "
                                                    "the generator itself, and the loop draws from a copy.");
    }
    int result = veto == NULL ? -1 : PyList_Append(loop->graph->vetoes, veto);
    Py_XDECREF(veto);
    Py_XDECREF(text);
    return result;
}

/* Chooses the outputs to propose; `heir_turn` tells which generators: 0, or -1. */
static int choose(InplaceLoop *loop, int heir_turn)
{
    const ScanLayout *layout = &loop->layout;
    for (Py_ssize_t k = 0; k < layout->n_outputs; k++) {
        bool is_path = k >= layout->n_recurrent && k < layout->n_recurrent + layout->n_nit_sot;
        if (is_path) continue;
        if (k < layout->n_recurrent) {
            loop->is_candidate[k] = heir_turn;
            continue;
        }
        PyObject *state_variable = node_input(loop->node, scan_outer_input_of_output(layout, k));
        int is_first = heirs_is_first(loop->heirs, state_variable, node_output(loop->node, k));
        if (is_first < 0) return -1;
        loop->is_candidate[k] = is_first == heir_turn;
        if (!loop->is_candidate[k] || is_first) continue;
        int waits = waits_for_draw(loop, state_variable);
        if (waits < 0 || (waits && note_veto(loop) < 0)) return -1;
        if (waits) loop->is_candidate[k] = false;
    }
    return 0;
}

/* ---- proposals ---- */

static int add_entry(PyObject *map, const ScanLayout *layout, Py_ssize_t output)
{
    PyObject *key = PyLong_FromSsize_t(output), *value = key ? Py_BuildValue("[n]", scan_outer_input_of_output(layout, output)) : NULL;
    int result = value == NULL ? -1 : PyDict_SetItem(map, key, value);
    Py_XDECREF(value);
    Py_XDECREF(key);
    return result;
}

/* Proposes the accepted entries and those more: 1 (they are accepted now), 0 when a feature vetoed them, -1. */
static int propose(InplaceLoop *loop, PyObject *map)
{
    PyObject *op = PyObject_CallMethod(as_apply(loop->node)->op, "with_destroy_map", "O", map);
    PyObject *made = op == NULL ? NULL : rewrite_make_node(op, as_apply(loop->node)->inputs, loop->node);
    int result = made == NULL ? -1 : rewrite_replace_node(loop->graph, loop->node, made, REASON);
    if (result > 0) result = become(loop, made) < 0 ? -1 : 1;
    if (result > 0) Py_SETREF(loop->accepted, Py_NewRef(map));
    Py_XDECREF(made);
    Py_XDECREF(op);
    return result;
}

/* Proposes one more output, or (output -1) all candidates; the count of accepted ones, or -1. */
static Py_ssize_t propose_outputs(InplaceLoop *loop, Py_ssize_t output)
{
    Py_ssize_t n_entries = 0, result = -1;
    PyObject *map = PyDict_Copy(loop->accepted);
    if (map == NULL) return -1;
    for (Py_ssize_t k = 0; k < loop->layout.n_outputs; k++) {
        if (!loop->is_candidate[k] || (output >= 0 && k != output)) continue;
        if (add_entry(map, &loop->layout, k) < 0) goto done;
        n_entries++;
    }
    int accepted = n_entries == 0 ? 0 : propose(loop, map);
    result = accepted < 0 ? -1 : accepted ? n_entries : 0;
done:
    Py_DECREF(map);
    return result;
}

static Py_ssize_t count_candidates(const InplaceLoop *loop)
{
    Py_ssize_t count = 0;
    for (Py_ssize_t k = 0; k < loop->layout.n_outputs; k++) count += loop->is_candidate[k];
    return count;
}

/* The number of outputs made in place, or -1. */
static Py_ssize_t take_turn(InplaceLoop *loop, int heir_turn)
{
    if (choose(loop, heir_turn) < 0) return -1;
    Py_ssize_t n_changes = propose_outputs(loop, -1);
    if (n_changes != 0 || count_candidates(loop) < 2) return n_changes;
    for (Py_ssize_t k = 0; n_changes >= 0 && k < loop->layout.n_outputs; k++) {
        if (!loop->is_candidate[k]) continue;
        Py_ssize_t done = propose_outputs(loop, k);
        n_changes = done < 0 ? -1 : n_changes + done;
    }
    return n_changes;
}

/* ---- the pass ---- */

/* Owned: the loop's destroy map, as it is. */
static PyObject *destroy_map_new(PyObject *node)
{
    PyObject *map = PyObject_GetAttrString(as_apply(node)->op, "destroy_map"), *copy = NULL;
    if (map != NULL) {
        copy = PyDict_New();
        if (copy != NULL && PyDict_Update(copy, map) < 0) Py_CLEAR(copy);
    }
    Py_XDECREF(map);
    return copy;
}

/* One loop's turn; *node is replaced by the node that stands for the loop afterwards. */
static Py_ssize_t work_on(FunctionGraph *graph, RewriteContext *context, Heirs *heirs, PyObject **node, int heir_turn)
{
    InplaceLoop loop = {.graph = graph, .context = context, .heirs = heirs, .node = *node};
    Py_ssize_t n_changes = -1;
    if (scan_layout_init(&loop.layout, *node) < 0) goto done;
    loop.is_candidate = mem_calloc((size_t)loop.layout.n_outputs + 1, sizeof *loop.is_candidate);
    if (loop.is_candidate == NULL) PyErr_NoMemory();
    if (loop.is_candidate == NULL || (loop.accepted = destroy_map_new(*node)) == NULL) goto done;
    if (heir_turn && separate_states(&loop) < 0) goto done;
    n_changes = take_turn(&loop, heir_turn);
done:
    *node = loop.node;
    Py_XDECREF(loop.accepted);
    mem_free(loop.is_candidate);
    scan_layout_clear(&loop.layout);
    return n_changes;
}

Py_ssize_t rewrite_scan_inplace(FunctionGraph *graph, RewriteContext *context)
{
    Heirs heirs = {0};
    PyObject *scans = NULL;
    Py_ssize_t n_changes = -1;
    if (!features_has_destroy_handler(graph)) return 0; /* nobody would refuse */
    if (heirs_init(&heirs, graph, context->state) < 0) goto done;
    if ((scans = scan_nodes_new(graph, context->state)) == NULL) goto done;
    n_changes = 0;
    for (int heir_turn = 1; heir_turn >= 0; heir_turn--) {
        for (Py_ssize_t i = PyList_GET_SIZE(scans) - 1; n_changes >= 0 && i >= 0; i--) {
            PyObject *node = Py_NewRef(PyList_GET_ITEM(scans, i));
            int present = rewrite_has_node(graph, node);
            Py_ssize_t done = present > 0 ? work_on(graph, context, &heirs, &node, heir_turn) : present;
            n_changes = done < 0 ? -1 : n_changes + done;
            if (PyList_SetItem(scans, i, node) < 0) n_changes = -1; /* takes the reference */
        }
    }
done:
    Py_XDECREF(scans);
    heirs_clear(&heirs);
    return n_changes;
}
