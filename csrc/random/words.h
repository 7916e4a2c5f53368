/* Many words of a sequence at once of PCG64 and PCG64DXSM.
 *
 * Relies on: pcg64.h, math/level.h. Relied on by: fast_fill.c. */
#ifndef PYSCAN_RANDOM_WORDS_H
#define PYSCAN_RANDOM_WORDS_H

#include "random/pcg64.h"

#ifdef RANDOM_HAS_PCG64

/* The next n words of next_uint64, in order; the state moves past them. `head` is of that kind, not STREAM_CALLED. */
void words_draw(StreamKind kind, PcgHead *head, uint64_t *words, int64_t n);

/* Of the level's file: n words, a multiple of WORDS_LANES, from `lanes` (pcg64.h) on, which WORDS_LANES steps multiply by
 * `factor` and add `term` to. Gives the lane whose word comes next. */
enum { WORDS_LANES = 16 };
Word128 words_pcg64_avx512(const Word128 *lanes, Word128 factor, Word128 term, uint64_t *words, int64_t n);
Word128 words_pcg64dxsm_avx512(const Word128 *lanes, Word128 factor, Word128 term, uint64_t *words, int64_t n);

#endif
#endif
