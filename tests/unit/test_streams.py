"""Generators in compiled functions: NumPy's own numbers, who owns which state, and what remains after a failure."""
import gc
import sys
import threading

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core
from pyscan.errors import PyscanWarning

BIT_GENERATORS = [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64]


def state_of(generator):
    """The state in a form that compares: arrays as lists."""
    def plain(value):
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        return value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(generator, np.random.RandomState):
        return plain(generator.get_state(legacy=False))
    return plain(generator.bit_generator.state)


def draw(rng, *params, op=None, **kwargs):
    """The draw and the next state's variable."""
    node = (op or at.random.normal)(*params, rng=rng, **kwargs).owner
    return node.outputs[1], node.outputs[0]


def both_modes(test):
    return pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])(test)


# -- numbers and states ------------------------------------------------------------------------------------------------

@both_modes
@pytest.mark.parametrize("make", BIT_GENERATORS, ids=lambda c: c.__name__)
def test_every_bit_generator_gives_numpys_numbers_and_final_state(make, mode):
    rng = pyscan.shared(np.random.Generator(make(7)))
    value, following = draw(rng, 1.0, 2.0, size=5)
    f = pyscan.function([], value, updates={rng: following}, mode=mode)
    own = np.random.Generator(make(7))
    for _ in range(3):
        np.testing.assert_array_equal(f(), own.normal(1.0, 2.0, 5))
    assert state_of(rng.get_value()) == state_of(own)


@both_modes
@pytest.mark.parametrize("make", BIT_GENERATORS, ids=lambda c: c.__name__)
def test_a_half_used_word_is_part_of_the_state(make, mode):
    """integers of 32 bits leave half a word behind in some generators."""
    generator = np.random.Generator(make(7))
    generator.integers(0, 2**31, 3, dtype=np.uint32)
    rng = pyscan.shared(generator)
    value, following = draw(rng, 0, 100, op=at.random.integers, size=4)
    f = pyscan.function([], value, updates={rng: following}, mode=mode)
    np.testing.assert_array_equal(f(), generator.integers(0, 100, 4))
    assert state_of(rng.get_value()) == state_of(generator)


class OwnBits(np.random.PCG64):
    """A bit generator class whose layout nobody verified."""


class OwnGenerator(np.random.Generator):
    """A generator that shifts its normals."""

    def normal(self, loc=0.0, scale=1.0, size=None):
        return super().normal(loc, scale, size) + 100


@both_modes
@pytest.mark.parametrize("in_loop", [False, True])
@pytest.mark.parametrize("make", [
    lambda: np.random.Generator(OwnBits(3)),
    lambda: OwnGenerator(np.random.PCG64(3)),
    lambda: np.random.RandomState(3),
], ids=["bit generator", "generator", "RandomState"])
def test_subclasses_and_legacy_generators_draw_by_their_own_methods(make, in_loop, mode):
    own = make()
    rng = pyscan.shared(make())
    if in_loop:
        def step():
            value, following = draw(rng, 1.0, 2.0)
            return value, {rng: following}
        value, updates = pyscan.scan(step, n_steps=3)
    else:
        value, following = draw(rng, 1.0, 2.0, size=3)
        updates = {rng: following}
    f = pyscan.function([], value, updates=updates, mode=mode)
    for _ in range(2):
        want = [float(own.normal(1.0, 2.0)) for _ in range(3)] if in_loop else own.normal(1.0, 2.0, 3)
        np.testing.assert_array_equal(f(), want)
    assert state_of(rng.get_value()) == state_of(own)


def test_a_generator_without_update_does_not_move():
    generator = np.random.default_rng(5)
    rng = pyscan.shared(generator, borrow=True)
    before = state_of(generator)
    f = pyscan.function([], draw(rng)[0])
    assert f() == f() == np.random.default_rng(5).normal()
    assert state_of(generator) == before


def test_the_shared_object_stays_the_same_when_it_worked_in_place():
    generator = np.random.default_rng(5)
    rng = pyscan.shared(generator, borrow=True)
    value, following = draw(rng)
    pyscan.function([], value, updates={rng: following}, mode="FAST_RUN")()
    assert rng.get_value(borrow=True) is generator


@pytest.mark.parametrize("with_update, copies", [(True, 0), (False, 1)])
@pytest.mark.parametrize("n_steps", [1, 10, 1000])
def test_a_loop_copies_a_generator_once_a_call_and_only_without_update(with_update, copies, n_steps):
    stream = at.random.RandomStream(23)
    value, updates = pyscan.scan(lambda: stream.normal(), n_steps=at.as_tensor_variable(n_steps) + at.lscalar("more"), strict=False)
    more = [v for v in pyscan.graph.graph_inputs([value]) if v.name == "more"]
    f = pyscan.function(more, value, updates=updates if with_update else None, mode="FAST_RUN", no_default_updates=not with_update)
    f(0)
    assert f.counters["generator_copies"] == copies and f.counters["scratch_copies"] == 0
    assert f.counters["steps"] == n_steps


def test_a_generator_as_an_output_is_a_copy():
    rng = pyscan.shared(np.random.default_rng(5))
    value, following = draw(rng)
    f = pyscan.function([], [value, following], updates={rng: following})
    _, first = f()
    assert first is not rng.get_value(borrow=True)
    assert state_of(first) == state_of(rng.get_value())
    first.normal(size=10)
    own = np.random.default_rng(5)
    own.normal()
    assert f()[0] == own.normal()


@pytest.mark.parametrize("make", [
    *[lambda c=c: np.random.Generator(c(9)) for c in BIT_GENERATORS],
    lambda: np.random.Generator(OwnBits(9)),
    lambda: OwnGenerator(np.random.PCG64(9)),
    lambda: np.random.RandomState(9),
], ids=[*[c.__name__ for c in BIT_GENERATORS], "own bits", "own generator", "RandomState"])
def test_a_copied_generator_has_class_and_state_and_is_independent(make):
    generator = make()
    generator.normal(size=3)
    copy = _core.copy_generator(generator)
    assert type(copy) is type(generator) and state_of(copy) == state_of(generator)
    np.testing.assert_array_equal(copy.normal(size=700), generator.normal(size=700))
    generator.normal()
    assert state_of(copy) != state_of(generator)


@pytest.mark.parametrize("value", [None, 3, np.random.PCG64(1)], ids=["None", "int", "bit generator"])
def test_only_generators_are_copied(value):
    with pytest.raises(TypeError, match="Generator or RandomState is expected"):
        _core.copy_generator(value)


def test_copies_keep_the_seed_sequence_and_its_spawn_count():
    generator = np.random.default_rng(5)
    generator.bit_generator.seed_seq.spawn(3)
    rng = pyscan.shared(generator, borrow=True)
    value, following = draw(rng)
    copy = pyscan.function([], following)()
    seeds = copy.bit_generator.seed_seq
    assert seeds is not generator.bit_generator.seed_seq
    assert (seeds.entropy, seeds.n_children_spawned) == (5, 3)


# -- several containers ------------------------------------------------------------------------------------------------

@both_modes
def test_two_containers_on_one_bit_generator_see_the_same_state(mode):
    bits = np.random.PCG64(11)
    a = pyscan.shared(np.random.Generator(bits), borrow=True)
    b = pyscan.shared(np.random.Generator(bits), borrow=True)
    x, next_a = draw(a, size=2)
    y, next_b = draw(b, size=2)
    f = pyscan.function([], [x, y], updates=[(a, next_a), (b, next_b)], mode=mode)
    own = np.random.default_rng(11)
    want = own.normal(size=2)
    first, second = f()
    np.testing.assert_array_equal(first, want)
    np.testing.assert_array_equal(second, want)
    assert state_of(a.get_value()) == state_of(b.get_value()) == state_of(own)
    assert a.get_value(borrow=True).bit_generator is not b.get_value(borrow=True).bit_generator


def test_the_copy_for_the_second_container_is_counted():
    bits = np.random.PCG64(11)
    a, b = (pyscan.shared(np.random.Generator(bits), borrow=True) for _ in range(2))
    x, next_a = draw(a)
    y, _ = draw(b)
    f = pyscan.function([], [x, y], updates={a: next_a}, mode="FAST_RUN")
    f()
    assert f.counters["generator_copies"] == 1


@both_modes
def test_updates_that_swap_generators_swap_the_states(mode):
    a, b = pyscan.shared(np.random.default_rng(1)), pyscan.shared(np.random.default_rng(2))
    x, next_a = draw(a)
    y, next_b = draw(b)
    f = pyscan.function([], [x, y], updates=[(a, next_b), (b, next_a)], mode=mode)
    f()
    one, two = np.random.default_rng(1), np.random.default_rng(2)
    one.normal(), two.normal()
    assert state_of(a.get_value()) == state_of(two) and state_of(b.get_value()) == state_of(one)
    assert a.get_value(borrow=True) is not b.get_value(borrow=True)
    assert f() == [two.normal(), one.normal()]


@both_modes
def test_one_new_state_for_two_containers_becomes_two_objects(mode):
    a, b = pyscan.shared(np.random.default_rng(1)), pyscan.shared(np.random.default_rng(2))
    x, next_a = draw(a)
    f = pyscan.function([], x, updates=[(a, next_a), (b, next_a)], mode=mode)
    f()
    own = np.random.default_rng(1)
    own.normal()
    assert state_of(a.get_value()) == state_of(b.get_value()) == state_of(own)
    a.get_value(borrow=True).normal()
    assert state_of(b.get_value()) == state_of(own)


@both_modes
def test_a_container_may_get_another_ones_unmoved_generator(mode):
    a, b = pyscan.shared(np.random.default_rng(1)), pyscan.shared(np.random.default_rng(2))
    pyscan.function([], [], updates=[(a, b)], mode=mode)()
    assert state_of(a.get_value()) == state_of(b.get_value()) == state_of(np.random.default_rng(2))
    assert a.get_value(borrow=True).bit_generator is not b.get_value(borrow=True).bit_generator


@both_modes
def test_a_generator_of_another_class_can_be_stored(mode):
    a, b = pyscan.shared(np.random.default_rng(1)), pyscan.shared(np.random.Generator(np.random.MT19937(2)))
    y, next_b = draw(b)
    pyscan.function([], y, updates=[(a, next_b), (b, next_b)], mode=mode)()
    own = np.random.Generator(np.random.MT19937(2))
    own.normal()
    assert state_of(a.get_value()) == state_of(b.get_value()) == state_of(own)


# -- all or nothing ----------------------------------------------------------------------------------------------------

@both_modes
@pytest.mark.parametrize("make", [
    *[lambda c=c: np.random.Generator(c(9)) for c in BIT_GENERATORS],
    lambda: np.random.Generator(OwnBits(9)),
    lambda: np.random.RandomState(9),
], ids=[*[c.__name__ for c in BIT_GENERATORS], "own", "RandomState"])
def test_a_failed_call_puts_the_generator_back(make, mode):
    rng = pyscan.shared(make())
    before = state_of(rng.get_value())
    held = rng.get_value(borrow=True)
    scales = at.dvector("scales")

    def step(scale):
        value, following = draw(rng, 0.0, scale)
        return value, {rng: following}

    out, updates = pyscan.scan(step, sequences=[scales])
    f = pyscan.function([scales], out, updates=updates, mode=mode)
    with pytest.raises(ValueError, match="scale < 0"):
        f(np.array([1.0, 1.0, -1.0]))
    assert rng.get_value(borrow=True) is held and state_of(held) == before
    own = make()
    np.testing.assert_array_equal(f(np.ones(3)), [float(own.normal(0.0, 1.0)) for _ in range(3)])


@pytest.mark.parametrize("value", [None, 3, np.zeros(2), object()], ids=["None", "int", "array", "object"])
def test_a_cell_without_a_generator_is_a_type_error(value):
    rng = pyscan.shared(np.random.default_rng(5))
    drawn, following = draw(rng)
    f = pyscan.function([], drawn, updates={rng: following})
    rng.container.storage[0] = value
    with pytest.raises(TypeError, match="Generator or RandomState is expected"):
        f()


# -- others who use the generator --------------------------------------------------------------------------------------

class Hook(_core.Op):
    """Hands its input through and runs a function of the user's."""

    def __init__(self, hook):
        super().__init__()
        self.hook = hook

    def make_node(self, x):
        return _core.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        self.hook()
        output_storage[0][0] = inputs[0]


def function_with_hook(rng, hook, mode="FAST_RUN"):
    first, middle = draw(rng)
    value, following = draw(middle, Hook(hook)(first))
    return pyscan.function([], value, updates={rng: following}, mode=mode)


def test_locks_are_free_during_call_backs():
    generator = np.random.default_rng(3)
    rng, seen = pyscan.shared(generator, borrow=True, name="noise"), []

    def look():
        free = generator.bit_generator.lock.acquire(blocking=False)
        seen.append(free)
        if free:
            generator.bit_generator.lock.release()

    function_with_hook(rng, look)()
    assert seen == [True]


def test_a_generator_that_somebody_moves_meanwhile_is_a_runtime_error():
    generator = np.random.default_rng(3)
    rng = pyscan.shared(generator, borrow=True, name="noise")
    f = function_with_hook(rng, lambda: generator.normal())
    with pytest.raises(RuntimeError, match="generator noise was drawn from by somebody else while the function was running"):
        f()
    assert state_of(generator) == state_of(np.random.default_rng(3))


def test_a_re_entrant_call_on_one_generator_is_a_runtime_error():
    rng = pyscan.shared(np.random.default_rng(3), name="noise")
    value, following = draw(rng)
    other = pyscan.function([], value, updates={rng: following})
    f = function_with_hook(rng, lambda: other())
    with pytest.raises(RuntimeError, match="generator noise is in use"):
        f()
    assert state_of(rng.get_value()) == state_of(np.random.default_rng(3))
    other()  # free again


def test_another_threads_call_waits_for_the_generator():
    rng = pyscan.shared(np.random.default_rng(3))
    value, following = draw(rng)
    other = pyscan.function([], value, updates={rng: following})
    results, entered = [], threading.Event()
    thread = threading.Thread(target=lambda: (entered.set(), results.append(float(other()))))

    def start_the_other():
        thread.start()
        entered.wait(10)
        thread.join(0.05)  # it must still be waiting
        results.append("first")

    f = function_with_hook(rng, start_the_other)
    f()
    thread.join(10)
    assert not thread.is_alive()
    own = np.random.default_rng(3)
    own.normal(own.normal())
    assert results == ["first", own.normal()]


def test_two_threads_that_want_each_others_generator_do_not_wait_for_ever():
    a, b = (pyscan.shared(np.random.default_rng(seed), name=f"rng{seed}") for seed in (1, 2))
    both_inside, outcomes = threading.Barrier(2), []

    def plain(rng):
        value, following = draw(rng)
        return pyscan.function([], value, updates={rng: following})

    def nested(own, other):
        inner = plain(other)
        return function_with_hook(own, lambda: (both_inside.wait(10), inner()))

    def run(f):
        try:
            f()
            outcomes.append("done")
        except RuntimeError as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=run, args=(f,), daemon=True) for f in (nested(a, b), nested(b, a))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)
    assert sorted(["waits, in turn" in text for text in outcomes]) == [False, True] and "done" in outcomes


@both_modes
@pytest.mark.parametrize("make", [lambda: np.random.default_rng(1), lambda: np.random.Generator(OwnBits(1)), lambda: np.random.RandomState(1)],
                         ids=["PCG64", "own", "RandomState"])
def test_repeated_calls_keep_no_generator_and_no_block(make, mode):
    rng, fixed = pyscan.shared(make()), pyscan.shared(make())

    def step():
        value, middle = draw(rng)
        following, more = OwnDraw().make_node(middle).outputs
        return value + more + draw(fixed)[0], {rng: following}

    with pytest.warns(PyscanWarning):  # of the draw on `fixed`
        out, updates = pyscan.scan(step, n_steps=3)
    f = pyscan.function([], out, updates=updates, mode=mode)
    for _ in range(3):
        f()

    def counted():
        gc.collect()
        alive = sum(isinstance(thing, (np.random.Generator, np.random.RandomState)) for thing in gc.get_objects())
        return _core.mem_blocks_alive(), sys.getrefcount(fixed.get_value(borrow=True)), alive

    before = counted()
    for _ in range(10):
        f()
    assert counted() == before


def test_threads_share_one_stream_without_losing_a_draw():
    stream = at.random.RandomStream(3)
    f = pyscan.function([], stream.normal())
    drawn, n = [], 200

    def work():
        for _ in range(n):
            drawn.append(float(f()))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    own = np.random.default_rng(np.random.SeedSequence(3).spawn(1)[0])
    assert sorted(drawn) == sorted(own.normal(size=3 * n))


def in_threads(*works):
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)


def test_threads_lose_no_update_of_a_shared_value_beside_the_draws():
    stream, state, n = at.random.RandomStream(3), pyscan.shared(0.0), 50
    path, updates = pyscan.scan(lambda x: x + stream.normal(), outputs_info=[state], n_steps=40)
    f, ends = pyscan.function([], path[-1], updates={**updates, state: path[-1]}), []
    in_threads(*[lambda: ends.extend(float(f()) for _ in range(n))] * 3)
    own = np.random.default_rng(np.random.SeedSequence(3).spawn(1)[0])
    np.testing.assert_allclose(sorted(ends), sorted(own.normal(size=3 * n * 40).cumsum()[39::40]), rtol=1e-9, atol=1e-9)


def test_threads_lose_no_update_in_long_runs_of_several_functions():
    count, n = pyscan.shared(0), at.lscalar("n")
    last = pyscan.scan(lambda x: x * 0.5 + 1.0, outputs_info=[at.zeros(())], n_steps=n)[0][-1]
    functions = [pyscan.function([n], last * k, updates={count: count + 1}) for k in range(3)]
    in_threads(*[lambda f=f: [f(200_000) for _ in range(5)] for f in functions])
    assert count.get_value() == 15


def test_a_call_that_waited_draws_from_the_generator_that_the_cell_has_then():
    rng = pyscan.shared(np.random.default_rng(3))
    value, following = draw(rng)
    other, results, entered = pyscan.function([], value, updates={rng: following}), [], threading.Event()
    thread = threading.Thread(target=lambda: (entered.set(), results.append(float(other()))), daemon=True)

    def replace_the_generator():
        thread.start()
        entered.wait(10)
        thread.join(0.05)  # it waits
        rng.set_value(np.random.default_rng(4))

    function_with_hook(rng, replace_the_generator)()
    thread.join(10)
    assert results == [np.random.default_rng(4).normal()]


def test_two_threads_that_update_what_the_others_call_updates_do_not_wait_for_ever():
    both_inside, values = threading.Barrier(2), [pyscan.shared(0.0), pyscan.shared(0.0)]

    def nested(own, other):
        inner = pyscan.function([], [], updates={other: other + 1.0})
        hook = Hook(lambda: (both_inside.wait(10), inner()))
        return pyscan.function([], [], updates={own: hook(own + 10.0)})

    in_threads(nested(*values), nested(*values[::-1]))
    assert all(value.get_value() in (10.0, 11.0) for value in values)


# -- generators in call-backs ------------------------------------------------------------------------------------------

class OwnDraw(_core.Op):
    """A user's random Op: the next generator and a uniform draw."""

    def __init__(self, inplace=False):
        super().__init__()
        if inplace:
            self.destroy_map = {0: [0]}
        self.inplace = inplace

    def make_node(self, rng):
        return _core.Apply(self, [rng], [rng.type(), at.dscalar()])

    def perform(self, node, inputs, output_storage):
        (rng,) = inputs
        output_storage[1][0] = np.asarray(rng.random())
        output_storage[0][0] = rng


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("make", [np.random.PCG64, OwnBits], ids=["layout", "no layout"])
def test_a_users_random_op_moves_the_stream(inplace, make):
    rng = pyscan.shared(np.random.Generator(make(8)))
    following, value = OwnDraw(inplace).make_node(rng).outputs
    f = pyscan.function([], value, updates={rng: following}, accept_inplace=True)
    own = np.random.Generator(make(8))
    assert [float(f()) for _ in range(3)] == [own.random() for _ in range(3)]
    assert state_of(rng.get_value()) == state_of(own)


@pytest.mark.parametrize("make", [np.random.PCG64, OwnBits], ids=["layout", "no layout"])
def test_a_users_random_op_in_a_loop_moves_the_stream_step_by_step(make):
    rng = pyscan.shared(np.random.Generator(make(8)))

    def step():
        following, value = OwnDraw().make_node(rng).outputs
        return value, {rng: following}

    out, updates = pyscan.scan(step, n_steps=20)
    f = pyscan.function([], out, updates=updates)
    own = np.random.Generator(make(8))
    for _ in range(2):
        np.testing.assert_array_equal(f(), [own.random() for _ in range(20)])
    assert state_of(rng.get_value()) == state_of(own)
