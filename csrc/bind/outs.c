/* Results that go to arrays of the caller's (`out=` of a call): checks, places for the program, the last copies.
 *
 * A contiguous array is given to the program as the memory in which it makes the result, if that is an array of its own or
 * the path of a state: nothing is copied then. All other results are made as ever and copied when the program has ended:
 * into arrays with gaps, and into those that may share memory with an input, which the program reads until its end.
 * Relies on: convert, apart, place.c of vm. Relied on by: thunk.c, commit.c. */
#include "bind/bind.h"
#include "bind/numpy_api.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* What messages call output i. */
static void write_name(const Thunk *thunk, int32_t i, char *text, size_t n_bytes)
{
    PyObject *outputs = ((FunctionGraph *)thunk->fgraph)->outputs;
    PyObject *name = i < PyList_GET_SIZE(outputs) ? ((Variable *)PyList_GET_ITEM(outputs, i))->name : NULL;
    const char *given = name != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;

    PyErr_Clear(); /* a name that is no UTF-8 */
    if (given != NULL) (void)snprintf(text, n_bytes, "output %d (%s)", (int)i, given);
    else (void)snprintf(text, n_bytes, "output %d", (int)i);
}

static int check_out(const Thunk *thunk, int32_t i, PyObject *out)
{
    const Value *value = &thunk->lowered.program->values[thunk->lowered.program->outputs[i]];
    char name[STATUS_TEXT_BYTES];

    write_name(thunk, i, name, sizeof(name));
    if (value->value_class == VALUE_STREAM || value->value_class == VALUE_OBJECT) {
        PyErr_Format(PyExc_TypeError, "%s is no array: `out` must be None for it", name);
        return -1;
    }
    if (!PyArray_Check(out)) {
        PyErr_Format(PyExc_TypeError, "`out` for %s must be an array or None; %R came", name, out);
        return -1;
    }
    if (convert_dtype(out) != (int)value->dtype || PyArray_NDIM((PyArrayObject *)out) != value->ndim) {
        PyErr_Format(PyExc_TypeError, "the array given as `out` for %s must have dtype %s and %d dimensions; one of dtype %S with %d dimensions came", name, dtype_name((DType)value->dtype),
                     value->ndim, (PyObject *)PyArray_DESCR((PyArrayObject *)out), PyArray_NDIM((PyArrayObject *)out));
        return -1;
    }
    if (!PyArray_ISWRITEABLE((PyArrayObject *)out)) {
        PyErr_Format(PyExc_ValueError, "the array given as `out` for %s is read-only", name);
        return -1;
    }
    return 0;
}

static bool meets_inputs(Thunk *thunk, Call *call, const Array *array)
{
    const Program *program = thunk->lowered.program;

    for (int32_t i = 0; i < program->n_inputs; i++)
        if (program->values[program->inputs[i]].value_class == VALUE_ARRAY && apart_may_share(array, frame_array(call->frame, program->inputs[i]))) return true;
    return false;
}

/* Gives the program the array for the value whose memory output i shows, and for the path that it is. */
static int set_places(const Thunk *thunk, Call *call, int32_t i, Status *status)
{
    const Program *program = thunk->lowered.program;
    int32_t value = program->outputs[i], root = thunk->root[value];
    OutPlace place = {.array = &call->outs[i].array, .output = i, .made = -1};
    PathBuffer path;

    if (program->values[root].value_class == VALUE_ARRAY && program->values[root].origin == ORIGIN_COMPUTED && program->values[root].ndim == place.array->ndim
        && program->values[root].dtype == (uint8_t)place.array->dtype && !program_find_path(program, value, &path)) {
        place.is_strict = root == value && !thunk->has_until;
        return frame_set_place(call->frame, root, place, status);
    }
    if (!program_find_path(program, value, &path)) return 0;
    place.is_strict = !thunk->has_until;
    place.past = path.past;
    place.n_first = path.n_first;
    place.n_steps = path.n_steps;
    if (frame_set_place(call->frame, path.made, place, status) < 0) return -1;
    place.past = 0;
    place.n_first = path.n_first;
    place.made = path.made;
    return frame_set_place(call->frame, path.outer_out, place, status);
}

int outs_set(Thunk *thunk, Call *call, PyObject *const *outs)
{
    Status status;

    status_clear(&status);
    if (outs == NULL) return 0;
    call->outs = mem_calloc((size_t)thunk->n_outputs + 1, sizeof(*call->outs));
    if (call->outs == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (int32_t i = 0; i < (int32_t)thunk->n_outputs; i++) {
        Out *out = &call->outs[i];
        if (outs[i] == Py_None) continue;
        if (check_out(thunk, i, outs[i]) < 0) return -1;
        out->ndarray = Py_NewRef(outs[i]);
        convert_show(out->ndarray, &out->array);
        out->meets_inputs = meets_inputs(thunk, call, &out->array);
        if (out->meets_inputs || out->array.ndim == 0 || !PyArray_ISCARRAY((PyArrayObject *)out->ndarray)) continue;
        if (set_places(thunk, call, i, &status) < 0) return errors_raise_plain(&status);
    }
    return 0;
}

int outs_refuse(const Thunk *thunk, Status *status)
{
    write_name(thunk, (int32_t)status->a, status->text, sizeof(status->text));
    return errors_raise_plain(status);
}

/* Whether the result fits: `until` may have ended a loop before the array was full. */
static bool does_fit(const Thunk *thunk, const Array *out, const Array *result)
{
    if (array_same_shape(out, result)) return true;
    if (!thunk->has_until || out->ndim == 0 || result->shape[0] > out->shape[0]) return false;
    for (int i = 1; i < out->ndim; i++)
        if (out->shape[i] != result->shape[i]) return false;
    return true;
}

static int check_shape(Thunk *thunk, Call *call, int32_t i, const Array *result)
{
    const Array *out = &call->outs[i].array;
    Status status;

    if (does_fit(thunk, out, result)) return 0;
    status_clear(&status);
    status_fail_shapes(&status, STATUS_PLACE_SHAPE, result->ndim, result->shape, out->ndim, out->shape);
    status.a = i;
    return outs_refuse(thunk, &status);
}

static bool is_there(const Array *out, const Array *result)
{
    if (out->data != result->data) return false;
    for (int i = 0; i < out->ndim; i++)
        if (result->shape[i] > 1 && out->strides[i] != result->strides[i]) return false;
    return true;
}

PyObject *outs_fill(Thunk *thunk, Call *call, int32_t i, PyObject *made)
{
    Out *out = &call->outs[i];
    Array result = *frame_array(call->frame, thunk->lowered.program->outputs[i]);
    PyObject *target, *source;
    int copied = 0;

    if (check_shape(thunk, call, i, &result) < 0) return NULL;
    if (result.ndim == 0 || result.shape[0] == out->array.shape[0]) target = Py_NewRef(out->ndarray);
    else target = PySequence_GetSlice(out->ndarray, 0, (Py_ssize_t)result.shape[0]);
    if (target == NULL || is_there(&out->array, &result)) return target;
    source = made != NULL ? Py_NewRef(made) : convert_view(&result);
    copied = source == NULL || !PyArray_Check(target) ? -1 : PyArray_CopyInto((PyArrayObject *)target, (PyArrayObject *)source);
    Py_XDECREF(source);
    if (copied < 0) {
        if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "a part of the array given as `out` for output %d is no array", (int)i);
        Py_CLEAR(target);
    }
    return target;
}

void outs_clear(const Thunk *thunk, Call *call)
{
    for (Py_ssize_t i = 0; call->outs != NULL && i < thunk->n_outputs; i++) Py_XDECREF(call->outs[i].ndarray);
    mem_free(call->outs);
    call->outs = NULL;
}
