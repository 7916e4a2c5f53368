"""The guard against repeated draws: which loops are warned of, what the warning says, and that the numbers stay Aesara's."""
import inspect
import subprocess
import sys
import textwrap
import warnings
from collections import OrderedDict

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan.errors import PyscanWarning
from pyscan.ifelse import ifelse
from pyscan.scan import foldl, foldr, map, reduce, scan, scan_checkpoints, until

RANDOM = at.random
FIRST = np.random.default_rng(1).normal()


def shared_rng(name="rng", seed=1):
    return pyscan.shared(np.random.default_rng(seed), name=name)


def moved(draw):
    """The next state of a draw's generator."""
    return draw.owner.outputs[0]


def f64(value):
    return at.constant(value, dtype="float64")


def warnings_of(build):
    """The texts of the guard's warnings while `build` runs."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        build()
    return [str(w.message) for w in seen if issubclass(w.category, PyscanWarning)]


# Loops that repeat. Each entry builds one and returns nothing; the table says which random variables it is warned of.

REPEATED = {}
QUIET = {}


def repeated(*labels):
    def register(build):
        REPEATED[build.__name__] = (build, labels)
        return build

    return register


def quiet(build):
    QUIET[build.__name__] = build
    return build


@repeated("normal(loc=0.0, scale=1.0)")
def no_generator_at_all():
    scan(lambda: RANDOM.normal(), n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)")
def a_shared_generator_without_update():
    rng = shared_rng()
    scan(lambda: RANDOM.normal(rng=rng), n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)")
def a_generator_among_the_non_sequences():
    scan(lambda rng: RANDOM.normal(rng=rng), non_sequences=[shared_rng()], n_steps=3, strict=True)


@repeated("normal(loc=mu, scale=1.0)")
def a_generator_that_is_an_argument_of_the_function():
    rng, mu = RANDOM.random_generator_type("rng"), at.dscalar("mu")
    scan(lambda: RANDOM.normal(mu, rng=rng), n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)")
def an_old_generator():
    rng = pyscan.shared(np.random.RandomState(1))
    scan(lambda: RANDOM.normal(rng=rng), n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)")
def a_numpy_generator():
    scan(lambda: RANDOM.normal(rng=np.random.default_rng(1)), n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)")
def a_default_update_of_a_generator_made_outside():
    rng = shared_rng()
    rng.default_update = moved(RANDOM.normal(rng=rng))
    scan(lambda: RANDOM.normal(rng=rng), n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)", "uniform(low=0.0, high=1.0)")
def two_draws_on_one_generator_without_update():
    rng = shared_rng()
    scan(lambda: [RANDOM.normal(rng=rng), RANDOM.uniform(rng=rng)], n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)", "normal(loc=1.0, scale=1.0)")
def a_chain_of_draws_whose_end_is_not_returned():
    rng = shared_rng()

    def step():
        a = RANDOM.normal(rng=rng)
        return a + RANDOM.normal(1.0, rng=moved(a))

    scan(step, n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)")
def one_of_two_generators():
    carried, forgotten = shared_rng("carried"), shared_rng("forgotten")

    def step():
        a = RANDOM.uniform(rng=carried)
        return a + RANDOM.normal(rng=forgotten), {carried: moved(a)}

    scan(step, n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)")
def an_update_that_hands_on_the_same_state():
    rng = shared_rng()
    scan(lambda: (RANDOM.normal(rng=rng), {rng: rng}), n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)")
def a_state_that_is_handed_on_unmoved():
    scan(lambda rng: [rng, RANDOM.normal(rng=rng)], outputs_info=[shared_rng(), None], n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)", "uniform(low=0.0, high=1.0)")
def an_update_made_from_another_generator_that_stays():
    rng, other = shared_rng("rng"), shared_rng("other")

    def step():
        b = RANDOM.uniform(rng=other)
        return RANDOM.normal(rng=rng) + b, {rng: moved(b)}

    scan(step, n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)", "normal(loc=1.0, scale=1.0)")
def two_generators_that_are_only_swapped():
    a, b = shared_rng("a"), shared_rng("b")
    scan(lambda: ([RANDOM.normal(rng=a), RANDOM.normal(1.0, rng=b)], {a: b, b: a}), n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)")
def a_generator_that_goes_on_from_a_draw_outside():
    outside = RANDOM.normal(rng=shared_rng())
    scan(lambda: RANDOM.normal(rng=moved(outside)), n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)")
def a_generator_made_in_the_graph_before_the_loop():
    rng = RANDOM.default_rng(3)
    scan(lambda: RANDOM.normal(rng=rng), n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)")
def a_draw_that_the_condition_alone_reads():
    scan(lambda x: (x + 1, until(RANDOM.normal() > x)), outputs_info=[f64(0.0)], n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)")
def a_draw_that_an_update_of_a_tensor_alone_reads():
    total = pyscan.shared(0.0)
    scan(lambda: {total: total + RANDOM.normal()}, n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)")
def a_draw_that_a_default_update_alone_reads():
    def step():
        total = pyscan.shared(0.0)
        total.default_update = total + RANDOM.normal()
        return total

    scan(step, n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)")
def both_branches_stay():
    a, b = shared_rng("a"), shared_rng("b")
    scan(lambda i: RANDOM.normal(rng=ifelse(i > 1, a, b)), sequences=[at.arange(3)])


@repeated("normal(loc=0.0, scale=1.0)")
def map_repeats():
    map(lambda a: a + RANDOM.normal(), at.dvector("x"))


@repeated("normal(loc=0.0, scale=1.0)")
def reduce_repeats():
    reduce(lambda a, s: a + s + RANDOM.normal(), at.dvector("x"), f64(0.0))


@repeated("normal(loc=0.0, scale=1.0)")
def foldl_repeats():
    foldl(lambda a, s: a + s + RANDOM.normal(), at.dvector("x"), f64(0.0))


@repeated("normal(loc=0.0, scale=1.0)")
def foldr_repeats():
    foldr(lambda a, s: a + s + RANDOM.normal(), at.dvector("x"), f64(0.0))


@repeated("normal(loc=0.0, scale=1.0)")
def checkpoints_repeat():
    scan_checkpoints(lambda x: x + RANDOM.normal(), outputs_info=[f64(0.0)], n_steps=6, save_every_N=2)


@repeated("normal(loc=0.0, scale=1.0)")
def outputs_without_updates():
    rng = shared_rng()
    scan(lambda: RANDOM.normal(rng=rng), n_steps=3, return_updates=False)


@repeated("normal(loc=0.0, scale=1.0)")
def a_draw_in_an_inner_loop_is_told_once():
    rng = shared_rng()
    scan(lambda: scan(lambda: RANDOM.normal(rng=rng), n_steps=2)[0], n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)")
def a_draw_in_a_loosened_inner_loop_is_told_once():
    def outer():
        return scan(lambda x: at.concatenate([x, x])[: 1 + at.lscalar("n")] + RANDOM.normal(), outputs_info=[f64([0.0])], n_steps=2)[0]

    scan(outer, n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)")
def an_inner_loop_whose_updates_stay_inside():
    stream = RANDOM.RandomStream(1)
    scan(lambda: scan(lambda: stream.normal(), n_steps=2)[0], n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)")
def an_inner_loop_two_levels_down():
    stream = RANDOM.RandomStream(1)

    def middle():
        return scan(lambda: stream.normal(), n_steps=2)

    scan(lambda: scan(middle, n_steps=2)[0], n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)")
def a_draw_of_the_outer_step_that_an_inner_loop_reads():
    rng = shared_rng()

    def outer():
        draw = RANDOM.normal(rng=rng)
        return scan(lambda x: x + draw, outputs_info=[f64(0.0)], n_steps=2)[0]

    scan(outer, n_steps=3)


@repeated("normal(loc=0.0, scale=1.0)")
def an_inner_loop_with_a_state_that_starts_anew():
    rng = shared_rng()

    def outer():
        return scan(lambda r: [moved(d := RANDOM.normal(rng=r)), d], outputs_info=[rng, None], n_steps=2)[0][1]

    scan(outer, n_steps=3)


class HandsOn(pyscan.graph.Op):
    """A user's Op that gives its generator as a view."""

    view_map = {0: [0]}
    __props__ = ()

    def make_node(self, rng):
        return pyscan.graph.Apply(self, [rng], [rng.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0]


@repeated("normal(loc=0.0, scale=1.0)")
def a_view_of_a_generator():
    rng = shared_rng()
    scan(lambda: (RANDOM.normal(rng=rng), {rng: HandsOn()(rng)}), n_steps=3)


class Shifted(RANDOM.RandomVariable):
    name, ndim_supp, ndims_params, dtype = "shifted", 0, (0,), "floatX"

    @classmethod
    def rng_fn(cls, rng, shift, size):
        return rng.normal(size=size) + shift


@repeated("shifted(2.0)")
def a_users_random_variable():
    rng = shared_rng()
    scan(lambda: Shifted()(2.0, rng=rng), n_steps=3)


# Loops in which nothing repeats, or the repeat is wanted


@quiet
def a_stream():
    stream = RANDOM.RandomStream(1)
    scan(lambda: stream.normal() + stream.uniform(), n_steps=3)


@quiet
def a_stream_whose_updates_are_dropped():
    stream = RANDOM.RandomStream(1)
    pyscan.function([], scan(lambda: stream.normal(), n_steps=3, return_updates=False))


@quiet
def a_function_without_default_updates():
    stream = RANDOM.RandomStream(1)
    draw = stream.normal()
    pyscan.function([], [scan(lambda: draw, n_steps=3)[0], draw], no_default_updates=True)


@quiet
def an_update_as_a_dict():
    rng = shared_rng()
    scan(lambda: (d := RANDOM.normal(rng=rng), {rng: moved(d)}), n_steps=3)


@quiet
def an_update_as_an_ordered_dict():
    rng = shared_rng()
    scan(lambda: (d := RANDOM.normal(rng=rng), OrderedDict([(rng, moved(d))])), n_steps=3)


@quiet
def an_update_as_a_list_of_pairs():
    rng = shared_rng()
    scan(lambda: ([d := RANDOM.normal(rng=rng)], [(rng, moved(d))]), n_steps=3)


@quiet
def an_update_with_a_condition():
    rng = shared_rng()
    scan(lambda: ([d := RANDOM.normal(rng=rng)], {rng: moved(d)}, until(d > 0)), n_steps=3)


@quiet
def an_update_alone():
    rng = shared_rng()
    scan(lambda: {rng: moved(RANDOM.normal(rng=rng))}, n_steps=3)


@quiet
def a_generator_among_the_non_sequences_with_an_update():
    scan(lambda rng: (d := RANDOM.normal(rng=rng), {rng: moved(d)}), non_sequences=[shared_rng()], n_steps=3, strict=True)


@quiet
def a_default_update_of_a_generator_made_in_the_step():
    def step():
        rng = shared_rng()
        draw = RANDOM.normal(rng=rng)
        rng.default_update = moved(draw)
        return draw

    scan(step, n_steps=3)


@quiet
def a_generator_as_a_state():
    scan(lambda rng: [moved(d := RANDOM.normal(rng=rng)), d], outputs_info=[shared_rng(), None], n_steps=3)


@quiet
def a_chain_of_draws():
    rng = shared_rng()

    def step():
        a = RANDOM.normal(rng=rng)
        b = RANDOM.normal(rng=moved(a))
        return [a, b], {rng: moved(b)}

    scan(step, n_steps=3)


@quiet
def two_draws_on_one_state_that_moves():
    rng = shared_rng()

    def step():
        a = RANDOM.normal(rng=rng)
        return [a, RANDOM.uniform(rng=rng)], {rng: moved(a)}

    scan(step, n_steps=3)


@quiet
def two_generators_that_are_swapped_and_moved():
    a, b = shared_rng("a"), shared_rng("b")
    scan(lambda: ([x := RANDOM.normal(rng=a)], {a: b, b: moved(x)}), n_steps=3)


@quiet
def a_generator_that_follows_another_that_moves():
    a, b = shared_rng("a"), shared_rng("b")

    def step():
        x = RANDOM.normal(rng=a)
        return [x, RANDOM.normal(rng=b)], {a: moved(x), b: a}

    scan(step, n_steps=3)


@quiet
def one_branch_moves():
    rng = shared_rng()

    def step(i):
        draw = RANDOM.normal(rng=rng)
        return draw, {rng: ifelse(i > 1, moved(draw), rng)}

    scan(step, sequences=[at.arange(3)])


@quiet
def a_draw_of_either_of_two_generators_of_which_one_moves():
    a, b = shared_rng("a"), shared_rng("b")

    def step(i):
        draw = RANDOM.normal(rng=ifelse(i > 1, a, b))
        return draw, {a: moved(draw)}

    scan(step, sequences=[at.arange(3)])


@quiet
def a_draw_made_outside():
    draw = RANDOM.normal()
    scan(lambda x: x + draw, outputs_info=[f64(0.0)], n_steps=3)


@quiet
def a_draw_of_a_stream_made_outside():
    draw = RANDOM.RandomStream(1).normal()
    scan(lambda x, d: x + d, outputs_info=[f64(0.0)], non_sequences=[draw], n_steps=3)


@quiet
def a_loop_made_outside():
    stream = RANDOM.RandomStream(1)
    path, _ = scan(lambda: stream.normal(), n_steps=3)
    scan(lambda x: x + path[0], outputs_info=[f64(0.0)], n_steps=3)


@quiet
def a_generator_seeded_in_the_step():
    scan(lambda seed: RANDOM.normal(rng=RANDOM.default_rng(seed)), sequences=[at.arange(3)])


@quiet
def a_generator_seeded_alike_in_each_step():
    scan(lambda: RANDOM.normal(rng=RANDOM.default_rng(3)), n_steps=3)


@quiet
def an_old_generator_seeded_in_the_step():
    scan(lambda seed: RANDOM.normal(rng=RANDOM.RandomState(seed)), sequences=[at.arange(3)])


@quiet
def an_update_seeded_in_the_step():
    rng = shared_rng()
    scan(lambda seed: (RANDOM.normal(rng=rng), {rng: RANDOM.default_rng(seed)}), sequences=[at.arange(3)])


@quiet
def one_step_is_no_loop():
    scan(lambda: RANDOM.normal(), n_steps=1)


@quiet
def no_loop_at_all():
    pyscan.function([], [RANDOM.normal(), RANDOM.uniform(rng=shared_rng())])


@quiet
def an_inner_loop_whose_updates_are_returned():
    stream = RANDOM.RandomStream(1)
    scan(lambda: scan(lambda: stream.normal(), n_steps=2), n_steps=3)


@quiet
def an_inner_loop_with_a_state_that_the_outer_loop_carries():
    def inner(rng):
        return scan(lambda r: [moved(d := RANDOM.normal(rng=r)), d], outputs_info=[rng, None], n_steps=2)[0]

    scan(inner, outputs_info=[shared_rng(), None], n_steps=3)


@quiet
def a_draw_of_the_outer_step_that_an_inner_loop_reads_and_that_moves():
    stream = RANDOM.RandomStream(1)

    def outer():
        draw = stream.normal()
        return scan(lambda x: x + draw, outputs_info=[f64(0.0)], n_steps=2)[0]

    scan(outer, n_steps=3)


@quiet
def checkpoints_of_a_stream():
    stream = RANDOM.RandomStream(1)
    scan_checkpoints(lambda x: x + stream.normal(), outputs_info=[f64(0.0)], n_steps=6, save_every_N=2)


@pytest.mark.parametrize("name", REPEATED)
def test_a_draw_that_repeats_is_named_once(name):
    build, labels = REPEATED[name]
    texts = warnings_of(build)
    assert sorted(text.partition(" (")[0] for text in texts) == sorted(f"random variable {label}" for label in labels)
    lines, start = inspect.getsourcelines(build)
    for text in texts:
        file, _, line = text.partition(" (")[2].partition(")")[0].rpartition(":")
        assert (file == __file__ and start <= int(line) < start + len(lines)) or "checkpoints" in name


@pytest.mark.parametrize("name", QUIET)
def test_a_draw_that_moves_or_is_to_repeat_is_not_warned_of(name):
    assert warnings_of(QUIET[name]) == []


def test_the_warning_stands_at_the_call_of_scan_and_says_what_to_do():
    rng = shared_rng()

    def step():
        return RANDOM.normal(rng=rng, name="eps")

    with pytest.warns(PyscanWarning) as seen:
        scan(step, n_steps=3, name="walk"); line = inspect.currentframe().f_lineno  # noqa: E702
    (warning,) = seen
    assert (warning.filename, warning.lineno) == (__file__, line)
    text = str(warning.message)
    assert text.startswith(f"random variable 'eps' ({__file__}:{step.__code__.co_firstlineno + 1}) repeats in every step of the loop 'walk'")
    for part in ("its generator rng,", "RandomStream", "srng.normal(", "{rng: next_rng}", "outputs_info=[rng, None]", "warnings.filterwarnings"):
        assert part in text


@pytest.mark.parametrize("shorthand", [map, reduce, foldl, foldr])
def test_the_warning_of_a_shorthand_stands_at_its_call(shorthand):
    x, start = at.dvector("x"), [] if shorthand is map else [f64(0.0)]
    with pytest.warns(PyscanWarning) as seen:
        shorthand(lambda *values: values[0] + RANDOM.normal(), x, *start); line = inspect.currentframe().f_lineno  # noqa: E702
    assert [(w.filename, w.lineno) for w in seen] == [(__file__, line)]


def test_the_warning_names_an_inner_loop_whose_updates_are_missing():
    stream = RANDOM.RandomStream(1)
    (text,) = warnings_of(lambda: scan(lambda: scan(lambda: stream.normal(), n_steps=2, name="day")[0], n_steps=3, name="year"))
    assert "in every step of the loop 'year'" in text and "The inner loop 'day' carries it: return that scan's updates" in text


def test_copies_of_a_draw_in_an_inner_loop_are_one_draw():
    stream, total = RANDOM.RandomStream(1), pyscan.shared(0.0)

    def inner():
        a = stream.normal()
        return stream.normal(a), {total: total + a}

    texts = warnings_of(lambda: scan(lambda: scan(inner, n_steps=2)[0], n_steps=3))
    assert len(texts) == 2


def test_a_parameter_is_shown_where_it_is_short():
    mu, many = at.dscalar("mu"), at.dscalar("x")
    for _ in range(5000):
        many = many + 1
    (text,) = warnings_of(lambda: scan(lambda: RANDOM.normal(mu * 2, many), n_steps=2))
    assert text.startswith("random variable normal(loc=(mu * 2), scale=...) ")


@pytest.mark.parametrize("options", [{"category": PyscanWarning}, {"message": "random variable 'eps'"}, {"category": UserWarning}])
def test_the_standard_filter_silences_it(options):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", **options)
        scan(lambda: RANDOM.normal(name="eps"), n_steps=3)
    assert not seen


def test_as_an_error_it_stops_scan():
    with warnings.catch_warnings(), pytest.raises(PyscanWarning, match="repeats in every step"):
        warnings.simplefilter("error", PyscanWarning)
        scan(lambda: RANDOM.normal(), n_steps=3)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_a_repeated_draw_is_the_number_that_aesara_gives(mode):
    rng = shared_rng()
    with pytest.warns(PyscanWarning):
        path, updates = scan(lambda: RANDOM.normal(rng=rng), n_steps=3)
    assert not updates
    f = pyscan.function([], path, updates=updates, mode=mode)
    for _ in range(2):
        np.testing.assert_array_equal(f(), [FIRST] * 3)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_an_inner_loop_whose_updates_stay_inside_starts_anew_in_each_outer_step(mode):
    stream = RANDOM.RandomStream(1)
    with pytest.warns(PyscanWarning):
        path, updates = scan(lambda: scan(lambda: stream.normal(), n_steps=2)[0], n_steps=3)
    draws = np.random.default_rng(np.random.SeedSequence(1).spawn(1)[0]).normal(size=2)
    np.testing.assert_array_equal(pyscan.function([], path, updates=updates, mode=mode)(), [draws] * 3)


def test_what_is_quiet_is_right_to_be_quiet():
    """The draws of each quiet loop that is a plain path differ from step to step (but for those that are to repeat)."""
    rng = shared_rng()
    draws = [
        scan(lambda: (d := RANDOM.normal(rng=rng), {rng: moved(d)}), n_steps=4),
        scan(lambda seed: RANDOM.normal(rng=RANDOM.default_rng(seed)), sequences=[at.arange(4)]),
        scan(lambda r: [moved(d := RANDOM.normal(rng=r)), d], outputs_info=[rng, None], n_steps=4),
    ]
    for outputs, updates in draws:
        path = outputs[1] if isinstance(outputs, list) else outputs
        assert len(set(pyscan.function([], path, updates=updates)())) == 4


def test_long_chains_of_draws_and_deep_nesting_are_no_trouble():
    rng = shared_rng()

    def step():
        state, total = rng, f64(0.0)
        for _ in range(3000):
            draw = RANDOM.normal(rng=state)
            state, total = moved(draw), total + draw
        return total, {rng: state}

    assert warnings_of(lambda: scan(step, n_steps=2)) == []


def test_a_script_prints_the_warning_with_its_own_line(tmp_path):
    script = tmp_path / "walk.py"
    script.write_text(textwrap.dedent("""
        import aesara
        import aesara.tensor as at
        path, updates = aesara.scan(lambda: at.random.normal(), n_steps=3)
        print("ok")
    """))
    done = subprocess.run([sys.executable, "-m", "pyscan", str(script)], capture_output=True, text=True, timeout=120)
    assert done.stdout == "ok\n"
    first, source, *rest = done.stderr.splitlines()
    assert first.startswith(f"{script}:4: PyscanWarning: random variable normal(loc=0.0, scale=1.0) ({script}:4) repeats")
    assert source.strip() == "path, updates = aesara.scan(lambda: at.random.normal(), n_steps=3)" and not rest
