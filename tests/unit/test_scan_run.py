"""Loops as users run them: what the forms of states, closures and shorthands compute, in every mode alike."""
import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan._reference import ReferenceFunction
from pyscan.ifelse import ifelse
from pyscan.scan import foldl, foldr, scan, scan_checkpoints, until

MODES = ("FAST_RUN", "FAST_COMPILE")
X = np.array([1.0, 2.0, 3.0])


@pytest.fixture(params=MODES)
def mode(request):
    return request.param


def shared_rng(seed=3):
    return pyscan.shared(np.random.default_rng(seed), name="rng")


@pytest.mark.parametrize("rows", [0, 1, 2])
@pytest.mark.parametrize("part", ["path", "last"])
def test_a_state_that_starts_with_too_few_rows_is_an_error_in_every_mode(mode, rows, part):
    v, n = at.dvector("v"), at.lscalar("n")
    xs, _ = scan(lambda a, b: a + b, outputs_info=[{"initial": v, "taps": [-3, -1]}], n_steps=n)
    out = xs if part == "path" else xs[-1]
    f, twin = pyscan.function([v, n], out, mode=mode), ReferenceFunction([v, n], [out])
    np.testing.assert_array_equal(f(X, 2), twin(X, 2)[0])
    for run in (f, twin):
        with pytest.raises(ValueError, match=f"the initial state of recurrent output 0 has {rows} rows, but its taps need 3"):
            run(X[:rows], 2)
    assert len(np.atleast_1d(f(X, 2)))


def test_the_initial_state_may_have_more_rows_than_are_read(mode):
    v = at.dvector("v")
    xs, _ = scan(lambda a, b: a + b, outputs_info=[{"initial": v, "taps": [-2, -1]}], n_steps=3)
    np.testing.assert_array_equal(pyscan.function([v], xs, mode=mode)(X), [3.0, 5.0, 8.0])


def test_a_buffer_made_by_hand_is_taken_as_it_is(mode):
    v = at.dvector("v")
    body = scan(lambda a, b: a + b, outputs_info=[{"initial": v, "taps": [-2, -1]}], n_steps=2)[0].owner.inputs[0].owner.op
    buffer = at.set_subtensor(at.zeros(4, dtype="float64")[:1], v[:1])
    path = body(at.constant(2), buffer)
    np.testing.assert_array_equal(pyscan.function([v], path, mode=mode)(X), [1.0, 0.0, 1.0, 1.0])


@pytest.mark.parametrize("n_steps", [0, 1, 4])
def test_a_generator_as_a_state_hands_on_its_last_state_and_moves_no_shared_one(mode, n_steps):
    rng, n = shared_rng(), at.lscalar("n")

    def step(rng_):
        next_rng, eps = at.random.normal(rng=rng_).owner.outputs
        return eps, next_rng

    (xs, last), updates = scan(step, outputs_info=[None, rng], n_steps=n)
    f = pyscan.function([n], [xs, last], mode=mode)
    for _ in range(2):
        draws, end = f(n_steps)
        ref = np.random.default_rng(3)
        np.testing.assert_array_equal(draws, ref.normal(size=n_steps))
        assert end.bit_generator.state == ref.bit_generator.state
    assert rng.get_value().bit_generator.state == np.random.default_rng(3).bit_generator.state
    assert not updates


def test_a_loosened_state_keeps_its_rows_or_is_refused_when_they_grow(mode):
    w = at.dvector("w")
    xs, _ = scan(lambda x, w: x + w, outputs_info=[at.zeros(1, dtype="float64")], non_sequences=[w], n_steps=2)
    f = pyscan.function([w], xs, mode=mode)
    np.testing.assert_array_equal(f(X[:1]), [[1.0], [2.0]])
    with pytest.raises(ValueError):
        f(X)
    np.testing.assert_array_equal(f(X[:1]), [[1.0], [2.0]])


def test_what_an_update_or_the_condition_alone_uses_is_found(mode):
    bound, rate, cnt = at.dscalar("bound"), at.dscalar("rate"), pyscan.shared(0.0, name="cnt")
    xs, updates = scan(lambda x: (x + 1.0, {cnt: cnt + rate}, until(x > bound)), outputs_info=[at.constant(np.float64(0))], n_steps=9)
    f = pyscan.function([bound, rate], xs, updates=updates, mode=mode)
    np.testing.assert_array_equal(f(2.0, 0.5), [1.0, 2.0, 3.0, 4.0])
    assert cnt.get_value() == 2.0


def test_one_step_forwards_and_backwards_is_the_loop_of_one_step(mode):
    x, n = at.dvector("x"), at.lscalar("n")
    for backwards in (False, True):
        outs = [scan(lambda a: a * 2, sequences=[x], n_steps=k, go_backwards=backwards)[0] for k in (1, n)]
        constant, symbolic = pyscan.function([x, n], outs, mode=mode)(X, 1)
        np.testing.assert_array_equal(constant, symbolic)


def test_the_folds_and_checkpoints(mode):
    x, A, zero = at.dvector("x"), at.dvector("A"), at.constant(np.float64(0))
    folds = [fold(lambda a, s: a + 2 * s, [x], [zero])[0] for fold in (foldl, foldr)]
    assert [float(v) for v in pyscan.function([x], folds, mode=mode)(X)] == [11.0, 17.0]
    powers, _ = scan_checkpoints(lambda p, A: p * A, outputs_info=[at.ones_like(A)], non_sequences=[A], n_steps=6, save_every_N=2)
    np.testing.assert_array_equal(pyscan.function([A], powers, mode=mode)([2.0, 3.0]), [[4, 9], [16, 81], [64, 729]])


def test_checkpoints_of_a_sequence_whose_length_is_no_multiple(mode):
    x = at.dvector("x")
    sums, _ = scan_checkpoints(lambda a, s: s + a, sequences=[x], outputs_info=[at.constant(np.float64(0))], save_every_N=2)
    np.testing.assert_array_equal(pyscan.function([x], sums, mode=mode)(np.arange(5.0)), [1.0, 6.0, 10.0])


def test_ifelse_takes_one_value_or_list(mode):
    c, x, y = at.lscalar("c"), at.dvector("x"), at.dvector("y")
    single, (a, b) = ifelse(c, x, y), ifelse(c, [x, y], [y, x], name="swap")
    assert str(single.owner.op) == "if{}" and str(a.owner.op) == "if{swap}"
    f = pyscan.function([c, x, y], [single, a, b], mode=mode)
    for flag, (one, other) in ((1, (X, -X)), (0, (-X, X))):
        for got, want in zip(f(flag, X, -X), (one, one, other)):
            np.testing.assert_array_equal(got, want)
    with pytest.raises(TypeError, match="requires compatible ndim"):
        ifelse(c, x, at.dscalar())
    with pytest.raises(ValueError, match="must match the `else` branch: got 2 for `then`, and 1 for `else`"):
        ifelse(c, [x, y], [x])
