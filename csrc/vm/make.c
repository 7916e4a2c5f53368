/* Instructions that make new arrays: filling, packing, joining, copying, ranges.
 *
 * Relies on: frame.h. Relied on by: vm.c. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "vm/frame.h"

static void read_lengths(Frame *frame, int32_t n, const int32_t *src, int64_t *lengths)
{
    for (int32_t i = 0; i < n; i++) {
        lengths[i] = frame_int64(frame, src[i]);
    }
}

int run_fill(Frame *frame, const Step *step, Run *run)
{
    int32_t n = step->instr->n_src - 1;
    Array value_view, view, *dst;
    int64_t shape[ARRAY_MAX_NDIM];
    const Array *value = frame_operand(frame, step->src[0], &value_view);

    read_lengths(frame, n, step->src + 1, shape);
    dst = frame_result(frame, step->dst[0], shape, &view, run);
    if (dst == NULL) {
        return -1;
    }
    if (!can_broadcast(value, dst)) {
        return status_fail_shapes(run->status, STATUS_SET_SHAPE, value->ndim, value->shape, dst->ndim, dst->shape);
    }
    return sweep_copy(dst, value, run);
}

int run_empty(Frame *frame, const Step *step, Run *run)
{
    Array view;
    int64_t shape[ARRAY_MAX_NDIM];

    read_lengths(frame, step->instr->n_src, step->src, shape);
    return frame_result(frame, step->dst[0], shape, &view, run) == NULL ? -1 : 0;
}

int run_pack(Frame *frame, const Step *step, Run *run)
{
    int64_t length = step->instr->n_src;
    Array *dst;

    if (frame_shape_array(frame, step->dst[0], &length, run->status) < 0) {
        return -1;
    }
    dst = frame->arrays[step->dst[0]];
    for (int32_t i = 0; i < step->instr->n_src; i++) {
        char *args[2] = {frame->addr[step->src[i]], dst->data + i * dst->strides[0]};
        const int64_t strides[2] = {0, 0};
        math_cast(frame->program->values[step->src[i]].dtype, dst->dtype)(1, args, strides);
    }
    return 0;
}

/* The joined shape, or a refusal of the first length that differs off the axis. */
static int join_shapes(Frame *frame, const int32_t *parts, int32_t n, int axis, int64_t *shape, Run *run)
{
    Array *const *arrays = frame->arrays;
    const Array *first = arrays[parts[0]];

    memcpy(shape, first->shape, (size_t)first->ndim * sizeof(int64_t));
    for (int32_t i = 1; i < n; i++) {
        const Array *array = arrays[parts[i]];
        for (int j = 0; j < first->ndim; j++) {
            if (j == axis) {
                shape[axis] += array->shape[axis];
            } else if (array->shape[j] != first->shape[j]) {
                return status_fail_numbers(run->status, STATUS_JOIN_SHAPE, j, first->shape[j], i, array->shape[j]);
            }
        }
    }
    return 0;
}

int run_join(Frame *frame, const Step *step, Run *run)
{
    const bool is_computed = step->instr->n_aux == 0;
    const int32_t *parts = step->src + is_computed, n = step->instr->n_src - is_computed;
    int64_t shape[ARRAY_MAX_NDIM], given = is_computed ? frame_int64(frame, step->src[0]) : instr_aux(frame->program, step->instr)[0];
    int64_t ndim = frame->program->values[step->dst[0]].ndim, axis = given < 0 ? given + ndim : given;
    Array part;

    if (axis < 0 || axis >= ndim) {
        return status_fail_numbers(run->status, STATUS_JOIN_AXIS, given, ndim, 0, 0);
    }
    if (join_shapes(frame, parts, n, (int)axis, shape, run) < 0 || frame_shape_array(frame, step->dst[0], shape, run->status) < 0) {
        return -1;
    }
    part = *frame->arrays[step->dst[0]];
    for (int32_t i = 0; i < n; i++) {
        const Array *source = frame->arrays[parts[i]];
        part.shape[axis] = source->shape[axis];
        if (sweep_copy(&part, source, run) < 0) {
            return -1;
        }
        part.data += source->shape[axis] * part.strides[axis];
    }
    return 0;
}

int run_copy(Frame *frame, const Step *step, Run *run)
{
    Array source_view, view, *dst;
    const Array *source;

    if (frame->program->values[step->src[0]].value_class >= VALUE_STREAM) {
        return run_alias(frame, step, run);
    }
    source = frame_operand(frame, step->src[0], &source_view);
    dst = frame_result(frame, step->dst[0], source->shape, &view, run);
    return dst == NULL ? -1 : sweep_copy(dst, source, run);
}

/* The number of elements from start below stop, or a refusal. */
static int count_real(double start, double stop, double step, int64_t *n, Run *run)
{
    double length;

    if (step == 0) {
        return status_fail(run->status, STATUS_ZERO_DIVISION);
    }
    length = ceil((stop - start) / step);
    if (isnan(length)) {
        return status_fail_text(run->status, STATUS_DOMAIN, "arange: cannot compute length");
    }
    if (length > 9e18) {
        return status_fail_text(run->status, STATUS_DOMAIN, "Maximum allowed size exceeded");
    }
    *n = length > 0 ? (int64_t)length : 0;
    return 0;
}

static int count_whole(int64_t start, int64_t stop, int64_t step, int64_t *n, Run *run)
{
    uint64_t span = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    uint64_t pace = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;

    if (step == 0) {
        return status_fail(run->status, STATUS_ZERO_DIVISION);
    }
    if (step > 0 ? stop <= start : stop >= start) {
        *n = 0;
        return 0;
    }
    span = (span - 1) / pace;
    if (span >= INT64_MAX) {
        return status_fail_text(run->status, STATUS_DOMAIN, "Maximum allowed size exceeded");
    }
    *n = (int64_t)span + 1;
    return 0;
}

/* Reads a scalar of any type as another. */
static void read_as(Frame *frame, int32_t value, DType dtype, void *result)
{
    char *args[2] = {frame->addr[value], result};
    const int64_t strides[2] = {0, 0};

    math_cast(frame->program->values[value].dtype, dtype)(1, args, strides);
}

enum { TILE = 256 };

/* Elements i to i + n of a range of reals. As NumPy: the second element is start + step, and element i is start + i *
 * (second - start), in the result's type. */
static void range_of_floats(double start, double step, int64_t i, int64_t n, float *to)
{
    float first = (float)start, second = (float)(start + step), pace = second - first;

    for (int64_t j = 0; j < n; j++) {
        to[j] = i + j == 1 ? second : first + (float)(i + j) * pace;
    }
}

static void range_of_doubles(double start, double step, int64_t i, int64_t n, double *to)
{
    double second = start + step, pace = second - start;

    for (int64_t j = 0; j < n; j++) {
        to[j] = i + j == 1 ? second : start + (double)(i + j) * pace;
    }
}

static int arange_real(Frame *frame, const Step *step, Run *run)
{
    double bounds[3], tile[TILE];
    const Array *dst;
    int64_t n;

    for (int i = 0; i < 3; i++) {
        read_as(frame, step->src[i], DTYPE_FLOAT64, &bounds[i]);
    }
    if (count_real(bounds[0], bounds[1], bounds[2], &n, run) < 0 || frame_shape_array(frame, step->dst[0], &n, run->status) < 0) {
        return -1;
    }
    dst = frame->arrays[step->dst[0]];
    for (int64_t i = 0; i < n; i += TILE) {
        int64_t n_tile = n - i < TILE ? n - i : TILE;
        char *args[2] = {(char *)tile, dst->data + i * dst->strides[0]};
        const int64_t strides[2] = {sizeof(double), dst->strides[0]};

        if (dst->dtype == DTYPE_FLOAT32) {
            range_of_floats(bounds[0], bounds[2], i, n_tile, (float *)(void *)args[1]);
        } else {
            range_of_doubles(bounds[0], bounds[2], i, n_tile, tile);
            math_cast(DTYPE_FLOAT64, dst->dtype)(n_tile, args, strides);
        }
        if (run_spend(run, n_tile) < 0) {
            return -1;
        }
    }
    return 0;
}

static int arange_whole(Frame *frame, const Step *step, Run *run)
{
    int64_t bounds[3], tile[TILE], n;
    const Array *dst;

    for (int i = 0; i < 3; i++) {
        read_as(frame, step->src[i], DTYPE_INT64, &bounds[i]);
    }
    if (count_whole(bounds[0], bounds[1], bounds[2], &n, run) < 0 || frame_shape_array(frame, step->dst[0], &n, run->status) < 0) {
        return -1;
    }
    dst = frame->arrays[step->dst[0]];
    for (int64_t i = 0; i < n; i += TILE) {
        int64_t n_tile = n - i < TILE ? n - i : TILE;
        char *args[2] = {(char *)tile, dst->data + i * dst->strides[0]};
        const int64_t strides[2] = {sizeof(int64_t), dst->strides[0]};

        for (int64_t j = 0; j < n_tile; j++) {
            tile[j] = (int64_t)((uint64_t)bounds[0] + (uint64_t)(i + j) * (uint64_t)bounds[2]);
        }
        math_cast(DTYPE_INT64, dst->dtype)(n_tile, args, strides);
        if (run_spend(run, n_tile) < 0) {
            return -1;
        }
    }
    return 0;
}

int run_arange(Frame *frame, const Step *step, Run *run)
{
    for (int i = 0; i < 3; i++) {
        char kind = dtype_kind((DType)frame->program->values[step->src[i]].dtype);
        if (kind == 'f' || kind == 'c') {
            return arange_real(frame, step, run);
        }
    }
    return arange_whole(frame, step, run);
}

/* Refuses lengths that are not those of all pieces of an axis. */
static int check_pieces(const Array *lengths, int32_t n_pieces, int64_t whole, Run *run)
{
    int64_t sum = 0;

    if (lengths->shape[0] != n_pieces) {
        return status_fail_numbers(run->status, STATUS_SPLIT_COUNT, lengths->shape[0], n_pieces, 0, 0);
    }
    for (int32_t i = 0; i < n_pieces; i++) {
        int64_t length = array_int64(lengths, i);
        if (length < 0) {
            return status_fail_text(run->status, STATUS_DOMAIN, "Split sizes cannot be negative");
        }
        sum = length > INT64_MAX - sum ? INT64_MAX : sum + length;
    }
    return sum == whole ? 0 : status_fail_numbers(run->status, STATUS_SPLIT_SUM, sum, whole, 0, 0);
}

int run_split(Frame *frame, const Step *step, Run *run)
{
    const Array *source = frame->arrays[step->src[0]], *lengths = frame->arrays[step->src[2]];
    int axis = frame_axis(frame, step->src[1], source->ndim, run);
    Array piece = *source;

    if (axis < 0) {
        return -1;
    }
    if (check_pieces(lengths, step->instr->n_dst, source->shape[axis], run) < 0) {
        return -1;
    }
    for (int32_t i = 0; i < step->instr->n_dst; i++) {
        piece.shape[axis] = array_int64(lengths, i);
        if (frame_shape_array(frame, step->dst[i], piece.shape, run->status) < 0 || sweep_copy(frame->arrays[step->dst[i]], &piece, run) < 0) {
            return -1;
        }
        piece.data += piece.shape[axis] * piece.strides[axis];
    }
    return 0;
}
