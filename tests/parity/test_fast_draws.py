"""Fast paths draw what NumPy's methods draw: values and final states, on every kind of bit generator, at every level of CPU.

Draws of one generator are split at random into fills and loops of single draws, with half words left over between them.
PYSCAN_FAST_DRAWS sets how many numbers each case draws (200,000 by default; 10,000,000 before a release).
"""
import os
import zlib

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core, selfcheck
from tests.parity.drawing import make_draw

ROWS = {row["name"]: row for row in _core.dists()}
FAST = [name for name, row in ROWS.items() if row["fast"]]
BIT_GENERATORS = [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64]
N_DRAWS = int(os.environ.get("PYSCAN_FAST_DRAWS", "200000"))
# Ranges of integers: one value, half words up to 2^32 values, whole words beyond; few and many words refused.
RANGES = [(3, 4), (0, 2), (-5, 6), (0, 2**16), (0, 2**31), (0, 2**31 + 1), (-2**31, 2**31 - 1), (7, 2**32 + 6), (0, 2**32), (0, 2**32 + 1),
          (-2**40, 2**40 + 1), (0, 2**62), (-2**62, 2**62), (-2**62, 2**62 + 1), (-2**63, 2**63 - 1)]
PARAMS = {"integers": RANGES}


def all_params(name):
    return [tuple(np.array(value, param.dtype) for value, param in zip(values, selfcheck.read_regimes(ROWS[name])[0]))
            for values in PARAMS.get(name, [])] or selfcheck.read_regimes(ROWS[name])


class Drawn:
    """Compiled functions that draw n numbers of a distribution from one shared generator: filled, and one a step."""

    def __init__(self, name):
        self.rng = pyscan.shared(np.random.default_rng(1), borrow=True)
        count = at.lscalar("count")
        symbols = [at.lscalar() if kind == "l" else at.dscalar() for kind in ROWS[name]["kinds"]]
        draw, next_rng = make_draw(name, self.rng, (count,), symbols)
        self.filled = pyscan.function([count, *symbols], draw, updates={self.rng: next_rng})

        def step():
            draw, next_rng = make_draw(name, self.rng, None, symbols)
            return draw, {self.rng: next_rng}
        path, updates = pyscan.scan(step, n_steps=count)
        self.steps = pyscan.function([count, *symbols], path, updates=updates)


def check_draws(name, drawn, make, params, n_draws, draw_halves):
    random = np.random.default_rng(zlib.crc32(f"{name} {make.__name__} {params}".encode()))
    generator, twin = (np.random.Generator(make(11)) for _ in range(2))
    drawn.rng.set_value(generator, borrow=True)
    method, n_left = _core.draw_method(name), n_draws
    while n_left > 0:
        n = min(n_left, int(np.exp(random.uniform(0, np.log(30_000)))))
        function = (drawn.filled, drawn.steps)[random.integers(2)]
        if draw_halves and random.random() < 0.5:
            half = [rng.integers(0, 5, size=3, dtype="uint32") for rng in (drawn.rng.get_value(borrow=True), twin)]
            assert half[0].tobytes() == half[1].tobytes()
        ours, expected = function(n, *params), method(np, twin, (n,), *params)
        assert ours.tobytes() == np.asarray(expected, ours.dtype).tobytes(), (params, n, function is drawn.filled)
        assert repr(drawn.rng.get_value(borrow=True).bit_generator.state) == repr(twin.bit_generator.state)
        n_left -= n


@pytest.mark.parametrize("make", BIT_GENERATORS)
@pytest.mark.parametrize("name", FAST)
def test_fast_paths_draw_the_methods_numbers_and_leave_its_states(name, make):
    assert selfcheck.settle(name) == "fast"
    drawn = Drawn(name)
    cases = all_params(name)
    for i, params in enumerate(cases):
        check_draws(name, drawn, make, params, N_DRAWS if i == 0 else N_DRAWS // len(cases), draw_halves=i % 2 == 1 or name == "integers")


@pytest.mark.parametrize("name", FAST)
def test_without_fast_paths_the_numbers_are_the_same(name):
    way = selfcheck.settle(name)
    drawn = Drawn(name)
    try:
        _core.draw_way(name, "symbols")
        for params in all_params(name):
            check_draws(name, drawn, np.random.PCG64, params, 3000, draw_halves=True)
    finally:
        _core.draw_way(name, way)


@pytest.mark.parametrize("level", _core.cpu_levels())
def test_every_level_of_cpu_draws_the_same(level, run_python):
    """A level that was asked for by name multiplies by its vectors on every CPU; without a name, see the tests above."""
    done = run_python("-c", "import numpy as np\n"
                            "from pyscan import _core, selfcheck\n"
                            "from tests.parity import test_fast_draws as tests\n"
                            "assert _core.cpu_level() == " + repr(level) + "\n"
                            "for name in tests.FAST:\n"
                            "    assert selfcheck.settle(name) == 'fast'\n"
                            "    for make in tests.BIT_GENERATORS[:3]:\n"
                            "        tests.check_draws(name, tests.Drawn(name), make, tests.all_params(name)[0], 20_000, True)\n"
                            "print('same')\n", env={"PYSCAN_CPU": level})
    assert done.stdout.split() == ["same"], done.stderr


def test_a_bit_generator_of_a_subclass_is_not_taken_for_its_class():
    class Shifted(np.random.PCG64):
        pass
    drawn = Drawn("normal")
    check_draws("normal", drawn, Shifted, (np.array(0.0), np.array(1.0)), 3000, draw_halves=True)


def make_zero_ahead(make, n):
    """A bit generator whose word number n (SFC64: number 0) is 0, which many draws refuse."""
    bits = make(5)
    state = bits.state
    if make is np.random.MT19937:
        state["state"]["key"][2 * n:2 * n + 2] = 0
        state["state"]["pos"] = 0
    elif make is np.random.Philox:
        state["buffer"][1 + n], state["buffer_pos"] = 0, 1  # NumPy has refused position 0 since 2.5
    elif make is np.random.SFC64:
        words = state["state"]["state"]
        words[0] = np.uint64(2**64 - (int(words[1]) + int(words[3])) % 2**64)
    else:
        is_dxsm, increment = make is np.random.PCG64DXSM, state["state"]["inc"]
        multiplier = 0xDA942042E4DD58B5 if is_dxsm else 0x2360ED051FC65DA44385DF649FCCF645
        wanted = 12345 if is_dxsm else 77 << 64 | 77  # before its step, or after it
        for _ in range(n + (not is_dxsm)):
            wanted = (wanted - increment) * pow(multiplier, -1, 2**128) % 2**128
        state["state"]["state"] = wanted
    bits.state = state
    return bits


@pytest.mark.parametrize("make", BIT_GENERATORS)
@pytest.mark.parametrize("name", [name for name in FAST if "integers" not in name])
def test_a_word_of_zero_is_taken_or_refused_as_the_method_does(name, make):
    drawn, params = Drawn(name), all_params(name)[0]
    for n in (0, 3, 250) if "PCG" in make.__name__ or make is np.random.MT19937 else (0, 2):
        assert 0 in np.random.Generator(make_zero_ahead(make, n)).random(n + 1)
        for function in (drawn.filled, drawn.steps):
            for count in (5, 1000):
                twin = np.random.Generator(make_zero_ahead(make, n))
                drawn.rng.set_value(np.random.Generator(make_zero_ahead(make, n)), borrow=True)
                ours, expected = function(count, *params), _core.draw_method(name)(np, twin, (count,), *params)
                assert ours.tobytes() == np.asarray(expected, ours.dtype).tobytes()
                assert repr(drawn.rng.get_value(borrow=True).bit_generator.state) == repr(twin.bit_generator.state)


def test_parameters_that_are_not_plain_draw_as_the_method_does():
    """Zeros, infinities and NaN of either sign."""
    odd = {"normal": [(np.nan, 1.0), (0.0, np.inf), (-np.inf, 2.0), (-np.nan, np.nan), (-0.0, 0.0), (1e308, 1e308), (0.0, 5e-324)],
           "exponential": [(np.nan,), (np.inf,), (0.0,), (1.7e308,)], "uniform": [(2.0, 2.0), (-8.9e307, 8.9e307), (0.0, 5e-324)],
           "halfnormal": [(np.inf, 0.0), (np.nan, 1.0)], "lognormal": [(np.nan, np.nan), (-np.inf, 1.0), (700.0, 300.0)],
           "laplace": [(0.0, 0.0), (-0.0, 5e-324), (np.nan, 2.0), (np.inf, np.inf), (0.0, 1.7e308)], "logistic": [(-0.0, 0.0), (np.nan, np.nan), (-np.inf, 1.0)],
           "geometric": [(1.0,), (1 / 3,), (np.nextafter(1 / 3, 0),), (1e-15,), (9e-16,), (5e-324,)], "rayleigh": [(np.inf,), (0.0,), (np.nan,)], "weibull": [(0.0,), (np.inf,), (np.nan,), (1e-300,)]}
    with np.errstate(all="ignore"):
        for name, cases in odd.items():
            drawn = Drawn(name)
            for params in cases:
                check_draws(name, drawn, np.random.PCG64, tuple(map(np.array, params)), 700, draw_halves=False)
