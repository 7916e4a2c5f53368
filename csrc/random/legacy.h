/* What numpy.random.RandomState draws, whose stream is frozen: NumPy exports no function of it, so these are our own.
 *
 * Relies on: stream.h, mt19937.h. Relied on by: vm (draws of RandomStates), bind (selfcheck.c looks the functions up). */
#ifndef PYSCAN_RANDOM_LEGACY_H
#define PYSCAN_RANDOM_LEGACY_H

#include "random/mt19937.h"

/* A bit generator with the second Gaussian of its RandomState behind it, and doubles that were drawn ahead: the functions are
 * called as NumPy's are, with the address of `bitgen`, and find the rest there. */
typedef struct LegacyGen {
    BitGen bitgen;
    Gauss *gauss;
    const double *next, *end; /* those ahead, of a Mersenne twister, from one key */
    int64_t n_ahead;          /* how many are drawn ahead next time; 0: none ever */
    double ahead[MT19937_WORDS / 2];
} LegacyGen;

/* From here until legacy_stop the stream is drawn through `gen`; `is_fill`: for many draws, perhaps, of one distribution. */
void legacy_start(LegacyGen *gen, const Stream *stream, bool is_fill);
/* Puts the bit generator where the draws that were made leave it. */
void legacy_stop(LegacyGen *gen);

/* The function by which a RandomState draws what a Generator draws by that function of NumPy's, and called like it: ours, or
 * `numpys` itself where both share one. NULL: there is none. */
void *legacy_find(const char *symbol, void *numpys);

#endif
