/* What the in-place passes share: the in-place variant of an Op, and who is to advance a generator itself.
 *
 * Relies on: common. Relied on by: inplace_subtensor.c, scan_inplace.c, inplace_random.c. */
#ifndef PYSCAN_REWRITE_INPLACE_H
#define PYSCAN_REWRITE_INPLACE_H

#include "rewrite/common.h"

/* The states of generators that lead to what is stored: updates first, then other outputs. Where several nodes read one
 * state, the one whose new state is stored should be the one that advances the generator itself (the others read it before). */
typedef struct Heirs {
    PyObject *of_updates, *of_outputs; /* owned sets of generator variables */
} Heirs;

int heirs_init(Heirs *heirs, FunctionGraph *graph, GraphState *state);
void heirs_clear(Heirs *heirs);
/* 1 or 0, or -1: no reader of `state_variable` has a better claim to it than the node that makes `next_state` of it. */
int heirs_is_first(const Heirs *heirs, PyObject *state_variable, PyObject *next_state);
/* To be called when a node was replaced by another: what held of its outputs holds of the other's. */
int heirs_follow(Heirs *heirs, PyObject *node, PyObject *new_node);

/* 1 when the node was replaced by one with the in-place Op, 0 when a feature vetoed it, -1. `heirs` may be NULL. */
int inplace_try_node(FunctionGraph *graph, PyObject *node, Heirs *heirs, const char *reason);

#endif
