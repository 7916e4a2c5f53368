/* What the files of this room share: frames, resolved instructions, the state of a run, and one function an opcode.
 *
 * A function that can fail returns -1 with run->status filled.
 * Relies on: vm.h, math. Relied on by: the files of this room. */
#ifndef PYSCAN_VM_FRAME_H
#define PYSCAN_VM_FRAME_H

#include "math/math.h"
#include "math/product.h"
#include "random/fast.h"
#include "vm/vm.h"

/* One run of a program, loops included. */
typedef struct Run {
    const VmHost *host;
    Status *status;
    Counters *counters;
    int64_t fuel;      /* work left until the clock is read; see poll.c */
    int64_t last_poll; /* nanoseconds; -1: the clock was not read yet */
} Run;

typedef union Register {
    _Alignas(16) char bytes[DTYPE_MAX_BYTES];
    double d;
    int64_t l;
} Register;

/* An instruction with what can be found out before the first run. All codes but STEP_OTHER are fast forms of instructions
 * whose operands are all scalars, but for the arrays that ELEMENT, ROW and CATEGORY look into. The QUICK ones are single draws
 * in place on a loop's own stream, by functions of the shapes of dists.def: a draw is STEP_DRAW until the loop arms it for a
 * call. */
typedef enum StepCode {
    STEP_MAP1,
    STEP_MAP2,
    STEP_MAP3,
    STEP_FOLD,
    STEP_DIVIDE,
    STEP_QUICK_D_D,
    STEP_QUICK_D_DD,
    STEP_QUICK_L_D,
    STEP_QUICK_UNIFORM,
    STEP_QUICK_BINOMIAL,
    STEP_QUICK_BERNOULLI,
    STEP_FAST, /* by a fast path of random/; when that draws nothing, as STEP_DRAW */
    STEP_DRAW,
    STEP_ELEMENT,  /* the element of a vector, of 8 bytes, at an index */
    STEP_ROW,      /* the row of a matrix at an index */
    STEP_CATEGORY, /* one categorical draw in place, by a vector */
    STEP_OTHER,
    STEP_END /* after the last step of a list */
} StepCode;

/* A factor of products that is the same in each step of a loop, copied with the elements of a row side by side. */
typedef struct Packed {
    Buffer *memory; /* held; NULL before the first use */
    char *rows;     /* NULL: not to be used */
    ProductKernel kernel;
    int64_t row_bytes;
    bool is_left;   /* the left factor of a vector: its columns are the rows here */
} Packed;

enum { STEP_MAX_CELLS = 5 };
typedef struct Step {
    StepCode code;
    StepCode quick;               /* what it can be armed as: a QUICK code, or `code` */
    MapKernel kernel;             /* of MAP and CAST */
    char **cells[STEP_MAX_CELLS]; /* of fast forms: where the addresses of the operands are, sources first */
    void *function;               /* of an armed draw: NumPy's, and what it draws from */
    BitGen *bitgen;
    BinomialMemo *memo;
    FastOne fast;
    const Fast *tables;           /* of `fast`, and where the addresses of its operands are */
    char **fast_cells[3];
    const int32_t *dst, *src;
    const Instr *instr;
    const Packed *packed;         /* of a DOT in the core of a block: a factor's copy, or NULL */
} Step;

typedef struct LoopFrame LoopFrame;

/* The row of a loop's buffer that the body computes an array straight into: where its address is (it moves), its shape. */
typedef struct RowTarget {
    char *const *row; /* NULL: the array goes to its storage */
    const Array *shape;
} RowTarget;

struct Frame {
    const Program *program;
    Step *steps;         /* all instructions in program order, then STEP_END; so are the other lists */
    Step *once, *each;   /* of a loop's body: the invariant ones, and the others */
    int32_t n_once, n_each;
    /* By value number. A scalar is at addr, which for rows and fixed inputs points elsewhere than at its register. */
    char **addr;
    Register *registers;
    Array **arrays;      /* NULL for what is not an array */
    Array *array_memory;
    void **pointers;     /* Stream *, borrowed; or an object, of which the frame holds one holder */
    Stream **scratch;    /* owned, by the stream that a draw not in place makes; else NULL */
    Factor **factors;    /* owned, by the array that a draw of vectors of normals makes; else NULL */
    /* The frame holds every buffer here; arrays over them borrow it, so that a buffer with one holder is nobody else's. */
    Buffer **storage;
    RowTarget *targets;  /* of a loop's body, by value number; else NULL */
    OutPlace *places;    /* of the top frame in a run whose results go to the caller's arrays, by value number; else NULL */
    LoopFrame **loops;
    Counters *counters;  /* the top frame's */
    Counters own_counters;
    Array scalar_view;   /* what frame_array lends for a scalar */
};

/* poll.c: interrupts. */
void run_start(Run *run, Frame *frame, const VmHost *host, Status *status);
int run_check(Run *run);
/* Accounts for work of about `cost` nanoseconds, at most 100 times as many. */
static inline int run_spend(Run *run, int64_t cost) { return (run->fuel -= cost) >= 0 ? 0 : run_check(run); }

/* frame.c. The array or, for a scalar, *view made to show it. */
const Array *frame_operand(Frame *frame, int32_t value, Array *view);
/* Makes the destination an array of that shape and gives its descriptor; for a scalar, *view over its register. */
Array *frame_result(Frame *frame, int32_t value, const int64_t *shape, Array *view, Run *run);
/* Makes the destination show `array`: the descriptor is copied, without a holder; for a scalar, the element is. */
void frame_show(Frame *frame, int32_t value, const Array *array);
/* Puts an object there, with a holder of its own, in place of the one before. */
void frame_put_object(Frame *frame, int32_t value, void *object, const VmHost *host);
/* As frame_reset, over the loops too; keep_bytes is what may be kept from here on. */
void frame_reset_storage(Frame *frame, const VmHost *host, size_t *keep_bytes);
/* A slot's buffer, made exclusive and n_bytes long at least; what was in it is lost. */
Buffer *frame_slot(Frame *frame, int32_t slot, size_t n_bytes, Status *status);
/* An axis that an int64 scalar names, counted from the end if negative, of an array of that rank; -1 and a status if it
 * has none such. */
int frame_axis(const Frame *frame, int32_t value, int ndim, Run *run);
static inline int64_t frame_int64(const Frame *frame, int32_t value) { return *(const int64_t *)(const void *)frame->addr[value]; }

/* place.c. 1 if the array was made in its place; 0 if it has none, or one of another shape; -1 and a status. */
int frame_take_place(Frame *frame, int32_t value, const int64_t *shape, Status *status);

/* vm.c. Steps once, in order. */
int frame_run_steps(Frame *frame, const Step *steps, Run *run);
/* One step. */
int frame_run_one(Frame *frame, const Step *step, Run *run);

/* sweep.c: one kernel over arrays that broadcast. */
enum { SWEEP_MAX_ARGS = 4 };
typedef struct Sweep {
    int n_args, ndim;
    int64_t shape[ARRAY_MAX_NDIM];
    int64_t strides[ARRAY_MAX_NDIM][SWEEP_MAX_ARGS];
    char *data[SWEEP_MAX_ARGS];
} Sweep;
void sweep_start(Sweep *sweep, int ndim, const int64_t *shape);
void sweep_add(Sweep *sweep, const Array *array);
/* The shape that the step's sources broadcast to. */
int sweep_broadcast(Frame *frame, const Step *step, int ndim, int64_t *shape, Run *run);
int sweep_run(Sweep *sweep, MapKernel kernel, Run *run);
/* Whether an element counts as false. */
int sweep_find_zero(const Array *array, bool *has_zero, Run *run);
/* dst, of any type, becomes src broadcast to its shape; shapes were checked, and the two do not overlap. */
int sweep_copy(const Array *dst, const Array *src, Run *run);
/* Whether src can be broadcast to dst's shape: trailing axes equal or 1, further leading axes of src 1. */
bool can_broadcast(const Array *src, const Array *dst);

/* write.c, for those that write. The destination: the source itself when it may be written, else a copy of it; or NULL. */
Array *write_start(Frame *frame, const Step *step, Run *run);
/* Sets value, broadcast, in part, or adds it. */
int write_part(const Array *part, const Array *value, int32_t mode, Run *run);
bool write_can_overlap(const Array *a, const Array *b);
/* A contiguous copy of value, in memory that the caller frees; NULL and a status, or *aside. */
char *write_aside(const Array *value, Array *aside, Run *run);

/* loop.c */
int loop_frame_new(LoopFrame **result, Frame *around, const Loop *loop, Status *status);
void loop_frame_free(LoopFrame *loop_frame);
void loop_frame_reset(LoopFrame *loop_frame, const VmHost *host, size_t *keep_bytes);
int frame_copy_stream(Stream *dst, const Stream *src, Run *run);

/* One function an opcode. */
int run_map(Frame *frame, const Step *step, Run *run);
int run_cast(Frame *frame, const Step *step, Run *run);
int run_reduce(Frame *frame, const Step *step, Run *run);
/* The kernel of a reduction over adjacent elements of the type that it computes in, as many as a block has. NULL when
 * there is none. */
FoldKernel reduce_fold(const Instr *instr);
int run_cumulate(Frame *frame, const Step *step, Run *run);
int run_dot(Frame *frame, const Step *step, Run *run);
/* The products of n steps: factors and products move by these strides from step to step, products by their length. */
int dot_steps(const Array *dst, const Array *a, int64_t a_stride, const Array *b, int64_t b_stride, int64_t n, Run *run);
/* Copies the factor of a step's product that does not change, unless that gains nothing or there is no memory. */
/* Whether a product of two arrays whose lengths fit has so few terms that it is computed here. */
bool dot_is_own(const Array *a, const Array *b);
void dot_pack(Packed *packed, const Frame *frame, const Step *step, Run *run);
int run_transpose(Frame *frame, const Step *step, Run *run);
int run_reshape(Frame *frame, const Step *step, Run *run);
int run_spread(Frame *frame, const Step *step, Run *run);
int run_shape(Frame *frame, const Step *step, Run *run);
int run_shape_at(Frame *frame, const Step *step, Run *run);
int run_slice(Frame *frame, const Step *step, Run *run);
int run_set_slice(Frame *frame, const Step *step, Run *run);
int run_take(Frame *frame, const Step *step, Run *run);
int run_set_take(Frame *frame, const Step *step, Run *run);
int run_nonzero(Frame *frame, const Step *step, Run *run);
int run_gather(Frame *frame, const Step *step, Run *run);
int run_scatter(Frame *frame, const Step *step, Run *run);
int run_choose(Frame *frame, const Step *step, Run *run);
int run_apply(Frame *frame, const Step *step, Run *run);
int run_triangle(Frame *frame, const Step *step, Run *run);
int run_sort(Frame *frame, const Step *step, Run *run);
int run_search(Frame *frame, const Step *step, Run *run);
int run_unique(Frame *frame, const Step *step, Run *run);
int run_expand(Frame *frame, const Step *step, Run *run);
int run_diagonal(Frame *frame, const Step *step, Run *run);
int run_band(Frame *frame, const Step *step, Run *run);
int run_matmul(Frame *frame, const Step *step, Run *run);
int run_fill(Frame *frame, const Step *step, Run *run);
int run_empty(Frame *frame, const Step *step, Run *run);
int run_pack(Frame *frame, const Step *step, Run *run);
int run_join(Frame *frame, const Step *step, Run *run);
int run_split(Frame *frame, const Step *step, Run *run);
int run_arange(Frame *frame, const Step *step, Run *run);
int run_copy(Frame *frame, const Step *step, Run *run);
int run_alias(Frame *frame, const Step *step, Run *run);
int run_check_shape(Frame *frame, const Step *step, Run *run);
int run_assert(Frame *frame, const Step *step, Run *run);
int run_check_steps(Frame *frame, const Step *step, Run *run);
int run_check_rows(Frame *frame, const Step *step, Run *run);
int run_draw(Frame *frame, const Step *step, Run *run);
/* One draw from scalar parameters. */
int run_draw_scalar(Frame *frame, const Step *step, Run *run);
/* One categorical draw in place. */
int run_draw_category(Frame *frame, const Step *step, Run *run);
/* For long draws. */
DrawPoll run_draw_poll(Run *run);
/* What draws natively on that stream, of a Generator or of a RandomState; NULL: its generator's methods do. */
const Dists *draws_find(const VmHost *host, const Stream *stream, int dist);
/* draw_fill by these, which there must be. */
int draws_fill(int dist, Stream *stream, const Array *dst, const Array *params, DrawPoll poll, Run *run);
/* Lets a draw that has a QUICK code draw from that stream without asking further, if its function can be called at all. */
void arm_draw(Step *step, Stream *stream, const VmHost *host);
int run_loop(Frame *frame, const Step *step, Run *run);
int run_call(Frame *frame, const Step *step, Run *run);

/* The part of an array that slice entries choose; the int64 scalars they ask for are at src. */
int slice_view(Frame *frame, const Array *array, int32_t n_entries, const int64_t *entries, const int32_t *src, Array *part, Run *run);

#endif
