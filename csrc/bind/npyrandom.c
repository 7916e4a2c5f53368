/* NumPy's static library of distributions, where setup.py found one to link (numpy/random/lib).
 *
 * It is the NumPy that pyscan was built with, not the one that runs, so nothing here is used before selfcheck.c has
 * compared its draws. npyrandom.inc is written by setup.py: the symbols of dists.def that the library has. NumPy's own
 * header would need Python.h; only addresses are wanted here, and dists.def says what the functions take.
 * Relies on: nothing. Relied on by: selfcheck.c. */
#include "bind/bind.h"

#include "base/names.h"

#ifdef PYSCAN_HAVE_NPYRANDOM

#define NPYRANDOM(name) extern void name(void);
#include "npyrandom.inc"
#undef NPYRANDOM

typedef struct LibraryRow {
    const char *name;
    void (*function)(void);
} LibraryRow;

static const LibraryRow rows[] = {
#define NPYRANDOM(name) {#name, name},
#include "npyrandom.inc"
#undef NPYRANDOM
};

void *npyrandom_find(const char *symbol)
{
    int i = names_find(symbol, &rows[0].name, (int)(sizeof rows / sizeof rows[0]), sizeof rows[0]);

    return i < 0 ? NULL : (void *)rows[i].function;
}

#else

void *npyrandom_find(const char *symbol) { return NULL; }

#endif
