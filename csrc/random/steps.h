/* What the functions that draw the elements of one distribution have in common. Relied on by: draw.c, formulas.c,
 * vectors.c, normals.c, positions.c, fast.c. */
#ifndef PYSCAN_RANDOM_STEPS_H
#define PYSCAN_RANDOM_STEPS_H

#include "random/draw.h"

/* What they need besides the parameters. */
typedef struct DrawSource {
    BitGen *bitgen;
    void *function, *function2; /* the running NumPy's, of the types that the step names */
    BinomialMemo *memo;
    int64_t n_categories, category_stride; /* of the vector among the parameters */
    bool has_negative; /* a categorical's probabilities, so that their running sum may fall */
    DrawPoll poll;
    Status *status;
} DrawSource;

/* Draws n elements (or vectors, one behind the other) to out; parameter i of number j is at params[i] + j * strides[i]. */
typedef int (*DrawStep)(const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n);

/* Some for elements cannot fail. */
typedef void (*DrawFormula)(const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n);

int step_DIRICHLET(const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n);
int step_MULTINOMIAL(const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n);

/* Whether all parameters of a multinomial are good, asked draw by draw of the shape to which their batches broadcast. */
int vectors_check_outcomes(const Array *params, DrawPoll poll, Status *status);

/* Vectors of normals, as draw_fill does it. */
int draw_normals(const Dists *dists, Stream *stream, const Array *dst, const Array *params, DrawPoll poll, Status *status);

/* Positions for rows whose first parameter is of kind 'n', as draw_fill does it. */
int draw_positions(const Dists *dists, int dist, Stream *stream, const Array *dst, const Array *params, DrawPoll poll, Status *status);

#endif
