"""Rewriters of graphs that users write: patterns, substitutions, walks, and what a graph's features veto."""
import logging
import pickle

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import names, patterns, rewriting
from pyscan.config import config
from pyscan.features import DestroyHandler, Feature, InconsistencyError, Supervisor
from pyscan.graph import Apply, FunctionGraph, Op, as_string
from pyscan.mode import Mode, optdb
from pyscan.rewriting import (
    EquilibriumGraphRewriter, GraphRewriter, MergeOptimizer, NodeProcessingGraphRewriter, NodeRewriter, OpKeyGraphRewriter,
    PatternNodeRewriter, RemovalNodeRewriter, SequentialGraphRewriter, SequentialNodeRewriter, SubstitutionNodeRewriter,
    WalkingGraphRewriter, graph_rewriter, in2out, inplace_graph_rewriter, is_same_graph, node_rewriter, out2in, pre_greedy_node_rewriter,
    rewrite_graph, walking_rewriter,
)


class Named(Op):
    """An operation on vectors that is known by its name; it may overwrite or show its first input."""

    def __init__(self, name, destroys=False, shows=False, n_outputs=1):
        self.name, self.n_outputs = name, n_outputs
        self.destroy_map = {0: [0]} if destroys else {}
        self.view_map = {0: [0]} if shows else {}

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [inputs[0].type() for _ in range(self.n_outputs)])

    def perform(self, node, inputs, outputs):
        for cell in outputs:
            cell[0] = inputs[0]

    def __str__(self):
        return self.name


f, g, h = Named("f"), Named("g"), Named("h")
f_inplace, view, two = Named("f!", destroys=True), Named("view", shows=True), Named("two", n_outputs=2)


@pytest.fixture
def xyz():
    return [at.dvector(name) for name in "xyz"]


def graph(inputs, *outputs):
    return FunctionGraph(inputs, list(outputs), clone=False)


def apply(pattern, replacement, fgraph, **options):
    return in2out(PatternNodeRewriter(pattern, replacement, **options), ignore_newtrees=True).rewrite(fgraph)


@pytest.mark.parametrize("pattern, replacement, text", [
    ((f, "a"), (g, "a"), "h(g(x), g(y))"),
    ((h, (f, "a"), (f, "b")), (h, "b", "a"), "h(y, x)"),
    ((h, (f, "a"), "b"), "b", "f(y)"),
    ((h, (f, "a"), (f, "a")), "a", "h(f(x), f(y))"),
    ((h, "a", "b", "c"), "a", "h(f(x), f(y))"),
    ((Named, "a"), "a", "h(x, y)"),
    ((g, "a"), "a", "h(f(x), f(y))"),
])
def test_a_pattern_is_replaced_where_it_is_found_and_nowhere_else(xyz, pattern, replacement, text):
    x, y, _ = xyz
    fgraph = graph([x, y], h(f(x), f(y)))
    apply(pattern, replacement, fgraph)
    assert str(fgraph) == f"FunctionGraph({text})"


def test_one_name_stands_for_one_variable(xyz):
    x, y, _ = xyz
    fgraph = graph([x, y], h(f(x), f(x)), h(f(x), f(y)))
    assert apply((h, (f, "a"), (f, "a")), (g, "a"), fgraph) == 1
    assert str(fgraph) == "FunctionGraph(g(x), h(f(x), f(y)))"


def test_equal_constants_are_one_under_a_name(xyz):
    x, _, _ = xyz
    c = [at.constant([1.0, 2.0]), at.constant([1.0, 2.0]), at.constant([1.0, 3.0])]
    fgraph = graph([x], h(c[0], c[1]), h(c[0], c[2]))
    assert apply((h, "a", "a"), (f, "a"), fgraph) == 1


def test_inner_results_with_other_readers_are_kept_unless_it_is_allowed(xyz):
    x, _, _ = xyz
    inner = f(x)
    fgraph = graph([x], g(inner), inner)
    assert apply((g, (f, "a")), "a", fgraph) == 0
    assert apply((g, (f, "a")), "a", fgraph, allow_multiple_clients=True) == 1
    assert str(fgraph) == "FunctionGraph(x, f(x))"


def test_a_number_stands_for_a_constant_of_that_value():
    x = at.dvector("x")
    fgraph = graph([x], x * 1.0, x * 2.0, x * np.array([1.0, 2.0]))
    assert apply((at.mul, "a", 1), "a", fgraph) == 1
    assert fgraph.outputs[0] is x and fgraph.outputs[1] is not x


def test_a_replacement_may_bring_a_number():
    x = at.dvector("x")
    fgraph = graph([x], x + x)
    apply((at.add, "a", "a"), (at.mul, 2.0, "a"), fgraph)
    assert pyscan.function([x], fgraph.outputs[0])([1.0, 4.0]).tolist() == [2.0, 8.0]


def test_a_variable_in_a_pattern_stands_for_itself(xyz):
    x, y, _ = xyz
    fgraph = graph([x, y], f(x), f(y))
    apply((f, y), (g, y), fgraph)
    assert str(fgraph) == "FunctionGraph(f(x), g(y))"


def test_a_constraint_decides_which_variable_a_name_takes(xyz):
    x, y, _ = xyz
    fgraph = graph([x, y], f(x), f(y))
    apply((f, {"pattern": "a", "constraint": lambda variable: variable.name == "y"}), (g, "a"), fgraph)
    assert str(fgraph) == "FunctionGraph(f(x), g(y))"


def test_identities_that_are_skipped_do_not_hide_a_pattern(xyz):
    x, _, _ = xyz
    fgraph = graph([x], g(h(f(x))))
    skip = lambda variable: variable.owner.inputs[0] if variable.owner.op is h else None  # noqa: E731
    assert apply((g, (f, "a")), "a", fgraph) == 0
    assert apply((g, (f, "a")), "a", fgraph, skip_identities_fn=skip) == 1


def test_a_replacement_of_another_dtype_is_cast_or_refused():
    x, i = at.dvector("x"), at.ivector("i")
    for allow, changes in ((True, 1), (False, 0)):
        fgraph = graph([x, i], h(x, i))
        assert apply((h, "a", "b"), (f, "b"), fgraph, allow_cast=allow) == changes
        assert fgraph.outputs[0].type == x.type


def test_a_pattern_can_be_tried_on_other_nodes_than_those_tracked(xyz):
    x, _, _ = xyz
    fgraph = graph([x], f(g(x)))
    inner = PatternNodeRewriter((f, (g, "a")), (h, "a"), tracks=[g],
                                get_nodes=lambda fgraph, node: [client for client, _ in fgraph.clients[node.outputs[0]]])
    assert inner.tracks() == [g]
    assert in2out(inner).rewrite(fgraph) == 1
    assert str(fgraph) == "FunctionGraph(h(x))"


def test_patterns_that_make_no_sense_are_refused():
    with pytest.raises(TypeError, match="must start with a specific Op"):
        PatternNodeRewriter("a", "b")
    with pytest.raises(TypeError, match="must start with a specific Op"):
        PatternNodeRewriter(("a", "b"), "b")
    with pytest.raises(ValueError, match="names b, which"):
        PatternNodeRewriter((f, "a"), (g, "b"))
    with pytest.raises(ValueError, match="get_nodes"):
        PatternNodeRewriter((f, "a"), "a", tracks=[f])
    assert str(patterns.Pattern((f, (g, "a")), (h, "a", 1))) == "f(g(a)) -> h(a, 1)"


def test_rewriters_by_op_reach_every_level_of_a_tower(xyz):
    x, _, _ = xyz
    tower = x
    for _ in range(6):
        tower = f(tower)
    fgraph = graph([x], tower)
    OpKeyGraphRewriter(PatternNodeRewriter((f, (f, "a")), "a"), ignore_newtrees=True).rewrite(fgraph)
    assert str(fgraph) == "FunctionGraph(x)"
    with pytest.raises(TypeError, match="op_key"):
        OpKeyGraphRewriter(SequentialNodeRewriter())


def test_new_nodes_are_visited_unless_they_are_ignored(xyz):
    x, _, _ = xyz
    grow = PatternNodeRewriter((f, (f, (f, "a"))), (f, (f, "a")))
    for ignore, text in ((True, "f(f(f(x)))"), (False, "f(f(x))")):
        fgraph = graph([x], f(f(f(f(x)))))
        OpKeyGraphRewriter(grow, ignore_newtrees=ignore).rewrite(fgraph)
        assert str(fgraph) == f"FunctionGraph({text})"
        assert [type(feature).__name__ for feature in fgraph._features] == ["ReplaceValidate", "NodeFinder"]


def test_ops_are_substituted_with_their_tags(xyz):
    x, y, _ = xyz
    old = f(h(x, y))
    old.tag.note = "kept"
    fgraph = graph([x, y], old)
    assert out2in(SubstitutionNodeRewriter(f, g)).rewrite(fgraph) == 1
    assert str(fgraph) == "FunctionGraph(g(h(x, y)))" and fgraph.outputs[0].tag.note == "kept"
    bare = SubstitutionNodeRewriter(g, f, transfer_tags=False)
    in2out(bare).rewrite(fgraph)
    assert str(fgraph) == "FunctionGraph(f(h(x, y)))" and not hasattr(fgraph.outputs[0].tag, "note")
    assert bare.tracks() == [g] and str(bare) == "g -> f"


def test_a_substitute_with_another_number_of_outputs_is_refused(xyz):
    x, _, _ = xyz
    with pytest.raises(ValueError, match="2 replacements for f"):
        WalkingGraphRewriter(SubstitutionNodeRewriter(f, two)).rewrite(graph([x], f(x)))


def test_nodes_are_removed(xyz):
    x, y, _ = xyz
    fgraph = graph([x, y], f(g(f(x))))
    in2out(RemovalNodeRewriter(f)).rewrite(fgraph)
    assert str(fgraph) == "FunctionGraph(g(x))"
    with pytest.raises(TypeError, match="one each"):
        WalkingGraphRewriter(RemovalNodeRewriter(h)).rewrite(graph([x, y], h(x, y)))


def test_walks_go_in_the_order_that_they_are_given(xyz):
    x, _, _ = xyz
    for make, expected in ((in2out, ["f", "g", "h"]), (out2in, ["h", "g", "f"])):
        seen = []
        note = node_rewriter(None)(lambda fgraph, node: seen.append(str(node.op)))
        make(note).rewrite(graph([x], h(g(f(x)))))
        assert seen == expected
    with pytest.raises(ValueError, match="in_to_out"):
        WalkingGraphRewriter(note, order="sideways")


def test_a_walk_can_be_limited_to_what_some_variables_need(xyz):
    x, y, _ = xyz
    a, b = f(x), f(y)
    fgraph = graph([x, y], a, b)
    WalkingGraphRewriter(SubstitutionNodeRewriter(f, g)).apply(fgraph, start_from=[b])
    assert str(fgraph) == "FunctionGraph(f(x), g(y))"


def test_a_decorated_function_sees_the_ops_that_it_tracks_alone(xyz):
    x, _, _ = xyz
    seen = []

    @node_rewriter([f])
    def watch(fgraph, node):
        """Notes what it is asked about."""
        seen.append(node.op)
        return False
    in2out(watch).rewrite(graph([x], g(f(x))))
    assert seen == [f] and watch.__doc__ == "Notes what it is asked about." and str(watch) == "watch" and watch.tracks() == [f]


@pytest.mark.parametrize("tracks, error", [(f, TypeError), ([], ValueError), (["f"], ValueError), ([int], ValueError)])
def test_what_is_tracked_has_to_be_a_list_of_ops(tracks, error):
    with pytest.raises(error):
        node_rewriter(tracks)


def test_a_rewriter_may_name_variables_and_nodes_that_go(xyz):
    x, y, _ = xyz
    inner = f(x)
    fgraph = graph([x, y], h(inner, y))
    as_dict = node_rewriter([h])(lambda fgraph, node: {inner: g(x), "remove": [inner.owner]})
    assert in2out(as_dict).rewrite(fgraph) == 1
    assert str(fgraph) == "FunctionGraph(h(g(x), y))"


@pytest.mark.parametrize("answer, error", [(3, TypeError), ([], ValueError)])
def test_an_answer_that_is_no_replacement_is_refused(xyz, answer, error):
    x, _, _ = xyz
    with pytest.raises(error, match="replacement"):
        in2out(node_rewriter([f])(lambda fgraph, node: answer)).rewrite(graph([x], f(x)))


def test_what_features_veto_is_undone_and_told(xyz):
    x, y, _ = xyz
    fgraph = graph([x, y], f(x), f(f(y)))
    fgraph.attach_feature(DestroyHandler())
    fgraph.attach_feature(Supervisor([x]))
    failures = []
    told = lambda error, nav, pairs, rewriter, node: failures.append((type(error), node.inputs[0]))  # noqa: E731
    walk = WalkingGraphRewriter(SubstitutionNodeRewriter(f, f_inplace), failure_callback=told, ignore_newtrees=True)
    assert walk.rewrite(fgraph) == 2
    assert str(fgraph) == "FunctionGraph(f(x), f!(f!(y)))"  # x is protected, y is free
    assert failures == [(InconsistencyError, x)]
    fgraph.check_integrity()


def test_a_graph_that_is_not_consistent_can_be_repaired(xyz):
    x, y, _ = xyz
    fgraph = graph([x, y], h(f_inplace(x), x))
    fgraph.attach_feature(DestroyHandler())
    assert not fgraph.consistent()
    in2out(SubstitutionNodeRewriter(f_inplace, f)).rewrite(fgraph)
    assert fgraph.consistent() and str(fgraph) == "FunctionGraph(h(f(x), x))"


def test_in_place_rewriters_bring_a_destroy_handler(xyz):
    x, y, _ = xyz
    fgraph = graph([x, y], h(f(x), x))
    in2out(node_rewriter([f], inplace=True)(lambda fgraph, node: [f_inplace(*node.inputs)])).rewrite(fgraph)
    assert str(fgraph) == "FunctionGraph(h(f(x), x))" and hasattr(fgraph, "destroyers")
    other = graph([x], f(x))
    inplace_graph_rewriter(lambda fgraph: None).rewrite(other)
    assert hasattr(other, "destroyers")


def test_failures_are_raised_logged_or_passed_over(xyz, caplog):
    x, _, _ = xyz

    def fails(fgraph, node):
        raise KeyError("of mine")
    broken = node_rewriter([f])(fails)
    with pytest.raises(KeyError, match="of mine"):
        WalkingGraphRewriter(broken).rewrite(graph([x], f(x)))
    with caplog.at_level(logging.ERROR, "pyscan.rewriting"):
        assert in2out(broken).rewrite(graph([x], f(x))) == 0
    assert "of mine" in caplog.text and "fails failed on f(x)" in caplog.text
    with config.change_flags(on_opt_error="raise"), pytest.raises(KeyError):
        in2out(broken).rewrite(graph([x], f(x)))
    caplog.clear()
    in2out(broken, failure_callback=NodeProcessingGraphRewriter.warn_ignore).rewrite(graph([x], f(x)))
    with config.change_flags(on_opt_error="ignore"):
        in2out(broken).rewrite(graph([x], f(x)))
    assert not caplog.records


def test_sequences_of_node_rewriters_stop_at_the_first_that_changes_something(xyz):
    x, _, _ = xyz
    first, second = SubstitutionNodeRewriter(f, g), SubstitutionNodeRewriter(g, h)
    for all_of_them, text in ((False, "g(x)"), (True, "h(x)")):
        fgraph = graph([x], f(x))
        in2out(SequentialNodeRewriter(first, second, apply_all_rewrites=all_of_them), ignore_newtrees=True).rewrite(fgraph)
        assert str(fgraph) == f"FunctionGraph({text})"
    assert SequentialNodeRewriter(first, second).tracks() == [f, g]
    assert SequentialNodeRewriter(first, node_rewriter(None)(lambda fgraph, node: None)).tracks() is None
    assert walking_rewriter("in_to_out", first, second, name="both").name == "both"


def test_sequences_of_graph_rewriters_run_all(xyz):
    x, _, _ = xyz
    fgraph = graph([x], f(x))
    errors = []

    @graph_rewriter
    def fails(fgraph):
        raise KeyError("once")
    both = SequentialGraphRewriter(fails, in2out(SubstitutionNodeRewriter(f, g)), failure_callback=lambda e, seq, one: errors.append(one))
    assert both.rewrite(fgraph) == [1]
    assert errors == [fails] and len(both) == 2 and both[0] is fails and str(fgraph) == "FunctionGraph(g(x))"
    with pytest.raises(KeyError):
        SequentialGraphRewriter(fails)(fgraph)


def test_rewriters_are_repeated_until_nothing_changes(xyz):
    x, _, _ = xyz
    fgraph = graph([x], f(f(f(x))))
    lift = PatternNodeRewriter((f, "a"), (g, "a"))
    join = PatternNodeRewriter((g, (g, "a")), (g, "a"))
    assert EquilibriumGraphRewriter([join, lift], max_use_ratio=10).rewrite(fgraph) == 5
    assert str(fgraph) == "FunctionGraph(g(x))"


def test_a_rewriter_without_end_is_stopped_with_a_warning(xyz):
    x, _, _ = xyz
    fgraph = graph([x], f(x))
    turn = node_rewriter([f])(lambda fgraph, node: [f(*node.inputs)])
    with pytest.warns(UserWarning, match="turn|lambda"):
        EquilibriumGraphRewriter([turn], max_use_ratio=4).rewrite(fgraph)
    with pytest.raises(ValueError, match="max_use_ratio"):
        EquilibriumGraphRewriter([turn])


def test_graph_rewriters_take_part_in_the_repetition(xyz):
    x, _, _ = xyz
    calls = []

    class Once(GraphRewriter):
        def apply(self, fgraph):
            calls.append(str(fgraph))
            if str(fgraph) == "FunctionGraph(g(x))":
                fgraph.replace(fgraph.outputs[0], h(x))
    fgraph = graph([x], f(x))
    EquilibriumGraphRewriter([Once(), SubstitutionNodeRewriter(f, g)], max_use_ratio=10).rewrite(fgraph)
    assert str(fgraph) == "FunctionGraph(h(x))" and calls[-1] == "FunctionGraph(h(x))"


def test_equal_computations_are_merged(xyz):
    x, _, _ = xyz
    fgraph = graph([x], f(x), f(x))
    MergeOptimizer().rewrite(fgraph)
    assert fgraph.outputs[0] is fgraph.outputs[1]


def test_an_expression_is_rewritten_without_a_graph_of_ones_own(xyz):
    x, _, _ = xyz
    y = f(f(x))
    assert as_string([x], [rewrite_graph(y, custom_rewrite=in2out(SubstitutionNodeRewriter(f, g)), clone=True)]) == ["g(g(x))"]
    assert as_string([x], [y]) == ["f(f(x))"]
    assert [v.data.tolist() for v in rewrite_graph([at.constant(2.0) * 3.0, at.constant(1.0) + 1.0])] == [6.0, 2.0]
    fgraph = graph([x], y)
    copy = rewrite_graph(fgraph, include=(), clone=True, custom_rewrite=in2out(RemovalNodeRewriter(f)))
    assert str(copy) == "FunctionGraph(x)" and str(fgraph) == "FunctionGraph(f(f(x)))"
    assert rewrite_graph(fgraph, include=(), custom_rewrite=in2out(RemovalNodeRewriter(f))) is fgraph


def test_a_variable_is_rewritten_aside(xyz):
    x, _, _ = xyz
    y = f(x)
    fgraph = graph([x], y)
    assert str(pre_greedy_node_rewriter(fgraph, [SubstitutionNodeRewriter(f, g)], y).owner) == "g(x)"
    assert str(fgraph) == "FunctionGraph(f(x))"


def test_graphs_are_compared_under_replacements(xyz):
    x, y, z = xyz
    assert is_same_graph(h(x, y), h(x, y)) and not is_same_graph(h(x, y), h(y, x))
    assert is_same_graph(h(x, y), h(x, z), givens={z: y}) and is_same_graph(h(x, y), h(x, z), givens=[(z, y)])


def test_rewriters_without_a_body_say_what_to_write():
    with pytest.raises(NotImplementedError, match="transform"):
        NodeRewriter().transform(None, None)
    with pytest.raises(NotImplementedError, match="apply"):
        GraphRewriter().rewrite(None)


def test_rewritten_graphs_compute_what_they_say():
    x = at.dvector("x")
    fgraph = FunctionGraph([x], [at.exp(at.log(x) + at.log(x))], clone=False)
    in2out(PatternNodeRewriter((at.exp, (at.add, (at.log, "a"), (at.log, "b"))), (at.mul, "a", "b"), allow_multiple_clients=True)).rewrite(fgraph)
    values = np.array([0.5, 2.0, 3.0])
    assert pyscan.function([x], fgraph.outputs[0])(values).tolist() == (values * values).tolist()


def test_every_public_name_stands_where_aesara_has_it():
    for name in rewriting.__all__:
        assert names._present("graph.rewriting.basic", name) is getattr(rewriting, name)
    assert names._present("graph", "node_rewriter") is node_rewriter
    assert names._present("graph.rewriting.utils", "is_same_graph") is is_same_graph


class _Refuses(Feature):
    def validate(self, fgraph):
        raise InconsistencyError("no")


def test_a_veto_is_silent_in_the_short_forms(xyz, caplog):
    x, _, _ = xyz
    fgraph = graph([x], f(x))
    fgraph.attach_feature(_Refuses())
    assert in2out(SubstitutionNodeRewriter(f, g)).rewrite(fgraph) == 0
    assert str(fgraph) == "FunctionGraph(f(x))" and not caplog.records


def test_rewriters_have_the_names_of_their_functions():
    @node_rewriter([at.exp])
    def to_sine(fgraph, node):
        return [at.sin(node.inputs[0])]

    @graph_rewriter
    def nothing(fgraph):
        pass

    assert (to_sine.__name__, to_sine.name, nothing.__name__, nothing.name) == ("to_sine", "to_sine", "nothing", "nothing")


@node_rewriter([at.sin])
def sine_to_cosine(fgraph, node):
    return [at.cos(node.inputs[0])]


def test_a_mode_may_have_a_rewriter_of_the_program_which_leaves_bodies_of_loops_alone():
    x = at.dvector("x")
    path, _ = pyscan.scan(lambda a: at.sin(a), sequences=[x])
    mode = Mode("py", in2out(sine_to_cosine))
    f = pyscan.function([x], [at.sin(x), path], mode=mode)
    np.testing.assert_array_equal(f([0.5])[0], np.cos([0.5]))
    np.testing.assert_allclose(f([0.5])[1], np.sin([0.5]), rtol=1e-15)
    for other in (mode.including("fast_run"), mode.excluding("inplace"), mode.clone()):
        assert pyscan.function([x], at.sin(x), mode=other)([0.0]) == 1.0
    sent = pickle.loads(pickle.dumps(Mode("py", in2out(SubstitutionNodeRewriter(at.sin, at.cos)))))
    assert pyscan.function([x], at.sin(x), mode=sent)([0.0]) == 1.0
    assert mode == mode.clone() and mode != Mode("py", None) and hash(mode) == hash(mode.clone())


@pytest.fixture
def registered():
    optdb.register("sine_to_cosine", in2out(sine_to_cosine), "fast_run", position=1.5)
    yield "sine_to_cosine"
    del optdb.rows["sine_to_cosine"]


def test_registered_rewriters_run_where_the_mode_has_their_name_or_tag(registered):
    x = at.dvector("x")
    path, _ = pyscan.scan(lambda a: at.sin(a), sequences=[x])
    run, compile_fast = pyscan.mode.get_mode("FAST_RUN"), pyscan.mode.get_mode("FAST_COMPILE")
    for mode, value in ((run, 1.0), (compile_fast, 0.0), (run.excluding(registered), 0.0), (compile_fast.including(registered), 1.0)):
        assert [r.tolist() for r in pyscan.function([x], [at.sin(x), path], mode=mode)([0.0])] == [[value]] * 2
    with pytest.raises(ValueError, match="'sine_to_cosine' is already present"):
        optdb.register(registered, in2out(sine_to_cosine))
    with pytest.raises(TypeError, match="must be a GraphRewriter"):
        optdb.register("other", sine_to_cosine)
    assert registered in optdb and "other" not in optdb and isinstance(optdb[registered], GraphRewriter)
    optdb.remove_tags(registered, "fast_run")
    assert pyscan.function([x], at.sin(x), mode=run)([0.0]) == 0.0
    optdb.add_tags(registered, "fast_run")
    assert pyscan.function([x], at.sin(x), mode=run)([0.0]) == 1.0


def test_registered_rewriters_run_by_position():
    order = []
    for position, name in ((3, "third"), (1, "first"), (2, "second"), ("last", "fourth")):
        optdb.register(name, graph_rewriter(lambda fgraph, name=name: order.append(name)), "ordered", position=position)
    pyscan.function([], at.constant(1.0), mode=Mode("py", None).including("ordered"))
    for name in order:
        del optdb.rows[name]
    assert order == ["first", "second", "third", "fourth"]
