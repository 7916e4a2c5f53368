/* Where a RandomState keeps the second Gaussian of a pair.
 *
 * `get_state` tells it too, but copies the whole state on the way (70 microseconds for a Mersenne twister), and `set_state`
 * can fail, which a commit must not. So the place of the two words in the object is learned from an instance that was given
 * a value of ours, and used only if what is written there is what `get_state` tells and what `standard_normal` gives, and
 * what these do is seen there. Where that does not hold, a RandomState is drawn by its own methods.
 * Relies on: random (Gauss), NumPy's Python interface. Relied on by: bitgens.c, streams.c, calls.c. */
#include "bind/bind.h"

#include <string.h>

/* 1 if the instance's get_state tells what `gauss` holds. */
static int is_told(PyObject *instance, const Gauss *gauss)
{
    PyObject *told = PyObject_CallMethod(instance, "get_state", "O", Py_False), *has = NULL, *value = NULL;
    int result = -1;

    if (told != NULL && PyDict_Check(told)) {
        has = PyDict_GetItemString(told, "has_gauss");
        value = PyDict_GetItemString(told, "gauss");
        result = has != NULL && value != NULL && PyLong_AsLong(has) == gauss->has_value && PyFloat_AsDouble(value) == gauss->value;
        if (PyErr_Occurred()) result = -1;
    }
    Py_XDECREF(told);
    return result;
}

/* Gives the instance a second Gaussian by its own method. */
static int give(PyObject *instance, Gauss gauss)
{
    PyObject *state = PyObject_CallMethod(instance, "get_state", "O", Py_False), *answer = NULL;
    PyObject *has = PyLong_FromLong(gauss.has_value), *value = PyFloat_FromDouble(gauss.value);

    if (state != NULL && has != NULL && value != NULL && PyDict_Check(state) && PyDict_SetItemString(state, "has_gauss", has) == 0
        && PyDict_SetItemString(state, "gauss", value) == 0) answer = PyObject_CallMethod(instance, "set_state", "O", state);
    Py_XDECREF(state);
    Py_XDECREF(has);
    Py_XDECREF(value);
    Py_XDECREF(answer);
    return answer == NULL ? -1 : 0;
}

/* 1 if standard_normal takes the value that was written, and shows that it did. */
static int is_taken(PyObject *instance, Gauss *gauss)
{
    double value = gauss->value;
    PyObject *drawn = PyObject_CallMethod(instance, "standard_normal", NULL);
    int result = drawn == NULL ? -1 : PyFloat_Check(drawn) && PyFloat_AS_DOUBLE(drawn) == value && gauss->has_value == 0;

    Py_XDECREF(drawn);
    return result;
}

/* The only place in the object where those words lie, or 0: an object begins with other things. */
static size_t find_words(PyObject *instance, Gauss wanted)
{
    size_t end = (size_t)Py_TYPE(instance)->tp_basicsize, found = 0;

    for (size_t at = sizeof(PyObject); at + sizeof(Gauss) <= end; at += sizeof(double)) {
        Gauss words;
        memcpy(&words, (char *)instance + at, sizeof(words));
        if (words.has_value != wanted.has_value || words.value != wanted.value) continue;
        if (found != 0) return 0;
        found = at;
    }
    return found;
}

/* 1 if the words at that place are the instance's second Gaussian, read and written. */
static int verify_place(PyObject *instance, size_t place)
{
    Gauss *gauss = (Gauss *)(void *)((char *)instance + place);
    int result;

    *gauss = (Gauss){1, -0.40625};
    result = is_told(instance, gauss);
    if (result == 1) result = is_taken(instance, gauss);
    if (result == 1) result = is_told(instance, gauss);
    *gauss = (Gauss){1, 2.21875};
    if (result == 1 && give(instance, (Gauss){0, 0.0}) < 0) result = -1;
    return result == 1 ? gauss->has_value == 0 && gauss->value == 0.0 : result;
}

static int learn_place(BindState *state)
{
    const Gauss given = {1, 0.728515625};
    PyObject *random = PyImport_ImportModule("numpy.random"), *bits = random == NULL ? NULL : PyObject_CallMethod(random, "PCG64", "i", 1);
    PyObject *instance = bits == NULL ? NULL : PyObject_CallOneArg(state->RandomState, bits);
    size_t place = 0;
    int result = instance == NULL ? -1 : give(instance, given);

    if (result == 0) place = find_words(instance, given);
    if (place != 0) result = verify_place(instance, place);
    if (result >= 0) {
        state->gauss_place = result == 1 ? place : 0;
        state->gauss_is_learned = true;
    }
    Py_XDECREF(random);
    Py_XDECREF(bits);
    Py_XDECREF(instance);
    return result < 0 ? -1 : 0;
}

int gauss_find(BindState *state, PyObject *generator, Gauss **gauss)
{
    *gauss = NULL;
    if (Py_TYPE(generator) != (PyTypeObject *)state->RandomState) return 0;
    if (!state->gauss_is_learned && learn_place(state) < 0) return -1;
    if (state->gauss_place != 0) *gauss = (Gauss *)(void *)((char *)generator + state->gauss_place);
    return 0;
}
