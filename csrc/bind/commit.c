/* Results: outputs as fresh objects, and the new values of shared variables, all made before any is stored.
 *
 * A generator that worked in place is its container's own object, and nothing is stored. State that lives in scratch
 * words is written into the container's object when nobody else has a claim on that, else a new object is made. One
 * object never ends up in two containers. Relies on: convert.c, streams.c. Relied on by: thunk.c. */
#include "bind/bind.h"
#include "bind/numpy_api.h"

#include <string.h>

#include "base/mem.h"

/* ---- arrays ---- */

/* Whether another output of the program shows the same memory. */
static bool is_shared_root(const Thunk *thunk, int32_t i_output)
{
    const Program *program = thunk->lowered.program;
    int32_t root = thunk->root[program->outputs[i_output]];

    for (int32_t i = 0; i < program->n_outputs; i++)
        if (i != i_output && thunk->root[program->outputs[i]] == root) return true;
    return false;
}

/* Owned: output i as an ndarray that shares memory with nothing that lasts, unless it may borrow. */
static PyObject *array_output(Thunk *thunk, Call *call, int32_t i_output, bool may_borrow)
{
    int32_t value = thunk->lowered.program->outputs[i_output];
    const Array *array = frame_array(call->frame, value);

    if (may_borrow || !(thunk->is_lasting[thunk->root[value]] || is_shared_root(thunk, i_output))) return convert_hand_over(array);
    return convert_copy(array);
}

/* Owned: the value of an output that is no stream. */
static PyObject *plain_output(Thunk *thunk, Call *call, int32_t i_output, bool may_borrow)
{
    int32_t value = thunk->lowered.program->outputs[i_output];

    if (thunk->lowered.program->values[value].value_class == VALUE_OBJECT) {
        PyObject *object = *frame_object(call->frame, value);
        if (object == NULL) PyErr_SetString(PyExc_ValueError, "an output has no value");
        return Py_XNewRef(object);
    }
    return array_output(thunk, call, i_output, may_borrow);
}

/* Owned: what output i gives. */
static PyObject *make_output(Thunk *thunk, Call *call, int32_t i)
{
    int32_t value = thunk->lowered.program->outputs[i];

    if (thunk->lowered.program->values[value].value_class == VALUE_STREAM) return streams_copy_generator(call, *frame_stream(call->frame, value));
    return plain_output(thunk, call, i, thunk->borrow[i]);
}

/* The results that go to the caller's arrays, in two rounds: what is in the memory of inputs is copied before any array is
 * written that may share it; results for those arrays were made in memory of their own. */
static int fill_outs(Thunk *thunk, Call *call, PyObject *list)
{
    for (int round = 0; round < 2; round++) {
        for (int32_t i = 0; i < (int32_t)thunk->n_outputs; i++) {
            PyObject *filled;
            if (call->outs[i].ndarray == NULL || call->outs[i].meets_inputs != (round == 1)) continue;
            filled = outs_fill(thunk, call, i, PyList_GET_ITEM(list, i));
            if (filled == NULL || PyList_SetItem(list, i, filled) < 0) return -1;
        }
    }
    return 0;
}

PyObject *commit_outputs(Thunk *thunk, Call *call, bool is_single)
{
    PyObject *list;

    if (is_single && call->outs == NULL) return make_output(thunk, call, 0);
    list = PyList_New(thunk->n_outputs);
    for (int32_t i = 0; list != NULL && i < (int32_t)thunk->n_outputs; i++) {
        bool is_out = call->outs != NULL && call->outs[i].ndarray != NULL;
        PyObject *output = is_out && !call->outs[i].meets_inputs ? NULL : is_out ? plain_output(thunk, call, i, false) : make_output(thunk, call, i);
        if (output != NULL) PyList_SET_ITEM(list, i, output);
        else if (PyErr_Occurred()) Py_CLEAR(list);
    }
    if (list != NULL && call->outs != NULL && fill_outs(thunk, call, list) < 0) Py_CLEAR(list);
    return list;
}

/* ---- generators ---- */

static const Stream *update_stream(const Thunk *thunk, Call *call, int32_t i_update)
{
    int32_t value = thunk->lowered.program->outputs[thunk->update_out[i_update]];

    return thunk->lowered.program->values[value].value_class == VALUE_STREAM ? *frame_stream(call->frame, value) : NULL;
}

/* First round: values that are their container's own object. */
static void claim_own(Thunk *thunk, Call *call)
{
    for (int32_t i = 0; i < (int32_t)thunk->n_updates; i++) {
        const Stream *stream = update_stream(thunk, call, i);
        Handle *object = stream == NULL ? NULL : streams_find_object(call, stream);
        if (object != NULL && object->owner == thunk->update_in[i]) object->is_claimed = true;
    }
}

/* The handle of the container's own object, if the container is its owner. */
static Handle *own_handle(const Thunk *thunk, Call *call, int32_t i_update)
{
    for (int32_t i = 0; i < call->n_input_handles; i++)
        if (call->handles[i]->owner == thunk->update_in[i_update]) return call->handles[i];
    return NULL;
}

/* The copy that the host made for this stream, which nobody else has, or NULL. */
static Handle *private_handle(const Stream *stream)
{
    Handle *handle = stream->host;
    return handle->made_for == stream && handle->bitgen == stream->bitgen && !handle->is_claimed ? handle : NULL;
}

static int prepare_stream(Thunk *thunk, Call *call, Pending *pending, int32_t i, const Stream *stream)
{
    Handle *object = streams_find_object(call, stream), *own = own_handle(thunk, call, i);

    if (object != NULL && object->owner == thunk->update_in[i]) return 0; /* it moved in place */
    if (object != NULL && !object->is_claimed && thunk->update_of[object->owner] >= 0) { /* handed over by a container that gets another */
        object->is_claimed = true;
        pending->values[i] = Py_NewRef(object->generator);
        return 0;
    }
    if (object == NULL && own != NULL && !own->is_claimed && own->layout != NULL && own->layout == stream->layout && (own->gauss == NULL) == (stream->gauss == NULL)) {
        own->is_claimed = true;
        pending->words[i] = stream;
        pending->targets[i] = own;
        return 0;
    }
    object = private_handle(stream);
    if (object != NULL) {
        object->is_claimed = true;
        pending->values[i] = Py_NewRef(object->generator);
        return 0;
    }
    pending->values[i] = streams_copy_generator(call, stream);
    return pending->values[i] == NULL ? -1 : 0;
}

/* ---- all updates ---- */

/* The input whose memory the value shows, if its container gets another value by this call; else -1. */
static int32_t find_giver(const Thunk *thunk, int32_t value)
{
    const Program *program = thunk->lowered.program;

    for (Py_ssize_t i = 0; i < thunk->n_updates; i++)
        if (program->inputs[thunk->update_in[i]] == thunk->root[value]) return thunk->update_in[i];
    return -1;
}

static bool is_same_view(const Array *a, const Array *b)
{
    if (a->data != b->data || a->ndim != b->ndim) return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->shape[i] != b->shape[i] || a->strides[i] != b->strides[i]) return false;
    return true;
}

/* Owned: an array that another container gives up, or a view of all of it; NULL without an exception where a copy is needed. So
 * shared variables that swap their values swap their arrays. */
static PyObject *take_over(Thunk *thunk, Call *call, int32_t i_output)
{
    const Program *program = thunk->lowered.program;
    int32_t value = program->outputs[i_output], giver = find_giver(thunk, value);
    PyObject *view;
    Array given;

    if (giver < 0 || program->values[value].value_class != VALUE_ARRAY || is_shared_root(thunk, i_output)) return NULL;
    convert_show(call->held[giver], &given);
    const Array *array = frame_array(call->frame, value);
    if (is_same_view(array, &given)) return Py_NewRef(call->held[giver]);
    if (array_size(array) != array_size(&given) || array_size(array) == 0) return NULL; /* a part would keep the whole alive */
    view = convert_view(array);
    if (view != NULL && PyArray_SetBaseObject((PyArrayObject *)view, Py_NewRef(call->held[giver])) < 0) Py_CLEAR(view);
    return view;
}

static int prepare_update(Thunk *thunk, Call *call, Pending *pending, int32_t i)
{
    const Stream *stream = update_stream(thunk, call, i);

    if (stream != NULL) return prepare_stream(thunk, call, pending, i, stream);
    pending->values[i] = take_over(thunk, call, thunk->update_out[i]);
    if (pending->values[i] == NULL && !PyErr_Occurred()) pending->values[i] = plain_output(thunk, call, thunk->update_out[i], false);
    return pending->values[i] == NULL ? -1 : 0;
}

/* Cells are lists, which others can reach. */
static int check_cells(Thunk *thunk)
{
    for (Py_ssize_t i = 0; i < thunk->n_updates; i++) {
        if (PyList_GET_SIZE(PyTuple_GET_ITEM(thunk->cells, thunk->update_in[i])) == 1) continue;
        PyErr_Format(PyExc_TypeError, "cell %d must be a list of one element", (int)thunk->update_in[i]);
        return -1;
    }
    return 0;
}

int pending_new(const Thunk *thunk, Pending *pending)
{
    size_t n = (size_t)thunk->n_updates;

    if (n == 0) return 0;
    pending->values = mem_calloc(n, sizeof(*pending->values));
    pending->words = mem_calloc(n, sizeof(*pending->words));
    pending->targets = mem_calloc(n, sizeof(*pending->targets));
    return pending->values == NULL || pending->words == NULL || pending->targets == NULL ? -1 : 0;
}

void pending_free(Pending *pending)
{
    mem_free(pending->values);
    mem_free(pending->words);
    mem_free(pending->targets);
}

int commit_prepare(Thunk *thunk, Call *call)
{
    Pending *pending = &call->pending;
    size_t n = (size_t)thunk->n_updates;

    if (n == 0) return 0;
    memset(pending->words, 0, n * sizeof(*pending->words));
    claim_own(thunk, call);
    for (int32_t i = 0; i < (int32_t)n; i++)
        if (prepare_update(thunk, call, pending, i) < 0) return -1;
    return check_cells(thunk); /* last: what ran before may have been a user's code */
}

/* Old values are given up by pending_clear, since their deallocation may run Python code: here nothing can. */
void commit_now(Thunk *thunk, Call *call)
{
    Pending *pending = &call->pending;

    for (int32_t i = 0; i < (int32_t)thunk->n_updates; i++) {
        PyObject *cell = PyTuple_GET_ITEM(thunk->cells, thunk->update_in[i]);
        if (pending->words[i] != NULL) {
            Handle *target = pending->targets[i];
            Stream own = {.bitgen = target->bitgen, .layout = target->layout, .gauss = target->gauss};
            stream_put(&own, pending->words[i]);
        } else if (pending->values[i] != NULL) {
            PyObject *old = PyList_GET_ITEM(cell, 0);
            PyList_SET_ITEM(cell, 0, pending->values[i]);
            pending->values[i] = old;
        }
    }
}

void pending_clear(Thunk *thunk, Pending *pending)
{
    for (Py_ssize_t i = 0; i < thunk->n_updates; i++) Py_CLEAR(pending->values[i]);
}
