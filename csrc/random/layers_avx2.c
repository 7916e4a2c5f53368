/* Layers of a ziggurat for CPUs with AVX2 (math/levels.def): four words at once; an empty file elsewhere.
 *
 * As layers_avx512.c. These vectors cannot convert integers of 64 bits: numbers below 2^52 are the last digits of
 * doubles from 2^52 on, and of larger ones the upper and the lower 32 bits are. Relies on: compiler.h, layers.h. Relied on by:
 * layers.c. */
#include "random/layers.h"

#include "base/compiler.h"

#ifdef MATH_X86_LEVELS
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif
#include <immintrin.h>

static inline __m256i fill(uint64_t word) { return _mm256_set1_epi64x((long long)word); }

/* Whole numbers with the digits of a power of two, less that power: exact. */
static inline __m256d convert_52_bits(__m256i whole)
{
    return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(whole, fill((uint64_t)0x433 << 52))), _mm256_set1_pd(0x1p52));
}

static inline __m256d convert_53_bits(__m256i whole)
{
    const __m256d upper = _mm256_castsi256_pd(_mm256_or_si256(_mm256_srli_epi64(whole, 32), fill((uint64_t)0x453 << 52)));
    const __m256d lower = _mm256_castsi256_pd(_mm256_or_si256(_mm256_and_si256(whole, fill(0xFFFFFFFF)), fill((uint64_t)0x433 << 52)));

    return _mm256_add_pd(_mm256_sub_pd(upper, _mm256_set1_pd(0x1p84 + 0x1p52)), lower);
}

/* The layer of number i of the words, and of two words as one vector. */
#define LAYER(i) _mm_loadu_pd(&table[INDEX(words[i])].width)
#define TWO_LAYERS(i, j) _mm256_insertf128_pd(_mm256_castpd128_pd256(LAYER(i)), LAYER(j), 1)

/* A number below its limit gives a difference with the sign bit. */
#define TAKE_LAYERS(NAME)                                                                            \
    LAYERS_OF(NAME)                                                                                  \
    {                                                                                                \
        const __m256d lows = _mm256_set1_pd(low), ranges = _mm256_set1_pd(range);                    \
                                                                                                     \
        for (int64_t n_left = n; n_left > 0; n_left -= LAYERS_LANES_AVX2) {                          \
            const __m256i word = _mm256_loadu_si256((const __m256i *)(const void *)words), whole = WHOLE(word); \
            const __m256d even = TWO_LAYERS(0, 2), odd = TWO_LAYERS(1, 3);                           \
            const __m256i limit = _mm256_castpd_si256(_mm256_unpackhi_pd(even, odd));                \
            const __m256d size = _mm256_mul_pd(CONVERT(whole), _mm256_unpacklo_pd(even, odd));       \
            const int good = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_sub_epi64(whole, limit))); \
                                                                                                     \
            _mm256_storeu_pd(out, _mm256_add_pd(lows, _mm256_mul_pd(ranges, WITH_SIGN(size, word)))); \
            if (UNLIKELY(good != 15)) {                                                              \
                return n - n_left + __builtin_ctz(~(unsigned)good);                                  \
            }                                                                                        \
            words += LAYERS_LANES_AVX2;                                                              \
            out += LAYERS_LANES_AVX2;                                                                \
        }                                                                                            \
        return n;                                                                                    \
    }

#define INDEX(word) ((word) & 0xFF)
#define WHOLE(word) _mm256_srli_epi64(_mm256_slli_epi64(word, 3), 12)
#define CONVERT convert_52_bits
#define SIGN_OF(word) _mm256_and_si256(_mm256_slli_epi64(word, 55), fill((uint64_t)1 << 63))
#define WITH_SIGN(size, word) _mm256_xor_pd(size, _mm256_castsi256_pd(SIGN_OF(word)))
TAKE_LAYERS(layers_NORMAL_avx2)
#undef INDEX
#undef WHOLE
#undef CONVERT
#undef WITH_SIGN

#define INDEX(word) ((word) >> 3 & 0xFF)
#define WHOLE(word) _mm256_srli_epi64(word, 11)
#define CONVERT convert_53_bits
#define WITH_SIGN(size, word) (size)
TAKE_LAYERS(layers_EXPONENTIAL_avx2)

#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
