/* The checker's rules for each instruction: classes, types, ranks and aux entries against the row of opcodes.def.
 *
 * What only the values of a call can tell (lengths, indices) is the vm's to check.
 * Relies on: base, ops, random (the table of distributions), program.h. Relied on by: check.c. */
#include "ops/ops.h"
#include "program/check.h"
#include "random/stream.h"

static const Value *dst_value(const Check *check, int32_t i)
{
    return &check->program->values[instr_dst(check->program, check->instr)[i]];
}

static const Value *src_value(const Check *check, int32_t i)
{
    return &check->program->values[instr_src(check->program, check->instr)[i]];
}

static int64_t aux_entry(const Check *check, int32_t i) { return instr_aux(check->program, check->instr)[i]; }

static bool is_numeric(const Value *value) { return value->value_class == VALUE_SCALAR || value->value_class == VALUE_ARRAY; }

static bool is_of(const Value *value, DType dtype, int ndim)
{
    return is_numeric(value) && value->dtype == dtype && value->ndim == ndim;
}

static bool is_length(const Value *value) { return is_of(value, DTYPE_INT64, 0); }

static bool same_dtype(const Value *a, const Value *b) { return a->dtype == b->dtype; }

static bool same_type(const Value *a, const Value *b)
{
    return a->value_class == b->value_class && a->ndim == b->ndim && (!is_numeric(a) || same_dtype(a, b));
}

/* The sources from `first` on are lengths or indices. */
static int expect_lengths(const Check *check, int32_t first)
{
    for (int32_t i = first; i < check->instr->n_src; i++) {
        if (!is_length(src_value(check, i))) {
            return check_refuse(check, "lengths and indices must be int64 scalars");
        }
    }
    return 0;
}

static int expect_n_aux(const Check *check, int32_t n)
{
    return check_expect(check, check->instr->n_aux == n, "wrong number of aux entries");
}

static int expect_n_src(const Check *check, int32_t least)
{
    return check_expect(check, check->instr->n_src >= least, "too few sources");
}

static int expect_same_dtypes(const Check *check)
{
    for (int32_t i = 0; i < check->instr->n_src; i++) {
        if (!same_dtype(src_value(check, i), dst_value(check, 0))) {
            return check_refuse(check, "the sources must have the destination's dtype");
        }
    }
    return 0;
}

static int check_MAP(const Check *check)
{
    const Instr *instr = check->instr;
    int ndim = 0;
    int skip;

    if (instr->fn < 0 || instr->fn >= N_SCALARS || !scalar_accepts(instr->fn, instr->n_src)) {
        return check_refuse(check, "no such scalar operation, or not of so many sources");
    }
    if (instr->dtype >= N_DTYPES || !scalar_has_kernel(instr->fn, (DType)instr->dtype)) {
        return check_refuse(check, "the scalar operation has no kernel for the computing dtype");
    }
    skip = scalar_rule(instr->fn) == RULE_SWITCH || scalar_rule(instr->fn) == RULE_FIRST_SHAPE ? 1 : 0;
    for (int32_t i = 0; i < instr->n_src; i++) {
        const Value *source = src_value(check, i);

        ndim = source->ndim > ndim ? source->ndim : ndim;
        if (i >= skip && source->dtype != instr->dtype) {
            return check_refuse(check, "the sources must have the computing dtype");
        }
    }
    if (scalar_rule(instr->fn) == RULE_SWITCH && src_value(check, 0)->dtype != DTYPE_BOOL) {
        return check_refuse(check, "the first source of switch must be bool");
    }
    return check_expect(check, is_of(dst_value(check, 0), scalar_result(instr->fn, (DType)instr->dtype), ndim),
                        "the destination must have the operation's dtype and the largest rank of the sources");
}

static int check_CAST(const Check *check)
{
    return check_expect(check, dst_value(check, 0)->ndim == src_value(check, 0)->ndim, "the ranks must be equal");
}

static int check_reduce_dtypes(const Check *check)
{
    const Instr *instr = check->instr;
    const Value *to = dst_value(check, 0), *from = src_value(check, 0);

    if (instr->fn < 0 || instr->fn >= N_REDUCES) {
        return check_refuse(check, "no such reduction");
    }
    if (instr->dtype >= N_DTYPES || !scalar_has_kernel(reduce_scalar(instr->fn), (DType)instr->dtype)) {
        return check_refuse(check, "the reduction has no kernel for the accumulator's dtype");
    }
    if (instr->fn == REDUCE_ADD || instr->fn == REDUCE_MUL) {
        return 0; /* accumulated in a type of its own, cast on both sides */
    }
    if (instr->fn == REDUCE_ARGMAX) {
        return check_expect(check, to->dtype == DTYPE_INT64 && from->dtype == instr->dtype,
                            "argmax gives int64 and compares in its source's dtype");
    }
    return check_expect(check, to->dtype == instr->dtype && from->dtype == instr->dtype,
                        "source, accumulator and destination must have one dtype");
}

static int check_REDUCE(const Check *check)
{
    const Instr *instr = check->instr;
    int64_t previous = -1;

    for (int32_t i = 0; i < instr->n_aux; i++) {
        int64_t axis = aux_entry(check, i);

        if (axis <= previous || axis >= src_value(check, 0)->ndim) {
            return check_refuse(check, "axes must ascend within the source's rank");
        }
        previous = axis;
    }
    if (dst_value(check, 0)->ndim != src_value(check, 0)->ndim - instr->n_aux) {
        return check_refuse(check, "the destination's rank must be the source's less the axes");
    }
    return check_reduce_dtypes(check);
}

static int check_CUMULATE(const Check *check)
{
    const Instr *instr = check->instr;
    const Value *from = src_value(check, 0);

    if (expect_n_aux(check, 1) < 0 || expect_same_dtypes(check) < 0) {
        return -1;
    }
    if ((instr->fn != REDUCE_ADD && instr->fn != REDUCE_MUL) || instr->dtype != from->dtype) {
        return check_refuse(check, "it adds or multiplies in its source's dtype");
    }
    if (aux_entry(check, 0) < -1 || aux_entry(check, 0) >= from->ndim) {
        return check_refuse(check, "the axis is out of range");
    }
    return check_expect(check, dst_value(check, 0)->ndim == (aux_entry(check, 0) < 0 ? 1 : from->ndim), "the destination has the wrong rank");
}

static int check_DOT(const Check *check)
{
    int a = src_value(check, 0)->ndim, b = src_value(check, 1)->ndim;

    if (a < 1 || a > 2 || b < 1 || b > 2) {
        return check_refuse(check, "the sources must be of rank 1 or 2");
    }
    if (dst_value(check, 0)->ndim != a + b - 2) {
        return check_refuse(check, "the destination has the wrong rank");
    }
    return expect_same_dtypes(check);
}

static int check_TRANSPOSE(const Check *check)
{
    bool is_taken[ARRAY_MAX_NDIM] = {false};

    if (expect_n_aux(check, dst_value(check, 0)->ndim) < 0) {
        return -1;
    }
    for (int32_t i = 0; i < check->instr->n_aux; i++) {
        int64_t axis = aux_entry(check, i);

        if (axis < -1 || axis >= src_value(check, 0)->ndim || (axis >= 0 && is_taken[axis])) {
            return check_refuse(check, "an axis is out of range or comes twice");
        }
        if (axis >= 0) {
            is_taken[axis] = true;
        }
    }
    return expect_same_dtypes(check);
}

static int check_RESHAPE(const Check *check)
{
    if (!is_of(src_value(check, 1), DTYPE_INT64, 1)) {
        return check_refuse(check, "the shape must be an int64 vector");
    }
    return check_expect(check, same_dtype(dst_value(check, 0), src_value(check, 0)), "the dtypes must be equal");
}

static int check_SPREAD(const Check *check)
{
    return check_expect(check, same_dtype(src_value(check, 0), dst_value(check, 0)) && src_value(check, 0)->ndim <= src_value(check, 1)->ndim
                        && dst_value(check, 0)->ndim == src_value(check, 1)->ndim && dst_value(check, 0)->ndim > 0,
                        "the destination must have the first source's dtype and the second's rank");
}

static int check_SHAPE(const Check *check)
{
    return check_expect(check, is_of(dst_value(check, 0), DTYPE_INT64, 1), "the destination must be an int64 vector");
}

static int check_SHAPE_AT(const Check *check)
{
    if (expect_n_aux(check, 1) < 0) {
        return -1;
    }
    if (aux_entry(check, 0) < 0 || aux_entry(check, 0) >= src_value(check, 0)->ndim) {
        return check_refuse(check, "the axis is out of range");
    }
    return check_expect(check, is_length(dst_value(check, 0)), "the destination must be an int64 scalar");
}

/* The entries of a slice: how many axes they index away and how many scalars they ask for. */
static int read_entries(const Check *check, int *n_indices, int *n_scalars)
{
    enum { RANGE_BITS = SLICE_START | SLICE_STOP | SLICE_STEP };

    *n_indices = *n_scalars = 0;
    if (check->instr->n_aux > src_value(check, 0)->ndim) {
        return check_refuse(check, "more entries than the source has axes");
    }
    for (int32_t i = 0; i < check->instr->n_aux; i++) {
        int64_t entry = aux_entry(check, i);

        if (entry == SLICE_INDEX) {
            *n_indices += 1;
            *n_scalars += 1;
        } else if ((entry & SLICE_RANGE) != 0 && (entry & ~(int64_t)(SLICE_RANGE | RANGE_BITS)) == 0) {
            *n_scalars += ((entry & SLICE_START) != 0) + ((entry & SLICE_STOP) != 0) + ((entry & SLICE_STEP) != 0);
        } else {
            return check_refuse(check, "an entry is neither an index nor a range");
        }
    }
    return 0;
}

static int check_SLICE(const Check *check)
{
    int n_indices, n_scalars;

    if (expect_n_src(check, 1) < 0 || read_entries(check, &n_indices, &n_scalars) < 0 || expect_lengths(check, 1) < 0) {
        return -1;
    }
    if (check->instr->n_src != 1 + n_scalars) {
        return check_refuse(check, "the entries ask for another number of scalars");
    }
    if (!same_dtype(dst_value(check, 0), src_value(check, 0))) {
        return check_refuse(check, "the dtypes must be equal");
    }
    return check_expect(check, dst_value(check, 0)->ndim == src_value(check, 0)->ndim - n_indices, "the destination has the wrong rank");
}

static int expect_write(const Check *check, int part_ndim)
{
    if (check->instr->fn != WRITE_SET && check->instr->fn != WRITE_ADD) {
        return check_refuse(check, "no such way of writing");
    }
    if (!same_type(dst_value(check, 0), src_value(check, 0)) || src_value(check, 0)->ndim < 1) {
        return check_refuse(check, "the destination must be an array like the first source");
    }
    return check_expect(check, same_dtype(src_value(check, 1), src_value(check, 0)) && src_value(check, 1)->ndim <= part_ndim,
                        "the second source must have the first's dtype and a rank that fits the part");
}

static int check_SET_SLICE(const Check *check)
{
    int n_indices, n_scalars;

    if (expect_n_src(check, 2) < 0 || read_entries(check, &n_indices, &n_scalars) < 0 || expect_lengths(check, 2) < 0) {
        return -1;
    }
    if (check->instr->n_src != 2 + n_scalars) {
        return check_refuse(check, "the entries ask for another number of scalars");
    }
    return expect_write(check, src_value(check, 0)->ndim - n_indices);
}

static int check_TAKE(const Check *check)
{
    const Value *source = src_value(check, 0), *rows = src_value(check, 1);

    if (source->ndim < 1 || rows->ndim < 1 || !is_of(rows, DTYPE_INT64, rows->ndim)) {
        return check_refuse(check, "rows of an array are chosen by an int64 array");
    }
    return check_expect(check, is_numeric(dst_value(check, 0)) && same_dtype(dst_value(check, 0), source)
                                   && dst_value(check, 0)->ndim == rows->ndim + source->ndim - 1,
                        "the destination must have the first source's dtype, and a row for each of the second's elements");
}

static int check_SET_TAKE(const Check *check)
{
    if (!is_of(src_value(check, 2), DTYPE_INT64, 1)) {
        return check_refuse(check, "rows are chosen by an int64 vector");
    }
    return expect_write(check, src_value(check, 0)->ndim);
}

static int check_NONZERO(const Check *check)
{
    const Instr *instr = check->instr;
    const Value *source = instr->n_src > 0 ? src_value(check, 0) : NULL;

    if (source == NULL || instr->n_src > 2 || !is_numeric(source) || source->ndim < 1 || instr->n_dst != source->ndim) {
        return check_refuse(check, "an array gives as many vectors as it has axes");
    }
    for (int32_t i = 0; i < instr->n_dst; i++) {
        if (!is_of(dst_value(check, i), DTYPE_INT64, 1)) {
            return check_refuse(check, "the destinations must be int64 vectors");
        }
    }
    if (expect_n_aux(check, instr->n_src - 1) < 0 || instr->n_src == 1) {
        return instr->n_aux == instr->n_src - 1 ? 0 : -1;
    }
    return check_expect(check, aux_entry(check, 0) >= 0 && aux_entry(check, 0) + source->ndim <= src_value(check, 1)->ndim,
                        "the second source must have the axes that the first stands for");
}

/* The index of a gather whose sources begin at `first`: its entries against the array and the sources; *ndim is the rank of
 * what it chooses. */
static int expect_gather(const Check *check, int32_t first, int *ndim)
{
    int n_used = 0, n_rest = 0, n_arrays = 0, joint = 0;
    int32_t src = first;

    for (int32_t i = 0; i < check->instr->n_aux; i++) {
        int64_t entry = aux_entry(check, i);
        int n_bounds = entry == SLICE_ARRAY || entry == SLICE_NEW ? 0 : ((entry & SLICE_START) != 0) + ((entry & SLICE_STOP) != 0) + ((entry & SLICE_STEP) != 0);

        if (entry != SLICE_ARRAY && entry != SLICE_NEW && ((entry & SLICE_RANGE) == 0 || entry > (SLICE_RANGE | SLICE_START | SLICE_STOP | SLICE_STEP))) {
            return check_refuse(check, "an entry is no range, index array or new axis");
        }
        if (src + n_bounds + (entry == SLICE_ARRAY) > check->instr->n_src) {
            return check_refuse(check, "the entries ask for another number of sources");
        }
        n_used += entry != SLICE_NEW;
        n_rest += entry != SLICE_ARRAY;
        if (entry == SLICE_ARRAY) {
            const Value *index = src_value(check, src++);
            if (!is_of(index, DTYPE_INT64, index->ndim)) {
                return check_refuse(check, "index arrays must be of int64");
            }
            joint = index->ndim > joint ? index->ndim : joint;
            n_arrays++;
        }
        for (; n_bounds > 0; n_bounds--) {
            if (!is_length(src_value(check, src++))) {
                return check_refuse(check, "lengths and indices must be int64 scalars");
            }
        }
    }
    *ndim = joint + n_rest + src_value(check, 0)->ndim - n_used;
    if (*ndim > ARRAY_MAX_NDIM || check->instr->n_aux > ARRAY_MAX_NDIM || src_value(check, 0)->ndim + n_rest > ARRAY_MAX_NDIM) {
        return check_refuse(check, "too many axes");
    }
    return check_expect(check, n_used <= src_value(check, 0)->ndim && src_value(check, 0)->ndim > 0 && n_arrays > 0 && src == check->instr->n_src,
                        "the entries do not fit the sources");
}

static int check_GATHER(const Check *check)
{
    int ndim;

    if (expect_n_src(check, 2) < 0 || expect_gather(check, 1, &ndim) < 0) {
        return -1;
    }
    return check_expect(check, is_of(dst_value(check, 0), (DType)src_value(check, 0)->dtype, ndim), "the destination has the wrong type");
}

static int check_SCATTER(const Check *check)
{
    int ndim;

    if (expect_n_src(check, 3) < 0 || expect_gather(check, 2, &ndim) < 0) {
        return -1;
    }
    return expect_write(check, ndim);
}

static int check_CHOOSE(const Check *check)
{
    const Value *numbers = src_value(check, 0), *choices = src_value(check, 1);
    int ndim = numbers->ndim > choices->ndim - 1 ? numbers->ndim : choices->ndim - 1;

    if (check->instr->fn < 0 || check->instr->fn >= N_CHOOSE || !is_of(numbers, DTYPE_INT64, numbers->ndim) || choices->ndim < 1) {
        return check_refuse(check, "int64 numbers choose along the first axis of an array");
    }
    return check_expect(check, is_of(dst_value(check, 0), (DType)choices->dtype, ndim), "the destination has the wrong type");
}

static int check_APPLY(const Check *check)
{
    const Instr *instr = check->instr;
    int fn = instr->fn, ndim = 0, n_leading = 0;

    if (fn < 0 || fn >= N_LIBRARY || instr->dtype >= N_DTYPES || library_type((DType)instr->dtype) < 0 || expect_n_aux(check, 1) < 0
        || instr->n_src != library_n_in(fn) || instr->n_dst != library_n_out(fn)) {
        return check_refuse(check, "no such library function, or not of so many operands");
    }
    if (!library_is_elementwise(fn) && instr->n_src == 1) { /* one input may be a stack */
        n_leading = src_value(check, 0)->ndim - library_ndim(fn, 0);
    }
    if (n_leading < 0) {
        return check_refuse(check, "a matrix is expected, or a stack of them");
    }
    for (int32_t k = 0; k < instr->n_src; k++) {
        const Value *source = src_value(check, k);
        ndim = source->ndim > ndim ? source->ndim : ndim;
        if (!is_of(source, library_dtype(fn, k, (DType)instr->dtype), library_is_elementwise(fn) ? source->ndim : library_ndim(fn, k) + n_leading)) {
            return check_refuse(check, "a source has the wrong type");
        }
    }
    for (int32_t k = 0; k < instr->n_dst; k++) {
        int operand = instr->n_src + k;
        if (!is_of(dst_value(check, k), library_dtype(fn, operand, (DType)instr->dtype), library_is_elementwise(fn) ? ndim : library_ndim(fn, operand) + n_leading)) {
            return check_refuse(check, "a destination has the wrong type");
        }
    }
    return 0;
}

static int check_TRIANGLE(const Check *check)
{
    return check_expect(check, src_value(check, 0)->ndim == 2 && same_type(dst_value(check, 0), src_value(check, 0)), "it takes a matrix and gives one like it");
}

static int expect_way(const Check *check)
{
    return check_expect(check, check->instr->fn == 0 || check->instr->fn == 1, "fn is 0 or 1");
}

static int check_SORT(const Check *check)
{
    const Value *from = src_value(check, 0), *to = dst_value(check, 0);

    if (expect_way(check) < 0 || from->ndim < 1 || !is_length(src_value(check, 1))) {
        return check_refuse(check, "an array is sorted along an int64 axis");
    }
    return check_expect(check, is_of(to, check->instr->fn == SORT_PLACES ? DTYPE_INT64 : (DType)from->dtype, from->ndim), "the destination has the wrong type");
}

static int check_SEARCH(const Check *check)
{
    if (expect_way(check) < 0 || src_value(check, 0)->ndim != 1 || !is_numeric(src_value(check, 1)) || !same_dtype(src_value(check, 0), src_value(check, 1))) {
        return check_refuse(check, "values are searched in a vector of their dtype");
    }
    return check_expect(check, is_of(dst_value(check, 0), DTYPE_INT64, src_value(check, 1)->ndim), "the destination has the wrong type");
}

static int check_UNIQUE(const Check *check)
{
    const Value *from = src_value(check, 0);
    int32_t n = 1;

    if (expect_n_aux(check, 1) < 0 || check->instr->fn < 0 || check->instr->fn > UNIQUE_ALL || aux_entry(check, 0) < 0 || aux_entry(check, 0) >= from->ndim) {
        return check_refuse(check, "it takes an array with such an axis, and three bits for what is wanted");
    }
    for (int32_t bit = UNIQUE_FIRST; bit <= UNIQUE_COUNTS; bit *= 2) {
        n += (check->instr->fn & bit) != 0;
    }
    if (check->instr->n_dst != n || !same_type(dst_value(check, 0), from)) {
        return check_refuse(check, "the slices are like the source, and there is a destination for each thing wanted");
    }
    for (int32_t i = 1; i < n; i++) {
        if (!is_of(dst_value(check, i), DTYPE_INT64, 1)) {
            return check_refuse(check, "places and counts are int64 vectors");
        }
    }
    return 0;
}

static int check_EXPAND(const Check *check)
{
    return check_expect(check, is_of(src_value(check, 0), DTYPE_INT64, 1) && is_length(src_value(check, 1)) && is_of(dst_value(check, 0), DTYPE_INT64, 1),
                        "it takes an int64 vector and scalar, and gives an int64 vector");
}

static int check_DIAGONAL(const Check *check)
{
    const Value *from = src_value(check, 0), *to = dst_value(check, 0);
    bool makes = check->instr->fn == DIAGONAL_MAKE;
    int ndim = makes ? to->ndim : from->ndim;

    if (expect_way(check) < 0 || expect_n_aux(check, 3) < 0 || ndim < 2 || !same_dtype(from, to) || (makes ? from->ndim : to->ndim) != ndim - 1) {
        return check_refuse(check, "an array and its diagonals, of one axis less, are of one dtype");
    }
    for (int i = 1; i < 3; i++) {
        if (aux_entry(check, i) < 0 || aux_entry(check, i) >= ndim) {
            return check_refuse(check, "the axis is out of range");
        }
    }
    return check_expect(check, aux_entry(check, 1) != aux_entry(check, 2) && aux_entry(check, 0) > INT32_MIN && aux_entry(check, 0) < INT32_MAX,
                        "the axes must differ, and the offset be one that an array can have");
}

static int check_BAND(const Check *check)
{
    if (expect_way(check) < 0 || expect_lengths(check, 0) < 0) {
        return -1;
    }
    return check_expect(check, dst_value(check, 0)->ndim == 2, "the destination must be a matrix");
}

static int check_MATMUL(const Check *check)
{
    int a = src_value(check, 0)->ndim, b = src_value(check, 1)->ndim;

    if (expect_n_aux(check, 1) < 0 || a < 2 || b < 2 || dst_value(check, 0)->ndim != (a > b ? a : b)) {
        return check_refuse(check, "stacks of matrices give a stack of the larger rank");
    }
    return expect_same_dtypes(check);
}

static int check_FILL(const Check *check)
{
    if (expect_n_src(check, 1) < 0 || expect_lengths(check, 1) < 0) {
        return -1;
    }
    if (dst_value(check, 0)->ndim != check->instr->n_src - 1 || src_value(check, 0)->ndim > dst_value(check, 0)->ndim) {
        return check_refuse(check, "the destination needs a length for each axis, and a rank not below the source's");
    }
    return check_expect(check, same_dtype(dst_value(check, 0), src_value(check, 0)), "the dtypes must be equal");
}

static int check_EMPTY(const Check *check)
{
    if (dst_value(check, 0)->ndim != check->instr->n_src) {
        return check_refuse(check, "the destination needs a length for each axis");
    }
    return expect_lengths(check, 0);
}

static int expect_scalars_to_vector(const Check *check)
{
    for (int32_t i = 0; i < check->instr->n_src; i++) {
        if (src_value(check, i)->ndim != 0) {
            return check_refuse(check, "the sources must be scalars");
        }
    }
    if (dst_value(check, 0)->ndim != 1) {
        return check_refuse(check, "the destination must be a vector");
    }
    return expect_same_dtypes(check);
}

static int check_PACK(const Check *check) { return expect_scalars_to_vector(check); }

static int check_JOIN(const Check *check)
{
    int ndim = dst_value(check, 0)->ndim;
    int32_t first = check->instr->n_aux == 0 ? 1 : 0;

    if (expect_n_src(check, first + 1) < 0 || expect_n_aux(check, 1 - first) < 0 || ndim < 1) {
        return check_refuse(check, "arrays are joined along one axis");
    }
    if (first == 0 ? aux_entry(check, 0) < 0 || aux_entry(check, 0) >= ndim : !is_length(src_value(check, 0))) {
        return check_refuse(check, "the axis is out of range, or no int64 scalar");
    }
    for (int32_t i = first; i < check->instr->n_src; i++) {
        if (src_value(check, i)->ndim != ndim || !same_dtype(src_value(check, i), dst_value(check, 0))) {
            return check_refuse(check, "the sources must have the destination's rank and dtype");
        }
    }
    return 0;
}

static int check_SPLIT(const Check *check)
{
    if (src_value(check, 0)->ndim < 1 || !is_length(src_value(check, 1)) || !is_of(src_value(check, 2), DTYPE_INT64, 1)) {
        return check_refuse(check, "an array is split along an int64 axis into int64 lengths");
    }
    for (int32_t i = 0; i < check->instr->n_dst; i++) {
        if (!same_type(dst_value(check, i), src_value(check, 0))) {
            return check_refuse(check, "the pieces must be like the source");
        }
    }
    return 0;
}

static int check_ARANGE(const Check *check)
{
    char kind = dtype_kind((DType)dst_value(check, 0)->dtype);

    if (kind == 'b' || kind == 'c') {
        return check_refuse(check, "it counts in integers or reals");
    }
    return expect_scalars_to_vector(check);
}

static int check_COPY(const Check *check)
{
    if (src_value(check, 0)->value_class == VALUE_OBJECT) {
        return check_refuse(check, "only the host can copy an object");
    }
    return check_expect(check, same_type(dst_value(check, 0), src_value(check, 0)), "the destination must be like the source");
}

static int check_ALIAS(const Check *check)
{
    return check_expect(check, same_type(dst_value(check, 0), src_value(check, 0)), "the destination must be like the source");
}

static int check_CHECK_SHAPE(const Check *check)
{
    int64_t n_given = 0;

    if (expect_n_src(check, 1) < 0 || expect_n_aux(check, src_value(check, 0)->ndim) < 0 || expect_lengths(check, 1) < 0) {
        return -1;
    }
    for (int32_t i = 0; i < check->instr->n_aux; i++) {
        if (aux_entry(check, i) != 0 && aux_entry(check, i) != 1) {
            return check_refuse(check, "an entry is neither 0 nor 1");
        }
        n_given += aux_entry(check, i);
    }
    if (check->instr->n_src - 1 != n_given) {
        return check_refuse(check, "the entries ask for another number of lengths");
    }
    return check_expect(check, same_type(dst_value(check, 0), src_value(check, 0)), "the destination must be like the source");
}

static int check_CHECK_STEPS(const Check *check)
{
    const Value *steps = src_value(check, 0);

    return check_expect(check, steps->value_class == VALUE_SCALAR && steps->dtype == DTYPE_INT64 && same_type(dst_value(check, 0), steps),
                        "the steps must be an int64 scalar");
}

static int check_CHECK_ROWS(const Check *check)
{
    if (expect_n_aux(check, 2) < 0) {
        return -1;
    }
    if (src_value(check, 0)->value_class != VALUE_ARRAY || src_value(check, 0)->ndim < 1) {
        return check_refuse(check, "rows are those of an array");
    }
    return check_expect(check, same_type(dst_value(check, 0), src_value(check, 0)), "the destination must be like the source");
}

static int check_ASSERT(const Check *check)
{
    if (expect_n_src(check, 1) < 0 || expect_n_aux(check, 1) < 0 || expect_way(check) < 0) {
        return -1;
    }
    if (aux_entry(check, 0) < 0 || aux_entry(check, 0) >= check->program->n_texts) {
        return check_refuse(check, "there is no such text");
    }
    for (int32_t i = 1; i < check->instr->n_src; i++) {
        if (!is_of(src_value(check, i), DTYPE_BOOL, 0)) {
            return check_refuse(check, "the conditions must be bool scalars");
        }
    }
    return check_expect(check, same_type(dst_value(check, 0), src_value(check, 0)), "the destination must be like the source");
}

/* Parameter i of the distribution, which is source i + first. */
static int check_param(const Check *check, int32_t first, int i)
{
    int dist = check->instr->fn;
    const Value *param = src_value(check, first + i);

    return check_expect(check, is_numeric(param) && dist_takes(dist, i, (DType)param->dtype, param->ndim),
                        "a parameter has the wrong dtype or rank");
}

static int check_DRAW(const Check *check)
{
    const Instr *instr = check->instr;
    const Value *draws = dst_value(check, 1);
    int32_t first;
    int ndim = 0;

    if (expect_n_src(check, 1) < 0 || expect_n_aux(check, 1) < 0) {
        return -1;
    }
    if (instr->fn < 0 || instr->fn >= N_DISTS || (aux_entry(check, 0) != 0 && aux_entry(check, 0) != 1)) {
        return check_refuse(check, "no such distribution, or an aux entry that is neither 0 nor 1");
    }
    first = 1 + (int32_t)aux_entry(check, 0);
    if (instr->n_src != first + dist_n_params(instr->fn)) {
        return check_refuse(check, "the distribution has another number of parameters");
    }
    if (dst_value(check, 0)->value_class != VALUE_STREAM || src_value(check, 0)->value_class != VALUE_STREAM) {
        return check_refuse(check, "the first source and the first destination must be streams");
    }
    if (first == 2 && !is_of(src_value(check, 1), DTYPE_INT64, 1)) {
        return check_refuse(check, "the size must be an int64 vector");
    }
    for (int i = 0; i < dist_n_params(instr->fn); i++) {
        int batch = dist_batch_ndim(instr->fn, i, src_value(check, first + i)->ndim);

        if (check_param(check, first, i) < 0) {
            return -1;
        }
        ndim = batch > ndim ? batch : ndim;
    }
    ndim += dist_ndim_supp(instr->fn);
    if (!is_numeric(draws) || (first == 1 && draws->ndim != ndim) || draws->ndim < dist_ndim_supp(instr->fn)) {
        return check_refuse(check, "the draws have the wrong rank");
    }
    return check_expect(check, draws->dtype == (dist_result_kind(instr->fn) == 'l' ? DTYPE_INT64 : DTYPE_FLOAT64),
                        "the draws have the wrong dtype");
}

static int check_LOOP(const Check *check)
{
    if (expect_n_aux(check, 1) < 0) {
        return -1;
    }
    if (aux_entry(check, 0) < 0 || aux_entry(check, 0) >= check->program->n_loops) {
        return check_refuse(check, "there is no such loop");
    }
    return check_loop(check);
}

static int check_CALL(const Check *check)
{
    return check_expect(check, check->instr->n_aux == 1 && aux_entry(check, 0) >= 0, "it needs the number of a call");
}

typedef int (*Rule)(const Check *check);

static const Rule rules[N_OPCODES] = {
#define OPCODE(NAME, text, n_dst, n_src, aux, effect) check_##NAME,
#include "program/opcodes.def"
#undef OPCODE
};

/* Rows that take more than numbers and arrays. */
static bool takes_any_class(int opcode)
{
    return opcode == I_COPY || opcode == I_ALIAS || opcode == I_DRAW || opcode == I_LOOP || opcode == I_CALL;
}

int check_instr_types(const Check *check)
{
    const Instr *instr = check->instr;

    if (!takes_any_class(instr->opcode)) {
        for (int32_t i = 0; i < instr->n_dst + instr->n_src; i++) {
            if (!is_numeric(&check->program->values[instr_dst(check->program, instr)[i]])) {
                return check_refuse(check, "streams and objects do not take part in it");
            }
        }
    }
    return rules[instr->opcode](check);
}
