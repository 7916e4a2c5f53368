/* Made-up programs, grown by one random instruction after the other.
 *
 * Each instruction is made up with operands that suit it, as far as such values are there; now and then one of them is spoilt.
 * What the checker refuses is taken back, and mostly also what the trial says of: a run on plain inputs, which tells
 * whether lengths and elements suit too. So most programs succeed on such inputs, and all reach the interpreter.
 * Relies on: program, ops, sample.h. Relied on by: test_fuzz.c. */
#ifndef PYSCAN_TESTS_C_GARDEN_H
#define PYSCAN_TESTS_C_GARDEN_H

#include "program/program.h"

/* The programs' inputs. Lengths of a call on plain inputs: all axes are of one length, and STEPS not larger than it. */
enum { STEPS, SMALL, REAL, TRUTH, VECTOR, MATRIX, INTEGERS, TRUTHS, COMPLEXES, RNG, N_INPUTS };

typedef struct GardenInput { ValueClass value_class; DType dtype; int ndim; } GardenInput;
extern const GardenInput garden_inputs[N_INPUTS];

/* A number below n. */
uint64_t next_number(uint64_t *seed, uint64_t n);
bool one_in(uint64_t *seed, uint64_t n);

/* Owned: an accepted program. `may_be_empty`: instructions whose values are unspecified are wanted too. `trial`: whether a program that is
 * accepted, but has no outputs yet, does what is hoped for. */
Program *garden_grow(uint64_t *seed, bool may_be_empty, bool (*trial)(const Program *program));

#endif
