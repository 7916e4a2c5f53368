/* Finding kernels.
 *
 * Relies on: the tables of the kernels' files. Relied on by: vm. */
#include "math/math.h"

#include <stddef.h>

#include "math/kernels.h"

/* Of the level chosen. */
static MapKernel level_kernel(int scalar, int compute)
{
    static const MapKernel (*const tables[][2])[N_DTYPES] = {
#define LEVEL(NAME, name, doc) {elementary_##name, arithmetic_##name},
#include "math/levels.def"
#undef LEVEL
    };
    const MapKernel (*const *of_level)[N_DTYPES] = tables[level_get()];

    return of_level[0][scalar][compute] != NULL ? of_level[0][scalar][compute] : of_level[1][scalar][compute];
}

MapKernel math_kernel(int scalar, int compute)
{
    const MapKernel found[] = {
        level_kernel(scalar, compute),
        kernels_integer[scalar][compute],
        kernels_compare[scalar][compute],
        kernels_float[scalar][compute],
        kernels_complex[scalar][compute],
    };

    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
        if (found[i] != NULL) {
            return found[i];
        }
    }
    return NULL;
}

RepeatKernel math_repeat(int scalar, int compute)
{
    static const RepeatKernel (*const tables[])[N_DTYPES] = {
#define LEVEL(NAME, name, doc) repeat_##name,
#include "math/levels.def"
#undef LEVEL
    };
    return tables[level_get()][scalar][compute];
}

#define DEFINE_FIND_ZERO(c_type)                                                                \
    static void find_zero_##c_type(int64_t n, char *const *args, const int64_t *strides)        \
    {                                                                                           \
        const char *data = args[0];                                                             \
        int found = 0;                                                                          \
        for (int64_t i = 0; i < n; i++, data += strides[0]) {                                   \
            found |= *(const c_type *)(const void *)data == 0;                                  \
        }                                                                                       \
        *(uint8_t *)args[1] = (uint8_t)(found | *(uint8_t *)args[1]);                           \
    }

DEFINE_FIND_ZERO(uint8_t)
DEFINE_FIND_ZERO(uint16_t)
DEFINE_FIND_ZERO(uint32_t)
DEFINE_FIND_ZERO(uint64_t)

MapKernel math_find_zero(int dtype)
{
    switch (dtype_bytes((DType)dtype)) {
    case 1:
        return find_zero_uint8_t;
    case 2:
        return find_zero_uint16_t;
    case 4:
        return find_zero_uint32_t;
    default:
        return find_zero_uint64_t;
    }
}
