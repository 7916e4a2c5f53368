/* What the files of this room share: how a built-in feature becomes a Python class.
 *
 * Relies on: feature.h. Relied on by: csrc/features/ alone. */
#ifndef PYSCAN_FEATURES_INTERNAL_H
#define PYSCAN_FEATURES_INTERNAL_H

#include <stdlib.h>

#include "base/mem.h"
#include "features/feature.h"
#include <structmember.h> /* needs Python.h before it */

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

static inline Feature *as_feature(PyObject *object) { return (Feature *)object; }

/* Owned: a new instance; it keeps the hooks when the class is a built-in one, not a Python subclass. */
PyObject *feature_new(PyTypeObject *type, const FeatureHooks *hooks);
/* Makes the class and adds it to the module; owned. */
PyTypeObject *feature_add_type(PyObject *module, const char *name, const char *doc, PyTypeObject *base, newfunc make, initproc init, PyMethodDef *methods);

/* Python methods over the hooks: parse the arguments and call the hook, if there is one. */
PyObject *feature_py_import(PyObject *self, PyObject *args, PyObject *kwargs, const FeatureHooks *hooks);
PyObject *feature_py_prune(PyObject *self, PyObject *args, PyObject *kwargs, const FeatureHooks *hooks);
PyObject *feature_py_change(PyObject *self, PyObject *args, PyObject *kwargs, const FeatureHooks *hooks);
PyObject *feature_py_validate(PyObject *self, PyObject *args, PyObject *kwargs, const FeatureHooks *hooks);
PyObject *feature_py_orderings(PyObject *self, PyObject *args, PyObject *kwargs, const FeatureHooks *hooks);

/* Defines NAME_new and the five wrappers for a class with the hooks NAME_hooks. */
#define FEATURE_WRAPPERS(NAME)                                                                                                                              \
    static PyObject *NAME##_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) { return feature_new(type, &NAME##_hooks); }                          \
    static PyObject *NAME##_import(PyObject *self, PyObject *args, PyObject *kwargs) { return feature_py_import(self, args, kwargs, &NAME##_hooks); }       \
    static PyObject *NAME##_prune(PyObject *self, PyObject *args, PyObject *kwargs) { return feature_py_prune(self, args, kwargs, &NAME##_hooks); }         \
    static PyObject *NAME##_change(PyObject *self, PyObject *args, PyObject *kwargs) { return feature_py_change(self, args, kwargs, &NAME##_hooks); }       \
    static PyObject *NAME##_validate(PyObject *self, PyObject *args, PyObject *kwargs) { return feature_py_validate(self, args, kwargs, &NAME##_hooks); }   \
    static PyObject *NAME##_orderings(PyObject *self, PyObject *args, PyObject *kwargs) { return feature_py_orderings(self, args, kwargs, &NAME##_hooks); }

#define FEATURE_EVENTS(NAME)                                                                                                                                \
    {"on_import", WITH_KEYWORDS(NAME##_import), "on_import($self, fgraph, node, reason)\n--\n\nA node has come into the graph."},                            \
    {"on_prune", WITH_KEYWORDS(NAME##_prune), "on_prune($self, fgraph, node, reason)\n--\n\nA node has left the graph."},                                    \
    {"on_change_input", WITH_KEYWORDS(NAME##_change),                                                                                                       \
     "on_change_input($self, fgraph, node, i, var, new_var, reason=None)\n--\n\nThe i-th input of a node (or of \"output\") has changed."},                  \
    {"orderings", WITH_KEYWORDS(NAME##_orderings), "orderings($self, fgraph)\n--\n\ndict: node -> list of nodes that must run before it."},                    \
    {"validate", WITH_KEYWORDS(NAME##_validate), "validate($self, fgraph)\n--\n\nRaise InconsistencyError when the graph, as it is now, must not be."}

/* 0 or -1: gives the graph the feature's static function as a method of that name. */
int graph_lend_method(FunctionGraph *graph, PyObject *feature, const char *function, const char *name);
/* 0 or -1: takes an attribute away; nothing when it is not there. */
int graph_drop_attr(FunctionGraph *graph, const char *name);
/* 0 or -1 with AlreadyThere(text) when the graph has the attribute. */
int refuse_second(FunctionGraph *graph, const char *attribute, const char *text);
/* Lent: the argument as a graph, or TypeError. */
FunctionGraph *need_graph(PyObject *self, PyObject *object);
/* 0 or -1: on_import (or on_prune) of the feature for every node, in running order; by name, so that an override is called. */
int tell_all_nodes(PyObject *feature, FunctionGraph *graph, const char *event, const char *reason);

/* One entry point a file. */
int history_exec(PyObject *module, GraphState *state);
int plain_exec(PyObject *module, GraphState *state);
int destroy_exec(PyObject *module, GraphState *state);
int supervisor_exec(PyObject *module, GraphState *state);

#endif
