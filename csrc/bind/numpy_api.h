/* NumPy's C API, one table for all files of bind. convert.c imports it (and defines PYSCAN_IMPORT_NUMPY).
 *
 * The table's pointer is NumPy's own static: set once when the module is loaded, the same for all interpreters. */
#ifndef PYSCAN_BIND_NUMPY_API_H
#define PYSCAN_BIND_NUMPY_API_H

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL pyscan_numpy_api
#ifndef PYSCAN_IMPORT_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
#define NO_IMPORT_UFUNC
#include <numpy/ufuncobject.h> /* for the layout of a ufunc alone */

#endif
