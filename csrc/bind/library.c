/* The C loops of NumPy's and SciPy's ufuncs (ops/library.def): found in the ufunc, tried against the ufunc's own call, and kept.
 *
 * Python imports the module and hands the ufunc over, so that SciPy is imported by who uses it alone.
 * Relies on: vm, NumPy. Relied on by: module.c; pyscan/library.py. */
#include "bind/bind.h"
#include "bind/numpy_api.h"

#include <string.h>

#include "ops/ops.h"

static const DType dtypes[N_LIBRARY_TYPES] = {DTYPE_FLOAT32, DTYPE_FLOAT64, DTYPE_COMPLEX64, DTYPE_COMPLEX128};

/* How many operands the loop has. */
static int n_loop_operands(int library) { return library_n_in(library) + library_n_out(library) - library_rewrites(library); }

/* The loop whose operands have the types that the row says. */
static bool find_loop(const PyUFuncObject *ufunc, int library, int type, NumpyLoop *found)
{
    for (int i = 0; i < ufunc->ntypes; i++) {
        const char *types = ufunc->types + i * ufunc->nargs;
        bool fits = ufunc->functions[i] != NULL;
        for (int k = 0; k < ufunc->nargs; k++) fits = fits && types[k] == convert_type_number(library_dtype(library, k, dtypes[type]));
        if (!fits) continue;
        found->loop = (void (*)(char **, const intptr_t *, const intptr_t *, void *))ufunc->functions[i];
        found->data = ufunc->data == NULL ? NULL : (void *)ufunc->data[i];
        return true;
    }
    return false;
}

/* Owned: a copy of an array; NULL with an exception. */
static PyObject *copy_array(PyObject *array, PyArray_Descr *stolen_descr)
{
    return PyArray_FromAny(array, stolen_descr, 0, 0, NPY_ARRAY_CARRAY | NPY_ARRAY_ENSURECOPY | NPY_ARRAY_FORCECAST, NULL);
}

/* Owned: the arguments as contiguous arrays of the types that the row says, and what the ufunc makes of them behind; a
 * list, as that is what the ufunc leaves in its arguments too. */
static PyObject *call_ufunc(PyObject *ufunc, int library, int type, PyObject *arguments)
{
    PyObject *operands = PyList_New(0), *tuple = NULL, *results = NULL;

    for (int k = 0; operands != NULL && k < (int)PyTuple_GET_SIZE(arguments); k++) {
        PyObject *array = copy_array(PyTuple_GET_ITEM(arguments, k), PyArray_DescrFromType(convert_type_number(library_dtype(library, k, dtypes[type]))));
        if (array == NULL || PyList_Append(operands, array) < 0) Py_CLEAR(operands);
        Py_XDECREF(array);
    }
    tuple = operands == NULL ? NULL : PyList_AsTuple(operands);
    results = tuple == NULL ? NULL : PyObject_CallObject(ufunc, tuple);
    if (results != NULL && !PyTuple_Check(results)) Py_SETREF(results, Py_BuildValue("(N)", Py_NewRef(results)));
    for (Py_ssize_t k = 0; results != NULL && operands != NULL && k < PyTuple_GET_SIZE(results); k++) {
        PyObject *array = copy_array(PyTuple_GET_ITEM(results, k), NULL); /* a 0-d result is no array */
        if (array == NULL || PyList_Append(operands, array) < 0) Py_CLEAR(operands);
        Py_XDECREF(array);
    }
    if (results == NULL) Py_CLEAR(operands);
    Py_XDECREF(tuple);
    Py_XDECREF(results);
    return operands;
}

/* 1 if the loop makes of the arguments the bits of the ufunc's own call, 0 if not. */
static int try_loop(const NumpyLoop *loop, int library, int type, PyObject *arguments, PyObject *theirs)
{
    Array operands[LIBRARY_MAX_OPERANDS] = {{.ndim = 0}};
    PyObject *own[LIBRARY_MAX_OPERANDS] = {NULL};
    int n = (int)PyList_GET_SIZE(theirs), result = -1;

    for (int k = 0; k < n; k++) {
        bool is_input = k < PyTuple_GET_SIZE(arguments);
        own[k] = copy_array(is_input ? PyTuple_GET_ITEM(arguments, k) : PyList_GET_ITEM(theirs, k),
                            PyArray_DescrFromType(convert_type_number(library_dtype(library, k, dtypes[type]))));
        if (own[k] == NULL) goto done;
        if (!is_input) memset(PyArray_BYTES((PyArrayObject *)own[k]), 0, (size_t)PyArray_NBYTES((PyArrayObject *)own[k]));
        convert_show(own[k], &operands[k]);
    }
    library_call(loop, library, operands, n);
    result = 1;
    for (int k = 0; k < n; k++) {
        PyArrayObject *mine = (PyArrayObject *)own[k], *other = (PyArrayObject *)PyList_GET_ITEM(theirs, k);
        if (PyArray_NBYTES(mine) != PyArray_NBYTES(other) || memcmp(PyArray_BYTES(mine), PyArray_BYTES(other), (size_t)PyArray_NBYTES(mine)) != 0) result = 0;
    }
done:
    for (int k = 0; k < n; k++) Py_XDECREF(own[k]);
    return result;
}

static int try_type(PyObject *ufunc, int library, int type, PyObject *arguments, NumpyLoop *loop)
{
    PyObject *operands;
    int result = -1;

    if (!find_loop((const PyUFuncObject *)ufunc, library, type, loop)) return 0;
    operands = call_ufunc(ufunc, library, type, arguments);
    if (operands != NULL) result = PyList_GET_SIZE(operands) == n_loop_operands(library) ? try_loop(loop, library, type, arguments, operands) : 0;
    Py_XDECREF(operands);
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
        || PyTuple_GET_SIZE(arguments) != library_n_in(library) || ((PyUFuncObject *)ufunc)->nargs != n_loop_operands(library))
        Py_RETURN_FALSE;
    for (int type = 0; is_there == 1 && type < N_LIBRARY_TYPES; type++) {
        int works = try_type(ufunc, library, type, arguments, &loops[type]);
        if (works < 0) return NULL;
        if (works == 0) loops[type].loop = NULL;
        /* Of complex numbers not every special function is there; matrices are computed in double precision. */
        if (works == 0 && (library_is_elementwise(library) ? type < 2 : type % 2 == 1)) is_there = 0;
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
