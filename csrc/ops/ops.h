/* The tables of operations as enums and lookups: elementwise functions (scalars.def), graph operations (ops.def),
 * reductions (reduces.def) and what other libraries compute (library.def).
 *
 * Relies on: base (element types). Relied on by: rewrite, program, math, vm, lower, bind. */
#ifndef PYSCAN_OPS_OPS_H
#define PYSCAN_OPS_OPS_H

#include <stdbool.h>

#include "base/array.h"

typedef enum Scalar {
#define SCALAR(NAME, ...) SCALAR_##NAME,
#include "ops/scalars.def"
#undef SCALAR
    N_SCALARS
} Scalar;

/* How the result's type and the computing type follow from the inputs' types. "Promoted" is NumPy's promotion of types. */
typedef enum ScalarRule {
    RULE_SAME,        /* result and computing type: the inputs promoted */
    RULE_FLOAT,       /* as SAME, but bool, int8, int16, uint8, uint16 become float32 and wider integers float64 */
    RULE_DIVIDE,      /* as SAME, but bool and integers become float64 */
    RULE_BOOL,        /* result bool; computed in the inputs promoted */
    RULE_SWITCH,      /* first input bool; result and computing type: the other two promoted */
    RULE_REAL,        /* computed in the input's type; the result is its real type (complex64: float32, complex128: float64) */
    RULE_DOUBLE,      /* computed as FLOAT; the result is float64 */
    RULE_PAIR,        /* computed as FLOAT; the result is complex64 for float32, complex128 for float64 */
    RULE_FIRST_SHAPE, /* result and computing type: the second input's; only the shape of the first counts */
    N_RULES
} ScalarRule;

const char *scalar_name(int scalar);
int scalar_from_name(const char *name); /* -1 when there is none */
int scalar_n_in(int scalar);            /* -1: two or more */
bool scalar_accepts(int scalar, int n_in);
ScalarRule scalar_rule(int scalar);
const char *scalar_rule_name(int scalar); /* as it is written in the row */
const char *scalar_classes(int scalar);   /* the kinds of computing type (dtypes.def) that have a kernel */
bool scalar_has_kernel(int scalar, DType compute);
const char *scalar_doc(int scalar);
/* Whether an element's value can make it fail when computed in that type: integers by zero. */
bool scalar_can_raise(int scalar, DType compute);
/* The computing type and the result's type for inputs of these types, or -1 when the row has no kernel for them. For
 * RULE_SWITCH the first source stays bool and the others are of the computing type; for RULE_FIRST_SHAPE the first
 * may be of any type; elsewhere all sources are of the computing type once cast. */
int scalar_types(int scalar, int n_in, const DType *in, DType *compute, DType *out);
/* The result's type for a computing type. */
DType scalar_result(int scalar, DType compute);

/* Functions of other libraries (library.def), by their types of elements. */
typedef enum Library {
#define LIBRARY(NAME, ...) LIBRARY_##NAME,
#include "ops/library.def"
#undef LIBRARY
    N_LIBRARY
} Library;
enum { N_LIBRARY_TYPES = 4, LIBRARY_MAX_OPERANDS = 7 };
int library_type(DType dtype); /* 0 to 3: float32, float64, complex64, complex128; else -1 */
const char *library_name(int library);
int library_from_name(const char *name); /* -1 when there is none */
const char *library_module(int library);
const char *library_ufunc(int library);
int library_n_in(int library);
int library_n_out(int library);
const char *library_operands(int library);
bool library_is_elementwise(int library);
/* Of operand k, inputs before outputs: its axes, a letter for each, which end before a ',', a '>' or the text's end;
 * their number; and its type, where the function computes in `dtype`. */
const char *library_axes(int library, int k);
int library_ndim(int library, int k);
DType library_dtype(int library, int k, DType dtype);
/* Whether the loop writes its first input: the last output, which is no operand of the loop, is what it leaves there. */
bool library_rewrites(int library);
const char *library_failure(int library);
const char *library_doc(int library);

/* NumPy's promotion of two types. */
DType dtype_promote(DType a, DType b);
/* The type of a complex type's parts; other types are their own. */
DType dtype_real(DType dtype);

typedef enum OpKind {
#define OP(NAME, ...) OP_##NAME,
#include "ops/ops.def"
#undef OP
    N_OPS
} OpKind;

const char *op_kind(int op);           /* the word in the class attribute `kind` */
int op_from_kind(const char *kind);    /* -1 when there is none */
const char *op_attributes(int op);     /* what lower reads of the Op */
bool op_can_raise(int op);             /* by the values or shapes that come; false: never at run time */
const char *op_signature(int op);      /* inputs -> outputs */

typedef enum Reduce {
#define REDUCE(NAME, ...) REDUCE_##NAME,
#include "ops/reduces.def"
#undef REDUCE
    N_REDUCES
} Reduce;

const char *reduce_name(int reduce);
int reduce_from_name(const char *name); /* -1 when there is none */
int reduce_scalar(int reduce);          /* the elementwise operation that folds */
const char *reduce_doc(int reduce);

#endif
