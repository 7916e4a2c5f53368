/* Variable: a value in a graph, a leaf or one output of an Apply.
 *
 * Relies on: errors (origin), tag. Relied on by: atomic (its subclasses), apply, and every walk. */
#include <stddef.h>

#include "graph/internal.h"

int variable_traverse(PyObject *self, visitproc visit, void *arg)
{
    Variable *variable = (Variable *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(variable->type);
    Py_VISIT(variable->owner);
    Py_VISIT(variable->tag);
    Py_VISIT(variable->origin);
    Py_VISIT(variable->dict);
    return 0;
}

/* Members stay set (to None), since C code elsewhere relies on that even for a variable that the collector has cleared. */
int variable_clear(PyObject *self)
{
    Variable *variable = (Variable *)self;
    Py_XSETREF(variable->type, Py_NewRef(Py_None));
    Py_XSETREF(variable->owner, Py_NewRef(Py_None));
    Py_XSETREF(variable->origin, Py_NewRef(Py_None));
    Py_CLEAR(variable->tag);
    Py_CLEAR(variable->dict);
    return 0;
}

void variable_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Variable *variable = (Variable *)self;
    if (variable->weakrefs) PyObject_ClearWeakRefs(self);
    Py_XDECREF(variable->type);
    Py_XDECREF(variable->owner);
    Py_XDECREF(variable->index);
    Py_XDECREF(variable->name);
    Py_XDECREF(variable->tag);
    Py_XDECREF(variable->auto_name);
    Py_XDECREF(variable->origin);
    Py_XDECREF(variable->dict);
    type->tp_free(self);
    Py_DECREF(type);
}

/* A chain of variables and nodes may die link by link: the trashcan keeps the C stack flat. */
static void variable_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_TRASHCAN_BEGIN(self, variable_dealloc)
    variable_free(self);
    Py_TRASHCAN_END
}

PyObject *variable_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    GraphState *state = graph_state_of_type(type);
    if (!state) return NULL;
    PyObject *number = PyLong_FromLongLong(state->n_variables);
    if (!number) return NULL;
    Variable *self = (Variable *)type->tp_alloc(type, 0);
    if (!self) {
        Py_DECREF(number);
        return NULL;
    }
    state->n_variables++;
    self->auto_name = number;
    self->type = Py_NewRef(Py_None);
    self->owner = Py_NewRef(Py_None);
    self->index = Py_NewRef(Py_None);
    self->name = Py_NewRef(Py_None);
    self->origin = Py_NewRef(Py_None);
    return (PyObject *)self;
}

static int check_name(PyObject *name)
{
    if (name == Py_None || PyUnicode_Check(name)) return 0;
    PyErr_SetString(PyExc_TypeError, "name must be a string");
    return -1;
}

int variable_set_leaf(GraphState *state, Variable *self, PyObject *type, PyObject *name)
{
    if (check_name(name) < 0) return -1;
    PyObject *origin = origin_here(state);
    if (!origin) return -1;
    Py_XSETREF(self->origin, origin);
    Py_XSETREF(self->type, Py_NewRef(type));
    Py_XSETREF(self->name, Py_NewRef(name));
    return 0;
}

static int set_owner(PyObject *self, PyObject *owner, void *closure)
{
    GraphState *state = graph_state_of(self);
    if (!state) return -1;
    if (!owner || (owner != Py_None && !is_apply(state, owner))) {
        PyErr_SetString(PyExc_TypeError, "owner must be an Apply instance");
        return -1;
    }
    Py_XSETREF(as_variable(self)->owner, Py_NewRef(owner));
    return 0;
}

static int set_index(PyObject *self, PyObject *index, void *closure)
{
    if (!index || (index != Py_None && !PyLong_Check(index))) {
        PyErr_SetString(PyExc_TypeError, "index must be an int");
        return -1;
    }
    Py_XSETREF(as_variable(self)->index, Py_NewRef(index));
    return 0;
}

static int variable_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"type", "owner", "index", "name", NULL};
    PyObject *type, *owner, *index = Py_None, *name = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO:Variable", keywords, &type, &owner, &index, &name)) return -1;
    GraphState *state = graph_state_of(self);
    if (!state || set_owner(self, owner, NULL) < 0 || set_index(self, index, NULL) < 0 || check_name(name) < 0) return -1;
    if (owner == Py_None) return variable_set_leaf(state, as_variable(self), type, name);
    Py_XSETREF(as_variable(self)->type, Py_NewRef(type));
    Py_XSETREF(as_variable(self)->name, Py_NewRef(name));
    return 0;
}

/* Owned: `<op>.out` for the Op's declared default output, else `<op>.<index>`. */
static PyObject *computed_text(GraphState *state, Variable *self)
{
    PyObject *op = Py_NewRef(as_apply(self->owner)->op), *index = Py_NewRef(self->index), *text = NULL, *default_output;
    if (graph_lookup_attr(op, "default_output", &default_output) < 0) goto done;
    int is_default = default_output ? PyObject_RichCompareBool(index, default_output, Py_EQ) : 0;
    Py_XDECREF(default_output);
    if (is_default >= 0) text = is_default ? PyUnicode_FromFormat("%S.out", op) : PyUnicode_FromFormat("%S.%S", op, index);
done:
    Py_DECREF(index);
    Py_DECREF(op);
    return text;
}

static PyObject *variable_text(PyObject *self)
{
    Variable *variable = as_variable(self);
    GraphState *state = graph_state_of(self);
    if (!state) return NULL;
    if (variable->name != Py_None) return PyObject_Str(variable->name);
    if (owner_peek(self)) return computed_text(state, variable);
    return PyUnicode_FromFormat("<%S>", variable->type);
}

static PyObject *variable_repr(PyObject *self) { return PyObject_Str(self); }

static PyObject *variable_richcompare(PyObject *self, PyObject *other, int compare)
{
    static const char *const names[] = {"__lt__", "__le__", NULL, NULL, "__gt__", "__ge__"};
    if (compare == Py_EQ || compare == Py_NE) return PyBaseObject_Type.tp_richcompare(self, other, compare);
    PyObject *message = PyUnicode_FromFormat("Subclasses of Variable must provide %s", names[compare]), *name = message ? PyType_GetName(Py_TYPE(self)) : NULL;
    PyObject *args = name ? PyTuple_Pack(2, message, name) : NULL;
    if (args) PyErr_SetObject(PyExc_NotImplementedError, args);
    Py_XDECREF(args);
    Py_XDECREF(name);
    Py_XDECREF(message);
    return NULL;
}

static Py_hash_t variable_hash(PyObject *self) { return PyBaseObject_Type.tp_hash(self); }

/* Whether a plain allocation makes the same object as a call of the class. */
static bool has_native_init(GraphState *state, PyObject *self)
{
    return Py_TYPE(self)->tp_init == state->Variable->tp_init && Py_TYPE(self)->tp_new == state->Variable->tp_new;
}

static PyObject *clone_natively(GraphState *state, PyObject *self, PyObject *name)
{
    PyObject *copy = variable_new(Py_TYPE(self), NULL, NULL);
    if (!copy) return NULL;
    Py_XSETREF(as_variable(copy)->type, Py_NewRef(as_variable(self)->type));
    Py_XSETREF(as_variable(copy)->name, Py_NewRef(name));
    return copy;
}

static PyObject *clone_by_call(PyObject *self, PyObject *name, PyObject *others)
{
    PyObject *args = PyTuple_New(0);
    PyObject *kwargs = Py_BuildValue("{sOsOsOsO}", "type", as_variable(self)->type, "owner", Py_None, "index", Py_None, "name", name);
    PyObject *copy = NULL;
    if (args && kwargs && (!others || PyDict_Update(kwargs, others) == 0)) copy = PyObject_Call((PyObject *)Py_TYPE(self), args, kwargs);
    Py_XDECREF(kwargs);
    Py_XDECREF(args);
    return copy;
}

static PyObject *variable_clone(PyObject *self, PyObject *args, PyObject *kwargs)
{
    if (!PyArg_ParseTuple(args, ":clone")) return NULL;
    GraphState *state = graph_state_of(self);
    if (!state) return NULL;
    PyObject *name = NULL;
    if (kwargs && graph_find_item(kwargs, "name", &name) < 0) return NULL;
    bool has_others = kwargs && PyDict_GET_SIZE(kwargs) > (name ? 1 : 0);
    if (!name) name = as_variable(self)->name;
    if (check_name(name) < 0) return NULL;
    Py_INCREF(name);
    PyObject *copy = has_native_init(state, self) && !has_others ? clone_natively(state, self, name) : clone_by_call(self, name, kwargs);
    Py_DECREF(name);
    if (!copy || !is_variable(state, copy)) return copy;
    Py_XSETREF(as_variable(copy)->origin, Py_NewRef(as_variable(self)->origin));
    PyObject *tag;
    if (tag_copy(state, as_variable(self)->tag, &tag) < 0) Py_CLEAR(copy);
    else if (tag) Py_XSETREF(as_variable(copy)->tag, tag);
    return copy;
}

PyObject *variable_clone_new(GraphState *state, PyObject *variable)
{
    PyObject *copy = PyObject_CallMethod(variable, "clone", NULL);
    if (copy && !is_variable(state, copy)) {
        PyErr_Format(PyExc_TypeError, "clone() of %R returned %R, which is not a Variable", variable, copy);
        Py_CLEAR(copy);
    }
    return copy;
}

int graph_read_integer(PyObject *constant, Py_ssize_t *integer)
{
    PyObject *number = PyNumber_Index(((Constant *)constant)->data);

    if (number != NULL) {
        *integer = PyLong_AsSsize_t(number);
        Py_DECREF(number);
        if (*integer != -1 || !PyErr_Occurred()) return 1;
    }
    if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_OverflowError)) return -1;
    PyErr_Clear(); /* an array, a float, a bool; an unsigned number that no length has */
    return 0;
}

static PyObject *variable_get_test_value(PyObject *self, PyObject *unused)
{
    PyObject *module = PyImport_ImportModule("pyscan.graph");
    PyObject *value = module ? PyObject_CallMethod(module, "get_test_value", "O", self) : NULL;
    Py_XDECREF(module);
    return value;
}

static PyObject *variable_get_parents(PyObject *self, PyObject *unused)
{
    PyObject *owner = owner_peek(self);
    return owner ? Py_BuildValue("[O]", owner) : PyList_New(0);
}

/* Owned: the keys in an order that does not depend on how the dict was built. */
static PyObject *keys_by_identity(PyObject *dict)
{
    PyObject *keys = PyDict_Keys(dict);
    for (Py_ssize_t i = 1; keys && i < PyList_GET_SIZE(keys); i++)
        for (Py_ssize_t j = i; j > 0 && PyList_GET_ITEM(keys, j - 1) > PyList_GET_ITEM(keys, j); j--) {
            PyObject *other = PyList_GET_ITEM(keys, j - 1);
            PyList_SET_ITEM(keys, j - 1, PyList_GET_ITEM(keys, j));
            PyList_SET_ITEM(keys, j, other);
        }
    PyObject *tuple = keys ? PyList_AsTuple(keys) : NULL;
    Py_XDECREF(keys);
    return tuple;
}

/* Owned: the compiled function of these inputs, made on first use. */
static PyObject *function_for(PyObject *self, PyObject *inputs)
{
    PyObject *cache, *function = NULL, *package = NULL, *compile = NULL;
    int found = graph_lookup_attr(self, "_fn_cache", &cache);
    if (found < 0) return NULL;
    if (!found && (!(cache = PyDict_New()) || PyObject_SetAttrString(self, "_fn_cache", cache) < 0)) goto done;
    function = Py_XNewRef(PyDict_GetItemWithError(cache, inputs));
    if (function || PyErr_Occurred()) goto done;
    if (!(package = PyImport_ImportModule("pyscan")) || !(compile = PyObject_GetAttrString(package, "function"))) goto done;
    PyObject *list = PySequence_List(inputs);
    function = list ? PyObject_CallFunctionObjArgs(compile, list, self, NULL) : NULL;
    Py_XDECREF(list);
    if (function && PyDict_SetItem(cache, inputs, function) < 0) Py_CLEAR(function);
done:
    Py_XDECREF(compile);
    Py_XDECREF(package);
    Py_XDECREF(cache);
    return function;
}

static PyObject *variable_eval(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"inputs_to_values", NULL};
    PyObject *given = Py_None, *values = NULL, *inputs = NULL, *list = NULL, *function = NULL, *result = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:eval", keywords, &given)) return NULL;
    values = PyDict_New();
    if (!values || (given != Py_None && PyDict_Update(values, given) < 0)) goto done;
    if (!(inputs = keys_by_identity(values)) || !(function = function_for(self, inputs))) goto done;
    list = PyTuple_New(PyTuple_GET_SIZE(inputs));
    for (Py_ssize_t i = 0; list && i < PyTuple_GET_SIZE(inputs); i++) {
        PyObject *value = PyDict_GetItemWithError(values, PyTuple_GET_ITEM(inputs, i));
        if (!value) goto done;
        PyTuple_SET_ITEM(list, i, Py_NewRef(value));
    }
    if (list) result = PyObject_Call(function, list, NULL);
done:
    Py_XDECREF(function);
    Py_XDECREF(list);
    Py_XDECREF(inputs);
    Py_XDECREF(values);
    return result;
}

static PyObject *get_member(PyObject *self, void *offset) { return Py_NewRef(*(PyObject **)((char *)self + (size_t)offset)); }

static int set_type(PyObject *self, PyObject *type, void *closure)
{
    if (!type) {
        PyErr_SetString(PyExc_AttributeError, "a Variable's type cannot be deleted");
        return -1;
    }
    Py_XSETREF(as_variable(self)->type, Py_NewRef(type));
    return 0;
}

static int set_name(PyObject *self, PyObject *name, void *closure)
{
    if (!name) name = Py_None;
    if (check_name(name) < 0) return -1;
    Py_XSETREF(as_variable(self)->name, Py_NewRef(name));
    return 0;
}

static PyObject *get_tag(PyObject *self, void *closure)
{
    Variable *variable = as_variable(self);
    if (!variable->tag) {
        GraphState *state = graph_state_of(self);
        if (!state || !(variable->tag = tag_new(state))) return NULL;
    }
    return Py_NewRef(variable->tag);
}

static int set_tag(PyObject *self, PyObject *tag, void *closure)
{
    Py_XSETREF(as_variable(self)->tag, Py_XNewRef(tag));
    return 0;
}

static PyObject *get_auto_name(PyObject *self, void *closure)
{
    Variable *variable = as_variable(self);
    if (PyLong_Check(variable->auto_name)) {
        PyObject *text = PyUnicode_FromFormat("auto_%S", variable->auto_name);
        if (!text) return NULL;
        Py_SETREF(variable->auto_name, text);
    }
    return Py_NewRef(variable->auto_name);
}

static int set_auto_name(PyObject *self, PyObject *text, void *closure)
{
    if (!text || !PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "auto_name must be a string");
        return -1;
    }
    Py_XSETREF(as_variable(self)->auto_name, Py_NewRef(text));
    return 0;
}

#define OFFSET(member) ((void *)offsetof(Variable, member))
static PyGetSetDef variable_getset[] = {
    {"type", get_member, set_type, "the kind of value", OFFSET(type)},
    {"owner", get_member, set_owner, "the Apply that computes it, or None", OFFSET(owner)},
    {"index", get_member, set_index, "its place among the owner's outputs, or None", OFFSET(index)},
    {"name", get_member, set_name, "a str for messages and listings, or None", OFFSET(name)},
    {"tag", get_tag, set_tag, "a scratchpad for attributes", NULL},
    {"auto_name", get_auto_name, set_auto_name, "`auto_<n>`, with a number of its own", NULL},
    {"origin", get_member, NULL, "(file, line) of the user's code that made this leaf, or None", OFFSET(origin)},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
static PyMethodDef variable_methods[] = {
    {"clone", WITH_KEYWORDS(variable_clone), "clone($self, **kwargs)\n--\n\nA copy without an owner, of the same type, name (unless name= says otherwise) and tag."},
    {"eval", WITH_KEYWORDS(variable_eval),
     "eval($self, inputs_to_values=None)\n--\n\nThe value, with these values for the inputs; compiles once per set of inputs."},
    {"get_test_value", variable_get_test_value, METH_NOARGS,
     "get_test_value($self, /)\n--\n\nThe value of a constant or shared variable, or what stands at tag.test_value; TestValueError where there is none."},
    {"get_parents", variable_get_parents, METH_NOARGS, "get_parents($self, /)\n--\n\n[owner], or an empty list."},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef variable_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(Variable, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Variable, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot variable_slots[] = {
    {Py_tp_doc, "Variable(type, owner, index=None, name=None)\n--\n\nA value in a graph: a leaf (owner None) or an output of an Apply."},
    {Py_tp_new, variable_new},
    {Py_tp_init, variable_init},
    {Py_tp_dealloc, variable_dealloc},
    {Py_tp_traverse, variable_traverse},
    {Py_tp_clear, variable_clear},
    {Py_tp_str, variable_text},
    {Py_tp_repr, variable_repr},
    {Py_tp_hash, variable_hash},
    {Py_tp_richcompare, variable_richcompare},
    {Py_tp_methods, variable_methods},
    {Py_tp_members, variable_members},
    {Py_tp_getset, variable_getset},
    {0, NULL},
};
static PyType_Spec variable_spec = {"pyscan._core.Variable", sizeof(Variable), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, variable_slots};

int variable_exec(PyObject *module, GraphState *state)
{
    state->Variable = graph_add_type(module, &variable_spec, NULL);
    return state->Variable ? 0 : -1;
}
