/* What the files of bind say to each other.
 *
 * Relies on: every room. Relied on by: the files of bind. */
#ifndef PYSCAN_BIND_BIND_H
#define PYSCAN_BIND_BIND_H

#include "bind/module.h"

/* Each adds what its file exports to the module: 0, or -1 with an exception. */
int tables_module_exec(PyObject *module);

#endif
