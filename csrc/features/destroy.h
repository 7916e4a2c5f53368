/* What the DestroyHandler knows of a graph, kept up to date edit by edit.
 *
 * A variable that shows another one's memory (by a view map) belongs to the other's root; whoever overwrites any of them
 * overwrites the root. Relies on: feature.h. Relied on by: destroy*.c, supervisor.c. */
#ifndef PYSCAN_FEATURES_DESTROY_H
#define PYSCAN_FEATURES_DESTROY_H

#include "features/internal.h"

/* All members are dicts, made with the state. */
typedef struct DestroyState {
    PyObject_HEAD
    PyObject *maps;         /* node -> (indices of the inputs that it overwrites, pairs (output, input) of its views, roots of the former) */
    PyObject *destroyers;   /* node -> True, in the order of import */
    PyObject *root_of;      /* variable that shows another's memory -> root; a root is not in here */
    PyObject *views;        /* variable -> dict of the variables that show it directly */
    PyObject *destroyer_of; /* root -> list of the nodes that overwrite it, one entry for each place */
    PyObject *crowded;      /* roots with more than one entry there */
    PyObject *touched;      /* nodes imported or changed since the last validation that passed */
    PyObject *fresh;        /* roots that got a destroyer or a view since then */
    PyObject *unsupervised; /* the same, and outputs' roots, since the Supervisor's last check that passed */
    PyObject *labels;       /* node -> float: an order in which the nodes can run; empty until there is a destroyer. See destroy_order.c */
    Py_ssize_t n_protected, n_outputs; /* how many the Supervisor's last check that passed saw; -1 before */
} DestroyState;

static inline DestroyState *destroy_state(FunctionGraph *graph) { return (DestroyState *)graph->destroy_state; }

int destroy_state_exec(PyObject *module, GraphState *state);
/* Owned. */
PyObject *destroy_state_new(GraphState *state);

/* The events; 0 or -1. */
int destroy_note_import(DestroyState *destroy, GraphState *state, PyObject *node);
int destroy_note_prune(DestroyState *destroy, PyObject *node);
int destroy_note_change(DestroyState *destroy, PyObject *node, Py_ssize_t i, PyObject *old, PyObject *new_variable);
int destroy_note_output(DestroyState *destroy, PyObject *new_variable);

/* Lent, NULL with an exception: the root, the variable itself when it shows nobody else's memory. */
PyObject *destroy_root(DestroyState *destroy, PyObject *variable);
/* Lent: the list of the root's destroyers; NULL without an exception when there is none. */
PyObject *destroy_destroyers(DestroyState *destroy, PyObject *root);
/* Owned list: all that show the root's memory, breadth first, and the root at the end. */
PyObject *destroy_impact(DestroyState *destroy, PyObject *root);
/* 0, or -1 with "Multiple destroyers of ...". */
int destroy_check_crowded(DestroyState *destroy, GraphState *state);
/* Owned list: the nodes that read the memory of a root that this node overwrites, without the node itself. */
PyObject *destroy_other_readers(FunctionGraph *graph, GraphState *state, PyObject *node);

/* 0, or -1 with "Dependency graph contains cycles": brings the labels up to date for what was touched. */
int destroy_order_update(FunctionGraph *graph, GraphState *state);

#endif
