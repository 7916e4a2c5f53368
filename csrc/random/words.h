/* Many words of a sequence at once of PCG64 and PCG64DXSM.
 *
 * Relies on: pcg64.h, math/level.h. Relied on by: fast_fill.c. */
#ifndef PYSCAN_RANDOM_WORDS_H
#define PYSCAN_RANDOM_WORDS_H

#include "random/pcg64.h"

#ifdef RANDOM_HAS_PCG64

/* The next n words of next_uint64, in order; the state moves past them. `head` is of that kind, not STREAM_CALLED. */
void words_draw(StreamKind kind, PcgHead *head, uint64_t *words, int64_t n);

/* i steps at once: multiply by number i of the powers, and add the increment times number i of the sums. */
enum { WORDS_LANES_AVX2 = 8, WORDS_LANES_AVX512 = 16, WORDS_JUMPS = WORDS_LANES_AVX512 + 1 };
typedef struct Jumps {
    uint64_t power_high[WORDS_JUMPS], power_low[WORDS_JUMPS], sum_high[WORDS_JUMPS], sum_low[WORDS_JUMPS];
} Jumps;

/* Of a level's file: n words, a multiple of the level's lanes, from the lane `first` (pcg64.h) on. Gives the lane whose word
 * comes next. */
#define WORDS_OF_LEVEL(NAME) Word128 NAME(const Jumps *jumps, Word128 first, Word128 increment, uint64_t *words, int64_t n)
WORDS_OF_LEVEL(words_pcg64_avx2);
WORDS_OF_LEVEL(words_pcg64dxsm_avx2);
WORDS_OF_LEVEL(words_pcg64_avx512);
WORDS_OF_LEVEL(words_pcg64dxsm_avx512);

#endif
#endif
