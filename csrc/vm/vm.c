/* Runs a program: the loop over its instructions.
 *
 * Instructions whose operands are scalars are done here; all others by one function an opcode. A failure leaves by one
 * exit, where the node that failed is noted. Relies on: compiler.h, loop.h, quick.h. Relied on by: loop.c, bind. */
#include <stddef.h>

#include "base/compiler.h"
#include "vm/loop.h"
#include "vm/quick.h"

/* Strides for kernels on one element, which do not move. */
static const int64_t no_strides[SWEEP_MAX_ARGS] = {0};

static void fold_scalars(Frame *frame, const Step *step)
{
    char *args[3] = {frame->addr[step->src[0]], frame->addr[step->src[1]], frame->addr[step->dst[0]]};

    step->kernel(1, args, no_strides);
    args[0] = args[2];
    for (int32_t i = 2; i < step->instr->n_src; i++) {
        args[1] = frame->addr[step->src[i]];
        step->kernel(1, args, no_strides);
    }
}

static int divide_scalars(const Step *step, Run *run)
{
    char *args[3] = {*step->cells[0], *step->cells[1], *step->cells[2]};
    uint8_t found = 0;
    char *asked[2] = {args[1], (char *)&found};

    math_find_zero(step->instr->dtype)(1, asked, no_strides);
    if (found != 0) {
        return status_fail(run->status, STATUS_ZERO_DIVISION);
    }
    step->kernel(1, args, no_strides);
    return 0;
}

static int run_other(Frame *frame, const Step *step, Run *run)
{
    switch ((Opcode)step->instr->opcode) {
    case I_MAP:
        return run_map(frame, step, run);
    case I_CAST:
        return run_cast(frame, step, run);
    case I_REDUCE:
        return run_reduce(frame, step, run);
    case I_CUMULATE:
        return run_cumulate(frame, step, run);
    case I_DOT:
        return run_dot(frame, step, run);
    case I_TRANSPOSE:
        return run_transpose(frame, step, run);
    case I_RESHAPE:
        return run_reshape(frame, step, run);
    case I_SPREAD:
        return run_spread(frame, step, run);
    case I_SHAPE:
        return run_shape(frame, step, run);
    case I_SHAPE_AT:
        return run_shape_at(frame, step, run);
    case I_SLICE:
        return run_slice(frame, step, run);
    case I_SET_SLICE:
        return run_set_slice(frame, step, run);
    case I_TAKE:
        return run_take(frame, step, run);
    case I_SET_TAKE:
        return run_set_take(frame, step, run);
    case I_NONZERO:
        return run_nonzero(frame, step, run);
    case I_GATHER:
        return run_gather(frame, step, run);
    case I_SCATTER:
        return run_scatter(frame, step, run);
    case I_CHOOSE:
        return run_choose(frame, step, run);
    case I_APPLY:
        return run_apply(frame, step, run);
    case I_TRIANGLE:
        return run_triangle(frame, step, run);
    case I_SORT:
        return run_sort(frame, step, run);
    case I_SEARCH:
        return run_search(frame, step, run);
    case I_UNIQUE:
        return run_unique(frame, step, run);
    case I_EXPAND:
        return run_expand(frame, step, run);
    case I_DIAGONAL:
        return run_diagonal(frame, step, run);
    case I_BAND:
        return run_band(frame, step, run);
    case I_MATMUL:
        return run_matmul(frame, step, run);
    case I_FILL:
        return run_fill(frame, step, run);
    case I_EMPTY:
        return run_empty(frame, step, run);
    case I_PACK:
        return run_pack(frame, step, run);
    case I_JOIN:
        return run_join(frame, step, run);
    case I_SPLIT:
        return run_split(frame, step, run);
    case I_ARANGE:
        return run_arange(frame, step, run);
    case I_COPY:
        return run_copy(frame, step, run);
    case I_ALIAS:
        return run_alias(frame, step, run);
    case I_CHECK_SHAPE:
        return run_check_shape(frame, step, run);
    case I_ASSERT:
        return run_assert(frame, step, run);
    case I_CHECK_STEPS:
        return run_check_steps(frame, step, run);
    case I_CHECK_ROWS:
        return run_check_rows(frame, step, run);
    case I_DRAW:
        return run_draw(frame, step, run);
    case I_LOOP:
        return run_loop(frame, step, run);
    case I_CALL:
        return run_call(frame, step, run);
    case N_OPCODES:
        break;
    }
    return status_fail_text(run->status, STATUS_BAD_PROGRAM, "unknown instruction");
}

/* A loop's body has noted its own node already. */
static int note_node(const Step *step, Run *run)
{
    if (run->status->node < 0) {
        run->status->node = step->instr->node;
    }
    return -1;
}

/* The codes are all there, so that the dispatch needs no range check. */
#if defined(__GNUC__)
#define UNREACHABLE_DEFAULT default: __builtin_unreachable();
#else
#define UNREACHABLE_DEFAULT
#endif

/* A draw by NumPy's function, or by inlined code, where the parameters are plainly right; else by the long way. */
#define QUICK(SHAPE)                        \
    if (!is_quick_##SHAPE(step)) {          \
        goto draw;                          \
    }                                       \
    draw_##SHAPE(step);                     \
    break

/* The dispatch loop: once over the steps, or for one. Inlined where a loop comes round, which saves 25 machine
 * instructions a step. */
static ALWAYS_INLINE int run_pass(Frame *frame, const Step *step, bool is_one, Run *run)
{
    for (;; step++) {
        switch (step->code) {
        case STEP_MAP1:
            step->kernel(1, (char *[]){*step->cells[0], *step->cells[1]}, no_strides);
            break;
        case STEP_MAP2:
            step->kernel(1, (char *[]){*step->cells[0], *step->cells[1], *step->cells[2]}, no_strides);
            break;
        case STEP_MAP3: {
            char *args[4] = {*step->cells[0], *step->cells[1], *step->cells[2], *step->cells[3]};
            step->kernel(1, args, no_strides);
            break;
        }
        case STEP_FOLD:
            fold_scalars(frame, step);
            break;
        case STEP_DIVIDE:
            if (divide_scalars(step, run) < 0) {
                goto fail;
            }
            break;
        case STEP_QUICK_D_D:
            QUICK(D_D);
        case STEP_QUICK_D_DD:
            QUICK(D_DD);
        case STEP_QUICK_L_D:
            QUICK(L_D);
        case STEP_QUICK_UNIFORM:
            QUICK(UNIFORM);
        case STEP_QUICK_BINOMIAL:
            QUICK(BINOMIAL);
        case STEP_QUICK_BERNOULLI:
            QUICK(BERNOULLI);
        case STEP_FAST:
            QUICK(FAST);
        draw:
        case STEP_DRAW:
            if (run_draw_scalar(frame, step, run) < 0) {
                goto fail;
            }
            break;
        case STEP_ELEMENT:
            if (!quick_element(frame, step)) {
                goto other;
            }
            break;
        case STEP_ROW:
            if (!quick_row(frame, step)) {
                goto other;
            }
            break;
        case STEP_CATEGORY:
            if (run_draw_category(frame, step, run) < 0) {
                goto fail;
            }
            break;
        other:
        case STEP_OTHER:
            if (run_other(frame, step, run) < 0) {
                goto fail;
            }
            break;
        case STEP_END:
            return 0;
        UNREACHABLE_DEFAULT
        }
        if (is_one) {
            return 0;
        }
    }
fail:
    return note_node(step, run);
}

int frame_run_steps(Frame *frame, const Step *steps, Run *run) { return run_pass(frame, steps, false, run); }

int frame_run_one(Frame *frame, const Step *step, Run *run) { return run_pass(frame, step, true, run); }

/* What a step ends with, where that is more than moves of rows. 1: it was the last step. */
static int end_step(LoopFrame *loop_frame, Run *run)
{
    if (loop_write_others(loop_frame, run) < 0 || (loop_frame->has_carries && loop_hand_over(loop_frame, run) < 0)) {
        return -1;
    }
    return loop_frame->until != NULL && **loop_frame->until != 0;
}

/* n_done counts the steps that are complete, so it is the number of the one in which a failure happens. */
int loop_run_steps(LoopFrame *loop_frame, const Rows *rows, const Step *first, const Step *each, int64_t n, Run *run)
{
    Frame *body = loop_frame->body;
    const Step *steps = first;
    int64_t n_left = n;
    int result = -1;

    while (run_pass(body, steps, false, run) == 0) {
        int is_ended = 0;

        rows_move(rows);
        if (rows->has_others && (is_ended = end_step(loop_frame, run)) < 0) {
            break;
        }
        rows_advance(rows);
        if (--n_left == 0 || is_ended > 0) {
            result = is_ended;
            break;
        }
        steps = each;
    }
    loop_frame->n_done += n - n_left;
    return result;
}

/* The host may be slow: the clock is read afterwards. */
int run_call(Frame *frame, const Step *step, Run *run)
{
    const VmHost *host = run->host;
    const Instr *instr = step->instr;

    if (host->call == NULL) {
        return status_fail_text(run->status, STATUS_BAD_PROGRAM, "the program calls back, but its host does not answer");
    }
    for (int32_t i = 0; i < instr->n_dst; i++) {
        if (frame->program->values[step->dst[i]].value_class == VALUE_OBJECT) {
            frame_put_object(frame, step->dst[i], NULL, host);
        }
    }
    return host->call(host->self, frame, instr, run->status) < 0 ? -1 : run_check(run);
}

int vm_run(Frame *frame, const VmHost *host, Status *status)
{
    Run run;

    status_clear(status);
    run_start(&run, frame, host, status);
    return frame_run_steps(frame, frame->steps, &run);
}
