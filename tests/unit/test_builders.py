"""Operations made of graphs: what a function computes by them, and that they leave nothing behind when it is compiled."""
import pickle

import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan.builders import OpFromGraph, inline_graphs
from pyscan.errors import PyscanWarning
from pyscan.graph import FunctionGraph, MissingInputError


@pytest.fixture
def xy():
    return at.dvectors("x", "y")


def has_graph_op(f):
    return any(isinstance(node.op, OpFromGraph) for node in f.maker.fgraph.apply_nodes)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", pyscan.Mode("py", None)])
def test_a_graph_is_applied_like_an_operation(xy, mode):
    x, y = xy
    op = OpFromGraph([x, y], [x + y, x * y])
    a = at.dvector("a")
    total, product = op(a, [2.0, 3.0])
    f = pyscan.function([a], [total, product, op(product, a)[0]], mode=mode)
    assert [value.tolist() for value in f([1.0, 4.0])] == [[3.0, 7.0], [2.0, 12.0], [3.0, 16.0]]
    assert not has_graph_op(f) and f.counters["python_calls"] == 0


def test_graphs_of_graphs_are_put_in_their_places(xy):
    x, y = xy
    inner = OpFromGraph([x], [x * 2.0])
    outer = OpFromGraph([y], [inner(inner(y)) + 1.0])
    f = pyscan.function([x], outer(outer(x)))
    assert f([1.0]).tolist() == [21.0] and not has_graph_op(f)
    fgraph = FunctionGraph([x], [outer(x)], clone=False)
    assert inline_graphs(fgraph) == 3 and inline_graphs(fgraph) == 0
    fgraph.check_integrity()


def test_a_loop_may_have_one_in_its_step():
    p, a = at.dscalars("p", "a")
    op = OpFromGraph([p, a], [p * a + 1.0])
    out, _ = pyscan.scan(lambda s, a: op(s, a), outputs_info=[at.constant(1.0, dtype="float64")], non_sequences=[a], n_steps=4)
    f = pyscan.function([a], out)
    assert f(2.0).tolist() == [3.0, 7.0, 15.0, 31.0] and f.counters["python_calls"] == 0


def test_shared_variables_inside_are_found(xy):
    x, _ = xy
    s = pyscan.shared(3.0, name="s")
    op = OpFromGraph([x], [x * s])
    f = pyscan.function([x], op(x))
    assert op.shared_inputs == [s] and op(x).owner.inputs == [x, s]
    assert f([1.0]).tolist() == [3.0]
    s.set_value(5.0)
    assert f([1.0]).tolist() == [5.0]


def test_other_variables_may_take_the_places_of_shared_ones(xy):
    x, y = xy
    s = pyscan.shared(np.ones(1), name="s")
    out = OpFromGraph([x], [x * s])(x)
    f = pyscan.function([x, y], out, givens={s: y})
    assert f([2.0], [4.0]).tolist() == [8.0]


def test_generators_inside_are_carried_on_where_that_is_possible(xy):
    x, _ = xy
    srng = at.random.RandomStream(5)
    f = pyscan.function([x], OpFromGraph([x], [x + srng.normal()])(x))
    plain = pyscan.function([], at.random.RandomStream(5).normal())
    assert [f([0.0]).tolist() for _ in range(3)] == [[plain().tolist()] for _ in range(3)]
    with pytest.warns(PyscanWarning, match="same numbers in every call"):
        OpFromGraph([x], [srng.normal(x)])


def test_default_updates_that_use_inputs_are_left_out(xy):
    x, _ = xy
    s = pyscan.shared(np.zeros(2), name="s")
    s.default_update = s + x
    op = OpFromGraph([x], [x + s])
    f = pyscan.function([x], op(x))
    assert f([1.0, 2.0]).tolist() == f([1.0, 2.0]).tolist() == [1.0, 2.0] and s.get_value().tolist() == [0.0, 0.0]


def test_a_computed_variable_may_stand_for_an_input(xy):
    x, y = xy
    between = at.exp(x) + y
    op = OpFromGraph([between], [between * 2.0])
    assert pyscan.function([x], op(x))([1.5]).tolist() == [3.0]


def test_it_can_be_printed_called_and_pickled(xy):
    x, y = xy
    op = OpFromGraph([x, y], [x - y], name="difference")
    assert str(op) == "difference{inline=False}" and str(OpFromGraph([x], [x], inline=True)) == "OpFromGraph{inline=True}"
    assert op.clone() is op and op.fn([3.0], [1.0])[0].tolist() == [2.0]
    assert pyscan.dprint(op(x, y), file="str").splitlines() == [
        "difference{inline=False} [id A]", " |x [id B]", " |y [id C]", "", "Inner graphs:", "", "difference{inline=False} [id A]",
        " >Elemwise{sub,no_inplace} [id D]", " > |*0-<TensorType(float64, (?,))> [id E]",
        " > |*1-<TensorType(float64, (?,))> [id F]",
    ]
    again = pickle.loads(pickle.dumps(op))
    assert pyscan.function([x, y], again(x, y))([3.0], [1.0]).tolist() == [2.0]


@pytest.mark.parametrize("make, error, text", [
    (lambda x, y: OpFromGraph(x, [x]), TypeError, "must be lists"),
    (lambda x, y: OpFromGraph([x], [3]), TypeError, "must be Variable instances; got 3"),
    (lambda x, y: OpFromGraph([at.constant(1.0)], [x]), TypeError, "must not be constants"),
    (lambda x, y: OpFromGraph([x, x], [x]), TypeError, "given twice"),
    (lambda x, y: OpFromGraph([x], [x], inlined=True), TypeError, "unexpected keywords: inlined"),
    (lambda x, y: OpFromGraph([x], [x + y]), MissingInputError, "OpFromGraph is missing an input: y"),
    (lambda x, y: OpFromGraph([x], [x])(x, y), ValueError, r"Expected at least 1 input\(s\), got 2"),
    (lambda x, y: OpFromGraph([x], [x])(at.dmatrix()), TypeError, "Cannot convert Type"),
])
def test_what_does_not_fit_is_refused(xy, make, error, text):
    with pytest.raises(error, match=text):
        make(*xy)
