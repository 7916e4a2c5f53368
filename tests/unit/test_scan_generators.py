"""A generator as a state that the step hands on, as PyTensor 3 has it: same numbers, in place, one copy at most in a call."""
import warnings

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan.errors import PyscanWarning
from pyscan.ifelse import ifelse
from pyscan.scan import foldl, reduce, scan, scan_checkpoints, until

RANDOM = at.random

MAKERS = {
    "PCG64": lambda: np.random.default_rng(3),
    "MT19937": lambda: np.random.Generator(np.random.MT19937(3)),
    "RandomState": lambda: np.random.RandomState(3),
    "RandomState on Philox": lambda: np.random.RandomState(np.random.Philox(3)),
}


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error", PyscanWarning)
        yield


def moved(draw):
    """The next state of a draw's generator."""
    return draw.owner.outputs[0]


def step(rng):
    x = RANDOM.normal(0, 1, rng=rng)
    return [x.owner.outputs[0], x]


def state_of(rng):
    return rng.bit_generator.state if isinstance(rng, np.random.Generator) else rng.get_state(legacy=False)


def assert_same_state(rng, ref):
    assert type(rng) is type(ref)
    assert RANDOM.random_generator_type.values_eq(state_of(rng), state_of(ref))


def assert_in_place(f, copies, n_draws):
    """Every draw of the function is in place, in the program that is printed, in what explain says, and in what the call counts."""
    text = pyscan.printing.debugprint(f, file="str")
    assert "_rv{" in text and "False}" not in text
    told = str(pyscan.explain(f))
    draws = [line for line in told.splitlines() if line.startswith("random variable")]
    assert len(draws) == n_draws and all(line.endswith(": in place") for line in draws), told
    assert f.counters["generator_copies"] == copies and f.counters["scratch_copies"] == 0


# One generator


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", pyscan.Mode("py", None)])
@pytest.mark.parametrize("maker", MAKERS)
def test_without_an_update_the_loop_works_on_one_copy(maker, mode):
    rng = pyscan.shared(MAKERS[maker](), name="rng")
    (last, xs), updates = scan(step, outputs_info=[rng, None], n_steps=5)
    assert not updates and last.type == rng.type
    f = pyscan.function([], [xs, last], mode=mode)
    for _ in range(2):
        draws, end = f()
        ref = MAKERS[maker]()
        np.testing.assert_array_equal(draws, ref.normal(size=5))
        assert_same_state(end, ref)
    assert_same_state(rng.get_value(), MAKERS[maker]())
    if mode == "FAST_RUN":
        assert_in_place(f, 1, 1)


@pytest.mark.parametrize("maker", MAKERS)
def test_the_last_state_is_an_update_that_copies_nothing(maker):
    rng, n = pyscan.shared(MAKERS[maker](), name="rng", borrow=True), at.lscalar("n")
    held = rng.get_value(borrow=True)
    (last, xs), _ = scan(step, outputs_info=[rng, None], n_steps=n)
    f = pyscan.function([n], xs, updates={rng: last})
    ref = MAKERS[maker]()
    for n_steps in (5, 0, 3, 1):
        np.testing.assert_array_equal(f(n_steps), ref.normal(size=n_steps))
        assert_same_state(rng.get_value(), ref)
    assert rng.get_value(borrow=True) is held
    assert_in_place(f, 0, 1)


def test_one_step_is_no_loop_and_moves_the_generator_all_the_same():
    rng = pyscan.shared(np.random.default_rng(3))
    (last, xs), _ = scan(step, outputs_info=[rng, None], n_steps=1)
    f = pyscan.function([], xs, updates={rng: last})
    assert [f().tolist(), f().tolist()] == np.random.default_rng(3).normal(size=(2, 1)).tolist()
    assert_in_place(f, 0, 1)


def test_the_last_state_as_an_output_beside_the_update_is_a_copy_of_its_own():
    rng = pyscan.shared(np.random.default_rng(3), borrow=True)
    (last, xs), _ = scan(step, outputs_info=[rng, None], n_steps=2)
    f = pyscan.function([], [xs, last], updates={rng: last})
    _, end = f()
    assert end is not rng.get_value(borrow=True)
    assert_same_state(end, rng.get_value())
    end.normal()
    assert f()[0].tolist() == np.random.default_rng(3).normal(size=4)[2:].tolist()


def test_an_argument_is_copied_once_and_a_mutable_one_is_moved():
    g = RANDOM.rng("g")
    (last, xs), _ = scan(step, outputs_info=[g, None], n_steps=3)
    given = np.random.default_rng(3)
    f = pyscan.function([g], xs)
    assert f(given).tolist() == f(given).tolist() == np.random.default_rng(3).normal(size=3).tolist()
    assert_in_place(f, 1, 1)
    h = pyscan.function([pyscan.In(g, mutable=True)], xs)
    assert h(given).tolist() == np.random.default_rng(3).normal(size=3).tolist()
    assert_in_place(h, 0, 1)
    ref = np.random.default_rng(3)
    ref.normal(size=3)
    assert_same_state(given, ref)


def test_an_input_with_an_update_keeps_the_generator_between_calls():
    g = RANDOM.rng("g")
    (last, xs), _ = scan(step, outputs_info=[g, None], n_steps=3)
    f = pyscan.function([pyscan.In(g, value=np.random.default_rng(3), update=last)], xs)
    assert [f().tolist(), f().tolist()] == np.random.default_rng(3).normal(size=(2, 3)).tolist()


def test_a_loop_that_stops_leaves_the_generator_behind_its_last_step():
    rng = pyscan.shared(np.random.default_rng(3))

    def stopping(g):
        last, x = step(g)
        return [last, x], until(x < -1)

    (last, xs), _ = scan(stopping, outputs_info=[rng, None], n_steps=50)
    f = pyscan.function([], xs, updates={rng: last})
    ref = np.random.default_rng(3)
    for _ in range(4):
        expected = [ref.normal()]
        while expected[-1] >= -1 and len(expected) < 50:
            expected.append(ref.normal())
        assert f().tolist() == expected
        assert_same_state(rng.get_value(), ref)
    assert_in_place(f, 0, 1)


def test_a_call_that_fails_leaves_the_generator_where_it_was():
    rng, scales = pyscan.shared(np.random.default_rng(3)), at.dvector("scales")

    def scaled(scale, g):
        x = RANDOM.normal(0, scale, rng=g)
        return [moved(x), x]

    (last, xs), _ = scan(scaled, sequences=[scales], outputs_info=[rng, None])
    f = pyscan.function([scales], xs, updates={rng: last})
    with pytest.raises(ValueError, match="scale < 0"):
        f([1.0, 2.0, -1.0])
    assert_same_state(rng.get_value(), np.random.default_rng(3))
    assert f([1.0, 1.0]).tolist() == np.random.default_rng(3).normal(size=2).tolist()


# Several generators, several draws


def test_two_generators_of_two_classes_and_a_chain_of_draws():
    a, b = pyscan.shared(np.random.default_rng(3), name="a"), pyscan.shared(np.random.RandomState(4), name="b")

    def both(g, h):
        x, y = RANDOM.normal(rng=g), RANDOM.uniform(1.0, 2.0, rng=h)
        z, k = RANDOM.normal(x, y, rng=moved(x)), RANDOM.poisson(y, rng=moved(y))
        return [moved(z), moved(k), z, k]

    (last_a, last_b, zs, ks), _ = scan(both, outputs_info=[a, b, None, None], n_steps=4)
    f = pyscan.function([], [zs, ks], updates={a: last_a, b: last_b})
    g, h = np.random.default_rng(3), np.random.RandomState(4)
    for _ in range(2):
        drawn, counted = f()
        for z, k in zip(drawn, counted):
            x, y = g.normal(), h.uniform(1.0, 2.0)
            assert (z, k) == (g.normal(x, y), h.poisson(y))
        assert_same_state(a.get_value(), g)
        assert_same_state(b.get_value(), h)
    assert_in_place(f, 0, 4)


@pytest.mark.parametrize("n_steps", [0, 1, 2, 5])
def test_generators_that_change_places_from_step_to_step(n_steps):
    a, b, n = pyscan.shared(np.random.default_rng(3)), pyscan.shared(np.random.default_rng(4)), at.lscalar("n")

    def swap(g, h):
        x, y = RANDOM.normal(rng=g), RANDOM.exponential(rng=h)
        return [moved(y), moved(x), x, y]

    (last_a, last_b, xs, ys), _ = scan(swap, outputs_info=[a, b, None, None], n_steps=n)
    f = pyscan.function([n], [xs, ys], updates={a: last_a, b: last_b})
    g, h = np.random.default_rng(3), np.random.default_rng(4)
    for _ in range(3):
        for x, y in zip(*f(n_steps)):
            assert (x, y) == (g.normal(), h.exponential())
            g, h = h, g
        assert_same_state(a.get_value(), g)
        assert_same_state(b.get_value(), h)


def test_a_second_reader_of_one_state_draws_on_words_of_its_own():
    rng = pyscan.shared(np.random.default_rng(3))

    def twice(g):
        x, y = RANDOM.normal(rng=g), RANDOM.uniform(rng=g)
        return [moved(y), x, y]

    (last, xs, ys), _ = scan(twice, outputs_info=[rng, None, None], n_steps=3)
    f = pyscan.function([], [xs, ys], updates={rng: last})
    g = np.random.default_rng(3)
    for x, y in zip(*f()):
        other = np.random.Generator(np.random.PCG64())
        other.bit_generator.state = g.bit_generator.state
        assert (x, y) == (other.normal(), g.uniform())
    assert f.counters["generator_copies"] == 0 and f.counters["scratch_copies"] == 3


def test_a_draw_with_a_size_and_parameters_of_the_state():
    rng, x0 = pyscan.shared(np.random.default_rng(3)), at.dvector("x0")

    def walk(g, x):
        last, eps = g.normal(0.0, 0.5, size=x.shape)
        return [last, x + eps]

    (last, xs), _ = scan(walk, outputs_info=[rng, x0], n_steps=3)
    f = pyscan.function([x0], xs, updates={rng: last})
    g, start = np.random.default_rng(3), np.arange(4.0)
    np.testing.assert_array_equal(f(start), start + np.cumsum([g.normal(0.0, 0.5, 4) for _ in range(3)], axis=0))
    assert_in_place(f, 0, 1)


# Loops in loops, and after one another


def test_an_inner_loop_hands_its_last_state_to_the_outer_one():
    rng = pyscan.shared(np.random.default_rng(3), name="rng")

    def outer(g):
        (last, xs), updates = scan(step, outputs_info=[g, None], n_steps=2)
        assert not updates
        y = RANDOM.uniform(rng=last)
        return [moved(y), xs, y]

    (last, xs, ys), _ = scan(outer, outputs_info=[rng, None, None], n_steps=3)
    f = pyscan.function([], [xs, ys], updates={rng: last})
    g = np.random.default_rng(3)
    for _ in range(2):
        for row, y in zip(*f()):
            assert row.tolist() == g.normal(size=2).tolist() and y == g.uniform()
        assert_same_state(rng.get_value(), g)
    assert_in_place(f, 0, 2)


def test_an_inner_loop_that_stops_hands_on_the_state_behind_its_last_step():
    a, b = pyscan.shared(np.random.default_rng(3), name="a"), pyscan.shared(np.random.RandomState(4), name="b")

    def inner(g):
        last, x = step(g)
        return [last, x], until(x > 0.5)

    def outer(g, h, total):
        (last, xs), _ = scan(inner, outputs_info=[g, None], n_steps=20)
        y = RANDOM.uniform(rng=h)
        return [last, moved(y), total + xs[-1] + y, xs.shape[0]]

    zero = at.constant(0.0, dtype="float64")
    (last_a, last_b, totals, counts), _ = scan(outer, outputs_info=[a, b, zero, None], n_steps=6)
    f = pyscan.function([], [totals, counts], updates={a: last_a, b: last_b})
    g, h = np.random.default_rng(3), np.random.RandomState(4)
    for _ in range(3):
        total, rows = 0.0, []
        for _ in range(6):
            n_drawn, x = 0, 0.0
            while n_drawn < 20 and not x > 0.5:
                n_drawn, x = n_drawn + 1, g.normal()
            total = total + x + h.uniform()
            rows.append((total, n_drawn))
        assert list(zip(*(v.tolist() for v in f()))) == rows
        assert_same_state(a.get_value(), g)
        assert_same_state(b.get_value(), h)
    assert_in_place(f, 0, 2)


def test_loops_after_one_another_pass_one_object_on():
    rng = pyscan.shared(np.random.default_rng(3), name="rng", borrow=True)
    held = rng.get_value(borrow=True)
    (middle, xs), _ = scan(step, outputs_info=[rng, None], n_steps=2)
    (late, ys), _ = scan(step, outputs_info=[middle, None], n_steps=3)
    z = RANDOM.uniform(rng=late)
    f = pyscan.function([], [xs, ys, z], updates={rng: moved(z)})
    g = np.random.default_rng(3)
    drawn = f()
    assert [v.tolist() for v in drawn] == [g.normal(size=2).tolist(), g.normal(size=3).tolist(), g.uniform()]
    assert rng.get_value(borrow=True) is held
    assert_same_state(held, g)
    assert_in_place(f, 0, 3)


def test_reductions_and_checkpoints_give_the_last_state():
    def add(a, g, total):
        last, eps = g.normal(a)
        return [last, total + eps]

    zero = at.constant(0.0, dtype="float64")
    expected = np.random.default_rng(3)
    total = sum([expected.normal(a) for a in range(3)], 0.0)
    for fold in (foldl, reduce):
        rng = pyscan.shared(np.random.default_rng(3))
        (last, value), _ = fold(add, [at.arange(3.0)], [rng, zero])
        assert pyscan.function([], value, updates={rng: last})() == total
        assert_same_state(rng.get_value(), expected)
    rng = pyscan.shared(np.random.default_rng(3))
    (last, xs), _ = scan_checkpoints(lambda g, x: list(g.normal(x)), outputs_info=[rng, zero], n_steps=6, save_every_N=2)
    drawn = pyscan.function([], xs, updates={rng: last})()
    g, x, path = np.random.default_rng(3), 0.0, []
    for _ in range(6):
        path.append(x := g.normal(x))
    assert drawn.tolist() == path[1::2]
    assert_same_state(rng.get_value(), g)


# What is taken for a generator


@pytest.mark.parametrize(("give", "ref"), [
    (lambda: np.random.default_rng(7), lambda: np.random.default_rng(7)),
    (lambda: np.random.RandomState(7), lambda: np.random.RandomState(7)),
    (lambda: np.random.Philox(7), lambda: np.random.Generator(np.random.Philox(7))),
    (lambda: np.random.SeedSequence(7), lambda: np.random.default_rng(7)),
    (lambda: RANDOM.default_rng(7), lambda: np.random.default_rng(7)),
    (lambda: RANDOM.default_rng(np.random.SeedSequence(7)), lambda: np.random.default_rng(7)),
    (lambda: RANDOM.shared_rng(seed=7), lambda: np.random.default_rng(7)),
])
def test_generators_of_every_kind_are_states_and_stay_where_they_are(give, ref):
    expected = ref().normal(size=3).tolist()
    for given in (give(), {"initial": give()}):
        (_, xs), _ = scan(step, outputs_info=[given, None], n_steps=3)
        f = pyscan.function([], xs)
        assert f().tolist() == f().tolist() == expected
    given = give()
    scan(step, outputs_info=[given, None], n_steps=3)[0][1].eval()
    if isinstance(given, (np.random.Generator, np.random.RandomState)):
        assert_same_state(given, ref())


def test_numpys_generators_as_non_sequences_repeat_and_are_told_of():
    with pytest.warns(PyscanWarning, match="repeats in every step"):
        xs, _ = scan(lambda g: RANDOM.normal(rng=g), non_sequences=[np.random.default_rng(7)], n_steps=2)
    assert xs.eval().tolist() == [np.random.default_rng(7).normal()] * 2


def test_numpys_generators_as_branches_givens_updates_and_values():
    flag, g = at.bscalar("flag"), RANDOM.rng("g")
    last, x = g.normal()
    chosen = pyscan.function([flag], RANDOM.normal(rng=ifelse(flag, np.random.default_rng(1), np.random.SeedSequence(2))))
    assert [chosen(1), chosen(0), chosen(1)] == [np.random.default_rng(seed).normal() for seed in (1, 2, 1)]
    given = pyscan.function([], x, givens={g: np.random.default_rng(1)})
    assert given() == given() == x.eval({g: np.random.default_rng(1)}) == np.random.default_rng(1).normal()
    rng = RANDOM.shared_rng(seed=1)
    f = pyscan.function([], rng.normal()[1], updates={rng: np.random.default_rng(2)})
    assert [f(), f(), f()] == [np.random.default_rng(seed).normal() for seed in (1, 2, 2)]


@pytest.mark.parametrize("handed_on", [
    lambda g: [(x := RANDOM.normal(rng=g)), moved(x)],
    lambda g: [x := RANDOM.normal(rng=g), x],
    lambda g: [moved(x := RANDOM.normal(rng=np.random.RandomState(1))), x],
])
def test_a_step_that_hands_on_no_generator_of_the_class_is_refused(handed_on):
    rng = RANDOM.shared_rng(seed=3, name="rng")
    with pytest.raises(TypeError, match=r"^The state outputs_info\[0\] \(rng\) is a generator \(RandomGeneratorType\), but output 0 of `fn`"):
        scan(handed_on, outputs_info=[rng, None], n_steps=2)


@pytest.mark.parametrize("taps", [[-2], [-2, -1], (-1,)])
def test_a_generator_takes_no_taps(taps):
    with pytest.raises(TypeError, match=r"^outputs_info\[0\] is a generator: .* got \[-"):
        scan(step, outputs_info=[{"initial": np.random.default_rng(3), "taps": taps}, None], n_steps=2)


def test_a_number_is_a_state_and_no_seed():
    with pytest.raises(TypeError, match="The type of rng should be an instance of"):
        scan(step, outputs_info=[3, None], n_steps=2)
