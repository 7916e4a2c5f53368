/* Indexing: slices, rows taken by number, and writing to them.
 *
 * Relies on: build. Relied on by: lower.c. */
#include "lower/build.h"

/* One entry of idx_list: an index, or the parts of a range that are given. */
static int read_entry(Builder *builder, PyObject *entry, int64_t *code)
{
    static const int64_t bits[3] = {SLICE_START, SLICE_STOP, SLICE_STEP};

    if (PyUnicode_Check(entry)) {
        *code = SLICE_INDEX;
        return 0;
    }
    if (!PyTuple_Check(entry) || PyTuple_GET_SIZE(entry) != 3) return build_refuse(builder, PyExc_TypeError, "idx_list has an entry %R", entry);
    *code = SLICE_RANGE;
    for (int i = 0; i < 3; i++) {
        int given = PyObject_IsTrue(PyTuple_GET_ITEM(entry, i));
        if (given < 0) return -1;
        if (given) *code |= bits[i];
    }
    return 0;
}

/* The entries of the op's idx_list; *n_indices is how many of them drop their axis. */
static int read_entries(Builder *builder, PyObject *op, int ndim, int64_t *entries, int *n, int *n_indices)
{
    PyObject *attribute = PyObject_GetAttrString(op, "idx_list"), *list = NULL;
    int result = -1;

    *n_indices = 0;
    list = attribute == NULL ? NULL : PySequence_Tuple(attribute);
    Py_XDECREF(attribute);
    if (list == NULL) return -1;
    if (PyTuple_GET_SIZE(list) > ndim) {
        build_refuse(builder, PyExc_IndexError, "too many indices for array");
        goto done;
    }
    *n = (int)PyTuple_GET_SIZE(list);
    for (int i = 0; i < *n; i++) {
        if (read_entry(builder, PyTuple_GET_ITEM(list, i), &entries[i]) < 0) goto done;
        *n_indices += entries[i] == SLICE_INDEX;
    }
    result = 0;
done:
    Py_DECREF(list);
    return result;
}

int lower_subtensor(Builder *builder, PyObject *node)
{
    Numbers src = {0};
    int64_t entries[ARRAY_MAX_NDIM];
    int n, n_indices, result = -1;
    int32_t dst, number = build_value(builder, node_input(node, 0));

    if (number < 0 || numbers_add(&src, number) < 0) goto done;
    if (read_entries(builder, node_op(node), build_peek(builder, number)->ndim, entries, &n, &n_indices) < 0) goto done;
    if (n == 0) {
        result = lower_alias(builder, node);
        goto done;
    }
    if (build_lengths(builder, node, 1, &src) < 0) goto done;
    dst = build_result(builder, node_output(node, 0));
    if (dst >= 0) result = build_emit1(builder, I_SLICE, dst, src.n, src.items, n, entries);
done:
    numbers_clear(&src);
    return result;
}

int lower_read_write(PyObject *op, int *fn, uint8_t *flags)
{
    bool sets, inplace;

    if (build_read_bool(op, "set_instead_of_inc", &sets) < 0 || build_read_bool(op, "inplace", &inplace) < 0) return -1;
    *fn = sets ? WRITE_SET : WRITE_ADD;
    *flags = inplace ? INSTR_INPLACE : 0;
    return 0;
}

/* x and the value to write: cast to x's dtype, its rank raised to the part's. */
static int read_written(Builder *builder, PyObject *node, int part_ndim, int32_t x, Numbers *src)
{
    int32_t y = build_pad(builder, build_value_as(builder, node_input(node, 1), (DType)build_peek(builder, x)->dtype), part_ndim);

    if (y < 0) return -1;
    if (build_peek(builder, y)->ndim > part_ndim)
        return build_refuse(builder, PyExc_TypeError, "Trying to increment a %d-dimensional subtensor with a %d-dimensional value.", part_ndim, (int)build_peek(builder, y)->ndim);
    return numbers_add(src, x) < 0 || numbers_add(src, y) < 0 ? -1 : 0;
}

int lower_inc_subtensor(Builder *builder, PyObject *node)
{
    Numbers src = {0};
    int64_t entries[ARRAY_MAX_NDIM];
    uint8_t flags;
    int n, n_indices, fn, result = -1;
    int32_t dst, x = build_value(builder, node_input(node, 0));

    if (x < 0 || lower_read_write(node_op(node), &fn, &flags) < 0) return -1;
    if (read_entries(builder, node_op(node), build_peek(builder, x)->ndim, entries, &n, &n_indices) < 0) goto done;
    if (read_written(builder, node, build_peek(builder, x)->ndim - n_indices, x, &src) < 0) goto done;
    if (build_lengths(builder, node, 2, &src) < 0) goto done;
    dst = build_result(builder, node_output(node, 0));
    if (dst < 0) goto done;
    if (build_peek(builder, x)->ndim == 0) { /* all there is: the value itself, or the sum */
        if (fn == WRITE_SET) result = build_emit1(builder, I_COPY, dst, 1, &src.items[1], 0, NULL);
        else result = build_emit(builder, (Emit){.opcode = I_MAP, .fn = SCALAR_ADD, .dtype = (DType)build_peek(builder, x)->dtype, .n_dst = 1, .dst = &dst, .n_src = 2, .src = src.items});
        goto done;
    }
    result = build_emit(builder, (Emit){.opcode = I_SET_SLICE, .fn = fn, .dtype = (DType)build_peek(builder, x)->dtype, .flags = flags, .n_dst = 1,
                                        .dst = &dst, .n_src = src.n, .src = src.items, .n_aux = n, .aux = entries});
done:
    numbers_clear(&src);
    return result;
}

/* The row numbers as an int64 vector; 1 when they have another rank. */
static int read_rows(Builder *builder, PyObject *variable, int32_t *rows)
{
    Value value;

    if (build_describe(builder, variable, &value) < 0) return -1;
    if (value.ndim != 1) return 1;
    *rows = build_value_as(builder, variable, DTYPE_INT64);
    return *rows < 0 ? -1 : 0;
}

int lower_advanced_subtensor1(Builder *builder, PyObject *node)
{
    int32_t src[2], dst;
    int result = read_rows(builder, node_input(node, 1), &src[1]);

    if (result != 0) return result;
    src[0] = build_value(builder, node_input(node, 0));
    if (src[0] < 0) return -1;
    dst = build_result(builder, node_output(node, 0));
    return dst < 0 ? -1 : build_emit1(builder, I_TAKE, dst, 2, src, 0, NULL);
}

int lower_advanced_inc_subtensor1(Builder *builder, PyObject *node)
{
    Numbers src = {0};
    uint8_t flags;
    int32_t dst, rows, x;
    int fn, result = read_rows(builder, node_input(node, 2), &rows);

    if (result != 0) return result;
    result = -1;
    x = build_value(builder, node_input(node, 0));
    if (x < 0 || lower_read_write(node_op(node), &fn, &flags) < 0) return -1;
    if (read_written(builder, node, build_peek(builder, x)->ndim, x, &src) < 0 || numbers_add(&src, rows) < 0) goto done;
    dst = build_result(builder, node_output(node, 0));
    if (dst < 0) goto done;
    result = build_emit(builder, (Emit){.opcode = I_SET_TAKE, .fn = fn, .dtype = (DType)build_peek(builder, x)->dtype, .flags = flags, .n_dst = 1,
                                        .dst = &dst, .n_src = src.n, .src = src.items});
done:
    numbers_clear(&src);
    return result;
}
