/* Functions that a library computes, by the loops that the host has found; and the triangles of matrices that they read.
 *
 * Relies on: frame.h, ops (library.def). Relied on by: vm.c, and bind, which tries a loop before it is used. */
#include <fenv.h>
#include <stddef.h>
#include <string.h>

#include "vm/frame.h"
#include "vm/odometer.h"

enum { MAX_LENGTHS = 8, PIECE = 512 };

/* ---- operands of matrix functions ---- */

/* Lengths by letter, in the order in which the letters come. */
typedef struct Lengths {
    int n;
    char letters[MAX_LENGTHS];
    int64_t lengths[MAX_LENGTHS];
} Lengths;

static int64_t *find_length(Lengths *lengths, char letter)
{
    for (int i = 0; i < lengths->n; i++) {
        if (lengths->letters[i] == letter) {
            return &lengths->lengths[i];
        }
    }
    return NULL;
}

static int64_t *add_length(Lengths *lengths, char letter, int64_t length)
{
    lengths->letters[lengths->n] = letter;
    lengths->lengths[lengths->n] = length;
    return &lengths->lengths[lengths->n++];
}

/* The lengths of an input; a length that was met before must be the same. */
static int read_lengths(Lengths *lengths, const char *axes, const Array *array, const Array *first, Run *run)
{
    for (int i = 0; i < array->ndim; i++) {
        int64_t *length = find_length(lengths, axes[i]);

        if (length == NULL) {
            length = add_length(lengths, axes[i], array->shape[i]);
        }
        if (*length != array->shape[i]) {
            return array == first ? status_fail_shapes(run->status, STATUS_NOT_SQUARE, array->ndim, array->shape, 0, NULL)
                                  : status_fail_shapes(run->status, STATUS_SYSTEM_SHAPES, first->ndim, first->shape, array->ndim, array->shape);
        }
    }
    return 0;
}

static void find_shape(Lengths *lengths, const char *axes, int ndim, int64_t *shape)
{
    for (int i = 0; i < ndim; i++) {
        int64_t *length = find_length(lengths, axes[i]);

        if (length == NULL) { /* p, the only one that no input has */
            int64_t m = *find_length(lengths, 'm'), n = *find_length(lengths, 'n');
            length = add_length(lengths, axes[i], m < n ? m : n);
        }
        shape[i] = *length;
    }
}

void library_call(const NumpyLoop *loop, int library, const Array *operands, int n_operands)
{
    intptr_t dimensions[1 + MAX_LENGTHS] = {1}, steps[3 * LIBRARY_MAX_OPERANDS] = {0};
    char *args[LIBRARY_MAX_OPERANDS];
    Lengths lengths = {.n = 0};
    int n_steps = n_operands;

    for (int k = 0; k < n_operands; k++) {
        const char *axes = library_axes(library, k);

        args[k] = operands[k].data;
        if (library_is_elementwise(library)) {
            dimensions[0] = (intptr_t)operands[0].shape[0];
            steps[k] = (intptr_t)operands[k].strides[0];
            continue;
        }
        for (int i = 0; i < operands[k].ndim; i++) {
            if (find_length(&lengths, axes[i]) == NULL) {
                (void)add_length(&lengths, axes[i], operands[k].shape[i]);
                dimensions[lengths.n] = (intptr_t)operands[k].shape[i];
            }
            steps[n_steps++] = (intptr_t)operands[k].strides[i];
        }
    }
    loop->loop(args, dimensions, steps, loop->data);
}

/* ---- matrices ---- */

/* The operands of a function of matrices: inputs, then outputs. Those of a stack have as many leading axes. */
typedef struct Matrices {
    int n, n_leading;
    Array wholes[LIBRARY_MAX_OPERANDS], cores[LIBRARY_MAX_OPERANDS]; /* a core has the other axes */
} Matrices;

static Array core_of(const Array *whole, int n_leading)
{
    Array core = *whole;

    core.ndim = whole->ndim - n_leading;
    for (int i = 0; i < core.ndim; i++) {
        core.shape[i] = whole->shape[n_leading + i];
        core.strides[i] = whole->strides[n_leading + i];
    }
    return core;
}

static int find_matrices(Frame *frame, const Step *step, Matrices *found, Run *run)
{
    const Instr *instr = step->instr;
    Lengths lengths = {.n = 0};
    Array view;

    found->n = instr->n_src + instr->n_dst;
    for (int k = 0; k < found->n; k++) {
        const char *axes = library_axes(instr->fn, k);

        if (k < instr->n_src) {
            found->wholes[k] = *frame_operand(frame, step->src[k], &view);
            found->n_leading = k == 0 ? found->wholes[0].ndim - library_ndim(instr->fn, 0) : found->n_leading;
            found->cores[k] = core_of(&found->wholes[k], found->n_leading);
            if (read_lengths(&lengths, axes, &found->cores[k], &found->cores[0], run) < 0) {
                return -1;
            }
        } else {
            int64_t shape[ARRAY_MAX_NDIM];
            const Array *dst;
            memcpy(shape, found->wholes[0].shape, (size_t)found->n_leading * sizeof(shape[0]));
            find_shape(&lengths, axes, library_ndim(instr->fn, k), shape + found->n_leading);
            dst = frame_result(frame, step->dst[k - instr->n_src], shape, &view, run);
            if (dst == NULL) {
                return -1;
            }
            found->wholes[k] = *dst;
            found->cores[k] = core_of(dst, found->n_leading);
        }
    }
    return 0;
}

/* One matrix, at the odometer's place of the stack. */
static int apply_to_matrix(const Matrices *matrices, const Odometer *odometer, int library, bool allows_failure, const NumpyLoop *loop, Run *run)
{
    Array operands[LIBRARY_MAX_OPERANDS];
    int n = matrices->n;

    for (int k = 0; k < n; k++) {
        operands[k] = matrices->cores[k];
        operands[k].data = odometer_at(odometer, &matrices->wholes[k], matrices->n_leading);
    }
    if (library_rewrites(library)) { /* the loop works on the copy that is the last result */
        if (sweep_copy(&operands[n - 1], &operands[0], run) < 0) {
            return -1;
        }
        operands[0] = operands[--n];
    }
    (void)feclearexcept(FE_INVALID); /* it can't fail for a flag that there is */
    library_call(loop, library, operands, n);
    if (!allows_failure && library_failure(library)[0] != '\0' && fetestexcept(FE_INVALID) != 0) {
        return status_fail_text(run->status, STATUS_LINALG, library_failure(library));
    }
    return 0;
}

static int apply_to_matrices(Frame *frame, const Step *step, const NumpyLoop *loop, Run *run)
{
    const Instr *instr = step->instr;
    bool allows_failure = instr_aux(frame->program, instr)[0] != 0;
    Odometer odometer = {.ndim = 0};
    Matrices matrices;
    int64_t cost = 100;
    bool is_more = true;
    int moved;

    if (find_matrices(frame, step, &matrices, run) < 0) {
        return -1;
    }
    odometer.ndim = matrices.n_leading;
    odometer.shape = matrices.wholes[0].shape;
    for (int k = 0; k < instr->n_src; k++) {
        cost += array_size(&matrices.cores[k]) * 4;
    }
    for (int i = 0; i < matrices.n_leading; i++) {
        is_more = is_more && matrices.wholes[0].shape[i] > 0;
    }
    for (; is_more; is_more = odometer_next(&odometer, &moved)) {
        if (run_spend(run, cost * (1 + matrices.cores[0].shape[0] / 4)) < 0 || apply_to_matrix(&matrices, &odometer, instr->fn, allows_failure, loop, run) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- elements ---- */

/* The elements from `begin` on along the last axis; an array without axes has one. */
static Array piece_of(const Odometer *odometer, const Array *whole, int64_t begin, int64_t n)
{
    int own = whole->ndim - 1;
    Array piece = {.dtype = whole->dtype, .ndim = 1, .shape = {n}};

    piece.strides[0] = own < 0 || whole->shape[own] == 1 ? 0 : whole->strides[own];
    piece.data = odometer_at(odometer, whole, own) + begin * piece.strides[0];
    return piece;
}

static int apply_to_elements(Frame *frame, const Step *step, const NumpyLoop *loop, Run *run)
{
    int n_in = step->instr->n_src, ndim = frame->program->values[step->dst[0]].ndim, moved;
    int64_t shape[ARRAY_MAX_NDIM], length;
    Array views[LIBRARY_MAX_OPERANDS], pieces[LIBRARY_MAX_OPERANDS], *dst;
    const Array *wholes[LIBRARY_MAX_OPERANDS];
    Odometer odometer = {.ndim = ndim == 0 ? 0 : ndim - 1, .shape = shape};

    if (sweep_broadcast(frame, step, ndim, shape, run) < 0 || (dst = frame_result(frame, step->dst[0], shape, &views[n_in], run)) == NULL) {
        return -1;
    }
    for (int k = 0; k < n_in; k++) {
        wholes[k] = frame_operand(frame, step->src[k], &views[k]);
    }
    wholes[n_in] = dst;
    length = ndim == 0 ? 1 : shape[ndim - 1];
    if (array_size(dst) == 0) {
        return 0;
    }
    do {
        for (int64_t begin = 0; begin < length; begin += PIECE) {
            int64_t n = length - begin < PIECE ? length - begin : PIECE;

            for (int k = 0; k <= n_in; k++) {
                pieces[k] = piece_of(&odometer, wholes[k], begin, n);
            }
            library_call(loop, step->instr->fn, pieces, n_in + 1);
            if (run_spend(run, 100 * n) < 0) {
                return -1;
            }
        }
    } while (odometer_next(&odometer, &moved));
    return 0;
}

int run_apply(Frame *frame, const Step *step, Run *run)
{
    const Instr *instr = step->instr;
    int type = library_type((DType)instr->dtype);
    const NumpyLoop *loop = run->host->library == NULL || type < 0 ? NULL : &run->host->library[instr->fn][type];

    if (loop == NULL || loop->loop == NULL) {
        return status_fail_text(run->status, STATUS_BAD_PROGRAM, "the program needs a library's function that the host has not found");
    }
    return library_is_elementwise(instr->fn) ? apply_to_elements(frame, step, loop, run) : apply_to_matrices(frame, step, loop, run);
}

/* ---- triangles ---- */

int run_triangle(Frame *frame, const Step *step, Run *run)
{
    const Array *source = frame->arrays[step->src[0]];
    int32_t how = step->instr->fn;
    int64_t item = dtype_bytes(source->dtype);
    MapKernel conjugate = (how & TRIANGLE_CONJUGATED) != 0 ? math_kernel(SCALAR_CONJ, source->dtype) : NULL, one = math_cast(DTYPE_BOOL, source->dtype);
    const int64_t no_strides[2] = {0, 0};
    const bool is_true = true;
    Array *dst = frame->arrays[step->dst[0]];

    if (source->shape[0] != source->shape[1] && (how & TRIANGLE_MIRRORED) != 0) {
        return status_fail_shapes(run->status, STATUS_NOT_SQUARE, 2, source->shape, 0, NULL);
    }
    if (frame_shape_array(frame, step->dst[0], source->shape, run->status) < 0) {
        return -1;
    }
    for (int64_t i = 0; i < source->shape[0]; i++) {
        for (int64_t j = 0; j < source->shape[1]; j++) {
            bool is_kept = (how & TRIANGLE_LOWER) != 0 ? j <= i : j >= i;
            char *to = dst->data + (i * source->shape[1] + j) * item, *from = source->data + i * source->strides[0] + j * source->strides[1];
            char *mirrored[2] = {source->data + j * source->strides[0] + i * source->strides[1], to}, *unit[2] = {(char *)&is_true, to};

            if (i == j && (how & TRIANGLE_UNIT) != 0) {
                one(1, unit, no_strides);
            } else if (is_kept || (how & TRIANGLE_MIRRORED) != 0) {
                memcpy(to, is_kept ? from : mirrored[0], (size_t)item);
                if (!is_kept && conjugate != NULL) {
                    conjugate(1, mirrored, no_strides);
                }
            } else {
                memset(to, 0, (size_t)item);
            }
        }
        if (run_spend(run, 4 * source->shape[1]) < 0) {
            return -1;
        }
    }
    return 0;
}
