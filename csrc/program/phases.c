/* Finding phases: forwards for what needs no carried value, then backwards for what the core does not need.
 *
 * Relies on: phases.h. */
#include "program/phases.h"

#include <stddef.h>

#include "base/mem.h"
#include "ops/ops.h"
#include "random/fast.h"

/* When a value is known. */
enum { KNOWN_ONCE, KNOWN_BEFORE, KNOWN_IN_STEP };

/* Instructions that are only found ready after this many passes over a body stay in the core: compile time is linear. */
enum { MAX_PASSES = 16 };

typedef struct Search {
    const Loop *loop;
    const Program *body;
    LoopPhases *phases;
    bool may_split;
    uint8_t *known;       /* by value */
    bool *is_needed;      /* by value: the core reads it, or what ends a step does */
    bool *is_bad;         /* by carry: the core draws on it */
    int32_t *n_ready;     /* by carry: draws whose parameters are known in this pass; at last what sort_carries says */
    int32_t *n_draws;     /* by carry */
} Search;

static bool has_call(const Program *program)
{
    for (int32_t i = 0; i < program->n_instrs; i++) {
        if (program->instrs[i].opcode == I_CALL) {
            return true;
        }
    }
    for (int32_t i = 0; i < program->n_loops; i++) {
        if (has_call(program->loops[i].body)) {
            return true;
        }
    }
    return false;
}

static bool is_scalar(const Search *search, int32_t value) { return search->body->values[value].value_class == VALUE_SCALAR; }

static bool is_scalar_map(const Search *search, const Instr *instr)
{
    const int32_t *src = instr_src(search->body, instr);

    if (instr->opcode == I_MAP ? scalar_can_raise(instr->fn, (DType)instr->dtype) : instr->opcode != I_CAST) {
        return false;
    }
    for (int32_t i = 0; i < instr->n_src; i++) {
        if (!is_scalar(search, src[i])) {
            return false;
        }
    }
    return is_scalar(search, instr_dst(search->body, instr)[0]);
}

static bool is_inplace_draw(const Instr *instr) { return instr->opcode == I_DRAW && (instr->flags & INSTR_INPLACE) != 0; }

/* A draw that gives the same numbers and the same state when many steps' are drawn by one fill. */
static bool can_be_filled(const Search *search, const Instr *instr)
{
    const int32_t *dst = instr_dst(search->body, instr), *src = instr_src(search->body, instr);
    bool has_size = instr_aux(search->body, instr)[0] != 0;

    if (dist_ndim_supp(instr->fn) != 0) {
        return false;
    }
    if (!is_scalar(search, dst[1])) {
        return true;
    }
    for (int32_t i = 1; i < instr->n_src; i++) {
        if (!is_scalar(search, src[i]) && search->known[src[i]] != KNOWN_ONCE) {
            return false;
        }
    }
    return !has_size;
}

/* A draw that can be made in two parts, the second from parameters that are known in the step: its standard draws can
 * be filled. */
static bool can_be_split(const Search *search, const Instr *instr)
{
    const int32_t *dst = instr_dst(search->body, instr), *src = instr_src(search->body, instr);

    if (fast_standard(instr->fn) < 0 || instr_aux(search->body, instr)[0] != 0 || !is_scalar(search, dst[1])) {
        return false;
    }
    if (instr->fn == DIST_CATEGORICAL) {
        const Value *p = &search->body->values[src[1]];
        return p->value_class == VALUE_ARRAY && p->ndim == 1 && p->dtype == DTYPE_FLOAT64;
    }
    for (int32_t i = 1; i < instr->n_src; i++) {
        if (!is_scalar(search, src[i])) {
            return false;
        }
    }
    return true;
}

/* Follows each carry's stream through draws in place and aliases. Whatever else reads it makes the carry bad. */
static void trace_streams(Search *search)
{
    const Program *body = search->body;
    int32_t *carry = search->phases->carry;

    for (int32_t i = 0; i < body->n_values; i++) {
        carry[i] = -1;
    }
    for (int32_t i = 0; i < search->loop->n_carries; i++) {
        if (body->values[search->loop->carries[i].inner_in].value_class == VALUE_STREAM) {
            carry[search->loop->carries[i].inner_in] = i;
        }
    }
    for (int32_t i = 0; i < body->n_instrs; i++) {
        const Instr *instr = &body->instrs[i];
        const int32_t *src = instr_src(body, instr);
        const Loop *inner = instr->opcode == I_LOOP ? &body->loops[instr_aux(body, instr)[0]] : NULL;
        int32_t n_src = inner != NULL ? loop_n_src(inner) : instr->n_src;

        for (int32_t j = 0; j < n_src; j++) {
            int32_t read = carry[inner != NULL ? loop_src(inner, j) : src[j]];

            if (read < 0) {
                continue;
            }
            if (is_inplace_draw(instr) && (can_be_filled(search, instr) || (search->may_split && can_be_split(search, instr)))) {
                carry[instr_dst(body, instr)[0]] = read;
                search->n_draws[read]++;
            } else if (instr->opcode == I_ALIAS) {
                carry[instr_dst(body, instr)[0]] = read;
            } else {
                search->is_bad[read] = true;
            }
        }
    }
}

/* What is known from the start: all but rows of states and what is computed in a step. */
static void mark_first(Search *search)
{
    const Program *body = search->body;

    for (int32_t i = 0; i < body->n_values; i++) {
        uint8_t origin = body->values[i].origin;
        search->known[i] = origin == ORIGIN_CONSTANT || origin == ORIGIN_INPUT ? KNOWN_ONCE : KNOWN_IN_STEP;
    }
    for (int32_t i = 0; i < search->loop->n_sequences; i++) {
        search->known[search->loop->sequences[i].inner] = KNOWN_BEFORE;
    }
    for (int32_t i = 0; i < body->n_instrs; i++) {
        const Instr *instr = &body->instrs[i];
        bool is_once = (instr->flags & INSTR_INVARIANT) != 0;

        search->phases->of_instr[i] = is_once ? PHASE_ONCE : PHASE_CORE;
        for (int32_t j = 0; is_once && j < instr->n_dst; j++) {
            search->known[instr_dst(body, instr)[j]] = KNOWN_ONCE;
        }
        if (is_once && instr->opcode == I_LOOP) {
            const Loop *inner = &body->loops[instr_aux(body, instr)[0]];
            for (int32_t j = 0; j < loop_n_dst(inner); j++) {
                search->known[loop_dst(inner, j)] = KNOWN_ONCE;
            }
        }
    }
}

/* The parameters of a draw of arrays are the same in each step, so that the shape is. */
static bool are_sources_known(const Search *search, const Instr *instr)
{
    const int32_t *src = instr_src(search->body, instr);
    bool is_draw = instr->opcode == I_DRAW;
    uint8_t latest = is_draw && !is_scalar(search, instr_dst(search->body, instr)[1]) ? KNOWN_ONCE : KNOWN_BEFORE;

    for (int32_t i = is_draw ? 1 : 0; i < instr->n_src; i++) {
        if (search->known[src[i]] > latest) {
            return false;
        }
    }
    return true;
}

/* Whether a draw on a carry can be made ahead whole. */
static bool is_ready(const Search *search, const Instr *instr) { return can_be_filled(search, instr) && are_sources_known(search, instr); }

static void add_before(Search *search, int32_t i)
{
    const Instr *instr = &search->body->instrs[i];

    search->phases->of_instr[i] = PHASE_BEFORE;
    search->phases->before[search->phases->n_before++] = i;
    search->known[instr_dst(search->body, instr)[instr->n_dst - 1]] = KNOWN_BEFORE;
}

/* The draws of one carry, in the order of the program. */
static void add_draws(Search *search, int32_t carry)
{
    const Program *body = search->body;

    for (int32_t i = 0; i < body->n_instrs; i++) {
        if (is_inplace_draw(&body->instrs[i]) && search->phases->carry[instr_src(body, &body->instrs[i])[0]] == carry) {
            add_before(search, i);
        }
    }
}

/* One pass over what is not placed yet; whether it placed anything. */
static bool place_before(Search *search)
{
    const Program *body = search->body;
    int32_t n_old = search->phases->n_before;

    for (int32_t i = 0; i < search->loop->n_carries; i++) {
        search->n_ready[i] = 0;
    }
    for (int32_t i = 0; i < body->n_instrs; i++) {
        const Instr *instr = &body->instrs[i];
        int32_t carry;

        if (search->phases->of_instr[i] != PHASE_CORE || search->phases->is_split[i]) {
            continue;
        }
        if (is_scalar_map(search, instr) || instr->opcode == I_DOT) {
            if (are_sources_known(search, instr)) {
                add_before(search, i);
            }
            continue;
        }
        carry = is_inplace_draw(instr) ? search->phases->carry[instr_src(body, instr)[0]] : -1;
        if (carry >= 0 && !search->is_bad[carry] && is_ready(search, instr) && ++search->n_ready[carry] == search->n_draws[carry]) {
            add_draws(search, carry);
        }
    }
    return search->phases->n_before > n_old;
}

/* What there is among a carry's draws that are not placed: any; those whose parameters may be other than plain, so that
 * their step is left to the plain loop; those that can't be made ahead. */
enum { HAS_DRAWS = 1, HAS_LEAVING = 2, HAS_STAYING = 4 };

/* Sets this for each carry, in n_ready. Whether any draw stays in the core. */
static bool sort_carries(Search *search)
{
    const Program *body = search->body;
    bool any_stays = false;

    for (int32_t i = 0; i < search->loop->n_carries; i++) {
        search->n_ready[i] = 0;
    }
    for (int32_t i = 0; i < body->n_instrs; i++) {
        const Instr *instr = &body->instrs[i];
        int32_t carry = is_inplace_draw(instr) ? search->phases->carry[instr_src(body, instr)[0]] : -1;
        bool stays;

        if (instr->opcode != I_DRAW || search->phases->of_instr[i] != PHASE_CORE) {
            continue;
        }
        stays = carry < 0 || search->is_bad[carry] || (!is_ready(search, instr) && !can_be_split(search, instr));
        if (carry >= 0) {
            search->n_ready[carry] |= HAS_DRAWS | (stays ? HAS_STAYING : 0);
            search->n_ready[carry] |= !is_ready(search, instr) && instr->fn != DIST_CATEGORICAL ? HAS_LEAVING : 0;
        }
        any_stays |= stays;
    }
    return any_stays;
}

/* Places the draws of a carry, split where they are not ready. */
static void add_split_draws(Search *search, int32_t carry)
{
    const Program *body = search->body;

    for (int32_t i = 0; i < body->n_instrs; i++) {
        const Instr *instr = &body->instrs[i];

        if (!is_inplace_draw(instr) || search->phases->carry[instr_src(body, instr)[0]] != carry) {
            continue;
        }
        if (is_ready(search, instr)) {
            add_before(search, i);
        } else {
            search->phases->is_split[i] = true;
            search->phases->n_split++;
            search->phases->before[search->phases->n_before++] = i;
        }
    }
}

/* The carries whose draws are not placed yet. A categorical can be finished from whatever it meets. What may leave its
 * step is split if no draw stays in the core: the plain loop must find all streams where they stood before the step. */
static void place_split(Search *search)
{
    bool any_stays = sort_carries(search);

    for (int32_t i = 0; i < search->loop->n_carries; i++) {
        int32_t found = search->n_ready[i];

        if ((found & HAS_DRAWS) != 0 && (found & HAS_STAYING) == 0 && ((found & HAS_LEAVING) == 0 || !any_stays)) {
            add_split_draws(search, i);
        }
    }
}

static void place_all_before(Search *search)
{
    for (int pass = 0; pass < MAX_PASSES && place_before(search); pass++) {
    }
}

static void need(Search *search, int32_t value) { search->is_needed[value] = true; }

/* What ends a step reads: the condition, carries, and states that the next steps read. Paths and states that no tap reads
 * are written block-wise. */
static void need_ends(Search *search)
{
    const Loop *loop = search->loop;

    if (loop->until >= 0) {
        need(search, loop->until);
    }
    for (int32_t i = 0; i < loop->n_states; i++) {
        if (loop->states[i].n_taps > 0) {
            need(search, loop->states[i].inner_out);
        }
    }
}

/* A tap's rows are kept for the after-part as 8 bytes each, or are not. */
static bool can_be_kept(const Search *search, int32_t value)
{
    const Value *row = &search->body->values[value];

    return row->origin != ORIGIN_ROW || search->known[value] != KNOWN_IN_STEP || dtype_bytes((DType)row->dtype) == 8;
}

static bool is_after(const Search *search, const Instr *instr)
{
    if (!is_scalar_map(search, instr) || search->is_needed[instr_dst(search->body, instr)[0]]) {
        return false;
    }
    for (int32_t i = 0; i < instr->n_src; i++) {
        if (!can_be_kept(search, instr_src(search->body, instr)[i])) {
            return false;
        }
    }
    return true;
}

static void place_after(Search *search)
{
    const Program *body = search->body;
    LoopPhases *phases = search->phases;

    need_ends(search);
    for (int32_t i = body->n_instrs - 1; i >= 0; i--) {
        const Instr *instr = &body->instrs[i];
        const Loop *inner = instr->opcode == I_LOOP ? &body->loops[instr_aux(body, instr)[0]] : NULL;

        if (phases->of_instr[i] != PHASE_CORE) {
            continue;
        }
        if (is_after(search, instr)) {
            phases->of_instr[i] = PHASE_AFTER;
            continue;
        }
        for (int32_t j = 0; j < (inner != NULL ? loop_n_src(inner) : instr->n_src); j++) {
            need(search, inner != NULL ? loop_src(inner, j) : instr_src(body, instr)[j]);
        }
    }
    for (int32_t i = 0; i < body->n_instrs; i++) {
        if (phases->of_instr[i] == PHASE_AFTER) {
            phases->after[phases->n_after++] = i;
        }
    }
}

int loop_find_phases(const Loop *loop, bool may_split, LoopPhases *phases)
{
    const Program *body = loop->body;
    size_t n_instrs = (size_t)body->n_instrs + 1, n_values = (size_t)body->n_values + 1, n_carries = (size_t)loop->n_carries + 1;
    Search search = {.loop = loop, .body = body, .phases = phases, .may_split = may_split};
    int result = -1;

    *phases = (LoopPhases){0};
    phases->of_instr = mem_calloc(n_instrs, sizeof *phases->of_instr);
    phases->is_split = mem_calloc(n_instrs, sizeof *phases->is_split);
    phases->is_fixed = mem_calloc(n_values, sizeof *phases->is_fixed);
    phases->carry = mem_calloc(n_values, sizeof *phases->carry);
    phases->before = mem_calloc(n_instrs, sizeof *phases->before);
    phases->after = mem_calloc(n_instrs, sizeof *phases->after);
    search.known = mem_calloc(n_values, sizeof *search.known);
    search.is_needed = mem_calloc(n_values, sizeof *search.is_needed);
    search.is_bad = mem_calloc(n_carries, sizeof *search.is_bad);
    search.n_ready = mem_calloc(n_carries, sizeof *search.n_ready);
    search.n_draws = mem_calloc(n_carries, sizeof *search.n_draws);
    if (phases->of_instr != NULL && phases->is_split != NULL && phases->is_fixed != NULL && phases->carry != NULL && phases->before != NULL && phases->after != NULL
        && search.known != NULL && search.is_needed != NULL && search.is_bad != NULL && search.n_ready != NULL && search.n_draws != NULL) {
        mark_first(&search);
        for (int32_t i = 0; i < body->n_values; i++) {
            phases->is_fixed[i] = search.known[i] == KNOWN_ONCE;
        }
        if (!has_call(body)) {
            trace_streams(&search);
            place_all_before(&search);
            if (may_split) {
                place_split(&search);
                place_all_before(&search);
            }
            place_after(&search);
        }
        result = 0;
    }
    mem_free(search.known);
    mem_free(search.is_needed);
    mem_free(search.is_bad);
    mem_free(search.n_ready);
    mem_free(search.n_draws);
    return result;
}

bool phases_make_ahead(const Program *body, const LoopPhases *phases, int32_t value)
{
    for (int32_t i = 0; i < phases->n_before; i++) {
        const Instr *instr = &body->instrs[phases->before[i]];

        if (instr_dst(body, instr)[instr->n_dst - 1] == value) {
            return true;
        }
    }
    return false;
}

void loop_free_phases(LoopPhases *phases)
{
    mem_free(phases->of_instr);
    mem_free(phases->is_split);
    mem_free(phases->is_fixed);
    mem_free(phases->carry);
    mem_free(phases->before);
    mem_free(phases->after);
}
