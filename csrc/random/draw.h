/* Exact draws: what a Generator's method does, step by step, through the running NumPy's own functions.
 *
 * Parameters are checked first, all elements of them, in NumPy's order and with NumPy's words (STATUS_DOMAIN,
 * STATUS_OVERFLOW); when one is refused nothing was drawn. Then the elements are drawn in C order.
 * Relies on: stream.h, dists.def. Relied on by: vm, bind. */
#ifndef PYSCAN_RANDOM_DRAW_H
#define PYSCAN_RANDOM_DRAW_H

#include "random/stream.h"

enum { DRAW_MAX_PARAMS = 4 };

/* Of draw_fill: nothing was drawn, the generator's own method must. */
enum { DRAW_BY_METHOD = 1 };

/* What a draw of vectors of normals remembers from one time to the next: a matrix of covariances and its factor. */
typedef struct Factor Factor;
void factor_free(Factor *factor); /* NULL is fine */
bool factor_is_big(const Factor *factor);

/* What draws ask of those who run them. `ask`, every few thousand elements of long draws: non-zero stops them with
 * STATUS_INTERRUPTED; it may be NULL. `factor`: fills n by n doubles with the factor of a matrix of covariances, or refuses that
 * matrix; *is_lasting becomes false if the same matrix must be asked for again. `factors` is where the draw keeps one, at first
 * NULL, until factor_free. Without these two vectors of normals are drawn by the method. */
typedef struct DrawPoll {
    int (*ask)(void *self);
    int (*factor)(void *self, int64_t n, const double *cov, double *factor, bool *is_lasting, Status *status);
    void *self;
    Factor **factors;
} DrawPoll;

/* One element, for a distribution whose parameters are all of kind 'd' or 'l' and here scalars: params holds their
 * addresses, dst takes 8 bytes. dists_have(dists, dist) must hold. */
int draw_one(const Dists *dists, int dist, Stream *stream, char *dst, const char *const *params, Status *status);

/* n of them, all from the same parameters, into n times 8 bytes at dst: values and state are those of n calls of draw_one,
 * and the parameters are checked once (not at all for n = 0). For blocks of a few thousand: nobody is asked whether to stop. */
int draw_many(const Dists *dists, int dist, Stream *stream, char *dst, int64_t n, const char *const *params, Status *status);

/* Fills dst, which has its shape, is contiguous, and is float64 or int64 as dist_result_kind says. params[i] are of the
 * kinds of the row, with strides of their own; their batch axes (all but the vectors' last) broadcast to dst's shape,
 * which the caller has checked. dists_have(dists, dist) must hold. 0, -1, or
 * (where the row has no batches, and of vectors of normals) DRAW_BY_METHOD. */
int draw_fill(const Dists *dists, int dist, Stream *stream, const Array *dst, const Array *params, DrawPoll poll, Status *status);

/* One categorical draw, into 8 bytes at dst, by the vector p of doubles: as draw_fill draws one. */
void draw_category(const Dists *dists, Stream *stream, const Array *p, char *dst);

/* The category that such a draw finds for its uniform number. */
int64_t draw_find_category(const Array *p, double u);

/* Whether draw_fill draws as draw_one does for each element in turn. Else its order is that of arrays alone: what stands for
 * single draws must not be filled at once. */
bool draw_is_in_order(int dist);

/* The check of the parameters alone; of dst only the shape is read. */
int draw_check(int dist, const Array *dst, const Array *params, DrawPoll poll, Status *status);
/* Of that what no method of a generator says: whether the parameters are in the domain of a law of scipy.stats (STATUS_LAW). */
int draw_check_law(int dist, const Array *params, DrawPoll poll, Status *status);

#endif
