/* The elementary functions for every CPU of the architecture.
 *
 * Relies on: elementary_level.inc. Relied on by: math.c. */
#define LEVEL_TABLE elementary_baseline
#include "math/elementary_level.inc"
