/* Element types, buffers that know how many hold them, and strided arrays over them.
 *
 * Relies on: dtypes.def, mem. Relied on by: ops, program, random, math, vm, lower, bind. */
#ifndef PYSCAN_BASE_ARRAY_H
#define PYSCAN_BASE_ARRAY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum DType {
#define DTYPE(NAME, text, c_type, bytes, kind) DTYPE_##NAME,
#include "base/dtypes.def"
#undef DTYPE
    N_DTYPES
} DType;

enum { ARRAY_MAX_NDIM = 16, DTYPE_MAX_BYTES = 16 };

int64_t dtype_bytes(DType dtype);
const char *dtype_name(DType dtype);
char dtype_kind(DType dtype);
/* The type of that name, or -1. */
int dtype_from_name(const char *name);

/* A block of memory and the number of its holders. `release` (with `foreign`) is called for memory that is not ours
 * (a NumPy array lent for a call); it is NULL for memory from mem.h. */
typedef struct Buffer {
    atomic_int refs;
    size_t n_bytes;
    char *data;
    void (*release)(void *foreign);
    void *foreign;
} Buffer;

/* Owned: a new buffer of n_bytes with one holder, or NULL. */
Buffer *buffer_new(size_t n_bytes);
/* Owned: a holder on memory that somebody else owns; release(foreign) runs when the last holder goes. */
Buffer *buffer_wrap(char *data, size_t n_bytes, void (*release)(void *), void *foreign);
/* Owned: the same buffer with one more holder (NULL gives NULL). */
Buffer *buffer_ref(Buffer *buffer);
/* Gives one holder up; NULL is fine. */
void buffer_unref(Buffer *buffer);
/* Whether the caller, a holder, is the only one and the memory is ours, so that it may be written anew. */
bool buffer_is_exclusive(const Buffer *buffer);
/* Keeps a buffer that nobody else holds for later use, if it is within the bytes that are left for that; else lets go
 * of it. NULL stays. */
void buffer_keep_or_drop(Buffer **buffer, size_t *keep_bytes);

/* A strided view. `buffer` is a holder of the memory (owned by the Array) or NULL when the memory belongs to a
 * register, a constant or the row of a loop's buffer, which outlive the view. Strides are in bytes. */
typedef struct Array {
    char *data;
    Buffer *buffer;
    int32_t ndim;
    DType dtype;
    int64_t shape[ARRAY_MAX_NDIM];
    int64_t strides[ARRAY_MAX_NDIM];
} Array;

int64_t array_size(const Array *array);
/* Element i of an int64 vector. */
static inline int64_t array_int64(const Array *vector, int64_t i) { return *(const int64_t *)(const void *)(vector->data + i * vector->strides[0]); }
bool array_is_contiguous(const Array *array);
bool array_same_shape(const Array *a, const Array *b);
/* C-order strides for the array's shape and dtype. */
void array_set_contiguous_strides(Array *array);
/* 0 and *n_bytes for a shape, or -1 when the product does not fit; a negative length is the caller's to refuse. */
int array_bytes(int ndim, const int64_t *shape, DType dtype, size_t *n_bytes);
/* Copies the elements of src, of the same dtype, into dst, broadcasting length-1 axes; shapes were checked. Safe for
 * overlapping memory. */
int array_copy(Array *dst, const Array *src);

#endif
