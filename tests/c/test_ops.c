/* Tests of the room ops: lookups by name, and the rules of types. */
#include <string.h>

#include "ops/ops.h"
#include "test.h"

static void every_row_is_found_by_its_name(void)
{
    for (int i = 0; i < N_SCALARS; i++) {
        CHECK(scalar_from_name(scalar_name(i)) == i);
    }
    for (int i = 0; i < N_OPS; i++) {
        CHECK(op_from_kind(op_kind(i)) == i);
    }
    for (int i = 0; i < N_DTYPES; i++) {
        CHECK(dtype_from_name(dtype_name((DType)i)) == i);
    }
    for (int i = 0; i < N_REDUCES; i++) {
        CHECK(reduce_from_name(reduce_name(i)) == i);
    }
    for (int i = 0; i < N_LIBRARY; i++) {
        CHECK(library_from_name(library_name(i)) == i);
    }
    CHECK(reduce_from_name("max") == -1 && library_from_name("") == -1);
    CHECK(scalar_from_name("nothing") == -1 && op_from_kind("") == -1 && dtype_from_name("float16") == -1);
}

static void promotion_is_symmetric_and_reaches_float64_where_no_integer_is_wide_enough(void)
{
    for (int i = 0; i < N_DTYPES; i++) {
        for (int j = 0; j < N_DTYPES; j++) {
            CHECK(dtype_promote((DType)i, (DType)j) == dtype_promote((DType)j, (DType)i));
        }
    }
    CHECK(dtype_promote(DTYPE_INT64, DTYPE_UINT64) == DTYPE_FLOAT64);
    CHECK(dtype_promote(DTYPE_INT8, DTYPE_UINT8) == DTYPE_INT16);
    CHECK(dtype_promote(DTYPE_INT16, DTYPE_FLOAT32) == DTYPE_FLOAT32);
    CHECK(dtype_promote(DTYPE_INT32, DTYPE_FLOAT32) == DTYPE_FLOAT64);
    CHECK(dtype_promote(DTYPE_FLOAT64, DTYPE_COMPLEX64) == DTYPE_COMPLEX128);
    CHECK(dtype_promote(DTYPE_BOOL, DTYPE_COMPLEX64) == DTYPE_COMPLEX64);
}

static void expect_types(int scalar, int n_in, const DType *in, int compute, int out)
{
    DType found_compute = DTYPE_BOOL, found_out = DTYPE_BOOL;
    int result = scalar_types(scalar, n_in, in, &found_compute, &found_out);

    CHECK(compute < 0 ? result == -1 : result == 0 && (int)found_compute == compute && (int)found_out == out);
}

static void each_rule_gives_the_computing_type_and_the_result(void)
{
    expect_types(SCALAR_ADD, 3, (DType[]){DTYPE_INT8, DTYPE_FLOAT32, DTYPE_INT64}, DTYPE_FLOAT64, DTYPE_FLOAT64);
    expect_types(SCALAR_EXP, 1, (DType[]){DTYPE_INT8}, DTYPE_FLOAT32, DTYPE_FLOAT32);
    expect_types(SCALAR_EXP, 1, (DType[]){DTYPE_INT32}, DTYPE_FLOAT64, DTYPE_FLOAT64);
    expect_types(SCALAR_TRUE_DIVIDE, 2, (DType[]){DTYPE_INT8, DTYPE_INT8}, DTYPE_FLOAT64, DTYPE_FLOAT64);
    expect_types(SCALAR_LT, 2, (DType[]){DTYPE_INT8, DTYPE_FLOAT64}, DTYPE_FLOAT64, DTYPE_BOOL);
    expect_types(SCALAR_SWITCH, 3, (DType[]){DTYPE_BOOL, DTYPE_INT8, DTYPE_INT64}, DTYPE_INT64, DTYPE_INT64);
    expect_types(SCALAR_ABS, 1, (DType[]){DTYPE_COMPLEX64}, DTYPE_COMPLEX64, DTYPE_FLOAT32);
    expect_types(SCALAR_ANGLE, 1, (DType[]){DTYPE_INT8}, DTYPE_FLOAT32, DTYPE_FLOAT64);
    expect_types(SCALAR_COMPLEX, 2, (DType[]){DTYPE_INT8, DTYPE_FLOAT32}, DTYPE_FLOAT32, DTYPE_COMPLEX64);
    expect_types(SCALAR_SECOND, 2, (DType[]){DTYPE_FLOAT64, DTYPE_INT8}, DTYPE_INT8, DTYPE_INT8);
}

static void rows_without_a_kernel_or_with_other_arity_are_refused(void)
{
    expect_types(SCALAR_SUB, 2, (DType[]){DTYPE_BOOL, DTYPE_BOOL}, -1, -1);
    expect_types(SCALAR_ARCTAN2, 2, (DType[]){DTYPE_COMPLEX64, DTYPE_INT8}, -1, -1);
    expect_types(SCALAR_SUB, 3, (DType[]){DTYPE_INT8, DTYPE_INT8, DTYPE_INT8}, -1, -1);
    expect_types(SCALAR_ADD, 1, (DType[]){DTYPE_INT8}, -1, -1);
}

static void integer_division_alone_can_raise(void)
{
    CHECK(scalar_can_raise(SCALAR_MOD, DTYPE_INT8) && !scalar_can_raise(SCALAR_MOD, DTYPE_FLOAT32));
    CHECK(scalar_can_raise(SCALAR_FLOOR_DIVIDE, DTYPE_UINT64) && !scalar_can_raise(SCALAR_ADD, DTYPE_INT64));
}

const Test tests_ops[] = {
    TEST(every_row_is_found_by_its_name),
    TEST(promotion_is_symmetric_and_reaches_float64_where_no_integer_is_wide_enough),
    TEST(each_rule_gives_the_computing_type_and_the_result),
    TEST(rows_without_a_kernel_or_with_other_arity_are_refused),
    TEST(integer_division_alone_can_raise),
    {NULL, NULL},
};
