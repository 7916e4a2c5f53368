/* Finding the kernels of products.
 *
 * Relies on: the levels' tables. Relied on by: vm. */
#include "math/product.h"

#include <stddef.h>

#include "base/array.h"
#include "math/level.h"

ProductKernel math_product(int dtype)
{
    static const ProductKernel *const tables[] = {
#define LEVEL(NAME, name, doc) products_##name,
#include "math/levels.def"
#undef LEVEL
    };
    return dtype == DTYPE_FLOAT32 || dtype == DTYPE_FLOAT64 ? tables[level_get()][dtype == DTYPE_FLOAT64] : NULL;
}
