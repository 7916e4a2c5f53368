/* The graph half's objects: Variable, Constant, NominalVariable, SharedVariable, Apply, Op, Type and FunctionGraph, as C
 * heap types that Python can subclass, and the C functions that other rooms edit graphs with.
 *
 * Python rooms raise directly: a failure return (-1, NULL) means that an exception is set. A borrowed pointer does not
 * survive a call that can run Python. Relies on: base, ops. Relied on by: features, rewrite, lower, bind. */
#ifndef PYSCAN_GRAPH_GRAPH_H
#define PYSCAN_GRAPH_GRAPH_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

/* Members are always set (never NULL) unless said otherwise. */
typedef struct Type {
    PyObject_HEAD
    PyObject *dict, *weakrefs;
} Type;

typedef struct Op {
    PyObject_HEAD
    PyObject *dict, *weakrefs;
} Op;

typedef struct Variable {
    PyObject_HEAD
    PyObject *type;
    PyObject *owner;   /* an Apply, or None */
    PyObject *index;   /* an int, or None */
    PyObject *name;    /* a str, or None */
    PyObject *tag;     /* a scratchpad, made when first asked for: NULL until then */
    PyObject *auto_name;
    PyObject *origin;  /* (file, line) of the user's code that made a leaf, or None */
    PyObject *dict, *weakrefs;
} Variable;

typedef struct Constant {
    Variable variable;
    PyObject *data;
} Constant;

typedef struct NominalVariable {
    Variable variable;
    PyObject *id;
} NominalVariable;

typedef struct SharedVariable {
    Variable variable;
    PyObject *container;       /* the Container that holds the value */
    PyObject *default_update;  /* a Variable, or None */
} SharedVariable;

typedef struct Apply {
    PyObject_HEAD
    PyObject *op;
    PyObject *inputs;   /* a list, edited by FunctionGraph alone */
    PyObject *outputs;  /* a list, never edited */
    PyObject *tag;      /* NULL until asked for */
    PyObject *origin;   /* (file, line) of the innermost frame outside this package when the node was made, or None */
    PyObject *dict, *weakrefs;
} Apply;

typedef struct FunctionGraph {
    PyObject_HEAD
    PyObject *inputs, *outputs;             /* lists of Variables */
    PyObject *apply_nodes, *variables;      /* sets */
    PyObject *clients;                      /* dict: Variable -> list of (Apply or "output", int) */
    PyObject *client_positions;             /* dict for long client lists: Variable -> {(client, i): position}; see graph.c */
    PyObject *features;                     /* list, in the order of attaching (`_features` in Python) */
    PyObject *update_mapping;               /* dict: output index -> input index, or None */
    PyObject *profile, *name;
    PyObject *vetoes;                       /* list of (reason, variable text, exception text): every refused proposal, kept when it happened */
    PyObject *dict, *weakrefs;
} FunctionGraph;

/* One per module object: the types, exceptions and interned names that every function here needs. */
typedef struct GraphState {
    PyTypeObject *Type, *Op, *Variable, *AtomicVariable, *Constant, *NominalVariable, *SharedVariable, *Apply, *FunctionGraph;
    PyObject *InconsistencyError, *MissingInputError, *MethodNotDefined;
    PyObject *nominal_cache; /* dict: (type, id) -> NominalVariable */
    PyObject *str_output, *str_destroy_map, *str_view_map, *str_kind, *str_tag;
} GraphState;

/* Fills the state and adds the types and functions to the module; 0 or -1. Called once by bind/module.c. */
int graph_module_exec(PyObject *module, GraphState *state);
int graph_state_traverse(GraphState *state, visitproc visit, void *arg);
void graph_state_clear(GraphState *state);
/* Lent: the state of the module that made this graph object's type (subclasses included). */
GraphState *graph_state_of(PyObject *graph_object);

static inline bool graph_is_computed(PyObject *variable) { return ((Variable *)variable)->owner != Py_None; }

/* Owned: the nodes in an order in which they can run, as a list; takes the features' orderings into account. */
PyObject *graph_toposort(FunctionGraph *graph);
/* Owned: a copy with its nodes, features cloned; *equiv (may be NULL) gets an owned dict old -> new. */
PyObject *graph_clone(FunctionGraph *graph, bool attach_features, PyObject **equiv);
/* Lent: the list of the variable's clients, or an empty list's stand-in NULL without an exception when it has none. */
PyObject *graph_peek_clients(FunctionGraph *graph, PyObject *variable);
Py_ssize_t graph_count_clients(FunctionGraph *graph, PyObject *variable);
/* Replaces one variable by another everywhere; no validation. */
int graph_replace(FunctionGraph *graph, PyObject *variable, PyObject *new_variable, PyObject *reason, bool import_missing);
/* Replaces and validates; on a veto rolls back, notes it in `vetoes`, and returns 1 without an exception. 0: done; -1: another error (rolled back too).
 * `pairs` is a sequence of (old, new). */
int graph_replace_validate(FunctionGraph *graph, PyObject *pairs, PyObject *reason);
/* The checks of FunctionGraph.check_integrity, all of them (test builds run it after each pass). */
int graph_check_integrity(FunctionGraph *graph);
/* 1 or 0, or -1: equal constants have equal types and data (NaN equals NaN, 0.0 differs from -0.0). */
int graph_constants_equal(PyObject *a, PyObject *b);

#endif
