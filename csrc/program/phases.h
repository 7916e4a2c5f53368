/* What of a loop's body can be moved in time: the split of its instructions in phases.
 *
 *   once    flagged INSTR_INVARIANT: run before step 0
 *   before  depends on no carried value, so a block of steps can run at once, ahead of the core: scalar arithmetic on rows
 *           of sequences, draws in place on a carried stream, and products of rows of sequences and draws
 *   core    step by step, in program order: all else
 *   after   scalar arithmetic on what the core computes, which nothing in the core reads: over the block, behind it
 *
 * A draw of parameters that depend on a carried value may be split, if it is made of one number whatever they are: that is
 * drawn before, and the core finishes it (random/fast.h, fast_standard).
 *
 * What can raise, calls back, or reads a stream otherwise is core. The draws on one stream go together, since they share
 * one sequence of numbers: when one of them is core, all are. A loop with a call-back in its body, however deep, is all
 * core, so that nothing runs ahead of what the call-back may see.
 * The before-part leaves no trace but the streams, which the engine can put back.
 * Relies on: program.h, random (the tables). Relied on by: vm, bind (what explain tells). */
#ifndef PYSCAN_PROGRAM_PHASES_H
#define PYSCAN_PROGRAM_PHASES_H

#include "program/program.h"

typedef enum Phase { PHASE_ONCE, PHASE_BEFORE, PHASE_CORE, PHASE_AFTER } Phase;

typedef struct LoopPhases {
    uint8_t *of_instr;           /* Phase, by instruction of the body */
    bool *is_fixed;              /* by value: the same in each step */
    int32_t *carry;              /* by value: of streams that are a carry's own after draws in place, which carry; else -1 */
    bool *is_split;              /* by instruction: a draw that is in the core and in `before` */
    int32_t n_before, n_after, n_split;
    int32_t *before, *after;     /* instructions in an order in which they can run; draws of one carry are neighbours */
} LoopPhases;

/* Owned lists, for loop_free_phases, which may be called after a failure too. -1: no memory. `may_split`: the core can
 * finish draws, and be left in the middle of a step for the plain loop to run that step whole. */
int loop_find_phases(const Loop *loop, bool may_split, LoopPhases *phases);
void loop_free_phases(LoopPhases *phases);
/* Whether the before-part computes the value. */
bool phases_make_ahead(const Program *body, const LoopPhases *phases, int32_t value);

#endif
