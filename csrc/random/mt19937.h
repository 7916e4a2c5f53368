/* NumPy's MT19937 over the words of its own state: the Mersenne twister (Matsumoto and Nishimura, 1998).
 *
 * 624 words of 32 bits are made at once, when all are used, and tempered as they are given. How NumPy lays the words out, and
 * how it makes words of 64 bits and doubles of two, are guesses that fast_find_kind puts to the test.
 * Relies on: stream.h. Relied on by: words.c, fast.c, legacy.c. */
#ifndef PYSCAN_RANDOM_MT19937_H
#define PYSCAN_RANDOM_MT19937_H

#include "random/stream.h"

enum { MT19937_WORDS = 624 };

/* What bitgen->state points to. */
typedef struct Mt19937 {
    uint32_t key[MT19937_WORDS];
    int32_t used; /* of the key; when all are, it is made anew before the next word */
} Mt19937;

/* The next n words of 64 bits, each with the half first that comes first; or the words that give the next n doubles when the
 * lowest 11 bits are dropped. The state moves past them. */
void mt19937_words(Mt19937 *state, uint64_t *words, int64_t n);
void mt19937_doubles(Mt19937 *state, uint64_t *words, int64_t n);
uint32_t mt19937_half(Mt19937 *state); /* the next 32 bits */

/* How many doubles can be drawn before the key is made anew. */
static inline int64_t mt19937_n_ahead(const Mt19937 *state) { return (uint32_t)state->used < MT19937_WORDS ? (MT19937_WORDS - state->used) / 2 : 0; }
/* Takes back the last n doubles, of those that were drawn from this key. */
static inline void mt19937_take_back(Mt19937 *state, int64_t n) { state->used -= (int32_t)(2 * n); }

/* The word of 64 bits made of the same two as a word that mt19937_words gave, as a double takes them. */
static inline uint64_t mt19937_double_of(uint64_t word) { return word >> 37 << 37 | (word & 0xFFFFFFFF) >> 6 << 11; }

#endif
