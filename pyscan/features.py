"""Listeners on a `FunctionGraph`, under Aesara's names; all but `PrintListener` are made in the core.

    >>> from pyscan.features import Feature
    >>> class Counter(Feature):
    ...     n = 0
    ...     def on_import(self, fgraph, node, reason):
    ...         self.n += 1

Relies on: _core. Relied on by: function, the users' own passes.
"""
from __future__ import annotations

from pyscan._core import (
    AlreadyThere,
    Bookkeeper,
    Constant,
    DestroyHandler,
    Feature,
    History,
    InconsistencyError,
    NodeFinder,
    NoOutputFromInplace,
    PreserveVariableAttributes,
    ReplacementDidNotRemoveError,
    ReplaceValidate,
    Supervisor,
    Validator,
)


class PrintListener(Feature):
    """Prints what happens to the graph.

    Parameters
    ----------
    active : bool
        Whether it prints; the attribute of that name can be changed at any time.
    """

    def __init__(self, active=True):
        self.active = active

    def on_attach(self, fgraph):
        if self.active:
            print("-- attaching to: ", fgraph)

    def on_detach(self, fgraph):
        if self.active:
            print("-- detaching from: ", fgraph)

    def on_import(self, fgraph, node, reason):
        if self.active:
            print(f"-- importing: {node}, reason: {reason}")

    def on_prune(self, fgraph, node, reason):
        if self.active:
            print(f"-- pruning: {node}, reason: {reason}")

    def on_change_input(self, fgraph, node, i, var, new_var, reason=None):
        if self.active:
            print(f"-- changing ({node}.inputs[{i}]) from {var} to {new_var}")


def fast_inplace_check(fgraph, inputs):
    """Those of the variables that an in-place Op might overwrite: no constants, not protected, not overwritten yet."""
    protected = getattr(fgraph, "_supervisor_protected", ())
    return [v for v in inputs if not isinstance(v, Constant) and not fgraph.has_destroyers([v]) and v not in protected]


__all__ = [
    "AlreadyThere", "Bookkeeper", "DestroyHandler", "Feature", "History", "InconsistencyError", "NoOutputFromInplace", "NodeFinder",
    "PreserveVariableAttributes", "PrintListener", "ReplaceValidate", "ReplacementDidNotRemoveError", "Supervisor", "Validator",
    "fast_inplace_check",
]
