/* The graph's exceptions, and where in the user's program a leaf or a node was made.
 *
 * Relies on: state. Relied on by: the files of this room, and features for the exceptions. */
#include "graph/internal.h"

/* 1, 0 or -1: whether code of this file is the package's own or the import system's. */
static int is_own_code(GraphState *state, PyObject *filename)
{
    Py_ssize_t own = PyUnicode_Tailmatch(filename, state->package_dir, 0, PyUnicode_GET_LENGTH(filename), -1);
    if (own != 0) return own < 0 ? -1 : 1;
    return PyUnicode_READ_CHAR(filename, 0) == '<' && PyUnicode_CompareWithASCIIString(filename, "<frozen importlib._bootstrap>") == 0;
}

static PyObject *origin_make(GraphState *state, PyObject *filename, int line)
{
    PyObject *last = state->last_origin;
    if (last && PyTuple_GET_ITEM(last, 0) == filename && PyLong_AsLong(PyTuple_GET_ITEM(last, 1)) == line) return Py_NewRef(last);
    PyObject *origin = Py_BuildValue("(Oi)", filename, line);
    if (origin) Py_XSETREF(state->last_origin, Py_NewRef(origin));
    return origin;
}

PyObject *origin_here(GraphState *state)
{
    PyObject *origin = NULL;
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    int own = 1;
    while (frame) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        PyObject *filename = code->co_filename;
        own = PyUnicode_GET_LENGTH(filename) ? is_own_code(state, filename) : 1;
        if (own == 0) origin = origin_make(state, filename, PyFrame_GetLineNumber(frame));
        Py_DECREF(code);
        PyFrameObject *back = own > 0 ? PyFrame_GetBack(frame) : NULL;
        Py_DECREF(frame);
        if (own <= 0) return origin;
        frame = back;
    }
    /* A frame object may be made on demand, for which there may be no memory. */
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* Owned: the source line, or an empty str. */
static PyObject *source_line(PyObject *filename, PyObject *line)
{
    PyObject *linecache = PyImport_ImportModule("linecache");
    if (!linecache) return NULL;
    PyObject *text = PyObject_CallMethod(linecache, "getline", "OO", filename, line);
    Py_DECREF(linecache);
    if (!text) return NULL;
    PyObject *stripped = PyObject_CallMethod(text, "strip", NULL);
    Py_DECREF(text);
    return stripped;
}

/* Owned: the text that says where a leaf was made; empty when that is not known. */
static PyObject *origin_text(PyObject *variable)
{
    PyObject *origin = as_variable(variable)->origin;
    if (!PyTuple_Check(origin) || PyTuple_GET_SIZE(origin) != 2) return PyUnicode_FromString("");
    PyObject *filename = PyTuple_GET_ITEM(origin, 0), *line = PyTuple_GET_ITEM(origin, 1);
    PyObject *source = source_line(filename, line);
    if (!source) return NULL;
    bool has_source = PyUnicode_GET_LENGTH(source) > 0;
    PyObject *text = PyUnicode_FromFormat(" \nBacktrace when that variable is created:\n\n  File \"%U\", line %S\n%s%U%s", filename, line,
                                          has_source ? "    " : "", source, has_source ? "\n" : "");
    Py_DECREF(source);
    return text;
}

void raise_missing_input(GraphState *state, PyObject *stolen_text, PyObject *variable)
{
    if (!stolen_text) return;
    PyObject *args = PyTuple_Pack(1, stolen_text);
    PyObject *kwargs = args ? Py_BuildValue("{sO}", "variable", variable) : NULL;
    PyObject *error = kwargs ? PyObject_Call(state->MissingInputError, args, kwargs) : NULL;
    if (error) PyErr_SetObject(state->MissingInputError, error);
    Py_XDECREF(error);
    Py_XDECREF(kwargs);
    Py_XDECREF(args);
    Py_DECREF(stolen_text);
}

/* MissingInputError(*texts, variable=None): the texts by line, then where the variable was made. */
static int missing_input_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *variable = NULL;
    if (kwargs && graph_find_item(kwargs, "variable", &variable) < 0) return -1;
    if (kwargs && PyDict_GET_SIZE(kwargs) != (variable ? 1 : 0)) {
        PyErr_SetString(PyExc_TypeError, "MissingInputError takes texts and variable=");
        return -1;
    }
    int result = -1;
    PyObject *separator = NULL, *message = NULL, *packed = NULL;
    PyObject *texts = PySequence_List(args);
    if (!texts) return -1;
    GraphState *state = graph_state_of(self);
    if (!state) goto done;
    if (variable && is_variable(state, variable)) {
        PyObject *text = origin_text(variable);
        if (!text) goto done;
        int status = PyUnicode_GET_LENGTH(text) ? PyList_Append(texts, text) : 0;
        Py_DECREF(text);
        if (status < 0) goto done;
    }
    separator = PyUnicode_FromString("\n");
    message = separator ? PyUnicode_Join(separator, texts) : NULL;
    packed = message ? PyTuple_Pack(1, message) : NULL;
    if (packed) result = ((PyTypeObject *)PyExc_Exception)->tp_init(self, packed, NULL);
done:
    Py_XDECREF(packed);
    Py_XDECREF(message);
    Py_XDECREF(separator);
    Py_DECREF(texts);
    return result;
}

static PyType_Slot missing_input_slots[] = {
    {Py_tp_doc, "MissingInputError(*texts, variable=None)\n--\n\nA graph needs an input that it was not given."},
    {Py_tp_init, missing_input_init},
    {0, NULL},
};
static PyType_Spec missing_input_spec = {"pyscan._core.MissingInputError", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, missing_input_slots};

static int add_error(PyObject *module, PyObject **place, const char *name, const char *doc)
{
    *place = PyErr_NewExceptionWithDoc(name, doc, NULL, NULL);
    return *place ? PyModule_AddType(module, (PyTypeObject *)*place) : -1;
}

int errors_exec(PyObject *module, GraphState *state)
{
    if (add_error(module, &state->InconsistencyError, "pyscan._core.InconsistencyError",
                  "A feature found that the graph, as it is now, must not be.") < 0 ||
        add_error(module, &state->MethodNotDefined, "pyscan._core.MethodNotDefined", "A class leaves out a method that others may ask for.") < 0 ||
        add_error(module, &state->AlreadyThere, "pyscan._core.AlreadyThere",
                  "A feature's on_attach says so when the graph has one like it; the attaching is then silently dropped.") < 0 ||
        add_error(module, &state->ReplacementDidNotRemoveError, "pyscan._core.ReplacementDidNotRemoveError",
                  "A replacement left in the graph what it promised to remove.") < 0)
        return -1;
    PyObject *bases = PyTuple_Pack(1, PyExc_Exception);
    if (!bases) return -1;
    state->MissingInputError = (PyObject *)graph_add_type(module, &missing_input_spec, bases);
    Py_DECREF(bases);
    return state->MissingInputError ? 0 : -1;
}
