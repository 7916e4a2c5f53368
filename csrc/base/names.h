/* Rows of a table by name.
 *
 * Relies on: nothing. Relied on by: the look-ups of tables in all rooms. */
#ifndef PYSCAN_BASE_NAMES_H
#define PYSCAN_BASE_NAMES_H

#include <stddef.h>
#include <string.h>

/* The first of n rows whose name it is, or -1. `first` is where the first row keeps its name; the rows' are row_bytes apart. */
static inline int names_find(const char *name, const char *const *first, int n, size_t row_bytes)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(*(const char *const *)(const void *)((const char *)first + (size_t)i * row_bytes), name) == 0) {
            return i;
        }
    }
    return -1;
}

#endif
