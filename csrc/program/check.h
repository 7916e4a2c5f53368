/* What the two files of the checker share: the program under check, and how a rule refuses.
 *
 * Relies on: program.h. Relied on by: check.c (order, memory, loops), check_instr.c (a rule for each instruction). */
#ifndef PYSCAN_PROGRAM_CHECK_H
#define PYSCAN_PROGRAM_CHECK_H

#include "program/program.h"

/* What is known of a value while the instructions are walked in order. `root` is the value whose memory it uses (itself,
 * when it has its own). Writing in place over a root opens a new age of it: values of an older age are gone. */
typedef struct Known {
    bool is_written;   /* or set from outside before the first step */
    bool is_invariant; /* the same in each step */
    int32_t root, age;
    int32_t age_now;   /* of a root */
} Known;

typedef struct Check {
    const Program *program;
    const Loop *around; /* the loop whose body it is, or NULL */
    int depth;
    int32_t i_instr;    /* being checked, or -1 */
    const Instr *instr;
    Known *known;       /* by value */
    bool *is_run;       /* by loop: an instruction ran it */
    Status *status;
} Check;

/* Fills the status with "instruction i (name): what" and returns -1. */
int check_refuse(const Check *check, const char *what);
/* 0 where it holds, else as check_refuse. */
int check_expect(const Check *check, bool holds, const char *what);

/* Classes, types, ranks and aux entries of the instruction under check, whose operand numbers are in range. */
int check_instr_types(const Check *check);
/* The loop that the instruction under check runs: its lists against both programs, and its body. */
int check_loop(const Check *check);

#endif
