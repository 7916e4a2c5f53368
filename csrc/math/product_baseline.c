/* Rows of products for every CPU of the architecture.
 *
 * Relies on: product_level.inc. Relied on by: product.c. */
#define LEVEL_TABLE products_baseline
#define LEVEL_BYTES 16
#include "math/product_level.inc"
