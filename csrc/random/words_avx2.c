/* Words of PCG64 and PCG64DXSM for CPUs with AVX2 (math/levels.def): 8 lanes as two vectors of four; an empty file elsewhere.
 *
 * There is no product of 64 bits: one of 128 bits takes ten of 32. Measured: 0.9 ns a word, where scalar code takes 1.5.
 * Relies on: words.h. Relied on by: words.c. */
#include "math/level.h"
#include "random/words.h"

#if defined(MATH_X86_LEVELS) && defined(RANDOM_HAS_INLINED)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif
#include <immintrin.h>

/* Four numbers of 128 bits. */
typedef struct Numbers {
    __m256i high, low;
} Numbers;

enum { WIDTH = 4 };

static inline __m256i load(const uint64_t *from) { return _mm256_loadu_si256((const __m256i *)(const void *)from); }
static inline void store(uint64_t *to, __m256i words) { _mm256_storeu_si256((__m256i *)(void *)to, words); }
static inline __m256i fill(uint64_t word) { return _mm256_set1_epi64x((long long)word); }
static inline __m256i top_of(__m256i words) { return _mm256_srli_epi64(words, 32); }

/* The products of words, from four of 32 bits each. */
static inline Numbers multiply_words(__m256i x, __m256i factor)
{
    const __m256i x_top = top_of(x), factor_top = top_of(factor), mask = fill(0xFFFFFFFF);
    __m256i bottom = _mm256_mul_epu32(x, factor);
    __m256i middle = _mm256_add_epi64(_mm256_mul_epu32(x_top, factor), top_of(bottom));
    __m256i other = _mm256_add_epi64(_mm256_mul_epu32(x, factor_top), _mm256_and_si256(middle, mask));

    return (Numbers){_mm256_add_epi64(_mm256_mul_epu32(x_top, factor_top), _mm256_add_epi64(top_of(middle), top_of(other))),
                     _mm256_or_si256(_mm256_slli_epi64(other, 32), _mm256_and_si256(bottom, mask))};
}

/* Of the low words the product of 128 bits; of the others those 64 bits that count. */
static inline Numbers multiply_add(Numbers x, Numbers factor, Numbers term)
{
    const __m256i sign = fill((uint64_t)1 << 63);
    Numbers product = multiply_words(x.low, factor.low);
    __m256i low = _mm256_add_epi64(product.low, term.low);
    __m256i carry = _mm256_cmpgt_epi64(_mm256_xor_si256(term.low, sign), _mm256_xor_si256(low, sign)); /* 0 or -1; signed */
    __m256i mixed = _mm256_add_epi64(_mm256_mul_epu32(x.high, factor.low), _mm256_mul_epu32(x.low, factor.high));
    __m256i mixed_top = _mm256_add_epi64(_mm256_mul_epu32(top_of(x.high), factor.low), _mm256_mul_epu32(x.high, top_of(factor.low)));
    __m256i high;

    mixed_top = _mm256_add_epi64(mixed_top, _mm256_add_epi64(_mm256_mul_epu32(top_of(x.low), factor.high), _mm256_mul_epu32(x.low, top_of(factor.high))));
    high = _mm256_add_epi64(_mm256_add_epi64(product.high, mixed), _mm256_slli_epi64(mixed_top, 32));
    return (Numbers){_mm256_sub_epi64(_mm256_add_epi64(high, term.high), carry), low};
}

static inline __m256i permute_xslrr(Numbers lanes)
{
    __m256i folded = _mm256_xor_si256(lanes.high, lanes.low), turn = _mm256_srli_epi64(lanes.high, 58);

    return _mm256_or_si256(_mm256_srlv_epi64(folded, turn), _mm256_sllv_epi64(folded, _mm256_sub_epi64(fill(64), turn)));
}

/* The 64 bits of a product that count. */
static inline __m256i multiply(__m256i x, __m256i y)
{
    __m256i mixed = _mm256_add_epi64(_mm256_mul_epu32(top_of(x), y), _mm256_mul_epu32(x, top_of(y)));

    return _mm256_add_epi64(_mm256_mul_epu32(x, y), _mm256_slli_epi64(mixed, 32));
}

static inline __m256i permute_dxsm(Numbers lanes)
{
    __m256i high = _mm256_xor_si256(lanes.high, top_of(lanes.high));

    high = multiply(high, fill(0xDA942042E4DD58B5u));
    high = _mm256_xor_si256(high, _mm256_srli_epi64(high, 48));
    return multiply(high, _mm256_or_si256(lanes.low, fill(1)));
}

#include "random/words_lanes.inc"

DRAW_LANES(words_pcg64_avx2, permute_xslrr)
DRAW_LANES(words_pcg64dxsm_avx2, permute_dxsm)

SCALE_OF_LEVEL(words_scale_avx2)
{
    const __m256i low = fill(scale->low), factor = fill(scale->n_values), n_refused = fill(scale->n_refused);
    __m256i refused = fill(0); /* the uppermost bits count */

    for (int64_t i = 0; i < n; i += SCALE_LANES_AVX2) {
        Numbers product = multiply_words(load(words + i), factor);

        store(out + i, _mm256_add_epi64(low, product.high));
        refused = _mm256_or_si256(refused, _mm256_andnot_si256(product.low, _mm256_sub_epi64(product.low, n_refused)));
    }
    return _mm256_movemask_pd(_mm256_castsi256_pd(refused)) == 0;
}

/* As words.c does it: these vectors cannot convert integers of 64 bits either. */
STRETCH_OF_LEVEL(words_stretch_avx2)
{
    const __m256d low = _mm256_set1_pd(stretch->low), range = _mm256_set1_pd(stretch->range), off = _mm256_set1_pd(0x1p20 + 0.5);
    const __m256i upper_one = fill((uint64_t)0x413 << 52), lower_one = fill((uint64_t)0x3FE << 52), mask = fill(0xFFFFFFFF);

    for (int64_t i = 0; i < n; i += SCALE_LANES_AVX2) {
        __m256i word = load(words + i), below = _mm256_srli_epi64(_mm256_and_si256(word, mask), 11);
        __m256d upper = _mm256_castsi256_pd(_mm256_or_si256(top_of(word), upper_one));
        __m256d x = _mm256_add_pd(_mm256_sub_pd(upper, off), _mm256_castsi256_pd(_mm256_or_si256(below, lower_one)));

        store(words + i, _mm256_castpd_si256(_mm256_add_pd(low, _mm256_mul_pd(range, x))));
    }
}

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
