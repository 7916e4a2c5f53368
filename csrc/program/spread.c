/* Who reads an array.
 *
 * Arrays of one number that are only read: a view of the number instead of memory.
 *
 *     %2 = map second.f64 $0, #0            %2 view = spread #0, $0
 *     %5 = set_slice set [:b] %4, %2, #1    %5 = set_slice set [:b] %4, %2, #1
 *
 * Only readers that never write to what they read, give it away or ask for adjacent elements count. And a loop's rows of which
 * only the last is read, so that no others need be stored:
 *
 *     %12 = slice [a:] %11, #1; %14 = slice [i] %12, #-1
 *
 * Relies on: program.h, ops. Relied on by: lower, vm. */
#include "ops/ops.h"
#include "program/program.h"

static bool is_one_element(const Program *program, int32_t value)
{
    const Value *row = &program->values[value];

    return row->value_class == VALUE_SCALAR
           || (row->value_class == VALUE_ARRAY && row->origin == ORIGIN_CONSTANT && array_size(&program->constants[row->index]) == 1);
}

static bool is_fill(const Program *program, const Instr *instr)
{
    const int32_t *src = instr_src(program, instr);

    return instr->opcode == I_MAP && instr->fn == SCALAR_SECOND && instr->flags == 0
           && program->values[src[0]].value_class == VALUE_ARRAY && is_one_element(program, src[1])
           && program->values[src[1]].ndim <= program->values[src[0]].ndim;
}

static bool is_given_away(const Program *program, int32_t value)
{
    for (int32_t i = 0; i < program->n_outputs; i++) {
        if (program->outputs[i] == value) {
            return true;
        }
    }
    for (int32_t i = 0; i < program->n_loops; i++) {
        for (int32_t j = 0; j < loop_n_src(&program->loops[i]); j++) {
            if (loop_src(&program->loops[i], j) == value) {
                return true;
            }
        }
    }
    return false;
}

/* Whether all from instruction `first` on only read the value; *view is set to a view of it, or to -1. */
static bool is_only_read(const Program *program, int32_t value, int32_t first, int32_t *view)
{
    *view = -1;
    if (is_given_away(program, value)) {
        return false;
    }
    for (int32_t i = first; i < program->n_instrs; i++) {
        const Instr *instr = &program->instrs[i];

        for (int32_t j = 0; j < instr->n_src; j++) {
            bool is_view = instr->opcode == I_TRANSPOSE && *view < 0;

            if (instr_src(program, instr)[j] != value) {
                continue;
            }
            if (is_view) {
                *view = instr_dst(program, instr)[0];
            } else if (instr->opcode != I_SHAPE && instr->opcode != I_SHAPE_AT && instr->opcode != I_MAP && instr->opcode != I_CAST
                       && !(instr->opcode == I_SET_SLICE && j == 1)) {
                return false;
            }
        }
    }
    return true;
}

void program_spread_fills(Program *program)
{
    for (int32_t i = 0; i < program->n_instrs; i++) {
        Instr *instr = &program->instrs[i];
        int32_t *src = &program->operands[instr->operands + instr->n_dst], value = instr->n_dst > 0 ? instr_dst(program, instr)[0] : -1;
        bool is_safe = is_fill(program, instr);

        while (is_safe && value >= 0) { /* and views of views */
            int32_t view;
            is_safe = is_only_read(program, value, i + 1, &view);
            value = view;
        }
        if (is_safe) {
            int32_t like = src[0];
            src[0] = src[1];
            src[1] = like;
            instr->opcode = I_SPREAD;
        }
    }
}

/* The integer that the entry asks for is this constant or (is_least) a larger one. */
static bool is_integer(const Program *program, int32_t value, int64_t number, bool is_least)
{
    const Value *row = &program->values[value];
    int64_t integer;

    if (row->origin != ORIGIN_CONSTANT || row->dtype != DTYPE_INT64 || row->value_class > VALUE_ARRAY) {
        return false;
    }
    integer = *(const int64_t *)(const void *)program->constants[row->index].data;
    return integer == number || (is_least && integer > number);
}

/* Bodies have no list of outputs: what leaves them is not known here. */
bool program_reads_last_row(const Program *program, int32_t value)
{
    if (program->n_outputs == 0 || is_given_away(program, value)) {
        return false;
    }
    for (int32_t i = 0; i < program->n_instrs; i++) {
        const Instr *instr = &program->instrs[i];
        const int32_t *src = instr_src(program, instr);

        for (int32_t j = 0; j < instr->n_src; j++) {
            bool is_slice = instr->opcode == I_SLICE && j == 0 && instr->n_aux > 0 && instr->n_src > 1;
            int64_t entry = is_slice ? instr_aux(program, instr)[0] : 0;

            if (src[j] != value) {
                continue;
            }
            if (is_slice && entry == SLICE_INDEX && is_integer(program, src[1], -1, false)) {
                continue;
            }
            if (!is_slice || entry != (SLICE_RANGE | SLICE_START) || instr->n_aux != 1 || !is_integer(program, src[1], 0, true)
                || !program_reads_last_row(program, instr_dst(program, instr)[0])) {
                return false;
            }
        }
    }
    return true;
}
