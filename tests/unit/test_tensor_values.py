"""What the tensor functions compute, compiled with and without rewriting, against NumPy."""
import math

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core
from pyscan.raise_op import CheckAndRaise
from pyscan.tensor import linalg, nlinalg, slinalg, special
from pyscan.tensor.elemwise import elemwise_ops
from pyscan.tensor.shape import specify_shape, unbroadcast

RNG = np.random.default_rng(5)
DATA = {
    "x": np.array([0.5, -1.25, 3.0, 2.0]),
    "y": np.array([2.0, 0.25, -3.0, 2.0]),
    "m": RNG.normal(size=(3, 4)),
    "q": RNG.normal(size=(3, 3)) + 4 * np.eye(3),
    "t": RNG.normal(size=(2, 3, 4)),
    "f": np.array([0.1, 0.7, -2.5], dtype="float32"),
    "i": np.array([2, 0, 1, 2], dtype="int32"),
    "l": np.array([7, -7, 3], dtype="int64"),
    "b": np.array([-128, 5, 127], dtype="int8"),
    "u": np.array([0, 200, 255], dtype="uint8"),
    "p": np.array([True, False, True, True]),
    "z": np.array([1 + 2j, -0.5j]),
    "s": np.array(1.5),
    "j": np.array(1),
    "n": np.array(2),
}
VARIABLES = {name: at.TensorType(data.dtype, (None,) * data.ndim)(name) for name, data in DATA.items()}
NAMES = dict(at=at, np=np, special=special, linalg=linalg, nlinalg=nlinalg, slinalg=slinalg, specify_shape=specify_shape, unbroadcast=unbroadcast)


def evaluate(expression, mode):
    """The value of an expression in the variables, compiled in `mode`."""
    result = eval(expression, {**NAMES, **VARIABLES})
    several = isinstance(result, (list, tuple))
    outputs = list(result) if several else [result]
    used = [VARIABLES[name] for name in DATA]
    function = pyscan.function(used, outputs, mode=mode, on_unused_input="ignore")
    values = function(*DATA.values())
    for value, output in zip(values, outputs):
        assert value.dtype == output.dtype and value.ndim == output.ndim
        assert all(s is None or s == n for s, n in zip(output.type.shape, value.shape))
    return values if several else values[0]


def expected_of(text):
    return eval(text, {**NAMES, **DATA, "math": math})


SAME = [  # expressions that NumPy's arrays understand as they are
    "x + y", "x - y", "x * y", "x / y", "x // y", "x % y", "x ** 2", "abs(x) ** 0.5", "-x", "abs(x)", "2 - x", "x + m", "m * 2", "x < y", "x >= y",
    "l // 2", "l % 3", "l // -2", "l % -3", "u // 7", "i ** 2", "b * 1", "p & ~p", "p | p", "p ^ p", "i & 3", "z * z", "z / 2", "abs(z)",
    "x[1]", "x[-1]", "x[1:3]", "x[::-1]", "x[::2]", "x[-3:-1]", "x[10:]", "x[j]", "x[j:]", "x[:n]", "x[n:j:-1]", "m[0]", "m[:, 1]", "m[..., -1]",
    "m[None]", "m[:, None]", "m[1:, ::2]", "m[None, 0, None]", "t[1, :, 2]", "t[..., None, 0]", "m[()]",
    "x[i]", "m[i]", "m[:, i]", "m[i, i]", "m[i, 1:]", "m[i, None]", "t[i % 2, :, i]", "t[:, i, i]", "x[p]", "x[x > 0]", "m[:, p]", "x[[3, 0, 3]]", "m[[]]",
    "m[np.array([[0, 1], [2, 0]])]", "m[np.array([True, False, True])]", "m[m > 0]",
    "m.T", "t.transpose(2, 0, 1)", "m.reshape((2, 6))", "m.reshape((2, -1))", "m.ravel()", "m.sum()", "m.sum(axis=0)", "m.sum(axis=(0, 1))",
    "m.sum(axis=-1, keepdims=True)", "t.sum(axis=(0, 2))", "i.sum()", "u.sum()", "p.sum()", "z.sum()", "m.prod()", "m.prod(axis=1)", "l.prod()", "m.mean()", "m.mean(axis=0)",
    "m.var()", "m.var(axis=0)", "m.std(axis=1)", "m.var(axis=0, ddof=1)", "m.max()", "m.max(axis=0)", "t.max(axis=(0, 1))", "m.min()", "m.min(axis=1)",
    "b.min()", "b.max()", "u.min()", "p.min()", "p.max()", "m.argmax()", "m.argmax(axis=0)", "m.argmin()", "m.argmin(axis=1)", "b.argmin()", "p.all()", "p.any()",
    "m.cumsum()", "m.cumsum(axis=0)", "m.cumprod(axis=-1)", "x.dot(y)", "m @ x", "q @ q", "x @ m.T", "i @ x", "m.swapaxes(0, 1)", "x.astype('float32')", "x.astype('int8')",
    "x.copy()", "m.diagonal()", "x.clip(-1, 1)", "x.repeat(2)", "m.repeat(2, axis=0)", "x.repeat(i)", "x.take(i)", "m.take(i, axis=1)", "i.choose([x, y, x * 2])",
    "x.argsort()", "q.trace()", "x.ptp() if hasattr(x, 'ptp') else np.ptp(x)", "x.nonzero()[0]", "x.compress(p)", "z.real", "z.imag", "z.conj()", "x.round()",
]  # fmt: skip
AS_NUMPY = [  # functions with NumPy's name: at.NAME there, np.NAME here
    "zeros(3)", "zeros((2, 3))", "ones((2,))", "eye(3)", "eye(2, 3, 1)", "tri(3)", "tril(m)", "triu(m, 1)", "arange(5)", "arange(1, 9, 3)", "arange(0.0, 1.0, 0.25)",
    "zeros_like(m)", "ones_like(i)", "concatenate([x, y])", "concatenate([m, m], axis=1)", "concatenate([x, i])", "stack([x, y])", "stack([x, y], axis=1)", "stack([s, s])",
    "exp(x)", "expm1(x)", "log(abs(x))", "log1p(x * x)", "sqrt(abs(x))", "sin(x)", "cos(x)", "tan(x)", "arctan(x)", "sinh(x)", "cosh(x)", "tanh(x)", "arcsinh(x)",
    "ceil(x)", "floor(x)", "trunc(x)", "square(x)", "reciprocal(x)", "maximum(x, y)", "minimum(x, y)", "arctan2(x, y)", "where(x > 0, x, y)", "isnan(x / 0)", "isinf(x / 0)",
    "power(x, 3)", "exp(z)", "sqrt(z)", "angle(z)", "clip(x, 0, 1)", "deg2rad(x)", "rad2deg(x)", "exp2(x)", "log2(abs(x))", "log10(abs(x))",
    "dot(q, m)", "dot(t, x)", "dot(x, q[:, 0]) if False else dot(x, y)", "outer(x, y)", "tensordot(t, m, 1) if False else tensordot(t, t, [[0, 2], [0, 2]])", "matmul(t, m.T)", "matmul(q, q)",
    "tensordot(x, y, 1)", "tensordot(x, y, 0)", "tile(x, 2)", "tile(m, (2, 1))", "repeat(x, 3)", "roll(x, 1)", "roll(m, -2, axis=1)", "roll(m, 5)", "broadcast_to(x, (2, 4))", "squeeze(m[None])",
    "expand_dims(x, 0)", "expand_dims(m, (0, 3))", "moveaxis(t, 0, 2)", "linspace(0.0, 1.0, 5)", "diag(x)", "diag(x, 1)", "diag(m)", "sort(x)", "sort(m, axis=0)", "sort(m, axis=None)", "argsort(x)",
    "searchsorted(sort(x), y)", "searchsorted(sort(x), 0.5, side='right')", "bincount(i)", "bincount(i, x, minlength=6)", "unique(x)", "unique(i, True, True, True)", "nonzero(m)", "flatnonzero(m)", "diff(x)",
    "diff(m, n=2, axis=0)", "isclose(x, y)", "isclose(x / 0, x / 0)", "allclose(x, x + 1e-12)", "cov(m)", "atleast_2d(x)", "atleast_1d(s)", "logaddexp(x, y)", "ptp(m, axis=0)", "take_along_axis(m, argsort(m, axis=1), axis=1)",
    "prod(i)", "all(m)", "any(m, axis=0)", "full((2,), 3.5)", "full_like(x, 2.5)", "split(x, [1, 3], 2)[0] if False else x", "vstack([m, m]) if False else m", "unravel_index(i, (2, 3))", "ravel_multi_index((i % 2, i), (2, 4))",
    "ravel_multi_index((i, i - 1), (2, 3), mode='wrap')", "ravel_multi_index((i, i), (2, 3), mode=('clip', 'wrap'), order='F')", "unravel_index(i, (2, 2, 3), order='F')",
]  # fmt: skip
WITH_EXPECTED = [
    ("at.join(0, x, y)", "np.concatenate([x, y])"),
    ("at.join(j - 1, x, y)", "np.concatenate([x, y])"),
    ("at.split(x, [1, 3], 2)", "[x[:1], x[1:]]"),
    ("at.alloc(x, 2, 4)", "np.broadcast_to(x, (2, 4))"),
    ("at.zeros((n, j))", "np.zeros((2, 1))"),
    ("at.zeros(m.shape)", "np.zeros(m.shape)"),
    ("at.empty((2, 3)).shape", "np.array([2, 3])"),
    ("m.shape", "np.array(m.shape)"),
    ("m.shape[1]", "np.int64(4)"),
    ("m.size", "np.int64(12)"),
    ("x.size", "np.int64(4)"),
    ("at.as_tensor([s, 2.0])", "np.array([1.5, 2.0])"),
    ("at.fill(x, 1)", "np.ones(4, 'int8')"),
    ("at.switch(x > 0, 1.0, y)", "np.where(x > 0, 1.0, y)"),
    ("at.sgn(x)", "np.sign(x)"),
    ("at.round_half_away_from_zero(x)", "np.array([1.0, -1.0, 3.0, 2.0])"),
    ("at.sigmoid(np.array([0.0, 1000.0, -1000.0]))", "np.array([0.5, 1.0, 0.0])"),
    ("at.softplus(x)", "np.log1p(np.exp(x))"),
    ("at.log1mexp(-abs(x))", "np.log(1 - np.exp(-abs(x)))"),
    ("at.gammaln(abs(x))", "np.array([math.lgamma(v) for v in abs(x)])"),
    ("at.erf(x)", "np.array([math.erf(v) for v in x])"),
    ("at.logsumexp(m, axis=0)", "np.log(np.exp(m).sum(axis=0))"),
    ("special.softmax(m)", "np.exp(m) / np.exp(m).sum(axis=-1, keepdims=True)"),
    ("special.log_softmax(m, axis=None)", "m - np.log(np.exp(m).sum())"),
    ("special.factorial(np.array([3.0, 4.0]))", "np.array([6.0, 24.0])"),
    ("x.norm(2)", "np.linalg.norm(x)"),
    ("at.smallest(x, y, x * 2)", "np.minimum(np.minimum(x, y), x * 2)"),
    ("at.largest(x, y)", "np.maximum(x, y)"),
    ("at.max_and_argmax(m, axis=1)", "[m.max(axis=1), m.argmax(axis=1)]"),
    ("divmod(l, 2)", "divmod(l, 2)"),
    ("at.batched_dot(t, t.transpose(0, 2, 1))", "t @ t.transpose(0, 2, 1)"),
    ("at.batched_dot(m, m)", "(m * m).sum(axis=1)"),
    ("unbroadcast(m[None], 0)", "m[None]"),
    ("specify_shape(m, (3, None))", "m"),
    ("at.set_subtensor(x[1:3], y[:2])", "np.concatenate([x[:1], y[:2], x[3:]])"),
    ("at.set_subtensor(x[j], 9)", "np.where(np.arange(4) == 1, 9, x)"),
    ("at.inc_subtensor(x[::2], 1)", "x + [1, 0, 1, 0]"),
    ("at.set_subtensor(m[:, 0], 0.0)", "m * [0, 1, 1, 1]"),
    ("at.set_subtensor(f[0], s)", "np.array([1.5, 0.7, -2.5], 'float32')"),
    ("at.inc_subtensor(x[[0, 0]], 1)", "x + [2, 0, 0, 0]"),
    ("at.inc_subtensor(x[[0, 0]], 1, ignore_duplicates=True)", "x + [1, 0, 0, 0]"),
    ("at.set_subtensor(x[p], 0.0)", "np.where(p, 0, x)"),
    ("at.inc_subtensor(m[i], 1)", "m + np.array([1, 1, 2])[:, None]"),
    ("at.set_subtensor(m[i, i], 0.0)", "m * (1 - np.eye(3, 4))"),
    ("at.inc_subtensor(m[:, i], 1)", "m + np.array([1, 1, 2, 0])"),
    ("at.inc_subtensor(m.T[1], 5.0)", "(m.T + np.array([0, 5.0, 0, 0])[:, None])"),
    ("at.inc_subtensor(m[i].T, 1)", "(m + np.array([1, 1, 2])[:, None]).T"),
    ("at.tile(x, (n, j))", "np.tile(x, (2, 1))"),
    ("at.mgrid[0:2, 0:3]", "list(np.mgrid[0:2, 0:3])"),
    ("at.to_one_hot(i, 3)", "np.eye(3)[i]"),
    ("at.fill_diagonal(q, 0.0)", "q * (1 - np.eye(3))"),
    ("at.inverse_permutation(at.as_tensor([2, 0, 1]))", "np.array([1, 2, 0])"),
    ("at.topk(x, 2)", "np.sort(x)[-2:]"),
    ("at.argtopk(x, -1)", "np.argsort(x)[:1]"),
    ("at.identity_like(q)", "np.eye(3)"),
    ("at.tril_indices(3)", "list(np.tril_indices(3))"),
    ("at.triu_indices_from(q)", "list(np.triu_indices(3))"),
    ("nlinalg.matrix_inverse(q)", "np.linalg.inv(q)"),
    ("nlinalg.det(q)", "np.linalg.det(q)"),
    ("nlinalg.trace(q)", "np.trace(q)"),
    ("nlinalg.svd(m)[1]", "np.linalg.svd(m)[1]"),
    ("nlinalg.qr(q)", "list(np.linalg.qr(q))"),
    ("nlinalg.eigh(q + q.T)[0]", "np.linalg.eigh(q + q.T)[0]"),
    ("nlinalg.matrix_power(q, 3)", "q @ q @ q"),
    ("nlinalg.norm(q, 'fro')", "np.linalg.norm(q)"),
    ("nlinalg.norm(q, np.inf)", "np.linalg.norm(q, np.inf)"),
    ("nlinalg.pinv(m)", "np.linalg.pinv(m)"),
    ("nlinalg.tensorinv(q.reshape((1, 3, 3)), 2)", "np.linalg.tensorinv(q.reshape((1, 3, 3)), 2)"),
    ("nlinalg.tensorinv(q.reshape((3, 1, 3)), ind=1)", "np.linalg.tensorinv(q.reshape((3, 1, 3)), ind=1)"),
    ("nlinalg.tensorsolve(q.reshape((3, 1, 3)), q[:, :1])", "np.linalg.tensorsolve(q.reshape((3, 1, 3)), q[:, :1])"),
    ("nlinalg.tensorsolve(q.reshape((3, 3, 1)), q[0], (0,))", "np.linalg.tensorsolve(q.reshape((3, 3, 1)), q[0], (0,))"),
    ("nlinalg.lstsq(m.T, x, 1e-9)[0]", "np.linalg.lstsq(m.T, x, rcond=1e-9)[0]"),
    ("nlinalg.lstsq(m.T, m.T[:, :2])", "list(np.linalg.lstsq(m.T, m.T[:, :2], rcond=None))"),
    ("slinalg.kron(m, q)", "np.kron(m, q)"),
    ("slinalg.kron(x, m)", "np.multiply.outer(x, m).transpose(1, 0, 2).ravel()"),
    ("slinalg.kron(t, m)", "(t[..., None, None] * m).transpose(0, 2, 1, 3, 4).reshape(8, 9, 4)"),
    ("slinalg.eigvalsh(q)", "np.linalg.eigvalsh(q, 'L')"),
    ("slinalg.eigvalsh(q, None, lower=False)", "np.linalg.eigvalsh(q, 'U')"),
    ("slinalg.eigvalsh(q + q.T, at.dot(q, q.T) + at.eye(3))", "np.sort(np.linalg.eigvals(np.linalg.solve(q @ q.T + np.eye(3), q + q.T)).real)"),
    ("slinalg.eigvalsh(at.tril(q + q.T), at.tril(at.dot(q, q.T) + at.eye(3)))", "np.sort(np.linalg.eigvals(np.linalg.solve(q @ q.T + np.eye(3), q + q.T)).real)"),
    ("linalg.expm(at.diag(x))", "np.diag(np.exp(x))"),
    ("linalg.expm(100 * at.triu(at.ones((2, 2)), 1))", "np.array([[1.0, 100.0], [0.0, 1.0]])"),
    ("linalg.expm(20 * np.array([[0.0, -1.0], [1.0, 0.0]]))", "np.array([[np.cos(20), -np.sin(20)], [np.sin(20), np.cos(20)]])"),
    ("linalg.expm(1j * at.diag(x))", "np.diag(np.exp(1j * x))"),
    ("linalg.solve_continuous_lyapunov(q, at.dot(q, m) @ m.T + at.dot(m, m.T) @ q.T)", "m @ m.T"),
    ("[a @ r @ a.T - r + q for a in [q / 9] for method in ('direct', 'bilinear') for r in [linalg.solve_discrete_lyapunov(a, q, method)]]", "[0 * q, 0 * q]"),
    ("slinalg.cholesky(at.dot(q, q.T))", "np.linalg.cholesky(q @ q.T)"),
    ("slinalg.solve(q, q[0])", "np.linalg.solve(q, q[0])"),
    ("slinalg.solve_triangular(q, q[0], lower=True)", "np.linalg.solve(np.tril(q), q[0])"),
    ("slinalg.cho_solve((slinalg.cholesky(at.dot(q, q.T)), True), q)", "np.linalg.solve(q @ q.T, q)"),
    ("at.constant(3) + 1", "np.int8(4)"),
    ("at.sum(m, axis=at.constant(-1))", "np.sum(m, axis=-1)"),
    ("at.max(m, axis=range(1))", "np.max(m, axis=0)"),
    ("at.add(x)", "x"),
    ("at.mul(i)", "i"),
    ("at.add(p)", "p"),
    ("at.mean(n)", "np.float64(n)"),
    ("at.var(n)", "np.float64(0.0)"),
    ("at.mean(i, axis=())", "i.astype('float64')"),
    ("at.batched_tensordot(t, t, [[1], [1]])", "np.einsum('bij,bik->bjk', t, t)"),
    ("at.batched_tensordot(t, at.transpose(t, (0, 2, 1)), 1)", "np.einsum('bij,bkj->bik', t, t)"),
    ("at.batched_tensordot(t, t, 0)", "np.einsum('bij,bkl->bijkl', t, t)"),
    ("at.stack(at.broadcast_shape((2, 1), (3,), arrays_are_shapes=True))", "np.array([2, 3])"),
    ("at.unravel_index(i, at.constant([2, 3]))", "np.unravel_index(i, (2, 3))"),
]
MODES = ["FAST_RUN", "FAST_COMPILE"]


def check(got, expected, rtol=1e-12):
    if isinstance(expected, (list, tuple)):
        assert len(got) == len(expected)
        for g, e in zip(got, expected):
            check(g, e, rtol)
        return
    assert np.shape(got) == np.shape(expected)
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=1e-13)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("expression", SAME)
def test_expressions_give_what_they_give_on_arrays(expression, mode):
    check(evaluate(expression, mode), expected_of(expression))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("expression", AS_NUMPY)
def test_functions_give_what_numpy_gives(expression, mode):
    prefixed = {name: getattr(at, name) for name in dir(at) if not name.startswith("_")}
    text = expression
    ours = eval(text, {**prefixed, **NAMES, **VARIABLES})
    theirs = eval(text, {**{k: getattr(np, k) for k in dir(np) if not k.startswith("_")}, **DATA})
    several = isinstance(ours, (list, tuple))
    function = pyscan.function(list(VARIABLES.values()), list(ours) if several else ours, mode=mode, on_unused_input="ignore")
    check(function(*DATA.values()), list(theirs) if several else theirs)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("expression, expected", WITH_EXPECTED)
def test_functions_give_the_expected_values(expression, expected, mode):
    check(evaluate(expression, mode), expected_of(expected), rtol=1e-10)


def test_means_of_integers_are_float64_whatever_the_rank():
    assert {at.mean(at.scalar(dtype=d)).dtype for d in ("int8", "int64", "uint16", "bool")} == {"float64"} and at.mean(at.fscalar()).dtype == "float32"


@pytest.mark.parametrize("build, kind, text", [
    (lambda i: at.ravel_multi_index((i, i), (3, 4)), ValueError, "invalid entry in coordinates array"),
    (lambda i: at.ravel_multi_index((i - 5, i), (3, 4), mode=("raise", "clip")), ValueError, "invalid entry in coordinates array"),
    (lambda i: at.unravel_index(i, (2, 1))[0], ValueError, "out of bounds"),
    (lambda i: at.unravel_index(i - 4, (9, 9))[0], ValueError, "out of bounds"),
])
def test_places_that_are_not_in_the_tensor_are_refused(build, kind, text):
    i = at.lvector("i")
    function = pyscan.function([i], build(i))
    with pytest.raises(kind, match=text):
        function([0, 3])


@pytest.mark.parametrize("build, kind, text", [
    (lambda m: at.ravel_multi_index((m[0], m[1]), (3, 4)), TypeError, "takes integers"),
    (lambda m: at.ravel_multi_index(([1],), (3, 4)), ValueError, "1 indices for 2 lengths"),
    (lambda m: at.ravel_multi_index(([1],), (3,), mode="foo"), ValueError, "'foo'"),
    (lambda m: at.unravel_index([1], (3,), order="K"), ValueError, "'K'"),
    (lambda m: at.batched_tensordot(m, m, 3), ValueError, "axes <= 1"),
    (lambda m: at.batched_tensordot(m, m, [[0], [1]]), ValueError, "batch"),
    (lambda m: m.cumsum(axis=(0, 1)), TypeError, r"an axis must be an integer, not \(0, 1\)"),
    (lambda m: m.cumprod(axis=at.lscalar("k")), TypeError, "k is symbolic"),
    (lambda m: m.argmax(axis=1.0), TypeError, "an axis must be an integer, not 1.0"),
    (lambda m: m.sum(axis=[0, 1.5]), TypeError, "an axis must be an integer, not 1.5"),
    (lambda m: m.dimshuffle(0, 1.5), TypeError, "an axis must be an integer, not 1.5"),
    (lambda m: at.stack([m, m], axis="a"), TypeError, "an axis must be an integer, not 'a'"),
    (lambda m: m.take([0], axis="a"), TypeError, "an axis must be an integer, not 'a'"),
    (lambda m: m.take([0], axis=2), IndexError, "too many indices for array: axis 2 of m"),
    (lambda m: m[at.eq(m[0, 0], 1.0)], TypeError, "a bool without dimensions is no index"),
])
def test_wrong_arguments_are_named(build, kind, text):
    with pytest.raises(kind, match=text):
        build(at.dmatrix("m"))


@pytest.mark.parametrize("row", _core.scalars(), ids=lambda row: row["name"])
def test_every_elementwise_operation_computes_what_its_kernel_does(row):
    values = np.array([0.25, 0.5, 0.75], dtype="float64" if "f" in row["classes"] else "int64")
    if "f" not in row["classes"]:
        values = np.array([1, 2, 3])
    n_in = 2 if row["n_in"] < 0 else row["n_in"]
    inputs = [at.TensorType(values.dtype, (None,))() for _ in range(n_in)]
    if row["rule"] == "SWITCH":
        return
    function = pyscan.function(inputs, elemwise_ops[row["name"]](*inputs), on_unused_input="ignore")
    arguments = [values[::-1].copy() if k % 2 else values for k in range(n_in)]
    np.testing.assert_array_equal(function(*arguments), _core.scalar(row["name"], *arguments))


@pytest.mark.parametrize(
    "expression, error, message",
    [
        ("x + x[:3]", ValueError, r"Input dimension mismatch"),
        ("l // 0", ZeroDivisionError, "integer division by zero"),
        ("x[10]", IndexError, "index out of bounds"),
        ("x[i + 10]", IndexError, "out of bounds"),
        ("x.reshape((2, 3))", ValueError, r"cannot reshape array of size 4 into shape \(2,3\)"),
        ("specify_shape(x, (3,))", AssertionError, "SpecifyShape: dim 0 of input has shape 4, expected 3."),
        ("at.set_subtensor(x[:2], y[:3])", ValueError, r"could not broadcast input array from shape \(3,\) into shape \(2,\)"),
        ("at.max(x[:0])", ValueError, "zero-size"),
        ("at.concatenate([m, q])", ValueError, "must match exactly"),
        ("at.Assert('x is not small')(x, at.all(x < 1))", AssertionError, "x is not small"),
        ("slinalg.cholesky(-q)", np.linalg.LinAlgError, "not positive definite"),
        ("at.split(x, [1, 1], 2)[0]", ValueError, "Split sizes sum to 2; expected 4"),
        ("m[x > 0]", IndexError, "boolean index did not match"),
    ],
)
def test_errors_of_a_run_have_the_usual_class_and_words(expression, error, message):
    with pytest.raises(error, match=message):
        evaluate(expression, "FAST_RUN")


@pytest.mark.parametrize("call, error, message", [
    (lambda x, m: linalg.kron(x, x), TypeError, "kron: inputs dimensions must sum to 3 or more"),
    (lambda x, m: linalg.expm(x), ValueError, "expm takes a square matrix"),
    (lambda x, m: linalg.expm(np.ones((2, 3))), ValueError, "expm takes a square matrix"),
    (lambda x, m: linalg.eigvalsh(x), ValueError, "eigvalsh takes a square matrix"),
    (lambda x, m: linalg.tensorinv(m, 0), ValueError, "Invalid ind argument"),
    (lambda x, m: linalg.tensorinv(m, 2), ValueError, "Invalid ind argument"),
    (lambda x, m: linalg.tensorsolve(x, m), ValueError, "tensorsolve takes a tensor of more axes"),
    (lambda x, m: linalg.solve_discrete_lyapunov(m, m, "schur"), ValueError, "must be one of"),
])
def test_linear_algebra_refuses_what_it_cannot_take(call, error, message):
    with pytest.raises(error, match=message):
        call(at.dvector("x"), at.dmatrix("m"))


def test_the_exponential_of_what_is_not_finite_is_nan():
    for value in (np.nan, np.inf):
        assert np.isnan(linalg.expm(np.full((2, 2), value)).eval()).all()


def test_the_exponential_of_a_matrix_stays_in_its_dtype_and_runs_within_a_loop():
    assert linalg.expm(np.zeros((2, 2), "float32")).eval().dtype == "float32"
    turns, _ = pyscan.scan(lambda angle: linalg.expm(angle * np.array([[0.0, -1.0], [1.0, 0.0]])), [np.array([0.5, 100.0])])
    np.testing.assert_allclose(turns.eval()[:, 0, 0], np.cos([0.5, 100.0]), rtol=1e-12)


@pytest.mark.parametrize("name", "sum prod mean var std max min argmax argmin all any ptp".split())
@pytest.mark.parametrize("axes", [(0, 0), (1, -1), [0, 1, -2]])
def test_reductions_refuse_an_axis_that_is_named_twice(name, axes):
    with pytest.raises(ValueError, match="repeated axis"):
        getattr(at, name)(VARIABLES["m"], axis=axes)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "complex64"])
def test_angles_are_float64_whatever_they_are_taken_of(dtype):
    x = at.vector("x", dtype=dtype)
    got = pyscan.function([x], at.angle(x))(np.ones(2, dtype))
    assert got.tolist() == [0.0, 0.0] and got.dtype == at.angle(x).dtype == "float64"


def test_the_square_of_a_bool_is_that_bool_and_running_sums_of_bools_are_counts():
    p = VARIABLES["p"]
    square, sums, products = pyscan.function([p], [at.square(p), at.cumsum(p), at.cumprod(p)])(DATA["p"])
    assert square.dtype == bool and square.tolist() == DATA["p"].tolist()
    assert sums.dtype == products.dtype == "int64" and sums.tolist() == [1, 1, 2, 3] and products.tolist() == [1, 0, 0, 0]


def test_check_and_raise_raises_its_own_exception():
    x = at.dscalar("x")
    function = pyscan.function([x], CheckAndRaise(KeyError, "too large")(x, x < 1))
    assert function(0.5) == 0.5
    with pytest.raises(KeyError, match="too large"):
        function(2.0)


def test_special_functions_of_scipy_are_called_when_it_is_there():
    scipy_special = pytest.importorskip("scipy.special")
    x = at.dvector("x")
    values = np.array([0.25, 0.75])
    for name in ("erfinv", "psi", "j0"):
        np.testing.assert_array_equal(getattr(at, name)(x).eval({x: values}), getattr(scipy_special, name)(values))


def test_float32_and_integers_compute_in_their_own_dtype():
    f = VARIABLES["f"]
    data = DATA["f"]
    assert pyscan.function([f], f * f)(data).tolist() == (data * data).tolist()
    assert evaluate("b + b", "FAST_RUN").tolist() == (DATA["b"] + DATA["b"]).tolist()
    assert evaluate("i ** -1 if False else i + i", "FAST_RUN").dtype == "int32"
