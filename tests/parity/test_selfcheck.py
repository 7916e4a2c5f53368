"""Which way a distribution is drawn: settled at its first use, by comparing draws with the generator's own method.

Wrong functions are put into the table of test builds (PYSCAN_TEST_BUILD=1, as `make asan` makes them): each row's own
function, wrapped so that it draws a word too many, or returns another value, or does so for one set of arguments alone.
What is around the functions, which is all there is of rows without one, is made wrong too, for single draws and filled ones.
"""
import ctypes
import math
import pathlib
import re
import warnings

import numpy as np
import pytest

import pyscan
from pyscan import _core, selfcheck
from pyscan.errors import PyscanWarning
from pyscan.tensor import random_types
from tests.parity.drawing import HAS_SCIPY, ROWS, drawable, is_of_scipy, make_draw

NATIVE = [name for name, row in ROWS.items() if row["native"]]
WITH_FUNCTIONS = [(name, i) for name, row in ROWS.items() for i in range(2) if row["symbols"][i].startswith("random_")]

needs_hook = pytest.mark.skipif(not hasattr(_core, "_put_function"), reason="needs a test build (PYSCAN_TEST_BUILD=1)")


def best_way(name):
    return "fast" if ROWS[name]["fast"] else "symbols" if ROWS[name]["native"] else "method"


@pytest.fixture(autouse=True)
def unsettled():
    """Every distribution is as never used, before a test and after it."""
    for name in ROWS:
        _core.draw_way(name, "unknown")
    yield
    for name in ROWS:
        _core.draw_way(name, "unknown")


def draw_through_a_function(name, params):
    """Draws of a scan and of a plain function on one generator, and its state afterwards."""
    rng = pyscan.shared(np.random.default_rng(5), borrow=True)

    def step(rng):
        draw, next_rng = make_draw(name, rng, None, params)
        return draw, {rng: next_rng}
    path, updates = pyscan.scan(step, n_steps=4, non_sequences=[rng])
    scanned = pyscan.function([], path, updates=updates)()
    draw, next_rng = make_draw(name, rng, (3,), params)
    filled = pyscan.function([], draw, updates={rng: next_rng})()
    return [*scanned, filled], rng.get_value(borrow=True).bit_generator.state


def draw_by_method(name, params):
    rng = np.random.default_rng(5)
    with np.errstate(all="ignore"):
        drawn = [_core.draw_method(name)(np, rng, size, *params) for size in [(), (), (), (), (3,)]]
    return drawn, rng.bit_generator.state


def check_draws(name):
    for params in selfcheck.read_regimes(ROWS[name]):
        ours, our_state = draw_through_a_function(name, params)
        expected, state = draw_by_method(name, params)
        for one, other in zip(ours, expected, strict=True):
            assert one.tobytes() == np.asarray(other, one.dtype).tobytes()
        assert our_state == state


# What the table says


@pytest.mark.parametrize("name", ROWS)
def test_every_distribution_has_regimes_to_compare(name):
    row, regimes = ROWS[name], selfcheck.read_regimes(ROWS[name])
    assert len(regimes) > 0
    for params in regimes:
        ranks = [{"n": (0,), "o": (0, 1), "v": (1,), "m": (2,)}.get(kind, (0,)) for kind in row["kinds"]]
        assert all(param.ndim in allowed for param, allowed in zip(params, ranks, strict=True))


# First use


def test_nothing_is_compared_before_a_function_draws(run_python):
    done = run_python("-c", "import sys, pyscan, pyscan.tensor as at\n"
                            "srng = at.random.RandomStream(1)\n"
                            "draw = srng.normal()\n"
                            "print(pyscan._core.draw_way('normal'), 'pyscan.selfcheck' in sys.modules)\n"
                            "f = pyscan.function([], draw)\n"
                            "print(pyscan._core.draw_way('normal'), pyscan._core.draw_way('gamma'))\n")
    assert done.stdout.split() == ["unknown", "False", "fast", "unknown"], done.stderr


def test_a_draw_inside_nested_scans_settles_its_distribution():
    srng = pyscan.tensor.random.RandomStream(3)

    def outer():
        inner, updates = pyscan.scan(lambda: srng.poisson(2.0), n_steps=2)
        return inner, updates
    draws, updates = pyscan.scan(outer, n_steps=2)
    pyscan.function([], draws, updates=updates)
    assert (_core.draw_way("poisson"), _core.draw_way("normal")) == ("symbols", "unknown")


@pytest.mark.parametrize("name", drawable())
def test_the_running_numpys_functions_draw_as_its_methods_do(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert selfcheck.settle(name) == best_way(name)
    check_draws(name)


@pytest.mark.parametrize("way", ["library", "method"])
@pytest.mark.parametrize("name", drawable())
def test_every_other_way_gives_the_same_numbers(name, way):
    if way == "library" and not selfcheck._MethodsDraws(name).are_those_by(way):
        pytest.skip("NumPy's static library is not linked, is of another NumPy, or has nothing that this distribution needs")
    _core.draw_way(name, way)
    check_draws(name)
    assert _core.draw_way(name) == way


def test_a_distribution_that_was_not_compared_is_drawn_by_the_method():
    rng = pyscan.shared(np.random.default_rng(1), borrow=True)
    draw, next_rng = make_draw("normal", rng, None, (0.0, 1.0))
    f = pyscan.function([], draw, updates={rng: next_rng})
    _core.draw_way("normal", "unknown")
    assert f() == np.random.default_rng(1).normal()
    assert f.counters["python_calls"] == 1


# Kinds of bit generators


def make_shared_draw(name="normal"):
    """A function that fills, and its shared generator, a PCG64's."""
    rng = pyscan.shared(np.random.default_rng(5), borrow=True)
    draw, next_rng = make_draw(name, rng, (50,), selfcheck.read_regimes(ROWS[name])[0])
    return pyscan.function([], draw, updates={rng: next_rng}), rng


def settled_kinds(name):
    return {kind for kind, is_right in _core.fast_kinds(name).items() if is_right is not None}


def right_kinds(name):
    return {kind for kind, is_right in _core.fast_kinds(name).items() if is_right}


def test_only_the_kind_of_the_functions_bit_generator_is_compared():
    make_shared_draw()
    assert settled_kinds("normal") == right_kinds("normal") == {"PCG64"}
    assert _core.draw_way("normal") == "fast"


@pytest.mark.parametrize("make, kind", [(np.random.MT19937, "MT19937"), (np.random.SFC64, "SFC64"), (np.random.PCG64DXSM, "PCG64DXSM"), (np.random.Philox, "called")])
def test_another_kind_is_compared_before_the_first_call_that_draws_from_it(make, kind):
    f, rng = make_shared_draw()
    f()
    generator = np.random.Generator(make(3))
    rng.set_value(generator, borrow=True)
    assert settled_kinds("normal") == {"PCG64"}
    assert f().tobytes() == np.random.Generator(make(3)).normal(size=50).tobytes()
    assert settled_kinds("normal") == right_kinds("normal") == {"PCG64", kind}
    assert f().tobytes() == np.random.Generator(make(3)).normal(size=100)[50:].tobytes()


def test_the_kind_of_a_generator_that_a_call_gives_is_compared_too():
    rng = random_types.random_generator_type()
    draw, _ = make_draw("uniform", rng, (3,), (0.0, 1.0))
    f = pyscan.function([rng], draw)
    assert settled_kinds("uniform") == set()
    assert f(np.random.Generator(np.random.SFC64(4))).tobytes() == np.random.Generator(np.random.SFC64(4)).uniform(size=3).tobytes()
    assert settled_kinds("uniform") == right_kinds("uniform") == {"SFC64"}


def test_a_subclass_is_drawn_by_its_own_methods_and_no_kind_is_compared_for_it():
    class Halved(np.random.Generator):
        def normal(self, *args, **kwargs):
            return super().normal(*args, **kwargs) / 2

    rng = pyscan.shared(Halved(np.random.PCG64(1)), borrow=True)
    draw, next_rng = make_draw("normal", rng, None, (0.0, 1.0))
    f = pyscan.function([], draw, updates={rng: next_rng})
    assert f() == np.random.default_rng(1).normal() / 2
    assert settled_kinds("normal") == set()


def test_a_loop_compares_the_kind_for_the_standard_draws_that_it_makes_draws_of():
    srng = pyscan.tensor.random.RandomStream(3)
    path, updates = pyscan.scan(lambda x: srng.halfnormal(x, 1.0), outputs_info=[np.array(0.5)], n_steps=20)
    pyscan.function([], path, updates=updates)
    assert right_kinds("halfnormal") == right_kinds("normal") == {"PCG64"}


def draw_otherwise_of(make, real):
    """A method that draws a word too many from generators of that class."""
    def method(np, rng, *args):
        drawn = real(np, rng, *args)
        if isinstance(rng.bit_generator, make):
            rng.bit_generator.random_raw()
        return drawn
    return method


def test_inlined_code_that_is_wrong_on_a_kind_is_not_used_on_it(monkeypatch):
    monkeypatch.setattr(selfcheck._core, "draw_method", lambda asked, real=_core.draw_method("normal"): draw_otherwise_of(np.random.MT19937, real))
    f, rng = make_shared_draw()
    rng.set_value(np.random.Generator(np.random.MT19937(3)), borrow=True)
    with pytest.warns(PyscanWarning, match=r"^normal: draws by inlined code.* like MT19937, differ .* by the functions of the NumPy that runs now") as told:
        first, second = f(), f()
    assert len(told) == 1
    assert np.array([first, second]).tobytes() == np.random.Generator(np.random.MT19937(3)).normal(size=(2, 50)).tobytes()
    assert (settled_kinds("normal"), right_kinds("normal")) == ({"PCG64", "MT19937"}, {"PCG64"})


def test_a_distribution_whose_inlined_code_was_never_right_is_said_to_be_drawn_by_the_functions(monkeypatch):
    selfcheck.settle("normal", [])
    assert (_core.draw_way("normal"), settled_kinds("normal")) == ("fast", set())
    monkeypatch.setattr(selfcheck._core, "draw_method", lambda asked, real=_core.draw_method("normal"): draw_otherwise_of(np.random.BitGenerator, real))
    with pytest.warns(PyscanWarning, match="^normal: draws by inlined code") as told:
        assert selfcheck.settle("normal") == "symbols"
    assert len(told) == len(settled_kinds("normal")) == 5 and not right_kinds("normal")


def test_a_call_that_could_not_compare_leaves_the_generator_alone_and_the_next_compares(monkeypatch):
    f, rng = make_shared_draw()
    rng.set_value(np.random.Generator(np.random.SFC64(3)), borrow=True)

    def fail(*args):
        raise MemoryError
    monkeypatch.setattr(selfcheck._core, "draw_method", lambda asked: fail)
    with pytest.raises(MemoryError):
        f()
    assert settled_kinds("normal") == {"PCG64"}
    monkeypatch.undo()
    assert f().tobytes() == np.random.Generator(np.random.SFC64(3)).normal(size=50).tobytes()
    assert settled_kinds("normal") == {"PCG64", "SFC64"}


# What differs is found out


@pytest.mark.filterwarnings("default:.*Please report this")  # for what it is made of too
@pytest.mark.parametrize("name", drawable(NATIVE))
def test_a_method_that_draws_otherwise_is_called_and_the_user_told_once(name, monkeypatch):
    real = _core.draw_method(name)

    def other(np, rng, *args):
        drawn = real(np, rng, *args)
        rng.bit_generator.random_raw()
        return drawn
    monkeypatch.setattr(selfcheck._core, "draw_method", lambda asked: other)
    with pytest.warns(PyscanWarning, match=rf"^{name}: .* NumPy {re.escape(np.__version__)}'s .* by the generator's own method now") as told:
        assert selfcheck.settle(name) == "method"
    assert len([warning for warning in told if str(warning.message).startswith(f"{name}:")]) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert selfcheck.settle(name) == "method"
        monkeypatch.undo()
        check_draws(name)


@pytest.mark.parametrize("error", [MemoryError, RecursionError, KeyboardInterrupt])
def test_a_comparison_that_could_not_end_decides_nothing(error, monkeypatch):
    def fail(*args):
        raise error
    monkeypatch.setattr(selfcheck._core, "draw_method", lambda asked: fail)
    with pytest.raises(error):
        selfcheck.settle("normal")
    assert _core.draw_way("normal") == "unknown"
    monkeypatch.undo()
    assert selfcheck.settle("normal") == "fast"


# Wrong functions

C_TYPES = {"double": ctypes.c_double, "float": ctypes.c_float, "RAND_INT_TYPE": ctypes.c_int64, "int64_t": ctypes.c_int64,
           "uint64_t": ctypes.c_uint64, "npy_bool": ctypes.c_uint8, "bool": ctypes.c_uint8, "npy_intp": ctypes.c_ssize_t,
           "size_t": ctypes.c_size_t, "void": None}


def read_signatures():
    """NumPy's public functions of distributions, from its header: name -> ctypes types of the result and the arguments."""
    text = (pathlib.Path(np.get_include()) / "numpy" / "random" / "distributions.h").read_text()
    found = {}
    for result, name, arguments in re.findall(r"DECLDIR\s+(\w+)\s+(random_\w+)\s*\(([^)]*)\)", text):
        types = [ctypes.c_void_p if "*" in a else C_TYPES.get(a.split()[-2] if len(a.split()) > 1 else a.strip()) for a in arguments.split(",")]
        if result in C_TYPES and None not in types:
            found[name] = (C_TYPES[result], types)
    return found


class BitGen(ctypes.Structure):
    _fields_ = [("state", ctypes.c_void_p), ("next_uint64", ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p))]


class Wrapped:
    """Function i of a distribution with something done to its calls, in the table for as long as the context lasts."""

    def __init__(self, name, i, change):
        self.name, self.i, self.change, self.seen = name, i, change, []

    def __enter__(self):
        result, types = read_signatures()[ROWS[self.name]["symbols"][self.i]]
        prototype = ctypes.CFUNCTYPE(result, *types)
        self.numbers = [k for k, type_ in enumerate(types) if type_ is not ctypes.c_void_p]
        self.address = _core._put_function(self.name, self.i, 0)
        right = prototype(self.address)

        def call(*args):
            numbers = tuple(args[k] for k in self.numbers)
            if numbers not in self.seen:
                self.seen.append(numbers)
            return self.change(right(*args), BitGen.from_address(args[0]), numbers)
        self.callback = prototype(call)
        _core._put_function(self.name, self.i, ctypes.cast(self.callback, ctypes.c_void_p).value)
        return self

    def __exit__(self, *error):
        _core._put_function(self.name, self.i, self.address)


def as_it_is(value, bitgen, numbers):
    return value


def a_word_too_many(value, bitgen, numbers):
    bitgen.next_uint64(bitgen.state)
    return value


def next_value(value):
    return value + 1 if isinstance(value, int) else math.nextafter(value, math.inf)


def another_value(value, bitgen, numbers):
    return None if value is None else next_value(value)


def a_tenth_more(value, bitgen, numbers):
    return value * 1.1


def another_draw(value, bitgen, numbers):
    """A word alone might be one that the function would have rejected: what follows would be the same."""
    return another_value(a_word_too_many(value, bitgen, numbers), bitgen, numbers)


def check_that_it_is_found_out(name, i, change):
    with Wrapped(name, i, change):
        with pytest.warns(PyscanWarning, match=f"^{name}: draws by the functions of the NumPy that runs .*differ from"):
            assert selfcheck.settle(name) in ("library", "method")
        check_draws(name)


@needs_hook
@pytest.mark.parametrize("name, i", WITH_FUNCTIONS)
def test_a_right_function_passes(name, i):
    with Wrapped(name, i, as_it_is) as wrapped, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert selfcheck.settle(name) == best_way(name)
        check_draws(name)
    assert wrapped.seen


@needs_hook
@pytest.mark.parametrize("name, i", WITH_FUNCTIONS)
def test_a_function_that_draws_a_word_too_many_is_found_out(name, i):
    check_that_it_is_found_out(name, i, a_word_too_many)


@needs_hook
@pytest.mark.parametrize("name, i", WITH_FUNCTIONS)
def test_a_function_that_gives_another_value_is_found_out(name, i):
    last_bit_is_lost = (name, i) == ("beta_binomial", 0)  # of a probability, in the number of successes
    check_that_it_is_found_out(name, i, a_tenth_more if last_bit_is_lost else another_value)


@needs_hook
@pytest.mark.parametrize("name, i", WITH_FUNCTIONS)
def test_a_function_that_is_wrong_in_one_regime_alone_is_found_out(name, i):
    with Wrapped(name, i, as_it_is) as right:
        selfcheck.settle(name)
    for regime in right.seen[:: len(right.seen) // 40 + 1]:  # a permutation calls with each length
        check_that_it_is_found_out(name, i, lambda value, bitgen, numbers: another_draw(value, bitgen, numbers) if numbers == regime else value)


@needs_hook
@pytest.mark.parametrize("name, i", WITH_FUNCTIONS)
def test_a_function_that_is_not_there_is_replaced_in_silence(name, i):
    with Wrapped(name, i, as_it_is) as wrapped, warnings.catch_warnings():
        warnings.simplefilter("error")
        _core._put_function(name, i, 0)
        assert selfcheck.settle(name) in ("library", "method")
        check_draws(name)
    assert wrapped.seen == []


@needs_hook
def test_where_numpys_functions_are_not_found_at_all_every_distribution_is_drawn_by_the_library_or_the_method():
    addresses = {(name, i): _core._put_function(name, i, 0) for name, i in WITH_FUNCTIONS}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ways = selfcheck.ways()
        assert {ways[name] for name, _ in WITH_FUNCTIONS} <= {"library", "method"}
        for name in ROWS:
            if ROWS[name]["owners"][0] and (HAS_SCIPY or not is_of_scipy(name)):
                check_draws(name)
    finally:
        for (name, i), address in addresses.items():
            _core._put_function(name, i, address)


# Wrong draws around the functions

def spoilt_draws():
    """(name, how) for each row and each form in which it is drawn natively: vectors are filled, however few."""
    for name, row in ROWS.items():
        is_scalar = row["ndim_supp"] == 0 and not any(row["ndims_params"])
        if not row["native"] or is_of_scipy(name) and not HAS_SCIPY:
            continue
        for form in ["single", "filled"] if is_scalar else ["filled"]:
            for fault in ["word", "value"]:
                yield name, f"{form} {fault}"


@needs_hook
@pytest.mark.parametrize("name, how", list(spoilt_draws()))
def test_wrong_draws_are_found_out_at_the_first_use_and_the_user_told_once(name, how):
    params = selfcheck.read_regimes(ROWS[name])[0]
    _core._spoil_draws(name, how)
    try:
        with pytest.warns(PyscanWarning, match=f"^{name}: draws by .* differ from .* It is drawn by the generator's own method now") as told:
            ours = draw_through_a_function(name, params)
        assert len(told) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            again = draw_through_a_function(name, params)
            check_draws(name)
    finally:
        _core._spoil_draws(name, "")
    expected, state = draw_by_method(name, params)
    for drawn, final in (ours, again):
        assert [one.tobytes() for one in drawn] == [np.asarray(other, one.dtype).tobytes() for one, other in zip(drawn, expected, strict=True)]
        assert final == state
    assert _core.draw_way(name) == "unknown"
