/* NumPy's SFC64 as inline code over the words of its own state: Doty-Humphrey's small fast chaotic generator with a counter.
 *
 * Its steps depend on each other, and so there are no lanes. How NumPy lays the words out is a guess that fast_find_kind puts
 * to the test. Relies on: stream.h. Relied on by: words.c, fast.c and its fast_kind.inc. */
#ifndef PYSCAN_RANDOM_SFC64_H
#define PYSCAN_RANDOM_SFC64_H

#include "random/stream.h"

/* What bitgen->state points to. */
typedef struct Sfc64 {
    uint64_t a, b, c, counter;
    KeptHalf kept;
} Sfc64;

static inline uint64_t sfc64_word(const Sfc64 *state) { return state->a + state->b + state->counter; }

static inline void sfc64_step(Sfc64 *state)
{
    const uint64_t word = sfc64_word(state);

    state->counter++;
    state->a = state->b ^ state->b >> 11;
    state->b = state->c + (state->c << 3);
    state->c = (state->c << 24 | state->c >> 40) + word;
}

#endif
