"""NumPy's own functions on symbolic tensors: `np.sum(x)` and its kind build graph expressions, or refuse with advice.

Universal functions (`np.exp`) come by `__array_ufunc__` and the rows of UFUNCS, others (`np.sum`) by `__array_function__` and those
of FUNCTIONS. A row names the function of `pyscan.tensor` that takes the same arguments; NumPy's name is the default.
Imported when the first of them is called. Relies on `variable`.
"""

from __future__ import annotations

import numpy as np

import pyscan.tensor as at
from pyscan._core import Variable

UFUNCS = {
    "absolute": "abs",
    "fabs": "abs",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "true_divide",
    "remainder": "mod",
    "power": "pow",
    "float_power": "pow",
    "negative": "neg",
    "sign": "sgn",
    "rint": "round_half_to_even",
    "bitwise_and": "and_",
    "bitwise_or": "or_",
    "bitwise_xor": "xor",
    "conjugate": "conj",
    "radians": "deg2rad",
    "degrees": "rad2deg",
}

# A comparison is that of the variable, from whichever side it comes: its result has no truth value.
_COMPARISONS = {
    "less": ("__lt__", "__gt__"),
    "less_equal": ("__le__", "__ge__"),
    "greater": ("__gt__", "__lt__"),
    "greater_equal": ("__ge__", "__le__"),
}

# module of NumPy -> its functions, those of pyscan.tensor (or a module in it) by `numpy_name=name` where they differ.
FUNCTIONS = {
    "numpy": "sum prod mean var std max amax=max min amin=min ptp argmax argmin all any cumsum cumprod clip reshape transpose ravel=flatten "
    "squeeze expand_dims swapaxes moveaxis concatenate stack where zeros_like ones_like full_like empty_like diag diagonal "
    "outer tensordot dot sort argsort repeat tile roll take take_along_axis nonzero flatnonzero searchsorted bincount unique diff "
    "broadcast_to broadcast_arrays tril triu linspace logspace geomspace isclose real imag angle trace=nlinalg.trace shape choose compress "
    "atleast_1d atleast_2d atleast_3d kron=slinalg.kron cov",
    "numpy.linalg": "cholesky=slinalg.cholesky inv=nlinalg.inv det=nlinalg.det solve=slinalg.solve eigh=nlinalg.eigh svd=nlinalg.svd "
    "qr=nlinalg.qr pinv=nlinalg.pinv matrix_power=nlinalg.matrix_power norm=nlinalg.norm",
}


def _round(a, decimals=0):
    if decimals != 0:
        raise TypeError(f"rounding a symbolic tensor to {decimals} decimals: write at.round(x * 10**n) / 10**n")
    return at.round(a)


def _nonzero_bool(x):
    """Whether the elements of `x` are other than zero: what NumPy's logical functions look at."""
    x = at.as_tensor_variable(np.bool_(x) if isinstance(x, bool) else x)
    return x if x.type.dtype == "bool" else at.neq(x, 0)


# What no function of pyscan.tensor does by itself.
_OWN = {
    "numpy.round": _round,
    "numpy.around": _round,
    "numpy.ndim": lambda a: a.type.ndim,
    "numpy.size": lambda a, axis=None: a.size if axis is None else at.shape(a)[axis],
    "numpy.logical_and": lambda a, b: at.and_(_nonzero_bool(a), _nonzero_bool(b)),
    "numpy.logical_or": lambda a, b: at.or_(_nonzero_bool(a), _nonzero_bool(b)),
    "numpy.logical_xor": lambda a, b: at.xor(_nonzero_bool(a), _nonzero_bool(b)),
    "numpy.logical_not": lambda a: at.invert(_nonzero_bool(a)),
    "numpy.isfinite": lambda a: at.invert(at.or_(at.isnan(a), at.isinf(a))),
}


def _rows():
    rows = {}
    for module, names in FUNCTIONS.items():
        for row in names.split():
            name, _, ours = row.partition("=")
            rows[f"{module}.{name}"] = ours or name
    return rows


_ROWS = _rows()


def _refusal(arguments, called):
    """The TypeError for a function of NumPy's that has no counterpart, about the first symbolic argument."""
    x = next((a for a in _flat(arguments) if isinstance(a, Variable)), "an argument")
    return TypeError(
        f"{x} is symbolic, and there is no counterpart for it of NumPy's {called}. Use the functions of pyscan.tensor on it, and "
        f"{x}.eval(...) or pyscan.function for its value."
    )


def _flat(arguments):
    for a in arguments:
        if isinstance(a, (list, tuple)):
            yield from _flat(a)
        else:
            yield a


def call_ufunc(ufunc, method, inputs, kwargs):
    """The expression for NumPy's universal function of `inputs`, or NotImplemented where another operand's class may know one.

    TypeError for what has no counterpart.
    """
    name = ufunc.__name__
    if method == "__call__" and not kwargs:
        if ufunc is np.equal or ufunc is np.not_equal:
            return (ufunc is np.equal) == (inputs[0] is inputs[1])
        if name in _COMPARISONS:
            straight, swapped = _COMPARISONS[name]
            x, y = inputs
            return getattr(x, straight)(y) if isinstance(x, Variable) else getattr(y, swapped)(x)
        if name == "matmul" and all(at.as_tensor_variable(x).type.ndim <= 2 for x in inputs):
            name = "dot"  # as the operator of two variables
        function = _OWN.get(f"numpy.{name}") or getattr(at, UFUNCS.get(name, name), None)
        if function is not None:
            return function(*inputs)
    if not all(isinstance(x, (Variable, np.ndarray, np.generic)) or not hasattr(type(x), "__array_ufunc__") for x in inputs):
        return NotImplemented
    how = "" if method == "__call__" else f".{method}"
    with_what = f" with {', '.join(kwargs)}=" if kwargs else ""
    raise _refusal(inputs, f"{name}{how}{with_what}")


def call_function(function, args, kwargs):
    """The expression for a function of NumPy's that is none of the universal ones; TypeError for what has no counterpart."""
    name = f"{function.__module__}.{function.__name__}"
    if name in _OWN:
        return _OWN[name](*args, **kwargs)
    if name not in _ROWS:
        raise _refusal((*args, *kwargs.values()), function.__name__)
    ours = at
    for part in _ROWS[name].split("."):
        ours = getattr(ours, part)
    result = ours(*args, **kwargs)
    if name in ("numpy.all", "numpy.any"):
        result._is_nonzero = False  # `if np.any(x > 0)` must not be taken for true
    return result
