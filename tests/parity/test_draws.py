"""The draws of csrc/random against the running NumPy: values, final states, refusals and their words, bit for bit.

The room is compiled alone and handed NumPy's own functions. What each distribution must equal is the expression in its row
of dists.def (`method`), evaluated on a twin generator. This is about every bit generator, scalar and array parameters, broadcasting,
views that run backwards, empty shapes, and words left in a generator's buffer by 32-bit draws.
"""
import ctypes
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from numpy.random import _generator

from pyscan import _core
from pyscan.selfcheck import has_batches
from tests.compiler import COMPILER

CSRC = pathlib.Path(__file__).resolve().parents[2] / "csrc"
BIT_GENERATORS = [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64]
N_CASES = int(os.environ.get("PYSCAN_DRAW_CASES", "150"))

pytestmark = pytest.mark.skipif(sys.platform == "win32" or not COMPILER, reason="needs a C compiler")


class Array(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("buffer", ctypes.c_void_p), ("ndim", ctypes.c_int32), ("dtype", ctypes.c_int32),
                ("shape", ctypes.c_int64 * 16), ("strides", ctypes.c_int64 * 16)]


class UFunc(ctypes.Structure):
    """The beginning of NumPy's PyUFuncObject."""

    _fields_ = [("head", ctypes.c_ssize_t * 2), ("counts", ctypes.c_int * 4), ("functions", ctypes.POINTER(ctypes.c_void_p)),
                ("data", ctypes.POINTER(ctypes.c_void_p)), ("ntypes", ctypes.c_int), ("reserved", ctypes.c_int),
                ("name", ctypes.c_void_p), ("types", ctypes.POINTER(ctypes.c_char))]


class Poll(ctypes.Structure):
    _fields_ = [("ask", ctypes.c_void_p), ("self", ctypes.c_void_p)]


class Status(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("node", ctypes.c_int32), ("n_path", ctypes.c_int32), ("path", ctypes.c_int64 * 8),
                ("numbers", ctypes.c_int64 * 4), ("ndims", ctypes.c_int32 * 2), ("shapes", ctypes.c_int64 * 32), ("text", ctypes.c_char * 256)]


def find_in_scipy(name):
    """The address of a function of two doubles that SciPy offers to C; None where there is no SciPy."""
    try:
        from scipy.special import cython_special
    except ImportError:
        return None
    api = ctypes.pythonapi.PyCapsule_GetPointer
    api.restype, api.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return api(cython_special.__pyx_capi__[name], b"double (double, double, int __pyx_skip_dispatch)")


class LeftToMethod(Exception):
    """Nothing was drawn: the generator's own method must."""


class Room:
    """The compiled room, by the names of its header."""

    TEXTS = ("dist_name", "dist_method", "dist_params", "dist_symbol", "status_exception")

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))
        for name in self.TEXTS:
            getattr(self.library, name).restype = ctypes.c_char_p
        for name in ("dist_param_kind", "dist_result_kind"):
            getattr(self.library, name).restype = ctypes.c_char
        self.library.stream_new.restype = ctypes.c_void_p
        self.library.stream_free.argtypes = [ctypes.c_void_p]
        self.names, self.loops = self.read_names(), []
        self.functions = self.find_functions()

    def read_names(self):
        rows = (CSRC / "random" / "dists.def").read_text().splitlines()
        names = [self.library.dist_name(i).decode() for i in range(sum(row.startswith("DIST(") for row in rows))]
        return {name: i for i, name in enumerate(names)}

    def find_functions(self):
        numpys = ctypes.CDLL(_generator.__file__)
        functions = ((ctypes.c_void_p * 2) * (2 * len(self.names) + 1))()  # a Dists: behind the functions all is 0, so no fast paths
        for dist in self.names.values():
            for i in range(2):
                symbol = self.library.dist_symbol(dist, i).decode()
                if symbol.startswith("numpy."):
                    functions[dist][i] = self.find_loop(getattr(np, symbol.removeprefix("numpy.")))
                elif symbol.startswith("scipy."):
                    functions[dist][i] = find_in_scipy(symbol.removeprefix("scipy."))
                elif symbol:
                    functions[dist][i] = ctypes.cast(getattr(numpys, symbol), ctypes.c_void_p).value
        return functions

    def find_loop(self, ufunc):
        """The address of a NumpyLoop of stream.h: the ufunc's loop over doubles."""
        fields, n = UFunc.from_address(id(ufunc)), ufunc.nargs
        i = next(i for i in range(fields.ntypes) if fields.types[i * n:(i + 1) * n] == bytes([np.dtype("float64").num]) * n)
        self.loops.append((ctypes.c_void_p * 2)(fields.functions[i], fields.data[i] if fields.data else None))
        return ctypes.addressof(self.loops[-1])

    def kinds(self, dist):
        return [self.library.dist_param_kind(dist, i).decode() for i in range(self.library.dist_n_params(dist))]

    def array(self, data):
        array = Array(data=data.ctypes.data, ndim=data.ndim, dtype=self.library.dtype_from_name(data.dtype.name.encode()))
        array.shape[:data.ndim] = data.shape
        array.strides[:data.ndim] = data.strides
        return array

    def draw(self, dist, generator, params, shape):
        """Draws as the vm does: one element by draw_one, others by draw_fill. Raises what was refused."""
        support = [param.shape[-1] for param, kind in zip(params, self.kinds(dist)) if kind == "v"] if self.library.dist_ndim_supp(dist) else []
        out = np.empty((*shape, *support), "float64" if self.library.dist_result_kind(dist) == b"d" else "int64")
        status, stream = Status(), self.library.stream_new()
        ctypes.c_void_p.from_address(stream).value = generator.bit_generator.ctypes.bit_generator.value
        stream_ptr = ctypes.c_void_p(stream)
        if out.ndim == 0 and all(param.ndim == 0 for param in params):
            pointers = (ctypes.c_void_p * 4)(*[param.ctypes.data for param in params])
            result = self.library.draw_one(self.functions, dist, stream_ptr, ctypes.c_void_p(out.ctypes.data), pointers, ctypes.byref(status))
        else:
            arrays, dst = (Array * 4)(*map(self.array, params)), self.array(out)
            result = self.library.draw_fill(self.functions, dist, stream_ptr, ctypes.byref(dst), arrays, Poll(), ctypes.byref(status))
        self.library.stream_free(stream)
        if result == 1:
            raise LeftToMethod
        if result < 0:
            kinds = {b"ValueError": ValueError, b"OverflowError": OverflowError}
            raise kinds[self.library.status_exception(status.code)](status.text.decode())
        return out

    def expect(self, dist, generator, params, shape):
        """The same by the expression of the row."""
        words = [word.split("=")[0].strip() for word in self.library.dist_params(dist).decode().split(",")] + ["single"]
        return np.asarray(eval(self.library.dist_method(dist).decode(), {"np": np, "rng": generator, "size": shape, **dict(zip(words, params))}))


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    path = tmp_path_factory.mktemp("random") / "random.so"
    sources = [str(p) for folder in ("base", "random") for p in sorted((CSRC / folder).glob("*.c"))]
    sources.append(str(CSRC / "math" / "level.c"))
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    subprocess.run([*COMPILER, "-std=c11", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-I", str(CSRC), *sources, "-o", str(path), "-lm"],
                   check=True, env=env)
    return Room(path)


GOOD = {"d": [0.01, 0.3, 0.5, 0.7, 0.9, 1.0], "l": [3, 5, 100, 2**31, 2**32 - 1, 2**32, 2**33], "s": [0, 1], "r": [0, 1], "w": [0]}
BAD = {"d": [0.0, -0.0, -1.0, 2.5, 1e300, np.inf, -np.inf, np.nan], "l": [0, -1, -5, 2**62, 2**63 - 1, -2**63], "s": [], "r": [], "w": []}
CHECKED_BY_BOTH = ("beta_binomial", "gamma", "gengamma", "nbinom", "t")  # by scipy and by the method that it calls
WIDE = {"poisson": [5.0, 30.0, 1e6], "chisquare": [2.0, 30.0], "gamma": [2.0, 30.0], "beta": [2.0, 30.0], "weibull": [3.0],
        "power": [3.0], "hypergeometric": [0, 9, 20, 500], "triangular": [2.0], "nbinom": [2.0, 30.0],
        "vonmises": [2.0, 40.0, 1e7], "wald": [2.0, 30.0], "f": [2.0, 30.0],
        "zipf": [1.5, 2.0, 4.0, 1024.0, 1025.0, 5000.0]}


def make_shape(random):
    return tuple(int(n) for n in random.choice([0, 1, 2, 3, 5, 7], size=random.integers(0, 4), p=[.03, .2, .3, .3, .12, .05]))


def make_param(random, name, kind, shape, is_bad):
    """A parameter that broadcasts to the shape: a scalar, some of its axes, some of length 1, sometimes backwards."""
    own = [n if random.random() < 0.7 else 1 for n in shape[len(shape) - random.integers(0, len(shape) + 1):]] if random.random() < 0.6 else []
    if kind == "v":
        p = random.dirichlet(np.ones(random.integers(1, 6)), size=own)
        return np.asarray(p - 0.3 * random.random() if is_bad else p)
    pool = GOOD[kind] + (BAD[kind] if is_bad else WIDE.get(name, []))
    if name == "zipf" and np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pool = [a for a in pool if not a > 1024]  # older NumPy's own zipf never ends there
    param = random.choice(np.array(pool, dtype="float64" if kind == "d" else "int64"), size=own)
    return np.asarray(param[::-1] if param.ndim and random.random() < 0.3 else param)


def make_params(random, name, kinds, shape):
    params = [make_param(random, name, kind, shape, random.random() < 0.2) for kind in kinds]
    if name in ("integers", "uniform") and random.random() < 0.7:
        params[0] = np.full_like(params[0], random.integers(-2, 3))  # mostly below the other
    return params


def outcome(function, *args):
    try:
        return function(*args), None
    except (ValueError, OverflowError) as error:
        return None, error


def is_scipys(error):
    return error is not None and str(error).startswith("Domain error in arguments.")


def same_bits(a, b):
    return a.shape == b.shape and (a.tobytes() == b.tobytes() or np.array_equal(a, b, equal_nan=True))


def check_case(room, name, dist, seed):
    random = np.random.default_rng(seed)
    make = BIT_GENERATORS[random.integers(len(BIT_GENERATORS))]
    ours, twin = (np.random.Generator(make(seed)) for _ in range(2))
    if random.random() < 0.5:  # leaves half a word in the buffer
        assert ours.integers(0, 10) == twin.integers(0, 10)
    shape = make_shape(random)
    params = make_params(random, name, room.kinds(dist), shape)
    before = repr(ours.bit_generator.state)
    drawn, refused = outcome(room.draw, dist, ours, params, shape)
    with np.errstate(all="ignore"):
        expected, error = outcome(room.expect, dist, twin, params, shape)
    if is_scipys(refused):  # the expression does not check as scipy does, see below
        assert repr(ours.bit_generator.state) == before
        return
    if error is not None and name in CHECKED_BY_BOTH and any(param.size == 0 for param in params):
        return  # scipy looks at no element of an empty shape; a Generator does
    assert (type(refused), str(refused)) == (type(error), str(error))
    if refused is not None and (room.library.dist_ndim_supp(dist) or name == "beta_binomial"):  # the method had drawn before that
        assert repr(ours.bit_generator.state) == before
        return
    assert refused is not None or same_bits(drawn, expected)
    assert repr(ours.bit_generator.state) == repr(twin.bit_generator.state)


# A matrix of covariances is drawn by its factor, which comes from Python: tests/unit/test_random_normals.py and test_every_distribution.py.
@pytest.mark.parametrize("name", [row["name"] for row in _core.dists() if row["native"] and has_batches(row) and "m" not in row["kinds"]])
def test_draws_states_and_refusals_are_numpys(room, name):
    dist = room.names[name]
    if name == "invgamma":
        pytest.importorskip("scipy.special")
    for case in range(N_CASES):
        try:
            check_case(room, name, dist, 1000 * dist + case)
        except AssertionError as error:
            raise AssertionError(f"seed {1000 * dist + case}: {error}") from error


SCIPY_REFUSES = [("gamma", (0.0, 1.0)), ("gamma", (np.nan, 1.0)), ("gamma", (1.0, -1.0)), ("gamma", (1.0, np.nan)), ("bernoulli", (-0.1,)),
                 ("bernoulli", (1.5,)), ("bernoulli", (np.nan,)), ("halfnormal", (0.0, -1.0)), ("halfnormal", (0.0, np.nan)), ("nbinom", (0.0, 0.5)), ("nbinom", (np.nan, 0.5)),
                 ("nbinom", (1.0, 0.0)), ("nbinom", (1.0, 1.5)), ("t", (0.0, 0.0, 1.0)), ("t", (np.nan, 0.0, 1.0)), ("t", (1.0, 0.0, -1.0)),
                 ("cauchy", (0.0, -1.0)), ("halfcauchy", (0.0, np.nan)), ("gumbel", (0.0, -1.0)), ("pareto", (0.0, 1.0)), ("pareto", (1.0, -1.0)),
                 ("truncexpon", (0.0, 0.0, 1.0, 0)), ("truncexpon", (1.0, 0.0, -1.0, 1)), ("gengamma", (1.0, 0.0, 1.0, 0)), ("gengamma", (1.0, -1.0, 1.0, 0)),
                 ("gengamma", (np.nan, 1.0, 1.0, 0)), ("gengamma", (1.0, 1.0, -1.0, 0)), ("beta_binomial", (-1, 1.0, 1.0)), ("beta_binomial", (1, 0.0, 1.0)),
                 ("beta_binomial", (1, 1.0, np.nan)), ("invgamma", (0.0, 1.0)), ("invgamma", (1.0, -1.0)),
                 ("gengamma", (1e-30, 1e30, 1.0, 1))]


@pytest.mark.parametrize("name, values", SCIPY_REFUSES)
@pytest.mark.parametrize("is_array", [False, True])
def test_laws_of_scipy_are_refused_with_its_words_before_anything_is_drawn(room, name, values, is_array):
    generator = np.random.default_rng(1)
    params = [np.full((2,) if is_array else (), value) for value in values]
    law = {"beta_binomial": "betabinom", "gumbel": "gumbel_r", "halfnormal": "halfnorm"}.get(name, name)
    with pytest.raises(ValueError, match=f"^Domain error in arguments. .*`scipy.stats.{law}` documentation for details.$"):
        room.draw(room.names[name], generator, params, (2,) if is_array else ())
    assert generator.bit_generator.state == np.random.default_rng(1).bit_generator.state


@pytest.mark.parametrize("make", BIT_GENERATORS)
@pytest.mark.parametrize("span", [1, 2, 10, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**63, 2**64 - 1])
def test_integers_of_every_span_equal_numpys_scalar_and_filled_draws(room, make, span):
    low, high = -(span // 2), span - span // 2
    params = [np.asarray(x, "int64") for x in (low, min(high, 2**63 - 1))]
    one, filled, twin = (np.random.Generator(make(7)) for _ in range(3))
    expected = [int(twin.integers(params[0], params[1])) for _ in range(9)]
    assert [int(room.draw(room.names["integers"], one, params, ())) for _ in range(9)] == expected
    assert room.draw(room.names["integers"], filled, params, (3, 3)).ravel().tolist() == expected
    assert repr(one.bit_generator.state) == repr(filled.bit_generator.state) == repr(twin.bit_generator.state)
