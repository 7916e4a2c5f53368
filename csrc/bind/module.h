/* The module's state: one struct a room. Relied on by: the other files of bind. */
#ifndef PYSCAN_BIND_MODULE_H
#define PYSCAN_BIND_MODULE_H

#include "features/feature.h"
#include "graph/graph.h"

typedef struct CoreState {
    GraphState graph;
} CoreState;

extern PyModuleDef core_module_def;

static inline CoreState *core_state_get(PyObject *module) { return (CoreState *)PyModule_GetState(module); }

#endif
