/* See maker.h. */
#include "maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void must(bool holds, const Status *status)
{
    if (!holds) {
        fprintf(stderr, "a test's program cannot be built: %s %s\n", status_name(status->code), status->text);
        abort();
    }
}

int32_t make_value(Program *program, ValueClass value_class, ValueOrigin origin, DType dtype, int ndim)
{
    Value value = {.value_class = (uint8_t)value_class, .origin = (uint8_t)origin, .dtype = (uint8_t)dtype, .ndim = (uint8_t)ndim, .index = -1, .storage = -1};
    Status status;
    int32_t number;

    status_clear(&status);
    number = program_add_value(program, value, &status);
    must(number >= 0, &status);
    return number;
}

static int32_t make_numeric(Program *program, ValueOrigin origin, DType dtype, int ndim)
{
    return make_value(program, ndim == 0 ? VALUE_SCALAR : VALUE_ARRAY, origin, dtype, ndim);
}

int32_t make_scalar(Program *program, ValueOrigin origin, DType dtype) { return make_numeric(program, origin, dtype, 0); }

int32_t make_array(Program *program, ValueOrigin origin, DType dtype, int ndim) { return make_numeric(program, origin, dtype, ndim); }

int32_t make_stream(Program *program, ValueOrigin origin) { return make_value(program, VALUE_STREAM, origin, DTYPE_BOOL, 0); }

int32_t constant_array(Program *program, DType dtype, int ndim, const int64_t *shape, const void *data)
{
    Array array = {.ndim = ndim, .dtype = dtype};
    Status status;
    int32_t number;

    status_clear(&status);
    for (int i = 0; i < ndim; i++) {
        array.shape[i] = shape[i];
    }
    array_set_contiguous_strides(&array);
    array.buffer = buffer_new((size_t)(array_size(&array) * dtype_bytes(dtype)));
    must(array.buffer != NULL, &status);
    array.data = array.buffer->data;
    memcpy(array.data, data, array.buffer->n_bytes);
    number = program_add_constant(program, &array, &status);
    must(number >= 0, &status);
    buffer_unref(array.buffer);
    return number;
}

int32_t constant_double(Program *program, double x) { return constant_array(program, DTYPE_FLOAT64, 0, NULL, &x); }

int32_t constant_int(Program *program, int64_t x) { return constant_array(program, DTYPE_INT64, 0, NULL, &x); }

int32_t constant_bool(Program *program, bool x) { return constant_array(program, DTYPE_BOOL, 0, NULL, &x); }

int32_t constant_doubles(Program *program, int64_t n, const double *x) { return constant_array(program, DTYPE_FLOAT64, 1, &n, x); }

int32_t constant_ints(Program *program, int64_t n, const int64_t *x) { return constant_array(program, DTYPE_INT64, 1, &n, x); }

static void add_instr(Program *program, Opcode opcode, int fn, DType compute, int flags, int32_t n_dst, const int32_t *dst, ValueList sources, AuxList aux)
{
    Instr made = {.opcode = (uint8_t)opcode, .flags = (uint8_t)flags, .dtype = (uint8_t)compute, .fn = fn, .n_dst = n_dst,
                  .n_src = sources.n, .n_aux = aux.n, .node = program->n_instrs};
    Status status;

    status_clear(&status);
    must(program_add_instr(program, made, dst, sources.values, aux.entries, &status) >= 0, &status);
}

int32_t make_instr(Program *program, Opcode opcode, int fn, DType compute, int flags, Value dst, ValueList sources, AuxList aux)
{
    int32_t number = make_value(program, dst.value_class, ORIGIN_COMPUTED, (DType)dst.dtype, dst.ndim);

    add_instr(program, opcode, fn, compute, flags, 1, &number, sources, aux);
    return number;
}

int32_t instr_flagged(Program *program, Opcode opcode, int fn, DType compute, int flags, DType dtype, int ndim, ValueList sources, AuxList aux)
{
    Value dst = {.value_class = ndim == 0 ? VALUE_SCALAR : VALUE_ARRAY, .dtype = (uint8_t)dtype, .ndim = (uint8_t)ndim};

    return make_instr(program, opcode, fn, compute, flags, dst, sources, aux);
}

int32_t instr(Program *program, Opcode opcode, int fn, DType compute, DType dtype, int ndim, ValueList sources, AuxList aux)
{
    return instr_flagged(program, opcode, fn, compute, 0, dtype, ndim, sources, aux);
}

int32_t map(Program *program, int scalar, DType compute, ValueList sources)
{
    int ndim = 0;

    for (int32_t i = 0; i < sources.n; i++) {
        int own = program->values[sources.values[i]].ndim;
        ndim = own > ndim ? own : ndim;
    }
    return instr(program, I_MAP, scalar, compute, scalar_result(scalar, compute), ndim, sources, NO_AUX);
}

int32_t draw(Program *program, int dist, int flags, int ndim, int32_t stream, bool has_size, ValueList params, int32_t *next_stream)
{
    DType dtype = dist_result_kind(dist) == 'd' ? DTYPE_FLOAT64 : DTYPE_INT64;
    int32_t dst[2] = {make_stream(program, ORIGIN_COMPUTED), make_numeric(program, ORIGIN_COMPUTED, dtype, ndim)}, sources[8];

    sources[0] = stream;
    memcpy(sources + 1, params.values, (size_t)params.n * sizeof(int32_t));
    add_instr(program, I_DRAW, dist, dtype, flags, 2, dst, (ValueList){params.n + 1, sources}, AUX(has_size ? 1 : 0));
    if (next_stream != NULL) {
        *next_stream = dst[0];
    }
    return dst[1];
}

void start_loop(LoopMaker *maker, Program *around, int32_t n_steps)
{
    Status status;

    memset(maker, 0, sizeof *maker);
    status_clear(&status);
    maker->around = around;
    maker->body = program_new(&status);
    must(maker->body != NULL, &status);
    maker->loop.body = maker->body;
    maker->loop.n_steps = n_steps;
    maker->loop.until = -1;
}

static int32_t row_of(LoopMaker *maker, int32_t outer)
{
    const Value *value = &maker->around->values[outer];

    return make_numeric(maker->body, ORIGIN_ROW, (DType)value->dtype, value->ndim - 1);
}

int32_t loop_sequence(LoopMaker *maker, int32_t outer)
{
    int32_t inner = row_of(maker, outer);

    maker->sequences[maker->loop.n_sequences++] = (LoopSequence){outer, inner};
    return inner;
}

int32_t loop_state(LoopMaker *maker, int32_t outer_in, int past, bool inplace, int32_t *inner)
{
    const Value value = maker->around->values[outer_in];
    int32_t outer_out = make_numeric(maker->around, ORIGIN_COMPUTED, (DType)value.dtype, value.ndim);

    maker->states[maker->loop.n_states++] = (LoopState){outer_in, outer_out, -1, maker->loop.n_taps, past, past, inplace};
    for (int i = 0; i < past; i++) {
        inner[i] = row_of(maker, outer_in);
        maker->taps[maker->loop.n_taps++] = (LoopTap){-1 - i, inner[i]};
    }
    return outer_out;
}

void loop_state_is(LoopMaker *maker, int i_state, int32_t inner_out) { maker->states[i_state].inner_out = inner_out; }

int32_t loop_path(LoopMaker *maker, int32_t outer_rows, int32_t inner_out)
{
    const Value *value = &maker->body->values[inner_out];
    int32_t outer_out = make_numeric(maker->around, ORIGIN_COMPUTED, (DType)value->dtype, value->ndim + 1);

    maker->paths[maker->loop.n_paths++] = (LoopPath){outer_rows, outer_out, inner_out};
    return outer_out;
}

int32_t loop_carry(LoopMaker *maker, int32_t outer_in, bool inplace, int32_t *inner_in)
{
    ValueClass value_class = maker->around->values[outer_in].value_class;
    int32_t outer_out = make_value(maker->around, value_class, ORIGIN_COMPUTED, DTYPE_BOOL, 0);

    *inner_in = make_value(maker->body, value_class, ORIGIN_INPUT, DTYPE_BOOL, 0);
    maker->carries[maker->loop.n_carries++] = (LoopCarry){outer_in, outer_out, *inner_in, *inner_in, inplace};
    return outer_out;
}

void loop_carry_is(LoopMaker *maker, int i_carry, int32_t inner_out) { maker->carries[i_carry].inner_out = inner_out; }

int32_t loop_fixed(LoopMaker *maker, int32_t outer)
{
    const Value *value = &maker->around->values[outer];
    int32_t inner = make_value(maker->body, value->value_class, ORIGIN_INPUT, (DType)value->dtype, value->ndim);

    maker->fixed[maker->loop.n_fixed++] = (LoopFixed){outer, inner};
    return inner;
}

void finish_loop(LoopMaker *maker)
{
    Status status;
    int32_t number;

    status_clear(&status);
    maker->loop.sequences = maker->sequences;
    maker->loop.states = maker->states;
    maker->loop.taps = maker->taps;
    maker->loop.paths = maker->paths;
    maker->loop.carries = maker->carries;
    maker->loop.fixed = maker->fixed;
    number = program_add_loop(maker->around, &maker->loop, &status);
    must(number >= 0, &status);
    add_instr(maker->around, I_LOOP, 0, DTYPE_BOOL, 0, 0, NULL, NO_SOURCES, AUX(number));
}

void finish(Program *program, ValueList inputs, ValueList outputs)
{
    Status status;

    status_clear(&status);
    must(program_set_inputs(program, inputs.n, inputs.values, &status) == 0, &status);
    must(program_set_outputs(program, outputs.n, outputs.values, &status) == 0, &status);
    must(program_plan_storage(program, &status) == 0, &status);
    must(program_check(program, &status) == 0, &status);
}

Frame *frame_of(const Program *program)
{
    Status status;
    Frame *frame;

    status_clear(&status);
    frame = frame_new(program, &status);
    must(frame != NULL, &status);
    return frame;
}

void set_double(Frame *frame, int32_t value, double x) { memcpy(frame_scalar(frame, value), &x, sizeof x); }

void set_int(Frame *frame, int32_t value, int64_t x) { memcpy(frame_scalar(frame, value), &x, sizeof x); }

static void release_nothing(void *foreign) { (void)foreign; }

void set_array(Frame *frame, int32_t value, int ndim, const int64_t *shape, void *data)
{
    Array *array = frame_array(frame, value);
    Status status;

    status_clear(&status);
    array->ndim = ndim;
    for (int i = 0; i < ndim; i++) {
        array->shape[i] = shape[i];
    }
    array_set_contiguous_strides(array);
    array->data = data;
    array->buffer = buffer_wrap(data, (size_t)(array_size(array) * dtype_bytes(array->dtype)), release_nothing, NULL);
    must(array->buffer != NULL, &status);
}

double get_double(Frame *frame, int32_t value)
{
    double x;

    memcpy(&x, frame_scalar(frame, value), sizeof x);
    return x;
}

int64_t get_int(Frame *frame, int32_t value)
{
    int64_t x;

    memcpy(&x, frame_scalar(frame, value), sizeof x);
    return x;
}

static bool is_items(Frame *frame, int32_t value, DType dtype, int ndim, const int64_t *shape, const char *items)
{
    const Array *array = frame_array(frame, value);
    int64_t index[ARRAY_MAX_NDIM] = {0}, item = dtype_bytes(dtype), n = 1;

    if (array->ndim != ndim || array->dtype != dtype) {
        return false;
    }
    for (int i = 0; i < ndim; i++) {
        if (array->shape[i] != shape[i]) {
            return false;
        }
        n *= shape[i];
    }
    for (int64_t i = 0; i < n; i++, items += item) {
        const char *at = array->data;
        for (int axis = 0; axis < ndim; axis++) {
            at += index[axis] * array->strides[axis];
        }
        if (memcmp(at, items, (size_t)item) != 0) {
            return false;
        }
        for (int axis = ndim - 1; axis >= 0 && ++index[axis] == shape[axis]; axis--) {
            index[axis] = 0;
        }
    }
    return true;
}

bool is_doubles(Frame *frame, int32_t value, int ndim, const int64_t *shape, const double *x)
{
    return is_items(frame, value, DTYPE_FLOAT64, ndim, shape, (const char *)x);
}

bool is_ints(Frame *frame, int32_t value, int ndim, const int64_t *shape, const int64_t *x)
{
    return is_items(frame, value, DTYPE_INT64, ndim, shape, (const char *)x);
}

static uint64_t next_count(void *state) { return (uint64_t)++*(int64_t *)state; }

static uint32_t next_short_count(void *state) { return (uint32_t)next_count(state); }

static double next_double_count(void *state) { return (double)next_count(state); }

static double count_normal(BitGen *bitgen, double loc, double scale) { return loc + scale * bitgen->next_double(bitgen->state); }

static int64_t count_poisson(BitGen *bitgen, double rate) { return (int64_t)(rate + bitgen->next_double(bitgen->state)); }

void counting_start(Counting *counting, int64_t count)
{
    memset(counting, 0, sizeof *counting);
    counting->count = count;
    counting->bitgen = (BitGen){&counting->count, next_count, next_short_count, next_double_count, next_count};
    counting->layout.n_bytes = sizeof counting->count;
    counting->stream.bitgen = &counting->bitgen;
    counting->stream.layout = &counting->layout;
}

VmHost counting_host(void)
{
    VmHost host;
    void *functions[2];
    double (*normal)(BitGen *, double, double) = count_normal;
    int64_t (*poisson)(BitGen *, double) = count_poisson;

    memset(&host, 0, sizeof host);
    memcpy(&functions[0], &normal, sizeof normal);
    memcpy(&functions[1], &poisson, sizeof poisson);
    host.dists.functions[DIST_NORMAL][0] = functions[0];
    host.dists.functions[DIST_UNIFORM][0] = functions[0];
    host.dists.functions[DIST_POISSON][0] = functions[1];
    return host;
}
