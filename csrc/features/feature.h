/* Features: listeners on a FunctionGraph that may veto an edit. The built-in ones are C types with a table of hooks;
 * a Python feature (or a Python subclass of a built-in one) gets every callback as a method call.
 *
 * Relies on: graph. Relied on by: rewrite, bind. graph calls back through the hooks, which bind installs in the state. */
#ifndef PYSCAN_FEATURES_FEATURE_H
#define PYSCAN_FEATURES_FEATURE_H

#include "graph/graph.h"

int features_module_exec(PyObject *module, GraphState *graph_state);

/* Lent or NULL: the node that destroys the variable or a root that it views; needs a DestroyHandler on the graph. */
PyObject *features_peek_destroyer(FunctionGraph *graph, PyObject *variable);
bool features_has_destroy_handler(FunctionGraph *graph);

#endif
