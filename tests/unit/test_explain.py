"""explain(): every random variable and recurrent output is listed, with the feature's own words where it is not in place."""
import io

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from tests.parity.drawing import HAS_SCIPY, is_of_scipy


def loop(n_steps=5):
    stream = at.random.RandomStream(23)
    return pyscan.scan(lambda: stream.normal(), n_steps=n_steps)


def test_a_loop_with_updates_is_in_place_throughout():
    path, updates = loop()
    told = pyscan.explain(pyscan.function([], path, updates=updates))
    assert told.refused == () and [finding.kind for finding in told.findings] == ["generator", "random variable"]
    assert "in the loop 'scan_fn'" in str(told) and "test_explain.py" in str(told)


def test_without_an_update_the_supervisors_words_are_given():
    path, _ = loop()
    told = pyscan.explain(pyscan.function([], path))
    (generator,) = told.refused
    assert generator.kind == "generator" and generator.note == "the loop works on one copy a call, and draws in place in that"
    assert any(text.startswith("Trying to destroy a protected variable: RandomGeneratorSharedVariable(") for text in generator.refusals)
    inner = [finding for finding in told.findings if finding.kind == "random variable"]
    assert [finding.in_place for finding in inner] == [True]


def test_two_draws_of_one_state_name_the_one_that_is_refused():
    rng = pyscan.shared(np.random.default_rng(1), "rng")
    first, second = at.random.normal(rng=rng), at.random.uniform(rng=rng)
    f = pyscan.function([], [first, second], updates={rng: first.owner.outputs[0]})
    told = pyscan.explain(f)
    assert [finding.in_place for finding in told.findings if "normal" in finding.what] == [True]
    (refused,) = told.refused
    assert "uniform_rv" in refused.what and refused.refusals


def test_a_mode_without_the_pass_is_the_reason():
    path, updates = loop()
    told = pyscan.explain(pyscan.function([], path, updates=updates, mode="FAST_COMPILE"))
    assert {text for finding in told.refused for text in finding.refusals} == {
        "the mode does not run scan_make_inplace", "the mode does not run random_make_inplace"}


def test_states_are_listed_with_their_loops():
    x = at.dscalar("x")
    path, _ = pyscan.scan(lambda p: p * 0.5, outputs_info=[x], n_steps=4, name="halving")
    told = pyscan.explain(pyscan.function([x], path))
    (state,) = told.findings
    assert state.kind == "state" and state.in_place and "'halving'" in state.what


def test_copies_of_the_last_call_are_told():
    path, _ = loop()
    f = pyscan.function([], path)
    f()
    told = pyscan.explain(f)
    assert told.counters["generator_copies"] == 1 and "the last call copied 1 generator" in str(told)


def test_explain_takes_functions_only():
    with pytest.raises(TypeError, match="explain takes a compiled function"):
        pyscan.explain(at.dscalar("x"))


def test_versions_are_shown():
    text = io.StringIO()
    pyscan.show_versions(text)
    rows = dict(line.split(maxsplit=1) for line in text.getvalue().splitlines())
    assert rows["pyscan"] == pyscan.__version__ and rows["numpy"] == np.__version__ and {"python", "machine", "processor", "flags"} <= set(rows)


def test_versions_tell_which_way_each_distribution_is_drawn():
    text = io.StringIO()
    pyscan._core.draw_way("normal", "method")
    pyscan._core.draw_way("poisson", "unknown")
    try:
        pyscan.show_versions(text)
    finally:
        pyscan._core.draw_way("normal", "unknown")
    draws = [line.partition(": ") for line in text.getvalue().splitlines() if line.startswith("draws ")]
    told = {name: way.partition(" by ")[2] for way, _, names in draws for name in names.split(", ")}
    assert all(told[name] for name in told if HAS_SCIPY or not is_of_scipy(name))
    assert told.keys() == {row["name"] for row in pyscan._core.dists() if row["owners"][0]}
    assert told["normal"] == "the generator's own method" and told["poisson"].startswith("the functions of the NumPy that runs")


def test_versions_tell_what_cannot_be_drawn_without_scipy(run_python):
    done = run_python("-c", "import sys; sys.modules['scipy'] = sys.modules['scipy.special'] = None\nimport pyscan; pyscan.show_versions()")
    assert any(line.startswith("draws ") and line.endswith("not at all, as SciPy is not installed: invgamma") for line in done.stdout.splitlines()), done.stderr


def test_each_operation_of_a_loop_has_its_phase_and_the_reason():
    stream, x0 = at.random.RandomStream(5), at.dscalar("x0")

    def step(x):
        ahead, scaled = stream.normal(), stream.normal(x, 2.0)
        return [0.9 * x + ahead, at.exp(x) * scaled]

    paths, updates = pyscan.scan(step, outputs_info=[x0, None], n_steps=20)
    told = pyscan.explain(pyscan.function([x0], paths, updates=updates))
    found = [(placed.what.partition("{")[0] + placed.what.partition("{")[2].partition(",")[0], placed.phase, placed.why) for placed in told.phases]
    state = "depends on the carried state output 0"
    assert sorted(found) == sorted([
        ("normal_rv0", "before", "drawn ahead: its generator advances by itself"), ("normal_rv0", "core", state),
        ("Elemwisemul", "core", state), ("Elemwiseadd", "core", state),
        ("Elemwiseexp", "after", "no carried state depends on it"), ("Elemwisemul", "after", "no carried state depends on it")])
    assert all(str(placed) in str(told) and "test_explain.py" in placed.loop for placed in told.phases)


def test_phases_tell_what_stays_the_same_what_is_ahead_and_which_state_it_needs():
    xs, c, start = at.dvector("xs"), at.dvector("c"), at.dvector("start")

    def step(x, before, now, c):
        return before + now * at.log(x) + c.sum()

    path, _ = pyscan.scan(step, sequences=xs, outputs_info={"initial": start, "taps": [-2, -1]}, non_sequences=c)
    told = pyscan.explain(pyscan.function([xs, c, start], path, mode="FAST_COMPILE"))
    by_name = {placed.what.partition("{")[2].partition(",")[0]: (placed.phase, placed.why) for placed in told.phases}
    assert by_name["log"] == ("before", "depends on no carried state")
    assert next(found for name, found in by_name.items() if "acc_dtype" in name) == ("once", "the same in every step")
    assert by_name["mul"] == ("core", "depends on the carried state output 0")


def test_what_nothing_can_run_ahead_of_says_so_and_inner_loops_are_listed_too():
    class Same(pyscan.graph.Op):
        def make_node(self, x):
            return pyscan.graph.Apply(self, [x], [x.type()])

        def perform(self, node, inputs, outputs):
            outputs[0][0] = inputs[0].copy()

    xs = at.dvector("xs")
    path, _ = pyscan.scan(lambda x: Same()(at.sin(x)), sequences=xs)
    told = pyscan.explain(pyscan.function([xs], path))
    assert [(placed.phase, placed.why) for placed in told.phases if "sin" in placed.what] == [("core", "the body calls Python, so that nothing runs ahead")]
    nested, _ = pyscan.scan(lambda x: pyscan.scan(lambda y, s: s + y * y, sequences=xs, outputs_info=[x], name="inner")[0][-1], sequences=xs, name="outer")
    told = pyscan.explain(pyscan.function([xs], nested))
    assert {placed.loop.split("'")[1] for placed in told.phases} == {"inner", "outer"}
    assert pyscan.explain(pyscan.function([xs], xs * 2)).phases == ()
