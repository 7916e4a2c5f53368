/* Words of PCG64 and PCG64DXSM for CPUs with AVX-512 (math/levels.def): 16 lanes as two vectors of eight; an empty file elsewhere.
 *
 * Measured: 0.5 ns a word, where four lanes of scalar code take 1.1. With AVX2, which multiplies no numbers of 64 bits,
 * nothing is won. Relies on: words.h. Relied on by: words.c. */
#include "math/level.h"
#include "random/words.h"

#if defined(MATH_X86_LEVELS) && defined(RANDOM_HAS_PCG64)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl")
#endif
#include <immintrin.h>

/* Eight numbers of 128 bits. */
typedef struct Eight {
    __m512i high, low;
} Eight;

static inline Eight spread(Word128 number)
{
    return (Eight){_mm512_set1_epi64((long long)(uint64_t)(number >> 64)), _mm512_set1_epi64((long long)(uint64_t)number)};
}

static inline Eight gather(const Word128 *numbers)
{
    uint64_t high[8], low[8];

    for (int j = 0; j < 8; j++) {
        high[j] = (uint64_t)(numbers[j] >> 64);
        low[j] = (uint64_t)numbers[j];
    }
    return (Eight){_mm512_loadu_si512(high), _mm512_loadu_si512(low)};
}

/* x * factor + term: the low halves' product from four of 32 bits, the rest without carries. */
static inline Eight multiply_add(Eight x, Eight factor, __m512i factor_top, Eight term)
{
    const __m512i x_top = _mm512_srli_epi64(x.low, 32), mask = _mm512_set1_epi64(0xFFFFFFFF);
    __m512i bottom = _mm512_mul_epu32(x.low, factor.low);
    __m512i middle = _mm512_add_epi64(_mm512_mul_epu32(x_top, factor.low), _mm512_srli_epi64(bottom, 32));
    __m512i other = _mm512_add_epi64(_mm512_mul_epu32(x.low, factor_top), _mm512_and_si512(middle, mask));
    __m512i high = _mm512_add_epi64(_mm512_mul_epu32(x_top, factor_top), _mm512_srli_epi64(middle, 32));
    __m512i low = _mm512_add_epi64(_mm512_mullo_epi64(x.low, factor.low), term.low);
    __mmask8 carry = _mm512_cmplt_epu64_mask(low, term.low);

    high = _mm512_add_epi64(_mm512_add_epi64(high, _mm512_srli_epi64(other, 32)), term.high);
    high = _mm512_add_epi64(high, _mm512_add_epi64(_mm512_mullo_epi64(x.high, factor.low), _mm512_mullo_epi64(x.low, factor.high)));
    return (Eight){_mm512_mask_add_epi64(high, carry, high, _mm512_set1_epi64(1)), low};
}

static inline __m512i permute_xslrr(Eight lanes)
{
    return _mm512_rorv_epi64(_mm512_xor_si512(lanes.high, lanes.low), _mm512_srli_epi64(lanes.high, 58));
}

static inline __m512i permute_dxsm(Eight lanes)
{
    __m512i high = _mm512_xor_si512(lanes.high, _mm512_srli_epi64(lanes.high, 32));

    high = _mm512_mullo_epi64(high, _mm512_set1_epi64((long long)0xDA942042E4DD58B5u));
    high = _mm512_xor_si512(high, _mm512_srli_epi64(high, 48));
    return _mm512_mullo_epi64(high, _mm512_or_si512(lanes.low, _mm512_set1_epi64(1)));
}

static inline Word128 first_of(Eight numbers)
{
    uint64_t high[8], low[8];

    _mm512_storeu_si512(high, numbers.high);
    _mm512_storeu_si512(low, numbers.low);
    return WORD128(high[0], low[0]);
}

#define DRAW(NAME, permute)                                                                                            \
    Word128 NAME(const Word128 *lanes, Word128 factor, Word128 term, uint64_t *words, int64_t n)                       \
    {                                                                                                                  \
        const Eight factors = spread(factor), terms = spread(term);                                                    \
        const __m512i top = _mm512_srli_epi64(factors.low, 32);                                                        \
        Eight a = gather(lanes), b = gather(lanes + 8);                                                                \
                                                                                                                       \
        for (int64_t i = 0; i < n; i += WORDS_LANES) {                                                                 \
            _mm512_storeu_si512(words + i, permute(a));                                                                \
            _mm512_storeu_si512(words + i + 8, permute(b));                                                            \
            a = multiply_add(a, factors, top, terms);                                                                  \
            b = multiply_add(b, factors, top, terms);                                                                  \
        }                                                                                                              \
        return first_of(a);                                                                                            \
    }

DRAW(words_pcg64_avx512, permute_xslrr)
DRAW(words_pcg64dxsm_avx512, permute_dxsm)

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
