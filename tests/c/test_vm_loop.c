/* Tests of the room vm: loops over scalars and arrays, their buffers, and what is left when they end early. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "maker.h"
#include "test.h"

#define F64 DTYPE_FLOAT64
#define I64 DTYPE_INT64

static Program *new_program(void)
{
    Status status;

    return program_new(&status);
}

static int32_t add(Program *p, int32_t a, int32_t b) { return map(p, SCALAR_ADD, F64, SOURCES(a, b)); }

static int32_t multiply(Program *p, int32_t a, int32_t b) { return map(p, SCALAR_MUL, F64, SOURCES(a, b)); }

/* A loop's program with an input n for the number of steps, run with different n. */
typedef struct Case {
    Program *program;
    LoopMaker maker;
    int32_t n;
    Frame *frame;
    Status status;
    VmHost host;
} Case;

static void start_case(Case *c)
{
    memset(c, 0, sizeof *c);
    c->program = new_program();
    c->n = make_scalar(c->program, ORIGIN_INPUT, I64);
    c->host = counting_host();
    start_loop(&c->maker, c->program, c->n);
}

static void finish_case(Case *c, ValueList outputs)
{
    finish_loop(&c->maker);
    finish(c->program, SOURCES(c->n), outputs);
    c->frame = frame_of(c->program);
}

static int run_case(Case *c, int64_t n)
{
    frame_reset(c->frame, &c->host, 1 << 20);
    set_int(c->frame, c->n, n);
    return vm_run(c->frame, &c->host, &c->status);
}

static void stop_case(Case *c)
{
    frame_free(c->frame, &c->host);
    program_free(c->program);
}

/* An initial state: a buffer of `rows` rows (an int64 value), its first ones as given. */
static int32_t state_of(Case *c, int32_t rows, int64_t n_past, const double *past)
{
    Program *p = c->program;
    int32_t empty = instr(p, I_EMPTY, 0, F64, F64, 1, SOURCES(rows), NO_AUX);

    return instr_flagged(p, I_SET_SLICE, WRITE_SET, F64, INSTR_INPLACE, F64, 1,
                         SOURCES(empty, constant_doubles(p, n_past, past), constant_int(p, n_past)), AUX(SLICE_RANGE | SLICE_STOP));
}

static int32_t rows_for(Case *c, int64_t past) { return map(c->program, SCALAR_ADD, I64, SOURCES(c->n, constant_int(c->program, past))); }

static void a_state_with_two_taps_runs_over_its_path(void)
{
    for (int inplace = 0; inplace < 2; inplace++) {
        Case c;
        int32_t taps[2], out, initial;

        start_case(&c);
        initial = state_of(&c, rows_for(&c, 2), 2, DOUBLES(1, 1));
        out = loop_state(&c.maker, initial, 2, inplace, taps);
        loop_state_is(&c.maker, 0, add(c.maker.body, taps[0], taps[1]));
        finish_case(&c, SOURCES(out));
        CHECK(run_case(&c, 5) == 0 && is_doubles(c.frame, out, 1, SHAPE(7), DOUBLES(1, 1, 2, 3, 5, 8, 13)));
        CHECK((frame_array(c.frame, out)->data == frame_array(c.frame, initial)->data) == (inplace != 0));
        CHECK(frame_counters(c.frame)->steps == 5);
        CHECK(run_case(&c, 1) == 0 && is_doubles(c.frame, out, 1, SHAPE(3), DOUBLES(1, 1, 2)));
        CHECK(run_case(&c, 0) == 0 && is_doubles(c.frame, out, 1, SHAPE(2), DOUBLES(1, 1)));
        stop_case(&c);
    }
}

static void rings_end_in_the_order_of_time(void)
{
    for (int64_t rows = 2; rows <= 8; rows++) {
        for (int64_t n = 0; n <= 12; n++) {
            double expected[16] = {1, 1};
            int32_t taps[2], out;
            int64_t first;
            Case c;

            start_case(&c);
            out = loop_state(&c.maker, state_of(&c, constant_int(c.program, rows), 2, expected), 2, true, taps);
            loop_state_is(&c.maker, 0, add(c.maker.body, taps[0], taps[1]));
            finish_case(&c, SOURCES(out));
            for (int64_t i = 2; i < n + 2; i++) {
                expected[i] = expected[i - 1] + expected[i - 2];
            }
            first = n + 2 > rows ? n + 2 - rows : 0;
            CHECK(run_case(&c, n) == 0 && is_doubles(c.frame, out, 1, SHAPE(n + 2 - first), expected + first));
            stop_case(&c);
        }
    }
}

static void paths_keep_the_last_rows_that_are_asked_for(void)
{
    const double squares[] = {0, 1, 4, 9, 16};

    for (int64_t rows = 0; rows <= 7; rows++) {
        Case c;
        int32_t x, path, pairs;
        int64_t kept = rows < 5 ? rows : 5;
        double both[10];

        start_case(&c);
        x = loop_sequence(&c.maker, constant_doubles(c.program, 5, DOUBLES(0, 1, 2, 3, 4)));
        x = multiply(c.maker.body, x, x);
        path = loop_path(&c.maker, constant_int(c.program, rows), x);
        pairs = loop_path(&c.maker, constant_int(c.program, rows), instr(c.maker.body, I_PACK, 0, F64, F64, 1, SOURCES(x, x), NO_AUX));
        finish_case(&c, SOURCES(path, pairs));
        for (int64_t i = 0; i < 10; i++) {
            both[i] = squares[(5 - kept + i / 2) % 5];
        }
        CHECK(run_case(&c, 5) == 0 && is_doubles(c.frame, path, 1, &kept, squares + 5 - kept));
        CHECK(is_doubles(c.frame, pairs, 2, SHAPE(kept, 2), both));
        CHECK(run_case(&c, 0) == 0 && is_doubles(c.frame, path, 1, SHAPE(0), NULL) && is_doubles(c.frame, pairs, 2, SHAPE(0, 0), NULL));
        stop_case(&c);
    }
}

/* One value that goes to several rows, an invariant one, a row handed through, and rows of one byte. */
static void a_value_may_go_to_several_rows_of_any_element_size(void)
{
    Case c;
    Program *body;
    int32_t x, y, is_large, twice, out, path, again, ring, flags, through, same, prior;
    const uint8_t *bytes;

    start_case(&c);
    body = c.maker.body;
    x = loop_sequence(&c.maker, constant_doubles(c.program, 4, DOUBLES(1, 2, 3, 4)));
    out = loop_state(&c.maker, state_of(&c, rows_for(&c, 1), 1, DOUBLES(9)), 1, true, &prior);
    twice = add(body, x, x);
    is_large = map(body, SCALAR_GT, F64, SOURCES(x, constant_double(body, 2)));
    y = instr_flagged(body, I_MAP, SCALAR_ADD, F64, INSTR_INVARIANT, F64, 0, SOURCES(constant_double(body, 1), constant_double(body, 4)), NO_AUX);
    loop_state_is(&c.maker, 0, twice);
    path = loop_path(&c.maker, c.n, twice);
    again = loop_path(&c.maker, c.n, twice);
    ring = loop_path(&c.maker, constant_int(c.program, 3), prior);
    flags = loop_path(&c.maker, c.n, is_large);
    through = loop_path(&c.maker, c.n, x);
    same = loop_path(&c.maker, c.n, y);
    finish_case(&c, SOURCES(out, path, again, ring, flags, through, same));
    for (int round = 0; round < 2; round++) {
        CHECK(run_case(&c, 4) == 0 && is_doubles(c.frame, out, 1, SHAPE(5), DOUBLES(9, 2, 4, 6, 8)));
        CHECK(is_doubles(c.frame, path, 1, SHAPE(4), DOUBLES(2, 4, 6, 8)) && is_doubles(c.frame, again, 1, SHAPE(4), DOUBLES(2, 4, 6, 8)));
        CHECK(is_doubles(c.frame, ring, 1, SHAPE(3), DOUBLES(2, 4, 6)) && is_doubles(c.frame, through, 1, SHAPE(4), DOUBLES(1, 2, 3, 4)));
        CHECK(is_doubles(c.frame, same, 1, SHAPE(4), DOUBLES(5, 5, 5, 5)));
        bytes = (const uint8_t *)frame_array(c.frame, flags)->data;
        CHECK(frame_array(c.frame, flags)->shape[0] == 4 && memcmp(bytes, "\0\0\1\1", 4) == 0);
        CHECK(run_case(&c, 0) == 0 && is_doubles(c.frame, path, 1, SHAPE(0), NULL));
    }
    stop_case(&c);
}

static void sequences_may_be_strided_and_reversed(void)
{
    Case c;
    Program *p;
    int32_t m, backwards, column, path, sums;

    start_case(&c);
    p = c.program;
    m = constant_array(p, F64, 2, SHAPE(3, 2), DOUBLES(1, 2, 3, 4, 5, 6));
    column = instr(p, I_SLICE, 0, F64, F64, 1, SOURCES(m, constant_int(p, 1)), AUX(SLICE_RANGE, SLICE_INDEX));
    backwards = instr(p, I_SLICE, 0, F64, F64, 2, SOURCES(m, constant_int(p, -1)), AUX(SLICE_RANGE | SLICE_STEP));
    path = loop_path(&c.maker, c.n, map(c.maker.body, SCALAR_NEG, F64, SOURCES(loop_sequence(&c.maker, column))));
    sums = loop_path(&c.maker, c.n, instr(c.maker.body, I_REDUCE, REDUCE_ADD, F64, F64, 0, SOURCES(loop_sequence(&c.maker, backwards)), AUX(0)));
    finish_case(&c, SOURCES(path, sums));
    CHECK(run_case(&c, 3) == 0 && is_doubles(c.frame, path, 1, SHAPE(3), DOUBLES(-2, -4, -6)));
    CHECK(is_doubles(c.frame, sums, 1, SHAPE(3), DOUBLES(11, 7, 3)));
    CHECK(run_case(&c, 2) == 0 && is_doubles(c.frame, path, 1, SHAPE(2), DOUBLES(-2, -4)));
    CHECK(run_case(&c, 4) == -1 && c.status.code == STATUS_SHORT_SEQUENCE);
    CHECK(c.status.ndim_a == 1 && c.status.shape_a[0] == 3 && c.status.b == 4 && c.status.c == 0 && c.status.n_path == 0);
    CHECK(run_case(&c, -3) == -1 && c.status.code == STATUS_NEGATIVE_STEPS && c.status.a == -3);
    CHECK(run_case(&c, 1) == 0 && is_doubles(c.frame, sums, 1, SHAPE(1), DOUBLES(11)));
    stop_case(&c);
}

static void a_state_that_is_shorter_than_its_past_is_refused(void)
{
    Case c;
    int32_t taps[2], out;

    start_case(&c);
    out = loop_state(&c.maker, constant_doubles(c.program, 1, DOUBLES(1)), 2, false, taps);
    loop_state_is(&c.maker, 0, taps[1]);
    finish_case(&c, SOURCES(out));
    CHECK(run_case(&c, 1) == -1 && c.status.code == STATUS_SHORT_STATE && c.status.a == 1 && c.status.b == 2 && c.status.c == 0);
    stop_case(&c);
}

static void until_keeps_the_step_that_stops(void)
{
    Case c;
    Program *body;
    int32_t x, out, path, twice;

    start_case(&c);
    body = c.maker.body;
    out = loop_state(&c.maker, state_of(&c, rows_for(&c, 1), 1, DOUBLES(1)), 1, true, &x);
    twice = multiply(body, x, constant_double(body, 2));
    loop_state_is(&c.maker, 0, twice);
    path = loop_path(&c.maker, c.n, twice);
    c.maker.loop.until = map(body, SCALAR_GT, F64, SOURCES(twice, constant_double(body, 20)));
    finish_case(&c, SOURCES(out, path));
    CHECK(run_case(&c, 100) == 0 && is_doubles(c.frame, path, 1, SHAPE(5), DOUBLES(2, 4, 8, 16, 32)));
    CHECK(is_doubles(c.frame, out, 1, SHAPE(6), DOUBLES(1, 2, 4, 8, 16, 32)) && frame_counters(c.frame)->steps == 5);
    CHECK(run_case(&c, 3) == 0 && is_doubles(c.frame, path, 1, SHAPE(3), DOUBLES(2, 4, 8)));
    stop_case(&c);
}

/* Two states that take each other's row, with and without a row to spare, as scalars and as arrays. */
static void states_change_places(void)
{
    for (int64_t spare = 0; spare < 2; spare++) {
        Case c;
        int32_t x, y, v, w, a, b, e, f, size;

        start_case(&c);
        size = constant_int(c.program, 1 + spare);
        a = loop_state(&c.maker, state_of(&c, size, 1, DOUBLES(1)), 1, true, &x);
        b = loop_state(&c.maker, state_of(&c, size, 1, DOUBLES(2)), 1, false, &y);
        e = loop_state(&c.maker, constant_array(c.program, F64, 2, SHAPE(1 + spare, 2), DOUBLES(1, 2, 0, 0)), 1, false, &v);
        f = loop_state(&c.maker, constant_array(c.program, F64, 2, SHAPE(1 + spare, 2), DOUBLES(3, 4, 0, 0)), 1, false, &w);
        loop_state_is(&c.maker, 0, y);
        loop_state_is(&c.maker, 1, x);
        loop_state_is(&c.maker, 2, w);
        loop_state_is(&c.maker, 3, v);
        finish_case(&c, SOURCES(a, b, e, f));
        CHECK(run_case(&c, 3) == 0);
        CHECK(is_doubles(c.frame, a, 1, SHAPE(1 + spare), spare ? DOUBLES(1, 2) : DOUBLES(2)));
        CHECK(is_doubles(c.frame, b, 1, SHAPE(1 + spare), spare ? DOUBLES(2, 1) : DOUBLES(1)));
        CHECK(is_doubles(c.frame, e, 2, SHAPE(1 + spare, 2), spare ? DOUBLES(1, 2, 3, 4) : DOUBLES(3, 4)));
        CHECK(is_doubles(c.frame, f, 2, SHAPE(1 + spare, 2), spare ? DOUBLES(3, 4, 1, 2) : DOUBLES(1, 2)));
        stop_case(&c);
    }
}

static void constants_and_inputs_are_never_written(void)
{
    Case c;
    int32_t x, out, initial, source;
    double data[4] = {1, 0, 0, 0};

    start_case(&c);
    source = make_array(c.program, ORIGIN_INPUT, F64, 1);
    initial = constant_doubles(c.program, 4, DOUBLES(1, 0, 0, 0));
    out = loop_state(&c.maker, initial, 1, false, &x);
    loop_state_is(&c.maker, 0, add(c.maker.body, x, x));
    int32_t other = loop_state(&c.maker, source, 1, false, &x);
    loop_state_is(&c.maker, 1, add(c.maker.body, x, x));
    finish_loop(&c.maker);
    finish(c.program, SOURCES(c.n, source), SOURCES(out, other));
    c.frame = frame_of(c.program);
    set_int(c.frame, c.n, 3);
    set_array(c.frame, source, 1, SHAPE(4), data);
    CHECK(vm_run(c.frame, &c.host, &c.status) == 0 && is_doubles(c.frame, other, 1, SHAPE(4), DOUBLES(1, 2, 4, 8)));
    CHECK(is_doubles(c.frame, initial, 1, SHAPE(4), DOUBLES(1, 0, 0, 0)) && data[1] == 0 && data[3] == 0);
    stop_case(&c);
}

static void rows_that_change_shape_are_refused_with_the_step(void)
{
    Case c;
    Program *body;
    int32_t k, path, shown;

    start_case(&c);
    body = c.maker.body;
    k = loop_sequence(&c.maker, constant_ints(c.program, 5, INTS(2, 1, 2, 4, 2)));
    shown = instr(body, I_FILL, 0, F64, F64, 1, SOURCES(constant_double(body, 7), k), NO_AUX);
    path = loop_path(&c.maker, c.n, shown);
    finish_case(&c, SOURCES(path));
    CHECK(run_case(&c, 3) == 0 && is_doubles(c.frame, path, 2, SHAPE(3, 2), DOUBLES(7, 7, 7, 7, 7, 7))); /* a length of 1 broadcasts */
    CHECK(run_case(&c, 5) == -1 && c.status.code == STATUS_STATE_SHAPE && c.status.n_path == 1 && c.status.path[0] == 3);
    CHECK(c.status.shape_a[0] == 4 && c.status.shape_b[0] == 2);
    CHECK(run_case(&c, 3) == 0);
    stop_case(&c);
}

/* x / k in each step, which fails where k is zero. */
static void an_error_in_a_step_tells_the_step_and_leaves_the_frame_usable(void)
{
    Case c;
    int32_t x, out, k, ratio;

    start_case(&c);
    k = loop_sequence(&c.maker, constant_ints(c.program, 4, INTS(1, 2, 0, 1)));
    out = loop_state(&c.maker, constant_ints(c.program, 5, INTS(8, 0, 0, 0, 0)), 1, false, &x);
    ratio = map(c.maker.body, SCALAR_FLOOR_DIVIDE, I64, SOURCES(x, k));
    loop_state_is(&c.maker, 0, ratio);
    finish_case(&c, SOURCES(out));
    for (int round = 0; round < 2; round++) {
        CHECK(run_case(&c, 4) == -1 && c.status.code == STATUS_ZERO_DIVISION && c.status.n_path == 1 && c.status.path[0] == 2);
        CHECK(c.status.node == 0 && frame_counters(c.frame)->steps == 2);
        CHECK(run_case(&c, 2) == 0 && is_ints(c.frame, out, 1, SHAPE(3), INTS(8, 8, 4)));
    }
    stop_case(&c);
}

/* Sums of products over two loops: the outer state enters the inner loop as its initial state. */
static void nested_loops_run_in_frames_made_once(void)
{
    Case c;
    LoopMaker inner;
    Program *body;
    int32_t x, out, m, n_inner, start, taken, y, inner_out, last, k, paths, inner_path;

    start_case(&c);
    body = c.maker.body;
    m = loop_fixed(&c.maker, c.n);
    out = loop_state(&c.maker, state_of(&c, rows_for(&c, 1), 1, DOUBLES(1)), 1, true, &x);
    n_inner = map(body, SCALAR_SUB, I64, SOURCES(m, constant_int(body, 1)));
    start = instr(body, I_EMPTY, 0, F64, F64, 1, SOURCES(m), NO_AUX);
    taken = instr_flagged(body, I_SET_SLICE, WRITE_SET, F64, INSTR_INPLACE, F64, 1, SOURCES(start, x, constant_int(body, 0)), AUX(SLICE_INDEX));
    start_loop(&inner, body, n_inner);
    inner_out = loop_state(&inner, taken, 1, true, &y);
    loop_state_is(&inner, 0, add(inner.body, y, constant_double(inner.body, 1)));
    k = multiply(inner.body, y, y);
    inner_path = loop_path(&inner, n_inner, k);
    finish_loop(&inner);
    last = instr(body, I_SLICE, 0, F64, F64, 0, SOURCES(inner_out, constant_int(body, -1)), AUX(SLICE_INDEX));
    loop_state_is(&c.maker, 0, last);
    paths = loop_path(&c.maker, c.n, inner_path);
    finish_case(&c, SOURCES(out, paths));
    CHECK(run_case(&c, 3) == 0 && is_doubles(c.frame, out, 1, SHAPE(4), DOUBLES(1, 3, 5, 7)));
    CHECK(is_doubles(c.frame, paths, 2, SHAPE(3, 2), DOUBLES(1, 4, 9, 16, 25, 36)) && frame_counters(c.frame)->steps == 9);
    stop_case(&c);
}

static void an_error_in_nested_loops_tells_the_step_of_each(void)
{
    Case c;
    LoopMaker inner;
    Program *body;
    int32_t i, j, product, quotient, path, outer_path, ten, total;

    start_case(&c);
    body = c.maker.body;
    i = loop_sequence(&c.maker, constant_ints(c.program, 4, INTS(1, 2, 3, 4)));
    start_loop(&inner, body, loop_fixed(&c.maker, c.n));
    j = loop_sequence(&inner, constant_ints(body, 4, INTS(2, -2, 1, -3)));
    product = map(inner.body, SCALAR_ADD, I64, SOURCES(loop_fixed(&inner, i), j));
    ten = constant_int(inner.body, 10);
    quotient = map(inner.body, SCALAR_FLOOR_DIVIDE, I64, SOURCES(ten, product));
    path = loop_path(&inner, inner.loop.n_steps, quotient);
    finish_loop(&inner);
    total = instr(body, I_REDUCE, REDUCE_ADD, I64, I64, 0, SOURCES(path), AUX(0));
    outer_path = loop_path(&c.maker, c.n, total);
    finish_case(&c, SOURCES(outer_path));
    CHECK(run_case(&c, 4) == -1 && c.status.code == STATUS_ZERO_DIVISION);
    CHECK(c.status.n_path == 2 && c.status.path[0] == 1 && c.status.path[1] == 1 && c.status.node == 1);
    CHECK(run_case(&c, 1) == 0 && is_ints(c.frame, outer_path, 1, SHAPE(1), INTS(3)));
    stop_case(&c);
}

/* fill(1 / k) does not change from step to step: it is computed once. */
static Case invariant_case(int64_t k, int32_t *path)
{
    Case c;
    Program *body;
    int32_t once, first, last;

    start_case(&c);
    body = c.maker.body;
    first = map(body, SCALAR_FLOOR_DIVIDE, I64, SOURCES(constant_int(body, 1), loop_sequence(&c.maker, constant_ints(c.program, 3, INTS(1, 0, 1)))));
    once = instr_flagged(body, I_MAP, SCALAR_FLOOR_DIVIDE, I64, INSTR_INVARIANT, I64, 0, SOURCES(constant_int(body, 12), loop_fixed(&c.maker, constant_int(c.program, k))), NO_AUX);
    last = map(body, SCALAR_ADD, I64, SOURCES(first, once));
    *path = loop_path(&c.maker, c.n, last);
    finish_case(&c, SOURCES(*path));
    return c;
}

static void invariant_instructions_run_once_and_fail_in_the_order_of_the_program(void)
{
    int32_t path;
    Case c = invariant_case(3, &path);

    CHECK(run_case(&c, 1) == 0 && is_ints(c.frame, path, 1, SHAPE(1), INTS(5)));
    CHECK(run_case(&c, 2) == -1 && c.status.path[0] == 1 && c.status.node == 0);
    CHECK(run_case(&c, 0) == 0);
    stop_case(&c);
    c = invariant_case(0, &path);
    CHECK(run_case(&c, 0) == 0); /* a loop of no steps computes nothing */
    CHECK(run_case(&c, 2) == -1 && c.status.n_path == 1 && c.status.path[0] == 0 && c.status.node == 1);
    stop_case(&c);
}

static void an_invariant_failure_gives_way_to_an_earlier_one_in_step_0(void)
{
    Case c;
    Program *body;
    int32_t zero, one, once, first, path;

    start_case(&c);
    body = c.maker.body;
    one = constant_int(body, 1);
    zero = loop_sequence(&c.maker, constant_ints(c.program, 2, INTS(0, 0)));
    first = map(body, SCALAR_MOD, I64, SOURCES(one, zero));
    once = instr_flagged(body, I_FILL, 0, I64, INSTR_INVARIANT, I64, 1, SOURCES(one, constant_int(body, -1)), NO_AUX);
    path = loop_path(&c.maker, c.n, map(body, SCALAR_ADD, I64, SOURCES(first, once)));
    finish_case(&c, SOURCES(path));
    CHECK(run_case(&c, 2) == -1 && c.status.code == STATUS_ZERO_DIVISION && c.status.node == 0);
    stop_case(&c);
}

/* Vectors, matrices, views and a nested loop in each step. */
static Case busy_case(ValueList *outputs, int32_t *out)
{
    static int32_t numbers[2];
    Case c;
    LoopMaker inner;
    Program *body;
    int32_t x, v, w, s, row, path, inner_path, count, three;

    start_case(&c);
    body = c.maker.body;
    x = loop_fixed(&c.maker, constant_doubles(c.program, 3, DOUBLES(1, 2, 3)));
    numbers[0] = loop_state(&c.maker, constant_array(c.program, F64, 2, SHAPE(2, 3), DOUBLES(1, 1, 1, 0, 0, 0)), 1, false, &s);
    v = add(body, s, x);
    w = instr(body, I_SLICE, 0, F64, F64, 1, SOURCES(v, constant_int(body, -1)), AUX(SLICE_RANGE | SLICE_STEP));
    row = instr(body, I_DOT, 0, F64, F64, 0, SOURCES(v, w), NO_AUX);
    three = constant_int(body, 3);
    start_loop(&inner, body, three);
    inner_path = loop_path(&inner, three, multiply(inner.body, loop_sequence(&inner, w), loop_fixed(&inner, row)));
    finish_loop(&inner);
    count = instr(body, I_REDUCE, REDUCE_MAX, F64, F64, 0, SOURCES(inner_path), AUX(0));
    loop_state_is(&c.maker, 0, map(body, SCALAR_TRUE_DIVIDE, F64, SOURCES(inner_path, count)));
    path = loop_path(&c.maker, constant_int(c.program, 4), inner_path);
    numbers[1] = path;
    *outputs = (ValueList){2, numbers};
    *out = path;
    return c;
}

static void steps_allocate_nothing_once_shapes_are_met(void)
{
    ValueList outputs;
    int32_t path;
    int64_t n_few;
    Case c = busy_case(&outputs, &path);

    finish_case(&c, outputs);
    CHECK(run_case(&c, 10) == 0);
    n_few = frame_counters(c.frame)->allocations;
    frame_reset(c.frame, &c.host, 0);
    CHECK(run_case(&c, 10000) == 0 && frame_counters(c.frame)->allocations == n_few && n_few > 3);
    CHECK(run_case(&c, 10) == 0 && frame_counters(c.frame)->allocations == 0);
    stop_case(&c);
}

static void every_allocation_may_fail_and_nothing_leaks(void)
{
    ValueList outputs;
    int32_t path;
    Case c = busy_case(&outputs, &path);
    Frame *frame = NULL;
    int n_failures = 0;

    finish_case(&c, outputs);
    for (int64_t k = 1;; k++) {
        int64_t n_failed, n_blocks = mem_blocks_alive();
        int result = -1;

        mem_fault_arm(k, 1);
        status_clear(&c.status);
        frame = frame_new(c.program, &c.status);
        if (frame != NULL) {
            set_int(frame, c.n, 3);
            result = vm_run(frame, &c.host, &c.status);
        }
        n_failed = mem_fault_disarm();
        CHECK((result == 0) == (n_failed == 0) || (frame != NULL && result == 0)); /* an invariant may be tried again */
        if (result < 0) {
            CHECK(c.status.code == STATUS_NO_MEMORY);
            n_failures++;
        }
        if (frame != NULL && result < 0) { /* the same frame runs well when there is memory */
            set_int(frame, c.n, 3);
            CHECK(vm_run(frame, &c.host, &c.status) == 0);
        }
        frame_free(frame, &c.host);
        CHECK(mem_blocks_alive() == n_blocks);
        if (n_failed == 0) {
            break;
        }
    }
    CHECK(n_failures > 20);
    stop_case(&c);
}

static int stop_at_third(void *self) { return ++*(int *)self == 3; }

static void endless_loops_are_interrupted_with_the_path_of_steps(void)
{
    Case c;
    LoopMaker inner;
    int32_t path, inner_path;
    int n_asked = 0;

    start_case(&c);
    start_loop(&inner, c.maker.body, constant_int(c.maker.body, 1000));
    inner_path = loop_path(&inner, constant_int(c.maker.body, 1), add(inner.body, constant_double(inner.body, 1), constant_double(inner.body, 2)));
    finish_loop(&inner);
    path = loop_path(&c.maker, constant_int(c.program, 1), inner_path);
    finish_case(&c, SOURCES(path));
    c.host.self = &n_asked;
    c.host.poll = stop_at_third;
    CHECK(run_case(&c, INT64_MAX) == -1 && c.status.code == STATUS_INTERRUPTED && n_asked == 3);
    CHECK(c.status.n_path == 2 && c.status.path[0] > 10 && c.status.path[1] >= 0 && c.status.path[1] < 1000);
    CHECK(run_case(&c, 2) == 0 && is_doubles(c.frame, path, 2, SHAPE(1, 1), DOUBLES(3)));
    stop_case(&c);
}

/* Objects are texts here; every holder is counted. */
typedef struct Objects {
    int n_held;
    int n_calls;
} Objects;

static void *hold(void *self, void *object)
{
    ((Objects *)self)->n_held++;
    return object;
}

static void drop(void *self, void *object)
{
    (void)object;
    ((Objects *)self)->n_held--;
}

/* Gives a new holder on the text after the source's. */
static int call_next(void *self, Frame *frame, const Instr *called, Status *status)
{
    Objects *objects = self;
    const char *text = *frame_object(frame, instr_src(frame_program(frame), called)[0]);

    if (++objects->n_calls == 5) {
        return status_fail(status, STATUS_PYTHON);
    }
    *frame_object(frame, instr_dst(frame_program(frame), called)[0]) = hold(self, (void *)(uintptr_t)(text + 1));
    return 0;
}

static void objects_are_carried_and_every_holder_is_given_up(void)
{
    static const char text[] = "abcdefgh";
    Objects objects = {0, 0};
    Case c;
    int32_t source, other, a, b, out_a, out_b, next;

    start_case(&c);
    source = make_value(c.program, VALUE_OBJECT, ORIGIN_INPUT, DTYPE_BOOL, 0);
    other = make_value(c.program, VALUE_OBJECT, ORIGIN_INPUT, DTYPE_BOOL, 0);
    out_a = loop_carry(&c.maker, source, false, &a);
    out_b = loop_carry(&c.maker, other, false, &b);
    next = make_instr(c.maker.body, I_CALL, 0, DTYPE_BOOL, 0, (Value){.value_class = VALUE_OBJECT}, SOURCES(a), AUX(0));
    loop_carry_is(&c.maker, 0, b); /* the two change places, one is moved on */
    loop_carry_is(&c.maker, 1, next);
    finish_loop(&c.maker);
    finish(c.program, SOURCES(c.n, source, other), SOURCES(out_a, out_b));
    c.frame = frame_of(c.program);
    c.host.self = &objects;
    c.host.hold_object = hold;
    c.host.drop_object = drop;
    c.host.call = call_next;
    for (int64_t n = 0; n < 4; n++) {
        const char *expected[4][2] = {{text, text + 4}, {text + 4, text + 1}, {text + 1, text + 5}, {text + 5, text + 2}};

        frame_reset(c.frame, &c.host, 0);
        CHECK(objects.n_held == 0);
        objects.n_calls = 0;
        set_int(c.frame, c.n, n);
        *frame_object(c.frame, source) = hold(&objects, (void *)(uintptr_t)text);
        *frame_object(c.frame, other) = hold(&objects, (void *)(uintptr_t)(text + 4));
        CHECK(vm_run(c.frame, &c.host, &c.status) == 0);
        CHECK(*frame_object(c.frame, out_a) == expected[n][0] && *frame_object(c.frame, out_b) == expected[n][1]);
    }
    objects.n_calls = 0;
    set_int(c.frame, c.n, 9);
    CHECK(vm_run(c.frame, &c.host, &c.status) == -1 && c.status.code == STATUS_PYTHON && c.status.path[0] == 4);
    frame_reset(c.frame, &c.host, 0);
    CHECK(objects.n_held == 0);
    stop_case(&c);
}

/* The sanitizers see it if a step writes where a column was in the call before. */
static void a_call_step_by_step_after_one_in_blocks_uses_none_of_its_memory(void)
{
    const double start = 3;
    Case c;
    LoopMaker *maker = &c.maker;
    int32_t taps[1], out, shown, sum, sorted, path;

    start_case(&c);
    c.host.block_steps = DEFAULT_BLOCK_STEPS;
    out = loop_state(maker, state_of(&c, rows_for(&c, 1), 1, &start), 1, true, taps);
    sum = add(maker->body, taps[0], constant_double(maker->body, 0.5));
    shown = instr(maker->body, I_PACK, 0, F64, F64, 1, SOURCES(sum, taps[0]), NO_AUX);
    sorted = instr(maker->body, I_SORT, SORT_KEYS, F64, F64, 1, SOURCES(shown, constant_int(maker->body, 0)), NO_AUX);
    loop_state_is(maker, 0, instr(maker->body, I_SLICE, 0, F64, F64, 0, SOURCES(sorted, constant_int(maker->body, 1)), AUX(SLICE_INDEX)));
    path = loop_path(maker, c.n, multiply(maker->body, sum, constant_double(maker->body, 2)));
    finish_case(&c, SOURCES(out, path));
    for (int64_t n = 40; n > 0; n -= 19) {
        const double *doubled;

        frame_reset(c.frame, &c.host, 0);
        CHECK(run_case(&c, n) == 0);
        CHECK((frame_counters(c.frame)->block_steps > 0) == (n > 16));
        doubled = (const double *)(const void *)frame_array(c.frame, path)->data;
        for (int64_t i = 0; i < n; i++) {
            CHECK(doubled[i] == 2 * (start + 0.5 * (double)(i + 1)));
        }
    }
    stop_case(&c);
}

const Test tests_vm_loop[] = {
    TEST(a_state_with_two_taps_runs_over_its_path),
    TEST(rings_end_in_the_order_of_time),
    TEST(paths_keep_the_last_rows_that_are_asked_for),
    TEST(a_value_may_go_to_several_rows_of_any_element_size),
    TEST(sequences_may_be_strided_and_reversed),
    TEST(a_state_that_is_shorter_than_its_past_is_refused),
    TEST(until_keeps_the_step_that_stops),
    TEST(states_change_places),
    TEST(constants_and_inputs_are_never_written),
    TEST(rows_that_change_shape_are_refused_with_the_step),
    TEST(an_error_in_a_step_tells_the_step_and_leaves_the_frame_usable),
    TEST(nested_loops_run_in_frames_made_once),
    TEST(an_error_in_nested_loops_tells_the_step_of_each),
    TEST(invariant_instructions_run_once_and_fail_in_the_order_of_the_program),
    TEST(an_invariant_failure_gives_way_to_an_earlier_one_in_step_0),
    TEST(steps_allocate_nothing_once_shapes_are_met),
    TEST(every_allocation_may_fail_and_nothing_leaks),
    TEST(endless_loops_are_interrupted_with_the_path_of_steps),
    TEST(objects_are_carried_and_every_holder_is_given_up),
    TEST(a_call_step_by_step_after_one_in_blocks_uses_none_of_its_memory),
    {0, 0},
};
