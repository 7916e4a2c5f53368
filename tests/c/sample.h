/* Programs that several tests build, and the short forms they are built with.
 *
 * Relies on: program. Relied on by: test_program.c, test_check.c, garden.c. */
#ifndef PYSCAN_TESTS_C_SAMPLE_H
#define PYSCAN_TESTS_C_SAMPLE_H

#include "program/program.h"

/* Each returns a number, or -1 with *status filled; numbers of -1 are passed on without use, so that a test looks once. */
int32_t sample_value(Program *program, ValueClass value_class, ValueOrigin origin, DType dtype, int ndim, Status *status);
int32_t sample_computed(Program *program, DType dtype, int ndim, Status *status);
int32_t sample_double(Program *program, double value, Status *status);
int32_t sample_integer(Program *program, int64_t value, Status *status);
int32_t sample_vector(Program *program, DType dtype, int64_t n, const void *elements, Status *status); /* of elements of 8 bytes */

enum { SAMPLE_MAX_DST = 4, SAMPLE_MAX_SRC = 6, SAMPLE_MAX_AUX = 4 };

typedef struct SampleInstr {
    Opcode opcode;
    int32_t fn;
    DType dtype;
    uint8_t flags;
    int32_t n_dst, n_src, n_aux;
    int32_t dst[SAMPLE_MAX_DST], src[SAMPLE_MAX_SRC];
    int64_t aux[SAMPLE_MAX_AUX];
} SampleInstr;
int sample_instr(Program *program, SampleInstr instr, Status *status);

/* Owned: a planned program, or NULL with *status filled. A loop over a sequence of vectors with a scalar state, a
 * normal draw in place, a path, a fixed input and an invariant instruction; then the last state is taken.
 * Values at top level: 0 n_steps, 1 initial state, 2 stream, 3 sequence, 4 a vector; 5 states, 6 path, 7 stream after, 8 the
 * index -1, 9 last state. The body's values are numbered in sample.c. */
Program *sample_walk(Status *status);

#endif
