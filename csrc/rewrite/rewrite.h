/* Passes over a FunctionGraph: one file, one entry point each; the driver runs those that the mode selects, in order.
 *
 * Relies on: graph, features, ops. Relied on by: bind. */
#ifndef PYSCAN_REWRITE_REWRITE_H
#define PYSCAN_REWRITE_REWRITE_H

#include "features/feature.h"

/* What passes need from outside: evaluates a node with constant inputs (a Python callable `evaluate(node) -> list of
 * data`, or None), so that rewrite does not depend on lower. */
typedef struct RewriteContext {
    GraphState *state;
    PyObject *evaluate;
} RewriteContext;

/* Each returns the number of changes made, or -1. */
Py_ssize_t rewrite_merge(FunctionGraph *graph, RewriteContext *context);
Py_ssize_t rewrite_fold(FunctionGraph *graph, RewriteContext *context);
Py_ssize_t rewrite_scan_prune(FunctionGraph *graph, RewriteContext *context);
Py_ssize_t rewrite_scan_push_out(FunctionGraph *graph, RewriteContext *context);
Py_ssize_t rewrite_scan_save_memory(FunctionGraph *graph, RewriteContext *context);
Py_ssize_t rewrite_add_destroy_handler(FunctionGraph *graph, RewriteContext *context);
Py_ssize_t rewrite_inplace_subtensor(FunctionGraph *graph, RewriteContext *context);
Py_ssize_t rewrite_scan_inplace(FunctionGraph *graph, RewriteContext *context);
Py_ssize_t rewrite_inplace_random(FunctionGraph *graph, RewriteContext *context);

/* Adds passes(), rewrite() and set_verify() to the module; 0 or -1. The rows are in rewrite/passes.def. */
int rewrite_module_exec(PyObject *module, GraphState *graph_state);

#endif
