/* Single instructions for Python: one elementwise operation, one product, one reduction on ndarrays, run through the same
 * program room and vm as compiled functions; the value of constant expressions; and the allocator's counters for tests.
 *
 * Relies on: program, vm, the other files of bind. Relied on by: module.c; pyscan/_reference.py, the rewrite passes' callers. */
#include "bind/bind.h"
#include "bind/numpy_api.h"

#include <string.h>

#include <stdlib.h>

#include "base/mem.h"
#include "math/level.h"
#include "ops/ops.h"

enum { SINGLE_MAX_SOURCES = 16 };

/* A program of one instruction (and casts before it) over ndarrays. */
typedef struct Single {
    Program *program;   /* owned */
    Call call;          /* a host without a thunk: only products and interrupts are asked of it */
    PyObject *arrays[SINGLE_MAX_SOURCES]; /* owned */
    int32_t inputs[SINGLE_MAX_SOURCES], src[SINGLE_MAX_SOURCES];
    int32_t n;
    Status status;
} Single;

static void single_clear(Single *single)
{
    for (int32_t i = 0; i < single->n; i++) Py_XDECREF(single->arrays[i]);
    program_free(single->program);
}

static int32_t single_value(Single *single, ValueOrigin origin, DType dtype, int ndim)
{
    Value value = {.value_class = ndim == 0 ? VALUE_SCALAR : VALUE_ARRAY, .origin = (uint8_t)origin, .dtype = (uint8_t)dtype, .ndim = (uint8_t)ndim, .index = -1, .storage = -1};
    return program_add_value(single->program, value, &single->status);
}

/* Makes the ndarrays (or what NumPy makes ndarrays of) the program's inputs. */
static int single_start(Single *single, PyObject *const *values, Py_ssize_t n)
{
    memset(single, 0, sizeof(*single));
    status_clear(&single->status);
    if (n > SINGLE_MAX_SOURCES) {
        PyErr_Format(PyExc_ValueError, "at most %d arrays are taken", SINGLE_MAX_SOURCES);
        return -1;
    }
    single->program = program_new(&single->status);
    if (single->program == NULL) return errors_raise_plain(&single->status);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyArrayObject *array = (PyArrayObject *)PyArray_FromAny(values[i], NULL, 0, ARRAY_MAX_NDIM, NPY_ARRAY_BEHAVED_NS | NPY_ARRAY_ALIGNED | NPY_ARRAY_NOTSWAPPED, NULL);
        int dtype;
        if (array == NULL) return -1;
        single->arrays[single->n++] = (PyObject *)array;
        dtype = convert_dtype((PyObject *)array);
        if (dtype < 0) {
            PyErr_Format(PyExc_TypeError, "programs do not compute with dtype %S", (PyObject *)PyArray_DESCR(array));
            return -1;
        }
        single->src[i] = single->inputs[i] = single_value(single, ORIGIN_INPUT, (DType)dtype, PyArray_NDIM(array));
        if (single->src[i] < 0) return errors_raise_plain(&single->status);
    }
    return 0;
}

static DType single_dtype(const Single *single, int32_t i) { return (DType)single->program->values[single->src[i]].dtype; }

static int single_ndim(const Single *single, int32_t i) { return single->program->values[single->src[i]].ndim; }

/* Source i in that dtype. */
static int single_cast(Single *single, int32_t i, DType dtype)
{
    Instr instr = {.opcode = I_CAST, .n_dst = 1, .n_src = 1, .node = -1};
    int32_t dst;

    if (single_dtype(single, i) == dtype) return 0;
    dst = single_value(single, ORIGIN_COMPUTED, dtype, single_ndim(single, i));
    if (dst < 0 || program_add_instr(single->program, instr, &dst, &single->src[i], NULL, &single->status) < 0) return errors_raise_plain(&single->status);
    single->src[i] = dst;
    return 0;
}

/* Owned: the result of the frame's run. */
static PyObject *run_frame(Single *single, Frame *frame, int32_t result)
{
    int failed;

    for (int32_t i = 0; i < single->n; i++) {
        Array shown;
        convert_show(single->arrays[i], &shown);
        if (shown.ndim > 0) *frame_array(frame, single->inputs[i]) = shown;
        else memcpy(frame_scalar(frame, single->inputs[i]), shown.data, (size_t)dtype_bytes(shown.dtype));
    }
    failed = vm_run(frame, &single->call.host, &single->status) < 0;
    (void)call_take_gil(&single->call);
    if (!failed) return convert_copy(frame_array(frame, result));
    if (!PyErr_Occurred()) (void)errors_raise_plain(&single->status);
    return NULL;
}

/* Appends the instruction and runs the program. Owned: the result. */
static PyObject *single_run(Single *single, PyObject *module, Instr instr, DType dtype, int ndim, const int64_t *aux)
{
    int32_t dst = single_value(single, ORIGIN_COMPUTED, dtype, ndim);
    Status *status = &single->status;
    PyObject *result = NULL;
    Frame *frame = NULL;

    instr.n_dst = 1;
    instr.n_src = single->n;
    instr.node = -1;
    if (dst < 0 || program_add_instr(single->program, instr, &dst, single->src, aux, status) < 0 || program_set_inputs(single->program, single->n, single->inputs, status) < 0
        || program_set_outputs(single->program, 1, &dst, status) < 0 || program_plan_storage(single->program, status) < 0 || program_check(single->program, status) < 0)
        goto done;
    single->call.state = &core_state_get(module)->bind;
    host_fill(&single->call.host, &single->call);
    frame = frame_new(single->program, status);
    if (frame != NULL) result = run_frame(single, frame, dst);
done:
    if (result == NULL && !PyErr_Occurred()) (void)errors_raise_plain(status);
    frame_free(frame, &single->call.host);
    return result;
}

static int read_dtype_name(PyObject *name, DType *dtype)
{
    PyObject *text = PyObject_Str(name);
    const char *utf8 = text == NULL ? NULL : PyUnicode_AsUTF8(text);
    int number = utf8 == NULL ? -1 : dtype_from_name(utf8);

    if (utf8 != NULL && number < 0) PyErr_Format(PyExc_TypeError, "programs do not compute with dtype %R", name);
    Py_XDECREF(text);
    if (number < 0) return -1;
    *dtype = (DType)number;
    return 0;
}

/* ---- elementwise ---- */

static PyObject *run_scalar(Single *single, PyObject *module, int scalar, PyObject *dtype_name)
{
    DType in[SINGLE_MAX_SOURCES], compute, out;
    ScalarRule rule = scalar_rule(scalar);
    int ndim = 0;

    for (int32_t i = 0; i < single->n; i++) {
        in[i] = single_dtype(single, i);
        if (single_ndim(single, i) > ndim) ndim = single_ndim(single, i);
    }
    if (scalar_types(scalar, single->n, in, &compute, &out) < 0 && dtype_name == NULL) {
        PyErr_Format(PyExc_TypeError, "%s has no kernel for these types", scalar_name(scalar));
        return NULL;
    }
    if (dtype_name != NULL) {
        if (read_dtype_name(dtype_name, &compute) < 0) return NULL;
        out = scalar_result(scalar, compute);
    }
    for (int32_t i = 0; i < single->n; i++) {
        if (i == 0 && rule == RULE_FIRST_SHAPE) continue;
        if (single_cast(single, i, i == 0 && rule == RULE_SWITCH ? DTYPE_BOOL : compute) < 0) return NULL;
    }
    return single_run(single, module, (Instr){.opcode = I_MAP, .fn = scalar, .dtype = (uint8_t)compute}, out, ndim, NULL);
}

static PyObject *kernels_scalar(PyObject *module, PyObject *args, PyObject *keywords)
{
    PyObject *name = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : NULL, *result = NULL, *dtype = NULL;
    const char *text = name != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    int scalar = text == NULL ? -1 : scalar_from_name(text);
    Single single;

    if (PyErr_Occurred()) return NULL;
    if (keywords != NULL && graph_find_item(keywords, "dtype", &dtype) < 0) return NULL;
    if (dtype == Py_None) dtype = NULL;
    if (scalar < 0) return PyErr_Format(PyExc_ValueError, "%R is not the name of an elementwise operation", name == NULL ? Py_None : name);
    if (!scalar_accepts(scalar, (int)PyTuple_GET_SIZE(args) - 1)) return PyErr_Format(PyExc_TypeError, "%s does not take %zd arrays", text, PyTuple_GET_SIZE(args) - 1);
    if (single_start(&single, &PyTuple_GET_ITEM(args, 1), PyTuple_GET_SIZE(args) - 1) == 0) result = run_scalar(&single, module, scalar, dtype);
    single_clear(&single);
    return result;
}

/* ---- products and reductions ---- */

static PyObject *kernels_dot(PyObject *module, PyObject *args)
{
    PyObject *values[2], *result = NULL;
    Single single;
    DType dtype;
    int ndim;

    if (!PyArg_ParseTuple(args, "OO:dot", &values[0], &values[1])) return NULL;
    if (single_start(&single, values, 2) < 0) goto done;
    dtype = dtype_promote(single_dtype(&single, 0), single_dtype(&single, 1));
    ndim = single_ndim(&single, 0) + single_ndim(&single, 1) - 2;
    if (ndim < 0 || ndim > 2 || single_ndim(&single, 0) == 0 || single_ndim(&single, 1) == 0) {
        PyErr_SetString(PyExc_ValueError, "dot takes two arrays of rank 1 or 2");
        goto done;
    }
    if (single_cast(&single, 0, dtype) < 0 || single_cast(&single, 1, dtype) < 0) goto done;
    result = single_run(&single, module, (Instr){.opcode = I_DOT, .dtype = (uint8_t)dtype}, dtype, ndim, NULL);
done:
    single_clear(&single);
    return result;
}

static int find_reduce(const char *name)
{
    int reduce = reduce_from_name(name);

    if (reduce < 0) PyErr_Format(PyExc_ValueError, "'%s' is not the name of a reduction", name);
    return reduce;
}

static int read_axes(PyObject *axes, int ndim, int64_t *numbers, int *n)
{
    PyObject *items = axes == Py_None ? NULL : PySequence_Tuple(axes);

    if (axes == Py_None) {
        for (int i = 0; i < ndim; i++) numbers[i] = i;
        *n = ndim;
        return 0;
    }
    if (items == NULL) return -1;
    *n = (int)PyTuple_GET_SIZE(items);
    for (int i = 0; i < *n && i < ARRAY_MAX_NDIM; i++) numbers[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(items, i));
    Py_DECREF(items);
    if (PyErr_Occurred()) return -1;
    if (*n <= ndim) return 0;
    PyErr_SetString(PyExc_ValueError, "more axes than dimensions");
    return -1;
}

static PyObject *kernels_reduce(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"name", "array", "axes", "acc_dtype", NULL};
    PyObject *value, *axes = Py_None, *acc_name = Py_None, *result = NULL;
    const char *name;
    int64_t numbers[ARRAY_MAX_NDIM];
    int n, fn;
    DType acc, out;
    Single single;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "sO|OO:reduce", names, &name, &value, &axes, &acc_name)) return NULL;
    fn = find_reduce(name);
    if (fn < 0) return NULL;
    if (single_start(&single, &value, 1) < 0 || read_axes(axes, single_ndim(&single, 0), numbers, &n) < 0) goto done;
    acc = single_dtype(&single, 0);
    if (acc_name != Py_None && read_dtype_name(acc_name, &acc) < 0) goto done;
    if (fn != REDUCE_ADD && fn != REDUCE_MUL && single_cast(&single, 0, acc) < 0) goto done;
    out = fn == REDUCE_ARGMAX ? DTYPE_INT64 : acc;
    result = single_run(&single, module, (Instr){.opcode = I_REDUCE, .fn = fn, .dtype = (uint8_t)acc, .n_aux = n}, out, single_ndim(&single, 0) - n, numbers);
done:
    single_clear(&single);
    return result;
}

/* ---- constant expressions ---- */

static PyObject *kernels_evaluate(PyObject *module, PyObject *outputs)
{
    CoreState *core = core_state_get(module);
    PyObject *list = PySequence_List(outputs), *graph = NULL, *thunk = NULL, *result = NULL, *keywords = NULL, *args = NULL;

    if (list == NULL) return NULL;
    args = Py_BuildValue("([]O)", list);
    keywords = Py_BuildValue("{s:O}", "clone", Py_True);
    if (args != NULL && keywords != NULL) graph = PyObject_Call((PyObject *)core->graph.FunctionGraph, args, keywords);
    if (graph != NULL) thunk = PyObject_CallFunction((PyObject *)core->bind.Thunk, "O[]n", graph, PyList_GET_SIZE(list));
    if (thunk != NULL) result = PyObject_CallNoArgs(thunk);
    Py_XDECREF(list);
    Py_XDECREF(args);
    Py_XDECREF(keywords);
    Py_XDECREF(graph);
    Py_XDECREF(thunk);
    return result;
}

/* ---- the allocator, for tests ---- */

static PyObject *kernels_fault_arm(PyObject *module, PyObject *args)
{
    long long countdown, repeat = 1;

    if (!PyArg_ParseTuple(args, "L|L:mem_fault_arm", &countdown, &repeat)) return NULL;
    mem_fault_arm(countdown, repeat);
    Py_RETURN_NONE;
}

/* The levels of CPU that are here, the least first. */
static PyObject *level_names(void)
{
    PyObject *names = PyList_New(0);

    for (int level = 0; names != NULL && level < N_LEVELS; level++) {
        PyObject *name;
        if (!level_is_here(level)) continue;
        name = PyUnicode_FromString(level_name(level));
        if (name == NULL || PyList_Append(names, name) < 0) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

static PyObject *kernels_cpu_levels(PyObject *module, PyObject *Py_UNUSED(none)) { return level_names(); }

static PyObject *kernels_cpu_level(PyObject *module, PyObject *Py_UNUSED(none)) { return PyUnicode_FromString(level_name(level_get())); }

static PyObject *kernels_fault_disarm(PyObject *module, PyObject *Py_UNUSED(none)) { return PyLong_FromLongLong(mem_fault_disarm()); }

static PyObject *kernels_blocks_alive(PyObject *module, PyObject *Py_UNUSED(none)) { return PyLong_FromLongLong(mem_blocks_alive()); }

static PyMethodDef kernels_methods[] = {
    {"scalar", (PyCFunction)(void (*)(void))kernels_scalar, METH_VARARGS | METH_KEYWORDS,
     "scalar(name, *arrays, dtype=None)\n--\n\nOne elementwise operation of the core on ndarrays, computed in dtype (by default in the type its row asks for)."},
    {"dot", kernels_dot, METH_VARARGS, "dot(a, b)\n--\n\nThe core's product of two arrays of rank 1 or 2."},
    {"reduce", (PyCFunction)(void (*)(void))kernels_reduce, METH_VARARGS | METH_KEYWORDS,
     "reduce(name, array, axes=None, acc_dtype=None)\n--\n\nThe core's fold along axes (all by default): add, mul, maximum, minimum, and, or, argmax."},
    {"evaluate", kernels_evaluate, METH_O, "evaluate(outputs)\n--\n\nThe values, as a list, of variables that depend on constants alone."},
    {"mem_fault_arm", kernels_fault_arm, METH_VARARGS, "mem_fault_arm(countdown, repeat=1)\n--\n\nFrom now on the countdown-th allocation fails, and `repeat` of them in all. For tests."},
    {"cpu_level", kernels_cpu_level, METH_NOARGS, "cpu_level()\n--\n\nThe level of CPU whose kernels compute the elementary functions: the highest here, or what the environment variable PYSCAN_CPU said at import. It changes speed and no result."},
    {"cpu_levels", kernels_cpu_levels, METH_NOARGS, "cpu_levels()\n--\n\nThe levels of CPU that this machine has, the least first."},
    {"mem_fault_disarm", kernels_fault_disarm, METH_NOARGS, "mem_fault_disarm()\n--\n\nHow many allocations failed since mem_fault_arm; none will any more. For tests."},
    {"mem_blocks_alive", kernels_blocks_alive, METH_NOARGS, "mem_blocks_alive()\n--\n\nHow many blocks of the core's memory are alive. For tests."},
    {NULL, NULL, 0, NULL},
};

/* Chooses the level of CPU that PYSCAN_CPU asks for, or the highest that is here. */
static int choose_level(void)
{
    const char *wanted = getenv("PYSCAN_CPU");
    PyObject *names;

    if (level_choose(wanted == NULL || wanted[0] == '\0' ? NULL : wanted) == 0) return 0;
    names = level_names();
    if (names != NULL) PyErr_Format(PyExc_ImportError, "PYSCAN_CPU=%s is none of the levels that this machine has: %R", wanted, names);
    Py_XDECREF(names);
    return -1;
}

int kernels_module_exec(PyObject *module)
{
    return choose_level() < 0 ? -1 : PyModule_AddFunctions(module, kernels_methods);
}
