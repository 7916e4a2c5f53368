/* Instructions about order: sorting along an axis, searching in what is sorted, and repeating.
 *
 * Relies on: frame.h, math. Relied on by: vm.c. */
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "vm/frame.h"
#include "vm/odometer.h"

/* Memory for the sorting of lines: keys, places, and as much again for merging. */
typedef struct Lines {
    char *keys, *spare_keys;
    int64_t *places, *spare_places;
} Lines;

static int lines_open(Lines *lines, int64_t n, int64_t item, Run *run)
{
    lines->keys = mem_alloc(2 * (size_t)(n * item));
    lines->places = mem_alloc(2 * (size_t)n * sizeof(int64_t));
    if (lines->keys == NULL || lines->places == NULL) {
        return status_fail(run->status, STATUS_NO_MEMORY);
    }
    lines->spare_keys = lines->keys + n * item;
    lines->spare_places = lines->places + n;
    return 0;
}

/* One line: sorted keys, or (of argsort) their places, to dst. */
static void sort_line(const Lines *lines, const Array *source, const char *from, int64_t from_stride, char *to, int64_t to_stride, int64_t n, bool is_places)
{
    int64_t item = dtype_bytes(source->dtype);
    const char *result = is_places ? (const char *)lines->places : lines->keys;
    int64_t result_item = is_places ? (int64_t)sizeof(int64_t) : item;

    for (int64_t i = 0; i < n; i++) {
        memcpy(lines->keys + i * item, from + i * from_stride, (size_t)item);
        lines->places[i] = i;
    }
    math_sort(source->dtype)(n, lines->keys, is_places ? lines->places : NULL, lines->spare_keys, lines->spare_places);
    for (int64_t i = 0; i < n; i++) {
        memcpy(to + i * to_stride, result + i * result_item, (size_t)result_item);
    }
}

static int sort_lines(const Array *source, const Array *dst, int axis, bool is_places, const Lines *lines, Run *run)
{
    int64_t n = source->shape[axis], shape[ARRAY_MAX_NDIM], cost = 16;
    Odometer odometer = {.ndim = source->ndim, .shape = shape};
    int moved;

    memcpy(shape, source->shape, (size_t)source->ndim * sizeof(int64_t));
    shape[axis] = 1;
    for (int64_t width = 1; width < n; width *= 2) {
        cost += 2 * n;
    }
    do {
        sort_line(lines, source, odometer_at(&odometer, source, source->ndim), source->strides[axis], odometer_at(&odometer, dst, dst->ndim), dst->strides[axis], n,
                  is_places);
        if (run_spend(run, cost) < 0) {
            return -1;
        }
    } while (odometer_next(&odometer, &moved));
    return 0;
}

int run_sort(Frame *frame, const Step *step, Run *run)
{
    const Array *source = frame->arrays[step->src[0]], *dst = frame->arrays[step->dst[0]];
    int axis = frame_axis(frame, step->src[1], source->ndim, run);
    Lines lines = {NULL, NULL, NULL, NULL};
    int result = -1;

    if (axis < 0) {
        return -1;
    }
    if (frame_shape_array(frame, step->dst[0], source->shape, run->status) < 0) {
        return -1;
    }
    if (array_size(source) == 0) {
        return 0;
    }
    if (lines_open(&lines, source->shape[axis], dtype_bytes(source->dtype), run) == 0) {
        result = sort_lines(source, dst, axis, step->instr->fn == SORT_PLACES, &lines, run);
    }
    mem_free(lines.keys);
    mem_free(lines.places);
    return result;
}

int run_search(Frame *frame, const Step *step, Run *run)
{
    const Array *sorted = frame->arrays[step->src[0]];
    Array values_view, view;
    const Array *values = frame_operand(frame, step->src[1], &values_view);
    Array *dst = frame_result(frame, step->dst[0], values->shape, &view, run);
    SearchKernel search = math_search(values->dtype);
    Odometer odometer = {.ndim = values->ndim, .shape = values->shape};
    int64_t *to;
    int moved;

    if (dst == NULL || array_size(values) == 0) {
        return dst == NULL ? -1 : 0;
    }
    to = (int64_t *)(void *)dst->data;
    do {
        *to++ = search(sorted->shape[0], sorted->data, sorted->strides[0], odometer_at(&odometer, values, values->ndim), step->instr->fn == SEARCH_RIGHT);
        if (run_spend(run, 40) < 0) {
            return -1;
        }
    } while (odometer_next(&odometer, &moved));
    return 0;
}

static int64_t count_at(const Array *counts, int64_t i)
{
    return array_int64(counts, counts->shape[0] == 1 ? 0 : i);
}

int run_expand(Frame *frame, const Step *step, Run *run)
{
    const Array *counts = frame->arrays[step->src[0]];
    int64_t length = frame_int64(frame, step->src[1]), total = 0, *to;

    if (counts->shape[0] != length && counts->shape[0] != 1) {
        return status_fail_numbers(run->status, STATUS_COUNTS, length, counts->shape[0], 0, 0);
    }
    for (int64_t i = 0; i < length; i++) {
        int64_t count = count_at(counts, i);
        if (count < 0) {
            return status_fail_text(run->status, STATUS_DOMAIN, "repeats may not contain negative values.");
        }
        if (count > INT64_MAX / 8 - total) {
            return status_fail(run->status, STATUS_NO_MEMORY);
        }
        total += count;
    }
    if (frame_shape_array(frame, step->dst[0], &total, run->status) < 0) {
        return -1;
    }
    to = (int64_t *)(void *)frame->arrays[step->dst[0]]->data;
    for (int64_t i = 0; i < length; i++) {
        for (int64_t left = count_at(counts, i); left > 0; left--) {
            *to++ = i;
        }
        if (run_spend(run, 2 + count_at(counts, i)) < 0) {
            return -1;
        }
    }
    return 0;
}
