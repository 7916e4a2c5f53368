/* Compiled functions: `_core.Thunk` holds a program and the cells of its inputs, and runs it all or nothing.
 *
 * A call takes a frame from the pool (so calls may nest and run in threads), shows it the cells' arrays, takes the
 * generators, runs the program without the GIL, makes outputs and new values, and only then stores the new values. Up to
 * there any failure puts the generators back and leaves the cells alone. Relies on: lower, vm, the other files of bind.
 * Relied on by: module.c. */
#include "bind/bind.h"

#include <stddef.h>
#include <string.h>
#include <structmember.h>

#include "base/mem.h"

enum { POOL_MAX_CALLS = 4 };
/* Storage that a frame at rest may keep for the next call. */
static const size_t KEEP_BYTES = (size_t)64 << 20;

/* ---- what can be known of a program before it runs ---- */

static int add_roots(Thunk *thunk)
{
    const Program *program = thunk->lowered.program;
    size_t n = (size_t)program->n_values + 1;

    thunk->root = mem_calloc(n, sizeof(*thunk->root));
    thunk->is_lasting = mem_calloc(n, sizeof(*thunk->is_lasting));
    if (thunk->root == NULL || thunk->is_lasting == NULL) return -1;
    for (int32_t i = 0; i < program->n_values; i++) {
        thunk->root[i] = i;
        thunk->is_lasting[i] = program->values[i].origin != ORIGIN_COMPUTED;
    }
    return 0;
}

static void trace_loop(Thunk *thunk, const Loop *loop, bool *destroyed)
{
    for (int32_t i = 0; i < loop->n_states; i++) {
        if (!loop->states[i].inplace) continue;
        thunk->root[loop->states[i].outer_out] = thunk->root[loop->states[i].outer_in];
        destroyed[thunk->root[loop->states[i].outer_in]] = true;
    }
    for (int32_t i = 0; i < loop->n_carries; i++) {
        if (!loop->carries[i].inplace) continue;
        thunk->root[loop->carries[i].outer_out] = thunk->root[loop->carries[i].outer_in];
        destroyed[thunk->root[loop->carries[i].outer_in]] = true;
    }
}

/* Inputs that a call-back's Op says it writes on. */
static int trace_call(Thunk *thunk, const Instr *instr, bool *destroyed)
{
    PyObject *node = PyList_GET_ITEM(thunk->lowered.calls, (Py_ssize_t)instr_aux(thunk->lowered.program, instr)[0]), *key, *inputs;
    PyObject *map; /* NULL: an Op of a foreign class that does not say */
    Py_ssize_t position = 0;

    if (graph_lookup_attr(((Apply *)node)->op, "destroy_map", &map) < 0) return -1;
    while (map != NULL && PyDict_Check(map) && PyDict_Next(map, &position, &key, &inputs)) {
        for (int32_t i = 0; i < instr->n_src; i++) {
            PyObject *number = PyLong_FromLong(i);
            int found = number == NULL ? -1 : PySequence_Contains(inputs, number);
            Py_XDECREF(number);
            if (found < 0) {
                Py_DECREF(map);
                return -1;
            }
            if (found) destroyed[thunk->root[instr_src(thunk->lowered.program, instr)[i]]] = true;
        }
    }
    Py_XDECREF(map);
    return 0;
}

static int trace_instr(Thunk *thunk, const Instr *instr, bool *destroyed)
{
    const Program *program = thunk->lowered.program;
    AliasRule rule = instr_alias(instr);

    if (instr->opcode == I_LOOP) trace_loop(thunk, &program->loops[instr_aux(program, instr)[0]], destroyed);
    if (instr->opcode == I_CALL) return trace_call(thunk, instr, destroyed);
    if (rule != ALIAS_NEVER) {
        int32_t root = thunk->root[instr_src(program, instr)[0]];
        thunk->root[instr_dst(program, instr)[0]] = root;
        if (rule == ALIAS_DESTROY) destroyed[root] = true;
    }
    return 0;
}

/* Which inputs the program may write on, and whose memory each value shows. */
static int trace_program(Thunk *thunk)
{
    const Program *program = thunk->lowered.program;
    bool *destroyed = mem_calloc((size_t)program->n_values + 1, sizeof(*destroyed));
    int result = -1;

    thunk->is_destroyed = mem_calloc((size_t)program->n_inputs + 1, sizeof(*thunk->is_destroyed));
    if (destroyed == NULL || thunk->is_destroyed == NULL || add_roots(thunk) < 0) {
        PyErr_NoMemory();
        goto done;
    }
    for (int32_t i = 0; i < program->n_instrs; i++)
        if (trace_instr(thunk, &program->instrs[i], destroyed) < 0) goto done;
    for (int32_t i = 0; i < program->n_inputs; i++) {
        thunk->is_destroyed[i] = destroyed[program->inputs[i]];
        if (thunk->is_destroyed[i] && program->values[program->inputs[i]].value_class == VALUE_ARRAY) thunk->destroys_arrays = true;
    }
    result = 0;
done:
    mem_free(destroyed);
    return result;
}

/* ---- making a thunk ---- */

static bool has_until(const Program *program)
{
    for (int32_t i = 0; i < program->n_loops; i++)
        if (program->loops[i].until >= 0) return true;
    return false;
}

static int read_updates(Thunk *thunk, PyObject *updates)
{
    PyObject *pairs = PySequence_Tuple(updates);
    int32_t n_inputs = thunk->lowered.program->n_inputs, n_outputs = thunk->lowered.program->n_outputs;
    int result = -1;

    if (pairs == NULL) return -1;
    thunk->n_updates = PyTuple_GET_SIZE(pairs);
    thunk->update_out = mem_calloc((size_t)thunk->n_updates + 1, sizeof(*thunk->update_out));
    thunk->update_in = mem_calloc((size_t)thunk->n_updates + 1, sizeof(*thunk->update_in));
    thunk->update_of = mem_calloc((size_t)n_inputs + 1, sizeof(*thunk->update_of));
    if (thunk->update_out == NULL || thunk->update_in == NULL || thunk->update_of == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    for (int32_t i = 0; i < n_inputs; i++) thunk->update_of[i] = -1;
    for (Py_ssize_t i = 0; i < thunk->n_updates; i++) {
        int out, in;
        PyObject *pair = PySequence_Tuple(PyTuple_GET_ITEM(pairs, i));
        int parsed = pair == NULL ? 0 : PyArg_ParseTuple(pair, "ii;an update is (output index, input index)", &out, &in);
        Py_XDECREF(pair);
        if (!parsed) goto done;
        if (out < 0 || out >= n_outputs || in < 0 || in >= PyTuple_GET_SIZE(thunk->cells) || PyTuple_GET_ITEM(thunk->cells, in) == Py_None) {
            PyErr_Format(PyExc_IndexError, "update (%d, %d) names no output or no input with a cell", out, in);
            goto done;
        }
        thunk->update_out[i] = out;
        thunk->update_in[i] = in;
        thunk->update_of[in] = (int32_t)i;
    }
    result = 0;
done:
    Py_DECREF(pairs);
    return result;
}

static int read_borrow(Thunk *thunk, PyObject *borrow)
{
    Py_ssize_t n = borrow == Py_None ? 0 : PySequence_Size(borrow);

    if (n < 0) return -1;
    thunk->borrow = mem_calloc((size_t)thunk->n_outputs + 1, sizeof(*thunk->borrow));
    if (thunk->borrow == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n && i < thunk->n_outputs; i++) {
        PyObject *item = PySequence_GetItem(borrow, i);
        int truth = item == NULL ? -1 : PyObject_IsTrue(item);
        Py_XDECREF(item);
        if (truth < 0) return -1;
        thunk->borrow[i] = truth != 0;
    }
    return 0;
}

static int read_cells(Thunk *thunk, PyObject *cells)
{
    FunctionGraph *graph = (FunctionGraph *)thunk->fgraph;

    thunk->cells = PySequence_Tuple(cells);
    if (thunk->cells == NULL) return -1;
    if (PyTuple_GET_SIZE(thunk->cells) != PyList_GET_SIZE(graph->inputs)) {
        PyErr_Format(PyExc_ValueError, "%zd cells are given for %zd inputs", PyTuple_GET_SIZE(thunk->cells), PyList_GET_SIZE(graph->inputs));
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(thunk->cells); i++) {
        PyObject *cell = PyTuple_GET_ITEM(thunk->cells, i);
        if (cell == Py_None) thunk->n_given++;
        if (cell == Py_None || (PyList_Check(cell) && PyList_GET_SIZE(cell) == 1)) continue;
        PyErr_Format(PyExc_TypeError, "cell %zd must be a list of one element, or None for a value that each call gives", i);
        return -1;
    }
    return 0;
}

/* The kinds (1 << StreamKind) of the generators that are in cells now. */
static int find_kinds(const Thunk *thunk, BindState *state, unsigned *kinds)
{
    const Program *program = thunk->lowered.program;

    *kinds = 0;
    for (int32_t i = 0; i < PyTuple_GET_SIZE(thunk->cells); i++) {
        PyObject *cell = PyTuple_GET_ITEM(thunk->cells, i);
        StreamKind kind;
        int is_known;
        if (cell == Py_None || program->values[program->inputs[i]].value_class != VALUE_STREAM) continue;
        is_known = streams_find_kind(state, PyList_GET_ITEM(cell, 0), &kind);
        if (is_known < 0) return -1;
        if (is_known) *kinds |= 1u << kind;
    }
    return 0;
}

static int fill_thunk(Thunk *thunk, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"fgraph", "cells", "n_outputs", "updates", "borrow", "block_steps", "batch_products", NULL};
    PyObject *fgraph, *cells, *updates = NULL, *borrow = Py_None, *none = NULL;
    CoreState *core = core_state_get(thunk->module);
    long long block_steps = DEFAULT_BLOCK_STEPS;
    int batches_products = 1, result = -1;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!On|OOLp:Thunk", names, core->graph.FunctionGraph, &fgraph, &cells, &thunk->n_outputs, &updates, &borrow,
                                     &block_steps, &batches_products)) return -1;
    thunk->batches_products = batches_products != 0;
    thunk->block_steps = block_steps < 0 ? 0 : block_steps;
    thunk->fgraph = Py_NewRef(fgraph);
    if (updates == NULL || updates == Py_None) updates = none = PyTuple_New(0);
    if (updates == NULL || read_cells(thunk, cells) < 0 || lower_graph((FunctionGraph *)fgraph, &thunk->lowered) < 0) goto done;
    if (find_kinds(thunk, &core->bind, &thunk->settled_kinds) < 0 || selfcheck_program(&core->bind, thunk->lowered.program, thunk->settled_kinds) < 0) goto done;
    if (thunk->n_outputs < 0 || thunk->n_outputs > thunk->lowered.program->n_outputs) {
        PyErr_Format(PyExc_ValueError, "%zd outputs are asked of a graph that has %d", thunk->n_outputs, (int)thunk->lowered.program->n_outputs);
        goto done;
    }
    thunk->has_until = has_until(thunk->lowered.program);
    if (read_updates(thunk, updates) < 0 || read_borrow(thunk, borrow) < 0 || trace_program(thunk) < 0) goto done;
    result = 0;
done:
    Py_XDECREF(none);
    return result;
}

static PyObject *thunk_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *module = PyType_GetModuleByDef(type, &core_module_def);
    Thunk *thunk = module == NULL ? NULL : (Thunk *)type->tp_alloc(type, 0);

    if (thunk == NULL) return NULL;
    thunk->module = Py_NewRef(module);
    if (fill_thunk(thunk, args, keywords) < 0) Py_CLEAR(thunk);
    return (PyObject *)thunk;
}

/* ---- frames ---- */

static void free_call(Call *call)
{
    if (call == NULL) return;
    streams_free(call);
    frame_free(call->frame, &call->host);
    for (int32_t i = 0; i < call->thunk->lowered.program->n_inputs; i++) {
        if (call->held != NULL) Py_XDECREF(call->held[i]);
        if (call->streams != NULL) stream_free(call->streams[i]);
    }
    for (int32_t i = 0; i < call->n_sites; i++) stream_free(call->sites[i].stream);
    mem_free(call->held);
    mem_free(call->streams);
    mem_free(call->sites);
    pending_free(&call->pending);
    mem_free(call);
}

/* A stream for each input that is one. */
static int add_streams(Call *call)
{
    const Program *program = call->thunk->lowered.program;

    call->held = mem_calloc((size_t)program->n_inputs + 1, sizeof(*call->held));
    call->streams = mem_calloc((size_t)program->n_inputs + 1, sizeof(*call->streams));
    if (call->held == NULL || call->streams == NULL) return -1;
    for (int32_t i = 0; i < program->n_inputs; i++) {
        if (program->values[program->inputs[i]].value_class != VALUE_STREAM) continue;
        call->streams[i] = stream_new();
        if (call->streams[i] == NULL) return -1;
    }
    return 0;
}

/* Owned: the frame and what goes with it, at rest or new; NULL with an exception. */
static Call *take_call(Thunk *thunk)
{
    Call *call = thunk->pool;
    Status status;

    if (call != NULL) {
        thunk->pool = call->next;
        thunk->n_pool--;
        call->next = NULL;
        return call;
    }
    status_clear(&status);
    call = mem_calloc(1, sizeof(*call));
    if (call == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    call->thunk = thunk;
    call->state = &core_state_get(thunk->module)->bind;
    host_fill(&call->host, call);
    call->host.block_steps = thunk->block_steps;
    call->host.batches_products = thunk->batches_products;
    call->settled_kinds = thunk->settled_kinds;
    if (add_streams(call) < 0 || pending_new(thunk, &call->pending) < 0) status_fail(&status, STATUS_NO_MEMORY);
    else call->frame = frame_new(thunk->lowered.program, &status);
    if (call->frame != NULL) return call;
    free_call(call);
    (void)errors_raise_plain(&status);
    return NULL;
}

/* Ends a call: gives up what it held and puts it back into the pool. An exception that is set stays set. */
static void give_back_call(Thunk *thunk, Call *call)
{
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    frame_reset(call->frame, &call->host, KEEP_BYTES);
    if (call->outs != NULL) outs_clear(thunk, call);
    for (int32_t i = 0; i < thunk->lowered.program->n_inputs; i++) {
        Py_CLEAR(call->held[i]);
        if (call->streams[i] != NULL) call->streams[i]->host = NULL;
    }
    for (int32_t i = 0; i < call->n_sites; i++) call->sites[i].stream->host = NULL;
    streams_empty(call);
    if (thunk->n_pool < POOL_MAX_CALLS) {
        call->next = thunk->pool;
        thunk->pool = call;
        thunk->n_pool++;
    } else {
        free_call(call);
    }
    PyErr_Restore(type, value, traceback);
}

/* ---- a run ---- */

/* Owned: the name of input i for messages. */
static PyObject *input_name(Thunk *thunk, int32_t i)
{
    PyObject *inputs = ((FunctionGraph *)thunk->fgraph)->inputs, *text, *name;

    if (i >= PyList_GET_SIZE(inputs)) return PyUnicode_FromString("a constant");
    text = PyObject_Str(PyList_GET_ITEM(inputs, i));
    name = text == NULL ? NULL : PyUnicode_FromFormat("input %d (%U)", (int)i, text);
    Py_XDECREF(text);
    return name;
}

/* Lent: the value of input i: of its cell, of the call (*given is the next of those), or an object constant. */
static PyObject *input_value(Thunk *thunk, int32_t i, PyObject *const **given)
{
    Py_ssize_t n_cells = PyTuple_GET_SIZE(thunk->cells);
    PyObject *cell;

    if (i >= n_cells) return PyList_GET_ITEM(thunk->lowered.objects, i - n_cells);
    cell = PyTuple_GET_ITEM(thunk->cells, i);
    if (cell == Py_None) return *(*given)++;
    if (PyList_GET_SIZE(cell) == 1) return PyList_GET_ITEM(cell, 0);
    PyErr_Format(PyExc_TypeError, "cell %d must be a list of one element", (int)i);
    return NULL;
}

/* Owned: the value as the ndarray of input i. */
static PyObject *input_array(Thunk *thunk, int32_t i, const Value *value, PyObject *object)
{
    PyObject *name, *ndarray = Py_XNewRef(convert_peek(object, (DType)value->dtype, value->ndim));

    if (ndarray != NULL) return ndarray;
    name = input_name(thunk, i);
    ndarray = name == NULL ? NULL : convert_input(object, (DType)value->dtype, value->ndim, name);
    Py_XDECREF(name);
    return ndarray;
}

/* Whether the object is a number that was stored in the register. */
static bool set_number(const Value *value, char *at, PyObject *object)
{
    int overflow;

    if (value->dtype == DTYPE_FLOAT64 && PyFloat_Check(object)) {
        double number = PyFloat_AS_DOUBLE(object);
        memcpy(at, &number, sizeof(number));
        return true;
    }
    if (value->dtype == DTYPE_INT64 && PyLong_CheckExact(object)) {
        int64_t number = PyLong_AsLongLongAndOverflow(object, &overflow);
        memcpy(at, &number, sizeof(number));
        return overflow == 0;
    }
    return false;
}

/* Shows input i's value, which call->held keeps, to the frame. */
static int set_input(Thunk *thunk, Call *call, int32_t i, PyObject *object, bool are_numbers)
{
    const Program *program = thunk->lowered.program;
    int32_t number = program->inputs[i];
    const Value *value = &program->values[number];
    PyObject *ndarray;

    if (object == NULL) return -1;
    if (value->value_class == VALUE_STREAM || value->value_class == VALUE_OBJECT) {
        Py_XSETREF(call->held[i], Py_NewRef(object));
        if (value->value_class == VALUE_OBJECT) *frame_object(call->frame, number) = Py_NewRef(object); /* the frame's own holder */
        return 0;
    }
    if (are_numbers && value->value_class == VALUE_SCALAR && set_number(value, frame_scalar(call->frame, number), object)) return 0;
    ndarray = input_array(thunk, i, value, object);
    if (ndarray == NULL) return -1;
    Py_XSETREF(call->held[i], ndarray);
    if (value->value_class == VALUE_ARRAY) {
        convert_show(ndarray, frame_array(call->frame, number));
    } else {
        Array shown;
        convert_show(ndarray, &shown);
        memcpy(frame_scalar(call->frame, number), shown.data, (size_t)dtype_bytes((DType)value->dtype));
    }
    return 0;
}

/* Decides how bit generators of kinds that this call did not meet before are drawn from. */
static int settle_kinds(Call *call, unsigned kinds)
{
    if (selfcheck_program(call->state, call->thunk->lowered.program, kinds) < 0) {
        streams_leave(call);
        return -1;
    }
    call->host.dists = call->state->dists;
    call->settled_kinds |= kinds;
    return 0;
}

/* Shows what other calls put into the cells while this one waited for them. 1: there is another generator, which has to be taken. */
static int refresh_inputs(Thunk *thunk, Call *call, bool are_numbers)
{
    int result = 0;

    for (int32_t i = 0; i < PyTuple_GET_SIZE(thunk->cells); i++) {
        PyObject *cell = PyTuple_GET_ITEM(thunk->cells, i), *object;
        if (cell == Py_None || thunk->lowered.program->values[thunk->lowered.program->inputs[i]].value_class == VALUE_OBJECT) continue;
        object = input_value(thunk, i, NULL);
        if (object != NULL && object == call->held[i]) continue;
        if (set_input(thunk, call, i, object, are_numbers) < 0) return -1;
        if (call->streams[i] != NULL) result = 1;
    }
    return result;
}

/* Takes the generators and cells of the call; the values are then those that the calls before it left. */
static int enter_streams(Thunk *thunk, Call *call, bool are_numbers)
{
    int result = streams_enter(call, call->held);

    while (result == 0 && call->has_waited && (result = refresh_inputs(thunk, call, are_numbers)) != 0) {
        streams_leave(call);
        if (result < 0) break;
        for (int32_t i = 0; i < thunk->lowered.program->n_inputs; i++)
            if (call->streams[i] != NULL) call->streams[i]->host = NULL;
        streams_empty(call);
        result = streams_enter(call, call->held);
    }
    return result;
}

static int set_inputs(Thunk *thunk, Call *call, PyObject *const *given, PyObject *const *outs, bool are_numbers)
{
    const Program *program = thunk->lowered.program;
    unsigned kinds = 0;

    for (int32_t i = 0; i < program->n_inputs; i++)
        if (set_input(thunk, call, i, input_value(thunk, i, &given), are_numbers) < 0) return -1;
    if (enter_streams(thunk, call, are_numbers) < 0) return -1;
    if ((thunk->destroys_arrays && apart_set(thunk, call) < 0) || outs_set(thunk, call, outs) < 0) {
        streams_leave(call);
        return -1;
    }
    for (int32_t i = 0; i < program->n_inputs; i++) {
        Stream *stream = call->streams[i];
        if (stream == NULL) continue;
        *frame_stream(call->frame, program->inputs[i]) = stream;
        if (stream->gauss == NULL && !stream->by_method) kinds |= 1u << stream->kind;
    }
    return (kinds & ~call->settled_kinds) == 0 ? 0 : settle_kinds(call, kinds);
}

/* Runs the program; the host gives up the GIL where that is worth it. */
static int run_program(Thunk *thunk, Call *call)
{
    Status status;
    int result;

    status_clear(&status);
    result = vm_run(call->frame, &call->host, &status);
    (void)call_take_gil(call);
    if (result < 0 && status.code == STATUS_PLACE_SHAPE) (void)outs_refuse(thunk, &status);
    else if (result < 0) errors_raise(thunk, call, &status);
    return result;
}

static void keep_counters(Thunk *thunk, Call *call)
{
    thunk->last = *frame_counters(call->frame);
    thunk->last.generator_copies += call->generator_copies;
    thunk->last_python_calls = call->python_calls;
}

/* Owned: the list of outputs, or the only one. */
static PyObject *run_call(Thunk *thunk, Call *call, PyObject *const *given, PyObject *const *outs, bool are_numbers, bool is_single)
{
    PyObject *outputs = NULL;

    call->python_calls = 0;
    call->generator_copies = 0;
    if (set_inputs(thunk, call, given, outs, are_numbers) < 0) return NULL;
    if (run_program(thunk, call) == 0) outputs = commit_outputs(thunk, call, is_single);
    if (outputs != NULL && commit_prepare(thunk, call) < 0) Py_CLEAR(outputs);
    if (outputs != NULL) commit_now(thunk, call);
    else streams_restore(call);
    keep_counters(thunk, call);
    streams_leave(call);
    pending_clear(thunk, &call->pending);
    return outputs;
}

PyObject *thunk_run(Thunk *thunk, PyObject *const *given, PyObject *const *outs, bool are_numbers, bool is_single)
{
    PyObject *outputs;
    Call *call;

    if (thunk->lowered.program == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "the thunk was taken apart by the garbage collector");
        return NULL;
    }
    call = take_call(thunk);
    if (call == NULL) return NULL;
    Py_INCREF(thunk);
    outputs = run_call(thunk, call, given, outs, are_numbers, is_single);
    give_back_call(thunk, call);
    Py_DECREF(thunk);
    return outputs;
}

/* Owned: a sequence as a tuple of the length expected. */
static PyObject *read_tuple(PyObject *sequence, Py_ssize_t length, const char *refusal)
{
    PyObject *tuple = sequence == NULL ? PyTuple_New(0) : PySequence_Tuple(sequence);

    if (tuple != NULL && PyTuple_GET_SIZE(tuple) != length) {
        PyErr_Format(PyExc_TypeError, refusal, PyTuple_GET_SIZE(tuple), length);
        Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *thunk_call(PyObject *self, PyObject *args, PyObject *keywords)
{
    Thunk *thunk = (Thunk *)self;
    PyObject *values = NULL, *places = Py_None, *given, *outs = NULL, *outputs = NULL;

    if (PyTuple_GET_SIZE(args) > 2 || (keywords != NULL && PyDict_GET_SIZE(keywords) > 0)) {
        PyErr_SetString(PyExc_TypeError, "a thunk takes one list of the values for inputs without a cell, and one of arrays for its outputs");
        return NULL;
    }
    if (!PyArg_UnpackTuple(args, "Thunk", 0, 2, &values, &places)) return NULL;
    given = read_tuple(values, thunk->n_given, "%zd values are given for %zd inputs without a cell");
    if (given == NULL) return NULL;
    if (places != Py_None) outs = read_tuple(places, thunk->n_outputs, "%zd arrays are given for %zd outputs");
    if (places == Py_None || outs != NULL) outputs = thunk_run(thunk, ((PyTupleObject *)given)->ob_item, outs == NULL ? NULL : ((PyTupleObject *)outs)->ob_item, false, false);
    Py_XDECREF(outs);
    Py_DECREF(given);
    return outputs;
}

/* ---- the type ---- */

static int thunk_traverse(PyObject *self, visitproc visit, void *arg)
{
    Thunk *thunk = (Thunk *)self;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(thunk->module);
    Py_VISIT(thunk->fgraph);
    Py_VISIT(thunk->cells);
    Py_VISIT(thunk->lowered.nodes);
    Py_VISIT(thunk->lowered.calls);
    Py_VISIT(thunk->lowered.objects);
    return 0;
}

/* What the collector may take apart: the thunk is then only good to be freed, and the pool goes before its program. */
static int thunk_clear(PyObject *self)
{
    Thunk *thunk = (Thunk *)self;

    while (thunk->pool != NULL) {
        Call *call = thunk->pool;
        thunk->pool = call->next;
        free_call(call);
    }
    thunk->n_pool = 0;
    Py_CLEAR(thunk->fgraph);
    Py_CLEAR(thunk->cells);
    lowered_clear(&thunk->lowered);
    return 0;
}

static void thunk_dealloc(PyObject *self)
{
    Thunk *thunk = (Thunk *)self;
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    if (thunk->weakrefs != NULL) PyObject_ClearWeakRefs(self);
    (void)thunk_clear(self);
    mem_free(thunk->update_out);
    mem_free(thunk->update_in);
    mem_free(thunk->update_of);
    mem_free(thunk->borrow);
    mem_free(thunk->is_destroyed);
    mem_free(thunk->root);
    mem_free(thunk->is_lasting);
    Py_CLEAR(thunk->module);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *thunk_listing(PyObject *self, PyObject *Py_UNUSED(none))
{
    const Program *program = ((Thunk *)self)->lowered.program;
    char *text = program == NULL ? NULL : program_listing(program);
    PyObject *result;

    if (program == NULL) return PyUnicode_FromString("");
    result = text == NULL ? PyErr_NoMemory() : PyUnicode_FromString(text);
    mem_free(text);
    return result;
}

static PyObject *thunk_phases(PyObject *self, PyObject *Py_UNUSED(none)) { return phases_list(&((Thunk *)self)->lowered); }

static PyObject *thunk_counters(PyObject *self, void *closure)
{
    const Thunk *thunk = (Thunk *)self;

    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:L,s:L}", "generator_copies", (long long)thunk->last.generator_copies, "scratch_copies", (long long)thunk->last.scratch_copies,
                         "steps", (long long)thunk->last.steps, "block_steps", (long long)thunk->last.block_steps, "tile_steps", (long long)thunk->last.tile_steps, "allocations", (long long)thunk->last.allocations, "python_calls", (long long)thunk->last_python_calls);
}

static PyObject *thunk_fgraph(PyObject *self, void *closure)
{
    PyObject *fgraph = ((Thunk *)self)->fgraph;

    return Py_NewRef(fgraph == NULL ? Py_None : fgraph);
}

static PyMethodDef thunk_methods[] = {
    {"listing", thunk_listing, METH_NOARGS, "The program as text, one instruction a line."},
    {"phases", thunk_phases, METH_NOARGS, "For each instruction of each loop's body: (the loop's node, its own node, \"once\", \"before\", \"core\" or \"after\", the number of a state that it depends on, or -1)."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef thunk_getset[] = {
    {"counters", thunk_counters, NULL, "What the last call did: generator_copies, scratch_copies, steps, block_steps, tile_steps, allocations, python_calls.", NULL},
    {"fgraph", thunk_fgraph, NULL, "The graph that the program was made from.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef thunk_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Thunk, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot thunk_slots[] = {
    {Py_tp_doc, "Thunk(fgraph, cells, n_outputs, updates=(), borrow=None)\n--\n\nA graph made into a program. A cell is a list with the input's value, or None when each call gives the value.\n"
                "Calling it, with a list of those values, runs the program, returns the list of outputs and stores the updates in their\n"
                "cells: all of it, or after any failure nothing. A second list has for each output an array that it is written into, or None."},
    {Py_tp_new, thunk_new},
    {Py_tp_call, thunk_call},
    {Py_tp_traverse, thunk_traverse},
    {Py_tp_clear, thunk_clear},
    {Py_tp_dealloc, thunk_dealloc},
    {Py_tp_methods, thunk_methods},
    {Py_tp_getset, thunk_getset},
    {Py_tp_members, thunk_members},
    {0, NULL},
};

static PyType_Spec thunk_spec = {
    .name = "pyscan._core.Thunk",
    .basicsize = sizeof(Thunk),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = thunk_slots,
};

int thunk_module_exec(PyObject *module)
{
    BindState *state = &core_state_get(module)->bind;

    state->Thunk = (PyTypeObject *)PyType_FromModuleAndSpec(module, &thunk_spec, NULL);
    return state->Thunk == NULL ? -1 : PyModule_AddType(module, state->Thunk);
}
