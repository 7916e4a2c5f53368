/* The elementary functions and arithmetic for every CPU of the architecture.
 *
 * Relies on: elementary_level.inc, arithmetic_level.inc. Relied on by: math.c. */
#define LEVEL_TABLE elementary_baseline
#include "math/elementary_level.inc"

#define ARITHMETIC_TABLE arithmetic_baseline
#define REPEAT_TABLE repeat_baseline
#include "math/arithmetic_level.inc"
