/* The program: typed three-address instructions over numbered values, with nested loops. Plain immutable data without
 * Python, made by lower (or by a test), accepted by program_check, run by vm.
 *
 * Shapes are not in a program: dtypes and ranks are (the graph's types fix them); lengths are met at run time, so that
 * one program serves every call of a function.
 * Relies on: base, ops. Relied on by: vm, lower, bind. */
#ifndef PYSCAN_PROGRAM_PROGRAM_H
#define PYSCAN_PROGRAM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/status.h"

typedef enum Opcode {
#define OPCODE(NAME, text, n_dst, n_src, aux, effect) I_##NAME,
#include "program/opcodes.def"
#undef OPCODE
    N_OPCODES
} Opcode;

/* What a value holds. */
typedef enum ValueClass {
    VALUE_SCALAR, /* rank 0: lives in a register of 16 bytes */
    VALUE_ARRAY,  /* rank 1 or more: an Array */
    VALUE_STREAM, /* a generator: a Stream pointer */
    VALUE_OBJECT  /* anything else: a pointer that only the host understands */
} ValueClass;

/* Where a value comes from: the operand kinds that a faster engine specialises on. */
typedef enum ValueOrigin {
    ORIGIN_CONSTANT, /* constants[index], for ever */
    ORIGIN_INPUT,    /* set before the first step: by the caller, or by the loop for its fixed inputs and streams */
    ORIGIN_ROW,      /* in a loop's body: a row of one of the loop's buffers, at step t + tap; moves each step */
    ORIGIN_COMPUTED  /* written by the one instruction that has it as destination */
} ValueOrigin;

typedef struct Value {
    uint8_t value_class;
    uint8_t origin;
    uint8_t dtype; /* DType, for scalars and arrays */
    uint8_t ndim;
    bool is_view;    /* computed by an instruction that aliases its first source: owns no storage */
    bool is_pinned;  /* leaves the program (or its loop), so its storage is not shared with other values */
    int32_t index;   /* of the constant or input, else -1 */
    int32_t storage; /* arrays computed and not views: which storage slot (values with disjoint lives share one); else -1 */
} Value;

enum { INSTR_INPLACE = 1, INSTR_INVARIANT = 2 };
/* Entries of a slice's aux. SLICE_RANGE is or-ed with the bits of what is given. SLICE_ARRAY and SLICE_NEW: of gather
 * and scatter only. */
enum { SLICE_INDEX = 0, SLICE_RANGE = 1, SLICE_START = 2, SLICE_STOP = 4, SLICE_STEP = 8, SLICE_ARRAY = 16, SLICE_NEW = 32 };
/* `fn` of I_SET_SLICE, I_SET_TAKE and I_SCATTER. That of I_REDUCE and I_CUMULATE (add, mul only) is a Reduce (ops.h). */
enum { WRITE_SET, WRITE_ADD };
/* `fn` of I_SORT, I_SEARCH, I_DIAGONAL and I_BAND. */
enum { SORT_KEYS, SORT_PLACES };
enum { SEARCH_LEFT, SEARCH_RIGHT };
enum { DIAGONAL_TAKE, DIAGONAL_MAKE };
enum { BAND_DIAGONAL, BAND_TRIANGLE };
/* `fn` of I_UNIQUE: bits for what else is wanted, in the order of the destinations. */
enum { UNIQUE_FIRST = 1, UNIQUE_PLACES = 2, UNIQUE_COUNTS = 4, UNIQUE_ALL = 7 };
/* `fn` of I_CHOOSE. */
enum { CHOOSE_RAISE, CHOOSE_WRAP, CHOOSE_CLIP, N_CHOOSE };
/* `fn` of I_ASSERT: what it raises. */
enum { ASSERT_ASSERTION, ASSERT_LINALG };
/* `fn` of I_TRIANGLE: bits. The lower triangle is kept, else the upper; ones on the diagonal; the other triangle is the
 * mirror, conjugated. */
enum { TRIANGLE_LOWER = 1, TRIANGLE_UNIT = 2, TRIANGLE_MIRRORED = 4, TRIANGLE_CONJUGATED = 8 };

typedef struct Instr {
    uint8_t opcode;
    uint8_t flags;
    uint8_t dtype;    /* the type it computes in, where the row says so */
    uint8_t pad;
    int32_t fn;       /* scalar operation, reduction, distribution or write mode */
    int32_t n_dst, n_src;
    int32_t operands; /* first operand in the program's operand list: destinations, then sources */
    int32_t aux, n_aux;
    int32_t node;     /* the graph node it came from: index in the host's node table, or -1 */
} Instr;

typedef struct Program Program;

enum { PROGRAM_MAX_DEPTH = 256 }; /* programs within each other, the outermost counted */

/* The parts of a loop. `outer` names values of the program around, `inner` values of the body. Every list is in the
 * order of the scan's inputs. A state's buffer has rows for its past (its `past` first rows are the initial state) and
 * the path; it may be shorter than past + n_steps, and then is a ring of its rows. */
typedef struct LoopSequence { int32_t outer, inner; } LoopSequence;
typedef struct LoopTap { int32_t tap, inner; } LoopTap; /* tap < 0 */
typedef struct LoopState {
    int32_t outer_in, outer_out, inner_out;
    int32_t first_tap, n_taps; /* in the loop's taps */
    int32_t past;              /* largest -tap: rows of initial state */
    bool inplace;              /* outer_in's memory may be destroyed */
} LoopState;
typedef struct LoopPath { int32_t outer_rows, outer_out, inner_out; } LoopPath; /* outer_rows: int64 scalar, rows to keep */
typedef struct LoopCarry { /* a stream or object handed from step to step */
    int32_t outer_in, outer_out, inner_in, inner_out;
    bool inplace; /* the loop may work on outer_in itself; else on one copy made before the first step */
} LoopCarry;
typedef struct LoopFixed { int32_t outer, inner; } LoopFixed;

typedef struct Loop {
    Program *body;    /* owned */
    int32_t n_steps;  /* int64 scalar of the program around */
    int32_t until;    /* bool scalar of the body, or -1 */
    int32_t n_sequences, n_states, n_taps, n_paths, n_carries, n_fixed;
    LoopSequence *sequences;
    LoopState *states;
    LoopTap *taps;
    LoopPath *paths;
    LoopCarry *carries;
    LoopFixed *fixed;
} Loop;

struct Program {
    int32_t n_values, n_instrs, n_operands, n_aux, n_constants, n_inputs, n_outputs, n_loops, n_texts, n_storage;
    Value *values;
    Instr *instrs;      /* in an order in which they can run; those flagged INSTR_INVARIANT need no step-varying value */
    int32_t *operands;
    int64_t *aux;
    Array *constants;   /* owned; constants[i].buffer holds the memory, rank 0 too */
    int32_t *inputs;    /* value numbers, top level: in the order of the function's inputs */
    int32_t *outputs;   /* value numbers, top level: in the order of the function's outputs */
    Loop *loops;
    char **texts;
};

/* Building: arrays grow as needed. Each returns the new item's number, or -1 with *status filled. */
Program *program_new(Status *status);
void program_free(Program *program); /* NULL is fine; frees the loops' bodies too */
int32_t program_add_value(Program *program, Value value, Status *status);
/* Takes a holder on the array's buffer; the array must be contiguous and own its memory. */
int32_t program_add_constant(Program *program, const Array *array, Status *status); /* the new VALUE's number */
int32_t program_add_instr(Program *program, Instr instr, const int32_t *dst, const int32_t *src, const int64_t *aux, Status *status);
/* Copies the lists and, on success, takes the body over. */
int32_t program_add_loop(Program *program, const Loop *loop, Status *status);
/* Frees the lists, not the body. */
void loop_clear_lists(Loop *loop);
int32_t program_add_text(Program *program, const char *text, Status *status);
/* Sets the values' index too. */
int program_set_inputs(Program *program, int32_t n, const int32_t *values, Status *status);
int program_set_outputs(Program *program, int32_t n, const int32_t *values, Status *status);

/* Lent: where an instruction's operands and aux entries begin. */
const int32_t *instr_dst(const Program *program, const Instr *instr);
const int32_t *instr_src(const Program *program, const Instr *instr);
const int64_t *instr_aux(const Program *program, const Instr *instr);

/* What the first destination has to do with the memory of the first source. Where the destination is an array, ALWAYS
 * means that it is a view and has no storage; the other rules leave it storage of its own to use. Where one side is a
 * scalar and the other too, the value is copied; a view of a scalar is a view of its register. */
typedef enum AliasRule {
    ALIAS_NEVER,
    ALIAS_ALWAYS,  /* the same memory */
    ALIAS_MAYBE,   /* the same memory where strides allow, else a copy */
    ALIAS_DESTROY  /* flagged in place: the source's memory, written over; the source must not be read again */
} AliasRule;
AliasRule instr_alias(const Instr *instr);

/* The operands of a loop in one order, as its lists hold them: what it writes (states, paths, carries), and what it reads
 * of the program around (n_steps, sequences, states, rows of paths, carries, fixed). Its instruction lists no operands. */
int32_t loop_n_dst(const Loop *loop);
int32_t loop_dst(const Loop *loop, int32_t i);
int32_t loop_n_src(const Loop *loop);
int32_t loop_src(const Loop *loop, int32_t i);
/* What a body hands to its loop at the end of a step: inner_out of states, paths and carries, then until if there is one. */
int32_t loop_n_inner_out(const Loop *loop);
int32_t loop_inner_out(const Loop *loop, int32_t i);

/* Where an array is filled with one number and then only read, as by a loop's initial state, shows the number in the array's
 * shape instead: no memory is written. Of the top level; call before the storage is planned. */
void program_spread_fills(Program *program);
/* Whether no row of an array but the last is read: of the top level. */
bool program_reads_last_row(const Program *program, int32_t value);

/* Fills what follows from the instructions, in the program and in its loops' bodies: which values are views, which are
 * pinned because they leave the program or the body, and the storage of computed arrays, numbered by their lives so that
 * values whose lives do not meet share one. Call once at top level, after the last instruction, input and output. */
int program_plan_storage(Program *program, Status *status);
/* The lives behind the plan, which the checker compares it with: for each value the last instruction that needs its
 * memory (views and what is written over it included), n_instrs when it is needed to the end, -1 when nothing defines
 * or reads it. `around` is the loop whose body the program is, or NULL. last has room for n_values. */
void program_find_lives(const Program *program, const Loop *around, int32_t *last);

/* A state's buffer of which nothing but the path is read, so that the rows of the path may lie elsewhere than its past. */
typedef struct PathBuffer {
    int32_t made;      /* the value that is the buffer first: empty, then its past rows are set */
    int32_t outer_out; /* the value that is the buffer when the loop has run through it in place */
    int32_t past;      /* rows before the path */
    int32_t n_first;   /* steps after which no tap of the loop reads a past row */
    int32_t n_steps;   /* the loop's, an int64 scalar that is known before the buffer is made */
} PathBuffer;
/* Whether the value, of the top level, is a path that is a view of such a buffer and its only reader. */
bool program_find_path(const Program *program, int32_t value, PathBuffer *path);

/* 0, or -1 with STATUS_BAD_PROGRAM and a sentence: operand numbers, classes, dtypes and ranks against the rows of
 * opcodes.def and scalars.def; each value written once, before it is read; loops' lists against their bodies. */
int program_check(const Program *program, Status *status);

/* The listing, as text from mem.h (free with mem_free), or NULL when there is no memory. */
char *program_listing(const Program *program);
const char *opcode_name(int opcode);

#endif
