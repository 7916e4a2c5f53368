/* Tests of the room vm: draws, and the generators that loops carry. The generator counts 1, 2, 3, ... (maker.h). */
#include <pthread.h>
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

static void a_draw_in_place_moves_the_generator_and_another_does_not(void)
{
    for (int flags = 0; flags <= INSTR_INPLACE; flags++) {
        Program *p = new_program();
        VmHost host = counting_host();
        int32_t rng = make_stream(p, ORIGIN_INPUT), next, x, y;
        Counting counting;
        Status status;
        Frame *frame;

        x = draw(p, DIST_NORMAL, flags, 0, rng, false, SOURCES(constant_double(p, 10), constant_double(p, 2)), &next);
        y = draw(p, DIST_NORMAL, INSTR_INPLACE, 0, next, false, SOURCES(constant_double(p, 0), constant_double(p, 1)), &next);
        finish(p, SOURCES(rng), SOURCES(x, y, next));
        frame = frame_of(p);
        counting_start(&counting, 0);
        *frame_stream(frame, rng) = &counting.stream;
        CHECK(vm_run(frame, &host, &status) == 0 && get_double(frame, x) == 12 && get_double(frame, y) == 2);
        CHECK(counting.count == (flags ? 2 : 0) && frame_counters(frame)->scratch_copies == (flags ? 0 : 1));
        CHECK((*frame_stream(frame, next) == &counting.stream) == (flags != 0));
        CHECK(*(int64_t *)(*frame_stream(frame, next))->bitgen->state == 2);
        frame_free(frame, &host);
        program_free(p);
    }
}

/* Draws of a size (or NULL) from loc and scale, arrays or scalars. */
static int draw_once(int ndim, const int64_t *size, int64_t n_size, int32_t (*make_loc)(Program *), int64_t *shape, double *x, Status *status)
{
    Program *p = new_program();
    VmHost host = counting_host();
    int32_t rng = make_stream(p, ORIGIN_INPUT), next, r, loc = make_loc(p), scale = constant_double(p, 1);
    Counting counting;
    Frame *frame;
    int result;

    if (size != NULL) {
        r = draw(p, DIST_NORMAL, INSTR_INPLACE, ndim, rng, true, SOURCES(constant_ints(p, n_size, size), loc, scale), &next);
    } else {
        r = draw(p, DIST_NORMAL, INSTR_INPLACE, ndim, rng, false, SOURCES(loc, scale), &next);
    }
    finish(p, SOURCES(rng), SOURCES(r));
    frame = frame_of(p);
    counting_start(&counting, 0);
    *frame_stream(frame, rng) = &counting.stream;
    result = vm_run(frame, &host, status);
    if (result == 0) {
        const Array *array = frame_array(frame, r);
        memcpy(shape, array->shape, (size_t)array->ndim * sizeof(int64_t));
        memcpy(x, array->data, (size_t)array_size(array) * sizeof(double));
    }
    frame_free(frame, &host);
    program_free(p);
    return result;
}

static int32_t loc_scalar(Program *p) { return constant_double(p, 10); }
static int32_t loc_vector(Program *p) { return constant_doubles(p, 2, DOUBLES(10, 20)); }
static int32_t loc_column(Program *p) { return constant_array(p, F64, 2, SHAPE(2, 1), DOUBLES(10, 20)); }

static void the_shape_of_draws_is_the_size_or_that_of_the_parameters(void)
{
    int64_t shape[3];
    double x[8];
    Status status;

    CHECK(draw_once(1, INTS(3), 1, loc_scalar, shape, x, &status) == 0 && shape[0] == 3 && x[0] == 11 && x[2] == 13);
    CHECK(draw_once(2, INTS(2, 2), 2, loc_vector, shape, x, &status) == 0 && shape[0] == 2 && x[1] == 22 && x[2] == 13 && x[3] == 24);
    CHECK(draw_once(1, NULL, 0, loc_vector, shape, x, &status) == 0 && shape[0] == 2 && x[1] == 22);
    CHECK(draw_once(2, NULL, 0, loc_column, shape, x, &status) == 0 && shape[0] == 2 && shape[1] == 1 && x[1] == 22);
    CHECK(draw_once(1, INTS(0), 1, loc_scalar, shape, x, &status) == 0 && shape[0] == 0);
    CHECK(draw_once(1, INTS(-1), 1, loc_scalar, shape, x, &status) == -1 && status.code == STATUS_NEGATIVE_SIZE);
    CHECK(draw_once(1, INTS(3), 1, loc_vector, shape, x, &status) == -1 && status.code == STATUS_DRAW_SHAPE);
    CHECK(status.shape_a[0] == 3 && status.shape_b[0] == 2);
    CHECK(draw_once(1, INTS(1), 1, loc_vector, shape, x, &status) == -1 && status.code == STATUS_DRAW_SHAPE);
    CHECK(draw_once(1, INTS(2, 2), 2, loc_scalar, shape, x, &status) == -1);
}

/* One draw a step. Carried, the generator is the caller's or a copy made once. */
typedef struct Walk {
    Program *program;
    int32_t n, rng, path, out;
    Frame *frame;
    Counting counting;
    VmHost host;
    Status status;
} Walk;

static void start_walk(Walk *walk, bool inplace, int draw_flags, double scale)
{
    LoopMaker maker;
    int32_t inner, next, x;

    walk->program = new_program();
    walk->host = counting_host();
    walk->n = make_scalar(walk->program, ORIGIN_INPUT, I64);
    walk->rng = make_stream(walk->program, ORIGIN_INPUT);
    start_loop(&maker, walk->program, walk->n);
    walk->out = loop_carry(&maker, walk->rng, inplace, &inner);
    x = draw(maker.body, DIST_NORMAL, draw_flags, 0, inner, false, SOURCES(constant_double(maker.body, 0), constant_double(maker.body, scale)), &next);
    loop_carry_is(&maker, 0, next);
    walk->path = loop_path(&maker, walk->n, x);
    finish_loop(&maker);
    finish(walk->program, SOURCES(walk->n, walk->rng), SOURCES(walk->path, walk->out));
    walk->frame = frame_of(walk->program);
    counting_start(&walk->counting, 0);
}

static int run_walk(Walk *walk, int64_t n)
{
    frame_reset(walk->frame, &walk->host, 1 << 20);
    set_int(walk->frame, walk->n, n);
    *frame_stream(walk->frame, walk->rng) = &walk->counting.stream;
    return vm_run(walk->frame, &walk->host, &walk->status);
}

static void stop_walk(Walk *walk)
{
    frame_free(walk->frame, &walk->host);
    program_free(walk->program);
}

static void a_loop_in_place_works_on_the_generator_itself(void)
{
    Walk walk;

    start_walk(&walk, true, INSTR_INPLACE, 1);
    CHECK(run_walk(&walk, 3) == 0 && is_doubles(walk.frame, walk.path, 1, SHAPE(3), DOUBLES(1, 2, 3)));
    CHECK(walk.counting.count == 3 && *frame_stream(walk.frame, walk.out) == &walk.counting.stream);
    CHECK(frame_counters(walk.frame)->generator_copies == 0 && frame_counters(walk.frame)->scratch_copies == 0);
    CHECK(run_walk(&walk, 0) == 0 && walk.counting.count == 3);
    CHECK(run_walk(&walk, 2) == 0 && is_doubles(walk.frame, walk.path, 1, SHAPE(2), DOUBLES(4, 5)));
    stop_walk(&walk);
}

/* A vector, a scalar by the long way (poisson of a large rate) and one by the short way, on one stream in each step. */
static void draws_of_all_kinds_follow_each_other_on_one_stream(void)
{
    Program *p = new_program();
    VmHost host = counting_host();
    int32_t rng = make_stream(p, ORIGIN_INPUT), n = constant_int(p, 2), inner, next, v, k, x, vs, ks, xs;
    Counting counting;
    Status status;
    LoopMaker maker;
    Frame *frame;

    start_loop(&maker, p, n);
    (void)loop_carry(&maker, rng, true, &inner);
    v = draw(maker.body, DIST_NORMAL, INSTR_INPLACE, 1, inner, true, SOURCES(constant_ints(maker.body, 1, INTS(3)), constant_double(maker.body, 0), constant_double(maker.body, 1)), &next);
    k = draw(maker.body, DIST_POISSON, INSTR_INPLACE, 0, next, false, SOURCES(constant_double(maker.body, 100)), &next);
    x = draw(maker.body, DIST_UNIFORM, INSTR_INPLACE, 0, next, false, SOURCES(constant_double(maker.body, 1), constant_double(maker.body, 3)), &next);
    loop_carry_is(&maker, 0, next);
    vs = loop_path(&maker, n, v);
    ks = loop_path(&maker, n, k);
    xs = loop_path(&maker, n, x);
    finish_loop(&maker);
    finish(p, SOURCES(rng), SOURCES(vs, ks, xs));
    frame = frame_of(p);
    counting_start(&counting, 0);
    *frame_stream(frame, rng) = &counting.stream;
    CHECK(vm_run(frame, &host, &status) == 0 && is_doubles(frame, vs, 2, SHAPE(2, 3), DOUBLES(1, 2, 3, 6, 7, 8)));
    CHECK(is_ints(frame, ks, 1, SHAPE(2), INTS(104, 109)) && is_doubles(frame, xs, 1, SHAPE(2), DOUBLES(11, 21)) && counting.count == 10);
    frame_free(frame, &host);
    program_free(p);
}

static void a_loop_that_may_not_works_on_one_copy(void)
{
    Walk walk;

    start_walk(&walk, false, INSTR_INPLACE, 1);
    for (int i = 0; i < 2; i++) {
        CHECK(run_walk(&walk, 1000) == 0 && ((double *)(void *)frame_array(walk.frame, walk.path)->data)[999] == 1000);
        CHECK(walk.counting.count == 0 && frame_counters(walk.frame)->generator_copies == 1 && frame_counters(walk.frame)->scratch_copies == 0);
        CHECK(*(int64_t *)(*frame_stream(walk.frame, walk.out))->bitgen->state == 1000);
    }
    CHECK(run_walk(&walk, 0) == 0 && *frame_stream(walk.frame, walk.out) != &walk.counting.stream);
    CHECK(*(int64_t *)(*frame_stream(walk.frame, walk.out))->bitgen->state == 0);
    stop_walk(&walk);
}

static void a_body_that_is_not_in_place_gives_the_same_numbers(void)
{
    for (int inplace = 0; inplace < 2; inplace++) {
        Walk walk;

        start_walk(&walk, inplace, 0, 1);
        CHECK(run_walk(&walk, 4) == 0 && is_doubles(walk.frame, walk.path, 1, SHAPE(4), DOUBLES(1, 2, 3, 4)));
        CHECK(walk.counting.count == (inplace ? 4 : 0) && frame_counters(walk.frame)->scratch_copies == 4);
        CHECK((*frame_stream(walk.frame, walk.out) == &walk.counting.stream) == (inplace != 0));
        CHECK(*(int64_t *)(*frame_stream(walk.frame, walk.out))->bitgen->state == 4);
        stop_walk(&walk);
    }
}

static void a_bad_parameter_is_refused_with_the_step(void)
{
    Walk walk;

    start_walk(&walk, true, INSTR_INPLACE, -1);
    CHECK(run_walk(&walk, 3) == -1 && walk.status.code == STATUS_DOMAIN && walk.status.path[0] == 0 && strcmp(walk.status.text, "scale < 0") == 0);
    CHECK(walk.counting.count == 0);
    stop_walk(&walk);
}

static void a_generator_that_is_not_carried_gives_the_same_number_in_each_step(void)
{
    Program *p = new_program();
    VmHost host = counting_host();
    int32_t n = constant_int(p, 3), rng = make_stream(p, ORIGIN_INPUT), path;
    Counting counting;
    Status status;
    LoopMaker maker;
    Frame *frame;

    start_loop(&maker, p, n);
    path = loop_path(&maker, n, draw(maker.body, DIST_POISSON, 0, 0, loop_fixed(&maker, rng), false, SOURCES(constant_double(maker.body, 0.5)), NULL));
    finish_loop(&maker);
    finish(p, SOURCES(rng), SOURCES(path));
    frame = frame_of(p);
    counting_start(&counting, 7);
    *frame_stream(frame, rng) = &counting.stream;
    CHECK(vm_run(frame, &host, &status) == 0 && is_ints(frame, path, 1, SHAPE(3), INTS(8, 8, 8)) && counting.count == 7);
    frame_free(frame, &host);
    program_free(p);
}

/* Two carried generators; what the body gives back is chosen by `kind`. */
enum { SWAP, ONE_FOR_BOTH, SWAP_AFTER_A_DRAW };

static void run_pair(int kind, bool inplace, int64_t n, int64_t expected_a, int64_t expected_b)
{
    Program *p = new_program();
    VmHost host = counting_host();
    int32_t rng_a = make_stream(p, ORIGIN_INPUT), rng_b = make_stream(p, ORIGIN_INPUT), a, b, next, out_a, out_b, path, n_steps = constant_int(p, n);
    Counting counting_a, counting_b;
    Stream *last_a, *last_b;
    Status status;
    LoopMaker maker;
    Frame *frame;

    start_loop(&maker, p, n_steps);
    out_a = loop_carry(&maker, rng_a, inplace, &a);
    out_b = loop_carry(&maker, rng_b, inplace, &b);
    path = loop_path(&maker, n_steps, draw(maker.body, DIST_NORMAL, kind == SWAP_AFTER_A_DRAW ? 0 : INSTR_INPLACE, 0, a, false,
                                          SOURCES(constant_double(maker.body, 0), constant_double(maker.body, 1)), &next));
    loop_carry_is(&maker, 0, kind == ONE_FOR_BOTH ? next : b);
    loop_carry_is(&maker, 1, next);
    finish_loop(&maker);
    finish(p, SOURCES(rng_a, rng_b), SOURCES(path, out_a, out_b));
    frame = frame_of(p);
    for (int round = 0; round < 2; round++) {
        counting_start(&counting_a, 0);
        counting_start(&counting_b, 100);
        counting_b.stream.layout = &counting_a.layout; /* of one class */
        *frame_stream(frame, rng_a) = &counting_a.stream;
        *frame_stream(frame, rng_b) = &counting_b.stream;
        CHECK(vm_run(frame, &host, &status) == 0);
        last_a = *frame_stream(frame, out_a);
        last_b = *frame_stream(frame, out_b);
        CHECK(last_a != last_b && *(int64_t *)last_a->bitgen->state == expected_a && *(int64_t *)last_b->bitgen->state == expected_b);
        CHECK(inplace || (counting_a.count == 0 && counting_b.count == 100));
        frame_reset(frame, &host, 0);
    }
    frame_free(frame, &host);
    program_free(p);
}

static void generators_change_places_and_never_become_one(void)
{
    for (int inplace = 0; inplace < 2; inplace++) {
        run_pair(SWAP, inplace, 0, 0, 100);
        run_pair(SWAP, inplace, 1, 100, 1);
        run_pair(SWAP, inplace, 2, 1, 101);
        run_pair(SWAP, inplace, 5, 102, 3);
        run_pair(ONE_FOR_BOTH, inplace, 3, 3, 3);
        run_pair(SWAP_AFTER_A_DRAW, inplace, 4, 2, 102);
        run_pair(SWAP_AFTER_A_DRAW, inplace, 5, 102, 3);
    }
}

/* The host that draws by methods: it counts on, by tens, and copies streams that have no layout. */
static int draw_by_method(void *self, Frame *frame, const Instr *drawn, Stream *stream, Status *status)
{
    const int32_t *dst = instr_dst(frame_program(frame), drawn);
    double x = (double)(*(int64_t *)stream->bitgen->state += 10);

    (void)self;
    (void)status;
    memcpy(frame_scalar(frame, dst[1]), &x, sizeof x);
    return 0;
}

static int copy_by_host(void *self, Stream *dst, const Stream *src, Status *status)
{
    static const StreamLayout layout = {.n_bytes = sizeof(int64_t)};
    Stream known = *src;

    ++*(int *)self;
    known.layout = &layout;
    if (stream_copy(dst, &known, status) < 0) {
        return -1;
    }
    dst->layout = NULL;
    dst->by_method = true;
    return 0;
}

static void streams_by_method_are_drawn_and_copied_by_the_host(void)
{
    for (int inplace = 0; inplace < 2; inplace++) {
        int n_copies = 0;
        Walk walk;

        start_walk(&walk, inplace, INSTR_INPLACE, 1);
        walk.host.self = &n_copies;
        walk.host.draw = draw_by_method;
        walk.host.copy_stream = copy_by_host;
        walk.counting.stream.by_method = true;
        walk.counting.stream.layout = NULL;
        CHECK(run_walk(&walk, 3) == 0 && is_doubles(walk.frame, walk.path, 1, SHAPE(3), DOUBLES(10, 20, 30)));
        CHECK(n_copies == (inplace ? 0 : 1) && walk.counting.count == (inplace ? 30 : 0));
        walk.host.draw = NULL;
        CHECK(run_walk(&walk, 3) == -1 && walk.status.code == STATUS_BAD_PROGRAM);
        stop_walk(&walk);
    }
}

static int stop_at_once(void *self)
{
    ++*(int *)self;
    return 1;
}

static void long_draws_are_interrupted(void)
{
    Program *p = new_program();
    VmHost host = counting_host();
    int32_t rng = make_stream(p, ORIGIN_INPUT), next;
    int32_t r = draw(p, DIST_NORMAL, INSTR_INPLACE, 1, rng, true, SOURCES(constant_ints(p, 1, INTS(1 << 25)), constant_double(p, 0), constant_double(p, 1)), &next);
    int n_asked = 0;
    Counting counting;
    Status status;
    Frame *frame;

    finish(p, SOURCES(rng), SOURCES(r));
    frame = frame_of(p);
    host.self = &n_asked;
    host.poll = stop_at_once;
    counting_start(&counting, 0);
    *frame_stream(frame, rng) = &counting.stream;
    CHECK(vm_run(frame, &host, &status) == -1 && status.code == STATUS_INTERRUPTED && n_asked == 1);
    CHECK(counting.count < 1 << 25);
    frame_free(frame, &host);
    program_free(p);
}

static void *run_in_thread(void *argument)
{
    const Program *program = argument;
    VmHost host = counting_host();
    Frame *frame = frame_of(program);
    Counting counting;
    Status status;
    bool is_right = true;

    for (int i = 0; i < 20 && is_right; i++) {
        counting_start(&counting, 0);
        frame_reset(frame, &host, 1 << 20);
        set_int(frame, program->inputs[0], 500);
        *frame_stream(frame, program->inputs[1]) = &counting.stream;
        is_right = vm_run(frame, &host, &status) == 0 && counting.count == 500;
        is_right = is_right && ((double *)(void *)frame_array(frame, program->outputs[0])->data)[499] == 500;
    }
    frame_free(frame, &host);
    return is_right ? NULL : argument;
}

static void two_threads_run_one_program_on_two_frames(void)
{
    Walk walk;
    pthread_t threads[2];

    start_walk(&walk, true, INSTR_INPLACE, 1);
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, run_in_thread, walk.program) == 0);
    }
    for (int i = 0; i < 2; i++) {
        void *failed = &walk;
        CHECK(pthread_join(threads[i], &failed) == 0 && failed == NULL);
    }
    stop_walk(&walk);
}

const Test tests_vm_draw[] = {
    TEST(a_draw_in_place_moves_the_generator_and_another_does_not),
    TEST(the_shape_of_draws_is_the_size_or_that_of_the_parameters),
    TEST(a_loop_in_place_works_on_the_generator_itself),
    TEST(draws_of_all_kinds_follow_each_other_on_one_stream),
    TEST(a_loop_that_may_not_works_on_one_copy),
    TEST(a_body_that_is_not_in_place_gives_the_same_numbers),
    TEST(a_bad_parameter_is_refused_with_the_step),
    TEST(a_generator_that_is_not_carried_gives_the_same_number_in_each_step),
    TEST(generators_change_places_and_never_become_one),
    TEST(streams_by_method_are_drawn_and_copied_by_the_host),
    TEST(long_draws_are_interrupted),
    TEST(two_threads_run_one_program_on_two_frames),
    {0, 0},
};
