"""Sorting: sort, argsort, topk. Equal elements keep their order, whatever `kind` says.

Relies on `basic`, `shape`, `subtensor`.
"""

from __future__ import annotations

import numpy as np

from pyscan._core import Apply, Op
from pyscan.tensor.basic import as_tensor_variable, cast
from pyscan.tensor.shape import flatten
from pyscan.tensor.type import tensor_type

_KINDS = ("quicksort", "mergesort", "heapsort", "stable")


class _SortOp(Op):
    __props__ = ("kind_of_sort", "order")

    @property
    def kind(self):
        return "sort" if self.order is None else None

    def __init__(self, kind, order=None):
        if kind not in _KINDS:
            raise ValueError(f"sort kind must be one of {', '.join(_KINDS)}, not {kind!r}")
        self.kind_of_sort = kind
        self.order = order

    def make_node(self, x, axis=-1):
        x, axis = as_tensor_variable(x), as_tensor_variable(axis)
        if axis.type.ndim != 0 or axis.type.numpy_dtype.kind not in "iu":
            raise TypeError("The axis of a sort must be an integer scalar")
        return Apply(self, [x, axis], [tensor_type(self.output_dtype(x), x.type.shape)()])

    def perform(self, node, inputs, output_storage):
        x, axis = inputs
        result = self.function(x, axis=int(axis), kind="stable", order=self.order)
        output_storage[0][0] = np.asarray(result, dtype=node.outputs[0].type.dtype)

    def __str__(self):
        return f"{type(self).__name__}{{{self.kind_of_sort}, {self.order}}}"


class SortOp(_SortOp):
    """(tensor, axis) -> its elements in ascending order along that axis."""

    function = staticmethod(np.sort)
    is_places = False

    def output_dtype(self, x):
        return x.type.dtype


class ArgSortOp(_SortOp):
    """(tensor, axis) -> the places of its elements in ascending order along that axis."""

    function = staticmethod(np.argsort)
    is_places = True

    def output_dtype(self, x):
        return "int64"


def sort(a, axis=-1, kind="quicksort", order=None):
    """`a` in ascending order along `axis` (None: flattened)."""
    a = as_tensor_variable(a)
    return SortOp(kind, order)(flatten(a), 0) if axis is None else SortOp(kind, order)(a, axis)


def argsort(a, axis=-1, kind="quicksort", order=None):
    """The places of the elements of `a` in ascending order along `axis` (None: flattened)."""
    a = as_tensor_variable(a)
    return ArgSortOp(kind, order)(flatten(a), 0) if axis is None else ArgSortOp(kind, order)(a, axis)


def _largest_part(x, kth, axis):
    """The index that takes, of elements in ascending order, the part that topk asks for."""
    before = (slice(None),) * (axis + x.type.ndim if axis < 0 else axis)
    return (*before, slice(-kth, None) if kth > 0 else slice(None, -kth))


def topk(x, kth, axis=-1, sorted=True, idx_dtype="int64"):
    """The `kth` largest elements along `axis` in ascending order; with a negative `kth` the -kth smallest."""
    x = as_tensor_variable(x)
    return sort(x, axis)[_largest_part(x, kth, axis)]


def argtopk(x, kth, axis=-1, sorted=True, idx_dtype="int64"):
    """The places of what `topk` gives."""
    x = as_tensor_variable(x)
    return cast(argsort(x, axis)[_largest_part(x, kth, axis)], idx_dtype)


def topk_and_argtopk(x, kth, axis=-1, sorted=True, idx_dtype="int64"):
    """[`topk`, `argtopk`]."""
    return [topk(x, kth, axis), argtopk(x, kth, axis, idx_dtype=idx_dtype)]
