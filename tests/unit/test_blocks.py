"""Loops in blocks against the same loops step by step: values, states, errors, counters; any length of block gives the same."""
import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan.scan_step import until
from pyscan._reference import root_cause

LENGTHS = [1, 2, 7, 256, 100_000]
N = 700


def outcome(build, block_steps, n_steps=N):
    """All values and final states of two calls, or the error's class and text."""
    srng = at.random.RandomStream(11)
    inputs, outputs, updates, arguments = build(srng, n_steps)
    with pyscan.config.change_flags(scan__block_steps=block_steps):
        fn = pyscan.function(inputs, outputs, updates=updates)
    try:
        values = [np.asarray(v) for _ in range(2) for v in fn(*arguments)]
    except Exception as error:
        cause = root_cause(error)
        values = [type(cause).__name__, str(cause)]
    return values, [text_of_state(rng.get_value()) for rng, _ in srng.state_updates], fn.counters


def text_of_state(generator):
    return str(generator.get_state(legacy=False) if isinstance(generator, np.random.RandomState) else generator.bit_generator.state)


def scanned(fn, n_steps, **options):
    outputs, updates = pyscan.scan(fn, n_steps=n_steps, **options)
    return outputs if isinstance(outputs, list) else [outputs], updates


def only_draws(srng, n):
    outputs, updates = scanned(lambda: srng.normal(), n)
    return [], outputs, updates, []


def draws_and_arithmetic(srng, n):
    outputs, updates = scanned(lambda: (at.exp(srng.normal()) + srng.uniform() * 2.0, srng.exponential(2.0)), n)
    return [], outputs, updates, []


def autoregression(srng, n):
    x0 = at.dscalar("x0")
    outputs, updates = scanned(lambda x: 0.9 * x + 0.1 * srng.normal(), n, outputs_info=[x0])
    return [x0], outputs, updates, [0.3]


def last_value_only(srng, n):
    x0 = at.dscalar("x0")
    outputs, updates = scanned(lambda x: 0.9 * x + srng.normal(), n, outputs_info=[x0])
    return [x0], [outputs[0][-1]], updates, [0.3]


def observations_after(srng, n):
    def step(h):
        h = 0.95 * h + 0.2 * srng.normal()
        return h, at.exp(h / 2) * srng.normal(), at.cast(h, "float32"), h > 0

    outputs, updates = scanned(step, n, outputs_info=[np.float64(0.1), None, None, None])
    return [], outputs, updates, []


def last_observations(srng, n):
    inputs, outputs, updates, arguments = observations_after(srng, n)
    return inputs, [out[-1] for out in outputs], updates, arguments


def two_taps(srng, n):
    start = at.dvector("start")
    outputs, updates = scanned(lambda a, b: (0.5 * a - 0.3 * b + srng.normal(), at.tanh(a) + at.tanh(b)), n,
                               outputs_info=[{"initial": start, "taps": [-1, -2]}, None])
    return [start], outputs, updates, [[0.1, 0.2]]


def old_taps_after(srng, n):
    def step(a, c):
        new = 0.5 * a + srng.normal()
        return new, c * 2.0 + a

    outputs, updates = scanned(step, n, outputs_info=[{"initial": at.as_tensor_variable([0.1, 0.2, 0.3]), "taps": [-1, -3]}, None])
    return [], [outputs[0][-1], outputs[1]], updates, []


def sequences(srng, n):
    a, b = at.dvector("a"), at.ivector("b")
    outputs, updates = scanned(lambda a, b, x: (a * 2 + b + x, a + srng.normal(a, 1.0), a - x), n, sequences=[a, b],
                               outputs_info=[np.float64(0), None, None])
    return [a, b], outputs, updates, [np.arange(2.0 * n)[::2], np.arange(n, dtype="int32")]


def drawn_parameters(srng, n):
    def step():
        scale = srng.exponential(1.0)
        return srng.normal(scale, scale), scale

    outputs, updates = scanned(step, n)
    return [], outputs, updates, []


def parameters_of_the_state(srng, n):
    outputs, updates = scanned(lambda x: (srng.normal(0.5 * x, 0.1), srng.normal(0.0, 1.0)), n, outputs_info=[np.float64(0), None])
    return [], outputs, updates, []


def one_stream_many_draws(srng, n):
    rng = pyscan.shared(np.random.default_rng(5))
    srng.state_updates.append((rng, rng))

    def step():
        a = at.random.normal(rng=rng)
        b = at.random.uniform(rng=a.owner.outputs[0])
        c = at.random.poisson(3.0, rng=b.owner.outputs[0])
        return [a, b, c], {rng: c.owner.outputs[0]}

    outputs, updates = scanned(step, n)
    return [], outputs, updates, []


def one_stream_that_depends_on_itself(srng, n):
    rng = pyscan.shared(np.random.default_rng(5))
    srng.state_updates.append((rng, rng))

    def step():
        a = at.random.normal(rng=rng)
        b = at.random.normal(a * 2.0, 1.0, rng=a.owner.outputs[0])
        return [a, b], {rng: b.owner.outputs[0]}

    outputs, updates = scanned(step, n)
    return [], outputs, updates, []


def two_streams_in_turn(srng, n):
    r, s = (pyscan.shared(np.random.default_rng(k)) for k in (1, 2))
    srng.state_updates.extend([(r, r), (s, s)])

    def step():
        a = at.random.normal(rng=r)
        b = at.random.normal(a, 1.0, rng=s)
        c = at.random.normal(b, 1.0, rng=a.owner.outputs[0])
        d = at.random.normal(c, 1.0, rng=b.owner.outputs[0])
        return [a, d], {r: c.owner.outputs[0], s: d.owner.outputs[0]}

    outputs, updates = scanned(step, n)
    return [], outputs, updates, []


def vectors(srng, n):
    outputs, updates = scanned(lambda x: (0.5 * x + srng.normal(size=(3,)), srng.poisson(2.0, size=(2, 2)), x.sum()), n,
                               outputs_info=[np.zeros(3), None, None])
    return [], outputs, updates, []


def last_vectors(srng, n):
    inputs, outputs, updates, arguments = vectors(srng, n)
    return inputs, [out[-1] for out in outputs], updates, arguments


def states_that_are_draws(srng, n):
    def step(a, b):
        return srng.normal(), b + a, at.cast(srng.poisson(1.0), "int8")

    outputs, updates = scanned(step, n, outputs_info=[np.float64(1.0), np.float64(2.0), None])
    return [], outputs, updates, []


def until_in_the_state(srng, n):
    def step(x):
        x = x + srng.uniform()
        return (x, x * 2 + srng.normal()), until(x > 40.3)

    outputs, updates = scanned(step, n, outputs_info=[np.float64(0), None])
    return [], outputs, updates, []


def until_of_last_values(srng, n):
    inputs, outputs, updates, arguments = until_in_the_state(srng, n)
    return inputs, [out[-1] for out in outputs], updates, arguments


def until_drawn(srng, n):
    def step():
        u = srng.uniform()
        return (u, srng.normal(size=(2,))), until(u > 0.99)

    outputs, updates = scanned(step, n)
    return [], outputs, updates, []


def nested(srng, n):
    def step(x):
        inner, updates = pyscan.scan(lambda y: y + srng.normal(), outputs_info=[x], n_steps=30)
        return [inner[-1] * 0.1, srng.uniform()], updates

    outputs, updates = scanned(step, n // 10, outputs_info=[np.float64(0), None])
    return [], outputs, updates, []


def float32(srng, n):
    with pyscan.config.change_flags(floatX="float32"):
        outputs, updates = scanned(lambda x: (at.cast(0.5 * x + srng.normal(), "float32"), at.exp(x)), n,
                                   outputs_info=[at.as_tensor_variable(np.float32(0)), None])
    return [], outputs, updates, []


def float32_taps_after(srng, n):
    outputs, updates = scanned(lambda x: (at.cast(x + 1.5, "float32"), x * 2), n, outputs_info=[np.float32(0), None])
    return [], [outputs[0][-1], outputs[1]], updates, []


def booleans_and_complex(srng, n):
    def step(flag, z):
        u = srng.uniform()
        return at.xor(flag, u > 0.5), z * (0.6 + 0.8j), at.switch(u > 0.3, u, -u), z + u

    outputs, updates = scanned(step, n, outputs_info=[np.bool_(True), at.as_tensor_variable(np.complex128(1 + 0j)), None, None])
    return [], outputs, updates, []


def many_terms(srng, n):
    outputs, updates = scanned(lambda x: (0.5 * x, at.add(srng.normal(), srng.normal(), 1.0, x, x)), n, outputs_info=[np.float64(1), None])
    return [], outputs, updates, []


def short_path(srng, n):
    outputs, updates = scanned(lambda: srng.normal(), n)
    return [], [outputs[0][-3:], outputs[0][-1]], updates, []


def states_that_change_places(srng, n):
    def step(a, b, c, d, e):
        return b, a, d + 0.1 * srng.normal(), c * 0.5, a

    outputs, updates = scanned(step, n, outputs_info=[np.float64(k) for k in range(5)])
    return [], outputs, updates, []


def states_of_one_value(srng, n):
    def step(a, b, c):
        new = a * 0.5 + b - c
        return new, new, b

    outputs, updates = scanned(step, n, outputs_info=[np.float64(k) for k in range(3)])
    return [], outputs, updates, []


def more_values_than_registers(srng, n):
    def step(a, b, c, d, e):
        terms = [a * b, b - c, c / (d * d + 1.0), d + e, at.sqrt(abs(e)), -a, a ** 2]
        total = sum(terms[i] * terms[-i - 1] for i in range(len(terms)))
        return at.tanh(total), at.tanh(terms[1] + terms[2]), terms[3] * 0.3, terms[4] - terms[5], at.exp(-abs(total)) + terms[6] * 1e-3

    outputs, updates = scanned(step, n, outputs_info=[np.float64(0.1 * k) for k in range(5)])
    return [], [*outputs, srng.normal()], updates, []


def sums_of_many(srng, n):
    outputs, updates = scanned(lambda x, y: (at.add(0.1, srng.normal(), x, y, x), at.mul(x, y, 0.5, y)), n,
                               outputs_info=[np.float64(0.5), np.float64(0.25)])
    return [], outputs, updates, []


def old_rows(srng, n):
    def step(a, b, c):
        return a * 0.5 - b * 0.25 + c * 0.125, c

    outputs, updates = scanned(step, n, outputs_info=[{"initial": at.as_tensor_variable([1.0, 2.0, 3.0, 4.0]), "taps": [-1, -2, -4]}, None])
    return [], [outputs[0][-2:], outputs[1]], updates, [srng.normal()][:0]


def many_old_rows(srng, n):
    def step(a, b):
        return a * 0.5 - b * 0.25 + srng.normal()

    outputs, updates = scanned(step, n, outputs_info=[{"initial": at.as_tensor_variable(np.arange(6.0)), "taps": [-6, -1]}])
    return [], outputs, updates, []


def until_a_state_of_bool(srng, n):
    def step(stop, x):
        x = x + srng.uniform()
        return (x > 30.0, x), until(stop)

    outputs, updates = scanned(step, n, outputs_info=[np.bool_(False), np.float64(0)])
    return [], outputs, updates, []


def integer_states(srng, n):
    def step(s, i):
        infected = srng.binomial(s, 0.01)
        return s - infected, i + infected - srng.binomial(i, 0.1)

    outputs, updates = scanned(step, n, outputs_info=[np.int64(1000), np.int64(10)])
    return [], outputs, updates, []


def backwards_and_strided(srng, n):
    a = at.dmatrix("a")
    outputs, updates = scanned(lambda u, v, x: (x * 0.5 + u, v * x), n, sequences=[a[:, 1], {"input": a[:, 0]}],
                               outputs_info=[np.float64(0), None], go_backwards=True)
    return [a], [*outputs, srng.normal()], updates, [np.arange(2.0 * n).reshape(n, 2)]


def chain_of_categories(srng, n):
    P, mu, z0 = at.dmatrix("P"), at.dvector("mu"), at.lscalar("z0")

    def step(z, P, mu):
        z = srng.categorical(P[z])
        return z, mu[z] + srng.normal(), mu[z - 3]
    outputs, updates = scanned(step, n, outputs_info=[z0, None, None], non_sequences=[P, mu])
    return [P, mu, z0], outputs, updates, [np.array([[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.2, -0.2, 1.0]])[:, ::1], np.arange(6.0)[::-2], 1]


def rows_that_are_kept(srng, n):
    P = at.as_tensor_variable(np.array([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]))
    outputs, updates = scanned(lambda z: (srng.categorical(P[z]), P[z], srng.normal()), n, outputs_info=[np.int64(0), None, None])
    return [], outputs, updates, []


def infections(srng, n):
    s0, i0 = at.lscalar("s0"), at.lscalar("i0")

    def step(s, i):
        new = srng.binomial(s, 1.0 - at.exp(-0.3 * i / 1000.0))
        gone = srng.binomial(i, 0.1)
        return s - new, i + new - gone, at.switch(at.gt(new, gone), s, -i), at.cast(at.le(i, 3), "int64") * i
    outputs, updates = scanned(step, n, outputs_info=[s0, i0, None, None])
    return [s0, i0], outputs, updates, [990, 10]


def chosen_states(srng, n):
    def step(x, k):
        u = srng.uniform()
        is_up = at.and_(at.lt(u, 0.6), at.invert(at.ge(x, 3.0)))
        return at.switch(is_up, x + 1.0, x - 0.5), at.switch(at.eq(k, 4), k * 0, k + 1), is_up
    outputs, updates = scanned(step, n, outputs_info=[np.float64(0.0), np.int64(0), None])
    return [], outputs, updates, []


def elements_of_integers(srng, n):
    table = at.lvector("table")
    outputs, updates = scanned(lambda k, table: (table[k], at.cast(table[k], "float64") + srng.normal()), n, outputs_info=[np.int64(0), None], non_sequences=[table])
    return [table], outputs, updates, [[3, 0, 1, 2, 7]]


def chain_of(P, *states):
    """A chain of categories with those probabilities, from more than one stream."""
    def build(srng, n):
        matrix, z0 = at.dmatrix("matrix"), at.lscalar("z0")

        def step(z, *other):
            z = srng.categorical(matrix[z])
            return z, *(srng.normal(at.cast(z, "float64"), 0.5 + x ** 2 / 50.0) for x in other)
        outputs, updates = scanned(step, n, outputs_info=[z0, *map(np.float64, states)])
        return [matrix, z0], outputs, updates, [P, 1]
    return build


def probabilities(*shape, seed=5):
    P = np.random.default_rng(seed).random(shape)
    return P / P.sum(axis=1, keepdims=True)


chain_of_two, chain_of_five, chain_of_forty = (chain_of(probabilities(n, n), *range(n % 3)) for n in (2, 5, 40))
chain_of_strided_rows = chain_of(np.repeat(probabilities(5, 5), 2, axis=1)[::-1, ::2])
chain_of_more_rows_than_steps = chain_of(np.hstack([probabilities(3000, 3, seed=6), np.zeros((3000, 1))]), 0.1)
chain_of_no_numbers = chain_of(np.array([[0.2, np.nan, 0.5], [0.4, 0.3, 0.3], [np.nan, 0.1, 0.9]]))
chain_that_ends = chain_of(np.array([[0.5, 0.4995], [0.3, 0.7]]))  # 2, which is no row, when the number drawn is beyond the sums


def rows_of_two_readers(srng, n):
    P = at.as_tensor_variable(probabilities(4, 4))

    def step(z, k):
        row = P[z]
        return srng.categorical(row), srng.categorical(P[k]), row[2]
    outputs, updates = scanned(step, n, outputs_info=[np.int64(0), np.int64(3), None])
    return [], outputs, updates, []


def rows_counted_from_the_end(srng, n):
    P = at.as_tensor_variable(probabilities(3, 3))
    outputs, updates = scanned(lambda z: srng.categorical(P[z - 2]), n, outputs_info=[np.int64(0)])
    return [], outputs, updates, []


def one_stream_for_two_categories(srng, n):
    P, rng = at.as_tensor_variable(probabilities(4, 4)), pyscan.shared(np.random.default_rng(4))

    def step(z, k):
        first = at.random.categorical(P[z], rng=rng)
        second = at.random.categorical(P[k], rng=first.owner.outputs[0])
        return [first, second], {rng: second.owner.outputs[0]}
    outputs, updates = scanned(step, n, outputs_info=[np.int64(0), np.int64(3)])
    return [], [*outputs, srng.normal()], updates, []


def scaled_by_the_state(srng, n):
    def step(x, y, s):
        x = srng.normal(0.9 * x, at.exp(0.1 * y))
        y = srng.uniform(y * 0.5 - 1.0, y * 0.5 + 2.0)
        return x, y, srng.exponential(0.5 + s / (1.0 + s)), srng.normal(x, 1.0), srng.normal(0.0, s)
    outputs, updates = scanned(step, n, outputs_info=[np.float64(0.1), np.float64(0), np.float64(1), None, None])
    return [], outputs, updates, []


def made_by_functions_of_the_state(srng, n):
    def step(x, y):
        x = at.log1p(srng.halfnormal(x, 1.0 + x)) + at.log1p(srng.weibull(1.0 + y ** 2))
        return x, at.log1p(srng.lognormal(-y, 0.3)) * srng.rayleigh(0.1 + abs(x)) / 4.0
    outputs, updates = scanned(step, n, outputs_info=[np.float64(0.1), np.float64(0)])
    return [], outputs, updates, []


def scales_of_all_kinds(srng, n):
    scales = at.as_tensor_variable(np.array([0.5, 0.0, np.inf, np.nan, 2.0, 1e-310, 1.0]))

    def step(k, x):
        x = srng.normal(at.switch(at.eq(k, 3), -np.inf, x / 2.0), scales[k])
        return at.switch(at.eq(k, 6), k * 0, k + 1), at.switch(at.isnan(x), 0.0, at.clip(x, -9.0, 9.0)), srng.uniform(-1.0, at.cast(k, "float64")), x
    outputs, updates = scanned(step, n, outputs_info=[np.int64(0), np.float64(0), None, None])
    return [], outputs, updates, []


def binomials_of_every_kind(srng, n):
    trials, p = at.lvector("trials"), at.dvector("p")

    def step(trials, p, k, q):
        new = srng.binomial(k, q)
        return trials - new * 0, p + at.cast(new * 0, "float64"), new, srng.binomial(k, p), srng.binomial(trials, q) + srng.binomial(k + 1, at.exp(-q))
    outputs, updates = scanned(step, n, sequences=[trials, p], outputs_info=[np.int64(3), np.float64(0.25), None, None, None])
    values = np.random.default_rng(1)
    return [trials, p], outputs, updates, [values.choice([0, 1, 5, 40, 1000], n), values.choice([0.0, -0.0, 1.0, 0.3, 0.9, 1e-300], n)]


def split_and_whole_draws(srng, n):
    P = at.as_tensor_variable(probabilities(3, 3))

    def step(z, x):
        z = srng.categorical(P[z])
        return z, srng.normal(0.5 * x, 1.0) + srng.binomial(3 + z, 0.4)
    outputs, updates = scanned(step, n, outputs_info=[np.int64(0), np.float64(0)])
    return [], outputs, updates, []


def until_a_walk_is_far(srng, n):
    def step(x):
        x = srng.normal(x, 1.0)
        return (x, srng.normal(x, 2.0)), until(abs(x) > 17.0)
    outputs, updates = scanned(step, n, outputs_info=[np.float64(0), None])
    return [], outputs, updates, []


SPLIT = {"chain_of_two": chain_of_two, "chain_of_five": chain_of_five, "chain_of_forty": chain_of_forty, "chain_of_strided_rows": chain_of_strided_rows,
         "chain_of_more_rows_than_steps": chain_of_more_rows_than_steps, "chain_of_no_numbers": chain_of_no_numbers, "chain_that_ends": chain_that_ends,
         **{build.__name__: build for build in (rows_of_two_readers, rows_counted_from_the_end,
                                                one_stream_for_two_categories, scaled_by_the_state, made_by_functions_of_the_state,
                                                scales_of_all_kinds, binomials_of_every_kind, split_and_whole_draws, until_a_walk_is_far)}}


LOOPS = [only_draws, draws_and_arithmetic, autoregression, last_value_only, observations_after, last_observations, two_taps, old_taps_after,
         sequences, drawn_parameters, parameters_of_the_state, one_stream_many_draws, one_stream_that_depends_on_itself, two_streams_in_turn,
         vectors, last_vectors, states_that_are_draws, until_in_the_state, until_of_last_values, until_drawn, nested, float32, float32_taps_after,
         booleans_and_complex, many_terms, short_path, states_that_change_places, states_of_one_value, more_values_than_registers, sums_of_many, old_rows,
         many_old_rows, until_a_state_of_bool, integer_states, backwards_and_strided, chain_of_categories,
         rows_that_are_kept, infections, chosen_states, elements_of_integers]
# Of them, those in which nothing can be moved in time.
UNSPLIT = set()


def assert_same(want, got):
    assert len(want[0]) == len(got[0])
    for a, b in zip(want[0], got[0]):
        assert isinstance(a, str) or (a.dtype == b.dtype and a.shape == b.shape)
        assert a == b if isinstance(a, str) else a.tobytes() == b.tobytes()
    assert want[1] == got[1]
    assert want[2]["steps"] == got[2]["steps"]


@pytest.mark.parametrize("block_steps", LENGTHS)
@pytest.mark.parametrize("build", LOOPS, ids=lambda b: b.__name__)
def test_blocks_give_what_steps_give(build, block_steps):
    want, got = outcome(build, 0), outcome(build, block_steps)
    assert_same(want, got)
    assert want[2]["block_steps"] == 0
    assert (got[2]["block_steps"] > 0) == (build.__name__ not in UNSPLIT)


@pytest.mark.parametrize("block_steps", LENGTHS)
@pytest.mark.parametrize("name", SPLIT)
def test_draws_that_the_core_finishes_are_those_of_steps(name, block_steps):
    want, got = outcome(SPLIT[name], 0), outcome(SPLIT[name], block_steps)
    assert_same(want, got)
    assert got[2]["block_steps"] > 0


@pytest.mark.parametrize("function", [at.exp, at.log, at.sqrt, abs, lambda x: -x], ids=["exp", "log", "sqrt", "abs", "neg"])
def test_functions_of_the_state_have_the_bits_that_they_have_elsewhere(function):
    edges = [2.0 ** k * (1 + d) for k in (-1074, -1022, -60, -55, -54, -53, -27, -1, 0, 1) for d in (-2.0 ** -52, 0.0, 2.0 ** -52)]
    edges += [0.0, 707.9, 708.0, 708.1, 709.7, 709.8, 745.1, 745.2, 1e9, 1e308, np.inf, np.nan]
    values = np.concatenate([edges, np.negative(edges), np.random.default_rng(2).normal(0, 3, 3000), np.random.default_rng(3).uniform(0, 800, 300)])
    got = []
    for block_steps in (0, 256):
        v = at.dvector("v")
        outputs, updates = scanned(lambda v, nothing: (nothing * 1.0, function(v + nothing), function(v + nothing) * (1.0 + nothing)), len(values),
                                   sequences=[v], outputs_info=[np.float64(-0.0), None, None])
        with pyscan.config.change_flags(scan__block_steps=block_steps):
            fn = pyscan.function([v], outputs, updates=updates)
        got.append([out.tobytes() for out in fn(values)])
        assert (fn.counters["block_steps"] > 0) == (block_steps > 0)
    assert got[0] == got[1]


@pytest.mark.parametrize("bad_step", [0, 1, 20, 300])
def test_a_scale_of_the_state_that_is_refused_is_refused_at_its_step(bad_step):
    outcomes = []
    for block_steps in (0, 7, 256):
        srng = at.random.RandomStream(11)
        (k, x), updates = pyscan.scan(lambda k, x: (k - 1, srng.normal(x, at.cast(k, "float64"))), n_steps=400,
                                      outputs_info=[np.int64(bad_step - 1), np.float64(0)])
        with pyscan.config.change_flags(scan__block_steps=block_steps):
            fn = pyscan.function([], [k, x], updates=updates)
        before = text_of_state(srng.state_updates[0][0].get_value())
        with pytest.raises(Exception, match="scale < 0") as caught:
            fn()
        assert text_of_state(srng.state_updates[0][0].get_value()) == before
        outcomes.append(str(caught.value))
    assert f"step {bad_step}" in outcomes[0]
    assert outcomes[0] == outcomes[1] == outcomes[2]


@pytest.mark.parametrize("n_steps", [0, 1, 2, 15, 16, 17, 18, 24, 25, 26, 41])
@pytest.mark.parametrize("build", [only_draws, observations_after, two_taps, vectors], ids=lambda b: b.__name__)
def test_loops_of_any_length_are_the_same(build, n_steps):
    assert_same(outcome(build, 0, n_steps), outcome(build, 256, n_steps))


@pytest.mark.parametrize("where", [0, 1, 9, 24, 399])
@pytest.mark.parametrize("stop", [None, 8, 24, 398, 399, 400])
def test_a_bad_parameter_ahead_is_raised_when_its_step_is_reached(where, stop):
    """The parameter comes from a sequence, so the block meets it before the core does."""
    def build(srng, n):
        scales = at.dvector("scales")

        def step(scale, i):
            out = [srng.normal(0.0, scale), i + 1, srng.uniform()]
            return out if stop is None else (out, until(at.ge(i, stop)))

        outputs, updates = scanned(step, n, sequences=[scales], outputs_info=[None, np.int64(0), None])
        values = np.ones(n)
        values[where] = -1.0
        return [scales], outputs, updates, [values]

    want = outcome(build, 0, 400)
    assert isinstance(want[0][0], str) == (stop is None or stop >= where)
    for block_steps in LENGTHS:
        assert_same(want, outcome(build, block_steps, 400))


@pytest.mark.parametrize("first", ["draw", "division"])
def test_of_two_errors_the_first_in_the_program_is_raised(first):
    def build(srng, n):
        scales, divisors = at.dvector("scales"), at.lvector("divisors")

        def step(scale, divisor, x):
            drawn = srng.normal(0.0, scale)
            return drawn, (x + 7) // divisor

        outputs, updates = scanned(step, n, sequences=[scales, divisors], outputs_info=[None, np.int64(3)])
        bad_scales, bad_divisors = np.ones(n), np.ones(n, "int64")
        bad_scales[30], bad_divisors[31 if first == "draw" else 29] = -1.0, 0
        return [scales, divisors], outputs, updates, [bad_scales, bad_divisors]

    want = outcome(build, 0)
    assert want[0][0] == ("ValueError" if first == "draw" else "ZeroDivisionError"), want[0]
    for block_steps in LENGTHS:
        assert_same(want, outcome(build, block_steps))


@pytest.mark.parametrize("bit_generator", [np.random.MT19937, np.random.SFC64, np.random.Philox, np.random.PCG64DXSM])
def test_every_bit_generator_is_put_back_where_the_loop_ended(bit_generator):
    def build(srng, n):
        rng = pyscan.shared(np.random.Generator(bit_generator(3)))
        srng.state_updates.append((rng, rng))

        def step(total):
            u = at.random.integers(0, 10, rng=rng)
            return total + u, {rng: u.owner.outputs[0]}, until(total > 100)

        outputs, updates = scanned(step, n, outputs_info=[np.int64(0)])
        return [], outputs, updates, []

    assert_same(outcome(build, 0), outcome(build, 256))


def random_states(srng, n, bits=np.random.MT19937):
    """Two RandomStates: one with draws of two kinds in turn, one whose every draw takes half a pair of Gaussians."""
    r, s = (pyscan.shared(np.random.RandomState(bits(k))) for k in (1, 2))
    srng.state_updates.extend([(r, r), (s, s)])

    def step(x):
        a = at.random.normal(rng=r)
        b = at.random.binomial(20, 0.3, rng=a.owner.outputs[0])
        c = at.random.lognormal(0.0, 0.5, rng=s)
        return [0.5 * x + a * c, b], {r: b.owner.outputs[0], s: c.owner.outputs[0]}
    return step, scanned(step, n, outputs_info=[np.float64(0.0), None])


@pytest.mark.parametrize("block_steps", LENGTHS)
@pytest.mark.parametrize("bits", [np.random.MT19937, np.random.PCG64])
@pytest.mark.parametrize("stop", [None, 2.0, 25.0])
def test_draws_of_randomstates_are_made_ahead_and_put_back(block_steps, bits, stop):
    def build(srng, n):
        step, (outputs, updates) = random_states(srng, n, bits)
        if stop is not None:
            outputs, updates = scanned(lambda x: (*step(x), until(x > stop)), n, outputs_info=[np.float64(0.0), None])
        return [], outputs, updates, []
    outcome(build, 0)  # the first draws of a distribution are compared, and step by step in any case
    want, got = outcome(build, 0), outcome(build, block_steps)
    assert_same(want, got)
    assert got[2]["block_steps"] > 0 and want[2]["block_steps"] == got[2]["python_calls"] == 0


@pytest.mark.parametrize("where", [0, 9, 24, 399])
@pytest.mark.parametrize("scale", [-1.0, np.nan])
def test_a_randomstate_meets_what_it_refuses_and_what_it_alone_takes_at_its_step(where, scale):
    def build(srng, n):
        scales, rng = at.dvector("scales"), pyscan.shared(np.random.RandomState(3))
        srng.state_updates.append((rng, rng))

        def step(scale):
            a = at.random.normal(rng=rng)
            b = at.random.normal(a, scale, rng=a.owner.outputs[0])
            return [a, b], {rng: b.owner.outputs[0]}
        outputs, updates = scanned(step, n, sequences=[scales])
        values = np.ones(n)
        values[where] = scale
        return [scales], outputs, updates, [values]
    want = outcome(build, 0, 400)
    assert isinstance(want[0][0], str) == (scale == -1.0)
    for block_steps in LENGTHS:
        assert_same(want, outcome(build, block_steps, 400))


def test_a_generator_of_a_subclass_is_drawn_step_by_step_through_its_methods():
    class Loud(np.random.Generator):
        def normal(self, *args, **kwargs):
            return super().normal(*args, **kwargs) + 100.0

    rng = pyscan.shared(Loud(np.random.PCG64(1)))
    x = at.random.normal(rng=rng)
    out, updates = pyscan.scan(lambda: (x, {rng: x.owner.outputs[0]}), n_steps=50)
    fn = pyscan.function([], out, updates=updates)
    assert (fn() == Loud(np.random.PCG64(1)).normal(size=50)).all()
    assert fn.counters["block_steps"] == 0


def test_call_backs_see_every_draw_of_the_steps_before_and_none_after():
    class Look(pyscan.graph.Op):
        def make_node(self, x):
            return pyscan.graph.Apply(self, [x], [x.type()])

        def perform(self, node, inputs, outputs):
            seen.append(float(inputs[0]))
            outputs[0][0] = np.asarray(inputs[0] * 2)

    seen = []
    srng = at.random.RandomStream(3)
    out, updates = pyscan.scan(lambda: Look()(srng.normal()), n_steps=40)
    fn = pyscan.function([], out, updates=updates)
    values = fn()
    assert fn.counters["block_steps"] == 0 and seen == [v / 2 for v in values]


@pytest.mark.parametrize("block_steps", [0, 1, 256])
@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("bad", [3, -4])
def test_an_index_that_is_not_there_is_refused_at_its_step(block_steps, rank, bad):
    """Looked up in the core, where the index depends on the state; as the step-by-step loop says it."""
    def build(srng, n):
        table, ends = at.TensorType("float64", (None,) * rank)("table"), at.lvector("ends")

        def step(i, k, table):
            part = table[at.switch(at.eq(k, 300), i, k % 3)]
            return k + 1, part if rank == 1 else srng.categorical(part)
        outputs, updates = scanned(step, None, sequences=[ends], outputs_info=[np.int64(0), None], non_sequences=[table])
        values = np.arange(3.0) if rank == 1 else np.full((3, 2), 0.5)
        return [table, ends], outputs, updates, [values, np.full(n, bad)]
    want, got = outcome(build, 0), outcome(build, block_steps)
    assert got[0][0] == "IndexError" and str(bad) in got[0][1] and "step 300" in got[0][1]
    assert_same(want, got)


def test_a_randomstate_draws_categories_by_its_own_uniform_numbers():
    rng = pyscan.shared(np.random.RandomState(4))
    P = np.array([[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])

    def step(z, P):
        z = at.random.categorical(P[z], rng=rng)
        return z, {rng: z.owner.outputs[0]}
    out, updates = pyscan.scan(step, outputs_info=[np.int64(0)], non_sequences=[at.as_tensor_variable(P)], n_steps=300)
    twin, z, expected = np.random.RandomState(4), 0, []
    for _ in range(300):
        z = int(np.searchsorted(np.cumsum(P[z]), twin.uniform()))
        expected.append(z)
    assert pyscan.function([], out, updates=updates)().tolist() == expected


@pytest.mark.parametrize("block_steps", LENGTHS)
@pytest.mark.parametrize("n_lengths, dtype", [(1, "float64"), (1, "int8"), (2, "float64")])
def test_a_row_of_a_sequence_that_is_a_result_as_it_is_moves_on_though_no_operation_reads_it(n_lengths, dtype, block_steps):
    rows = (np.arange(40 * 3 ** (n_lengths - 1)) % 120).astype(dtype).reshape((40, 3)[:n_lengths])
    sequence, start = at.TensorType(dtype, [False] * n_lengths)("sequence"), at.dvector("start")

    def step(row, values):  # the sort keeps the core from being a tape, the exponential comes after it
        values = at.sort(values * 0.5) + 1.0
        return values, row, at.exp(at.tanh(values[0]))
    (_, copied, _), updates = pyscan.scan(step, sequences=[sequence], outputs_info=[start, None, None])
    with pyscan.config.change_flags(scan__block_steps=block_steps):
        fn = pyscan.function([sequence, start], copied, updates=updates)
    np.testing.assert_array_equal(fn(rows, np.ones(3)), rows)
    assert (fn.counters["block_steps"] > 0) == (block_steps > 0)
