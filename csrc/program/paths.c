/* Which results are the path of a state, a view of the loop's buffer: `slice [past:]` of what the loop made of `empty`.
 *
 *   before   %1 = empty n + past;  %2 = set_slice [:past] %1, start;  loop: row0: %3 from %2, in place;  %4 = slice [past:] %3
 *   found    %4 is the path of the buffer %1, and nobody else reads %1, %2 or %3
 *
 * Relies on: program.h. Relied on by: bind, which lets the path be written into an array that the caller gives. */
#include "program/program.h"

/* The instruction of the top level that writes the value, or -1. */
static int32_t find_writer(const Program *program, int32_t value)
{
    for (int32_t i = 0; i < program->n_instrs; i++) {
        const Instr *instr = &program->instrs[i];
        const Loop *loop = instr->opcode == I_LOOP ? &program->loops[instr_aux(program, instr)[0]] : NULL;
        int32_t n = loop != NULL ? loop_n_dst(loop) : instr->n_dst;

        for (int32_t j = 0; j < n; j++) {
            if ((loop != NULL ? loop_dst(loop, j) : instr_dst(program, instr)[j]) == value) {
                return i;
            }
        }
    }
    return -1;
}

static int32_t count_readers(const Program *program, int32_t value)
{
    int32_t n_readers = 0;

    for (int32_t i = 0; i < program->n_instrs; i++) {
        const Instr *instr = &program->instrs[i];
        const Loop *loop = instr->opcode == I_LOOP ? &program->loops[instr_aux(program, instr)[0]] : NULL;
        int32_t n = loop != NULL ? loop_n_src(loop) : instr->n_src;

        for (int32_t j = 0; j < n; j++) {
            n_readers += (loop != NULL ? loop_src(loop, j) : instr_src(program, instr)[j]) == value ? 1 : 0;
        }
    }
    for (int32_t i = 0; i < program->n_outputs; i++) {
        n_readers += program->outputs[i] == value ? 1 : 0;
    }
    return n_readers;
}

/* Whether the value is the constant `number`. */
static bool is_number(const Program *program, int32_t value, int64_t number)
{
    const Value *row = &program->values[value];

    return row->origin == ORIGIN_CONSTANT && row->dtype == DTYPE_INT64 && row->value_class == VALUE_SCALAR
           && *(const int64_t *)(const void *)program->constants[row->index].data == number;
}

static bool has_one_range(const Program *program, const Instr *instr, int64_t entry)
{
    return instr->n_aux == 1 && instr_aux(program, instr)[0] == (SLICE_RANGE | entry);
}

static const LoopState *find_state(const Loop *loop, int32_t outer_out)
{
    for (int32_t i = 0; i < loop->n_states; i++) {
        if (loop->states[i].outer_out == outer_out) {
            return &loop->states[i];
        }
    }
    return NULL;
}

/* The value of `empty` whose first `past` rows were set to become this one, or -1. */
static int32_t find_made(const Program *program, int32_t value, int32_t past)
{
    int32_t writer = find_writer(program, value), made;
    const Instr *instr = writer < 0 ? NULL : &program->instrs[writer];

    if (instr == NULL || instr->opcode != I_SET_SLICE || (instr->flags & INSTR_INPLACE) == 0 || instr->fn != WRITE_SET
        || !has_one_range(program, instr, SLICE_STOP) || !is_number(program, instr_src(program, instr)[2], past)) {
        return -1;
    }
    made = instr_src(program, instr)[0];
    writer = find_writer(program, made);
    return writer >= 0 && program->instrs[writer].opcode == I_EMPTY && count_readers(program, made) == 1 ? made : -1;
}

bool program_find_path(const Program *program, int32_t value, PathBuffer *path)
{
    int32_t writer = find_writer(program, value), outer_out;
    const Instr *slice = writer < 0 ? NULL : &program->instrs[writer];
    const LoopState *state;
    const Loop *loop;

    if (slice == NULL || slice->opcode != I_SLICE || !has_one_range(program, slice, SLICE_START)) {
        return false;
    }
    outer_out = instr_src(program, slice)[0];
    writer = find_writer(program, outer_out);
    if (writer < 0 || program->instrs[writer].opcode != I_LOOP || count_readers(program, outer_out) != 1) {
        return false;
    }
    loop = &program->loops[instr_aux(program, &program->instrs[writer])[0]];
    state = find_state(loop, outer_out);
    if (state == NULL || !state->inplace || count_readers(program, state->outer_in) != 1 || !is_number(program, instr_src(program, slice)[1], state->past)) {
        return false;
    }
    *path = (PathBuffer){.made = find_made(program, state->outer_in, state->past), .outer_out = outer_out, .past = state->past, .n_steps = loop->n_steps};
    for (int32_t i = 0; i < loop->n_states; i++) {
        path->n_first = loop->states[i].past > path->n_first ? loop->states[i].past : path->n_first;
    }
    return path->made >= 0 && find_writer(program, loop->n_steps) < find_writer(program, path->made);
}
