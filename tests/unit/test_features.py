"""The listeners on a graph but for the DestroyHandler: callbacks, histories, vetoes."""
import pickle

import pytest
from graph_nodes import Node, Other, add_inplace, f, g, h, plain, snapshot, variables

from pyscan.errors import AlreadyThere, InconsistencyError, ReplacementDidNotRemoveError
from pyscan.features import (
    Bookkeeper, DestroyHandler, Feature, History, NodeFinder, NoOutputFromInplace, PreserveVariableAttributes, PrintListener,
    ReplaceValidate, Supervisor, Validator,
)
from pyscan.graph import FunctionGraph


class Notes(Feature):
    """Notes every callback."""

    def __init__(self):
        self.heard = []

    def on_attach(self, fgraph):
        self.heard.append(("attach",))

    def on_detach(self, fgraph):
        self.heard.append(("detach",))

    def on_import(self, fgraph, node, reason):
        self.heard.append(("import", str(node), reason))

    def on_prune(self, fgraph, node, reason):
        self.heard.append(("prune", str(node), reason))

    def on_change_input(self, fgraph, node, i, var, new_var, reason=None):
        self.heard.append(("change", str(node), i, str(var), str(new_var), reason))

    def validate(self, fgraph):
        self.heard.append(("validate",))


@pytest.fixture
def graph():
    x, y = variables("x y")
    a = f(x, y)
    return FunctionGraph([x, y], [g(a)], clone=False)


# --- callbacks ---

def test_a_feature_hears_of_the_first_import_and_of_every_step_of_an_edit():
    x, y = variables("x y")
    notes = Notes()
    a = f(x)
    fgraph = FunctionGraph([x, y], [g(a)], clone=False, features=[notes])
    assert notes.heard == [("attach",), ("import", "f(x)", "init"), ("import", "g(f.0)", "init")]
    notes.heard.clear()
    fgraph.replace_validate(a, h(h(y)), reason="second")
    assert notes.heard == [
        ("import", "h(y)", "second"), ("import", "h(h.0)", "second"), ("prune", "f(x)", "second"), ("change", "g(h.0)", 0, "f.0", "h.0", "second"),
        ("validate",),
    ]
    fgraph.remove_feature(notes)
    fgraph.remove_feature(notes)
    assert notes.heard[-1] == ("detach",) and notes.heard.count(("detach",)) == 1


def test_features_are_called_in_the_order_of_attaching():
    order = []

    class Ordered(Feature):
        def __init__(self, name):
            self.name = name

        def on_import(self, fgraph, node, reason):
            order.append(self.name)

    x, = variables("x")
    FunctionGraph([x], [f(x)], clone=False, features=[Ordered("a"), Ordered("b"), Ordered("c")])
    assert order == ["a", "b", "c"]


def test_any_object_with_the_callbacks_is_a_feature(graph):
    class Bare:
        n = 0

        def on_attach(self, fgraph):
            pass

        def on_import(self, fgraph, node, reason):
            self.n += 1

    bare = Bare()
    graph.attach_feature(bare)
    graph.replace(graph.outputs[0], f(graph.inputs[0]))
    assert bare.n == 1


@pytest.mark.parametrize("base, arguments", [
    (ReplaceValidate, ()), (NodeFinder, ()), (Supervisor, ([],)), (DestroyHandler, ()), (PreserveVariableAttributes, ()),
    (NoOutputFromInplace, ([],)), (Bookkeeper, ()),
])
def test_a_subclass_of_a_built_in_feature_has_its_overrides_called(base, arguments):
    class Mine(base):
        def on_import(self, fgraph, node, reason):
            self.seen = [*getattr(self, "seen", []), str(node)]
            super().on_import(fgraph, node, reason)

        def validate(self, fgraph):
            self.validated = True
            return super().validate(fgraph)

    x, = variables("x")
    mine = Mine(*arguments)
    fgraph = FunctionGraph([x], [f(x)], clone=False, features=[mine])
    assert mine in fgraph._features and mine.seen == ["f(x)"]
    fgraph.validate()
    assert mine.validated


def test_a_callback_set_on_an_instance_of_a_built_in_feature_is_called():
    x, = variables("x")
    finder, seen = NodeFinder(), []
    finder.on_import = lambda fgraph, node, reason: seen.append(node)
    fgraph = FunctionGraph([x], [f(x)], clone=False, features=[finder])
    assert seen == [fgraph.outputs[0].owner]


def test_a_feature_is_attached_once_and_like_ones_are_dropped_silently(graph):
    notes = Notes()
    for feature in (notes, notes, History(), Validator(), ReplaceValidate()):
        graph.attach_feature(feature)
    assert len(graph._features) == 2 and notes.heard == [("attach",)]
    for feature, text in [
        (History(), "History feature is already present or in conflict with another plugin."),
        (ReplaceValidate(), "ReplaceValidate feature is already present or in conflict with another plugin."),
    ]:
        with pytest.raises(AlreadyThere, match=text):
            feature.on_attach(graph)


def test_callbacks_can_be_called_and_collected_by_name(graph):
    class Answers(Feature):
        def question(self, *args):
            self.asked = args
            return 42

    feature = Answers()
    graph.attach_feature(feature)
    assert graph.collect_callbacks("question", 1) == {feature: 42} and feature.asked == (1,)
    graph.execute_callbacks("question", 2)
    assert feature.asked == (graph, 2)


def test_orderings_of_python_features_are_followed_and_must_be_ordered():
    x, = variables("x")
    a, b, c = f(x), g(x), h(x)
    out = f(a, b, c)

    class Rule(Feature):
        answer = {a.owner: [c.owner]}

        def orderings(self, fgraph):
            return self.answer

    fgraph = FunctionGraph([x], [out], clone=False, features=[Rule(), Rule()])
    assert fgraph.orderings() == {a.owner: [c.owner, c.owner]}
    order = fgraph.toposort()
    assert order.index(c.owner) < order.index(a.owner)
    Rule.answer = {a.owner: {c.owner}}
    with pytest.raises(TypeError, match="prereqs must be a type with a deterministic iteration order"):
        fgraph.toposort()
    Rule.answer = 3
    with pytest.raises(TypeError, match="Non-deterministic return value"):
        fgraph.toposort()


def test_bookkeepers_are_told_of_the_nodes_that_were_there():
    class Counts(Bookkeeper):
        def __init__(self):
            self.nodes = []

        def on_import(self, fgraph, node, reason):
            self.nodes.append((node, reason))

        def on_prune(self, fgraph, node, reason):
            self.nodes.remove((node, "Bookkeeper.on_attach"))

    x, = variables("x")
    fgraph = FunctionGraph([x], [f(g(x))], clone=False)
    counts = Counts()
    fgraph.attach_feature(counts)
    assert [reason for _, reason in counts.nodes] == ["Bookkeeper.on_attach"] * 2
    fgraph.remove_feature(counts)
    assert counts.nodes == []


# --- History and ReplaceValidate ---

def test_a_history_takes_changes_back_with_a_reason_of_its_own(graph):
    notes = Notes()
    graph.attach_feature(notes)
    before = snapshot(graph)
    number = graph.checkpoint()
    graph.replace(graph.outputs[0].owner.inputs[0], h(graph.inputs[1]), reason="second")
    graph.revert(number)
    assert snapshot(graph) == before and notes.heard[-1][-1] == ("Revert", "second")
    assert graph.checkpoint() == number + 1


def test_removing_the_history_takes_its_methods_away(graph):
    graph.remove_feature(graph._features[0])
    for name in ("checkpoint", "revert", "validate", "consistent", "replace_validate", "replace_all_validate", "replace_all_validate_remove"):
        assert not hasattr(graph, name)
    graph.replace(graph.outputs[0].owner.inputs[0], h(graph.inputs[1]))
    graph.attach_feature(History())
    assert graph.checkpoint() and not hasattr(graph, "validate")


def test_consistent_says_whether_a_feature_objects(graph):
    class Objects(Feature):
        def validate(self, fgraph):
            raise InconsistencyError("no")

    assert graph.consistent() is True
    graph.attach_feature(Objects())
    assert graph.consistent() is False


def test_verbose_replacements_say_what_happened(graph, capsys):
    class Objects(Feature):
        def validate(self, fgraph):
            raise InconsistencyError("no")

    a = graph.outputs[0].owner.inputs[0]
    graph.replace_all_validate([(a, h(graph.inputs[0]))], reason="R", verbose=True)
    assert capsys.readouterr().out == "rewriting: rewrite R replaces f.0 of f(x, y) with h.0 of h(x)\n"
    graph.attach_feature(Objects())
    with pytest.raises(InconsistencyError):
        graph.replace_all_validate([(graph.outputs[0].owner.inputs[0], f(graph.inputs[0]))], reason="R", verbose=True)
    assert capsys.readouterr().out == "rewriting: validate failed on node h.0.\n Reason: R, no\n"


def test_a_replacement_that_leaves_what_it_promised_to_remove_is_undone(graph):
    x, y = graph.inputs
    a = graph.outputs[0].owner.inputs[0]
    before = snapshot(graph)
    with pytest.warns(UserWarning, match=r"the replacement for it doesn't remove it. We disabled the optimization.why: \[\(f.0, h.0\)\]"):
        with pytest.raises(ReplacementDidNotRemoveError):
            graph.replace_all_validate_remove([(a, h(a))], [a.owner], reason="why")
    assert snapshot(graph) == before
    graph.validate()


def test_a_removed_node_must_not_come_back(graph):
    x, y = graph.inputs
    a = graph.outputs[0].owner.inputs[0]
    new = h(x)
    graph.replace_all_validate_remove([(a, new)], [a.owner])
    before = snapshot(graph)
    with pytest.raises(InconsistencyError, match="Trying to reintroduce a removed node"):
        graph.replace_validate(new, a)
    assert snapshot(graph) == before
    graph.validate()


# --- the smaller ones ---

def test_nodes_are_found_by_their_op(graph):
    x, y = graph.inputs
    finder = NodeFinder()
    graph.attach_feature(finder)
    a = graph.outputs[0].owner.inputs[0]
    assert graph.get_nodes(f) == [a.owner] and graph.get_nodes(h) == []
    graph.replace(a, h(x))
    assert graph.get_nodes(f) == [] and len(graph.get_nodes(h)) == 1
    with pytest.raises(AlreadyThere, match="NodeFinder is already present"):
        NodeFinder().on_attach(graph)
    graph.remove_feature(finder)
    assert not hasattr(graph, "get_nodes")


def test_ops_without_a_hash_are_not_found_and_do_no_harm():
    class Unhashable(Node):
        __hash__ = None

    x, = variables("x")
    fgraph = FunctionGraph([x], [Unhashable("u")(x)], clone=False, features=[NodeFinder()])
    assert fgraph.get_nodes([]) == []
    fgraph.replace(fgraph.outputs[0], f(x))


def test_a_replacement_takes_the_old_name_when_it_has_none(graph):
    graph.attach_feature(PreserveVariableAttributes())
    a = graph.outputs[0].owner.inputs[0]
    a.name = "a"
    new = h(graph.inputs[0])
    graph.replace(a, new)
    assert new.name == "a"
    other_new = f(graph.inputs[0])
    other_new.name = "own"
    graph.replace(new, other_new)
    assert other_new.name == "own"


def test_a_print_listener_prints(capsys):
    x, y = variables("x y")
    a = f(x)
    listener = PrintListener()
    fgraph = FunctionGraph([x, y], [a], clone=False, features=[listener])
    fgraph.replace(a, g(y), reason="second")
    fgraph.remove_feature(listener)
    assert capsys.readouterr().out.splitlines() == [
        "-- attaching to:  FunctionGraph()", "-- importing: f(x), reason: init", "-- importing: g(y), reason: second",
        "-- pruning: f(x), reason: second", "-- changing (output.inputs[0]) from f.0 to g.0", "-- detaching from:  FunctionGraph(g(y))",
    ]
    listener.active = False
    fgraph.attach_feature(listener)
    assert capsys.readouterr().out == ""


def test_outputs_can_be_kept_from_being_made_in_place():
    x, y = variables("x y")
    fgraph = FunctionGraph([x, y], [f(x), add_inplace(f(x), y)], clone=False, features=[NoOutputFromInplace([1])])
    fgraph.validate()
    fgraph.attach_feature(DestroyHandler())
    with pytest.raises(InconsistencyError, match="A function graph Feature has requested that outputs of the graph be prevented from being the "
                       "result of in-place operations. This has prevented the output add_inplace.0 from being computed by modifying another "
                       "variable in-place."):
        fgraph.validate()
    fgraph.replace(fgraph.outputs[1], f(y))
    fgraph.validate()
    assert fgraph._no_output_from_inplace.clone().protected_out_ids == (1,)


def test_features_of_a_copied_graph_are_copies():
    x, y = variables("x y")
    supervisor = Supervisor([x])
    fgraph = FunctionGraph([x, y], [f(x, y)], clone=False, features=[supervisor, DestroyHandler(), NodeFinder(), Notes()])
    copied = fgraph.clone()
    assert [type(a) for a in copied._features] == [ReplaceValidate, Supervisor, DestroyHandler, NodeFinder, Notes]
    assert copied._features[1] is not supervisor and copied._features[4] is fgraph._features[3]
    assert copied._supervisor_protected == {copied.inputs[0]} and fgraph._supervisor_protected == {x}
    assert copied.get_nodes(f) == [copied.outputs[0].owner]


@pytest.mark.parametrize("feature", [
    Supervisor([]), DestroyHandler(False, "regular"), NodeFinder(), ReplaceValidate(), NoOutputFromInplace([2]), PrintListener(False), Feature(),
])
def test_features_pickle(feature):
    feature.note = "mine"
    loaded = pickle.loads(pickle.dumps(feature))
    assert type(loaded) is type(feature) and loaded.note == "mine"
    assert getattr(loaded, "protected_out_ids", None) == getattr(feature, "protected_out_ids", None)


@pytest.mark.parametrize("call", [
    lambda: Supervisor([]).on_attach(None), lambda: DestroyHandler().on_import(None, None, None), lambda: Feature().on_prune(3, 4, 5),
    lambda: History.checkpoint(None), lambda: ReplaceValidate.replace_validate(plain, plain, plain), lambda: Supervisor(3),
    lambda: Feature().on_change_input(1, 2, 3, 4, 5), lambda: Other().is_super(),
])
def test_callbacks_refuse_what_is_no_graph(call):
    with pytest.raises(TypeError):
        call()


def test_what_a_history_keeps_can_be_looked_at_while_it_is_there():
    x, y = variables("x y")
    a = f(x)
    fgraph = FunctionGraph([x, y], [a], clone=False)
    (feature,) = fgraph._features
    reverting = []

    class Watch(Feature):
        def on_change_input(self, fgraph, node, i, var, new_var, reason=None):
            reverting.append(fgraph._history_is_reverting)
    fgraph.attach_feature(Watch())
    checkpoint = fgraph.checkpoint()
    assert fgraph._history_history == []
    fgraph.replace(a, g(y))
    assert len(fgraph._history_history) == 1 and not fgraph._history_is_reverting
    fgraph.revert(checkpoint)
    assert fgraph._history_history == [] and reverting == [False, True] and fgraph.outputs == [a]
    fgraph.remove_feature(feature)
    for name in ("_history_history", "_history_is_reverting", "_replace_nodes_removed", "_replace_validate_failed"):
        with pytest.raises(AttributeError, match=name):
            getattr(fgraph, name)


def test_nodes_that_must_not_come_back_are_known_to_the_graph():
    x, y = variables("x y")
    a = f(x)
    fgraph = FunctionGraph([x, y], [a], clone=False)
    fgraph.replace_all_validate_remove([(a, g(y))], [a.owner])
    assert fgraph._replace_nodes_removed == {a.owner} and not fgraph._replace_validate_failed
    fgraph.replace(fgraph.outputs[0], a)
    assert fgraph._replace_validate_failed
