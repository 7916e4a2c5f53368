"""The functions of `pyscan.tensor` that compute: elementwise ones, reductions, products.

Elementwise functions are the Elemwise objects of the core's table under their usual names; what NumPy calls differently has both
names. Relies on `elemwise`, `basic`, `shape`. Relied on by `extra_ops`, `special`, `nlinalg`.
"""

from __future__ import annotations

import builtins
from functools import lru_cache

import numpy as np

from pyscan import scalar
from pyscan._core import Apply, Op
from pyscan.scalar import complex_dtypes, dtype_kinds, dtype_name, upcast
from pyscan.tensor.basic import as_tensor_variable, cast, concatenate, constant, stack, switch
from pyscan.tensor.elemwise import (
    CAReduce,
    as_axes_tuple,
    dimshuffle,
    elemwise_ops,
    normalize_axes,
    python_elemwise,
    reduction,
)
from pyscan.tensor.shape import reshape, shape, transpose
from pyscan.tensor.type import tensor_type

add = elemwise_ops["add"]
sub = elemwise_ops["sub"]
mul = elemwise_ops["mul"]
true_divide = true_div = elemwise_ops["true_divide"]
floor_divide = floor_div = int_div = elemwise_ops["floor_divide"]
mod = elemwise_ops["mod"]
pow = power = elemwise_ops["pow"]
neg = elemwise_ops["neg"]
abs = abs_ = elemwise_ops["abs"]
sgn = elemwise_ops["sgn"]
maximum = elemwise_ops["scalar_maximum"]
minimum = elemwise_ops["scalar_minimum"]
eq, neq = elemwise_ops["eq"], elemwise_ops["neq"]
lt, le, gt, ge = (elemwise_ops[name] for name in ("lt", "le", "gt", "ge"))
and_ = bitwise_and = elemwise_ops["and_"]
or_ = bitwise_or = elemwise_ops["or_"]
xor = bitwise_xor = elemwise_ops["xor"]
invert = bitwise_not = elemwise_ops["invert"]
exp, exp2, expm1 = elemwise_ops["exp"], elemwise_ops["exp2"], elemwise_ops["expm1"]
log, log2, log10, log1p = (elemwise_ops[name] for name in ("log", "log2", "log10", "log1p"))
sqrt = elemwise_ops["sqrt"]
square = sqr = elemwise_ops["square"]
reciprocal = inv = elemwise_ops["reciprocal"]
sin, cos, tan = elemwise_ops["sin"], elemwise_ops["cos"], elemwise_ops["tan"]
arcsin, arccos, arctan, arctan2 = (elemwise_ops[name] for name in ("arcsin", "arccos", "arctan", "arctan2"))
sinh, cosh, tanh = elemwise_ops["sinh"], elemwise_ops["cosh"], elemwise_ops["tanh"]
arcsinh, arccosh, arctanh = elemwise_ops["arcsinh"], elemwise_ops["arccosh"], elemwise_ops["arctanh"]
deg2rad, rad2deg = elemwise_ops["deg2rad"], elemwise_ops["rad2deg"]
ceil, floor, trunc = elemwise_ops["ceil"], elemwise_ops["floor"], elemwise_ops["trunc"]
round_half_to_even = elemwise_ops["round_half_to_even"]
round_half_away_from_zero = elemwise_ops["round_half_away_from_zero"]
sigmoid = expit = elemwise_ops["sigmoid"]
softplus = log1pexp = elemwise_ops["softplus"]
log1mexp = elemwise_ops["log1mexp"]
gamma, gammaln = elemwise_ops["gamma"], elemwise_ops["gammaln"]
erf, erfc = elemwise_ops["erf"], elemwise_ops["erfc"]
isnan, isinf = elemwise_ops["isnan"], elemwise_ops["isinf"]
real, imag, angle = elemwise_ops["real"], elemwise_ops["imag"], elemwise_ops["angle"]
complex, complex_from_polar = elemwise_ops["complex"], elemwise_ops["complex_from_polar"]
clip = elemwise_ops["clip"]


def scipy_special(what="this special function"):
    """SciPy's special functions, imported when one is first called; without SciPy an ImportError that says what needs it."""
    try:
        import scipy.special
    except ImportError:
        raise ImportError(f"{what} needs SciPy: pip install 'pyscan[scipy]'") from None
    return scipy.special


def _scipy(name, *first, swapped=False):
    """SciPy's special function `name` with the arguments `first` in front; `swapped`: with two arguments in reverse order."""

    def function(*args):
        return getattr(scipy_special(), name)(*first, *(args[::-1] if swapped else args))

    return function


def _scipy_product(name, of_first):
    """(k, x) -> the product of `name` of (k, x) and `of_first` of k."""

    def function(k, x):
        return getattr(scipy_special(), name)(k, x) * getattr(scipy_special(), of_first)(k)

    return function


erfinv = python_elemwise("erfinv", 1, _scipy("erfinv"), "inverse of the error function")
erfcinv = python_elemwise("erfcinv", 1, _scipy("erfcinv"), "inverse of erfc")
erfcx = python_elemwise("erfcx", 1, _scipy("erfcx"), "exp(x**2) * erfc(x)")
psi = digamma = python_elemwise("psi", 1, _scipy("psi"), "derivative of gammaln", classes="fc")
gamma.of_complex = python_elemwise("gamma", 1, _scipy("gamma"), "gamma function of complex numbers", classes="c")
erf.of_complex = python_elemwise("erf", 1, _scipy("erf"), "error function of complex numbers", classes="c")
j0 = python_elemwise("j0", 1, _scipy("j0"), "Bessel function of the first kind of order 0")
j1 = python_elemwise("j1", 1, _scipy("j1"), "Bessel function of the first kind of order 1")
jv = python_elemwise("jv", 2, _scipy("jv"), "Bessel function of the first kind of order v")
i0 = python_elemwise("i0", 1, _scipy("i0"), "modified Bessel function of the first kind of order 0")
i1 = python_elemwise("i1", 1, _scipy("i1"), "modified Bessel function of the first kind of order 1")
iv = python_elemwise("iv", 2, _scipy("iv"), "modified Bessel function of the first kind of order v")
gammainc = python_elemwise("gammainc", 2, _scipy("gammainc"), "regularized lower incomplete gamma function of (k, x)")
gammaincc = python_elemwise("gammaincc", 2, _scipy("gammaincc"), "regularized upper incomplete gamma function of (k, x)")
gammau = python_elemwise("gammau", 2, _scipy_product("gammaincc", "gamma"), "upper incomplete gamma function of (k, x)", library="gammaincc", times_gamma=True)
gammal = python_elemwise("gammal", 2, _scipy_product("gammainc", "gamma"), "lower incomplete gamma function of (k, x)", library="gammainc", times_gamma=True)
chi2sf = python_elemwise("chi2sf", 2, _scipy("chdtrc", swapped=True), "survival function of (x, k) of the chi-squared law", library="chdtrc", order=(1, 0))
tri_gamma = python_elemwise("tri_gamma", 1, _scipy("polygamma", 1), "second derivative of gammaln", library="zeta", order=(-2, 0))
owens_t = python_elemwise("owens_t", 2, _scipy("owens_t"), "Owen's T function of (h, a)")
hyp2f1 = python_elemwise("hyp2f1", 4, _scipy("hyp2f1"), "Gauss hypergeometric function of (a, b, c, z)")
betainc = python_elemwise("betainc", 3, _scipy("betainc"), "regularized incomplete beta function of (a, b, x)")


def conj(z):
    """The complex conjugate; a real tensor is returned as it is."""
    z = as_tensor_variable(z)
    return elemwise_ops["conj"](z) if z.type.dtype in complex_dtypes else z


conjugate = conj


def divmod(x, y):
    """(x // y, x % y)."""
    return floor_divide(x, y), mod(x, y)


def round(a, mode=None):
    """`a` rounded to integers: halves to even (the default), or `mode="half_away_from_zero"`."""
    if mode in (None, "half_to_even"):
        return round_half_to_even(a)
    if mode == "half_away_from_zero":
        return round_half_away_from_zero(a)
    raise ValueError(f"round mode {mode!r} is not implemented: to round {a}, `mode` must be 'half_to_even', 'half_away_from_zero' or None.")


def iround(a, mode=None):
    """`round`, as int64."""
    return cast(round(a, mode), "int64")


def ceil_intdiv(a, b):
    """The quotient of two integers, rounded up."""
    quotient = floor_divide(a, b)
    return cast(quotient + neq(mod(a, b), 0), quotient.type.dtype)


# --- reductions ---

_WIDE = {"float32": "float64", "complex64": "complex128"}


def _sum_dtype(dtype):
    """The dtype of a sum: integers and bools are counted in 64 bits."""
    return {"b": "int64", "i": "int64", "u": "uint64"}.get(dtype_kinds[dtype], dtype)


class _Accumulation(CAReduce):
    """A reduction that accumulates in a wider dtype than its input's."""

    def dtypes_for(self, input_dtype):
        dtype = _sum_dtype(input_dtype) if self.dtype is None else dtype_name(self.dtype)
        if self.acc_dtype is not None:
            acc_dtype = dtype_name(self.acc_dtype)
            if upcast(input_dtype, acc_dtype) != acc_dtype:
                raise TypeError(
                    f"Cannot build {self} node with input dtype {input_dtype} and acc_dtype {acc_dtype}, as precision would be lost. "
                    "To correct this error, you can:\n  - not specify acc_dtype, or\n  - use an acc_dtype at least as precise as "
                    f'{input_dtype}.\n  - specify "dtype" instead of "acc_dtype", so the reduction will be precise, but the result will '
                    'be casted into "dtype" at the end.'
                )
            return dtype, acc_dtype
        acc_dtype = _sum_dtype(input_dtype)
        return dtype, _WIDE.get(acc_dtype, acc_dtype)


class Sum(_Accumulation):
    """The sum over some axes."""

    reduce_name = "add"
    scalar_op = scalar.add

    def __str__(self):
        parts = [] if self.axis is None else [f"axis=[{', '.join(map(str, self.axis))}]"]
        if self.acc_dtype is not None:
            parts.append(f"acc_dtype={self.acc_dtype}")
        return f"Sum{{{', '.join(parts)}}}" if parts else "Sum"


class Prod(_Accumulation):
    """The product over some axes."""

    reduce_name = "mul"
    scalar_op = scalar.mul
    no_zeros_in_input = False

    def __str__(self):
        return (
            f"Prod{{scalar_op={self.scalar_op!r}, axis={self.axis!r}, dtype={self.dtype!r}, acc_dtype={self.acc_dtype!r}, "
            f"no_zeros_in_input={self.no_zeros_in_input}}}"
        )


class _BoolReduce(CAReduce):
    def dtypes_for(self, input_dtype):
        return "bool", "bool"

    def make_node(self, x):
        x = as_tensor_variable(x)
        return super().make_node(x if x.type.dtype == "bool" else neq(x, 0))


class All(_BoolReduce):
    """Whether all elements along some axes are true."""

    reduce_name = "and"
    scalar_op = scalar.and_


class Any(_BoolReduce):
    """Whether any element along some axes is true."""

    reduce_name = "or"
    scalar_op = scalar.or_


def keep_dims(x, reduced, axis):
    """`reduced` with the axes of `x` that were reduced (None: all) put back as axes of size 1."""
    x = as_tensor_variable(x)
    axes = range(x.type.ndim) if axis is None else normalize_axes(axis, x.type.ndim)
    order, i = [], 0
    for a in range(x.type.ndim):
        if a in axes:
            order.append("x")
        else:
            order.append(i)
            i += 1
    return dimshuffle(reduced, order)


makeKeepDims = keep_dims


def sum(input, axis=None, dtype=None, keepdims=False, acc_dtype=None):
    """The sum over `axis` (None: all axes).

    Integers and bools are summed as int64 (uint64), float32 in float64 and rounded at the end; `dtype` sets the result's dtype,
    `acc_dtype` the dtype in which it is accumulated.

    Examples
    --------
    >>> import pyscan.tensor as at
    >>> print(sum(at.fmatrix(), axis=0).owner.op)
    Sum{axis=[0], acc_dtype=float64}
    """
    input = as_tensor_variable(input)
    result = reduction(Sum, as_axes_tuple(axis), dtype, acc_dtype)(input)
    return keep_dims(input, result, axis) if keepdims else result


def prod(input, axis=None, dtype=None, keepdims=False, acc_dtype=None, no_zeros_in_input=False):
    """The product over `axis` (None: all axes); dtypes as in `sum`."""
    input = as_tensor_variable(input)
    result = reduction(Prod, as_axes_tuple(axis), dtype, acc_dtype)(input)
    return keep_dims(input, result, axis) if keepdims else result


def all(x, axis=None, keepdims=False):
    """Whether all elements along `axis` are true."""
    x = as_tensor_variable(x)
    result = reduction(All, as_axes_tuple(axis))(x)
    return keep_dims(x, result, axis) if keepdims else result


def any(x, axis=None, keepdims=False):
    """Whether any element along `axis` is true."""
    x = as_tensor_variable(x)
    result = reduction(Any, as_axes_tuple(axis))(x)
    return keep_dims(x, result, axis) if keepdims else result


class MaxAndArgmax(Op):
    """Tensor -> the largest elements along `axis` (a tuple), and their places (int64). NaN wins; of equal ones, the first."""

    kind = "max_and_argmax"
    __props__ = ("axis",)

    def __init__(self, axis):
        self.axis = tuple(axis)

    def make_node(self, x):
        x = as_tensor_variable(x)
        if x.type.dtype in complex_dtypes:
            raise TypeError("complex argument not supported by MaxAndArgmax")
        axis = normalize_axes(self.axis, x.type.ndim)
        lengths = tuple([1 if s == 1 else None for i, s in enumerate(x.type.shape) if i not in axis])
        return Apply(self, [x], [tensor_type(x.type.dtype, lengths)("max"), tensor_type("int64", lengths)("argmax")])

    def __str__(self):
        return f"MaxAndArgmax{{axis={self.axis}}}"


@lru_cache(maxsize=256)
def _max_and_argmax_op(axis):
    return MaxAndArgmax(axis)


def _all_or_sorted_axes(x, axis):
    axes = normalize_axes(as_axes_tuple(axis), x.type.ndim)
    return tuple(range(x.type.ndim)) if axes is None else tuple(sorted(set(axes)))


def max_and_argmax(a, axis=None, keepdims=False):
    """[largest elements along `axis`, their places]; the places are counted along the reduced axes in C order."""
    a = as_tensor_variable(a)
    axes = _all_or_sorted_axes(a, axis)
    largest, place = _max_and_argmax_op(axes)(a)
    return [keep_dims(a, largest, axes), keep_dims(a, place, axes)] if keepdims else [largest, place]


def max(x, axis=None, keepdims=False):
    """The largest element along `axis` (None: of all); NaN wins."""
    return max_and_argmax(x, axis, keepdims)[0]


def argmax(x, axis=None, keepdims=False):
    """The place of the largest element along `axis` (None: in the flattened tensor)."""
    return max_and_argmax(x, axis, keepdims)[1]


def _mirrored(x):
    """A tensor whose order is the reverse of that of `x`; doing it twice gives `x` back."""
    kind = dtype_kinds[x.type.dtype]
    if kind in "bi":
        return invert(x)  # not the negation, which the least integer does not have
    if kind == "u":
        return sub(constant(np.iinfo(x.type.dtype).max, dtype=x.type.dtype), x)
    return neg(x)


def min(x, axis=None, keepdims=False):
    """The smallest element along `axis` (None: of all); NaN wins."""
    return _mirrored(max(_mirrored(as_tensor_variable(x)), axis, keepdims))


def argmin(x, axis=None, keepdims=False):
    """The place of the smallest element along `axis` (None: in the flattened tensor)."""
    return argmax(_mirrored(as_tensor_variable(x)), axis, keepdims)


def smallest(*args):
    """The smallest of several tensors, element by element."""
    if len(args) == 2:
        a, b = args
        return switch(lt(a, b), a, b)
    return min(stack(args), axis=0)


def largest(*args):
    """The largest of several tensors, element by element."""
    if len(args) == 2:
        a, b = args
        return switch(gt(a, b), a, b)
    return max(stack(args), axis=0)


def ptp(a, axis=None):
    """The largest minus the smallest element along `axis`."""
    a = as_tensor_variable(a)
    return max(a, axis) - min(a, axis)


def mean(input, axis=None, dtype=None, op=False, keepdims=False, acc_dtype=None):
    """The mean over `axis` (None: all axes); of integers and bools it is float64."""
    input = as_tensor_variable(input)
    total = sum(input, axis=axis, dtype=dtype, keepdims=keepdims, acc_dtype=acc_dtype)
    lengths = cast(shape(input), "float32" if total.type.dtype in ("float32", "complex64") else "float64")
    axes = normalize_axes(as_axes_tuple(axis), input.type.ndim)
    for i in range(input.type.ndim) if axes is None else axes:
        total = true_divide(total, lengths[i])
    if dtype_kinds[total.type.dtype] in "biu":
        total = cast(total, "float64")  # no axis was divided by
    if total.owner is not None and total is not input:
        total.name = "mean"
    return total


def var(input, axis=None, ddof=0, keepdims=False, corrected=False):
    """The variance over `axis` (None: all axes): squared differences from the mean over the number of elements minus `ddof`.

    `corrected` subtracts the square of what rounding left of the mean difference.
    """
    input = as_tensor_variable(input)
    axes = normalize_axes(as_axes_tuple(axis), input.type.ndim)
    axes = tuple(range(input.type.ndim)) if axes is None else axes
    centred = sub(input, mean(input, axes, keepdims=True))
    result = _mean_over(pow(centred, constant(2, dtype=centred.type.dtype)), input, axes, ddof, keepdims)
    if corrected:
        result = result - square(_mean_over(centred, input, axes, ddof, keepdims))
    result.name = "var"
    return result


def _mean_over(x, counted, axes, ddof, keepdims):
    if ddof == 0:
        return mean(x, axes, keepdims=keepdims)
    lengths = shape(counted) - ddof
    total = sum(x, axis=axes, keepdims=keepdims)
    for i in axes:
        total = true_divide(total, lengths[i])
    return total


def std(input, axis=None, ddof=0, keepdims=False, corrected=False):
    """The standard deviation: the square root of `var`."""
    result = sqrt(var(input, axis, ddof, keepdims, corrected))
    result.name = "std"
    return result


def logaddexp(*xs):
    """log(exp(a) + exp(b) + ...)."""
    return log(add(*[exp(x) for x in xs]))


def logsumexp(x, axis=None, keepdims=False):
    """log(sum(exp(x))) over `axis`."""
    return log(sum(exp(x), axis=axis, keepdims=keepdims))


def isclose(a, b, rtol=1.0e-5, atol=1.0e-8, equal_nan=False):
    """Whether |a - b| <= atol + rtol * |b|, element by element; infinities are close to themselves only."""
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    near = and_(le(abs(sub(a, b)), add(atol, mul(rtol, abs(b)))), invert(isinf(b)))
    result = or_(near, eq(a, b))
    return or_(result, and_(isnan(a), isnan(b))) if equal_nan else result


def allclose(a, b, rtol=1.0e-5, atol=1.0e-8, equal_nan=False):
    """Whether `isclose` holds for all elements."""
    return all(isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan))


# --- products ---


class Dot(Op):
    """The product of two tensors of rank 1 or 2."""

    kind = "dot"
    __props__ = ()

    def make_node(self, x, y):
        x, y = as_tensor_variable(x), as_tensor_variable(y)
        for i, z in enumerate((x, y)):
            if z.type.ndim not in (1, 2):
                raise TypeError(f"Input {i} (0-indexed) must have ndim of 1 or 2, {z.type.ndim} given. Consider calling pyscan.tensor.dot instead.")
        static = x.type.shape[:-1] + y.type.shape[1:] if y.type.ndim == 2 else x.type.shape[:-1]
        return Apply(self, [x, y], [tensor_type(upcast(x.type.dtype, y.type.dtype), static)()])

    def __str__(self):
        return "dot"


_dot = Dot()


def dot(l, r):  # noqa: E741
    """The matrix product; with a scalar the elementwise one; of tensors over the last axis of `l` and the last but one of `r`.

    Examples
    --------
    >>> import pyscan.tensor as at
    >>> dot(at.dmatrix(), at.dvector()).type
    TensorType(float64, (?,))
    """
    l, r = as_tensor_variable(l), as_tensor_variable(r)  # noqa: E741
    if l.type.ndim == 0 or r.type.ndim == 0:
        return mul(l, r)
    if l.type.ndim > 2 or r.type.ndim > 2:
        return tensordot(l, r, [[l.type.ndim - 1], [builtins.max(0, r.type.ndim - 2)]])
    return _dot(l, r)


def dense_dot(a, b):
    """`dot`."""
    return dot(a, b)


def outer(x, y):
    """The product of every element of `x` with every one of `y`, as a matrix."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    x = x.flatten() if x.type.ndim != 1 else x
    y = y.flatten() if y.type.ndim != 1 else y
    return _dot(dimshuffle(x, (0, "x")), dimshuffle(y, ("x", 0)))


def _product_of(lengths):
    """The product of symbolic lengths; 1 for none of them."""
    result = None
    for length in lengths:
        result = length if result is None else mul(result, length)
    return constant(1, dtype="int64") if result is None else result


def tensordot(a, b, axes=2):
    """The sum of products over some axes of both tensors.

    Parameters
    ----------
    axes : int, or a pair of ints or lists
        n: the last n axes of `a` and the first n of `b`; else the axes of `a` and of `b` that are paired.
    """
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    if isinstance(axes, (int, np.integer)):
        if axes < 0 or axes > builtins.min(a.type.ndim, b.type.ndim):
            raise ValueError(f"axes should be 0 <= axes <= {builtins.min(a.type.ndim, b.type.ndim)}; got {axes}.")
        over_a, over_b = list(range(a.type.ndim - axes, a.type.ndim)), list(range(axes))
    else:
        over_a, over_b = (list(np.atleast_1d(part)) for part in axes)
        over_a = list(normalize_axes(tuple(over_a), a.type.ndim))
        over_b = list(normalize_axes(tuple(over_b), b.type.ndim))
    if len(over_a) != len(over_b):
        raise ValueError(f"Axes elements must have the same length: {over_a}, {over_b}.")
    keep_a = [i for i in range(a.type.ndim) if i not in over_a]
    keep_b = [i for i in range(b.type.ndim) if i not in over_b]
    lengths_a, lengths_b = shape(a), shape(b)
    n_summed = _product_of([lengths_a[i] for i in over_a])
    rows = reshape(_permuted(a, keep_a + over_a), [_product_of([lengths_a[i] for i in keep_a]), n_summed])
    summed_b = _product_of([lengths_b[i] for i in over_b])
    columns = reshape(_permuted(b, over_b + keep_b), [summed_b, _product_of([lengths_b[i] for i in keep_b])])
    lengths = [lengths_a[i] for i in keep_a] + [lengths_b[i] for i in keep_b]
    product = _dot(rows, columns)
    return reshape(product, lengths if lengths else np.zeros(0, dtype="int64"))


def _permuted(x, order):
    return x if order == list(range(x.type.ndim)) else dimshuffle(x, order)


class BatchedDot(Op):
    """The products of the parts of two tensors (rank 2 or 3) along their first axes."""

    kind = "batched_dot"
    __props__ = ()

    def make_node(self, x, y):
        x, y = as_tensor_variable(x), as_tensor_variable(y)
        for z in (x, y):
            if z.type.ndim not in (2, 3):
                raise TypeError(f"Inputs to batched dot must have 2 or 3 dimensions, got {z.type.ndim}")
        first = 1 if x.type.shape[0] == 1 and y.type.shape[0] == 1 else None
        rest = x.type.broadcastable[1:-1] + y.type.broadcastable[2:]
        static = (first, *[1 if b else None for b in rest])
        return Apply(self, [x, y], [tensor_type(upcast(x.type.dtype, y.type.dtype), static)()])

    def perform(self, node, inputs, output_storage):
        x, y = inputs
        if x.shape[0] != y.shape[0]:
            raise TypeError(f"Inputs [{x.shape}, {y.shape}] must have the same size in axis 0.")
        x3 = x[:, None, :] if x.ndim == 2 else x
        y3 = y[:, :, None] if y.ndim == 2 else y
        product = np.matmul(x3, y3)
        product = product[:, 0] if x.ndim == 2 else product
        output_storage[0][0] = np.ascontiguousarray(product[..., 0] if y.ndim == 2 else product)


_batched_dot = BatchedDot()


def batched_dot(a, b):
    """`dot(a[i], b[i])` for every i, stacked along the first axis."""
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    if a.type.ndim == 0 or b.type.ndim == 0:
        raise TypeError("a and b must have at least one (batch) axis")
    if a.type.ndim == 1:
        return mul(a.dimshuffle(0, *["x"] * (b.type.ndim - 1)), b)
    if b.type.ndim == 1:
        return mul(a, b.dimshuffle(0, *["x"] * (a.type.ndim - 1)))
    if a.type.ndim > 3 or b.type.ndim > 3:
        raise TypeError("batched_dot takes tensors of rank 3 at most; use matmul")
    return _batched_dot(a, b)


def batched_tensordot(x, y, axes=2):
    """`tensordot(x[i], y[i], ...)` for every i, stacked along the first axis.

    Parameters
    ----------
    axes : int, or a pair of ints or lists
        n: the last n axes of `x` and the first n of `y` behind the batch's; else the axes of `x` and of `y` that are paired, counted
        with the batch's axis, which is 0 and can't be among them.

    Raises
    ------
    ValueError
        Pairs of different lengths, axis 0, and more axes than there are.

    Examples
    --------
    >>> import pyscan.tensor as at
    >>> batched_tensordot(at.dtensor3(), at.dtensor3(), [[2], [2]]).type
    TensorType(float64, (?, ?, ?))
    """
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    if x.type.ndim == 0 or y.type.ndim == 0:
        raise TypeError("batched_tensordot takes tensors with one (batch) axis at least")
    if isinstance(axes, (int, np.integer)):
        most = builtins.min(x.type.ndim, y.type.ndim) - 1
        if not 0 <= axes <= most:
            raise ValueError(f"axes should be 0 <= axes <= {most}; got {axes}.")
        axes = range(x.type.ndim - axes, x.type.ndim), range(1, 1 + axes)
    over_x, over_y = (list(normalize_axes(tuple(np.atleast_1d(part)), z.type.ndim)) for part, z in zip(axes, (x, y)))
    if len(over_x) != len(over_y):
        raise ValueError(f"Axes elements must have the same length: {over_x}, {over_y}.")
    if 0 in over_x or 0 in over_y:
        raise ValueError(f"axis 0 is the batch's and can't be summed over: {over_x}, {over_y}.")
    keep_x, keep_y = ([i for i in range(1, z.type.ndim) if i not in over] for z, over in ((x, over_x), (y, over_y)))
    lengths_x, lengths_y = shape(x), shape(y)
    n_summed, batch = _product_of([lengths_x[i] for i in over_x]), lengths_x[0]
    rows = reshape(_permuted(x, [0, *keep_x, *over_x]), [batch, _product_of([lengths_x[i] for i in keep_x]), n_summed])
    summed_y = _product_of([lengths_y[i] for i in over_y])
    columns = reshape(_permuted(y, [0, *over_y, *keep_y]), [lengths_y[0], summed_y, _product_of([lengths_y[i] for i in keep_y])])
    return reshape(_batched_dot(rows, columns), [batch, *[lengths_x[i] for i in keep_x], *[lengths_y[i] for i in keep_y]])


class MatMul(Op):
    """NumPy's matmul; tensors of rank above 2 are stacks of matrices."""

    kind = "matmul"
    __props__ = ("dtype",)

    def __init__(self, dtype=None):
        self.dtype = dtype

    def make_node(self, x, y):
        x, y = as_tensor_variable(x), as_tensor_variable(y)
        if x.type.ndim == 0 or y.type.ndim == 0:
            raise ValueError("matmul cannot perform dot product on scalar.")
        dtype = upcast(x.type.dtype, y.type.dtype) if self.dtype is None else dtype_name(self.dtype)
        if builtins.max(x.type.ndim, y.type.ndim) <= 2:
            x, y = cast(x, dtype), cast(y, dtype)
            static = _dot.make_node(x, y).outputs[0].type.shape
            return Apply(_matrix_matmul(self.dtype), [x, y], [tensor_type(dtype, static)()])
        n_batch = builtins.max(x.type.ndim, y.type.ndim) - 2
        static = (None,) * (n_batch + (x.type.ndim > 1) + (y.type.ndim > 1))
        return Apply(self, [x, y], [tensor_type(dtype, static)()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(np.matmul(*inputs, dtype=node.outputs[0].type.dtype))

    def __str__(self):
        return f"MatMul{{dtype={self.dtype!r}}}"


class MatrixMatMul(MatMul):
    """A MatMul of vectors and matrices, which is a dot."""

    kind = "dot"


@lru_cache(maxsize=32)
def _matrix_matmul(dtype):
    return MatrixMatMul(dtype)


def matmul(x1, x2, dtype=None):
    """NumPy's matmul: stacks of matrices are broadcast against each other."""
    return MatMul(dtype=dtype)(x1, x2)


def matrix_dot(*args):
    """The product of several matrices."""
    result = args[0]
    for matrix in args[1:]:
        result = dot(result, matrix)
    return result


def cov(m, y=None, rowvar=True, bias=False, ddof=None):
    """The covariance matrix of the variables in the rows of `m` (columns when `rowvar` is False)."""
    m = as_tensor_variable(m)
    m = dimshuffle(m, ("x", 0)) if m.type.ndim == 1 else m if rowvar else transpose(m)
    if y is not None:
        y = as_tensor_variable(y)
        y = dimshuffle(y, ("x", 0)) if y.type.ndim == 1 else y if rowvar else transpose(y)
        m = concatenate([m, y], axis=0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    centred = m - mean(m, axis=1, keepdims=True)
    return dot(centred, transpose(conj(centred))) / (m.shape[1] - ddof)


