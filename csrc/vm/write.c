/* Instructions that write parts of arrays: setting and adding, by slices and by row numbers; and the taking of rows.
 *
 * Relies on: frame.h. Relied on by: vm.c. */
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "vm/frame.h"

/* The destination, which is the source itself when it may be written, else a copy of it. */
Array *write_start(Frame *frame, const Step *step, Run *run)
{
    const Array *source = frame->arrays[step->src[0]];
    Array *dst = frame->arrays[step->dst[0]];

    if ((step->instr->flags & INSTR_INPLACE) != 0) {
        frame_show(frame, step->dst[0], source);
        return dst;
    }
    if (frame_shape_array(frame, step->dst[0], source->shape, run->status) < 0 || sweep_copy(dst, source, run) < 0) {
        return NULL;
    }
    return dst;
}

/* First byte and one past the last of a non-empty array. */
static void find_extent(const Array *array, uintptr_t *first, uintptr_t *end)
{
    int64_t low = 0, high = dtype_bytes(array->dtype);

    for (int i = 0; i < array->ndim; i++) {
        int64_t reach = (array->shape[i] - 1) * array->strides[i];
        *(reach < 0 ? &low : &high) += reach;
    }
    *first = (uintptr_t)array->data + (uintptr_t)low;
    *end = (uintptr_t)array->data + (uintptr_t)high;
}

bool write_can_overlap(const Array *a, const Array *b)
{
    uintptr_t first_a, end_a, first_b, end_b;

    if (array_size(a) == 0 || array_size(b) == 0) {
        return false;
    }
    find_extent(a, &first_a, &end_a);
    find_extent(b, &first_b, &end_b);
    return first_a < end_b && first_b < end_a;
}

/* A contiguous copy of value, in memory that the caller frees; NULL and a status, or *aside. */
char *write_aside(const Array *value, Array *aside, Run *run)
{
    size_t n_bytes;

    *aside = *value;
    array_set_contiguous_strides(aside);
    if (array_bytes(aside->ndim, aside->shape, aside->dtype, &n_bytes) < 0 || (aside->data = mem_alloc(n_bytes)) == NULL) {
        status_fail(run->status, STATUS_NO_MEMORY);
        return NULL;
    }
    if (sweep_copy(aside, value, run) < 0) {
        mem_free(aside->data);
        return NULL;
    }
    return aside->data;
}

/* Sets value, broadcast, in part, or adds it. */
int write_part(const Array *part, const Array *value, int32_t mode, Run *run)
{
    Sweep sweep;

    if (mode == WRITE_SET) {
        return sweep_copy(part, value, run);
    }
    sweep_start(&sweep, part->ndim, part->shape);
    sweep_add(&sweep, part);
    sweep_add(&sweep, value);
    sweep_add(&sweep, part);
    return sweep_run(&sweep, math_kernel(SCALAR_ADD, part->dtype), run);
}

int run_set_slice(Frame *frame, const Step *step, Run *run)
{
    const Instr *instr = step->instr;
    const int64_t *entries = instr_aux(frame->program, instr);
    Array value_view, part, aside, *dst;
    const Array *value = frame_operand(frame, step->src[1], &value_view);
    char *memory = NULL;
    int result;

    /* The part is found in the source first, so that a refusal leaves everything as it was. */
    if (slice_view(frame, frame->arrays[step->src[0]], instr->n_aux, entries, step->src + 2, &part, run) < 0) {
        return -1;
    }
    if (!can_broadcast(value, &part)) {
        return status_fail_shapes(run->status, STATUS_SET_SHAPE, value->ndim, value->shape, part.ndim, part.shape);
    }
    dst = write_start(frame, step, run);
    if (dst == NULL || slice_view(frame, dst, instr->n_aux, entries, step->src + 2, &part, run) < 0) {
        return -1;
    }
    if (write_can_overlap(value, &part)) {
        if ((memory = write_aside(value, &aside, run)) == NULL) {
            return -1;
        }
        value = &aside;
    }
    result = write_part(&part, value, instr->fn, run);
    mem_free(memory);
    return result;
}

/* Rows by number: `rows` is a vector of int64 (of any rank where rows are read). */

/* Refuses row numbers that array does not have, before anything is written. */
static int check_rows(const Array *rows, const Array *array, Run *run)
{
    int64_t length = array->shape[0];

    for (int64_t i = 0; i < rows->shape[0]; i++) {
        int64_t index = array_int64(rows, i);
        if (index >= length || index < -length) {
            return status_fail_numbers(run->status, STATUS_INDEX, index, length, 0, 0);
        }
        if (run_spend(run, 2) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Row number `index`, counted from the end when negative. */
static Array row_of(const Array *array, int64_t index)
{
    Array row = *array;

    row.ndim = array->ndim - 1;
    row.data += (index < 0 ? index + array->shape[0] : index) * array->strides[0];
    for (int i = 0; i < row.ndim; i++) {
        row.shape[i] = array->shape[i + 1];
        row.strides[i] = array->strides[i + 1];
    }
    return row;
}

/* Copies rows to `to`, a contiguous array, one behind the other. */
static int copy_rows(const Array *dst, const Array *source, const Array *rows, Run *run)
{
    Array from = row_of(source, 0), to = from;
    int64_t row_bytes = array_size(&from) * dtype_bytes(from.dtype);
    bool is_plain = array_is_contiguous(&from) && row_bytes <= 65536;

    to.data = dst->data;
    array_set_contiguous_strides(&to);

    for (int64_t i = 0; i < rows->shape[0]; i++, to.data += row_bytes) {
        int64_t index = array_int64(rows, i);

        from.data = source->data + (index < 0 ? index + source->shape[0] : index) * source->strides[0];
        if (is_plain) {
            memcpy(to.data, from.data, (size_t)row_bytes);
        } else if (sweep_copy(&to, &from, run) < 0) {
            return -1;
        }
        if (run_spend(run, 8 + (is_plain ? row_bytes / 8 : 0)) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Row numbers of any rank as a vector; *memory, to be freed, holds them where they had to be copied. */
static int flatten(const Array *rows, Array *flat, char **memory, Run *run)
{
    *memory = NULL;
    *flat = *rows;
    if (rows->ndim == 1) {
        return 0;
    }
    if (!array_is_contiguous(rows) && (*memory = write_aside(rows, flat, run)) == NULL) {
        return -1;
    }
    flat->shape[0] = array_size(rows);
    flat->strides[0] = dtype_bytes(DTYPE_INT64);
    flat->ndim = 1;
    return 0;
}

static int take(Frame *frame, const Step *step, const Array *rows, const Array *flat, Run *run)
{
    const Array *source = frame->arrays[step->src[0]], *dst = frame->arrays[step->dst[0]];
    int64_t shape[ARRAY_MAX_NDIM];

    if (check_rows(flat, source, run) < 0) {
        return -1;
    }
    memcpy(shape, rows->shape, (size_t)rows->ndim * sizeof(int64_t));
    memcpy(shape + rows->ndim, source->shape + 1, (size_t)(source->ndim - 1) * sizeof(int64_t));
    if (frame_shape_array(frame, step->dst[0], shape, run->status) < 0) {
        return -1;
    }
    return array_size(dst) == 0 ? 0 : copy_rows(dst, source, flat, run);
}

int run_take(Frame *frame, const Step *step, Run *run)
{
    const Array *rows = frame->arrays[step->src[1]];
    Array flat;
    char *memory;
    int result;

    if (flatten(rows, &flat, &memory, run) < 0) {
        return -1;
    }
    result = take(frame, step, rows, &flat, run);
    mem_free(memory);
    return result;
}

/* value, seen as one row for each row number. */
static int broadcast_rows(const Array *value, const Array *rows, const Array *dst, Array *shown, Run *run)
{
    Array target = *dst;

    target.shape[0] = rows->shape[0];
    if (!can_broadcast(value, &target)) {
        return status_fail_shapes(run->status, STATUS_SET_SHAPE, value->ndim, value->shape, target.ndim, target.shape);
    }
    *shown = target;
    shown->data = value->data;
    for (int i = 0; i < target.ndim; i++) {
        int own = i - (target.ndim - value->ndim);
        shown->strides[i] = own < 0 || value->shape[own] == 1 ? 0 : value->strides[own];
    }
    return 0;
}

/* Equal row numbers are written one after the other: the last one set stays, and all that is added adds up. */
static int write_rows(const Array *dst, const Array *shown, const Array *rows, int32_t mode, Run *run)
{
    for (int64_t i = 0; i < rows->shape[0]; i++) {
        Array part = row_of(dst, array_int64(rows, i)), value = row_of(shown, i);

        if (write_part(&part, &value, mode, run) < 0) {
            return -1;
        }
    }
    return 0;
}

int run_set_take(Frame *frame, const Step *step, Run *run)
{
    Array value_view, shown, aside, *dst;
    const Array *source = frame->arrays[step->src[0]], *rows = frame->arrays[step->src[2]];
    const Array *value = frame_operand(frame, step->src[1], &value_view);
    char *memory = NULL;
    int result;

    if (check_rows(rows, source, run) < 0 || broadcast_rows(value, rows, source, &shown, run) < 0) {
        return -1;
    }
    dst = write_start(frame, step, run);
    if (dst == NULL) {
        return -1;
    }
    if (write_can_overlap(value, dst)) {
        if ((memory = write_aside(value, &aside, run)) == NULL) {
            return -1;
        }
        (void)broadcast_rows(&aside, rows, dst, &shown, run); /* of a shape that was accepted */
    }
    result = write_rows(dst, &shown, rows, step->instr->fn, run);
    mem_free(memory);
    return result;
}
