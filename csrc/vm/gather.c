/* Advanced indexing: what index arrays choose, reading and writing; where an array is not zero; and choosing among arrays.
 *
 * An index is opened on its array once: slices and new axes make a view (the part), whose other axes are walked at each
 * element of the index arrays, broadcast against each other. Everything is checked before the first write.
 * Relies on: frame.h. Relied on by: vm.c. */
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "vm/frame.h"
#include "vm/odometer.h"

typedef struct Gather {
    Array part;                     /* the array, sliced and with new axes; indexed axes are whole */
    int n_arrays;
    Array arrays[ARRAY_MAX_NDIM];   /* index arrays, borrowed */
    int axes[ARRAY_MAX_NDIM];       /* of the part, which they index */
    int joint_ndim;
    int64_t joint[ARRAY_MAX_NDIM];  /* the shape that the index arrays broadcast to */
    Array item;                     /* the axes of the part that are not indexed, in the part's strides */
    int n_before;                   /* axes of the item before the joint ones in the result */
    Array result;                   /* shape only */
} Gather;

/* The part by the entries that are ranges and new axes. */
static int cut_part(Frame *frame, const Array *array, const Instr *instr, const int32_t *src, Gather *gather, Run *run)
{
    const int64_t *entries = instr_aux(frame->program, instr);
    int64_t slices[ARRAY_MAX_NDIM];
    int32_t bounds[3 * ARRAY_MAX_NDIM];
    int n_slices = 0, n_bounds = 0, axis = 0;
    Array cut;

    gather->n_arrays = 0;
    for (int32_t i = 0; i < instr->n_aux; i++) {
        if (entries[i] == SLICE_ARRAY) {
            Array view;
            const Array *index = frame_operand(frame, *src++, &view);
            gather->arrays[gather->n_arrays] = *index;
            gather->axes[gather->n_arrays++] = i;
            slices[n_slices++] = SLICE_RANGE;
        } else if (entries[i] != SLICE_NEW) {
            for (int64_t bit = SLICE_START; bit <= SLICE_STEP; bit *= 2) {
                if ((entries[i] & bit) != 0) {
                    bounds[n_bounds++] = *src++;
                }
            }
            slices[n_slices++] = entries[i];
        }
    }
    if (slice_view(frame, array, n_slices, slices, bounds, &cut, run) < 0) {
        return -1;
    }
    gather->part = cut;
    gather->part.ndim = 0;
    for (int i = 0; i < instr->n_aux || axis < cut.ndim; i++) {
        bool is_new = i < instr->n_aux && entries[i] == SLICE_NEW;
        gather->part.shape[gather->part.ndim] = is_new ? 1 : cut.shape[axis];
        gather->part.strides[gather->part.ndim++] = is_new ? 0 : cut.strides[axis];
        axis += !is_new;
    }
    return 0;
}

static int join_arrays(Gather *gather, Run *run)
{
    gather->joint_ndim = 0;
    for (int k = 0; k < gather->n_arrays; k++) {
        const Array *index = &gather->arrays[k];
        int skip = gather->joint_ndim - index->ndim;

        for (; skip < 0; skip++) { /* a longer one: further axes in front */
            memmove(gather->joint + 1, gather->joint, (size_t)gather->joint_ndim++ * sizeof(int64_t));
            gather->joint[0] = 1;
        }
        for (int i = 0; i < index->ndim; i++) {
            int64_t *joint = &gather->joint[i + gather->joint_ndim - index->ndim];
            if (*joint != index->shape[i] && *joint != 1 && index->shape[i] != 1) {
                return status_fail_shapes(run->status, STATUS_INDEX_SHAPES, gather->joint_ndim, gather->joint, index->ndim, index->shape);
            }
            *joint = *joint == 1 ? index->shape[i] : *joint;
        }
    }
    return 0;
}

/* Refuses indices that their axis does not have. */
static int check_indices(const Array *index, int64_t length, Run *run)
{
    Odometer odometer = {.ndim = index->ndim, .shape = index->shape};
    int axis;

    if (array_size(index) == 0) {
        return 0;
    }
    do {
        int64_t value = *(const int64_t *)(const void *)odometer_at(&odometer, index, index->ndim);

        if (value >= length || value < -length) {
            return status_fail_numbers(run->status, STATUS_INDEX, value, length, 0, 0);
        }
        if (run_spend(run, 3) < 0) {
            return -1;
        }
    } while (odometer_next(&odometer, &axis));
    return 0;
}

static void find_result(Gather *gather, bool is_adjacent)
{
    Array *item = &gather->item, *result = &gather->result;
    int k = 0;

    *item = gather->part;
    item->ndim = gather->n_before = result->ndim = 0;
    for (int i = 0; i < gather->part.ndim; i++) {
        if (k < gather->n_arrays && gather->axes[k] == i) {
            gather->n_before = k++ == 0 && is_adjacent ? item->ndim : gather->n_before;
            continue;
        }
        item->shape[item->ndim] = gather->part.shape[i];
        item->strides[item->ndim++] = gather->part.strides[i];
    }
    for (int i = 0; i < gather->n_before; i++) {
        result->shape[result->ndim++] = item->shape[i];
    }
    for (int i = 0; i < gather->joint_ndim; i++) {
        result->shape[result->ndim++] = gather->joint[i];
    }
    for (int i = gather->n_before; i < item->ndim; i++) {
        result->shape[result->ndim++] = item->shape[i];
    }
}

static int gather_open(Frame *frame, const Array *array, const Step *step, int first, Gather *gather, Run *run)
{
    int last;

    if (cut_part(frame, array, step->instr, step->src + first, gather, run) < 0 || join_arrays(gather, run) < 0) {
        return -1;
    }
    for (int k = 0; k < gather->n_arrays; k++) {
        if (check_indices(&gather->arrays[k], gather->part.shape[gather->axes[k]], run) < 0) {
            return -1;
        }
    }
    last = gather->n_arrays - 1;
    find_result(gather, gather->axes[last] - gather->axes[0] == last);
    return 0;
}

enum { GATHER_READ = -1 }; /* beside WRITE_SET and WRITE_ADD */

static int move_item(Array *item, Array *other, int mode, bool is_plain, Run *run)
{
    size_t n_bytes;

    if (mode == WRITE_ADD) {
        return write_part(item, other, mode, run);
    }
    if (!is_plain) {
        return mode == GATHER_READ ? sweep_copy(other, item, run) : sweep_copy(item, other, run);
    }
    n_bytes = (size_t)(array_size(item) * dtype_bytes(item->dtype));
    memcpy(mode == GATHER_READ ? other->data : item->data, mode == GATHER_READ ? item->data : other->data, n_bytes);
    return run_spend(run, 8 + (int64_t)n_bytes / 8);
}

/* Moves items between the part and `other`, an array in the result's shape. */
static int move_items(Gather *gather, const Array *other, int mode, Run *run)
{
    Odometer odometer = {.ndim = gather->joint_ndim, .shape = gather->joint};
    int64_t strides[ARRAY_MAX_NDIM][ARRAY_MAX_NDIM + 1]; /* of the joint axes: in `other`, then in the index arrays */
    const char *cursors[ARRAY_MAX_NDIM + 1];
    Array item = gather->item, place = gather->item;
    bool is_plain;
    int axis;

    for (int i = 0; i < item.ndim; i++) {
        place.strides[i] = other->strides[i < gather->n_before ? i : i + gather->joint_ndim];
    }
    for (int i = 0; i < gather->joint_ndim; i++) {
        strides[i][0] = other->strides[gather->n_before + i];
        for (int k = 0; k < gather->n_arrays; k++) {
            int own = i - gather->joint_ndim + gather->arrays[k].ndim;
            strides[i][k + 1] = own < 0 || gather->arrays[k].shape[own] == 1 ? 0 : gather->arrays[k].strides[own];
        }
    }
    is_plain = array_is_contiguous(&item) && array_is_contiguous(&place) && array_size(&item) <= 8192;
    cursors[0] = other->data;
    for (int k = 0; k < gather->n_arrays; k++) {
        cursors[k + 1] = gather->arrays[k].data;
    }
    do {
        item.data = gather->part.data;
        for (int k = 0; k < gather->n_arrays; k++) {
            int64_t index = *(const int64_t *)(const void *)cursors[k + 1];
            item.data += (index < 0 ? index + gather->part.shape[gather->axes[k]] : index) * gather->part.strides[gather->axes[k]];
        }
        place.data = (char *)cursors[0];
        if (move_item(&item, &place, mode, is_plain, run) < 0) {
            return -1;
        }
        if (!odometer_next(&odometer, &axis)) {
            return 0;
        }
        for (int k = 0; k <= gather->n_arrays; k++) {
            cursors[k] += strides[axis][k];
            for (int i = axis + 1; i < gather->joint_ndim; i++) {
                cursors[k] -= strides[i][k] * (gather->joint[i] - 1);
            }
        }
    } while (true);
}

int run_gather(Frame *frame, const Step *step, Run *run)
{
    Gather gather;
    Array view, *dst;

    if (gather_open(frame, frame->arrays[step->src[0]], step, 1, &gather, run) < 0) {
        return -1;
    }
    dst = frame_result(frame, step->dst[0], gather.result.shape, &view, run);
    if (dst == NULL) {
        return -1;
    }
    return array_size(dst) == 0 ? 0 : move_items(&gather, dst, GATHER_READ, run);
}

/* value, seen in the shape of what is written. */
static int show_value(const Array *value, const Gather *gather, Array *shown, Run *run)
{
    *shown = gather->result;
    shown->dtype = value->dtype;
    shown->data = value->data;
    shown->buffer = NULL;
    if (!can_broadcast(value, shown)) {
        return status_fail_shapes(run->status, STATUS_SET_SHAPE, value->ndim, value->shape, shown->ndim, shown->shape);
    }
    for (int i = 0; i < shown->ndim; i++) {
        int own = i - (shown->ndim - value->ndim);
        shown->strides[i] = own < 0 || value->shape[own] == 1 ? 0 : value->strides[own];
    }
    return 0;
}

int run_scatter(Frame *frame, const Step *step, Run *run)
{
    Gather gather;
    Array value_view, shown, aside, *dst;
    const Array *value = frame_operand(frame, step->src[1], &value_view);
    char *memory = NULL;
    int result = -1;

    if (gather_open(frame, frame->arrays[step->src[0]], step, 2, &gather, run) < 0 || show_value(value, &gather, &shown, run) < 0) {
        return -1;
    }
    dst = write_start(frame, step, run);
    if (dst == NULL || array_size(&shown) == 0) {
        return dst == NULL ? -1 : 0;
    }
    if (write_can_overlap(value, dst)) {
        if ((memory = write_aside(value, &aside, run)) == NULL) {
            return -1;
        }
        (void)show_value(&aside, &gather, &shown, run); /* of a shape that was accepted */
    }
    if (gather_open(frame, dst, step, 2, &gather, run) == 0) {
        result = move_items(&gather, &shown, step->instr->fn, run);
    }
    mem_free(memory);
    return result;
}

/* ---- nonzero ---- */

enum { TILE = 1024 };

/* Visits the elements that are not zero in C order: counts them, and where `to` is given writes their indices there. */
static int visit_nonzero(const Array *source, int64_t *const *to, int64_t *count, Run *run)
{
    int last = source->ndim - 1, axis;
    MapKernel load = math_cast(source->dtype, DTYPE_BOOL);
    Odometer odometer = {.ndim = last, .shape = source->shape};
    const int64_t strides[2] = {source->strides[last], 1};
    bool tile[TILE];

    *count = 0;
    do {
        char *row = odometer_at(&odometer, source, last);

        for (int64_t begin = 0; begin < source->shape[last]; begin += TILE) {
            int64_t n = source->shape[last] - begin < TILE ? source->shape[last] - begin : TILE;
            char *args[2] = {row + begin * strides[0], (char *)tile};

            load(n, args, strides);
            for (int64_t j = 0; j < n; j++) {
                if (!tile[j]) {
                    continue;
                }
                for (int i = 0; to != NULL && i <= last; i++) {
                    to[i][*count] = i == last ? begin + j : odometer.index[i];
                }
                ++*count;
            }
            if (run_spend(run, 4 * n) < 0) {
                return -1;
            }
        }
    } while (odometer_next(&odometer, &axis));
    return 0;
}

int run_nonzero(Frame *frame, const Step *step, Run *run)
{
    const Array *source = frame->arrays[step->src[0]];
    int64_t *to[ARRAY_MAX_NDIM];
    int64_t count = 0;

    if (step->instr->n_src > 1) {
        const Array *whole = frame->arrays[step->src[1]];
        int64_t first = instr_aux(frame->program, step->instr)[0];
        for (int i = 0; i < source->ndim; i++) {
            if (source->shape[i] != whole->shape[first + i]) {
                return status_fail_numbers(run->status, STATUS_MASK_SHAPE, first + i, whole->shape[first + i], source->shape[i], 0);
            }
        }
    }
    if (array_size(source) > 0 && visit_nonzero(source, NULL, &count, run) < 0) {
        return -1;
    }
    for (int i = 0; i < source->ndim; i++) {
        if (frame_shape_array(frame, step->dst[i], &count, run->status) < 0) {
            return -1;
        }
        to[i] = (int64_t *)(void *)frame->arrays[step->dst[i]]->data;
    }
    return count == 0 ? 0 : visit_nonzero(source, to, &count, run);
}

/* ---- choosing among arrays ---- */

/* The choice that a number means among n, or -1 where it means none. */
static int64_t find_choice(int64_t number, int64_t n, int32_t mode)
{
    if (number >= 0 && number < n) {
        return number;
    }
    switch (mode) {
    case CHOOSE_WRAP:
        return number % n + (number % n < 0 ? n : 0);
    case CHOOSE_CLIP:
        return number < 0 ? 0 : n - 1;
    default:
        return -1;
    }
}

/* The shape that two arrays broadcast to. */
static int broadcast_two(const Array *a, const Array *b, int64_t *shape, Run *run)
{
    int ndim = a->ndim > b->ndim ? a->ndim : b->ndim;

    for (int i = 0; i < ndim; i++) {
        int64_t from_a = i < ndim - a->ndim ? 1 : a->shape[i - (ndim - a->ndim)], from_b = i < ndim - b->ndim ? 1 : b->shape[i - (ndim - b->ndim)];

        if (from_a != from_b && from_a != 1 && from_b != 1) {
            return status_fail_shapes(run->status, STATUS_DRAW_SHAPE, a->ndim, a->shape, b->ndim, b->shape);
        }
        shape[i] = from_a == 1 ? from_b : from_a;
    }
    return ndim;
}

int run_choose(Frame *frame, const Step *step, Run *run)
{
    const Array *choices = frame->arrays[step->src[1]];
    Array numbers_view, view, one = *choices, *dst;
    const Array *numbers = frame_operand(frame, step->src[0], &numbers_view);
    int64_t shape[ARRAY_MAX_NDIM], item = dtype_bytes(choices->dtype);
    Odometer odometer = {.shape = shape};
    char *to;
    int axis;

    one.ndim--;
    memmove(one.shape, one.shape + 1, (size_t)one.ndim * sizeof(int64_t));
    memmove(one.strides, one.strides + 1, (size_t)one.ndim * sizeof(int64_t));
    if (choices->shape[0] == 0) {
        return status_fail_text(run->status, STATUS_DOMAIN, "there is nothing to choose from");
    }
    odometer.ndim = broadcast_two(numbers, &one, shape, run);
    if (odometer.ndim < 0 || (dst = frame_result(frame, step->dst[0], shape, &view, run)) == NULL) {
        return -1;
    }
    if (array_size(dst) == 0) {
        return 0;
    }
    to = dst->data;
    do {
        int64_t number = *(const int64_t *)(const void *)odometer_at(&odometer, numbers, numbers->ndim);

        number = find_choice(number, choices->shape[0], step->instr->fn);
        if (number < 0) {
            return status_fail_text(run->status, STATUS_DOMAIN, "invalid entry in choice array");
        }
        memcpy(to, odometer_at(&odometer, &one, one.ndim) + number * choices->strides[0], (size_t)item);
        to += item;
        if (run_spend(run, 8) < 0) {
            return -1;
        }
    } while (odometer_next(&odometer, &axis));
    return 0;
}
