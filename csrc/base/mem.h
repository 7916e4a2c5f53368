/* The one place where C memory comes from.
 *
 * Every room allocates through these functions, so that one counter can make any allocation fail (tests/faults).
 * Relies on: nothing. Relied on by: every room. */
#ifndef PYSCAN_BASE_MEM_H
#define PYSCAN_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

/* Owned memory, 64-byte aligned where n_bytes >= 64; NULL when there is none. A size of 0 gives a valid pointer. */
void *mem_alloc(size_t n_bytes);
/* The same, zeroed; the product is checked. */
void *mem_calloc(size_t n, size_t item_bytes);
/* n items of item_bytes each, checked product; on failure the old block stays valid. A grown block has the alignment
 * of malloc: it is for lists, not for elements. NULL as ptr allocates. */
void *mem_resize(void *ptr, size_t n, size_t item_bytes);
/* Frees; NULL is fine. */
void mem_free(void *ptr);
/* The same as mem_alloc and mem_free, for memory of which the caller knows the size still when it frees it. Of big
 * blocks the last few are kept, within MEM_SPARE_BYTES in all, for the next that want as many bytes: a loop that is
 * called again has its results where those before were that nobody holds any more, and does not wait for the system to
 * clear pages. */
enum { MEM_BIG_BYTES = 1 << 17, MEM_SPARE_BYTES = 1 << 24 };
void *mem_alloc_sized(size_t n_bytes);
void mem_free_sized(void *ptr, size_t n_bytes);
/* 0 and *product, or -1 when the product does not fit. */
int mem_mul(size_t a, size_t b, size_t *product);

/* Fault injection, for tests alone. After mem_fault_arm(k) the k-th allocation from now (k from 1) fails, and
 * `repeat` of them in all; mem_fault_disarm() returns how many allocations failed since it was armed. */
void mem_fault_arm(int64_t countdown, int64_t repeat);
int64_t mem_fault_disarm(void);
/* Blocks alive now: a leak check compares two readings. */
int64_t mem_blocks_alive(void);
/* Bytes of the big blocks that are kept, none of them alive. */
int64_t mem_spare_bytes(void);

#endif
