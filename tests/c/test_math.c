/* Tests of the room math: a kernel for each row and type, the values that need care, casts, folds. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "math/level.h"
#include "math/math.h"
#include "test.h"

static const int64_t no_strides[4] = {0};

static double apply(int scalar, double a, double b)
{
    double result;
    char *two[3] = {(char *)&a, (char *)&b, (char *)&result}, *one[2] = {(char *)&a, (char *)&result};

    math_kernel(scalar, DTYPE_FLOAT64)(1, scalar_n_in(scalar) == 1 ? one : two, no_strides);
    return result;
}

static int64_t apply_int(int scalar, int64_t a, int64_t b)
{
    int64_t result;
    char *two[3] = {(char *)&a, (char *)&b, (char *)&result}, *one[2] = {(char *)&a, (char *)&result};

    math_kernel(scalar, DTYPE_INT64)(1, scalar_n_in(scalar) == 1 ? one : two, no_strides);
    return result;
}

static void there_is_a_kernel_for_each_type_that_a_row_names(void)
{
    for (int scalar = 0; scalar < N_SCALARS; scalar++) {
        for (int dtype = 0; dtype < N_DTYPES; dtype++) {
            bool has_kernel = math_kernel(scalar, dtype) != NULL;
            CHECK(has_kernel == scalar_has_kernel(scalar, (DType)dtype));
        }
    }
    for (int from = 0; from < N_DTYPES; from++) {
        for (int to = 0; to < N_DTYPES; to++) {
            CHECK(math_cast(from, to) != NULL);
        }
    }
}

/* Fills n elements of a type with values of both signs that are no trouble to any operation; their bytes are defined. */
static void fill_elements(char *data, int dtype, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double x = (double)(i % 7) * 0.5 - 1.25 * (double)(i % 2);
        char *args[2] = {(char *)&x, data + i * dtype_bytes((DType)dtype)};
        math_cast(DTYPE_FLOAT64, dtype)(1, args, no_strides);
    }
}

static void check_layouts(void)
{
    enum { N = 37, ROOM = N * 2 * DTYPE_MAX_BYTES };
    _Alignas(16) static char in[3][ROOM], many[ROOM], apart[ROOM], single[ROOM];

    for (int scalar = 0; scalar < N_SCALARS; scalar++) {
        for (int dtype = 0; dtype < N_DTYPES; dtype++) {
            MapKernel kernel = math_kernel(scalar, dtype);
            int n_in = scalar_n_in(scalar) < 0 ? 2 : scalar_n_in(scalar);
            int64_t strides[4], twice[4];
            char *args[4], *apart_args[4];

            if (kernel == NULL) {
                continue;
            }
            for (int i = 0; i <= n_in; i++) {
                int own = i == n_in ? (int)scalar_result(scalar, (DType)dtype) : scalar == SCALAR_SWITCH && i == 0 ? DTYPE_BOOL : dtype;
                strides[i] = dtype_bytes((DType)own);
                twice[i] = i == n_in ? 2 * strides[i] : strides[i];
                args[i] = i == n_in ? many : in[i];
                apart_args[i] = i == n_in ? apart : in[i];
                if (i < n_in) {
                    fill_elements(in[i], own, N);
                }
            }
            kernel(N, args, strides);
            kernel(N, apart_args, twice);
            for (int64_t j = 0; j < N; j++) {
                char *one[4];
                for (int i = 0; i <= n_in; i++) {
                    one[i] = i == n_in ? single : in[i] + j * strides[i];
                }
                kernel(1, one, no_strides);
                CHECK(memcmp(single, many + j * strides[n_in], (size_t)strides[n_in]) == 0);
                CHECK(memcmp(single, apart + j * twice[n_in], (size_t)strides[n_in]) == 0);
            }
        }
    }
}

/* Runs a test on each level of CPU that is here. */
static void on_each_level(void (*run)(void))
{
    for (int level = 0; level < N_LEVELS; level++) {
        if (level_is_here(level)) {
            CHECK(level_choose(level_name(level)) == 0 && (int)level_get() == level);
            run();
        }
    }
    CHECK(level_choose(NULL) == 0);
}

static void one_element_gets_the_same_bits_as_many_in_any_layout(void) { on_each_level(check_layouts); }

static void a_level_that_is_not_here_is_refused(void)
{
    CHECK(level_choose("no such level") < 0 && level_choose("") < 0);
    for (int level = 0; level < N_LEVELS; level++) {
        CHECK((level_choose(level_name(level)) == 0) == level_is_here(level));
        CHECK(!level_is_here(level) || level_multiplies() == (level != LEVEL_BASELINE));
    }
    CHECK(level_is_here(LEVEL_BASELINE) && level_choose(NULL) == 0 && level_is_here((int)level_get()));
}

static void a_broadcast_operand_gives_the_same_as_a_filled_one(void)
{
    double a[9] = {1, -2, 3, 0, 5, 6, -7, 8, 9}, b = 0.3, found[9];
    char *args[3] = {(char *)a, (char *)&b, (char *)found};
    const int64_t strides[3] = {8, 0, 8};

    math_kernel(SCALAR_TRUE_DIVIDE, DTYPE_FLOAT64)(9, args, strides);
    for (int i = 0; i < 9; i++) {
        CHECK(found[i] == a[i] / 0.3);
    }
}

static void integers_wrap(void)
{
    CHECK(apply_int(SCALAR_ADD, INT64_MAX, 1) == INT64_MIN);
    CHECK(apply_int(SCALAR_MUL, INT64_MAX, 2) == -2);
    CHECK(apply_int(SCALAR_NEG, INT64_MIN, 0) == INT64_MIN);
    CHECK(apply_int(SCALAR_ABS, INT64_MIN, 0) == INT64_MIN);
    CHECK(apply_int(SCALAR_FLOOR_DIVIDE, INT64_MIN, -1) == INT64_MIN);
    CHECK(apply_int(SCALAR_MOD, INT64_MIN, -1) == 0);
    uint16_t a = 65535, b = 65535, c = 0;
    char *args[3] = {(char *)&a, (char *)&b, (char *)&c};
    math_kernel(SCALAR_MUL, DTYPE_UINT16)(1, args, no_strides);
    CHECK(c == 1);
}

static void division_rounds_down_with_the_signs_of_python(void)
{
    CHECK(apply_int(SCALAR_FLOOR_DIVIDE, -4, 3) == -2 && apply_int(SCALAR_MOD, -4, 3) == 2);
    CHECK(apply_int(SCALAR_FLOOR_DIVIDE, 4, -3) == -2 && apply_int(SCALAR_MOD, 4, -3) == -2);
    CHECK(apply(SCALAR_FLOOR_DIVIDE, -4, 3) == -2 && apply(SCALAR_MOD, -4, 3) == 2);
    CHECK(apply(SCALAR_FLOOR_DIVIDE, 1, 0) == INFINITY && isnan(apply(SCALAR_MOD, 1, 0)));
    CHECK(apply(SCALAR_MOD, -1, INFINITY) == INFINITY && apply(SCALAR_FLOOR_DIVIDE, -1, INFINITY) == -1);
    CHECK(signbit(apply(SCALAR_MOD, 6, -3)) && signbit(apply(SCALAR_FLOOR_DIVIDE, -0.0, 3)));
    CHECK(apply(SCALAR_FLOOR_DIVIDE, 6.0, 0.1) == 59 && apply(SCALAR_MOD, 6.0, 0.1) == fmod(6.0, 0.1));
}

static void powers_of_integers_wrap_and_negative_exponents_cut(void)
{
    CHECK(apply_int(SCALAR_POW, 3, 4) == 81 && apply_int(SCALAR_POW, -2, 3) == -8);
    CHECK(apply_int(SCALAR_POW, 2, -1) == 0 && apply_int(SCALAR_POW, 1, -5) == 1);
    CHECK(apply_int(SCALAR_POW, -1, -5) == -1 && apply_int(SCALAR_POW, -1, -4) == 1);
    CHECK(apply_int(SCALAR_POW, 10, 30) == (int64_t)5076944270305263616);
}

static void an_exponent_of_two_is_a_square(void)
{
    CHECK(apply(SCALAR_POW, 1.1, 2) == 1.1 * 1.1);
    CHECK(apply(SCALAR_POW, -3, 2) == 9 && apply(SCALAR_POW, 2, 0.5) == pow(2, 0.5));
}

static void nan_wins_in_maximum_and_minimum(void)
{
    CHECK(isnan(apply(SCALAR_MAXIMUM, NAN, 1)) && isnan(apply(SCALAR_MAXIMUM, 1, NAN)));
    CHECK(isnan(apply(SCALAR_MINIMUM, NAN, 1)) && isnan(apply(SCALAR_MINIMUM, 1, NAN)));
    CHECK(apply(SCALAR_MAXIMUM, 1, 2) == 2 && apply(SCALAR_MINIMUM, 1, 2) == 1);
    CHECK(isnan(apply(SCALAR_SGN, NAN, 0)) && apply(SCALAR_SGN, -2, 0) == -1);
}

/* Elementary functions at their edges: (row, argument, value); a value is met to the last bit but for the sign of NaN. */
static const struct Edge { int scalar; double x, y; } edges[] = {
    {SCALAR_EXP, 0, 1}, {SCALAR_EXP, -0.0, 1}, {SCALAR_EXP, INFINITY, INFINITY}, {SCALAR_EXP, -INFINITY, 0}, {SCALAR_EXP, NAN, NAN},
    {SCALAR_EXP, 709.782712893384, 0x1.fffffffffff2ap+1023}, {SCALAR_EXP, 709.7827128933841, INFINITY},
    {SCALAR_EXP, -745.1332191019411, 0x1p-1074}, {SCALAR_EXP, -745.1332191019412, 0}, {SCALAR_EXP, -708.3964185322641, 0x1.000000000007cp-1022},
    {SCALAR_EXP, 1e308, INFINITY}, {SCALAR_EXP, -1e308, 0}, {SCALAR_EXP, 0x1p-1074, 1},
    {SCALAR_EXP2, 1023, 0x1p1023}, {SCALAR_EXP2, 1024, INFINITY}, {SCALAR_EXP2, -1022, 0x1p-1022}, {SCALAR_EXP2, -1074, 0x1p-1074},
    {SCALAR_EXP2, -1076, 0}, {SCALAR_EXP2, -INFINITY, 0}, {SCALAR_EXP2, NAN, NAN}, {SCALAR_EXP2, -0.0, 1}, {SCALAR_EXP2, 10, 1024},
    {SCALAR_EXPM1, 0, 0}, {SCALAR_EXPM1, -0.0, -0.0}, {SCALAR_EXPM1, -INFINITY, -1}, {SCALAR_EXPM1, INFINITY, INFINITY}, {SCALAR_EXPM1, NAN, NAN},
    {SCALAR_EXPM1, 0x1p-1074, 0x1p-1074}, {SCALAR_EXPM1, -0x1p-1022, -0x1p-1022}, {SCALAR_EXPM1, -800, -1}, {SCALAR_EXPM1, 710, INFINITY},
    {SCALAR_LOG, 1, 0}, {SCALAR_LOG, 0, -INFINITY}, {SCALAR_LOG, -0.0, -INFINITY}, {SCALAR_LOG, -1, NAN}, {SCALAR_LOG, -INFINITY, NAN},
    {SCALAR_LOG, INFINITY, INFINITY}, {SCALAR_LOG, NAN, NAN}, {SCALAR_LOG, 0x1p-1074, -0x1.74385446d71c3p+9}, {SCALAR_LOG, 0x1p-1022, -0x1.6232bdd7abcd2p+9},
    {SCALAR_LOG2, 0x1p-1074, -1074}, {SCALAR_LOG2, 0x1p1023, 1023}, {SCALAR_LOG2, 8, 3}, {SCALAR_LOG2, 1, 0}, {SCALAR_LOG2, 0, -INFINITY}, {SCALAR_LOG2, -2, NAN},
    {SCALAR_LOG10, 1000, 3}, {SCALAR_LOG10, 1e22, 22}, {SCALAR_LOG10, 1, 0}, {SCALAR_LOG10, 0, -INFINITY}, {SCALAR_LOG10, INFINITY, INFINITY},
    {SCALAR_LOG1P, 0, 0}, {SCALAR_LOG1P, -0.0, -0.0}, {SCALAR_LOG1P, -1, -INFINITY}, {SCALAR_LOG1P, -2, NAN}, {SCALAR_LOG1P, INFINITY, INFINITY},
    {SCALAR_LOG1P, 0x1p-1074, 0x1p-1074}, {SCALAR_LOG1P, -0x1p-1022, -0x1p-1022}, {SCALAR_LOG1P, NAN, NAN}, {SCALAR_LOG1P, 0x1p1023, 0x1.628b76e3a7b61p+9},
    {SCALAR_SIN, 0, 0}, {SCALAR_SIN, -0.0, -0.0}, {SCALAR_SIN, INFINITY, NAN}, {SCALAR_SIN, -INFINITY, NAN}, {SCALAR_SIN, NAN, NAN},
    {SCALAR_SIN, 0x1p-1074, 0x1p-1074}, {SCALAR_SIN, 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53}, {SCALAR_SIN, 1e22, -0x1.b453ab76bf397p-1},
    {SCALAR_COS, 0, 1}, {SCALAR_COS, -0.0, 1}, {SCALAR_COS, INFINITY, NAN}, {SCALAR_COS, NAN, NAN}, {SCALAR_COS, 1e22, 0x1.0be2cef01c8f4p-1},
    {SCALAR_COS, 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}, {SCALAR_COS, 0x1.6ac5b262ca1ffp+849, -0x1.14ae72e6ba22fp-61},
    {SCALAR_TANH, 0, 0}, {SCALAR_TANH, -0.0, -0.0}, {SCALAR_TANH, INFINITY, 1}, {SCALAR_TANH, -INFINITY, -1}, {SCALAR_TANH, NAN, NAN},
    {SCALAR_TANH, 0x1p-1074, 0x1p-1074}, {SCALAR_TANH, -0x1p-1022, -0x1p-1022}, {SCALAR_TANH, 1e300, 1}, {SCALAR_TANH, 22.5, 1},
    {SCALAR_SINH, 0, 0}, {SCALAR_SINH, -0.0, -0.0}, {SCALAR_SINH, INFINITY, INFINITY}, {SCALAR_SINH, -INFINITY, -INFINITY}, {SCALAR_SINH, NAN, NAN},
    {SCALAR_SINH, 0x1p-1074, 0x1p-1074}, {SCALAR_SINH, -0x1p-1022, -0x1p-1022}, {SCALAR_SINH, 710.4758600739439, 0x1.ffffffffffd3bp+1023},
    {SCALAR_SINH, 710.475860073944, INFINITY}, {SCALAR_SINH, -1e300, -INFINITY},
    {SCALAR_COSH, 0, 1}, {SCALAR_COSH, -0.0, 1}, {SCALAR_COSH, -INFINITY, INFINITY}, {SCALAR_COSH, NAN, NAN}, {SCALAR_COSH, 0x1p-1074, 1},
    {SCALAR_COSH, -710.475860073944, INFINITY}, {SCALAR_COSH, -1e300, INFINITY},
    {SCALAR_ARCSINH, 0, 0}, {SCALAR_ARCSINH, -0.0, -0.0}, {SCALAR_ARCSINH, INFINITY, INFINITY}, {SCALAR_ARCSINH, -INFINITY, -INFINITY},
    {SCALAR_ARCSINH, NAN, NAN}, {SCALAR_ARCSINH, 0x1p-1074, 0x1p-1074}, {SCALAR_ARCSINH, -0x1p-1022, -0x1p-1022},
    {SCALAR_ARCSINH, 0x1p1023, 0x1.62e42fefa39efp+9},
    {SCALAR_ARCCOSH, 1, 0}, {SCALAR_ARCCOSH, INFINITY, INFINITY}, {SCALAR_ARCCOSH, NAN, NAN}, {SCALAR_ARCCOSH, 0.5, NAN}, {SCALAR_ARCCOSH, -0.0, NAN},
    {SCALAR_ARCCOSH, -INFINITY, NAN}, {SCALAR_ARCCOSH, 0x1.0000000000001p+0, 0x1.6a09e667f3bccp-26}, {SCALAR_ARCCOSH, 0x1p1023, 0x1.62e42fefa39efp+9},
    {SCALAR_ARCTANH, 0, 0}, {SCALAR_ARCTANH, -0.0, -0.0}, {SCALAR_ARCTANH, 1, INFINITY}, {SCALAR_ARCTANH, -1, -INFINITY}, {SCALAR_ARCTANH, 1.5, NAN},
    {SCALAR_ARCTANH, NAN, NAN}, {SCALAR_ARCTANH, INFINITY, NAN}, {SCALAR_ARCTANH, 0x1p-1074, 0x1p-1074}, {SCALAR_ARCTANH, -0x1p-1022, -0x1p-1022},
    {SCALAR_ARCTANH, 0x1.fffffffffffffp-1, 0x1.2b708872320e2p+4},
    {SCALAR_SIGMOID, 0, 0.5}, {SCALAR_SIGMOID, -0.0, 0.5}, {SCALAR_SIGMOID, INFINITY, 1}, {SCALAR_SIGMOID, -INFINITY, 0}, {SCALAR_SIGMOID, NAN, NAN},
    {SCALAR_SIGMOID, -745.1332191019411, 0x1p-1074}, {SCALAR_SIGMOID, -746, 0}, {SCALAR_SIGMOID, 1e300, 1},
    {SCALAR_SOFTPLUS, INFINITY, INFINITY}, {SCALAR_SOFTPLUS, -INFINITY, 0}, {SCALAR_SOFTPLUS, NAN, NAN}, {SCALAR_SOFTPLUS, 1e300, 1e300},
    {SCALAR_SOFTPLUS, -746, 0}, {SCALAR_SOFTPLUS, 0, 0x1.62e42fefa39efp-1}, {SCALAR_SOFTPLUS, 100, 100},
    {SCALAR_LOG1MEXP, 0, -INFINITY}, {SCALAR_LOG1MEXP, -0.0, -INFINITY}, {SCALAR_LOG1MEXP, 1, NAN}, {SCALAR_LOG1MEXP, -INFINITY, -0.0},
    {SCALAR_LOG1MEXP, NAN, NAN}, {SCALAR_LOG1MEXP, -0x1p-1074, -0x1.74385446d71c3p+9}, {SCALAR_LOG1MEXP, -746, -0.0},
};

static bool is_same(double a, double b) { return isnan(b) ? isnan(a) : memcmp(&a, &b, sizeof a) == 0; }

static void check_edges(void)
{
    enum { N_EDGES = sizeof edges / sizeof edges[0], N = 9 };

    for (int i = 0; i < N_EDGES; i++) {
        double x[N], y[N];
        char *args[2] = {(char *)x, (char *)y};
        const int64_t strides[2] = {8, 8};

        CHECK(is_same(apply(edges[i].scalar, edges[i].x, 0), edges[i].y));
        for (int j = 0; j < N; j++) {
            x[j] = j % 3 == 1 ? edges[i].x : -0.5;
        }
        math_kernel(edges[i].scalar, DTYPE_FLOAT64)(N, args, strides);
        CHECK(is_same(y[1], edges[i].y) && is_same(y[7], edges[i].y) && is_same(y[0], apply(edges[i].scalar, -0.5, 0)));
    }
}

static void elementary_functions_are_right_at_their_edges_on_each_level(void) { on_each_level(check_edges); }

static bool is_near(double a, double b) { return fabs(a - b) <= fabs(b) * 0x1p-52; }

static void the_functions_of_statistics_stay_finite_at_the_ends(void)
{
    CHECK(apply(SCALAR_SIGMOID, 0, 0) == 0.5 && apply(SCALAR_SIGMOID, 1000, 0) == 1 && apply(SCALAR_SIGMOID, -1000, 0) == 0);
    CHECK(apply(SCALAR_SOFTPLUS, 40, 0) == 40 && is_near(apply(SCALAR_SOFTPLUS, -40, 0), exp(-40)) && is_near(apply(SCALAR_SOFTPLUS, 0, 0), log1p(1)));
    CHECK(is_near(apply(SCALAR_LOG1MEXP, -0.1, 0), log(-expm1(-0.1))) && is_near(apply(SCALAR_LOG1MEXP, -10, 0), log1p(-exp(-10))));
    CHECK(apply(SCALAR_GAMMA, 5, 0) == 24 && fabs(apply(SCALAR_GAMMALN, -0.5, 0) - 1.2655121234846454) < 1e-15);
}

static void complex_numbers_multiply_and_divide_as_pairs(void)
{
    double a[2] = {1, 2}, b[2] = {3, -4}, c[2], modulus;
    char *args[3] = {(char *)a, (char *)b, (char *)c}, *one[2] = {(char *)b, (char *)&modulus};

    math_kernel(SCALAR_MUL, DTYPE_COMPLEX128)(1, args, no_strides);
    CHECK(c[0] == 11 && c[1] == 2);
    math_kernel(SCALAR_TRUE_DIVIDE, DTYPE_COMPLEX128)(1, args, no_strides);
    CHECK(fabs(c[0] + 0.2) < 1e-15 && fabs(c[1] - 0.4) < 1e-15);
    math_kernel(SCALAR_ABS, DTYPE_COMPLEX128)(1, one, no_strides);
    CHECK(modulus == 5);
}

static int64_t cast_to_int(int to, double x)
{
    int64_t wide = 0;
    char *args[2] = {(char *)&x, (char *)&wide}, *back[2];
    int64_t result;

    math_cast(DTYPE_FLOAT64, to)(1, args, no_strides);
    back[0] = (char *)&wide;
    back[1] = (char *)&result;
    math_cast(to, DTYPE_INT64)(1, back, no_strides);
    return result;
}

static void reals_out_of_range_become_what_x86_makes_of_them(void)
{
    CHECK(cast_to_int(DTYPE_INT64, NAN) == INT64_MIN && cast_to_int(DTYPE_INT64, 1e300) == INT64_MIN);
    CHECK(cast_to_int(DTYPE_INT64, -1.9) == -1 && cast_to_int(DTYPE_INT64, 9.2e18) == 9200000000000000000);
    CHECK(cast_to_int(DTYPE_INT32, 3e9) == INT32_MIN && cast_to_int(DTYPE_INT32, -2147483648.5) == INT32_MIN);
    CHECK(cast_to_int(DTYPE_INT16, 70000) == 4464 && cast_to_int(DTYPE_INT8, NAN) == 0);
    CHECK(cast_to_int(DTYPE_UINT8, -1) == 255 && cast_to_int(DTYPE_UINT32, -1) == 4294967295);
    CHECK(cast_to_int(DTYPE_UINT64, 9223372036854775808.0) == INT64_MIN && cast_to_int(DTYPE_UINT64, -1) == -1);
    CHECK(cast_to_int(DTYPE_BOOL, NAN) == 1 && cast_to_int(DTYPE_BOOL, 0) == 0);
}

/* The documented order, written once more. */
static double sum_block(const double *x, int64_t n)
{
    double s[8], sum;
    int64_t i;

    if (n < 8) {
        sum = x[0];
        i = 1;
    } else {
        memcpy(s, x, sizeof s);
        for (i = 8; i < n / 8 * 8; i++) {
            s[i % 8] += x[i];
        }
        sum = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    }
    for (; i < n; i++) {
        sum += x[i];
    }
    return sum;
}

static void blocks_are_summed_by_eight_accumulators(void)
{
    double x[MATH_FOLD_BLOCK], sum, largest;
    int64_t index = -1;

    for (int i = 0; i < MATH_FOLD_BLOCK; i++) {
        x[i] = sin(i * 1.7) * pow(10, i % 9);
    }
    for (int n = 1; n <= MATH_FOLD_BLOCK; n++) {
        math_fold(SCALAR_ADD, DTYPE_FLOAT64)(n, (char *)x, (char *)&sum);
        CHECK(sum == sum_block(x, n));
    }
    x[5] = x[9] = NAN;
    math_largest(DTYPE_FLOAT64)(MATH_FOLD_BLOCK, (char *)x, 8, 0, (char *)&largest, &index);
    CHECK(isnan(largest) && index == 5);
}

const Test tests_math[] = {
    TEST(there_is_a_kernel_for_each_type_that_a_row_names),
    TEST(one_element_gets_the_same_bits_as_many_in_any_layout),
    TEST(a_level_that_is_not_here_is_refused),
    TEST(a_broadcast_operand_gives_the_same_as_a_filled_one),
    TEST(integers_wrap),
    TEST(division_rounds_down_with_the_signs_of_python),
    TEST(powers_of_integers_wrap_and_negative_exponents_cut),
    TEST(an_exponent_of_two_is_a_square),
    TEST(nan_wins_in_maximum_and_minimum),
    TEST(elementary_functions_are_right_at_their_edges_on_each_level),
    TEST(the_functions_of_statistics_stay_finite_at_the_ends),
    TEST(complex_numbers_multiply_and_divide_as_pairs),
    TEST(reals_out_of_range_become_what_x86_makes_of_them),
    TEST(blocks_are_summed_by_eight_accumulators),
    {0, 0},
};
