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
    PyObject *auto_name; /* an int until asked for, then the str `auto_<n>` */
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
    PyObject *input_set;                    /* dict: Variable -> True, of the inputs as they were when n_input_set of them stood in the list */
    Py_ssize_t n_input_set;
    PyObject *apply_nodes, *variables;      /* sets */
    PyObject *clients;                      /* dict: Variable -> list of (Apply or "output", int) */
    PyObject *client_positions;             /* dict for long client lists: Variable -> {(client, i): position}; see graph.c */
    PyObject *features;                     /* list, in the order of attaching (`_features` in Python) */
    PyObject *update_mapping;               /* dict: output index -> input index */
    PyObject *inv_update_mapping;           /* dict: input index -> output index */
    PyObject *journal;                      /* list of changes that can be undone; NULL without a History. See journal.c */
    long long n_checkpoints;
    int edit_depth;                         /* edits under way: a listener may begin one inside another */
    bool is_reverting;
    PyObject *removed_nodes;                /* set of nodes that replace_all_validate_remove took out, or NULL */
    bool has_reintroduced;                  /* one of them came back since the last validate */
    PyObject *destroy_state;                /* what the DestroyHandler knows, or NULL; see features/destroy.h */
    PyObject *profile, *name;
    PyObject *vetoes;                       /* list of (reason, variable text, exception text): every refused proposal, kept when it happened */
    PyObject *dict, *weakrefs;
} FunctionGraph;

/* What a feature of this package does at each event; NULL where it does nothing. Each returns 0, or -1 with an exception. */
typedef struct FeatureHooks {
    int (*on_import)(PyObject *feature, FunctionGraph *graph, PyObject *node, PyObject *reason);
    int (*on_prune)(PyObject *feature, FunctionGraph *graph, PyObject *node, PyObject *reason);
    /* node is an Apply or the str "output" */
    int (*on_change_input)(PyObject *feature, FunctionGraph *graph, PyObject *node, Py_ssize_t i, PyObject *variable,
                           PyObject *new_variable, PyObject *reason);
    int (*validate)(PyObject *feature, FunctionGraph *graph);
    /* Adds its rules to `rules`, a dict: Apply -> list of the Applys that must run before it. */
    int (*orderings)(PyObject *feature, FunctionGraph *graph, PyObject *rules);
    /* Owned: the feature for a copy of its graph; equiv maps old to new variables. */
    PyObject *(*clone)(PyObject *feature, PyObject *equiv);
} FeatureHooks;

/* `hooks` is NULL for an instance of a Python subclass, whose callbacks are called by name. */
typedef struct Feature {
    PyObject_HEAD
    const FeatureHooks *hooks;
    PyObject *value; /* what the constructor was given and the hooks read, or NULL */
    PyObject *dict, *weakrefs;
} Feature;

/* One per module object: the types, exceptions and interned names that every function here needs. */
typedef struct GraphState {
    PyTypeObject *Type, *Op, *Variable, *AtomicVariable, *Constant, *NominalVariable, *SharedVariable, *Apply, *FunctionGraph;
    PyObject *InconsistencyError, *MissingInputError, *MethodNotDefined;
    PyTypeObject *Scratchpad, *PyThunk, *Feature, *ReplaceValidate, *DestroyHandler, *DestroyState;
    PyObject *AlreadyThere, *ReplacementDidNotRemoveError;
    PyObject *nominal_cache;   /* dict: (type, id) -> NominalVariable */
    PyObject *nominal_classes; /* dict: class of the variables -> class of their nominal ones */
    PyObject *no_params;       /* what Apply.run_params returns for an Op without params */
    PyObject *package_dir;     /* str: where this package's Python files lie, with the separator */
    PyObject *last_origin;     /* the last (file, line) handed out, or NULL: lines make many nodes */
    PyObject *node_hook;       /* called with each node that a call of an Op makes, or NULL: computes test values */
    long long n_variables;     /* numbers auto_name */
    PyObject *str_output, *str_destroy_map, *str_view_map, *str_kind, *str_tag, *str_props, *str_default_output, *str_type;
} GraphState;

/* The state is the first member of the module's own (bind/module.h asserts it). */
static inline GraphState *graph_state_of_module(PyObject *module) { return (GraphState *)PyModule_GetState(module); }

/* Fills the state and adds the types and functions to the module; 0 or -1. Called once by bind/module.c. */
int graph_module_exec(PyObject *module, GraphState *state);
int graph_state_traverse(GraphState *state, visitproc visit, void *arg);
void graph_state_clear(GraphState *state);
/* Lent: the state of the module that made this graph object's type (subclasses included). */
GraphState *graph_state_of(PyObject *graph_object);
/* Lent: the same from the type; NULL with an exception for a type that is not made from this module's. */
GraphState *graph_state_of_type(PyTypeObject *type);

static inline bool graph_is_computed(PyObject *variable) { return ((Variable *)variable)->owner != Py_None; }

/* 1 with the integer that a Constant's data is; 0: no integer, or none of this width; or -1. */
int graph_read_integer(PyObject *constant, Py_ssize_t *integer);

/* Owned: the nodes in an order in which they can run, as a list; takes the features' orderings into account. */
PyObject *graph_toposort(FunctionGraph *graph);
/* Owned: a copy with its nodes, features cloned; *equiv (may be NULL) gets an owned dict old -> new. */
PyObject *graph_clone(FunctionGraph *graph, bool attach_features, PyObject **equiv);
/* Lent: the list of the variable's clients, or an empty list's stand-in NULL without an exception when it has none. */
PyObject *graph_peek_clients(FunctionGraph *graph, PyObject *variable);
Py_ssize_t graph_count_clients(FunctionGraph *graph, PyObject *variable);
/* Replaces one variable by another everywhere; no validation. */
int graph_replace(FunctionGraph *graph, PyObject *variable, PyObject *new_variable, PyObject *reason, bool import_missing);
/* Replaces and validates; on a veto rolls back, notes it in `vetoes`, and returns 1 without an exception. 0: done; -1:
 * another error (rolled back too). `pairs` is a sequence of (old, new). */
int graph_replace_validate(FunctionGraph *graph, PyObject *pairs, PyObject *reason);
/* The checks of FunctionGraph.check_integrity, all of them (test builds run it after each pass). */
int graph_check_integrity(FunctionGraph *graph);
/* 1 or 0, or -1: equal constants have equal types and data (NaN equals NaN, 0.0 differs from -0.0). */
int graph_constants_equal(PyObject *a, PyObject *b);


/* For features: what a graph offers to its listeners. */
/* 0 or -1: starts or stops keeping the journal. */
int graph_journal_start(FunctionGraph *graph);
void graph_journal_stop(FunctionGraph *graph);
/* The new checkpoint's number; what was noted before it is dropped. -1 without a journal. */
long long graph_checkpoint(FunctionGraph *graph);
/* Undoes every change since the checkpoint; 0 or -1. */
int graph_revert(FunctionGraph *graph, long long checkpoint);
/* Replaces all pairs and validates; on any failure everything is undone and -1 returned; a veto (InconsistencyError out
 * of validate) is noted in `vetoes` and sets *vetoed. `import_missing` as in replace. */
int graph_replace_all(FunctionGraph *graph, PyObject *pairs, PyObject *reason, bool verbose, bool import_missing, bool *vetoed);
/* 0 or -1: asks every feature, in the order of attaching. */
int graph_validate(FunctionGraph *graph);
/* Owned: the nodes between inputs and outputs in an order that keeps the rules (dict: Apply -> list of Applys before
 * it); ValueError for a cycle. */
PyObject *graph_order(GraphState *state, PyObject *inputs, PyObject *outputs, PyObject *rules);
/* Owned: the same without rules. */
PyObject *graph_io_toposort(GraphState *state, PyObject *inputs, PyObject *outputs);
/* 1 and an owned *value; 0 and NULL when there is no such attribute; -1 with another exception. */
int graph_lookup_attr(PyObject *object, const char *name, PyObject **value);
/* 1 with *value lent, 0 with NULL, or -1: a dict's item. (PyDict_GetItemString takes a failure for an item that is not there.) */
int graph_find_item(PyObject *dict, const char *name, PyObject **value);
/* 0 or -1: gives the key a value unless it has one. (PyDict_SetDefault of 3.13.0 takes no memory for success and counts an item
 * that it has not made, so that the next walk over the dict crashes.) */
int graph_set_default(PyObject *dict, PyObject *key, PyObject *value);
/* The exception that is set, taken out of the thread's state (owned; NULL when none is set), and put back (stolen; NULL
 * is fine). */
PyObject *graph_error_take(void);
void graph_error_give(PyObject *stolen_error);

#endif
