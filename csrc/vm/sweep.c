/* Elementwise instructions: one kernel over arrays that broadcast against each other.
 *
 * A sweep walks all its arguments with the result's shape; where an argument broadcasts, its stride is 0. Axes that can
 * be walked as one are joined, and kernels get the last axis in pieces. Relies on: math. Relied on by: vm. */
#include <stddef.h>

#include "vm/frame.h"

enum { PIECE = 16384 }; /* elements a kernel call, so that an interrupt waits for a few milliseconds at most */

void sweep_start(Sweep *sweep, int ndim, const int64_t *shape)
{
    sweep->n_args = 0;
    sweep->ndim = ndim;
    for (int i = 0; i < ndim; i++) {
        sweep->shape[i] = shape[i];
    }
}

void sweep_add(Sweep *sweep, const Array *array)
{
    int arg = sweep->n_args++, skip = sweep->ndim - array->ndim;

    sweep->data[arg] = array->data;
    for (int i = 0; i < sweep->ndim; i++) {
        int axis = i - skip;
        sweep->strides[i][arg] = axis < 0 || array->shape[axis] == 1 ? 0 : array->strides[axis];
    }
}

static bool can_join(const Sweep *sweep, int outer, int inner)
{
    for (int arg = 0; arg < sweep->n_args; arg++) {
        if (sweep->strides[outer][arg] != sweep->strides[inner][arg] * sweep->shape[inner]) {
            return false;
        }
    }
    return true;
}

static void copy_axis(Sweep *sweep, int to, int from)
{
    sweep->shape[to] = sweep->shape[from];
    for (int arg = 0; arg < sweep->n_args; arg++) {
        sweep->strides[to][arg] = sweep->strides[from][arg];
    }
}

/* Drops axes of length 1 and joins neighbours; false when there is no element. At least one axis is left. */
static bool join_axes(Sweep *sweep)
{
    int n = 0;

    for (int i = 0; i < sweep->ndim; i++) {
        if (sweep->shape[i] == 0) {
            return false;
        }
        if (sweep->shape[i] == 1) {
            continue;
        }
        if (n > 0 && can_join(sweep, n - 1, i)) {
            int64_t length = sweep->shape[n - 1];
            copy_axis(sweep, n - 1, i);
            sweep->shape[n - 1] *= length;
        } else {
            copy_axis(sweep, n++, i);
        }
    }
    if (n == 0) {
        sweep->shape[0] = 1;
        for (int arg = 0; arg < sweep->n_args; arg++) {
            sweep->strides[0][arg] = 0;
        }
        n = 1;
    }
    sweep->ndim = n;
    return true;
}

/* A short last axis costs a kernel call every few elements: then the longest axis goes last, since order does not matter. */
static void move_longest_last(Sweep *sweep)
{
    int last = sweep->ndim - 1, longest = last;

    for (int i = 0; i < last; i++) {
        longest = sweep->shape[i] > sweep->shape[longest] ? i : longest;
    }
    if (sweep->shape[last] < 16 && sweep->shape[longest] >= 4 * sweep->shape[last]) {
        Sweep old = *sweep;
        copy_axis(sweep, last, longest);
        sweep->shape[longest] = old.shape[last];
        for (int arg = 0; arg < sweep->n_args; arg++) {
            sweep->strides[longest][arg] = old.strides[last][arg];
        }
    }
}

/* A kernel along one axis, in pieces. */
static int run_row(int n_args, char *const *data, const int64_t *strides, int64_t left, MapKernel kernel, Run *run)
{
    char *args[SWEEP_MAX_ARGS];

    for (int arg = 0; arg < n_args; arg++) {
        args[arg] = data[arg];
    }
    for (;;) {
        int64_t n = left < PIECE ? left : PIECE;

        kernel(n, args, strides);
        if (run_spend(run, n + 8) < 0) {
            return -1;
        }
        left -= n;
        if (left == 0) {
            return 0;
        }
        for (int arg = 0; arg < n_args; arg++) {
            args[arg] += n * strides[arg];
        }
    }
}

int sweep_run(Sweep *sweep, MapKernel kernel, Run *run)
{
    int64_t index[ARRAY_MAX_NDIM] = {0};
    char *data[SWEEP_MAX_ARGS];
    int last;

    if (!join_axes(sweep)) {
        return 0;
    }
    move_longest_last(sweep);
    last = sweep->ndim - 1;
    for (int arg = 0; arg < sweep->n_args; arg++) {
        data[arg] = sweep->data[arg];
    }
    for (;;) {
        int axis = last - 1;

        if (run_row(sweep->n_args, data, sweep->strides[last], sweep->shape[last], kernel, run) < 0) {
            return -1;
        }
        while (axis >= 0 && ++index[axis] == sweep->shape[axis]) {
            for (int arg = 0; arg < sweep->n_args; arg++) {
                data[arg] -= (sweep->shape[axis] - 1) * sweep->strides[axis][arg];
            }
            index[axis--] = 0;
        }
        if (axis < 0) {
            return 0;
        }
        for (int arg = 0; arg < sweep->n_args; arg++) {
            data[arg] += sweep->strides[axis][arg];
        }
    }
}

int sweep_copy(const Array *dst, const Array *src, Run *run)
{
    Sweep sweep;
    Array shown = *src;

    while (shown.ndim > dst->ndim) { /* leading axes of length 1 */
        shown.ndim--;
        for (int i = 0; i < shown.ndim; i++) {
            shown.shape[i] = shown.shape[i + 1];
            shown.strides[i] = shown.strides[i + 1];
        }
    }
    sweep_start(&sweep, dst->ndim, dst->shape);
    sweep_add(&sweep, &shown);
    sweep_add(&sweep, dst);
    return sweep_run(&sweep, math_cast(src->dtype, dst->dtype), run);
}

bool can_broadcast(const Array *src, const Array *dst)
{
    int skip = dst->ndim - src->ndim;

    for (int i = 0; i < src->ndim; i++) {
        int64_t length = src->shape[i];
        if (length != 1 && (i + skip < 0 || length != dst->shape[i + skip])) {
            return false;
        }
    }
    return true;
}

/* Widens shape, of ndim lengths, by source number i. Where lengths disagree, the message compares the source with what
 * those before it made. */
static int broadcast_one(int ndim, int64_t *shape, const Array *source, int32_t i, Run *run)
{
    for (int own = 0; own < source->ndim; own++) {
        int axis = own + ndim - source->ndim;
        int64_t length = source->shape[own];

        if (length == 1 || length == shape[axis]) {
            continue;
        }
        if (shape[axis] != 1) {
            return status_fail_numbers(run->status, STATUS_SHAPE_MISMATCH, axis, shape[axis], i, length);
        }
        shape[axis] = length;
    }
    return 0;
}

int sweep_broadcast(Frame *frame, const Step *step, int ndim, int64_t *shape, Run *run)
{
    Array view;

    for (int axis = 0; axis < ndim; axis++) {
        shape[axis] = 1;
    }
    for (int32_t i = 0; i < step->instr->n_src; i++) {
        if (broadcast_one(ndim, shape, frame_operand(frame, step->src[i], &view), i, run) < 0) {
            return -1;
        }
    }
    return 0;
}

int sweep_find_zero(const Array *array, bool *has_zero, Run *run)
{
    uint8_t found = 0;
    Array flag = {.data = (char *)&found, .dtype = DTYPE_BOOL};
    Sweep sweep;

    sweep_start(&sweep, array->ndim, array->shape);
    sweep_add(&sweep, array);
    sweep_add(&sweep, &flag);
    if (sweep_run(&sweep, math_find_zero(array->dtype), run) < 0) {
        return -1;
    }
    *has_zero = found != 0;
    return 0;
}

static int refuse_zeros(const Array *divisor, Run *run)
{
    bool has_zero;

    if (sweep_find_zero(divisor, &has_zero, run) < 0) {
        return -1;
    }
    return has_zero ? status_fail(run->status, STATUS_ZERO_DIVISION) : 0;
}

/* The commonest operands, scalars and whole arrays of one shape, need no walk: then gives the shape's array and where each
 * operand is. Saves half the time of an instruction on ten elements. */
static const Array *find_plain(Frame *frame, const Step *step, char **data, int64_t *strides)
{
    const Array *whole = NULL;
    int32_t n = step->instr->n_src;

    if (n >= SWEEP_MAX_ARGS || (n > 2 && scalar_n_in(step->instr->fn) < 0) || scalar_can_raise(step->instr->fn, (DType)step->instr->dtype)) {
        return NULL;
    }
    for (int32_t i = 0; i < n; i++) {
        const Array *array = frame->arrays[step->src[i]];

        data[i] = array != NULL ? array->data : frame->addr[step->src[i]];
        strides[i] = array != NULL ? dtype_bytes(array->dtype) : 0;
        if (array == NULL) {
            continue;
        }
        if (!array_is_contiguous(array) || (whole != NULL && !array_same_shape(whole, array))) {
            return NULL;
        }
        whole = array;
    }
    return whole;
}

static int map_plain(Frame *frame, const Step *step, const Array *whole, char **data, int64_t *strides, Run *run)
{
    int32_t n = step->instr->n_src;
    int64_t size = array_size(whole);
    Array *dst = frame->arrays[step->dst[0]];

    if (frame_shape_array(frame, step->dst[0], whole->shape, run->status) < 0) {
        return -1;
    }
    data[n] = dst->data;
    strides[n] = dtype_bytes(dst->dtype);
    return size == 0 ? 0 : run_row(n + 1, data, strides, size, step->kernel, run);
}

/* The operands that the kernel takes first; then, for sums and products of more, the result so far and one more. */
static int map_sources(Frame *frame, const Step *step, const Array *dst, Run *run)
{
    int32_t n = step->instr->n_src, n_in = scalar_n_in(step->instr->fn), n_first = n_in >= 0 ? n : 2;
    Array view;
    Sweep sweep;

    sweep_start(&sweep, dst->ndim, dst->shape);
    for (int32_t i = 0; i < n_first; i++) {
        sweep_add(&sweep, frame_operand(frame, step->src[i], &view));
    }
    sweep_add(&sweep, dst);
    if (sweep_run(&sweep, step->kernel, run) < 0) {
        return -1;
    }
    for (int32_t i = n_first; i < n; i++) {
        sweep_start(&sweep, dst->ndim, dst->shape);
        sweep_add(&sweep, dst);
        sweep_add(&sweep, frame_operand(frame, step->src[i], &view));
        sweep_add(&sweep, dst);
        if (sweep_run(&sweep, step->kernel, run) < 0) {
            return -1;
        }
    }
    return 0;
}

int run_map(Frame *frame, const Step *step, Run *run)
{
    const Instr *instr = step->instr;
    Array view, *dst;
    int64_t shape[ARRAY_MAX_NDIM], strides[SWEEP_MAX_ARGS];
    char *data[SWEEP_MAX_ARGS];
    const Array *whole = find_plain(frame, step, data, strides);

    if (whole != NULL) {
        return map_plain(frame, step, whole, data, strides, run);
    }
    if (sweep_broadcast(frame, step, frame->program->values[step->dst[0]].ndim, shape, run) < 0) {
        return -1;
    }
    dst = frame_result(frame, step->dst[0], shape, &view, run);
    if (dst == NULL) {
        return -1;
    }
    if (scalar_can_raise(instr->fn, (DType)instr->dtype) && array_size(dst) > 0) {
        Array divisor_view;
        if (refuse_zeros(frame_operand(frame, step->src[1], &divisor_view), run) < 0) {
            return -1;
        }
    }
    return map_sources(frame, step, dst, run);
}

int run_cast(Frame *frame, const Step *step, Run *run)
{
    Array source_view, view;
    const Array *source = frame_operand(frame, step->src[0], &source_view);
    Array *dst = frame_result(frame, step->dst[0], source->shape, &view, run);

    return dst == NULL ? -1 : sweep_copy(dst, source, run);
}
