"""merge: equal computations and equal constants become one."""
import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core
from pyscan.graph import Apply, Constant, FunctionGraph, Op, Type
from pyscan.tensor.random import RandomStream
from tests.unit.rewriting import graph_of, nodes_of, op_texts, run


class Thing(Type):
    """A type of the tests."""

    def filter(self, data, strict=False, allow_downcast=None):
        return data

    def __eq__(self, other):
        return type(self) is type(other)

    def __hash__(self):
        return hash(type(self))


thing = Thing()


class Plain(Op):
    """A user's Op: things -> n_out things."""

    __props__ = ("name",)

    def __init__(self, name, n_out=1, destroy_map=None):
        self.name = name
        self.n_out = n_out
        if destroy_map:
            self.destroy_map = destroy_map

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [thing() for _ in range(self.n_out)])


class Counting(Op):
    """An Op that counts how often it is hashed and compared."""

    def __init__(self):
        self.hashed = self.compared = 0

    def __hash__(self):
        self.hashed += 1
        return 7

    def __eq__(self, other):
        self.compared += 1
        return True

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [thing()])


def things(*names):
    return [thing(name) for name in names]


def test_equal_nodes_become_one():
    x = thing("x")
    f, g = Plain("f"), Plain("g")
    graph = graph_of([x], [g(f(x)), g(f(x))])
    assert run(graph, "merge") == {"merge": 2}
    assert graph.outputs[0] is graph.outputs[1]
    assert len(graph.apply_nodes) == 2


def test_different_props_inputs_or_order_are_kept_apart():
    x, y = things("x", "y")
    f, g = Plain("f"), Plain("g")
    graph = graph_of([x, y], [f(x, y), f(y, x), g(x, y), f(x)])
    assert run(graph, "merge") == {"merge": 0}
    assert len(graph.apply_nodes) == 4


def test_merging_one_level_makes_the_next_equal():
    x = thing("x")
    f = Plain("f")
    a, b = x, x
    for _ in range(20):
        a, b = f(a), f(b)
    graph = graph_of([x], [a, b])
    assert run(graph, "merge") == {"merge": 20}
    assert len(graph.apply_nodes) == 20


def test_all_outputs_of_a_node_are_merged():
    x = thing("x")
    f = Plain("f", n_out=2)
    a, b = f.make_node(x).outputs, f.make_node(x).outputs
    graph = graph_of([x], [a[0], b[1], b[0]])
    run(graph, "merge")
    assert graph.outputs[0] is graph.outputs[2]
    assert graph.outputs[1].owner is graph.outputs[0].owner


def test_nodes_that_destroy_an_input_are_not_merged():
    x = thing("x")
    destroyer = Plain("d", destroy_map={0: [0]})
    graph = graph_of([x], [destroyer(x), destroyer(x)])
    assert run(graph, "merge") == {"merge": 0}


def test_equal_constants_become_one():
    x = at.dvector("x")
    a, b = at.constant(np.array([1.0, np.nan])), at.constant(np.array([1.0, np.nan]))
    graph = graph_of([x], [x + a, x * b])
    assert run(graph, "merge") == {"merge": 1}
    constants = {v for node in graph.apply_nodes for v in node.inputs if isinstance(v, Constant)}
    assert len(constants) == 1


@pytest.mark.parametrize(
    "a, b",
    [
        (np.float64(0.0), np.float64(-0.0)),
        (np.int8(1), np.int64(1)),
        (np.float32(1), np.float64(1)),
        (np.zeros(2), np.zeros(3)),
        (np.zeros((2, 3)), np.zeros((3, 2))),
    ],
)
def test_constants_that_differ_are_kept_apart(a, b):
    graph = graph_of([], [at.constant(a), at.constant(b)])
    assert run(graph, "merge") == {"merge": 0}


def test_constants_whose_memory_lies_otherwise_are_equal_all_the_same():
    a = np.arange(6.0).reshape(2, 3)
    graph = graph_of([], [at.constant(a), at.constant(np.asfortranarray(a)), at.constant(a.copy())])
    run(graph, "merge")
    assert graph.outputs[0] is graph.outputs[2]


def test_constants_that_cannot_be_hashed_are_left_alone():
    graph = graph_of([], [Constant(thing, [1]), Constant(thing, [1])])
    assert run(graph, "merge") == {"merge": 0}


def test_the_constant_that_has_a_name_stays():
    x = at.dscalar("x")
    plain, named = at.constant(np.float64(2.5)), at.constant(np.float64(2.5), name="rate")
    graph = graph_of([x], [x + plain, x * named])
    run(graph, "merge")
    assert {v.name for node in graph.apply_nodes for v in node.inputs if isinstance(v, Constant)} == {"rate"}
    assert plain.name is None


def test_the_name_of_a_merged_result_is_kept():
    x = thing("x")
    f = Plain("f")
    first, second = f(x), f(x)
    second.name = "second"
    graph = graph_of([x], [first, second])
    run(graph, "merge")
    assert graph.outputs[0].name == "second"


def test_two_calls_of_a_draw_on_one_state_are_one_draw():
    rng = RandomStream(1).normal().owner.inputs[0]
    draws = [at.random.normal(0.0, 1.0, rng=rng) for _ in range(2)]
    graph = graph_of([rng], draws)
    run(graph, "merge")
    assert len(nodes_of(graph, "random")) == 1


def test_fresh_buffers_are_not_merged():
    n = at.lscalar("n")
    graph = graph_of([n], [at.empty((n,)), at.empty((n,))])
    run(graph, "merge")
    assert op_texts(graph).count("AllocEmpty{dtype='float64'}") == 2


def test_results_of_different_declared_types_are_kept_apart():
    x = thing("x")

    class Other(Thing):
        pass

    f = Plain("f")
    a, b = Apply(f, [x], [thing()]), Apply(f, [x], [Other()()])
    graph = graph_of([x], [a.outputs[0], b.outputs[0]])
    assert run(graph, "merge") == {"merge": 0}


@pytest.mark.parametrize("method", ["__hash__", "__eq__"])
def test_what_an_ops_equality_raises_is_raised(method):
    def fail(*_):
        raise RuntimeError("no answer")

    broken = type("Broken", (Plain,), {"__hash__": lambda self: 3, "__eq__": lambda self, other: True, method: fail})
    x = thing("x")
    graph = FunctionGraph([x], [Apply(broken("a"), [x], [thing()]).outputs[0], Apply(broken("b"), [x], [thing()]).outputs[0]], clone=False)
    with pytest.raises(RuntimeError, match="no answer"):
        run(graph, "merge")


def test_each_op_is_hashed_a_fixed_number_of_times():
    def cost(n):
        op, x = Counting(), thing("x")
        y = x
        for _ in range(n):
            y = op(y)
        graph = FunctionGraph([x], [y], clone=False)
        op.hashed = op.compared = 0
        _core.rewrite(graph, ["merge"])
        return op.hashed + op.compared

    assert cost(400) <= 2 * cost(200) + 10


def test_a_graph_of_many_equal_nodes_is_merged_with_few_callbacks():
    calls = []

    class Watcher(_core.Feature):
        def on_change_input(self, fgraph, node, i, var, new_var, reason=None):
            calls.append(reason)

    x = thing("x")
    f = Plain("f")
    graph = FunctionGraph([x], [f(x) for _ in range(1000)], clone=False)
    graph.attach_feature(Watcher())
    assert run(graph, "merge") == {"merge": 999}
    assert len(calls) == 999 and set(calls) == {"merge"}


def test_a_veto_keeps_both_and_is_noted():
    class Refuse(_core.Feature):
        def validate(self, fgraph):
            raise _core.InconsistencyError("not today")

    x = thing("x")
    f = Plain("f")
    graph = FunctionGraph([x], [f(x), f(x)], clone=False)
    graph.attach_feature(Refuse())
    assert run(graph, "merge") == {"merge": 0}
    assert len(graph.apply_nodes) == 2
    assert {(reason, error) for reason, _, error in graph.vetoes} == {("merge", "not today")}


def test_a_nested_loop_with_draws_is_one_loop_whose_path_and_updates_are_read():
    """A step holds two copies of it, each with a buffer of its own: it would run twice, and 2**depth times when nested deeper."""
    srng, x, n = RandomStream(1), at.dscalar("x"), at.lscalar("n")

    def step(y):
        path, updates = pyscan.scan(lambda z: at.tanh(z) + srng.normal(), outputs_info=[y], n_steps=n)
        return path[-1], updates

    path, updates = pyscan.scan(step, outputs_info=[x], n_steps=3)
    function = pyscan.function([x, n], path, updates=updates)
    outer, = nodes_of(function.maker.fgraph, "scan")
    assert len(nodes_of(outer.op.compiled_fgraph, "scan")) == 1
    rng, value, want = np.random.default_rng(np.random.SeedSequence(1).spawn(1)[0]), 0.5, []
    for _ in range(3):
        for _ in range(2):
            value = np.tanh(value) + rng.normal()
        want.append(value)
    np.testing.assert_allclose(function(0.5, 2), want, rtol=1e-14)


def test_two_loops_from_equal_states_keep_buffers_of_their_own():
    x = at.dscalar("x")
    paths = [pyscan.scan(step, outputs_info=[x], n_steps=4)[0] for step in (lambda y: y + 1.0, lambda y: y * 2.0)]
    function = pyscan.function([x], paths)
    assert [path.tolist() for path in function(3.0)] == [[4.0, 5.0, 6.0, 7.0], [6.0, 12.0, 24.0, 48.0]]
    assert all(node.op.destroy_map == {0: [1]} for node in nodes_of(function.maker.fgraph, "scan"))
