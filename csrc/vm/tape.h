/* The core of a block as a tape: a list of cells (tape_cells.h) that are run one after the other, and again for each step.
 *
 * For cores on scalars. The states are carried from step to step in registers of the tape or at fixed addresses, not
 * through the rows of their buffers: those are columns, which the block stores when its steps are done. So no address
 * moves but the row's number. Arithmetic on doubles has cells of its own; every other instruction runs as in the plain loop.
 * Cores on small arrays too can be tapes (tape_vectors.c): every array that a step changes is then in a row of a lane or in
 * its storage. Whether a call can use such a tape is known after its first step, which tells the shapes.
 * Relies on: loop.h, phases.h, tape_cells.h. Relied on by: block.h, tape_vectors.c. */
#ifndef PYSCAN_VM_TAPE_H
#define PYSCAN_VM_TAPE_H

#include "program/phases.h"
#include "vm/loop.h"
#include "vm/tape_cells.h"

/* Where the rows of a value are, by value number; stride 0: the same in each step. See block.h. */
typedef struct Lane {
    char *at;
    int64_t stride;
} Lane;

/* The last `past` rows of a state, the newest first, while a block runs; they are read from its buffer when it begins. */
typedef struct TapeChain {
    int32_t state, first, n; /* places first .. first + n - 1 */
} TapeChain;

/* Where a value of the tape is: a pin, or an address in the body's registers or the tape's own. */
typedef struct TapeSpot {
    TapePlace place;
    char *address; /* of FIXED */
} TapeSpot;

/* An address that is not known before the call, or before the block. */
typedef struct TapePatch {
    char **slot;
    int32_t value;
    bool is_lane; /* the lane's row of the block's first step; else the address of what no step changes */
} TapePatch;

typedef struct TapeHome {
    int32_t value;
    char *address;
} TapeHome;

/* A cell that looks an array up which is the same in each step. */
typedef struct TapeArray {
    TapeCell *cell;
    int32_t value;   /* of the vector or, of categories by its rows, of the matrix */
    bool is_matrix;
    Buffer *sums;    /* held, of a matrix: the running sums of its rows, or NULL before the first use */
} TapeArray;

typedef struct Tape {
    int32_t n_cells, n_patches, n_chains, n_spots, n_hidden, n_arrays;
    TapeArray *arrays;
    TapeCell *cells;
    TapePatch *patches;
    TapeChain *chains;
    TapeSpot *spots;    /* of the chains */
    Register *hidden;   /* memory of places that are no value of the body */
    TapeVector *vectors; /* the steps on arrays */
    const bool *is_fixed; /* lent: by value, as in the core's phases */
    int32_t n_vectors;
    int64_t vector_cost; /* elements that they compute in a step */
    TapeHome *homes;    /* of values in memory: where they are while the tape runs */
    int32_t n_homes;
    char *until;        /* where a condition that is a state's row is kept, or NULL */
    TapeRun run;
} Tape;

/* Whether the core can be a tape, of scalars alone. */
bool tape_can_run(const LoopFrame *loop_frame, const LoopPhases *phases, const Step *core);
/* tape_vectors.c. The same with arrays. */
bool tape_can_run_vectors(const LoopFrame *loop_frame, const LoopPhases *phases, const Step *core);
bool tape_is_vector(const Program *body, const Step *step);
/* Whether the arrays of this call have the shapes for it: true when there are none. The first step was run by the plain loop. */
bool tape_fit(Tape *tape, const LoopFrame *loop_frame);
/* Puts the addresses of a block's first rows in place. */
void tape_place_vectors(Tape *tape, const LoopFrame *loop_frame, const Lane *lanes);
/* `phases` are those of the core, and stay. 0 and *result, owned even when it is not complete; or -1, no memory.
 * `stores` says, by value, whether its rows are a column that the core fills; `is_lane` which values have rows that are
 * there before the core runs. */
int tape_new(Tape **result, LoopFrame *loop_frame, const LoopPhases *phases, const Step *core, const bool *stores, const bool *is_lane);
void tape_free(Tape *tape);
void tape_reset(Tape *tape, size_t *keep_bytes);
/* Once in a call, before the first block: what is looked up is there. */
void tape_start(Tape *tape, LoopFrame *loop_frame, Run *run);
/* Whether there is nothing to run. */
bool tape_is_empty(const Tape *tape);
/* Runs n steps from the present one on, as loop_run_steps; or to before one that the plain loop has to run: TAPE_LEFT. */
int tape_run(Tape *tape, LoopFrame *loop_frame, const Lane *lanes, int64_t n, Run *run);

#endif
