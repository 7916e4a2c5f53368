/* A loop's parts while it runs, for the files about loops.
 *
 * The order of a call: loop_begin; for each step the body, then loop_move_rows, loop_write_others, loop_hand_over and, if
 * another step follows, loop_advance; loop_finish. An engine that runs bodies in another way does the same around it.
 * Relies on: frame.h. Relied on by: loop.c, loop_setup.c, loop_carry.c. */
#ifndef PYSCAN_VM_LOOP_H
#define PYSCAN_VM_LOOP_H

#include <string.h>

#include "vm/frame.h"

/* The address of a row that the body reads, which moves by a stride each step. In a ring it starts again at its end;
 * elsewhere `end` is NULL. */
typedef struct Cursor {
    char **cell; /* the scalar's address or the array's data, in the body's frame */
    int64_t stride, wrap;
    char *end;
} Cursor;

/* The commonest result of a step: 8 bytes that are copied to a row, which moves in the same way. */
typedef struct Move {
    char **cell; /* where the address of the body's scalar is */
    char *row;
    int64_t stride, wrap;
    char *end;
} Move;

/* A result of any kind, and the buffer of its rows. */
typedef struct Writer {
    int32_t inner_out, outer_out;
    bool is_scalar;
    bool is_staged;      /* its buffer has no row to spare: a tap still shows the row that is written */
    bool is_ready;       /* its buffer is there: for paths of arrays, since the end of the first step */
    int64_t item_bytes;  /* of a scalar */
    int64_t n_rows;      /* of the buffer; 0 when nothing is kept */
    int64_t past;        /* rows before those of the path */
    char *row;           /* the row to write, which moves as a cursor does; in `moves` for those that are there */
    int64_t stride, wrap;
    char *end;
    bool is_move;        /* it is in `moves`, or the body's value is at the row itself, which a cursor moves */
    bool can_be_direct;  /* the body computes the value in each step, and no writer before is of the same value; an array is
                          * memory of its own, not a view, and its shape is known before its elements are */
    Array shape;         /* of a row, with its strides */
    int64_t row_bytes;   /* of a row of elements side by side that is copied at once, else 0 */
    Buffer *stage;       /* held: memory for a staged row */
} Writer;

/* A draw in place on the stream of a carry, perhaps after others: its next stream is known before the step. */
typedef struct Link {
    int32_t carried, next_stream; /* values of the body */
    Step *step;
} Link;

struct LoopFrame {
    const Loop *loop;
    Frame *around, *body;
    int64_t n_steps, n_done, step_cost;
    char *const *until; /* where the address of the condition is, or NULL */
    bool is_whole;     /* step 0 runs the invariant instructions too */
    bool has_carries;  /* the body can give back another stream or object than it got */
    bool has_others;   /* a step ends with more than moves of rows */
    int32_t n_writers, n_staged, n_links;
    Cursor *cursors, *cursors_end; /* sequences, taps, results written to their rows at once */
    Writer *writers;   /* paths, then states */
    Move *moves, *moves_end; /* those of them that are moves */
    Link *links;       /* draws in place on the loop's own streams */
    Stream **pool;     /* owned, two for each carry: copies of streams */
    void **handed;     /* by carry, while a step's streams and objects are handed on */
    void **chosen;
};

int loop_begin(LoopFrame *loop_frame, Run *run);
int loop_write_others(LoopFrame *loop_frame, Run *run);
int loop_hand_over(LoopFrame *loop_frame, Run *run);
int loop_finish(LoopFrame *loop_frame, Run *run);
/* The steps to run before the clock is looked at; 0 when all are done. */
int64_t loop_next_piece(const LoopFrame *loop_frame);

/* Scalars of 8 bytes go to their rows. */
static inline void loop_move_rows(LoopFrame *loop_frame)
{
    for (Move *move = loop_frame->moves; move < loop_frame->moves_end; move++) {
        char *row = move->row;
        memcpy(row, *move->cell, 8);
        row += move->stride;
        move->row = row == move->end ? row - move->wrap : row;
    }
}

static inline void loop_advance(const LoopFrame *loop_frame)
{
    for (const Cursor *cursor = loop_frame->cursors; cursor < loop_frame->cursors_end; cursor++) {
        char *row = *cursor->cell + cursor->stride;
        *cursor->cell = row == cursor->end ? row - cursor->wrap : row;
    }
}

/* loop_carry.c: the streams and objects before the first step and after the last. */
int loop_take_carries(LoopFrame *loop_frame, Run *run);
void loop_give_carries(LoopFrame *loop_frame, Run *run);
/* Whether a step can end with another stream or object in a slot than it began with; else nothing is to be handed over. */
bool loop_can_change_carries(const Loop *loop);
/* Finds the links; room for one an instruction of the body. */
void loop_find_links(LoopFrame *loop_frame);

#endif
