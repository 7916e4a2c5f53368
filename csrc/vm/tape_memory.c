/* Cells whose operands are in memory: integers, conditions, casts, choices, kernels, draws, and copies.
 *
 * Relies on: tape_cells.h, quick.h, ops. Relied on by: tape.c. */
#include <stddef.h>
#include <string.h>

#include "ops/ops.h"
#include "vm/quick.h"
#include "vm/tape_cells.h"

/* ---- on elements ---- */

/* An expression of a and b in the type IN, with a first operand `c` where it is a choice. Each is a cell that stores its
 * result in a column too, and one that does not. */
#define CELL(NAME, IN, OUT, expression, STORE)                        \
    static void NAME(TAPE_ARGUMENTS)                                  \
    {                                                                 \
        const IN b = AT(const IN, TAPE_B);                            \
        const OUT x = (OUT)(expression);                              \
        AT(OUT, TAPE_TO) = x;                                         \
        STORE;                                                        \
        TAPE_JUMP(cell + 1);                                          \
    }
#define CELLS(NAME, IN, OUT, expression)                              \
    CELL(NAME##_n, IN, OUT, expression, (void)0)                      \
    CELL(NAME##_s, IN, OUT, expression, ((OUT *)(void *)cell->store)[t] = x)

#define A(TYPE) AT(const TYPE, TAPE_A)
#define IS_CHOSEN AT(const uint8_t, TAPE_FIRST)

/* MAP(operation, type, C type, C type of the result, expression); integers wrap around */
#define FOR_MAPS(MAP)                                                                      \
    MAP(ADD, INT64, int64_t, int64_t, (uint64_t)A(int64_t) + (uint64_t)b)                  \
    MAP(SUB, INT64, int64_t, int64_t, (uint64_t)A(int64_t) - (uint64_t)b)                  \
    MAP(MUL, INT64, int64_t, int64_t, (uint64_t)A(int64_t) * (uint64_t)b)                  \
    MAP(EQ, INT64, int64_t, uint8_t, A(int64_t) == b)                                      \
    MAP(NEQ, INT64, int64_t, uint8_t, A(int64_t) != b)                                     \
    MAP(LT, INT64, int64_t, uint8_t, A(int64_t) < b)                                       \
    MAP(LE, INT64, int64_t, uint8_t, A(int64_t) <= b)                                      \
    MAP(GT, INT64, int64_t, uint8_t, A(int64_t) > b)                                       \
    MAP(GE, INT64, int64_t, uint8_t, A(int64_t) >= b)                                      \
    MAP(AND, BOOL, uint8_t, uint8_t, (A(uint8_t) != 0) & (b != 0))                         \
    MAP(OR, BOOL, uint8_t, uint8_t, A(uint8_t) | b)                                        \
    MAP(INVERT, BOOL, uint8_t, uint8_t, b == 0)                                            \
    MAP(SWITCH, INT64, int64_t, int64_t, IS_CHOSEN != 0 ? A(int64_t) : b)

/* CAST(from, C type, to, C type) */
#define FOR_CASTS(CAST)                                                                    \
    CAST(INT64, int64_t, FLOAT64, double)                                                  \
    CAST(INT8, int8_t, FLOAT64, double)                                                    \
    CAST(INT8, int8_t, INT64, int64_t)                                                     \
    CAST(BOOL, uint8_t, FLOAT64, double)                                                   \
    CAST(BOOL, uint8_t, INT64, int64_t)

/* Scalar and from (the type computed in) of a MAP, from and to of a CAST. */
typedef struct MemoryCells {
    int opcode, scalar, from, to;
    TapeFunction functions[2];
} MemoryCells;

#define DEFINE_MAP(NAME, DTYPE, IN, OUT, expression) CELLS(NAME##_##DTYPE, IN, OUT, expression)
#define DEFINE_CAST(FROM, IN, TO, OUT) CELLS(FROM##_##TO, IN, OUT, b)
FOR_MAPS(DEFINE_MAP)
FOR_CASTS(DEFINE_CAST)

#define LIST_MAP(NAME, DTYPE, IN, OUT, expression) {I_MAP, SCALAR_##NAME, DTYPE_##DTYPE, 0, {NAME##_##DTYPE##_n, NAME##_##DTYPE##_s}},
#define LIST_CAST(FROM, IN, TO, OUT) {I_CAST, 0, DTYPE_##FROM, DTYPE_##TO, {FROM##_##TO##_n, FROM##_##TO##_s}},
static const MemoryCells memory_cells[] = {
    FOR_MAPS(LIST_MAP)
    FOR_CASTS(LIST_CAST)
};

TapeFunction tape_memory(const Program *body, const Step *step, bool is_stored)
{
    bool is_cast = step->instr->opcode == I_CAST;
    int scalar = is_cast ? 0 : step->instr->fn;
    int from = is_cast ? body->values[step->src[0]].dtype : step->instr->dtype;
    int to = is_cast ? body->values[step->dst[0]].dtype : 0;

    for (size_t i = 0; i < sizeof memory_cells / sizeof memory_cells[0]; i++) {
        const MemoryCells *row = &memory_cells[i];
        if (row->opcode == step->instr->opcode && row->scalar == scalar && row->from == from && row->to == to) {
            return row->functions[is_stored];
        }
    }
    return NULL;
}

/* ---- by kernels, which write no address but the result's ---- */

static const int64_t no_strides[SWEEP_MAX_ARGS] = {0};

#define KERNEL_CELL(NAME, first)                            \
    static void NAME(TAPE_ARGUMENTS)                        \
    {                                                       \
        cell->kernel(1, &cell->at[first], no_strides);      \
        TAPE_JUMP(cell + 1);                                \
    }
KERNEL_CELL(kernel1_cell, TAPE_B)
KERNEL_CELL(kernel2_cell, TAPE_A)
KERNEL_CELL(kernel3_cell, TAPE_FIRST)

TapeFunction tape_kernel(int n_operands) { return n_operands == 1 ? kernel1_cell : n_operands == 2 ? kernel2_cell : kernel3_cell; }

/* ---- by the plain loop ---- */

#define STEP_CELL(NAME, STORE)                                        \
    static APART void NAME(TAPE_ARGUMENTS)                            \
    {                                                                 \
        if (frame_run_one(tape->frame, cell->step, tape->run) < 0) {  \
            TAPE_STOP(t, -1);                                         \
        }                                                             \
        STORE;                                                        \
        TAPE_JUMP(cell + 1);                                          \
    }
STEP_CELL(step_cell, STORE_NO)
STEP_CELL(step_stored_cell, memcpy(cell->store + 8 * t, cell->at[TAPE_TO], 8))

/* Elements of 8 bytes. A place that is not there is refused by the plain loop. */
#define ELEMENT_CELL(NAME, STORE)                                                            \
    static void NAME(TAPE_ARGUMENTS)                                                         \
    {                                                                                        \
        const int64_t index = AT(const int64_t, TAPE_B);                                     \
        const uint64_t place = (uint64_t)(index + (index >> 63 & cell->look.length));        \
                                                                                             \
        if (place < (uint64_t)cell->look.length) {                                           \
            uint64_t x;                                                                      \
            memcpy(&x, cell->look.data + (int64_t)place * cell->look.stride, sizeof x);      \
            AT(uint64_t, TAPE_TO) = x;                                                       \
            STORE;                                                                           \
            TAPE_JUMP(cell + 1);                                                             \
        }                                                                                    \
        return step_cell(cell, t, end, tape, r0, r1, r2, r3);                                \
    }
ELEMENT_CELL(element_cell, STORE_NO)
ELEMENT_CELL(element_stored_cell, ((uint64_t *)(void *)cell->store)[t] = x)

TapeFunction tape_element(bool is_stored) { return is_stored ? element_stored_cell : element_cell; }

/* A draw is armed, for a code of its own, when a call begins (frame.h). */
#define DRAW_CELL(NAME, SHAPE, ELSE, STORE)                                      \
    static APART void NAME(TAPE_ARGUMENTS)                                       \
    {                                                                            \
        const Step *step = cell->step;                                           \
        if (step->code == STEP_QUICK_##SHAPE && is_quick_##SHAPE(step)) {        \
            draw_##SHAPE(step);                                                  \
            STORE;                                                               \
            TAPE_JUMP(cell + 1);                                                 \
        }                                                                        \
        return ELSE(cell, t, end, tape, r0, r1, r2, r3);                         \
    }
DRAW_CELL(binomial_cell, BINOMIAL, step_cell, STORE_NO)
DRAW_CELL(binomial_stored_cell, BINOMIAL, step_stored_cell, memcpy(cell->store + 8 * t, cell->at[TAPE_TO], 8))
DRAW_CELL(bernoulli_cell, BERNOULLI, step_cell, STORE_NO)

/* Trials of which none can succeed are told here, where plain parameters are drawn from at all. */
#define TRIALS_CELL(NAME, B, ELSE, STORE)                                                           \
    static void NAME(TAPE_ARGUMENTS)                                                                \
    {                                                                                               \
        const int64_t n = AT(const int64_t, TAPE_A), x = 0;                                         \
        const double p = READ_##B(TAPE_B);                                                          \
        if (n >= 0 && is_probability(p) && is_nothing(n, p) && cell->step->code == STEP_QUICK_BINOMIAL) { \
            AT(int64_t, TAPE_TO) = x;                                                               \
            STORE;                                                                                  \
            TAPE_JUMP(cell + 1);                                                                    \
        }                                                                                           \
        AT(double, TAPE_FIRST) = p;                                                                 \
        return ELSE(cell, t, end, tape, r0, r1, r2, r3);                                            \
    }
#define TRIALS_CELLS(B)                                                                             \
    TRIALS_CELL(trials_##B##_n, B, binomial_cell, STORE_NO)                                         \
    TRIALS_CELL(trials_##B##_s, B, binomial_stored_cell, ((int64_t *)(void *)cell->store)[t] = x)
TRIALS_CELLS(R0)
TRIALS_CELLS(R1)
TRIALS_CELLS(R2)
TRIALS_CELLS(R3)
TRIALS_CELLS(FIXED)
TRIALS_CELLS(COLUMN)

TapeFunction tape_binomial(TapePlace b, bool is_stored)
{
    static const TapeFunction cells[N_TAPE_PLACES][2] = {
        {trials_R0_n, trials_R0_s}, {trials_R1_n, trials_R1_s}, {trials_R2_n, trials_R2_s},
        {trials_R3_n, trials_R3_s}, {trials_FIXED_n, trials_FIXED_s}, {trials_COLUMN_n, trials_COLUMN_s}};

    return cells[b][is_stored];
}

/* Normal and its like, and what has no inlined code for this generator. */
static void fast_cell(TAPE_ARGUMENTS)
{
    const Step *step = cell->step;

    if (step->code == STEP_FAST && is_quick_FAST(step)) {
        TAPE_JUMP(cell + 1);
    }
    return step_cell(cell, t, end, tape, r0, r1, r2, r3);
}

TapeFunction tape_step(const Step *step)
{
    if (step->instr->opcode != I_DRAW || step->code == STEP_OTHER) {
        return step_cell;
    }
    return step->quick == STEP_QUICK_BERNOULLI ? bernoulli_cell : fast_cell;
}

/* ---- copies ---- */

static void copy_cell(TAPE_ARGUMENTS)
{
    memcpy(cell->at[TAPE_TO] + t * cell->to_stride, cell->at[TAPE_B] + t * cell->from_stride, (size_t)cell->n_bytes);
    TAPE_JUMP(cell + 1);
}

#define COPY_CELL(NAME, from, to)                                                            \
    static void NAME(TAPE_ARGUMENTS)                                                         \
    {                                                                                        \
        ((uint64_t *)(void *)cell->at[TAPE_TO])[to] = ((const uint64_t *)(const void *)cell->at[TAPE_B])[from]; \
        TAPE_JUMP(cell + 1);                                                                 \
    }
COPY_CELL(move8_cell, 0, 0)
COPY_CELL(store8_cell, 0, t)
COPY_CELL(load8_cell, t, 0)
COPY_CELL(pass8_cell, t, t)

TapeFunction tape_copy(int64_t n_bytes, bool is_from_column, bool is_to_column)
{
    static const TapeFunction cells[2][2] = {{move8_cell, store8_cell}, {load8_cell, pass8_cell}};

    return n_bytes == 8 ? cells[is_from_column][is_to_column] : copy_cell;
}
