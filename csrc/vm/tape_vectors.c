/* Cells for elementwise steps on small arrays of one shape, for the folds of such arrays to one number, and for
 * products of vectors by matrices that stay.
 *
 * Lengths are not known when a tape is made. What the first step of a call found is what all its steps will find: the
 * rows of sequences, states and columns keep their shape, and elementwise steps on them too. So each call looks at the
 * shapes once, chooses a cell for each step by them (tape_fit), and a step then costs an address and a loop. An array's
 * elements are in the row of a lane, which moves by a stride from step to step, or at an address that stays. Relies on:
 * tape.h. Relied on by: tape.c, block_run.c. */
#include <stddef.h>
#include <string.h>

#include "ops/ops.h"
#include "vm/tape.h"

/* Longer arrays gain nothing by cells, and should not hold up an interrupt. Those beyond SHORT_LENGTH are run by
 * kernels, elementwise steps in a row tile by tile, so that what is between them stays in the nearest cache. */
enum { MAX_LENGTH = 4096, SHORT_LENGTH = 512, TILE_LENGTH = 256, MAX_VECTOR_PAST = 4 };

/* ---- which cores ---- */

static bool is_array(const Program *body, int32_t value) { return body->values[value].value_class == VALUE_ARRAY; }

/* The fold of a whole array, of the type that it is folded in. */
static bool is_whole_fold(const Program *body, const Step *step)
{
    const Instr *instr = step->instr;
    const Value *source = &body->values[step->src[0]];

    return instr->fn != REDUCE_ARGMAX && source->value_class == VALUE_ARRAY && instr->n_aux == source->ndim
           && body->values[step->dst[0]].value_class == VALUE_SCALAR && source->dtype == instr->dtype
           && body->values[step->dst[0]].dtype == instr->dtype && reduce_fold(instr) != NULL;
}

/* A vector by a matrix that is the same in each step. */
static bool is_vector_product(const Program *body, const Step *step)
{
    const Value *a = &body->values[step->src[0]], *b = &body->values[step->src[1]];

    return step->packed != NULL && a->ndim + b->ndim == 3 && body->values[step->dst[0]].dtype == DTYPE_FLOAT64;
}

bool tape_is_vector(const Program *body, const Step *step)
{
    const Instr *instr = step->instr;

    switch (instr->opcode) {
    case I_MAP:
        return is_array(body, step->dst[0]) && instr->n_src < SWEEP_MAX_ARGS && (instr->n_src == 2 || scalar_n_in(instr->fn) >= 0)
               && !scalar_can_raise(instr->fn, (DType)instr->dtype);
    case I_CAST:
        return is_array(body, step->dst[0]);
    case I_REDUCE:
        return is_whole_fold(body, step);
    case I_DOT:
        return is_vector_product(body, step);
    default:
        return false;
    }
}

/* The step of the core that computes a value, or NULL. */
static const Step *find_maker(const Step *core, int32_t value)
{
    for (const Step *step = core; step->code != STEP_END; step++) {
        if (step->dst[step->instr->n_dst - 1] == value) {
            return step;
        }
    }
    return NULL;
}

static bool is_made_by_vector(const Program *body, const Step *core, int32_t value)
{
    const Step *maker = find_maker(core, value);

    return maker != NULL && tape_is_vector(body, maker);
}

/* Vector steps read what other vector steps make and what is there before; other steps read arrays that stay, or that such
 * steps show them. */
static bool can_read(const Program *body, const LoopPhases *phases, const Step *core, const Step *step)
{
    bool is_vector = tape_is_vector(body, step);

    for (int32_t i = 0; i < step->instr->n_src; i++) {
        int32_t value = step->src[i];
        const Step *maker;

        if (!is_array(body, value) || phases->is_fixed[value]) {
            continue;
        }
        maker = find_maker(core, value);
        if (is_vector ? maker != NULL && !tape_is_vector(body, maker) : maker == NULL || tape_is_vector(body, maker)) {
            return false;
        }
    }
    return is_vector || step->code != STEP_OTHER;
}

/* A result of arrays that gets a column: which the core computes by a vector step, or which is there before. */
static bool can_store(const LoopFrame *loop_frame, const LoopPhases *phases, const Step *core, int32_t value)
{
    const Program *body = loop_frame->loop->body;

    return !is_array(body, value) || is_made_by_vector(body, core, value) || phases_make_ahead(body, phases, value);
}

/* The column of a state of arrays has the state's past in front of it, so it serves one state. */
static bool shares_column(const Loop *loop, int32_t i)
{
    for (int32_t j = 0; j < i; j++) {
        if (loop->states[j].inner_out == loop->states[i].inner_out && loop->states[j].n_taps > 0 && loop->states[i].n_taps > 0) {
            return is_array(loop->body, loop->states[i].inner_out);
        }
    }
    return false;
}

bool tape_can_run_vectors(const LoopFrame *loop_frame, const LoopPhases *phases, const Step *core)
{
    const Loop *loop = loop_frame->loop;
    bool has_vectors = false;

    for (const Step *step = core; step->code != STEP_END; step++) {
        has_vectors |= tape_is_vector(loop->body, step);
    }
    if (!has_vectors) {
        return false;
    }
    for (const Step *step = core; step->code != STEP_END; step++) {
        if (!can_read(loop->body, phases, core, step)) {
            return false;
        }
    }
    for (int32_t i = 0; i < loop->n_states; i++) {
        if (loop->states[i].past > MAX_VECTOR_PAST || !can_store(loop_frame, phases, core, loop->states[i].inner_out) || shares_column(loop, i)) {
            return false;
        }
    }
    for (int32_t i = 0; i < loop->n_paths; i++) {
        if (!can_store(loop_frame, phases, core, loop->paths[i].inner_out)) {
            return false;
        }
    }
    return true;
}

/* ---- cells ---- */

#define ROW(operand) (cell->at[operand] + t * cell->vector->rows[operand])
#define DOUBLES(operand) ((double *)(void *)ROW(operand))

#if defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH(i, n) _Pragma("GCC ivdep") for (int64_t i = 0; i < (n); i++)
#else
#define FOR_EACH(i, n) for (int64_t i = 0; i < (n); i++)
#endif

/* Doubles: two arrays, or one and a number. */
#define ARITHMETIC(NAME, OP)                                                                \
    static void NAME##_arrays_cell(TAPE_ARGUMENTS)                                          \
    {                                                                                       \
        const int64_t n = cell->vector->n;                                                  \
        const double *a = DOUBLES(TAPE_A), *b = DOUBLES(TAPE_B);                            \
        double *to = DOUBLES(TAPE_TO);                                                      \
        FOR_EACH(i, n) { to[i] = a[i] OP b[i]; }                                            \
        TAPE_JUMP(cell + 1);                                                                \
    }                                                                                       \
    static void NAME##_number_cell(TAPE_ARGUMENTS)                                          \
    {                                                                                       \
        const int64_t n = cell->vector->n;                                                  \
        const double *a = DOUBLES(TAPE_A), b = *DOUBLES(TAPE_B);                            \
        double *to = DOUBLES(TAPE_TO);                                                      \
        FOR_EACH(i, n) { to[i] = a[i] OP b; }                                               \
        TAPE_JUMP(cell + 1);                                                                \
    }                                                                                       \
    static void NAME##_of_number_cell(TAPE_ARGUMENTS)                                       \
    {                                                                                       \
        const int64_t n = cell->vector->n;                                                  \
        const double a = *DOUBLES(TAPE_A), *b = DOUBLES(TAPE_B);                            \
        double *to = DOUBLES(TAPE_TO);                                                      \
        FOR_EACH(i, n) { to[i] = a OP b[i]; }                                               \
        TAPE_JUMP(cell + 1);                                                                \
    }
#define FOR_ARITHMETIC(ROW) ROW(plus, +) ROW(minus, -) ROW(times, *) ROW(over, /)
FOR_ARITHMETIC(ARITHMETIC)

static void square_array_cell(TAPE_ARGUMENTS)
{
    const int64_t n = cell->vector->n;
    const double *b = DOUBLES(TAPE_B);
    double *to = DOUBLES(TAPE_TO);

    FOR_EACH(i, n) { to[i] = b[i] * b[i]; }
    TAPE_JUMP(cell + 1);
}

/* One of two arrays of elements of 8 bytes, by a condition for all; without a branch, since such conditions are those
 * of chance. */
static void choose_array_cell(TAPE_ARGUMENTS)
{
    const int64_t n = cell->vector->n;
    const uintptr_t a = (uintptr_t)ROW(TAPE_A), b = (uintptr_t)ROW(TAPE_B), mask = 0 - (uintptr_t)(*ROW(TAPE_FIRST) != 0);
    const uint64_t *from = (const uint64_t *)(b ^ ((a ^ b) & mask));
    uint64_t *to = (uint64_t *)(void *)ROW(TAPE_TO);

    FOR_EACH(i, n) { to[i] = from[i]; }
    TAPE_JUMP(cell + 1);
}

/* Sums of doubles in the documented order (math_fold), the sums of which stay in registers. */
#define SUM_TO_R0(last) r0 = sum
#define SUM_TO_R1(last) r1 = sum
#define SUM_TO_R2(last) r2 = sum
#define SUM_TO_R3(last) r3 = sum
#define SUM_TO_FIXED(last) *(double *)(void *)(last).at[TAPE_TO] = sum
#define LIST_SUMS(NAME) {NAME##_R0_cell, NAME##_R1_cell, NAME##_R2_cell, NAME##_R3_cell, NAME##_FIXED_cell}
#define SUM_CELL(NAME, next, TERM, PLACE)                                                   \
    static void NAME##_##PLACE##_cell(TAPE_ARGUMENTS)                                                \
    {                                                                                       \
        const int64_t n = cell->vector->n;                                                  \
        const double *x = DOUBLES(TAPE_B);                                                  \
        double sum = TERM(x[0]);                                                            \
        int64_t i = 1;                                                                      \
        if (n >= 8) {                                                                       \
            double s1 = TERM(x[1]), s2 = TERM(x[2]), s3 = TERM(x[3]), s4 = TERM(x[4]);      \
            double s5 = TERM(x[5]), s6 = TERM(x[6]), s7 = TERM(x[7]);                       \
            for (i = 8; i + 8 <= n; i += 8) {                                               \
                sum += TERM(x[i]);                                                          \
                s1 += TERM(x[i + 1]);                                                       \
                s2 += TERM(x[i + 2]);                                                       \
                s3 += TERM(x[i + 3]);                                                       \
                s4 += TERM(x[i + 4]);                                                       \
                s5 += TERM(x[i + 5]);                                                       \
                s6 += TERM(x[i + 6]);                                                       \
                s7 += TERM(x[i + 7]);                                                       \
            }                                                                               \
            sum = ((sum + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));                       \
        }                                                                                   \
        for (; i < n; i++) {                                                                \
            sum += TERM(x[i]);                                                              \
        }                                                                                   \
        SUM_TO_##PLACE(cell[(next) - 1]);                                                   \
        TAPE_JUMP(cell + (next));                                                           \
    }
#define SUM_CELLS(NAME, next, TERM)                                                         \
    SUM_CELL(NAME, next, TERM, R0)                                                          \
    SUM_CELL(NAME, next, TERM, R1)                                                          \
    SUM_CELL(NAME, next, TERM, R2)                                                          \
    SUM_CELL(NAME, next, TERM, R3)                                                          \
    SUM_CELL(NAME, next, TERM, FIXED)                                                       \
    static const TapeFunction NAME##_cells[N_TAPE_TARGETS] = LIST_SUMS(NAME);
#define ITSELF(x) (x)
#define SQUARED(x) ((x) * (x))
SUM_CELLS(sum_array, 1, ITSELF)

/* Two cells as one, in the first's place: the array between them is not written. */
SUM_CELLS(sum_squares, 2, SQUARED)

/* The place of an operand of the second cell. */
#define SECOND(operand) ((double *)(void *)(cell[1].at[operand] + t * cell[1].vector->rows[operand]))
#define PLUS_PRODUCT(NAME, NUMBER, ARRAY, OTHER)                                            \
    static void NAME##_cell(TAPE_ARGUMENTS)                                                 \
    {                                                                                       \
        const int64_t n = cell->vector->n;                                                  \
        const double number = *DOUBLES(NUMBER), *array = DOUBLES(ARRAY), *other = SECOND(OTHER); \
        double *to = SECOND(TAPE_TO);                                                       \
        FOR_EACH(i, n) { to[i] = other[i] + number * array[i]; }                            \
        TAPE_JUMP(cell + 2);                                                                \
    }
PLUS_PRODUCT(plus_first_product, TAPE_A, TAPE_B, TAPE_B)
PLUS_PRODUCT(plus_second_product, TAPE_A, TAPE_B, TAPE_A)
PLUS_PRODUCT(plus_first_multiple, TAPE_B, TAPE_A, TAPE_B)
PLUS_PRODUCT(plus_second_multiple, TAPE_B, TAPE_A, TAPE_A)

#if defined(__GNUC__)
#define HAS_SQUARES 1
/* The same, and the two cells behind, which sum the squares of it up (as SUM_CELL): these do not wait for what was
 * stored. What is read by two is stored by two, since a CPU is slow to put together what it has yet to store. */
typedef double Two __attribute__((vector_size(16), aligned(8)));
#define TWO(p, i) (*(Two *)(uintptr_t)&(p)[i])
static inline Two store_and_square(Two *to, Two x)
{
    *to = x;
    return x * x;
}
#define SQUARES(i) store_and_square(&TWO(to, i), TWO(other, i) + number * TWO(array, i))
#define PLUS_SQUARES(NAME, NUMBER, ARRAY, OTHER, PLACE)                                     \
    static void NAME##_squares_##PLACE##_cell(TAPE_ARGUMENTS)                               \
    {                                                                                       \
        const int64_t n = cell->vector->n;                                                  \
        const double number = *DOUBLES(NUMBER), *array = DOUBLES(ARRAY), *other = SECOND(OTHER); \
        double *to = SECOND(TAPE_TO), sum = 0;                                              \
        int64_t i = 0;                                                                      \
        if (n >= 8) {                                                                       \
            Two s0 = SQUARES(0), s1 = SQUARES(2), s2 = SQUARES(4), s3 = SQUARES(6);         \
            for (i = 8; i + 8 <= n; i += 8) {                                               \
                s0 += SQUARES(i);                                                           \
                s1 += SQUARES(i + 2);                                                       \
                s2 += SQUARES(i + 4);                                                       \
                s3 += SQUARES(i + 6);                                                       \
            }                                                                               \
            sum = ((s0[0] + s0[1]) + (s1[0] + s1[1])) + ((s2[0] + s2[1]) + (s3[0] + s3[1])); \
        } else {                                                                            \
            double x = to[0] = other[0] + number * array[0];                                \
            sum = x * x;                                                                    \
            i = 1;                                                                          \
        }                                                                                   \
        for (; i + 2 <= n; i += 2) {                                                        \
            Two x = SQUARES(i);                                                             \
            sum += x[0];                                                                    \
            sum += x[1];                                                                    \
        }                                                                                   \
        if (i < n) {                                                                        \
            double x = to[i] = other[i] + number * array[i];                                \
            sum += x * x;                                                                   \
        }                                                                                   \
        SUM_TO_##PLACE(cell[3]);                                                            \
        TAPE_JUMP(cell + 4);                                                                \
    }
#define PLUS_SQUARES_CELLS(NAME, NUMBER, ARRAY, OTHER)                                      \
    PLUS_SQUARES(NAME, NUMBER, ARRAY, OTHER, R0)                                            \
    PLUS_SQUARES(NAME, NUMBER, ARRAY, OTHER, R1)                                            \
    PLUS_SQUARES(NAME, NUMBER, ARRAY, OTHER, R2)                                            \
    PLUS_SQUARES(NAME, NUMBER, ARRAY, OTHER, R3)                                            \
    PLUS_SQUARES(NAME, NUMBER, ARRAY, OTHER, FIXED)
PLUS_SQUARES_CELLS(plus_first_product, TAPE_A, TAPE_B, TAPE_B)
PLUS_SQUARES_CELLS(plus_second_product, TAPE_A, TAPE_B, TAPE_A)
PLUS_SQUARES_CELLS(plus_first_multiple, TAPE_B, TAPE_A, TAPE_B)
PLUS_SQUARES_CELLS(plus_second_multiple, TAPE_B, TAPE_A, TAPE_A)
#endif

static void fold_array_cell(TAPE_ARGUMENTS)
{
    cell->vector->fold(cell->vector->n, ROW(TAPE_B), cell->at[TAPE_TO]);
    TAPE_JUMP(cell + 1);
}

/* A vector by a matrix that was packed. */
static void dot_packed_cell(TAPE_ARGUMENTS)
{
    TapeVector *vector = cell->vector;

    vector->product.a = ROW(TAPE_A);
    vector->product.out = ROW(TAPE_TO);
    vector->step->packed->kernel(&vector->product);
    TAPE_JUMP(cell + 1);
}

/* The same sums, by any matrix. */
static void dot_plain_cell(TAPE_ARGUMENTS)
{
    const TapeVector *vector = cell->vector;
    const double *a = DOUBLES(TAPE_A);
    double *to = DOUBLES(TAPE_TO);

    for (int64_t i = 0; i < vector->n; i++) {
        const char *row = cell->at[TAPE_B] + i * vector->next_row;
        double sum = a[0] * *(const double *)(const void *)row;

        for (int64_t k = 1; k < vector->product.k; k++) {
            sum += a[k] * *(const double *)(const void *)(row + k * vector->next_factor);
        }
        to[i] = sum;
    }
    TAPE_JUMP(cell + 1);
}

#if defined(__GNUC__)
__attribute__((noinline)) /* the addresses are a local's, which a cell must not have */
#endif
static void run_kernel(const TapeCell *cell, int64_t t)
{
    const TapeVector *vector = cell->vector;
    char *args[N_TAPE_OPERANDS];

    for (int i = vector->first; i < N_TAPE_OPERANDS; i++) {
        args[i] = ROW(i);
    }
    cell->kernel(vector->n, &args[vector->first], &vector->items[vector->first]);
}

static void kernel_arrays_cell(TAPE_ARGUMENTS)
{
    run_kernel(cell, t);
    TAPE_JUMP(cell + 1);
}

#if defined(__GNUC__)
__attribute__((noinline))
#endif
static void run_kernels_by_tiles(const TapeCell *first, int64_t t)
{
    const int64_t n = first->vector->n;

    for (int64_t start = 0; start < n; start += TILE_LENGTH) {
        int64_t n_tile = n - start < TILE_LENGTH ? n - start : TILE_LENGTH;

        for (const TapeCell *cell = first; cell < first + first->vector->n_tiled; cell++) {
            const TapeVector *vector = cell->vector;
            char *args[N_TAPE_OPERANDS];

            for (int i = vector->first; i < N_TAPE_OPERANDS; i++) {
                args[i] = ROW(i) + start * vector->items[i];
            }
            cell->kernel(n_tile, &args[vector->first], &vector->items[vector->first]);
        }
    }
}

/* Several cells as one, in the first's place. */
static void tiled_arrays_cell(TAPE_ARGUMENTS)
{
    run_kernels_by_tiles(cell, t);
    TAPE_JUMP(cell + cell->vector->n_tiled);
}

/* ---- choosing cells by shapes ---- */

static bool is_whole(const TapeVector *vector, int operand) { return vector->items[operand] != 0; }

static TapeFunction choose_arithmetic(const TapeVector *vector, int scalar)
{
#define LIST(NAME, OP) {NAME##_arrays_cell, NAME##_number_cell, NAME##_of_number_cell},
    static const TapeFunction cells[4][3] = {FOR_ARITHMETIC(LIST)};
    int operation = scalar == SCALAR_ADD ? 0 : scalar == SCALAR_SUB ? 1 : scalar == SCALAR_MUL ? 2 : scalar == SCALAR_TRUE_DIVIDE ? 3 : -1;
    bool a = is_whole(vector, TAPE_A), b = is_whole(vector, TAPE_B);

    return operation < 0 || !(a || b) ? NULL : cells[operation][a && b ? 0 : a ? 1 : 2];
}

/* A power of 2 that stays is what the kernel has for it. */
static bool is_square(const Frame *body, const TapeVector *vector, const Instr *instr)
{
    int32_t exponent = vector->values[TAPE_B];

    return instr->fn == SCALAR_POW && is_whole(vector, TAPE_A) && !is_whole(vector, TAPE_B)
           && body->program->values[exponent].origin == ORIGIN_CONSTANT
           && *(const double *)(const void *)body->program->constants[body->program->values[exponent].index].data == 2;
}

static void choose_cell(const Frame *body, TapeVector *vector)
{
    const Instr *instr = vector->step->instr;
    TapeFunction function = NULL;

    vector->n_tiled = 1;
    if (instr->opcode == I_REDUCE) {
        function = instr->fn == REDUCE_ADD && instr->dtype == DTYPE_FLOAT64 ? sum_array_cells[vector->to] : fold_array_cell;
    } else if (instr->opcode == I_DOT) {
        function = vector->product.is_padded ? dot_packed_cell : dot_plain_cell;
    } else if (vector->n > SHORT_LENGTH) {
        function = kernel_arrays_cell;
    } else if (instr->opcode == I_MAP && instr->fn == SCALAR_SWITCH && dtype_bytes((DType)instr->dtype) == 8) {
        function = !is_whole(vector, TAPE_FIRST) && is_whole(vector, TAPE_A) && is_whole(vector, TAPE_B) ? choose_array_cell : NULL;
    } else if (instr->opcode == I_MAP && instr->dtype == DTYPE_FLOAT64 && instr->n_src == 2) {
        function = choose_arithmetic(vector, instr->fn);
        if (function == NULL && is_square(body, vector, instr)) {
            vector->cell->at[TAPE_B] = vector->cell->at[TAPE_A];
            vector->rows[TAPE_B] = vector->rows[TAPE_A];
            function = square_array_cell;
        }
    } else if (instr->opcode == I_MAP && instr->dtype == DTYPE_FLOAT64 && instr->fn == SCALAR_SQUARE) {
        function = square_array_cell;
    }
    vector->cell->function = function != NULL ? function : kernel_arrays_cell;
}

/* Makes one cell of two where there is one for both. */
static void join_cells(TapeVector *first, const TapeVector *second)
{
    TapeFunction function = first->cell->function;
    bool is_of_number = function == times_of_number_cell, is_second = second->values[TAPE_B] == first->values[TAPE_TO];

    if (second->cell->function == sum_array_cells[second->to] && function == square_array_cell) {
        first->cell->function = sum_squares_cells[second->to];
    } else if (second->cell->function == plus_arrays_cell && (is_of_number || function == times_number_cell)) {
        first->cell->function = is_of_number ? (is_second ? plus_second_product_cell : plus_first_product_cell)
                                             : (is_second ? plus_second_multiple_cell : plus_first_multiple_cell);
    }
}

#ifdef HAS_SQUARES
/* Makes one cell of four: a sum of an array and a product, and the sum of its squares. */
static void join_squares(TapeVector *first, const TapeVector *square)
{
    static const struct { TapeFunction pair, cells[N_TAPE_TARGETS]; } joined[] = {
#define LIST_SQUARES(NAME) {NAME##_cell, LIST_SUMS(NAME##_squares)}
        LIST_SQUARES(plus_first_product), LIST_SQUARES(plus_second_product), LIST_SQUARES(plus_first_multiple), LIST_SQUARES(plus_second_multiple)};
    TapePlace to = square[1].to;

    if (square->cell->function != sum_squares_cells[to] || square->cell != first->cell + 2 || square->values[square->first] != first[1].values[TAPE_TO]) {
        return;
    }
    for (size_t i = 0; i < sizeof joined / sizeof joined[0]; i++) {
        if (first->cell->function == joined[i].pair) {
            first->cell->function = joined[i].cells[to];
            return;
        }
    }
}
#endif

/* Whether a step is one on long arrays whose elements are all of 8 bytes: then those that share memory, now one array
 * and then another, are in the same place for the same element, and the elements of a tile need no others. */
static bool can_be_tiled(const TapeVector *vector)
{
    bool can = vector->n > SHORT_LENGTH && vector->cell->function == kernel_arrays_cell;

    for (int operand = vector->first; can && operand < N_TAPE_OPERANDS; operand++) {
        can = vector->items[operand] == 0 || vector->items[operand] == 8;
    }
    return can;
}

/* Makes one cell of those in a row that can be tiled, from the last on. */
static void join_tiled(Tape *tape)
{
    for (int32_t i = tape->n_vectors - 2; i >= 0; i--) {
        TapeVector *vector = &tape->vectors[i];

        if (vector[1].cell == vector->cell + 1 && vector[1].n == vector->n && can_be_tiled(vector)
            && (can_be_tiled(&vector[1]) || vector[1].cell->function == tiled_arrays_cell)) {
            vector->n_tiled = vector[1].n_tiled + 1;
            vector->cell->function = tiled_arrays_cell;
        }
    }
}

/* ---- fitting ---- */

/* The slot of an array that is in no lane and that the core computes, or NULL. Its arrays are no measure of where it is: a longer
 * array may have moved the slot since. */
static Buffer *const *find_slot(const Tape *tape, const Frame *body, int32_t value)
{
    const Value *row = &body->program->values[value];

    return row->origin == ORIGIN_COMPUTED && row->storage >= 0 && !tape->is_fixed[value] ? &body->storage[row->storage] : NULL;
}

static char *find_memory(const Tape *tape, const Frame *body, int32_t value)
{
    Buffer *const *slot = find_slot(tape, body, value);

    return slot != NULL ? (*slot)->data : body->arrays[value]->data;
}

/* Whether the slots are long enough for all arrays that are in them in turn. */
static bool has_memory(const Tape *tape, const Frame *body, const TapeVector *vector)
{
    for (int operand = vector->first; operand < N_TAPE_OPERANDS; operand++) {
        int32_t value = vector->values[operand];
        const Array *array = body->arrays[value];
        Buffer *const *slot = array == NULL || vector->is_lane[operand] ? NULL : find_slot(tape, body, value);

        if (slot != NULL && (*slot == NULL || !buffer_is_exclusive(*slot) || (*slot)->n_bytes < (size_t)(array_size(array) * dtype_bytes(array->dtype)))) {
            return false;
        }
    }
    return true;
}

/* Whether the operand's elements are one for each of the n, side by side, or one for all. */
static bool fit_operand(const Frame *body, TapeVector *vector, int operand)
{
    const Array *array = body->arrays[vector->values[operand]];
    int64_t size;

    vector->items[operand] = 0;
    if (array == NULL) {
        return true;
    }
    size = array_size(array);
    if (size == vector->n && array_is_contiguous(array)) {
        vector->items[operand] = dtype_bytes(array->dtype);
        return true;
    }
    return size == 1;
}

static bool fit_product(const Frame *body, TapeVector *vector)
{
    const Array *a = body->arrays[vector->step->src[0]], *b = body->arrays[vector->step->src[1]];
    const Array *factor = body->arrays[vector->values[TAPE_A]];

    return array_is_contiguous(factor) && factor->shape[0] > 0 && factor->shape[0] <= SHORT_LENGTH && vector->n <= SHORT_LENGTH && dot_is_own(a, b);
}

static bool fit_vector(const Frame *body, TapeVector *vector)
{
    bool is_fold = vector->step->instr->opcode == I_REDUCE;

    vector->n = array_size(body->arrays[vector->values[is_fold ? TAPE_B : TAPE_TO]]);
    if (vector->n == 0 || vector->n > (is_fold ? MATH_FOLD_BLOCK : MAX_LENGTH)) {
        return false;
    }
    if (vector->step->instr->opcode == I_DOT) {
        return fit_product(body, vector);
    }
    for (int operand = vector->first; operand < N_TAPE_OPERANDS; operand++) {
        if (!fit_operand(body, vector, operand)) {
            return false;
        }
    }
    return true;
}

/* A state whose rows have another shape than what the body computes is broadcast by the plain loop. */
static bool fit_states(const LoopFrame *loop_frame)
{
    const Loop *loop = loop_frame->loop;

    for (int32_t i = 0; i < loop->n_states; i++) {
        const Writer *writer = &loop_frame->writers[loop->n_paths + i];

        if (!writer->is_scalar && (writer->row_bytes == 0 || !array_same_shape(loop_frame->body->arrays[writer->inner_out], &writer->shape))) {
            return false;
        }
    }
    return true;
}

static int64_t find_cost(const Frame *body, const TapeVector *vector)
{
    return vector->step->instr->opcode == I_DOT ? vector->n * (1 + body->arrays[vector->values[TAPE_A]]->shape[0] / 8) : vector->n;
}

bool tape_fit(Tape *tape, const LoopFrame *loop_frame)
{
    tape->vector_cost = 0;
    for (int32_t i = 0; i < tape->n_vectors; i++) {
        if (!has_memory(tape, loop_frame->body, &tape->vectors[i]) || !fit_vector(loop_frame->body, &tape->vectors[i])) {
            return false;
        }
        tape->vector_cost += find_cost(loop_frame->body, &tape->vectors[i]);
    }
    return fit_states(loop_frame);
}

/* The matrix is packed by now, if it could be. */
static void place_product(const Frame *body, TapeVector *vector)
{
    const Packed *packed = vector->step->packed;
    const Array *matrix = body->arrays[vector->values[TAPE_B]];
    int factor_axis = packed->is_left ? 1 : 0;

    vector->product = (ProductRows){.m = 1, .n = vector->n, .k = matrix->shape[factor_axis], .a_step = sizeof(double), .b = packed->rows,
                                    .b_row = packed->row_bytes, .is_padded = packed->rows != NULL};
    vector->next_row = matrix->strides[1 - factor_axis];
    vector->next_factor = matrix->strides[factor_axis];
}

void tape_place_vectors(Tape *tape, const LoopFrame *loop_frame, const Lane *lanes)
{
    const Frame *body = loop_frame->body;

    for (int32_t i = 0; i < tape->n_vectors; i++) {
        TapeVector *vector = &tape->vectors[i];

        for (int operand = vector->first; operand < N_TAPE_OPERANDS; operand++) {
            int32_t value = vector->values[operand];

            if (body->arrays[value] == NULL) {
                continue; /* a number: in memory, as for other cells */
            }
            vector->cell->at[operand] = vector->is_lane[operand] ? lanes[value].at : find_memory(tape, body, value);
            vector->rows[operand] = vector->is_lane[operand] ? lanes[value].stride : 0;
        }
        if (vector->step->instr->opcode == I_DOT) {
            place_product(body, vector);
        }
        choose_cell(body, vector);
    }
    for (int32_t i = 1; i < tape->n_vectors; i++) {
        if (tape->vectors[i].takes_before) {
            join_cells(&tape->vectors[i - 1], &tape->vectors[i]);
        }
    }
#ifdef HAS_SQUARES
    for (int32_t i = 0; i + 3 < tape->n_vectors; i++) {
        join_squares(&tape->vectors[i], &tape->vectors[i + 2]);
    }
#endif
    join_tiled(tape);
}
