"""Further functions on tensors: running sums, diagonals, triangles, repetition, searching, counting.

A `perform` here is what the native instructions are compared with; `unique` and `choose` call back to NumPy.
Relies on `math`, `shape`, `basic`, `subtensor`.
"""

from __future__ import annotations

import numpy as np

from pyscan._core import Apply, Op, Variable
from pyscan.errors import tell_arguments
from pyscan.scalar import dtype_kinds, dtype_name, float_x
from pyscan.tensor.basic import (
    alloc,
    arange,
    as_tensor_variable,
    cast,
    constant,
    get_vector_length,
    infer_static_shape,
    join,
    stack,
    switch,
    zeros,
)
from pyscan.tensor.elemwise import dimshuffle, known_axis, normalize_axes
from pyscan.raise_op import CheckAndRaise
from pyscan.tensor.math import add, and_, divmod, eq, ge, lt, maximum, minimum, mod, mul, neq, sub, true_divide
from pyscan.tensor.math import all as all_true
from pyscan.tensor.math import max as largest_of
from pyscan.tensor.shape import flatten, reshape
from pyscan.tensor.subtensor import advanced_subtensor1, inc_subtensor, set_subtensor
from pyscan.tensor.type import tensor_type


class CumOp(Op):
    """Running sums (mode "add") or products ("mul") along `axis`; None: of the flattened tensor."""

    kind = "cumop"
    __props__ = ("axis", "mode")

    def __init__(self, axis=None, mode="add"):
        if mode not in ("add", "mul"):
            raise ValueError(f'CumOp: Unknown mode "{mode}"')
        self.axis = None if axis is None else known_axis(axis)
        self.mode = mode

    def make_node(self, x):
        x = as_tensor_variable(x)
        if x.type.dtype == "bool":
            x = cast(x, "int64")
        ndim = x.type.ndim
        if self.axis is None:
            out = tensor_type(x.type.dtype, (x.type.shape[0] if ndim == 1 else None,))
        elif not -ndim <= self.axis < ndim:
            raise ValueError(f"axis(={self.axis}) out of bounds")
        else:
            out = x.type
        return Apply(self, [x], [out()])

    def __str__(self):
        return f"CumOp{{{self.axis}, {self.mode}}}"


def cumsum(x, axis=None):
    """The running sums along `axis` (None: of the flattened tensor), in the dtype of `x`; of bools they are counts, int64."""
    return CumOp(axis, "add")(x)


def cumprod(x, axis=None):
    """The running products along `axis` (None: of the flattened tensor), in the dtype of `x`; int64 for bools."""
    return CumOp(axis, "mul")(x)


def diff(x, n=1, axis=-1):
    """The differences of neighbours along `axis`, taken `n` times."""
    x = as_tensor_variable(x)
    (axis,) = normalize_axes(axis, x.type.ndim)
    before = (slice(None),) * axis
    for _ in range(n):
        later, earlier = x[(*before, slice(1, None))], x[(*before, slice(None, -1))]
        x = neq(later, earlier) if x.type.dtype == "bool" else sub(later, earlier)
    return x


def compress(condition, x, axis=None):
    """The slices of `x` along `axis` (None: of the flattened tensor) where the vector `condition` is true."""
    x = as_tensor_variable(x)
    rows = flatnonzero(condition)
    if axis is None:
        return advanced_subtensor1(flatten(x), rows)
    return x[(slice(None),) * normalize_axes(axis, x.type.ndim)[0] + (rows,)]


# --- repetition ---


class Repeat(Op):
    """(tensor, counts) -> each element (or slice along `axis`) as often as its count says."""

    kind = "repeat"
    __props__ = ("axis",)

    def __init__(self, axis=None):
        self.axis = axis

    def make_node(self, x, repeats):
        x, repeats = as_tensor_variable(x), as_tensor_variable(repeats)
        if repeats.type.numpy_dtype.kind not in "iu":
            raise TypeError("Only integers are supported as the number of repeats.")
        static = (None,) if self.axis is None else tuple([None if i == self.axis else s for i, s in enumerate(x.type.shape)])
        return Apply(self, [x, repeats], [tensor_type(x.type.dtype, static)()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.repeat(inputs[0], np.asarray(inputs[1], dtype="int64"), axis=self.axis)

    def __str__(self):
        return f"Repeat{{axis={self.axis}}}"


def repeat(x, repeats, axis=None):
    """Each element of `x` (along `axis`; None: of the flattened tensor) `repeats` times; a vector gives each its own number."""
    x, repeats = as_tensor_variable(x), as_tensor_variable(repeats, dtype=None if isinstance(repeats, Variable) else "int64")
    if repeats.type.ndim > 1:
        raise ValueError("The dimension of repeats should not exceed 1.")
    if repeats.type.ndim == 1 and not repeats.type.broadcastable[0]:
        return Repeat(axis=None if axis is None else normalize_axes(axis, x.type.ndim)[0])(x, repeats)
    if repeats.type.ndim == 1:
        repeats = repeats[0]
    if axis is None:
        x, axis = flatten(x), 0
    (axis,) = normalize_axes(axis, x.type.ndim)
    lengths = [x.shape[i] for i in range(x.type.ndim)]
    wide = alloc(dimshuffle(x, (*range(axis + 1), "x", *range(axis + 1, x.type.ndim))), *lengths[: axis + 1], repeats, *lengths[axis + 1 :])
    return reshape(wide, [*lengths[:axis], mul(lengths[axis], repeats), *lengths[axis + 1 :]])


def tile(x, reps, ndim=None):
    """`x` repeated `reps` times (an int, or a sequence with a number for each axis) side by side."""
    x = as_tensor_variable(x)
    if isinstance(reps, Variable) and reps.type.ndim == 1:
        reps = [reps[i] for i in range(get_vector_length(reps) if ndim is None else ndim)]
    reps = list(reps) if isinstance(reps, (list, tuple, np.ndarray)) else [reps]
    rank = max(len(reps), x.type.ndim, ndim or 0)
    reps = [1] * (rank - len(reps)) + reps
    lengths = [1] * (rank - x.type.ndim) + [x.shape[i] for i in range(x.type.ndim)]
    wide = alloc(x, *reps, *lengths)
    order = [axis for i in range(rank) for axis in (i, rank + i)]
    return reshape(dimshuffle(wide, order), [mul(length, rep) for length, rep in zip(lengths, reps)])


def roll(x, shift, axis=None):
    """`x` with its elements moved by `shift` along `axis` (None: of the flattened tensor); what falls out comes in again."""
    x = as_tensor_variable(x)
    if axis is None:
        if x.type.ndim <= 1:
            return roll(x, shift, axis=0)
        return reshape(roll(flatten(x), shift, axis=0), x.shape)
    (axis,) = normalize_axes(axis, x.type.ndim)
    # A vector of no elements has no place to move to; the divisor 1 leaves it as it is.
    place = -mod(shift, maximum(x.shape[axis], constant(1, dtype="int64")))
    before = (slice(None),) * axis
    return join(axis, x[(*before, slice(place, None))], x[(*before, slice(0, place))])


class BroadcastTo(Op):
    """(tensor, *lengths) -> the tensor broadcast to these lengths."""

    kind = "broadcast_to"
    __props__ = ()

    def make_node(self, a, *shape):
        a = as_tensor_variable(a)
        lengths, static = infer_static_shape(shape)
        if a.type.ndim > len(lengths):
            raise ValueError("input operand has more dimensions than allowed by the axis remapping")
        return Apply(self, [a, *lengths], [tensor_type(a.type.dtype, static)()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.array(np.broadcast_to(inputs[0], [int(s) for s in inputs[1:]]))


def broadcast_to(x, shape):
    """`x` broadcast to `shape`."""
    entries = list(shape) if isinstance(shape, (list, tuple, np.ndarray, Variable)) else [shape]
    return BroadcastTo()(x, *entries)


def broadcast_shape_iter(arrays, arrays_are_shapes=False):
    """The lengths of the shape that `arrays` (or shapes) broadcast to: one symbolic or constant length for each axis."""
    shapes = [[as_tensor_variable(n) for n in a] if arrays_are_shapes else [as_tensor_variable(a).shape[i] for i in range(as_tensor_variable(a).type.ndim)] for a in arrays]
    rank = max(len(s) for s in shapes)
    result = []
    for i in range(rank):
        lengths = [s[i - rank + len(s)] for s in shapes if i - rank + len(s) >= 0]
        joint = lengths[0]
        for length in lengths[1:]:
            joint = length if joint is length else _joint_length(joint, length)
        result.append(joint)
    return tuple(result)


def _joint_length(a, b):
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    return switch(eq(a, 1), b, a)


def broadcast_shape(*arrays, **kwargs):
    """The shape that `arrays` broadcast to, as a tuple."""
    return broadcast_shape_iter(arrays, **kwargs)


def broadcast_arrays(*args):
    """The tensors broadcast against each other."""
    lengths = broadcast_shape(*args)
    return tuple(broadcast_to(a, lengths) for a in args)


# --- ranges ---


def linspace(start, end, steps):
    """`steps` numbers from `start` to `end`, equally spaced."""
    start, end, steps = as_tensor_variable(start), as_tensor_variable(end), as_tensor_variable(steps)
    return start + arange(0, steps) * true_divide(sub(end, start), sub(steps, 1))


def logspace(start, end, steps, base=10.0):
    """Powers of `base` with exponents from `start` to `end`."""
    return as_tensor_variable(base) ** linspace(start, end, steps)


def geomspace(start, end, steps, base=10.0):
    """`steps` numbers from `start` to `end` with a constant ratio."""
    from pyscan.tensor.math import log

    start, end = as_tensor_variable(start), as_tensor_variable(end)
    scale = log(as_tensor_variable(base))
    return base ** linspace(log(start) / scale, log(end) / scale, steps)


class _Grid:
    """What `mgrid` and `ogrid` are: indexing with slices gives the ranges as tensors, of full shape or open."""

    def __init__(self, open_grid):
        self.open_grid = open_grid

    def __getitem__(self, index):
        slices = index if isinstance(index, tuple) else (index,)
        ranges = [arange(0 if s.start is None else s.start, s.stop, 1 if s.step is None else s.step) for s in slices]
        if not isinstance(index, tuple):
            return ranges[0]
        rank = len(ranges)
        spread = [dimshuffle(r, ["x"] * i + [0] + ["x"] * (rank - i - 1)) for i, r in enumerate(ranges)]
        if self.open_grid:
            return spread
        return [alloc(part, *[r.shape[0] for r in ranges]) for part in spread]


mgrid = _Grid(open_grid=False)
ogrid = _Grid(open_grid=True)


# --- diagonals and triangles ---


class _Filled(Op):
    """(n, m, k) -> a matrix of zeros and ones; `function` is the same by NumPy."""

    kind = "band"
    __props__ = ("dtype",)

    def __init__(self, dtype=None):
        self.dtype = float_x() if dtype is None else dtype_name(dtype)

    def make_node(self, n, m, k):
        parts = [as_tensor_variable(part) for part in (n, m, k)]
        for part in parts:
            if part.type.ndim != 0 or part.type.numpy_dtype.kind not in "iu":
                raise TypeError(f"{type(self).__name__} takes integer scalars; got {part}")
        return Apply(self, parts, [tensor_type(self.dtype, (None, None))()])

    def perform(self, node, inputs, output_storage):
        n, m, k = (int(i) for i in inputs)
        output_storage[0][0] = self.function(n, m, k, dtype=self.dtype)

    def __str__(self):
        return f"{type(self).__name__}{{dtype={self.dtype!r}}}"


class Eye(_Filled):
    """(n, m, k) -> ones on the k-th diagonal."""

    function = staticmethod(np.eye)
    is_triangle = False


class Tri(_Filled):
    """(n, m, k) -> ones on and below the k-th diagonal."""

    function = staticmethod(np.tri)
    is_triangle = True


def eye(n, m=None, k=0, dtype=None):
    """A matrix of n rows and m columns (by default n) with ones on the k-th diagonal."""
    return Eye(dtype)(n, n if m is None else m, k)


def identity_like(x, dtype=None):
    """Ones on the diagonal, in the shape of the matrix `x` and, unless `dtype` is given, with its dtype."""
    x = as_tensor_variable(x)
    return eye(x.shape[0], x.shape[1], k=0, dtype=x.type.dtype if dtype is None else dtype)


def tri(N, M=None, k=0, dtype=None):
    """A matrix of N rows and M columns (by default N) with ones on and below the k-th diagonal."""
    return Tri(dtype)(N, N if M is None else M, k)


def _triangle(m, k):
    lengths = m.shape[-2:]
    return tri(lengths[0], lengths[1], k=k, dtype=m.type.dtype)


def tril(m, k=0):
    """The elements of `m` on and below the k-th diagonal; zeros above."""
    m = as_tensor_variable(m)
    return m * _triangle(m, k)


def triu(m, k=0):
    """The elements of `m` on and above the k-th diagonal; zeros below."""
    m = as_tensor_variable(m)
    return m * (constant(1, dtype=m.type.dtype) - _triangle(m, k - 1))


class ExtractDiag(Op):
    """Tensor -> the diagonals of the parts along two of its axes."""

    kind = "extract_diag"
    __props__ = ("offset", "axis1", "axis2", "view")

    def __init__(self, offset=0, axis1=0, axis2=1, view=False):
        self.offset, self.axis1, self.axis2, self.view = offset, axis1, axis2, view

    def make_node(self, x):
        x = as_tensor_variable(x)
        if x.type.ndim < 2:
            raise ValueError("ExtractDiag needs an input with 2 or more dimensions", x)
        axes = normalize_axes((self.axis1, self.axis2), x.type.ndim)
        static = (*[1 if s == 1 else None for i, s in enumerate(x.type.shape) if i not in axes], None)
        return Apply(self, [x], [tensor_type(x.type.dtype, static)()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0].diagonal(self.offset, self.axis1, self.axis2).copy()


class AllocDiag(Op):
    """Tensor -> one with a further axis, whose diagonals it fills; zeros elsewhere."""

    kind = "alloc_diag"
    __props__ = ("offset", "axis1", "axis2")

    def __init__(self, offset=0, axis1=0, axis2=1):
        self.offset, self.axis1, self.axis2 = offset, axis1, axis2

    def make_node(self, diag):
        diag = as_tensor_variable(diag)
        if diag.type.ndim < 1:
            raise ValueError("AllocDiag needs an input with 1 or more dimensions", diag)
        static = tuple([1 if s == 1 else None for s in diag.type.shape[:-1]]) + (None, None)
        return Apply(self, [diag], [tensor_type(diag.type.dtype, static)()])

    def perform(self, node, inputs, output_storage):
        (diag,) = inputs
        n = diag.shape[-1] + abs(self.offset)
        result = np.zeros((*diag.shape[:-1], n, n), dtype=diag.dtype)
        places = np.arange(diag.shape[-1])
        result[..., places + max(0, -self.offset), places + max(0, self.offset)] = diag
        output_storage[0][0] = np.ascontiguousarray(np.moveaxis(result, (-2, -1), (self.axis1, self.axis2)))


def diagonal(a, offset=0, axis1=0, axis2=1):
    """The diagonals of the parts of `a` along two axes."""
    return ExtractDiag(offset, axis1, axis2)(a)


def diag(v, k=0):
    """The matrix with the vector `v` on its k-th diagonal; of a matrix, that diagonal."""
    v = as_tensor_variable(v)
    if v.type.ndim == 1:
        return AllocDiag(k)(v)
    if v.type.ndim == 2:
        return diagonal(v, offset=k)
    raise ValueError("Input must be 1- or 2-d.")


def fill_diagonal(a, val):
    """A copy of the matrix `a` with `val` on its diagonal."""
    a = as_tensor_variable(a)
    places = arange(minimum(a.shape[0], a.shape[1]))
    return set_subtensor(a[places, places], val)


def tril_indices(n, k=0, m=None):
    """The indices of the elements on and below the k-th diagonal of a matrix with n rows and m columns."""
    return nonzero(tri(n, m, k, dtype="bool"))


def triu_indices(n, k=0, m=None):
    """The indices of the elements on and above the k-th diagonal of a matrix with n rows and m columns."""
    return nonzero(eq(tri(n, m, k - 1, dtype="int8"), 0))


def tril_indices_from(a, k=0):
    """The indices of the elements of the matrix `a` on and below its k-th diagonal."""
    a = as_tensor_variable(a)
    return tril_indices(a.shape[0], k, a.shape[1])


def triu_indices_from(a, k=0):
    """The indices of the elements of the matrix `a` on and above its k-th diagonal."""
    a = as_tensor_variable(a)
    return triu_indices(a.shape[0], k, a.shape[1])


# --- searching and counting ---


class Nonzero(Op):
    """Tensor -> for each axis, the indices of the elements that are not zero."""

    kind = "nonzero"
    __props__ = ()

    def make_node(self, a):
        a = as_tensor_variable(a)
        if a.type.ndim == 0:
            raise ValueError("Nonzero only supports non-scalar arrays.")
        return Apply(self, [a], [tensor_type("int64", (None,))() for _ in range(a.type.ndim)])

    def perform(self, node, inputs, output_storage):
        for cell, places in zip(output_storage, np.nonzero(inputs[0])):
            cell[0] = places.astype("int64", copy=False)


_nonzero = Nonzero()


def nonzero(a, return_matrix=False):
    """The indices of the elements that are not zero: a tuple of vectors, one for each axis, or the rows of a matrix."""
    result = _nonzero(a, return_list=True)
    return stack(result, axis=0) if return_matrix else tuple(result)


def flatnonzero(a):
    """The indices of the elements of the flattened tensor that are not zero."""
    a = as_tensor_variable(a)
    if a.type.ndim == 0:
        raise ValueError("Nonzero only supports non-scalar arrays.")
    return nonzero(flatten(a))[0]


def nonzero_values(a):
    """The elements that are not zero, as a vector."""
    return flatten(as_tensor_variable(a))[flatnonzero(a)]


class SearchsortedOp(Op):
    """(sorted vector, values[, order]) -> where the values belong."""

    kind = "searchsorted"
    __props__ = ("side",)

    def __init__(self, side="left"):
        if side not in ("left", "right"):
            raise ValueError(f"'{side}' is an invalid value for keyword 'side'")
        self.side = side
        self.is_right = side == "right"

    def make_node(self, x, v, sorter=None):
        x, v = as_tensor_variable(x, ndim=1), as_tensor_variable(v)
        inputs = [x, v] if sorter is None else [x, v, as_tensor_variable(sorter, ndim=1)]
        if len(inputs) == 3 and inputs[2].type.numpy_dtype.kind not in "iu":
            raise TypeError("sorter must be an integer vector", inputs[2].type)
        return Apply(self, inputs, [tensor_type("int64", v.type.shape)()])

    def perform(self, node, inputs, output_storage):
        places = np.searchsorted(inputs[0], inputs[1], side=self.side, sorter=inputs[2] if len(inputs) == 3 else None)
        output_storage[0][0] = np.asarray(places, dtype="int64")


def searchsorted(x, v, side="left", sorter=None):
    """Where the values `v` belong in the sorted vector `x`: before ("left") or after ("right") equal elements."""
    return SearchsortedOp(side=side)(x, v, sorter)


def take_along_axis(arr, indices, axis=0):
    """For each position of `indices`, the element of `arr` with that index along `axis` (None: of the flattened tensor)."""
    arr, indices = as_tensor_variable(arr), as_tensor_variable(indices)
    if axis is None:
        return flatten(arr)[indices]
    (axis,) = normalize_axes(axis, arr.type.ndim)
    if arr.type.ndim != indices.type.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    rank = arr.type.ndim
    places = [dimshuffle(arange(arr.shape[i]), ["x"] * i + [0] + ["x"] * (rank - i - 1)) for i in range(rank)]
    places[axis] = indices
    return arr[tuple(places)]


class Unique(Op):
    """Tensor -> its different elements in order, and what else is asked for."""

    kind = "unique"
    __props__ = ("return_index", "return_inverse", "return_counts", "axis")

    def __init__(self, return_index=False, return_inverse=False, return_counts=False, axis=None):
        self.return_index, self.return_inverse, self.return_counts = return_index, return_inverse, return_counts
        self.axis = axis

    def make_node(self, x):
        x = as_tensor_variable(x)
        if self.axis is None:
            static = (None,)
        else:
            (axis,) = normalize_axes(self.axis, x.type.ndim)
            static = tuple([None if i == axis else s for i, s in enumerate(x.type.shape)])
        n_more = self.return_index + self.return_inverse + self.return_counts
        return Apply(self, [x], [tensor_type(x.type.dtype, static)()] + [tensor_type("int64", (None,))() for _ in range(n_more)])


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None):
    """The different elements of `ar` in ascending order, and on request their first places, the place of each element
    among them, and how often each occurs.

    Without `axis` the tensor is read as a vector. With it, what differs are the slices along that axis, in the order of their first different
    elements. All NaNs of a vector are one element; slices with a NaN differ from all others. Of zeros of both signs the first is given.

    Examples
    --------
    >>> [out.eval().tolist() for out in unique([3, 1, 3], return_inverse=True, return_counts=True)]
    [[1, 3], [1, 0, 1], [1, 2]]
    """
    return Unique(return_index, return_inverse, return_counts, axis)(ar)


def bincount(x, weights=None, minlength=None, assert_nonneg=False):
    """How often each number from 0 on occurs in the vector `x` of integers, or the sum of its `weights`.

    `minlength` is the least length of the result. A negative number is an error at run time (an index out of bounds).
    """
    x = as_tensor_variable(x)
    if x.type.ndim != 1:
        raise TypeError("Inputs must be of dimension 1.")
    if dtype_kinds[x.type.dtype] not in "iu":
        raise TypeError(f"bincount takes integers, not {x.type.dtype}")
    if assert_nonneg:
        from pyscan.raise_op import Assert
        from pyscan.tensor.math import all, ge

        x = Assert("Input to bincount has negative values!")(x, all(ge(x, 0)))
    n = cast(add(largest_of(x), 1), "int64")
    if minlength is not None:
        n = maximum(n, minlength)
    if weights is None:
        return inc_subtensor(advanced_subtensor1(zeros([n], dtype=x.type.dtype), x), 1)
    weights = as_tensor_variable(weights)
    return inc_subtensor(advanced_subtensor1(zeros([n], dtype=weights.type.dtype), x), weights)


def to_one_hot(y, nb_class, dtype=None):
    """A matrix with a row for each element of the integer vector `y`: 1 in the column of that number, 0 elsewhere."""
    y = as_tensor_variable(y)
    return cast(eq(dimshuffle(y, (0, "x")), dimshuffle(arange(nb_class), ("x", 0))), float_x() if dtype is None else dtype)


def choose(a, choices, mode="raise"):
    """For each element of `a`, the element at its place of the tensor that it numbers in `choices`.

    `mode` says what becomes of numbers out of bounds: "raise", "wrap" or "clip".
    """
    choices = stack(list(choices)) if isinstance(choices, (list, tuple)) else as_tensor_variable(choices)
    return Choose(mode)(a, choices)


class Choose(Op):
    """(numbers, stacked choices) -> NumPy's choose."""

    kind = "choose"
    __props__ = ("mode",)

    def __init__(self, mode):
        if mode not in ("raise", "wrap", "clip"):
            raise ValueError(f"mode must be 'raise', 'wrap' or 'clip', not {mode!r}")
        self.mode = mode

    def make_node(self, a, choices):
        a, choices = as_tensor_variable(a), as_tensor_variable(choices)
        if dtype_kinds[a.type.dtype] not in "iub":
            raise TypeError(f"choose first argument must have an [u]int* dtype. Got {a.type.dtype}.")
        if choices.type.ndim == 0:
            raise TypeError(f"choose takes its choices along the first axis of a tensor, or as a list; got {choices} of rank 0")
        ndim = max(a.type.ndim, choices.type.ndim - 1)
        return Apply(self, [a, choices], [tensor_type(choices.type.dtype, (None,) * ndim)()])


def _lengths_of(dims):
    """The lengths in `dims`, an int, several, or a vector of a length that is known."""
    if isinstance(dims, Variable):
        return [dims] if dims.type.ndim == 0 else [dims[i] for i in range(get_vector_length(dims))]
    return list(dims) if isinstance(dims, (list, tuple, np.ndarray)) else [dims]


def _check_order(name, order):
    if order not in ("C", "F"):
        raise ValueError(f"the order of {name} must be 'C' or 'F', not {order!r}")


def _integers(name, x):
    x = as_tensor_variable(x)
    if dtype_kinds[x.type.dtype] not in "iu":
        raise TypeError(f"{name} takes integers, not {x} of dtype {x.type.dtype}")
    return cast(x, "int64")


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """The places of the elements with these indices in a tensor of lengths `dims`.

    Parameters
    ----------
    multi_index : sequence of integer tensors
        One for each axis, of shapes that broadcast. The places have their joint shape, int64.
    dims : sequence of ints or scalars, or a vector of known length
    mode : {"raise", "wrap", "clip"}, or one for each axis
        What becomes of an index that is not below the axis' length: ValueError when it runs, the remainder, or the nearest one.
    order : {"C", "F"}
        Whether the last index or the first moves fastest.

    Raises
    ------
    TypeError
        Indices that are no integers.
    ValueError
        Another `mode` or `order`, and numbers of indices, lengths and modes that differ.

    Examples
    --------
    >>> import pyscan.tensor as at
    >>> ravel_multi_index(([0, 1], [2, 0]), (2, 3)).eval()
    array([2, 3])
    """
    _check_order("ravel_multi_index", order)
    indices, lengths = [_integers("ravel_multi_index", i) for i in multi_index], _lengths_of(dims)
    modes = list(mode) if isinstance(mode, (list, tuple)) else [mode] * len(lengths)
    if not (len(indices) == len(lengths) == len(modes) > 0):
        raise ValueError(f"ravel_multi_index got {len(indices)} indices for {len(lengths)} lengths and {len(modes)} modes")
    inside, places = [], None
    for index, length, how in list(zip(indices, lengths, modes))[:: 1 if order == "C" else -1]:
        if how == "wrap":
            index = mod(index, length)
        elif how == "clip":
            index = minimum(maximum(index, 0), sub(length, 1))
        elif how == "raise":
            inside.append(all_true(and_(ge(index, 0), lt(index, length))))
        else:
            raise ValueError(f"the mode of ravel_multi_index must be 'raise', 'wrap' or 'clip', not {how!r}")
        places = index if places is None else add(mul(places, length), index)
    return CheckAndRaise(ValueError, "invalid entry in coordinates array")(places, *inside) if inside else places


def unravel_index(indices, dims, order="C"):
    """The indices along each axis of the elements at these places of a tensor of lengths `dims`: what `ravel_multi_index` undoes.

    ValueError when it runs and a place is not in the tensor; TypeError for places that are no integers.

    Examples
    --------
    >>> import pyscan.tensor as at
    >>> [i.eval() for i in unravel_index([2, 3], (2, 3))]
    [array([0, 1]), array([2, 0])]
    """
    _check_order("unravel_index", order)
    lengths = _lengths_of(dims)
    places = _integers("unravel_index", indices)
    size = lengths[0]
    for length in lengths[1:]:
        size = mul(size, length)
    inside = all_true(and_(ge(places, 0), lt(places, size)))
    rest = CheckAndRaise(ValueError, "index is out of bounds for an array with this shape")(places, inside)
    result = []
    for length in (lengths[:0:-1] if order == "C" else lengths[:-1]):
        rest, index = divmod(rest, length)
        result.append(index)
    return tuple([rest, *reversed(result)]) if order == "C" else tuple([*result, rest])


def inverse_permutation(perm):
    """The permutation that undoes `perm`."""
    perm = as_tensor_variable(perm)
    return set_subtensor(zeros([perm.shape[0]], dtype=perm.type.dtype)[perm], arange(perm.shape[0]))


tell_arguments(globals())
extract_diag = diagonal
