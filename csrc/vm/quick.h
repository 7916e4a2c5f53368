/* Single draws in the step loop, for the commonest shapes of distributions, and single elements and rows of arrays.
 *
 * Only parameters that are plainly right are drawn here, so that no check of random/ is made twice; all others, and
 * all refusals, go the long way through draw_one. That way and this call the same function of the running NumPy, or are
 * random/'s fast path, which gives the same.
 * Relies on: random. Relied on by: vm.c (the loop), tape_memory.c (cells of the same draws). */
#ifndef PYSCAN_VM_QUICK_H
#define PYSCAN_VM_QUICK_H

#include <string.h>

#include "vm/frame.h"

static inline double quick_double(const Step *step, int i)
{
    double x;
    memcpy(&x, *step->cells[i], sizeof x);
    return x;
}

static inline int64_t quick_int64(const Step *step, int i)
{
    int64_t x;
    memcpy(&x, *step->cells[i], sizeof x);
    return x;
}

/* The draw is stored in cell i, after the parameters. */
static inline void store_double(const Step *step, int i, double x)
{
    memcpy(*step->cells[i], &x, sizeof x);
}

static inline void store_int64(const Step *step, int i, int64_t x)
{
    memcpy(*step->cells[i], &x, sizeof x);
}

/* The place of an index along the first axis, or -1 for the long way, which refuses it. */
static inline int64_t quick_place(const Frame *frame, const Step *step, const Array *array)
{
    int64_t index = frame_int64(frame, step->src[1]), place = index < 0 ? index + array->shape[0] : index;

    return place < array->shape[0] ? place : -1;
}

static inline bool quick_element(Frame *frame, const Step *step)
{
    const Array *vector = frame->arrays[step->src[0]];
    int64_t place = quick_place(frame, step, vector);

    if (place >= 0) {
        memcpy(frame->addr[step->dst[0]], vector->data + place * vector->strides[0], 8);
    }
    return place >= 0;
}

static inline bool quick_row(Frame *frame, const Step *step)
{
    const Array *matrix = frame->arrays[step->src[0]];
    Array *row = frame->arrays[step->dst[0]];
    int64_t place = quick_place(frame, step, matrix);

    if (place >= 0) {
        row->data = matrix->data + place * matrix->strides[0];
        row->buffer = matrix->buffer;
        row->dtype = matrix->dtype;
        row->ndim = 1;
        row->shape[0] = matrix->shape[1];
        row->strides[0] = matrix->strides[1];
    }
    return place >= 0;
}

/* By step code: whether the parameters are plainly right, and the draw. */
static inline bool is_quick_D_D(const Step *step) { return quick_int64(step, 0) >= 0; }
static inline void draw_D_D(const Step *step)
{
    store_double(step, 1, ((double (*)(BitGen *, double))step->function)(step->bitgen, quick_double(step, 0)));
}

static inline bool is_quick_D_DD(const Step *step) { return quick_int64(step, 1) >= 0; }
static inline void draw_D_DD(const Step *step)
{
    store_double(step, 2, ((double (*)(BitGen *, double, double))step->function)(step->bitgen, quick_double(step, 0), quick_double(step, 1)));
}

static inline bool is_quick_L_D(const Step *step) { return quick_double(step, 0) > 0 && quick_double(step, 0) <= 1; }
static inline void draw_L_D(const Step *step)
{
    store_int64(step, 1, ((int64_t (*)(BitGen *, double))step->function)(step->bitgen, quick_double(step, 0)));
}

static inline double quick_range(const Step *step) { return quick_double(step, 1) - quick_double(step, 0); }
static inline bool is_quick_UNIFORM(const Step *step) { return quick_range(step) > 0 && quick_range(step) <= 1e300; } /* a range of -0.0 is refused */
static inline void draw_UNIFORM(const Step *step)
{
    store_double(step, 2, ((double (*)(BitGen *, double, double))step->function)(step->bitgen, quick_double(step, 0), quick_range(step)));
}

/* A fast path of random/ looks at the parameters itself, and draws or does nothing. */
static inline bool is_quick_FAST(const Step *step)
{
    return step->fast(step->tables, step->bitgen, *step->fast_cells[2], *step->fast_cells[0], *step->fast_cells[1]);
}
static inline void draw_FAST(const Step *step) { (void)step; }

/* Whether NumPy's binomial is 0 without a number drawn, which the single draws of a first use compare. (A RandomState's
 * draws one.) */
static inline bool is_nothing(int64_t n, double p) { return n == 0 || p == 0.0; }

static inline bool is_probability(double p) { return p >= 0 && p <= 1; }
static inline bool is_quick_BINOMIAL(const Step *step) { return quick_int64(step, 0) >= 0 && is_probability(quick_double(step, 1)); }
static inline void draw_BINOMIAL(const Step *step)
{
    int64_t (*binomial)(BitGen *, double, int64_t, void *) = (int64_t (*)(BitGen *, double, int64_t, void *))step->function;

    store_int64(step, 2, is_nothing(quick_int64(step, 0), quick_double(step, 1))
                             ? 0 : binomial(step->bitgen, quick_double(step, 1), quick_int64(step, 0), step->memo));
}

static inline bool is_quick_BERNOULLI(const Step *step) { return is_probability(quick_double(step, 0)); }
static inline void draw_BERNOULLI(const Step *step)
{
    int64_t (*binomial)(BitGen *, double, int64_t, void *) = (int64_t (*)(BitGen *, double, int64_t, void *))step->function;

    store_int64(step, 1, is_nothing(1, quick_double(step, 0)) ? 0 : binomial(step->bitgen, quick_double(step, 0), 1, step->memo));
}

#endif
