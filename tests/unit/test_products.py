"""Products of vectors and matrices: the documented order of sums, in every layout and on every level of CPU."""
import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core
from pyscan.scan_step import until
from tests.unit.test_blocks import LENGTHS, assert_same, outcome, scanned

# m, n, k; None: the factor is a vector. All few enough for the core. Below, at and above a vector of any level, a panel of columns, and a panel of terms.
SHAPES = [(m, n, k) for m in (None, 1, 3, 4, 5, 22) for n in (None, 1, 2, 7, 8, 20, 33) for k in (1, 2, 20, 300)]
LAYOUTS = {
    "rows": lambda x: np.ascontiguousarray(x),
    "columns": lambda x: np.asfortranarray(x),
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "reversed": lambda x: np.ascontiguousarray(x[..., ::-1])[..., ::-1],
    "spread": lambda x: np.repeat(x, 3, axis=0)[::3],
}


def in_order(a, b):
    """The product with each element summed from the first term on."""
    rows, columns = np.atleast_2d(a), b.reshape(len(b), -1)
    total = rows[:, :1] * columns[0]
    for k in range(1, len(b)):
        total = total + rows[:, k:k + 1] * columns[k]
    return total.reshape(a.shape[:-1] + b.shape[1:])


def factors(m, n, k, dtype, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(k,) if m is None else (m, k)).astype(dtype)
    b = rng.normal(size=(k,) if n is None else (k, n)).astype(dtype)
    return a, b


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("layout_b", LAYOUTS)
@pytest.mark.parametrize("layout_a", LAYOUTS)
def test_terms_are_added_in_order_in_every_layout(layout_a, layout_b, dtype):
    for m, n, k in SHAPES:
        a, b = factors(m, n, k, dtype)
        got = _core.dot(LAYOUTS[layout_a](a), LAYOUTS[layout_b](b))
        np.testing.assert_array_equal(got, in_order(a, b), strict=True, err_msg=f"{m} {n} {k}")


def test_a_sum_of_negative_zeros_keeps_its_sign():
    for m, n, k in [(4, 16, 3), (1, 16, 1), (16, None, 2), (5, 3, 2)]:
        a, b = factors(m, n, k, "float64")
        a[...], b[...] = -0.0, 1.0
        got = _core.dot(np.asfortranarray(a), b)
        assert np.all(got == 0) and np.all(np.signbit(got))


def test_infinities_and_nan_stay_in_their_rows_and_columns():
    a, b = factors(9, 17, 6, "float64")
    a[2, 3], b[1, 11] = np.inf, np.nan
    got = _core.dot(a, b)
    np.testing.assert_array_equal(got, in_order(a, b))
    assert np.isnan(got[:, 11]).all() and np.isinf(np.delete(got[2], 11)).all()
    assert np.isfinite(np.delete(np.delete(got, 2, 0), 11, 1)).all()


def test_products_of_many_terms_are_near_numpys():
    for m, n, k in [(64, 64, 64), (65, 64, 64), (200, 300, 250), (1, 700, 700), (700, 1, 700), (600, None, 600)]:
        for dtype, limit in (("float64", 1e-13), ("float32", 1e-4)):
            a, b = factors(m, n, k, dtype)
            np.testing.assert_allclose(_core.dot(a, b), a.astype(float) @ b.astype(float), rtol=0, atol=limit * k)


def test_lengths_of_zero():
    for m, n, k in [(0, 9, 4), (9, 0, 4), (9, 9, 0), (None, 9, 0), (9, None, 0)]:
        a, b = factors(m, n, k, "float64")
        np.testing.assert_array_equal(_core.dot(a, b), a @ b, strict=True)


PRINT_BITS = """
import hashlib, numpy as np
from pyscan import _core
from tests.unit.test_products import LAYOUTS, SHAPES, factors
digest = hashlib.sha256()
for dtype in ("float64", "float32"):
    for layout in LAYOUTS.values():
        for m, n, k in SHAPES:
            a, b = factors(m, n, k, dtype, 1)
            digest.update(np.ascontiguousarray(_core.dot(layout(a), layout(b))).tobytes())
print(_core.cpu_level(), digest.hexdigest())
"""


def test_every_level_of_cpu_gives_the_same_bits():
    found = {}
    for level in _core.cpu_levels():
        done = subprocess.run([sys.executable, "-c", PRINT_BITS], env={**os.environ, "PYSCAN_CPU": level, "PYTHONPATH": os.pathsep.join(sys.path)},
                              capture_output=True, text=True, check=True)
        chosen, found[level] = done.stdout.split()
        assert chosen == level
    assert len(set(found.values())) == 1
    assert hashlib.sha256().hexdigest() not in found.values()


# ---- products in loops ----

def turned(x, axes):
    """The same array laid out with its axes in another order."""
    return np.ascontiguousarray(x.transpose(axes)).transpose(np.argsort(axes))


def driven(dtype):
    """Both factors of the issue's kinds: drawn vectors by a fixed matrix ahead, the state by another in the core."""
    def build(srng, n):
        A, L, x0 = (at.TensorType(dtype, s)() for s in [(None, None), (None, None), (None,)])
        rng = np.random.default_rng(1)
        outputs, updates = scanned(lambda x, A, L: at.dot(A, x) + at.dot(L, at.cast(srng.normal(size=(5,)), dtype)), n, outputs_info=[x0],
                                   non_sequences=[A, L])
        return [A, L, x0], outputs, updates, [(rng.normal(size=(20, 20)) / 9).astype(dtype), rng.normal(size=(20, 5)).astype(dtype),
                                              np.ones(20, dtype)]
    build.__name__ = "driven_" + dtype
    return build


def recurrent(layout):
    """Matrices of sequences by a fixed one ahead, of the state by another in the core."""
    def build(srng, n):
        X, h0, W, U, c = at.dtensor3(), at.dmatrix(), at.dmatrix(), at.dmatrix(), at.dvector()
        rng = np.random.default_rng(2)
        outputs, updates = scanned(lambda x, h, W, U, c: at.tanh(at.dot(h, W) + at.dot(x, U) + c), n, sequences=[X], outputs_info=[h0],
                                   non_sequences=[W, U, c])
        x, w = rng.normal(size=(n, 6, 10)), rng.normal(size=(7, 7)) / 4
        return [X, h0, W, U, c], outputs, updates, [turned(x, layout), rng.normal(size=(6, 7)), turned(w, (1, 0)), rng.normal(size=(10, 7)),
                                                    rng.normal(size=7)]
    build.__name__ = "recurrent_" + "".join(map(str, layout))
    return build


def every_rank_ahead(srng, n):
    """Rows of sequences on either side of what is fixed, and of each other; products that are paths, are read by the core, or both."""
    v, M, V, S = at.dvector(), at.dmatrix(), at.dmatrix(), at.dtensor3()
    rng = np.random.default_rng(3)

    def step(row, mat, x, v, M):
        a, b = at.dot(row, v), at.dot(M, row)
        return x * 0.5 + a + b.sum(), a, b, at.dot(row, M), at.dot(v, mat), at.dot(mat, v), at.dot(mat, M), at.dot(M, mat), at.dot(row, mat), \
            at.dot(mat, mat.T), at.dot(row, row)

    outputs, updates = scanned(step, n, sequences=[V, S], outputs_info=[np.float64(1), *[None] * 10], non_sequences=[v, M])
    k = 6
    return [v, M, V, S], outputs, updates, [rng.normal(size=k), rng.normal(size=(k, k)), rng.normal(size=(n, 2 * k))[:, ::2],
                                            rng.normal(size=(n, k, k))]


def state_on_either_side(srng, n):
    P, x0 = at.dmatrix(), at.dvector()
    rng = np.random.default_rng(4)

    def step(x, X, P):
        return at.dot(x, P), at.dot(P, X) * 0.1 + at.dot(X, P), at.dot(X, x)

    X0 = at.dmatrix()
    outputs, updates = scanned(step, n, outputs_info=[x0, X0, None], non_sequences=[P])
    p = np.linalg.qr(rng.normal(size=(9, 9)))[0]
    return [P, x0, X0], outputs, updates, [p[::-1, ::-1], rng.normal(size=9), rng.normal(size=(9, 9))]


def stopped(srng, n):
    L = at.dmatrix()

    def step(x, L):
        z = at.dot(L, srng.normal(size=(4,)))
        return (x + at.dot(L, x) + abs(z), z), until(x.sum() > 300.0)

    outputs, updates = scanned(step, n, outputs_info=[np.zeros(4), None], non_sequences=[L])
    return [L], [*outputs, srng.normal()], updates, [np.eye(4) * 0.01 + 0.002]


def nested(srng, n):
    A, Z = at.dmatrix(), at.dtensor3()

    def outer(z, x, A):
        inner, _ = pyscan.scan(lambda w, y, A: at.dot(A, y) + at.dot(A, w), sequences=[z], outputs_info=[x], non_sequences=[A])
        return inner[-1]

    outputs, updates = scanned(outer, n // 20, sequences=[Z], outputs_info=[np.zeros(8)], non_sequences=[A])
    rng = np.random.default_rng(5)
    return [A, Z], outputs, updates, [np.linalg.qr(rng.normal(size=(8, 8)))[0] * 0.9, rng.normal(size=(n // 20, 30, 8))]


def whole_numbers_and_complex(srng, n):
    K, B, C, x0, y0 = at.lmatrix(), at.lmatrix(), at.zmatrix(), at.lvector(), at.zvector()
    outputs, updates = scanned(lambda k, x, y, B, C: (at.dot(B, x) + at.dot(k, B), at.dot(C, y) + at.dot(B, k)), n, sequences=[K], outputs_info=[x0, y0],
                               non_sequences=[B, C])
    rng = np.random.default_rng(6)
    return [K, B, C, x0, y0], outputs, updates, [rng.integers(-5, 5, (n, 3)), rng.integers(-2, 2, (3, 3)), np.eye(3) * 1j, np.ones(3, "int64"),
                                                 np.ones(3, complex)]


def no_elements(srng, n):
    A, B, X = at.dmatrix(), at.dmatrix(), at.dtensor3()
    outputs, updates = scanned(lambda X, x, A, B: (at.dot(A, x) + at.dot(B, srng.normal(size=(0,))), at.dot(X, A), at.dot(X, x)), n, sequences=[X],
                               outputs_info=[np.ones(4), None, None], non_sequences=[A, B])
    return [A, B, X], outputs, updates, [np.eye(4), np.zeros((4, 0)), np.zeros((n, 0, 4))]


LOOPS = [driven("float64"), driven("float32"), recurrent((0, 1, 2)), recurrent((0, 2, 1)), recurrent((2, 1, 0)), every_rank_ahead, state_on_either_side,
         stopped, nested, whole_numbers_and_complex, no_elements]


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("build", LOOPS, ids=lambda b: b.__name__)
def test_blocks_give_what_steps_give(build, batch):
    want = outcome(build, 0)
    assert want[2]["block_steps"] == 0 and not isinstance(want[0][0], str), want
    with pyscan.config.change_flags(scan__batch_products=batch):
        for block_steps in LENGTHS:
            got = outcome(build, block_steps)
            assert_same(want, got)
            assert got[2]["block_steps"] > 0


@pytest.mark.parametrize("n_steps", [0, 1, 2, 15, 16, 17, 25])
def test_loops_of_any_length_are_the_same(n_steps):
    for build in (driven("float64"), recurrent((0, 1, 2)), every_rank_ahead):
        assert_same(outcome(build, 0, n_steps), outcome(build, 256, n_steps))


def large(kind):
    """Products of so many terms that BLAS makes them."""
    def build(srng, n):
        rng = np.random.default_rng(7)
        n = 40
        L, A, X = at.dmatrix(), at.dmatrix(), at.dtensor3()
        d = 200 if kind == "drawn" else 80
        if kind == "drawn":
            outputs, updates = scanned(lambda x, L: 0.5 * x + at.dot(L, srng.normal(size=(d,))), n, outputs_info=[np.zeros(d)], non_sequences=[L])
        else:
            outputs, updates = scanned(lambda row, x, L: 0.5 * x + at.dot(row, L), n, sequences=[X], outputs_info=[np.zeros((d, d))], non_sequences=[L])
        return [L, X, A], outputs, updates, [rng.normal(size=(d, d)) / d, rng.normal(size=(n, d, d)), np.eye(2)]
    return build


@pytest.mark.parametrize("kind", ["drawn", "rows"])
def test_batches_of_large_products_are_near_and_without_batches_the_bits_are_the_same(kind):
    with pyscan.config.change_flags(on_unused_input="ignore"):
        want = outcome(large(kind), 0)
        for block_steps in LENGTHS:
            with pyscan.config.change_flags(scan__batch_products=False):
                assert_same(want, outcome(large(kind), block_steps))
            got = outcome(large(kind), block_steps)
            assert got[1] == want[1] and got[2]["steps"] == want[2]["steps"]
            for a, b in zip(want[0], got[0]):
                np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-12 * abs(a).max())


@pytest.mark.parametrize("n_steps", [1, 16, 300])
def test_lengths_that_do_not_fit_are_refused_in_the_first_step_as_step_by_step(n_steps):
    def build(srng, n):
        L, A = at.dmatrix(), at.dmatrix()
        outputs, updates = scanned(lambda x, A, L: at.dot(A, x) + at.dot(L, srng.normal(size=(3,))), n, outputs_info=[np.zeros(4)], non_sequences=[A, L])
        return [A, L], outputs, updates, [np.eye(4), np.zeros((4, 5))]

    want = outcome(build, 0, n_steps)
    assert want[0][0] == "ValueError" and want[0][1].startswith("shapes (4,5) and (3,) not aligned")
    for block_steps in LENGTHS:
        assert_same(want, outcome(build, block_steps, n_steps))
