/* Runs programs. No Python, no GIL; no allocation in the step loop once each array has met its largest shape.
 *
 * The plain portable loop is a switch over the instructions, with the same kernels for one element and for many. Loops whose
 * bodies can be split in phases run block-wise (block.h); step by step they are the second implementation to test against.
 * Relies on: base, ops, program, random, math. Relied on by: bind. */
#ifndef PYSCAN_VM_VM_H
#define PYSCAN_VM_VM_H

#include "ops/ops.h"
#include "program/program.h"
#include "random/stream.h"

typedef struct Frame Frame;

/* What the world outside supplies. Functions that can fail fill the Status and return -1. All may be NULL but `poll`'s
 * absence means never interrupted, and a program that needs a missing one fails with STATUS_BAD_PROGRAM. */
typedef struct VmHost {
    void *self;
    int (*poll)(void *self); /* asked at least every 50 ms; non-zero: stop (STATUS_INTERRUPTED) */
    void (*begin_long)(void *self); /* told once, as soon as there is work for more than some microseconds */
    int (*call)(void *self, Frame *frame, const Instr *instr, Status *status);                    /* I_CALL */
    int (*draw)(void *self, Frame *frame, const Instr *instr, Stream *stream, Status *status);    /* by the generator's method, onto `stream` */
    int (*copy_stream)(void *self, Stream *dst, const Stream *src, Status *status);               /* a stream without layout */
    void (*drop_object)(void *self, void *object);                                                /* gives up an object value */
    void *(*hold_object)(void *self, void *object);                                               /* one more holder */
    int (*product)(void *self, Array *dst, const Array *a, const Array *b, Status *status);       /* big matrix products */
    int (*factor)(void *self, int64_t n, const double *cov, double *factor, bool *is_lasting, Status *status); /* of draw.h's DrawPoll */
    Dists dists, legacy;                                                                          /* of Generators, and of RandomStates */
    const NumpyLoop (*library)[N_LIBRARY_TYPES]; /* by row of library.def and type; a loop is NULL where it was not found */
    int64_t block_steps; /* the longest block of steps whose phases run one after the other; 0: step by step */
    bool batches_products; /* products for `product` that no state enters are taken for all steps of a block at once */
} VmHost;

enum { DEFAULT_BLOCK_STEPS = 2048 };

/* Counted while running, for tests and explain. */
typedef struct Counters {
    int64_t generator_copies; /* made by loops before their first step, and by the host before a call */
    int64_t scratch_copies;   /* made by draws that are not in place */
    int64_t steps;            /* of all loops */
    int64_t block_steps;      /* those of them that ran in blocks */
    int64_t tile_steps;       /* those of them that ran tile by tile */
    int64_t allocations;      /* storage that had to grow */
} Counters;

/* Owned: registers, descriptors, storage and the frames of nested loops, ready to run; NULL with *status filled. */
Frame *frame_new(const Program *program, Status *status);
void frame_free(Frame *frame, const VmHost *host);
/* Ends a call: gives up inputs, outputs, objects, scratch streams' handles, and storage beyond keep_bytes in all. */
void frame_reset(Frame *frame, const VmHost *host, size_t keep_bytes);

/* Lent, by value number of the frame's program. Scalars: the address of the register. */
char *frame_scalar(Frame *frame, int32_t value);
Array *frame_array(Frame *frame, int32_t value); /* for arrays; for a scalar: a descriptor of rank 0 over its register, valid until the next call of this function */
Stream **frame_stream(Frame *frame, int32_t value);
void **frame_object(Frame *frame, int32_t value);
const Program *frame_program(const Frame *frame);
Counters *frame_counters(Frame *frame);

/* Memory of the caller's in which the program makes an array, instead of in storage. */
typedef struct OutPlace {
    const Array *array; /* elements side by side, of the value's dtype and rank; it outlives the run, and nothing that the
                         * program reads lies there. NULL: no place */
    bool is_strict;     /* an array of another shape is refused (STATUS_PLACE_SHAPE, a: output); else it is made in storage */
    int32_t output;
    int32_t past, n_first, n_steps; /* of a PathBuffer's first value: the array is for the path alone; else past is 0 */
    int32_t made;       /* of a PathBuffer's outer_out: its first value; else -1 */
    bool is_taken;
} OutPlace;
/* For one run. A value that has a place already keeps it. 0, or -1: no memory. */
int frame_set_place(Frame *frame, int32_t value, OutPlace place, Status *status);

/* For hosts that write a result: makes the destination `value` an array of that shape with fresh or reused storage. */
int frame_shape_array(Frame *frame, int32_t value, const int64_t *shape, Status *status);

/* One call of a library's loop over arrays of the right types and shapes: inputs, of which it may write the first, then
 * outputs. For hosts that try a loop. */
void library_call(const NumpyLoop *loop, int library, const Array *operands, int n_operands);

/* For hosts that draw: refuses a size asked for to which the batch of the draw's parameter i does not broadcast. */
int draw_check_size(int dist, int i, const Array *asked, const Array *param, Status *status);

/* Runs the frame's program once. Inputs were set by the caller through the functions above. */
int vm_run(Frame *frame, const VmHost *host, Status *status);

#endif
