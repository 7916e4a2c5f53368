/* The elementary functions where the main paths of elementary.h do not hold: NaN, infinities, results that overflow or are
 * subnormal. Compiled once, for every level of CPU.
 *
 * Relies on: elementary.h. Relied on by: the levels' files. */
#include "math/elementary.h"

/* y * 2^k, rounded once where the result is subnormal; k as it stands in a Power. */
static double scaled(double y, uint64_t k)
{
    int64_t whole = (int64_t)(k & UINT64_C(0xfffffffffffff)) - (INT64_C(1) << 51), half = whole / 2;

    return y * power_of_two((uint64_t)half) * power_of_two((uint64_t)(whole - half));
}

double rare_exp(double x)
{
    Power power;

    if (x != x) {
        return x + x;
    }
    if (x > 710 || x < -746) {
        return x > 0 ? (double)INFINITY : 0;
    }
    power = exp_parts(x);
    return scaled(exp_mantissa(power), power.k);
}

double rare_exp2(double x)
{
    Power power;

    if (x != x) {
        return x + x;
    }
    if (x >= 1024 || x < -1076) {
        return x > 0 ? (double)INFINITY : 0;
    }
    power = exp2_parts(x);
    return scaled(exp_mantissa(power), power.k);
}

double rare_expm1(double x) { return x < 0 ? -1 : rare_exp(x); }

double rare_tanh(double x) { return x + x; }

/* exp(|x|) / 2, which is what both are beyond 708. */
static double half_exp_of_abs(double x)
{
    Power power;

    if (x != x) {
        return x + x;
    }
    if (fabs(x) > 711) {
        return (double)INFINITY;
    }
    power = exp_parts(fabs(x));
    return scaled(exp_mantissa(power), power.k - 1);
}

double rare_sinh(double x) { return with_sign(half_exp_of_abs(x), x); }

double rare_cosh(double x) { return half_exp_of_abs(x); }

double rare_sigmoid(double x) { return rare_exp(x); }

double rare_softplus(double x) { return x > 0 ? x : rare_exp(x); }

/* Zero, negative, infinite, NaN or subnormal; log_of, log2_of or log10_of ends it. */
static double rare_logarithm(double x, double (*end)(double k, Pair log))
{
    Split split;

    if (x == 0) {
        return -(double)INFINITY;
    }
    if (x < 0) {
        return (double)NAN;
    }
    if (!(x < 1)) {
        return x + x;
    }
    split = split_of(x * 0x1p54);
    return end(split.k - 54, log_reduced(split.f, 0));
}

/* Of any number. */
static double log_of_any(double x) { return is_rare_log(x) & SIGN_BIT ? rare_log(x) : main_log(x); }

double rare_log(double x) { return rare_logarithm(x, log_of); }

double rare_log2(double x) { return rare_logarithm(x, log2_of); }

double rare_log10(double x) { return rare_logarithm(x, log10_of); }

double rare_log1p(double x)
{
    if (x == -1) {
        return -(double)INFINITY;
    }
    if (x < -1) {
        return (double)NAN;
    }
    return x < (double)INFINITY ? main_log(x) : x + x;
}

/* log(2 x) for a large x. */
static double log_of_twice(double x)
{
    Split split;

    if (!(x < (double)INFINITY)) {
        return x + x;
    }
    split = split_of(x);
    return log_of(split.k + 1, log_reduced(split.f, 0));
}

double rare_arcsinh(double x) { return with_sign(log_of_twice(fabs(x)), x); }

double rare_arccosh(double x)
{
    if (x <= 1) {
        return x == 1 ? 0 : (double)NAN;
    }
    return log_of_twice(x);
}

double rare_arctanh(double x)
{
    if (x != x) {
        return x + x;
    }
    return fabs(x) == 1 ? with_sign((double)INFINITY, x) : (double)NAN;
}

double rare_log1mexp(double x)
{
    if (x != x) {
        return x + x;
    }
    if (x > 0) {
        return (double)NAN;
    }
    return x < -1 ? -rare_exp(x) : log_of_any(-x); /* near 0, 1 - exp(x) is -x */
}

/* The product of x, |x| >= 0.5, and 2 / pi, modulo 4, as 192 bits of which 190 stand after the point, in words of 32 bits,
 * the lowest first. x is an integer times 2^e, and bits of 2 / pi that stand for multiples of 4 / 2^e are left out. */
static void multiply_by_two_over_pi(double x, uint32_t *product)
{
    int e = (int)(bits_of_abs(x) >> 52) - 1075, first = e - 2 + 64;
    uint64_t integer = (bits_of(x) & UINT64_C(0xfffffffffffff)) | (UINT64_C(1) << 52);
    uint32_t window[6];

    for (int i = 0; i < 6; i++) { /* word i holds bits from `first` + 160 - 32 i on */
        int bit = first + 160 - 32 * i, word = bit / 64, shift = bit % 64;
        uint64_t high = two_over_pi_words[word] << shift;
        window[i] = (uint32_t)((shift == 0 ? high : high | (two_over_pi_words[word + 1] >> (64 - shift))) >> 32);
        product[i] = 0;
    }
    for (int half = 0; half < 2; half++) {
        uint64_t factor = half == 0 ? integer & UINT32_MAX : integer >> 32, carry = 0;
        for (int i = 0; i + half < 6; i++) {
            carry += factor * window[i] + product[i + half];
            product[i + half] = (uint32_t)carry;
            carry >>= 32;
        }
    }
}

/* The sine or cosine of |x| by the exact rest to a multiple of pi/2 (Payne and Hanek's reduction). */
static double rare_wave(double x, uint64_t quarter)
{
    uint32_t words[6];
    uint64_t quarters, flip;
    double scale = 0x1p-30, high = 0, low = 0, head, big, small, r;

    if (bits_of_abs(x) >= INFINITY_BITS) {
        return x != x ? x + x : (double)NAN;
    }
    multiply_by_two_over_pi(x, words);
    quarters = ((uint64_t)words[5] + 0x20000000u) >> 30;     /* to the nearest; what is left is signed */
    words[5] -= (uint32_t)(quarters << 30);
    flip = (words[5] >> 31) != 0 ? UINT32_MAX : 0;           /* -x - 1: the 1 is below all that counts */
    for (int i = 5; i >= 0; i--, scale *= 0x1p-32) {
        Pair sum = joined(high, (double)(words[i] ^ (uint32_t)flip) * scale);
        high = sum.hi;
        low += sum.lo;
    }
    head = cut(high);
    big = head * half_pi_head;
    small = head * half_pi_tail + ((high - head) + low) * half_pi;
    r = big + small;
    small = (big - r) + small;
    return flip != 0 ? wave(-r, -small, quarters + quarter) : wave(r, small, quarters + quarter);
}

double rare_sin(double x)
{
    double y = rare_wave(fabs(x), 0);
    return x < 0 ? -y : y;
}

double rare_cos(double x) { return rare_wave(fabs(x), 1); }
