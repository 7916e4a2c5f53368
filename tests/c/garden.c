/* Made-up programs; see garden.h. First how an instruction is made up, then the program, then its loop. */
#include "garden.h"

#include <string.h>

#include "ops/ops.h"
#include "random/stream.h"
#include "sample.h"
#include "test.h"

const GardenInput garden_inputs[N_INPUTS] = {
    {VALUE_SCALAR, DTYPE_INT64, 0},  {VALUE_SCALAR, DTYPE_INT64, 0}, {VALUE_SCALAR, DTYPE_FLOAT64, 0}, {VALUE_SCALAR, DTYPE_BOOL, 0},
    {VALUE_ARRAY, DTYPE_FLOAT64, 1}, {VALUE_ARRAY, DTYPE_FLOAT64, 2}, {VALUE_ARRAY, DTYPE_INT64, 1},   {VALUE_ARRAY, DTYPE_BOOL, 1},
    {VALUE_ARRAY, DTYPE_COMPLEX128, 1}, {VALUE_STREAM, DTYPE_BOOL, 0},
};

/* The ranks that are made up; more would be large where axes are long. */
enum { MAX_NDIM = 3 };

/* What a loop's body is to be like, so that each way of running loops is met: block-wise with a tape, tile by tile, step by step. */
typedef enum Mood {
    MOOD_ANY,
    MOOD_SCALARS,     /* arrays are picked only where there must be one */
    MOOD_ELEMENTWISE, /* nearly all instructions are elementwise, and all results arrays */
    N_MOODS
} Mood;

/* Where instructions are added: the program itself or the body of its loop. `whole` is what the checker sees. */
typedef struct Garden {
    Program *whole, *program;
    uint64_t *seed;
    bool may_be_empty;
    Mood mood;
    bool (*trial)(const Program *program);
    int32_t *carried; /* in a body: the stream that is handed on, which follows a draw in place on it; else NULL */
} Garden;

/* An instruction, and what its destinations are to be. */
typedef struct Proposal {
    SampleInstr instr;
    Value dst[SAMPLE_MAX_DST];
} Proposal;

uint64_t next_number(uint64_t *seed, uint64_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % n;
}

bool one_in(uint64_t *seed, uint64_t n) { return next_number(seed, n) == 0; }

/* From low to high, both included. */
static int64_t between(const Garden *garden, int64_t low, int64_t high)
{
    return low + (int64_t)next_number(garden->seed, (uint64_t)(high - low) + 1);
}

/* ---- picking values ---- */

enum { ANY = -1 };

static const Value *value_of(const Garden *garden, int32_t number) { return &garden->program->values[number]; }

static bool is_stream(const Value *value) { return value->value_class == VALUE_STREAM; }

static int32_t pick_any(const Garden *garden) { return (int32_t)next_number(garden->seed, (uint64_t)garden->program->n_values); }

static int32_t pick_stream(const Garden *garden)
{
    int32_t number = pick_any(garden);

    for (int tries = 0; tries < 100 && !is_stream(value_of(garden, number)); tries++) {
        number = pick_any(garden);
    }
    return number;
}

static int32_t find_number(const Garden *garden)
{
    int32_t number = 0;

    while (value_of(garden, number)->value_class != VALUE_SCALAR) {
        number++;
    }
    return number;
}

/* Some number or array of that type and a rank from least to most; a number where none is found, which the checker refuses. */
static int32_t pick(const Garden *garden, int dtype, int least, int most)
{
    int limit = garden->mood == MOOD_SCALARS && least == 0 && !one_in(garden->seed, 8) ? 0 : most;
    int32_t number = pick_any(garden);

    for (int32_t i = 0; i < garden->program->n_values + 8; i++) {
        const Value *value = value_of(garden, number);
        if (!is_stream(value) && (dtype == ANY || value->dtype == dtype) && value->ndim >= least && value->ndim <= limit) {
            return number;
        }
        number = i < 8 ? pick_any(garden) : (number + 1) % garden->program->n_values;
    }
    return find_number(garden);
}

static int32_t pick_int64(const Garden *garden) { return pick(garden, DTYPE_INT64, 0, 0); }

static const Instr *maker_of(const Garden *garden, int32_t number)
{
    const Program *program = garden->program;

    for (int32_t i = 0; i < program->n_instrs; i++) {
        for (int32_t k = 0; k < program->instrs[i].n_dst; k++) {
            if (instr_dst(program, &program->instrs[i])[k] == number) {
                return &program->instrs[i];
            }
        }
    }
    return NULL;
}

/* Lengths are not computed but from lengths, or arrays would outgrow the memory. */
static bool is_length(const Garden *garden, int32_t number)
{
    const Instr *made = maker_of(garden, number);

    if (value_of(garden, number)->dtype != DTYPE_INT64) {
        return false;
    }
    if (made != NULL && made->opcode == I_PACK) {
        for (int32_t i = 0; i < made->n_src; i++) {
            if (!is_length(garden, instr_src(garden->program, made)[i])) {
                return false;
            }
        }
        return true;
    }
    return made == NULL || made->opcode == I_SHAPE || made->opcode == I_SHAPE_AT;
}

static int32_t pick_length(const Garden *garden, int ndim)
{
    int32_t number = pick(garden, DTYPE_INT64, ndim, ndim);

    for (int tries = 0; tries < 20 && !is_length(garden, number); tries++) {
        number = pick(garden, DTYPE_INT64, ndim, ndim);
    }
    return number;
}

static const DType dtypes[] = {DTYPE_FLOAT64, DTYPE_FLOAT64, DTYPE_INT64, DTYPE_BOOL, DTYPE_FLOAT32, DTYPE_COMPLEX128, DTYPE_INT8, DTYPE_UINT16};

static DType pick_dtype(const Garden *garden) { return dtypes[next_number(garden->seed, sizeof dtypes / sizeof *dtypes)]; }

/* ---- instructions ---- */

static int32_t add_source(Proposal *proposal, int32_t number)
{
    proposal->instr.src[proposal->instr.n_src++] = number;
    return number;
}

static void add_aux(Proposal *proposal, int64_t entry) { proposal->instr.aux[proposal->instr.n_aux++] = entry; }

static void add_dst(Proposal *proposal, int dtype, int ndim)
{
    proposal->dst[proposal->instr.n_dst++] =
        (Value){.value_class = ndim == 0 ? VALUE_SCALAR : VALUE_ARRAY, .dtype = (uint8_t)dtype, .ndim = (uint8_t)ndim};
}

static void add_dst_like(const Garden *garden, Proposal *proposal, int32_t number)
{
    proposal->dst[proposal->instr.n_dst++] = *value_of(garden, number);
}

static int larger(int a, int b) { return a > b ? a : b; }

/* The type of source i of a scalar operation that computes in that type. */
static int map_source(int fn, DType dtype, int i)
{
    if (i == 0 && scalar_rule(fn) == RULE_FIRST_SHAPE) {
        return ANY;
    }
    return i == 0 && scalar_rule(fn) == RULE_SWITCH ? (int)DTYPE_BOOL : (int)dtype;
}

static void propose_map(const Garden *garden, Proposal *proposal)
{
    SampleInstr *instr = &proposal->instr;
    DType dtype = (DType)value_of(garden, pick(garden, ANY, 0, MAX_NDIM))->dtype;
    int fn = (int)next_number(garden->seed, N_SCALARS), n_in, ndim = 0;

    while (!scalar_has_kernel(fn, dtype)) {
        fn = (int)next_number(garden->seed, N_SCALARS);
    }
    n_in = scalar_n_in(fn) < 0 ? (int)between(garden, 2, 4) : scalar_n_in(fn);
    for (int i = 0; i < n_in; i++) {
        ndim = larger(ndim, value_of(garden, add_source(proposal, pick(garden, map_source(fn, dtype, i), 0, MAX_NDIM)))->ndim);
    }
    instr->fn = fn;
    instr->dtype = dtype;
    add_dst(proposal, scalar_result(fn, dtype), ndim);
}

static void propose_fold(const Garden *garden, Proposal *proposal, bool is_running)
{
    SampleInstr *instr = &proposal->instr;
    const Value *from = value_of(garden, add_source(proposal, pick(garden, ANY, is_running ? 0 : 1, MAX_NDIM)));

    instr->fn = is_running ? one_in(garden->seed, 2) ? REDUCE_ADD : REDUCE_MUL : (int)next_number(garden->seed, N_REDUCES);
    instr->dtype = (DType)from->dtype;
    if (is_running) {
        add_aux(proposal, between(garden, -1, from->ndim - 1));
        add_dst(proposal, from->dtype, instr->aux[0] < 0 ? 1 : from->ndim);
        return;
    }
    for (int axis = 0; axis < from->ndim; axis++) {
        if (!one_in(garden->seed, 3)) {
            add_aux(proposal, axis);
        }
    }
    add_dst(proposal, instr->fn == REDUCE_ARGMAX ? DTYPE_INT64 : from->dtype, from->ndim - instr->n_aux);
}

static void propose_transpose(const Garden *garden, Proposal *proposal)
{
    const Value *from = value_of(garden, add_source(proposal, pick(garden, ANY, 0, MAX_NDIM)));
    SampleInstr *instr = &proposal->instr;

    for (int axis = 0; axis < from->ndim; axis++) {
        int64_t place = between(garden, 0, axis), moved = axis;
        add_aux(proposal, axis);
        instr->aux[axis] = instr->aux[place];
        instr->aux[place] = moved;
    }
    if (from->ndim < MAX_NDIM && one_in(garden->seed, 2)) {
        add_aux(proposal, -1);
    }
    add_dst(proposal, from->dtype, instr->n_aux);
}

static void propose_product(const Garden *garden, Proposal *proposal, bool has_stacks)
{
    int least = has_stacks ? 2 : 1, most = has_stacks ? MAX_NDIM : 2;
    const Value *a = value_of(garden, add_source(proposal, pick(garden, ANY, least, most)));
    const Value *b = value_of(garden, add_source(proposal, pick(garden, a->dtype, least, most)));

    proposal->instr.dtype = (DType)a->dtype;
    if (has_stacks) {
        add_aux(proposal, 0);
    }
    add_dst(proposal, a->dtype, has_stacks ? larger(a->ndim, b->ndim) : a->ndim + b->ndim - 2);
}

/* The entries of an index of an array of that rank, and the sources that they ask for; how many axes the result has. */
static int add_entries(const Garden *garden, Proposal *proposal, int ndim, bool is_gather)
{
    SampleInstr *instr = &proposal->instr;
    int n = (int)between(garden, 1, larger(ndim, 1)), i_array = (int)between(garden, 0, n - 1), joint = 0;

    for (int i = 0; i < n; i++) {
        int64_t bits = one_in(garden->seed, 3) ? SLICE_START : one_in(garden->seed, 2) ? SLICE_STOP : one_in(garden->seed, 2) ? SLICE_STEP : 0;
        bool is_one = is_gather ? i == i_array || one_in(garden->seed, 3) : one_in(garden->seed, 2);

        add_aux(proposal, is_one ? is_gather ? SLICE_ARRAY : SLICE_INDEX : SLICE_RANGE | bits);
        if (is_one || bits != 0) {
            int own = value_of(garden, add_source(proposal, pick(garden, DTYPE_INT64, 0, is_one && is_gather ? 1 : 0)))->ndim;
            joint = larger(joint, own);
        }
        ndim -= is_one;
    }
    if (is_gather && instr->n_aux < SAMPLE_MAX_AUX && one_in(garden->seed, 4)) {
        add_aux(proposal, SLICE_NEW);
        ndim++;
    }
    return ndim + joint;
}

static void propose_part(const Garden *garden, Proposal *proposal, bool is_gather, bool is_write)
{
    SampleInstr *instr = &proposal->instr;
    int32_t whole = add_source(proposal, pick(garden, ANY, 1, MAX_NDIM));
    int ndim;

    instr->n_src += is_write; /* the part that is written, of a rank that the entries tell */
    ndim = add_entries(garden, proposal, value_of(garden, whole)->ndim, is_gather);
    if (is_write) {
        instr->fn = one_in(garden->seed, 2) ? WRITE_SET : WRITE_ADD;
        instr->src[1] = pick(garden, value_of(garden, whole)->dtype, 0, ndim);
        add_dst_like(garden, proposal, whole);
    } else {
        add_dst(proposal, value_of(garden, whole)->dtype, ndim);
    }
}

static void propose_rows(const Garden *garden, Proposal *proposal, bool is_write)
{
    int32_t whole = add_source(proposal, pick(garden, ANY, 1, 2));
    const Value *value = value_of(garden, whole);

    if (is_write) {
        proposal->instr.fn = one_in(garden->seed, 2) ? WRITE_SET : WRITE_ADD;
        add_source(proposal, pick(garden, value->dtype, 0, value->ndim));
        add_source(proposal, pick(garden, DTYPE_INT64, 1, 1));
        add_dst_like(garden, proposal, whole);
    } else {
        const Value *rows = value_of(garden, add_source(proposal, pick(garden, DTYPE_INT64, 1, 2)));
        add_dst(proposal, value->dtype, rows->ndim + value->ndim - 1);
    }
}

static void propose_choose(const Garden *garden, Proposal *proposal)
{
    const Value *numbers = value_of(garden, add_source(proposal, pick(garden, DTYPE_INT64, 0, 2)));
    const Value *choices = value_of(garden, add_source(proposal, pick(garden, ANY, 1, MAX_NDIM)));

    proposal->instr.fn = (int)next_number(garden->seed, N_CHOOSE);
    add_dst(proposal, choices->dtype, larger(numbers->ndim, choices->ndim - 1));
}

static void propose_nonzero(const Garden *garden, Proposal *proposal)
{
    const Value *from = value_of(garden, add_source(proposal, pick(garden, ANY, 1, 2)));

    if (one_in(garden->seed, 2)) {
        const Value *axes = value_of(garden, add_source(proposal, pick(garden, ANY, from->ndim, MAX_NDIM)));
        add_aux(proposal, between(garden, 0, larger(axes->ndim - from->ndim, 0)));
    }
    for (int i = 0; i < from->ndim && i < SAMPLE_MAX_DST; i++) {
        add_dst(proposal, DTYPE_INT64, 1);
    }
}

static void propose_unique(const Garden *garden, Proposal *proposal)
{
    int32_t from = add_source(proposal, pick(garden, ANY, 1, 2));

    proposal->instr.fn = (int)between(garden, 0, UNIQUE_ALL);
    add_aux(proposal, between(garden, 0, larger(value_of(garden, from)->ndim - 1, 0)));
    add_dst_like(garden, proposal, from);
    for (int32_t bit = UNIQUE_FIRST; bit <= UNIQUE_COUNTS; bit *= 2) {
        if ((proposal->instr.fn & bit) != 0) {
            add_dst(proposal, DTYPE_INT64, 1);
        }
    }
}

static void propose_order(const Garden *garden, Proposal *proposal, Opcode opcode)
{
    int32_t from = add_source(proposal, pick(garden, ANY, 1, opcode == I_SORT ? 2 : 1));

    proposal->instr.fn = (int)next_number(garden->seed, 2);
    if (opcode == I_SORT) {
        add_source(proposal, pick_int64(garden));
        add_dst(proposal, proposal->instr.fn == SORT_PLACES ? DTYPE_INT64 : value_of(garden, from)->dtype, value_of(garden, from)->ndim);
    } else {
        add_dst(proposal, DTYPE_INT64, value_of(garden, add_source(proposal, pick(garden, value_of(garden, from)->dtype, 0, 2)))->ndim);
    }
}

static void propose_diagonal(const Garden *garden, Proposal *proposal)
{
    bool makes = one_in(garden->seed, 2);
    const Value *from = value_of(garden, add_source(proposal, makes ? pick(garden, ANY, 1, 2) : pick(garden, ANY, 2, MAX_NDIM)));
    int ndim = makes ? from->ndim + 1 : larger(from->ndim, 2);
    int64_t rows = between(garden, 0, ndim - 1);

    proposal->instr.fn = makes ? DIAGONAL_MAKE : DIAGONAL_TAKE;
    add_aux(proposal, between(garden, -2, 2));
    add_aux(proposal, rows);
    add_aux(proposal, (rows + between(garden, 1, ndim - 1)) % ndim);
    add_dst(proposal, from->dtype, makes ? ndim : ndim - 1);
}

/* Of lengths: what has as many axes. */
static void propose_made(const Garden *garden, Proposal *proposal, Opcode opcode)
{
    int ndim = opcode == I_BAND ? 2 : (int)between(garden, 0, 2);
    DType dtype = pick_dtype(garden);

    if (opcode == I_FILL) {
        dtype = (DType)value_of(garden, add_source(proposal, pick(garden, ANY, 0, ndim)))->dtype;
    }
    for (int i = 0; i < ndim; i++) {
        add_source(proposal, pick_length(garden, 0));
    }
    if (opcode == I_BAND) {
        proposal->instr.fn = (int)next_number(garden->seed, 2);
        add_source(proposal, pick_int64(garden));
    }
    add_dst(proposal, dtype, ndim);
}

static void propose_join(const Garden *garden, Proposal *proposal)
{
    const Value *first;
    int n = (int)between(garden, 1, 3);
    bool has_axis = one_in(garden->seed, 3);

    if (has_axis) {
        add_source(proposal, pick_int64(garden));
    }
    first = value_of(garden, add_source(proposal, pick(garden, ANY, 1, 2)));
    for (int i = 1; i < n; i++) {
        add_source(proposal, pick(garden, first->dtype, first->ndim, first->ndim));
    }
    if (!has_axis) {
        add_aux(proposal, between(garden, 0, larger(first->ndim - 1, 0)));
    }
    add_dst(proposal, first->dtype, first->ndim);
}

static void propose_scalars(const Garden *garden, Proposal *proposal, Opcode opcode)
{
    int n = opcode == I_ARANGE ? 3 : (int)between(garden, 1, 3);
    DType dtype = opcode == I_ARANGE ? DTYPE_INT64 : (DType)value_of(garden, pick(garden, ANY, 0, 0))->dtype;

    for (int i = 0; i < n; i++) {
        add_source(proposal, opcode == I_ARANGE ? pick_length(garden, 0) : pick(garden, dtype, 0, 0));
    }
    add_dst(proposal, (int)dtype, 1);
}

static void propose_split(const Garden *garden, Proposal *proposal)
{
    int32_t from = add_source(proposal, pick(garden, ANY, 1, 2));

    add_source(proposal, pick_int64(garden));
    add_source(proposal, pick(garden, DTYPE_INT64, 1, 1));
    for (int64_t n = between(garden, 1, SAMPLE_MAX_DST); n > 0; n--) {
        add_dst_like(garden, proposal, from);
    }
}

static void propose_check(const Garden *garden, Proposal *proposal, Opcode opcode)
{
    int32_t from = add_source(proposal, pick(garden, ANY, opcode == I_CHECK_ROWS ? 1 : 0, MAX_NDIM));

    if (opcode == I_CHECK_ROWS) {
        add_aux(proposal, between(garden, 0, 2));
        add_aux(proposal, 0);
    } else if (opcode == I_ASSERT) {
        add_aux(proposal, 0);
        add_source(proposal, pick(garden, DTYPE_BOOL, 0, 0));
    } else {
        for (int axis = 0; axis < value_of(garden, from)->ndim; axis++) {
            add_aux(proposal, one_in(garden->seed, 2));
            if (proposal->instr.aux[axis] != 0) {
                add_source(proposal, pick_length(garden, 0));
            }
        }
    }
    add_dst_like(garden, proposal, from);
}

static void propose_draw(const Garden *garden, Proposal *proposal)
{
    int dist = (int)next_number(garden->seed, N_DISTS), ndim = 0;
    bool has_size = garden->mood != MOOD_SCALARS && one_in(garden->seed, 4);

    while (!dist_is_native(dist) && !one_in(garden->seed, 50)) {
        dist = (int)next_number(garden->seed, N_DISTS);
    }
    proposal->instr.fn = dist;
    proposal->instr.flags |= one_in(garden->seed, 4) ? 0 : INSTR_INPLACE;
    add_source(proposal, garden->carried != NULL && !one_in(garden->seed, 8) ? *garden->carried : pick_stream(garden));
    add_aux(proposal, has_size);
    if (has_size) {
        add_source(proposal, pick_length(garden, 1));
    }
    for (int i = 0; i < dist_n_params(dist); i++) {
        int own = dist_param_ndim(dist, i);
        int32_t param = add_source(proposal, pick(garden, dist_param_dtype(dist, i), own, own + (garden->mood == MOOD_SCALARS ? 0 : 1)));
        ndim = larger(ndim, dist_batch_ndim(dist, i, value_of(garden, param)->ndim));
    }
    proposal->dst[proposal->instr.n_dst++] = (Value){.value_class = VALUE_STREAM, .dtype = DTYPE_BOOL};
    add_dst(proposal, dist_result_kind(dist) == 'l' ? DTYPE_INT64 : DTYPE_FLOAT64, dist_ndim_supp(dist) + (has_size ? (int)between(garden, ndim, 2) : ndim));
}

static void propose_view(const Garden *garden, Proposal *proposal, Opcode opcode)
{
    const Value *from = value_of(garden, add_source(proposal, pick(garden, ANY, 0, 2)));

    if (opcode == I_RESHAPE) {
        add_source(proposal, pick_length(garden, 1));
        add_dst(proposal, from->dtype, (int)between(garden, 0, 2));
    } else if (opcode == I_SPREAD) {
        add_dst(proposal, from->dtype, value_of(garden, add_source(proposal, pick(garden, ANY, larger(from->ndim, 1), 2)))->ndim);
    } else if (opcode == I_SHAPE_AT) {
        add_aux(proposal, between(garden, 0, larger(from->ndim - 1, 0)));
        add_dst(proposal, DTYPE_INT64, 0);
    } else if (opcode == I_SHAPE) {
        add_dst(proposal, DTYPE_INT64, 1);
    } else {
        add_dst(proposal, pick_dtype(garden), from->ndim); /* a cast */
    }
}

static void propose_like(const Garden *garden, Proposal *proposal, Opcode opcode)
{
    int32_t from = opcode == I_TRIANGLE                              ? pick(garden, ANY, 2, 2)
                   : opcode == I_CHECK_STEPS                         ? pick_int64(garden)
                   : opcode == I_ALIAS && one_in(garden->seed, 3)    ? pick_stream(garden)
                                                                     : pick(garden, ANY, 0, MAX_NDIM);

    proposal->instr.fn = opcode == I_TRIANGLE ? (int)next_number(garden->seed, 16) : 0;
    add_dst_like(garden, proposal, add_source(proposal, from));
}

static void propose(const Garden *garden, Proposal *proposal, Opcode opcode)
{
    switch (opcode) {
    case I_MAP: propose_map(garden, proposal); break;
    case I_REDUCE:
    case I_CUMULATE: propose_fold(garden, proposal, opcode == I_CUMULATE); break;
    case I_DOT:
    case I_MATMUL: propose_product(garden, proposal, opcode == I_MATMUL); break;
    case I_TRANSPOSE: propose_transpose(garden, proposal); break;
    case I_CAST:
    case I_RESHAPE:
    case I_SPREAD:
    case I_SHAPE:
    case I_SHAPE_AT: propose_view(garden, proposal, opcode); break;
    case I_SLICE:
    case I_SET_SLICE: propose_part(garden, proposal, false, opcode == I_SET_SLICE); break;
    case I_GATHER:
    case I_SCATTER: propose_part(garden, proposal, true, opcode == I_SCATTER); break;
    case I_TAKE:
    case I_SET_TAKE: propose_rows(garden, proposal, opcode == I_SET_TAKE); break;
    case I_CHOOSE: propose_choose(garden, proposal); break;
    case I_NONZERO: propose_nonzero(garden, proposal); break;
    case I_UNIQUE: propose_unique(garden, proposal); break;
    case I_SORT:
    case I_SEARCH: propose_order(garden, proposal, opcode); break;
    case I_EXPAND:
        add_source(proposal, pick_length(garden, 1));
        add_source(proposal, pick_length(garden, 0));
        add_dst(proposal, DTYPE_INT64, 1);
        break;
    case I_DIAGONAL: propose_diagonal(garden, proposal); break;
    case I_BAND:
    case I_FILL:
    case I_EMPTY: propose_made(garden, proposal, opcode); break;
    case I_PACK:
    case I_ARANGE: propose_scalars(garden, proposal, opcode); break;
    case I_JOIN: propose_join(garden, proposal); break;
    case I_SPLIT: propose_split(garden, proposal); break;
    case I_CHECK_SHAPE:
    case I_CHECK_ROWS:
    case I_ASSERT: propose_check(garden, proposal, opcode); break;
    case I_DRAW: propose_draw(garden, proposal); break;
    default: propose_like(garden, proposal, opcode); break;
    }
}

/* Only what writes can be in place; draws say it themselves. */
static uint8_t pick_flags(const Garden *garden, Opcode opcode)
{
    bool writes = opcode == I_SET_SLICE || opcode == I_SET_TAKE || opcode == I_SCATTER;

    return (uint8_t)((writes && one_in(garden->seed, 2) ? INSTR_INPLACE : 0) | (one_in(garden->seed, 8) ? INSTR_INVARIANT : 0));
}

/* One thing that is wrong with it, perhaps. */
static void spoil(const Garden *garden, Proposal *proposal)
{
    SampleInstr *instr = &proposal->instr;
    int32_t i = instr->n_src > 0 ? (int32_t)next_number(garden->seed, (uint64_t)instr->n_src) : 0;

    switch (next_number(garden->seed, 5)) {
    case 0: instr->src[i] = pick_any(garden); break;
    case 1: instr->aux[0] = between(garden, -2, 15); break;
    case 2: instr->flags ^= INSTR_INPLACE; break;
    case 3: instr->dtype = pick_dtype(garden); break;
    default: proposal->dst[0].ndim = (uint8_t)between(garden, 0, 4); break;
    }
}

/* ---- growing ---- */

/* Plans and checks the whole; what a refused plan left behind is planned anew with the next one. */
static bool is_accepted(const Garden *garden)
{
    Status status;

    status_clear(&status);
    return program_plan_storage(garden->whole, &status) == 0 && program_check(garden->whole, &status) == 0;
}

/* Accepted, and mostly with success when it is tried: a few failures are wanted too. */
static bool is_wanted(const Garden *garden) { return is_accepted(garden) && (one_in(garden->seed, 60) || garden->trial(garden->whole)); }

static Opcode pick_opcode(const Garden *garden)
{
    Opcode opcode = one_in(garden->seed, 5) ? I_DRAW : one_in(garden->seed, garden->mood == MOOD_SCALARS ? 2 : 4) ? I_MAP : (Opcode)next_number(garden->seed, N_OPCODES);

    if (garden->mood == MOOD_ELEMENTWISE && !one_in(garden->seed, 30)) {
        return one_in(garden->seed, 8) ? I_CAST : I_MAP;
    }
    /* the host of these tests computes nothing, and there is one loop, which is added otherwise */
    return opcode == I_LOOP || opcode == I_CALL || opcode == I_APPLY || (opcode == I_EMPTY && !garden->may_be_empty) ? I_MAP : opcode;
}

/* Tries one instruction; whether it stayed. */
static bool try_instr(const Garden *garden)
{
    Program *program = garden->program;
    int32_t n_values = program->n_values, n_operands = program->n_operands, n_aux = program->n_aux, carried = -1;
    Opcode opcode = pick_opcode(garden);
    Proposal proposal = {.instr = {.opcode = opcode, .flags = pick_flags(garden, opcode)}};
    SampleInstr *instr = &proposal.instr;
    Status status;

    propose(garden, &proposal, opcode);
    if (one_in(garden->seed, 12)) {
        spoil(garden, &proposal);
    }
    for (int32_t i = 0; i < instr->n_dst; i++) {
        const Value *dst = &proposal.dst[i];
        instr->dst[i] = is_stream(dst) ? sample_value(program, VALUE_STREAM, ORIGIN_COMPUTED, DTYPE_BOOL, 0, &status)
                                       : sample_computed(program, (DType)dst->dtype, dst->ndim, &status);
    }
    (void)sample_instr(program, *instr, &status);
    if (garden->carried != NULL && opcode == I_DRAW && (instr->flags & INSTR_INPLACE) != 0 && instr->src[0] == *garden->carried) {
        carried = *garden->carried;
        *garden->carried = instr->dst[0];
    }
    if (is_wanted(garden)) {
        return true;
    }
    if (carried >= 0) {
        *garden->carried = carried;
    }
    program->n_instrs--;
    program->n_values = n_values;
    program->n_operands = n_operands;
    program->n_aux = n_aux;
    return false;
}

static void grow(const Garden *garden, int64_t n_wanted)
{
    for (int tries = 0, n = 0; tries < 200 && n < n_wanted; tries++) {
        n += try_instr(garden) ? 1 : 0;
    }
}

/* Numbers and sizes to work with, the same in every program and body. */
static void add_constants(Program *program, Status *status)
{
    static const int64_t sizes[] = {2, -1};
    static const double chances[] = {0.25, 0.25, 0.5};

    sample_integer(program, -1, status);
    sample_integer(program, 0, status);
    sample_integer(program, 2, status);
    sample_double(program, 0.25, status);
    sample_vector(program, DTYPE_INT64, 1, sizes, status);
    sample_vector(program, DTYPE_INT64, 1, sizes + 1, status);
    sample_vector(program, DTYPE_FLOAT64, 3, chances, status);
    (void)program_add_text(program, "made up", status);
}

/* ---- the loop ---- */

/* The body's first values. B_STATE is a row of a state of vectors, or of another sequence. */
enum { B_ROW, B_ELEMENT, B_TAP, B_TAP2, B_STATE, B_RNG, B_REAL, B_SMALL, B_TRUTH, B_VECTOR, B_INTEGERS };

static Program *new_body(Status *status)
{
    Program *body = program_new(status);

    sample_value(body, VALUE_ARRAY, ORIGIN_ROW, DTYPE_FLOAT64, 1, status);
    sample_value(body, VALUE_SCALAR, ORIGIN_ROW, DTYPE_INT64, 0, status);
    sample_value(body, VALUE_SCALAR, ORIGIN_ROW, DTYPE_FLOAT64, 0, status);
    sample_value(body, VALUE_SCALAR, ORIGIN_ROW, DTYPE_FLOAT64, 0, status);
    sample_value(body, VALUE_ARRAY, ORIGIN_ROW, DTYPE_FLOAT64, 1, status);
    sample_value(body, VALUE_STREAM, ORIGIN_INPUT, DTYPE_BOOL, 0, status);
    sample_value(body, VALUE_SCALAR, ORIGIN_INPUT, DTYPE_FLOAT64, 0, status);
    sample_value(body, VALUE_SCALAR, ORIGIN_INPUT, DTYPE_INT64, 0, status);
    sample_value(body, VALUE_SCALAR, ORIGIN_INPUT, DTYPE_BOOL, 0, status);
    sample_value(body, VALUE_ARRAY, ORIGIN_INPUT, DTYPE_FLOAT64, 1, status);
    sample_value(body, VALUE_ARRAY, ORIGIN_INPUT, DTYPE_INT64, 1, status);
    add_constants(body, status);
    return body;
}

/* Points one of the body's results at another of its values of that type, where the checker lets it. */
static void try_result(const Garden *garden, int32_t *inner_out, bool is_of_stream)
{
    int32_t before = *inner_out;
    const Value *value = value_of(garden, before);

    for (int tries = 0; tries < 10; tries++) {
        *inner_out = is_of_stream ? pick_stream(garden) : pick(garden, value->dtype, value->ndim, value->ndim);
        if (*inner_out >= B_INTEGERS && is_wanted(garden)) {
            return;
        }
    }
    *inner_out = before;
}

static void try_until(const Garden *garden, Loop *loop)
{
    for (int tries = 0; tries < 10 && loop->until < 0; tries++) {
        loop->until = pick(garden, DTYPE_BOOL, 0, 0);
        if (!is_wanted(garden)) {
            loop->until = -1;
        }
    }
}

static void try_flag(const Garden *garden, bool *flag)
{
    *flag = one_in(garden->seed, 2);
    if (!is_accepted(garden)) {
        *flag = false;
    }
}

/* A loop over rows of the inputs, whose body has nothing but its first values. Those that are no taps are rows of sequences. */
static Loop *new_loop(Program *program, Mood mood, uint64_t *seed, Status *status)
{
    bool has_scalars = mood != MOOD_ELEMENTWISE, has_arrays = mood == MOOD_ELEMENTWISE || one_in(seed, 2);
    LoopSequence sequences[4] = {{MATRIX, B_ROW}, {INTEGERS, B_ELEMENT}};
    LoopTap taps[3] = {{-1, B_TAP}, {-2, B_TAP2}, {-1, B_STATE}};
    LoopFixed fixed[5] = {{REAL, B_REAL}, {SMALL, B_SMALL}, {TRUTH, B_TRUTH}, {VECTOR, B_VECTOR}, {INTEGERS, B_INTEGERS}};
    LoopState states[2];
    LoopPath paths[2];
    LoopCarry carry = {.outer_in = RNG, .inner_in = B_RNG, .inner_out = B_RNG};
    Loop made = {.body = new_body(status), .n_steps = STEPS, .until = -1, .n_sequences = 2, .n_taps = 3, .n_carries = 1, .n_fixed = 5,
                 .sequences = sequences, .states = states, .taps = taps, .paths = paths, .carries = &carry, .fixed = fixed};

    if (has_scalars) {
        states[made.n_states++] = (LoopState){.outer_in = VECTOR, .outer_out = sample_computed(program, DTYPE_FLOAT64, 1, status),
                                              .inner_out = B_TAP, .first_tap = 0, .n_taps = 2, .past = 2};
        paths[made.n_paths++] = (LoopPath){one_in(seed, 2) ? STEPS : SMALL, sample_computed(program, DTYPE_FLOAT64, 1, status), B_TAP2};
    } else {
        sequences[made.n_sequences++] = (LoopSequence){VECTOR, B_TAP};
        sequences[made.n_sequences++] = (LoopSequence){VECTOR, B_TAP2};
        made.n_taps = 1;
        taps[0] = taps[2];
    }
    if (has_arrays) {
        states[made.n_states++] = (LoopState){.outer_in = MATRIX, .outer_out = sample_computed(program, DTYPE_FLOAT64, 2, status),
                                              .inner_out = B_STATE, .first_tap = made.n_taps - 1, .n_taps = 1, .past = 1};
    } else {
        sequences[made.n_sequences++] = (LoopSequence){MATRIX, B_STATE};
        made.n_taps = 2;
    }
    paths[made.n_paths++] = (LoopPath){STEPS, sample_computed(program, DTYPE_FLOAT64, 2, status), B_ROW};
    carry.outer_out = sample_value(program, VALUE_STREAM, ORIGIN_COMPUTED, DTYPE_BOOL, 0, status);
    (void)program_add_loop(program, &made, status);
    return &program->loops[0];
}

static void add_loop(const Garden *garden, Status *status)
{
    Garden inner = *garden;
    Loop *loop;

    inner.mood = (Mood)next_number(garden->seed, N_MOODS);
    loop = new_loop(garden->whole, inner.mood, garden->seed, status);
    (void)sample_instr(garden->whole, (SampleInstr){.opcode = I_LOOP, .n_aux = 1, .aux = {0}}, status);
    inner.program = loop->body;
    inner.carried = &loop->carries[0].inner_out;
    CHECK(is_accepted(&inner));
    grow(&inner, between(garden, 1, 8));
    for (int32_t i = 0; i < loop->n_states; i++) {
        try_result(&inner, &loop->states[i].inner_out, false);
        try_flag(garden, &loop->states[i].inplace);
    }
    for (int32_t i = 0; i < loop->n_paths; i++) {
        try_result(&inner, &loop->paths[i].inner_out, false);
    }
    try_result(&inner, &loop->carries[0].inner_out, true);
    try_flag(garden, &loop->carries[0].inplace);
    if (one_in(garden->seed, 3)) {
        try_until(&inner, loop);
    }
}

/* ---- programs ---- */

/* Outputs are computed values, where the checker lets them be. */
static void add_outputs(const Garden *garden, Status *status)
{
    int32_t outputs[6], n_outputs = 0;

    for (int tries = 0; tries < 20 && n_outputs < 6; tries++) {
        outputs[n_outputs] = pick(garden, ANY, 0, 4);
        if (value_of(garden, outputs[n_outputs])->origin == ORIGIN_COMPUTED || one_in(garden->seed, 8)) {
            (void)program_set_outputs(garden->whole, n_outputs + 1, outputs, status);
            n_outputs += is_accepted(garden) ? 1 : 0;
        }
    }
    (void)program_set_outputs(garden->whole, n_outputs, outputs, status);
}

Program *garden_grow(uint64_t *seed, bool may_be_empty, bool (*trial)(const Program *program))
{
    Status status;
    Program *program = program_new(&status);
    Garden garden = {.whole = program, .program = program, .seed = seed, .may_be_empty = may_be_empty, .trial = trial};
    int32_t numbers[N_INPUTS];

    for (int32_t i = 0; i < N_INPUTS; i++) {
        numbers[i] = sample_value(program, garden_inputs[i].value_class, ORIGIN_INPUT, garden_inputs[i].dtype, garden_inputs[i].ndim, &status);
    }
    add_constants(program, &status);
    (void)program_set_inputs(program, N_INPUTS, numbers, &status);
    if (!one_in(seed, 3)) {
        add_loop(&garden, &status);
    }
    grow(&garden, between(&garden, 2, 9));
    add_outputs(&garden, &status);
    CHECK(is_accepted(&garden));
    return program;
}
