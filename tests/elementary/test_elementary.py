"""The elementary functions of csrc/math: less than 0.8 units in the last place from the exact value, with the same
bits for one element, for a block, in every layout and on every level of CPU.

`PYSCAN_ULP_POINTS` is the number of arguments of each function that ulp.c measures (default 30,000).
"""
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

from pyscan import _core
from tests.compiler import COMPILER

ROOT = pathlib.Path(__file__).resolve().parents[2]
FUNCTIONS = re.findall(r"^ELEMENTARY\((\w+), (\w+),", (ROOT / "csrc" / "math" / "elementary.def").read_text(), re.M)
NAMES = [name for _, name in FUNCTIONS]
LIMIT = 0.8


def compute(name, x):
    return _core.scalar(name, x)


@pytest.fixture(scope="module")
def ulp_program(tmp_path_factory):
    """The path of ulp.c, built with optimisation, as the package is."""
    if not COMPILER or sys.platform == "win32":
        pytest.skip("needs a C compiler")
    folder = tmp_path_factory.mktemp("ulp")
    sources = [*sorted((ROOT / "csrc" / "math").glob("elementary_*.c")), ROOT / "csrc" / "math" / "level.c", ROOT / "tests" / "elementary" / "ulp.c"]
    flags = ["-std=gnu11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-strict-aliasing", "-I", str(ROOT / "csrc")]
    empty = folder / "empty.c"
    empty.write_text("#include <quadmath.h>\nint main(void) { return expq(0) != 1; }\n")
    if subprocess.run([*COMPILER, str(empty), "-o", str(folder / "empty"), "-lquadmath"], capture_output=True).returncode != 0:
        pytest.skip("the compiler has no libquadmath")
    program = folder / "ulp"
    built = subprocess.run([*COMPILER, *flags, *map(str, sources), "-o", str(program), "-lquadmath", "-lm"], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return program


def test_errors_stay_below_the_limit_and_blocks_and_levels_agree(ulp_program):
    done = subprocess.run([str(ulp_program), os.environ.get("PYSCAN_ULP_POINTS", "30000")], capture_output=True, text=True)
    print(done.stdout)
    assert [line.split()[0] for line in done.stdout.splitlines()] == NAMES
    assert done.returncode == 0, done.stdout


EXACT = {  # by mpmath, at any precision
    "exp": "exp(x)", "exp2": "mpf(2) ** x", "expm1": "expm1(x)", "log": "log(x)", "log2": "log(x) / log(mpf(2))", "log10": "log(x) / log(mpf(10))",
    "log1p": "log1p(x)", "sin": "sin(x)", "cos": "cos(x)", "tanh": "tanh(x)",
    "sinh": "sinh(x)", "cosh": "cosh(x)", "arcsinh": "asinh(x)", "arccosh": "acosh(x)", "arctanh": "atanh(x)", "sigmoid": "1 / (1 + exp(-x))", "softplus": "log1p(exp(x))",
    "log1mexp": "log(-expm1(x))",
}  # fmt: skip
UNBOUNDED = ("log", "log2", "log10", "sin", "cos", "log1p", "arcsinh", "arccosh")  # exact values of huge arguments take no huge numbers
POSITIVE, NEGATIVE = ("log", "log2", "log10"), ("log1mexp",)


def arguments(name, n=150):
    """Arguments over all exponents and where the function is used most, of the sign that it takes."""
    rng = np.random.default_rng(NAMES.index(name))
    wide = np.ldexp(rng.uniform(0.5, 1, n), rng.integers(-1070, 1020, n)) * rng.choice([-1, 1], n)
    mid = np.ldexp(rng.uniform(0.5, 1, n), rng.integers(-30, 11, n)) * rng.choice([-1, 1], n)
    x = np.concatenate([wide, mid, 1 + np.ldexp(rng.uniform(-1, 1, n), rng.integers(-50, -1, n))])
    x = np.abs(x) if name in POSITIVE else -np.abs(x) if name in NEGATIVE else x
    return x[x > -1] if name == "log1p" else x[x >= 1] if name == "arccosh" else x[abs(x) < 1] if name == "arctanh" else x


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_arithmetic_with_a_thousand_bits(name):
    mpmath = pytest.importorskip("mpmath")
    x = arguments(name)
    y = compute(name, x)
    with mpmath.workprec(1300):
        formula = compile(EXACT[name], name, "eval")
        for a, b in zip(x.tolist(), y.tolist()):
            if not np.isfinite(b) or name not in UNBOUNDED and abs(a) > 745:
                continue
            exact = eval(formula, {**vars(mpmath), "x": mpmath.mpf(a)})
            unit = mpmath.ldexp(1, max(int(mpmath.frexp(exact)[1]), -1021) - 53)
            assert abs(mpmath.mpf(b) - exact) < LIMIT * unit, (name, a.hex(), b.hex())


@pytest.mark.parametrize("name, seams", [
    ("exp", [0.0, 0.34657359027997264, -708, 708, -708.3964185322641, -745.1332191019411, 709.782712893384]),
    ("exp2", [0.0, 0.5, -1021, 1021, -1022, -1074, 1023]),
    ("expm1", [0.0, -0.34657359027997264, -37.4, -708, 708, 709.782712893384]),
    ("log", [1.0, 0.70710678, 1.41421356, 2.2250738585072014e-308, 1.79e308]),
    ("log1p", [0.0, -0.29289321, 0.41421356, -1.0 + 1e-13, 1.0715086071862673e301]),
    ("tanh", [0.0, 0.17328679513998632, 18.7, 19.06, 22.0]),
    ("sinh", [0.0, 0.34657359027997264, 19.06, 37.4, 708, 710.4758600739439]),
    ("arcsinh", [0.0, 0.346, 0.7071067811865476, 2.0**27, 2.0**500, 1.79e308]),
    ("arccosh", [1.0, 1.0606601717798212, 2.0, 2.0**53, 2.0**500, 1.79e308]),
    ("arctanh", [0.0, 0.17157287525380993, 0.5, 1.0]),
    ("sigmoid", [0.0, 36.7, 37.4, 40.0, -708, -745.1332191019411]),
    ("softplus", [0.0, 36.7, 60.0, -37.0, -708, -745.1332191019411]),
])  # fmt: skip
def test_functions_rise_through_their_seams_and_limits(name, seams):
    for seam in seams:
        unit = np.spacing(abs(seam)) if seam else 2.0**-1074
        x = seam + unit * np.arange(-300, 301)
        y = compute(name, x)
        y = y[~np.isnan(y)]
        assert np.all(y[1:] >= y[:-1]), seam


@pytest.mark.parametrize("name", ["sin", "tanh", "sinh", "arcsinh", "arctanh"])
def test_odd_functions_are_odd_to_the_last_bit(name):
    x = arguments(name)
    np.testing.assert_array_equal(compute(name, -x).view("int64"), (-compute(name, x)).view("int64"))


PRINT_BITS = """
import hashlib, numpy as np, pyscan, pyscan.tensor as at
from pyscan import _core
from tests.elementary.test_elementary import NAMES, arguments
digest = hashlib.sha256()
for name in NAMES:
    for dtype in ("float64", "float32"):
        x = arguments(name).astype(dtype)
        edges = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -1], dtype)
        digest.update(_core.scalar(name, np.concatenate([x, edges])).tobytes())
x0 = at.vector("x0")
for dtype in ("float64", "float32"):
    edges = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 3, 1e-38, 1e30], dtype)
    a, b = np.repeat(edges, 10), np.tile(edges, 10)
    for arrays in ((a, b), (a[:37], b[:37]), (a[::3], b[::3]), (a, b[5:6]), (a[7:8], b)):
        for name in ("add", "sub", "mul", "true_divide"):
            with np.errstate(all="ignore"):
                known = getattr(np, {"sub": "subtract", "mul": "multiply"}.get(name, name))(*arrays)
            found = _core.scalar(name, *np.broadcast_arrays(*arrays))
            np.testing.assert_array_equal(found, known)
            digest.update(np.where(np.isnan(found), 0, found).tobytes())
    for name in ("neg", "abs", "sgn", "square", "reciprocal", "sqrt", "deg2rad", "rad2deg"):
        digest.update(_core.scalar(name, a).tobytes())
out, _ = pyscan.scan(lambda x: at.tanh(x) + at.sin(at.exp(-x)) * at.log1p(x * x), outputs_info=[x0], n_steps=50)
digest.update(pyscan.function([x0], out)(np.linspace(-2, 2, 37)).tobytes())
print(_core.cpu_level(), digest.hexdigest())
"""


def test_every_level_of_cpu_gives_the_same_bits_in_python():
    found = {}
    for level in _core.cpu_levels():
        done = subprocess.run([sys.executable, "-c", PRINT_BITS], env={**os.environ, "PYSCAN_CPU": level, "PYTHONPATH": os.pathsep.join(sys.path)},
                              capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0, done.stderr
        chosen, found[level] = done.stdout.split()
        assert chosen == level
    assert len(set(found.values())) == 1


def test_a_level_that_the_machine_lacks_is_refused_with_those_that_it_has():
    done = subprocess.run([sys.executable, "-c", "import pyscan"], env={**os.environ, "PYSCAN_CPU": "mmx", "PYTHONPATH": os.pathsep.join(sys.path)},
                          capture_output=True, text=True, cwd=ROOT)
    assert done.returncode != 0
    assert f"ImportError: PYSCAN_CPU=mmx is none of the levels that this machine has: {_core.cpu_levels()}" in done.stderr


def test_the_constants_are_what_their_script_writes():
    pytest.importorskip("mpmath")
    script, header = ROOT / "tools" / "coefficients.py", ROOT / "csrc" / "math" / "coefficients.h"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout == header.read_text()
