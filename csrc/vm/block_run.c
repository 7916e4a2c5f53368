/* Running blocks.
 *
 * Relies on: block.h, draw.h. Relied on by: loop.c. */
#include <stddef.h>

#include "random/draw.h"
#include "vm/block.h"

/* A block's columns are within the cache next to the core, if it then has USUAL_STEPS, and within the next one in any case. A
 * block costs 150 ns: 256 draws of a uniform, 250. */
enum { FIRST_STEPS = 8, USUAL_STEPS = 256, NEAR_CACHE_BYTES = 1 << 15, CACHE_BYTES = 1 << 18 };

/* ---- places ---- */

static bool is_array(const Frame *body, int32_t value) { return body->arrays[value] != NULL; }

/* The bytes of a row: of an array, as the first step made it. */
static int64_t find_row_bytes(const Frame *body, int32_t value)
{
    const Value *row = &body->program->values[value];
    int64_t item_bytes = row->value_class == VALUE_STREAM ? (int64_t)sizeof(double) : dtype_bytes((DType)row->dtype);

    return is_array(body, value) ? array_size(body->arrays[value]) * item_bytes : item_bytes;
}

static const Track *find_direct(const LoopFrame *loop_frame, int32_t value)
{
    for (int32_t i = 0; i < loop_frame->n_tracks; i++) {
        const Track *track = &loop_frame->tracks[i];
        const Writer *writer = track->writer >= 0 ? &loop_frame->writers[track->writer] : NULL;

        if (track->value == value && writer != NULL && !track->is_move && !loop_frame->block->is_stored[track->writer]
            && writer->n_rows >= writer->past + loop_frame->n_steps) {
            return track;
        }
    }
    return NULL;
}

/* How many steps a block has at most, whose columns take n_bytes a step. */
static int64_t choose_steps(int64_t n_bytes, int64_t most)
{
    int64_t far = 1 + CACHE_BYTES / (n_bytes + 1), near = NEAR_CACHE_BYTES / (n_bytes + 1), n_steps;

    n_steps = near > USUAL_STEPS ? near : USUAL_STEPS;
    n_steps = n_steps > far ? far : n_steps;
    n_steps = n_steps < FIRST_STEPS ? FIRST_STEPS : n_steps;
    return n_steps > most ? most : n_steps;
}

/* What a call's first step tells. */
static void start_columns(LoopFrame *loop_frame, const VmHost *host)
{
    Block *block = loop_frame->block;
    int64_t n_bytes = 0;

    for (int32_t i = 0; i < block->n_columns; i++) {
        Column *column = &block->columns[i];

        column->row_bytes = find_row_bytes(loop_frame->body, column->value);
        column->direct = block->tape == NULL && column->is_in_core && !column->is_made_ahead ? find_direct(loop_frame, column->value) : NULL;
        n_bytes += column->row_bytes;
    }
    block->max_steps = choose_steps(n_bytes, host->block_steps);
}

static bool is_home(const LoopFrame *loop_frame, const Column *column)
{
    const Writer *writer = column->home;

    if (writer == NULL || writer->stride != column->row_bytes || writer->n_rows < writer->past + loop_frame->n_steps) {
        return false;
    }
    return writer->is_scalar
           || (writer->row_bytes == column->row_bytes && array_same_shape(loop_frame->body->arrays[column->value], &writer->shape));
}

static char *writer_row(const LoopFrame *loop_frame, const Writer *writer, int64_t step)
{
    return loop_frame->around->arrays[writer->outer_out]->data + (writer->past + step) % writer->n_rows * writer->stride;
}

/* Memory for the longest block, and for what is in front of it, made when it is first needed. */
static char *own_memory(const Block *block, Column *column, Run *run)
{
    size_t n_bytes = (size_t)(column->row_bytes * (column->past + block->max_steps));

    if (column->memory == NULL || column->memory->n_bytes < n_bytes) {
        buffer_unref(column->memory);
        column->memory = buffer_new(n_bytes);
        run->counters->allocations++;
        if (column->memory == NULL) {
            status_fail(run->status, STATUS_NO_MEMORY);
            return NULL;
        }
    }
    return column->memory->data + column->past * column->row_bytes;
}

/* Copies a state's past in front of a column that does not lie behind it. */
static void copy_past(const LoopFrame *loop_frame, const Column *column, char *first, int64_t step)
{
    const LoopState *state = &loop_frame->loop->states[column->state];
    const Array *buffer = loop_frame->around->arrays[state->outer_out];

    for (int64_t k = 1; k <= column->past; k++) {
        const char *row = buffer->data + (state->past - k + step) % buffer->shape[0] * buffer->strides[0];
        memcpy(first - k * column->row_bytes, row, (size_t)column->row_bytes);
    }
}

/* The rows that taps show on a tape are those of the state's column. */
static void place_taps(LoopFrame *loop_frame, const Column *column)
{
    const Loop *loop = loop_frame->loop;
    const LoopState *state = &loop->states[column->state];
    const Lane *lane = &loop_frame->block->lanes[column->value];

    for (int32_t i = state->first_tap; i < state->first_tap + state->n_taps; i++) {
        loop_frame->block->lanes[loop->taps[i].inner] = (Lane){lane->at + loop->taps[i].tap * lane->stride, lane->stride};
    }
}

static int place_columns(LoopFrame *loop_frame, Run *run)
{
    Block *block = loop_frame->block;
    int64_t step = loop_frame->n_done;

    for (int32_t i = 0; i < block->n_columns; i++) {
        Column *column = &block->columns[i];
        Lane *lane = &block->lanes[column->value];

        lane->stride = column->row_bytes;
        if (column->direct != NULL) {
            *lane = (Lane){track_row(column->direct, step), column->direct->stride};
        } else if (is_home(loop_frame, column)) {
            lane->at = writer_row(loop_frame, column->home, step);
        } else if ((lane->at = own_memory(block, column, run)) == NULL) {
            return -1;
        } else if (column->state >= 0) {
            copy_past(loop_frame, column, lane->at, step);
        }
        if (column->state >= 0) {
            place_taps(loop_frame, column);
        }
    }
    return 0;
}

static void place_scalar(LoopFrame *loop_frame, int32_t value)
{
    Block *block = loop_frame->block;

    if (block->column_of[value] < 0 && !is_array(loop_frame->body, value)) {
        block->lanes[value] = (Lane){loop_frame->body->addr[value], 0};
    }
}

/* The rows of a sequence. A tape takes doubles that lie side by side. */
static int place_sequence(LoopFrame *loop_frame, int32_t i, int64_t n, Run *run)
{
    Block *block = loop_frame->block;
    const Track *track = &loop_frame->tracks[i];
    int64_t item_bytes = dtype_bytes((DType)loop_frame->body->program->values[track->value].dtype);
    Lane *lane = &block->lanes[track->value];

    *lane = (Lane){track_row(track, loop_frame->n_done), track->stride};
    if (block->tape == NULL || is_array(loop_frame->body, track->value) || track->stride == item_bytes) {
        return 0;
    }
    if (block->gathered[i] == NULL && (block->gathered[i] = buffer_new((size_t)(item_bytes * run->host->block_steps))) == NULL) {
        return status_fail(run->status, STATUS_NO_MEMORY);
    }
    for (int64_t k = 0; k < n; k++) {
        memcpy(block->gathered[i]->data + k * item_bytes, lane->at + k * lane->stride, (size_t)item_bytes);
    }
    *lane = (Lane){block->gathered[i]->data, item_bytes};
    return 0;
}

/* Lanes of what has no column: rows of sequences, and what no step changes. */
static int place_sources(LoopFrame *loop_frame, int64_t n, Run *run)
{
    Block *block = loop_frame->block;
    const Step *const lists[] = {block->before, block->after};

    for (int i = 0; i < 2; i++) {
        for (const Step *step = lists[i]; step->code != STEP_END; step++) {
            for (int32_t j = step->instr->opcode == I_DRAW ? 1 : 0; j < step->instr->n_src; j++) {
                place_scalar(loop_frame, step->src[j]);
            }
        }
    }
    for (int32_t i = 0; i < loop_frame->loop->n_sequences; i++) {
        if (place_sequence(loop_frame, i, n, run) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- tracks of the core ---- */

static void add_track(LoopFrame *loop_frame, const Track *track)
{
    Block *block = loop_frame->block;
    Track core = *track;
    bool is_sequence = track - loop_frame->tracks < loop_frame->loop->n_sequences;
    int32_t column = block->column_of[track->value];

    if (is_sequence && !block->core_reads[track->value]) {
        return;
    }
    if (track->writer >= 0 && block->is_stored[track->writer]) {
        return;
    }
    if (track->writer >= 0 && column >= 0 && block->columns[column].direct != track) {
        core.is_move = true;
    }
    rows_add(&block->rows, &core, loop_frame->body, loop_frame->n_done);
}

static void place_core(LoopFrame *loop_frame)
{
    Block *block = loop_frame->block;

    rows_clear(&block->rows);
    for (int32_t i = 0; i < block->n_columns; i++) {
        const Column *column = &block->columns[i];
        const Lane *lane = &block->lanes[column->value];

        if ((column->is_in_core && column->direct == NULL) || column->is_kept_tap) {
            Track track = {.value = column->value, .is_move = column->is_kept_tap, .data = lane->at, .stride = lane->stride};
            rows_add(&block->rows, &track, loop_frame->body, 0);
        }
    }
    for (int32_t i = 0; i < loop_frame->n_tracks; i++) {
        add_track(loop_frame, &loop_frame->tracks[i]);
    }
}

/* Who writes which rows while a block's core runs, or a plain step. */
static void set_storing(LoopFrame *loop_frame, bool is_block)
{
    Block *block = loop_frame->block;
    bool has_others = loop_frame->until != NULL;

    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        Writer *writer = &loop_frame->writers[i];

        writer->is_stored_later = is_block && block->is_stored[i];
        has_others |= !writer->is_stored_later && !writer->is_tracked;
    }
    block->rows.has_others = has_others;
}

/* ---- the phases ---- */

static int run_map_lanes(const Block *block, const Step *step, int64_t n, Run *run)
{
    const int32_t *src = step->src;
    const Lane *to = &block->lanes[step->dst[0]];
    char *args[STEP_MAX_CELLS];
    int64_t strides[STEP_MAX_CELLS];
    int32_t n_src = step->instr->n_src, n_args = step->code == STEP_FOLD ? 2 : n_src;

    for (int32_t i = 0; i < n_args; i++) {
        args[i] = block->lanes[src[i]].at;
        strides[i] = block->lanes[src[i]].stride;
    }
    args[n_args] = to->at;
    strides[n_args] = to->stride;
    step->kernel(n, args, strides);
    for (int32_t i = 2; step->code == STEP_FOLD && i < n_src; i++) {
        args[0] = to->at;
        strides[0] = to->stride;
        args[1] = block->lanes[src[i]].at;
        strides[1] = block->lanes[src[i]].stride;
        step->kernel(n, args, strides);
    }
    return run_spend(run, n * n_src);
}

/* A factor of a product, and how far it moves from step to step. */
static int64_t show_factor(const LoopFrame *loop_frame, int32_t value, Array *factor)
{
    const Lane *lane = &loop_frame->block->lanes[value];

    *factor = *loop_frame->body->arrays[value];
    if (loop_frame->block->phases.is_fixed[value]) {
        return 0;
    }
    factor->data = lane->at;
    return lane->stride;
}

static int run_dot_lanes(const LoopFrame *loop_frame, const Step *step, int64_t n, Run *run)
{
    const Frame *body = loop_frame->body;
    int32_t made = step->dst[0];
    Array a, b, dst = {.dtype = (DType)body->program->values[made].dtype};
    int64_t a_stride = show_factor(loop_frame, step->src[0], &a), b_stride = show_factor(loop_frame, step->src[1], &b);

    if (is_array(body, made)) {
        dst = *body->arrays[made];
    }
    dst.data = loop_frame->block->lanes[made].at;
    return dot_steps(&dst, &a, a_stride, &b, b_stride, n, run);
}

/* n rows from number `first` on, of one draw. */
static int draw_rows_at_once(LoopFrame *loop_frame, const Step *step, int64_t first, int64_t n, Run *run)
{
    const Block *block = loop_frame->block;
    const Frame *body = loop_frame->body;
    const int32_t *src = step->src + step->instr->n_src - dist_n_params(step->instr->fn);
    Stream *stream = body->pointers[step->src[0]];
    const Lane *to = &block->lanes[step->dst[1]];
    Array params[DRAW_MAX_PARAMS], dst = {.dtype = (DType)body->program->values[step->dst[1]].dtype, .ndim = 1};

    for (int i = 0; i < dist_n_params(step->instr->fn); i++) {
        const Lane *lane = &block->lanes[src[i]];

        if (is_array(body, src[i])) {
            params[i] = *body->arrays[src[i]];
        } else {
            params[i] = (Array){.data = lane->at + first * lane->stride, .dtype = (DType)body->program->values[src[i]].dtype};
            params[i].ndim = lane->stride != 0;
            params[i].shape[0] = n;
            params[i].strides[0] = lane->stride;
        }
    }
    if (is_array(body, step->dst[1])) {
        const Array *row = body->arrays[step->dst[1]];
        dst.ndim = row->ndim + 1;
        memcpy(dst.shape + 1, row->shape, (size_t)row->ndim * sizeof(int64_t));
    }
    dst.shape[0] = n;
    dst.data = to->at + first * to->stride;
    array_set_contiguous_strides(&dst);
    return draws_fill(step->instr->fn, stream, &dst, params, run_draw_poll(run), run);
}

/* n standard numbers of a draw that is split. */
static int draw_standard(LoopFrame *loop_frame, const Step *step, int64_t first, int64_t n, Run *run)
{
    const Lane *to = &loop_frame->block->lanes[step->dst[0]];
    int standard = fast_standard(step->instr->fn);
    Array params[DRAW_MAX_PARAMS], dst = {.dtype = DTYPE_FLOAT64, .ndim = 1, .shape = {n}, .strides = {sizeof(double)}, .data = to->at + first * to->stride};

    for (int i = 0; i < dist_n_params(standard); i++) {
        params[i] = (Array){.data = (char *)(uintptr_t)&fast_standard_params(standard)[i], .dtype = DTYPE_FLOAT64};
    }
    return draws_fill(standard, loop_frame->body->pointers[step->src[0]], &dst, params, run_draw_poll(run), run);
}

static int draw_rows(LoopFrame *loop_frame, const Step *step, int64_t first, int64_t n, Run *run)
{
    if (block_is_split(loop_frame->block, loop_frame->body->program, step)) {
        return draw_standard(loop_frame, step, first, n, run);
    }
    if (draw_is_in_order(step->instr->fn)) {
        return draw_rows_at_once(loop_frame, step, first, n, run);
    }
    for (int64_t i = 0; i < n; i++) {
        if (draw_rows_at_once(loop_frame, step, first + i, 1, run) < 0) {
            return -1;
        }
    }
    return 0;
}

/* The draws on one stream, of which *end is set to the step behind the last: in each step one after the other. */
static int draw_group(LoopFrame *loop_frame, const Step *first, const Step **end, int64_t n, Run *run)
{
    const int32_t *carry = loop_frame->block->phases.carry;
    const Step *step = first + 1;

    while (step->code != STEP_END && step->instr->opcode == I_DRAW && carry[step->src[0]] == carry[first->src[0]]) {
        step++;
    }
    *end = step;
    if (step == first + 1) {
        return draw_rows(loop_frame, first, 0, n, run);
    }
    for (int64_t i = 0; i < n; i++) {
        for (step = first; step < *end; step++) {
            if (draw_rows(loop_frame, step, i, 1, run) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

static int run_before(LoopFrame *loop_frame, int64_t n, bool has_draws_only, Run *run)
{
    const Step *step = loop_frame->block->before;

    while (step->code != STEP_END) {
        if (step->instr->opcode == I_DRAW) {
            if (draw_group(loop_frame, step, &step, n, run) < 0) {
                return -1;
            }
            continue;
        }
        if (!has_draws_only
            && (step->instr->opcode == I_DOT ? run_dot_lanes(loop_frame, step, n, run) : run_map_lanes(loop_frame->block, step, n, run)) < 0) {
            return -1;
        }
        step++;
    }
    return 0;
}

static int run_after(const Block *block, int64_t n, Run *run)
{
    for (const Step *step = block->after; step->code != STEP_END; step++) {
        if (run_map_lanes(block, step, n, run) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- streams ---- */

static Stream *carried(const LoopFrame *loop_frame, int32_t carry)
{
    return loop_frame->body->pointers[loop_frame->loop->carries[carry].inner_in];
}

static int save_streams(LoopFrame *loop_frame, Run *run)
{
    for (int32_t i = 0; i < loop_frame->loop->n_carries; i++) {
        Stream *saved = loop_frame->block->saved[i];
        if (saved != NULL && stream_copy(saved, carried(loop_frame, i), run->status) < 0) {
            return -1;
        }
    }
    return 0;
}

static void put_streams_back(LoopFrame *loop_frame)
{
    for (int32_t i = 0; i < loop_frame->loop->n_carries; i++) {
        if (loop_frame->block->saved[i] != NULL) {
            stream_put(carried(loop_frame, i), loop_frame->block->saved[i]);
        }
    }
}

/* ---- rows ---- */

/* Writes n rows of a column that does not lie where they belong. */
static int store_rows(LoopFrame *loop_frame, Writer *writer, int64_t step, int64_t n, Run *run)
{
    const Block *block = loop_frame->block;
    const Lane *lane = &block->lanes[writer->inner_out];
    const Array *value = loop_frame->body->arrays[writer->inner_out];
    int64_t first = n > writer->n_rows ? n - writer->n_rows : 0; /* those before would be written over */

    for (int64_t i = first; i < n; i++) {
        char *row = writer_row(loop_frame, writer, step + i), *from = lane->at + i * lane->stride;

        if (writer->is_scalar) {
            memcpy(row, from, (size_t)writer->item_bytes);
        } else {
            Array shown = *value;
            shown.data = from;
            if (loop_write_array(writer, row, &shown, run) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

static int store_block(LoopFrame *loop_frame, int64_t step, int64_t n, Run *run)
{
    const Block *block = loop_frame->block;

    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        Writer *writer = &loop_frame->writers[i];

        if (!block->is_stored[i] || writer->n_rows == 0) {
            continue;
        }
        if (block->lanes[writer->inner_out].at != writer_row(loop_frame, writer, step) && store_rows(loop_frame, writer, step, n, run) < 0) {
            return -1;
        }
        writer->row = writer_row(loop_frame, writer, step + n);
    }
    return 0;
}

/* ---- blocks ---- */

/* Scalars that the core computes in its columns are in registers again: the plain loop, of this call or the next,
 * writes where they are, and the columns' memory may be gone by then. (Arrays are shown their storage whenever they are
 * made.) */
static void leave_columns(LoopFrame *loop_frame)
{
    Frame *body = loop_frame->body;

    for (int32_t i = 0; i < loop_frame->block->n_columns; i++) {
        int32_t value = loop_frame->block->columns[i].value;
        if (!is_array(body, value)) {
            body->addr[value] = body->registers[value].bytes;
        }
    }
}

/* One step by the plain loop, in the order of the program. */
static int run_plain_step(LoopFrame *loop_frame, Run *run)
{
    Frame *body = loop_frame->body;

    leave_columns(loop_frame);
    set_storing(loop_frame, false);
    loop_place_rows(loop_frame, loop_frame->n_done);
    return loop_run_steps(loop_frame, &loop_frame->rows, body->each, body->each, 1, run);
}

/* 0, or 1 when it can't be: streams are where they were. */
static int start_block(LoopFrame *loop_frame, int64_t n, Run *run)
{
    if (save_streams(loop_frame, run) < 0 || place_columns(loop_frame, run) < 0 || place_sources(loop_frame, n, run) < 0) {
        return -1;
    }
    if (run_before(loop_frame, n, false, run) == 0) {
        return 0;
    }
    if (run->status->code == STATUS_INTERRUPTED || run->status->code == STATUS_NO_MEMORY) {
        return -1;
    }
    status_clear(run->status);
    put_streams_back(loop_frame);
    return 1;
}

/* 1: `until` ended the loop. 2: the next step is left to the plain loop. */
static int run_core(LoopFrame *loop_frame, int64_t n, Run *run)
{
    Block *block = loop_frame->block;
    bool is_empty;

    if (block->tape != NULL && !tape_is_empty(block->tape)) {
        return tape_run(block->tape, loop_frame, block->lanes, n, run);
    }
    set_storing(loop_frame, true);
    place_core(loop_frame);
    is_empty = block->tape != NULL || (block->core->code == STEP_END && block->rows.moves == block->rows.moves_end && !block->rows.has_others);
    if (!is_empty) {
        return loop_run_steps(loop_frame, &block->rows, block->core, block->core, n, run);
    }
    loop_frame->n_done += n;
    return 0;
}

/* The core of n steps and what comes after it. 1: `until` ended the loop. 2: the next step is left to the plain loop. */
static int finish_block(LoopFrame *loop_frame, int64_t n, Run *run)
{
    Block *block = loop_frame->block;
    int64_t step = loop_frame->n_done;
    int result = 0;

    if ((result = run_core(loop_frame, n, run)) < 0) {
        return -1;
    }
    if (loop_frame->n_done < step + n) {
        n = loop_frame->n_done - step;
        put_streams_back(loop_frame);
        if (n == 0) {
            return result;
        }
        if (run_before(loop_frame, n, true, run) < 0) {
            return -1;
        }
    }
    run->counters->block_steps += n;
    return run_after(block, n, run) < 0 || store_block(loop_frame, step, n, run) < 0 ? -1 : result;
}

static int run_blocks(LoopFrame *loop_frame, Run *run)
{
    const Block *block = loop_frame->block;
    int64_t n = FIRST_STEPS, n_left, step_cost = loop_frame->step_cost + (block->has_vectors ? block->tape->vector_cost : 0);
    int result = 0;

    start_columns(loop_frame, run->host);
    for (int32_t i = 0; i < block->n_factors; i++) {
        dot_pack(&block->factors[i].packed, loop_frame->body, block->factors[i].step, run);
    }
    if (loop_frame->block->tape != NULL) {
        tape_start(loop_frame->block->tape, loop_frame, run);
    }
    while (result == 0 && (n_left = loop_frame->n_steps - loop_frame->n_done) > 0) {
        n = n > block->max_steps ? block->max_steps : n;
        n = n > n_left ? n_left : n;
        if ((result = start_block(loop_frame, n, run)) < 0) {
            return -1;
        }
        if (result == 0) {
            result = run_spend(run, n * step_cost) < 0 ? -1 : finish_block(loop_frame, n, run);
            n *= 2;
            if (result == TAPE_LEFT) {
                n = FIRST_STEPS;
                result = run_plain_step(loop_frame, run);
            }
        } else if (n > 1) {
            result = 0;
            n /= 2;
        } else {
            result = run_plain_step(loop_frame, run);
        }
    }
    return result;
}

int block_run(LoopFrame *loop_frame, Run *run)
{
    int result = run_blocks(loop_frame, run);

    leave_columns(loop_frame);
    return result;
}
