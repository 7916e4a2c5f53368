/* Tests of the builder, the storage plan and the listing. */
#include <string.h>

#include "base/mem.h"
#include "ops/ops.h"
#include "sample.h"
#include "test.h"

static void a_program_of_many_items_holds_them_all(void)
{
    enum { N = 1000 };
    Status status;
    Program *program = program_new(&status);

    for (int32_t i = 0; i < N; i++) {
        int32_t number = sample_computed(program, DTYPE_FLOAT64, 1, &status);
        SampleInstr instr = {.opcode = I_PACK, .n_dst = 1, .n_src = 3, .n_aux = 2, .dst = {number}, .src = {i, i + 1, i + 2}, .aux = {i, -i}};
        CHECK(number == i && sample_instr(program, instr, &status) == 0);
    }
    for (int32_t i = 0; i < N; i++) {
        const Instr *instr = &program->instrs[i];
        CHECK(instr_dst(program, instr)[0] == i && instr_src(program, instr)[2] == i + 2 && instr_aux(program, instr)[1] == -i);
    }
    CHECK(program->n_operands == 4 * N && program->n_aux == 2 * N);
    program_free(program);
    program_free(NULL);
}

static void a_constant_has_a_holder_of_its_own(void)
{
    Status status;
    Program *program = program_new(&status);
    Array constant = {.ndim = 1, .dtype = DTYPE_FLOAT64, .shape = {2}, .strides = {8}};
    int32_t number;

    constant.buffer = buffer_new(16);
    constant.data = constant.buffer->data;
    number = program_add_constant(program, &constant, &status);
    CHECK(program->values[number].value_class == VALUE_ARRAY && program->values[number].index == 0);
    CHECK(!buffer_is_exclusive(constant.buffer));
    program_free(program);
    CHECK(buffer_is_exclusive(constant.buffer));
    buffer_unref(constant.buffer);
}

static void every_failed_allocation_of_building_is_reported_and_leaves_nothing(void)
{
    int64_t k = 1;

    for (;; k++) {
        Status status;
        Program *program;

        status_clear(&status);
        mem_fault_arm(k, 1);
        program = sample_walk(&status);
        if (mem_fault_disarm() == 0) {
            CHECK(program != NULL);
            program_free(program);
            break;
        }
        CHECK(program == NULL && status.code == STATUS_NO_MEMORY);
    }
    CHECK(k > 20);
}

/* ---- storage ---- */

/* A chain of vector maps, each reading the one before; n_values are 1 + n. */
static Program *new_chain(int32_t n, Status *status)
{
    Program *program = program_new(status);

    sample_value(program, VALUE_ARRAY, ORIGIN_INPUT, DTYPE_FLOAT64, 1, status);
    for (int32_t i = 0; i < n; i++) {
        SampleInstr instr = {.opcode = I_MAP, .fn = SCALAR_EXP, .dtype = DTYPE_FLOAT64, .n_dst = 1, .n_src = 1, .dst = {i + 1}, .src = {i}};
        sample_computed(program, DTYPE_FLOAT64, 1, status);
        sample_instr(program, instr, status);
    }
    program_set_inputs(program, 1, (int32_t[]){0}, status);
    program_set_outputs(program, 1, (int32_t[]){n}, status);
    return program;
}

static void a_long_chain_needs_two_slots_and_a_result_keeps_its_own(void)
{
    Status status;
    Program *program = new_chain(100, &status);

    CHECK(program_plan_storage(program, &status) == 0);
    CHECK(program->n_storage == 2);
    for (int32_t i = 2; i <= 100; i++) {
        CHECK(program->values[i].storage != program->values[i - 1].storage);
    }
    CHECK(program->values[100].is_pinned && !program->values[99].is_pinned && program->values[0].storage == -1);
    CHECK(program_check(program, &status) == 0);
    program_free(program);
}

/* 0 input; 1 = exp 0; 2 = `opcode` of 1; 3 = exp 0; 4 = add 2, 3. */
static Program *new_alias(SampleInstr alias, Status *status)
{
    Program *program = program_new(status);
    SampleInstr first = {.opcode = I_MAP, .fn = SCALAR_EXP, .dtype = DTYPE_FLOAT64, .n_dst = 1, .n_src = 1, .dst = {1}, .src = {0}};
    SampleInstr third = first;
    SampleInstr last = {.opcode = I_MAP, .fn = SCALAR_ADD, .dtype = DTYPE_FLOAT64, .n_dst = 1, .n_src = 2, .dst = {4}, .src = {2, 3}};

    third.dst[0] = 3;
    sample_value(program, VALUE_ARRAY, ORIGIN_INPUT, DTYPE_FLOAT64, 1, status);
    for (int i = 0; i < 4; i++) {
        sample_computed(program, DTYPE_FLOAT64, 1, status);
    }
    sample_double(program, 1.0, status);
    sample_instr(program, first, status);
    sample_instr(program, alias, status);
    sample_instr(program, third, status);
    sample_instr(program, last, status);
    program_set_inputs(program, 1, (int32_t[]){0}, status);
    program_set_outputs(program, 1, (int32_t[]){4}, status);
    return program;
}

static void a_view_keeps_what_it_shows(void)
{
    SampleInstr alias = {.opcode = I_SLICE, .n_dst = 1, .n_src = 1, .n_aux = 1, .dst = {2}, .src = {1}, .aux = {SLICE_RANGE}};
    Status status;
    Program *program = new_alias(alias, &status);

    CHECK(program_plan_storage(program, &status) == 0);
    CHECK(program->values[2].is_view && program->values[2].storage == -1);
    CHECK(program->values[3].storage != program->values[1].storage);
    CHECK(program_check(program, &status) == 0);
    program_free(program);
}

static void a_result_made_in_place_keeps_what_it_was_made_of(void)
{
    SampleInstr alias = {.opcode = I_SET_SLICE, .fn = WRITE_SET, .flags = INSTR_INPLACE, .n_dst = 1, .n_src = 2, .n_aux = 1,
                         .dst = {2}, .src = {1, 5}, .aux = {SLICE_RANGE}};
    Status status;
    Program *program = new_alias(alias, &status);

    CHECK(program_plan_storage(program, &status) == 0);
    CHECK(!program->values[2].is_view && program->values[2].storage != program->values[1].storage);
    CHECK(program->values[3].storage != program->values[1].storage && program->values[3].storage != program->values[2].storage);
    CHECK(program_check(program, &status) == 0);
    program_free(program);
}

static void a_copy_lets_its_source_go(void)
{
    SampleInstr alias = {.opcode = I_COPY, .n_dst = 1, .n_src = 1, .dst = {2}, .src = {1}};
    Status status;
    Program *program = new_alias(alias, &status);

    CHECK(program_plan_storage(program, &status) == 0);
    CHECK(program->values[3].storage == program->values[1].storage);
    program_free(program);
}

static void invariant_values_and_values_that_leave_a_body_share_with_none(void)
{
    enum { EXP_VECTOR = 14 };
    Status status;
    Program *program = sample_walk(&status);
    const Program *body = program->loops[0].body;

    for (int32_t i = 0; i < body->n_values; i++) {
        CHECK(i == EXP_VECTOR || body->values[i].storage != body->values[EXP_VECTOR].storage);
    }
    CHECK(body->values[8].is_pinned && body->values[13].is_pinned && !body->values[7].is_pinned);
    CHECK(program->values[5].storage != program->values[6].storage);
    program_free(program);
}

static void planning_again_changes_nothing(void)
{
    Status status;
    Program *program = sample_walk(&status);
    char *before = program_listing(program), *after;

    CHECK(program_plan_storage(program, &status) == 0);
    after = program_listing(program);
    CHECK_TEXT(after, before);
    mem_free(before);
    mem_free(after);
    program_free(program);
}

/* ---- listing ---- */

static void a_listing_shows_each_instruction_and_where_operands_come_from(void)
{
    static const char expected[] =
        "inputs $0:i64, $1:f64[], $2:stream, $3:f64[,], $4:f64[]\n"
        "#0 = i64 -1\n"
        "loop (0)\n"
        "  steps: $0\n"
        "  seq0: $3:f64[,]\n"
        "  $4:f64[] is $4\n"
        "  row0: %5:f64[] {0} from $1, past 1, next %8\n"
        "  path: %6:f64[] {1}, rows $0, next %13\n"
        "  carry: %7:stream from $2 as $2, next %6  ; in place\n"
        "    #0 = f64 0.5\n"
        "    %5:f64 = map mul.f64 row0[t-1], #0\n"
        "    %6:stream, %7:f64 = draw normal (0) $2, %5, #0  ; in place\n"
        "    %8:f64 = map add.f64 %5, %7\n"
        "    %9:f64[] {0} = map exp.f64 seq0[t]\n"
        "    %10:f64[] {1} = map mul.f64 %9, %8\n"
        "    %11:f64[] {2} = map add.f64 %10, %9\n"
        "    %14:f64[] {3} = map exp.f64 $4  ; invariant\n"
        "    %12:f64[] {0} = map mul.f64 %11, %14\n"
        "    %13:f64 = reduce add.f64 (0) %12\n"
        "%9:f64 = slice [i] %5, #0\n"
        "outputs %5:f64[] {0}, %6:f64[] {1}, %9:f64, %7:stream\n";
    Status status;
    Program *program = sample_walk(&status);
    char *listing = program_listing(program);

    CHECK_TEXT(listing, expected);
    mem_free(listing);
    program_free(program);
}

static void a_listing_without_memory_is_null(void)
{
    Status status;
    Program *program = sample_walk(&status);

    for (int64_t k = 1; k < 3; k++) {
        mem_fault_arm(k, 1);
        CHECK(program_listing(program) == NULL);
        CHECK(mem_fault_disarm() == 1);
    }
    program_free(program);
}

const Test tests_program[] = {
    TEST(a_program_of_many_items_holds_them_all),
    TEST(a_constant_has_a_holder_of_its_own),
    TEST(every_failed_allocation_of_building_is_reported_and_leaves_nothing),
    TEST(a_long_chain_needs_two_slots_and_a_result_keeps_its_own),
    TEST(a_view_keeps_what_it_shows),
    TEST(a_result_made_in_place_keeps_what_it_was_made_of),
    TEST(a_copy_lets_its_source_go),
    TEST(invariant_values_and_values_that_leave_a_body_share_with_none),
    TEST(planning_again_changes_nothing),
    TEST(a_listing_shows_each_instruction_and_where_operands_come_from),
    TEST(a_listing_without_memory_is_null),
    {NULL, NULL},
};
