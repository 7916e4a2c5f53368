"""Test values: with `config.compute_test_value` on, each expression is computed on examples while it is written.

A user puts an example at a variable's ``tag.test_value``; what is built of it then has one too, and a shape or a value that does not
fit raises at the line that wrote the expression. Constants and shared variables are their own examples. Steps of loops are
not computed on their own: the loop is, as a whole.

Relies on: _core, config, graph, function and io (when a value is computed). Relied on by: scan, ifelse, the table of names.
"""
from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from pyscan import _core
from pyscan._core import Apply, Constant, SharedVariable, Variable
from pyscan.config import config
from pyscan.graph import clone_replace

__all__ = ["compute_test_value", "compute_test_values"]


def _has_example(variable: Variable) -> bool:
    return isinstance(variable, (Constant, SharedVariable)) or hasattr(variable.tag, "test_value")


def _examples(node: Apply) -> tuple[list[Variable], tuple[int, Variable] | None]:
    """The tagged variables that the node's value follows from; and the first of its inputs, by position and with the variable at the
    bottom of it, that has none."""
    tagged: dict[Variable, None] = {}
    seen: set[Variable] = set()
    for position, given in enumerate(node.inputs):
        waiting = [given]
        while waiting:
            variable = waiting.pop()
            if variable in seen:
                continue
            seen.add(variable)
            if not _has_example(variable):
                if variable.owner is None:
                    return list(tagged), (position, variable)
                waiting.extend(variable.owner.inputs)
            elif not isinstance(variable, (Constant, SharedVariable)):
                tagged[variable] = None
    return list(tagged), None


def _missing(node: Apply, position: int, variable: Variable) -> None:
    name = "" if node.inputs[position] is variable else f" ({variable} has none)"
    text = f"Cannot compute test value: input {position} ({node.inputs[position]}) of Op {node} missing default value{name}."
    if config.compute_test_value == "warn":
        warnings.warn(f"Warning, {text}", stacklevel=4)
    elif config.compute_test_value != "ignore":
        origin = getattr(variable, "origin", None)
        made = f" It was made in {origin[0]}, line {origin[1]}." if origin else ""
        raise ValueError(f"{text}{made} Put a value at its tag.test_value, or set config.compute_test_value to 'ignore' or 'off'.")


def compute_test_value(node: Apply) -> None:
    """Puts the values of the node's outputs, for the examples of its inputs, at their ``tag.test_value``.

    Shared generators and tagged values stay as they are. Where an input has no example, what `config.compute_test_value` says happens: ValueError
    ("raise" and "pdb"), a warning, or nothing. What the operation raises is raised. After Aesara's function of that name.

    >>> import pyscan, pyscan.tensor as at
    >>> with pyscan.config.change_flags(compute_test_value="raise"):
    ...     x = at.dvector("x")
    ...     x.tag.test_value = [1.0, 2.0]
    ...     y = x * 2
    >>> y.get_test_value()
    array([2., 4.])
    """
    from copy import deepcopy

    from pyscan.function import function
    from pyscan.io import In
    tagged, missing = _examples(node)
    if missing is not None:
        return _missing(node, *missing)
    with config.change_flags(compute_test_value="off"):
        inputs = [variable.type() for variable in tagged]
        outputs = clone_replace(list(node.outputs), dict(zip(tagged, inputs)))
        # An Op that overwrites its inputs gets copies.
        compiled = function([In(given, mutable=True) for given in inputs], outputs, mode="FAST_COMPILE", no_default_updates=True,
                            on_unused_input="ignore", accept_inplace=True, allow_input_downcast=True)
        values = compiled(*[deepcopy(variable.tag.test_value) for variable in tagged])
    for output, value in zip(node.outputs, values):
        output.tag.test_value = value
    return None


def compute_test_values(variables: Iterable[Any]) -> None:
    """What `compute_test_value` does for the nodes of these variables that have no value yet, where the configuration asks for it."""
    if config.compute_test_value == "off":
        return
    for variable in variables:
        if variable.owner is not None and not _has_example(variable):
            compute_test_value(variable.owner)


def _follow(value: str) -> None:
    _core.set_node_hook(None if value == "off" else compute_test_value)


config.watch("compute_test_value", _follow)
