"""Loops that are elementwise in what they carry, tile by tile against step by step: the same bits, rows, errors and states."""
import os
import signal
import threading
import time

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan._reference import root_cause

# Around the borders of tiles: one element, the least and the longest tile, and several of them.
LENGTHS = [1, 2, 15, 16, 17, 127, 128, 129, 255, 257, 1023, 2047, 2048, 2049, 5000]


def run(build, block_steps, *arguments, mode=None):
    """Values of two calls, and what the last one did."""
    inputs, outputs, updates = build()
    with pyscan.config.change_flags(scan__block_steps=block_steps):
        fn = pyscan.function(inputs, outputs, updates=updates, mode=mode)
    values = [np.asarray(value).copy() for _ in range(2) for value in fn(*arguments)]
    return values, fn.counters


def same(build, *arguments, is_tiled=True, mode=None):
    want, plain = run(build, 0, *arguments, mode=mode)
    got, counters = run(build, 256, *arguments, mode=mode)
    assert len(want) == len(got)
    for a, b in zip(want, got):
        assert a.dtype == b.dtype and a.shape == b.shape
        assert a.tobytes() == b.tobytes()
    assert plain["tile_steps"] == 0
    assert (counters["tile_steps"] == counters["steps"] > 0) == is_tiled, counters
    return got


def scanned(fn, n_steps, **options):
    outputs, updates = pyscan.scan(fn, n_steps=n_steps, **options)
    return outputs if isinstance(outputs, list) else [outputs], updates


def numbers(n, dtype="float64", start=0.5, stop=1.5):
    return np.linspace(start, stop, n).astype(dtype)


def power(dtype="float64", n_steps=10, last=True):
    def build():
        a = at.TensorType(dtype, (False,))("a")
        outputs, updates = scanned(lambda p, a: p * a, n_steps, outputs_info=[at.ones_like(a)], non_sequences=[a])
        return [a], [out[-1] if last else out for out in outputs], updates

    return build


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "complex128"])
@pytest.mark.parametrize("n", LENGTHS)
def test_any_length_and_type_give_what_steps_give(n, dtype):
    a = numbers(n, dtype, -3, 3) if dtype.startswith("int") else numbers(n, dtype)
    for last in (True, False):
        got = same(power(dtype, last=last), a)
    expected = np.cumprod(np.broadcast_to(a, (10, n)), axis=0, dtype=dtype)
    np.testing.assert_allclose(got[0], expected, rtol=1e-5)


@pytest.mark.parametrize("n_steps, kept", [(n, k) for n in (1, 2, 3, 4, 5, 7, 50) for k in (1, 2, 3, 4, 6) if k <= n])
@pytest.mark.parametrize("taps", [[-1], [-2], [-1, -3], [-3, -2]])
def test_any_rows_kept_of_states_with_any_taps(taps, n_steps, kept):
    past = -min(taps)

    def build():
        start = at.dmatrix("start")
        outputs, updates = scanned(lambda *rows: sum(0.5 * row for row in rows) + 1.0, n_steps,
                                   outputs_info=[{"initial": start, "taps": taps}])
        return [start], [outputs[0][-kept:]], updates

    same(build, numbers(past * 300).reshape(past, 300), is_tiled=n_steps > 1)


def test_states_that_change_places_and_feed_each_other():
    def build():
        a, b = at.dvector("a"), at.dvector("b")
        outputs, updates = scanned(lambda x, y: (y, x + 0.25 * y, x * y), 30, outputs_info=[a, b, None])
        return [a, b], [outputs[0][-1], outputs[1], outputs[2][-2:]], updates

    same(build, numbers(3000), numbers(3000, start=-1))


def test_one_value_as_a_state_and_as_two_results():
    def build():
        a = at.dvector("a")

        def step(x):
            new = at.exp(-x) + 0.1 * x
            return new, new, new

        outputs, updates = scanned(step, 12, outputs_info=[a, None, None])
        return [a], [outputs[0][-1], outputs[1], outputs[2]], updates

    same(build, numbers(2500))


@pytest.mark.parametrize("n", [1, 16, 300, 5000])
def test_sequences_of_numbers_and_of_arrays(n):
    def build():
        c, s, a = at.dvector("c"), at.dmatrix("s"), at.dvector("a")
        outputs, updates = scanned(lambda ci, si, x: ci * x + at.switch(si > 0, si, at.tanh(si)), None, sequences=[c, s], outputs_info=[a])
        return [c, s, a], outputs, updates

    rng = np.random.default_rng(1)
    same(build, rng.normal(size=20), rng.normal(size=(20, n)), rng.normal(size=n))


@pytest.mark.parametrize("view", [
    lambda x: x[::2], lambda x: x[::-1], lambda x: np.asfortranarray(x), lambda x: x.T.copy().T, lambda x: np.broadcast_to(x[0], x.shape),
])
def test_inputs_that_do_not_lie_side_by_side(view):
    def build():
        a, b, s = at.dmatrix("a"), at.dmatrix("b"), at.dtensor3("s")
        outputs, updates = scanned(lambda si, x, b: 0.5 * x + b * si, None, sequences=[s], outputs_info=[a], non_sequences=[b])
        return [a, b, s], [outputs[0], outputs[0][-1]], updates

    rng = np.random.default_rng(2)
    a, s = rng.normal(size=(30, 70)), rng.normal(size=(9, 30, 70))
    shown = view(a)
    same(build, shown, shown, s[:, :shown.shape[0]][:, ::-1])


@pytest.mark.parametrize("shape", [(1, 1), (1, 700), (700, 1), (3, 500), (500, 3), (40, 50)])
def test_operands_that_broadcast(shape):
    def build():
        a, row, column, number = at.dmatrix("a"), at.dvector("row"), at.TensorType("float64", (False, True))("column"), at.dscalar("number")

        def step(x, row, column, number):
            narrow = at.exp(row * 0.1) + number
            return x * narrow + column * column, (row + column) * x

        outputs, updates = scanned(step, 8, outputs_info=[a, None], non_sequences=[row, column, number])
        return [a, row, column, number], [outputs[0][-1], outputs[1]], updates

    same(build, numbers(shape[0] * shape[1]).reshape(shape), numbers(shape[1]), numbers(shape[0]).reshape(-1, 1), 0.25)


def test_a_row_that_turns_is_not_cut_into_tiles():
    def build():
        a = at.dmatrix("a")
        outputs, updates = scanned(lambda x: 0.5 * x + 0.25 * x.T, 6, outputs_info=[a])
        return [a], outputs, updates

    same(build, numbers(900).reshape(30, 30), is_tiled=False)


@pytest.mark.parametrize("step", [
    lambda x: x / at.sum(x), lambda x: x[::-1] * 0.5, lambda x: at.cumsum(x) * 0.1, lambda x: at.concatenate([x[1:], x[:1]]),
], ids=["reduction", "reversal", "running", "rotation"])
def test_what_is_not_elementwise_runs_step_by_step(step):
    def build():
        a = at.dvector("a")
        outputs, updates = scanned(step, 20, outputs_info=[a])
        return [a], outputs, updates

    same(build, numbers(700), is_tiled=False)


def test_a_condition_ends_the_loop_where_it_did():
    def build():
        a, s = at.dvector("a"), at.dvector("s")
        outputs, updates = scanned(lambda si, x: (x * 1.5, pyscan.until(si > 6.0)), None, sequences=[s], outputs_info=[a])
        return [a, s], outputs, updates

    got = same(build, numbers(400), np.arange(30.0), is_tiled=False)
    assert len(got[0]) == 8


@pytest.mark.parametrize("divisor", [3, 0])
def test_whole_numbers_are_divided_step_by_step_and_refused_where_they_were(divisor):
    def build():
        a, d = at.lvector("a"), at.lvector("d")
        outputs, updates = scanned(lambda di, x: (x + 7) // di, None, sequences=[d], outputs_info=[a])
        return [a, d], outputs, updates

    divisors = np.full(12, 3)
    divisors[8] = divisor
    if divisor != 0:
        same(build, np.arange(500), divisors, is_tiled=False)
        return
    texts = []
    for block_steps in (0, 256):
        with pytest.raises(Exception) as caught:
            run(build, block_steps, np.arange(500), divisors)
        texts.append((type(root_cause(caught.value)), str(root_cause(caught.value))))
    assert texts[0] == texts[1] and issubclass(texts[0][0], ZeroDivisionError)


def test_lengths_that_disagree_are_refused_in_the_same_words():
    def build():
        a, b = at.dvector("a"), at.dvector("b")
        outputs, updates = scanned(lambda x, b: x + b, 5, outputs_info=[a], non_sequences=[b])
        return [a, b], outputs, updates

    texts = []
    for block_steps in (0, 256):
        with pytest.raises(Exception) as caught:
            run(build, block_steps, numbers(400), numbers(401))
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_shared_states_are_updated_and_the_next_call_goes_on_from_there():
    found = []
    for block_steps in (0, 256):
        state = pyscan.shared(numbers(1500))
        with pyscan.config.change_flags(scan__block_steps=block_steps):
            outputs, updates = scanned(lambda x: x * x * 0.9 + 0.05, 11, outputs_info=[state])
            fn = pyscan.function([], outputs[0][-3:], updates=[(state, outputs[0][-1])])
        found.append([fn().tobytes(), fn().tobytes(), state.get_value().tobytes()])
    assert found[0] == found[1]


def test_an_argument_is_not_written_over_and_one_function_serves_many_lengths():
    inputs, outputs, updates = power()()
    fn = pyscan.function(inputs, outputs, updates=updates)
    for n in [3, 4000, 0, 17, 2500, 1]:
        a = numbers(n)
        kept = a.copy()
        np.testing.assert_allclose(fn(a)[0], kept**10, rtol=1e-13)
        np.testing.assert_array_equal(a, kept)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_modes_agree(mode):
    same(power(), numbers(3000), mode=mode)


def test_an_interrupt_leaves_states_as_they_were(ctrl_c):
    before = numbers(20_000)
    state = pyscan.shared(before)
    outputs, updates = scanned(lambda x: at.sin(x) + at.cos(x * 0.5), 100_000_000, outputs_info=[state])
    fn = pyscan.function([], [], updates=[(state, outputs[0][-1])])
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    started = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        fn()
    assert time.monotonic() - started < 30
    np.testing.assert_array_equal(state.get_value(), before)


REPEATED = {
    "product": lambda x, b: x * b, "product from the left": lambda x, b: b * x, "sum": lambda x, b: x + b, "difference": lambda x, b: x - b,
    "difference from": lambda x, b: b - x, "quotient": lambda x, b: x / b, "quotient of": lambda x, b: b / x,
}


@pytest.mark.parametrize("name", REPEATED)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_steps, kept", [(2, 1), (3, 2), (4, 1), (9, 3), (500, 1)])
def test_one_operation_over_and_over_gives_what_steps_give(name, dtype, n_steps, kept):
    def build():
        a, b = at.TensorType(dtype, (False,))("a"), at.TensorType(dtype, (False,))("b")
        outputs, updates = scanned(REPEATED[name], n_steps, outputs_info=[a], non_sequences=[b])
        return [a, b], [outputs[0][-kept:]], updates

    b = numbers(2100, dtype, 0.97, 1.03)
    a = numbers(2100, dtype, -2, 2)
    a[5:9] = np.inf, -0.0, np.nan, 0
    same(build, a, b)
    same(build, a[:33], b[:99:3])
    same(build, a[::-3], np.broadcast_to(b[:1], (700,)))


def test_one_operation_with_a_number_and_on_an_older_row():
    def build():
        a, start = at.dvector("a"), at.dmatrix("start")
        doubled, _ = scanned(lambda x: x * 0.75, 40, outputs_info=[a])
        older, _ = scanned(lambda x: x - 0.5, 40, outputs_info=[{"initial": start, "taps": [-2]}])
        return [a, start], [doubled[0][-1], older[0][-1], older[0][-3:]], {}

    same(build, numbers(600), numbers(1200).reshape(2, 600))


# What is read of the rows, and whether it is the last alone.
READS = {
    "last": lambda rows: [rows[-1]],
    "last twice": lambda rows: [rows[-1], rows[-1] + 1],
    "last of the later": lambda rows: [rows[1:][-1]],
    "part of the last": lambda rows: [rows[-1, 3:]],
    "last but one": lambda rows: [rows[-1], rows[-2]],
    "first of the later": lambda rows: [rows[1:][0], rows[-1]],
    "every other": lambda rows: [rows[::2][-1], rows[-1]],
    "all": lambda rows: [rows[-1], rows],
    "sum": lambda rows: [rows[-1], rows.sum(axis=0)],
}


@pytest.mark.parametrize("n_steps", [2, 3, 10])
@pytest.mark.parametrize("taps", [[-1], [-2, -1], [-3]])
@pytest.mark.parametrize("read", READS)
def test_rows_that_nobody_reads_are_missed_by_nobody(read, taps, n_steps):
    past = -min(taps)

    def build():
        start, a = at.dmatrix("start"), at.dvector("a")
        initial = {"initial": start[0] if past == 1 else start, "taps": taps}
        for one in (True, False):  # an operation that is repeated at once, and more of them
            if one and len(taps) > 1:
                continue
            outputs, updates = scanned(lambda *p: p[0] * p[-1] if one else p[0] * p[-1] - p[-2], n_steps, outputs_info=[initial], non_sequences=[a])
            yield [start, a], READS[read](outputs[0]), updates

    for form in build():
        same(lambda form=form: form, np.stack([numbers(3000, start=-row) for row in range(1, past + 1)]), numbers(3000))


def test_rows_read_by_another_loop_are_stored():
    def build():
        a = at.dvector("a")
        (rows,), _ = scanned(lambda p, a: p * a, 6, outputs_info=[a], non_sequences=[a])
        (sums,), updates = scanned(lambda row, s: s + row, None, sequences=[rows], outputs_info=[at.zeros_like(a)])
        return [a], [rows[-1], sums[-1]], updates

    same(build, numbers(3000))
