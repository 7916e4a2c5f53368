/* Layers of a ziggurat for any CPU, and the choice among levels.
 *
 * Relies on: fast_words.h, layers.h. Relied on by: fast_fill.c. */
#include "random/layers.h"

#include "random/fast_words.h"

#ifdef MATH_X86_LEVELS
#define TAKE_WIDE(FORM, level, LEVEL)                                                                \
    if (level_get() == LEVEL_##LEVEL) {                                                              \
        n_wide = n - n % LAYERS_LANES_##LEVEL;                                                       \
        i = layers_##FORM##_##level(table, low, range, words, out, n_wide);                          \
    }
#else
#define TAKE_WIDE(FORM, level, LEVEL)
#endif

#define TAKE_LAYERS(FORM)                                                                            \
    LAYERS_OF(layers_##FORM)                                                                         \
    {                                                                                                \
        int64_t i = 0, n_wide = 0;                                                                   \
                                                                                                     \
        TAKE_WIDE(FORM, avx512, AVX512)                                                              \
        TAKE_WIDE(FORM, avx2, AVX2)                                                                  \
        if (i < n_wide) {                                                                            \
            return i;                                                                                \
        }                                                                                            \
        UNROLLED(4)                                                                                  \
        for (; i < n; i++) {                                                                         \
            double x;                                                                                \
            bool is_good = make_##FORM(table, words[i], &x);                                         \
                                                                                                     \
            out[i] = low + range * x;                                                                \
            if (UNLIKELY(!is_good)) {                                                                \
                break;                                                                               \
            }                                                                                        \
        }                                                                                            \
        return i;                                                                                    \
    }

TAKE_LAYERS(NORMAL)
TAKE_LAYERS(EXPONENTIAL)
