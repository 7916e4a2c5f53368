"""Sizes of random variables, and the shapes of draws that are known before the run.

Relies on: tensor basic functions. Relied on by: tensor.random.
"""
from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from pyscan._core import Constant, Variable
from pyscan.tensor.basic import (
    NotScalarConstantError,
    as_tensor_variable,
    cast,
    constant,
    get_scalar_constant_value,
    get_vector_length,
)
from pyscan.tensor.math import maximum
from pyscan.tensor.shape import specify_shape

# Sizes and shapes


def normalize_size_param(size):
    """The int64 vector variable for a ``size=`` argument: None, an integer, a sequence, an array or a variable.

    None gives the empty vector, which stands for "as the parameters broadcast". TypeError for other values; ValueError for
    a vector variable of unknown length.
    """
    if size is None:
        return constant([], dtype="int64")
    if isinstance(size, int):
        size = [size]
    elif not isinstance(size, (np.ndarray, Variable, Sequence)):
        raise TypeError(f"Parameter size must be None, an integer, or a sequence with integers.\n{size!r} came.")
    size = cast(as_tensor_variable(size, ndim=1), "int64")
    return size if isinstance(size, Constant) else specify_shape(size, (get_vector_length(size),))


# What is known before the run


def _without_casts(variable):
    """What a size or a length was made of by casts to int64, which keep its value, and by checks of its own length."""
    while not isinstance(variable, Constant) and variable.owner is not None:
        op = variable.owner.op
        kind = getattr(op, "kind", None)
        is_cast = kind == "elemwise" and getattr(op.scalar_op, "kind", None) == "cast" and variable.type.dtype == "int64"
        if not is_cast and kind != "specify_shape":
            break
        variable = variable.owner.inputs[0]
    return variable


def static_length(variable):
    """The value of an integer scalar that is known now, as an int of 0 or more, else None."""
    variable = _without_casts(variable)
    if not isinstance(variable, Constant) or int(variable.data) < 0:
        return None
    return int(variable.data)


def static_size(size):
    """The entries of a size vector that are known now: a list of ints and Nones."""
    length, size = get_vector_length(size), _without_casts(size)
    if isinstance(size, Constant):
        return [int(n) if n >= 0 else None for n in size.data]
    if size.owner is not None and getattr(size.owner.op, "kind", None) == "dimshuffle" and size.owner.inputs[0].type.ndim == 0:
        return [static_length(size.owner.inputs[0])]
    if size.owner is not None and getattr(size.owner.op, "kind", None) == "make_vector":
        return [static_length(n) for n in size.owner.inputs]
    if size.owner is not None and getattr(size.owner.op, "kind", None) == "shape":
        return list(size.owner.inputs[0].type.shape)
    return [None] * length


def static_lengths(shape):
    """The entries of a shape (a vector variable, or a sequence of integers and scalar variables) that are known now."""
    if isinstance(shape, Variable):
        return static_size(shape)
    return [static_length(as_tensor_variable(_known_scalar(n))) for n in shape]


def _known_scalar(length):
    try:
        return int(get_scalar_constant_value(length))
    except NotScalarConstantError:
        return length


def broadcast_static(shapes):
    """What static shapes broadcast to: unknown where one is; lengths that clash are left for the run to refuse."""
    rank = max(map(len, shapes), default=0)
    result = []
    for axis in range(-rank, 0):
        lengths = [shape[axis] for shape in shapes if len(shape) >= -axis and shape[axis] != 1]
        result.append(None if None in lengths else max(lengths, default=1))
    return result


# Symbolic shapes


def _joint_length(a, b, largest):
    for one, other in ((a, b), (b, a)):
        if int(getattr(one, "data", one) if not isinstance(one, Variable) or isinstance(one, Constant) else 0) == 1:
            return other
    return largest(a, b)


def params_broadcast_shapes(param_shapes, ndims_params, use_aesara=True):
    """The shapes (tuples) of parameters whose leading axes, all but the last `ndims_params[i]`, are broadcast with each other.

    Lengths are integers, or scalar variables where `use_aesara`. After Aesara's function of that name.

    >>> params_broadcast_shapes([(3,), (2, 1, 3, 3)], [1, 2], use_aesara=False)
    [(2, 1, 3), (2, 1, 3, 3)]
    """
    largest = maximum if use_aesara else max
    batches, batch = [tuple(shape)[: len(tuple(shape)) - n] for shape, n in zip(param_shapes, ndims_params)], ()
    for other in batches:
        pairs = zip_longest(reversed(batch), reversed(other), fillvalue=1)
        batch = tuple(_joint_length(a, b, largest) for a, b in pairs)[::-1]
    return [batch + tuple(shape)[len(own) :] for shape, own in zip(param_shapes, batches)]


def broadcast_params(params, ndims_params):
    """The parameters (arrays or variables) with their leading axes, all but the last `ndims_params[i]`, broadcast with each other.

    >>> import numpy as np
    >>> mean, cov = broadcast_params([np.zeros(3), np.ones((2, 3, 3))], [1, 2])
    >>> mean.shape, cov.shape
    ((2, 3), (2, 3, 3))
    """
    if not any(isinstance(param, Variable) for param in params):
        shapes = params_broadcast_shapes([param.shape for param in params], ndims_params, use_aesara=False)
        return [np.broadcast_to(param, shape) for param, shape in zip(params, shapes)]
    params = [as_tensor_variable(param) for param in params]
    shapes = params_broadcast_shapes([symbolic_shape(param) for param in params], ndims_params)
    from pyscan.tensor.extra_ops import broadcast_to  # here, as it is imported when it is asked for
    return [broadcast_to(param, shape) for param, shape in zip(params, shapes)]


def symbolic_shape(variable):
    """The shape as a tuple; lengths that are known now are integers."""
    return tuple(variable.shape[axis] if n is None else n for axis, n in enumerate(variable.type.shape))


def default_supp_shape_from_params(ndim_supp, dist_params, rep_param_idx=0, param_shapes=None):
    """The shape of one draw, a tuple: the last `ndim_supp` lengths of the parameter number `rep_param_idx`.

    `param_shapes` are the parameters' shapes where they are known better. ValueError when `ndim_supp` is 0 or the parameter has too
    low a rank. After Aesara's function of that name.
    """
    if ndim_supp <= 0:
        raise ValueError("ndim_supp must be greater than 0")
    if param_shapes is not None:
        return tuple(param_shapes[rep_param_idx])[-ndim_supp:]
    reference = dist_params[rep_param_idx]
    if reference.ndim < ndim_supp:
        raise ValueError(
            f"Reference parameter does not match the expected dimensions; {reference} has less than {ndim_supp} dim(s)."
        )
    return tuple(reference.shape[axis] for axis in range(-ndim_supp, 0))
