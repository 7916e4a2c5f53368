"""Patterns of graphs: what `PatternNodeRewriter` looks for, and what it builds.

A pattern is compared with a node from the top down; strings are bound to the variables that stand there. No recursion deeper than the
pattern itself.

Relies on: graph. Relied on by: rewriting.
"""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from pyscan.graph import Apply, Constant, Op, Variable

__all__ = ["Pattern", "matched", "built"]


class Pattern:
    """A pattern and its replacement, checked once.

    TypeError when the pattern is not a tuple that begins with an Op or a class of Ops; ValueError for a string of the replacement
    that the pattern does not bind.
    """

    def __init__(self, in_pattern: Any, out_pattern: Any) -> None:
        if not isinstance(in_pattern, (list, tuple)) or not in_pattern or not _is_op(in_pattern[0]):
            raise TypeError(f"The pattern to search for must start with a specific Op instance or class, got {in_pattern!r}")
        unknown = set(_strings(out_pattern)) - set(_strings(in_pattern))
        if unknown:
            raise ValueError(f"the replacement {_text(out_pattern)} names {', '.join(sorted(unknown))}, which the pattern {_text(in_pattern)} does not bind")
        self.in_pattern, self.out_pattern, self.op = in_pattern, out_pattern, in_pattern[0]

    def __str__(self) -> str:
        return f"{_text(self.in_pattern)} -> {_text(self.out_pattern)}"


def _is_op(item: Any) -> bool:
    return isinstance(item, Op) or (isinstance(item, type) and issubclass(item, Op))


def _strings(pattern: Any) -> list[str]:
    """The names that a pattern has."""
    if isinstance(pattern, str):
        return [pattern]
    if isinstance(pattern, dict):
        return _strings(pattern["pattern"])
    if isinstance(pattern, (list, tuple)):
        return [name for part in pattern[1:] for name in _strings(part)]
    return []


def _text(pattern: Any) -> str:
    if isinstance(pattern, (list, tuple)):
        return f"{pattern[0]}({', '.join(map(_text, pattern[1:]))})"
    if isinstance(pattern, dict):
        return f"{_text(pattern['pattern'])} subject to {pattern.get('constraint', 'no conditions')}"
    return str(pattern)


def matched(pattern: Pattern, node: Apply, may_enter: Callable[[Variable], bool], skip_identities: Callable | None) -> dict[str, Variable] | None:
    """The variables bound to the pattern's names when the node looks like it, else None."""
    bound: dict[str, Variable] = {}
    return bound if _fits_node(pattern.in_pattern, node, bound, may_enter, skip_identities) else None


def _fits_node(pattern: Any, node: Apply, bound: dict, may_enter: Callable, skip_identities: Callable | None) -> bool:
    op, parts = pattern[0], pattern[1:]
    if not (isinstance(node.op, op) if isinstance(op, type) else node.op == op) or len(parts) != len(node.inputs):
        return False
    return all(_fits(part, variable, bound, may_enter, skip_identities) for part, variable in zip(parts, node.inputs))


def _fits(pattern: Any, variable: Variable, bound: dict, may_enter: Callable, skip_identities: Callable | None) -> bool:
    if isinstance(pattern, (list, tuple)):
        if variable.owner is not None and may_enter(variable) and _fits_node(pattern, variable.owner, bound, may_enter, skip_identities):
            return True
        inner = skip_identities(variable) if skip_identities is not None and variable.owner is not None else None
        return inner is not None and inner is not variable and _fits(pattern, inner, bound, may_enter, skip_identities)
    if isinstance(pattern, str):
        return _is_same(bound.setdefault(pattern, variable), variable)
    if isinstance(pattern, dict):
        constraint = pattern.get("constraint")
        return (constraint is None or bool(constraint(variable))) and _fits(pattern["pattern"], variable, bound, may_enter, skip_identities)
    if isinstance(pattern, Variable):
        return _is_same(pattern, variable)
    return _has_value(variable, pattern)


def _is_same(a: Variable, b: Variable) -> bool:
    return a is b or (isinstance(a, Constant) and isinstance(b, Constant) and bool(a.equals(b)))


def _has_value(variable: Variable, value: Any) -> bool:
    """Whether a variable is a constant, an array of one number too, that equals the value throughout."""
    while variable.owner is not None and getattr(variable.owner.op, "kind", None) == "dimshuffle":
        (variable,) = variable.owner.inputs
    if not isinstance(variable, Constant):
        return False
    data = np.asarray(variable.data)
    return data.size > 0 and bool(np.all(data == value))


def built(pattern: Any, bound: dict[str, Variable]) -> Variable:
    """The variable that a replacement describes."""
    if isinstance(pattern, (list, tuple)):
        return pattern[0](*[built(part, bound) for part in pattern[1:]])
    if isinstance(pattern, str):
        return bound[pattern]
    if isinstance(pattern, dict):
        return built(pattern["pattern"], bound)
    if isinstance(pattern, Variable):
        return pattern
    from pyscan.tensor.basic import constant
    return constant(pattern)
