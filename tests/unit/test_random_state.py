"""numpy.random.RandomState in compiled functions: its second Gaussian is part of the state wherever the state goes."""
import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core

from .test_streams import Hook, both_modes, draw, function_with_hook, state_of

BITS = pytest.mark.parametrize("bits", [np.random.MT19937, np.random.PCG64], ids=lambda c: c.__name__)


def make_state(bits=np.random.MT19937, seed=3, with_gauss=True):
    """A RandomState with or without a second Gaussian left over."""
    state = np.random.RandomState(bits(seed))
    if with_gauss:
        state.standard_normal()
    return state


def twin_of(state):
    twin = np.random.RandomState(type(state._bit_generator)(0))
    twin.set_state(state.get_state(legacy=False))
    return twin


def normals(rng, n, mode=None, updates=True):
    value, following = draw(rng, size=n)
    return pyscan.function([], value, updates={rng: following} if updates else None, mode=mode)


def loop(rng, n, mode=None, updates=True):
    def step():
        value, following = draw(rng)
        return value, {rng: following}

    out, following = pyscan.scan(step, n_steps=n)
    return pyscan.function([], out, updates=following if updates else None, mode=mode)


@both_modes
@BITS
@pytest.mark.parametrize("with_gauss", [False, True])
@pytest.mark.parametrize("make", [normals, loop])
def test_a_pair_of_gaussians_may_be_split_between_calls(make, with_gauss, bits, mode):
    own = make_state(bits, with_gauss=with_gauss)
    rng = pyscan.shared(own)
    functions = [make(rng, n, mode) for n in (1, 2, 3)]
    for i in (0, 1, 2, 0, 0, 2, 1):
        np.testing.assert_array_equal(functions[i](), own.normal(size=i + 1))
        assert state_of(rng.get_value()) == state_of(own)


@both_modes
@BITS
@pytest.mark.parametrize("make", [normals, loop])
def test_a_second_gaussian_stays_where_there_is_no_update(make, bits, mode):
    rng = pyscan.shared(make_state(bits))
    before = state_of(rng.get_value())
    f = make(rng, 3, mode, updates=False)
    for _ in range(2):
        np.testing.assert_array_equal(f(), make_state(bits).normal(size=3))
        assert state_of(rng.get_value(borrow=True)) == before


@both_modes
@BITS
def test_set_value_between_calls_brings_its_own_second_gaussian(bits, mode):
    rng = pyscan.shared(make_state(bits))
    f = normals(rng, 1, mode)
    f(), f(), f()
    own = make_state(bits, seed=8)
    rng.set_value(own)
    np.testing.assert_array_equal([f() for _ in range(4)], [own.normal(size=1) for _ in range(4)])
    assert state_of(rng.get_value()) == state_of(own)
    rng.get_value().normal()  # a copy
    assert state_of(rng.get_value()) == state_of(own)


@both_modes
@pytest.mark.parametrize("with_gauss", [False, True])
def test_an_error_at_a_later_step_puts_the_second_gaussian_back(with_gauss, mode):
    held = make_state(with_gauss=with_gauss)
    rng, scales = pyscan.shared(held, borrow=True), at.dvector("scales")

    def step(scale):
        value, following = draw(rng, 0.0, scale)
        return value, {rng: following}

    out, updates = pyscan.scan(step, sequences=[scales])
    f = pyscan.function([scales], out, updates=updates, mode=mode)
    before = state_of(held)
    for n in (1, 2, 5):
        with pytest.raises(ValueError, match="scale < 0"):
            f(np.array([1.0] * n + [-1.0]))
        assert rng.get_value(borrow=True) is held and state_of(held) == before


@pytest.mark.parametrize("with_gauss", [False, True])
def test_a_call_back_is_given_the_second_gaussian_and_what_it_leaves_goes_on(with_gauss):
    class Polar(_core.Op):
        """Draws from the RandomState that it is given, and hands it on."""

        destroy_map = {0: [0]}

        def make_node(self, rng):
            return _core.Apply(self, [rng], [rng.type(), at.dscalar()])

        def perform(self, node, inputs, output_storage):
            (rng,) = inputs
            output_storage[0][0] = rng
            output_storage[1][0] = np.asarray(rng.standard_normal())

    own = make_state(with_gauss=with_gauss)
    rng = pyscan.shared(own)
    first, middle = draw(rng)
    behind, second = Polar().make_node(middle).outputs
    third, following = draw(behind)
    f = pyscan.function([], [first, second, third], updates={rng: following}, accept_inplace=True)
    for _ in range(3):
        np.testing.assert_array_equal(f(), [own.standard_normal() for _ in range(3)])
        assert state_of(rng.get_value()) == state_of(own)


def test_an_op_that_does_not_write_gets_a_copy_with_the_second_gaussian():
    class Look(_core.Op):
        def make_node(self, rng):
            return _core.Apply(self, [rng], [rng.type(), at.dscalar()])

        def perform(self, node, inputs, output_storage):
            output_storage[1][0] = np.asarray(inputs[0].standard_normal())
            output_storage[0][0] = inputs[0]

    own = make_state(with_gauss=False)
    rng = pyscan.shared(own)
    first, middle = draw(rng)
    behind, second = Look().make_node(middle).outputs
    f = pyscan.function([], [first, second, draw(middle)[0], draw(behind)[0]], updates={rng: middle})
    wanted = [own.standard_normal()]
    after = twin_of(own)
    wanted += [after.standard_normal()] * 2 + [after.standard_normal()]
    np.testing.assert_array_equal(f(), wanted)
    assert state_of(rng.get_value()) == state_of(own)


def test_somebody_who_takes_only_the_second_gaussian_meanwhile_is_noticed():
    state = make_state(with_gauss=False)
    before = state_of(state)
    rng = pyscan.shared(state, borrow=True, name="noise")
    f = function_with_hook(rng, lambda: state.standard_normal())  # no word of the bit generator moves
    with pytest.raises(RuntimeError, match="generator noise was drawn from by somebody else while the function was running"):
        f()
    assert state_of(state) == before


def test_states_that_change_places_take_their_second_gaussians_with_them():
    a, b = (pyscan.shared(make_state(seed=seed, with_gauss=seed == 1)) for seed in (1, 2))
    twins = [make_state(seed=seed, with_gauss=seed == 1) for seed in (1, 2)]

    def step():
        x, next_a = draw(a)
        y, next_b = draw(b)
        return x, y, {a: next_b, b: next_a}

    def both():
        x, y, updates = step()
        return [x, y], updates

    out, updates = pyscan.scan(both, n_steps=3)
    f = pyscan.function([], out, updates=updates)
    wanted = []
    for _ in range(3):
        wanted.append([twin.standard_normal() for twin in twins])
        twins.reverse()
    np.testing.assert_array_equal(np.transpose(f()), wanted)
    assert [state_of(v.get_value()) for v in (a, b)] == [state_of(twin) for twin in twins]


@both_modes
@pytest.mark.parametrize("make", [np.random.Generator, np.random.RandomState])
@pytest.mark.parametrize("other_first", [False, True])
def test_a_random_state_keeps_its_own_gaussian_beside_others_on_its_bit_generator(make, other_first, mode):
    state = make_state(np.random.PCG64)
    beside = make(state._bit_generator)
    rng, fixed = pyscan.shared(state, borrow=True), pyscan.shared(beside, borrow=True)
    twin, twin_beside = make_state(np.random.PCG64), make(twin_of(state)._bit_generator)
    (x, following), y = draw(rng, size=3), draw(fixed, size=3)[0]
    f = pyscan.function([], [y, x] if other_first else [x, y], updates={rng: following}, mode=mode)
    values = f()[::-1] if other_first else f()
    np.testing.assert_array_equal(values, [twin.normal(size=3), twin_beside.normal(size=3)])
    assert state_of(state) == state_of(twin)


class Shifted(np.random.RandomState):
    """A subclass with a method of its own."""

    def normal(self, loc=0.0, scale=1.0, size=None):
        return super().normal(loc, scale, size) + 100


@both_modes
@pytest.mark.parametrize("make", [normals, loop])
def test_a_subclass_is_drawn_by_its_own_methods(make, mode):
    own, rng = Shifted(3), pyscan.shared(Shifted(3))
    f = make(rng, 3, mode)
    for _ in range(2):
        np.testing.assert_array_equal(f(), own.normal(size=3))
    assert state_of(rng.get_value()) == state_of(own)


def test_repeated_hooks_see_the_state_between_draws():
    state = make_state()
    rng, seen = pyscan.shared(state, borrow=True), []
    first, middle = draw(rng)
    second, following = draw(middle, Hook(lambda: seen.append(state_of(state)))(first))
    pyscan.function([], second, updates={rng: following}, mode="FAST_RUN")()
    twin = make_state()
    twin.normal()
    assert seen == [state_of(twin)]
