"""Products of vectors and matrices: the documented order of sums, in every layout and on every level of CPU."""
import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from pyscan import _core

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
