/* The different elements of an array, or slices along an axis, in ascending order; where they are and how often they
 * come.
 *
 * A slice is a row of numbers, compared as words are: by the first that differ. The places of the slices are sorted by
 * their last number, then by the one before, and so on; the sorting keeps the order of equal ones, so that in the end
 * the first number counts most, and of equal slices the first is the one that is given. All NaNs of a vector are one
 * element, as NumPy has it; those of slices are not. Relies on: frame.h, math. Relied on by: vm.c. */
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "ops/ops.h"
#include "vm/frame.h"
#include "vm/odometer.h"

typedef struct Unique {
    const Array *source;
    int axis;
    int64_t n, width, item, n_groups; /* slices, the numbers in one, bytes of a number, different slices */
    int64_t shape[ARRAY_MAX_NDIM];    /* of the axes but the one, which has length 1 here */
    char *keys, *spare_keys;
    int64_t *places, *spare_places;   /* the order of the slices; n each */
    int64_t *columns;                 /* where the numbers of a slice are, in bytes */
    uint8_t *begins, *flags;          /* by the order: whether another slice begins here; a column's share in that, or its NaNs */
} Unique;

static void unique_close(Unique *unique)
{
    mem_free(unique->keys);
    mem_free(unique->places);
    mem_free(unique->columns);
    mem_free(unique->begins);
}

static int unique_open(Unique *unique, const Array *source, int axis, Run *run)
{
    Odometer odometer = {.ndim = source->ndim, .shape = unique->shape};
    int64_t n = source->shape[axis];
    int moved;

    unique->source = source;
    unique->axis = axis;
    unique->n = n;
    unique->item = dtype_bytes(source->dtype);
    unique->width = 1;
    memcpy(unique->shape, source->shape, (size_t)source->ndim * sizeof(int64_t));
    unique->shape[axis] = 1;
    for (int i = 0; i < source->ndim; i++) {
        unique->width *= unique->shape[i];
    }
    unique->keys = mem_alloc(2 * (size_t)(n * unique->item) + 1);
    unique->places = mem_alloc(2 * (size_t)n * sizeof(int64_t) + 1);
    unique->columns = mem_alloc((size_t)unique->width * sizeof(int64_t) + 1);
    unique->begins = mem_alloc(2 * (size_t)n + 1);
    if (unique->keys == NULL || unique->places == NULL || unique->columns == NULL || unique->begins == NULL) {
        return status_fail(run->status, STATUS_NO_MEMORY);
    }
    unique->spare_keys = unique->keys + n * unique->item;
    unique->spare_places = unique->places + n;
    unique->flags = unique->begins + n;
    for (int64_t i = 0; i < unique->width; i++) {
        unique->columns[i] = odometer_at(&odometer, source, source->ndim) - source->data;
        (void)odometer_next(&odometer, &moved);
    }
    return 0;
}

/* A column's numbers, in the order of the slices. */
static void read_keys(const Unique *unique, int64_t column)
{
    const char *from = unique->source->data + unique->columns[column];
    int64_t stride = unique->source->strides[unique->axis];

    for (int64_t i = 0; i < unique->n; i++) {
        memcpy(unique->keys + i * unique->item, from + unique->places[i] * stride, (size_t)unique->item);
    }
}

static int sort_slices(const Unique *unique, Run *run)
{
    SortKernel sort = math_sort(unique->source->dtype);
    int64_t cost = 16;

    for (int64_t i = 0; i < unique->n; i++) {
        unique->places[i] = i;
    }
    for (int64_t width = 1; width < unique->n; width *= 2) {
        cost += 4 * unique->n;
    }
    for (int64_t column = unique->width - 1; column >= 0; column--) {
        read_keys(unique, column);
        sort(unique->n, unique->keys, unique->places, unique->spare_keys, unique->spare_places);
        if (run_spend(run, cost) < 0) {
            return -1;
        }
    }
    return 0;
}

/* flags[i] says whether key i differs from key i - 1 (gap 1), or from itself (gap 0): whether it is NaN. */
static void compare_keys(const Unique *unique, int64_t gap)
{
    char *args[3] = {unique->keys, unique->keys + gap * unique->item, (char *)unique->flags + gap};
    const int64_t strides[3] = {unique->item, unique->item, 1};

    math_kernel(SCALAR_NEQ, (int)unique->source->dtype)(unique->n - gap, args, strides);
}

static int find_groups(Unique *unique, Run *run)
{
    if (unique->n == 0) {
        return 0;
    }
    memset(unique->begins, 0, (size_t)unique->n);
    for (int64_t column = 0; column < unique->width; column++) {
        read_keys(unique, column);
        compare_keys(unique, 1);
        for (int64_t i = 1; i < unique->n; i++) {
            unique->begins[i] |= unique->flags[i];
        }
        if (run_spend(run, 4 * unique->n) < 0) {
            return -1;
        }
    }
    if (unique->source->ndim == 1) {
        compare_keys(unique, 0);
        for (int64_t i = 1; i < unique->n; i++) {
            unique->begins[i] &= (uint8_t)!(unique->flags[i] && unique->flags[i - 1]);
        }
    }
    unique->begins[0] = 1;
    for (int64_t i = 0; i < unique->n; i++) {
        unique->n_groups += unique->begins[i];
    }
    return 0;
}

/* The first slice of each group, column by column. */
static int write_slices(const Unique *unique, Frame *frame, int32_t value, Run *run)
{
    int64_t shape[ARRAY_MAX_NDIM];
    Odometer odometer = {.ndim = unique->source->ndim, .shape = unique->shape};
    const Array *dst;
    int moved;

    memcpy(shape, unique->shape, sizeof shape);
    shape[unique->axis] = unique->n_groups;
    if (frame_shape_array(frame, value, shape, run->status) < 0) {
        return -1;
    }
    dst = frame->arrays[value];
    for (int64_t column = 0; column < unique->width; column++) {
        const char *from = unique->source->data + unique->columns[column];
        char *to = odometer_at(&odometer, dst, dst->ndim);

        for (int64_t i = 0; i < unique->n; i++) {
            if (unique->begins[i]) {
                memcpy(to, from + unique->places[i] * unique->source->strides[unique->axis], (size_t)unique->item);
                to += dst->strides[unique->axis];
            }
        }
        if (run_spend(run, 2 * unique->n) < 0) {
            return -1;
        }
        (void)odometer_next(&odometer, &moved);
    }
    return 0;
}

/* One of the vectors, by its bit. */
static int write_vector(const Unique *unique, int32_t bit, Frame *frame, int32_t value, Run *run)
{
    int64_t length = bit == UNIQUE_PLACES ? unique->n : unique->n_groups, group = -1, *to;

    if (frame_shape_array(frame, value, &length, run->status) < 0) {
        return -1;
    }
    to = (int64_t *)(void *)frame->arrays[value]->data;
    for (int64_t i = 0; i < unique->n; i++) {
        group += unique->begins[i];
        if (bit == UNIQUE_PLACES) {
            to[unique->places[i]] = group;
        } else if (unique->begins[i]) {
            to[group] = bit == UNIQUE_FIRST ? unique->places[i] : 1;
        } else if (bit == UNIQUE_COUNTS) {
            to[group]++;
        }
    }
    return run_spend(run, 2 * unique->n);
}

int run_unique(Frame *frame, const Step *step, Run *run)
{
    Unique unique = {.n_groups = 0};
    int result = -1, n_written = 1;

    if (unique_open(&unique, frame->arrays[step->src[0]], (int)instr_aux(frame->program, step->instr)[0], run) == 0 && sort_slices(&unique, run) == 0
        && find_groups(&unique, run) == 0) {
        result = write_slices(&unique, frame, step->dst[0], run);
    }
    for (int32_t bit = UNIQUE_FIRST; result == 0 && bit <= UNIQUE_COUNTS; bit *= 2) {
        if ((step->instr->fn & bit) != 0) {
            result = write_vector(&unique, bit, frame, step->dst[n_written++], run);
        }
    }
    unique_close(&unique);
    return result;
}
