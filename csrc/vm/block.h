/* Loops whose bodies are split in phases (program/phases.h): blocks of steps, in which what comes before the recurrence is
 * computed for all steps at once, then the core step by step, then what comes after it.
 *
 * A value that crosses phases, or that a phase computes for all steps, has a column: a row for each step of the block, one
 * after the other. A column whose rows are wanted as a result lies where they belong, if that buffer is not a ring.
 * Values, states and errors are those of the plain loop: a block whose before-part fails is tried again with fewer steps
 * and at last left to the plain loop; where `until` ends the loop within a block, the streams are put back and the draws of
 * the steps that happened are made again.
 * Relies on: loop.h, tape.h, phases.h. Relied on by: loop.c, loop_carry.c (the cores' draws). */
#ifndef PYSCAN_VM_BLOCK_H
#define PYSCAN_VM_BLOCK_H

#include "program/phases.h"
#include "vm/loop.h"
#include "vm/tape.h"

typedef struct Column {
    int32_t value;
    bool is_kept_tap;  /* a row of a state, which each step of the core copies here for the after-part */
    bool is_made_ahead; /* by the before-part */
    bool is_in_core;   /* the core reads or computes it: a track shows it */
    Writer *home;      /* whose rows may serve as the column: the first that is stored block-wise, or NULL */
    const Track *direct; /* without a tape, of a state that the core computes at its rows, while that is no ring: these are the column */
    int64_t row_bytes;
    int32_t state, past; /* of a state of arrays on a tape: its number, and the rows of its past, which are in front; else -1, 0 */
    Buffer *memory;    /* held; used when there is no other place */
} Column;

/* The copy of a factor for one product of the core. */
typedef struct BlockFactor {
    Step *step;
    Packed packed;
} BlockFactor;

typedef struct Block {
    LoopPhases phases;
    bool is_split;      /* there is something to run block-wise */
    bool has_vectors;   /* its core is a tape that works on arrays, if their shapes fit */
    Step *before, *core, *after; /* each with STEP_END behind */
    int32_t n_factors;
    BlockFactor *factors;
    bool *core_reads;   /* by value: the core does, or its row is stored at the end of a step */
    int32_t *column_of; /* by value, or -1 */
    int32_t n_columns;
    Column *columns;
    bool *is_stored;    /* by writer: its rows are written block-wise, not in each step */
    Stream **saved;     /* by carry, owned: where the streams that are drawn ahead stood before the block, or NULL */
    Lane *lanes;        /* by value */
    Rows rows;          /* the core's */
    Tape *tape;         /* owned: the core as a tape, or NULL where it has to be run step by step as the plain loop does */
    Buffer **gathered;  /* held, by sequence: rows that do not lie side by side, copied for the tape */
    int64_t max_steps;  /* of a block, so that its columns stay in the cache */
} Block;

/* 0 and *result, owned by the loop's frame even when it is not complete; or -1, no memory. */
int block_new(Block **result, LoopFrame *loop_frame, bool has_vectors);
/* Of a step of `before`: whether it draws what the core finishes. These numbers are then the draw's first destination,
 * in columns and lanes, which is a stream otherwise. */
static inline bool block_is_split(const Block *block, const Program *body, const Step *step) { return block->phases.is_split[step->instr - body->instrs]; }
void block_free(Block *block, const LoopFrame *loop_frame);
void block_reset(Block *block, const LoopFrame *loop_frame, size_t *keep_bytes);
/* Whether this call can run in such blocks, after its first step; loop_begin was called. */
bool block_can_run(const LoopFrame *loop_frame, const Block *block, const VmHost *host);
/* Whether the shapes that the first step found are right for it. */
bool block_fits(const LoopFrame *loop_frame, const Block *block);
/* Runs the steps that are left, by loop_frame->block. 0, 1 when `until` ended the loop, or -1. */
int block_run(LoopFrame *loop_frame, Run *run);

#endif
