"""Shapes and layout: shape, reshape, static shape assertions, and permutations of axes.

Relies on `basic`. Relied on by `math`, `subtensor` and `extra_ops`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pyscan._core import Apply, Constant, Op, Variable
from pyscan.tensor.basic import as_tensor_variable, constant_length, get_vector_length
from pyscan.tensor.elemwise import dimshuffle, known_axis, normalize_axes
from pyscan.tensor.type import tensor_type
from pyscan.tensor.type_other import NoneConst, NoneTypeT
from pyscan.tensor.variable import constant


class Shape(Op):
    """Tensor -> its lengths, an int64 vector."""

    kind = "shape"
    __props__ = ()

    def make_node(self, x):
        x = as_tensor_variable(x)
        return Apply(self, [x], [tensor_type("int64", (x.type.ndim,))()])


class Shape_i(Op):
    """Tensor -> the length of axis `i`, an int64 scalar."""

    kind = "shape_i"
    __props__ = ("i",)

    def __init__(self, i):
        self.i = int(i)

    def make_node(self, x):
        x = as_tensor_variable(x)
        if not 0 <= self.i < x.type.ndim:
            raise TypeError(f"{x} has no dimension {self.i}")
        return Apply(self, [x], [tensor_type("int64", ())()])

    def __str__(self):
        return f"Shape_i{{{self.i}}}"


_shape = Shape()


def shape(x):
    """The lengths of `x` as an int64 vector: a constant when all are known statically.

    Examples
    --------
    >>> import pyscan.tensor as at
    >>> shape(at.dmatrix()).type
    TensorType(int64, (2,))
    """
    x = as_tensor_variable(x)
    lengths = x.type.shape
    return _shape(x) if None in lengths else constant(np.array(lengths, dtype="int64"))


def shape_i(x, i):
    """The length of axis `i` of `x`, an int64 scalar."""
    return _shape_i(i)(x)


@lru_cache(maxsize=64)
def _shape_i(i):
    return Shape_i(i)


def shape_tuple(x):
    """The lengths of `x` one by one: constants where they are known, else symbolic."""
    x = as_tensor_variable(x)
    return tuple(constant(s, dtype="int64") if s is not None else x.shape[i] for i, s in enumerate(x.type.shape))


class SpecifyShape(Op):
    """(tensor, *lengths or None) -> the tensor, whose lengths are checked at run time."""

    kind = "specify_shape"
    view_map = {0: [0]}
    __props__ = ()

    def make_node(self, x, *lengths):
        x = as_tensor_variable(x)
        if len(lengths) != x.type.ndim:
            raise ValueError(f"Input `x` is {x.type.ndim}-dimensional and will never match a shape of length {len(lengths)}.")
        inputs, static = [x], []
        for length, known in zip(lengths, x.type.shape):
            if length is None or (isinstance(length, Variable) and isinstance(length.type, NoneTypeT)):
                inputs.append(NoneConst)
                static.append(known)
                continue
            length = as_tensor_variable(length)
            if length.type.ndim != 0 or length.type.numpy_dtype.kind not in "iu":
                raise TypeError(f"Shape values must be integer types; got {length.type}")
            inputs.append(length)
            static.append(constant_length(length) if known is None else known)
        return Apply(self, inputs, [tensor_type(x.type.dtype, tuple(static))()])


_specify_shape = SpecifyShape()


def specify_shape(x, shape):
    """`x` with the promise that its lengths are `shape`, which is checked at run time.

    Parameters
    ----------
    shape : int, or a sequence of int, symbolic integer or None
        None leaves a dimension as it is.
    """
    if isinstance(shape, Variable) and shape.type.ndim > 0:
        try:
            get_vector_length(shape)
        except ValueError:
            raise ValueError("Shape vector must have fixed dimensions") from None
        shape = tuple(shape)
    elif not isinstance(shape, (tuple, list, np.ndarray)):
        shape = (shape,)
    x = as_tensor_variable(x)
    if len(shape) != x.type.ndim:
        raise ValueError(f"Input `x` is {x.type.ndim}-dimensional and will never match a shape of length {len(shape)}.")
    if all(s is None or (not isinstance(s, Variable) and s == known) for s, known in zip(shape, x.type.shape)):
        return x
    return _specify_shape(x, *shape)


def specify_broadcastable(x, *axes):
    """`x` with the promise that `axes` have length 1, which is checked at run time."""
    x = as_tensor_variable(x)
    axes = normalize_axes(axes, x.type.ndim)
    return specify_shape(x, tuple(1 if i in axes else s for i, s in enumerate(x.type.shape)))


class Reshape(Op):
    """(tensor, int vector) -> the elements in the shape of the vector, of rank `ndim`; one entry may be -1."""

    kind = "reshape"
    view_map = {0: [0]}
    __props__ = ("ndim",)

    def __init__(self, ndim, name=None):
        self.ndim = int(ndim)
        if self.ndim < 0:
            raise ValueError("The output dimensions after reshape must be 0 or greater")
        self.name = name

    def make_node(self, x, lengths):
        x = as_tensor_variable(x)
        lengths = as_tensor_variable(lengths, ndim=1)
        if isinstance(lengths, Constant) and lengths.data.size == 0:
            static = ()
        elif lengths.type.numpy_dtype.kind not in "iu":
            raise TypeError(f"Shape must be integers; got {lengths.type.dtype}")
        else:
            static = self._static_shape(lengths)
        if len(static) != self.ndim:
            raise ValueError(f"Reshape to rank {self.ndim} got a shape of length {len(static)}.")
        return Apply(self, [x, lengths], [tensor_type(x.type.dtype, static)()])

    def _static_shape(self, lengths):
        if isinstance(lengths, Constant):
            entries = [int(s) for s in lengths.data]
        elif lengths.owner is not None and getattr(lengths.owner.op, "kind", None) == "make_vector":
            entries = [constant_length(s) for s in lengths.owner.inputs]
        else:
            entries = [None] * self.ndim
        return tuple(s if s is not None and s >= 0 else None for s in entries)

    def __str__(self):
        return f"Reshape{{{self.ndim}}}"


@lru_cache(maxsize=64)
def _reshape_op(ndim):
    return Reshape(ndim)


def reshape(x, newshape, ndim=None):
    """The elements of `x` in another shape.

    Parameters
    ----------
    newshape : sequence of int and symbolic integer, or int vector
        One entry may be -1.
    ndim : int
        The length of `newshape`, where it is not known.

    Examples
    --------
    >>> import pyscan.tensor as at
    >>> reshape(at.dvector(), (2, -1)).type
    TensorType(float64, (2, ?))
    """
    newshape = as_tensor_variable(newshape)
    if newshape.type.ndim != 1:
        raise TypeError(
            f"New shape in reshape must be a vector or a list/tuple of scalar. Got {newshape} after conversion to a vector."
        )
    if ndim is None:
        try:
            ndim = get_vector_length(newshape)
        except ValueError:
            raise ValueError(
                f"The length of the provided shape ({newshape}) cannot be automatically determined, so the number of dimensions of "
                "the reshaped variable is not known. You can provide the 'ndim' keyword argument to 'reshape' to avoid this problem."
            ) from None
    return _reshape_op(ndim)(x, newshape)


def flatten(x, ndim=1):
    """`x` with its last axes joined, so that `ndim` remain."""
    x = as_tensor_variable(x)
    ndim = 1 if ndim is None else ndim
    if ndim < 1 or (ndim > 1 and x.type.ndim < ndim):
        raise ValueError(f"ndim {ndim} out of bound [1, {x.type.ndim + 1})")
    dims = (*x.shape[: ndim - 1], -1) if ndim > 1 else (-1,)
    flat = reshape(x, dims)
    return specify_broadcastable(flat, ndim - 1) if all(x.type.broadcastable[ndim - 1 :]) and x.type.ndim else flat


def is_flat(var, ndim=None, outdim=1):
    """Whether `var` has rank `outdim`."""
    return as_tensor_variable(var).type.ndim == (outdim if ndim is None else ndim)


def shape_padleft(t, n_ones=1):
    """`t` with `n_ones` new axes of size 1 in front."""
    t = as_tensor_variable(t)
    return dimshuffle(t, ("x",) * n_ones + tuple(range(t.type.ndim)))


def shape_padright(t, n_ones=1):
    """`t` with `n_ones` new axes of size 1 at the end."""
    t = as_tensor_variable(t)
    return dimshuffle(t, tuple(range(t.type.ndim)) + ("x",) * n_ones)


def shape_padaxis(t, axis):
    """`t` with a new axis of size 1 at `axis`."""
    t = as_tensor_variable(t)
    ndim, axis = t.type.ndim + 1, known_axis(axis)
    if not -ndim <= axis < ndim:
        raise IndexError(f"axis {axis} is out of bounds [{-ndim}, {ndim})")
    order = list(range(t.type.ndim))
    order.insert(axis if axis >= 0 else axis + ndim, "x")
    return dimshuffle(t, order)


def expand_dims(a, axis):
    """`a` with new axes of size 1 at the places `axis` (an int or several) of the result."""
    a = as_tensor_variable(a)
    axes = (axis,) if not isinstance(axis, (tuple, list)) else axis
    axes = normalize_axes(axes, len(axes) + a.type.ndim)
    lengths = iter(a.shape)
    return reshape(a, [1 if i in axes else next(lengths) for i in range(len(axes) + a.type.ndim)])


def squeeze(x, axis=None):
    """`x` without the axes whose static size is 1, or without `axis`, whose static size must be 1."""
    x = as_tensor_variable(x)
    if axis is None:
        axis = [i for i, b in enumerate(x.type.broadcastable) if b]
    axes = normalize_axes(axis, x.type.ndim)
    return dimshuffle(x, [i for i in range(x.type.ndim) if i not in axes])


def transpose(x, axes=None):
    """`x` with its axes permuted; reversed by default."""
    x = as_tensor_variable(x)
    axes = tuple(range(x.type.ndim - 1, -1, -1)) if axes is None else normalize_axes(axes, x.type.ndim)
    result = dimshuffle(x, axes)
    if x.name and axes == tuple(range(x.type.ndim - 1, -1, -1)):
        result.name = x.name + ".T"
    return result


def swapaxes(y, axis1, axis2):
    """`y` with two axes exchanged."""
    y = as_tensor_variable(y)
    (axis1, axis2) = normalize_axes((axis1, axis2), y.type.ndim)
    order = list(range(y.type.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return dimshuffle(y, order)


def moveaxis(a, source, destination):
    """`a` with the axes `source` moved to the places `destination`."""
    a = as_tensor_variable(a)
    source, destination = normalize_axes(source, a.type.ndim), normalize_axes(destination, a.type.ndim)
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [i for i in range(a.type.ndim) if i not in source]
    for to, axis in sorted(zip(destination, source)):
        order.insert(to, axis)
    return dimshuffle(a, order)


def atleast_Nd(*arys, n=1, left=True):
    """Each tensor with as many new axes of size 1, in front or behind, as make its rank `n`."""
    result = []
    for a in arys:
        a = as_tensor_variable(a)
        missing = n - a.type.ndim
        pad = ("x",) * missing
        axes = tuple(range(a.type.ndim))
        result.append(a if missing <= 0 else dimshuffle(a, pad + axes if left else axes + pad))
    return result[0] if len(result) == 1 else result


def atleast_1d(*arys):
    """Each tensor with rank 1 at least."""
    return atleast_Nd(*arys, n=1)


def atleast_2d(*arys):
    """Each tensor with rank 2 at least."""
    return atleast_Nd(*arys, n=2)


def atleast_3d(*arys):
    """Each tensor with rank 3 at least."""
    return atleast_Nd(*arys, n=3)


class Unbroadcast(Op):
    """Tensor -> the same, with the static size 1 of `axes` forgotten."""

    kind = "unbroadcast"
    view_map = {0: [0]}
    __props__ = ("axes",)

    def __init__(self, *axes):
        self.axes = tuple(sorted(int(a) for a in axes))

    def make_node(self, x):
        x = as_tensor_variable(x)
        if self.axes and x.type.ndim <= max(self.axes):
            raise ValueError("Trying to unbroadcast of non-existent dimension")
        static = tuple([None if i in self.axes and s == 1 else s for i, s in enumerate(x.type.shape)])
        return Apply(self, [x], [tensor_type(x.type.dtype, static)()])

    def __str__(self):
        return f"Unbroadcast{{{','.join(map(str, self.axes))}}}"

    def __reduce__(self):
        return Unbroadcast, self.axes


@lru_cache(maxsize=256)
def _unbroadcast_op(axes):
    return Unbroadcast(*axes)


def unbroadcast(x, *axes):
    """`x` with the static size 1 of `axes` forgotten, so that it may stand for tensors of other sizes there."""
    x = as_tensor_variable(x)
    broadcastable = x.type.broadcastable
    axes = tuple(sorted(axis for axis in {int(a) for a in axes} if broadcastable[axis]))
    return _unbroadcast_op(axes)(x) if axes else x


