"""The operations that work element by element, those that permute axes, and those that reduce them.

`Elemwise` turns a scalar operation into one on tensors of any rank: inputs of lower rank get leading axes of size 1
(`InplaceDimShuffle{x,0}`), static shapes and dtypes of the result follow from the inputs'. One Elemwise object exists for each row
of the core's table; they are the functions of `pyscan.tensor` (`add`, `exp`, ...). All of this runs natively.

Relies on `variable`. Relied on by the modules with named functions.
"""

from __future__ import annotations

from functools import lru_cache
from operator import index

import numpy as np

from pyscan._core import Apply, Op, Variable
from pyscan.library import is_native
from pyscan.scalar import ScalarOp, cast_op, complex_dtypes, dtype_kinds, dtype_name, scalar_ops
from pyscan.tensor.type import tensor_type
from pyscan.tensor.variable import as_tensor_variable

try:
    from numpy.exceptions import AxisError
except ImportError:  # NumPy before 1.25
    from numpy import AxisError


class DimShuffle(Op):
    """Permutes the axes of a tensor, adds axes of size 1 and drops such axes. The result is a view.

    Parameters
    ----------
    input_broadcastable : sequence of bool
        For each axis of the input, whether its static size is 1.
    new_order : sequence of int and "x"
        The input's axis that becomes each axis of the result; "x": a new one of size 1. Axes that are missing are dropped.
    """

    kind = "dimshuffle"
    view_map = {0: [0]}

    def __init__(self, input_broadcastable, new_order):
        self.input_broadcastable = tuple(bool(b) for b in input_broadcastable)
        self.new_order = tuple("x" if isinstance(axis, str) and axis == "x" else known_axis(axis) for axis in new_order)
        self.inplace = True
        n_axes = len(self.input_broadcastable)
        for i, axis in enumerate(self.new_order):
            if axis != "x" and axis >= n_axes:
                raise ValueError(f"new_order[{i}] is {axis}, but the input only has {n_axes} axes.")
            if axis != "x" and axis in self.new_order[:i]:
                raise ValueError(f"The same input dimension may not appear twice in the list of output dimensions: {self.new_order}")
        self.drop = [i for i in range(n_axes) if i not in self.new_order]
        self.shuffle = [axis for axis in self.new_order if axis != "x"]
        self.augment = [i for i, axis in enumerate(self.new_order) if axis == "x"]
        if any(axis != "x" and axis < 0 for axis in self.new_order) or not all(self.input_broadcastable[i] for i in self.drop):
            raise ValueError(f"Cannot drop a non-broadcastable dimension: {list(self.input_broadcastable)}, {self.new_order}")
        self.is_transpose = self.shuffle == sorted(self.shuffle, reverse=True) and len(self.shuffle) == len(self.new_order) == n_axes
        self.text = f"InplaceDimShuffle{{{','.join(map(str, self.new_order))}}}"
        self._hash = hash((DimShuffle, self.input_broadcastable, self.new_order))

    def make_node(self, x):
        x = as_tensor_variable(x)
        kind = x.type
        if kind.ndim != len(self.input_broadcastable):
            raise TypeError(
                f"The number of dimensions of the input is incorrect for this op. Expected {len(self.input_broadcastable)}, got {kind.ndim}."
            )
        for i in self.drop:
            if not kind.broadcastable[i]:
                raise TypeError(f"The input of {self.text} must have size 1 in dimension {i}, but its type is {kind}.")
        shape = kind.shape
        out = tensor_type(kind.dtype, tuple([1 if axis == "x" else shape[axis] for axis in self.new_order]))
        return Apply(self, [x], [out()])

    def __eq__(self, other):
        return self is other or (
            type(self) is type(other) and self.new_order == other.new_order and self.input_broadcastable == other.input_broadcastable
        )

    def __hash__(self):
        return self._hash

    def __str__(self):
        return self.text

    def __reduce__(self):
        return type(self), (self.input_broadcastable, self.new_order)


@lru_cache(maxsize=4096)
def dimshuffle_op(input_broadcastable, new_order):
    """The DimShuffle of these properties, from a cache."""
    return DimShuffle(input_broadcastable, new_order)


def dimshuffle(x, new_order):
    """`x` with its axes in `new_order` ("x" for new axes of size 1)."""
    return dimshuffle_op(x.type.broadcastable, tuple(new_order))(x)


@lru_cache(maxsize=1024)
def _padding(n_new, n_old):
    return ("x",) * n_new + tuple(range(n_old))


def pad_left(x, ndim):
    """`x` with leading axes of size 1 up to rank `ndim`."""
    have = x.type.ndim
    return x if have == ndim else dimshuffle_op(x.type.broadcastable, _padding(ndim - have, have))(x)


def broadcast_static(shapes):
    """The static shape of an elementwise result; sizes that can't go together are a ValueError.

    1 gives way to anything; an unknown size gives way to a known one, since at run time it must be that or 1.

    Examples
    --------
    >>> broadcast_static([(None, 1), (1, 3), (2, None)])
    (2, 3)
    """
    result = []
    for lengths in zip(*shapes):
        length = 1
        for other in lengths:
            if other == 1 or other == length:
                continue
            if length == 1 or length is None:
                length = other
            elif other is not None:
                raise ValueError(f"Incompatible Elemwise input shapes {list(shapes)}")
        result.append(length)
    return tuple(result)


class Elemwise(Op):
    """A scalar operation applied to the elements of tensors that are broadcast to one shape.

    Parameters
    ----------
    scalar_op : ScalarOp
    inplace_pattern : dict
        Which output overwrites which input; empty for none.
    name : str
        The text; by default made from the scalar operation's name.
    """

    kind = "elemwise"
    of_complex = None  # the operation that computes it of complex numbers, where only a library does

    def __init__(self, scalar_op, inplace_pattern=None, name=None):
        self.scalar_op = scalar_op
        self.inplace_pattern = dict(inplace_pattern or {})
        if self.inplace_pattern:
            self.destroy_map = {out: [i] for out, i in self.inplace_pattern.items()}
            name = name or f"Elemwise{{{scalar_op.class_name()}}}{list(self.inplace_pattern.items())}"
        self.name = name or f"Elemwise{{{scalar_op.name}}}"
        self.nin = scalar_op.nin
        self.__doc__ = scalar_op.__doc__
        self._types = {}
        self._hash = hash((Elemwise, scalar_op.name, tuple(self.inplace_pattern.items())))

    def make_node(self, *inputs):
        inputs = [as_tensor_variable(x) for x in inputs]
        if self.of_complex is not None and any(x.type.dtype in complex_dtypes for x in inputs):
            return self.of_complex.make_node(*inputs)
        types = tuple([x.type for x in inputs])
        found = self._types.get(types)
        if found is None:
            found = self._types_of(types)
        out, ndim, cast = found
        if ndim is not None:
            inputs = [pad_left(x, ndim) for x in inputs]
        if cast is not None:
            inputs = [_cast_elemwise(cast)(x) for x in inputs]
        return Apply(self, inputs, [out()])

    def _types_of(self, types):
        """For inputs of `types`: the output's type, the rank to which inputs must be padded (or None), the dtype to cast
        them to first (or None). Remembered."""
        dtypes = [t.dtype for t in types]
        scalar_op = self.scalar_op
        scalar_op.check_inputs(dtypes)
        cast = "int8" if scalar_op.cast_bools(dtypes) else None
        dtype = scalar_op.output_dtype(*([cast] * len(dtypes) if cast else dtypes))
        ndim = max([t.ndim for t in types])
        shape = broadcast_static([(1,) * (ndim - t.ndim) + t.shape for t in types])
        found = tensor_type(dtype, shape), ndim if any(t.ndim != ndim for t in types) else None, cast
        if len(self._types) >= 10_000:
            self._types.clear()
        self._types[types] = found
        return found

    def __eq__(self, other):
        return self is other or (
            type(self) is type(other) and self.scalar_op is other.scalar_op and self.inplace_pattern == other.inplace_pattern
        )

    def __hash__(self):
        return self._hash

    def __str__(self):
        return self.name

    def __reduce__(self):
        if elemwise_ops.get(self.scalar_op.name) is self:
            return elemwise_op, (self.scalar_op.name,)
        return type(self), (self.scalar_op, self.inplace_pattern, self.name)


@lru_cache(maxsize=64)
def _cast_elemwise(dtype):
    return Elemwise(cast_op(dtype))


def cast(x, dtype):
    """`x` converted to `dtype`; `x` itself when it has that dtype.

    Raises
    ------
    TypeError
        For a bad name, and from complex to real.
    """
    if not isinstance(dtype, str) or (dtype not in dtype_kinds and dtype != "floatX"):
        try:
            np.dtype(dtype)
        except TypeError:
            raise TypeError(f"data type {dtype!r} not understood") from None
    dtype = dtype_name(dtype)
    x = as_tensor_variable(x)
    if x.type.dtype == dtype:
        return x
    if x.type.dtype in complex_dtypes and dtype not in complex_dtypes:
        raise TypeError("Casting from complex to real is ambiguous: consider real(), imag(), angle() or abs()")
    return _cast_elemwise(dtype)(x)


# Scalar name -> Elemwise, one for each row of the core's table.
elemwise_ops = {
    name: Elemwise(scalar_op, name=f"Elemwise{{{name},no_inplace}}" if name != "identity" else None)
    for name, scalar_op in scalar_ops.items()
}
tensor_copy = elemwise_ops["identity"]


def elemwise_op(name):
    """The Elemwise of the scalar operation called `name`."""
    return elemwise_ops[name]


class PythonScalarOp(ScalarOp):
    """An elementwise function that has no row in the core's table: SciPy computes it.

    `library` is the core's row of SciPy's function and `order` its arguments (places of the inputs; -2: the number 2); its result is
    multiplied by the gamma function of the first input where `times_gamma` says so. `function` is the same on arrays.
    """

    def __init__(self, name, nin, function, doc, library=None, order=None, times_gamma=False, classes="f"):
        super().__init__(name, nin, "FLOAT", classes, doc)
        self.function = function
        self.library = name if library is None else library
        self.order = tuple(range(nin)) if order is None else order
        self.times_gamma = times_gamma

    def __reduce__(self):
        return _python_scalar_op, (self.name,)


class PythonElemwise(Elemwise):
    """An Elemwise that a library computes, by its C loops or, where these can't be used, by a call-back."""

    @property
    def kind(self):
        scalar = self.scalar_op
        return "special" if is_native(scalar.library) and (not scalar.times_gamma or is_native("gamma")) else None

    def perform(self, node, inputs, output_storage):
        dtype = node.outputs[0].type.dtype
        values = self.scalar_op.function(*[np.asarray(x, dtype=dtype) for x in inputs])
        output_storage[0][0] = np.asarray(values, dtype=dtype)


_python_scalar_ops = {}


def _python_scalar_op(name):
    return _python_scalar_ops[name]


def python_elemwise(name, nin, function, doc, **how):
    """The elementwise operation called `name` that evaluates `function` on arrays."""
    scalar_op = _python_scalar_ops[name] = PythonScalarOp(name, nin, function, doc, **how)
    return PythonElemwise(scalar_op, name=f"Elemwise{{{name},no_inplace}}")


def known_axis(axis):
    """An axis as an int; TypeError for what is none, or is known only when the function runs."""
    if isinstance(axis, Variable):
        if getattr(axis, "data", None) is None:
            raise TypeError(f"an axis must be known when the graph is made, and {axis} is symbolic")
        axis = axis.data
    try:
        return index(axis)
    except TypeError:
        raise TypeError(f"an axis must be an integer, not {axis!r}") from None


def known_axes(axis):
    """`axis` (None, one, or several) as a tuple of ints, which may be negative, or None."""
    if axis is None:
        return None
    if isinstance(axis, Variable):
        axis = getattr(axis, "data", None)
        if axis is None:
            raise TypeError("The axes of a reduction must be known when the graph is made.")
    several = hasattr(axis, "__iter__") and not isinstance(axis, str) and getattr(axis, "ndim", 1) > 0
    return tuple([known_axis(a) for a in (axis if several else (axis,))])


def normalize_axes(axis, ndim):
    """`axis` (None, an int, or ints, negative ones too) as a tuple of ints, or None."""
    axes = known_axes(axis)
    if axes is None:
        return None
    if any(a >= ndim or a < -ndim for a in axes):
        raise AxisError(f"axis {axes} is out of bounds for array of dimension {ndim}")
    axes = tuple(a + ndim if a < 0 else a for a in axes)
    if len(set(axes)) < len(axes):
        raise ValueError(f"repeated axis: {axis!r} names an axis twice; name each once")
    return axes


class CAReduce(Op):
    """The reduction of some axes (None: all) by a commutative, associative scalar operation.

    `reduce_name` says which: add, mul, maximum, minimum, and, or. Elements are accumulated in `acc_dtype`; the result has `dtype`.
    """

    kind = "careduce"
    reduce_name: str
    scalar_op: ScalarOp

    def __init__(self, axis=None, dtype=None, acc_dtype=None):
        self.axis = None if axis is None else tuple(axis)
        self.dtype = dtype
        self.acc_dtype = acc_dtype

    def dtypes_for(self, input_dtype):
        """(dtype, acc_dtype) for an input of `input_dtype`."""
        return input_dtype, input_dtype

    def make_node(self, x):
        x = as_tensor_variable(x)
        kind = x.type
        axis = normalize_axes(self.axis, kind.ndim)
        dtype, acc_dtype = self.dtypes_for(kind.dtype)
        shape = () if axis is None else tuple([s for i, s in enumerate(kind.shape) if i not in axis])
        op = self
        if (axis, dtype, acc_dtype) != (self.axis, self.dtype, self.acc_dtype):
            op = reduction(type(self), axis, dtype, acc_dtype)
        return Apply(op, [x], [tensor_type(dtype, shape)()])

    def _key(self):
        return type(self), self.axis, self.dtype, self.acc_dtype

    def __eq__(self, other):
        return self is other or (isinstance(other, CAReduce) and self._key() == other._key())

    def __hash__(self):
        return hash(self._key())

    def __str__(self):
        axes = "" if self.axis is None else f"{{{', '.join(map(str, self.axis))}}}"
        return type(self).__name__ + axes

    def __reduce__(self):
        return type(self), (self.axis, self.dtype, self.acc_dtype)


@lru_cache(maxsize=1024)
def reduction(kind, axis, dtype=None, acc_dtype=None):
    """The reduction of class `kind` with these properties, from a cache."""
    return kind(axis, dtype, acc_dtype)


def as_axes_tuple(axis):
    """The axes given to a reducing function in a form that the cache of reductions takes."""
    return axis if isinstance(axis, tuple) else known_axes(axis)
