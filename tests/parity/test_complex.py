"""Elementary functions of complex numbers where it matters what the standard says: infinities, NaN, signed zeros, branch cuts.

What is compared is what a part is (a NaN, an infinity, a zero, a number) and its sign; how near the numbers are, test_operations asks.
"""

import itertools

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from tests.parity.elementary import COMPLEX_FUNCTIONS

PARTS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 800.0, 1e-320, np.inf, -np.inf, np.nan)
EDGES = np.array([complex(re, im) for re, im in itertools.product(PARTS, PARTS)])
OF_ONE = [name for name in COMPLEX_FUNCTIONS if name != "pow"]
OF_OUR_OWN = ("expm1", "log1p", "log1mexp")  # NumPy makes NaN of what overflows in these, or loses the small part; what they are is said below
CUTS = {  # the sides of each cut: a point on it, and the step to either side
    "log": [(-2, 1j)], "log2": [(-2, 1j)], "log10": [(-2, 1j)], "log1p": [(-3, 1j)], "sqrt": [(-2, 1j)],
    "arcsin": [(2, 1j), (-2, 1j)], "arccos": [(2, 1j), (-2, 1j)], "arctanh": [(2, 1j), (-2, 1j)], "arccosh": [(0.5, 1j), (-2, 1j)],
    "arctan": [(2j, 1), (-2j, 1)], "arcsinh": [(2j, 1), (-2j, 1)],
}


def apply(name, values, *others):
    symbols = [at.vector(dtype=str(v.dtype)) for v in (values, *others)]
    return pyscan.function(symbols, getattr(at, name)(*symbols))(values, *others)


def kind(part):
    if np.isnan(part):
        return "nan"
    return "-+"[int(not np.signbit(part))] + ("inf" if np.isinf(part) else "0" if part == 0 else "number")


def kinds(values):
    return [(kind(v.real), kind(v.imag)) for v in values]


def told(values, got):
    return [f"{z}: {k}" for z, k in zip(values, kinds(got))]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", [name for name in OF_ONE if name not in OF_OUR_OWN])
def test_infinities_nan_and_signed_zeros_are_as_numpy_has_them(name, dtype):
    values = EDGES.astype(dtype)
    if np.__version__.startswith("1."):  # beside a NaN, other signs are as good, and its functions give others
        values = values[~np.isnan(values)]
    with np.errstate(all="ignore"):
        want = getattr(np, name)(values)
    assert told(values, apply(name, values)) == told(values, want)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", OF_ONE)
def test_the_conjugate_of_an_argument_gives_the_conjugate_of_the_value(name, dtype):
    values = EDGES[~np.isnan(EDGES)].astype(dtype)
    got, mirrored = apply(name, values), apply(name, values.conj())
    number = ~np.isnan(got)  # the sign of a part beside a NaN says nothing
    assert told(values[number], got[number]) == told(values[number], mirrored[number].conj())
    np.testing.assert_allclose(got[number], mirrored[number].conj(), rtol=4 * np.finfo(dtype).eps)  # the C library's arctan is not mirrored to the bit


@pytest.mark.parametrize("name, point, step", [(name, *cut) for name, cuts in CUTS.items() for cut in cuts])
def test_on_a_branch_cut_the_sign_of_zero_says_which_side_it_is(name, point, step):
    point = complex(point)
    on = [complex(point.real, zero) if step == 1j else complex(zero, point.imag) for zero in (0.0, -0.0)]
    got, beside = apply(name, np.array(on)), apply(name, np.array([point + 1e-9 * step, point - 1e-9 * step]))
    np.testing.assert_allclose(got, beside, rtol=1e-7)
    assert abs(got[0] - got[1]) > 0.1


@pytest.mark.parametrize("name, values", [
    ("expm1", {800 + 0j: complex(np.inf, 0), -np.inf + 0j: -1, complex(np.nan, 0): complex(np.nan, 0), complex(-np.inf, np.inf): -1, 1e-320 + 1e-320j: 1e-320 + 1e-320j}),
    ("log1p", {1e-320 + 1e-320j: 1e-320 + 1e-320j, -1: -np.inf, complex(np.inf, 1): np.inf, complex(-2, -0.0): complex(0, -np.pi), 1e300 + 0j: np.log(1e300)}),
    ("log1mexp", {800 + 1j: complex(800, 1 - np.pi), -800 + 1j: complex(0, -0.0), 0: complex(-np.inf, -np.pi), complex(np.inf, 0): complex(np.inf, -np.pi), 1e-200: complex(np.log(1e-200), -np.pi)}),
    ("exp2", {3: 8, complex(-1, -0.0): complex(0.5, -0.0), 1100 + 1e-300j: complex(np.inf, 9.4e30), -1000 - 0.5j: 2.0 ** -1000 * np.exp(-0.5j * np.log(2))}),
])
def test_values_that_a_formula_for_the_common_case_would_lose(name, values):
    got = apply(name, np.array(list(values), "complex128"))
    for z, g, want in zip(values, got, values.values()):
        want = complex(want)
        assert kind(g.real)[1:] == kind(want.real)[1:], (z, g, want)
        np.testing.assert_allclose([g.real, g.imag], [want.real, want.imag], rtol=0.01, err_msg=str(z))
        assert np.signbit(g.imag) == np.signbit(want.imag), (z, g, want)


def test_powers():
    cases = [  # base, exponent, value
        (0, 0, 1), (0, 2.5, 0), (0, 0.5 + 2j, 0), (1 + 2j, 0, 1), (1 + 2j, 1, 1 + 2j), (1 + 2j, 2, -3 + 4j), (3 - 1j, 5, (3 - 1j) ** 5), (1 + 1j, 20, -1024),
        (2j, -2, -0.25), (1e200, -1, 1e-200), (1e100 + 1e100j, -2, complex(0, -5e-201)), (-8, 1 / 3, 1 + 3 ** 0.5 * 1j), (1.0000001, 3e8 + 1j, 10686463150377.316 * (1 + 1e-7j)),
    ]
    bases, exponents, values = (np.array(column, "complex128") for column in zip(*cases))
    np.testing.assert_allclose(apply("pow", bases, exponents), values, rtol=1e-6)
    whole = apply("pow", bases[5:8], exponents[5:8])
    assert whole.tolist() == values[5:8].tolist()  # exact
    undefined = apply("pow", np.zeros(3, "complex128"), np.array([-1, 1j, complex(np.nan, 0)]))
    assert np.isnan(undefined.real).all() and np.isnan(undefined.imag).all()


def test_an_infinite_base_to_the_power_of_one_is_itself():
    bases = np.array([complex(np.inf, 1), complex(-np.inf, -0.0)])
    assert kinds(apply("pow", bases, np.ones(2, "complex128"))) == kinds(bases)


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "maximum", "minimum"])
def test_the_order_is_numpys_with_nan_in_either_part(name):
    ours = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
    a, b = (np.array(column) for column in zip(*itertools.product(EDGES[::3], EDGES[::5])))
    with np.errstate(all="ignore"):
        want = getattr(np, ours.get(name, name))(a, b)
    got = apply(name, a, b)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name, count", [
    ("int_div", 2), ("mod", 2), ("arctan2", 2), ("deg2rad", 1), ("rad2deg", 1), ("sgn", 1), ("clip", 3), ("ceil", 1), ("floor", 1), ("trunc", 1), ("round", 1),
    ("sigmoid", 1), ("softplus", 1), ("gammaln", 1), ("erfc", 1), ("complex", 2), ("complex_from_polar", 2)])
def test_what_is_not_defined_for_complex_numbers_is_refused_by_name(name, count):
    with pytest.raises(TypeError, match="(?s)complex argument not supported by .*qwrong"):
        getattr(at, name)(*[at.zvector("qwrong")] * count)
