/* Many words at once: lanes of one sequence, whose multiplications do not wait for each other.
 *
 * Relies on: words.h. Relied on by: fast_fill.c. */
#include "random/words.h"

#include <string.h>

#include "math/level.h"

#ifdef RANDOM_HAS_INLINED

/* The multiplier's powers and their sums, as constant expressions. */
#define POWER_0(m) ((Word128)1)
#define POWER_1(m) ((Word128)(m))
#define POWER_2(m) (POWER_1(m) * POWER_1(m))
#define POWER_3(m) (POWER_1(m) * POWER_2(m))
#define POWER_4(m) (POWER_2(m) * POWER_2(m))
#define POWER_5(m) (POWER_2(m) * POWER_3(m))
#define POWER_6(m) (POWER_3(m) * POWER_3(m))
#define POWER_7(m) (POWER_3(m) * POWER_4(m))
#define POWER_8(m) (POWER_4(m) * POWER_4(m))
#define POWER_9(m) (POWER_4(m) * POWER_5(m))
#define POWER_10(m) (POWER_5(m) * POWER_5(m))
#define POWER_11(m) (POWER_5(m) * POWER_6(m))
#define POWER_12(m) (POWER_6(m) * POWER_6(m))
#define POWER_13(m) (POWER_6(m) * POWER_7(m))
#define POWER_14(m) (POWER_7(m) * POWER_7(m))
#define POWER_15(m) (POWER_7(m) * POWER_8(m))
#define POWER_16(m) (POWER_8(m) * POWER_8(m))
#define SUM_0(m) ((Word128)0)
#define SUM_1(m) (SUM_0(m) * (m) + 1)
#define SUM_2(m) (SUM_1(m) * (m) + 1)
#define SUM_3(m) (SUM_2(m) * (m) + 1)
#define SUM_4(m) (SUM_3(m) * (m) + 1)
#define SUM_5(m) (SUM_4(m) * (m) + 1)
#define SUM_6(m) (SUM_5(m) * (m) + 1)
#define SUM_7(m) (SUM_6(m) * (m) + 1)
#define SUM_8(m) (SUM_7(m) * (m) + 1)
#define SUM_9(m) (SUM_8(m) * (m) + 1)
#define SUM_10(m) (SUM_9(m) * (m) + 1)
#define SUM_11(m) (SUM_10(m) * (m) + 1)
#define SUM_12(m) (SUM_11(m) * (m) + 1)
#define SUM_13(m) (SUM_12(m) * (m) + 1)
#define SUM_14(m) (SUM_13(m) * (m) + 1)
#define SUM_15(m) (SUM_14(m) * (m) + 1)
#define SUM_16(m) (SUM_15(m) * (m) + 1)

#define EACH(COLUMN, m)                                                                                                \
    {COLUMN(0, m), COLUMN(1, m), COLUMN(2, m), COLUMN(3, m), COLUMN(4, m), COLUMN(5, m), COLUMN(6, m), COLUMN(7, m),   \
     COLUMN(8, m), COLUMN(9, m), COLUMN(10, m), COLUMN(11, m), COLUMN(12, m), COLUMN(13, m), COLUMN(14, m),            \
     COLUMN(15, m), COLUMN(16, m)}
#define POWER_HIGH(i, m) (uint64_t)(POWER_##i(m) >> 64)
#define POWER_LOW(i, m) (uint64_t)POWER_##i(m)
#define SUM_HIGH(i, m) (uint64_t)(SUM_##i(m) >> 64)
#define SUM_LOW(i, m) (uint64_t)SUM_##i(m)
#define JUMPS(m) {EACH(POWER_HIGH, m), EACH(POWER_LOW, m), EACH(SUM_HIGH, m), EACH(SUM_LOW, m)}

static const Jumps jumps_pcg64 = JUMPS(MULTIPLIER_pcg64), jumps_pcg64dxsm = JUMPS(MULTIPLIER_pcg64dxsm);

enum { SCALAR_LANES = 4 };

#ifdef MATH_X86_LEVELS
#define DRAW_WIDE(kind, level, LEVEL)                                                                                  \
    if (n >= WORDS_LANES_##LEVEL && level_get() == LEVEL_##LEVEL && level_multiplies()) {                              \
        i = n - n % WORDS_LANES_##LEVEL;                                                                               \
        first = words_##kind##_##level(&jumps_##kind, first, increment, words, i);                                     \
    }
#else
#define DRAW_WIDE(kind, level, LEVEL)
#endif

/* The words of one kind; the state is then that of the lane whose word comes next. */
#define DRAW(kind)                                                                                                     \
    static void draw_##kind(PcgHead *head, uint64_t *words, int64_t n)                                                 \
    {                                                                                                                  \
        const Word128 increment = pcg_read_increment(head);                                                            \
        Word128 first = kind##_lane(pcg_read_state(head), increment);                                                  \
        int64_t i = 0;                                                                                                 \
                                                                                                                       \
        DRAW_WIDE(kind, avx512, AVX512)                                                                                \
        DRAW_WIDE(kind, avx2, AVX2)                                                                                    \
        if (n - i >= 2 * SCALAR_LANES) {                                                                               \
            const Word128 factor = POWER_4(MULTIPLIER_##kind), term = SUM_4(MULTIPLIER_##kind) * increment;            \
            Word128 lanes[SCALAR_LANES] = {first};                                                                     \
                                                                                                                       \
            for (int j = 1; j < SCALAR_LANES; j++) {                                                                   \
                lanes[j] = lanes[j - 1] * MULTIPLIER_##kind + increment;                                               \
            }                                                                                                          \
            for (; n - i >= SCALAR_LANES; i += SCALAR_LANES) {                                                         \
                for (int j = 0; j < SCALAR_LANES; j++) {                                                               \
                    words[i + j] = kind##_word(lanes[j]);                                                              \
                    lanes[j] = lanes[j] * factor + term;                                                               \
                }                                                                                                      \
            }                                                                                                          \
            first = lanes[0];                                                                                          \
        }                                                                                                              \
        for (; i < n; i++) {                                                                                           \
            words[i] = kind##_word(first);                                                                             \
            first = first * MULTIPLIER_##kind + increment;                                                             \
        }                                                                                                              \
        pcg_write_state(head, kind##_state(first, increment));                                                         \
    }

DRAW(pcg64)
DRAW(pcg64dxsm)

static void draw_sfc64(Sfc64 *state, uint64_t *words, int64_t n)
{
    Sfc64 own = *state; /* which no word that is stored can change */

    for (int64_t i = 0; i < n; i++) {
        words[i] = sfc64_word(&own);
        sfc64_step(&own);
    }
    *state = own;
}

void words_draw(StreamKind kind, void *state, uint64_t *words, int64_t n)
{
    switch (kind) {
    case STREAM_PCG64:
        draw_pcg64(state, words, n);
        break;
    case STREAM_PCG64DXSM:
        draw_pcg64dxsm(state, words, n);
        break;
    case STREAM_SFC64:
        draw_sfc64(state, words, n);
        break;
    default:
        mt19937_words(state, words, n);
    }
}

void words_draw_doubles(StreamKind kind, void *state, uint64_t *words, int64_t n)
{
    if (kind == STREAM_MT19937) {
        mt19937_doubles(state, words, n);
    } else {
        words_draw(kind, state, words, n);
    }
}

static bool scale_wholes(const Scale *scale, const uint64_t *words, uint64_t *out, int64_t n)
{
    const Scale by = *scale;
    uint64_t refused = 0; /* the uppermost bit counts */

    for (int64_t i = 0; i < n; i++) {
        const Word128 product = (Word128)words[i] * by.n_values;
        const uint64_t low_half = (uint64_t)product;

        out[i] = by.low + (uint64_t)(product >> 64);
        refused |= (low_half - by.n_refused) & ~low_half;
    }
    return refused >> 63 == 0;
}

bool words_scale(const Scale *scale, const uint64_t *words, uint64_t *out, int64_t n)
{
    int64_t n_wide = 0;
    bool is_good = true;

#ifdef MATH_X86_LEVELS
    if (level_get() == LEVEL_AVX512) {
        n_wide = n - n % SCALE_LANES_AVX512;
        is_good = words_scale_avx512(scale, words, out, n_wide);
    } else if (level_get() == LEVEL_AVX2) {
        n_wide = n - n % SCALE_LANES_AVX2;
        is_good = words_scale_avx2(scale, words, out, n_wide);
    }
#endif
    return scale_wholes(scale, words + n_wide, out + n_wide, n - n_wide) && is_good;
}

/* From numbers whose units are 2^-32 and 2^-53: vectors of the lowest level cannot convert integers of 64 bits. */
static void stretch_words(const Stretch *stretch, uint64_t *words, int64_t n)
{
    const double low = stretch->low, range = stretch->range;

    for (int64_t i = 0; i < n; i++) {
        uint64_t upper_bits = words[i] >> 32 | (uint64_t)0x413 << 52;                 /* 2^20 and more */
        uint64_t lower_bits = (words[i] & 0xFFFFFFFF) >> 11 | (uint64_t)0x3FE << 52; /* 1/2 and more */
        double upper, lower, x;

        memcpy(&upper, &upper_bits, sizeof upper);
        memcpy(&lower, &lower_bits, sizeof lower);
        x = low + range * (upper - (0x1p20 + 0.5) + lower);
        memcpy(&words[i], &x, sizeof x);
    }
}

void words_stretch(const Stretch *stretch, uint64_t *words, int64_t n)
{
    int64_t n_wide = 0;

#ifdef MATH_X86_LEVELS
    if (level_get() == LEVEL_AVX512) {
        n_wide = n - n % SCALE_LANES_AVX512;
        words_stretch_avx512(stretch, words, n_wide);
    } else if (level_get() == LEVEL_AVX2) {
        n_wide = n - n % SCALE_LANES_AVX2;
        words_stretch_avx2(stretch, words, n_wide);
    }
#endif
    stretch_words(stretch, words + n_wide, n - n_wide);
}

#endif
