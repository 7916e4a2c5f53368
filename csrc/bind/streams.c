/* The generators of a run: taken from the cells for the length of the outer call, locked, copied where two containers
 * stand on one bit generator, and put back as they were when the run fails.
 *
 * Three guards, from the outside in. `in_use` (module state) keeps two calls of this package apart: another thread's call
 * waits, a call from the same thread (out of a call-back) raises. The bit generators' own locks keep everybody else out
 * and are taken in the order of their addresses; they are released around call-backs, and words that moved meanwhile end
 * the call. Snapshots put back what a failed run has drawn. Relies on: bitgens.c, random. Relied on by: thunk.c,
 * calls.c, commit.c. */
#include "bind/bind.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- handles ---- */

void streams_free_handle(Handle *handle)
{
    if (handle == NULL) return;
    Py_CLEAR(handle->generator);
    Py_CLEAR(handle->bit_generator);
    Py_CLEAR(handle->lock);
    Py_CLEAR(handle->saved);
    Py_CLEAR(handle->watched);
    mem_free(handle->snapshot);
    mem_free(handle->watch);
    mem_free(handle);
}

static int reserve_handle(Call *call)
{
    int32_t room = call->room_handles ? call->room_handles * 2 : 4;
    Handle **handles;

    if (call->n_handles < call->room_handles) return 0;
    handles = mem_resize(call->handles, (size_t)room, sizeof(*handles));
    if (handles == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    call->handles = handles;
    call->room_handles = room;
    return 0;
}

/* Fills what follows from the generator's class and its bit generator's. */
static int describe_generator(BindState *state, Handle *handle)
{
    const BitClass *class = bitgens_class(state, handle->bit_generator);
    bool is_plain;

    if (class == NULL || gauss_find(state, handle->generator, &handle->gauss) < 0) return -1;
    is_plain = handle->gauss != NULL || Py_TYPE(handle->generator) == (PyTypeObject *)state->Generator;
    handle->by_method = !is_plain;
    handle->layout = is_plain && class->has_layout ? &class->layout : NULL;
    handle->kind = is_plain ? bitgens_kind(class, handle->bitgen) : STREAM_CALLED;
    return 0;
}

static int describe_handle(BindState *state, Handle *handle)
{
    handle->bit_generator = bitgens_of(state, handle->generator);
    if (handle->bit_generator == NULL) return -1;
    handle->lock = PyObject_GetAttrString(handle->bit_generator, "lock");
    handle->bitgen = handle->lock == NULL ? NULL : bitgens_peek(handle->bit_generator);
    return handle->bitgen == NULL ? -1 : describe_generator(state, handle);
}

Handle *streams_add_handle(Call *call, PyObject *generator)
{
    Handle *handle = reserve_handle(call) < 0 ? NULL : mem_calloc(1, sizeof(*handle));

    if (handle == NULL) {
        if (!PyErr_Occurred()) PyErr_NoMemory();
        return NULL;
    }
    handle->state = call->state;
    handle->generator = Py_NewRef(generator);
    handle->owner = -1;
    if (describe_handle(call->state, handle) < 0) {
        streams_free_handle(handle);
        return NULL;
    }
    call->handles[call->n_handles++] = handle;
    return handle;
}

/* Makes the stream draw from the handle's own object. */
static void point_stream(Stream *stream, Handle *handle)
{
    stream->bitgen = handle->bitgen;
    stream->layout = handle->layout;
    stream->kind = handle->kind;
    stream->gauss = handle->gauss;
    stream->host = handle;
    stream->by_method = handle->by_method;
    memset(&stream->binomial, 0, sizeof(stream->binomial));
}

Handle *streams_find_object(const Call *call, const Stream *stream)
{
    for (int32_t i = 0; i < call->n_input_handles; i++)
        if (call->handles[i]->bitgen == stream->bitgen) return call->handles[i];
    return NULL;
}

PyObject *streams_name(Call *call, const Handle *handle)
{
    PyObject *inputs = ((FunctionGraph *)call->thunk->fgraph)->inputs;

    if (handle->owner >= 0 && handle->owner < PyList_GET_SIZE(inputs)) return PyObject_Str(PyList_GET_ITEM(inputs, handle->owner));
    return PyObject_Repr(handle->generator);
}

/* The handle of the host's copy that was made for this stream before, or NULL. */
static Handle *find_made_for(const Call *call, const Stream *stream)
{
    for (int32_t i = call->n_input_handles; i < call->n_handles; i++)
        if (call->handles[i]->made_for == stream) return call->handles[i];
    return NULL;
}

int streams_adopt(Call *call, Stream *stream, PyObject *generator)
{
    Handle *handle = find_made_for(call, stream);

    if (handle == NULL) {
        handle = streams_add_handle(call, generator);
        if (handle == NULL) return -1;
        handle->made_for = stream;
    } else {
        Handle fresh = *handle;
        fresh.generator = Py_NewRef(generator);
        fresh.bit_generator = fresh.lock = NULL;
        if (describe_handle(call->state, &fresh) < 0) {
            Py_XDECREF(fresh.generator);
            Py_XDECREF(fresh.bit_generator);
            Py_XDECREF(fresh.lock);
            return -1;
        }
        Py_DECREF(handle->generator);
        Py_XDECREF(handle->bit_generator);
        Py_XDECREF(handle->lock);
        *handle = fresh;
    }
    point_stream(stream, handle);
    return 0;
}

PyObject *streams_copy_generator(Call *call, const Stream *stream)
{
    Handle *handle = stream->host;

    return bitgens_copy(call->state, handle->generator, stream->layout != NULL ? stream : NULL);
}

/* ---- calls of this package that use one generator ---- */

static PyObject *thread_ident(void) { return PyLong_FromUnsignedLong(PyThread_get_thread_ident()); }

/* Whether thread `from` waits, directly or by others, for a generator that `target` has. */
static int waits_for(BindState *state, PyObject *from, PyObject *target, int depth)
{
    PyObject *keys = depth > 0 ? PyDict_GetItemWithError(state->waiting, from) : NULL;

    for (Py_ssize_t i = 0; keys != NULL && i < PyTuple_GET_SIZE(keys); i++) {
        PyObject *owner = PyDict_GetItemWithError(state->in_use, PyTuple_GET_ITEM(keys, i));
        int same = owner == NULL ? 0 : PyObject_RichCompareBool(owner, target, Py_EQ);
        if (same != 0) return same;
        if (owner != NULL && waits_for(state, owner, target, depth - 1) == 1) return 1;
    }
    return 0;
}

/* Who has one of the generators (lent), or NULL. *key_index is which. */
static PyObject *find_user(BindState *state, PyObject *keys, Py_ssize_t *key_index)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keys); i++) {
        PyObject *user = PyDict_GetItemWithError(state->in_use, PyTuple_GET_ITEM(keys, i));
        *key_index = i;
        if (user != NULL) return user;
    }
    return NULL;
}

static int refuse_use(Call *call, Py_ssize_t i, const char *why)
{
    PyObject *name = streams_name(call, call->handles[i]);

    if (name != NULL) PyErr_Format(PyExc_RuntimeError, "generator %U is in use by a call that has not ended: %s", name, why);
    Py_XDECREF(name);
    return -1;
}

/* Waits until something leaves in_use. The condition's lock is held from before the last look at in_use. */
static int wait_for_change(Call *call, PyObject *keys, PyObject *me)
{
    BindState *state = call->state;
    PyObject *user, *answer = PyObject_CallMethodNoArgs(state->in_use_changed, state->acquire);
    Py_ssize_t i;
    int result = -1;

    if (answer == NULL) return -1;
    Py_DECREF(answer);
    if (PyDict_SetItem(state->waiting, me, keys) < 0) goto done;
    user = find_user(state, keys, &i);
    if (user == NULL) {
        result = PyErr_Occurred() ? -1 : 0;
    } else if (waits_for(state, user, me, 64) == 1) {
        refuse_use(call, i, "it waits, in turn, for a generator of this thread's");
    } else {
        answer = PyObject_CallMethod(state->in_use_changed, "wait", NULL);
        result = answer == NULL ? -1 : 0;
        Py_XDECREF(answer);
    }
done: {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (PyDict_DelItem(state->waiting, me) < 0) PyErr_Clear(); /* it was never added */
    answer = PyObject_CallMethodNoArgs(state->in_use_changed, state->release);
    Py_XDECREF(answer);
    if (type != NULL) PyErr_Restore(type, value, traceback);
    else if (answer == NULL) result = -1;
}
    return result;
}

/* Enters all keys for this thread, waiting while others have one of them: all at once, so nobody holds and waits. */
static int take_keys(Call *call, PyObject *keys)
{
    BindState *state = call->state;
    PyObject *me = thread_ident(), *user;
    Py_ssize_t i;
    int result = -1, same;

    if (me == NULL) return -1;
    while ((user = find_user(state, keys, &i)) != NULL) {
        same = PyObject_RichCompareBool(user, me, Py_EQ);
        if (same == 1) refuse_use(call, i, "a call-back of that call must not use it");
        if (same != 0 || wait_for_change(call, keys, me) < 0) goto done;
    }
    if (PyErr_Occurred()) goto done;
    for (i = 0; i < PyTuple_GET_SIZE(keys); i++)
        if (PyDict_SetItem(state->in_use, PyTuple_GET_ITEM(keys, i), me) < 0) break;
    if (i == PyTuple_GET_SIZE(keys)) {
        call->in_use_keys = Py_NewRef(keys);
        result = 0;
    } else {
        while (i-- > 0) (void)PyDict_DelItem(state->in_use, PyTuple_GET_ITEM(keys, i)); /* it was just added */
    }
done:
    Py_DECREF(me);
    return result;
}

/* Leaves in_use and tells those who wait. Failures here have nobody to go to. */
static void drop_keys(Call *call)
{
    BindState *state = call->state;
    PyObject *type, *value, *traceback, *keys = call->in_use_keys;
    static const char *const steps[] = {"acquire", "notify_all", "release"};

    if (keys == NULL) return;
    call->in_use_keys = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keys); i++)
        if (PyDict_DelItem(state->in_use, PyTuple_GET_ITEM(keys, i)) < 0) PyErr_WriteUnraisable(keys);
    for (int i = 0; PyDict_GET_SIZE(state->waiting) > 0 && i < 3; i++) {
        PyObject *answer = PyObject_CallMethod(state->in_use_changed, steps[i], NULL);
        if (answer == NULL) PyErr_WriteUnraisable(state->in_use_changed);
        Py_XDECREF(answer);
    }
    Py_DECREF(keys);
    PyErr_Restore(type, value, traceback);
}

static PyObject *make_keys(Call *call)
{
    PyObject *keys = PyTuple_New(call->n_input_handles);

    for (int32_t i = 0; keys != NULL && i < call->n_input_handles; i++) {
        PyObject *key = PyLong_FromVoidPtr(call->handles[i]->bit_generator);
        if (key == NULL) Py_CLEAR(keys);
        else PyTuple_SET_ITEM(keys, i, key);
    }
    return keys;
}

/* ---- locks ---- */

static int compare_addresses(const void *a, const void *b)
{
    const Handle *x = *(Handle *const *)a, *y = *(Handle *const *)b;
    uintptr_t left = (uintptr_t)x->bit_generator, right = (uintptr_t)y->bit_generator;
    return (left > right) - (left < right);
}

/* Sets no exception and keeps one that is set. */
static void release_lock(Handle *handle)
{
    PyObject *type, *value, *traceback, *answer;

    if (!handle->is_locked) return;
    PyErr_Fetch(&type, &value, &traceback);
    handle->is_locked = false;
    answer = PyObject_CallMethodNoArgs(handle->lock, handle->state->release);
    if (answer == NULL) PyErr_WriteUnraisable(handle->lock);
    Py_XDECREF(answer);
    PyErr_Restore(type, value, traceback);
}

static int take_lock(Handle *handle)
{
    PyObject *answer = PyObject_CallMethodNoArgs(handle->lock, handle->state->acquire);

    Py_XDECREF(answer);
    handle->is_locked = answer != NULL;
    return answer == NULL ? -1 : 0;
}

static void release_locks(Call *call)
{
    for (int32_t i = call->n_input_handles - 1; i >= 0; i--) release_lock(call->handles[i]);
}

static int take_locks(Call *call)
{
    for (int32_t i = 0; i < call->n_input_handles; i++) {
        if (take_lock(call->handles[i]) == 0) continue;
        release_locks(call);
        return -1;
    }
    return 0;
}

void streams_unlock_one(Handle *handle, bool *was_locked)
{
    *was_locked = handle->is_locked;
    release_lock(handle);
}

int streams_relock_one(Handle *handle, bool was_locked)
{
    PyObject *type, *value, *traceback;
    int result;

    if (!was_locked) return 0;
    PyErr_Fetch(&type, &value, &traceback);
    result = take_lock(handle);
    if (type == NULL) return result;
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    return -1;
}

/* ---- snapshots ---- */

static int reserve_words(Handle *handle)
{
    size_t n_bytes = handle->layout->n_bytes;

    if (handle->words_room >= n_bytes) return 0;
    mem_free(handle->snapshot);
    mem_free(handle->watch);
    handle->words_room = 0;
    handle->snapshot = mem_alloc(n_bytes);
    handle->watch = mem_alloc(n_bytes);
    if (handle->snapshot == NULL || handle->watch == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    handle->words_room = n_bytes;
    return 0;
}

static int take_snapshot(Call *call, Handle *handle)
{
    if (handle->layout == NULL) {
        Py_XSETREF(handle->saved, bitgens_save(call->state, handle->generator));
        return handle->saved == NULL ? -1 : 0;
    }
    if (reserve_words(handle) < 0) return -1;
    if (!handle->is_mutable) return 0;
    stream_copy_words(handle->layout, handle->snapshot, handle->bitgen->state);
    if (handle->gauss != NULL) handle->snapshot_gauss = *handle->gauss;
    return 0;
}

void streams_restore(Call *call)
{
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    for (int32_t i = 0; i < call->n_input_handles; i++) {
        Handle *handle = call->handles[i];
        if (!handle->is_mutable) continue;
        if (handle->layout != NULL) {
            stream_copy_words(handle->layout, handle->bitgen->state, handle->snapshot);
            if (handle->gauss != NULL) *handle->gauss = handle->snapshot_gauss;
        } else if (handle->saved != NULL && bitgens_restore(call->state, handle->generator, handle->saved) < 0) {
            PyErr_WriteUnraisable(handle->generator);
        }
    }
    PyErr_Restore(type, value, traceback);
}

/* ---- call-backs ---- */

int streams_unlock(Call *call)
{
    for (int32_t i = 0; i < call->n_input_handles; i++) {
        Handle *handle = call->handles[i];
        if (handle->layout != NULL) {
            memcpy(handle->watch, handle->bitgen->state, handle->layout->n_bytes);
            if (handle->gauss != NULL) handle->watch_gauss = *handle->gauss;
        } else {
            Py_XSETREF(handle->watched, bitgens_fingerprint(call->state, handle->generator));
            if (handle->watched == NULL) return -1;
        }
    }
    release_locks(call);
    return 0;
}

/* Bit for bit; the value also where none is left, since get_state tells it. */
static bool is_same_gauss(const Gauss *a, const Gauss *b) { return a->has_value == b->has_value && memcmp(&a->value, &b->value, sizeof(a->value)) == 0; }

/* 1 if the state differs from when the locks were released. */
static int has_moved(Call *call, const Handle *handle)
{
    PyObject *now;
    int result;

    if (handle->gauss != NULL && handle->layout != NULL && !is_same_gauss(handle->gauss, &handle->watch_gauss)) return 1;
    if (handle->layout != NULL) return memcmp(handle->watch, handle->bitgen->state, handle->layout->n_bytes) != 0;
    now = bitgens_fingerprint(call->state, handle->generator);
    result = now == NULL ? -1 : PyObject_RichCompareBool(now, handle->watched, Py_NE);
    Py_XDECREF(now);
    return result;
}

static int check_unmoved(Call *call, Handle *const *expected, int n_expected)
{
    for (int32_t i = 0; i < call->n_input_handles; i++) {
        Handle *handle = call->handles[i];
        bool may_move = false;
        int moved;
        for (int k = 0; k < n_expected; k++) may_move = may_move || expected[k] == handle;
        moved = may_move ? 0 : has_moved(call, handle);
        if (moved == 1) {
            PyObject *name = streams_name(call, handle);
            if (name != NULL) PyErr_Format(PyExc_RuntimeError, "generator %U was drawn from by somebody else while the function was running", name);
            Py_XDECREF(name);
        }
        if (moved != 0) return -1;
    }
    return 0;
}

int streams_relock(Call *call, Handle *const *expected, int n_expected)
{
    PyObject *type, *value, *traceback;
    int result;

    PyErr_Fetch(&type, &value, &traceback);
    result = take_locks(call);
    if (result == 0 && type == NULL) result = check_unmoved(call, expected, n_expected);
    if (type == NULL) return result;
    PyErr_Clear(); /* the call-back's own exception says more */
    PyErr_Restore(type, value, traceback);
    return -1;
}

/* ---- entering and leaving ---- */

/* The handle on that bit generator among the inputs', or NULL. */
static Handle *find_handle(const Call *call, PyObject *bit_generator)
{
    for (int32_t i = 0; i < call->n_handles; i++)
        if (call->handles[i]->bit_generator == bit_generator) return call->handles[i];
    return NULL;
}

/* Whether input i has a better claim on a shared bit generator than its present owner: the first with an update has the
 * best, then the first that the program writes on. */
static bool is_better_owner(const Thunk *thunk, int32_t i, int32_t owner)
{
    bool updates = thunk->update_of[i] >= 0, owner_updates = thunk->update_of[owner] >= 0;

    return updates != owner_updates ? updates : !updates && thunk->is_destroyed[i] && !thunk->is_destroyed[owner];
}

/* Points every stream input at the handle on its bit generator. */
static int add_inputs(Call *call, PyObject *const *generators)
{
    const Thunk *thunk = call->thunk;

    for (int32_t i = 0; i < thunk->lowered.program->n_inputs; i++) {
        PyObject *bit_generator;
        Handle *handle;
        if (call->streams[i] == NULL) continue;
        bit_generator = bitgens_of(call->state, generators[i]);
        if (bit_generator == NULL) return -1;
        handle = find_handle(call, bit_generator);
        Py_DECREF(bit_generator);
        if (handle == NULL) {
            handle = streams_add_handle(call, generators[i]);
            if (handle == NULL) return -1;
            handle->owner = i;
        } else if (is_better_owner(thunk, i, handle->owner)) {
            handle->owner = i;
            Py_SETREF(handle->generator, Py_NewRef(generators[i]));
            if (describe_generator(call->state, handle) < 0) return -1;
        }
        handle->is_mutable = handle->is_mutable || thunk->is_destroyed[i];
        call->streams[i]->host = handle;
    }
    call->n_input_handles = call->n_handles;
    return 0;
}

/* Whether the input's generator draws as the handle's does: it is the same, or both have no state but the bit generator's. */
static bool is_alike(const Handle *handle, PyObject *generator)
{
    PyTypeObject *plain = (PyTypeObject *)handle->state->Generator;

    return generator == handle->generator || (Py_TYPE(generator) == plain && Py_TYPE(handle->generator) == plain);
}

/* Gives an input that does not own its bit generator, and meets one that moves or is not like its own, a copy of its own. */
static int copy_input(Call *call, Stream *stream, Handle *handle, PyObject *generator)
{
    Stream original = {0};
    Status status;
    PyObject *copy;
    int result;

    call->generator_copies++;
    point_stream(&original, handle);
    if (handle->layout != NULL && is_alike(handle, generator)) {
        status_clear(&status);
        return stream_copy(stream, &original, &status) < 0 ? errors_raise_plain(&status) : 0;
    }
    copy = bitgens_copy(call->state, generator, NULL);
    result = copy == NULL ? -1 : streams_adopt(call, stream, copy);
    Py_XDECREF(copy);
    return result;
}

/* With the locks held: the streams, the copies, the snapshots. */
static int prepare_streams(Call *call, PyObject *const *generators)
{
    const Thunk *thunk = call->thunk;

    for (int32_t i = 0; i < call->n_input_handles; i++)
        if (take_snapshot(call, call->handles[i]) < 0) return -1;
    for (int32_t i = 0; i < thunk->lowered.program->n_inputs; i++) {
        Handle *handle = call->streams[i] == NULL ? NULL : call->streams[i]->host;
        if (handle == NULL) continue;
        if (handle->owner == i || (!handle->is_mutable && is_alike(handle, generators[i]))) point_stream(call->streams[i], handle);
        else if (copy_input(call, call->streams[i], handle, generators[i]) < 0) return -1;
    }
    return 0;
}

int streams_enter(Call *call, PyObject *const *generators)
{
    PyObject *keys;
    int result = -1;

    call->generator_copies = 0;
    if (add_inputs(call, generators) < 0) return -1;
    if (call->n_input_handles == 0) return 0;
    qsort(call->handles, (size_t)call->n_input_handles, sizeof(*call->handles), compare_addresses);
    keys = make_keys(call);
    if (keys != NULL && take_keys(call, keys) == 0) result = take_locks(call);
    Py_XDECREF(keys);
    if (result == 0) result = prepare_streams(call, generators);
    if (result < 0) streams_leave(call);
    return result;
}

void streams_leave(Call *call)
{
    release_locks(call);
    drop_keys(call);
}
