/* How graph objects pickle and deep-copy, in flat lists, so that the depth of a graph is no limit.
 *
 * A FunctionGraph is (rebuild_function_graph, (nodes in running order, ...)); a node is (rebuild_node, (class, op, inputs,
 * what each output is)); a computed Variable is (output_of, (node, index)). When the nodes come in running order, every
 * node's inputs come from nodes that the pickle has already, and its memo keeps each object one object. A leaf is its
 * class and a state. What may point back at the object itself (tags, attributes) is state, set after the object is in the memo.
 * Relies on: apply, variable, fgraph. Relied on by: the methods of these types. */
#include "graph/internal.h"

/* Lent: the module that defines the functions below. */
static PyObject *module_of(PyObject *object)
{
    extern PyModuleDef core_module_def;
    return PyType_GetModuleByDef(Py_TYPE(object), &core_module_def);
}

static PyObject *core_function(PyObject *object, const char *name)
{
    PyObject *module = module_of(object);
    return module ? PyObject_GetAttrString(module, name) : NULL;
}

static PyObject *newobj_function(void)
{
    PyObject *copyreg = PyImport_ImportModule("copyreg"), *function = copyreg ? PyObject_GetAttrString(copyreg, "__newobj__") : NULL;
    Py_XDECREF(copyreg);
    return function;
}

/* Owned: a copy of the attributes without those that are made again on demand. */
static PyObject *plain_attributes(PyObject *dict)
{
    PyObject *copy = dict ? PyDict_Copy(dict) : PyDict_New();
    PyObject *made;
    int found = copy ? graph_find_item(copy, "_fn_cache", &made) : -1;
    if (found < 0 || (found && PyDict_DelItemString(copy, "_fn_cache") < 0)) Py_CLEAR(copy);
    return copy;
}

/* --- variables --- */

static int put(PyObject *dict, const char *key, PyObject *value) { return value ? PyDict_SetItemString(dict, key, value) : 0; }

/* Owned: the leaf's members by name. */
static PyObject *leaf_state(GraphState *state, PyObject *self)
{
    Variable *variable = as_variable(self);
    PyObject *attributes = plain_attributes(variable->dict);
    PyObject *result = attributes ? Py_BuildValue("{sOsOsOsO}", "type", variable->type, "name", variable->name, "origin", variable->origin, "attributes", attributes) : NULL;
    Py_XDECREF(attributes);
    if (!result) return NULL;
    int status = put(result, "tag", variable->tag);
    if (status == 0 && is_constant(state, self)) status = put(result, "data", ((Constant *)self)->data);
    if (status == 0 && PyObject_TypeCheck(self, state->SharedVariable)) {
        status = put(result, "container", ((SharedVariable *)self)->container);
        if (status == 0) status = put(result, "default_update", ((SharedVariable *)self)->default_update);
    }
    if (status < 0) Py_CLEAR(result);
    return result;
}

static PyObject *variable_reduce(PyObject *self, PyObject *unused)
{
    GraphState *state = graph_state_of(self);
    PyObject *owner = owner_peek(self), *function, *values, *result = NULL;
    if (!state) return NULL;
    if (owner) {
        function = core_function(self, "output_of");
        return function ? Py_BuildValue("N(OO)", function, owner, as_variable(self)->index) : NULL;
    }
    function = newobj_function();
    values = function ? leaf_state(state, self) : NULL;
    if (values) result = Py_BuildValue("O(O)O", function, Py_TYPE(self), values);
    Py_XDECREF(values);
    Py_XDECREF(function);
    return result;
}

static int take(PyObject *values, const char *key, PyObject **place)
{
    PyObject *value;
    int found = graph_find_item(values, key, &value);
    if (found > 0) Py_XSETREF(*place, Py_NewRef(value));
    return found < 0 ? -1 : 0;
}

static int add_attributes(PyObject *self, PyObject *attributes)
{
    if (!attributes || attributes == Py_None || (PyDict_Check(attributes) && PyDict_GET_SIZE(attributes) == 0)) return 0;
    PyObject *dict = PyObject_GenericGetDict(self, NULL);
    int status = dict ? PyDict_Update(dict, attributes) : -1;
    Py_XDECREF(dict);
    return status;
}

static int take_attributes(PyObject *self, PyObject *values)
{
    PyObject *attributes;
    return graph_find_item(values, "attributes", &attributes) < 0 ? -1 : add_attributes(self, attributes);
}

static PyObject *variable_setstate(PyObject *self, PyObject *values)
{
    GraphState *state = graph_state_of(self);
    if (!state) return NULL;
    if (!PyDict_Check(values)) {
        PyErr_Format(PyExc_TypeError, "a Variable's state is a dict, not %R", values);
        return NULL;
    }
    Variable *variable = as_variable(self);
    if (take(values, "type", &variable->type) < 0 || take(values, "name", &variable->name) < 0 || take(values, "origin", &variable->origin) < 0 ||
        take(values, "tag", &variable->tag) < 0)
        return NULL;
    if (is_constant(state, self) && take(values, "data", &((Constant *)self)->data) < 0) return NULL;
    if (PyObject_TypeCheck(self, state->SharedVariable) &&
        (take(values, "container", &((SharedVariable *)self)->container) < 0 || take(values, "default_update", &((SharedVariable *)self)->default_update) < 0))
        return NULL;
    if (take_attributes(self, values) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *py_output_of(PyObject *module, PyObject *args)
{
    PyObject *node;
    Py_ssize_t i;
    if (!PyArg_ParseTuple(args, "O!n:output_of", graph_state_of_module(module)->Apply, &node, &i)) return NULL;
    return PySequence_GetItem(as_apply(node)->outputs, i);
}

/* --- nodes --- */

/* Owned: (class, type, name) of each output. */
static PyObject *describe_outputs(PyObject *outputs)
{
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(outputs); i++) {
        Variable *output = as_variable(PyList_GET_ITEM(outputs, i));
        PyObject *item = Py_BuildValue("(OOO)", Py_TYPE(output), output->type, output->name);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static bool has_notes(PyObject *tag, PyObject *dict) { return tag || (dict && PyDict_GET_SIZE(dict)); }

/* Owned: [tag, attributes] of the node and then of each output; None when there are none, as for nearly all nodes. */
static PyObject *node_state(Apply *node)
{
    bool has_any = has_notes(node->tag, node->dict);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(node->outputs); i++) {
        Variable *output = as_variable(PyList_GET_ITEM(node->outputs, i));
        has_any |= has_notes(output->tag, output->dict);
    }
    if (!has_any) Py_RETURN_NONE;
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = -1; list && i < PyList_GET_SIZE(node->outputs); i++) {
        Variable *output = i < 0 ? NULL : as_variable(PyList_GET_ITEM(node->outputs, i));
        PyObject *tag = output ? output->tag : node->tag, *dict = output ? output->dict : node->dict;
        PyObject *attributes = dict ? plain_attributes(dict) : Py_NewRef(Py_None);
        PyObject *item = attributes ? Py_BuildValue("[OO]", tag ? tag : Py_None, attributes) : NULL;
        Py_XDECREF(attributes);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *apply_reduce(PyObject *self, PyObject *unused)
{
    Apply *node = as_apply(self);
    PyObject *function = core_function(self, "rebuild_node"), *inputs = NULL, *outputs = NULL, *state = NULL, *result = NULL;
    if (function && (inputs = PyList_AsTuple(node->inputs)) && (outputs = describe_outputs(node->outputs)) && (state = node_state(node)))
        result = Py_BuildValue("O(OOOOO)O", function, Py_TYPE(self), node->op, inputs, outputs, node->origin, state);
    Py_XDECREF(state);
    Py_XDECREF(outputs);
    Py_XDECREF(inputs);
    Py_XDECREF(function);
    return result;
}

static PyObject *apply_setstate(PyObject *self, PyObject *values)
{
    Apply *node = as_apply(self);
    Py_ssize_t n = PyList_GET_SIZE(node->outputs);
    if (!PyList_Check(values) || PyList_GET_SIZE(values) != n + 1) {
        PyErr_SetString(PyExc_ValueError, "the state of an Apply is a list with one item for the node and one for each output");
        return NULL;
    }
    for (Py_ssize_t i = -1; i < n; i++) {
        PyObject *tag, *attributes, *item = PySequence_Tuple(PyList_GET_ITEM(values, i + 1));
        PyObject *object = i < 0 ? self : PyList_GET_ITEM(node->outputs, i);
        int status = item && PyArg_ParseTuple(item, "OO:Apply.__setstate__", &tag, &attributes) ? 0 : -1;
        if (status == 0 && tag != Py_None) status = PyObject_SetAttrString(object, "tag", tag);
        if (status == 0) status = add_attributes(object, attributes);
        Py_XDECREF(item);
        if (status < 0) return NULL;
    }
    Py_RETURN_NONE;
}

/* Owned: new outputs of these classes, types and names. */
static PyObject *make_outputs(GraphState *state, PyObject *descriptions)
{
    PyObject *list = PyList_New(0), *empty = list ? PyTuple_New(0) : NULL, *items = empty ? PySequence_List(descriptions) : NULL;
    for (Py_ssize_t i = 0; items && list && i < PyList_GET_SIZE(items); i++) {
        PyObject *cls, *type, *name, *output = NULL, *item = PySequence_Tuple(PyList_GET_ITEM(items, i));
        if (item && PyArg_ParseTuple(item, "O!OO:rebuild_node", &PyType_Type, &cls, &type, &name)) {
            if (PyType_IsSubtype((PyTypeObject *)cls, state->Variable)) output = ((PyTypeObject *)cls)->tp_new((PyTypeObject *)cls, empty, NULL);
            else PyErr_Format(PyExc_TypeError, "%R is not a class of Variables", cls);
        }
        if (output) {
            Py_XSETREF(as_variable(output)->type, Py_NewRef(type));
            Py_XSETREF(as_variable(output)->name, Py_NewRef(name));
        }
        if (!output || PyList_Append(list, output) < 0) Py_CLEAR(list);
        Py_XDECREF(output);
        Py_XDECREF(item);
    }
    if (!items) Py_CLEAR(list);
    Py_XDECREF(items);
    Py_XDECREF(empty);
    return list;
}

static PyObject *py_rebuild_node(PyObject *module, PyObject *args)
{
    PyObject *cls, *op, *inputs, *descriptions, *origin, *outputs, *node = NULL;
    GraphState *state = graph_state_of_module(module);
    if (!PyArg_ParseTuple(args, "O!OOOO:rebuild_node", &PyType_Type, &cls, &op, &inputs, &descriptions, &origin)) return NULL;
    if (!PyType_IsSubtype((PyTypeObject *)cls, state->Apply)) {
        PyErr_Format(PyExc_TypeError, "%R is not a class of nodes", cls);
        return NULL;
    }
    if (!(outputs = make_outputs(state, descriptions))) return NULL;
    node = apply_make(state, (PyTypeObject *)cls, op, inputs, outputs);
    if (node && !is_apply(state, node)) {
        PyErr_Format(PyExc_TypeError, "%R made %R, which is not an Apply", cls, node);
        Py_CLEAR(node);
    }
    if (node) Py_XSETREF(as_apply(node)->origin, Py_NewRef(origin));
    Py_DECREF(outputs);
    return node;
}

/* --- graphs --- */

/* Owned: the attributes that are the user's own or that a feature keeps and the constructor cannot make again. */
static PyObject *graph_attributes(FunctionGraph *graph)
{
    PyObject *result = PyDict_New(), *key, *value;
    for (Py_ssize_t at = 0; result && graph->dict && PyDict_Next(graph->dict, &at, &key, &value);) {
        int is_method = PyMethod_Check(value) || PyCFunction_Check(value), is_feature = PySequence_Contains(graph->features, value);
        if (is_feature < 0) Py_CLEAR(result);
        else if (!is_method && !is_feature && PyDict_SetItem(result, key, value) < 0) Py_CLEAR(result);
    }
    return result;
}

static PyObject *fgraph_reduce(PyObject *self, PyObject *unused)
{
    FunctionGraph *graph = (FunctionGraph *)self;
    PyObject *function = core_function(self, "rebuild_function_graph"), *nodes = NULL, *members = NULL, *attributes = NULL, *result = NULL;
    GraphState *state = function ? graph_state_of(self) : NULL;
    if (!state || !(nodes = graph_io_toposort(state, graph->inputs, graph->outputs)) || !(attributes = graph_attributes(graph))) goto done;
    members = Py_BuildValue("{sOsOsOsO}", "name", graph->name, "profile", graph->profile, "vetoes", graph->vetoes, "attributes", attributes);
    if (members)
        result = Py_BuildValue("O(OOOOOO)O", function, nodes, Py_TYPE(self), graph->inputs, graph->outputs, graph->features, graph->update_mapping, members);
done:
    Py_XDECREF(members);
    Py_XDECREF(attributes);
    Py_XDECREF(nodes);
    Py_XDECREF(function);
    return result;
}

static PyObject *fgraph_setstate(PyObject *self, PyObject *values)
{
    FunctionGraph *graph = (FunctionGraph *)self;
    if (!PyDict_Check(values)) {
        PyErr_Format(PyExc_TypeError, "a FunctionGraph's state is a dict, not %R", values);
        return NULL;
    }
    if (take(values, "name", &graph->name) < 0 || take(values, "profile", &graph->profile) < 0 || take(values, "vetoes", &graph->vetoes) < 0) return NULL;
    if (take_attributes(self, values) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *py_rebuild_function_graph(PyObject *module, PyObject *args)
{
    PyObject *nodes, *cls, *inputs, *outputs, *features, *mapping, *graph = NULL;
    GraphState *state = graph_state_of_module(module);
    if (!PyArg_ParseTuple(args, "OO!OOOO:rebuild_function_graph", &nodes, &PyType_Type, &cls, &inputs, &outputs, &features, &mapping)) return NULL;
    if (!PyType_IsSubtype((PyTypeObject *)cls, state->FunctionGraph)) {
        PyErr_Format(PyExc_TypeError, "%R is not a class of FunctionGraphs", cls);
        return NULL;
    }
    graph = PyObject_CallMethod(cls, "__new__", "(O)", cls);
    PyObject *init = graph ? PyObject_GetAttrString((PyObject *)state->FunctionGraph, "__init__") : NULL;
    PyObject *positional = init ? PyTuple_Pack(4, graph, inputs, outputs, features) : NULL;
    PyObject *named = positional ? Py_BuildValue("{sOsO}", "clone", Py_False, "update_mapping", mapping) : NULL;
    PyObject *done = named ? PyObject_Call(init, positional, named) : NULL;
    if (!done) Py_CLEAR(graph);
    Py_XDECREF(done);
    Py_XDECREF(named);
    Py_XDECREF(positional);
    Py_XDECREF(init);
    return graph;
}

static PyMethodDef pickle_functions[] = {
    {"output_of", py_output_of, METH_VARARGS, "output_of(node, index, /)\n--\n\nThe node's output of that index; how a computed Variable is pickled."},
    {"rebuild_node", py_rebuild_node, METH_VARARGS,
     "rebuild_node(cls, op, inputs, outputs, origin, /)\n--\n\nA node on these inputs; outputs are (class, type, name). How an Apply is pickled."},
    {"rebuild_function_graph", py_rebuild_function_graph, METH_VARARGS,
     "rebuild_function_graph(nodes, cls, inputs, outputs, features, update_mapping, /)\n--\n\n"
     "A FunctionGraph of these parts; nodes, in running order, are there so that a pickle holds them in a flat list."},
    {NULL, NULL, 0, NULL},
};

/* The methods are added to the types here, so that how a graph is pickled is read in one place. */
static PyMethodDef variable_pickling[] = {{"__reduce_ex__", variable_reduce, METH_O, NULL}, {"__setstate__", variable_setstate, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static PyMethodDef apply_pickling[] = {{"__reduce_ex__", apply_reduce, METH_O, NULL}, {"__setstate__", apply_setstate, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static PyMethodDef fgraph_pickling[] = {{"__reduce_ex__", fgraph_reduce, METH_O, NULL}, {"__setstate__", fgraph_setstate, METH_O, NULL}, {NULL, NULL, 0, NULL}};

static int add_methods(PyTypeObject *type, PyMethodDef *methods)
{
    for (; methods->ml_name; methods++) {
        PyObject *method = PyDescr_NewMethod(type, methods);
        int status = method ? PyObject_SetAttrString((PyObject *)type, methods->ml_name, method) : -1;
        Py_XDECREF(method);
        if (status < 0) return -1;
    }
    return 0;
}

int pickle_exec(PyObject *module)
{
    GraphState *state = graph_state_of_module(module);
    if (add_methods(state->Variable, variable_pickling) < 0 || add_methods(state->Apply, apply_pickling) < 0) return -1;
    if (add_methods(state->FunctionGraph, fgraph_pickling) < 0) return -1;
    return PyModule_AddFunctions(module, pickle_functions);
}
