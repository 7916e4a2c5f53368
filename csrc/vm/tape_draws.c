/* Cells that finish draws whose numbers were drawn ahead.
 *
 * Relies on: tape_cells.h, random. Relied on by: tape.c. */
#include <stddef.h>

#include "random/draw.h"
#include "vm/tape_cells.h"

/* ---- categories ---- */

static void put_category(const TapeCell *cell, int64_t t, int64_t category)
{
    AT(int64_t, TAPE_TO) = category;
    if (cell->store != NULL) {
        ((int64_t *)(void *)cell->store)[t] = category;
    }
}

/* By a vector that the core looks at, in whatever way. */
static void category_cell(TAPE_ARGUMENTS)
{
    put_category(cell, t, draw_find_category(tape->frame->arrays[cell->step->src[1]], READ_COLUMN(TAPE_A)));
    TAPE_JUMP(cell + 1);
}

/* By a row of a matrix without running sums, or with a place that is not there. The step that looks at the row is done first. */
static APART void long_category_cell(TAPE_ARGUMENTS)
{
    if (frame_run_one(tape->frame, cell->row_step, tape->run) < 0) {
        TAPE_STOP(t, -1);
    }
    return category_cell(cell, t, end, tape, r0, r1, r2, r3);
}

/* The first of n running sums, which do not fall, that is not below u; NaN is not. */
static inline int64_t search_sums(const double *sums, int64_t n, double u)
{
    int64_t low = 0;

    while (n > 0) {
        int64_t half = n / 2;
        bool is_below = sums[low + half] < u;

        low += is_below ? half + 1 : 0;
        n = is_below ? n - half - 1 : half;
    }
    return low;
}

/* The same by counting those below, without a jump that depends on u. */
static inline int64_t count_sums(const double *sums, int64_t n, double u)
{
    int64_t category = 0;

    for (int64_t i = 0; i < n; i++) {
        category += sums[i] < u;
    }
    return category;
}

/* The next step waits for this one's category, so what is rare (a place counted from the end) goes the long way, and
 * the number of categories is a constant where it can be. */
#define ROW_CELL(NAME, n, search)                                                                                \
    static void NAME(TAPE_ARGUMENTS)                                                                             \
    {                                                                                                            \
        const int64_t place = AT(const int64_t, TAPE_B);                                                           \
                                                                                                                 \
        if ((uint64_t)place < (uint64_t)cell->look.length) {                                                     \
            put_category(cell, t, search((const double *)(const void *)cell->look.data + place * (n), n, READ_COLUMN(TAPE_A))); \
            TAPE_JUMP(cell + 1);                                                                                 \
        }                                                                                                        \
        return long_category_cell(cell, t, end, tape, r0, r1, r2, r3);                                           \
    }
ROW_CELL(row_category2_cell, 2, count_sums)
ROW_CELL(row_category3_cell, 3, count_sums)
ROW_CELL(row_category4_cell, 4, count_sums)
ROW_CELL(row_categories_cell, cell->look.stride, search_sums)

TapeFunction tape_category(void) { return category_cell; }

TapeFunction tape_row_category(int64_t n_categories, bool has_sums)
{
    static const TapeFunction few[] = {row_category2_cell, row_category3_cell, row_category4_cell};

    return !has_sums ? long_category_cell : n_categories >= 2 && n_categories <= 4 ? few[n_categories - 2] : row_categories_cell;
}

/* ---- draws of a location and a scale, and their like ---- */

static void finish_cell(TAPE_ARGUMENTS)
{
    if (!cell->finish(cell->at[TAPE_FIRST] + 8 * t, cell->at[TAPE_TO], cell->at[TAPE_A], cell->at[TAPE_B])) {
        TAPE_STOP(t, TAPE_LEFT);
    }
    TAPE_JUMP(cell + 1);
}

TapeFunction tape_finish(void) { return finish_cell; }
