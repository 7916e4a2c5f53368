"""Exception classes, under Aesara's names.

Those that the graph raises are made in the core and only named here. Relies on: _core. Relied on by: function, tensor.
"""
from __future__ import annotations

import reprlib
import sys
from collections.abc import Callable, Collection
from types import FunctionType
from typing import Any

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


class about:  # noqa: N801 (read as `with about(...)`)
    """In a ``with``: adds to the message of an exception which of the user's arguments it is about. `tell` gives the sentence, when it
    is needed. Where the exception has more arguments than its message, they stay, and the sentence becomes a note.

    >>> with about(lambda: "It is about n_steps."):
    ...     int("a")
    Traceback (most recent call last):
    ValueError: invalid literal for int() with base 10: 'a'. It is about n_steps.
    """

    def __init__(self, tell: Callable[[], str]) -> None:
        self._tell = tell

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if not isinstance(error, Exception):
            return
        if len(error.args) > 1 or type(error).__str__ is not Exception.__str__ or not all(isinstance(arg, str) for arg in error.args):
            error.add_note(self._tell())
            return
        text = error.args[0].rstrip() if error.args else ""
        error.args = (f"{text}{'' if not text or text.endswith('.') else '.'} {self._tell()}".lstrip(),)


_SHORT = reprlib.Repr()
_SHORT.maxother = _SHORT.maxstring = 60
_OWN = __name__.partition(".")[0]


def telling(function: Callable[..., Any], name: str | None = None) -> Callable[..., Any]:
    """The function; where a call from outside this package fails, the exception gets a note of the call with its arguments, by the
    user's names for them: what was refused within may be an intermediate result that has none. `name`, where the function has
    another for the user.

    >>> import pyscan.tensor as at
    >>> telling(at.sum).__name__
    'sum'
    """

    def told(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if sys._getframe(1).f_globals.get("__name__", "").partition(".")[0] != _OWN:
                given = [*map(_SHORT.repr, args), *(f"{key}={_SHORT.repr(value)}" for key, value in kwargs.items())]
                error.add_note(f"The arguments were refused by {name or function.__name__}({', '.join(given)}).")
            raise

    # What functools.wraps does, in half the time: there are hundreds of these when the package is imported.
    told.__name__, told.__qualname__, told.__module__, told.__doc__ = function.__name__, function.__qualname__, function.__module__, function.__doc__
    told.__dict__.update(function.__dict__)
    told.__wrapped__ = function  # type: ignore[attr-defined]
    return told


def tell_arguments(names: dict[str, Any], left_out: Collection[Callable[..., Any]] = ()) -> None:
    """Puts `telling` around the public functions that a module, whose names these are, or one below it defines; there too.

    >>> import pyscan.tensor as at
    >>> at.sum is at.math.sum, at.sum.__wrapped__.__name__
    (True, 'sum')
    """
    for name, value in list(names.items()):
        if type(value) is FunctionType and name[0] != "_" and value not in left_out and value.__module__.startswith(names["__name__"]):
            home = sys.modules[value.__module__].__dict__
            names[name] = value if hasattr(value, "__wrapped__") else telling(value)
            if home.get(name) is value:
                home[name] = names[name]


__all__ = [
    "AdvancedIndexingError", "AlreadyThere", "EmptyConstantError", "InconsistencyError", "MethodNotDefined", "MissingInputError",
    "NotScalarConstantError", "PyscanWarning", "ReplacementDidNotRemoveError", "TestValueError", "UnusedInputError",
]
