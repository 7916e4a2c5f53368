/* The parts of a block that are made once for a loop: steps by phase, columns, and who stores which rows.
 *
 * Relies on: block.h. Relied on by: loop.c. */
#include "vm/block.h"

#include <stddef.h>

#include "base/mem.h"

static bool is_scalar(const Frame *body, int32_t value) { return body->program->values[value].value_class == VALUE_SCALAR; }

/* ---- steps ---- */

static const Step *find_step(const Frame *body, const Instr *instr) { return &body->steps[instr - body->program->instrs]; }

static Step *new_steps(const Frame *body, const int32_t *instrs, int32_t n)
{
    Step *steps = mem_calloc((size_t)n + 1, sizeof *steps);

    for (int32_t i = 0; steps != NULL && i < n; i++) {
        steps[i] = *find_step(body, &body->program->instrs[instrs[i]]);
    }
    if (steps != NULL) {
        steps[n].code = STEP_END;
    }
    return steps;
}

static Step *new_core(const Frame *body, const LoopPhases *phases)
{
    Step *steps = mem_calloc((size_t)body->program->n_instrs + 1, sizeof *steps), *next = steps;

    for (int32_t i = 0; steps != NULL && i < body->program->n_instrs; i++) {
        if (phases->of_instr[i] == PHASE_CORE) {
            *next++ = body->steps[i];
        }
    }
    if (steps != NULL) {
        next->code = STEP_END;
    }
    return steps;
}

/* Products in the core by a matrix that is the same in each step. */
static int find_factors(Block *block, const Value *values)
{
    int32_t n = 0;

    for (const Step *step = block->core; step->code != STEP_END; step++) {
        n += step->instr->opcode == I_DOT;
    }
    if (n > 0 && (block->factors = mem_calloc((size_t)n, sizeof *block->factors)) == NULL) {
        return -1;
    }
    for (Step *step = block->core; n > 0 && step->code != STEP_END; step++) {
        bool is_left;

        if (step->instr->opcode != I_DOT) {
            continue;
        }
        is_left = values[step->src[1]].ndim == 1;
        if (block->phases.is_fixed[step->src[is_left ? 0 : 1]] && values[step->src[is_left ? 0 : 1]].ndim == 2) {
            BlockFactor *factor = &block->factors[block->n_factors++];
            *factor = (BlockFactor){.step = step, .packed.is_left = is_left};
            step->packed = &factor->packed;
        }
    }
    return 0;
}

/* ---- what the core reads ---- */

/* By the core, or by what ends a step. */
static void find_core_reads(Block *block, const LoopFrame *loop_frame)
{
    const Loop *loop = loop_frame->loop;
    const Program *body = loop->body;

    for (const Step *step = block->core; step->code != STEP_END; step++) {
        const Loop *inner = step->instr->opcode == I_LOOP ? &body->loops[instr_aux(body, step->instr)[0]] : NULL;

        for (int32_t i = 0; i < (inner != NULL ? loop_n_src(inner) : step->instr->n_src); i++) {
            block->core_reads[inner != NULL ? loop_src(inner, i) : step->src[i]] = true;
        }
    }
    if (loop->until >= 0) {
        block->core_reads[loop->until] = true;
    }
    for (int32_t i = 0; i < loop->n_states; i++) {
        if (loop->states[i].n_taps > 0) {
            block->core_reads[loop->states[i].inner_out] = true;
        }
    }
    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        int32_t value = loop_frame->writers[i].inner_out;
        block->core_reads[value] |= body->values[value].origin == ORIGIN_ROW; /* a sequence's row that is a result as it is */
    }
}

/* ---- columns ---- */

static void add_column(Block *block, int32_t value, bool is_made_ahead, bool is_in_core, bool is_kept_tap)
{
    if (block->column_of[value] < 0) {
        block->column_of[value] = block->n_columns;
        block->columns[block->n_columns++] =
            (Column){.value = value, .state = -1, .is_made_ahead = is_made_ahead, .is_in_core = is_in_core, .is_kept_tap = is_kept_tap};
    }
}

static bool is_tap(const Loop *loop, int32_t value)
{
    for (int32_t i = 0; i < loop->n_taps; i++) {
        if (loop->taps[i].inner == value) {
            return true;
        }
    }
    return false;
}

static bool is_made_in(const Step *steps, int32_t value)
{
    for (const Step *step = steps; step->code != STEP_END; step++) {
        for (int32_t i = 0; i < step->instr->n_dst; i++) {
            if (step->dst[i] == value) {
                return true;
            }
        }
    }
    return false;
}

static void find_columns(Block *block, const LoopFrame *loop_frame)
{
    const Loop *loop = loop_frame->loop;

    for (int32_t i = 0; i < loop->body->n_values; i++) {
        block->column_of[i] = -1;
    }
    for (const Step *step = block->before; step->code != STEP_END; step++) {
        int32_t made = step->dst[block_is_split(block, loop->body, step) ? 0 : step->instr->n_dst - 1];
        add_column(block, made, true, block->core_reads[made], false);
    }
    for (const Step *step = block->after; step->code != STEP_END; step++) {
        add_column(block, step->dst[0], false, false, false);
    }
    for (const Step *step = block->after; step->code != STEP_END; step++) {
        for (int32_t i = 0; i < step->instr->n_src; i++) {
            if (is_tap(loop, step->src[i])) {
                add_column(block, step->src[i], false, false, true);
            } else if (is_made_in(block->core, step->src[i])) {
                add_column(block, step->src[i], false, true, false);
            }
        }
    }
}

/* All that a tape has to write in a step is a column. False when something cannot be. */
static bool find_tape_columns(Block *block, const LoopFrame *loop_frame)
{
    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        int32_t value = loop_frame->writers[i].inner_out;

        if (is_tap(loop_frame->loop, value)) {
            add_column(block, value, false, false, true);
        } else if (is_made_in(block->core, value)) {
            add_column(block, value, false, true, false);
        } else if (block->column_of[value] < 0) {
            return false;
        }
    }
    return true;
}

/* The steps of a tape find a state's past in front of its column. */
static void find_pasts(Block *block, const LoopFrame *loop_frame)
{
    const Loop *loop = loop_frame->loop;

    for (int32_t i = 0; i < loop->n_states; i++) {
        const LoopState *state = &loop->states[i];

        if (state->n_taps > 0 && !is_scalar(loop_frame->body, state->inner_out)) {
            Column *column = &block->columns[block->column_of[state->inner_out]];
            column->state = i;
            column->past = state->past;
        }
    }
}

/* Paths and states of values that have columns are stored block-wise; but not states that taps read, unless the core is
 * a tape. */
static void find_stored(Block *block, const LoopFrame *loop_frame, bool is_taped)
{
    const Loop *loop = loop_frame->loop;

    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        Writer *writer = &loop_frame->writers[i];
        int32_t number = block->column_of[writer->inner_out];
        Column *column = number >= 0 ? &block->columns[number] : NULL;
        bool is_read_back = i >= loop->n_paths && loop->states[i - loop->n_paths].n_taps > 0;

        if (column == NULL || (!is_taped && (column->is_kept_tap || is_read_back))) {
            continue;
        }
        block->is_stored[i] = true;
        if (column->home == NULL || (column->state >= 0 && i == loop->n_paths + column->state)) {
            column->home = writer;
        }
    }
}

/* ---- making and freeing ---- */

static int make_tape(Block *block, LoopFrame *loop_frame)
{
    const Loop *loop = loop_frame->loop;
    bool *stores = mem_calloc(2 * (size_t)loop->body->n_values + 1, sizeof(bool)), *is_lane = stores + loop->body->n_values;
    int result;

    if (stores == NULL) {
        return -1;
    }
    for (int32_t i = 0; i < block->n_columns; i++) {
        const Column *column = &block->columns[i];
        stores[column->value] = column->is_kept_tap || (column->is_in_core && !column->is_made_ahead);
        is_lane[column->value] = column->is_made_ahead;
    }
    for (int32_t i = 0; i < loop->n_sequences; i++) {
        is_lane[loop->sequences[i].inner] = block->has_vectors || is_scalar(loop_frame->body, loop->sequences[i].inner);
    }
    for (int32_t i = 0; i < loop->n_taps; i++) {
        is_lane[loop->taps[i].inner] = !is_scalar(loop_frame->body, loop->taps[i].inner);
    }
    result = tape_new(&block->tape, loop_frame, &block->phases, block->core, stores, is_lane);
    mem_free(stores);
    return result;
}

/* With a tape if the core can be one. */
static int make_columns(Block *block, LoopFrame *loop_frame)
{
    bool is_taped = block->has_vectors || tape_can_run(loop_frame, &block->phases, block->core);

    find_columns(block, loop_frame);
    if (is_taped && !find_tape_columns(block, loop_frame)) {
        if (block->has_vectors) {
            return 0;
        }
        is_taped = false;
        block->n_columns = 0;
        find_columns(block, loop_frame);
    }
    if (block->has_vectors) {
        find_pasts(block, loop_frame);
    }
    find_stored(block, loop_frame, is_taped);
    return is_taped ? make_tape(block, loop_frame) : 0;
}

static int make_saved(Block *block)
{
    for (const Step *step = block->before; step->code != STEP_END; step++) {
        int32_t carry = step->instr->opcode == I_DRAW ? block->phases.carry[step->src[0]] : -1;

        if (carry >= 0 && block->saved[carry] == NULL && (block->saved[carry] = stream_new()) == NULL) {
            return -1;
        }
    }
    return 0;
}

static int make_phases(Block *block, const LoopFrame *loop_frame, bool may_split)
{
    loop_free_phases(&block->phases);
    mem_free(block->before);
    mem_free(block->after);
    mem_free(block->core);
    block->before = block->after = block->core = NULL;
    if (loop_find_phases(loop_frame->loop, may_split, &block->phases) < 0) {
        return -1;
    }
    block->before = new_steps(loop_frame->body, block->phases.before, block->phases.n_before);
    block->after = new_steps(loop_frame->body, block->phases.after, block->phases.n_after);
    block->core = new_core(loop_frame->body, &block->phases);
    return block->before == NULL || block->after == NULL || block->core == NULL ? -1 : 0;
}

/* Whether the core will be a tape, which alone can finish draws: all that it has to write will be in columns. */
static bool can_finish(const Block *block, const LoopFrame *loop_frame)
{
    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        int32_t value = loop_frame->writers[i].inner_out;

        if (!is_tap(loop_frame->loop, value) && !is_made_in(block->core, value) && !is_made_in(block->before, value) && !is_made_in(block->after, value)) {
            return false;
        }
    }
    return tape_can_run(loop_frame, &block->phases, block->core);
}

int block_new(Block **result, LoopFrame *loop_frame, bool has_vectors)
{
    const Program *body = loop_frame->loop->body;
    size_t n_values = (size_t)body->n_values + 1, n_writers = (size_t)loop_frame->n_writers + 1;
    Block *block = mem_calloc(1, sizeof *block);

    if (block == NULL) {
        return -1;
    }
    *result = block;
    block->has_vectors = has_vectors;
    if (loop_frame->has_carries) {
        return 0;
    }
    if (make_phases(block, loop_frame, !has_vectors) < 0 || (block->phases.n_split > 0 && !can_finish(block, loop_frame)
                                                     && make_phases(block, loop_frame, false) < 0)) {
        return -1;
    }
    if (find_factors(block, body->values) < 0) {
        return -1;
    }
    if (has_vectors ? !tape_can_run_vectors(loop_frame, &block->phases, block->core)
                    : block->phases.n_before + block->phases.n_after + block->n_factors == 0 && !tape_can_run(loop_frame, &block->phases, block->core)) {
        return 0;
    }
    if ((block->core_reads = mem_calloc(n_values, sizeof(bool))) == NULL
        || (block->column_of = mem_calloc(n_values, sizeof(int32_t))) == NULL
        || (block->columns = mem_calloc(n_values, sizeof(Column))) == NULL
        || (block->is_stored = mem_calloc(n_writers, sizeof(bool))) == NULL
        || (block->saved = mem_calloc((size_t)loop_frame->loop->n_carries + 1, sizeof(Stream *))) == NULL
        || (block->gathered = mem_calloc((size_t)loop_frame->loop->n_sequences + 1, sizeof(Buffer *))) == NULL
        || (block->lanes = mem_calloc(n_values, sizeof(Lane))) == NULL) {
        return -1;
    }
    find_core_reads(block, loop_frame);
    if (make_columns(block, loop_frame) < 0 || make_saved(block) < 0
        || rows_new(&block->rows, loop_frame->max_tracks + (size_t)block->n_columns) < 0) {
        return -1;
    }
    block->is_split = (!has_vectors && block->phases.n_before + block->phases.n_after + block->n_factors > 0) || block->tape != NULL;
    return 0;
}

void block_free(Block *block, const LoopFrame *loop_frame)
{
    if (block == NULL) {
        return;
    }
    for (int32_t i = 0; block->saved != NULL && i < loop_frame->loop->n_carries; i++) {
        stream_free(block->saved[i]);
    }
    for (int32_t i = 0; i < block->n_columns; i++) {
        buffer_unref(block->columns[i].memory);
    }
    for (int32_t i = 0; block->gathered != NULL && i < loop_frame->loop->n_sequences; i++) {
        buffer_unref(block->gathered[i]);
    }
    for (int32_t i = 0; i < block->n_factors; i++) {
        buffer_unref(block->factors[i].packed.memory);
    }
    loop_free_phases(&block->phases);
    tape_free(block->tape);
    rows_free(&block->rows);
    mem_free(block->before);
    mem_free(block->core);
    mem_free(block->after);
    mem_free(block->factors);
    mem_free(block->core_reads);
    mem_free(block->column_of);
    mem_free(block->columns);
    mem_free(block->is_stored);
    mem_free(block->saved);
    mem_free(block->lanes);
    mem_free(block->gathered);
    mem_free(block);
}

void block_reset(Block *block, const LoopFrame *loop_frame, size_t *keep_bytes)
{
    for (int32_t i = 0; i < block->n_columns; i++) {
        buffer_keep_or_drop(&block->columns[i].memory, keep_bytes);
    }
    for (int32_t i = 0; block->gathered != NULL && i < loop_frame->loop->n_sequences; i++) {
        buffer_keep_or_drop(&block->gathered[i], keep_bytes);
    }
    for (int32_t i = 0; i < block->n_factors; i++) {
        buffer_keep_or_drop(&block->factors[i].packed.memory, keep_bytes);
    }
    tape_reset(block->tape, keep_bytes);
}

/* ---- whether a call can run in blocks ---- */

/* Streams that are drawn ahead are drawn natively and can be put back. A RandomState's draws are not split. */
static bool can_draw_ahead(const LoopFrame *loop_frame, const Block *block, const Step *step, const VmHost *host)
{
    const Stream *stream = loop_frame->body->pointers[step->src[0]];

    if (block_is_split(block, loop_frame->body->program, step)
        && (stream->gauss != NULL || stream->by_method || !fast_may_finish(&host->dists, step->instr->fn, stream))) {
        return false;
    }
    return dist_has_batches(step->instr->fn) && stream->layout != NULL && draws_find(host, stream, step->instr->fn) != NULL;
}

/* A value with a column that the core must bring to a state's rows: by moves, unless it computes it there. */
static bool can_write(const Block *block, const LoopFrame *loop_frame, const Writer *writer, int32_t number)
{
    const Column *column = &block->columns[block->column_of[writer->inner_out]];

    if (block->is_stored[number]) {
        return !writer->is_staged;
    }
    return !is_scalar(loop_frame->body, writer->inner_out) || !writer->is_tracked || writer->item_bytes == 8
           || (!column->is_made_ahead && writer->n_rows >= writer->past + loop_frame->n_steps);
}

bool block_fits(const LoopFrame *loop_frame, const Block *block) { return !block->has_vectors || tape_fit(block->tape, loop_frame); }

bool block_can_run(const LoopFrame *loop_frame, const Block *block, const VmHost *host)
{
    if (!block->is_split || host->block_steps <= 0 || loop_frame->is_whole) {
        return false;
    }
    for (const Step *step = block->before; step->code != STEP_END; step++) {
        if (step->instr->opcode == I_DRAW && !can_draw_ahead(loop_frame, block, step, host)) {
            return false;
        }
    }
    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        const Writer *writer = &loop_frame->writers[i];

        if (block->column_of[writer->inner_out] >= 0 && !can_write(block, loop_frame, writer, i)) {
            return false;
        }
    }
    return true;
}
