/* NumPy's PCG64 and PCG64DXSM as inline code over the words of their own states.
 *
 * Both are 128-bit linear congruential generators, x -> x * M + c (O'Neill, "PCG: a family of simple fast space-efficient
 * statistically good algorithms for random number generation", 2014). PCG64 gives the permutation XSL-RR of the new state;
 * PCG64DXSM gives a double xorshift multiply of the old one and has a multiplier of 64 bits. k steps at once are
 * x * M^k + c * (1 + M + ... + M^(k-1)), whence several lanes of one sequence whose multiplications do not wait for each
 * other. How NumPy lays the words out is a guess that fast_find_kind puts to the test; nothing is used that it did not find.
 * Relies on: stream.h. Relied on by: words, fast.c and its fast_kind.inc. */
#ifndef PYSCAN_RANDOM_PCG64_H
#define PYSCAN_RANDOM_PCG64_H

#include "random/stream.h"

#if defined(__SIZEOF_INT128__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define RANDOM_HAS_INLINED 1

__extension__ typedef unsigned __int128 Word128;

#define WORD128(high, low) ((Word128)(high) << 64 | (low))

/* What bitgen->state points to. */
typedef struct PcgHead {
    uint64_t *words; /* the state, then the increment, each with its low half first */
    KeptHalf kept;
} PcgHead;

enum { PCG_WORDS_BYTES = 32 };

static inline Word128 pcg_read_state(const PcgHead *head) { return WORD128(head->words[1], head->words[0]); }
static inline Word128 pcg_read_increment(const PcgHead *head) { return WORD128(head->words[3], head->words[2]); }

static inline void pcg_write_state(PcgHead *head, Word128 state)
{
    head->words[0] = (uint64_t)state;
    head->words[1] = (uint64_t)(state >> 64);
}

/* ---- XSL-RR. A lane is the state after its step, whose permutation is the word. ---- */

#define MULTIPLIER_pcg64 WORD128(0x2360ED051FC65DA4u, 0x4385DF649FCCF645u)

static inline uint64_t pcg64_word(Word128 lane)
{
    uint64_t folded = (uint64_t)(lane >> 64) ^ (uint64_t)lane;
    unsigned turn = (unsigned)(lane >> 122);

    return folded >> turn | folded << (-turn & 63);
}

static inline Word128 pcg64_lane(Word128 state, Word128 increment) { return state * MULTIPLIER_pcg64 + increment; }

/* The state before a lane: its step undone. */
static inline Word128 pcg64_state(Word128 lane, Word128 increment)
{
    return (lane - increment) * WORD128(0x07DDA22B93979860u, 0x98ABC8B0716EAC8Du);
}

/* ---- DXSM. A lane is the state before its step, from which the word is made. ---- */

#define MULTIPLIER_pcg64dxsm ((Word128)0xDA942042E4DD58B5u)

static inline uint64_t pcg64dxsm_word(Word128 lane)
{
    uint64_t high = (uint64_t)(lane >> 64), low = (uint64_t)lane | 1;

    high ^= high >> 32;
    high *= 0xDA942042E4DD58B5u;
    high ^= high >> 48;
    return high * low;
}

static inline Word128 pcg64dxsm_lane(Word128 state, Word128 increment) { return state; }
static inline Word128 pcg64dxsm_state(Word128 lane, Word128 increment) { return lane; }

#endif
#endif
