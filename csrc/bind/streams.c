/* The generators of a run: taken from the cells for the length of the outer call, locked, copied where two containers
 * stand on one bit generator, and put back as they were when the run fails.
 *
 * Three guards, from the outside in. A list of the calls that run (module state) keeps two calls of this package apart:
 * another thread's call waits, a call from the same thread (out of a call-back) raises; calls of two threads that update one
 * cell wait for each other in the same way, unless each would wait for the other. The bit generators' own locks keep
 * everybody else out and are taken in the order of their addresses; they are released around call-backs, and words that
 * moved meanwhile end the call. Snapshots put back what a failed run has drawn. Relies on: bitgens.c, random. Relied on
 * by: thunk.c, calls.c, commit.c. */
#include "bind/bind.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- handles ---- */

static void empty_handle(Handle *handle)
{
    Py_CLEAR(handle->generator);
    Py_CLEAR(handle->bit_generator);
    Py_CLEAR(handle->lock);
    Py_CLEAR(handle->saved);
    Py_CLEAR(handle->watched);
}

void streams_empty(Call *call)
{
    for (int32_t i = 0; i < call->n_handles; i++) empty_handle(call->handles[i]);
    call->n_handles = call->n_input_handles = 0;
}

void streams_free(Call *call)
{
    streams_empty(call);
    for (int32_t i = 0; i < call->n_made_handles; i++) {
        mem_free(call->handles[i]->snapshot);
        mem_free(call->handles[i]->watch);
        mem_free(call->handles[i]);
    }
    mem_free(call->handles);
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
static int describe_generator(BindState *state, Handle *handle, const BitClass *class)
{
    bool is_plain;

    if (gauss_find(state, handle->generator, &handle->gauss) < 0) return -1;
    is_plain = handle->gauss != NULL || Py_TYPE(handle->generator) == (PyTypeObject *)state->Generator;
    handle->by_method = !is_plain;
    handle->layout = is_plain && class->has_layout ? &class->layout : NULL;
    handle->kind = is_plain ? bitgens_kind(class, handle->bitgen) : STREAM_CALLED;
    return 0;
}

int streams_find_kind(BindState *state, PyObject *generator, StreamKind *kind)
{
    PyObject *bit_generator;
    const BitClass *class;
    const BitGen *bitgen;

    if (Py_TYPE(generator) != (PyTypeObject *)state->Generator) return 0;
    bit_generator = bitgens_of(state, generator);
    class = bit_generator == NULL ? NULL : bitgens_class(state, bit_generator);
    bitgen = class == NULL ? NULL : bitgens_peek_known(class, bit_generator);
    if (bitgen != NULL) *kind = bitgens_kind(class, bitgen);
    Py_XDECREF(bit_generator);
    return bitgen == NULL ? -1 : 1;
}

/* Takes the reference to the generator's bit generator. */
static int describe_handle(BindState *state, Handle *handle, PyObject *stolen_bit_generator)
{
    const BitClass *class = bitgens_class(state, stolen_bit_generator);

    handle->bit_generator = stolen_bit_generator;
    handle->lock = class == NULL ? NULL : PyObject_GetAttr(stolen_bit_generator, state->lock);
    handle->bitgen = handle->lock == NULL ? NULL : bitgens_peek_known(class, stolen_bit_generator);
    return handle->bitgen == NULL ? -1 : describe_generator(state, handle, class);
}

/* Lent: the handle after the last, empty. */
static Handle *next_handle(Call *call)
{
    Handle *handle, old;

    if (call->n_handles == call->n_made_handles) {
        handle = reserve_handle(call) < 0 ? NULL : mem_calloc(1, sizeof(*handle));
        if (handle == NULL) {
            if (!PyErr_Occurred()) PyErr_NoMemory();
            return NULL;
        }
        call->handles[call->n_made_handles++] = handle;
    }
    handle = call->handles[call->n_handles];
    old = *handle;
    memset(handle, 0, sizeof(*handle));
    handle->snapshot = old.snapshot;
    handle->watch = old.watch;
    handle->words_room = old.words_room;
    handle->state = call->state;
    handle->owner = -1;
    return handle;
}

/* Takes the reference to the generator's bit generator. */
static Handle *add_handle(Call *call, PyObject *generator, PyObject *stolen_bit_generator)
{
    Handle *handle = next_handle(call);

    if (handle == NULL) {
        Py_DECREF(stolen_bit_generator);
        return NULL;
    }
    handle->generator = Py_NewRef(generator);
    if (describe_handle(call->state, handle, stolen_bit_generator) < 0) {
        empty_handle(handle);
        return NULL;
    }
    call->n_handles++;
    return handle;
}

/* A new handle on a generator, in the call's list; takes a reference. NULL with an exception. */
static Handle *add_handle_of(Call *call, PyObject *generator)
{
    PyObject *bit_generator = bitgens_of(call->state, generator);

    return bit_generator == NULL ? NULL : add_handle(call, generator, bit_generator);
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

/* Owned: the name for messages of the program input that a handle belongs to. */
static PyObject *name_handle(Call *call, const Handle *handle)
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
        handle = add_handle_of(call, generator);
        if (handle == NULL) return -1;
        handle->made_for = stream;
    } else {
        PyObject *bit_generator = bitgens_of(call->state, generator);
        Handle fresh = *handle;
        if (bit_generator == NULL) return -1;
        fresh.generator = Py_NewRef(generator);
        fresh.lock = NULL;
        if (describe_handle(call->state, &fresh, bit_generator) < 0) {
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

/* ---- calls of this package that use one generator, or update one cell ---- */

/* Whether the calls, of two threads, update one cell: side by side, both would begin with the same value, and one update be lost. */
static bool do_update_one(const Call *call, const Call *other)
{
    const Thunk *left = call->thunk, *right = other->thunk;

    if (call->thread == other->thread || call->goes_beside) return false;
    for (Py_ssize_t i = 0; i < left->n_updates; i++)
        for (Py_ssize_t k = 0; k < right->n_updates; k++)
            if (PyTuple_GET_ITEM(left->cells, left->update_in[i]) == PyTuple_GET_ITEM(right->cells, right->update_in[k])) return true;
    return false;
}

/* *i is the first of call's generators that both calls draw from, or -1 where they update one cell; false: there is none.
 * Handles are in the order of addresses. */
static bool do_meet(const Call *call, const Call *other, int32_t *i)
{
    int32_t k = 0;

    for (*i = 0; *i < call->n_input_handles && k < other->n_input_handles;) {
        uintptr_t left = (uintptr_t)call->handles[*i]->bit_generator, right = (uintptr_t)other->handles[k]->bit_generator;
        if (left == right) return true;
        *i += left < right;
        k += left > right;
    }
    *i = -1;
    return do_update_one(call, other);
}

/* Lent: a call that has one of this call's generators or cells, or NULL. *i is which generator, or -1. */
static const Call *find_user(const Call *call, int32_t *i)
{
    for (const Call *user = call->state->active; user != NULL; user = user->next_active)
        if (do_meet(call, user, i)) return user;
    return NULL;
}

/* Whether thread `from` waits, directly or by others, for what a call of thread `target` has. */
static bool waits_for(const BindState *state, unsigned long from, unsigned long target, int depth)
{
    int32_t i;

    if (depth == 0) return false;
    for (const Call *waiting = state->waiting; waiting != NULL; waiting = waiting->next_waiting) {
        if (waiting->thread != from) continue;
        for (const Call *user = state->active; user != NULL; user = user->next_active)
            if (do_meet(waiting, user, &i) && (user->thread == target || waits_for(state, user->thread, target, depth - 1))) return true;
    }
    return false;
}

static int refuse_use(Call *call, int32_t i, const char *why)
{
    PyObject *name = name_handle(call, call->handles[i]);

    if (name != NULL) PyErr_Format(PyExc_RuntimeError, "generator %U is in use by a call that has not ended: %s", name, why);
    Py_XDECREF(name);
    return -1;
}

static int tell_changed(BindState *state, const char *method)
{
    PyObject *answer = PyObject_CallMethod(state->active_changed, method, NULL);

    Py_XDECREF(answer);
    return answer == NULL ? -1 : 0;
}

/* Makes the condition that calls wait at, and takes its lock. */
static int take_changed(BindState *state)
{
    PyObject *threading, *made;

    if (state->active_changed == NULL) {
        threading = PyImport_ImportModule("threading");
        made = threading == NULL ? NULL : PyObject_CallMethod(threading, "Condition", NULL);
        Py_XDECREF(threading);
        if (made == NULL) return -1;
        if (state->active_changed == NULL) state->active_changed = made;
        else Py_DECREF(made); /* another thread was faster */
    }
    return tell_changed(state, "acquire");
}

static void leave_waiting(Call *call)
{
    Call **link = &call->state->waiting;

    while (*link != call) link = &(*link)->next_waiting;
    *link = call->next_waiting;
}

/* Waits until a call ends. The condition's lock is held from before the last look at the calls. */
static int wait_for_change(Call *call)
{
    BindState *state = call->state;
    PyObject *type, *value, *traceback;
    const Call *user;
    int32_t i;
    int result = 0;

    if (take_changed(state) < 0) return -1;
    call->next_waiting = state->waiting;
    state->waiting = call;
    user = find_user(call, &i);
    if (user != NULL && waits_for(state, user->thread, call->thread, 64)) {
        if (i < 0) call->goes_beside = true;
        else result = refuse_use(call, i, "it waits, in turn, for a generator of this thread's");
    } else if (user != NULL) {
        call->has_waited = true;
        result = tell_changed(state, "wait");
    }
    leave_waiting(call);
    PyErr_Fetch(&type, &value, &traceback);
    if (tell_changed(state, "release") < 0 && type == NULL) return -1;
    if (type != NULL) PyErr_Restore(type, value, traceback);
    return result;
}

/* Takes all generators and cells for this call, waiting while others have one of them: all at once, so nobody holds and waits. */
static int enter_active(Call *call)
{
    const Call *user;
    int32_t i;

    call->thread = PyThread_get_thread_ident();
    while ((user = find_user(call, &i)) != NULL) {
        if (user->thread == call->thread) return refuse_use(call, i, "a call-back of that call must not use it");
        if (wait_for_change(call) < 0) return -1;
    }
    call->next_active = call->state->active;
    call->state->active = call;
    call->is_active = true;
    return 0;
}

/* Gives them back and tells those who wait. Failures here have nobody to go to. */
static void leave_active(Call *call)
{
    BindState *state = call->state;
    PyObject *type, *value, *traceback;
    static const char *const steps[] = {"acquire", "notify_all", "release"};
    Call **link = &state->active;

    if (!call->is_active) return;
    while (*link != call) link = &(*link)->next_active;
    *link = call->next_active;
    call->is_active = false;
    if (state->waiting == NULL) return;
    PyErr_Fetch(&type, &value, &traceback);
    for (int i = 0; i < 3; i++)
        if (tell_changed(state, steps[i]) < 0) PyErr_WriteUnraisable(state->active_changed);
    PyErr_Restore(type, value, traceback);
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
            PyObject *name = name_handle(call, handle);
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
        if (handle == NULL) {
            handle = add_handle(call, generators[i], bit_generator);
            if (handle == NULL) return -1;
            handle->owner = i;
        } else {
            Py_DECREF(bit_generator); /* the handle has it */
            if (is_better_owner(thunk, i, handle->owner)) {
                const BitClass *class = bitgens_class(call->state, handle->bit_generator);
                handle->owner = i;
                Py_SETREF(handle->generator, Py_NewRef(generators[i]));
                if (class == NULL || describe_generator(call->state, handle, class) < 0) return -1;
            }
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
    int result = -1;

    call->generator_copies = 0;
    call->has_waited = call->goes_beside = false;
    if (add_inputs(call, generators) < 0) return -1;
    if (call->n_input_handles == 0 && call->thunk->n_updates == 0) return 0;
    if (call->n_input_handles > 1) qsort(call->handles, (size_t)call->n_input_handles, sizeof(*call->handles), compare_addresses);
    if (enter_active(call) == 0) result = take_locks(call);
    if (result == 0) result = prepare_streams(call, generators);
    if (result < 0) streams_leave(call);
    return result;
}

void streams_leave(Call *call)
{
    release_locks(call);
    leave_active(call);
}
