/* The rows of scalars.def and ops.def, their lookups, and the rules of types.
 *
 * Relies on: base. Relied on by: rewrite, program, math, vm, lower, bind. */
#include "ops/ops.h"

#include <string.h>

#include "base/names.h"

typedef struct ScalarRow {
    const char *name;
    int n_in;
    ScalarRule rule;
    const char *rule_name, *classes, *doc;
} ScalarRow;

static const ScalarRow scalars[N_SCALARS] = {
#define SCALAR(NAME, name, n_in, rule, classes, doc) {name, n_in, RULE_##rule, #rule, classes, doc},
#include "ops/scalars.def"
#undef SCALAR
};

const char *scalar_name(int scalar) { return scalars[scalar].name; }

int scalar_from_name(const char *name) { return names_find(name, &scalars[0].name, N_SCALARS, sizeof scalars[0]); }

int scalar_n_in(int scalar) { return scalars[scalar].n_in; }

bool scalar_accepts(int scalar, int n_in)
{
    return scalars[scalar].n_in < 0 ? n_in >= 2 : n_in == scalars[scalar].n_in;
}

ScalarRule scalar_rule(int scalar) { return scalars[scalar].rule; }

const char *scalar_rule_name(int scalar) { return scalars[scalar].rule_name; }

const char *scalar_classes(int scalar) { return scalars[scalar].classes; }

bool scalar_has_kernel(int scalar, DType compute) { return strchr(scalars[scalar].classes, dtype_kind(compute)) != NULL; }

const char *scalar_doc(int scalar) { return scalars[scalar].doc; }

bool scalar_can_raise(int scalar, DType compute)
{
    char kind = dtype_kind(compute);
    return (scalar == SCALAR_FLOOR_DIVIDE || scalar == SCALAR_MOD) && (kind == 'i' || kind == 'u');
}

/* The signed or unsigned integer type of that size, or float64 where there is none so wide. */
static DType integer_of(char kind, int64_t n_bytes)
{
    for (int i = 0; i < N_DTYPES; i++) {
        if (dtype_kind((DType)i) == kind && dtype_bytes((DType)i) == n_bytes) {
            return (DType)i;
        }
    }
    return DTYPE_FLOAT64;
}

static DType larger_of(DType a, DType b) { return dtype_bytes(a) >= dtype_bytes(b) ? a : b; }

/* Position of a kind in the order in which NumPy lets one kind swallow another. */
static int kind_rank(DType dtype)
{
    static const char order[] = "biufc";

    return (int)(strchr(order, dtype_kind(dtype)) - order);
}

/* A real or complex type that holds every value of an integer or boolean type as well as NumPy asks for. */
static DType float_for(DType dtype)
{
    char kind = dtype_kind(dtype);

    if (kind == 'f' || kind == 'c') {
        return dtype;
    }
    return dtype_bytes(dtype) <= 2 ? DTYPE_FLOAT32 : DTYPE_FLOAT64;
}

DType dtype_real(DType dtype)
{
    return dtype == DTYPE_COMPLEX64 ? DTYPE_FLOAT32 : dtype == DTYPE_COMPLEX128 ? DTYPE_FLOAT64 : dtype;
}

DType dtype_promote(DType a, DType b)
{
    DType low = kind_rank(a) <= kind_rank(b) ? a : b, high = low == a ? b : a;
    char kind = dtype_kind(high);

    if (dtype_kind(low) == kind) {
        return larger_of(a, b);
    }
    if (dtype_kind(low) == 'b' && kind != 'c') {
        return high;
    }
    if (kind == 'u') { /* signed with unsigned: the signed type that holds both */
        return dtype_bytes(low) > dtype_bytes(high) ? low : integer_of('i', dtype_bytes(high) * 2);
    }
    if (kind == 'f') {
        return larger_of(high, float_for(low));
    }
    if (dtype_kind(low) == 'b') {
        return high;
    }
    return larger_of(dtype_real(high), float_for(low)) == DTYPE_FLOAT64 ? DTYPE_COMPLEX128 : DTYPE_COMPLEX64;
}

DType scalar_result(int scalar, DType compute)
{
    switch (scalars[scalar].rule) {
    case RULE_BOOL:
        return DTYPE_BOOL;
    case RULE_REAL:
        return dtype_real(compute);
    case RULE_DOUBLE:
        return DTYPE_FLOAT64;
    case RULE_PAIR:
        return compute == DTYPE_FLOAT32 ? DTYPE_COMPLEX64 : DTYPE_COMPLEX128;
    default:
        return compute;
    }
}

int scalar_types(int scalar, int n_in, const DType *in, DType *compute, DType *out)
{
    ScalarRule rule = scalars[scalar].rule;
    int first = rule == RULE_SWITCH || rule == RULE_FIRST_SHAPE ? 1 : 0;
    DType type;

    if (!scalar_accepts(scalar, n_in)) {
        return -1;
    }
    type = in[first];
    for (int i = first + 1; i < n_in; i++) {
        type = dtype_promote(type, in[i]);
    }
    if (rule == RULE_FLOAT || rule == RULE_DOUBLE || rule == RULE_PAIR || (rule == RULE_REAL && !scalar_has_kernel(scalar, type))) {
        type = float_for(type);
    } else if (rule == RULE_DIVIDE && dtype_kind(type) != 'f' && dtype_kind(type) != 'c') {
        type = DTYPE_FLOAT64;
    }
    if (!scalar_has_kernel(scalar, type)) {
        return -1;
    }
    *compute = type;
    *out = scalar_result(scalar, type);
    return 0;
}

typedef struct OpRow {
    const char *kind, *attributes;
    char can_raise;
    const char *signature;
} OpRow;

static const OpRow ops[N_OPS] = {
#define OP(NAME, kind, attributes, can_raise, signature) {kind, attributes, can_raise, signature},
#include "ops/ops.def"
#undef OP
};

const char *op_kind(int op) { return ops[op].kind; }

int op_from_kind(const char *kind) { return names_find(kind, &ops[0].kind, N_OPS, sizeof ops[0]); }

const char *op_attributes(int op) { return ops[op].attributes; }

bool op_can_raise(int op) { return ops[op].can_raise == 'v'; }

const char *op_signature(int op) { return ops[op].signature; }

typedef struct ReduceRow {
    const char *name;
    int scalar;
    const char *doc;
} ReduceRow;

static const ReduceRow reduces[N_REDUCES] = {
#define REDUCE(NAME, name, SCALAR, doc) {name, SCALAR_##SCALAR, doc},
#include "ops/reduces.def"
#undef REDUCE
};

const char *reduce_name(int reduce) { return reduces[reduce].name; }

int reduce_from_name(const char *name) { return names_find(name, &reduces[0].name, N_REDUCES, sizeof reduces[0]); }

int reduce_scalar(int reduce) { return reduces[reduce].scalar; }

const char *reduce_doc(int reduce) { return reduces[reduce].doc; }

typedef struct LibraryRow {
    const char *name, *module, *ufunc;
    int n_in;
    const char *operands, *failure, *doc;
} LibraryRow;

static const LibraryRow libraries[N_LIBRARY] = {
#define LIBRARY(NAME, name, module, ufunc, n_in, operands, failure, doc) {name, module, ufunc, n_in, operands, failure, doc},
#include "ops/library.def"
#undef LIBRARY
};

int library_type(DType dtype)
{
    switch (dtype) {
    case DTYPE_FLOAT32:
        return 0;
    case DTYPE_FLOAT64:
        return 1;
    case DTYPE_COMPLEX64:
        return 2;
    case DTYPE_COMPLEX128:
        return 3;
    default:
        return -1;
    }
}

const char *library_name(int library) { return libraries[library].name; }

int library_from_name(const char *name) { return names_find(name, &libraries[0].name, N_LIBRARY, sizeof libraries[0]); }

const char *library_module(int library) { return libraries[library].module; }

const char *library_ufunc(int library) { return libraries[library].ufunc; }

int library_n_in(int library) { return libraries[library].n_in; }

int library_n_out(int library)
{
    const char *outputs = strchr(libraries[library].operands, '>');
    int n = 1;

    for (; outputs != NULL && *outputs != '\0'; outputs++) {
        n += *outputs == ',';
    }
    return n;
}

const char *library_operands(int library) { return libraries[library].operands; }

bool library_is_elementwise(int library) { return libraries[library].operands[0] == '\0'; }

static bool is_end(char letter) { return letter == '\0' || letter == ',' || letter == '>'; }

/* The text of operand k, its mark too. */
static const char *find_operand(int library, int k)
{
    const char *text = libraries[library].operands;

    for (; k > 0 && *text != '\0'; text++) {
        k -= is_end(*text);
    }
    return text;
}

const char *library_axes(int library, int k)
{
    const char *text = find_operand(library, k);

    return text + (*text != '\0' && strchr("*+#=", *text) != NULL);
}

DType library_dtype(int library, int k, DType dtype)
{
    switch (find_operand(library, k)[0]) {
    case '*':
        return dtype_real(dtype);
    case '+':
        return dtype_promote(dtype, DTYPE_COMPLEX64);
    case '#':
        return DTYPE_INT32;
    default:
        return dtype;
    }
}

bool library_rewrites(int library) { return strchr(libraries[library].operands, '=') != NULL; }

int library_ndim(int library, int k)
{
    const char *axes = library_axes(library, k);
    int ndim = 0;

    while (!is_end(axes[ndim])) {
        ndim++;
    }
    return ndim;
}

const char *library_failure(int library) { return libraries[library].failure; }

const char *library_doc(int library) { return libraries[library].doc; }
