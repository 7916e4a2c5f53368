"""Vectors of normals: what Aesara refuses of their parameters, and factors of matrices of covariances.

A draw is ``mean + standard_normal @ factor.T``. NumPy's method finds the factor anew for each draw, which takes longer than all
else. The core finds it once for a matrix, here, and goes on by itself; other draws call `draw`, which calls the method.

Relies on: NumPy alone. Relied on by: the core (`find_factor`), csrc/random/dists.def (`draw`).
"""
from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

# How far NumPy's method lets a matrix be from what its factor makes, before it warns.
_TOLERANCE = 1e-8
# How far below 0 SciPy's law lets an eigenvalue be, in parts of the largest.
_NEGLIGIBLE = 1e6 * np.finfo("float64").eps


def find_factor(cov: np.ndarray) -> tuple[np.ndarray, bool]:
    """The factor of a square matrix of doubles, and whether it may be kept: not where NumPy's method warns of the matrix at each draw.

    ValueError for a matrix that is not positive semidefinite or not finite.

    >>> find_factor(np.array([[4.0, 0.0], [0.0, 1.0]]))
    (array([[2., 0.],
           [0., 1.]]), True)
    """
    key = cov.shape[0], cov.tobytes()
    found = _factors.get(key)
    if found is not None:
        return found, True
    _check_values(*key)
    u, s, vh = np.linalg.svd(cov)
    factor = np.ascontiguousarray(u * np.sqrt(s))
    if not np.all(np.abs(np.dot(vh.T * s, vh) - cov) <= _TOLERANCE + _TOLERANCE * np.abs(cov)):
        np.random.Generator(np.random.SFC64(0)).multivariate_normal(np.zeros(len(cov)), cov)  # it warns in its own words
        return factor, False
    if len(_factors) >= _MOST_FACTORS:
        _factors.clear()
    if cov.size <= _MOST_ENTRIES:
        _factors[key] = factor
    return factor, True


# Of the matrices that were asked for of late, by length and bytes: for functions that make a draw or two a call.
_factors: dict[tuple[int, bytes], np.ndarray] = {}
_MOST_FACTORS, _MOST_ENTRIES = 32, 64 * 64


@lru_cache(_MOST_FACTORS)
def _check_values(n: int, cov: bytes) -> None:
    """ValueError, in SciPy's words, for a matrix that it refuses."""
    matrix = np.frombuffer(cov).reshape(n, n)
    if not np.isfinite(matrix).all():
        raise ValueError("array must not contain infs or NaNs")
    values = np.linalg.eigvalsh(matrix)
    if np.min(values) < -_NEGLIGIBLE * np.max(np.abs(values)):
        raise ValueError("The input matrix must be symmetric positive semidefinite.")


def _check(mean: np.ndarray, cov: np.ndarray) -> None:
    """ValueError, in SciPy's words, for parameters of one draw that it refuses."""
    n = len(mean)
    if n == 1 and cov.size != 1:
        raise ValueError(f"cannot reshape array of size {cov.size} into shape (1,1)")
    if cov.shape[0] != cov.shape[1]:
        raise ValueError(f"Array 'cov' must be square if it is two dimensional, but cov.shape = {cov.shape}.")
    if len(cov) != n:
        raise ValueError(f"Dimension mismatch: array 'cov' is of shape {cov.shape}, but 'mean' is a vector of length {n}.")
    if n > 0:
        _check_values(n, np.asarray(cov, "float64").tobytes())


def draw(rng: Any, mean: np.ndarray, cov: np.ndarray, size: tuple[int, ...]) -> np.ndarray:
    """Draws by the method of a Generator or RandomState: of the shape `size`, and where a parameter is a batch one by one.

    ValueError for parameters that SciPy refuses, and for batches that do not broadcast to the size.

    >>> draw(np.random.default_rng(3), np.zeros((2, 1)), np.ones((1, 1)), (2,)).shape
    (2, 1)
    """
    if mean.ndim == 1 and cov.ndim == 2:
        _check(mean, cov)
        return rng.multivariate_normal(mean, cov, size)
    means = np.broadcast_to(mean, (*size, *mean.shape[-1:]))
    covs = np.broadcast_to(cov, (*size, *cov.shape[-2:]))
    drawn = np.empty(means.shape)
    for index in np.ndindex(*size):
        _check(means[index], covs[index])
        drawn[index] = rng.multivariate_normal(means[index], covs[index])
    return drawn
