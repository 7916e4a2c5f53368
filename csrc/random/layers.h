/* What words give by a ziggurat's layers (Marsaglia and Tsang 2000), many at once, with vectors where the CPU has them
 * (math/levels.def).
 *
 * Relies on: math/level.h. Relied on by: fast.h, fast_fill.c. */
#ifndef PYSCAN_RANDOM_LAYERS_H
#define PYSCAN_RANDOM_LAYERS_H

#include <stdint.h>

#include "math/level.h"

/* An index of a ziggurat: a word of that index whose whole number is below `limit` gives that number times `width`, and no
 * further word is drawn. */
typedef struct Layer {
    double width;
    uint64_t limit; /* 0: never */
} Layer;

/* Of the same index, what lies between the limit and the layer's end: that end, the density there, and how much more it is at
 * the end of the narrower neighbour. NaN: not known (wedges.h). */
typedef struct Wedge {
    double end, bottom, rise;
} Wedge;

/* The forms of words (fast_words.h): low + range * x for each of n words, up to the first that is refused, if one is;
 * returns how many are not. What stands in `out` behind these, up to n, may be anything. */
#define LAYERS_OF(NAME) int64_t NAME(const Layer *table, double low, double range, const uint64_t *words, double *out, int64_t n)
LAYERS_OF(layers_NORMAL);
LAYERS_OF(layers_EXPONENTIAL);

/* The same of a multiple of the level's vector. */
enum { LAYERS_LANES_AVX2 = 4, LAYERS_LANES_AVX512 = 8 };
LAYERS_OF(layers_NORMAL_avx2);
LAYERS_OF(layers_EXPONENTIAL_avx2);
LAYERS_OF(layers_NORMAL_avx512);
LAYERS_OF(layers_EXPONENTIAL_avx512);

#endif
