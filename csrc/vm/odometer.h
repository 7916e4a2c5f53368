/* Walking the positions of some axes in C order.
 *
 * Relies on: base. Relied on by: gather.c, order.c, dot.c. */
#ifndef PYSCAN_VM_ODOMETER_H
#define PYSCAN_VM_ODOMETER_H

#include "base/array.h"

/* Begins at zeros; `next` tells the axis that moved on (those behind it are at 0 again), and is false at the end. */
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

#endif
