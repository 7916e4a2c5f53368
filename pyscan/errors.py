"""Exception classes, under Aesara's names.

Those that the graph raises are made in the core and only named here. Relies on: _core. Relied on by: function, tensor.
"""
from __future__ import annotations

from pyscan._core import (
    AlreadyThere,
    InconsistencyError,
    MethodNotDefined,
    MissingInputError,
    ReplacementDidNotRemoveError,
)


class UnusedInputError(Exception):
    """A function was given an input that its outputs do not need."""


class TestValueError(Exception):
    """A variable has no test value."""

    __test__ = False  # its name begins as a test class's does


class NotScalarConstantError(Exception):
    """An expression was expected to be a constant scalar, and is not."""


class EmptyConstantError(NotScalarConstantError):
    """A constant was expected to hold a scalar, and holds nothing."""


class AdvancedIndexingError(TypeError):
    """An index that selects by an array came where only integers and slices can stand."""


class PyscanWarning(UserWarning):
    """What pyscan warns of unless a more specific class says so."""


__all__ = [
    "AdvancedIndexingError", "AlreadyThere", "EmptyConstantError", "InconsistencyError", "MethodNotDefined", "MissingInputError",
    "NotScalarConstantError", "PyscanWarning", "ReplacementDidNotRemoveError", "TestValueError", "UnusedInputError",
]
