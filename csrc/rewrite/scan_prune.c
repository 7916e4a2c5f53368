/* scan_prune (position 0.02): inputs, outputs and nodes of loops that nobody reads are removed.
 *
 *     before   for{cpu,scan_fn}(10, state h, state y, a, a, 2.0).0      body: h + a*2.0, y*a
 *     after    for{cpu,scan_fn}(10, state h, a).0                        body: h + a*2.0
 *
 * What goes:
 *   - an output without clients that no other output needs (a state may feed the others);
 *   - a non-sequence that the body does not read;
 *   - of two sequences or two non-sequences that are the same variable, the second (the body reads the first);
 *   - a non-sequence that is a constant: the body holds the constant itself.
 *
 * What stays: everything whose removal could be noticed. A node of the body that may fail keeps the output that leads to
 * it, an outer expression that may fail keeps its input, and an output stays whose rows may turn out to be of different
 * lengths, so that the same errors come; a sequence is kept even when it is not read,
 * since the loop checks its length; the generators' new states with a client stay, with the draws that lead to them, so that every other
 * draw has the same numbers.
 *
 * It runs right after merge and folding (bodies are merged here), before push-out, which then meets fewer nodes. Loops go
 * from last to first: what a pruned loop no longer reads is dead when its maker is looked at.
 *
 * Relies on: scan_edit, safe, merge.c. Relied on by: the driver. */
#include "base/mem.h"
#include "rewrite/safe.h"
#include "rewrite/scan_edit.h"
#include "rewrite/shape.h"

#define REASON "scan_prune"

typedef struct Prune {
    FunctionGraph *graph;
    RewriteContext *context;
    Safe *outer;          /* answers about the graph around the loop */
    PyObject *node;       /* the Scan node */
    FunctionGraph *body;  /* owned: a merged copy */
    Safe inner;           /* answers about the body; `computed` holds what the needed outputs need */
    ScanLayout layout;
    PyObject *carried;    /* owned dict: inner state or generator -> the output that carries it on */
    bool *is_needed;      /* owned: per output */
    bool *keeps_input;    /* owned: per inner input (false only for sequences and non-sequences) */
    Py_ssize_t n_changes;
} Prune;

/* ---- which outputs are needed ---- */

static int fill_carried(Prune *prune)
{
    if ((prune->carried = PyDict_New()) == NULL) return -1;
    for (Py_ssize_t i = prune->layout.n_seqs; i < prune->layout.inner_non_seqs; i++) {
        PyObject *output = PyLong_FromSsize_t(prune->layout.output_of_inner[i]);
        int failed = output == NULL || PyDict_SetItem(prune->carried, PyList_GET_ITEM(prune->body->inputs, i), output) < 0;
        Py_XDECREF(output);
        if (failed) return -1;
    }
    return 0;
}

/* Pushes what an input of the body needs: the output that carries it on. */
static int need_leaf(Prune *prune, PyObject *variable, PyObject *stack)
{
    PyObject *output = PyDict_GetItemWithError(prune->carried, variable);
    if (output == NULL) return PyErr_Occurred() ? -1 : 0;
    Py_ssize_t k = PyLong_AsSsize_t(output);
    if (prune->is_needed[k]) return 0;
    prune->is_needed[k] = true;
    return PyList_Append(stack, PyList_GET_ITEM(prune->body->outputs, k));
}

/* Pushes what a node needs, once. */
static int need_node(Prune *prune, PyObject *node, PyObject *stack)
{
    int seen = PySet_Contains(prune->inner.computed, node);
    if (seen != 0) return seen < 0 ? -1 : 0;
    if (PySet_Add(prune->inner.computed, node) < 0) return -1;
    for (Py_ssize_t i = 0; i < node_n_inputs(node); i++) {
        if (PyList_Append(stack, node_input(node, i)) < 0) return -1;
    }
    return 0;
}

/* Marks an output, the nodes that it needs, and in turn the states and generators that they read. */
static int need_output(Prune *prune, Py_ssize_t output)
{
    PyObject *stack = PyList_New(0);
    int result = -1;
    if (output < prune->layout.n_outputs) prune->is_needed[output] = true;
    if (stack != NULL) result = PyList_Append(stack, PyList_GET_ITEM(prune->body->outputs, output));
    while (result == 0 && PyList_GET_SIZE(stack) > 0) {
        Py_ssize_t last = PyList_GET_SIZE(stack) - 1;
        PyObject *variable = Py_NewRef(PyList_GET_ITEM(stack, last)), *owner = variable_owner(variable);
        result = PyList_SetSlice(stack, last, last + 1, NULL);
        if (result == 0) result = owner == Py_None ? need_leaf(prune, variable, stack) : need_node(prune, owner, stack);
        Py_DECREF(variable);
    }
    Py_XDECREF(stack);
    return result;
}

/* 1 or 0, or -1: an outer input can be given up: somebody else reads it too, or computing it cannot fail. */
static int can_drop_outer(Prune *prune, Py_ssize_t outer_input)
{
    PyObject *variable = node_input(prune->node, outer_input);
    PyObject *clients = graph_peek_clients(prune->graph, variable);
    if (variable == node_input(prune->node, 0)) return 1; /* n_steps stays */
    for (Py_ssize_t i = 0; clients != NULL && i < PyList_GET_SIZE(clients); i++) {
        if (PyTuple_GET_ITEM(PyList_GET_ITEM(clients, i), 0) != prune->node) return 1;
    }
    return safe_value(prune->outer, variable);
}

/* Lent: the first inner input that an output carries on, NULL for a path. */
static PyObject *peek_carrying(Prune *prune, Py_ssize_t output)
{
    for (Py_ssize_t i = prune->layout.n_seqs; i < prune->layout.inner_non_seqs; i++) {
        if (prune->layout.output_of_inner[i] == output) return PyList_GET_ITEM(prune->body->inputs, i);
    }
    return NULL;
}

/* 1 or 0, or -1: all rows of an output have one length on that axis. Those of a state have its own; those of a path have the
 * first row's, so that the length must not be computed anew in each step: what comes into the body keeps its lengths. */
static int has_one_length(Prune *prune, Py_ssize_t output, Py_ssize_t axis)
{
    GraphState *state = prune->context->state;
    PyObject *result = PyList_GET_ITEM(prune->body->outputs, output), *carrying = peek_carrying(prune, output);
    Length length, row;
    if (rewrite_length(state, result, axis, &length) < 0) return -1;
    if (carrying == NULL) return length.is_known || (length.axis >= 0 && !graph_is_computed(length.variable));
    if (rewrite_length(state, carrying, axis, &row) < 0) return -1;
    return (length.is_known && length.value == 1) || rewrite_same_length(&length, &row);
}

/* 1 or 0, or -1: storing the output's rows cannot fail. */
static int can_store(Prune *prune, Py_ssize_t output)
{
    Py_ssize_t rank = rewrite_rank(PyList_GET_ITEM(prune->body->outputs, output));
    int result = rank == -2 ? -1 : 1;
    for (Py_ssize_t axis = 0; result > 0 && axis < rank; axis++) result = has_one_length(prune, output, axis);
    return result;
}

/* An output that is not needed stays all the same when leaving it out could hide an error. */
static int need_failing_outputs(Prune *prune)
{
    for (Py_ssize_t k = 0; k < prune->layout.n_outputs; k++) {
        if (prune->is_needed[k]) continue;
        int droppable = safe_value(&prune->inner, PyList_GET_ITEM(prune->body->outputs, k));
        if (droppable > 0) droppable = can_store(prune, k);
        if (droppable > 0) droppable = can_drop_outer(prune, scan_outer_input_of_output(&prune->layout, k));
        if (droppable < 0 || (droppable == 0 && need_output(prune, k) < 0)) return -1;
    }
    return 0;
}

static int find_needed(Prune *prune)
{
    const ScanLayout *layout = &prune->layout;
    for (Py_ssize_t k = 0; k < layout->n_outputs; k++) {
        if (graph_count_clients(prune->graph, node_output(prune->node, k)) > 0 && need_output(prune, k) < 0) return -1;
    }
    if (layout->as_while && need_output(prune, layout->n_outputs) < 0) return -1;
    return need_failing_outputs(prune);
}

/* ---- which inputs go ---- */

/* The clients that count are nodes of needed outputs, and needed outputs themselves. */
static int is_read(Prune *prune, PyObject *variable)
{
    PyObject *clients = graph_peek_clients(prune->body, variable);
    for (Py_ssize_t i = 0; clients != NULL && i < PyList_GET_SIZE(clients); i++) {
        PyObject *client = PyTuple_GET_ITEM(PyList_GET_ITEM(clients, i), 0);
        if (PyUnicode_Check(client)) {
            Py_ssize_t k = PyLong_AsSsize_t(PyTuple_GET_ITEM(PyList_GET_ITEM(clients, i), 1));
            if (k >= prune->layout.n_outputs || prune->is_needed[k]) return 1;
        } else {
            int computed = PySet_Contains(prune->inner.computed, client);
            if (computed != 0) return computed;
        }
    }
    return 0;
}

/* The body reads `replacement` instead of its input i, which goes. 1, 0 when a feature of the body said no, or -1. */
static int substitute_input(Prune *prune, Py_ssize_t i, PyObject *replacement)
{
    int done = rewrite_replace(prune->body, PyList_GET_ITEM(prune->body->inputs, i), replacement, REASON);
    if (done > 0) {
        prune->keeps_input[i] = false;
        prune->n_changes++;
    }
    return done;
}

/* Joins inputs i in [from, to) whose outer variables are the same. */
static int join_inputs(Prune *prune, Py_ssize_t from, Py_ssize_t to)
{
    PyObject *first = PyDict_New(); /* outer variable -> inner variable */
    int result = first == NULL ? -1 : 0;
    for (Py_ssize_t i = from; result >= 0 && i < to; i++) {
        PyObject *outer = node_input(prune->node, scan_outer_input_of_inner(&prune->layout, i));
        PyObject *inner = PyList_GET_ITEM(prune->body->inputs, i), *other = PyDict_GetItemWithError(first, outer);
        if (other == NULL) {
            result = PyErr_Occurred() ? -1 : PyDict_SetItem(first, outer, inner);
            continue;
        }
        result = PyObject_RichCompareBool(variable_type(other), variable_type(inner), Py_EQ);
        if (result > 0) result = substitute_input(prune, i, other);
    }
    Py_XDECREF(first);
    return result < 0 ? -1 : 0;
}

static int drop_non_seqs(Prune *prune)
{
    for (Py_ssize_t i = prune->layout.inner_non_seqs; i < prune->layout.n_inner_inputs; i++) {
        if (!prune->keeps_input[i]) continue;
        PyObject *inner = PyList_GET_ITEM(prune->body->inputs, i);
        Py_ssize_t i_outer = scan_outer_input_of_inner(&prune->layout, i);
        PyObject *outer = node_input(prune->node, i_outer);
        int read = is_read(prune, inner), done;
        if (read < 0) return -1;
        if (read && rewrite_is_constant(prune->context->state, outer)) {
            done = substitute_input(prune, i, outer);
        } else {
            done = read ? 0 : can_drop_outer(prune, i_outer);
            if (done > 0) prune->keeps_input[i] = false;
            if (done > 0) prune->n_changes++;
        }
        if (done < 0) return -1;
    }
    return 0;
}

/* ---- the new loop ---- */

/* Owned: the kept items of one of the lists of a kind, as a tuple. */
static PyObject *kept_slices_new(Prune *prune, PyObject *info, const char *name, Py_ssize_t first_output)
{
    PyObject *value = PyObject_GetAttrString(info, name), *all = NULL, *kept = NULL, *result = NULL;
    if (value != NULL) all = PySequence_Tuple(value);
    if (all != NULL) kept = PyList_New(0);
    for (Py_ssize_t i = 0; kept != NULL && i < PyTuple_GET_SIZE(all); i++) {
        if (prune->is_needed[first_output + i] && PyList_Append(kept, PyTuple_GET_ITEM(all, i)) < 0) Py_CLEAR(kept);
    }
    if (kept != NULL) result = PyList_AsTuple(kept);
    Py_XDECREF(kept);
    Py_XDECREF(all);
    Py_XDECREF(value);
    return result;
}

static Py_ssize_t count_needed(const Prune *prune, Py_ssize_t from, Py_ssize_t n)
{
    Py_ssize_t count = 0;
    for (Py_ssize_t k = from; k < from + n; k++) count += prune->is_needed[k];
    return count;
}

static Py_ssize_t count_kept(const Prune *prune, Py_ssize_t from, Py_ssize_t to)
{
    Py_ssize_t count = 0;
    for (Py_ssize_t i = from; i < to; i++) count += prune->keeps_input[i];
    return count;
}

/* Owned: the ScanInfo of what is kept. */
static PyObject *pruned_info_new(Prune *prune)
{
    const ScanLayout *layout = &prune->layout;
    PyObject *info = PyObject_GetAttrString(as_apply(prune->node)->op, "info"), *changes = NULL, *result = NULL;
    PyObject *mit_sot = info == NULL ? NULL : kept_slices_new(prune, info, "mit_sot_in_slices", 0);
    PyObject *sit_sot = mit_sot == NULL ? NULL : kept_slices_new(prune, info, "sit_sot_in_slices", layout->n_mit_sot);
    if (sit_sot != NULL) {
        changes = Py_BuildValue("{snsOsOsnsnsn}", "n_seqs", count_kept(prune, 0, layout->n_seqs), "mit_sot_in_slices", mit_sot,
                                "sit_sot_in_slices", sit_sot, "n_nit_sot", count_needed(prune, layout->n_recurrent, layout->n_nit_sot),
                                "n_shared_outs", count_needed(prune, layout->n_recurrent + layout->n_nit_sot, layout->n_shared),
                                "n_non_seqs", count_kept(prune, layout->inner_non_seqs, layout->n_inner_inputs));
    }
    if (changes != NULL) result = scan_info_replace(info, changes);
    Py_XDECREF(changes);
    Py_XDECREF(sit_sot);
    Py_XDECREF(mit_sot);
    Py_XDECREF(info);
    return result;
}

static bool is_inner_kept(const Prune *prune, Py_ssize_t i)
{
    Py_ssize_t output = prune->layout.output_of_inner[i];
    return output < 0 ? prune->keeps_input[i] : prune->is_needed[output];
}

/* Owned: the new op. */
static PyObject *pruned_op_new(Prune *prune)
{
    PyObject *inputs = PyList_New(0), *outputs = PyList_New(0), *info = pruned_info_new(prune), *op = NULL;
    if (inputs == NULL || outputs == NULL || info == NULL) goto done;
    for (Py_ssize_t i = 0; i < prune->layout.n_inner_inputs; i++) {
        if (is_inner_kept(prune, i) && PyList_Append(inputs, PyList_GET_ITEM(prune->body->inputs, i)) < 0) goto done;
    }
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(prune->body->outputs); k++) {
        bool keep = k >= prune->layout.n_outputs || prune->is_needed[k]; /* the condition comes after the outputs */
        if (keep && PyList_Append(outputs, PyList_GET_ITEM(prune->body->outputs, k)) < 0) goto done;
    }
    op = scan_op_rebuild(as_apply(prune->node)->op, info, inputs, outputs);
done:
    Py_XDECREF(info);
    Py_XDECREF(outputs);
    Py_XDECREF(inputs);
    return op;
}

/* Owned: the outer inputs of the new node. */
static PyObject *pruned_inputs_new(Prune *prune)
{
    const ScanLayout *layout = &prune->layout;
    bool *keep = mem_calloc((size_t)layout->n_outer_inputs + 1, sizeof *keep);
    PyObject *inputs = keep == NULL ? PyErr_NoMemory() : PyList_New(0);
    if (inputs == NULL) goto done;
    keep[0] = true;
    for (Py_ssize_t i = 0; i < layout->n_inner_inputs; i++) {
        if (is_inner_kept(prune, i)) keep[scan_outer_input_of_inner(layout, i)] = true;
    }
    for (Py_ssize_t k = 0; k < layout->n_outputs; k++) {
        if (prune->is_needed[k]) keep[scan_outer_input_of_output(layout, k)] = true;
    }
    for (Py_ssize_t i = 0; i < layout->n_outer_inputs; i++) {
        if (keep[i] && PyList_Append(inputs, node_input(prune->node, i)) < 0) {
            Py_CLEAR(inputs);
            break;
        }
    }
done:
    mem_free(keep);
    return inputs;
}

/* 1 when the loop was replaced, 0, or -1. */
static int replace_loop(Prune *prune)
{
    PyObject *op = pruned_op_new(prune), *inputs = op == NULL ? NULL : pruned_inputs_new(prune);
    PyObject *made = inputs == NULL ? NULL : rewrite_make_node(op, inputs, prune->node);
    PyObject *pairs = made == NULL ? NULL : PyList_New(0);
    int result = pairs == NULL ? -1 : 0;
    Py_ssize_t i_new = 0;
    for (Py_ssize_t k = 0; result == 0 && k < prune->layout.n_outputs; k++) {
        if (!prune->is_needed[k]) continue;
        PyObject *old = node_output(prune->node, k), *new_output = node_output(made, i_new++);
        if (graph_count_clients(prune->graph, old) > 0) result = rewrite_add_pair(pairs, old, new_output);
    }
    if (result == 0) result = rewrite_replace_all(prune->graph, pairs, REASON);
    Py_XDECREF(pairs);
    Py_XDECREF(made);
    Py_XDECREF(inputs);
    Py_XDECREF(op);
    return result;
}

/* ---- the pass ---- */

static int prune_body(Prune *prune)
{
    const ScanLayout *layout = &prune->layout;
    prune->is_needed = mem_calloc((size_t)layout->n_outputs + 1, sizeof *prune->is_needed);
    prune->keeps_input = mem_calloc((size_t)layout->n_inner_inputs + 1, sizeof *prune->keeps_input);
    if (prune->is_needed == NULL || prune->keeps_input == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < layout->n_inner_inputs; i++) prune->keeps_input[i] = true;
    if (safe_init(&prune->inner, prune->body, prune->context->state) < 0) return -1;
    if (fill_carried(prune) < 0 || find_needed(prune) < 0) return -1;
    for (Py_ssize_t k = 0; k < layout->n_outputs; k++) prune->n_changes += !prune->is_needed[k];
    if (join_inputs(prune, 0, layout->n_seqs) < 0) return -1;
    if (join_inputs(prune, layout->inner_non_seqs, layout->n_inner_inputs) < 0) return -1;
    if (drop_non_seqs(prune) < 0) return -1;
    return prune->n_changes == 0 ? 0 : replace_loop(prune);
}

/* The number of things removed, or -1. */
static Py_ssize_t prune_node(Prune *prune)
{
    Py_ssize_t result = -1;
    if (scan_layout_init(&prune->layout, prune->node) < 0) goto done;
    if (prune->layout.has_mit_mot) {
        result = 0;
        goto done;
    }
    if ((prune->body = scan_body_new(prune->node, prune->context)) == NULL) goto done;
    result = prune_body(prune);
    if (result > 0) result = prune->n_changes;
done:
    mem_free(prune->keeps_input);
    mem_free(prune->is_needed);
    Py_XDECREF(prune->carried);
    safe_clear(&prune->inner);
    Py_XDECREF((PyObject *)prune->body);
    scan_layout_clear(&prune->layout);
    return result;
}

Py_ssize_t rewrite_scan_prune(FunctionGraph *graph, RewriteContext *context)
{
    Safe outer;
    Py_ssize_t n_changes = -1;
    PyObject *scans = NULL;
    if (safe_init(&outer, graph, context->state) < 0) goto done;
    if ((scans = scan_nodes_new(graph, context->state)) == NULL) goto done;
    n_changes = 0;
    for (Py_ssize_t i = PyList_GET_SIZE(scans) - 1; n_changes >= 0 && i >= 0; i--) {
        Prune prune = {.graph = graph, .context = context, .outer = &outer, .node = PyList_GET_ITEM(scans, i)};
        int present = rewrite_has_node(graph, prune.node);
        Py_ssize_t done = present > 0 ? prune_node(&prune) : present;
        n_changes = done < 0 ? -1 : n_changes + done;
    }
done:
    Py_XDECREF(scans);
    safe_clear(&outer);
    return n_changes;
}
