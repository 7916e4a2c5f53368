/* The C loops of NumPy's and SciPy's ufuncs (ops/library.def): found in the ufunc, tried against the ufunc's own call, and kept.
 *
 * Python imports the module and hands the ufunc over, so that SciPy is imported by who uses it alone.
 * Relies on: vm, NumPy. Relied on by: module.c; pyscan/library.py. */
#include "bind/bind.h"
#include "bind/numpy_api.h"

#include <string.h>

#include "ops/ops.h"

static const int type_numbers[N_LIBRARY_TYPES] = {NPY_FLOAT32, NPY_FLOAT64, NPY_COMPLEX64, NPY_COMPLEX128};

/* The loop whose inputs are all of that type, and whose outputs are it or its real type. */
static bool find_loop(const PyUFuncObject *ufunc, int type, NumpyLoop *found)
{
    int of = type_numbers[type], real = type_numbers[type % 2];

    for (int i = 0; i < ufunc->ntypes; i++) {
        const char *types = ufunc->types + i * ufunc->nargs;
        bool fits = ufunc->functions[i] != NULL;
        for (int k = 0; k < ufunc->nargs; k++) fits = fits && (types[k] == of || (k >= ufunc->nin && types[k] == real));
        if (!fits) continue;
        found->loop = (void (*)(char **, const intptr_t *, const intptr_t *, void *))ufunc->functions[i];
        found->data = ufunc->data == NULL ? NULL : (void *)ufunc->data[i];
        return true;
    }
    return false;
}

/* Owned: the arguments as contiguous arrays of a type; NULL with an exception. */
static PyObject *cast_arguments(PyObject *arguments, int type)
{
    PyObject *cast = PyTuple_New(PyTuple_GET_SIZE(arguments));

    for (Py_ssize_t i = 0; cast != NULL && i < PyTuple_GET_SIZE(arguments); i++) {
        PyObject *array = PyArray_FromAny(PyTuple_GET_ITEM(arguments, i), PyArray_DescrFromType(type_numbers[type]), 0, 0, NPY_ARRAY_CARRAY | NPY_ARRAY_FORCECAST, NULL);
        if (array == NULL) Py_CLEAR(cast);
        else PyTuple_SET_ITEM(cast, i, array);
    }
    return cast;
}

/* Owned: the results of the ufunc's call as a tuple. */
static PyObject *call_ufunc(PyObject *ufunc, PyObject *arguments)
{
    PyObject *results = PyObject_CallObject(ufunc, arguments);

    if (results != NULL && !PyTuple_Check(results)) Py_SETREF(results, Py_BuildValue("(N)", Py_NewRef(results)));
    return results;
}

/* 1 if the loop gives the bits of the ufunc's own call, 0 if not. */
static int try_loop(const NumpyLoop *loop, int library, PyObject *arguments, PyObject *results)
{
    Array operands[LIBRARY_MAX_OPERANDS];
    PyObject *own[LIBRARY_MAX_OPERANDS] = {NULL}, *theirs = NULL;
    int n_in = (int)PyTuple_GET_SIZE(arguments), n = n_in + (int)PyTuple_GET_SIZE(results), result = -1;

    for (int k = 0; k < n_in; k++) convert_show(PyTuple_GET_ITEM(arguments, k), &operands[k]);
    for (int k = n_in; k < n; k++) {
        own[k] = PyArray_FromAny(PyTuple_GET_ITEM(results, k - n_in), NULL, 0, 0, NPY_ARRAY_CARRAY | NPY_ARRAY_ENSURECOPY, NULL);
        if (own[k] == NULL) goto done;
        memset(PyArray_BYTES((PyArrayObject *)own[k]), 0, (size_t)PyArray_NBYTES((PyArrayObject *)own[k]));
        convert_show(own[k], &operands[k]);
    }
    library_call(loop, library, operands, n);
    result = 1;
    for (int k = n_in; result == 1 && k < n; k++) {
        theirs = PyArray_FromAny(PyTuple_GET_ITEM(results, k - n_in), NULL, 0, 0, NPY_ARRAY_CARRAY, NULL);
        if (theirs == NULL) result = -1;
        else if (memcmp(PyArray_BYTES((PyArrayObject *)own[k]), PyArray_BYTES((PyArrayObject *)theirs), (size_t)PyArray_NBYTES((PyArrayObject *)own[k])) != 0) result = 0;
        Py_CLEAR(theirs);
    }
done:
    for (int k = n_in; k < n; k++) Py_XDECREF(own[k]);
    return result;
}

static int try_type(PyObject *ufunc, int library, int type, PyObject *arguments, NumpyLoop *loop)
{
    PyObject *cast = NULL, *results = NULL;
    int result = -1;

    if (!find_loop((const PyUFuncObject *)ufunc, type, loop)) return 0;
    cast = cast_arguments(arguments, type);
    results = cast == NULL ? NULL : call_ufunc(ufunc, cast);
    if (results != NULL) result = try_loop(loop, library, cast, results);
    Py_XDECREF(cast);
    Py_XDECREF(results);
    return result;
}

static PyObject *library_load(PyObject *module, PyObject *args)
{
    BindState *state = &core_state_get(module)->bind;
    const char *name;
    PyObject *ufunc, *arguments;
    NumpyLoop loops[N_LIBRARY_TYPES] = {{NULL, NULL}};
    int library, is_there = 1;

    if (!PyArg_ParseTuple(args, "sOO!:library_load", &name, &ufunc, &PyTuple_Type, &arguments)) return NULL;
    library = library_from_name(name);
    if (library < 0) return PyErr_Format(PyExc_ValueError, "there is no library function %s", name);
    if (strcmp(Py_TYPE(ufunc)->tp_name, "numpy.ufunc") != 0 || ((PyUFuncObject *)ufunc)->nin != library_n_in(library)
        || PyTuple_GET_SIZE(arguments) != library_n_in(library) || ((PyUFuncObject *)ufunc)->nargs > LIBRARY_MAX_OPERANDS)
        Py_RETURN_FALSE;
    for (int type = 0; is_there == 1 && type < N_LIBRARY_TYPES; type++) {
        int works = try_type(ufunc, library, type, arguments, &loops[type]);
        if (works < 0) return NULL;
        if (works == 0) loops[type].loop = NULL;
        if (works == 0 && type < 2) is_there = 0; /* the two real types are asked of every row */
        if (type == 1 && library_is_elementwise(library)) break;
    }
    for (int type = 0; is_there == 1 && type < N_LIBRARY_TYPES; type++) { /* another ufunc of the row must have the same ones */
        const NumpyLoop *kept = &state->library[library][type];
        if (kept->loop != NULL && (kept->loop != loops[type].loop || kept->data != loops[type].data)) is_there = 0;
    }
    if (is_there) {
        memcpy(state->library[library], loops, sizeof(loops));
        Py_INCREF(ufunc); /* for ever: programs keep its loops */
    }
    return PyBool_FromLong(is_there);
}

static PyMethodDef library_methods[] = {
    {"library_load", library_load, METH_VARARGS, "library_load(name, ufunc, arguments)\n--\n\nTakes the loops of a ufunc for a row of library.def, if they give what the ufunc gives of the arguments and are those that were taken before; returns whether."},
    {NULL, NULL, 0, NULL},
};

int library_module_exec(PyObject *module) { return PyModule_AddFunctions(module, library_methods); }
