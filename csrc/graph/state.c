/* The room's part of the module state: types, exceptions, interned names; and how a graph object finds it.
 *
 * Relies on: every file of this room. Relied on by: bind/module.c, and through graph_state_of by all that handle graph
 * objects. */
#include "graph/internal.h"

/* Defined by bind/module.c. Only its address is needed, as the key under which a type's module is looked up; an include
 * would point against the arrows. */
extern PyModuleDef core_module_def;

GraphState *graph_state_of_type(PyTypeObject *type)
{
    PyObject *module = PyType_GetModuleByDef(type, &core_module_def);
    return module ? graph_state_of_module(module) : NULL;
}

GraphState *graph_state_of(PyObject *graph_object) { return graph_state_of_type(Py_TYPE(graph_object)); }

PyTypeObject *graph_add_type(PyObject *module, PyType_Spec *spec, PyObject *bases)
{
    PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, bases);
    if (type && PyModule_AddType(module, type) < 0) Py_CLEAR(type);
    return type;
}

int graph_lookup_attr(PyObject *object, const char *name, PyObject **value)
{
    *value = PyObject_GetAttrString(object, name);
    if (*value) return 1;
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
    PyErr_Clear();
    return 0;
}

int graph_set_default(PyObject *dict, PyObject *key, PyObject *value)
{
    int there = PyDict_Contains(dict, key);
    return there == 0 ? PyDict_SetItem(dict, key, value) : there < 0 ? -1 : 0;
}

int graph_find_item(PyObject *dict, const char *name, PyObject **value)
{
    PyObject *key = PyUnicode_FromString(name);
    *value = key ? PyDict_GetItemWithError(dict, key) : NULL;
    Py_XDECREF(key);
    if (*value) return 1;
    return PyErr_Occurred() ? -1 : 0;
}

PyObject *graph_error_take(void)
{
#if PY_VERSION_HEX >= 0x030C0000
    return PyErr_GetRaisedException();
#else
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (!type) return NULL;
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace) (void)PyException_SetTraceback(value, trace); /* only a wrong type could fail here */
    Py_DECREF(type);
    Py_XDECREF(trace);
    return value;
#endif
}

void graph_error_give(PyObject *stolen_error)
{
    if (!stolen_error) return;
#if PY_VERSION_HEX >= 0x030C0000
    PyErr_SetRaisedException(stolen_error);
#else
    PyErr_Restore(Py_NewRef((PyObject *)Py_TYPE(stolen_error)), stolen_error, PyException_GetTraceback(stolen_error));
#endif
}

void keep_first_error(PyObject **first)
{
    PyObject *error = graph_error_take();
    if (*first) Py_XDECREF(error);
    else *first = error;
}

/* The directory of the package's Python files, with its separator, from where the module itself lies. */
static PyObject *find_package_dir(PyObject *module)
{
    PyObject *file, *result;
    int found = graph_lookup_attr(module, "__file__", &file);
    if (found < 0) return NULL;
    if (!found || !PyUnicode_Check(file)) {
        Py_XDECREF(file);
        return PyUnicode_FromString("\x01"); /* loaded from no file: no code is ours by name */
    }
    Py_ssize_t n = PyUnicode_GET_LENGTH(file);
    Py_ssize_t end = PyUnicode_FindChar(file, '/', 0, n, -1);
#ifdef _WIN32
    Py_ssize_t other = PyUnicode_FindChar(file, '\\', 0, n, -1);
    if (other > end) end = other;
#endif
    result = PyUnicode_Substring(file, 0, end + 1);
    Py_DECREF(file);
    return result;
}

static int make_names(GraphState *state)
{
    struct {
        PyObject **place;
        const char *text;
    } names[] = {
        {&state->str_output, "output"}, {&state->str_destroy_map, "destroy_map"}, {&state->str_view_map, "view_map"},
        {&state->str_kind, "kind"}, {&state->str_tag, "tag"}, {&state->str_props, "__props__"},
        {&state->str_default_output, "default_output"}, {&state->str_type, "type"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        *names[i].place = PyUnicode_InternFromString(names[i].text);
        if (!*names[i].place) return -1;
    }
    state->nominal_cache = PyDict_New();
    state->nominal_classes = PyDict_New();
    state->no_params = PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type);
    return state->nominal_cache && state->nominal_classes && state->no_params ? 0 : -1;
}

int graph_module_exec(PyObject *module, GraphState *state)
{
    if (make_names(state) < 0) return -1;
    if (!(state->package_dir = find_package_dir(module))) return -1;
    if (PyModule_AddObjectRef(module, "NoParams", state->no_params) < 0) return -1;
    if (errors_exec(module, state) < 0 || tag_exec(module, state) < 0 || type_exec(module, state) < 0 ||
        op_exec(module, state) < 0 || variable_exec(module, state) < 0 || atomic_exec(module, state) < 0 ||
        apply_exec(module, state) < 0 || fgraph_exec(module, state) < 0)
        return -1;
    if (walk_exec(module) < 0 || clone_exec(module) < 0 || print_exec(module) < 0 || equal_exec(module) < 0 || pickle_exec(module) < 0)
        return -1;
    /* Types make variables, so they know these two classes; subclasses name their own. */
    if (PyObject_SetAttrString((PyObject *)state->Type, "variable_type", (PyObject *)state->Variable) < 0) return -1;
    return PyObject_SetAttrString((PyObject *)state->Type, "constant_type", (PyObject *)state->Constant);
}

int graph_state_traverse(GraphState *state, visitproc visit, void *arg)
{
    Py_VISIT(state->Type);
    Py_VISIT(state->Op);
    Py_VISIT(state->Variable);
    Py_VISIT(state->AtomicVariable);
    Py_VISIT(state->Constant);
    Py_VISIT(state->NominalVariable);
    Py_VISIT(state->SharedVariable);
    Py_VISIT(state->Apply);
    Py_VISIT(state->FunctionGraph);
    Py_VISIT(state->Scratchpad);
    Py_VISIT(state->PyThunk);
    Py_VISIT(state->Feature);
    Py_VISIT(state->ReplaceValidate);
    Py_VISIT(state->DestroyHandler);
    Py_VISIT(state->DestroyState);
    Py_VISIT(state->InconsistencyError);
    Py_VISIT(state->MissingInputError);
    Py_VISIT(state->MethodNotDefined);
    Py_VISIT(state->AlreadyThere);
    Py_VISIT(state->ReplacementDidNotRemoveError);
    Py_VISIT(state->nominal_cache);
    Py_VISIT(state->nominal_classes);
    Py_VISIT(state->no_params);
    Py_VISIT(state->last_origin);
    Py_VISIT(state->node_hook);
    return 0;
}

void graph_state_clear(GraphState *state)
{
    Py_CLEAR(state->nominal_cache);
    Py_CLEAR(state->nominal_classes);
    Py_CLEAR(state->no_params);
    Py_CLEAR(state->last_origin);
    Py_CLEAR(state->node_hook);
    Py_CLEAR(state->package_dir);
    Py_CLEAR(state->Type);
    Py_CLEAR(state->Op);
    Py_CLEAR(state->Variable);
    Py_CLEAR(state->AtomicVariable);
    Py_CLEAR(state->Constant);
    Py_CLEAR(state->NominalVariable);
    Py_CLEAR(state->SharedVariable);
    Py_CLEAR(state->Apply);
    Py_CLEAR(state->FunctionGraph);
    Py_CLEAR(state->Scratchpad);
    Py_CLEAR(state->PyThunk);
    Py_CLEAR(state->Feature);
    Py_CLEAR(state->ReplaceValidate);
    Py_CLEAR(state->DestroyHandler);
    Py_CLEAR(state->DestroyState);
    Py_CLEAR(state->InconsistencyError);
    Py_CLEAR(state->MissingInputError);
    Py_CLEAR(state->MethodNotDefined);
    Py_CLEAR(state->AlreadyThere);
    Py_CLEAR(state->ReplacementDidNotRemoveError);
    Py_CLEAR(state->str_output);
    Py_CLEAR(state->str_destroy_map);
    Py_CLEAR(state->str_view_map);
    Py_CLEAR(state->str_kind);
    Py_CLEAR(state->str_tag);
    Py_CLEAR(state->str_props);
    Py_CLEAR(state->str_default_output);
    Py_CLEAR(state->str_type);
}
