/* Apply: an Op on inputs, with the outputs that it computes.
 *
 * Relies on: errors (origin), tag, type, variable. Relied on by: op, clone, edit. */
#include <stddef.h>

#include "graph/internal.h"

static int apply_traverse(PyObject *self, visitproc visit, void *arg)
{
    Apply *node = (Apply *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(node->op);
    Py_VISIT(node->inputs);
    Py_VISIT(node->outputs);
    Py_VISIT(node->tag);
    Py_VISIT(node->origin);
    Py_VISIT(node->dict);
    return 0;
}

/* The members may be NULL between the collector's clear and the end; nobody reaches the node then. */
static int apply_clear(PyObject *self)
{
    Apply *node = (Apply *)self;
    Py_CLEAR(node->op);
    Py_CLEAR(node->inputs);
    Py_CLEAR(node->outputs);
    Py_CLEAR(node->tag);
    Py_CLEAR(node->origin);
    Py_CLEAR(node->dict);
    return 0;
}

static void apply_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_TRASHCAN_BEGIN(self, apply_dealloc)
    if (((Apply *)self)->weakrefs) PyObject_ClearWeakRefs(self);
    (void)apply_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
    Py_TRASHCAN_END
}

static PyObject *apply_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    Apply *self = (Apply *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->op = Py_NewRef(Py_None);
    self->origin = Py_NewRef(Py_None);
    self->inputs = PyList_New(0);
    self->outputs = PyList_New(0);
    if (!self->inputs || !self->outputs) Py_CLEAR(self);
    return (PyObject *)self;
}

/* Owned: the items as a list, or TypeError when it is no sequence; a Variable with a subscript is none. */
static PyObject *sequence_of(GraphState *state, PyObject *items, const char *what)
{
    if (PyList_Check(items) || PyTuple_Check(items) || (PySequence_Check(items) && !PyDict_Check(items) && !is_variable(state, items)))
        return PySequence_List(items);
    PyErr_Format(PyExc_TypeError, "The %s of an Apply must be a sequence type", what);
    return NULL;
}

static int check_inputs(GraphState *state, PyObject *inputs)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs); i++) {
        if (is_variable(state, PyList_GET_ITEM(inputs, i))) continue;
        PyErr_Format(PyExc_TypeError, "The 'inputs' argument to Apply must contain Variable instances, not %S", PyList_GET_ITEM(inputs, i));
        return -1;
    }
    return 0;
}

static int check_outputs(GraphState *state, PyObject *self, PyObject *outputs)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(outputs); i++) {
        PyObject *output = PyList_GET_ITEM(outputs, i);
        if (!is_variable(state, output)) {
            PyErr_Format(PyExc_TypeError, "The 'outputs' argument to Apply must contain Variable instances with no owner, not %S", output);
            return -1;
        }
        if (is_atomic(state, output)) return PyObject_SetAttrString(output, "owner", self); /* raises */
        PyObject *owner = owner_peek(output), *index = as_variable(output)->index;
        bool is_mine = owner == self && PyLong_Check(index) && PyLong_AsSsize_t(index) == i;
        bool is_twice = false;
        for (Py_ssize_t j = 0; j < i && !owner; j++) is_twice |= PyList_GET_ITEM(outputs, j) == output;
        if ((owner && !is_mine) || is_twice) {
            PyErr_SetString(PyExc_ValueError, "All output variables passed to Apply must belong to it.");
            return -1;
        }
    }
    return 0;
}

/* The outputs become the node's; nothing can fail for a reason that check_outputs could have found. */
static int adopt_outputs(PyObject *self, PyObject *outputs)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(outputs); i++) {
        Variable *output = as_variable(PyList_GET_ITEM(outputs, i));
        PyObject *index = PyLong_FromSsize_t(i);
        if (!index) return -1;
        Py_XSETREF(output->owner, Py_NewRef(self));
        Py_XSETREF(output->index, index);
        Py_XSETREF(output->origin, Py_NewRef(Py_None)); /* the node has its own */
    }
    return 0;
}

static int apply_fill(GraphState *state, PyObject *self, PyObject *op, PyObject *inputs, PyObject *outputs, PyObject *origin)
{
    int status = -1;
    PyObject *in = sequence_of(state, inputs, "inputs"), *out = in ? sequence_of(state, outputs, "output") : NULL;
    if (!out || check_inputs(state, in) < 0 || check_outputs(state, self, out) < 0) goto done;
    Apply *node = as_apply(self);
    Py_XSETREF(node->op, Py_NewRef(op));
    Py_XSETREF(node->inputs, Py_NewRef(in));
    Py_XSETREF(node->outputs, Py_NewRef(out));
    Py_XSETREF(node->origin, Py_NewRef(origin));
    status = adopt_outputs(self, out);
done:
    Py_XDECREF(out);
    Py_XDECREF(in);
    return status;
}

static int apply_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"op", "inputs", "outputs", NULL};
    PyObject *op, *inputs, *outputs;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:Apply", keywords, &op, &inputs, &outputs)) return -1;
    GraphState *state = graph_state_of(self);
    PyObject *origin = state ? origin_here(state) : NULL;
    int status = origin ? apply_fill(state, self, op, inputs, outputs, origin) : -1;
    Py_XDECREF(origin);
    return status;
}

PyObject *apply_make(GraphState *state, PyTypeObject *cls, PyObject *op, PyObject *inputs, PyObject *outputs)
{
    if (cls->tp_init != apply_init) return PyObject_CallFunctionObjArgs((PyObject *)cls, op, inputs, outputs, NULL);
    PyObject *self = apply_new(cls, NULL, NULL), *origin = self ? origin_here(state) : NULL;
    if (!origin || apply_fill(state, self, op, inputs, outputs, origin) < 0) Py_CLEAR(self);
    Py_XDECREF(origin);
    return self;
}

/* Owned: op.clone() for an Op with a graph of its own (it has inner_outputs), else the Op. */
static PyObject *op_for_clone(PyObject *op, bool clone_inner_graph)
{
    if (!clone_inner_graph) return Py_NewRef(op);
    PyObject *inner;
    int found = graph_lookup_attr(op, "inner_outputs", &inner);
    Py_XDECREF(inner);
    if (found < 0) return NULL;
    return found ? PyObject_CallMethod(op, "clone", NULL) : Py_NewRef(op);
}

/* Owned: the same Op on these inputs, with copies of the outputs and of the tag; it keeps the origin. */
static PyObject *clone_on(GraphState *state, PyObject *self, PyObject *inputs, bool clone_inner_graph)
{
    PyObject *op = op_for_clone(as_apply(self)->op, clone_inner_graph), *outputs = op ? PyList_New(0) : NULL, *copy = NULL, *tag;
    for (Py_ssize_t i = 0; outputs && i < PyList_GET_SIZE(as_apply(self)->outputs); i++) {
        PyObject *output = variable_clone_new(state, PyList_GET_ITEM(as_apply(self)->outputs, i));
        if (!output || PyList_Append(outputs, output) < 0) Py_CLEAR(outputs);
        Py_XDECREF(output);
    }
    if (outputs && Py_TYPE(self)->tp_init == apply_init) {
        copy = apply_new(Py_TYPE(self), NULL, NULL);
        if (copy && apply_fill(state, copy, op, inputs, outputs, as_apply(self)->origin) < 0) Py_CLEAR(copy);
    } else if (outputs) {
        copy = PyObject_CallFunctionObjArgs((PyObject *)Py_TYPE(self), op, inputs, outputs, NULL);
    }
    if (copy && tag_copy(state, as_apply(self)->tag, &tag) < 0) Py_CLEAR(copy);
    else if (copy && tag) Py_XSETREF(as_apply(copy)->tag, tag);
    Py_XDECREF(outputs);
    Py_XDECREF(op);
    return copy;
}

static PyObject *apply_clone(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"clone_inner_graph", NULL};
    int clone_inner_graph = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:clone", keywords, &clone_inner_graph)) return NULL;
    GraphState *state = graph_state_of(self);
    return state ? clone_on(state, self, as_apply(self)->inputs, clone_inner_graph) : NULL;
}

/* Fits the new inputs to the old ones' types; 1 when the node must be made anew, 0 when a copy will do, or -1. */
static int fit_inputs(GraphState *state, PyObject *self, PyObject *inputs, bool strict)
{
    int must_remake = 0;
    Py_ssize_t n = PyList_GET_SIZE(as_apply(self)->inputs);
    for (Py_ssize_t i = 0; i < n && i < PyList_GET_SIZE(inputs); i++) {
        PyObject *type = as_variable(PyList_GET_ITEM(as_apply(self)->inputs, i))->type;
        int equal = types_equal(type, as_variable(PyList_GET_ITEM(inputs, i))->type);
        if (equal < 0) return -1;
        if (equal) continue;
        if (!strict) {
            must_remake = 1;
            continue;
        }
        PyObject *fitted = type_filter_variable(state, type, PyList_GET_ITEM(inputs, i), true);
        if (!fitted) return -1;
        if (PyList_SetItem(inputs, i, fitted) < 0) return -1;
        if ((equal = types_equal(type, as_variable(fitted)->type)) < 0) return -1;
        if (!equal) must_remake = 1;
    }
    return must_remake;
}

static PyObject *remake_on(GraphState *state, PyObject *self, PyObject *inputs, bool clone_inner_graph)
{
    PyObject *op = op_for_clone(as_apply(self)->op, clone_inner_graph), *method = op ? PyObject_GetAttrString(op, "make_node") : NULL;
    PyObject *args = method ? PyList_AsTuple(inputs) : NULL, *node = args ? PyObject_Call(method, args, NULL) : NULL, *tag;
    Py_XDECREF(args);
    Py_XDECREF(method);
    Py_XDECREF(op);
    if (!node) return NULL;
    if (!is_apply(state, node)) {
        PyErr_Format(PyExc_TypeError, "make_node must return an Apply, not %R", node);
        goto fail;
    }
    Py_XSETREF(as_apply(node)->origin, Py_NewRef(as_apply(self)->origin));
    if (tag_copy(state, as_apply(self)->tag, &tag) < 0) goto fail;
    if (tag) {
        if (as_apply(node)->tag) { /* what make_node left there wins */
            PyObject *merged = PyObject_CallMethod(tag, "__update__", "(O)", as_apply(node)->tag);
            Py_DECREF(tag);
            if (!(tag = merged)) goto fail;
        }
        Py_XSETREF(as_apply(node)->tag, tag);
    }
    return node;
fail:
    Py_DECREF(node);
    return NULL;
}

PyObject *apply_clone_with_new_inputs(GraphState *state, PyObject *self, PyObject *inputs, bool strict, bool clone_inner_graph)
{
    PyObject *list = PySequence_List(inputs), *node = NULL;
    if (list && check_inputs(state, list) == 0) {
        int must_remake = fit_inputs(state, self, list, strict);
        if (must_remake > 0) node = remake_on(state, self, list, clone_inner_graph);
        else if (must_remake == 0) node = clone_on(state, self, list, clone_inner_graph);
    }
    Py_XDECREF(list);
    return node;
}

static PyObject *apply_clone_with_new_inputs_method(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"inputs", "strict", "clone_inner_graph", NULL};
    PyObject *inputs;
    int strict = 1, clone_inner_graph = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|pp:clone_with_new_inputs", keywords, &inputs, &strict, &clone_inner_graph)) return NULL;
    GraphState *state = graph_state_of(self);
    return state ? apply_clone_with_new_inputs(state, self, inputs, strict, clone_inner_graph) : NULL;
}

/* --- what else a node offers --- */

static PyObject *apply_default_output(PyObject *self, PyObject *unused)
{
    Apply *node = as_apply(self);
    PyObject *index, *result = NULL;
    if (graph_lookup_attr(node->op, "default_output", &index) < 0) return NULL;
    Py_ssize_t n = PyList_GET_SIZE(node->outputs);
    if (!index || index == Py_None) {
        if (n == 1) result = Py_NewRef(PyList_GET_ITEM(node->outputs, 0));
        else PyErr_Format(PyExc_ValueError, "%S.default_output should be an output index.", node->op);
    } else if (!PyLong_Check(index)) {
        PyErr_Format(PyExc_ValueError, "%S.default_output should be an int or long", node->op);
    } else {
        Py_ssize_t i = PyLong_AsSsize_t(index);
        if (i == -1 && PyErr_Occurred()) PyErr_Clear(); /* beyond any length: out of range too */
        if (i < 0 || i >= n) PyErr_Format(PyExc_ValueError, "%S.default_output is out of range.", node->op);
        else result = Py_NewRef(PyList_GET_ITEM(node->outputs, i));
    }
    Py_XDECREF(index);
    return result;
}

static PyObject *apply_get_out(PyObject *self, void *closure) { return PyObject_CallMethod(self, "default_output", NULL); }

static PyObject *apply_run_params(PyObject *self, PyObject *unused)
{
    GraphState *state = graph_state_of(self);
    PyObject *params = state ? PyObject_CallMethod(as_apply(self)->op, "get_params", "(O)", self) : NULL;
    if (params || !state || !PyErr_ExceptionMatches(state->MethodNotDefined)) return params;
    PyErr_Clear();
    return Py_NewRef(state->no_params);
}

static PyObject *apply_get_params_type(PyObject *self, void *closure) { return PyObject_GetAttrString(as_apply(self)->op, "params_type"); }

static PyObject *apply_get_parents(PyObject *self, PyObject *unused) { return PySequence_List(as_apply(self)->inputs); }

static PyObject *apply_str(PyObject *self)
{
    Apply *node = as_apply(self);
    PyObject *texts = PyList_New(0), *separator = NULL, *joined = NULL, *result = NULL;
    for (Py_ssize_t i = 0; texts && i < PyList_GET_SIZE(node->inputs); i++) {
        PyObject *text = PyObject_Str(PyList_GET_ITEM(node->inputs, i));
        if (!text || PyList_Append(texts, text) < 0) Py_CLEAR(texts);
        Py_XDECREF(text);
    }
    if (texts && (separator = PyUnicode_FromString(", ")) && (joined = PyUnicode_Join(separator, texts)))
        result = PyUnicode_FromFormat("%S(%U)", node->op, joined);
    Py_XDECREF(joined);
    Py_XDECREF(separator);
    Py_XDECREF(texts);
    return result;
}

static PyObject *apply_get_nin(PyObject *self, void *closure) { return PyLong_FromSsize_t(PyList_GET_SIZE(as_apply(self)->inputs)); }
static PyObject *apply_get_nout(PyObject *self, void *closure) { return PyLong_FromSsize_t(PyList_GET_SIZE(as_apply(self)->outputs)); }

static PyObject *apply_get_tag(PyObject *self, void *closure)
{
    Apply *node = as_apply(self);
    if (!node->tag) {
        GraphState *state = graph_state_of(self);
        if (!state || !(node->tag = tag_new(state))) return NULL;
    }
    return Py_NewRef(node->tag);
}

static int apply_set_tag(PyObject *self, PyObject *tag, void *closure)
{
    Py_XSETREF(as_apply(self)->tag, Py_XNewRef(tag));
    return 0;
}

static PyObject *apply_get_list(PyObject *self, void *offset)
{
    PyObject *value = *(PyObject **)((char *)self + (size_t)offset);
    return Py_NewRef(value ? value : Py_None);
}

/* Takes a new list of Variables in the place of inputs or outputs. */
static int apply_set_list(PyObject *self, PyObject *value, void *offset)
{
    GraphState *state = graph_state_of(self);
    if (!state) return -1;
    if (!value || !PyList_Check(value) || check_inputs(state, value) < 0) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "inputs and outputs of an Apply are lists of Variables");
        return -1;
    }
    PyObject **place = (PyObject **)((char *)self + (size_t)offset);
    Py_XSETREF(*place, Py_NewRef(value));
    return 0;
}

static int apply_set_op(PyObject *self, PyObject *op, void *closure)
{
    if (!op) {
        PyErr_SetString(PyExc_AttributeError, "an Apply's op cannot be deleted");
        return -1;
    }
    Py_XSETREF(as_apply(self)->op, Py_NewRef(op));
    return 0;
}

#define OFFSET(member) ((void *)offsetof(Apply, member))
static PyGetSetDef apply_getset[] = {
    {"op", apply_get_list, apply_set_op, "the operation", OFFSET(op)},
    {"inputs", apply_get_list, apply_set_list, "list of Variables; a FunctionGraph edits it", OFFSET(inputs)},
    {"outputs", apply_get_list, apply_set_list, "list of the Variables computed", OFFSET(outputs)},
    {"origin", apply_get_list, NULL, "(file, line) of the user's code that made the node, or None", OFFSET(origin)},
    {"tag", apply_get_tag, apply_set_tag, "a scratchpad for attributes", NULL},
    {"out", apply_get_out, NULL, "the default output", NULL},
    {"nin", apply_get_nin, NULL, "the number of inputs", NULL},
    {"nout", apply_get_nout, NULL, "the number of outputs", NULL},
    {"params_type", apply_get_params_type, NULL, "the Op's params_type", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
static PyMethodDef apply_methods[] = {
    {"default_output", apply_default_output, METH_NOARGS, "default_output($self, /)\n--\n\nThe output that stands for the node."},
    {"clone", WITH_KEYWORDS(apply_clone), "clone($self, clone_inner_graph=False)\n--\n\nThe same Op on the same inputs, with new outputs."},
    {"clone_with_new_inputs", WITH_KEYWORDS(apply_clone_with_new_inputs_method),
     "clone_with_new_inputs($self, inputs, strict=True, clone_inner_graph=False)\n--\n\n"
     "The same Op on these inputs. strict fits them to the old types; other types make the node anew."},
    {"run_params", apply_run_params, METH_NOARGS, "run_params($self, /)\n--\n\nThe Op's params for this node, or NoParams."},
    {"get_parents", apply_get_parents, METH_NOARGS, "get_parents($self, /)\n--\n\nA list of the inputs."},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef apply_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(Apply, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Apply, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot apply_slots[] = {
    {Py_tp_doc, "Apply(op, inputs, outputs)\n--\n\nA node: an Op on inputs, and the Variables that it computes, whose owner it becomes."},
    {Py_tp_new, apply_new},
    {Py_tp_init, apply_init},
    {Py_tp_dealloc, apply_dealloc},
    {Py_tp_traverse, apply_traverse},
    {Py_tp_clear, apply_clear},
    {Py_tp_str, apply_str},
    {Py_tp_repr, apply_str},
    {Py_tp_methods, apply_methods},
    {Py_tp_members, apply_members},
    {Py_tp_getset, apply_getset},
    {0, NULL},
};
static PyType_Spec apply_spec = {"pyscan._core.Apply", sizeof(Apply), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, apply_slots};

int apply_exec(PyObject *module, GraphState *state)
{
    state->Apply = graph_add_type(module, &apply_spec, NULL);
    return state->Apply ? 0 : -1;
}
