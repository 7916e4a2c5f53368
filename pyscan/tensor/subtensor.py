"""Indexing, and writing to what an index selects.

Basic indices (integers, slices, None, Ellipsis, symbolic scalars) make a Subtensor, which is a view. Index arrays and boolean
masks make an AdvancedSubtensor; one integer vector on the first axis is a taking of rows. A `perform` here is what the native
instructions are compared with, and the way where an index is no value of the graph (a slice given as an argument).

An index is described twice: `idx_list` says which entries are indices ("i") and which parts of slices are given (three bools);
`idx_types` has the dtypes in their places, for the text and for equality. The index values themselves are inputs of the node.

Relies on `variable`, `elemwise`, `type_other`. Relied on by `basic` (lengths of slices) and by the operators of variables.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

import pyscan.tensor as at  # its names are used inside functions only
from pyscan._core import Apply, Op, Variable
from pyscan.errors import NotScalarConstantError, about
from pyscan.scalar import ScalarType, index_constant
from pyscan.tensor.elemwise import dimshuffle, known_axis
from pyscan.tensor.type import TensorType, tensor_type
from pyscan.tensor.type_other import NoneConst, NoneTypeT, SliceType, make_slice
from pyscan.tensor.variable import as_tensor_variable


class AdvancedIndexingError(TypeError):
    """An index that basic indexing does not know."""


_FULL = slice(None)


def _entry_text(entry):
    if isinstance(entry, str):
        return entry
    start, stop, step = ("" if part is None else part for part in entry)
    return f"{start}:{stop}:{step}"


def _entries_text(idx_types):
    return ", ".join([_entry_text(entry) for entry in idx_types])


def _as_idx_list(idx_types):
    return tuple(["i" if isinstance(e, str) else tuple([part is not None for part in e]) for e in idx_types])


def _input_types(idx_types):
    """The dtypes of the index inputs, in order."""
    result = []
    for entry in idx_types:
        if isinstance(entry, str):
            result.append(entry)
        else:
            result.extend(part for part in entry if part is not None)
    return result


def _check_indices(op, x, indices):
    """The index inputs as scalar variables; they must be as many, and of the types, that the op says."""
    if len(op.idx_types) > x.type.ndim:
        raise IndexError("too many indices for array")
    indices = [_as_index_scalar(i) for i in indices]
    expected = _input_types(op.idx_types)
    if len(expected) != len(indices):
        raise IndexError("Not enough inputs to fill in the Subtensor template.", indices, op.idx_types)
    for index, dtype in zip(indices, expected):
        if index.type.dtype != dtype:
            raise TypeError(f"Wrong type for Subtensor template. Expected {dtype}, got {index.type}.")
    return indices


def _as_index_scalar(index):
    if isinstance(index, Variable):
        return index if isinstance(index.type, ScalarType) else at.basic.scalar_from_tensor(as_tensor_variable(index))
    return index_constant(index)


def constant_indices(node):
    """The indices of a Subtensor or IncSubtensor node as Python ints and slices; NotScalarConstantError when one is not known."""
    op = node.op
    values = iter(node.inputs[1 if isinstance(op, Subtensor) else 2 :])

    def known():
        value = at.basic.constant_length(next(values))
        if value is None:
            raise NotScalarConstantError()
        return value

    return [known() if e == "i" else slice(*[known() if given else None for given in e]) for e in op.idx_list]


class Subtensor(Op):
    """(tensor, index scalars) -> the part that they select, as a view.

    Parameters
    ----------
    idx_types : sequence
        For each indexed axis the dtype of its index, or a triple (start, stop, step) of dtypes and None.
    """

    kind = "subtensor"
    view_map = {0: [0]}

    def __init__(self, idx_types):
        self.idx_types = tuple([e if isinstance(e, str) else tuple(e) for e in idx_types])
        self.idx_list = _as_idx_list(self.idx_types)
        self.text = f"Subtensor{{{_entries_text(self.idx_types)}}}"
        self._hash = hash((Subtensor, self.idx_types))

    def make_node(self, x, *indices):
        x = as_tensor_variable(x)
        indices = _check_indices(self, x, indices)
        lengths, shape, at_input = x.type.shape, [], 0
        for entry, length in zip(self.idx_list, lengths):
            if entry == "i":
                at_input += 1
                continue
            shape.append(1 if length == 1 and _keeps_one(entry, indices, at_input) else None)
            at_input += sum(entry)
        shape.extend([1 if length == 1 else None for length in lengths[len(self.idx_list) :]])
        return Apply(self, [x, *indices], [tensor_type(x.type.dtype, tuple(shape))()])

    def __eq__(self, other):
        return self is other or (type(self) is type(other) and self.idx_types == other.idx_types)

    def __hash__(self):
        return self._hash

    def __str__(self):
        return self.text

    def __reduce__(self):
        return type(self), (self.idx_types,)


def _keeps_one(entry, indices, at_input):
    """Whether a slice of an axis of length 1 surely has length 1: it starts at 0 and ends after it."""
    has_start, has_stop, _ = entry
    start = 0
    if has_start:
        start = at.basic.constant_length(indices[at_input])
        at_input += 1
    if start != 0:
        return False
    stop = at.basic.constant_length(indices[at_input]) if has_stop else None
    return not has_stop or (stop is not None and stop > 0)


@lru_cache(maxsize=4096)
def subtensor_op(idx_types):
    """The Subtensor of these index types, from a cache."""
    return Subtensor(idx_types)


def _scalar_entry(entry, inputs):
    """Appends the scalar variable of one index to `inputs` and returns its dtype.

    AdvancedIndexingError for index arrays and masks, TypeError for what can't be an index.
    """
    if isinstance(entry, (int, np.integer)) and not isinstance(entry, bool):
        inputs.append(index_constant(entry))
        return "int64"
    if isinstance(entry, np.ndarray) and entry.ndim == 0 and entry.dtype.kind in "iu":
        inputs.append(index_constant(entry))
        return "int64"
    if isinstance(entry, Variable):
        kind = entry.type
        if isinstance(kind, (ScalarType, TensorType)) and kind.ndim == 0:
            if kind.numpy_dtype.kind in "fc":
                raise TypeError("Expected an integer")
            if kind.numpy_dtype.kind != "b":
                inputs.append(entry if isinstance(kind, ScalarType) else at.basic.scalar_from_tensor(entry))
                return kind.dtype
        raise AdvancedIndexingError("Invalid index type or slice for Subtensor")
    if isinstance(entry, (float, complex, np.inexact)):
        raise TypeError("Expected an integer")
    if isinstance(entry, (str, bytes, dict)) or entry is None:
        raise TypeError(f"Expected an integer, a slice or an index array, got {entry!r}")
    raise AdvancedIndexingError("Invalid index type or slice for Subtensor")


def _basic_entry(entry, inputs):
    if not isinstance(entry, slice):
        return _scalar_entry(entry, inputs)
    parts = []
    for part in (entry.start, entry.stop, entry.step):
        parts.append(None if part is None or part is NoneConst else _scalar_entry(part, inputs))
    return tuple(parts)


def _includes_bool(entry):
    """Whether an index (or an element of a Python sequence of them) is a Python bool."""
    if isinstance(entry, (bool, np.bool_)):
        return True
    return isinstance(entry, (list, tuple)) and any(_includes_bool(e) for e in entry)


def _is_mask(entry):
    return isinstance(entry, (np.ndarray, Variable)) and getattr(entry, "dtype", None) in ("bool", np.bool_)


def _is_new_axis(entry):
    return entry is None or entry is NoneConst


def _expand_ellipsis(index, ndim):
    """The index as a tuple without Ellipsis; IndexError when it has more entries than the tensor has axes."""
    n_axes, ellipses = 0, []
    for i, entry in enumerate(index):
        if _is_new_axis(entry):
            continue
        if entry is Ellipsis:
            ellipses.append(i)
        elif _is_mask(entry):
            if entry.ndim == 0:
                raise TypeError("a bool without dimensions is no index; choose by at.switch, or give a mask with an axis at least.")
            n_axes += entry.ndim
        elif _includes_bool(entry):
            raise TypeError(
                "TensorType does not support Python bools for indexing, such as tensor[[True, False]]. To use a boolean mask, convert "
                "the mask to a NumPy array first, e.g., tensor[numpy.array([True, False])]."
            )
        else:
            n_axes += 1
    if n_axes > ndim:
        raise IndexError("too many indices for array")
    if len(ellipses) > 1:
        raise IndexError("an index can only have a single Ellipsis (`...`)")
    if ellipses:
        i = ellipses[0]
        index = (*index[:i], *[_FULL] * (ndim - n_axes), *index[i + 1 :])
    return index


def getitem(x, index):
    """`x[index]`: what the indexing operator of tensor variables does.

    Raises
    ------
    IndexError
        Too many indices, or two Ellipses.
    TypeError
        An index that is no integer, slice, None, Ellipsis, index array or mask.

    Examples
    --------
    >>> import pyscan.tensor as at
    >>> x = at.dmatrix("x")
    >>> print(x[0, 1:].owner.op)
    Subtensor{int64, int64::}
    """
    with about(lambda: f"It is the index {index!r} of {x}, which has {x.type.ndim} dimension(s)."):
        return _getitem(x, index)


def _getitem(x, index):
    if not isinstance(index, tuple):
        index = (index,)
    index = _expand_ellipsis(index, x.type.ndim)
    inputs, types = [], []
    new_axes = any(_is_new_axis(e) for e in index)
    try:
        for entry in index:
            if not _is_new_axis(entry):
                types.append(_basic_entry(entry, inputs))
    except AdvancedIndexingError:
        return advanced_subtensor(x, *[_as_array_index(e) for e in index])
    if not new_axes:
        return subtensor_op(tuple(types))(x, *inputs)
    return _getitem_with_new_axes(x, index, types, inputs)


def _getitem_with_new_axes(x, index, types, inputs):
    """New axes are made by a DimShuffle first; the other entries then index its result."""
    order, entries, axis, rest = [], [], 0, iter(types)
    for entry in index:
        if _is_new_axis(entry):
            order.append("x")
            entries.append((None, None, None))
        else:
            order.append(axis)
            axis += 1
            entries.append(next(rest))
    view = dimshuffle(x, (*order, *range(axis, x.type.ndim)))
    if all(e == (None, None, None) for e in entries):
        return view
    return subtensor_op(tuple(entries))(view, *inputs)


def _as_array_index(entry):
    """An entry of an advanced index in the form that AdvancedSubtensor takes: integers as scalar constants."""
    if isinstance(entry, (list, tuple, np.ndarray)) and np.size(entry) == 0 and not isinstance(entry, Variable):
        return np.zeros(np.shape(entry), dtype="uint8") if not _is_mask(entry) else entry
    if isinstance(entry, slice):
        return slice(*[_as_slice_part(part) for part in (entry.start, entry.stop, entry.step)])
    return _as_slice_part(entry)


def _as_slice_part(part):
    return index_constant(part) if isinstance(part, (int, np.integer)) and not isinstance(part, bool) else part


class IncSubtensor(Op):
    """(tensor, value, index scalars) -> the tensor with the selected part set to the value, or increased by it."""

    kind = "inc_subtensor"

    def __init__(self, idx_types, inplace=False, set_instead_of_inc=False, destroyhandler_tolerate_aliased=None):
        self.idx_types = tuple([e if isinstance(e, str) else tuple(e) for e in idx_types])
        self.idx_list = _as_idx_list(self.idx_types)
        self.inplace = bool(inplace)
        self.set_instead_of_inc = bool(set_instead_of_inc)
        self.destroyhandler_tolerate_aliased = list(destroyhandler_tolerate_aliased or [])
        if self.inplace:
            self.destroy_map = {0: [0]}
        mode = ("Inplace" if self.inplace else "") + ("Set" if self.set_instead_of_inc else "Inc")
        self.text = f"IncSubtensor{{{mode};{_entries_text(self.idx_types)}}}"
        self._hash = hash((IncSubtensor, self.idx_types, self.inplace, self.set_instead_of_inc))

    def in_place(self):
        """The same operation writing into its first input."""
        return IncSubtensor(self.idx_types, True, self.set_instead_of_inc, self.destroyhandler_tolerate_aliased)

    def make_node(self, x, y, *indices):
        x, y = as_tensor_variable(x), as_tensor_variable(y)
        if y.type.ndim > x.type.ndim:
            raise ValueError(f"Trying to increment a {x.type.ndim}-dimensional subtensor with a {y.type.ndim}-dimensional value.")
        return Apply(self, [x, y, *_check_indices(self, x, indices)], [x.type()])

    def __eq__(self, other):
        return self is other or (
            type(self) is type(other)
            and self.idx_types == other.idx_types
            and self.inplace == other.inplace
            and self.set_instead_of_inc == other.set_instead_of_inc
        )

    def __hash__(self):
        return self._hash

    def __str__(self):
        return self.text

    def __reduce__(self):
        return type(self), (self.idx_types, self.inplace, self.set_instead_of_inc, self.destroyhandler_tolerate_aliased)


@lru_cache(maxsize=4096)
def _inc_subtensor_op(idx_types, inplace, set_instead_of_inc):
    return IncSubtensor(idx_types, inplace, set_instead_of_inc)


def set_subtensor(x, y, inplace=False, tolerate_inplace_aliasing=False):
    """A copy of the indexed tensor with the part `x` set to `y`: `set_subtensor(v[1:], 0.0)` is `v` with zeros from 1 on.

    Parameters
    ----------
    x : variable
        The result of indexing.
    y : array_like
        Broadcast to the part and cast to its dtype.

    Raises
    ------
    TypeError
        `x` is not an indexed tensor, or `y` has a higher rank.

    Examples
    --------
    >>> import pyscan.tensor as at
    >>> v = at.dvector("v")
    >>> print(set_subtensor(v[1:], 0.0).owner.op)
    IncSubtensor{Set;int64::}
    """
    return inc_subtensor(x, y, inplace, set_instead_of_inc=True, tolerate_inplace_aliasing=tolerate_inplace_aliasing)


def inc_subtensor(x, y, inplace=False, set_instead_of_inc=False, tolerate_inplace_aliasing=False, ignore_duplicates=False):
    """A copy of the indexed tensor with `y` added to the part `x`. Indices that repeat add up, unless `ignore_duplicates`.

    See `set_subtensor` for the parameters and errors.
    """
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    if y.type.ndim > x.type.ndim:
        raise TypeError(f"Trying to increment a {x.type.ndim}-dimensional subtensor with a {y.type.ndim}-dimensional value.")
    offset = x.type.ndim - y.type.ndim
    for axis, broadcastable in enumerate(y.type.broadcastable):
        if x.type.broadcastable[axis + offset] and not broadcastable:
            y = _specify_broadcastable(y, axis)
    node = x.owner
    if node is None:
        raise TypeError("x must be the result of a subtensor operation")
    op = node.op
    if isinstance(op, Subtensor):
        if tolerate_inplace_aliasing:
            inc = IncSubtensor(op.idx_types, inplace, set_instead_of_inc, [[0, 1]])
        else:
            inc = _inc_subtensor_op(op.idx_types, bool(inplace), bool(set_instead_of_inc))
        return inc(node.inputs[0], y, *node.inputs[1:])
    if isinstance(op, AdvancedSubtensor1) and not ignore_duplicates:
        return AdvancedIncSubtensor1(inplace, set_instead_of_inc)(node.inputs[0], y, node.inputs[1])
    if isinstance(op, (AdvancedSubtensor, AdvancedSubtensor1)):
        return AdvancedIncSubtensor(inplace, set_instead_of_inc, ignore_duplicates)(node.inputs[0], y, *node.inputs[1:])
    options = {
        "inplace": inplace,
        "set_instead_of_inc": set_instead_of_inc,
        "tolerate_inplace_aliasing": tolerate_inplace_aliasing,
        "ignore_duplicates": ignore_duplicates,
    }
    kind = getattr(op, "kind", None)
    if kind == "dimshuffle":
        return _inc_through_dimshuffle(node, x, y, options)
    if kind == "reshape":
        inner = node.inputs[0]
        if y.type.ndim > 0:
            y = at.alloc(y, *[x.shape[i] for i in range(x.type.ndim)]).reshape(inner.shape, ndim=inner.type.ndim)
        return inc_subtensor(inner, y, **options)
    raise TypeError("x must be the result of a subtensor operation")


def _inc_through_dimshuffle(node, x, y, options):
    """The part was permuted after indexing: permute the value back, write, and permute the whole as the part was."""
    order = node.op.new_order
    inner = node.inputs[0]
    offset = x.type.ndim - y.type.ndim
    y_order = ["x"] * inner.type.ndim
    for i, axis in enumerate(order):
        if axis != "x" and i >= offset:
            y_order[axis] = i - offset
    dropped = [i for i in range(y.type.ndim) if i not in y_order]
    if any(not y.type.broadcastable[i] for i in dropped):
        raise TypeError("x must be the result of a subtensor operation")
    return dimshuffle(inc_subtensor(inner, dimshuffle(y, y_order), **options), order)


def _specify_broadcastable(x, axis):
    from pyscan.tensor.shape import specify_broadcastable

    return specify_broadcastable(x, axis)


# --- index arrays ---


def _as_index_variable(index):
    """One entry of an advanced index as a variable: integers, a mask, a slice or None."""
    if index is None:
        return NoneConst
    if isinstance(index, slice):
        return make_slice(index)
    if isinstance(index, Variable) and isinstance(index.type, (SliceType, NoneTypeT)):
        return index
    index = as_tensor_variable(index)
    if index.type.numpy_dtype.kind not in "biu":
        raise TypeError("index must be integers or a boolean mask")
    return index


def _python_index(values):
    """The index tuple that NumPy takes, from the values of a node's index inputs."""
    return tuple([v if v is None or isinstance(v, slice) else np.asarray(v) for v in values])


def _check_masks(x, index):
    """IndexError for a mask whose lengths are not those of the axes that it stands for."""
    axis = 0
    for entry in index:
        if entry is None:
            continue
        if isinstance(entry, np.ndarray) and entry.dtype == bool:
            for i, length in enumerate(entry.shape):
                if length != x.shape[axis + i]:
                    raise IndexError(
                        f"boolean index did not match indexed array along dimension {axis + i}; dimension is {x.shape[axis + i]} but "
                        f"corresponding boolean dimension is {length}"
                    )
            axis += entry.ndim
        else:
            axis += 1


def _advanced_shape(x, index):
    """The static shape (1 or unknown) of `x` indexed by variables, by NumPy's rules."""
    lengths = [1 if s == 1 else None for s in x.type.shape]
    parts, axis = [], 0  # one entry per axis of the result, or "array" for the place of an index array
    arrays = []
    for entry in index:
        kind = entry.type
        if isinstance(kind, NoneTypeT):
            parts.append(1)
        elif isinstance(kind, SliceType):
            whole = entry.owner is not None and all(isinstance(p.type, NoneTypeT) for p in entry.owner.inputs)
            parts.append(lengths[axis] if whole else None)
            axis += 1
        elif kind.dtype == "bool" and kind.ndim > 0:
            arrays.append((None,))
            parts.append("array")
            axis += kind.ndim
        else:
            arrays.append(tuple(1 if s == 1 else None for s in kind.shape))
            parts.append("array")
            axis += 1
    parts.extend(lengths[axis:])
    joint = _joint_array_shape(arrays)
    first = parts.index("array")
    places = [i for i, p in enumerate(parts) if p == "array"]
    adjacent = places == list(range(first, first + len(places)))
    rest = [p for p in parts if p != "array"]
    before = first if adjacent else 0
    return (*rest[:before], *joint, *rest[before:])


def _joint_array_shape(arrays):
    ndim = max(len(s) for s in arrays)
    padded = [(1,) * (ndim - len(s)) + s for s in arrays]
    return tuple(1 if all(s == 1 for s in lengths) else None for lengths in zip(*padded))


def _is_row_index(x, index):
    """Whether an index is one integer vector on the first axis: the form with an instruction of its own."""
    return len(index) == 1 and isinstance(index[0].type, TensorType) and index[0].type.ndim == 1 and index[0].type.dtype != "bool"


class AdvancedSubtensor(Op):
    """(tensor, indices) -> what NumPy's advanced indexing selects, as a copy."""

    kind = "advanced_subtensor"
    __props__ = ()

    def make_node(self, x, *index):
        x = as_tensor_variable(x)
        index = [_as_index_variable(i) for i in index]
        op = _row_subtensor if type(self) is AdvancedSubtensor and _is_row_index(x, index) else self
        return Apply(op, [x, *index], [tensor_type(x.type.dtype, _advanced_shape(x, index))()])

    def perform(self, node, inputs, output_storage):
        x, index = np.asarray(inputs[0]), _python_index(inputs[1:])
        _check_masks(x, index)
        output_storage[0][0] = np.array(x[index])

    def __str__(self):
        return "AdvancedSubtensor"


class RowSubtensor(AdvancedSubtensor):
    """An AdvancedSubtensor with one integer vector, which is a taking of rows."""

    kind = "advanced_subtensor1"


advanced_subtensor = AdvancedSubtensor()
_row_subtensor = RowSubtensor()


class AdvancedSubtensor1(Op):
    """(tensor, int vector) -> the rows with these numbers."""

    kind = "advanced_subtensor1"
    __props__ = ()

    def make_node(self, x, rows):
        x, rows = as_tensor_variable(x), as_tensor_variable(rows)
        if rows.type.numpy_dtype.kind not in "iu":
            raise TypeError("index must be integers")
        if rows.type.ndim != 1:
            raise TypeError("index must be vector")
        if x.type.ndim == 0:
            raise TypeError("cannot index into a scalar")
        shape = (1 if rows.type.broadcastable[0] else None, *[1 if s == 1 else None for s in x.type.shape[1:]])
        return Apply(self, [x, rows], [tensor_type(x.type.dtype, shape)()])


advanced_subtensor1 = AdvancedSubtensor1()


def _write(target, index, value, set_instead_of_inc, ignore_duplicates=False):
    if set_instead_of_inc:
        target[index] = value
    elif ignore_duplicates:
        target[index] += np.asarray(value, dtype=target.dtype)
    else:
        whole = np.empty_like(target[index])  # for a value that is broadcast NumPy reads beyond its end in some versions
        whole[...] = value
        np.add.at(target, index, whole)
    return target


class AdvancedIncSubtensor(Op):
    """(tensor, value, indices) -> the tensor with what the indices select set to the value, or increased by it."""

    kind = "advanced_inc_subtensor"
    __props__ = ("inplace", "set_instead_of_inc", "ignore_duplicates")

    def __init__(self, inplace=False, set_instead_of_inc=False, ignore_duplicates=False):
        self.inplace = bool(inplace)
        self.set_instead_of_inc = bool(set_instead_of_inc)
        self.ignore_duplicates = bool(ignore_duplicates)
        if self.inplace:
            self.destroy_map = {0: [0]}

    def make_node(self, x, y, *index):
        x, y = as_tensor_variable(x), as_tensor_variable(y)
        index = [_as_index_variable(i) for i in index]
        op = self
        if type(self) is AdvancedIncSubtensor and _is_row_index(x, index) and not self.ignore_duplicates:
            op = RowIncSubtensor(self.inplace, self.set_instead_of_inc)
        return Apply(op, [x, y, *index], [tensor_type(x.type.dtype, tuple([1 if s == 1 else None for s in x.type.shape]))()])

    def perform(self, node, inputs, output_storage):
        x, y, index = np.asarray(inputs[0]), inputs[1], _python_index(inputs[2:])
        _check_masks(x, index)
        target = x if self.inplace else x.copy()
        output_storage[0][0] = _write(target, index, y, self.set_instead_of_inc, self.ignore_duplicates)

    def __str__(self):
        return f"AdvancedIncSubtensor{{inplace={self.inplace},  set_instead_of_inc={self.set_instead_of_inc}}}"


class RowIncSubtensor(AdvancedIncSubtensor):
    """An AdvancedIncSubtensor with one integer vector, which is a writing of rows."""

    kind = "advanced_inc_subtensor1"


class AdvancedIncSubtensor1(Op):
    """(tensor, value, int vector) -> the tensor with the rows of these numbers set to the value, or increased by it."""

    kind = "advanced_inc_subtensor1"
    __props__ = ("inplace", "set_instead_of_inc")

    def __init__(self, inplace=False, set_instead_of_inc=False):
        self.inplace = bool(inplace)
        self.set_instead_of_inc = bool(set_instead_of_inc)
        if self.inplace:
            self.destroy_map = {0: [0]}

    def make_node(self, x, y, rows):
        x, y, rows = as_tensor_variable(x), as_tensor_variable(y), as_tensor_variable(rows)
        if rows.type.numpy_dtype.kind not in "iu":
            raise TypeError("index must be integers")
        if rows.type.ndim != 1:
            raise TypeError("index must be vector")
        if y.type.ndim > x.type.ndim:
            verb = "set" if self.set_instead_of_inc else "increment"
            raise TypeError(f"cannot {verb} x subtensor with ndim={x.type.ndim} by y with ndim={y.type.ndim}.")
        return Apply(self, [x, y, rows], [x.type()])

    def __str__(self):
        place, mode = "inplace" if self.inplace else "no_inplace", "set" if self.set_instead_of_inc else "inc"
        return f"AdvancedIncSubtensor1{{{place},{mode}}}"


def take(a, indices, axis=None, mode="raise"):
    """The elements of `a` with the given indices along `axis` (None: of the flattened tensor).

    `mode` says what becomes of indices out of bounds: "raise", "wrap" or "clip".
    """
    a, indices = as_tensor_variable(a), as_tensor_variable(indices)
    if axis is None:
        a, axis = a.flatten(), 0
    axis = known_axis(axis)
    if not -a.type.ndim <= axis < a.type.ndim:
        raise IndexError(f"too many indices for array: axis {axis} of {a}, which has {a.type.ndim} dimension(s)")
    axis = axis + a.type.ndim if axis < 0 else axis
    if mode == "clip":
        indices = at.clip(indices, 0, a.shape[axis] - 1)
    elif mode == "wrap":
        indices = indices % a.shape[axis]
    elif mode != "raise":
        raise ValueError(f"mode must be 'raise', 'wrap' or 'clip', not {mode!r}")
    return a[(_FULL,) * axis + (indices,)]

