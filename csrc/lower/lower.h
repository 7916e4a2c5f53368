/* The door between the halves: a rewritten FunctionGraph becomes a Program.
 *
 * Relies on: graph, program, random (numbers of distributions), ops. Relied on by: bind. */
#ifndef PYSCAN_LOWER_LOWER_H
#define PYSCAN_LOWER_LOWER_H

#include "graph/graph.h"
#include "program/program.h"

/* A program and the graph objects that its numbers stand for. */
typedef struct Lowered {
    Program *program;  /* owned */
    PyObject *nodes;   /* owned list: Instr.node -> Apply */
    PyObject *calls;   /* owned list: aux of I_CALL -> Apply whose op.perform is called */
    PyObject *objects; /* owned list: constants of generic types, in the order of the inputs appended for them (see lower.c) */
} Lowered;

/* 0, or -1 with an exception. Inputs and outputs of the program are the graph's, in order, then the object constants. */
int lower_graph(FunctionGraph *graph, Lowered *lowered);
void lowered_clear(Lowered *lowered);

#endif
