"""Functions that NumPy's and SciPy's compiled code computes, found when an operation first asks for one.

A row of the core's table (`_core.library()`) names a ufunc; the core takes its C loops, if these give what the ufunc itself gives,
and then runs them without Python. Where a row can't be used (no SciPy, a NumPy without that ufunc), the operation calls back to Python.

Relies on: `_core`. Relied on by: tensor.
"""

from __future__ import annotations

import importlib
from functools import lru_cache

import numpy as np

from pyscan import _core

__all__ = ["is_native"]

_MATRIX = np.array([[4.0, 1.0, 0.5, -1.0], [1.0, 3.0, 0.25, 0.5], [0.5, 0.25, 2.0, 1.5], [-1.0, 0.5, 1.5, 5.0]])
_WIDE, _TALL = {"m": 3, "n": 4}, {"m": 4, "n": 3}


def _arguments(row, lengths):
    """Arguments to try a row on: a well-behaved matrix and right sides, or numbers in the domain of every function."""
    if row["operands"]:
        lengths = {**lengths, "p": 3, "r": 2, "k": 3}
        shapes = [tuple([lengths[axis] for axis in axes.lstrip("*")]) for axes in row["operands"].split(">")[0].split(",")]
        return tuple([_MATRIX[: shape[0], : shape[1]] if i == 0 else np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape) for i, shape in enumerate(shapes)])
    return tuple([np.linspace(0.125, 0.875, 5) + k for k in range(row["n_in"])][::-1] if row["n_in"] < 3 else [np.linspace(0.125, 0.875, 5)] * row["n_in"])


def _trials(row):
    """The running library's ufuncs of a row, each with the arguments to try it on."""
    module = importlib.import_module(row["module"])
    alone, *pair = [names.split(" and ") for names in row["ufunc"].split(" or ")]
    names = pair[0] if pair and not hasattr(module, alone[0]) else alone
    return [(getattr(module, name), _arguments(row, lengths)) for name, lengths in zip(names[::-1], (_TALL, _WIDE))]


@lru_cache(maxsize=None)
def is_native(name: str) -> bool:
    """Whether the running libraries have the function of that row, so that it runs without Python.

    >>> is_native("inv")
    True
    """
    row = next(row for row in _core.library() if row["name"] == name)
    try:
        trials = _trials(row)
    except (ImportError, AttributeError):
        return False
    return all(_core.library_load(name, ufunc, arguments) for ufunc, arguments in trials)
