/* What a loop does before its first step and after its last: checks, buffers, addresses of rows, results.
 *
 * Relies on: loop.h. Relied on by: loop.c. */
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "vm/loop.h"

static int check_lengths(const LoopFrame *loop_frame, Run *run)
{
    const Loop *loop = loop_frame->loop;

    if (loop_frame->n_steps < 0) {
        return status_fail_numbers(run->status, STATUS_NEGATIVE_STEPS, loop_frame->n_steps, 0, 0, 0);
    }
    for (int32_t i = 0; i < loop->n_sequences; i++) {
        const Array *sequence = loop_frame->around->arrays[loop->sequences[i].outer];
        if (sequence->shape[0] < loop_frame->n_steps) {
            status_fail_shapes(run->status, STATUS_SHORT_SEQUENCE, sequence->ndim, sequence->shape, 0, sequence->shape);
            run->status->b = loop_frame->n_steps;
            run->status->c = i;
            return -1;
        }
    }
    for (int32_t i = 0; i < loop->n_states; i++) {
        const Array *state = loop_frame->around->arrays[loop->states[i].outer_in];
        if (state->shape[0] < loop->states[i].past) {
            return status_fail_numbers(run->status, STATUS_SHORT_STATE, state->shape[0], loop->states[i].past, i, 0);
        }
    }
    return 0;
}

/* Shape and strides of a row of array. */
static void set_row(Array *row, const Array *array)
{
    row->buffer = NULL; /* the loop's buffer outlives it */
    row->dtype = array->dtype;
    row->ndim = array->ndim - 1;
    for (int i = 0; i < row->ndim; i++) {
        row->shape[i] = array->shape[i + 1];
        row->strides[i] = array->strides[i + 1];
    }
}

/* Lets a value of the body show row number `first` of array in step 0, and the next one in each step; in a ring of
 * n_ring rows. */
static void add_track(LoopFrame *loop_frame, int32_t inner, const Array *array, int64_t first, int64_t n_ring)
{
    Track *track = &loop_frame->tracks[loop_frame->n_tracks++];

    if (loop_frame->body->arrays[inner] != NULL) {
        set_row(loop_frame->body->arrays[inner], array);
    }
    *track = (Track){.value = inner, .writer = -1, .data = array->data, .stride = array->strides[0], .first = first, .n_ring = n_ring};
}

int rows_new(Rows *rows, size_t n_tracks)
{
    rows->cursors = mem_calloc(n_tracks + 1, sizeof(Cursor));
    rows->moves = mem_calloc(n_tracks + 1, sizeof(Move));
    rows_clear(rows);
    return rows->cursors == NULL || rows->moves == NULL ? -1 : 0;
}

void rows_free(Rows *rows)
{
    mem_free(rows->cursors);
    mem_free(rows->moves);
}

void rows_add(Rows *rows, const Track *track, const Frame *body, int64_t step)
{
    char **cell = body->arrays[track->value] != NULL ? &body->arrays[track->value]->data : &body->addr[track->value];
    char *row = track_row(track, step), *end = track->n_ring > 0 ? track->data + track->n_ring * track->stride : NULL;

    if (track->is_move) {
        *rows->moves_end++ = (Move){cell, row, track->stride, track->n_ring * track->stride, end};
    } else {
        *cell = row;
        *rows->cursors_end++ = (Cursor){cell, track->stride, track->n_ring * track->stride, end};
    }
}

void loop_place_rows(LoopFrame *loop_frame, int64_t step)
{
    rows_clear(&loop_frame->rows);
    for (int32_t i = 0; i < loop_frame->n_tracks; i++) {
        rows_add(&loop_frame->rows, &loop_frame->tracks[i], loop_frame->body, step);
    }
}

static void set_fixed(LoopFrame *loop_frame, Run *run)
{
    Frame *around = loop_frame->around, *body = loop_frame->body;

    for (int32_t i = 0; i < loop_frame->loop->n_fixed; i++) {
        int32_t outer = loop_frame->loop->fixed[i].outer, inner = loop_frame->loop->fixed[i].inner;

        switch (body->program->values[inner].value_class) {
        case VALUE_SCALAR:
            body->addr[inner] = around->addr[outer];
            break;
        case VALUE_ARRAY:
            *body->arrays[inner] = *around->arrays[outer];
            break;
        case VALUE_STREAM:
            body->pointers[inner] = around->pointers[outer];
            break;
        default:
            frame_put_object(body, inner, around->pointers[outer], run->host);
            break;
        }
    }
}

/* The bytes of a row that can be copied at once: 0 when it has gaps, or is so long that it takes pieces. */
static int64_t find_row_bytes(const Array *row)
{
    int64_t n_bytes = array_size(row) * dtype_bytes(row->dtype);

    return n_bytes <= 1 << 20 && array_is_contiguous(row) ? n_bytes : 0;
}

/* Lets the writer go through array, whose row number `first` comes first. */
static void set_writer(Writer *writer, const Array *array, int64_t first)
{
    set_row(&writer->shape, array);
    writer->row_bytes = find_row_bytes(&writer->shape);
    writer->n_rows = array->shape[0];
    writer->stride = array->strides[0];
    writer->wrap = writer->n_rows * writer->stride;
    writer->end = array->data + writer->wrap;
    writer->row = array->data + first * writer->stride;
    writer->is_ready = true;
}

/* The buffer of a state: the initial one itself, or one like it with the past rows copied. */
static int set_state_buffer(LoopFrame *loop_frame, const LoopState *state, Run *run)
{
    Frame *around = loop_frame->around;
    Array from = *around->arrays[state->outer_in], to;

    if (state->inplace) {
        frame_show(around, state->outer_out, &from);
        return 0;
    }
    if (frame_shape_array(around, state->outer_out, from.shape, run->status) < 0) {
        return -1;
    }
    to = *around->arrays[state->outer_out];
    to.shape[0] = from.shape[0] = state->past;
    return sweep_copy(&to, &from, run);
}

/* Memory for a row that waits until all rows are read. */
static int set_stage(Writer *writer, Run *run)
{
    size_t n_bytes;

    if (array_bytes(writer->shape.ndim, writer->shape.shape, writer->shape.dtype, &n_bytes) < 0) {
        return status_fail_shapes(run->status, STATUS_TOO_LARGE, writer->shape.ndim, writer->shape.shape, 0, writer->shape.shape);
    }
    if (writer->stage != NULL && writer->stage->n_bytes >= n_bytes) {
        return 0;
    }
    buffer_unref(writer->stage);
    writer->stage = buffer_new(n_bytes);
    run->counters->allocations++;
    return writer->stage != NULL ? 0 : status_fail(run->status, STATUS_NO_MEMORY);
}

static int set_state(LoopFrame *loop_frame, int32_t i, Run *run)
{
    const Loop *loop = loop_frame->loop;
    const LoopState *state = &loop->states[i];
    Writer *writer = &loop_frame->writers[loop->n_paths + i];
    const Array *buffer = loop_frame->around->arrays[state->outer_out];
    int64_t n_rows;

    if (set_state_buffer(loop_frame, state, run) < 0) {
        return -1;
    }
    n_rows = buffer->shape[0];
    for (int32_t j = 0; j < state->n_taps; j++) {
        const LoopTap *tap = &loop->taps[state->first_tap + j];
        add_track(loop_frame, tap->inner, buffer, state->past + tap->tap, n_rows);
    }
    set_writer(writer, buffer, state->past % n_rows);
    writer->is_staged = n_rows == state->past;
    loop_frame->n_staged += writer->is_staged ? 1 : 0;
    return writer->is_staged ? set_stage(writer, run) : 0;
}

/* Rows that a path keeps: no more than there are steps. Those of scalars are allocated at once. */
static int set_path(LoopFrame *loop_frame, int32_t i, Run *run)
{
    const LoopPath *path = &loop_frame->loop->paths[i];
    Writer *writer = &loop_frame->writers[i];
    int64_t n_rows = frame_int64(loop_frame->around, path->outer_rows);

    if (n_rows < 0) {
        return status_fail(run->status, STATUS_NEGATIVE_SIZE);
    }
    writer->n_rows = n_rows < loop_frame->n_steps ? n_rows : loop_frame->n_steps;
    writer->is_ready = false;
    if (!writer->is_scalar || loop_frame->n_steps == 0) {
        return 0;
    }
    if (frame_shape_array(loop_frame->around, path->outer_out, &writer->n_rows, run->status) < 0) {
        return -1;
    }
    set_writer(writer, loop_frame->around->arrays[path->outer_out], 0);
    return 0;
}

/* Lets the body compute an array at its row, if it can: no tap shows that row, since the buffer has one to spare. */
static void set_target(const LoopFrame *loop_frame, const Writer *writer)
{
    bool is_direct = writer->can_be_direct && writer->is_ready && !writer->is_staged && writer->n_rows > 0 && array_is_contiguous(&writer->shape);

    loop_frame->body->targets[writer->inner_out] = is_direct ? (RowTarget){&writer->row, &writer->shape} : (RowTarget){NULL, NULL};
}

/* A scalar that the body computes in each step is computed at its row, which a track shows; other scalars of 8 bytes are
 * moved to theirs. What is left goes the long way. */
static void set_rows(LoopFrame *loop_frame)
{
    Frame *body = loop_frame->body;
    bool is_all = true;

    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        Writer *writer = &loop_frame->writers[i];
        bool is_plain = writer->is_scalar && writer->is_ready && !writer->is_staged && writer->n_rows > 0;

        writer->is_stored_later = false;
        writer->is_tracked = is_plain && (writer->can_be_direct || writer->item_bytes == 8);
        is_all &= writer->is_tracked;
        if (!writer->is_scalar && writer->can_be_direct) {
            set_target(loop_frame, writer);
        } else if (writer->is_scalar && writer->can_be_direct) {
            body->addr[writer->inner_out] = body->registers[writer->inner_out].bytes;
        }
        if (writer->is_tracked) {
            add_track(loop_frame, writer->inner_out, loop_frame->around->arrays[writer->outer_out], writer->past, writer->n_rows);
            loop_frame->tracks[loop_frame->n_tracks - 1].writer = i;
            loop_frame->tracks[loop_frame->n_tracks - 1].is_move = !writer->can_be_direct;
        }
    }
    loop_frame->rows.has_others = !is_all || loop_frame->has_carries || loop_frame->until != NULL;
}

int64_t loop_next_piece(const LoopFrame *loop_frame)
{
    int64_t n_left = loop_frame->n_steps - loop_frame->n_done, n_piece = 1 + 65536 / loop_frame->step_cost;

    return n_left < n_piece ? n_left : n_piece;
}

int loop_begin(LoopFrame *loop_frame, Run *run)
{
    const Loop *loop = loop_frame->loop;

    loop_frame->n_steps = frame_int64(loop_frame->around, loop->n_steps);
    loop_frame->n_done = 0;
    loop_frame->n_staged = 0;
    loop_frame->n_tracks = 0;
    loop_frame->is_in_order = false;
    if (check_lengths(loop_frame, run) < 0) {
        return -1;
    }
    for (int32_t i = 0; i < loop->n_sequences; i++) {
        add_track(loop_frame, loop->sequences[i].inner, loop_frame->around->arrays[loop->sequences[i].outer], 0, 0);
    }
    for (int32_t i = 0; i < loop->n_states; i++) {
        if (set_state(loop_frame, i, run) < 0) {
            return -1;
        }
    }
    for (int32_t i = 0; i < loop->n_paths; i++) {
        if (set_path(loop_frame, i, run) < 0) {
            return -1;
        }
    }
    set_rows(loop_frame);
    set_fixed(loop_frame, run);
    return loop_take_carries(loop_frame, run);
}

int loop_set_array_path(LoopFrame *loop_frame, Writer *writer, const Array *value, Run *run)
{
    int64_t shape[ARRAY_MAX_NDIM + 1];

    shape[0] = writer->n_rows;
    memcpy(shape + 1, value->shape, (size_t)value->ndim * sizeof(int64_t));
    if (frame_shape_array(loop_frame->around, writer->outer_out, shape, run->status) < 0) {
        return -1;
    }
    set_writer(writer, loop_frame->around->arrays[writer->outer_out], 0);
    if (writer->can_be_direct) {
        set_target(loop_frame, writer);
    }
    return 0;
}

static void advance(Writer *writer)
{
    writer->row += writer->stride;
    if (writer->row == writer->end) {
        writer->row -= writer->wrap;
    }
}

int loop_write_array(const Writer *writer, char *row, const Array *value, Run *run)
{
    Array target;

    if (!can_broadcast(value, &writer->shape)) {
        return status_fail_shapes(run->status, STATUS_STATE_SHAPE, value->ndim, value->shape, writer->shape.ndim, writer->shape.shape);
    }
    if (writer->row_bytes > 0 && array_same_shape(value, &writer->shape) && array_is_contiguous(value)) {
        if (row != value->data) {
            memcpy(row, value->data, (size_t)writer->row_bytes);
        }
        return run_spend(run, writer->row_bytes / 8);
    }
    target = writer->shape;
    target.data = row;
    if (row == (writer->stage != NULL ? writer->stage->data : NULL)) {
        array_set_contiguous_strides(&target);
    }
    return sweep_copy(&target, value, run);
}

static int write_row(LoopFrame *loop_frame, Writer *writer, char *row, Run *run)
{
    const Frame *body = loop_frame->body;

    if (!writer->is_scalar) {
        return loop_write_array(writer, row, body->arrays[writer->inner_out], run);
    }
    memcpy(row, body->addr[writer->inner_out], (size_t)writer->item_bytes);
    return 0;
}

/* Rows that taps still show are written when everything has been read. */
static int write_staged(LoopFrame *loop_frame, Run *run)
{
    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        Writer *writer = &loop_frame->writers[i];
        if (writer->is_staged && write_row(loop_frame, writer, writer->stage->data, run) < 0) {
            return -1;
        }
    }
    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        Writer *writer = &loop_frame->writers[i];
        Array from, to;

        if (!writer->is_staged) {
            continue;
        }
        from = to = writer->shape;
        from.data = writer->stage->data;
        array_set_contiguous_strides(&from);
        to.data = writer->row;
        if (sweep_copy(&to, &from, run) < 0) {
            return -1;
        }
        advance(writer);
    }
    return 0;
}

/* None of the rows written is one that the step read, but for staged ones, so the order does not matter where states
 * change places. */
int loop_write_others(LoopFrame *loop_frame, Run *run)
{
    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        Writer *writer = &loop_frame->writers[i];

        if (writer->is_staged || writer->is_tracked || writer->is_stored_later) {
            continue;
        }
        if (!writer->is_ready && loop_set_array_path(loop_frame, writer, loop_frame->body->arrays[writer->inner_out], run) < 0) {
            return -1;
        }
        if (writer->n_rows == 0) {
            continue;
        }
        if (write_row(loop_frame, writer, writer->row, run) < 0) {
            return -1;
        }
        advance(writer);
    }
    return loop_frame->n_staged > 0 ? write_staged(loop_frame, run) : 0;
}

/* Swapping elements, as kernels over two arguments. */
typedef struct Pair { uint64_t a, b; } Pair;
#define DEFINE_SWAP(NAME, T)                                                                \
    static void swap_##NAME(int64_t n, char *const *args, const int64_t *strides)           \
    {                                                                                       \
        char *pa = args[0], *pb = args[1];                                                  \
        for (int64_t i = 0; i < n; i++, pa += strides[0], pb += strides[1]) {               \
            T a, b;                                                                         \
            memcpy(&a, pa, sizeof a);                                                       \
            memcpy(&b, pb, sizeof b);                                                       \
            memcpy(pa, &b, sizeof b);                                                       \
            memcpy(pb, &a, sizeof a);                                                       \
        }                                                                                   \
    }
DEFINE_SWAP(1, uint8_t)
DEFINE_SWAP(2, uint16_t)
DEFINE_SWAP(4, uint32_t)
DEFINE_SWAP(8, uint64_t)
DEFINE_SWAP(16, Pair)

static MapKernel swap_kernel(int64_t item_bytes)
{
    switch (item_bytes) {
    case 1:
        return swap_1;
    case 2:
        return swap_2;
    case 4:
        return swap_4;
    case 8:
        return swap_8;
    default:
        return swap_16;
    }
}

/* Turns the order of rows first .. end - 1 round, by swapping the first half with the second walked backwards. */
static int reverse_rows(const Array *array, int64_t first, int64_t end, Run *run)
{
    Array front = *array, back = *array;
    Sweep sweep;

    front.shape[0] = back.shape[0] = (end - first) / 2;
    front.data += first * array->strides[0];
    back.data += (end - 1) * array->strides[0];
    back.strides[0] = -array->strides[0];
    sweep_start(&sweep, front.ndim, front.shape);
    sweep_add(&sweep, &front);
    sweep_add(&sweep, &back);
    return sweep_run(&sweep, swap_kernel(dtype_bytes(array->dtype)), run);
}

/* Row number `first` becomes the first of n; those before it go to the end. */
static int rotate_rows(const Array *array, int64_t first, int64_t n, Run *run)
{
    if (first == 0) {
        return 0;
    }
    return reverse_rows(array, 0, first, run) < 0 || reverse_rows(array, first, n, run) < 0 || reverse_rows(array, 0, n, run) < 0 ? -1 : 0;
}

/* A path of no steps: 0 along every axis. */
static int finish_empty(LoopFrame *loop_frame, const Writer *writer, Run *run)
{
    int64_t shape[ARRAY_MAX_NDIM] = {0};

    return frame_shape_array(loop_frame->around, writer->outer_out, shape, run->status);
}

/* The rows written, in the order of time: the last ones if the buffer was too short for all. */
static int finish_rows(LoopFrame *loop_frame, const Writer *writer, Run *run)
{
    Array *array = loop_frame->around->arrays[writer->outer_out];
    int64_t n_all = writer->past + loop_frame->n_done;

    if (n_all <= writer->n_rows) {
        array->shape[0] = n_all;
        return 0;
    }
    return writer->n_rows == 0 || loop_frame->is_in_order ? 0 : rotate_rows(array, n_all % writer->n_rows, writer->n_rows, run);
}

int loop_finish(LoopFrame *loop_frame, Run *run)
{
    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        const Writer *writer = &loop_frame->writers[i];
        bool is_empty = writer->past == 0 && loop_frame->n_done == 0;

        if ((is_empty ? finish_empty(loop_frame, writer, run) : finish_rows(loop_frame, writer, run)) < 0) {
            return -1;
        }
    }
    loop_give_carries(loop_frame, run);
    return 0;
}
