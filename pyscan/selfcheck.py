"""Which way each distribution is drawn, found at its first use by comparing draws with the generator's own method.

The core draws by the functions of the NumPy that runs. Nothing promises that a later NumPy keeps them, or that they still
mean the same, so before a compiled function draws from a distribution natively, draws of each regime of its algorithm
(the `regimes` of its row in csrc/random/dists.def) are made by the core and by the method: one by one in a loop, filled,
from scalar and from array parameters. Values and final states must be equal, bit for bit. Where they are not, the next way
is tried; the last is the method itself. The commonest distributions are drawn by inlined code of ours, with NumPy's
functions for what is rare; that is compared in the same way, once the functions have been found to be right, on each kind
of bit generator before draws of that kind are made by it: most programs use one. A RandomState's draws are decided on their
own, when one first draws from a distribution: NumPy exports no functions for these.

Relies on: _core, errors, tensor.random (the rows). Relied on by: the core (`settle`, when a thunk is made or meets another
kind of bit generator; `settle_legacy`, when a RandomState draws), explain (`ways`).
"""
from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

import numpy as np

from pyscan import _core
from pyscan.errors import PyscanWarning
from pyscan.tensor.random import _ROWS

# The ways, best first, and what the user is told of each.
WAYS = {
    "fast": "inlined code, made from the functions of the NumPy that runs",
    "symbols": "the functions of the NumPy that runs",
    "library": "the functions of the NumPy that pyscan was built with",
    "legacy": "pyscan's functions for RandomState",
    "method": "the generator's own method",
}

# What a changed NumPy may make of a call. Whatever else is raised (no memory, Ctrl-C) leaves the distribution unsettled.
_REFUSALS = (ArithmeticError, AttributeError, SystemError, TypeError, ValueError)

# What draws take of the kinds of parameters that are not of doubles; None, where there may be one, is an integer to them.
_DTYPES = {"l": "int64", "n": "int64", "b": "bool"}


def has_batches(row: dict[str, Any]) -> bool:
    """Whether parameters of the distribution may have more axes, for many draws.

    >>> has_batches(_ROWS["normal"]), has_batches(_ROWS["choice"])
    (True, False)
    """
    return not set(row["kinds"]) & set("nob")


def read_regimes(row: dict[str, Any]) -> list[tuple[np.ndarray, ...]]:
    """The parameters in a row's `regimes`, as arrays of the kinds that its draws take.

    >>> read_regimes(_ROWS["normal"])[0]
    (array(0.), array(1.))
    """
    tuples = eval(f"[({row['regimes'].replace(';', ',), (')},)]")  # an expression of our own table
    dtypes = [_DTYPES.get(kind, "float64") for kind in row["kinds"]]
    return [tuple(np.array(0 if value is None else value, "int64" if value is None else dtype)
                  for value, dtype in zip(values, dtypes, strict=True)) for values in tuples]


def settle(name: str, kinds: Iterable[str] | None = None) -> str:
    """Decides which way a Generator draws a distribution, from bit generators of these kinds (keys of `_core.fast_kinds(name)`; all of
    them if none are given), as far as that is not decided, and says which: a key of `WAYS`.

    Warns with a `PyscanWarning` when a way was there but did not draw as the generator's method does.

    >>> settle("normal") in WAYS
    True
    """
    if name == "multivariate_normal":
        settle("normal", kinds)  # of which it is made
    known = _core.fast_kinds(name)
    kinds = [kind for kind in (known if kinds is None else kinds) if known[kind] is None]
    methods_draws = _MethodsDraws(name, kinds[0] if kinds else None)
    choice = ("symbols", "library", "method") if _ROWS[name]["owners"][0] else ("method",)  # a law of RandomStates alone has nothing to compare with
    if _settle(methods_draws, _core.draw_way, choice) == "fast":
        for kind in kinds:
            _settle_kind(methods_draws if kind == methods_draws.kind else _MethodsDraws(name, kind))
    way = _core.draw_way(name)
    return "symbols" if way == "fast" and not any(_core.fast_kinds(name).values()) else way


def settle_legacy(name: str) -> str:
    """The same for a RandomState: "legacy" or "method".

    >>> settle_legacy("randint")
    'method'
    """
    return _settle(_MethodsDraws(name, is_legacy=True), _core.legacy_way, ("legacy", "method") if _ROWS[name]["legacy"] else ("method",))


def _settle(methods_draws: _MethodsDraws, decided: Callable[..., str], choice: tuple[str, ...]) -> str:
    name = methods_draws.name
    way = decided(name)
    if way != "unknown":
        return way
    failed = []
    for way in choice:
        same = way == "method" or methods_draws.are_those_by(way)
        if same:
            break
        failed += [WAYS[way]] if same is False else []
    if way == "symbols" and _ROWS[name]["fast"]:  # these are sound; inlined code leaves to them what it does not draw
        way = "fast"
    decided(name, way)
    if failed:
        _tell_differs(name, failed, way)
    return way


def _settle_kind(methods_draws: _MethodsDraws) -> None:
    is_right = methods_draws.are_those_by("fast")
    _core.fast_kinds(methods_draws.name, methods_draws.kind, bool(is_right))
    if is_right is False:
        whose = "that are called by pointers" if methods_draws.kind == "called" else f"like {methods_draws.kind}"
        _tell_differs(methods_draws.name, [f"{WAYS['fast']}, on bit generators {whose},"], "symbols")


def _tell_differs(name: str, failed: list[str], way: str) -> None:
    warnings.warn(
        f"{name}: draws by {' and by '.join(failed)} differ from those of NumPy {np.__version__}'s "
        f"own method ({_ROWS[name]['method']}). It is drawn by {WAYS[way]} now: same numbers, "
        f"{'but more slowly' if way == 'method' else 'by another way'}. Please report this, with pyscan.show_versions().",
        PyscanWarning, stacklevel=4,
    )


def ways() -> dict[str, str | None]:
    """Which way each distribution is drawn from a Generator, by name; those not used so far are settled first. None: it needs
    SciPy, which is not installed.

    >>> ways()["normal"] in WAYS
    True
    """
    return {name: _settle_if_there(settle, name) for name, row in _ROWS.items() if row["owners"][0]}


def legacy_ways() -> dict[str, str | None]:
    """The same for RandomStates.

    >>> legacy_ways()["normal"] in WAYS
    True
    """
    return {name: _settle_if_there(settle_legacy, name) for name, row in _ROWS.items() if row["owners"][1]}


def _settle_if_there(settle: Callable[[str], str], name: str) -> str | None:
    try:
        if any(symbol.startswith("scipy.") for symbol in _ROWS[name]["symbols"]):
            import scipy.special  # noqa: F401
    except ImportError:
        return None
    return settle(name)


class _MethodsDraws:
    """What the method draws in all regimes from a bit generator of a kind (None: of any), and whether a way draws the same."""

    def __init__(self, name: str, kind: str | None = None, is_legacy: bool = False) -> None:
        self.name, self.kind, self._is_legacy = name, kind, is_legacy
        self._make = np.random.MT19937 if is_legacy else np.random.SFC64 if kind is None else np.random.Philox if kind == "called" else getattr(np.random, kind)
        self._groups: list[tuple[list[Any], list[Any]]] = []  # what a program draws in its runs, and for each run the method's single draws and filled ones
        self._state: Any = None  # afterwards

    def are_those_by(self, way: str) -> bool | None:
        """None when there is no such way, or nothing to compare."""
        if not _ROWS[self.name]["regimes"]:
            return None
        try:
            with np.errstate(all="ignore"):
                if not self._groups:
                    self._draw()
                return self._compare(way)
        except _REFUSALS:
            return False

    def _compare(self, way: str) -> bool | None:
        generator = self._make_generator()
        for runs, expected in self._groups:
            drawn = _core.try_draws(self.name, way, generator, runs)
            if drawn is None:
                return None
            for (singles, filled), (method_singles, method_filled) in zip(drawn, expected):
                if method_singles and not _same_bits(singles, method_singles) or not _same_bits(filled, method_filled):
                    return False
        return _same_state(_state_of(generator), self._state)

    def _draw(self) -> None:
        method, generator = _core.draw_method(self.name), self._make_generator()
        groups = []
        for group in self._make_runs():
            drawn = [([method(np, generator, (), *params) for _ in range(n)], method(np, generator, shape, *params)) for n, shape, _, params in group]
            groups.append(([(n, size, *params) for n, _, size, params in group], drawn))
        self._groups, self._state = groups, _state_of(generator)

    def _make_runs(self) -> list[list[Any]]:
        """In groups that one program draws: (single draws, shape of the filled ones, size as the draw takes it, parameters)."""
        row, regimes = _ROWS[self.name], _regimes_to_try(self.name)
        if self._is_legacy:
            regimes = [params for params in regimes if self._are_taken(params)]
        many, few = (_MANY, _FEW) if row["fast"] else _FEWER
        runs = [(n, (m,), np.array([m], "int64") if row["takes_size"] else None, params)
                for (n, m), params in zip([many, *[few] * (len(regimes) - 1)], regimes)]  # fmt: skip
        if has_batches(row):
            shapes = [[param.shape for param in params] for params in regimes]
            alike = [params for params, one in zip(regimes, shapes) if one == shapes[0]]
            runs.append((0, (len(alike),) if alike and alike[0] else (), None, tuple(map(np.array, zip(*alike)))))
        return [list(group) for _, group in groupby(runs, lambda run: (run[2] is None, [param.ndim for param in run[3]]))]  # a program has ranks of its own

    def _are_taken(self, params: Any) -> bool:
        """Whether the method takes the parameters: a RandomState refuses some that a Generator takes."""
        try:
            _core.draw_method(self.name)(np, self._make_generator(), (), *params)
        except ValueError:
            return False
        return True

    def _make_generator(self) -> Any:
        """One that has half a word left over from a draw of 32 bits, and a RandomState half a pair of Gaussians."""
        bit_generator = self._make(_SEED)
        generator = np.random.Generator(bit_generator)
        generator.integers(0, 7)
        if not self._is_legacy:
            return generator
        state = np.random.RandomState(bit_generator)
        state.standard_normal()
        return state


# Single and filled draws, of the commonest parameters and of the others; the first where there is inlined code.
_MANY, _FEW, _FEWER = (20, 600), (4, 30), ((3, 16), (2, 6))
_SEED = np.random.SeedSequence(20)


def _regimes_to_try(name: str) -> list[tuple[np.ndarray, ...]]:
    row = _ROWS[name]
    regimes = read_regimes(row)
    singles = {"": (), "w": (0,)}.get(row["rounding"], (0, 1))  # 'w' changes no number: what it tells of is held by float32 as it is
    return [(*params, np.array(single)) for single in singles for params in regimes] if singles else regimes


def _state_of(generator: Any) -> Any:
    is_legacy = isinstance(generator, np.random.RandomState)
    return generator.get_state(legacy=False) if is_legacy else generator.bit_generator.state


def _same_bits(drawn: Any, expected: Any) -> bool:
    expected = np.asarray(expected, drawn.dtype)
    return drawn.shape == expected.shape and drawn.tobytes() == expected.tobytes()


def _same_state(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same_state(a[key], b[key]) for key in a)
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else bool(a == b)
