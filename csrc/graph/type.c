/* Type: what kind of value a Variable stands for. A subclass gives filter(), and equality by __eq__ or __props__.
 *
 * Relies on: props, variable (through the state). Relied on by: edit, clone, and the Python layers that derive from it. */
#include <stddef.h>

#include "graph/internal.h"

int types_equal(PyObject *a, PyObject *b) { return a == b ? 1 : PyObject_RichCompareBool(a, b, Py_EQ); }

/* 1, 0 or -1: the truth of a method's answer for one argument. */
static int ask(PyObject *type, const char *method, PyObject *other)
{
    PyObject *answer = PyObject_CallMethod(type, method, "(O)", other);
    int truth = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return truth;
}

int type_is_super(PyObject *type, PyObject *other) { return type == other ? 1 : ask(type, "is_super", other); }

PyObject *type_filter_variable(GraphState *state, PyObject *type, PyObject *object, bool allow_convert)
{
    if (is_variable(state, object) && as_variable(object)->type == type) return Py_NewRef(object);
    PyObject *method = PyObject_GetAttrString(type, "filter_variable");
    PyObject *args = method ? PyTuple_Pack(1, object) : NULL;
    PyObject *kwargs = args ? Py_BuildValue("{sO}", "allow_convert", allow_convert ? Py_True : Py_False) : NULL;
    PyObject *variable = kwargs ? PyObject_Call(method, args, kwargs) : NULL;
    Py_XDECREF(kwargs);
    Py_XDECREF(args);
    Py_XDECREF(method);
    if (variable && !is_variable(state, variable)) {
        PyErr_Format(PyExc_TypeError, "filter_variable of %S returned %R, which is not a Variable", type, variable);
        Py_CLEAR(variable);
    }
    return variable;
}

static PyObject *type_filter(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyErr_Format(PyExc_NotImplementedError, "%.200s must define filter(data, strict=False, allow_downcast=None)", Py_TYPE(self)->tp_name);
    return NULL;
}

static PyObject *type_in_same_class(PyObject *self, PyObject *other)
{
    int equal = types_equal(self, other);
    return equal < 0 ? NULL : PyBool_FromLong(equal);
}

static PyObject *type_is_super_method(PyObject *self, PyObject *other)
{
    int same = ask(self, "in_same_class", other);
    if (same < 0) return NULL;
    return Py_NewRef(same ? Py_True : Py_None);
}

static PyObject *type_convert_variable(PyObject *self, PyObject *variable)
{
    GraphState *state = graph_state_of(self);
    if (!state) return NULL;
    if (!is_variable(state, variable)) {
        PyErr_Format(PyExc_TypeError, "expected a Variable, got %R", variable);
        return NULL;
    }
    PyObject *other = Py_NewRef(as_variable(variable)->type), *result = NULL;
    int wider = ask(self, "is_super", other);
    int narrower = wider == 0 ? ask(other, "is_super", self) : 0;
    if (wider > 0) result = Py_NewRef(variable);
    else if (narrower > 0) PyErr_Format(PyExc_NotImplementedError, "%S cannot narrow a Variable of the wider type %S", self, other);
    else if (wider == 0 && narrower == 0) result = Py_NewRef(Py_None);
    Py_DECREF(other);
    return result;
}

static PyObject *make_constant(PyObject *self, PyObject *data, PyObject *name)
{
    PyObject *cls = PyObject_GetAttrString(self, "constant_type"), *constant = NULL;
    PyObject *args = cls ? PyTuple_New(0) : NULL;
    PyObject *kwargs = args ? Py_BuildValue("{sOsO}", "type", self, "data", data) : NULL;
    if (kwargs && (!name || name == Py_None || PyDict_SetItemString(kwargs, "name", name) == 0)) constant = PyObject_Call(cls, args, kwargs);
    Py_XDECREF(kwargs);
    Py_XDECREF(args);
    Py_XDECREF(cls);
    return constant;
}

/* Raises the sentence that says which type would not become which. */
static void raise_unlike(PyObject *self, PyObject *variable)
{
    PyErr_Format(PyExc_TypeError, "Cannot convert Type %S (of Variable %S) into Type %S. You can try to manually convert %S into a %S.",
                 as_variable(variable)->type, variable, self, variable, self);
}

static PyObject *type_filter_variable_method(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"other", "allow_convert", NULL};
    PyObject *other;
    int allow_convert = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|p:filter_variable", keywords, &other, &allow_convert)) return NULL;
    GraphState *state = graph_state_of(self);
    if (!state) return NULL;
    PyObject *variable = is_variable(state, other) ? Py_NewRef(other) : make_constant(self, other, NULL);
    if (!variable || !is_variable(state, variable)) return variable;
    int equal = types_equal(as_variable(variable)->type, self);
    if (equal == 0 && allow_convert) {
        PyObject *converted = PyObject_CallMethod(self, "convert_variable", "(O)", variable);
        if (!converted) equal = -1;
        else if (converted != Py_None) {
            Py_DECREF(variable);
            return converted;
        }
        Py_XDECREF(converted);
    }
    if (equal == 0) raise_unlike(self, variable);
    if (equal <= 0) Py_CLEAR(variable);
    return variable;
}

static PyObject *type_is_valid_value(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"data", "strict", NULL};
    PyObject *data, *strict = Py_True;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:is_valid_value", keywords, &data, &strict)) return NULL;
    PyObject *method = PyObject_GetAttrString(self, "filter"), *filtered = NULL;
    PyObject *positional = method ? PyTuple_Pack(1, data) : NULL;
    PyObject *named = positional ? Py_BuildValue("{sO}", "strict", strict) : NULL;
    if (named) filtered = PyObject_Call(method, positional, named);
    Py_XDECREF(named);
    Py_XDECREF(positional);
    Py_XDECREF(method);
    if (filtered) {
        Py_DECREF(filtered);
        Py_RETURN_TRUE;
    }
    if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError)) return NULL;
    PyErr_Clear();
    Py_RETURN_FALSE;
}

static PyObject *make_variable(PyObject *self, PyObject *name)
{
    PyObject *cls = PyObject_GetAttrString(self, "variable_type"), *variable = NULL;
    PyObject *args = cls ? PyTuple_Pack(2, self, Py_None) : NULL;
    PyObject *kwargs = args ? Py_BuildValue("{sO}", "name", name) : NULL;
    if (kwargs) variable = PyObject_Call(cls, args, kwargs);
    Py_XDECREF(kwargs);
    Py_XDECREF(args);
    Py_XDECREF(cls);
    return variable;
}

static PyObject *type_make_variable(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"name", NULL};
    PyObject *name = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:make_variable", keywords, &name)) return NULL;
    return make_variable(self, name);
}

/* Goes through make_variable, which a subclass may replace. */
static PyObject *type_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"name", NULL};
    PyObject *name = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:__call__", keywords, &name)) return NULL;
    return PyObject_CallMethod(self, "make_variable", "(O)", name);
}

static PyObject *type_make_constant(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"value", "name", NULL};
    PyObject *value, *name = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:make_constant", keywords, &value, &name)) return NULL;
    return make_constant(self, value, name);
}

static PyObject *type_clone(PyObject *self, PyObject *args, PyObject *kwargs) { return PyObject_Call((PyObject *)Py_TYPE(self), args, kwargs); }

static PyObject *type_values_eq(PyObject *cls, PyObject *args)
{
    PyObject *a, *b;
    return PyArg_ParseTuple(args, "OO:values_eq", &a, &b) ? PyObject_RichCompare(a, b, Py_EQ) : NULL;
}

static PyObject *type_values_eq_approx(PyObject *cls, PyObject *args)
{
    PyObject *a, *b;
    return PyArg_ParseTuple(args, "OO:values_eq_approx", &a, &b) ? PyObject_CallMethod(cls, "values_eq", "OO", a, b) : NULL;
}

static PyObject *type_str(PyObject *self)
{
    PyObject *text = props_text(self);
    return text || PyErr_Occurred() ? text : PyObject_Repr(self);
}

static int type_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Type *)self)->dict);
    return 0;
}

static int type_clear(PyObject *self)
{
    Py_CLEAR(((Type *)self)->dict);
    return 0;
}

static void type_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (((Type *)self)->weakrefs) PyObject_ClearWeakRefs(self);
    (void)type_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
static PyMethodDef type_methods[] = {
    {"__init_subclass__", WITH_KEYWORDS(props_init_subclass) | METH_CLASS, props_init_subclass_doc},
    {"_props", props_tuple, METH_NOARGS, props_tuple_doc},
    {"_props_dict", props_dict, METH_NOARGS, props_dict_doc},
    {"filter", WITH_KEYWORDS(type_filter), "filter($self, data, strict=False, allow_downcast=None)\n--\n\n"
     "The data as a value of this type, or TypeError. A subclass must define it."},
    {"in_same_class", type_in_same_class, METH_O, "in_same_class($self, otype, /)\n--\n\nWhether the types are of one class; here, whether they are equal."},
    {"is_super", type_is_super_method, METH_O, "is_super($self, otype, /)\n--\n\nTrue when every value of otype is one of this type, else None."},
    {"convert_variable", type_convert_variable, METH_O,
     "convert_variable($self, var, /)\n--\n\nThe variable when its type is at least as narrow as this one, else None."},
    {"filter_variable", WITH_KEYWORDS(type_filter_variable_method),
     "filter_variable($self, other, allow_convert=True)\n--\n\nThe variable (or data, as a Constant) in this type, or TypeError."},
    {"is_valid_value", WITH_KEYWORDS(type_is_valid_value), "is_valid_value($self, data, strict=True)\n--\n\nWhether filter() takes the data."},
    {"make_variable", WITH_KEYWORDS(type_make_variable), "make_variable($self, name=None)\n--\n\nA new Variable of this type."},
    {"make_constant", WITH_KEYWORDS(type_make_constant), "make_constant($self, value, name=None)\n--\n\nA Constant of this type."},
    {"clone", WITH_KEYWORDS(type_clone), "clone($self, *args, **kwargs)\n--\n\nA type of the same class made with these arguments."},
    {"values_eq", type_values_eq, METH_VARARGS | METH_CLASS, "values_eq($cls, a, b, /)\n--\n\nWhether two values are equal."},
    {"values_eq_approx", type_values_eq_approx, METH_VARARGS | METH_CLASS, "values_eq_approx($cls, a, b, /)\n--\n\nWhether two values are nearly equal."},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef type_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(Type, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Type, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyGetSetDef type_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot type_slots[] = {
    {Py_tp_doc, "Type()\n--\n\nThe kind of value that a Variable stands for. Calling a type makes a Variable."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, type_dealloc},
    {Py_tp_traverse, type_traverse},
    {Py_tp_clear, type_clear},
    {Py_tp_call, type_call},
    {Py_tp_str, type_str},
    {Py_tp_hash, props_hash},
    {Py_tp_richcompare, props_richcompare},
    {Py_tp_methods, type_methods},
    {Py_tp_members, type_members},
    {Py_tp_getset, type_getset},
    {0, NULL},
};
static PyType_Spec type_spec = {
    "pyscan._core.Type", sizeof(Type), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, type_slots};

int type_exec(PyObject *module, GraphState *state)
{
    state->Type = graph_add_type(module, &type_spec, NULL);
    return state->Type ? 0 : -1;
}
