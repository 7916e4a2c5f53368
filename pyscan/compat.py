"""Small names that programs written for Aesara take from its inner modules, and that pyscan has no use for itself.

Relies on: NumPy. Relied on by: the table of names alone.
"""
from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Linker", "allclose", "asarray"]

# Drawings of graphs by pydot are not part of pyscan; programs ask before they draw.
pydot_imported = False
pydot_imported_msg = "pyscan does not draw graphs: pyscan.dprint prints them"


def asarray(a: Any, dtype: Any, order: str | None = None) -> np.ndarray:
    """The value as an array of exactly this dtype."""
    return np.asarray(a, dtype=dtype, order=order)


def allclose(a: Any, b: Any, rtol: float | None = None, atol: float | None = None) -> bool:
    """Whether two arrays are equal up to what their narrower float type can hold."""
    a, b = np.asarray(a), np.asarray(b)
    narrow = any(x.dtype in (np.float32, np.complex64) for x in (a, b))
    return bool(np.allclose(a, b, rtol=1e-5 if rtol is None else rtol,
                            atol=(1e-5 if narrow else 1e-8) if atol is None else atol))


class Linker:
    """Takes what Aesara's linkers take, and is ignored: every function runs on the same core. For `Mode(linker=VMLinker(...))`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.options = options

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Linker) and self.options == other.options

    def __hash__(self) -> int:
        return hash(tuple(sorted(map(str, self.options.items()))))
