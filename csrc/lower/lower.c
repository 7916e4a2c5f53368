/* The driver: a graph's nodes, in an order in which they can run, become instructions.
 *
 * Each native Op class names its row of ops.def by the class attribute `kind`, and each row has a function here. An Op
 * without a row, with a `perform` of its own over a native class, or of a form that the row's function does not know,
 * becomes a call-back. The walk is a loop over the ordered nodes, so that long chains need no stack.
 * Relies on: build, graph, program. Relied on by: bind. */
#include "lower/build.h"

#include <string.h>

#include "base/mem.h"

static const LowerFunction functions[N_OPS] = {
    [OP_ELEMWISE] = lower_elemwise,
    [OP_DIMSHUFFLE] = lower_dimshuffle,
    [OP_CAREDUCE] = lower_careduce,
    [OP_MAX_AND_ARGMAX] = lower_max_and_argmax,
    [OP_CUMOP] = lower_cumop,
    [OP_DOT] = lower_dot,
    [OP_RESHAPE] = lower_reshape,
    [OP_SHAPE] = lower_shape,
    [OP_SHAPE_I] = lower_shape_i,
    [OP_SUBTENSOR] = lower_subtensor,
    [OP_INC_SUBTENSOR] = lower_inc_subtensor,
    [OP_ADVANCED_SUBTENSOR1] = lower_advanced_subtensor1,
    [OP_ADVANCED_INC_SUBTENSOR1] = lower_advanced_inc_subtensor1,
    [OP_ADVANCED_SUBTENSOR] = lower_advanced_subtensor,
    [OP_ADVANCED_INC_SUBTENSOR] = lower_advanced_inc_subtensor,
    [OP_CHOOSE] = lower_choose,
    [OP_MAKE_SLICE] = lower_make_slice,
    [OP_NONZERO] = lower_nonzero,
    [OP_SPECIAL] = lower_special,
    [OP_MATRIX] = lower_matrix,
    [OP_SOLVE] = lower_solve,
    [OP_QR] = lower_qr,
    [OP_EIG] = lower_eig,
    [OP_PINV] = lower_pinv,
    [OP_LSTSQ] = lower_lstsq,
    [OP_SORT] = lower_sort,
    [OP_SEARCHSORTED] = lower_searchsorted,
    [OP_UNIQUE] = lower_unique,
    [OP_REPEAT] = lower_repeat,
    [OP_BROADCAST_TO] = lower_alloc,
    [OP_BAND] = lower_band,
    [OP_EXTRACT_DIAG] = lower_diagonal,
    [OP_ALLOC_DIAG] = lower_diagonal,
    [OP_BATCHED_DOT] = lower_matmul,
    [OP_MATMUL] = lower_matmul,
    [OP_ALLOC] = lower_alloc,
    [OP_ALLOC_EMPTY] = lower_alloc_empty,
    [OP_MAKE_VECTOR] = lower_make_vector,
    [OP_JOIN] = lower_join,
    [OP_SPLIT] = lower_split,
    [OP_ARANGE] = lower_arange,
    [OP_SPECIFY_SHAPE] = lower_specify_shape,
    [OP_UNBROADCAST] = lower_alias,
    [OP_SCALAR_FROM_TENSOR] = lower_alias,
    [OP_TENSOR_FROM_SCALAR] = lower_alias,
    [OP_DEEP_COPY] = lower_copy,
    [OP_VIEW] = lower_alias,
    [OP_ASSERT] = lower_assert,
    [OP_RANDOM] = lower_random,
    [OP_SCAN] = lower_scan,
};

/* ---- which function ---- */

/* Whether a class was written outside this package, so that what it overrides counts. */
static int is_foreign(PyObject *class)
{
    PyObject *module = PyObject_GetAttrString(class, "__module__");
    int foreign = 1;

    if (module == NULL) return -1;
    if (PyUnicode_Check(module)) {
        const char *name = PyUnicode_AsUTF8(module);
        if (name == NULL) foreign = -1;
        else foreign = strncmp(name, "pyscan.", 7) != 0 && strcmp(name, "pyscan") != 0;
    }
    Py_DECREF(module);
    return foreign;
}

/* 1 if a user's subclass of a native class brings a computation of its own, else 0. */
static int overrides_native(PyTypeObject *type)
{
    static const char *const names[] = {"perform", "rng_fn"};
    PyObject *mro = Py_NewRef(type->tp_mro);
    int result = 0;

    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_GET_SIZE(mro); i++) {
        PyObject *class = PyTuple_GET_ITEM(mro, i), *dict = ((PyTypeObject *)class)->tp_dict;
        int foreign = is_foreign(class);
        if (foreign < 0) result = -1;
        if (foreign != 1 || dict == NULL) break;
        for (size_t k = 0; result == 0 && k < sizeof(names) / sizeof(names[0]); k++) {
            PyObject *own;
            result = graph_find_item(dict, names[k], &own);
        }
    }
    Py_DECREF(mro);
    return result;
}

/* *function is NULL for a call-back. */
static int find_function(PyObject *op, LowerFunction *function)
{
    PyObject *kind = PyObject_GetAttrString(op, "kind");
    const char *text;
    int number = -1, foreign = 0;

    *function = NULL;
    if (kind == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
        PyErr_Clear();
        return 0;
    }
    text = PyUnicode_Check(kind) ? PyUnicode_AsUTF8(kind) : NULL;
    if (text != NULL) number = op_from_kind(text);
    if (text != NULL && number < 0 && (strcmp(text, "scalar") == 0 || strcmp(text, "cast") == 0)) number = OP_ELEMWISE;
    Py_DECREF(kind);
    if (PyErr_Occurred()) return -1;
    if (number < 0) return 0;
    foreign = overrides_native(Py_TYPE(op));
    if (foreign < 0) return -1;
    if (foreign == 0) *function = functions[number];
    return 0;
}

/* ---- call-backs ---- */

/* The node's inputs and outputs as they are; aux is the node's place in the list of calls. */
int lower_call(Builder *builder, PyObject *node)
{
    Numbers src = {0}, dst = {0};
    int64_t call = PyList_GET_SIZE(builder->lowered->calls);
    int result = -1;

    if (PyList_Append(builder->lowered->calls, node) < 0) return -1;
    for (Py_ssize_t i = 0; i < node_n_inputs(node); i++) {
        int32_t number = build_value(builder, node_input(node, i));
        if (number < 0 || numbers_add(&src, number) < 0) goto done;
    }
    for (Py_ssize_t i = 0; i < node_n_outputs(node); i++) {
        int32_t number = build_result(builder, node_output(node, i));
        if (number < 0 || numbers_add(&dst, number) < 0) goto done;
    }
    result = build_emit(builder, (Emit){.opcode = I_CALL, .n_dst = dst.n, .dst = dst.items, .n_src = src.n, .src = src.items, .n_aux = 1, .aux = &call});
done:
    numbers_clear(&src);
    numbers_clear(&dst);
    return result;
}

/* ---- the walk ---- */

static int lower_node(Builder *builder, PyObject *node)
{
    LowerFunction function;
    int result;

    builder->node = node;
    builder->node_index = (int32_t)PyList_GET_SIZE(builder->lowered->nodes);
    if (PyList_Append(builder->lowered->nodes, node) < 0 || find_function(node_op(node), &function) < 0) return -1;
    result = function == NULL ? 1 : function(builder, node);
    return result == 1 ? lower_call(builder, node) : result;
}

/* A loop's number of steps is checked as soon as it is known: a negative one is reported as such, not as the buffer of
 * negative length that the graph would allocate before it gets to the loop. */

static int is_scan(PyObject *node)
{
    LowerFunction function;

    return find_function(node_op(node), &function) < 0 ? -1 : function == lower_scan;
}

/* Owned dict: number of steps (a Variable) -> the first loop that runs for it. */
static PyObject *find_steps(PyObject *nodes)
{
    PyObject *loops = PyDict_New();

    for (Py_ssize_t i = 0; loops != NULL && i < PyList_GET_SIZE(nodes); i++) {
        PyObject *node = PyList_GET_ITEM(nodes, i);
        int found = is_scan(node);
        if (found < 0 || (found == 1 && node_n_inputs(node) > 0 && graph_set_default(loops, node_input(node, 0), node) < 0)) Py_CLEAR(loops);
    }
    return loops;
}

/* 1 for a constant that is not negative: nothing is to be checked. */
static int is_good_constant(PyObject *steps)
{
    PyObject *zero, *data;
    int result;

    if (!PyObject_TypeCheck(steps, graph_state_of(steps)->Constant)) return 0;
    zero = PyLong_FromLong(0);
    data = Py_NewRef(((Constant *)steps)->data);
    result = zero == NULL ? -1 : PyObject_RichCompareBool(data, zero, Py_GE);
    Py_XDECREF(zero);
    Py_DECREF(data);
    return result;
}

static int emit_steps_check(Builder *builder, PyObject *steps, PyObject *loop)
{
    int32_t number, dst;
    int is_good = is_good_constant(steps);

    if (is_good != 0) return is_good < 0 ? -1 : 0;

    builder->node = loop;
    builder->node_index = (int32_t)PyList_GET_SIZE(builder->lowered->nodes);
    if (PyList_Append(builder->lowered->nodes, loop) < 0 || (number = build_length(builder, steps)) < 0
        || (dst = build_temporary(builder, DTYPE_INT64, 0)) < 0)
        return -1;
    return build_emit1(builder, I_CHECK_STEPS, dst, 1, &number, 0, NULL);
}

/* Numbers of steps that no node computes are known from the start. */
static int check_given_steps(Builder *builder, PyObject *loops)
{
    PyObject *steps, *loop;
    Py_ssize_t position = 0;

    while (PyDict_Next(loops, &position, &steps, &loop)) {
        if (!graph_is_computed(steps) && emit_steps_check(builder, steps, loop) < 0) return -1;
    }
    return 0;
}

static int check_computed_steps(Builder *builder, PyObject *loops, PyObject *node)
{
    for (Py_ssize_t i = 0; i < node_n_outputs(node); i++) {
        PyObject *loop = PyDict_GetItemWithError(loops, node_output(node, i));
        if ((loop == NULL && PyErr_Occurred()) || (loop != NULL && emit_steps_check(builder, node_output(node, i), loop) < 0)) return -1;
    }
    return 0;
}

int lower_nodes(Builder *builder, FunctionGraph *graph)
{
    PyObject *nodes = graph_toposort(graph), *loops = nodes == NULL ? NULL : find_steps(nodes);
    int result = loops == NULL ? -1 : check_given_steps(builder, loops);

    builder->graph = graph;
    for (Py_ssize_t i = 0; result == 0 && i < PyList_GET_SIZE(nodes); i++) {
        PyObject *node = PyList_GET_ITEM(nodes, i);
        result = lower_node(builder, node);
        if (result == 0 && PyDict_GET_SIZE(loops) > 0) result = check_computed_steps(builder, loops, node);
    }
    Py_XDECREF(loops);
    Py_XDECREF(nodes);
    builder->node = NULL;
    builder->node_index = -1;
    return result;
}

static int lower_inputs(Builder *builder, FunctionGraph *graph)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(graph->inputs); i++) {
        int32_t number = build_input(builder, PyList_GET_ITEM(graph->inputs, i), ORIGIN_INPUT);
        if (number < 0 || numbers_add(&builder->inputs, number) < 0) return -1;
    }
    return 0;
}

static int lower_outputs(Builder *builder, FunctionGraph *graph, Numbers *outputs)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(graph->outputs); i++) {
        int32_t number = build_value(builder, PyList_GET_ITEM(graph->outputs, i));
        if (number < 0 || numbers_add(outputs, number) < 0) return -1;
    }
    return 0;
}

/* Names inputs and outputs, plans the storage and has the program checked. */
static int finish_program(Builder *builder, const Numbers *outputs)
{
    Status status;
    Program *program = builder->program;

    status_clear(&status);
    if (program_set_inputs(program, builder->inputs.n, builder->inputs.items, &status) < 0
        || program_set_outputs(program, outputs->n, outputs->items, &status) < 0 || (program_spread_fills(program), program_plan_storage(program, &status)) < 0
        || program_check(program, &status) < 0)
        return build_raise(&status);
    return 0;
}

int lower_graph(FunctionGraph *graph, Lowered *lowered)
{
    Builder builder;
    Numbers outputs = {0};
    int result = -1;

    memset(lowered, 0, sizeof(*lowered));
    memset(&builder, 0, sizeof(builder));
    lowered->nodes = PyList_New(0);
    lowered->calls = PyList_New(0);
    lowered->objects = PyList_New(0);
    if (lowered->nodes == NULL || lowered->calls == NULL || lowered->objects == NULL) goto done;
    if (builder_init(&builder, NULL, lowered) < 0 || lower_inputs(&builder, graph) < 0) goto done;
    if (lower_nodes(&builder, graph) < 0 || lower_outputs(&builder, graph, &outputs) < 0) goto done;
    if (finish_program(&builder, &outputs) < 0) goto done;
    lowered->program = builder.program;
    builder.program = NULL;
    result = 0;
done:
    builder_clear(&builder);
    numbers_clear(&outputs);
    if (result < 0) lowered_clear(lowered);
    return result;
}

void lowered_clear(Lowered *lowered)
{
    program_free(lowered->program);
    lowered->program = NULL;
    Py_CLEAR(lowered->nodes);
    Py_CLEAR(lowered->calls);
    Py_CLEAR(lowered->objects);
}
