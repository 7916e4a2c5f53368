/* Which way a distribution is drawn: by the functions of the NumPy that runs, by those of NumPy's static library, or by
 * the generator's own method. A distribution that is not known to be drawn exactly is drawn by the method. Inlined code
 * takes the place of NumPy's functions on the kinds of bit generators on which it is known to draw exactly.
 *
 * Decided at the first use, when a thunk with a draw of it is made, or when it first meets a bit generator of another
 * kind: pyscan/selfcheck.py tries the ways, best first, and compares. The draws that it compares are made here, as
 * compiled functions make theirs: a program with a loop of single draws and a filled draw behind it, run by the vm.
 * Relies on: program, vm, npyrandom.c, bitgens.c. Relied on by: thunk.c. */
#include "bind/bind.h"

#include <string.h>

#include "base/names.h"
#include "bind/numpy_api.h"
#include "random/draw.h"
#include "random/legacy.h"

/* In the order in which they are tried. */
static const char *const way_names[N_WAYS] = {"unknown", "fast", "symbols", "library", "legacy", "method"};

static const char *const kind_names[N_STREAM_KINDS] = {"called", "PCG64", "PCG64DXSM", "SFC64", "MT19937"};

static bool is_numpys(const char *symbol) { return strncmp(symbol, "random_", 7) == 0; }

/* Makes the fast path of the distribution ready, which takes the time of some ten thousand draws where it needs a table. */
static bool learn_fast(BindState *state, Dists *dists, int dist)
{
    int table = fast_table(dist);

    if (table >= 0 && !state->fast_is_learned[table]) {
        fast_learn(&state->fast, table, state->symbols[table][0]);
        state->fast_is_learned[table] = true;
    }
    dists->fast = &state->fast;
    return true;
}

/* Makes the table draw that way, with inlined code on these kinds where the way has some. False: there is no such way here. */
static bool set_way(BindState *state, Dists *dists, int dist, Way way, unsigned kinds)
{
    for (int i = 0; i < 2; i++) {
        const char *symbol = dist_symbol(dist, i);
        dists->functions[dist][i] = way == WAY_LIBRARY && is_numpys(symbol) ? npyrandom_find(symbol)
            : way == WAY_LEGACY ? legacy_find(symbol, state->symbols[dist][i]) : state->symbols[dist][i];
    }
    dists->use_method[dist] = way == WAY_METHOD || way == WAY_UNKNOWN;
    dists->fast_kinds[dist] = way == WAY_FAST ? (unsigned char)kinds : 0;
    if (way == WAY_LEGACY) dists->fast = &state->fast; /* without tables, which none of the shared functions has */
    if (way == WAY_LEGACY && dists->functions[dist][0] == state->symbols[dist][0]) dists->fast_kinds[dist] = 1u << STREAM_MT19937; /* which is compared */
    if (way == WAY_FAST) return learn_fast(state, dists, dist) && fast_is_usable(dists, dist) && dists_have(dists, dist);
    if (way == WAY_LIBRARY && !is_numpys(dist_symbol(dist, 0))) return false; /* as WAY_SYMBOLS */
    if (way == WAY_LEGACY && !dist_is_legacy(dist)) return false;
    return way == WAY_METHOD || dists_have(dists, dist);
}

static const char scipy_prefix[] = "scipy.", scipy_signature[] = "double (double, double, int __pyx_skip_dispatch)";

/* The address of a function that SciPy offers to C; NULL with an exception set. */
static void *find_scipy(const char *name)
{
    PyObject *module = PyImport_ImportModule("scipy.special.cython_special");
    PyObject *functions = module == NULL ? NULL : PyObject_GetAttrString(module, "__pyx_capi__");
    PyObject *capsule = functions == NULL ? NULL : PyMapping_GetItemString(functions, name);
    void *address = capsule == NULL ? NULL : PyCapsule_GetPointer(capsule, scipy_signature);

    Py_XDECREF(module); /* SciPy keeps its functions */
    Py_XDECREF(functions);
    Py_XDECREF(capsule);
    return address;
}

/* Looks up those of a distribution's functions that are SciPy's, if it is installed and has them. */
static int look_into_scipy(BindState *state, int dist)
{
    for (int i = 0; i < 2; i++) {
        const char *symbol = dist_symbol(dist, i);
        if (strncmp(symbol, scipy_prefix, sizeof(scipy_prefix) - 1) != 0 || state->symbols[dist][i] != NULL) continue;
        state->symbols[dist][i] = find_scipy(symbol + sizeof(scipy_prefix) - 1);
        if (state->symbols[dist][i] != NULL) continue;
        if (PyErr_ExceptionMatches(PyExc_MemoryError) || !PyErr_ExceptionMatches(PyExc_Exception)) return -1;
        PyErr_Clear(); /* not there, or not as it was: SciPy's Python function is called then */
    }
    return 0;
}

/* ---- a program to try ---- */

/* Inputs: generator, steps, parameters, and the size if there is one. */
typedef struct Trial {
    int dist, batch_ndim; /* batch_ndim: of the parameters */
    Program *program;     /* owned */
    int32_t stream, n_steps, params[DRAW_MAX_PARAMS], size_value; /* its inputs; no size: -1 */
    int32_t steps, filled;                                        /* its outputs */
    int64_t count;                                                /* of a run: the steps, */
    PyObject *arrays[DRAW_MAX_PARAMS], *size;                     /* owned: the parameters, and the size or NULL */
    Status status;
} Trial;

static int32_t add_value(Trial *trial, Program *program, ValueClass value_class, ValueOrigin origin, DType dtype, int ndim)
{
    Value value = {.value_class = (uint8_t)value_class, .origin = (uint8_t)origin, .dtype = (uint8_t)dtype, .ndim = (uint8_t)ndim, .index = -1, .storage = -1};
    return program_add_value(program, value, &trial->status);
}

static int32_t add_numbers(Trial *trial, Program *program, ValueOrigin origin, DType dtype, int ndim)
{
    return add_value(trial, program, ndim == 0 ? VALUE_SCALAR : VALUE_ARRAY, origin, dtype, ndim);
}

static DType drawn_dtype(const Trial *trial) { return dist_result_kind(trial->dist) == 'd' ? DTYPE_FLOAT64 : DTYPE_INT64; }

/* A draw of batch rank `ndim`, in place: dst becomes the next stream and the draws. */
static int add_draw(Trial *trial, Program *program, int32_t stream, int32_t size, const int32_t *params, int ndim, int32_t *dst)
{
    int32_t src[2 + DRAW_MAX_PARAMS] = {stream, size};
    int64_t has_size = size >= 0;
    Instr instr = {.opcode = I_DRAW, .flags = INSTR_INPLACE, .fn = trial->dist, .n_dst = 2, .n_aux = 1, .node = -1};

    instr.dtype = (uint8_t)drawn_dtype(trial);
    instr.n_src = 1 + (int32_t)has_size + dist_n_params(trial->dist);
    memcpy(src + 1 + has_size, params, (size_t)dist_n_params(trial->dist) * sizeof(*params));
    dst[0] = add_value(trial, program, VALUE_STREAM, ORIGIN_COMPUTED, DTYPE_BOOL, 0);
    dst[1] = add_numbers(trial, program, ORIGIN_COMPUTED, drawn_dtype(trial), ndim + dist_ndim_supp(trial->dist));
    if (dst[0] < 0 || dst[1] < 0) return -1;
    return program_add_instr(program, instr, dst, src, &has_size, &trial->status) < 0 ? -1 : 0;
}

/* The body of a loop that draws once a step. The loop takes it over. */
static Program *make_body(Trial *trial, LoopCarry *carry, LoopPath *path, LoopFixed *fixed)
{
    Program *body = program_new(&trial->status);
    int32_t params[DRAW_MAX_PARAMS], dst[2];

    if (body == NULL) return NULL;
    carry->inner_in = add_value(trial, body, VALUE_STREAM, ORIGIN_INPUT, DTYPE_BOOL, 0);
    if (carry->inner_in < 0) goto fail;
    for (int i = 0; i < dist_n_params(trial->dist); i++) {
        const Value *outer = &trial->program->values[trial->params[i]];
        params[i] = add_numbers(trial, body, ORIGIN_INPUT, (DType)outer->dtype, outer->ndim);
        if (params[i] < 0) goto fail;
        fixed[i] = (LoopFixed){trial->params[i], params[i]};
    }
    if (add_draw(trial, body, carry->inner_in, -1, params, trial->batch_ndim, dst) < 0) goto fail;
    carry->inner_out = dst[0];
    path->inner_out = dst[1];
    return body;
fail:
    program_free(body);
    return NULL;
}

/* A loop of n_steps single draws. *stream is moved on. */
static int add_loop(Trial *trial, int32_t *stream)
{
    LoopCarry carry = {.outer_in = *stream, .inplace = true};
    LoopPath path = {.outer_rows = trial->n_steps};
    LoopFixed fixed[DRAW_MAX_PARAMS];
    Loop loop = {.n_steps = trial->n_steps, .until = -1, .n_paths = 1, .n_carries = 1, .n_fixed = dist_n_params(trial->dist),
                 .paths = &path, .carries = &carry, .fixed = fixed};
    Instr instr = {.opcode = I_LOOP, .n_aux = 1, .node = -1};
    int64_t number;

    loop.body = make_body(trial, &carry, &path, fixed);
    if (loop.body == NULL) return -1;
    trial->steps = path.outer_out = add_numbers(trial, trial->program, ORIGIN_COMPUTED, drawn_dtype(trial), 1 + trial->batch_ndim + dist_ndim_supp(trial->dist));
    *stream = carry.outer_out = add_value(trial, trial->program, VALUE_STREAM, ORIGIN_COMPUTED, DTYPE_BOOL, 0);
    number = path.outer_out < 0 || carry.outer_out < 0 ? -1 : program_add_loop(trial->program, &loop, &trial->status);
    if (number < 0) {
        program_free(loop.body);
        return -1;
    }
    return program_add_instr(trial->program, instr, NULL, NULL, &number, &trial->status) < 0 ? -1 : 0;
}

static int add_inputs(Trial *trial)
{
    int32_t inputs[3 + DRAW_MAX_PARAMS], n = 0;

    inputs[n++] = trial->stream = add_value(trial, trial->program, VALUE_STREAM, ORIGIN_INPUT, DTYPE_BOOL, 0);
    inputs[n++] = trial->n_steps = add_numbers(trial, trial->program, ORIGIN_INPUT, DTYPE_INT64, 0);
    for (int i = 0; i < dist_n_params(trial->dist); i++) {
        Array shown;
        convert_show(trial->arrays[i], &shown);
        if (dist_batch_ndim(trial->dist, i, shown.ndim) > trial->batch_ndim) trial->batch_ndim = dist_batch_ndim(trial->dist, i, shown.ndim);
        inputs[n++] = trial->params[i] = add_numbers(trial, trial->program, ORIGIN_INPUT, shown.dtype, shown.ndim);
    }
    if (trial->size != NULL) inputs[n++] = trial->size_value = add_numbers(trial, trial->program, ORIGIN_INPUT, DTYPE_INT64, 1);
    for (int32_t i = 0; i < n; i++)
        if (inputs[i] < 0) return -1;
    return program_set_inputs(trial->program, n, inputs, &trial->status);
}

static int build_trial(Trial *trial)
{
    int32_t outputs[2], dst[2], stream;
    int ndim;

    trial->program = program_new(&trial->status);
    if (trial->program == NULL || add_inputs(trial) < 0) return -1;
    stream = trial->stream;
    ndim = trial->size == NULL ? trial->batch_ndim : (int)PyArray_SIZE((PyArrayObject *)trial->size);
    if (add_loop(trial, &stream) < 0 || add_draw(trial, trial->program, stream, trial->size == NULL ? -1 : trial->size_value, trial->params, ndim, dst) < 0) return -1;
    trial->filled = dst[1];
    outputs[0] = trial->steps;
    outputs[1] = trial->filled;
    if (program_set_outputs(trial->program, 2, outputs, &trial->status) < 0 || program_plan_storage(trial->program, &trial->status) < 0) return -1;
    return program_check(trial->program, &trial->status);
}

/* ---- its runs ---- */

static void clear_inputs(Trial *trial)
{
    for (int i = 0; i < DRAW_MAX_PARAMS; i++) Py_CLEAR(trial->arrays[i]);
    Py_CLEAR(trial->size);
}

/* Owned: an input as the program takes it; ndim -1 stands for any rank. */
static PyObject *read_array(const Trial *trial, PyObject *value, DType dtype, int ndim)
{
    PyObject *what = PyUnicode_FromFormat("an input of a trial of %s", dist_name(trial->dist)), *array = NULL;

    if (what != NULL && ndim < 0) ndim = PyArray_Check(value) ? PyArray_NDIM((PyArrayObject *)value) : 0;
    if (what != NULL) array = convert_input(value, dtype, ndim, what);
    Py_XDECREF(what);
    return array;
}

/* What parameter i is read as: no vector, where there may be one, is an int64 scalar. */
static DType param_dtype(const Trial *trial, int i, PyObject *value)
{
    bool is_scalar = PyArray_Check(value) && PyArray_NDIM((PyArrayObject *)value) == 0;
    return is_scalar && dist_takes(trial->dist, i, DTYPE_INT64, 0) ? DTYPE_INT64 : dist_param_dtype(trial->dist, i);
}

/* Reads one run: (n_steps, size, parameters...). The first decides the ranks of the program's inputs. */
static int read_run(Trial *trial, PyObject *run)
{
    int n_params = dist_n_params(trial->dist);

    clear_inputs(trial);
    if (!PyTuple_Check(run) || PyTuple_GET_SIZE(run) != 2 + n_params) {
        PyErr_Format(PyExc_TypeError, "a run of %s is (n_steps, size, %d parameters)", dist_name(trial->dist), n_params);
        return -1;
    }
    trial->count = PyLong_AsLongLong(PyTuple_GET_ITEM(run, 0));
    if (trial->count == -1 && PyErr_Occurred()) return -1;
    if (PyTuple_GET_ITEM(run, 1) != Py_None && (trial->size = read_array(trial, PyTuple_GET_ITEM(run, 1), DTYPE_INT64, 1)) == NULL) return -1;
    for (int i = 0; i < n_params; i++) {
        int ndim = trial->program == NULL ? -1 : trial->program->values[trial->params[i]].ndim;
        trial->arrays[i] = read_array(trial, PyTuple_GET_ITEM(run, 2 + i), param_dtype(trial, i, PyTuple_GET_ITEM(run, 2 + i)), ndim);
        if (trial->arrays[i] == NULL) return -1;
    }
    return 0;
}

static void show_input(Frame *frame, int32_t value, PyObject *ndarray)
{
    Array shown;

    convert_show(ndarray, &shown);
    if (shown.ndim > 0) *frame_array(frame, value) = shown;
    else memcpy(frame_scalar(frame, value), shown.data, (size_t)dtype_bytes(shown.dtype));
}

/* Owned: the single draws and the filled ones. */
static PyObject *run_once(Trial *trial, Frame *frame, const VmHost *host, Stream *stream)
{
    PyObject *steps = NULL, *filled = NULL, *result = NULL;

    if ((trial->size_value >= 0) != (trial->size != NULL)) {
        PyErr_SetString(PyExc_TypeError, "all runs of a trial have a size, or none");
        return NULL;
    }
    *frame_stream(frame, trial->stream) = stream;
    memcpy(frame_scalar(frame, trial->n_steps), &trial->count, sizeof(trial->count));
    for (int i = 0; i < dist_n_params(trial->dist); i++) show_input(frame, trial->params[i], trial->arrays[i]);
    if (trial->size != NULL) show_input(frame, trial->size_value, trial->size);
    if (vm_run(frame, host, &trial->status) == 0) {
        steps = convert_copy(frame_array(frame, trial->steps));
        filled = steps == NULL ? NULL : convert_copy(frame_array(frame, trial->filled));
        if (filled != NULL) result = PyTuple_Pack(2, steps, filled);
    }
    frame_reset(frame, host, SIZE_MAX);
    Py_XDECREF(steps);
    Py_XDECREF(filled);
    return result;
}

/* Owned: a list with what each run drew. */
static PyObject *run_all(Trial *trial, const Dists *dists, Stream *stream, PyObject *runs)
{
    VmHost host = {.factor = calls_find_factor, .dists = *dists, .legacy = *dists}; /* the stream is of either */
    Frame *frame = NULL;
    PyObject *results = PyList_New(0), *drawn;
    int failed = results == NULL;

    for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(runs); i++) {
        failed = read_run(trial, PyList_GET_ITEM(runs, i)) < 0 || (trial->program == NULL && build_trial(trial) < 0);
        if (!failed && frame == NULL) failed = (frame = frame_new(trial->program, &trial->status)) == NULL;
        drawn = failed ? NULL : run_once(trial, frame, &host, stream);
        failed = drawn == NULL || PyList_Append(results, drawn) < 0;
        Py_XDECREF(drawn);
    }
    if (frame != NULL) frame_free(frame, &host);
    if (failed) Py_CLEAR(results);
    if (failed && !PyErr_Occurred()) (void)errors_raise_plain(&trial->status);
    return results;
}

/* Points the stream at a Generator or RandomState, which must outlive it. */
static int read_stream(BindState *state, PyObject *generator, Stream *stream)
{
    PyObject *bit_generator = bitgens_of(state, generator);
    const BitClass *class = bit_generator == NULL ? NULL : bitgens_class(state, bit_generator);

    if (class != NULL) stream->bitgen = bitgens_peek(bit_generator);
    if (class != NULL && class->has_layout) stream->layout = &class->layout;
    if (stream->bitgen != NULL) stream->kind = bitgens_kind(class, stream->bitgen);
    Py_XDECREF(bit_generator);
    if (stream->bitgen == NULL) return -1;
    return gauss_find(state, generator, &stream->gauss);
}

/* ---- for Python ---- */

static int read_name(const char *name)
{
    int dist = dist_from_name(name);

    if (dist < 0) PyErr_Format(PyExc_ValueError, "'%s' is not the name of a distribution", name);
    return dist;
}

static int read_way(const char *name)
{
    for (int way = WAY_UNKNOWN; way < N_WAYS; way++)
        if (strcmp(name, way_names[way]) == 0) return way;
    PyErr_Format(PyExc_ValueError, "'%s' is not a way to draw", name);
    return -1;
}

static PyObject *try_draws(PyObject *module, PyObject *args)
{
    BindState *state = &core_state_get(module)->bind;
    Dists dists = state->dists;
    Trial trial = {.size_value = -1};
    Stream stream = {0};
    const char *name, *way_name;
    PyObject *generator, *runs, *results = NULL;
    int way;

    if (!PyArg_ParseTuple(args, "ssOO!:try_draws", &name, &way_name, &generator, &PyList_Type, &runs)) return NULL;
    trial.dist = read_name(name);
    way = trial.dist < 0 ? -1 : read_way(way_name);
    if (way < 0) return NULL;
    if (look_into_scipy(state, trial.dist) < 0) return NULL;
    if (way == WAY_METHOD || !set_way(state, &dists, trial.dist, (Way)way, STREAM_ALL_KINDS)) Py_RETURN_NONE;
    status_clear(&trial.status);
    if (read_stream(state, generator, &stream) < 0) return NULL;
    if ((stream.gauss != NULL) != (way == WAY_LEGACY)) Py_RETURN_NONE; /* not of the kind that draws so, or its place is not known */
    results = run_all(&trial, &dists, &stream, runs);
    clear_inputs(&trial);
    program_free(trial.program);
    return results;
}

static PyObject *draw_method(PyObject *module, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8(name);
    int dist = text == NULL ? -1 : read_name(text);

    return dist < 0 ? NULL : calls_method(&core_state_get(module)->bind, dist);
}

/* Sets, if there are two arguments, a way. The distribution, or -1. */
static int read_asked_way(const Way *ways, PyObject *args, Way *way)
{
    const char *name, *way_name = NULL;
    int dist, found;

    if (!PyArg_ParseTuple(args, "s|s", &name, &way_name)) return -1;
    dist = read_name(name);
    if (dist < 0) return -1;
    found = way_name == NULL ? (int)ways[dist] : read_way(way_name);
    if (found < 0) return -1;
    *way = (Way)found;
    return dist;
}

/* Makes Generators draw that way. What is known of inlined code is kept, unless nothing is known any more. */
static void decide_way(BindState *state, int dist, Way way)
{
    if (way == WAY_UNKNOWN) state->settled_kinds[dist] = state->fast_kinds[dist] = 0;
    state->ways[dist] = way;
    (void)set_way(state, &state->dists, dist, way, state->fast_kinds[dist]);
}

static PyObject *draw_way(PyObject *module, PyObject *args)
{
    BindState *state = &core_state_get(module)->bind;
    Way way;
    int dist = read_asked_way(state->ways, args, &way);

    if (dist < 0) return NULL;
    if (PyTuple_GET_SIZE(args) > 1) decide_way(state, dist, way);
    return PyUnicode_FromString(way_names[way]);
}

static PyObject *legacy_way(PyObject *module, PyObject *args)
{
    BindState *state = &core_state_get(module)->bind;
    Way way;
    int dist = read_asked_way(state->legacy_ways, args, &way);

    if (dist < 0) return NULL;
    state->legacy_ways[dist] = way;
    if (PyTuple_GET_SIZE(args) > 1) (void)set_way(state, &state->legacy, dist, way, 0);
    return PyUnicode_FromString(way_names[way]);
}

static PyObject *fast_kinds(PyObject *module, PyObject *args)
{
    BindState *state = &core_state_get(module)->bind;
    const char *name, *kind_name = NULL;
    int dist, is_right = 0, kind;
    PyObject *known;

    if (!PyArg_ParseTuple(args, "s|sp:fast_kinds", &name, &kind_name, &is_right)) return NULL;
    dist = read_name(name);
    if (dist < 0) return NULL;
    kind = kind_name == NULL ? -1 : names_find(kind_name, kind_names, N_STREAM_KINDS, sizeof kind_names[0]);
    if (kind_name != NULL && kind < 0) return PyErr_Format(PyExc_ValueError, "'%s' is not a kind of bit generators", kind_name);
    if (kind >= 0) {
        state->settled_kinds[dist] = (unsigned char)(state->settled_kinds[dist] | 1u << kind);
        state->fast_kinds[dist] = (unsigned char)((state->fast_kinds[dist] & ~(1u << kind)) | (unsigned)is_right << kind);
        decide_way(state, dist, state->ways[dist]);
    }
    known = PyDict_New();
    for (kind = 0; known != NULL && kind < N_STREAM_KINDS; kind++) {
        PyObject *answer = !(state->settled_kinds[dist] >> kind & 1) ? Py_None : state->fast_kinds[dist] >> kind & 1 ? Py_True : Py_False;
        if (PyDict_SetItemString(known, kind_names[kind], answer) < 0) Py_CLEAR(known);
    }
    return known;
}

#ifdef PYSCAN_TEST_BUILD
/* Puts a function into the table as if the running NumPy had it; 0 stands for none. The distribution is as never used. */
static PyObject *put_function(PyObject *module, PyObject *args)
{
    BindState *state = &core_state_get(module)->bind;
    const char *name;
    unsigned long long address, before;
    int i, dist;

    if (!PyArg_ParseTuple(args, "siK:_put_function", &name, &i, &address)) return NULL;
    dist = read_name(name);
    if (dist < 0) return NULL;
    if (i < 0 || i > 1) return PyErr_Format(PyExc_IndexError, "a distribution has functions 0 and 1");
    before = (unsigned long long)(uintptr_t)state->symbols[dist][i];
    state->symbols[dist][i] = (void *)(uintptr_t)address;
    state->fast_is_learned[dist] = false;
    decide_way(state, dist, WAY_UNKNOWN);
    return PyLong_FromUnsignedLongLong(before);
}

/* Makes our own draws of a distribution wrong, whatever function is behind them. The distribution is as never used. */
static PyObject *spoil_draws(PyObject *module, PyObject *args)
{
    static const struct { const char *word; Spoil bit; } words[] = {{"single", SPOIL_SINGLE}, {"filled", SPOIL_FILLED}, {"word", SPOIL_WORD}, {"value", SPOIL_VALUE}};
    BindState *state = &core_state_get(module)->bind;
    const char *name, *how;
    int dist;

    if (!PyArg_ParseTuple(args, "ss:_spoil_draws", &name, &how)) return NULL;
    dist = read_name(name);
    if (dist < 0) return NULL;
    state->dists.spoilt[dist] = 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(how, words[i].word) != NULL) state->dists.spoilt[dist] |= words[i].bit;
    state->legacy.spoilt[dist] = state->dists.spoilt[dist];
    decide_way(state, dist, WAY_UNKNOWN);
    state->legacy_ways[dist] = WAY_UNKNOWN;
    (void)set_way(state, &state->legacy, dist, WAY_UNKNOWN, 0);
    Py_RETURN_NONE;
}
#endif

/* ---- first use ---- */

/* Owned: a list of their names. */
static PyObject *list_kinds(unsigned kinds)
{
    PyObject *names = PyList_New(0);

    for (int kind = 0; names != NULL && kind < N_STREAM_KINDS; kind++) {
        PyObject *name = kinds >> kind & 1 ? PyUnicode_FromString(kind_names[kind]) : NULL;
        if (kinds >> kind & 1 && (name == NULL || PyList_Append(names, name) < 0)) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

/* Calls a function of pyscan/selfcheck.py with the distribution's name and, unless it is NULL, another argument. */
static int call_selfcheck(const char *function, int dist, PyObject *argument)
{
    PyObject *selfcheck = PyImport_ImportModule("pyscan.selfcheck"), *answer;

    answer = selfcheck == NULL ? NULL : PyObject_CallMethod(selfcheck, function, argument == NULL ? "s" : "sO", dist_name(dist), argument);
    Py_XDECREF(selfcheck);
    Py_XDECREF(answer);
    return answer == NULL ? -1 : 0;
}

static int settle(BindState *state, int dist, unsigned kinds)
{
    unsigned missing = kinds & ~(unsigned)state->settled_kinds[dist];
    PyObject *names;
    int result;

    if (state->ways[dist] != WAY_UNKNOWN && (state->ways[dist] != WAY_FAST || missing == 0)) return 0;
    names = list_kinds(missing);
    result = names == NULL ? -1 : call_selfcheck("settle", dist, names);
    Py_XDECREF(names);
    return result;
}

static int settle_all(BindState *state, const Program *program, unsigned kinds, bool is_body)
{
    for (int32_t i = 0; i < program->n_instrs; i++) {
        const Instr *instr = &program->instrs[i];
        int standard = instr->opcode == I_DRAW && is_body ? fast_standard(instr->fn) : -1; /* of which loops may make it */

        if (instr->opcode == I_DRAW && instr->fn == DIST_MULTIVARIATE_NORMAL) standard = DIST_NORMAL; /* of which it is made */
        if (standard >= 0 && settle(state, standard, kinds) < 0) return -1;
        if (instr->opcode == I_DRAW && settle(state, instr->fn, kinds) < 0) return -1;
    }
    for (int32_t i = 0; i < program->n_loops; i++)
        if (settle_all(state, program->loops[i].body, kinds, true) < 0) return -1;
    return 0;
}

int selfcheck_program(BindState *state, const Program *program, unsigned kinds) { return settle_all(state, program, kinds, false); }

int selfcheck_legacy(BindState *state, int dist) { return state->legacy_ways[dist] == WAY_UNKNOWN ? call_selfcheck("settle_legacy", dist, NULL) : 0; }

static PyMethodDef selfcheck_methods[] = {
    {"try_draws", try_draws, METH_VARARGS,
     "try_draws(name, way, generator, runs)\n--\n\nDraws from a distribution by that way. A run is (n_steps, size, *params): n_steps single draws by a loop, then\n"
     "a filled draw of that size (an int64 vector or None). A list of the two arrays of each; None where there is no such way."},
    {"draw_method", draw_method, METH_O,
     "draw_method(name)\n--\n\nThe function of np, a generator, the shape of the batch and the parameters by which a generator's own method draws."},
    {"draw_way", draw_way, METH_VARARGS,
     "draw_way(name, way=...)\n--\n\nWhich way a distribution is drawn: 'unknown' before its first use, 'fast', 'symbols', 'library' or 'method'. With a way: sets it."},
    {"fast_kinds", fast_kinds, METH_VARARGS,
     "fast_kinds(name, kind=..., is_right=...)\n--\n\nOn which kinds of bit generators inlined code draws it where the way is 'fast': None before the first use of a kind,\n"
     "whether it does afterwards. With a kind: sets it."},
    {"legacy_way", legacy_way, METH_VARARGS,
     "legacy_way(name, way=...)\n--\n\nWhich way a RandomState draws it: 'unknown' before its first use, 'legacy' or 'method'. With a way: sets it."},
#ifdef PYSCAN_TEST_BUILD
    {"_put_function", put_function, METH_VARARGS, "_put_function(name, i, address)\n--\n\nReplaces function i of a distribution, which is then as never used. Returns the old address."},
    {"_spoil_draws", spoil_draws, METH_VARARGS,
     "_spoil_draws(name, how)\n--\n\nMakes draws wrong; how names forms (single, filled) and faults (word: a word too many; value: another first value). '' ends it."},
#endif
    {NULL, NULL, 0, NULL},
};

int selfcheck_module_exec(PyObject *module)
{
    BindState *state = &core_state_get(module)->bind;

    for (int dist = 0; dist < N_DISTS; dist++) {
        (void)set_way(state, &state->dists, dist, WAY_UNKNOWN, 0);
        (void)set_way(state, &state->legacy, dist, WAY_UNKNOWN, 0);
    }
    return PyModule_AddFunctions(module, selfcheck_methods);
}
