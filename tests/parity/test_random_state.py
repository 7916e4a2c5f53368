"""RandomState, drawn by our own functions: values, states and the second Gaussian equal the object's own methods', bit for bit.

The forms of drawing and the number of draws are those of test_every_distribution.py.
"""
import re
import warnings
import zlib

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core, selfcheck
from pyscan.errors import PyscanWarning
from tests.parity.drawing import ROWS, drawable, make_draw
from tests.parity.test_every_distribution import N_DRAWS, Filled, Steps, check_call, jitter, make_forms, ranks_of
from tests.parity.test_selfcheck import spoilt_draws

NAMES = [name for name in ROWS if ROWS[name]["owners"][1]]
NATIVE = [name for name in NAMES if ROWS[name]["legacy"]]
BITS = [np.random.MT19937, np.random.PCG64]


def start(bits, with_gauss=True):
    """A RandomState that has half a pair of Gaussians left over, and half a word of its bit generator where that keeps one."""
    bit_generator = bits(7)
    np.random.Generator(bit_generator).integers(0, 7)
    state = np.random.RandomState(bit_generator)
    if with_gauss:
        state.standard_normal()
    return state


def text_of_state(state):
    return repr(state.get_state(legacy=False))


def is_taken(name, params):
    try:
        with np.errstate(all="ignore"):
            _core.draw_method(name)(np, np.random.RandomState(1), (2,), *params)
    except ValueError:
        return False
    return True


def make_pool(random, name):
    """The parameters of the regimes and as many random ones, but for those that a RandomState refuses. Populations are of thousands
    at most: a RandomState shuffles all of one to choose a single element without replacement."""
    regimes = selfcheck.read_regimes(ROWS[name])
    if name == "choice":
        regimes = [(np.minimum(population, 3000), *others) for population, *others in regimes]
    return [params for params in regimes + [jitter(random, name, params) for params in regimes] if is_taken(name, params)]


def check_draws(name, forms, rng, bits, pool, n_draws):
    """Calls of the forms in a random order, on one RandomState, until they made that many draws."""
    random = np.random.default_rng(zlib.crc32(f"{name} {bits.__name__}".encode()))
    twin = start(bits)
    rng.set_value(start(bits), borrow=True)
    drawn = 0
    while drawn < n_draws:
        drawn += check_call(forms[random.integers(len(forms))], random, rng, twin, pool)
        assert text_of_state(rng.get_value(borrow=True)) == text_of_state(twin)


@pytest.mark.parametrize("name", drawable(NAMES))
def test_values_and_states_are_the_methods_own(name):
    rng = pyscan.shared(np.random.RandomState(1), borrow=True)
    forms = make_forms(name, rng)
    for bits in BITS:
        check_draws(name, forms, rng, bits, make_pool(np.random.default_rng(1), name), N_DRAWS)


@pytest.mark.parametrize("name", ["normal", "uniform", "logistic", "beta", "binomial", "poisson"])
def test_fills_leave_a_twister_where_single_draws_do_whatever_is_left_of_its_key(name):
    """Doubles are drawn ahead up to the end of the key, and those that are not used are taken back."""
    rng, count = pyscan.shared(np.random.RandomState(1), borrow=True), at.lscalar("count")
    params = selfcheck.read_regimes(ROWS[name])[0]
    draw, next_rng = make_draw(name, rng, (count,), params)
    function = pyscan.function([count], draw, updates={rng: next_rng})
    for used in (0, 1, 100, 609, 620, 621, 622, 623, 624):
        twin, own = np.random.RandomState(3), np.random.RandomState(3)
        state = dict(twin.get_state(legacy=False))
        state["state"]["pos"] = used
        twin.set_state(state), own.set_state(state)
        rng.set_value(own, borrow=True)
        for n in (1, 2, 3, 20, 1, 311, 312, 313, 1000):
            expected = np.array([getattr(twin, name)(*params) for _ in range(n)])
            assert function(n).tobytes() == expected.tobytes()
            assert text_of_state(rng.get_value(borrow=True)) == text_of_state(twin)


def wide_pool(name, n=200):
    """Parameters over many orders of magnitude: what no regime names."""
    random = np.random.default_rng(5)
    pool = []
    while len(pool) < n:
        params = []
        for kind, parameter in zip(ROWS[name]["kinds"], ROWS[name]["params"].split(",")):
            if kind == "l":
                params.append(np.array(int(np.exp(random.uniform(0, 30)))))
            elif parameter.strip().startswith(("p", "q")) and name != "power":
                params.append(np.array(random.uniform() ** random.integers(1, 6)))
            else:
                params.append(np.array(np.exp(random.normal(0, 3)) + (1.01 if name == "zipf" else 0.0)))
        if not (name == "zipf" and params[0] >= 1025) and is_taken(name, params):  # the method never ends there
            pool.append(tuple(params))
    return pool


@pytest.mark.parametrize("name", [name for name in NATIVE if "v" not in ROWS[name]["kinds"]])
def test_parameters_of_every_size(name):
    rng = pyscan.shared(np.random.RandomState(1), borrow=True)
    check_draws(name, make_forms(name, rng, (Filled, Steps)), rng, np.random.MT19937, wide_pool(name), N_DRAWS)


@pytest.mark.parametrize(("n", "p"), [(2**62, 0.5), (2**62, 0.9), (2**62, 1e-18), (2**63 - 1, 1e-30), (10**9, 1e-8), (61, 0.5), (60, 0.5)])
def test_binomials_of_huge_counts(n, p):
    rng = pyscan.shared(start(np.random.MT19937), borrow=True)
    draw, next_rng = make_draw("binomial", rng, (500,), (np.array(n), np.array(p)))
    drawn = pyscan.function([], draw, updates={rng: next_rng})()
    twin = start(np.random.MT19937)
    np.testing.assert_array_equal(drawn, twin.binomial(n, p, 500))
    assert text_of_state(rng.get_value(borrow=True)) == text_of_state(twin)


def test_a_zipf_that_its_method_never_ends_is_one():
    rng = pyscan.shared(np.random.RandomState(1))
    draw, next_rng = make_draw("zipf", rng, (3,), (np.array([1025.0, 5000.0, np.inf]),))
    assert pyscan.function([], draw, updates={rng: next_rng})().tolist() == [1, 1, 1]


@pytest.mark.parametrize("kappa", [1e17, 1e200, np.inf])
def test_a_vonmises_that_its_method_never_ends_is_its_mean(kappa):
    rng = pyscan.shared(np.random.RandomState(1))
    draw, next_rng = make_draw("vonmises", rng, (3,), (np.array(0.3), np.array(kappa)))
    np.testing.assert_allclose(pyscan.function([], draw, updates={rng: next_rng})(), [0.3] * 3, rtol=1e-15)


# Who draws


@pytest.mark.parametrize("name", drawable(NATIVE))
def test_no_draw_asks_python_once_the_functions_were_compared(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert selfcheck.settle_legacy(name) == "legacy"
    rng = pyscan.shared(np.random.RandomState(3))
    params = selfcheck.read_regimes(ROWS[name])[0]
    for form in make_forms(name, rng, (Filled, Steps)):
        if form.ranks != ranks_of(params):
            continue
        function = form.function
        function(5, *params)
        assert function.counters["python_calls"] == 0 and function.counters["generator_copies"] == 0


def test_the_first_draw_of_a_distribution_compares_and_the_rest_of_the_loop_is_native():
    rng, n = pyscan.shared(np.random.RandomState(3)), at.lscalar("n")

    def step():
        draw, next_rng = make_draw("rayleigh", rng, None, (2.0,))
        return draw, {rng: next_rng}
    path, updates = pyscan.scan(step, n_steps=n)
    f = pyscan.function([n], path, updates=updates)
    _core.legacy_way("rayleigh", "unknown")
    np.testing.assert_array_equal(f(50), np.random.RandomState(3).rayleigh(2.0, 50))
    assert f.counters["python_calls"] == 1 and _core.legacy_way("rayleigh") == "legacy"
    f(50)
    assert f.counters["python_calls"] == 0


@pytest.mark.parametrize("name", drawable(NATIVE))
def test_the_method_gives_the_same_numbers(name):
    _core.legacy_way(name, "method")
    try:
        rng = pyscan.shared(np.random.RandomState(1), borrow=True)
        check_draws(name, make_forms(name, rng, (Filled, Steps)), rng, np.random.PCG64, make_pool(np.random.default_rng(1), name), 200)
        assert _core.legacy_way(name) == "method"
    finally:
        _core.legacy_way(name, "unknown")


@pytest.mark.parametrize("name", drawable(NATIVE))
def test_a_method_that_draws_otherwise_is_called_and_the_user_told_once(name, monkeypatch):
    real = _core.draw_method(name)

    def other(np, rng, *args):
        drawn = real(np, rng, *args)
        rng.standard_normal()
        return drawn
    _core.legacy_way(name, "unknown")
    monkeypatch.setattr(selfcheck._core, "draw_method", lambda asked: other)
    try:
        with pytest.warns(PyscanWarning, match=rf"^{name}: draws by pyscan's functions for RandomState .* {re.escape(np.__version__)}'s") as told:
            assert selfcheck.settle_legacy(name) == "method"
        assert len(told) == 1
    finally:
        _core.legacy_way(name, "unknown")


@pytest.mark.skipif(not hasattr(_core, "_spoil_draws"), reason="needs a test build (PYSCAN_TEST_BUILD=1)")
@pytest.mark.parametrize(("name", "how"), [case for case in spoilt_draws() if case[0] in NATIVE])
def test_wrong_draws_are_found_out_and_the_method_is_called(name, how):
    _core._spoil_draws(name, how)
    try:
        with pytest.warns(PyscanWarning, match=rf"^{name}: draws by pyscan's functions for RandomState"):
            assert selfcheck.settle_legacy(name) == "method"
    finally:
        _core._spoil_draws(name, "")


def test_functions_of_randomstates_are_for_these_alone():
    runs = [(1, None, np.array(0.0), np.array(1.0))]
    assert _core.try_draws("normal", "legacy", np.random.default_rng(1), runs) is None
    assert _core.try_draws("normal", "symbols", np.random.RandomState(1), runs) is None
    assert _core.try_draws("integers", "legacy", np.random.RandomState(1), [(1, None, np.array(0), np.array(3))]) is None
    assert _core.try_draws("normal", "legacy", np.random.RandomState(1), runs)[0][0][0] == np.random.RandomState(1).normal()


# Parameters that are checked in other words


@pytest.mark.parametrize(("name", "params"), [
    ("uniform", (5.0, 1.0)), ("uniform", (0.0, -0.0)), ("uniform", ([5.0, 1.0], [1.0, 2.0])), ("geometric", (1e-25,)), ("poisson", (1e18,)),
    ("chisquare", (np.nan,)), ("vonmises", (0.3, np.nan)), ("normal", (0.0, np.nan)), ("wald", (np.nan, 1.0)),
])
def test_what_a_randomstate_takes_is_drawn_as_it_draws(name, params):
    rng = pyscan.shared(start(np.random.MT19937), borrow=True)
    draw, next_rng = make_draw(name, rng, None, tuple(map(np.array, params)))
    f, twin = pyscan.function([], draw, updates={rng: next_rng}), start(np.random.MT19937)
    for _ in range(3):
        with np.errstate(all="ignore"):
            expected = getattr(twin, name)(*params)
        np.testing.assert_array_equal(f(), expected)
        assert text_of_state(rng.get_value(borrow=True)) == text_of_state(twin)


@pytest.mark.parametrize(("name", "params"), [
    ("normal", (0.0, -1.0)), ("uniform", (0.0, np.inf)), ("poisson", (-1.0,)), ("poisson", (1e19,)), ("binomial", (-1, 0.5)), ("binomial", (3, np.nan)),
    ("binomial", (3, [0.5, 2.0])), ("geometric", ([0.5, 0.0],)), ("zipf", (1.0,)), ("beta", (1.0, -1.0)), ("f", (0.0, 1.0)), ("power", (0.0,)),
])
@pytest.mark.parametrize("form", ["plain", "loop"])
def test_what_it_refuses_is_refused_in_its_words_and_moves_nothing(form, name, params):
    with pytest.raises((ValueError, OverflowError)) as caught:
        getattr(np.random.RandomState(3), name)(*params)
    rng = pyscan.shared(start(np.random.MT19937), borrow=True)
    arguments = tuple(map(np.array, params))

    def step():
        value, after = make_draw("normal", rng, None, (0.0, 1.0))
        draw, last = make_draw(name, after, None, arguments)
        return [value, draw], {rng: last}
    outputs, updates = pyscan.scan(step, n_steps=3) if form == "loop" else step()
    f = pyscan.function([], outputs, updates=updates)
    with pytest.raises(caught.type, match="^" + re.escape(str(caught.value))):
        f()
    assert text_of_state(rng.get_value(borrow=True)) == text_of_state(start(np.random.MT19937))


def test_versions_say_how_randomstates_draw_and_warn_of_nothing(capsys):
    for name in ROWS:
        _core.legacy_way(name, "unknown")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pyscan.show_versions()
    lines = [line for line in capsys.readouterr().out.splitlines() if "of RandomStates" in line]
    assert any("by pyscan's functions for RandomState: normal, " in line for line in lines) and any("randint" in line for line in lines) and not any("integers" in line for line in lines)
