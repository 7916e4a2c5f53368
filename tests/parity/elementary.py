"""What the elementary and special functions are: formulas in mpmath's words, and arguments where they are defined.

Relies on mpmath, which `nearest` imports. Relied on by test_operations.
"""
import numpy as np

# name -> (formula, smallest and largest argument, and what the C library's value may lack, where that is more than one unit in the
# last place and `long double` is no wider than double)
FUNCTIONS = {
    "exp": ("exp(x)", -80, 80),
    "exp2": ("mpf(2) ** x", -100, 100),
    "expm1": ("expm1(x)", -20, 80),
    "log": ("log(x)", 0, 1e6),
    "log2": ("log(x) / log(mpf(2))", 0, 1e6),
    "log10": ("log(x) / log(mpf(10))", 0, 1e6),
    "log1p": ("log1p(x)", -0.9, 1e4),
    "sqrt": ("sqrt(x)", 0, 1e6),
    "reciprocal": ("1 / x", 1, 100),
    "sin": ("sin(x)", -60, 60),
    "cos": ("cos(x)", -60, 60),
    "tan": ("tan(x)", -60, 60),
    "arcsin": ("asin(x)", -1, 1),
    "arccos": ("acos(x)", -1, 1),
    "arctan": ("atan(x)", -50, 50),
    "sinh": ("sinh(x)", -60, 60),
    "cosh": ("cosh(x)", -60, 60),
    "tanh": ("tanh(x)", -12, 12),
    "arcsinh": ("asinh(x)", -100, 100),
    "arccosh": ("acosh(x)", 1, 100),
    "arctanh": ("atanh(x)", -0.99, 0.99),
    "deg2rad": ("x * pi / 180", -720, 720),
    "rad2deg": ("x * 180 / pi", -20, 20),
    "sigmoid": ("1 / (1 + exp(-x))", -80, 80),
    "softplus": ("log1p(exp(x))", -80, 80),
    "log1mexp": ("log(-expm1(x))", -80, -1e-3),
    "gamma": ("gamma(x)", 0.01, 30, 5),
    "gammaln": ("loggamma(x)", 0.01, 100, 3),
    "erf": ("erf(x)", -4, 4),
    "erfc": ("erfc(x)", -4, 26, 4),
    "arctan2": ("atan2(x, y)", -9, 9),
    "pow": ("x ** y", 0.01, 9),
}

# The same of complex numbers; the difference is measured in units of the absolute value.
COMPLEX_FUNCTIONS = [
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "reciprocal", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh",
    "tanh", "arcsinh", "arccosh", "arctanh", "log1mexp", "pow"]
COMPLEX_LIMIT = 4  # the C library's tanh


def arguments(name, x, rng):
    """Numbers of the dtype and shape of `x` where the function is defined."""
    low, high = FUNCTIONS[name][1:3]
    if x.dtype.kind == "c":
        return (rng.uniform(-3, 3, x.shape) + 1j * rng.uniform(-3, 3, x.shape)).astype(x.dtype)
    if x.dtype.kind in "biu":
        least, most = (0, 1) if x.dtype == "bool" else (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
        return rng.integers(max(int(np.ceil(low)), least), min(int(high), most), x.shape, endpoint=True).astype(x.dtype)
    return (low + (high - low) * rng.random(x.shape) ** 2).astype(x.dtype)


def nearest(name, dtype, *values):
    """The numbers of `dtype` next to the exact values of the function."""
    import mpmath

    formula, bits = compile(FUNCTIONS[name][0], name, "eval"), np.finfo(dtype).nmant + 1
    result = np.empty(values[0].shape, dtype)
    for place in np.ndindex(result.shape):
        with mpmath.workprec(400):
            known = dict(zip("xy", [mpmath.mpmathify(v[place].astype("complex128" if v.dtype.kind == "c" else "float64").item()) for v in values]))
            exact = eval(formula, {**vars(mpmath), **known})
        with mpmath.workprec(bits):
            exact = +exact
        result[place] = complex(exact) if result.dtype.kind == "c" else float(exact)
    return result


def assert_near(name, got, want):
    """Each element of `got` is at most one unit, or what FUNCTIONS allows, from `want`, which is exact but for its rounding."""
    is_wide = np.finfo(np.longdouble).nmant > np.finfo("float64").nmant
    library = 1 if is_wide or got.dtype == "float32" else (*FUNCTIONS[name], 1)[3]
    limit = COMPLEX_LIMIT if got.dtype.kind == "c" else library
    finite = np.isfinite(want)
    np.testing.assert_array_equal(got[~finite], want[~finite])
    distance = np.abs(got[finite] - want[finite]) / np.spacing(np.abs(want[finite]))
    assert (distance <= limit).all(), (name, distance.max(), got[finite][distance.argmax()], want[finite][distance.argmax()])
