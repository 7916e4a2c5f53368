"""Assertions in graphs: Assert, and CheckAndRaise with other exceptions.

Relies on `tensor.variable`. An Assert runs natively; CheckAndRaise calls back to Python.
"""

from __future__ import annotations

from pyscan._core import Apply, Op
from pyscan.tensor.variable import as_tensor_variable


class CheckAndRaise(Op):
    """(value, *conditions) -> the value; raises `exc_type(msg)` when a condition (a scalar) is false.

    Examples
    --------
    >>> import pyscan.tensor as at
    >>> x = at.dvector("x")
    >>> CheckAndRaise(ValueError, "x must be positive")(x, at.all(x > 0)).type
    TensorType(float64, (?,))
    """

    view_map = {0: [0]}
    __props__ = ("msg", "exc_type")

    def __init__(self, exc_type, msg=""):
        if not issubclass(exc_type, Exception):
            raise ValueError("`exc_type` must be an Exception subclass")
        self.exc_type = exc_type
        self.msg = str(msg)

    def make_node(self, value, *conditions):
        if not hasattr(value, "type"):
            value = as_tensor_variable(value)
        conditions = [as_tensor_variable(c) for c in conditions]
        for c in conditions:
            if c.type.ndim != 0:
                raise TypeError(f"The conditions of {type(self).__name__} are scalars; got {c} of type {c.type}")
        return Apply(self, [value, *conditions], [value.type()])

    def perform(self, node, inputs, output_storage):
        value, *conditions = inputs
        if not all(bool(c) for c in conditions):
            raise self.exc_type(self.msg)
        output_storage[0][0] = value

    def __str__(self):
        return f"{type(self).__name__}{{{self.exc_type}({self.msg})}}"


class Assert(CheckAndRaise):
    """(value, *conditions) -> the value; raises AssertionError with `msg` when a condition is false.

    Examples
    --------
    >>> import pyscan.tensor as at
    >>> x = at.dscalar("x")
    >>> print(Assert("x must be positive")(x, x > 0).owner.op)
    Assert{msg=x must be positive}
    """

    kind = "assert"

    def __init__(self, msg="pyscan Assert failed!"):
        super().__init__(AssertionError, msg)

    def __str__(self):
        return f"Assert{{msg={self.msg}}}"

    def __reduce__(self):
        return Assert, (self.msg,)


assert_op = Assert()
