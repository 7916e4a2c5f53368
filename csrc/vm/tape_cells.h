/* The cells of a tape (tape.h): one function each, specialised on where its operands are, which ends in a call of the next.
 *
 * Compilers make such a call a jump, so that a cell is some ten machine instructions, and the doubles a step works on stay in
 * registers: `r0` to `r3` are arguments of every cell. (A prototype of this form took 0.3 of the time of a switch; design and
 * figures follow the literature on threaded code: Bell 1973, Ertl and Gregg 2003.) A cell must not take the address of an
 * argument or of a local of its own, or it could not jump; tests/source/test_tape.py reads the machine code.
 * Relies on: frame.h. Relied on by: tape.c, the files of cells. */
#ifndef PYSCAN_VM_TAPE_CELLS_H
#define PYSCAN_VM_TAPE_CELLS_H

#include "vm/frame.h"

typedef struct TapeCell TapeCell;
typedef struct TapeRun TapeRun;
typedef struct TapeVector TapeVector;
typedef void (*TapeFunction)(const TapeCell *cell, int64_t t, int64_t end, TapeRun *tape, double r0, double r1, double r2, double r3);

/* Where an operand is: in a pinned register, at a fixed address, or in row t of a column of doubles. */
typedef enum TapePlace { TAPE_R0, TAPE_R1, TAPE_R2, TAPE_R3, TAPE_FIXED, TAPE_COLUMN, N_TAPE_PLACES } TapePlace;
enum { N_TAPE_PINS = 4, N_TAPE_TARGETS = TAPE_COLUMN }; /* results go to pins and fixed addresses, and besides to a column */

/* The operands' addresses, the result's last, so that those of a kernel are the end of the list. */
typedef enum TapeOperand { TAPE_FIRST, TAPE_A, TAPE_B, TAPE_TO, N_TAPE_OPERANDS } TapeOperand;

/* What is looked up by a place: a vector; or rows of running sums, side by side, and then `stride` counts numbers. */
typedef struct TapeLook {
    const char *data;
    int64_t length, stride;
} TapeLook;

struct TapeCell {
    TapeFunction function;
    char *at[N_TAPE_OPERANDS]; /* with one operand it is B, with two A and B */
    char *store;               /* where the column of the result is that is stored too */
    const Step *step;          /* of other cells than arithmetic */
    union {
        MapKernel kernel;      /* of a kernel's cell */
        FastValue finish;      /* of a draw that is finished */
        const Step *row_step;  /* of a category by a row of a matrix: the step that looks at the row */
    };
    union {
        struct {
            int64_t from_stride, to_stride, n_bytes; /* of a copy of other than 8 bytes: from B */
        };
        TapeLook look;
        TapeVector *vector;    /* of a step on arrays (tape_vectors.c) */
    };
};

/* A step on small arrays. Lists are by operand, from `first` on. */
struct TapeVector {
    TapeCell *cell;
    const Step *step;
    int first;
    int32_t values[N_TAPE_OPERANDS];
    bool is_lane[N_TAPE_OPERANDS];   /* in the row of a lane; else an array that stays, or a number in memory */
    int64_t n;                       /* elements; this and what follows is known in a call */
    int32_t n_tiled;                 /* how many cells from this one on are run tile by tile, when it is */
    int64_t rows[N_TAPE_OPERANDS];   /* how far the operand moves from step to step */
    int64_t items[N_TAPE_OPERANDS];  /* from element to element: 0 where there is one for all */
    FoldKernel fold;                 /* of a fold */
    TapePlace to;                    /* where it goes: to a pin only as a sum of doubles */
    ProductRows product;             /* of a vector by a matrix that stays: but for where the vector and the result are */
    int64_t next_row;                /* of the matrix, from one element of the result to the next, and to the next factor */
    int64_t next_factor;
    bool takes_before;               /* the cell before is a vector's too, whose result this step alone reads */
};

struct TapeRun {
    const TapeCell *cells;
    Frame *frame;
    Run *run;
    const char *until;   /* the condition, or NULL */
    double pins[N_TAPE_PINS];
    int64_t n_done;      /* steps of the block that are complete */
    int result;          /* as loop_run_steps, or TAPE_LEFT */
};

/* A step was left before its end: the plain loop has to run it. */
enum { TAPE_LEFT = 2 };

/* Of doubles, by operation: ADD, SUB, MUL, TRUE_DIVIDE; and NEG, ABS, SQRT, EXP, LOG, or SECOND for a move. NULL when
 * there is none. */
TapeFunction tape_binary(int scalar, TapePlace a, TapePlace b, TapePlace to, bool is_stored);
TapeFunction tape_unary(int scalar, TapePlace b, TapePlace to, bool is_stored);
/* Whether two doubles compare so, as a byte in memory. NULL when there is none. */
TapeFunction tape_condition(int scalar, TapePlace a, TapePlace b, bool is_stored);
/* The double in A where the byte at FIRST is not 0, else the one in B. */
TapeFunction tape_choice(TapePlace a, TapePlace b, TapePlace to, bool is_stored);
/* Of an int64 at a fixed address, a double. */
TapeFunction tape_from_int64(TapePlace to, bool is_stored);
/* A binomial draw of the trials at A, with the probability in B; FIRST is where that is kept for draws that are not nothing. */
TapeFunction tape_binomial(TapePlace b, bool is_stored);
TapeFunction tape_end(bool has_until);
/* Leaves the step unless the double in A is a plain scale: above 0 and finite. */
TapeFunction tape_plain(TapePlace a);

/* tape_memory.c: with all operands in memory, of a step that has 1 to 3 of them and a kernel. NULL when there is none. */
TapeFunction tape_memory(const Program *body, const Step *step, bool is_stored);
/* By the kernel of such a step. */
TapeFunction tape_kernel(int n_operands);
/* From B, an element of n_bytes, which may be in a column, to a place that may be in one. */
TapeFunction tape_copy(int64_t n_bytes, bool is_from_column, bool is_to_column);
/* The element of a vector at the place in B. */
TapeFunction tape_element(bool is_stored);
/* Whatever else there is. */
TapeFunction tape_step(const Step *step);

/* tape_draws.c. The numbers drawn ahead are in a column: at A of a categorical, which is drawn by the vector of the
 * step's, or by the row at the place in B; at FIRST of what is finished by a FastValue. */
TapeFunction tape_category(void);
TapeFunction tape_row_category(int64_t n_categories, bool has_sums);
TapeFunction tape_finish(void);

/* For what cells call, or go on with, rarely: so that otherwise they keep all in registers. */
#if defined(__GNUC__)
#define RARELY __attribute__((cold, noinline))
#define APART __attribute__((noinline))
#else
#define RARELY
#define APART
#endif

/* For the files of cells: operands by place, and what a cell does with its result x. */
#define AT(TYPE, operand) (*(TYPE *)(void *)cell->at[operand])
#define READ_R0(operand) r0
#define READ_R1(operand) r1
#define READ_R2(operand) r2
#define READ_R3(operand) r3
#define READ_FIXED(operand) AT(const double, operand)
#define READ_COLUMN(operand) (((const double *)(const void *)cell->at[operand])[t])
#define WRITE_R0 r0 = x
#define WRITE_R1 r1 = x
#define WRITE_R2 r2 = x
#define WRITE_R3 r3 = x
#define WRITE_FIXED AT(double, TAPE_TO) = x
#define STORE_NO (void)0
#define STORE_YES ((double *)(void *)cell->store)[t] = x
#define TAPE_ARGUMENTS const TapeCell *cell, int64_t t, int64_t end, TapeRun *tape, double r0, double r1, double r2, double r3
#define TAPE_JUMP(next) return (next)->function((next), t, end, tape, r0, r1, r2, r3)
/* Leaves the tape. The pins are kept for the steps that follow. */
#define TAPE_STOP(done, outcome)     \
    do {                             \
        tape->n_done = (done);       \
        tape->result = (outcome);    \
        tape->pins[0] = r0;          \
        tape->pins[1] = r1;          \
        tape->pins[2] = r2;          \
        tape->pins[3] = r3;          \
        return;                      \
    } while (0)

#endif
