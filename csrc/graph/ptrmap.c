/* Containers keyed by object identity: a hash table and a stack, for walks over graphs of any depth.
 *
 * Relies on: base/mem. Relied on by: csrc/graph/. */
#include <string.h>

#include "graph/internal.h"

static size_t slot_of(const void *key, size_t n_slots)
{
    uint64_t bits = (uint64_t)(uintptr_t)key >> 4;
    return (size_t)((bits * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (n_slots - 1);
}

void ptrmap_clear(PtrMap *map)
{
    mem_free(map->keys);
    mem_free(map->values);
    memset(map, 0, sizeof *map);
}

int64_t *ptrmap_find(const PtrMap *map, const void *key)
{
    if (!map->n_slots) return NULL;
    size_t slot = slot_of(key, map->n_slots);
    while (map->keys[slot]) {
        if (map->keys[slot] == key) return &map->values[slot];
        slot = (slot + 1) & (map->n_slots - 1);
    }
    return NULL;
}

/* Twice the slots; the load stays below a half, so that a search always meets an empty slot. */
static int ptrmap_grow(PtrMap *map)
{
    PtrMap bigger = {.n_slots = map->n_slots ? map->n_slots * 2 : 16, .n_used = map->n_used};
    bigger.keys = mem_calloc(bigger.n_slots, sizeof *bigger.keys);
    bigger.values = mem_calloc(bigger.n_slots, sizeof *bigger.values);
    if (!bigger.keys || !bigger.values) {
        ptrmap_clear(&bigger);
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < map->n_slots; i++) {
        if (!map->keys[i]) continue;
        size_t slot = slot_of(map->keys[i], bigger.n_slots);
        while (bigger.keys[slot]) slot = (slot + 1) & (bigger.n_slots - 1);
        bigger.keys[slot] = map->keys[i];
        bigger.values[slot] = map->values[i];
    }
    mem_free(map->keys);
    mem_free(map->values);
    *map = bigger;
    return 0;
}

int64_t *ptrmap_put(PtrMap *map, const void *key, bool *is_new)
{
    int64_t *found = ptrmap_find(map, key);
    if (is_new) *is_new = found == NULL;
    if (found) return found;
    if (2 * (map->n_used + 1) > map->n_slots && ptrmap_grow(map) < 0) return NULL;
    size_t slot = slot_of(key, map->n_slots);
    while (map->keys[slot]) slot = (slot + 1) & (map->n_slots - 1);
    map->keys[slot] = key;
    map->values[slot] = 0;
    map->n_used++;
    return &map->values[slot];
}

int ptrmap_put_all(PtrMap *map, PyObject *iterable, PyObject **kept)
{
    PyObject *list = PySequence_List(iterable);
    if (!list) return -1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        int64_t *value = ptrmap_put(map, PyList_GET_ITEM(list, i), NULL);
        if (!value) {
            Py_DECREF(list);
            return -1;
        }
        *value = 1;
    }
    *kept = list;
    return 0;
}

int ptrstack_push(PtrStack *stack, PyObject *object)
{
    if (stack->n == stack->capacity) {
        size_t capacity = stack->capacity ? stack->capacity * 2 : 64;
        PyObject **items = mem_resize(stack->items, capacity, sizeof *items);
        if (!items) {
            PyErr_NoMemory();
            return -1;
        }
        stack->items = items;
        stack->capacity = capacity;
    }
    stack->items[stack->n++] = object;
    return 0;
}

void ptrstack_clear(PtrStack *stack)
{
    mem_free(stack->items);
    memset(stack, 0, sizeof *stack);
}
