/* Walking arrays that broadcast to one shape.
 *
 * Relies on: base. Relied on by: draw.c. */
#include "random/walk.h"

#include <string.h>

/* Whether the last axis so far and a new one inside it are walked as one by every operand. */
static bool can_join(const Walk *walk, int64_t length, const int64_t *strides)
{
    int last = walk->n_axes - 1;

    if (last < 0) {
        return false;
    }
    for (int i = 0; i < walk->n_operands; i++) {
        if (walk->strides[last][i] != strides[i] * length) {
            return false;
        }
    }
    return true;
}

static void add_axis(Walk *walk, int64_t length, const int64_t *strides)
{
    if (can_join(walk, length, strides)) {
        walk->shape[walk->n_axes - 1] *= length;
    } else {
        walk->shape[walk->n_axes] = length;
        walk->index[walk->n_axes++] = 0;
    }
    memcpy(walk->strides[walk->n_axes - 1], strides, sizeof walk->strides[0]);
}

void walk_init(Walk *walk, int ndim, const int64_t *shape, int n_operands, const Array *operands, const int *skip)
{
    walk->n_axes = 0;
    walk->n_operands = n_operands;
    walk->left = 1;
    for (int i = 0; i < DRAW_MAX_PARAMS; i++) {
        walk->at[i] = operands[i < n_operands ? i : 0].data; /* those beyond stand still */
    }
    for (int axis = 0; axis < ndim; axis++) {
        int64_t strides[DRAW_MAX_PARAMS] = {0};

        walk->left *= shape[axis];
        if (shape[axis] == 1) {
            continue;
        }
        for (int i = 0; i < n_operands; i++) {
            int own = axis - (ndim - (operands[i].ndim - skip[i]));

            strides[i] = own < 0 || operands[i].shape[own] == 1 ? 0 : operands[i].strides[own];
        }
        add_axis(walk, shape[axis], strides);
    }
    if (walk->n_axes == 0) {
        const int64_t strides[DRAW_MAX_PARAMS] = {0};

        add_axis(walk, 1, strides);
    }
}

int64_t walk_piece(const Walk *walk, int64_t limit)
{
    int inner = walk->n_axes - 1;
    int64_t n = walk->left == 0 ? 0 : walk->shape[inner] - walk->index[inner];

    return n < limit ? n : limit;
}

const int64_t *walk_strides(const Walk *walk) { return walk->strides[walk->n_axes - 1]; }

/* Moves along an axis by n, which may be negative. */
static void move(Walk *walk, int axis, int64_t n)
{
    walk->index[axis] += n;
    for (int i = 0; i < walk->n_operands; i++) {
        walk->at[i] += n * walk->strides[axis][i];
    }
}

void walk_advance(Walk *walk, int64_t n)
{
    int axis = walk->n_axes - 1;

    walk->left -= n;
    if (walk->left == 0) {
        return; /* the addresses stay within the operands */
    }
    move(walk, axis, n);
    while (walk->index[axis] == walk->shape[axis]) {
        move(walk, axis, -walk->shape[axis]);
        move(walk, --axis, 1);
    }
}
