/* Loops as the passes see them: which input belongs to which output, and how a loop is replaced by a changed one.
 *
 * Relies on: common. Relied on by: scan_prune.c, scan_push_out.c, scan_save_memory.c, scan_inplace.c, inplace.c. */
#ifndef PYSCAN_REWRITE_SCAN_EDIT_H
#define PYSCAN_REWRITE_SCAN_EDIT_H

#include "rewrite/common.h"

/* Positions in the four lists of a Scan node, read from op.info. Outputs are numbered as the node's are; inner output k is
 * output k as long as there are no mit-mots (has_mit_mot: the passes that edit bodies leave such a loop alone). */
typedef struct ScanLayout {
    bool has_mit_mot, as_while;
    Py_ssize_t n_seqs, n_mit_mot, n_mit_sot, n_sit_sot, n_nit_sot, n_shared, n_non_seqs;
    Py_ssize_t n_recurrent;      /* mit-mot + mit-sot + sit-sot: the first outputs */
    Py_ssize_t n_outputs;        /* recurrent, nit-sot, shared */
    Py_ssize_t n_outer_inputs;   /* n_steps, seqs, recurrent, shared, nit-sot lengths, non-seqs */
    Py_ssize_t n_inner_inputs;   /* seqs, taps of the recurrent, shared, non-seqs */
    Py_ssize_t inner_shared, inner_non_seqs; /* where these begin among the inner inputs */
    Py_ssize_t outer_shared, outer_lengths, outer_non_seqs;
    Py_ssize_t *output_of_inner; /* owned: inner input -> the output that carries it on, or -1 */
    Py_ssize_t *past;            /* owned: recurrent output -> L, how many rows before step 0 its buffer has */
} ScanLayout;

/* 0, or -1 with an exception; scan_layout_clear is needed in either case. The layout begins as {0}. */
int scan_layout_init(ScanLayout *layout, PyObject *node);
void scan_layout_clear(ScanLayout *layout);

/* The outer input that an output starts from: a state, a generator, the length of a nit-sot. */
Py_ssize_t scan_outer_input_of_output(const ScanLayout *layout, Py_ssize_t output);
/* The outer input of an inner input; the taps of a state share one. */
Py_ssize_t scan_outer_input_of_inner(const ScanLayout *layout, Py_ssize_t inner_input);

/* Owned: a copy of the body as a FunctionGraph of its own, equal computations merged (a raw body holds each random
 * variable twice); its inputs are op.fgraph's. */
FunctionGraph *scan_body_new(PyObject *node, RewriteContext *context);

/* Owned: the info with these fields changed. */
PyObject *scan_info_replace(PyObject *info, PyObject *changes);
/* Owned: op.rebuild(info=, inner_inputs=, inner_outputs=). */
PyObject *scan_op_rebuild(PyObject *op, PyObject *info, PyObject *inner_inputs, PyObject *inner_outputs);

/* Owned: the Scan nodes of the graph in topological order, as a list. */
PyObject *scan_nodes_new(FunctionGraph *graph, GraphState *state);

#endif
