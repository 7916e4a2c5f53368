/* The driver: the table of passes, and the function that runs those that a mode selects.
 *
 *     _core.passes()                          [(name, position, (tag, ...), doc), ...]
 *     _core.rewrite(fgraph, names, evaluate)  {name: number of changes}
 *     _core.set_verify(True)                  the whole graph is checked after every pass; returns what it was
 *
 * Relies on: the passes (passes.def). Relied on by: bind, which adds these functions to the module. */
#include <string.h>

#include "rewrite/rewrite.h"

typedef Py_ssize_t (*PassEntry)(FunctionGraph *graph, RewriteContext *context);

typedef struct PassRow {
    const char *name;
    double position;
    const char *tags; /* NULL in a row that repeats a pass */
    PassEntry entry;
    const char *doc;
} PassRow;

static const PassRow pass_rows[] = {
#define PASS(name, position, tags, entry, doc) {name, position, tags, entry, doc},
#define AGAIN(name, position, entry) {name, position, NULL, entry, NULL},
#include "rewrite/passes.def"
#undef PASS
#undef AGAIN
};
#define N_ROWS (sizeof pass_rows / sizeof pass_rows[0])

/* The attribute of the module that holds whether graphs are checked after each pass: module state, not a C global. */
#define VERIFY "_verify_passes"

/* ---- the table ---- */

/* Owned: a tuple of the words of `tags`. */
static PyObject *tags_new(const char *tags)
{
    PyObject *text = PyUnicode_FromString(tags), *words = NULL, *tuple = NULL;
    if (text != NULL) words = PyUnicode_Split(text, NULL, -1);
    if (words != NULL) tuple = PyList_AsTuple(words);
    Py_XDECREF(words);
    Py_XDECREF(text);
    return tuple;
}

PyDoc_STRVAR(passes_doc, "passes()\n--\n\nThe passes in the order in which they run: (name, position, tags, doc).");

static PyObject *core_passes(PyObject *module, PyObject *Py_UNUSED(ignored))
{
    PyObject *rows = PyList_New(0);
    if (rows == NULL) return NULL;
    for (size_t i = 0; i < N_ROWS; i++) {
        const PassRow *row = &pass_rows[i];
        if (row->tags == NULL) continue;
        PyObject *tags = tags_new(row->tags);
        PyObject *item = tags == NULL ? NULL : Py_BuildValue("(sdNs)", row->name, row->position, tags, row->doc);
        int failed = item == NULL || PyList_Append(rows, item) < 0;
        Py_XDECREF(item);
        if (failed) {
            Py_DECREF(rows);
            return NULL;
        }
    }
    return rows;
}

static bool is_pass_name(PyObject *name)
{
    if (!PyUnicode_Check(name)) return false;
    for (size_t i = 0; i < N_ROWS; i++) {
        if (PyUnicode_CompareWithASCIIString(name, pass_rows[i].name) == 0) return true;
    }
    return false;
}

/* Owned: the names as a set; a ValueError for one that no pass has. */
static PyObject *names_new(PyObject *names)
{
    PyObject *set = PySet_New(names);
    if (set == NULL) return NULL;
    PyObject *iterator = PyObject_GetIter(set), *name;
    if (iterator == NULL) goto fail;
    while ((name = PyIter_Next(iterator)) != NULL) {
        if (!is_pass_name(name)) PyErr_Format(PyExc_ValueError, "There is no pass %R; _core.passes() lists them.", name);
        Py_DECREF(name);
        if (PyErr_Occurred()) goto fail;
    }
    if (PyErr_Occurred()) goto fail;
    Py_DECREF(iterator);
    return set;
fail:
    Py_XDECREF(iterator);
    Py_DECREF(set);
    return NULL;
}

/* ---- running ---- */

Py_ssize_t rewrite_add_destroy_handler(FunctionGraph *graph, RewriteContext *context)
{
    if (features_has_destroy_handler(graph)) return 0;
    Py_ssize_t result = -1;
    PyObject *module = PyType_GetModule(context->state->FunctionGraph), *handler = NULL, *done = NULL;
    if (module != NULL) handler = PyObject_CallMethod(module, "DestroyHandler", NULL);
    if (handler != NULL) done = PyObject_CallMethod((PyObject *)graph, "attach_feature", "O", handler);
    if (done != NULL) result = 1;
    Py_XDECREF(done);
    Py_XDECREF(handler);
    return result;
}

/* A pass that leaves a broken graph is a bug of ours: the error says which one, and keeps the checker's own as its cause. */
static int verify_after(FunctionGraph *graph, const char *name)
{
    if (graph_check_integrity(graph) == 0) return 0;
    if (PyErr_ExceptionMatches(PyExc_MemoryError) || !PyErr_ExceptionMatches(PyExc_Exception)) return -1; /* the check itself could not go on */
    PyObject *cause = graph_error_take();
    PyErr_Format(PyExc_AssertionError, "The pass '%s' left a graph that is not consistent: %S", name, cause);
    PyObject *error = graph_error_take();
    if (error != NULL) PyException_SetCause(error, cause); /* takes the cause */
    else Py_XDECREF(cause);
    graph_error_give(error);
    return -1;
}

static int add_count(PyObject *counts, const char *name, Py_ssize_t n_changes)
{
    PyObject *before;
    if (graph_find_item(counts, name, &before) < 0) return -1;
    PyObject *total = PyLong_FromSsize_t(n_changes + (before == NULL ? 0 : PyLong_AsSsize_t(before)));
    int result = total == NULL ? -1 : PyDict_SetItemString(counts, name, total);
    Py_XDECREF(total);
    return result;
}

static int run_passes(FunctionGraph *graph, RewriteContext *context, PyObject *names, bool verify, PyObject *counts)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        const PassRow *row = &pass_rows[i];
        PyObject *name = PyUnicode_FromString(row->name);
        int selected = name == NULL ? -1 : PySet_Contains(names, name);
        Py_XDECREF(name);
        if (selected < 0) return -1;
        if (selected == 0) continue;
        Py_ssize_t n_changes = row->entry(graph, context);
        if (n_changes < 0) return -1;
        if (add_count(counts, row->name, n_changes) < 0) return -1;
        if (verify && verify_after(graph, row->name) < 0) return -1;
    }
    return 0;
}

/* 1 or 0, or -1. */
static int verify_wanted(PyObject *module)
{
    PyObject *flag = PyObject_GetAttrString(module, VERIFY);
    if (flag == NULL) return -1;
    int wanted = PyObject_IsTrue(flag);
    Py_DECREF(flag);
    return wanted;
}

PyDoc_STRVAR(rewrite_doc,
             "rewrite(fgraph, names, evaluate=None)\n--\n\n"
             "Run the named passes over the graph, in the order of their positions; return {name: number of changes}.\n\n"
             "evaluate(node) returns the values of a node's outputs, as a list, when its inputs are constants.\n"
             "Without it nothing is computed while rewriting.");

static PyObject *core_rewrite(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"fgraph", "names", "evaluate", NULL};
    PyObject *graph, *names_arg, *evaluate = Py_None, *names = NULL, *counts = NULL, *result = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O:rewrite", keywords, &graph, &names_arg, &evaluate)) return NULL;
    PyObject *graph_type = PyObject_GetAttrString(module, "FunctionGraph");
    if (graph_type == NULL) return NULL;
    int is_graph = PyObject_IsInstance(graph, graph_type);
    Py_DECREF(graph_type);
    if (is_graph == 0) PyErr_Format(PyExc_TypeError, "rewrite expects a FunctionGraph, got %R", graph);
    if (is_graph <= 0) return NULL;
    int verify = verify_wanted(module);
    if (verify < 0) return NULL;
    RewriteContext context = {.state = graph_state_of(graph), .evaluate = evaluate};
    if ((names = names_new(names_arg)) == NULL) goto done;
    if ((counts = PyDict_New()) == NULL) goto done;
    if (run_passes((FunctionGraph *)graph, &context, names, verify, counts) < 0) goto done;
    result = Py_NewRef(counts);
done:
    Py_XDECREF(counts);
    Py_XDECREF(names);
    return result;
}

PyDoc_STRVAR(set_verify_doc,
             "set_verify(verify)\n--\n\n"
             "Check the whole graph after each pass, or not (test builds begin with it); return what it was before.");

static PyObject *core_set_verify(PyObject *module, PyObject *flag)
{
    int wanted = PyObject_IsTrue(flag);
    int before = wanted < 0 ? -1 : verify_wanted(module);
    if (before < 0 || PyObject_SetAttrString(module, VERIFY, wanted ? Py_True : Py_False) < 0) return NULL;
    return PyBool_FromLong(before);
}

static PyMethodDef driver_methods[] = {
    {"passes", core_passes, METH_NOARGS, passes_doc},
    {"rewrite", (PyCFunction)(void (*)(void))core_rewrite, METH_VARARGS | METH_KEYWORDS, rewrite_doc},
    {"set_verify", core_set_verify, METH_O, set_verify_doc},
    {NULL, NULL, 0, NULL},
};

int rewrite_module_exec(PyObject *module, GraphState *graph_state)
{
#ifdef PYSCAN_TEST_BUILD
    PyObject *verify = Py_True;
#else
    PyObject *verify = Py_False;
#endif
    (void)graph_state; /* each call finds it through its graph */
    if (PyModule_AddObjectRef(module, VERIFY, verify) < 0) return -1;
    return PyModule_AddFunctions(module, driver_methods);
}
