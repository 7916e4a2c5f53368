"""Cholesky factors and linear systems, by NumPy's LAPACK.

Relies on `nlinalg`.
"""

from __future__ import annotations

import numpy as np

from pyscan._core import Apply, Op
from pyscan.errors import tell_arguments
from pyscan.library import is_native
from pyscan.scalar import upcast
from pyscan.tensor.nlinalg import _MatrixOp, float_matrix
from pyscan.tensor.type import tensor_type


class Cholesky(_MatrixOp):
    """Positive definite matrix -> its triangular factor."""

    __props__ = ("lower", "destructive", "on_error")
    library = "cholesky"

    def __init__(self, lower=True, destructive=False, on_error="raise"):
        if on_error not in ("raise", "nan"):
            raise ValueError('on_error must be one of "raise" or ""nan"')
        self.lower, self.destructive, self.on_error = lower, destructive, on_error
        self.is_adjoint, self.allows_failure = not lower, on_error == "nan"

    def make_node(self, x):
        x = float_matrix(self, x)
        return Apply(self, [x], [tensor_type(x.type.dtype, x.type.shape)()])

    def compute(self, x):
        try:
            factor = np.linalg.cholesky(x)
        except np.linalg.LinAlgError:
            if self.on_error == "raise":
                raise
            return np.full(x.shape, np.nan)
        return factor if self.lower else factor.conj().T


def cholesky(a, lower=True, on_error="raise"):
    """The triangular L with L @ L.T equal to the positive definite matrix (with `lower=False`, U with U.T @ U).

    A matrix that is not positive definite raises `LinAlgError`, or with `on_error="nan"` gives NaNs.
    """
    return Cholesky(lower=lower, on_error=on_error)(a)


class Solve(Op):
    """(A, b) -> x with A @ x equal to b, for a vector or the columns of a matrix b."""

    __props__ = ("assume_a", "lower", "check_finite")
    turn = 0  # 1: the transpose of the matrix is taken, 2: its adjoint

    @property
    def kind(self):
        return "solve" if is_native("solve") and is_native("solve1") else None

    @property
    def triangle(self):
        """Which triangle is read, in the bits that the core knows: 1 the lower one, 2 ones on the diagonal, 4 mirrored, 8 and conjugated."""
        return {"gen": -1, "sym": 4, "pos": 12, "her": 12}[self.assume_a] + (self.lower if self.assume_a != "gen" else 0)

    def __init__(self, assume_a="gen", lower=False, check_finite=True):
        if assume_a not in ("gen", "sym", "her", "pos"):
            raise ValueError(f"{assume_a} is not a recognized matrix structure")
        self.assume_a, self.lower, self.check_finite = assume_a, lower, check_finite

    def make_node(self, A, b):
        A, b = float_matrix(self, A, refusal=ValueError), float_matrix(self, b, ndim=1, refusal=ValueError)
        dtype = upcast(A.type.dtype, b.type.dtype)
        return Apply(self, [A, b], [tensor_type(dtype, (A.type.shape[1], *b.type.shape[1:]))()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.linalg.solve(self.prepared(inputs[0]), inputs[1]).astype(node.outputs[0].type.dtype, copy=False)

    def prepared(self, A):
        """The whole matrix, where only one triangle of a symmetric one is to be read."""
        if self.assume_a == "gen":
            return A
        half = np.tril(A, -1) if self.lower else np.triu(A, 1)
        other = half.T if self.assume_a == "sym" else half.conj().T
        return half + other + np.diag(np.diag(A))


class SolveTriangular(Solve):
    """(A, b) -> x with A @ x equal to b, where one triangle of A is read."""

    __props__ = ("trans", "unit_diagonal", "lower", "check_finite")

    def __init__(self, trans=0, lower=False, unit_diagonal=False, check_finite=True):
        super().__init__("gen", lower, check_finite)
        if trans not in (0, 1, 2, "N", "T", "C"):
            raise ValueError(f"trans must be 0, 1, 2, 'N', 'T' or 'C', not {trans!r}")
        self.trans, self.unit_diagonal = trans, unit_diagonal
        self.turn = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}[trans]

    @property
    def triangle(self):
        return self.lower + 2 * self.unit_diagonal

    def prepared(self, A):
        A = np.tril(A) if self.lower else np.triu(A)
        if self.unit_diagonal:
            np.fill_diagonal(A, 1)
        if self.trans in (1, "T"):
            return A.T
        return A.conj().T if self.trans in (2, "C") else A


def solve(a, b, assume_a="gen", lower=False, check_finite=True):
    """x with a @ x equal to b. `assume_a="pos"`, "sym" or "her" reads one triangle of `a`."""
    return Solve(assume_a, lower, check_finite)(a, b)


def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, check_finite=True):
    """x with a @ x equal to b for a triangular matrix `a` (transposed: `trans=1`)."""
    return SolveTriangular(trans, lower, unit_diagonal, check_finite)(a, b)


def cho_solve(c_and_lower, b, check_finite=True):
    """x with A @ x equal to b, from the Cholesky factor of A: `cho_solve((L, True), b)`."""
    factor, lower = c_and_lower
    first = solve_triangular(factor, b, trans=0 if lower else 1, lower=lower)
    return solve_triangular(factor, first, trans=1 if lower else 0, lower=lower)


solve_lower_triangular = SolveTriangular(lower=True)
solve_upper_triangular = SolveTriangular(lower=False)


tell_arguments(globals())
