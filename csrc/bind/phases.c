/* What explain() tells of the phases of loops (program/phases.h): a row for each graph node of each loop's body.
 *
 * Relies on: program (phases), lower. Relied on by: thunk.c. */
#include "bind/bind.h"

#include "base/mem.h"
#include "program/phases.h"

static const char *const phase_names[] = {[PHASE_ONCE] = "once", [PHASE_BEFORE] = "before", [PHASE_CORE] = "core", [PHASE_AFTER] = "after"};

/* By value of the body: a state that it depends on, the first one found, or -1. */
static void trace_states(const Loop *loop, int32_t *state_of)
{
    const Program *body = loop->body;

    for (int32_t i = 0; i < body->n_values; i++) state_of[i] = -1;
    for (int32_t i = 0; i < loop->n_states; i++)
        for (int32_t j = 0; j < loop->states[i].n_taps; j++) state_of[loop->taps[loop->states[i].first_tap + j].inner] = i;
    for (int32_t i = 0; i < body->n_instrs; i++) {
        const Instr *instr = &body->instrs[i];
        const Loop *inner = instr->opcode == I_LOOP ? &body->loops[instr_aux(body, instr)[0]] : NULL;
        int32_t n_src = inner != NULL ? loop_n_src(inner) : instr->n_src, n_dst = inner != NULL ? loop_n_dst(inner) : instr->n_dst, found = -1;

        for (int32_t j = 0; found < 0 && j < n_src; j++) found = state_of[inner != NULL ? loop_src(inner, j) : instr_src(body, instr)[j]];
        for (int32_t j = 0; j < n_dst; j++) state_of[inner != NULL ? loop_dst(inner, j) : instr_dst(body, instr)[j]] = found;
    }
}

/* The state that an instruction reads or depends on, or -1. */
static int32_t find_state(const Program *body, const Instr *instr, const int32_t *state_of)
{
    const Loop *inner = instr->opcode == I_LOOP ? &body->loops[instr_aux(body, instr)[0]] : NULL;
    int32_t n_src = inner != NULL ? loop_n_src(inner) : instr->n_src;

    for (int32_t j = 0; j < n_src; j++) {
        int32_t found = state_of[inner != NULL ? loop_src(inner, j) : instr_src(body, instr)[j]];
        if (found >= 0) return found;
    }
    return -1;
}

static int add_row(const Lowered *lowered, PyObject *loop_node, const Instr *instr, Phase phase, int32_t state, PyObject *rows)
{
    PyObject *row;
    int result;

    if (instr->node < 0) return 0;
    row = Py_BuildValue("(OOsi)", loop_node, PyList_GET_ITEM(lowered->nodes, instr->node), phase_names[phase], (int)state);
    result = row == NULL ? -1 : PyList_Append(rows, row);
    Py_XDECREF(row);
    return result;
}

static int add_loop(const Lowered *lowered, PyObject *loop_node, const Loop *loop, PyObject *rows)
{
    const Program *body = loop->body;
    LoopPhases phases = {0};
    int32_t *state_of = mem_calloc((size_t)body->n_values + 1, sizeof *state_of);
    int result = -1;

    if (state_of == NULL || loop_find_phases(loop, false, &phases) < 0) {
        PyErr_NoMemory();
        goto done;
    }
    trace_states(loop, state_of);
    for (int32_t i = 0; i < body->n_instrs; i++) {
        const Instr *instr = &body->instrs[i];
        if (add_row(lowered, loop_node, instr, (Phase)phases.of_instr[i], find_state(body, instr, state_of), rows) < 0) goto done;
    }
    result = 0;
done:
    loop_free_phases(&phases);
    mem_free(state_of);
    return result;
}

/* The loops of a program and those inside them; nesting is at most PROGRAM_MAX_DEPTH deep. */
static int add_program(const Lowered *lowered, const Program *program, PyObject *rows)
{
    for (int32_t i = 0; i < program->n_instrs; i++) {
        const Instr *instr = &program->instrs[i];
        const Loop *loop;

        if (instr->opcode != I_LOOP) continue;
        loop = &program->loops[instr_aux(program, instr)[0]];
        if (instr->node >= 0 && add_loop(lowered, PyList_GET_ITEM(lowered->nodes, instr->node), loop, rows) < 0) return -1;
        if (add_program(lowered, loop->body, rows) < 0) return -1;
    }
    return 0;
}

PyObject *phases_list(const Lowered *lowered)
{
    PyObject *rows = PyList_New(0);

    if (rows != NULL && lowered->program != NULL && add_program(lowered, lowered->program, rows) < 0) Py_CLEAR(rows);
    return rows;
}
