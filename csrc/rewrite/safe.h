/* Which nodes cannot fail at run time, whatever values come.
 *
 * Relies on: shape. Relied on by: fold.c, scan_prune.c, scan_push_out.c. */
#ifndef PYSCAN_REWRITE_SAFE_H
#define PYSCAN_REWRITE_SAFE_H

#include "rewrite/common.h"

/* Answers about one graph, kept so that each node is looked at once. */
typedef struct Safe {
    GraphState *state;
    PyObject *known;        /* owned dict: Apply -> bool: neither the node nor what it depends on can fail */
    PyObject *computed;     /* owned set of nodes that are computed anyway, as the owner of a Safe finds out: they count as safe */
    PyObject *step_numbers; /* owned set of variables that a loop of this graph takes as n_steps: the loop refuses a negative one itself */
} Safe;

/* 0, or -1 with an exception; safe_clear is needed in either case. */
int safe_init(Safe *safe, FunctionGraph *graph, GraphState *state);
void safe_clear(Safe *safe);
/* 1 or 0, or -1: the node itself cannot fail, given its inputs. */
int safe_node(Safe *safe, PyObject *node);
/* 1 or 0, or -1: the variable can be left uncomputed, or be computed where it was not, and no error appears or goes. */
int safe_value(Safe *safe, PyObject *variable);

#endif
