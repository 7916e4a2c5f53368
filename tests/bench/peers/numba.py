"""The workloads as one writes them by hand for Numba, with a NumPy Generator."""
from __future__ import annotations

import importlib

import numpy as np

from tests.bench import workloads as w

nb = importlib.import_module("numba")
VERSION = f"Numba {nb.__version__}"


@nb.njit
def draws(rng, n):
    out = np.empty(n)
    for t in range(n):
        out[t] = rng.normal()
    return out


@nb.njit
def ar1(rng, n):
    out, x = np.empty(n), 1.0
    for t in range(n):
        x = 0.9 * x + rng.normal(0.0, 0.1)
        out[t] = x
    return out


@nb.njit
def ar1_last(rng, n):
    x = 1.0
    for _ in range(n):
        x = 0.9 * x + rng.normal(0.0, 0.1)
    return x


@nb.njit
def stochvol(rng, n):
    variances, returns, h = np.empty(n), np.empty(n), -1.0
    for t in range(n):
        h = -1.0 + 0.97 * (h + 1.0) + 0.2 * rng.normal()
        variances[t] = h
        returns[t] = np.exp(0.5 * h) * rng.normal()
    return variances, returns


@nb.njit
def gbm(rng, n, n_paths=w.PATHS):
    out, s = np.empty((n, n_paths)), np.full(n_paths, 100.0)
    shift, width = (0.05 - 0.5 * 0.2**2) / 252, 0.2 / 252**0.5
    for t in range(n):
        for i in range(n_paths):
            s[i] *= np.exp(shift + width * rng.normal())
            out[t, i] = s[i]
    return out


@nb.njit
def sir(rng, n):
    susceptible, infected = np.empty(n, np.int64), np.empty(n, np.int64)
    s, i = 99_990, 10
    for t in range(n):
        caught = rng.binomial(s, 1.0 - np.exp(-0.3 * i / 100_000.0))
        healed = rng.binomial(i, 0.1)
        s, i = s - caught, i + caught - healed
        susceptible[t], infected[t] = s, i
    return susceptible, infected


@nb.njit
def metropolis(rng, n, size=w.DIMENSIONS):
    path, densities = np.empty((n, size)), np.empty(n)
    x, proposal, density = np.zeros(size), np.empty(size), 0.0
    for t in range(n):
        squares = 0.0
        for i in range(size):
            proposal[i] = x[i] + 0.5 * rng.normal()
            squares += proposal[i] * proposal[i]
        if np.log(rng.random()) < -0.5 * squares - density:
            x[:] = proposal
            density = -0.5 * squares
        path[t] = x
        densities[t] = density
    return path, densities


@nb.njit
def logistic(rng, n):
    out, x = np.empty(n), 0.3
    for t in range(n):
        x = 3.7 * x * (1.0 - x)
        out[t] = x
    return out


LOOPS = {"repro": draws, "draws": draws, "ar1": ar1, "ar1_last": ar1_last, "stochvol": stochvol, "gbm": gbm, "sir": sir, "metropolis": metropolis,
         "logistic": logistic}


def compiled(name):
    """A call of the workload without arguments, or None."""
    rng, n_steps = np.random.default_rng(w.SEED), w.WORKLOADS[name][0]
    return (lambda: LOOPS[name](rng, n_steps)) if name in LOOPS else None
