/* local_inplace_setsubtensor (position 60): writing into part of a tensor overwrites the tensor.
 *
 *     before   IncSubtensor{Set;:int64:}(AllocEmpty(5), x0, 1)          a copy of the buffer, then the write
 *     after    IncSubtensor{InplaceSet;:int64:}(AllocEmpty(5), x0, 1)   the write
 *
 * It needs the DestroyHandler (49.5), which keeps other readers of the tensor before the write and refuses what cannot be
 * ordered, and the Supervisor, which protects inputs and outputs. It runs before scan_make_inplace: a state's buffer is then filled where it is.
 *
 * Relies on: inplace. Relied on by: the driver. */
#include "rewrite/inplace.h"

#define REASON "local_inplace_setsubtensor"

/* 1 or 0, or -1. */
static int is_candidate(RewriteContext *context, PyObject *node)
{
    int kind = rewrite_kind(context->state, node);
    if (kind != OP_INC_SUBTENSOR && kind != OP_ADVANCED_INC_SUBTENSOR1 && kind != OP_ADVANCED_INC_SUBTENSOR) return kind < 0 ? -1 : 0;
    int in_place = rewrite_flag(as_apply(node)->op, "inplace");
    return in_place < 0 ? -1 : !in_place;
}

Py_ssize_t rewrite_inplace_subtensor(FunctionGraph *graph, RewriteContext *context)
{
    if (!features_has_destroy_handler(graph)) return 0; /* nobody would refuse */
    PyObject *order = graph_toposort(graph);
    Py_ssize_t n_changes = order == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; n_changes >= 0 && i < PyList_GET_SIZE(order); i++) {
        int done = is_candidate(context, PyList_GET_ITEM(order, i));
        if (done > 0) done = inplace_try_node(graph, PyList_GET_ITEM(order, i), NULL, REASON);
        n_changes = done < 0 ? -1 : n_changes + done;
    }
    Py_XDECREF(order);
    return n_changes;
}
