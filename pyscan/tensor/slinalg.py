"""Cholesky factors and linear systems, by NumPy's LAPACK, and what is composed of them: Kronecker products, eigenvalues of pairs of
matrices, exponentials, Lyapunov's equations.

Relies on `nlinalg`, `math`, `extra_ops`; `expm` on the scan, imported late.
"""

from __future__ import annotations

import numpy as np

from pyscan._core import Apply, Op
from pyscan.errors import tell_arguments
from pyscan.library import is_native
from pyscan.scalar import complex_dtypes, dtype_kinds, upcast
from pyscan.tensor import math
from pyscan.tensor.basic import as_tensor_variable, cast, constant, switch
from pyscan.tensor.elemwise import dimshuffle
from pyscan.tensor.extra_ops import eye, tril, triu
from pyscan.tensor.nlinalg import _MatrixOp, eigh, float_matrix, matrix_inverse, real_dtype
from pyscan.tensor.shape import reshape
from pyscan.tensor.type import tensor_type
from pyscan.tensor.type_other import NoneConst


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
solve_symmetric = Solve(assume_a="sym")
solvetriangular = SolveTriangular()


def _square(name, x):
    """`x` as a matrix of floats for the function called `name`."""
    x = as_tensor_variable(x)
    rows, columns = x.type.shape if x.type.ndim == 2 else (0, 1)
    if x.type.ndim != 2 or (rows is not None and columns is not None and rows != columns):
        raise ValueError(f"{name} takes a square matrix; got {x} of type {x.type}")
    return cast(x, "float64") if dtype_kinds[x.type.dtype] in "biu" else x


def _adjoint(x):
    return math.conj(x.T)


def iscomplexobj(x):
    """Whether the dtype of a tensor is complex."""
    return as_tensor_variable(x).type.dtype in complex_dtypes


def kron(a, b):
    """The Kronecker product: `b` in the place of each element of `a`, multiplied by it. A vector is a row; further axes follow.

    Raises
    ------
    TypeError
        The ranks add up to less than 3.

    >>> import numpy as np, pyscan.tensor as at
    >>> at.linalg.kron(np.eye(2), np.array([[1.0, 2.0]])).eval()
    array([[1., 2., 0., 0.],
           [0., 0., 1., 2.]])
    """
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    n, m = a.type.ndim, b.type.ndim
    if n + m <= 2:
        raise TypeError(f"kron: inputs dimensions must sum to 3 or more. You passed {n} and {m}.")
    axes = list(range(n + m))
    products = math.mul(dimshuffle(a, axes[:n] + ["x"] * m), dimshuffle(b, ["x"] * n + axes[:m]))
    lengths = [*a.shape, *b.shape]
    if n + m == 3:
        return dimshuffle(products, (1, 0, 2)).flatten()
    products = dimshuffle(products, [0, 2, 1, *axes[3:]])
    return reshape(products, [lengths[0] * lengths[2], lengths[1] * lengths[3], *lengths[4:]])


def eigvalsh(a, b=None, lower=True):
    """The eigenvalues, in ascending order, of a symmetric or Hermitian matrix, of which one triangle is read; with `b`, which must be
    positive definite, the w for which `a @ v` is `w * b @ v` for some v.

    Raises
    ------
    ValueError
        When it is built: an argument is no square matrix.
    LinAlgError
        When it runs: `b` is not positive definite.

    >>> import numpy as np, pyscan.tensor as at
    >>> at.slinalg.eigvalsh(np.diag([6.0, 4.0]), np.diag([2.0, 4.0])).eval()
    array([1., 3.])
    """
    a = _square("eigvalsh", a)
    if b is None or b is NoneConst:
        return eigh(a, "L" if lower else "U")[0]
    a, b = (_mirrored(_square("eigvalsh", x), lower) for x in (a, b))
    factor = cholesky(b)
    half = solve_triangular(factor, a, lower=True)
    return eigh(solve_triangular(factor, _adjoint(half), lower=True))[0]


def _mirrored(x, lower):
    """The whole of a Hermitian matrix by one of its triangles."""
    return tril(x) + _adjoint(tril(x, -1)) if lower else triu(x) + _adjoint(triu(x, 1))


# The numerator of the [13/13] Padé approximant of exp, by ascending powers; the denominator has the signs alternating.
_PADE = (64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0, 10559470521600.0,
         670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0)
_PADE_RADIUS = 5.371920351148152  # the 1-norm up to which it is exact in double precision (Higham 2005, "The scaling and squaring method")


def expm(a):
    """The exponential of a square matrix, by scaling, a Padé approximant and squaring.

    Raises
    ------
    ValueError
        When it is built: the argument is no square matrix.

    >>> import numpy as np, pyscan.tensor as at
    >>> at.linalg.expm(np.zeros((2, 2))).eval()
    array([[1., 0.],
           [0., 1.]])
    """
    from pyscan.scan import scan  # here, since the scan is built on tensors
    a = _square("expm", a)
    dtype = a.type.dtype
    weights = [constant(np.asarray(weight, real_dtype(dtype))) for weight in _PADE]
    norm = math.max(math.sum(math.abs(a), axis=0))
    usable = math.and_(math.ge(norm, 0), math.invert(math.isinf(norm)))  # else the result is NaN whatever the number of squarings
    wanted = math.ceil(math.log2(switch(usable, norm, 1) / _PADE_RADIUS))
    squarings = cast(math.maximum(wanted, 1), "int64")
    a = a * cast(2.0 ** cast(-squarings, "float64"), real_dtype(dtype))
    powers = [eye(a.shape[0], dtype=dtype), math.dot(a, a)]
    powers += [math.dot(powers[1], powers[1])]
    powers += [math.dot(powers[2], powers[1])]

    def half(first):
        low = sum(weights[first + 2 * k] * powers[k] for k in range(4))
        high = sum(weights[first + 6 + 2 * k] * powers[k] for k in range(1, 4))
        return low + math.dot(powers[3], high)

    odd, even = math.dot(a, half(1)), half(0)
    squares, _ = scan(lambda x: math.dot(x, x), outputs_info=[solve(even - odd, even + odd)], n_steps=squarings, name="expm")
    return squares[-1]


def solve_discrete_lyapunov(A, Q, method="direct"):
    """The X for which `A @ X @ A.conj().T - X + Q` is zero. Both methods solve one linear system for the n * n elements of X; "bilinear"
    takes A to the continuous equation first.

    Raises
    ------
    ValueError
        An unknown method, or an argument that is no square matrix.

    >>> import numpy as np, pyscan.tensor as at
    >>> at.slinalg.solve_discrete_lyapunov(0.5 * np.eye(1), np.array([[3.0]])).eval()
    array([[4.]])
    """
    if method not in ("direct", "bilinear"):
        raise ValueError(f'Parameter "method" must be one of "direct" or "bilinear", found {method}')
    A, Q = _square("solve_discrete_lyapunov", A), _square("solve_discrete_lyapunov", Q)
    one = eye(A.shape[0], dtype=A.type.dtype)
    if method == "direct":
        system = kron(A, math.conj(A))
        return reshape(solve(eye(system.shape[0], dtype=A.type.dtype) - system, Q.flatten()), Q.shape)
    shifted = matrix_inverse(_adjoint(A) + one)
    turned = math.dot(_adjoint(A) - one, shifted)
    right = 2 * math.dot(math.dot(matrix_inverse(A + one), Q), shifted)
    return solve_continuous_lyapunov(_adjoint(turned), -right)


def solve_continuous_lyapunov(A, Q):
    """The X for which `A @ X + X @ A.conj().T` is `Q`: one linear system for its n * n elements.

    Raises
    ------
    ValueError
        An argument is no square matrix.

    >>> import numpy as np, pyscan.tensor as at
    >>> at.slinalg.solve_continuous_lyapunov(np.array([[2.0]]), np.array([[8.0]])).eval()
    array([[2.]])
    """
    A, Q = _square("solve_continuous_lyapunov", A), _square("solve_continuous_lyapunov", Q)
    one = eye(A.shape[0], dtype=A.type.dtype)
    return reshape(solve(kron(A, one) + kron(one, math.conj(A)), Q.flatten()), Q.shape)


tell_arguments(globals())
