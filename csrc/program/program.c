/* Building a program: lists that grow, what they own, and how they go.
 *
 * Relies on: base. Relied on by: vm, lower, bind. The storage plan is in plan.c, the checker in check.c, the listing in
 * print.c. */
#include "program/program.h"

#include <string.h>

#include "base/mem.h"

static const char *const opcode_names[N_OPCODES] = {
#define OPCODE(NAME, text, n_dst, n_src, aux, effect) text,
#include "program/opcodes.def"
#undef OPCODE
};

const char *opcode_name(int opcode) { return opcode_names[opcode]; }

Program *program_new(Status *status)
{
    Program *program = mem_calloc(1, sizeof *program);

    if (program == NULL) {
        status_fail(status, STATUS_NO_MEMORY);
    }
    return program;
}

void loop_clear_lists(Loop *loop)
{
    mem_free(loop->sequences);
    mem_free(loop->states);
    mem_free(loop->taps);
    mem_free(loop->paths);
    mem_free(loop->carries);
    mem_free(loop->fixed);
}

void program_free(Program *program)
{
    if (program == NULL) {
        return;
    }
    for (int32_t i = 0; i < program->n_loops; i++) {
        program_free(program->loops[i].body);
        loop_clear_lists(&program->loops[i]);
    }
    for (int32_t i = 0; i < program->n_constants; i++) {
        buffer_unref(program->constants[i].buffer);
    }
    for (int32_t i = 0; i < program->n_texts; i++) {
        mem_free(program->texts[i]);
    }
    mem_free(program->values);
    mem_free(program->instrs);
    mem_free(program->operands);
    mem_free(program->aux);
    mem_free(program->constants);
    mem_free(program->inputs);
    mem_free(program->outputs);
    mem_free(program->loops);
    mem_free(program->texts);
    mem_free(program);
}

/* Makes room for one more item in a list of n. A list has room for its length rounded up to a power of two (4 at
 * least), so it needs no field for its room: it grows when n is such a power. */
static int make_room(void **list, int32_t n, size_t item_bytes, Status *status)
{
    void *grown;

    if (n != 0 && (n < 4 || (n & (n - 1)) != 0)) {
        return 0;
    }
    if (n > INT32_MAX / 2) {
        return status_fail_text(status, STATUS_BAD_PROGRAM, "the program is too long");
    }
    grown = mem_resize(*list, n == 0 ? 4 : 2 * (size_t)n, item_bytes);
    if (grown == NULL) {
        return status_fail(status, STATUS_NO_MEMORY);
    }
    *list = grown;
    return 0;
}

#define MAKE_ROOM(list, n, status) make_room((void **)&(list), (n), sizeof *(list), (status))

int32_t program_add_value(Program *program, Value value, Status *status)
{
    if (MAKE_ROOM(program->values, program->n_values, status) < 0) {
        return -1;
    }
    program->values[program->n_values] = value;
    return program->n_values++;
}

int32_t program_add_constant(Program *program, const Array *array, Status *status)
{
    Value value = {0};
    int32_t number;

    if (MAKE_ROOM(program->constants, program->n_constants, status) < 0) {
        return -1;
    }
    value.value_class = array->ndim == 0 ? VALUE_SCALAR : VALUE_ARRAY;
    value.origin = ORIGIN_CONSTANT;
    value.dtype = (uint8_t)array->dtype;
    value.ndim = (uint8_t)array->ndim;
    value.index = program->n_constants;
    value.storage = -1;
    number = program_add_value(program, value, status);
    if (number < 0) {
        return -1;
    }
    program->constants[program->n_constants] = *array;
    (void)buffer_ref(array->buffer);
    program->n_constants++;
    return number;
}

static int append_operands(Program *program, int32_t n, const int32_t *values, Status *status)
{
    for (int32_t i = 0; i < n; i++) {
        if (MAKE_ROOM(program->operands, program->n_operands, status) < 0) {
            return -1;
        }
        program->operands[program->n_operands++] = values[i];
    }
    return 0;
}

static int append_aux(Program *program, int32_t n, const int64_t *aux, Status *status)
{
    for (int32_t i = 0; i < n; i++) {
        if (MAKE_ROOM(program->aux, program->n_aux, status) < 0) {
            return -1;
        }
        program->aux[program->n_aux++] = aux[i];
    }
    return 0;
}

int32_t program_add_instr(Program *program, Instr instr, const int32_t *dst, const int32_t *src, const int64_t *aux, Status *status)
{
    int32_t n_operands = program->n_operands, n_aux = program->n_aux;

    instr.operands = n_operands;
    instr.aux = n_aux;
    if (MAKE_ROOM(program->instrs, program->n_instrs, status) < 0 || append_operands(program, instr.n_dst, dst, status) < 0
        || append_operands(program, instr.n_src, src, status) < 0 || append_aux(program, instr.n_aux, aux, status) < 0) {
        program->n_operands = n_operands;
        program->n_aux = n_aux;
        return -1;
    }
    program->instrs[program->n_instrs] = instr;
    return program->n_instrs++;
}

/* Owned: a copy of n items (one at least is allocated), or NULL. */
static void *copy_list(const void *items, int32_t n, size_t item_bytes)
{
    void *copy = mem_calloc(n > 0 ? (size_t)n : 1, item_bytes);

    if (copy != NULL && n > 0) {
        memcpy(copy, items, (size_t)n * item_bytes);
    }
    return copy;
}

#define COPY_LIST(list, n) copy_list((list), (n), sizeof *(list))

int32_t program_add_loop(Program *program, const Loop *loop, Status *status)
{
    Loop copy = *loop;

    if (MAKE_ROOM(program->loops, program->n_loops, status) < 0) {
        return -1;
    }
    copy.sequences = COPY_LIST(loop->sequences, loop->n_sequences);
    copy.states = COPY_LIST(loop->states, loop->n_states);
    copy.taps = COPY_LIST(loop->taps, loop->n_taps);
    copy.paths = COPY_LIST(loop->paths, loop->n_paths);
    copy.carries = COPY_LIST(loop->carries, loop->n_carries);
    copy.fixed = COPY_LIST(loop->fixed, loop->n_fixed);
    if (copy.sequences == NULL || copy.states == NULL || copy.taps == NULL || copy.paths == NULL || copy.carries == NULL
        || copy.fixed == NULL) {
        loop_clear_lists(&copy); /* the body stays the caller's */
        status_fail(status, STATUS_NO_MEMORY);
        return -1;
    }
    program->loops[program->n_loops] = copy;
    return program->n_loops++;
}

int32_t program_add_text(Program *program, const char *text, Status *status)
{
    char *copy;

    if (MAKE_ROOM(program->texts, program->n_texts, status) < 0) {
        return -1;
    }
    copy = mem_alloc(strlen(text) + 1);
    if (copy == NULL) {
        status_fail(status, STATUS_NO_MEMORY);
        return -1;
    }
    memcpy(copy, text, strlen(text) + 1);
    program->texts[program->n_texts] = copy;
    return program->n_texts++;
}

static int set_list(int32_t **list, int32_t *n_list, int32_t n, const int32_t *values, Status *status)
{
    int32_t *copy = COPY_LIST(values, n);

    if (copy == NULL) {
        return status_fail(status, STATUS_NO_MEMORY);
    }
    mem_free(*list);
    *list = copy;
    *n_list = n;
    return 0;
}

int program_set_inputs(Program *program, int32_t n, const int32_t *values, Status *status)
{
    if (set_list(&program->inputs, &program->n_inputs, n, values, status) < 0) {
        return -1;
    }
    for (int32_t i = 0; i < n; i++) {
        program->values[values[i]].index = i;
    }
    return 0;
}

int program_set_outputs(Program *program, int32_t n, const int32_t *values, Status *status)
{
    return set_list(&program->outputs, &program->n_outputs, n, values, status);
}

const int32_t *instr_dst(const Program *program, const Instr *instr) { return program->operands + instr->operands; }

const int32_t *instr_src(const Program *program, const Instr *instr)
{
    return program->operands + instr->operands + instr->n_dst;
}

const int64_t *instr_aux(const Program *program, const Instr *instr) { return program->aux + instr->aux; }

AliasRule instr_alias(const Instr *instr)
{
    switch (instr->opcode) {
    case I_TRANSPOSE:
    case I_SPREAD:
    case I_SLICE:
    case I_ALIAS:
    case I_CHECK_SHAPE:
    case I_ASSERT:
    case I_CHECK_STEPS:
    case I_CHECK_ROWS:
        return ALIAS_ALWAYS;
    case I_RESHAPE:
        return ALIAS_MAYBE;
    case I_SET_SLICE:
    case I_SET_TAKE:
    case I_SCATTER:
    case I_DRAW:
        return (instr->flags & INSTR_INPLACE) != 0 ? ALIAS_DESTROY : ALIAS_NEVER;
    default:
        return ALIAS_NEVER;
    }
}
