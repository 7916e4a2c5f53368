/* Many words of a sequence at once, of the kinds that are drawn inline.
 *
 * Relies on: pcg64.h, sfc64.h, mt19937.h, math/level.h. Relied on by: fast_fill.c, fast.c. */
#ifndef PYSCAN_RANDOM_WORDS_H
#define PYSCAN_RANDOM_WORDS_H

#include "random/mt19937.h"
#include "random/pcg64.h"
#include "random/sfc64.h"

#ifdef RANDOM_HAS_INLINED

/* The next n words of next_uint64, in order; the state, a bitgen->state of that kind, not STREAM_CALLED, moves past them. */
void words_draw(StreamKind kind, void *state, uint64_t *words, int64_t n);
/* The same as next_double takes them: without their lowest 11 bits they are the next n doubles. */
void words_draw_doubles(StreamKind kind, void *state, uint64_t *words, int64_t n);
/* Of a word that words_draw gave the one that next_double would have taken. */
static inline uint64_t words_double_of(StreamKind kind, uint64_t word) { return kind == STREAM_MT19937 ? mt19937_double_of(word) : word; }
/* NULL: a draw of 32 bits is no half of a word. */
static inline KeptHalf *words_kept_half(StreamKind kind, void *state)
{
    return kind == STREAM_PCG64 || kind == STREAM_PCG64DXSM ? &((PcgHead *)state)->kept : kind == STREAM_SFC64 ? &((Sfc64 *)state)->kept : NULL;
}

/* What words of 64 bits are made of: low + the upper half of word * n_values. Words whose product has a lower half below
 * n_refused, which is below 2^63, give nothing. */
typedef struct Scale {
    uint64_t low, n_values, n_refused;
} Scale;

/* The numbers of n words, and whether none is refused. */
bool words_scale(const Scale *scale, const uint64_t *words, uint64_t *out, int64_t n);

/* n doubles in place of words that words_draw_doubles gave: low + range * x, with x from 0 to below 1. */
typedef struct Stretch {
    double low, range;
} Stretch;
void words_stretch(const Stretch *stretch, uint64_t *words, int64_t n);

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

/* words_scale of a multiple of the level's vector. */
enum { SCALE_LANES_AVX2 = 4, SCALE_LANES_AVX512 = 8 };
#define SCALE_OF_LEVEL(NAME) bool NAME(const Scale *scale, const uint64_t *words, uint64_t *out, int64_t n)
SCALE_OF_LEVEL(words_scale_avx2);
SCALE_OF_LEVEL(words_scale_avx512);

/* words_stretch of the same. */
#define STRETCH_OF_LEVEL(NAME) void NAME(const Stretch *stretch, uint64_t *words, int64_t n)
STRETCH_OF_LEVEL(words_stretch_avx2);
STRETCH_OF_LEVEL(words_stretch_avx512);

#endif
#endif
