"""FunctionGraph: construction, bookkeeping, edits that are done wholly or not at all."""
import gc
import weakref

import pytest
from graph_nodes import Node, chain, constant, f, g, h, other, plain, snapshot, variables

from pyscan.errors import InconsistencyError, MissingInputError
from pyscan.features import Feature, ReplaceValidate
from pyscan.graph import FunctionGraph, NominalVariable


@pytest.fixture
def parts():
    """x, y, a = f(y, x), b = g(a, y), c = h(b, y, y), and the graph of the outputs a and c."""
    x, y = variables("x y")
    a = f(y, x)
    b = g(a, y)
    c = h(b, y, y)
    return x, y, a, b, c, FunctionGraph([x, y], [a, c], clone=False)


# --- construction ---

def test_a_graph_knows_its_variables_nodes_and_clients(parts):
    x, y, a, b, c, fgraph = parts
    assert (fgraph.inputs, fgraph.outputs) == ([x, y], [a, c])
    assert fgraph.apply_nodes == {a.owner, b.owner, c.owner} and fgraph.variables == {x, y, a, b, c}
    assert fgraph.clients == {
        x: [(a.owner, 1)], y: [(a.owner, 0), (b.owner, 1), (c.owner, 1), (c.owner, 2)], a: [("output", 0), (b.owner, 0)],
        b: [(c.owner, 0)], c: [("output", 1)],
    }
    assert (fgraph.update_mapping, fgraph.inv_update_mapping, fgraph.profile, fgraph.name) == ({}, {}, None, None)
    assert fgraph.check_integrity() is None
    assert a in fgraph and a.owner in fgraph and f(x) not in fgraph
    with pytest.raises(TypeError):
        3 in fgraph


def test_inputs_are_found_and_constants_and_nominal_variables_are_none():
    x, y = variables("x y")
    nominal = NominalVariable(7, plain)
    fgraph = FunctionGraph(outputs=[f(x, constant(1), g(y, nominal))], clone=False)
    assert fgraph.inputs == [x, y] and nominal in fgraph.variables


def test_a_graph_is_a_copy_unless_told_otherwise(parts):
    x, y, a, b, c, _ = parts
    memo = {}
    fgraph = FunctionGraph([x, y], [a, c], memo=memo)
    assert fgraph.inputs[0] is not x and fgraph.outputs == [memo[a], memo[c]]
    assert str(fgraph) == "FunctionGraph(*1 -> f(y, x), h(g(*1, y), y, y))"


@pytest.mark.parametrize("arguments, error, message", [
    (lambda x, y: ([x],), ValueError, "No outputs specified"),
    (lambda x, y: ([x], y), TypeError, "outputs must be a sequence of Variables, not one Variable"),
    (lambda x, y: (x, [y]), TypeError, "inputs must be a sequence of Variables, not one Variable"),
    (lambda x, y: ([None], [y]), TypeError, "inputs must hold Variables; item 0 is None"),
    (lambda x, y: ([x, f(y)], [x]), ValueError, "One of the provided inputs is the output of an already existing node."),
])
def test_construction_refuses_what_is_no_graph(arguments, error, message):
    with pytest.raises(error, match=message):
        FunctionGraph(*arguments(*variables("x y")), clone=False)


def test_a_missing_input_is_named_with_the_node_and_the_line_that_made_it():
    x, = variables("x")
    q = plain("q")
    with pytest.raises(MissingInputError) as caught:
        FunctionGraph([x], [f(x, q)])
    text = str(caught.value)
    assert text.startswith(
        "Input 1 (q) of the graph (indices start from 0), used to compute f(x, q), was not provided and not given a value. "
        "Use the Aesara flag exception_verbosity='high', for more information on this error."
    )
    assert "\n \nBacktrace when that variable is created:\n\n" in text and "graph_nodes" not in text and 'q = plain("q")' in text
    with pytest.raises(MissingInputError, match="^Undeclared input: q"):
        FunctionGraph([x], [q])


def test_update_mappings_are_kept_both_ways(parts):
    x, y, a, b, c, _ = parts
    fgraph = FunctionGraph([x, y], [a, c], update_mapping={1: 0})
    assert (fgraph.update_mapping, fgraph.inv_update_mapping) == ({1: 0}, {0: 1})
    assert fgraph.clone().update_mapping == {1: 0}
    fgraph.update_mapping = None
    assert (fgraph.update_mapping, fgraph.inv_update_mapping) == ({}, {})


def test_a_python_subclass_of_function_graph_works():
    class Mine(FunctionGraph):
        def n_nodes(self):
            return len(self.apply_nodes)

    x, = variables("x")
    assert Mine([x], [f(x)]).n_nodes() == 1


# --- inputs and outputs ---

def test_inputs_and_outputs_can_be_added(parts):
    x, y, a, b, c, fgraph = parts
    z, = variables("z")
    fgraph.add_input(z)
    fgraph.add_input(z)
    fgraph.add_output(f(z), reason="more")
    assert fgraph.inputs == [x, y, z] and len(fgraph.outputs) == 3
    q, = variables("q")
    with pytest.raises(MissingInputError):
        fgraph.add_output(f(q))
    fgraph.add_output(f(q), import_missing=True)
    assert fgraph.inputs[-1] is q
    fgraph.check_integrity()


def test_removing_an_output_prunes_and_renumbers(parts):
    x, y, a, b, c, _ = parts
    fgraph = FunctionGraph([x, y], [b, c, b, x], clone=False, update_mapping={1: 0, 3: 1})
    fgraph.remove_output(0)
    assert fgraph.outputs == [c, b, x] and fgraph.update_mapping == {0: 0, 2: 1}
    assert ("output", 1) in fgraph.clients[b] and ("output", 0) in fgraph.clients[c]
    fgraph.check_integrity()
    fgraph.remove_output(0)
    assert c not in fgraph.clients and fgraph.apply_nodes == {a.owner, b.owner} and fgraph.update_mapping == {1: 1}
    with pytest.raises(IndexError, match="the graph has 2 outputs"):
        fgraph.remove_output(2)
    fgraph.check_integrity()


def test_removing_an_input_takes_all_that_depends_on_it(parts):
    x, y, a, b, c, _ = parts
    z, = variables("z")
    d = f(z)
    fgraph = FunctionGraph([x, y, z], [a, d, y], clone=False, update_mapping={0: 1, 1: 2})
    fgraph.remove_input(1)
    assert (fgraph.inputs, fgraph.outputs, fgraph.update_mapping) == ([x, z], [d], {0: 1})
    assert y not in fgraph.clients and not fgraph.clients[x]
    fgraph.check_integrity()


def test_an_input_that_is_there_twice_is_removed_once():
    x, y = variables("x y")
    fgraph = FunctionGraph([x, x, y], [f(x, y), x], clone=False)
    fgraph.remove_input(0)
    assert (fgraph.inputs, fgraph.outputs) == ([x, y], [])
    fgraph.check_integrity()


def test_removing_a_node_takes_its_dependants_and_its_orphans(parts):
    x, y, a, b, c, fgraph = parts
    fgraph.remove_node(b.owner)
    assert fgraph.apply_nodes == {a.owner} and fgraph.outputs == [a]
    fgraph.check_integrity()
    fgraph.remove_node(b.owner)
    two = Node("two", n_outputs=2)(f(x), y)
    fgraph = FunctionGraph([x, y], [two[0], g(two[1])], clone=False)
    fgraph.remove_node(two[0].owner)
    assert not fgraph.apply_nodes and not fgraph.outputs
    fgraph.check_integrity()


# --- bookkeeping by hand ---

def test_clients_can_be_added_and_removed_by_hand(parts):
    x, y, a, b, c, fgraph = parts
    with pytest.raises(TypeError, match="The first entry of `new_client` must be an `Apply` node or the string `\"output\"`"):
        fgraph.add_client(b, (None, 0))
    fgraph.remove_client(y, (b.owner, 1))
    fgraph.remove_client(b, (c.owner, 0), reason="testing")
    assert b.owner not in fgraph.apply_nodes and b not in fgraph.variables and a.owner in fgraph.apply_nodes
    fgraph.setup_var(b)
    assert fgraph.get_clients(b) == []
    with pytest.raises(KeyError):
        fgraph.get_clients(plain("q"))


def test_variables_and_nodes_can_be_imported_by_hand(parts):
    x, y, a, b, c, fgraph = parts
    q, = variables("q")
    before = snapshot(fgraph)
    with pytest.raises(MissingInputError):
        fgraph.import_node(f(q).owner)
    with pytest.raises(MissingInputError):
        fgraph.import_var(q)
    assert snapshot(fgraph) == before
    fgraph.import_var(g(q), import_missing=True)
    assert q in fgraph.inputs
    fgraph.import_node(f(x).owner)
    assert len(fgraph.clients[x]) == 2


@pytest.mark.parametrize("damage, message", [
    (lambda fg, c, b, y: fg.apply_nodes.discard(c.owner), "The following nodes are inappropriately cached:\nmissing: .*h.*\nin excess: set"),
    (lambda fg, c, b, y: fg.variables.discard(b), "The following variables are inappropriately cached:"),
    (lambda fg, c, b, y: fg.clients[y].remove((c.owner, 1)), "Inconsistent clients list"),
    (lambda fg, c, b, y: fg.clients[b].append(("output", 1)), "Inconsistent clients list"),
    (lambda fg, c, b, y: fg.clients[b].append((f(b).owner, 0)), "Client not in FunctionGraph"),
    (lambda fg, c, b, y: fg.inputs.remove(y), "Undeclared input: y"),
    (lambda fg, c, b, y: fg.clients[c].remove(("output", 1)), "Inconsistent clients list"),
])
def test_integrity_is_checked(parts, damage, message):
    x, y, a, b, c, fgraph = parts
    damage(fgraph, c, b, y)
    with pytest.raises(Exception, match=message):
        fgraph.check_integrity()


# --- edits ---

def test_an_input_of_a_node_can_be_changed(parts):
    x, y, a, b, c, fgraph = parts
    fgraph.change_node_input(c.owner, 1, x)
    assert c.owner.inputs == [b, x, y] and (c.owner, 1) in fgraph.clients[x] and (c.owner, 1) not in fgraph.clients[y]
    fgraph.change_node_input("output", 1, b)
    assert fgraph.outputs == [a, b] and c.owner not in fgraph.apply_nodes
    fgraph.check_integrity()


@pytest.mark.parametrize("arguments, error, message", [
    (lambda c: ("output", 1, other("q")), TypeError, "The type of the replacement .Other. must be compatible with the type of the original Variable .Plain."),
    (lambda c: (c.owner, 0, plain("q")), MissingInputError, "Undeclared input: q"),
    (lambda c: (c.owner, 0, f(plain("q"))), MissingInputError, "Input 0 .q. of the graph"),
    (lambda c: (c.owner, 9, plain("q")), IndexError, "has no input 9"),
    (lambda c: (None, 0, plain("q")), TypeError, "expected an Apply or \"output\", got None"),
    (lambda c: (c.owner, 0, None), TypeError, "expected a Variable, got None"),
])
def test_a_refused_change_leaves_the_graph_as_it_was(parts, arguments, error, message):
    *_, c, fgraph = parts
    before = snapshot(fgraph)
    with pytest.raises(error, match=message):
        fgraph.change_node_input(*arguments(c))
    assert snapshot(fgraph) == before
    fgraph.check_integrity()


def test_a_variable_is_replaced_wherever_it_is_read(parts):
    x, y, a, b, c, fgraph = parts
    new = f(x)
    fgraph.replace(a, new, reason="test")
    assert fgraph.outputs == [new, c] and b.owner.inputs == [new, y] and a.owner not in fgraph.apply_nodes and a not in fgraph.clients
    fgraph.replace(a, x)  # not in the graph any more: nothing
    fgraph.replace_all([(b, x), (c, new)], reason="both")
    assert fgraph.outputs == [new, new]
    fgraph.check_integrity()


def test_a_replacement_says_what_it_does_when_asked_to(parts, capsys):
    x, y, a, b, c, fgraph = parts
    fgraph.replace(a, x, reason="because", verbose=True)
    assert capsys.readouterr().out == "rewriting: rewrite because replaces f.0 of f(y, x) with x of None\n"


@pytest.mark.parametrize("new, error", [
    (lambda: plain("q"), MissingInputError), (lambda: g(plain("q")), MissingInputError), (lambda: other("q"), TypeError), (lambda: f(None), TypeError),
])
def test_a_refused_replacement_leaves_the_graph_as_it_was(parts, new, error):
    x, y, a, b, c, fgraph = parts
    before = snapshot(fgraph)
    with pytest.raises(error):
        fgraph.replace(y, new())
    with pytest.raises(error):
        fgraph.replace_all_validate([(a, x), (y, new())])
    assert snapshot(fgraph) == before
    fgraph.check_integrity()


class Refuses(Feature):
    """Raises at one event, once; notes all events."""

    def __init__(self, event, error):
        self.event, self.error, self.heard = event, error, []

    def _hear(self, event, what):
        self.heard.append((event, what))
        if event == self.event:
            self.event = None
            raise self.error

    def on_import(self, fgraph, node, reason):
        self._hear("import", node)

    def on_prune(self, fgraph, node, reason):
        self._hear("prune", node)

    def on_change_input(self, fgraph, node, i, var, new_var, reason=None):
        self._hear("change", (node, i))

    def validate(self, fgraph):
        self._hear("validate", None)


@pytest.mark.parametrize("event", ["import", "prune", "change"])
def test_a_listener_that_raises_undoes_the_edit_and_all_listeners_hear_the_same(parts, event):
    x, y, a, b, c, fgraph = parts
    before = snapshot(fgraph)
    first, second = Refuses(event, ZeroDivisionError(event)), Refuses(None, None)
    fgraph.attach_feature(first)
    fgraph.attach_feature(second)
    for edit in (lambda: fgraph.replace(a, g(g(x))), lambda: fgraph.replace_validate(a, g(g(x)))):
        first.event = event
        with pytest.raises(ZeroDivisionError):
            edit()
        assert snapshot(fgraph) == before
        assert first.heard == second.heard and first.heard
    fgraph.check_integrity()
    assert fgraph.vetoes == []


def test_a_listener_that_raises_at_an_added_output_takes_it_back(parts):
    x, y, a, b, c, fgraph = parts
    before = snapshot(fgraph)
    fgraph.attach_feature(Refuses("import", ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        fgraph.add_output(f(f(x)))
    assert snapshot(fgraph) == before


def test_a_veto_undoes_the_edit_and_is_noted(parts):
    x, y, a, b, c, fgraph = parts
    before = snapshot(fgraph)
    fgraph.attach_feature(Refuses("validate", InconsistencyError("not today")))
    with pytest.raises(InconsistencyError, match="not today"):
        fgraph.replace_all_validate([(a, g(x)), (b, f(y))], reason="my pass")
    assert snapshot(fgraph) == before and fgraph.vetoes == [("my pass", "g(x)", "not today")]
    assert fgraph.replace_all_validate([(a, g(x))]) == fgraph.checkpoint() - 1


def test_inputs_that_a_refused_replacement_added_are_gone(parts):
    x, y, a, b, c, fgraph = parts
    before = snapshot(fgraph)
    fgraph.attach_feature(Refuses("validate", InconsistencyError("no")))
    with pytest.raises(InconsistencyError):
        fgraph.replace_validate(a, f(plain("q"), plain("r")), import_missing=True)
    assert snapshot(fgraph) == before


def test_undoing_restores_the_order_of_the_clients_of_everything_pruned():
    x, y = variables("x y")
    inner = f(x, y)
    middle = g(inner, x)
    outs = [h(x), middle, f(y), g(y, x)]
    fgraph = FunctionGraph([x, y], outs, clone=False)
    before = snapshot(fgraph)
    number = fgraph.checkpoint()
    fgraph.replace(middle, h(y))
    fgraph.replace(outs[3], h(h(x)))
    assert inner not in fgraph.variables
    fgraph.revert(number)
    assert snapshot(fgraph) == before
    with pytest.raises(ValueError, match="the history goes back to checkpoint"):
        fgraph.revert(number - 1)


def test_a_cycle_made_by_a_replacement_is_refused_by_the_sort_and_can_be_undone(parts):
    x, y, a, b, c, fgraph = parts
    before = snapshot(fgraph)
    number = fgraph.checkpoint()
    fgraph.replace(a, b)
    assert b.owner.inputs == [b, y]
    with pytest.raises(ValueError, match="graph contains cycles"):
        fgraph.toposort()
    fgraph.revert(number)
    assert snapshot(fgraph) == before


# --- long client lists ---

@pytest.mark.parametrize("spoil", [
    lambda clients: None, lambda clients: clients.reverse(), lambda clients: clients.insert(0, clients.pop(40)),
])
def test_entries_are_found_in_long_lists_that_users_edited(spoil):
    x, y = variables("x y")
    outs = [f(x) for _ in range(200)]
    fgraph = FunctionGraph([x, y], outs, clone=False)
    for out in outs[:50]:
        fgraph.change_node_input(out.owner, 0, y)
    spoil(fgraph.clients[x])
    for out in outs[50:100]:
        fgraph.change_node_input(out.owner, 0, y)
    assert set(fgraph.clients[x]) == {(out.owner, 0) for out in outs[100:]}
    assert set(fgraph.clients[y]) == {(out.owner, 0) for out in outs[:100]}
    fgraph.check_integrity()


def test_undoing_edits_of_long_lists_restores_them():
    x, y = variables("x y")
    outs = [f(x) for _ in range(150)]
    fgraph = FunctionGraph([x, y], outs, clone=False)
    before = snapshot(fgraph)
    number = fgraph.checkpoint()
    fgraph.replace(x, y)
    fgraph.revert(number)
    after = snapshot(fgraph)
    assert sorted(map(id, [n for n, _ in after[4].pop(x)])) == sorted(map(id, [n for n, _ in before[4].pop(x)]))
    assert after == before
    fgraph.check_integrity()


# --- copies and memory ---

def test_a_copy_shares_nothing_but_constants_and_types(parts):
    x, y, a, b, c, fgraph = parts
    fgraph.name = "mine"
    copied, equiv = fgraph.clone_get_equiv()
    assert not copied.variables & fgraph.variables and equiv[a.owner] in copied.apply_nodes
    assert str(copied) == str(fgraph) and copied.name == "mine"
    assert [type(feature) for feature in copied._features] == [ReplaceValidate]
    copied.replace(equiv[a], equiv[x])
    fgraph.check_integrity()


def test_a_graph_that_nobody_holds_is_collected():
    x, = variables("x")
    fgraph = FunctionGraph([x], [chain(20, x)], clone=False)
    fgraph.attach_feature(Refuses(None, None))
    fgraph.replace_validate(fgraph.outputs[0].owner.inputs[0], g(x))
    gone = [weakref.ref(fgraph), *map(weakref.ref, fgraph.variables), *map(weakref.ref, fgraph.apply_nodes), *map(weakref.ref, fgraph._features)]
    del x, fgraph
    gc.collect()
    assert not [ref for ref in gone if ref() is not None]


def test_eval_compiles_once_for_each_set_of_inputs():
    import pyscan.tensor as at

    x, y = at.dscalars("x", "y")
    z = x + 2 * y
    assert z.eval({x: 1.0, y: 2.0}) == 5.0 and z.eval({y: 0.0, x: 1.0}) == 1.0
    assert len(z._fn_cache) == 1


# --- what edits leave on nodes ---

def test_nodes_note_the_edits_that_brought_them_in_and_took_them_out(parts):
    x, y, a, b, c, fgraph = parts
    assert not any(hasattr(node.tag, name) for node in fgraph.apply_nodes for name in ("imported_by", "removed_by"))
    new = g(f(x), y)
    fgraph.replace(b, new, reason="first")
    assert new.owner.tag.imported_by == new.owner.inputs[0].owner.tag.imported_by == ["first"]
    assert b.owner.tag.removed_by == ["first"] and not hasattr(c.owner.tag, "removed_by")
    fgraph.replace(new, b, reason=("second", 2))
    assert (b.owner.tag.imported_by, new.owner.tag.removed_by) == ([str(("second", 2))], [str(("second", 2))])
    alone = f(x)
    fgraph.import_node(alone.owner)
    assert alone.owner.tag.imported_by == ["None"]


def test_a_tag_of_the_users_own_gets_no_notes(parts):
    x, y, a, b, c, fgraph = parts
    new = g(a, x)
    new.owner.tag = mine = object()
    fgraph.replace(b, new, reason="first")
    assert new.owner.tag is mine
