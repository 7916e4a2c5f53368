/* Instructions about diagonals: reading and making them, and matrices of ones on or below one.
 *
 * Relies on: frame.h. Relied on by: vm.c. */
#include <string.h>

#include "vm/frame.h"

/* The diagonals of the parts along axes `row` and `column`, as a view whose last axis runs along them. */
static void show_diagonal(const Array *array, int64_t offset, int64_t row, int64_t column, Array *view)
{
    int64_t below = offset < 0 ? -offset : 0, right = offset > 0 ? offset : 0;
    int64_t n_rows = array->shape[row] - below, n_columns = array->shape[column] - right, n = n_rows < n_columns ? n_rows : n_columns;
    int last = 0;

    view->buffer = NULL;
    view->dtype = array->dtype;
    view->data = array->data + (n > 0 ? below * array->strides[row] + right * array->strides[column] : 0);
    for (int i = 0; i < array->ndim; i++) {
        if (i != row && i != column) {
            view->shape[last] = array->shape[i];
            view->strides[last++] = array->strides[i];
        }
    }
    view->shape[last] = n > 0 ? n : 0;
    view->strides[last] = array->strides[row] + array->strides[column];
    view->ndim = last + 1;
}

/* The lengths of the array that has `source` as its diagonals. */
static void find_lengths(const Array *source, int64_t offset, int64_t row, int64_t column, int64_t *shape)
{
    int64_t n = source->shape[source->ndim - 1] + (offset < 0 ? -offset : offset);

    for (int i = 0, next = 0; i <= source->ndim; i++) {
        shape[i] = i == row || i == column ? n : source->shape[next];
        next += i != row && i != column;
    }
}

int run_diagonal(Frame *frame, const Step *step, Run *run)
{
    const int64_t *aux = instr_aux(frame->program, step->instr);
    const Array *source = frame->arrays[step->src[0]];
    bool makes = step->instr->fn == DIAGONAL_MAKE;
    int64_t shape[ARRAY_MAX_NDIM];
    Array view, *dst = frame->arrays[step->dst[0]];

    if (makes) {
        find_lengths(source, aux[0], aux[1], aux[2], shape);
    } else {
        show_diagonal(source, aux[0], aux[1], aux[2], &view);
    }
    if (frame_shape_array(frame, step->dst[0], makes ? shape : view.shape, run->status) < 0) {
        return -1;
    }
    if (!makes) {
        return sweep_copy(dst, &view, run);
    }
    if (array_size(dst) > 0) {
        memset(dst->data, 0, (size_t)(array_size(dst) * dtype_bytes(dst->dtype)));
    }
    if (run_spend(run, array_size(dst)) < 0) {
        return -1;
    }
    show_diagonal(dst, aux[0], aux[1], aux[2], &view);
    return sweep_copy(&view, source, run);
}

int run_band(Frame *frame, const Step *step, Run *run)
{
    int64_t shape[2] = {frame_int64(frame, step->src[0]), frame_int64(frame, step->src[1])}, k = frame_int64(frame, step->src[2]);
    const Array *dst = frame->arrays[step->dst[0]];
    const bool one = true;
    int64_t item = dtype_bytes(dst->dtype);

    if (frame_shape_array(frame, step->dst[0], shape, run->status) < 0) {
        return -1;
    }
    if (array_size(dst) > 0) {
        memset(dst->data, 0, (size_t)(array_size(dst) * item));
    }
    for (int64_t i = 0; i < shape[0]; i++) {
        /* k may be any integer: it is compared before it is added */
        int64_t end = k >= shape[1] - i ? shape[1] : k < -i ? 0 : i + k + 1, begin = step->instr->fn == BAND_TRIANGLE ? 0 : end - 1;
        char *args[2] = {(char *)&one, dst->data + (i * shape[1] + begin) * item};
        const int64_t strides[2] = {0, item};

        if (step->instr->fn == BAND_DIAGONAL && (k >= shape[1] - i || k < -i)) {
            continue;
        }
        if (end > begin) {
            math_cast(DTYPE_BOOL, dst->dtype)(end - begin, args, strides);
        }
        if (run_spend(run, 4 + end - begin) < 0) {
            return -1;
        }
    }
    return 0;
}
