/* Instructions that look at arrays in another way: views, lengths, checks.
 *
 * A view borrows the buffer of its source. One of rank 0 is copied into its register.
 * Relies on: frame.h. Relied on by: vm.c, write.c (slice_view). */
#include <stddef.h>
#include <string.h>

#include "vm/frame.h"

int run_alias(Frame *frame, const Step *step, Run *run)
{
    Array view;

    switch (frame->program->values[step->src[0]].value_class) {
    case VALUE_STREAM:
        frame->pointers[step->dst[0]] = frame->pointers[step->src[0]];
        return 0;
    case VALUE_OBJECT:
        frame_put_object(frame, step->dst[0], frame->pointers[step->src[0]], run->host);
        return 0;
    default:
        frame_show(frame, step->dst[0], frame_operand(frame, step->src[0], &view));
        return 0;
    }
}

int run_transpose(Frame *frame, const Step *step, Run *run)
{
    const Program *program = frame->program;
    const int64_t *axes = instr_aux(program, step->instr);
    Array source_view, view;
    const Array *source = frame_operand(frame, step->src[0], &source_view);
    uint32_t used = 0;

    view.data = source->data;
    view.buffer = source->buffer;
    view.dtype = source->dtype;
    view.ndim = step->instr->n_aux;
    for (int i = 0; i < view.ndim; i++) {
        view.shape[i] = axes[i] < 0 ? 1 : source->shape[axes[i]];
        view.strides[i] = axes[i] < 0 ? 0 : source->strides[axes[i]];
        used |= axes[i] < 0 ? 0 : UINT32_C(1) << axes[i];
    }
    for (int i = 0; i < source->ndim; i++) {
        if ((used >> i & 1) == 0 && source->shape[i] != 1) {
            return status_fail_numbers(run->status, STATUS_BAD_AXIS_LENGTH, i, source->shape[i], 0, 0);
        }
    }
    frame_show(frame, step->dst[0], &view);
    return 0;
}

int run_spread(Frame *frame, const Step *step, Run *run)
{
    Array one_view, view;
    const Array *one = frame_operand(frame, step->src[0], &one_view), *like = frame->arrays[step->src[1]];

    if (array_size(one) != 1) {
        return status_fail_text(run->status, STATUS_BAD_PROGRAM, "what is spread is not one element");
    }
    view.data = one->data;
    view.buffer = one->buffer;
    view.dtype = one->dtype;
    view.ndim = like->ndim;
    for (int i = 0; i < view.ndim; i++) {
        view.shape[i] = like->shape[i];
        view.strides[i] = 0;
    }
    frame_show(frame, step->dst[0], &view);
    return 0;
}

/* Fills the one negative length of a new shape from the number of elements. */
static int complete_shape(int64_t size, int ndim, int64_t *shape, Run *run)
{
    int64_t known = 1;
    int unknown = -1;

    for (int i = 0; i < ndim; i++) {
        if (shape[i] >= 0) {
            if (shape[i] != 0 && known > INT64_MAX / shape[i]) {
                return status_fail_shapes(run->status, STATUS_TOO_LARGE, ndim, shape, 0, shape);
            }
            known *= shape[i];
        } else if (unknown >= 0) {
            return status_fail_text(run->status, STATUS_DOMAIN, "can only specify one unknown dimension");
        } else {
            unknown = i;
        }
    }
    if (unknown >= 0 ? known == 0 || size % known != 0 : known != size) {
        status_fail_shapes(run->status, STATUS_RESHAPE, 0, shape, ndim, shape);
        run->status->a = size;
        return -1;
    }
    if (unknown >= 0) {
        shape[unknown] = size / known;
    }
    return 0;
}

/* Strides that show src in view's shape, if there are any. Axes are taken in the smallest groups of equal numbers of
 * elements on both sides; a group of src that is walked as one axis can be cut anew. */
static bool reshape_strides(const Array *src, Array *view)
{
    int64_t old_shape[ARRAY_MAX_NDIM], old_strides[ARRAY_MAX_NDIM];
    int n_old = 0, old = 0, new = 0;

    for (int i = 0; i < src->ndim; i++) {
        if (src->shape[i] != 1) {
            old_shape[n_old] = src->shape[i];
            old_strides[n_old++] = src->strides[i];
        }
    }
    while (old < n_old && new < view->ndim) {
        int64_t n_old_items = old_shape[old], n_new_items = view->shape[new], stride;
        int old_end = old + 1, new_end = new + 1;

        while (n_old_items != n_new_items) {
            if (n_new_items < n_old_items) {
                n_new_items *= view->shape[new_end++];
            } else {
                n_old_items *= old_shape[old_end++];
            }
        }
        for (int i = old; i + 1 < old_end; i++) {
            if (old_strides[i] != old_strides[i + 1] * old_shape[i + 1]) {
                return false;
            }
        }
        stride = old_strides[old_end - 1];
        for (int i = new_end - 1; i >= new; i--) {
            view->strides[i] = stride;
            stride *= view->shape[i];
        }
        old = old_end;
        new = new_end;
    }
    for (; new < view->ndim; new++) { /* length 1, all of them */
        view->strides[new] = dtype_bytes(view->dtype);
    }
    return true;
}

int run_reshape(Frame *frame, const Step *step, Run *run)
{
    Array source_view, shape_view, view, *dst;
    const Array *source = frame_operand(frame, step->src[0], &source_view);
    const Array *lengths = frame_operand(frame, step->src[1], &shape_view);
    int64_t size = array_size(source);
    size_t n_bytes;

    view = *source;
    view.ndim = frame->program->values[step->dst[0]].ndim;
    if (lengths->shape[0] != view.ndim) {
        return status_fail_text(run->status, STATUS_DOMAIN, "the length of the new shape differs from the rank of the result");
    }
    for (int i = 0; i < view.ndim; i++) {
        view.shape[i] = array_int64(lengths, i);
    }
    if (complete_shape(size, view.ndim, view.shape, run) < 0) {
        return -1;
    }
    if (size == 0) {
        if (array_bytes(view.ndim, view.shape, view.dtype, &n_bytes) < 0) {
            return status_fail_shapes(run->status, STATUS_TOO_LARGE, view.ndim, view.shape, 0, NULL); /* by its other axes */
        }
        array_set_contiguous_strides(&view);
    }
    if (size == 0 || reshape_strides(source, &view)) {
        frame_show(frame, step->dst[0], &view);
        return 0;
    }
    /* A result of rank 0 has one element and was shown above. The copy has the source's shape first. */
    if (frame_shape_array(frame, step->dst[0], view.shape, run->status) < 0) {
        return -1;
    }
    dst = frame->arrays[step->dst[0]];
    view = *source;
    view.data = dst->data;
    array_set_contiguous_strides(&view);
    return sweep_copy(&view, source, run);
}

int run_shape(Frame *frame, const Step *step, Run *run)
{
    Array view;
    const Array *source = frame_operand(frame, step->src[0], &view);
    int64_t length = source->ndim, lengths[ARRAY_MAX_NDIM];

    if (length > 0) {
        memcpy(lengths, source->shape, (size_t)length * sizeof(int64_t));
    }
    if (frame_shape_array(frame, step->dst[0], &length, run->status) < 0) {
        return -1;
    }
    if (length > 0) {
        memcpy(frame->arrays[step->dst[0]]->data, lengths, (size_t)length * sizeof(int64_t));
    }
    return 0;
}

int run_shape_at(Frame *frame, const Step *step, Run *run)
{
    int64_t axis = instr_aux(frame->program, step->instr)[0];

    memcpy(frame->addr[step->dst[0]], &frame->arrays[step->src[0]]->shape[axis], sizeof(int64_t));
    return 0;
}

/* A bound of a slice as Python has it: from the end when negative, then clipped. */
static int64_t clip_bound(int64_t bound, int64_t length, int64_t low, int64_t high)
{
    bound += bound < 0 ? length : 0;
    return bound < low ? low : bound > high ? high : bound;
}

/* start : stop : step along one axis; a bound that is not given is NULL. */
static void cut_axis(Array *part, int axis, const char *data, int64_t length, int64_t stride, const int64_t *start, const int64_t *stop, int64_t step)
{
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? length : length - 1;
    int64_t first = start != NULL ? clip_bound(*start, length, low, high) : step > 0 ? low : high;
    int64_t end = stop != NULL ? clip_bound(*stop, length, low, high) : step > 0 ? high : low;
    int64_t span = step > 0 ? end - first : first - end;
    uint64_t pace = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    int64_t n = span > 0 ? (int64_t)(((uint64_t)span - 1) / pace) + 1 : 0;

    part->shape[axis] = n;
    part->strides[axis] = n > 1 ? stride * step : stride; /* a step that is not taken may be too large to multiply */
    part->data = (char *)data + (n > 0 ? first * stride : 0);
}

static const int64_t *peek_bound(Frame *frame, int64_t entry, int64_t bit, const int32_t **src)
{
    return (entry & bit) != 0 ? (const int64_t *)(const void *)frame->addr[*(*src)++] : NULL;
}

int slice_view(Frame *frame, const Array *array, int32_t n_entries, const int64_t *entries, const int32_t *src, Array *part, Run *run)
{
    Array cut = *array;

    cut.ndim = 0;
    for (int axis = 0; axis < array->ndim; axis++) {
        int64_t length = array->shape[axis], stride = array->strides[axis];

        if (axis >= n_entries) {
            cut.shape[cut.ndim] = length;
            cut.strides[cut.ndim++] = stride;
        } else if (entries[axis] == SLICE_INDEX) {
            int64_t index = frame_int64(frame, *src++), place = index < 0 ? index + length : index;
            if (place < 0 || place >= length) {
                return status_fail_numbers(run->status, STATUS_INDEX, index, length, 0, 0);
            }
            cut.data += place * stride;
        } else {
            const int64_t *start = peek_bound(frame, entries[axis], SLICE_START, &src);
            const int64_t *stop = peek_bound(frame, entries[axis], SLICE_STOP, &src);
            const int64_t *step = peek_bound(frame, entries[axis], SLICE_STEP, &src);
            if (step != NULL && *step == 0) {
                return status_fail(run->status, STATUS_ZERO_STEP_SLICE);
            }
            cut_axis(&cut, cut.ndim++, cut.data, length, stride, start, stop, step == NULL ? 1 : *step);
        }
    }
    *part = cut;
    return 0;
}

int run_slice(Frame *frame, const Step *step, Run *run)
{
    const Instr *instr = step->instr;
    Array source_view, part;
    const Array *source = frame_operand(frame, step->src[0], &source_view);

    if (slice_view(frame, source, instr->n_aux, instr_aux(frame->program, instr), step->src + 1, &part, run) < 0) {
        return -1;
    }
    frame_show(frame, step->dst[0], &part);
    return 0;
}

int run_check_shape(Frame *frame, const Step *step, Run *run)
{
    const int64_t *is_given = instr_aux(frame->program, step->instr);
    const int32_t *src = step->src + 1;
    Array view;
    const Array *source = frame_operand(frame, step->src[0], &view);

    for (int i = 0; i < source->ndim && i < step->instr->n_aux; i++) {
        int64_t expected = is_given[i] != 0 ? frame_int64(frame, *src++) : source->shape[i];
        if (source->shape[i] != expected) {
            return status_fail_numbers(run->status, STATUS_SPECIFY_SHAPE, i, source->shape[i], expected, 0);
        }
    }
    frame_show(frame, step->dst[0], source);
    return 0;
}

int run_assert(Frame *frame, const Step *step, Run *run)
{
    const Program *program = frame->program;
    Array view;

    for (int32_t i = 1; i < step->instr->n_src; i++) {
        bool has_zero;
        if (sweep_find_zero(frame_operand(frame, step->src[i], &view), &has_zero, run) < 0) {
            return -1;
        }
        if (has_zero) {
            return status_fail_text(run->status, step->instr->fn == ASSERT_LINALG ? STATUS_LINALG : STATUS_ASSERTION, program->texts[instr_aux(program, step->instr)[0]]);
        }
    }
    frame_show(frame, step->dst[0], frame_operand(frame, step->src[0], &view));
    return 0;
}

int run_check_steps(Frame *frame, const Step *step, Run *run)
{
    int64_t n_steps = frame_int64(frame, step->src[0]);
    Array view;

    if (n_steps < 0) {
        return status_fail_numbers(run->status, STATUS_NEGATIVE_STEPS, n_steps, 0, 0, 0);
    }
    frame_show(frame, step->dst[0], frame_operand(frame, step->src[0], &view));
    return 0;
}

int run_check_rows(Frame *frame, const Step *step, Run *run)
{
    const int64_t *aux = instr_aux(frame->program, step->instr);
    Array view;
    const Array *rows = frame_operand(frame, step->src[0], &view);

    if (rows->shape[0] < aux[0]) {
        return status_fail_numbers(run->status, STATUS_SHORT_STATE, rows->shape[0], aux[0], aux[1], 0);
    }
    frame_show(frame, step->dst[0], rows);
    return 0;
}
