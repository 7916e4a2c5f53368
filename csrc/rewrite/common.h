/* What several passes ask about nodes: the kind of an Op, constants, static lengths, edits with a reason.
 *
 * Relies on: graph, ops. Relied on by: the passes. */
#ifndef PYSCAN_REWRITE_COMMON_H
#define PYSCAN_REWRITE_COMMON_H

#include "ops/ops.h"
#include "rewrite/rewrite.h"

/* The kind of an Op that has no row in ops.def: a user's. */
#define OP_USER N_OPS

static inline Apply *as_apply(PyObject *node) { return (Apply *)node; }
static inline PyObject *node_input(PyObject *node, Py_ssize_t i) { return PyList_GET_ITEM(as_apply(node)->inputs, i); }
static inline PyObject *node_output(PyObject *node, Py_ssize_t i) { return PyList_GET_ITEM(as_apply(node)->outputs, i); }
static inline Py_ssize_t node_n_inputs(PyObject *node) { return PyList_GET_SIZE(as_apply(node)->inputs); }
static inline Py_ssize_t node_n_outputs(PyObject *node) { return PyList_GET_SIZE(as_apply(node)->outputs); }
static inline PyObject *variable_owner(PyObject *variable) { return ((Variable *)variable)->owner; }
static inline PyObject *variable_type(PyObject *variable) { return ((Variable *)variable)->type; }

/* The row of ops.def, or OP_USER; -1 with an exception. */
int rewrite_kind(GraphState *state, PyObject *node);
/* 1 or 0, or -1: does the variable come from a node of that kind? */
int rewrite_is_made_by(GraphState *state, PyObject *variable, int kind);
static inline bool rewrite_is_constant(GraphState *state, PyObject *variable) { return PyObject_TypeCheck(variable, state->Constant); }
/* 1 and *value for a constant that is an integer scalar; 0; or -1. */
int rewrite_constant_int(GraphState *state, PyObject *variable, Py_ssize_t *value);
/* 1 or 0, or -1: the attribute's truth; an Op without the attribute counts as false. */
int rewrite_flag(PyObject *object, const char *name);
/* 1 or 0, or -1: is the attribute equal to the text? */
int rewrite_attribute_is(PyObject *object, const char *name, const char *text);
/* 1 and *value, 0 when there is none or it is None, or -1. */
int rewrite_attribute_int(PyObject *object, const char *name, Py_ssize_t *value);
/* 1 or 0, or -1: is it the state of a random generator? */
int rewrite_is_generator(PyObject *variable);

/* The rank of a tensor or scalar variable, or -1 without an exception when it has none, -2 with one. */
Py_ssize_t rewrite_rank(PyObject *variable);
/* 1 and *length when the type (or a constant's data) tells it; 0; or -1. */
int rewrite_static_length(GraphState *state, PyObject *variable, Py_ssize_t axis, Py_ssize_t *length);

/* 1 when the replacement was made, 0 when a feature vetoed it (noted on the graph), -1 with an exception. */
int rewrite_replace(FunctionGraph *graph, PyObject *old_variable, PyObject *new_variable, const char *reason);
int rewrite_replace_all(FunctionGraph *graph, PyObject *pairs, const char *reason);
/* Replaces the outputs of one node by another's, one for one. */
int rewrite_replace_node(FunctionGraph *graph, PyObject *node, PyObject *new_node, const char *reason);
/* Appends (old, new) to a list of pairs. */
int rewrite_add_pair(PyObject *pairs, PyObject *old_variable, PyObject *new_variable);
/* Owned: op.make_node(*inputs) for a list of inputs, said to be made where `node` was made. */
PyObject *rewrite_make_node(PyObject *op, PyObject *inputs, PyObject *node);
/* Owned: a constant of the variable's type that holds the data. */
PyObject *rewrite_make_constant(PyObject *type, PyObject *data);
PyObject *rewrite_make_int(PyObject *type, Py_ssize_t value);
/* 1 or 0, or -1: is the node (still) in the graph? A list of nodes made before an edit may hold nodes that are not. */
static inline int rewrite_has_node(FunctionGraph *graph, PyObject *node) { return PySet_Contains(graph->apply_nodes, node); }

#endif
