/* The tables of the core (.def files) as lists of dicts, one per row, for the Python half and the tests.
 *
 * Relies on: base, ops, program, random (their rows). Relied on by: module.c. */
#include "bind/bind.h"

#include "base/status.h"
#include "ops/ops.h"
#include "program/program.h"
#include "random/fast.h"

/* A list of the rows 0 to n - 1, each an owned dict or NULL with an exception set; NULL after the first of these. */
static PyObject *list_rows(int n, PyObject *(*row_new)(int i))
{
    PyObject *list = PyList_New(0);

    for (int i = 0; list != NULL && i < n; i++) {
        PyObject *row = row_new(i);
        if (row == NULL || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *scalar_row(int i)
{
    return Py_BuildValue("{s:s,s:i,s:s,s:s,s:s}", "name", scalar_name(i), "n_in", scalar_n_in(i), "rule", scalar_rule_name(i),
                         "classes", scalar_classes(i), "doc", scalar_doc(i));
}

static PyObject *reduce_row(int i)
{
    return Py_BuildValue("{s:s,s:s,s:s}", "name", reduce_name(i), "scalar", scalar_name(reduce_scalar(i)), "doc", reduce_doc(i));
}

static PyObject *op_row(int i)
{
    return Py_BuildValue("{s:s,s:s,s:O,s:s}", "kind", op_kind(i), "attributes", op_attributes(i), "can_raise", op_can_raise(i) ? Py_True : Py_False,
                         "signature", op_signature(i));
}

static PyObject *opcode_row(int i)
{
    static const struct {
        const char *name;
        int n_dst, n_src;
        const char *aux, *effect;
    } rows[] = {
#define OPCODE(NAME, text, n_dst, n_src, aux, effect) {text, n_dst, n_src, aux, effect},
#include "program/opcodes.def"
#undef OPCODE
    };

    return Py_BuildValue("{s:s,s:i,s:i,s:s,s:s}", "name", rows[i].name, "n_dst", rows[i].n_dst, "n_src", rows[i].n_src, "aux", rows[i].aux,
                         "effect", rows[i].effect);
}

static PyObject *status_row(int i)
{
    StatusCode code = (StatusCode)i;

    return Py_BuildValue("{s:s,s:s,s:s}", "name", status_name(code), "exception", status_exception(code), "message", status_message(code));
}

static PyObject *dtype_row(int i)
{
    DType dtype = (DType)i;

    return Py_BuildValue("{s:s,s:L,s:C}", "name", dtype_name(dtype), "bytes", (long long)dtype_bytes(dtype), "kind", (int)dtype_kind(dtype));
}

static PyObject *library_row(int i)
{
    return Py_BuildValue("{s:s,s:s,s:s,s:i,s:s,s:s,s:s}", "name", library_name(i), "module", library_module(i), "ufunc", library_ufunc(i), "n_in",
                         library_n_in(i), "operands", library_operands(i), "failure", library_failure(i), "doc", library_doc(i));
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

#define TABLE(NAME, n, row) \
    static PyObject *tables_##NAME(PyObject *module, PyObject *Py_UNUSED(none)) { return list_rows((n), (row)); }
TABLE(scalars, N_SCALARS, scalar_row)
TABLE(reductions, N_REDUCES, reduce_row)
TABLE(ops, N_OPS, op_row)
TABLE(opcodes, N_OPCODES, opcode_row)
TABLE(library, N_LIBRARY, library_row)
TABLE(statuses, N_STATUS_CODES, status_row)
TABLE(dtypes, N_DTYPES, dtype_row)
TABLE(dists, N_DISTS, dist_row)
#undef TABLE

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
    {"reductions", tables_reductions, METH_NOARGS, "What folds elements into one: dicts with name, scalar (the operation that folds), doc."},
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
