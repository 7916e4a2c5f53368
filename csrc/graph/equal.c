/* Equality: of constants, bit for bit, and of whole computations.
 *
 * Relies on: type, ptrmap. Relied on by: atomic (Constant.equals), rewrite's merge. */
#include <string.h>

#include "graph/internal.h"

/* --- constants --- */

/* 1, 0 or -1: whether two attributes are equal. */
static int equal_attrs(PyObject *a, PyObject *b, const char *name)
{
    PyObject *left = PyObject_GetAttrString(a, name), *right = left ? PyObject_GetAttrString(b, name) : NULL;
    int equal = right ? PyObject_RichCompareBool(left, right, Py_EQ) : -1;
    Py_XDECREF(right);
    Py_XDECREF(left);
    return equal;
}

/* 1, 0 or -1: arrays and NumPy scalars by dtype, shape and bytes. */
static int equal_arrays(PyObject *a, PyObject *b)
{
    static const char *const names[] = {"dtype", "shape"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int equal = equal_attrs(a, b, names[i]);
        if (equal <= 0) return equal;
    }
    PyObject *left = PyObject_CallMethod(a, "tobytes", NULL), *right = left ? PyObject_CallMethod(b, "tobytes", NULL) : NULL;
    int equal = right ? PyObject_RichCompareBool(left, right, Py_EQ) : -1;
    Py_XDECREF(right);
    Py_XDECREF(left);
    return equal;
}

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

/* 1, 0 or -1: whether the object is an array or a NumPy scalar of numbers (an array of objects is compared as any object). */
static int is_array(PyObject *object)
{
    PyObject *method, *dtype = NULL, *has_object = NULL;
    int found = graph_lookup_attr(object, "tobytes", &method);
    Py_XDECREF(method);
    if (found > 0) found = graph_lookup_attr(object, "dtype", &dtype);
    if (found > 0) found = graph_lookup_attr(dtype, "hasobject", &has_object);
    if (found > 0) {
        int truth = PyObject_IsTrue(has_object);
        found = truth < 0 ? -1 : !truth;
    }
    Py_XDECREF(has_object);
    Py_XDECREF(dtype);
    return found;
}

/* 1, 0 or -1 for data of one class. */
static int equal_data(PyObject *a, PyObject *b)
{
    if (a == b) return 1;
    if (!Py_IS_TYPE(b, Py_TYPE(a))) return 0;
    if (PyFloat_CheckExact(a)) return same_bits(PyFloat_AS_DOUBLE(a), PyFloat_AS_DOUBLE(b));
    if (PyComplex_CheckExact(a)) {
        Py_complex x = PyComplex_AsCComplex(a), y = PyComplex_AsCComplex(b);
        return same_bits(x.real, y.real) && same_bits(x.imag, y.imag);
    }
    int array = is_array(a);
    if (array) return array < 0 ? -1 : equal_arrays(a, b);
    if (PyTuple_CheckExact(a) || PyList_CheckExact(a)) {
        Py_ssize_t n = PySequence_Fast_GET_SIZE(a);
        int equal = n == PySequence_Fast_GET_SIZE(b);
        if (equal && Py_EnterRecursiveCall(" while constants are compared")) return -1;
        bool entered = equal;
        for (Py_ssize_t i = 0; equal > 0 && i < n; i++) equal = equal_data(PySequence_Fast_GET_ITEM(a, i), PySequence_Fast_GET_ITEM(b, i));
        if (entered) Py_LeaveRecursiveCall();
        return equal;
    }
    PyObject *answer = PyObject_RichCompare(a, b, Py_EQ);
    int equal = !answer ? -1 : PyBool_Check(answer) ? answer == Py_True : 0; /* an answer that is no bool says nothing */
    Py_XDECREF(answer);
    return equal;
}

int graph_constants_equal(PyObject *a, PyObject *b)
{
    if (a == b) return 1;
    int equal = types_equal(as_variable(a)->type, as_variable(b)->type);
    if (equal <= 0) return equal;
    PyObject *left = Py_NewRef(((Constant *)a)->data), *right = Py_NewRef(((Constant *)b)->data);
    equal = equal_data(left, right);
    Py_DECREF(right);
    Py_DECREF(left);
    return equal;
}

/* --- computations --- */

/* `pairs` holds the inputs (and pairs of variables met) that count as equal: a dict (x, y) -> True. */
typedef struct Comparison {
    GraphState *state;
    PyObject *pairs;
    PyObject *stack; /* list of (node_x, node_y) still to be compared */
} Comparison;

/* 1, 0 or -1: whether the pair is noted; notes it. */
static int note_pair(PyObject *pairs, PyObject *x, PyObject *y)
{
    PyObject *pair = PyTuple_Pack(2, x, y);
    int has = pair ? PyDict_Contains(pairs, pair) : -1;
    if (has == 0 && PyDict_SetItem(pairs, pair, Py_True) < 0) has = -1;
    Py_XDECREF(pair);
    return has;
}

static int has_pair(PyObject *pairs, PyObject *x, PyObject *y)
{
    PyObject *pair = PyTuple_Pack(2, x, y);
    int has = pair ? PyDict_Contains(pairs, pair) : -1;
    Py_XDECREF(pair);
    return has;
}

/* 1, 0 or -1: two leaves. */
static int equal_leaves(Comparison *comparison, PyObject *x, PyObject *y)
{
    if (x == y) return 1;
    if (is_constant(comparison->state, x) && is_constant(comparison->state, y)) {
        PyObject *answer = PyObject_CallMethod(x, "equals", "(O)", y);
        int equal = answer ? PyObject_IsTrue(answer) : -1;
        Py_XDECREF(answer);
        return equal;
    }
    return 0;
}

/* 1, 0 or -1: as far as the two variables themselves say; the owners of computed ones go onto the stack. */
static int equal_variables(Comparison *comparison, PyObject *x, PyObject *y)
{
    int has = has_pair(comparison->pairs, x, y);
    if (has) return has;
    PyObject *owner_x = owner_peek(x), *owner_y = owner_peek(y);
    if (!owner_x != !owner_y) return 0;
    if (!owner_x) return equal_leaves(comparison, x, y);
    if (x == y) return 1;
    int same_index = PyObject_RichCompareBool(as_variable(x)->index, as_variable(y)->index, Py_EQ);
    if (same_index <= 0) return same_index;
    has = note_pair(comparison->pairs, owner_x, owner_y);
    if (has) return has;
    PyObject *pair = PyTuple_Pack(2, owner_x, owner_y);
    int status = pair ? PyList_Append(comparison->stack, pair) : -1;
    Py_XDECREF(pair);
    return status < 0 ? -1 : 1;
}

static int equal_nodes(Comparison *comparison, PyObject *x, PyObject *y)
{
    PyObject *in_x = as_apply(x)->inputs, *in_y = as_apply(y)->inputs;
    if (x == y) return 1;
    if (PyList_GET_SIZE(in_x) != PyList_GET_SIZE(in_y) || PyList_GET_SIZE(as_apply(x)->outputs) != PyList_GET_SIZE(as_apply(y)->outputs)) return 0;
    int equal = PyObject_RichCompareBool(as_apply(x)->op, as_apply(y)->op, Py_EQ);
    for (Py_ssize_t i = 0; equal > 0 && i < PyList_GET_SIZE(in_x); i++)
        equal = equal_variables(comparison, PyList_GET_ITEM(in_x, i), PyList_GET_ITEM(in_y, i));
    return equal;
}

/* 1, 0 or -1: an array or number against a constant, or two of these. */
static int equal_values(GraphState *state, PyObject *x, PyObject *y)
{
    if ((is_variable(state, x) && !is_constant(state, x)) || (is_variable(state, y) && !is_constant(state, y))) return 0;
    PyObject *left = is_constant(state, x) ? ((Constant *)x)->data : x, *right = is_constant(state, y) ? ((Constant *)y)->data : y;
    PyObject *numpy = PyImport_ImportModule("numpy"), *answer = numpy ? PyObject_CallMethod(numpy, "array_equal", "OO", left, right) : NULL;
    int equal = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    Py_XDECREF(numpy);
    return equal;
}

static int in_same_class(PyObject *x, PyObject *y)
{
    PyObject *answer = PyObject_CallMethod(as_variable(y)->type, "in_same_class", "(O)", as_variable(x)->type);
    int same = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return same;
}

static int equal_outputs(Comparison *comparison, PyObject *xs, PyObject *ys)
{
    int equal = 1;
    for (Py_ssize_t i = 0; equal > 0 && i < PyList_GET_SIZE(xs); i++) {
        PyObject *x = PyList_GET_ITEM(xs, i), *y = PyList_GET_ITEM(ys, i);
        if (!is_variable(comparison->state, x) || !is_variable(comparison->state, y)) {
            equal = equal_values(comparison->state, x, y);
            continue;
        }
        int has = has_pair(comparison->pairs, x, y);
        equal = has ? has : in_same_class(x, y);
        if (equal > 0) equal = equal_variables(comparison, x, y);
    }
    while (equal > 0 && PyList_GET_SIZE(comparison->stack)) {
        Py_ssize_t last = PyList_GET_SIZE(comparison->stack) - 1;
        PyObject *pair = Py_NewRef(PyList_GET_ITEM(comparison->stack, last));
        equal = PyList_SetSlice(comparison->stack, last, last + 1, NULL) < 0 ? -1 : equal_nodes(comparison, PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1));
        Py_DECREF(pair);
    }
    return equal;
}

/* Notes the inputs that stand for each other; 1, 0 (they do not fit) or -1. */
static int pair_inputs(Comparison *comparison, PyObject *in_xs, PyObject *in_ys)
{
    if (PyList_GET_SIZE(in_xs) != PyList_GET_SIZE(in_ys)) return 0;
    int equal = 1;
    for (Py_ssize_t i = 0; equal > 0 && i < PyList_GET_SIZE(in_xs); i++) {
        equal = in_same_class(PyList_GET_ITEM(in_xs, i), PyList_GET_ITEM(in_ys, i));
        if (equal > 0 && note_pair(comparison->pairs, PyList_GET_ITEM(in_xs, i), PyList_GET_ITEM(in_ys, i)) < 0) equal = -1;
    }
    return equal;
}

static PyObject *py_equal_computations(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"xs", "ys", "in_xs", "in_ys", NULL};
    PyObject *xs, *ys, *in_xs = Py_None, *in_ys = Py_None, *lists[4] = {NULL, NULL, NULL, NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO:equal_computations", keywords, &xs, &ys, &in_xs, &in_ys)) return NULL;
    Comparison comparison = {.state = graph_state_of_module(module), .pairs = PyDict_New(), .stack = PyList_New(0)};
    int equal = -1;
    if (!comparison.pairs || !comparison.stack || !(lists[0] = PySequence_List(xs)) || !(lists[1] = PySequence_List(ys))) goto done;
    if (!(lists[2] = in_xs == Py_None ? PyList_New(0) : variables_of(comparison.state, in_xs, "in_xs"))) goto done;
    if (!(lists[3] = in_ys == Py_None ? PyList_New(0) : variables_of(comparison.state, in_ys, "in_ys"))) goto done;
    if (PyList_GET_SIZE(lists[0]) != PyList_GET_SIZE(lists[1])) {
        PyErr_SetString(PyExc_ValueError, "The number of graphs/Variables in each argument must match.");
        goto done;
    }
    equal = pair_inputs(&comparison, lists[2], lists[3]);
    if (equal > 0) equal = equal_outputs(&comparison, lists[0], lists[1]);
done:
    for (size_t i = 0; i < 4; i++) Py_XDECREF(lists[i]);
    Py_XDECREF(comparison.stack);
    Py_XDECREF(comparison.pairs);
    return equal < 0 ? NULL : PyBool_FromLong(equal);
}

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
static PyMethodDef equal_functions[] = {
    {"equal_computations", WITH_KEYWORDS(py_equal_computations),
     "equal_computations(xs, ys, in_xs=None, in_ys=None)\n--\n\n"
     "Whether each xs[i] is the same computation as ys[i], on the same leaves; in_xs[k] and in_ys[k] count as the same."},
    {NULL, NULL, 0, NULL},
};

int equal_exec(PyObject *module) { return PyModule_AddFunctions(module, equal_functions); }
