/* Sorting and searching: one stable order for each type, NaN last.
 *
 * Runs by insertion, then merges between two buffers. Equal keys keep their order, whatever the CPU. Complex numbers
 * are ordered by real parts, then imaginary ones; those with a NaN come last, first those whose real part is none.
 * Relies on: kernels.h. Relied on by: vm (order.c). */
#include <complex.h>
#include <string.h>

#include "math/kernels.h"

enum { RUN = 8 };

#define LESS_WHOLE(T, a, b) ((a) < (b))
#define LESS_REAL(T, a, b) ((a) < (b) || ((b) != (b) && (a) == (a)))

static bool is_less_complex(double a_real, double a_imag, double b_real, double b_imag)
{
    int a_class = 2 * (a_real != a_real) + (a_imag != a_imag), b_class = 2 * (b_real != b_real) + (b_imag != b_imag);

    if (a_class != b_class) {
        return a_class < b_class;
    }
    if (a_class < 2 && a_real != b_real) {
        return a_real < b_real;
    }
    return (a_class & 1) == 0 && a_imag < b_imag;
}
#define LESS_COMPLEX(T, a, b) is_less_complex((double)creal(a), (double)cimag(a), (double)creal(b), (double)cimag(b))

#define DEFINE_SORT(TYPE, T, LESS)                                                                                                       \
    static void sort_##TYPE(int64_t n, char *keys, int64_t *places, char *spare_keys, int64_t *spare_places)                             \
    {                                                                                                                                    \
        T *from = (T *)(void *)keys, *to = (T *)(void *)spare_keys;                                                                      \
        int64_t *places_from = places, *places_to = spare_places;                                                                        \
        for (int64_t i = 0; i < n; i++) {                                                                                                \
            const T key = from[i];                                                                                                       \
            const int64_t place = places == NULL ? 0 : places[i];                                                                        \
            int64_t j = i;                                                                                                               \
            for (; j > i - i % RUN && LESS(T, key, from[j - 1]); j--) {                                                                  \
                from[j] = from[j - 1];                                                                                                   \
                if (places != NULL) {                                                                                                    \
                    places[j] = places[j - 1];                                                                                           \
                }                                                                                                                        \
            }                                                                                                                            \
            from[j] = key;                                                                                                               \
            if (places != NULL) {                                                                                                        \
                places[j] = place;                                                                                                       \
            }                                                                                                                            \
        }                                                                                                                                \
        for (int64_t width = RUN; width < n; width *= 2) {                                                                               \
            for (int64_t begin = 0; begin < n; begin += 2 * width) {                                                                     \
                const int64_t middle = n - begin < width ? n : begin + width, end = n - begin < 2 * width ? n : begin + 2 * width;       \
                for (int64_t i = begin, j = middle, k = begin; k < end; k++) {                                                           \
                    const bool is_right = i == middle || (j < end && LESS(T, from[j], from[i]));                                         \
                    const int64_t taken = is_right ? j++ : i++;                                                                          \
                    to[k] = from[taken];                                                                                                 \
                    if (places != NULL) {                                                                                                \
                        places_to[k] = places_from[taken];                                                                               \
                    }                                                                                                                    \
                }                                                                                                                        \
            }                                                                                                                            \
            T *keys_swap = from;                                                                                                         \
            int64_t *places_swap = places_from;                                                                                          \
            from = to;                                                                                                                   \
            to = keys_swap;                                                                                                              \
            places_from = places_to;                                                                                                     \
            places_to = places_swap;                                                                                                     \
        }                                                                                                                                \
        if ((char *)from != keys) {                                                                                                      \
            memcpy(keys, from, (size_t)n * sizeof(T));                                                                                   \
            if (places != NULL) {                                                                                                        \
                memcpy(places, places_from, (size_t)n * sizeof(int64_t));                                                                \
            }                                                                                                                            \
        }                                                                                                                                \
    }                                                                                                                                    \
    static int64_t search_##TYPE(int64_t n, const char *sorted, int64_t stride, const char *value, bool is_right)                        \
    {                                                                                                                                    \
        const T key = *(const T *)(const void *)value;                                                                                   \
        int64_t low = 0, high = n;                                                                                                       \
        while (low < high) {                                                                                                             \
            const int64_t middle = low + (high - low) / 2;                                                                               \
            const T at = *(const T *)(const void *)(sorted + middle * stride);                                                           \
            if (is_right ? !LESS(T, key, at) : LESS(T, at, key)) {                                                                       \
                low = middle + 1;                                                                                                        \
            } else {                                                                                                                     \
                high = middle;                                                                                                           \
            }                                                                                                                            \
        }                                                                                                                                \
        return low;                                                                                                                      \
    }

#define SORT_WHOLE(TYPE, T, WIDE) DEFINE_SORT(TYPE, T, LESS_WHOLE)
#define SORT_REAL(TYPE, T, SUFFIX) DEFINE_SORT(TYPE, T, LESS_REAL)
SORT_WHOLE(BOOL, uint8_t, )
FOR_SIGNED(SORT_WHOLE)
FOR_UNSIGNED(SORT_WHOLE)
FOR_REAL(SORT_REAL)
DEFINE_SORT(COMPLEX64, float _Complex, LESS_COMPLEX)
DEFINE_SORT(COMPLEX128, double _Complex, LESS_COMPLEX)

#define DTYPE(TYPE, ...) [DTYPE_##TYPE] = sort_##TYPE,
static const SortKernel sorts[N_DTYPES] = {
#include "base/dtypes.def"
};
#undef DTYPE

#define DTYPE(TYPE, ...) [DTYPE_##TYPE] = search_##TYPE,
static const SearchKernel searches[N_DTYPES] = {
#include "base/dtypes.def"
};
#undef DTYPE

SortKernel math_sort(int dtype) { return sorts[dtype]; }

SearchKernel math_search(int dtype) { return searches[dtype]; }
