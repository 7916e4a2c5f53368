"""How many steps a loop runs: none, one, a negative number, in every mode alike."""
import numpy as np
import pytest

import pyscan
import pyscan.tensor as at

MODES = ("FAST_RUN", "FAST_COMPILE")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", ["state", "path", "computed", "nested"])
def test_a_negative_number_of_steps_is_reported_with_the_number_and_changes_nothing(mode, form):
    n, stream = at.lscalar("n"), at.random.RandomStream(1)
    if form == "nested":
        def step(x):
            inner, updates = pyscan.scan(lambda y: y + stream.normal(), outputs_info=[x], n_steps=n)
            return inner[-1], updates
        out, updates = pyscan.scan(step, outputs_info=[at.constant(np.float64(0))], n_steps=2)
    elif form == "path":
        out, updates = pyscan.scan(lambda: stream.normal(), n_steps=n)
    else:
        steps = n if form == "state" else n * 2
        out, updates = pyscan.scan(lambda x: x + stream.normal(), outputs_info=[at.constant(np.float64(0))], n_steps=steps)
    f = pyscan.function([n], out, updates=updates, mode=mode)
    (rng,) = updates
    before = rng.get_value().bit_generator.state
    number = -6 if form == "computed" else -3
    with pytest.raises(IndexError, match=f"Scan was asked to run for negative number of step {number}"):
        f(-3)
    assert rng.get_value().bit_generator.state == before
    assert len(f(2)) > 0


@pytest.mark.parametrize("mode", MODES)
def test_no_steps_leave_generators_and_states_as_they_are(mode):
    n, stream, x0 = at.lscalar("n"), at.random.RandomStream(1), at.dvector("x0")
    total = pyscan.shared(np.zeros(2), name="total")

    def step(x):
        new = x + stream.normal(size=(2,))
        return [new, stream.uniform(size=(2, 3))], {total: total + new}

    (xs, us), updates = pyscan.scan(step, outputs_info=[x0, None], n_steps=n)
    f = pyscan.function([x0, n], [xs, us], updates=updates, mode=mode)
    rngs = [v for v in updates if v is not total]
    before = [r.get_value().bit_generator.state for r in rngs]
    states, draws = f(np.ones(2), 0)
    assert states.shape == (0, 2) and draws.shape == (0, 0, 0)
    assert [r.get_value().bit_generator.state for r in rngs] == before
    np.testing.assert_array_equal(total.get_value(), np.zeros(2))
    states, draws = f(np.ones(2), 3)
    assert states.shape == (3, 2) and draws.shape == (3, 2, 3)


@pytest.mark.parametrize("mode", MODES)
def test_the_last_of_no_steps_is_an_index_error(mode):
    n, x0 = at.lscalar("n"), at.dscalar("x0")
    xs, _ = pyscan.scan(lambda x: x * 2.0, outputs_info=[x0], n_steps=n)
    f = pyscan.function([x0, n], xs[-1], mode=mode)
    assert f(1.0, 3) == 8.0
    with pytest.raises(IndexError):
        f(1.0, 0)
