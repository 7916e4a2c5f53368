/* Walking the positions of some axes in C order.
 *
 * Relies on: base. Relied on by: apply.c, gather.c, order.c, unique.c, dot.c. */
#ifndef PYSCAN_VM_ODOMETER_H
#define PYSCAN_VM_ODOMETER_H

#include "base/array.h"

/* Begins at zeros, which is no position where an axis has length 0; `next` tells the axis that moved on (those behind
 * it are at 0 again), and is false at the end. */
typedef struct Odometer {
    int ndim;
    const int64_t *shape;
    int64_t index[ARRAY_MAX_NDIM];
} Odometer;

static inline bool odometer_next(Odometer *odometer, int *axis)
{
    for (*axis = odometer->ndim - 1; *axis >= 0; --*axis) {
        if (++odometer->index[*axis] < odometer->shape[*axis]) {
            return true;
        }
        odometer->index[*axis] = 0;
    }
    return false;
}

/* Where an array is whose first n_axes axes stand for the odometer's last ones; its axes of length 1 are broadcast. */
static inline char *odometer_at(const Odometer *odometer, const Array *array, int n_axes)
{
    int skip = odometer->ndim - n_axes;
    char *at = array->data;

    for (int i = 0; i < n_axes; i++) {
        at += array->shape[i] == 1 ? 0 : odometer->index[i + skip] * array->strides[i];
    }
    return at;
}

#endif
