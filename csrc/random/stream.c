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

/* Memory for the words of a layout: the stream's own when it was made for the same layout, else new. */
static char *words_memory(const Stream *stream, const StreamLayout *layout)
{
    return stream->memory != NULL && stream->layout == layout ? stream->memory : mem_alloc(layout->n_bytes + 2 * STATE_ALIGNMENT);
}

static char *align_like(char *memory, const void *state)
{
    uintptr_t start = ((uintptr_t)memory + STATE_ALIGNMENT - 1) / STATE_ALIGNMENT * STATE_ALIGNMENT;

    return memory + (start - (uintptr_t)memory) + (uintptr_t)state % STATE_ALIGNMENT;
}

int stream_copy(Stream *dst, const Stream *src, Status *status)
{
    char *memory;

    if (dst == src) {
        return 0;
    }
    memory = words_memory(dst, src->layout);
    if (memory == NULL) {
        return status_fail(status, STATUS_NO_MEMORY);
    }
    if (memory != dst->memory) {
        mem_free(dst->memory);
    }
    dst->memory = memory;
    dst->layout = src->layout;
    dst->own = *src->bitgen;
    dst->own.state = align_like(memory, src->bitgen->state);
    stream_copy_words(src->layout, dst->own.state, src->bitgen->state);
    dst->bitgen = &dst->own;
    dst->host = src->host;
    dst->by_method = src->by_method;
    dst->binomial = src->binomial;
    return 0;
}
