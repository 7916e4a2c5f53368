/* Building programs in a few lines, running them, and a generator to draw from, for the tests of vm.
 *
 * Building cannot fail here: a program that is refused ends the test program with a message. Relied on by: test_vm*.c. */
#ifndef PYSCAN_TESTS_C_MAKER_H
#define PYSCAN_TESTS_C_MAKER_H

#include "ops/ops.h"
#include "program/program.h"
#include "vm/vm.h"

/* Values: numbers of the new value. */
int32_t make_value(Program *program, ValueClass value_class, ValueOrigin origin, DType dtype, int ndim);
int32_t make_scalar(Program *program, ValueOrigin origin, DType dtype);
int32_t make_array(Program *program, ValueOrigin origin, DType dtype, int ndim);
int32_t make_stream(Program *program, ValueOrigin origin);
int32_t constant_double(Program *program, double x);
int32_t constant_int(Program *program, int64_t x);
int32_t constant_bool(Program *program, bool x);
int32_t constant_array(Program *program, DType dtype, int ndim, const int64_t *shape, const void *data);
int32_t constant_doubles(Program *program, int64_t n, const double *x);
int32_t constant_ints(Program *program, int64_t n, const int64_t *x);

/* Instructions: numbers of the destination. Sources are given as a list, SOURCES(a, b). */
typedef struct ValueList { int32_t n; const int32_t *values; } ValueList;
typedef struct AuxList { int32_t n; const int64_t *entries; } AuxList;
#define SOURCES(...) ((ValueList){(int32_t)(sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)), (int32_t[]){__VA_ARGS__}})
#define AUX(...) ((AuxList){(int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__}})
#define NO_SOURCES ((ValueList){0, NULL})
#define NO_AUX ((AuxList){0, NULL})
int32_t make_instr(Program *program, Opcode opcode, int fn, DType compute, int flags, Value dst, ValueList sources, AuxList aux);
int32_t map(Program *program, int scalar, DType compute, ValueList sources);
int32_t instr(Program *program, Opcode opcode, int fn, DType compute, DType dtype, int ndim, ValueList sources, AuxList aux);
int32_t instr_flagged(Program *program, Opcode opcode, int fn, DType compute, int flags, DType dtype, int ndim, ValueList sources, AuxList aux);
/* A draw: next_stream may be NULL. */
int32_t draw(Program *program, int dist, int flags, int ndim, int32_t stream, bool has_size, ValueList params, int32_t *next_stream);

/* Loops: the lists are filled by the caller's calls, in order. The loop is added by finish_loop. */
typedef struct LoopMaker {
    Program *around, *body;
    LoopSequence sequences[8];
    LoopState states[8];
    LoopTap taps[16];
    LoopPath paths[8];
    LoopCarry carries[8];
    LoopFixed fixed[8];
    Loop loop;
} LoopMaker;
void start_loop(LoopMaker *maker, Program *around, int32_t n_steps);
int32_t loop_sequence(LoopMaker *maker, int32_t outer);             /* the body's value for a row */
/* A state with taps -1 .. -past, whose body values go to inner[0 .. past - 1]; the number of the outer result. */
int32_t loop_state(LoopMaker *maker, int32_t outer_in, int past, bool inplace, int32_t *inner);
void loop_state_is(LoopMaker *maker, int i_state, int32_t inner_out);
int32_t loop_path(LoopMaker *maker, int32_t outer_rows, int32_t inner_out);
int32_t loop_carry(LoopMaker *maker, int32_t outer_in, bool inplace, int32_t *inner_in); /* the outer result */
void loop_carry_is(LoopMaker *maker, int i_carry, int32_t inner_out);
int32_t loop_fixed(LoopMaker *maker, int32_t outer);                /* the body's value */
void finish_loop(LoopMaker *maker);

/* Sets inputs and outputs, plans and checks. */
void finish(Program *program, ValueList inputs, ValueList outputs);

/* Running. */
Frame *frame_of(const Program *program);
void set_double(Frame *frame, int32_t value, double x);
void set_int(Frame *frame, int32_t value, int64_t x);
/* Lends memory of the test's to an input array: it is a foreign buffer. */
void set_array(Frame *frame, int32_t value, int ndim, const int64_t *shape, void *data);
double get_double(Frame *frame, int32_t value);
int64_t get_int(Frame *frame, int32_t value);
/* Whether the value is an array of these lengths and elements, or a scalar (ndim 0). */
bool is_doubles(Frame *frame, int32_t value, int ndim, const int64_t *shape, const double *x);
bool is_ints(Frame *frame, int32_t value, int ndim, const int64_t *shape, const int64_t *x);
#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})
#define DOUBLES(...) ((const double[]){__VA_ARGS__})
#define INTS(...) ((const int64_t[]){__VA_ARGS__})

/* A generator of 1, 2, 3, ...: next_double counts. normal draws loc + scale * next_double, and so on. */
typedef struct Counting {
    int64_t count;
    BitGen bitgen;
    StreamLayout layout;
    Stream stream;
} Counting;
void counting_start(Counting *counting, int64_t count);
/* A host with distributions for such generators: normal, uniform (loc + scale * next) and poisson (lam + next). */
VmHost counting_host(void);

#endif
