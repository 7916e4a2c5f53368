"""A plain Python twin of the C executor: what every compiled function is compared with, bit for bit.

It evaluates the graph as the user wrote it (no rewriting, nothing in place, one step at a time) with NumPy and the
generators' own methods. Sums and products of matrices follow the orders that pyscan documents; elementary functions
come from the same ``math`` room of the C core, all other arithmetic from NumPy. It is slow and short on purpose.

Relies on: the graph types and the operations' attributes (csrc/ops/ops.def). Relied on by: the tests.
"""
from __future__ import annotations

import copy
import math
from functools import reduce as fold

import numpy as np

from pyscan import _core
from pyscan.graph import Constant, io_toposort

_NUMPY = {
    "add": np.add, "sub": np.subtract, "true_divide": np.true_divide, "neg": np.negative,
    "abs": np.abs, "sgn": np.sign, "eq": np.equal, "neq": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "and_": np.bitwise_and, "or_": np.bitwise_or, "xor": np.bitwise_xor, "invert": np.invert, "sqrt": np.sqrt,
    "square": lambda a: _multiply(a, a), "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "round_half_to_even": np.rint,
    "isnan": np.isnan, "isinf": np.isinf, "real": np.real, "imag": np.imag, "conj": np.conj,
}
_COMPARISONS = {row["name"] for row in _core.scalars() if row["rule"] == "BOOL"}
_ARITIES = {row["name"]: row["n_in"] for row in _core.scalars()}


class StepError(Exception):
    """Wraps an exception with the step at which it was raised; ``__cause__`` is the exception itself."""

    def __init__(self, step: int, cause: BaseException):
        super().__init__(f"at step {step}: {type(cause).__name__}: {cause}")
        self.step = step
        self.__cause__ = cause


def root_cause(error: BaseException) -> BaseException:
    """Return the exception inside nested StepErrors."""
    while isinstance(error, StepError):
        error = error.__cause__
    return error


def copy_generator(rng):
    """Return an independent generator with the same class and state."""
    return copy.deepcopy(rng)


# -- elementwise -------------------------------------------------------------------------------------------------------

def _multiply(a, b):
    """The product; of complex numbers the core's, since NumPy fuses their multiplications and additions on some CPUs."""
    if np.result_type(a, b).kind != "c":
        return np.multiply(a, b)
    dtype = np.result_type(a, b)
    return _core.scalar("mul", *(np.array(v, dtype=dtype, order="C") for v in np.broadcast_arrays(a, b)))


def _pair(name, a, b, dtype):
    """One binary step of an operation computed in dtype."""
    if name in ("floor_divide", "mod") and np.dtype(dtype).kind in "iu" and np.any(b == 0):
        raise ZeroDivisionError("integer division by zero")
    if name == "mul":
        return _multiply(a, b)
    if name in _NUMPY:
        return _NUMPY[name](a, b)
    return _core.scalar(name, *(np.array(v, order="C") for v in np.broadcast_arrays(a, b)))


def _clip(x, low, high):
    """Aesara's choice where the bounds are the wrong way round: what is below `low` becomes `low`, whatever `high` is."""
    return np.where(x < low, low, np.where(x > high, high, x))


def _cast(array, dtype):
    return array != 0 if np.dtype(dtype).kind == "b" else array.astype(dtype)


def _check_shapes(arrays):
    """Raise as the core does when lengths differ and neither is 1."""
    shapes = [a.shape for a in arrays]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(f"Input dimension mismatch. {shapes}") from None


def _elemwise(node, inputs):
    op, out_dtype = node.op.scalar_op, node.outputs[0].type.dtype
    arrays = [np.asarray(v) for v in inputs]
    shape = _check_shapes(arrays)
    with np.errstate(all="ignore"):
        if op.kind == "cast":
            return [_cast(arrays[0], out_dtype)]
        name = op.name
        if name == "switch":
            return [np.where(arrays[0] != 0, *(a.astype(out_dtype) for a in arrays[1:]))]
        if name == "second":
            return [np.broadcast_to(arrays[1].astype(out_dtype), shape).copy()]
        if name == "clip":
            return [_clip(*(a.astype(out_dtype) for a in arrays))]
        if name == "identity":
            return [arrays[0].copy()]
        computing = out_dtype
        if name in _COMPARISONS or name in ("abs", "real", "imag", "angle"):
            computing = fold(np.promote_types, [a.dtype for a in arrays])
        elif name in ("complex", "complex_from_polar"):
            computing = np.empty(0, dtype=out_dtype).real.dtype
        arrays = [a.astype(computing) for a in arrays]
        if _ARITIES[name] == 1:
            value = _NUMPY[name](arrays[0]) if name in _NUMPY else _core.scalar(name, np.array(arrays[0], order="C"))
        else:
            value = fold(lambda a, b: _pair(name, a, b, computing), arrays)
        return [np.asarray(value).astype(out_dtype)]


# -- sums and products -------------------------------------------------------------------------------------------------

def _fold_block(items, combine):
    """Fold at most 128 items: in order below 8, else by eight accumulators and a tail."""
    if len(items) < 8:
        return fold(combine, items)
    lanes = list(items[:8])
    whole = len(items) - len(items) % 8
    for i in range(8, whole):
        lanes[i % 8] = combine(lanes[i % 8], items[i])
    total = combine(combine(combine(lanes[0], lanes[1]), combine(lanes[2], lanes[3])),
                    combine(combine(lanes[4], lanes[5]), combine(lanes[6], lanes[7])))
    return fold(combine, items[whole:], total)


def documented_fold(items, combine, start):
    """Fold in the order that pyscan documents: blocks of 128, joined pairwise as a binary counter does.

    ``items`` is a sequence of arrays of one shape (all outputs at once); ``start`` is the value of an empty fold.

    >>> import operator
    >>> documented_fold([1.0, 2.0, 4.0], operator.add, 0.0)
    7.0
    """
    if len(items) == 0:
        return start
    levels: list = []  # (level, value), levels falling
    for first in range(0, len(items), 128):
        level, value = 0, _fold_block(items[first:first + 128], combine)
        while levels and levels[-1][0] == level:
            value = combine(levels.pop()[1], value)
            level += 1
        levels.append((level, value))
    value = levels.pop()[1]
    while levels:
        value = combine(levels.pop()[1], value)
    return value


def _reduced_items(array, axes):
    """Split an array into (items along the reduced axes in C order, shape of the rest)."""
    moved = array.transpose(list(axes) + [i for i in range(array.ndim) if i not in axes])
    rest = moved.shape[len(axes):]
    count = int(np.prod(moved.shape[:len(axes)], dtype=np.int64))
    return list(moved.reshape((count,) + rest)), rest


def _all_axes(array, axis):
    return tuple(range(array.ndim)) if axis is None else tuple(sorted(a % array.ndim for a in axis))


def _empty_fold(array, axes, name):
    axis = next(a for a in axes if array.shape[a] == 0)
    return ValueError(f"Input of CAReduce{{{name}}} has zero-size on axis {axis}")


def reduce_array(array, name, axis, acc_dtype):
    """Reduce along the axes in the documented order."""
    axes = _all_axes(array, axis)
    items, rest = _reduced_items(array.astype(acc_dtype), axes)
    with np.errstate(all="ignore"):
        if name in ("maximum", "minimum"):
            if not items:
                raise _empty_fold(array, axes, name)
            # NumPy's own answer for 0.0 beside -0.0 depends on the CPU.
            return fold(lambda a, b: _core.scalar(f"scalar_{name}", a, b), items)
        if name in ("and", "or"):
            start = np.full(rest, -1 if name == "and" else 0).astype(acc_dtype)
            return fold({"and": np.bitwise_and, "or": np.bitwise_or}[name], items, start)
        start = np.full(rest, {"add": 0, "mul": 1}[name], dtype=acc_dtype)
        return documented_fold(items, {"add": np.add, "mul": _multiply}[name], start)


def _careduce(node, inputs):
    op, array = node.op, np.asarray(inputs[0])
    out_dtype = node.outputs[0].type.dtype
    acc = getattr(op, "acc_dtype", None) or out_dtype
    if op.reduce_name in ("and", "or"):
        array, acc = array != 0 if out_dtype == "bool" else array, out_dtype
    return [np.asarray(reduce_array(array, op.reduce_name, op.axis, acc)).astype(out_dtype)]


def _max_and_argmax(node, inputs):
    array = np.asarray(inputs[0])
    axes = _all_axes(array, node.op.axis)
    items, _ = _reduced_items(array, axes)
    if not items:
        raise _empty_fold(array, axes, "maximum")
    stacked = np.stack(items)
    return [np.max(stacked, axis=0), np.argmax(stacked, axis=0).astype("int64")]


def _cumop(node, inputs):
    array, axis = np.asarray(inputs[0], dtype=node.outputs[0].type.dtype), node.op.axis
    if node.op.mode == "add":
        return [np.cumsum(array, axis=axis, dtype=array.dtype)]
    rows = np.moveaxis(array.reshape(-1) if axis is None else array, 0 if axis is None else axis, 0).copy()
    for i in range(1, len(rows)):
        rows[i] = _multiply(rows[i - 1], rows[i])
    return [np.array(np.moveaxis(rows, 0, 0 if axis is None else axis))]


def dot(a, b):
    """Multiply in the documented order: over k from the first product on; big products are NumPy's."""
    a, b = np.asarray(a), np.asarray(b)
    left, right = (a[None, :] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)
    if left.shape[1] != right.shape[0]:
        raise ValueError(f"shapes {a.shape} and {b.shape} not aligned")
    m, k, n = left.shape[0], left.shape[1], right.shape[1]
    if m * n * k > 32768:
        return np.matmul(a, b)
    total = np.zeros((m, n), dtype=np.result_type(a, b))
    with np.errstate(all="ignore"):
        for i in range(k):
            product = _multiply(left[:, i, None], right[None, i, :])
            total = product if i == 0 else total + product
    return total.reshape((() if a.ndim == 1 else (m,)) + (() if b.ndim == 1 else (n,)))


def _dot(node, inputs):
    dtype = node.outputs[0].type.dtype
    return [np.asarray(dot(*(np.asarray(v).astype(dtype) for v in inputs)))]


# -- shape, layout, indexing -------------------------------------------------------------------------------------------

def _dimshuffle(node, inputs):
    array, order = np.asarray(inputs[0]), node.op.new_order
    kept = [o for o in order if o != "x"]
    dropped = [i for i in range(array.ndim) if i not in kept]
    for axis in dropped:
        if array.shape[axis] != 1:
            raise ValueError(f"Cannot drop a non-broadcastable dimension: axis {axis} has length {array.shape[axis]}, expected 1")
    moved = array.transpose(kept + dropped).reshape([array.shape[i] for i in kept])
    return [np.expand_dims(moved, [i for i, o in enumerate(order) if o == "x"])]


def _index(idx_list, scalars):
    """Build the NumPy index from the entries of an idx_list and the scalar inputs."""
    scalars = iter([int(s) for s in scalars])
    index = []
    for entry in idx_list:
        if entry == "i":
            index.append(next(scalars))
        else:
            index.append(slice(*(next(scalars) if given else None for given in entry)))
    return tuple(index)


def _subtensor(node, inputs):
    return [np.asarray(np.asarray(inputs[0])[_index(node.op.idx_list, inputs[1:])])]


def _write(target, index, value, is_set):
    target[index] = value if is_set else target[index] + value
    return target


def _inc_subtensor(node, inputs):
    target, index = np.array(inputs[0]), _index(node.op.idx_list, inputs[2:])
    value, region = np.asarray(inputs[1]).astype(target.dtype), np.shape(target[index])
    try:
        np.broadcast_to(value, region)
    except ValueError:
        raise ValueError(f"could not broadcast input array from shape {value.shape} into shape {region}") from None
    return [_write(target, index, value, node.op.set_instead_of_inc)]


def _advanced_subtensor1(node, inputs):
    return [np.asarray(inputs[0])[np.asarray(inputs[1])]]


def _advanced_inc_subtensor1(node, inputs):
    target, rows = np.array(inputs[0]), np.asarray(inputs[2])
    value = np.broadcast_to(np.asarray(inputs[1]).astype(target.dtype), rows.shape + target.shape[1:])
    for i in range(len(rows)):
        _write(target, int(rows[i]), value[i], node.op.set_instead_of_inc)
    return [target]


def _choose(node, inputs):
    """NumPy's choose, by an index: that takes any number of choices."""
    numbers, choices = inputs
    shape = np.broadcast_shapes(np.shape(numbers), choices.shape[1:])
    bounded = np.asarray(numbers).astype("int64")
    if len(choices) == 0:
        raise ValueError("nothing to choose from")
    if node.op.mode == "raise" and np.any((bounded < 0) | (bounded >= len(choices))):
        raise ValueError("invalid entry in choice array")
    bounded = bounded % len(choices) if node.op.mode == "wrap" else np.clip(bounded, 0, len(choices) - 1)
    choices = np.broadcast_to(choices.reshape(len(choices), *[1] * (len(shape) - choices.ndim + 1), *choices.shape[1:]), (len(choices), *shape))
    return [np.take_along_axis(choices, np.broadcast_to(bounded, shape)[None], axis=0)[0]]


def _lengths(values):
    lengths = tuple(int(v) for v in values)
    if any(n < 0 for n in lengths):
        raise ValueError("negative dimensions are not allowed")
    return lengths


def _alloc(node, inputs):
    return [np.array(np.broadcast_to(np.asarray(inputs[0]), _lengths(inputs[1:])))]


def _unique(node, inputs):
    op = node.op
    result = np.unique(inputs[0], True, op.return_inverse, op.return_counts, axis=op.axis)
    return [result[0], *[np.ravel(part).astype("int64") for part in result[1 if op.return_index else 2:]]]


def _join(node, inputs):
    return [np.concatenate([np.asarray(v).astype(node.outputs[0].type.dtype) for v in inputs[1:]], axis=int(inputs[0]))]


def _arange(node, inputs):
    dtype = np.dtype(node.op.dtype)
    start, stop, step = (np.asarray(v).astype(dtype) for v in inputs)
    if step == 0:
        raise ZeroDivisionError("integer division by zero")
    length = max(0, math.ceil((stop - start) / step)) if dtype.kind == "f" else len(range(int(start), int(stop), int(step)))
    return [(start + np.arange(length).astype(dtype) * step).astype(dtype)]


def _specify_shape(node, inputs):
    array = np.asarray(inputs[0])
    for axis, expected in enumerate(inputs[1:]):
        if expected is not None and array.shape[axis] != int(expected):
            raise AssertionError(f"SpecifyShape: dim {axis} of input has shape {array.shape[axis]}, expected {int(expected)}.")
    return [array]


def _assert(node, inputs):
    if not all(bool(np.all(c)) for c in inputs[1:]):
        raise AssertionError(node.op.msg)
    return [inputs[0]]


def _reshape(node, inputs):
    return [np.asarray(inputs[0]).reshape([int(n) for n in np.asarray(inputs[1])])]


def _first(node, inputs):
    return [np.asarray(inputs[0])]


# -- random draws ------------------------------------------------------------------------------------------------------

def _size_or_shape(size, *params):
    return np.broadcast_shapes(*(np.shape(p) for p in params)) if size is None else size


def _categorical(rng, p, size):
    p = np.asarray(p)
    if size is None:
        size = p.shape[:-1]
    elif p.ndim - 1 > len(size) or any(own not in (1, n) for own, n in zip(reversed(p.shape[:-1]), reversed(size))):
        raise ValueError(f"`size` is incompatible with the shape of `p`: {tuple(size)} was given, p has shape {p.shape}")
    uniforms = rng.uniform(size=size)
    cumulative = np.cumsum(np.broadcast_to(p, tuple(size) + p.shape[-1:]), axis=-1)
    flat = [np.searchsorted(c, u) for c, u in zip(cumulative.reshape(-1, p.shape[-1]), np.ravel(uniforms))]
    return np.array(flat, dtype="int64").reshape(size)


_DRAWS = {
    "bernoulli": lambda rng, p, size: rng.binomial(1, p, size),
    "halfnormal": lambda rng, loc, scale, size: np.abs(rng.standard_normal(_size_or_shape(size, loc, scale))) * scale + loc,
    "gamma": lambda rng, shape, scale, size: rng.standard_gamma(shape, _size_or_shape(size, shape, scale)) * scale,
    "categorical": _categorical,
    "nbinom": lambda rng, n, p, size: rng.negative_binomial(n, p, size),
    "t": lambda rng, df, loc, scale, size: rng.standard_t(df, _size_or_shape(size, df, loc, scale)) * scale + loc,
}


def _random(node, inputs):
    rng, size, _, *params = inputs
    size = tuple(int(n) for n in np.asarray(size)) or None
    rng = copy_generator(rng)
    name = node.op.name
    params = [np.asarray(p) if np.ndim(p) else np.asarray(p)[()] for p in params]
    draw = _DRAWS[name](rng, *params, size) if name in _DRAWS else getattr(rng, name)(*params, size=size)
    return [rng, np.asarray(draw).astype(node.outputs[1].type.dtype)]


# -- scan --------------------------------------------------------------------------------------------------------------

def _check_steps(n_steps):
    """A negative number of steps is reported as soon as it is known, before buffers of negative length are."""
    if int(n_steps) < 0:
        raise IndexError(f"Scan was asked to run for negative number of step {int(n_steps)}")


class _ScanCall:
    """The outer inputs of one scan node, cut into their parts in the order of ScanInfo."""

    def __init__(self, op, inputs):
        values, info = iter(inputs), op.info
        take = lambda n: [next(values) for _ in range(n)]
        self.n_steps = int(take(1)[0])
        self.sequences = take(info.n_seqs)
        self.taps = list(info.mit_sot_in_slices) + list(info.sit_sot_in_slices)
        self.buffers = [np.asarray(b) for b in take(len(self.taps))]
        self.carries = take(info.n_shared_outs)
        self.kept = [int(v) for v in take(info.n_nit_sot)]
        self.fixed = take(info.n_non_seqs)
        self.is_while = info.as_while
        _check_steps(self.n_steps)
        for i, sequence in enumerate(self.sequences):
            if len(sequence) < self.n_steps:
                raise ValueError(
                    f"Sequence {i} has shape {np.shape(sequence)} but the Scan's required number of steps is {self.n_steps}")


def _row(value, shape):
    """A copy of value in the shape of the buffer's rows, broadcast as an assignment does."""
    try:
        return np.array(np.broadcast_to(value, shape))
    except ValueError:
        raise ValueError(f"could not broadcast input array from shape {np.shape(value)} into shape {shape}") from None


def _stacked(rows, kept, shape, dtype):
    """The last `kept` rows as one array; the shape of a row is needed where there is none."""
    rows = rows[max(0, len(rows) - kept):]
    return np.array(rows, dtype=dtype).reshape((len(rows), *shape))


def _path(rows, kept, variable):
    """Stack what a path output keeps; without a step every length is 0."""
    if not rows:
        return np.empty((0,) * variable.type.ndim, dtype=variable.type.dtype)
    return _stacked(rows, kept, rows[0].shape, variable.type.dtype)


def _state_path(rows, buffer):
    return _stacked(rows, len(buffer), buffer.shape[1:], buffer.dtype)


def _scan(node, inputs):
    call, inner = _ScanCall(node.op, inputs), node.op.fgraph
    order = io_toposort(inner.inputs, inner.outputs)
    states = [[np.array(b[i]) for i in range(-min(taps))] for b, taps in zip(call.buffers, call.taps)]
    carries, paths = list(call.carries), [[] for _ in call.kept]
    n_states, n_traced = len(states), len(states) + len(paths)
    for step in range(call.n_steps):
        arguments = [np.asarray(s)[step] for s in call.sequences]
        arguments += [rows[len(rows) + tap] for rows, taps in zip(states, call.taps) for tap in taps]
        try:
            results = evaluate(order, inner.outputs, dict(zip(inner.inputs, arguments + carries + call.fixed)))
            new_rows = [_row(v, b.shape[1:]) for v, b in zip(results, call.buffers)]
            new_rows += [_row(v, p[0].shape if p else np.shape(v)) for v, p in zip(results[n_states:], paths)]
        except Exception as error:
            raise StepError(step, error) from error
        for rows, value in zip(states + paths, new_rows):
            rows.append(value)
        carries = results[n_traced:n_traced + len(carries)]
        if call.is_while and np.asarray(results[-1]) != 0:
            break
    return ([_state_path(rows, b) for rows, b in zip(states, call.buffers)]
            + [_path(rows, kept, v) for rows, kept, v in zip(paths, call.kept, node.outputs[n_states:])] + carries)


# -- the walk ----------------------------------------------------------------------------------------------------------

_KINDS = {
    "elemwise": _elemwise, "dimshuffle": _dimshuffle, "careduce": _careduce, "max_and_argmax": _max_and_argmax,
    "cumop": _cumop, "dot": _dot, "reshape": _reshape, "subtensor": _subtensor, "inc_subtensor": _inc_subtensor,
    "advanced_subtensor1": _advanced_subtensor1, "advanced_inc_subtensor1": _advanced_inc_subtensor1,
    "shape": lambda node, inputs: [np.array(np.shape(inputs[0]), dtype="int64")],
    "shape_i": lambda node, inputs: [np.asarray(np.shape(inputs[0])[node.op.i], dtype="int64")],
    "alloc": _alloc, "alloc_empty": lambda node, inputs: [np.zeros(_lengths(inputs), dtype=node.op.dtype)],
    "make_vector": lambda node, inputs: [np.array([np.asarray(v)[()] for v in inputs], dtype=node.op.dtype)],
    "choose": _choose, "unique": _unique, "join": _join, "arange": _arange, "specify_shape": _specify_shape, "unbroadcast": _first,
    "scalar_from_tensor": _first, "tensor_from_scalar": _first, "view": lambda node, inputs: [inputs[0]],
    "deep_copy": lambda node, inputs: [copy.deepcopy(inputs[0])], "assert": _assert, "random": _random, "scan": _scan,
}


def _perform(node, inputs):
    storage = [[None] for _ in node.outputs]
    node.op.perform(node, [copy.deepcopy(v) for v in inputs], storage)
    return [cell[0] for cell in storage]


def _kind(node):
    return None if node is None else getattr(node.op, "kind", None)


def _check_starts(node, read):
    """A state whose buffer is unset but for one write of its first rows needs as many rows as its taps read."""
    info = node.op.info
    for i, (taps, buffer) in enumerate(zip(info.mit_sot_in_slices, node.inputs[1 + info.n_seqs:])):
        write, needed = buffer.owner, -min(taps)
        if needed < 2 or _kind(write) != "inc_subtensor" or _kind(write.inputs[0].owner) != "alloc_empty":
            continue
        rows = read(write.inputs[1])
        if np.ndim(rows) == buffer.type.ndim and len(rows) < needed:
            raise ValueError(f"the initial state of recurrent output {i} has {len(rows)} rows, but its taps need {needed}")


def evaluate(order, outputs, values):
    """Return the values of outputs, given values of the leaves and the nodes in an order in which they can run."""
    values = dict(values)

    def read(variable):
        return variable.data if isinstance(variable, Constant) else values[variable]

    steps = {node.inputs[0] for node in order if _kind(node) == "scan"}
    for variable in steps & values.keys():
        _check_steps(values[variable])
    for node in order:
        if _kind(node) == "scan":
            _check_starts(node, read)
        compute = _KINDS.get(_kind(node), _perform)
        values.update(zip(node.outputs, compute(node, [read(v) for v in node.inputs])))
        for variable in steps.intersection(node.outputs):
            _check_steps(values[variable])
    return [read(v) for v in outputs]


class ReferenceFunction:
    """What ``pyscan.function(inputs, outputs, updates=updates)`` computes, by the twin, on values of its own.

    ``shared`` is a dict from shared variable to its present value (copied at the start); a call returns the outputs'
    values and moves the shared values by the updates, unless it raises.
    """

    def __init__(self, inputs, outputs, updates=(), shared=()):
        self.inputs, self.outputs = list(inputs), list(outputs)
        self.updates = dict(updates)
        self.shared = {v: copy.deepcopy(value) for v, value in dict(shared).items()}
        self.order = io_toposort(self.inputs + list(self.shared), self.outputs + list(self.updates.values()))

    def __call__(self, *arguments):
        values = {**self.shared, **dict(zip(self.inputs, arguments))}
        results = evaluate(self.order, self.outputs + list(self.updates.values()), values)
        self.shared.update(zip(self.updates, results[len(self.outputs):]))
        return results[:len(self.outputs)]
