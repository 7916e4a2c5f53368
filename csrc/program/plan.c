/* Which storage each computed array uses: values whose lives do not meet share a slot.
 *
 * A life runs from the instruction that writes the value to the last one that needs its memory: reads of the value, of
 * views of it, and of what is written over it in place. Values that leave the program or the body live to the end. What
 * an invariant instruction writes lives for the whole body: it is written before the first step. The destinations of an
 * instruction never share with its sources, since these still live.
 * Relies on: base. Relied on by: lower (which plans what it made), check.c (which compares). */
#include "base/mem.h"
#include "program/program.h"

int32_t loop_n_dst(const Loop *loop) { return loop->n_states + loop->n_paths + loop->n_carries; }

int32_t loop_dst(const Loop *loop, int32_t i)
{
    if (i < loop->n_states) {
        return loop->states[i].outer_out;
    }
    i -= loop->n_states;
    return i < loop->n_paths ? loop->paths[i].outer_out : loop->carries[i - loop->n_paths].outer_out;
}

int32_t loop_n_src(const Loop *loop)
{
    return 1 + loop->n_sequences + loop->n_states + loop->n_paths + loop->n_carries + loop->n_fixed;
}

int32_t loop_src(const Loop *loop, int32_t i)
{
    if (i == 0) {
        return loop->n_steps;
    }
    i -= 1;
    if (i < loop->n_sequences) {
        return loop->sequences[i].outer;
    }
    i -= loop->n_sequences;
    if (i < loop->n_states) {
        return loop->states[i].outer_in;
    }
    i -= loop->n_states;
    if (i < loop->n_paths) {
        return loop->paths[i].outer_rows;
    }
    i -= loop->n_paths;
    return i < loop->n_carries ? loop->carries[i].outer_in : loop->fixed[i - loop->n_carries].outer;
}

int32_t loop_n_inner_out(const Loop *loop) { return loop_n_dst(loop) + (loop->until >= 0 ? 1 : 0); }

int32_t loop_inner_out(const Loop *loop, int32_t i)
{
    if (i < loop->n_states) {
        return loop->states[i].inner_out;
    }
    i -= loop->n_states;
    if (i < loop->n_paths) {
        return loop->paths[i].inner_out;
    }
    i -= loop->n_paths;
    return i < loop->n_carries ? loop->carries[i].inner_out : loop->until;
}

static void extend(int32_t *last, int32_t value, int32_t to)
{
    if (last[value] < to) {
        last[value] = to;
    }
}

/* Reads and views of a loop: a state in place is written over its initial state. */
static void extend_loop(const Loop *loop, int32_t i_instr, int32_t *last)
{
    for (int32_t i = 0; i < loop_n_dst(loop); i++) {
        extend(last, loop_dst(loop, i), i_instr);
    }
    for (int32_t i = 0; i < loop_n_src(loop); i++) {
        extend(last, loop_src(loop, i), i_instr);
    }
    for (int32_t i = 0; i < loop->n_states; i++) {
        if (loop->states[i].inplace) {
            extend(last, loop->states[i].outer_in, last[loop->states[i].outer_out]);
        }
    }
}

static void extend_instr(const Program *program, int32_t i_instr, int32_t *last)
{
    const Instr *instr = &program->instrs[i_instr];
    const int32_t *dst = instr_dst(program, instr), *src = instr_src(program, instr);

    if (instr->opcode == I_LOOP) {
        extend_loop(&program->loops[instr_aux(program, instr)[0]], i_instr, last);
    }
    for (int32_t i = 0; i < instr->n_dst; i++) {
        extend(last, dst[i], (instr->flags & INSTR_INVARIANT) != 0 ? program->n_instrs : i_instr);
    }
    for (int32_t i = 0; i < instr->n_src; i++) {
        extend(last, src[i], i_instr);
    }
    if (instr_alias(instr) != ALIAS_NEVER) {
        extend(last, src[0], last[dst[0]]);
    }
}

void program_find_lives(const Program *program, const Loop *around, int32_t *last)
{
    for (int32_t i = 0; i < program->n_values; i++) {
        last[i] = program->values[i].is_pinned ? program->n_instrs : -1;
    }
    for (int32_t i = 0; i < program->n_outputs; i++) {
        extend(last, program->outputs[i], program->n_instrs);
    }
    for (int32_t i = 0; around != NULL && i < loop_n_inner_out(around); i++) {
        extend(last, loop_inner_out(around, i), program->n_instrs);
    }
    /* From the last instruction to the first: all that reads a destination comes after it, so its life is known by then. */
    for (int32_t i = program->n_instrs - 1; i >= 0; i--) {
        extend_instr(program, i, last);
    }
}

/* Whether all numbers of values and loops are those of items that there are, which is all that the plan relies on. */
static bool has_sound_numbers(const Program *program, const Instr *instr)
{
    int32_t n = instr->n_dst + instr->n_src;

    if (instr->opcode == I_LOOP) {
        const int64_t *aux = instr_aux(program, instr);
        const Loop *loop = program->loops + (instr->n_aux == 1 && aux[0] >= 0 && aux[0] < program->n_loops ? aux[0] : program->n_loops);

        if (loop == program->loops + program->n_loops) {
            return false;
        }
        for (int32_t i = 0; i < loop_n_dst(loop) + loop_n_src(loop); i++) {
            int32_t number = i < loop_n_dst(loop) ? loop_dst(loop, i) : loop_src(loop, i - loop_n_dst(loop));

            if (number < 0 || number >= program->n_values) {
                return false;
            }
        }
    }
    for (int32_t i = 0; i < n; i++) {
        int32_t number = instr_dst(program, instr)[i];

        if (number < 0 || number >= program->n_values) {
            return false;
        }
    }
    return instr_alias(instr) == ALIAS_NEVER || (instr->n_dst > 0 && instr->n_src > 0);
}

static int expect_numbers(const Program *program, const Loop *around, Status *status)
{
    bool holds = true;

    for (int32_t i = 0; holds && i < program->n_instrs; i++) {
        holds = has_sound_numbers(program, &program->instrs[i]);
    }
    for (int32_t i = 0; holds && i < program->n_outputs; i++) {
        holds = program->outputs[i] >= 0 && program->outputs[i] < program->n_values;
    }
    for (int32_t i = 0; holds && around != NULL && i < loop_n_inner_out(around); i++) {
        int32_t number = loop_inner_out(around, i);

        holds = number >= 0 && number < program->n_values;
    }
    return holds ? 0 : status_fail_text(status, STATUS_BAD_PROGRAM, "an operand or a result is not the number of a value or loop");
}

/* The slots while instructions are walked: the free ones as a stack, the busy ones in a list for each instruction that
 * frees them. */
typedef struct Slots {
    int32_t *last;    /* by value: its life's end */
    int32_t *freed;   /* by instruction: first slot of the list that it frees, or -1 */
    int32_t *next;    /* by slot: the next in such a list */
    int32_t *free;    /* stack of slots */
    int32_t n_free, n_slots;
} Slots;

static int slots_init(Slots *slots, const Program *program, Status *status)
{
    size_t n_values = (size_t)program->n_values, n_instrs = (size_t)program->n_instrs;

    slots->last = mem_calloc(3 * n_values + n_instrs + 1, sizeof(int32_t));
    if (slots->last == NULL) {
        return status_fail(status, STATUS_NO_MEMORY);
    }
    slots->next = slots->last + n_values;
    slots->free = slots->next + n_values;
    slots->freed = slots->free + n_values;
    slots->n_free = slots->n_slots = 0;
    for (size_t i = 0; i < n_instrs; i++) {
        slots->freed[i] = -1;
    }
    return 0;
}

/* The destination's slot: one that is free, or a new one; noted for the instruction that frees it. */
static void take_slot(Slots *slots, Program *program, int32_t value, bool is_shared)
{
    int32_t last = slots->last[value];
    int32_t slot = is_shared && slots->n_free > 0 ? slots->free[--slots->n_free] : slots->n_slots++;

    program->values[value].storage = slot;
    if (is_shared && last < program->n_instrs) {
        slots->next[slot] = slots->freed[last];
        slots->freed[last] = slot;
    }
}

static bool needs_storage(const Value *value)
{
    return value->value_class == VALUE_ARRAY && value->origin == ORIGIN_COMPUTED && !value->is_view && value->storage < 0;
}

static void take_slots(Slots *slots, Program *program, const Instr *instr)
{
    bool is_shared = (instr->flags & INSTR_INVARIANT) == 0;
    const Loop *loop = instr->opcode == I_LOOP ? &program->loops[instr_aux(program, instr)[0]] : NULL;
    int32_t n = loop != NULL ? loop_n_dst(loop) : instr->n_dst;

    for (int32_t i = 0; i < n; i++) {
        int32_t value = loop != NULL ? loop_dst(loop, i) : instr_dst(program, instr)[i];

        if (needs_storage(&program->values[value])) {
            take_slot(slots, program, value, is_shared);
        }
    }
}

static void free_slots(Slots *slots, int32_t i_instr)
{
    for (int32_t slot = slots->freed[i_instr]; slot >= 0; slot = slots->next[slot]) {
        slots->free[slots->n_free++] = slot;
    }
}

static void mark_values(Program *program, const Loop *around)
{
    for (int32_t i = 0; i < program->n_instrs; i++) {
        const Instr *instr = &program->instrs[i];

        if (instr_alias(instr) == ALIAS_ALWAYS) {
            Value *value = &program->values[instr_dst(program, instr)[0]];
            value->is_view = value->value_class == VALUE_ARRAY;
        }
    }
    for (int32_t i = 0; i < program->n_outputs; i++) {
        program->values[program->outputs[i]].is_pinned = true;
    }
    for (int32_t i = 0; around != NULL && i < loop_n_inner_out(around); i++) {
        program->values[loop_inner_out(around, i)].is_pinned = true;
    }
    for (int32_t i = 0; i < program->n_values; i++) {
        program->values[i].storage = -1;
    }
}

static int plan_program(Program *program, const Loop *around, Status *status)
{
    Slots slots = {0};

    if (expect_numbers(program, around, status) < 0) {
        return -1;
    }
    mark_values(program, around);
    if (slots_init(&slots, program, status) < 0) {
        return -1;
    }
    program_find_lives(program, around, slots.last);
    for (int32_t i = 0; i < program->n_instrs; i++) {
        take_slots(&slots, program, &program->instrs[i]);
        free_slots(&slots, i);
    }
    program->n_storage = slots.n_slots;
    mem_free(slots.last);
    for (int32_t i = 0; i < program->n_loops; i++) {
        if (plan_program(program->loops[i].body, &program->loops[i], status) < 0) {
            return -1;
        }
    }
    return 0;
}

int program_plan_storage(Program *program, Status *status) { return plan_program(program, NULL, status); }
