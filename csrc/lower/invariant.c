/* Which instructions of a loop's body need no value that varies from step to step.
 *
 * An instruction is invariant when all its sources are constants, fixed inputs or results of invariant instructions;
 * when it is no call-back and holds none; and when nobody writes in place on what it makes, since what is destroyed in
 * one step, or handed on to the next, must be made anew. The vm runs invariant instructions once, before the first step.
 *
 *     e = empty n          computed in each step, since the next line destroys it
 *     s = set_slice e x    in place
 *     m = map.exp c        once: c is fixed
 *
 * Relies on: build, program. Relied on by: lower_scan.c. */
#include "lower/build.h"

#include "base/mem.h"

/* For every value of the body. */
typedef struct Marks {
    int32_t *root;   /* the value whose memory it shows */
    char *varies;
    char *destroyed; /* for roots */
} Marks;

static bool program_has_call(const Program *program)
{
    for (int32_t i = 0; i < program->n_instrs; i++)
        if (program->instrs[i].opcode == I_CALL) return true;
    for (int32_t i = 0; i < program->n_loops; i++)
        if (program_has_call(program->loops[i].body)) return true; /* as deep as loops are nested */
    return false;
}

static const Loop *loop_of(const Program *program, const Instr *instr)
{
    return instr->opcode == I_LOOP ? &program->loops[instr_aux(program, instr)[0]] : NULL;
}

/* The roots of an instruction's results, and which roots it destroys. */
static void trace_instr(const Program *program, const Instr *instr, Marks *marks)
{
    const Loop *loop = loop_of(program, instr);
    AliasRule rule = instr_alias(instr);

    if (rule != ALIAS_NEVER) {
        int32_t root = marks->root[instr_src(program, instr)[0]];
        marks->root[instr_dst(program, instr)[0]] = root;
        if (rule == ALIAS_DESTROY) marks->destroyed[root] = 1;
    }
    for (int32_t i = 0; loop != NULL && i < loop->n_states; i++)
        if (loop->states[i].inplace) marks->destroyed[marks->root[loop->states[i].outer_in]] = 1;
    for (int32_t i = 0; loop != NULL && i < loop->n_carries; i++) {
        if (loop->carries[i].inplace) marks->destroyed[marks->root[loop->carries[i].outer_in]] = 1;
    }
}

static bool loop_varies(const Loop *loop, const char *varies)
{
    for (int32_t i = 0; i < loop_n_src(loop); i++)
        if (varies[loop_src(loop, i)]) return true;
    return program_has_call(loop->body);
}

static bool loop_is_destroyed(const Loop *loop, const char *destroyed)
{
    for (int32_t i = 0; i < loop_n_dst(loop); i++)
        if (destroyed[loop_dst(loop, i)]) return true;
    return false;
}

/* Whether the instruction must run in every step. */
static bool instr_varies(const Program *program, const Instr *instr, const Marks *marks)
{
    const Loop *loop = loop_of(program, instr);
    const int32_t *src = instr_src(program, instr), *dst = instr_dst(program, instr);

    if (instr->opcode == I_CALL) return true;
    if (loop != NULL) return loop_varies(loop, marks->varies) || loop_is_destroyed(loop, marks->destroyed);
    for (int32_t i = 0; i < instr->n_src; i++)
        if (marks->varies[src[i]]) return true;
    for (int32_t i = 0; i < instr->n_dst; i++)
        if (marks->destroyed[marks->root[dst[i]]]) return true;
    return false;
}

static void mark_instr(Program *program, Instr *instr, Marks *marks)
{
    const Loop *loop = loop_of(program, instr);
    const int32_t *dst = instr_dst(program, instr);

    if (!instr_varies(program, instr, marks)) {
        instr->flags |= INSTR_INVARIANT;
    } else if (loop != NULL) {
        for (int32_t i = 0; i < loop_n_dst(loop); i++) marks->varies[loop_dst(loop, i)] = 1;
    } else {
        for (int32_t i = 0; i < instr->n_dst; i++) marks->varies[dst[i]] = 1;
    }
}

int lower_mark_invariant(Builder *builder, const Loop *loop, const Numbers *varying)
{
    Program *program = builder->program;
    size_t n = (size_t)program->n_values;
    Marks marks = {mem_calloc(n, sizeof(int32_t)), mem_calloc(n, 1), mem_calloc(n, 1)};
    int result = -1;

    if (marks.root == NULL || marks.varies == NULL || marks.destroyed == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    for (int32_t i = 0; i < program->n_values; i++) marks.root[i] = i;
    for (int32_t i = 0; i < varying->n; i++) marks.varies[varying->items[i]] = 1;
    for (int32_t i = 0; i < program->n_instrs; i++) trace_instr(program, &program->instrs[i], &marks);
    /* What is handed to the next step may be destroyed there. */
    for (int32_t i = 0; i < loop->n_carries; i++) marks.destroyed[marks.root[loop->carries[i].inner_out]] = 1;
    for (int32_t i = 0; i < program->n_instrs; i++) mark_instr(program, &program->instrs[i], &marks);
    result = 0;
done:
    mem_free(marks.root);
    mem_free(marks.varies);
    mem_free(marks.destroyed);
    return result;
}
