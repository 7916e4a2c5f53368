"""Linear algebra of matrices: inverse, determinant, decompositions, norms. NumPy's
LAPACK computes them, by its C loops (`pyscan.library`) or, where there is none, by a call-back.

Relies on `math`, `extra_ops`, `shape`; `tensorsolve` on `slinalg`, imported late.
"""

from __future__ import annotations

import numpy as np

from pyscan._core import Apply, Op
from pyscan.errors import tell_arguments
from pyscan.library import is_native
from pyscan.scalar import dtype_kinds, upcast
from pyscan.tensor import math
from pyscan.tensor.basic import as_tensor_variable, cast, concatenate
from pyscan.tensor.elemwise import normalize_axes
from pyscan.tensor.extra_ops import diagonal, eye
from pyscan.tensor.math import matrix_dot  # noqa: F401
from pyscan.tensor.shape import moveaxis, reshape
from pyscan.tensor.type import tensor_type


def float_matrix(op, x, ndim=2, refusal=TypeError, is_stack=False):
    """`x` as a matrix (a vector too when `ndim` is 1; a stack of them) of a dtype that LAPACK knows; integers become float64."""
    x = as_tensor_variable(x)
    if not ndim <= x.type.ndim <= (np.inf if is_stack else 2):
        raise refusal(f"{type(op).__name__} takes a matrix{' or a stack of them' if is_stack else ''}; got {x} of type {x.type}")
    return cast(x, "float64") if dtype_kinds[x.type.dtype] in "biu" else x


def real_dtype(dtype):
    """The dtype of the parts of a complex number of `dtype`, or `dtype`."""
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def kind_by(kind, *rows):
    """The core's kind of an Op, if the running NumPy has these rows' functions; else None, and the Op calls back."""
    return kind if all(is_native(row) for row in rows) else None


class _MatrixOp(Op):
    """An Op of one matrix. `library` is the core's row of the function; of its result the adjoint is taken (`is_adjoint`), and what
    can't be computed is NaN (`allows_failure`). `compute` is the same by NumPy's function.
    """

    __props__: tuple = ()
    library: str
    is_adjoint = False
    allows_failure = False

    @property
    def kind(self):
        return kind_by("matrix", self.library)

    def compute(self, x):
        raise NotImplementedError

    def perform(self, node, inputs, output_storage):
        result = self.compute(np.asarray(inputs[0]))
        for cell, value, out in zip(output_storage, result if isinstance(result, tuple) else (result,), node.outputs):
            cell[0] = np.asarray(value, dtype=out.type.dtype)


class MatrixInverse(_MatrixOp):
    """Matrix -> its inverse."""

    library = "inv"

    def make_node(self, x):
        x = float_matrix(self, x)
        return Apply(self, [x], [tensor_type(x.type.dtype, x.type.shape[::-1])()])

    def compute(self, x):
        return np.linalg.inv(x)


class Inv(MatrixInverse):
    """Matrix, or a stack of matrices along leading axes -> their inverses."""

    def make_node(self, x):
        x = float_matrix(self, x, is_stack=True)
        return Apply(self, [x], [tensor_type(x.type.dtype, (*x.type.shape[:-2], *x.type.shape[:-3:-1]))()])


class MatrixPinv(MatrixInverse):
    """Matrix -> its Moore-Penrose pseudo-inverse."""

    __props__ = ("hermitian",)

    def __init__(self, hermitian=False):
        self.hermitian = hermitian
        self.library = "eigh_lower" if hermitian else "svd_thin"

    @property
    def kind(self):
        return kind_by("pinv", self.library, "matmul")

    def compute(self, x):
        return np.linalg.pinv(x, hermitian=self.hermitian)


class Det(_MatrixOp):
    """Matrix -> its determinant."""

    library = "det"

    def make_node(self, x):
        x = float_matrix(self, x)
        return Apply(self, [x], [tensor_type(x.type.dtype, ())()])

    def compute(self, x):
        return np.linalg.det(x)


class Eigh(_MatrixOp):
    """Symmetric or Hermitian matrix -> eigenvalues in ascending order, eigenvectors."""

    __props__ = ("UPLO",)

    def __init__(self, UPLO="L"):
        if UPLO not in ("L", "U"):
            raise ValueError(f"UPLO must be 'L' or 'U', not {UPLO!r}")
        self.UPLO = UPLO
        self.library = "eigh_lower" if UPLO == "L" else "eigh_upper"

    def make_node(self, x):
        x = float_matrix(self, x)
        dtype = x.type.dtype
        return Apply(self, [x], [tensor_type(real_dtype(dtype), (None,))("w"), tensor_type(dtype, (None, None))("v")])

    def compute(self, x):
        return tuple(np.linalg.eigh(x, self.UPLO))


class Eig(_MatrixOp):
    """Matrix -> its eigenvalues and eigenvectors, which must be real for a real matrix."""

    library = "eig"

    @property
    def kind(self):
        return kind_by("eig", self.library)

    def make_node(self, x):
        x = float_matrix(self, x)
        return Apply(self, [x], [tensor_type(x.type.dtype, (None,))(), tensor_type(x.type.dtype, (None, None))()])

    def compute(self, x):
        values, vectors = np.linalg.eig(x)
        if np.iscomplexobj(values) and not np.iscomplexobj(x):  # NumPy 2.5 and later give complex numbers of every matrix
            if values.imag.any():
                raise np.linalg.LinAlgError("Eig: the matrix has complex eigenvalues; cast it to complex first")
            return values.real, vectors.real
        return values, vectors


class SVD(_MatrixOp):
    """Matrix -> U, s, Vh, or s alone."""

    __props__ = ("full_matrices", "compute_uv")

    def __init__(self, full_matrices=True, compute_uv=True):
        self.full_matrices, self.compute_uv = full_matrices, compute_uv
        self.library = "svd_values" if not compute_uv else "svd_full" if full_matrices else "svd_thin"

    def make_node(self, x):
        x = float_matrix(self, x)
        s = tensor_type(real_dtype(x.type.dtype), (None,))()
        if not self.compute_uv:
            return Apply(self, [x], [s])
        matrix = tensor_type(x.type.dtype, (None, None))
        return Apply(self, [x], [matrix(), s, matrix()])

    def compute(self, x):
        result = np.linalg.svd(x, bool(self.full_matrices), bool(self.compute_uv))
        return tuple(result) if self.compute_uv else result


class QRFull(_MatrixOp):
    """Matrix -> Q and R, R alone (mode "r"), or the reflections that LAPACK makes them of (mode "raw")."""

    __props__ = ("mode",)
    library = "qr_raw"

    def __init__(self, mode):
        if mode not in ("reduced", "complete", "r", "raw"):
            raise ValueError(f"mode must be 'reduced', 'complete', 'r' or 'raw', not {mode!r}")
        self.mode = mode
        self.is_complete, self.is_raw = mode == "complete", mode == "raw"

    @property
    def kind(self):
        return kind_by("qr", self.library, "qr_complete" if self.is_complete else "qr_reduced")

    def make_node(self, x):
        x = float_matrix(self, x)
        matrix = tensor_type(x.type.dtype, (None, None))
        last = tensor_type(x.type.dtype, (None,)) if self.is_raw else matrix
        return Apply(self, [x], [last()] if self.mode == "r" else [matrix(), last()])

    def compute(self, x):
        result = np.linalg.qr(x, self.mode)
        return result if self.mode == "r" else tuple(result)


class Lstsq(Op):
    """(A, b, rcond) -> the x with the smallest |b - A @ x|, the squares of these distances, the rank of A, its singular values."""

    __props__ = ()
    library = "lstsq"

    @property
    def kind(self):
        return kind_by("lstsq", self.library)

    def make_node(self, x, y, rcond=None):
        x, y = float_matrix(self, x), float_matrix(self, y, ndim=1)
        dtype = upcast(x.type.dtype, y.type.dtype)
        if rcond is None:
            rcond = np.finfo("float64").eps * math.maximum(x.shape[0], x.shape[1])  # the precision in which NumPy computes it, whatever the dtype
        real = tensor_type(real_dtype(dtype), (None,))
        outputs = [tensor_type(dtype, (x.type.shape[1], *y.type.shape[1:]))(), real(), tensor_type("int64", ())(), real()]
        return Apply(self, [x, y, as_tensor_variable(rcond, ndim=0)], outputs)

    def perform(self, node, inputs, output_storage):
        x, y, rcond = inputs
        for cell, value, out in zip(output_storage, np.linalg.lstsq(x, y, rcond=float(rcond)), node.outputs):
            cell[0] = np.asarray(value, dtype=out.type.dtype)


matrix_inverse = MatrixInverse()
inv = Inv()
det = Det()
eig = Eig()
lstsq = Lstsq()


def pinv(x, hermitian=False):
    """The Moore-Penrose pseudo-inverse of a matrix."""
    return MatrixPinv(hermitian)(x)


def eigh(a, UPLO="L"):
    """[eigenvalues in ascending order, eigenvectors] of a symmetric or Hermitian matrix, of which one triangle is read."""
    return Eigh(UPLO)(a)


def svd(a, full_matrices=1, compute_uv=1):
    """[U, s, Vh] with U @ diag(s) @ Vh equal to the matrix; without `compute_uv` s alone."""
    return SVD(full_matrices, compute_uv)(a)


def qr(a, mode="reduced"):
    """[Q, R] with Q @ R equal to the matrix, Q orthogonal and R upper triangular; in mode "r" R alone, in mode "raw" LAPACK's reflections:
    a matrix, transposed, and their factors."""
    return QRFull(mode)(a)


def trace(X):
    """The sum of the diagonal of a matrix."""
    return math.sum(diagonal(X))


def matrix_power(M, n):
    """The product of n copies of a square matrix; n is a Python int, negative for the inverse."""
    M = as_tensor_variable(M)
    if n < 0:
        M, n = matrix_inverse(M), -n
    result = None
    while n:
        if n & 1:
            result = M if result is None else math.dot(result, M)
        M, n = math.dot(M, M) if n > 1 else M, n >> 1
    return eye(M.shape[0], dtype=M.type.dtype) if result is None else result


def norm(x, ord=None):
    """The norm of a vector, or the matrix norm of a matrix: "fro", 1, -1, inf, -inf; for vectors any p too.

    Raises
    ------
    ValueError
        An order that is not known for the rank.
    """
    x = as_tensor_variable(x)
    ord = "fro" if ord is None else ord
    if x.type.ndim == 1:
        return _vector_norm(x, ord)
    if x.type.ndim != 2:
        raise NotImplementedError("norm takes vectors and matrices")
    if ord == "fro":
        return math.sqrt(math.sum(math.square(math.abs(x))))
    sums = {1: 0, -1: 0, np.inf: 1, -np.inf: 1}
    if ord not in sums:
        raise ValueError(f"Invalid norm order for matrices: {ord!r}")
    totals = math.sum(math.abs(x), axis=sums[ord])
    return math.max(totals) if ord > 0 else math.min(totals)


def _vector_norm(x, ord):
    if ord == "fro" or ord == 2:
        return math.sqrt(math.sum(math.square(math.abs(x))))
    if ord == np.inf:
        return math.max(math.abs(x))
    if ord == -np.inf:
        return math.min(math.abs(x))
    if ord == 0:
        return math.sum(math.neq(x, 0))
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order for vectors: {ord!r}")
    return math.sum(math.abs(x) ** ord) ** (1.0 / ord)


def _lengths_product(lengths):
    return lengths[0] if lengths.type.shape == (1,) else math.prod(lengths)


def tensorinv(a, ind=2):
    """The inverse of `a` as a linear map from tensors of the shape `a.shape[ind:]` to those of `a.shape[:ind]`.

    The result has the shape `a.shape[ind:] + a.shape[:ind]`, and `tensordot(tensorinv(a, ind), a, ind)` is the identity.

    Raises
    ------
    ValueError
        `ind` is no Python int between 1 and the rank of `a` less 1.

    >>> import numpy as np, pyscan.tensor as at
    >>> float(at.nlinalg.tensorinv(2 * np.eye(4).reshape(4, 2, 2), ind=1).eval()[0, 0, 0])
    0.5
    """
    a = as_tensor_variable(a)
    if not (isinstance(ind, int) and 0 < ind < max(a.type.ndim, 2)):
        raise ValueError(f"Invalid ind argument: tensorinv takes a number of axes from 1 to {a.type.ndim - 1} for a tensor of rank {a.type.ndim}, not {ind!r}")
    rows = _lengths_product(a.shape[:ind])
    inverse = matrix_inverse(reshape(a, (rows, -1)))
    return reshape(inverse, concatenate([a.shape[ind:], a.shape[:ind]]), ndim=a.type.ndim)


def tensorsolve(a, b, axes=None):
    """The tensor x with `tensordot(a, x, x.ndim)` equal to `b`; the shape of `a` is that of `b` followed by that of x.

    `axes` are axes of `a` that are moved to its end first.

    Raises
    ------
    ValueError
        The rank of `a` is not larger than that of `b`.

    >>> import numpy as np, pyscan.tensor as at
    >>> at.nlinalg.tensorsolve(2 * np.eye(4).reshape(2, 2, 4), np.ones((2, 2))).eval()
    array([0.5, 0.5, 0.5, 0.5])
    """
    from pyscan.tensor.slinalg import solve  # here, since slinalg is built on this module
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    if axes is not None:
        axes = normalize_axes(axes, a.type.ndim)
        a = moveaxis(a, axes, range(a.type.ndim - len(axes), a.type.ndim))
    if not a.type.ndim > b.type.ndim:
        raise ValueError(f"tensorsolve takes a tensor of more axes than the right side has: got ranks {a.type.ndim} and {b.type.ndim}")
    lengths = a.shape[b.type.ndim:]
    solution = solve(reshape(a, (-1, _lengths_product(lengths))), b.flatten())
    return reshape(solution, lengths, ndim=a.type.ndim - b.type.ndim)


tell_arguments(globals())
