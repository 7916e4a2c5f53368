/* The level of CPU whose kernels are used: chosen once, when the module is loaded.
 *
 * A level changes speed and no bit of any result. Relies on: nothing. Relied on by: math.c, the kernels' files, bind. */
#ifndef PYSCAN_MATH_LEVEL_H
#define PYSCAN_MATH_LEVEL_H

#include <stdbool.h>

/* Compilers that take a CPU's features by function. */
#if defined(__GNUC__) && defined(__x86_64__)
#define MATH_X86_LEVELS 1
#endif

typedef enum Level {
#define LEVEL(NAME, ...) LEVEL_##NAME,
#include "math/levels.def"
#undef LEVEL
    N_LEVELS
} Level;

const char *level_name(int level);
/* Whether this CPU and its system can run it. */
bool level_is_here(int level);
/* Chooses a level by name, or the highest that is here for NULL. -1, and nothing changes, if there is none of that name or
 * it is not here. Kernels that were looked up before stay as they are. Not to be called from two threads at once. */
int level_choose(const char *name);
/* The level chosen; LEVEL_BASELINE before. */
Level level_get(void);
/* Whether vectors are to be taken for the products of 128 bits that a step of PCG64 takes: at levels above the least, but where
 * a level was not asked for by name and the CPU's own multiplier is faster. A bounded integer's one product of 64 bits
 * is no slower by vectors there: 1.3 ns, and 1.4 without. */
bool level_multiplies(void);

#endif
