/* Elementary functions: one implementation each, used for one element and for many, with the same bits on every CPU.
 *
 * A kernel runs along one axis: args holds the addresses of the inputs' first elements and then the output's, strides
 * their distances in bytes. Elements are aligned as their C types ask. The output may be one of the inputs, element for
 * element; any other overlap is the caller's to avoid. Kernels cannot fail.
 * Relies on: base, ops. Relied on by: vm. */
#ifndef PYSCAN_MATH_MATH_H
#define PYSCAN_MATH_MATH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "ops/ops.h"

typedef void (*MapKernel)(int64_t n, char *const *args, const int64_t *strides);

/* The kernel of an operation computed in a type, or NULL when its row has none. All inputs are of that type, but for
 * SWITCH, whose first is bool, and SECOND, whose first is not read. ADD and MUL take two inputs: fold them for more.
 * The output is of scalar_result(scalar, compute). */
MapKernel math_kernel(int scalar, int compute);

/* Copies elements of one type as another, as NumPy's astype does (on x86, where C leaves it open: a real that is NaN or
 * out of range becomes the integer type's bits of INT_MIN). Never NULL. */
MapKernel math_cast(int from, int to);

/* Whether one of n elements of an integer type is zero: to be asked of the divisors before FLOOR_DIVIDE and MOD. */
bool math_has_zero(int dtype, int64_t n, const char *data, int64_t stride);

/* Folds 1 <= n <= MATH_FOLD_BLOCK adjacent elements into one, in the documented order: fewer than eight from the first
 * on; otherwise element i into accumulator i % 8, these as ((0+1)+(2+3))+((4+5)+(6+7)), then what is left over one by
 * one. MAXIMUM and MINIMUM, AND and OR go from the first on, which for them is the same. NULL when there is none. */
enum { MATH_FOLD_BLOCK = 128 };
typedef void (*FoldKernel)(int64_t n, const char *data, char *result);
FoldKernel math_fold(int scalar, int compute);

#endif
