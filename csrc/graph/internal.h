/* What the files of this room share: containers keyed by object identity, the walks, and the steps of an edit.
 *
 * Relies on: graph.h, base/mem. Relied on by: csrc/graph/ alone. */
#ifndef PYSCAN_GRAPH_INTERNAL_H
#define PYSCAN_GRAPH_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "graph/graph.h"
#include <structmember.h> /* needs Python.h before it */

/* A hash table from object identity to a number. It owns no reference: whoever fills it keeps the objects alive. */
typedef struct PtrMap {
    size_t n_slots, n_used;
    const void **keys;
    int64_t *values;
} PtrMap;

/* All zero is a valid empty map. */
void ptrmap_clear(PtrMap *map);
/* Lent until the next put: the value's place, made with value 0 when it is new; NULL with MemoryError. */
int64_t *ptrmap_put(PtrMap *map, const void *key, bool *is_new);
/* Lent, or NULL without an exception. */
int64_t *ptrmap_find(const PtrMap *map, const void *key);
static inline bool ptrmap_has(const PtrMap *map, const void *key) { return ptrmap_find(map, key) != NULL; }
/* 0 or -1: puts every object of a sequence or other iterable with value 1; *kept is an owned list that keeps them alive. */
int ptrmap_put_all(PtrMap *map, PyObject *iterable, PyObject **kept);

/* A growing array of borrowed objects; all zero is a valid empty stack. */
typedef struct PtrStack {
    size_t n, capacity;
    PyObject **items;
} PtrStack;

int ptrstack_push(PtrStack *stack, PyObject *object);
void ptrstack_clear(PtrStack *stack);

static inline Variable *as_variable(PyObject *object) { return (Variable *)object; }
static inline Apply *as_apply(PyObject *object) { return (Apply *)object; }
/* Lent: the Apply that computes the variable, or NULL. */
static inline PyObject *owner_peek(PyObject *variable)
{
    PyObject *owner = ((Variable *)variable)->owner;
    return owner == Py_None ? NULL : owner;
}
static inline bool is_variable(GraphState *state, PyObject *object) { return PyObject_TypeCheck(object, state->Variable); }
static inline bool is_atomic(GraphState *state, PyObject *object) { return PyObject_TypeCheck(object, state->AtomicVariable); }
static inline bool is_constant(GraphState *state, PyObject *object) { return PyObject_TypeCheck(object, state->Constant); }
static inline bool is_apply(GraphState *state, PyObject *object) { return PyObject_TypeCheck(object, state->Apply); }

/* Makes the heap type from the spec, adds it to the module under its last name, and returns it owned. */
PyTypeObject *graph_add_type(PyObject *module, PyType_Spec *spec, PyObject *bases);

/* One entry point a file, called by graph_module_exec; each makes its types or adds its functions. */
int tag_exec(PyObject *module, GraphState *state);
int type_exec(PyObject *module, GraphState *state);
int op_exec(PyObject *module, GraphState *state);
int variable_exec(PyObject *module, GraphState *state);
int atomic_exec(PyObject *module, GraphState *state);
int apply_exec(PyObject *module, GraphState *state);
int errors_exec(PyObject *module, GraphState *state);
int fgraph_exec(PyObject *module, GraphState *state);
int walk_exec(PyObject *module);
int clone_exec(PyObject *module);
int print_exec(PyObject *module);
int equal_exec(PyObject *module);
int pickle_exec(PyObject *module);

/* errors.c */
/* Owned: (file, line) of the innermost frame whose code is the user's, or None. */
PyObject *origin_here(GraphState *state);
/* Raises MissingInputError with the text and the variable's origin. Steals text (NULL keeps the exception that is set). */
void raise_missing_input(GraphState *state, PyObject *stolen_text, PyObject *variable);

/* tag.c. Owned: a new scratchpad; a copy of one (NULL gives NULL with no exception). */
PyObject *tag_new(GraphState *state);
int tag_copy(GraphState *state, PyObject *tag, PyObject **copy);
/* 0 or -1: appends str(reason) to the list of that name on a node's scratchpad, which is made when it is NULL. Nodes
 * that come in when a graph is made ("init"), as most do, get no note. */
int tag_note(GraphState *state, PyObject **tag, const char *name, PyObject *reason);

/* props.c: what __props__ means for Op and Type. */
PyObject *props_richcompare(PyObject *a, PyObject *b, int compare);
Py_hash_t props_hash(PyObject *self);
/* Owned: `Name{a=1}`; NULL without an exception when there are no __props__. */
PyObject *props_text(PyObject *self);
PyObject *props_init_subclass(PyObject *cls, PyObject *args, PyObject *kwargs);
PyObject *props_tuple(PyObject *self, PyObject *unused);
PyObject *props_dict(PyObject *self, PyObject *unused);
extern const char props_init_subclass_doc[], props_tuple_doc[], props_dict_doc[];

/* variable.c */
int variable_traverse(PyObject *self, visitproc visit, void *arg);
int variable_clear(PyObject *self);
PyObject *variable_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
/* The end of a dealloc: gives up what a Variable holds, and the memory. */
void variable_free(PyObject *self);
/* Owned: a copy without an owner, by the class's own clone(). */
PyObject *variable_clone_new(GraphState *state, PyObject *variable);
/* 0 or -1: sets type and name as a constructor does, for a leaf made here. */
int variable_set_leaf(GraphState *state, Variable *self, PyObject *type, PyObject *name);

/* apply.c. Owned. */
PyObject *apply_make(GraphState *state, PyTypeObject *cls, PyObject *op, PyObject *inputs, PyObject *outputs);
PyObject *apply_clone_with_new_inputs(GraphState *state, PyObject *node, PyObject *inputs, bool strict, bool clone_inner_graph);

/* type.c. 1, 0 or -1: equality of types; whether one may stand where the other stood. */
int types_equal(PyObject *a, PyObject *b);
int type_is_super(PyObject *type, PyObject *other);
/* Owned: the object as a Variable that fits the type, by its filter_variable. */
PyObject *type_filter_variable(GraphState *state, PyObject *type, PyObject *object, bool allow_convert);

/* walk.c, order.c. Owned lists. */
PyObject *walk_ancestors(GraphState *state, PyObject *starts, PyObject *blockers);
PyObject *walk_between(GraphState *state, PyObject *inputs, PyObject *outputs);
PyObject *walk_applys(GraphState *state, PyObject *inputs, PyObject *outputs);
/* The nodes above `outputs` whose results are not `known` yet (a set of Variables, or NULL), in running order. */
PyObject *order_new_nodes(GraphState *state, PyObject *known, PyObject *outputs);
/* An owned list or tuple of the sequence's items, all of them Variables, or TypeError that names what came. */
PyObject *variables_of(GraphState *state, PyObject *iterable, const char *what);

/* clone.c. Fills memo (a dict old -> new); 0 or -1. */
typedef struct CloneOptions {
    bool copy_inputs, copy_orphans, clone_inner_graphs, strict;
} CloneOptions;
int clone_into(GraphState *state, PyObject *inputs, PyObject *outputs, PyObject *memo, CloneOptions options);

/* print.c. Owned: a list with one text an output. */
PyObject *print_graph(GraphState *state, PyObject *inputs, PyObject *outputs);

/* notify.c. Each asks every feature, in order, and goes on after a failure; the first failure is the one that is raised. */
int notify_import(FunctionGraph *graph, PyObject *node, PyObject *reason);
int notify_prune(FunctionGraph *graph, PyObject *node, PyObject *reason);
int notify_change(FunctionGraph *graph, PyObject *node, Py_ssize_t i, PyObject *variable, PyObject *new_variable, PyObject *reason);
PyObject *notify_orderings(FunctionGraph *graph);
PyObject *notify_call(FunctionGraph *graph, const char *name, PyObject *args, PyObject *kwargs, bool collect);
/* Keeps the first of two exceptions: takes the one that is set into *first, or drops it. */
void keep_first_error(PyObject **first);

/* clients.c: `clients` and the positions of the entries of long lists. */
/* Lent: the variable's list; made when `make`, else NULL without an exception when there is none. */
PyObject *clients_peek(FunctionGraph *graph, PyObject *variable, bool make);
int clients_add(FunctionGraph *graph, PyObject *variable, PyObject *client);
/* 1 and *place (for clients_put_back), 0 when it was not there, or -1. */
int clients_drop(FunctionGraph *graph, PyObject *variable, PyObject *client, Py_ssize_t *place);
int clients_put_back(FunctionGraph *graph, PyObject *variable, PyObject *client, Py_ssize_t place);
/* Forgets the variable; 0 or -1. */
int clients_forget(FunctionGraph *graph, PyObject *variable);
/* Owned: the tuple (node or "output", i). */
PyObject *client_new(PyObject *node, Py_ssize_t i);

/* edit.c */
/* 1, 0 or -1. */
int has_input(FunctionGraph *graph, PyObject *variable);
int add_input(FunctionGraph *graph, PyObject *variable, bool check);
int add_output(FunctionGraph *graph, PyObject *variable, PyObject *reason, bool import_missing);
int import_variable(FunctionGraph *graph, PyObject *variable, PyObject *reason, bool import_missing);
int import_node(FunctionGraph *graph, PyObject *node, bool check, PyObject *reason, bool import_missing);
/* Takes one client away and prunes what nobody reads then. Each removal is appended to `removals` (may be NULL) as
 * (variable, client, place). */
int prune_client(FunctionGraph *graph, PyObject *variable, PyObject *client, PyObject *reason, PyObject *removals);
/* 0: done. 1: done, and a listener raised. -1: nothing done. */
int change_input(FunctionGraph *graph, PyObject *node, Py_ssize_t i, PyObject *new_variable, PyObject *reason, bool import_missing, bool check);
/* The same for callers: a listener's failure undoes the change. */
int change_input_or_undo(FunctionGraph *graph, PyObject *node, Py_ssize_t i, PyObject *new_variable, PyObject *reason, bool import_missing, bool check);

/* remove.c */
int remove_node(FunctionGraph *graph, PyObject *node, PyObject *reason);
int remove_input(FunctionGraph *graph, Py_ssize_t i, PyObject *reason);
int remove_output(FunctionGraph *graph, Py_ssize_t i, PyObject *reason);

/* journal.c */
/* Owned: a note of one change for the journal. */
int journal_note(FunctionGraph *graph, PyObject *node, Py_ssize_t i, PyObject *old, PyObject *reason, PyObject *removals, Py_ssize_t n_inputs);
/* Prints what replaces what; 0 or -1. */
int replace_say(GraphState *state, PyObject *reason, PyObject *variable, PyObject *new_variable);

#endif
