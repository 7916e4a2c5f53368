/* Draws that are formulas over NumPy's numbers: what scipy.stats does for some laws, by the loops of NumPy's ufuncs.
 *
 * The steps of the rows of dists.def that have a symbol "numpy.…". Relies on: steps.h. Relied on by: draw.c. */
#ifndef PYSCAN_RANDOM_FORMULAS_H
#define PYSCAN_RANDOM_FORMULAS_H

#include "random/steps.h"

/* Each is a DrawFormula: one element and many by the same loops. */
void formula_CAUCHY(const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n);
void formula_HALFCAUCHY(const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n);
void formula_GUMBEL(const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n);
void formula_PARETO(const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n);
void formula_TRUNCEXPON(const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n);
void formula_GENGAMMA(const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n);
void formula_INVGAMMA(const DrawSource *source, const char *const *params, const int64_t *strides, char *out, int64_t n);

#endif
