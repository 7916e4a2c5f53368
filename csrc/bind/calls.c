/* What the vm asks of Python while it runs: call-backs of Ops, draws by a generator's methods, copies of generators
 * without layout, objects' references, big products, and whether Ctrl-C was pressed.
 *
 * A vm that runs for more than microseconds has given up the GIL; each function here takes it for its own length.
 * Around a call-back the generators' locks are released, since Python code may use them. Relies on: convert.c,
 * streams.c, vm. Relied on by: thunk.c. */
#include "bind/bind.h"

#include <string.h>

#include "base/mem.h"
#include "bind/numpy_api.h"

bool call_take_gil(Call *call)
{
    if (call->released == NULL) return false;
    PyEval_RestoreThread(call->released);
    call->released = NULL;
    return true;
}

void call_give_gil(Call *call, bool was_released)
{
    if (was_released) call->released = PyEval_SaveThread();
}

static int fail_python(Status *status) { return status_fail(status, STATUS_PYTHON); }

/* ---- small requests ---- */

static int host_poll(void *self)
{
    Call *call = self;
    bool was_released = call_take_gil(call);
    int interrupted = PyErr_CheckSignals() < 0;

    call_give_gil(call, was_released);
    return interrupted;
}

static void host_begin_long(void *self)
{
    Call *call = self;

    if (call->released == NULL) call->released = PyEval_SaveThread();
}

/* References are also given up when a frame ends, with the GIL held. */
static void host_drop_object(void *self, void *object)
{
    Call *call = self;
    bool was_released;
    PyObject *type, *value, *traceback;

    if (object == NULL) return;
    was_released = call_take_gil(call);
    PyErr_Fetch(&type, &value, &traceback);
    Py_DECREF((PyObject *)object);
    PyErr_Restore(type, value, traceback);
    call_give_gil(call, was_released);
}

static void *host_hold_object(void *self, void *object)
{
    Call *call = self;
    bool was_released;

    if (object == NULL) return NULL;
    was_released = call_take_gil(call);
    Py_INCREF((PyObject *)object);
    call_give_gil(call, was_released);
    return object;
}

static int host_copy_stream(void *self, Stream *dst, const Stream *src, Status *status)
{
    Call *call = self;
    PyObject *copy;
    bool was_released;
    int result;

    was_released = call_take_gil(call);
    copy = streams_copy_generator(call, src);
    result = copy == NULL ? -1 : streams_adopt(call, dst, copy);
    Py_XDECREF(copy);
    call_give_gil(call, was_released);
    return result < 0 ? fail_python(status) : 0;
}

static int host_product(void *self, Array *dst, const Array *a, const Array *b, Status *status)
{
    Call *call = self;
    PyObject *target = NULL, *left = NULL, *right = NULL, *args = NULL, *keywords = NULL, *product = NULL;
    bool was_released;

    was_released = call_take_gil(call);
    target = convert_view(dst);
    left = convert_view(a);
    right = convert_view(b);
    if (target != NULL && left != NULL && right != NULL) {
        args = PyTuple_Pack(2, left, right);
        keywords = Py_BuildValue("{s:O}", "out", target);
        if (args != NULL && keywords != NULL) product = PyObject_Call(call->state->matmul, args, keywords);
    }
    Py_XDECREF(args);
    Py_XDECREF(keywords);
    Py_XDECREF(target);
    Py_XDECREF(left);
    Py_XDECREF(right);
    Py_XDECREF(product);
    call_give_gil(call, was_released);
    return product == NULL ? fail_python(status) : 0;
}

/* Python's answer to a matrix of covariances: its factor, and whether that lasts. */
static int take_factor(PyObject *answer, int64_t n, double *factor, bool *is_lasting)
{
    PyObject *found;
    int lasts;

    if (!PyArg_ParseTuple(answer, "O!p", &PyArray_Type, &found, &lasts)) return -1;
    if (PyArray_TYPE((PyArrayObject *)found) != NPY_DOUBLE || !PyArray_IS_C_CONTIGUOUS((PyArrayObject *)found) || PyArray_SIZE((PyArrayObject *)found) != n * n) {
        PyErr_SetString(PyExc_SystemError, "a factor is a contiguous matrix of doubles");
        return -1;
    }
    memcpy(factor, PyArray_DATA((PyArrayObject *)found), (size_t)(n * n) * sizeof(double));
    *is_lasting = lasts != 0;
    return 0;
}

int calls_find_factor(void *self, int64_t n, const double *cov, double *factor, bool *is_lasting, Status *status)
{
    Array shown = {.dtype = DTYPE_FLOAT64, .ndim = 2, .data = (char *)(uintptr_t)cov, .shape = {n, n}, .strides = {n * (int64_t)sizeof(double), sizeof(double)}};
    PyObject *module = PyImport_ImportModule("pyscan.tensor.random_normals"), *matrix = convert_copy(&shown), *answer = NULL;
    int result = -1;

    (void)self;
    if (module != NULL && matrix != NULL) answer = PyObject_CallMethod(module, "find_factor", "O", matrix);
    if (answer != NULL) result = take_factor(answer, n, factor, is_lasting);
    Py_XDECREF(module);
    Py_XDECREF(matrix);
    Py_XDECREF(answer);
    return result < 0 ? fail_python(status) : 0;
}

static int host_factor(void *self, int64_t n, const double *cov, double *factor, bool *is_lasting, Status *status)
{
    Call *call = self;
    bool was_released = call_take_gil(call);
    int result = calls_find_factor(NULL, n, cov, factor, is_lasting, status);

    call->python_calls++;
    call_give_gil(call, was_released);
    return result;
}

/* ---- draws by method ---- */

PyObject *calls_method(BindState *state, int dist)
{
    PyObject *key = PyLong_FromLong(dist), *function, *names = NULL, *source = NULL, *globals = NULL;

    if (key == NULL) return NULL;
    function = Py_XNewRef(PyDict_GetItemWithError(state->methods, key));
    if (function != NULL || PyErr_Occurred()) goto done;
    /* The row's "params" hold defaults too; the body is written with the bare names. */
    source = PyUnicode_FromFormat("lambda np, rng, size, %s%s: %s", dist_params(dist), dist_rounding(dist) == '\0' ? "" : ", single=0", dist_method(dist));
    globals = source == NULL ? NULL : Py_BuildValue("{s:O}", "__builtins__", PyEval_GetBuiltins());
    if (globals == NULL) goto done;
    function = PyRun_String(PyUnicode_AsUTF8(source), Py_eval_input, globals, globals);
    if (function != NULL && PyDict_SetItem(state->methods, key, function) < 0) Py_CLEAR(function);
done:
    Py_DECREF(key);
    Py_XDECREF(names);
    Py_XDECREF(source);
    Py_XDECREF(globals);
    return function;
}

/* Broadcasts a batch shape into `shape` of rank *ndim; -1 when the two do not fit. */
static int broadcast_shape(npy_intp *shape, int *ndim, const int64_t *other, int other_ndim)
{
    int n = *ndim > other_ndim ? *ndim : other_ndim;
    npy_intp joined[ARRAY_MAX_NDIM];

    for (int i = 0; i < n; i++) {
        int64_t x = i < n - *ndim ? 1 : shape[i - (n - *ndim)], y = i < n - other_ndim ? 1 : other[i - (n - other_ndim)];
        if (x != y && x != 1 && y != 1) return -1;
        joined[i] = (npy_intp)(x == 1 ? y : x);
    }
    memcpy(shape, joined, (size_t)n * sizeof(*joined));
    *ndim = n;
    return 0;
}

/* The size given, in an Array without data. What is composed of several draws is checked here: no method of NumPy would. */
static int read_size(Frame *frame, const Instr *instr, const int32_t *src, Array *asked)
{
    const Array *size = frame_array(frame, src[1]);
    Status status;

    for (asked->ndim = 0; asked->ndim < size->shape[0] && asked->ndim < ARRAY_MAX_NDIM; asked->ndim++)
        memcpy(&asked->shape[asked->ndim], size->data + asked->ndim * size->strides[0], sizeof(*asked->shape));
    for (int32_t i = 2; i < instr->n_src && dist_is_composed(instr->fn) && dist_ndim_supp(instr->fn) == 0; i++)
        if (draw_check_size(instr->fn, i - 2, asked, frame_array(frame, src[i]), &status) < 0) return errors_raise_plain(&status);
    return 0;
}

/* Owned: the batch shape of a draw as a tuple: the size given, else what the parameters broadcast to. */
static PyObject *draw_size(Frame *frame, const Instr *instr, const int32_t *src, bool has_size)
{
    npy_intp shape[ARRAY_MAX_NDIM];
    Array asked;
    int ndim = 0;

    if (has_size) {
        if (read_size(frame, instr, src, &asked) < 0) return NULL;
        for (ndim = 0; ndim < asked.ndim; ndim++)
            shape[ndim] = (npy_intp)asked.shape[ndim];
    } else {
        for (int32_t i = 1; i < instr->n_src; i++) {
            const Array *parameter = frame_array(frame, src[i]);
            if (broadcast_shape(shape, &ndim, parameter->shape, dist_batch_ndim(instr->fn, i - 1, parameter->ndim)) < 0) {
                PyErr_SetString(PyExc_ValueError, "shape mismatch: objects cannot be broadcast to a single shape");
                return NULL;
            }
        }
    }
    return PyArray_IntTupleFromIntp(ndim, shape);
}

/* Owned: np, rng, size, parameters. */
static PyObject *draw_arguments(Frame *frame, const Instr *instr, PyObject *generator)
{
    const Program *program = frame_program(frame);
    const int32_t *src = instr_src(program, instr);
    bool has_size = instr_aux(program, instr)[0] != 0;
    int32_t first = has_size ? 2 : 1;
    PyObject *numpy = PyImport_ImportModule("numpy"), *size = draw_size(frame, instr, src, has_size), *args = NULL;

    if (numpy != NULL && size != NULL) args = PyTuple_New(3 + instr->n_src - first);
    if (args != NULL) {
        PyTuple_SET_ITEM(args, 0, Py_NewRef(numpy));
        PyTuple_SET_ITEM(args, 1, Py_NewRef(generator));
        PyTuple_SET_ITEM(args, 2, Py_NewRef(size));
    }
    for (int32_t i = first; args != NULL && i < instr->n_src; i++) {
        PyObject *parameter = convert_copy(frame_array(frame, src[i]));
        if (parameter == NULL) Py_CLEAR(args);
        else PyTuple_SET_ITEM(args, 3 + i - first, parameter);
    }
    Py_XDECREF(numpy);
    Py_XDECREF(size);
    return args;
}

/* Copies an ndarray into a destination of the frame. */
static int put_array(Frame *frame, int32_t value, PyObject *ndarray, Status *status)
{
    Array shown;

    convert_show(ndarray, &shown);
    if (frame_program(frame)->values[value].value_class == VALUE_ARRAY && frame_shape_array(frame, value, shown.shape, status) < 0) {
        if (!PyErr_Occurred()) errors_raise_plain(status);
        return -1;
    }
    if (array_copy(frame_array(frame, value), &shown) == 0) return 0;
    PyErr_NoMemory();
    return -1;
}

/* What SciPy would refuse, before a method is called that knows nothing of it. The shapes have been found to fit. */
static int check_law(Frame *frame, const Instr *instr)
{
    const int32_t *src = instr_src(frame_program(frame), instr) + instr->n_src - dist_n_params(instr->fn);
    Array params[DRAW_MAX_PARAMS];
    Status status;

    status_clear(&status);
    for (int i = 0; i < dist_n_params(instr->fn); i++) params[i] = *frame_array(frame, src[i]);
    return draw_check_law(instr->fn, params, (DrawPoll){0}, &status) < 0 ? errors_raise_plain(&status) : 0;
}

static int draw_by_method(Call *call, Frame *frame, const Instr *instr, PyObject *generator, Status *status)
{
    const Program *program = frame_program(frame);
    int32_t dst = instr_dst(program, instr)[1];
    PyObject *function = calls_method(call->state, instr->fn), *args = function == NULL ? NULL : draw_arguments(frame, instr, generator);
    PyObject *drawn = args == NULL || check_law(frame, instr) < 0 ? NULL : PyObject_CallObject(function, args), *ndarray = NULL;
    PyObject *what = drawn == NULL ? NULL : PyUnicode_FromFormat("the draw of %s", dist_name(instr->fn));
    int result = -1;

    if (what != NULL) ndarray = convert_output(drawn, (DType)program->values[dst].dtype, program->values[dst].ndim, what);
    if (ndarray != NULL) result = put_array(frame, dst, ndarray, status);
    Py_XDECREF(function);
    Py_XDECREF(args);
    Py_XDECREF(drawn);
    Py_XDECREF(what);
    Py_XDECREF(ndarray);
    return result;
}

/* Decides how RandomStates draw it from now on, in the rest of this run too. */
static int settle_legacy(Call *call, int dist)
{
    if (selfcheck_legacy(call->state, dist) < 0) return -1;
    call->host.legacy = call->state->legacy;
    return 0;
}

/* The stream's own object, or a Generator made for its words, into which the words are read back. */
static int host_draw(void *self, Frame *frame, const Instr *instr, Stream *stream, Status *status)
{
    Call *call = self;
    Handle *handle = stream->host;
    bool has_object = stream->bitgen == handle->bitgen, was_locked, was_released;
    PyObject *generator, *bit_generator;
    Stream drawn = {0};
    int result = -1;

    was_released = call_take_gil(call);
    generator = has_object ? Py_NewRef(handle->generator) : streams_copy_generator(call, stream);
    if (generator != NULL && (stream->gauss == NULL || settle_legacy(call, instr->fn) == 0)) {
        streams_unlock_one(handle, &was_locked);
        result = draw_by_method(call, frame, instr, generator, status);
        if (streams_relock_one(handle, was_locked) < 0) result = -1;
    }
    if (result == 0 && !has_object) {
        bit_generator = bitgens_of(call->state, generator);
        if (bit_generator == NULL || gauss_find(call->state, generator, &drawn.gauss) < 0) {
            result = -1;
        } else {
            drawn.bitgen = bitgens_peek(bit_generator);
            stream_put(stream, &drawn);
        }
        Py_XDECREF(bit_generator);
    }
    Py_XDECREF(generator);
    call->python_calls++;
    call_give_gil(call, was_released);
    return result < 0 ? fail_python(status) : 0;
}

/* ---- call-backs ---- */

/* What one call-back is about. Members are lent but for those that say so. */
typedef struct CallBack {
    Call *call;
    Frame *frame;
    const Instr *instr;
    PyObject *node;      /* an Apply; owned */
    PyObject *inputs;    /* owned list */
    PyObject *storage;   /* owned list of one-element lists */
    PyObject *destroyed; /* owned dict: output -> inputs that the Op writes on */
    Handle *moved[8];    /* generators that the Op may move */
    int n_moved;
} CallBack;

/* 1 if the Op says that it writes on input i. */
static int is_destroyed_input(const CallBack *back, Py_ssize_t i)
{
    PyObject *key, *inputs;
    Py_ssize_t position = 0;
    int found = 0;

    while (found == 0 && PyDict_Next(back->destroyed, &position, &key, &inputs)) {
        PyObject *number = PyLong_FromSsize_t(i);
        found = number == NULL ? -1 : PySequence_Contains(inputs, number);
        Py_XDECREF(number);
    }
    return found;
}

/* Owned: the Generator for a stream input: the object itself if the Op writes on it, else a copy. */
static PyObject *stream_argument(CallBack *back, Py_ssize_t i, const Stream *stream)
{
    Handle *object = streams_find_object(back->call, stream);
    int is_destroyed = is_destroyed_input(back, i);

    if (is_destroyed < 0) return NULL;
    if (!is_destroyed || object == NULL) return streams_copy_generator(back->call, stream);
    if (back->n_moved < 8) back->moved[back->n_moved++] = object;
    return Py_NewRef(object->generator);
}

/* Owned: input i as the Op's perform expects it. */
static PyObject *make_argument(CallBack *back, Py_ssize_t i)
{
    const Program *program = frame_program(back->frame);
    int32_t number = instr_src(program, back->instr)[i];
    const Value *value = &program->values[number];
    PyObject *ndarray, *kind, *variable = PyList_GET_ITEM(((Apply *)back->node)->inputs, i);
    bool is_scalar;

    if (value->value_class == VALUE_STREAM) return stream_argument(back, i, *frame_stream(back->frame, number));
    if (value->value_class == VALUE_OBJECT) return Py_XNewRef((PyObject *)*frame_object(back->frame, number));
    ndarray = convert_copy(frame_array(back->frame, number));
    if (ndarray == NULL) return NULL;
    if (graph_lookup_attr(((Variable *)variable)->type, "type_kind", &kind) < 0) {
        Py_DECREF(ndarray);
        return NULL;
    }
    is_scalar = kind != NULL && PyUnicode_Check(kind) && PyUnicode_CompareWithASCIIString(kind, "scalar") == 0;
    Py_XDECREF(kind);
    if (!is_scalar) return ndarray;
    return PyArray_Return((PyArrayObject *)ndarray); /* takes the reference */
}

static int make_arguments(CallBack *back)
{
    back->inputs = PyList_New(back->instr->n_src);
    back->storage = PyList_New(back->instr->n_dst);
    if (back->inputs == NULL || back->storage == NULL) return -1;
    for (int32_t i = 0; i < back->instr->n_src; i++) {
        PyObject *argument = make_argument(back, i);
        if (argument == NULL) {
            if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "input %d of %S has no value", (int)i, back->node);
            return -1;
        }
        PyList_SET_ITEM(back->inputs, i, argument);
    }
    for (int32_t i = 0; i < back->instr->n_dst; i++) {
        PyObject *cell = Py_BuildValue("[O]", Py_None);
        if (cell == NULL) return -1;
        PyList_SET_ITEM(back->storage, i, cell);
    }
    return 0;
}

/* Lent: the stream on which this call-back's output stands, made when first asked for. */
static Stream *find_site(CallBack *back, int32_t value)
{
    Call *call = back->call;
    Site *sites;

    for (int32_t i = 0; i < call->n_sites; i++)
        if (call->sites[i].frame == back->frame && call->sites[i].value == value) return call->sites[i].stream;
    if (call->n_sites == call->room_sites) {
        int32_t room = call->room_sites ? call->room_sites * 2 : 4;
        sites = mem_resize(call->sites, (size_t)room, sizeof(*sites));
        if (sites == NULL) goto fail;
        call->sites = sites;
        call->room_sites = room;
    }
    sites = &call->sites[call->n_sites];
    *sites = (Site){back->frame, value, stream_new()};
    if (sites->stream == NULL) goto fail;
    call->n_sites++;
    return sites->stream;
fail:
    PyErr_NoMemory();
    return NULL;
}

/* Makes the stream draw from the returned object, or from a copy when the Op may still hold that. */
static int adopt_returned(Call *call, Stream *stream, PyObject *generator)
{
    bool is_ours = Py_REFCNT(generator) <= 2; /* the storage cell's and the caller's */
    PyObject *own = is_ours ? Py_NewRef(generator) : bitgens_copy(call->state, generator, NULL);
    int result = own == NULL ? -1 : streams_adopt(call, stream, own);

    Py_XDECREF(own);
    return result;
}

/* Takes a Generator that the Op returned. The words are copied into memory of this site, so that the object may go; the
 * first one is kept, for its class and seeds. */
static int take_stream(CallBack *back, int32_t value, PyObject *generator)
{
    Call *call = back->call;
    PyObject *bit_generator = bitgens_of(call->state, generator);
    Stream *stream, original = {0};
    Handle *handle;
    Status status;
    int result = -1;

    if (bit_generator == NULL) return -1;
    for (int32_t i = 0; i < back->instr->n_src; i++) { /* an input that the Op moved and handed on */
        int32_t number = instr_src(frame_program(back->frame), back->instr)[i];
        Stream *source = frame_program(back->frame)->values[number].value_class == VALUE_STREAM ? *frame_stream(back->frame, number) : NULL;
        Handle *object = source == NULL ? NULL : streams_find_object(call, source);
        if (object == NULL || object->bit_generator != bit_generator || (object->gauss != NULL && object->generator != generator)) continue;
        *frame_stream(back->frame, value) = source;
        result = 0;
        goto done;
    }
    stream = find_site(back, value);
    if (stream == NULL) goto done;
    handle = stream->host;
    if (handle == NULL || handle->layout == NULL || Py_TYPE(handle->bit_generator) != Py_TYPE(bit_generator) || Py_TYPE(handle->generator) != Py_TYPE(generator)) {
        if (adopt_returned(call, stream, generator) < 0) goto done;
        handle = stream->host;
    }
    if (handle->layout != NULL) {
        original.bitgen = bitgens_peek(bit_generator);
        original.layout = handle->layout;
        original.host = handle;
        status_clear(&status);
        if (gauss_find(call->state, generator, &original.gauss) < 0) goto done;
        if (stream_copy(stream, &original, &status) < 0) {
            errors_raise_plain(&status);
            goto done;
        }
    }
    *frame_stream(back->frame, value) = stream;
    result = 0;
done:
    Py_DECREF(bit_generator);
    return result;
}

static void take_object(CallBack *back, int32_t value, PyObject *object)
{
    void **slot = frame_object(back->frame, value);
    PyObject *old = *slot;

    *slot = Py_NewRef(object);
    Py_XDECREF(old);
}

static int take_output(CallBack *back, int32_t i, Status *status)
{
    const Program *program = frame_program(back->frame);
    int32_t number = instr_dst(program, back->instr)[i];
    const Value *value = &program->values[number];
    PyObject *cell = PyList_GET_ITEM(back->storage, i), *output, *what, *ndarray;
    int result = -1;

    if (!PyList_Check(cell) || PyList_GET_SIZE(cell) < 1 || (value->value_class != VALUE_OBJECT && PyList_GET_ITEM(cell, 0) == Py_None)) {
        PyErr_Format(PyExc_ValueError, "%S did not store its output %d", ((Apply *)back->node)->op, (int)i);
        return -1;
    }
    output = Py_NewRef(PyList_GET_ITEM(cell, 0));
    if (value->value_class == VALUE_STREAM) {
        result = take_stream(back, number, output);
    } else if (value->value_class == VALUE_OBJECT) {
        take_object(back, number, output);
        result = 0;
    } else {
        what = PyUnicode_FromFormat("output %d of %S", (int)i, ((Apply *)back->node)->op);
        ndarray = what == NULL ? NULL : convert_output(output, (DType)value->dtype, value->ndim, what);
        if (ndarray != NULL) result = put_array(back->frame, number, ndarray, status);
        Py_XDECREF(ndarray);
        Py_XDECREF(what);
    }
    Py_DECREF(output);
    return result;
}

/* Owned: the Op's destroy_map as a dict. */
static PyObject *read_destroyed(PyObject *op)
{
    PyObject *map = PyObject_GetAttrString(op, "destroy_map");

    if (map == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return NULL;
        PyErr_Clear();
        return PyDict_New();
    }
    if (PyDict_Check(map)) return map;
    Py_SETREF(map, PyObject_CallOneArg((PyObject *)&PyDict_Type, map));
    return map;
}

static int perform(CallBack *back)
{
    PyObject *answer = PyObject_CallMethod(((Apply *)back->node)->op, "perform", "OOO", back->node, back->inputs, back->storage);

    Py_XDECREF(answer);
    return answer == NULL ? -1 : 0;
}

static int call_back(CallBack *back, Status *status)
{
    int result = -1;

    back->destroyed = read_destroyed(((Apply *)back->node)->op);
    if (back->destroyed == NULL || make_arguments(back) < 0 || streams_unlock(back->call) < 0) return -1;
    result = perform(back);
    Py_CLEAR(back->inputs); /* so that what the Op returns is known to be nobody else's */
    if (streams_relock(back->call, back->moved, back->n_moved) < 0) result = -1;
    for (int32_t i = 0; result == 0 && i < back->instr->n_dst; i++) result = take_output(back, i, status);
    return result;
}

static int host_call(void *self, Frame *frame, const Instr *instr, Status *status)
{
    CallBack back = {.call = self, .frame = frame, .instr = instr};
    int64_t number = instr_aux(frame_program(frame), instr)[0];
    bool was_released;
    int result;

    was_released = call_take_gil(back.call);
    back.node = Py_NewRef(PyList_GET_ITEM(back.call->thunk->lowered.calls, (Py_ssize_t)number));
    back.call->python_calls++;
    result = Py_EnterRecursiveCall(" while an Op was called back") ? -1 : 0;
    if (result == 0) {
        result = call_back(&back, status);
        Py_LeaveRecursiveCall();
    }
    Py_XDECREF(back.inputs);
    Py_XDECREF(back.storage);
    Py_XDECREF(back.destroyed);
    Py_DECREF(back.node);
    call_give_gil(back.call, was_released);
    return result < 0 ? fail_python(status) : 0;
}

void host_fill(VmHost *host, Call *call)
{
    memset(host, 0, sizeof(*host));
    host->self = call;
    host->poll = host_poll;
    host->begin_long = host_begin_long;
    host->call = host_call;
    host->draw = host_draw;
    host->copy_stream = host_copy_stream;
    host->drop_object = host_drop_object;
    host->hold_object = host_hold_object;
    host->product = host_product;
    host->factor = host_factor;
    host->dists = call->state->dists;
    host->legacy = call->state->legacy;
    host->library = call->state->library;
}
