/* Elementwise operations, reductions and products: graph nodes to map, cast, reduce, cumulate and dot.
 *
 * Casts are inserted here, so that a map sees one computing type. Relies on: build. Relied on by: lower.c. */
#include "lower/build.h"

#include <string.h>

#include "base/mem.h"

/* A str attribute as UTF-8 in `text`; "" when there is none or it is not a str. */
static int read_text(PyObject *object, const char *name, char *text, size_t room)
{
    PyObject *attribute = PyObject_GetAttrString(object, name);
    const char *utf8 = NULL;

    text[0] = '\0';
    if (attribute == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
        PyErr_Clear();
        return 0;
    }
    if (PyUnicode_Check(attribute)) {
        utf8 = PyUnicode_AsUTF8(attribute);
        if (utf8 != NULL && strlen(utf8) < room) memcpy(text, utf8, strlen(utf8) + 1);
    }
    Py_DECREF(attribute);
    return PyErr_Occurred() ? -1 : 0;
}

/* ---- elementwise ---- */

/* What is known of the sources: the variable to read (lent by the node or the nodes put off), and its type. */
typedef struct Source {
    PyObject *variable;
    int ndim;
} Source;

/* Source i, in full rank or without the leading axes that broadcasting adds; -1 with an exception, 1 if it is no number. */
static int read_source(Builder *builder, PyObject *node, Py_ssize_t i, bool is_full, Source *sources, DType *dtypes)
{
    Value value;

    sources[i].variable = is_full ? node_input(node, i) : build_narrow(builder, node_input(node, i));
    if (sources[i].variable == NULL || build_describe(builder, sources[i].variable, &value) < 0) return -1;
    if (value.value_class > VALUE_ARRAY) return 1;
    sources[i].ndim = value.ndim;
    dtypes[i] = (DType)value.dtype;
    return 0;
}

/* All sources; one of them at least has the result's rank. */
static int read_sources(Builder *builder, PyObject *node, Source *sources, DType *dtypes)
{
    Value value;
    int ndim = 0, result = build_describe(builder, node_output(node, 0), &value);

    for (Py_ssize_t i = 0; result == 0 && i < node_n_inputs(node); i++) {
        result = read_source(builder, node, i, false, sources, dtypes);
        if (result == 0 && sources[i].ndim > ndim) ndim = sources[i].ndim;
    }
    return result == 0 && ndim < value.ndim ? read_source(builder, node, 0, true, sources, dtypes) : result;
}

/* The sources' numbers, cast to the types in which the operation computes. */
static int cast_sources(Builder *builder, int scalar, DType compute, int32_t n, const Source *sources, int32_t *src)
{
    ScalarRule rule = scalar_rule(scalar);

    for (int32_t i = 0; i < n; i++) {
        if (i == 0 && rule == RULE_FIRST_SHAPE) src[i] = build_value(builder, sources[i].variable);
        else src[i] = build_value_as(builder, sources[i].variable, i == 0 && rule == RULE_SWITCH ? DTYPE_BOOL : compute);
        if (src[i] < 0) return -1;
    }
    return 0;
}

/* dst = fn(src...), through a temporary when the node declares another type than the operation gives. */
static int emit_map(Builder *builder, PyObject *output, int scalar, DType compute, DType out, int32_t n, const Source *sources, int32_t *src)
{
    int32_t dst, computed;
    Value value;

    if (cast_sources(builder, scalar, compute, n, sources, src) < 0 || (dst = build_result(builder, output)) < 0) return -1;
    value = *build_peek(builder, dst);
    computed = value.dtype == out ? dst : build_temporary(builder, out, value.ndim);
    if (computed < 0) return -1;
    if (build_emit(builder, (Emit){.opcode = I_MAP, .fn = scalar, .dtype = compute, .n_dst = 1, .dst = &computed, .n_src = n, .src = src}) < 0) return -1;
    return computed == dst ? 0 : build_emit1(builder, I_CAST, dst, 1, &computed, 0, NULL);
}

static int emit_cast(Builder *builder, PyObject *node, const Source *source)
{
    int32_t src = build_value(builder, source->variable), dst = src < 0 ? -1 : build_result(builder, node_output(node, 0));
    Value value;

    if (dst < 0) return -1;
    value = *build_peek(builder, dst);
    return build_emit1(builder, value.dtype == build_peek(builder, src)->dtype ? I_COPY : I_CAST, dst, 1, &src, 0, NULL);
}

/* The operation's number in scalars.def: -1 with an exception, N_SCALARS when it has no row, N_SCALARS + 1 for a cast. */
static int find_scalar(PyObject *op)
{
    char name[32], kind[32];
    int number, failed;
    PyObject *scalar_op = PyObject_GetAttrString(op, "scalar_op");

    if (scalar_op == NULL) { /* a scalar operation that stands for itself */
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
        PyErr_Clear();
        scalar_op = Py_NewRef(op);
    }
    failed = read_text(scalar_op, "kind", kind, sizeof(kind)) < 0 || read_text(scalar_op, "name", name, sizeof(name)) < 0;
    Py_DECREF(scalar_op);
    if (failed) return -1;
    if (strcmp(kind, "cast") == 0) return N_SCALARS + 1;
    number = scalar_from_name(name);
    return number < 0 ? N_SCALARS : number;
}

int lower_elemwise(Builder *builder, PyObject *node)
{
    size_t n = (size_t)node_n_inputs(node);
    int32_t *src = mem_calloc(n, sizeof(*src));
    DType *dtypes = mem_calloc(n, sizeof(*dtypes)), compute, out;
    Source *sources = mem_calloc(n, sizeof(*sources));
    int scalar = find_scalar(node_op(node)), result = -1;

    if (src == NULL || dtypes == NULL || sources == NULL) PyErr_NoMemory();
    else if (scalar >= 0) result = scalar == N_SCALARS || n == 0 || node_n_outputs(node) != 1 ? 1 : read_sources(builder, node, sources, dtypes);
    if (result != 0) goto done;
    if (n == 1 && scalar < N_SCALARS && scalar_n_in(scalar) < 0) scalar = SCALAR_IDENTITY; /* a sum or product of one */
    if (scalar == N_SCALARS + 1) result = emit_cast(builder, node, sources);
    else if (scalar_types(scalar, (int)n, dtypes, &compute, &out) < 0) result = 1;
    else result = emit_map(builder, node_output(node, 0), scalar, compute, out, (int32_t)n, sources, src);
done:
    mem_free(src);
    mem_free(dtypes);
    mem_free(sources);
    return result;
}

/* ---- reductions ---- */

/* The attribute acc_dtype, or `otherwise` when it is None or absent. */
static int read_acc_dtype(Builder *builder, PyObject *op, DType otherwise, DType *dtype)
{
    PyObject *attribute = PyObject_GetAttrString(op, "acc_dtype");
    int result = 0;

    *dtype = otherwise;
    if (attribute == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
        PyErr_Clear();
        return 0;
    }
    if (attribute != Py_None) result = build_dtype(builder, attribute, dtype);
    Py_DECREF(attribute);
    return result;
}

/* dst = src folded along the axes (all if n < 0), accumulated in acc. */
static int emit_reduce(Builder *builder, int fn, DType acc, int32_t dst, int32_t src, const int64_t *axes, int n)
{
    int64_t all[ARRAY_MAX_NDIM];
    int ndim = build_peek(builder, src)->ndim;

    if (n < 0) {
        for (int i = 0; i < ndim; i++) all[i] = i;
        axes = all;
        n = ndim;
    }
    return build_emit(builder, (Emit){.opcode = I_REDUCE, .fn = fn, .dtype = acc, .n_dst = 1, .dst = &dst, .n_src = 1, .src = &src, .n_aux = n, .aux = axes});
}

/* Sums and products are cast on both sides by the instruction; the others compare in one type. */
int lower_careduce(Builder *builder, PyObject *node)
{
    char name[32];
    int64_t axes[ARRAY_MAX_NDIM];
    DType acc;
    int n, fn;
    int32_t src = build_value(builder, node_input(node, 0)), dst;

    if (src < 0 || read_text(node_op(node), "reduce_name", name, sizeof(name)) < 0) return -1;
    fn = reduce_from_name(name);
    if (fn < 0 || fn == REDUCE_ARGMAX) return 1;
    if (build_read_axes(builder, node_op(node), "axis", build_peek(builder, src)->ndim, axes, &n) < 0) return -1;
    dst = build_result(builder, node_output(node, 0));
    if (dst < 0) return -1;
    acc = (DType)build_peek(builder, dst)->dtype;
    if (fn == REDUCE_ADD || fn == REDUCE_MUL) {
        if (read_acc_dtype(builder, node_op(node), acc, &acc) < 0) return -1;
    } else {
        src = build_cast(builder, src, acc);
        if (src < 0) return -1;
    }
    return emit_reduce(builder, fn, acc, dst, src, axes, n);
}

/* Only what somebody reads. */
int lower_max_and_argmax(Builder *builder, PyObject *node)
{
    static const int fns[] = {REDUCE_MAX, REDUCE_ARGMAX};
    int64_t axes[ARRAY_MAX_NDIM];
    int n;
    int32_t src = build_value(builder, node_input(node, 0)), dst;
    DType dtype;

    if (src < 0) return -1;
    dtype = (DType)build_peek(builder, src)->dtype;
    if (build_read_axes(builder, node_op(node), "axis", build_peek(builder, src)->ndim, axes, &n) < 0) return -1;
    for (int i = 0; i < 2; i++) {
        if (graph_count_clients(builder->graph, node_output(node, i)) == 0) continue;
        dst = build_result(builder, node_output(node, i));
        if (dst < 0 || emit_reduce(builder, fns[i], dtype, dst, src, axes, n) < 0) return -1;
    }
    return 0;
}

int lower_cumop(Builder *builder, PyObject *node)
{
    char mode[16];
    int64_t axes[ARRAY_MAX_NDIM];
    int n, fn;
    int32_t src = build_value(builder, node_input(node, 0)), dst;

    if (src < 0 || read_text(node_op(node), "mode", mode, sizeof(mode)) < 0) return -1;
    fn = reduce_from_name(mode);
    if (fn != REDUCE_ADD && fn != REDUCE_MUL) return 1;
    if (build_read_axes(builder, node_op(node), "axis", build_peek(builder, src)->ndim, axes, &n) < 0) return -1;
    if (n < 0) axes[0] = -1;
    dst = build_result(builder, node_output(node, 0));
    if (dst < 0) return -1;
    src = build_cast(builder, src, (DType)build_peek(builder, dst)->dtype);
    if (src < 0) return -1;
    return build_emit(builder, (Emit){.opcode = I_CUMULATE, .fn = fn, .dtype = (DType)build_peek(builder, dst)->dtype, .n_dst = 1, .dst = &dst,
                                      .n_src = 1, .src = &src, .n_aux = 1, .aux = axes});
}

/* ---- products ---- */

int lower_dot(Builder *builder, PyObject *node)
{
    int32_t src[2], dst;
    DType dtype;
    Value value;

    for (int i = 0; i < 2; i++) {
        if (build_describe(builder, node_input(node, i), &value) < 0) return -1;
        if (value.ndim < 1 || value.ndim > 2) return 1;
    }
    if (build_describe(builder, node_output(node, 0), &value) < 0) return -1;
    dtype = (DType)value.dtype;
    for (int i = 0; i < 2; i++) {
        src[i] = build_value_as(builder, node_input(node, i), dtype);
        if (src[i] < 0) return -1;
    }
    dst = build_result(builder, node_output(node, 0));
    if (dst < 0) return -1;
    return build_emit(builder, (Emit){.opcode = I_DOT, .dtype = dtype, .n_dst = 1, .dst = &dst, .n_src = 2, .src = src});
}
