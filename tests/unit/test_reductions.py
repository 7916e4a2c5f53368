"""Reductions give the same bits whatever the layout: results that lie side by side are folded together, others one by one."""
import os
import subprocess
import sys

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core

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


NUMPYS = {"add": np.sum, "mul": np.prod, "maximum": np.max, "minimum": np.min, "and": np.bitwise_and.reduce, "or": np.bitwise_or.reduce, "argmax": np.argmax}


@pytest.mark.parametrize("row", _core.reductions(), ids=lambda row: row["name"])
def test_each_row_of_the_table_does_what_numpy_does(row):
    a = np.array([7, 15, -2, 15, 3], "int64")
    assert _core.reduce(row["name"], a) == NUMPYS[row["name"]](a)
    assert row["scalar"] in {scalar["name"] for scalar in _core.scalars()} and row["doc"]


def test_a_name_that_is_no_row_is_refused():
    with pytest.raises(ValueError, match="'max' is not the name of a reduction"):
        _core.reduce("max", np.ones(3))


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


def extreme(column, is_larger):
    """The first NaN or else the first of the largest, the elements being met one after the other."""
    best = column[0]
    for x in column[1:]:
        if best == best and (x != x or (x > best if is_larger else x < best)):
            best = x
    return best


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_are_the_first_nan_or_the_first_of_equals(name, dtype):
    integer = {"float64": "uint64", "float32": "uint32"}[dtype]
    nans = np.arange(1, 5).astype(integer) + np.array(np.nan, dtype).view(integer)
    rng = np.random.default_rng(5)
    rows, columns = reduced(name, dtype, 2, 0), reduced(name, dtype, 2, 1)
    for n in (1, 3, 63, 64, 128, 129, 300):
        a = rng.choice([-1.0, 0.0, -0.0, 1.0] if n % 2 else [0.0, -0.0], size=(n, 40)).astype(dtype)
        a[:, 20:] -= {"max": 1, "min": -1}[name] * abs(rng.choice([0, 0.5], size=(n, 20))).astype(dtype)
        for column in range(0, 40, 4):
            a[rng.integers(n, size=3), column] = rng.choice(nans, size=3).view(dtype)
        want = np.array([extreme(a[:, c], name == "max") for c in range(40)], dtype)
        assert rows(a).tobytes() == want.tobytes(), n
        assert columns(np.ascontiguousarray(a.T)).tobytes() == want.tobytes(), n


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "int64"])
def test_sums_and_products_of_small_integers_wrap_in_64_bits(dtype):
    rng = np.random.default_rng(6)
    low, high = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    for shape in ((1, 5), (70_001, 3), (3, 70_001), (129, 600)):
        a = rng.choice([low, high, high // 3], size=shape).astype(dtype)
        for name in ("sum", "prod"):
            for axis in (0, 1):
                for layout in (a, np.asfortranarray(a), np.repeat(a, 2, axis=1)[:, ::2]):
                    got, want = reduced(name, dtype, 2, axis)(layout), getattr(a, name)(axis=axis)
                    assert got.dtype == want.dtype and np.array_equal(got, want), (shape, name, axis)


def test_sums_of_float32_are_those_of_the_same_numbers_as_float64():
    for shape in [(n, 67) for n in (1, 7, 8, 40, 129, 1000)] + [(3, 1000), (500, 3)]:
        a = numbers(shape, "float32")
        a[np.isnan(a)] = 1
        for axis in (0, 1, None):
            short, wide = reduced("sum", "float32", 2, axis), reduced("sum", "float64", 2, axis)
            for layout in (a, np.asfortranarray(a), np.repeat(a, 2, axis=1)[:, ::2]):
                assert np.array_equal(short(layout), wide(a.astype("float64")).astype("float32")), (shape, axis)


def test_whoever_reads_one_of_the_largest_and_its_place_computes_one():
    x = at.dmatrix()
    largest, place = at.max_and_argmax(x, axis=0)
    listings = [pyscan.function([x], outputs).vm.listing() for outputs in ([largest], [place], [largest, place])]
    assert [("reduce maximum." in text, "reduce argmax." in text) for text in listings] == [(True, False), (False, True), (True, True)]


PRINT_BITS = """
import hashlib
import numpy as np
import pyscan
from pyscan import _core
from tests.unit.test_reductions import DTYPES, REDUCTIONS, numbers, reduced
digest = hashlib.sha256()
for dtype in DTYPES:
    for name in REDUCTIONS:
        if name in ("max", "min") and dtype.startswith("complex"):
            continue
        for axis in (0, 1):
            f = reduced(name, dtype, 2, axis)
            for shape in ((300, 130), (7, 1100), (1100, 7)):
                digest.update(f(numbers(shape, dtype)).tobytes())
print(_core.cpu_level(), digest.hexdigest())
"""


def test_every_level_of_cpu_gives_the_same_bits():
    found = {}
    for level in pyscan._core.cpu_levels():
        done = subprocess.run([sys.executable, "-c", PRINT_BITS], env={**os.environ, "PYSCAN_CPU": level, "PYTHONPATH": os.pathsep.join(sys.path)},
                              capture_output=True, text=True, check=True)
        chosen, found[level] = done.stdout.split()
        assert chosen == level
    assert len(set(found.values())) == 1, found
