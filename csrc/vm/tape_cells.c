/* Cells of arithmetic on doubles, of conditions and of choices by them, made by macros for each operation and each place of its
 * operands, and the last cell of a tape.
 *
 * Relies on: tape_cells.h, math (one element of an elementary function). */
#include "vm/tape_cells.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "math/elementary.h"

#define CELL(NAME, expression, WRITE, STORE) \
    static void NAME(TAPE_ARGUMENTS)         \
    {                                        \
        double x = expression;               \
        WRITE;                               \
        STORE;                               \
        TAPE_JUMP(cell + 1);                 \
    }

/* For each place of the result. */
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
/* For each place of the first operand and of the second: cells of what OF makes of the two. */
#define PAIRS_WITH(CELLS, NAME, OF, A)                                   \
    CELLS(NAME##_##A##_R0, OF(READ_##A(TAPE_A), READ_R0(TAPE_B)))        \
    CELLS(NAME##_##A##_R1, OF(READ_##A(TAPE_A), READ_R1(TAPE_B)))        \
    CELLS(NAME##_##A##_R2, OF(READ_##A(TAPE_A), READ_R2(TAPE_B)))        \
    CELLS(NAME##_##A##_R3, OF(READ_##A(TAPE_A), READ_R3(TAPE_B)))        \
    CELLS(NAME##_##A##_FIXED, OF(READ_##A(TAPE_A), READ_FIXED(TAPE_B)))  \
    CELLS(NAME##_##A##_COLUMN, OF(READ_##A(TAPE_A), READ_COLUMN(TAPE_B)))
#define PAIRS(CELLS, NAME, OF)                                           \
    PAIRS_WITH(CELLS, NAME, OF, R0)                                      \
    PAIRS_WITH(CELLS, NAME, OF, R1)                                      \
    PAIRS_WITH(CELLS, NAME, OF, R2)                                      \
    PAIRS_WITH(CELLS, NAME, OF, R3)                                      \
    PAIRS_WITH(CELLS, NAME, OF, FIXED)                                   \
    PAIRS_WITH(CELLS, NAME, OF, COLUMN)
#define UNARY(NAME, FUNCTION)                                    \
    TARGETS(NAME##_R0, FUNCTION(READ_R0(TAPE_B)))                     \
    TARGETS(NAME##_R1, FUNCTION(READ_R1(TAPE_B)))                     \
    TARGETS(NAME##_R2, FUNCTION(READ_R2(TAPE_B)))                     \
    TARGETS(NAME##_R3, FUNCTION(READ_R3(TAPE_B)))                     \
    TARGETS(NAME##_FIXED, FUNCTION(READ_FIXED(TAPE_B)))               \
    TARGETS(NAME##_COLUMN, FUNCTION(READ_COLUMN(TAPE_B)))

/* The elementary functions' one element. A small argument of exp, of which it is 1, waits for no polynomial. */
#define BITS_OF_SMALL UINT64_C(0x3c90000000000000) /* of 2^-54 */
static RARELY double exp_rarely(double x) { return rare_exp(x); }
static RARELY double log_rarely(double x) { return rare_log(x); }
static inline double exp_one(double x) { return is_rare_exp(x) & SIGN_BIT ? exp_rarely(x) : bits_of_abs(x) < BITS_OF_SMALL ? 1.0 : main_exp(x); }
static inline double log_one(double x) { return is_rare_log(x) & SIGN_BIT ? log_rarely(x) : main_log(x); }

#define SUM(a, b) a + b
#define DIFFERENCE(a, b) a - b
#define PRODUCT(a, b) a * b
#define QUOTIENT(a, b) a / b
PAIRS(TARGETS, add, SUM)
PAIRS(TARGETS, sub, DIFFERENCE)
PAIRS(TARGETS, mul, PRODUCT)
PAIRS(TARGETS, div, QUOTIENT)
UNARY(exp, exp_one)
UNARY(log, log_one)
TARGETS(whole, (double)AT(const int64_t, TAPE_B))
UNARY(move, )
UNARY(neg, -)
UNARY(abs, fabs)
UNARY(sqrt, sqrt)

/* Conditions, which are in memory. */
#define CONDITION_CELL(NAME, expression, STORE)                      \
    static void NAME(TAPE_ARGUMENTS)                                 \
    {                                                                \
        const uint8_t x = expression;                                \
        AT(uint8_t, TAPE_TO) = x;                                    \
        STORE;                                                       \
        TAPE_JUMP(cell + 1);                                         \
    }
#define CONDITION_CELLS(NAME, expression)                            \
    CONDITION_CELL(NAME##_n, expression, STORE_NO)                   \
    CONDITION_CELL(NAME##_s, expression, ((uint8_t *)(void *)cell->store)[t] = x)
#define IS_EQ(a, b) a == b
#define IS_NEQ(a, b) a != b
#define IS_LT(a, b) a < b
#define IS_LE(a, b) a <= b
#define IS_GT(a, b) a > b
#define IS_GE(a, b) a >= b
#define CONDITIONS(NAME) PAIRS(CONDITION_CELLS, NAME, IS_##NAME)
#define FOR_CONDITIONS(ROW) ROW(EQ) ROW(NEQ) ROW(LT) ROW(LE) ROW(GT) ROW(GE)
FOR_CONDITIONS(CONDITIONS)

/* One of two by a condition, without a branch. */
static inline double choose_one(uint8_t condition, double a, double b) { return choose(SIGN_BIT * (condition != 0), a, b); }
#define CHOICE(a, b) choose_one(AT(const uint8_t, TAPE_FIRST), a, b)
PAIRS(TARGETS, choice, CHOICE)

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

TapeFunction tape_unary(int scalar, TapePlace b, TapePlace to, bool is_stored)
{
    static const struct { int scalar; Targets cells[N_TAPE_PLACES]; } rows[] = {
        {SCALAR_SECOND, LIST_TARGETS_OF(move)}, {SCALAR_NEG, LIST_TARGETS_OF(neg)}, {SCALAR_ABS, LIST_TARGETS_OF(abs)},
        {SCALAR_SQRT, LIST_TARGETS_OF(sqrt)},   {SCALAR_EXP, LIST_TARGETS_OF(exp)}, {SCALAR_LOG, LIST_TARGETS_OF(log)},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].scalar == scalar) {
            return rows[i].cells[b][to][is_stored];
        }
    }
    return NULL;
}

TapeFunction tape_condition(int scalar, TapePlace a, TapePlace b, bool is_stored)
{
#define LIST_CONDITION(NAME) {NAME##_n, NAME##_s}
#define LIST_CONDITIONS_OF(NAME)                                                                                                     \
    {LIST_CONDITION(NAME##_R0), LIST_CONDITION(NAME##_R1), LIST_CONDITION(NAME##_R2), LIST_CONDITION(NAME##_R3), LIST_CONDITION(NAME##_FIXED), LIST_CONDITION(NAME##_COLUMN)}
#define LIST_CONDITIONS(NAME) {SCALAR_##NAME, LIST_PLACES(LIST_CONDITIONS_OF, NAME)},
    static const struct { int scalar; TapeFunction cells[N_TAPE_PLACES][N_TAPE_PLACES][2]; } rows[] = {FOR_CONDITIONS(LIST_CONDITIONS)};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].scalar == scalar) {
            return rows[i].cells[a][b][is_stored];
        }
    }
    return NULL;
}

TapeFunction tape_choice(TapePlace a, TapePlace b, TapePlace to, bool is_stored)
{
    static const Targets cells[N_TAPE_PLACES][N_TAPE_PLACES] = LIST_PLACES(LIST_TARGETS_OF, choice);

    return cells[a][b][to][is_stored];
}

TapeFunction tape_from_int64(TapePlace to, bool is_stored)
{
    static const Targets cells = LIST_TARGETS(whole);

    return cells[to][is_stored];
}

#define PLAIN_CELL(A)                                                        \
    static void plain_##A##_cell(TAPE_ARGUMENTS)                             \
    {                                                                        \
        const double x = READ_##A(TAPE_A);                                   \
        if (!(x > 0.0 && x <= DBL_MAX)) {                                    \
            TAPE_STOP(t, TAPE_LEFT);                                         \
        }                                                                    \
        TAPE_JUMP(cell + 1);                                                 \
    }
PLAIN_CELL(R0)
PLAIN_CELL(R1)
PLAIN_CELL(R2)
PLAIN_CELL(R3)
PLAIN_CELL(FIXED)
PLAIN_CELL(COLUMN)

TapeFunction tape_plain(TapePlace a)
{
    static const TapeFunction cells[N_TAPE_PLACES] = {plain_R0_cell, plain_R1_cell, plain_R2_cell, plain_R3_cell, plain_FIXED_cell, plain_COLUMN_cell};

    return cells[a];
}

static void end_cell(TAPE_ARGUMENTS)
{
    if (++t == end) {
        TAPE_STOP(t, 0);
    }
    TAPE_JUMP(tape->cells);
}

static void end_until_cell(TAPE_ARGUMENTS)
{
    t++;
    if (*tape->until != 0) {
        TAPE_STOP(t, 1);
    }
    if (t == end) {
        TAPE_STOP(t, 0);
    }
    TAPE_JUMP(tape->cells);
}

TapeFunction tape_end(bool has_until) { return has_until ? end_until_cell : end_cell; }
