"""DestroyHandler and Supervisor: what may be overwritten, by whom, and in which order."""
import random

import pytest
from graph_nodes import Node, add_inplace, chain, constant, f, g, h, plain, snapshot, variables, view

from pyscan import _core
from pyscan.errors import InconsistencyError
from pyscan.features import DestroyHandler, Supervisor, fast_inplace_check
from pyscan.graph import FunctionGraph, io_toposort

inplace = Node("inplace", destroyed=[(0, 0)])


def handled(inputs, outputs, protected=None):
    features = [DestroyHandler()] if protected is None else [Supervisor(protected), DestroyHandler()]
    return FunctionGraph(inputs, outputs, clone=False, features=features)


def refuses(fgraph, message):
    with pytest.raises(InconsistencyError, match=message):
        fgraph.validate()
    assert not fgraph.consistent()


# --- the rules ---

def test_one_destroyer_is_fine_and_known():
    x, y = variables("x y")
    out = add_inplace(x, y)
    fgraph = handled([x, y], [out])
    fgraph.validate()
    assert fgraph.destroyers(x) == [out.owner] and fgraph.destroyers(y) == []
    assert fgraph.has_destroyers([y, x]) and not fgraph.has_destroyers([y])
    assert fast_inplace_check(fgraph, [x, y, constant(1)]) == [y]


@pytest.mark.parametrize("make", [
    lambda x, y: [inplace(x), add_inplace(x, y)],
    lambda x, y: [inplace(view(x)), inplace(x)],
    lambda x, y: [inplace(view(view(x))), inplace(view(x))],
    lambda x, y: [Node("both", n_outputs=2, destroyed=[(0, 0), (1, 1)])(x, x)[0]],
])
def test_two_destroyers_of_one_memory_are_refused(make):
    x, y = variables("x y")
    fgraph = handled([x, y], [*make(x, y), f(y)])
    refuses(fgraph, "Multiple destroyers of x")
    with pytest.raises(InconsistencyError, match="Multiple destroyers of x"):
        fgraph.toposort()


def test_constants_and_indestructible_variables_are_not_overwritten():
    x, y = variables("x y")
    refuses(handled([x], [inplace(constant(3))]), r"Attempting to destroy indestructible variables: \[Constant\{3\}\]")
    refuses(handled([x], [inplace(view(constant(3)))]), r"Attempting to destroy indestructible variables: \[Constant\{3\}\]")
    y.tag.indestructible = True
    refuses(handled([y], [inplace(y)]), r"Attempting to destroy indestructible variables: \[y\]")


def test_a_destroyer_that_reads_what_it_overwrites_by_another_input_is_refused():
    x, = variables("x")
    refuses(handled([x], [add_inplace(x, x)]), r"Input aliasing: add_inplace\(x, x\) \(0, 1\)")
    refuses(handled([x], [add_inplace(x, view(x))]), r"Input aliasing: add_inplace\(x, view.0\) \(0, 1\)")


def test_an_op_may_tolerate_the_same_input_or_an_aliased_one():
    x, = variables("x")
    same = Node("same", destroyed=[(0, 0)], destroyhandler_tolerate_same=[(0, 1)])
    aliased = Node("aliased", destroyed=[(0, 0)], destroyhandler_tolerate_aliased=[(0, 1)])
    handled([x], [same(x, x)]).validate()
    handled([x], [aliased(x, view(x))]).validate()
    refuses(handled([x], [same(x, view(x))]), r"Input aliasing")


def test_other_readers_come_first():
    x, y = variables("x y")
    reader, destroyer = f(x), inplace(view(x))
    fgraph = handled([x, y], [destroyer, reader, g(reader)])
    fgraph.validate()
    shown = destroyer.owner.inputs[0].owner
    assert fgraph.orderings() == {destroyer.owner: [shown, reader.owner]}
    order = fgraph.toposort()
    assert order.index(reader.owner) < order.index(destroyer.owner)


def test_a_reader_that_depends_on_the_destroyer_is_refused():
    x, y = variables("x y")
    out = inplace(x)
    refuses(handled([x], [f(out, x)]), "Dependency graph contains cycles")
    refuses(handled([x], [f(g(out), view(x))]), "Dependency graph contains cycles")


def test_two_destroyers_that_wait_for_each_other_are_refused():
    x, y = variables("x y")
    refuses(handled([x, y], [add_inplace(x, y), add_inplace(y, x)]), "Dependency graph contains cycles")


def test_maps_over_several_inputs_are_not_supported():
    op = Node("several")
    op.destroy_map = {0: [0, 1]}
    x, y = variables("x y")
    with pytest.raises(NotImplementedError):
        handled([x, y], [op(x, y)])
    op.destroy_map = {0: [7]}
    with pytest.raises(ValueError, match="names an output or input that the node lacks"):
        handled([x, y], [op(x, y)])


def test_a_map_that_is_refused_in_an_edit_leaves_the_graph_as_it_was():
    x, y = variables("x y")
    fgraph = handled([x, y], [f(x, y)])
    before = snapshot(fgraph)
    op = Node("several")
    op.destroy_map = {0: [0, 1]}
    with pytest.raises(NotImplementedError):
        fgraph.replace_validate(fgraph.outputs[0], op(x, y))
    assert snapshot(fgraph) == before
    fgraph.validate()


# --- after edits ---

def test_a_refused_edit_is_undone_and_the_graph_stays_valid():
    x, y = variables("x y")
    a = f(x)
    fgraph = handled([x, y], [g(a), h(a)])
    before = snapshot(fgraph)
    with pytest.raises(InconsistencyError, match="Dependency graph contains cycles"):
        fgraph.replace_all_validate([(fgraph.outputs[1], h(inplace(a), a))], reason="bad")
    assert snapshot(fgraph) == before and fgraph.vetoes == [("bad", "h(inplace.0, f.0)", "Dependency graph contains cycles")]
    fgraph.validate()
    fgraph.replace_all_validate([(fgraph.outputs[1], inplace(a))])
    assert fgraph.destroyers(a) == [fgraph.outputs[1].owner]


def test_what_is_destroyed_follows_a_view_to_its_new_root():
    x, y = variables("x y")
    shown = view(x)
    out = inplace(view(shown))
    fgraph = handled([x, y], [out])
    fgraph.validate()
    fgraph.replace_validate(x, y)
    assert (fgraph.destroyers(x), fgraph.destroyers(y)) == ([], [out.owner])
    fgraph.replace_validate(shown, f(x))
    assert fgraph.destroyers(y) == [] and fgraph.destroyers(out.owner.inputs[0]) == [out.owner]
    fgraph.replace_validate(out, x)
    assert not fgraph.has_destroyers(fgraph.variables)


def test_a_circle_of_views_is_refused_and_can_be_undone():
    x, y = variables("x y")
    first = view(x)
    second = view(first)
    fgraph = handled([x, y], [inplace(second), f(y)])
    fgraph.validate()
    before = snapshot(fgraph)
    with pytest.raises(InconsistencyError, match="Dependency graph contains cycles"):
        fgraph.replace_validate(x, second)
    assert snapshot(fgraph) == before and fgraph.destroyers(x) == [fgraph.outputs[0].owner]
    fgraph.validate()


def test_a_reader_added_by_an_edit_is_seen():
    x, y = variables("x y")
    out = inplace(x)
    fgraph = handled([x, y], [out, f(y)])
    fgraph.validate()
    with pytest.raises(InconsistencyError, match="cycles"):
        fgraph.replace_validate(y, g(x, out))
    fgraph.replace_validate(y, g(x))
    order = fgraph.toposort()
    assert order.index(fgraph.outputs[1].owner.inputs[0].owner) < order.index(out.owner)


def test_detaching_the_handler_takes_its_rules_away():
    x, = variables("x")
    handler = DestroyHandler()
    fgraph = FunctionGraph([x], [f(inplace(x), x)], clone=False, features=[handler])
    fgraph.attach_feature(DestroyHandler())
    assert fgraph._features.count(handler) == 1 and len(fgraph._features) == 2
    fgraph.remove_feature(handler)
    fgraph.validate()
    assert not hasattr(fgraph, "destroyers")
    fgraph.attach_feature(DestroyHandler())
    refuses(fgraph, "cycles")


def whole_check(fgraph):
    """What a handler that never saw an edit says of the same graph."""
    copied = fgraph.clone(check_integrity=False)
    try:
        copied.validate()
    except InconsistencyError as error:
        return str(error).partition(" of ")[0].partition(":")[0]
    return "valid"


@pytest.mark.parametrize("seed", range(60))
def test_validation_by_the_size_of_the_edit_agrees_with_one_of_the_whole_graph(seed):
    rng = random.Random(seed)
    ins = variables("a b c")
    known = list(ins)
    kinds = [f, g, view, inplace, add_inplace, Node("two", n_outputs=2, viewed=[(1, 0)])]
    for _ in range(rng.randint(4, 25)):
        op = rng.choice(kinds)
        known += op.make_node(*(rng.choice(known[-8:]) for _ in range(2 if op is add_inplace else 1))).outputs
    fgraph = FunctionGraph(ins, rng.sample(known[3:], 2), clone=False, features=[DestroyHandler()])
    if whole_check(fgraph) != "valid":
        fgraph = FunctionGraph(ins, [chain(6, ins[0])], clone=False, features=[DestroyHandler()])
    fgraph.validate()
    for step in range(25):
        nodes = fgraph.toposort()
        node = rng.choice(nodes)
        sources = [v for n in nodes if n is not node for v in n.outputs] + ins
        op = rng.choice([kind for kind in kinds if kind.n_outputs == len(node.outputs)])
        new = op.make_node(*(rng.choice(sources) for _ in range(2 if op is add_inplace else 1)))
        before = snapshot(fgraph)
        number = fgraph.checkpoint()
        fgraph.replace_all(zip(node.outputs, new.outputs))
        try:
            io_toposort(fgraph.inputs, fgraph.outputs)
        except ValueError:  # a cycle of inputs alone is no matter of destroyers
            fgraph.revert(number)
            assert snapshot(fgraph) == before
            continue
        expected = whole_check(fgraph)
        fgraph.revert(number)
        assert snapshot(fgraph) == before
        try:
            fgraph.replace_all_validate(list(zip(node.outputs, new.outputs)))
            assert expected == "valid"
        except InconsistencyError as error:
            assert str(error).partition(" of ")[0].partition(":")[0] == expected
            assert snapshot(fgraph) == before
        fgraph.check_integrity()


def test_an_edit_for_which_memory_runs_out_is_undone_and_a_veto_is_never_mistaken():
    def edit(accepted):
        x, y = variables("x y")
        a = f(x)
        fgraph = handled([x, y], [f(g(a)), h(a)], protected=[x])
        fgraph.validate()
        return fgraph, snapshot(fgraph), [(fgraph.outputs[0].owner.inputs[0], inplace(a) if accepted else inplace(x))]

    for accepted in (True, False):
        n_failed, countdown = 0, 1
        while True:
            fgraph, before, pairs = edit(accepted)
            _core.mem_fault_arm(countdown)
            try:
                fgraph.replace_all_validate(pairs)
                raised = None
            except (MemoryError, InconsistencyError) as error:
                raised = type(error)
            if not _core.mem_fault_disarm():
                break
            assert raised is MemoryError
            if accepted:
                assert snapshot(fgraph) == before
            n_failed, countdown = n_failed + 1, countdown + 1
        assert n_failed > 3 and raised is (None if accepted else InconsistencyError)
        assert accepted == (snapshot(fgraph) != before)


# --- Supervisor ---

def test_protected_variables_and_outputs_are_not_overwritten():
    x, y = variables("x y")
    refuses(handled([x, y], [inplace(x)], protected=[x]), "Trying to destroy a protected variable: x")
    refuses(handled([x, y], [inplace(view(x))], protected=[x]), "Trying to destroy a protected variable: x")
    a = f(x)
    refuses(handled([x, y], [inplace(a), a], protected=[]), "Trying to destroy a protected variable: f.0")
    handled([x, y], [inplace(x)], protected=[y]).validate()


def test_without_a_destroy_handler_a_supervisor_agrees():
    x, = variables("x")
    FunctionGraph([x], [inplace(x)], clone=False, features=[Supervisor([x])]).validate()


@pytest.mark.parametrize("edit, message", [
    (lambda fg, x, y: fg.replace(fg.outputs[0], inplace(x)), "protected variable: x"),
    (lambda fg, x, y: fg.replace(fg.outputs[0].owner.inputs[0], view(x)), None),
    (lambda fg, x, y: fg.change_node_input("output", 0, fg.outputs[1].owner.inputs[0]), "protected variable: f.0"),
    (lambda fg, x, y: fg.change_node_input("output", 0, view(fg.outputs[1].owner.inputs[0])), "protected variable: view.0"),
    (lambda fg, x, y: fg.change_node_input(fg.outputs[1].owner, 0, view(x)), "protected variable: x"),
    (lambda fg, x, y: fg.add_output(fg.outputs[1].owner.inputs[0]), "protected variable: f.0"),
    (lambda fg, x, y: fg._supervisor_protected.add(fg.outputs[1].owner.inputs[0]), "protected variable: f.0"),
    (lambda fg, x, y: fg.attach_feature(Supervisor([fg.outputs[1].owner.inputs[0]])), "protected variable: f.0"),
])
def test_a_supervisor_sees_what_an_edit_changed(edit, message):
    x, y = variables("x y")
    fgraph = handled([x, y], [g(f(x)), inplace(f(y))], protected=[x])
    fgraph.validate()
    edit(fgraph, x, y)
    for _ in range(2):
        if message is None:
            fgraph.validate()
        else:
            refuses(fgraph, message)


def test_a_second_supervisor_adds_to_the_first():
    x, y = variables("x y")
    fgraph = handled([x, y], [f(x, y)], protected=[x])
    fgraph.attach_feature(Supervisor([y]))
    assert fgraph._supervisor_protected == {x, y} and sum(isinstance(a, Supervisor) for a in fgraph._features) == 1
    assert fgraph._features[0].initial_protected == {x}


# --- cost ---

@pytest.mark.parametrize("n", [500, 4000])
def test_an_edit_costs_by_its_size(n):
    x, = variables("x")
    out = chain(n, x)
    fgraph = handled([x], [out], protected=[x])
    nodes = fgraph.toposort()
    calls = 0

    class Counted(Node):
        def __getattribute__(self, name):
            nonlocal calls
            calls += name in ("destroy_map", "view_map")
            return super().__getattribute__(name)

    counted = Counted("inplace", destroyed=[(0, 0)])
    for node in nodes[1:50]:
        fgraph.replace_validate(node.outputs[0], counted(*node.inputs))
    assert 0 < calls <= 49 * 4
