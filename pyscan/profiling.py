"""What a function made with `profile` notes of its compilation and its calls.

Relies on: nothing. Relied on by: function, names.
"""
from __future__ import annotations

import sys
from time import perf_counter
from typing import Any, TextIO

__all__ = ["ProfileStats"]


class ProfileStats:
    """Times of a function: `f.profile` of one that was made with ``profile=True``, a message, or an object of this class.

    Attributes, under Aesara's names: `message`; `compile_time` in seconds, of which `rewriting_time` went to the passes;
    `nb_nodes`; `fct_callcount` and `fct_call_time`, the calls that ended well and the seconds that they took; `vm_call_time`,
    which is the same. The operations of a function are not timed one by one, since they run together; `f.counters` says what the
    last call did, and ``pyscan.explain(f)`` where each operation runs.

    >>> import pyscan, pyscan.tensor as at
    >>> x = at.dscalar("x")
    >>> f = pyscan.function([x], x * 2.0, profile="doubles")
    >>> _ = f(1.0), f(2.0)
    >>> f.profile.message, f.profile.fct_callcount
    ('doubles', 2)
    """

    def __init__(self, atexit_print: bool = True, message: str | None = None, **known: Any) -> None:
        """`atexit_print` is accepted: nothing is printed unless `summary` is called. TypeError for keywords that are no attributes."""
        self.message = message
        self.compile_time = self.rewriting_time = 0.0
        self.nb_nodes = 0
        self.reset()
        for name, value in known.items():
            if not hasattr(self, name):
                raise TypeError(f"ProfileStats has no attribute {name!r}")
            setattr(self, name, value)

    @property
    def vm_call_time(self) -> float:
        return self.fct_call_time

    def reset(self) -> None:
        """Forget the calls."""
        self.fct_callcount, self.fct_call_time = 0, 0.0

    def add_call(self, start: float) -> None:
        """Count a call that began at `start`, a time of `time.perf_counter`."""
        self.fct_callcount += 1
        self.fct_call_time += perf_counter() - start

    def summary(self, file: TextIO | None = None, n_ops_to_print: int = 20, n_apply_to_print: int = 20) -> None:
        """Print the times to `file` (default: the standard error). The numbers of lines are accepted: there is none per operation."""
        each = f" ({self.fct_call_time / self.fct_callcount:e}s a call)" if self.fct_callcount else ""
        print(
            "Function profiling\n==================\n"
            f"  Message: {self.message}\n"
            f"  Time in {self.fct_callcount} calls to Function.__call__: {self.fct_call_time:e}s{each}\n"
            f"  Total compilation time: {self.compile_time:e}s\n"
            f"    Number of Apply nodes: {self.nb_nodes}\n"
            f"    Rewriting time: {self.rewriting_time:e}s\n",
            file=sys.stderr if file is None else file,
        )
