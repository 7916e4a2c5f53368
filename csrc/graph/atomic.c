/* The variables that nothing computes and no graph counts as inputs: AtomicVariable, Constant, NominalVariable; and
 * SharedVariable, a leaf whose value lives in a Container.
 *
 * Relies on: variable, tag, type. Relied on by: clone, equal, the Python layers. */
#include <stddef.h>

#include "graph/internal.h"

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

/* --- AtomicVariable --- */

static int atomic_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"type", "name", NULL};
    PyObject *type, *name = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:AtomicVariable", keywords, &type, &name)) return -1;
    GraphState *state = graph_state_of(self);
    return state ? variable_set_leaf(state, as_variable(self), type, name) : -1;
}

static PyObject *get_none(PyObject *self, void *closure) { Py_RETURN_NONE; }

static int refuse_owner(PyObject *self, PyObject *value, void *what)
{
    if (value == Py_None) return 0;
    GraphState *state = graph_state_of(self);
    if (state)
        PyErr_Format(PyExc_ValueError, "%s instances cannot have an %s.", is_constant(state, self) ? "Constant" : "AtomicVariable", (const char *)what);
    return -1;
}

static PyObject *atomic_signature(PyObject *self, PyObject *unused)
{
    PyErr_Format(PyExc_NotImplementedError, "%.200s must define signature()", Py_TYPE(self)->tp_name);
    return NULL;
}

static PyObject *atomic_merge_signature(PyObject *self, PyObject *unused) { return PyObject_CallMethod(self, "signature", NULL); }

static PyObject *atomic_equals(PyObject *self, PyObject *other)
{
    if (self == other) Py_RETURN_TRUE;
    int fits = PyObject_IsInstance(other, (PyObject *)Py_TYPE(self));
    if (fits <= 0) return fits < 0 ? NULL : Py_NewRef(Py_False);
    PyObject *mine = PyObject_CallMethod(self, "signature", NULL), *theirs = mine ? PyObject_CallMethod(other, "signature", NULL) : NULL;
    int equal = theirs ? PyObject_RichCompareBool(mine, theirs, Py_EQ) : -1;
    Py_XDECREF(theirs);
    Py_XDECREF(mine);
    return equal < 0 ? NULL : PyBool_FromLong(equal);
}

static PyObject *atomic_clone(PyObject *self, PyObject *args, PyObject *kwargs)
{
    if (!PyArg_ParseTuple(args, ":clone")) return NULL;
    GraphState *state = graph_state_of(self);
    PyObject *named = state ? Py_BuildValue("{sOsO}", "type", as_variable(self)->type, "name", as_variable(self)->name) : NULL;
    PyObject *empty = named ? PyTuple_New(0) : NULL, *copy = NULL, *tag;
    if (empty && (!kwargs || PyDict_Update(named, kwargs) == 0)) copy = PyObject_Call((PyObject *)Py_TYPE(self), empty, named);
    Py_XDECREF(empty);
    Py_XDECREF(named);
    if (!copy || !is_variable(state, copy)) return copy;
    if (tag_copy(state, as_variable(self)->tag, &tag) < 0) Py_CLEAR(copy);
    else if (tag) Py_XSETREF(as_variable(copy)->tag, tag);
    return copy;
}

static PyGetSetDef atomic_getset[] = {
    {"owner", get_none, refuse_owner, "None, always", "owner"},
    {"index", get_none, refuse_owner, "None, always", "index"},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef atomic_methods[] = {
    {"signature", atomic_signature, METH_NOARGS, "signature($self, /)\n--\n\nWhat equals() compares."},
    {"merge_signature", atomic_merge_signature, METH_NOARGS, "merge_signature($self, /)\n--\n\nsignature(), unless a class knows a coarser one."},
    {"equals", atomic_equals, METH_O, "equals($self, other, /)\n--\n\nWhether the other is of this class with an equal signature; == is identity."},
    {"clone", WITH_KEYWORDS(atomic_clone), "clone($self, **kwargs)\n--\n\nA copy of the same type and name."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot atomic_slots[] = {
    {Py_tp_doc, "AtomicVariable(type, name=None)\n--\n\nA Variable without ancestors that is never an input of a graph."},
    {Py_tp_init, atomic_init},
    {Py_tp_methods, atomic_methods},
    {Py_tp_getset, atomic_getset},
    {0, NULL},
};
static PyType_Spec atomic_spec = {"pyscan._core.AtomicVariable", sizeof(Variable), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, atomic_slots};

/* --- Constant --- */

static PyObject *constant_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *self = variable_new(type, args, kwargs);
    if (self) ((Constant *)self)->data = Py_NewRef(Py_None);
    return self;
}

static int constant_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"type", "data", "name", NULL};
    PyObject *type, *data, *name = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O:Constant", keywords, &type, &data, &name)) return -1;
    GraphState *state = graph_state_of(self);
    if (!state || variable_set_leaf(state, as_variable(self), type, name) < 0) return -1;
    PyObject *filtered = PyObject_CallMethod(type, "filter", "(O)", data);
    if (!filtered) return -1;
    Py_XSETREF(((Constant *)self)->data, filtered);
    return 0;
}

static int constant_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Constant *)self)->data);
    return variable_traverse(self, visit, arg);
}

static int constant_clear(PyObject *self)
{
    Py_XSETREF(((Constant *)self)->data, Py_NewRef(Py_None));
    return variable_clear(self);
}

static void constant_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_CLEAR(((Constant *)self)->data);
    variable_free(self);
}

/* Owned: the data's text, by the type when it has a word in it. */
static PyObject *constant_data_text(PyObject *self)
{
    PyObject *method, *text;
    int found = graph_lookup_attr(as_variable(self)->type, "constant_text", &method);
    if (found < 0) return NULL;
    text = found ? PyObject_CallOneArg(method, ((Constant *)self)->data) : PyObject_Str(((Constant *)self)->data);
    Py_XDECREF(method);
    return text;
}

static PyObject *constant_str(PyObject *self)
{
    enum { LONGEST = 20, KEPT = 10 };
    if (as_variable(self)->name != Py_None) return PyObject_Str(as_variable(self)->name);
    PyObject *name = PyType_GetName(Py_TYPE(self)), *text = name ? constant_data_text(self) : NULL, *result = NULL;
    if (text && !PyUnicode_Check(text)) {
        PyErr_Format(PyExc_TypeError, "constant_text of %S must return a str, not %R", as_variable(self)->type, text);
    } else if (text && PyUnicode_GET_LENGTH(text) > LONGEST) {
        Py_ssize_t n = PyUnicode_GET_LENGTH(text);
        PyObject *head = PyUnicode_Substring(text, 0, KEPT), *tail = PyUnicode_Substring(text, n - KEPT, n);
        if (head && tail) result = PyUnicode_FromFormat("%U{%U...%U}", name, head, tail);
        Py_XDECREF(head);
        Py_XDECREF(tail);
    } else if (text) {
        result = PyUnicode_FromFormat("%U{%U}", name, text);
    }
    Py_XDECREF(text);
    Py_XDECREF(name);
    return result;
}

static PyObject *constant_clone(PyObject *self, PyObject *args, PyObject *kwargs) { return Py_NewRef(self); }

static PyObject *constant_signature(PyObject *self, PyObject *unused) { return PyTuple_Pack(2, as_variable(self)->type, ((Constant *)self)->data); }

static PyObject *constant_equals(PyObject *self, PyObject *other)
{
    GraphState *state = graph_state_of(self);
    if (!state) return NULL;
    if (!is_constant(state, other)) Py_RETURN_FALSE;
    int equal = graph_constants_equal(self, other);
    return equal < 0 ? NULL : PyBool_FromLong(equal);
}

static PyObject *constant_get_data(PyObject *self, void *closure) { return Py_NewRef(((Constant *)self)->data); }

static int constant_set_data(PyObject *self, PyObject *data, void *closure)
{
    if (!data) {
        PyErr_SetString(PyExc_AttributeError, "a Constant's data cannot be deleted");
        return -1;
    }
    Py_XSETREF(((Constant *)self)->data, Py_NewRef(data));
    return 0;
}

static PyMethodDef constant_methods[] = {
    {"clone", WITH_KEYWORDS(constant_clone), "clone($self, **kwargs)\n--\n\nThe constant itself."},
    {"signature", constant_signature, METH_NOARGS, "signature($self, /)\n--\n\n(type, data)."},
    {"equals", constant_equals, METH_O, "equals($self, other, /)\n--\n\nWhether type and data are equal, bit for bit: NaN equals NaN, 0.0 differs from -0.0."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef constant_getset[] = {
    {"data", constant_get_data, constant_set_data, "the value, filtered by the type", NULL},
    {"value", constant_get_data, NULL, "the value", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot constant_slots[] = {
    {Py_tp_doc, "Constant(type, data, name=None)\n--\n\nA Variable with a fixed value."},
    {Py_tp_new, constant_new},
    {Py_tp_init, constant_init},
    {Py_tp_dealloc, constant_dealloc},
    {Py_tp_traverse, constant_traverse},
    {Py_tp_clear, constant_clear},
    {Py_tp_str, constant_str},
    {Py_tp_methods, constant_methods},
    {Py_tp_getset, constant_getset},
    {0, NULL},
};
static PyType_Spec constant_spec = {"pyscan._core.Constant", sizeof(Constant), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, constant_slots};

/* --- NominalVariable --- */

/* Owned: the class Nominal<X> for a type whose variables are of class X, so that a nominal tensor has a tensor's operators. */
static PyObject *nominal_class(GraphState *state, PyTypeObject *cls, PyObject *variable_type)
{
    PyObject *key = PyTuple_Pack(2, cls, variable_type), *made = NULL, *name = NULL, *module = NULL;
    if (!key) return NULL;
    made = Py_XNewRef(PyDict_GetItemWithError(state->nominal_classes, key));
    if (made || PyErr_Occurred()) goto done;
    if (!PyType_Check(variable_type)) {
        PyErr_Format(PyExc_TypeError, "variable_type must be a class, not %R", variable_type);
        goto done;
    }
    name = PyType_GetName((PyTypeObject *)variable_type);
    module = PyObject_GetAttrString((PyObject *)cls, "__module__");
    bool is_plain = PyType_IsSubtype(cls, (PyTypeObject *)variable_type); /* then the class itself has all that X has */
    PyObject *bases = is_plain ? PyTuple_Pack(1, cls) : PyTuple_Pack(2, cls, variable_type);
    if (name && module && bases)
        made = PyObject_CallFunction((PyObject *)Py_TYPE(variable_type), "NO{sO}", PyUnicode_FromFormat("Nominal%U", name), bases, "__module__", module);
    Py_XDECREF(bases);
    if (made && PyDict_SetItem(state->nominal_classes, key, made) < 0) Py_CLEAR(made);
done:
    Py_XDECREF(module);
    Py_XDECREF(name);
    Py_DECREF(key);
    return made;
}

/* Owned: a new nominal variable, not in the cache yet. */
static PyObject *nominal_make(GraphState *state, PyTypeObject *cls, PyObject *id, PyObject *type, PyObject *name)
{
    PyObject *variable_type = PyObject_GetAttrString(type, "variable_type");
    PyObject *made = variable_type ? nominal_class(state, cls, variable_type) : NULL;
    PyObject *self = made ? variable_new((PyTypeObject *)made, NULL, NULL) : NULL;
    if (self) {
        ((NominalVariable *)self)->id = Py_NewRef(id);
        if (variable_set_leaf(state, as_variable(self), type, name) < 0) Py_CLEAR(self);
    }
    Py_XDECREF(made);
    Py_XDECREF(variable_type);
    return self;
}

static PyObject *nominal_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"id", "typ", "name", NULL};
    PyObject *id, *type, *name = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O:NominalVariable", keywords, &id, &type, &name)) return NULL;
    GraphState *state = graph_state_of_type(cls);
    PyObject *key = state ? PyTuple_Pack(2, type, id) : NULL;
    if (!key) return NULL;
    PyObject *self = Py_XNewRef(PyDict_GetItemWithError(state->nominal_cache, key));
    if (!self && !PyErr_Occurred()) {
        self = nominal_make(state, cls, id, type, name);
        if (self && PyDict_SetItem(state->nominal_cache, key, self) < 0) Py_CLEAR(self);
    }
    Py_DECREF(key);
    return self;
}

/* The variable is whole when __new__ gives it out; a second construction must not change the first one's. */
static int nominal_init(PyObject *self, PyObject *args, PyObject *kwargs) { return 0; }

static int nominal_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((NominalVariable *)self)->id);
    return variable_traverse(self, visit, arg);
}

static int nominal_clear(PyObject *self)
{
    Py_XSETREF(((NominalVariable *)self)->id, Py_NewRef(Py_None));
    return variable_clear(self);
}

static void nominal_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_CLEAR(((NominalVariable *)self)->id);
    variable_free(self);
}

static PyObject *nominal_str(PyObject *self)
{
    PyObject *cls = PyObject_GetAttrString(as_variable(self)->type, "variable_type");
    PyObject *text = cls ? PyObject_CallMethod(cls, "__str__", "(O)", self) : NULL;
    PyObject *result = text ? PyUnicode_FromFormat("*%S-%S", ((NominalVariable *)self)->id, text) : NULL;
    Py_XDECREF(text);
    Py_XDECREF(cls);
    return result;
}

static PyObject *nominal_repr(PyObject *self)
{
    PyObject *name = PyType_GetName(Py_TYPE(self));
    PyObject *text = name ? PyUnicode_FromFormat("%U(%R, %R)", name, ((NominalVariable *)self)->id, as_variable(self)->type) : NULL;
    Py_XDECREF(name);
    return text;
}

static PyObject *nominal_clone(PyObject *self, PyObject *args, PyObject *kwargs) { return Py_NewRef(self); }

static PyObject *nominal_signature(PyObject *self, PyObject *unused) { return PyTuple_Pack(2, as_variable(self)->type, ((NominalVariable *)self)->id); }

static PyObject *nominal_reduce(PyObject *self, PyObject *unused)
{
    GraphState *state = graph_state_of(self);
    return state ? Py_BuildValue("O(OO)", state->NominalVariable, ((NominalVariable *)self)->id, as_variable(self)->type) : NULL;
}

static PyMethodDef nominal_methods[] = {
    {"clone", WITH_KEYWORDS(nominal_clone), "clone($self, **kwargs)\n--\n\nThe variable itself: there is one per type and id."},
    {"signature", nominal_signature, METH_NOARGS, "signature($self, /)\n--\n\n(type, id)."},
    {"__reduce_ex__", nominal_reduce, METH_O, NULL},
    {"__reduce__", nominal_reduce, METH_NOARGS, NULL},
    {"__copy__", WITH_KEYWORDS(nominal_clone), NULL},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef nominal_members[] = {
    {"id", T_OBJECT, offsetof(NominalVariable, id), READONLY, "the place that the variable stands for"},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot nominal_slots[] = {
    {Py_tp_doc, "NominalVariable(id, typ, name=None)\n--\n\nA place in an inner graph, the same object for the same type and id."},
    {Py_tp_new, nominal_new},
    {Py_tp_init, nominal_init},
    {Py_tp_dealloc, nominal_dealloc},
    {Py_tp_traverse, nominal_traverse},
    {Py_tp_clear, nominal_clear},
    {Py_tp_str, nominal_str},
    {Py_tp_repr, nominal_repr},
    {Py_tp_methods, nominal_methods},
    {Py_tp_members, nominal_members},
    {0, NULL},
};
static PyType_Spec nominal_spec = {"pyscan._core.NominalVariable", sizeof(NominalVariable), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, nominal_slots};

/* --- SharedVariable --- */

static PyObject *shared_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *self = variable_new(type, args, kwargs);
    if (self) {
        ((SharedVariable *)self)->container = Py_NewRef(Py_None);
        ((SharedVariable *)self)->default_update = Py_NewRef(Py_None);
    }
    return self;
}

static int shared_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"type", "container", "name", NULL};
    PyObject *type, *container, *name = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O:SharedVariable", keywords, &type, &container, &name)) return -1;
    GraphState *state = graph_state_of(self);
    if (!state || variable_set_leaf(state, as_variable(self), type, name) < 0) return -1;
    Py_XSETREF(((SharedVariable *)self)->container, Py_NewRef(container));
    return 0;
}

static int shared_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((SharedVariable *)self)->container);
    Py_VISIT(((SharedVariable *)self)->default_update);
    return variable_traverse(self, visit, arg);
}

static int shared_clear(PyObject *self)
{
    Py_XSETREF(((SharedVariable *)self)->container, Py_NewRef(Py_None));
    Py_XSETREF(((SharedVariable *)self)->default_update, Py_NewRef(Py_None));
    return variable_clear(self);
}

static void shared_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_TRASHCAN_BEGIN(self, shared_dealloc)
    Py_CLEAR(((SharedVariable *)self)->container);
    Py_CLEAR(((SharedVariable *)self)->default_update);
    variable_free(self);
    Py_TRASHCAN_END
}

/* The copy stands for the same value: it shares the container. Its class's constructor is not called. */
static PyObject *shared_clone(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"name", NULL};
    PyObject *name = as_variable(self)->name, *tag;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:clone", keywords, &name)) return NULL;
    GraphState *state = graph_state_of(self);
    PyObject *copy = state ? shared_new(Py_TYPE(self), NULL, NULL) : NULL;
    if (!copy) return NULL;
    SharedVariable *mine = (SharedVariable *)self, *theirs = (SharedVariable *)copy;
    Py_XSETREF(theirs->container, Py_NewRef(mine->container));
    Py_XSETREF(theirs->default_update, Py_NewRef(mine->default_update));
    if (variable_set_leaf(state, &theirs->variable, mine->variable.type, name) < 0) goto fail;
    Py_XSETREF(theirs->variable.origin, Py_NewRef(mine->variable.origin));
    if (mine->variable.dict && !(theirs->variable.dict = PyDict_Copy(mine->variable.dict))) goto fail;
    if (tag_copy(state, mine->variable.tag, &tag) < 0) goto fail;
    if (tag) Py_XSETREF(theirs->variable.tag, tag);
    return copy;
fail:
    Py_DECREF(copy);
    return NULL;
}

static int shared_set_default_update(PyObject *self, PyObject *value, void *closure)
{
    PyObject *update = NULL;
    if (!value || value == Py_None) {
        update = Py_NewRef(Py_None);
    } else {
        GraphState *state = graph_state_of(self);
        update = state ? type_filter_variable(state, as_variable(self)->type, value, true) : NULL;
    }
    if (!update) return -1;
    Py_XSETREF(((SharedVariable *)self)->default_update, update);
    return 0;
}

static PyObject *shared_get_default_update(PyObject *self, void *closure) { return Py_NewRef(((SharedVariable *)self)->default_update); }

static PyMethodDef shared_methods[] = {
    {"clone", WITH_KEYWORDS(shared_clone), "clone($self, name=None)\n--\n\nA variable that shares the container."},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef shared_members[] = {
    {"container", T_OBJECT, offsetof(SharedVariable, container), 0, "the Container that holds the value"},
    {NULL, 0, 0, 0, NULL},
};
static PyGetSetDef shared_getset[] = {
    {"default_update", shared_get_default_update, shared_set_default_update, "the Variable that replaces the value after a call, or None", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot shared_slots[] = {
    {Py_tp_doc, "SharedVariable(type, container, name=None)\n--\n\nA leaf whose value is kept between calls, in a Container that functions share."},
    {Py_tp_new, shared_new},
    {Py_tp_init, shared_init},
    {Py_tp_dealloc, shared_dealloc},
    {Py_tp_traverse, shared_traverse},
    {Py_tp_clear, shared_clear},
    {Py_tp_methods, shared_methods},
    {Py_tp_members, shared_members},
    {Py_tp_getset, shared_getset},
    {0, NULL},
};
static PyType_Spec shared_spec = {"pyscan._core.SharedVariable", sizeof(SharedVariable), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, shared_slots};

int atomic_exec(PyObject *module, GraphState *state)
{
    if (!(state->AtomicVariable = graph_add_type(module, &atomic_spec, (PyObject *)state->Variable))) return -1;
    if (!(state->Constant = graph_add_type(module, &constant_spec, (PyObject *)state->AtomicVariable))) return -1;
    if (!(state->NominalVariable = graph_add_type(module, &nominal_spec, (PyObject *)state->AtomicVariable))) return -1;
    state->SharedVariable = graph_add_type(module, &shared_spec, (PyObject *)state->Variable);
    return state->SharedVariable ? 0 : -1;
}
