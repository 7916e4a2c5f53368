/* Frames: the registers, descriptors and storage that one run of a program needs, made once and used again.
 *
 * Who holds memory: a frame holds the buffers of its storage slots, and those of the inputs that the caller set; every
 * other descriptor borrows. So a slot's buffer with a second holder is one that the host took as a result, and is
 * replaced when it is needed again. Relies on: vm.h. Relied on by: the instructions, bind. */
#include <string.h>

#include "base/mem.h"
#include "vm/frame.h"

static void *new_items(size_t n, size_t item_bytes, Status *status)
{
    void *items = mem_calloc(n == 0 ? 1 : n, item_bytes);

    if (items == NULL) {
        status_fail(status, STATUS_NO_MEMORY);
    }
    return items;
}

static int new_lists(Frame *frame, int32_t n_arrays, Status *status)
{
    const Program *program = frame->program;
    size_t n_values = (size_t)program->n_values, n_instrs = (size_t)program->n_instrs;

    if ((frame->registers = new_items(n_values, sizeof(Register), status)) == NULL
        || (frame->addr = new_items(n_values, sizeof(char *), status)) == NULL
        || (frame->arrays = new_items(n_values, sizeof(Array *), status)) == NULL
        || (frame->array_memory = new_items((size_t)n_arrays, sizeof(Array), status)) == NULL
        || (frame->pointers = new_items(n_values, sizeof(void *), status)) == NULL
        || (frame->scratch = new_items(n_values, sizeof(Stream *), status)) == NULL
        || (frame->factors = new_items(n_values, sizeof(Factor *), status)) == NULL
        || (frame->storage = new_items((size_t)program->n_storage, sizeof(Buffer *), status)) == NULL
        || (frame->loops = new_items((size_t)program->n_loops, sizeof(LoopFrame *), status)) == NULL
        || (frame->steps = new_items(2 * n_instrs + 3, sizeof(Step), status)) == NULL) {
        return -1;
    }
    return 0;
}

static int32_t count_arrays(const Program *program)
{
    int32_t n = 0;

    for (int32_t i = 0; i < program->n_values; i++) {
        n += program->values[i].value_class == VALUE_ARRAY;
    }
    return n;
}

/* Where each value is at first: a scalar in its register or its constant, an array in its descriptor. */
static void place_values(Frame *frame)
{
    const Program *program = frame->program;
    Array *next = frame->array_memory;

    for (int32_t i = 0; i < program->n_values; i++) {
        const Value *value = &program->values[i];
        const Array *constant = value->origin == ORIGIN_CONSTANT ? &program->constants[value->index] : NULL;

        if (value->value_class == VALUE_SCALAR) {
            frame->addr[i] = constant != NULL ? constant->data : frame->registers[i].bytes;
        } else if (value->value_class == VALUE_ARRAY) {
            frame->arrays[i] = next++;
            frame->arrays[i]->dtype = (DType)value->dtype;
            frame->arrays[i]->ndim = value->ndim;
            if (constant != NULL) {
                *frame->arrays[i] = *constant;
            }
        }
    }
}

static bool is_all_scalar(const Program *program, const Instr *instr, const Step *step)
{
    for (int32_t i = 0; i < instr->n_src; i++) {
        if (program->values[step->src[i]].value_class != VALUE_SCALAR) {
            return false;
        }
    }
    return program->values[step->dst[instr->n_dst - 1]].value_class == VALUE_SCALAR;
}

static StepCode map_code(const Instr *instr)
{
    if (scalar_can_raise(instr->fn, (DType)instr->dtype)) {
        return STEP_DIVIDE;
    }
    if (scalar_n_in(instr->fn) < 0 && instr->n_src != 2) {
        return STEP_FOLD;
    }
    return instr->n_src == 1 ? STEP_MAP1 : instr->n_src == 2 ? STEP_MAP2 : STEP_MAP3;
}

/* The rows of dists.def whose step and checks are those of a quick draw (quick.h). */
static StepCode quick_code(int dist)
{
    static const char *const rows[N_DISTS][2] = {
#define DIST(NAME, name, source, kinds, ndim_supp, dtype, params, step, symbol, symbol2, checker, checks, ...) {#step, checks},
#include "random/dists.def"
#undef DIST
    };
    static const struct { const char *step, *checks; StepCode code; } quick[] = {
        {"D_D", "+", STEP_QUICK_D_D},           {"D_DD", ".+", STEP_QUICK_D_DD},         {"L_D", "r", STEP_QUICK_L_D},
        {"L_D", "q", STEP_QUICK_L_D},           {"UNIFORM", "..", STEP_QUICK_UNIFORM},   {"BINOMIAL", "+p", STEP_QUICK_BINOMIAL},
        {"BERNOULLI", "p", STEP_QUICK_BERNOULLI},
    };

    for (size_t i = 0; i < sizeof quick / sizeof *quick; i++) {
        if (strcmp(quick[i].step, rows[dist][0]) == 0 && strcmp(quick[i].checks, rows[dist][1]) == 0) {
            return quick[i].code;
        }
    }
    return STEP_DRAW;
}

static bool is_array_of(const Program *program, int32_t value, int ndim)
{
    return program->values[value].value_class == VALUE_ARRAY && program->values[value].ndim == ndim;
}

static bool is_category(const Program *program, const Instr *instr, const Step *step)
{
    return instr->fn == DIST_CATEGORICAL && (instr->flags & INSTR_INPLACE) != 0 && instr->n_src == 2
           && is_array_of(program, step->src[1], 1) && program->values[step->src[1]].dtype == DTYPE_FLOAT64
           && program->values[step->dst[1]].value_class == VALUE_SCALAR;
}

/* What one index along the first axis chooses of a vector or a matrix. */
static StepCode slice_code(const Program *program, const Instr *instr, const Step *step)
{
    if (instr->n_aux != 1 || instr_aux(program, instr)[0] != SLICE_INDEX || program->values[step->src[1]].dtype != DTYPE_INT64) {
        return STEP_OTHER;
    }
    if (is_array_of(program, step->src[0], 1) && dtype_bytes((DType)program->values[step->dst[0]].dtype) == 8
        && program->values[step->dst[0]].value_class == VALUE_SCALAR) {
        return STEP_ELEMENT;
    }
    return is_array_of(program, step->src[0], 2) && is_array_of(program, step->dst[0], 1) ? STEP_ROW : STEP_OTHER;
}

/* One draw from scalar parameters is a fast form. */
static StepCode draw_code(const Frame *frame, const Instr *instr, Step *step)
{
    const Program *program = frame->program;

    if (is_category(program, instr, step)) {
        return STEP_CATEGORY;
    }
    for (int32_t i = 1; i < instr->n_src; i++) {
        if (program->values[step->src[i]].value_class != VALUE_SCALAR) {
            return STEP_OTHER;
        }
        step->cells[i - 1] = &frame->addr[step->src[i]];
    }
    if (program->values[step->dst[1]].value_class != VALUE_SCALAR || !dist_has_batches(instr->fn)) {
        return STEP_OTHER;
    }
    step->cells[instr->n_src - 1] = &frame->addr[step->dst[1]];
    step->quick = (instr->flags & INSTR_INPLACE) != 0 ? quick_code(instr->fn) : STEP_DRAW;
    return STEP_DRAW;
}

/* The cells of an elementwise instruction on scalars that takes at most three. */
static StepCode map_step(const Frame *frame, const Instr *instr, Step *step, StepCode code)
{
    if (!is_all_scalar(frame->program, instr, step)) {
        return STEP_OTHER;
    }
    for (int32_t i = 0; i <= instr->n_src && i < STEP_MAX_CELLS; i++) {
        step->cells[i] = &frame->addr[i < instr->n_src ? step->src[i] : step->dst[0]];
    }
    return code;
}

static int resolve_step(Frame *frame, const Instr *instr, Step *step, Status *status)
{
    const Program *program = frame->program;

    step->code = step->quick = STEP_OTHER;
    step->instr = instr;
    step->dst = instr_dst(program, instr);
    step->src = instr_src(program, instr);
    switch (instr->opcode) {
    case I_MAP:
        step->kernel = math_kernel(instr->fn, instr->dtype);
        if (step->kernel == NULL) {
            return status_fail_text(status, STATUS_BAD_PROGRAM, "no kernel for an elementwise operation and its type");
        }
        step->code = map_step(frame, instr, step, map_code(instr));
        return 0;
    case I_CAST:
        step->kernel = math_cast(program->values[step->src[0]].dtype, program->values[step->dst[0]].dtype);
        step->code = map_step(frame, instr, step, STEP_MAP1);
        return 0;
    case I_DRAW:
        if ((instr->flags & INSTR_INPLACE) == 0 && (frame->scratch[step->dst[0]] = stream_new()) == NULL) {
            return status_fail(status, STATUS_NO_MEMORY);
        }
        step->code = draw_code(frame, instr, step);
        return 0;
    case I_SLICE:
        step->code = slice_code(program, instr, step);
        return 0;
    default:
        return 0;
    }
}

/* All steps in order, then those of each kind. */
static int resolve_steps(Frame *frame, Status *status)
{
    const Program *program = frame->program;
    Step *next = frame->steps + program->n_instrs;
    const Step end = {.code = STEP_END};

    for (int32_t i = 0; i < program->n_instrs; i++) {
        if (resolve_step(frame, &program->instrs[i], &frame->steps[i], status) < 0) {
            return -1;
        }
    }
    *next++ = end;
    for (int pass = 0; pass < 2; pass++) {
        Step *first = next;
        for (int32_t i = 0; i < program->n_instrs; i++) {
            bool is_invariant = (program->instrs[i].flags & INSTR_INVARIANT) != 0;
            if (is_invariant == (pass == 0)) {
                *next++ = frame->steps[i];
            }
        }
        *(pass == 0 ? &frame->once : &frame->each) = first;
        *(pass == 0 ? &frame->n_once : &frame->n_each) = (int32_t)(next - first);
        *next++ = end;
    }
    return 0;
}

Frame *frame_new(const Program *program, Status *status)
{
    Frame *frame = new_items(1, sizeof *frame, status);

    if (frame == NULL) {
        return NULL;
    }
    frame->program = program;
    frame->counters = &frame->own_counters;
    if (new_lists(frame, count_arrays(program), status) < 0) {
        goto fail;
    }
    place_values(frame);
    if (resolve_steps(frame, status) < 0) {
        goto fail;
    }
    for (int32_t i = 0; i < program->n_loops; i++) {
        if (loop_frame_new(&frame->loops[i], frame, &program->loops[i], status) < 0) {
            goto fail;
        }
    }
    return frame;
fail:
    frame_free(frame, NULL);
    return NULL;
}

void frame_free(Frame *frame, const VmHost *host)
{
    size_t keep_bytes = 0;

    if (frame == NULL) {
        return;
    }
    if (frame->pointers != NULL && frame->storage != NULL && frame->loops != NULL) {
        frame_reset_storage(frame, host, &keep_bytes);
    }
    for (int32_t i = 0; frame->loops != NULL && i < frame->program->n_loops; i++) {
        loop_frame_free(frame->loops[i]);
    }
    for (int32_t i = 0; frame->scratch != NULL && i < frame->program->n_values; i++) {
        stream_free(frame->scratch[i]);
    }
    for (int32_t i = 0; frame->factors != NULL && i < frame->program->n_values; i++) {
        factor_free(frame->factors[i]);
    }
    for (int32_t i = 0; frame->storage != NULL && i < frame->program->n_storage; i++) {
        buffer_unref(frame->storage[i]); /* empty ones, which a reset keeps */
    }
    mem_free(frame->steps);
    mem_free(frame->loops);
    mem_free(frame->storage);
    mem_free(frame->targets);
    mem_free(frame->places);
    mem_free(frame->factors);
    mem_free(frame->scratch);
    mem_free(frame->pointers);
    mem_free(frame->array_memory);
    mem_free(frame->arrays);
    mem_free(frame->addr);
    mem_free(frame->registers);
    mem_free(frame);
}

/* Descriptors forget what they showed; the inputs' give up their holders. */
static void reset_arrays(Frame *frame)
{
    const Program *program = frame->program;

    for (int32_t i = 0; i < program->n_inputs; i++) {
        if (frame->arrays[program->inputs[i]] != NULL) {
            buffer_unref(frame->arrays[program->inputs[i]]->buffer);
        }
    }
    for (int32_t i = 0; i < program->n_values; i++) {
        if (frame->arrays[i] != NULL && program->values[i].origin != ORIGIN_CONSTANT) {
            frame->arrays[i]->data = NULL;
            frame->arrays[i]->buffer = NULL;
        }
    }
}

static void reset_pointers(Frame *frame, const VmHost *host)
{
    for (int32_t i = 0; i < frame->program->n_values; i++) {
        if (frame->program->values[i].value_class == VALUE_OBJECT) {
            frame_put_object(frame, i, NULL, host);
        }
        frame->pointers[i] = NULL;
        if (frame->scratch[i] != NULL) {
            frame->scratch[i]->host = NULL;
        }
        if (frame->factors[i] != NULL && factor_is_big(frame->factors[i])) {
            factor_free(frame->factors[i]);
            frame->factors[i] = NULL;
        }
    }
}

void frame_reset_storage(Frame *frame, const VmHost *host, size_t *keep_bytes)
{
    reset_arrays(frame);
    reset_pointers(frame, host);
    for (int32_t i = 0; i < frame->program->n_storage; i++) {
        buffer_keep_or_drop(&frame->storage[i], keep_bytes);
    }
    for (int32_t i = 0; i < frame->program->n_loops; i++) {
        if (frame->loops[i] != NULL) {
            loop_frame_reset(frame->loops[i], host, keep_bytes);
        }
    }
}

void frame_reset(Frame *frame, const VmHost *host, size_t keep_bytes)
{
    frame_reset_storage(frame, host, &keep_bytes);
    mem_free(frame->places);
    frame->places = NULL;
    memset(frame->counters, 0, sizeof *frame->counters);
}

char *frame_scalar(Frame *frame, int32_t value) { return frame->addr[value]; }

Array *frame_array(Frame *frame, int32_t value)
{
    if (frame->arrays[value] != NULL) {
        return frame->arrays[value];
    }
    (void)frame_operand(frame, value, &frame->scalar_view);
    return &frame->scalar_view;
}

Stream **frame_stream(Frame *frame, int32_t value) { return (Stream **)&frame->pointers[value]; }

void **frame_object(Frame *frame, int32_t value) { return &frame->pointers[value]; }

const Program *frame_program(const Frame *frame) { return frame->program; }

Counters *frame_counters(Frame *frame) { return frame->counters; }

void frame_put_object(Frame *frame, int32_t value, void *object, const VmHost *host)
{
    void *old = frame->pointers[value];

    if (object != NULL && host->hold_object != NULL) {
        object = host->hold_object(host->self, object);
    }
    frame->pointers[value] = object;
    if (old != NULL && host != NULL && host->drop_object != NULL) {
        host->drop_object(host->self, old);
    }
}

const Array *frame_operand(Frame *frame, int32_t value, Array *view)
{
    if (frame->arrays[value] != NULL) {
        return frame->arrays[value];
    }
    view->data = frame->addr[value];
    view->buffer = NULL;
    view->ndim = 0;
    view->dtype = (DType)frame->program->values[value].dtype;
    return view;
}

int frame_axis(const Frame *frame, int32_t value, int ndim, Run *run)
{
    int64_t given = frame_int64(frame, value), axis = given < 0 ? given + ndim : given;

    return axis >= 0 && axis < ndim ? (int)axis : status_fail_numbers(run->status, STATUS_AXIS, given, ndim, 0, 0);
}

/* A slot that grows for the second time grows by half at least: lengths that creep up then allocate seldom. */
Buffer *frame_slot(Frame *frame, int32_t slot, size_t n_bytes, Status *status)
{
    Buffer *old = frame->storage[slot], *buffer;
    bool is_exclusive = old != NULL && buffer_is_exclusive(old);

    if (is_exclusive && old->n_bytes >= n_bytes) {
        return old;
    }
    if (is_exclusive && n_bytes < old->n_bytes + old->n_bytes / 2) {
        n_bytes = old->n_bytes + old->n_bytes / 2;
    }
    buffer_unref(old);
    frame->storage[slot] = NULL;
    buffer = buffer_new(n_bytes);
    if (buffer == NULL) {
        status_fail(status, STATUS_NO_MEMORY);
        return NULL;
    }
    frame->counters->allocations++;
    frame->storage[slot] = buffer;
    return buffer;
}

static inline bool has_shape(const Array *array, const int64_t *shape)
{
    for (int i = 0; i < array->ndim; i++) {
        if (array->shape[i] != shape[i]) {
            return false;
        }
    }
    return true;
}

/* Whether the array can be made at its row, and is. A shape that the row does not have takes the long way. */
static bool take_row(const Frame *frame, int32_t value, const int64_t *shape)
{
    const RowTarget *target = &frame->targets[value];
    const Array *row = target->shape;
    Array *array = frame->arrays[value];

    if (target->row == NULL || !has_shape(row, shape)) {
        return false;
    }
    array->data = *target->row;
    array->buffer = row->buffer;
    array->ndim = row->ndim;
    array->dtype = row->dtype;
    for (int i = 0; i < row->ndim; i++) {
        array->shape[i] = row->shape[i];
        array->strides[i] = row->strides[i];
    }
    return true;
}

/* Whether the array is what it was made as before, in storage of its own: the usual case in a loop. */
static bool is_made(const Frame *frame, int32_t value, const int64_t *shape)
{
    const Value *row = &frame->program->values[value];
    const Array *array = frame->arrays[value];
    const Buffer *buffer = frame->storage[row->storage];

    return buffer != NULL && array->buffer == buffer && array->ndim == row->ndim && array->dtype == (DType)row->dtype && has_shape(array, shape)
        && array_is_contiguous(array) && buffer_is_exclusive(buffer) && buffer->n_bytes >= (size_t)(array_size(array) * dtype_bytes(array->dtype));
}

int frame_shape_array(Frame *frame, int32_t value, const int64_t *shape, Status *status)
{
    const Value *row = &frame->program->values[value];
    Array *array = frame->arrays[value];
    Buffer *buffer;
    size_t n_bytes;
    int taken;

    if (frame->targets != NULL) {
        if (take_row(frame, value, shape)) {
            return 0;
        }
    } else if (frame->places != NULL && (taken = frame_take_place(frame, value, shape, status)) != 0) {
        return taken < 0 ? -1 : 0;
    }
    if (is_made(frame, value, shape)) {
        array->data = array->buffer->data;
        return 0;
    }
    for (int i = 0; i < row->ndim; i++) {
        if (shape[i] < 0) {
            return status_fail(status, STATUS_NEGATIVE_SIZE);
        }
    }
    if (array_bytes(row->ndim, shape, (DType)row->dtype, &n_bytes) < 0) {
        return status_fail_shapes(status, STATUS_TOO_LARGE, row->ndim, shape, 0, shape);
    }
    buffer = frame_slot(frame, row->storage, n_bytes, status);
    if (buffer == NULL) {
        return -1;
    }
    memmove(array->shape, shape, (size_t)row->ndim * sizeof(int64_t));
    array->ndim = row->ndim;
    array->dtype = (DType)row->dtype;
    array->data = buffer->data;
    array->buffer = buffer;
    array_set_contiguous_strides(array);
    return 0;
}

Array *frame_result(Frame *frame, int32_t value, const int64_t *shape, Array *view, Run *run)
{
    if (frame->arrays[value] == NULL) {
        (void)frame_operand(frame, value, view);
        return view;
    }
    return frame_shape_array(frame, value, shape, run->status) < 0 ? NULL : frame->arrays[value];
}

void frame_show(Frame *frame, int32_t value, const Array *array)
{
    if (frame->arrays[value] == NULL) {
        memmove(frame->addr[value], array->data, (size_t)dtype_bytes(array->dtype));
    } else if (frame->arrays[value] != array) {
        *frame->arrays[value] = *array;
    }
}
