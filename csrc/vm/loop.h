/* A loop's parts while it runs, for the files about loops.
 *
 * The order of a call: loop_begin; loop_place_rows for step 0; for each step the body, then rows_move, loop_write_others,
 * loop_hand_over and rows_advance; loop_finish. An engine that runs bodies in another way does the same around it.
 * Relies on: frame.h. Relied on by: vm.c, the files of loops (loop*.c, place.c), block.h, tape.h, tiles.h. */
#ifndef PYSCAN_VM_LOOP_H
#define PYSCAN_VM_LOOP_H

#include <string.h>

#include "vm/frame.h"

/* Where the rows of one buffer are that the body reads or writes at an address that moves: row `first` + t belongs to
 * step t; in a ring of n_ring rows it starts again at its end, elsewhere n_ring is 0. */
typedef struct Track {
    int32_t value, writer; /* writer: whose rows they are, or -1 when the body reads them */
    bool is_move; /* the 8 bytes of the body's scalar are copied to the row after the step; else the scalar or array is at the row */
    char *data;
    int64_t stride, first, n_ring;
} Track;

/* A track while steps run: `cell` holds the scalar's address or the array's data, in the body's frame. `end` is where the
 * ring starts again, else NULL. */
typedef struct Cursor {
    char **cell;
    int64_t stride, wrap;
    char *end;
} Cursor;

typedef struct Move {
    char **cell; /* where the address of the body's scalar is */
    char *row;
    int64_t stride, wrap;
    char *end;
} Move;

typedef struct Rows {
    Cursor *cursors, *cursors_end;
    Move *moves, *moves_end;
    bool has_others; /* a step ends with more than moves of rows */
} Rows;

/* A result of any kind, and the buffer of its rows. */
typedef struct Writer {
    int32_t inner_out, outer_out;
    bool is_scalar;
    bool is_staged;      /* its buffer has no row to spare: a tap still shows the row that is written */
    bool is_ready;       /* its buffer is there: for paths of arrays, since the end of the first step */
    int64_t item_bytes;  /* of a scalar */
    int64_t n_rows;      /* of the buffer; 0 when nothing is kept */
    int64_t past;        /* rows before those of the path */
    char *row;           /* the row to write, of those that are not in tracks: it moves as a cursor does */
    int64_t stride, wrap;
    char *end;
    bool is_tracked;     /* a track moves it, or shows the body its row */
    bool is_stored_later; /* a block writes its rows when its steps are done */
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
    bool is_in_order;  /* rows of rings lie in the order of time already */
    bool has_carries;  /* the body can give back another stream or object than it got */
    int32_t n_writers, n_staged, n_links, n_tracks;
    Track *tracks;     /* sequences, taps, then results that are tracked */
    Rows rows;         /* all tracks */
    Writer *writers;   /* paths, then states */
    Link *links;       /* draws in place on the loop's own streams */
    size_t max_tracks;
    struct Block *blocks[2]; /* owned: for arrays too, for scalars; see block.h */
    struct Block *block; /* the one that runs */
    struct Tiles *tiles; /* owned, or NULL: see tiles.h */
    Stream **pool;     /* owned, two for each carry: copies of streams */
    void **handed;     /* by carry, while a step's streams and objects are handed on */
    void **chosen;
};

int loop_begin(LoopFrame *loop_frame, Run *run);
int loop_write_others(LoopFrame *loop_frame, Run *run);
/* Makes the buffer of a path of arrays: the first step's value, of which only the shape is read, tells that of the rows. */
int loop_set_array_path(LoopFrame *loop_frame, Writer *writer, const Array *value, Run *run);
/* Copies an array into the row described by writer->shape that is at `row`. */
int loop_write_array(const Writer *writer, char *row, const Array *value, Run *run);
int loop_hand_over(LoopFrame *loop_frame, Run *run);
int loop_finish(LoopFrame *loop_frame, Run *run);
/* The steps to run before the clock is looked at; 0 when all are done. */
int64_t loop_next_piece(const LoopFrame *loop_frame);
/* Puts the body's addresses where the steps from `step` on find them. */
void loop_place_rows(LoopFrame *loop_frame, int64_t step);

int rows_new(Rows *rows, size_t n_tracks); /* -1: no memory */
void rows_free(Rows *rows);
static inline void rows_clear(Rows *rows)
{
    rows->cursors_end = rows->cursors;
    rows->moves_end = rows->moves;
}
/* Adds a track of the body's frame, at the row of `step`. */
void rows_add(Rows *rows, const Track *track, const Frame *body, int64_t step);
static inline char *track_row(const Track *track, int64_t step)
{
    int64_t row = track->first + step;
    return track->data + (track->n_ring > 0 ? row % track->n_ring : row) * track->stride;
}

static inline void rows_move(const Rows *rows)
{
    for (Move *move = rows->moves; move < rows->moves_end; move++) {
        char *row = move->row;
        memcpy(row, *move->cell, 8);
        row += move->stride;
        move->row = row == move->end ? row - move->wrap : row;
    }
}

static inline void rows_advance(const Rows *rows)
{
    for (const Cursor *cursor = rows->cursors; cursor < rows->cursors_end; cursor++) {
        char *row = *cursor->cell + cursor->stride;
        *cursor->cell = row == cursor->end ? row - cursor->wrap : row;
    }
}

/* vm.c. Runs n steps of the body: the instructions `first`, then `each` in the steps after. 0, or 1 when `until` ended the
 * loop, or -1; n_done goes on by the steps that are complete. */
int loop_run_steps(LoopFrame *loop_frame, const Rows *rows, const Step *first, const Step *each, int64_t n, Run *run);

/* place.c. The steps that a loop does before the states that go to the caller's arrays are moved there, or 0 if none does. */
int64_t loop_find_first_steps(const LoopFrame *loop_frame);
void loop_move_states(LoopFrame *loop_frame);

/* loop_carry.c: the streams and objects before the first step and after the last. */
int loop_take_carries(LoopFrame *loop_frame, Run *run);
void loop_give_carries(LoopFrame *loop_frame, Run *run);
/* Sets has_carries: a step can end with another stream or object in a slot than it began with. 0, or -1: no memory. */
int loop_find_has_carries(LoopFrame *loop_frame);
/* Adds the links of the body's steps and of those of the blocks' cores. 0, or -1: no memory. */
int loop_find_links(LoopFrame *loop_frame);

#endif
