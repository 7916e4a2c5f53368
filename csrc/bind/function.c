/* The short way of a function's call: `_core.Caller`, which pyscan.Function extends in Python.
 *
 * Most calls give every input by position, as arrays of the right dtype and rank or as numbers: these go straight to the
 * thunk. All others (keywords, defaults, values to be converted, errors that have to be explained) go to the method
 * `_call_general` of the subclass, with the arguments as they came. Relies on: thunk.c, convert.c. Relied on by: module.c. */
#include "bind/bind.h"
#include "bind/numpy_api.h"

#include <stddef.h>
#include <structmember.h>

#include "base/mem.h"

/* What an input takes as it is. */
typedef struct Slot {
    PyObject *dtype; /* owned: of arrays with `ndim` dimensions, or NULL: always the long way */
    int ndim;
    bool takes_float, takes_int;
} Slot;

typedef struct Caller {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *thunk; /* owned, or NULL: always the long way */
    Slot *slots;     /* owned: one an input, in the order of a call */
    Py_ssize_t n_slots;
    bool is_single;  /* a call gives the only output itself */
    bool trusts;     /* as the attribute trust_input: values are not looked at here */
} Caller;

/* Integers that do not fit are refused where that is explained. */
static bool is_int64(PyObject *value)
{
    int overflow;

    if (!PyLong_CheckExact(value)) return false;
    (void)PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow == 0;
}

static bool is_taken(const Slot *slot, PyObject *value)
{
    if (PyArray_CheckExact(value)) return (PyObject *)PyArray_DESCR((PyArrayObject *)value) == slot->dtype && PyArray_NDIM((PyArrayObject *)value) == slot->ndim;
    if (slot->takes_float) return PyFloat_CheckExact(value) || Py_TYPE(value) == &PyDoubleArrType_Type;
    return slot->takes_int && is_int64(value);
}

static bool are_taken(const Caller *caller, PyObject *const *args)
{
    for (Py_ssize_t i = 0; !caller->trusts && i < caller->n_slots; i++)
        if (!is_taken(&caller->slots[i], args[i])) return false;
    return true;
}

static PyObject *call_general(PyObject *self, PyObject *const *args, Py_ssize_t n_args, PyObject *names)
{
    PyObject *method = PyObject_GetAttrString(self, "_call_general"), *result = method == NULL ? NULL : PyObject_Vectorcall(method, args, (size_t)n_args, names);

    Py_XDECREF(method);
    return result;
}

static PyObject *caller_call(PyObject *self, PyObject *const *args, size_t n_flagged, PyObject *names)
{
    Caller *caller = (Caller *)self;
    Py_ssize_t n_args = PyVectorcall_NARGS(n_flagged);

    if (caller->thunk == NULL || n_args != caller->n_slots || (names != NULL && PyTuple_GET_SIZE(names) > 0) || !are_taken(caller, args))
        return call_general(self, args, n_args, names);
    return thunk_run((Thunk *)caller->thunk, args, NULL, !caller->trusts, caller->is_single);
}

/* ---- making one ---- */

static void clear_slots(Caller *caller)
{
    for (Py_ssize_t i = 0; i < caller->n_slots; i++) Py_XDECREF(caller->slots[i].dtype);
    mem_free(caller->slots);
    caller->slots = NULL;
    caller->n_slots = 0;
}

static int read_slot(Slot *slot, PyObject *row)
{
    PyObject *dtype;
    int takes_numbers, type_number;

    if (!PyArg_ParseTuple(row, "Oip;an input is (dtype or None, number of dimensions, whether numbers are taken)", &dtype, &slot->ndim, &takes_numbers)) return -1;
    if (!PyArray_DescrCheck(dtype)) return 0;
    type_number = ((PyArray_Descr *)dtype)->type_num;
    slot->dtype = Py_NewRef(dtype);
    slot->takes_float = takes_numbers && slot->ndim == 0 && type_number == NPY_FLOAT64;
    slot->takes_int = takes_numbers && slot->ndim == 0 && type_number == NPY_INT64;
    return 0;
}

static PyObject *caller_set_short_way(PyObject *self, PyObject *args)
{
    Caller *caller = (Caller *)self;
    BindState *state = &core_state_get(PyType_GetModuleByDef(Py_TYPE(self), &core_module_def))->bind;
    PyObject *thunk, *rows;
    int is_single;

    if (!PyArg_ParseTuple(args, "O!O!p:_set_short_way", state->Thunk, &thunk, &PyTuple_Type, &rows, &is_single)) return NULL;
    Py_CLEAR(caller->thunk);
    clear_slots(caller);
    if (PyTuple_GET_SIZE(rows) != ((Thunk *)thunk)->n_given || (is_single && ((Thunk *)thunk)->n_outputs != 1)) {
        PyErr_SetString(PyExc_ValueError, "a row is needed for each value that a call gives, and one output where a call gives it alone");
        return NULL;
    }
    caller->slots = mem_calloc((size_t)PyTuple_GET_SIZE(rows) + 1, sizeof(*caller->slots));
    if (caller->slots == NULL) return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(rows); i++) {
        caller->n_slots = i + 1;
        if (read_slot(&caller->slots[i], PyTuple_GET_ITEM(rows, i)) < 0) return NULL;
    }
    caller->is_single = is_single != 0;
    caller->thunk = Py_NewRef(thunk);
    Py_RETURN_NONE;
}

static PyObject *caller_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    Caller *caller = (Caller *)type->tp_alloc(type, 0);

    if (caller != NULL) caller->vectorcall = caller_call;
    return (PyObject *)caller;
}

static int caller_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Caller *)self)->thunk);
    return 0;
}

static int caller_clear(PyObject *self)
{
    Py_CLEAR(((Caller *)self)->thunk);
    return 0;
}

static void caller_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    (void)caller_clear(self);
    clear_slots((Caller *)self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *caller_trusts(PyObject *self, void *closure) { return PyBool_FromLong(((Caller *)self)->trusts); }

static int caller_set_trusts(PyObject *self, PyObject *value, void *closure)
{
    int truth = value == NULL ? 0 : PyObject_IsTrue(value);

    if (truth < 0) return -1;
    ((Caller *)self)->trusts = truth != 0;
    return 0;
}

static PyMethodDef caller_methods[] = {
    {"_set_short_way", caller_set_short_way, METH_VARARGS,
     "_set_short_way(thunk, inputs, is_single)\n--\n\nLets calls by position go to the thunk. `inputs` is a tuple of rows (dtype or None, number of dimensions, whether numbers\n"
     "of that dtype are taken); with `is_single` a call gives the only output, else the list of outputs."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef caller_getset[] = {
    {"trust_input", caller_trusts, caller_set_trusts, "Whether arguments are taken as they are, without conversion.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef caller_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Caller, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot caller_slots[] = {
    {Py_tp_doc, "What compiled functions are called through: calls with plain values by position go to the thunk, all others to the\n"
                "method `_call_general`."},
    {Py_tp_new, caller_new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_traverse, caller_traverse},
    {Py_tp_clear, caller_clear},
    {Py_tp_dealloc, caller_dealloc},
    {Py_tp_methods, caller_methods},
    {Py_tp_getset, caller_getset},
    {Py_tp_members, caller_members},
    {0, NULL},
};

static PyType_Spec caller_spec = {
    .name = "pyscan._core.Caller",
    .basicsize = sizeof(Caller),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL,
    .slots = caller_slots,
};

int function_module_exec(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &caller_spec, NULL);
    int result = type == NULL ? -1 : PyModule_AddType(module, (PyTypeObject *)type);

    Py_XDECREF(type);
    return result;
}
