/* The cells' functions, made by macros for each operation and each place of its operands.
 *
 * Relies on: tape_cells.h. */
#include "vm/tape_cells.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define ARGUMENTS const TapeCell *cell, int64_t t, int64_t end, TapeRun *tape, double r0, double r1, double r2, double r3
#define JUMP(next) return (next)->function((next), t, end, tape, r0, r1, r2, r3)

#define READ_R0(field) r0
#define READ_R1(field) r1
#define READ_R2(field) r2
#define READ_R3(field) r3
#define READ_FIXED(field) (*cell->field)
#define READ_COLUMN(field) (cell->field[t])
#define WRITE_R0 r0 = x
#define WRITE_R1 r1 = x
#define WRITE_R2 r2 = x
#define WRITE_R3 r3 = x
#define WRITE_FIXED *cell->to = x
#define STORE_NO (void)0
#define STORE_YES cell->store[t] = x

#define CELL(NAME, expression, WRITE, STORE) \
    static void NAME(ARGUMENTS)              \
    {                                        \
        double x = expression;               \
        WRITE;                               \
        STORE;                               \
        JUMP(cell + 1);                      \
    }

/* For each place of the result, of the second operand, of the first. */
#define TARGETS(NAME, expression)                                \
    CELL(NAME##_R0_n, expression, WRITE_R0, STORE_NO)            \
    CELL(NAME##_R0_s, expression, WRITE_R0, STORE_YES)           \
    CELL(NAME##_R1_n, expression, WRITE_R1, STORE_NO)            \
    CELL(NAME##_R1_s, expression, WRITE_R1, STORE_YES)           \
    CELL(NAME##_R2_n, expression, WRITE_R2, STORE_NO)            \
    CELL(NAME##_R2_s, expression, WRITE_R2, STORE_YES)           \
    CELL(NAME##_R3_n, expression, WRITE_R3, STORE_NO)            \
    CELL(NAME##_R3_s, expression, WRITE_R3, STORE_YES)           \
    CELL(NAME##_FIXED_n, expression, WRITE_FIXED, STORE_NO)      \
    CELL(NAME##_FIXED_s, expression, WRITE_FIXED, STORE_YES)
#define SECONDS(NAME, OP, A)                                     \
    TARGETS(NAME##_##A##_R0, READ_##A(a) OP READ_R0(b))          \
    TARGETS(NAME##_##A##_R1, READ_##A(a) OP READ_R1(b))          \
    TARGETS(NAME##_##A##_R2, READ_##A(a) OP READ_R2(b))          \
    TARGETS(NAME##_##A##_R3, READ_##A(a) OP READ_R3(b))          \
    TARGETS(NAME##_##A##_FIXED, READ_##A(a) OP READ_FIXED(b))    \
    TARGETS(NAME##_##A##_COLUMN, READ_##A(a) OP READ_COLUMN(b))
#define BINARY(NAME, OP)                                         \
    SECONDS(NAME, OP, R0)                                        \
    SECONDS(NAME, OP, R1)                                        \
    SECONDS(NAME, OP, R2)                                        \
    SECONDS(NAME, OP, R3)                                        \
    SECONDS(NAME, OP, FIXED)                                     \
    SECONDS(NAME, OP, COLUMN)
#define UNARY(NAME, FUNCTION)                                    \
    TARGETS(NAME##_R0, FUNCTION(READ_R0(a)))                     \
    TARGETS(NAME##_R1, FUNCTION(READ_R1(a)))                     \
    TARGETS(NAME##_R2, FUNCTION(READ_R2(a)))                     \
    TARGETS(NAME##_R3, FUNCTION(READ_R3(a)))                     \
    TARGETS(NAME##_FIXED, FUNCTION(READ_FIXED(a)))               \
    TARGETS(NAME##_COLUMN, FUNCTION(READ_COLUMN(a)))

BINARY(add, +)
BINARY(sub, -)
BINARY(mul, *)
BINARY(div, /)
UNARY(move, )
UNARY(neg, -)
UNARY(abs, fabs)
UNARY(sqrt, sqrt)

#define LIST_TARGETS(NAME) \
    {{NAME##_R0_n, NAME##_R0_s}, {NAME##_R1_n, NAME##_R1_s}, {NAME##_R2_n, NAME##_R2_s}, {NAME##_R3_n, NAME##_R3_s}, {NAME##_FIXED_n, NAME##_FIXED_s}}
#define LIST_TARGETS_OF(NAME) \
    {LIST_TARGETS(NAME##_R0), LIST_TARGETS(NAME##_R1), LIST_TARGETS(NAME##_R2), LIST_TARGETS(NAME##_R3), LIST_TARGETS(NAME##_FIXED), LIST_TARGETS(NAME##_COLUMN)}
#define LIST_PLACES(LIST, NAME) \
    {LIST(NAME##_R0), LIST(NAME##_R1), LIST(NAME##_R2), LIST(NAME##_R3), LIST(NAME##_FIXED), LIST(NAME##_COLUMN)}

typedef TapeFunction Targets[N_TAPE_TARGETS][2];

TapeFunction tape_binary(int scalar, TapePlace a, TapePlace b, TapePlace to, bool is_stored)
{
    static const Targets cells[4][N_TAPE_PLACES][N_TAPE_PLACES] = {
        LIST_PLACES(LIST_TARGETS_OF, add), LIST_PLACES(LIST_TARGETS_OF, sub), LIST_PLACES(LIST_TARGETS_OF, mul), LIST_PLACES(LIST_TARGETS_OF, div)};
    int operation = scalar == SCALAR_ADD ? 0 : scalar == SCALAR_SUB ? 1 : scalar == SCALAR_MUL ? 2 : scalar == SCALAR_TRUE_DIVIDE ? 3 : -1;

    return operation < 0 ? NULL : cells[operation][a][b][to][is_stored];
}

TapeFunction tape_unary(int scalar, TapePlace a, TapePlace to, bool is_stored)
{
    static const Targets cells[4][N_TAPE_PLACES] = {LIST_TARGETS_OF(move), LIST_TARGETS_OF(neg), LIST_TARGETS_OF(abs), LIST_TARGETS_OF(sqrt)};
    int operation = scalar == SCALAR_SECOND ? 0 : scalar == SCALAR_NEG ? 1 : scalar == SCALAR_ABS ? 2 : scalar == SCALAR_SQRT ? 3 : -1;

    return operation < 0 ? NULL : cells[operation][a][to][is_stored];
}

/* An element of any type. */
static void copy_cell(ARGUMENTS)
{
    const char *from = (const char *)cell->a + t * cell->a_stride;
    char *to = (char *)cell->to + t * cell->to_stride;

    switch (cell->n_bytes) {
    case 1:
        memcpy(to, from, 1);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    case 8:
        memcpy(to, from, 8);
        break;
    default:
        memcpy(to, from, (size_t)cell->n_bytes);
        break;
    }
    JUMP(cell + 1);
}

TapeFunction tape_copy(void) { return copy_cell; }

/* Leaves the tape. The pins are kept for the steps that follow. */
#define STOP(done, outcome)          \
    do {                             \
        tape->n_done = (done);       \
        tape->result = (outcome);    \
        tape->pins[0] = r0;          \
        tape->pins[1] = r1;          \
        tape->pins[2] = r2;          \
        tape->pins[3] = r3;          \
        return;                      \
    } while (0)

/* Any other instruction on scalars, in memory. */
static void step_cell(ARGUMENTS)
{
    if (frame_run_one(tape->frame, (const Step *)(const void *)cell->a, tape->run) < 0) {
        STOP(t, -1);
    }
    JUMP(cell + 1);
}

TapeFunction tape_step(void) { return step_cell; }

static void end_cell(ARGUMENTS)
{
    if (++t == end) {
        STOP(t, 0);
    }
    JUMP(tape->cells);
}

static void end_until_cell(ARGUMENTS)
{
    t++;
    if (*tape->until != 0) {
        STOP(t, 1);
    }
    if (t == end) {
        STOP(t, 0);
    }
    JUMP(tape->cells);
}

TapeFunction tape_end(bool has_until) { return has_until ? end_until_cell : end_cell; }
