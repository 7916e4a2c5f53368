/* The module's state: one struct a room. Relied on by: the other files of bind. */
#ifndef PYSCAN_BIND_MODULE_H
#define PYSCAN_BIND_MODULE_H

#include "features/feature.h"
#include "graph/graph.h"
#include "ops/ops.h"
#include "random/fast.h"

/* Who draws a distribution; see selfcheck.c. */
typedef enum Way { WAY_UNKNOWN, WAY_FAST, WAY_SYMBOLS, WAY_LIBRARY, WAY_LEGACY, WAY_METHOD, N_WAYS } Way;

/* What bind needs of NumPy and keeps between calls. Members are owned. */
typedef struct BindState {
    PyTypeObject *Thunk;
    PyObject *Generator, *RandomState, *BitGenerator; /* NumPy's types */
    PyObject *deepcopy;                               /* copy.deepcopy, or NULL before it is needed */
    PyObject *matmul;                                 /* numpy.matmul */
    PyObject *bit_classes;                            /* dict: type of bit generator -> capsule of its BitClass */
    struct Call *active;                              /* lent: the calls that have generators, linked by Call.next_active */
    struct Call *waiting;                             /* lent: those that wait for generators, linked by Call.next_waiting */
    PyObject *active_changed;                         /* threading.Condition: told when a call ends while another waits; NULL before that */
    size_t gauss_place;                               /* of a RandomState's second Gaussian in the object; 0: not where it can be used */
    bool gauss_is_learned;
    PyObject *acquire, *release;                      /* interned, so that giving a lock back needs no memory */
    PyObject *bit_generator, *lock;                   /* interned names of attributes */
    const struct BitClass *last_class;                /* lent: the class of bit generator asked for last, and its type */
    PyTypeObject *last_class_type;                    /* lent: a key of bit_classes */
    PyObject *methods;                                /* dict: distribution -> function(np, rng, size, parameters...) */
    void *symbols[N_DISTS][2];                        /* the running NumPy's functions, NULL where not found; or into `loops` */
    NumpyLoop loops[N_DISTS][2];                      /* of its ufuncs */
    NumpyLoop library[N_LIBRARY][N_LIBRARY_TYPES];    /* see library.c */
    Way ways[N_DISTS], legacy_ways[N_DISTS];          /* of Generators, and of RandomStates */
    unsigned char settled_kinds[N_DISTS], fast_kinds[N_DISTS]; /* of bit generators (1 << StreamKind): on which inlined code was compared, and was right */
    Fast fast;                                        /* of `symbols`; a table is learned when a fast path that needs it is first tried */
    bool fast_is_learned[N_DISTS];                    /* by table: see fast_table */
    Dists dists, legacy;                              /* what draws: these ways carried out */
} BindState;

typedef struct CoreState {
    GraphState graph;
    BindState bind;
} CoreState;

/* graph finds its own state without knowing this struct: see graph_state_of_module. */
_Static_assert(offsetof(CoreState, graph) == 0, "the graph's state comes first");

extern PyModuleDef core_module_def;

static inline CoreState *core_state_get(PyObject *module) { return (CoreState *)PyModule_GetState(module); }

#endif
