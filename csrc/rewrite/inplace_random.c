/* random_make_inplace (position 99, the last): random variables advance the generator that they read.
 *
 *     before   normal_rv{0, (0, 0), floatX, False}(rng, ...)    a copy of the generator is drawn from
 *     after    normal_rv{0, (0, 0), floatX, True}(rng, ...)     the generator itself is
 *
 * The same pass works in a function's graph and in the body of a loop, whose carried generators are not protected. What
 * the Supervisor protects (a generator without an update, one that is an output too, a loop's generator that is not
 * carried on) stays as it was. Of several draws that read one state, the one whose new state is stored comes first here,
 * so that it gets the generator; the others are refused by the DestroyHandler, which orders them before it. It runs last, so
 * that loops (scan_make_inplace) have taken theirs.
 *
 * Relies on: inplace. Relied on by: the driver. */
#include "rewrite/inplace.h"

#define REASON "random_make_inplace"

/* 1 or 0, or -1. */
static int is_candidate(RewriteContext *context, PyObject *node)
{
    int kind = rewrite_kind(context->state, node);
    if (kind != OP_RANDOM || node_n_inputs(node) == 0) return kind < 0 ? -1 : 0;
    int in_place = rewrite_flag(as_apply(node)->op, "inplace");
    return in_place < 0 ? -1 : !in_place;
}

Py_ssize_t rewrite_inplace_random(FunctionGraph *graph, RewriteContext *context)
{
    Heirs heirs = {0};
    PyObject *order = NULL;
    Py_ssize_t n_changes = -1;
    if (!features_has_destroy_handler(graph)) return 0; /* nobody would refuse */
    if (heirs_init(&heirs, graph, context->state) < 0) goto done;
    if ((order = graph_toposort(graph)) == NULL) goto done;
    n_changes = 0;
    for (int turn = 1; turn >= 0; turn--) { /* first the draws with the best claim, then the others */
        for (Py_ssize_t i = 0; n_changes >= 0 && i < PyList_GET_SIZE(order); i++) {
            PyObject *node = PyList_GET_ITEM(order, i);
            int done = rewrite_has_node(graph, node);
            if (done > 0) done = is_candidate(context, node);
            if (done > 0) {
                int is_first = heirs_is_first(&heirs, node_input(node, 0), node_output(node, 0));
                done = is_first < 0 ? -1 : is_first == turn ? inplace_try_node(graph, node, &heirs, REASON) : 0;
            }
            n_changes = done < 0 ? -1 : n_changes + done;
        }
    }
done:
    Py_XDECREF(order);
    heirs_clear(&heirs);
    return n_changes;
}
