"""Indexing, and writing to what an index selects: names, types, errors."""
import numpy as np
import pytest

import pyscan
import pyscan.tensor as at
from pyscan.tensor.type import TensorType

ENV = dict(
    x=at.dvector("x"), m=at.dmatrix("m"), t=at.dtensor3("t"), i=at.ivector("i"), j=at.iscalar("j"), k=at.lscalar("k"), s=at.dscalar("s"),
    p=TensorType("bool", (None,))("p"), one=TensorType("float64", (1,))("one"), five=TensorType("float64", (5,))("five"), f=at.fvector("f"),
    at=at, np=np,
)  # fmt: skip


def build(expression):
    return eval(expression, dict(ENV))


@pytest.mark.parametrize(
    "expression, text, ndim",
    [
        ("x[0]", "Subtensor{int64}", 0),
        ("x[-1]", "Subtensor{int64}", 0),
        ("x[j]", "Subtensor{int32}", 0),
        ("x[np.int8(1)]", "Subtensor{int64}", 0),
        ("x[np.array(1)]", "Subtensor{int64}", 0),
        ("x[at.constant(2)]", "Subtensor{int8}", 0),
        ("x[1:]", "Subtensor{int64::}", 1),
        ("x[:-1]", "Subtensor{:int64:}", 1),
        ("x[::2]", "Subtensor{::int64}", 1),
        ("x[j:k]", "Subtensor{int32:int64:}", 1),
        ("x[:]", "Subtensor{::}", 1),
        ("x[...]", "Subtensor{::}", 1),
        ("m[()]", "Subtensor{}", 2),
        ("m[0, 1]", "Subtensor{int64, int64}", 0),
        ("m[:, 0]", "Subtensor{::, int64}", 1),
        ("m[..., 0]", "Subtensor{::, int64}", 1),
        ("m[None]", "InplaceDimShuffle{x,0,1}", 3),
        ("m[:, None]", "InplaceDimShuffle{0,x,1}", 3),
        ("m[None, 0, None]", "Subtensor{::, int64, ::}", 3),
        ("x[i]", "AdvancedSubtensor", 1),
        ("x[p]", "AdvancedSubtensor", 1),
        ("m[i]", "AdvancedSubtensor", 2),
        ("m[i, i]", "AdvancedSubtensor", 1),
        ("m[:, i]", "AdvancedSubtensor", 2),
        ("m[[0, 1], [1, 0]]", "AdvancedSubtensor", 1),
        ("m[np.zeros((2, 2), bool)]", "AdvancedSubtensor", 1),
        ("m[i, None]", "AdvancedSubtensor", 3),
        ("t[i, :, i]", "AdvancedSubtensor", 2),
        ("t[:, i, i]", "AdvancedSubtensor", 2),
        ("m[[]]", "AdvancedSubtensor", 2),
        ("at.set_subtensor(x[1:], 1.0)", "IncSubtensor{Set;int64::}", 1),
        ("at.inc_subtensor(x[0], 1)", "IncSubtensor{Inc;int64}", 1),
        ("at.set_subtensor(x[i], 1.0)", "AdvancedIncSubtensor{inplace=False,  set_instead_of_inc=True}", 1),
        ("at.inc_subtensor(m[:, i], 1)", "AdvancedIncSubtensor{inplace=False,  set_instead_of_inc=False}", 2),
    ],
)
def test_an_index_has_its_operation_and_rank(expression, text, ndim):
    result = build(expression)
    assert str(result.owner.op) == text and result.type.ndim == ndim


def test_index_constants_are_scalar_constants_and_symbolic_ones_are_taken_out_of_tensors():
    assert str(build("x[0]").owner.inputs[1]) == "ScalarConstant{0}"
    assert str(build("x[j]").owner.inputs[1].owner.op) == "ScalarFromTensor"


@pytest.mark.parametrize("expression, shape", [("one[:]", (1,)), ("one[0:1]", (1,)), ("one[::2]", (1,)), ("one[1:]", (None,)), ("one[0:j]", (None,)), ("five[1:3]", (None,))])  # fmt: skip
def test_a_slice_keeps_a_static_length_of_one_where_it_surely_holds(expression, shape):
    assert build(expression).type.shape == shape


@pytest.mark.parametrize(
    "expression, error, message",
    [
        ("x[0.5]", TypeError, "Expected an integer"),
        ("x[s]", TypeError, "Expected an integer"),
        ("x[1.0:2]", TypeError, "Expected an integer"),
        ("x['a']", TypeError, "Expected an integer"),
        ("x[0, 0]", IndexError, "too many indices for array"),
        ("m[..., ...]", IndexError, "an index can only have a single Ellipsis"),
        ("x[[True, False]]", TypeError, "TensorType does not support Python bools for indexing"),
        ("m[True]", TypeError, "TensorType does not support Python bools for indexing"),
        ("m[x]", TypeError, "index must be integers or a boolean mask"),
        ("at.set_subtensor(x, 1.0)", TypeError, "x must be the result of a subtensor operation"),
        ("at.set_subtensor(x + 1, 1.0)", TypeError, "x must be the result of a subtensor operation"),
        ("at.set_subtensor(x[0], x)", TypeError, "Trying to increment a 0-dimensional subtensor with a 1-dimensional value."),
    ],
)
def test_wrong_indices_are_refused(expression, error, message):
    with pytest.raises(error, match=message):
        build(expression)


def test_writing_keeps_the_type_of_the_whole():
    assert build("at.set_subtensor(f[0], 0.1)").type == at.fvector
    assert build("at.inc_subtensor(one[0:1], x)").owner.inputs[1].type.shape == (1,)


def test_writing_looks_through_the_new_axes_of_an_index():
    result = build("at.set_subtensor(m[None][0, 1], x)")
    assert str(result.owner.op) == "IncSubtensor{Set;int64, int64}" and result.type.shape == (1, None, None)
    through = build("at.set_subtensor(m[i].T, 0.0)")
    assert str(through.owner.op) == "InplaceDimShuffle{1,0}" and "AdvancedIncSubtensor" in str(through.owner.inputs[0].owner.op)


def test_the_in_place_form_of_a_write_overwrites_its_first_input():
    op = build("at.set_subtensor(x[:k], 1.0)").owner.op
    assert op.in_place().destroy_map == {0: [0]} and str(op.in_place()) == "IncSubtensor{InplaceSet;:int64:}"
    assert op.in_place() != op


def test_row_numbers_have_an_operation_of_their_own_beside_that_of_index_arrays():
    assert build("m[i]").owner.op.kind == "advanced_subtensor1" and build("m[i, i]").owner.op.kind == "advanced_subtensor"
    assert build("at.inc_subtensor(m[i], 1)").owner.op.kind == "advanced_inc_subtensor1"


def test_take_counts_along_an_axis_or_the_flattened_tensor():
    assert build("at.take(m, i, axis=1)").type.ndim == 2 and build("at.take(m, i)").type.ndim == 1
    with pytest.raises(ValueError, match="mode must be"):
        build("at.take(m, i, mode='up')")


@pytest.mark.parametrize("dtype", ["int64", "int8"])
def test_a_value_that_is_broadcast_over_a_matrix_of_indices_is_added_for_each_of_them(dtype):
    x, value = np.array([3.0, 0.25, 0.5]), np.array([3.0, -1.5, -1.5])
    node = at.inc_subtensor(at.dvector("x")[at.constant(np.array([[1, 0, 1], [1, 0, 1]], dtype=dtype))], at.dvector("y")).owner
    expected = [0.0, 3.25, 0.5]
    storage = [[None]]
    node.op.perform(node, [x, value, node.inputs[2].data], storage)
    assert storage[0][0].tolist() == expected
    assert pyscan.function(node.inputs[:2], node.outputs[0])(x, value).tolist() == expected
