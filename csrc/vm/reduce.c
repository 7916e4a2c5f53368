/* Reductions and running folds, in the documented order.
 *
 * The elements of a result are folded in C order of the reduced axes, in blocks of MATH_FOLD_BLOCK. The results of
 * blocks are combined as a binary counter counts: two of equal weight become one as soon as both exist, and what is left at
 * the end is combined from the lightest up. The order depends on the number of elements alone, not on their layout.
 * Relies on: math. Relied on by: vm.c. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "vm/frame.h"

/* A set of axes of the source, walked in C order. */
typedef struct Walk {
    int ndim;
    int64_t size;
    int64_t shape[ARRAY_MAX_NDIM], strides[ARRAY_MAX_NDIM], index[ARRAY_MAX_NDIM];
} Walk;

/* Adds the next inner axis, joined with the one before when they are walked as one. */
static void walk_add(Walk *walk, int64_t length, int64_t stride)
{
    int last = walk->ndim - 1;

    walk->size *= length;
    if (length == 1) {
        return;
    }
    if (last >= 0 && walk->strides[last] == stride * length) {
        walk->shape[last] *= length;
        walk->strides[last] = stride;
        return;
    }
    walk->shape[walk->ndim] = length;
    walk->strides[walk->ndim] = stride;
    walk->index[walk->ndim++] = 0;
}

/* The next position of all but the last `n_inner` axes, which the caller walks itself; false at the end, back at the start. */
static bool walk_next(Walk *walk, int n_inner, const char **data)
{
    int axis = walk->ndim - 1 - n_inner;

    while (axis >= 0 && ++walk->index[axis] == walk->shape[axis]) {
        *data -= (walk->shape[axis] - 1) * walk->strides[axis];
        walk->index[axis--] = 0;
    }
    if (axis < 0) {
        return false;
    }
    *data += walk->strides[axis];
    return true;
}

/* One reduction: the reduced axes, and how blocks are made and combined. */
typedef struct Reduction {
    Walk walk;
    DType source, compute;
    bool is_free; /* the order has no say: blocks may be of any length */
    FoldKernel fold, direct_fold;          /* direct: of the source's own elements; NULL when they are loaded first */
    ColumnsKernel columns, direct_columns; /* columns NULL: fold each result by itself */
    MapKernel combine, load;               /* load: source elements as computing ones */
    LargestKernel largest;                 /* ARGMAX */
} Reduction;

/* The elements of a block whose fold is free, so that an interrupt is seen soon. */
enum { FREE_BLOCK = 16384 };

enum { MAX_LEVELS = 64 };
typedef struct Levels {
    uint64_t n_blocks;
    Register level[MAX_LEVELS]; /* level i: of 2^i blocks; there if bit i of n_blocks is set */
} Levels;

static void combine_into(const Reduction *reduction, char *earlier, char *later)
{
    char *args[3] = {earlier, later, later};
    const int64_t strides[3] = {0, 0, 0};

    reduction->combine(1, args, strides);
}

static void levels_add(Levels *levels, const Reduction *reduction, Register block)
{
    int i = 0;

    for (; (levels->n_blocks >> i & 1) != 0; i++) {
        combine_into(reduction, levels->level[i].bytes, block.bytes);
    }
    levels->level[i] = block;
    levels->n_blocks++;
}

static void levels_finish(Levels *levels, const Reduction *reduction, Register *result)
{
    bool is_first = true;

    for (int i = 0; i < MAX_LEVELS && levels->n_blocks >> i != 0; i++) {
        if ((levels->n_blocks >> i & 1) == 0) {
            continue;
        }
        if (is_first) {
            *result = levels->level[i];
            is_first = false;
        } else {
            combine_into(reduction, levels->level[i].bytes, result->bytes);
        }
    }
}

/* Loads the next n elements of the walk into tile. `row` is how far the walk is in its last axis. */
static void load_tile(Reduction *reduction, const char **data, int64_t *row, int64_t n, char *tile)
{
    Walk *walk = &reduction->walk;
    int last = walk->ndim - 1;
    int64_t item = dtype_bytes(reduction->compute);

    while (n > 0) {
        int64_t left = last < 0 ? 1 : walk->shape[last] - *row, n_now = n < left ? n : left;
        const int64_t strides[2] = {last < 0 ? 0 : walk->strides[last], item};
        char *args[2] = {(char *)*data + *row * strides[0], tile};

        reduction->load(n_now, args, strides);
        tile += n_now * item;
        n -= n_now;
        *row += n_now;
        if (n_now == left) {
            *row = 0;
            (void)walk_next(walk, 1, data); /* at the end it is back at the start, for the next result */
        }
    }
}

/* Folds all elements of one result, at least one. */
static int fold_elements(Reduction *reduction, const char *data, Register *result, Run *run)
{
    Walk *walk = &reduction->walk;
    int64_t left = walk->size, row = 0, item = dtype_bytes(reduction->source);
    bool is_adjacent = reduction->direct_fold != NULL && walk->ndim <= 1 && (walk->ndim == 0 || walk->strides[0] == item);
    const int64_t most = is_adjacent && reduction->is_free ? FREE_BLOCK : MATH_FOLD_BLOCK;
    _Alignas(16) char tile[MATH_FOLD_BLOCK * DTYPE_MAX_BYTES];
    Register block;
    Levels levels;

    levels.n_blocks = 0;
    while (left > 0) {
        int64_t n = left < most ? left : most;

        if (is_adjacent) {
            reduction->direct_fold(n, data, block.bytes);
            data += n * item;
        } else {
            load_tile(reduction, &data, &row, n, tile);
            reduction->fold(n, tile, block.bytes);
        }
        left -= n;
        if (left == 0 && levels.n_blocks == 0) {
            *result = block;
            return run_spend(run, n);
        }
        levels_add(&levels, reduction, block);
        if (run_spend(run, n) < 0) {
            return -1;
        }
    }
    levels_finish(&levels, reduction, result);
    return 0;
}

/* The blocks of columns side by side; level i as in Levels, of all columns. */
typedef struct ColumnLevels {
    uint64_t n_blocks;
    _Alignas(16) char level[MAX_LEVELS][MATH_COLUMNS_BYTES];
} ColumnLevels;

static void combine_columns(const Reduction *reduction, int64_t width, char *earlier, char *later, char *both)
{
    int64_t item = dtype_bytes(reduction->compute);
    char *args[3] = {earlier, later, both};
    const int64_t strides[3] = {item, item, item};

    reduction->combine(width, args, strides);
}

/* Neighbouring results, whose rows lie along the one reduced axis. */
typedef struct Columns {
    const char *data;
    int64_t width, step, stride; /* step: from column to column; stride: from row to row */
} Columns;

/* So many bytes of results have room for their loaded block. */
enum { LOADED_BYTES = 256 };

/* Folds n rows from number `first` on. */
static void fold_block(const Reduction *reduction, const Columns *columns, int64_t first, int64_t n, char *result)
{
    int64_t item = dtype_bytes(reduction->compute);
    const int64_t strides[2] = {columns->step, item};
    _Alignas(16) char tile[MATH_FOLD_BLOCK * LOADED_BYTES];

    if (reduction->direct_columns != NULL && columns->step == dtype_bytes(reduction->source)) {
        reduction->direct_columns(n, columns->width, columns->data + first * columns->stride, columns->stride, result);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        char *args[2] = {(char *)columns->data + (first + i) * columns->stride, tile + i * columns->width * item};
        reduction->load(columns->width, args, strides);
    }
    reduction->columns(n, columns->width, tile, columns->width * item, result);
}

/* Folds neighbouring results together, row by row, each in the order of fold_elements. */
static int fold_columns(const Reduction *reduction, const Columns *columns, char *result, Run *run)
{
    int64_t size = reduction->walk.size, width = columns->width;
    ColumnLevels levels;
    size_t n_bytes = (size_t)(width * dtype_bytes(reduction->compute));
    bool is_first = true;

    levels.n_blocks = 0;
    for (int64_t done = 0; done < size; done += MATH_FOLD_BLOCK) {
        int64_t n = size - done < MATH_FOLD_BLOCK ? size - done : MATH_FOLD_BLOCK;
        int i = 0;

        fold_block(reduction, columns, done, n, result);
        for (; (levels.n_blocks >> i & 1) != 0; i++) {
            combine_columns(reduction, width, levels.level[i], result, result);
        }
        memcpy(levels.level[i], result, n_bytes);
        levels.n_blocks++;
        if (run_spend(run, n * width) < 0) {
            return -1;
        }
    }
    for (int i = 0; i < MAX_LEVELS && levels.n_blocks >> i != 0; i++) {
        if ((levels.n_blocks >> i & 1) != 0 && is_first) {
            memcpy(result, levels.level[i], n_bytes);
            is_first = false;
        } else if ((levels.n_blocks >> i & 1) != 0) {
            combine_columns(reduction, width, levels.level[i], result, result);
        }
    }
    return 0;
}

/* The same where the order has no say. */
static int fold_free_columns(const Reduction *reduction, const Columns *columns, int64_t block, char *result, Run *run)
{
    int64_t size = reduction->walk.size, n = size < block ? size : block;
    _Alignas(16) char more[MATH_FREE_BYTES];

    fold_block(reduction, columns, 0, n, result);
    for (int64_t done = n; done < size; done += n) {
        if (run_spend(run, n * columns->width) < 0) {
            return -1;
        }
        n = size - done < block ? size - done : block;
        fold_block(reduction, columns, done, n, more);
        combine_columns(reduction, columns->width, result, more, result);
    }
    return run_spend(run, n * columns->width);
}

/* Whether results are nearer to each other than their elements are: then it pays to fold them together. */
static bool has_columns(const Reduction *reduction, const Walk *kept)
{
    int last = kept->ndim - 1;

    return reduction->columns != NULL && reduction->walk.ndim == 1 && last >= 0 && kept->shape[last] > 1 && kept->strides[last] != 0
           && reduction->walk.strides[0] != dtype_bytes(reduction->source)
           && llabs(kept->strides[last]) < llabs(reduction->walk.strides[0]);
}

static int reduce_columns(const Reduction *reduction, Walk *kept, const char *data, const Array *dst, Run *run)
{
    int64_t item = dtype_bytes(reduction->compute), dst_item = dtype_bytes(dst->dtype);
    int64_t length = kept->shape[kept->ndim - 1], step = kept->strides[kept->ndim - 1];
    bool is_direct = reduction->direct_columns != NULL && step == dtype_bytes(reduction->source);
    int64_t most = (!is_direct ? LOADED_BYTES : reduction->is_free ? MATH_FREE_BYTES : MATH_COLUMNS_BYTES) / item;
    const int64_t strides[2] = {item, dst_item};
    MapKernel store = math_cast(reduction->compute, dst->dtype);
    _Alignas(16) char folded[MATH_FREE_BYTES];
    char *args[2] = {folded, dst->data};

    do {
        for (int64_t i = 0; i < length; i += most) {
            const Columns columns = {.data = data + i * step, .width = length - i < most ? length - i : most, .step = step,
                                     .stride = reduction->walk.strides[0]};
            const int64_t block = is_direct ? FREE_BLOCK / columns.width + 1 : MATH_FOLD_BLOCK;

            if ((reduction->is_free ? fold_free_columns(reduction, &columns, block, folded, run)
                                    : fold_columns(reduction, &columns, folded, run)) < 0) {
                return -1;
            }
            store(columns.width, args, strides);
            args[1] += columns.width * dst_item;
        }
    } while (walk_next(kept, 1, &data));
    return 0;
}

/* The number of the largest element, counted in the order of the walk. */
static int find_largest(Reduction *reduction, const char *data, Register *result, Run *run)
{
    enum { PIECE = 16384 };
    Walk *walk = &reduction->walk;
    int last = walk->ndim - 1;
    int64_t row_length = last < 0 ? 1 : walk->shape[last], stride = last < 0 ? 0 : walk->strides[last], first = 0, index = -1;
    Register best;

    do {
        for (int64_t row = 0; row < row_length; row += PIECE) {
            int64_t n = row_length - row < PIECE ? row_length - row : PIECE;
            reduction->largest(n, data + row * stride, stride, first + row, best.bytes, &index);
            if (run_spend(run, n) < 0) {
                return -1;
            }
        }
        first += row_length;
    } while (walk_next(walk, 1, &data));
    result->l = index;
    return 0;
}

/* What a reduction of no elements gives: 0 for sums and or, 1 for products and and (all bits set). */
static void set_identity(const Instr *instr, Register *result)
{
    const uint8_t one = 1;
    char *args[2] = {(char *)&one, result->bytes};
    const int64_t strides[2] = {0, 0};

    memset(result, 0, sizeof *result);
    if (instr->fn == REDUCE_MUL || (instr->fn == REDUCE_AND && instr->dtype == DTYPE_BOOL)) {
        math_cast(DTYPE_BOOL, instr->dtype)(1, args, strides);
    } else if (instr->fn == REDUCE_AND) {
        memset(result, 0xFF, sizeof *result);
    }
}

static int refuse_empty(const Instr *instr, const Array *source, const int64_t *axes, Run *run)
{
    int64_t axis = 0;

    for (int i = instr->n_aux - 1; i >= 0; i--) {
        axis = source->shape[axes[i]] == 0 ? axes[i] : axis;
    }
    status_fail_text(run->status, STATUS_EMPTY_REDUCTION, instr->fn == REDUCE_MIN ? "minimum" : "maximum");
    run->status->a = axis;
    return -1;
}

FoldKernel reduce_fold(const Instr *instr) { return math_fold(reduce_scalar(instr->fn), instr->dtype); }

static int start_reduction(Reduction *reduction, const Instr *instr, DType source, Run *run)
{
    int scalar = reduce_scalar(instr->fn);

    reduction->walk.ndim = 0;
    reduction->walk.size = 1;
    reduction->source = source;
    reduction->compute = instr->fn == REDUCE_ARGMAX ? DTYPE_INT64 : (DType)instr->dtype;
    reduction->fold = reduce_fold(instr);
    reduction->columns = instr->fn == REDUCE_ARGMAX ? NULL : math_fold_columns(scalar, instr->dtype);
    reduction->direct_fold = math_fold_wide(scalar, source, instr->dtype);
    reduction->direct_columns = math_fold_wide_columns(scalar, source, instr->dtype);
    if (source == (DType)instr->dtype) {
        reduction->direct_fold = reduction->fold;
        reduction->direct_columns = reduction->columns;
    }
    reduction->is_free = math_fold_is_free(scalar, instr->dtype);
    reduction->combine = math_kernel(scalar, instr->dtype);
    reduction->load = math_cast(source, instr->dtype);
    reduction->largest = math_largest(source);
    if (instr->fn == REDUCE_ARGMAX ? reduction->largest == NULL : reduction->fold == NULL || reduction->combine == NULL) {
        return status_fail_text(run->status, STATUS_BAD_PROGRAM, "no kernel for a reduction and its type");
    }
    return 0;
}

/* Splits the source's axes into those of the result, in *kept with *shape, and those that are folded. */
static int split_axes(Reduction *reduction, const Instr *instr, const Array *source, const int64_t *axes, Walk *kept, int64_t *shape)
{
    int n_kept = 0;

    kept->ndim = 0;
    kept->size = 1;
    for (int i = 0, next = 0; i < source->ndim; i++) {
        if (next < instr->n_aux && axes[next] == i) {
            walk_add(&reduction->walk, source->shape[i], source->strides[i]);
            next++;
        } else {
            shape[n_kept++] = source->shape[i];
            walk_add(kept, source->shape[i], source->strides[i]);
        }
    }
    return n_kept;
}

static int reduce_one(Reduction *reduction, const Instr *instr, const char *data, Register *result, Run *run)
{
    if (reduction->walk.size == 0) {
        set_identity(instr, result);
        return 0;
    }
    return instr->fn == REDUCE_ARGMAX ? find_largest(reduction, data, result, run) : fold_elements(reduction, data, result, run);
}

int run_reduce(Frame *frame, const Step *step, Run *run)
{
    const Instr *instr = step->instr;
    const int64_t *axes = instr_aux(frame->program, instr);
    const int64_t no_strides[2] = {0, 0};
    Array source_view, view, *dst;
    const Array *source = frame_operand(frame, step->src[0], &source_view);
    const char *data = source->data;
    int64_t shape[ARRAY_MAX_NDIM];
    Reduction reduction;
    Walk kept;
    Register result;
    MapKernel store;
    char *args[2];

    if (start_reduction(&reduction, instr, source->dtype, run) < 0) {
        return -1;
    }
    (void)split_axes(&reduction, instr, source, axes, &kept, shape); /* their number is the result's rank */
    dst = frame_result(frame, step->dst[0], shape, &view, run);
    if (dst == NULL) {
        return -1;
    }
    if (kept.size == 0) {
        return 0;
    }
    if (reduction.walk.size == 0 && (instr->fn == REDUCE_MAX || instr->fn == REDUCE_MIN || instr->fn == REDUCE_ARGMAX)) {
        return refuse_empty(instr, source, axes, run);
    }
    if (reduction.walk.size > 0 && has_columns(&reduction, &kept)) {
        return reduce_columns(&reduction, &kept, data, dst, run);
    }
    store = math_cast(reduction.compute, dst->dtype);
    args[0] = result.bytes;
    args[1] = dst->data;
    do {
        if (reduce_one(&reduction, instr, data, &result, run) < 0) {
            return -1;
        }
        store(1, args, no_strides);
        args[1] += dtype_bytes(dst->dtype);
    } while (walk_next(&kept, 0, &data));
    return 0;
}

/* Folds along one line of dst, in pieces that begin with the last element of the piece before. */
static int run_line(RunningKernel running, char *data, int64_t n, int64_t stride, Run *run)
{
    enum { PIECE = 16384 };

    for (int64_t i = 0; i < n - 1; i += PIECE) {
        int64_t n_now = n - i < PIECE + 1 ? n - i : PIECE + 1;
        running(n_now, data + i * stride, stride);
        if (run_spend(run, n_now) < 0) {
            return -1;
        }
    }
    return 0;
}

int run_cumulate(Frame *frame, const Step *step, Run *run)
{
    const Instr *instr = step->instr;
    int64_t axis = instr_aux(frame->program, instr)[0];
    Array source_view, filled, *dst;
    const Array *source = frame_operand(frame, step->src[0], &source_view);
    int64_t size = array_size(source);
    Walk lines = {.ndim = 0, .size = 1};
    const char *data;
    RunningKernel running;

    if (frame_shape_array(frame, step->dst[0], axis < 0 ? &size : source->shape, run->status) < 0) {
        return -1;
    }
    dst = frame->arrays[step->dst[0]];
    running = math_running(reduce_scalar(instr->fn), dst->dtype);
    if (running == NULL) {
        return status_fail_text(run->status, STATUS_BAD_PROGRAM, "no kernel for a running fold and its type");
    }
    filled = *source; /* dst in the source's shape */
    filled.data = dst->data;
    filled.dtype = dst->dtype;
    array_set_contiguous_strides(&filled);
    if (sweep_copy(&filled, source, run) < 0 || size == 0) {
        return size == 0 ? 0 : -1;
    }
    axis = axis < 0 ? 0 : axis;
    for (int i = 0; i < dst->ndim; i++) {
        if (i != axis) {
            walk_add(&lines, dst->shape[i], dst->strides[i]);
        }
    }
    data = dst->data;
    do {
        if (run_line(running, (char *)data, dst->shape[axis], dst->strides[axis], run) < 0) {
            return -1;
        }
    } while (walk_next(&lines, 0, &data));
    return 0;
}
