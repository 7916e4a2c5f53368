/* The allocator and its fault counter.
 *
 * Relies on: the C library. Relied on by: every room, through mem.h. The counters and the spare blocks below are the
 * one mutable static state of the core: they belong to the process as malloc itself does, they are atomic, and no
 * result depends on them unless a test has armed them. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* madvise */
#endif
#include "base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <malloc.h>
#elif defined(__linux__)
#include <sys/mman.h>
#endif

enum { ALIGNMENT = 64, HUGE_PAGE = 1 << 21 };

static _Atomic int64_t blocks_alive = 0;
static _Atomic int64_t fault_countdown = 0; /* 0: not armed; k: the k-th allocation from now fails; below: failing */
static _Atomic int64_t fault_repeat = 0;    /* failures still to come once the countdown is over */
static _Atomic int64_t faults_made = 0;
static _Atomic int fault_is_armed = 0;

/* Big blocks that are free: each has its size in its first bytes. Who takes one out of its place has it for himself. A
 * sanitizer is to see every use of what was freed. */
#ifdef __SANITIZE_ADDRESS__
enum { N_SPARES = 4, KEEPS_SPARES = 0 };
#else
enum { N_SPARES = 4, KEEPS_SPARES = 1 };
#endif
static void *_Atomic spares[N_SPARES];
static _Atomic size_t spare_bytes = 0;
static _Atomic unsigned next_spare = 0;

int mem_mul(size_t a, size_t b, size_t *product)
{
    if (b != 0 && a > SIZE_MAX / b) {
        return -1;
    }
    *product = a * b;
    return 0;
}

/* Whether this allocation is one that a test wants to fail. */
static int fault_is_due(void)
{
    if (!atomic_load_explicit(&fault_is_armed, memory_order_relaxed)) {
        return 0;
    }
    if (atomic_fetch_sub(&fault_countdown, 1) > 1) {
        return 0;
    }
    if (atomic_fetch_sub(&fault_repeat, 1) <= 0) {
        return 0;
    }
    atomic_fetch_add(&faults_made, 1);
    return 1;
}

/* Big blocks ask for pages of 2 MB, as NumPy's do: first touches of small pages take longer than the arithmetic on them. */
static void *advise_huge(void *ptr, size_t n_bytes)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (ptr != NULL && n_bytes >= 2 * (size_t)HUGE_PAGE) {
        char *first = (char *)(((uintptr_t)ptr + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE), *end = (char *)ptr + n_bytes;

        (void)madvise(first, (size_t)(end - first) / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE); /* a kernel without them says no */
    }
#endif
    return ptr;
}

/* Memory of n_bytes > 0 from the system, aligned as mem_alloc promises. */
static void *system_alloc(size_t n_bytes)
{
#ifdef _WIN32
    return _aligned_malloc(n_bytes, ALIGNMENT);
#else
    if (n_bytes < ALIGNMENT) {
        return malloc(n_bytes);
    }
    if (n_bytes > SIZE_MAX - ALIGNMENT) {
        return NULL;
    }
    return advise_huge(aligned_alloc(ALIGNMENT, (n_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT), n_bytes);
#endif
}

void *mem_alloc(size_t n_bytes)
{
    void *ptr;

    if (fault_is_due()) {
        return NULL;
    }
    ptr = system_alloc(n_bytes == 0 ? 1 : n_bytes);
    if (ptr != NULL) {
        atomic_fetch_add_explicit(&blocks_alive, 1, memory_order_relaxed);
    }
    return ptr;
}

void *mem_calloc(size_t n, size_t item_bytes)
{
    size_t n_bytes;
    void *ptr;

    if (mem_mul(n, item_bytes, &n_bytes) < 0) {
        return NULL;
    }
    ptr = mem_alloc(n_bytes);
    if (ptr != NULL) {
        memset(ptr, 0, n_bytes);
    }
    return ptr;
}

void *mem_resize(void *ptr, size_t n, size_t item_bytes)
{
    size_t n_bytes;
    void *grown;

    if (mem_mul(n, item_bytes, &n_bytes) < 0) {
        return NULL;
    }
    if (ptr == NULL) {
        return mem_alloc(n_bytes);
    }
    if (fault_is_due()) {
        return NULL;
    }
    n_bytes = n_bytes == 0 ? 1 : n_bytes;
#ifdef _WIN32
    grown = _aligned_realloc(ptr, n_bytes, ALIGNMENT);
#else
    grown = realloc(ptr, n_bytes);
#endif
    return grown;
}

static void system_free(void *ptr)
{
#ifdef _WIN32
    _aligned_free(ptr);
#else
    free(ptr);
#endif
}

void mem_free(void *ptr)
{
    if (ptr != NULL) {
        atomic_fetch_sub_explicit(&blocks_alive, 1, memory_order_relaxed);
        system_free(ptr);
    }
}

/* ---- spare blocks ---- */

static void drop_spare(void *block)
{
    size_t n_bytes;

    if (block != NULL) {
        memcpy(&n_bytes, block, sizeof n_bytes);
        atomic_fetch_sub(&spare_bytes, n_bytes);
        system_free(block);
    }
}

/* A spare block of that size, or NULL. */
static void *take_spare(size_t n_bytes)
{
    for (int i = 0; i < N_SPARES; i++) {
        void *block = atomic_load_explicit(&spares[i], memory_order_relaxed) == NULL ? NULL : atomic_exchange(&spares[i], NULL);
        void *none = NULL;
        size_t found;

        if (block == NULL) {
            continue;
        }
        memcpy(&found, block, sizeof found);
        if (found == n_bytes) {
            atomic_fetch_sub(&spare_bytes, n_bytes);
            return block;
        }
        if (!atomic_compare_exchange_strong(&spares[i], &none, block)) {
            drop_spare(block); /* another thread was faster */
        }
    }
    return NULL;
}

/* Into an empty place or, in turn, that of another, which goes; then others go, and at last this one, until all are few
 * enough bytes. */
static void keep_spare(void *block, size_t n_bytes)
{
    unsigned place = 0;
    void *none = NULL;

    memcpy(block, &n_bytes, sizeof n_bytes);
    atomic_fetch_add(&spare_bytes, n_bytes);
    while (place < N_SPARES && !atomic_compare_exchange_strong(&spares[place], &none, block)) {
        none = NULL;
        place++;
    }
    if (place == N_SPARES) {
        place = atomic_fetch_add(&next_spare, 1) % N_SPARES;
        drop_spare(atomic_exchange(&spares[place], block));
    }
    for (unsigned i = 1; i <= N_SPARES && atomic_load(&spare_bytes) > MEM_SPARE_BYTES; i++) {
        drop_spare(atomic_exchange(&spares[(place + i) % N_SPARES], NULL));
    }
}

void *mem_alloc_sized(size_t n_bytes)
{
    void *block;

    if (n_bytes < MEM_BIG_BYTES || n_bytes > MEM_SPARE_BYTES) {
        return mem_alloc(n_bytes);
    }
    if (fault_is_due()) {
        return NULL;
    }
    block = take_spare(n_bytes);
    if (block == NULL) {
        block = system_alloc(n_bytes);
    }
    if (block != NULL) {
        atomic_fetch_add_explicit(&blocks_alive, 1, memory_order_relaxed);
    }
    return block;
}

void mem_free_sized(void *ptr, size_t n_bytes)
{
    if (!KEEPS_SPARES || ptr == NULL || n_bytes < MEM_BIG_BYTES || n_bytes > MEM_SPARE_BYTES) {
        mem_free(ptr);
        return;
    }
    atomic_fetch_sub_explicit(&blocks_alive, 1, memory_order_relaxed);
    keep_spare(ptr, n_bytes);
}

void mem_fault_arm(int64_t countdown, int64_t repeat)
{
    atomic_store(&fault_countdown, countdown);
    atomic_store(&fault_repeat, repeat);
    atomic_store(&faults_made, 0);
    atomic_store(&fault_is_armed, 1);
}

int64_t mem_fault_disarm(void)
{
    atomic_store(&fault_is_armed, 0);
    return atomic_exchange(&faults_made, 0);
}

int64_t mem_blocks_alive(void) { return atomic_load(&blocks_alive); }

int64_t mem_spare_bytes(void) { return (int64_t)atomic_load(&spare_bytes); }
