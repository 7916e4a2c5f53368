"""Pickles and deep copies of graph objects: flat, with every object one object."""
import copy
import pickle

import numpy as np
import pytest
from graph_nodes import Node, chain, constant, f, g, plain, variables

from pyscan.features import DestroyHandler, NodeFinder, NoOutputFromInplace, Supervisor
from pyscan.graph import FunctionGraph, NominalVariable, SharedVariable, Variable, equal_computations, rebuild_function_graph


def again(thing, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(thing, protocol))


both_ways = pytest.mark.parametrize("copied", [again, copy.deepcopy, lambda thing: again(thing, 2)], ids=["pickle", "deepcopy", "protocol 2"])


class Noted(Variable):
    """A Variable with an attribute of its own."""


class NotedGraph(FunctionGraph):
    """A graph of a class of the user's."""


@both_ways
def test_leaves_keep_type_name_tag_and_attributes(copied):
    x = Noted(plain, None, name="x")
    x.tag.a, x.mine, x._fn_cache = [1], [2], "not this"
    y = copied(x)
    assert (type(y), y.type, y.name, y.tag.a, y.mine, y.origin) == (Noted, plain, "x", [1], [2], x.origin)
    assert y is not x and not hasattr(y, "_fn_cache")


@both_ways
def test_constants_and_nominal_variables_come_back(copied):
    c = copied(constant(np.array([1.0, -0.0]), name="c"))
    assert c.name == "c" and c.equals(constant(np.array([1.0, -0.0])))
    nominal = NominalVariable(("a", 3), plain)
    assert copied(nominal) is nominal


@both_ways
def test_variables_in_one_pickle_keep_their_identity(copied):
    x, y = variables("x y")
    a = f(x, y)
    fgraph = FunctionGraph([x, y], [g(a, constant(1))], clone=False)
    graph, ins, inner, node = copied((fgraph, [x, y], a, a.owner))
    assert graph.inputs == ins and inner in graph.variables and node in graph.apply_nodes and inner.owner is node
    graph.check_integrity()
    assert str(graph) == str(fgraph)
    assert equal_computations(graph.outputs, fgraph.outputs, graph.inputs, fgraph.inputs)


@both_ways
def test_tags_and_attributes_may_point_back(copied):
    x, = variables("x")
    y = f(x)
    y.tag.me, y.owner.tag.me, y.mine = y, y.owner, [y]
    z = copied(y)
    assert z.tag.me is z and z.owner.tag.me is z.owner and z.mine == [z] and z.owner.origin == y.owner.origin
    shared = SharedVariable(plain, [3], "s")
    shared.default_update = f(shared)
    loaded = copied(shared)
    assert loaded.default_update.owner.inputs == [loaded] and loaded.container == [3]


@both_ways
def test_nodes_with_several_outputs_come_back(copied):
    x, = variables("x")
    outs = Node("two", n_outputs=2)(x)
    outs[1].name = "second"
    first, second = copied((outs[0], outs[1]))
    assert first.owner is second.owner and (first.index, second.index, second.name) == (0, 1, "second")


@both_ways
def test_a_graph_keeps_its_features_mappings_and_notes(copied):
    x, y = variables("x y")
    features = [Supervisor([x]), DestroyHandler(), NodeFinder(), NoOutputFromInplace([0])]
    fgraph = NotedGraph([x, y], [f(x), g(y)], clone=False, features=features, update_mapping={1: 0})
    fgraph.name, fgraph.mine = "name", {"a": y}
    fgraph.vetoes.append(("r", "v", "e"))
    graph = copied(fgraph)
    assert type(graph) is NotedGraph and [type(a) for a in graph._features] == [type(a) for a in fgraph._features]
    assert (graph.update_mapping, graph.inv_update_mapping, graph.name, graph.vetoes) == ({1: 0}, {0: 1}, "name", [("r", "v", "e")])
    assert graph._supervisor_protected == {graph.inputs[0]} and graph.mine == {"a": graph.inputs[1]}
    assert graph.get_nodes(f) == [graph.outputs[0].owner] and graph.destroy_handler is graph._features[1]
    graph.replace_validate(graph.outputs[1], f(graph.inputs[1]))
    graph.validate()


def test_a_pickled_graph_names_the_public_function_that_rebuilds_it():
    x, = variables("x")
    function, arguments, *_ = FunctionGraph([x], [f(x)]).__reduce_ex__(4)
    assert function is rebuild_function_graph and isinstance(arguments[0], list)


@pytest.mark.parametrize("call", [
    lambda: rebuild_function_graph([], int, [], [], [], {}), lambda: rebuild_function_graph([], 3, [], [], [], {}),
    lambda: rebuild_function_graph([], FunctionGraph, [3], [], [], {}), lambda: plain("x").__setstate__(3), lambda: f(plain()).owner.__setstate__([1]),
])
def test_a_wrong_state_is_refused(call):
    with pytest.raises((TypeError, ValueError)):
        call()


def test_a_long_chain_pickles_within_a_graph():
    x, = variables("x")
    fgraph = FunctionGraph([x], [chain(20_000, x)], clone=False)
    graph = again(fgraph)
    assert len(graph.apply_nodes) == 20_000
    graph.check_integrity()
