/* Positions in an array: permutation and choice, as a Generator draws them.
 *
 * What NumPy would refuse, or might for all that is known here, is not drawn but left to the generator's own method, which
 * has the words for it: DRAW_BY_METHOD. Relies on: check_params. Relied on by: draw.c. */
#include "random/steps.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "random/params.h"

/* NumPy's: an integer from low to low + range, both included. The last two are for a method that Generators do not use. */
typedef uint64_t (*DrawBounded)(BitGen *, uint64_t low, uint64_t range, uint64_t mask, bool is_masked);
typedef uint64_t (*DrawInterval)(BitGen *, uint64_t last);

/* One call: `out` has room for n_drawn positions below n. */
typedef struct Positions {
    BitGen *bitgen;
    DrawBounded bounded;
    int64_t n, n_drawn;
    int64_t *out;
    DrawPoll poll;
    Status *status;
} Positions;

/* Work that goes on the stack when it is small: `few`, or owned memory. */
enum { N_FEW = 64 };
typedef struct Work {
    double few[N_FEW];
    double *doubles;
    char *memory;
} Work;

static int work_init(Work *work, int64_t n, Status *status)
{
    size_t n_bytes;

    work->doubles = work->few;
    work->memory = NULL;
    if (n <= N_FEW) {
        return 0;
    }
    if (mem_mul((size_t)n, sizeof(double), &n_bytes) < 0 || (work->memory = mem_alloc(n_bytes)) == NULL) {
        return status_fail(status, STATUS_NO_MEMORY);
    }
    work->doubles = (double *)(void *)work->memory;
    return 0;
}

static int poll_at(const Positions *positions, int64_t i)
{
    return i % POLL_ELEMENTS == POLL_ELEMENTS - 1 ? params_poll(positions->poll, positions->status) : 0;
}

static uint64_t draw_below_or_at(const Positions *positions, int64_t last) { return positions->bounded(positions->bitgen, 0, (uint64_t)last, 0, false); }

/* From the last entry down to number `first`: each changes places with one that is not behind it. */
static int shuffle(const Positions *positions, int64_t *entries, int64_t n, int64_t first)
{
    for (int64_t i = n - 1; i >= first; i--) {
        int64_t j = (int64_t)draw_below_or_at(positions, i), kept = entries[j];

        entries[j] = entries[i];
        entries[i] = kept;
        if (poll_at(positions, i) < 0) {
            return -1;
        }
    }
    return 0;
}

/* As `shuffle` goes, but by NumPy's other function for an integer from 0 to a last one. */
static int permute(const Positions *positions, DrawInterval draw)
{
    int64_t *entries = positions->out;

    for (int64_t i = 0; i < positions->n_drawn; i++) {
        entries[i] = i;
    }
    for (int64_t i = positions->n_drawn - 1; i >= 1; i--) {
        int64_t j = (int64_t)draw(positions->bitgen, (uint64_t)i), kept = entries[j];

        entries[j] = entries[i];
        entries[i] = kept;
        if (poll_at(positions, i) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- all as likely ---- */

static int choose_any(const Positions *positions)
{
    for (int64_t i = 0; i < positions->n_drawn; i++) {
        positions->out[i] = (int64_t)draw_below_or_at(positions, positions->n - 1);
        if (poll_at(positions, i) < 0) {
            return -1;
        }
    }
    return 0;
}

/* The end of all positions, shuffled. */
static int choose_tail(const Positions *positions)
{
    int64_t n = positions->n, first = n - positions->n_drawn > 1 ? n - positions->n_drawn : 1;
    int64_t *entries;
    size_t n_bytes;
    int result;

    if (mem_mul((size_t)n, sizeof *entries, &n_bytes) < 0 || (entries = mem_alloc(n_bytes)) == NULL) {
        return status_fail(positions->status, STATUS_NO_MEMORY);
    }
    for (int64_t i = 0; i < n; i++) {
        entries[i] = i;
    }
    result = shuffle(positions, entries, n, first);
    memcpy(positions->out, entries + (n - positions->n_drawn), (size_t)positions->n_drawn * sizeof *entries);
    mem_free(entries);
    return result;
}

/* Adds a position to a table of `mask` + 1 slots, in which 0 stands for a free one. False: it was there. */
static bool add_to_table(uint64_t *table, uint64_t mask, uint64_t position)
{
    uint64_t slot = position & mask;

    while (table[slot] != 0 && table[slot] != position + 1) {
        slot = (slot + 1) & mask;
    }
    if (table[slot] != 0) {
        return false;
    }
    table[slot] = position + 1;
    return true;
}

/* Floyd's: for each last position in turn one that is not behind it, or, where that was taken, the last itself. */
static int choose_by_table(const Positions *positions)
{
    uint64_t mask = 1, *table;
    int64_t skipped = positions->n - positions->n_drawn;
    int result = 0;

    while (mask < (uint64_t)positions->n_drawn * 2) {
        mask = mask * 2 + 1;
    }
    table = mem_calloc((size_t)mask + 1, sizeof *table);
    if (table == NULL) {
        return status_fail(positions->status, STATUS_NO_MEMORY);
    }
    for (int64_t i = 0; result == 0 && i < positions->n_drawn; i++) {
        uint64_t position = draw_below_or_at(positions, skipped + i);

        if (!add_to_table(table, mask, position)) {
            position = (uint64_t)(skipped + i);
            (void)add_to_table(table, mask, position); /* was not drawn before: it is above all that were */
        }
        positions->out[i] = (int64_t)position;
        result = poll_at(positions, i);
    }
    mem_free(table);
    return result < 0 ? -1 : shuffle(positions, positions->out, positions->n_drawn, 1);
}

/* NumPy's rule for which way is taken. */
static int choose_others(const Positions *positions)
{
    if (positions->n_drawn > positions->n) {
        return DRAW_BY_METHOD;
    }
    return positions->n > 10000 && positions->n_drawn > positions->n / 50 ? choose_tail(positions) : choose_by_table(positions);
}

/* ---- by probabilities ---- */

/* Running sums of p, over the last of them. */
static void sum_up(const double *p, int64_t n, double *sums)
{
    double sum = p[0];

    sums[0] = sum;
    for (int64_t i = 1; i < n; i++) {
        sum += p[i];
        sums[i] = sum;
    }
    for (int64_t i = 0; i < n; i++) {
        sums[i] /= sum;
    }
}

/* The first of the sums that is above u. */
static int64_t find_above(const double *sums, int64_t n, double u)
{
    int64_t low = 0, high = n;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (sums[middle] <= u) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static int choose_weighted(const Positions *positions, double *p)
{
    sum_up(p, positions->n, p);
    for (int64_t i = 0; i < positions->n_drawn; i++) {
        positions->out[i] = find_above(p, positions->n, positions->bitgen->next_double(positions->bitgen->state));
        if (poll_at(positions, i) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Rounds: as many as are missing are drawn; those drawn the first time are kept, in order, and drawn no more from then on. */
static int choose_weighted_others(const Positions *positions, double *p)
{
    int64_t n_found = 0, n_drawn = positions->n_drawn;
    Work work;
    int result = work_init(&work, positions->n, positions->status);

    while (result == 0 && n_found < n_drawn) {
        int64_t n_missing = n_drawn - n_found;

        sum_up(p, positions->n, work.doubles);
        for (int64_t i = 0; i < n_missing; i++) {
            int64_t found = find_above(work.doubles, positions->n, positions->bitgen->next_double(positions->bitgen->state));

            if (p[found] > 0.0) { /* not found in this round: it was possible when that began */
                p[found] = 0.0;
                positions->out[n_found++] = found;
            }
        }
        result = params_poll(positions->poll, positions->status);
    }
    mem_free(work.memory);
    return result;
}

/* Reads the probabilities; *n_possible: how many are above 0. False: NumPy may refuse them. */
static bool read_weights(const Array *weights, double *p, int64_t *n_possible)
{
    bool is_single = weights->dtype == DTYPE_FLOAT32;
    double sum = 0.0, tolerance = sqrt(is_single ? 0x1p-23 : 0x1p-52);

    *n_possible = 0;
    for (int64_t i = 0; i < weights->shape[0]; i++) {
        const void *at = weights->data + i * weights->strides[0];

        p[i] = is_single ? (double)*(const float *)at : *(const double *)at;
        if (!(p[i] >= 0.0)) {
            return false;
        }
        sum += p[i];
        *n_possible += p[i] > 0.0;
    }
    return fabs(sum - 1.0) <= tolerance / 2; /* NumPy adds up more exactly: near the limit it decides */
}

static int choose_by_weights(const Positions *positions, const Array *weights, bool is_replaced)
{
    int64_t n_possible;
    Work work;
    int result;

    if (weights->shape[0] != positions->n) {
        return DRAW_BY_METHOD;
    }
    if (work_init(&work, positions->n, positions->status) < 0) {
        return -1;
    }
    if (!read_weights(weights, work.doubles, &n_possible) || (!is_replaced && n_possible < positions->n_drawn)) {
        result = DRAW_BY_METHOD;
    } else {
        result = is_replaced ? choose_weighted(positions, work.doubles) : choose_weighted_others(positions, work.doubles);
    }
    mem_free(work.memory);
    return result;
}

/* Parameters: the number of positions, their probabilities (of rank 0: none), whether they are replaced. */
static int choose(const Positions *positions, const Array *params)
{
    bool is_replaced = *(const uint8_t *)params[2].data != 0;

    if (positions->n <= 0) {
        return DRAW_BY_METHOD;
    }
    if (params[1].ndim > 0) {
        return choose_by_weights(positions, &params[1], is_replaced);
    }
    return is_replaced ? choose_any(positions) : choose_others(positions);
}

int draw_positions(const Dists *dists, int dist, Stream *stream, const Array *dst, const Array *params, DrawPoll poll, Status *status)
{
    Positions positions = {.bitgen = stream->bitgen, .n_drawn = array_size(dst), .poll = poll, .status = status};

    positions.out = (int64_t *)(void *)dst->data;
    memcpy(&positions.n, params[0].data, sizeof positions.n);
    if (dist_ndim_supp(dist) > 0) {
        return permute(&positions, (DrawInterval)dists->functions[dist][0]);
    }
    positions.bounded = (DrawBounded)dists->functions[dist][0];
    return choose(&positions, params);
}
