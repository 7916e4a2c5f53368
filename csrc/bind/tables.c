/* The tables of the core (.def files) as lists of dicts, one per row, for the Python half and the tests.
 *
 * Relies on: base, ops, program, random (their rows). Relied on by: module.c. */
#include "bind/bind.h"

#include "base/status.h"
#include "ops/ops.h"
#include "program/program.h"
#include "random/fast.h"

/* Appends Py_BuildValue's dict, stealing it; NULL means that an exception is set. */
static int append_row(PyObject *list, PyObject *stolen_row)
{
    int result = stolen_row == NULL ? -1 : PyList_Append(list, stolen_row);
    Py_XDECREF(stolen_row);
    return result;
}

/* The list, or NULL after giving it up when a row could not be made. */
static PyObject *finish_list(PyObject *stolen_list, int failed)
{
    if (failed) Py_CLEAR(stolen_list);
    return stolen_list;
}

static PyObject *tables_scalars(PyObject *module, PyObject *Py_UNUSED(none))
{
    PyObject *list = PyList_New(0);
    int failed = list == NULL;
    for (int i = 0; !failed && i < N_SCALARS; i++)
        failed = append_row(list, Py_BuildValue("{s:s,s:i,s:s,s:s,s:s}", "name", scalar_name(i), "n_in", scalar_n_in(i), "rule", scalar_rule_name(i),
                                                "classes", scalar_classes(i), "doc", scalar_doc(i))) < 0;
    return finish_list(list, failed);
}

static PyObject *tables_ops(PyObject *module, PyObject *Py_UNUSED(none))
{
    PyObject *list = PyList_New(0);
    int failed = list == NULL;
    for (int i = 0; !failed && i < N_OPS; i++)
        failed = append_row(list, Py_BuildValue("{s:s,s:s,s:O,s:s}", "kind", op_kind(i), "attributes", op_attributes(i), "can_raise",
                                                op_can_raise(i) ? Py_True : Py_False, "signature", op_signature(i))) < 0;
    return finish_list(list, failed);
}

static PyObject *tables_opcodes(PyObject *module, PyObject *Py_UNUSED(none))
{
    PyObject *list = PyList_New(0);
    int failed = list == NULL;
#define OPCODE(NAME, text, n_dst, n_src, aux, effect) \
    if (!failed) failed = append_row(list, Py_BuildValue("{s:s,s:i,s:i,s:s,s:s}", "name", text, "n_dst", n_dst, "n_src", n_src, "aux", aux, "effect", effect)) < 0;
#include "program/opcodes.def"
#undef OPCODE
    return finish_list(list, failed);
}

static PyObject *tables_statuses(PyObject *module, PyObject *Py_UNUSED(none))
{
    PyObject *list = PyList_New(0);
    int failed = list == NULL;
    for (int i = 0; !failed && i < N_STATUS_CODES; i++)
        failed = append_row(list, Py_BuildValue("{s:s,s:s,s:s}", "name", status_name((StatusCode)i), "exception", status_exception((StatusCode)i),
                                                "message", status_message((StatusCode)i))) < 0;
    return finish_list(list, failed);
}

static PyObject *tables_dtypes(PyObject *module, PyObject *Py_UNUSED(none))
{
    PyObject *list = PyList_New(0);
    int failed = list == NULL;
    for (int i = 0; !failed && i < N_DTYPES; i++)
        failed = append_row(list, Py_BuildValue("{s:s,s:L,s:C}", "name", dtype_name((DType)i), "bytes", (long long)dtype_bytes((DType)i), "kind",
                                                (int)dtype_kind((DType)i))) < 0;
    return finish_list(list, failed);
}

/* The parameters' kinds as a str, and their ranks as a tuple. */
static PyObject *dist_row(int dist)
{
    char kinds[16] = {0}, rounding[2] = {dist_rounding(dist)};
    PyObject *row, *ranks = PyTuple_New(dist_n_node_params(dist));

    for (int i = 0; ranks != NULL && i < dist_n_node_params(dist) && i < 15; i++) {
        kinds[i] = dist_param_kind(dist, i);
        PyTuple_SET_ITEM(ranks, i, PyLong_FromLong(dist_node_ndim(dist, i))); /* small ints: cannot fail */
    }
    if (ranks == NULL) return NULL;
    row = Py_BuildValue("{s:s,s:s,s:s,s:i,s:O,s:z,s:s,s:O,s:O,s:O,s:O,s:(ss),s:s,s:O,s:(OO),s:s,s:s}", "name", dist_name(dist), "kinds", kinds, "rounding", rounding, "ndim_supp", dist_ndim_supp(dist),
                        "ndims_params", ranks, "dtype", dist_dtype(dist), "params", dist_params(dist), "composed",
                        dist_is_composed(dist) ? Py_True : Py_False, "native", dist_is_native(dist) ? Py_True : Py_False, "takes_size",
                        dist_takes_size(dist) ? Py_True : Py_False, "fast", fast_is_there(dist) ? Py_True : Py_False,
                        "symbols", dist_symbol(dist, 0), dist_symbol(dist, 1),
                        "method", dist_method(dist), "legacy", dist_is_legacy(dist) ? Py_True : Py_False, "owners",
                        dist_is_of(dist, false) ? Py_True : Py_False, dist_is_of(dist, true) ? Py_True : Py_False, "regimes", dist_regimes(dist), "doc", dist_doc(dist));
    Py_DECREF(ranks);
    return row;
}

static PyObject *tables_dists(PyObject *module, PyObject *Py_UNUSED(none))
{
    PyObject *list = PyList_New(0);
    int failed = list == NULL;
    for (int i = 0; !failed && i < N_DISTS; i++) failed = append_row(list, dist_row(i)) < 0;
    return finish_list(list, failed);
}

static PyObject *tables_library(PyObject *module, PyObject *Py_UNUSED(none))
{
    PyObject *list = PyList_New(0);
    int failed = list == NULL;
    for (int i = 0; !failed && i < N_LIBRARY; i++)
        failed = append_row(list, Py_BuildValue("{s:s,s:s,s:s,s:i,s:s,s:s,s:s}", "name", library_name(i), "module", library_module(i), "ufunc", library_ufunc(i), "n_in",
                                                library_n_in(i), "operands", library_operands(i), "failure", library_failure(i), "doc", library_doc(i))) < 0;
    return finish_list(list, failed);
}

/* What the module was made of, for reports of bugs. */
static PyObject *tables_build(PyObject *module, PyObject *Py_UNUSED(none))
{
#if defined(__clang__)
    const char *compiler = "clang " __clang_version__;
#elif defined(__GNUC__)
    const char *compiler = "gcc " __VERSION__;
#else
    const char *compiler = "not known";
#endif
#ifdef PYSCAN_HAVE_NPYRANDOM
    PyObject *has_library = Py_True;
#else
    PyObject *has_library = Py_False;
#endif
    return Py_BuildValue("{s:s,s:s,s:O}", "compiler", compiler, "numpy", PYSCAN_NUMPY_VERSION, "has_library", has_library);
}

static PyMethodDef tables_methods[] = {
    {"build", tables_build, METH_NOARGS, "What the module was made of: compiler, numpy (its version), has_library (whether NumPy's static library is linked)."},
    {"scalars", tables_scalars, METH_NOARGS, "The elementwise operations: a list of dicts with name, n_in (-1: two or more), rule, classes, doc."},
    {"ops", tables_ops, METH_NOARGS, "The graph operations with native instructions: dicts with kind, attributes, can_raise, signature."},
    {"opcodes", tables_opcodes, METH_NOARGS, "The instructions of a program: dicts with name, n_dst, n_src (-1: any number), aux, effect."},
    {"library", tables_library, METH_NOARGS, "The functions that a library computes: dicts with name, module, ufunc, n_in, operands, failure, doc."},
    {"statuses", tables_statuses, METH_NOARGS, "The ways in which a program can fail: dicts with name, exception, message."},
    {"dtypes", tables_dtypes, METH_NOARGS, "The element types: dicts with name, bytes, kind."},
    {"dists", tables_dists, METH_NOARGS,
     "The distributions: dicts with name, kinds (a letter per parameter), rounding ('s', 'r', 'w' or ''), ndim_supp, ndims_params, dtype (or None), params (names and defaults), composed, native, takes_size, fast (there is inlined code), symbols, method, legacy, owners (whether Generators have it, and RandomStates), regimes, doc."},
    {NULL, NULL, 0, NULL},
};

int tables_module_exec(PyObject *module) { return PyModule_AddFunctions(module, tables_methods); }
