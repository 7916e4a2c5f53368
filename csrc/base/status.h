/* What went wrong in a room without Python, as plain data. bind/errors.c turns it into an exception, once.
 *
 * Relies on: status.def. Relied on by: program, random, math, vm, lower, bind. */
#ifndef PYSCAN_BASE_STATUS_H
#define PYSCAN_BASE_STATUS_H

#include <stdint.h>

#include "base/array.h"

typedef enum StatusCode {
#define STATUS(NAME, exception, message) STATUS_##NAME,
#include "base/status.def"
#undef STATUS
    N_STATUS_CODES
} StatusCode;

enum { STATUS_MAX_DEPTH = 8, STATUS_TEXT_BYTES = 256 };

/* Filled by the first failure and read once. `path` holds the step of each loop around the failing instruction,
 * outermost first (only the first STATUS_MAX_DEPTH are kept; n_path counts all). */
typedef struct Status {
    StatusCode code;
    int32_t node;   /* index of the failing node in the program's node table, -1 when unknown */
    int32_t n_path;
    int64_t path[STATUS_MAX_DEPTH];
    int64_t a, b, c, d;
    int32_t ndim_a, ndim_b;
    int64_t shape_a[ARRAY_MAX_NDIM], shape_b[ARRAY_MAX_NDIM];
    char text[STATUS_TEXT_BYTES];
} Status;

void status_clear(Status *status);
/* Each sets the code and the fields named, and returns -1 so that a caller can `return status_fail(...)`. */
int status_fail(Status *status, StatusCode code);
int status_fail_text(Status *status, StatusCode code, const char *text);
int status_fail_numbers(Status *status, StatusCode code, int64_t a, int64_t b, int64_t c, int64_t d);
int status_fail_shapes(Status *status, StatusCode code, int ndim_a, const int64_t *shape_a, int ndim_b, const int64_t *shape_b);
/* The row of status.def: the exception's class name and the message template. */
const char *status_exception(StatusCode code);
const char *status_message(StatusCode code);
const char *status_name(StatusCode code);

#endif
