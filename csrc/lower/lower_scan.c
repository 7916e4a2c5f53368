/* Loops: a Scan node becomes an I_LOOP whose body is a program of its own.
 *
 * The lists of the node's inputs and outputs are in the order that spec'd scans have: n_steps, sequences, states with
 * several taps, states with one, shared (generators and objects handed on), lengths of paths, fixed inputs.
 * Relies on: build. Relied on by: lower.c. */
#include "lower/build.h"

#include <string.h>

#include "base/mem.h"

/* What is known of the loop while it is lowered. The lists of `loop` are owned here until the program has copied them. */
typedef struct ScanBuild {
    Builder *outer;
    Builder body;
    PyObject *node;       /* lent */
    PyObject *info;       /* owned */
    PyObject *graph;      /* owned: the inner FunctionGraph */
    PyObject *destroyed;  /* owned dict: output -> inputs */
    Loop loop;
    Numbers late;         /* states whose outputs begin behind their past: the loop's result, which output, the past's length */
    Numbers varying;      /* inner inputs that vary from step to step */
    Py_ssize_t i_outer;   /* next outer input */
    Py_ssize_t i_inner;   /* next inner input */
    Py_ssize_t i_out;     /* next output, of the node and of the inner graph */
} ScanBuild;

static PyObject *inner_input(ScanBuild *build, Py_ssize_t i)
{
    PyObject *inputs = ((FunctionGraph *)build->graph)->inputs;
    return i < PyList_GET_SIZE(inputs) ? PyList_GET_ITEM(inputs, i) : NULL;
}

static PyObject *inner_output(ScanBuild *build, Py_ssize_t i)
{
    PyObject *outputs = ((FunctionGraph *)build->graph)->outputs;
    return i < PyList_GET_SIZE(outputs) ? PyList_GET_ITEM(outputs, i) : NULL;
}

static int refuse_lists(ScanBuild *build)
{
    return build_refuse(build->outer, PyExc_ValueError, "the inner graph does not have the inputs and outputs that the loop's description counts");
}

/* The graph that runs: the rewritten one where there is one. */
static PyObject *read_graph(PyObject *op)
{
    PyObject *graph = PyObject_GetAttrString(op, "compiled_fgraph");

    if (graph == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return NULL;
        PyErr_Clear();
    } else if (graph != Py_None) {
        return graph;
    }
    Py_XDECREF(graph);
    return PyObject_GetAttrString(op, "fgraph");
}

static int start(ScanBuild *build, Builder *outer, PyObject *node)
{
    PyObject *op = node_op(node);

    build->outer = outer;
    build->node = node;
    build->info = PyObject_GetAttrString(op, "info");
    build->graph = build->info == NULL ? NULL : read_graph(op);
    build->destroyed = build->graph == NULL ? NULL : PyObject_GetAttrString(op, "destroy_map");
    if (build->destroyed == NULL) return -1;
    if (!PyObject_TypeCheck(build->graph, graph_state_of(node)->FunctionGraph))
        return build_refuse(outer, PyExc_TypeError, "the inner graph is a %s, not a FunctionGraph", Py_TYPE(build->graph)->tp_name);
    return builder_init(&build->body, outer, outer->lowered);
}

static void finish(ScanBuild *build)
{
    builder_clear(&build->body);
    numbers_clear(&build->late);
    numbers_clear(&build->varying);
    loop_clear_lists(&build->loop);
    Py_CLEAR(build->info);
    Py_CLEAR(build->graph);
    Py_CLEAR(build->destroyed);
}

/* A new, zeroed list of n items in *list. */
static int new_list(void *list, int64_t n, size_t item_bytes)
{
    void *items = mem_calloc(n > 0 ? (size_t)n : 1, item_bytes);

    if (items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(list, &items, sizeof(items));
    return 0;
}

/* The number of the next outer input, in the dtype that the inner side has. */
static int32_t next_outer(ScanBuild *build)
{
    if (build->i_outer >= node_n_inputs(build->node)) return refuse_lists(build);
    return build_value(build->outer, node_input(build->node, build->i_outer++));
}

/* The number of the next inner input, as a new value of the body. */
static int32_t next_inner(ScanBuild *build, ValueOrigin origin, bool varies)
{
    PyObject *variable = inner_input(build, build->i_inner++);
    int32_t number = variable == NULL ? refuse_lists(build) : build_input(&build->body, variable, origin);

    if (number >= 0 && varies && numbers_add(&build->varying, number) < 0) return -1;
    return number;
}

/* Raises unless a row of the outer array is what the inner value holds. */
static int check_row(ScanBuild *build, int32_t outer, int32_t inner)
{
    const Value *a = build_peek(build->outer, outer), *b = build_peek(&build->body, inner);

    if (a->value_class == VALUE_ARRAY && b->value_class <= VALUE_ARRAY && a->dtype == b->dtype && a->ndim == b->ndim + 1) return 0;
    return build_refuse(build->outer, PyExc_TypeError, "outer input %S and inner input %S do not fit: a row of the first must be what the second holds",
                        node_input(build->node, build->i_outer - 1), inner_input(build, build->i_inner - 1));
}

/* Whether the op may destroy the outer input that output i_out continues. */
static int read_inplace(ScanBuild *build, Py_ssize_t i_out, bool *inplace)
{
    PyObject *key = PyLong_FromSsize_t(i_out), *entry;

    if (key == NULL) return -1;
    entry = PyObject_GetItem(build->destroyed, key);
    Py_DECREF(key);
    if (entry == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_KeyError)) return -1;
        PyErr_Clear();
    }
    *inplace = entry != NULL && PyObject_IsTrue(entry) == 1;
    Py_XDECREF(entry);
    return PyErr_Occurred() ? -1 : 0;
}

/* ---- the parts ---- */

static int lower_n_steps(ScanBuild *build)
{
    build->i_outer = 1;
    build->loop.n_steps = build_length(build->outer, node_input(build->node, 0));
    return build->loop.n_steps < 0 ? -1 : 0;
}

static int lower_sequences(ScanBuild *build)
{
    int64_t n;
    Loop *loop = &build->loop;

    if (build_read_int(build->info, "n_seqs", &n) < 0 || new_list(&loop->sequences, n, sizeof(*loop->sequences)) < 0) return -1;
    for (int64_t i = 0; i < n; i++) {
        int32_t outer = next_outer(build), inner = outer < 0 ? -1 : next_inner(build, ORIGIN_ROW, true);
        if (inner < 0 || check_row(build, outer, inner) < 0) return -1;
        loop->sequences[loop->n_sequences++] = (LoopSequence){outer, inner};
    }
    return 0;
}

/* The taps of one state, and their inner inputs. */
static int lower_taps(ScanBuild *build, PyObject *taps, int32_t outer, LoopState *state)
{
    Loop *loop = &build->loop;

    state->first_tap = loop->n_taps;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(taps); i++) {
        int32_t inner, tap = (int32_t)PyLong_AsLong(PyTuple_GET_ITEM(taps, i));
        if (tap == -1 && PyErr_Occurred()) return -1;
        inner = next_inner(build, ORIGIN_ROW, true);
        if (inner < 0 || check_row(build, outer, inner) < 0) return -1;
        if (tap >= 0) return build_refuse(build->outer, PyExc_ValueError, "All the tap values must be smaller than 0.");
        if (-tap > state->past) state->past = -tap;
        loop->taps[loop->n_taps++] = (LoopTap){tap, inner};
        state->n_taps++;
    }
    return 0;
}

/* 1 with the AllocEmpty that one write fills to make the buffer of a state, and that write; or 0, or -1. */
static int find_memory(PyObject *buffer, PyObject **write, PyObject **allocation)
{
    PyObject *memory;
    int found = graph_is_computed(buffer) ? build_is_kind(*write = ((Variable *)buffer)->owner, OP_INC_SUBTENSOR) : 0;

    memory = found == 1 ? node_input(*write, 0) : buffer;
    return found == 1 && graph_is_computed(memory) ? build_is_kind(*allocation = ((Variable *)memory)->owner, OP_ALLOC_EMPTY) : found < 0 ? -1 : 0;
}

/* Has the rows counted that a state starts with, where they are seen: in a buffer that was unset but for one write of them.
 * `v[:past]` of a v that is too short would leave rows unset. One row is always there. */
static int check_start(ScanBuild *build, PyObject *buffer, int32_t outer, int32_t past)
{
    PyObject *write, *allocation;
    int64_t aux[2] = {past, build->loop.n_states};
    int32_t rows, dst;
    int found = past > 1 ? find_memory(buffer, &write, &allocation) : 0;

    if (found <= 0) return found;
    rows = build_value(build->outer, node_input(write, 1));
    if (rows < 0) return -1;
    if (build_peek(build->outer, rows)->ndim != build_peek(build->outer, outer)->ndim) return 0;
    dst = build_temporary(build->outer, (DType)build_peek(build->outer, rows)->dtype, build_peek(build->outer, rows)->ndim);
    return dst < 0 ? -1 : build_emit1(build->outer, I_CHECK_ROWS, dst, 1, &rows, 2, aux);
}

/* What the loop gives for the next output: the output itself, or a buffer with the past that the node does not have. */
static int32_t state_result(ScanBuild *build, int32_t outer)
{
    PyObject *write, *allocation;
    int found = find_memory(node_input(build->node, build->i_outer - 1), &write, &allocation);
    int64_t past = found == 1 ? lower_find_past(build->outer, allocation) : found;
    int32_t whole;

    if (past < 0) return -1;
    if (past == 0) return build_result(build->outer, node_output(build->node, build->i_out++));
    whole = build_temporary(build->outer, (DType)build_peek(build->outer, outer)->dtype, build_peek(build->outer, outer)->ndim);
    if (whole < 0 || numbers_add(&build->late, whole) < 0 || numbers_add(&build->late, (int32_t)build->i_out) < 0) return -1;
    if (numbers_add(&build->late, build_integer(build->outer, past)) < 0) return -1;
    build->i_out++;
    return whole;
}

static int lower_state(ScanBuild *build, PyObject *taps)
{
    LoopState state = {.inner_out = -1};
    int32_t outer = next_outer(build);

    if (outer < 0) return -1;
    state.outer_in = outer;
    if (lower_taps(build, taps, outer, &state) < 0 || read_inplace(build, build->i_out, &state.inplace) < 0) return -1;
    if (check_start(build, node_input(build->node, build->i_outer - 1), outer, state.past) < 0) return -1;
    if (build->i_out >= node_n_outputs(build->node)) return refuse_lists(build);
    state.outer_out = state_result(build, outer);
    if (state.outer_out < 0) return -1;
    build->loop.states[build->loop.n_states++] = state;
    return 0;
}

/* How many taps a tuple of tuples holds in all. */
static int64_t count_taps(PyObject *slices)
{
    int64_t n = 0;

    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slices); i++) {
        if (!PyTuple_Check(PyTuple_GET_ITEM(slices, i))) {
            PyErr_SetString(PyExc_TypeError, "the taps of a loop's state must be a tuple");
            return -1;
        }
        n += PyTuple_GET_SIZE(PyTuple_GET_ITEM(slices, i));
    }
    return n;
}

PyObject *lower_read_taps(PyObject *info)
{
    PyObject *several = PyObject_GetAttrString(info, "mit_sot_in_slices"), *one = several ? PyObject_GetAttrString(info, "sit_sot_in_slices") : NULL;
    PyObject *both = one ? PySequence_Concat(several, one) : NULL, *slices = both ? PySequence_Tuple(both) : NULL;

    Py_XDECREF(several);
    Py_XDECREF(one);
    Py_XDECREF(both);
    return slices;
}

static int refuse_mit_mot(ScanBuild *build)
{
    PyObject *slices = PyObject_GetAttrString(build->info, "mit_mot_in_slices");
    Py_ssize_t n = slices == NULL ? -1 : PyObject_Size(slices);

    Py_XDECREF(slices);
    if (n < 0) return -1;
    return n == 0 ? 0 : build_refuse(build->outer, PyExc_NotImplementedError, "states that are written at several taps are not supported");
}

static int lower_states(ScanBuild *build)
{
    Loop *loop = &build->loop;
    PyObject *slices = lower_read_taps(build->info);
    int64_t n_taps = slices == NULL ? -1 : count_taps(slices);
    int result = -1;

    if (n_taps < 0 || refuse_mit_mot(build) < 0) goto done;
    if (new_list(&loop->states, PyTuple_GET_SIZE(slices), sizeof(*loop->states)) < 0 || new_list(&loop->taps, n_taps, sizeof(*loop->taps)) < 0) goto done;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slices); i++)
        if (lower_state(build, PyTuple_GET_ITEM(slices, i)) < 0) goto done;
    result = 0;
done:
    Py_XDECREF(slices);
    return result;
}

/* Generators and objects handed on: outer inputs and inner inputs come now, the outputs after those of the paths. */
static int lower_carries(ScanBuild *build)
{
    int64_t n, n_paths;
    Loop *loop = &build->loop;

    if (build_read_int(build->info, "n_shared_outs", &n) < 0 || build_read_int(build->info, "n_nit_sot", &n_paths) < 0) return -1;
    if (new_list(&loop->carries, n, sizeof(*loop->carries)) < 0) return -1;
    for (int64_t i = 0; i < n; i++) {
        LoopCarry carry = {.inner_out = -1};
        Py_ssize_t i_out = build->i_out + n_paths + i;
        carry.outer_in = next_outer(build);
        carry.inner_in = carry.outer_in < 0 ? -1 : next_inner(build, ORIGIN_INPUT, true);
        if (carry.inner_in < 0 || read_inplace(build, i_out, &carry.inplace) < 0) return -1;
        if (i_out >= node_n_outputs(build->node)) return refuse_lists(build);
        carry.outer_out = build_result(build->outer, node_output(build->node, i_out));
        if (carry.outer_out < 0) return -1;
        loop->carries[loop->n_carries++] = carry;
    }
    return 0;
}

static int lower_paths(ScanBuild *build)
{
    int64_t n;
    Loop *loop = &build->loop;

    if (build_read_int(build->info, "n_nit_sot", &n) < 0 || new_list(&loop->paths, n, sizeof(*loop->paths)) < 0) return -1;
    for (int64_t i = 0; i < n; i++) {
        LoopPath path = {.inner_out = -1};
        if (build->i_outer >= node_n_inputs(build->node) || build->i_out >= node_n_outputs(build->node)) return refuse_lists(build);
        path.outer_rows = build_length(build->outer, node_input(build->node, build->i_outer++));
        path.outer_out = path.outer_rows < 0 ? -1 : build_result(build->outer, node_output(build->node, build->i_out++));
        if (path.outer_out < 0) return -1;
        loop->paths[loop->n_paths++] = path;
    }
    return 0;
}

/* The fixed inputs that the description counts; those for object constants are added when the body is done. */
static int lower_fixed(ScanBuild *build)
{
    Loop *loop = &build->loop;
    int64_t n = node_n_inputs(build->node) - build->i_outer;

    if (new_list(&loop->fixed, n, sizeof(*loop->fixed)) < 0) return -1;
    for (int64_t i = 0; i < n; i++) {
        int32_t outer = next_outer(build), inner = outer < 0 ? -1 : next_inner(build, ORIGIN_INPUT, false);
        const Value *a, *b;
        if (inner < 0) return -1;
        a = build_peek(build->outer, outer);
        b = build_peek(&build->body, inner);
        if (a->value_class != b->value_class || a->dtype != b->dtype || a->ndim != b->ndim)
            return build_refuse(build->outer, PyExc_ValueError, "Argument %S given to the scan node is not compatible with its corresponding loop function variable %S",
                                node_input(build->node, build->i_outer - 1), inner_input(build, build->i_inner - 1));
        loop->fixed[loop->n_fixed++] = (LoopFixed){outer, inner};
    }
    return build->i_inner == PyList_GET_SIZE(((FunctionGraph *)build->graph)->inputs) ? 0 : refuse_lists(build);
}

/* ---- the inner outputs ---- */

/* The number of inner output i, of the row's or path's dtype and rank. */
static int32_t next_output(ScanBuild *build, Py_ssize_t i, int32_t outer_out, int n_more)
{
    PyObject *variable = inner_output(build, i);
    int32_t inner = variable == NULL ? refuse_lists(build) : build_value(&build->body, variable);
    const Value *a, *b;

    if (inner < 0) return -1;
    a = build_peek(build->outer, outer_out);
    b = build_peek(&build->body, inner);
    if (a->dtype != b->dtype || a->ndim != b->ndim + n_more)
        return build_refuse(build->outer, PyExc_TypeError, "inner output %S and outer output %S do not fit: a row of the second must be what the first holds",
                            variable, node_output(build->node, i));
    return inner;
}

/* The inner output of an output that is a stream or an object. */
static int32_t next_carried(ScanBuild *build, Py_ssize_t i)
{
    PyObject *variable = inner_output(build, i);
    return variable == NULL ? refuse_lists(build) : build_value(&build->body, variable);
}

static int lower_until(ScanBuild *build, Py_ssize_t i)
{
    bool has_condition;
    PyObject *variable;

    build->loop.until = -1;
    if (build_read_bool(build->info, "as_while", &has_condition) < 0) return -1;
    if (!has_condition) return 0;
    variable = inner_output(build, i);
    if (variable == NULL) return refuse_lists(build);
    build->body.node = build->node;
    build->loop.until = build_cast(&build->body, build_value(&build->body, variable), DTYPE_BOOL);
    return build->loop.until < 0 ? -1 : 0;
}

static int lower_outputs(ScanBuild *build)
{
    Loop *loop = &build->loop;
    Py_ssize_t i = 0;

    for (int32_t k = 0; k < loop->n_states; k++, i++) {
        loop->states[k].inner_out = next_output(build, i, loop->states[k].outer_out, 1);
        if (loop->states[k].inner_out < 0) return -1;
    }
    for (int32_t k = 0; k < loop->n_paths; k++, i++) {
        loop->paths[k].inner_out = next_output(build, i, loop->paths[k].outer_out, 1);
        if (loop->paths[k].inner_out < 0) return -1;
    }
    for (int32_t k = 0; k < loop->n_carries; k++, i++) {
        loop->carries[k].inner_out = next_carried(build, i);
        if (loop->carries[k].inner_out < 0) return -1;
    }
    return lower_until(build, i);
}

/* Adds the fixed inputs through which object constants reach the body. */
static int add_object_inputs(ScanBuild *build)
{
    Loop *loop = &build->loop;
    const Numbers *outer = &build->body.outer_fixed, *inner = &build->body.inner_fixed;
    LoopFixed *fixed = mem_resize(loop->fixed, (size_t)(loop->n_fixed + outer->n + 1), sizeof(*fixed));

    if (fixed == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    loop->fixed = fixed;
    for (int32_t i = 0; i < outer->n; i++) fixed[loop->n_fixed++] = (LoopFixed){outer->items[i], inner->items[i]};
    return 0;
}

/* Hands body and lists to the program around, and appends the instruction. */
static int emit_loop(ScanBuild *build)
{
    Status status;
    int64_t number;

    status_clear(&status);
    build->loop.body = build->body.program;
    number = program_add_loop(build->outer->program, &build->loop, &status);
    if (number < 0) return build_raise(&status);
    build->body.program = NULL;
    return build_emit(build->outer, (Emit){.opcode = I_LOOP, .n_aux = 1, .aux = &number});
}

/* The outputs that begin behind the past of what the loop gives. */
static int emit_late(ScanBuild *build)
{
    const int64_t entry = SLICE_RANGE | SLICE_START;

    for (int32_t i = 0; i < build->late.n; i += 3) {
        int32_t src[2] = {build->late.items[i], build->late.items[i + 2]};
        int32_t dst = build_result(build->outer, node_output(build->node, build->late.items[i + 1]));
        if (dst < 0 || build_emit1(build->outer, I_SLICE, dst, 2, src, 1, &entry) < 0) return -1;
    }
    return 0;
}

int lower_scan(Builder *builder, PyObject *node)
{
    ScanBuild build;
    int result = -1;

    memset(&build, 0, sizeof(build));
    if (Py_EnterRecursiveCall(" while a nested loop is made into a program")) return -1;
    if (start(&build, builder, node) < 0 || lower_n_steps(&build) < 0 || lower_sequences(&build) < 0 || lower_states(&build) < 0) goto done;
    if (lower_carries(&build) < 0 || lower_paths(&build) < 0 || lower_fixed(&build) < 0) goto done;
    if (lower_nodes(&build.body, (FunctionGraph *)build.graph) < 0 || lower_outputs(&build) < 0) goto done;
    if (lower_mark_invariant(&build.body, &build.loop, &build.varying) < 0 || add_object_inputs(&build) < 0) goto done;
    result = emit_loop(&build) < 0 ? -1 : emit_late(&build);
done:
    finish(&build);
    Py_LeaveRecursiveCall();
    return result;
}
