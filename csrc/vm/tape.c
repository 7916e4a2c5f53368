/* Making tapes: places of values, then cells.
 *
 * Pins are given by a scan over the core in its order: first to the newest rows of states of doubles (all but one pin), then
 * to what is computed, from where it is made to where it is read last. A state's next value takes the pin of the one before
 * where that is not read any more. What a step of another kind than arithmetic on doubles reads or writes is in memory.
 * Relies on: tape.h. Relied on by: block.c, block_run.c. */
#include "vm/tape.h"

#include <stddef.h>

#include "base/mem.h"
#include "random/draw.h"

enum { MAX_PAST = 4, MAX_SUMS = 1 << 16 };

/* How many cells are run without coming back. Builds without optimisation do not turn calls into jumps: there the stack
 * bounds it. */
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
enum { MAX_CELLS = 1 << 30 };
#else
enum { MAX_CELLS = 1024 };
#endif

typedef struct Maker {
    Tape *tape;
    LoopFrame *loop_frame;
    const Program *body;
    const LoopPhases *phases;
    const Step *core;
    const bool *stores, *is_lane; /* of arrays too */
    int32_t n_steps;
    int32_t *last_read;   /* by value: the core's last step that reads it, n_steps at the end of a step, else -1 */
    bool *needs_memory;   /* by value: other cells than arithmetic read or write it */
    bool *is_made;        /* by value: the core computes it */
    const Step **row_of;  /* by value: of a row of a matrix that only categoricals look at, the step that shows it; else NULL */
    TapeSpot *spots;      /* by value, of what is not a lane */
    int32_t *chain_of;    /* by value: of a tap, its spot; else -1 */
    int32_t *heir_of;     /* by value: the spot of the newest row of the first state that it is the next value of; else -1 */
    int32_t pinned[N_TAPE_PINS]; /* the value that a pin holds, CARRIED, or FREE */
} Maker;

enum { FREE = -1, CARRIED = -2 };

/* ---- which steps ---- */

static bool is_array(const Program *body, int32_t value) { return body->values[value].value_class == VALUE_ARRAY; }

static bool is_double(const Program *body, int32_t value)
{
    return body->values[value].value_class == VALUE_SCALAR && body->values[value].dtype == DTYPE_FLOAT64;
}

/* An integer as a double. */
static bool is_from_int64(const Program *body, const Step *step)
{
    return step->instr->opcode == I_CAST && step->code != STEP_OTHER && body->values[step->src[0]].dtype == DTYPE_INT64 && is_double(body, step->dst[0]);
}

/* Arithmetic with cells of its own. */
static bool is_arithmetic(const Program *body, const Step *step)
{
    if (step->instr->opcode != I_MAP || step->code == STEP_DIVIDE || step->code == STEP_OTHER || step->instr->dtype != DTYPE_FLOAT64
        || !is_double(body, step->dst[0])) {
        return false;
    }
    if (step->instr->n_src > 1) {
        return tape_binary(step->instr->fn, TAPE_R0, TAPE_R0, TAPE_R0, false) != NULL;
    }
    return step->instr->fn == SCALAR_SQUARE || tape_unary(step->instr->fn, TAPE_R0, TAPE_R0, false) != NULL;
}

/* How two doubles compare. */
static bool is_condition(const Program *body, const Step *step)
{
    return step->code == STEP_MAP2 && step->instr->opcode == I_MAP && step->instr->dtype == DTYPE_FLOAT64 && !is_array(body, step->dst[0])
           && tape_condition(step->instr->fn, TAPE_R0, TAPE_R0, false) != NULL;
}

/* One of two doubles. */
static bool is_choice(const Program *body, const Step *step)
{
    return step->code == STEP_MAP3 && step->instr->opcode == I_MAP && step->instr->dtype == DTYPE_FLOAT64 && step->instr->fn == SCALAR_SWITCH
           && is_double(body, step->dst[0]);
}

/* A sum of the doubles of an array, by a cell on arrays. */
static bool is_sum(const Program *body, const Step *step)
{
    return step->instr->opcode == I_REDUCE && step->instr->fn == REDUCE_ADD && step->instr->dtype == DTYPE_FLOAT64 && tape_is_vector(body, step);
}

/* Whether an array that the step reads is another in each step, without the core's doing: a row, or what is made ahead. */
static bool looks_at_moving(const Program *body, const LoopPhases *phases, const Step *step)
{
    for (int32_t i = 0; i < step->instr->n_src; i++) {
        int32_t value = step->src[i];

        if (body->values[value].value_class == VALUE_ARRAY && (body->values[value].origin == ORIGIN_ROW || phases_make_ahead(body, phases, value))) {
            return true;
        }
    }
    return false;
}

bool tape_can_run(const LoopFrame *loop_frame, const LoopPhases *phases, const Step *core)
{
    const Loop *loop = loop_frame->loop;
    const Program *body = loop->body;

    for (const Step *step = core; step->code != STEP_END; step++) {
        if (step->code == STEP_OTHER || looks_at_moving(body, phases, step)) {
            return false;
        }
    }
    for (int32_t i = 0; i < loop->n_states; i++) {
        if (body->values[loop->states[i].inner_out].value_class != VALUE_SCALAR || loop->states[i].past > MAX_PAST) {
            return false;
        }
    }
    for (int32_t i = 0; i < loop->n_paths; i++) {
        if (body->values[loop->paths[i].inner_out].value_class != VALUE_SCALAR && !phases_make_ahead(body, phases, loop->paths[i].inner_out)) {
            return false; /* a row that the core looks at is no column */
        }
    }
    return true;
}

/* A draw whose number is drawn ahead, and is in the column of its first destination. */
static bool is_split(const Maker *maker, const Step *step) { return maker->phases->is_split[step->instr - maker->body->instrs]; }

static bool is_category(const Maker *maker, const Step *step) { return is_split(maker, step) && step->instr->fn == DIST_CATEGORICAL; }

/* Split draws that are finished by arithmetic (fast.def), from parameters in pins. */
static bool is_scaled(const Maker *maker, const Step *step)
{
    int dist = step->instr->fn;

    return is_split(maker, step) && (dist == DIST_NORMAL || dist == DIST_EXPONENTIAL || dist == DIST_UNIFORM);
}

static bool is_binomial(const Step *step) { return step->instr->opcode == I_DRAW && step->quick == STEP_QUICK_BINOMIAL; }

/* Whether operand i of a step may be in a pin or a column; the last one is the result. */
static bool is_plain(const Maker *maker, const Step *step, int32_t i)
{
    if (is_condition(maker->body, step)) {
        return i < 2;
    }
    if (is_choice(maker->body, step)) {
        return i > 0;
    }
    if (is_sum(maker->body, step)) {
        return i == 1;
    }
    return is_arithmetic(maker->body, step) || is_scaled(maker, step) || (is_from_int64(maker->body, step) && i == 1) || (is_binomial(step) && i == 2 && !maker->is_lane[step->src[2]]);
}

/* An element of a vector that is the same in each step. */
static bool is_element(const Maker *maker, const Step *step) { return step->code == STEP_ELEMENT && maker->phases->is_fixed[step->src[0]]; }

/* ---- what is read where ---- */

/* Rows of matrices that are the same in each step, looked at by no others than categoricals. */
static void find_rows(Maker *maker)
{
    for (const Step *step = maker->core; step->code != STEP_END; step++) {
        if (step->code == STEP_ROW && maker->phases->is_fixed[step->src[0]] && maker->body->values[step->src[0]].dtype == DTYPE_FLOAT64) {
            maker->row_of[step->dst[0]] = step;
        }
    }
    for (const Step *step = maker->core; step->code != STEP_END; step++) {
        for (int32_t i = 0; !is_category(maker, step) && i < step->instr->n_src; i++) {
            maker->row_of[step->src[i]] = NULL;
        }
    }
}

/* The step that shows the row of a categorical, or NULL. */
static const Step *row_step(const Maker *maker, const Step *step) { return is_category(maker, step) ? maker->row_of[step->src[1]] : NULL; }

static void read_value(Maker *maker, int32_t value, int32_t i_step, bool anywhere)
{
    maker->last_read[value] = i_step;
    maker->needs_memory[value] |= !anywhere;
}

static void find_reads(Maker *maker)
{
    const Loop *loop = maker->loop_frame->loop;
    int32_t i_step = 0;

    for (int32_t i = 0; i < maker->body->n_values; i++) {
        maker->last_read[i] = maker->chain_of[i] = maker->heir_of[i] = -1;
    }
    for (const Step *step = maker->core; step->code != STEP_END; step++, i_step++) {
        int32_t made = step->dst[step->instr->n_dst - 1];

        for (int32_t i = step->instr->opcode == I_DRAW ? 1 : 0; i < step->instr->n_src; i++) {
            read_value(maker, step->src[i], i_step, is_plain(maker, step, i));
        }
        if (row_step(maker, step) != NULL) {
            read_value(maker, row_step(maker, step)->src[1], i_step, false);
        }
        maker->is_made[made] = true;
        maker->needs_memory[made] |= !is_plain(maker, step, step->instr->n_src);
    }
    maker->n_steps = i_step;
    for (int32_t i = 0; i < loop->n_states; i++) {
        maker->last_read[loop->states[i].inner_out] = i_step;
    }
    for (int32_t i = 0; i < maker->body->n_values; i++) {
        if (maker->stores[i] && !maker->is_made[i]) {
            maker->last_read[i] = i_step; /* a tap that is kept: copied at the step's end */
        }
    }
    if (loop->until >= 0) {
        maker->last_read[loop->until] = i_step;
        maker->needs_memory[loop->until] = true;
    }
}

/* ---- places ---- */

static char *register_of(const Maker *maker, int32_t value) { return maker->loop_frame->body->registers[value].bytes; }

static char *new_hidden(Maker *maker) { return maker->tape->hidden[maker->tape->n_hidden++].bytes; }

static int32_t find_tap(const Loop *loop, const LoopState *state, int32_t tap)
{
    for (int32_t i = 0; i < state->n_taps; i++) {
        if (loop->taps[state->first_tap + i].tap == tap) {
            return loop->taps[state->first_tap + i].inner;
        }
    }
    return -1;
}

/* The newest row of a state of doubles is pinned, while a pin is left for what is computed. */
static void place_chain(Maker *maker, int32_t i_state, int *n_pinned)
{
    const Loop *loop = maker->loop_frame->loop;
    const LoopState *state = &loop->states[i_state];
    Tape *tape = maker->tape;

    if (is_array(maker->body, state->inner_out)) {
        return; /* its rows are in a column, where the steps read them */
    }
    tape->chains[tape->n_chains++] = (TapeChain){i_state, tape->n_spots, state->n_taps > 0 ? state->past : 0};
    for (int32_t k = 1; state->n_taps > 0 && k <= state->past; k++) {
        int32_t tap = find_tap(loop, state, -k);
        TapeSpot *spot = &tape->spots[tape->n_spots];

        if (k == 1 && is_double(maker->body, state->inner_out) && (tap < 0 || !maker->needs_memory[tap]) && *n_pinned < N_TAPE_PINS - 1) {
            *spot = (TapeSpot){(TapePlace)*n_pinned, NULL};
            maker->pinned[(*n_pinned)++] = CARRIED;
        } else {
            *spot = (TapeSpot){TAPE_FIXED, tap >= 0 ? register_of(maker, tap) : new_hidden(maker)};
        }
        if (tap >= 0) {
            maker->chain_of[tap] = tape->n_spots;
            maker->spots[tap] = *spot;
        }
        if (state->past == 1 && maker->heir_of[state->inner_out] < 0) {
            maker->heir_of[state->inner_out] = tape->n_spots;
        }
        tape->n_spots++;
    }
}

/* The tap that shows the newest row in a spot, or -1. */
static int32_t tap_at(const Maker *maker, int32_t spot)
{
    const Loop *loop = maker->loop_frame->loop;

    for (int32_t i = 0; i < loop->n_taps; i++) {
        if (maker->chain_of[loop->taps[i].inner] == spot) {
            return loop->taps[i].inner;
        }
    }
    return -1;
}

/* Where the result of step i_step goes. `is_late`: the step may write its result before it has read all operands. */
static TapeSpot place_result(Maker *maker, int32_t value, int32_t i_step, bool is_late)
{
    int32_t heir = maker->heir_of[value], tap = heir >= 0 ? tap_at(maker, heir) : -1;

    if (heir >= 0 && (maker->tape->spots[heir].place == TAPE_FIXED) == maker->needs_memory[value]
        && (tap < 0 || maker->last_read[tap] < i_step + !is_late)) {
        return maker->tape->spots[heir];
    }
    if (!maker->needs_memory[value]) {
        for (int i = 0; i < N_TAPE_PINS; i++) {
            int32_t held = maker->pinned[i];
            if (held == FREE || (held >= 0 && maker->last_read[held] < i_step + !is_late)) {
                maker->pinned[i] = value;
                return (TapeSpot){(TapePlace)i, NULL};
            }
        }
    }
    return (TapeSpot){TAPE_FIXED, register_of(maker, value)};
}

/* ---- cells ---- */

static TapeCell *add_cell(Maker *maker, TapeFunction function)
{
    TapeCell *cell = &maker->tape->cells[maker->tape->n_cells++];

    cell->function = function;
    return cell;
}

static void add_patch(Maker *maker, char **slot, int32_t value, bool is_lane)
{
    maker->tape->patches[maker->tape->n_patches++] = (TapePatch){slot, value, is_lane};
}

/* Where a cell reads a value. */
static TapePlace place_of(const Maker *maker, int32_t value)
{
    if (maker->is_lane[value] && !maker->needs_memory[value]) {
        return TAPE_COLUMN;
    }
    return maker->chain_of[value] >= 0 || maker->is_made[value] ? maker->spots[value].place : TAPE_FIXED;
}

static void set_operand(Maker *maker, char **slot, int32_t value)
{
    TapePlace place = place_of(maker, value);

    if (place == TAPE_COLUMN) {
        add_patch(maker, slot, value, true);
    } else if (place == TAPE_FIXED && (maker->chain_of[value] >= 0 || maker->is_made[value])) {
        *slot = maker->spots[value].address;
    } else if (place == TAPE_FIXED) {
        add_patch(maker, slot, value, false);
    }
}

static void set_store(Maker *maker, TapeCell *cell, int32_t value)
{
    add_patch(maker, &cell->store, value, true);
}

static void add_arithmetic(Maker *maker, const Step *step, int32_t i_step)
{
    int32_t value = step->dst[0], n_src = step->instr->n_src, fn = step->instr->fn;
    bool is_stored = maker->stores[value];
    TapeSpot to = maker->spots[value] = place_result(maker, value, i_step, n_src > 2);
    TapeCell *cell;

    if (n_src == 1 && fn != SCALAR_SQUARE) {
        cell = add_cell(maker, tape_unary(fn, place_of(maker, step->src[0]), to.place, is_stored));
        set_operand(maker, &cell->at[TAPE_B], step->src[0]);
    } else {
        int32_t second = n_src == 1 ? step->src[0] : step->src[1];
        int32_t operation = fn == SCALAR_SQUARE ? SCALAR_MUL : fn;

        cell = add_cell(maker, tape_binary(operation, place_of(maker, step->src[0]), place_of(maker, second), to.place, is_stored && n_src <= 2));
        set_operand(maker, &cell->at[TAPE_A], step->src[0]);
        set_operand(maker, &cell->at[TAPE_B], second);
        cell->at[TAPE_TO] = to.address;
        for (int32_t i = 2; i < n_src; i++) {
            cell = add_cell(maker, tape_binary(operation, to.place, place_of(maker, step->src[i]), to.place, is_stored && i == n_src - 1));
            cell->at[TAPE_A] = to.address;
            cell->at[TAPE_TO] = to.address;
            set_operand(maker, &cell->at[TAPE_B], step->src[i]);
        }
    }
    cell->at[TAPE_TO] = to.address;
    if (is_stored) {
        set_store(maker, cell, value);
    }
}

static void add_from_int64(Maker *maker, const Step *step, int32_t i_step)
{
    int32_t value = step->dst[0];
    TapeSpot to = maker->spots[value] = place_result(maker, value, i_step, false);
    TapeCell *cell = add_cell(maker, tape_from_int64(to.place, maker->stores[value]));

    set_operand(maker, &cell->at[TAPE_B], step->src[0]);
    cell->at[TAPE_TO] = to.address;
    if (maker->stores[value]) {
        set_store(maker, cell, value);
    }
}

/* A condition, or a choice by one. */
static void add_of_condition(Maker *maker, const Step *step, int32_t i_step)
{
    int32_t value = step->dst[0], n_src = step->instr->n_src, a = step->src[n_src - 2], b = step->src[n_src - 1];
    bool is_stored = maker->stores[value];
    TapePlace place_a = place_of(maker, a), place_b = place_of(maker, b);
    TapeSpot to = maker->spots[value] = place_result(maker, value, i_step, false);
    TapeCell *cell = add_cell(maker, n_src == 2 ? tape_condition(step->instr->fn, place_a, place_b, is_stored) : tape_choice(place_a, place_b, to.place, is_stored));

    if (n_src == 3) {
        set_operand(maker, &cell->at[TAPE_FIRST], step->src[0]);
    }
    set_operand(maker, &cell->at[TAPE_A], a);
    set_operand(maker, &cell->at[TAPE_B], b);
    cell->at[TAPE_TO] = to.address;
    if (is_stored) {
        set_store(maker, cell, value);
    }
}

static void add_binomial(Maker *maker, const Step *step, int32_t i_step)
{
    int32_t value = step->dst[1], p = step->src[2];
    TapePlace place = place_of(maker, p);
    TapeSpot to = maker->spots[value] = place_result(maker, value, i_step, false);
    TapeCell *cell = add_cell(maker, tape_binomial(place, maker->stores[value]));

    cell->step = step;
    set_operand(maker, &cell->at[TAPE_A], step->src[1]);
    set_operand(maker, &cell->at[TAPE_B], p);
    cell->at[TAPE_FIRST] = place == TAPE_FIXED ? new_hidden(maker) : register_of(maker, p);
    cell->at[TAPE_TO] = to.address;
    if (maker->stores[value]) {
        set_store(maker, cell, value);
    }
}

/* ---- draws in two parts ---- */

/* A draw of a location and a scale, in NumPy's order of operations; the scale is looked at first. */
static void add_scaled(Maker *maker, const Step *step, int32_t i_step)
{
    int32_t z = step->dst[0], value = step->dst[1], scale = step->src[step->instr->n_src - 1];
    bool has_place = step->instr->n_src == 3;
    TapeSpot to = maker->spots[value] = place_result(maker, value, i_step, true);
    TapePlace scale_place = place_of(maker, scale);
    TapeCell *cell;

    if (step->instr->fn == DIST_UNIFORM) { /* the scale is the range */
        cell = add_cell(maker, tape_binary(SCALAR_SUB, scale_place, place_of(maker, step->src[1]), to.place, false));
        set_operand(maker, &cell->at[TAPE_A], scale);
        set_operand(maker, &cell->at[TAPE_B], step->src[1]);
        cell->at[TAPE_TO] = to.address;
        scale_place = to.place;
        scale = -1;
    }
    for (int i = 0; i < 2; i++) { /* whether it is plain, and its product */
        cell = add_cell(maker, i == 0 ? tape_plain(scale_place) : tape_binary(SCALAR_MUL, scale_place, TAPE_COLUMN, to.place, maker->stores[value] && !has_place));
        if (scale >= 0) {
            set_operand(maker, &cell->at[TAPE_A], scale);
        } else {
            cell->at[TAPE_A] = to.address;
        }
    }
    set_operand(maker, &cell->at[TAPE_B], z);
    cell->at[TAPE_TO] = to.address;
    if (has_place) {
        cell = add_cell(maker, tape_binary(SCALAR_ADD, place_of(maker, step->src[1]), to.place, to.place, maker->stores[value]));
        set_operand(maker, &cell->at[TAPE_A], step->src[1]);
        cell->at[TAPE_B] = cell->at[TAPE_TO] = to.address;
    }
    if (maker->stores[value]) {
        set_store(maker, cell, value);
    }
}

static void add_array(Maker *maker, TapeCell *cell, int32_t value, bool is_matrix)
{
    maker->tape->arrays[maker->tape->n_arrays++] = (TapeArray){.cell = cell, .value = value, .is_matrix = is_matrix};
}

static void add_category(Maker *maker, const Step *step, int32_t i_step)
{
    const Step *row = row_step(maker, step);
    int32_t value = step->dst[1];
    TapeSpot to = maker->spots[value] = place_result(maker, value, i_step, false);
    TapeCell *cell = add_cell(maker, tape_category());

    cell->step = step;
    cell->row_step = row;
    cell->at[TAPE_TO] = to.address;
    set_operand(maker, &cell->at[TAPE_A], step->dst[0]);
    if (row != NULL) {
        set_operand(maker, &cell->at[TAPE_B], row->src[1]);
        add_array(maker, cell, row->src[0], true);
    }
    if (maker->stores[value]) {
        set_store(maker, cell, value);
    }
}

static int64_t item_bytes(const Maker *maker, int32_t value) { return dtype_bytes((DType)maker->body->values[value].dtype); }

/* Copies an element of n_bytes from where it is, perhaps in a column, to where it may be in one. */
static TapeCell *add_copy(Maker *maker, int64_t n_bytes, bool is_from_column, bool is_to_column)
{
    TapeCell *cell = add_cell(maker, tape_copy(n_bytes, is_from_column, is_to_column));

    cell->n_bytes = n_bytes;
    cell->from_stride = is_from_column ? n_bytes : 0;
    cell->to_stride = is_to_column ? n_bytes : 0;
    return cell;
}

/* From where it is to the row of a column. */
static void add_store(Maker *maker, int32_t value)
{
    TapePlace place = place_of(maker, value);
    TapeCell *cell;

    if (place != TAPE_FIXED) {
        cell = add_cell(maker, tape_unary(SCALAR_SECOND, place, TAPE_FIXED, true));
        cell->at[TAPE_TO] = new_hidden(maker);
        set_operand(maker, &cell->at[TAPE_B], value);
        set_store(maker, cell, value);
        return;
    }
    cell = add_copy(maker, item_bytes(maker, value), false, true);
    set_operand(maker, &cell->at[TAPE_B], value);
    add_patch(maker, &cell->at[TAPE_TO], value, true);
}

/* What other steps read of columns is copied to the body's register first. */
static void add_loads(Maker *maker)
{
    for (int32_t value = 0; value < maker->body->n_values; value++) {
        if (maker->is_lane[value] && maker->needs_memory[value] && !is_array(maker->body, value)) {
            TapeCell *cell = add_copy(maker, item_bytes(maker, value), true, false);

            cell->at[TAPE_TO] = register_of(maker, value);
            add_patch(maker, &cell->at[TAPE_B], value, true);
        }
    }
}

static bool is_map(const Step *step) { return step->code == STEP_MAP1 || step->code == STEP_MAP2 || step->code == STEP_MAP3; }

/* A step with all operands in memory, and the store of its result. */
static void add_in_memory(Maker *maker, const Step *step, int32_t i_step)
{
    const Instr *instr = step->instr;
    int32_t made = step->dst[instr->n_dst - 1];
    bool is_stored = maker->stores[made], has_kernel = is_map(step);
    TapeSpot to = maker->spots[made] = place_result(maker, made, i_step, !has_kernel);
    TapeFunction special = has_kernel ? tape_memory(maker->body, step, is_stored) : NULL;
    TapeCell *cell = add_cell(maker, special != NULL ? special : has_kernel ? tape_kernel(instr->n_src) : tape_step(step));

    cell->step = step;
    cell->kernel = step->kernel;
    cell->at[TAPE_TO] = to.address;
    for (int32_t i = 0; has_kernel && i < instr->n_src; i++) {
        set_operand(maker, &cell->at[TAPE_TO - instr->n_src + i], step->src[i]);
    }
    if (is_stored && special != NULL) {
        set_store(maker, cell, made);
    } else if (is_stored) {
        add_store(maker, made);
    }
}

static void add_element(Maker *maker, const Step *step, int32_t i_step)
{
    int32_t value = step->dst[0];
    TapeSpot to = maker->spots[value] = place_result(maker, value, i_step, false);
    TapeCell *cell = add_cell(maker, tape_element(maker->stores[value]));

    cell->step = step;
    cell->at[TAPE_TO] = to.address;
    set_operand(maker, &cell->at[TAPE_B], step->src[1]);
    add_array(maker, cell, step->src[0], false);
    if (maker->stores[value]) {
        set_store(maker, cell, value);
    }
}

/* A split draw that is finished by a function of its row of fast.def, and the store of its result. */
static void add_finish(Maker *maker, const Step *step, int32_t i_step)
{
    int32_t value = step->dst[1];
    TapeSpot to = maker->spots[value] = place_result(maker, value, i_step, false);
    TapeCell *cell = add_cell(maker, tape_finish());

    cell->finish = fast_value(step->instr->fn);
    cell->at[TAPE_TO] = to.address;
    set_operand(maker, &cell->at[TAPE_FIRST], step->dst[0]);
    set_operand(maker, &cell->at[TAPE_A], step->src[1]);
    set_operand(maker, &cell->at[TAPE_B], step->src[step->instr->n_src - 1]);
    if (maker->stores[value]) {
        add_store(maker, value);
    }
}

/* Whether an array that the core makes is read once in a step, and by nothing else. */
static bool is_read_once(const Maker *maker, int32_t value)
{
    int n_reads = 0;

    for (const Step *step = maker->core; step->code != STEP_END; step++) {
        for (int32_t i = 0; i < step->instr->n_src; i++) {
            n_reads += step->src[i] == value;
        }
    }
    return n_reads == 1 && !maker->stores[value];
}

/* Whether the vector before ends in the cell in front of this one, which reads what it makes and alone does. */
static bool takes_before(const Maker *maker, const TapeVector *vector)
{
    const TapeVector *before = vector - 1;
    int32_t made;

    if (vector == maker->tape->vectors || before->cell + 1 != vector->cell || !is_array(maker->body, made = before->values[TAPE_TO])) {
        return false;
    }
    return is_read_once(maker, made) && (vector->values[TAPE_B] == made || (vector->first <= TAPE_A && vector->values[TAPE_A] == made));
}

/* A step on arrays: where they are is known in a call. */
static void add_vector(Maker *maker, const Step *step, int32_t i_step)
{
    const Instr *instr = step->instr;
    TapeVector *vector = &maker->tape->vectors[maker->tape->n_vectors++];
    TapeCell *cell = add_cell(maker, NULL);
    int32_t made = step->dst[0];

    *vector = (TapeVector){.cell = cell, .step = step, .first = TAPE_TO - instr->n_src};
    cell->vector = vector;
    cell->kernel = step->kernel;
    for (int operand = vector->first; operand < N_TAPE_OPERANDS; operand++) {
        int32_t value = operand == TAPE_TO ? made : step->src[operand - vector->first];

        if (instr->opcode == I_DOT && operand != TAPE_TO) { /* the vector, then the matrix */
            value = step->src[step->packed->is_left ? TAPE_B - operand : operand - TAPE_A];
        }
        vector->values[operand] = value;
        vector->is_lane[operand] = maker->is_lane[value] || maker->stores[value];
        if (operand != TAPE_TO && !is_array(maker->body, value)) {
            set_operand(maker, &cell->at[operand], value);
        }
    }
    vector->takes_before = takes_before(maker, vector);
    if (!is_array(maker->body, made)) {
        vector->fold = reduce_fold(instr);
        maker->spots[made] = place_result(maker, made, i_step, false);
        vector->to = maker->spots[made].place;
        cell->at[TAPE_TO] = maker->spots[made].address;
        if (maker->stores[made]) {
            add_store(maker, made);
        }
    }
}

/* Moves what is in one spot to another; both hold n_bytes. */
static void add_move(Maker *maker, TapeSpot from, TapeSpot to, int64_t n_bytes)
{
    TapeCell *cell;

    if (from.place == to.place && from.address == to.address) {
        return;
    }
    cell = from.place == TAPE_FIXED && to.place == TAPE_FIXED ? add_copy(maker, n_bytes, false, false)
                                                              : add_cell(maker, tape_unary(SCALAR_SECOND, from.place, to.place, false));
    cell->at[TAPE_B] = from.address;
    cell->at[TAPE_TO] = to.address;
}

/* The next value of a state, where it can be moved from when the rows of states move: other than in a tap's spot, and,
 * of a column, in memory. */
static TapeSpot add_next(Maker *maker, int32_t value)
{
    TapeSpot spot = {TAPE_FIXED, NULL};
    TapePlace place = place_of(maker, value);
    TapeCell *cell;

    if (maker->is_made[value]) {
        return maker->spots[value];
    }
    spot.address = new_hidden(maker);
    if (place == TAPE_FIXED || place == TAPE_COLUMN) {
        cell = add_copy(maker, item_bytes(maker, value), place == TAPE_COLUMN, false);
    } else {
        cell = add_cell(maker, tape_unary(SCALAR_SECOND, place, TAPE_FIXED, false));
    }
    set_operand(maker, &cell->at[TAPE_B], value);
    cell->at[TAPE_TO] = spot.address;
    return spot;
}

/* Each row becomes the one before: all next values are at rest first, since one may be another state's row. */
static int add_moves(Maker *maker)
{
    const Loop *loop = maker->loop_frame->loop;
    const Tape *tape = maker->tape;
    TapeSpot *next = mem_calloc((size_t)tape->n_chains + 1, sizeof *next);

    if (next == NULL) {
        return -1;
    }
    for (int32_t i = 0; i < tape->n_chains; i++) {
        if (tape->chains[i].n > 0) {
            next[i] = add_next(maker, loop->states[tape->chains[i].state].inner_out);
        }
    }
    for (int32_t i = 0; i < tape->n_chains; i++) {
        const TapeChain *chain = &tape->chains[i];
        int64_t n_bytes = item_bytes(maker, loop->states[chain->state].inner_out);

        for (int32_t k = chain->n - 1; k > 0; k--) {
            add_move(maker, tape->spots[chain->first + k - 1], tape->spots[chain->first + k], n_bytes);
        }
        if (chain->n > 0) {
            add_move(maker, next[i], tape->spots[chain->first], n_bytes);
        }
    }
    mem_free(next);
    return 0;
}

/* A condition that is a state's row is looked at when the rows have moved on. */
static void keep_until(Maker *maker)
{
    int32_t until = maker->loop_frame->loop->until;
    TapeCell *cell;

    if (until < 0 || maker->chain_of[until] < 0) {
        return;
    }
    maker->tape->until = new_hidden(maker);
    cell = add_copy(maker, 1, false, false);
    cell->at[TAPE_TO] = maker->tape->until;
    set_operand(maker, &cell->at[TAPE_B], until);
}

static int add_cells(Maker *maker)
{
    int32_t i_step = 0;

    add_loads(maker);
    for (const Step *step = maker->core; step->code != STEP_END; step++, i_step++) {
        if (is_arithmetic(maker->body, step)) {
            add_arithmetic(maker, step, i_step);
        } else if (is_from_int64(maker->body, step)) {
            add_from_int64(maker, step, i_step);
        } else if (is_condition(maker->body, step) || is_choice(maker->body, step)) {
            add_of_condition(maker, step, i_step);
        } else if (is_binomial(step)) {
            add_binomial(maker, step, i_step);
        } else if (tape_is_vector(maker->body, step)) {
            add_vector(maker, step, i_step);
        } else if (is_scaled(maker, step)) {
            add_scaled(maker, step, i_step);
        } else if (is_category(maker, step)) {
            add_category(maker, step, i_step);
        } else if (is_split(maker, step)) {
            add_finish(maker, step, i_step);
        } else if (is_element(maker, step)) {
            add_element(maker, step, i_step);
        } else if (step->code != STEP_ROW || maker->row_of[step->dst[0]] == NULL) {
            add_in_memory(maker, step, i_step);
        }
    }
    for (int32_t value = 0; value < maker->body->n_values; value++) {
        if (maker->stores[value] && !maker->is_made[value]) {
            add_store(maker, value);
        }
    }
    keep_until(maker);
    if (add_moves(maker) < 0) {
        return -1;
    }
    add_cell(maker, tape_end(maker->loop_frame->loop->until >= 0));
    return 0;
}

/* ---- making ---- */

/* Where other cells than arithmetic, and `until`, find what is no fixed input's. */
static void list_homes(Maker *maker)
{
    Tape *tape = maker->tape;

    for (int32_t value = 0; value < maker->body->n_values; value++) {
        bool is_placed = maker->is_made[value] || maker->chain_of[value] >= 0;

        if (is_array(maker->body, value)) {
            continue;
        }
        if (is_placed && maker->spots[value].place == TAPE_FIXED) {
            tape->homes[tape->n_homes++] = (TapeHome){value, maker->spots[value].address};
        } else if (is_placed || (maker->is_lane[value] && maker->needs_memory[value])) {
            tape->homes[tape->n_homes++] = (TapeHome){value, register_of(maker, value)};
        }
    }
}

static int make(Maker *maker)
{
    const Loop *loop = maker->loop_frame->loop;
    int n_pinned = 0;

    find_rows(maker);
    find_reads(maker);
    for (int i = 0; i < N_TAPE_PINS; i++) {
        maker->pinned[i] = FREE;
    }
    for (int32_t i = 0; i < loop->n_states; i++) {
        place_chain(maker, i, &n_pinned);
    }
    if (add_cells(maker) < 0) {
        return -1;
    }
    list_homes(maker);
    return 0;
}

/* Room for all cells: operands of the core, loads and stores, moves of rows. */
static size_t count_cells(const LoopFrame *loop_frame, const Step *core)
{
    size_t n = 8 + 2 * (size_t)loop_frame->loop->body->n_values;

    for (const Step *step = core; step->code != STEP_END; step++) {
        n += (size_t)step->instr->n_src + 2;
    }
    for (int32_t i = 0; i < loop_frame->loop->n_states; i++) {
        n += 2 + (size_t)loop_frame->loop->states[i].past;
    }
    return n;
}

int tape_new(Tape **result, LoopFrame *loop_frame, const LoopPhases *phases, const Step *core, const bool *stores, const bool *is_lane)
{
    const Loop *loop = loop_frame->loop;
    size_t n_values = (size_t)loop->body->n_values + 1, n_cells = count_cells(loop_frame, core), n_spots = n_cells;
    Tape *tape = mem_calloc(1, sizeof *tape);
    Maker maker = {.tape = tape, .loop_frame = loop_frame, .body = loop->body, .phases = phases, .core = core, .stores = stores, .is_lane = is_lane};
    int made = -1;

    if (tape == NULL) {
        return -1;
    }
    *result = tape;
    tape->is_fixed = phases->is_fixed;
    tape->cells = mem_calloc(n_cells, sizeof(TapeCell));
    tape->patches = mem_calloc(4 * n_cells, sizeof(TapePatch));
    tape->chains = mem_calloc((size_t)loop->n_states + 1, sizeof(TapeChain));
    tape->spots = mem_calloc(n_spots, sizeof(TapeSpot));
    tape->hidden = mem_calloc(n_cells, sizeof(Register));
    tape->homes = mem_calloc(n_values, sizeof(TapeHome));
    tape->arrays = mem_calloc(n_cells, sizeof(TapeArray));
    tape->vectors = mem_calloc((size_t)loop->body->n_instrs + 1, sizeof(TapeVector));
    maker.last_read = mem_calloc(n_values, sizeof(int32_t));
    maker.needs_memory = mem_calloc(n_values, sizeof(bool));
    maker.is_made = mem_calloc(n_values, sizeof(bool));
    maker.row_of = mem_calloc(n_values, sizeof(Step *));
    maker.spots = mem_calloc(n_values, sizeof(TapeSpot));
    maker.chain_of = mem_calloc(n_values, sizeof(int32_t));
    maker.heir_of = mem_calloc(n_values, sizeof(int32_t));
    if (tape->cells != NULL && tape->patches != NULL && tape->chains != NULL && tape->spots != NULL && tape->hidden != NULL && tape->homes != NULL
        && maker.last_read != NULL && maker.needs_memory != NULL && maker.is_made != NULL && maker.spots != NULL && maker.chain_of != NULL
        && maker.heir_of != NULL && maker.row_of != NULL && tape->arrays != NULL && tape->vectors != NULL) {
        made = make(&maker);
    }
    mem_free(maker.last_read);
    mem_free(maker.needs_memory);
    mem_free(maker.is_made);
    mem_free(maker.spots);
    mem_free(maker.chain_of);
    mem_free(maker.heir_of);
    mem_free(maker.row_of);
    return made;
}

void tape_free(Tape *tape)
{
    if (tape == NULL) {
        return;
    }
    for (int32_t i = 0; i < tape->n_arrays; i++) {
        buffer_unref(tape->arrays[i].sums);
    }
    mem_free(tape->arrays);
    mem_free(tape->cells);
    mem_free(tape->patches);
    mem_free(tape->chains);
    mem_free(tape->spots);
    mem_free(tape->hidden);
    mem_free(tape->homes);
    mem_free(tape->vectors);
    mem_free(tape);
}

bool tape_is_empty(const Tape *tape) { return tape->n_cells == 1; }

void tape_reset(Tape *tape, size_t *keep_bytes)
{
    for (int32_t i = 0; tape != NULL && i < tape->n_arrays; i++) {
        buffer_keep_or_drop(&tape->arrays[i].sums, keep_bytes);
    }
}

/* ---- running ---- */

/* The running sums of all rows, as draw_find_category adds them up. False where they may fall. */
static bool sum_rows(const Array *matrix, double *sums)
{
    for (int64_t i = 0; i < matrix->shape[0]; i++) {
        double sum = 0.0;

        for (int64_t j = 0; j < matrix->shape[1]; j++) {
            double p = *(const double *)(const void *)(matrix->data + i * matrix->strides[0] + j * matrix->strides[1]);

            if (p < 0.0) {
                return false;
            }
            sum += p;
            *sums++ = sum;
        }
    }
    return true;
}

/* Rows are summed up beforehand unless that takes longer than to add them up when they are drawn from; without memory neither. */
static void start_matrix(TapeArray *array, const Array *matrix, int64_t n_steps, Run *run)
{
    int64_t n = array_size(matrix);
    TapeCell *cell = array->cell;
    bool has_sums = n > 0 && n / 4 <= n_steps && n <= MAX_SUMS;

    if (has_sums && (array->sums == NULL || array->sums->n_bytes < (size_t)n * sizeof(double))) {
        buffer_unref(array->sums);
        array->sums = buffer_new((size_t)n * sizeof(double));
        run->counters->allocations++;
    }
    has_sums = has_sums && array->sums != NULL && sum_rows(matrix, (double *)(void *)array->sums->data);
    cell->look = (TapeLook){has_sums ? array->sums->data : NULL, matrix->shape[0], matrix->shape[1]};
    cell->function = tape_row_category(matrix->shape[1], has_sums);
}

void tape_start(Tape *tape, LoopFrame *loop_frame, Run *run)
{
    for (int32_t i = 0; i < tape->n_arrays; i++) {
        const Array *array = loop_frame->body->arrays[tape->arrays[i].value];

        if (tape->arrays[i].is_matrix) {
            start_matrix(&tape->arrays[i], array, loop_frame->n_steps, run);
        } else {
            tape->arrays[i].cell->look = (TapeLook){array->data, array->shape[0], array->strides[0]};
        }
    }
}

/* The rows before the block's first step. */
static void load_chains(Tape *tape, const LoopFrame *loop_frame)
{
    for (int32_t i = 0; i < tape->n_chains; i++) {
        const TapeChain *chain = &tape->chains[i];
        const LoopState *state = &loop_frame->loop->states[chain->state];
        const Array *buffer = loop_frame->around->arrays[state->outer_out];

        for (int32_t k = 0; k < chain->n; k++) {
            const TapeSpot *spot = &tape->spots[chain->first + k];
            const char *row = buffer->data + (state->past - 1 - k + loop_frame->n_done) % buffer->shape[0] * buffer->strides[0];

            memcpy(spot->place == TAPE_FIXED ? spot->address : (char *)&tape->run.pins[spot->place], row, (size_t)dtype_bytes(buffer->dtype));
        }
    }
}

int tape_run(Tape *tape, LoopFrame *loop_frame, const Lane *lanes, int64_t n, Run *run)
{
    Frame *body = loop_frame->body;
    TapeRun *state = &tape->run;

    for (int32_t i = 0; i < tape->n_homes; i++) {
        body->addr[tape->homes[i].value] = tape->homes[i].address;
    }
    for (int32_t i = 0; i < tape->n_patches; i++) {
        const TapePatch *patch = &tape->patches[i];
        *patch->slot = patch->is_lane ? lanes[patch->value].at : body->addr[patch->value];
    }
    tape_place_vectors(tape, loop_frame, lanes);
    load_chains(tape, loop_frame);
    state->cells = tape->cells;
    state->frame = body;
    state->run = run;
    state->until = tape->until != NULL ? tape->until : loop_frame->until != NULL ? *loop_frame->until : NULL;
    state->n_done = state->result = 0;
    while (state->result == 0 && state->n_done < n) {
        int64_t n_left = n - state->n_done, n_piece = 1 + MAX_CELLS / tape->n_cells;
        int64_t end = state->n_done + (n_piece < n_left ? n_piece : n_left);

        tape->cells->function(tape->cells, state->n_done, end, state, state->pins[0], state->pins[1], state->pins[2], state->pins[3]);
    }
    loop_frame->n_done += state->n_done;
    return state->result;
}
