/* Finding kernels.
 *
 * Relies on: the tables of the kernels' files. Relied on by: vm. */
#include "math/math.h"

#include <stddef.h>

#include "math/kernels.h"

MapKernel math_kernel(int scalar, int compute)
{
    const MapKernel found[] = {
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

#define HAS_ZERO(c_type)                                    \
    for (int64_t i = 0; i < n; i++, data += stride) {       \
        if (*(const c_type *)(const void *)data == 0) {     \
            return true;                                    \
        }                                                   \
    }                                                       \
    return false

bool math_has_zero(int dtype, int64_t n, const char *data, int64_t stride)
{
    switch (dtype_bytes((DType)dtype)) {
    case 1:
        HAS_ZERO(uint8_t);
    case 2:
        HAS_ZERO(uint16_t);
    case 4:
        HAS_ZERO(uint32_t);
    default:
        HAS_ZERO(uint64_t);
    }
}
