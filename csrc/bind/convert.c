/* Between NumPy's ndarrays and the arrays of programs.
 *
 * Inputs are shown as they lie in memory, results that nobody else holds are handed over with it. Relies on: base,
 * NumPy. Relied on by: the other files of bind. */
#define PYSCAN_IMPORT_NUMPY
#include "bind/bind.h"
#include "bind/numpy_api.h"

#include <string.h>

/* Results up to this size are copied into memory of NumPy's own, so that the program keeps its buffer for the next call. */
enum { HAND_OVER_BYTES = 4096 };

static const int type_numbers[N_DTYPES] = {
    [DTYPE_BOOL] = NPY_BOOL, [DTYPE_INT8] = NPY_INT8, [DTYPE_INT16] = NPY_INT16, [DTYPE_INT32] = NPY_INT32, [DTYPE_INT64] = NPY_INT64,
    [DTYPE_UINT8] = NPY_UINT8, [DTYPE_UINT16] = NPY_UINT16, [DTYPE_UINT32] = NPY_UINT32, [DTYPE_UINT64] = NPY_UINT64,
    [DTYPE_FLOAT32] = NPY_FLOAT32, [DTYPE_FLOAT64] = NPY_FLOAT64, [DTYPE_COMPLEX64] = NPY_COMPLEX64, [DTYPE_COMPLEX128] = NPY_COMPLEX128,
};

int convert_type_number(DType dtype) { return type_numbers[dtype]; }

int convert_module_exec(PyObject *module)
{
    if (_import_array() < 0) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ImportError, "NumPy's C API could not be imported");
        return -1;
    }
    return 0;
}

int convert_dtype(PyObject *ndarray)
{
    PyArray_Descr *descr = PyArray_DESCR((PyArrayObject *)ndarray);
    char kind = descr->kind;
    int64_t n_bytes;

    if (descr->type_num == NPY_FLOAT64) return DTYPE_FLOAT64; /* the commonest two */
    if (descr->type_num == NPY_INT64) return DTYPE_INT64;
    n_bytes = (int64_t)PyDataType_ELSIZE(descr);
    if (strchr("biufc", kind) == NULL) return -1;
    for (int i = 0; i < N_DTYPES; i++)
        if (dtype_kind((DType)i) == kind && dtype_bytes((DType)i) == n_bytes) return i;
    return -1;
}

static int refuse_value(PyObject *value, DType dtype, int ndim, PyObject *what)
{
    if (PyArray_Check(value))
        PyErr_Format(PyExc_TypeError, "%S must be an array of dtype %s with %d dimensions; an array of dtype %S with %d dimensions came", what, dtype_name(dtype), ndim,
                     (PyObject *)PyArray_DESCR((PyArrayObject *)value), PyArray_NDIM((PyArrayObject *)value));
    else
        PyErr_Format(PyExc_TypeError, "%S must be an array of dtype %s with %d dimensions; %R came", what, dtype_name(dtype), ndim, value);
    return -1;
}

PyObject *convert_peek(PyObject *value, DType dtype, int ndim)
{
    PyArrayObject *ndarray = (PyArrayObject *)value;
    bool fits = PyArray_Check(value) && PyArray_NDIM(ndarray) == ndim && PyArray_ISALIGNED(ndarray) && PyArray_ISNOTSWAPPED(ndarray) && convert_dtype(value) == (int)dtype;

    return fits ? value : NULL;
}

PyObject *convert_input(PyObject *value, DType dtype, int ndim, PyObject *what)
{
    PyArrayObject *ndarray = (PyArrayObject *)value;

    if (!PyArray_Check(value) || convert_dtype(value) != (int)dtype || PyArray_NDIM(ndarray) != ndim) {
        refuse_value(value, dtype, ndim, what);
        return NULL;
    }
    if (PyArray_ISALIGNED(ndarray) && PyArray_ISNOTSWAPPED(ndarray)) return Py_NewRef(value);
    return PyArray_FromAny(value, PyArray_DescrFromType(type_numbers[dtype]), 0, 0, NPY_ARRAY_CARRAY | NPY_ARRAY_NOTSWAPPED | NPY_ARRAY_ENSURECOPY, NULL);
}

void convert_show(PyObject *value, Array *array)
{
    PyArrayObject *ndarray = (PyArrayObject *)value;

    array->data = PyArray_BYTES(ndarray);
    array->buffer = NULL;
    array->ndim = PyArray_NDIM(ndarray);
    array->dtype = (DType)convert_dtype(value);
    for (int i = 0; i < array->ndim; i++) {
        array->shape[i] = PyArray_DIM(ndarray, i);
        array->strides[i] = PyArray_STRIDE(ndarray, i);
    }
}

PyObject *convert_copy(const Array *array)
{
    npy_intp shape[ARRAY_MAX_NDIM];
    PyObject *ndarray;
    Array shown;

    for (int i = 0; i < array->ndim; i++) shape[i] = (npy_intp)array->shape[i];
    ndarray = PyArray_SimpleNew(array->ndim, shape, type_numbers[array->dtype]);
    if (ndarray == NULL) return NULL;
    if (array_is_contiguous(array)) {
        memcpy(PyArray_BYTES((PyArrayObject *)ndarray), array->data, (size_t)PyArray_NBYTES((PyArrayObject *)ndarray));
        return ndarray;
    }
    convert_show(ndarray, &shown);
    if (array_copy(&shown, array) < 0) {
        Py_CLEAR(ndarray);
        PyErr_NoMemory();
    }
    return ndarray;
}

PyObject *convert_view(const Array *array)
{
    npy_intp shape[ARRAY_MAX_NDIM], strides[ARRAY_MAX_NDIM];

    for (int i = 0; i < array->ndim; i++) {
        shape[i] = (npy_intp)array->shape[i];
        strides[i] = (npy_intp)array->strides[i];
    }
    return PyArray_New(&PyArray_Type, array->ndim, shape, type_numbers[array->dtype], strides, array->data, 0, NPY_ARRAY_WRITEABLE, NULL);
}

static void release_capsule(PyObject *capsule) { buffer_unref(PyCapsule_GetPointer(capsule, "pyscan.Buffer")); }

/* An ndarray that keeps a holder of the buffer as its base. */
static PyObject *new_over_buffer(const Array *array)
{
    PyObject *ndarray = convert_view(array), *capsule = ndarray == NULL ? NULL : PyCapsule_New(array->buffer, "pyscan.Buffer", release_capsule);

    if (capsule == NULL) {
        Py_XDECREF(ndarray);
        return NULL;
    }
    (void)buffer_ref(array->buffer);
    if (PyArray_SetBaseObject((PyArrayObject *)ndarray, capsule) < 0) Py_CLEAR(ndarray);
    return ndarray;
}

PyObject *convert_hand_over(const Array *array)
{
    size_t n_bytes = 0;

    if (array->buffer == NULL || array_bytes(array->ndim, array->shape, array->dtype, &n_bytes) < 0) return convert_copy(array);
    if (n_bytes <= HAND_OVER_BYTES || n_bytes < array->buffer->n_bytes / 2) return convert_copy(array);
    return new_over_buffer(array);
}

/* 1 if a call-back's result may be stored as the declared type: arrays without loss, numbers within their kind (NumPy
 * before 2.0 widens the type of a number beside a Python int). */
static int can_store(PyArrayObject *ndarray, DType dtype)
{
    PyArray_Descr *target = PyArray_DescrFromType(type_numbers[dtype]);
    int can = PyArray_CanCastTypeTo(PyArray_DESCR(ndarray), target, PyArray_NDIM(ndarray) > 0 ? NPY_SAFE_CASTING : NPY_SAME_KIND_CASTING);

    Py_DECREF(target);
    return can;
}

PyObject *convert_output(PyObject *value, DType dtype, int ndim, PyObject *what)
{
    PyArrayObject *ndarray = (PyArrayObject *)PyArray_FromAny(value, NULL, 0, 0, 0, NULL);
    PyObject *result = NULL;

    if (ndarray == NULL) return NULL;
    if (PyArray_NDIM(ndarray) != ndim || !can_store(ndarray, dtype)) refuse_value((PyObject *)ndarray, dtype, ndim, what);
    else result = PyArray_FromAny((PyObject *)ndarray, PyArray_DescrFromType(type_numbers[dtype]), 0, 0, NPY_ARRAY_BEHAVED_NS | NPY_ARRAY_NOTSWAPPED | NPY_ARRAY_FORCECAST, NULL);
    Py_DECREF(ndarray);
    return result;
}
