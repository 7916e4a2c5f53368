/* What a word means, and what fast.def makes of it: for single draws and for filled ones.
 *
 * Relies on: compiler.h, fast.h, fast.def. Relied on by: fast.c, fast_fill.c. */
#ifndef PYSCAN_RANDOM_FAST_WORDS_H
#define PYSCAN_RANDOM_FAST_WORDS_H

#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "random/fast.h"

static ALWAYS_INLINE double read_double(const char *at)
{
    double x;
    memcpy(&x, at, sizeof x);
    return x;
}

static ALWAYS_INLINE uint64_t read_uint64(const char *at)
{
    uint64_t x;
    memcpy(&x, at, sizeof x);
    return x;
}

/* Bits 0 to 7: the index; 8: the sign; 9 to 60: the whole number. */
static ALWAYS_INLINE int index_NORMAL(uint64_t word) { return (int)(word & 0xFF); }
static ALWAYS_INLINE bool make_NORMAL(const Layer *table, uint64_t word, double *x)
{
    const Layer *layer = &table[index_NORMAL(word)];
    uint64_t whole = word << 3 >> 12, bits;
    double size = (double)(int64_t)whole * layer->width;

    memcpy(&bits, &size, sizeof bits);
    bits ^= word << 55 & (uint64_t)1 << 63;
    memcpy(x, &bits, sizeof bits);
    return whole < layer->limit;
}

/* Bits 3 to 10: the index; 11 to 63: the whole number. */
static ALWAYS_INLINE int index_EXPONENTIAL(uint64_t word) { return (int)(word >> 3 & 0xFF); }
static ALWAYS_INLINE bool make_EXPONENTIAL(const Layer *table, uint64_t word, double *x)
{
    const Layer *layer = &table[index_EXPONENTIAL(word)];
    uint64_t whole = word >> 11;

    *x = (double)(int64_t)whole * layer->width;
    return whole < layer->limit;
}

static ALWAYS_INLINE bool make_DOUBLE(const Layer *table, uint64_t word, double *x)
{
    *x = (double)(int64_t)(word >> 11) * 0x1p-53;
    return true;
}

/* False: the next word is taken. */
static ALWAYS_INLINE bool make_OPEN(const Layer *table, uint64_t word, double *x) { return make_DOUBLE(table, word, x) && word >> 11 != 0; }

/* Which table the words need. */
static ALWAYS_INLINE const Layer *table_NORMAL(const Fast *fast) { return fast->normal; }
static ALWAYS_INLINE const Layer *table_EXPONENTIAL(const Fast *fast) { return fast->exponential; }
static ALWAYS_INLINE const Layer *table_DOUBLE(const Fast *fast) { return NULL; }
static ALWAYS_INLINE const Layer *table_OPEN(const Fast *fast) { return NULL; }
static ALWAYS_INLINE const Wedge *wedges_NORMAL(const Fast *fast) { return fast->normal_wedges; }
static ALWAYS_INLINE const Wedge *wedges_EXPONENTIAL(const Fast *fast) { return fast->exponential_wedges; }
static ALWAYS_INLINE const Wedge *wedges_DOUBLE(const Fast *fast) { return NULL; }
static ALWAYS_INLINE const Wedge *wedges_OPEN(const Fast *fast) { return NULL; }

/* Above 0 and finite. */
static ALWAYS_INLINE bool is_positive(double x) { return x > 0.0 && x <= 0x1.fffffffffffffp1023; }

/* `x` where the condition holds, else `y`, without a branch that a CPU would guess wrong every other time. */
static ALWAYS_INLINE double choose(bool condition, double x, double y)
{
    const uint64_t mask = 0 - (uint64_t)condition;
    uint64_t bits, other;

    memcpy(&bits, &x, sizeof bits);
    memcpy(&other, &y, sizeof other);
    bits = (bits & mask) | (other & ~mask);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A uniform number below 1/2 and the rest of one above it are logarithms on the two sides of 0. */
static ALWAYS_INLINE double as_laplace(double x)
{
    const bool is_above = x >= 0.5;
    const double size = log(choose(is_above, 2.0 - x - x, x + x));

    return choose(is_above, -size, size);
}

/* To an int64, in which x is. */
static ALWAYS_INLINE double round_up(double x)
{
    int64_t whole = (int64_t)x;
    double bits;

    whole += (double)whole < x;
    memcpy(&bits, &whole, sizeof bits);
    return bits;
}

/* Of a row: value_NAME; is_plain_NAME; straight_NAME, which a fill computes with the word (CALLS, WHOLE: x itself). What
 * is stored is a double, or an int64 with the bits of one. */
#define FAST_STRAIGHT(x, value) (value)
#define FAST_MOVED(x, value) (value)
#define FAST_SCALED(x, value) (value)
#define FAST_STRETCHED(x, value) (value)
#define FAST_CALLS(x, value) (x)
#define FAST_WHOLE(x, value) (x)
#define STORED_STRAIGHT(value) (value)
#define STORED_MOVED(value) (value)
#define STORED_SCALED(value) (value)
#define STORED_STRETCHED(value) (value)
#define STORED_CALLS(value) (value)
#define STORED_WHOLE(value) round_up(value)
#define FAST(NAME, words, form, is_plain, value, doc)                                                           \
    static ALWAYS_INLINE double value_##NAME(double x, double a, double b) { return STORED_##form(value); }     \
    static ALWAYS_INLINE double straight_##NAME(double x, double a, double b) { return FAST_##form(x, value); } \
    static ALWAYS_INLINE bool is_plain_##NAME(double a, double b) { return is_plain; }
#include "random/fast.def"
#undef FAST

/* Bounded integers, by Lemire's multiplication ("Fast random integer generation in an interval", 2019): a word times the
 * number of values has the value in its upper half, unless the lower half is below 2^bits modulo that number. Up to 2^32
 * values take half words, of which a state keeps the second. */
static const uint64_t most_half_values = (uint64_t)1 << 32;

static ALWAYS_INLINE uint64_t find_refused_halves(uint64_t n_values) { return (((uint64_t)1 << 32) - n_values) % n_values; }
static ALWAYS_INLINE uint64_t find_refused_wholes(uint64_t n_values) { return (0 - n_values) % n_values; }

/* Whether a pair of bounds has more than one value; where there is one, no word is drawn. */
static ALWAYS_INLINE bool are_bounds_plain(uint64_t low, uint64_t high) { return (int64_t)low < (int64_t)high && high - low > 1; }

/* The high half of a product of 64 bits; *low_half is the other. */
static ALWAYS_INLINE uint64_t multiply_wholes(uint64_t x, uint64_t y, uint64_t *low_half)
{
#ifdef __SIZEOF_INT128__
    __extension__ const unsigned __int128 product = (unsigned __int128)x * y;

    *low_half = (uint64_t)product;
    return (uint64_t)(product >> 64);
#else
    const uint64_t mask = 0xFFFFFFFF, bottom = (x & mask) * (y & mask), middle = (x >> 32) * (y & mask) + (bottom >> 32);
    const uint64_t other = (x & mask) * (y >> 32) + (middle & mask);

    *low_half = other << 32 | (bottom & mask);
    return (x >> 32) * (y >> 32) + (middle >> 32) + (other >> 32);
#endif
}

#endif
