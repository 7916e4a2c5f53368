/* Constants of the elementary functions. Written by tools/coefficients.py, which says what each is; not to be edited.
 *
 * Relies on: nothing. Relied on by: elementary.h, elementary_rare.c. */
#ifndef PYSCAN_MATH_COEFFICIENTS_H
#define PYSCAN_MATH_COEFFICIENTS_H

#include <stdint.h>

static const double inverse_ln2 = 0x1.71547652b82fep+0; /* 1 / log(2) */
static const double ln2_high = 0x1.62e42fefa3800p-1; /* log(2) to 42 bits: its product with an exponent is exact */
static const double ln2_low = 0x1.ef35793c76730p-45; /* log(2) - ln2_high */
static const double ln2_head = 0x1.62e42f8000000p-1; /* log(2) to 26 bits, a factor of exact products */
static const double ln2_tail = 0x1.be8e7bcd5e4f2p-27; /* log(2) - ln2_head */
/* (exp(r) - 1 - r) / r^2 for |r| <= log(2)/2 */
static const double exp_series[10] = {
    0x1.0000000000001p-1, 0x1.5555555555556p-3, 0x1.5555555553d45p-5, 0x1.11111111109aap-7,
    0x1.6c16c178976f9p-10, 0x1.a01a01a7cb3e6p-13, 0x1.a019b8e02e162p-16, 0x1.71de0d92b676cp-19,
    0x1.2891bad81b7d7p-22, 0x1.af38eb797eb13p-26,
};
/* (exp(r) - 1 - r - r^2/2) / r^3 for |r| <= log(2)/2 */
static const double exp_tail[10] = {
    0x1.5555555555556p-3, 0x1.5555555555555p-5, 0x1.11111111109aap-7, 0x1.6c16c16c167dcp-10,
    0x1.a01a01a7cb3e6p-13, 0x1.a01a01a47f17fp-16, 0x1.71de0d92b676cp-19, 0x1.27e4e1e4b569ep-22,
    0x1.af38eb797eb13p-26, 0x1.1f670514bc822p-29,
};
/* (log((1 + s) / (1 - s)) - 2 s) / s^3 in z = s^2, where (1 + s) / (1 - s) is between sqrt(1/2) and sqrt(2) */
static const double log_tail[7] = {
    0x1.5555555555558p-1, 0x1.99999999951a5p-2, 0x1.2492492e14482p-2, 0x1.c71c62b8ee5b4p-3,
    0x1.7462c155d1548p-3, 0x1.39fcbbf5bd0b8p-3, 0x1.2b6c9010e0e21p-3,
};
static const double inverse_ln2_head = 0x1.7154760000000p+0; /* 1 / log(2) to 26 bits */
static const double inverse_ln2_tail = 0x1.4ae0bf85ddf44p-26; /* 1 / log(2) - inverse_ln2_head */
static const double inverse_ln10 = 0x1.bcb7b1526e50ep-2; /* 1 / log(10) */
static const double inverse_ln10_head = 0x1.bcb7b10000000p-2; /* 1 / log(10) to 26 bits */
static const double inverse_ln10_tail = 0x1.49b9438ca9aaep-28; /* 1 / log(10) - inverse_ln10_head */
static const double log10_2_high = 0x1.34413509f7800p-2; /* log10(2) to 42 bits */
static const double log10_2_low = 0x1.fef311f12b358p-46; /* log10(2) - log10_2_high */
static const double two_over_pi = 0x1.45f306dc9c883p-1; /* 2 / pi */
static const double half_pi_1 = 0x1.921fb54400000p+0; /* pi / 2 to 33 bits: its product with a number of quarters below 2^20 is exact */
static const double half_pi_2 = 0x1.0b4611a600000p-34; /* the next 33 bits */
static const double half_pi_3 = 0x1.3198a2e037073p-69; /* and the rest */
static const double half_pi = 0x1.921fb54442d18p+0; /* pi / 2 */
static const double half_pi_head = 0x1.921fb50000000p+0; /* pi / 2 to 26 bits */
static const double half_pi_tail = 0x1.110b4611a6263p-26; /* pi / 2 - half_pi_head */
/* (r - sin(r)) / r^3 in z = r^2, for |r| <= pi/4 */
static const double sine_tail[7] = {
    0x1.5555555555555p-3, -0x1.1111111111110p-7, 0x1.a01a01a019932p-13, -0x1.71de3a545feb4p-19,
    0x1.ae6454119d6a4p-26, -0x1.61217e210467ep-33, 0x1.ab1749d6b771fp-41,
};
/* (cos(r) - 1 + r^2/2) / r^4 in z = r^2 */
static const double cosine_tail[6] = {
    0x1.5555555555555p-5, -0x1.6c16c16c16965p-10, 0x1.a01a019f4e2eap-16, -0x1.27e4fa17324d6p-22,
    0x1.1eeb683a7d918p-29, -0x1.907d258c76b96p-37,
};
/* 2 / pi in words of 64 bits, of which the first stands before the point. */
static const uint64_t two_over_pi_words[20] = {
    UINT64_C(0x0000000000000000), UINT64_C(0xa2f9836e4e441529), UINT64_C(0xfc2757d1f534ddc0), UINT64_C(0xdb6295993c439041),
    UINT64_C(0xfe5163abdebbc561), UINT64_C(0xb7246e3a424dd2e0), UINT64_C(0x06492eea09d1921c), UINT64_C(0xfe1deb1cb129a73e),
    UINT64_C(0xe88235f52ebb4484), UINT64_C(0xe99c7026b45f7e41), UINT64_C(0x3991d639835339f4), UINT64_C(0x9c845f8bbdf9283b),
    UINT64_C(0x1ff897ffde05980f), UINT64_C(0xef2f118b5a0a6d1f), UINT64_C(0x6d367ecf27cb09b7), UINT64_C(0x4f463f669e5fea2d),
    UINT64_C(0x7527bac7ebe5f17b), UINT64_C(0x3d0739f78a5292ea), UINT64_C(0x6bfb5fb11f8d5d08), UINT64_C(0x56033046fc7b6bab),
};

#endif
