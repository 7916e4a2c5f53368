"""constant_folding: what depends on constants alone becomes a constant, and nothing that a user can see changes."""
import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan import _core
from pyscan.graph import Apply, Op
from pyscan.tensor.random import RandomStream
from pyscan.tensor.shape import shape_padleft, unbroadcast
from tests.unit.rewriting import constant_value, evaluate, graph_of, nodes_of, op_texts, rewritten, run, the_scan

FOLD = ("merge", "constant_folding")


class Note(Op):
    """A user's Op that counts its runs."""

    def __init__(self):
        self.runs = 0

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        self.runs += 1
        output_storage[0][0] = np.asarray(inputs[0] + 1)


class WillingNote(Note):
    def do_constant_folding(self, fgraph, node):
        return True


def folded(*outputs, inputs=()):
    return rewritten(list(inputs), list(outputs), *FOLD)


def test_a_tree_of_constants_becomes_one_constant_of_the_same_type():
    y = at.exp(at.constant(np.float32(0.0))) * 3 + np.arange(3)
    graph = folded(y)
    assert op_texts(graph) == []
    assert constant_value(graph.outputs[0]) == [3, 4, 5]
    assert graph.outputs[0].type == y.type


def test_what_depends_on_an_input_stays():
    x = at.dscalar("x")
    graph = folded(x + (at.constant(2.0) * 3.0), inputs=[x])
    assert op_texts(graph) == ["Elemwise{add,no_inplace}"]
    assert sorted(constant_value(v) for v in graph.outputs[0].owner.inputs if v is not graph.inputs[0]) == [6.0]


def test_the_name_of_a_folded_variable_is_kept():
    y = at.constant(np.float64(1.0)) + 1.0
    y.name = "y"
    graph = graph_of([], [y])
    graph.attach_feature(_core.PreserveVariableAttributes())
    run(graph, *FOLD)
    assert graph.outputs[0].name == "y"


def test_an_error_is_left_to_the_run():
    zero = at.constant(np.int64(0))
    graph = folded(at.constant(np.int64(1)) // zero)
    assert op_texts(graph) == ["Elemwise{floor_divide,no_inplace}"]
    with pytest.raises(ZeroDivisionError):
        pyscan.function([], at.constant(np.int64(1)) // zero)()


def test_an_error_of_memory_is_not_swallowed():
    def no_memory(node):
        raise MemoryError

    graph = graph_of([], [at.constant(1.0) + 1.0])
    with pytest.raises(MemoryError):
        _core.rewrite(graph, FOLD, no_memory)


def test_without_an_evaluator_nothing_is_computed():
    graph = graph_of([], [at.constant(1.0) + 1.0])
    assert _core.rewrite(graph, FOLD)["constant_folding"] == 0


def test_an_evaluator_that_returns_too_few_values_is_an_error():
    graph = graph_of([], [at.constant(1.0) + 1.0])
    with pytest.raises(ValueError, match="0 values for the 1 outputs"):
        _core.rewrite(graph, FOLD, lambda node: [])


def test_a_users_op_is_not_run_ahead_unless_its_class_says_so():
    shy, willing = Note(), WillingNote()
    graph = folded(shy(at.constant(1.0)), willing(at.constant(1.0)))
    assert (shy.runs, willing.runs) == (0, 1)
    assert constant_value(graph.outputs[1]) == 2.0


def test_an_op_that_says_no_is_not_folded():
    class Unwilling(WillingNote):
        def do_constant_folding(self, fgraph, node):
            return False

    op = Unwilling()
    folded(op(at.constant(1.0)))
    assert op.runs == 0


def test_draws_are_not_folded():
    draw = RandomStream(1).normal()
    graph = folded(draw, inputs=[draw.owner.inputs[0]])
    assert len(nodes_of(graph, "random")) == 1


def test_loops_are_not_folded():
    (out, _) = pyscan.scan(lambda x: x + 1, sequences=[at.constant(np.arange(3.0))])
    assert len(nodes_of(folded(out), "scan")) == 1


def test_empty_buffers_are_not_folded():
    assert op_texts(folded(at.empty((2,)))) == ["AllocEmpty{dtype='float64'}"]


def test_a_buffer_that_is_written_into_stays_a_buffer():
    y = at.set_subtensor(at.zeros((3,))[0], 1.0)
    assert [text for text in op_texts(folded(y)) if text.startswith("Alloc")] == ["Alloc"]
    assert op_texts(folded(at.zeros((3,)))) == []


@pytest.mark.parametrize("make", [lambda n: at.zeros((n,)), lambda n: at.arange(n)])
def test_large_results_are_not_made_ahead(make):
    calls = []

    def counted(node):
        calls.append(node)
        return evaluate(node)

    graph = graph_of([], [make(1 << 40)])
    _core.rewrite(graph, FOLD, counted)
    assert not any(node.op.kind in ("alloc", "arange") for node in calls)


def test_an_outer_product_of_small_constants_is_not_made_ahead():
    a = at.constant(np.zeros((100_000, 1)))
    graph = folded(a + at.constant(np.zeros((1, 100_000))))
    assert op_texts(graph) == ["Elemwise{add,no_inplace}"]


# Lengths


def test_the_shape_of_a_variable_of_known_lengths_is_a_constant():
    x = at.TensorType("float64", (2, 3))("x")
    graph = folded(x.shape, x.shape[1], inputs=[x])
    assert op_texts(graph) == []
    assert [constant_value(v) for v in graph.outputs] == [[2, 3], 3]


def test_an_entry_of_a_shape_is_a_constant_when_that_length_is_known():
    x = at.TensorType("float64", (None, 3))("x")
    graph = folded(x.shape[0], x.shape[1], x.shape[-1], inputs=[x])
    assert op_texts(graph).count("Shape") == 1
    assert [constant_value(v) for v in graph.outputs[1:]] == [3, 3]


def test_an_entry_of_a_vector_of_scalars_is_that_scalar():
    n, m = at.lscalar("n"), at.lscalar("m")
    graph = folded(at.stack([n, m])[1], inputs=[n, m])
    assert graph.outputs[0] is graph.inputs[1]


def test_the_length_of_a_padded_state_is_one():
    x = at.dscalar("x")
    graph = folded(unbroadcast(shape_padleft(x), 0).shape[0], inputs=[x])
    assert constant_value(graph.outputs[0]) == 1


def test_a_length_does_not_spare_an_error():
    x = at.TensorType("float64", (3, None))("x")
    length = at.Assert("x must be positive")(x, at.all(x > 0)).shape[0]
    assert "Assert{msg=x must be positive}" in op_texts(folded(length, inputs=[x]))
    with pytest.raises(AssertionError, match="x must be positive"):
        pyscan.function([x], length)(np.zeros((3, 1)))


def test_an_entry_beyond_the_shape_is_left_to_the_run():
    x = at.TensorType("float64", (2,))("x")
    assert "Subtensor{int64}" in op_texts(folded(x.shape[5], inputs=[x]))


def test_the_buffer_of_a_loop_of_a_known_number_of_steps_has_a_known_length():
    x0 = at.dscalar("x0")
    out, _ = pyscan.scan(lambda x: x * 2, outputs_info=[x0], n_steps=4)
    graph = folded(out, inputs=[x0])
    buffer = the_scan(graph).inputs[1].owner
    assert str(buffer.op) == "IncSubtensor{Set;:int64:}"
    assert constant_value(buffer.inputs[0].owner.inputs[0]) == 5
    assert constant_value(buffer.inputs[2]) == 1


def test_the_padded_start_of_a_loop_is_a_constant():
    out, _ = pyscan.scan(lambda x: x * 2, outputs_info=[np.float64(0.0)], n_steps=4)
    buffer = the_scan(folded(out)).inputs[1].owner
    assert str(buffer.inputs[1]) == "TensorConstant{(1,) of 0.0}"


@pytest.mark.parametrize("length", [200, 400])
def test_a_chain_of_constants_is_evaluated_once_a_node(length):
    calls = []

    def counted(node):
        calls.append(node)
        return evaluate(node)

    y = at.constant(np.float64(1.0))
    for _ in range(length):
        y = y + 1.0
    graph = graph_of([], [y])
    _core.rewrite(graph, ["constant_folding"], counted)
    assert len(calls) == length
    assert constant_value(graph.outputs[0]) == length + 1.0


def test_folded_values_are_those_of_the_run():
    x = np.linspace(-2.0, 2.0, 7)
    outputs = [at.exp(at.constant(x)).sum(), at.constant(x)[2:5] ** 2, at.dot(at.constant(x), at.constant(x))]
    plain = pyscan.function([], outputs, mode=pyscan.Mode("py", None))()
    graph = folded(*outputs)
    assert op_texts(graph) == []
    for variable, value in zip(graph.outputs, plain):
        assert variable.data.tobytes() == value.tobytes() and variable.data.dtype == value.dtype
