/* What is known of lengths before a run.
 *
 * Relies on: graph, ops. Relied on by: safe.c, fold.c, scan_prune.c, scan_save_memory.c. */
#ifndef PYSCAN_REWRITE_SHAPE_H
#define PYSCAN_REWRITE_SHAPE_H

#include "rewrite/common.h"

/* A length is a number, or it is the length of some variable's axis that nothing is known of; two lengths with the same
 * source are equal at run time. */
typedef struct Length {
    bool is_known;
    Py_ssize_t value;   /* when known */
    PyObject *variable; /* lent; when not known */
    Py_ssize_t axis;    /* -1: the variable's value is the length */
} Length;

/* 0, or -1 with an exception: the length of one axis of a variable. */
int rewrite_length(GraphState *state, PyObject *variable, Py_ssize_t axis, Length *length);
bool rewrite_same_length(const Length *a, const Length *b);

/* A tensor index: one entry of idx_list together with the inputs that it takes. */
typedef struct IndexEntry {
    bool is_slice;
    PyObject *start, *stop, *step; /* lent; NULL where not given; an index is in `start` */
} IndexEntry;

/* Reads an Op's idx_list, which has the attribute's form of ops.def; `i_input` is the node's first index input. Each
 * call gives one entry: 1 and *entry, 0 when there are no more, -1 with an exception. Begin with {.node = node,
 * .i_input = ...} and end with index_reader_clear. */
typedef struct IndexReader {
    PyObject *node;
    Py_ssize_t i_input, i_entry;
    PyObject *idx_list; /* owned */
} IndexReader;

int index_reader_next(IndexReader *reader, IndexEntry *entry);
void index_reader_clear(IndexReader *reader);

/* 1 and *length when an entry selects a number of elements that is known, of an axis of that length; 0; or -1. */
int rewrite_slice_length(GraphState *state, const IndexEntry *entry, const Length *axis, Py_ssize_t *length);

#endif
