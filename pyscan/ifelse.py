"""ifelse: one of two values, by a condition.

Both branches are computed (Aesara's is lazy): a branch that raises, raises whichever is taken.

Relies on: _core, tensor. Relied on by: users.
"""
from __future__ import annotations

import copy

from pyscan._core import Apply, Op, Variable
from pyscan.tensor.basic import as_tensor_variable
from pyscan.tensor.random_types import generator_given
from pyscan.trial_values import compute_test_values

__all__ = ["IfElse", "ifelse"]


class IfElse(Op):
    """Inputs: the condition, the values when it is not zero, those when it is zero; outputs: the values taken, copied."""

    __props__ = ("n_outs", "name")

    def __init__(self, n_outs, name=None):
        super().__init__()
        self.n_outs, self.name = n_outs, name

    def __str__(self):
        return f"if{{{self.name or ''}}}"

    __repr__ = __str__

    def make_node(self, condition, *values):
        condition = as_tensor_variable(condition)
        if condition.type.ndim != 0:
            raise TypeError(f"The condition argument must be a truthy scalar value; {condition} has {condition.type.ndim} dimension(s).")
        if len(values) != 2 * self.n_outs:
            raise ValueError(f"Wrong number of arguments to make_node: expected {2 * self.n_outs}, got {len(values)}")
        values = _as_list(values)
        then, otherwise = values[: self.n_outs], values[self.n_outs :]
        return Apply(self, [condition, *values], [_common_type(a, b)() for a, b in zip(then, otherwise)])

    def perform(self, node, inputs, output_storage):
        condition, *values = inputs
        taken = values[: self.n_outs] if condition else values[self.n_outs :]
        for storage, value in zip(output_storage, taken):
            storage[0] = copy.deepcopy(value)


def _common_type(a, b):
    """The less specific of the two types."""
    for one, other in ((a.type, b.type), (b.type, a.type)):
        if one.is_super(other):
            return one
    if hasattr(a.type, "shape") and a.type.dtype == b.type.dtype and a.type.ndim == b.type.ndim:
        return type(a.type)(a.type.dtype, [m if m == n else None for m, n in zip(a.type.shape, b.type.shape)])
    raise TypeError(f"The two branches should have compatible types, but got {a.type} and {b.type} respectively.")


def _as_list(value):
    values = map(generator_given, value if isinstance(value, (list, tuple)) else [value])
    return [v if isinstance(v, Variable) else as_tensor_variable(v) for v in values]


def ifelse(condition, then_branch, else_branch, name=None):
    """The value (or the list of values) of one branch: of `then_branch` when the condition, a scalar, is not zero.

    The branches must have equal dtypes and ranks, value by value (else TypeError), and equal lengths (ValueError).
    Both are computed. After Aesara's function of that name.

    >>> import pyscan, pyscan.tensor as at
    >>> x = at.dscalar("x")
    >>> f = pyscan.function([x], ifelse(x > 0, x, -x))
    >>> float(f(-2.0))
    2.0
    """
    then, otherwise = _as_list(then_branch), _as_list(else_branch)
    if len(then) != len(otherwise):
        raise ValueError(f"The number of values on the `then` branch must equal the number on the `else` branch, got {len(then)} and {len(otherwise)}.")
    outputs = IfElse(len(then), name).make_node(condition, *then, *otherwise).outputs
    compute_test_values(outputs)
    is_list = isinstance(then_branch, (list, tuple))
    return list(outputs) if is_list else outputs[0]
