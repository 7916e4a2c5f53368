/* What numpy.random.RandomState draws, whose stream is frozen: NumPy exports no function of it, so these are our own.
 *
 * Relies on: stream.h. Relied on by: vm (draws of RandomStates), bind (selfcheck.c looks the functions up). */
#ifndef PYSCAN_RANDOM_LEGACY_H
#define PYSCAN_RANDOM_LEGACY_H

#include "random/stream.h"

/* A bit generator with the second Gaussian of its RandomState behind it: the functions are called as NumPy's are, with
 * the address of `bitgen`, and those that draw Gaussians find the rest there. */
typedef struct LegacyGen {
    BitGen bitgen;
    Gauss *gauss;
} LegacyGen;

/* The function by which a RandomState draws what a Generator draws by that function of NumPy's, and called like it: ours, or
 * `numpys` itself where both share one. NULL: there is none. */
void *legacy_find(const char *symbol, void *numpys);

#endif
