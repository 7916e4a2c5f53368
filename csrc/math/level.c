/* Finding out what the CPU has, and the choice of a level.
 *
 * The choice is static state, as the CPU itself belongs to the process; no result depends on it.
 * Relies on: level.h. Relied on by: math.c, bind. */
#include "math/level.h"

#include <stddef.h>
#include <string.h>

static Level chosen = LEVEL_BASELINE;
static bool chosen_multiplies = false;

const char *level_name(int level)
{
    static const char *const names[] = {
#define LEVEL(NAME, name, doc) #name,
#include "math/levels.def"
#undef LEVEL
    };
    return names[level];
}

bool level_is_here(int level)
{
#ifdef MATH_X86_LEVELS
    __builtin_cpu_init();
    switch (level) {
    case LEVEL_AVX2:
        return __builtin_cpu_supports("avx2");
    case LEVEL_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
    default:
        return true;
    }
#else
    return level == LEVEL_BASELINE;
#endif
}

/* AMD's first Zen computes the two halves of a vector of AVX2 one after the other: a word of PCG64 takes it 3.0 ns by such
 * vectors, and 1.7 by the multiplier of 64 bits. */
static bool halves_vectors(void)
{
#ifdef MATH_X86_LEVELS
    __builtin_cpu_init();
    return __builtin_cpu_is("znver1");
#else
    return false;
#endif
}

int level_choose(const char *name)
{
    for (int level = N_LEVELS - 1; level >= 0; level--) {
        if (name == NULL ? level_is_here(level) : strcmp(name, level_name(level)) == 0) {
            if (!level_is_here(level)) {
                return -1;
            }
            chosen = (Level)level;
            chosen_multiplies = level != LEVEL_BASELINE && (name != NULL || !halves_vectors());
            return 0;
        }
    }
    return -1;
}

Level level_get(void) { return chosen; }
bool level_multiplies(void) { return chosen_multiplies; }
