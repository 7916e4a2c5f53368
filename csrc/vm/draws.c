/* I_DRAW: shapes of draws, copies of streams for draws that are not in place, and the choice of who draws.
 *
 * Relies on: random. Relied on by: vm.c. */
#include <stddef.h>
#include <string.h>

#include "random/draw.h"
#include "random/legacy.h"
#include "vm/frame.h"

/* Asked in the middle of long draws: the clock decides whether the host is asked. */
static int ask(void *self) { return run_check(self); }

static int ask_factor(void *self, int64_t n, const double *cov, double *factor, bool *is_lasting, Status *status)
{
    const VmHost *host = ((Run *)self)->host;

    return host->factor(host->self, n, cov, factor, is_lasting, status);
}

DrawPoll run_draw_poll(Run *run) { return (DrawPoll){.ask = ask, .factor = run->host->factor == NULL ? NULL : ask_factor, .self = run}; }

static int refuse_shapes(int ndim, const int64_t *shape, const Array *param, Run *run)
{
    return status_fail_shapes(run->status, STATUS_DRAW_SHAPE, ndim, shape, param->ndim, param->shape);
}

/* The same for laws of vectors, whose batches NumPy's methods do not have: in the words of np.broadcast_to. */
static int refuse_batch(const Array *asked, const Array *param, int batch, Status *status)
{
    Array wanted = *param; /* the size, and then the parameter's own axes */
    int own = param->ndim - batch;

    for (int axis = 0; axis < own; axis++) {
        wanted.shape[asked->ndim + axis] = param->shape[batch + axis];
    }
    memcpy(wanted.shape, asked->shape, (size_t)asked->ndim * sizeof(*wanted.shape));
    wanted.ndim = asked->ndim + own;
    return status_fail_shapes(status, batch > asked->ndim ? STATUS_DRAW_BATCH_RANK : STATUS_DRAW_BATCH, wanted.ndim, wanted.shape, param->ndim, param->shape);
}

/* Refuses a size to which the batch of parameter i does not broadcast. Of what is composed of several draws no method of
 * NumPy would say so, and the message is Aesara's. */
static int refuse_size(int dist, int i, const Array *asked, const Array *param, Status *status)
{
    bool is_own = dist_is_composed(dist);

    if (dist_ndim_supp(dist) > 0) {
        return refuse_batch(asked, param, dist_batch_ndim(dist, i, param->ndim), status);
    }

    (void)status_fail_shapes(status, is_own ? STATUS_DRAW_SIZE : STATUS_DRAW_SHAPE, asked->ndim, asked->shape, param->ndim, param->shape);
    dist_param_name(dist, i, status->text, sizeof(status->text));
    return -1;
}

int draw_check_size(int dist, int i, const Array *asked, const Array *param, Status *status)
{
    Array batch = *param;

    batch.ndim = dist_batch_ndim(dist, i, batch.ndim);
    return batch.ndim <= asked->ndim && can_broadcast(&batch, asked) ? 0 : refuse_size(dist, i, asked, param, status);
}

/* Widens shape by the parameter's batch axes. */
static int broadcast_param(int ndim, int64_t *shape, const Array *param, int batch, Run *run)
{
    for (int own = 0; own < batch; own++) {
        int axis = own + ndim - batch;

        if (param->shape[own] == 1 || param->shape[own] == shape[axis]) {
            continue;
        }
        if (shape[axis] != 1) {
            return refuse_shapes(ndim, shape, param, run);
        }
        shape[axis] = param->shape[own];
    }
    return 0;
}

/* The shape asked for, to which every parameter must broadcast. */
static int read_size(const Array *size, int ndim, int64_t *shape, Run *run)
{
    if (size->shape[0] != ndim) {
        return status_fail_text(run->status, STATUS_DOMAIN, "the length of size differs from the rank of the draws");
    }
    for (int i = 0; i < ndim; i++) {
        shape[i] = array_int64(size, i);
        if (shape[i] < 0) {
            return status_fail(run->status, STATUS_NEGATIVE_SIZE);
        }
    }
    return 0;
}

/* The shape of the batch: the size asked for, or what the parameters broadcast to. */
static int find_batch(Frame *frame, const Step *step, int n_params, const Array *params, int ndim, int64_t *shape, Run *run)
{
    const Instr *instr = step->instr;
    bool has_size = instr_aux(frame->program, instr)[0] != 0;
    Array asked;

    for (int i = 0; i < ndim; i++) {
        shape[i] = 1;
    }
    if (has_size && read_size(frame->arrays[step->src[1]], ndim, shape, run) < 0) {
        return -1;
    }
    asked.ndim = ndim;
    memcpy(asked.shape, shape, (size_t)ndim * sizeof(int64_t));
    for (int i = 0; i < n_params; i++) {
        if (has_size ? draw_check_size(instr->fn, i, &asked, &params[i], run->status) < 0
                     : broadcast_param(ndim, shape, &params[i], dist_batch_ndim(instr->fn, i, params[i].ndim), run) < 0) {
            return -1;
        }
    }
    return 0;
}

/* How long a draw is: as the vector, or as the number says (none, when it is negative). */
static int64_t support_length(int dist, int i, const Array *param)
{
    int64_t length;

    if (dist_param_ndim(dist, i) > 0) {
        return param->shape[param->ndim - 1];
    }
    memcpy(&length, param->data, sizeof length);
    return length < 0 ? 0 : length;
}

/* The shape of the draws: the batch, then the support. */
static int find_shape(Frame *frame, const Step *step, int n_params, const Array *params, int64_t *shape, Run *run)
{
    int dist = step->instr->fn, support = dist_support_param(dist);
    int ndim = frame->program->values[step->dst[1]].ndim - dist_ndim_supp(dist);

    if (find_batch(frame, step, n_params, params, ndim, shape, run) < 0) {
        return -1;
    }
    if (support >= 0) {
        shape[ndim] = support_length(dist, support, &params[support]);
    }
    return 0;
}

/* The stream to draw on: the source's itself, or this instruction's copy of it. */
static Stream *choose_stream(Frame *frame, const Step *step, Run *run)
{
    Stream *stream = frame->pointers[step->src[0]];

    if ((step->instr->flags & INSTR_INPLACE) == 0) {
        Stream *scratch = frame->scratch[step->dst[0]];

        if (frame_copy_stream(scratch, stream, run) < 0) {
            return NULL;
        }
        run->counters->scratch_copies++;
        stream = scratch;
    }
    frame->pointers[step->dst[0]] = stream;
    return stream;
}

static int draw_by_host(Frame *frame, const Step *step, Stream *stream, Run *run)
{
    const VmHost *host = run->host;

    if (host->draw == NULL) {
        return status_fail_text(run->status, STATUS_BAD_PROGRAM, "a draw must go through the generator's method, but the host cannot");
    }
    return host->draw(host->self, frame, step->instr, stream, run->status) < 0 ? -1 : run_check(run);
}

const Dists *draws_find(const VmHost *host, const Stream *stream, int dist)
{
    const Dists *dists = stream->gauss != NULL ? &host->legacy : &host->dists;

    return !stream->by_method && dists_have(dists, dist) ? dists : NULL;
}

/* A RandomState checks less than a Generator, and in words of its own: what is refused here is left to its method, but for
 * the domains of scipy.stats (STATUS_LAW), which no method knows. */
static bool is_left_to_method(const Stream *stream, int result, const Status *status)
{
    return result < 0 && stream->gauss != NULL && (status->code == STATUS_DOMAIN || status->code == STATUS_OVERFLOW);
}

static int leave_to_method(Frame *frame, const Step *step, Stream *stream, Run *run)
{
    status_clear(run->status);
    return draw_by_host(frame, step, stream, run);
}

/* Shows the functions of a RandomState what they need besides its bit generator while they draw. Returns what stood in the
 * stream before, for hide_legacy. */
static BitGen *show_legacy(Stream *stream, LegacyGen *shown, bool is_fill)
{
    BitGen *bitgen = stream->bitgen;

    if (stream->gauss != NULL) {
        legacy_start(shown, stream, is_fill);
        stream->bitgen = &shown->bitgen;
    }
    return bitgen;
}

static void hide_legacy(Stream *stream, LegacyGen *shown, BitGen *bitgen)
{
    if (stream->gauss != NULL) {
        legacy_stop(shown);
        stream->bitgen = bitgen;
    }
}

int draws_fill(int dist, Stream *stream, const Array *dst, const Array *params, DrawPoll poll, Run *run)
{
    LegacyGen shown;
    BitGen *bitgen = show_legacy(stream, &shown, true);
    int result = draw_fill(draws_find(run->host, stream, dist), dist, stream, dst, params, poll, run->status);

    hide_legacy(stream, &shown, bitgen);
    return result;
}

int run_draw(Frame *frame, const Step *step, Run *run)
{
    const Instr *instr = step->instr;
    const int32_t *src = step->src + (instr_aux(frame->program, instr)[0] != 0 ? 2 : 1);
    int n_params = dist_n_params(instr->fn), result;
    Array params[DRAW_MAX_PARAMS], view, *dst;
    int64_t shape[ARRAY_MAX_NDIM];
    DrawPoll poll = run_draw_poll(run);
    Stream *stream = choose_stream(frame, step, run);

    if (stream == NULL) {
        return -1;
    }
    if (draws_find(run->host, stream, instr->fn) == NULL) {
        return draw_by_host(frame, step, stream, run);
    }
    for (int i = 0; i < n_params; i++) {
        const Array *param = frame_operand(frame, src[i], &params[i]);
        if (param != &params[i]) {
            params[i] = *param;
        }
    }
    if (find_shape(frame, step, n_params, params, shape, run) < 0) {
        return -1;
    }
    dst = frame_result(frame, step->dst[1], shape, &view, run);
    if (dst == NULL) {
        return -1;
    }
    poll.factors = &frame->factors[step->dst[1]];
    result = draws_fill(instr->fn, stream, dst, params, poll, run);
    if (result == DRAW_BY_METHOD) {
        return draw_by_host(frame, step, stream, run);
    }
    return is_left_to_method(stream, result, run->status) ? leave_to_method(frame, step, stream, run) : result;
}

int run_draw_scalar(Frame *frame, const Step *step, Run *run)
{
    const char *params[DRAW_MAX_PARAMS];
    int dist = step->instr->fn, result;
    int32_t n_params = step->instr->n_src - 1;
    Stream *stream = frame->pointers[step->src[0]];
    const Dists *dists = draws_find(run->host, stream, dist);
    LegacyGen shown;
    BitGen *bitgen;

    if (dists == NULL) {
        return run_draw(frame, step, run);
    }
    stream = choose_stream(frame, step, run);
    if (stream == NULL) {
        return -1;
    }
    for (int32_t i = 0; i < n_params; i++) {
        params[i] = *step->cells[i];
    }
    bitgen = show_legacy(stream, &shown, false);
    result = draw_one(dists, dist, stream, *step->cells[n_params], params, run->status);
    hide_legacy(stream, &shown, bitgen);
    return is_left_to_method(stream, result, run->status) ? leave_to_method(frame, step, stream, run) : result;
}

int run_draw_category(Frame *frame, const Step *step, Run *run)
{
    Stream *stream = frame->pointers[step->src[0]];

    if (stream->gauss != NULL || draws_find(run->host, stream, step->instr->fn) == NULL) {
        return run_draw(frame, step, run);
    }
    frame->pointers[step->dst[0]] = stream;
    draw_category(&run->host->dists, stream, frame->arrays[step->src[1]], frame->addr[step->dst[1]]);
    return 0;
}

void arm_draw(Step *step, Stream *stream, const VmHost *host)
{
    const Dists *dists = &host->dists;
    int dist = step->instr->fn, n_params = step->instr->n_src - 1;
    bool is_drawn_here = dists_have_for(dists, stream, dist);

    if (step->quick == STEP_OTHER) {
        return;
    }
    step->function = dists->functions[dist][0];
    step->bitgen = stream->bitgen;
    step->memo = &stream->binomial;
    step->fast = fast_one(dists, dist, stream);
    step->tables = dists->fast;
    step->fast_cells[0] = step->cells[0];
    step->fast_cells[1] = step->cells[n_params > 1 ? 1 : 0];
    step->fast_cells[2] = step->cells[n_params];
    step->code = !is_drawn_here ? STEP_DRAW : step->fast != NULL ? STEP_FAST : step->quick;
#ifdef PYSCAN_TEST_BUILD
    if (dists->spoilt[dist]) {
        step->code = STEP_DRAW; /* what is spoilt is in draw.c */
    }
#endif
}
