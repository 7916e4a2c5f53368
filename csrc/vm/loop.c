/* I_LOOP: runs a body over and over, and the frames that loops keep between calls.
 *
 * Instructions of the body that no step changes run once, before step 0. If one of them fails, step 0 runs whole in the
 * order of the program, so that the failure reported is the one that comes first there.
 * Relies on: loop.h. Relied on by: vm.c, frame.c. */
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "vm/block.h"
#include "vm/loop.h"
#include "vm/tiles.h"

/* Whether an instruction makes arrays in memory of their own, and asks for it once, with the shape that they keep. */
static bool makes_fresh_arrays(const Instr *instr)
{
    return (instr_alias(instr) == ALIAS_NEVER || instr->opcode == I_DRAW) && instr->opcode != I_LOOP && instr->opcode != I_CALL;
}

/* Whether the body computes the value anew in each step, so that it may be computed at its row. */
static bool is_computed_each(const Frame *body, int32_t value)
{
    bool is_scalar = body->arrays[value] == NULL;

    for (const Step *step = body->each; step->code != STEP_END; step++) {
        for (int32_t i = 0; i < step->instr->n_dst; i++) {
            if (step->dst[i] == value) {
                return is_scalar || makes_fresh_arrays(step->instr);
            }
        }
    }
    return false;
}

static void init_writer(LoopFrame *loop_frame, int32_t i, int32_t inner_out, int32_t outer_out, int64_t past)
{
    const Value *value = &loop_frame->body->program->values[inner_out];
    Writer *writer = &loop_frame->writers[i];

    writer->inner_out = inner_out;
    writer->outer_out = outer_out;
    writer->past = past;
    writer->is_scalar = value->value_class == VALUE_SCALAR;
    writer->item_bytes = dtype_bytes((DType)value->dtype);
    writer->can_be_direct = is_computed_each(loop_frame->body, inner_out);
    for (int32_t j = 0; j < i; j++) {
        writer->can_be_direct &= loop_frame->writers[j].inner_out != inner_out;
    }
}

static void init_writers(LoopFrame *loop_frame)
{
    const Loop *loop = loop_frame->loop;

    for (int32_t i = 0; i < loop->n_paths; i++) {
        init_writer(loop_frame, i, loop->paths[i].inner_out, loop->paths[i].outer_out, 0);
    }
    for (int32_t i = 0; i < loop->n_states; i++) {
        init_writer(loop_frame, loop->n_paths + i, loop->states[i].inner_out, loop->states[i].outer_out, loop->states[i].past);
    }
}

/* Work of a step in the units of poll.c; instructions on arrays account for their own. */
static int64_t find_cost(const Frame *body)
{
    int64_t cost = 16;

    for (const Step *step = body->each; step->code != STEP_END; step++) {
        cost += step->code == STEP_DRAW ? 100 : 8;
    }
    return cost;
}

static int init_lists(LoopFrame *loop_frame)
{
    const Loop *loop = loop_frame->loop;
    size_t n_carries = (size_t)loop->n_carries, n_links = 3 * (size_t)loop->body->n_instrs;
    size_t n_rows = (size_t)loop->n_sequences + (size_t)loop->n_taps + (size_t)loop->n_paths + (size_t)loop->n_states;

    loop_frame->n_writers = loop->n_paths + loop->n_states;
    loop_frame->max_tracks = n_rows;
    if ((loop_frame->tracks = mem_calloc(n_rows + 1, sizeof(Track))) == NULL || rows_new(&loop_frame->rows, n_rows) < 0
        || (loop_frame->writers = mem_calloc((size_t)loop_frame->n_writers + 1, sizeof(Writer))) == NULL
        || (loop_frame->links = mem_calloc(n_links + 1, sizeof(Link))) == NULL
        || (loop_frame->body->targets = mem_calloc((size_t)loop->body->n_values, sizeof(RowTarget))) == NULL
        || (loop_frame->handed = mem_calloc(2 * n_carries + 1, sizeof(void *))) == NULL
        || (loop_frame->pool = mem_calloc(2 * n_carries + 1, sizeof(Stream *))) == NULL) {
        return -1;
    }
    for (size_t i = 0; i < 2 * n_carries; i++) {
        if ((loop_frame->pool[i] = stream_new()) == NULL) {
            return -1;
        }
    }
    loop_frame->chosen = loop_frame->handed + n_carries;
    loop_frame->step_cost = find_cost(loop_frame->body);
    loop_frame->until = loop->until >= 0 ? &loop_frame->body->addr[loop->until] : NULL;
    init_writers(loop_frame);
    if (loop_find_has_carries(loop_frame) < 0 || block_new(&loop_frame->blocks[0], loop_frame, true) < 0
        || block_new(&loop_frame->blocks[1], loop_frame, false) < 0 || tiles_new(&loop_frame->tiles, loop_frame) < 0) {
        return -1;
    }
    return loop_find_links(loop_frame);
}

/* *result is owned by `around` even when it is not complete: frame_free frees it. */
int loop_frame_new(LoopFrame **result, Frame *around, const Loop *loop, Status *status)
{
    LoopFrame *loop_frame = mem_calloc(1, sizeof *loop_frame);

    if (loop_frame == NULL) {
        return status_fail(status, STATUS_NO_MEMORY);
    }
    *result = loop_frame;
    loop_frame->loop = loop;
    loop_frame->around = around;
    loop_frame->body = frame_new(loop->body, status);
    if (loop_frame->body == NULL) {
        return -1;
    }
    return init_lists(loop_frame) < 0 ? status_fail(status, STATUS_NO_MEMORY) : 0;
}

void loop_frame_free(LoopFrame *loop_frame)
{
    if (loop_frame == NULL) {
        return;
    }
    for (int32_t i = 0; loop_frame->pool != NULL && i < 2 * loop_frame->loop->n_carries; i++) {
        stream_free(loop_frame->pool[i]);
    }
    for (int32_t i = 0; loop_frame->writers != NULL && i < loop_frame->n_writers; i++) {
        buffer_unref(loop_frame->writers[i].stage);
    }
    block_free(loop_frame->blocks[0], loop_frame);
    block_free(loop_frame->blocks[1], loop_frame);
    tiles_free(loop_frame->tiles);
    mem_free(loop_frame->pool);
    mem_free(loop_frame->handed);
    mem_free(loop_frame->links);
    mem_free(loop_frame->writers);
    mem_free(loop_frame->tracks);
    rows_free(&loop_frame->rows);
    frame_free(loop_frame->body, NULL);
    mem_free(loop_frame);
}

void loop_frame_reset(LoopFrame *loop_frame, const VmHost *host, size_t *keep_bytes)
{
    if (loop_frame->body != NULL) {
        frame_reset_storage(loop_frame->body, host, keep_bytes);
    }
    for (int i = 0; i < 2; i++) {
        if (loop_frame->blocks[i] != NULL) {
            block_reset(loop_frame->blocks[i], loop_frame, keep_bytes);
        }
    }
    tiles_reset(loop_frame->tiles, keep_bytes);
    for (int32_t i = 0; loop_frame->pool != NULL && i < 2 * loop_frame->loop->n_carries; i++) {
        if (loop_frame->pool[i] != NULL) {
            loop_frame->pool[i]->host = NULL;
        }
    }
    for (int32_t i = 0; loop_frame->writers != NULL && i < loop_frame->n_writers; i++) {
        buffer_keep_or_drop(&loop_frame->writers[i].stage, keep_bytes);
    }
}

/* A step is noted in front of those of the loops inside. */
static void push_step(Status *status, int64_t step)
{
    int32_t n_kept = status->n_path < STATUS_MAX_DEPTH ? status->n_path : STATUS_MAX_DEPTH - 1;

    memmove(status->path + 1, status->path, (size_t)n_kept * sizeof(int64_t));
    status->path[0] = step;
    status->n_path++;
}

/* Runs what no step changes. If that fails, step 0 is told to run everything. */
static int run_once(LoopFrame *loop_frame, Run *run)
{
    Frame *body = loop_frame->body;

    loop_frame->is_whole = false;
    if (body->n_once == 0 || frame_run_steps(body, body->once, run) == 0) {
        return 0;
    }
    if (run->status->code == STATUS_INTERRUPTED) {
        return -1;
    }
    status_clear(run->status);
    loop_frame->is_whole = true;
    return 0;
}

/* Steps that are left, one by one. */
static int run_plain(LoopFrame *loop_frame, const Step *first, Run *run)
{
    const Step *each = loop_frame->body->each;
    int64_t n;
    int result = 0;

    while (result == 0 && (n = loop_next_piece(loop_frame)) > 0) {
        if (run_spend(run, n * loop_frame->step_cost) < 0) {
            return -1;
        }
        result = loop_run_steps(loop_frame, &loop_frame->rows, first, each, n, run);
        first = each;
    }
    return result;
}

/* Blocks begin after the first step, which tells shapes. Shorter loops than this are over before blocks pay, unless these
 * are asked to be shorter still. */
enum { MIN_BLOCK_LOOP = 16 };

static bool is_long(const LoopFrame *loop_frame, const VmHost *host)
{
    return loop_frame->n_steps >= MIN_BLOCK_LOOP || loop_frame->n_steps > host->block_steps;
}

/* The first kind of blocks that this call can run in, or NULL; is_shaped: the first step is done, which tells shapes. */
static Block *find_block(const LoopFrame *loop_frame, bool is_shaped, const VmHost *host)
{
    for (int i = 0; i < 2; i++) {
        Block *block = loop_frame->blocks[i];
        if (block_can_run(loop_frame, block, host) && (!is_shaped || block_fits(loop_frame, block))) {
            return block;
        }
    }
    return NULL;
}

static int run_all(LoopFrame *loop_frame, Run *run)
{
    int64_t n_first = loop_find_first_steps(loop_frame);
    const Step *first;
    bool is_plain;
    int result;

    if (loop_frame->n_steps == 0) {
        return 0;
    }
    loop_place_rows(loop_frame, 0);
    if (run_once(loop_frame, run) < 0) {
        return -1;
    }
    if (n_first == 0 && tiles_can_run(loop_frame, run->host)) {
        return tiles_run(loop_frame, run);
    }
    first = loop_frame->is_whole ? loop_frame->body->steps : loop_frame->body->each;
    is_plain = !is_long(loop_frame, run->host) || find_block(loop_frame, false, run->host) == NULL;
    if (is_plain && n_first == 0) {
        return run_plain(loop_frame, first, run);
    }
    result = loop_run_steps(loop_frame, &loop_frame->rows, first, loop_frame->body->each, n_first > 0 ? n_first : 1, run);
    if (result != 0) {
        return result;
    }
    if (n_first > 0) {
        loop_move_states(loop_frame);
    }
    loop_frame->block = is_plain ? NULL : find_block(loop_frame, true, run->host);
    return loop_frame->block != NULL ? block_run(loop_frame, run) : run_plain(loop_frame, loop_frame->body->each, run);
}

int run_loop(Frame *frame, const Step *step, Run *run)
{
    LoopFrame *loop_frame = frame->loops[instr_aux(frame->program, step->instr)[0]];
    int result;

    loop_frame->body->counters = frame->counters;
    if (loop_begin(loop_frame, run) < 0) {
        return -1;
    }
    result = run_all(loop_frame, run);
    run->counters->steps += loop_frame->n_done;
    if (result < 0) {
        push_step(run->status, loop_frame->n_done);
        return -1;
    }
    return loop_finish(loop_frame, run);
}
