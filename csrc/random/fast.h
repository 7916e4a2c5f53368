/* Fast paths: the commonest distributions drawn by inlined code, with the numbers and the states of NumPy's functions.
 *
 * They are exact because they are made from the NumPy that runs: the ziggurats' tables are read out of its functions,
 * and whatever the fast path does not decide is left to these functions, with the state put back. What is assumed (the
 * layout of states, which bits of a word mean what, the expressions of fast.def) is compared: fast_find_kind,
 * fast_learn and the first use of a distribution. Relies on: stream.h, layers.h, steps.h, fast.def. Relied on by:
 * draw.c, normals.c, program (which draws can be split), vm, bind. */
#ifndef PYSCAN_RANDOM_FAST_H
#define PYSCAN_RANDOM_FAST_H

#include "random/layers.h"
#include "random/steps.h"

/* Read-only once they were learned. */
typedef struct Fast {
    bool has_normal, has_exponential;
    Layer normal[256], exponential[256];
    Wedge normal_wedges[256], exponential_wedges[256];
} Fast;

/* Reads the table DIST_NORMAL or DIST_EXPONENTIAL out of NumPy's function of that distribution (NULL: none). What does not behave as
 * a ziggurat of the known form has no table. */
void fast_learn(Fast *fast, int table, void *function);
/* The table that inlined draws of the distribution need; -1: none. */
int fast_table(int dist);

/* The kind of a bit generator, a live one of that layout: found by comparing draws and the words afterwards. It is left as it
 * was. -1 and a status where memory runs out: the kind is not known then. */
int fast_find_kind(StreamKind *kind, const BitGen *bitgen, const StreamLayout *layout, Status *status);

/* One draw, as draw_one's; false, and nothing happened, where the parameters are not plain or NumPy's function must draw.
 * at_b is where the second parameter is, or the first one once more. */
typedef bool (*FastOne)(const Fast *fast, const BitGen *bitgen, char *dst, const char *at_a, const char *at_b);
/* n draws from parameters that do not move, two addresses at least; false, and nothing happened, where they are not plain.
 * `step` draws what is left to NumPy. */
typedef bool (*FastFill)(const Fast *fast, StreamKind kind, const DrawSource *source, DrawStep step, const char *const *params, char *out, int64_t n);

/* Whether fast.def has the distribution. */
bool fast_is_there(int dist);
/* The same, and there are the tables that it needs. */
bool fast_is_usable(const Dists *dists, int dist);
/* The same, and it was compared on streams of that kind. */
bool fast_may(const Dists *dists, int dist, StreamKind kind);
/* NULL: there is none, or none for the stream's kind. */
FastOne fast_one(const Dists *dists, int dist, const Stream *stream);
FastFill fast_fill(const Dists *dists, int dist, const Stream *stream);

/* The distribution whose draws, of parameters that do not change, are what a draw is made of that takes one number
 * whatever its own parameters are: standard normals of a normal, say, and of a categorical the uniform number. -1:
 * there is none. */
int fast_standard(int dist);
/* These parameters. */
const double *fast_standard_params(int standard);
/* Whether a draw may be made so: of a standard one, then by fast_value or, of a categorical, draw_find_category. */
bool fast_may_finish(const Dists *dists, int dist, const Stream *stream);
/* What a draw makes of the standard one at at_x; false, and nothing is written, where the parameters are not plain.
 * at_b as in FastOne. */
typedef bool (*FastValue)(const char *at_x, char *dst, const char *at_a, const char *at_b);
FastValue fast_value(int dist);

#endif
