"""Every distribution, on every bit generator of NumPy's: draws through functions, scans and streams equal the generator's own
method, in values, dtypes, shapes and final states (the half-word left over included), bit for bit.

The tests are made from the table: a new row is tested as soon as it has regimes. Draws of one generator are split into calls
at random, over functions that draw alone, filled, from arrays and in the steps of loops. PYSCAN_DRAWS sets how many numbers each
of these forms draws from each distribution on each bit generator (10,000 by default, 2,000 under sanitizers).
"""
import os
import zlib

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core, selfcheck
from tests.parity.drawing import ROWS, drawable, make_draw

BIT_GENERATORS = [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64]
N_DRAWS = int(os.environ.get("PYSCAN_DRAWS", "2000" if "PYSCAN_SANITIZED" in os.environ else "10000"))
WIDTH = 3  # of batches that are drawn several times


# Parameters


def jitter(random, name, params):
    """Parameters near those given: every number a bit smaller, so that what was positive or a probability stays one."""
    if not selfcheck.has_batches(ROWS[name]):
        return jitter_choice(random, params)
    factors = [random.uniform(0.7, 1.0, size=param.shape[:1]) for param in params]
    factors = [factor if param.ndim < 2 else factor[0] for factor, param in zip(factors, params)]  # a matrix stays symmetric
    return tuple(np.array(param * factor, param.dtype) for param, factor in zip(params, factors))


def jitter_choice(random, params):
    """The same for positions in an array: a vector of probabilities stays as long as it is, and sums to 1."""
    if len(params) == 1 or params[1].ndim == 0:
        return (np.array(params[0] * random.uniform(0.7, 1.0), "int64"), *params[1:])
    p = params[1] * random.uniform(0.7, 1.0, size=params[1].shape)
    return params[0], p / p.sum(), params[2]


def most_draws(name, params):
    """How many a call may draw, at most: without replacement, no more than there are."""
    if name != "choice" or params[2]:
        return 10**6
    return np.count_nonzero(params[1]) if params[1].ndim else int(params[0])


def is_good(name, params):
    try:
        with np.errstate(all="ignore"):
            _core.draw_method(name)(np, np.random.default_rng(1), (min(2, most_draws(name, params)),), *params)
    except ValueError:
        return False
    return True


def make_pool(random, name):
    """The parameters of the regimes and as many random ones, those refused left out."""
    regimes = selfcheck.read_regimes(ROWS[name])
    return regimes + [params for params in (jitter(random, name, params) for params in regimes) if is_good(name, params)]


def ranks_of(params):
    return tuple(param.ndim for param in params)


def pick(random, pool, n):
    """n tuples of the pool, of vectors of one length, as one array a parameter."""
    shapes = [param.shape for param in pool[random.integers(len(pool))]]
    pool = [params for params in pool if [param.shape for param in params] == shapes]
    return tuple(map(np.stack, zip(*(pool[i] for i in random.integers(len(pool), size=n)))))


# Forms of drawing: each is compiled once, and called with a count and parameters.


class Form:
    """A compiled function that draws from a shared generator, and the calls of the method that it stands for."""

    most = 300  # the largest count of a call

    def __init__(self, name, rng, ranks):
        self.name, self.method, self.ranks = name, _core.draw_method(name), ranks
        self.symbols = [at.TensorType({"l": "int64", "n": "int64", "b": "bool"}.get(kind, "float64"), shape=(None,) * (rank + self.batch_rank))()
                        for kind, rank in zip(ROWS[name]["kinds"], ranks)]
        self.count = at.lscalar("count")
        output, updates = self.build(rng)
        self.function = pyscan.function([self.count, *self.symbols], output, updates=updates, on_unused_input="ignore")


class Filled(Form):
    """Draws of one set of parameters, filled."""

    batch_rank, most = 0, 3000

    def build(self, rng):
        draw, next_rng = make_draw(self.name, rng, (self.count,), self.symbols)
        return draw, {rng: next_rng}

    def params(self, random, pool, n):
        return pool[random.integers(len(pool))]

    def expect(self, rng, n, params):
        return self.method(np, rng, (n,), *params)


class FromArrays(Form):
    """A draw for each element of the parameters."""

    batch_rank, most = 1, 3000

    def build(self, rng):
        draw, next_rng = make_draw(self.name, rng, None, self.symbols)
        return draw, {rng: next_rng}

    def params(self, random, pool, n):
        return pick(random, pool, n)

    def expect(self, rng, n, params):
        return self.method(np, rng, (n,), *params)


class Repeated(FromArrays):
    """Several draws for each element of the parameters, which broadcast."""

    most = 1000

    def build(self, rng):
        draw, next_rng = make_draw(self.name, rng, (self.count, WIDTH), self.symbols)
        return draw, {rng: next_rng}

    def params(self, random, pool, n):
        return pick(random, pool, WIDTH)

    def expect(self, rng, n, params):
        return self.method(np, rng, (n, WIDTH), *params)


class Steps(Filled):
    """One draw in each step of a loop."""

    most = 300

    def build(self, rng):
        def step():
            draw, next_rng = make_draw(self.name, rng, None, self.symbols)
            return draw, {rng: next_rng}
        return pyscan.scan(step, n_steps=self.count)

    def expect(self, rng, n, params):
        return [self.method(np, rng, (), *params) for _ in range(n)]


class StepsFromSequences(FromArrays):
    """One draw in each step of a loop, from parameters of its own."""

    most = 300

    def build(self, rng):
        def step(*params):
            draw, next_rng = make_draw(self.name, rng, None, params)
            return draw, {rng: next_rng}
        return pyscan.scan(step, sequences=self.symbols)

    def expect(self, rng, n, params):
        return [self.method(np, rng, (), *values) for values in zip(*params)]


class FilledSteps(Repeated):
    """A filled draw in each step of a loop."""

    most = 100

    def build(self, rng):
        def step():
            draw, next_rng = make_draw(self.name, rng, (2, WIDTH), self.symbols)
            return draw, {rng: next_rng}
        return pyscan.scan(step, n_steps=self.count)

    def expect(self, rng, n, params):
        return [self.method(np, rng, (2, WIDTH), *params) for _ in range(n)]


FORMS = [Filled, FromArrays, Repeated, Steps, StepsFromSequences, FilledSteps]


def make_forms(name, rng, forms=FORMS):
    """The forms, for each tuple of ranks that the regimes have."""
    forms = [form for form in forms if form.batch_rank == 0 or selfcheck.has_batches(ROWS[name])]
    return [form(name, rng, ranks) for ranks in {ranks_of(params) for params in selfcheck.read_regimes(ROWS[name])} for form in forms]


def check_call(form, random, rng, twin, pool):
    """One call of random length; returns how many draws it made."""
    pool = [params for params in pool if ranks_of(params) == form.ranks]
    n = int(np.exp(random.uniform(0, np.log(form.most))))
    params = form.params(random, pool, n)
    if type(form) is Filled:
        n = min(n, most_draws(form.name, params))
    drawn = form.function(n, *params)
    with np.errstate(all="ignore"):
        expected = np.asarray(form.expect(twin, n, params))
    dtype = form.function.outputs[0].type.dtype
    assert (drawn.dtype.name, drawn.shape) == (dtype, expected.shape), (type(form).__name__, n, params)
    assert drawn.tobytes() == expected.astype(dtype).tobytes(), (type(form).__name__, n, params)
    return max(drawn.size, 1)


def start(make):
    """A generator with half a word left over from a draw of 32 bits, by classes that keep one."""
    generator = np.random.Generator(make(7))
    generator.integers(0, 7)
    return generator


def is_same_state(generator, twin):
    return selfcheck._same_state(generator.bit_generator.state, twin.bit_generator.state)


def check_draws(name, forms, rng, make, n_draws):
    """Calls of the forms in a random order, on one generator, until each of them drew that many numbers."""
    random = np.random.default_rng(zlib.crc32(f"{name} {make.__name__}".encode()))
    pool, twin = make_pool(random, name), start(make)
    rng.set_value(start(make), borrow=True)
    drawn = dict.fromkeys(forms, 0)
    while todo := [form for form in forms if drawn[form] < n_draws]:
        form = todo[random.integers(len(todo))]
        drawn[form] += check_call(form, random, rng, twin, pool)
        assert is_same_state(rng.get_value(borrow=True), twin), (type(form).__name__, "leaves another state")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", drawable())
def test_values_and_states_are_the_methods_own(name, dtype):
    if dtype == "float32" and ROWS[name]["dtype"] != "floatX":
        pytest.skip("never drawn as float32")
    pyscan.config.floatX = dtype
    rng = pyscan.shared(np.random.default_rng(1), borrow=True)
    forms = make_forms(name, rng)
    for make in BIT_GENERATORS if dtype == "float64" else BIT_GENERATORS[:1]:
        check_draws(name, forms, rng, make, N_DRAWS if dtype == "float64" else N_DRAWS // 10)


@pytest.mark.parametrize("name", drawable())
def test_a_bit_generator_of_another_package_is_drawn_from_by_its_capsule(name):
    xoshiro = pytest.importorskip("randomgen").Xoshiro256
    rng = pyscan.shared(np.random.Generator(xoshiro(1)), borrow=True)
    check_draws(name, make_forms(name, rng, (Filled, Steps)), rng, xoshiro, N_DRAWS // 10)


@pytest.mark.parametrize("name", drawable())
def test_variables_of_a_stream_draw_from_its_children(name):
    """Two variables of one stream, one in a loop and one outside: each draws from the child of the seed that is its own."""
    first, second = selfcheck.read_regimes(ROWS[name])[:2] * (1 if len(selfcheck.read_regimes(ROWS[name])) > 1 else 2)
    stream = at.random.RandomStream(3)

    def one(params, size):
        return stream.gen(lambda *args, rng: make_draw(name, rng, size, args)[0], *params)
    path, updates = pyscan.scan(lambda: one(first, None), n_steps=5)
    function = pyscan.function([], [path, one(second, (4,))], updates=updates)
    method = _core.draw_method(name)
    for make in BIT_GENERATORS:
        stream.rng_ctor = lambda seed: np.random.Generator(make(seed))
        stream.seed(11)
        in_loop, outside = map(stream.rng_ctor, np.random.SeedSequence(11).spawn(2))
        for _ in range(2):
            drawn = function()
            expected = [[method(np, in_loop, (), *first) for _ in range(5)], method(np, outside, (4,), *second)]
            for ours, theirs in zip(drawn, expected):
                assert ours.tobytes() == np.asarray(theirs, ours.dtype).tobytes()
        for (rng, _), twin in zip(stream.state_updates, [in_loop, outside], strict=True):
            assert is_same_state(rng.get_value(borrow=True), twin)
