/* The words of a Mersenne twister, many at once. Loops over pairs of neighbours, which compilers make vectors of.
 *
 * Relies on: mt19937.h. Relied on by: words.c, fast.c, legacy.c. */
#include "random/mt19937.h"

#include <string.h>

enum { MIDDLE = 397 };

/* What two neighbours of the key give to a third word. */
static inline uint32_t mix(uint32_t word, uint32_t next)
{
    return ((word & 0x80000000u) | (next & 0x7FFFFFFFu)) >> 1 ^ ((0u - (next & 1)) & 0x9908B0DFu);
}

static void renew(Mt19937 *state)
{
    uint32_t *key = state->key;

    for (int i = 0; i < MT19937_WORDS - MIDDLE; i++) {
        key[i] = key[i + MIDDLE] ^ mix(key[i], key[i + 1]);
    }
    for (int i = MT19937_WORDS - MIDDLE; i < MT19937_WORDS - 1; i++) {
        key[i] = key[i + MIDDLE - MT19937_WORDS] ^ mix(key[i], key[i + 1]);
    }
    key[MT19937_WORDS - 1] = key[MIDDLE - 1] ^ mix(key[MT19937_WORDS - 1], key[0]);
    state->used = 0;
}

/* Both halves of a word at once: masks keep what would move from one to the other. */
static inline uint64_t temper(uint64_t pair)
{
    pair ^= pair >> 11 & 0x001FFFFF001FFFFFu;
    pair ^= pair << 7 & 0x9D2C56809D2C5680u;
    pair ^= pair << 15 & 0xEFC60000EFC60000u;
    return pair ^ (pair >> 18 & 0x00003FFF00003FFFu);
}

uint32_t mt19937_half(Mt19937 *state)
{
    if ((uint32_t)state->used >= MT19937_WORDS) {
        renew(state);
    }
    return (uint32_t)temper(state->key[state->used++]);
}

/* Of a pair in memory the word: its first half is the upper one. */
static inline uint64_t word_of(uint64_t pair) { return pair << 32 | pair >> 32; }
static inline uint64_t double_of(uint64_t pair) { return mt19937_double_of(word_of(pair)); }

#define DRAW(NAME, make)                                                                \
    void mt19937_##NAME(Mt19937 *state, uint64_t *words, int64_t n)                     \
    {                                                                                   \
        while (n > 0) {                                                                 \
            int64_t n_here = mt19937_n_ahead(state);                                    \
                                                                                        \
            if (n_here == 0) { /* none is left, or one, whose second is in the next key */ \
                uint64_t first = mt19937_half(state);                                   \
                                                                                        \
                *words++ = make(first | (uint64_t)mt19937_half(state) << 32);           \
                n--;                                                                    \
                continue;                                                               \
            }                                                                           \
            n_here = n_here < n ? n_here : n;                                           \
            for (int64_t i = 0; i < n_here; i++) {                                      \
                uint64_t pair;                                                          \
                                                                                        \
                memcpy(&pair, state->key + state->used + 2 * i, sizeof pair);           \
                words[i] = make(temper(pair));                                          \
            }                                                                           \
            state->used += (int32_t)(2 * n_here);                                       \
            words += n_here;                                                            \
            n -= n_here;                                                                \
        }                                                                               \
    }

DRAW(words, word_of)
DRAW(doubles, double_of)
