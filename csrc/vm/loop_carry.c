/* Streams and objects that a loop hands from step to step.
 *
 * No generator is copied in a step: a draw in place leaves the same stream as the next one, and then there is nothing to
 * do. Where the body gives back another stream (its slots change places, a draw was not in place, two slots get one
 * state), pointers change places if they can, and else words are copied. Two slots never end with one stream.
 * Relies on: loop.h, random. Relied on by: loop.c. */
#include <stddef.h>

#include "base/mem.h"
#include "vm/block.h"
#include "vm/loop.h"

int frame_copy_stream(Stream *dst, const Stream *src, Run *run)
{
    const VmHost *host = run->host;

    if (src->layout != NULL && !src->by_method) {
        return stream_copy(dst, src, run->status);
    }
    if (host->copy_stream == NULL) {
        return status_fail_text(run->status, STATUS_BAD_PROGRAM, "a generator must be copied, but the host cannot");
    }
    return host->copy_stream(host->self, dst, src, run->status);
}

static bool is_stream(const LoopFrame *loop_frame, int32_t i)
{
    return loop_frame->body->program->values[loop_frame->loop->carries[i].inner_in].value_class == VALUE_STREAM;
}

static Stream *current(const LoopFrame *loop_frame, int32_t i) { return loop_frame->body->pointers[loop_frame->loop->carries[i].inner_in]; }

/* Tells the draws on carried streams which these are. */
static void arm_links(LoopFrame *loop_frame, const VmHost *host)
{
    void **pointers = loop_frame->body->pointers;

    for (int32_t i = 0; i < loop_frame->n_links; i++) {
        const Link *link = &loop_frame->links[i];

        pointers[link->next_stream] = pointers[link->carried];
        arm_draw(link->step, pointers[link->carried], host);
    }
}

int loop_take_carries(LoopFrame *loop_frame, Run *run)
{
    const Loop *loop = loop_frame->loop;
    Frame *around = loop_frame->around, *body = loop_frame->body;

    for (int32_t i = 0; i < loop->n_carries; i++) {
        const LoopCarry *carry = &loop->carries[i];

        if (!is_stream(loop_frame, i)) {
            frame_put_object(body, carry->inner_in, around->pointers[carry->outer_in], run->host);
        } else if (carry->inplace) {
            body->pointers[carry->inner_in] = around->pointers[carry->outer_in];
        } else {
            if (frame_copy_stream(loop_frame->pool[i], around->pointers[carry->outer_in], run) < 0) {
                return -1;
            }
            run->counters->generator_copies++;
            body->pointers[carry->inner_in] = loop_frame->pool[i];
        }
    }
    arm_links(loop_frame, run->host);
    return 0;
}

void loop_give_carries(LoopFrame *loop_frame, Run *run)
{
    const Loop *loop = loop_frame->loop;

    for (int32_t i = 0; i < loop->n_carries; i++) {
        void *last = loop_frame->body->pointers[loop->carries[i].inner_in];

        if (is_stream(loop_frame, i)) {
            loop_frame->around->pointers[loop->carries[i].outer_out] = last;
        } else {
            frame_put_object(loop_frame->around, loop->carries[i].outer_out, last, run->host);
        }
    }
}

static bool is_in(void *const *pointers, int32_t n, const void *pointer)
{
    for (int32_t i = 0; i < n; i++) {
        if (pointers[i] == pointer) {
            return true;
        }
    }
    return false;
}

static bool is_current(const LoopFrame *loop_frame, const Stream *stream)
{
    for (int32_t i = 0; i < loop_frame->loop->n_carries; i++) {
        if (is_stream(loop_frame, i) && current(loop_frame, i) == stream) {
            return true;
        }
    }
    return false;
}

/* A stream of the pool that no slot has, had, or will have: there are two for each slot. */
static Stream *find_free(const LoopFrame *loop_frame)
{
    int32_t n = loop_frame->loop->n_carries;

    for (int32_t i = 0; i < 2 * n; i++) {
        Stream *stream = loop_frame->pool[i];
        if (!is_current(loop_frame, stream) && !is_in(loop_frame->chosen, n, stream)) {
            return stream;
        }
    }
    return NULL; /* not reached: at most n are current, and fewer than n are chosen and not current */
}

/* Gives slot i a stream of its own with the state of `given`. Its present stream is written over when nobody hands that
 * on, so that a stream in place stays the caller's; else one of the pool is. */
static int copy_words(LoopFrame *loop_frame, int32_t i, const Stream *given, Run *run)
{
    int32_t n = loop_frame->loop->n_carries;
    Stream *own = current(loop_frame, i), *target;

    if (!is_in(loop_frame->handed, n, own) && own->layout != NULL && own->layout == given->layout && !own->by_method && !given->by_method
        && (own->gauss == NULL) == (given->gauss == NULL)) {
        stream_put(own, given);
        loop_frame->chosen[i] = own;
        return 0;
    }
    target = find_free(loop_frame);
    if (frame_copy_stream(target, given, run) < 0) {
        return -1;
    }
    loop_frame->chosen[i] = target;
    return 0;
}

static int hand_over_streams(LoopFrame *loop_frame, Run *run)
{
    int32_t n = loop_frame->loop->n_carries;

    for (int32_t i = 0; i < n; i++) {
        Stream *given = loop_frame->handed[i];
        loop_frame->chosen[i] = is_stream(loop_frame, i) && is_current(loop_frame, given) && !is_in(loop_frame->chosen, i, given) ? given : NULL;
    }
    for (int32_t i = 0; i < n; i++) {
        if (is_stream(loop_frame, i) && loop_frame->chosen[i] == NULL && copy_words(loop_frame, i, loop_frame->handed[i], run) < 0) {
            return -1;
        }
    }
    for (int32_t i = 0; i < n; i++) {
        if (is_stream(loop_frame, i)) {
            loop_frame->body->pointers[loop_frame->loop->carries[i].inner_in] = loop_frame->chosen[i];
        }
    }
    return 0;
}

/* Objects that change places are held by the slots that give them until all are put. */
static void hand_over_objects(LoopFrame *loop_frame, Run *run)
{
    const Loop *loop = loop_frame->loop;
    const VmHost *host = run->host;

    for (int32_t i = 0; i < loop->n_carries; i++) {
        if (!is_stream(loop_frame, i) && loop_frame->handed[i] != NULL && host->hold_object != NULL) {
            loop_frame->handed[i] = host->hold_object(host->self, loop_frame->handed[i]);
        }
    }
    for (int32_t i = 0; i < loop->n_carries; i++) {
        if (!is_stream(loop_frame, i)) {
            frame_put_object(loop_frame->body, loop->carries[i].inner_in, loop_frame->handed[i], host);
            if (loop_frame->handed[i] != NULL && host->drop_object != NULL) {
                host->drop_object(host->self, loop_frame->handed[i]);
            }
        }
    }
}

int loop_hand_over(LoopFrame *loop_frame, Run *run)
{
    const Loop *loop = loop_frame->loop;
    void *const *pointers = loop_frame->body->pointers;
    bool is_same = true;

    for (int32_t i = 0; i < loop->n_carries; i++) {
        loop_frame->handed[i] = pointers[loop->carries[i].inner_out];
        is_same &= loop_frame->handed[i] == pointers[loop->carries[i].inner_in];
    }
    if (is_same) {
        return 0;
    }
    hand_over_objects(loop_frame, run);
    if (hand_over_streams(loop_frame, run) < 0) {
        return -1;
    }
    arm_links(loop_frame, run->host);
    return 0;
}

/* Owned, by value: the value whose stream this one is after draws in place, so that its pointer is the same in each step; else
 * the value itself. NULL: no memory. */
static int32_t *origins_new(const Program *body)
{
    int32_t *origins = mem_calloc((size_t)body->n_values + 1, sizeof *origins);

    for (int32_t i = 0; origins != NULL && i < body->n_values; i++) {
        origins[i] = i;
    }
    for (int32_t i = 0; origins != NULL && i < body->n_instrs; i++) {
        const Instr *instr = &body->instrs[i];

        if (instr->opcode == I_ALIAS || (instr->opcode == I_DRAW && (instr->flags & INSTR_INPLACE) != 0)) {
            origins[instr_dst(body, instr)[0]] = origins[instr_src(body, instr)[0]];
        }
    }
    return origins;
}

int loop_find_has_carries(LoopFrame *loop_frame)
{
    const Loop *loop = loop_frame->loop;
    int32_t *origins = origins_new(loop->body);

    for (int32_t i = 0; origins != NULL && i < loop->n_carries; i++) {
        const LoopCarry *carry = &loop->carries[i];
        bool is_carried_stream = loop->body->values[carry->inner_in].value_class == VALUE_STREAM;

        loop_frame->has_carries |= !is_carried_stream || origins[carry->inner_out] != carry->inner_in;
    }
    mem_free(origins);
    return origins != NULL ? 0 : -1;
}

/* Adds the links of these steps; `is_carried` says of each value whether it is a carry. */
static void add_links(LoopFrame *loop_frame, const int32_t *origins, const bool *is_carried, Step *steps)
{
    for (Step *step = steps; step->code != STEP_END; step++) {
        const Instr *instr = step->instr;
        bool is_inplace = instr->opcode == I_DRAW && (instr->flags & INSTR_INPLACE) != 0;

        if (is_inplace && is_carried[origins[step->src[0]]]) {
            loop_frame->links[loop_frame->n_links++] = (Link){origins[step->src[0]], step->dst[0], step};
        }
    }
}

int loop_find_links(LoopFrame *loop_frame)
{
    const Loop *loop = loop_frame->loop;
    int32_t *origins = origins_new(loop->body);
    bool *is_carried = mem_calloc((size_t)loop->body->n_values + 1, sizeof *is_carried);
    int result = origins != NULL && is_carried != NULL ? 0 : -1;

    if (result == 0) {
        for (int32_t i = 0; i < loop->n_carries; i++) {
            is_carried[loop->carries[i].inner_in] = true;
        }
        add_links(loop_frame, origins, is_carried, loop_frame->body->each);
        for (int i = 0; i < 2; i++) {
            if (loop_frame->blocks[i]->core != NULL) {
                add_links(loop_frame, origins, is_carried, loop_frame->blocks[i]->core);
            }
        }
    }
    mem_free(is_carried);
    mem_free(origins);
    return result;
}
