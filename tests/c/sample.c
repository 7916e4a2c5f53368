/* Programs that several tests build. Relied on by: test_program.c, test_check.c, garden.c. */
#include "sample.h"

#include <string.h>

#include "ops/ops.h"
#include "random/stream.h"

int32_t sample_value(Program *program, ValueClass value_class, ValueOrigin origin, DType dtype, int ndim, Status *status)
{
    Value value = {.value_class = (uint8_t)value_class, .origin = (uint8_t)origin, .dtype = (uint8_t)dtype, .ndim = (uint8_t)ndim,
                   .index = -1, .storage = -1};

    return program_add_value(program, value, status);
}

int32_t sample_computed(Program *program, DType dtype, int ndim, Status *status)
{
    return sample_value(program, ndim == 0 ? VALUE_SCALAR : VALUE_ARRAY, ORIGIN_COMPUTED, dtype, ndim, status);
}

static int32_t add_constant(Program *program, DType dtype, int ndim, int64_t n, const void *elements, Status *status)
{
    Array constant = {.ndim = ndim, .dtype = dtype, .shape = {n}};
    int32_t number;

    constant.buffer = buffer_new((size_t)n * 8);
    if (constant.buffer == NULL) {
        status_fail(status, STATUS_NO_MEMORY);
        return -1;
    }
    constant.data = constant.buffer->data;
    array_set_contiguous_strides(&constant);
    memcpy(constant.data, elements, (size_t)n * 8);
    number = program_add_constant(program, &constant, status);
    buffer_unref(constant.buffer);
    return number;
}

int32_t sample_double(Program *program, double value, Status *status) { return add_constant(program, DTYPE_FLOAT64, 0, 1, &value, status); }

int32_t sample_integer(Program *program, int64_t value, Status *status) { return add_constant(program, DTYPE_INT64, 0, 1, &value, status); }

int32_t sample_vector(Program *program, DType dtype, int64_t n, const void *elements, Status *status)
{
    return add_constant(program, dtype, 1, n, elements, status);
}

int sample_instr(Program *program, SampleInstr sample, Status *status)
{
    Instr instr = {.opcode = (uint8_t)sample.opcode, .fn = sample.fn, .dtype = (uint8_t)sample.dtype, .flags = sample.flags,
                   .n_dst = sample.n_dst, .n_src = sample.n_src, .n_aux = sample.n_aux, .node = -1};

    return program_add_instr(program, instr, sample.dst, sample.src, sample.aux, status) < 0 ? -1 : 0;
}

#define MAP1(name, to, from) {.opcode = I_MAP, .fn = SCALAR_##name, .dtype = DTYPE_FLOAT64, .n_dst = 1, .n_src = 1, .dst = {to}, .src = {from}}
#define MAP2(name, to, a, b) {.opcode = I_MAP, .fn = SCALAR_##name, .dtype = DTYPE_FLOAT64, .n_dst = 1, .n_src = 2, .dst = {to}, .src = {a, b}}

/* The body's values. */
enum { TAP, ROW, RNG, HALF, VECTOR, SCALED, NEXT_RNG, DRAW, NEXT, EXP_ROW, PRODUCT, SUM, NEGATED, TOTAL, EXP_VECTOR, N_BODY_VALUES };

static int add_body_values(Program *body, Status *status)
{
    int32_t last = -1;

    if (sample_value(body, VALUE_SCALAR, ORIGIN_ROW, DTYPE_FLOAT64, 0, status) < 0 || sample_value(body, VALUE_ARRAY, ORIGIN_ROW, DTYPE_FLOAT64, 1, status) < 0
        || sample_value(body, VALUE_STREAM, ORIGIN_INPUT, DTYPE_BOOL, 0, status) < 0 || sample_double(body, 0.5, status) < 0
        || sample_value(body, VALUE_ARRAY, ORIGIN_INPUT, DTYPE_FLOAT64, 1, status) < 0 || sample_computed(body, DTYPE_FLOAT64, 0, status) < 0
        || sample_value(body, VALUE_STREAM, ORIGIN_COMPUTED, DTYPE_BOOL, 0, status) < 0) {
        return -1;
    }
    for (int32_t i = DRAW; i < N_BODY_VALUES; i++) {
        last = sample_computed(body, DTYPE_FLOAT64, i == DRAW || i == NEXT || i == TOTAL ? 0 : 1, status);
        if (last < 0) {
            return -1;
        }
    }
    return last == N_BODY_VALUES - 1 ? 0 : -1;
}

static int add_body_instrs(Program *body, Status *status)
{
    const SampleInstr instrs[] = {
        MAP2(MUL, SCALED, TAP, HALF),
        {.opcode = I_DRAW, .fn = DIST_NORMAL, .dtype = DTYPE_FLOAT64, .flags = INSTR_INPLACE, .n_dst = 2, .n_src = 3, .n_aux = 1,
         .dst = {NEXT_RNG, DRAW}, .src = {RNG, SCALED, HALF}, .aux = {0}},
        MAP2(ADD, NEXT, SCALED, DRAW),
        MAP1(EXP, EXP_ROW, ROW),
        MAP2(MUL, PRODUCT, EXP_ROW, NEXT),
        MAP2(ADD, SUM, PRODUCT, EXP_ROW),
        {.opcode = I_MAP, .fn = SCALAR_EXP, .dtype = DTYPE_FLOAT64, .flags = INSTR_INVARIANT, .n_dst = 1, .n_src = 1, .dst = {EXP_VECTOR}, .src = {VECTOR}},
        MAP2(MUL, NEGATED, SUM, EXP_VECTOR),
        {.opcode = I_REDUCE, .fn = REDUCE_ADD, .dtype = DTYPE_FLOAT64, .n_dst = 1, .n_src = 1, .n_aux = 1, .dst = {TOTAL}, .src = {NEGATED}, .aux = {0}},
    };

    for (size_t i = 0; i < sizeof instrs / sizeof *instrs; i++) {
        if (sample_instr(body, instrs[i], status) < 0) {
            return -1;
        }
    }
    return 0;
}

static Program *new_body(Status *status)
{
    Program *body = program_new(status);

    if (body != NULL && add_body_values(body, status) == 0 && add_body_instrs(body, status) == 0) {
        return body;
    }
    program_free(body);
    return NULL;
}

static int add_loop(Program *program, Program *body, Status *status)
{
    LoopSequence sequence = {.outer = 3, .inner = ROW};
    LoopTap tap = {.tap = -1, .inner = TAP};
    LoopState state = {.outer_in = 1, .outer_out = 5, .inner_out = NEXT, .first_tap = 0, .n_taps = 1, .past = 1};
    LoopPath path = {.outer_rows = 0, .outer_out = 6, .inner_out = TOTAL};
    LoopCarry carry = {.outer_in = 2, .outer_out = 7, .inner_in = RNG, .inner_out = NEXT_RNG, .inplace = true};
    LoopFixed fixed = {.outer = 4, .inner = VECTOR};
    Loop loop = {.body = body, .n_steps = 0, .until = -1, .n_sequences = 1, .n_states = 1, .n_taps = 1, .n_paths = 1, .n_carries = 1, .n_fixed = 1,
                 .sequences = &sequence, .states = &state, .taps = &tap, .paths = &path, .carries = &carry, .fixed = &fixed};

    return program_add_loop(program, &loop, status) < 0 ? -1 : 0;
}

static int add_values(Program *program, Status *status)
{
    if (sample_value(program, VALUE_SCALAR, ORIGIN_INPUT, DTYPE_INT64, 0, status) < 0 || sample_value(program, VALUE_ARRAY, ORIGIN_INPUT, DTYPE_FLOAT64, 1, status) < 0
        || sample_value(program, VALUE_STREAM, ORIGIN_INPUT, DTYPE_BOOL, 0, status) < 0 || sample_value(program, VALUE_ARRAY, ORIGIN_INPUT, DTYPE_FLOAT64, 2, status) < 0
        || sample_value(program, VALUE_ARRAY, ORIGIN_INPUT, DTYPE_FLOAT64, 1, status) < 0 || sample_computed(program, DTYPE_FLOAT64, 1, status) < 0
        || sample_computed(program, DTYPE_FLOAT64, 1, status) < 0 || sample_value(program, VALUE_STREAM, ORIGIN_COMPUTED, DTYPE_BOOL, 0, status) < 0
        || sample_integer(program, -1, status) < 0 || sample_computed(program, DTYPE_FLOAT64, 0, status) < 0) {
        return -1;
    }
    return 0;
}

Program *sample_walk(Status *status)
{
    const SampleInstr run = {.opcode = I_LOOP, .n_aux = 1, .aux = {0}};
    const SampleInstr last = {.opcode = I_SLICE, .n_dst = 1, .n_src = 2, .n_aux = 1, .dst = {9}, .src = {5, 8}, .aux = {SLICE_INDEX}};
    Program *program = program_new(status), *body = NULL;

    if (program == NULL || add_values(program, status) < 0) {
        goto fail;
    }
    body = new_body(status);
    if (body == NULL || add_loop(program, body, status) < 0) {
        goto fail;
    }
    body = NULL; /* the program's now */
    if (sample_instr(program, run, status) < 0 || sample_instr(program, last, status) < 0
        || program_set_inputs(program, 5, (int32_t[]){0, 1, 2, 3, 4}, status) < 0
        || program_set_outputs(program, 4, (int32_t[]){5, 6, 9, 7}, status) < 0 || program_plan_storage(program, status) < 0) {
        goto fail;
    }
    return program;
fail:
    program_free(body);
    program_free(program);
    return NULL;
}
