/* The elementary functions themselves, for one double.
 *
 * How they are made so that a block and one element, and every level of CPU, give the same bits: each is a straight line of
 * IEEE operations, without branches, fused operations or table look-ups, which compilers turn into vector instructions of
 * any width. 64-bit integers are only added, shifted left or right without sign, and masked, since SSE2 has no more; so
 * conditions are told by the sign bit of an integer. Arguments that need more (NaN, infinities, subnormal results, ...) are
 * told by is_rare_NAME, whose sign bit is set for them, and are put right one by one (elementary_rare.c).
 *
 * The error of each is below 0.8 units in the last place (of 10^7 arguments of each, cos's is the largest, 0.78). To that end
 * what is added last is a sum of two doubles (Pair), of which the second, below a tenth of the first, carries what the first
 * lost; cut() makes factors whose product is exact.
 * Nothing here may be compiled with contraction or fast-math, or with more precision than a double's.
 * Relies on: coefficients.h. Relied on by: the levels' files, elementary_rare.c, vm/tape_cells.c. */
#ifndef PYSCAN_MATH_ELEMENTARY_H
#define PYSCAN_MATH_ELEMENTARY_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "math/coefficients.h"

#ifdef __FAST_MATH__
#error "the elementary functions need IEEE arithmetic as written: no -ffast-math"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "doubles must be computed as doubles");

#define ELEMENTARY(SCALAR, name, doc) double rare_##name(double x);
#include "math/elementary.def"
#undef ELEMENTARY

/* hi + lo, unrounded. */
typedef struct Pair { double hi, lo; } Pair;

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define SIGN_BIT (UINT64_C(1) << 63)
#define ONE_BITS UINT64_C(0x3ff0000000000000)      /* of 1.0 */
#define INFINITY_BITS UINT64_C(0x7ff0000000000000)
#define BITS_OF_708 UINT64_C(0x4086200000000000)   /* exp of 708 and of -708 are normal numbers */
#define BITS_OF_660 UINT64_C(0x4084a00000000000)   /* so are both of the sum that exp(-660) is */

static inline uint64_t bits_of_abs(double x) { return bits_of(x) & ~SIGN_BIT; }

/* Sign bit set if |x| is beyond the positive number with these bits, or NaN. */
static inline uint64_t is_beyond(double x, uint64_t bits) { return bits - bits_of_abs(x); }

/* The first 26 significant bits: the product of two such is exact. */
static inline double cut(double x) { return from_bits(bits_of(x) & ~UINT64_C(0x7ffffff)); }

/* Sign bit set if a < b; neither is NaN, and they are not both infinite. */
static inline uint64_t is_less(double a, double b) { return bits_of(a - b); }

/* One of two by a sign bit, which may be that of a number. */
static inline double choose(uint64_t condition, double if_set, double if_not)
{
    uint64_t mask = 0 - (condition >> 63);
    return from_bits((bits_of(if_set) & mask) | (bits_of(if_not) & ~mask));
}

static inline double with_sign(double x, double of) { return from_bits((bits_of(x) & ~SIGN_BIT) | (bits_of(of) & SIGN_BIT)); }

/* a + b without error: hi is the rounded sum. For joined, |a| is at least |b|, or a is 0. */
static inline Pair joined(double a, double b)
{
    double sum = a + b;
    return (Pair){sum, b - (sum - a)};
}
static inline Pair sum_of_two(double a, double b)
{
    double sum = a + b, back = sum - a;
    return (Pair){sum, (a - (sum - back)) + (b - back)};
}

/* Added and subtracted, rounds to an integer, which in between stands in the low bits. */
#define ROUNDER 0x1.8p52

/* exp(x) = 2^k (1 + hi + lo); of k, the low bits. */
typedef struct Power { uint64_t k; double hi, lo; } Power;

static inline double power_of_two(uint64_t k) { return from_bits((k << 52) + ONE_BITS); }

/* exp(r + c) - 1 for |r| <= log(2)/2 and a c below its last place. Of r^2/2 a part is exact and goes into hi. */
static inline Pair exp_reduced(double r, double c)
{
    const double *p = exp_tail;
    double r2 = r * r, r4 = r2 * r2;
    double tail = ((p[0] + p[1] * r) + (p[2] + p[3] * r) * r2) + (((p[4] + p[5] * r) + (p[6] + p[7] * r) * r2) + (p[8] + p[9] * r) * r4) * r4;
    double head = cut(r), square = 0.5 * head * head, rest = 0.5 * ((r - head) * (r + head));
    double hi = r + square;
    return (Pair){hi, (square - (hi - r)) + ((rest + (c + c * r)) + r * r2 * tail)};
}

static inline Power exp_parts(double x)
{
    double rounded = x * inverse_ln2 + ROUNDER, k = rounded - ROUNDER;
    double high = x - k * ln2_high, low = k * ln2_low, r = high - low;
    Pair sum = exp_reduced(r, (high - r) - low);
    return (Power){bits_of(rounded), sum.hi, sum.lo};
}

/* 1 + hi + lo, to be scaled by 2^k. */
static inline double exp_mantissa(Power power)
{
    double sum = 1 + power.hi;
    return sum + ((power.hi - (sum - 1)) + power.lo);
}

static inline uint64_t is_rare_exp(double x) { return is_beyond(x, BITS_OF_708); }
/* As exp_parts, less exact and in 36 operations rather than 50: the linear term stands in two parts, and what 1 + high loses of
 * it is added to what is small. */
static inline double main_exp(double x)
{
    const double *p = exp_series;
    double rounded = x * inverse_ln2 + ROUNDER, k = rounded - ROUNDER;
    double high = x - k * ln2_high, low = k * ln2_low, r = high - low, r2 = r * r, r4 = r2 * r2;
    double series = ((p[0] + p[1] * r) + (p[2] + p[3] * r) * r2) + (((p[4] + p[5] * r) + (p[6] + p[7] * r) * r2) + (p[8] + p[9] * r) * r4) * r4;
    double sum = 1 + high, lost = high - (sum - 1);
    return (sum + (lost + (r2 * series - low))) * power_of_two(bits_of(rounded));
}

/* x = k + r exactly; r log(2) as a sum of two. */
static inline Power exp2_parts(double x)
{
    double rounded = x + ROUNDER, rest = x - (rounded - ROUNDER), head = cut(rest);
    double high = head * ln2_head, low = head * ln2_tail + (rest - head) * (ln2_head + ln2_tail), r = high + low;
    Pair sum = exp_reduced(r, (high - r) + low);
    return (Power){bits_of(rounded), sum.hi, sum.lo};
}

static inline uint64_t is_rare_exp2(double x) { return is_beyond(x, UINT64_C(0x408fe80000000000)); } /* 1021 */
static inline double main_exp2(double x)
{
    Power power = exp2_parts(x);
    return exp_mantissa(power) * power_of_two(power.k);
}

/* exp(x), as a sum of which the second is below half a last place of the first. */
static inline Pair exp_pair(Power power)
{
    double scale = power_of_two(power.k), more = scale * power.hi, sum = scale + more;
    return joined(sum, (more - (sum - scale)) + scale * power.lo);
}

/* exp(x) - 1 as such a sum, of 2^k and of 2^k - 1 without error. */
static inline Pair exp_less_one(Power power, double scale, Pair one)
{
    double more = scale * power.hi, sum = one.hi + more;
    return joined(sum, (more - (sum - one.hi)) + (scale * power.lo + one.lo));
}

static inline Pair exp_less_one_below_0(Power power)
{
    double scale = power_of_two(power.k), one = scale - 1;
    return exp_less_one(power, scale, (Pair){one, scale - (one + 1)});
}

static inline Pair exp_less_one_above_0(Power power)
{
    double scale = power_of_two(power.k);
    return exp_less_one(power, scale, joined(scale, -1));
}

static inline uint64_t is_rare_expm1(double x) { return is_beyond(x, BITS_OF_708); }
static inline double main_expm1(double x)
{
    Power power = exp_parts(x);
    double scale = power_of_two(power.k), more = scale * power.hi;
    Pair one = sum_of_two(scale, -1);
    double sum = one.hi + more;
    return with_sign(sum + ((more - (sum - one.hi)) + (scale * power.lo + one.lo)), x);
}

/* The quotient of two sums, unrounded: a short q, right to 25 bits, and what is left over after it, exact in its large terms. */
static inline Pair quotient_pair(Pair top, Pair bottom)
{
    double inverse = 1 / bottom.hi, q = cut(top.hi * inverse), head = cut(bottom.hi);
    double left = ((top.hi - head * q) - (bottom.hi - head) * q) + (top.lo - bottom.lo * q);
    return (Pair){q, left * inverse};
}

static inline double quotient(Pair top, Pair bottom)
{
    Pair pair = quotient_pair(top, bottom);
    return pair.hi + pair.lo;
}

/* tanh(a) = -d / (2 + d) where d = exp(-2a) - 1; beyond 22 it is 1. */
static inline uint64_t is_rare_tanh(double x) { return is_beyond(x, INFINITY_BITS); }
static inline double main_tanh(double x)
{
    double a = fabs(x);
    Pair d = exp_less_one_below_0(exp_parts(-2 * choose(is_less(22, a), 22, a)));
    double sum = 2 + d.hi;
    return with_sign(quotient((Pair){-d.hi, -d.lo}, (Pair){sum, (d.hi - (sum - 2)) + d.lo}), x);
}

/* With e = exp(-|x|): 1 / (1 + e), or e / (1 + e) for negative x. Beyond 40 it is 1. */
static inline uint64_t is_rare_sigmoid(double x) { return (bits_of(x) & is_beyond(x, BITS_OF_660)) | is_beyond(x, INFINITY_BITS); }
static inline double main_sigmoid(double x)
{
    Pair e = exp_pair(exp_parts(-choose(is_less(40, x), 40, fabs(x))));
    double sum = 1 + e.hi;
    return quotient((Pair){choose(bits_of(x), e.hi, 1), choose(bits_of(x), e.lo, 0)}, (Pair){sum, (e.hi - (sum - 1)) + e.lo});
}

/* (a + b) / 2, where |a| is at least |b|. */
static inline double half_sum(Pair a, Pair b)
{
    Pair sum = joined(a.hi, b.hi);
    return 0.5 * (sum.hi + (sum.lo + (a.lo + b.lo)));
}

/* With d = exp(|x|) - 1: (d + d / (1 + d)) / 2. */
static inline uint64_t is_rare_sinh(double x) { return is_beyond(x, BITS_OF_708); }
static inline double main_sinh(double x)
{
    Pair d = exp_less_one_above_0(exp_parts(fabs(x))), sum = sum_of_two(1, d.hi);
    return with_sign(half_sum(d, quotient_pair(d, (Pair){sum.hi, sum.lo + d.lo})), x);
}

/* With e = exp(|x|): (e + 1 / e) / 2. */
static inline uint64_t is_rare_cosh(double x) { return is_beyond(x, BITS_OF_708); }
static inline double main_cosh(double x)
{
    Pair e = exp_pair(exp_parts(fabs(x)));
    return half_sum(e, quotient_pair((Pair){1, 0}, e));
}

/* A positive normal number as 2^k (1 + f), 1 + f between sqrt(1/2) and sqrt(2); of k, also 1023 more as an integer. */
typedef struct Split { double k, f; uint64_t biased; } Split;

static inline Split split_of(double x)
{
    const uint64_t lowest = UINT64_C(0x3fe6a09e00000000); /* a little below sqrt(1/2) */
    uint64_t bits = bits_of(x) + (ONE_BITS - lowest), biased = bits >> 52;
    double k = from_bits(UINT64_C(0x4330000000000000) | biased) - (0x1p52 + 1023);
    return (Split){k, from_bits((bits & UINT64_C(0xfffffffffffff)) + lowest) - 1, biased};
}

/* 2^-k. */
static inline double inverse_power(Split split) { return from_bits((UINT64_C(2046) - split.biased) << 52); }
static inline uint64_t is_k_zero(Split split) { return (split.biased ^ 1023) - 1; }

/* log(1 + f + c) for a c that is small beside f or below the last place of 1. With s = f / (2 + f):
 * f - f^2/2 + s (f^2/2 + tail) + c / (1 + f), of which f - f^2/2 is exact. */
static inline Pair log_reduced(double f, double c)
{
    const double *p = log_tail;
    double head = cut(f), square = 0.5 * head * head, rest = 0.5 * ((f - head) * (f + head));
    double s = f / (2 + f), z = s * s, z2 = z * z, z4 = z2 * z2;
    double tail = z * (((p[0] + p[1] * z) + (p[2] + p[3] * z) * z2) + ((p[4] + p[5] * z) + p[6] * z2) * z4);
    double hi = f - square, more = c * ((1 - s) * (1 - s) * (1 + z)); /* (1 - s) / (1 + s), near enough */
    return (Pair){hi, ((f - hi) - square) + (s * ((square + rest) + tail) + (more - rest))};
}

/* k log(2) + log, unrounded. */
static inline Pair log_sum(double k, Pair log)
{
    double whole = k * ln2_high, sum = whole + log.hi;
    return (Pair){sum, (log.hi - (sum - whole)) + (log.lo + k * ln2_low)};
}

static inline double log_of(double k, Pair log)
{
    Pair sum = log_sum(k, log);
    return sum.hi + sum.lo;
}

/* Of positive normal numbers. */
static inline uint64_t is_rare_log(double x) { return bits_of(x) | (bits_of(x) - UINT64_C(0x0010000000000000)) | (INFINITY_BITS - 1 - bits_of(x)); }
static inline double main_log(double x)
{
    Split split = split_of(x);
    return log_of(split.k, log_reduced(split.f, 0));
}

static inline double log2_of(double k, Pair log)
{
    Pair sum = joined(log.hi, log.lo);
    double head = cut(sum.hi), big = head * inverse_ln2_head, whole = k + big;
    double small = head * inverse_ln2_tail + ((sum.hi - head) + sum.lo) * inverse_ln2;
    return whole + ((big - (whole - k)) + small);
}

static inline uint64_t is_rare_log2(double x) { return is_rare_log(x); }
static inline double main_log2(double x)
{
    Split split = split_of(x);
    return log2_of(split.k, log_reduced(split.f, 0));
}

static inline double log10_of(double k, Pair log)
{
    Pair sum = joined(log.hi, log.lo);
    double head = cut(sum.hi), big = head * inverse_ln10_head, start = k * log10_2_high, whole = start + big;
    double small = head * inverse_ln10_tail + ((sum.hi - head) + sum.lo) * inverse_ln10;
    return whole + ((big - (whole - start)) + (small + k * log10_2_low));
}

static inline uint64_t is_rare_log10(double x) { return is_rare_log(x); }
static inline double main_log10(double x)
{
    Split split = split_of(x);
    return log10_of(split.k, log_reduced(split.f, 0));
}

/* log(1 + x) of a sum above -1, whose second is below a last place of the first. Where 1 + x is near 1, x itself is what
 * log_reduced takes. */
static inline double log_of_one_and(Pair x)
{
    Pair sum = sum_of_two(1, x.hi);
    Split split = split_of(sum.hi);
    uint64_t is_near = is_k_zero(split);
    double f = choose(is_near, x.hi, split.f), c = choose(is_near, x.lo, (sum.lo + x.lo) * inverse_power(split));
    return log_of(split.k, log_reduced(f, c));
}

/* Up to 2^1000. */
static inline uint64_t is_rare_log1p(double x)
{
    return is_beyond(x, UINT64_C(0x7e70000000000000)) | (bits_of(x) & is_beyond(x, ONE_BITS - 1));
}
static inline double main_log1p(double x) { return with_sign(log_of_one_and((Pair){x, 0}), x); }

static inline Pair square_of(double x)
{
    double head = cut(x);
    return joined(head * head, (x - head) * (x + head));
}

/* The square root of a sum above 0, as a short number and what is left over after its square, which is exact. */
static inline Pair root_of(Pair x)
{
    double root = sqrt(x.hi), head = cut(root);
    return (Pair){head, ((x.hi - head * head) + x.lo) / (root + head)};
}

/* a + b, where |a| is at least |b|. */
static inline Pair sum_of_pairs(Pair a, Pair b)
{
    Pair sum = joined(a.hi, b.hi);
    return joined(sum.hi, sum.lo + (a.lo + b.lo));
}

#define BITS_OF_2_TO_500 UINT64_C(0x5f30000000000000)

/* With a = |x|: log(1 + a + a^2 / (1 + sqrt(1 + a^2))). */
static inline uint64_t is_rare_arcsinh(double x) { return is_beyond(x, BITS_OF_2_TO_500); }
static inline double main_arcsinh(double x)
{
    double a = fabs(x);
    Pair square = square_of(a), one = sum_of_two(1, square.hi);
    Pair root = root_of((Pair){one.hi, one.lo + square.lo}), more = sum_of_two(1, root.hi);
    return with_sign(log_of_one_and(sum_of_pairs((Pair){a, 0}, quotient_pair(square, joined(more.hi, more.lo + root.lo)))), x);
}

/* With y = x - 1: log(1 + y + sqrt(2 y + y^2)); above 1. */
static inline uint64_t is_rare_arccosh(double x) { return bits_of(x) | is_beyond(x, BITS_OF_2_TO_500) | (bits_of(x) - (ONE_BITS + 1)); }
static inline double main_arccosh(double x)
{
    double y = x - 1;
    Pair square = square_of(y), sum = sum_of_two(2 * y, square.hi);
    return log_of_one_and(sum_of_pairs(root_of(joined(sum.hi, sum.lo + square.lo)), (Pair){y, 0}));
}

/* With a = |x|: log(1 + 2 a / (1 - a)) / 2; below 1. */
static inline uint64_t is_rare_arctanh(double x) { return is_beyond(x, ONE_BITS - 1); }
static inline double main_arctanh(double x)
{
    double a = fabs(x);
    Pair ratio = quotient_pair((Pair){2 * a, 0}, sum_of_two(1, -a));
    return with_sign(0.5 * log_of_one_and(joined(ratio.hi, ratio.lo)), x);
}

/* max(x, 0) + log(1 + e), e = exp(-|x|); beyond 60 it is x. */
static inline uint64_t is_rare_softplus(double x) { return (bits_of(x) & is_beyond(x, BITS_OF_660)) | is_beyond(x, INFINITY_BITS - 1); }
static inline double main_softplus(double x)
{
    Pair e = exp_pair(exp_parts(-choose(is_less(60, x), 60, fabs(x)))), log, sum;
    double one = 1 + e.hi;
    Split split = split_of(one);
    uint64_t is_near = is_k_zero(split);
    double f = choose(is_near, e.hi, split.f), c = choose(is_near, e.lo, 0.5 * ((e.hi - (one - 1)) + e.lo));
    log = log_sum(split.k, log_reduced(f, c));
    sum = sum_of_two(choose(bits_of(x), 0, x), log.hi);
    return sum.hi + (sum.lo + log.lo);
}

/* log(1 - e), e = exp(x); where 1 - e is near 1, -e itself is what log_reduced takes. From -660 to -2^-1000. */
static inline uint64_t is_rare_log1mexp(double x)
{
    return ~bits_of(x) | is_beyond(x, BITS_OF_660) | (bits_of_abs(x) - UINT64_C(0x0170000000000000));
}
static inline double main_log1mexp(double x)
{
    Power power = exp_parts(x);
    Pair e = exp_pair(power), less = exp_less_one_below_0(power);
    Split split = split_of(-less.hi);
    uint64_t is_near = is_k_zero(split);
    double f = choose(is_near, -e.hi, split.f), c = choose(is_near, -e.lo, -less.lo * inverse_power(split));
    return log_of(split.k, log_reduced(f, c));
}

/* sin(r + c) for |r| <= pi/4 and a c below its last place. */
static inline double sine(double r, double c)
{
    const double *p = sine_tail;
    double z = r * r, z2 = z * z, z4 = z2 * z2;
    double tail = ((p[1] + p[2] * z) + (p[3] + p[4] * z) * z2) + (p[5] + p[6] * z) * z4;
    return r + ((c - 0.5 * z * c) - (r * z) * (p[0] + z * tail));
}

/* cos(r + c); of r^2/2 a part is exact. */
static inline double cosine(double r, double c)
{
    const double *p = cosine_tail;
    double head = cut(r), square = 0.5 * head * head, rest = 0.5 * ((r - head) * (r + head));
    double z = r * r, z2 = z * z, z4 = z2 * z2;
    double tail = ((p[0] + p[1] * z) + (p[2] + p[3] * z) * z2) + (p[4] + p[5] * z) * z4;
    double hi = 1 - square, slope = r * (1 - z * (1.0 / 6));
    return hi + (((1 - hi) - square) + (z2 * tail - (rest + slope * c)));
}

/* The sine, or for `quarter` 1 the cosine, of r + c after so many quarters of a turn as the low bits say. */
static inline double wave(double r, double c, uint64_t quarters)
{
    uint64_t odd = 0 - (quarters & 1);
    return from_bits(((bits_of(sine(r, c)) & ~odd) | (bits_of(cosine(r, c)) & odd)) ^ ((quarters & 2) << 62));
}

/* a without the nearest multiple n of pi/2. The first product is exact and so is the difference; that of the second
 * product too, unless the difference is small, which is rare. */
static inline uint64_t is_rare_wave(double a)
{
    double n = (a * two_over_pi + ROUNDER) - ROUNDER;
    uint64_t is_small = (bits_of_abs(a - n * half_pi_1) - UINT64_C(0x3f30000000000000)) & is_beyond(a, UINT64_C(0x3fe0000000000000)); /* 2^-12, 0.5 */
    return is_beyond(a, UINT64_C(0x411e848000000000)) | is_small; /* 500,000 */
}
static inline double main_wave(double a, uint64_t quarter)
{
    double rounded = a * two_over_pi + ROUNDER, n = rounded - ROUNDER;
    double first = a - n * half_pi_1, next = n * half_pi_2, second = first - next;
    double lost = n * half_pi_3 - ((first - second) - next), r = second - lost;
    return wave(r, (second - r) - lost, bits_of(rounded) + quarter);
}

static inline uint64_t is_rare_sin(double x) { return is_rare_wave(fabs(x)); }
static inline double main_sin(double x) { return from_bits(bits_of(main_wave(fabs(x), 0)) ^ (bits_of(x) & SIGN_BIT)); }

static inline uint64_t is_rare_cos(double x) { return is_rare_wave(fabs(x)); }
static inline double main_cos(double x) { return main_wave(fabs(x), 1); }

#endif
