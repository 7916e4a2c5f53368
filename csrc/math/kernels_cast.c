/* Copying elements of one type as another.
 *
 * Relies on: kernels.h. Relied on by: math.c, vm. */
#include "math/kernels.h"

/* Real to integer where C leaves the result open: what x86's conversion instructions give, as NumPy does there. */
static inline int64_t real_to_int64(double x)
{
    return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (int64_t)x : INT64_MIN;
}

static inline int32_t real_to_int32(double x) { return x > -2147483649.0 && x < 2147483648.0 ? (int32_t)x : INT32_MIN; }

static inline uint64_t real_to_uint64(double x)
{
    const double half = 9223372036854775808.0;

    return x >= half ? (uint64_t)real_to_int64(x - half) ^ ((uint64_t)1 << 63) : (uint64_t)real_to_int64(x);
}

#define REAL_TO_BOOL(x) ((uint8_t)((x) != 0))
#define REAL_TO_INT8(x) ((int8_t)real_to_int32((double)(x)))
#define REAL_TO_INT16(x) ((int16_t)real_to_int32((double)(x)))
#define REAL_TO_INT32(x) real_to_int32((double)(x))
#define REAL_TO_INT64(x) real_to_int64((double)(x))
#define REAL_TO_UINT8(x) ((uint8_t)real_to_int32((double)(x)))
#define REAL_TO_UINT16(x) ((uint16_t)real_to_int32((double)(x)))
#define REAL_TO_UINT32(x) ((uint32_t)real_to_int64((double)(x)))
#define REAL_TO_UINT64(x) real_to_uint64((double)(x))
#define REAL_TO_FLOAT32(x) ((float)(x))
#define REAL_TO_FLOAT64(x) ((double)(x))
#define REAL_TO_COMPLEX64(x) ((Complex64){(float)(x), 0})
#define REAL_TO_COMPLEX128(x) ((Complex128){(double)(x), 0})

/* Each destination: its type and the value of a for a whole, a real and a complex source. */
#define WHOLE_ROWS(ROW, FROM, F)                                    \
    ROW(FROM, BOOL, F, uint8_t, (uint8_t)(a != 0))                  \
    ROW(FROM, INT8, F, int8_t, (int8_t)a)                           \
    ROW(FROM, INT16, F, int16_t, (int16_t)a)                        \
    ROW(FROM, INT32, F, int32_t, (int32_t)a)                        \
    ROW(FROM, INT64, F, int64_t, (int64_t)a)                        \
    ROW(FROM, UINT8, F, uint8_t, (uint8_t)a)                        \
    ROW(FROM, UINT16, F, uint16_t, (uint16_t)a)                     \
    ROW(FROM, UINT32, F, uint32_t, (uint32_t)a)                     \
    ROW(FROM, UINT64, F, uint64_t, (uint64_t)a)                     \
    ROW(FROM, FLOAT32, F, float, (float)a)                          \
    ROW(FROM, FLOAT64, F, double, (double)a)                        \
    ROW(FROM, COMPLEX64, F, Complex64, REAL_TO_COMPLEX64(a))        \
    ROW(FROM, COMPLEX128, F, Complex128, REAL_TO_COMPLEX128(a))

#define REAL_ROWS(ROW, FROM, F)                                     \
    ROW(FROM, BOOL, F, uint8_t, REAL_TO_BOOL(a))                    \
    ROW(FROM, INT8, F, int8_t, REAL_TO_INT8(a))                     \
    ROW(FROM, INT16, F, int16_t, REAL_TO_INT16(a))                  \
    ROW(FROM, INT32, F, int32_t, REAL_TO_INT32(a))                  \
    ROW(FROM, INT64, F, int64_t, REAL_TO_INT64(a))                  \
    ROW(FROM, UINT8, F, uint8_t, REAL_TO_UINT8(a))                  \
    ROW(FROM, UINT16, F, uint16_t, REAL_TO_UINT16(a))               \
    ROW(FROM, UINT32, F, uint32_t, REAL_TO_UINT32(a))               \
    ROW(FROM, UINT64, F, uint64_t, REAL_TO_UINT64(a))               \
    ROW(FROM, FLOAT32, F, float, REAL_TO_FLOAT32(a))                \
    ROW(FROM, FLOAT64, F, double, REAL_TO_FLOAT64(a))               \
    ROW(FROM, COMPLEX64, F, Complex64, REAL_TO_COMPLEX64(a))        \
    ROW(FROM, COMPLEX128, F, Complex128, REAL_TO_COMPLEX128(a))

/* The imaginary part is dropped, but counts for truth. */
#define COMPLEX_ROWS(ROW, FROM, F)                                  \
    ROW(FROM, BOOL, F, uint8_t, (uint8_t)(a.re != 0 || a.im != 0))  \
    ROW(FROM, INT8, F, int8_t, REAL_TO_INT8(a.re))                  \
    ROW(FROM, INT16, F, int16_t, REAL_TO_INT16(a.re))               \
    ROW(FROM, INT32, F, int32_t, REAL_TO_INT32(a.re))               \
    ROW(FROM, INT64, F, int64_t, REAL_TO_INT64(a.re))               \
    ROW(FROM, UINT8, F, uint8_t, REAL_TO_UINT8(a.re))               \
    ROW(FROM, UINT16, F, uint16_t, REAL_TO_UINT16(a.re))            \
    ROW(FROM, UINT32, F, uint32_t, REAL_TO_UINT32(a.re))            \
    ROW(FROM, UINT64, F, uint64_t, REAL_TO_UINT64(a.re))            \
    ROW(FROM, FLOAT32, F, float, REAL_TO_FLOAT32(a.re))             \
    ROW(FROM, FLOAT64, F, double, REAL_TO_FLOAT64(a.re))            \
    ROW(FROM, COMPLEX64, F, Complex64, ((Complex64){(float)a.re, (float)a.im})) \
    ROW(FROM, COMPLEX128, F, Complex128, ((Complex128){(double)a.re, (double)a.im}))

#define CAST_ROWS(ROW)                      \
    WHOLE_ROWS(ROW, BOOL, uint8_t)          \
    WHOLE_ROWS(ROW, INT8, int8_t)           \
    WHOLE_ROWS(ROW, INT16, int16_t)         \
    WHOLE_ROWS(ROW, INT32, int32_t)         \
    WHOLE_ROWS(ROW, INT64, int64_t)         \
    WHOLE_ROWS(ROW, UINT8, uint8_t)         \
    WHOLE_ROWS(ROW, UINT16, uint16_t)       \
    WHOLE_ROWS(ROW, UINT32, uint32_t)       \
    WHOLE_ROWS(ROW, UINT64, uint64_t)       \
    REAL_ROWS(ROW, FLOAT32, float)          \
    REAL_ROWS(ROW, FLOAT64, double)         \
    COMPLEX_ROWS(ROW, COMPLEX64, Complex64) \
    COMPLEX_ROWS(ROW, COMPLEX128, Complex128)

#define DEFINE_CAST(FROM, TO, F, T, EXPR) DEFINE1(FROM, TO, F, T, EXPR)
CAST_ROWS(DEFINE_CAST)

#define CAST_ENTRY(FROM, TO, ...) [DTYPE_##FROM][DTYPE_##TO] = FROM##_##TO,
static const MapKernel casts[N_DTYPES][N_DTYPES] = {CAST_ROWS(CAST_ENTRY)};

MapKernel math_cast(int from, int to) { return casts[from][to]; }
