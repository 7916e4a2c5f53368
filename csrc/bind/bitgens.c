/* NumPy's bit generators: where their words lie, how a generator is copied, and the distribution functions of the
 * NumPy that runs.
 *
 * The five classes of NumPy keep their whole state inside the Python object, from bitgen->state to the end of the
 * object. Which of the words point into the object is learned from an instance, and the layout is used only after a
 * copy of the words drew the same numbers as the instance, and writing the words back gave the same `.state`. Any other
 * class goes through `.state`. Relies on: random, NumPy's Python interface. Relied on by: streams.c, calls.c, commit.c. */
#if !defined(_WIN32) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* dlfcn.h: RTLD_NOLOAD */
#endif
#include "bind/bind.h"

#ifndef _WIN32
#include <dlfcn.h>
#endif
#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "bind/numpy_api.h"

static const char class_capsule[] = "pyscan.BitClass";

/* ---- the running NumPy's functions ---- */

static const char ufunc_prefix[] = "numpy.";

/* The loop of a ufunc all of whose arguments are doubles; false: there is none. */
static bool find_loop(PyObject *ufunc, NumpyLoop *found)
{
    const PyUFuncObject *of = (const PyUFuncObject *)ufunc;

    for (int i = 0; i < of->ntypes; i++) {
        bool is_double = of->functions[i] != NULL;
        for (int k = 0; k < of->nargs; k++) is_double = is_double && of->types[i * of->nargs + k] == NPY_DOUBLE;
        if (!is_double) continue;
        found->loop = (void (*)(char **, const intptr_t *, const intptr_t *, void *))of->functions[i];
        found->data = of->data == NULL ? NULL : (void *)of->data[i];
        return true;
    }
    return false;
}

/* Those of the table's symbols that are NumPy's ufuncs. */
static int find_loops(BindState *state, PyObject *numpy)
{
    PyObject *type = PyObject_GetAttrString(numpy, "ufunc");

    for (int i = 0; type != NULL && i < 2 * N_DISTS; i++) {
        const char *symbol = dist_symbol(i / 2, i % 2);
        PyObject *ufunc;
        if (strncmp(symbol, ufunc_prefix, sizeof(ufunc_prefix) - 1) != 0) continue;
        ufunc = PyObject_GetAttrString(numpy, symbol + sizeof(ufunc_prefix) - 1);
        if (ufunc == NULL) {
            Py_DECREF(type);
            return -1;
        }
        if (Py_TYPE(ufunc) == (PyTypeObject *)type && find_loop(ufunc, &state->loops[i / 2][i % 2])) state->symbols[i / 2][i % 2] = &state->loops[i / 2][i % 2];
        Py_DECREF(ufunc); /* NumPy keeps it */
    }
    Py_XDECREF(type);
    return type == NULL ? -1 : 0;
}

#ifndef _WIN32
static int find_functions(BindState *state, PyObject *generator_module)
{
    PyObject *path = PyObject_GetAttrString(generator_module, "__file__");
    const char *text = path == NULL ? NULL : PyUnicode_AsUTF8(path);
    void *library = text == NULL ? NULL : dlopen(text, RTLD_NOLOAD | RTLD_NOW);

    Py_XDECREF(path);
    if (text == NULL) return -1;
    for (int dist = 0; library != NULL && dist < N_DISTS; dist++)
        for (int i = 0; i < 2; i++)
            if (strncmp(dist_symbol(dist, i), "random_", 7) == 0) state->symbols[dist][i] = dlsym(library, dist_symbol(dist, i));
    if (library != NULL) (void)dlclose(library); /* the module itself keeps it loaded */
    return 0;
}
#else
static int find_functions(BindState *state, PyObject *generator_module) { return 0; } /* all draws go through methods */
#endif

static int import_numpy_random(BindState *state)
{
    PyObject *random = PyImport_ImportModule("numpy.random"), *generator = random ? PyImport_ImportModule("numpy.random._generator") : NULL;
    PyObject *numpy = generator ? PyImport_ImportModule("numpy") : NULL;
    int result = -1;

    if (numpy != NULL) {
        state->Generator = PyObject_GetAttrString(random, "Generator");
        state->RandomState = PyObject_GetAttrString(random, "RandomState");
        state->BitGenerator = PyObject_GetAttrString(random, "BitGenerator");
        state->matmul = PyObject_GetAttrString(numpy, "matmul");
        if (state->Generator && state->RandomState && state->BitGenerator && state->matmul) result = find_functions(state, generator) < 0 ? -1 : find_loops(state, numpy);
    }
    Py_XDECREF(random);
    Py_XDECREF(generator);
    Py_XDECREF(numpy);
    return result;
}

/* ---- access ---- */

BitGen *bitgens_peek(PyObject *bit_generator)
{
    PyObject *capsule = PyObject_GetAttrString(bit_generator, "capsule");
    BitGen *bitgen = capsule == NULL ? NULL : PyCapsule_GetPointer(capsule, "BitGenerator");

    Py_XDECREF(capsule); /* the bit generator holds it too */
    return bitgen;
}

StreamKind bitgens_kind(const BitClass *class, const BitGen *bitgen)
{
    const BitGen *known = &class->functions;
    bool is_same = bitgen->next_uint64 == known->next_uint64 && bitgen->next_uint32 == known->next_uint32 && bitgen->next_double == known->next_double;

    return class->has_layout && is_same ? class->kind : STREAM_CALLED;
}

BitGen *bitgens_peek_known(const BitClass *class, PyObject *bit_generator)
{
    return class->has_layout ? (BitGen *)(void *)((char *)bit_generator + class->place) : bitgens_peek(bit_generator);
}

/* Owned: the bit generator of a plain Generator, where that is of the class asked for last; NULL, without an exception, else. */
static PyObject *peek_plain(BindState *state, PyObject *generator)
{
    PyObject *bit_generator;

    if (Py_TYPE(generator) != (PyTypeObject *)state->Generator || state->last_class_type == NULL) return NULL;
    bit_generator = PyObject_GetAttr(generator, state->bit_generator);
    if (bit_generator == NULL) PyErr_Clear();
    else if (Py_TYPE(bit_generator) != state->last_class_type) Py_CLEAR(bit_generator);
    return bit_generator;
}

PyObject *bitgens_of(BindState *state, PyObject *generator)
{
    PyObject *bit_generator = peek_plain(state, generator);
    int is_generator, is_legacy;

    if (bit_generator != NULL) return bit_generator;
    is_generator = PyObject_IsInstance(generator, state->Generator);
    is_legacy = is_generator == 0 ? PyObject_IsInstance(generator, state->RandomState) : 0;
    if (is_generator < 0 || is_legacy < 0) return NULL;
    if (!is_generator && !is_legacy) {
        PyErr_Format(PyExc_TypeError, "a numpy.random.Generator or RandomState is expected; %R came", generator);
        return NULL;
    }
    bit_generator = PyObject_GetAttrString(generator, is_generator ? "bit_generator" : "_bit_generator");
    if (bit_generator != NULL && PyObject_IsInstance(bit_generator, state->BitGenerator) != 1) {
        if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%R draws from %R, which is no numpy.random.BitGenerator", generator, bit_generator);
        Py_CLEAR(bit_generator);
    }
    return bit_generator;
}

/* ---- layouts ---- */

/* Whether it is one of NumPy's own five classes, which are known to keep nothing elsewhere. */
static bool is_known_class(PyTypeObject *type)
{
    static const char *const names[] = {"PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"};
    const char *name = strrchr(type->tp_name, '.');

    if (strncmp(type->tp_name, "numpy.random.", 13) != 0 || name == NULL) return false;
    return names_find(name + 1, names, (int)(sizeof names / sizeof names[0]), sizeof names[0]) >= 0;
}

/* The words of an instance: their number of bytes, and those that point among them. 0 when they lie otherwise. */
static int scan_words(PyObject *bit_generator, const BitGen *bitgen, StreamLayout *layout)
{
    uintptr_t start = (uintptr_t)bitgen->state, object = (uintptr_t)bit_generator, end = object + (uintptr_t)Py_TYPE(bit_generator)->tp_basicsize;

    memset(layout, 0, sizeof(*layout));
    if (start < object || start >= end || (end - start) % sizeof(uintptr_t) != 0) return 0;
    layout->n_bytes = end - start;
    for (size_t at = 0; at < layout->n_bytes; at += sizeof(uintptr_t)) {
        uintptr_t word;
        memcpy(&word, (char *)bitgen->state + at, sizeof(word));
        if (word < start || word >= end) continue;
        if (layout->n_pointers == STREAM_MAX_POINTERS) return 0;
        layout->pointers[layout->n_pointers++] = (uint32_t)at;
    }
    return 1;
}

/* Whether both generators draw the same numbers through all their functions. */
static bool draw_alike(BitGen *a, BitGen *b)
{
    for (int i = 0; i < 700; i++) { /* more than the 624 words of a Mersenne twister */
        if (a->next_uint32(a->state) != b->next_uint32(b->state) || a->next_uint64(a->state) != b->next_uint64(b->state)) return false;
        if (a->next_double(a->state) != b->next_double(b->state)) return false;
    }
    return a->next_raw(a->state) == b->next_raw(b->state);
}

/* Owned: a state as bytes, to compare. */
static PyObject *pickle(PyObject *stolen_state)
{
    PyObject *module = PyImport_ImportModule("pickle"), *bytes = NULL;

    if (module != NULL && stolen_state != NULL) bytes = PyObject_CallMethod(module, "dumps", "O", stolen_state);
    Py_XDECREF(module);
    Py_XDECREF(stolen_state);
    return bytes;
}

static PyObject *pickle_state(PyObject *bit_generator) { return pickle(PyObject_GetAttrString(bit_generator, "state")); }

/* 1 if writing words back gives the `.state` from before the draws, else 0. */
static int restores_state(PyObject *bit_generator, BitGen *bitgen, const StreamLayout *layout, char *words)
{
    PyObject *before = pickle_state(bit_generator), *after = NULL, *moved = NULL;
    int result = -1;

    if (before == NULL) return -1;
    stream_copy_words(layout, words, bitgen->state);
    (void)bitgen->next_uint32(bitgen->state);
    (void)bitgen->next_uint64(bitgen->state);
    moved = pickle_state(bit_generator);
    stream_copy_words(layout, bitgen->state, words);
    after = moved == NULL ? NULL : pickle_state(bit_generator);
    if (after != NULL) result = PyObject_RichCompareBool(before, after, Py_EQ);
    if (result == 1) result = PyObject_RichCompareBool(before, moved, Py_NE);
    Py_XDECREF(before);
    Py_XDECREF(after);
    Py_XDECREF(moved);
    return result;
}

/* 1 if a copy of the words draws as the instance does, and they can be written back. */
static int verify_layout(PyObject *bit_generator, BitGen *bitgen, const StreamLayout *layout)
{
    Stream original = {.bitgen = bitgen, .layout = layout}, *copy = stream_new();
    Status status;
    char *words = mem_alloc(layout->n_bytes);
    int result = -1;

    status_clear(&status);
    if (copy == NULL || words == NULL || stream_copy(copy, &original, &status) < 0) PyErr_NoMemory();
    else if (!draw_alike(copy->bitgen, bitgen)) result = 0;
    else result = restores_state(bit_generator, bitgen, layout, words);
    stream_free(copy);
    mem_free(words);
    return result;
}

/* Learns the layout of the class from two new instances, whose words differ but whose pointers do not. */
static int learn_class(PyTypeObject *type, BitClass *class)
{
    PyObject *a = PyObject_CallFunction((PyObject *)type, "i", 1), *b = a == NULL ? NULL : PyObject_CallFunction((PyObject *)type, "i", 2);
    BitGen *bitgen_a = b == NULL ? NULL : bitgens_peek(a), *bitgen_b = bitgen_a == NULL ? NULL : bitgens_peek(b);
    StreamLayout layout;
    Status status;
    int result = -1, verified;

    if (bitgen_b == NULL) goto done;
    result = 0;
    if (!scan_words(a, bitgen_a, &class->layout) || !scan_words(b, bitgen_b, &layout) || memcmp(&layout, &class->layout, sizeof(layout)) != 0) goto done;
    verified = verify_layout(a, bitgen_a, &class->layout);
    if (verified < 0) result = -1;
    class->place = (size_t)((char *)bitgen_a - (char *)a);
    class->has_layout = verified == 1 && (char *)bitgen_b - (char *)b == (char *)bitgen_a - (char *)a && (char *)bitgen_a > (char *)a
                        && (char *)(bitgen_a + 1) <= (char *)a + type->tp_basicsize;
    if (!class->has_layout) goto done;
    status_clear(&status);
    if (fast_find_kind(&class->kind, bitgen_a, &class->layout, &status) < 0) {
        PyErr_NoMemory();
        result = -1;
    }
    class->functions = *bitgen_a;
done:
    Py_XDECREF(a);
    Py_XDECREF(b);
    return result;
}

static void free_class(PyObject *capsule) { mem_free(PyCapsule_GetPointer(capsule, class_capsule)); }

const BitClass *bitgens_class(BindState *state, PyObject *bit_generator)
{
    PyTypeObject *type = Py_TYPE(bit_generator);
    PyObject *capsule;
    BitClass *class;

    if (type == state->last_class_type) return state->last_class;
    capsule = PyDict_GetItemWithError(state->bit_classes, (PyObject *)type);
    if (capsule == NULL && PyErr_Occurred()) return NULL;
    if (capsule != NULL) {
        class = PyCapsule_GetPointer(capsule, class_capsule);
        state->last_class = class;
        state->last_class_type = type; /* which bit_classes holds */
        return class;
    }
    class = mem_calloc(1, sizeof(*class));
    if (class == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    if (is_known_class(type) && learn_class(type, class) < 0) {
        mem_free(class);
        return NULL;
    }
    capsule = PyCapsule_New(class, class_capsule, free_class);
    if (capsule == NULL) {
        mem_free(class);
        return NULL;
    }
    if (PyDict_SetItem(state->bit_classes, (PyObject *)type, capsule) < 0) class = NULL;
    Py_DECREF(capsule);
    return class;
}

/* ---- states as objects ---- */

PyObject *bitgens_save(BindState *state, PyObject *generator)
{
    int is_legacy = PyObject_IsInstance(generator, state->RandomState);
    PyObject *bit_generator, *saved;

    if (is_legacy < 0) return NULL;
    if (is_legacy) return PyObject_CallMethod(generator, "get_state", "O", Py_False);
    bit_generator = bitgens_of(state, generator);
    saved = bit_generator == NULL ? NULL : PyObject_GetAttrString(bit_generator, "state");
    Py_XDECREF(bit_generator);
    return saved;
}

int bitgens_restore(BindState *state, PyObject *generator, PyObject *saved)
{
    int is_legacy = PyObject_IsInstance(generator, state->RandomState), result;
    PyObject *answer, *bit_generator;

    if (is_legacy < 0) return -1;
    if (is_legacy) {
        answer = PyObject_CallMethod(generator, "set_state", "O", saved);
        Py_XDECREF(answer);
        return answer == NULL ? -1 : 0;
    }
    bit_generator = bitgens_of(state, generator);
    result = bit_generator == NULL ? -1 : PyObject_SetAttrString(bit_generator, "state", saved);
    Py_XDECREF(bit_generator);
    return result;
}

PyObject *bitgens_fingerprint(BindState *state, PyObject *generator)
{
    PyObject *saved = bitgens_save(state, generator);

    return saved == NULL ? NULL : pickle(saved);
}

/* ---- copies ---- */

/* Owned: a deep copy. The module is imported here: when pyscan is imported nobody needs it. */
static PyObject *deep_copy(BindState *state, PyObject *object)
{
    PyObject *copy;

    if (state->deepcopy == NULL) {
        copy = PyImport_ImportModule("copy");
        if (copy != NULL && state->deepcopy == NULL) state->deepcopy = PyObject_GetAttrString(copy, "deepcopy");
        Py_XDECREF(copy);
        if (state->deepcopy == NULL) return NULL;
    }
    return PyObject_CallOneArg(state->deepcopy, object);
}

/* Owned: a bit generator of the same class with a copy of the seed sequence, in an unspecified state. */
static PyObject *copy_bit_generator(BindState *state, PyObject *bit_generator)
{
    PyObject *seeds, *copied, *result = NULL;
    int found = graph_lookup_attr(bit_generator, "seed_seq", &seeds);

    if (found <= 0) return found < 0 ? NULL : deep_copy(state, bit_generator);
    copied = deep_copy(state, seeds);
    if (copied != NULL) result = PyObject_CallOneArg((PyObject *)Py_TYPE(bit_generator), copied);
    if (result == NULL) { /* a class with another constructor */
        PyErr_Clear();
        result = deep_copy(state, bit_generator);
    }
    Py_DECREF(seeds);
    Py_XDECREF(copied);
    return result;
}

/* Owned: type(generator)(bit_generator), with the attributes that a subclass keeps. */
static PyObject *rebuild_generator(PyObject *generator, PyObject *bit_generator)
{
    PyObject *copy = PyObject_CallOneArg((PyObject *)Py_TYPE(generator), bit_generator), *attributes, *target;

    if (copy == NULL) return NULL;
    if (graph_lookup_attr(generator, "__dict__", &attributes) <= 0) {
        if (PyErr_Occurred()) Py_CLEAR(copy);
        return copy;
    }
    target = PyObject_GetAttrString(copy, "__dict__");
    if (target == NULL || !PyDict_Check(target) || PyDict_Update(target, attributes) < 0) Py_CLEAR(copy);
    Py_DECREF(attributes);
    Py_XDECREF(target);
    return copy;
}

/* Makes a stream of a generator all of whose state are words that can be copied: 1, else 0. */
static int read_stream(BindState *state, PyObject *generator, PyObject *bit_generator, Stream *stream)
{
    const BitClass *class = bitgens_class(state, bit_generator);
    int is_generator = class == NULL ? -1 : PyObject_IsInstance(generator, state->Generator);

    if (is_generator < 0 || gauss_find(state, generator, &stream->gauss) < 0) return -1;
    if (!class->has_layout || !(is_generator || stream->gauss != NULL)) return 0;
    stream->layout = &class->layout;
    stream->bitgen = bitgens_peek(bit_generator);
    return stream->bitgen == NULL ? -1 : 1;
}

/* Puts a fresh copy where the stream stands, or with NULL where `generator` does. */
static int copy_state(BindState *state, PyObject *generator, PyObject *bit_generator, PyObject *copy, PyObject *copied_bits, const Stream *stream)
{
    Stream source = {0}, target = {0};
    PyObject *saved;
    int has_words = read_stream(state, copy, copied_bits, &target), result;

    if (has_words == 1 && stream == NULL) has_words = read_stream(state, generator, bit_generator, &source);
    if (has_words < 0) return -1;
    if (has_words == 1) {
        stream_put(&target, stream != NULL ? stream : &source);
        return 0;
    }
    if (stream != NULL) {
        PyErr_SetString(PyExc_SystemError, "words of a generator without a layout");
        return -1;
    }
    saved = bitgens_save(state, generator);
    result = saved == NULL ? -1 : bitgens_restore(state, copy, saved);
    Py_XDECREF(saved);
    return result;
}

PyObject *bitgens_copy(BindState *state, PyObject *generator, const Stream *stream)
{
    PyObject *bit_generator = bitgens_of(state, generator), *own = NULL, *copy = NULL;

    own = bit_generator == NULL ? NULL : copy_bit_generator(state, bit_generator);
    copy = own == NULL ? NULL : rebuild_generator(generator, own);
    if (copy != NULL && copy_state(state, generator, bit_generator, copy, own, stream) < 0) Py_CLEAR(copy);
    Py_XDECREF(bit_generator);
    Py_XDECREF(own);
    return copy;
}

/* ---- the module ---- */

/* For Python: takes the lock, so that no run is in the middle of a draw. */
static PyObject *copy_generator(PyObject *module, PyObject *generator)
{
    BindState *state = &core_state_get(module)->bind;
    PyObject *bit_generator = bitgens_of(state, generator), *lock = bit_generator == NULL ? NULL : PyObject_GetAttrString(bit_generator, "lock");
    PyObject *taken = lock == NULL ? NULL : PyObject_CallMethodNoArgs(lock, state->acquire), *copy = NULL, *released;

    if (taken != NULL) {
        copy = bitgens_copy(state, generator, NULL);
        released = PyObject_CallMethodNoArgs(lock, state->release);
        if (released == NULL) Py_CLEAR(copy);
        Py_XDECREF(released);
    }
    Py_XDECREF(bit_generator);
    Py_XDECREF(lock);
    Py_XDECREF(taken);
    return copy;
}

static PyMethodDef bitgens_methods[] = {
    {"copy_generator", copy_generator, METH_O,
     "copy_generator(generator)\n--\n\nAn independent Generator or RandomState of the same class and state, with the seed sequence and its spawn count."},
    {NULL, NULL, 0, NULL},
};

int bitgens_module_exec(PyObject *module)
{
    BindState *state = &core_state_get(module)->bind;

    state->acquire = PyUnicode_InternFromString("acquire");
    state->release = PyUnicode_InternFromString("release");
    state->bit_generator = PyUnicode_InternFromString("bit_generator");
    state->lock = PyUnicode_InternFromString("lock");
    state->bit_classes = PyDict_New();
    state->methods = PyDict_New();
    if (!state->acquire || !state->release || !state->bit_generator || !state->lock || !state->bit_classes || !state->methods) return -1;
    if (PyModule_AddFunctions(module, bitgens_methods) < 0) return -1;
    return import_numpy_random(state);
}
