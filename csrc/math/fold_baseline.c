/* Folds for every CPU of the architecture.
 *
 * Relies on: fold_level.inc. Relied on by: fold.c. */
#define FOLD_TABLE folds_baseline
#define COLUMNS_TABLE columns_baseline
#define WIDE_TABLE wide_folds_baseline
#define WIDE_COLUMNS_TABLE wide_columns_baseline
#define LEVEL_COMPLEX_ROWS COMPLEX_ROWS
#include "math/fold_level.inc"
