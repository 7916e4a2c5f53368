/* The program under construction: value numbers, constants, casts, attributes of Ops.
 *
 * Relies on: graph, program, ops, mem. Relied on by: the other files of lower. */
#include "lower/build.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- lists of numbers ---- */

int numbers_add(Numbers *numbers, int32_t number)
{
    if (numbers->n == numbers->room) {
        int32_t room = numbers->room ? numbers->room * 2 : 8;
        int32_t *items = mem_resize(numbers->items, (size_t)room, sizeof(int32_t));
        if (items == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        numbers->items = items;
        numbers->room = room;
    }
    numbers->items[numbers->n++] = number;
    return 0;
}

void numbers_clear(Numbers *numbers)
{
    mem_free(numbers->items);
    memset(numbers, 0, sizeof(*numbers));
}

/* ---- the builder ---- */

int builder_init(Builder *builder, Builder *parent, Lowered *lowered)
{
    Status status;
    PyObject *numpy = NULL;
    int result = -1;

    memset(builder, 0, sizeof(*builder));
    builder->parent = parent;
    builder->lowered = lowered;
    builder->node_index = -1;
    status_clear(&status);
    builder->program = program_new(&status);
    if (builder->program == NULL) return build_raise(&status);
    builder->numbers = PyDict_New();
    builder->casts = PyDict_New();
    builder->integers = PyDict_New();
    builder->deferred = PyDict_New();
    numpy = PyImport_ImportModule("numpy");
    if (numpy != NULL) builder->new_array = PyObject_GetAttrString(numpy, "array");
    if (builder->numbers && builder->casts && builder->integers && builder->deferred && builder->new_array) result = 0;
    Py_XDECREF(numpy);
    return result;
}

void builder_clear(Builder *builder)
{
    program_free(builder->program);
    builder->program = NULL;
    Py_CLEAR(builder->numbers);
    Py_CLEAR(builder->casts);
    Py_CLEAR(builder->integers);
    Py_CLEAR(builder->deferred);
    Py_CLEAR(builder->new_array);
    numbers_clear(&builder->inputs);
    numbers_clear(&builder->outer_fixed);
    numbers_clear(&builder->inner_fixed);
}

int build_raise(const Status *status)
{
    if (status->code == STATUS_NO_MEMORY) PyErr_NoMemory();
    else PyErr_Format(PyExc_SystemError, "the program could not be built: %s", status->text);
    return -1;
}

int build_refuse(Builder *builder, PyObject *exception, const char *format, ...)
{
    va_list args;
    PyObject *text;

    va_start(args, format);
    text = PyUnicode_FromFormatV(format, args);
    va_end(args);
    if (text == NULL) return -1;
    if (builder->node != NULL) PyErr_Format(exception, "%S: %U", node_op(builder->node), text);
    else PyErr_SetObject(exception, text);
    Py_DECREF(text);
    return -1;
}

/* ---- values ---- */

const Value *build_peek(const Builder *builder, int32_t number) { return &builder->program->values[number]; }

/* Which class a Type object's values have, from its `type_kind`. */
static int read_class(PyObject *type, ValueClass *value_class)
{
    PyObject *kind = PyObject_GetAttrString(type, "type_kind");
    if (kind == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
        PyErr_Clear();
        *value_class = VALUE_OBJECT; /* a user's own Type */
        return 0;
    }
    if (PyUnicode_Check(kind) && PyUnicode_CompareWithASCIIString(kind, "tensor") == 0) *value_class = VALUE_ARRAY;
    else if (PyUnicode_Check(kind) && PyUnicode_CompareWithASCIIString(kind, "scalar") == 0) *value_class = VALUE_SCALAR;
    else if (PyUnicode_Check(kind) && PyUnicode_CompareWithASCIIString(kind, "rng") == 0) *value_class = VALUE_STREAM;
    else *value_class = VALUE_OBJECT;
    Py_DECREF(kind);
    return 0;
}

int build_dtype(Builder *builder, PyObject *name, DType *dtype)
{
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    int number = text == NULL ? -1 : dtype_from_name(text);

    if (PyErr_Occurred()) return -1;
    if (number < 0) return build_refuse(builder, PyExc_TypeError, "programs do not compute with dtype %R", name);
    *dtype = (DType)number;
    return 0;
}

static int read_dtype(Builder *builder, PyObject *type, Value *value)
{
    DType dtype = DTYPE_BOOL; /* not read on failure, which the compiler cannot see */
    PyObject *name = PyObject_GetAttrString(type, "dtype");
    int result = name == NULL ? -1 : build_dtype(builder, name, &dtype);

    Py_XDECREF(name);
    if (result == 0) value->dtype = (uint8_t)dtype;
    return result;
}

int build_describe(Builder *builder, PyObject *variable, Value *value)
{
    PyObject *type = Py_NewRef(((Variable *)variable)->type);
    ValueClass value_class;
    int64_t ndim = 0;
    int result = -1;

    memset(value, 0, sizeof(*value));
    value->index = value->storage = -1;
    if (read_class(type, &value_class) < 0) goto done;
    if (value_class == VALUE_ARRAY || value_class == VALUE_SCALAR) {
        if (read_dtype(builder, type, value) < 0) goto done;
        if (value_class == VALUE_ARRAY && build_read_int(type, "ndim", &ndim) < 0) goto done;
        if (ndim < 0 || ndim > ARRAY_MAX_NDIM) {
            build_refuse(builder, PyExc_NotImplementedError, "%S has %lld dimensions; at most %d are supported", variable, (long long)ndim, ARRAY_MAX_NDIM);
            goto done;
        }
        if (ndim == 0) value_class = VALUE_SCALAR;
    }
    value->value_class = (uint8_t)value_class;
    value->ndim = (uint8_t)ndim;
    result = 0;
done:
    Py_DECREF(type);
    return result;
}

int build_bind(Builder *builder, PyObject *variable, int32_t number)
{
    PyObject *boxed = PyLong_FromLong(number);
    int result = boxed == NULL ? -1 : PyDict_SetItem(builder->numbers, variable, boxed);
    Py_XDECREF(boxed);
    return result;
}

static int32_t add_value(Builder *builder, Value value)
{
    Status status;
    int32_t number;

    status_clear(&status);
    number = program_add_value(builder->program, value, &status);
    return number < 0 ? build_raise(&status) : number;
}

int32_t build_input(Builder *builder, PyObject *variable, ValueOrigin origin)
{
    Value value;
    int32_t number;

    if (build_describe(builder, variable, &value) < 0) return -1;
    value.origin = (uint8_t)origin;
    number = add_value(builder, value);
    return number < 0 || build_bind(builder, variable, number) < 0 ? -1 : number;
}

int32_t build_result(Builder *builder, PyObject *variable)
{
    return build_input(builder, variable, ORIGIN_COMPUTED);
}

int32_t build_temporary(Builder *builder, DType dtype, int ndim)
{
    Value value;

    memset(&value, 0, sizeof(value));
    value.value_class = ndim == 0 ? VALUE_SCALAR : VALUE_ARRAY;
    value.origin = ORIGIN_COMPUTED;
    value.dtype = (uint8_t)dtype;
    value.ndim = (uint8_t)ndim;
    value.index = value.storage = -1;
    return add_value(builder, value);
}

/* ---- constants ---- */

/* Owned: a C-contiguous native copy of the data in that dtype. */
static PyObject *new_ndarray(Builder *builder, PyObject *data, DType dtype)
{
    PyObject *args = PyTuple_Pack(1, data), *keywords = args ? Py_BuildValue("{s:s,s:s}", "dtype", dtype_name(dtype), "order", "C") : NULL;
    PyObject *ndarray = keywords ? PyObject_Call(builder->new_array, args, keywords) : NULL;

    Py_XDECREF(args);
    Py_XDECREF(keywords);
    return ndarray;
}

/* Fills a fresh Array of a C-contiguous native ndarray's elements; the Array owns its buffer. */
static int copy_ndarray(Builder *builder, PyObject *ndarray, DType dtype, Array *array)
{
    Py_buffer view;
    int result = -1;

    if (PyObject_GetBuffer(ndarray, &view, PyBUF_ND) < 0) return -1;
    if (view.ndim > ARRAY_MAX_NDIM) {
        build_refuse(builder, PyExc_NotImplementedError, "a constant has %d dimensions; at most %d are supported", view.ndim, ARRAY_MAX_NDIM);
        goto done;
    }
    memset(array, 0, sizeof(*array));
    array->dtype = dtype;
    array->ndim = view.ndim;
    for (int i = 0; i < view.ndim; i++) array->shape[i] = view.shape[i];
    array_set_contiguous_strides(array);
    array->buffer = buffer_new((size_t)view.len);
    if (array->buffer == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    array->data = array->buffer->data;
    memcpy(array->data, view.buf, (size_t)view.len);
    result = 0;
done:
    PyBuffer_Release(&view);
    return result;
}

/* The number of a new constant with the elements of `data` in that dtype and of that rank. */
static int32_t add_constant(Builder *builder, PyObject *data, DType dtype)
{
    Array array;
    Status status;
    PyObject *ndarray = NULL;
    int32_t number = -1;

    memset(&array, 0, sizeof(array));
    status_clear(&status);
    ndarray = new_ndarray(builder, data, dtype);
    if (ndarray == NULL || copy_ndarray(builder, ndarray, dtype, &array) < 0) goto done;
    number = program_add_constant(builder->program, &array, &status);
    if (number < 0) build_raise(&status);
done:
    buffer_unref(array.buffer);
    Py_XDECREF(ndarray);
    return number;
}

/* The number of an object (not an array) as an input that bind fills; nested loops hand it inwards. */
static int32_t add_object(Builder *builder, PyObject *object, ValueClass value_class)
{
    Value value;
    int32_t number, outer = -1;

    if (builder->parent != NULL) {
        outer = add_object(builder->parent, object, value_class);
        if (outer < 0) return -1;
    }
    memset(&value, 0, sizeof(value));
    value.value_class = (uint8_t)value_class;
    value.origin = ORIGIN_INPUT;
    value.index = value.storage = -1;
    number = add_value(builder, value);
    if (number < 0) return -1;
    if (builder->parent != NULL) {
        if (numbers_add(&builder->outer_fixed, outer) < 0 || numbers_add(&builder->inner_fixed, number) < 0) return -1;
    } else if (numbers_add(&builder->inputs, number) < 0 || PyList_Append(builder->lowered->objects, object) < 0) {
        return -1;
    }
    return number;
}

/* The number of a Constant met for the first time. */
static int32_t lower_constant(Builder *builder, PyObject *constant)
{
    Value value;
    PyObject *data = Py_NewRef(((Constant *)constant)->data);
    int32_t number = -1;

    if (build_describe(builder, constant, &value) == 0) {
        if (value.value_class == VALUE_SCALAR || value.value_class == VALUE_ARRAY) number = add_constant(builder, data, (DType)value.dtype);
        else number = add_object(builder, data, (ValueClass)value.value_class);
    }
    Py_DECREF(data);
    if (number < 0 || build_bind(builder, constant, number) < 0) return -1;
    if (build_peek(builder, number)->ndim != value.ndim)
        return build_refuse(builder, PyExc_TypeError, "constant %S has data of another rank than its type", constant);
    return number;
}

/* Lent: the (node, index) of a variable that was put off, or NULL. */
static PyObject *find_deferred(Builder *builder, PyObject *variable) { return PyDict_GetItemWithError(builder->deferred, variable); }

int build_defer(Builder *builder)
{
    PyObject *entry = Py_BuildValue("(Oi)", builder->node, (int)builder->node_index);
    int result = entry == NULL ? -1 : PyDict_SetItem(builder->deferred, node_output(builder->node, 0), entry);

    Py_XDECREF(entry);
    return result;
}

static int make_deferred(Builder *builder, PyObject *node)
{
    int is_slice = build_is_kind(node, OP_MAKE_SLICE);

    return is_slice < 0 ? -1 : is_slice ? lower_call(builder, node) : lower_dimshuffle_now(builder, node);
}

/* Makes what was put off, as the node's own instruction. */
static int32_t lower_deferred(Builder *builder, PyObject *variable, PyObject *entry)
{
    PyObject *node = builder->node;
    int32_t node_index = builder->node_index;
    int result;

    Py_INCREF(entry);
    builder->node = PyTuple_GET_ITEM(entry, 0);
    builder->node_index = (int32_t)PyLong_AsLong(PyTuple_GET_ITEM(entry, 1));
    result = PyDict_DelItem(builder->deferred, variable) < 0 ? -1 : make_deferred(builder, builder->node);
    builder->node = node;
    builder->node_index = node_index;
    Py_DECREF(entry);
    return result < 0 ? -1 : build_value(builder, variable);
}

int32_t build_value(Builder *builder, PyObject *variable)
{
    PyObject *boxed = PyDict_GetItemWithError(builder->numbers, variable), *entry;

    if (boxed != NULL) return (int32_t)PyLong_AsLong(boxed);
    if (PyErr_Occurred()) return -1;
    entry = find_deferred(builder, variable);
    if (entry != NULL) return lower_deferred(builder, variable, entry);
    if (PyErr_Occurred()) return -1;
    if (PyObject_TypeCheck(variable, graph_state_of(variable)->Constant)) return lower_constant(builder, variable);
    return build_refuse(builder, PyExc_ValueError, "variable %S is neither an input, nor a constant, nor computed before it is read", variable);
}

PyObject *build_narrow(Builder *builder, PyObject *variable)
{
    PyObject *entry;

    while ((entry = find_deferred(builder, variable)) != NULL) variable = node_input(PyTuple_GET_ITEM(entry, 0), 0);
    return PyErr_Occurred() ? NULL : variable;
}

/* The number of a constant with this data, made when the key first comes. The key may be NULL, with an exception set. */
static int32_t constant_once(Builder *builder, PyObject *made, PyObject *key, PyObject *data, DType dtype)
{
    PyObject *boxed = key == NULL ? NULL : PyDict_GetItemWithError(made, key);
    int32_t number = -1;

    if (boxed != NULL) return (int32_t)PyLong_AsLong(boxed);
    if (PyErr_Occurred()) return -1;
    number = add_constant(builder, data, dtype);
    boxed = number < 0 ? NULL : PyLong_FromLong(number);
    if (boxed == NULL || PyDict_SetItem(made, key, boxed) < 0) number = -1;
    Py_XDECREF(boxed);
    return number;
}

int32_t build_integer(Builder *builder, int64_t integer)
{
    PyObject *key = PyLong_FromLongLong(integer);
    int32_t number = constant_once(builder, builder->integers, key, key, DTYPE_INT64);

    Py_XDECREF(key);
    return number;
}

int32_t build_float(Builder *builder, double number)
{
    PyObject *key = PyFloat_FromDouble(number);
    int32_t value = constant_once(builder, builder->casts, key, key, DTYPE_FLOAT64);

    Py_XDECREF(key);
    return value;
}

/* ---- conversions ---- */

/* Whether NumPy's cast of a constant and the program's give the same for every value, so that it may be made now. */
static bool cast_is_plain(DType from, DType to)
{
    char kind = dtype_kind(from);
    return (kind != 'f' && kind != 'c') || dtype_kind(to) == 'c' || (kind == 'f' && dtype_kind(to) == 'f');
}

int32_t build_cast(Builder *builder, int32_t number, DType dtype)
{
    Value value;
    int32_t result;

    if (number < 0) return -1;
    value = *build_peek(builder, number);
    if (value.value_class != VALUE_SCALAR && value.value_class != VALUE_ARRAY)
        return build_refuse(builder, PyExc_TypeError, "a number or an array is expected, a generator or an object came");
    if (value.dtype == dtype) return number;
    result = build_temporary(builder, dtype, value.ndim);
    if (result < 0 || build_emit1(builder, I_CAST, result, 1, &number, 0, NULL) < 0) return -1;
    return result;
}

/* The constant in another dtype, made once. */
static int32_t cast_constant(Builder *builder, PyObject *constant, DType dtype)
{
    PyObject *key = Py_BuildValue("(Oi)", constant, (int)dtype);
    PyObject *data = Py_NewRef(((Constant *)constant)->data); /* comparing keys can run Python, which may replace the constant's */
    int32_t number = constant_once(builder, builder->casts, key, data, dtype);

    Py_XDECREF(key);
    Py_DECREF(data);
    return number;
}

int32_t build_value_as(Builder *builder, PyObject *variable, DType dtype)
{
    Value value;

    if (PyObject_TypeCheck(variable, graph_state_of(variable)->Constant)) {
        if (build_describe(builder, variable, &value) < 0) return -1;
        if (value.value_class <= VALUE_ARRAY && value.dtype != dtype && cast_is_plain((DType)value.dtype, dtype)) return cast_constant(builder, variable, dtype);
    }
    return build_cast(builder, build_value(builder, variable), dtype);
}

int32_t build_pad(Builder *builder, int32_t number, int ndim)
{
    int64_t order[ARRAY_MAX_NDIM];
    int32_t result;
    Value value;

    if (number < 0) return -1;
    value = *build_peek(builder, number);
    if (value.ndim >= ndim) return number;
    for (int i = 0; i < ndim; i++) order[i] = i < ndim - value.ndim ? -1 : i - (ndim - value.ndim);
    result = build_temporary(builder, (DType)value.dtype, ndim);
    if (result < 0 || build_emit1(builder, I_TRANSPOSE, result, 1, &number, ndim, order) < 0) return -1;
    return result;
}

int build_read_constant(PyObject *variable, int64_t *integer)
{
    Py_ssize_t value;
    int is_known = PyObject_TypeCheck(variable, graph_state_of(variable)->Constant) ? graph_read_integer(variable, &value) : 0;

    if (is_known > 0) *integer = value;
    return is_known;
}

int32_t build_length(Builder *builder, PyObject *variable)
{
    Value value;

    if (build_describe(builder, variable, &value) < 0) return -1;
    if (value.value_class != VALUE_SCALAR || strchr("biu", dtype_kind((DType)value.dtype)) == NULL)
        return build_refuse(builder, PyExc_TypeError, "%S must be an integer scalar", variable);
    return build_value_as(builder, variable, DTYPE_INT64);
}

int build_lengths(Builder *builder, PyObject *node, Py_ssize_t first, Numbers *numbers)
{
    for (Py_ssize_t i = first; i < node_n_inputs(node); i++) {
        int32_t number = build_length(builder, node_input(node, i));
        if (number < 0 || numbers_add(numbers, number) < 0) return -1;
    }
    return 0;
}

/* ---- instructions ---- */

int build_emit(Builder *builder, Emit emit)
{
    Status status;
    Instr instr;

    memset(&instr, 0, sizeof(instr));
    instr.opcode = (uint8_t)emit.opcode;
    instr.flags = emit.flags;
    instr.dtype = (uint8_t)emit.dtype;
    instr.fn = emit.fn;
    instr.n_dst = emit.n_dst;
    instr.n_src = emit.n_src;
    instr.n_aux = emit.n_aux;
    instr.node = builder->node_index;
    status_clear(&status);
    if (program_add_instr(builder->program, instr, emit.dst, emit.src, emit.aux, &status) < 0) return build_raise(&status);
    return 0;
}

int build_emit1(Builder *builder, Opcode opcode, int32_t dst, int32_t n_src, const int32_t *src, int32_t n_aux, const int64_t *aux)
{
    return build_emit(builder, (Emit){.opcode = opcode, .n_dst = 1, .dst = &dst, .n_src = n_src, .src = src, .n_aux = n_aux, .aux = aux});
}

/* ---- attributes ---- */

int build_is_kind(PyObject *node, OpKind kind)
{
    PyObject *text = PyObject_GetAttrString(node_op(node), "kind");
    int result = text != NULL && PyUnicode_Check(text) && PyUnicode_CompareWithASCIIString(text, op_kind(kind)) == 0;

    if (text == NULL && !PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
    PyErr_Clear(); /* a user's Op has none */
    Py_XDECREF(text);
    return result;
}

int build_read_bool(PyObject *object, const char *name, bool *value)
{
    PyObject *attribute = PyObject_GetAttrString(object, name);
    int truth = attribute == NULL ? -1 : PyObject_IsTrue(attribute);

    Py_XDECREF(attribute);
    if (truth < 0) return -1;
    *value = truth != 0;
    return 0;
}

int build_read_int(PyObject *object, const char *name, int64_t *value)
{
    PyObject *attribute = PyObject_GetAttrString(object, name);

    if (attribute == NULL) return -1;
    *value = PyLong_AsLongLong(attribute);
    Py_DECREF(attribute);
    return *value == -1 && PyErr_Occurred() ? -1 : 0;
}

/* One axis, counted from 0. */
static int read_axis(Builder *builder, PyObject *item, int ndim, int64_t *axis)
{
    *axis = PyLong_AsLongLong(item);
    if (*axis == -1 && PyErr_Occurred()) return -1;
    if (*axis < 0) *axis += ndim;
    if (*axis < 0 || *axis >= ndim) return build_refuse(builder, PyExc_ValueError, "axis %R is out of bounds for %d dimensions", item, ndim);
    return 0;
}

static int compare_axes(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int build_read_axes(Builder *builder, PyObject *op, const char *name, int ndim, int64_t *axes, int *n)
{
    PyObject *attribute = PyObject_GetAttrString(op, name), *items = NULL;
    int result = -1;

    if (attribute == NULL) return -1;
    *n = -1;
    if (attribute == Py_None) {
        result = 0;
        goto done;
    }
    items = PyLong_Check(attribute) ? PyTuple_Pack(1, attribute) : PySequence_Tuple(attribute);
    if (items == NULL) goto done;
    if (PyTuple_GET_SIZE(items) > ndim) {
        build_refuse(builder, PyExc_ValueError, "%zd axes are given for %d dimensions", PyTuple_GET_SIZE(items), ndim);
        goto done;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items); i++)
        if (read_axis(builder, PyTuple_GET_ITEM(items, i), ndim, &axes[i]) < 0) goto done;
    *n = (int)PyTuple_GET_SIZE(items);
    qsort(axes, (size_t)*n, sizeof(*axes), compare_axes);
    result = 0;
done:
    Py_XDECREF(items);
    Py_DECREF(attribute);
    return result;
}
