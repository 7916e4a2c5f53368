"""Operations that belong to no kind of value: copies and views of anything, and Ops made of a plain Python function.

Relies on: the graph types of `_core`. Relied on by: maker.
"""
from __future__ import annotations

import importlib
import sys
from typing import Any, Callable

from pyscan import _core

__all__ = ["DeepCopyOp", "deep_copy_op", "ViewOp", "view_op", "UpdatePlaceholder", "update_placeholder", "FromFunctionOp", "as_op", "load_back"]


class DeepCopyOp(_core.Op):
    """A copy of its input, of any type. `function` puts it where an output would share memory with something that lasts."""

    kind = "deep_copy"
    __props__ = ()

    def make_node(self, x: Any) -> Any:
        return _core.Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        value = inputs[0]
        if hasattr(value, "dtype"):
            output_storage[0][0] = value.copy()
            return
        from copy import deepcopy  # here, since most values are arrays
        output_storage[0][0] = deepcopy(value)


class ViewOp(_core.Op):
    """Its input itself."""

    kind = "view"
    view_map = {0: [0]}
    __props__ = ()

    def make_node(self, x: Any) -> Any:
        return _core.Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0]


class UpdatePlaceholder(ViewOp):
    """Its input itself. As an `update` of `In` it says that the input may be overwritten, and that the graph computes no new value."""


deep_copy_op = DeepCopyOp()
view_op = ViewOp()
update_placeholder = UpdatePlaceholder()


class FromFunctionOp(_core.Op):
    """An Op that calls a Python function on the values of its inputs; `as_op` makes one.

    `itypes` and `otypes` are the types of inputs and outputs; the function returns one value, or a sequence of as many as there
    are outputs. `infer_shape` is kept for programs that give it.
    """

    def __init__(self, fn: Callable[..., Any], itypes: Any, otypes: Any, infer_shape: Any = None) -> None:
        self._fn, self.itypes, self.otypes = fn, list(itypes), list(otypes)
        if infer_shape is not None:
            self._infer_shape = infer_shape

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._fn == other._fn

    def __hash__(self) -> int:
        return hash((type(self), self._fn))

    def __str__(self) -> str:
        return f"FromFunctionOp{{{self._fn.__name__}}}"

    def __reduce__(self) -> Any:
        """By the function's name where that name is this Op's, as under a decorator; else by the function and the types."""
        module, name = self._fn.__module__, self._fn.__qualname__
        if getattr(sys.modules.get(module), name, None) is self:
            return load_back, (module, name)
        return type(self), (self._fn, self.itypes, self.otypes)

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        values = self._fn(*inputs)
        if not isinstance(values, (list, tuple)):
            values = (values,)
        if len(values) != len(output_storage):
            raise ValueError(f"{self} returned {len(values)} values where {len(output_storage)} outputs were declared")
        for cell, value, variable in zip(output_storage, values, node.outputs):
            cell[0] = variable.type.filter(value)


def load_back(module: str, name: str) -> Any:
    """The Op that a module has under a name; how `as_op`'s are unpickled."""
    return getattr(importlib.import_module(module), name)


def as_op(itypes: Any, otypes: Any, infer_shape: Any = None) -> Callable[[Callable[..., Any]], FromFunctionOp]:
    """A decorator that makes an Op of a function of values.

    >>> import numpy as np, pyscan.tensor as at
    >>> @as_op(itypes=[at.dvector], otypes=[at.dscalar])
    ... def middle(x):
    ...     return np.median(x)
    >>> float(middle(at.as_tensor([3.0, 1.0, 2.0])).eval())
    2.0
    """
    itypes = list(itypes) if isinstance(itypes, (list, tuple)) else [itypes]
    otypes = list(otypes) if isinstance(otypes, (list, tuple)) else [otypes]
    if not all(isinstance(type_, _core.Type) for type_ in (*itypes, *otypes)):
        raise TypeError("itypes and otypes must be Types, or lists of them")

    def made(fn: Callable[..., Any]) -> FromFunctionOp:
        return FromFunctionOp(fn, itypes, otypes, infer_shape)
    return made
