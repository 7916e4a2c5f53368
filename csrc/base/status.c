/* Filling a Status, and the rows of status.def.
 *
 * Relies on: status.def. Relied on by: every room that can fail without Python. */
#include "base/status.h"

#include <string.h>

typedef struct StatusRow {
    const char *name, *exception, *message;
} StatusRow;

static const StatusRow rows[N_STATUS_CODES] = {
#define STATUS(NAME, exception, message) {#NAME, exception, message},
#include "base/status.def"
#undef STATUS
};

void status_clear(Status *status)
{
    status->code = STATUS_OK;
    status->node = -1;
    status->n_path = 0;
    status->a = status->b = status->c = status->d = 0;
    status->ndim_a = status->ndim_b = 0; /* the shapes and the path are read as far as these counts say */
    status->text[0] = '\0';
}

int status_fail(Status *status, StatusCode code)
{
    status_clear(status);
    status->code = code;
    return -1;
}

/* The length to which a text is cut so that it fits and does not end inside a UTF-8 character. */
static size_t cut_length(const char *text)
{
    size_t n = 0;

    while (n < STATUS_TEXT_BYTES && text[n] != '\0') {
        n++;
    }
    if (n < STATUS_TEXT_BYTES) {
        return n;
    }
    n = STATUS_TEXT_BYTES - 1;
    while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80) {
        n--;
    }
    return n;
}

int status_fail_text(Status *status, StatusCode code, const char *text)
{
    char copy[STATUS_TEXT_BYTES]; /* text may be the text of this very status */
    size_t n = cut_length(text);

    memcpy(copy, text, n);
    status_fail(status, code);
    memcpy(status->text, copy, n);
    status->text[n] = '\0';
    return -1;
}

int status_fail_numbers(Status *status, StatusCode code, int64_t a, int64_t b, int64_t c, int64_t d)
{
    status_fail(status, code);
    status->a = a;
    status->b = b;
    status->c = c;
    status->d = d;
    return -1;
}

/* Keeps at most ARRAY_MAX_NDIM lengths. */
static int32_t keep_shape(int64_t *kept, int ndim, const int64_t *shape)
{
    int n = ndim < 0 ? 0 : ndim > ARRAY_MAX_NDIM ? ARRAY_MAX_NDIM : ndim;

    for (int i = 0; i < n; i++) {
        kept[i] = shape[i];
    }
    return (int32_t)n;
}

int status_fail_shapes(Status *status, StatusCode code, int ndim_a, const int64_t *shape_a, int ndim_b, const int64_t *shape_b)
{
    status_fail(status, code);
    status->ndim_a = keep_shape(status->shape_a, ndim_a, shape_a);
    status->ndim_b = keep_shape(status->shape_b, ndim_b, shape_b);
    return -1;
}

const char *status_exception(StatusCode code) { return rows[code].exception; }

const char *status_message(StatusCode code) { return rows[code].message; }

const char *status_name(StatusCode code) { return rows[code].name; }
