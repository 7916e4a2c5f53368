"""Making tensors (alloc, zeros, arange, ...), joining them, and looking for values that are known before run time.

Relies on `variable` and `elemwise`. Relied on by `shape`, `subtensor`, `math` and the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from pyscan import _core
from pyscan._core import Apply, Constant, Op, Variable
from pyscan.errors import NotScalarConstantError
from pyscan.scalar import ScalarType, dtype_kinds, dtype_name, float_x, get_scalar_type, upcast
from pyscan.tensor import subtensor
from pyscan.tensor.elemwise import cast, dimshuffle, elemwise_ops, known_axis, tensor_copy  # noqa: F401  (imported from here)
from pyscan.tensor.type import TensorType, tensor_type
from pyscan.tensor.type_other import NoneConst  # noqa: F401  (imported from here)
from pyscan.tensor.variable import as_tensor, as_tensor_variable, constant  # noqa: F401

switch = elemwise_ops["switch"]
where = switch
second = elemwise_ops["second"]
fill = second


class TensorFromScalar(Op):
    """Scalar -> 0-d tensor."""

    kind = "tensor_from_scalar"
    __props__ = ()

    def make_node(self, s):
        if not isinstance(getattr(s, "type", None), ScalarType):
            raise TypeError("Input must be a `ScalarType` `Type`")
        return Apply(self, [s], [tensor_type(s.type.dtype, ())()])


class ScalarFromTensor(Op):
    """0-d tensor -> scalar."""

    kind = "scalar_from_tensor"
    __props__ = ()

    def make_node(self, t):
        if not isinstance(getattr(t, "type", None), TensorType) or t.type.ndim > 0:
            raise TypeError("Input must be a scalar `TensorType`")
        return Apply(self, [t], [get_scalar_type(t.type.dtype)()])


tensor_from_scalar = TensorFromScalar()
scalar_from_tensor = ScalarFromTensor()


# --- values that are known while the graph is made ---


def get_scalar_constant_value(v, elemwise=True, only_process_constants=False, max_recur=10):
    """The value of `v`, as a 0-d array, when it is the same constant in all elements.

    Looks through casts, fills, allocs, dimshuffles, indexing and static shapes; what remains is computed when it depends on
    constants alone.

    Raises
    ------
    NotScalarConstantError

    Examples
    --------
    >>> import pyscan.tensor as at
    >>> int(get_scalar_constant_value(at.constant(3) + 1))
    4
    """
    if not isinstance(v, Variable):
        data = np.asarray(v)
        if data.dtype.kind not in "biufc":
            raise NotScalarConstantError(v)
        return _single_value(data)
    for left in range(max_recur, 0, -1):
        if isinstance(v, Constant):
            return _single_value(v.data)
        if only_process_constants or v.owner is None:
            break
        v = _look_through(v.owner, v, left - 1)
        if not isinstance(v, Variable):
            return v
    raise NotScalarConstantError()


def _single_value(data):
    if data is None:
        raise NotScalarConstantError()
    array = np.asarray(data)
    if array.ndim == 0:
        return array
    if array.size and np.all(array == array.flat[0]):
        return np.asarray(array.flat[0])
    raise NotScalarConstantError()


def _look_through(node, v, left):
    """A variable with the same elements as `v`, the output of `node`, or the value itself; `left` bounds the depth of the search."""
    op = node.op
    kind = getattr(op, "kind", None)
    if kind in ("tensor_from_scalar", "scalar_from_tensor", "dimshuffle", "unbroadcast", "specify_shape", "reshape", "assert", "alloc"):
        return node.inputs[0]
    if kind == "elemwise":
        if op.scalar_op.name == "second":
            return node.inputs[1]
        if op.scalar_op.name == "identity":
            return node.inputs[0]
        if op.scalar_op.kind == "cast":
            return get_scalar_constant_value(node.inputs[0], max_recur=left).astype(op.scalar_op.o_dtype)
        return _computed_value(v)
    if kind == "subtensor":
        return _indexed_value(node, v, left)
    raise NotScalarConstantError()


def _indexed_value(node, v, left):
    """The element that a Subtensor takes of something whose elements are known one by one."""
    if v.type.ndim > 0:
        raise NotScalarConstantError()
    x = node.inputs[0]
    if isinstance(x, Constant) and all(entry == "i" for entry in node.op.idx_list):
        index = tuple([int(get_scalar_constant_value(i, max_recur=left)) for i in node.inputs[1:]])
        if not all(-length <= i < length for i, length in zip(index, x.data.shape)):
            raise NotScalarConstantError()
        return np.asarray(x.data[index])
    if len(node.inputs) == 2 and x.owner is not None:
        index = int(get_scalar_constant_value(node.inputs[1], max_recur=left))
        kind = getattr(x.owner.op, "kind", None)
        if kind == "shape":
            shape = x.owner.inputs[0].type.shape
            if -len(shape) <= index < len(shape) and shape[index] is not None:
                return np.asarray(shape[index])
            raise NotScalarConstantError()
        if kind == "make_vector" and -len(x.owner.inputs) <= index < len(x.owner.inputs):
            return x.owner.inputs[index]
    return _computed_value(v)


def _computed_value(v):
    """The value of a small graph over constants."""
    seen, queue = set(), [v]
    while queue:
        node = queue.pop().owner
        if node in seen:
            continue
        seen.add(node)
        if len(seen) > 20:
            raise NotScalarConstantError()
        for i in node.inputs:
            if isinstance(i, Constant):
                if i.data is not None and getattr(i.data, "size", 1) > 64:
                    raise NotScalarConstantError()
            elif i.owner is None or getattr(i.owner.op, "kind", None) in (None, "random", "scan"):
                raise NotScalarConstantError()
            else:
                queue.append(i)
    try:
        return _single_value(_core.evaluate([v])[0])
    except NotScalarConstantError:
        raise
    except Exception as error:  # the error belongs to the run: the graph may never be evaluated
        raise NotScalarConstantError() from error


def extract_constant(x, elemwise=True, only_process_constants=False):
    """`get_scalar_constant_value(x)`, or `x` itself where it has none."""
    try:
        return get_scalar_constant_value(x, elemwise, only_process_constants)
    except NotScalarConstantError:
        return x


def constant_length(v):
    """The value of an integer scalar variable as an int, or None when it is not known yet."""
    if isinstance(v, Constant):
        return int(v.data)
    if v.owner is None:
        return None
    try:
        return int(get_scalar_constant_value(v))
    except NotScalarConstantError:
        return None


def get_vector_length(v):
    """The length of a vector (or of a Python sequence), when it is known from the graph.

    Raises
    ------
    ValueError
        `Length of v cannot be determined`.
    """
    if not isinstance(v, Variable) and isinstance(v, (Sequence, np.ndarray)):
        return len(v)
    v = as_tensor_variable(v)
    if v.type.ndim != 1:
        raise TypeError(f"Argument must be a vector; got {v.type}")
    length = _vector_length(v)
    if length is None:
        raise ValueError(f"Length of {v} cannot be determined")
    return length


def _vector_length(v, left=50, memo=None):
    """The length or None; `left` bounds the depth of the search, `memo` has what was found on the way."""
    if v.type.shape[0] is not None:
        return v.type.shape[0]
    memo = {} if memo is None else memo
    if v not in memo:
        memo[v] = _computed_length(v.owner, left, memo) if v.owner is not None and left > 0 else None
    return memo[v]


def _computed_length(node, left, memo):
    kind = getattr(node.op, "kind", None)
    if kind == "join":
        lengths = [_vector_length(part, left - 1, memo) for part in node.inputs[1:]]
        return None if None in lengths else sum(lengths)
    if kind == "subtensor":
        return _slice_length(node, left - 1, memo)
    if kind == "unbroadcast":
        return _vector_length(node.inputs[0], left - 1, memo)
    return None


def _slice_length(node, left, memo):
    x = node.inputs[0]
    length = _vector_length(x, left, memo) if x.type.ndim == 1 else x.type.shape[0]
    try:
        index = subtensor.constant_indices(node)[0]
    except (NotScalarConstantError, IndexError):
        return None
    return None if length is None or not isinstance(index, slice) else len(range(length)[index])


# --- allocation ---


def infer_static_shape(shape):
    """(lengths, static shape) for the entries of a shape, ints or symbolic integers: as variables, and as far as they are known.

    Raises
    ------
    TypeError
        `Shapes must be scalar integers; got ...`.
    """
    lengths, static = [], []
    for s in shape:
        length = as_tensor_variable(s)
        if length.type.ndim != 0 or length.type.numpy_dtype.kind not in "iu":
            raise TypeError(f"Shapes must be scalar integers; got {length}")
        known = constant_length(length)
        lengths.append(length)
        static.append(known if known is None or known >= 0 else None)
    return lengths, tuple(static)


def _shape_entries(shape):
    """The entries of `shape`, which may be one length, a sequence of them, or a symbolic vector."""
    if isinstance(shape, (list, tuple)):
        return shape
    if isinstance(shape, np.ndarray):
        return list(np.atleast_1d(shape))
    if isinstance(shape, Variable) and isinstance(shape.type, TensorType) and shape.type.ndim == 1:
        return list(shape)
    return [shape]


class Alloc(Op):
    """(value, *lengths) -> a tensor of these lengths that holds the value, broadcast."""

    kind = "alloc"
    __props__ = ()

    def make_node(self, value, *shape):
        value = as_tensor_variable(value)
        lengths, static = infer_static_shape(shape)
        if value.type.ndim > len(lengths):
            raise TypeError("The Alloc value to use has more dimensions than the specified dimensions", value.type.ndim, len(lengths))
        return Apply(self, [value, *lengths], [tensor_type(value.type.dtype, static)()])


_alloc = Alloc()


def alloc(value, *shape):
    """A tensor of the given lengths that holds `value`, broadcast.

    Examples
    --------
    >>> alloc(0.5, 2, 3).type
    TensorType(float32, (2, 3))
    """
    if len(shape) == 1 and isinstance(shape[0], (list, tuple)):
        shape = shape[0]
    return _alloc(value, *shape)


class AllocEmpty(Op):
    """Lengths -> a tensor whose elements have any values."""

    kind = "alloc_empty"
    __props__ = ("dtype",)

    def __init__(self, dtype):
        self.dtype = dtype_name(dtype)

    def make_node(self, *shape):
        lengths, static = infer_static_shape(shape)
        return Apply(self, lengths, [tensor_type(self.dtype, static)()])

    def __str__(self):
        return f"AllocEmpty{{dtype={self.dtype!r}}}"


@lru_cache(maxsize=64)
def alloc_empty_op(dtype):
    return AllocEmpty(dtype)


def empty(shape, dtype=None):
    """A tensor of `shape` whose elements are not set: for those that are written before they are read."""
    return alloc_empty_op(float_x() if dtype is None else dtype_name(dtype))(*_shape_entries(shape))


def zeros(shape, dtype=None):
    """Zeros in `shape` (an int, a sequence, or a symbolic vector of known length); `dtype` defaults to floatX."""
    return _alloc(constant(0, dtype=float_x() if dtype is None else dtype), *_shape_entries(shape))


def ones(shape, dtype=None):
    """Ones in `shape`; as `zeros`."""
    return _alloc(constant(1, dtype=float_x() if dtype is None else dtype), *_shape_entries(shape))


def full(shape, fill_value, dtype=None):
    """`fill_value` in `shape`, with its dtype unless one is given."""
    fill_value = as_tensor_variable(fill_value)
    return _alloc(fill_value if dtype is None else cast(fill_value, dtype), *_shape_entries(shape))


def full_like(a, fill_value, dtype=None):
    """`fill_value` in the shape of `a`, with the value's own dtype unless one is given."""
    fill_value = as_tensor_variable(fill_value)
    return second(a, fill_value if dtype is None else cast(fill_value, dtype))


def zeros_like(model, dtype=None, opt=False):
    """Zeros in the shape of `model` and, unless `dtype` is given, with its dtype."""
    model = as_tensor_variable(model)
    return second(model, constant(0, dtype=model.type.dtype if dtype is None else dtype))


def ones_like(model, dtype=None, opt=False):
    """Ones in the shape of `model` and, unless `dtype` is given, with its dtype."""
    model = as_tensor_variable(model)
    return second(model, constant(1, dtype=model.type.dtype if dtype is None else dtype))


def empty_like(prototype, dtype=None):
    """An unset tensor in the shape of `prototype` and, unless `dtype` is given, with its dtype."""
    prototype = as_tensor_variable(prototype)
    return empty([prototype.shape[i] for i in range(prototype.type.ndim)], prototype.type.dtype if dtype is None else dtype)


# --- joining ---


class MakeVector(Op):
    """Scalars -> the vector of them."""

    kind = "make_vector"
    __props__ = ("dtype",)

    def __init__(self, dtype="int64"):
        self.dtype = dtype_name(dtype)

    def make_node(self, *inputs):
        inputs = [as_tensor_variable(x) for x in inputs]
        for x in inputs:
            if x.type.ndim != 0:
                raise ValueError(f"All inputs to MakeVector must have 0 dimensions; got {x.type}")
            if upcast(x.type.dtype, self.dtype) != self.dtype:
                raise TypeError(f"The upcast of the inputs should match the input dtype {self.dtype}; got {x.type.dtype}")
        return Apply(self, [cast(x, self.dtype) for x in inputs], [tensor_type(self.dtype, (len(inputs),))()])

    def __str__(self):
        return f"MakeVector{{dtype={self.dtype!r}}}"


@lru_cache(maxsize=64)
def make_vector_op(dtype):
    return MakeVector(dtype)


class Join(Op):
    """(axis, *tensors) -> the tensors one after the other along that axis."""

    kind = "join"
    __props__ = ()

    def make_node(self, axis, *tensors):
        if not tensors:
            raise ValueError("Cannot join an empty list of tensors")
        tensors = [as_tensor_variable(x) for x in tensors]
        axis = as_tensor_variable(axis)
        if axis.type.numpy_dtype.kind not in "iu" or axis.type.ndim:
            raise TypeError(f"Axis {axis} must be an integer type.")
        ndim = tensors[0].type.ndim
        if any(x.type.ndim != ndim for x in tensors):
            raise TypeError("Only tensors with the same number of dimensions can be joined")
        if ndim == 0:
            raise TypeError("Join cannot handle arguments of dimension 0. Use `stack` to join scalar values.")
        shape = [None] * ndim
        if isinstance(axis, Constant):
            i = int(axis.data)
            if not -ndim <= i < ndim:
                raise ValueError(f"Axis value {i} is out of range for the given input dimensions")
            if i < 0:
                axis = constant(i + ndim, dtype="int8")
            for x in tensors:
                shape = [1 if b and k != i % ndim else s for k, (b, s) in enumerate(zip(x.type.broadcastable, shape))]
        out = tensor_type(upcast(*[x.type.dtype for x in tensors]), tuple(shape))
        return Apply(self, [axis, *tensors], [out()])

    def __str__(self):
        return "Join"


_join = Join()


def join(axis, *tensors_list):
    """The tensors one after the other along `axis`; they have one rank. A single tensor is returned as it is."""
    if len(tensors_list) == 1 and isinstance(tensors_list[0], (list, tuple)):
        tensors_list = tensors_list[0]
    if len(tensors_list) == 1:
        return as_tensor_variable(tensors_list[0])
    return _join(axis, *tensors_list)


def concatenate(tensor_list, axis=0):
    """The tensors of a sequence one after the other along `axis`.

    Examples
    --------
    >>> concatenate([zeros(2), ones(3)]).type
    TensorType(float64, (?,))
    """
    if not isinstance(tensor_list, (tuple, list)):
        raise TypeError("The 'tensors' argument must be either a tuple or a list, make sure you did not forget () or [] around arguments of concatenate.", tensor_list)
    return join(axis, *tensor_list)


def stack(*tensors, axis=0):
    """Tensors of one shape side by side along a new axis: `stack([a, b], axis=0)`.

    Raises
    ------
    IndexError
        `axis` is not one of the result's.
    """
    if not tensors:
        raise ValueError("No tensor arguments provided")
    if isinstance(tensors[0], (list, tuple)):
        if len(tensors) > 1:
            axis = tensors[1]
        tensors = tensors[0]
        if not tensors:
            raise ValueError("Cannot join an empty list of tensors")
    elif isinstance(tensors[0], Variable) and len(tensors) == 1 and tensors[0].type.ndim > 0:
        tensors = list(tensors[0])
    parts = [as_tensor_variable(x) for x in tensors]
    ndim, axis = parts[0].type.ndim, known_axis(axis)
    if not -(ndim + 1) <= axis < ndim + 1:
        raise IndexError(f"axis {axis} is out of bounds [{-(ndim + 1)}, {ndim + 1})")
    if all(x.type.ndim == 0 for x in parts):
        return make_vector_op(upcast(*[x.type.dtype for x in parts]))(*parts)
    axis = axis + ndim + 1 if axis < 0 else axis
    if any(x.type.ndim != ndim for x in parts):
        raise TypeError("Only tensors with the same number of dimensions can be joined")
    order = (*range(axis), "x", *range(axis, ndim))
    return join(axis, *[dimshuffle(x, order) for x in parts])


def stacklists(arg):
    """Nested lists of tensors of one shape as one tensor with the lists' axes in front."""
    if isinstance(arg, (list, tuple)):
        return stack([stacklists(part) for part in arg])
    return as_tensor_variable(arg)


def horizontal_stack(*args):
    """Matrices side by side."""
    if len(args) < 2:
        raise ValueError("Too few arguments")
    return concatenate([as_tensor_variable(a) for a in args], axis=1)


def vertical_stack(*args):
    """Matrices one below the other."""
    if len(args) < 2:
        raise ValueError("Too few arguments")
    return concatenate([as_tensor_variable(a) for a in args], axis=0)


# --- ranges ---


class ARange(Op):
    """(start, stop, step) -> start, start + step, ... below stop."""

    kind = "arange"
    __props__ = ("dtype",)

    def __init__(self, dtype):
        self.dtype = dtype_name(dtype)

    def make_node(self, start, stop, step):
        parts = [as_tensor_variable(part) for part in (start, stop, step)]
        for part in parts:
            if part.type.ndim != 0:
                raise TypeError(f"arange takes scalars; got {part} of type {part.type}")
        return Apply(self, parts, [tensor_type(self.dtype, (None,))()])

    def __str__(self):
        return f"ARange{{dtype={self.dtype!r}}}"


@lru_cache(maxsize=64)
def arange_op(dtype):
    return ARange(dtype)


def arange(start, stop=None, step=1, dtype=None):
    """start, start + step, ... below stop, as a vector; one argument counts from 0.

    Integers give int64, floats their joint dtype. The length is not known statically.
    """
    if stop is None:
        start, stop = 0, start
    start, stop, step = as_tensor_variable(start), as_tensor_variable(stop), as_tensor_variable(step)
    if dtype is None:
        dtype = upcast(start.type.dtype, stop.type.dtype, step.type.dtype)
        if dtype_kinds[dtype] in "biu":
            dtype = "int64"
    return arange_op(dtype_name(dtype))(start, stop, step)



# --- copies ---


class DeepCopyOp(Op):
    """Anything -> a copy of it. `function` puts it between an output and what the output would share memory with."""

    kind = "deep_copy"
    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])


class ViewOp(Op):
    """Anything -> the same object under another variable."""

    kind = "view"
    view_map = {0: [0]}
    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])


deep_copy_op = DeepCopyOp()
view_op = ViewOp()


# --- splitting ---


class Split(Op):
    """(tensor, axis, lengths) -> `len_splits` pieces along that axis."""

    kind = "split"
    __props__ = ("len_splits",)

    def __init__(self, len_splits):
        self.len_splits = int(len_splits)

    def make_node(self, x, axis, splits):
        x, axis, splits = as_tensor_variable(x), as_tensor_variable(axis), as_tensor_variable(splits)
        if splits.type.numpy_dtype.kind not in "iu" or splits.type.ndim != 1:
            raise TypeError("`splits` parameter must be an integer vector")
        if axis.type.numpy_dtype.kind not in "iu" or axis.type.ndim != 0:
            raise TypeError("`axis` parameter must be an integer scalar")
        known = constant_length(axis)
        if known is None:
            static = (None,) * x.type.ndim
        else:
            known = known + x.type.ndim if known < 0 else known
            static = tuple([1 if s == 1 and i != known else None for i, s in enumerate(x.type.shape)])
        return Apply(self, [x, axis, splits], [tensor_type(x.type.dtype, static)() for _ in range(self.len_splits)])

    def perform(self, node, inputs, output_storage):
        x, axis, splits = inputs
        axis = int(axis)
        if len(splits) != self.len_splits:
            raise ValueError(f"Length of splits is not equal to n_splits: {len(splits)} != {self.len_splits}")
        if np.sum(splits) != x.shape[axis]:
            raise ValueError(f"Split sizes sum to {np.sum(splits)}; expected {x.shape[axis]}")
        if np.any(np.asarray(splits) < 0):
            raise ValueError("Split sizes cannot be negative")
        pieces = np.split(x, np.cumsum(splits[:-1]), axis=axis)
        for cell, piece in zip(output_storage, pieces):
            cell[0] = piece.copy()

    def __str__(self):
        return f"Split{{{self.len_splits}}}"


def split(x, splits_size, n_splits, axis=0):
    """`n_splits` pieces of `x` along `axis`, of the lengths `splits_size`; a list, or the one piece."""
    return Split(n_splits)(x, axis, splits_size)
