"""Functions of statistics and combinatorics: softmax, log_softmax, factorial, poch.

Relies on `math`.
"""

from __future__ import annotations

from pyscan.tensor.basic import as_tensor_variable
from pyscan.tensor.math import exp, gamma, log, max, sub, sum, true_divide


def _shifted(c, axis):
    """`c` minus its largest element along `axis`, so that exponentials do not overflow."""
    return sub(c, max(c, axis=axis, keepdims=True))


def softmax(c, axis=-1):
    """exp(c) / sum(exp(c)) along `axis` (None: over all elements).

    Examples
    --------
    >>> import pyscan.tensor as at
    >>> softmax(at.dmatrix()).type
    TensorType(float64, (?, ?))
    """
    powers = exp(_shifted(as_tensor_variable(c), axis))
    return true_divide(powers, sum(powers, axis=axis, keepdims=True))


def log_softmax(c, axis=-1):
    """The logarithm of `softmax`, without its loss of precision."""
    shifted = _shifted(as_tensor_variable(c), axis)
    return sub(shifted, log(sum(exp(shifted), axis=axis, keepdims=True)))


def poch(z, m):
    """The Pochhammer symbol gamma(z + m) / gamma(z)."""
    return gamma(as_tensor_variable(z) + m) / gamma(z)


def factorial(n):
    """gamma(n + 1)."""
    return gamma(as_tensor_variable(n) + 1)
