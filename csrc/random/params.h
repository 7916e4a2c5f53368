/* Checks of the parameters of distributions, with NumPy's words. Relied on by: draw.c, normals.c, positions.c,
 * vectors.c; see draw.h. */
#ifndef PYSCAN_RANDOM_PARAMS_H
#define PYSCAN_RANDOM_PARAMS_H

#include "random/draw.h"

/* The column of that name in dists.def. */
typedef enum Checker {
    CHECKER_EACH,
    CHECKER_LAST_FIRST,
    CHECKER_RANGE,
    CHECKER_BOUNDS,
    CHECKER_SCIPY,
    CHECKER_TRIANGLE,
    CHECKER_URN,
    CHECKER_RATE,
    CHECKER_RATIO,
    CHECKER_BETAS,
    CHECKER_OUTCOMES,
    N_CHECKERS
} Checker;

/* Elements between two polls: some 0.1 ms of the cheapest draws, some 8 ms of the dearest. */
enum { POLL_ELEMENTS = 8192 };

/* 0, or -1 with STATUS_INTERRUPTED. */
int params_poll(DrawPoll poll, Status *status);
/* draw_check for scalar parameters, of which params holds the addresses, and one element. */
int params_check_scalars(int dist, const char *const *params, Status *status);

#endif
