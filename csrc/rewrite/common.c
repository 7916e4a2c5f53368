/* What several passes ask about nodes, and the edits that they make. See common.h.
 *
 * Relies on: graph, ops. Relied on by: the passes. */
#include "rewrite/common.h"

/* ---- attributes ---- */

/* Owned, or NULL without an exception when there is no such attribute, or NULL with one. */
static PyObject *attribute_new(PyObject *object, const char *name)
{
    PyObject *value = PyObject_GetAttrString(object, name);
    if (value == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    return value;
}

int rewrite_flag(PyObject *object, const char *name)
{
    PyObject *value = attribute_new(object, name);
    if (value == NULL) return PyErr_Occurred() ? -1 : 0;
    int result = PyObject_IsTrue(value);
    Py_DECREF(value);
    return result;
}

int rewrite_attribute_is(PyObject *object, const char *name, const char *text)
{
    PyObject *value = attribute_new(object, name);
    if (value == NULL) return PyErr_Occurred() ? -1 : 0;
    int result = PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, text) == 0;
    Py_DECREF(value);
    return result;
}

int rewrite_attribute_int(PyObject *object, const char *name, Py_ssize_t *value)
{
    PyObject *attribute = attribute_new(object, name);
    if (attribute == NULL) return PyErr_Occurred() ? -1 : 0;
    int result = 0;
    if (attribute != Py_None) {
        *value = PyNumber_AsSsize_t(attribute, PyExc_OverflowError);
        result = *value == -1 && PyErr_Occurred() ? -1 : 1;
    }
    Py_DECREF(attribute);
    return result;
}

int rewrite_kind(GraphState *state, PyObject *node)
{
    PyObject *kind = PyObject_GetAttr(as_apply(node)->op, state->str_kind);
    if (kind == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
        PyErr_Clear();
        return OP_USER;
    }
    int row = OP_USER;
    if (PyUnicode_Check(kind)) {
        const char *text = PyUnicode_AsUTF8(kind);
        row = text == NULL ? -1 : op_from_kind(text);
        if (row < 0 && text != NULL) row = OP_USER;
    }
    Py_DECREF(kind);
    return row;
}

int rewrite_is_made_by(GraphState *state, PyObject *variable, int kind)
{
    if (!graph_is_computed(variable)) return 0;
    int found = rewrite_kind(state, variable_owner(variable));
    return found < 0 ? -1 : found == kind;
}

int rewrite_is_generator(PyObject *variable) { return rewrite_attribute_is(variable_type(variable), "type_kind", "rng"); }

/* ---- numbers and lengths ---- */

int rewrite_constant_int(GraphState *state, PyObject *variable, Py_ssize_t *value)
{
    if (!rewrite_is_constant(state, variable)) return 0;
    Py_ssize_t rank = rewrite_rank(variable);
    if (rank == -2) return -1;
    return rank == 0 ? graph_read_integer(variable, value) : 0;
}

Py_ssize_t rewrite_rank(PyObject *variable)
{
    Py_ssize_t rank = -1;
    int found = rewrite_attribute_int(variable_type(variable), "ndim", &rank);
    if (found < 0) return -2;
    return found == 0 ? -1 : rank;
}

int rewrite_static_length(GraphState *state, PyObject *variable, Py_ssize_t axis, Py_ssize_t *length)
{
    bool is_constant = rewrite_is_constant(state, variable);
    PyObject *shape = attribute_new(is_constant ? ((Constant *)variable)->data : variable_type(variable), "shape");
    if (shape == NULL) return PyErr_Occurred() ? -1 : 0;
    int result = 0;
    if (PyTuple_Check(shape) && axis >= 0 && axis < PyTuple_GET_SIZE(shape)) {
        PyObject *item = PyTuple_GET_ITEM(shape, axis);
        if (PyLong_Check(item)) {
            *length = PyLong_AsSsize_t(item);
            result = *length == -1 && PyErr_Occurred() ? -1 : 1;
        }
    }
    Py_DECREF(shape);
    return result;
}

/* ---- edits ---- */

int rewrite_add_pair(PyObject *pairs, PyObject *old_variable, PyObject *new_variable)
{
    PyObject *pair = PyTuple_Pack(2, old_variable, new_variable);
    int result = pair == NULL ? -1 : PyList_Append(pairs, pair);
    Py_XDECREF(pair);
    return result;
}

int rewrite_replace_all(FunctionGraph *graph, PyObject *pairs, const char *reason)
{
    PyObject *text = PyUnicode_InternFromString(reason);
    if (text == NULL) return -1;
    int vetoed = graph_replace_validate(graph, pairs, text);
    Py_DECREF(text);
    return vetoed < 0 ? -1 : !vetoed;
}

int rewrite_replace(FunctionGraph *graph, PyObject *old_variable, PyObject *new_variable, const char *reason)
{
    PyObject *pairs = PyList_New(0);
    int result = -1;
    if (pairs != NULL && rewrite_add_pair(pairs, old_variable, new_variable) == 0) {
        result = rewrite_replace_all(graph, pairs, reason);
    }
    Py_XDECREF(pairs);
    return result;
}

int rewrite_replace_node(FunctionGraph *graph, PyObject *node, PyObject *new_node, const char *reason)
{
    PyObject *pairs = PyList_New(0);
    int result = -1;
    if (pairs == NULL) return -1;
    for (Py_ssize_t i = 0; i < node_n_outputs(node); i++) {
        if (graph_count_clients(graph, node_output(node, i)) == 0) continue;
        if (rewrite_add_pair(pairs, node_output(node, i), node_output(new_node, i)) < 0) goto done;
    }
    result = rewrite_replace_all(graph, pairs, reason);
done:
    Py_DECREF(pairs);
    return result;
}

PyObject *rewrite_make_node(PyObject *op, PyObject *inputs, PyObject *node)
{
    PyObject *method = PyObject_GetAttrString(op, "make_node"), *arguments = NULL, *made = NULL;
    if (method != NULL) arguments = PySequence_Tuple(inputs);
    if (arguments != NULL) made = PyObject_CallObject(method, arguments);
    if (made != NULL && !PyObject_TypeCheck(made, Py_TYPE(node))) {
        PyErr_Format(PyExc_TypeError, "make_node of %R returned %R, which is not an Apply.", op, made);
        Py_CLEAR(made);
    }
    if (made != NULL) Py_SETREF(as_apply(made)->origin, Py_NewRef(as_apply(node)->origin));
    Py_XDECREF(arguments);
    Py_XDECREF(method);
    return made;
}

PyObject *rewrite_make_constant(PyObject *type, PyObject *data) { return PyObject_CallMethod(type, "make_constant", "(O)", data); }

PyObject *rewrite_make_int(PyObject *type, Py_ssize_t value)
{
    PyObject *dtype = PyObject_GetAttrString(type, "dtype"), *numpy = NULL, *array = NULL, *constant = NULL;
    if (dtype != NULL) numpy = PyImport_ImportModule("numpy");
    if (numpy != NULL) array = PyObject_CallMethod(numpy, "array", "nO", value, dtype);
    if (array != NULL) constant = rewrite_make_constant(type, array);
    Py_XDECREF(array);
    Py_XDECREF(numpy);
    Py_XDECREF(dtype);
    return constant;
}
