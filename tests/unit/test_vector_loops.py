"""Loops whose carried values are small arrays: the tape of arrays against steps one by one, and shapes that it has to leave alone."""
import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan.scan_step import until

from tests.unit.test_blocks import LENGTHS, assert_same, outcome, scanned


def metropolis(srng, n, d=10):
    x0 = at.dvector("x0")

    def step(x, lp):
        proposed = x + 0.5 * srng.normal(size=(d,))
        new = -0.5 * at.sum(proposed**2)
        is_better = at.log(srng.uniform()) < new - lp
        return at.switch(is_better, proposed, x), at.switch(is_better, new, lp)

    outputs, updates = scanned(step, n, outputs_info=[x0, -0.5 * at.sum(x0**2)])
    return [x0], outputs, updates, [np.linspace(-1, 1, d)]


def last_metropolis(srng, n):
    inputs, outputs, updates, arguments = metropolis(srng, n, 30)
    return inputs, [out[-1] for out in outputs], updates, arguments


def metropolis_until(srng, n):
    def step(x, lp):
        proposed = x + srng.normal(size=(3,))
        new = -at.sum(abs(proposed))
        is_better = srng.uniform() < at.exp(new - lp)
        return (at.switch(is_better, proposed, x), at.switch(is_better, new, lp)), until(at.lt(new, -5.5))

    outputs, updates = scanned(step, n, outputs_info=[at.as_tensor_variable(np.zeros(3)), np.float64(0.0)])
    return [], outputs, updates, []


def taps_of_arrays(srng, n):
    start = at.dmatrix("start")
    outputs, updates = scanned(lambda a, b: (0.5 * a - 0.3 * b + srng.normal(size=(4,)), at.max(a), at.min(b) + 1.0), n,
                               outputs_info=[{"initial": start, "taps": [-1, -3]}, None, None])
    return [start], outputs, updates, [np.arange(12.0).reshape(3, 4)]


def last_taps_of_arrays(srng, n):
    inputs, outputs, updates, arguments = taps_of_arrays(srng, n)
    return inputs, [outputs[0][-2:], outputs[1][-1]], updates, arguments


def arrays_that_change_places(srng, n):
    outputs, updates = scanned(lambda a, b: (b * 0.5, a - b), n,
                               outputs_info=[at.as_tensor_variable(np.arange(5.0)), at.as_tensor_variable(np.ones(5))])
    return [], outputs, updates, []


def an_array_passed_on(srng, n):
    """A state that becomes another's value as it is."""
    outputs, updates = scanned(lambda a, b: (a * 0.9 + srng.normal(size=(5,)), a), n,
                               outputs_info=[at.as_tensor_variable(np.arange(5.0)), at.as_tensor_variable(np.ones(5))])
    return [], outputs, updates, []


def one_value_for_two_states(srng, n):
    def step(a, b):
        new = a * 0.9 + b * 0.1 + srng.normal()
        return new, new

    outputs, updates = scanned(step, n, outputs_info=[at.as_tensor_variable(np.arange(5.0)), at.as_tensor_variable(np.ones(5))])
    return [], outputs, updates, []


def draws_as_states(srng, n):
    def step(a, b):
        return srng.normal(size=(6,)), b * 0.5 + a

    outputs, updates = scanned(step, n, outputs_info=[at.as_tensor_variable(np.zeros(6)), at.as_tensor_variable(np.ones(6))])
    return [], outputs, updates, []


def strided_sequences(srng, n):
    a = at.dtensor3("a")
    outputs, updates = scanned(lambda u, v, x: (x * 0.5 + u - v, at.sum(u * x)), n, sequences=[a[:, 0], a[:, 1]],
                               outputs_info=[at.as_tensor_variable(np.zeros(3)), None], go_backwards=True)
    return [a], outputs, updates, [np.sin(np.arange(6.0 * n)).reshape(n, 2, 3)]


def sequences_with_gaps(srng, n):
    a = at.dtensor3("a")
    outputs, updates = scanned(lambda u, x: x * 0.5 + u, n, sequences=[a[:, :, 1]], outputs_info=[at.as_tensor_variable(np.zeros(3))])
    return [a], outputs, updates, [np.sin(np.arange(6.0 * n)).reshape(n, 3, 2)]


def matrices(srng, n):
    c = at.dmatrix("c")
    outputs, updates = scanned(lambda x, c: (at.tanh(x + c) * 0.7, at.cast(x, "float32"), at.sum(x * c)), n,
                               outputs_info=[at.as_tensor_variable(np.eye(3, 4)), None, None], non_sequences=[c])
    return [c], outputs, updates, [np.cos(np.arange(12.0)).reshape(3, 4)]


def counts(srng, n):
    outputs, updates = scanned(lambda x: (x * 0.5 + srng.normal(size=(9,)), (x > 0).sum()), n, outputs_info=[at.as_tensor_variable(np.zeros(9)), None])
    return [], outputs, updates, []


def a_row_for_all(srng, n):
    c = at.dvector("c")
    outputs, updates = scanned(lambda x, c: at.tanh(x * 0.5 + c), n, outputs_info=[at.as_tensor_variable(np.eye(3, 4))], non_sequences=[c])
    return [c], outputs, updates, [np.cos(np.arange(4.0))]


def integers_and_bools(srng, n):
    k0 = at.lvector("k0")

    def step(k, m):
        k = k * 3 + 1 - (k > 40) * 100
        return k, at.invert(m) | (k > 0), at.sum(k), at.all(m)

    outputs, updates = scanned(step, n, outputs_info=[k0, at.as_tensor_variable(np.zeros(7, bool)), None, None])
    return [k0], outputs, updates, [np.arange(7)]


def small_types(srng, n):
    outputs, updates = scanned(lambda x, z: (x * np.float32(0.9) + np.float32(0.1), z * z + 0.2j, at.sum(z)), n,
                               outputs_info=[at.as_tensor_variable(np.arange(9, dtype="f4")), at.as_tensor_variable(np.full(3, 0.1 + 0.1j)), None])
    return [], outputs, updates, []


def powers_and_quotients(srng, n):
    def step(x):
        y = x**2 / 3.0
        return 1.0 / (1.0 + y), 2.0 - x, x**1.5, at.sqr(y), at.prod(y)

    outputs, updates = scanned(step, n, outputs_info=[at.as_tensor_variable(np.linspace(0.1, 2, 13)), None, None, None, None])
    return [], outputs, updates, []


def long_arrays(srng, n):
    outputs, updates = scanned(lambda x: (x * 0.5 + srng.normal(size=(600,)), at.sum(x)), n, outputs_info=[at.as_tensor_variable(np.zeros(600)), None])
    return [], [outputs[0][-1], outputs[1]], updates, []


def tiled_arrays(srng, n, d=700):
    """Steps on long arrays in a row, which go tile by tile, and what comes between them: other types, choices, numbers of a state."""
    k0, c = at.lvector("k0"), at.dvector("c")

    def step(second, x, k, s, c):
        z = srng.normal(size=(d,))
        new = at.exp(-0.5 * at.sqr(x - second)) * 0.5 + at.sin(z) / (2.0 + c)
        small = at.cast(new * s, "float32") * np.float32(0.5)
        k = k * 3 + at.cast(small > 0.25, "int64") - 7 * (k > 40)
        return new - at.cast(small, "float64") * z, k, s * 0.5 + 0.25, at.switch(new > x, new, x * s), z * z * c * c + k

    outputs, updates = scanned(step, n, outputs_info=[dict(initial=at.as_tensor_variable(np.linspace(-1, 1, 2 * d).reshape(2, d)), taps=[-2, -1]), k0,
                                                      np.float64(1.0), None, None], non_sequences=[c])
    return [k0, c], outputs, updates, [np.arange(d) % 50, np.cos(np.arange(float(d)))]


def sums_of_more_than_a_block(srng, n):
    outputs, updates = scanned(lambda x: (x * 0.5 + srng.normal(size=(200,)), at.sum(x)), n, outputs_info=[at.as_tensor_variable(np.zeros(200)), None])
    return [], [outputs[0][-1], outputs[1]], updates, []


def empty_arrays(srng, n):
    outputs, updates = scanned(lambda x: (x * 0.5 + 1.0, at.sum(x) + srng.normal()), n, outputs_info=[at.as_tensor_variable(np.zeros(0)), None])
    return [], outputs, updates, []


def arrays_of_one(srng, n):
    outputs, updates = scanned(lambda x: (x * 0.5 + srng.normal(size=(1,)), at.sum(x)), n, outputs_info=[at.as_tensor_variable(np.zeros(1)), None])
    return [], outputs, updates, []


def choices_by_element(srng, n):
    def step(x):
        new = x + srng.normal(size=(8,))
        return at.switch(new > x, new, x * 0.5), at.switch(at.gt(at.sum(new), 0.0), new, 1.0)

    outputs, updates = scanned(step, n, outputs_info=[at.as_tensor_variable(np.zeros(8)), None])
    return [], outputs, updates, []


def numbers_of_sums(srng, n):
    """Sums, conditions and choices of numbers, from states, draws, sums and constants, some of them results; and NaN."""
    def step(x, a, b):
        z, u = srng.normal(size=(9,)), srng.normal()
        new = x * 0.5 + z
        total, squares = at.sum(new), at.sum(at.sqr(new))
        tests = [at.lt(a, u), at.le(u, b), at.gt(total, a), at.ge(squares, total), at.eq(at.round(u), 0.0), at.neq(a, b), at.lt(total, 0.25)]
        inner = at.switch(tests[0], a * total, at.switch(tests[1], u, b))
        root = at.sqrt(u)  # NaN, every other time
        return new, at.switch(tests[2], inner, 0.5 * a), at.switch(at.lt(root, b), b - u, 0.25), *tests, total, squares, at.switch(tests[5], u, total), at.gt(root, a)

    outputs, updates = scanned(step, n, outputs_info=[at.as_tensor_variable(np.zeros(9)), np.float64(0.5), np.float64(-0.25), *[None] * 11])
    return [], outputs, updates, []


def conditions_of_numbers(srng, n):
    def step(a, b):
        u = srng.normal()
        tests = [f(p, q) for f in (at.lt, at.le, at.gt, at.ge, at.eq, at.neq) for p, q in [(a, b), (a, u), (u, b), (a, 0.5), (at.round(a + u), at.round(b))]]
        return at.switch(tests[0], b, u), at.switch(tests[6], 0.5 * a, at.switch(tests[12], a + b, u)), *tests

    outputs, updates = scanned(step, n, outputs_info=[np.float64(0.5), np.float64(-0.25), *[None] * 30])
    return [], outputs, updates, []


def rows_by_a_state(srng, n):
    table = at.as_tensor_variable(np.arange(12.0).reshape(4, 3))
    outputs, updates = scanned(lambda k, x: ((k + 1) % 4, x * 0.5 + table[k]), n,
                               outputs_info=[np.int64(0), at.as_tensor_variable(np.zeros(3))])
    return [], outputs, updates, []


def two_columns_of_one_value(srng, n):
    def step(x):
        new = x * 0.5 + srng.normal(size=(4,))
        return new, new, x

    outputs, updates = scanned(step, n, outputs_info=[at.as_tensor_variable(np.zeros(4)), None, None])
    return [], outputs, updates, []


def sums_of_products(srng, n):
    """Neighbours that are one cell, each way round, and some that must not be."""
    c = at.dvector("c")

    def step(x, y, c):
        z = srng.normal(size=(5,))
        half = z * 0.25
        return x * 0.5 + z, y + c * 0.25, half + x, 0.5 * x + y, c - 2.0 * x, half * half, at.sum(x * x), at.sum(y**2), at.sum(half)

    outputs, updates = scanned(step, n, outputs_info=[at.as_tensor_variable(np.zeros(5)), at.as_tensor_variable(np.ones(5)), *[None] * 7], non_sequences=[c])
    return [c], outputs, updates, [np.linspace(-1, 1, 5)]


def an_array_in_a_nest(srng, n):
    def outer(x):
        inner, updates = pyscan.scan(lambda y: y * 0.5 + srng.normal(size=(4,)), outputs_info=[x], n_steps=20)
        return inner[-1], updates

    outputs, updates = scanned(outer, n // 20, outputs_info=[at.as_tensor_variable(np.zeros(4))])
    return [], outputs, updates, []


def arrays_of_growing_lengths(srng, n):
    """Whose memory, used in turn, grows within the first step: what is written where it was before, sanitizers see."""
    def step(*states):
        return tuple(x * 0.5 + 1.0 / (1.0 + at.sum(at.exp(at.sin(x * 3.0)))) for x in states)

    outputs, updates = scanned(step, n, outputs_info=[at.as_tensor_variable(np.linspace(0.0, 1.0, d)) for d in (2, 9, 40, 5, 90, 120)])
    return [], outputs, updates, []


def linear_system(shape, arrange=np.ascontiguousarray, from_left=True, dtype="float64"):
    """A state times a matrix laid out by `arrange`, and a path of its products with one that is not square."""
    def build(srng, n):
        rng = np.random.default_rng(3)
        A, C, x0 = at.matrix("A", dtype), at.matrix("C", dtype), at.vector("x0", dtype)
        d, width = shape

        def step(x, A, C):
            noise = at.cast(srng.normal(size=(d,)), dtype)
            product = (at.dot(A, x), at.dot(C, noise), at.dot(C, x)) if from_left else (at.dot(x, A), at.dot(noise, C), at.dot(x, C))
            return product[0] + noise, product[1] * 0.5, at.sum(product[2])

        outputs, updates = scanned(step, n, outputs_info=[x0, None, None], non_sequences=[A, C])
        values = 0.9 * np.linalg.qr(rng.normal(size=(d, d)))[0] if d else np.zeros((0, 0))
        other = rng.normal(size=(width, d) if from_left else (d, width))
        return [A, C, x0], outputs, updates, [arrange(values.astype(dtype)), arrange(other.astype(dtype)), np.zeros(d, dtype)]
    return build


LINEAR = {"of 20": linear_system((20, 7)), "from the right": linear_system((20, 9), from_left=False), "turned": linear_system((12, 30), np.asfortranarray),
          "turned, from the right": linear_system((12, 30), np.asfortranarray, False), "of 3": linear_system((3, 2)), "of one": linear_system((1, 1)),
          "with gaps": linear_system((10, 11), lambda a: np.repeat(np.repeat(a, 2, axis=0), 3, axis=1)[::2, ::3]),
          "backwards": linear_system((10, 11), lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1]),
          "too many terms": linear_system((190, 5)), "too long": linear_system((4, 600)), "of floats": linear_system((9, 5), dtype="float32"),
          "of none": linear_system((0, 3))}


@pytest.mark.parametrize("block_steps", [2, 256])
@pytest.mark.parametrize("name", LINEAR)
def test_products_of_the_state_are_those_of_steps(name, block_steps):
    want, got = outcome(LINEAR[name], 0, 130), outcome(LINEAR[name], block_steps, 130)
    assert not isinstance(want[0][0], (type, str))
    assert_same(want, got)
    assert got[2]["block_steps"] > 0


def test_products_of_infinite_numbers_keep_their_signs_and_their_order():
    A, x0 = at.dmatrix("A"), at.dvector("x0")
    values = np.array([[1e308, 1e308, -1e308, 0.0], [-0.0, -0.0, -0.0, -0.0], [np.inf, 1.0, -np.inf, 0.0], [1.0, np.nan, 1e-320, 2.0]] * 3).T.repeat(3, axis=1)[:12, :12]
    square = np.resize(values, (12, 12))
    got = []
    for block_steps in (0, 256):
        outputs, _ = pyscan.scan(lambda x, A: at.clip(at.dot(A, x), -2.0, 2.0) * 1.0, outputs_info=[x0], non_sequences=[A], n_steps=40)
        with pyscan.config.change_flags(scan__block_steps=block_steps):
            path = pyscan.function([A, x0], outputs)(square, np.linspace(-1.0, 1.0, 12))
            got.append(np.where(np.isnan(path), np.nan, path).tobytes())  # IEEE 754 leaves the sign of a NaN open
    assert got[0] == got[1]


TAPED = [arrays_of_growing_lengths, metropolis, last_metropolis, metropolis_until, taps_of_arrays, last_taps_of_arrays, arrays_that_change_places, draws_as_states,
         strided_sequences, tiled_arrays, numbers_of_sums, conditions_of_numbers, matrices, integers_and_bools, small_types, powers_and_quotients, arrays_of_one, choices_by_element, sums_of_products,
         an_array_in_a_nest]
OTHERS = [counts, an_array_passed_on, one_value_for_two_states, sequences_with_gaps, a_row_for_all, long_arrays, sums_of_more_than_a_block, empty_arrays,
          rows_by_a_state, two_columns_of_one_value]


@pytest.mark.parametrize("block_steps", LENGTHS)
@pytest.mark.parametrize("build", TAPED + OTHERS, ids=lambda b: b.__name__)
def test_arrays_on_a_tape_give_what_steps_give(build, block_steps):
    want, got = outcome(build, 0), outcome(build, block_steps)
    assert not isinstance(want[0][0], (type, str))
    assert_same(want, got)
    assert got[2]["block_steps"] + got[2]["tile_steps"] > 0 or build not in TAPED


@pytest.mark.parametrize("n_steps", [0, 1, 2, 15, 16, 17, 18, 24, 25, 26, 41])
@pytest.mark.parametrize("build", [metropolis, last_metropolis, metropolis_until, taps_of_arrays, last_taps_of_arrays], ids=lambda b: b.__name__)
def test_loops_of_any_length_are_the_same(build, n_steps):
    assert_same(outcome(build, 0, n_steps), outcome(build, 256, n_steps))


def test_one_function_takes_arrays_of_other_lengths_in_each_call():
    x0, c = at.dvector("x0"), at.dvector("c")
    (xs, total), updates = pyscan.scan(lambda x, c: (x * 0.5 + c, at.sum(x)), outputs_info=[x0, None], non_sequences=[c], n_steps=50)
    functions = []
    for block_steps in (0, 2048):
        with pyscan.config.change_flags(scan__block_steps=block_steps):
            functions.append(pyscan.function([x0, c], [xs, total], updates=updates))
    for d, e in [(3, 3), (100, 1), (1, 1), (600, 600), (3, 1), (0, 0), (200, 200), (5, 5)]:
        arguments = np.sin(np.arange(d)), np.cos(np.arange(e))
        want, got = (f(*arguments) for f in functions)
        assert all(a.tobytes() == b.tobytes() and a.shape == b.shape for a, b in zip(want, got, strict=True))


@pytest.mark.parametrize("d", [511, 512, 513, 767, 768, 1025, 4096, 4097])
def test_long_arrays_are_the_same_by_tiles(d):
    def build(srng, n):
        return tiled_arrays(srng, n, d)
    want, got = outcome(build, 0, 20), outcome(build, 256, 20)
    assert_same(want, got)
    assert got[2]["block_steps"] > 0


@pytest.mark.parametrize("d", [1, 2, 7, 8, 9, 15, 16, 17, 40, 127, 128])
def test_sums_on_a_tape_have_the_documented_order(d):
    def build(srng, n):
        x0 = at.dvector("x0")
        (xs, sums, squares), updates = scanned(lambda x: (x * 0.999 + 0.1 * srng.normal(size=(d,)), at.sum(x), at.sum(x**2)), n, outputs_info=[x0, None, None])
        return [x0], [xs, sums, squares], updates, [np.exp(np.arange(d) % 11.0)]
    want, got = outcome(build, 0, 100), outcome(build, 256, 100)
    assert_same(want, got)
    assert got[2]["block_steps"] > 0


@pytest.mark.parametrize("d", [1, 2, 3, 7, 8, 9, 10, 11, 15, 16, 17, 31, 128])
def test_sums_of_squares_of_what_is_made_there_have_the_documented_order(d):
    def build(srng, n):
        return metropolis(srng, n, d)
    want, got = outcome(build, 0, 60), outcome(build, 256, 60)
    assert_same(want, got)
    assert got[2]["block_steps"] > 0


def test_a_row_that_has_another_shape_than_the_state_is_refused_at_its_step():
    x0, c = at.dvector("x0"), at.dvector("c")
    xs, _ = pyscan.scan(lambda x, c: x * 0.5 + c, outputs_info=[x0], non_sequences=[c], n_steps=50)
    with pytest.raises(Exception, match="shape"):
        pyscan.function([x0, c], xs)(np.zeros(1), np.zeros(3))
