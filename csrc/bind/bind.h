/* What the files of bind say to each other: a compiled function (Thunk), one run of it (Call), and the generators that
 * a run works with (Handle).
 *
 * Everything here runs with the GIL held, but for what the vm does once host_begin_long has given it up. Functions that
 * can fail return -1 or NULL with an exception set.
 * Relies on: every room. Relied on by: the files of bind. */
#ifndef PYSCAN_BIND_BIND_H
#define PYSCAN_BIND_BIND_H

#include "bind/module.h"
#include "lower/lower.h"
#include "vm/vm.h"

int library_module_exec(PyObject *module);

/* ---- arrays (convert.c) ---- */

int convert_module_exec(PyObject *module);
/* The element type of an ndarray, or -1 without an exception when programs do not compute with it. */
int convert_dtype(PyObject *ndarray);
/* NumPy's number of the type. */
int convert_type_number(DType dtype);
/* Lent: the value itself where it is a native, aligned ndarray of that dtype and rank; NULL, without an exception, else. */
PyObject *convert_peek(PyObject *value, DType dtype, int ndim);
/* Owned: the value itself, or a copy that is native and aligned; TypeError unless it is an ndarray of that dtype and rank.
 * `what` names it in the message. */
PyObject *convert_input(PyObject *value, DType dtype, int ndim, PyObject *what);
/* Shows an ndarray's memory, without a holder: the caller keeps the ndarray. */
void convert_show(PyObject *ndarray, Array *array);
/* Owned: a fresh ndarray with the array's elements. */
PyObject *convert_copy(const Array *array);
/* Owned: an ndarray over the array's memory, which holds array->buffer (not NULL). */
PyObject *convert_hand_over(const Array *array);
/* Owned: an ndarray over the array's memory, for as long as that lives. */
PyObject *convert_view(const Array *array);
/* Owned: what a call-back returned, as an ndarray of that dtype and rank. */
PyObject *convert_output(PyObject *value, DType dtype, int ndim, PyObject *what);

/* ---- bit generators (bitgens.c) ---- */

/* A class of bit generator. `layout` is verified, or has_layout is false and states are read and written as `.state`. */
typedef struct BitClass {
    StreamLayout layout;
    bool has_layout;
    size_t place;    /* of the functions in the object */
    StreamKind kind; /* of its instances whose functions are these */
    BitGen functions;
} BitClass;

int bitgens_module_exec(PyObject *module);
/* Lent for as long as the module lives. */
const BitClass *bitgens_class(BindState *state, PyObject *bit_generator);
/* Lent by the bit generator. */
BitGen *bitgens_peek(PyObject *bit_generator);
/* The same for an instance of the class: where that has a layout, the functions lie at the same place of each object. */
BitGen *bitgens_peek_known(const BitClass *class, PyObject *bit_generator);
/* The kind of an instance of the class. */
StreamKind bitgens_kind(const BitClass *class, const BitGen *bitgen);
/* Owned: the bit generator of a Generator or RandomState; TypeError for anything else. */
PyObject *bitgens_of(BindState *state, PyObject *generator);
/* Owned: another Generator (or RandomState) of the same class and state, independent of the first, that keeps the seed
 * sequence and how often it has spawned. With a stream, the state is where that stands; it must have a layout. */
PyObject *bitgens_copy(BindState *state, PyObject *generator, const Stream *stream);
/* Owned: the state as an object that bitgens_restore takes. */
PyObject *bitgens_save(BindState *state, PyObject *generator);
/* Owned: the state as bytes, to be compared. */
PyObject *bitgens_fingerprint(BindState *state, PyObject *generator);
int bitgens_restore(BindState *state, PyObject *generator, PyObject *saved);

/* ---- the second Gaussian of a RandomState (gauss.c) ---- */

/* *gauss, lent by the generator: its second Gaussian; NULL for a Generator, for subclasses, and where its place is not known. */
int gauss_find(BindState *state, PyObject *generator, Gauss **gauss);

/* ---- compiled functions ---- */

typedef struct Call Call;

typedef struct Thunk {
    PyObject_HEAD
    PyObject *module;      /* owned */
    PyObject *fgraph;      /* owned */
    PyObject *cells;       /* owned tuple: a list of one element, or None for an input whose value each call gives */
    Py_ssize_t n_given;    /* how many are None */
    PyObject *weakrefs;
    Lowered lowered;       /* owned */
    Py_ssize_t n_outputs, n_updates;
    int32_t *update_out, *update_in; /* owned: output and input of each update */
    int32_t *update_of;    /* owned, by program input: its update, or -1 */
    bool *borrow;          /* owned, by output */
    bool has_until;        /* a loop may end before all its steps are done: results are perhaps shorter than arrays given for them */
    bool *is_destroyed;    /* owned, by program input: the program may write on it */
    bool destroys_arrays;  /* and one of those is an array */
    int32_t *root;         /* owned, by value: the value whose memory it shows */
    bool *is_lasting;      /* owned, by value: a root that outlives the call (a constant, an input) */
    Call *pool;            /* owned: calls at rest */
    int32_t n_pool;
    int64_t block_steps;   /* see VmHost */
    bool batches_products;
    unsigned settled_kinds; /* of the bit generators of its first cells, for all that it draws: see selfcheck_program */
    Counters last;
    int64_t last_python_calls;
} Thunk;

int thunk_module_exec(PyObject *module);
/* Owned list of (loop's node, node, phase, state that it depends on or -1), a row for each instruction of each loop's body. */
PyObject *phases_list(const Lowered *lowered);
int function_module_exec(PyObject *module);
/* Runs the program on the values of the cells and on those given, as many as thunk->n_given, and, if all went well, commits
 * the updates. Owned: the list of outputs, or the only output itself. A number given for a scalar may be a float or an int
 * where that is of the scalar's own dtype, with are_numbers. `outs` has an array or None for each output, or is NULL. */
PyObject *thunk_run(Thunk *thunk, PyObject *const *given, PyObject *const *outs, bool are_numbers, bool is_single);

/* ---- generators of a run (streams.c) ---- */

/* A Python generator that a run draws from, or made on its way. Stream.host points to one. */
typedef struct Handle {
    BindState *state;            /* lent */
    PyObject *generator, *bit_generator, *lock; /* owned */
    BitGen *bitgen;              /* lent by bit_generator */
    Gauss *gauss;                /* lent by generator: a RandomState's second Gaussian; NULL for others */
    const StreamLayout *layout;  /* NULL: states are read and written as `.state` */
    StreamKind kind;
    bool by_method;
    bool is_mutable;             /* the run may move it: it has a snapshot */
    bool is_locked;
    bool is_claimed;             /* an update's value is this object */
    int32_t owner;               /* the program input that it belongs to, or -1 */
    const Stream *made_for;      /* for copies made by the host */
    char *snapshot, *watch;      /* owned: words before the run, and when the locks were released */
    Gauss snapshot_gauss, watch_gauss; /* the same of *gauss */
    size_t words_room;
    PyObject *saved, *watched;   /* owned: the same for states without layout, or NULL */
} Handle;

/* What a call-back's stream output stands on. */
typedef struct Site {
    Frame *frame;
    int32_t value;
    Stream *stream; /* owned */
} Site;

/* Values of the updates, made before any of them is committed (commit.c). */
typedef struct Pending {
    PyObject **values;      /* owned, by update: the cell's new value, or NULL when the cell keeps its object */
    const Stream **words;   /* by update: words to write into the cell's own generator, or NULL */
    Handle **targets;       /* by update: the handle of that generator */
} Pending;

/* An array that a result goes to. */
typedef struct Out {
    PyObject *ndarray; /* owned, or NULL: the result is a new array */
    Array array;       /* what it shows */
    bool meets_inputs; /* it may share memory with an input */
} Out;

struct Call {
    BindState *state;      /* lent */
    Thunk *thunk;          /* lent: the call holds a reference while it runs */
    Frame *frame;          /* owned */
    VmHost host;
    unsigned settled_kinds; /* of bit generators, that host.dists knows of */
    PyThreadState *released; /* the thread's state while the GIL is released, else NULL */
    PyObject **held;       /* owned, by program input: what the frame shows */
    Stream **streams;      /* owned, by program input: NULL for what is no stream */
    Handle **handles;      /* owned; the inputs' first */
    int32_t n_handles, room_handles, n_input_handles;
    int32_t n_made_handles; /* those beyond n_handles are empty, to be used again */
    Site *sites;           /* owned */
    int32_t n_sites, room_sites;
    unsigned long thread;  /* that the call runs in, while the generators are taken or waited for */
    bool is_active;        /* in BindState.active: the inputs' generators, and the cells that it updates, are this call's */
    bool has_waited;       /* for another call: cells may have got other values */
    bool goes_beside;      /* of calls that update the same cells, since waiting for them would not end */
    Call *next_active, *next_waiting;
    int64_t python_calls, generator_copies;
    Pending pending;       /* its lists are owned */
    Out *outs;             /* owned, by output; NULL: all results are new arrays */
    Call *next;            /* in the pool */
};

/* A run begins with the GIL held, and gives it up as soon as it has work for more than some microseconds: before that,
 * giving it up and waiting for it costs more than the run. call_take_gil tells whether it was given up, and
 * call_give_gil, which ends what call_take_gil began, gives it up if it was. */
bool call_take_gil(Call *call);
void call_give_gil(Call *call, bool was_released);

/* The kind of the bit generator whose words a Generator's draws take: 1, or 0 for what is drawn by methods, or not as a
 * Generator is. */
int streams_find_kind(BindState *state, PyObject *generator, StreamKind *kind);
/* Takes the cells' generators, and the cells that are updated: waits for other threads' calls, locks the generators, makes the
 * copies that are needed before the first node, and snapshots. On failure nothing stays taken. */
int streams_enter(Call *call, PyObject *const *generators);
/* Puts every generator back to its state before the run. */
void streams_restore(Call *call);
/* Releases locks and takes nothing with it; the call's end frees the rest. */
void streams_leave(Call *call);
/* Around a call-back: releases the locks; takes them again, and raises when a generator moved meanwhile unless it is
 * one of the `expected`. An exception that is set stays set. */
int streams_unlock(Call *call);
int streams_relock(Call *call, Handle *const *expected, int n_expected);
/* Around a draw by the generator's own methods, which take the lock themselves. */
void streams_unlock_one(Handle *handle, bool *was_locked);
int streams_relock_one(Handle *handle, bool was_locked);
/* The input's generator that draws through this stream work on, or NULL when the stream has memory of its own. */
Handle *streams_find_object(const Call *call, const Stream *stream);
/* Owned: an independent Generator in the stream's state. */
PyObject *streams_copy_generator(Call *call, const Stream *stream);
/* Makes *stream draw on from a generator that nobody else has. */
int streams_adopt(Call *call, Stream *stream, PyObject *generator);
/* Gives up what the call's handles hold; the handles are kept for the next run. */
void streams_empty(Call *call);
void streams_free(Call *call);

/* ---- the vm's host (calls.c) ---- */

void host_fill(VmHost *host, Call *call);
/* Owned: the function that draws a distribution by the methods of a generator, made from its row of dists.def and kept; it
 * takes numpy, the generator, the shape of the batch and what the draw takes. */
PyObject *calls_method(BindState *state, int dist);
/* The `factor` of a VmHost (whose self is not used), with the GIL held. */
int calls_find_factor(void *self, int64_t n, const double *cov, double *factor, bool *is_lasting, Status *status);

/* ---- who draws (selfcheck.c, npyrandom.c) ---- */

int selfcheck_module_exec(PyObject *module);
/* Decides for each distribution that the program draws, and its loops, how it is drawn, from bit generators of these kinds
 * (1 << StreamKind) too, if that was not decided yet. Afterwards state->dists holds what was decided. */
int selfcheck_program(BindState *state, const Program *program, unsigned kinds);
/* The same for one distribution that a RandomState draws. Afterwards state->legacy holds what was decided. */
int selfcheck_legacy(BindState *state, int dist);
/* The function of NumPy's static library with that name, or NULL. */
void *npyrandom_find(const char *symbol);

/* ---- arguments of which one may be overwritten (apart.c) ---- */

/* 0 or -1: copies arrays that share memory with one that the program overwrites. */
int apart_set(Thunk *thunk, Call *call);
/* Whether the two may share memory, told by the bytes between the first and the last: sometimes too carefully. */
bool apart_may_share(const Array *a, const Array *b);

/* ---- arrays that results are written into (outs.c) ---- */

/* Fills call->outs, once the inputs are set. 0, or -1 with an exception that names the output. */
int outs_set(Thunk *thunk, Call *call, PyObject *const *outs);
/* Raises a STATUS_PLACE_SHAPE, with the output's name. Returns -1. */
int outs_refuse(const Thunk *thunk, Status *status);
/* Owned: the array given for output i, or the rows of it that the result has; `made` is the result where it was made
 * already, else NULL. */
PyObject *outs_fill(Thunk *thunk, Call *call, int32_t i, PyObject *made);
void outs_clear(const Thunk *thunk, Call *call);

/* ---- results (commit.c) ---- */

/* Memory for call->pending. */
int pending_new(const Thunk *thunk, Pending *pending);
void pending_free(Pending *pending);
/* Owned: the list of outputs; with is_single the only output itself. */
PyObject *commit_outputs(Thunk *thunk, Call *call, bool is_single);
/* Fills call->pending. */
int commit_prepare(Thunk *thunk, Call *call);
/* Cannot fail. */
void commit_now(Thunk *thunk, Call *call);
/* Gives up values that were not committed, or that were replaced. */
void pending_clear(Thunk *thunk, Pending *pending);

/* ---- errors (errors.c) ---- */

/* Raises what the Status says, with the node's text, place and step; for STATUS_PYTHON adds these to the exception that
 * is set. */
void errors_raise(Thunk *thunk, Call *call, const Status *status);
/* MemoryError or SystemError for a Status from building. Returns -1. */
int errors_raise_plain(const Status *status);

/* ---- what is exported besides ---- */

int tables_module_exec(PyObject *module);
int kernels_module_exec(PyObject *module);

#endif
