/* What `__props__`, a tuple of attribute names, means for a class of Ops or Types: equality, hash and text by these
 * attributes. Without it an instance is equal to itself alone.
 *
 * A class that declares __props__ and not one of __eq__, __hash__, __str__ gets the rule of __props__ for it, even
 * where a parent class has a method of its own; __init_subclass__ sees to that. Relies on: state. Relied on by: op, type. */
#include "graph/internal.h"

/* 1, 0 or -1; *props is owned. The class attribute alone counts: an instance cannot change what it is equal to. */
static int find_props(GraphState *state, PyObject *object, PyObject **props)
{
    *props = PyObject_GetAttr((PyObject *)Py_TYPE(object), state->str_props);
    if (!*props) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
        PyErr_Clear();
        return 0;
    }
    if (PyTuple_Check(*props)) return 1;
    Py_CLEAR(*props); /* None says that there are none */
    return 0;
}

/* Owned: the tuple of the attributes named. */
static PyObject *props_values(PyObject *self, PyObject *props)
{
    Py_ssize_t n = PyTuple_GET_SIZE(props);
    PyObject *values = PyTuple_New(n);
    if (!values) return NULL;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *value = PyObject_GetAttr(self, PyTuple_GET_ITEM(props, i));
        if (!value) {
            Py_DECREF(values);
            return NULL;
        }
        PyTuple_SET_ITEM(values, i, value);
    }
    return values;
}

PyObject *props_richcompare(PyObject *a, PyObject *b, int compare)
{
    if (compare == Py_NE) return PyBaseObject_Type.tp_richcompare(a, b, compare); /* the contrary of ==, which a subclass may define */
    if (compare != Py_EQ) Py_RETURN_NOTIMPLEMENTED;
    if (a == b) Py_RETURN_TRUE;
    if (!Py_IS_TYPE(b, Py_TYPE(a))) Py_RETURN_NOTIMPLEMENTED;
    GraphState *state = graph_state_of(a);
    PyObject *props, *result = NULL;
    if (!state) return NULL;
    int found = find_props(state, a, &props);
    if (found < 0) return NULL;
    if (!found) Py_RETURN_NOTIMPLEMENTED;
    PyObject *left = props_values(a, props), *right = left ? props_values(b, props) : NULL;
    if (right) result = PyObject_RichCompare(left, right, Py_EQ);
    Py_XDECREF(left);
    Py_XDECREF(right);
    Py_DECREF(props);
    return result;
}

Py_hash_t props_hash(PyObject *self)
{
    GraphState *state = graph_state_of(self);
    PyObject *props;
    if (!state) return -1;
    int found = find_props(state, self, &props);
    if (found < 0) return -1;
    if (!found) return PyBaseObject_Type.tp_hash(self);
    Py_hash_t hash = -1;
    PyObject *values = props_values(self, props);
    PyObject *key = values ? PyTuple_Pack(2, Py_TYPE(self), values) : NULL;
    if (key) hash = PyObject_Hash(key);
    Py_XDECREF(key);
    Py_XDECREF(values);
    Py_DECREF(props);
    return hash;
}

/* Owned: `a=1, b='x'`. */
static PyObject *props_fields(PyObject *self, PyObject *props)
{
    PyObject *fields = PyList_New(0), *separator = NULL, *joined = NULL;
    for (Py_ssize_t i = 0; fields && i < PyTuple_GET_SIZE(props); i++) {
        PyObject *name = PyTuple_GET_ITEM(props, i), *value = PyObject_GetAttr(self, name);
        PyObject *field = value ? PyUnicode_FromFormat("%U=%R", name, value) : NULL;
        Py_XDECREF(value);
        if (!field || PyList_Append(fields, field) < 0) Py_CLEAR(fields);
        Py_XDECREF(field);
    }
    if (fields && (separator = PyUnicode_FromString(", "))) joined = PyUnicode_Join(separator, fields);
    Py_XDECREF(separator);
    Py_XDECREF(fields);
    return joined;
}

PyObject *props_text(PyObject *self)
{
    GraphState *state = graph_state_of(self);
    PyObject *props, *text = NULL;
    if (!state || find_props(state, self, &props) <= 0) return NULL;
    PyObject *name = PyType_GetName(Py_TYPE(self));
    if (name && PyTuple_GET_SIZE(props) == 0) {
        text = Py_NewRef(name);
    } else if (name) {
        PyObject *fields = props_fields(self, props);
        if (fields) text = PyUnicode_FromFormat("%U{%U}", name, fields);
        Py_XDECREF(fields);
    }
    Py_XDECREF(name);
    Py_DECREF(props);
    return text;
}

static int check_props(PyObject *props)
{
    if (!PyTuple_Check(props)) {
        PyErr_SetString(PyExc_TypeError, "__props__ has to be a tuple");
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(props); i++)
        if (!PyUnicode_Check(PyTuple_GET_ITEM(props, i))) {
            PyErr_SetString(PyExc_TypeError, "elements of __props__ have to be strings");
            return -1;
        }
    return 0;
}

/* Lent: the class of this room (Op or Type) that the class derives from. */
static PyTypeObject *native_base(GraphState *state, PyTypeObject *cls)
{
    return PyType_IsSubtype(cls, state->Op) ? state->Op : state->Type;
}

/* Gives the class the native method when it has none of its own but would inherit another one's. */
static int take_native(PyTypeObject *cls, PyTypeObject *base, PyObject *own, const char *name, const char *unless_own)
{
    PyObject *mine, *other = NULL;
    if (graph_find_item(own, name, &mine) < 0 || (unless_own && graph_find_item(own, unless_own, &other) < 0)) return -1;
    if (mine && !(mine == Py_None && other)) return 0;
    PyObject *native = PyObject_GetAttrString((PyObject *)base, name), *current = native ? PyObject_GetAttrString((PyObject *)cls, name) : NULL;
    int status = -1;
    if (current) status = current == native ? 0 : PyObject_SetAttrString((PyObject *)cls, name, native);
    Py_XDECREF(current);
    Py_XDECREF(native);
    return status;
}

const char props_init_subclass_doc[] = "__init_subclass__($cls, /)\n--\n\nChecks __props__ and lets it decide equality, hash and text.";

PyObject *props_init_subclass(PyObject *cls, PyObject *args, PyObject *kwargs)
{
    PyObject *builtins_super = Py_NewRef((PyObject *)&PySuper_Type);
    GraphState *state = graph_state_of_type((PyTypeObject *)cls);
    PyObject *own = NULL, *up = NULL, *called = NULL, *result = NULL;
    if (!state) goto done;
    PyTypeObject *base = native_base(state, (PyTypeObject *)cls);
    up = PyObject_CallFunctionObjArgs(builtins_super, (PyObject *)base, cls, NULL);
    PyObject *method = up ? PyObject_GetAttrString(up, "__init_subclass__") : NULL;
    if (method) called = PyObject_Call(method, args, kwargs);
    Py_XDECREF(method);
    if (!called) goto done;
    own = PyObject_GetAttrString(cls, "__dict__");
    PyObject *copy = own ? PyDict_New() : NULL;
    if (copy && PyDict_Update(copy, own) < 0) Py_CLEAR(copy);
    if (!copy) goto done;
    Py_SETREF(own, copy);
    PyObject *props = PyDict_GetItemWithError(own, state->str_props);
    if (!props && PyErr_Occurred()) goto done;
    if (props && props != Py_None) {
        if (check_props(props) < 0) goto done;
        if (take_native((PyTypeObject *)cls, base, own, "__eq__", NULL) < 0 || take_native((PyTypeObject *)cls, base, own, "__str__", NULL) < 0 ||
            take_native((PyTypeObject *)cls, base, own, "__hash__", "__eq__") < 0)
            goto done;
    }
    result = Py_NewRef(Py_None);
done:
    Py_XDECREF(called);
    Py_XDECREF(up);
    Py_XDECREF(own);
    Py_DECREF(builtins_super);
    return result;
}

/* Owned: the class's __props__, or AttributeError. */
static PyObject *props_need(PyObject *self)
{
    GraphState *state = graph_state_of(self);
    PyObject *props;
    if (!state) return NULL;
    int found = find_props(state, self, &props);
    if (!found) PyErr_Format(PyExc_AttributeError, "%.200s has no __props__", Py_TYPE(self)->tp_name);
    return found > 0 ? props : NULL;
}

const char props_tuple_doc[] = "_props($self, /)\n--\n\nThe tuple of the values of __props__.";

PyObject *props_tuple(PyObject *self, PyObject *unused)
{
    PyObject *props = props_need(self);
    PyObject *values = props ? props_values(self, props) : NULL;
    Py_XDECREF(props);
    return values;
}

const char props_dict_doc[] = "_props_dict($self, /)\n--\n\nThe names of __props__ and their values, as a dict.";

PyObject *props_dict(PyObject *self, PyObject *unused)
{
    PyObject *props = props_need(self), *values = props ? props_values(self, props) : NULL, *dict = values ? PyDict_New() : NULL;
    for (Py_ssize_t i = 0; dict && i < PyTuple_GET_SIZE(props); i++)
        if (PyDict_SetItem(dict, PyTuple_GET_ITEM(props, i), PyTuple_GET_ITEM(values, i)) < 0) Py_CLEAR(dict);
    Py_XDECREF(values);
    Py_XDECREF(props);
    return dict;
}
