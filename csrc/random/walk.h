/* Walking arrays that broadcast to one shape, a piece of the innermost axis at a time.
 *
 * Axes that all operands walk as one are joined, so that scalars and contiguous arrays become a single axis.
 * Relies on: base. Relied on by: draw.c, params.c, normals.c, vectors.c. */
#ifndef PYSCAN_RANDOM_WALK_H
#define PYSCAN_RANDOM_WALK_H

#include "random/draw.h"

typedef struct Walk {
    int n_axes, n_operands;
    int64_t shape[ARRAY_MAX_NDIM], index[ARRAY_MAX_NDIM];
    int64_t strides[ARRAY_MAX_NDIM][DRAW_MAX_PARAMS]; /* strides[axis][operand]; 0 where the operand broadcasts */
    const char *at[DRAW_MAX_PARAMS];                  /* each operand's element at the present index */
    int64_t left;                                     /* elements not yet walked */
} Walk;

/* operands[i] broadcasts to the shape with all its axes but the last skip[i]. */
void walk_init(Walk *walk, int ndim, const int64_t *shape, int n_operands, const Array *operands, const int *skip);
/* How many elements of the innermost axis, at most `limit`, come next; 0 at the end. */
int64_t walk_piece(const Walk *walk, int64_t limit);
/* The operands' strides along the innermost axis. */
const int64_t *walk_strides(const Walk *walk);
/* Goes past n elements, n as walk_piece said. */
void walk_advance(Walk *walk, int64_t n);

#endif
