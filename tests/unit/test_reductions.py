"""Reductions give the same bits whatever the layout: results that lie side by side are folded together, others one by one."""
import numpy as np
import pytest

import pyscan
import pyscan.tensor as at

REDUCTIONS = ["sum", "prod", "max", "min"]
DTYPES = ["float64", "float32", "int64", "int8", "uint16", "bool", "complex128", "complex64"]
ROWS = [1, 2, 7, 8, 9, 31, 32, 40, 41, 127, 128, 129, 128 * 3 + 5, 128 * 8, 128 * 13 + 77]
COLUMNS = [1, 2, 3, 31, 64, 65, 150]


def numbers(shape, dtype):
    rng = np.random.default_rng([*shape, 7])
    values = rng.normal(size=shape) * np.exp(rng.normal(size=shape))
    if np.dtype(dtype).kind == "c":
        return (values + 1j * rng.normal(size=shape)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        values.ravel()[:: 37] = 0.0
        values.ravel()[5 :: 53] *= -0.0
        values.ravel()[11 :: 997] = np.nan
        return values.astype(dtype)
    return (values * 20).astype("int64").astype(dtype)


def reduced(name, dtype, ndim, axis):
    x = at.TensorType(dtype, (None,) * ndim)()
    return pyscan.function([x], getattr(at, name)(x, axis=axis))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_columns_are_folded_as_each_by_itself(name, dtype):
    if name in ("max", "min") and dtype.startswith("complex"):
        pytest.skip("complex numbers have no order")
    over_rows, by_itself = reduced(name, dtype, 2, 0), reduced(name, dtype, 1, None)
    for n in ROWS:
        for width in COLUMNS:
            a = numbers((n, width), dtype)
            want = np.array([by_itself(np.ascontiguousarray(a[:, c])) for c in range(width)])
            got = over_rows(a)
            assert got.dtype == want.dtype and got.tobytes() == want.tobytes(), (n, width)


@pytest.mark.parametrize("axis", [0, 1, 2, (0, 1), (0, 2), (1, 2)])
def test_axes_and_layouts_do_not_change_bits(axis):
    f = reduced("sum", "float64", 3, axis)
    a = numbers((40, 150, 70), "float64")
    want = f(a)
    for layout in (np.asfortranarray(a), np.repeat(a, 2, axis=0)[::2], np.repeat(a, 2, axis=2)[:, :, 1::2], a[:, ::-1].copy()[:, ::-1], a.transpose(1, 2, 0).copy().transpose(2, 0, 1)):
        assert np.array_equal(layout, a, equal_nan=True)
        assert f(layout).tobytes() == want.tobytes()


def test_sums_over_rows_are_near_the_exact_ones():
    a = np.random.default_rng(3).normal(size=(100_003, 5))
    exact = np.array([float(np.sum(a[:, c].astype(np.longdouble))) for c in range(5)])
    got = reduced("sum", "float64", 2, 0)(a)
    assert np.all(abs(got - exact) <= 30 * np.finfo(float).eps * abs(a).sum(axis=0))
