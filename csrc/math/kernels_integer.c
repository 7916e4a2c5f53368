/* Arithmetic on booleans and integers. Overflow wraps: it is computed in unsigned types.
 *
 * Relies on: kernels.h. Relied on by: math.c. */
#include "math/kernels.h"

static inline uint64_t power_wrapping(uint64_t base, uint64_t exponent)
{
    uint64_t result = 1;

    while (exponent != 0) {
        result *= (exponent & 1) != 0 ? base : 1;
        base *= base;
        exponent >>= 1;
    }
    return result;
}

/* A negative exponent gives the real result cut to an integer: 0 but for the bases 1 and -1. */
static inline int64_t power_signed(int64_t base, int64_t exponent)
{
    if (exponent >= 0) {
        return (int64_t)power_wrapping((uint64_t)base, (uint64_t)exponent);
    }
    if (base == 1) {
        return 1;
    }
    return base != -1 ? 0 : (exponent & 1) != 0 ? -1 : 1;
}

/* Rounded down, in the widest type; the divisor -1 would overflow for the least dividend. A zero divisor was refused before. */
static inline int64_t floor_divide(int64_t a, int64_t b)
{
    if (b == 0) {
        return 0;
    }
    if (b == -1) {
        return (int64_t)(0 - (uint64_t)a);
    }
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

static inline int64_t floor_remainder(int64_t a, int64_t b)
{
    int64_t rest = b == 0 || b == -1 ? 0 : a % b;

    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* What signed and unsigned integers share. */
#define INTEGER_ROWS(UNARY, BINARY, TYPE, T, WIDE)          \
    BINARY(ADD, TYPE, T, T, (T)((WIDE)a + (WIDE)b))         \
    BINARY(SUB, TYPE, T, T, (T)((WIDE)a - (WIDE)b))         \
    BINARY(MUL, TYPE, T, T, (T)((WIDE)a * (WIDE)b))         \
    UNARY(NEG, TYPE, T, T, (T)(0 - (WIDE)a))                \
    UNARY(SQUARE, TYPE, T, T, (T)((WIDE)a * (WIDE)a))       \
    BINARY(AND, TYPE, T, T, (T)(a & b))                     \
    BINARY(OR, TYPE, T, T, (T)(a | b))                      \
    BINARY(XOR, TYPE, T, T, (T)(a ^ b))                     \
    UNARY(INVERT, TYPE, T, T, (T)~a)

#define SIGNED_ROWS(UNARY, BINARY, CALL, TYPE, T, WIDE)     \
    INTEGER_ROWS(UNARY, BINARY, TYPE, T, WIDE)              \
    CALL(FLOOR_DIVIDE, TYPE, T, T, (T)floor_divide(a, b))   \
    CALL(MOD, TYPE, T, T, (T)floor_remainder(a, b))         \
    CALL(POW, TYPE, T, T, (T)power_signed(a, b))            \
    UNARY(ABS, TYPE, T, T, (T)(a < 0 ? 0 - (WIDE)a : (WIDE)a)) \
    UNARY(SGN, TYPE, T, T, (T)((a > 0) - (a < 0)))

#define UNSIGNED_ROWS(UNARY, BINARY, CALL, TYPE, T, WIDE)   \
    INTEGER_ROWS(UNARY, BINARY, TYPE, T, WIDE)              \
    CALL(FLOOR_DIVIDE, TYPE, T, T, (T)(b == 0 ? 0 : a / b)) \
    CALL(MOD, TYPE, T, T, (T)(b == 0 ? 0 : a % b))          \
    CALL(POW, TYPE, T, T, (T)power_wrapping(a, b))          \
    UNARY(ABS, TYPE, T, T, a)                               \
    UNARY(SGN, TYPE, T, T, (T)(a != 0))

#define BOOL_ROWS(UNARY, BINARY)                            \
    BINARY(ADD, BOOL, uint8_t, uint8_t, (uint8_t)((a | b) != 0)) \
    BINARY(MUL, BOOL, uint8_t, uint8_t, (uint8_t)((a != 0) & (b != 0))) \
    UNARY(ABS, BOOL, uint8_t, uint8_t, a)                   \
    UNARY(SQUARE, BOOL, uint8_t, uint8_t, a)                \
    BINARY(AND, BOOL, uint8_t, uint8_t, (uint8_t)((a != 0) & (b != 0))) \
    BINARY(OR, BOOL, uint8_t, uint8_t, (uint8_t)((a | b) != 0)) \
    BINARY(XOR, BOOL, uint8_t, uint8_t, (uint8_t)((a != 0) ^ (b != 0))) \
    UNARY(INVERT, BOOL, uint8_t, uint8_t, (uint8_t)(a == 0))

#define DEFINE_SIGNED(TYPE, T, WIDE) SIGNED_ROWS(DEFINE1, DEFINE2, DEFINE2_CALL, TYPE, T, WIDE)
#define DEFINE_UNSIGNED(TYPE, T, WIDE) UNSIGNED_ROWS(DEFINE1, DEFINE2, DEFINE2_CALL, TYPE, T, WIDE)
FOR_SIGNED(DEFINE_SIGNED)
FOR_UNSIGNED(DEFINE_UNSIGNED)
BOOL_ROWS(DEFINE1, DEFINE2)

#define SIGNED_ENTRIES(TYPE, T, WIDE) SIGNED_ROWS(ENTRY, ENTRY, ENTRY, TYPE, T, WIDE)
#define UNSIGNED_ENTRIES(TYPE, T, WIDE) UNSIGNED_ROWS(ENTRY, ENTRY, ENTRY, TYPE, T, WIDE)
const MapKernel kernels_integer[N_SCALARS][N_DTYPES] = {
    FOR_SIGNED(SIGNED_ENTRIES) FOR_UNSIGNED(UNSIGNED_ENTRIES) BOOL_ROWS(ENTRY, ENTRY)
};
