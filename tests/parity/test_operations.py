"""Each native operation against NumPy: one table of operations, every dtype, rank and layout that it takes.

A row is a sentence of the language of tensors beside NumPy's own. Values are compared bit for bit, unless the row says how many
units in the last place may lie between (`ulp`). Each row runs alone, in every layout of its arguments and in both modes, and
inside a scan; all of these have the same bits, and none of them calls back to Python.
"""

import dataclasses
import importlib.util
import re
from typing import Callable, Optional

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan.ops import deep_copy_op, view_op
from pyscan.tensor.shape import shape_i, unbroadcast
from pyscan.tensor.subtensor import advanced_subtensor1
from tests.parity import elementary

INTEGERS = ("int8", "int16", "int32", "int64", "uint8")
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
EVERY = ("bool", *INTEGERS, *FLOATS, *COMPLEX)
ORDERED = ("bool", *INTEGERS, *FLOATS)


@dataclasses.dataclass(frozen=True)
class Row:
    """`build` takes symbols, `expect` the values; `shapes` has one list of argument shapes for each case."""

    name: str
    build: Callable
    expect: Callable
    shapes: tuple
    dtypes: tuple
    ulp: Optional[int] = 0  # None: what elementary.py says of the function
    others: tuple = ()  # dtypes of the arguments after the first, where they are not the first's
    make: Callable = None


def sample(shape, dtype, rng):
    """Values of a dtype with ties, zeros, negatives and, for floats, infinities and NaN left out."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind == "u":
        return rng.integers(0, 9, shape).astype(dtype)
    if kind == "i":
        return rng.integers(-9, 9, shape).astype(dtype)
    values = np.round(rng.normal(size=shape) * 8) / 4
    return (values + 1j * np.round(rng.normal(size=shape) * 8) / 4).astype(dtype) if kind == "c" else values.astype(dtype)


def spread(value, step):
    """The same values in memory with gaps (step 2), or backwards (step -1)."""
    whole = np.zeros([max(1, n) * abs(step) for n in value.shape], dtype=value.dtype)
    view = whole[tuple([slice(None, n * abs(step), abs(step)) for n in value.shape])]
    view = view[(slice(None, None, -1),) * value.ndim] if step < 0 else view
    view[...] = value
    return view


def unaligned(value):
    memory = np.zeros(value.nbytes + 1, dtype="int8")
    view = memory[1:].view(value.dtype).reshape(value.shape) if value.nbytes else value.copy()
    view[...] = value
    return view


def read_only(value):
    result = value.copy()
    result.flags.writeable = False
    return result


LAYOUTS = {
    "contiguous": lambda v: v,
    "fortran": np.asfortranarray,
    "strided": lambda v: spread(v, 2),
    "backwards": lambda v: spread(v, -1),
    "unaligned": unaligned,
    "read-only": read_only,
}


def same_bits(got, want):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape and got.dtype == want.dtype, (got.dtype, got.shape, want.dtype, want.shape)
    np.testing.assert_array_equal(got, want)
    if got.dtype.kind == "f":
        number = ~np.isnan(got)
        np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(want[number]))


def close(got, want, row):
    ulp = row.ulp
    if ulp == 0:
        return same_bits(got, want)
    assert got.shape == want.shape and got.dtype == want.dtype
    if ulp is None:
        return elementary.assert_near(row.name, got, want)
    if got.size and got.dtype.kind in "fc":
        scale = np.finfo(got.dtype).eps * max(1.0, np.abs(want[np.isfinite(want)]).max(initial=0.0))
        np.testing.assert_allclose(got, want, rtol=0, atol=ulp * scale)
    return None


def symbol(value):
    return at.tensor(str(value.dtype), shape=(None,) * value.ndim)


def as_list(result):
    return list(result) if isinstance(result, (list, tuple)) else [result]


def in_scan(build, variables):
    """The same operation as the step of a loop of two steps, whose last step is read."""
    outputs, _ = pyscan.scan(lambda *args: as_list(build(*args)), non_sequences=list(variables), n_steps=2)
    return [out[-1] for out in as_list(outputs)]


def arguments_of(row, shapes, dtype):
    rng = np.random.default_rng([len(row.name), len(shapes), np.dtype(dtype).num])
    dtypes = [dtype, *row.others][: len(shapes)]
    dtypes += [dtype] * (len(shapes) - len(dtypes))
    values = [sample(s, d, rng) for s, d in zip(shapes, dtypes)]
    return row.make(rng, *values) if row.make is not None else values


def rows_of(rng, x, rows):
    return [x, rng.integers(-len(x), len(x), rows.shape)]


def places_of(rng, x, *indices):
    return [x, *[rng.integers(-n, n, i.shape).astype(i.dtype) for n, i in zip(x.shape, indices)]]


def written(rng, x, y, *indices):
    return [x, y, *places_of(rng, x, *indices)[1:]]


def as_set(target, index, value):
    result = np.array(target)
    result[index] = value
    return result


def as_added(target, index, value):
    result = np.array(target)
    np.add.at(result, index, value)
    return result


TWO = ("int64", "int64")
INDEXING = [
    Row("gather_pairs", lambda x, i, j: x[i, j], lambda x, i, j: x[i, j], (((5, 4), (3,), (3,)), ((5, 4, 2), (2, 3), (3,)), ((3, 2), (0,), (0,))), EVERY,
        others=TWO, make=places_of),
    Row("gather_narrow_indices", lambda x, i, j: x[i, j], lambda x, i, j: x[i, j], (((5, 4), (3,), ()),), FLOATS, others=("int8", "int32"), make=places_of),
    Row("gather_behind_a_slice", lambda x, i: x[1:, i], lambda x, i: x[1:, i], (((4, 5), (3,)), ((3, 4, 2), (2, 2))), EVERY, others=("int64",),
        make=lambda rng, x, i: [x, rng.integers(-x.shape[1], x.shape[1], i.shape)]),
    Row("gather_around_a_slice", lambda x, i, j: x[i, ::-1, j], lambda x, i, j: x[i, ::-1, j], (((4, 3, 5), (2,), (2,)),), FLOATS, others=TWO,
        make=lambda rng, x, i, j: [x, rng.integers(-4, 4, i.shape), rng.integers(-5, 5, j.shape)]),
    Row("gather_with_a_new_axis", lambda x, i: x[:, None, i], lambda x, i: x[:, None, i], (((3, 4), (5,)),), FLOATS, others=("int64",),
        make=lambda rng, x, i: [x, rng.integers(-4, 4, i.shape)]),
    Row("gather_split_by_a_new_axis", lambda x, i, j: x[i, None, j], lambda x, i, j: x[i, None, j], (((3, 4), (5,), (5,)),), FLOATS, others=TWO,
        make=places_of),
    Row("gather_matrix_of_rows", lambda x, i: x[i], lambda x, i: x[i], (((4,), (2, 3)), ((4, 3), (2, 2)), ((4, 0), (2, 2))), EVERY, others=("int64",), make=rows_of),
    Row("gather_symbolic_bounds", lambda x, i, n: x[n:, i], lambda x, i, n: x[n:, i], (((4, 3), (5,), ()),), FLOATS, others=TWO,
        make=lambda rng, x, i, n: [x, rng.integers(-3, 3, i.shape), np.array(2)]),
    Row("mask", lambda x, m: x[m], lambda x, m: x[m], (((5,), (5,)), ((3, 4), (3, 4)), ((3, 4, 2), (3, 4)), ((0,), (0,)), ((2100,), (2100,))), EVERY, others=("bool",)),
    Row("mask_on_the_second_axis", lambda x, m: x[:, m], lambda x, m: x[:, m], (((3, 4), (4,)), ((2, 3, 4), (3, 4))), FLOATS, others=("bool",)),
    Row("mask_and_index", lambda x, m: x[m, 0], lambda x, m: x[m, 0], (((3, 4), (3,)),), FLOATS, others=("bool",)),
    Row("set_pairs", lambda x, y, i, j: at.set_subtensor(x[i, j], y), lambda x, y, i, j: as_set(x, (i, j), y), (((5, 4), (), (1,), (1,)),), EVERY,
        others=(), make=lambda rng, x, y, i, j: [x, y, np.array([-1]), np.array([2])]),
    Row("set_behind_a_slice", lambda x, y, i: at.set_subtensor(x[1:, i], y), lambda x, y, i: as_set(x, (slice(1, None), i), y), (((4, 5), (3, 2), (2,)),),
        EVERY, make=lambda rng, x, y, i: [x, y, np.array([-1, 2])]),
    Row("inc_pairs", lambda x, y, i, j: at.inc_subtensor(x[i, j], y), lambda x, y, i, j: as_added(x, (i, j), y),
        (((3, 2), (9,), (9,), (9,)), ((3, 2, 2), (2,), (7,), (7,))), (*INTEGERS, *FLOATS, *COMPLEX), make=lambda rng, x, y, i, j: [
            x, y, rng.integers(-3, 3, i.shape), rng.integers(-2, 2, j.shape)]),
    Row("set_mask", lambda x, y, m: at.set_subtensor(x[m], y), lambda x, y, m: as_set(x, m, y), (((3, 4), (), (3, 4)), ((3, 4), (4,), (3,))), EVERY,
        make=lambda rng, x, y, m: [x, y, rng.random(m.shape) < 0.5]),
    Row("inc_mask", lambda x, y, m: at.inc_subtensor(x[m], y), lambda x, y, m: as_added(x, m, y), (((3, 4), (), (3, 4)),), FLOATS,
        make=lambda rng, x, y, m: [x, y, rng.random(m.shape) < 0.5]),
    Row("inc_once", lambda x, y, i: at.inc_subtensor(x[i], y, ignore_duplicates=True), lambda x, y, i: as_set(x, i, x[i] + y), (((4,), (6,), (6,)),), FLOATS,
        make=lambda rng, x, y, i: [x, np.full_like(y, 2), rng.integers(-4, 4, i.shape)]),
    Row("nonzero", lambda x: at.nonzero(x), lambda x: [v.astype("int64") for v in np.nonzero(x)], (((5,),), ((3, 4),), ((2, 0),), ((2, 3, 2),)), EVERY),
    Row("flatnonzero", lambda x: at.flatnonzero(x), lambda x: np.flatnonzero(x).astype("int64"), (((3, 4),),), EVERY),
    *[Row(f"choose_{mode}", lambda i, x, m=mode: at.choose(i, x, mode=m), lambda i, x, m=mode: np.choose(i, list(x), mode=m),
          (((4,), (3, 4)), ((2, 1), (3, 1, 4)), ((), (5, 2)), ((5,), (3,)), ((2, 0), (3, 1))), ("bool", "int8", "uint8", "int64"), others=(dtype,),
          make=lambda rng, i, x, m=mode: [i if m != "raise" or i.dtype == bool else (abs(i) % len(x)).astype(i.dtype), x])
      for mode, dtype in (("raise", "float64"), ("wrap", "complex128"), ("clip", "int16"), ("raise", "bool"))],
    Row("choose_from_a_list", lambda i, x, y: at.choose(i, [x, y, x + y]), lambda i, x, y: np.choose(i, [x, y, x + y]), (((3, 4), (3, 4), (4,)),), ("uint8", "int32"),
        others=("float32", "int16"), make=lambda rng, i, x, y: [(abs(i) % 3).astype(i.dtype), x, np.broadcast_to(y, x.shape).copy()]),
    Row("take_along_axis", lambda x, i: at.take_along_axis(x, i, axis=1), lambda x, i: np.take_along_axis(x, i, axis=1), (((3, 4), (3, 2)),), EVERY,
        others=("int64",), make=lambda rng, x, i: [x, rng.integers(0, 4, i.shape)]),
    Row("take", lambda x, i: at.take(x, i, axis=1), lambda x, i: np.take(x, i, axis=1), (((3, 4), (2, 2)),), EVERY, others=("int64",),
        make=lambda rng, x, i: [x, rng.integers(0, 4, i.shape)]),
]



def definite(rng, x, *rest):
    """A matrix that is well conditioned and positive definite (Hermitian where it is complex)."""
    n = len(x)
    return [(x @ x.conj().T + 8 * np.eye(n)).astype(x.dtype), *rest]


def eig_in_its_type(a):
    """Real numbers of a real matrix: NumPy 2.5 and later give complex ones of every matrix."""
    return [x if np.iscomplexobj(a) else x.real for x in np.linalg.eig(a)]


def general(rng, x, *rest):
    return [(x + 20 * np.eye(*x.shape[-2:])).astype(x.dtype), *rest]


def triangular(a, lower, unit=False):
    a = np.tril(a) if lower else np.triu(a)
    if unit:
        np.fill_diagonal(a, 1)
    return a


def solve_as(**options):
    return lambda a, b: at.slinalg.solve(a, b, **options)


def least_squares(a, b, rcond=None):
    *solution, rank, values = np.linalg.lstsq(a, b, rcond=rcond)
    return [*solution, np.int64(rank), values]


def of_rank_one(rng, x, *rest):
    return [x[:, :1] * np.arange(1, 1 + x.shape[1]).astype(x.dtype), *rest]


LAPACK = (*FLOATS, *COMPLEX)
SQUARE = (((3, 3),), ((1, 1),), ((0, 0),))
WIDE_AND_TALL = (((3, 2),), ((2, 4),), ((3, 3),), ((0, 2),), ((2, 0),))
SYSTEM = (((3, 3), (3,)), ((3, 3), (3, 2)), ((1, 1), (1, 0)))
LEAST_SQUARES = (((4, 3), (4, 2)), ((4, 3), (4,)), ((2, 3), (2, 2)), ((3, 3), (3, 0)), ((0, 2), (0, 2)), ((0, 2), (0,)), ((2, 0), (2, 1)))
ALGEBRA = [
    Row("inv", at.nlinalg.inv, np.linalg.inv, (*SQUARE, ((4, 2, 2),), ((2, 1, 3, 3),), ((0, 2, 2),), ((2, 0, 0),)), LAPACK, make=general),
    Row("matrix_inverse", at.nlinalg.matrix_inverse, np.linalg.inv, SQUARE[:1], LAPACK, make=general),
    Row("det", at.nlinalg.det, np.linalg.det, SQUARE, LAPACK, make=general),
    Row("cholesky", at.slinalg.cholesky, np.linalg.cholesky, SQUARE, LAPACK, make=definite),
    Row("cholesky_upper", lambda a: at.slinalg.cholesky(a, lower=False), lambda a: np.linalg.cholesky(a).conj().T, SQUARE[:2], LAPACK, make=definite),
    Row("eigh", at.nlinalg.eigh, lambda a: list(np.linalg.eigh(a)), SQUARE, LAPACK, make=definite),
    Row("eigh_upper", lambda a: at.nlinalg.eigh(a, "U"), lambda a: list(np.linalg.eigh(a, "U")), SQUARE, LAPACK, make=definite),
    Row("solve", solve_as(), np.linalg.solve, SYSTEM, LAPACK, make=general),
    Row("solve_symmetric", solve_as(assume_a="sym", lower=True), lambda a, b: np.linalg.solve(np.tril(a) + np.tril(a, -1).T, b), SYSTEM, LAPACK, make=general),
    Row("solve_positive", solve_as(assume_a="pos"), lambda a, b: np.linalg.solve(np.triu(a) + np.triu(a, 1).conj().T, b), SYSTEM, LAPACK, make=definite),
    Row("solve_lower", lambda a, b: at.slinalg.solve_triangular(a, b, lower=True), lambda a, b: np.linalg.solve(triangular(a, True), b), SYSTEM, LAPACK, make=general),
    Row("solve_upper_unit", lambda a, b: at.slinalg.solve_triangular(a, b, unit_diagonal=True), lambda a, b: np.linalg.solve(triangular(a, False, True), b),
        SYSTEM, LAPACK, make=general),
    Row("solve_transposed", lambda a, b: at.slinalg.solve_triangular(a, b, trans=1, lower=True), lambda a, b: np.linalg.solve(triangular(a, True).T, b), SYSTEM,
        LAPACK, make=general),
    Row("solve_adjoint", lambda a, b: at.slinalg.solve_triangular(a, b, trans="C"), lambda a, b: np.linalg.solve(triangular(a, False).conj().T, b), SYSTEM,
        LAPACK, make=general),
    Row("svd", at.nlinalg.svd, lambda a: list(np.linalg.svd(a)), WIDE_AND_TALL, LAPACK),
    Row("svd_thin", lambda a: at.nlinalg.svd(a, full_matrices=False), lambda a: list(np.linalg.svd(a, full_matrices=False)), WIDE_AND_TALL, LAPACK),
    Row("svd_values", lambda a: at.nlinalg.svd(a, compute_uv=False), lambda a: np.linalg.svd(a, compute_uv=False), WIDE_AND_TALL, LAPACK),
    *[Row(f"qr_{mode}", lambda a, m=mode: at.nlinalg.qr(a, m), lambda a, m=mode: as_list(np.linalg.qr(a, m)), WIDE_AND_TALL, LAPACK)
      for mode in ("reduced", "complete", "r", "raw")],
    Row("eig", at.nlinalg.eig, eig_in_its_type, SQUARE, LAPACK, make=definite),
    Row("eig_triangular", lambda a: at.nlinalg.eig(at.triu(a)), lambda a: eig_in_its_type(np.triu(a)), (((4, 4),),), LAPACK),
    Row("pinv", at.nlinalg.pinv, np.linalg.pinv, WIDE_AND_TALL, LAPACK),
    Row("pinv_of_rank_one", at.nlinalg.pinv, np.linalg.pinv, (((3, 3),), ((4, 2),)), LAPACK, make=of_rank_one),
    Row("pinv_hermitian", lambda a: at.nlinalg.pinv(a, hermitian=True), lambda a: np.linalg.pinv(a, hermitian=True), (*SQUARE, ((4, 4),)), LAPACK),
    Row("lstsq", at.nlinalg.lstsq, least_squares, LEAST_SQUARES, LAPACK),
    Row("lstsq_of_rank_one", at.nlinalg.lstsq, least_squares, LEAST_SQUARES[:2], LAPACK, make=of_rank_one),
    Row("lstsq_rcond", lambda a, b: at.nlinalg.lstsq(a, b, 0.75), lambda a, b: least_squares(a, b, 0.75), LEAST_SQUARES[:3], LAPACK, others=("float64",)),
]


def special(name, n_in=1, expect=None, dtypes=FLOATS):
    def reference(*args):
        import scipy.special

        args = np.broadcast_arrays(*args) if len(args) > 1 else args  # NumPy 1 looks at the values of numbers beside arrays

        return expect(scipy.special, *args) if expect is not None else getattr(scipy.special, name)(*args)

    shapes = (((),) * n_in, ((5,),) * n_in, ((3, 4), (4,), (3, 1), ())[:n_in], ((0,),) * n_in)
    def make(rng, *args):
        return [(rng.uniform(0.1, 0.9, a.shape) + (1j * rng.normal(size=a.shape) if a.dtype.kind == "c" else 0)).astype(a.dtype) for a in args]

    return Row(name, getattr(at, name), reference, shapes, dtypes, make=make)


SPECIAL = [
    *[special(name, dtypes=COMPLEX) for name in ("psi", "gamma", "erf")],
    *[special(name) for name in ("psi", "erfinv", "erfcinv", "erfcx", "j0", "j1", "i0", "i1")],
    *[special(name, 2) for name in ("jv", "iv", "gammainc", "gammaincc", "owens_t")],
    special("betainc", 3),
    special("hyp2f1", 4),
    special("chi2sf", 2, lambda sp, x, k: sp.chdtrc(k, x)),
    special("tri_gamma", 1, lambda sp, x: sp.zeta(x.dtype.type(2), x)),
    special("gammau", 2, lambda sp, k, x: sp.gammaincc(k, x) * sp.gamma(k)),
    special("gammal", 2, lambda sp, k, x: sp.gammainc(k, x) * sp.gamma(k)),
]



def ordered(rng, x, *rest):
    """Zeros of one sign, so that equal elements are equal bits."""
    return [np.where(x == 0, x.dtype.type(0), x), *rest]


def with_nan(rng, x):
    x = ordered(rng, x)[0]
    x.flat[::3] = np.nan
    return [x]


def places(function):
    return lambda *args: np.asarray(function(*args), dtype="int64")


def unique_of(x, *args, **options):
    """NumPy's, whose vectors of places have had several shapes."""
    result = np.unique(x, *args, **options)
    return [result[0], *[places(np.ravel)(part) for part in result[1:]]] if isinstance(result, tuple) else result


def repeated(rng, x):
    """Few different numbers, so that slices are equal."""
    return [(np.abs(x.real) > 2).astype(x.dtype)]


MATRICES = (((3, 4),), ((4, 3),), ((0, 2),), ((1, 1),))
ORDER = [
    Row("sort", at.sort, lambda x: np.sort(x), (((7,),), ((100,),), ((3, 40),), ((0,),), ((2, 0),)), EVERY, make=ordered),
    Row("sort_rows", lambda x: at.sort(x, axis=0), lambda x: np.sort(x, axis=0), (((5, 3),), ((20, 2, 2),)), EVERY, make=ordered),
    Row("sort_flat", lambda x: at.sort(x, axis=None), lambda x: np.sort(x, axis=None), (((5, 3),),), EVERY, make=ordered),
    Row("sort_nan", at.sort, lambda x: np.sort(x), (((9,),), ((50,),)), (*FLOATS, *COMPLEX), make=with_nan),
    Row("argsort", at.argsort, places(lambda x: np.argsort(x, kind="stable")), (((7,),), ((3, 40),), ((0,),)), EVERY),
    Row("argsort_nan", at.argsort, places(lambda x: np.argsort(x, kind="stable")), (((9,),), ((50,),)), (*FLOATS, *COMPLEX), make=with_nan),
    Row("topk", lambda x: at.topk(x, 2), lambda x: np.sort(x)[..., -2:], (((7,),), ((2, 5),)), ORDERED, make=ordered),
    Row("searchsorted", at.searchsorted, places(np.searchsorted), (((7,), (3, 4)), ((7,), ()), ((0,), (3,))), EVERY, make=lambda rng, x, v: [np.sort(x), v]),
    Row("searchsorted_right", lambda x, v: at.searchsorted(x, v, side="right"), places(lambda x, v: np.searchsorted(x, v, side="right")), (((7,), (3, 4)),), EVERY,
        make=lambda rng, x, v: [np.sort(x), v]),
    Row("searchsorted_mixed", at.searchsorted, places(np.searchsorted), (((7,), (9,)),), ("int16", "int64", "float32"), others=("float64",),
        make=lambda rng, x, v: [np.sort(x), v]),
    Row("searchsorted_by_order", lambda x, v: at.searchsorted(x, v, sorter=at.argsort(x)), places(lambda x, v: np.searchsorted(np.sort(x), v)), (((7,), (9,)),), FLOATS),
    *[Row(f"unique_{'_'.join(wanted)}", lambda x, a=dict.fromkeys(wanted, True): at.unique(x, **a), lambda x, a=dict.fromkeys(wanted, True): unique_of(x, **a),
          (((40,),), ((3, 4),), ((),), ((0, 2),), ((100,),)), EVERY, make=ordered) for wanted in (
              (), ("return_counts",), ("return_index", "return_counts"), ("return_index", "return_inverse", "return_counts"))],
    *[Row(f"unique_axis_{axis}", lambda x, a=axis: at.unique(x, True, True, True, axis=a), lambda x, a=axis: unique_of(x, True, True, True, axis=a),
          (((20, 1),), ((2, 2, 9),), ((9, 2),), ((0, 2),), ((3, 4, 1),)), EVERY, make=repeated) for axis in (0, -1)],
    Row("unique_nan", lambda x: at.unique(x, True, True, True), lambda x: unique_of(x, True, True, True), (((9,),), ((50,),)), (*FLOATS, *COMPLEX), make=with_nan),
    Row("unique_slices_with_nan", lambda x: at.unique(x, axis=0), lambda x: np.unique(x, axis=0), (((9, 2),),), (*FLOATS, *COMPLEX), make=with_nan),
    Row("repeat", lambda x, n: at.repeat(x, n, axis=1), lambda x, n: np.repeat(x, n, axis=1), (((2, 3), (3,)), ((2, 3, 2), (3,))), EVERY, others=("int64",),
        make=lambda rng, x, n: [x, np.abs(n) % 4]),
    Row("repeat_flat", at.repeat, np.repeat, (((2, 3), (6,)), ((4,), (4,)), ((), (1,))), EVERY, others=("int32",), make=lambda rng, x, n: [x, np.abs(n) % 4]),
    Row("repeat_equally", lambda x: at.repeat(x, 3, axis=0), lambda x: np.repeat(x, 3, axis=0), (((2, 3),),), EVERY),
    Row("broadcast_to", lambda x: at.broadcast_to(x, (2, 3, 4)), lambda x: np.broadcast_to(x, (2, 3, 4)), (((3, 1),), ((),), ((4,),)), EVERY),
    Row("diagonal", lambda x: at.diagonal(x, 1), lambda x: np.diagonal(x, 1), MATRICES, EVERY),
    Row("diagonal_below", lambda x: at.diagonal(x, -1), lambda x: np.diagonal(x, -1), MATRICES, EVERY),
    Row("diagonal_of_parts", lambda x: at.diagonal(x, 0, 2, 0), lambda x: np.diagonal(x, 0, 2, 0), (((3, 2, 4),),), EVERY),
    Row("diagonal_outside", lambda x: at.diagonal(x, 9), lambda x: np.diagonal(x, 9), MATRICES, FLOATS),
    Row("diag", at.diag, np.diag, (((3,),), ((0,),), ((3, 4),)), EVERY),
    Row("diag_above", lambda x: at.diag(x, 2), lambda x: np.diag(x, 2), (((3,),), ((0,),)), EVERY),
    Row("diag_below", lambda x: at.diag(x, -1), lambda x: np.diag(x, -1), (((3,),), ((0,),)), EVERY),
    Row("eye", lambda n: at.eye(n, 4, 1), lambda n: np.eye(int(n), 4, 1), (((),),), ("int8", "int64"), make=lambda rng, n: [np.array(3, dtype=n.dtype)]),
    Row("eye_outside", lambda k: at.eye(3, 4, k), lambda k: np.eye(3, 4, int(k)), (((),),), ("int64",), make=lambda rng, n: [np.array(-7)]),
    Row("tri", lambda n: at.tri(n, 4, -1, dtype="int32"), lambda n: np.tri(int(n), 4, -1, dtype="int32"), (((),),), ("int64",), make=lambda rng, n: [np.array(3)]),
    Row("tril", at.tril, lambda x: x * np.tri(*x.shape, dtype=x.dtype), MATRICES, (*INTEGERS, *FLOATS)),
    Row("triu", lambda x: at.triu(x, 1), lambda x: x * (1 - np.tri(*x.shape, dtype=x.dtype)), MATRICES, (*INTEGERS, *FLOATS)),
]
WHOLE = ("bool", *INTEGERS)
PRODUCTS = [
    Row("batched_dot", at.batched_dot, np.matmul, (((3, 2, 4), (3, 4, 2)), ((0, 2, 4), (0, 4, 2)), ((2, 3, 0), (2, 0, 1))), (*INTEGERS, *LAPACK), ulp=4),
    Row("batched_dot_of_vectors", at.batched_dot, lambda x, y: (x[:, None] @ y[:, :, None])[:, 0, 0], (((3, 4), (3, 4)),), (*INTEGERS, *LAPACK), ulp=4),
    Row("batched_dot_of_rows", at.batched_dot, lambda x, y: (x[:, None] @ y)[:, 0], (((3, 4), (3, 4, 2)),), (*INTEGERS, *LAPACK), ulp=4),
    Row("batched_dot_of_columns", at.batched_dot, lambda x, y: (x @ y[:, :, None])[:, :, 0], (((3, 2, 4), (3, 4)),), (*INTEGERS, *LAPACK), ulp=4),
    Row("matmul", at.matmul, np.matmul, (((3, 2, 4), (4, 2)), ((2, 1, 2, 3), (4, 3, 2)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,)), ((3, 4), (4,)), ((2, 70, 70), (70, 70))),
        (*INTEGERS, *LAPACK), ulp=70),
    Row("tensordot", lambda x, y: at.tensordot(x, y, 2), lambda x, y: np.tensordot(x, y, 2), (((2, 3, 4), (3, 4, 2)),), (*INTEGERS, *LAPACK), ulp=12),
]


def summed(x, axis=None):
    kind = x.dtype.kind
    return np.sum(x, axis=axis, dtype="int64" if kind in "bi" else "uint64" if kind == "u" else x.dtype)


SOME = (((7,),), ((3, 4),), ((2, 3, 2),))
CAST_FIRST = {"int8": "float32", "int16": "float32", "uint8": "float32", "bool": "float32"}


def as_float(x):
    return x if x.dtype.kind in "fc" else x.astype(CAST_FIRST.get(str(x.dtype), "float64"))


def paired(re, im):
    result = np.empty(np.broadcast_shapes(re.shape, im.shape), "complex64" if re.dtype == "float32" else "complex128")
    result.real, result.imag = re, im
    return result


# What IEEE arithmetic or integers decide: every bit is NumPy's.
EXACT = [
    *[Row(f"{name}", getattr(at, name), getattr(np, numpy or name), (((3, 4), (3, 4)), ((3, 4), (4,)), ((0, 4), (1, 4)), ((), (5,))), dtypes) for name, numpy, dtypes in (
        ("add", "", EVERY), ("sub", "subtract", (*INTEGERS, *FLOATS, *COMPLEX)), ("mul", "multiply", (*EVERY[:-2],)), ("maximum", "", EVERY), ("minimum", "", EVERY),
        ("eq", "equal", EVERY), ("neq", "not_equal", EVERY), ("lt", "less", EVERY), ("le", "less_equal", EVERY), ("gt", "greater", EVERY), ("ge", "greater_equal", EVERY),
        ("and_", "bitwise_and", WHOLE), ("or_", "bitwise_or", WHOLE), ("xor", "bitwise_xor", WHOLE))],
    Row("true_div", at.true_div, lambda x, y: x / y, (((3, 4), (4,)),), FLOATS, make=lambda rng, x, y: [x, np.abs(y) + 1]),
    *[Row(f"{name}", getattr(at, name), getattr(np, numpy or name), (((3, 4), (4,)), ((0,), (1,))), (*INTEGERS, *FLOATS), make=lambda rng, x, y: [x, np.where(y == 0, 3, y).astype(y.dtype)])
      for name, numpy in (("int_div", "floor_divide"), ("mod", "remainder"))],
    *[Row(name, getattr(at, name), getattr(np, numpy or name), (((3, 4),), ((),), ((0, 3),)), dtypes) for name, numpy, dtypes in (
        ("neg", "negative", (*INTEGERS, *FLOATS, *COMPLEX)), ("abs", "", (*ORDERED,)), ("sgn", "sign", (*INTEGERS, *FLOATS)), ("sqr", "square", (*INTEGERS, *FLOATS)),
        ("invert", "", WHOLE), ("isnan", "", FLOATS), ("isinf", "", FLOATS), ("round", "rint", FLOATS), ("real", "", COMPLEX), ("imag", "", COMPLEX), ("conj", "", COMPLEX))],
    *[Row(name, getattr(at, name), lambda x, f=getattr(np, name): f(as_float(x)), (((3, 4),), ((),)), (*ORDERED,)) for name in ("ceil", "floor", "trunc")],
    Row("sqrt", at.sqrt, lambda x: np.sqrt(as_float(x)), (((3, 4),), ((),)), (*ORDERED,), make=lambda rng, x: [np.abs(x)]),
    Row("switch", at.switch, np.where, (((3, 4), (4,), (3, 1)),), EVERY, make=lambda rng, c, x, y: [rng.random(c.shape) < 0.5, x, y]),
    Row("clip", at.clip, lambda x, a, b: np.minimum(np.maximum(x, a), b), (((3, 4), (), ()),), (*INTEGERS, *FLOATS), make=lambda rng, x, a, b: [x, x.dtype.type(1), x.dtype.type(3)]),
    Row("sum_of_integers", at.sum, summed, SOME, WHOLE),
    Row("sum_of_rows", lambda x: at.sum(x, axis=0), lambda x: summed(x, 0), SOME, WHOLE),
    *[Row(f"{name}_{axis}", lambda x, f=name, a=axis: getattr(at, f)(x, axis=a), lambda x, f=name, a=axis: getattr(np, f)(x, axis=a), SOME, dtypes)
      for name, dtypes in (("max", ORDERED), ("min", ORDERED), ("all", WHOLE[:1]), ("any", WHOLE[:1]), ("argmax", ORDERED), ("argmin", ORDERED)) for axis in (None, 0, -1)],
    Row("cumsum", lambda x: at.cumsum(x, axis=0), lambda x: np.cumsum(x, axis=0, dtype=x.dtype), SOME, (*INTEGERS, *FLOATS)),
    Row("cumprod", lambda x: at.cumprod(x, axis=-1), lambda x: np.cumprod(x, axis=-1, dtype=x.dtype), SOME, INTEGERS),
    Row("join", lambda x, y: at.join(1, x, y), lambda x, y: np.concatenate([x, y], 1), (((3, 4), (3, 2)), ((3, 0), (3, 2))), EVERY),
    Row("join_along_a_computed_axis", lambda x, y, i: at.join(i, x, y), lambda x, y, i: np.concatenate([x, y], int(i)), (((3, 4), (3, 4), ()), ((3,), (0,), ())), EVERY,
        make=lambda rng, x, y, i: [x, y, np.array(-1, dtype="int8")]),
    Row("stack", lambda x, y: at.stack([x, y], axis=1), lambda x, y: np.stack([x, y], 1), (((3, 4), (3, 4)),), EVERY),
    Row("split", lambda x: at.split(x, [1, 0, 2], 3, axis=-1), lambda x: np.split(x, [1, 1], axis=-1), (((3,),), ((2, 3),)), EVERY),
    Row("reshape", lambda x: at.reshape(x, (-1, 2)), lambda x: x.reshape(-1, 2), (((4,),), ((3, 4),), ((0, 2),)), EVERY),
    Row("transpose", lambda x: x.T, np.transpose, (((3, 4),), ((2, 3, 4),)), EVERY),
    Row("slice", lambda x: x[1:, ::-2], lambda x: x[1:, ::-2], (((3, 5),), ((0, 2),)), EVERY),
    Row("set_slice", lambda x, y: at.set_subtensor(x[1:, ::2], y), lambda x, y: as_set(x, (slice(1, None), slice(None, None, 2)), y), (((3, 4), (2,)),), EVERY),
    Row("inc_slice", lambda x, y: at.inc_subtensor(x[::-1, 1], y), lambda x, y: as_added(x, (slice(None, None, -1), 1), y), (((3, 4), (3,)),), (*INTEGERS, *FLOATS)),
    Row("second", at.second, lambda x, y: np.broadcast_to(y, np.broadcast_shapes(x.shape, y.shape)), (((3, 4), (4,)), ((0,), ())), EVERY),
    Row("identity", lambda x: x.copy(), np.copy, SOME, EVERY),
    Row("angle", at.angle, lambda x: np.angle(x.astype("complex128")), SOME, EVERY, ulp=1),
    Row("complex", at.complex, lambda x, y: paired(as_float(x), as_float(y)), (((3, 4), (4,)), ((), ())), ORDERED),
    Row("complex_from_polar", at.complex_from_polar, lambda r, a: paired(r * np.cos(a), r * np.sin(a)), (((3, 4), (4,)), ((), ())), FLOATS, ulp=2),
    Row("round_half_away_from_zero", at.round_half_away_from_zero, lambda x: np.trunc(x + np.copysign(x.dtype.type(0.5), x)), SOME, FLOATS),
    Row("take_rows", advanced_subtensor1, lambda x, i: x[i], (((4,), (3,)), ((4, 3), (0,)), ((4, 0), (2,))), EVERY, others=("int64",), make=rows_of),
    Row("set_rows", lambda x, y, i: at.set_subtensor(advanced_subtensor1(x, i), y), lambda x, y, i: as_set(x, i, y), (((4,), (), (3,)), ((4, 3), (3,), (2,))), EVERY,
        make=lambda rng, x, y, i: [x, y, rng.integers(-4, 4, i.shape)]),
    Row("inc_rows", lambda x, y, i: at.inc_subtensor(advanced_subtensor1(x, i), y), lambda x, y, i: as_added(x, i, y), (((4,), (9,), (9,)), ((4, 3), (3,), (5,))),
        (*INTEGERS, *FLOATS, *COMPLEX), make=lambda rng, x, y, i: [x, y, rng.integers(-4, 4, i.shape)]),
    Row("shape", lambda x: at.shape(x), lambda x: np.array(x.shape), SOME, ("bool", "float32")),
    Row("one_length", lambda x: shape_i(x, x.ndim - 1), lambda x: np.array(x.shape[-1]), SOME, ("bool", "float32")),
    Row("empty", lambda x: at.set_subtensor(at.empty(x.shape, dtype=x.dtype)[:], x), np.copy, (*SOME, ((0, 2),)), EVERY),
    Row("specify_shape", lambda x: at.specify_shape(x, (3, None)), np.copy, (((3, 4),), ((3, 0),)), EVERY),
    Row("unbroadcast", lambda x: unbroadcast(at.shape_padleft(x), 0), lambda x: x[None], SOME, EVERY),
    Row("checked", lambda x: at.Assert("negative")(x, at.ge(x.size, 0)), np.copy, SOME, EVERY),
    Row("copied", deep_copy_op, np.copy, SOME, EVERY),
    Row("viewed", view_op, np.copy, SOME, EVERY),
    Row("tile", lambda x: at.tile(x, (2, 3)), lambda x: np.tile(x, (2, 3)), (((3, 4),), ((2,),)), EVERY),
    Row("roll", lambda x: at.roll(x, 2, axis=0), lambda x: np.roll(x, 2, axis=0), SOME, EVERY),
]
# Sums of floats, in pyscan's order: within the bound of pairwise summation.
SUMS = [
    Row("sum", at.sum, lambda x: np.asarray(np.sum(x.astype("float64")), dtype=x.dtype), (((7,),), ((1000,),), ((30, 40),)), FLOATS, ulp=16),
    Row("mean", at.mean, lambda x: np.asarray(np.mean(x.astype("float64")), dtype=x.dtype), (((7,),), ((1000,),), ((30, 40),)), FLOATS, ulp=16),
    Row("prod", lambda x: at.prod(x, axis=0), lambda x: np.prod(x, axis=0), (((3, 4),),), (*FLOATS, *COMPLEX), ulp=8),
]


def by_mpmath(name, shapes, dtypes, n_in):
    def expect(*values):
        result = values[0].dtype if values[0].dtype.kind in "fc" else CAST_FIRST.get(str(values[0].dtype), "float64")
        return elementary.nearest(name, result, *values)

    return Row(name, getattr(at, name), expect, tuple([(shape,) * n_in for shape in shapes]), dtypes, ulp=None,
               make=lambda rng, *values: [elementary.arguments(name, v, rng) for v in values])


# Elementary functions: at most a unit from the correctly rounded value. 40 numbers are as many steps of the loops below.
ELEMENTARY = [by_mpmath(name, ((), (40,), (3, 4), (0, 2)), FLOATS, 2 if "y" in row[0] else 1) for name, row in elementary.FUNCTIONS.items()]
ELEMENTARY += [by_mpmath(name, ((7,),), ("bool", "int8", "uint8", "int32"), 2 if "y" in row[0] else 1) for name, row in elementary.FUNCTIONS.items() if name != "pow"]
ELEMENTARY += [by_mpmath(name, ((), (40,), (3, 4)), COMPLEX, 2 if name == "pow" else 1) for name in elementary.COMPLEX_FUNCTIONS]
ROWS = [*INDEXING, *ALGEBRA, *SPECIAL, *ORDER, *PRODUCTS, *EXACT, *SUMS, *ELEMENTARY]
CASES = [pytest.param(row, shapes, dtype, id=f"{row.name}-{n}-{dtype}") for row in ROWS for n, shapes in enumerate(row.shapes) for dtype in row.dtypes]


@pytest.mark.parametrize("row, shapes, dtype", CASES)
def test_an_operation_gives_what_numpy_gives_in_every_layout_mode_and_place(row, shapes, dtype):
    if row in SPECIAL or row in ELEMENTARY:
        pytest.importorskip("scipy" if row in SPECIAL else "mpmath")
    values = arguments_of(row, shapes, dtype)
    variables = [symbol(v) for v in values]
    want = [np.asarray(v) for v in as_list(row.expect(*values))]
    alone = pyscan.function(variables, as_list(row.build(*variables)))
    first = alone(*values)
    for g, w in zip(first, want, strict=True):
        close(g, w, row)
    assert alone.counters["python_calls"] == 0
    for name, layout in LAYOUTS.items():
        for got, expected in zip(alone(*[layout(v) if v.ndim else v for v in values]), first):
            try:
                same_bits(got, expected)
            except AssertionError as error:
                raise AssertionError(f"layout {name}: {error}") from None
    plain = pyscan.function(variables, as_list(row.build(*variables)), mode="FAST_COMPILE")
    looped = pyscan.function(variables, in_scan(row.build, variables))
    for got, also, expected in zip(plain(*values), looped(*values), first):
        same_bits(got, expected)
        same_bits(also, expected)
    assert plain.counters["python_calls"] == looped.counters["python_calls"] == 0


@pytest.mark.parametrize("row, dtype", [pytest.param(row, dtype, id=f"{row.name}-{dtype}") for row in ELEMENTARY if len(row.shapes) > 1 for dtype in row.dtypes])
def test_an_elementary_function_gives_the_same_bits_in_a_block_and_in_the_recurrence_of_a_loop(row, dtype):
    values = arguments_of(row, row.shapes[1], dtype)
    variables = [symbol(v) for v in values]
    whole = pyscan.function(variables, row.build(*variables))(*values)
    blocks, _ = pyscan.scan(lambda *steps: row.build(*steps), sequences=variables)

    def carried(*steps):
        first, *rest, state = steps
        return row.build(at.switch(at.neq(state, 12345), first, -first), *rest)

    carry, _ = pyscan.scan(carried, sequences=variables, outputs_info=[at.zeros((), dtype=str(whole.dtype))])
    for got in pyscan.function(variables, [blocks, carry])(*values):
        same_bits(got, whole)


REFUSED = [
    ("index out of bounds", lambda x, i: x[i, i], IndexError, "index out of bounds: index 9 on an axis of length 3", [np.array([0, 9])]),
    ("masks of another length", lambda x, i: x[at.eq(i, 0)], IndexError, "boolean index did not match indexed array along dimension 0; dimension is 3 but .* is 2",
     [np.zeros(2, dtype="int64")]),
    ("indices that do not broadcast", lambda x, i: x[i, at.concatenate([i, i])], IndexError, r"indexing arrays could not be broadcast together with shapes \(2,\) \(4,\)",
     [np.zeros(2, dtype="int64")]),
    ("negative counts", lambda x, i: at.repeat(x, i, axis=0), ValueError, "repeats may not contain negative values", [np.array([1, -1, 2])]),
    ("counts of another length", lambda x, i: at.repeat(x, i, axis=0), ValueError, "could not be broadcast", [np.array([1, 2])]),
    ("an axis that is not there", lambda x, i: at.sort(x, i[0]), ValueError, "axis 2 is out of bounds for array of dimension 2", [np.array([2])]),
    ("an axis to join along that is not there", lambda x, i: at.join(i[0], x, x), ValueError, r"Join axis -3 out of bounds \[0, 2\)", [np.array([-3])]),
    ("parts that do not fit the axis", lambda x, i: at.join(i[0], x, x[:2]), ValueError, "along dimension 0, the array at index 0 has size 3 and .* index 1 has size 2",
     [np.array([1])]),
    ("a number that chooses nothing", lambda x, i: at.choose(i, x), ValueError, "invalid entry in choice array", [np.array([0, 1, -1])]),
    ("a number beyond the choices", lambda x, i: at.choose(i, x), ValueError, "invalid entry in choice array", [np.array([0, 3, 1])]),
    ("nothing to choose from", lambda x, i: at.choose(i, x[:0], mode="clip"), ValueError, "nothing to choose from", [np.array([0, 3, 1])]),
    ("numbers that do not fit the choices", lambda x, i: at.choose(i, x), ValueError, r"cannot be broadcast to a single shape.*\(2,\) and \(3,\)", [np.array([0, 1])]),
    ("stacks that do not fit", lambda x, i: at.matmul(at.zeros((i[0], 3, 3)), at.zeros((2, 3, 3))), ValueError, "matmul: stacks of matrices", [np.array([3])]),
    ("batches that differ", lambda x, i: at.batched_dot(at.zeros((i[0], 3, 3)), at.zeros((2, 3, 3))), TypeError, "must have the same size in axis 0", [np.array([3])]),
    ("values of another length", lambda x, i: at.set_subtensor(x[i, i], at.zeros(3)), ValueError, r"could not broadcast input array from shape \(3,\) into shape \(2,\)",
     [np.zeros(2, dtype="int64")]),
]


@pytest.mark.parametrize("build, error, words, values", [pytest.param(*case[1:], id=case[0]) for case in REFUSED])
def test_what_an_index_can_not_be_is_refused_and_nothing_is_written(build, error, words, values):
    x, i = pyscan.shared(np.ones((3, 3))), at.lvector("i")
    f = pyscan.function([i], build(x, i))
    with pytest.raises(error, match=words):
        f(*values)
    np.testing.assert_array_equal(x.get_value(), np.ones((3, 3)))


def test_a_number_is_no_choices():
    with pytest.raises(TypeError, match="along the first axis of a tensor, or as a list; got qwrong"):
        at.choose(at.lvector("i"), at.dscalar("qwrong"))


def test_advanced_writes_are_made_in_place():
    x, i = at.dmatrix("x"), at.lvector("i")
    f = pyscan.function([x, i], at.inc_subtensor((x + 1.0)[i, i], 1.0))
    assert any("AdvancedIncSubtensor{inplace=True" in str(node.op) for node in f.maker.fgraph.toposort())
    np.testing.assert_array_equal(f(np.zeros((2, 2)), [1, 1]), [[1.0, 1.0], [1.0, 3.0]])


@pytest.mark.parametrize("build, words, value", [
    (at.slinalg.cholesky, "Matrix is not positive definite", [[1.0, 2.0], [2.0, 1.0]]),
    (at.nlinalg.inv, "Singular matrix", [[1.0, 2.0], [2.0, 4.0]]),
    (lambda a: at.slinalg.solve(a, a), "Singular matrix", [[0.0, 0.0], [0.0, 0.0]]),
    (at.nlinalg.det, "must be square", [[1.0, 2.0]]),
    (lambda a: at.slinalg.solve_triangular(a, a), "must be square", [[1.0, 2.0]]),
    (at.nlinalg.eig, "must be square", [[1.0, 2.0]]),
    (at.nlinalg.eig, "Array must not contain infs or NaNs", [[1.0, np.inf], [2.0, 1.0]]),
    (at.nlinalg.eig, "the matrix has complex eigenvalues; cast it to complex first", [[0.0, 1.0], [-1.0, 0.0]]),
    (at.nlinalg.svd, "SVD did not converge", [[np.nan, 1.0], [2.0, 1.0]]),
    (at.nlinalg.pinv, "SVD did not converge", [[np.nan, 1.0], [2.0, 1.0]]),
    (lambda a: at.nlinalg.pinv(a, hermitian=True), "must be square", [[1.0, 2.0]]),
    (lambda a: at.nlinalg.lstsq(a, a), "SVD did not converge in Linear Least Squares", [[np.nan, 1.0], [2.0, 1.0]]),
    (lambda a: at.nlinalg.lstsq(a, a.T), "Incompatible dimensions", [[1.0, 2.0]]),
])
def test_a_matrix_that_can_not_be_solved_is_refused_as_numpy_refuses_it(build, words, value):
    a = at.dmatrix("a")
    f = pyscan.function([a], build(a))
    with pytest.raises(np.linalg.LinAlgError, match=words) as caught:
        f(np.array(value))
    shape = np.shape(value)
    assert re.search(r"\(a[,)]|computes with: a\n", str(caught.value)), "the message names the argument"
    assert f"Inputs shapes: [({shape[0]}, {shape[1]})" in str(caught.value), "and tells its shape"


def test_right_sides_must_fit_their_matrix():
    a, b = at.dmatrix("a"), at.dvector("b")
    with pytest.raises(ValueError, match=r"shapes \(2,2\) and \(3,\)"):
        pyscan.function([a, b], at.slinalg.solve(a, b))(np.eye(2), np.ones(3))


def test_one_singular_matrix_of_a_stack_is_refused():
    a = at.dtensor3("a")
    f = pyscan.function([a], at.nlinalg.inv(a))
    np.testing.assert_array_equal(f(np.stack([np.eye(2), 2 * np.eye(2)]))[1], 0.5 * np.eye(2))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        f(np.stack([np.eye(2), np.zeros((2, 2)), np.eye(2)]))
    with pytest.raises(np.linalg.LinAlgError, match=r"must be square.*\(2,3\)"):
        f(np.ones((4, 2, 3)))
    with pytest.raises(TypeError, match="Inv takes a matrix or a stack of them"):
        at.nlinalg.inv(at.dvector("v"))


def test_a_factor_of_an_indefinite_matrix_is_nan_where_that_is_asked_for():
    a = at.dmatrix("a")
    assert np.isnan(pyscan.function([a], at.slinalg.cholesky(a, on_error="nan"))(np.array([[1.0, 2.0], [2.0, 1.0]]))).all()


def test_a_loop_that_does_not_give_what_the_ufunc_gives_is_not_used():
    assert not pyscan._core.library_load("inv", np.linalg._umath_linalg.cholesky_lo, (np.eye(2) * 4, np.eye(2)))
    assert not pyscan._core.library_load("inv", np.add, (np.eye(2),))
    assert not pyscan._core.library_load("inv", np.linalg.inv, (np.eye(2),))
    assert pyscan.library.is_native("eigh_lower"), "of which the other triangle's loop gives the same for a diagonal matrix"
    assert not pyscan._core.library_load("eigh_lower", np.linalg._umath_linalg.eigh_up, (np.eye(2),))
    assert not pyscan._core.library_load("lstsq", np.linalg._umath_linalg.solve, (np.eye(2), np.eye(2), np.ones(())))


def test_a_loop_that_writes_its_argument_is_tried_on_a_copy():
    value = np.array([[2.0, 1.0], [1.0, 3.0]])
    assert pyscan.library.is_native("qr_raw")
    for name in ("qr_r_raw", "qr_r_raw_n"):
        if hasattr(np.linalg._umath_linalg, name):
            assert pyscan._core.library_load("qr_raw", getattr(np.linalg._umath_linalg, name), (value,))
    np.testing.assert_array_equal(value, [[2.0, 1.0], [1.0, 3.0]])


def test_a_matrix_that_is_factored_stays_as_it_is():
    a = at.dmatrix("a")
    f = pyscan.function([a], [*at.nlinalg.qr(a), a * 1.0])
    value = np.array([[2.0, 1.0], [1.0, 3.0]])
    np.testing.assert_array_equal(f(value)[2], [[2.0, 1.0], [1.0, 3.0]])
    np.testing.assert_array_equal(value, [[2.0, 1.0], [1.0, 3.0]])


def operations_of(row):
    """("op" | "scalar" | "library", name) of what the nodes of a row's graph are."""
    values = arguments_of(row, row.shapes[0], row.dtypes[0])
    todo, met = [out.owner for out in as_list(row.build(*[symbol(v) for v in values]))], set()
    while todo:
        node = todo.pop()
        if node is None or node in met:
            continue
        met.add(node)
        todo += [i.owner for i in node.inputs]
        scalar = getattr(node.op, "scalar_op", None)
        yield "op", node.op.kind
        yield "scalar", getattr(scalar, "name", None)
        yield "library", getattr(node.op, "library", getattr(scalar, "library", None))


ELSEWHERE = {  # what other files compare, or what a row above reaches by lowering alone
    ("op", "random"): "test_draws.py",
    ("op", "scan"): "test_generated_scans.py",
    ("library", "solve"): "the rows solve...: of matrices",
    ("library", "solve1"): "the rows solve...: of vectors",
    ("library", "qr_reduced"): "the row qr_reduced",
    ("library", "qr_complete"): "the row qr_complete",
    ("library", "matmul"): "the rows pinv...",
}


def test_every_operation_of_the_tables_of_the_core_has_a_row():
    tables = {("op", row["kind"]) for row in pyscan._core.ops()} | {("scalar", row["name"]) for row in pyscan._core.scalars()}
    tables |= {("library", row["name"]) for row in pyscan._core.library()}
    met = {operation for row in ROWS for operation in operations_of(row)}
    if importlib.util.find_spec("scipy") is None:  # without it these call back
        met |= {("op", "special")}
    assert tables - met == set(ELSEWHERE), "an operation without a row, or a row that makes its excuse needless"


def classes_of(base):
    for kind in base.__subclasses__():
        yield kind
        yield from classes_of(kind)


def test_no_operation_has_to_call_back():
    own = {kind for kind in classes_of(pyscan._core.Op) if kind.__module__.startswith("pyscan.tensor") and "random" not in kind.__module__}
    assert not {kind.__name__ for kind in own if getattr(kind, "kind", None) is None and hasattr(kind, "perform")}


@pytest.mark.parametrize("op, rows", [
    (at.nlinalg.QRFull("reduced"), ("qr_raw", "qr_reduced")), (at.nlinalg.QRFull("complete"), ("qr_raw", "qr_complete")), (at.nlinalg.Eig(), ("eig",)),
    (at.nlinalg.MatrixPinv(), ("svd_thin", "matmul")), (at.nlinalg.MatrixPinv(True), ("eigh_lower", "matmul")), (at.nlinalg.Lstsq(), ("lstsq",)),
    (at.nlinalg.SVD(), ("svd_full",)),
], ids=str)
def test_without_one_of_its_loops_an_operation_calls_back_and_gives_the_same(op, rows, monkeypatch):
    value = np.array([[2.0, 1.0], [1.0, 3.0]])
    arguments = [at.dmatrix("a")] * (2 if isinstance(op, at.nlinalg.Lstsq) else 1)
    native = pyscan.function(arguments[:1], op(*arguments))(value)
    for missing in rows:
        monkeypatch.setattr(at.nlinalg, "is_native", lambda name, missing=missing: name != missing)
        assert op.kind is None
        for got, want in zip(as_list(pyscan.function(arguments[:1], op(*arguments))(value)), as_list(native)):
            same_bits(got, want)
