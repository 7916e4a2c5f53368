/* A graph as one line of text: `Op(Op(x, y), *1 -> Op(z))`, where `*n` names a node that several others read.
 *
 * Without formatters the text is written in one pass from left to right, linear in its length; formatters that build on the
 * texts of a node's inputs are called bottom up. Neither recurses. Relies on: walk. Relied on by: fgraph. */
#include "graph/internal.h"

/* What is known of the graph: inputs end the text; `readers` counts, for each node, the places that name it; `numbers`
 * gives a node with several the number it prints, once it has been printed. */
typedef struct Listing {
    GraphState *state;
    PtrMap inputs, readers, numbers;
    int64_t n_numbers;
    PyObject *kept_inputs, *kept_nodes;
} Listing;

static void listing_clear(Listing *listing)
{
    ptrmap_clear(&listing->inputs);
    ptrmap_clear(&listing->readers);
    ptrmap_clear(&listing->numbers);
    Py_XDECREF(listing->kept_inputs);
    Py_XDECREF(listing->kept_nodes);
}

/* Lent: the node whose text stands for the variable, or NULL when its own does. */
static PyObject *listed_node(const Listing *listing, PyObject *variable)
{
    PyObject *owner = owner_peek(variable);
    return owner && !ptrmap_has(&listing->inputs, variable) ? owner : NULL;
}

static int count_reader(Listing *listing, PyObject *variable)
{
    PyObject *node = listed_node(listing, variable);
    if (!node) return 0;
    int64_t *n = ptrmap_put(&listing->readers, node, NULL);
    if (!n) return -1;
    ++*n;
    return 0;
}

static int listing_fill(Listing *listing, GraphState *state, PyObject *inputs, PyObject *outputs)
{
    listing->state = state;
    if (ptrmap_put_all(&listing->inputs, inputs, &listing->kept_inputs) < 0) return -1;
    if (!(listing->kept_nodes = walk_applys(state, inputs, outputs))) return -1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(outputs); i++)
        if (count_reader(listing, PyList_GET_ITEM(outputs, i)) < 0) return -1;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(listing->kept_nodes); k++) {
        PyObject *in = as_apply(PyList_GET_ITEM(listing->kept_nodes, k))->inputs;
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(in); i++)
            if (count_reader(listing, PyList_GET_ITEM(in, i)) < 0) return -1;
    }
    return 0;
}

/* 1: the node has been printed, and *text (owned) is what stands for it. 0: it has not; *text is its mark `*n -> ` or empty. */
static int node_mark(Listing *listing, PyObject *node, PyObject *variable, PyObject **text)
{
    const int64_t *number = ptrmap_find(&listing->numbers, node), *n_readers = ptrmap_find(&listing->readers, node);
    *text = NULL;
    if (number) {
        bool is_alone = PyList_GET_SIZE(as_apply(node)->outputs) == 1;
        *text = is_alone ? PyUnicode_FromFormat("*%lld", (long long)*number)
                         : PyUnicode_FromFormat("*%lld::%S", (long long)*number, as_variable(variable)->index);
        return *text ? 1 : -1;
    }
    if (n_readers && *n_readers > 1) {
        int64_t *made = ptrmap_put(&listing->numbers, node, NULL);
        if (!made) return -1;
        *made = ++listing->n_numbers;
        *text = PyUnicode_FromFormat("*%lld -> ", (long long)*made);
    } else {
        *text = PyUnicode_FromString("");
    }
    return *text ? 0 : -1;
}

/* --- without formatters: a stack of what is still to be written --- */

/* A variable to write, with what stands before it; or, with a NULL variable, a closing bracket. */
typedef struct Pending {
    PyObject *variable;
    const char *before;
} Pending;

typedef struct Writer {
    Listing *listing;
    PyObject *pieces; /* owned list of str */
    Pending *stack;
    size_t n, capacity;
} Writer;

static int writer_push(Writer *writer, PyObject *variable, const char *before)
{
    if (writer->n == writer->capacity) {
        size_t capacity = writer->capacity ? writer->capacity * 2 : 64;
        Pending *stack = mem_resize(writer->stack, capacity, sizeof *stack);
        if (!stack) {
            PyErr_NoMemory();
            return -1;
        }
        writer->stack = stack;
        writer->capacity = capacity;
    }
    writer->stack[writer->n++] = (Pending){variable, before};
    return 0;
}

static int write_steal(Writer *writer, PyObject *stolen_text)
{
    int status = stolen_text ? PyList_Append(writer->pieces, stolen_text) : -1;
    Py_XDECREF(stolen_text);
    return status;
}

/* Writes the node's head and leaves its inputs and the bracket to come. */
static int write_node(Writer *writer, PyObject *node)
{
    PyObject *inputs = as_apply(node)->inputs;
    Py_ssize_t n = PyList_GET_SIZE(inputs);
    if (write_steal(writer, PyUnicode_FromFormat("%S(", as_apply(node)->op)) < 0 || writer_push(writer, NULL, ")") < 0) return -1;
    for (Py_ssize_t i = n; i-- > 0;)
        if (writer_push(writer, PyList_GET_ITEM(inputs, i), i ? ", " : "") < 0) return -1;
    return 0;
}

static int write_next(Writer *writer)
{
    Pending next = writer->stack[--writer->n];
    if (*next.before && write_steal(writer, PyUnicode_FromString(next.before)) < 0) return -1;
    if (!next.variable) return 0;
    PyObject *node = listed_node(writer->listing, next.variable), *mark;
    if (!node) return write_steal(writer, PyObject_Str(next.variable));
    int printed = node_mark(writer->listing, node, next.variable, &mark);
    if (printed < 0 || write_steal(writer, mark) < 0) return -1;
    return printed ? 0 : write_node(writer, node);
}

/* Owned: the output's text. */
static PyObject *write_output(Listing *listing, PyObject *output)
{
    Writer writer = {.listing = listing, .pieces = PyList_New(0)};
    PyObject *empty = NULL, *text = NULL;
    int status = writer.pieces ? writer_push(&writer, output, "") : -1;
    while (status == 0 && writer.n) status = write_next(&writer);
    if (status == 0 && (empty = PyUnicode_FromString(""))) text = PyUnicode_Join(empty, writer.pieces);
    Py_XDECREF(empty);
    Py_XDECREF(writer.pieces);
    mem_free(writer.stack);
    return text;
}

PyObject *print_graph(GraphState *state, PyObject *inputs, PyObject *outputs)
{
    Listing listing = {0};
    PyObject *texts = listing_fill(&listing, state, inputs, outputs) == 0 ? PyList_New(0) : NULL;
    for (Py_ssize_t i = 0; texts && i < PyList_GET_SIZE(outputs); i++) {
        PyObject *text = write_output(&listing, PyList_GET_ITEM(outputs, i));
        if (!text || PyList_Append(texts, text) < 0) Py_CLEAR(texts);
        Py_XDECREF(text);
    }
    listing_clear(&listing);
    return texts;
}

/* --- with formatters: a stack of nodes whose inputs are being described --- */

typedef struct Described {
    PyObject *node;   /* borrowed */
    PyObject *mark;   /* owned: `*n -> ` or empty */
    PyObject *texts;  /* owned: of the inputs so far */
} Described;

typedef struct Describer {
    Listing *listing;
    PyObject *leaf_formatter, *node_formatter;
    Described *stack;
    size_t n, capacity;
    PyObject *result; /* owned: the text of the variable described last */
} Describer;

static int describe_start(Describer *describer, PyObject *variable)
{
    PyObject *node = listed_node(describer->listing, variable), *mark;
    if (!node) return (describer->result = PyObject_CallOneArg(describer->leaf_formatter, variable)) ? 0 : -1;
    int printed = node_mark(describer->listing, node, variable, &mark);
    if (printed) {
        describer->result = mark;
        return printed < 0 ? -1 : 0;
    }
    if (describer->n == describer->capacity) {
        size_t capacity = describer->capacity ? describer->capacity * 2 : 64;
        Described *stack = mem_resize(describer->stack, capacity, sizeof *stack);
        if (!stack) {
            Py_DECREF(mark);
            PyErr_NoMemory();
            return -1;
        }
        describer->stack = stack;
        describer->capacity = capacity;
    }
    PyObject *texts = PyList_New(0);
    if (!texts) {
        Py_DECREF(mark);
        return -1;
    }
    describer->stack[describer->n++] = (Described){node, mark, texts};
    return 0;
}

/* Gives the text in `result` to the node on top, and starts its next input or ends it. */
static int describe_step(Describer *describer)
{
    Described *top = &describer->stack[describer->n - 1];
    if (describer->result) {
        if (PyList_Append(top->texts, describer->result) < 0) return -1;
        Py_CLEAR(describer->result);
    }
    Py_ssize_t done = PyList_GET_SIZE(top->texts);
    if (done < PyList_GET_SIZE(as_apply(top->node)->inputs)) return describe_start(describer, PyList_GET_ITEM(as_apply(top->node)->inputs, done));
    PyObject *text = PyObject_CallFunctionObjArgs(describer->node_formatter, top->node, top->texts, NULL);
    top = &describer->stack[--describer->n];
    if (text) describer->result = PyUnicode_FromFormat("%U%S", top->mark, text);
    Py_XDECREF(text);
    Py_DECREF(top->mark);
    Py_DECREF(top->texts);
    return describer->result ? 0 : -1;
}

static PyObject *describe_output(Listing *listing, PyObject *output, PyObject *leaf_formatter, PyObject *node_formatter)
{
    Describer describer = {.listing = listing, .leaf_formatter = leaf_formatter, .node_formatter = node_formatter};
    int status = describe_start(&describer, output);
    while (status == 0 && describer.n) status = describe_step(&describer);
    while (describer.n) {
        Described *left = &describer.stack[--describer.n];
        Py_DECREF(left->mark);
        Py_DECREF(left->texts);
    }
    mem_free(describer.stack);
    if (status < 0) Py_CLEAR(describer.result);
    return describer.result;
}

static PyObject *py_as_string(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"inputs", "outputs", "leaf_formatter", "node_formatter", NULL};
    PyObject *inputs, *outputs, *leaf = Py_None, *node = Py_None, *list = NULL, *texts = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OO:as_string", keywords, &inputs, &outputs, &leaf, &node)) return NULL;
    GraphState *state = graph_state_of_module(module);
    Listing listing = {0};
    if (!(list = variables_of(state, outputs, "outputs"))) return NULL;
    if (leaf == Py_None && node == Py_None) {
        texts = print_graph(state, inputs, list);
    } else if (leaf == Py_None || node == Py_None) {
        PyErr_SetString(PyExc_TypeError, "as_string takes both formatters or none");
    } else if (listing_fill(&listing, state, inputs, list) == 0 && (texts = PyList_New(0))) {
        for (Py_ssize_t i = 0; texts && i < PyList_GET_SIZE(list); i++) {
            PyObject *text = describe_output(&listing, PyList_GET_ITEM(list, i), leaf, node);
            if (!text || PyList_Append(texts, text) < 0) Py_CLEAR(texts);
            Py_XDECREF(text);
        }
    }
    listing_clear(&listing);
    Py_DECREF(list);
    return texts;
}

#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
static PyMethodDef print_functions[] = {
    {"as_string", WITH_KEYWORDS(py_as_string),
     "as_string(inputs, outputs, leaf_formatter=None, node_formatter=None)\n--\n\n"
     "A list with one text an output. A node with several readers is written once, as `*n -> ...`, and is `*n` after that."},
    {NULL, NULL, 0, NULL},
};

int print_exec(PyObject *module) { return PyModule_AddFunctions(module, print_functions); }
