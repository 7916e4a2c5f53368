/* A Status becomes a Python exception, once: class and message from status.def, then what a user needs to find the place.
 *
 * Relies on: base (status), lower (the node table). Relied on by: thunk.c, and where building fails. */
#include "bind/bind.h"

#include <string.h>

/* ---- the message ---- */

/* Owned: a shape as Python writes it, or as NumPy's messages do: without blanks. */
static PyObject *shape_text(int ndim, const int64_t *shape, bool as_numpy)
{
    PyObject *tuple = PyTuple_New(ndim), *text;

    if (tuple == NULL) return NULL;
    for (int i = 0; i < ndim; i++) {
        PyObject *length = PyLong_FromLongLong(shape[i]);
        if (length == NULL) {
            Py_DECREF(tuple);
            return NULL;
        }
        PyTuple_SET_ITEM(tuple, i, length);
    }
    text = PyObject_Repr(tuple);
    Py_DECREF(tuple);
    if (text != NULL && as_numpy) Py_SETREF(text, PyObject_CallMethod(text, "replace", "ss", ", ", ","));
    return text;
}

/* Owned: the template with the Status's fields filled in; Python's own str.format does it. */
static PyObject *message_text(const Status *status)
{
    bool as_numpy = status->code != STATUS_SHORT_SEQUENCE;
    PyObject *shape_a = shape_text(status->ndim_a, status->shape_a, as_numpy), *text = NULL;
    PyObject *shape_b = shape_text(status->ndim_b, status->shape_b, as_numpy);
    PyObject *template = PyUnicode_FromString(status_message(status->code)), *format = NULL, *keywords = NULL, *none = PyTuple_New(0);

    if (shape_a && shape_b && template && none)
        keywords = Py_BuildValue("{s:L,s:L,s:L,s:L,s:O,s:O,s:s}", "a", (long long)status->a, "b", (long long)status->b, "c", (long long)status->c, "d",
                                 (long long)status->d, "shape_a", shape_a, "shape_b", shape_b, "text", status->text);
    if (keywords != NULL) format = PyObject_GetAttrString(template, "format");
    if (format != NULL) text = PyObject_Call(format, none, keywords);
    Py_XDECREF(shape_a);
    Py_XDECREF(shape_b);
    Py_XDECREF(template);
    Py_XDECREF(format);
    Py_XDECREF(keywords);
    Py_XDECREF(none);
    return text;
}

/* Borrowed (the module keeps it): a class that NumPy has somewhere, or NULL without an exception. */
static PyObject *numpy_class(const char *name)
{
    static const char *const homes[] = {"numpy.linalg", "numpy.exceptions", "numpy"}; /* the last for AxisError before NumPy 1.25 */
    PyObject *class = NULL;

    for (size_t i = 0; class == NULL && i < sizeof homes / sizeof *homes; i++) {
        PyObject *home = PyImport_ImportModule(homes[i]);
        class = home == NULL ? NULL : PyObject_GetAttrString(home, name);
        Py_XDECREF(home);
        Py_XDECREF(class);
        PyErr_Clear();
    }
    return class;
}

static PyObject *exception_class(const char *name)
{
    PyObject *class = name[0] == '\0' ? NULL : PyDict_GetItemString(PyEval_GetBuiltins(), name);

    if (class == NULL && name[0] != '\0') class = numpy_class(name);
    return class != NULL ? class : PyExc_RuntimeError;
}

int errors_raise_plain(const Status *status)
{
    PyObject *text;

    if (status->code == STATUS_NO_MEMORY) {
        PyErr_NoMemory();
        return -1;
    }
    text = message_text(status);
    if (text != NULL) PyErr_SetObject(exception_class(status_exception(status->code)), text);
    Py_XDECREF(text);
    return -1;
}

/* ---- the place ---- */

/* Appends to *text; on failure *text becomes NULL. */
static void append(PyObject **text, PyObject *stolen_more)
{
    PyUnicode_AppendAndDel(text, stolen_more);
}

/* "At step 3 of the outer loop, step 0 of the inner one", by the depth of the path. */
static void append_steps(PyObject **text, const Status *status)
{
    int32_t n = status->n_path < STATUS_MAX_DEPTH ? status->n_path : STATUS_MAX_DEPTH;

    if (n == 0) return;
    append(text, PyUnicode_FromFormat("\nat step %lld", (long long)status->path[0]));
    if (n == 2) append(text, PyUnicode_FromFormat(" of the outer loop, step %lld of the inner one", (long long)status->path[1]));
    for (int32_t i = 1; n > 2 && i < n; i++) append(text, PyUnicode_FromFormat("%s step %lld of the loop inside", i == 1 ? " of the outermost loop," : ",", (long long)status->path[i]));
}

/* The names that the user gave to the node's outputs. */
static void append_names(PyObject **text, PyObject *node)
{
    PyObject *outputs = ((Apply *)node)->outputs;

    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(outputs); i++) {
        PyObject *name = ((Variable *)PyList_GET_ITEM(outputs, i))->name;
        if (name != NULL && name != Py_None) append(text, PyUnicode_FromFormat("\nOutput %zd is named %R", i, name));
    }
}

static void append_origin(PyObject **text, PyObject *node)
{
    PyObject *origin = ((Apply *)node)->origin;

    if (origin != NULL && PyTuple_Check(origin) && PyTuple_GET_SIZE(origin) == 2)
        append(text, PyUnicode_FromFormat("\nMade in file %S, line %S", PyTuple_GET_ITEM(origin, 0), PyTuple_GET_ITEM(origin, 1)));
}

/* The user's variables that the node computes with (pyscan/blame.py). A message without them is better than none. */
static void append_sources(PyObject **text, PyObject *node, PyObject *nodes)
{
    PyObject *module = PyImport_ImportModule("pyscan.blame"), *names = module == NULL ? NULL : PyObject_CallMethod(module, "computed_from", "OO", node, nodes);

    if (names != NULL && PyUnicode_Check(names) && PyUnicode_GET_LENGTH(names) > 0) append(text, PyUnicode_FromFormat("\nIt computes with: %U", names));
    Py_XDECREF(names);
    Py_XDECREF(module);
    PyErr_Clear();
}

static void append_types(PyObject **text, PyObject *node)
{
    PyObject *inputs = ((Apply *)node)->inputs;

    append(text, PyUnicode_FromString("\nInputs types: ["));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs); i++)
        append(text, PyUnicode_FromFormat("%s%S", i == 0 ? "" : ", ", ((Variable *)PyList_GET_ITEM(inputs, i))->type));
    append(text, PyUnicode_FromString("]"));
}

/* The failing instruction of the top level: the last one from the node (casts come before it). */
static const Instr *find_instr(const Program *program, int32_t node)
{
    const Instr *found = NULL;

    for (int32_t i = 0; i < program->n_instrs; i++)
        if (program->instrs[i].node == node) found = &program->instrs[i];
    return found;
}

/* The instruction of the node that computes a value, or NULL. */
static const Instr *find_maker(const Program *program, int32_t node, int32_t number)
{
    for (int32_t i = 0; i < program->n_instrs; i++) {
        const Instr *instr = &program->instrs[i];
        for (int32_t k = 0; instr->node == node && k < instr->n_dst; k++)
            if (instr_dst(program, instr)[k] == number) return instr;
    }
    return NULL;
}

/* Whether an instruction takes what others of its node have computed, and not only cast. */
static bool is_end_of_chain(const Program *program, const Instr *instr)
{
    for (int32_t i = 0; i < instr->n_src; i++) {
        const Instr *maker = find_maker(program, instr->node, instr_src(program, instr)[i]);
        if (maker != NULL && maker->opcode != I_CAST) return true;
    }
    return false;
}

static void append_shape(PyObject **text, const Program *program, Call *call, int32_t number, const char **separator)
{
    const Array *array = program->values[number].value_class <= VALUE_ARRAY ? frame_array(call->frame, number) : NULL;
    PyObject *shape = array == NULL ? PyUnicode_FromString("none") : shape_text(array->ndim, array->shape, false);

    append(text, shape == NULL ? NULL : PyUnicode_FromFormat("%s%U", *separator, shape));
    Py_XDECREF(shape);
    *separator = ", ";
}

/* What the chain of a node's instructions takes from elsewhere, each value once, in the order in which they come. */
static void append_chain_shapes(PyObject **text, const Program *program, Call *call, int32_t node, const char **separator)
{
    PyObject *seen = PySet_New(NULL);

    for (int32_t i = 0; seen != NULL && i < program->n_instrs; i++) {
        const Instr *instr = &program->instrs[i];
        for (int32_t k = 0; instr->node == node && k < instr->n_src; k++) {
            int32_t number = instr_src(program, instr)[k];
            PyObject *key = PyLong_FromLong(number);
            int is_known = key == NULL ? -1 : PySet_Contains(seen, key);
            if (is_known == 0 && PySet_Add(seen, key) == 0 && program->values[number].origin != ORIGIN_CONSTANT && find_maker(program, node, number) == NULL)
                append_shape(text, program, call, number, separator);
            Py_XDECREF(key);
        }
    }
    Py_XDECREF(seen);
    PyErr_Clear(); /* a message without them is better than none */
}

/* Shapes of the node's operands, where the frame still shows them: not inside loops. */
static void append_shapes(PyObject **text, const Thunk *thunk, Call *call, const Status *status)
{
    const Program *program = thunk->lowered.program;
    const Instr *instr = status->n_path > 0 ? NULL : find_instr(program, status->node);
    const char *separator = "";

    if (instr == NULL || instr->opcode == I_LOOP) return;
    append(text, PyUnicode_FromString("\nInputs shapes: ["));
    if (is_end_of_chain(program, instr)) append_chain_shapes(text, program, call, status->node, &separator);
    else
        for (int32_t i = 0; i < instr->n_src; i++) append_shape(text, program, call, instr_src(program, instr)[i], &separator);
    append(text, PyUnicode_FromString("]"));
}

/* Owned: the lines that follow the message, beginning with a newline; NULL with an exception when a user's text fails. */
static PyObject *place_text(const Thunk *thunk, Call *call, const Status *status)
{
    PyObject *nodes = thunk->lowered.nodes, *node, *text = PyUnicode_FromString("");

    if (status->node < 0 || nodes == NULL || status->node >= PyList_GET_SIZE(nodes)) {
        append_steps(&text, status);
        return text;
    }
    node = Py_NewRef(PyList_GET_ITEM(nodes, status->node));
    append(&text, PyUnicode_FromFormat("\nApply node that caused the error: %S", node));
    append_steps(&text, status);
    append_sources(&text, node, nodes);
    append_names(&text, node);
    append_origin(&text, node);
    append_types(&text, node);
    append_shapes(&text, thunk, call, status);
    append(&text, PyUnicode_FromString("\n\nHINT: Re-running with most rewrites disabled (mode='FAST_COMPILE') could show a node that is closer to what you wrote."
                                       "\nHINT: pyscan.dprint(fn) shows the compiled function and the node's place in it."));
    Py_DECREF(node);
    return text;
}

/* ---- both ---- */

/* 1 if the exception's text is its one argument, so that the argument may be extended. */
static int is_plain_exception(PyObject *exception)
{
    PyObject *args = ((PyBaseExceptionObject *)exception)->args;

    return args != NULL && PyTuple_Check(args) && PyTuple_GET_SIZE(args) == 1 && PyUnicode_Check(PyTuple_GET_ITEM(args, 0))
           && Py_TYPE(exception)->tp_str == ((PyTypeObject *)PyExc_Exception)->tp_str;
}

static int extend_exception(PyObject *exception, PyObject *place)
{
    PyObject *text, *args, *answer;
    int result;

    if (!is_plain_exception(exception)) {
        answer = PyObject_CallMethod(exception, "add_note", "O", place);
        Py_XDECREF(answer);
        return answer == NULL ? -1 : 0;
    }
    text = PyUnicode_Concat(PyTuple_GET_ITEM(((PyBaseExceptionObject *)exception)->args, 0), place);
    args = text == NULL ? NULL : PyTuple_Pack(1, text);
    result = args == NULL ? -1 : PyObject_SetAttrString(exception, "args", args);
    Py_XDECREF(text);
    Py_XDECREF(args);
    return result;
}

/* Adds the place to the exception that is set. Interrupts and exits stay as they are. */
static void extend_current(const Thunk *thunk, Call *call, const Status *status)
{
    PyObject *type, *value, *traceback, *place;

    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value != NULL && PyErr_GivenExceptionMatches(value, PyExc_Exception)) {
        place = place_text(thunk, call, status);
        if (place == NULL || extend_exception(value, place) < 0) PyErr_Clear(); /* the exception itself matters more */
        Py_XDECREF(place);
    }
    PyErr_Restore(type, value, traceback);
}

void errors_raise(Thunk *thunk, Call *call, const Status *status)
{
    if (status->code == STATUS_NO_MEMORY && !PyErr_Occurred()) {
        PyErr_NoMemory();
        return;
    }
    if (status->code == STATUS_INTERRUPTED) {
        if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
        return;
    }
    if (!PyErr_Occurred()) (void)errors_raise_plain(status);
    extend_current(thunk, call, status);
}
