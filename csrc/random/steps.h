/* What draw.c and the fast paths say to each other: the loop over NumPy's function for one distribution.
 *
 * Relies on: draw.h. Relied on by: draw.c, formulas.c. */
#ifndef PYSCAN_RANDOM_STEPS_H
#define PYSCAN_RANDOM_STEPS_H

#include "random/draw.h"

/* What the step functions need besides the parameters. */
typedef struct DrawSource {
    BitGen *bitgen;
    void *function; /* the running NumPy's, of the type that the step names */
    void *function2;
    BinomialMemo *memo;
    int64_t n_categories, category_stride;
    bool has_negative; /* a categorical's probabilities, so that their running sum may fall */
} DrawSource;

/* Draws n elements to out; parameter i of element j is at params[i] + j * strides[i]. */
typedef void (*DrawStep)(const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n);

#endif
