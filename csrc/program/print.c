/* The listing of a program: one line an instruction, loops in place and indented, the same text for the same program.
 *
 *     %5:f64[] {0} = map add.f64 %3, row1[t-1], #2
 *
 * Values are called by their number and where they come from: %3 computed, #2 constant, $0 set before the first step,
 * row1[t-1] a row of a loop's buffer. After a colon stand the type (f64, i32, bool, stream, object) and, in brackets, one
 * comma less than the rank; braces hold the storage slot, `view` stands for none.
 * Relies on: base, ops, random (names of distributions). Relied on by: bind (Thunk.listing), tests. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ops/ops.h"
#include "program/program.h"
#include "random/stream.h"

#ifdef __GNUC__
#define PRINTF_LIKE __attribute__((format(printf, 2, 3)))
#else
#define PRINTF_LIKE
#endif

/* Text that grows; after a failure nothing more is added. */
typedef struct Text {
    char *chars;
    size_t n, room;
    bool has_failed;
} Text;

/* A program while it is listed: `around` says which rows its values are. */
typedef struct Listing {
    Text *text;
    const Program *program;
    const Loop *around;
    int depth;
} Listing;

static void add_chars(Text *text, const char *chars, size_t n)
{
    if (text->has_failed) {
        return;
    }
    if (n >= text->room - text->n) {
        size_t room = 2 * (text->room + n);
        char *grown = mem_resize(text->chars, room, 1);

        if (grown == NULL) {
            text->has_failed = true;
            return;
        }
        text->chars = grown;
        text->room = room;
    }
    memcpy(text->chars + text->n, chars, n);
    text->n += n;
    text->chars[text->n] = '\0';
}

/* Adds a formatted piece of less than 160 characters; longer ones are cut. */
PRINTF_LIKE static void add(Text *text, const char *format, ...)
{
    char piece[160];
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    if (n > 0) {
        add_chars(text, piece, (size_t)n < sizeof piece ? (size_t)n : sizeof piece - 1);
    }
}

static void indent(const Listing *listing)
{
    for (int i = 0; i < listing->depth; i++) {
        add(listing->text, "    ");
    }
}

static const char *short_dtype(uint8_t dtype)
{
    static const char *const names[N_DTYPES] = {
#define DTYPE(NAME, text, c_type, bytes, kind) text,
#include "base/dtypes.def"
#undef DTYPE
    };
    return dtype < N_DTYPES ? names[dtype] : "?";
}

/* f64 for float64, c128 for complex128, bool for bool. */
static void add_dtype(Text *text, uint8_t dtype)
{
    const char *name = short_dtype(dtype);
    size_t letters = strcspn(name, "0123456789");

    if (name[letters] == '\0') {
        add(text, "%s", name);
    } else {
        add(text, "%c%s", name[0], name + letters);
    }
}

static void add_type(Text *text, const Value *value)
{
    switch (value->value_class) {
    case VALUE_SCALAR:
    case VALUE_ARRAY:
        add_dtype(text, value->dtype);
        break;
    default:
        add(text, value->value_class == VALUE_STREAM ? "stream" : "object");
        break;
    }
    if (value->value_class == VALUE_ARRAY) {
        add(text, "[%.*s]", value->ndim - 1, ",,,,,,,,,,,,,,,");
    }
}

/* row3[t-1]: a row of state 3's buffer; seq0[t]: a row of sequence 0. */
static void add_row(const Listing *listing, int32_t number)
{
    const Loop *loop = listing->around;

    for (int32_t i = 0; loop != NULL && i < loop->n_sequences; i++) {
        if (loop->sequences[i].inner == number) {
            add(listing->text, "seq%d[t]", (int)i);
            return;
        }
    }
    for (int32_t i = 0; loop != NULL && i < loop->n_states; i++) {
        for (int32_t j = 0; j < loop->states[i].n_taps; j++) {
            const LoopTap *tap = &loop->taps[loop->states[i].first_tap + j];

            if (tap->inner == number) {
                add(listing->text, "row%d[t%d]", (int)i, (int)tap->tap);
                return;
            }
        }
    }
    add(listing->text, "row?%d", (int)number);
}

static void add_operand(const Listing *listing, int32_t number)
{
    const Value *value = &listing->program->values[number];

    switch (value->origin) {
    case ORIGIN_CONSTANT:
        add(listing->text, "#%d", (int)value->index);
        break;
    case ORIGIN_INPUT:
        add(listing->text, "$%d", listing->around == NULL ? (int)value->index : (int)number);
        break;
    case ORIGIN_ROW:
        add_row(listing, number);
        break;
    default:
        add(listing->text, "%%%d", (int)number);
        break;
    }
}

static void add_typed(const Listing *listing, int32_t number)
{
    const Value *value = &listing->program->values[number];

    add_operand(listing, number);
    add(listing->text, ":");
    add_type(listing->text, value);
    if (value->storage >= 0) {
        add(listing->text, " {%d}", (int)value->storage);
    } else if (value->is_view) {
        add(listing->text, " view");
    }
}

/* ---- constants ---- */

/* Constants of few elements are written out, longer ones by their beginning. */
enum { SHOWN_ELEMENTS = 8 };

static void add_element(Text *text, DType dtype, const char *data)
{
    switch (dtype) {
#define SHOW(NAME, c_type, format, as)       \
    case DTYPE_##NAME: {                     \
        c_type element;                      \
        memcpy(&element, data, sizeof element); \
        add(text, format, (as)element);      \
        break;                               \
    }
        SHOW(BOOL, uint8_t, "%d", int)
        SHOW(INT8, int8_t, "%d", int)
        SHOW(INT16, int16_t, "%d", int)
        SHOW(INT32, int32_t, "%" PRId32, int32_t)
        SHOW(INT64, int64_t, "%" PRId64, int64_t)
        SHOW(UINT8, uint8_t, "%u", unsigned)
        SHOW(UINT16, uint16_t, "%u", unsigned)
        SHOW(UINT32, uint32_t, "%" PRIu32, uint32_t)
        SHOW(UINT64, uint64_t, "%" PRIu64, uint64_t)
        SHOW(FLOAT32, float, "%.9g", double)
        SHOW(FLOAT64, double, "%.17g", double)
#undef SHOW
    default: {
        bool is_double = dtype == DTYPE_COMPLEX128;

        add_element(text, is_double ? DTYPE_FLOAT64 : DTYPE_FLOAT32, data);
        add(text, ",");
        add_element(text, is_double ? DTYPE_FLOAT64 : DTYPE_FLOAT32, data + dtype_bytes(dtype) / 2);
        break;
    }
    }
}

static void list_constant(const Listing *listing, int32_t i)
{
    const Array *constant = &listing->program->constants[i];
    int64_t n = array_size(constant), item = dtype_bytes(constant->dtype);

    indent(listing);
    add(listing->text, "#%d = ", (int)i);
    add_dtype(listing->text, (uint8_t)constant->dtype);
    for (int axis = 0; axis < constant->ndim; axis++) {
        add(listing->text, "%s%" PRId64 "%s", axis == 0 ? "[" : ",", constant->shape[axis], axis == constant->ndim - 1 ? "]" : "");
    }
    for (int64_t j = 0; j < n && j < SHOWN_ELEMENTS; j++) {
        add(listing->text, " ");
        add_element(listing->text, constant->dtype, constant->data + j * item);
    }
    add(listing->text, n > SHOWN_ELEMENTS ? " ...\n" : "\n");
}

/* ---- instructions ---- */

/* The word behind `fn`, or NULL where the instruction has none. */
static const char *fn_name(const Instr *instr)
{
    switch (instr->opcode) {
    case I_MAP:
        return instr->fn >= 0 && instr->fn < N_SCALARS ? scalar_name(instr->fn) : "?";
    case I_REDUCE:
    case I_CUMULATE:
        return instr->fn >= 0 && instr->fn < N_REDUCES ? reduce_name(instr->fn) : "?";
    case I_SET_SLICE:
    case I_SET_TAKE:
    case I_SCATTER:
        return instr->fn == WRITE_SET ? "set" : "add";
    case I_APPLY:
        return instr->fn >= 0 && instr->fn < N_LIBRARY ? library_name(instr->fn) : "?";
    case I_DRAW:
        return instr->fn >= 0 && instr->fn < N_DISTS ? dist_name(instr->fn) : "?";
    default:
        return NULL;
    }
}

static bool shows_dtype(int opcode) { return opcode == I_MAP || opcode == I_REDUCE || opcode == I_CUMULATE || opcode == I_APPLY; }

/* Entries of a slice as Python writes them: i for an index, words for an index array and a new axis, a:b:c for what is
 * given of start, stop and step. */
static void add_entries(Text *text, const Program *program, const Instr *instr)
{
    for (int32_t i = 0; i < instr->n_aux; i++) {
        int64_t entry = instr_aux(program, instr)[i];

        add(text, i == 0 ? " [" : ", ");
        if (entry == SLICE_INDEX || entry >= SLICE_ARRAY) {
            add(text, entry == SLICE_INDEX ? "i" : entry == SLICE_ARRAY ? "array" : "new");
        } else {
            add(text, "%s:%s%s", (entry & SLICE_START) != 0 ? "a" : "", (entry & SLICE_STOP) != 0 ? "b" : "",
                (entry & SLICE_STEP) != 0 ? ":c" : "");
        }
    }
    add(text, instr->n_aux > 0 ? "]" : "");
}

static void add_aux(const Listing *listing, const Instr *instr)
{
    const int64_t *aux = instr_aux(listing->program, instr);

    if (instr->opcode == I_SLICE || instr->opcode == I_SET_SLICE || instr->opcode == I_GATHER || instr->opcode == I_SCATTER) {
        add_entries(listing->text, listing->program, instr);
        return;
    }
    for (int32_t i = 0; i < instr->n_aux; i++) {
        add(listing->text, "%s%" PRId64 "%s", i == 0 ? " (" : ", ", aux[i], i == instr->n_aux - 1 ? ")" : "");
    }
}

static void list_loop(const Listing *listing, const Loop *loop);

static void list_instr(const Listing *listing, const Instr *instr)
{
    const int32_t *dst = instr_dst(listing->program, instr), *src = instr_src(listing->program, instr);

    indent(listing);
    for (int32_t i = 0; i < instr->n_dst; i++) {
        add(listing->text, i == 0 ? "" : ", ");
        add_typed(listing, dst[i]);
    }
    add(listing->text, "%s%s", instr->n_dst > 0 ? " = " : "", opcode_name(instr->opcode));
    if (fn_name(instr) != NULL) {
        add(listing->text, " %s", fn_name(instr));
    }
    if (shows_dtype(instr->opcode)) {
        add(listing->text, ".");
        add_dtype(listing->text, instr->dtype);
    }
    add_aux(listing, instr);
    for (int32_t i = 0; i < instr->n_src; i++) {
        add(listing->text, i == 0 ? " " : ", ");
        add_operand(listing, src[i]);
    }
    add(listing->text, "%s%s\n", (instr->flags & INSTR_INPLACE) != 0 ? "  ; in place" : "",
        (instr->flags & INSTR_INVARIANT) != 0 ? "  ; invariant" : "");
    if (instr->opcode == I_LOOP) {
        list_loop(listing, &listing->program->loops[instr_aux(listing->program, instr)[0]]);
    }
}

/* ---- loops ---- */

static void list_loop_inputs(const Listing *outer, const Listing *inner, const Loop *loop)
{
    for (int32_t i = 0; i < loop->n_sequences; i++) {
        indent(outer);
        add(outer->text, "  seq%d: ", (int)i);
        add_typed(outer, loop->sequences[i].outer);
        add(outer->text, "\n");
    }
    for (int32_t i = 0; i < loop->n_fixed; i++) {
        indent(outer);
        add(outer->text, "  ");
        add_typed(inner, loop->fixed[i].inner);
        add(outer->text, " is ");
        add_operand(outer, loop->fixed[i].outer);
        add(outer->text, "\n");
    }
}

static void list_loop_results(const Listing *outer, const Listing *inner, const Loop *loop)
{
    for (int32_t i = 0; i < loop->n_states; i++) {
        const LoopState *state = &loop->states[i];

        indent(outer);
        add(outer->text, "  row%d: ", (int)i);
        add_typed(outer, state->outer_out);
        add(outer->text, " from ");
        add_operand(outer, state->outer_in);
        add(outer->text, ", past %d, next ", (int)state->past);
        add_operand(inner, state->inner_out);
        add(outer->text, state->inplace ? "  ; in place\n" : "\n");
    }
    for (int32_t i = 0; i < loop->n_paths; i++) {
        indent(outer);
        add(outer->text, "  path: ");
        add_typed(outer, loop->paths[i].outer_out);
        add(outer->text, ", rows ");
        add_operand(outer, loop->paths[i].outer_rows);
        add(outer->text, ", next ");
        add_operand(inner, loop->paths[i].inner_out);
        add(outer->text, "\n");
    }
    for (int32_t i = 0; i < loop->n_carries; i++) {
        const LoopCarry *carry = &loop->carries[i];

        indent(outer);
        add(outer->text, "  carry: ");
        add_typed(outer, carry->outer_out);
        add(outer->text, " from ");
        add_operand(outer, carry->outer_in);
        add(outer->text, " as ");
        add_operand(inner, carry->inner_in);
        add(outer->text, ", next ");
        add_operand(inner, carry->inner_out);
        add(outer->text, carry->inplace ? "  ; in place\n" : "\n");
    }
}

static void list_program(const Listing *listing);

static void list_loop(const Listing *listing, const Loop *loop)
{
    Listing inner = {.text = listing->text, .program = loop->body, .around = loop, .depth = listing->depth + 1};

    indent(listing);
    add(listing->text, "  steps: ");
    add_operand(listing, loop->n_steps);
    if (loop->until >= 0) {
        add(listing->text, ", until ");
        add_operand(&inner, loop->until);
    }
    add(listing->text, "\n");
    list_loop_inputs(listing, &inner, loop);
    list_loop_results(listing, &inner, loop);
    list_program(&inner);
}

static void list_values(const Listing *listing, const char *title, int32_t n, const int32_t *values)
{
    if (n == 0) {
        return;
    }
    indent(listing);
    add(listing->text, "%s", title);
    for (int32_t i = 0; i < n; i++) {
        add(listing->text, i == 0 ? " " : ", ");
        add_typed(listing, values[i]);
    }
    add(listing->text, "\n");
}

static void list_program(const Listing *listing)
{
    const Program *program = listing->program;

    list_values(listing, "inputs", program->n_inputs, program->inputs);
    for (int32_t i = 0; i < program->n_constants; i++) {
        list_constant(listing, i);
    }
    for (int32_t i = 0; i < program->n_instrs; i++) {
        list_instr(listing, &program->instrs[i]);
    }
    list_values(listing, "outputs", program->n_outputs, program->outputs);
}

char *program_listing(const Program *program)
{
    Text text = {.room = 256};
    Listing listing = {.text = &text, .program = program};

    text.chars = mem_alloc(text.room);
    if (text.chars == NULL) {
        return NULL;
    }
    text.chars[0] = '\0';
    list_program(&listing);
    if (text.has_failed) {
        mem_free(text.chars);
        return NULL;
    }
    return text.chars;
}
