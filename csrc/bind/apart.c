/* Arguments of which one may be overwritten (`In(mutable=True)`): the program gets arrays that share no memory with it.
 *
 * The one that is overwritten is the caller's own array, unless that is read-only or shows one element in two places; any other
 * array that may share memory with it is copied before the first instruction, so that each is read as it was given.
 * Relies on: convert. Relied on by: thunk.c. */
#include "bind/bind.h"
#include "bind/numpy_api.h"

#include <stdlib.h>

typedef struct Axis {
    int64_t stride, extent; /* bytes, without a sign: from one element to the next, and from the first to the last */
} Axis;

static int compare_axes(const void *a, const void *b)
{
    const Axis *left = a, *right = b;

    return (left->stride > right->stride) - (left->stride < right->stride);
}

/* Whether two indices may name the same bytes: told by the axes in the order of their strides, sometimes too carefully. */
static bool may_repeat_itself(const Array *array)
{
    Axis axes[ARRAY_MAX_NDIM];
    int n = 0;
    int64_t reach = (int64_t)dtype_bytes(array->dtype);

    for (int i = 0; i < array->ndim; i++) {
        if (array->shape[i] == 0) return false;
        if (array->shape[i] == 1) continue;
        axes[n].stride = array->strides[i] < 0 ? -array->strides[i] : array->strides[i];
        axes[n].extent = axes[n].stride * (array->shape[i] - 1);
        n++;
    }
    qsort(axes, (size_t)n, sizeof(*axes), compare_axes);
    for (int i = 0; i < n; i++) {
        if (axes[i].stride < reach) return true;
        reach += axes[i].extent;
    }
    return false;
}

/* The first byte that the array may touch, and the one after the last. */
static void find_bounds(const Array *array, const char **first, const char **end)
{
    const char *low = array->data, *high = array->data;

    for (int i = 0; i < array->ndim; i++) {
        int64_t extent = array->strides[i] * (array->shape[i] - 1);
        if (array->shape[i] == 0) {
            *first = *end = NULL;
            return;
        }
        if (extent < 0) low += extent;
        else high += extent;
    }
    *first = low;
    *end = high + dtype_bytes(array->dtype);
}

bool apart_may_share(const Array *a, const Array *b)
{
    const char *first_a, *end_a, *first_b, *end_b;

    find_bounds(a, &first_a, &end_a);
    find_bounds(b, &first_b, &end_b);
    return first_a != NULL && first_b != NULL && first_a < end_b && first_b < end_a;
}

/* The array that input i shows to the frame; NULL when it is none. */
static Array *shown_array(const Thunk *thunk, Call *call, int32_t i)
{
    int32_t number = thunk->lowered.program->inputs[i];

    return thunk->lowered.program->values[number].value_class == VALUE_ARRAY ? frame_array(call->frame, number) : NULL;
}

static int show_copy(Call *call, int32_t i, Array *array)
{
    PyObject *copy = convert_copy(array);

    if (copy == NULL) return -1;
    Py_XSETREF(call->held[i], copy);
    convert_show(copy, array);
    return 0;
}

int apart_set(Thunk *thunk, Call *call)
{
    int32_t n = thunk->lowered.program->n_inputs;

    for (int32_t i = 0; i < n; i++) {
        Array *array = thunk->is_destroyed[i] ? shown_array(thunk, call, i) : NULL;
        if (array == NULL) continue;
        if ((!PyArray_ISWRITEABLE((PyArrayObject *)call->held[i]) || may_repeat_itself(array)) && show_copy(call, i, array) < 0) return -1;
        for (int32_t k = 0; k < n; k++) {
            Array *other = k == i ? NULL : shown_array(thunk, call, k);
            if (other != NULL && apart_may_share(array, other) && show_copy(call, k, other) < 0) return -1;
        }
    }
    return 0;
}
