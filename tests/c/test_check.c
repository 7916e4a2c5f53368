/* Tests of the checker: the sample program passes; with any one field broken it is refused, with a sentence.
 *
 * Each breakage is a function on a fresh sample. Numbers of values are those of sample.h and sample.c. */
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "ops/ops.h"
#include "random/stream.h"
#include "sample.h"
#include "test.h"

/* Breaks the program given and its body. */
typedef void (*Break)(Program *program, Program *body);

static void expect_refusal(Break break_it, const char *name, const char *sentence)
{
    Status status;
    Program *program = sample_walk(&status);

    CHECK(program_check(program, &status) == 0);
    break_it(program, program->loops[0].body);
    if (program_check(program, &status) != -1 || status.code != STATUS_BAD_PROGRAM || strstr(status.text, sentence) == NULL) {
        check_that(false, name, status.code == STATUS_BAD_PROGRAM ? status.text : "(accepted)", 0);
    }
    program_free(program);
}

/* ---- tables and values ---- */
static void negative_storage(Program *p, Program *b) { p->n_storage = -1; (void)b; }
static void negative_count(Program *p, Program *b) { b->n_loops = -1; (void)p; }
static void bad_class(Program *p, Program *b) { b->values[5].value_class = 7; (void)p; }
static void bad_dtype(Program *p, Program *b) { b->values[5].dtype = N_DTYPES; (void)p; }
static void scalar_with_rank(Program *p, Program *b) { b->values[5].ndim = 1; (void)p; }
static void array_without_rank(Program *p, Program *b) { b->values[9].ndim = 0; (void)p; }
static void rank_too_high(Program *p, Program *b) { b->values[9].ndim = ARRAY_MAX_NDIM + 1; (void)p; }
static void bad_origin(Program *p, Program *b) { b->values[5].origin = 9; (void)p; }
static void constant_stream(Program *p, Program *b) { p->values[7].origin = ORIGIN_CONSTANT; (void)b; }
static void constant_out_of_range(Program *p, Program *b) { p->values[8].index = 1; (void)b; }
static void constant_of_other_dtype(Program *p, Program *b) { p->values[8].dtype = DTYPE_FLOAT64; (void)b; }
static void constant_without_memory(Program *p, Program *b) { p->constants[0].data = NULL; (void)b; }
static void constant_too_large(Program *p, Program *b) { b->constants[0].data += 8; (void)p; }
static void constant_unaligned(Program *p, Program *b) { b->constants[0].data += 4; (void)p; }
static void input_of_other_number(Program *p, Program *b) { p->values[1].index = 0; (void)b; }
static void inputs_twice(Program *p, Program *b) { p->inputs[1] = 0; (void)b; }
static void input_not_an_input(Program *p, Program *b) { p->inputs[1] = 9; (void)b; }
static void row_at_top_level(Program *p, Program *b) { p->values[1].origin = ORIGIN_ROW; (void)b; }
static void storage_missing(Program *p, Program *b) { b->values[9].storage = -1; (void)p; }
static void storage_out_of_range(Program *p, Program *b) { b->values[9].storage = b->n_storage; (void)p; }
static void storage_of_a_scalar(Program *p, Program *b) { b->values[5].storage = 0; (void)p; }
static void storage_of_an_input(Program *p, Program *b) { p->values[1].storage = 0; (void)b; }
static void view_without_alias(Program *p, Program *b) { b->values[9].is_view = true; b->values[9].storage = -1; (void)p; }
static void storage_shared_with_a_source(Program *p, Program *b) { b->values[10].storage = b->values[9].storage; (void)p; }
static void storage_shared_with_an_invariant(Program *p, Program *b) { b->values[9].storage = b->values[14].storage; (void)p; }
static void storage_of_results_shared(Program *p, Program *b) { p->values[6].storage = p->values[5].storage; (void)b; }
static void storage_beyond_values(Program *p, Program *b) { p->n_storage = 1000; (void)b; }

/* ---- instructions ---- */
static void bad_opcode(Program *p, Program *b) { b->instrs[0].opcode = N_OPCODES; (void)p; }
static void operands_beyond_their_list(Program *p, Program *b) { b->instrs[8].n_src = 1000; (void)p; }
static void operands_overflow(Program *p, Program *b) { b->instrs[8].operands = INT32_MAX; (void)p; }
static void operands_negative(Program *p, Program *b) { b->instrs[8].operands = -1; (void)p; }
static void aux_beyond_its_list(Program *p, Program *b) { b->instrs[8].n_aux = 9; (void)p; }
static void operand_out_of_range(Program *p, Program *b) { b->operands[b->instrs[3].operands + 1] = b->n_values; (void)p; }
static void destination_out_of_range(Program *p, Program *b) { b->operands[b->instrs[3].operands] = -1; (void)p; }
static void wrong_number_of_sources(Program *p, Program *b) { b->instrs[8].n_src = 0; (void)p; }
static void wrong_number_of_destinations(Program *p, Program *b) { b->instrs[1].n_dst = 1; b->instrs[1].n_src = 4; (void)p; }
static void unknown_flag(Program *p, Program *b) { b->instrs[0].flags = 4; (void)p; }
static void map_in_place(Program *p, Program *b) { b->instrs[0].flags = INSTR_INPLACE; (void)p; }
static void invariant_at_top_level(Program *p, Program *b) { p->instrs[1].flags = INSTR_INVARIANT; (void)b; }
static void invariant_that_varies(Program *p, Program *b) { b->instrs[3].flags = INSTR_INVARIANT; (void)p; }
static void read_before_written(Program *p, Program *b) { b->operands[b->instrs[0].operands + 1] = 7; (void)p; }
static void written_twice(Program *p, Program *b) { b->operands[b->instrs[2].operands] = 5; (void)p; }
static void constant_written(Program *p, Program *b) { b->operands[b->instrs[2].operands] = 3; (void)p; }
static void unknown_scalar(Program *p, Program *b) { b->instrs[0].fn = N_SCALARS; (void)p; }
static void scalar_of_other_arity(Program *p, Program *b) { b->instrs[0].fn = SCALAR_EXP; (void)p; }
static void scalar_without_kernel(Program *p, Program *b) { b->instrs[0].fn = SCALAR_AND; (void)p; }
static void computing_dtype_out_of_range(Program *p, Program *b) { b->instrs[0].dtype = 200; (void)p; }
static void source_of_other_dtype(Program *p, Program *b) { b->instrs[0].dtype = DTYPE_FLOAT32; (void)p; }
static void result_of_other_dtype(Program *p, Program *b) { b->values[5].dtype = DTYPE_FLOAT32; (void)p; }
static void result_of_other_rank(Program *p, Program *b) { b->values[11].ndim = 2; (void)p; }
static void stream_in_arithmetic(Program *p, Program *b) { b->operands[b->instrs[2].operands + 1] = 6; (void)p; }
static void axis_out_of_range(Program *p, Program *b) { b->aux[b->instrs[8].aux] = 1; (void)p; }
static void unknown_reduction(Program *p, Program *b) { b->instrs[8].fn = N_REDUCES; (void)p; }
static void reduction_of_other_rank(Program *p, Program *b) { b->instrs[8].n_aux = 0; (void)p; }
static void unknown_distribution(Program *p, Program *b) { b->instrs[1].fn = N_DISTS; (void)p; }
static void distribution_of_other_arity(Program *p, Program *b) { b->instrs[1].fn = DIST_POISSON; (void)p; }
static void distribution_of_other_dtype(Program *p, Program *b) { b->instrs[1].fn = DIST_INTEGERS; (void)p; }
static void draws_of_other_dtype(Program *p, Program *b) { b->instrs[1].fn = DIST_BINOMIAL; b->values[5].dtype = DTYPE_INT64; b->instrs[0].opcode = I_CAST; b->instrs[0].n_src = 1; (void)p; }
static void size_that_is_no_vector(Program *p, Program *b) { b->aux[b->instrs[1].aux] = 1; b->instrs[1].fn = DIST_EXPONENTIAL; (void)p; }
static void draw_from_a_number(Program *p, Program *b) { b->operands[b->instrs[1].operands + 2] = 5; (void)p; }
static void index_of_other_dtype(Program *p, Program *b) { p->operands[p->instrs[1].operands + 2] = 9; (void)b; }
static void slice_entry_unknown(Program *p, Program *b) { p->aux[p->instrs[1].aux] = 16; (void)b; }
static void slice_of_other_rank(Program *p, Program *b) { p->aux[p->instrs[1].aux] = SLICE_RANGE | SLICE_START; (void)b; }
static void slice_asks_for_more(Program *p, Program *b) { p->aux[p->instrs[1].aux] = SLICE_RANGE | SLICE_START | SLICE_STOP; (void)b; }
static void unknown_loop(Program *p, Program *b) { p->aux[p->instrs[0].aux] = 1; (void)b; }
static void loop_that_nothing_runs(Program *p, Program *b) { p->instrs[0] = p->instrs[1]; p->n_instrs = 1; p->operands[p->instrs[0].operands + 1] = 1; p->n_outputs = 0; (void)b; }

/* ---- memory ---- */
static void draw_in_place_twice(Program *p, Program *b)
{
    p->loops[0].carries[0].inner_out = 2; /* the state before the draw */
    (void)b;
}
static void draw_in_place_on_a_fixed_input(Program *p, Program *b)
{
    p->loops[0].n_carries = 0;
    p->loops[0].fixed[0].outer = 2;
    p->loops[0].fixed[0].inner = 2;
    b->instrs[6].flags = 0;
    b->operands[b->instrs[6].operands + 1] = 1;
    p->n_outputs = 3;
}
static void carry_in_place_read_as_fixed(Program *p, Program *b)
{
    p->loops[0].fixed[0].outer = 2;
    b->values[4].value_class = VALUE_STREAM;
    b->values[4].ndim = 0;
    b->instrs[6].flags = 0;
    b->operands[b->instrs[6].operands + 1] = 1;
}
static void state_in_place_read_as_fixed(Program *p, Program *b)
{
    p->loops[0].states[0].inplace = true;
    p->loops[0].fixed[0].outer = 1;
    (void)b;
}

/* ---- loops ---- */
static void no_body(Program *p, Program *b) { program_free(b); p->loops[0].body = NULL; }
static void steps_not_an_integer(Program *p, Program *b) { p->loops[0].n_steps = 4; (void)b; }
static void steps_not_a_value(Program *p, Program *b) { p->loops[0].n_steps = -1; (void)b; }
static void until_not_bool(Program *p, Program *b) { p->loops[0].until = 5; b->values[5].is_pinned = true; }
static void until_not_a_value(Program *p, Program *b) { p->loops[0].until = 99; (void)b; }
static void sequence_of_other_rank(Program *p, Program *b) { p->loops[0].sequences[0].outer = 4; (void)b; }
static void sequence_into_a_computed_value(Program *p, Program *b) { p->loops[0].sequences[0].inner = 9; (void)b; }
static void row_set_twice(Program *p, Program *b) { p->loops[0].sequences[0].inner = 0; (void)b; }
static void row_not_set(Program *p, Program *b) { p->loops[0].n_sequences = 0; (void)b; }
static void tap_ahead(Program *p, Program *b) { p->loops[0].taps[0].tap = 0; (void)b; }
static void tap_beyond_the_past(Program *p, Program *b) { p->loops[0].taps[0].tap = -2; (void)b; }
static void tap_of_no_state(Program *p, Program *b) { p->loops[0].states[0].n_taps = 0; (void)b; }
static void taps_beyond_their_list(Program *p, Program *b) { p->loops[0].states[0].n_taps = 2; (void)b; }
static void past_missing(Program *p, Program *b) { p->loops[0].states[0].past = 0; (void)b; }
static void state_of_other_type(Program *p, Program *b) { p->loops[0].states[0].inner_out = 11; b->values[11].is_pinned = true; }
static void state_from_a_later_value(Program *p, Program *b) { p->loops[0].states[0].outer_in = 5; (void)b; }
static void path_rows_not_an_integer(Program *p, Program *b) { p->loops[0].paths[0].outer_rows = 4; (void)b; }
static void path_of_other_type(Program *p, Program *b) { p->loops[0].paths[0].inner_out = 11; b->values[11].is_pinned = true; }
static void carry_of_a_number(Program *p, Program *b) { p->loops[0].carries[0].outer_in = 1; (void)b; }
static void fixed_of_other_type(Program *p, Program *b) { p->loops[0].fixed[0].outer = 3; (void)b; }
static void result_not_pinned(Program *p, Program *b) { b->values[8].is_pinned = false; (void)p; }
static void output_never_written(Program *p, Program *b) { p->n_instrs = 1; (void)b; }
static void output_not_a_value(Program *p, Program *b) { p->outputs[0] = 50; (void)b; }

typedef struct Breakage {
    const char *name;
    Break break_it;
    const char *sentence; /* part of the text of the refusal */
} Breakage;

#define BREAK(function, sentence) {#function, function, sentence}

static const Breakage breakages[] = {
    BREAK(negative_storage, "a list is missing"),
    BREAK(negative_count, "a list is missing"),
    BREAK(bad_class, "no sound class"),
    BREAK(bad_dtype, "no sound class"),
    BREAK(scalar_with_rank, "no sound class"),
    BREAK(array_without_rank, "no sound class"),
    BREAK(rank_too_high, "no sound class"),
    BREAK(bad_origin, "does not come from where it says"),
    BREAK(constant_stream, "no sound class"),
    BREAK(constant_out_of_range, "does not come from where it says"),
    BREAK(constant_of_other_dtype, "does not come from where it says"),
    BREAK(constant_without_memory, "owns its memory"),
    BREAK(constant_too_large, "beyond its memory"),
    BREAK(constant_unaligned, "not aligned"),
    BREAK(input_of_other_number, "does not come from where it says"),
    BREAK(inputs_twice, "does not come from where it says"),
    BREAK(input_not_an_input, "does not come from where it says"),
    BREAK(row_at_top_level, "does not come from where it says"),
    BREAK(storage_missing, "none where it needs some"),
    BREAK(storage_out_of_range, "storage that it must not have"),
    BREAK(storage_of_a_scalar, "storage that it must not have"),
    BREAK(storage_of_an_input, "storage that it must not have"),
    BREAK(view_without_alias, "called a view"),
    BREAK(storage_shared_with_a_source, "still needed"),
    BREAK(storage_shared_with_an_invariant, "still needed"),
    BREAK(storage_of_results_shared, "still needed"),
    BREAK(storage_beyond_values, "more storage than values"),
    BREAK(bad_opcode, "no such instruction"),
    BREAK(operands_beyond_their_list, "beyond their list"),
    BREAK(operands_overflow, "beyond their list"),
    BREAK(operands_negative, "beyond their list"),
    BREAK(aux_beyond_its_list, "beyond their list"),
    BREAK(operand_out_of_range, "not the number of a value"),
    BREAK(destination_out_of_range, "not the number of a value"),
    BREAK(wrong_number_of_sources, "wrong number of operands"),
    BREAK(wrong_number_of_destinations, "wrong number of operands"),
    BREAK(unknown_flag, "a flag"),
    BREAK(map_in_place, "a flag"),
    BREAK(invariant_at_top_level, "a flag"),
    BREAK(invariant_that_varies, "reads a value that varies"),
    BREAK(read_before_written, "before it is written"),
    BREAK(written_twice, "written twice"),
    BREAK(constant_written, "not a computed value"),
    BREAK(unknown_scalar, "no such scalar operation"),
    BREAK(scalar_of_other_arity, "no such scalar operation"),
    BREAK(scalar_without_kernel, "no kernel"),
    BREAK(computing_dtype_out_of_range, "no kernel"),
    BREAK(source_of_other_dtype, "the computing dtype"),
    BREAK(result_of_other_dtype, "the operation's dtype"),
    BREAK(result_of_other_rank, "largest rank"),
    BREAK(stream_in_arithmetic, "do not take part"),
    BREAK(axis_out_of_range, "axes must ascend"),
    BREAK(unknown_reduction, "no such reduction"),
    BREAK(reduction_of_other_rank, "less the axes"),
    BREAK(unknown_distribution, "no such distribution"),
    BREAK(distribution_of_other_arity, "another number of parameters"),
    BREAK(distribution_of_other_dtype, "wrong dtype"),
    BREAK(draws_of_other_dtype, "the draws have the wrong dtype"),
    BREAK(size_that_is_no_vector, "must be an int64 vector"),
    BREAK(draw_from_a_number, "must be streams"),
    BREAK(index_of_other_dtype, "before it is written"),
    BREAK(slice_entry_unknown, "neither an index nor a range"),
    BREAK(slice_of_other_rank, "the wrong rank"),
    BREAK(slice_asks_for_more, "another number of scalars"),
    BREAK(unknown_loop, "no such loop"),
    BREAK(loop_that_nothing_runs, "no instruction runs a loop"),
    BREAK(draw_in_place_twice, "written over in place"),
    BREAK(draw_in_place_on_a_fixed_input, "an input of the loop"),
    BREAK(carry_in_place_read_as_fixed, "reads what it writes over"),
    BREAK(state_in_place_read_as_fixed, "reads what it writes over"),
    BREAK(no_body, "lists are not sound"),
    BREAK(steps_not_an_integer, "number of steps"),
    BREAK(steps_not_a_value, "not the number of a value"),
    BREAK(until_not_bool, "until must be a bool scalar"),
    BREAK(until_not_a_value, "not the number of a value"),
    BREAK(sequence_of_other_rank, "a sequence and its row"),
    BREAK(sequence_into_a_computed_value, "does not take from it so"),
    BREAK(row_set_twice, "sets a value of its body twice"),
    BREAK(row_not_set, "before it is written"),
    BREAK(tap_ahead, "a tap reaches beyond"),
    BREAK(tap_beyond_the_past, "a tap reaches beyond"),
    BREAK(tap_of_no_state, "belongs to no state"),
    BREAK(taps_beyond_their_list, "a tap belongs to no state"),
    BREAK(past_missing, "taps are out of range"),
    BREAK(state_of_other_type, "a state's parts"),
    BREAK(state_from_a_later_value, "before it is written"),
    BREAK(path_rows_not_an_integer, "a path's parts"),
    BREAK(path_of_other_type, "a path's parts"),
    BREAK(carry_of_a_number, "a stream or an object throughout"),
    BREAK(fixed_of_other_type, "a fixed input differs"),
    BREAK(result_not_pinned, "not pinned"),
    BREAK(output_never_written, "before it is written"),
    BREAK(output_not_a_value, "not the number of a value"),
};

static void a_program_with_one_broken_field_is_refused_with_a_sentence(void)
{
    for (size_t i = 0; i < sizeof breakages / sizeof *breakages; i++) {
        expect_refusal(breakages[i].break_it, breakages[i].name, breakages[i].sentence);
    }
}

static void every_failed_allocation_of_the_check_is_reported(void)
{
    Status status;
    Program *program = sample_walk(&status);
    int64_t k = 1;

    for (;; k++) {
        int result;

        mem_fault_arm(k, 1);
        result = program_check(program, &status);
        if (mem_fault_disarm() == 0) {
            CHECK(result == 0);
            break;
        }
        CHECK(result == -1 && status.code == STATUS_NO_MEMORY);
    }
    CHECK(k > 4);
    program_free(program);
}

/* 0 input vector; 1 = exp 0; then `second` and `third`, with values 2 and 3 of that rank for them; 4 a constant. */
static int check_three(SampleInstr second, SampleInstr third, int ndim, Status *status)
{
    SampleInstr first = {.opcode = I_MAP, .fn = SCALAR_EXP, .dtype = DTYPE_FLOAT64, .n_dst = 1, .n_src = 1, .dst = {1}, .src = {0}};
    Program *program = program_new(status);
    int result;

    sample_value(program, VALUE_ARRAY, ORIGIN_INPUT, DTYPE_FLOAT64, 1, status);
    sample_computed(program, DTYPE_FLOAT64, 1, status);
    sample_computed(program, DTYPE_FLOAT64, ndim, status);
    sample_computed(program, DTYPE_FLOAT64, ndim, status);
    sample_double(program, 1.0, status);
    sample_instr(program, first, status);
    sample_instr(program, second, status);
    sample_instr(program, third, status);
    program_set_inputs(program, 1, (int32_t[]){0}, status);
    program_set_outputs(program, 1, (int32_t[]){3}, status);
    result = program_plan_storage(program, status) < 0 ? -1 : program_check(program, status);
    program_free(program);
    return result;
}

#define WRITE(flag, to, from, with) \
    {.opcode = I_SET_SLICE, .fn = WRITE_SET, .flags = flag, .n_dst = 1, .n_src = 2, .n_aux = 1, .dst = {to}, .src = {from, with}, .aux = {SLICE_RANGE}}
#define PART(to, from) {.opcode = I_SLICE, .n_dst = 1, .n_src = 1, .n_aux = 1, .dst = {to}, .src = {from}, .aux = {SLICE_RANGE}}

static void what_was_written_over_in_place_cannot_be_read_even_through_a_view(void)
{
    Status status;

    CHECK(check_three((SampleInstr)WRITE(INSTR_INPLACE, 2, 1, 4), (SampleInstr)PART(3, 2), 1, &status) == 0);
    CHECK(check_three((SampleInstr)WRITE(INSTR_INPLACE, 2, 1, 4), (SampleInstr)PART(3, 1), 1, &status) == -1);
    CHECK(strstr(status.text, "written over in place") != NULL);
    CHECK(check_three((SampleInstr)WRITE(0, 2, 1, 4), (SampleInstr)PART(3, 1), 1, &status) == 0);
    CHECK(check_three((SampleInstr)PART(2, 1), (SampleInstr)WRITE(INSTR_INPLACE, 3, 1, 2), 1, &status) == -1);
    CHECK(strstr(status.text, "reads what it writes over") != NULL);
    CHECK(check_three((SampleInstr)PART(2, 1), (SampleInstr)WRITE(INSTR_INPLACE, 3, 2, 4), 1, &status) == 0);
}

static void axes_of_a_transpose_are_distinct_and_in_range(void)
{
    SampleInstr turn = {.opcode = I_TRANSPOSE, .n_dst = 1, .n_src = 1, .n_aux = 2, .dst = {2}, .src = {1}, .aux = {-1, 0}};
    SampleInstr back = {.opcode = I_TRANSPOSE, .n_dst = 1, .n_src = 1, .n_aux = 2, .dst = {3}, .src = {2}, .aux = {1, 0}};
    Status status;

    CHECK(check_three(turn, back, 2, &status) == 0);
    back.aux[0] = 0;
    CHECK(check_three(turn, back, 2, &status) == -1);
    back.aux[0] = 2;
    CHECK(check_three(turn, back, 2, &status) == -1);
    back.aux[0] = 1;
    back.n_aux = 1;
    CHECK(check_three(turn, back, 2, &status) == -1);
}

/* ---- random changes ---- */

/* A number from 0 to n - 1, the same ones on each run. */
static uint64_t next_number(uint64_t *seed, uint64_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % n;
}

/* Changes some item of a list: a small number in the place of one of its 32-bit words, or one bit of a byte. */
static void change_list(void *items, size_t n_bytes, uint64_t *seed)
{
    if (n_bytes < 4) {
        return;
    }
    if (next_number(seed, 2) == 0) {
        int32_t word = (int32_t)next_number(seed, 20) - 2;
        memcpy((char *)items + next_number(seed, n_bytes / 4) * 4, &word, 4);
    } else {
        ((unsigned char *)items)[next_number(seed, n_bytes)] ^= (unsigned char)(1u << next_number(seed, 8));
    }
}

/* A bool holds 0 or 1, whatever was changed. */
static void mend_bool(bool *flag)
{
    unsigned char byte;

    memcpy(&byte, flag, 1);
    *flag = (byte & 1) != 0;
}

static void change_values(Program *program, uint64_t *seed)
{
    change_list(program->values, (size_t)program->n_values * sizeof *program->values, seed);
    for (int32_t i = 0; i < program->n_values; i++) {
        mend_bool(&program->values[i].is_view);
        mend_bool(&program->values[i].is_pinned);
    }
}

#define CHANGE(list, n) change_list((list), (size_t)(n) * sizeof *(list), seed)

static void change_program(Program *program, uint64_t *seed)
{
    Loop *loop = program->n_loops > 0 ? &program->loops[0] : NULL;

    switch (next_number(seed, loop != NULL ? 11 : 5)) {
    case 0:
        change_values(program, seed);
        break;
    case 1:
        CHANGE(program->instrs, program->n_instrs);
        break;
    case 2:
        CHANGE(program->operands, program->n_operands);
        break;
    case 3:
        CHANGE(program->aux, program->n_aux);
        break;
    case 4:
        CHANGE(program->outputs, program->n_outputs);
        break;
    case 5:
        CHANGE(loop->sequences, loop->n_sequences);
        break;
    case 6:
        loop->states[0].inplace = !loop->states[0].inplace;
        change_list(loop->states, offsetof(LoopState, inplace), seed);
        break;
    case 7:
        CHANGE(loop->taps, loop->n_taps);
        break;
    case 8:
        CHANGE(loop->paths, loop->n_paths);
        break;
    case 9:
        change_list(loop->carries, offsetof(LoopCarry, inplace), seed);
        break;
    default:
        CHANGE(loop->fixed, loop->n_fixed);
        break;
    }
}

static void random_changes_are_accepted_or_refused_but_never_crash_the_checker(void)
{
    enum { N_PROGRAMS = 20000 };
    uint64_t seed = 4;
    int n_accepted = 0, n_refused = 0;

    for (int i = 0; i < N_PROGRAMS; i++) {
        Status status;
        Program *program = sample_walk(&status);
        uint64_t n_changes = 1 + next_number(&seed, 3);

        for (uint64_t j = 0; j < n_changes; j++) {
            change_program(next_number(&seed, 2) == 0 ? program : program->loops[0].body, &seed);
        }
        if (program_check(program, &status) == 0) {
            n_accepted++;
            mem_free(program_listing(program)); /* what is accepted can be listed */
        } else {
            n_refused++;
            CHECK(status.code == STATUS_BAD_PROGRAM);
        }
        program_free(program);
    }
    CHECK(n_accepted > N_PROGRAMS / 100 && n_refused > N_PROGRAMS / 2);
}

const Test tests_check[] = {
    TEST(random_changes_are_accepted_or_refused_but_never_crash_the_checker),
    TEST(a_program_with_one_broken_field_is_refused_with_a_sentence),
    TEST(every_failed_allocation_of_the_check_is_reported),
    TEST(what_was_written_over_in_place_cannot_be_read_even_through_a_view),
    TEST(axes_of_a_transpose_are_distinct_and_in_range),
    {NULL, NULL},
};
