"""Draws through the public surface, for the tests that go over the whole table of distributions."""
import importlib.util

import numpy as np
import pytest

import pyscan.tensor as at
from pyscan import _core
from pyscan.tensor import random as RANDOM
from pyscan.tensor.random import RandomVariable

ROWS = {row["name"]: row for row in _core.dists()}
HAS_SCIPY = importlib.util.find_spec("scipy") is not None
needs_scipy = pytest.mark.skipif(not HAS_SCIPY, reason="needs SciPy")


def is_of_scipy(name):
    return any(symbol.startswith("scipy.") for symbol in ROWS[name]["symbols"])


def drawable(names=tuple(name for name, row in ROWS.items() if row["owners"][0])):
    """The names, for `parametrize`: all that a Generator has unless told; those that draw by SciPy's functions are skipped where it is not installed."""
    return [pytest.param(name, marks=needs_scipy) if is_of_scipy(name) else name for name in names]


def _as_node_takes_it(kind, rank, value):
    """A parameter of the node from one of its draw: an array for its length, None for the integer that stands for it."""
    if kind == "n":
        return at.arange(value) if rank else value
    return at.NoneConst if kind == "o" and np.ndim(value) == 0 and getattr(value, "ndim", 0) == 0 else value


def make_draw(name, rng, size, params):
    """The draw of a row from the parameters of its draws (which its function may take in another form), and the next generator."""
    rank = name != "permutation"
    params = [_as_node_takes_it(kind, rank, value) for kind, value in zip(ROWS[name]["kinds"], params)]
    draw = RandomVariable.__call__(getattr(RANDOM, name), *params, size=size, rng=rng)
    return draw, draw.owner.outputs[0]
