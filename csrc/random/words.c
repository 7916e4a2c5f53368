/* Many words at once: lanes of one sequence, whose multiplications do not wait for each other.
 *
 * Relies on: words.h. Relied on by: fast_fill.c. */
#include "random/words.h"

#include "math/level.h"

#ifdef RANDOM_HAS_PCG64

/* n steps at once: multiply by this, and add that. */
typedef struct Jump {
    Word128 factor, term;
} Jump;

static inline Jump find_jump(int n_steps, Word128 multiplier, Word128 increment)
{
    Jump jump = {1, 0};

    for (int j = 0; j < n_steps; j++) {
        jump.factor *= multiplier;
        jump.term = jump.term * multiplier + 1;
    }
    jump.term *= increment;
    return jump;
}

/* Lane j is j steps behind the first. */
static inline void start_lanes(Word128 *lanes, int n_lanes, Word128 first, Word128 multiplier, Word128 increment)
{
    lanes[0] = first;
    for (int j = 1; j < n_lanes; j++) {
        lanes[j] = lanes[j - 1] * multiplier + increment;
    }
}

enum { SCALAR_LANES = 4 };

#ifdef MATH_X86_LEVELS
#define DRAW_WIDE(kind)                                                                                                \
    if (n >= 2 * WORDS_LANES && level_get() == LEVEL_AVX512) {                                                         \
        const Jump jump = find_jump(WORDS_LANES, MULTIPLIER_##kind, increment);                                        \
        Word128 lanes[WORDS_LANES];                                                                                    \
                                                                                                                       \
        i = n - n % WORDS_LANES;                                                                                       \
        start_lanes(lanes, WORDS_LANES, first, MULTIPLIER_##kind, increment);                                          \
        first = words_##kind##_avx512(lanes, jump.factor, jump.term, words, i);                                        \
    }
#else
#define DRAW_WIDE(kind)
#endif

/* The words of one kind; the state is then that of the lane whose word comes next. */
#define DRAW(kind)                                                                                                     \
    static void draw_##kind(PcgHead *head, uint64_t *words, int64_t n)                                                 \
    {                                                                                                                  \
        const Word128 increment = pcg_read_increment(head);                                                            \
        Word128 first = kind##_lane(pcg_read_state(head), increment);                                                  \
        int64_t i = 0;                                                                                                 \
                                                                                                                       \
        DRAW_WIDE(kind)                                                                                                \
        if (n - i >= 2 * SCALAR_LANES) {                                                                               \
            const Jump jump = find_jump(SCALAR_LANES, MULTIPLIER_##kind, increment);                                   \
            Word128 lanes[SCALAR_LANES];                                                                               \
                                                                                                                       \
            start_lanes(lanes, SCALAR_LANES, first, MULTIPLIER_##kind, increment);                                     \
            for (; n - i >= SCALAR_LANES; i += SCALAR_LANES) {                                                         \
                for (int j = 0; j < SCALAR_LANES; j++) {                                                               \
                    words[i + j] = kind##_word(lanes[j]);                                                              \
                    lanes[j] = lanes[j] * jump.factor + jump.term;                                                     \
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

void words_draw(StreamKind kind, PcgHead *head, uint64_t *words, int64_t n)
{
    (kind == STREAM_PCG64 ? draw_pcg64 : draw_pcg64dxsm)(head, words, n);
}

#endif
