/* Made-up programs (garden.c): whatever the checker accepts runs without harm, and storage that is shared, frames that are used
 * again and steps that run in blocks change nothing.
 *
 * A program is run on inputs of other shapes each time, in a frame that is used again. Under the sanitizers every read and write
 * beyond what belongs to a value is caught, since inputs are lent in blocks of their exact size. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "garden.h"
#include "rig.h"
#include "test.h"
#include "vm/vm.h"

/* ---- running ---- */

/* Memory lent for the inputs of one call. */
typedef struct Lent {
    void *blocks[N_INPUTS];
    int64_t lengths[N_INPUTS][2];
} Lent;

/* The inputs of a call, made from a number: three in four are plain, so that most programs succeed on them. */
typedef struct Inputs {
    uint64_t seed;
    bool is_plain;
    int64_t length; /* of all axes of plain ones */
} Inputs;

static Inputs make_inputs(uint64_t seed)
{
    static const int64_t lengths[] = {2, 4, 4, 5, 20, 33}; /* the last are long enough for blocks of steps */
    Inputs inputs = {.seed = seed, .is_plain = !one_in(&seed, 4)};

    inputs.length = lengths[next_number(&seed, sizeof lengths / sizeof *lengths)];
    return inputs;
}

static double pick_double(Inputs *inputs)
{
    static const double wild[] = {0, -0.0, 0.5, 1, 2, 3, -1, 0.25, NAN, INFINITY}, plain[] = {0.5, 1, 0.75, 0.25};

    return inputs->is_plain ? plain[next_number(&inputs->seed, sizeof plain / sizeof *plain)]
                            : wild[next_number(&inputs->seed, sizeof wild / sizeof *wild)];
}

/* Plain integers are indices of every axis, but for the first inputs, which are numbers of steps. */
static int64_t pick_integer(Inputs *inputs, int32_t input)
{
    if (!inputs->is_plain) {
        return (int64_t)next_number(&inputs->seed, 6) - 1;
    }
    return input == STEPS ? inputs->length - one_in(&inputs->seed, 4) : input == SMALL ? 1 : (int64_t)next_number(&inputs->seed, 2);
}

static void fill_elements(Inputs *inputs, int32_t input, char *data, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t integer = pick_integer(inputs, input);
        double real = pick_double(inputs);

        switch (garden_inputs[input].dtype) {
        case DTYPE_BOOL:
            data[i] = (char)(integer & 1);
            break;
        case DTYPE_INT64:
            memcpy(data + 8 * i, &integer, 8);
            break;
        case DTYPE_COMPLEX128:
            memcpy(data + 16 * i + 8, &real, 8);
            memcpy(data + 16 * i, &real, 8);
            break;
        default:
            memcpy(data + 8 * i, &real, 8);
            break;
        }
    }
}

static void lend_inputs(Frame *frame, Rig *rig, Inputs inputs, Lent *lent)
{
    memset(lent, 0, sizeof *lent);
    for (int32_t i = 0; i < N_INPUTS; i++) {
        int64_t n = 1, item = dtype_bytes(garden_inputs[i].dtype);
        Array *array;

        if (garden_inputs[i].value_class == VALUE_STREAM) {
            *frame_stream(frame, i) = &rig->stream;
            continue;
        }
        for (int axis = 0; axis < garden_inputs[i].ndim; axis++) {
            lent->lengths[i][axis] = inputs.is_plain ? inputs.length : (int64_t)next_number(&inputs.seed, 6);
            n *= lent->lengths[i][axis];
        }
        lent->blocks[i] = mem_alloc((size_t)(n * item));
        fill_elements(&inputs, i, lent->blocks[i], n);
        if (garden_inputs[i].ndim == 0) {
            memcpy(frame_scalar(frame, i), lent->blocks[i], (size_t)item);
            continue;
        }
        array = frame_array(frame, i);
        array->data = lent->blocks[i];
        memcpy(array->shape, lent->lengths[i], sizeof lent->lengths[i]);
        array_set_contiguous_strides(array);
    }
}

static uint64_t mix_bytes(uint64_t hash, const void *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ ((const unsigned char *)data)[i]) * 0x100000001B3u;
    }
    return hash;
}

/* Elements by value: all NaN are alike. */
static uint64_t mix_array(uint64_t hash, const Array *array)
{
    Array copy = *array;
    int64_t n = array_size(array), n_parts = n * (dtype_kind(array->dtype) == 'c' ? 2 : 1);
    size_t n_bytes = (size_t)(n * dtype_bytes(array->dtype));
    bool is_double = array->dtype == DTYPE_FLOAT64 || array->dtype == DTYPE_COMPLEX128;
    bool is_float = array->dtype == DTYPE_FLOAT32 || array->dtype == DTYPE_COMPLEX64;

    hash = mix_bytes(hash, array->shape, (size_t)array->ndim * sizeof *array->shape);
    copy.data = mem_alloc(n_bytes);
    array_set_contiguous_strides(&copy);
    (void)array_copy(&copy, array);
    for (int64_t i = 0; i < n_parts && (is_double || is_float); i++) {
        if (is_double && isnan(((double *)(void *)copy.data)[i])) {
            ((double *)(void *)copy.data)[i] = NAN;
        } else if (is_float && isnan(((float *)(void *)copy.data)[i])) {
            ((float *)(void *)copy.data)[i] = NAN;
        }
    }
    hash = mix_bytes(hash, copy.data, n_bytes);
    mem_free(copy.data);
    return hash;
}

static int stop_sometimes(void *self) { return ++*(int *)self > 5; }

/* How a call is made. */
typedef struct Manner {
    int64_t k;           /* the k-th allocation fails; 0: none */
    int64_t block_steps; /* as of VmHost */
    bool may_stop;       /* it may be interrupted, by the clock */
    Counters *counters;  /* the frame's are added to these, unless it is NULL */
} Manner;

static const Manner in_blocks = {.block_steps = DEFAULT_BLOCK_STEPS}, step_by_step = {.block_steps = 0};

static void add_counters(Counters *sum, const Counters *counters)
{
    sum->steps += counters->steps;
    sum->block_steps += counters->block_steps;
    sum->tile_steps += counters->tile_steps;
}

static uint64_t mix_outputs(Frame *frame, const Rig *rig)
{
    const Program *program = frame_program(frame);
    uint64_t hash = mix_bytes(1, &rig->mix.own, sizeof rig->mix.own);

    for (int32_t i = 0; i < program->n_outputs; i++) {
        hash = mix_array(hash, frame_array(frame, program->outputs[i]));
    }
    return hash;
}

/* One call: what it gave, as a number, which is below N_STATUS_CODES if that was a failure. */
static uint64_t run_once(Frame *frame, Inputs inputs, Manner manner)
{
    Rig rig;
    VmHost host = {.block_steps = manner.block_steps};
    Lent lent;
    Status status;
    uint64_t found;
    int n_polls = 0, result;

    rig_set_up(&rig);
    host.dists = rig.dists;
    host.poll = manner.may_stop ? stop_sometimes : NULL;
    host.self = &n_polls;
    status_clear(&status);
    lend_inputs(frame, &rig, inputs, &lent);
    if (manner.k > 0) {
        mem_fault_arm(manner.k, 1);
    }
    result = vm_run(frame, &host, &status);
    if (manner.k > 0) {
        (void)mem_fault_disarm();
    }
    if (result == 0) {
        found = mix_outputs(frame, &rig);
    } else {
        CHECK(status.code != STATUS_OK && status.code != STATUS_PYTHON);
        found = (uint64_t)status.code;
    }
    if (manner.counters != NULL) {
        add_counters(manner.counters, frame_counters(frame));
    }
    frame_reset(frame, &host, one_in(&inputs.seed, 2) ? 0 : 1 << 20);
    for (int i = 0; i < N_INPUTS; i++) {
        mem_free(lent.blocks[i]);
    }
    return found;
}

static Frame *frame_of(const Program *program)
{
    Status status;
    Frame *frame = frame_new(program, &status);

    CHECK(frame != NULL);
    return frame;
}

/* What the garden tries: whether a program succeeds on plain inputs. */
static bool succeeds(const Program *program)
{
    Frame *frame = frame_of(program);
    bool result = true;

    for (uint64_t i = 0; result && i < 3; i++) {
        Inputs inputs = {.seed = i, .is_plain = true, .length = 4 + (int64_t)i};
        result = run_once(frame, inputs, step_by_step) >= N_STATUS_CODES;
    }
    frame_free(frame, &(VmHost){0});
    return result;
}

/* Gives every value storage of its own. */
static void unshare(Program *program)
{
    program->n_storage = 0;
    for (int32_t i = 0; i < program->n_values; i++) {
        if (program->values[i].storage >= 0) {
            program->values[i].storage = program->n_storage++;
        }
    }
    for (int32_t i = 0; i < program->n_loops; i++) {
        unshare(program->loops[i].body);
    }
}

/* PYSCAN_FUZZ_PROGRAMS asks for more, PYSCAN_FUZZ_SEED for others. */
static int read_number(const char *name, int otherwise)
{
    const char *text = getenv(name);

    return text != NULL ? atoi(text) : otherwise;
}

static void accepted_programs_run_without_harm_on_inputs_of_any_shape(void)
{
    uint64_t seed = (uint64_t)read_number("PYSCAN_FUZZ_SEED", 1);
    Manner manner = {.block_steps = DEFAULT_BLOCK_STEPS, .may_stop = true};

    for (int i = read_number("PYSCAN_FUZZ_PROGRAMS", 60); i > 0; i--) {
        Program *program = garden_grow(&seed, true, succeeds);
        Frame *frame = frame_of(program);

        for (int j = 0; j < 12; j++) {
            (void)run_once(frame, make_inputs(next_number(&seed, 1u << 30)), manner);
        }
        frame_free(frame, &(VmHost){0});
        program_free(program);
    }
}

enum { N_CALLS = 8 };

/* Of a program in a frame that is used again: what the calls with these inputs give. */
static int find_results(const Program *program, const uint64_t *seeds, uint64_t *found, Manner manner)
{
    Frame *frame = frame_of(program);
    int n_failed = 0;

    for (int j = 0; j < N_CALLS; j++) {
        found[j] = run_once(frame, make_inputs(seeds[j]), manner);
        n_failed += found[j] < N_STATUS_CODES;
    }
    frame_free(frame, &(VmHost){0});
    return n_failed;
}

static void storage_frames_and_blocks_change_no_result(void)
{
    uint64_t seed = (uint64_t)read_number("PYSCAN_FUZZ_SEED", 1) + 1000;
    int n_failed = 0, n_programs = read_number("PYSCAN_FUZZ_PROGRAMS", 60);
    Counters counters = {0};
    Manner counted = {.block_steps = DEFAULT_BLOCK_STEPS, .counters = &counters};

    for (int i = 0; i < n_programs; i++) {
        Program *program = garden_grow(&seed, false, succeeds);
        uint64_t seeds[N_CALLS], found[N_CALLS];
        Status status;

        for (int j = 0; j < N_CALLS; j++) {
            seeds[j] = next_number(&seed, 1u << 30);
        }
        n_failed += find_results(program, seeds, found, counted);
        unshare(program);
        CHECK(program_check(program, &status) == 0);
        for (int j = N_CALLS - 1; j >= 0; j--) {
            Frame *frame = frame_of(program);
            if (run_once(frame, make_inputs(seeds[j]), j % 2 == 0 ? in_blocks : step_by_step) != found[j]) {
                char *listing = program_listing(program);
                check_that(false, listing, __FILE__, __LINE__);
                mem_free(listing);
            }
            frame_free(frame, &(VmHost){0});
        }
        program_free(program);
    }
    /* Most calls succeed, and the loops run in all ways (if there are enough), or little was compared. */
    CHECK(n_failed < n_programs * N_CALLS / 2);
    CHECK(n_programs < 60 || (counters.block_steps > 0 && counters.tile_steps > 0 && counters.steps > counters.block_steps + counters.tile_steps));
}

/* Calls in a thread of its own, and what they give. */
typedef struct Worker {
    pthread_t thread;
    const Program *program;
    const uint64_t *seeds;
    uint64_t found[N_CALLS];
} Worker;

static void *work(void *self)
{
    Worker *worker = self;

    (void)find_results(worker->program, worker->seeds, worker->found, in_blocks);
    return NULL;
}

static void threads_run_one_program_side_by_side(void)
{
    uint64_t seed = (uint64_t)read_number("PYSCAN_FUZZ_SEED", 1) + 3000;

    for (int i = read_number("PYSCAN_FUZZ_PROGRAMS", 60) / 2; i > 0; i--) {
        Program *program = garden_grow(&seed, false, succeeds);
        uint64_t seeds[N_CALLS], found[N_CALLS];
        Worker workers[2];

        for (int j = 0; j < N_CALLS; j++) {
            seeds[j] = next_number(&seed, 1u << 30);
        }
        for (int j = 0; j < 2; j++) {
            workers[j].program = program;
            workers[j].seeds = seeds;
            CHECK(pthread_create(&workers[j].thread, NULL, work, &workers[j]) == 0);
        }
        (void)find_results(program, seeds, found, in_blocks);
        for (int j = 0; j < 2; j++) {
            CHECK(pthread_join(workers[j].thread, NULL) == 0);
            CHECK(memcmp(workers[j].found, found, sizeof found) == 0);
        }
        program_free(program);
    }
}

static void a_failed_allocation_harms_neither_the_run_nor_the_next(void)
{
    uint64_t seed = (uint64_t)read_number("PYSCAN_FUZZ_SEED", 1) + 2000;

    for (int i = read_number("PYSCAN_FUZZ_PROGRAMS", 60); i > 0; i--) {
        Program *program = garden_grow(&seed, false, succeeds);
        Frame *frame = frame_of(program);
        Inputs inputs = make_inputs(next_number(&seed, 1u << 30));
        uint64_t expected = run_once(frame, inputs, in_blocks);

        for (int64_t k = 1; k < 12; k++) {
            Status status;
            Frame *other;
            uint64_t found;

            found = run_once(frame, inputs, (Manner){.k = k, .block_steps = DEFAULT_BLOCK_STEPS});
            CHECK(found == expected || found == STATUS_NO_MEMORY); /* some memory only serves speed */
            CHECK(run_once(frame, inputs, in_blocks) == expected);
            mem_fault_arm(k, 1);
            other = frame_new(program, &status);
            CHECK((mem_fault_disarm() == 0) == (other != NULL) && (other != NULL || status.code == STATUS_NO_MEMORY));
            frame_free(other, &(VmHost){0});
        }
        frame_free(frame, &(VmHost){0});
        program_free(program);
    }
}

const Test tests_fuzz[] = {
    TEST(a_failed_allocation_harms_neither_the_run_nor_the_next),
    TEST(accepted_programs_run_without_harm_on_inputs_of_any_shape),
    TEST(storage_frames_and_blocks_change_no_result),
    TEST(threads_run_one_program_side_by_side),
    {NULL, NULL},
};
