/* Results that are made in the caller's memory (`out=` of a call): no second copy of a long path is held.
 *
 * A path that the loop makes by itself is made there as it is. The path of a state lies behind the state's past rows in one
 * buffer, which the caller's array has no room for. So the loop begins in a short buffer, which says it is as long as the
 * whole; when the first steps are done and no tap reads a past row any more, the rows made so far are copied to the
 * caller's array, and the loop goes on as if the buffer began `past` rows before it. Nobody reads those: see
 * program_find_path. Relies on: loop.h. Relied on by: frame.c, loop.c, bind. */
#include <string.h>

#include "base/mem.h"
#include "vm/loop.h"

int frame_set_place(Frame *frame, int32_t value, OutPlace place, Status *status)
{
    if (frame->places == NULL && (frame->places = mem_calloc((size_t)frame->program->n_values + 1, sizeof *frame->places)) == NULL) {
        return status_fail(status, STATUS_NO_MEMORY);
    }
    if (frame->places[value].array == NULL) {
        frame->places[value] = place;
    }
    return 0;
}

/* Whether all lengths but the first are the place's. */
static bool has_rows_of(const Array *array, const int64_t *shape)
{
    return memcmp(array->shape + 1, shape + 1, (size_t)(array->ndim - 1) * sizeof *shape) == 0;
}

/* The short buffer of a state whose path has a place. */
static int take_path(Frame *frame, int32_t value, const int64_t *shape, Status *status)
{
    OutPlace *place = &frame->places[value];
    Array *array = frame->arrays[value];
    int64_t n_steps = frame_int64(frame, place->n_steps);
    Buffer *buffer;

    if (!has_rows_of(place->array, shape) || n_steps < place->n_first || shape[0] != n_steps + place->past || place->array->shape[0] < n_steps) {
        return 0;
    }
    buffer = frame_slot(frame, frame->program->values[value].storage, (size_t)((place->past + place->n_first) * place->array->strides[0]), status);
    if (buffer == NULL) {
        return -1;
    }
    *array = *place->array;
    array->shape[0] = shape[0];
    array->data = buffer->data;
    array->buffer = buffer;
    place->is_taken = true;
    return 1;
}

int frame_take_place(Frame *frame, int32_t value, const int64_t *shape, Status *status)
{
    OutPlace *place = &frame->places[value];
    const Array *given = place->array;

    if (given == NULL || place->made >= 0) {
        return 0;
    }
    if (place->past == 0 && memcmp(given->shape, shape, (size_t)given->ndim * sizeof *shape) == 0) {
        *frame->arrays[value] = *given;
        place->is_taken = true;
        return 1;
    }
    if (place->is_strict && (place->past == 0 || !has_rows_of(given, shape) || shape[0] != given->shape[0] + place->past)) {
        int64_t made[ARRAY_MAX_NDIM];
        memcpy(made, shape, (size_t)given->ndim * sizeof *shape);
        made[0] -= place->past;
        status_fail_shapes(status, STATUS_PLACE_SHAPE, given->ndim, made, given->ndim, given->shape);
        status->a = place->output;
        return -1;
    }
    return place->past > 0 ? take_path(frame, value, shape, status) : 0;
}

/* The place of a state that has begun in a short buffer, or NULL. */
static const OutPlace *find_place(const LoopFrame *loop_frame, int32_t i_state)
{
    const OutPlace *places = loop_frame->around->places, *place = places == NULL ? NULL : &places[loop_frame->loop->states[i_state].outer_out];

    return place != NULL && place->array != NULL && place->made >= 0 && places[place->made].is_taken ? place : NULL;
}

int64_t loop_find_first_steps(const LoopFrame *loop_frame)
{
    int64_t n_first = 0;

    for (int32_t i = 0; i < loop_frame->loop->n_states; i++) {
        const OutPlace *place = find_place(loop_frame, i);
        n_first = place != NULL && place->n_first > n_first ? place->n_first : n_first;
    }
    return n_first;
}

/* The state's buffer, from now on, begins `past` rows before its place. */
static void move_state(LoopFrame *loop_frame, int32_t i_state, const OutPlace *place)
{
    Writer *writer = &loop_frame->writers[loop_frame->loop->n_paths + i_state];
    Array *array = loop_frame->around->arrays[writer->outer_out];
    char *old = array->data, *data = place->array->data - writer->past * array->strides[0];

    memcpy(place->array->data, old + writer->past * array->strides[0], (size_t)(loop_frame->n_done * array->strides[0]));
    array->data = data;
    array->buffer = NULL;
    for (int32_t i = 0; i < loop_frame->n_tracks; i++) {
        if (loop_frame->tracks[i].data == old) {
            loop_frame->tracks[i].data = data;
        }
    }
    writer->row = data + (writer->past + loop_frame->n_done) * writer->stride;
    writer->end = data + writer->wrap;
}

void loop_move_states(LoopFrame *loop_frame)
{
    for (int32_t i = 0; i < loop_frame->loop->n_states; i++) {
        const OutPlace *place = find_place(loop_frame, i);
        if (place != NULL) {
            move_state(loop_frame, i, place);
        }
    }
    loop_place_rows(loop_frame, loop_frame->n_done);
}
