/* Elementary functions: one implementation each, used for one element and for many, with the same bits on every CPU.
 *
 * A kernel runs along one axis: args holds the addresses of the inputs' first elements and then the output's, strides
 * their distances in bytes. Elements are aligned as their C types ask. The output may be one of the inputs, element for
 * element; any other overlap is the caller's to avoid. Kernels cannot fail.
 * Relies on: base, ops. Relied on by: vm. */
#ifndef PYSCAN_MATH_MATH_H
#define PYSCAN_MATH_MATH_H

#include <stdint.h>

#include "base/array.h"
#include "ops/ops.h"

typedef void (*MapKernel)(int64_t n, char *const *args, const int64_t *strides);

/* The kernel of an operation computed in a type, or NULL when its row has none. All inputs are of that type, but for
 * SWITCH, whose first is bool, and SECOND, whose first is not read. ADD and MUL take two inputs: fold them for more.
 * The output is of scalar_result(scalar, compute). */
MapKernel math_kernel(int scalar, int compute);

/* An operation of two inputs done over and over: the first input and what comes of it, `times` > 0 times, with the second,
 * as its left or (is_second) right operand. The bits are those of the kernel called as often. NULL when there is none. */
typedef void (*RepeatKernel)(int64_t n, int64_t times, bool is_second, char *const *args, const int64_t *strides);
RepeatKernel math_repeat(int scalar, int compute);

/* Copies elements of one type as another, as NumPy's astype does (on x86, where C leaves it open: a real that is NaN or
 * out of range becomes the integer type's bits of INT_MIN). Never NULL. */
MapKernel math_cast(int from, int to);

/* Of an integer type: a kernel that leaves its output, a byte, alone or sets it to 1 if an element of the input is zero
 * (the output's stride is 0). To be asked of the divisors before FLOOR_DIVIDE and MOD. */
MapKernel math_find_zero(int dtype);

/* Folds 1 <= n <= MATH_FOLD_BLOCK adjacent elements into one, in the documented order: fewer than eight from the first
 * on; otherwise element i into accumulator i % 8, these as ((0+1)+(2+3))+((4+5)+(6+7)), then what is left over one by
 * one. Whatever is free in its order (math_fold_is_free) gives what folding from the first on does, for any number of elements.
 * NULL when there is none. */
enum { MATH_FOLD_BLOCK = 128 };
typedef void (*FoldKernel)(int64_t n, const char *data, char *result);
FoldKernel math_fold(int scalar, int compute);
/* Whether the order of a fold has no say in what it gives: all but sums and products of reals and complex numbers. */
bool math_fold_is_free(int scalar, int compute);

/* The same for each of `width` columns of n rows, whose elements are adjacent and whose rows are `stride` bytes apart:
 * columns side by side, each in the order of its own fold. At most MATH_COLUMNS_BYTES (MATH_FREE_BYTES if free in their
 * order) / the bytes of a result at once. */
enum { MATH_COLUMNS_BYTES = 512, MATH_FREE_BYTES = 4096 };
typedef void (*ColumnsKernel)(int64_t n, int64_t width, const char *data, int64_t stride, char *result);
ColumnsKernel math_fold_columns(int scalar, int compute);

/* The same of elements of a smaller type, without copies of them as the type computed in: for ADD of integers in 64 bits, and of
 * FLOAT32 as FLOAT64. NULL for others. */
FoldKernel math_fold_wide(int scalar, int source, int compute);
ColumnsKernel math_fold_wide_columns(int scalar, int source, int compute);

/* Replaces each of n elements by the fold of those up to it, from the first on (ADD and MUL). NULL when there is none. */
typedef void (*RunningKernel)(int64_t n, char *data, int64_t stride);
RunningKernel math_running(int scalar, int compute);

/* Looks for the largest of n elements of a real type, the first of equal ones; the first NaN beats all. best and *index
 * hold the largest so far, of those before number `first`; *index is -1 when there is none yet. NULL for complex types. */
typedef void (*LargestKernel)(int64_t n, const char *data, int64_t stride, int64_t first, char *best, int64_t *index);
LargestKernel math_largest(int dtype);

/* Sorts n adjacent keys in ascending order, NaN last; equal ones keep their order. `places`, if given, are moved as
 * their keys are. The spare memory is as large. */
typedef void (*SortKernel)(int64_t n, char *keys, int64_t *places, char *spare_keys, int64_t *spare_places);
SortKernel math_sort(int dtype);

/* Where a value belongs among n sorted ones: before equal ones or (is_right) behind them. */
typedef int64_t (*SearchKernel)(int64_t n, const char *sorted, int64_t stride, const char *value, bool is_right);
SearchKernel math_search(int dtype);

#endif
