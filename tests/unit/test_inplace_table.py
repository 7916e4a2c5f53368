"""Who draws in place, at top level and in loops: what the Op says, what NumPy would have drawn, and how often a generator is copied.

The rows at top level are Aesara's own outcomes; those of loops are what the rules for loops ask: in place inside, always; the
shared generator itself when there is an update for it, one copy a call when there is none.
"""
import copy

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan.errors import PyscanWarning
from pyscan.tensor.random import RandomStream

SEED = 3
N = 4


def numpy_rng(seed=SEED):
    return np.random.default_rng(seed)


def stream_rng(seed, k=0):
    return np.random.default_rng(np.random.SeedSequence(seed).spawn(k + 1)[k])


def shared_rng(seed=SEED, **kwargs):
    return pyscan.shared(numpy_rng(seed), name="rng", **kwargs)


def normal(rng, loc=0.0):
    """(draw, next state)"""
    node = at.random.normal(loc, 1.0, rng=rng).owner
    return node.outputs[1], node.outputs[0]


def random_nodes(fgraph):
    return [node for node in fgraph.toposort() if getattr(node.op, "kind", None) == "random"]


def scan_nodes(fgraph):
    return [node for node in fgraph.toposort() if getattr(node.op, "kind", None) == "scan"]


def flags(f):
    """Of the draws at top level, in the order in which they run."""
    return [node.op.inplace for node in random_nodes(f.maker.fgraph)]


def inner_flags(f):
    """Of the draws in bodies, nested ones included."""
    found, graphs = [], [node.op.compiled_fgraph for node in scan_nodes(f.maker.fgraph)]
    while graphs:
        graph = graphs.pop(0)
        found += [node.op.inplace for node in random_nodes(graph)]
        graphs += [node.op.compiled_fgraph for node in scan_nodes(graph)]
    return found


def state_of(generator):
    return generator.bit_generator.state


def same_state(shared, generator):
    return state_of(shared.get_value(borrow=True)) == state_of(generator)


def copies(f):
    return f.counters["generator_copies"]


# At top level


def test_a_stream_variable_is_in_place():
    f = pyscan.function([], RandomStream(SEED).normal())
    expected = stream_rng(SEED)
    assert flags(f) == [True]
    assert [f() for _ in range(3)] == [expected.normal() for _ in range(3)]
    assert copies(f) == 0


def test_a_stream_variable_without_default_updates_is_a_copy():
    f = pyscan.function([], RandomStream(SEED).normal(), no_default_updates=True)
    first = stream_rng(SEED).normal()
    assert flags(f) == [False]
    assert [f(), f()] == [first, first]


def test_a_shared_generator_with_an_update_is_in_place_and_stays_one_object():
    rng = shared_rng()
    holder = rng.get_value(borrow=True)
    draw, state = normal(rng)
    f = pyscan.function([], draw, updates={rng: state})
    expected = numpy_rng()
    assert flags(f) == [True]
    assert [f(), f()] == [expected.normal(), expected.normal()]
    assert rng.get_value(borrow=True) is holder
    assert same_state(rng, expected)


def test_a_shared_generator_without_update_is_a_copy_and_does_not_move():
    rng = shared_rng()
    f = pyscan.function([], normal(rng)[0])
    first = numpy_rng().normal()
    assert flags(f) == [False]
    assert [f(), f()] == [first, first]
    assert same_state(rng, numpy_rng())


def test_a_generator_given_as_an_argument_is_not_moved():
    rng = shared_rng().type("r")
    f = pyscan.function([rng], normal(rng)[0])
    generator = numpy_rng()
    assert flags(f) == [False]
    assert f(generator) == f(generator) == numpy_rng().normal()
    assert state_of(generator) == state_of(numpy_rng())


def test_a_generator_given_as_a_mutable_argument_is_moved():
    rng = shared_rng().type("r")
    f = pyscan.function([pyscan.In(rng, mutable=True)], normal(rng)[0])
    generator, expected = numpy_rng(), numpy_rng()
    assert flags(f) == [True]
    assert [f(generator), f(generator)] == [expected.normal(), expected.normal()]


def test_fast_compile_draws_from_copies_and_gives_the_same_numbers():
    f = pyscan.function([], RandomStream(SEED).normal(), mode="FAST_COMPILE")
    expected = stream_rng(SEED)
    assert flags(f) == [False]
    assert [f() for _ in range(3)] == [expected.normal() for _ in range(3)]


def test_a_chain_on_one_generator_is_in_place_throughout():
    rng = shared_rng()
    a, state = normal(rng)
    b = at.random.uniform(0.0, 1.0, rng=state)
    f = pyscan.function([], [a, b], updates={rng: b.owner.outputs[0]})
    expected = numpy_rng()
    assert flags(f) == [True, True]
    for _ in range(2):
        assert f() == [expected.normal(), expected.uniform()]


@pytest.mark.parametrize("feeds", [0, 1])
def test_of_two_readers_of_one_state_the_one_that_feeds_the_update_is_in_place_and_last(feeds):
    rng = shared_rng()
    a, b = normal(rng), normal(rng, 10.0)
    f = pyscan.function([], [a[0], b[0]], updates={rng: (a, b)[feeds][1]})
    expected = numpy_rng()
    assert flags(f) == [False, True]
    for _ in range(2):
        z = expected.normal()
        assert f() == [z, 10.0 + z]


def test_a_generator_that_is_itself_an_output_is_not_advanced():
    rng = shared_rng()
    draw, state = normal(rng)
    f = pyscan.function([], [draw, rng], updates={rng: state})
    value, given = f()
    assert flags(f) == [False]
    assert value == numpy_rng().normal()
    assert state_of(given) == state_of(numpy_rng())


def test_two_equal_calls_are_one_draw():
    rng = shared_rng()
    (a, state), (b, _) = normal(rng), normal(rng)
    f = pyscan.function([], [a, b], updates={rng: state})
    assert len(flags(f)) == 1
    first = numpy_rng().normal()
    assert f() == [first, first]


def test_a_borrowed_generator_moves():
    generator = numpy_rng()
    rng = shared_rng(borrow=False)
    borrowed = pyscan.shared(generator, borrow=True)
    draw, state = normal(borrowed)
    f = pyscan.function([], draw, updates={borrowed: state})
    expected = numpy_rng()
    assert f() == expected.normal()
    assert state_of(generator) == state_of(expected)
    assert same_state(rng, numpy_rng())


# In loops


def draws(rng, n_steps=N, loc=0.0):
    """(path, state after the loop) of a loop that draws once a step and hands the state on."""
    path, updates = pyscan.scan(lambda r: (normal(r, loc)[0], {r: normal(r, loc)[1]}), non_sequences=[rng], n_steps=n_steps)
    return path, updates[rng]


@pytest.mark.parametrize("n_steps", [2, 10, 1000])
def test_a_loop_with_an_update_works_on_the_shared_generator_itself(n_steps):
    rng = shared_rng()
    holder = rng.get_value(borrow=True)
    path, state = draws(rng, n_steps)
    f = pyscan.function([], path, updates={rng: state})
    expected = numpy_rng()
    assert inner_flags(f) == [True]
    for _ in range(2):
        assert f().tobytes() == expected.normal(size=n_steps).tobytes()
        assert copies(f) == 0
    assert rng.get_value(borrow=True) is holder
    assert same_state(rng, expected)


@pytest.mark.parametrize("n_steps", [2, 10, 1000])
def test_a_loop_without_update_works_on_one_copy_and_the_shared_generator_does_not_move(n_steps):
    rng = shared_rng()
    path, _ = draws(rng, n_steps)
    f = pyscan.function([], path)
    assert inner_flags(f) == [True]
    for _ in range(2):
        assert f().tobytes() == numpy_rng().normal(size=n_steps).tobytes()
        assert copies(f) == 1
    assert same_state(rng, numpy_rng())
    assert any("Trying to destroy a protected variable" in error for _, _, error in f.maker.fgraph.vetoes)


def test_a_loop_of_no_steps_leaves_the_generator():
    rng = shared_rng()
    n = at.lscalar("n")
    path, state = draws(rng, n)
    f = pyscan.function([n], path, updates={rng: state})
    assert f(0).shape == (0,)
    assert same_state(rng, numpy_rng())
    assert f(2).tobytes() == numpy_rng().normal(size=2).tobytes()


def test_fast_compile_draws_in_loops_from_copies_and_gives_the_same_numbers():
    rng = shared_rng()
    path, state = draws(rng)
    f = pyscan.function([], path, updates={rng: state}, mode="FAST_COMPILE")
    expected = numpy_rng()
    assert inner_flags(f) == [False]
    for _ in range(2):
        assert f().tobytes() == expected.normal(size=N).tobytes()
    assert same_state(rng, expected)


@pytest.mark.parametrize("feeds", [0, 1])
def test_of_two_loops_on_one_generator_the_one_that_feeds_the_update_takes_it(feeds):
    rng = shared_rng()
    loops = [draws(rng, N, 0.0), draws(rng, N, 10.0)]
    f = pyscan.function([], [loops[0][0], loops[1][0]], updates={rng: loops[feeds][1]})
    first, last = scan_nodes(f.maker.fgraph)
    assert last.outputs[0] is f.maker.fgraph.outputs[feeds]
    assert inner_flags(f) == [True, True]
    expected = numpy_rng()
    for _ in range(2):
        both = [copy.deepcopy(expected).normal(loc, 1.0, N).tobytes() for loc in (0.0, 10.0)]
        expected.normal(size=N)
        assert [path.tobytes() for path in f()] == both
        assert copies(f) == 1
    assert same_state(rng, expected)


def test_two_loops_on_one_generator_without_update_take_a_copy_each():
    rng = shared_rng()
    loops = [draws(rng, N, 0.0), draws(rng, N, 10.0)]
    f = pyscan.function([], [path for path, _ in loops])
    both = [numpy_rng().normal(loc, 1.0, N).tobytes() for loc in (0.0, 10.0)]
    for _ in range(2):
        assert [path.tobytes() for path in f()] == both
        assert copies(f) == 2
    assert same_state(rng, numpy_rng())


def carried(state, n_steps=N, loc=0.0):
    """(path, state) of a loop that has the generator's state as a recurrent output."""
    (path, state), _ = pyscan.scan(lambda r: list(normal(r, loc)), outputs_info=[None, state], n_steps=n_steps)
    return path, state


def test_a_generator_handed_on_from_loop_to_loop_is_never_copied():
    rng = shared_rng()
    paths, state = [], rng
    for k in range(3):
        path, state = carried(state, N, float(k))
        paths.append(path)
    f = pyscan.function([], paths, updates={rng: state})
    expected = numpy_rng()
    assert inner_flags(f) == [True] * 3
    for _ in range(2):
        assert [path.tobytes() for path in f()] == [expected.normal(float(k), 1.0, N).tobytes() for k in range(3)]
        assert copies(f) == 0
    assert same_state(rng, expected)


def test_a_draw_before_the_loop_on_the_same_generator_is_in_place_too():
    rng = shared_rng()
    z, state = normal(rng)
    path, state = carried(state)
    f = pyscan.function([], [z, path], updates={rng: state})
    expected = numpy_rng()
    assert flags(f) == inner_flags(f) == [True]
    for _ in range(2):
        value, drawn = f()
        assert value == expected.normal()
        assert drawn.tobytes() == expected.normal(size=N).tobytes()
        assert copies(f) == 0


@pytest.mark.parametrize("loop_feeds", [True, False])
def test_a_draw_and_a_loop_that_read_one_state_draw_the_same_numbers(loop_feeds):
    rng = shared_rng()
    z, draw_state = normal(rng, 5.0)
    path, loop_state = draws(rng)
    f = pyscan.function([], [z, path], updates={rng: loop_state if loop_feeds else draw_state})
    assert flags(f) == [not loop_feeds]
    assert inner_flags(f) == [True]
    expected = numpy_rng()
    for _ in range(2):
        ahead = copy.deepcopy(expected).normal(size=N)
        value, drawn = f()
        assert value == 5.0 + ahead[0]
        assert drawn.tobytes() == ahead.tobytes()
        expected.normal(size=N if loop_feeds else 1)
    assert same_state(rng, expected)


def test_two_draws_from_one_state_in_a_body_the_one_that_is_carried_is_in_place():
    rng = shared_rng()

    def step(r):
        (a, _), (b, state) = normal(r, 10.0), normal(r)
        return (a, b), {r: state}

    (a, b), updates = pyscan.scan(step, non_sequences=[rng], n_steps=N)
    f = pyscan.function([], [a, b], updates=updates)
    expected = numpy_rng()
    assert sorted(inner_flags(f)) == [False, True]
    for _ in range(2):
        z = expected.normal(size=N)
        first, second = f()
        assert second.tobytes() == z.tobytes()
        assert first.tolist() == [10.0 + value for value in z]
        assert copies(f) == 0


def test_a_generator_that_the_loop_does_not_carry_starts_each_step_anew():
    rng = shared_rng()
    with pytest.warns(PyscanWarning):
        path, updates = pyscan.scan(lambda: normal(rng)[0], n_steps=N)
    f = pyscan.function([], path, updates=updates)
    assert inner_flags(f) in ([], [False])
    assert f().tolist() == [numpy_rng().normal()] * N
    assert same_state(rng, numpy_rng())


def test_draws_of_a_nested_loop_are_in_place_and_never_copied():
    srng = RandomStream(15)
    path, updates = pyscan.scan(lambda: pyscan.scan(lambda: srng.normal(), n_steps=2), n_steps=3)
    f = pyscan.function([], path, updates=updates)
    expected = stream_rng(15)
    assert inner_flags(f) == [True]
    for _ in range(2):
        assert f().tobytes() == expected.normal(size=(3, 2)).tobytes()
        assert copies(f) == 0
    ((rng, _),) = updates.items()
    assert same_state(rng, expected)


def test_a_nested_loop_without_update_takes_one_copy_a_call():
    srng = RandomStream(15)
    path, _ = pyscan.scan(lambda: pyscan.scan(lambda: srng.normal(), n_steps=2), n_steps=3)
    f = pyscan.function([], path)
    for _ in range(2):
        assert f().tobytes() == stream_rng(15).normal(size=(3, 2)).tobytes()
        assert copies(f) == 1


def test_a_loop_that_stops_early_leaves_the_generator_where_it_stopped():
    srng = RandomStream(SEED)
    from pyscan.scan import until

    path, updates = pyscan.scan(lambda: ((lambda z: (z, until(z > 1.0)))(srng.normal())), n_steps=1000)
    f = pyscan.function([], path, updates=updates)
    expected = stream_rng(SEED)
    for _ in range(3):
        drawn = []
        while not drawn or drawn[-1] <= 1.0:
            drawn.append(expected.normal())
        assert f().tolist() == drawn
    ((rng, _),) = updates.items()
    assert same_state(rng, expected)


def test_modes_give_the_same_numbers_and_states():
    def results(mode):
        srng = RandomStream(7)
        x0 = at.dscalar("x0")
        (x, y), updates = pyscan.scan(
            lambda x: (0.5 * x + srng.normal(), srng.uniform(0.0, at.abs(x) + 1.0)), outputs_info=[x0, None], n_steps=6
        )
        f = pyscan.function([x0], [x, y[-2:]], updates=updates, mode=mode)
        values = [value.tobytes() for _ in range(2) for value in f(1.0)]
        return values, [str(state_of(rng.get_value())) for rng in updates]

    fast = results("FAST_RUN")
    for mode in ("FAST_COMPILE", pyscan.Mode("py", None), pyscan.Mode().excluding("inplace")):
        assert results(mode) == fast
