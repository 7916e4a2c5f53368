/* Copies of generators: the words of a state, and the pointers among them that point into the state itself.
 *
 * Relies on: base. Relied on by: vm, bind. */
#include "random/stream.h"

#include <string.h>

#include "base/mem.h"

Stream *stream_new(void) { return mem_calloc(1, sizeof(Stream)); }

void stream_free(Stream *stream)
{
    if (stream != NULL) {
        mem_free(stream->memory);
        mem_free(stream);
    }
}

void stream_copy_words(const StreamLayout *layout, char *dst, const char *src)
{
    if (dst == src) {
        return;
    }
    memcpy(dst, src, layout->n_bytes);
    for (int i = 0; i < layout->n_pointers; i++) {
        uintptr_t target;

        memcpy(&target, src + layout->pointers[i], sizeof target);
        target = target - (uintptr_t)src + (uintptr_t)dst;
        memcpy(dst + layout->pointers[i], &target, sizeof target);
    }
}

/* States hold 128-bit integers at aligned addresses, though they need not begin at one: a copy begins at the same
 * distance from an aligned address as the words it is made of. */
enum { STATE_ALIGNMENT = 16 };

/* Sees to it that the stream's own memory has room for the words of a layout. */
static int reserve_memory(Stream *stream, const StreamLayout *layout)
{
    size_t n_bytes = layout->n_bytes + 2 * STATE_ALIGNMENT;
    char *memory;

    if (stream->memory_bytes >= n_bytes) {
        return 0;
    }
    memory = mem_alloc(n_bytes);
    if (memory == NULL) {
        return -1;
    }
    mem_free(stream->memory);
    stream->memory = memory;
    stream->memory_bytes = n_bytes;
    return 0;
}

static char *align_like(char *memory, const void *state)
{
    uintptr_t start = ((uintptr_t)memory + STATE_ALIGNMENT - 1) / STATE_ALIGNMENT * STATE_ALIGNMENT;

    return memory + (start - (uintptr_t)memory) + (uintptr_t)state % STATE_ALIGNMENT;
}

int stream_copy(Stream *dst, const Stream *src, Status *status)
{
    if (dst == src) {
        return 0;
    }
    if (reserve_memory(dst, src->layout) < 0) {
        return status_fail(status, STATUS_NO_MEMORY);
    }
    dst->layout = src->layout;
    dst->own = *src->bitgen;
    dst->own.state = align_like(dst->memory, src->bitgen->state);
    stream_copy_words(src->layout, dst->own.state, src->bitgen->state);
    dst->bitgen = &dst->own;
    if (src->gauss != NULL) {
        dst->own_gauss = *src->gauss;
    }
    dst->gauss = src->gauss != NULL ? &dst->own_gauss : NULL;
    dst->host = src->host;
    dst->kind = src->kind;
    dst->by_method = src->by_method;
    dst->binomial = src->binomial;
    return 0;
}

void stream_put(Stream *dst, const Stream *src)
{
    stream_copy_words(dst->layout, dst->bitgen->state, src->bitgen->state);
    if (dst->gauss != NULL) {
        *dst->gauss = *src->gauss;
    }
    dst->binomial = src->binomial;
}

bool stream_stands_at(const Stream *a, const Stream *b)
{
    const StreamLayout *layout = a->layout;
    const char *left = a->bitgen->state, *right = b->bitgen->state;
    size_t at = 0;

    for (int i = 0; i < layout->n_pointers; i++) { /* in ascending order */
        uintptr_t targets[2];

        memcpy(&targets[0], left + layout->pointers[i], sizeof targets[0]);
        memcpy(&targets[1], right + layout->pointers[i], sizeof targets[1]);
        if (targets[0] - (uintptr_t)left != targets[1] - (uintptr_t)right || memcmp(left + at, right + at, layout->pointers[i] - at) != 0) {
            return false;
        }
        at = layout->pointers[i] + sizeof(uintptr_t);
    }
    return memcmp(left + at, right + at, layout->n_bytes - at) == 0;
}
