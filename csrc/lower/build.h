/* A program under construction: what the files of lower say to each other.
 *
 * A Builder stands for one program: the function's, or the body of one loop (then `parent` builds the program around).
 * Variables map to value numbers; constants are added when first read. Functions return -1 with an exception set, and
 * lists that they read from Python are held while Python may run.
 * Relies on: graph, ops, program. Relied on by: the files of lower. */
#ifndef PYSCAN_LOWER_BUILD_H
#define PYSCAN_LOWER_BUILD_H

#include "lower/lower.h"
#include "ops/ops.h"

enum { BUILD_MAX_OPERANDS_ON_STACK = 16 };

/* A list of value numbers that grows; `items` is owned. */
typedef struct Numbers {
    int32_t *items;
    int32_t n, room;
} Numbers;

typedef struct Builder {
    struct Builder *parent;   /* lent, or NULL at top level */
    Lowered *lowered;         /* lent: the lists that all levels share */
    Program *program;         /* owned until it is handed over */
    PyObject *numbers;        /* owned dict: Variable -> value number */
    PyObject *casts;          /* owned dict: (Constant, dtype), or a float -> value number */
    PyObject *integers;       /* owned dict: int -> value number of the int64 constant */
    PyObject *new_array;      /* owned: numpy.array */
    PyObject *deferred;       /* owned dict: Variable -> (Apply, its index): dimshuffles that only add leading axes, and slices that indexing reads by their parts, made when something needs them */
    FunctionGraph *graph;     /* lent: whose nodes are lowered */
    PyObject *node;           /* lent: the node being lowered, or NULL */
    int32_t node_index;       /* its index in lowered->nodes, or -1 */
    Numbers inputs;           /* of the program; the object constants follow the graph's */
    Numbers outer_fixed, inner_fixed; /* pairs that the loop around must add to its fixed inputs, for object constants */
} Builder;

int builder_init(Builder *builder, Builder *parent, Lowered *lowered);
void builder_clear(Builder *builder);

/* Frees with a zeroed list; adding grows it. */
int numbers_add(Numbers *numbers, int32_t number);
void numbers_clear(Numbers *numbers);

/* Raises what the Status says (memory, or a SystemError for a program that is not well formed); returns -1. */
int build_raise(const Status *status);
/* Raises `exception` with "<operation of the current node>: <formatted text>"; returns -1. */
int build_refuse(Builder *builder, PyObject *exception, const char *format, ...);

/* Class, dtype and rank of a variable, by its type. */
int build_describe(Builder *builder, PyObject *variable, Value *value);
/* The number of a variable that was lowered before, or of a constant. */
int32_t build_value(Builder *builder, PyObject *variable);
/* The variable's value in that dtype; a constant is cast when compiling and not added in the dtype that nobody reads. */
int32_t build_value_as(Builder *builder, PyObject *variable, DType dtype);
/* Lent: for a source of an elementwise operation, which broadcasts, the variable without leading axes that were put off. */
PyObject *build_narrow(Builder *builder, PyObject *variable);
/* Puts the current node off until its output is asked for. */
int build_defer(Builder *builder);
/* New values: an input for the variable, a result of the current node for it, a result that no variable has. */
int32_t build_input(Builder *builder, PyObject *variable, ValueOrigin origin);
int32_t build_result(Builder *builder, PyObject *variable);
int32_t build_temporary(Builder *builder, DType dtype, int ndim);
/* Lets the variable stand for a value that exists. */
int build_bind(Builder *builder, PyObject *variable, int32_t number);
const Value *build_peek(const Builder *builder, int32_t number);

/* The value in another dtype: itself, or the result of a cast. */
int32_t build_cast(Builder *builder, int32_t number, DType dtype);
/* The value with its rank raised to ndim by new leading axes. */
int32_t build_pad(Builder *builder, int32_t number, int ndim);
int32_t build_integer(Builder *builder, int64_t integer);
int32_t build_float(Builder *builder, double number);
/* 1 with the integer that a constant is, 0 for other variables and what no integer is, or -1. */
int build_read_constant(PyObject *variable, int64_t *integer);
/* A variable as an int64 scalar (an index, a length). */
int32_t build_length(Builder *builder, PyObject *variable);
/* The node's inputs from `first` on as int64 scalars, added to the numbers. */
int build_lengths(Builder *builder, PyObject *node, Py_ssize_t first, Numbers *numbers);

/* Appends an instruction for the current node. */
typedef struct Emit {
    Opcode opcode;
    int32_t fn;
    DType dtype;
    uint8_t flags;
    int32_t n_dst, n_src, n_aux;
    const int32_t *dst, *src;
    const int64_t *aux;
} Emit;
int build_emit(Builder *builder, Emit emit);
/* The common case: one destination. */
int build_emit1(Builder *builder, Opcode opcode, int32_t dst, int32_t n_src, const int32_t *src, int32_t n_aux, const int64_t *aux);

/* 1 if the kind of the node's Op is that row's, else 0; or -1. */
int build_is_kind(PyObject *node, OpKind kind);
/* Attributes of Ops. `name` is the attribute. */
int build_read_bool(PyObject *object, const char *name, bool *value);
int build_read_int(PyObject *object, const char *name, int64_t *value);
/* The attribute as a list of axes: *n = -1 for None. At most ARRAY_MAX_NDIM; negative ones count from ndim. */
int build_read_axes(Builder *builder, PyObject *op, const char *name, int ndim, int64_t *axes, int *n);
int build_dtype(Builder *builder, PyObject *name, DType *dtype);

/* Lent: input or output i of the current node. */
static inline PyObject *node_input(PyObject *node, Py_ssize_t i) { return PyList_GET_ITEM(((Apply *)node)->inputs, i); }
static inline PyObject *node_output(PyObject *node, Py_ssize_t i) { return PyList_GET_ITEM(((Apply *)node)->outputs, i); }
static inline Py_ssize_t node_n_inputs(PyObject *node) { return PyList_GET_SIZE(((Apply *)node)->inputs); }
static inline Py_ssize_t node_n_outputs(PyObject *node) { return PyList_GET_SIZE(((Apply *)node)->outputs); }
static inline PyObject *node_op(PyObject *node) { return ((Apply *)node)->op; }

/* One function per row of ops.def: appends the node's instructions. 1 means "not natively: call back". */
typedef int (*LowerFunction)(Builder *builder, PyObject *node);
int lower_elemwise(Builder *builder, PyObject *node);
int lower_careduce(Builder *builder, PyObject *node);
int lower_max_and_argmax(Builder *builder, PyObject *node);
int lower_cumop(Builder *builder, PyObject *node);
int lower_dot(Builder *builder, PyObject *node);
int lower_dimshuffle(Builder *builder, PyObject *node);
int lower_dimshuffle_now(Builder *builder, PyObject *node);
int lower_reshape(Builder *builder, PyObject *node);
int lower_shape(Builder *builder, PyObject *node);
int lower_shape_i(Builder *builder, PyObject *node);
int lower_alloc(Builder *builder, PyObject *node);
int lower_alloc_empty(Builder *builder, PyObject *node);
int lower_make_vector(Builder *builder, PyObject *node);
int lower_join(Builder *builder, PyObject *node);
int lower_split(Builder *builder, PyObject *node);
int lower_arange(Builder *builder, PyObject *node);
int lower_specify_shape(Builder *builder, PyObject *node);
int lower_alias(Builder *builder, PyObject *node);
int lower_copy(Builder *builder, PyObject *node);
int lower_assert(Builder *builder, PyObject *node);
int lower_subtensor(Builder *builder, PyObject *node);
int lower_inc_subtensor(Builder *builder, PyObject *node);
int lower_advanced_subtensor1(Builder *builder, PyObject *node);
int lower_advanced_inc_subtensor1(Builder *builder, PyObject *node);
int lower_advanced_subtensor(Builder *builder, PyObject *node);
int lower_advanced_inc_subtensor(Builder *builder, PyObject *node);
int lower_choose(Builder *builder, PyObject *node);
int lower_make_slice(Builder *builder, PyObject *node);
int lower_nonzero(Builder *builder, PyObject *node);
int lower_special(Builder *builder, PyObject *node);
int lower_matrix(Builder *builder, PyObject *node);
int lower_solve(Builder *builder, PyObject *node);
int lower_qr(Builder *builder, PyObject *node);
int lower_eig(Builder *builder, PyObject *node);
int lower_pinv(Builder *builder, PyObject *node);
int lower_lstsq(Builder *builder, PyObject *node);
int lower_sort(Builder *builder, PyObject *node);
int lower_searchsorted(Builder *builder, PyObject *node);
int lower_unique(Builder *builder, PyObject *node);
int lower_repeat(Builder *builder, PyObject *node);
int lower_band(Builder *builder, PyObject *node);
int lower_diagonal(Builder *builder, PyObject *node);
int lower_matmul(Builder *builder, PyObject *node);
/* What a row of library.def computes of the sources, in that type. */
int lower_apply(Builder *builder, int library, DType dtype, int64_t allows_failure, int32_t n_dst, const int32_t *dst, int32_t n_src, const int32_t *src);
/* The same in double precision, whatever the types, and cast to those of the destinations, as NumPy does. */
int lower_apply_double(Builder *builder, int library, int64_t allows_failure, int32_t n_dst, const int32_t *dst, int32_t n_src, const int32_t *src);
/* Write mode and in-place flag of the ops that write. */
int lower_read_write(PyObject *op, int *fn, uint8_t *flags);
int lower_random(Builder *builder, PyObject *node);
int lower_scan(Builder *builder, PyObject *node);
/* Owned: the tuples of taps of the states of a loop with that info, in the order of its inputs. */
PyObject *lower_read_taps(PyObject *info);
/* How many rows more than the node says an AllocEmpty gets, since a loop needs them for the past of its state; or -1. */
int64_t lower_find_past(Builder *builder, PyObject *node);
int lower_call(Builder *builder, PyObject *node);

/* Lowers the nodes of a graph whose inputs have numbers already. */
int lower_nodes(Builder *builder, FunctionGraph *graph);
/* Flags the instructions of the loop's body that need no value that varies from step to step. `varying` are the inputs
 * that do (rows, and streams handed on). */
int lower_mark_invariant(Builder *builder, const Loop *loop, const Numbers *varying);

#endif
