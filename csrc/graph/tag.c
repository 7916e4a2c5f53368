/* The scratchpad behind `tag`: an object on which anybody may leave attributes.
 *
 * Relies on: state. Relied on by: variable, apply. */
#include <stddef.h>

#include "graph/internal.h"

typedef struct Scratchpad {
    PyObject_HEAD
    PyObject *dict, *weakrefs;
} Scratchpad;

static int tag_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Scratchpad *)self)->dict);
    return 0;
}

static int tag_clear_refs(PyObject *self)
{
    Py_CLEAR(((Scratchpad *)self)->dict);
    return 0;
}

static void tag_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (((Scratchpad *)self)->weakrefs) PyObject_ClearWeakRefs(self);
    (void)tag_clear_refs(self);
    type->tp_free(self);
    Py_DECREF(type);
}

/* Lent. */
static PyObject *tag_dict(PyObject *self)
{
    Scratchpad *tag = (Scratchpad *)self;
    if (!tag->dict) tag->dict = PyDict_New();
    return tag->dict;
}

static PyObject *tag_repr(PyObject *self)
{
    PyObject *dict = tag_dict(self);
    return dict ? PyUnicode_FromFormat("scratchpad%R", dict) : NULL;
}

static PyObject *tag_wipe(PyObject *self, PyObject *unused)
{
    PyObject *dict = tag_dict(self);
    if (!dict) return NULL;
    PyDict_Clear(dict);
    Py_RETURN_NONE;
}

static PyObject *tag_update(PyObject *self, PyObject *other)
{
    PyObject *theirs = PyObject_GenericGetDict(other, NULL);
    PyObject *ours = theirs ? tag_dict(self) : NULL;
    int status = ours ? PyDict_Update(ours, theirs) : -1;
    Py_XDECREF(theirs);
    return status < 0 ? NULL : Py_NewRef(self);
}

static PyMethodDef tag_methods[] = {
    {"clear", tag_wipe, METH_NOARGS, "clear($self, /)\n--\n\nForget every attribute."},
    {"__update__", tag_update, METH_O, "__update__($self, other, /)\n--\n\nTake over the attributes of another scratchpad; returns self."},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef tag_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(Scratchpad, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Scratchpad, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyGetSetDef tag_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot tag_slots[] = {
    {Py_tp_doc, "Scratchpad()\n--\n\nAn object for attributes that anybody may leave on a variable or a node."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, tag_dealloc},
    {Py_tp_traverse, tag_traverse},
    {Py_tp_clear, tag_clear_refs},
    {Py_tp_repr, tag_repr},
    {Py_tp_methods, tag_methods},
    {Py_tp_members, tag_members},
    {Py_tp_getset, tag_getset},
    {0, NULL},
};
static PyType_Spec tag_spec = {
    "pyscan._core.Scratchpad", sizeof(Scratchpad), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, tag_slots};

PyObject *tag_new(GraphState *state) { return PyObject_CallNoArgs((PyObject *)state->Scratchpad); }

int tag_copy(GraphState *state, PyObject *tag, PyObject **copy)
{
    *copy = NULL;
    if (!tag) return 0;
    PyObject *fresh;
    if (Py_IS_TYPE(tag, state->Scratchpad)) {
        fresh = tag_new(state);
        PyObject *theirs = fresh ? tag_dict(tag) : NULL, *ours = theirs ? tag_dict(fresh) : NULL;
        if (!ours || PyDict_Update(ours, theirs) < 0) Py_CLEAR(fresh);
    } else { /* a user's own object in the place of the tag */
        PyObject *module = PyImport_ImportModule("copy");
        fresh = module ? PyObject_CallMethod(module, "copy", "(O)", tag) : NULL;
        Py_XDECREF(module);
    }
    *copy = fresh;
    return fresh ? 0 : -1;
}

/* 0 or -1: appends to the list under that name in the dict, which is made with the first. */
static int append_to(PyObject *dict, const char *name, PyObject *item)
{
    PyObject *list, *fresh;
    int found = graph_find_item(dict, name, &list);
    if (found > 0 && PyList_Check(list)) return PyList_Append(list, item);
    if (found < 0 || !(fresh = Py_BuildValue("[O]", item))) return -1;
    int status = PyDict_SetItemString(dict, name, fresh);
    Py_DECREF(fresh);
    return status;
}

int tag_note(GraphState *state, PyObject **tag, const char *name, PyObject *reason)
{
    if (PyUnicode_Check(reason) && PyUnicode_CompareWithASCIIString(reason, "init") == 0) return 0;
    if (!*tag && !(*tag = tag_new(state))) return -1;
    if (!Py_IS_TYPE(*tag, state->Scratchpad)) return 0; /* a user's own object */
    PyObject *text = PyObject_Str(reason), *dict = text ? tag_dict(*tag) : NULL;
    int status = dict ? append_to(dict, name, text) : -1;
    Py_XDECREF(text);
    return status;
}

int tag_exec(PyObject *module, GraphState *state)
{
    state->Scratchpad = graph_add_type(module, &tag_spec, NULL);
    return state->Scratchpad ? 0 : -1;
}
