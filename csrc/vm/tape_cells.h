/* The cells of a tape (tape.h): one function each, specialised on where its operands are, which ends in a call of the next.
 *
 * Compilers make such a call a jump, so that a cell is some ten machine instructions, and the doubles a step works on stay in
 * registers: `r0` to `r3` are arguments of every cell. (A prototype of this form took 0.3 of the time of a switch; design and
 * figures follow the literature on threaded code: Bell 1973, Ertl and Gregg 2003.) A cell must not take the address of an
 * argument or of a local of its own, or it could not jump; tests/source/test_tape.py reads the machine code.
 * Relies on: frame.h. Relied on by: tape.c. */
#ifndef PYSCAN_VM_TAPE_CELLS_H
#define PYSCAN_VM_TAPE_CELLS_H

#include "vm/frame.h"

typedef struct TapeCell TapeCell;
typedef struct TapeRun TapeRun;
typedef void (*TapeFunction)(const TapeCell *cell, int64_t t, int64_t end, TapeRun *tape, double r0, double r1, double r2, double r3);

/* Where an operand is: in a pinned register, at a fixed address, or in row t of a column of doubles. */
typedef enum TapePlace { TAPE_R0, TAPE_R1, TAPE_R2, TAPE_R3, TAPE_FIXED, TAPE_COLUMN, N_TAPE_PLACES } TapePlace;
enum { N_TAPE_PINS = 4, N_TAPE_TARGETS = TAPE_COLUMN }; /* results go to pins and fixed addresses, and besides to a column */

struct TapeCell {
    TapeFunction function;
    const double *a, *b; /* of a STEP: a is its Step; of a COPY: addresses of any type */
    double *to;
    double *store;       /* where the column of the result is that is stored too */
    int64_t a_stride, to_stride, n_bytes; /* of a COPY */
};

struct TapeRun {
    const TapeCell *cells;
    Frame *frame;
    Run *run;
    const char *until;   /* the condition, or NULL */
    double pins[N_TAPE_PINS];
    int64_t n_done;      /* steps of the block that are complete */
    int result;          /* as loop_run_steps */
};

/* By operation: ADD, SUB, MUL, TRUE_DIVIDE; and NEG, ABS, SQRT, or SECOND for a move. NULL when there is none. */
TapeFunction tape_binary(int scalar, TapePlace a, TapePlace b, TapePlace to, bool is_stored);
TapeFunction tape_unary(int scalar, TapePlace a, TapePlace to, bool is_stored);
TapeFunction tape_copy(void);
TapeFunction tape_step(void);
TapeFunction tape_end(bool has_until);

#endif
