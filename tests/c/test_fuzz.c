/* Made-up programs: whatever the checker accepts runs without harm, and storage that is shared changes nothing.
 *
 * A program grows by random instructions; those that the checker refuses are taken back. What stays is run on random
 * inputs, of other shapes each time, in a frame that is used again. Under the sanitizers every read and write beyond what
 * belongs to a value is caught, since inputs are lent in blocks of their exact size. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ops/ops.h"
#include "rig.h"
#include "sample.h"
#include "test.h"
#include "vm/vm.h"

static uint64_t next_number(uint64_t *seed, uint64_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % n;
}

static bool one_in(uint64_t *seed, uint64_t n) { return next_number(seed, n) == 0; }

/* ---- growing ---- */

/* Where instructions are added: the program itself or the body of its loop. `whole` is what the checker sees. */
typedef struct Garden {
    Program *whole, *program;
    uint64_t *seed;
    bool may_be_empty;  /* instructions whose values are unspecified are wanted too */
    int32_t *carried;   /* in a body: the stream that is handed on, which follows a draw in place on it; else NULL */
} Garden;

/* Plans and checks the whole; what a refused plan left behind is planned anew with the next one. */
static bool is_accepted(const Garden *garden)
{
    Status status;

    status_clear(&status);
    return program_plan_storage(garden->whole, &status) == 0 && program_check(garden->whole, &status) == 0;
}

static int32_t pick_value(const Garden *garden, bool is_stream)
{
    int32_t number = 0;

    for (int tries = 0; tries < 20; tries++) {
        number = (int32_t)next_number(garden->seed, (uint64_t)garden->program->n_values);
        if ((garden->program->values[number].value_class == VALUE_STREAM) == is_stream) {
            break;
        }
    }
    return number;
}

static const DType dtypes[] = {DTYPE_FLOAT64, DTYPE_FLOAT64, DTYPE_INT64, DTYPE_BOOL, DTYPE_FLOAT32, DTYPE_COMPLEX128, DTYPE_INT8};

static DType pick_dtype(const Garden *garden, int32_t source)
{
    const Value *value = &garden->program->values[source];

    return value->value_class > VALUE_ARRAY || one_in(garden->seed, 4) ? dtypes[next_number(garden->seed, sizeof dtypes / sizeof *dtypes)] : (DType)value->dtype;
}

static int64_t pick_aux(const Garden *garden, Opcode opcode)
{
    return opcode == I_SLICE || opcode == I_SET_SLICE ? (int64_t)next_number(garden->seed, 16) : (int64_t)next_number(garden->seed, 4) - 1;
}

static int32_t pick_fn(const Garden *garden, Opcode opcode)
{
    return (int32_t)next_number(garden->seed, opcode == I_MAP ? N_SCALARS : opcode == I_REDUCE ? N_REDUCES : 2);
}

/* Some number or array of that type, where one is found. */
static int32_t pick_of(const Garden *garden, DType dtype)
{
    int32_t number = 0;

    for (int tries = 0; tries < 20; tries++) {
        number = pick_value(garden, false);
        if (garden->program->values[number].dtype == dtype) {
            break;
        }
    }
    return number;
}

/* A draw whose parameters have the right types as far as such values are found. */
static SampleInstr make_up_draw(const Garden *garden)
{
    int dist = (int)next_number(garden->seed, N_DISTS);
    SampleInstr instr = {.opcode = I_DRAW, .fn = dist, .n_dst = 2, .n_src = 1, .n_aux = 1, .aux = {one_in(garden->seed, 4)}};

    instr.flags = one_in(garden->seed, 2) ? INSTR_INPLACE : 0;
    instr.src[0] = pick_value(garden, true);
    if (instr.aux[0] != 0) {
        instr.src[instr.n_src++] = pick_of(garden, DTYPE_INT64);
    }
    for (int i = 0; i < dist_n_params(dist); i++) {
        instr.src[instr.n_src++] = pick_of(garden, dist_param_dtype(dist, i));
    }
    instr.dtype = dist_result_kind(dist) == 'l' ? DTYPE_INT64 : DTYPE_FLOAT64;
    return instr;
}

/* A random instruction of random operands, with destinations of its own. */
static SampleInstr make_up(const Garden *garden, Opcode opcode)
{
    static const int8_t row_n_src[N_OPCODES] = {
#define OPCODE(NAME, text, n_dst, n_src, aux, effect) n_src,
#include "program/opcodes.def"
#undef OPCODE
    };
    SampleInstr instr = {.opcode = opcode, .fn = pick_fn(garden, opcode)};

    instr.n_dst = 1;
    instr.n_src = row_n_src[opcode] >= 0 ? row_n_src[opcode] : (int32_t)next_number(garden->seed, 5);
    instr.n_aux = (int32_t)next_number(garden->seed, 4);
    instr.flags = (uint8_t)((one_in(garden->seed, 3) ? INSTR_INPLACE : 0) | (one_in(garden->seed, 6) ? INSTR_INVARIANT : 0));
    for (int32_t i = 0; i < instr.n_src; i++) {
        instr.src[i] = pick_value(garden, opcode == I_ALIAS && one_in(garden->seed, 2));
    }
    for (int32_t i = 0; i < instr.n_aux; i++) {
        instr.aux[i] = pick_aux(garden, opcode);
    }
    instr.dtype = instr.n_src > 0 ? pick_dtype(garden, instr.src[instr.n_src - 1]) : DTYPE_FLOAT64;
    return instr;
}

/* Tries one instruction; whether it stayed. */
static bool try_instr(const Garden *garden)
{
    Program *program = garden->program;
    int32_t n_values = program->n_values, n_operands = program->n_operands, n_aux = program->n_aux, carried = -1;
    Opcode opcode = (Opcode)next_number(garden->seed, N_OPCODES);
    SampleInstr instr;
    Status status;

    if (opcode == I_LOOP || opcode == I_CALL || opcode == I_APPLY || (opcode == I_EMPTY && !garden->may_be_empty)) {
        return false;
    }
    if (one_in(garden->seed, 4)) {
        opcode = I_DRAW;
    }
    instr = opcode == I_DRAW ? make_up_draw(garden) : make_up(garden, opcode);
    for (int32_t i = 0; i < instr.n_dst; i++) {
        bool is_stream = i == 0 && (opcode == I_DRAW || (opcode == I_ALIAS && program->values[instr.src[0]].value_class == VALUE_STREAM));
        DType dtype = opcode == I_DRAW ? instr.dtype : instr.n_src > 0 ? pick_dtype(garden, instr.src[0]) : pick_dtype(garden, 0);

        instr.dst[i] = is_stream ? sample_value(program, VALUE_STREAM, ORIGIN_COMPUTED, DTYPE_BOOL, 0, &status)
                                 : sample_computed(program, dtype, (int)next_number(garden->seed, 4), &status);
    }
    (void)sample_instr(program, instr, &status);
    if (garden->carried != NULL && opcode == I_DRAW && instr.flags != 0 && instr.src[0] == *garden->carried) {
        carried = *garden->carried;
        *garden->carried = instr.dst[0];
    }
    if (is_accepted(garden)) {
        return true;
    }
    if (carried >= 0) {
        *garden->carried = carried;
    }
    program->n_instrs--;
    program->n_values = n_values;
    program->n_operands = n_operands;
    program->n_aux = n_aux;
    return false;
}

static void grow(const Garden *garden, int n_wanted)
{
    for (int tries = 0, n = 0; tries < 1500 && n < n_wanted; tries++) {
        n += try_instr(garden) ? 1 : 0;
    }
}

/* ---- the loop ---- */

enum { N_INPUTS = 10 };
enum { STEPS, SMALL, REAL, TRUTH, VECTOR, MATRIX, INTEGERS, TRUTHS, COMPLEXES, RNG };

static const struct { ValueClass value_class; DType dtype; int ndim; } inputs[N_INPUTS] = {
    {VALUE_SCALAR, DTYPE_INT64, 0},  {VALUE_SCALAR, DTYPE_INT64, 0}, {VALUE_SCALAR, DTYPE_FLOAT64, 0}, {VALUE_SCALAR, DTYPE_BOOL, 0},
    {VALUE_ARRAY, DTYPE_FLOAT64, 1}, {VALUE_ARRAY, DTYPE_FLOAT64, 2}, {VALUE_ARRAY, DTYPE_INT64, 1},   {VALUE_ARRAY, DTYPE_BOOL, 1},
    {VALUE_ARRAY, DTYPE_COMPLEX128, 1}, {VALUE_STREAM, DTYPE_BOOL, 0},
};

/* The body's first values. */
enum { B_ROW, B_ELEMENT, B_TAP, B_TAP2, B_STATE, B_RNG, B_REAL, B_SMALL, B_TRUTH, B_VECTOR, B_INTEGERS };

static Program *new_body(Status *status)
{
    Program *body = program_new(status);

    sample_value(body, VALUE_ARRAY, ORIGIN_ROW, DTYPE_FLOAT64, 1, status);
    sample_value(body, VALUE_SCALAR, ORIGIN_ROW, DTYPE_INT64, 0, status);
    sample_value(body, VALUE_SCALAR, ORIGIN_ROW, DTYPE_FLOAT64, 0, status);
    sample_value(body, VALUE_SCALAR, ORIGIN_ROW, DTYPE_FLOAT64, 0, status);
    sample_value(body, VALUE_ARRAY, ORIGIN_ROW, DTYPE_FLOAT64, 1, status);
    sample_value(body, VALUE_STREAM, ORIGIN_INPUT, DTYPE_BOOL, 0, status);
    sample_value(body, VALUE_SCALAR, ORIGIN_INPUT, DTYPE_FLOAT64, 0, status);
    sample_value(body, VALUE_SCALAR, ORIGIN_INPUT, DTYPE_INT64, 0, status);
    sample_value(body, VALUE_SCALAR, ORIGIN_INPUT, DTYPE_BOOL, 0, status);
    sample_value(body, VALUE_ARRAY, ORIGIN_INPUT, DTYPE_FLOAT64, 1, status);
    sample_value(body, VALUE_ARRAY, ORIGIN_INPUT, DTYPE_INT64, 1, status);
    sample_double(body, 0.5, status);
    sample_integer(body, 1, status);
    return body;
}

/* Points one of the body's results at another of its values, where the checker lets it. */
static void try_result(const Garden *garden, int32_t *inner_out, bool is_stream)
{
    int32_t before = *inner_out;

    for (int tries = 0; tries < 10; tries++) {
        *inner_out = pick_value(garden, is_stream);
        if (is_accepted(garden)) {
            return;
        }
    }
    *inner_out = before;
}

static void try_until(const Garden *garden, Loop *loop)
{
    for (int tries = 0; tries < 10 && loop->until < 0; tries++) {
        loop->until = pick_value(garden, false);
        if (!is_accepted(garden)) {
            loop->until = -1;
        }
    }
}

static void try_flag(const Garden *garden, bool *flag)
{
    *flag = one_in(garden->seed, 2);
    if (!is_accepted(garden)) {
        *flag = false;
    }
}

static void add_loop(const Garden *garden, Status *status)
{
    Program *program = garden->whole;
    int32_t states[2], paths[2], rng;
    LoopSequence sequences[2] = {{MATRIX, B_ROW}, {INTEGERS, B_ELEMENT}};
    LoopTap taps[3] = {{-1, B_TAP}, {-2, B_TAP2}, {-1, B_STATE}};
    LoopFixed fixed[5] = {{REAL, B_REAL}, {SMALL, B_SMALL}, {TRUTH, B_TRUTH}, {VECTOR, B_VECTOR}, {INTEGERS, B_INTEGERS}};
    Garden inner = *garden;
    Loop *loop;

    states[0] = sample_computed(program, DTYPE_FLOAT64, 1, status);
    states[1] = sample_computed(program, DTYPE_FLOAT64, 2, status);
    paths[0] = sample_computed(program, DTYPE_FLOAT64, 1, status);
    paths[1] = sample_computed(program, DTYPE_FLOAT64, 2, status);
    rng = sample_value(program, VALUE_STREAM, ORIGIN_COMPUTED, DTYPE_BOOL, 0, status);
    {
        LoopState s[2] = {{.outer_in = VECTOR, .outer_out = states[0], .inner_out = B_TAP, .first_tap = 0, .n_taps = 2, .past = 2},
                          {.outer_in = MATRIX, .outer_out = states[1], .inner_out = B_STATE, .first_tap = 2, .n_taps = 1, .past = 1}};
        LoopPath p[2] = {{one_in(garden->seed, 2) ? STEPS : SMALL, paths[0], B_TAP2}, {STEPS, paths[1], B_ROW}};
        LoopCarry carry = {.outer_in = RNG, .outer_out = rng, .inner_in = B_RNG, .inner_out = B_RNG};
        Loop made = {.body = new_body(status), .n_steps = STEPS, .until = -1, .n_sequences = 2, .n_states = 2, .n_taps = 3, .n_paths = 2,
                     .n_carries = 1, .n_fixed = 5, .sequences = sequences, .states = s, .taps = taps, .paths = p, .carries = &carry, .fixed = fixed};

        (void)program_add_loop(program, &made, status);
    }
    (void)sample_instr(program, (SampleInstr){.opcode = I_LOOP, .n_aux = 1, .aux = {0}}, status);
    loop = &program->loops[0];
    inner.program = loop->body;
    inner.carried = &loop->carries[0].inner_out;
    CHECK(is_accepted(&inner));
    grow(&inner, 1 + (int)next_number(garden->seed, 8));
    for (int i = 0; i < 2; i++) {
        try_result(&inner, &loop->states[i].inner_out, false);
        try_result(&inner, &loop->paths[i].inner_out, false);
        try_flag(garden, &loop->states[i].inplace);
    }
    try_result(&inner, &loop->carries[0].inner_out, true);
    try_flag(garden, &loop->carries[0].inplace);
    if (one_in(garden->seed, 3)) {
        try_until(&inner, loop);
    }
}

/* Owned: an accepted program. */
static Program *new_program(uint64_t *seed, bool may_be_empty)
{
    Status status;
    Program *program = program_new(&status);
    Garden garden = {.whole = program, .program = program, .seed = seed, .may_be_empty = may_be_empty};
    int32_t numbers[N_INPUTS], outputs[6], n_outputs = 0;

    for (int32_t i = 0; i < N_INPUTS; i++) {
        numbers[i] = sample_value(program, inputs[i].value_class, ORIGIN_INPUT, inputs[i].dtype, inputs[i].ndim, &status);
    }
    sample_integer(program, -1, &status);
    sample_integer(program, 2, &status);
    sample_double(program, 0.25, &status);
    (void)program_set_inputs(program, N_INPUTS, numbers, &status);
    if (!one_in(seed, 3)) {
        add_loop(&garden, &status);
    }
    grow(&garden, 2 + (int)next_number(seed, 8));
    for (int tries = 0; tries < 12 && n_outputs < 6; tries++) {
        outputs[n_outputs] = pick_value(&garden, false);
        (void)program_set_outputs(program, n_outputs + 1, outputs, &status);
        n_outputs += is_accepted(&garden) ? 1 : 0;
    }
    (void)program_set_outputs(program, n_outputs, outputs, &status);
    CHECK(is_accepted(&garden));
    return program;
}

/* ---- running ---- */

/* Memory lent for the inputs of one call. */
typedef struct Lent {
    void *blocks[N_INPUTS];
    int64_t lengths[N_INPUTS][2];
    uint64_t seed;
} Lent;

static double pick_double(uint64_t *seed)
{
    static const double doubles[] = {0, -0.0, 0.5, 1, 2, 3, -1, 0.25, NAN, INFINITY};

    return doubles[next_number(seed, sizeof doubles / sizeof *doubles)];
}

static void fill_elements(char *data, DType dtype, int64_t n, uint64_t *seed)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t integer = (int64_t)next_number(seed, 6) - 1;
        double real = pick_double(seed);

        switch (dtype) {
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

static void lend_inputs(Frame *frame, Rig *rig, Lent *lent)
{
    uint64_t seed = lent->seed;

    for (int32_t i = 0; i < N_INPUTS; i++) {
        int64_t n = 1, item = dtype_bytes(inputs[i].dtype);
        Array *array;

        if (inputs[i].value_class == VALUE_STREAM) {
            *frame_stream(frame, i) = &rig->stream;
            continue;
        }
        for (int axis = 0; axis < inputs[i].ndim; axis++) {
            lent->lengths[i][axis] = (int64_t)next_number(&seed, 6);
            n *= lent->lengths[i][axis];
        }
        lent->blocks[i] = mem_alloc((size_t)(n * item));
        fill_elements(lent->blocks[i], inputs[i].dtype, n, &seed);
        if (inputs[i].ndim == 0) {
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
    int64_t n = array_size(array);
    size_t n_bytes = (size_t)(n * dtype_bytes(array->dtype));

    hash = mix_bytes(hash, array->shape, (size_t)array->ndim * sizeof *array->shape);
    copy.data = mem_alloc(n_bytes);
    array_set_contiguous_strides(&copy);
    (void)array_copy(&copy, array);
    for (int64_t i = 0; i < n && (array->dtype == DTYPE_FLOAT64 || array->dtype == DTYPE_COMPLEX128); i++) {
        double *x = (double *)(void *)copy.data + i;
        *x = isnan(*x) ? NAN : *x;
    }
    hash = mix_bytes(hash, copy.data, array->dtype == DTYPE_FLOAT32 ? 0 : n_bytes);
    mem_free(copy.data);
    return hash;
}

static int stop_sometimes(void *self) { return ++*(int *)self > 5; }

/* One call, of which the k-th allocation fails if k is not 0: what it gave, as a number. */
static uint64_t run_once(Frame *frame, uint64_t input_seed, int64_t k)
{
    Rig rig;
    VmHost host = {0};
    Lent lent = {.seed = input_seed};
    Status status;
    uint64_t hash = 1;
    int64_t n_faults;
    int n_polls = 0, result;

    rig_set_up(&rig);
    host.dists = rig.dists;
    host.poll = stop_sometimes;
    host.self = &n_polls;
    status_clear(&status);
    lend_inputs(frame, &rig, &lent);
    if (k > 0) {
        mem_fault_arm(k, 1);
    }
    result = vm_run(frame, &host, &status);
    n_faults = mem_fault_disarm();
    /* Where invariant instructions fail, step 0 runs whole, and an error before theirs is the one reported. */
    CHECK(n_faults == 0 || result < 0);
    if (result == 0) {
        const Program *program = frame_program(frame);

        for (int32_t i = 0; i < program->n_outputs; i++) {
            hash = mix_array(hash, frame_array(frame, program->outputs[i]));
        }
        hash = mix_bytes(hash, &rig.mix.own, sizeof rig.mix.own);
    } else {
        CHECK(status.code != STATUS_OK && status.code != STATUS_PYTHON);
        hash = (uint64_t)status.code;
    }
    frame_reset(frame, &host, one_in(&input_seed, 2) ? 0 : 1 << 20);
    for (int i = 0; i < N_INPUTS; i++) {
        mem_free(lent.blocks[i]);
    }
    return hash;
}

static Frame *frame_of(const Program *program)
{
    Status status;
    Frame *frame = frame_new(program, &status);

    CHECK(frame != NULL);
    return frame;
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

    for (int i = read_number("PYSCAN_FUZZ_PROGRAMS", 60); i > 0; i--) {
        Program *program = new_program(&seed, true);
        Frame *frame = frame_of(program);

        for (int j = 0; j < 12; j++) {
            (void)run_once(frame, next_number(&seed, 1u << 30), 0);
        }
        frame_free(frame, &(VmHost){0});
        program_free(program);
    }
}

static void shared_storage_and_used_frames_change_no_result(void)
{
    uint64_t seed = (uint64_t)read_number("PYSCAN_FUZZ_SEED", 1) + 1000;
    int n_runs = 0, n_failed = 0, n_programs = (int)read_number("PYSCAN_FUZZ_PROGRAMS", 60);

    /* Most made-up programs fail in a call, which is compared too; a few more are made where all of them do. */
    for (int i = 0; i < n_programs || (i < 10 * n_programs && n_failed == n_runs); i++) {
        Program *program = new_program(&seed, false);
        Frame *frame = frame_of(program);
        uint64_t seeds[8], found[8];
        Status status;

        for (int j = 0; j < 8; j++) {
            seeds[j] = next_number(&seed, 1u << 30);
            found[j] = run_once(frame, seeds[j], 0);
            n_failed += found[j] < N_STATUS_CODES;
            n_runs++;
        }
        frame_free(frame, &(VmHost){0});
        unshare(program);
        CHECK(program_check(program, &status) == 0);
        for (int j = 7; j >= 0; j--) {
            frame = frame_of(program);
            if (run_once(frame, seeds[j], 0) != found[j]) {
                char *listing = program_listing(program);
                check_that(false, listing, __FILE__, __LINE__);
                mem_free(listing);
            }
            frame_free(frame, &(VmHost){0});
        }
        program_free(program);
    }
    CHECK(n_failed < n_runs); /* some calls succeed, or nothing was compared */
}

static void a_failed_allocation_harms_neither_the_run_nor_the_next(void)
{
    uint64_t seed = (uint64_t)read_number("PYSCAN_FUZZ_SEED", 1) + 2000;

    for (int i = read_number("PYSCAN_FUZZ_PROGRAMS", 60); i > 0; i--) {
        Program *program = new_program(&seed, false);
        Frame *frame = frame_of(program);
        uint64_t input_seed = next_number(&seed, 1u << 30), expected = run_once(frame, input_seed, 0);

        for (int64_t k = 1; k < 12; k++) {
            Status status;
            Frame *other;

            (void)run_once(frame, input_seed, k);
            CHECK(run_once(frame, input_seed, 0) == expected);
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
    TEST(shared_storage_and_used_frames_change_no_result),
    {NULL, NULL},
};
