"""Linear algebra by one name: what `nlinalg` and `slinalg` have.

Relies on both.
"""

from __future__ import annotations

from pyscan.tensor.nlinalg import (  # noqa: F401
    det,
    eig,
    eigh,
    inv,
    lstsq,
    matrix_dot,
    matrix_inverse,
    matrix_power,
    norm,
    pinv,
    qr,
    svd,
    tensorinv,
    tensorsolve,
    trace,
)
from pyscan.tensor.slinalg import (  # noqa: F401
    cho_solve,
    cholesky,
    eigvalsh,
    expm,
    kron,
    solve,
    solve_continuous_lyapunov,
    solve_discrete_lyapunov,
    solve_triangular,
)
