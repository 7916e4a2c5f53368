/* The program checker: a program that passes is safe to run, whatever the values of the call.
 *
 * It walks the instructions once in their order and holds what is known of each value: whether it was written, whether
 * it is the same in each step, whose memory it uses and whether that memory has since been written over. Then it
 * compares the storage plan with the lives of the values. check_instr.c has the rules of types for each instruction.
 * Relies on: base, program.h. Relied on by: vm's callers, tests, the fuzzers. */
#include "program/check.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static const int8_t row_n_dst[N_OPCODES] = {
#define OPCODE(NAME, text, n_dst, n_src, aux, effect) n_dst,
#include "program/opcodes.def"
#undef OPCODE
};
static const int8_t row_n_src[N_OPCODES] = {
#define OPCODE(NAME, text, n_dst, n_src, aux, effect) n_src,
#include "program/opcodes.def"
#undef OPCODE
};

int check_refuse(const Check *check, const char *what)
{
    char text[STATUS_TEXT_BYTES];
    int32_t i = check->i_instr;

    if (i < 0) {
        (void)snprintf(text, sizeof text, "depth %d: %s", check->depth, what);
    } else {
        (void)snprintf(text, sizeof text, "depth %d, instruction %d (%s): %s", check->depth, (int)i,
                       check->instr->opcode < N_OPCODES ? opcode_name(check->instr->opcode) : "?", what);
    }
    return status_fail_text(check->status, STATUS_BAD_PROGRAM, text);
}

int check_expect(const Check *check, bool holds, const char *what) { return holds ? 0 : check_refuse(check, what); }

static bool is_value(const Program *program, int32_t number) { return number >= 0 && number < program->n_values; }

static bool is_numeric(const Value *value) { return value->value_class == VALUE_SCALAR || value->value_class == VALUE_ARRAY; }

/* ---- the tables ---- */

static bool is_list(int32_t n, const void *items) { return n == 0 || (n > 0 && items != NULL); }

static int check_tables(const Check *check)
{
    const Program *p = check->program;
    bool holds = is_list(p->n_values, p->values) && is_list(p->n_instrs, p->instrs) && is_list(p->n_operands, p->operands)
        && is_list(p->n_aux, p->aux) && is_list(p->n_constants, p->constants) && is_list(p->n_inputs, p->inputs)
        && is_list(p->n_outputs, p->outputs) && is_list(p->n_loops, p->loops) && is_list(p->n_texts, p->texts) && p->n_storage >= 0;

    for (int32_t i = 0; holds && i < p->n_texts; i++) {
        holds = p->texts[i] != NULL;
    }
    return check_expect(check, holds, "a list is missing");
}

static int check_constant(const Check *check, const Array *constant)
{
    size_t n_bytes, align;

    if (constant->ndim < 0 || constant->ndim > ARRAY_MAX_NDIM || (unsigned)constant->dtype >= N_DTYPES || constant->buffer == NULL
        || constant->data == NULL) {
        return check_refuse(check, "a constant is not an array that owns its memory");
    }
    for (int i = 0; i < constant->ndim; i++) {
        if (constant->shape[i] < 0) {
            return check_refuse(check, "a constant has a negative length");
        }
    }
    if (array_bytes(constant->ndim, constant->shape, constant->dtype, &n_bytes) < 0 || !array_is_contiguous(constant)) {
        return check_refuse(check, "a constant is not contiguous");
    }
    align = (size_t)dtype_bytes(constant->dtype) / (dtype_kind(constant->dtype) == 'c' ? 2 : 1);
    if ((uintptr_t)constant->data % align != 0) {
        return check_refuse(check, "a constant's elements are not aligned");
    }
    return check_expect(check, constant->data >= constant->buffer->data && n_bytes <= constant->buffer->n_bytes
                            && (size_t)(constant->data - constant->buffer->data) <= constant->buffer->n_bytes - n_bytes,
                        "a constant reaches beyond its memory");
}

/* Class, dtype and rank. */
static bool has_sound_type(const Value *value)
{
    switch (value->value_class) {
    case VALUE_SCALAR:
        return value->ndim == 0 && value->dtype < N_DTYPES;
    case VALUE_ARRAY:
        return value->ndim >= 1 && value->ndim <= ARRAY_MAX_NDIM && value->dtype < N_DTYPES;
    case VALUE_STREAM:
    case VALUE_OBJECT:
        return value->ndim == 0 && value->origin != ORIGIN_CONSTANT && value->origin != ORIGIN_ROW;
    default:
        return false;
    }
}

static bool has_sound_origin(const Check *check, int32_t number)
{
    const Program *program = check->program;
    const Value *value = &program->values[number];

    switch (value->origin) {
    case ORIGIN_CONSTANT:
        return value->index >= 0 && value->index < program->n_constants && program->constants[value->index].dtype == value->dtype
            && program->constants[value->index].ndim == value->ndim;
    case ORIGIN_INPUT:
        return check->around != NULL || (value->index >= 0 && value->index < program->n_inputs && program->inputs[value->index] == number);
    case ORIGIN_ROW:
        return check->around != NULL;
    default:
        return value->origin == ORIGIN_COMPUTED;
    }
}

static bool has_sound_storage(const Program *program, const Value *value)
{
    bool is_owner = value->value_class == VALUE_ARRAY && value->origin == ORIGIN_COMPUTED && !value->is_view;

    if (value->is_view && (value->value_class != VALUE_ARRAY || value->origin != ORIGIN_COMPUTED)) {
        return false;
    }
    return is_owner ? value->storage >= 0 && value->storage < program->n_storage : value->storage == -1;
}

static int check_values(const Check *check)
{
    const Program *program = check->program;

    for (int32_t i = 0; i < program->n_constants; i++) {
        if (check_constant(check, &program->constants[i]) < 0) {
            return -1;
        }
    }
    for (int32_t i = 0; i < program->n_values; i++) {
        if (!has_sound_type(&program->values[i])) {
            return check_refuse(check, "a value has no sound class, dtype or rank");
        }
        if (!has_sound_origin(check, i)) {
            return check_refuse(check, "a value does not come from where it says");
        }
        if (!has_sound_storage(program, &program->values[i])) {
            return check_refuse(check, "a value has storage that it must not have, or none where it needs some");
        }
    }
    return 0;
}

/* ---- what is set before the first instruction ---- */

static int set_from_outside(const Check *check, int32_t number, ValueOrigin origin, bool is_invariant)
{
    Known *known;

    if (!is_value(check->program, number) || check->program->values[number].origin != origin) {
        return check_refuse(check, "the loop sets a value that its body does not take from it so");
    }
    known = &check->known[number];
    if (known->is_written) {
        return check_refuse(check, "the loop sets a value of its body twice");
    }
    known->is_written = true;
    known->is_invariant = is_invariant;
    return 0;
}

static int set_from_loop(const Check *check)
{
    const Loop *loop = check->around;

    for (int32_t i = 0; i < loop->n_sequences; i++) {
        if (set_from_outside(check, loop->sequences[i].inner, ORIGIN_ROW, false) < 0) {
            return -1;
        }
    }
    for (int32_t i = 0; i < loop->n_taps; i++) {
        if (set_from_outside(check, loop->taps[i].inner, ORIGIN_ROW, false) < 0) {
            return -1;
        }
    }
    for (int32_t i = 0; i < loop->n_carries; i++) {
        if (set_from_outside(check, loop->carries[i].inner_in, ORIGIN_INPUT, false) < 0) {
            return -1;
        }
    }
    for (int32_t i = 0; i < loop->n_fixed; i++) {
        if (set_from_outside(check, loop->fixed[i].inner, ORIGIN_INPUT, true) < 0) {
            return -1;
        }
    }
    return 0;
}

static int set_before_start(const Check *check)
{
    const Program *program = check->program;

    for (int32_t i = 0; i < program->n_values; i++) {
        Known *known = &check->known[i];

        known->root = i;
        if (program->values[i].origin == ORIGIN_CONSTANT || (program->values[i].origin == ORIGIN_INPUT && check->around == NULL)) {
            known->is_written = known->is_invariant = true;
        }
    }
    for (int32_t i = 0; i < program->n_inputs; i++) {
        int32_t number = program->inputs[i];

        if (!is_value(program, number) || program->values[number].origin != ORIGIN_INPUT || program->values[number].index != i) {
            return check_refuse(check, "the list of inputs does not fit the values");
        }
    }
    return check->around != NULL ? set_from_loop(check) : 0;
}

/* ---- order and memory ---- */

static bool is_alive(const Check *check, int32_t number)
{
    const Known *known = &check->known[number];

    return known->age == check->known[known->root].age_now;
}

static int check_read(const Check *check, int32_t number)
{
    if (!is_value(check->program, number)) {
        return check_refuse(check, "an operand is not the number of a value");
    }
    if (!check->known[number].is_written) {
        return check_refuse(check, "a value is read before it is written");
    }
    if (!is_alive(check, number)) {
        return check_refuse(check, "a value is read after its memory was written over in place");
    }
    if ((check->i_instr >= 0 && (check->instr->flags & INSTR_INVARIANT) != 0) && !check->known[number].is_invariant) {
        return check_refuse(check, "an invariant instruction reads a value that varies");
    }
    return 0;
}

static int mark_written(const Check *check, int32_t number)
{
    Known *known;

    if (!is_value(check->program, number)) {
        return check_refuse(check, "an operand is not the number of a value");
    }
    known = &check->known[number];
    if (check->program->values[number].origin != ORIGIN_COMPUTED) {
        return check_refuse(check, "a destination is not a computed value");
    }
    if (known->is_written) {
        return check_refuse(check, "a value is written twice");
    }
    known->is_written = true;
    known->is_invariant = (check->instr->flags & INSTR_INVARIANT) != 0;
    return 0;
}

/* Whether the loop hands this value of its body on from step to step, so that the body may change it. */
static bool is_carried(const Check *check, int32_t number)
{
    for (int32_t i = 0; i < check->around->n_carries; i++) {
        if (check->around->carries[i].inner_in == number) {
            return true;
        }
    }
    return false;
}

/* The memory that a view or an in-place result shares: none but its own when the value is a scalar. */
static void share_root(const Check *check, int32_t to, int32_t from)
{
    Known *known = &check->known[to];

    if (check->program->values[to].value_class != VALUE_SCALAR) {
        known->root = check->known[from].root;
        known->age = check->known[known->root].age_now;
    }
}

/* Writes over the memory of `from`: from now on only `to` has it. */
static int destroy(const Check *check, int32_t to, int32_t from)
{
    int32_t root = check->known[from].root;
    uint8_t origin = check->program->values[root].origin;

    if (!is_alive(check, from)) {
        return check_refuse(check, "two operands are written over in the same memory");
    }
    if (origin == ORIGIN_CONSTANT || origin == ORIGIN_ROW || (origin == ORIGIN_INPUT && check->around != NULL && !is_carried(check, root))) {
        return check_refuse(check, "it would write over a constant, a row or an input of the loop");
    }
    if (origin == ORIGIN_COMPUTED && check->known[root].is_invariant && (check->instr->flags & INSTR_INVARIANT) == 0) {
        return check_refuse(check, "it would write over an invariant value in each step");
    }
    check->known[root].age_now += 1;
    share_root(check, to, from);
    return 0;
}

static int check_memory_of_loop(const Check *check, const Loop *loop)
{
    for (int32_t i = 0; i < loop->n_states; i++) {
        if (loop->states[i].inplace && destroy(check, loop->states[i].outer_out, loop->states[i].outer_in) < 0) {
            return -1;
        }
    }
    for (int32_t i = 0; i < loop->n_carries; i++) {
        if (loop->carries[i].inplace && destroy(check, loop->carries[i].outer_out, loop->carries[i].outer_in) < 0) {
            return -1;
        }
    }
    /* What the loop reads besides must not be what it writes over. */
    for (int32_t i = 0; i < loop_n_src(loop); i++) {
        int32_t j = i - 1 - loop->n_sequences, k = j - loop->n_states - loop->n_paths;
        bool is_destroyed = (j >= 0 && j < loop->n_states && loop->states[j].inplace)
            || (k >= 0 && k < loop->n_carries && loop->carries[k].inplace);

        if (!is_destroyed && !is_alive(check, loop_src(loop, i))) {
            return check_refuse(check, "the loop reads what it writes over in place");
        }
    }
    return 0;
}

static int check_memory(const Check *check)
{
    const Instr *instr = check->instr;
    const int32_t *dst = instr_dst(check->program, instr), *src = instr_src(check->program, instr);

    switch (instr_alias(instr)) {
    case ALIAS_ALWAYS:
    case ALIAS_MAYBE:
        share_root(check, dst[0], src[0]);
        break;
    case ALIAS_DESTROY:
        if (destroy(check, dst[0], src[0]) < 0) {
            return -1;
        }
        for (int32_t i = 1; i < instr->n_src; i++) {
            if (!is_alive(check, src[i])) {
                return check_refuse(check, "it reads what it writes over in place");
            }
        }
        break;
    case ALIAS_NEVER:
        break;
    }
    if (check->program->values[dst[0]].is_view != (instr_alias(instr) == ALIAS_ALWAYS && check->program->values[dst[0]].value_class == VALUE_ARRAY)) {
        return check_refuse(check, "a destination is called a view and is none, or the reverse");
    }
    return 0;
}

/* Counts, operand and aux ranges, flags. */
static int check_frame(const Check *check)
{
    const Program *program = check->program;
    const Instr *instr = check->instr;
    bool may_be_in_place;

    if (instr->opcode >= N_OPCODES) {
        return check_refuse(check, "no such instruction");
    }
    if (instr->n_dst < 0 || instr->n_src < 0 || instr->n_aux < 0 || instr->operands < 0 || instr->aux < 0
        || (int64_t)instr->operands + instr->n_dst + instr->n_src > program->n_operands || (int64_t)instr->aux + instr->n_aux > program->n_aux) {
        return check_refuse(check, "operands or aux entries beyond their list");
    }
    if ((row_n_dst[instr->opcode] >= 0 && instr->n_dst != row_n_dst[instr->opcode])
        || (row_n_src[instr->opcode] >= 0 && instr->n_src != row_n_src[instr->opcode])) {
        return check_refuse(check, "wrong number of operands");
    }
    may_be_in_place = instr->opcode == I_SET_SLICE || instr->opcode == I_SET_TAKE || instr->opcode == I_SCATTER
                      || instr->opcode == I_DRAW;
    if ((instr->flags & ~(INSTR_INPLACE | INSTR_INVARIANT)) != 0 || ((instr->flags & INSTR_INPLACE) != 0 && !may_be_in_place)
        || ((instr->flags & INSTR_INVARIANT) != 0 && check->around == NULL)) {
        return check_refuse(check, "a flag that it cannot have");
    }
    return 0;
}

static int check_operands(const Check *check)
{
    const Instr *instr = check->instr;

    for (int32_t i = 0; i < instr->n_src; i++) {
        if (check_read(check, instr_src(check->program, instr)[i]) < 0) {
            return -1;
        }
    }
    for (int32_t i = 0; i < instr->n_dst; i++) {
        if (mark_written(check, instr_dst(check->program, instr)[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int check_instr(const Check *check)
{
    if (check_frame(check) < 0 || check_operands(check) < 0 || check_instr_types(check) < 0) {
        return -1;
    }
    if (check->instr->opcode == I_LOOP) {
        return 0; /* check_loop saw to its memory */
    }
    if (check->instr->n_dst == 0) {
        return 0;
    }
    for (int32_t i = 1; i < check->instr->n_dst; i++) {
        if (check->program->values[instr_dst(check->program, check->instr)[i]].is_view) {
            return check_refuse(check, "only the first destination can be a view");
        }
    }
    return check_memory(check);
}

/* ---- loops ---- */

static bool same_type(const Value *a, const Value *b)
{
    return a->value_class == b->value_class && a->ndim == b->ndim && (!is_numeric(a) || a->dtype == b->dtype);
}

/* Whether `row` has the type of a row of the array `whole`. */
static bool is_row_of(const Value *row, const Value *whole)
{
    return whole->value_class == VALUE_ARRAY && is_numeric(row) && row->dtype == whole->dtype && row->ndim == whole->ndim - 1;
}

static int check_loop_lists(const Check *check, const Loop *loop)
{
    bool holds = loop->body != NULL && loop->until >= -1 && is_list(loop->n_sequences, loop->sequences) && is_list(loop->n_states, loop->states)
        && is_list(loop->n_taps, loop->taps) && is_list(loop->n_paths, loop->paths) && is_list(loop->n_carries, loop->carries)
        && is_list(loop->n_fixed, loop->fixed);
    int64_t n = holds ? (int64_t)loop->n_sequences + loop->n_states + loop->n_taps + loop->n_paths + loop->n_carries + loop->n_fixed : 0;

    return check_expect(check, holds && n < INT32_MAX, "the loop's lists are not sound");
}

/* Reads and writes of the program around, in order. */
static int check_loop_operands(const Check *check, const Loop *loop)
{
    for (int32_t i = 0; i < loop_n_src(loop); i++) {
        if (check_read(check, loop_src(loop, i)) < 0) {
            return -1;
        }
    }
    for (int32_t i = 0; i < loop_n_dst(loop); i++) {
        if (mark_written(check, loop_dst(loop, i)) < 0) {
            return -1;
        }
        if (check->program->values[loop_dst(loop, i)].is_view) {
            return check_refuse(check, "a result of a loop is not a view");
        }
    }
    return 0;
}

static int check_state(const Check *check, const Loop *loop, const LoopState *state)
{
    const Value *outer = check->program->values, *inner = loop->body->values;
    const Value *whole = &outer[state->outer_in];

    if (!same_type(whole, &outer[state->outer_out]) || !is_row_of(&inner[state->inner_out], whole)) {
        return check_refuse(check, "a state's parts differ in type");
    }
    if (state->past < 1 || state->n_taps < 0 || state->first_tap < 0 || (int64_t)state->first_tap + state->n_taps > loop->n_taps) {
        return check_refuse(check, "a state's taps are out of range");
    }
    for (int32_t i = 0; i < state->n_taps; i++) {
        const LoopTap *tap = &loop->taps[state->first_tap + i];

        if (tap->tap >= 0 || tap->tap < -state->past || !is_row_of(&inner[tap->inner], whole)) {
            return check_refuse(check, "a tap reaches beyond its state's past or has another type");
        }
    }
    return 0;
}

/* Every tap belongs to one state, in order. */
static int check_taps(const Check *check, const Loop *loop)
{
    int64_t n = 0;

    for (int32_t i = 0; i < loop->n_states; i++) {
        if (loop->states[i].first_tap != n) {
            return check_refuse(check, "a state's taps do not follow those of the one before");
        }
        n += loop->states[i].n_taps;
    }
    return check_expect(check, n == loop->n_taps, "a tap belongs to no state");
}

/* Inner numbers are in range here: the body was checked with this loop around it. */
static int check_loop_types(const Check *check, const Loop *loop)
{
    const Value *outer = check->program->values, *inner = loop->body->values;

    if (outer[loop->n_steps].value_class != VALUE_SCALAR || outer[loop->n_steps].dtype != DTYPE_INT64) {
        return check_refuse(check, "the number of steps must be an int64 scalar");
    }
    for (int32_t i = 0; i < loop->n_sequences; i++) {
        if (!is_row_of(&inner[loop->sequences[i].inner], &outer[loop->sequences[i].outer])) {
            return check_refuse(check, "a sequence and its row differ in type");
        }
    }
    for (int32_t i = 0; i < loop->n_states; i++) {
        if (check_state(check, loop, &loop->states[i]) < 0) {
            return -1;
        }
    }
    for (int32_t i = 0; i < loop->n_paths; i++) {
        const LoopPath *path = &loop->paths[i];

        if (outer[path->outer_rows].value_class != VALUE_SCALAR || outer[path->outer_rows].dtype != DTYPE_INT64
            || !is_row_of(&inner[path->inner_out], &outer[path->outer_out])) {
            return check_refuse(check, "a path's parts differ in type");
        }
    }
    for (int32_t i = 0; i < loop->n_carries; i++) {
        const LoopCarry *carry = &loop->carries[i];
        const Value *in = &outer[carry->outer_in];

        if (is_numeric(in) || !same_type(in, &outer[carry->outer_out]) || !same_type(in, &inner[carry->inner_in])
            || !same_type(in, &inner[carry->inner_out])) {
            return check_refuse(check, "what is handed from step to step must be a stream or an object throughout");
        }
    }
    for (int32_t i = 0; i < loop->n_fixed; i++) {
        if (!same_type(&outer[loop->fixed[i].outer], &inner[loop->fixed[i].inner])) {
            return check_refuse(check, "a fixed input differs in type inside and outside");
        }
    }
    return 0;
}

static int check_program(const Program *program, const Loop *around, int depth, Status *status);

int check_loop(const Check *check)
{
    int64_t i_loop = instr_aux(check->program, check->instr)[0];
    const Loop *loop = &check->program->loops[i_loop];

    if (check->is_run[i_loop]) {
        return check_refuse(check, "the loop is run by another instruction too");
    }
    check->is_run[i_loop] = true;
    if (check_loop_lists(check, loop) < 0 || check_loop_operands(check, loop) < 0) {
        return -1;
    }
    if (check->depth + 1 >= PROGRAM_MAX_DEPTH) {
        return check_refuse(check, "loops are nested too deeply");
    }
    if (check_program(loop->body, loop, check->depth + 1, check->status) < 0) {
        return -1;
    }
    if (check_taps(check, loop) < 0 || check_loop_types(check, loop) < 0) {
        return -1;
    }
    return check_memory_of_loop(check, loop);
}

/* ---- the end, and the storage plan ---- */

static int check_result(const Check *check, int32_t number)
{
    if (check_read(check, number) < 0) {
        return -1;
    }
    return check_expect(check, check->program->values[number].is_pinned, "a value that leaves is not pinned");
}

static int check_end(const Check *check)
{
    const Program *program = check->program;
    const Loop *loop = check->around;

    for (int32_t i = 0; i < program->n_loops; i++) {
        if (!check->is_run[i]) {
            return check_refuse(check, "no instruction runs a loop");
        }
    }
    for (int32_t i = 0; i < program->n_outputs; i++) {
        if (check_result(check, program->outputs[i]) < 0) {
            return -1;
        }
    }
    for (int32_t i = 0; loop != NULL && i < loop_n_inner_out(loop); i++) {
        if (check_result(check, loop_inner_out(loop, i)) < 0) {
            return -1;
        }
    }
    if (loop != NULL && loop->until >= 0) {
        const Value *until = &program->values[loop->until];
        return check_expect(check, until->value_class == VALUE_SCALAR && until->dtype == DTYPE_BOOL, "until must be a bool scalar");
    }
    return 0;
}

/* Claims a destination's slot; busy holds, by slot, the last instruction that needs what is there. */
static int claim_slot(const Check *check, int32_t number, const int32_t *last, int32_t *busy)
{
    int32_t slot = check->program->values[number].storage;
    bool is_invariant = (check->instr->flags & INSTR_INVARIANT) != 0;

    if (slot < 0) {
        return 0;
    }
    if (is_invariant ? busy[slot] >= 0 : busy[slot] >= check->i_instr) {
        return check_refuse(check, "a destination has storage that is still needed");
    }
    busy[slot] = last[number];
    return 0;
}

/* Invariant instructions come first: they run before the others, and what they write lives to the end. */
static int check_slots(Check *check, const int32_t *last, int32_t *busy)
{
    const Program *program = check->program;

    for (int32_t i = 0; i < program->n_storage; i++) {
        busy[i] = -1;
    }
    for (int invariant = 1; invariant >= 0; invariant--) {
        for (check->i_instr = 0; check->i_instr < program->n_instrs; check->i_instr++) {
            const Loop *loop;
            int32_t n;

            check->instr = &program->instrs[check->i_instr];
            if (((check->instr->flags & INSTR_INVARIANT) != 0) != (invariant != 0)) {
                continue;
            }
            loop = check->instr->opcode == I_LOOP ? &program->loops[instr_aux(program, check->instr)[0]] : NULL;
            n = loop != NULL ? loop_n_dst(loop) : check->instr->n_dst;
            for (int32_t i = 0; i < n; i++) {
                if (claim_slot(check, loop != NULL ? loop_dst(loop, i) : instr_dst(program, check->instr)[i], last, busy) < 0) {
                    return -1;
                }
            }
        }
    }
    return 0;
}

static int check_storage(Check *check)
{
    size_t n_values = (size_t)check->program->n_values, n_slots = (size_t)check->program->n_storage;
    int32_t *last;
    int result;

    if (n_slots > n_values) {
        return check_refuse(check, "more storage than values");
    }
    last = mem_calloc(n_values + n_slots, sizeof *last);
    if (last == NULL) {
        return status_fail(check->status, STATUS_NO_MEMORY);
    }
    program_find_lives(check->program, check->around, last);
    result = check_slots(check, last, last + n_values);
    mem_free(last);
    return result;
}

static int check_program(const Program *program, const Loop *around, int depth, Status *status)
{
    Check check = {.program = program, .around = around, .depth = depth, .i_instr = -1, .status = status};
    int result = -1;

    if (check_tables(&check) < 0 || check_values(&check) < 0) {
        return -1;
    }
    check.known = mem_calloc((size_t)program->n_values, sizeof *check.known);
    check.is_run = mem_calloc((size_t)program->n_loops, sizeof *check.is_run);
    if (check.known == NULL || check.is_run == NULL) {
        status_fail(status, STATUS_NO_MEMORY);
        goto done;
    }
    if (set_before_start(&check) < 0) {
        goto done;
    }
    for (check.i_instr = 0; check.i_instr < program->n_instrs; check.i_instr++) {
        check.instr = &program->instrs[check.i_instr];
        if (check_instr(&check) < 0) {
            goto done;
        }
    }
    check.i_instr = -1;
    if (check_end(&check) < 0 || check_storage(&check) < 0) {
        goto done;
    }
    result = 0;
done:
    mem_free(check.is_run);
    mem_free(check.known);
    return result;
}

int program_check(const Program *program, Status *status) { return check_program(program, NULL, 0, status); }
