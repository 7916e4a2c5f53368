/* Loops whose bodies are elementwise in all that they carry: not step by step over the whole arrays, but tile by tile, each
 * of which runs all its steps while it is in the cache.
 *
 * Element i of a step's results depends on elements i of what it reads alone, so tiles need not know of each other, and the
 * same kernels run on the same elements in the same order of steps: the bits are those of the plain loop. A tile keeps the
 * rows that nobody wants afterwards in a few rows of its own, and writes the others where they belong in the end, so that a
 * state of which only the last value is kept passes through memory once.
 * Relies on: loop.h. Relied on by: loop.c. */
#ifndef PYSCAN_VM_TILES_H
#define PYSCAN_VM_TILES_H

#include "vm/loop.h"

typedef struct Tiles Tiles;

/* 0 and *result: owned, or NULL where the body is something else; -1: no memory. */
int tiles_new(Tiles **result, const LoopFrame *loop_frame);
void tiles_free(Tiles *tiles);
void tiles_reset(Tiles *tiles, size_t *keep_bytes);
/* Whether this call's arrays have shapes that can run in tiles; loop_begin was called, and what no step changes has run. */
bool tiles_can_run(LoopFrame *loop_frame, const VmHost *host);
/* Runs all steps, after tiles_can_run. 0, or -1. */
int tiles_run(LoopFrame *loop_frame, Run *run);

#endif
