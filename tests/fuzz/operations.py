"""Forms of expressions that a generated body may contain: every operation of the package's tables, in every form it is written in.

A form takes the `Body` that is built (see strategies.py) and returns a (variable, shape) for its pool. Elementwise operations, the
functions of libraries and the dtypes come from the core's own tables, so that a new row is generated at once; `FORMS` has the others,
and test_generated_scans.py says which row of the tables no form reaches. The length of a result is what NumPy's function of the same
meaning gives for arrays of ones.
"""
import importlib.util
import platform
from functools import reduce as fold

import numpy as np
from hypothesis import strategies as st

import pyscan
import pyscan.tensor as at
from pyscan import _core
from pyscan.ifelse import ifelse
from pyscan.ops import deep_copy_op, view_op
from pyscan.raise_op import Assert
from pyscan.tensor import nlinalg, slinalg, special
from pyscan.tensor.elemwise import Elemwise, elemwise_ops
from pyscan.tensor.shape import shape_i, unbroadcast

WIDTH = 3  # length of every vector axis that is not 1, as inputs have them
DTYPES_OF = {kind: [row["name"] for row in _core.dtypes() if row["kind"] == kind] for kind in "biufc"}
KIND_OF = {name: kind for kind, names in DTYPES_OF.items() for name in names}
ROWS = _core.scalars()
HAS_SCIPY = importlib.util.find_spec("scipy") is not None
LIBRARY = list({id(op): op for op in vars(at).values() if isinstance(op, Elemwise) and op not in elemwise_ops.values()}.values()) if HAS_SCIPY else []
ON_X86 = platform.machine() in ("x86_64", "AMD64")
FORMS = []


def form(function):
    FORMS.append(function)
    return function


def dtypes(kinds):
    return [name for kind in kinds for name in DTYPES_OF[kind]]


def shape_of(function, *shapes):
    """The shape of what a function of NumPy gives for arrays of ones."""
    return np.shape(function(*[np.ones(shape) for shape in shapes]))


def choose(body, *options):
    return body.draw(st.sampled_from(options))


def axis_of(body, shape):
    return body.draw(st.integers(-len(shape), len(shape) - 1))


def tame(x):
    """Any variable as real floats between -8 and 8, without NaN."""
    if KIND_OF[x.dtype] == "c":
        x = at.real(x)
    x = x if KIND_OF[x.dtype] == "f" else at.cast(x, "float64")
    return at.clip(at.switch(at.isnan(x), 0.5, x), -8.0, 8.0)


def whole(body, low, high):
    """An integer scalar from low to high: a number, a constant or computed from the pool."""
    number = body.draw(st.integers(low, high))
    kind = choose(body, "number", "constant", "computed")
    if kind == "number":
        return number, number
    if kind == "constant":
        return at.constant(np.asarray(number, dtype=choose(body, "int64", "int8", "int32"))), number
    zero = at.cast(tame(body.pick()[0]).sum() * 0, "int64")
    return zero + number, number


def places(body, length, shape):
    """Integers that are indices of an axis of this length; now and then one that is not."""
    raw, _ = body.tensor("i", shape)
    return raw if body.draw(st.integers(0, 40)) == 0 else at.mod(raw, length) - choose(body, 0, 0, length)


# -- from the tables of rows -------------------------------------------------------------------------------------------

def elementwise(body, row=None):
    """A row of the table of elementwise operations (any, unless it is given), on dtypes that it takes, mixed as they come."""
    row = row or body.draw(st.sampled_from(ROWS))
    if LIBRARY and elemwise_ops[row["name"]].of_complex is not None and choose(body, True, False):
        return elemwise_ops[row["name"]](body.pick(*DTYPES_OF["c"])[0]), body.picked
    kinds = row["classes"] if row["rule"] not in ("FLOAT", "DIVIDE") else "biu" + row["classes"]
    n_in = row["n_in"] if row["n_in"] >= 0 else choose(body, 2, 3)
    operands, shape = [], ()
    for i in range(n_in):
        first = row["rule"] == "SWITCH" and i == 0
        operands.append(body.pick(*dtypes("b" if first else kinds), beside=shape)[0])
        shape = np.broadcast_shapes(shape, body.picked)
    numeric = operands[1:] if row["rule"] == "SWITCH" else operands
    common = np.dtype(fold(np.promote_types, [v.dtype for v in numeric]))
    if common.kind not in kinds:  # int64 beside uint64
        operands = operands[:len(operands) - len(numeric)] + [at.cast(v, numeric[0].dtype) for v in numeric]
    if row["name"] in ("floor_divide", "mod") and body.draw(st.integers(0, 3)):
        operands[1] = at.switch(at.eq(operands[1], 0), at.constant(np.asarray(3, dtype=operands[1].dtype)), operands[1])
    return elemwise_ops[row["name"]](*operands), shape


def library_function(body, op=None):
    """A function of SciPy (any, unless it is given), where SciPy is there."""
    if not LIBRARY:
        return elementwise(body)
    op = op or body.draw(st.sampled_from(LIBRARY))
    operands, shape = [], ()
    for _ in range(op.scalar_op.nin):
        x, _ = body.pick(*DTYPES_OF["f"], beside=shape)
        shape = np.broadcast_shapes(shape, body.picked)
        operands.append(at.clip(at.abs(tame(x)) * 0.11, 0.05, 0.95))
    return op(*operands), shape


@form
def cast(body):
    x, shape = body.pick()
    dtype = body.draw(st.sampled_from(dtypes("biufc")))
    if KIND_OF[x.dtype] == "c" and KIND_OF[dtype] != "c":
        x = at.real(x)
    is_open = dtype == "uint32" or not ON_X86 or choose(body, True, False)  # where C leaves it open, x86 decides; NumPy's uint32 has two ways
    if KIND_OF[x.dtype] == "f" and KIND_OF[dtype] in "iu" and is_open:
        x = tame(x) if KIND_OF[dtype] == "i" else at.abs(tame(x))
    return at.cast(x, dtype), shape


# -- joining and cutting -----------------------------------------------------------------------------------------------

@form
def joining(body):
    x, shape = body.tensor("biufc", 1)
    axis = axis_of(body, shape)
    others = [item for item in body.pool if len(item[1]) == len(shape)
              and np.delete(item[1], axis).tolist() == np.delete(shape, axis).tolist()]
    parts = [(x, shape)] + [body.draw(st.sampled_from(others)) for _ in range(body.draw(st.integers(0, 2)))] if others else [(x, shape)]
    join = choose(body, lambda tensors, axis: at.join(axis, *tensors), lambda tensors, axis: at.concatenate(tensors, axis=axis))
    result = np.concatenate([np.ones(s) for _, s in parts], axis=axis).shape
    if choose(body, True, False, False):
        symbolic = at.constant(np.asarray(axis % len(shape), dtype="int64"))
        return at.join(symbolic, *[v for v, _ in parts]), result
    return join([v for v, _ in parts], axis), result


@form
def stacking(body):
    x, shape = body.tensor("biufc", choose(body, 0, 1))
    same = [v for v, s in body.pool if s == shape]
    others = [body.draw(st.sampled_from(same)) if same else x for _ in range(body.draw(st.integers(1, 2)))]
    axis = choose(body, *range(-len(shape) - 1, len(shape) + 1))
    return at.stack([x, *others], axis=axis), shape_of(lambda *a: np.stack(a, axis=axis), *[shape] * (1 + len(others)))


@form
def stacking_rows(body):
    x, shape = body.tensor("biuf", (WIDTH,))
    how = choose(body, "vertical", "horizontal", "lists")
    if how == "lists":
        a, b = body.pick(*dtypes("if")), body.pick(*dtypes("if"))
        a, b = [at.max(v) if s and 0 not in s else v if not s else at.sum(v) for v, s in (a, b)]
        return at.stacklists([[a, b], [b, a]]), (2, 2)
    stacked = at.vertical_stack(x[None], x[None]) if how == "vertical" else at.horizontal_stack(x[:, None], x[:, None])
    return stacked, (2, WIDTH) if how == "vertical" else (WIDTH, 2)


@form
def splitting(body):
    x, shape = body.tensor("biufc", 1)
    axis = axis_of(body, shape)
    first = body.draw(st.integers(0, shape[axis]))
    wrong = body.draw(st.integers(0, 40)) == 0
    sizes = np.array([first, shape[axis] - first + wrong])
    sizes = at.constant(sizes) + 0 if choose(body, True, False) else sizes
    part = choose(body, 0, 1)
    lengths = list(shape)
    lengths[axis] = (first, shape[axis] - first)[part]
    return at.split(x, sizes, 2, axis=axis)[part], tuple(lengths)


# -- order and accumulation --------------------------------------------------------------------------------------------

@form
def sorting(body):
    x, shape = body.tensor("biufc", 1)
    axis = choose(body, None, *range(-len(shape), len(shape)))
    function = choose(body, at.sort, at.argsort)
    return function(x, axis=axis), shape_of(lambda a: np.sort(a, axis=axis), shape)


@form
def largest(body):
    x, shape = body.tensor("biuf", 1)
    if 0 in shape:
        return x[..., :0], (*shape[:-1], 0)
    count = choose(body, *(k for k in range(-shape[-1], shape[-1] + 1) if k != 0))
    return choose(body, at.topk, at.argtopk)(x, count), (*shape[:-1], abs(count))


@form
def distinguishing(body):
    """The place of each element, or slice, among the different ones, or how many of these there are."""
    x, shape = body.tensor("biufc", 1)
    axis = choose(body, None, *range(-len(shape), len(shape)))
    different, _, inverse, counts = at.unique(x, True, True, True, axis=axis)
    if choose(body, True, False):
        return inverse, (int(np.prod(shape)) if axis is None else shape[axis],)
    return at.sum(counts * counts) + different.shape[0 if axis is None else axis], ()


@form
def searching(body):
    x, _ = body.tensor("iuf", 1)
    x, (v, shape) = at.sort(tame(x).flatten()), body.pick(*dtypes("biuf"))
    return at.searchsorted(x, tame(v), side=choose(body, "left", "right")), shape


@form
def accumulation(body):
    x, shape = body.tensor("biufc", choose(body, 0, 1))
    axis = choose(body, None, *range(-len(shape), len(shape)))
    return choose(body, at.cumsum, at.cumprod)(x, axis=axis), shape_of(lambda a: np.cumsum(a, axis=axis), shape)


@form
def differences(body):
    x, shape = body.tensor("iufc", 1)
    axis = axis_of(body, shape)
    return at.diff(x, n=1, axis=axis), shape_of(lambda a: np.diff(a, axis=axis), shape)


@form
def repeating(body):
    x, shape = body.tensor("biufc", 1)
    how = choose(body, "number", "counts", "tile", "roll")
    axis = axis_of(body, shape)
    if how == "number":
        count, n = whole(body, 0, 2)
        return at.repeat(x, count, axis=axis), shape_of(lambda a: np.repeat(a, n, axis=axis), shape)
    if how == "counts":
        counts = np.array([body.draw(st.integers(0, 2)) for _ in range(shape[axis])], dtype="int64")
        return at.repeat(x, at.constant(counts) + 0, axis=axis), shape_of(lambda a: np.repeat(a, counts, axis=axis), shape)
    if how == "tile":
        times = choose(body, (2,), (2, 1), (1, 2), (3,))
        return at.tile(x, times, ndim=None if len(times) <= len(shape) else len(times)), shape_of(lambda a: np.tile(a, times), shape)
    return at.roll(x, whole(body, -2, 4)[0], axis=axis), shape


@form
def broadcasting(body):
    x, shape = body.pick(beside=(2, WIDTH))
    if len(shape) > 2 or body.draw(st.integers(0, 3)) == 0 or 0 in shape:
        return at.second(x, x), shape
    result = np.broadcast_shapes(shape, (2, WIDTH))
    return at.broadcast_to(x, tuple(at.as_tensor(np.int64(n)) + 0 if choose(body, True, False) else n for n in result)), result


# -- diagonals, new arrays ---------------------------------------------------------------------------------------------

@form
def diagonals(body):
    offset = body.draw(st.integers(-2, 2))
    if choose(body, True, False):
        x, shape = body.tensor("biufc", (WIDTH,))
        return at.diag(x, offset), shape_of(lambda a: np.diag(a, offset), shape)
    x, shape = body.tensor("iufc", (choose(body, 2, WIDTH), WIDTH))
    function, numpy = choose(body, (lambda a: at.diagonal(a, offset), lambda a: np.diagonal(a, offset)), (lambda a: at.tril(a, offset), np.tril),
                             (lambda a: at.triu(a, offset), np.triu), (lambda a: at.fill_diagonal(a, 1), np.abs), (nlinalg.trace, np.sum))
    return function(x), shape_of(numpy, shape)


@form
def ranges(body):
    start, a = whole(body, -2, 2)
    stop, b = whole(body, -2, 4)
    step = choose(body, 1, 2, -1)
    dtype = choose(body, None, "int32", "float64", "float32")
    return at.arange(start, stop, step, dtype=dtype), (len(range(a, b, step)),)


@form
def new_arrays(body):
    (n, rows), (m, columns) = whole(body, 0, 3), whole(body, 1, 3)
    dtype = body.draw(st.sampled_from(dtypes("biufc")))
    name = choose(body, "eye", "tri", "zeros", "ones", "full", "alloc", "linspace", "one_hot")
    if name in ("eye", "tri"):
        return getattr(at, name)(n, m, choose(body, -1, 0, 1), dtype=dtype), (rows, columns)
    if name in ("zeros", "ones"):
        return getattr(at, name)((n, m), dtype=dtype), (rows, columns)
    if name == "linspace":
        return at.linspace(0.0, tame(body.pick()[0]).sum(), 3), (3,)
    if name == "one_hot":
        return at.to_one_hot(places(body, WIDTH, (2,)) % WIDTH, WIDTH, dtype=dtype), (2, WIDTH)
    value = at.cast(tame(body.pick()[0]).sum(), choose(body, "float64", "int16", "complex64"))
    return at.full((n, m), value, dtype=None) if name == "full" else at.alloc(value, n, m), (rows, columns)


@form
def new_arrays_like(body):
    x, shape = body.pick()
    dtype = choose(body, None, *dtypes("biufc"))
    return choose(body, at.zeros_like, at.ones_like, lambda a, dtype: at.full_like(a, 2, dtype=dtype))(x, dtype=dtype), shape


# -- shape and layout --------------------------------------------------------------------------------------------------

@form
def layout(body):
    x, shape = body.tensor("biufc", choose(body, 1, 2))
    how = choose(body, "T", "flatten", "reshape", "minus", "padleft", "padright", "swap", "move", "expand", "atleast", "squeeze", "shuffle")
    n = len(shape)
    if how == "reshape":
        order = tuple(reversed(shape))
        return x.reshape(tuple(at.as_tensor(np.int64(k)) + 0 if choose(body, True, False) else k for k in order)), order
    if how == "minus" and 0 not in shape:
        return x.reshape((-1, shape[-1]), ndim=2), shape_of(lambda a: a.reshape(-1, shape[-1]), shape)
    if how == "swap":
        return at.swapaxes(x, 0, n - 1), shape_of(lambda a: np.swapaxes(a, 0, n - 1), shape)
    if how == "move":
        return at.moveaxis(x, 0, -1), shape_of(lambda a: np.moveaxis(a, 0, -1), shape)
    if how == "shuffle":
        return x.dimshuffle(*reversed(range(n)), "x"), (*reversed(shape), 1)
    table = {
        "T": lambda: (at.transpose(x), shape[::-1]),
        "padleft": lambda: (at.shape_padleft(x), (1, *shape)),
        "padright": lambda: (at.shape_padright(x), (*shape, 1)),
        "expand": lambda: (at.expand_dims(x, 1), (shape[0], 1, *shape[1:])),
        "squeeze": lambda: (choose(body, at.squeeze(at.shape_padaxis(x, 0), axis=0), unbroadcast(at.shape_padaxis(x, 0), 0)[0]), shape),
        "atleast": lambda: (at.atleast_2d(x), shape if n > 1 else (1, *shape)),
    }
    return table[how]() if how in table else (x.flatten(), (int(np.prod(shape)),))


@form
def lengths(body):
    x, shape = body.tensor("biufc", 1)
    how = choose(body, "shape", "one", "product", "specify", "scalar", "copy", "assert", "op")
    if how == "shape":
        return at.shape(x) + 0, (len(shape),)
    if how == "one":
        axis = axis_of(body, shape)
        return choose(body, x.shape[axis], shape_i(x, axis % len(shape))), ()
    if how == "specify":
        return at.specify_shape(x, [choose(body, None, n) for n in shape]), shape
    if how == "scalar":
        return at.tensor_from_scalar(at.scalar_from_tensor(at.cast(tame(x).sum(), "float64"))), ()
    if how == "copy":
        return at.tensor_copy(x), shape
    if how == "assert":
        return Assert("too far")(x, at.le(tame(x).sum(), choose(body, 1e9, 1e9, 1e9, 2.0))), shape
    if how == "op":
        return choose(body, deep_copy_op, view_op)(x), shape
    return at.prod(x.shape), ()


# -- indexing and writing ----------------------------------------------------------------------------------------------

def any_slice(body, length):
    """A slice of symbols, numbers and None, beside the slice of Python that it is."""
    bounds = [choose(body, None, 0, 1, -1, 2, length, -length - 1) for _ in range(2)]
    step = choose(body, None, None, 1, 2, -1, -2)
    symbols = [None if b is None else at.as_tensor(np.int64(b)) + 0 if choose(body, True, False, False) else b for b in bounds]
    return slice(*symbols, step), slice(*bounds, step)


def any_index(body, shape):
    """An index for a tensor of this shape, beside one of NumPy that selects the same lengths."""
    n = shape[0]
    how = choose(body, "slice", "slices", "integer", "rows", "matrix", "mask", "pairs", "behind", "newaxis", "symbol") if n else "slice"
    if how == "slices" and len(shape) > 1:
        pairs = [any_slice(body, k) for k in shape[:2]]
        return tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)
    if how == "integer":
        i = body.draw(st.integers(-n, n - 1))
        return i, i
    if how == "symbol":
        return at.mod(at.cast(tame(body.pick()[0]).sum(), "int64"), n), 0
    if how == "rows":
        return places(body, n, (WIDTH,)), np.zeros(WIDTH, dtype=int)
    if how == "matrix":
        return places(body, n, (2, WIDTH)), np.zeros((2, WIDTH), dtype=int)
    if how == "mask":
        mask = np.array([body.draw(st.booleans()) for _ in range(n)])
        return at.or_(at.constant(mask), at.constant(mask)), mask
    if how == "pairs" and len(shape) > 1 and shape[1]:
        return (places(body, n, (WIDTH,)), places(body, shape[1], (WIDTH,))), (np.zeros(WIDTH, dtype=int),) * 2
    if how == "behind" and len(shape) > 1 and shape[1]:
        own, numpy = any_slice(body, n)
        return (own, places(body, shape[1], (2,))), (numpy, np.zeros(2, dtype=int))
    if how == "newaxis":
        return (None, slice(None, None, -1)), (None, slice(None, None, -1))
    own, numpy = any_slice(body, n)
    return own, numpy


@form
def indexing(body):
    x, shape = body.tensor("biufc", 1)
    own, numpy = any_index(body, shape)
    return x[own], np.ones(shape)[numpy].shape


@form
def masking(body):
    """A mask whose number of elements is known when it runs alone: what it takes is added up."""
    x, shape = body.tensor("biufc", 1)
    mask = at.gt(tame(x), choose(body, 0.0, 1.0))
    taken = choose(body, lambda: x[mask], lambda: at.nonzero_values(at.switch(mask, x, at.cast(0, x.dtype))), lambda: at.flatnonzero(mask))()
    return at.sum(taken), ()


@form
def taking(body):
    x, shape = body.tensor("biufc", 1)
    if 0 in shape:
        return at.take(x, np.zeros(0, dtype="int64"), axis=0), (0, *shape[1:])
    axis = axis_of(body, shape)
    if choose(body, True, False):
        return at.take(x, places(body, shape[axis], (2,)), axis=axis, mode=choose(body, "raise", "wrap", "clip")), \
            shape_of(lambda a: np.take(a, [0, 0], axis=axis), shape)
    return at.take_along_axis(x, at.argsort(x, axis=axis), axis=axis), shape


@form
def choosing(body):
    """choose: the numbers broadcast with the choices, which are a list or a tensor."""
    x, shape = body.tensor("biufc", 1)
    if not shape[0]:
        return x, shape
    numbers = places(body, shape[0], (WIDTH,))
    if len(shape) > 1 and shape[-1] not in (1, WIDTH):
        numbers = numbers[:1]
    result = shape_of(lambda a, b: a + b[0], (1,) if len(shape) > 1 and shape[-1] not in (1, WIDTH) else (WIDTH,), shape)
    choices = [x[i] for i in range(shape[0])] if choose(body, True, False) else x
    return at.choose(numbers, choices, mode=choose(body, "raise", "wrap", "clip")), result


@form
def differing(body):
    """unique of numbers other than NaN: how many there are is known when it runs alone, so that what it gives is added up."""
    x, shape = body.tensor("biuf", choose(body, 0, 1))
    x = tame(x) if KIND_OF[x.dtype] == "f" else x
    values, first, places, counts = at.unique(x, True, True, True, axis=choose(body, None, axis_of(body, shape)) if shape else None)
    return choose(body, lambda: at.sum(values) + 0, lambda: at.sum(first), lambda: at.sum(places * 2), lambda: at.sum(counts))(), ()


@form
def writing(body):
    x, shape = body.tensor("biufc", 1)
    own, numpy = any_index(body, shape)
    region = np.ones(shape)[numpy].shape
    is_set = KIND_OF[x.dtype] == "b" or choose(body, True, False)
    if is_set and not all(isinstance(i, (int, slice, type(None))) for i in (numpy if isinstance(numpy, tuple) else (numpy,))):
        is_set = KIND_OF[x.dtype] == "b" or body.draw(st.booleans())
    value, value_shape = body.pick(*[d for d in dtypes("biufc") if np.can_cast(d, x.dtype)], beside=region)
    if len(value_shape) > len(region) or np.broadcast_shapes(value_shape, region) != region or value.ndim > x.ndim:
        value = at.constant(np.asarray(1, dtype=x.dtype))
    if isinstance(numpy, tuple) and numpy[0] is None:
        own = slice(None, None, -1)
        value = at.constant(np.asarray(1, dtype=x.dtype))
    return (at.set_subtensor if is_set else at.inc_subtensor)(x[own], value), shape


# -- reductions and products -------------------------------------------------------------------------------------------

@form
def reductions(body):
    name = choose(body, "sum", "prod", "max", "min", "mean", "var", "std", "all", "any", "argmax", "argmin", "ptp", "logsumexp", "softmax", "log_softmax", "norm")
    kinds = {"sum": "biufc", "prod": "biufc", "all": "b", "any": "b", "mean": "biufc"}.get(name, "iuf")
    x, shape = body.tensor(kinds, choose(body, 0, 1))
    axis = choose(body, None, *range(-len(shape), len(shape)))
    if name in ("softmax", "log_softmax"):
        return getattr(special, name)(tame(x), axis=axis), shape
    if name == "norm":
        return nlinalg.norm(tame(x).flatten(), choose(body, None, 1, np.inf)), ()
    if name == "ptp":
        return at.ptp(x, axis=axis), shape_of(lambda a: a.sum(axis=axis), shape)
    keepdims = choose(body, False, False, True)
    return getattr(at, name)(x, axis=axis, keepdims=keepdims), shape_of(lambda a: np.sum(a, axis=axis, keepdims=keepdims), shape)


@form
def products(body):
    name = choose(body, "dot", "matmul", "outer", "batched_dot", "tensordot")
    ranks = {"outer": ((1, 1),), "dot": ((1, 1), (2, 1), (1, 2), (2, 2)), "matmul": ((1, 1), (2, 1), (2, 2), (3, 2), (3, 3), (3, 1)),
             "batched_dot": ((3, 3), (2, 2), (2, 3), (3, 2)), "tensordot": ((2, 2), (3, 2), (1, 1))}[name]
    n, m = body.draw(st.sampled_from(ranks))
    a, sa = body.tensor("iufc", (2, WIDTH, WIDTH)[-n:] if name != "batched_dot" else (2, 2, WIDTH)[:n - 1] + (WIDTH,))
    b, sb = body.tensor("iufc", (2, WIDTH, WIDTH)[-m:] if name != "batched_dot" else (2, WIDTH, 2)[:m])
    numpy = {"outer": np.outer, "dot": np.dot, "matmul": np.matmul, "tensordot": lambda x, y: np.tensordot(x, y, 1),
             "batched_dot": lambda x, y: np.stack([np.dot(p, q) for p, q in zip(x, y)])}[name]
    return (at.tensordot(a, b, 1) if name == "tensordot" else getattr(at, name)(a, b)), shape_of(numpy, sa, sb)


# -- linear algebra ----------------------------------------------------------------------------------------------------

def matrix(body, definite):
    """A square matrix that is well conditioned (and symmetric positive definite), now and then any."""
    v, _ = body.tensor("fc", (WIDTH,))
    v = tame(v) if KIND_OF[v.dtype] == "f" else at.clip(at.real(v), -8.0, 8.0) + 1j * at.constant(np.array([0.5, -1.0, 2.0]))
    v = at.cast(v, choose(body, "float64", "float64", "float32")) if KIND_OF[v.dtype] == "f" else at.switch(at.isnan(v), 0.5, v)
    eye = at.eye(WIDTH, dtype=v.dtype)
    if not definite:
        return v[:, None] + eye * 40.0 if choose(body, True, True, False) else at.outer(v, v)
    return at.outer(v, at.conj(v)) + eye * 4.0 if body.draw(st.integers(0, 9)) else at.outer(v, v) - eye


@form
def algebra(body):
    name = choose(body, "inv", "det", "solve", "solve_positive", "triangular", "cholesky", "eigh", "svd", "qr", "power", "pinv", "eig", "lstsq")
    a = matrix(body, name in ("cholesky", "eigh", "solve_positive", "eig"))
    square = (WIDTH, WIDTH)
    lower = choose(body, True, False)
    if name == "inv":
        return nlinalg.inv(a), square
    if name == "det":
        return nlinalg.det(a), ()
    if name == "cholesky":
        return slinalg.cholesky(a, lower=lower, on_error=choose(body, "nan", "raise")), square
    if name == "eigh":
        part = choose(body, 0, 1)
        return nlinalg.eigh(a, "L" if lower else "U")[part], square[1 - part:]
    if name == "qr":
        return nlinalg.qr(a, choose(body, "reduced", "complete"))[choose(body, 0, 1)], square
    if name == "eig":
        part = choose(body, 0, 1)
        return nlinalg.eig(a)[part], square[1 - part:]
    if name == "power":
        return nlinalg.matrix_power(a, choose(body, 0, 1, 2, 3)), square
    if name == "pinv":
        return nlinalg.pinv(a), square
    if name == "svd":
        part = choose(body, 0, 1, 2)
        if choose(body, True, False):
            return nlinalg.svd(a, compute_uv=False), (WIDTH,)
        return nlinalg.svd(a[:2], full_matrices=lower)[part], ((2, 2), (2,), (3, 3) if lower else (2, 3))[part]
    b, shape = body.tensor("f", choose(body, (WIDTH,), (WIDTH, WIDTH)))
    b = tame(b)
    if name == "lstsq":
        part = choose(body, 0, 2, 3)
        return nlinalg.lstsq(a, b)[part], (shape, None, (), (WIDTH,))[part]
    if name == "triangular":
        return slinalg.solve_triangular(a, b, trans=choose(body, 0, 1, 2), lower=lower, unit_diagonal=choose(body, True, False)), shape
    return slinalg.solve(a, b, assume_a="pos" if name == "solve_positive" else choose(body, "gen", "sym"), lower=lower), shape


# -- loops within, branches --------------------------------------------------------------------------------------------

@form
def branches(body):
    x, shape = body.pick()
    same = [v for v, s in body.pool if s == shape and v.dtype == x.dtype]
    other = body.draw(st.sampled_from(same)) if same else x
    return ifelse(at.gt(tame(body.pick()[0]).sum(), 0.0), x * 1, other * 1), shape


@form
def folds(body):
    """map, reduce, foldl and foldr over a tensor of the pool."""
    x, shape = body.tensor("iuf", 1)
    x, name = tame(x), choose(body, "map", "reduce", "foldl", "foldr")
    if name == "map":
        return pyscan.map(lambda row: at.tanh(row) * 2.0, [x])[0], shape
    start = at.zeros(tuple(shape[1:]), dtype=x.dtype) + 0.25
    function = getattr(pyscan, name)
    return function(lambda row, s: at.cast(s * 0.5 + row, x.dtype), [x], [at.cast(start, x.dtype)])[0], shape[1:]
