/* Op: what a node computes. A subclass gives make_node (or itypes and otypes) and perform.
 *
 * Also the thunk that make_thunk returns: a callable over one-element storage lists. Relies on: props, apply (through the
 * state). Relied on by: the Python layers that derive from it. */
#include <stddef.h>

#include "graph/internal.h"

/* Owned: the sequence that the class names, or NotImplementedError. */
static PyObject *op_declared_types(PyObject *self, const char *name)
{
    PyObject *types = PyObject_GetAttrString(self, name);
    if (types == Py_None) {
        Py_CLEAR(types);
        PyErr_SetString(PyExc_NotImplementedError, "You can either define itypes and otypes, or implement make_node");
    }
    if (!types) return NULL;
    PyObject *list = PySequence_List(types);
    Py_DECREF(types);
    return list;
}

/* Owned: one line for each input whose type is not the declared one. */
static PyObject *mismatches(PyObject *inputs, PyObject *itypes)
{
    Py_ssize_t n = PyTuple_GET_SIZE(inputs);
    PyObject *lines = PyList_New(0), *separator = NULL, *text = NULL;
    for (Py_ssize_t i = 0; lines && i < n; i++) {
        PyObject *expected = PyList_GET_ITEM(itypes, i), *got = as_variable(PyTuple_GET_ITEM(inputs, i))->type;
        int equal = types_equal(expected, got);
        PyObject *line = equal == 0 ? PyUnicode_FromFormat("Input %zd/%zd: Expected %S, got %S", i + 1, n, expected, got) : NULL;
        if (equal < 0 || (equal == 0 && (!line || PyList_Append(lines, line) < 0))) Py_CLEAR(lines);
        Py_XDECREF(line);
    }
    if (lines && (separator = PyUnicode_FromString("\n"))) text = PyUnicode_Join(separator, lines);
    Py_XDECREF(separator);
    Py_XDECREF(lines);
    return text;
}

static int op_check_inputs(GraphState *state, PyObject *self, PyObject *inputs, PyObject *itypes)
{
    if (PyTuple_GET_SIZE(inputs) != PyList_GET_SIZE(itypes)) {
        PyErr_Format(PyExc_ValueError, "We expected %zd inputs but got %zd.", PyList_GET_SIZE(itypes), PyTuple_GET_SIZE(inputs));
        return -1;
    }
    int fits = 1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(inputs) && fits > 0; i++) {
        PyObject *input = PyTuple_GET_ITEM(inputs, i);
        if (!is_variable(state, input)) {
            PyErr_Format(PyExc_TypeError, "Op %S takes Variables; input %zd is %R", self, i, input);
            return -1;
        }
        fits = type_is_super(PyList_GET_ITEM(itypes, i), as_variable(input)->type);
    }
    if (fits > 0) return 0;
    PyObject *lines = fits == 0 ? mismatches(inputs, itypes) : NULL;
    if (lines) PyErr_Format(PyExc_TypeError, "Invalid input types for Op %S:\n%U", self, lines);
    Py_XDECREF(lines);
    return -1;
}

static PyObject *op_make_node(PyObject *self, PyObject *inputs)
{
    GraphState *state = graph_state_of(self);
    PyObject *itypes = NULL, *otypes = NULL, *outputs = NULL, *node = NULL;
    if (!state) return NULL;
    if (!(itypes = op_declared_types(self, "itypes")) || !(otypes = op_declared_types(self, "otypes"))) goto done;
    if (op_check_inputs(state, self, inputs, itypes) < 0 || !(outputs = PyList_New(0))) goto done;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(otypes); i++) {
        PyObject *output = PyObject_CallNoArgs(PyList_GET_ITEM(otypes, i));
        int status = output ? PyList_Append(outputs, output) : -1;
        Py_XDECREF(output);
        if (status < 0) goto done;
    }
    node = apply_make(state, state->Apply, self, inputs, outputs);
done:
    Py_XDECREF(outputs);
    Py_XDECREF(otypes);
    Py_XDECREF(itypes);
    return node;
}

/* Owned: "f(x, y)", or NULL. */
static PyObject *call_text(PyObject *self, PyObject *args)
{
    PyObject *texts = PyList_New(0), *comma = PyUnicode_FromString(", "), *joined = NULL, *text = NULL;
    for (Py_ssize_t i = 0; texts && i < PyTuple_GET_SIZE(args); i++) {
        PyObject *one = PyObject_Str(PyTuple_GET_ITEM(args, i));
        if (!one || PyList_Append(texts, one) < 0) Py_CLEAR(texts);
        Py_XDECREF(one);
    }
    if (texts && comma && (joined = PyUnicode_Join(comma, texts))) text = PyUnicode_FromFormat("The inputs were refused by %S(%U).", self, joined);
    Py_XDECREF(texts);
    Py_XDECREF(comma);
    Py_XDECREF(joined);
    return text;
}

/* Adds to the exception that is set a note of what was asked for, unless it has one: the innermost Op's is nearest to
 * the fault. */
static void tell_inputs(PyObject *self, PyObject *args)
{
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (error && PyErr_GivenExceptionMatches(error, PyExc_Exception) && !PyObject_HasAttrString(error, "__notes__")) {
        PyObject *text = call_text(self, args), *none = text ? PyObject_CallMethod(error, "add_note", "O", text) : NULL;
        Py_XDECREF(text);
        Py_XDECREF(none);
        PyErr_Clear(); /* the exception itself matters more */
    }
    PyErr_Restore(type, error, traceback);
}

/* Owned: what a call gives of the node's outputs. */
static PyObject *op_results(GraphState *state, PyObject *self, PyObject *node, int return_list)
{
    PyObject *outputs = as_apply(node)->outputs, *result = NULL;
    PyObject *default_output = PyObject_GetAttr(self, state->str_default_output);
    if (!default_output) return NULL;
    if (default_output != Py_None) {
        PyObject *one = PyObject_GetItem(outputs, default_output);
        if (one && return_list) {
            result = PyList_New(1);
            if (result) PyList_SET_ITEM(result, 0, one);
            else Py_DECREF(one);
        } else {
            result = one;
        }
    } else if (PyList_GET_SIZE(outputs) == 1 && !return_list) {
        result = Py_NewRef(PyList_GET_ITEM(outputs, 0));
    } else {
        result = PySequence_List(outputs);
    }
    Py_DECREF(default_output);
    return result;
}

static PyObject *op_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    GraphState *state = graph_state_of(self);
    PyObject *others = NULL, *method = NULL, *node = NULL, *result = NULL;
    int return_list = 0;
    if (!state) return NULL;
    if (kwargs) {
        if (!(others = PyDict_Copy(kwargs))) goto done;
        PyObject *flag;
        int found = graph_find_item(others, "return_list", &flag);
        if (found < 0 || (found && ((return_list = PyObject_IsTrue(flag)) < 0 || PyDict_DelItemString(others, "return_list") < 0))) goto done;
    }
    if (!(method = PyObject_GetAttrString(self, "make_node"))) goto done;
    if (!(node = PyObject_Call(method, args, others))) {
        tell_inputs(self, args);
        goto done;
    }
    if (!is_apply(state, node)) {
        PyErr_Format(PyExc_TypeError, "make_node of %S must return an Apply, not %R", self, node);
        goto done;
    }
    if (state->node_hook) {
        PyObject *hook = Py_NewRef(state->node_hook); /* it may take itself away */
        PyObject *none = PyObject_CallOneArg(hook, node);
        Py_DECREF(hook);
        if (!none) goto done;
        Py_DECREF(none);
    }
    result = op_results(state, self, node, return_list);
done:
    Py_XDECREF(node);
    Py_XDECREF(method);
    Py_XDECREF(others);
    return result;
}

static PyObject *set_node_hook(PyObject *module, PyObject *hook)
{
    GraphState *state = graph_state_of_module(module);
    if (!state) return NULL;
    Py_XSETREF(state->node_hook, hook == Py_None ? NULL : Py_NewRef(hook));
    Py_RETURN_NONE;
}

static PyMethodDef op_functions[] = {
    {"set_node_hook", set_node_hook, METH_O,
     "set_node_hook(hook, /)\n--\n\nHave each node that a call of an Op makes given to the hook before its outputs are returned; None: to nobody."},
    {NULL, NULL, 0, NULL},
};

static PyObject *op_perform(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyErr_Format(PyExc_NotImplementedError, "Op %S does not define perform(node, inputs, output_storage)", self);
    return NULL;
}

static PyObject *op_no_grad(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyErr_Format(PyExc_NotImplementedError, "Op %S does not define a gradient", self);
    return NULL;
}

static PyObject *op_do_constant_folding(PyObject *self, PyObject *args, PyObject *kwargs) { Py_RETURN_TRUE; }

static PyObject *op_prepare_node(PyObject *self, PyObject *args, PyObject *kwargs) { Py_RETURN_NONE; }

static PyObject *op_add_tag_trace(PyObject *unused, PyObject *args)
{
    PyObject *thing, *line = Py_None;
    return PyArg_ParseTuple(args, "O|O:add_tag_trace", &thing, &line) ? Py_NewRef(thing) : NULL;
}

static PyObject *op_get_params(PyObject *self, PyObject *node)
{
    GraphState *state = graph_state_of(self);
    if (state) PyErr_SetString(state->MethodNotDefined, "get_params");
    return NULL;
}

/* --- the thunk --- */

typedef struct PyThunk {
    PyObject_HEAD
    PyObject *node, *perform, *inputs, *outputs, *computed, *params; /* computed: lists of one bool; params NULL when there are none */
    PyObject *dict;
} PyThunk;

static int thunk_traverse(PyObject *self, visitproc visit, void *arg)
{
    PyThunk *thunk = (PyThunk *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(thunk->node);
    Py_VISIT(thunk->perform);
    Py_VISIT(thunk->inputs);
    Py_VISIT(thunk->outputs);
    Py_VISIT(thunk->computed);
    Py_VISIT(thunk->params);
    Py_VISIT(thunk->dict);
    return 0;
}

static int thunk_clear(PyObject *self)
{
    PyThunk *thunk = (PyThunk *)self;
    Py_CLEAR(thunk->node);
    Py_CLEAR(thunk->perform);
    Py_CLEAR(thunk->inputs);
    Py_CLEAR(thunk->outputs);
    Py_CLEAR(thunk->computed);
    Py_CLEAR(thunk->params);
    Py_CLEAR(thunk->dict);
    return 0;
}

static void thunk_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    (void)thunk_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

/* Owned: the single items of one-element lists. */
static PyObject *storage_values(PyObject *cells)
{
    PyObject *values = PyList_New(0);
    for (Py_ssize_t i = 0; values && i < PyList_GET_SIZE(cells); i++) {
        PyObject *value = PySequence_GetItem(PyList_GET_ITEM(cells, i), 0);
        if (!value || PyList_Append(values, value) < 0) Py_CLEAR(values);
        Py_XDECREF(value);
    }
    return values;
}

static PyObject *thunk_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyThunk *thunk = (PyThunk *)self;
    if (!thunk->node || !PyArg_ParseTuple(args, ":thunk")) return NULL;
    PyObject *values = storage_values(thunk->inputs), *result = NULL;
    if (!values) return NULL;
    result = PyObject_CallFunctionObjArgs(thunk->perform, thunk->node, values, thunk->outputs, thunk->params, NULL);
    Py_DECREF(values);
    for (Py_ssize_t i = 0; result && i < PyList_GET_SIZE(thunk->computed); i++)
        if (PySequence_SetItem(PyList_GET_ITEM(thunk->computed, i), 0, Py_True) < 0) Py_CLEAR(result);
    return result;
}

static PyMemberDef thunk_members[] = {
    {"inputs", T_OBJECT, offsetof(PyThunk, inputs), READONLY, "the storage lists of the node's inputs"},
    {"outputs", T_OBJECT, offsetof(PyThunk, outputs), READONLY, "the storage lists of the node's outputs"},
    {"perform", T_OBJECT, offsetof(PyThunk, perform), READONLY, "the method that is called"},
    {"node", T_OBJECT, offsetof(PyThunk, node), READONLY, "the node"},
    {"__dictoffset__", T_PYSSIZET, offsetof(PyThunk, dict), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot thunk_slots[] = {
    {Py_tp_doc, "A node's perform as a callable without arguments, over storage lists; made by Op.make_thunk."},
    {Py_tp_dealloc, thunk_dealloc},
    {Py_tp_traverse, thunk_traverse},
    {Py_tp_clear, thunk_clear},
    {Py_tp_call, thunk_call},
    {Py_tp_members, thunk_members},
    {0, NULL},
};
static PyType_Spec thunk_spec = {"pyscan._core.PyThunk", sizeof(PyThunk), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, thunk_slots};

/* Owned: the map's entry for each variable. */
static PyObject *entries_of(PyObject *map, PyObject *variables)
{
    PyObject *entries = PyList_New(0);
    for (Py_ssize_t i = 0; entries && i < PyList_GET_SIZE(variables); i++) {
        PyObject *entry = PyObject_GetItem(map, PyList_GET_ITEM(variables, i));
        if (!entry || PyList_Append(entries, entry) < 0) Py_CLEAR(entries);
        Py_XDECREF(entry);
    }
    return entries;
}

static PyObject *op_make_py_thunk(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"node", "storage_map", "compute_map", "no_recycling", "debug", NULL};
    PyObject *node, *storage, *computed, *no_recycling = Py_None, *debug = Py_False;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|OO:make_py_thunk", keywords, &node, &storage, &computed, &no_recycling, &debug)) return NULL;
    GraphState *state = graph_state_of(self);
    if (!state) return NULL;
    if (!is_apply(state, node)) {
        PyErr_Format(PyExc_TypeError, "node must be an Apply, not %R", node);
        return NULL;
    }
    PyThunk *thunk = (PyThunk *)state->PyThunk->tp_alloc(state->PyThunk, 0);
    if (!thunk) return NULL;
    thunk->node = Py_NewRef(node);
    thunk->inputs = entries_of(storage, as_apply(node)->inputs);
    thunk->outputs = thunk->inputs ? entries_of(storage, as_apply(node)->outputs) : NULL;
    thunk->computed = thunk->outputs ? entries_of(computed, as_apply(node)->outputs) : NULL;
    thunk->perform = thunk->computed ? PyObject_GetAttrString(as_apply(node)->op, "perform") : NULL;
    thunk->params = thunk->perform ? PyObject_CallMethod(node, "run_params", NULL) : NULL;
    if (thunk->params == state->no_params) Py_CLEAR(thunk->params);
    else if (!thunk->params) goto fail;
    if (PyObject_SetAttrString((PyObject *)thunk, "lazy", Py_False) < 0) goto fail;
    return (PyObject *)thunk;
fail:
    Py_DECREF(thunk);
    return NULL;
}

static PyObject *op_make_thunk(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"node", "storage_map", "compute_map", "no_recycling", "impl", NULL};
    PyObject *node, *storage, *computed, *no_recycling = Py_None, *impl = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|OO:make_thunk", keywords, &node, &storage, &computed, &no_recycling, &impl)) return NULL;
    PyObject *method = PyObject_GetAttrString(self, "prepare_node"), *positional = method ? PyTuple_Pack(1, node) : NULL;
    PyObject *named = positional == NULL ? NULL : Py_BuildValue("{sOsOss}", "storage_map", storage, "compute_map", computed, "impl", "py");
    PyObject *prepared = named ? PyObject_Call(method, positional, named) : NULL;
    Py_XDECREF(named);
    Py_XDECREF(positional);
    Py_XDECREF(method);
    if (!prepared) return NULL;
    Py_DECREF(prepared);
    return PyObject_CallMethod(self, "make_py_thunk", "OOOO", node, storage, computed, no_recycling);
}

/* --- the type --- */

static PyObject *op_str(PyObject *self)
{
    PyObject *text = props_text(self);
    return text || PyErr_Occurred() ? text : PyType_GetName(Py_TYPE(self));
}

static int op_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Op *)self)->dict);
    return 0;
}

static int op_clear(PyObject *self)
{
    Py_CLEAR(((Op *)self)->dict);
    return 0;
}

static void op_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (((Op *)self)->weakrefs) PyObject_ClearWeakRefs(self);
    (void)op_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
static PyMethodDef op_methods[] = {
    {"__init_subclass__", WITH_KEYWORDS(props_init_subclass) | METH_CLASS, props_init_subclass_doc},
    {"_props", props_tuple, METH_NOARGS, props_tuple_doc},
    {"_props_dict", props_dict, METH_NOARGS, props_dict_doc},
    {"make_node", op_make_node, METH_VARARGS, "make_node($self, /, *inputs)\n--\n\nThe Apply of this Op on the inputs; here, by itypes and otypes."},
    {"perform", WITH_KEYWORDS(op_perform),
     "perform($self, node, inputs, output_storage)\n--\n\nComputes the values and puts each in its one-element list of output_storage."},
    {"grad", WITH_KEYWORDS(op_no_grad), "grad($self, inputs, output_grads)\n--\n\nThe gradient's graph, for Ops that define one."},
    {"L_op", WITH_KEYWORDS(op_no_grad), "L_op($self, inputs, outputs, output_grads)\n--\n\nThe row vector times Jacobian graph, for Ops that define one."},
    {"R_op", WITH_KEYWORDS(op_no_grad), "R_op($self, inputs, eval_points)\n--\n\nThe Jacobian times vector graph, for Ops that define one."},
    {"do_constant_folding", WITH_KEYWORDS(op_do_constant_folding),
     "do_constant_folding($self, fgraph, node)\n--\n\nWhether a node with constant inputs may be computed when compiling."},
    {"prepare_node", WITH_KEYWORDS(op_prepare_node),
     "prepare_node($self, node, storage_map, compute_map, impl)\n--\n\nCalled before make_thunk makes the thunk; does nothing here."},
    {"get_params", op_get_params, METH_O, "get_params($self, node, /)\n--\n\nThe params that perform is given; MethodNotDefined when there are none."},
    {"make_py_thunk", WITH_KEYWORDS(op_make_py_thunk),
     "make_py_thunk($self, node, storage_map, compute_map, no_recycling=None, debug=False)\n--\n\nA callable that runs perform over the storage."},
    {"make_thunk", WITH_KEYWORDS(op_make_thunk),
     "make_thunk($self, node, storage_map, compute_map, no_recycling=None, impl=None)\n--\n\nprepare_node, then make_py_thunk."},
    {"add_tag_trace", op_add_tag_trace, METH_VARARGS | METH_STATIC,
     "add_tag_trace(thing, user_line=None)\n--\n\nReturns the thing; where it was made is noted without being asked."},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef op_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(Op, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Op, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyGetSetDef op_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot op_slots[] = {
    {Py_tp_doc, "Op()\n--\n\nAn operation. Calling one on Variables makes a node and returns its outputs."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, op_dealloc},
    {Py_tp_traverse, op_traverse},
    {Py_tp_clear, op_clear},
    {Py_tp_call, op_call},
    {Py_tp_str, op_str},
    {Py_tp_hash, props_hash},
    {Py_tp_richcompare, props_richcompare},
    {Py_tp_methods, op_methods},
    {Py_tp_members, op_members},
    {Py_tp_getset, op_getset},
    {0, NULL},
};
static PyType_Spec op_spec = {"pyscan._core.Op", sizeof(Op), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, op_slots};

/* The defaults of the class, which subclasses and instances override. */
static int op_set_defaults(PyObject *type)
{
    static const char *const names[] = {"default_output", "itypes", "otypes", "params_type"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (PyObject_SetAttrString(type, names[i], Py_None) < 0) return -1;
    static const char *const maps[] = {"view_map", "destroy_map"};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        PyObject *map = PyDict_New();
        int status = map ? PyObject_SetAttrString(type, maps[i], map) : -1;
        Py_XDECREF(map);
        if (status < 0) return -1;
    }
    return 0;
}

int op_exec(PyObject *module, GraphState *state)
{
    if (!(state->Op = graph_add_type(module, &op_spec, NULL))) return -1;
    if (!(state->PyThunk = graph_add_type(module, &thunk_spec, NULL))) return -1;
    if (PyModule_AddFunctions(module, op_functions) < 0) return -1;
    return op_set_defaults((PyObject *)state->Op);
}
