/* Rows of matrix products: each element is the sum over k in the order 0, 1, 2, ... of a[k] * b[k], multiplied and added
 * separately, whatever the level of CPU and however many rows and columns there are. Vectors lie along the columns, so that
 * no sum is taken apart.
 *
 * Relies on: base. Relied on by: vm. */
#ifndef PYSCAN_MATH_PRODUCT_H
#define PYSCAN_MATH_PRODUCT_H

#include <stdbool.h>
#include <stdint.h>

#include "math/level.h"

/* a is m by k with any strides; b is k by n, out is m by n, and their rows are of adjacent elements. All strides are in
 * bytes; m, n and k are at least 1; out overlaps neither a nor b. */
typedef struct ProductRows {
    int64_t m, n, k;
    const char *a, *b;
    char *out;
    int64_t a_row, a_step, b_row, out_row;
    bool is_padded; /* rows of b can be read to the next multiple of MATH_PRODUCT_PAD bytes; else they are at least that long */
    bool goes_on;   /* out holds the sums of terms before these; is_padded only, since other columns are summed twice */
} ProductRows;

enum { MATH_PRODUCT_PAD = 64 };

typedef void (*ProductKernel)(const ProductRows *product);
/* For a type, on the level of CPU chosen; NULL for all but FLOAT32 and FLOAT64. */
ProductKernel math_product(int dtype);

/* Those of each level, by type. */
#define LEVEL(NAME, name, doc) extern const ProductKernel products_##name[2];
#include "math/levels.def"
#undef LEVEL

#endif
