"""Which way each distribution is drawn, found at its first use by comparing draws with the generator's own method.

The core draws by the functions of the NumPy that runs. Nothing promises that a later NumPy keeps them, or that they still
mean the same, so before a compiled function draws from a distribution natively, draws of each regime of its algorithm
(the `regimes` of its row in csrc/random/dists.def) are made by the core and by the method: one by one in a loop, filled,
from scalar and from array parameters. Values and final states must be equal, bit for bit. Where they are not, the next way
is tried; the last is the method itself. The commonest distributions are drawn by inlined code of ours, with NumPy's
functions for what is rare; that is compared in the same way once the functions have been found to be right, on each kind of
bit generator before draws of that kind are made by it: most programs use one. A RandomState's draws are decided on their own, when one first draws from a
distribution: NumPy exports no functions for these.

Relies on: _core, errors, tensor.random (the rows). Relied on by: the core (`settle_functions` and
`settle_kind`, when a thunk is made or meets another kind of bit generator; `settle_legacy`, when a RandomState draws), explain (`ways`).
"""
from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
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


def settle(name: str) -> str:
    """Decides which way a Generator draws a distribution, whatever its bit generator, if that is not decided, and says which:
    a key of `WAYS`.

    Warns with a `PyscanWarning` when a way was there but did not draw as the generator's method does.

    >>> settle("normal") in WAYS
    True
    """
    if name == "multivariate_normal":
        settle("normal")  # of which it is made
    if settle_functions(name) == "fast":
        for kind, is_right in _core.fast_kinds(name).items():
            if is_right is None:
                settle_kind(name, kind)
    return _core.draw_way(name)


def settle_functions(name: str) -> str:
    """The same but for inlined code, which kinds of bit generators that were met before may have, or all may get ("fast").

    >>> settle_functions("gamma")
    'symbols'
    """
    return _settle(name, _core.draw_way, ("symbols", "library", "method"))


def settle_kind(name: str, kind: str) -> bool:
    """Decides whether inlined code draws the distribution from bit generators of that kind, a key of `_core.fast_kinds(name)`.

    >>> settle_kind("normal", "PCG64")
    True
    """
    is_right = _draws_alike(_ROWS[name], "fast", kind)
    _core.fast_kinds(name, kind, bool(is_right))
    if is_right is False:
        _tell_differs(name, [f"{WAYS['fast']} on bit generators {_says_kind(kind)}"], "symbols")
    return bool(is_right)


def settle_legacy(name: str) -> str:
    """The same as `settle` for a RandomState: "legacy" or "method".

    >>> settle_legacy("randint")
    'method'
    """
    return _settle(name, _core.legacy_way, ("legacy", "method") if _ROWS[name]["legacy"] else ("method",))


def _settle(name: str, decided: Callable[..., str], choice: tuple[str, ...]) -> str:
    way = decided(name)
    if way != "unknown":
        return way
    failed = []
    for way in choice:
        same = way == "method" or _draws_alike(_ROWS[name], way)
        if same:
            break
        failed += [WAYS[way]] if same is False else []
    if way == "symbols" and _ROWS[name]["fast"]:  # these are sound; inlined code leaves to them what it does not draw
        way = "fast"
    decided(name, way)
    if failed:
        _tell_differs(name, failed, way)
    return way


def _tell_differs(name: str, failed: list[str], way: str) -> None:
    warnings.warn(
        f"{name}: draws by {' and by '.join(failed)} differ from those of NumPy {np.__version__}'s "
        f"own method ({_ROWS[name]['method']}). It is drawn by {WAYS[way]} now: same numbers, "
        f"{'but more slowly' if way == 'method' else 'by another way'}. Please report this, with pyscan.show_versions().",
        PyscanWarning, stacklevel=4,
    )


def _says_kind(kind: str) -> str:
    return "that are called by pointers" if kind == "called" else f"like {kind}"


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


@cache
def _regimes_to_try(name: str) -> list[tuple[np.ndarray, ...]]:
    row = _ROWS[name]
    regimes = read_regimes(row)
    singles = {"": (), "w": (0,)}.get(row["rounding"], (0, 1))  # 'w' changes no number: what it tells of is held by float32 as it is
    return [(*params, np.array(single)) for single in singles for params in regimes] if singles else regimes


def _draws_alike(row: dict[str, Any], way: str, kind: str | None = None) -> bool | None:
    """Whether draws by that way, from bit generators of that kind, equal the method's in all regimes; None when there is no such way,
    or nothing to compare."""
    if not row["regimes"]:
        return None
    try:
        with np.errstate(all="ignore"):
            return _generator_draws_alike(row["name"], way, _CALLED if kind == "called" else getattr(np.random, kind) if kind else _BIT_GENERATORS[way])
    except _REFUSALS:
        return False


def _generator_draws_alike(name: str, way: str, make: Any) -> bool | None:
    ours, twin = (_make_generator(way, make) for _ in range(2))
    method = _core.draw_method(name)
    for group in _runs(name, way):
        drawn = _core.try_draws(name, way, ours, [(n, size, *params) for n, _, size, params in group])
        if drawn is None:
            return None
        if not all(_same_draws(method, twin, n, shape, params, *results) for (n, shape, _, params), results in zip(group, drawn)):
            return False
    return _same_state(_state_of(ours), _state_of(twin))


def _runs(name: str, way: str) -> list[list[Any]]:
    """What is drawn, in groups that one program draws: (single draws, shape of the filled ones, size as the draw takes it, parameters)."""
    takes_size, regimes = _ROWS[name]["takes_size"], _regimes_to_try(name)
    if way == "legacy":
        regimes = [params for params in regimes if _is_taken(name, _make_generator(way, _BIT_GENERATORS[way]), params)]
    runs = [(n, (m,), np.array([m], "int64") if takes_size else None, params)
            for (n, m), params in zip([_MANY[way], *[_FEW[way]] * (len(regimes) - 1)], regimes)]  # fmt: skip
    if has_batches(_ROWS[name]):
        shapes = [[param.shape for param in params] for params in regimes]
        alike = [params for params, one in zip(regimes, shapes) if one == shapes[0]]
        runs.append((0, (len(alike),) if alike and alike[0] else (), None, tuple(map(np.array, zip(*alike)))))
    return [list(group) for _, group in groupby(runs, lambda run: (run[2] is None, [param.ndim for param in run[3]]))]  # a program has ranks of its own


def _is_taken(name: str, generator: Any, params: Any) -> bool:
    """Whether the method takes the parameters: a RandomState refuses some that a Generator takes."""
    try:
        _core.draw_method(name)(np, generator, (), *params)
    except ValueError:
        return False
    return True


def _same_draws(method: Any, twin: Any, n: int, shape: tuple[int, ...], params: Any, single: Any, filled: Any) -> bool:
    """Whether the method draws the same: n single ones, and then those of that shape."""
    by_method = [method(np, twin, (), *params) for _ in range(n)]
    return (not n or _same_bits(single, by_method)) and _same_bits(filled, method(np, twin, shape, *params))


# Single and filled draws, of the commonest parameters and of the others.
_MANY, _FEW = {"fast": (20, 600), "symbols": (2, 16), "library": (2, 16), "legacy": (3, 16)}, {"fast": (4, 30), "symbols": (2, 6), "library": (2, 6), "legacy": (2, 6)}

# The class of bit generator that NumPy's functions and ours are called with; that of the legacy ones stands for all RandomStates.
_BIT_GENERATORS = {"symbols": np.random.SFC64, "library": np.random.SFC64, "legacy": np.random.MT19937}
_CALLED = np.random.Philox  # stands for all whose kind is "called", by pointers; other kinds have the names of their classes
_SEED = np.random.SeedSequence(20)


def _make_generator(way: str, make: Any) -> Any:
    """One that has half a word left over from a draw of 32 bits, and a RandomState half a pair of Gaussians."""
    bit_generator = make(_SEED)
    generator = np.random.Generator(bit_generator)
    generator.integers(0, 7)
    if way != "legacy":
        return generator
    state = np.random.RandomState(bit_generator)
    state.standard_normal()
    return state


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
