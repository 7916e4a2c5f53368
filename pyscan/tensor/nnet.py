"""Activations and losses of neural networks: the elementwise ones, softmax and cross-entropies.

Relies on `basic`, `math` and `special`.
"""

from __future__ import annotations

from pyscan.tensor.basic import arange, as_tensor_variable, constant, switch
from pyscan.tensor.math import abs, clip, expm1, log, neg, sigmoid, softplus, sum
from pyscan.tensor.special import log_softmax, softmax

__all__ = [
    "binary_crossentropy", "categorical_crossentropy", "crossentropy_categorical_1hot", "elu", "hard_sigmoid", "logsoftmax", "relu", "selu",
    "sigmoid", "sigmoid_binary_crossentropy", "softmax", "softplus", "softsign",
]

logsoftmax = log_softmax


def relu(x, alpha=0):
    """x where it is positive, and elsewhere 0, or alpha * x.

    Examples
    --------
    >>> import pyscan.tensor as at
    >>> relu(at.as_tensor_variable([-2.0, 3.0])).eval().tolist()
    [0.0, 3.0]
    """
    if isinstance(alpha, (int, float)) and alpha == 0:
        return 0.5 * (x + abs(x))
    alpha = as_tensor_variable(alpha)
    return 0.5 * (1 + alpha) * x + 0.5 * (1 - alpha) * abs(x)


def elu(x, alpha=1):
    """x where it is positive, alpha * (exp(x) - 1) elsewhere."""
    return switch(x > 0, x, alpha * expm1(x))


def selu(x):
    """`elu` with the constants that keep mean 0 and variance 1 from layer to layer."""
    return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717)


def softsign(x):
    """x / (1 + abs(x))."""
    x = as_tensor_variable(x)
    return x / (1.0 + abs(x))


def hard_sigmoid(x):
    """0.2 * x + 0.5, kept between 0 and 1: a straight line in place of the sigmoid."""
    x = as_tensor_variable(x)
    dtype = x.type.dtype if x.type.dtype.startswith("float") else "float64"
    return clip(x * constant(0.2, dtype=dtype) + constant(0.5, dtype=dtype), 0, 1)


def binary_crossentropy(output, target):
    """-(target * log(output) + (1 - target) * log(1 - output)), element by element; `output` is between 0 and 1."""
    return -(target * log(output) + (1.0 - target) * log(1.0 - output))


def sigmoid_binary_crossentropy(output, target):
    """`binary_crossentropy` of sigmoid(output), without overflow and loss of precision."""
    return softplus(-abs(output)) + output * ((output > 0) - target)


def crossentropy_categorical_1hot(coding_dist, true_one_of_n):
    """-log of each row's element at the position that the integer vector `true_one_of_n` has for it. TypeError for other arguments."""
    coding, true = as_tensor_variable(coding_dist), as_tensor_variable(true_one_of_n)
    if coding.type.ndim != 2:
        raise TypeError(f"Matrix required for argument `coding_dist`; {coding} has {coding.type.ndim} dimension(s)")
    if true.type.ndim != 1 or true.type.dtype not in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        raise TypeError(f"Integer vector required for argument `true_one_of_n`; {true} has type {true.type}")
    return neg(log(coding[arange(true.shape[0]), true]))


def categorical_crossentropy(coding_dist, true_dist):
    """The cross-entropy of `true_dist` with `coding_dist`: of distributions along the last axis, or of positions in its rows.

    TypeError when the ranks are neither equal nor, for positions, one apart.
    """
    coding, true = as_tensor_variable(coding_dist), as_tensor_variable(true_dist)
    if true.type.ndim == coding.type.ndim:
        return -sum(true * log(coding), axis=coding.type.ndim - 1)
    if true.type.ndim == coding.type.ndim - 1:
        return crossentropy_categorical_1hot(coding, true)
    raise TypeError(f"rank mismatch between coding and true distributions: {coding.type.ndim} and {true.type.ndim} dimensions")
