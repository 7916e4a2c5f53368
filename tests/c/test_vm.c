/* Tests of the room vm: each instruction but draws and loops, on programs built by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "maker.h"
#include "test.h"

#define F64 DTYPE_FLOAT64
#define I64 DTYPE_INT64

/* A program whose one result is looked at. */
typedef struct Run {
    Program *program;
    Frame *frame;
    Status status;
    VmHost host;
} Run;

static Run start(void)
{
    Run run;

    memset(&run, 0, sizeof run);
    status_clear(&run.status);
    run.program = program_new(&run.status);
    run.host = counting_host();
    return run;
}

static int end_run(Run *run, int32_t result)
{
    finish(run->program, NO_SOURCES, SOURCES(result));
    run->frame = frame_of(run->program);
    return vm_run(run->frame, &run->host, &run->status);
}

static void stop(Run *run)
{
    frame_free(run->frame, &run->host);
    program_free(run->program);
}

/* `result` makes the instruction whose destination is looked at. */
#define EXPECT(run, result, holds)                                          \
    do {                                                                    \
        int32_t looked_at = (result);                                       \
        CHECK(end_run(&(run), looked_at) == 0);                             \
        CHECK(holds);                                                       \
        stop(&(run));                                                       \
    } while (0)
#define EXPECT_DOUBLES(run, result, ndim, shape, x) EXPECT(run, result, is_doubles((run).frame, looked_at, ndim, shape, x))
#define EXPECT_INTS(run, result, ndim, shape, x) EXPECT(run, result, is_ints((run).frame, looked_at, ndim, shape, x))
/* The status is looked at afterwards, then the run is stopped. */
#define EXPECT_FAILURE(run, result, failure)                                                    \
    do {                                                                                        \
        int32_t refused = (result);                                                             \
        CHECK(end_run(&(run), refused) == -1 && (run).status.code == (failure));                \
        CHECK((run).status.n_path == 0 && (run).status.node == (run).program->n_instrs - 1);    \
    } while (0)

static int32_t matrix(Program *program, int64_t m, int64_t n, const double *x) { return constant_array(program, F64, 2, SHAPE(m, n), x); }

/* m.T: a view that is not contiguous. */
static int32_t transposed(Program *program, int32_t m)
{
    return instr(program, I_TRANSPOSE, 0, F64, F64, 2, SOURCES(m), AUX(1, 0));
}

static void map_broadcasts_and_folds_many_operands(void)
{
    Run run = start();
    Program *p = run.program;
    int32_t a = matrix(p, 2, 1, DOUBLES(1, 2)), b = constant_doubles(p, 3, DOUBLES(10, 20, 30)), c = constant_double(p, 0.5);
    int32_t sum = map(p, SCALAR_ADD, F64, SOURCES(a, b, c, b));

    EXPECT_DOUBLES(run, sum, 2, SHAPE(2, 3), DOUBLES(21.5, 41.5, 61.5, 22.5, 42.5, 62.5));
}

static void map_refuses_lengths_that_differ(void)
{
    Run run = start();
    Program *p = run.program;
    int32_t r = map(p, SCALAR_ADD, F64, SOURCES(constant_doubles(p, 2, DOUBLES(1, 2)), constant_doubles(p, 3, DOUBLES(1, 2, 3))));

    EXPECT_FAILURE(run, r, STATUS_SHAPE_MISMATCH);
    CHECK(run.status.a == 0 && run.status.b == 2 && run.status.c == 1 && run.status.d == 3);
    stop(&run);
}

static void scalars_are_computed_in_registers(void)
{
    Run run = start();
    Program *p = run.program;
    int32_t two = constant_double(p, 2), is_less = map(p, SCALAR_LT, F64, SOURCES(two, constant_double(p, 3)));
    int32_t sum = map(p, SCALAR_ADD, F64, SOURCES(two, two, two)), exp2 = map(p, SCALAR_EXP2, F64, SOURCES(sum));
    int32_t chosen = map(p, SCALAR_SWITCH, F64, SOURCES(is_less, exp2, two));

    EXPECT_DOUBLES(run, chosen, 0, NULL, DOUBLES(64));
}

static void integer_division_by_zero_is_refused_for_scalars_and_arrays(void)
{
    for (int is_array = 0; is_array < 2; is_array++) {
        Run run = start();
        Program *p = run.program;
        int32_t a = is_array ? constant_ints(p, 3, INTS(5, 6, 7)) : constant_int(p, 5), b = is_array ? constant_ints(p, 3, INTS(1, 0, 2)) : constant_int(p, 0);
        int32_t r = map(p, SCALAR_FLOOR_DIVIDE, I64, SOURCES(a, b));

        EXPECT_FAILURE(run, r, STATUS_ZERO_DIVISION);
        stop(&run);
    }
    Run run = start();
    Program *p = run.program;
    int32_t r = map(p, SCALAR_MOD, I64, SOURCES(constant_ints(p, 2, INTS(-4, 4)), constant_int(p, 3)));
    EXPECT_INTS(run, r, 1, SHAPE(2), INTS(2, 1));
}

static void no_elements_are_not_divided(void)
{
    Run run = start();
    Program *p = run.program;
    int32_t r = map(p, SCALAR_FLOOR_DIVIDE, I64, SOURCES(constant_ints(p, 0, INTS(0)), constant_int(p, 0)));

    EXPECT_INTS(run, r, 1, SHAPE(0), NULL);
}

static void casts_convert_scalars_and_strided_arrays(void)
{
    Run run = start();
    Program *p = run.program;
    int32_t m = transposed(p, matrix(p, 2, 2, DOUBLES(1.9, -2.9, 3.5, 4.5)));
    int32_t whole = instr(p, I_CAST, 0, F64, I64, 2, SOURCES(m), NO_AUX);

    EXPECT_INTS(run, whole, 2, SHAPE(2, 2), INTS(1, 3, -2, 4));
}

static int32_t reduce(Program *p, int fn, DType compute, DType dtype, int ndim, int32_t source, AuxList axes)
{
    return instr(p, I_REDUCE, fn, compute, dtype, ndim, SOURCES(source), axes);
}

static void sums_run_along_any_axes(void)
{
    const double x[] = {1, 2, 3, 4, 5, 6};
    Run run = start();
    EXPECT_DOUBLES(run, reduce(run.program, REDUCE_ADD, F64, F64, 1, matrix(run.program, 2, 3, x), AUX(0)), 1, SHAPE(3), DOUBLES(5, 7, 9));
    run = start();
    EXPECT_DOUBLES(run, reduce(run.program, REDUCE_ADD, F64, F64, 1, matrix(run.program, 2, 3, x), AUX(1)), 1, SHAPE(2), DOUBLES(6, 15));
    run = start();
    EXPECT_DOUBLES(run, reduce(run.program, REDUCE_MUL, F64, F64, 0, transposed(run.program, matrix(run.program, 2, 3, x)), AUX(0, 1)), 0, NULL, DOUBLES(720));
    run = start();
    EXPECT_INTS(run, reduce(run.program, REDUCE_ADD, I64, I64, 0, constant_array(run.program, DTYPE_BOOL, 1, SHAPE(4), "\1\0\1\1"), AUX(0)), 0, NULL, INTS(3));
}

/* The order of the sum of n elements, by its documentation. */
static double sum_documented(const double *x, int64_t n)
{
    double level[64], total = 0;
    uint64_t n_blocks = 0;
    bool is_first = true;

    for (int64_t at = 0; at < n; at += 128) {
        int64_t m = n - at < 128 ? n - at : 128, i = 8;
        double s[8], block = x[at];
        int l = 0;

        if (m < 8) {
            i = 1;
        } else {
            memcpy(s, x + at, sizeof s);
            for (; i + 8 <= m; i += 8) {
                for (int j = 0; j < 8; j++) {
                    s[j] += x[at + i + j];
                }
            }
            block = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
        }
        for (; i < m; i++) {
            block += x[at + i];
        }
        for (; (n_blocks >> l & 1) != 0; l++) {
            block = level[l] + block;
        }
        level[l] = block;
        n_blocks++;
    }
    for (int l = 0; n_blocks >> l != 0; l++) {
        if ((n_blocks >> l & 1) != 0) {
            total = is_first ? level[l] : level[l] + total;
            is_first = false;
        }
    }
    return total;
}

static void sums_keep_their_documented_order_in_every_layout(void)
{
    enum { MAX = 1300 };
    static double x[MAX], spread[2 * MAX];
    const int64_t lengths[] = {1, 7, 8, 9, 127, 128, 129, 136, 255, 256, 300, 640, 1000, 1300};

    for (int i = 0; i < MAX; i++) {
        x[i] = sin(i * 0.7) * pow(10, i % 11);
        spread[2 * i] = x[i];
        spread[2 * i + 1] = NAN;
    }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int64_t n = lengths[i];
        double expected = sum_documented(x, n);
        Run run = start();
        Program *p = run.program;

        EXPECT_DOUBLES(run, reduce(p, REDUCE_ADD, F64, F64, 0, constant_doubles(p, n, x), AUX(0)), 0, NULL, &expected);
        run = start();
        p = run.program;
        int32_t whole = constant_doubles(p, 2 * n, spread);
        int32_t half = instr(p, I_SLICE, 0, F64, F64, 1, SOURCES(whole, constant_int(p, 2)), AUX(SLICE_RANGE | SLICE_STEP));
        EXPECT_DOUBLES(run, reduce(p, REDUCE_ADD, F64, F64, 0, half, AUX(0)), 0, NULL, &expected);
        run = start();
        p = run.program;
        int32_t columns = constant_array(p, F64, 2, SHAPE(n, 2), spread);
        int32_t sums = reduce(p, REDUCE_ADD, F64, F64, 1, columns, AUX(0));
        int32_t first = instr(p, I_SLICE, 0, F64, F64, 0, SOURCES(sums, constant_int(p, 0)), AUX(SLICE_INDEX));
        EXPECT_DOUBLES(run, first, 0, NULL, &expected);
        if (n % 2 == 0) {
            run = start();
            p = run.program;
            EXPECT_DOUBLES(run, reduce(p, REDUCE_ADD, F64, F64, 0, matrix(p, 2, n / 2, x), AUX(0, 1)), 0, NULL, &expected);
        }
    }
}

static void a_sum_of_floats_accumulates_in_double(void)
{
    static const float x[3] = {16777216.0f, 1.0f, 1.0f};
    Run run = start();
    int32_t sum = reduce(run.program, REDUCE_ADD, F64, DTYPE_FLOAT32, 0, constant_array(run.program, DTYPE_FLOAT32, 1, SHAPE(3), x), AUX(0));
    float found;

    CHECK(end_run(&run, sum) == 0);
    memcpy(&found, frame_scalar(run.frame, sum), sizeof found);
    CHECK(found == 16777218.0f);
    stop(&run);
}

static void reductions_of_nothing_are_identities_or_refused(void)
{
    Run run = start();
    EXPECT_DOUBLES(run, reduce(run.program, REDUCE_ADD, F64, F64, 1, matrix(run.program, 0, 2, DOUBLES(0)), AUX(0)), 1, SHAPE(2), DOUBLES(0, 0));
    run = start();
    EXPECT_DOUBLES(run, reduce(run.program, REDUCE_MUL, F64, F64, 0, matrix(run.program, 0, 2, DOUBLES(0)), AUX(0, 1)), 0, NULL, DOUBLES(1));
    run = start();
    EXPECT_FAILURE(run, reduce(run.program, REDUCE_MAX, F64, F64, 1, matrix(run.program, 2, 0, DOUBLES(0)), AUX(1)), STATUS_EMPTY_REDUCTION);
    CHECK(run.status.a == 1 && strcmp(run.status.text, "maximum") == 0);
    stop(&run);
}

static void nan_wins_in_reductions_and_the_first_largest_is_found(void)
{
    const double x[] = {1, 5, 5, 2, NAN, 7};
    Run run = start();
    int32_t m = matrix(run.program, 2, 3, x);
    EXPECT_INTS(run, reduce(run.program, REDUCE_ARGMAX, F64, I64, 1, m, AUX(1)), 1, SHAPE(2), INTS(1, 1));
    run = start();
    EXPECT_INTS(run, reduce(run.program, REDUCE_ARGMAX, F64, I64, 0, transposed(run.program, matrix(run.program, 2, 3, x)), AUX(0, 1)), 0, NULL, INTS(3));
    run = start();
    int32_t largest = reduce(run.program, REDUCE_MAX, F64, F64, 1, matrix(run.program, 2, 3, x), AUX(1));
    CHECK(end_run(&run, largest) == 0);
    CHECK(((double *)(void *)frame_array(run.frame, largest)->data)[0] == 5 && isnan(((double *)(void *)frame_array(run.frame, largest)->data)[1]));
    stop(&run);
}

static void running_folds_go_along_an_axis_or_flat(void)
{
    const double x[] = {1, 2, 3, 4, 5, 6};
    Run run = start();
    Program *p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_CUMULATE, REDUCE_ADD, F64, F64, 1, SOURCES(matrix(p, 2, 3, x)), AUX(-1)), 1, SHAPE(6), DOUBLES(1, 3, 6, 10, 15, 21));
    run = start();
    p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_CUMULATE, REDUCE_MUL, F64, F64, 2, SOURCES(matrix(p, 2, 3, x)), AUX(0)), 2, SHAPE(2, 3), DOUBLES(1, 2, 3, 4, 10, 18));
}

static void products_of_vectors_and_matrices(void)
{
    const double a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, 2, 1, 0, 3}, v[] = {1, 2, 3};
    Run run = start();
    Program *p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_DOT, 0, F64, F64, 2, SOURCES(matrix(p, 2, 3, a), matrix(p, 3, 2, b)), NO_AUX), 2, SHAPE(2, 2), DOUBLES(5, 11, 14, 23));
    run = start();
    p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_DOT, 0, F64, F64, 2, SOURCES(matrix(p, 2, 3, a), transposed(p, matrix(p, 2, 3, b))), NO_AUX), 2, SHAPE(2, 2), DOUBLES(7, 10, 16, 22));
    run = start();
    p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_DOT, 0, F64, F64, 1, SOURCES(matrix(p, 2, 3, a), constant_doubles(p, 3, v)), NO_AUX), 1, SHAPE(2), DOUBLES(14, 32));
    run = start();
    p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_DOT, 0, F64, F64, 1, SOURCES(constant_doubles(p, 3, v), matrix(p, 3, 2, b)), NO_AUX), 1, SHAPE(2), DOUBLES(5, 11));
    run = start();
    p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_DOT, 0, F64, F64, 0, SOURCES(constant_doubles(p, 3, v), constant_doubles(p, 3, v)), NO_AUX), 0, NULL, DOUBLES(14));
    run = start();
    p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_DOT, 0, F64, F64, 2, SOURCES(matrix(p, 2, 0, a), matrix(p, 0, 1, b)), NO_AUX), 2, SHAPE(2, 1), DOUBLES(0, 0));
    run = start();
    p = run.program;
    EXPECT_FAILURE(run, instr(p, I_DOT, 0, F64, F64, 1, SOURCES(matrix(p, 3, 2, a), constant_doubles(p, 3, v)), NO_AUX), STATUS_DOT_SHAPE);
    CHECK(run.status.a == 2 && run.status.b == 3 && run.status.c == 1 && run.status.d == 0 && run.status.ndim_a == 2 && run.status.ndim_b == 1);
    stop(&run);
}

static void each_element_of_a_product_is_summed_in_order(void)
{
    enum { M = 7, N = 5 };
    static double a[M * N], b[N], expected[M], twice[M * 2];
    Run run;
    Program *p;

    for (int i = 0; i < M * N; i++) {
        a[i] = sin(i * 1.3) * pow(10, i % 6);
        b[i % N] = cos(i * 0.7);
    }
    for (int i = 0; i < M; i++) {
        expected[i] = a[i * N] * b[0];
        for (int k = 1; k < N; k++) {
            double term = a[i * N + k] * b[k];
            expected[i] += term;
        }
        twice[2 * i] = twice[2 * i + 1] = expected[i];
    }
    run = start();
    p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_DOT, 0, F64, F64, 1, SOURCES(matrix(p, M, N, a), constant_doubles(p, N, b)), NO_AUX), 1, SHAPE(M), expected);
    run = start();
    p = run.program;
    int32_t column = matrix(p, N, 1, b), both = instr(p, I_JOIN, 0, F64, F64, 2, SOURCES(column, column), AUX(1));
    EXPECT_DOUBLES(run, instr(p, I_DOT, 0, F64, F64, 2, SOURCES(matrix(p, M, N, a), both), NO_AUX), 2, SHAPE(M, 2), twice);
}

static int multiply_by_host(void *self, Array *dst, const Array *a, const Array *b, Status *status)
{
    (void)a;
    (void)b;
    (void)status;
    ++*(int *)self;
    memset(dst->data, 0, (size_t)(array_size(dst) * dtype_bytes(dst->dtype)));
    return 0;
}

static void large_products_go_to_the_host(void)
{
    static double x[182 * 182];
    const int64_t lengths[] = {181, 182};

    for (int i = 0; i < 2; i++) {
        int n_calls = 0;
        Run run = start();
        Program *p = run.program;
        int32_t r = instr(p, I_DOT, 0, F64, F64, 1, SOURCES(matrix(p, lengths[i], lengths[i], x), constant_doubles(p, lengths[i], x)), NO_AUX);

        run.host.self = &n_calls;
        run.host.product = multiply_by_host;
        CHECK(end_run(&run, r) == 0 && n_calls == i);
        stop(&run);
    }
}

static void transposes_move_add_and_drop_axes(void)
{
    Run run = start();
    Program *p = run.program;
    int32_t m = matrix(p, 2, 3, DOUBLES(1, 2, 3, 4, 5, 6));
    EXPECT_DOUBLES(run, instr(p, I_TRANSPOSE, 0, F64, F64, 3, SOURCES(m), AUX(1, -1, 0)), 3, SHAPE(3, 1, 2), DOUBLES(1, 4, 2, 5, 3, 6));
    run = start();
    p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_TRANSPOSE, 0, F64, F64, 1, SOURCES(matrix(p, 1, 3, DOUBLES(1, 2, 3))), AUX(1)), 1, SHAPE(3), DOUBLES(1, 2, 3));
    run = start();
    p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_TRANSPOSE, 0, F64, F64, 2, SOURCES(constant_double(p, 3)), AUX(-1, -1)), 2, SHAPE(1, 1), DOUBLES(3));
    run = start();
    p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_TRANSPOSE, 0, F64, F64, 0, SOURCES(matrix(p, 1, 1, DOUBLES(7))), (AuxList){0, INTS(0)}), 0, NULL, DOUBLES(7));
    run = start();
    p = run.program;
    EXPECT_FAILURE(run, instr(p, I_TRANSPOSE, 0, F64, F64, 1, SOURCES(matrix(p, 2, 3, DOUBLES(1, 2, 3, 4, 5, 6))), AUX(1)), STATUS_BAD_AXIS_LENGTH);
    CHECK(run.status.a == 0 && run.status.b == 2);
    stop(&run);
}

static int32_t reshape(Program *p, int ndim, int32_t source, int64_t n, const int64_t *shape)
{
    return instr(p, I_RESHAPE, 0, F64, F64, ndim, SOURCES(source, constant_ints(p, n, shape)), NO_AUX);
}

static void reshapes_view_where_strides_allow_and_copy_elsewhere(void)
{
    const double x[] = {1, 2, 3, 4, 5, 6, 7, 8};
    Run run = start();
    int32_t m = constant_array(run.program, F64, 3, SHAPE(2, 2, 2), x), view = reshape(run.program, 2, m, 2, INTS(4, -1));
    CHECK(end_run(&run, view) == 0 && is_doubles(run.frame, view, 2, SHAPE(4, 2), x));
    CHECK(frame_array(run.frame, view)->data == frame_array(run.frame, m)->data);
    stop(&run);
    run = start();
    m = transposed(run.program, matrix(run.program, 2, 4, x));
    EXPECT_DOUBLES(run, reshape(run.program, 1, m, 1, INTS(-1)), 1, SHAPE(8), DOUBLES(1, 5, 2, 6, 3, 7, 4, 8));
    run = start(); /* cutting one axis of a transposed matrix needs no copy */
    m = transposed(run.program, matrix(run.program, 2, 4, x));
    view = reshape(run.program, 3, m, 3, INTS(2, 2, 2));
    CHECK(end_run(&run, view) == 0 && is_doubles(run.frame, view, 3, SHAPE(2, 2, 2), DOUBLES(1, 5, 2, 6, 3, 7, 4, 8)));
    CHECK(frame_array(run.frame, view)->data == frame_array(run.frame, m)->data);
    stop(&run);
    run = start();
    EXPECT_DOUBLES(run, reshape(run.program, 0, matrix(run.program, 1, 1, x), 0, INTS(0)), 0, NULL, DOUBLES(1));
    run = start();
    EXPECT_DOUBLES(run, reshape(run.program, 2, constant_double(run.program, 4), 2, INTS(1, -1)), 2, SHAPE(1, 1), DOUBLES(4));
    run = start();
    EXPECT_FAILURE(run, reshape(run.program, 2, constant_doubles(run.program, 3, x), 2, INTS(2, 2)), STATUS_RESHAPE);
    CHECK(run.status.a == 3 && run.status.ndim_b == 2 && run.status.shape_b[1] == 2);
    stop(&run);
    run = start();
    EXPECT_FAILURE(run, reshape(run.program, 2, constant_doubles(run.program, 4, x), 2, INTS(-1, -1)), STATUS_DOMAIN);
    stop(&run);
    run = start();
    EXPECT_FAILURE(run, reshape(run.program, 2, constant_doubles(run.program, 0, x), 2, INTS(0, -1)), STATUS_RESHAPE);
    stop(&run);
}

static void one_element_is_spread_in_the_shape_of_an_array(void)
{
    Run run = start();
    Program *p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_SPREAD, 0, F64, F64, 2, SOURCES(constant_double(p, 3), matrix(p, 1, 2, DOUBLES(1, 2))), NO_AUX), 2, SHAPE(1, 2), DOUBLES(3, 3));
}

static void shapes_are_read_as_values(void)
{
    Run run = start();
    Program *p = run.program;
    EXPECT_INTS(run, instr(p, I_SHAPE, 0, I64, I64, 1, SOURCES(matrix(p, 2, 3, DOUBLES(1, 2, 3, 4, 5, 6))), NO_AUX), 1, SHAPE(2), INTS(2, 3));
    run = start();
    p = run.program;
    EXPECT_INTS(run, instr(p, I_SHAPE, 0, I64, I64, 1, SOURCES(constant_double(p, 1)), NO_AUX), 1, SHAPE(0), NULL);
    run = start();
    p = run.program;
    EXPECT_INTS(run, instr(p, I_SHAPE_AT, 0, I64, I64, 0, SOURCES(matrix(p, 2, 3, DOUBLES(1, 2, 3, 4, 5, 6))), AUX(1)), 0, NULL, INTS(3));
}

/* x[start:stop:step] of 0 .. 4 by Python's rules; INT64_MIN stands for a bound that is not given. */
static void slices_follow_python(void)
{
    enum { NONE = -100 };
    const int64_t bounds[] = {NONE, -9, -5, -3, -1, 0, 1, 3, 5, 9}, paces[] = {NONE, 1, 2, 7, -1, -2, -7};
    const int n_bounds = 10, n_paces = 7;

    for (int i = 0; i < n_bounds * n_bounds * n_paces; i++) {
        int64_t start_at = bounds[i % n_bounds], stop_at = bounds[i / n_bounds % n_bounds], pace = paces[i / (n_bounds * n_bounds)];
        int64_t step = pace == NONE ? 1 : pace, low = step > 0 ? 0 : -1, high = step > 0 ? 5 : 4, n = 0, expected[5];
        int64_t first = start_at == NONE ? (step > 0 ? low : high) : start_at < 0 ? start_at + 5 : start_at;
        int64_t end = stop_at == NONE ? (step > 0 ? high : low) : stop_at < 0 ? stop_at + 5 : stop_at;
        int32_t sources[4], n_sources = 1;
        int64_t entry = SLICE_RANGE;
        Run run = start();

        first = first < low ? low : first > high ? high : first;
        end = end < low ? low : end > high ? high : end;
        for (int64_t j = first; step > 0 ? j < end : j > end; j += step) {
            expected[n++] = j;
        }
        sources[0] = constant_ints(run.program, 5, INTS(0, 1, 2, 3, 4));
        if (start_at != NONE) {
            entry |= SLICE_START;
            sources[n_sources++] = constant_int(run.program, start_at);
        }
        if (stop_at != NONE) {
            entry |= SLICE_STOP;
            sources[n_sources++] = constant_int(run.program, stop_at);
        }
        if (pace != NONE) {
            entry |= SLICE_STEP;
            sources[n_sources++] = constant_int(run.program, pace);
        }
        EXPECT_INTS(run, instr(run.program, I_SLICE, 0, I64, I64, 1, ((ValueList){n_sources, sources}), AUX(entry)), 1, &n, expected);
    }
}

static void slices_index_from_both_ends_and_refuse_what_is_outside(void)
{
    const double x[] = {1, 2, 3, 4, 5, 6};
    Run run = start();
    Program *p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_SLICE, 0, F64, F64, 1, SOURCES(matrix(p, 2, 3, x), constant_int(p, -1)), AUX(SLICE_INDEX)), 1, SHAPE(3), DOUBLES(4, 5, 6));
    run = start();
    p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_SLICE, 0, F64, F64, 0, SOURCES(matrix(p, 2, 3, x), constant_int(p, 1), constant_int(p, 0)), AUX(SLICE_INDEX, SLICE_INDEX)), 0, NULL, DOUBLES(4));
    run = start();
    p = run.program;
    EXPECT_FAILURE(run, instr(p, I_SLICE, 0, F64, F64, 1, SOURCES(matrix(p, 2, 3, x), constant_int(p, -3)), AUX(SLICE_INDEX)), STATUS_INDEX);
    CHECK(run.status.a == -3 && run.status.b == 2);
    stop(&run);
    run = start();
    p = run.program;
    EXPECT_FAILURE(run, instr(p, I_SLICE, 0, F64, F64, 1, SOURCES(constant_doubles(p, 3, x), constant_int(p, 0)), AUX(SLICE_RANGE | SLICE_STEP)), STATUS_ZERO_STEP_SLICE);
    stop(&run);
    run = start(); /* bounds and steps as large as they come */
    p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_SLICE, 0, F64, F64, 1, SOURCES(constant_doubles(p, 3, x), constant_int(p, INT64_MAX), constant_int(p, INT64_MIN), constant_int(p, INT64_MIN)), AUX(SLICE_RANGE | SLICE_START | SLICE_STOP | SLICE_STEP)), 1, SHAPE(1), DOUBLES(3));
}

static void setting_a_slice_copies_unless_it_is_in_place(void)
{
    const double x[] = {1, 2, 3, 4};

    for (int flags = 0; flags <= INSTR_INPLACE; flags++) {
        Run run = start();
        Program *p = run.program;
        int32_t source = instr(p, I_COPY, 0, F64, F64, 1, SOURCES(constant_doubles(p, 4, x)), NO_AUX);
        int32_t set = instr_flagged(p, I_SET_SLICE, WRITE_SET, F64, flags, F64, 1, SOURCES(source, constant_double(p, 9), constant_int(p, 1), constant_int(p, 3)), AUX(SLICE_RANGE | SLICE_START | SLICE_STOP));

        CHECK(end_run(&run, set) == 0 && is_doubles(run.frame, set, 1, SHAPE(4), DOUBLES(1, 9, 9, 4)));
        CHECK((frame_array(run.frame, set)->data == frame_array(run.frame, source)->data) == (flags == INSTR_INPLACE));
        CHECK(flags == INSTR_INPLACE || is_doubles(run.frame, source, 1, SHAPE(4), x));
        stop(&run);
    }
    Run run = start();
    Program *p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_SET_SLICE, WRITE_ADD, F64, F64, 2, SOURCES(matrix(p, 2, 2, x), constant_doubles(p, 2, DOUBLES(10, 20)), constant_int(p, 0)), AUX(SLICE_RANGE, SLICE_INDEX)), 2, SHAPE(2, 2), DOUBLES(11, 2, 23, 4));
    run = start();
    p = run.program;
    EXPECT_FAILURE(run, instr(p, I_SET_SLICE, WRITE_SET, F64, F64, 1, SOURCES(constant_doubles(p, 4, x), constant_doubles(p, 3, x), constant_int(p, 2)), AUX(SLICE_RANGE | SLICE_STOP)), STATUS_SET_SHAPE);
    CHECK(run.status.shape_a[0] == 3 && run.status.shape_b[0] == 2);
    stop(&run);
}

static void a_part_set_to_another_part_of_the_same_array_is_read_first(void)
{
    Run run = start();
    Program *p = run.program;
    int32_t source = instr(p, I_COPY, 0, F64, F64, 1, SOURCES(constant_doubles(p, 4, DOUBLES(1, 2, 3, 4))), NO_AUX);
    int32_t rest = instr(p, I_SLICE, 0, F64, F64, 1, SOURCES(source, constant_int(p, 3)), AUX(SLICE_RANGE | SLICE_STOP));
    int32_t apart = instr(p, I_COPY, 0, F64, F64, 1, SOURCES(rest), NO_AUX);
    int32_t set = instr_flagged(p, I_SET_SLICE, WRITE_SET, F64, INSTR_INPLACE, F64, 1, SOURCES(source, apart, constant_int(p, 1)), AUX(SLICE_RANGE | SLICE_START));

    EXPECT_DOUBLES(run, set, 1, SHAPE(4), DOUBLES(1, 1, 2, 3));
}

static void rows_are_taken_and_written_by_number(void)
{
    const double x[] = {1, 2, 3, 4, 5, 6};
    Run run = start();
    Program *p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_TAKE, 0, F64, F64, 2, SOURCES(matrix(p, 3, 2, x), constant_ints(p, 4, INTS(2, 0, -1, -3))), NO_AUX), 2, SHAPE(4, 2), DOUBLES(5, 6, 1, 2, 5, 6, 1, 2));
    run = start();
    p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_TAKE, 0, F64, F64, 2, SOURCES(transposed(p, matrix(p, 3, 2, x)), constant_ints(p, 1, INTS(1))), NO_AUX), 2, SHAPE(1, 3), DOUBLES(2, 4, 6));
    run = start();
    p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_TAKE, 0, F64, F64, 1, SOURCES(constant_doubles(p, 0, x), constant_ints(p, 0, INTS(0))), NO_AUX), 1, SHAPE(0), NULL);
    run = start();
    p = run.program;
    EXPECT_FAILURE(run, instr(p, I_TAKE, 0, F64, F64, 1, SOURCES(constant_doubles(p, 3, x), constant_ints(p, 2, INTS(0, 3))), NO_AUX), STATUS_INDEX);
    stop(&run);
    run = start(); /* what is added to one row twice adds up */
    p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_SET_TAKE, WRITE_ADD, F64, F64, 1, SOURCES(constant_doubles(p, 3, x), constant_doubles(p, 3, DOUBLES(10, 20, 30)), constant_ints(p, 3, INTS(0, 0, -1))), NO_AUX), 1, SHAPE(3), DOUBLES(31, 2, 33));
    run = start();
    p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_SET_TAKE, WRITE_SET, F64, F64, 2, SOURCES(matrix(p, 3, 2, x), constant_doubles(p, 2, DOUBLES(8, 9)), constant_ints(p, 2, INTS(2, 0))), NO_AUX), 2, SHAPE(3, 2), DOUBLES(8, 9, 3, 4, 8, 9));
    run = start();
    p = run.program;
    EXPECT_FAILURE(run, instr(p, I_SET_TAKE, WRITE_SET, F64, F64, 1, SOURCES(constant_doubles(p, 3, x), constant_doubles(p, 3, x), constant_ints(p, 2, INTS(2, 0))), NO_AUX), STATUS_SET_SHAPE);
    stop(&run);
}

static void arrays_are_filled_packed_and_joined(void)
{
    const double x[] = {1, 2, 3, 4};
    Run run = start();
    Program *p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_FILL, 0, F64, F64, 2, SOURCES(constant_doubles(p, 2, x), constant_int(p, 2), constant_int(p, 2)), NO_AUX), 2, SHAPE(2, 2), DOUBLES(1, 2, 1, 2));
    run = start();
    p = run.program;
    EXPECT_FAILURE(run, instr(p, I_FILL, 0, F64, F64, 1, SOURCES(constant_double(p, 1), constant_int(p, -1)), NO_AUX), STATUS_NEGATIVE_SIZE);
    stop(&run);
    run = start();
    p = run.program;
    EXPECT_FAILURE(run, instr(p, I_FILL, 0, F64, F64, 1, SOURCES(constant_doubles(p, 3, x), constant_int(p, 2)), NO_AUX), STATUS_SET_SHAPE);
    stop(&run);
    run = start();
    p = run.program;
    EXPECT_FAILURE(run, instr(p, I_EMPTY, 0, F64, F64, 2, SOURCES(constant_int(p, INT64_MAX), constant_int(p, 8)), NO_AUX), STATUS_TOO_LARGE);
    stop(&run);
    run = start();
    p = run.program;
    EXPECT_INTS(run, instr(p, I_PACK, 0, I64, I64, 1, SOURCES(constant_int(p, 4), constant_int(p, 5)), NO_AUX), 1, SHAPE(2), INTS(4, 5));
    run = start();
    p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_JOIN, 0, F64, F64, 2, SOURCES(matrix(p, 2, 1, x), matrix(p, 2, 0, x), transposed(p, matrix(p, 2, 2, x))), AUX(1)), 2, SHAPE(2, 3), DOUBLES(1, 1, 3, 2, 2, 4));
    run = start();
    p = run.program;
    EXPECT_FAILURE(run, instr(p, I_JOIN, 0, F64, F64, 2, SOURCES(matrix(p, 2, 1, x), matrix(p, 1, 2, x)), AUX(1)), STATUS_JOIN_SHAPE);
    CHECK(run.status.a == 0 && run.status.b == 2 && run.status.c == 1 && run.status.d == 1);
    stop(&run);
    run = start();
    p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_JOIN, 0, F64, F64, 2, SOURCES(constant_int(p, -1), matrix(p, 2, 1, x), matrix(p, 2, 1, x)), NO_AUX), 2, SHAPE(2, 2), DOUBLES(1, 1, 2, 2));
    run = start();
    p = run.program;
    EXPECT_FAILURE(run, instr(p, I_JOIN, 0, F64, F64, 2, SOURCES(constant_int(p, 2), matrix(p, 2, 1, x), matrix(p, 1, 2, x)), NO_AUX), STATUS_JOIN_AXIS);
    stop(&run);
}

static void ranges_count_as_numpy_does(void)
{
    Run run = start();
    Program *p = run.program;
    EXPECT_INTS(run, instr(p, I_ARANGE, 0, I64, I64, 1, SOURCES(constant_int(p, 5), constant_int(p, -2), constant_int(p, -3)), NO_AUX), 1, SHAPE(3), INTS(5, 2, -1));
    run = start();
    p = run.program;
    EXPECT_INTS(run, instr(p, I_ARANGE, 0, I64, I64, 1, SOURCES(constant_int(p, 5), constant_int(p, 5), constant_int(p, 1)), NO_AUX), 1, SHAPE(0), NULL);
    run = start();
    p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_ARANGE, 0, F64, F64, 1, SOURCES(constant_double(p, 1), constant_double(p, 1.25), constant_double(p, 0.1)), NO_AUX), 1, SHAPE(3),
                   DOUBLES(1, 1.1, 1 + 2 * (1.1 - 1)));
    run = start();
    p = run.program;
    EXPECT_FAILURE(run, instr(p, I_ARANGE, 0, I64, I64, 1, SOURCES(constant_int(p, 0), constant_int(p, 5), constant_int(p, 0)), NO_AUX), STATUS_ZERO_DIVISION);
    stop(&run);
    run = start();
    p = run.program;
    EXPECT_FAILURE(run, instr(p, I_ARANGE, 0, F64, F64, 1, SOURCES(constant_double(p, 0), constant_double(p, NAN), constant_double(p, 1)), NO_AUX), STATUS_DOMAIN);
    stop(&run);
}

static void checks_pass_their_source_or_refuse(void)
{
    const double x[] = {1, 2, 3};
    Run run = start();
    Program *p = run.program;
    EXPECT_DOUBLES(run, instr(p, I_CHECK_SHAPE, 0, F64, F64, 2, SOURCES(matrix(p, 1, 3, x), constant_int(p, 3)), AUX(0, 1)), 2, SHAPE(1, 3), x);
    run = start();
    p = run.program;
    EXPECT_FAILURE(run, instr(p, I_CHECK_SHAPE, 0, F64, F64, 1, SOURCES(constant_doubles(p, 2, x), constant_int(p, 3)), AUX(1)), STATUS_SPECIFY_SHAPE);
    CHECK(run.status.a == 0 && run.status.b == 2 && run.status.c == 3);
    stop(&run);
    for (int is_true = 0; is_true < 2; is_true++) {
        run = start();
        p = run.program;
        int32_t text = program_add_text(p, "x must be right", &run.status);
        int32_t r = instr(p, I_ASSERT, 0, F64, F64, 0, SOURCES(constant_double(p, 2), constant_bool(p, true), constant_bool(p, is_true != 0)), AUX(text));
        CHECK(end_run(&run, r) == (is_true ? 0 : -1));
        CHECK(is_true ? get_double(run.frame, r) == 2 : run.status.code == STATUS_ASSERTION && strcmp(run.status.text, "x must be right") == 0);
        stop(&run);
    }
}

static void results_keep_their_memory_and_the_next_run_takes_other(void)
{
    Run run = start();
    Program *p = run.program;
    int32_t x = make_array(p, ORIGIN_INPUT, F64, 1), sum = map(p, SCALAR_ADD, F64, SOURCES(x, constant_double(p, 1)));
    double data[3] = {1, 2, 3}, other[3] = {7, 8, 9};
    Buffer *kept;

    finish(p, SOURCES(x), SOURCES(sum));
    run.frame = frame_of(p);
    set_array(run.frame, x, 1, SHAPE(3), data);
    CHECK(vm_run(run.frame, &run.host, &run.status) == 0 && frame_counters(run.frame)->allocations == 1);
    kept = buffer_ref(frame_array(run.frame, sum)->buffer);
    frame_reset(run.frame, &run.host, 1000);
    set_array(run.frame, x, 1, SHAPE(3), other);
    CHECK(vm_run(run.frame, &run.host, &run.status) == 0 && frame_counters(run.frame)->allocations == 1);
    CHECK(memcmp(kept->data, DOUBLES(2, 3, 4), sizeof data) == 0 && is_doubles(run.frame, sum, 1, SHAPE(3), DOUBLES(8, 9, 10)));
    frame_reset(run.frame, &run.host, 1000); /* nobody keeps this one */
    set_array(run.frame, x, 1, SHAPE(3), data);
    CHECK(vm_run(run.frame, &run.host, &run.status) == 0 && frame_counters(run.frame)->allocations == 0);
    frame_reset(run.frame, &run.host, 0);
    set_array(run.frame, x, 1, SHAPE(3), data);
    CHECK(vm_run(run.frame, &run.host, &run.status) == 0 && frame_counters(run.frame)->allocations == 1);
    CHECK(data[0] == 1 && other[0] == 7);
    buffer_unref(kept);
    stop(&run);
}

static int stop_at_once(void *self)
{
    ++*(int *)self;
    return 1;
}

/* 2^27 elements take far longer than the time between two questions, whichever instruction works on them. */
static void long_instructions_are_interrupted(void)
{
    enum { N = 1 << 13 };
    const Opcode opcodes[] = {I_MAP, I_REDUCE, I_COPY, I_CUMULATE};

    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        int n_asked = 0;
        Run run = start();
        Program *p = run.program;
        int32_t n = constant_int(p, N), column = instr(p, I_FILL, 0, DTYPE_INT8, DTYPE_INT8, 2, SOURCES(constant_array(p, DTYPE_INT8, 0, NULL, "\1"), n, constant_int(p, 1)), NO_AUX);
        int32_t row = instr(p, I_TRANSPOSE, 0, DTYPE_INT8, DTYPE_INT8, 2, SOURCES(column), AUX(1, 0));
        int32_t wide = map(p, SCALAR_POW, DTYPE_INT8, SOURCES(column, row)), r;

        run.host.self = &n_asked;
        run.host.poll = stop_at_once;
        r = opcodes[i] == I_MAP      ? wide
            : opcodes[i] == I_REDUCE ? reduce(p, REDUCE_ADD, F64, F64, 0, wide, AUX(0, 1))
            : opcodes[i] == I_COPY   ? instr(p, I_COPY, 0, DTYPE_INT8, DTYPE_INT8, 2, SOURCES(wide), NO_AUX)
                                     : instr(p, I_CUMULATE, REDUCE_ADD, DTYPE_INT8, DTYPE_INT8, 2, SOURCES(wide), AUX(1));
        CHECK(end_run(&run, r) == -1 && run.status.code == STATUS_INTERRUPTED && n_asked == 1);
        stop(&run);
    }
}

const Test tests_vm[] = {
    TEST(map_broadcasts_and_folds_many_operands),
    TEST(map_refuses_lengths_that_differ),
    TEST(scalars_are_computed_in_registers),
    TEST(integer_division_by_zero_is_refused_for_scalars_and_arrays),
    TEST(no_elements_are_not_divided),
    TEST(casts_convert_scalars_and_strided_arrays),
    TEST(sums_run_along_any_axes),
    TEST(sums_keep_their_documented_order_in_every_layout),
    TEST(a_sum_of_floats_accumulates_in_double),
    TEST(reductions_of_nothing_are_identities_or_refused),
    TEST(nan_wins_in_reductions_and_the_first_largest_is_found),
    TEST(running_folds_go_along_an_axis_or_flat),
    TEST(products_of_vectors_and_matrices),
    TEST(each_element_of_a_product_is_summed_in_order),
    TEST(large_products_go_to_the_host),
    TEST(transposes_move_add_and_drop_axes),
    TEST(reshapes_view_where_strides_allow_and_copy_elsewhere),
    TEST(one_element_is_spread_in_the_shape_of_an_array),
    TEST(shapes_are_read_as_values),
    TEST(slices_follow_python),
    TEST(slices_index_from_both_ends_and_refuse_what_is_outside),
    TEST(setting_a_slice_copies_unless_it_is_in_place),
    TEST(a_part_set_to_another_part_of_the_same_array_is_read_first),
    TEST(rows_are_taken_and_written_by_number),
    TEST(arrays_are_filled_packed_and_joined),
    TEST(ranges_count_as_numpy_does),
    TEST(checks_pass_their_source_or_refuse),
    TEST(results_keep_their_memory_and_the_next_run_takes_other),
    TEST(long_instructions_are_interrupted),
    {0, 0},
};
