/* A made-up generator and made-up distribution functions, for tests without NumPy.
 *
 * Relies on: random. Relied on by: test_random.c, test_fuzz.c. */
#ifndef PYSCAN_TESTS_C_RIG_H
#define PYSCAN_TESTS_C_RIG_H

#include "random/draw.h"

/* The state of a splitmix generator; it keeps a pointer into itself, as NumPy's do. */
typedef struct Mix {
    uint64_t *word; /* points at `own` */
    uint64_t own;
    uint64_t n_words; /* drawn so far */
} Mix;

uint64_t rig_uint64(void *state);
double rig_double(void *state);

/* A generator, a stream on it, and a function for every distribution, by the shape of its step. */
typedef struct Rig {
    Mix mix;
    BitGen bitgen;
    Stream stream;
    StreamLayout layout;
    Dists dists;
} Rig;

void rig_set_up(Rig *rig);

/* The made-up functions: each draws one number, but for binomials of nothing, and shows its arguments in the result. */
double rig_d_d(BitGen *bitgen, double a);            /* a + u */
double rig_d_dd(BitGen *bitgen, double a, double b); /* a + b * u */
double rig_standard(BitGen *bitgen);                 /* u - 0.5 */
int64_t rig_l_d(BitGen *bitgen, double a);           /* a * u, cut to 1000 */
uint64_t rig_bounded(BitGen *bitgen, uint64_t low, uint64_t range, uint64_t mask, bool is_masked);
uint64_t rig_interval(BitGen *bitgen, uint64_t last);
int64_t rig_binomial(BitGen *bitgen, double p, int64_t n, void *memo); /* counts in the memo how often it was asked */

#endif
